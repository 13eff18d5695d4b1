import { parseQuantity } from "../../api/quantity.ts";
import { type Causes, forbiddenField, requiredField } from "../http/refusal.ts";
import { at, equalJson, type Json, type JsonObject, type MutableJson, objectOr, textOf } from "../wire/json.ts";
import { numberOf, objectsOf, refuseValue } from "./checks.ts";
import { volumeSources } from "./rules_core.ts";
import { checkGenerated } from "./rules_workloads.ts";
import { checkNewPod } from "./rules_pod.ts";
import type { Struct } from "./schema.ts";

/** Finds what an update changes that cannot be changed. */
export type UpdateRule = (old: JsonObject, object: JsonObject, causes: Causes) => void;

const IMMUTABLE = "field is immutable";

/** Reports members that differ once an object says that it is immutable. */
function checkSealed(old: JsonObject, object: JsonObject, names: readonly string[], causes: Causes): void {
  if (old.immutable !== true) return;
  const why = `${IMMUTABLE} when \`immutable\` is set`;
  if (object.immutable !== true) causes.push(forbiddenField("immutable", why));
  for (const name of names) {
    if (!equalJson(objectOr(old[name]), objectOr(object[name]))) causes.push(forbiddenField(name, why));
  }
}

const POD_FIELDS = [
  "`spec.containers[*].image`",
  "`spec.initContainers[*].image`",
  "`spec.activeDeadlineSeconds`",
  "`spec.tolerations` (only additions to existing tolerations)",
  "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
];

/** The members of a pod that cannot be changed; gates leave the choice of nodes open. */
function fixedMembers(spec: JsonObject, isGated: boolean): JsonObject {
  const { activeDeadlineSeconds: _, tolerations: __, schedulingGates: ___, ...rest } = spec;
  const plain = (list: Json | undefined): readonly JsonObject[] =>
    objectsOf(list).map(({ image: _, ...others }) => others);
  const fixed = { ...rest, containers: plain(rest.containers), initContainers: plain(rest.initContainers) };
  if (!isGated) return fixed;
  const { nodeAffinity: ____, ...affinity } = objectOr(spec.affinity);
  return { ...fixed, nodeSelector: undefined, affinity };
}

function checkDeadline(old: Json | undefined, value: Json | undefined, causes: Causes): void {
  const place = "spec.activeDeadlineSeconds";
  if (typeof value !== "number") {
    if (typeof old === "number") {
      refuseValue(causes, place, null, "must not update from a positive integer to nil value");
    }
  } else if (typeof old === "number" && old < value) {
    refuseValue(causes, place, value, "must be less than or equal to previous value");
  }
}

function checkAdded(before: JsonObject, spec: JsonObject, causes: Causes): void {
  const timeless = ({ tolerationSeconds: _, ...rest }: JsonObject): JsonObject => rest;
  const tolerations = objectsOf(spec.tolerations).map(timeless);
  if (!objectsOf(before.tolerations).every((old) => tolerations.some((other) => equalJson(other, timeless(old))))) {
    const why = "existing toleration can not be modified except its tolerationSeconds";
    causes.push(forbiddenField("spec.tolerations", why));
  }
  const gates = objectsOf(before.schedulingGates).map(({ name }) => name);
  objectsOf(spec.schedulingGates).forEach(({ name }, index) => {
    if (gates.includes(name)) return;
    const why = `only deletion is allowed, but found new scheduling gate '${name}'`;
    causes.push(forbiddenField(`spec.schedulingGates[${index}].name`, why));
  });
}

const pod: UpdateRule = (old, object, causes) => {
  const [before, spec] = [objectOr(old.spec), objectOr(object.spec)];
  for (const list of ["containers", "initContainers"]) {
    const containers = objectsOf(spec[list]);
    if (containers.length !== objectsOf(before[list]).length) {
      causes.push(forbiddenField(`spec.${list}`, "pod updates may not add or remove containers"));
      return;
    }
    containers.forEach(({ image }, index) => {
      const place = `spec.${list}[${index}].image`;
      const text = textOf(image);
      if (text === "") causes.push(requiredField(place));
      if (text !== text.trim()) refuseValue(causes, place, text, "must not have leading or trailing whitespace");
    });
  }
  checkDeadline(before.activeDeadlineSeconds, spec.activeDeadlineSeconds, causes);
  checkAdded(before, spec, causes);
  const isGated = objectsOf(before.schedulingGates).length > 0;
  const labels = Object.entries(objectOr(before.nodeSelector));
  if (isGated && labels.some(([key, value]) => objectOr(spec.nodeSelector)[key] !== value)) {
    const why = "only additions to spec.nodeSelector are allowed (no mutations or deletions)";
    refuseValue(causes, "spec.nodeSelector", spec.nodeSelector, why);
  }
  if (equalJson(fixedMembers(before, isGated), fixedMembers(spec, isGated))) return;
  causes.push(forbiddenField("spec", `pod updates may not change fields other than ${POD_FIELDS.join(",")}\n`));
};

const service: UpdateRule = (old, object, causes) => {
  const [before, spec] = [objectOr(old.spec), objectOr(object.spec)];
  const place = "spec.clusterIPs[0]";
  const [ip] = Array.isArray(before.clusterIPs) ? before.clusterIPs as readonly string[] : [];
  const ips = Array.isArray(spec.clusterIPs) ? spec.clusterIPs as readonly string[] : [];
  if (ip !== undefined && before.type !== "ExternalName" && spec.type !== "ExternalName") {
    if (ips.length === 0) refuseValue(causes, place, ips, "primary clusterIP can not be unset");
    else if (ips[0] !== ip) refuseValue(causes, place, ips, "may not change once set");
  }
  const { loadBalancerClass, healthCheckNodePort } = before;
  if (before.type !== "LoadBalancer" || spec.type !== "LoadBalancer") return;
  if (loadBalancerClass !== spec.loadBalancerClass) {
    refuseValue(causes, "spec.loadBalancerClass", spec.loadBalancerClass, "may not change once set");
  }
  const isLocal = before.externalTrafficPolicy === "Local" && spec.externalTrafficPolicy === "Local";
  if (isLocal && healthCheckNodePort !== spec.healthCheckNodePort) {
    causes.push(forbiddenField("spec.healthCheckNodePort", IMMUTABLE));
  }
};

function storageOf(spec: JsonObject): Json | undefined {
  return objectOr(objectOr(spec.resources).requests).storage;
}

const claim: UpdateRule = (old, object, causes) => {
  const [before, spec] = [objectOr(old.spec), objectOr(object.spec)];
  const isBound = objectOr(object.status).phase === "Bound";
  const next: MutableJson = { ...spec };
  if (!before.volumeName) delete next.volumeName;
  if (before.storageClassName === undefined) delete next.storageClassName;
  if (isBound) {
    if (before.volumeAttributesClassName !== spec.volumeAttributesClassName) {
      next.volumeAttributesClassName = before.volumeAttributesClassName;
    }
    next.resources = { ...objectOr(spec.resources), requests: objectOr(before.resources).requests };
  }
  if (!equalJson(next, before)) {
    const why =
      "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n";
    causes.push(forbiddenField("spec", why));
  }
  const [was, is] = [storageOf(before), storageOf(spec)];
  const capacity = parseQuantity(textOf(objectOr(objectOr(old.status).capacity).storage) || "0");
  if (was !== undefined && is !== undefined && parseQuantity(textOf(is)).compare(parseQuantity(textOf(was))) < 0) {
    if (parseQuantity(textOf(is)).compare(capacity) <= 0) {
      const why = "field can not be less than status.capacity";
      causes.push(forbiddenField("spec.resources.requests.storage", why));
    }
  }
  if (before.volumeMode !== spec.volumeMode) refuseValue(causes, "volumeMode", spec.volumeMode, IMMUTABLE);
};

const volume: UpdateRule = (old, object, causes) => {
  const [before, spec] = [objectOr(old.spec), objectOr(object.spec)];
  if (!equalJson(volumeSources(before), volumeSources(spec))) {
    const why = "spec.persistentvolumesource is immutable after creation\n";
    causes.push(forbiddenField("spec.persistentvolumesource", why));
  }
  if (before.volumeMode !== spec.volumeMode) refuseValue(causes, "volumeMode", spec.volumeMode, IMMUTABLE);
};

const node: UpdateRule = (old, object, causes) => {
  const [before, spec] = [objectOr(old.spec), objectOr(object.spec)];
  const [was, is] = [before, spec].map(({ podCIDRs }) => Array.isArray(podCIDRs) ? podCIDRs as readonly Json[] : []);
  if (was.length > 0 && !equalJson(was, is)) {
    causes.push(forbiddenField("spec.podCIDRs", 'node updates may not change podCIDR except from "" to valid'));
  }
  if (before.providerID && before.providerID !== spec.providerID) {
    refuseValue(
      causes,
      "spec.providerID",
      null,
      `field cannot be ${spec.providerID ? "modified" : "cleared"} once set`,
    );
  }
  if ((before.externalID ?? "") !== (spec.externalID ?? "")) {
    causes.push(forbiddenField("spec.externalID", "may not be updated"));
  }
};

const namespace: UpdateRule = (old, object, causes) => {
  const { phase } = objectOr(object.status);
  if (phase === objectOr(old.status).phase) return;
  const isDeleted = objectOr(old.metadata).deletionTimestamp !== undefined;
  const wanted = isDeleted ? "Terminating" : "Active";
  if (phase === wanted) return;
  const why = `may only be '${wanted}' if \`deletionTimestamp\` is ${isDeleted ? "not " : ""}empty`;
  refuseValue(causes, "status.Phase", phase ?? "", why);
};

const quota: UpdateRule = (old, object, causes) => {
  const scopes = ({ spec }: JsonObject): readonly Json[] => {
    const { scopes } = objectOr(spec);
    return Array.isArray(scopes) ? scopes.toSorted() : [];
  };
  if (!equalJson(scopes(old), scopes(object))) {
    refuseValue(causes, "spec.scopes", objectOr(object.spec).scopes, IMMUTABLE);
  }
};

/** The checks of updates of objects of the core group, by the name of the type. */
export const CORE_UPDATES: Readonly<Record<string, UpdateRule>> = {
  "core/v1.Pod": pod,
  "core/v1.Service": service,
  "core/v1.ConfigMap": (old, object, causes) => checkSealed(old, object, ["data", "binaryData"], causes),
  "core/v1.Secret": (old, object, causes) => {
    if (old.type !== object.type) refuseValue(causes, "type", object.type, IMMUTABLE);
    checkSealed(old, object, ["data"], causes);
  },
  "core/v1.PersistentVolumeClaim": claim,
  "core/v1.PersistentVolume": volume,
  "core/v1.Node": node,
  "core/v1.Namespace": namespace,
  "core/v1.ResourceQuota": quota,
};

/** Finds what an update of an object changes that cannot be changed. */
type Update = (old: JsonObject, object: JsonObject, causes: Causes) => void;

/** Returns a check: these fields stay as they are. */
function fixed(...paths: readonly string[]): Update {
  return (old, object, causes) => {
    for (const path of paths) {
      const names = path.split(".");
      const value = at(object, ...names) as Json | undefined;
      if (!equalJson(at(old, ...names), value)) refuseValue(causes, path, value, IMMUTABLE);
    }
  };
}

/** The members of its template that a job may change before its pods have begun. */
const DIRECTIVES = ["affinity", "nodeSelector", "tolerations", "schedulingGates"];

function withoutDirectives(template: Json | undefined): MutableJson {
  const { metadata: _, spec, ...rest } = objectOr(template) as MutableJson;
  const pod: MutableJson = { ...objectOr(spec) as MutableJson };
  for (const name of DIRECTIVES) delete pod[name];
  for (const name of ["containers", "initContainers"]) {
    if (Array.isArray(pod[name])) pod[name] = pod[name].map((one) => ({ ...objectOr(one), resources: null }));
  }
  return { ...rest, spec: pod };
}

const job: Update = (old, object, causes) => {
  const [before, after] = [objectOr(old.spec), objectOr(object.spec)];
  const { completions, parallelism, completionMode } = after;
  if (!equalJson(before.completions, completions)) {
    const why = completionMode === "Indexed" ? "can only be modified in tandem with spec.parallelism" : IMMUTABLE;
    if (completionMode !== "Indexed" || (completions !== undefined && completions !== parallelism)) {
      refuseValue(causes, "spec.completions", completions, why);
    }
  }
  fixed("spec.selector")(old, object, causes);
  const { startTime, active } = objectOr(old.status);
  const waits = before.suspend === true && startTime === undefined && numberOf(active) === 0;
  const same = waits
    ? equalJson(withoutDirectives(before.template), withoutDirectives(after.template))
    : equalJson(before.template, after.template);
  if (!same) refuseValue(causes, waits ? "spec.template.spec" : "spec.template", after.template, IMMUTABLE);
  fixed(
    "spec.completionMode",
    "spec.podFailurePolicy",
    "spec.backoffLimitPerIndex",
    "spec.managedBy",
    "spec.successPolicy",
  )(old, object, causes);
};

const TERMINAL = ["Failed", "Complete", "FailureTarget", "SuccessCriteriaMet"];

const jobStatus: Update = (old, object, causes) => {
  const [before, after] = [objectOr(old.status), objectOr(object.status)];
  const has = (status: JsonObject, type: string): boolean =>
    Array.isArray(status.conditions) &&
    status.conditions.map(objectOr).some((one) => one.type === type && one.status === "True");
  for (const type of TERMINAL) {
    if (!has(before, type) || has(after, type)) continue;
    const which = type === "SuccessCriteriaMet" ? "the" : "the terminal";
    const message = `Invalid value: cannot disable ${which} ${type}=True condition`;
    causes.push({ reason: "FieldValueInvalid", message, field: "status.conditions" });
  }
  const { suspend, completionMode } = objectOr(object.spec);
  for (const name of completionMode === "Indexed" ? ["failed"] : ["failed", "succeeded"]) {
    if (numberOf(after[name]) >= numberOf(before[name])) continue;
    refuseValue(causes, `status.${name}`, after[name] ?? 0, `cannot decrease the ${name} counter`);
  }
  if (before.completionTime !== undefined && after.completionTime !== undefined) {
    fixed("status.completionTime")(old, object, causes);
  }
  if (before.startTime !== undefined && suspend !== true && before.startTime !== after.startTime) {
    refuseValue(causes, "status.startTime", after.startTime, "field is immutable for unsuspended job once set");
  }
};

const priorityClass: Update = (old, object, causes) => {
  if (numberOf(old.value) !== numberOf(object.value)) {
    causes.push(forbiddenField("value", "may not be changed in an update."));
  }
  fixed("preemptionPolicy")(old, object, causes);
};

/** Returns a check: a counter of the status does not fall. */
const collisions: Update = (old, object, causes) => {
  const [before, after] = [objectOr(old.status).collisionCount, objectOr(object.status).collisionCount];
  if (numberOf(after) < numberOf(before)) {
    refuseValue(causes, "status.collisionCount", after ?? 0, "cannot be decremented");
  }
};

/** A definition whose names are taken keeps them. */
const definition: Update = (old, object, causes) => {
  fixed("spec.group", "spec.names.kind", "spec.names.plural", "spec.scope")(old, object, causes);
};

/** The checks of updates, by the name of the type. */
const UPDATES: Readonly<Record<string, readonly Update[]>> = {
  "apiextensions/v1.CustomResourceDefinition": [definition],
  "apps/v1.ControllerRevision": [fixed("data")],
  "apps/v1.DaemonSet": [fixed("spec.selector"), collisions],
  "apps/v1.Deployment": [fixed("spec.selector"), collisions],
  "apps/v1.ReplicaSet": [fixed("spec.selector")],
  "apps/v1.StatefulSet": [
    fixed("spec.selector", "spec.volumeClaimTemplates", "spec.serviceName", "spec.podManagementPolicy"),
    collisions,
  ],
  "batch/v1.Job": [job, jobStatus],
  "discovery/v1.EndpointSlice": [fixed("addressType")],
  "networking/v1.IngressClass": [fixed("spec.controller")],
  "rbac/v1.ClusterRoleBinding": [fixed("roleRef")],
  "rbac/v1.RoleBinding": [fixed("roleRef")],
  "scheduling/v1.PriorityClass": [priorityClass],
  "storage/v1.StorageClass": [fixed("provisioner", "parameters", "reclaimPolicy", "volumeBindingMode")],
};

/** Finds what a new object cannot have. */
export function validateCreate({ name }: Struct, object: JsonObject): Causes {
  const causes: Causes = [];
  if (name === "core/v1.Pod") checkNewPod(objectOr(object.spec), causes);
  if (name === "batch/v1.Job") checkGenerated(object, causes);
  return causes;
}

/** Finds what an update changes that cannot be changed. */
export function validateUpdate(schema: Struct, old: JsonObject, object: JsonObject): Causes {
  const causes: Causes = [];
  CORE_UPDATES[schema.name]?.(old, object, causes);
  for (const update of UPDATES[schema.name] ?? []) update(old, object, causes);
  return causes;
}

/** Checks an update by a subresource, beside what its object must fulfil: ephemeral containers stay. */
export function validatePart(subresource: string, old: JsonObject, object: JsonObject): Causes {
  if (subresource !== "ephemeralcontainers") return [];
  const names = objectsOf(objectOr(object.spec).ephemeralContainers).map(({ name }) => name);
  return objectsOf(objectOr(old.spec).ephemeralContainers).filter(({ name }) => !names.includes(name)).map(({ name }) =>
    forbiddenField(
      "spec.ephemeralContainers",
      `existing ephemeral containers ${JSON.stringify(name)} may not be removed\n`,
    )
  );
}
