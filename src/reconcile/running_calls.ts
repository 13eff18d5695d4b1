import type { ObjectKey } from "../api/key.ts";
import type { KubernetesObject } from "../api/object.ts";
import { LongTimer } from "../async/time/long_timer.ts";
import { monotonicMs } from "../async/time/monotonic_ms.ts";
import type { WorkContext } from "../workqueue/run.ts";
import { ReconcileCall, type ReconcileCallOptions } from "./reconcile_call.ts";

/** The calls that have not returned. When the time of one is over, it is abandoned: its worker waits for it no longer. */
export class RunningCalls<T extends KubernetesObject> implements Disposable {
  /** Has a call if and only if its time was over before it returned, and it has not returned yet. */
  readonly abandoned = new Map<ObjectKey, ReconcileCall<T>>();
  /** Has a call if and only if its worker waits for it, in the order of calls and so of `dueMs`. */
  readonly #awaited = new Set<ReconcileCall<T>>();
  /** Armed if and only if `#awaited` has a call with a time limit; fires at that of the first one, or before. */
  readonly #timer = new LongTimer(() => this.#timeOut());
  readonly #timeoutMs: number;
  readonly #options: ReconcileCallOptions<T>;

  /** Each call has `timeoutMs`. */
  constructor(timeoutMs: number, options: ReconcileCallOptions<T>) {
    this.#timeoutMs = timeoutMs;
    this.#options = options;
  }

  /** All calls, abandoned ones too. */
  get all(): ReconcileCall<T>[] {
    return [...this.#awaited, ...this.abandoned.values()];
  }

  /** Creates a call that a worker will wait for until {@linkcode end}; its time begins. */
  begin(key: ObjectKey, context: WorkContext): ReconcileCall<T> {
    const call = new ReconcileCall<T>(key, context, this.#options, monotonicMs() + this.#timeoutMs);
    this.#awaited.add(call);
    if (!this.#timer.isArmed) this.#timer.arm(this.#timeoutMs);
    return call;
  }

  /** Ends the wait for a call, and its time. */
  end(call: ReconcileCall<T>): void {
    this.#awaited.delete(call);
    if (this.#awaited.size === 0) this.#timer[Symbol.dispose]();
  }

  /** Abandons the calls whose time is over, and arms the timer for the next one. */
  #timeOut(): void {
    const nowMs = monotonicMs();
    for (const call of this.#awaited) {
      // A timer may fire a fraction of a millisecond early.
      if (call.dueMs > nowMs + 1) return this.#timer.arm(call.dueMs - nowMs);
      const error = new DOMException(
        `The reconcile of "${call.key}" has not returned within ${this.#timeoutMs} ms`,
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
