/**
 * The registries of kube-apiserver, by kind: what a write prepares, keeps and resets.
 *
 * {@linkcode strategyOf} is the entry point; `writer.ts` asks it. Defaults that follow from fields are in
 * `schema/computed.ts`.
 *
 * @module
 */
import { managedFieldsOf } from "../apply/managed_fields.ts";
import { prepareJob } from "../schema/computed.ts";
import { qosClass } from "../schema/rules_pod.ts";
import { crdDefaults, type Definition, storedVersionsOf } from "../storage/definition.ts";
import { equalJson, isList, isObject, type JsonObject, type MutableJson } from "../../../engine/api/json.ts";
import { listOr, objectOr, objectsOf, textsOf } from "../../../engine/api/members.ts";
import { memberObject } from "../schema/members.ts";

/** The means of preparing a request. */
export interface Surroundings {
  /** The time of the request. */
  readonly time: string;
  /** Returns the next cluster IP. */
  readonly clusterIp: () => string;
}

/** The steps of the server's registry and admission plugins with a decoded object before it is checked. */
export interface Strategy {
  /** Fills in members of a new object that its writer owns. */
  readonly defaults?: (object: MutableJson, around: Surroundings) => void;
  /** Completes a new object before webhooks see it. {@linkcode create} does it again. */
  readonly plugins?: (object: MutableJson) => void;
  /** Completes a new object; nobody owns what it adds. */
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

function admitPod(object: MutableJson): void {
  const spec = memberObject(object, "spec");
  addTolerations(spec);
  if (spec.priorityClassName) return;
  spec.priority ??= 0;
  spec.preemptionPolicy ??= "PreemptLowerPriority";
}

function createPod(object: MutableJson): void {
  admitPod(object);
  const spec = memberObject(object, "spec");
  object.status = { phase: "Pending", qosClass: qosClass(spec) };
}

function updatePod(old: JsonObject, object: MutableJson): void {
  const spec = memberObject(object, "spec");
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

function protectedBy(finalizer: string, status: (time: string) => JsonObject): Strategy {
  return {
    create: (object, { time }) => {
      const metadata = memberObject(object, "metadata");
      const given = listOr(metadata.finalizers);
      if (!given.includes(finalizer)) metadata.finalizers = [...given, finalizer];
      object.status = status(time);
    },
  };
}

const NOT_READY = { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" };

/** Leaves the names of a ServiceAccount's secrets. */
function nameSecrets(object: MutableJson): void {
  const secrets = objectsOf(object.secrets);
  if (secrets.length > 0) object.secrets = secrets.map(({ name }) => name === undefined ? {} : { name });
}

/** Keeps the cluster IP of a Service, unless it becomes an external name. */
function keepClusterIp(old: JsonObject, object: MutableJson): void {
  const { clusterIP, clusterIPs } = objectOr(old.spec);
  const spec = memberObject(object, "spec");
  if (spec.type !== "ExternalName") spec.clusterIP ??= clusterIP;
  else if (spec.clusterIP === clusterIP) { for (const name of ["clusterIP", "clusterIPs"]) delete spec[name]; }
  if (spec.clusterIP !== undefined) spec.clusterIPs ??= spec.clusterIP === clusterIP ? clusterIPs : [spec.clusterIP];
}

const DEFINITION = "apiextensions/v1.CustomResourceDefinition";

/** Strategies by the name of the type. */
const STRATEGIES: Readonly<Record<string, Strategy>> = {
  [DEFINITION]: {
    defaults: (object, { time }) => crdDefaults(object, time),
    update: (_, object) => {
      const { storedVersions } = objectOr(object.status);
      object.status = { ...objectOr(object.status), storedVersions: storedVersionsOf(object, textsOf(storedVersions)) };
    },
  },
  "batch/v1.Job": { create: prepareJob },
  "core/v1.Pod": { plugins: admitPod, create: createPod, update: updatePod, status: keepQuality },
  "core/v1.Namespace": {
    create: (object) => {
      const spec = memberObject(object, "spec");
      const given = listOr(spec.finalizers);
      spec.finalizers = given.includes("kubernetes") ? given : [...given, "kubernetes"];
      object.status = { phase: "Active" };
      const metadata = memberObject(object, "metadata");
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
      const spec = memberObject(object, "spec");
      const taints = objectsOf(spec.taints);
      const has = taints.some(({ key, effect }) => key === NOT_READY.key && effect === NOT_READY.effect);
      if (!has) spec.taints = [...taints, NOT_READY];
    },
  },
  "core/v1.ServiceAccount": { create: nameSecrets, update: (_, object) => nameSecrets(object) },
  "core/v1.Service": {
    create: (object, { clusterIp }) => {
      const spec = memberObject(object, "spec");
      if (spec.type !== "ExternalName") spec.clusterIP ??= clusterIp();
      if (spec.clusterIP !== undefined) spec.clusterIPs ??= [spec.clusterIP];
    },
    update: keepClusterIp,
  },
  "core/v1.PersistentVolumeClaim": protectedBy("kubernetes.io/pvc-protection", () => ({ phase: "Pending" })),
  "core/v1.PersistentVolume": protectedBy(
    "kubernetes.io/pv-protection",
    (time) => ({ phase: "Pending", lastPhaseTransitionTime: time }),
  ),
};

/** Strategies of objects that follow no schema, as far as clients depend on them. */
const UNTYPED: Readonly<Record<string, Strategy>> = {
  "core/v1.Pod": {
    defaults: (object) => object.status = { phase: "Pending", qosClass: "BestEffort", ...objectOr(object.status) },
  },
  "core/v1.Namespace": {
    defaults: (object) => {
      const metadata = memberObject(object, "metadata");
      metadata.labels = { ...objectOr(metadata.labels), "kubernetes.io/metadata.name": metadata.name };
      object.spec = { finalizers: ["kubernetes"], ...objectOr(object.spec) };
      object.status ??= { phase: "Active" };
    },
  },
  "core/v1.Secret": { defaults: (object) => object.type ??= "Opaque" },
  [DEFINITION]: STRATEGIES[DEFINITION],
};

/** Returns the strategy of a kind, for objects that follow its schema or do not; an empty one if nothing is special. */
export function strategyOf({ custom, schema }: Definition, isTyped: boolean): Strategy {
  return (!custom && schema && (isTyped ? STRATEGIES : UNTYPED)[schema.name]) || {};
}

/** Kinds whose dependents stay, unless a request says otherwise. */
export const ORPHANING = ["batch/v1.Job", "core/v1.ReplicationController"];
/** Kinds that are marked for deletion without a grace period. */
export const TERMINATING = ["core/v1.Namespace", DEFINITION];

/** Grace period in seconds: 0 for pods that were never scheduled or are finished. */
export function gracePeriod(object: JsonObject, asked: number | undefined): number {
  const spec = objectOr(object.spec);
  const { phase } = objectOr(object.status);
  if (!spec.nodeName || phase === "Succeeded" || phase === "Failed") return 0;
  return asked ?? Number(spec.terminationGracePeriodSeconds ?? 30);
}

/** Returns the finalizers that an object has during its deletion. */
export function withPropagation(finalizers: unknown, policy: string | undefined): string[] {
  const kept = (isList(finalizers) ? finalizers as string[] : []).filter((finalizer) =>
    policy === undefined || (finalizer !== "foregroundDeletion" && finalizer !== "orphan")
  );
  if (policy === "Foreground") kept.push("foregroundDeletion");
  if (policy === "Orphan") kept.push("orphan");
  return kept;
}

/** Returns true if two objects differ in no more than versions and the times of managedFields. */
export function isSame(a: JsonObject, b: JsonObject): boolean {
  const owners = (object: JsonObject): JsonObject[] => managedFieldsOf(object).map(({ time: _, ...entry }) => entry);
  return equalJson(objectContent(a), objectContent(b)) && equalJson(owners(a), owners(b));
}

function objectContent(object: JsonObject): JsonObject {
  const { managedFields: _, resourceVersion: __, ...metadata }: MutableJson = objectOr(object.metadata);
  for (const field of ["labels", "annotations", "finalizers", "ownerReferences"]) {
    const value = metadata[field];
    if ((isList(value) || isObject(value)) && Object.keys(value).length === 0) delete metadata[field];
  }
  const { kind: ___, apiVersion: ____, ...rest } = object as MutableJson;
  return { ...rest, metadata };
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
  approval: (_, { status }) => ({ status }),
  binding: (_, { spec, status }) => ({ spec, status }),
  finalize: ({ spec }, body) => ({ spec: { ...objectOr(spec), finalizers: objectOr(body.spec).finalizers } }),
};

/** Built-in kinds whose status is written without their metadata. */
export const STATUS_ALONE = new Set(
  ("csinodes devicetaintrules flowschemas podcertificaterequests prioritylevelconfigurations resourceclaims " +
    "servicecidrs validatingadmissionpolicies volumeattachments").split(" "),
);
