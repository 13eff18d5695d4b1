/**
 * Turns the flags and arguments of commands into clients, clusters, kinds, selections, durations and fake servers.
 *
 * {@linkcode clientFor} and `resourcesFor` are the entry points. Commands share these functions; none of them prints a
 * result.
 *
 * @module
 */
import { ValidationError } from "@cliffy/command";
import { loadAll, YAMLException } from "js-yaml";
import type { KubernetesObject } from "../../api/object.ts";
import { checkSelectors, defined, type Selection } from "../../api/options.ts";
import { type ApiResource, asTable, onlyMetadata, type Resource } from "../../api/resource.ts";
import { DecodeError, StatusError, UnreachableError } from "../../api/status.ts";
import { DerivedController, nextTurn } from "../../async/signals.ts";
import { Client, findResource } from "../../client/client.ts";
import { logRequests } from "../../client/http/connection.ts";
import { readablePart } from "../../client/readable_namespaces.ts";
import type { ResourceClient } from "../../client/resource_client.ts";
import { connect, connectContexts } from "../../connect/deno/connect.ts";
import type { ConnectOptions } from "../../connect/deno/connect_options.ts";
import { FetchServer } from "../../connect/deno/run_manager.ts";
import { errorLine, messageOf } from "../../errors/errors.ts";
import { Namespace, Node, Pod, type Pod as PodObject } from "../../kinds/core/v1.ts";
import { churn, type ChurnOptions, FakeApiServer, namespace, node } from "../../testing/mod.ts";
import { type DocumentPart, isDocumentObject, memberOf, objectAt, pathTo } from "../codegen/read_schema.ts";
import { UsageError } from "../errors/explain_error.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { samplePod } from "./sample_pods.ts";

/** The first pods are in the namespace "default", in which commands look without -n and -A. */
const IN_DEFAULT = 20;

/** The number of pods that are created in one turn. */
const AT_A_TIME = 500;

/** The pods that {@linkcode fillFakeServer} creates. */
interface Filling {
  /** Number of pods. */
  readonly count: number;
  /** The same seed, the same objects. @default {1} */
  readonly seed?: number;
  /** Ends it early. */
  readonly signal?: AbortSignal;
  /** Called with the number of pods so far, between turns. */
  readonly onProgress?: (made: number) => void;
}

/** Creates pods on a fake server, and the namespaces and nodes that they are in; a few hundred in each turn. */
export async function fillFakeServer(server: FakeApiServer, filling: Filling): Promise<void> {
  const { count, seed = 1, signal, onProgress } = filling;
  const namespaces = new Set(["default", "kube-system"]);
  const nodes = new Set<string>();
  let made = 0;
  while (made < count) {
    const pod = samplePod(made, seed);
    const { namespace: own = "default" } = pod.metadata;
    const where = made++ < IN_DEFAULT ? "default" : own;
    server.create(Pod, { ...pod, metadata: { ...pod.metadata, namespace: where } });
    namespaces.add(where);
    if (pod.spec.nodeName !== undefined) nodes.add(pod.spec.nodeName);
    if (made % AT_A_TIME !== 0 || made === count) continue;
    onProgress?.(made);
    await nextTurn();
    if (signal?.aborted) return;
  }
  for (const name of namespaces) {
    if (server.get(Namespace, name) === undefined) server.create(Namespace, namespace({ name }));
  }
  for (const name of nodes) server.create(Node, node({ name }));
}

/**
 * Serves `handler` on a port of loopback; 0 is any free one. Failures of the server, which listens again, are written
 * to `terminal`.
 *
 * @throws {UsageError} when the port is out of range, or this program may not listen. @throws {Error} when it is taken.
 */
export function listen(port: number, handler: Deno.ServeHandler<Deno.NetAddr>, terminal: Terminal): FetchServer {
  if (port > 65_535) throw new UsageError(`--port must be at most 65535, found ${port}`);
  try {
    return new FetchServer(handler, { port, onError: (error) => terminal.say(`error: ${errorLine(error)}`) });
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) {
      throw new UsageError(`this program may not listen; run Deno with --allow-net=127.0.0.1`, { cause: error });
    }
    const reason = error instanceof Deno.errors.AddrInUse ? "is taken" : "cannot be used";
    throw new Error(`port ${port} ${reason}; choose another, or 0 for any free one`, { cause: error });
  }
}

const TICK_MS = 10;

/** Changes pods of a fake server at a steady rate. */
export class SteadyChurn {
  readonly #step: () => void;
  readonly #perSecond: number;
  readonly #forMs: number;
  /** Set while the changes run. */
  #timer: ReturnType<typeof setInterval> | undefined;
  /** Time of {@linkcode SteadyChurn.start}, by the monotonic clock. */
  #startedAt = 0;
  /** Changes made so far; at most those due by the rate. */
  #done = 0;

  /** Changes `perSecond` pods, by default without an end. */
  constructor(
    server: FakeApiServer,
    perSecond: number,
    { forMs = Infinity, ...options }: Pick<ChurnOptions<PodObject>, "mix" | "seed"> & { readonly forMs?: number } = {},
  ) {
    this.#perSecond = perSecond;
    this.#forMs = forMs;
    this.#step = churn(server, { resource: Pod, make: (index) => samplePod(index, options.seed), ...options });
  }

  /** Number of changes so far. */
  get done(): number {
    return this.#done;
  }

  /** Starts the changes. The average rate is exact, even if timers are late. */
  start(): void {
    if (this.#perSecond <= 0) return;
    this.#startedAt = performance.now();
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
  }

  /** Stops the changes. */
  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #tick(): void {
    const elapsed = performance.now() - this.#startedAt;
    const due = Math.floor((Math.min(elapsed, this.#forMs) * this.#perSecond) / 1_000);
    while (this.#done < due) {
      this.#step();
      this.#done++;
    }
    if (elapsed >= this.#forMs) this.stop();
  }
}

/** Rejects numbers below 0, and values that are not finite numbers. @throws {UsageError} that names the flag. */
export function checkNumbers(counts: Readonly<Record<string, number>>): void {
  for (const [flag, value] of Object.entries(counts)) {
    if (!(value >= 0 && value < Infinity)) {
      throw new UsageError(`--${flag} must be a number that is at least 0, found ${value}`);
    }
  }
}

/** The flags that choose the server and the credentials. */
export interface ConnectionFlags {
  /** Path of a kubeconfig. */
  readonly kubeconfig?: string;
  /** Name of a context in it. */
  readonly context?: string;
  /** Address of the API server. */
  readonly server?: string;
  /** Path of a file with a bearer token. */
  readonly tokenFile?: string;
  /** The user to act as. */
  readonly as?: string;
  /** The groups of that user. */
  readonly asGroup?: readonly string[];
  /** The uid of that user. */
  readonly asUid?: string;
  /** If `true`, prints a line about each request. */
  readonly verbose?: boolean;
  /** If `true`, uses a fake server in this process. */
  readonly fake?: boolean;
}

/** Returns the options of `connect()` that the flags stand for. @throws {UsageError} */
export function connectOptionsFor(flags: ConnectionFlags, terminal: Terminal): ConnectOptions {
  const { kubeconfig, context, server, tokenFile, as: user, asGroup: groups, asUid: uid, verbose } = flags;
  if (user === undefined && (groups ?? uid) !== undefined) {
    throw new UsageError(`${groups === undefined ? "--as-uid" : "--as-group"} is of a user; name it by --as`);
  }
  const as = user === undefined ? undefined : defined({ user, groups, uid });
  const onRequest = verbose ? logRequests((line) => terminal.say(line)) : undefined;
  return defined({ kubeconfig, context, server, tokenFile, as, onRequest });
}

/** Returns a client for the server that the flags name. Disposing it also disposes the fake server, if any. */
export async function clientFor(flags: ConnectionFlags, terminal: Terminal): Promise<Client> {
  const onWarning = (warning: string): void => terminal.say(`warning: ${warning}`);
  const options = { ...connectOptionsFor(flags, terminal), onWarning };
  if (!flags.fake) return await connect(options);
  const { kubeconfig, context, server, tokenFile, as } = flags;
  for (const [flag, value] of Object.entries({ kubeconfig, context, server, "token-file": tokenFile, as })) {
    if (value !== undefined) throw new UsageError(`--fake is a server of its own; leave out --${flag}`);
  }
  const fake = new FakeApiServer();
  await fillFakeServer(fake, { count: 100 });
  const churn = new SteadyChurn(fake, 5, { mix: "all" });
  churn.start();
  const transport = {
    fetch: (request: Request) => fake.fetch(request),
    [Symbol.dispose]: () => {
      churn.stop();
      fake[Symbol.dispose]();
    },
  };
  const { onRequest } = options;
  return new Client(defined({ server: "http://fake", namespace: "default", transport, onWarning, onRequest }));
}

/** The flags that choose one server, or several. */
export interface ClustersFlags extends ConnectionFlags {
  /** Names of contexts, separated by commas. */
  readonly contexts?: string;
  /** If `true`, all contexts of the kubeconfig. */
  readonly allContexts?: boolean;
}

/** A client, with the name of its cluster where the flags may name several. */
export interface ClusterClient {
  /** The name of the context. */
  readonly cluster?: string;
  readonly client: Client;
}

/** The clients of a command, which a disposal disposes. */
class ClusterClients implements Disposable {
  readonly all: readonly ClusterClient[];

  constructor(all: readonly ClusterClient[]) {
    this.all = all;
  }

  /**
   * Finds the resources with these names, as {@linkcode targetsFor} and {@linkcode resourcesFor} do, by the first
   * cluster that answers and has them.
   *
   * @throws the error of the first cluster, if none has.
   */
  async ask<R>(find: (client: Client, signal: AbortSignal) => Promise<R>, signal: AbortSignal): Promise<R> {
    using job = new DerivedController(signal);
    const found = this.all.map(({ client }) => find(client, job.signal));
    try {
      return await Promise.any(found);
    } catch (error) {
      throw error instanceof AggregateError ? error.errors[0] : error;
    }
  }

  [Symbol.dispose](): void {
    for (const { client } of this.all) client[Symbol.dispose]();
  }
}

/**
 * Returns the client of {@linkcode clientFor}, or one for each context that the flags name. Contexts that cannot be
 * used are reported.
 *
 * @throws {UsageError} when flags contradict each other, or no context can be used.
 */
export async function clientsFor(flags: ClustersFlags, terminal: Terminal): Promise<ClusterClients> {
  const { contexts, allContexts, context, server, tokenFile, fake } = flags;
  if (contexts === undefined && !allContexts) return new ClusterClients([{ client: await clientFor(flags, terminal) }]);
  const flag = contexts === undefined ? "--all-contexts" : "--contexts";
  if (contexts !== undefined && allContexts) throw new UsageError("--contexts and --all-contexts: leave one out");
  for (const [name, value] of Object.entries({ context, server, "token-file": tokenFile, fake })) {
    if (value) throw new UsageError(`${flag} names several clusters; leave out --${name}`);
  }
  const names = contexts?.split(",").filter((name) => name !== "");
  if (names?.length === 0) throw new UsageError(`--contexts must name contexts, as a,b, found "${contexts}"`);
  const onWarning = (warning: string): void => terminal.say(`warning: ${warning}`);
  const clients = await connectContexts({
    ...connectOptionsFor(flags, terminal),
    ...defined({ contexts: names }),
    onWarning,
    onRefused: (error, name) => terminal.say(`error: ${name}: ${errorLine(error)}`),
  });
  if (clients.size === 0) throw new UsageError(`${flag}: no context can be used; look into the kubeconfig`);
  return new ClusterClients(Array.from(clients, ([cluster, client]) => ({ cluster, client })));
}

const KIND = "CustomResourceDefinition";

/** The depth of nested values that is read. Two levels are one level of a schema. */
const MAX_DEPTH = 400;

/**
 * Returns the CustomResourceDefinitions in the text of a file: YAML of any number of documents, or JSON. Those in lists
 * are found too; objects of other kinds are skipped.
 *
 * @param file The path of the file, for messages.
 * @throws {UsageError} when it is not YAML, or has no definition.
 * @throws {SchemaError} when a document is no object.
 */
export function definitionsIn(text: string, file: string): DocumentPart[] {
  let documents: unknown[];
  try {
    // Aliases would let a small file grow without bound; generators of definitions write none.
    documents = loadAll(text, { maxAliases: 0, maxDepth: MAX_DEPTH });
  } catch (cause) {
    const place = cause instanceof YAMLException && cause.mark !== undefined
      ? `${cause.reason} at line ${cause.mark.line + 1}, column ${cause.mark.column + 1}`
      : messageOf(cause);
    throw new UsageError(`--file: "${file}" is neither YAML nor JSON that can be read: ${place}`, { cause });
  }
  const parts = documents.map((value, i) => ({
    value,
    path: documents.length === 1 ? `${file}#` : `${file}, document ${i + 1}#`,
  }));
  const objects = parts.filter(({ value }) => value !== null && value !== undefined).flatMap(objectsAt);
  const found = objects.filter((part) => memberOf(objectAt(part), "kind") === KIND);
  if (found.length === 0) {
    throw new UsageError(`--file: "${file}" has no ${KIND} among its ${objects.length} objects; name another file`);
  }
  return found;
}

/** The items of a list, or the object itself. */
function objectsAt(part: DocumentPart): DocumentPart[] {
  const object = objectAt(part);
  const items = memberOf(object, "items");
  const kind = memberOf(object, "kind");
  if (!Array.isArray(items) || !(typeof kind === "string" && kind.endsWith("List"))) return [part];
  // The items of a typed list need not say of which kind they are.
  const typed = kind === `${KIND}List`;
  return items.map((item, i) => ({
    value: typed && isDocumentObject(item) ? { kind: KIND, ...item } : item,
    path: pathTo(part.path, "items", i),
  }));
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Timers have 31 bits; a longer timer fires at once. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * Returns the milliseconds of a duration such as `30s`, `1m30s`, `250ms` or `0`; at most 596 hours.
 *
 * @throws {UsageError} that names the flag.
 */
export function durationMs(text: string, flag: string): number {
  if (text === "0") return 0;
  let total = 0;
  for (let rest = text; rest !== "" || text === "";) {
    const match = /^([0-9]+(?:\.[0-9]+)?)(ms|s|m|h)/.exec(rest);
    if (match === null) {
      throw new UsageError(`--${flag} must be a duration such as "30s", "1m30s" or "250ms", found "${text}"`);
    }
    total += Number(match[1]) * UNITS[match[2]];
    rest = rest.slice(match[0].length);
  }
  if (total > LONGEST_MS) throw new UsageError(`--${flag} must be at most "596h", found "${text}"`);
  return total;
}

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
      throw new UsageError(`"${single}" names no kind; write each object as kind/name, or all names behind one kind`);
    }
    const found = new Map<string, string[]>();
    for (const arg of args) {
      const [kind, name, ...rest] = arg.split("/");
      if (rest.length > 0) throw new UsageError(`"${arg}" is not the kind and the name of one object`);
      if (kind === "") throw new UsageError(`"${arg}" names no kind; write kind/name`);
      if (name === "") throw new UsageError(`the name in "${arg}" is empty; leave the slash out to list all`);
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

/**
 * Finds the resources of what {@linkcode getTargets} returns, as {@linkcode resourcesFor} does.
 *
 * @throws {UsageError} when a name is unknown, or that of a category before names of objects.
 */
export async function targetsFor(
  client: Client,
  targets: readonly GetTarget[],
  verb: "list" | "watch",
  options: Parameters<typeof resourcesFor>[3],
): Promise<FoundTarget[]> {
  const found: FoundTarget[] = [];
  for (const { kind, names } of targets) {
    const resources = await resourcesFor(client, [kind], verb, options);
    if (names.length > 0 && resources.length > 1) {
      throw new UsageError(`"${kind}" is a category, whose objects are listed; name the kind of ${names[0]}`);
    }
    for (const resource of resources) found.push({ resource, names });
  }
  return found;
}

const FORMS: Readonly<
  Record<"object" | "metadata" | "table", (resource: Resource) => Resource<KubernetesObject>>
> = { object: (resource) => resource, metadata: onlyMetadata, table: asTable };

/**
 * Finds the resources with these names on the server, each once, in the form in which objects are needed. The name of a
 * category, such as `all`, stands for its members.
 *
 * @throws {UsageError} when a name is unknown, or its resource does not support `verb`.
 */
export async function resourcesFor(
  client: Client,
  names: readonly string[],
  verb: "list" | "watch",
  options: {
    readonly form: "object" | "metadata" | "table";
    readonly signal: AbortSignal;
    readonly terminal: Terminal;
    /** Resources to watch that can only be listed are added to this. @default {they are refused} */
    readonly polled?: Set<Resource<KubernetesObject>>;
  },
): Promise<Resource<KubernetesObject>[]> {
  const warnings: string[] = [];
  const known = await client.discover({
    signal: options.signal,
    onError: (error, groupVersion) => warnings.push(`warning: ${groupVersion} was not discovered: ${errorLine(error)}`),
  });
  // If all groups had failed, `discover` would have thrown.
  for (const warning of warnings) options.terminal.say(warning);
  if (known.length === 0) {
    throw new DecodeError(
      "Cannot discover resources: the server lists none; check that its address is that of an API server",
    );
  }
  const found = new Map<string, Resource<KubernetesObject>>();
  for (const name of names.flatMap((name) => name.split(",")).filter((name) => name !== "")) {
    for (const resource of named(known, name)) {
      const isPolled = options.polled !== undefined && !resource.verbs.includes(verb);
      if (!resource.verbs.includes(isPolled ? "list" : verb)) {
        throw new UsageError(`"${resource.plural}" cannot be ${verb === "list" ? "listed" : "watched"} on this server`);
      }
      const { group, version, plural, kind, scope, shortNames, categories } = resource;
      const plain: Resource = { group, version, plural, kind, scope, shortNames, categories };
      const formed = FORMS[options.form](plain);
      found.set(`${group}/${plural}`, formed);
      if (!isPolled) continue;
      options.polled!.add(formed);
      options.terminal.say(`"${plural}" cannot be watched, and is listed every ${POLL_MS / 1_000} s`);
    }
  }
  if (found.size === 0) throw new UsageError("name at least one resource, such as pods");
  return [...found.values()];
}

/** The time between two lists of a kind that cannot be watched, in milliseconds: that in which kubelets measure. */
export const POLL_MS = 15_000;

/** Returns the resource with that name, or the members of the category, each in the version that the server prefers. */
function named(known: readonly ApiResource[], name: string): readonly ApiResource[] {
  try {
    return [findResource(known, name)];
  } catch (error) {
    const members = known.filter(({ categories, preferred }) => preferred && categories.includes(name));
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
 * Validates flags and names before a request is sent.
 *
 * @throws {UsageError}
 * @throws {ValidationError}
 * @throws {SyntaxError}
 */
export function checkSelection(flags: SelectionFlags, names: readonly string[]): void {
  for (const name of names) {
    // The parser takes unknown flags for positional arguments.
    if (!name.startsWith("-")) continue;
    const hint = name.startsWith("--") ? "" : ", and a value stands behind a space, as in -l app=web";
    throw new ValidationError(`There is no flag "${name}"${hint}`);
  }
  const { namespace, selector, fieldSelector } = flags;
  if (flags.allNamespaces && namespace !== undefined) {
    throw new UsageError("-A and -n contradict each other; leave one out");
  }
  if (namespace !== undefined && !NAMESPACE.test(namespace)) {
    throw new UsageError(`-n must name one namespace, by lower case letters, digits and "-", found "${namespace}"`);
  }
  checkSelectors({ labelSelector: selector, fieldSelector });
}

/** Converts the server's rejection of a field selector to a {@linkcode UsageError}; returns other errors unchanged. */
export function explainRefusal(error: unknown, { fieldSelector }: SelectionFlags): unknown {
  if (!(error instanceof StatusError) || error.status.code !== 400 || fieldSelector === undefined) return error;
  return new UsageError(`--field-selector "${fieldSelector}" is refused by the server: ${error.status.message}`, {
    cause: error,
  });
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
  { say, ...options }: {
    readonly say: (line: string) => void;
    readonly signal: AbortSignal;
    readonly verbs?: readonly "list"[];
  },
): Promise<Selection> {
  const selection = selectionFor(flags, client);
  const placed = resources.filter(({ scope }) => scope === "Namespaced");
  if (selection.namespace !== undefined) return selection;
  try {
    const namespaces = await readablePart(client, placed, options) ?? [];
    if (namespaces.length === 0) return selection;
    const kinds = placed.map(({ plural }) => plural).join(", ");
    say(`${kinds} of all namespaces may not be read; reading those of ${namespaces.join(", ")}`);
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
