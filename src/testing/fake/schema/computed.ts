/**
 * Defaults that the server computes from other fields.
 *
 * {@linkcode COMPUTED} is the entry point, by the name of the type. Constant defaults are in
 * the generated schemas.
 *
 * @module
 */
import { base64Of } from "../../../engine/api/object.ts";
import { isList, isObject, type Json, type JsonObject, type MutableJson } from "../../../engine/api/json.ts";
import { objectOr, objectsOf, textOf } from "../../../engine/api/members.ts";
import { JOB_LABELS } from "./rules_workloads.ts";
import { memberObject, memberObjects } from "./members.ts";

/** Fills in members of an object of one type that follow from its other members, or from those that were given. */
type Compute = (object: MutableJson, given: JsonObject) => void;

/** Returns what fills in the parameters of rolling updates, where pods are replaced so. */
function rolling(parameters: JsonObject): Compute {
  return (strategy) => {
    if (strategy.type === "RollingUpdate") strategy.rollingUpdate ??= { ...parameters };
  };
}

const job: Compute = (job) => {
  const spec = memberObject(job, "spec");
  const metadata = memberObject(job, "metadata");
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
  if (!isList(spec.volumeClaimTemplates)) return;
  spec.volumeClaimTemplates = objectsOf(spec.volumeClaimTemplates).map(({ status, ...claim }) => ({
    ...claim,
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    status: { phase: "Pending", ...objectOr(status) },
  }));
};

const definition: Compute = (spec) => {
  const names = memberObject(spec, "names");
  const kind = textOf(names.kind);
  if (kind === "") return;
  names.singular ??= kind.toLowerCase();
  names.listKind ??= `${kind}List`;
};

/** Members that the defaulting of workloads, rights, networks and definitions computes, by the name of the type. */
const WORKLOAD_DEFAULTS: Readonly<Record<string, Compute>> = {
  "apiextensions/v1.CustomResourceDefinitionSpec": definition,
  "apps/v1.DaemonSetUpdateStrategy": rolling({ maxUnavailable: 1, maxSurge: 0 }),
  "apps/v1.DeploymentStrategy": rolling({ maxUnavailable: "25%", maxSurge: "25%" }),
  "apps/v1.StatefulSetSpec": statefulSet,
  "apps/v1.StatefulSetUpdateStrategy": (strategy, given) => {
    if ((given.type ?? "") === "") strategy.rollingUpdate ??= { partition: 0, maxUnavailable: 1 };
  },
  "batch/v1.Job": job,
  "meta/v1.ObjectMeta": (metadata) => {
    const owners = objectsOf(metadata.ownerReferences);
    if (owners.length < 2) return;
    const seen = new Set<string>();
    metadata.ownerReferences = owners.filter((one) =>
      seen.size < seen.add(JSON.stringify(Object.entries(one).sort())).size
    );
  },
  "networking/v1.NetworkPolicySpec": (spec) => {
    if (isList(spec.policyTypes)) return;
    spec.policyTypes = objectsOf(spec.egress).length > 0 ? ["Ingress", "Egress"] : ["Ingress"];
  },
  "rbac/v1.Subject": (subject) => {
    if (subject.kind === "User" || subject.kind === "Group") subject.apiGroup ??= "rbac.authorization.k8s.io";
  },
};

/** Gives a new job its selector and labels, as its registry does. */
export function prepareJob(job: MutableJson): void {
  const spec = memberObject(job, "spec");
  if (spec.manualSelector === true) return;
  const metadata = memberObject(job, "metadata");
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
}

/** Sets the pull policy by the tag of an image. */
const PATH = "[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*";
/** A reference to an image; a text that is none has no tag. */
const IMAGE = new RegExp(
  `^(?:[\\w.-]+(?::\\d+)?/)?${PATH}(?:/${PATH})*(?::(\\w[\\w.-]*))?(@[\\w.+-]+:[0-9a-fA-F]{32,})?$`,
);

function pullPolicy(image: string, policy: string): Compute {
  return (object) => {
    const [found, tag, digest] = IMAGE.exec(textOf(object[image])) ?? [];
    const isLatest = found !== undefined && (tag === "latest" || (tag === undefined && digest === undefined));
    object[policy] ||= isLatest ? "Always" : "IfNotPresent";
  };
}

/** Adds what `more` has and a map has not, in the order in which Go writes maps. */
function filled(map: Json | undefined, more: Json | undefined): JsonObject {
  return Object.fromEntries(Object.entries({ ...objectOr(more), ...objectOr(map) }).sort(([a], [b]) => a < b ? -1 : 1));
}

function pod(object: MutableJson): void {
  const spec = memberObject(object, "spec");
  spec.enableServiceLinks ??= true;
  for (const container of [...memberObjects(spec.containers), ...memberObjects(spec.initContainers)]) {
    const resources = container.resources as MutableJson;
    if (isObject(resources.limits)) resources.requests = filled(resources.requests, resources.limits);
    if (spec.hostNetwork !== true) continue;
    for (const port of memberObjects(container.ports)) port.hostPort ||= port.containerPort;
  }
}

function podStatus(status: MutableJson): void {
  const [first] = memberObjects(status.podIPs);
  if (!status.podIP) {
    if (first !== undefined) status.podIP = first.ip;
  } else if (first?.ip !== status.podIP) status.podIPs = [{ ip: status.podIP }];
}

/** True for a Service that can be reached from outside. */
function isExternallyAccessible({ type, externalIPs }: JsonObject): boolean {
  return type === "LoadBalancer" || type === "NodePort" ||
    (type !== "ExternalName" && isList(externalIPs) && externalIPs.length > 0);
}

function service(spec: MutableJson): void {
  if (spec.sessionAffinity !== "ClientIP") {
    if ((spec.sessionAffinity ?? "None") === "None") delete spec.sessionAffinityConfig;
  } else if (objectOr(objectOr(spec.sessionAffinityConfig).clientIP).timeoutSeconds === undefined) {
    spec.sessionAffinityConfig = { clientIP: { timeoutSeconds: 10_800 } };
  }
  for (const port of memberObjects(spec.ports)) port.targetPort ||= port.port;
  if (isExternallyAccessible(spec)) spec.externalTrafficPolicy ||= "Cluster";
  if (["ClusterIP", "NodePort", "LoadBalancer", undefined].includes(spec.type as string | undefined)) {
    spec.internalTrafficPolicy ??= "Cluster";
  }
  if (spec.type === "LoadBalancer") spec.allocateLoadBalancerNodePorts ??= true;
}

function secret(object: MutableJson): void {
  const texts = Object.entries(objectOr(object.stringData));
  delete object.stringData;
  if (texts.length === 0) return;
  const added = texts.map(([key, text]) => [key, base64Of(textOf(text))]);
  object.data = { ...objectOr(object.data), ...Object.fromEntries(added) };
}

/** The defaults of objects of the core group that follow from other members, by the name of the type. */
const CORE_COMPUTED: Readonly<Record<string, Compute>> = {
  "core/v1.Container": pullPolicy("image", "imagePullPolicy"),
  "core/v1.EphemeralContainer": pullPolicy("image", "imagePullPolicy"),
  "core/v1.ImageVolumeSource": pullPolicy("reference", "pullPolicy"),
  "core/v1.Volume": (volume) => {
    if (Object.keys(volume).every((key) => key === "name")) volume.emptyDir = {};
  },
  "core/v1.PodSpec": (spec) => {
    const name = spec.serviceAccountName || spec.serviceAccount;
    if (name) spec.serviceAccountName = spec.serviceAccount = name;
  },
  "core/v1.Pod": pod,
  "core/v1.PodStatus": podStatus,
  "core/v1.ServiceSpec": service,
  "core/v1.LoadBalancerIngress": (ingress) => {
    if (ingress.ip) ingress.ipMode ??= "VIP";
  },
  "core/v1.Secret": secret,
  "core/v1.Namespace": ({ metadata }) => {
    const { name, labels } = objectOr(metadata);
    if (name) (metadata as MutableJson).labels = { ...objectOr(labels), "kubernetes.io/metadata.name": name };
  },
  "core/v1.NodeStatus": (status) => {
    if (isObject(status.capacity)) status.allocatable ??= { ...status.capacity };
  },
  "core/v1.PersistentVolume": ({ spec }) => {
    const volume = spec as MutableJson;
    volume.persistentVolumeReclaimPolicy ||= "Retain";
    volume.volumeMode ??= "Filesystem";
  },
};

/** The defaults that the server computes, by the name of the type; constant defaults are in the schemas. */
export const COMPUTED: Readonly<Record<string, Compute>> = { ...CORE_COMPUTED, ...WORKLOAD_DEFAULTS };
