import { type Causes, duplicateField, forbiddenField, requiredField, unsupportedField } from "../http/refusal.ts";
import { isObject, type Json, type JsonObject, objectOr, textOf } from "../wire/json.ts";
import {
  addressFaults,
  checkForm,
  checkLabels,
  dnsLabel,
  labelKey,
  labelValue,
  numberOf,
  objectsOf,
  ownPath,
  plainPath,
  refuseValue,
  requireForm,
  type Rule,
  subdomain,
} from "./checks.ts";
import {
  checkAmount,
  checkIds,
  checkMounts,
  checkOneMember,
  checkRange,
  checkResourceName,
  checkRunning,
  checkUnique,
  quantitiesOf,
} from "./rules_container.ts";

const MODE = "must be a number between 0 and 0777 (octal), both inclusive";

/** Reports file modes that are none. */
function modes(name: string): Rule {
  return (object, at, causes) => {
    const value = object[name];
    if (typeof value === "number" && (value < 0 || value > 0o777)) refuseValue(causes, `${at}.${name}`, value, MODE);
  };
}

const keyToPath: Rule = (object, at, causes) => {
  checkForm(object.path, `${at}.path`, ownPath, causes);
  modes("mode")(object, at, causes);
};

/** Returns a rule: these members are there. */
function needs(...names: readonly string[]): Rule {
  return (object, at, causes) => {
    for (const name of names) if (!object[name]) causes.push(requiredField(`${at}.${name}`));
  };
}

function named(mode: string, name: string): Rule {
  return (object, at, causes) => {
    needs(name)(object, at, causes);
    modes(mode)(object, at, causes);
  };
}

const SOURCES = ["secret", "configMap", "downwardAPI", "serviceAccountToken", "clusterTrustBundle", "podCertificate"];

const projection: Rule = (source, at, causes) => {
  const found = SOURCES.filter((name) => isObject(source[name]));
  if (found.length > 1) causes.push(forbiddenField(at, "may not specify more than 1 volume type per source"));
  for (const name of found.filter((name) => name === "secret" || name === "configMap")) {
    needs("name")(objectOr(source[name]), `${at}.${name}`, causes);
  }
  if (!isObject(source.serviceAccountToken)) return;
  const { expirationSeconds: seconds, path } = source.serviceAccountToken;
  requireForm(path, `${at.replace(/\.sources\[\d+\]$/, "")}.path`, ownPath, causes);
  const place = `${at}.serviceAccountToken.expirationSeconds`;
  if (typeof seconds !== "number") return;
  if (seconds < 600) refuseValue(causes, place, seconds, "may not specify a duration less than 10 minutes");
  if (seconds > 2 ** 32) refuseValue(causes, place, seconds, "may not specify a duration larger than 2^32 seconds");
};

/** The sources of a volume, in the order in which the server looks for the one that counts. */
const VOLUME_SOURCES = [
  "emptyDir",
  "hostPath",
  "gitRepo",
  "gcePersistentDisk",
  "awsElasticBlockStore",
  "secret",
  "nfs",
  "iscsi",
  "glusterfs",
  "flocker",
  "persistentVolumeClaim",
  "rbd",
  "cinder",
  "cephfs",
  "quobyte",
  "downwardAPI",
  "fc",
  "flexVolume",
  "configMap",
  "azureFile",
  "vsphereVolume",
  "photonPersistentDisk",
  "portworxVolume",
  "azureDisk",
  "storageos",
  "projected",
  "scaleIO",
  "csi",
  "ephemeral",
  "image",
];

/** Reports volumes that are none, and returns those that can be mounted. */
function checkVolumes(volumes: Json | undefined, at: string, causes: Causes): ReadonlyMap<string, JsonObject> {
  const good = new Map<string, JsonObject>();
  objectsOf(volumes).forEach((volume, index) => {
    const place = `${at}[${index}]`;
    const before = causes.length;
    const name = textOf(volume.name);
    checkOneMember(volume, VOLUME_SOURCES, "volume", place, causes);
    checkForm(name || undefined, `${place}.name`, dnsLabel, causes);
    if (good.has(name)) causes.push(duplicateField(`${place}.name`, name));
    const isGood = causes.length === before && name !== "" &&
      !causes.some(({ field }) => field.startsWith(`${place}.`));
    if (isGood) good.set(name, volume);
  });
  return good;
}

function nameOf({ name }: JsonObject): string {
  return textOf(name);
}

/** The containers of a pod: names, ports of the host, mounts, probes. */
function checkContainers(spec: JsonObject, at: string, causes: Causes): void {
  const volumes = checkVolumes(spec.volumes, `${at}.volumes`, causes);
  const grace = spec.terminationGracePeriodSeconds ?? 30;
  const regular = objectsOf(spec.containers);
  if (regular.length === 0) causes.push(requiredField(`${at}.containers`));
  checkUnique(spec.containers, "name", `${at}.containers`, causes);
  checkHostPorts(regular, `${at}.containers`, spec.hostNetwork === true, causes);
  const names = new Set(regular.map(nameOf));
  const each = (list: string, check: (container: JsonObject, at: string) => void): void => {
    objectsOf(spec[list]).forEach((container, index) => {
      const place = `${at}.${list}[${index}]`;
      checkMounts(container, volumes, place, causes);
      check(container, place);
    });
  };
  each("containers", (container, place) => checkRunning(container, false, place, grace, causes));
  each("initContainers", (container, place) => {
    checkRunning(container, container.restartPolicy !== "Always", place, grace, causes);
    const name = nameOf(container);
    if (names.has(name)) causes.push(duplicateField(`${place}.name`, name));
    else if (name !== "") names.add(name);
  });
  each("ephemeralContainers", (container, place) => {
    const name = nameOf(container);
    if (names.has(name)) causes.push(duplicateField(`${place}.name`, name));
    names.add(name);
  });
}

function checkHostPorts(containers: readonly JsonObject[], at: string, isHost: boolean, causes: Causes): void {
  const seen = new Set<string>();
  containers.forEach(({ ports }, container) => {
    objectsOf(ports).forEach(({ protocol = "TCP", hostIP = "", hostPort, containerPort }, index) => {
      const place = `${at}[${container}].ports[${index}].hostPort`;
      if (!hostPort) return;
      const key = `${protocol}/${hostIP}/${hostPort}`;
      if (seen.has(key)) causes.push(duplicateField(place, key));
      seen.add(key);
      if (isHost && hostPort !== containerPort) {
        refuseValue(causes, place, hostPort, "must match `containerPort` when `hostNetwork` is true");
      }
    });
  });
}

const EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/** Reports an effect of a taint that is none. */
export function checkEffect(effect: Json | undefined, at: string, causes: Causes): void {
  if (effect && !EFFECTS.includes(textOf(effect))) causes.push(unsupportedField(at, effect, EFFECTS));
}

const toleration: Rule = ({ key, operator = "", value = "", effect = "", tolerationSeconds }, at, causes) => {
  const place = `${at}.operator`;
  checkForm(key || undefined, `${at}.key`, labelKey, causes);
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
    const faults = labelValue(textOf(value));
    if (faults.length > 0) refuseValue(causes, place, value, faults.join(";"));
  } else if (operator === "Lt" || operator === "Gt") {
    causes.push(unsupportedField(place, operator, ["Equal", "Exists", "Lt", "Gt"]));
  } else causes.push(unsupportedField(place, operator, ["Equal", "Exists"]));
  checkEffect(effect, `${at}.effect`, causes);
};

const spreadConstraint: Rule = (constraint, at, causes) => {
  const { maxSkew, topologyKey, whenUnsatisfiable = "", minDomains } = constraint;
  const positive = "must be greater than zero";
  if (numberOf(maxSkew) <= 0) refuseValue(causes, `${at}.maxSkew`, maxSkew ?? 0, positive);
  if (!topologyKey) causes.push(requiredField(`${at}.topologyKey`, "can not be empty"));
  if (whenUnsatisfiable !== "DoNotSchedule" && whenUnsatisfiable !== "ScheduleAnyway") {
    const values = ["DoNotSchedule", "ScheduleAnyway"];
    causes.push(unsupportedField(`${at}.whenUnsatisfiable`, whenUnsatisfiable, values));
  }
  if (minDomains === undefined) return;
  if (numberOf(minDomains) <= 0) refuseValue(causes, `${at}.minDomains`, minDomains, positive);
  if (whenUnsatisfiable !== "DoNotSchedule") {
    const why = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable}`;
    refuseValue(causes, `${at}.minDomains`, minDomains, why);
  }
};

const ONE = "must be specified single value when `operator` is 'Lt' or 'Gt'";
const SOME = "must be specified when `operator` is 'In' or 'NotIn'";
const NONE = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
const ONE_OF_FIELD = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";

function requirement(
  { key = "", operator = "", values }: JsonObject,
  isHard: boolean,
  at: string,
  causes: Causes,
): void {
  const given = Array.isArray(values) ? values as readonly Json[] : [];
  const place = `${at}.values`;
  if (operator === "In" || operator === "NotIn") {
    if (given.length === 0) causes.push(requiredField(place, SOME));
  } else if (operator === "Exists" || operator === "DoesNotExist") {
    if (given.length > 0) causes.push(forbiddenField(place, NONE));
  } else if (operator === "Gt" || operator === "Lt") {
    if (given.length !== 1) causes.push(requiredField(place, ONE));
  } else refuseValue(causes, `${at}.operator`, operator, "not a valid selector operator");
  checkForm(key, `${at}.key`, labelKey, causes);
  if (isHard) given.forEach((value, index) => checkForm(value, `${place}[${index}]`, labelValue, causes));
}

function fieldRequirement({ key = "", operator = "", values }: JsonObject, at: string, causes: Causes): void {
  const given = Array.isArray(values) ? values as readonly Json[] : [];
  if (operator !== "In" && operator !== "NotIn") {
    refuseValue(causes, `${at}.operator`, operator, "not a valid selector operator");
  } else if (given.length !== 1) causes.push(requiredField(`${at}.values`, ONE_OF_FIELD));
  if (key !== "metadata.name") refuseValue(causes, `${at}.key`, key, "not a valid field selector key");
  else given.forEach((value, index) => checkForm(value, `${at}.values[${index}]`, subdomain, causes));
}

const nodeTerm: Rule = ({ matchExpressions, matchFields }, at, causes) => {
  const isHard = !at.includes("preferredDuringScheduling");
  objectsOf(matchExpressions).forEach((of, index) =>
    requirement(of, isHard, `${at}.matchExpressions[${index}]`, causes)
  );
  objectsOf(matchFields).forEach((of, index) => fieldRequirement(of, `${at}.matchFields[${index}]`, causes));
};

const nodeSelector: Rule = ({ nodeSelectorTerms }, at, causes) => {
  if (objectsOf(nodeSelectorTerms).length > 0) return;
  causes.push(requiredField(`${at}.nodeSelectorTerms`, "must have at least one node selector term"));
};

const weighted: Rule = ({ weight }, at, causes) => {
  if (numberOf(weight) < 1 || numberOf(weight) > 100) {
    refuseValue(causes, `${at}.weight`, weight ?? 0, "must be in the range 1-100");
  }
};

const podTerm: Rule = ({ topologyKey = "", namespaces }, at, causes) => {
  if (topologyKey === "") causes.push(requiredField(`${at}.topologyKey`, "can not be empty"));
  checkForm(topologyKey, `${at}.topologyKey`, labelKey, causes);
  for (const name of Array.isArray(namespaces) ? namespaces : []) checkForm(name, `${at}.namespace`, dnsLabel, causes);
};

const hostAlias: Rule = ({ ip = "", hostnames }, at, causes) => {
  checkForm(ip, `${at}.ip`, addressFaults, causes);
  const names = Array.isArray(hostnames) ? hostnames : [];
  names.forEach((name, index) => checkForm(name, `${at}.hostnames[${index}]`, subdomain, causes));
};

const SYSCTL = /^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/;

const podSecurity: Rule = (context, at, causes) => {
  checkIds(context, at, ["runAsUser", "runAsGroup", "fsGroup"], causes);
  const groups = Array.isArray(context.supplementalGroups) ? context.supplementalGroups : [];
  groups.forEach((id, index) => checkRange(id, 0, 2 ** 31 - 1, `${at}.supplementalGroups[${index}]`, causes));
  objectsOf(context.sysctls).forEach(({ name }, index) => {
    const text = textOf(name);
    if (text === "") causes.push(requiredField(`${at}.sysctls[${index}].name`));
    if (text === "" || (text.length <= 253 && SYSCTL.test(text))) return;
    const why = `must have at most 253 characters and match regex ${SYSCTL.source.replace("[./]", "[\\./]")}`;
    refuseValue(causes, `${at}.sysctls[${index}].name`, text, why);
  });
  checkUnique(context.sysctls, "name", `${at}.sysctls`, causes);
};

function checkDns({ dnsPolicy, dnsConfig }: JsonObject, at: string, causes: Causes): void {
  const { nameservers, searches, options } = objectOr(dnsConfig);
  const servers = Array.isArray(nameservers) ? nameservers as readonly Json[] : [];
  if (dnsPolicy === "None" && servers.length === 0) {
    const [place, what] = isObject(dnsConfig)
      ? [`${at}.nameservers`, "at least one DNS nameserver"]
      : [at, "`dnsConfig`"];
    causes.push(requiredField(place, `must provide ${what} when \`dnsPolicy\` is None`));
    return;
  }
  if (servers.length > 3) refuseValue(causes, `${at}.nameservers`, servers, "must not have more than 3 nameservers");
  servers.forEach((server, index) => checkForm(server, `${at}.nameservers[${index}]`, addressFaults, causes));
  objectsOf(options).forEach(({ name }, index) => {
    if (!name) causes.push(requiredField(`${at}.options[${index}]`, "must not be empty"));
  });
  (Array.isArray(searches) ? searches : []).forEach((search, index) => {
    const text = textOf(search).replace(/\.$/, "").replace(/(^|\.)_|_/g, "$1a");
    if (search !== ".") checkForm(text, `${at}.searches[${index}]`, subdomain, causes);
  });
}

const FORMS = {
  serviceAccountName: subdomain,
  nodeName: subdomain,
  hostname: dnsLabel,
  subdomain: dnsLabel,
  priorityClassName: subdomain,
  runtimeClassName: subdomain,
};
const RESTARTS = ["Always", "OnFailure", "Never"];
const DNS = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];

const podSpec: Rule = (spec, at, causes) => {
  checkContainers(spec, at, causes);
  for (const [name, form] of Object.entries(FORMS)) checkForm(spec[name] || undefined, `${at}.${name}`, form, causes);
  for (const [name, values] of Object.entries({ restartPolicy: RESTARTS, dnsPolicy: DNS })) {
    const value = spec[name];
    if (value && !values.includes(textOf(value))) causes.push(unsupportedField(`${at}.${name}`, value, values));
  }
  checkLabels(spec.nodeSelector, `${at}.nodeSelector`, causes);
  checkRange(spec.activeDeadlineSeconds, 1, 2 ** 31 - 1, `${at}.activeDeadlineSeconds`, causes);
  checkDns(spec, `${at}.dnsConfig`, causes);
  if (spec.shareProcessNamespace === true && spec.hostPID === true) {
    const why = "ShareProcessNamespace and HostPID cannot both be enabled";
    refuseValue(causes, `${at}.shareProcessNamespace`, true, why);
  }
  objectsOf(spec.readinessGates).forEach(({ conditionType }, index) => {
    checkForm(textOf(conditionType), `${at}.readinessGates[${index}].conditionType`, labelKey, causes);
  });
  const gates = objectsOf(spec.schedulingGates).map(nameOf);
  gates.forEach((name, index) => {
    const place = `${at}.schedulingGates[${index}]`;
    checkForm(name, place, labelKey, causes);
    if (gates.indexOf(name) < index) causes.push(duplicateField(place, name));
  });
  const constraints = objectsOf(spec.topologySpreadConstraints);
  const pairs = constraints.map(({ topologyKey, whenUnsatisfiable }) => `{${topologyKey}, ${whenUnsatisfiable}}`);
  pairs.forEach((pair, index) => {
    if (!pairs.includes(pair, index + 1)) return;
    const place = `${at}.topologySpreadConstraints[${index}].{topologyKey, whenUnsatisfiable}`;
    causes.push(duplicateField(place, pair));
  });
  for (const [name, value] of quantitiesOf(spec.overhead)) {
    checkResourceName(name, `${at}.overhead.limits[${name}]`, "container", causes);
    checkAmount(name, value, `${at}.overhead.limits[${name}]`, causes);
  }
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
      causes.push(forbiddenField(place, "must not be specified when serviceAccountName is not set"));
    });
  });
};

/** Reports what a pod cannot have from the beginning. */
export function checkNewPod(spec: JsonObject, causes: Causes): void {
  if (objectsOf(spec.ephemeralContainers).length > 0) {
    causes.push(forbiddenField("spec.ephemeralContainers", "cannot be set on create"));
  }
  if (!spec.nodeName || objectsOf(spec.schedulingGates).length === 0) return;
  causes.push(forbiddenField("spec.nodeName", "cannot be set until all schedulingGates have been cleared"));
}

/** The rules of pods and their parts, but for containers. */
export const POD_RULES: Readonly<Record<string, Rule>> = {
  "core/v1.Pod": pod,
  "core/v1.PodSpec": podSpec,
  "core/v1.PodSecurityContext": podSecurity,
  "core/v1.KeyToPath": keyToPath,
  "core/v1.SecretVolumeSource": named("defaultMode", "secretName"),
  "core/v1.ConfigMapVolumeSource": named("defaultMode", "name"),
  "core/v1.DownwardAPIVolumeSource": modes("defaultMode"),
  "core/v1.ProjectedVolumeSource": modes("defaultMode"),
  "core/v1.VolumeProjection": projection,
  "core/v1.HostPathVolumeSource": (source, at, causes) => checkForm(source.path, `${at}.path`, plainPath(true), causes),
  "core/v1.NFSVolumeSource": (source, at, causes) => {
    const value = textOf(source.path);
    if (!value.startsWith("/")) refuseValue(causes, `${at}.path`, value, "must be an absolute path");
  },
  "core/v1.EphemeralVolumeSource": needs("volumeClaimTemplate"),
  "core/v1.PodOS": ({ name }, at, causes) => {
    const values = ["linux", "windows"];
    if (name && !values.includes(textOf(name))) causes.push(unsupportedField(at, name, values));
  },
  "core/v1.Toleration": toleration,
  "core/v1.TopologySpreadConstraint": spreadConstraint,
  "core/v1.NodeSelector": nodeSelector,
  "core/v1.NodeSelectorTerm": nodeTerm,
  "core/v1.PreferredSchedulingTerm": weighted,
  "core/v1.WeightedPodAffinityTerm": weighted,
  "core/v1.PodAffinityTerm": podTerm,
  "core/v1.HostAlias": hostAlias,
};
