/**
 * The rules of pods and containers that a schema does not say.
 *
 * {@linkcode POD_RULES} is the entry point; `rules.ts` takes it into its table.
 *
 * @module
 */
import { type ParsedQuantity, parseQuantity } from "../../../engine/api/quantity.ts";
import { type Causes, fieldCause } from "../../../engine/protocol/refusal.ts";
import { isObject, type Json, type JsonObject } from "../../../engine/api/json.ts";
import { objectOr, objectsOf, textOf } from "../../../engine/api/members.ts";
import {
  allOf,
  anyJson,
  atLeast,
  between,
  type Check,
  checkForm,
  checkLabels,
  checkRequirement,
  distinct,
  formed,
  noneBelowZero,
  portNumber,
  portOrName,
  refuseValue,
  type Rule,
  rulesOf,
  type TextForm,
  textIn,
} from "./checks.ts";

/** The name of an environment variable. */
const variableName: TextForm = (text) =>
  /^[ -<>-~]*$/.test(text)
    ? []
    : ["a valid environment variable name must consist only of printable ASCII characters other than '='"];

/** The check of the id of a user or group. */
const id: Check = between(0, 2 ** 31 - 1);

/** The quantities of a map of resources. */
function quantitiesOf(resources: Json | undefined): readonly (readonly [name: string, ParsedQuantity])[] {
  return Object.entries(objectOr(resources)).map(([name, value]) => [name, parseQuantity(value as string)]);
}

const CONTAINER = ["cpu", "memory", "ephemeral-storage"];

function checkResourceName(name: string, at: string, causes: Causes): void {
  checkForm(name, at, "labelKey", causes);
  if (name.includes("/") || CONTAINER.includes(name) || name.startsWith("hugepages-")) return;
  refuseValue(causes, at, name, "must be a standard resource type or fully qualified");
  refuseValue(causes, at, name, "must be a standard resource for containers");
}

const requirements: Rule = ({ limits, requests }, at, causes) => {
  for (const [field, resources] of Object.entries({ limits, requests })) {
    for (const [name, value] of quantitiesOf(resources)) {
      checkResourceName(name, `${at}.${field}[${name}]`, causes);
      if (value.nanos >= 0n) continue;
      refuseValue(causes, `${at}.${field}[${name}]`, String(value), "must be greater than or equal to 0");
    }
  }
  for (const [name, value] of quantitiesOf(requests)) {
    const given = objectOr(limits)[name];
    if (given === undefined) continue;
    const limit = parseQuantity(given as string);
    if (value.compare(limit) <= 0) continue;
    const why = `must be less than or equal to ${name} limit of ${limit}`;
    refuseValue(causes, `${at}.requests`, String(value), why);
  }
};

/** Reports elements whose member equals that of one before. */
function checkUnique(list: Json | undefined, name: string, at: string, causes: Causes): void {
  const checkNew = distinct(causes);
  objectsOf(list).forEach(({ [name]: value }, index) => {
    if (value !== undefined && value !== "") checkNew(value, `${at}[${index}].${name}`, value);
  });
}

const ENV_FIELDS = [
  ..."metadata.name metadata.namespace metadata.uid spec.nodeName spec.serviceAccountName".split(" "),
  ..."status.hostIP status.hostIPs status.podIP status.podIPs".split(" "),
];
const SUBSCRIPTED = /^metadata\.(?:labels|annotations)\['.*'\]$/;

function checkFieldRef(ref: JsonObject, at: string, causes: Causes): void {
  const field = textOf(ref.fieldPath);
  if (field === "" || SUBSCRIPTED.test(field) || ENV_FIELDS.includes(field)) return;
  refuseValue(causes, `${at}.fieldPath`, field, `error converting fieldPath: field label not supported: ${field}`);
}

const ENV_SOURCES = "`fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`";

const envVar: Rule = ({ value, valueFrom }, at, causes) => {
  if (!isObject(valueFrom)) return;
  const place = `${at}.valueFrom`;
  const { fieldRef } = valueFrom;
  if (isObject(fieldRef)) checkFieldRef(fieldRef, `${place}.fieldRef`, causes);
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
function checkOneMember(object: JsonObject, names: readonly string[], what: string, at: string, causes: Causes): void {
  const [first, ...others] = names.filter((name) => object[name] !== undefined);
  if (first === undefined) causes.push(fieldCause.required(at, `must specify a ${what} type`));
  for (const name of others) {
    causes.push(fieldCause.forbidden(`${at}.${name}`, `may not specify more than 1 ${what} type`));
  }
}

const HANDLERS = ["exec", "httpGet", "tcpSocket", "grpc", "sleep"];

const handlerFields = rulesOf({
  "exec.command!": anyJson,
  "httpGet.port": portOrName,
  "tcpSocket.port": portOrName,
  "grpc.port": portNumber,
});

/** Checks what a probe or hook does. */
function checkHandler(handler: JsonObject, at: string, causes: Causes): void {
  checkOneMember(handler, HANDLERS, "handler", at, causes);
  handlerFields(handler, at, causes);
}

function checkProbe(probe: JsonObject, name: string, at: string, causes: Causes): void {
  checkHandler(probe, at, causes);
  noneBelowZero(probe, at, causes);
  const { successThreshold = 1 } = probe;
  if (name === "readinessProbe" || successThreshold === 1) return;
  refuseValue(causes, `${at}.successThreshold`, successThreshold, "must be 1");
}

const PROBES = ["livenessProbe", "readinessProbe", "startupProbe"];

/** Checks what is done while a container runs; init containers that end have none of it. */
function checkRunning(container: JsonObject, ends: boolean, at: string, causes: Causes): void {
  if (ends) {
    for (const name of [...PROBES, "lifecycle"].filter((name) => container[name] !== undefined)) {
      const why = "may not be set for init containers without restartPolicy=Always";
      causes.push(fieldCause.forbidden(`${at}.${name}`, why));
    }
    return;
  }
  for (const name of PROBES) {
    const probe = container[name];
    if (isObject(probe)) checkProbe(probe, name, `${at}.${name}`, causes);
  }
  for (const [name, handler] of Object.entries(objectOr(container.lifecycle))) {
    if (isObject(handler)) checkHandler(handler, `${at}.lifecycle.${name}`, causes);
  }
}

/** Reports mounts of volumes that the pod does not have, and paths that are mounted twice. */
function checkMounts({ volumeMounts }: JsonObject, volumes: ReadonlySet<string>, at: string, causes: Causes): void {
  const paths = new Set<Json | undefined>();
  objectsOf(volumeMounts).forEach(({ name = "", mountPath = "" }, index) => {
    const place = `${at}.volumeMounts[${index}]`;
    if (!volumes.has(textOf(name))) causes.push(fieldCause.notFound(`${place}.name`, name));
    if (paths.has(mountPath)) refuseValue(causes, `${place}.mountPath`, mountPath, "must be unique");
    paths.add(mountPath);
  });
}

const container: Rule = (object, at, causes) => {
  containerFields(object, at, causes);
  checkUnique(object.ports, "name", `${at}.ports`, causes);
};

const containerFields = rulesOf({ name: "dnsLabel", "image!": anyJson });

const keySelector = rulesOf({ name: "subdomain", key: "configKey" });

/** Frequent sources of a volume, in the order in which the server looks for the one that counts. */
const VOLUMES = "emptyDir hostPath secret nfs persistentVolumeClaim downwardAPI configMap projected csi".split(" ");

/** Reports volumes that are none, and returns the names of those that can be mounted. */
function checkVolumes(volumes: Json | undefined, at: string, causes: Causes): ReadonlySet<string> {
  const good = new Set<string>();
  const bad = new Set(causes.map(({ field }) => field.slice(0, field.indexOf(".", at.length))));
  objectsOf(volumes).forEach((volume, index) => {
    const place = `${at}[${index}]`;
    const before = causes.length;
    const name = textOf(volume.name);
    const { name: _, ...sources } = volume;
    checkOneMember(sources, [...new Set([...VOLUMES, ...Object.keys(sources)])], "volume", place, causes);
    checkForm(name || undefined, `${place}.name`, "dnsLabel", causes);
    if (good.has(name)) causes.push(fieldCause.duplicate(`${place}.name`, name));
    if (causes.length === before && name !== "" && !bad.has(place)) good.add(name);
  });
  return good;
}

/** The containers of a pod: names, mounts, probes. */
function checkContainers(spec: JsonObject, at: string, causes: Causes): void {
  const volumes = checkVolumes(spec.volumes, `${at}.volumes`, causes);
  if (objectsOf(spec.containers).length === 0) causes.push(fieldCause.required(`${at}.containers`));
  const checkNew = distinct(causes);
  const each = (list: string, check: (container: JsonObject, at: string) => void): void => {
    objectsOf(spec[list]).forEach((container, index) => {
      const place = `${at}.${list}[${index}]`;
      checkMounts(container, volumes, place, causes);
      check(container, place);
      const name = textOf(container.name);
      if (name !== "") checkNew(name, `${place}.name`, name);
    });
  };
  each("containers", (container, place) => checkRunning(container, false, place, causes));
  each("initContainers", (container, place) => {
    checkRunning(container, container.restartPolicy !== "Always", place, causes);
  });
  each("ephemeralContainers", () => {});
}

const nodeTerm = rulesOf({
  "matchExpressions[]": (value, at, causes) => checkRequirement(objectOr(value), at, causes, ["Gt", "Lt"]),
});

const podSpec: Rule = (spec, at, causes) => {
  checkContainers(spec, at, causes);
  checkLabels(spec.nodeSelector, `${at}.nodeSelector`, causes);
};

const weighted = rulesOf({ weight: between(1, 100) });

/** The rules of pods, containers and their parts. */
export const POD_RULES: Readonly<Record<string, Rule>> = {
  "core/v1.Container": container,
  "core/v1.EphemeralContainer": container,
  "core/v1.ContainerPort": rulesOf({ name: "portName", "containerPort!": portNumber, hostPort: portNumber }),
  "core/v1.EnvVar": allOf(rulesOf({ name: formed(variableName) }), envVar),
  "core/v1.EnvFromSource": allOf(
    rulesOf({ prefix: formed(variableName), "configMapRef.name!": "subdomain", "secretRef.name!": "subdomain" }),
    envFrom,
  ),
  "core/v1.ConfigMapKeySelector": keySelector,
  "core/v1.SecretKeySelector": keySelector,
  "core/v1.ResourceRequirements": requirements,
  "core/v1.SecurityContext": rulesOf({ runAsUser: id, runAsGroup: id }),
  "core/v1.PodSpec": allOf(
    podSpec,
    rulesOf({
      serviceAccountName: "subdomain",
      nodeName: "subdomain",
      hostname: "dnsLabel",
      subdomain: "dnsLabel",
      priorityClassName: "subdomain",
      runtimeClassName: "subdomain",
      restartPolicy: textIn("Always", "OnFailure", "Never"),
      dnsPolicy: textIn("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"),
      activeDeadlineSeconds: between(1, 2 ** 31 - 1),
      "dnsConfig.nameservers[]": "address",
      "readinessGates[].conditionType": "labelKey",
      "schedulingGates[].name": "labelKey",
    }),
  ),
  "core/v1.PodSecurityContext": rulesOf({ runAsUser: id, runAsGroup: id, fsGroup: id, "supplementalGroups[]": id }),
  "core/v1.SecretVolumeSource": rulesOf({ "secretName!": anyJson }),
  "core/v1.ConfigMapVolumeSource": rulesOf({ "name!": anyJson }),
  "core/v1.VolumeProjection": rulesOf({ "secret.name!": anyJson, "configMap.name!": anyJson }),
  "core/v1.Toleration": rulesOf({
    key: "labelKey",
    operator: textIn("Equal", "Exists"),
    effect: textIn("NoSchedule", "PreferNoSchedule", "NoExecute"),
  }),
  "core/v1.TopologySpreadConstraint": rulesOf({ maxSkew: atLeast(1), minDomains: atLeast(1) }),
  "core/v1.NodeSelectorTerm": nodeTerm,
  "core/v1.PreferredSchedulingTerm": weighted,
  "core/v1.WeightedPodAffinityTerm": weighted,
  "core/v1.PodAffinityTerm": rulesOf({ topologyKey: "labelKey", "namespaces[]": "dnsLabel" }),
  "core/v1.HostAlias": rulesOf({ ip: "address", "hostnames[]": "subdomain" }),
};

const COMPUTE = ["cpu", "memory"];

/** The quality of service that resources of containers stand for. */
export function qosClass(spec: JsonObject): string {
  const own = objectOr(spec.resources);
  const all = own.limits === undefined && own.requests === undefined
    ? [...objectsOf(spec.containers), ...objectsOf(spec.initContainers)].map(({ resources }) => objectOr(resources))
    : [own];
  const sums = { requests: new Map<string, bigint>(), limits: new Map<string, bigint>() };
  let isGuaranteed = true;
  for (const { requests, limits } of all) {
    for (const [field, resources] of Object.entries({ requests, limits })) {
      const sum = sums[field as keyof typeof sums];
      for (const name of COMPUTE) {
        const value = objectOr(resources)[name];
        const { nanos } = parseQuantity(textOf(value) || "0");
        if (nanos > 0n) sum.set(name, (sum.get(name) ?? 0n) + nanos);
        else if (field === "limits") isGuaranteed = false;
      }
    }
  }
  const { requests, limits } = sums;
  if (requests.size + limits.size === 0) return "BestEffort";
  const isEqual = requests.size === limits.size && [...requests].every(([name, sum]) => limits.get(name) === sum);
  return isGuaranteed && isEqual ? "Guaranteed" : "Burstable";
}
