import { type Causes, duplicateField, forbiddenField, requiredField, unsupportedField } from "../http/refusal.ts";
import { isObject, type Json, type JsonObject, objectOr, textOf } from "../wire/json.ts";
import {
  addressFaults,
  all,
  atLeast,
  between,
  checkForm,
  checkLabels,
  checkRequirement,
  dnsLabel,
  EFFECTS,
  fields,
  formed,
  labelKey,
  labelValue,
  numberOf,
  objectsOf,
  oneOf,
  ownPath,
  plainPath,
  present,
  refuseValue,
  requireForm,
  type Rule,
  subdomain,
  textsOf,
  userId,
} from "./checks.ts";
import { checkMounts, checkOneMember, checkRunning, checkUnique } from "./rules_container.ts";

const SOURCES = ["secret", "configMap", "downwardAPI", "serviceAccountToken", "clusterTrustBundle", "podCertificate"];

const projection: Rule = (source, at, causes) => {
  if (SOURCES.filter((name) => isObject(source[name])).length > 1) {
    causes.push(forbiddenField(at, "may not specify more than 1 volume type per source"));
  }
  if (!isObject(source.serviceAccountToken)) return;
  requireForm(source.serviceAccountToken.path, `${at.replace(/\.sources\[\d+\]$/, "")}.path`, ownPath, causes);
};

/** Frequent sources of a volume, in the order in which the server looks for the one that counts. */
const VOLUMES = "emptyDir hostPath secret nfs persistentVolumeClaim downwardAPI configMap projected csi".split(" ");

/** Reports volumes that are none, and returns the names of those that can be mounted. */
function checkVolumes(volumes: Json | undefined, at: string, causes: Causes): ReadonlySet<string> {
  const good = new Set<string>();
  objectsOf(volumes).forEach((volume, index) => {
    const place = `${at}[${index}]`;
    const before = causes.length;
    const name = textOf(volume.name);
    const { name: _, ...sources } = volume;
    checkOneMember(sources, [...new Set([...VOLUMES, ...Object.keys(sources)])], "volume", place, causes);
    checkForm(name || undefined, `${place}.name`, dnsLabel, causes);
    if (good.has(name)) causes.push(duplicateField(`${place}.name`, name));
    const isGood = causes.length === before && name !== "" &&
      !causes.some(({ field }) => field.startsWith(`${place}.`));
    if (isGood) good.add(name);
  });
  return good;
}

function nameOf({ name }: JsonObject): string {
  return textOf(name);
}

/** The containers of a pod: names, ports of the host, mounts, probes. */
function checkContainers(spec: JsonObject, at: string, causes: Causes): void {
  const volumes = checkVolumes(spec.volumes, `${at}.volumes`, causes);
  const grace = numberOf(spec.terminationGracePeriodSeconds ?? 30);
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
    const faults = labelValue(textOf(value));
    if (faults.length > 0) refuseValue(causes, place, value, faults.join(";"));
  } else causes.push(unsupportedField(place, operator, ["Equal", "Exists"]));
};

const nodeTerm: Rule = ({ matchExpressions }, at, causes) => {
  objectsOf(matchExpressions).forEach((expression, index) => {
    checkRequirement(expression, `${at}.matchExpressions[${index}]`, causes, ["Gt", "Lt"]);
  });
};

const nodeSelector: Rule = ({ nodeSelectorTerms }, at, causes) => {
  if (objectsOf(nodeSelectorTerms).length > 0) return;
  causes.push(requiredField(`${at}.nodeSelectorTerms`, "must have at least one node selector term"));
};

const podSpec: Rule = (spec, at, causes) => {
  checkContainers(spec, at, causes);
  checkLabels(spec.nodeSelector, `${at}.nodeSelector`, causes);
  if (spec.dnsPolicy !== "None" || textsOf(objectOr(spec.dnsConfig).nameservers).length > 0) return;
  const place = isObject(spec.dnsConfig) ? `${at}.dnsConfig.nameservers` : `${at}.dnsConfig`;
  causes.push(requiredField(place, "must be provided when `dnsPolicy` is None"));
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

const mode = between(0, 0o777);
const weighted = fields({ weight: between(1, 100) });

/** The rules of pods and their parts, but for containers. */
export const POD_RULES: Readonly<Record<string, Rule>> = {
  "core/v1.Pod": pod,
  "core/v1.PodSpec": all(
    podSpec,
    fields({
      serviceAccountName: formed(subdomain),
      nodeName: formed(subdomain),
      hostname: formed(dnsLabel),
      subdomain: formed(dnsLabel),
      priorityClassName: formed(subdomain),
      runtimeClassName: formed(subdomain),
      restartPolicy: oneOf("Always", "OnFailure", "Never"),
      dnsPolicy: oneOf("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"),
      activeDeadlineSeconds: between(1, 2 ** 31 - 1),
      "dnsConfig.nameservers[]": formed(addressFaults),
      "readinessGates[].conditionType": formed(labelKey),
      "schedulingGates[].name": formed(labelKey),
    }),
  ),
  "core/v1.PodSecurityContext": fields({
    runAsUser: userId,
    runAsGroup: userId,
    fsGroup: userId,
    "supplementalGroups[]": userId,
  }),
  "core/v1.KeyToPath": fields({ path: formed(ownPath), mode }),
  "core/v1.SecretVolumeSource": fields({ "secretName!": present, defaultMode: mode }),
  "core/v1.ConfigMapVolumeSource": fields({ "name!": present, defaultMode: mode }),
  "core/v1.DownwardAPIVolumeSource": fields({ defaultMode: mode }),
  "core/v1.ProjectedVolumeSource": fields({ defaultMode: mode }),
  "core/v1.VolumeProjection": all(
    projection,
    fields({
      "secret.name!": present,
      "configMap.name!": present,
      "serviceAccountToken.expirationSeconds": between(600, 2 ** 32),
    }),
  ),
  "core/v1.HostPathVolumeSource": fields({ path: formed(plainPath(true)) }),
  "core/v1.Toleration": all(fields({ key: formed(labelKey), effect: oneOf(...EFFECTS) }), toleration),
  "core/v1.TopologySpreadConstraint": fields({ maxSkew: atLeast(1), minDomains: atLeast(1) }),
  "core/v1.NodeSelector": nodeSelector,
  "core/v1.NodeSelectorTerm": nodeTerm,
  "core/v1.PreferredSchedulingTerm": weighted,
  "core/v1.WeightedPodAffinityTerm": weighted,
  "core/v1.PodAffinityTerm": fields({ topologyKey: formed(labelKey), "namespaces[]": formed(dnsLabel) }),
  "core/v1.HostAlias": fields({ ip: formed(addressFaults), "hostnames[]": formed(subdomain) }),
};
