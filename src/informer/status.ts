/**
 * The status of an informer, and the waits of its callers with their errors.
 *
 * {@linkcode InformerStatus} and {@linkcode InformerWaits} are the entry points. State itself is kept by
 * `sync/state.ts`.
 *
 * @module
 */
import type { ConnectionsStatus } from "../api/lister_watcher.ts";
import type { KubernetesObject, ObjectKey } from "../api/object.ts";
import { type Abortable, defined } from "../api/options.ts";
import { type Durations, sumOfDurations } from "../async/histogram.ts";
import { monotonicMs, timedController } from "../async/time.ts";
import { ofEntries } from "../entry/path.ts";
import { errorLine, messageOf } from "../errors/errors.ts";
import { InformerError } from "../errors/informer_error.ts";
import { checkNames } from "../errors/option_names.ts";
import type { ReflectorCounters } from "../reflector/requests.ts";
import type { CountedBytes } from "./cache/memory_budget.ts";
import type { FollowedCollection } from "./derivation.ts";
import type { HandlerOptions, InformerEvent } from "./events/event.ts";
import { HandlerRemovedError, type HandlerStatus } from "./events/processor.ts";
import { NamespaceLeft } from "./sync/changing_namespaces.ts";
import type { CollectionSync } from "./sync/collection_sync.ts";
import type { CheckResult } from "./sync/consistency_check.ts";
import type { PartSync } from "./sync/part_sync.ts";
import type { InformerState, NamespaceStatus, StateKeeper } from "./sync/state.ts";

/** The status of an informer at one moment. */
export interface InformerStatus {
  /** The name of the cluster, for an informer of one of several; see `CacheOptions.cluster`. */
  readonly cluster?: string;
  /** The state; of several namespaces, the worst one: the last in the order of `InformerState`. */
  readonly state: InformerState;
  /** The time at which it entered that state. */
  readonly since: Date;
  /** The error behind the state, when something is wrong. */
  readonly cause?: unknown;
  /** The time since which it is not `live`; unset while it is live and before it was started. */
  readonly notLiveSince?: Date;
  /**
   * The age of the cache, in milliseconds: the time since `notLiveSince`, once the cache has synced. Unset while it is
   * live.
   */
  readonly staleForMs?: number;
  /** Set while the server does not have the kind, of an informer with the option `optional`: it waits for the kind. */
  readonly unserved?: true;
  /**
   * The time of the next request, while it backs off; of several namespaces, the earliest. Unset while it waits for
   * room after a `MemoryLimitError`.
   */
  readonly retryAt?: Date;
  /**
   * The version up to which the cache has everything, `""` before the first list; of several namespaces, the oldest.
   */
  readonly resourceVersion: string;
  /** The status of each namespace, for an informer of several. */
  readonly namespaces?: readonly NamespaceStatus[];
  /** The number of cached objects. */
  readonly objects: number;
  /** The bytes that the cache holds, where its factory has `maxBytes`; 0 once the informer has stopped. */
  readonly memory?: CountedBytes;
  /** The progress of a running list: objects received, and objects left where the server says. */
  readonly listing?: { readonly objects: number; readonly remaining?: number };
  /** The time at which the last byte came from the server. */
  readonly lastByteAt?: Date;
  /** The option `pollMs`: the objects are listed again and again, and not watched. Unset where they are watched. */
  readonly pollMs?: number;
  /** The time of the last bookmark. */
  readonly lastBookmarkAt?: Date;
  /**
   * The time since which its watch has been silent: when it last sent an event or a bookmark, or was opened; of several
   * namespaces, the earliest. Unset while none watches. A watch that stays silent is renewed, see `Client`.
   */
  readonly silentSince?: Date;
  /** The number of changes received. */
  readonly events: number;
  /** The number of lists begun, without streaming lists. */
  readonly lists: number;
  /**
   * The number of lists that have replaced the contents of the cache, streaming lists included; a restore counts as
   * one.
   */
  readonly completedLists: number;
  /** The number of watches begun, streaming lists included. */
  readonly watches: number;
  /** The number of relists begun within the last minute. */
  readonly recentRelists: number;
  /** The number of watches begun within the last minute that resumed at the version of the one before. */
  readonly recentResumes: number;
  /**
   * Counts how often dead connections were looked for. `suspicions` and `renewals` are sums over the namespaces;
   * `probes` are the client's, for all its informers. Unset for a source that is not a client's.
   */
  readonly connections?: ConnectionsStatus;
  /** The end of the last watch: time, reason, and error if there was one. Unset before a watch has ended. */
  readonly lastWatchEnd?: { readonly at: Date; readonly reason: string; readonly error?: unknown };
  /** The times from the beginning of a list to the end of its commit, of complete lists. */
  readonly listMs: Durations;
  /** The times that commits to the cache took: of lists, and of snapshots that were restored. */
  readonly commitMs: Durations;
  /** See `SharedIndexInformer.measureDelivery()`. Unset where that was not called. */
  readonly deliveryMs?: Durations;
  /** The number of errors: failed lists and watches, handlers, filters, index functions, transforms, broken objects. */
  readonly errors: number;
  /** The number of cached objects that are known to be unreadable. */
  readonly quarantined: number;
  /** The number of changes that were dropped because the cached object was newer. */
  readonly outdated: number;
  /** The number of objects that consistency checks have found to differ from the server. */
  readonly differences: number;
  /** The result of the last consistency check, and the time of its end. Unset before the first. */
  readonly lastCheck?: CheckResult & { readonly at: Date };
  /** The status of each handler and event stream. */
  readonly handlers: readonly HandlerStatus[];
}

/**
 * Returns the part of an informer's status that its lists and watches determine, with the number of its cached objects.
 */
export function syncStatus<T extends KubernetesObject>(
  sync: CollectionSync<T>,
  objects: number,
): Omit<
  InformerStatus,
  "cluster" | "errors" | "quarantined" | "outdated" | "differences" | "lastCheck" | "handlers" | "deliveryMs"
> {
  const { parts, state: { state, since, cause, notLiveSince, retryAt } } = sync;
  const all = parts.map(({ counters }) => counters);
  const sum = (of: (counters: ReflectorCounters) => number): number => all.reduce((total, it) => total + of(it), 0);
  const silentSince = Math.min(
    ...parts.flatMap((part) => part.state.state === "live" ? part.counters.lastByteAt : []),
  );
  const lastByteAt = Math.max(...all.map((it) => it.lastByteAt));
  const lastBookmarkAt = Math.max(...all.map((it) => it.lastBookmarkAt));
  const ends = all.flatMap(({ lastWatchEnd }) => lastWatchEnd ?? []);
  const lastEnd = ends.reduce((a, b) => b.at > a.at ? b : a, ends[0]);
  const remaining = all.some((it) => it.remaining !== undefined);
  const listing = all.some((it) => it.listed !== undefined) && {
    objects: sum((it) => it.listed ?? 0),
    ...(remaining ? { remaining: sum((it) => it.remaining ?? 0) } : {}),
  };
  return {
    state,
    since,
    ...defined({ cause, notLiveSince }),
    ...(notLiveSince === undefined || !sync.hasSynced ? {} : { staleForMs: Date.now() - notLiveSince.getTime() }),
    ...defined({ retryAt }),
    ...(sync.collection.isOptional && state === "notFound" ? { unserved: true as const } : {}),
    resourceVersion: sync.resourceVersion,
    ...(parts[0].namespace === undefined ? {} : { namespaces: parts.map(({ status }) => status) }),
    objects,
    ...(silentSince === Infinity ? {} : { silentSince: new Date(silentSince) }),
    ...(listing ? { listing } : {}),
    ...(lastByteAt === 0 ? {} : { lastByteAt: new Date(lastByteAt) }),
    ...(lastBookmarkAt === 0 ? {} : { lastBookmarkAt: new Date(lastBookmarkAt) }),
    events: sum((it) => it.events),
    lists: sum((it) => it.lists),
    completedLists: sum((it) => it.completedLists),
    watches: sum((it) => it.watches),
    recentRelists: sum((it) => it.recentRelists),
    recentResumes: sum((it) => it.recentResumes),
    listMs: sumOfDurations(all.map((it) => it.listMs)),
    commitMs: sumOfDurations(all.map((it) => it.commitMs)),
    ...(lastEnd === undefined ? {} : { lastWatchEnd: { ...lastEnd, at: new Date(lastEnd.at) } }),
    ...defined({ connections: connectionsOf(parts.flatMap(({ source }) => source.connections ?? [])) }),
  };
}

function connectionsOf(parts: readonly ConnectionsStatus[]): ConnectionsStatus | undefined {
  if (parts.length === 0) return undefined;
  const sum = (of: (part: ConnectionsStatus) => number): number => parts.reduce((total, it) => total + of(it), 0);
  return { ...parts[0], suspicions: sum((it) => it.suspicions), renewals: sum((it) => it.renewals) };
}

/** The facts of a {@linkcode WaitError}. */
export interface WaitFailure {
  /** The resource, `"pods"` or `"deployments.apps"`. */
  readonly resource: string;
  /** The state of the informer when the wait ended. */
  readonly state: InformerState;
  /** The time for which it had been in that state, in milliseconds. */
  readonly stateMs: number;
  /** The reason of the signal that ended the wait, if one did. */
  readonly reason?: unknown;
}

/**
 * A wait of an informer has ended without success: its signal aborted, the server refuses, or the informer stopped. The
 * message names the resource, the state of the informer and the duration of that state; `cause` is the error that led
 * to the state, or else the reason of the signal.
 */
export class WaitError extends InformerError implements WaitFailure {
  /** `"WaitError"`. */
  override readonly name = "WaitError";
  /** The resource, `"pods"` or `"deployments.apps"`. */
  readonly resource: string;
  /** The state of the informer when the wait ended. */
  readonly state: InformerState;
  /** The time for which it had been in that state, in milliseconds. */
  readonly stateMs: number;
  /** The reason of the signal that ended the wait, if one did. */
  readonly reason?: unknown;

  /** Creates an error. `cause` defaults to the reason of the signal. */
  constructor(message: string, failure: WaitFailure, options: ErrorOptions = {}) {
    const { resource, state, stateMs, reason } = failure;
    super(message, { cause: options.cause ?? reason });
    this.resource = resource;
    this.state = state;
    this.stateMs = stateMs;
    if (reason !== undefined) this.reason = reason;
  }
}

/** One wait, from its beginning. */
interface Wait {
  /** The awaited event, after "Cannot wait for": `"pods" to sync`. */
  readonly what: string;
  /** The resource. */
  readonly resource: string;
  /** The time since its beginning, in milliseconds. */
  readonly waitedMs: number;
}

/** Makes the error about a wait from the informer's state and its cause; `reason` is that of an aborted wait. */
function waitError(
  wait: Wait,
  { state, stateMs, cause }: Pick<StateKeeper, "state" | "stateMs" | "cause">,
  ended: "aborted" | "refused" | "stopped" | "removed",
  reason?: unknown,
): WaitError {
  const since = state === "stopped" ? "it has stopped" : `its state has been "${state}" for ${seconds(stateMs)}`;
  const removed = state === "stopped" ? "its informer has stopped" : "it was removed";
  const given = `given up after ${seconds(wait.waitedMs)}, ${since}`;
  const why = ended === "aborted" ? given : ended === "removed" ? removed : since;
  const failure = { resource: wait.resource, state, stateMs, reason };
  return new WaitError(`Cannot wait for ${wait.what}: ${why}`, failure, { cause });
}

/** Joins errors: a cause that all of them have is that of the result, others are in its message. */
export function joinedWaitError(errors: readonly WaitError[]): WaitError {
  const [first] = errors;
  const isShared = new Set(errors.map(({ cause }) => messageOf(cause))).size === 1;
  const message = errors.map((error) => (isShared ? error.message : errorLine(error)).replace(/^Cannot wait for /, ""));
  return new WaitError(`Cannot wait for ${message.join("; ")}`, first, { cause: first.cause });
}

/**
 * Awaits all waits, which `start` begins with a signal that aborts with `signal`, and when one fails; and after
 * `syncTimeoutMs`. When the signal has ended several, the error names them all.
 */
export async function joined(
  start: (signal: AbortSignal) => readonly Promise<void>[],
  signal: AbortSignal | undefined,
  syncTimeoutMs = Infinity,
): Promise<void> {
  using job = timedController(syncTimeoutMs, `the limit is ${seconds(syncTimeoutMs)} (syncTimeoutMs)`, signal);
  const waits = start(job.signal);
  try {
    await Promise.all(waits);
  } catch (error) {
    if (!job.signal.aborted) throw error;
    const errors = (await Promise.allSettled(waits)).flatMap((it) => it.status === "rejected" ? [it.reason] : []);
    throw errors.every((it) => it instanceof WaitError) ? joinedWaitError(errors) : error;
  }
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(ms < 100_000 ? 1 : 0)} s`;
}

/** A collection that is waited for, and its parts that sync by themselves. */
type AwaitedCollection<T extends KubernetesObject> =
  & Pick<FollowedCollection<T>, "collection" | "state">
  & {
    readonly processor: { stream(options: HandlerOptions<T>, key?: ObjectKey): AsyncIterable<InformerEvent<T>> };
    partsOf(namespace: string | undefined): readonly AwaitedPart[];
  };

type AwaitedPart = Pick<PartSync<KubernetesObject>, "namespace" | "waitForSync" | "state" | "gate">;

/** The waits of an informer's callers. They reject as those methods of `SharedIndexInformer` do. */
export class InformerWaits<T extends KubernetesObject> {
  readonly #sync: AwaitedCollection<T>;

  /** Waits for what `sync` reaches, and its processor delivers. */
  constructor(sync: AwaitedCollection<T>) {
    this.#sync = sync;
  }

  /** The error of a wait that the end of the informer ends. */
  get stopped(): WaitError {
    const { informer, name } = this.#sync.collection;
    return waitError({ what: informer, resource: name, waitedMs: 0 }, this.#sync.state, "stopped");
  }

  /** Resolves once the cache, or the part of a namespace, has synced. */
  async forSync(
    options: Abortable & { readonly patient?: boolean; readonly namespace?: string },
  ): Promise<void> {
    checkNames("wait for a sync", options, "signal patient namespace");
    const { patient, namespace } = options;
    await this.#following(namespace, (parts) => {
      const waits = (signal?: AbortSignal): Promise<void>[] =>
        parts.map((part) => {
          const where = part.namespace === undefined ? "" : ` in namespace "${part.namespace}"`;
          const what = `${this.#sync.collection.subject}${where} to sync`;
          return this.wait(what, signal, () => part.waitForSync({ patient, signal }), part.state);
        });
      return joined(waits, options.signal);
    });
  }

  /** Awaits `call`, the wait for the sync of a handler. */
  forHandler(handler: string, signal: AbortSignal | undefined, call: () => Promise<void>): Promise<void> {
    return this.wait(`handler "${handler}" of ${this.#sync.collection.subject} to sync`, signal, call);
  }

  /** Resolves once the cache, or the part of a namespace, has reached a version. */
  async waitForVersion(resourceVersion: string, options: Abortable & { readonly namespace?: string }): Promise<void> {
    checkNames("wait for a version", options, "signal namespace");
    const { signal, namespace } = options;
    const call = (parts: readonly AwaitedPart[]): Promise<void> => {
      const waits = (signal?: AbortSignal): Promise<void>[] =>
        parts.map(({ gate }) => gate.wait(resourceVersion, { signal }));
      // A wait for one part ends no other one, and needs no signal of its own.
      return parts.length === 1 ? waits(signal)[0] : joined(waits, signal);
    };
    const what = `version ${resourceVersion} of ${this.#sync.collection.subject}`;
    await this.wait(what, signal, () => this.#following(namespace, call));
  }

  /** Resolves with the first object for which the predicate holds, and its cluster, if that has a name. */
  until(
    predicate: (object: T) => boolean,
    options: Abortable & { readonly key?: ObjectKey },
  ): Promise<{ readonly object: T; readonly cluster?: string }> {
    checkNames("wait for an object", options, "signal key");
    const { key, signal } = options;
    const what = `${key === undefined ? "an object" : `"${key}"`} of ${this.#sync.collection.subject}`;
    return this.wait(what, signal, async () => {
      const holds = ofEntries(predicate);
      for await (const event of this.#sync.processor.stream({ signal, name: "until" }, key)) {
        if (event.type === "synced" || event.type === "deleted" || (key ?? event.key) !== event.key) continue;
        try {
          if (holds(event)) return { object: event.object, ...defined({ cluster: event.cluster }) };
        } catch (error) {
          if (error !== event.error) throw error; // the quarantine reports an object that cannot be read
        }
      }
      signal?.throwIfAborted();
      throw this.stopped;
    });
  }

  /** Resolves when there is no object of that key. */
  async untilDeleted(key: ObjectKey, options: Abortable): Promise<void> {
    checkNames("wait for a deletion", options, "signal");
    await this.wait(`the deletion of "${key}" of ${this.#sync.collection.subject}`, options.signal, async () => {
      let there = false;
      for await (const event of this.#sync.processor.stream({ signal: options.signal, name: "untilDeleted" }, key)) {
        if (event.type === "deleted" || (event.type === "synced" && !there)) return;
        there = true;
      }
      options.signal?.throwIfAborted();
      throw this.stopped;
    });
  }

  /** Awaits `call` with the parts of a namespace, again where one of them is no longer followed meanwhile. */
  async #following(
    namespace: string | undefined,
    call: (parts: readonly AwaitedPart[]) => Promise<void>,
  ): Promise<void> {
    for (;;) {
      try {
        return await call(this.#sync.partsOf(namespace));
      } catch (error) {
        if (!(error instanceof NamespaceLeft)) throw error;
      }
    }
  }

  /**
   * Awaits `call`; a refusal of `awaited`, or else of the collection, the removal of a handler, and the end by `signal`
   * become a {@linkcode WaitError}.
   */
  async wait<R>(
    what: string,
    signal: AbortSignal | undefined,
    call: () => Promise<R>,
    awaited?: StateKeeper,
  ): Promise<R> {
    const beganMs = monotonicMs();
    try {
      return await call();
    } catch (error) {
      const state = awaited ?? this.#sync.state;
      const wait = { what, resource: this.#sync.collection.name, waitedMs: monotonicMs() - beganMs };
      if (signal?.aborted && error === signal.reason) throw waitError(wait, state, "aborted", error);
      if (error !== undefined && error === state.refusal) throw waitError(wait, state, "refused");
      if (error instanceof HandlerRemovedError) throw waitError(wait, state, "removed");
      throw error;
    }
  }
}
