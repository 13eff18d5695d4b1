/**
 * Options, status and observers of reconcilers.
 *
 * {@linkcode ReconcileFunction} and {@linkcode ReconcilerOptions} are the entry points. Nothing runs here;
 * `reconciler.ts` calls the functions.
 *
 * @module
 */
import type { KubernetesObject, ObjectKey } from "../../api/object.ts";
import type { Abortable, Selection } from "../../api/options.ts";
import type { Resource } from "../../api/resource.ts";
import type { Durations } from "../../async/histogram.ts";
import type { ResourceClients } from "../../client/resource_client.ts";
import type { Lister } from "../../informer/cache/lister.ts";
import type { SharedIndexInformerOptions } from "../../informer/options.ts";
import type { SharedIndexInformer } from "../../informer/shared_index_informer.ts";
import type { SharedInformerFactory } from "../../informer/shared_informer_factory.ts";
import type { RateLimiter } from "../../workqueue/rate_limiter.ts";
import type { Trigger } from "../../workqueue/triggers.ts";
import type { ReconcileResult } from "../../workqueue/work_item.ts";
import type { WorkQueueStatus } from "../../workqueue/work_queue.ts";
import type { Predicate } from "./predicates.ts";
import type { ShardGroup } from "./shard_group.ts";

/**
 * The outcome of a reconcile. A reconcile that its reconciler has stopped is `"stopped"`: it neither succeeded nor
 * failed.
 */
export type ReconcileOutcome = "succeeded" | "requeued" | "retried" | "failed" | "terminal" | "timedOut" | "stopped";

/** A reconcile that has ended. */
export interface ReconcileRecord {
  /** The key. */
  readonly key: ObjectKey;
  /** The triggers of the reconcile. */
  readonly triggers: readonly Trigger[];
  /** The outcome. */
  readonly outcome: ReconcileOutcome;
  /** The time at which it ended. */
  readonly at: Date;
  /** The error, of an outcome that has one. */
  readonly error?: unknown;
}

/** The state of a `Reconciler` at one time. Counters start at 0 and never decrease. */
export interface ReconcilerStatus {
  /** The name of the reconciler. */
  readonly name: string;
  /**
   * The state: `"syncing"` lasts until all informers have synced, `"stopping"` until the last reconcile has returned.
   */
  readonly state: "created" | "syncing" | "running" | "stopping" | "stopped";
  /** The number of reconciles that have ended, by outcome. */
  readonly outcomes: Readonly<Record<ReconcileOutcome, number>>;
  /** The number of reconciles that had a cause of a type, by that type; a reconcile with two types counts for both. */
  readonly triggers: Readonly<Record<string, number>>;
  /** The last reconciles that have ended, the newest last; at most 16. */
  readonly recent: readonly ReconcileRecord[];
  /** The times from calls of reconciles to their ends, as `outcomes` counts them. */
  readonly reconcileMs: Durations;
  /** The number of keys that wait until caches have seen the writes of their last reconcile. */
  readonly waitingForCaches: number;
  /**
   * The number of reconciles that began although a cache had not seen such a write within `readYourWritesTimeoutMs`.
   */
  readonly stale: number;
  /**
   * The number of reconciles that were caused by writes of the same key's last reconcile only: by their events, or
   * because they were superseded. A controller that writes only what is missing has few after each change by others.
   */
  readonly ownCalls: number;
  /** The keys whose last call has passed its time limit and has not returned; they are not reconciled until it does. */
  readonly abandoned: readonly ObjectKey[];
  /** The number of events whose predicate or map function has thrown, and of broken objects that one of them read. */
  readonly eventErrors: number;
  /** The names of optional kinds that the server does not have at present: `"widgets.example.com"`. */
  readonly waitsFor: readonly string[];
  /** The queue of keys; `running` has the keys that are reconciled, and their triggers. */
  readonly queue: WorkQueueStatus;
}

/** A call of a reconcile that begins. */
export interface StartedReconcile {
  /** The name of the reconciler. */
  readonly reconciler: string;
  /** The resource of the reconciled object. */
  readonly resource: Resource;
  /** The key. */
  readonly key: ObjectKey;
  /** The number of retries of this key since it last succeeded. */
  readonly retries: number;
  /** The triggers of the call, at most 8. */
  readonly triggers: readonly Trigger[];
}

/** Observes one call of a reconcile. */
export interface ReconcileObserver {
  /** Calls `reconcile` once, and returns its result. An error that it throws beside is a failure of the reconcile. */
  call<R>(reconcile: () => R): R;
  /** Called once, when the call has returned or its time is over. An error that it throws is reported as uncaught. */
  ended(record: ReconcileRecord): void;
}

/**
 * Called before each call of a reconcile, with its facts. Returns its observer; `undefined` for one that is not
 * observed.
 */
export type ObserveReconcile = (call: StartedReconcile) => ReconcileObserver | undefined;

/**
 * Brings the server from its present state to the desired one, for one object.
 *
 * It succeeds by returning nothing, or a promise that resolves with nothing. It returns `retry()` or `requeueAfter(ms)`
 * to be called again for the key; it throws, and is called again with growing waits, or throws a `TerminalError` and is
 * not.
 */
export type ReconcileFunction<T extends KubernetesObject> = (
  context: ReconcileContext<T>,
) => void | ReconcileResult | Promise<void | ReconcileResult>;

/**
 * A cache of a reconciler, and over it the answers of the writes that its reconciles have made: each is read at once,
 * until the cache has the write or a later change, and for `readYourWritesTimeoutMs` at most. Another reconciler, the
 * informer's own lister, its handlers and streams do not see them.
 *
 * - An object appears as the cache will have it: selected, reduced and transformed. One that was deleted is gone, or
 *   has its `deletionTimestamp`; one that was changed so that the cache selects it no longer is gone, too.
 * - What cannot be shown so is read from the cache: answers of subresources that are other objects (`scale`), of
 *   another API version, with versions that have no order, of `deleteCollection`; rows, and objects that a transform
 *   renames.
 */
export interface ReconcileCache<T> extends Lister<T> {
  /**
   * Returns the objects that have `value` in the index `name`.
   *
   * @throws {RangeError} when the informer has no such index.
   */
  byIndex(name: string, value: string): T[];
}

/** The argument of a reconcile. */
export interface ReconcileContext<T extends KubernetesObject> {
  /** The key of the object: `"shop/cart-0"`. */
  readonly key: ObjectKey;
  /**
   * The object in the cache, at each reading, or as an own write was answered; undefined when it does not exist (any
   * more). Throws `DecodeError`.
   */
  readonly object: T | undefined;
  /**
   * The client for the writes of this reconcile. They are remembered, and the key is reconciled again only when the
   * caches have seen them. Its requests end when the time of this call is over, when `graceMs` has passed after a stop,
   * and at once when leadership is lost; they reject with the reason of `signal`. A stop alone does not end them unless
   * `signal` is passed to them.
   */
  readonly client: ResourceClients;
  /** Aborts when the reconciler stops, and with a `TimeoutError` when the time of this call is over. */
  readonly signal: AbortSignal;
  /** The number of retries of this key since it last succeeded. */
  readonly retries: number;
  /** The triggers of this reconcile, at most 8. */
  readonly triggers: readonly Trigger[];
  /** Returns the cache of a kind; see `Reconciler.cache()`. */
  cache<O extends KubernetesObject>(kind: Resource<O> | SharedIndexInformer<O, string>): ReconcileCache<O>;
}

/** Options of an informer of a reconciler: the objects that it follows, and its cache. */
export type InformerSelection<T extends KubernetesObject> = Selection & SharedIndexInformerOptions<T, string>;

/** A kind that a reconciler watches, or an informer of it that the factory of the reconciler has made. */
export type WatchedKind<T extends KubernetesObject> = Resource<T> | SharedIndexInformer<T, string>;

/** Options of one kind of a reconciler. */
export interface WatchedKindOptions<T extends KubernetesObject> {
  /** The predicates of which an event must pass one. @default {every event passes} */
  readonly when?: Predicate<T> | readonly Predicate<T>[];
  /**
   * The server need not have the kind, neither when the reconciler starts nor later: it reconciles without the kind,
   * and enqueues the keys of the objects when the kind comes, and those of the deleted ones when it goes. See the
   * option of the same name of informers.
   *
   * @default {false: the reconciler fails when the server does not have the kind}
   */
  readonly optional?: boolean;
  /**
   * The event that shows a write of the same reconcile and nothing else: `"skip"` makes it no cause, `"cause"` a cause
   * as any other. It is known by uid and version, and only in a watch: an event of a list is always a cause, and so is
   * one that may hide a change by somebody else. So `"skip"` is certain for creations, for writes that name the version
   * of the object, and for merge patches; of others where values were sent as the server stores them. Deletions and
   * JSON patches are triggers.
   *
   * @default {"skip" for writes of the status of the reconciled object, "cause" for others}
   */
  readonly ownWrites?: "ignore" | "trigger";
  /** The options of the informer. @default {those of the factory: all objects of the kind} */
  readonly informer?: InformerSelection<T>;
}

/** Options for `Reconciler.run`: a `Leadership` is one. */
export interface ReconcilerRunOptions extends Abortable {
  /**
   * Stops the reconciler as `signal` does, and ends the requests of running reconciles at once. See `Leadership.lost`.
   */
  readonly lost?: AbortSignal;
  /**
   * Called before each request of a reconcile. When it returns false, the reconciler stops as if `lost` had aborted,
   * and the request is not sent: after a pause of the process the clock says so before `lost` aborts. See
   * `Leadership.isHeld`.
   *
   * @default {leadership is held until `lost` aborts}
   */
  readonly isHeld?: () => boolean;
}

/** Options for `Reconciler`. */
export interface ReconcilerOptions<T extends KubernetesObject> extends WatchedKindOptions<T> {
  /** The name in status, errors and names of handlers. @default {the name of the resource} */
  readonly name?: string;
  /** The factory that shares informers. @default {one of its own, which stops with the reconciler} */
  readonly informers?: SharedInformerFactory;
  /**
   * Divides the keys among the processes of a group, which runs beside the reconciler: in a `Manager`, or by its
   * `run()`. This process reconciles those of the ranges that it holds.
   *
   * - By uid, the reconciled objects are those whose uid is in the ranges; the objects that `owns()` names are cached
   *   if their controller's uid is, whose watch is read whole. By namespace, both are those of the namespaces.
   * - What `watches()` names is cached by each process, unless its own `shard` says otherwise. A mapped or enqueued key
   *   belongs, by uid, to the process whose cache has its object, so that a key without one is not reconciled, after a
   *   deletion excepted; by namespace, to the process that has its namespace.
   * - Reconciles in a range begin when this process holds it, and all caches have what the server had after that. They
   *   are called for each object of it then, and not for objects that leave. A range is given away when its running
   *   calls have returned; their signals abort, and after `graceMs` their requests end. Where it is lost, they end at
   *   once.
   *
   * No object is reconciled by two processes at a time, as long as `ShardGroup` keeps its promise. A new object of the
   * same name has another uid: its reconcile may begin elsewhere while the call for the deleted one runs.
   *
   * @default {this process reconciles all keys}
   */
  readonly shards?: ShardGroup;
  /** The number of keys that are reconciled at a time. @default {1} */
  readonly concurrency?: number;
  /**
   * The time between the first event for a key and its reconcile, in milliseconds: further events within it lead to the
   * same reconcile. It delays no key for longer, however many events follow.
   *
   * @default {0}
   */
  readonly debounceMs?: number;
  /**
   * The time limit of one call, in milliseconds; `Infinity` is none. When it is over, the signal aborts, the call
   * counts as failed, and its worker takes other keys. The key is reconciled again when the call has returned, never
   * before.
   *
   * @default {300_000}
   */
  readonly timeoutMs?: number;
  /**
   * The time that stopping waits for running calls, in milliseconds; `Infinity` waits until they return. Calls that
   * have not returned after a second are reported. @default {30_000}
   */
  readonly graceMs?: number;
  /**
   * The time that a key waits until the caches have seen the writes of its last reconcile, in milliseconds. When it is
   * over, the key is reconciled all the same, with a cause `"stale"`, and the error is reported.
   *
   * @default {30_000}
   */
  readonly readYourWritesTimeoutMs?: number;
  /**
   * The longest time from `run()` until all informers have synced, in milliseconds; `Infinity` is no limit. Those of a
   * `Manager` sync before that, within a limit of its own.
   *
   * @default {600_000}
   */
  readonly syncTimeoutMs?: number;
  /** The waits after failures. @default {exponentialBackoff(): 5 ms, doubling to 1000 s, for each key} */
  readonly rateLimiter?: RateLimiter<ObjectKey>;
  /**
   * Called with each failed reconcile, each event error (of a predicate or a map function), each stale cache and each
   * loop of a reconcile that triggers its own calls, and the key that it concerns.
   *
   * @default {each new cause is written to the console, in one line, and again at most once a minute}
   */
  readonly onError?: (error: unknown, key: ObjectKey) => void;
  /** Observes each call: `observeReconciles` of `./otel` makes spans of them. @default {nothing is observed} */
  readonly observe?: ObserveReconcile;
}

/**
 * A failure that a retry cannot mend, such as an invalid spec. A reconcile that throws it is counted and reported, and
 * its key is reconciled again only after the next event.
 */
export class TerminalError extends Error {
  /** `"TerminalError"`. */
  override readonly name = "TerminalError";
}
