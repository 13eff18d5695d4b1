/**
 * Runs one job for each object's life.
 *
 * {@linkcode perObject} is the entry point. It does not follow changes within a life: a job reads the cache for that.
 *
 * @module
 */
import type { ObjectKey } from "../api/object.ts";
import { DerivedController, isAbortOf } from "../async/signals.ts";
import { backoffMs, type BackoffOptions, endsWithin, sleep } from "../async/time.ts";
import { errorObserver } from "../errors/errors.ts";
import { checkBackoff } from "../errors/option_names.ts";
import { type OptionTable, plainRows, readOptions } from "../errors/option_table.ts";
import type { HandlerOptions } from "./events/event.ts";
import type { IndexedCollection } from "./readable_collection.ts";

/** Options for {@linkcode perObject}. The signal ends all jobs, and `name` is `"perObject"` by default. */
export interface PerObjectOptions<T> extends Pick<HandlerOptions<T>, "signal" | "filter" | "name"> {
  /** The waits before a failed job begins again. By default 0.8 s to 1.6 s at first, and up to 30 s. */
  readonly backoff?: BackoffOptions;
  /** How long disposing waits for jobs, in milliseconds. `Infinity` waits until they return. @default {10_000} */
  readonly graceMs?: number;
  /**
   * Receives the errors of jobs, each with its object's key. The return value is ignored. By default each new error is
   * written to the console in one line, and repeated at most once a minute.
   */
  readonly onError?: (error: unknown, key: ObjectKey) => unknown;
}

const OPTIONS = {
  ...plainRows("signal filter onError backoff"),
  name: { default: "perObject" },
  graceMs: { default: 10_000, ms: {} },
} as const satisfies OptionTable<PerObjectOptions<unknown>>;

/**
 * Runs `job` once for each object, for as long as the object exists. Use it for work that lasts, such as a connection
 * to each database or a stream of each pod's log. For work that ends, use a `Reconciler`.
 *
 * - **Start.** The job begins when the object appears, with its newest state. Changes do not start it again.
 * - **End.** The job's signal aborts when the object is deleted or no longer matches `filter`, and when the informer
 *   stops. If you run the informer again, call `perObject` again.
 * - **Names.** An object that is created again under the same name gets a new job, after the old one has returned.
 * - **Failure.** A job that throws is reported, and begins again after `backoff`. A job that returns is over.
 * - **Dispose the result** to abort all jobs and wait for them. It rejects if one has not returned within `graceMs`.
 *
 * All jobs run at the same time. Jobs that are over cost no memory.
 *
 * See the guide: [Watch and react](../../../docs/guides/watch-and-react.md#run-a-job-for-each-object).
 *
 * @param source An informer or derived collection.
 * @throws {RangeError} if an option is out of range.
 * @throws {Error} if the collection has stopped.
 *
 * @example
 * ```ts
 * import { Client, SharedInformerFactory } from "@kube/informer";
 * import { Pod } from "@kube/informer/kinds/core/v1";
 * import { perObject } from "@kube/informer/reconcile";
 * import { FakeApiServer, pod } from "@kube/informer/testing";
 *
 * const server = new FakeApiServer();
 * server.create(Pod, pod({ name: "cart-0", namespace: "shop" }));
 * using client = new Client({ server: "http://fake", transport: server });
 * await using informers = new SharedInformerFactory(client);
 * const pods = informers.forResource(Pod);
 * const probed = Promise.withResolvers<string>();
 * await using _probes = perObject(pods, async ({ metadata: { name } }, signal) => {
 *   while (!signal.aborted) { // until the pod is deleted
 *     probed.resolve(name);
 *     await new Promise((resolve) => signal.addEventListener("abort", resolve));
 *   }
 * });
 * informers.start();
 * console.log(await probed.promise); // cart-0
 * ```
 */
export function perObject<T>(
  source: IndexedCollection<T, string>,
  job: (object: T, signal: AbortSignal) => unknown,
  options: PerObjectOptions<T> = {},
): AsyncDisposable {
  const { backoff = {}, graceMs, onError, ...rest } = readOptions("run a job for each object", options, OPTIONS);
  checkBackoff(backoff);
  const report = errorObserver(onError, (key: ObjectKey) => `job of "${rest.name}" for "${key}"`, (key) => key);
  /** Has a key if and only if a job has not returned. The jobs of a key follow each other. */
  const jobs = new Map<ObjectKey, { readonly controller: DerivedController; readonly ended: Promise<void> }>();
  const live = async (key: ObjectKey, uid: string, signal: AbortSignal, before?: Promise<void>): Promise<void> => {
    await before;
    for (let failures = 0; !signal.aborted; failures++) {
      const entry = source.entries.getByKey(key);
      if (entry?.uid !== uid) return; // the event of its deletion is on the way
      try {
        return void await job(entry.object, signal);
      } catch (error) {
        if (!isAbortOf(signal, error)) report(error, key);
        await sleep(backoffMs(failures, backoff), { signal }).catch(() => {}); // its object has gone
      }
    }
  };
  const end = (): void => registration.remove();
  const registration = source.addEventHandler({
    onAdd: ({ key, uid }, { signal }) => {
      signal.addEventListener("abort", end, { once: true }); // with the run of the informer
      const controller = new DerivedController(signal);
      const ended = live(key, uid, controller.signal, jobs.get(key)?.ended).finally(() => {
        controller.release();
        if (jobs.get(key)?.controller === controller) jobs.delete(key);
      });
      jobs.set(key, { controller, ended });
    },
    onDelete: ({ key }) => jobs.get(key)?.controller.abort(new DOMException(`"${key}" has gone`, "AbortError")),
  }, rest);
  return {
    [Symbol.asyncDispose]: async (): Promise<void> => {
      registration.remove();
      if (await endsWithin(graceMs, Promise.all(Array.from(jobs.values(), ({ ended }) => ended)))) return;
      throw new Error(
        `Cannot end jobs of "${rest.name}" within ${graceMs} ms: ${[...jobs.keys()].slice(0, 9)} still run`,
      );
    },
  };
}
