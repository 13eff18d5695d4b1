/**
 * The readiness of all workloads, with the reasons of their pods.
 *
 * {@linkcode workloadStatus} is the entry point. The rules are those in `controllers/readiness`; it sends no requests
 * of its own.
 *
 * @module
 */
import { defined } from "../../engine/api/json.ts";
import type { KubernetesObject } from "../../engine/api/object.ts";
import { checkNames } from "../../engine/errors/option_names.ts";
import { deriveAll, type DerivedCollection, type DerivedObject } from "../../engine/informer/derived_collection.ts";
import type { SharedInformerFactory } from "../../engine/informer/shared_informer_factory.ts";
import { DaemonSet, Deployment, ReplicaSet, StatefulSet } from "../../engine/kinds/apps/v1.ts";
import { Job } from "../../engine/kinds/batch/v1.ts";
import { Pod } from "../../engine/kinds/core/v1.ts";
import { readiness, type ReadinessRules, type ReadinessState } from "../controllers/readiness/readiness.ts";

/** A kind whose objects {@linkcode workloadStatus} judges. */
export type WorkloadKind = "Deployment" | "StatefulSet" | "DaemonSet" | "Job" | "ReplicaSet";

const KINDS = { Deployment, StatefulSet, DaemonSet, Job, ReplicaSet } satisfies Record<WorkloadKind, unknown>;

/** A workload's readiness, with its pods that are not ready. */
export interface WorkloadStatus extends DerivedObject {
  /** Kind and name, such as `"Deployment:web"`, with the workload's namespace and labels. */
  readonly metadata: DerivedObject["metadata"] & { readonly namespace: string };
  /** The kind. */
  readonly kind: WorkloadKind;
  /** The namespace. */
  readonly namespace: string;
  /** The workload's name. */
  readonly name: string;
  /** The state, see `readiness()`. */
  readonly state: ReadinessState;
  /** `true` if the state is `"ready"`. */
  readonly ready: boolean;
  /** The reason for the state, such as `"LessAvailable: 1 of 2 updated replicas are available"`. */
  readonly reason: string;
  /**
   * The workload's pods that are not ready, sorted by name. A reason is
   * `"CrashLoopBackOff: container app: back-off 5m0s restarting failed container, 5 restarts"`, for example.
   */
  readonly pods: readonly { readonly name: string; readonly reason: string }[];
}

/** Options for {@linkcode workloadStatus}. */
export interface WorkloadStatusOptions {
  /**
   * The kinds to judge. Leave out a kind that your program may not list and watch, because the collection syncs only
   * when all kinds have synced.
   *
   * @default {["Deployment", "StatefulSet", "DaemonSet", "Job", "ReplicaSet"]}
   */
  readonly kinds?: readonly WorkloadKind[];
  /** Rules of your own for workloads and pods, see `readiness()`. @default {no rules} */
  readonly rules?: ReadinessRules;
  /**
   * Receives each error, see `DeriveOptions`. By default each new error is written to the console in one line, and
   * repeated at most once a minute.
   */
  readonly onError?: (error: unknown) => unknown;
}

type Workload = Deployment | StatefulSet | DaemonSet | Job | ReplicaSet;

const OWNER = "workload owner";

/** One function, so that a factory accepts it again. */
const OWNERS = {
  [OWNER]: ({ metadata: { ownerReferences = [] } }: KubernetesObject): string[] =>
    ownerReferences.filter(({ controller }) => controller).map(({ uid }) => uid),
};

function reasonOf(
  { reason, message }: { readonly reason: string; readonly message: string },
  { initContainerStatuses = [], containerStatuses = [] }: Pod["status"] & object = {},
): string {
  const restarts = [...initContainerStatuses, ...containerStatuses].reduce((sum, it) => sum + it.restartCount, 0);
  const text = message === "" || message === reason ? reason : `${reason}: ${message}`;
  return restarts === 0 ? text : `${text}, ${restarts} restarts`;
}

/**
 * Returns a collection with the readiness of each workload, and the reasons of its pods that are not ready. Use it for
 * a page or an alarm that covers many workloads. To wait for one workload, use `untilReady()`.
 *
 * - There is one {@linkcode WorkloadStatus} for each Deployment, StatefulSet, DaemonSet, Job, and ReplicaSet without a
 *   controller. Its key has the kind: `"shop/Deployment:web"`.
 * - `readiness()` decides the state, and looks at the pods. If a pod of the newest template fails, the workload is
 *   `"failed"`, with the pod's reason.
 * - Pods belong to a workload by their owner references, for a Deployment through its ReplicaSets.
 * - It watches these kinds, ReplicaSets and Pods through the factory's informers, which other parts of your program
 *   share. Call it before `start()` or `run()`, and dispose the result.
 *
 * A pod that no node can take fails 15 s after its creation. Time is no change: the workload's state follows with the
 * next change to one of its objects. The pod's reason is there at once.
 *
 * @throws {Error} if the factory was shut down.
 *
 * @example
 * ```ts
 * import { Client, SharedInformerFactory } from "@kube/informer";
 * import { DaemonSet } from "@kube/informer/kinds/apps/v1";
 * import { FakeApiServer } from "@kube/informer/testing";
 * import { workloadStatus } from "@kube/informer/workloads";
 * import { assertEquals } from "@std/assert";
 *
 * const server = new FakeApiServer();
 * server.create(DaemonSet, {
 *   metadata: { name: "logs", namespace: "shop", generation: 1 },
 *   spec: { selector: {}, template: { spec: { containers: [] } } },
 *   status: {
 *     observedGeneration: 1,
 *     desiredNumberScheduled: 2,
 *     currentNumberScheduled: 2,
 *     updatedNumberScheduled: 2,
 *     numberReady: 1,
 *     numberAvailable: 1,
 *     numberMisscheduled: 0,
 *   },
 * });
 * using client = new Client({ server: "http://fake", transport: server });
 * await using informers = new SharedInformerFactory(client);
 * await using workloads = workloadStatus(informers);
 * informers.start();
 * await workloads.waitForCacheSync();
 * const { ready, reason } = workloads.lister.get("shop/DaemonSet:logs")!;
 * assertEquals([ready, reason], [false, "LessAvailable: 1 of 2 pods are available"]);
 * ```
 */
export function workloadStatus(
  informers: SharedInformerFactory,
  options: WorkloadStatusOptions = {},
): DerivedCollection<WorkloadStatus> {
  checkNames("follow the status of workloads", options, "kinds rules onError");
  const { kinds = Object.keys(KINDS) as readonly WorkloadKind[], rules, onError } = options;
  const pods = informers.forResource(Pod, { indexers: OWNERS });
  const replicaSets = informers.forResource(ReplicaSet, { indexers: OWNERS });
  const sources = kinds.map((kind) =>
    kind === "ReplicaSet" ? replicaSets : informers.forResource<Workload>(KINDS[kind])
  );
  return deriveAll<Workload, WorkloadStatus>(sources, (workload, { read }) => {
    const { name, namespace = "", labels, uid } = workload.metadata;
    const kind = workload.kind as WorkloadKind;
    if (kind === "ReplicaSet" && OWNERS[OWNER](workload).length > 0) return undefined;
    const owners = kind === "Deployment" ? read(replicaSets, { index: OWNER, value: uid }) : [workload];
    const owned = owners.flatMap(({ metadata: { uid } }) => read(pods, { index: OWNER, value: uid }));
    const found = readiness(workload, { pods: { lister: { namespace: () => ({ list: () => owned }) } }, rules });
    const waiting = owned.map((pod) => ({ pod, found: readiness(pod, { rules }) })).filter(({ found }) =>
      found.state !== "ready"
    );
    return {
      metadata: { name: `${kind}:${name}`, namespace, ...defined({ labels }) },
      kind,
      namespace,
      name,
      state: found.state,
      ready: found.state === "ready",
      reason: reasonOf(found),
      pods: waiting
        .map(({ pod, found }) => ({ name: pod.metadata.name, reason: reasonOf(found, pod.status) }))
        .sort((a, b) => a.name < b.name ? -1 : 1),
    };
  }, { name: "workloads", ...defined({ onError }) });
}
