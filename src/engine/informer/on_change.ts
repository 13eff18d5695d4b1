/**
 * Calls a function after changes in several collections.
 *
 * {@linkcode onChange} is the entry point. It does not say what has changed: handlers and event streams do.
 *
 * @module
 */
import type { Abortable } from "../api/call_options.ts";
import { DerivedController, isAbortOf } from "../async/signals.ts";
import { backoffMs, sleep } from "../async/time.ts";
import { nextTurn } from "../async/turns.ts";
import { errorObserver } from "../errors/errors.ts";
import { checkNames } from "../errors/option_names.ts";
import type { HandlerRegistration } from "./events/event.ts";
import type { IndexedCollection } from "./readable_collection.ts";

/** Options for {@linkcode onChange}. The signal ends the calls. */
export interface OnChangeOptions extends Abortable {
  /**
   * Receives the handler's errors. The return value is ignored. By default each new error is written to the console in
   * one line, and repeated at most once a minute.
   */
  readonly onError?: (error: unknown) => unknown;
}

/**
 * Calls `handler` after something has changed in any of these informers and derived collections. Use it to compute
 * something from the whole cache: a page, a report, a configuration file. The handler reads the caches itself.
 *
 * - **The first call** follows when all collections have synced, even if they are empty.
 * - **At most one call per turn** of the event loop. A call covers all changes before it.
 * - **Calls never overlap.** If the handler returns a promise, the next call waits for it. One more call covers
 *   everything that changed meanwhile.
 * - **A failed call is repeated.** If the handler throws, the error is reported. The next call follows after 0.8 s to
 *   30 s, longer after each failure in a row.
 *
 * Dispose the result to end the calls. The handler's signal aborts then, and a running call continues. A collection
 * that stops causes no further calls.
 *
 * @throws {TypeError} if `collections` is empty.
 * @throws {Error} if a collection has stopped.
 *
 * @example
 * ```ts
 * import { Client, onChange, SharedInformerFactory } from "@kube/informer";
 * import { ConfigMap, Pod } from "@kube/informer/kinds/core/v1";
 * import { FakeApiServer, pod } from "@kube/informer/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const server = new FakeApiServer();
 * server.create(Pod, pod({ name: "web-0", namespace: "shop" }));
 * using client = new Client({ server: "http://fake", transport: server });
 * await using informers = new SharedInformerFactory(client);
 * const pods = informers.forResource(Pod);
 * const configMaps = informers.forResource(ConfigMap);
 * const first = Promise.withResolvers<string>();
 * using _calls = onChange([pods, configMaps], () => {
 *   first.resolve(`${pods.lister.list().length} pods, ${configMaps.lister.list().length} ConfigMaps`);
 * });
 * informers.start();
 * assertEquals(await first.promise, "1 pods, 0 ConfigMaps");
 * ```
 */
export function onChange(
  collections: readonly Pick<IndexedCollection<never>, "addEventHandler">[],
  handler: (options: Required<Abortable>) => unknown,
  options: OnChangeOptions = {},
): Disposable {
  checkNames("follow changes", options, "signal onError");
  if (collections.length === 0) {
    throw new TypeError(
      "Cannot follow changes: collections is empty. Pass at least one informer or derived collection",
    );
  }
  const report = errorObserver(options.onError, () => "handler of onChange()");
  const job = new DerivedController(options.signal);
  const { signal } = job;
  const registrations: HandlerRegistration[] = [];
  let isDue = false;
  let isBusy = false;
  const work = async (): Promise<void> => {
    isBusy = true;
    for (let failures = 0; isDue;) {
      await nextTurn();
      if (signal.aborted) return;
      isDue = false;
      try {
        await handler({ signal });
        failures = 0;
      } catch (error) {
        if (!isAbortOf(signal, error)) report(error);
        isDue = true;
        await sleep(backoffMs(failures++, {}), { signal }).catch(() => {}); // the calls were ended
      }
    }
    isBusy = false;
  };
  const changed = (): void => {
    isDue = true;
    if (!isBusy && registrations.every(({ hasSynced }) => hasSynced)) void work();
  };
  const follower = { onAdd: changed, onUpdate: changed, onDelete: changed, onSynced: changed };
  try {
    for (const collection of new Set(collections)) {
      registrations.push(collection.addEventHandler(follower, { name: "onChange", resyncMs: 0, signal }));
    }
  } catch (error) {
    job.abort(error);
    throw error;
  }
  return job;
}
