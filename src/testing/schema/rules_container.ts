import { type ParsedQuantity, parseQuantity } from "../../api/quantity.ts";
import {
  type Causes,
  duplicateField,
  forbiddenField,
  notFoundField,
  requiredField,
  unsupportedField,
} from "../http/refusal.ts";
import { isObject, type Json, type JsonObject, objectOr, textOf } from "../wire/json.ts";
import {
  atLeastZero,
  checkForm,
  checkPort,
  configKey,
  dnsLabel,
  headerName,
  labelKey,
  numberOf,
  objectsOf,
  ownPath,
  plainPath,
  portName,
  refuseValue,
  requireForm,
  type Rule,
  subdomain,
  variableName,
} from "./checks.ts";

/** The quantities of a map of resources. */
export function quantitiesOf(resources: Json | undefined): readonly (readonly [name: string, ParsedQuantity])[] {
  return Object.entries(objectOr(resources)).map(([name, value]) => [name, parseQuantity(value as string)]);
}

const CONTAINER = ["cpu", "memory", "ephemeral-storage"];
const COUNTS = [
  "pods",
  "resourcequotas",
  "services",
  "replicationcontrollers",
  "secrets",
  "configmaps",
  "persistentvolumeclaims",
  "services.nodeports",
  "services.loadbalancers",
];
const COMPUTE = ["", "requests.", "limits."].flatMap((prefix) => CONTAINER.map((name) => prefix + name));
/** Resources that a quota may limit. */
export const QUOTA: ReadonlySet<string> = new Set([...COMPUTE, ...COUNTS, "requests.storage"]);
/** Resources without a domain. */
const STANDARD: ReadonlySet<string> = new Set([...QUOTA, "storage"]);

const HUGE = /^hugepages-/;
const QUOTA_HUGE = /^(requests\.)?hugepages-/;

function isNative(name: string): boolean {
  return !name.includes("/") || name.includes("kubernetes.io/");
}

function isExtended(name: string): boolean {
  return !isNative(name) && !name.startsWith("requests.") && labelKey(`requests.${name}`).length === 0;
}

/** True for resources that more may be requested of than there is. */
function allowsOvercommit(name: string): boolean {
  return isNative(name) && !HUGE.test(name);
}

/** Reports a name that is no resource; `of` says which ones are meant. */
export function checkResourceName(name: string, at: string, of: "container" | "quota" | "any", causes: Causes): void {
  const before = causes.length;
  checkForm(name, at, labelKey, causes);
  const isUnqualified = !name.includes("/");
  if (causes.length === before && isUnqualified && !STANDARD.has(name) && !QUOTA_HUGE.test(name)) {
    refuseValue(causes, at, name, "must be a standard resource type or fully qualified");
  }
  if (of === "quota" && isUnqualified && !QUOTA.has(name) && !QUOTA_HUGE.test(name)) {
    refuseValue(causes, at, name, "must be a standard resource for quota");
  }
  if (of !== "container") return;
  if (isUnqualified) {
    if (!CONTAINER.includes(name) && !HUGE.test(name)) {
      refuseValue(causes, at, name, "must be a standard resource for containers");
    }
  } else if (!isNative(name) && !isExtended(name)) {
    refuseValue(causes, at, name, "doesn't follow extended resource name standard");
  }
}

/** Reports a quantity below 0, or a fraction of what is counted. */
export function checkAmount(name: string, value: ParsedQuantity, at: string, causes: Causes): void {
  if (value.nanos < 0n) refuseValue(causes, at, String(value), "must be greater than or equal to 0");
  if ((COUNTS.includes(name) || isExtended(name)) && value.nanos % 1_000_000_000n !== 0n) {
    refuseValue(causes, at, String(value), "must be an integer");
  }
}

/** The rules of `core/v1.ResourceRequirements`. */
export function checkRequirements({ limits, requests }: JsonObject, at: string, causes: Causes): void {
  for (const [field, resources] of Object.entries({ limits, requests })) {
    for (const [name, value] of quantitiesOf(resources)) {
      checkResourceName(name, `${at}.${field}[${name}]`, "container", causes);
      checkAmount(name, value, `${at}.${field}[${name}]`, causes);
    }
  }
  for (const [name, value] of quantitiesOf(requests)) {
    const given = objectOr(limits)[name];
    if (given === undefined) {
      if (allowsOvercommit(name)) continue;
      causes.push(requiredField(`${at}.limits`, "Limit must be set for non overcommitable resources"));
      continue;
    }
    const limit = parseQuantity(given as string);
    const order = value.compare(limit);
    const what = `${name} limit of ${limit}`;
    if (order !== 0 && !allowsOvercommit(name)) {
      refuseValue(causes, `${at}.requests`, String(value), `must be equal to ${what}`);
    } else if (order > 0) refuseValue(causes, `${at}.requests`, String(value), `must be less than or equal to ${what}`);
  }
  const names = [limits, requests].flatMap((map) => isObject(map) ? Object.keys(map) : []);
  if (names.some((name) => HUGE.test(name)) && !names.includes("cpu") && !names.includes("memory")) {
    causes.push(forbiddenField(at, "HugePages require cpu or memory"));
  }
}

/** Reports a port that is neither a number nor a name of one. */
export function checkPortOrName(value: Json | undefined, at: string, causes: Causes): void {
  if (typeof value === "string") checkForm(value, at, portName, causes);
  else checkPort(value ?? 0, at, causes);
}

/** Reports elements whose member equals that of one before. */
export function checkUnique(list: Json | undefined, name: string, at: string, causes: Causes): void {
  const seen = new Set<Json | undefined>();
  objectsOf(list).forEach(({ [name]: value }, index) => {
    if (value === undefined || value === "") return;
    if (seen.has(value)) causes.push(duplicateField(`${at}[${index}].${name}`, value));
    seen.add(value);
  });
}

/** Reports a number outside a range. */
export function checkRange(value: Json | undefined, least: number, most: number, at: string, causes: Causes): void {
  if (typeof value !== "number" || (value >= least && value <= most)) return;
  refuseValue(causes, at, value, `must be between ${least} and ${most}, inclusive`);
}

const containerPort: Rule = ({ name, containerPort, hostPort }, at, causes) => {
  if (name !== undefined) checkForm(name, `${at}.name`, portName, causes);
  if (!containerPort) causes.push(requiredField(`${at}.containerPort`));
  else checkPort(containerPort, `${at}.containerPort`, causes);
  if (hostPort) checkPort(hostPort, `${at}.hostPort`, causes);
};

const RESOURCES = ["cpu", "ephemeral-storage", "memory"];
const RESOURCE_FIELDS = ["limits", "requests"].flatMap((of) => RESOURCES.map((name) => `${of}.${name}`));
const ENV_FIELDS = [
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
  "spec.nodeName",
  "spec.serviceAccountName",
  "status.hostIP",
  "status.hostIPs",
  "status.podIP",
  "status.podIPs",
];
const VOLUME_FIELDS = [
  "metadata.annotations",
  "metadata.labels",
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
];
const KNOWN_FIELDS = [...ENV_FIELDS, ...VOLUME_FIELDS, "spec.restartPolicy", "spec.schedulerName", "status.phase"];
const SUBSCRIPTED = /^(.+)\['(.*)'\]$/;

function checkFieldRef(ref: JsonObject, allowed: readonly string[], at: string, causes: Causes): void {
  const field = textOf(ref.fieldPath);
  const [, base, key] = SUBSCRIPTED.exec(field) ?? [];
  const version = textOf(ref.apiVersion || "v1");
  const fault = version !== "v1"
    ? `unsupported pod version: ${version}`
    : base !== undefined
    ? base === "metadata.annotations" || base === "metadata.labels"
      ? undefined
      : `field label does not support subscript: ${field}`
    : KNOWN_FIELDS.includes(field)
    ? undefined
    : `field label not supported: ${field}`;
  if (field === "") return;
  if (fault !== undefined) refuseValue(causes, `${at}.fieldPath`, field, `error converting fieldPath: ${fault}`);
  else if (base !== undefined) {
    checkForm(base === "metadata.labels" ? key : key.toLowerCase(), at, labelKey, causes);
  } else if (!allowed.includes(field)) causes.push(unsupportedField(`${at}.fieldPath`, field, allowed));
}

const DIVISORS = /^1([kMGTPE]i?|Ki)?$/;

function checkResourceRef(ref: JsonObject, isVolume: boolean, at: string, causes: Causes): void {
  const resource = textOf(ref.resource);
  if (isVolume && !ref.containerName) causes.push(requiredField(`${at}.containerName`));
  else if (resource !== "" && !RESOURCE_FIELDS.includes(resource) && !/^(limits|requests)\.hugepages-/.test(resource)) {
    causes.push(unsupportedField(`${at}.resource`, resource, RESOURCE_FIELDS));
  }
  const divisor = textOf(ref.divisor);
  if (divisor === "" || parseQuantity(divisor).nanos === 0n) return;
  const isCpu = resource.endsWith(".cpu");
  if (isCpu ? divisor === "1" || divisor === "1m" : DIVISORS.test(divisor)) return;
  const values = isCpu ? "1m and 1" : "1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei";
  const what = isCpu ? "cpu" : resource.endsWith("storage") ? "local ephemeral storage" : "memory";
  refuseValue(
    causes,
    `${at}.divisor`,
    resource,
    `only divisor's values ${values} are supported with the ${what} resource`,
  );
}

const ENV_SOURCES = "`fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`";

const envVar: Rule = ({ name, value, valueFrom }, at, causes) => {
  checkForm(name || undefined, `${at}.name`, variableName, causes);
  if (!isObject(valueFrom)) return;
  const place = `${at}.valueFrom`;
  const { fieldRef, resourceFieldRef } = valueFrom;
  if (isObject(fieldRef)) checkFieldRef(fieldRef, ENV_FIELDS, `${place}.fieldRef`, causes);
  if (isObject(resourceFieldRef)) checkResourceRef(resourceFieldRef, false, `${place}.resourceFieldRef`, causes);
  const sources = Object.keys(valueFrom).length;
  if (sources === 0) refuseValue(causes, place, "", `must specify one of: ${ENV_SOURCES}`);
  else if (value) refuseValue(causes, place, "", "may not be specified when `value` is not empty");
  else if (sources > 1) refuseValue(causes, place, "", "may not have more than one field specified at a time");
};

const keySelector: Rule = ({ name, key }, at, causes) => {
  checkForm(textOf(name), `${at}.name`, subdomain, causes);
  checkForm(key || undefined, `${at}.key`, configKey, causes);
};

const envFrom: Rule = ({ prefix, configMapRef, secretRef }, at, causes) => {
  checkForm(prefix || undefined, `${at}.prefix`, variableName, causes);
  for (const [name, ref] of Object.entries({ configMapRef, secretRef })) {
    if (isObject(ref)) requireForm(ref.name, `${at}.${name}.name`, subdomain, causes);
  }
  const list = at.slice(0, at.lastIndexOf("["));
  if (!configMapRef && !secretRef) refuseValue(causes, list, "", "must specify one of: `configMapRef` or `secretRef`");
  if (configMapRef && secretRef) refuseValue(causes, list, "", "may not have more than one field specified at a time");
};

/** Reports sources or handlers after the first, and that there is none. */
export function checkOneMember(
  object: JsonObject,
  names: readonly string[],
  what: string,
  at: string,
  causes: Causes,
): void {
  const [first, ...others] = names.filter((name) => object[name] !== undefined);
  if (first === undefined) causes.push(requiredField(at, `must specify a ${what} type`));
  for (const name of others) causes.push(forbiddenField(`${at}.${name}`, `may not specify more than 1 ${what} type`));
}

const HANDLERS = ["exec", "httpGet", "tcpSocket", "grpc", "sleep"];

/** Checks what a probe or hook does; only its first action is looked into. */
function checkHandler(handler: JsonObject, at: string, grace: Json | undefined, causes: Causes): void {
  checkOneMember(handler, HANDLERS, "handler", at, causes);
  const kind = HANDLERS.find((name) => handler[name] !== undefined);
  const action = objectOr(handler[kind ?? ""]);
  const place = `${at}.${kind}`;
  if (kind === "exec" && objectsOf(action.command).length === 0) causes.push(requiredField(`${place}.command`));
  if (kind === "httpGet" || kind === "tcpSocket" || kind === "grpc") {
    checkPortOrName(action.port, `${place}.port`, causes);
  }
  const { scheme } = action;
  if (scheme && scheme !== "HTTP" && scheme !== "HTTPS") {
    causes.push(unsupportedField(`${place}.scheme`, scheme, ["HTTP", "HTTPS"]));
  }
  for (const { name } of objectsOf(action.httpHeaders)) {
    checkForm(textOf(name), `${place}.httpHeaders`, headerName, causes);
  }
  const seconds = numberOf(action.seconds);
  if (kind === "sleep" && typeof grace === "number" && (seconds < 0 || seconds > grace)) {
    refuseValue(causes, place, seconds, `must be non-negative and less than terminationGracePeriodSeconds (${grace})`);
  }
}

const TIMES = ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"];
const probeTimes = atLeastZero(...TIMES);

function checkProbe(probe: JsonObject, name: string, at: string, grace: Json | undefined, causes: Causes): void {
  checkHandler(probe, at, grace, causes);
  probeTimes(probe, at, causes);
  const { successThreshold = 1, terminationGracePeriodSeconds: own } = probe;
  if (typeof own === "number" && own <= 0) {
    refuseValue(causes, `${at}.terminationGracePeriodSeconds`, own, "must be greater than 0");
  }
  if (name !== "readinessProbe") {
    if (successThreshold !== 1) refuseValue(causes, `${at}.successThreshold`, successThreshold, "must be 1");
  } else if (own !== undefined) {
    refuseValue(causes, `${at}.terminationGracePeriodSeconds`, own, "must not be set for readinessProbes");
  }
}

const PROBES = ["livenessProbe", "readinessProbe", "startupProbe"];
const RUNNING = [...PROBES, "lifecycle"];

/** Checks what is done while a container runs; init containers that end have none of it. */
export function checkRunning(container: JsonObject, ends: boolean, at: string, grace: Json, causes: Causes): void {
  if (ends) {
    for (const name of RUNNING.filter((name) => container[name] !== undefined)) {
      const why = "may not be set for init containers without restartPolicy=Always";
      causes.push(forbiddenField(`${at}.${name}`, why));
    }
    return;
  }
  for (const name of PROBES) {
    const probe = container[name];
    if (isObject(probe)) checkProbe(probe, name, `${at}.${name}`, grace, causes);
  }
  const { postStart, preStop } = objectOr(container.lifecycle);
  for (const [name, handler] of Object.entries({ postStart, preStop })) {
    if (isObject(handler)) checkHandler(handler, `${at}.lifecycle.${name}`, grace, causes);
  }
}

const PROPAGATIONS = ["Bidirectional", "HostToContainer", "None"];

/** Reports mounts of volumes that the pod does not have, and paths that are mounted twice. */
export function checkMounts(
  { volumeMounts, volumeDevices, securityContext }: JsonObject,
  volumes: ReadonlyMap<string, JsonObject>,
  at: string,
  causes: Causes,
): void {
  const devices = objectsOf(volumeDevices);
  const paths = new Set<Json | undefined>();
  objectsOf(volumeMounts).forEach(({ name = "", mountPath = "", subPath, subPathExpr, mountPropagation }, index) => {
    const list = `${at}.volumeMounts`;
    const place = `${list}[${index}]`;
    for (const [field, value] of Object.entries({ name, mountPath })) {
      if (value === "") causes.push(requiredField(`${place}.${field}`));
    }
    if (!volumes.has(textOf(name))) causes.push(notFoundField(`${place}.name`, name));
    if (paths.has(mountPath)) refuseValue(causes, `${place}.mountPath`, mountPath, "must be unique");
    paths.add(mountPath);
    if (devices.some((device) => device.name === name)) {
      refuseValue(causes, `${place}.name`, name, "must not already exist in volumeDevices");
    }
    checkForm(subPath, `${list}.subPath`, plainPath(), causes);
    if (subPath && subPathExpr) {
      refuseValue(causes, `${place}.subPathExpr`, subPathExpr, "subPathExpr and subPath are mutually exclusive");
    }
    checkForm(subPathExpr, `${list}.subPathExpr`, plainPath(), causes);
    if (mountPropagation !== undefined && !PROPAGATIONS.includes(textOf(mountPropagation))) {
      causes.push(unsupportedField(`${list}.mountPropagation`, mountPropagation, PROPAGATIONS));
    }
    if (mountPropagation === "Bidirectional" && objectOr(securityContext).privileged !== true) {
      causes.push(
        forbiddenField(
          `${list}.mountPropagation`,
          "Bidirectional mount propagation is available only to privileged containers",
        ),
      );
    }
  });
  devices.forEach(({ name = "", devicePath = "" }, index) => {
    const place = `${at}.volumeDevices[${index}]`;
    const volume = volumes.get(textOf(name));
    if (volume === undefined) causes.push(notFoundField(`${place}.name`, name));
    else if (!volume.persistentVolumeClaim && !volume.ephemeral) {
      const why = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode";
      refuseValue(causes, `${place}.name`, name, why);
    }
    checkForm(devicePath, `${place}.devicePath`, plainPath(true), causes);
  });
}

/** Reports ids of users and groups that are none. */
export function checkIds(context: JsonObject, at: string, names: readonly string[], causes: Causes): void {
  for (const name of names) checkRange(context[name], 0, 2 ** 31 - 1, `${at}.${name}`, causes);
}

const securityContext: Rule = (context, at, causes) => {
  checkIds(context, at, ["runAsUser", "runAsGroup"], causes);
  const { allowPrivilegeEscalation, privileged, capabilities } = context;
  if (allowPrivilegeEscalation !== false) return;
  const also = "cannot set `allowPrivilegeEscalation` to false and";
  if (privileged === true) refuseValue(causes, at, context, `${also} \`privileged\` to true`);
  const { add } = objectOr(capabilities);
  if (Array.isArray(add) && add.includes("CAP_SYS_ADMIN")) {
    refuseValue(causes, at, context, `${also} \`capabilities.Add\` CAP_SYS_ADMIN`);
  }
};

const LOCALHOST = "when seccomp type is Localhost";

const seccompProfile: Rule = ({ type, localhostProfile, ...others }, at, causes) => {
  const place = `${at}.localhostProfile`;
  if (type !== "Localhost") {
    if (localhostProfile === undefined) return;
    refuseValue(causes, place, { ...others, type, localhostProfile }, `can only be set ${LOCALHOST}`);
  } else if (localhostProfile === undefined) causes.push(requiredField(place, `must be set ${LOCALHOST}`));
  else checkForm(localhostProfile, place, plainPath(), causes);
};

const container: Rule = ({ name, image, ports }, at, causes) => {
  checkForm(name || undefined, `${at}.name`, dnsLabel, causes);
  if (!image) causes.push(requiredField(`${at}.image`));
  checkUnique(ports, "name", `${at}.ports`, causes);
};

const fileRef: Rule = ({ fieldRef, resourceFieldRef, path }, element, causes) => {
  // The server does not say which element it is.
  const at = element.replace(/\.items\[\d+\]$/, "");
  requireForm(path, `${at}.path`, ownPath, causes);
  if (isObject(fieldRef)) {
    checkFieldRef(fieldRef, VOLUME_FIELDS, `${at}.fieldRef`, causes);
    if (resourceFieldRef) {
      refuseValue(causes, at, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously");
    }
  } else if (isObject(resourceFieldRef)) {
    checkResourceRef(resourceFieldRef, true, `${at}.resourceFieldRef`, causes);
  } else causes.push(requiredField(at, "one of fieldRef and resourceFieldRef is required"));
};

/** The rules of containers and their parts. */
export const CONTAINER_RULES: Readonly<Record<string, Rule>> = {
  "core/v1.Container": container,
  "core/v1.EphemeralContainer": container,
  "core/v1.ContainerPort": containerPort,
  "core/v1.EnvVar": envVar,
  "core/v1.EnvFromSource": envFrom,
  "core/v1.ConfigMapKeySelector": keySelector,
  "core/v1.SecretKeySelector": keySelector,
  "core/v1.ResourceRequirements": checkRequirements,
  "core/v1.SecurityContext": securityContext,
  "core/v1.SeccompProfile": seccompProfile,
  "core/v1.DownwardAPIVolumeFile": fileRef,
};
