import { forbiddenField, requiredField } from "../../protocol/refusal.ts";
import { isObject, objectOr, textOf } from "../wire/json.ts";
import {
  addressFaults,
  all,
  type Check,
  dnsLabel,
  fields,
  type Form,
  formed,
  numberOf,
  objectsOf,
  oneOf,
  pathSegment,
  port,
  portName,
  portOrName,
  rangeFaults,
  readAddress,
  refuseValue,
  type Rule,
  subdomain,
  wildcard,
} from "./checks.ts";

/** A name of a host, which may begin with `*.`. */
const host: Form = (text) => [
  ...(readAddress(text) === undefined ? [] : ["must be a DNS name, not an IP address"]),
  ...(text.includes("*") ? wildcard : subdomain)(text),
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
    if (name === "" && !hasNumber) causes.push(requiredField(at, "port name or number is required"));
  } else if (!isObject(resource)) refuseValue(causes, at, "", "resource or service backend is required");
  backendFields(backend, at, causes);
};

const backendFields = fields({
  "resource.apiGroup": formed(subdomain),
  "resource.kind": formed(pathSegment),
  "resource.name": formed(pathSegment),
  "service.name": formed(dnsLabel),
  "service.port.name": formed(portName),
  "service.port.number": port,
});

const backend: Check = (value, at, causes) => ingressBackend(objectOr(value), at, causes);

const ingressSpec: Rule = ({ rules, defaultBackend }, at, causes) => {
  if (objectsOf(rules).length > 0 || isObject(defaultBackend)) return;
  refuseValue(causes, at, rules, "either `defaultBackend` or `rules` must be specified");
};

const PARTS = ["//", "/./", "/../", "%2f", "%2F"];
const ENDS = ["/..", "/."];

const ingressPath: Rule = ({ path, pathType, backend }, at, causes) => {
  if (pathType === undefined) return;
  const text = textOf(path);
  const isExact = pathType === "Exact" || pathType === "Prefix";
  if (!text.startsWith("/") && (isExact || text !== "")) {
    refuseValue(causes, `${at}.path`, text, "must be an absolute path");
  }
  const faults = isExact
    ? [
      ...PARTS.filter((part) => text.includes(part)).map((part) => `must not contain '${part}'`),
      ...ENDS.filter((end) => text.endsWith(end)).map((end) => `cannot end with '${end}'`),
    ]
    : [];
  for (const why of faults) refuseValue(causes, `${at}.path`, text, why);
  ingressBackend(objectOr(backend), `${at}.backend`, causes);
};

const policyPort: Rule = ({ port, endPort }, at, causes) => {
  if (typeof endPort !== "number") return;
  const why = typeof port === "number"
    ? endPort < port ? "must be greater than or equal to `port`" : ""
    : `may not be specified when \`port\` is ${port === undefined ? "not specified" : "non-numeric"}`;
  if (why !== "") refuseValue(causes, `${at}.endPort`, endPort, why);
};

const policyPeer: Rule = ({ podSelector, namespaceSelector, ipBlock }, at, causes) => {
  const others = [podSelector, namespaceSelector].filter(isObject).length;
  if (others === 0 && !isObject(ipBlock)) causes.push(requiredField(at, "must specify a peer"));
  if (others > 0 && isObject(ipBlock)) {
    causes.push(forbiddenField(at, "may not specify both ipBlock and another peer"));
  }
};

/** The rules of the types of networking.k8s.io/v1. */
export const NETWORKING_RULES: Readonly<Record<string, Rule>> = {
  "networking/v1.HTTPIngressPath": ingressPath,
  "networking/v1.IPBlock": fields({ cidr: formed(rangeFaults), "except[]": formed(rangeFaults) }),
  "networking/v1.IngressLoadBalancerIngress": fields({ ip: formed(addressFaults), hostname: formed(host) }),
  "networking/v1.IngressRule": fields({ host: formed(host) }),
  "networking/v1.IngressSpec": all(
    ingressSpec,
    fields({ ingressClassName: formed(subdomain), defaultBackend: backend }),
  ),
  "networking/v1.IngressTLS": fields({ "hosts[]": formed(host), secretName: formed(subdomain) }),
  "networking/v1.NetworkPolicyPeer": policyPeer,
  "networking/v1.NetworkPolicyPort": all(fields({ port: portOrName, endPort: port }), policyPort),
  "networking/v1.NetworkPolicySpec": fields({ "policyTypes[]": oneOf("Ingress", "Egress") }),
};
