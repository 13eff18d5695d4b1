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
  all,
  atLeast,
  checkForm,
  configKey,
  dnsLabel,
  fields,
  formed,
  labelKey,
  noneBelowZero,
  numberOf,
  objectsOf,
  oneOf,
  ownPath,
  plainPath,
  port,
  portName,
  portOrName,
  present,
  refuseValue,
  requireForm,
  type Rule,
  subdomain,
  userId,
  variableName,
} from "./checks.ts";

/** The quantities of a map of resources. */
export function quantitiesOf(resources: Json | undefined): readonly (readonly [name: string, ParsedQuantity])[] {
  return Object.entries(objectOr(resources)).map(([name, value]) => [name, parseQuantity(value as string)]);
}

const CONTAINER = ["cpu", "memory", "ephemeral-storage"];
const HUGE = /^hugepages-/;

/** True for resources of others, which are counted, and of which no more may be requested than there is. */
function isExtended(name: string): boolean {
  return name.includes("/") && !name.includes("kubernetes.io/");
}

function checkResourceName(name: string, at: string, causes: Causes): void {
  checkForm(name, at, labelKey, causes);
  if (name.includes("/") || CONTAINER.includes(name) || HUGE.test(name)) return;
  refuseValue(causes, at, name, "must be a standard resource type or fully qualified");
  refuseValue(causes, at, name, "must be a standard resource for containers");
}

/** Reports a quantity below 0, or a fraction of what is counted. */
export function checkAmount(name: string, value: ParsedQuantity, at: string, causes: Causes): void {
  if (value.nanos < 0n) refuseValue(causes, at, String(value), "must be greater than or equal to 0");
  if ((name === "pods" || isExtended(name)) && value.nanos % 1_000_000_000n !== 0n) {
    refuseValue(causes, at, String(value), "must be an integer");
  }
}

const requirements: Rule = ({ limits, requests }, at, causes) => {
  for (const [field, resources] of Object.entries({ limits, requests })) {
    for (const [name, value] of quantitiesOf(resources)) {
      checkResourceName(name, `${at}.${field}[${name}]`, causes);
      checkAmount(name, value, `${at}.${field}[${name}]`, causes);
    }
  }
  for (const [name, value] of quantitiesOf(requests)) {
    const given = objectOr(limits)[name];
    const mustBeEqual = isExtended(name) || HUGE.test(name);
    if (given === undefined) {
      if (mustBeEqual) causes.push(requiredField(`${at}.limits`, "Limit must be set for non overcommitable resources"));
      continue;
    }
    const limit = parseQuantity(given as string);
    const order = value.compare(limit);
    if (order <= 0 && (order === 0 || !mustBeEqual)) continue;
    const what = `${mustBeEqual ? "equal to" : "less than or equal to"} ${name} limit of ${limit}`;
    refuseValue(causes, `${at}.requests`, String(value), `must be ${what}`);
  }
};

/** Reports elements whose member equals that of one before. */
export function checkUnique(list: Json | undefined, name: string, at: string, causes: Causes): void {
  const seen = new Set<Json | undefined>();
  objectsOf(list).forEach(({ [name]: value }, index) => {
    if (value === undefined || value === "") return;
    if (seen.has(value)) causes.push(duplicateField(`${at}[${index}].${name}`, value));
    seen.add(value);
  });
}

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
const SUBSCRIPTED = /^metadata\.(?:labels|annotations)\['.*'\]$/;

function checkFieldRef(ref: JsonObject, allowed: readonly string[], at: string, causes: Causes): void {
  const field = textOf(ref.fieldPath);
  if (field === "" || SUBSCRIPTED.test(field)) return;
  if (!KNOWN_FIELDS.includes(field)) {
    const why = `error converting fieldPath: field label not supported: ${field}`;
    refuseValue(causes, `${at}.fieldPath`, field, why);
  } else if (!allowed.includes(field)) causes.push(unsupportedField(`${at}.fieldPath`, field, allowed));
}

const ENV_SOURCES = "`fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`";

const envVar: Rule = ({ value, valueFrom }, at, causes) => {
  if (!isObject(valueFrom)) return;
  const place = `${at}.valueFrom`;
  const { fieldRef } = valueFrom;
  if (isObject(fieldRef)) checkFieldRef(fieldRef, ENV_FIELDS, `${place}.fieldRef`, causes);
  const sources = Object.keys(valueFrom).length;
  if (sources === 0) refuseValue(causes, place, "", `must specify one of: ${ENV_SOURCES}`);
  else if (value) refuseValue(causes, place, "", "may not be specified when `value` is not empty");
  else if (sources > 1) refuseValue(causes, place, "", "may not have more than one field specified at a time");
};

const envFrom: Rule = ({ configMapRef, secretRef }, at, causes) => {
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

const handlerFields = fields({
  "exec.command!": present,
  "httpGet.port": portOrName,
  "tcpSocket.port": portOrName,
  "grpc.port": port,
});

/** Checks what a probe or hook does. */
function checkHandler(handler: JsonObject, at: string, grace: number, causes: Causes): void {
  checkOneMember(handler, HANDLERS, "handler", at, causes);
  handlerFields(handler, at, causes);
  const seconds = numberOf(objectOr(handler.sleep).seconds);
  if (seconds >= 0 && seconds <= grace) return;
  const why = `must be non-negative and less than terminationGracePeriodSeconds (${grace})`;
  refuseValue(causes, `${at}.sleep`, seconds, why);
}

const probeFields = all(noneBelowZero, fields({ terminationGracePeriodSeconds: atLeast(1) }));

function checkProbe(probe: JsonObject, name: string, at: string, grace: number, causes: Causes): void {
  checkHandler(probe, at, grace, causes);
  probeFields(probe, at, causes);
  const { successThreshold = 1, terminationGracePeriodSeconds: own } = probe;
  if (name !== "readinessProbe") {
    if (successThreshold !== 1) refuseValue(causes, `${at}.successThreshold`, successThreshold, "must be 1");
  } else if (own !== undefined) {
    refuseValue(causes, `${at}.terminationGracePeriodSeconds`, own, "must not be set for readinessProbes");
  }
}

const PROBES = ["livenessProbe", "readinessProbe", "startupProbe"];

/** Checks what is done while a container runs; init containers that end have none of it. */
export function checkRunning(container: JsonObject, ends: boolean, at: string, grace: number, causes: Causes): void {
  if (ends) {
    for (const name of [...PROBES, "lifecycle"].filter((name) => container[name] !== undefined)) {
      const why = "may not be set for init containers without restartPolicy=Always";
      causes.push(forbiddenField(`${at}.${name}`, why));
    }
    return;
  }
  for (const name of PROBES) {
    const probe = container[name];
    if (isObject(probe)) checkProbe(probe, name, `${at}.${name}`, grace, causes);
  }
  for (const [name, handler] of Object.entries(objectOr(container.lifecycle))) {
    if (isObject(handler)) checkHandler(handler, `${at}.lifecycle.${name}`, grace, causes);
  }
}

/** Reports mounts of volumes that the pod does not have, and paths that are mounted twice. */
export function checkMounts(
  { volumeMounts }: JsonObject,
  volumes: ReadonlySet<string>,
  at: string,
  causes: Causes,
): void {
  const paths = new Set<Json | undefined>();
  objectsOf(volumeMounts).forEach(({ name = "", mountPath = "", subPath, subPathExpr, mountPropagation }, index) => {
    const list = `${at}.volumeMounts`;
    const place = `${list}[${index}]`;
    if (!volumes.has(textOf(name))) causes.push(notFoundField(`${place}.name`, name));
    if (paths.has(mountPath)) refuseValue(causes, `${place}.mountPath`, mountPath, "must be unique");
    paths.add(mountPath);
    // The server does not say which mount it is.
    mountFields({ subPath, subPathExpr, mountPropagation }, list, causes);
  });
}

const mountFields = fields({
  subPath: formed(plainPath()),
  subPathExpr: formed(plainPath()),
  mountPropagation: oneOf("Bidirectional", "HostToContainer", "None"),
});

const container: Rule = (object, at, causes) => {
  containerFields(object, at, causes);
  checkUnique(object.ports, "name", `${at}.ports`, causes);
};

const containerFields = fields({ name: formed(dnsLabel), "image!": present });

const keySelector = fields({ name: formed(subdomain), key: formed(configKey) });

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
    if (!resourceFieldRef.containerName) causes.push(requiredField(`${at}.resourceFieldRef.containerName`));
  } else causes.push(requiredField(at, "one of fieldRef and resourceFieldRef is required"));
};

/** The rules of containers and their parts. */
export const CONTAINER_RULES: Readonly<Record<string, Rule>> = {
  "core/v1.Container": container,
  "core/v1.EphemeralContainer": container,
  "core/v1.ContainerPort": fields({ name: formed(portName), "containerPort!": port, hostPort: port }),
  "core/v1.EnvVar": all(fields({ name: formed(variableName) }), envVar),
  "core/v1.EnvFromSource": all(
    fields({
      prefix: formed(variableName),
      "configMapRef.name!": formed(subdomain),
      "secretRef.name!": formed(subdomain),
    }),
    envFrom,
  ),
  "core/v1.ConfigMapKeySelector": keySelector,
  "core/v1.SecretKeySelector": keySelector,
  "core/v1.ResourceRequirements": requirements,
  "core/v1.SecurityContext": fields({ runAsUser: userId, runAsGroup: userId }),
  "core/v1.DownwardAPIVolumeFile": fileRef,
};
