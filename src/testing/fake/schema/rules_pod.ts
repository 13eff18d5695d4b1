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
import { objectOr, objectsOf, textOf, textsOf } from "../../../engine/api/members.ts";
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
  EFFECTS,
  formed,
  formFaults,
  noneBelowZero,
  numberOf,
  portNumber,
  portOrName,
  refuseValue,
  type Rule,
  rulesOf,
  type TextForm,
  textIn,
} from "./checks.ts";

/** Reports a text that goes up in a path, or, unless `absolute`, begins at the root. */
function plainPath(absolute = false): TextForm {
  return (text) => [
    ...(!absolute && text.startsWith("/") ? ["must be a relative path"] : []),
    ...(text.split("/").includes("..") ? ["must not contain '..'"] : []),
  ];
}

/** A path below a volume's root that does not begin with two dots. */
const ownPath: TextForm = (text) => [
  ...plainPath()(text),
  ...(text.startsWith("..") && !text.startsWith("../") ? ["must not start with '..'"] : []),
];

/** The name of an environment variable. */
const variableName: TextForm = (text) =>
  /^[ -<>-~]*$/.test(text)
    ? []
    : ["a valid environment variable name must consist only of printable ASCII characters other than '='"];

/** The check of the id of a user or group. */
const id: Check = between(0, 2 ** 31 - 1);

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
  checkForm(name, at, "labelKey", causes);
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
      if (mustBeEqual) {
        causes.push(fieldCause.required(`${at}.limits`, "Limit must be set for non overcommitable resources"));
      }
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
const VOLUME_FIELDS = "metadata.annotations metadata.labels metadata.name metadata.namespace metadata.uid".split(" ");
const KNOWN_FIELDS = [...ENV_FIELDS, ...VOLUME_FIELDS, "spec.restartPolicy", "spec.schedulerName", "status.phase"];
const SUBSCRIPTED = /^metadata\.(?:labels|annotations)\['.*'\]$/;

function checkFieldRef(ref: JsonObject, allowed: readonly string[], at: string, causes: Causes): void {
  const field = textOf(ref.fieldPath);
  if (field === "" || SUBSCRIPTED.test(field)) return;
  if (!KNOWN_FIELDS.includes(field)) {
    const why = `error converting fieldPath: field label not supported: ${field}`;
    refuseValue(causes, `${at}.fieldPath`, field, why);
  } else if (!allowed.includes(field)) causes.push(fieldCause.unsupported(`${at}.fieldPath`, field, allowed));
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
function checkHandler(handler: JsonObject, at: string, grace: number, causes: Causes): void {
  checkOneMember(handler, HANDLERS, "handler", at, causes);
  handlerFields(handler, at, causes);
  const seconds = numberOf(objectOr(handler.sleep).seconds);
  if (seconds >= 0 && seconds <= grace) return;
  const why = `must be non-negative and less than terminationGracePeriodSeconds (${grace})`;
  refuseValue(causes, `${at}.sleep`, seconds, why);
}

const probeFields = allOf(noneBelowZero, rulesOf({ terminationGracePeriodSeconds: atLeast(1) }));

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
function checkRunning(container: JsonObject, ends: boolean, at: string, grace: number, causes: Causes): void {
  if (ends) {
    for (const name of [...PROBES, "lifecycle"].filter((name) => container[name] !== undefined)) {
      const why = "may not be set for init containers without restartPolicy=Always";
      causes.push(fieldCause.forbidden(`${at}.${name}`, why));
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
function checkMounts({ volumeMounts }: JsonObject, volumes: ReadonlySet<string>, at: string, causes: Causes): void {
  const paths = new Set<Json | undefined>();
  objectsOf(volumeMounts).forEach(({ name = "", mountPath = "", subPath, subPathExpr, mountPropagation }, index) => {
    const list = `${at}.volumeMounts`;
    const place = `${list}[${index}]`;
    if (!volumes.has(textOf(name))) causes.push(fieldCause.notFound(`${place}.name`, name));
    if (paths.has(mountPath)) refuseValue(causes, `${place}.mountPath`, mountPath, "must be unique");
    paths.add(mountPath);
    // The server does not say which mount it is.
    mountFields({ subPath, subPathExpr, mountPropagation }, list, causes);
  });
}

const mountFields = rulesOf({
  subPath: formed(plainPath()),
  subPathExpr: formed(plainPath()),
  mountPropagation: textIn("Bidirectional", "HostToContainer", "None"),
});

const container: Rule = (object, at, causes) => {
  containerFields(object, at, causes);
  checkUnique(object.ports, "name", `${at}.ports`, causes);
};

const containerFields = rulesOf({ name: "dnsLabel", "image!": anyJson });

const keySelector = rulesOf({ name: "subdomain", key: "configKey" });

const filePath = rulesOf({ "path!": formed(ownPath) });

const fileRef: Rule = ({ fieldRef, resourceFieldRef, path }, element, causes) => {
  // The server does not say which element it is.
  const at = element.replace(/\.items\[\d+\]$/, "");
  filePath({ path }, at, causes);
  if (isObject(fieldRef)) {
    checkFieldRef(fieldRef, VOLUME_FIELDS, `${at}.fieldRef`, causes);
    if (resourceFieldRef) {
      refuseValue(causes, at, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously");
    }
  } else if (isObject(resourceFieldRef)) {
    if (!resourceFieldRef.containerName) causes.push(fieldCause.required(`${at}.resourceFieldRef.containerName`));
  } else causes.push(fieldCause.required(at, "one of fieldRef and resourceFieldRef is required"));
};

const SOURCES = ["secret", "configMap", "downwardAPI", "serviceAccountToken", "clusterTrustBundle", "podCertificate"];

const projection: Rule = (source, at, causes) => {
  if (SOURCES.filter((name) => isObject(source[name])).length > 1) {
    causes.push(fieldCause.forbidden(at, "may not specify more than 1 volume type per source"));
  }
  if (!isObject(source.serviceAccountToken)) return;
  filePath(source.serviceAccountToken, at.replace(/\.sources\[\d+\]$/, ""), causes);
};

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

/** The containers of a pod: names, ports of the host, mounts, probes. */
function checkContainers(spec: JsonObject, at: string, causes: Causes): void {
  const volumes = checkVolumes(spec.volumes, `${at}.volumes`, causes);
  const grace = numberOf(spec.terminationGracePeriodSeconds ?? 30);
  const regular = objectsOf(spec.containers);
  if (regular.length === 0) causes.push(fieldCause.required(`${at}.containers`));
  checkHostPorts(regular, `${at}.containers`, spec.hostNetwork === true, causes);
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
  each("containers", (container, place) => checkRunning(container, false, place, grace, causes));
  each("initContainers", (container, place) => {
    checkRunning(container, container.restartPolicy !== "Always", place, grace, causes);
  });
  each("ephemeralContainers", () => {});
}

function checkHostPorts(containers: readonly JsonObject[], at: string, isHost: boolean, causes: Causes): void {
  const checkNew = distinct(causes);
  containers.forEach(({ ports }, container) => {
    objectsOf(ports).forEach(({ protocol = "TCP", hostIP = "", hostPort, containerPort }, index) => {
      const place = `${at}[${container}].ports[${index}].hostPort`;
      if (!hostPort) return;
      const key = `${protocol}/${hostIP}/${hostPort}`;
      checkNew(key, place, key);
      if (isHost && hostPort !== containerPort) {
        refuseValue(causes, place, hostPort, "must match `containerPort` when `hostNetwork` is true");
      }
    });
  });
}

const toleration: Rule = ({ key, operator = "", value = "", effect = "", tolerationSeconds }, at, causes) => {
  const place = `${at}.operator`;
  if (!key && operator !== "Exists") {
    const why = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
    refuseValue(causes, place, operator, why);
  }
  if (tolerationSeconds !== undefined && effect !== "NoExecute") {
    refuseValue(causes, `${at}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set");
  }
  if (operator === "Exists") {
    if (value !== "") refuseValue(causes, place, value, "value must be empty when `operator` is 'Exists'");
  } else if (operator === "" || operator === "Equal") {
    const faults = formFaults(textOf(value), "labelValue");
    if (faults.length > 0) refuseValue(causes, place, value, faults.join(";"));
  } else causes.push(fieldCause.unsupported(place, operator, ["Equal", "Exists"]));
};

const nodeTerm = rulesOf({
  "matchExpressions[]": (value, at, causes) => checkRequirement(objectOr(value), at, causes, ["Gt", "Lt"]),
});

const nodeSelector: Rule = ({ nodeSelectorTerms }, at, causes) => {
  if (objectsOf(nodeSelectorTerms).length > 0) return;
  causes.push(fieldCause.required(`${at}.nodeSelectorTerms`, "must have at least one node selector term"));
};

const podSpec: Rule = (spec, at, causes) => {
  checkContainers(spec, at, causes);
  checkLabels(spec.nodeSelector, `${at}.nodeSelector`, causes);
  if (spec.dnsPolicy !== "None" || textsOf(objectOr(spec.dnsConfig).nameservers).length > 0) return;
  const place = isObject(spec.dnsConfig) ? `${at}.dnsConfig.nameservers` : `${at}.dnsConfig`;
  causes.push(fieldCause.required(place, "must be provided when `dnsPolicy` is None"));
};

/** The rules of pods that templates of them need not follow. */
const pod: Rule = ({ spec }, _at, causes) => {
  const of = objectOr(spec);
  for (const list of ["containers", "initContainers"]) {
    objectsOf(of[list]).forEach(({ image }, index) => {
      const text = textOf(image);
      if (text === text.trim()) return;
      refuseValue(causes, `spec.${list}[${index}].image`, text, "must not have leading or trailing whitespace");
    });
  }
  if (of.serviceAccountName) return;
  objectsOf(of.volumes).forEach(({ projected }, volume) => {
    objectsOf(objectOr(projected).sources).forEach(({ serviceAccountToken }, index) => {
      if (!isObject(serviceAccountToken)) return;
      const place = `spec.volumes[${volume}].projected.sources[${index}].serviceAccountToken`;
      causes.push(fieldCause.forbidden(place, "must not be specified when serviceAccountName is not set"));
    });
  });
};

/** Reports what a pod cannot have from the beginning. */
export function checkNewPod(spec: JsonObject, causes: Causes): void {
  if (objectsOf(spec.ephemeralContainers).length > 0) {
    causes.push(fieldCause.forbidden("spec.ephemeralContainers", "cannot be set on create"));
  }
  if (!spec.nodeName || objectsOf(spec.schedulingGates).length === 0) return;
  causes.push(fieldCause.forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared"));
}

const mode = between(0, 0o777);
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
  "core/v1.DownwardAPIVolumeFile": fileRef,
  "core/v1.Pod": pod,
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
  "core/v1.KeyToPath": rulesOf({ path: formed(ownPath), mode }),
  "core/v1.SecretVolumeSource": rulesOf({ "secretName!": anyJson, defaultMode: mode }),
  "core/v1.ConfigMapVolumeSource": rulesOf({ "name!": anyJson, defaultMode: mode }),
  "core/v1.DownwardAPIVolumeSource": rulesOf({ defaultMode: mode }),
  "core/v1.ProjectedVolumeSource": rulesOf({ defaultMode: mode }),
  "core/v1.VolumeProjection": allOf(
    projection,
    rulesOf({
      "secret.name!": anyJson,
      "configMap.name!": anyJson,
      "serviceAccountToken.expirationSeconds": between(600, 2 ** 32),
    }),
  ),
  "core/v1.HostPathVolumeSource": rulesOf({ path: formed(plainPath(true)) }),
  "core/v1.Toleration": allOf(rulesOf({ key: "labelKey", effect: textIn(...EFFECTS) }), toleration),
  "core/v1.TopologySpreadConstraint": rulesOf({ maxSkew: atLeast(1), minDomains: atLeast(1) }),
  "core/v1.NodeSelector": nodeSelector,
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
