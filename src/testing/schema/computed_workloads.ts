import { equalJson, isObject, type Json, type JsonObject, type MutableJson, objectOr, textOf } from "../wire/json.ts";
import { type Compute, objectsOf } from "./checks.ts";
import { distinctOwners } from "./metadata.ts";
import { JOB_LABELS } from "./rules_batch.ts";

/** Returns what fills in the parameters of rolling updates, where pods are replaced so. */
function rolling(parameters: JsonObject): Compute {
  return (strategy) => {
    if (strategy.type === "RollingUpdate") strategy.rollingUpdate ??= { ...parameters };
  };
}

const SCALE_UP = [{ type: "Pods", value: 4, periodSeconds: 15 }, { type: "Percent", value: 100, periodSeconds: 15 }];
const SCALE_DOWN = [{ type: "Percent", value: 100, periodSeconds: 15 }];

const behavior: Compute = (behavior, given) => {
  const fill = (name: string, policies: Json, others: JsonObject): void => {
    const rules = objectOr(behavior[name]);
    const isGiven = Array.isArray(objectOr(given[name]).policies);
    behavior[name] = { ...others, ...rules, ...(isGiven ? {} : { policies }) };
  };
  fill("scaleUp", SCALE_UP, { stabilizationWindowSeconds: 0 });
  fill("scaleDown", SCALE_DOWN, {});
};

const job: Compute = (job) => {
  const spec = job.spec as MutableJson;
  const metadata = job.metadata as MutableJson;
  if (spec.completions === undefined && spec.parallelism === undefined) spec.completions = 1;
  spec.parallelism ??= 1;
  spec.backoffLimit ??= spec.backoffLimitPerIndex === undefined ? 6 : 2 ** 31 - 1;
  spec.completionMode ??= "NonIndexed";
  spec.suspend ??= false;
  spec.podReplacementPolicy ??= spec.podFailurePolicy === undefined ? "TerminatingOrFailed" : "Failed";
  spec.manualSelector ??= false;
  const { labels } = objectOr(objectOr(spec.template).metadata);
  if (labels !== undefined && Object.keys(objectOr(metadata.labels)).length === 0) metadata.labels = labels;
};

const statefulSet: Compute = (spec) => {
  if (!Array.isArray(spec.volumeClaimTemplates)) return;
  spec.volumeClaimTemplates = objectsOf(spec.volumeClaimTemplates).map(({ status, ...claim }) => ({
    ...claim,
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    status: { phase: "Pending", ...objectOr(status) },
  }));
};

const definition: Compute = (spec) => {
  const names = spec.names as MutableJson;
  const kind = textOf(names.kind);
  if (kind === "") return;
  names.singular ??= kind.toLowerCase();
  names.listKind ??= `${kind}List`;
};

const countDevices: Compute = (request) => {
  if (request.allocationMode === "ExactCount") request.count ||= 1;
};

/** Members that the defaulting of workloads, rights, networks and definitions computes, by the name of the type. */
export const WORKLOAD_DEFAULTS: Readonly<Record<string, Compute>> = {
  "apiextensions/v1.CustomResourceDefinitionSpec": definition,
  "admissionregistration/v1.MutatingAdmissionPolicySpec": (spec) => void (spec.failurePolicy ??= "Fail"),
  "apps/v1.DaemonSet": (set) => countTemplates(set),
  "apps/v1.DaemonSetUpdateStrategy": rolling({ maxUnavailable: 1, maxSurge: 0 }),
  "apps/v1.DeploymentStrategy": rolling({ maxUnavailable: "25%", maxSurge: "25%" }),
  "apps/v1.StatefulSetSpec": statefulSet,
  "apps/v1.StatefulSetUpdateStrategy": (strategy, given) => {
    if ((given.type ?? "") === "") strategy.rollingUpdate ??= { partition: 0, maxUnavailable: 1 };
  },
  "autoscaling/v2.HorizontalPodAutoscalerBehavior": behavior,
  "batch/v1.Job": job,
  "meta/v1.ObjectMeta": (metadata) => {
    const { ownerReferences } = metadata;
    if (Array.isArray(ownerReferences) && ownerReferences.length > 1) {
      metadata.ownerReferences = distinctOwners(metadata);
    }
  },
  "networking/v1.NetworkPolicySpec": (spec) => {
    if (Array.isArray(spec.policyTypes)) return;
    spec.policyTypes = objectsOf(spec.egress).length > 0 ? ["Ingress", "Egress"] : ["Ingress"];
  },
  "resource/v1.DeviceSubRequest": countDevices,
  "resource/v1.ExactDeviceRequest": countDevices,
  "rbac/v1.Subject": (subject) => {
    if (subject.kind === "User" || subject.kind === "Group") subject.apiGroup ??= "rbac.authorization.k8s.io";
  },
};

/** Changes an object before it is stored, as the registry of its kind does; `old` is undefined for a new one. */
type Prepare = (object: MutableJson, old: JsonObject | undefined) => void;

const prepareJob: Prepare = (job, old) => {
  const spec = job.spec as MutableJson;
  if (old !== undefined || spec.manualSelector === true) return;
  const metadata = job.metadata as MutableJson;
  const template = objectOr(spec.template);
  const labels: MutableJson = { ...objectOr(objectOr(template.metadata).labels) };
  for (const key of JOB_LABELS.name) labels[key] ??= metadata.name;
  for (const key of JOB_LABELS.uid) labels[key] ??= metadata.uid;
  const { matchLabels, ...selector } = objectOr(spec.selector);
  const own = JOB_LABELS.uid[1];
  const isOwn = isObject(matchLabels) && matchLabels[own] !== undefined;
  // Where the labels of the template are those of the job, they are one map.
  if (metadata.labels === undefined || metadata.labels === objectOr(template.metadata).labels) metadata.labels = labels;
  job.spec = {
    ...spec,
    selector: { matchLabels: { ...objectOr(matchLabels), ...(isOwn ? {} : { [own]: metadata.uid }) }, ...selector },
    template: { ...template, metadata: { ...objectOr(template.metadata), labels } },
  };
};

const GENERATION = "deprecated.daemonset.template.generation";

/** The annotation is there before the generation is counted: the creator of the object owns it. */
function countTemplates(set: MutableJson): void {
  const metadata = set.metadata as MutableJson;
  const annotations = objectOr(metadata.annotations);
  if (annotations[GENERATION] === undefined) metadata.annotations = { [GENERATION]: "0", ...annotations };
}

const prepareDaemonSet: Prepare = (set, old) => {
  const metadata = set.metadata as MutableJson;
  const [before, after] = [objectOr(old?.spec).template, objectOr(set.spec).template];
  const last = Number(objectOr(objectOr(old?.metadata).annotations)[GENERATION] ?? 0);
  const generation = old !== undefined && equalJson(before, after) ? last : last + 1;
  metadata.annotations = { [GENERATION]: String(generation), ...objectOr(metadata.annotations) };
  metadata.annotations = { ...metadata.annotations, [GENERATION]: String(generation) };
};

/** Members that the registries of kinds fill in, by the name of the type. */
export const PREPARED: Readonly<Record<string, Prepare>> = {
  "apps/v1.DaemonSet": prepareDaemonSet,
  "batch/v1.Job": prepareJob,
};
