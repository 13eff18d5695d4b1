import type { ObjectKey } from "../api/key.ts";
import type { KubernetesObject } from "../api/object.ts";
import { LazyController } from "../async/lazy_controller.ts";
import type { Client } from "../client/client.ts";
import type { ObjectWrite } from "../client/object_write.ts";
import type { ResourceClients } from "../client/resource_client.ts";
import type { Cause } from "../workqueue/cause.ts";
import type { Result } from "../workqueue/result.ts";
import type { WorkContext } from "../workqueue/run.ts";
import type { ReconcileContext, ReconcileFunction } from "./options.ts";

/** The parts that the calls of a reconciler share. */
export interface ReconcileCallOptions<T extends KubernetesObject> {
  /** Reads the cache. */
  readonly get: (key: ObjectKey) => T | undefined;
  /** Sends the requests of calls. */
  readonly client: Client;
  /** Called with each write of a call. */
  readonly onWrite: (key: ObjectKey, write: ObjectWrite) => void;
  /** Called when a call has returned that `giveUp()` has ended the wait for, with its error if it failed. */
  readonly onReturn: (call: ReconcileCall<T>, failure?: { readonly error: unknown }) => void;
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
  readonly #options: ReconcileCallOptions<T>;
  readonly #stop = new LazyController();
  /** Ends the requests. */
  readonly #requests = new LazyController();
  /** Resolves when `reconcile` has returned, and `onReturn` too. */
  returned: Promise<void> | undefined;
  /** Rejects the promise of `run`; undefined before that, and after `giveUp()`. */
  #reject: ((reason: unknown) => void) | undefined;

  /** Does not call yet. */
  constructor(key: ObjectKey, { retries, causes }: WorkContext, options: ReconcileCallOptions<T>, dueMs: number) {
    this.key = key;
    const { client } = options;
    const onWrite = (write: ObjectWrite): void => options.onWrite(key, write);
    this.client = {
      namespace: client.namespace,
      resource: (resource, selection) =>
        client.resource(resource, selection, { onWrite, signal: this.#requests.signal }),
    };
    this.retries = retries;
    this.causes = causes;
    this.dueMs = dueMs;
    this.#options = options;
  }

  get object(): T | undefined {
    return this.#options.get(this.key);
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Calls `reconcile`, and returns its result, or the error of `giveUp()`. */
  run(reconcile: ReconcileFunction<T>): void | Result | Promise<void | Result> {
    const result = reconcile(this.key, this);
    if (!(result instanceof Promise)) return result;
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      this.returned = result.then((value) => {
        if (this.#reject === undefined) return this.#options.onReturn(this);
        resolve(value);
      }, (error) => {
        if (this.#reject === undefined) return this.#options.onReturn(this, { error });
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

  /** Rejects the promise of `run`, which somebody waits for, with `error`; false when the reconcile has returned no promise. */
  giveUp(error: unknown): boolean {
    const reject = this.#reject;
    this.#reject = undefined;
    reject?.(error);
    return reject !== undefined;
  }
}
