/**
 * Rules that a schema does not say, for types of the core group and others.
 *
 * {@linkcode RULES} is the entry point, by the name of the type. Pods have their rules in `rules_pod.ts`, workloads in
 * `rules_workloads.ts`. `validate.ts` applies them.
 *
 * @module
 */
import { parseQuantity } from "../../../engine/api/quantity.ts";
import { type Causes, fieldCause } from "../../../engine/protocol/refusal.ts";
import { clientConfigCauses } from "../../../operator/schema/values/client_config.ts";
import { isObject, type JsonObject } from "../../../engine/api/json.ts";
import { objectOr, objectsOf, textOf, textsOf } from "../../../engine/api/members.ts";
import {
  allOf,
  anyJson,
  atLeast,
  between,
  type Check,
  checkForm,
  checkLabels,
  checkOneOf,
  checkSelector,
  checkShare,
  distinct,
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
import { readAddress } from "../../../operator/schema/values/network.ts";
import { definitionRule } from "./definition_checks.ts";
import { POD_RULES } from "./rules_pod.ts";
import { APPS_RULES, BATCH_RULES } from "./rules_workloads.ts";

/** A host's name, which may end with a dot. */
const hostName: TextForm = (text) => formFaults(text.replace(/\.$/, ""), "subdomain");

/** The most characters of all texts of a ConfigMap or Secret; the server counts bytes. */
const SIZE = 1_048_576;

function sizeOf(data: JsonObject): number {
  return Object.values(data).reduce((sum: number, value) => sum + textOf(value).length, 0);
}

function checkSize(size: number, at: string, causes: Causes): void {
  if (size > SIZE) causes.push(fieldCause.tooLong(at, SIZE));
}

const configMap: Rule = (object, _at, causes) => {
  const [data, binaryData] = [objectOr(object.data), objectOr(object.binaryData)];
  for (const [field, keys] of Object.entries({ data, binaryData })) {
    for (const key in keys) checkForm(key, `${field}[${key}]`, "configKey", causes);
  }
  for (const key in data) {
    if (Object.hasOwn(binaryData, key)) {
      refuseValue(causes, `data[${key}]`, key, "duplicate of key present in binaryData");
    }
  }
  checkSize(sizeOf(data) + sizeOf(binaryData) * 3 / 4, "[]", causes);
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
  for (const key in data) checkForm(key, `data[${key}]`, "configKey", causes);
  checkSize(sizeOf(data) * 3 / 4, "data", causes);
  const kind = textOf(type);
  if (kind === "kubernetes.io/service-account-token" && !objectOr(objectOr(metadata).annotations)[ACCOUNT]) {
    causes.push(fieldCause.required(`metadata.annotations[${ACCOUNT}]`));
  }
  if (kind === "kubernetes.io/basic-auth" && data.username === undefined && data.password === undefined) {
    causes.push(fieldCause.required("data[username]"), fieldCause.required("data[password]"));
  }
  for (const key of SECRET_KEYS[kind] ?? []) {
    const value = data[key];
    if (value === undefined || (value === "" && key === "ssh-privatekey")) {
      causes.push(fieldCause.required(`data[${key}]`));
    }
  }
};

const MODES = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];

const claimSpec: Rule = ({ accessModes, resources }, at, causes) => {
  const place = `${at}.accessModes`;
  const modes = textsOf(accessModes);
  if (modes.length === 0) causes.push(fieldCause.required(place, "at least 1 access mode is required"));
  for (const mode of modes) checkOneOf(mode, place, MODES, causes);
  if (modes.includes("ReadWriteOncePod") && new Set(modes).size > 1) {
    causes.push(fieldCause.forbidden(place, "may not use ReadWriteOncePod with other access modes"));
  }
  const { storage } = objectOr(objectOr(resources).requests);
  if (storage === undefined) causes.push(fieldCause.required(`${at}.resources[storage]`));
  else if (parseQuantity(storage as string).nanos <= 0n) {
    refuseValue(causes, `${at}.resources[storage]`, storage, "must be greater than zero");
  }
};

/** Reports ports of one name, one number or one number of the node. */
function checkPorts(spec: JsonObject, at: string, causes: Causes): void {
  const ports = objectsOf(spec.ports);
  const checkNew = distinct(causes);
  ports.forEach(({ name, port = 0, protocol = "TCP", nodePort }, index) => {
    const place = `${at}.ports[${index}]`;
    if (name) checkNew(`name ${name}`, `${place}.name`, name);
    else if (ports.length > 1) causes.push(fieldCause.required(`${place}.name`));
    checkNew(`port ${protocol}/${port}`, place, { port, protocol, targetPort: 0 });
    if (nodePort) checkNew(`node ${protocol}/${nodePort}`, `${place}.nodePort`, nodePort);
  });
}

const EXTERNAL_NAME = "may not be set for ExternalName services";

function checkType(spec: JsonObject, at: string, causes: Causes): void {
  const { type = "ClusterIP", clusterIP, externalName } = spec;
  const isHeadless = clusterIP === "None";
  if (type === "ExternalName") {
    for (const name of ["clusterIPs", "ipFamilies", "ipFamilyPolicy"]) {
      if (spec[name] !== undefined) causes.push(fieldCause.forbidden(`${at}.${name}`, EXTERNAL_NAME));
    }
    if (!externalName) causes.push(fieldCause.required(`${at}.externalName`));
    else checkForm(externalName, `${at}.externalName`, hostName, causes);
    return;
  }
  if (!isHeadless && objectsOf(spec.ports).length === 0) causes.push(fieldCause.required(`${at}.ports`));
  if (isHeadless && (type === "NodePort" || type === "LoadBalancer")) {
    refuseValue(causes, `${at}.clusterIPs[0]`, "None", `may not be set to 'None' for ${type} services`);
  }
  checkAddresses(spec, at, causes);
}

/** Reports wrong addresses of a Service. */
function checkAddresses(spec: JsonObject, at: string, causes: Causes): void {
  const ips = textsOf(spec.clusterIPs);
  const place = `${at}.clusterIPs`;
  if (ips.length > 0 && ips[0] !== (spec.clusterIP || undefined)) {
    refuseValue(causes, place, ips, "first value must match `clusterIP`");
  }
  ips.forEach((ip, index) => {
    if (ip !== "None") checkForm(ip, `${place}[${index}]`, "address", causes);
    else if (ips.length > 1) refuseValue(causes, place, ips, "'None' must be the first and only value");
  });
}

const serviceSpec: Rule = (spec, at, causes) => {
  checkType(spec, at, causes);
  checkPorts(spec, at, causes);
  checkLabels(spec.selector, `${at}.selector`, causes);
};

const volume = rulesOf({
  "accessModes!": (modes, at, causes) => textsOf(modes).forEach((mode) => checkOneOf(mode, at, MODES, causes)),
  "capacity!": anyJson,
});

/** The rules of kinds of the core group but pods. */
const CORE_RULES: Readonly<Record<string, Rule>> = {
  "core/v1.ConfigMap": configMap,
  "core/v1.Secret": secret,
  "core/v1.PersistentVolumeClaimSpec": allOf(claimSpec, rulesOf({ storageClassName: "subdomain" })),
  "core/v1.PersistentVolume": ({ spec }, _at, causes) => volume(objectOr(spec), "spec", causes),
  "core/v1.NodeSpec": rulesOf({ "podCIDRs[]": "addressRange" }),
  "core/v1.LoadBalancerIngress": rulesOf({ ip: "address", hostname: "subdomain" }),
  "core/v1.ServiceSpec": allOf(
    serviceSpec,
    rulesOf({
      "externalIPs[]": "address",
      loadBalancerClass: "labelKey",
      trafficDistribution: textIn("PreferClose", "PreferSameZone", "PreferSameNode"),
      "sessionAffinityConfig.clientIP.timeoutSeconds": between(1, 86_400),
    }),
  ),
  "core/v1.ServicePort": rulesOf({
    name: "dnsLabel",
    port: portNumber,
    targetPort: portOrName,
    appProtocol: "labelKey",
  }),
};

/** A name of a host, which may begin with `*.`. */
const host: TextForm = (text) => [
  ...(readAddress(text) === undefined ? [] : ["must be a DNS name, not an IP address"]),
  ...formFaults(text, text.includes("*") ? "wildcard" : "subdomain"),
];

const ingressBackend: Rule = (backend, at, causes) => {
  const { resource, service } = backend;
  if (isObject(resource) && isObject(service)) {
    return refuseValue(causes, at, "", "cannot set both resource and service backends");
  }
  if (isObject(service)) {
    const { name = "", number } = objectOr(service.port);
    const hasNumber = numberOf(number) !== 0;
    if (name !== "" && hasNumber) refuseValue(causes, at, "", "cannot set both port name & port number");
    if (name === "" && !hasNumber) causes.push(fieldCause.required(at, "port name or number is required"));
  } else if (!isObject(resource)) refuseValue(causes, at, "", "resource or service backend is required");
  backendFields(backend, at, causes);
};

const backendFields = rulesOf({
  "resource.apiGroup": "subdomain",
  "resource.kind": "pathSegment",
  "resource.name": "pathSegment",
  "service.name": "dnsLabel",
  "service.port.name": "portName",
  "service.port.number": portNumber,
});

const backend: Check = (value, at, causes) => ingressBackend(objectOr(value), at, causes);

const ingressSpec: Rule = ({ rules, defaultBackend }, at, causes) => {
  if (objectsOf(rules).length > 0 || isObject(defaultBackend)) return;
  refuseValue(causes, at, rules, "either `defaultBackend` or `rules` must be specified");
};

const ingressPath: Rule = ({ path, pathType, backend }, at, causes) => {
  if (pathType === undefined) return;
  const text = textOf(path);
  const isExact = pathType === "Exact" || pathType === "Prefix";
  if (!text.startsWith("/") && (isExact || text !== "")) {
    refuseValue(causes, `${at}.path`, text, "must be an absolute path");
  }
  ingressBackend(objectOr(backend), `${at}.backend`, causes);
};

/** The rules of the types of networking.k8s.io/v1. */
const NETWORKING_RULES: Readonly<Record<string, Rule>> = {
  "networking/v1.HTTPIngressPath": ingressPath,
  "networking/v1.IPBlock": rulesOf({ cidr: "addressRange", "except[]": "addressRange" }),
  "networking/v1.IngressLoadBalancerIngress": rulesOf({ ip: "address", hostname: formed(host) }),
  "networking/v1.IngressRule": rulesOf({ host: formed(host) }),
  "networking/v1.IngressSpec": allOf(ingressSpec, rulesOf({ ingressClassName: "subdomain", defaultBackend: backend })),
  "networking/v1.IngressTLS": rulesOf({ "hosts[]": formed(host), secretName: "subdomain" }),
  "networking/v1.NetworkPolicyPort": rulesOf({ port: portOrName, endPort: portNumber }),
  "networking/v1.NetworkPolicySpec": rulesOf({ "policyTypes[]": textIn("Ingress", "Egress") }),
};

function policyRules(isNamespaced: boolean): Rule {
  return ({ rules }, _, causes) => {
    objectsOf(rules).forEach((rule, index) => {
      const has = (name: string): boolean => textsOf(rule[name]).length > 0;
      const at = `rules[${index}].nonResourceURLs`;
      if (has("nonResourceURLs")) {
        const urls = rule.nonResourceURLs;
        if (isNamespaced) refuseValue(causes, at, urls, "namespaced rules cannot apply to non-resource URLs");
        if (has("apiGroups") || has("resources") || has("resourceNames")) {
          refuseValue(causes, at, urls, "rules cannot apply to both regular resources and non-resource URLs");
        }
        return;
      }
      for (const [name, what] of Object.entries({ apiGroups: "api group", resources: "resource" })) {
        if (has(name)) continue;
        causes.push(fieldCause.required(`rules[${index}].${name}`, `resource rules must supply at least one ${what}`));
      }
    });
  };
}

const RBAC = "rbac.authorization.k8s.io";

const account = rulesOf({ name: "subdomain", apiGroup: textIn("") });
const person = rulesOf({ apiGroup: textIn(RBAC) });
const KINDS = ["ServiceAccount", "User", "Group"];

function subject(isNamespaced: boolean): Check {
  return (value, at, causes) => {
    const subject = objectOr(value);
    checkOneOf(subject.kind ?? "", `${at}.kind`, KINDS, causes);
    if (subject.kind === "User" || subject.kind === "Group") person(subject, at, causes);
    if (subject.kind !== "ServiceAccount") return;
    account(subject, at, causes);
    if (!isNamespaced && textOf(subject.namespace) === "") causes.push(fieldCause.required(`${at}.namespace`));
  };
}

const roleRef = rulesOf({ apiGroup: textIn(RBAC), name: "pathSegment" });

function binding(isNamespaced: boolean): Rule {
  const subjects = rulesOf({ "subjects[]": subject(isNamespaced) });
  const kinds = isNamespaced ? ["Role", "ClusterRole"] : ["ClusterRole"];
  return (object, at, causes) => {
    const role = objectOr(object.roleRef);
    roleRef(role, "roleRef", causes);
    checkOneOf(role.kind ?? "", "roleRef.kind", kinds, causes);
    subjects(object, at, causes);
  };
}

const budget: Rule = ({ minAvailable, maxUnavailable, selector }, at, causes) => {
  if (minAvailable !== undefined && maxUnavailable !== undefined) {
    const shown = { MinAvailable: minAvailable, Selector: selector ?? null, MaxUnavailable: maxUnavailable };
    refuseValue(causes, at, shown, "minAvailable and maxUnavailable cannot be both set");
  }
  checkShare(minAvailable, `${at}.minAvailable`, causes);
  checkShare(maxUnavailable, `${at}.maxUnavailable`, causes);
};

/** The rules of the types of policy, rights, leases and definitions. */
const POLICY_RULES: Readonly<Record<string, Rule>> = {
  "admissionregistration/v1.WebhookClientConfig": clientConfigCauses,
  "apiextensions/v1.CustomResourceDefinition": definitionRule,
  "coordination/v1.LeaseSpec": rulesOf({ leaseDurationSeconds: atLeast(1), leaseTransitions: atLeast(0) }),
  "policy/v1.PodDisruptionBudgetSpec": budget,
  "policy/v1.PodDisruptionBudgetStatus": noneBelowZero,
  "rbac/v1.ClusterRole": policyRules(false),
  "rbac/v1.ClusterRoleBinding": binding(false),
  "rbac/v1.Role": policyRules(true),
  "rbac/v1.RoleBinding": binding(true),
};

/** Rules by the name of the type: `"core/v1.Container"`. */
export const RULES: Readonly<Record<string, Rule>> = {
  "meta/v1.LabelSelector": checkSelector,
  ...APPS_RULES,
  ...BATCH_RULES,
  ...CORE_RULES,
  ...NETWORKING_RULES,
  ...POD_RULES,
  ...POLICY_RULES,
};

/** Types whose rules say, in words of their own, which members are required and which values they have. */
export const OWN_WORDS: ReadonlySet<string> = new Set(
  ("core/v1.NodeSelectorRequirement core/v1.PodSpec " +
    "core/v1.Sysctl core/v1.Taint core/v1.Toleration " +
    "meta/v1.LabelSelectorRequirement meta/v1.OwnerReference").split(" "),
);

/** Fields, by type and name, of which a rule or the server's storage says what is required and allowed. */
export const ELSEWHERE: ReadonlySet<string> = new Set(
  ("admissionregistration/v1.ServiceReference.name admissionregistration/v1.ServiceReference.namespace " +
    "apiextensions/v1.ServiceReference.name apiextensions/v1.ServiceReference.namespace " +
    "apps/v1.DaemonSetSpec.selector apps/v1.DaemonSetUpdateStrategy.type apps/v1.DeploymentStrategy.type " +
    "apps/v1.StatefulSetSpec.podManagementPolicy apps/v1.StatefulSetUpdateStrategy.type " +
    "batch/v1.PodFailurePolicyOnExitCodesRequirement.values " +
    "meta/v1.ObjectMeta.ownerReferences rbac/v1.RoleRef.kind rbac/v1.Subject.kind").split(" "),
);
