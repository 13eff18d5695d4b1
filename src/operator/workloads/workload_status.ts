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
import {
  deriveAll,
  type DerivedCollection,
  type DerivedObject,
  deriveGroups,
  type ObjectGroup,
} from "../../engine/informer/derived_collection.ts";
import type { SharedInformerFactory } from "../../engine/informer/shared_informer_factory.ts";
import { DaemonSet, Deployment, ReplicaSet, StatefulSet } from "../../engine/kinds/apps/v1.ts";
import { Job } from "../../engine/kinds/batch/v1.ts";
import { Pod } from "../../engine/kinds/core/v1.ts";
import {
  readiness,
  type ReadinessRules,
  type ReadinessState,
  SCHEDULING_MS,
} from "../controllers/readiness/readiness.ts";

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

type Row = WorkloadStatus["pods"][number];

/** The pods of one owner that are not ready and have names that begin alike, so that a change to one concerns few. */
interface WaitingPart extends DerivedObject {
  readonly owner: string;
  /** Returns what a workload's status says about them now, and the failed pods, both sorted by name. */
  readonly now: () => { readonly rows: readonly Row[]; readonly failed: readonly Pod[] };
}

type WaitingParts = DerivedCollection<WaitingPart, "owner">;

const BY_OWNER = { indexers: { owner: ({ owner }: WaitingPart) => [owner] } };
const WAITING = new WeakMap<ReadinessRules, ReturnType<typeof waitingBy>>();
let made = 0;

/**
 * Returns the parts in a factory, by owner. Like an index they are made once, and end with the factory. Each pod is
 * judged once per version, and again when it may fail by its age.
 */
function waitingBy(rules: ReadinessRules): (informers: SharedInformerFactory) => WaitingParts {
  const index = `waiting pods ${made++}`;
  const collections = new WeakMap<object, WaitingParts>();
  const known = new WeakMap<Pod, { readonly state: ReadinessState; readonly row: Row; readonly untilMs: number }>();
  const judge = (pod: Pod) => {
    let judged = known.get(pod);
    if (judged !== undefined && Date.now() < judged.untilMs) return judged;
    const { name, creationTimestamp } = pod.metadata;
    const lateMs = Date.parse(creationTimestamp) + SCHEDULING_MS;
    const untilMs = Date.now() < lateMs ? lateMs : Infinity;
    const found = readiness(pod, { rules });
    judged = { state: found.state, row: Object.freeze({ name, reason: reasonOf(found, pod.status) }), untilMs };
    if (found.state !== "ready") known.set(pod, judged);
    return judged;
  };
  /** A change from ready to ready concerns no workload, so ready pods are in no part. */
  const idsOf = (pod: Pod): string[] => {
    try {
      if (judge(pod).state === "ready") return [];
    } catch { /* the workload's computation meets the error again, and reports it */ }
    const { name, ownerReferences = [] } = pod.metadata;
    // The hyphen and two letters more: a few hundred parts of thousands of pods.
    const owners = ownerReferences.filter(({ controller }) => controller);
    return owners.map((owner) => `${owner.uid} ${name.slice(0, owner.name.length + 3)}`);
  };
  const partOf = ({ value, objects }: ObjectGroup<Pod>): WaitingPart => {
    const pods = objects.toSorted(byName);
    let untilMs = -Infinity;
    let held: ReturnType<WaitingPart["now"]>;
    const now = (): typeof held => {
      if (Date.now() < untilMs) return held;
      const judged = pods.map(judge);
      untilMs = Math.min(...judged.map((it) => it.untilMs));
      return held = { rows: judged.map(({ row }) => row), failed: pods.filter((_, i) => judged[i].state === "failed") };
    };
    return { metadata: { name: value }, owner: value.split(" ")[0], now };
  };
  return (informers) => {
    const pods = informers.forResource(Pod, { indexers: { [index]: idsOf } });
    const parts = collections.get(pods) ?? deriveGroups(pods, index, partOf, BY_OWNER);
    collections.set(pods, parts);
    return parts;
  };
}

function byName(a: DerivedObject, b: DerivedObject): number {
  return a.metadata.name < b.metadata.name ? -1 : 1;
}

const NO_RULES: ReadinessRules = () => undefined;

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
 * next change to it, to its ReplicaSets or to one of its pods that is not ready. If several pods fail, the first name
 * counts.
 *
 * It costs about one judgement for each change to a pod, however many pods the workload has.
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
  const { kinds = Object.keys(KINDS) as readonly WorkloadKind[], rules = NO_RULES, onError } = options;
  if (!WAITING.has(rules)) WAITING.set(rules, waitingBy(rules));
  const waiting = WAITING.get(rules)!(informers);
  const replicaSets = informers.forResource(ReplicaSet, { indexers: OWNERS });
  const sources = kinds.map((kind) =>
    kind === "ReplicaSet" ? replicaSets : informers.forResource<Workload>(KINDS[kind])
  );
  return deriveAll<Workload, WorkloadStatus>(sources, (workload, { read }) => {
    const { name, namespace = "", labels, uid } = workload.metadata;
    const kind = workload.kind as WorkloadKind;
    if (kind === "ReplicaSet" && OWNERS[OWNER](workload).length > 0) return undefined;
    const owners = kind === "Deployment" ? read(replicaSets, { index: OWNER, value: uid }) : [workload];
    const parts = owners.flatMap(({ metadata: { uid } }) => read(waiting, { index: "owner", value: uid }).sort(byName));
    const now = parts.map((part) => part.now());
    const rows = new Array<Row>().concat(...now.map(({ rows }) => rows)); // sorted, if they are of one owner
    if (parts.at(-1)?.owner !== parts[0]?.owner) rows.sort((a, b) => a.name < b.name ? -1 : 1);
    const failed = now.flatMap(({ failed }) => failed).sort(byName);
    const found = readiness(workload, { pods: { lister: { namespace: () => ({ list: () => failed }) } }, rules });
    return {
      metadata: { name: `${kind}:${name}`, namespace, ...defined({ labels }) },
      kind,
      namespace,
      name,
      state: found.state,
      ready: found.state === "ready",
      reason: reasonOf(found),
      pods: Object.freeze(rows), // rows are frozen, so that nobody looks into each again
    };
  }, { name: "workloads", ...defined({ onError }) });
}
