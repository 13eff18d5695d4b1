/**
 * The command `informer get`: prints objects by name, or lists of kinds.
 *
 * {@linkcode get} is the entry point. It reads each list once, in pages, and caches nothing.
 *
 * @module
 */
import type { KubernetesObject } from "../engine/api/object.ts";
import { type Resource, resourceName } from "../engine/api/resource.ts";
import { isNotFound } from "../engine/api/status.ts";
import type { Client } from "../engine/client/client.ts";
import { errorLine } from "../engine/errors/errors.ts";
import { clientsFor, type ClusterClient, type ClustersFlags } from "./shared/connect.ts";
import { EXIT_CODE } from "./shared/usage.ts";
import {
  collectionsOf,
  explainRefusal,
  type FoundTarget,
  getTargets,
  readableSelection,
  type SelectionFlags,
  selectionFor,
  targetsFor,
} from "./shared/targets.ts";
import {
  type CommandContext,
  formOf,
  jsonText,
  nothingFound,
  type OutputFormat,
  plain,
  qualifiedName,
  redactObject,
  rowCells,
  rowHeads,
  tableLines,
  type Terminal,
} from "./terminal/terminal.ts";

interface GetFlags extends ClustersFlags, SelectionFlags {
  /** Format of the results. */
  readonly output: OutputFormat;
  /** If `true`, prints the data of Secrets. */
  readonly secretData?: boolean;
  /** If `true`, prints managedFields. */
  readonly showManagedFields?: boolean;
}

/** The objects of one kind in one cluster. */
interface Found {
  /** The name of the cluster, if there may be several. */
  readonly cluster: string | undefined;
  readonly resource: Resource;
  readonly objects: KubernetesObject[];
  /** The version of the list; `""` for objects that were named. */
  readonly resourceVersion: string;
}

/**
 * Prints objects by their names, or lists kinds in pages. `args` are those of {@linkcode getTargets}.
 *
 * Of several named objects, those that exist are printed; each other one is reported, and the exit code is 1.
 */
export async function get(flags: GetFlags, args: readonly string[], context: CommandContext): Promise<number> {
  const { terminal, signal } = context;
  const targets = getTargets(args, flags);
  const named = targets.some(({ names }) => names.length > 0);
  using clients = await clientsFor(flags, terminal);
  const form = formOf(flags.output);
  const wanted = await clients.ask((...asked) => targetsFor(targets, "list", { terminal, form }, ...asked), signal);
  const missing: { readonly cluster: string | undefined; readonly error: unknown }[] = [];
  const reads = await Promise.allSettled(clients.all.map((member) => {
    return read(member, wanted, flags, context, (error) => missing.push({ error, cluster: member.cluster }));
  }));
  const found: Found[] = [];
  let hasFailed = false;
  for (const [i, read] of reads.entries()) {
    const { cluster } = clients.all[i];
    if (read.status === "fulfilled") found.push(...read.value);
    else if (cluster === undefined || signal.aborted) throw read.reason;
    else {
      terminal.say(`error: ${cluster}: ${errorLine(read.reason)}`);
      hasFailed = true;
    }
  }
  terminal.live("");
  const count = found.reduce((sum, { objects }) => sum + objects.length, 0);
  if (missing.length === 1 && count === 0) throw missing[0].error;
  for (const { cluster, error } of missing) {
    terminal.say(`error: ${cluster === undefined ? "" : `${cluster}: `}${errorLine(error)}`);
  }
  const single = named && count === 1 && missing.length === 0 && clients.all[0].cluster === undefined
    ? found.find(({ objects }) => objects.length > 0)
    : undefined;
  if (single !== undefined && (flags.output === "json" || flags.output === "yaml")) {
    const [object] = single.objects;
    terminal.result(
      flags.output === "json" ? jsonText(object, 2) : (await import("./terminal/yaml.ts")).yamlText(object),
    );
  } else if (count > 0 || !named) {
    await printAll(found, flags, selectionFor(flags, clients.all[0].client).namespace, terminal);
  }
  return missing.length > 0 || hasFailed ? EXIT_CODE.failed : EXIT_CODE.done;
}

/** Reads the objects of one cluster; two names of one kind list it once. */
async function read(
  { cluster, client }: ClusterClient,
  wanted: readonly FoundTarget[],
  flags: GetFlags,
  context: CommandContext,
  gone: (error: unknown) => void,
): Promise<Found[]> {
  const found: Found[] = [];
  for (const { resource, names } of wanted) {
    if (names.length > 0) {
      const objects = await getNamed(client, resource, names, flags, context, gone);
      found.push({ cluster, resource, objects, resourceVersion: "" });
    } else if (!found.some((other) => resourceName(other.resource) === resourceName(resource))) {
      found.push({ cluster, resource, ...await list({ cluster, client }, resource, flags, context) });
    }
  }
  return found;
}

/** Gets objects by name; `gone` receives the errors of those that do not exist. */
async function getNamed(
  client: Client,
  resource: Resource<KubernetesObject>,
  names: readonly string[],
  flags: GetFlags,
  { signal }: CommandContext,
  gone: (error: unknown) => void,
): Promise<KubernetesObject[]> {
  const collection = client.resource(resource, selectionFor(flags, client));
  const objects: KubernetesObject[] = [];
  for (const name of names) {
    try {
      objects.push(shown(resource, await collection.get(name, { signal }), flags));
    } catch (error) {
      if (!isNotFound(error)) throw error;
      gone(error);
    }
  }
  return objects;
}

/** Lists a kind in pages, and shows the progress. Lists of several namespaces have no one version. */
async function list(
  { cluster, client }: ClusterClient,
  resource: Resource<KubernetesObject>,
  flags: GetFlags,
  { terminal, signal }: CommandContext,
): Promise<Pick<Found, "objects" | "resourceVersion">> {
  const selection = await readableSelection(flags, client, [resource], { terminal, signal, cluster, verbs: "list" });
  const collections = collectionsOf(client, resource, selection);
  const objects: KubernetesObject[] = [];
  let resourceVersion = "";
  try {
    for (const { source } of collections) {
      for await (const page of source.pages({ signal })) {
        resourceVersion = collections.length === 1 ? page.resourceVersion : "";
        for (const item of page.items) objects.push(shown(resource, item, flags));
        if (page.remainingItemCount) {
          terminal.live(`${objects.length} of ${objects.length + page.remainingItemCount} ${resource.plural}`);
        }
      }
    }
  } catch (error) {
    throw explainRefusal(error, flags);
  }
  return { objects, resourceVersion };
}

/** Returns an object as it may be printed. The object of a row is dropped, as a table shows the cells alone. */
function shown(resource: Resource, object: KubernetesObject, flags: GetFlags): KubernetesObject {
  if (resource.representation === "table") return { ...object, object: undefined } as KubernetesObject;
  return redactObject(
    withoutManagedFields(object, flags.showManagedFields ?? false),
    resource,
    flags.secretData ?? false,
  );
}

function printAll(
  found: readonly Found[],
  { output }: GetFlags,
  namespace: string | undefined,
  terminal: Terminal,
): Promise<void> | void {
  if (output === "json" || output === "yaml") return printList(found, output, terminal);
  if (output === "name") {
    for (const { cluster, resource, objects } of found) {
      const place = cluster === undefined ? "" : `${plain(cluster)} `;
      for (const { metadata: { name } } of objects) terminal.result(place + qualifiedName(resource, name));
    }
    return;
  }
  const some = found.filter(({ objects }) => objects.length > 0);
  if (some.length === 0) {
    return terminal.say(nothingFound([...new Set(found.map(({ resource }) => resource))], namespace));
  }
  const kinds = Map.groupBy(some, ({ resource }) => resource);
  const style = { wide: output === "wide", namespaces: namespace === undefined, kinds: kinds.size > 1 };
  for (const [i, [resource, parts]] of [...kinds].entries()) {
    if (i > 0) terminal.result("");
    const [{ cluster, objects: [first] }] = parts;
    const rows = parts.flatMap(({ cluster, objects }) => {
      return objects.map((object) => rowCells(resource, object, { ...style, cluster }));
    });
    const heads = rowHeads(resource, first, { ...style, cluster });
    for (const line of tableLines([heads, ...rows])) terminal.result(line);
  }
}

/** Prints a list item by item, so that memory does not hold all of its text. */
async function printList(found: readonly Found[], output: "json" | "yaml", terminal: Terminal): Promise<void> {
  // The object of one of several clusters names it beside its own fields.
  const objects = found.flatMap(({ cluster, objects }) =>
    cluster === undefined ? objects : objects.map((object) => ({ cluster, ...object }))
  );
  const metadata = { resourceVersion: found.length === 1 ? found[0].resourceVersion : "" };
  if (output === "json") {
    terminal.result(`{"apiVersion":"v1","kind":"List","metadata":${JSON.stringify(metadata)},"items":[`);
    objects.forEach((object, i) => terminal.result(jsonText(object) + (i === objects.length - 1 ? "" : ",")));
    terminal.result("]}");
    return;
  }
  terminal.result(`apiVersion: v1\nitems:${objects.length === 0 ? " []" : ""}`);
  const { yamlText } = await import("./terminal/yaml.ts"); // other formats do not need it
  for (const object of objects) terminal.result(yamlText([object]));
  terminal.result(yamlText({ kind: "List", metadata }));
}

/** Returns the object without managedFields, unless these are kept. */
function withoutManagedFields<T extends KubernetesObject>(object: T, keep = false): T {
  if (keep || object.metadata.managedFields === undefined) return object;
  const { managedFields: _dropped, ...metadata } = object.metadata;
  return { ...object, metadata };
}
