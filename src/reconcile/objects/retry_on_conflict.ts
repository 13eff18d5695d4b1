import { isConflict } from "../../api/errors.ts";
import type { Abortable } from "../../api/options.ts";
import { backoffMs, type BackoffOptions, checkBackoff } from "../../async/time/backoff.ts";
import { sleep } from "../../async/time/sleep.ts";

/** Options for {@linkcode retryOnConflict}. */
export interface RetryOnConflictOptions extends Abortable, BackoffOptions {
  /** The number of calls at most. @default {5} */
  readonly attempts?: number;
  /** Returns true for errors after which the function is called again. @default {isConflict} */
  readonly when?: (error: unknown) => boolean;
}

/**
 * Calls `write` until it does not fail with a conflict (409: the object has changed since it was read), and returns its
 * result.
 *
 * - `write` reads the object, changes it, and writes it, at each call: without a new read, each call fails as the first. Its
 *   argument is the number of calls before.
 * - There are at most 5 calls, with waits of 10 to 11 ms (client-go `RetryOnConflict` with `DefaultRetry`). After the last
 *   one the promise rejects with the conflict. Other errors reject at once.
 *
 * @throws {RangeError} when `attempts` is not a whole number of at least 1, or a wait is not valid.
 *
 * @example
 * ```ts
 * import { Client } from "@kube/informer";
 * import { ConfigMap } from "@kube/informer/kinds/core/v1";
 * import { retryOnConflict } from "@kube/informer/reconcile";
 * import { FakeApiServer } from "@kube/informer/testing";
 *
 * const server = new FakeApiServer();
 * server.create(ConfigMap, { metadata: { name: "settings" }, data: { visits: "0" } });
 * using client = new Client({ server: "http://fake", transport: server, namespace: "default" });
 * const maps = client.resource(ConfigMap);
 * await retryOnConflict(async () => {
 *   const { metadata: { resourceVersion }, data } = await maps.get("settings");
 *   const body = { metadata: { resourceVersion }, data: { visits: String(Number(data?.visits) + 1) } };
 *   return await maps.patch("settings", { type: "merge", body });
 * });
 * ```
 */
export async function retryOnConflict<R>(
  write: (retries: number) => Promise<R>,
  options: RetryOnConflictOptions = {},
): Promise<R> {
  const { attempts = 5, when = isConflict, signal, initialMs = 10, factor = 1, jitter = 0.1, maxMs } = options;
  const waits = { initialMs, factor, jitter, maxMs };
  checkBackoff(waits);
  if (!(Number.isSafeInteger(attempts) && attempts >= 1)) {
    throw new RangeError(
      `Cannot retry on conflict: attempts must be a whole number of at least 1, found ${attempts}`,
    );
  }
  for (let retries = 0;; retries++) {
    signal?.throwIfAborted();
    try {
      return await write(retries);
    } catch (error) {
      if (retries + 1 >= attempts || !when(error)) throw error;
    }
    await sleep(backoffMs(retries, waits), { signal });
  }
}
