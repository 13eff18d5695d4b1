import type { ReadinessState } from "../../src/readiness/mod.ts";

/** A case of the tests of kstatus: its name there, the parts of an object, and what follows from them there. */
export interface KstatusCase {
  readonly name: string;
  readonly kind: string;
  /** @default {1} */
  readonly generation?: number;
  readonly spec?: unknown;
  readonly status?: unknown;
  readonly state: ReadinessState;
  /** The reason of the condition that kstatus reports; it has none for objects that are ready. */
  readonly reason?: string;
  /** State and reason where they are different here. */
  readonly here?: { readonly state?: ReadinessState; readonly reason?: string };
}

/** The group and version of the kinds in the cases. */
export const VERSIONS: Readonly<Record<string, string>> = {
  CronJob: "batch/v1",
  CustomResourceDefinition: "apiextensions.k8s.io/v1",
  DaemonSet: "apps/v1",
  Deployment: "apps/v1",
  Job: "batch/v1",
  PersistentVolumeClaim: "v1",
  Pod: "v1",
  PodDisruptionBudget: "policy/v1",
  ReplicaSet: "apps/v1",
  Service: "v1",
  StatefulSet: "apps/v1",
  Widget: "example.com/v1",
};

/** A list of conditions: each is type, status and reason. */
function conditions(...seen: readonly (readonly [string, string, string?])[]): { readonly conditions: unknown } {
  return { conditions: seen.map(([type, status, reason]) => ({ type, status, ...(reason && { reason }) })) };
}

const UNSCHEDULABLE = conditions(["PodScheduled", "False", "Unschedulable"]);
const DEPLOYED = { observedGeneration: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1, replicas: 1 };
const SET = { observedGeneration: 1, currentReplicas: 4, readyReplicas: 4, replicas: 4 };
const REPLICAS = {
  observedGeneration: 1,
  replicas: 4,
  readyReplicas: 4,
  availableReplicas: 4,
  fullyLabeledReplicas: 4,
};
const DAEMONS = {
  ...{ desiredNumberScheduled: 4, currentNumberScheduled: 4, updatedNumberScheduled: 4 },
  ...{ numberAvailable: 4, numberReady: 4, observedGeneration: 1 },
};
const PROGRESSED = ["Progressing", "True", "NewReplicaSetAvailable"] as const;

const PODS: readonly KstatusCase[] = [
  { name: "podNoStatus", kind: "Pod", state: "progressing", reason: "PodNotObserved" },
  { name: "podReady", kind: "Pod", status: { phase: "Running", ...conditions(["Ready", "True"]) }, state: "ready" },
  {
    name: "podCompletedSuccessfully",
    kind: "Pod",
    status: { phase: "Succeeded", ...conditions(["Ready", "False", "PodCompleted"]) },
    state: "ready",
  },
  {
    name: "podCompletedFailed",
    kind: "Pod",
    status: { phase: "Failed", ...conditions(["Ready", "False", "PodCompleted"]) },
    state: "ready",
    here: { state: "failed", reason: "Failed" },
  },
  {
    name: "podUnschedulable",
    kind: "Pod",
    status: { phase: "Pending", ...UNSCHEDULABLE },
    state: "failed",
    reason: "PodUnschedulable",
    here: { reason: "Unschedulable" },
  },
  {
    name: "podCrashLooping",
    kind: "Pod",
    status: {
      phase: "Running",
      ...UNSCHEDULABLE,
      containerStatuses: [{ name: "main", state: { waiting: { reason: "CrashLoopBackOff" } } }],
    },
    state: "failed",
    reason: "ContainerCrashLooping",
    here: { reason: "CrashLoopBackOff" },
  },
  {
    name: "no existing conditions",
    kind: "Pod",
    status: { phase: "Running" },
    state: "progressing",
    reason: "PodRunningNotReady",
  },
];

const SETS: readonly KstatusCase[] = [
  { name: "stsNoStatus", kind: "StatefulSet", state: "progressing", reason: "LessReplicas" },
  {
    name: "stsBadStatus",
    kind: "StatefulSet",
    status: { observedGeneration: 1, currentReplicas: 1 },
    state: "progressing",
    reason: "LessReplicas",
  },
  { name: "stsOK", kind: "StatefulSet", spec: { replicas: 4 }, status: SET, state: "ready" },
  {
    name: "stsLessReady",
    kind: "StatefulSet",
    spec: { replicas: 4 },
    status: { ...SET, readyReplicas: 2 },
    state: "progressing",
    reason: "LessReady",
  },
  {
    name: "stsLessCurrent",
    kind: "StatefulSet",
    spec: { replicas: 4 },
    status: { ...SET, currentReplicas: 2 },
    state: "progressing",
    reason: "LessCurrent",
  },
  {
    name: "stsExtraPods",
    kind: "StatefulSet",
    spec: { replicas: 4 },
    status: { ...SET, replicas: 8 },
    state: "progressing",
    reason: "ExtraPods",
  },
  { name: "dsNoStatus", kind: "DaemonSet", state: "progressing", reason: "NoObservedGeneration" },
  {
    name: "dsBadStatus",
    kind: "DaemonSet",
    status: { observedGeneration: 1, currentReplicas: 1 },
    state: "progressing",
    reason: "NoDesiredNumber",
  },
  { name: "dsOK", kind: "DaemonSet", status: DAEMONS, state: "ready" },
  {
    name: "dsDifferentGeneration",
    kind: "DaemonSet",
    generation: 2,
    status: DAEMONS,
    state: "progressing",
    reason: "LatestGenerationNotObserved",
  },
  {
    name: "dsLessReady",
    kind: "DaemonSet",
    status: { ...DAEMONS, numberReady: 2 },
    state: "progressing",
    reason: "LessReady",
  },
  {
    name: "dsLessAvailable",
    kind: "DaemonSet",
    status: { ...DAEMONS, numberAvailable: 2 },
    state: "progressing",
    reason: "LessAvailable",
  },
];

const DEPLOYMENTS: readonly KstatusCase[] = [
  { name: "depNoStatus", kind: "Deployment", state: "progressing", reason: "LessReplicas" },
  {
    name: "depOK",
    kind: "Deployment",
    status: { ...DEPLOYED, ...conditions(PROGRESSED, ["Available", "True"]) },
    state: "ready",
  },
  {
    name: "depNotProgressing",
    kind: "Deployment",
    spec: { progressDeadlineSeconds: 45 },
    status: { ...DEPLOYED, ...conditions(["Progressing", "False", "Other"], ["Available", "True"]) },
    state: "progressing",
    reason: "ReplicaSetNotAvailable",
  },
  {
    name: "depNoProgressDeadlineSeconds",
    kind: "Deployment",
    status: { ...DEPLOYED, ...conditions(["Available", "True"]) },
    state: "ready",
  },
  {
    name: "depNotAvailable",
    kind: "Deployment",
    status: { ...DEPLOYED, ...conditions(PROGRESSED, ["Available", "False"]) },
    state: "progressing",
    reason: "DeploymentNotAvailable",
  },
  { name: "rsNoStatus", kind: "ReplicaSet", state: "progressing", reason: "LessLabelled" },
  {
    name: "rsOK1",
    kind: "ReplicaSet",
    spec: { replicas: 4 },
    status: { ...REPLICAS, ...conditions(["ReplicaFailure", "False"]) },
    state: "ready",
  },
  { name: "rsOK2", kind: "ReplicaSet", spec: { replicas: 4 }, status: REPLICAS, state: "ready" },
  {
    name: "rsLessAvailable",
    kind: "ReplicaSet",
    spec: { replicas: 4 },
    status: { ...REPLICAS, availableReplicas: 2 },
    state: "progressing",
    reason: "LessAvailable",
  },
  {
    name: "rsLessReady",
    kind: "ReplicaSet",
    spec: { replicas: 4 },
    status: { ...REPLICAS, readyReplicas: 2 },
    state: "progressing",
    reason: "LessReady",
  },
  {
    name: "rsReplicaFailure",
    kind: "ReplicaSet",
    spec: { replicas: 4 },
    status: { ...REPLICAS, ...conditions(["ReplicaFailure", "True"]) },
    state: "progressing",
    reason: "ReplicaFailure",
  },
];

const JOBS: readonly KstatusCase[] = [
  { name: "jobNoStatus", kind: "Job", state: "progressing", reason: "JobNotStarted" },
  { name: "jobComplete", kind: "Job", status: { succeeded: 1, ...conditions(["Complete", "True"]) }, state: "ready" },
  {
    name: "jobFailed",
    kind: "Job",
    spec: { completions: 4 },
    status: { succeeded: 3, failed: 1, ...conditions(["Failed", "True", "JobFailed"]) },
    state: "failed",
    reason: "JobFailed",
  },
  {
    name: "jobInProgress",
    kind: "Job",
    spec: { completions: 10, parallelism: 2 },
    status: {
      ...{ startTime: "2019-06-04T01:17:13Z", succeeded: 3, failed: 1, active: 2 },
      ...conditions(["Failed", "False"], ["Complete", "False"]),
    },
    state: "ready",
  },
  {
    name: "SuspendedJob",
    kind: "Job",
    spec: { suspend: true },
    status: conditions(["Suspended", "True"]),
    state: "ready",
  },
  {
    name: "PreviouslySuspendedJob",
    kind: "Job",
    spec: { suspend: false },
    status: conditions(["Suspended", "False"]),
    state: "progressing",
  },
  {
    name: "to SuspendedJobTransition",
    kind: "Job",
    spec: { suspend: true },
    status: conditions(["Suspended", "False"]),
    state: "progressing",
  },
  {
    name: "from SuspendedJobTransition",
    kind: "Job",
    spec: { suspend: false },
    status: conditions(["Suspended", "True"]),
    state: "progressing",
  },
  { name: "cronjobNoStatus", kind: "CronJob", state: "ready" },
  { name: "cronjobWithStatus", kind: "CronJob", status: null, state: "ready" },
];

const OTHERS: readonly KstatusCase[] = [
  { name: "pvcNoStatus", kind: "PersistentVolumeClaim", state: "progressing", reason: "NotBound" },
  { name: "pvcBound", kind: "PersistentVolumeClaim", status: { phase: "Bound" }, state: "ready" },
  {
    name: "pdbNotObserved",
    kind: "PodDisruptionBudget",
    generation: 2,
    status: { observedGeneration: 1 },
    state: "progressing",
    reason: "LatestGenerationNotObserved",
  },
  { name: "pdbObserved", kind: "PodDisruptionBudget", status: { observedGeneration: 1 }, state: "ready" },
  { name: "serviceDefault", kind: "Service", state: "ready" },
  { name: "serviceNodePort", kind: "Service", spec: { type: "NodePort" }, state: "ready" },
  {
    name: "serviceLBnok",
    kind: "Service",
    spec: { type: "LoadBalancer" },
    state: "progressing",
    reason: "NoIPAssigned",
  },
  { name: "serviceLBok", kind: "Service", spec: { type: "LoadBalancer", clusterIP: "1.2.3.4" }, state: "ready" },
  { name: "crdNoConditions", kind: "CustomResourceDefinition", state: "progressing", reason: "Installing" },
  {
    name: "crdInstalling",
    kind: "CustomResourceDefinition",
    status: conditions(["NamesAccepted", "True", "NoConflicts"], ["Established", "False", "Installing"]),
    state: "progressing",
    reason: "Installing",
  },
  {
    name: "crdNamesNotAccepted",
    kind: "CustomResourceDefinition",
    status: conditions(["NamesAccepted", "False", "SomeReason"]),
    state: "failed",
    reason: "SomeReason",
  },
  {
    name: "crdEstablished",
    kind: "CustomResourceDefinition",
    status: conditions(["NamesAccepted", "True", "NoConflicts"], ["Established", "True", "InitialNamesAccepted"]),
    state: "ready",
  },
  { name: "crdNoStatus", kind: "Widget", state: "ready" },
  { name: "crdReady", kind: "Widget", status: conditions(["Ready", "True", "AllOk"]), state: "ready" },
  {
    name: "crdNotReady",
    kind: "Widget",
    status: { observedGeneration: 1, ...conditions(["Ready", "False", "NotReadyYet"]) },
    state: "progressing",
    reason: "NotReadyYet",
  },
  { name: "crdNoCondition", kind: "Widget", status: conditions(["SomeCondition", "False"]), state: "ready" },
  {
    name: "crdMismatchStatusGeneration",
    kind: "Widget",
    generation: 2,
    status: { observedGeneration: 1 },
    state: "progressing",
    reason: "LatestGenerationNotObserved",
  },
];

/**
 * The cases of kstatus, behind its release 0.37.2, which did not know suspended Jobs. The one that depends on the
 * present time is in the test.
 */
export const KSTATUS_CASES: readonly KstatusCase[] = [...PODS, ...SETS, ...DEPLOYMENTS, ...JOBS, ...OTHERS];
