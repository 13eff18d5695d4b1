/**
 * The options, status and observers for reconcilers.
 *
 * {@linkcode ReconcileFunction} and {@linkcode ReconcilerOptions} are the entry points. Nothing runs here:
 * `reconciler.ts` calls the functions.
 *
 * @module
 */
import type { Abortable, Selection } from "../../../engine/api/call_options.ts";
import type { KubernetesObject, ObjectKey } from "../../../engine/api/object.ts";
import type { Resource } from "../../../engine/api/resource.ts";
import type { Durations } from "../../../engine/async/histogram.ts";
import type { ResourceClients } from "../../../engine/client/resource_client.ts";
import type { Lister } from "../../../engine/informer/cache/lister.ts";
import type { SharedIndexInformerOptions } from "../../../engine/informer/options.ts";
import type { SharedIndexInformer } from "../../../engine/informer/shared_index_informer.ts";
import type { SharedInformerFactory } from "../../../engine/informer/shared_informer_factory.ts";
import type { RateLimiter } from "../../../engine/workqueue/rate_limiter.ts";
import type { Trigger } from "../../../engine/workqueue/triggers.ts";
import type { ReconcileResult } from "../../../engine/workqueue/work_item.ts";
import type { WorkQueueStatus } from "../../../engine/workqueue/work_queue.ts";
import type { Predicate } from "./predicates.ts";
import type { ShardGroup } from "./shard_group.ts";

/**
 * How a reconcile ended.
 *
 * - `"succeeded"`: it returned nothing.
 * - `"requeued"`: it returned `requeueAfter(ms)`.
 * - `"retried"`: it returned `retry()`, or failed with a conflict that is retried without a report.
 * - `"failed"`: it threw an error.
 * - `"terminal"`: it threw a {@linkcode TerminalError}.
 * - `"timedOut"`: it did not return within `timeoutMs`.
 * - `"stopped"`: the reconciler stopped it, or its range moved to another process. It neither succeeded nor failed.
 */
export type ReconcileOutcome = "succeeded" | "requeued" | "retried" | "failed" | "terminal" | "timedOut" | "stopped";

/** A reconcile that has ended. */
export interface ReconcileRecord {
  /** The object's key. */
  readonly key: ObjectKey;
  /** The reconcile's triggers. */
  readonly triggers: readonly Trigger[];
  /** The outcome. */
  readonly outcome: ReconcileOutcome;
  /** When the reconcile ended. */
  readonly at: Date;
  /** The error, if the outcome has one. */
  readonly error?: unknown;
}

/** A snapshot of a `Reconciler`. Counters start at 0 and never decrease. */
export interface ReconcilerStatus {
  /** The reconciler's name. */
  readonly name: string;
  /**
   * The state. `"syncing"` lasts until all informers have synced, and `"stopping"` until the last reconcile has
   * returned.
   */
  readonly state: "created" | "syncing" | "running" | "stopping" | "stopped";
  /** The number of ended reconciles, by outcome. */
  readonly outcomes: Readonly<Record<ReconcileOutcome, number>>;
  /** The number of reconciles, by trigger type. A reconcile with two types counts for both. */
  readonly triggers: Readonly<Record<string, number>>;
  /** The last 16 reconciles that have ended, with the newest last. */
  readonly recent: readonly ReconcileRecord[];
  /** How long reconciles took, from each call to its end. It counts the same reconciles as `outcomes`. */
  readonly reconcileMs: Durations;
  /** The number of keys that wait until the caches have seen the writes of their last reconcile. */
  readonly waitingForCaches: number;
  /** The number of reconciles on a stale cache: it had not seen such a write within `readYourWritesTimeoutMs`. */
  readonly stale: number;
  /**
   * The number of reconciles that only your own writes triggered: writes by the last reconcile for the same key,
   * through their events or because they were superseded. If you write only missing things, this number stays low: each
   * change by others leads to few such reconciles.
   */
  readonly ownCalls: number;
  /** The keys whose last call has passed `timeoutMs` and has not returned. They are not reconciled until it returns. */
  readonly abandoned: readonly ObjectKey[];
  /** The number of events whose predicate or map function threw, also because it read a broken object. */
  readonly eventErrors: number;
  /** The names of optional kinds that the server lacks now, such as `"widgets.example.com"`. */
  readonly waitsFor: readonly string[];
  /** The status of the key queue. Its `running` has the keys that are being reconciled, with their triggers. */
  readonly queue: WorkQueueStatus;
}

/** A reconcile call that is about to begin. */
export interface StartedReconcile {
  /** The reconciler's name. */
  readonly reconciler: string;
  /** The reconciled resource. */
  readonly resource: Resource;
  /** The object's key. */
  readonly key: ObjectKey;
  /** The number of retries for this key since it last succeeded. */
  readonly retries: number;
  /** The call's triggers, at most 8. */
  readonly triggers: readonly Trigger[];
}

/** Observes one reconcile call. */
export interface ReconcileObserver {
  /** Calls `reconcile` once and returns its result. If it throws an error itself, the reconcile has failed. */
  call<R>(reconcile: () => R): R;
  /**
   * Called once, when the call has returned or its time limit has passed. If it throws, that is reported as an uncaught
   * error.
   */
  ended(record: ReconcileRecord): void;
}

/**
 * Called before each reconcile with the facts about it. Return an observer for this call, or `undefined` to ignore it.
 */
export type ObserveReconcile = (call: StartedReconcile) => ReconcileObserver | undefined;

/**
 * Makes the cluster match the desired state for one object. You write this function.
 *
 * - Return nothing when it has succeeded. A promise may do the same.
 * - Return `retry()` or `requeueAfter(ms)` to be called again for the key.
 * - Throw an error to be called again with growing delays.
 * - Throw a {@linkcode TerminalError} if a retry cannot help. The next event calls it again.
 */
export type ReconcileFunction<T extends KubernetesObject> = (
  context: ReconcileContext<T>,
) => void | ReconcileResult | Promise<void | ReconcileResult>;

/**
 * A reconciler's cache, with the responses to your own writes on top. You read a response immediately, until the cache
 * has the write or a later change, for at most `readYourWritesTimeoutMs`. Only this reconciler sees it: other
 * reconcilers, handlers, streams and the informer's own lister do not.
 *
 * - An object appears as the cache will have it: selected, reduced and transformed. A deleted object is gone, or has
 *   its `deletionTimestamp`. An object that no longer matches the selection is gone too.
 * - Some responses cannot be shown early, so you read the cache until the watch delivers the change. These are
 *   subresources with another type (`scale`), other API versions, versions without an order, `deleteCollection()`,
 *   table rows, and objects that a transform renames.
 */
export interface ReconcileCache<T> extends Lister<T> {
  /**
   * Returns the objects that have `value` in the index `name`.
   *
   * @throws {RangeError} if the informer has no such index.
   */
  byIndex(name: string, value: string): T[];
}

/** Everything that a reconcile call receives. */
export interface ReconcileContext<T extends KubernetesObject> {
  /** The object's key, such as `"shop/cart-0"`. */
  readonly key: ObjectKey;
  /**
   * The object, or `undefined` if it does not exist. Each time you read this, you get the object in the cache, or the
   * response to your own write.
   *
   * @throws {DecodeError} if the cached object cannot be decoded.
   */
  readonly object: T | undefined;
  /**
   * The client for this reconcile's writes. Write only through this client: the key is reconciled again only when the
   * caches have seen these writes.
   *
   * Its requests end, and reject with the reason in `signal`, when the call passes `timeoutMs` and when leadership is
   * lost. After a stop they end when `graceMs` has passed. To end a request at the stop itself, pass `signal` to it.
   */
  readonly client: ResourceClients;
  /** Aborts when the reconciler stops, and with a `TimeoutError` when the call passes `timeoutMs`. */
  readonly signal: AbortSignal;
  /** The number of retries for this key since it last succeeded. */
  readonly retries: number;
  /** Why this reconcile was called, at most 8 triggers. Use them only in log messages: events can be missed. */
  readonly triggers: readonly Trigger[];
  /** Returns the cache for a kind, see `Reconciler.cache()`. */
  cache<O extends KubernetesObject>(kind: Resource<O> | SharedIndexInformer<O, string>): ReconcileCache<O>;
}

/** Options for a reconciler's informer: which objects it selects, and how it caches them. */
export type InformerSelection<T extends KubernetesObject> = Selection & SharedIndexInformerOptions<T, string>;

/** A kind to watch, or an informer from the reconciler's own factory. */
export type WatchedKind<T extends KubernetesObject> = Resource<T> | SharedIndexInformer<T, string>;

/** Options for one kind that a reconciler watches. */
export interface WatchedKindOptions<T extends KubernetesObject> {
  /**
   * Decides which events lead to a reconcile. With several predicates, an event must pass one of them. By default,
   * every event passes.
   */
  readonly when?: Predicate<T> | readonly Predicate<T>[];
  /**
   * If `true`, the server may lack the kind, at the start or later. The reconciler works without it. When the kind
   * appears, the keys for its objects are enqueued, and when it disappears, the keys for the deleted objects. If
   * `false`, the reconciler fails when the server lacks the kind. The informer option has the same name. @default
   * {false}
   */
  readonly optional?: boolean;
  /**
   * Whether your own writes to this kind trigger another reconcile of the key that wrote them. By default, all do
   * except writes to the reconciled object's status.
   *
   * - `"ignore"`: an event that shows only your own write triggers no reconcile.
   * - `"trigger"`: it triggers one, like any other event.
   *
   * The reconciler recognizes your write by uid and resourceVersion. It never ignores an event that may hide a change
   * by somebody else, nor one from a list. So `"ignore"` always works for creations, merge patches, and writes that
   * name the object's version. For other writes it works if you send values exactly as the server stores them.
   * Deletions and JSON patches always trigger a reconcile.
   */
  readonly ownWrites?: "ignore" | "trigger";
  /** Options for the kind's informer. By default it caches all objects that the factory selects. */
  readonly informer?: InformerSelection<T>;
}

/** Options for `Reconciler.run()`. You can pass a `Leadership`. */
export interface ReconcilerRunOptions extends Abortable {
  /**
   * Stops the reconciler like `signal` does, and immediately ends all requests of running reconciles. See
   * `Leadership.lost`.
   */
  readonly lost?: AbortSignal;
  /**
   * Called before each request in a reconcile. If it returns `false`, the request is not sent, and the reconciler stops
   * like after `lost`. After a pause of the process, this notices lost leadership before `lost` aborts. See
   * `Leadership.isHeld`. By default, leadership is held until `lost` aborts.
   */
  readonly isHeld?: () => boolean;
}

/** Options for `Reconciler`. */
export interface ReconcilerOptions<T extends KubernetesObject> extends WatchedKindOptions<T> {
  /** The name in status, errors and handler names. By default, the resource's name. */
  readonly name?: string;
  /** The factory that shares informers. By default the reconciler creates its own, and stops it in the end. */
  readonly informers?: SharedInformerFactory;
  /**
   * Divides the keys among a group's processes. This process reconciles only keys in the ranges that it holds. Run the
   * group too: give it to the `Manager`, or call its `run()`. By default, this process reconciles all keys.
   *
   * - By uid: the process reconciles objects whose uid is in its ranges. For `owns()` it caches the objects whose
   *   controller's uid is in its ranges, but receives the kind's whole watch.
   * - By namespace: the process reconciles and caches the objects in its namespaces, for `owns()` too.
   * - For `watches()`, each process caches all objects, unless you set `shard` in the informer options.
   * - A mapped or enqueued key is reconciled by the process that has its namespace, or by uid, the process that caches
   *   its object. So by uid, a key without an object is reconciled only after that object's deletion.
   * - When the process receives a range, its caches first catch up with the server. Then each object in the range is
   *   reconciled. Objects that leave are not.
   * - Before a range is given away, its running calls must return. Their signals abort, and their requests end after
   *   `graceMs`. If a range is lost, the requests end immediately.
   *
   * No two processes reconcile an object at the same time, while `ShardGroup` keeps its promise. A new object with the
   * same name has another uid: another process may reconcile it while a call for the deleted object still runs.
   */
  readonly shards?: ShardGroup;
  /** How many keys are reconciled at the same time. One key is never reconciled twice at a time. @default {1} */
  readonly concurrency?: number;
  /**
   * How long to wait after a key's first event, in milliseconds. Further events in this time lead to the same
   * reconcile. They never make the wait longer. @default {0}
   */
  readonly debounceMs?: number;
  /**
   * How many calls one key may have in any minute. Further triggers wait until the oldest of these calls is a minute
   * ago, and then lead to one call together. Use it if something changes an object far more often than you can handle.
   * Retries count too. `Infinity` means no limit. @default {Infinity}
   */
  readonly maxCallsPerMinute?: number;
  /**
   * How long one call may take, in milliseconds. After that, its signal aborts, the call counts as failed, and its
   * worker takes other keys. The key is reconciled again only after the call has returned. `Infinity` means no limit.
   * @default {300_000}
   */
  readonly timeoutMs?: number;
  /**
   * How long a stop waits for running calls, in milliseconds. Calls that have not returned after a second are reported.
   * `Infinity` means no limit. @default {30_000}
   */
  readonly graceMs?: number;
  /**
   * How long a key waits until the caches have seen its last reconcile's writes, in milliseconds. After that, the key
   * is reconciled anyway, with a trigger of type `"stale"`, and `onError` receives an error. `Infinity` means no limit.
   * @default {30_000}
   */
  readonly readYourWritesTimeoutMs?: number;
  /**
   * How long all informers may take to sync after `run()`, in milliseconds. `Infinity` means no limit. A `Manager`
   * syncs them before that, within a limit of its own. @default {600_000}
   */
  readonly syncTimeoutMs?: number;
  /** The delays after failures. By default `exponentialBackoff()`: 5 ms, doubled up to 1000 s, for each key. */
  readonly rateLimiter?: RateLimiter<ObjectKey>;
  /**
   * Receives errors, each with the key that it concerns:
   *
   * - failed reconciles
   * - errors in predicates and map functions
   * - stale caches
   * - loops, in which a reconcile triggers its own calls
   *
   * By default each new cause is written to the console in one line, and again at most once a minute.
   */
  readonly onError?: (error: unknown, key: ObjectKey) => void;
  /** Observes each call. `observeReconciles` in `./otel` turns them into spans. By default, nothing is observed. */
  readonly observe?: ObserveReconcile;
}

/**
 * A failure that a retry cannot fix, such as an invalid spec. Throw it in your reconcile: the failure is counted and
 * reported, and the key is reconciled again only after the next event.
 */
export class TerminalError extends Error {
  /** `"TerminalError"`. */
  override readonly name = "TerminalError";
}
