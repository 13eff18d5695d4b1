import type { ObjectKey } from "../api/key.ts";
import type { KubernetesObject } from "../api/object.ts";
import type { ResourceClients } from "../client/resource_client.ts";
import type { Cause } from "../workqueue/cause.ts";
import type { Result } from "../workqueue/result.ts";
import type { ReconcileContext, ReconcileFunction } from "./options.ts";

/** The parts of a {@linkcode ReconcileCall}. */
export interface ReconcileCallOptions<T extends KubernetesObject> {
  /** Reads the cache. */
  readonly get: (key: ObjectKey) => T | undefined;
  /** See {@linkcode ReconcileContext.client}. */
  readonly client: ResourceClients;
  /** See {@linkcode ReconcileContext.retries}. */
  readonly retries: number;
  /** See {@linkcode ReconcileContext.causes}. */
  readonly causes: readonly Cause[];
}

/** One call of a reconcile: its context, its signal, and its end by time or by stopping. */
export class ReconcileCall<T extends KubernetesObject> implements ReconcileContext<T> {
  /** The key. */
  readonly key: ObjectKey;
  readonly client: ResourceClients;
  readonly retries: number;
  readonly causes: readonly Cause[];
  /** The time at which the call must have returned, of the monotonic clock. */
  readonly dueMs: number;
  readonly #get: (key: ObjectKey) => T | undefined;
  /** Created when the signal is first read. */
  #controller: AbortController | undefined;
  /** Set by the first `abort()`. */
  #aborted: { readonly reason: unknown } | undefined;
  /** Rejects the promise of `run`, while it waits. */
  #reject: ((reason: unknown) => void) | undefined;

  /** Does not call yet. */
  constructor(key: ObjectKey, options: ReconcileCallOptions<T>, dueMs: number) {
    this.key = key;
    this.client = options.client;
    this.retries = options.retries;
    this.causes = options.causes;
    this.dueMs = dueMs;
    this.#get = options.get;
  }

  get object(): T | undefined {
    return this.#get(this.key);
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#aborted !== undefined) this.#controller.abort(this.#aborted.reason);
    }
    return this.#controller.signal;
  }

  /**
   * Calls `reconcile`, and returns its result. When `giveUp()` ends the wait for a call that has not returned, `returned` is called
   * once it has, with its error if it failed.
   */
  run(
    reconcile: ReconcileFunction<T>,
    returned: (failure?: { readonly error: unknown }) => void,
  ): void | Result | Promise<void | Result> {
    const result = reconcile(this.key, this);
    if (!(result instanceof Promise)) return result;
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      result.then((value) => {
        if (this.#reject === undefined) return returned();
        this.#reject = undefined;
        resolve(value);
      }, (error) => {
        if (this.#reject === undefined) return returned({ error });
        this.#reject = undefined;
        reject(error);
      });
    });
  }

  /** Aborts the signal. */
  abort(reason: unknown): void {
    if (this.#aborted !== undefined) return;
    this.#aborted = { reason };
    this.#controller?.abort(reason);
  }

  /** Rejects the promise of `run` with `error`; false when the call has returned. */
  giveUp(error: unknown): boolean {
    const reject = this.#reject;
    this.#reject = undefined;
    reject?.(error);
    return reject !== undefined;
  }
}
