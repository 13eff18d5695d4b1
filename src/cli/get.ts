import type { KubernetesObject } from "../api/object.ts";
import type { Resource } from "../api/resource.ts";
import { EXIT_CODE } from "./errors/exit_code.ts";
import { UsageError } from "./errors/usage_error.ts";
import { columnHeads, objectRow, qualifiedName } from "./terminal/object_row.ts";
import { tableLines } from "./terminal/growing_table.ts";
import { redactObject } from "./terminal/redact_object.ts";
import type { OutputFormat } from "./terminal/output_format.ts";
import { clientFor, type ConnectionFlags } from "./target/client_for.ts";
import { resourcesFor } from "./target/resources_for.ts";
import { checkSelection, explainRefusal, type SelectionFlags, selectionFor } from "./target/selection_flags.ts";
import type { Terminal } from "./terminal/terminal.ts";

/** The flags of `get`. */
export interface GetFlags extends ConnectionFlags, SelectionFlags {
  /** Format of the results. */
  readonly output: OutputFormat;
  /** If `true`, prints the data of Secrets. */
  readonly showSecrets?: boolean;
  /** If `true`, prints managedFields. */
  readonly showManagedFields?: boolean;
}

/** Prints one object, or lists a resource in pages. */
export async function get(
  flags: GetFlags,
  target: { readonly resource: string; readonly name?: string },
  terminal: Terminal,
  signal: AbortSignal,
): Promise<number> {
  const { resource: named, name } = splitName(target);
  checkSelection(flags, name === undefined ? [named] : [named, name]);
  if (name === "") throw new UsageError("the name is empty; leave it out to list all");
  if (
    name !== undefined && (flags.selector !== undefined || flags.fieldSelector !== undefined || flags.allNamespaces)
  ) {
    throw new UsageError("a name selects one object; leave out -l, --field-selector and -A");
  }
  if (named.includes(",")) {
    throw new UsageError(`get takes one resource, found "${named}"; informer watch takes several`);
  }
  using client = await clientFor(flags, terminal);
  const [resource] = await resourcesFor(client, [named], "list", { signal, terminal });
  const selection = selectionFor(flags, client);
  const objects = client.resource(resource, selection);
  const show = (object: KubernetesObject): KubernetesObject =>
    redactObject(withoutManagedFields(object, flags.showManagedFields ?? false), resource, flags.showSecrets ?? false);
  if (name !== undefined) {
    const object = show(await objects.get(name, { signal }));
    if (flags.output === "json") terminal.result(JSON.stringify(object, undefined, 2));
    else printAll(resource, [object], flags.output, terminal);
    return EXIT_CODE.done;
  }
  const found: KubernetesObject[] = [];
  let resourceVersion = "";
  try {
    for await (const page of objects.pages({ signal })) {
      resourceVersion = page.resourceVersion;
      for (const item of page.items) found.push(show(item));
      if (page.remainingItemCount) {
        terminal.live(`${found.length} of ${found.length + page.remainingItemCount} ${resource.plural}`);
      }
    }
  } catch (error) {
    throw explainRefusal(error, flags);
  }
  terminal.live("");
  if (flags.output === "json") {
    // A list as kubectl prints it, item by item, so that memory does not hold all of its text.
    terminal.result(`{"apiVersion":"v1","kind":"List","metadata":${JSON.stringify({ resourceVersion })},"items":[`);
    found.forEach((object, i) => terminal.result(JSON.stringify(object) + (i === found.length - 1 ? "" : ",")));
    terminal.result("]}");
  } else {
    printAll(resource, found, flags.output, terminal);
  }
  return EXIT_CODE.done;
}

function printAll(
  resource: Resource,
  objects: readonly KubernetesObject[],
  format: OutputFormat,
  terminal: Terminal,
): void {
  if (format === "name") {
    for (const object of objects) terminal.result(qualifiedName(resource, object.metadata.name));
    return;
  }
  if (objects.length === 0) {
    terminal.say(`no ${resource.plural} found`);
    return;
  }
  for (const line of tableLines([columnHeads(resource), ...objects.map((object) => objectRow(resource, object))])) {
    terminal.result(line);
  }
}

/** Splits `pod/cart-0`, as printed by `-o name`, into resource and name. */
function splitName(target: { readonly resource: string; readonly name?: string }): typeof target {
  const [resource, name, ...rest] = target.resource.split("/");
  if (name === undefined) return target;
  if (target.name !== undefined || rest.length > 0) {
    throw new UsageError(`"${target.resource}" names an object already; leave out the rest`);
  }
  return { resource, name };
}

function withoutManagedFields<T extends KubernetesObject>(object: T, keep: boolean): T {
  if (keep || object.metadata.managedFields === undefined) return object;
  const { managedFields: _dropped, ...metadata } = object.metadata;
  return { ...object, metadata };
}
