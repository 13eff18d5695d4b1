/**
 * One call of a reconcile function: its context, client, time limit and end.
 *
 * {@linkcode ReconcileCall} and {@linkcode RunningCalls} are the entry points. A call that does not return in time is
 * abandoned: its worker takes other keys, and its key is held. `reconciler.ts` decides which key is called.
 *
 * @module
 */
import type { KubernetesObject, ObjectKey } from "../../../engine/api/object.ts";
import type { Resource } from "../../../engine/api/resource.ts";
import { PassingMap } from "../../../engine/async/passing_map.ts";
import { LazyController } from "../../../engine/async/signals.ts";
import { LongTimer, monotonicMs } from "../../../engine/async/time.ts";
import type { Client } from "../../../engine/client/client.ts";
import type { ObjectWrite, ResourceClients } from "../../../engine/client/resource_client.ts";
import type { Lister } from "../../../engine/informer/cache/lister.ts";
import { MAX_TRIGGERS, type Trigger } from "../../../engine/workqueue/triggers.ts";
import type { ReconcileResult } from "../../../engine/workqueue/work_item.ts";
import type { WorkContext } from "../../../engine/workqueue/work_queue.ts";
import type { ReconcileContext, ReconcileFunction } from "./options.ts";
import type { PendingWrites } from "./pending_writes.ts";
import type { ObjectChange } from "./predicates.ts";

/** An event that came during a call for its key, and a function to call if it is a trigger. */
interface EarlyEvent {
  readonly event: ObjectChange<KubernetesObject>;
  /** True if events of all own writes are ignored, false if only status writes are. */
  readonly ofAll: boolean;
  /** Adds the key, as if at the time of the event. */
  readonly add: () => void;
}

/** One call of a reconcile: its context, its signal, its requests, and its end by time or by stopping. */
export class ReconcileCall<T extends KubernetesObject> implements ReconcileContext<T> {
  /** The key. */
  readonly key: ObjectKey;
  readonly client: ResourceClients;
  readonly retries: number;
  readonly triggers: readonly Trigger[];
  readonly cache: ReconcileContext<T>["cache"];
  /** The time at which the call began, of the monotonic clock. */
  readonly beganMs: number = monotonicMs();
  /** The time at which the call must have returned. */
  readonly dueMs: number;
  readonly #calls: RunningCalls<T>;
  readonly #stop = new LazyController();
  /** Ends the requests. */
  readonly #requests = new LazyController();
  /** Resolves when `reconcile` has returned. Never rejects. */
  returned: Promise<void> | undefined;
  /** Set when the promise of `reconcile` has rejected. */
  failure: { readonly error: unknown } | undefined;
  /** Events that may show writes whose responses are still to come. Set once the call may have written. */
  #early: EarlyEvent[] | undefined;
  /** Rejects the promise of `run`. Undefined before that. */
  #reject: ((reason: unknown) => void) | undefined;

  /** Does not call yet. The time limit begins. */
  constructor(key: ObjectKey, { retries, triggers }: WorkContext, calls: RunningCalls<T>) {
    this.key = key;
    const { client, writes, timeoutMs, cache } = calls.facts;
    const onWrite = (write: ObjectWrite): void => writes.record(key, write);
    const onUnanswered = (resource: Resource): void => writes.unanswered(key, resource);
    const cached = (resource: Resource, object: ObjectKey) => writes.cached(key, resource, object);
    this.client = {
      namespace: client.namespace,
      resource: (resource, selection) => {
        this.#early ??= [];
        const { signal } = this.#requests;
        const beforeSent = (): void => {
          calls.check?.();
          signal.throwIfAborted();
        };
        return client.resource(resource, selection, { onWrite, onUnanswered, cached, beforeSent, signal });
      },
    };
    this.retries = retries;
    this.triggers = triggers;
    this.dueMs = this.beganMs + timeoutMs;
    this.cache = cache;
    this.#calls = calls;
  }

  get object(): T | undefined {
    return this.#calls.facts.lister.get(this.key);
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Calls `reconcile`, and returns its result, or the error of `giveUp()`. */
  run(reconcile: ReconcileFunction<T>): void | ReconcileResult | Promise<void | ReconcileResult> {
    const result = reconcile(this);
    if (!(result instanceof Promise)) return result;
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      this.returned = result.then(resolve, (error) => {
        this.failure = { error };
        reject(error);
      });
    });
  }

  /**
   * Keeps an event until the call ends, because it may show a write without a response yet. Returns false if it need
   * not be kept: the call has not written, or so many events came that the key comes up again anyway.
   */
  keep(early: EarlyEvent): boolean {
    if (this.#early === undefined || this.#early.length >= MAX_TRIGGERS) return false;
    this.#early.push(early);
    return true;
  }

  /** Returns the events that were kept, once. */
  takeEarly(): readonly EarlyEvent[] {
    const early = this.#early ?? [];
    this.#early = undefined;
    return early;
  }

  /** Aborts the signal. Requests without this signal continue. */
  abort(reason: unknown): void {
    this.#stop.abort(reason);
  }

  /** Aborts the signal and the requests of the call. It sends nothing after that. */
  endRequests(reason: unknown): void {
    this.#stop.abort(reason);
    this.#requests.abort(reason);
  }

  /** Rejects the promise of `run` with `error`. Returns false if the reconcile has returned no promise. */
  giveUp(error: unknown): boolean {
    this.#reject?.(error);
    return this.#reject !== undefined;
  }
}

/** The facts that all calls of a reconciler share. */
interface CallFacts<T extends KubernetesObject> {
  /** Sends the requests of calls. */
  readonly client: Client;
  /** Reads the cache of the reconciled kind. */
  readonly lister: Lister<T>;
  /** Returns the cache of a kind. */
  readonly cache: ReconcileContext<T>["cache"];
  /** Remembers the writes of calls. */
  readonly writes: PendingWrites;
  /** The time limit of a call, in milliseconds. */
  readonly timeoutMs: number;
}

/**
 * The calls that have not returned. A call that passes its time limit is abandoned, and its worker takes other keys.
 */
export class RunningCalls<T extends KubernetesObject> implements Disposable {
  /** Has a call if and only if its time was over before it returned, and it has not returned yet. */
  readonly abandoned = new Map<ObjectKey, ReconcileCall<T>>();
  /** Has a call if and only if its worker waits for it, in the order of calls and so of `dueMs`. */
  readonly #awaited = new PassingMap<ObjectKey, ReconcileCall<T>>();
  /**
   * Armed if and only if `#awaited` has a call with a time limit. Fires when the first of these calls is due, or
   * before.
   */
  readonly #timer = new LongTimer(() => this.#timeOut());
  /** Called before each request of a call, which it may end. */
  check: (() => void) | undefined;
  /** The facts that all calls share. */
  readonly facts: CallFacts<T>;

  constructor(facts: CallFacts<T>) {
    this.facts = facts;
  }

  /** All calls, abandoned ones too. */
  get all(): ReconcileCall<T>[] {
    return [...this.#awaited.values(), ...this.abandoned.values()];
  }

  /** The call of a key that its worker waits for. */
  of(key: ObjectKey): ReconcileCall<T> | undefined {
    return this.#awaited.get(key);
  }

  /** Creates a call that a worker will wait for until {@linkcode end}. Its time limit begins. */
  begin(key: ObjectKey, context: WorkContext): ReconcileCall<T> {
    const call = new ReconcileCall<T>(key, context, this);
    this.#awaited.set(key, call);
    if (!this.#timer.isArmed) this.#timer.arm(this.facts.timeoutMs);
    return call;
  }

  /** Ends the wait for a call, and its time. */
  end(call: ReconcileCall<T>): void {
    this.#awaited.delete(call.key);
    if (this.#awaited.size === 0) this.#timer[Symbol.dispose]();
  }

  /** Abandons the calls whose time is over, and arms the timer for the next one. */
  #timeOut(): void {
    const nowMs = monotonicMs();
    for (const call of this.#awaited.values()) {
      // A timer may fire a fraction of a millisecond early.
      if (call.dueMs > nowMs + 1) return this.#timer.arm(call.dueMs - nowMs);
      const error = new DOMException(
        `The reconcile of "${call.key}" has not returned within ${this.facts.timeoutMs} ms`,
        "TimeoutError",
      );
      if (call.giveUp(error)) this.abandoned.set(call.key, call);
      call.endRequests(error);
    }
  }

  /** Ends the time of all calls. */
  [Symbol.dispose](): void {
    this.#timer[Symbol.dispose]();
  }
}
