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
import {
  addressFaults,
  checkForm,
  checkLabels,
  checkPort,
  configKey,
  dnsLabel,
  hostName,
  labelKey,
  labelValue,
  numberOf,
  objectsOf,
  rangeFaults,
  reachable,
  refuseValue,
  type Rule,
  subdomain,
} from "./checks.ts";
import { checkAmount, checkPortOrName, checkResourceName, quantitiesOf, QUOTA } from "./rules_container.ts";
import { checkEffect } from "./rules_pod.ts";
import { isExternallyAccessible } from "./computed.ts";

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

const servicePort: Rule = ({ name, port, targetPort, appProtocol }, at, causes) => {
  checkForm(name || undefined, `${at}.name`, dnsLabel, causes);
  checkPort(port ?? 0, `${at}.port`, causes);
  checkPortOrName(targetPort ?? port, `${at}.targetPort`, causes);
  checkForm(appProtocol, `${at}.appProtocol`, labelKey, causes);
};

/** Reports ports of one name, one number or one number of the node. */
function checkPorts(spec: JsonObject, at: string, causes: Causes): void {
  const ports = objectsOf(spec.ports);
  const seen = new Set<string>();
  const checkNew = (key: string, place: string, value: Json): void => {
    if (seen.has(key)) causes.push(duplicateField(place, value));
    seen.add(key);
  };
  ports.forEach(({ name, port = 0, protocol = "TCP", nodePort }, index) => {
    const place = `${at}.ports[${index}]`;
    if (name) checkNew(`name ${name}`, `${place}.name`, name);
    else if (ports.length > 1) causes.push(requiredField(`${place}.name`));
    checkNew(`port ${protocol}/${port}`, place, { port, protocol, targetPort: 0 });
    if (!nodePort) return;
    checkNew(`node ${protocol}/${nodePort}`, `${place}.nodePort`, nodePort);
    if ((spec.type ?? "ClusterIP") === "ClusterIP") {
      causes.push(forbiddenField(`${place}.nodePort`, "may not be used when `type` is 'ClusterIP'"));
    }
  });
}

const EXTERNAL_NAME = "may not be set for ExternalName services";

function checkType(spec: JsonObject, at: string, causes: Causes): void {
  const { type = "ClusterIP", clusterIP, externalName } = spec;
  const isHeadless = clusterIP === "None";
  if (type === "ExternalName") {
    for (const name of ["clusterIPs", "ipFamilies", "ipFamilyPolicy"]) {
      if (spec[name] !== undefined) causes.push(forbiddenField(`${at}.${name}`, EXTERNAL_NAME));
    }
    if (!externalName) causes.push(requiredField(`${at}.externalName`));
    else checkForm(externalName, `${at}.externalName`, hostName, causes);
    return;
  }
  if (!isHeadless && objectsOf(spec.ports).length === 0) causes.push(requiredField(`${at}.ports`));
  if (isHeadless && (type === "NodePort" || type === "LoadBalancer")) {
    refuseValue(causes, `${at}.clusterIPs[0]`, "None", `may not be set to 'None' for ${type} services`);
  }
  for (const cause of familyCauses(spec, at)) causes.push(cause);
}

/** Returns the faults of the addresses and families of a Service, which the server looks at before all else. */
export function familyCauses(spec: JsonObject, at = "spec"): Causes {
  const causes: Causes = [];
  const ips = Array.isArray(spec.clusterIPs) ? spec.clusterIPs as readonly Json[] : [];
  const place = `${at}.clusterIPs`;
  if (spec.clusterIP && ips.length > 0 && ips[0] !== spec.clusterIP) {
    refuseValue(causes, place, ips, "first value must match `clusterIP`");
  } else if (!spec.clusterIP && ips.length > 0) {
    refuseValue(causes, place, ips, "must be empty when `clusterIP` is not specified");
  }
  const families = Array.isArray(spec.ipFamilies) ? spec.ipFamilies as readonly Json[] : [];
  families.forEach((family, index) => {
    const here = `${at}.ipFamilies[${index}]`;
    if (family !== "IPv4" && family !== "IPv6") causes.push(unsupportedField(here, family, ["IPv4", "IPv6"]));
    if (families.indexOf(family) < index) causes.push(duplicateField(here, family));
  });
  ips.forEach((ip, index) => {
    if (index > 0 || ip !== "None") checkForm(ip, `${place}[${index}]`, addressFaults, causes);
    else if (ips.length > 1) refuseValue(causes, place, ips, "'None' must be the first and only value");
  });
  if (ips.length > 2) refuseValue(causes, place, ips, "may only hold up to 2 values");
  return causes;
}

function checkTraffic(spec: JsonObject, at: string, causes: Causes): void {
  const { type, externalTrafficPolicy, healthCheckNodePort, sessionAffinity, sessionAffinityConfig } = spec;
  const policy = `${at}.externalTrafficPolicy`;
  if (externalTrafficPolicy && !isExternallyAccessible(spec)) {
    refuseValue(causes, policy, externalTrafficPolicy, "may only be set for externally-accessible services");
  }
  const needsCheck = type === "LoadBalancer" && externalTrafficPolicy === "Local";
  if (healthCheckNodePort && !needsCheck) {
    const why = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
    refuseValue(causes, `${at}.healthCheckNodePort`, healthCheckNodePort, why);
  }
  const { timeoutSeconds } = objectOr(objectOr(sessionAffinityConfig).clientIP);
  if (sessionAffinity !== "ClientIP" || timeoutSeconds === undefined) return;
  if (numberOf(timeoutSeconds) > 0 && numberOf(timeoutSeconds) <= 86_400) return;
  const why = "must be greater than 0 and less than 86400";
  refuseValue(causes, `${at}.sessionAffinityConfig.clientIP.timeoutSeconds`, timeoutSeconds, why);
}

const BALANCER = "may only be used when `type` is 'LoadBalancer'";
const DISTRIBUTIONS = ["PreferClose", "PreferSameZone", "PreferSameNode"];

const serviceSpec: Rule = (spec, at, causes) => {
  const { type, trafficDistribution, loadBalancerClass, allocateLoadBalancerNodePorts } = spec;
  checkType(spec, at, causes);
  checkPorts(spec, at, causes);
  checkLabels(spec.selector, `${at}.selector`, causes);
  checkTraffic(spec, at, causes);
  const externals = Array.isArray(spec.externalIPs) ? spec.externalIPs : [];
  externals.forEach((ip, index) => checkForm(ip, `${at}.externalIPs[${index}]`, reachable, causes));
  const ranges = Array.isArray(spec.loadBalancerSourceRanges) ? spec.loadBalancerSourceRanges : [];
  const place = `${at}.LoadBalancerSourceRanges`;
  if (ranges.length > 0 && type !== "LoadBalancer") causes.push(forbiddenField(place, BALANCER));
  ranges.forEach((range, index) => checkForm(textOf(range).trim(), `${place}[${index}]`, rangeFaults, causes));
  if (type !== "LoadBalancer") {
    const given = { allocateLoadBalancerNodePorts, loadBalancerClass };
    for (const [name, value] of Object.entries(given)) {
      if (value !== undefined) causes.push(forbiddenField(`${at}.${name}`, BALANCER));
    }
  } else checkForm(loadBalancerClass, `${at}.loadBalancerClass`, labelKey, causes);
  if (trafficDistribution !== undefined && !DISTRIBUTIONS.includes(textOf(trafficDistribution))) {
    causes.push(unsupportedField(`${at}.trafficDistribution`, trafficDistribution, DISTRIBUTIONS));
  }
};

const service: Rule = ({ spec, status }, _at, causes) => {
  const place = "status.loadBalancer.ingress";
  const ingress = objectsOf(objectOr(objectOr(status).loadBalancer).ingress);
  if (ingress.length > 0 && objectOr(spec).type !== "LoadBalancer") {
    causes.push(forbiddenField(place, "may only be used when `spec.type` is 'LoadBalancer'"));
    return;
  }
  ingress.forEach(({ ip, hostname }, index) => {
    checkForm(ip || undefined, `${place}[${index}].ip`, addressFaults, causes);
    checkForm(hostname || undefined, `${place}[${index}].hostname`, subdomain, causes);
  });
};

const endpointAddress: Rule = ({ ip = "", hostname }, at, causes) => {
  checkForm(ip, `${at}.ip`, reachable, causes);
  if (addressFaults(textOf(ip)).length > 0) refuseValue(causes, `${at}.ip`, ip, "must be a valid IP address");
  checkForm(hostname || undefined, `${at}.hostname`, dnsLabel, causes);
};

const endpointSubset: Rule = ({ addresses, notReadyAddresses, ports }, at, causes) => {
  if (objectsOf(addresses).length + objectsOf(notReadyAddresses).length === 0) {
    causes.push(requiredField(at, "must specify `addresses` or `notReadyAddresses`"));
  }
  const all = objectsOf(ports);
  all.forEach(({ name, port }, index) => {
    const place = `${at}.ports[${index}]`;
    if (!name && all.length > 1) causes.push(requiredField(`${place}.name`));
    checkForm(name || undefined, `${place}.name`, dnsLabel, causes);
    checkPort(port ?? 0, `${place}.port`, causes);
  });
};

/** The rules of Services and of Endpoints. */
export const SERVICE_RULES: Readonly<Record<string, Rule>> = {
  "core/v1.Service": service,
  "core/v1.ServiceSpec": serviceSpec,
  "core/v1.ServicePort": servicePort,
  "core/v1.EndpointAddress": endpointAddress,
  "core/v1.EndpointSubset": endpointSubset,
};
