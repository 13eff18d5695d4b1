import type { ReadinessState } from "../../../../src/operator/controllers/readiness/mod.ts";

/** What kstatus says of an object. `"error"`: it cannot read it. */
type Kstatus = "Current" | "InProgress" | "Failed" | "Terminating" | "error";

/**
 * A state of an object of a public kind: what its controller has written, state and reason here, and what kstatus says
 * (cli-utils 0.37.2). The object's generation is 2, unless the parts have metadata.
 */
type PublicCase = readonly [state: `${ReadinessState} ${string}`, kstatus: Kstatus, parts: {
  readonly metadata?: unknown;
  readonly spec?: unknown;
  readonly status?: unknown;
}];

/** Conditions, each as `Type=Status`, with a reason after a slash and a generation after `@`. */
function conditions(...texts: readonly string[]): readonly unknown[] {
  return texts.map((text) => {
    const [, type, status, reason, generation] = /^(\w+)=(\w+)(?:\/(\w+))?(?:@(\d))?$/.exec(text)!;
    const observedGeneration = generation && Number(generation);
    return { type, status, ...reason && { reason }, ...observedGeneration && { observedGeneration } };
  });
}

/** A status with conditions that are about generation 2, as most controllers write it. */
const seen = (...texts: readonly string[]): object => ({ observedGeneration: 2, conditions: conditions(...texts) });
const only = (...texts: readonly string[]): object => ({ conditions: conditions(...texts) });
const DELETED: PublicCase = ["terminating Terminating", "Terminating", {
  metadata: { generation: 2, deletionTimestamp: "2026-01-31T12:00:00Z" },
  status: only("Ready=True"),
}];
const STALE = "progressing LatestGenerationNotObserved";
const NEW = "progressing NotObserved";

/** A route's answer from a gateway. */
const parent = (name: string, ...texts: readonly string[]): object => ({
  parentRef: { name },
  controllerName: "example.com/gateway",
  conditions: conditions(...texts),
});

/** The public kinds, by group, version and kind: what their controllers write, from their types in Go. */
// deno-fmt-ignore
export const PUBLIC_KINDS: Readonly<Record<string, readonly PublicCase[]>> = {
  // A text as generation, which was a hash before 0.10; a phase with a message.
  "argoproj.io/v1alpha1/Rollout": [
    ["ready AvailableReason", "error", { status: { observedGeneration: "2", phase: "Healthy", ...only("Available=True/AvailableReason", "Healthy=True", "Completed=True") } }],
    ["ready AvailableReason", "error", { status: { observedGeneration: "58b949649c", phase: "Healthy", ...only("Available=True/AvailableReason") } }],
    ["progressing Progressing", "error", { status: { observedGeneration: "2", phase: "Progressing", message: "more replicas need to be updated", ...only("Available=True") } }],
    ["progressing RolloutHealthy", "error", { status: { observedGeneration: "2", phase: "Progressing", ...only("Available=True", "Healthy=False/RolloutHealthy") } }],
    ["progressing Paused", "error", { status: { observedGeneration: "2", phase: "Paused", message: "CanaryPauseStep", ...only("Available=True") } }],
    ["failed Degraded", "error", { status: { observedGeneration: "2", phase: "Degraded", message: "RolloutAborted", ...only("Available=True") } }],
    ["failed InvalidSpec", "error", { status: { observedGeneration: "2", ...only("InvalidSpec=True/InvalidSpec") } }],
    [STALE, "error", { status: { observedGeneration: "1", phase: "Healthy", ...only("Available=True") } }],
    [NEW, "Current", {}],
    DELETED,
  ],
  // No generation, and conditions without a status, one for each error.
  "argoproj.io/v1alpha1/Application": [
    ["ready Ready", "Current", { status: { health: { status: "Healthy" }, sync: { status: "Synced" }, operationState: { phase: "Succeeded" } } }],
    ["progressing OutOfSync", "Current", { status: { health: { status: "Healthy" }, sync: { status: "OutOfSync" } } }],
    ["progressing Syncing", "Current", { status: { health: { status: "Healthy" }, sync: { status: "Synced" }, operationState: { phase: "Running" } } }],
    ["progressing Progressing", "Current", { status: { health: { status: "Progressing" }, sync: { status: "Synced" } } }],
    ["progressing Missing", "Current", { status: { health: { status: "Missing" }, sync: { status: "OutOfSync" }, conditions: [{ type: "SyncError", message: "no" }] } }],
    ["failed Degraded", "Current", { status: { health: { status: "Degraded", message: "a pod fails" }, sync: { status: "Synced" } } }],
    ["progressing Unknown", "Current", {}],
    DELETED,
  ],
  "argoproj.io/v1alpha1/Workflow": [
    ["ready Ready", "Current", { status: { phase: "Succeeded", ...only("PodRunning=False", "Completed=True") } }],
    ["ready Ready", "Current", { status: { phase: "Succeeded" } }],
    ["progressing Running", "Current", { status: { phase: "Running", ...only("PodRunning=True") } }],
    ["progressing Pending", "Current", { status: { phase: "Pending" } }],
    ["failed Failed", "Current", { status: { phase: "Failed", message: "child failed", ...only("Completed=True") } }],
    ["failed Error", "Current", { status: { phase: "Error" } }],
    [NEW, "Current", {}],
    DELETED,
  ],
  "serving.knative.dev/v1/Service": [
    ["ready Ready", "Current", { status: seen("ConfigurationsReady=True", "Ready=True", "RoutesReady=True") }],
    ["progressing RevisionMissing", "InProgress", { status: seen("ConfigurationsReady=Unknown", "Ready=Unknown/RevisionMissing") }],
    ["progressing ContainerMissing", "InProgress", { status: seen("Ready=False/ContainerMissing") }],
    [STALE, "InProgress", { status: { observedGeneration: 1, ...only("Ready=True") } }],
    [NEW, "Current", {}],
    DELETED,
  ],
  // Only conditions have a generation, in versions since 2.
  "s3.aws.upbound.io/v1beta1/Bucket": [
    ["ready Available", "Current", { status: only("Ready=True/Available", "Synced=True/ReconcileSuccess") }],
    ["progressing Creating", "InProgress", { status: only("Ready=False/Creating", "Synced=True/ReconcileSuccess") }],
    ["progressing ReconcileError", "Current", { status: only("Ready=True/Available", "Synced=False/ReconcileError") }],
    ["progressing ReconcilePaused", "Current", { status: only("Ready=True/Available", "Synced=False/ReconcilePaused") }],
    [STALE, "Current", { status: only("Ready=True/Available@1", "Synced=True/ReconcileSuccess@2") }],
    DELETED,
  ],
  "example.org/v1/XDatabase": [ // a composite resource or a claim
    ["ready Available", "Current", { status: only("Ready=True/Available@2", "Synced=True/ReconcileSuccess@2", "Responsive=True@2") }],
    ["progressing Creating", "InProgress", { status: only("Synced=True/ReconcileSuccess", "Ready=False/Creating") }],
    ["progressing ReconcileError", "Current", { status: only("Synced=False/ReconcileError", "Ready=True/Available") }],
    DELETED,
  ],
  "pkg.crossplane.io/v1/Provider": [
    ["ready HealthyPackageRevision", "Current", { status: only("Installed=True/ActivePackageRevision", "Healthy=True/HealthyPackageRevision") }],
    ["progressing UnhealthyPackageRevision", "Current", { status: only("Installed=True/ActivePackageRevision", "Healthy=False/UnhealthyPackageRevision") }],
    ["progressing UnpackingPackage", "Current", { status: only("Installed=False/UnpackingPackage") }],
    [NEW, "Current", {}],
    DELETED,
  ],
  // Their CRDs default the observed generation to -1.
  "kustomize.toolkit.fluxcd.io/v1/Kustomization": [
    ["ready ReconciliationSucceeded", "Current", { status: seen("Ready=True/ReconciliationSucceeded@2") }],
    ["progressing Progressing", "InProgress", { status: seen("Reconciling=True/Progressing@2", "Ready=Unknown/Progressing@2") }],
    ["progressing BuildFailed", "InProgress", { status: seen("Ready=False/BuildFailed@2") }],
    ["failed InvalidSpec", "Failed", { status: seen("Stalled=True/InvalidSpec@2", "Ready=False/InvalidSpec@2") }],
    [STALE, "InProgress", { status: { observedGeneration: -1 } }],
    [STALE, "InProgress", { status: { observedGeneration: 1, ...only("Ready=True@1") } }],
    DELETED,
  ],
  "helm.toolkit.fluxcd.io/v2/HelmRelease": [
    ["ready UpgradeSucceeded", "Current", { status: seen("Released=True/UpgradeSucceeded", "Ready=True/UpgradeSucceeded", "TestSuccess=True") }],
    ["progressing UpgradeFailed", "InProgress", { status: seen("Released=False/UpgradeFailed", "Ready=False/UpgradeFailed", "Remediated=True/RollbackSucceeded") }],
    ["failed RetriesExceeded", "Failed", { status: seen("Ready=False/UpgradeFailed", "Stalled=True/RetriesExceeded") }],
    DELETED,
  ],
  "source.toolkit.fluxcd.io/v1/GitRepository": [
    ["ready Succeeded", "Current", { status: seen("Ready=True/Succeeded", "ArtifactInStorage=True/Succeeded") }],
    ["progressing AuthenticationFailed", "InProgress", { status: seen("FetchFailed=True/AuthenticationFailed", "Ready=False/AuthenticationFailed") }],
    ["progressing GitOperationSucceeded", "InProgress", { status: seen("Reconciling=True/GitOperationSucceeded", "Ready=True/Succeeded") }],
    DELETED,
  ],
  // Their CRDs default the conditions to Unknown.
  "gateway.networking.k8s.io/v1/GatewayClass": [
    ["ready Accepted", "Current", { status: only("Accepted=True/Accepted@2") }],
    ["progressing Pending", "Current", { status: only("Accepted=Unknown/Pending") }],
    ["progressing InvalidParameters", "Current", { status: only("Accepted=False/InvalidParameters@2") }],
    [STALE, "Current", { status: only("Accepted=True/Accepted@1") }],
    DELETED,
  ],
  "gateway.networking.k8s.io/v1/Gateway": [
    ["ready Accepted", "Current", { status: { ...only("Accepted=True/Accepted@2", "Programmed=True/Programmed@2"), listeners: [{ name: "http", ...only("Accepted=True@2", "Conflicted=False@2") }] } }],
    ["progressing Pending", "Current", { status: only("Accepted=Unknown/Pending", "Programmed=Unknown/Pending") }],
    ["progressing AddressNotAssigned", "Current", { status: only("Accepted=True/Accepted@2", "Programmed=False/AddressNotAssigned@2") }],
    ["progressing PortUnavailable", "Current", { status: { ...only("Accepted=True@2", "Programmed=True@2"), listeners: [{ name: "http", ...only("Accepted=False/PortUnavailable@2") }] } }],
    [STALE, "Current", { status: only("Accepted=True/Accepted@2", "Programmed=True/Programmed@1") }],
    [NEW, "Current", {}],
    DELETED,
  ],
  "gateway.networking.k8s.io/v1/HTTPRoute": [
    ["ready Accepted", "Current", { status: { parents: [parent("a", "Accepted=True/Accepted@2", "ResolvedRefs=True/ResolvedRefs@2")] } }],
    ["progressing NoMatchingParent", "Current", { status: { parents: [parent("a", "Accepted=True/Accepted@2"), parent("b", "Accepted=False/NoMatchingParent@2")] } }],
    ["progressing BackendNotFound", "Current", { status: { parents: [parent("a", "Accepted=True/Accepted@2", "ResolvedRefs=False/BackendNotFound@2")] } }],
    ["ready Accepted", "Current", { status: { parents: [parent("gone", "Accepted=False/NoMatchingParent@1"), parent("a", "Accepted=True/Accepted@2")] } }],
    [STALE, "Current", { status: { parents: [parent("a", "Accepted=True/Accepted@1")] } }],
    [NEW, "Current", { status: { parents: [] } }],
    DELETED,
  ],
  "gateway.networking.k8s.io/v1/BackendTLSPolicy": [
    ["ready Accepted", "Current", { status: { ancestors: [{ ancestorRef: { name: "a" }, ...only("Accepted=True/Accepted@2", "ResolvedRefs=True@2") }] } }],
    ["progressing InvalidCACertificateRef", "Current", { status: { ancestors: [{ ancestorRef: { name: "a" }, ...only("Accepted=True@2", "ResolvedRefs=False/InvalidCACertificateRef@2") }] } }],
    DELETED,
  ],
  // The newer conditions of v1beta1 are in status.v1beta2, the older ones of v1beta2 in status.deprecated.
  "cluster.x-k8s.io/v1beta1/Cluster": [
    ["ready Ready", "Current", { status: { observedGeneration: 2, phase: "Provisioned", ...only("Ready=True", "InfrastructureReady=True"), v1beta2: only("Available=False/NotAvailable") } }],
    ["progressing WaitingForControlPlane", "InProgress", { status: { observedGeneration: 2, phase: "Provisioning", ...only("Ready=False/WaitingForControlPlane") } }],
    ["failed Failed", "InProgress", { status: { observedGeneration: 2, phase: "Failed", ...only("Ready=False/Broken") } }],
    [STALE, "InProgress", { status: { observedGeneration: 1, ...only("Ready=True") } }],
    [NEW, "Current", {}],
    DELETED,
  ],
  "cluster.x-k8s.io/v1beta2/Cluster": [
    ["ready Available", "Current", { status: { observedGeneration: 2, phase: "Provisioned", ...only("Available=True/Available@2", "InfrastructureReady=True@2", "ScalingUp=False@2"), deprecated: { v1beta1: only("Ready=False") } } }],
    ["progressing NotAvailable", "Current", { status: { observedGeneration: 2, phase: "Provisioned", ...only("Available=False/NotAvailable@2") } }],
    ["progressing Provisioning", "Current", { status: { observedGeneration: 2, phase: "Provisioning" } }],
    DELETED,
  ],
  "cluster.x-k8s.io/v1beta2/MachinePool": [
    ["ready Ready", "Current", { status: { observedGeneration: 2, phase: "ScalingUp", ...only("Ready=True") } }],
    ["progressing ScalingUp", "Current", { status: { observedGeneration: 2, phase: "ScalingUp" } }],
    DELETED,
  ],
  "cluster.x-k8s.io/v1beta2/Machine": [
    ["ready Ready", "Current", { status: { observedGeneration: 2, phase: "Running", ...only("Ready=True@2", "Available=True/Available@2", "UpToDate=True@2") } }],
    ["progressing WaitingForMinReadySeconds", "Current", { status: { phase: "Running", ...seen("Ready=True@2", "Available=False/WaitingForMinReadySeconds@2") } }],
    ["progressing NodeNotReady", "InProgress", { status: { phase: "Running", ...seen("Ready=False/NodeNotReady@2") } }],
    ["failed Failed", "Current", { status: { observedGeneration: 2, phase: "Failed" } }],
    DELETED,
  ],
  "keda.sh/v1alpha1/ScaledObject": [
    ["ready ScaledObjectReady", "Current", { status: only("Ready=True/ScaledObjectReady", "Active=False/ScalerNotActive", "Fallback=False", "Paused=False") }],
    ["progressing NotReady", "InProgress", { status: only("Ready=Unknown", "Active=Unknown", "Fallback=Unknown", "Paused=Unknown") }],
    ["progressing ScaledObjectCheckFailed", "InProgress", { status: only("Ready=False/ScaledObjectCheckFailed", "Active=Unknown") }],
    [NEW, "Current", {}],
    DELETED,
  ],
  // Only conditions have a generation.
  "cert-manager.io/v1/Certificate": [
    ["ready Ready", "Current", { status: only("Ready=True/Ready@2") }],
    ["ready Ready", "Current", { status: only("Issuing=True/Renewing@2", "Ready=True/Ready@2") }],
    ["progressing DoesNotExist", "InProgress", { status: only("Ready=False/DoesNotExist@2", "Issuing=True/DoesNotExist@2") }],
    [STALE, "Current", { status: only("Ready=True/Ready@1") }],
    [NEW, "Current", {}],
    DELETED,
  ],
  "cert-manager.io/v1/CertificateRequest": [
    ["ready Issued", "Current", { status: only("Approved=True/Approved", "Ready=True/Issued") }],
    ["progressing Pending", "InProgress", { status: only("Approved=True/Approved", "Ready=False/Pending") }],
    ["failed NotAllowed", "InProgress", { status: only("Denied=True/NotAllowed", "Ready=False/Denied") }],
    DELETED,
  ],
  "cert-manager.io/v1/Issuer": [
    ["ready ACMEAccountRegistered", "Current", { status: only("Ready=True/ACMEAccountRegistered@2") }],
    ["progressing ErrInitIssuer", "InProgress", { status: only("Ready=False/ErrInitIssuer@2") }],
    [NEW, "Current", {}],
    DELETED,
  ],
  "external-secrets.io/v1/ExternalSecret": [
    ["ready SecretSynced", "Current", { status: { syncedResourceVersion: "2-abc", ...only("Ready=True/SecretSynced") } }],
    ["progressing SecretSyncedError", "InProgress", { status: only("Ready=False/SecretSyncedError") }],
    [NEW, "Current", {}],
    DELETED,
  ],
  // A condition that is bad when it is True, in place of Ready.
  "kafka.strimzi.io/v1/Kafka": [
    ["ready Ready", "Current", { status: seen("Ready=True") }],
    ["failed TimeoutException", "Current", { status: seen("NotReady=True/TimeoutException") }],
    ["ready Ready", "Current", { status: seen("NotReady=True/TimeoutException", "Ready=True") }],
    ["ready Ready", "Current", { status: seen("NotReady=False") }],
    [STALE, "Current", { status: only("NotReady=True/TimeoutException@1") }],
    [STALE, "InProgress", { status: { observedGeneration: 1, ...only("Ready=True") } }],
    [NEW, "Current", {}],
    DELETED,
  ],
  // A phase that is a sentence.
  "postgresql.cnpg.io/v1/Cluster": [
    ["ready ClusterIsReady", "Current", { status: { phase: "Cluster in healthy state", ...only("Ready=True/ClusterIsReady") } }],
    ["progressing ClusterIsNotReady", "InProgress", { status: { phase: "Waiting for the instances to become active", ...only("Ready=False/ClusterIsNotReady") } }],
    ["progressing NotReady", "Current", { status: { phase: "Setting up primary" } }],
    [NEW, "Current", {}],
    DELETED,
  ],
  "tekton.dev/v1/PipelineRun": [
    ["ready Completed", "Current", { status: only("Succeeded=True/Completed") }],
    ["progressing Running", "Current", { status: only("Succeeded=Unknown/Running") }],
    ["failed PipelineRunTimeout", "Current", { status: only("Succeeded=False/PipelineRunTimeout") }],
    [NEW, "Current", {}],
    DELETED,
  ],
  "elasticsearch.k8s.elastic.co/v1/Elasticsearch": [
    ["ready Ready", "Current", { status: { observedGeneration: 2, phase: "Ready", health: "green" } }],
    ["progressing ApplyingChanges", "Current", { status: { observedGeneration: 2, phase: "ApplyingChanges", health: "yellow" } }],
    ["failed Invalid", "Current", { status: { observedGeneration: 2, phase: "Invalid" } }],
    DELETED,
  ],
  "argoproj.io/v1alpha1/CronWorkflow": [ // conditions only if something is wrong
    ["ready Ready", "Current", { status: only("SpecError=False") }],
    ["failed SubmissionError", "Current", { status: only("SubmissionError=True") }],
    DELETED,
  ],
  "pxc.percona.com/v1/PerconaXtraDBCluster": [ // a state in place of a phase
    ["ready Ready", "Current", { status: { observedGeneration: 2, state: "ready" } }],
    ["progressing initializing", "Current", { status: { observedGeneration: 2, state: "initializing" } }],
    ["failed error", "Current", { status: { observedGeneration: 2, state: "error" } }],
    DELETED,
  ],
  "velero.io/v1/Backup": [
    ["ready Ready", "Current", { status: { phase: "Completed" } }],
    ["progressing InProgress", "Current", { status: { phase: "InProgress" } }],
    ["progressing New", "Current", { status: { phase: "New" } }],
    ["failed PartiallyFailed", "Current", { status: { phase: "PartiallyFailed" } }],
    DELETED,
  ],
  "rabbitmq.com/v1beta1/RabbitmqCluster": [
    ["ready Ready", "Current", { status: seen("AllReplicasReady=True", "ClusterAvailable=True", "NoWarnings=True", "ReconcileSuccess=True/Success") }],
    ["progressing NotAllPodsReady", "Current", { status: seen("AllReplicasReady=False/NotAllPodsReady", "ClusterAvailable=True", "ReconcileSuccess=True") }],
    DELETED,
  ],
  "config.openshift.io/v1/ClusterOperator": [
    ["ready AsExpected", "Current", { status: only("Available=True/AsExpected", "Progressing=False", "Degraded=False") }],
    ["failed Broken", "Current", { status: only("Available=True/AsExpected", "Degraded=True/Broken") }],
    ["progressing Down", "Current", { status: only("Available=False/Down", "Degraded=False") }],
    DELETED,
  ],
  "apps.kruise.io/v1alpha1/CloneSet": [ // and other kinds that have replicas, without conditions
    ["ready Ready", "Current", { spec: { replicas: 3 }, status: { observedGeneration: 2, replicas: 3, readyReplicas: 3 } }],
    ["progressing LessReady", "Current", { spec: { replicas: 3 }, status: { observedGeneration: 2, replicas: 3, readyReplicas: 1 } }],
    DELETED,
  ],
  "apiregistration.k8s.io/v1/APIService": [
    ["ready Passed", "Current", { status: only("Available=True/Passed") }],
    ["progressing MissingEndpoints", "Current", { status: only("Available=False/MissingEndpoints") }],
    [NEW, "Current", {}],
    DELETED,
  ],
  "autoscaling/v2/HorizontalPodAutoscaler": [
    ["ready ReadyForNewScale", "Current", { status: only("AbleToScale=True/ReadyForNewScale", "ScalingActive=True/ValidMetricFound", "ScalingLimited=True/TooFewReplicas") }],
    ["ready SucceededGetScale", "Current", { status: only("AbleToScale=True/SucceededGetScale", "ScalingActive=False/ScalingDisabled") }],
    ["progressing FailedGetResourceMetric", "Current", { status: only("AbleToScale=True/SucceededGetScale", "ScalingActive=False/FailedGetResourceMetric") }],
    ["progressing FailedGetScale", "Current", { status: only("AbleToScale=False/FailedGetScale") }],
    [NEW, "Current", { status: { currentReplicas: 0, desiredReplicas: 0 } }],
    DELETED,
  ],
  "policy/v1/PodDisruptionBudget": [
    ["ready SufficientPods", "Current", { status: seen("DisruptionAllowed=True/SufficientPods@2") }],
    ["ready Ready", "Current", { status: seen("DisruptionAllowed=False/InsufficientPods@2") }],
    ["progressing SyncFailed", "Current", { status: seen("DisruptionAllowed=False/SyncFailed@2") }],
    [STALE, "InProgress", { status: { observedGeneration: 1 } }],
    [NEW, "Current", { status: { currentHealthy: 0, desiredHealthy: 0, disruptionsAllowed: 0, expectedPods: 0 } }],
    DELETED,
  ],
  "apiextensions.k8s.io/v1/CustomResourceDefinition": [
    ["ready Established", "Current", { status: only("NamesAccepted=True", "Established=True") }],
    ["progressing Installing", "InProgress", { status: only("NamesAccepted=True", "Established=False/Installing") }],
    ["failed ListKindConflict", "Failed", { status: only("NamesAccepted=False/ListKindConflict") }],
    DELETED,
  ],
  "batch/v1/Job": [
    ["ready SuccessCriteriaMet", "Current", { status: { startTime: "x", succeeded: 1, ...only("SuccessCriteriaMet=True", "Complete=True") } }],
    ["ready JobRunning", "Current", { status: { startTime: "x", active: 1 } }],
    ["failed BackoffLimitExceeded", "Current", { status: { startTime: "x", ...only("FailureTarget=True/BackoffLimitExceeded") } }],
    ["progressing JobNotStarted", "InProgress", {}],
    DELETED,
  ],
  "v1/PersistentVolumeClaim": [
    ["ready Bound", "Current", { status: { phase: "Bound" } }],
    ["progressing NotBound", "InProgress", { status: { phase: "Pending" } }],
    ["failed Lost", "InProgress", { status: { phase: "Lost" } }],
    DELETED,
  ],
  "v1/PersistentVolume": [
    ["ready Ready", "Current", { status: { phase: "Available" } }],
    ["progressing Pending", "Current", { status: { phase: "Pending" } }],
    ["failed Failed", "Current", { status: { phase: "Failed", message: "the recycler failed" } }],
    DELETED,
  ],
  "v1/Service": [
    ["ready Ready", "Current", { spec: { type: "LoadBalancer", clusterIP: "10.0.0.1" }, status: { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } } }],
    ["ready Ready", "Current", { spec: { type: "LoadBalancer", clusterIP: "10.0.0.1", externalIPs: ["192.0.2.1"] }, status: { loadBalancer: {} } }],
    ["progressing NoAddress", "Current", { spec: { type: "LoadBalancer", clusterIP: "10.0.0.1" }, status: { loadBalancer: {} } }],
    ["progressing NoIPAssigned", "InProgress", { spec: { type: "LoadBalancer" } }],
    ["ready Ready", "Current", { spec: { type: "ClusterIP", clusterIP: "10.0.0.1" } }],
    DELETED,
  ],
  "networking.k8s.io/v1/Ingress": [ // many controllers never write its status
    ["ready Ready", "Current", { status: { loadBalancer: {} } }],
    DELETED,
  ],
  "v1/Namespace": [
    ["ready Ready", "Current", { status: { phase: "Active" } }],
    ["progressing Terminating", "Current", { status: { phase: "Terminating" } }],
    DELETED,
  ],
  "v1/Node": [
    ["ready KubeletReady", "Current", { status: only("MemoryPressure=False", "Ready=True/KubeletReady") }],
    ["progressing NodeStatusUnknown", "InProgress", { status: only("MemoryPressure=Unknown", "Ready=Unknown/NodeStatusUnknown") }],
    [NEW, "Current", {}],
    DELETED,
  ],
  "v1/ReplicationController": [
    ["ready Ready", "Current", { spec: { replicas: 2 }, status: { observedGeneration: 2, replicas: 2, readyReplicas: 2 } }],
    ["progressing LessReady", "Current", { spec: { replicas: 2 }, status: { replicas: 2, readyReplicas: 1, ...seen("ReplicaFailure=True/FailedCreate") } }],
    DELETED,
  ],
};
