/**
 * The status of an informer, and the waits of its callers with their errors.
 *
 * {@linkcode InformerStatus} and {@linkcode InformerWaiter} are the entry points. State itself is kept by
 * `sync/state_keeper.ts`.
 *
 * @module
 */
import type { Abortable } from "../api/call_options.ts";
import { defined } from "../api/json.ts";
import type { ConnectionsStatus } from "../api/lister_watcher.ts";
import type { KubernetesObject, ObjectKey } from "../api/object.ts";
import type { StatusCause } from "../api/status.ts";
import { type Durations, sumOfDurations } from "../async/histogram.ts";
import { monotonicMs, timedController } from "../async/time.ts";
import { ofEntries } from "../entry/path.ts";
import { errorLine, messageOf } from "../errors/errors.ts";
import { InformerError } from "../errors/informer_error.ts";
import { checkNames, namesOf } from "../errors/option_names.ts";
import type { ReflectorCounters } from "../reflector/requests.ts";
import type { CountedBytes } from "./cache/memory_budget.ts";
import type { FollowedCollection } from "./derivation.ts";
import type { HandlerOptions, InformerEvent } from "./events/event.ts";
import { HandlerRemovedError } from "./events/listener.ts";
import type { HandlerStatus } from "./events/processor.ts";
import { PartLeft } from "./sync/changing_parts.ts";
import type { CollectionSync } from "./sync/collection_sync.ts";
import type { CheckResult } from "./sync/consistency_check.ts";
import type { PartSync } from "./sync/part_sync.ts";
import type { InformerState, NamespaceStatus, StateKeeper } from "./sync/state_keeper.ts";

/** An informer's status at one moment. For several namespaces, see also `namespaces`. */
export interface InformerStatus {
  /** The cluster's name, if your program follows several. See `CacheOptions.cluster`. */
  readonly cluster?: string;
  /** The state. With several namespaces, the worst state, which is the last in the order of `InformerState`. */
  readonly state: InformerState;
  /** When the informer entered this state. */
  readonly since: Date;
  /** The error that led to the state, if something is wrong. */
  readonly cause?: unknown;
  /** Since when the informer has not been `live`. Not set while it is live, and before it was started. */
  readonly notLiveSince?: Date;
  /**
   * The cache's age in milliseconds: the time since `notLiveSince`. Not set while the informer is live, and before the
   * cache has synced.
   */
  readonly staleForMs?: number;
  /**
   * `true` while the server does not have the kind and the informer has the option `optional`. It waits for the kind.
   */
  readonly unserved?: true;
  /**
   * When the next request follows, while the informer backs off. With several namespaces, the earliest time. Not set
   * while it waits for room after a `MemoryLimitError`.
   */
  readonly retryAt?: Date;
  /**
   * The version up to which the cache has everything, and `""` before the first list. With several namespaces, the
   * oldest.
   */
  readonly resourceVersion: string;
  /** The status for each namespace, if the informer follows several. */
  readonly namespaces?: readonly NamespaceStatus[];
  /** The status of each list that a running `rescope()` waits for. `namespace` is `""` for all namespaces. */
  readonly rescope?: readonly NamespaceStatus[];
  /** The number of cached objects. */
  readonly objects: number;
  /**
   * The objects that do not fit their kind's schema, with at most ten causes each. They are not cached. Only set with
   * the option `validate`.
   */
  readonly invalid?: readonly { readonly key: string; readonly causes: readonly StatusCause[] }[];
  /** The bytes that the cache holds, if the factory has `maxBytes`. 0 after the informer has stopped. */
  readonly memory?: CountedBytes;
  /** The progress of a running list: objects received, and objects left, if the server sends their number. */
  readonly listing?: { readonly objects: number; readonly remaining?: number };
  /** When the last byte came from the server. */
  readonly lastByteAt?: Date;
  /** The option `pollMs`: the interval of the lists, in milliseconds. Not set if the objects are watched. */
  readonly pollMs?: number;
  /** The time of the last bookmark. */
  readonly lastBookmarkAt?: Date;
  /**
   * Since when the watch has sent no event and no bookmark. With several namespaces, the earliest time. Not set while
   * no watch is open. A watch that stays silent is renewed, see `Client`.
   */
  readonly silentSince?: Date;
  /** The number of changes received. */
  readonly events: number;
  /** The number of lists started, without streaming lists. */
  readonly lists: number;
  /** The number of lists that replaced the cache, including streaming lists and restored snapshots. */
  readonly completedLists: number;
  /** The number of watches started, including streaming lists. */
  readonly watches: number;
  /** The number of relists started within the last minute. */
  readonly recentRelists: number;
  /** The number of watches within the last minute that resumed from the last version. */
  readonly recentResumes: number;
  /**
   * How often the client looked for dead connections. `suspicions` and `renewals` are sums for all namespaces. `probes`
   * counts for all informers that share the client. Not set if the source is not a client's.
   */
  readonly connections?: ConnectionsStatus;
  /** When and why the last watch ended, with the error if there was one. Not set before a watch has ended. */
  readonly lastWatchEnd?: { readonly at: Date; readonly reason: string; readonly error?: unknown };
  /** How long complete lists took, from the request to the end of the commit. */
  readonly listMs: Durations;
  /** How long commits to the cache took, for lists and restored snapshots. */
  readonly commitMs: Durations;
  /** The delivery times, if you called `SharedIndexInformer.measureDelivery()`. */
  readonly deliveryMs?: Durations;
  /**
   * The number of errors: failed lists and watches, handlers, filters, index functions, transforms, unreadable objects.
   */
  readonly errors: number;
  /** The number of cached objects that are known to be unreadable. */
  readonly quarantined: number;
  /** The number of changes that were dropped because the cached object was newer. */
  readonly outdated: number;
  /** The number of objects that differed from the server in consistency checks. */
  readonly differences: number;
  /** The last consistency check's result, and when it ended. Not set before the first check. */
  readonly lastCheck?: CheckResult & { readonly at: Date };
  /** The status of each handler and event stream. */
  readonly handlers: readonly HandlerStatus[];
}

/**
 * Returns the part of an informer's status that its lists and watches determine, with the number of its cached objects.
 */
export function syncStatus<T extends KubernetesObject>(sync: CollectionSync<T>, objects: number): Omit<
  InformerStatus,
  "cluster" | "errors" | "quarantined" | "outdated" | "differences" | "lastCheck" | "handlers" | "deliveryMs"
> {
  const { parts, changing: { staging }, state: { state, since, cause, notLiveSince, retryAt } } = sync;
  const all = parts.map(({ counters }) => counters);
  const sum = (of: (counters: ReflectorCounters) => number): number => all.reduce((total, it) => total + of(it), 0);
  const silentSince = Math.min(...parts.flatMap((part) => part.state.state === "live" ? part.counters.lastByteAt : []));
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
    ...(staging.length === 0 ? {} : { rescope: staging.map(({ status }) => status) }),
    objects,
    ...(sync.valid === undefined ? {} : { invalid: sync.valid.objects }),
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

/** The details in a {@linkcode WaitError}. */
export interface WaitFailure {
  /** The resource: `"pods"` or `"deployments.apps"`. */
  readonly resource: string;
  /** The informer's state when the wait ended. */
  readonly state: InformerState;
  /** How long the informer had been in that state, in milliseconds. */
  readonly stateMs: number;
  /** The signal's reason, if a signal ended the wait. */
  readonly reason?: unknown;
}

/**
 * A wait on an informer ended without success: the signal aborted, the server refuses the list, or the informer
 * stopped. The message names the resource, the informer's state and how long it lasted. `cause` is the error that led
 * to the state, or else the signal's reason.
 */
export class WaitError extends InformerError implements WaitFailure {
  /** `"WaitError"`. */
  override readonly name = "WaitError";
  /** The resource: `"pods"` or `"deployments.apps"`. */
  readonly resource: string;
  /** The informer's state when the wait ended. */
  readonly state: InformerState;
  /** How long the informer had been in that state, in milliseconds. */
  readonly stateMs: number;
  /** The signal's reason, if a signal ended the wait. */
  readonly reason?: unknown;

  /** Creates an error. `cause` defaults to the signal's reason. */
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

const VERSION_OPTIONS = namesOf<Abortable & { readonly namespace?: string }>()("signal namespace");

/** The waits of an informer's callers. They reject as those methods of `SharedIndexInformer` do. */
export class InformerWaiter<T extends KubernetesObject> {
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
  async forSync(options: Abortable & { readonly patient?: boolean; readonly namespace?: string }): Promise<void> {
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
    checkNames("wait for a version", options, VERSION_OPTIONS);
    const { signal, namespace } = options;
    const beganMs = monotonicMs();
    for (;;) {
      try {
        const parts = this.#sync.partsOf(namespace);
        // A wait for one part ends no other one, and needs no signal of its own.
        if (parts.length === 1) return await parts[0].gate.wait(resourceVersion, { signal });
        return await joined((signal) => parts.map(({ gate }) => gate.wait(resourceVersion, { signal })), signal);
      } catch (error) {
        if (error instanceof PartLeft) continue;
        const what = `version ${resourceVersion} of ${this.#sync.collection.subject}`;
        throw this.#explain(error, what, beganMs, signal);
      }
    }
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
        if (!(error instanceof PartLeft)) throw error;
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
      throw this.#explain(error, what, beganMs, signal, awaited);
    }
  }

  /** Returns the error of a wait that has failed with `error`. */
  #explain(
    error: unknown,
    what: string,
    beganMs: number,
    signal: AbortSignal | undefined,
    state = this.#sync.state,
  ): unknown {
    const wait = { what, resource: this.#sync.collection.name, waitedMs: monotonicMs() - beganMs };
    if (signal?.aborted && error === signal.reason) return waitError(wait, state, "aborted", error);
    if (error !== undefined && error === state.refusal) return waitError(wait, state, "refused");
    return error instanceof HandlerRemovedError ? waitError(wait, state, "removed") : error;
  }
}
