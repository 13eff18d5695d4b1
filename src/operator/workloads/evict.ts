/**
 * Evictions: deletions of pods that respect PodDisruptionBudgets.
 *
 * {@linkcode evict} is the entry point. It does not wait until the pod is gone.
 *
 * @module
 */
import type { Abortable } from "../../engine/api/call_options.ts";
import {
  isConflict,
  isNamespaceTerminating,
  isNotFound,
  isThrottled,
  retryAfterMs,
  StatusError,
} from "../../engine/api/status.ts";
import { callObserver } from "../../engine/async/signals.ts";
import { backoffMs, sleep } from "../../engine/async/time.ts";
import type { DeleteOptions, ResourceClient } from "../../engine/client/resource_client.ts";
import { checkCounts } from "../../engine/errors/checks.ts";
import { checkNames } from "../../engine/errors/option_names.ts";
import type { Pod } from "../../engine/kinds/core/v1.ts";

/** Options for {@linkcode evict}. */
export interface EvictOptions extends Abortable, Pick<DeleteOptions, "gracePeriodSeconds"> {
  /** Evicts only the pod with this uid. If another pod has the name, the pod counts as gone. */
  readonly uid?: string;
  /**
   * If `true`, the server checks the eviction, but the pod stays. It does not wait: if a PodDisruptionBudget blocks the
   * eviction, the call rejects with 429 (`isThrottled`). @default {false}
   */
  readonly dryRun?: boolean;
  /**
   * Called each time that the server asks to try later. `delayMs` is the wait before the next request, in milliseconds.
   * @default {nothing is called}
   */
  readonly onBlocked?: (error: StatusError, delayMs: number) => void;
}

/**
 * Evicts a pod, and waits as long as a PodDisruptionBudget does not allow it. Resolves with `true` when the server has
 * accepted the eviction, and with `false` if the pod is already gone. The pod may still be terminating.
 *
 * - **Blocked.** After 429 it waits, and tries again until the signal aborts. So pass a signal: a budget can block
 *   forever. The first wait is 0.8 to 1.6 s, and the waits double up to 5 s. They are longer if the server asks for it.
 *   It also tries again after 503, after 409 if the pod is the same, and while the namespace is terminating.
 * - **Another pod.** Without `uid`, it evicts whatever pod has the name at each try.
 *
 * The client needs the verb `create` for `pods/eviction`, and with `uid` also `get` for `pods`.
 *
 * @throws {StatusError} if the server refuses the eviction for another reason.
 * @throws the signal's reason if the signal aborts.
 *
 * @example
 * ```ts
 * import { Client } from "@kube/informer";
 * import { Pod } from "@kube/informer/kinds/core/v1";
 * import { evict } from "@kube/informer/workloads";
 * import { FakeApiServer, pod } from "@kube/informer/testing";
 * import { assert } from "@std/assert";
 *
 * using server = new FakeApiServer();
 * server.create(Pod, pod({ name: "web-0", namespace: "shop" }));
 * using client = new Client({ server: server.url, transport: server });
 * const accepted = await evict(client.resource(Pod, { namespace: "shop" }), "web-0", {
 *   signal: AbortSignal.timeout(60_000),
 *   onBlocked: (error, delayMs) => console.log(error.message, delayMs),
 * });
 * assert(accepted);
 * ```
 */
export async function evict(pods: ResourceClient<Pod>, name: string, options: EvictOptions = {}): Promise<boolean> {
  checkNames("evict a pod", options, "signal gracePeriodSeconds uid dryRun onBlocked");
  const { signal, gracePeriodSeconds, uid, dryRun, onBlocked } = options;
  checkCounts(`evict pod "${name}"`, { gracePeriodSeconds });
  const draft = { metadata: { name }, deleteOptions: { gracePeriodSeconds, preconditions: { uid } } };
  for (let failures = 0;; failures++) {
    let delayMs: number;
    try {
      await pods.create(draft, { subresource: "eviction", dryRun, signal });
      return true;
    } catch (error) {
      if (isNotFound(error) && error.status.details?.name === name) return false;
      if (!isBlocked(error)) throw error;
      // The server also answers 409 if others have changed the budget, and says the difference only in its message.
      const isOther = uid !== undefined && isConflict(error) &&
        (await pods.getOrUndefined(name, { signal }))?.metadata.uid !== uid;
      if (isOther) return false;
      if (dryRun) throw error;
      delayMs = Math.max(backoffMs(failures, { maxMs: 5_000 }), retryAfterMs(error.status) ?? 0);
      callObserver(() => onBlocked?.(error, delayMs));
    }
    await sleep(delayMs, { signal });
  }
}

/** Returns true if the server may accept the same eviction later. */
function isBlocked(error: unknown): error is StatusError {
  if (!(error instanceof StatusError)) return false;
  // In such a namespace the pod is about to be deleted, and its eviction then accepted (kubectl `evictPods`).
  return retryAfterMs(error.status) !== undefined || isNamespaceTerminating(error) || isThrottled(error) ||
    isConflict(error);
}
