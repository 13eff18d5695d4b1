import { parseQuantity } from "../../api/quantity.ts";
import type { StatusCause } from "../../api/status.ts";
import {
  type Causes,
  duplicateField,
  forbiddenField,
  invalidField,
  requiredField,
  unsupportedField,
} from "../http/refusal.ts";
import { isObject, type Json, type JsonObject, objectOr, textOf } from "../wire/json.ts";
import { checkForm, numberOf, objectsOf, refuseValue, type Rule } from "./checks.ts";
import { labelKey, labelValue, subdomain } from "./forms.ts";
import { configKey } from "./forms_core.ts";
import { rangeFaults } from "./addresses.ts";
import { checkAmount, checkResourceName, quantitiesOf, QUOTA } from "./resources.ts";
import { checkEffect } from "./rules_pod.ts";

const SIZE = 1_048_576;

/** The number of bytes of texts, or of base64. */
function sizeOf(data: JsonObject, isBase64: boolean): number {
  let size = 0;
  for (const value of Object.values(data)) {
    const text = textOf(value);
    size += isBase64 ? text.length / 4 * 3 - (/=*$/.exec(text)?.[0].length ?? 0) : UTF8.encode(text).length;
  }
  return size;
}

const UTF8 = new TextEncoder();

function checkSize(size: number, at: string, causes: Causes): void {
  if (size <= SIZE) return;
  causes.push({ reason: "FieldValueTooLong", message: `Too long: may not be more than ${SIZE} bytes`, field: at });
}

const configMap: Rule = (object, _at, causes) => {
  const [data, binaryData] = [objectOr(object.data), objectOr(object.binaryData)];
  for (const [field, keys] of Object.entries({ data, binaryData })) {
    for (const key in keys) checkForm(key, `${field}[${key}]`, configKey, causes);
  }
  for (const key in data) {
    if (Object.hasOwn(binaryData, key)) {
      refuseValue(causes, `data[${key}]`, key, "duplicate of key present in binaryData");
    }
  }
  checkSize(sizeOf(data, false) + sizeOf(binaryData, true), "[]", causes);
};

/** The keys of which a type of Secret needs some: all of one list. */
const SECRET_KEYS: Readonly<Record<string, readonly string[]>> = {
  "kubernetes.io/dockercfg": [".dockercfg"],
  "kubernetes.io/dockerconfigjson": [".dockerconfigjson"],
  "kubernetes.io/ssh-auth": ["ssh-privatekey"],
  "kubernetes.io/tls": ["tls.crt", "tls.key"],
};
const ACCOUNT = "kubernetes.io/service-account.name";

const secret: Rule = ({ type, data: given, metadata }, _at, causes) => {
  const data = objectOr(given);
  for (const key in data) checkForm(key, `data[${key}]`, configKey, causes);
  checkSize(sizeOf(data, true), "data", causes);
  const kind = textOf(type);
  if (kind === "kubernetes.io/service-account-token" && !objectOr(objectOr(metadata).annotations)[ACCOUNT]) {
    causes.push(requiredField(`metadata.annotations[${ACCOUNT}]`));
  }
  if (kind === "kubernetes.io/basic-auth" && data.username === undefined && data.password === undefined) {
    causes.push(requiredField("data[username]"), requiredField("data[password]"));
  }
  for (const key of SECRET_KEYS[kind] ?? []) {
    const value = data[key];
    if (value === undefined || (value === "" && key === "ssh-privatekey")) causes.push(requiredField(`data[${key}]`));
    else if (kind.startsWith("kubernetes.io/docker")) checkJson(textOf(value), `data[${key}]`, causes);
  }
};

function redacted(at: string, why: string): Required<StatusCause> {
  return invalidField(at, '"<secret contents redacted>"', why);
}

function checkJson(base64: string, at: string, causes: Causes): void {
  try {
    if (isObject(JSON.parse(atob(base64)))) return;
    causes.push(redacted(at, "json: cannot unmarshal into Go value of type map[string]interface {}"));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    causes.push(redacted(at, "unexpected end of JSON input"));
  }
}

const MODES = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];

function checkModes(modes: Json | undefined, why: string, at: string, causes: Causes): void {
  const given = Array.isArray(modes) ? modes as readonly string[] : [];
  if (given.length === 0) causes.push(requiredField(at, why));
  for (const mode of given) if (!MODES.includes(mode)) causes.push(unsupportedField(at, mode, MODES));
  const known = given.filter((mode) => MODES.includes(mode));
  if (known.includes("ReadWriteOncePod") && known.some((mode) => mode !== "ReadWriteOncePod")) {
    causes.push(forbiddenField(at, "may not use ReadWriteOncePod with other access modes"));
  }
}

const claimSpec: Rule = ({ accessModes, resources, storageClassName }, at, causes) => {
  checkModes(accessModes, "at least 1 access mode is required", `${at}.accessModes`, causes);
  const { storage } = objectOr(objectOr(resources).requests);
  const place = `${at}.resources[storage]`;
  if (storage === undefined) causes.push(requiredField(place));
  else if (parseQuantity(storage as string).nanos <= 0n) {
    refuseValue(causes, place, storage, "must be greater than zero");
  }
  checkForm(storageClassName || undefined, `${at}.storageClassName`, subdomain, causes);
};

const NO_SOURCES: ReadonlySet<string> = new Set([
  "capacity",
  "accessModes",
  "claimRef",
  "persistentVolumeReclaimPolicy",
  "storageClassName",
  "mountOptions",
  "volumeMode",
  "nodeAffinity",
  "volumeAttributesClassName",
]);

/** The members of a PersistentVolume's spec that say where it is. */
export function volumeSources(spec: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(spec).filter(([name]) => !NO_SOURCES.has(name)));
}

const volumeSpec: Rule = (spec, at, causes) => {
  checkModes(spec.accessModes, "", `${at}.accessModes`, causes);
  const capacity = quantitiesOf(spec.capacity);
  if (capacity.length === 0) causes.push(requiredField(`${at}.capacity`));
  if (capacity.length !== 1 || capacity[0][0] !== "storage") {
    causes.push(unsupportedField(`${at}.capacity`, spec.capacity ?? {}, ["storage"]));
  }
  for (const [name, value] of capacity) {
    const place = `${at}.capacity[${name}]`;
    if (value.nanos < 0n) refuseValue(causes, place, Number(value), "must be a valid resource quantity");
    if (value.nanos <= 0n) refuseValue(causes, place, String(value), "must be greater than zero");
  }
  const [first, ...others] = Object.keys(volumeSources(spec));
  if (first === undefined) causes.push(requiredField(at, "must specify a volume type"));
  for (const name of others) causes.push(forbiddenField(`${at}.${name}`, "may not specify more than 1 volume type"));
  if (first === "local" && !isObject(spec.nodeAffinity)) {
    causes.push(requiredField(`${at}.nodeAffinity`, "Local volume requires node affinity"));
  }
  checkForm(spec.storageClassName || undefined, `${at}.storageClassName`, subdomain, causes);
};

const node: Rule = ({ spec, status }, _at, causes) => {
  const { taints, podCIDRs } = objectOr(spec);
  const seen = new Set<string>();
  objectsOf(taints).forEach((taint, index) => {
    const place = `metadata.taints[${index}]`;
    const { key = "", value = "", effect } = taint;
    checkForm(key, `${place}.key`, labelKey, causes);
    const faults = labelValue(textOf(value));
    if (faults.length > 0) refuseValue(causes, `${place}.value`, value, faults.join(";"));
    if (!effect) causes.push(requiredField(`${place}.effect`));
    checkEffect(effect, `${place}.effect`, causes);
    if (seen.has(`${key} ${effect}`)) causes.push(duplicateField(place, taint));
    seen.add(`${key} ${effect}`);
  });
  const cidrs = Array.isArray(podCIDRs) ? podCIDRs as readonly Json[] : [];
  cidrs.forEach((value, index) => checkForm(value, `spec.podCIDRs[${index}]`, rangeFaults, causes));
  for (const field of ["capacity", "allocatable"]) {
    for (const [name, value] of quantitiesOf(objectOr(status)[field])) {
      checkAmount(name, value, `status.${field}.${name}`, causes);
    }
  }
};

const SCOPES: Readonly<Record<string, readonly string[]>> = {
  BestEffort: ["NotBestEffort"],
  Terminating: ["NotTerminating"],
};
const ALL_SCOPES = [
  ...Object.entries(SCOPES).flatMap(([scope, others]) => [scope, ...others]),
  "PriorityClass",
  "CrossNamespacePodAffinity",
  "VolumeAttributesClass",
];

const quotaSpec: Rule = ({ hard, scopes }, at, causes) => {
  for (const [name, value] of quantitiesOf(hard)) {
    checkResourceName(name, `${at}.hard[${name}]`, "quota", causes);
    checkAmount(name, value, `${at}.hard[${name}]`, causes);
  }
  const given = Array.isArray(scopes) ? scopes as readonly string[] : [];
  const place = `${at}.scopes`;
  for (const scope of given) {
    if (!ALL_SCOPES.includes(scope)) refuseValue(causes, place, given, "unsupported scope");
    if (scope === "BestEffort" && Object.keys(objectOr(hard)).some((name) => name !== "pods" && QUOTA.has(name))) {
      refuseValue(causes, place, given, "unsupported scope applied to resource");
    }
    for (const other of SCOPES[scope] ?? []) {
      if (given.includes(other)) refuseValue(causes, place, given, "conflicting scopes");
    }
  }
};

const LIMIT_TYPES = ["Pod", "Container", "PersistentVolumeClaim"];

const limits: Rule = ({ limits }, at, causes) => {
  const seen = new Set<string>();
  objectsOf(limits).forEach((limit, index) => {
    const place = `${at}.limits[${index}]`;
    const type = textOf(limit.type);
    const before = causes.length;
    checkForm(type, `${place}.type`, labelKey, causes);
    if (causes.length === before && !type.includes("/") && !LIMIT_TYPES.includes(type)) {
      refuseValue(causes, `${place}.type`, type, "must be a standard limit type or fully qualified");
    }
    if (seen.has(type)) causes.push(duplicateField(`${place}.type`, type));
    seen.add(type);
    checkLimit(limit, type, place, causes);
    const hasStorage = [limit.min, limit.max].some((map) => objectOr(map).storage !== undefined);
    if (type === "PersistentVolumeClaim" && !hasStorage) {
      const why = "either minimum or maximum storage value is required, but neither was provided";
      causes.push(requiredField(`${place}.limits`, why));
    }
  });
};

/** Pairs of which the first must not be above the second, and how the server says it. */
const ORDERED: readonly (readonly [low: string, high: string, at: string, why: string])[] = [
  ["min", "max", "min", "min value {a} is greater than max value {b}"],
  ["min", "defaultRequest", "defaultRequest", "min value {a} is greater than default request value {b}"],
  ["defaultRequest", "max", "defaultRequest", "default request value {a} is greater than max value {b}"],
  ["defaultRequest", "default", "defaultRequest", "default request value {a} is greater than default limit value {b}"],
  ["min", "default", "default", "min value {a} is greater than default value {b}"],
  ["default", "max", "default", "default value {a} is greater than max value {b}"],
];

function checkLimit(limit: JsonObject, type: string, at: string, causes: Causes): void {
  for (const field of ["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"]) {
    if (type === "Pod" && field.startsWith("default")) {
      if (isObject(limit[field])) {
        causes.push(forbiddenField(`${at}.${field}`, "may not be specified when `type` is 'Pod'"));
      }
      continue;
    }
    const of = type === "Pod" || type === "Container" ? "container" : "any";
    for (const [name, value] of quantitiesOf(limit[field])) {
      checkResourceName(name, `${at}.${field}[${name}]`, of, causes);
      if (field === "maxLimitRequestRatio" && Number(value) < 1) {
        refuseValue(causes, `${at}.${field}[${name}]`, String(value), `ratio ${value} is less than 1`);
      }
    }
  }
  for (const [low, high, field, why] of ORDERED) {
    if (type === "Pod" && (low + high).includes("default")) continue;
    for (const [name, value] of quantitiesOf(limit[low])) {
      const other = objectOr(limit[high])[name];
      if (other === undefined || value.compare(parseQuantity(other as string)) <= 0) continue;
      const text = why.replace("{a}", String(value)).replace("{b}", textOf(other));
      refuseValue(causes, `${at}.${field}[${name}]`, String(value), text);
    }
  }
}

const DIFFERS = "does not match event.namespace";

const event: Rule = ({ metadata, involvedObject, eventTime, ...fields }, _at, causes) => {
  const { namespace = "" } = objectOr(metadata);
  const { namespace: involved = "" } = objectOr(involvedObject);
  const place = "involvedObject.namespace";
  const isNew = typeof eventTime === "string";
  const fits = involved === ""
    ? namespace === "default" || namespace === (isNew ? "kube-system" : "")
    : isNew || involved === namespace;
  if (!fits) refuseValue(causes, place, involved, DIFFERS);
  if (!isNew) return;
  for (const name of ["reportingComponent", "reportingInstance", "action", "reason"]) {
    if (!fields[name]) causes.push(requiredField(name));
  }
  checkForm(textOf(fields.reportingComponent), "reportingComponent", labelKey, causes);
  const lengths = { reportingInstance: 128, action: 128, reason: 128, message: 1024 };
  for (const [name, length] of Object.entries(lengths)) {
    if (textOf(fields[name]).length > length) refuseValue(causes, name, "", `can have at most ${length} characters`);
  }
};

const controllerSpec: Rule = ({ replicas, selector, template }, at, causes) => {
  if (numberOf(replicas) < 0) refuseValue(causes, `${at}.replicas`, replicas, "must be greater than or equal to 0");
  const wanted = Object.entries(objectOr(selector));
  if (wanted.length === 0) causes.push(requiredField(`${at}.selector`));
  if (!isObject(template)) {
    causes.push(requiredField(`${at}.template`));
    return;
  }
  const labels = objectOr(objectOr(template.metadata).labels);
  if (wanted.some(([key, value]) => labels[key] !== value)) {
    refuseValue(causes, `${at}.template.metadata.labels`, labels, "`selector` does not match template `labels`");
  }
};

const FINALIZERS = ["kubernetes", "orphan", "foregroundDeletion"];

const namespaceSpec: Rule = ({ finalizers }, at, causes) => {
  for (const name of Array.isArray(finalizers) ? finalizers as readonly string[] : []) {
    checkForm(name, `${at}.finalizers`, labelKey, causes);
    if (name.includes("/") || FINALIZERS.includes(name)) continue;
    const why = "name is neither a standard finalizer name nor is it fully qualified";
    refuseValue(causes, `${at}.finalizers`, name, why);
  }
};

/** The rules of kinds of the core group but pods and Services. */
export const CORE_RULES: Readonly<Record<string, Rule>> = {
  "core/v1.ConfigMap": configMap,
  "core/v1.NamespaceSpec": namespaceSpec,
  "core/v1.Secret": secret,
  "core/v1.PersistentVolumeClaimSpec": claimSpec,
  "core/v1.PersistentVolumeSpec": volumeSpec,
  "core/v1.Node": node,
  "core/v1.ResourceQuotaSpec": quotaSpec,
  "core/v1.LimitRangeSpec": limits,
  "core/v1.Event": event,
  "core/v1.ReplicationControllerSpec": controllerSpec,
};
