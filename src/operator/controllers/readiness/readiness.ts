/**
 * Decides whether an object is ready, by kstatus rules.
 *
 * {@linkcode readiness} and {@linkcode untilReady} are the entry points. They read cached objects and send no requests.
 *
 * @module
 */
import type { Abortable } from "../../../engine/api/call_options.ts";
import { defined } from "../../../engine/api/json.ts";
import { type Complete, type KubernetesObject, type ObjectKey, reduced, splitKey } from "../../../engine/api/object.ts";
import { elementsAt, fieldValues, LabelSelector } from "../../../engine/api/selector.ts";
import { DecodeError } from "../../../engine/api/status.ts";
import { DerivedController } from "../../../engine/async/signals.ts";
import { humanDuration, LongTimer, monotonicMs } from "../../../engine/async/time.ts";
import { ArgumentError } from "../../../engine/errors/checks.ts";
import { COMPLETE, errorName } from "../../../engine/errors/errors.ts";
import { InformerError } from "../../../engine/errors/informer_error.ts";
import { checkNames } from "../../../engine/errors/option_names.ts";
import type { Lister } from "../../../engine/informer/cache/lister.ts";
import type { AddedEvent, ObjectEvent } from "../../../engine/informer/events/event.ts";
import type { IndexedCollection, ReadableCollection } from "../../../engine/informer/readable_collection.ts";
import type { CustomResourceDefinition } from "../../../engine/kinds/apiextensions/v1.ts";
import type { DaemonSet, Deployment, ReplicaSet, StatefulSet } from "../../../engine/kinds/apps/v1.ts";
import type { Job } from "../../../engine/kinds/batch/v1.ts";
import type { PersistentVolumeClaim, Pod, Service } from "../../../engine/kinds/core/v1.ts";

/**
 * Whether an object is ready.
 *
 * - `"ready"`: the object is in the state that its spec wants.
 * - `"progressing"`: its controller works on that, or has not seen the object yet.
 * - `"failed"`: it needs somebody's help, or takes longer than its controller gives it.
 * - `"terminating"`: it is being deleted, or a controller has announced that (a pod's condition `DisruptionTarget`).
 * - `"absent"`: it does not exist.
 */
export type ReadinessState = "ready" | "progressing" | "failed" | "terminating" | "absent";

/** An object's state and the reason for it. */
export interface Readiness {
  /** The state. */
  readonly state: ReadinessState;
  /**
   * The reason in one word, taken from the object or a pod, such as `"ImagePullBackOff"`. If they name none, it is
   * kstatus's word.
   */
  readonly reason: string;
  /** A sentence for people. */
  readonly message: string;
}

/** Judges objects of some kinds, and returns `undefined` for others. `readinessRules()` of `./schema` makes one. */
export type ReadinessRules = (object: KubernetesObject) => Readiness | undefined;

/** Options for {@linkcode readiness}. */
export interface ReadinessOptions {
  /**
   * Rules of your own. They come before those for conditions and kinds, but not before a deletion or a generation that
   * the controller has not seen. @default {no rules}
   */
  readonly rules?: ReadinessRules;
  /**
   * An informer for pods, to look for a workload's failing pods. A progressing workload is `"failed"` if one of its
   * pods fails and matches the current pod template. A failed workload keeps its reason, and adds the pod's to its
   * message. By default, pods are not looked at.
   */
  readonly pods?: { readonly lister: { namespace(name: string): { list(labelSelector: string): readonly Pod[] } } };
}

/** How long a pod may be unschedulable before it has failed, in milliseconds (kstatus `ScheduleWindow`). */
export const SCHEDULING_MS = 15_000;

/**
 * Returns whether an object is ready, and why. It reads the generation, conditions and phase, and for workloads their
 * counts. The guide [Wait until ready](../../../../docs/guides/wait-until-ready.md) has the rules for each kind.
 * `undefined` is `"absent"`.
 *
 * It needs `apiVersion` and `kind`, which objects from a client or an informer have. With `pods`, it compares the
 * selector with the labels on all cached pods in the namespace.
 *
 * @throws {TypeError} if the object is reduced to selected fields or to metadata.
 */
export function readiness<T extends KubernetesObject & Complete>(
  object: T | undefined,
  options: ReadinessOptions = {},
): Readiness {
  checkNames("judge the readiness of an object", options, "pods rules");
  if (object === undefined) return { state: "absent", reason: "NotFound", message: "the object does not exist" };
  const mark = object[reduced];
  if (mark !== undefined && kindOf(object) !== "/Secret") { // which informers keep without data
    throw new ArgumentError(
      `Cannot judge the readiness of an object: it is reduced to ${mark}. Cache complete objects`,
    );
  }
  const own = ofMetadata(object) ?? options.rules?.(object) ?? ofConditions(object) ??
    (RULES[kindOf(object)] ?? ofStatus)(object as never);
  const isFailed = own.state === "failed";
  const asksPods = isFailed || (own.state === "progressing" ? own.reason !== NOT_OBSERVED : own.reason === JOB_RUNS);
  const failure = asksPods && options.pods !== undefined
    ? failureOfPods(object, options.pods, options.rules)
    : undefined;
  if (failure === undefined || !isFailed) return failure ?? own;
  return { ...own, message: `${own.message.replace(/\.$/, "")} (${failure.reason}: ${failure.message})` };
}

/** A condition of any kind. */
interface Seen {
  readonly type?: string;
  readonly status?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly observedGeneration?: number;
}

/** An object that its controller may not have seen yet. */
type Unseen<T extends { readonly spec?: unknown; readonly status?: unknown }> = KubernetesObject & {
  readonly spec?: Partial<T["spec"]>;
  readonly status?: Partial<T["status"]>;
};

const NOT_OBSERVED = "LatestGenerationNotObserved";
const JOB_RUNS = "JobRunning";
/** The update strategy with which a workload updates a pod only when somebody deletes the pod. */
const ON_DELETE = "OnDelete";
/** The value of `progressDeadlineSeconds` that means no deadline. */
const NO_DEADLINE = 2 ** 31 - 1;

/** The rules for kinds, by group and kind. */
const RULES: Readonly<Record<string, (object: never) => Readiness>> = {
  "apps/DaemonSet": ofDaemonSet,
  "apps/Deployment": ofDeployment,
  "apps/ReplicaSet": ofReplicaSet,
  "apps/StatefulSet": ofStatefulSet,
  "batch/Job": ofJob,
  "/PersistentVolumeClaim": ofClaim,
  "/Pod": ofPod,
  "/Service": ofService,
  "apiextensions.k8s.io/CustomResourceDefinition": ofDefinition,
  "argoproj.io/Application": ofApplication,
};

function kindOf({ apiVersion = "", kind = "" }: KubernetesObject): string {
  return `${apiVersion.split("/").at(-2) ?? ""}/${kind}`;
}

function ready(message: string, reason = "Ready"): Readiness {
  return { state: "ready", reason, message };
}

function progressing(reason: string, message: string): Readiness {
  return { state: "progressing", reason, message };
}

/** A state with a condition's reason and message, if the condition has them. */
function by(state: ReadinessState, condition: Seen, reason: string, message: string): Readiness {
  return { state, reason: condition.reason || reason, message: condition.message || message };
}

/** Progressing while `found` is less than `wanted`. */
function fewer(reason: string, found: number, wanted: number, what: string): Readiness | undefined {
  return found < wanted ? progressing(reason, `${found} of ${wanted} ${what}`) : undefined;
}

/** Progressing while replicas wait for their end. */
function extra(found: number, wanted: number): Readiness | undefined {
  return found > wanted ? progressing("ExtraPods", `${found - wanted} extra replicas have not ended yet`) : undefined;
}

/** The conditions in an object of any kind. */
export function conditionsOf(object: KubernetesObject): readonly Seen[] {
  return elementsAt(object, ["status", "conditions"]) as readonly Seen[];
}

function conditionOf(object: KubernetesObject, ...types: readonly string[]): Seen | undefined {
  return conditionsOf(object).find(({ type = "" }) => types.includes(type));
}

function isTrue(condition: Seen | undefined): condition is Seen & { readonly status: "True" } {
  return condition?.status === "True";
}

/** The first condition of these types that is True. */
function trueOf(object: KubernetesObject, ...types: readonly string[]): Seen | undefined {
  return conditionsOf(object).find((it) => isTrue(it) && types.includes(it.type ?? ""));
}

/** Judges an object whose status says nothing yet: it is being deleted, or its controller has not seen it. */
function ofMetadata(object: KubernetesObject): Readiness | undefined {
  const { deletionTimestamp } = object.metadata;
  if (deletionTimestamp) {
    const { finalizers = [] } = object.metadata;
    const waits = finalizers.length === 0 ? "" : `, and waits for ${finalizers.join(", ")}`;
    return { state: "terminating", reason: "Terminating", message: `it is being deleted${waits}` };
  }
  return unobserved(object);
}

/** Applies the conditions for all kinds. */
function ofConditions(object: KubernetesObject): Readiness | undefined {
  const found = trueOf(object, "Reconciling", "Stalled");
  if (found === undefined) return undefined;
  const state = found.type === "Stalled" ? "failed" : "progressing";
  return by(state, found, found.type!, `its condition ${found.type} is True`);
}

/** Progressing if the controller has seen an older generation than the object's, and names it. */
export function unobserved(
  object: KubernetesObject,
  observed: unknown = (object as { readonly status?: Seen }).status?.observedGeneration,
): Readiness | undefined {
  const { generation } = object.metadata;
  // Argo Rollouts writes a text, which was a hash once.
  const seen = typeof observed === "string" && Number(observed) <= (generation ?? 0) ? Number(observed) : observed;
  if (generation === undefined || typeof seen !== "number" || seen === generation) return undefined;
  return progressing(NOT_OBSERVED, `its controller has seen generation ${observed}, but not yet ${generation}`);
}

/** Conditions that an object needs to be ready, and those with which it has failed if they are True. */
const NEEDED =
  ("Ready Available Healthy Synced Accepted Programmed ResolvedRefs Succeeded Established Installed Deployed " +
    "Reconciled AbleToScale ScalingActive DisruptionAllowed").split(" ");
const HARMFUL = /^(?:Degraded|Denied|Failed|Invalid|InvalidSpec|NotReady)$/;
/** The same for kinds that have none of those. */
const ALSO_NEEDED = /(?<!Not)(?:Ready|Available|Healthy|Sync|Synced|Synchronized|Succeeded|Success|Admitted)$/;
const ALSO_HARMFUL = /(?:Failed|(?<!Replica)Failure|Error|ErrorOccurred)$/;
/** Reasons why a condition is not True as the spec wants it: no replicas to scale, a budget without room. */
const INTENDED = ["ScalingDisabled", "InsufficientPods"];
/** Phases, as words in lower case. Objects that run are ready, as a Job is, but not in Argo, where they end. */
const FAILED_PHASE = /fail|error|invalid|degraded|^lost$/;
const BUSY_PHASE = /^(?:pending|unknown|new|queued|scheduled)$|progress$|\b(?!running\b)\w+ing\b/;
const BUSY_IN_ARGO = /^(?:running|paused|inconclusive)$/;

/** Kinds whose controllers always write a status: until then, an object is not ready. */
const AWAITED = ("Node. APIService.apiregistration.k8s.io AnalysisRun.argoproj.io Experiment.argoproj.io " +
  "Rollout.argoproj.io Workflow.argoproj.io HorizontalPodAutoscaler.autoscaling Certificate.cert-manager.io " +
  "CertificateRequest.cert-manager.io ClusterIssuer.cert-manager.io Issuer.cert-manager.io Cluster.cluster.x-k8s.io " +
  "Machine.cluster.x-k8s.io MachineDeployment.cluster.x-k8s.io ClusterSecretStore.external-secrets.io " +
  "ExternalSecret.external-secrets.io SecretStore.external-secrets.io GRPCRoute.gateway.networking.k8s.io " +
  "Gateway.gateway.networking.k8s.io GatewayClass.gateway.networking.k8s.io HTTPRoute.gateway.networking.k8s.io " +
  "Kafka.kafka.strimzi.io KafkaTopic.kafka.strimzi.io KafkaUser.kafka.strimzi.io ScaledJob.keda.sh " +
  "ScaledObject.keda.sh Provider.pkg.crossplane.io PodDisruptionBudget.policy Cluster.postgresql.cnpg.io " +
  "Service.serving.knative.dev PipelineRun.tekton.dev TaskRun.tekton.dev").split(" ");

/** The text of a field in the status. */
function textIn(object: KubernetesObject, path: string): string | undefined {
  return fieldValues(object, ["status", ...path.split(".")])[0] || undefined;
}

/** Judges an object of any kind by its conditions, its phase and its replicas. */
function ofStatus(object: KubernetesObject): Readiness {
  const at = (path: string): readonly Seen[] => elementsAt(object, ["status", ...path.split(".")]) as readonly Seen[];
  const parts = ["listeners", "parents", "ancestors"].flatMap((part) => at(`${part}.conditions`));
  const current = parts.filter((it) => unobserved(object, it.observedGeneration) === undefined); // others may be left over
  const all = [...at("conditions"), ...current.length > 0 ? current : parts].filter((it) =>
    !INTENDED.includes(it.reason!)
  );
  const usual = NEEDED.flatMap((type) => all.filter((it) => it.type === type));
  const isOther = usual.length === 0;
  const needed = isOther ? all.filter(({ type = "" }) => ALSO_NEEDED.test(type)) : usual;
  const harmful = all.find((it) =>
    isTrue(it) && (HARMFUL.test(it.type ?? "") || isOther && ALSO_HARMFUL.test(it.type ?? ""))
  );
  const missing = needed.find((it) => !isTrue(it));
  const isReady = needed[0]?.type === "Ready" && missing === undefined;
  for (const seen of needed) {
    const late = unobserved(object, seen.observedGeneration);
    if (late !== undefined) return late;
  }
  if (harmful !== undefined && !isReady) {
    return unobserved(object, harmful.observedGeneration) ??
      by("failed", harmful, harmful.type!, `its condition ${harmful.type} is True`);
  }
  const [group, kind] = kindOf(object).split("/");
  const phase = isReady ? "" : textIn(object, "phase") ?? textIn(object, "state") ?? "";
  const words = phase.replaceAll(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase();
  const isBusy = BUSY_PHASE.test(words) || group === "argoproj.io" && BUSY_IN_ARGO.test(words);
  const hasFailed = FAILED_PHASE.test(words);
  if (hasFailed || isBusy && missing === undefined) {
    const found = { message: textIn(object, "message"), reason: /^\w+$/.test(phase) ? phase : "" };
    return by(hasFailed ? "failed" : "progressing", found, "NotReady", `its phase is ${phase}`);
  }
  if (missing !== undefined) {
    const state = missing.type === "Succeeded" && missing.status === "False" ? "failed" : "progressing";
    return by(state, missing, "NotReady", `its condition ${missing.type} is ${missing.status}`);
  }
  if (needed.length > 0) return by("ready", needed[0], "Ready", "nothing says that it is not ready");
  const [wanted] = fieldValues(object, ["spec", "replicas"]);
  const isSilent = all.length === 0 && phase === "" && textIn(object, "observedGeneration") === undefined;
  return fewer("LessReady", Number(textIn(object, "readyReplicas")), Number(wanted), "replicas are ready") ??
    (isSilent && AWAITED.includes(`${kind}.${group}`)
      ? progressing("NotObserved", "its controller has not written its status yet")
      : ready("nothing says that it is not ready"));
}

function ofApplication(object: KubernetesObject): Readiness {
  const [health = "Unknown", sync = "Unknown"] = [textIn(object, "health.status"), textIn(object, "sync.status")];
  const message = textIn(object, "health.message");
  if (health === "Degraded") return by("failed", { message }, health, "its resources are degraded");
  if (health !== "Healthy") return by("progressing", { message }, health, `its health is ${health}`);
  if (sync !== "Synced") return progressing(sync, `it is ${sync}`);
  return textIn(object, "operationState.phase") === "Running"
    ? progressing("Syncing", "its operation runs")
    : ready("it is healthy and synced");
}

/** A workload whose replicas or ReplicaSet cannot be created is progressing, for its controller's reason. */
function withReplicaFailure(object: KubernetesObject, found: Readiness): Readiness {
  const failure = conditionsOf(object).find((it) =>
    it.type === "ReplicaFailure" ? isTrue(it) : it.reason === "ReplicaSetCreateError"
  );
  if (found.state !== "progressing" || failure === undefined) return found;
  return by("progressing", failure, "ReplicaFailure", "pods cannot be made or deleted");
}

function ofDeployment(object: Unseen<Deployment>): Readiness {
  const { replicas: wanted = 1, progressDeadlineSeconds = NO_DEADLINE, paused = false } = object.spec ?? {};
  const { replicas = 0, updatedReplicas = 0, readyReplicas = 0, availableReplicas = 0 } = object.status ?? {};
  const progress = conditionOf(object, "Progressing");
  if (progress?.reason === "ProgressDeadlineExceeded") {
    return by("failed", progress, "", "it has made no progress within progressDeadlineSeconds");
  }
  // While it is paused, its condition says DeploymentPaused, whether its new ReplicaSet is available or not.
  const isDone = paused || progressDeadlineSeconds === NO_DEADLINE ||
    (isTrue(progress) && progress.reason === "NewReplicaSetAvailable");
  const old = fewer("LessUpdated", updatedReplicas, wanted, "replicas are updated") ?? extra(replicas, wanted);
  const found = fewer("LessReplicas", replicas, wanted, "replicas exist") ??
    (old && paused ? progressing("DeploymentPaused", `its rollout is paused: ${old.message}`) : old) ??
    fewer("LessAvailable", availableReplicas, updatedReplicas, "updated replicas are available") ??
    fewer("LessReady", readyReplicas, wanted, "replicas are ready") ??
    (isDone ? undefined : progressing("ReplicaSetNotAvailable", "its new ReplicaSet is not available yet")) ??
    (isTrue(conditionOf(object, "Available"))
      ? undefined
      : progressing("DeploymentNotAvailable", "it is not available yet"));
  return withReplicaFailure(object, found ?? ready(`${replicas} replicas are available`));
}

function ofReplicaSet(object: Unseen<ReplicaSet>): Readiness {
  const { replicas: wanted = 1 } = object.spec ?? {};
  const { replicas = 0, readyReplicas = 0, availableReplicas = 0, fullyLabeledReplicas = 0 } = object.status ?? {};
  const failure = conditionOf(object, "ReplicaFailure");
  const found = (isTrue(failure) ? progressing("ReplicaFailure", "") : undefined) ??
    fewer("LessLabelled", fullyLabeledReplicas, wanted, "replicas have the labels of the template") ??
    fewer("LessAvailable", availableReplicas, wanted, "replicas are available") ??
    fewer("LessReady", readyReplicas, wanted, "replicas are ready") ??
    extra(replicas, wanted);
  return withReplicaFailure(object, found ?? ready(`${replicas} replicas are available`));
}

function ofStatefulSet({ spec = {}, status = {} }: Unseen<StatefulSet>): Readiness {
  const { replicas: wanted = 1, updateStrategy } = spec;
  const { replicas = 0, readyReplicas = 0, currentReplicas = 0, updatedReplicas = 0 } = status;
  const found = fewer("LessReplicas", replicas, wanted, "replicas exist") ??
    fewer("LessReady", readyReplicas, wanted, "replicas are ready") ??
    extra(replicas, wanted);
  if (found !== undefined) return found;
  if (updateStrategy?.type === ON_DELETE) return ready(`${replicas} replicas are ready`);
  const partition = updateStrategy?.rollingUpdate?.partition;
  if (partition !== undefined) {
    return fewer("PartitionRollout", updatedReplicas, wanted - partition, "replicas of the partition are updated") ??
      ready(`${updatedReplicas} replicas are updated, as its partition wants`);
  }
  return fewer("LessCurrent", currentReplicas, wanted, "replicas are current") ??
    (status.currentRevision === status.updateRevision
      ? ready(`${replicas} replicas are ready`)
      : progressing("RevisionMismatch", "not all replicas have the newest revision"));
}

function ofDaemonSet({ metadata, spec, status }: Unseen<DaemonSet>): Readiness {
  if (metadata.generation === undefined) return progressing("NoGeneration", "it has no generation");
  if (status?.observedGeneration === undefined) {
    return progressing("NoObservedGeneration", "its controller has not seen it");
  }
  const { desiredNumberScheduled: wanted, currentNumberScheduled = 0, updatedNumberScheduled = 0 } = status;
  const { numberAvailable = 0, numberReady = 0 } = status;
  if (wanted === undefined) return progressing("NoDesiredNumber", "the number of its pods is not known yet");
  return fewer("LessCurrent", currentNumberScheduled, wanted, "nodes have a pod") ??
    (spec?.updateStrategy?.type === ON_DELETE
      ? undefined
      : fewer("LessUpdated", updatedNumberScheduled, wanted, "pods are updated")) ??
    fewer("LessAvailable", numberAvailable, wanted, "pods are available") ??
    fewer("LessReady", numberReady, wanted, "pods are ready") ??
    ready(`${wanted} pods are available`);
}

function ofJob(object: Unseen<Job>): Readiness {
  const { succeeded = 0, active = 0, failed = 0, startTime } = object.status ?? {};
  const counts = `${succeeded} pods have succeeded, ${active} are active, ${failed} have failed`;
  // The controller announces either end, and then waits until the Job's pods have ended.
  const failure = trueOf(object, "Failed", "FailureTarget");
  if (failure !== undefined) return by("failed", failure, "JobFailed", counts);
  const success = trueOf(object, "Complete", "SuccessCriteriaMet");
  if (success !== undefined) return ready(counts, success.type);
  if (object.spec?.suspend && trueOf(object, "Suspended")) return ready("it is suspended", "Suspended");
  return startTime ? ready(counts, JOB_RUNS) : progressing("JobNotStarted", "it has not started");
}

function ofClaim({ status }: Unseen<PersistentVolumeClaim>): Readiness {
  const { phase = "unknown" } = status ?? {};
  if (phase === "Lost") return { state: "failed", reason: phase, message: "it has lost its volume" };
  return phase === "Bound" ? ready("it is bound", phase) : progressing("NotBound", `its phase is ${phase}`);
}

function ofService({ spec, status }: Unseen<Service>): Readiness {
  if (spec?.type !== "LoadBalancer") return ready("it has what its type needs");
  if (!spec.clusterIP) return progressing("NoIPAssigned", "its type is LoadBalancer, but it has no cluster IP yet");
  return fewer("NoAddress", status?.loadBalancer?.ingress?.length ?? spec.externalIPs?.length ?? 0, 1, "addresses") ??
    ready("it has an address");
}

function ofDefinition(object: Unseen<CustomResourceDefinition>): Readiness {
  const names = conditionOf(object, "NamesAccepted");
  if (names?.status === "False") return by("failed", names, "NamesNotAccepted", "its names are not accepted");
  const established = conditionOf(object, "Established");
  if (isTrue(established)) return ready("it is served", "Established");
  if (established?.status === "False" && established.reason !== "Installing") {
    return by("failed", established, "NotEstablished", "it is not served");
  }
  return progressing("Installing", "it is not served yet");
}

/** Reasons for which a container waits until somebody fixes the cause. */
const FAILURES: readonly unknown[] = (
  "CrashLoopBackOff CreateContainerConfigError CreateContainerError ErrImageNeverPull ImageInspectError " +
  "ImagePullBackOff InvalidImageName RunContainerError"
).split(" ");

function ofPod(pod: Unseen<Pod>): Readiness {
  const { phase = "", initContainerStatuses = [], containerStatuses = [] } = pod.status ?? {};
  const containers = [...initContainerStatuses, ...containerStatuses];
  const condition = conditionOf(pod, "Ready");
  if (phase === "Succeeded") return ready("its containers have succeeded", "Completed");
  if (phase === "Failed") {
    const failed = containers.find(({ state }) => (state?.terminated?.exitCode ?? 0) !== 0);
    const { reason = "Failed", exitCode = 0 } = failed?.state?.terminated ?? {};
    const message = failed ? `container ${failed.name} has ended with code ${exitCode}` : "it has failed";
    return by("failed", pod.status as Seen, reason, message);
  }
  const doomed = trueOf(pod, "DisruptionTarget");
  if (doomed !== undefined) return by("terminating", doomed, "DisruptionTarget", "it is about to be deleted");
  if (phase === "Running" && isTrue(condition)) return ready("its containers are ready");
  const waits = containers.filter(({ state }) => state?.waiting?.reason);
  const failing = waits.find(({ state }) => FAILURES.includes(state!.waiting!.reason));
  const waiting = failing ?? waits[0];
  const of = waiting &&
    by(failing ? "failed" : "progressing", waiting.state!.waiting!, "", waiting.state!.waiting!.reason!);
  const container = of && { ...of, message: `container ${waiting.name}: ${of.message}` };
  const scheduled = conditionOf(pod, "PodScheduled");
  if (phase === "Pending" && scheduled?.status === "False") return ofScheduling(pod, scheduled);
  if (container !== undefined) return container;
  if (phase === "Running") {
    return by("progressing", condition ?? {}, "PodRunningNotReady", "it is running, but not ready");
  }
  return phase === "Pending"
    ? progressing("PodPending", "its containers have not started")
    : progressing("PodNotObserved", phase === "" ? "it has no phase yet" : `its phase is ${phase}`);
}

function ofScheduling({ metadata }: KubernetesObject, condition: Seen): Readiness {
  const isLate = !(Date.now() - Date.parse(metadata.creationTimestamp) < SCHEDULING_MS);
  const state = condition.reason === "Unschedulable" && isLate ? "failed" : "progressing";
  return by(state, condition, "PodNotScheduled", "it has no node yet");
}

/** By version of a pod, a template that it does not match: a workload's uid and generation, or else the workload. */
const OTHERS = new WeakMap<Pod, string | KubernetesObject>();

/**
 * The failure of one of a workload's pods. Pods from an older template have the same labels, so a pod counts only if it
 * matches the current template. A pod that has ended with a failure is replaced, and does not count.
 */
function failureOfPods(
  object: KubernetesObject,
  { lister }: NonNullable<ReadinessOptions["pods"]>,
  rules: ReadinessRules | undefined,
): Readiness | undefined {
  const { selector, template } = (object as Unseen<Deployment>).spec ?? {};
  if (selector === undefined || template === undefined) return undefined;
  const { matchLabels, matchExpressions } = selector;
  const labels = String(LabelSelector.from(defined({ matchLabels, matchExpressions })));
  if (labels === "") return undefined; // a map, as older kinds have it, or no pods at all
  const { metadata: { labels: templateLabels, annotations } = {}, spec: { containers, initContainers, volumes } = {} } =
    template;
  const wanted = { metadata: { labels: templateLabels, annotations }, spec: { containers, initContainers, volumes } };
  const { uid, generation, namespace = "" } = object.metadata;
  const version = generation === undefined ? object : `${uid} ${generation}`;
  for (const pod of lister.namespace(namespace).list(labels)) {
    if (pod.status?.phase === "Failed" || OTHERS.get(pod) === version) continue;
    const found = hasAll(pod, wanted) ? readiness(pod, { rules }) : undefined;
    if (found === undefined) OTHERS.set(pod, version);
    else if (found.state === "failed") return { ...found, message: `pod ${pod.metadata.name}: ${found.message}` };
  }
  return undefined;
}

/**
 * True if `value` contains `part`. Objects must have the same members, lists the same scalars in their places, and
 * items in any place.
 */
function hasAll(value: unknown, part: unknown): boolean {
  if (typeof part !== "object" || part === null) return (part ?? undefined) === undefined || value === part;
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(part)) {
    const items = Array.isArray(value) ? value : [];
    return part.every((item, i) => typeof item === "object" ? items.some((it) => hasAll(it, item)) : items[i] === item);
  }
  const members = value as Readonly<Record<string, unknown>>;
  return Object.entries(part).every(([name, member]) => hasAll(members[name], member));
}

/** Options for {@linkcode untilReady}. */
export interface UntilReadyOptions extends Abortable {
  /** If `true`, the wait ends as soon as the object has failed, though it may recover. @default {false} */
  readonly failFast?: boolean;
  /** A running informer for pods, to look for a workload's failing pods. By default, pods are not looked at. */
  readonly pods?: Pick<IndexedCollection<Pod>, "lister" | "addEventHandler">;
  /** Rules of your own, as for {@linkcode readiness}. @default {no rules} */
  readonly rules?: ReadinessRules;
}

/**
 * A wait ended before the object was ready. The message has the object's last state and the reason. If the signal ended
 * the wait, it also says how long the wait took.
 */
export class NotReadyError extends InformerError {
  /** `"NotReadyError"`. */
  override readonly name = "NotReadyError";
  /** The object's key. */
  readonly key: ObjectKey;
  /** The object's last state. */
  readonly readiness: Readiness;

  /** Creates an error about the object with `key`. `waitedMs` is how long the wait took. */
  constructor(key: ObjectKey, readiness: Readiness, options: ErrorOptions & { readonly waitedMs?: number } = {}) {
    const { state, reason, message } = readiness;
    const { waitedMs } = options;
    const after = waitedMs === undefined ? "" : ` after ${humanDuration(waitedMs)}`;
    super(`"${key}" is not ready${after}: ${state}, ${reason}: ${message}`, options);
    this.key = key;
    this.readiness = readiness;
  }
}

/**
 * Waits until an object is ready, as {@linkcode readiness} decides, and resolves with it. The object need not exist
 * yet. If it is deleted and created again, the wait continues.
 *
 * Pass an informer or a subscription to a relay. With `failFast` and `pods`, it also looks at changes to pods in the
 * object's namespace.
 *
 * @throws {NotReadyError} if the signal aborts, with the last state. With `failFast`, if the object has failed.
 * @throws {WaitError} if the signal aborts before the cache has synced, or the collection stops.
 * @throws {TypeError} if the collection's objects are reduced.
 *
 * @example
 * ```ts
 * import { Client, SharedIndexInformer } from "@kube/informer";
 * import { Pod } from "@kube/informer/kinds/core/v1";
 * import { NotReadyError, untilReady } from "@kube/informer/readiness";
 * import { FakeApiServer, pod } from "@kube/informer/testing";
 * import { assertRejects } from "@std/assert";
 *
 * const server = new FakeApiServer();
 * server.create(Pod, pod({ name: "web-0", namespace: "shop", phase: "Failed" }));
 * using client = new Client({ server: "http://fake", transport: server });
 * await using pods = new SharedIndexInformer(client.resource(Pod));
 * pods.run();
 * await assertRejects(() => untilReady(pods, "shop/web-0", { failFast: true }), NotReadyError, "failed");
 * ```
 */
export async function untilReady<T extends KubernetesObject & Complete>(
  collection: ReadableCollection<T> & { readonly lister: Lister<T> },
  key: ObjectKey,
  options: UntilReadyOptions = {},
): Promise<T> {
  checkNames("wait until an object is ready", options, "failFast pods rules signal");
  const { signal, failFast = false, pods, rules } = options;
  const beganMs = monotonicMs();
  using job = new DerivedController(signal);
  using timer = new LongTimer(() => again());
  const isReady = (object: T | undefined): boolean => {
    const found = readiness(object, { pods, rules });
    if (failFast && found.state === "failed") throw new NotReadyError(key, found);
    if (failFast) timer.arm(SCHEDULING_MS); // an unschedulable pod fails without a change
    return found.state === "ready";
  };
  const again = (): void => {
    try {
      isReady(collection.lister.get(key));
    } catch (error) {
      if (!(error instanceof DecodeError)) job.abort(error); // of an object that cannot be read, the cache reports that
    }
  };
  if (failFast && pods !== undefined) {
    const { namespace } = splitKey(key);
    const look = (event: ObjectEvent<Pod>): void => event.namespace === namespace ? again() : undefined;
    const onAdd = (event: AddedEvent<Pod>): void => event.initial ? undefined : look(event);
    pods.addEventHandler({ onAdd, onUpdate: look, onSynced: again }, { name: "untilReady", signal: job.signal });
  }
  try {
    return await collection.until(isReady, { key, signal: job.signal });
  } catch (error) {
    if (job.signal.reason instanceof NotReadyError) throw job.signal.reason;
    if (!signal?.aborted || !collection.hasSynced) throw error;
    const waitedMs = monotonicMs() - beganMs;
    const late = new NotReadyError(key, readiness(collection.lister.get(key), { pods, rules }), {
      cause: error,
      waitedMs,
    });
    // The state is known to be the last one only while the cache follows its server.
    if (errorName(signal.reason) === "TimeoutError" && collection.status().state === "live") COMPLETE.add(late);
    throw late;
  }
}
