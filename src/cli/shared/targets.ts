/**
 * Turns the arguments and flags of a command into kinds, selections and collections.
 *
 * {@linkcode resourcesFor}, {@linkcode getTargets} and {@linkcode readableSelection} are the entry points. Names are
 * those of kubectl. No function prints a result.
 *
 * @module
 */
import { ValidationError } from "@cliffy/command";
import { checkSelectors, type Selection } from "../../engine/api/call_options.ts";
import { defined } from "../../engine/api/json.ts";
import type { KubernetesObject } from "../../engine/api/object.ts";
import {
  type ApiResource,
  asTable,
  inBestVersion,
  onlyMetadata,
  type Resource,
  resourceName,
} from "../../engine/api/resource.ts";
import { ForeignServerError, StatusError, statusMessage, UnreachableError } from "../../engine/api/status.ts";
import type { Client } from "../../engine/client/client.ts";
import { findResource } from "../../engine/client/find_resource.ts";
import { readablePart } from "../../engine/client/readable_namespaces.ts";
import type { ResourceClient } from "../../engine/client/resource_client.ts";
import { errorLine } from "../../engine/errors/errors.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { UsageError } from "./usage.ts";

/** One kind to get, as it is named on the command line. */
interface GetTarget {
  readonly kind: string;
  /** The names of objects; empty for all. */
  readonly names: readonly string[];
}

/**
 * Returns what the arguments of `get` and `wait` name, by the rules of kubectl: `pods,deploy` are kinds, `pods web-0
 * web-1` objects of one kind, or of each of several, and `pod/web-0 deploy/web` objects of several kinds.
 *
 * @throws as {@linkcode checkSelection}.
 * @throws {UsageError} when a name is empty, both forms are mixed, or flags select objects beside a name.
 */
export function getTargets(args: readonly string[], flags: SelectionFlags & { readonly all?: boolean }): GetTarget[] {
  checkSelection(flags, args);
  const targets = targetsNamed(args);
  const { selector, fieldSelector, all, allNamespaces } = flags;
  const given = Object.entries({ "-l": selector, "--field-selector": fieldSelector, "--all": all, "-A": allNamespaces })
    .flatMap(([name, value]) => value === undefined || value === false ? [] : name);
  if (given.length > 0 && targets.some(({ names }) => names.length > 0)) {
    throw new UsageError(`a name selects one object; leave out ${given.join(" and ")}`);
  }
  return targets;
}

function targetsNamed(args: readonly string[]): GetTarget[] {
  const [kinds, ...names] = args;
  const single = args.find((arg) => !arg.includes("/"));
  if (args.some((arg) => arg.includes("/"))) {
    if (single !== undefined) {
      throw new UsageError(`"${single}" names no kind; write each object as kind/name, or all names after one kind`);
    }
    const found = new Map<string, string[]>();
    for (const arg of args) {
      const [kind, name, ...rest] = arg.split("/");
      if (rest.length > 0) throw new UsageError(`"${arg}" is not the kind and the name of one object`);
      if (kind === "") throw new UsageError(`"${arg}" names no kind; write kind/name`);
      if (name === "") throw new UsageError(`the name in "${arg}" is empty; leave out the slash to list all`);
      found.set(kind, [...found.get(kind) ?? [], name]);
    }
    return Array.from(found, ([kind, names]) => ({ kind, names }));
  }
  const named = kinds.split(",").filter((kind) => kind !== "");
  if (named.length === 0) throw new UsageError("name at least one resource, such as pods");
  return [...new Set(named)].map((kind) => ({ kind, names }));
}

/** One kind that is named on the command line, as the server has it. */
export interface FoundTarget {
  readonly resource: Resource<KubernetesObject>;
  /** The names of objects; empty for all. */
  readonly names: readonly string[];
}

/** Options of looking for resources. */
interface ResourceOptions {
  /** The form in which objects are needed. */
  readonly form: keyof typeof FORMS;
  readonly terminal: Terminal;
  /** Resources to watch that can only be listed are added to this. @default {they are refused} */
  readonly polled?: Set<Resource<KubernetesObject>>;
}

/**
 * Finds the resources of what {@linkcode getTargets} returns, as {@linkcode resourcesFor} does.
 *
 * @throws {UsageError} when a name is unknown, or that of a category before names of objects.
 */
export async function targetsFor(
  targets: readonly GetTarget[],
  verb: "list" | "watch",
  options: ResourceOptions,
  client: Client,
  signal: AbortSignal,
): Promise<FoundTarget[]> {
  const found: FoundTarget[] = [];
  for (const { kind, names } of targets) {
    const resources = await resourcesFor([kind], verb, options, client, signal);
    if (names.length > 0 && resources.length > 1) {
      throw new UsageError(`"${kind}" is a category, and its objects can only be listed; name the kind of ${names[0]}`);
    }
    for (const resource of resources) found.push({ resource, names });
  }
  return found;
}

const FORMS = { object: (resource: Resource) => resource, metadata: onlyMetadata, table: asTable };

/** Returns the resources of the server, and reports API versions that it does not describe. */
export async function discover(
  client: Client,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<readonly ApiResource[]> {
  const warnings: string[] = [];
  const known = await client.discover({
    signal,
    onError: (error, groupVersion) => warnings.push(`warning: skipped ${groupVersion}: ${errorLine(error)}`),
  });
  // If all groups had failed, `discover` would have thrown.
  for (const warning of warnings) terminal.say(warning);
  return known;
}

/**
 * Finds the resources with these names on the server, each once, in the form in which objects are needed. The name of a
 * category, such as `all`, stands for its members.
 *
 * @throws {UsageError} when a name is unknown, or its resource does not support `verb`.
 */
export async function resourcesFor(
  names: readonly string[],
  verb: "list" | "watch",
  { form, terminal, polled }: ResourceOptions,
  client: Client,
  signal: AbortSignal,
): Promise<Resource<KubernetesObject>[]> {
  const known = await discover(client, terminal, signal);
  if (known.length === 0) {
    throw new ForeignServerError(
      "Cannot discover resources: the server lists none. Check that the address belongs to an API server",
    );
  }
  const found = new Map<string, Resource<KubernetesObject>>();
  for (const name of names.flatMap((name) => name.split(",")).filter((name) => name !== "")) {
    for (const resource of named(known, name)) {
      const isPolled = polled !== undefined && !resource.verbs.includes(verb);
      if (!resource.verbs.includes(isPolled ? "list" : verb)) {
        throw new UsageError(`"${resource.plural}" cannot be ${verb === "list" ? "listed" : "watched"} on this server`);
      }
      const { verbs: _, preferred: _preferred, ...plain } = resource;
      const formed: Resource<KubernetesObject> = FORMS[form](plain);
      found.set(resourceName(resource), formed);
      if (!isPolled) continue;
      polled.add(formed);
      terminal.say(`"${resource.plural}" cannot be watched, so it is listed every ${POLL_MS / 1_000} s`);
    }
  }
  if (found.size === 0) throw new UsageError("name at least one resource, such as pods");
  return [...found.values()];
}

/**
 * Returns the resources by short names: each by its plural, or by its name with the group if another has this plural.
 *
 * @throws {Error} if two of them have one name.
 */
export function byShortName<R extends Resource>(resources: readonly R[]): Map<string, R> {
  const found = new Map<string, R>();
  for (const resource of resources) {
    const isOnly = resources.filter(({ plural }) => plural === resource.plural).length === 1;
    const name = isOnly ? resource.plural : resourceName(resource);
    if (found.has(name)) throw new Error(`Cannot name the resources: two have the name "${name}". Leave one out`);
    found.set(name, resource);
  }
  return found;
}

/** The time between two lists of a kind that cannot be watched, in milliseconds: that in which kubelets measure. */
export const POLL_MS = 15_000;

/** Returns the resource with that name, or the members of the category, each in its best version. */
function named(known: readonly ApiResource[], name: string): readonly ApiResource[] {
  try {
    return [findResource(known, name)];
  } catch (error) {
    const members = inBestVersion(known).filter(({ categories }) => categories.includes(name));
    if (members.length > 0) return members;
    throw new UsageError(errorLine(error), { cause: error });
  }
}

/** The flags that select objects. */
export interface SelectionFlags {
  readonly namespace?: string;
  readonly allNamespaces?: boolean;
  /** A label selector. */
  readonly selector?: string;
  readonly fieldSelector?: string;
}

/**
 * Validates flags and names before a request is sent. The error about an unknown flag has the member `flag`.
 *
 * @throws {UsageError}
 * @throws {ValidationError}
 * @throws {SyntaxError}
 */
export function checkSelection(flags: SelectionFlags, names: readonly string[]): void {
  for (const name of names) {
    // The parser takes unknown flags for positional arguments.
    if (!name.startsWith("-")) continue;
    const hint = name.startsWith("--") ? "" : "; write a space before a value, as in -l app=web";
    throw Object.assign(new ValidationError(`There is no flag "${name}"${hint}`), { flag: name.split("=", 1)[0] });
  }
  const { namespace, selector, fieldSelector } = flags;
  if (flags.allNamespaces && namespace !== undefined) {
    throw new UsageError("-A and -n contradict each other; leave one out");
  }
  if (namespace !== undefined && !NAMESPACE.test(namespace)) {
    throw new UsageError(
      `-n must name one namespace with lower-case letters, digits and "-", but it is "${namespace}"`,
    );
  }
  checkSelectors({ labelSelector: selector, fieldSelector });
}

/** Converts the server's rejection of a field selector to a {@linkcode UsageError}; returns other errors unchanged. */
export function explainRefusal(error: unknown, { fieldSelector }: SelectionFlags): unknown {
  if (!(error instanceof StatusError) || error.status.code !== 400 || fieldSelector === undefined) return error;
  return new UsageError(
    `the server does not support --field-selector "${fieldSelector}": ${statusMessage(error.status)}`,
    { cause: error },
  );
}

/** Returns the selection of the flags; the default namespace is the client's. */
export function selectionFor(flags: SelectionFlags, client: Client): Selection {
  return defined({
    namespace: flags.allNamespaces ? undefined : flags.namespace ?? (client.namespace || "default"),
    labelSelector: flags.selector,
    fieldSelector: flags.fieldSelector,
  });
}

/**
 * Returns the selection of the flags for requests of the resources. Where those of all namespaces are refused, it is of
 * the namespaces in which they may be read, which it says; where there are none, or nobody may ask, the requests show
 * the refusal. With `verbs` it is about these, else about lists and watches.
 */
export async function readableSelection(
  flags: SelectionFlags,
  client: Client,
  resources: readonly Resource<KubernetesObject>[],
  { terminal, cluster, ...options }: {
    readonly terminal: Terminal;
    readonly cluster?: string;
    readonly signal: AbortSignal;
    readonly verbs?: "list";
  },
): Promise<Selection> {
  const selection = selectionFor(flags, client);
  const placed = resources.filter(({ scope }) => scope === "Namespaced");
  if (selection.namespace !== undefined) return selection;
  try {
    const namespaces = await readablePart(client, placed, options) ?? [];
    if (namespaces.length === 0) return selection;
    const kinds = placed.map(({ plural }) => plural).join(", ");
    const place = cluster === undefined ? "" : `${cluster}: `;
    terminal.say(`${place}no permission to read ${kinds} in all namespaces; showing ${namespaces.join(", ")} instead`);
    return { ...selection, namespaces };
  } catch (error) {
    if (error instanceof StatusError || error instanceof UnreachableError) return selection; // the requests find out
    throw error;
  }
}

/** Returns the collection of a selection, or one for each of several namespaces. */
export function collectionsOf<T extends KubernetesObject>(
  client: Client,
  resource: Resource<T>,
  { namespaces, ...selection }: Selection,
): { readonly namespace: string; readonly source: ResourceClient<T> }[] {
  const places = resource.scope === "Cluster" ? undefined : namespaces;
  return (places ?? [selection.namespace]).map((namespace = "") => {
    return { namespace, source: client.resource(resource, { ...selection, ...namespace === "" ? {} : { namespace } }) };
  });
}

/** The names allowed for a namespace (RFC 1123 label). */
const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
