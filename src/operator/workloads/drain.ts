/**
 * Nodes without pods: for maintenance, or before a node is removed.
 *
 * {@linkcode drain}, {@linkcode cordon} and {@linkcode uncordon} are the entry points. The rules about pods are
 * kubectl's (`pkg/drain/filters.go`). This file does not delete nodes.
 *
 * @module
 */
import type { Abortable } from "../../engine/api/call_options.ts";
import { keyOf, type ObjectKey } from "../../engine/api/object.ts";
import { abortReason, callObserver, DerivedController, withResolvers } from "../../engine/async/signals.ts";
import { sleep } from "../../engine/async/time.ts";
import type { ResourceClient, ResourceClients } from "../../engine/client/resource_client.ts";
import { checkCounts } from "../../engine/errors/checks.ts";
import { errorLine } from "../../engine/errors/errors.ts";
import { InformerError } from "../../engine/errors/informer_error.ts";
import { checkNames } from "../../engine/errors/option_names.ts";
import { SharedIndexInformer } from "../../engine/informer/shared_index_informer.ts";
import { Node, Pod } from "../../engine/kinds/core/v1.ts";
import { evict, type EvictOptions } from "./evict.ts";
import type { ChangeOptions } from "./rollouts.ts";

/**
 * Marks a node as unschedulable, as `kubectl cordon` does. The scheduler assigns no new pods to it, and its present
 * pods stay. Returns the node. The client needs the verb `patch` for `nodes`.
 *
 * @example
 * ```ts
 * import { Client } from "@kube/informer";
 * import { Node } from "@kube/informer/kinds/core/v1";
 * import { cordon, uncordon } from "@kube/informer/workloads";
 * import { FakeApiServer } from "@kube/informer/testing";
 * import { assertEquals } from "@std/assert";
 *
 * using server = new FakeApiServer();
 * server.create(Node, { metadata: { name: "worker-1" } });
 * using client = new Client({ server: server.url, transport: server });
 * const nodes = client.resource(Node);
 * assertEquals((await cordon(nodes, "worker-1")).spec?.unschedulable, true);
 * assertEquals((await uncordon(nodes, "worker-1")).spec?.unschedulable, undefined);
 * ```
 */
export async function cordon(nodes: ResourceClient<Node>, name: string, options: ChangeOptions = {}): Promise<Node> {
  return await nodes.patch(name, { type: "merge", body: { spec: { unschedulable: true } } }, options);
}

/** Makes a node schedulable again, as `kubectl uncordon` does. Returns the node. See {@linkcode cordon}. */
export async function uncordon(nodes: ResourceClient<Node>, name: string, options: ChangeOptions = {}): Promise<Node> {
  return await nodes.patch(name, { type: "merge", body: { spec: { unschedulable: null } } }, options);
}

/** A step in the removal of one pod from a node. */
export interface DrainProgress {
  /** The pod's key, e.g. `"shop/web-0"`. */
  readonly pod: ObjectKey;
  /**
   * The step:
   *
   * - `"evicting"`: the eviction is requested.
   * - `"blocked"`: the server asks to try again, after `delayMs` milliseconds. The usual cause is a budget.
   * - `"evicted"`: the server has accepted the eviction, and the pod terminates.
   * - `"gone"`: the pod no longer exists. If that is known before the server's answer, there is no `"evicted"`.
   * - `"failed"`: the pod could not be evicted. The others continue.
   */
  readonly state: "evicting" | "blocked" | "evicted" | "gone" | "failed";
  /** The error, if the eviction is blocked or has failed. */
  readonly error?: unknown;
  /** The wait before the next request, while the eviction is blocked. */
  readonly delayMs?: number;
  /** The number of pods to remove. It is known before the first step, and never changes. */
  readonly total: number;
  /** The number of these pods that are gone. */
  readonly gone: number;
}

/** Options for {@linkcode drain}. */
export interface DrainOptions extends Abortable, Pick<EvictOptions, "gracePeriodSeconds"> {
  /**
   * If `true`, pods of DaemonSets stay: their controller would replace them at once, on the same node. If `false`, they
   * are in the way. @default {false}
   */
  readonly ignoreDaemonSets?: boolean;
  /** If `true`, pods with an `emptyDir` volume are evicted, and its data is lost. @default {false} */
  readonly deleteEmptyDirData?: boolean;
  /** If `true`, pods without a controller are evicted, and nothing creates them again. @default {false} */
  readonly force?: boolean;
  /** Called for each step of each pod. @default {nothing is called} */
  readonly onProgress?: (progress: DrainProgress) => void;
}

type Step = Pick<DrainProgress, "state" | "error" | "delayMs">;

/** How many evictions may wait for their first answer. Blocked ones do not count, so they hold up no others. */
const MAX_REQUESTS = 20;

/** How many pods an error names. */
const MAX_NAMED = 20;

/** Ends an eviction whose pod has gone. */
const gone = abortReason("The pod is gone");

/**
 * Cordons a node and evicts its pods, as `kubectl drain` does. Resolves when these pods are gone. Afterwards, the node
 * stays cordoned.
 *
 * - **Pods in the way.** Pods of DaemonSets, with `emptyDir` volumes or without a controller need an option. If it is
 *   missing, nothing is evicted, and the error names all of them with their options. Finished pods need none.
 * - **Mirror pods stay**, because only the kubelet of their node can remove them.
 * - **PodDisruptionBudgets** are respected: {@linkcode evict} waits for them. So pass a signal. When it aborts, the
 *   error names the pods that are left, with the budget in the way. Evictions that were accepted go on.
 * - **One failure stops nothing else.** It rejects after all other pods are gone.
 * - **Only present pods.** It knows pods by their uid, and ignores pods that come later, even with the same name.
 *
 * The client needs `patch` for `nodes`, and in all namespaces `get`, `list` and `watch` for `pods` and `create` for
 * `pods/eviction`.
 *
 * @throws {InformerError} if pods are in the way.
 * @throws {AggregateError} if pods could not be evicted, or the signal aborts. The message names the pods that are
 * left, each with its last error. After an abort, `cause` is the signal's reason.
 * @throws {StatusError} if the node does not exist (`isNotFound`).
 * @throws the signal's reason if the signal aborts before the pods are listed.
 *
 * @example
 * ```ts
 * import { Client } from "@kube/informer";
 * import { Node, Pod } from "@kube/informer/kinds/core/v1";
 * import { drain } from "@kube/informer/workloads";
 * import { FakeApiServer, pod } from "@kube/informer/testing";
 * import { assertEquals } from "@std/assert";
 *
 * using server = new FakeApiServer();
 * server.create(Node, { metadata: { name: "worker-1" } });
 * server.create(Pod, pod({ name: "web-0", namespace: "shop", node: "worker-1" }));
 * using client = new Client({ server: server.url, transport: server });
 * await drain(client, "worker-1", {
 *   force: true, // the pod has no controller
 *   gracePeriodSeconds: 0, // the fake server has no kubelet
 *   signal: AbortSignal.timeout(60_000),
 *   onProgress: ({ pod, state }) => console.log(pod, state),
 * });
 * assertEquals(server.keys(Pod), []);
 * ```
 */
export async function drain(client: ResourceClients, node: string, options: DrainOptions = {}): Promise<void> {
  checkNames("drain a node", options, "ignoreDaemonSets deleteEmptyDirData force signal gracePeriodSeconds onProgress");
  const { signal, gracePeriodSeconds, onProgress } = options;
  checkCounts(`drain node "${node}"`, { gracePeriodSeconds });
  await cordon(client.resource(Node), node, { signal });
  const source = client.resource(Pod, { fieldSelector: `spec.nodeName=${node}` });
  await using pods = new SharedIndexInformer(source);
  /** The pods to remove, by uid. Each aborts when its pod is gone. */
  const removals = new Map<string, DerivedController>();
  pods.addEventHandler({ onDelete: ({ object }) => removals.get(object.metadata.uid)?.abort(gone()) });
  pods.run();
  await pods.waitForCacheSync({ signal }).finally(() => signal?.throwIfAborted());
  const chosen = podsToEvict(node, pods.lister.list(), options);
  for (const { metadata } of chosen) removals.set(metadata.uid, new DerivedController(signal));
  /** The last step of each pod that is not gone. */
  const left = new Map<ObjectKey, Step | undefined>(chosen.map((pod) => [keyOf(pod), undefined]));
  const remove = async (pod: Pod, answered: () => void): Promise<void> => {
    const { name, namespace, uid } = pod.metadata;
    using removal = removals.get(uid)!;
    const key = keyOf(pod);
    const report = (step: Step): void => {
      if (step.state === "gone") left.delete(key);
      else left.set(key, step);
      const { length: total } = chosen;
      callObserver(() => onProgress?.({ pod: key, total, gone: total - left.size, ...step }));
    };
    const onBlocked = (error: unknown, delayMs: number): void => {
      answered();
      report({ state: "blocked", error, delayMs });
    };
    report({ state: "evicting" });
    try {
      const eviction = { uid, gracePeriodSeconds, signal: removal.signal, onBlocked };
      if (await evict(source.namespace(namespace), name, eviction)) report({ state: "evicted" });
      answered();
      await sleep(Infinity, { signal: removal.signal });
    } catch (error) {
      if (error === gone()) return report({ state: "gone" });
      if (signal?.aborted) return;
      report({ state: "failed", error });
    } finally {
      answered();
    }
  };
  const jobs: Promise<void>[] = [];
  const queue = chosen.values();
  const lane = async (): Promise<void> => {
    for (const pod of queue) {
      if (signal?.aborted) return;
      const { promise, resolve } = withResolvers<void>();
      jobs.push(remove(pod, resolve));
      await promise;
    }
  };
  await Promise.all(Array.from({ length: MAX_REQUESTS }, lane));
  await Promise.all(jobs);
  if (left.size > 0) throw unfinished(node, left, signal);
}

/** Returns the error of a drain that has failed to evict pods, or was aborted. */
function unfinished(
  node: string,
  left: ReadonlyMap<ObjectKey, Step | undefined>,
  signal?: AbortSignal,
): AggregateError {
  const texts = Array.from(left, ([pod, step]) => {
    if (step?.error !== undefined) return `${pod}: ${errorLine(step.error)}`;
    return `${pod} ${step?.state === "evicted" ? "is evicted, but not gone" : "is not evicted"}`;
  });
  const more = texts.length > MAX_NAMED ? `; and ${texts.length - MAX_NAMED} more` : "";
  return new AggregateError(
    [...left.values()].flatMap((step) => step?.error ?? []),
    `Cannot drain node "${node}": pods are left: ${texts.slice(0, MAX_NAMED).join("; ")}${more}`,
    signal?.aborted ? { cause: signal.reason } : {},
  );
}

/** Returns the pods to evict. @throws {InformerError} if pods are in the way. */
function podsToEvict(node: string, pods: readonly Pod[], options: DrainOptions): Pod[] {
  /** The pods that need an option, by the option. */
  const needs = { ignoreDaemonSets: [] as Pod[], deleteEmptyDirData: [] as Pod[], force: [] as Pod[] };
  const chosen = pods.filter((pod) => {
    const { annotations = {}, ownerReferences = [] } = pod.metadata;
    if ("kubernetes.io/config.mirror" in annotations) return false;
    if (["Succeeded", "Failed"].includes(pod.status?.phase ?? "")) return true;
    const controller = ownerReferences.find(({ controller }) => controller);
    const isDaemon = controller?.kind === "DaemonSet";
    if (isDaemon) needs.ignoreDaemonSets.push(pod);
    else if (pod.spec.volumes?.some(({ emptyDir }) => emptyDir)) needs.deleteEmptyDirData.push(pod);
    if (controller === undefined) needs.force.push(pod);
    return !isDaemon;
  });
  const missing = Object.entries(needs).filter(([option, { length }]) =>
    length > 0 && !options[option as keyof typeof needs]
  );
  if (missing.length === 0) return chosen;
  const remedies = missing.map(([option, pods]) => `${option} for ${pods.map(keyOf).join(", ")}`);
  throw new InformerError(
    `Cannot drain node "${node}": it has pods that must not be evicted without an option. Set ${remedies.join("; ")}`,
  );
}
