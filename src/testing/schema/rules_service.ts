import { type Causes, duplicateField, forbiddenField, requiredField, unsupportedField } from "../http/refusal.ts";
import { type Json, type JsonObject, objectOr, textOf } from "../wire/json.ts";
import { checkForm, checkLabels, checkPort, numberOf, objectsOf, refuseValue, type Rule } from "./checks.ts";
import { addressFaults, rangeFaults } from "./addresses.ts";
import { isExternallyAccessible } from "./computed_core.ts";
import { dnsLabel, labelKey, subdomain } from "./forms.ts";
import { hostName, reachable } from "./forms_core.ts";
import { checkPortOrName } from "./rules_container.ts";

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
