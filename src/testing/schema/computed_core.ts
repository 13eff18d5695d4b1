import { parseQuantity } from "../../api/quantity.ts";
import { isObject, type Json, type JsonObject, type MutableJson, objectOr, textOf } from "../wire/json.ts";
import type { Compute } from "./checks.ts";

/** The elements of a list that was decoded; the caller owns them. */
function listOf(value: Json | undefined): readonly MutableJson[] {
  return Array.isArray(value) ? value as MutableJson[] : [];
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

/** Adds what `more` has and a map has not. */
function filled(map: Json | undefined, more: Json | undefined): JsonObject {
  return { ...objectOr(more), ...objectOr(map) };
}

function pod(object: MutableJson): void {
  const spec = object.spec as MutableJson;
  if (Number(spec.terminationGracePeriodSeconds) < 0) spec.terminationGracePeriodSeconds = 1;
  spec.enableServiceLinks ??= true;
  for (const container of [...listOf(spec.containers), ...listOf(spec.initContainers)]) {
    const resources = container.resources as MutableJson;
    if (isObject(resources.limits)) resources.requests = filled(resources.requests, resources.limits);
    if (spec.hostNetwork !== true) continue;
    for (const port of listOf(container.ports)) port.hostPort ||= port.containerPort;
  }
}

function podStatus(status: MutableJson): void {
  const [first] = listOf(status.podIPs);
  if (!status.podIP) {
    if (first !== undefined) status.podIP = first.ip;
  } else if (first?.ip !== status.podIP) status.podIPs = [{ ip: status.podIP }];
}

/** True for a Service that can be reached from outside. */
export function isExternallyAccessible({ type, externalIPs }: JsonObject): boolean {
  return type === "LoadBalancer" || type === "NodePort" ||
    (type !== "ExternalName" && Array.isArray(externalIPs) && externalIPs.length > 0);
}

function service(spec: MutableJson): void {
  if (spec.sessionAffinity !== "ClientIP") {
    if ((spec.sessionAffinity ?? "None") === "None") delete spec.sessionAffinityConfig;
  } else if (objectOr(objectOr(spec.sessionAffinityConfig).clientIP).timeoutSeconds === undefined) {
    spec.sessionAffinityConfig = { clientIP: { timeoutSeconds: 10_800 } };
  }
  for (const port of listOf(spec.ports)) port.targetPort ||= port.port;
  if (isExternallyAccessible(spec)) spec.externalTrafficPolicy ||= "Cluster";
  if (["ClusterIP", "NodePort", "LoadBalancer", undefined].includes(spec.type as string | undefined)) {
    spec.internalTrafficPolicy ??= "Cluster";
  }
  if (spec.type === "LoadBalancer") spec.allocateLoadBalancerNodePorts ??= true;
}

const UTF8 = new TextEncoder();

function secret(object: MutableJson): void {
  const texts = Object.entries(objectOr(object.stringData));
  delete object.stringData;
  if (texts.length === 0) return;
  const added = texts.map(([key, text]) => [key, btoa(String.fromCharCode(...UTF8.encode(textOf(text))))]);
  object.data = { ...objectOr(object.data), ...Object.fromEntries(added) };
}

function limitRangeItem(item: MutableJson): void {
  if (item.type !== "Container") return;
  const limits = filled(item.default, item.max);
  const requests = filled(filled(item.defaultRequest, limits), item.min);
  if (Object.keys(limits).length > 0) item.default = limits;
  if (Object.keys(requests).length > 0) item.defaultRequest = requests;
}

function replicationController(object: MutableJson): void {
  const spec = object.spec as MutableJson;
  const { labels } = objectOr(objectOr(spec.template).metadata);
  if (!isObject(labels)) return;
  spec.selector ??= labels;
  const metadata = object.metadata as MutableJson;
  metadata.labels ??= labels;
}

/** Rounds resources up to thousandths. */
function rounded(...names: readonly string[]): Compute {
  return (object) => {
    for (const name of names) {
      for (const [key, value] of Object.entries(objectOr(object[name]))) {
        const quantity = parseQuantity(value as string);
        if (quantity.nanos % 1_000_000n === 0n) continue;
        (object[name] as MutableJson)[key] = String(parseQuantity(`${quantity.scaled(-3)}m`));
      }
    }
  };
}

/** The defaults of objects of the core group that follow from other members, by the name of the type. */
export const CORE_COMPUTED: Readonly<Record<string, Compute>> = {
  "core/v1.Container": pullPolicy("image", "imagePullPolicy"),
  "core/v1.EphemeralContainer": pullPolicy("image", "imagePullPolicy"),
  "core/v1.ImageVolumeSource": pullPolicy("reference", "pullPolicy"),
  "core/v1.Volume": (volume) => {
    if (Object.keys(volume).every((key) => key === "name")) volume.emptyDir = {};
  },
  "core/v1.ResourceRequirements": rounded("limits", "requests"),
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
  "core/v1.NodeSpec": (spec) => {
    const cidrs = spec.podCIDRs as readonly string[] | undefined;
    if (cidrs?.length) spec.podCIDR ||= cidrs[0];
    else if (spec.podCIDR) spec.podCIDRs = [spec.podCIDR];
  },
  "core/v1.NodeStatus": (status) => {
    if (isObject(status.capacity)) status.allocatable ??= { ...status.capacity };
  },
  "core/v1.PersistentVolumeSpec": (spec) => void (spec.volumeMode ??= "Filesystem"),
  "core/v1.LimitRangeItem": limitRangeItem,
  "core/v1.PersistentVolume": ({ spec }) => {
    const volume = spec as MutableJson;
    volume.persistentVolumeReclaimPolicy ||= "Retain";
    volume.volumeMode ??= "Filesystem";
  },
  "core/v1.ReplicationController": replicationController,
};
