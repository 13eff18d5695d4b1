/**
 * The registries of kube-apiserver, by kind: what a write prepares, keeps and resets.
 *
 * {@linkcode strategyOf} is the entry point; `writer.ts` asks it. Defaults that follow from fields are in
 * `schema/computed.ts`.
 *
 * @module
 */
import { type Causes, forbidden, invalid, invalidField } from "../../../client/protocol/refusal.ts";
import { managedFieldsOf } from "../apply/managed_fields.ts";
import { userInfo } from "../http/exchange.ts";
import { objectsOf, readAddress, refuseValue } from "../schema/checks.ts";
import { familyCauses } from "../schema/rules.ts";
import { qosClass } from "../schema/rules_pod.ts";
import { crdDefaults, type Definition } from "../storage/definition.ts";
import {
  equalJson,
  goJson,
  isObject,
  type Json,
  type JsonObject,
  type MutableJson,
  objectOr,
  textOf,
} from "../wire/json.ts";

const FIRST_ADDRESS = 10;
const ADDRESSES = 0x10000;
/** The first half of the addresses: 10.96. */
const RANGE = 0x0a60n;
const FIRST_PORT = 30_000;
const PORTS = 2_768;

function has({ type = "ClusterIP" }: JsonObject, ...types: readonly string[]): boolean {
  return types.includes(type as string);
}

function hasPorts(spec: JsonObject): boolean {
  return has(spec, "NodePort", "LoadBalancer");
}

function hasHealthPort({ type, externalTrafficPolicy }: JsonObject): boolean {
  return type === "LoadBalancer" && externalTrafficPolicy === "Local";
}

/**
 * Gives Services of requests their addresses and ports: those of 10.96.0.0/16 and from 30000 to 32767, one after the
 * other. What a deleted Service had is free again after the last one.
 */
export class ServiceAddresses {
  #address = FIRST_ADDRESS;
  #port = 0;
  readonly #holders = new Map<string | number, string>();

  /**
   * Completes a new Service.
   *
   * @throws {StatusError} 422 for addresses and ports that cannot be had.
   */
  create(service: MutableJson, dryRun: boolean): void {
    const spec = service.spec as MutableJson;
    if (spec.clusterIP && spec.clusterIPs === undefined) spec.clusterIPs = [spec.clusterIP];
    this.#complete(service, spec, {}, dryRun);
  }

  /**
   * Keeps what a Service has, unless its type does not have it any more.
   *
   * @throws {StatusError} 422 for addresses and ports that cannot be had.
   */
  update(old: JsonObject, service: MutableJson, dryRun: boolean): void {
    const before = objectOr(old.spec);
    const spec = service.spec as MutableJson;
    if (has(before, "ExternalName") || has(spec, "ExternalName")) drop(before, spec, "clusterIP", "clusterIPs");
    else {
      spec.clusterIP ??= before.clusterIP;
      spec.clusterIPs ??= spec.clusterIP === before.clusterIP ? before.clusterIPs : [spec.clusterIP as Json];
    }
    if (has(spec, "ExternalName")) drop(before, spec, "ipFamilies", "ipFamilyPolicy");
    keepPorts(before, spec);
    if (!has(spec, "LoadBalancer")) drop(before, spec, "allocateLoadBalancerNodePorts", "loadBalancerClass");
    if (!hasPorts(spec) && !spec.externalIPs) drop(before, spec, "externalTrafficPolicy");
    if (!hasHealthPort(spec)) drop(before, spec, "healthCheckNodePort");
    else if (hasHealthPort(before)) spec.healthCheckNodePort ??= before.healthCheckNodePort;
    spec.ipFamilyPolicy ??= has(spec, "ExternalName") ? undefined : before.ipFamilyPolicy;
    this.#complete(service, spec, before, dryRun);
    for (const name in spec) if (spec[name] === undefined) delete spec[name];
  }

  #complete(service: MutableJson, spec: MutableJson, before: JsonObject, dryRun: boolean): void {
    const metadata = objectOr(service.metadata);
    const name = textOf(metadata.name);
    const check = (causes: Causes): void => {
      if (causes.length > 0) throw invalid({ group: "", kind: "Service", name }, causes);
    };
    const holder = textOf(metadata.uid);
    if (has(spec, "ExternalName")) delete spec.internalTrafficPolicy;
    else {
      check(familyCauses(spec));
      check(setFamilies(spec));
      if (spec.clusterIP !== "None") check(this.#setAddress(spec, before, holder, dryRun));
    }
    const balances = spec.allocateLoadBalancerNodePorts !== false;
    const byPort = new Map<Json | undefined, number>();
    objectsOf(spec.ports).forEach((port, index) => {
      if (!hasPorts(spec) || (!port.nodePort && has(spec, "LoadBalancer") && !balances)) return;
      const known = byPort.get(port.port);
      const given = Number(port.nodePort ?? 0);
      if (given !== 0 && !dryRun) check(this.#takePort(given, `spec.ports[${index}].nodePort`, before, holder));
      const found = given || known || this.#freePort(holder, dryRun);
      byPort.set(port.port, found);
      (port as MutableJson).nodePort = found;
    });
    if (hasHealthPort(spec) && !spec.healthCheckNodePort) spec.healthCheckNodePort = this.#freePort(holder, dryRun);
  }

  #setAddress(spec: MutableJson, before: JsonObject, holder: string, dryRun: boolean): Causes {
    const causes: Causes = [];
    if (!spec.clusterIP) {
      let address: string;
      do {
        address = `10.96.${this.#address >> 8}.${this.#address & 255}`;
        this.#address = (this.#address + 1) % ADDRESSES || FIRST_ADDRESS;
      } while (this.#holders.has(address));
      if (dryRun) this.#address--;
      else this.#holders.set(address, holder);
      spec.clusterIP = address;
      spec.clusterIPs = [address];
      return causes;
    }
    const address = textOf(spec.clusterIP);
    if (address === before.clusterIP) return causes;
    const other = this.#holders.get(address);
    const why = (readAddress(address)?.value ?? 0n) >> 16n !== RANGE
      ? `the provided IP (${address}) is not in the valid range. The range of valid IPs is 10.96.0.0/16`
      : other !== undefined && other !== holder
      ? "provided IP is already allocated"
      : undefined;
    if (why !== undefined) {
      refuseValue(causes, "spec.clusterIPs", spec.clusterIPs, `failed to allocate IP ${address}: ${why}`);
    } else if (!dryRun) this.#holders.set(address, holder);
    return causes;
  }

  #takePort(port: number, at: string, before: JsonObject, holder: string): Causes {
    if (objectsOf(before.ports).some(({ nodePort }) => nodePort === port)) return [];
    const other = this.#holders.get(port);
    const why = port < FIRST_PORT || port >= FIRST_PORT + PORTS
      ? "provided port is not in the valid range. The range of valid ports is 30000-32767"
      : other !== undefined && other !== holder
      ? "provided port is already allocated"
      : undefined;
    if (why !== undefined) return [invalidField(at, goJson(port), why)];
    this.#holders.set(port, holder);
    return [];
  }

  #freePort(holder: string, dryRun: boolean): number {
    let port: number;
    do {
      port = FIRST_PORT + this.#port;
      this.#port = (this.#port + 1) % PORTS;
    } while (this.#holders.has(port));
    if (dryRun) this.#port = port - FIRST_PORT;
    else this.#holders.set(port, holder);
    return port;
  }

  /** Frees what a Service holds. */
  release(service: JsonObject): void {
    const { clusterIPs, ports, healthCheckNodePort } = objectOr(service.spec);
    const held = [
      ...(Array.isArray(clusterIPs) ? clusterIPs : []),
      ...objectsOf(ports).map(({ nodePort }) => nodePort),
    ];
    const holder = objectOr(service.metadata).uid;
    for (const key of [...held, healthCheckNodePort] as (string | number)[]) {
      if (this.#holders.get(key) === holder) this.#holders.delete(key);
    }
  }
}

/** Removes members that a Service still has from another type. */
function drop(before: JsonObject, spec: MutableJson, ...names: readonly string[]): void {
  for (const name of names) {
    if (JSON.stringify(before[name]) === JSON.stringify(spec[name])) delete spec[name];
  }
}

/** Keeps ports of nodes by the names of ports, or removes them if the type has none. */
function keepPorts(before: JsonObject, spec: MutableJson): void {
  const [old, ports] = [objectsOf(before.ports), objectsOf(spec.ports) as readonly MutableJson[]];
  const portsOf = (list: readonly JsonObject[]): readonly (Json | undefined)[] => list.map(({ nodePort }) => nodePort);
  if (hasPorts(before) && !hasPorts(spec)) {
    if (JSON.stringify(portsOf(old)) === JSON.stringify(portsOf(ports))) {
      for (const port of ports) delete port.nodePort;
    }
  } else if (hasPorts(before)) {
    const used = portsOf(old).filter((port) => port && portsOf(ports).includes(port));
    for (const port of ports) {
      const kept = old.findLast(({ name }) => (name ?? "") === (port.name ?? ""))?.nodePort;
      if (!port.nodePort && kept && !used.includes(kept)) port.nodePort = kept;
    }
  }
}

function setFamilies(spec: MutableJson): Causes {
  const causes: Causes = [];
  const hasSelector = Object.keys(objectOr(spec.selector)).length > 0;
  const isFree = spec.clusterIP === "None" && !hasSelector;
  spec.ipFamilyPolicy ??= isFree ? "RequireDualStack" : "SingleStack";
  const policy = "spec.ipFamilyPolicy";
  const given = Array.isArray(spec.ipFamilies) ? spec.ipFamilies as readonly string[] : [];
  if (spec.ipFamilyPolicy === "SingleStack") {
    for (const [list, what] of [[spec.clusterIPs, "cluster IPs"], [spec.ipFamilies, "IP families"]] as const) {
      if (!Array.isArray(list) || list.length !== 2) continue;
      const why = `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${what} are specified`;
      refuseValue(causes, policy, spec.ipFamilyPolicy, why);
    }
  }
  if (causes.length > 0) return causes;
  if (!isFree) {
    if (spec.ipFamilyPolicy === "RequireDualStack") {
      refuseValue(causes, policy, spec.ipFamilyPolicy, "this cluster is not configured for dual-stack services");
    }
    given.forEach((family, index) => {
      if (family !== "IPv4") refuseValue(causes, `spec.ipFamilies[${index}]`, family, "not configured on this cluster");
    });
    if (given.length === 0) spec.ipFamilies = ["IPv4"];
  } else if (given.length < 2) {
    const [first = "IPv4"] = given;
    const isSingle = spec.ipFamilyPolicy === "SingleStack";
    spec.ipFamilies = isSingle ? [first] : [first, first === "IPv4" ? "IPv6" : "IPv4"];
  }
  return causes;
}

/** The means of preparing a request. */
export interface Surroundings {
  /** The time of the request. */
  readonly time: string;
  /** True if nothing will be written. */
  readonly dryRun: boolean;
  /** The user of the request. */
  readonly user: string;
  /** Gives Services their addresses. */
  readonly addresses: ServiceAddresses;
}

/** The steps of the server's registry and admission plugins with a decoded object before it is checked. */
interface Strategy {
  readonly create?: (object: MutableJson, around: Surroundings) => void;
  readonly update?: (old: JsonObject, object: MutableJson, around: Surroundings) => void;
  /** The same for an update of the status. */
  readonly status?: (old: JsonObject, object: MutableJson, around: Surroundings) => void;
  /** True if a new object may come with its status. */
  readonly keepsStatus?: boolean;
}

const UNWELL = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];

function addTolerations(spec: MutableJson): void {
  const given = objectsOf(spec.tolerations);
  const added = UNWELL.filter((taint) =>
    !given.some(({ key, effect }) => (!key || key === taint) && (!effect || effect === "NoExecute"))
  ).map((key) => ({ key, operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 }));
  if (added.length > 0) spec.tolerations = [...given, ...added];
}

const PRIORITIES: Readonly<Record<string, number>> = {
  "": 0,
  "system-cluster-critical": 2_000_000_000,
  "system-node-critical": 2_000_001_000,
};

function setPriority(spec: MutableJson, name: string): void {
  const priority = PRIORITIES[textOf(spec.priorityClassName)];
  if (priority === undefined) return;
  const deny = (what: string, computed: Json): never => {
    const why = `${what}; priority admission controller computed ${computed} from the given PriorityClass name`;
    throw forbidden({ group: "", plural: "pods" }, name, why);
  };
  if (typeof spec.priority === "number" && spec.priority !== priority) {
    deny(`the integer value of priority (${spec.priority}) must not be provided in pod spec`, priority);
  }
  const policy = spec.preemptionPolicy ??= "PreemptLowerPriority";
  if (policy !== "PreemptLowerPriority") {
    deny(`the string value of PreemptionPolicy (${policy}) must not be provided in pod spec`, "PreemptLowerPriority");
  }
  spec.priority = priority;
}

/** Adds what `matchLabelKeys` stand for to a selector of pods. */
function mergeLabelKeys(term: MutableJson, labels: JsonObject): void {
  const keys = Array.isArray(term.matchLabelKeys) ? term.matchLabelKeys as readonly string[] : [];
  const added = keys.filter((key) => labels[key] !== undefined)
    .map((key) => ({ key, operator: "In", values: [labels[key] as Json] }));
  if (added.length === 0 || !isObject(term.labelSelector)) return;
  const { matchExpressions } = term.labelSelector;
  term.labelSelector = { ...term.labelSelector, matchExpressions: [...objectsOf(matchExpressions), ...added] };
}

function createPod(object: MutableJson): void {
  const metadata = objectOr(object.metadata);
  const spec = object.spec as MutableJson;
  addTolerations(spec);
  setPriority(spec, textOf(metadata.name));
  for (const constraint of objectsOf(spec.topologySpreadConstraints)) {
    mergeLabelKeys(constraint as MutableJson, objectOr(metadata.labels));
  }
  const gated = {
    type: "PodScheduled",
    status: "False",
    lastProbeTime: null,
    lastTransitionTime: null,
    reason: "SchedulingGated",
    message: "Scheduling is blocked due to non-empty scheduling gates",
  };
  const conditions = objectsOf(spec.schedulingGates).length === 0 ? {} : { conditions: [gated] };
  object.status = { phase: "Pending", ...conditions, qosClass: qosClass(spec) };
}

function updatePod(old: JsonObject, object: MutableJson): void {
  const spec = object.spec as MutableJson;
  const { priority, preemptionPolicy } = objectOr(old.spec);
  if (priority !== undefined) spec.priority ??= priority;
  if (preemptionPolicy !== undefined) spec.preemptionPolicy ??= preemptionPolicy;
  addTolerations(spec);
}

/** Keeps the quality of service of a pod, which a status may leave out. */
function keepQuality(old: JsonObject, object: MutableJson): void {
  const { qosClass } = objectOr(old.status);
  if (qosClass !== undefined && isObject(object.status)) object.status = { qosClass, ...object.status };
}

function protectedBy(
  finalizer: string,
  status?: (time: string) => JsonObject,
  more?: (object: MutableJson) => void,
): Strategy {
  return {
    create: (object, { time }) => {
      more?.(object);
      const metadata = object.metadata as MutableJson;
      const given = Array.isArray(metadata.finalizers) ? metadata.finalizers as readonly Json[] : [];
      if (!given.includes(finalizer)) metadata.finalizers = [...given, finalizer];
      if (status !== undefined) object.status = status(time);
    },
  };
}

const SOURCES: Readonly<Record<string, string>> = {
  PersistentVolumeClaim: "",
  VolumeSnapshot: "snapshot.storage.k8s.io",
};

/** Keeps the older field of a claim's source in step with the newer one. */
function alignSources(object: MutableJson): void {
  const spec = object.spec as MutableJson;
  const { dataSource, dataSourceRef } = spec;
  if (isObject(dataSource)) {
    const { apiGroup, kind } = dataSource;
    if (SOURCES[textOf(kind)] !== (apiGroup ?? "")) delete spec.dataSource;
    else spec.dataSourceRef ??= { ...dataSource };
  } else if (isObject(dataSourceRef) && !dataSourceRef.namespace) {
    const { apiGroup, kind } = dataSourceRef;
    if (SOURCES[textOf(kind)] === (apiGroup ?? "")) spec.dataSource = { ...dataSourceRef };
  }
}

const NOT_READY = { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" };

/** Leaves the names of a ServiceAccount's secrets. */
function nameSecrets(object: MutableJson): void {
  const secrets = objectsOf(object.secrets);
  if (secrets.length > 0) object.secrets = secrets.map(({ name }) => name === undefined ? {} : { name });
}

/** Keeps the request of a signing request, and gives its new conditions their times. */
function timeConditions(old: JsonObject, object: MutableJson, { time }: Surroundings): void {
  object.spec = old.spec;
  const known = objectsOf(objectOr(old.status).conditions);
  const given = objectsOf(objectOr(object.status).conditions);
  if (given.length === 0) return;
  const conditions = given.map((condition) => {
    const before = known.find(({ type, status }) => type === condition.type && status === condition.status);
    const changed = condition.lastTransitionTime ?? before?.lastTransitionTime ?? time;
    return { ...condition, lastUpdateTime: condition.lastUpdateTime ?? time, lastTransitionTime: changed };
  });
  object.status = { ...objectOr(object.status), conditions };
}

/** Strategies by the name of the type. */
const STRATEGIES: Readonly<Record<string, Strategy>> = {
  "core/v1.Pod": { create: createPod, update: updatePod, status: keepQuality },
  "core/v1.Namespace": {
    create: (object) => {
      const spec = object.spec as MutableJson;
      const given = Array.isArray(spec.finalizers) ? spec.finalizers as readonly Json[] : [];
      spec.finalizers = given.includes("kubernetes") ? given : [...given, "kubernetes"];
      object.status = { phase: "Active" };
      const metadata = object.metadata as MutableJson;
      metadata.labels = { ...objectOr(metadata.labels), "kubernetes.io/metadata.name": metadata.name };
    },
    update: (old, object) => {
      const { finalizers } = objectOr(old.spec);
      object.spec = { ...objectOr(object.spec), ...(finalizers === undefined ? {} : { finalizers }) };
    },
  },
  "core/v1.Node": {
    keepsStatus: true,
    create: (object) => {
      const spec = object.spec as MutableJson;
      const taints = objectsOf(spec.taints);
      const has = taints.some(({ key, effect }) => key === NOT_READY.key && effect === NOT_READY.effect);
      if (!has) spec.taints = [...taints, NOT_READY];
    },
  },
  "core/v1.ServiceAccount": { create: nameSecrets, update: (_, object) => nameSecrets(object) },
  "core/v1.Service": {
    create: (object, { addresses, dryRun }) => addresses.create(object, dryRun),
    update: (old, object, { addresses, dryRun }) => addresses.update(old, object, dryRun),
  },
  "certificates/v1.CertificateSigningRequest": {
    create: (object, { user }) => {
      const { uid: _, extra: __, ...spec } = objectOr(object.spec);
      object.spec = { ...spec, ...userInfo(user) };
    },
    update: timeConditions,
    status: timeConditions,
  },
  "core/v1.PersistentVolumeClaim": protectedBy(
    "kubernetes.io/pvc-protection",
    () => ({ phase: "Pending" }),
    alignSources,
  ),
  "core/v1.PersistentVolume": protectedBy(
    "kubernetes.io/pv-protection",
    (time) => ({ phase: "Pending", lastPhaseTransitionTime: time }),
  ),
  "storage/v1.VolumeAttributesClass": protectedBy("kubernetes.io/vac-protection"),
};

/** Returns the strategy of a type; an empty one where nothing is special. */
export function strategyOf(type: string): Strategy {
  return STRATEGIES[type] ?? {};
}

/** Fills in the defaults of new objects of some kinds, as far as clients depend on them. */
export function setKindDefaults(definition: Definition, object: MutableJson, time: string): void {
  if (definition.custom) return;
  const metadata = object.metadata as MutableJson;
  switch (definition.plural) {
    case "pods":
      object.status = { phase: "Pending", qosClass: "BestEffort", ...objectOr(object.status) };
      return;
    case "namespaces":
      metadata.labels = { ...objectOr(metadata.labels), "kubernetes.io/metadata.name": metadata.name };
      object.spec = { finalizers: ["kubernetes"], ...objectOr(object.spec) };
      object.status ??= { phase: "Active" };
      return;
    case "secrets":
      object.type ??= "Opaque";
      return;
    case "customresourcedefinitions":
      crdDefaults(object, time);
  }
}

/** Kinds whose dependents stay, unless a request says otherwise. */
export const ORPHANING = ["batch/v1.Job", "core/v1.ReplicationController"];
/** Kinds that are marked for deletion without a grace period. */
export const TERMINATING = ["core/v1.Namespace", "apiextensions/v1.CustomResourceDefinition"];

/** Grace period in seconds: 0 for pods that were never scheduled or are finished. */
export function gracePeriod(object: JsonObject, asked: number | undefined): number {
  const spec = objectOr(object.spec);
  const { phase } = objectOr(object.status);
  if (!spec.nodeName || phase === "Succeeded" || phase === "Failed") return 0;
  return asked ?? Number(spec.terminationGracePeriodSeconds ?? 30);
}

/** Returns the finalizers that an object has during its deletion. */
export function withPropagation(finalizers: unknown, policy: string | undefined): string[] {
  const kept = (Array.isArray(finalizers) ? finalizers as string[] : []).filter((finalizer) =>
    policy === undefined || (finalizer !== "foregroundDeletion" && finalizer !== "orphan")
  );
  if (policy === "Foreground") kept.push("foregroundDeletion");
  if (policy === "Orphan") kept.push("orphan");
  return kept;
}

/** Returns an object without versions and managedFields, for comparison. */
export function objectContent(object: JsonObject): JsonObject {
  const { managedFields: _, resourceVersion: __, ...metadata } = objectOr(object.metadata) as MutableJson;
  for (const field of ["labels", "annotations", "finalizers", "ownerReferences"]) {
    const value = metadata[field];
    if ((Array.isArray(value) || isObject(value)) && Object.keys(value).length === 0) delete metadata[field];
  }
  const { kind: ___, apiVersion: ____, ...rest } = object as MutableJson;
  return { ...rest, metadata };
}

/** Returns true if the managedFields differ in more than their times. */
export function fieldOwnersDiffer(before: JsonObject, after: JsonObject): boolean {
  const owners = (object: JsonObject): JsonObject[] => managedFieldsOf(object).map(({ time: _, ...entry }) => entry);
  return !equalJson(owners(before), owners(after));
}

/** Returns true if an update raises the generation: if more differs than metadata and status. */
export function desiredStateDiffers({ generation }: Definition, before: JsonObject, after: JsonObject): boolean {
  if (generation === false) return false;
  if (generation !== true) {
    const [a, b] = [before, after].map(({ metadata }) => objectOr(objectOr(metadata)[generation]));
    if (!equalJson(a, b)) return true;
  }
  const { metadata: _, status: __, kind: ___, apiVersion: ____, ...old } = before as MutableJson;
  const { metadata: _m, status: _s, kind: _k, apiVersion: _a, ...next } = after as MutableJson;
  return !equalJson(old, next);
}

/** The members of an object that a write of a subresource changes; a write of another one changes all. */
export const PARTS: Readonly<Record<string, (old: JsonObject, body: JsonObject) => JsonObject>> = {
  status: (_, { status }) => ({ status }),
  approval: ({ status }, body) => ({ status: { ...objectOr(status), conditions: objectOr(body.status).conditions } }),
  binding: (_, { spec, status }) => ({ spec, status }),
  ephemeralcontainers: ({ spec }, body) => ({
    spec: { ...objectOr(spec), ephemeralContainers: objectOr(body.spec).ephemeralContainers },
  }),
  finalize: ({ spec }, body) => ({ spec: { ...objectOr(spec), finalizers: objectOr(body.spec).finalizers } }),
  resize: ({ spec }, body) => ({
    spec: {
      ...objectOr(spec),
      ...resized("containers", objectOr(spec), objectOr(body.spec)),
      ...resized("initContainers", objectOr(spec), objectOr(body.spec)),
    },
  }),
};

function resized(member: string, old: JsonObject, next: JsonObject): JsonObject {
  const containers = old[member];
  if (!Array.isArray(containers)) return {};
  const wanted = Array.isArray(next[member]) ? next[member].map(objectOr) : [];
  return {
    [member]: containers.map(objectOr).map((container) => {
      const { resources = container.resources } = wanted.find(({ name }) => name === container.name) ?? {};
      return resources === undefined ? container : { ...container, resources };
    }),
  };
}

/** Built-in kinds whose status is written without their metadata. */
export const STATUS_ALONE: ReadonlySet<string> = new Set([
  "csinodes",
  "devicetaintrules",
  "flowschemas",
  "podcertificaterequests",
  "prioritylevelconfigurations",
  "resourceclaims",
  "servicecidrs",
  "validatingadmissionpolicies",
  "volumeattachments",
]);
