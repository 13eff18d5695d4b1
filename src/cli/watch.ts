/**
 * The command `informer watch`: runs informers and prints their events.
 *
 * {@linkcode watch} is the entry point. The table of a terminal is in `terminal/live_view.ts`.
 *
 * @module
 */
import { defined } from "../engine/api/json.ts";
import type { KubernetesObject } from "../engine/api/object.ts";
import { isSecret, type Resource, resourceName } from "../engine/api/resource.ts";
import { isForbidden, isNotFound, isUnauthorized, StatusError } from "../engine/api/status.ts";
import { DerivedController } from "../engine/async/signals.ts";
import { LongTimer, sleep } from "../engine/async/time.ts";
import { nextTurn } from "../engine/async/turns.ts";
import { errorLine } from "../engine/errors/errors.ts";
import type {
  AddedEvent,
  DeletedEvent,
  HandlerRegistration,
  SyncedEvent,
  UpdatedEvent,
} from "../engine/informer/events/event.ts";
import type { SharedIndexInformer } from "../engine/informer/shared_index_informer.ts";
import { SharedInformerFactory } from "../engine/informer/shared_informer_factory.ts";
import { checkOutputFile, writeCacheFile } from "./output_file.ts";
import { clientsFor, type ClusterClient, type ClustersFlags, refuseFlags } from "./shared/connect.ts";
import { durationMs } from "./shared/flag_values.ts";
import {
  checkSelection,
  explainRefusal,
  POLL_MS,
  readableSelection,
  resourcesFor,
  type SelectionFlags,
  selectionFor,
} from "./shared/targets.ts";
import { EXIT_CODE, UsageError } from "./shared/usage.ts";
import { LiveView, WatchScreen } from "./terminal/live_view.ts";
import {
  type CommandContext,
  FailureReporter,
  formOf,
  GrowingTable,
  jsonText,
  nothingFound,
  objectIn,
  type OutputFormat,
  plain,
  qualifiedName,
  redactObject,
  rowCells,
  type Terminal,
} from "./terminal/terminal.ts";

interface WatchFlags extends ClustersFlags, SelectionFlags {
  /** Resync interval, as a duration. */
  readonly resync?: string;
  /** If `true`, fetches only the metadata of objects. */
  readonly metadataOnly?: boolean;
  /** Use of the streaming list: fetch the initial list over the watch. */
  readonly streamingList: "auto" | "on" | "off";
  /** If `true`, ends after the initial sync. */
  readonly untilSynced?: boolean;
  /** Time limit, as a duration. */
  readonly timeout?: string;
  /** Path of the file to which the cache is written at the end. */
  readonly cache?: string;
  /** If `true`, prints and writes the data of Secrets. */
  readonly secretData?: boolean;
  /** If `true`, prints objects. */
  readonly object: boolean;
  /** Format of the results. */
  readonly output: OutputFormat;
}

/** The flags as read, and what was found out. */
interface FollowFlags extends WatchFlags {
  readonly resyncMs: number;
  /** The reason with which it ends at the time limit. */
  readonly timeUp: DOMException;
  /** The resources that cannot be watched. */
  readonly polled: ReadonlySet<Resource>;
}

interface Watched {
  /** The name of the cluster, if there may be several. */
  readonly cluster?: string;
  readonly resource: Resource<KubernetesObject>;
  readonly informer: SharedIndexInformer<KubernetesObject>;
  readonly printer: HandlerRegistration;
}

/** Runs informers and prints their events, until `stop` aborts. Returns the exit code. */
export async function watch(flags: WatchFlags, names: readonly string[], context: CommandContext): Promise<number> {
  const { terminal, stop, signal } = context;
  checkSelection(flags, names);
  const resyncMs = flags.resync === undefined ? 0 : durationMs(flags.resync, "resync");
  const timeoutMs = flags.timeout === undefined ? undefined : durationMs(flags.timeout, "timeout");
  if (timeoutMs === 0) throw new UsageError(`--timeout must be longer than 0; leave it out to watch without a limit`);
  if (flags.untilSynced && resyncMs > 0) {
    throw new UsageError("--until-synced ends before a resync; leave out --resync");
  }
  if (flags.cache !== undefined) {
    refuseFlags("--cache works with one cluster only", { contexts: flags.contexts, "all-contexts": flags.allContexts });
    await checkOutputFile("--cache", flags.cache);
  }
  const timeUp = new DOMException(`the time of --timeout ${flags.timeout} is over`, "TimeoutError");
  using timer = new LongTimer(() => stop.abort(timeUp));
  timer.arm(timeoutMs ?? Infinity);
  const hurry = (): void => terminal.unblock();
  signal.addEventListener("abort", hurry, { once: true });
  try {
    using clients = await clientsFor(flags, terminal);
    const { metadataOnly, output } = flags;
    // Events in the form of names have the objects, which --cache writes.
    const form = metadataOnly ? "metadata" : formOf(output) === "table" && flags.object ? "table" : "object";
    const polled = new Set<Resource<KubernetesObject>>();
    const options = { form, terminal, polled } as const;
    const resources = await clients.ask((...asked) => resourcesFor(names, "watch", options, ...asked), signal);
    return await follow(clients.all, resources, { ...flags, polled, resyncMs, timeUp }, context);
  } catch (error) {
    if (error !== timeUp) throw error;
    const [code, kind] = flags.untilSynced ? [EXIT_CODE.failed, "error"] : [EXIT_CODE.done, "warning"];
    terminal.say(`${kind}: no response within --timeout ${flags.timeout}; check the server, or give it more time`);
    return code;
  } finally {
    signal.removeEventListener("abort", hurry);
  }
}

/** Returns `true` if the objects are shown on a screen of their own, which has no place for lines about requests. */
function wantsScreen({ output, object, untilSynced, verbose }: WatchFlags, terminal: Terminal): boolean {
  return terminal.hasFullScreen && formOf(output) === "table" && object && !untilSynced && !verbose;
}

/** Runs the informers, and writes the cache at the end. */
async function follow(
  clients: readonly ClusterClient[],
  resources: readonly Resource<KubernetesObject>[],
  flags: FollowFlags,
  context: CommandContext,
): Promise<number> {
  const { terminal, signal } = context;
  const { output, untilSynced } = flags;
  const namespaces = flags.allNamespaces ?? false;
  const [{ namespace }] = clients.map(({ client }) => selectionFor(flags, client));
  using screen = wantsScreen(flags, terminal)
    ? new WatchScreen(resources, { wide: output === "wide", namespaces }, namespace, context)
    : undefined;
  /** Aborted when the server rejects a resource that was never live: retrying cannot help. */
  using job = new DerivedController(signal);
  const factories: SharedInformerFactory[] = [];
  const table = new GrowingTable();
  const watched: Watched[] = [];
  for (const { cluster, client } of clients) {
    // Of several clusters, one that does not answer is not waited for.
    const selection = cluster === undefined
      ? await readableSelection(flags, client, resources, { terminal, signal })
      : selectionFor(flags, client);
    const informers = new SharedInformerFactory(client, {
      ...selection,
      ...defined({ cluster }),
      resyncMs: flags.resyncMs,
    });
    factories.push(informers);
    for (const resource of resources) {
      const informer = inform(informers, resource, flags, cluster, context, (error) => job.abort(error));
      const lines = eventLines(resource, flags, table, namespaces, resources.length > 1);
      const printer = screen?.follow(resource, informer) ??
        print(resource, informer, lines, selection.namespace, terminal);
      watched.push({ cluster, resource, informer, printer });
    }
  }
  using view = new LiveView(watched, terminal, screen && ((line) => screen.paint(line)));
  for (const informers of factories) informers.start();
  let failed = 0;
  try {
    failed = await synced(watched, job.signal);
    if (untilSynced) {
      for (const { informer, printer } of watched) if (informer.hasSynced) await printer.waitForSync({ signal });
    } else await sleep(Infinity, { signal: job.signal });
  } catch (error) {
    if (!signal.aborted) throw explainRefusal(job.signal.aborted ? job.signal.reason : error, flags);
  } finally {
    await drained(watched); // what is printed in the turn in which the informers stop matches the cache
    try {
      await Promise.all(factories.map((informers) => informers.shutdown()));
    } finally {
      view[Symbol.dispose]();
      if (flags.cache !== undefined) await save(flags.cache, watched, flags.secretData ?? false, terminal);
    }
  }
  const isLate = untilSynced && unsyncedOf(watched) !== "" && signal.reason === flags.timeUp;
  return isLate ? explainUnsynced(watched, flags, terminal) : failed > 0 ? EXIT_CODE.failed : EXIT_CODE.done;
}

/** Makes the informer of a resource. `refused` is called when the only cluster will never serve it. */
function inform(
  informers: SharedInformerFactory,
  resource: Resource<KubernetesObject>,
  { streamingList, polled }: FollowFlags,
  cluster: string | undefined,
  { terminal, backoff }: CommandContext,
  refused: (error: unknown) => void,
): SharedIndexInformer<KubernetesObject> {
  const failures = new FailureReporter(watchedName({ cluster, resource }), (line) => terminal.say(line));
  const informer = informers.forResource(resource, {
    pollMs: polled.has(resource) ? POLL_MS : undefined,
    secretData: isSecret(resource) ? "keep" : undefined, // redacted when it is printed
    reflector: { streamingList, backoff, onPhase: (phase) => failures.onPhase(phase) },
    onError: (error) => {
      const trying = informer.status().cause === error;
      if (cluster === undefined && trying && !failures.wasLive && isRefused(error)) refused(error);
      else failures.report(error, trying);
    },
  });
  return informer;
}

/** Returns the name of an informer in messages. */
function watchedName({ cluster, resource }: Pick<Watched, "cluster" | "resource">): string {
  return cluster === undefined ? resourceName(resource) : `${cluster}: ${resourceName(resource)}`;
}

/** Waits until all have synced, and returns the number of those that a cluster refuses, one of several. */
async function synced(watched: readonly Watched[], signal: AbortSignal): Promise<number> {
  const refused = await Promise.all(watched.map(async ({ cluster, informer }) => {
    try {
      await informer.waitForCacheSync({ signal, patient: cluster === undefined });
      return 0;
    } catch (error) {
      if (signal.aborted || cluster === undefined) throw error;
      return 1; // its informer has reported it, and tries again
    }
  }));
  return refused.reduce<number>((sum, it) => sum + it, 0);
}

function unsyncedOf(watched: readonly Watched[]): string {
  return watched.filter(({ informer }) => !informer.hasSynced).map(watchedName).join(", ");
}

/** Reports resources that did not sync in time, with the cause of one of them. */
function explainUnsynced(watched: readonly Watched[], { timeout }: WatchFlags, terminal: Terminal): number {
  const cause = watched.map(({ informer }) => informer.status().cause).find((cause) => cause !== undefined);
  const why = cause === undefined ? "" : `: ${errorLine(cause)}`;
  const late = `not synced within --timeout ${timeout}${why}; check the server, or give it more time`;
  terminal.say(`error: ${unsyncedOf(watched)} ${late}`);
  return EXIT_CODE.failed;
}

/** An event about an object. */
type PrintedEvent =
  | AddedEvent<KubernetesObject>
  | UpdatedEvent<KubernetesObject>
  | DeletedEvent<KubernetesObject>;

/** Formats the events of one resource as lines. */
interface EventLines {
  /** Returns the line for an event. Parses the object only if it is printed. */
  of(event: PrintedEvent): string;
  /** Returns the line for the initial sync; `undefined` for formats without such a line. */
  synced(event: SyncedEvent): string | undefined;
}

/**
 * Returns functions that format events of `resource` for a table that all resources share, with the column
 * `namespaces`, and the name of the resource where there are several.
 */
function eventLines(
  resource: Resource<KubernetesObject>,
  { output, object, secretData = false }: WatchFlags,
  table: GrowingTable,
  namespaces: boolean,
  several: boolean,
): EventLines {
  const named = several ? { resource: resourceName(resource) } : {};
  return {
    of: (event) => {
      const { cluster } = event;
      const inCluster = cluster === undefined ? [] : [cluster];
      if (output === "name") return [...inCluster, qualifiedName(resource, event.name)].map(plain).join(" ");
      if (output === "json") {
        const { type, ...rest } = event.toJSON() as { readonly type: string };
        const shown = object ? { object: redactObject(objectIn(resource, event.object), resource, secretData) } : {};
        return jsonText({ type, ...named, ...rest, ...shown });
      }
      const verb = event.type === "updated" && event.resync ? "resync" : event.type;
      const place = namespaces && resource.scope === "Namespaced" ? [event.namespace, event.name] : [event.name];
      const style = { wide: output === "wide", namespaces, cluster };
      const cells = object ? rowCells(resource, event.object, style) : [...inCluster, ...place].map(plain);
      return table.line([verb, ...(several ? [resource.plural] : []), ...cells]);
    },
    synced: ({ cluster, objects, resourceVersion }) => {
      if (output !== "json") return undefined;
      return JSON.stringify({ type: "synced", ...named, cluster, objects, resourceVersion });
    },
  };
}

/** Prints each event as a line, in order; waits while the reader of the output is slower. */
function print(
  resource: Resource<KubernetesObject>,
  informer: SharedIndexInformer<KubernetesObject>,
  lines: EventLines,
  namespace: string | undefined,
  terminal: Terminal,
): HandlerRegistration {
  const handle = (event: PrintedEvent): Promise<void> | void => {
    terminal.result(lines.of(event));
    return terminal.room;
  };
  return informer.addEventHandler({
    onAdd: handle,
    onUpdate: handle,
    onDelete: handle,
    onSynced: async (event) => {
      const line = lines.synced(event);
      if (line !== undefined) return terminal.result(line);
      await terminal.written();
      const { cluster, objects, resourceVersion } = event;
      const found = objects === 0
        ? nothingFound([resource], namespace)
        : `synced ${objects} ${resource.plural} at version ${resourceVersion}`;
      terminal.say(cluster === undefined ? found : `${cluster}: ${found}`);
    },
  }, { name: "print" });
}

/** Writes the cache if all resources are synced; otherwise the file of an earlier run stays. */
async function save(path: string, watched: readonly Watched[], secretData: boolean, terminal: Terminal): Promise<void> {
  const unsynced = unsyncedOf(watched);
  if (unsynced !== "") {
    terminal.say(`--cache: "${path}" was not written, because ${unsynced} never synced`);
    return;
  }
  const unreadable = watched.reduce((sum, { informer }) => sum + informer.status().quarantined, 0);
  await writeCacheFile(path, cached(watched, secretData));
  if (unreadable > 0) terminal.say(`--cache: ${unreadable} objects cannot be decoded, so they are not in "${path}"`);
}

/** Yields the cached objects, sorted by key, with Secrets redacted. */
function* cached(watched: readonly Watched[], secretData: boolean): Generator<KubernetesObject> {
  for (const { resource, informer } of watched) {
    for (const key of [...informer.indexer.keys()].sort()) {
      const entry = informer.entries.getByKey(key)!;
      if (entry.error === undefined) yield redactObject(objectIn(resource, entry.object), resource, secretData);
    }
  }
}

/** Returns `true` if the server will reject the same request again. */
export function isRefused(error: unknown): boolean {
  if (isUnauthorized(error) || isForbidden(error) || isNotFound(error)) return true;
  if (error instanceof StatusError) return error.status.code === 400 || error.status.code === 422;
  return error instanceof TypeError || error instanceof RangeError;
}

/** Resolves in a turn in which all delivered events are printed. */
async function drained(watched: readonly Watched[]): Promise<void> {
  while (watched.some(({ printer }) => printer.pending > 0)) await nextTurn();
}
