import type { ReadinessState } from "../../../../src/operator/controllers/readiness/mod.ts";

/**
 * A case of the tests of kstatus: its name there, the state with the reason that kstatus reports, and the parts of the
 * object. The state and reason at the end are ours, if they differ. Ready objects have no reason.
 */
type KstatusCase = readonly [
  name: string,
  kind: string,
  outcome: ReadinessState | `${ReadinessState} ${string}`,
  parts?: { readonly generation?: number; readonly spec?: unknown; readonly status?: unknown },
  here?: string,
];

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

/** The cases, by kind. */
// deno-fmt-ignore
export const KSTATUS_CASES: readonly KstatusCase[] = [
  ["podNoStatus", "Pod", "progressing PodNotObserved"],
  ["podReady", "Pod", "ready", { status: { phase: "Running", ...conditions(["Ready", "True"]) } }],
  ["podCompletedSuccessfully", "Pod", "ready", { status: { phase: "Succeeded", ...conditions(["Ready", "False", "PodCompleted"]) } }],
  ["podCompletedFailed", "Pod", "ready", { status: { phase: "Failed", ...conditions(["Ready", "False", "PodCompleted"]) } }, "failed Failed"],
  ["podUnschedulable", "Pod", "failed PodUnschedulable", { status: { phase: "Pending", ...UNSCHEDULABLE } }, "failed Unschedulable"],
  ["podCrashLooping", "Pod", "failed ContainerCrashLooping", { status: { phase: "Running", ...UNSCHEDULABLE, containerStatuses: [{ name: "main", state: { waiting: { reason: "CrashLoopBackOff" } } }] } }, "failed CrashLoopBackOff"],
  ["no existing conditions", "Pod", "progressing PodRunningNotReady", { status: { phase: "Running" } }],
  ["stsNoStatus", "StatefulSet", "progressing LessReplicas"],
  ["stsBadStatus", "StatefulSet", "progressing LessReplicas", { status: { observedGeneration: 1, currentReplicas: 1 } }],
  ["stsOK", "StatefulSet", "ready", { spec: { replicas: 4 }, status: SET }],
  ["stsLessReady", "StatefulSet", "progressing LessReady", { spec: { replicas: 4 }, status: { ...SET, readyReplicas: 2 } }],
  ["stsLessCurrent", "StatefulSet", "progressing LessCurrent", { spec: { replicas: 4 }, status: { ...SET, currentReplicas: 2 } }],
  ["stsExtraPods", "StatefulSet", "progressing ExtraPods", { spec: { replicas: 4 }, status: { ...SET, replicas: 8 } }],
  ["dsNoStatus", "DaemonSet", "progressing NoObservedGeneration"],
  ["dsBadStatus", "DaemonSet", "progressing NoDesiredNumber", { status: { observedGeneration: 1, currentReplicas: 1 } }],
  ["dsOK", "DaemonSet", "ready", { status: DAEMONS }],
  ["dsDifferentGeneration", "DaemonSet", "progressing LatestGenerationNotObserved", { generation: 2, status: DAEMONS }],
  ["dsLessReady", "DaemonSet", "progressing LessReady", { status: { ...DAEMONS, numberReady: 2 } }],
  ["dsLessAvailable", "DaemonSet", "progressing LessAvailable", { status: { ...DAEMONS, numberAvailable: 2 } }],
  ["depNoStatus", "Deployment", "progressing LessReplicas"],
  ["depOK", "Deployment", "ready", { status: { ...DEPLOYED, ...conditions(PROGRESSED, ["Available", "True"]) } }],
  ["depNotProgressing", "Deployment", "progressing ReplicaSetNotAvailable", { spec: { progressDeadlineSeconds: 45 }, status: { ...DEPLOYED, ...conditions(["Progressing", "False", "Other"], ["Available", "True"]) } }],
  ["depNoProgressDeadlineSeconds", "Deployment", "ready", { status: { ...DEPLOYED, ...conditions(["Available", "True"]) } }],
  ["depNotAvailable", "Deployment", "progressing DeploymentNotAvailable", { status: { ...DEPLOYED, ...conditions(PROGRESSED, ["Available", "False"]) } }],
  ["rsNoStatus", "ReplicaSet", "progressing LessLabelled"],
  ["rsOK1", "ReplicaSet", "ready", { spec: { replicas: 4 }, status: { ...REPLICAS, ...conditions(["ReplicaFailure", "False"]) } }],
  ["rsOK2", "ReplicaSet", "ready", { spec: { replicas: 4 }, status: REPLICAS }],
  ["rsLessAvailable", "ReplicaSet", "progressing LessAvailable", { spec: { replicas: 4 }, status: { ...REPLICAS, availableReplicas: 2 } }],
  ["rsLessReady", "ReplicaSet", "progressing LessReady", { spec: { replicas: 4 }, status: { ...REPLICAS, readyReplicas: 2 } }],
  ["rsReplicaFailure", "ReplicaSet", "progressing ReplicaFailure", { spec: { replicas: 4 }, status: { ...REPLICAS, ...conditions(["ReplicaFailure", "True"]) } }],
  ["jobNoStatus", "Job", "progressing JobNotStarted"],
  ["jobComplete", "Job", "ready", { status: { succeeded: 1, ...conditions(["Complete", "True"]) } }],
  ["jobFailed", "Job", "failed JobFailed", { spec: { completions: 4 }, status: { succeeded: 3, failed: 1, ...conditions(["Failed", "True", "JobFailed"]) } }],
  ["jobInProgress", "Job", "ready", { spec: { completions: 10, parallelism: 2 }, status: { ...{ startTime: "2019-06-04T01:17:13Z", succeeded: 3, failed: 1, active: 2 }, ...conditions(["Failed", "False"], ["Complete", "False"]) } }],
  ["SuspendedJob", "Job", "ready", { spec: { suspend: true }, status: conditions(["Suspended", "True"]) }],
  ["PreviouslySuspendedJob", "Job", "progressing", { spec: { suspend: false }, status: conditions(["Suspended", "False"]) }],
  ["to SuspendedJobTransition", "Job", "progressing", { spec: { suspend: true }, status: conditions(["Suspended", "False"]) }],
  ["from SuspendedJobTransition", "Job", "progressing", { spec: { suspend: false }, status: conditions(["Suspended", "True"]) }],
  ["cronjobNoStatus", "CronJob", "ready"],
  ["cronjobWithStatus", "CronJob", "ready", { status: null }],
  ["pvcNoStatus", "PersistentVolumeClaim", "progressing NotBound"],
  ["pvcBound", "PersistentVolumeClaim", "ready", { status: { phase: "Bound" } }],
  ["pdbNotObserved", "PodDisruptionBudget", "progressing LatestGenerationNotObserved", { generation: 2, status: { observedGeneration: 1 } }],
  ["pdbObserved", "PodDisruptionBudget", "ready", { status: { observedGeneration: 1 } }],
  ["serviceDefault", "Service", "ready"],
  ["serviceNodePort", "Service", "ready", { spec: { type: "NodePort" } }],
  ["serviceLBnok", "Service", "progressing NoIPAssigned", { spec: { type: "LoadBalancer" } }],
  ["serviceLBok", "Service", "ready", { spec: { type: "LoadBalancer", clusterIP: "1.2.3.4" } }, "progressing NoAddress"],
  ["crdNoConditions", "CustomResourceDefinition", "progressing Installing"],
  ["crdInstalling", "CustomResourceDefinition", "progressing Installing", { status: conditions(["NamesAccepted", "True", "NoConflicts"], ["Established", "False", "Installing"]) }],
  ["crdNamesNotAccepted", "CustomResourceDefinition", "failed SomeReason", { status: conditions(["NamesAccepted", "False", "SomeReason"]) }],
  ["crdEstablished", "CustomResourceDefinition", "ready", { status: conditions(["NamesAccepted", "True", "NoConflicts"], ["Established", "True", "InitialNamesAccepted"]) }],
  ["crdNoStatus", "Widget", "ready"],
  ["crdReady", "Widget", "ready", { status: conditions(["Ready", "True", "AllOk"]) }],
  ["crdNotReady", "Widget", "progressing NotReadyYet", { status: { observedGeneration: 1, ...conditions(["Ready", "False", "NotReadyYet"]) } }],
  ["crdNoCondition", "Widget", "ready", { status: conditions(["SomeCondition", "False"]) }],
  ["crdMismatchStatusGeneration", "Widget", "progressing LatestGenerationNotObserved", { generation: 2, status: { observedGeneration: 1 } }],
];
