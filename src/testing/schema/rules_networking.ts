import { duplicateField, forbiddenField, requiredField } from "../http/refusal.ts";
import { isObject, type Json, objectOr, textOf } from "../wire/json.ts";
import {
  addressFaults,
  checkForm,
  checkOneOf,
  checkPort,
  dnsLabel,
  domainPath,
  isWithin,
  numberOf,
  objectsOf,
  pathSegment,
  portName,
  rangeFaults,
  readAddress,
  readRange,
  refuseValue,
  requireForm,
  type Rule,
  subdomain,
  wildcard,
} from "./checks.ts";

const ingressSpec: Rule = ({ rules, defaultBackend, ingressClassName }, at, causes) => {
  if (objectsOf(rules).length === 0 && !isObject(defaultBackend)) {
    refuseValue(causes, at, rules, "either `defaultBackend` or `rules` must be specified");
  }
  checkForm(ingressClassName, `${at}.ingressClassName`, subdomain, causes);
  if (isObject(defaultBackend)) ingressBackend(defaultBackend, `${at}.defaultBackend`, causes);
};

const ingressClassNames: Rule = ({ metadata, spec }, _, causes) => {
  const key = "kubernetes.io/ingress.class";
  const annotation = objectOr(objectOr(metadata).annotations)[key];
  const { ingressClassName } = objectOr(spec);
  if (annotation !== undefined && ingressClassName !== undefined && annotation !== ingressClassName) {
    refuseValue(causes, `annotations.${key}`, annotation, "must match `ingressClassName` when both are specified");
  }
};

const ingressRule: Rule = ({ host }, at, causes) => {
  const text = textOf(host);
  if (text === "") return;
  if (readAddress(text) !== undefined) {
    refuseValue(causes, `${at}.host`, text, "must be a DNS name, not an IP address");
  }
  checkForm(text, `${at}.host`, text.includes("*") ? wildcard : subdomain, causes);
};

const ingressTls: Rule = ({ hosts, secretName }, at, causes) => {
  (Array.isArray(hosts) ? hosts as readonly Json[] : []).forEach((host, index) => {
    checkForm(host, `${at}.hosts[${index}]`, textOf(host).includes("*") ? wildcard : subdomain, causes);
  });
  if (textOf(secretName) !== "") checkForm(secretName, `${at}.secretName`, subdomain, causes);
};

const PARTS = ["//", "/./", "/../", "%2f", "%2F"];
const ENDS = ["/..", "/."];
const PATH_TYPES = ["Exact", "ImplementationSpecific", "Prefix"];

const ingressPath: Rule = ({ path, pathType, backend }, at, causes) => {
  if ((pathType ?? undefined) === undefined) {
    causes.push(requiredField(`${at}.pathType`, "pathType must be specified"));
    return;
  }
  checkOneOf(pathType, `${at}.pathType`, PATH_TYPES, causes);
  const text = textOf(path);
  const isExact = pathType === "Exact" || pathType === "Prefix";
  if (!text.startsWith("/") && (isExact || (pathType === PATH_TYPES[1] && text !== ""))) {
    refuseValue(causes, `${at}.path`, text, "must be an absolute path");
  }
  if (isExact) {
    for (const part of PARTS) {
      if (text.includes(part)) refuseValue(causes, `${at}.path`, text, `must not contain '${part}'`);
    }
    for (const end of ENDS) if (text.endsWith(end)) refuseValue(causes, `${at}.path`, text, `cannot end with '${end}'`);
  }
  ingressBackend(objectOr(backend), `${at}.backend`, causes);
};

const ingressBackend: Rule = ({ resource, service }, at, causes) => {
  if (isObject(resource) && isObject(service)) {
    refuseValue(causes, at, "", "cannot set both resource and service backends");
  } else if (isObject(resource)) {
    const { apiGroup, kind, name } = resource;
    checkForm(apiGroup, `${at}.resource.apiGroup`, subdomain, causes);
    checkForm(kind || undefined, `${at}.resource.kind`, pathSegment, causes);
    checkForm(name || undefined, `${at}.resource.name`, pathSegment, causes);
  } else if (isObject(service)) {
    requireForm(service.name, `${at}.service.name`, dnsLabel, causes);
    const { name = "", number } = objectOr(service.port);
    if (name !== "" && numberOf(number) !== 0) refuseValue(causes, at, "", "cannot set both port name & port number");
    else if (name !== "") checkForm(name, `${at}.service.port.name`, portName, causes);
    else if (numberOf(number) !== 0) checkPort(number, `${at}.service.port.number`, causes);
    else causes.push(requiredField(at, "port name or number is required"));
  } else refuseValue(causes, at, "", "resource or service backend is required");
};

const ingressStatus: Rule = ({ ip, hostname }, at, causes) => {
  if (textOf(ip) !== "") checkForm(ip, `${at}.ip`, addressFaults, causes);
  if (textOf(hostname) === "") return;
  checkForm(hostname, `${at}.hostname`, subdomain, causes);
  if (readAddress(textOf(hostname)) !== undefined) {
    refuseValue(causes, `${at}.hostname`, hostname, "must be a DNS name, not an IP address");
  }
};

const ingressClass: Rule = ({ controller }, at, causes) => {
  if (textOf(controller).length > 250) {
    causes.push({
      reason: "FieldValueTooLong",
      message: "Too long: may not be more than 250 bytes",
      field: `${at}.controller`,
    });
  }
  requireForm(controller, `${at}.controller`, domainPath, causes);
};

const parameters: Rule = ({ apiGroup, kind, name, scope, namespace }, at, causes) => {
  checkForm(apiGroup, `${at}.apiGroup`, subdomain, causes);
  checkForm(kind, `${at}.kind`, pathSegment, causes);
  checkForm(name, `${at}.name`, pathSegment, causes);
  checkOneOf(scope, `${at}.scope`, ["Cluster", "Namespace"], causes);
  const place = `${at}.namespace`;
  if (scope === "Namespace") {
    if (namespace === undefined) {
      causes.push(requiredField(place, "`parameters.scope` is set to 'Namespace'"));
    } else checkForm(namespace, place, dnsLabel, causes);
  } else if (scope === "Cluster" && namespace !== undefined) {
    causes.push(forbiddenField(place, "`parameters.scope` is set to 'Cluster'"));
  }
};

const policyPort: Rule = ({ port, endPort }, at, causes) => {
  const place = `${at}.endPort`;
  if (typeof port === "number") {
    checkPort(port, `${at}.port`, causes);
    if (typeof endPort !== "number") return;
    if (endPort < port) refuseValue(causes, place, endPort, "must be greater than or equal to `port`");
    checkPort(endPort, place, causes);
    return;
  }
  if (endPort !== undefined) {
    const what = port === undefined ? "not specified" : "non-numeric";
    refuseValue(causes, place, endPort, `may not be specified when \`port\` is ${what}`);
  }
  checkForm(port, `${at}.port`, portName, causes);
};

const policyPeer: Rule = ({ podSelector, namespaceSelector, ipBlock }, at, causes) => {
  const others = [podSelector, namespaceSelector].filter(isObject).length;
  if (others === 0 && !isObject(ipBlock)) causes.push(requiredField(at, "must specify a peer"));
  if (others > 0 && isObject(ipBlock)) {
    causes.push(forbiddenField(at, "may not specify both ipBlock and another peer"));
  }
};

const ipBlock: Rule = ({ cidr, except }, at, causes) => {
  const outer = readRange(textOf(cidr));
  if (textOf(cidr) !== "") checkForm(cidr, `${at}.cidr`, rangeFaults, causes);
  if (outer === undefined) return;
  (Array.isArray(except) ? except as readonly Json[] : []).forEach((text, index) => {
    const place = `${at}.except[${index}]`;
    checkForm(text, place, rangeFaults, causes);
    const inner = readRange(textOf(text));
    if (inner !== undefined && !isWithin(inner, outer)) {
      refuseValue(causes, place, text, "must be a strict subset of `cidr`");
    }
  });
};

const POLICY_TYPES = ["Ingress", "Egress"];

const networkPolicy: Rule = ({ policyTypes }, at, causes) => {
  const types = Array.isArray(policyTypes) ? policyTypes as readonly Json[] : [];
  const place = `${at}.policyTypes`;
  if (types.length > 2) refuseValue(causes, place, types, "may not specify more than two policyTypes");
  else types.forEach((type, index) => checkOneOf(type, `${place}[${index}]`, POLICY_TYPES, causes));
};

const slice: Rule = ({ addressType, endpoints, ports }, _, causes) => {
  objectsOf(endpoints).forEach(({ addresses }, index) => {
    (Array.isArray(addresses) ? addresses as readonly Json[] : []).forEach((address, at) => {
      const place = `endpoints[${index}].addresses[${at}]`;
      if (addressType === "FQDN") checkForm(address, place, subdomain, causes);
      else checkForm(address, place, addressFaults, causes);
      const bits = readAddress(textOf(address))?.bits;
      if (bits === (addressType === "IPv4" ? 128 : addressType === "IPv6" ? 32 : 0)) {
        refuseValue(causes, place, address, `must be an ${textOf(addressType)} address`);
      }
    });
  });
  const names = new Set<string>();
  objectsOf(ports).forEach(({ name = "" }, index) => {
    const place = `ports[${index}].name`;
    if (name !== "") checkForm(name, place, dnsLabel, causes);
    if (names.has(textOf(name))) causes.push(duplicateField(place, name));
    names.add(textOf(name));
  });
};

/** The rules of the types of networking.k8s.io/v1 and discovery.k8s.io/v1. */
export const NETWORKING_RULES: Readonly<Record<string, Rule>> = {
  "discovery/v1.EndpointSlice": slice,
  "networking/v1.HTTPIngressPath": ingressPath,
  "networking/v1.IPBlock": ipBlock,
  "networking/v1.Ingress": ingressClassNames,
  "networking/v1.IngressClassParametersReference": parameters,
  "networking/v1.IngressClassSpec": ingressClass,
  "networking/v1.IngressLoadBalancerIngress": ingressStatus,
  "networking/v1.IngressRule": ingressRule,
  "networking/v1.IngressSpec": ingressSpec,
  "networking/v1.IngressTLS": ingressTls,
  "networking/v1.NetworkPolicyPeer": policyPeer,
  "networking/v1.NetworkPolicyPort": policyPort,
  "networking/v1.NetworkPolicySpec": networkPolicy,
};
