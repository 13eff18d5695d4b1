import type { ObjectKey } from "../api/key.ts";
import type { KubernetesObject } from "../api/object.ts";
import { LazyController } from "../async/lazy_controller.ts";
import type { Client } from "../client/client.ts";
import type { ObjectWrite } from "../client/object_write.ts";
import type { ResourceClients } from "../client/resource_client.ts";
import type { Cause } from "../workqueue/cause.ts";
import type { Result } from "../workqueue/result.ts";
import type { ReconcileContext, ReconcileFunction } from "./options.ts";

/** The parts of a {@linkcode ReconcileCall}. */
export interface ReconcileCallOptions<T extends KubernetesObject> {
  /** Reads the cache. */
  readonly get: (key: ObjectKey) => T | undefined;
  /** Sends the requests of the call. */
  readonly client: Client;
  /** Called with each write of the call. */
  readonly onWrite: (write: ObjectWrite) => void;
  /** See {@linkcode ReconcileContext.retries}. */
  readonly retries: number;
  /** See {@linkcode ReconcileContext.causes}. */
  readonly causes: readonly Cause[];
}

/** One call of a reconcile: its context, its signal, its requests, and its end by time or by stopping. */
export class ReconcileCall<T extends KubernetesObject> implements ReconcileContext<T> {
  /** The key. */
  readonly key: ObjectKey;
  readonly client: ResourceClients;
  readonly retries: number;
  readonly causes: readonly Cause[];
  /** The time at which the call must have returned, of the monotonic clock. */
  readonly dueMs: number;
  readonly #get: (key: ObjectKey) => T | undefined;
  readonly #stop = new LazyController();
  /** Ends the requests. */
  readonly #requests = new LazyController();
  /** Rejects the promise of `run`, while it waits. */
  #reject: ((reason: unknown) => void) | undefined;

  /** Does not call yet. */
  constructor(key: ObjectKey, options: ReconcileCallOptions<T>, dueMs: number) {
    this.key = key;
    const { client, onWrite } = options;
    this.client = {
      namespace: client.namespace,
      resource: (resource, selection) =>
        client.resource(resource, selection, { onWrite, signal: this.#requests.signal }),
    };
    this.retries = options.retries;
    this.causes = options.causes;
    this.dueMs = dueMs;
    this.#get = options.get;
  }

  get object(): T | undefined {
    return this.#get(this.key);
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
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

  /** Aborts the signal; requests that it was not passed to continue. */
  abort(reason: unknown): void {
    this.#stop.abort(reason);
  }

  /** Aborts the signal and the requests of the call, which sends no more. */
  endRequests(reason: unknown): void {
    this.#stop.abort(reason);
    this.#requests.abort(reason);
  }

  /** Rejects the promise of `run` with `error`; false when the call has returned. */
  giveUp(error: unknown): boolean {
    const reject = this.#reject;
    this.#reject = undefined;
    reject?.(error);
    return reject !== undefined;
  }
}
