/**
 * The addresses and ports of Services.
 *
 * {@linkcode ServiceAddresses} is the entry point: it has what is taken. Which values a Service may have is checked in
 * `schema/rules.ts`.
 *
 * @module
 */
import { type Causes, fieldCause, knownRefusal } from "../../../engine/protocol/refusal.ts";
import { readAddress } from "../../../operator/schema/values/network.ts";
import { refuseValue } from "../schema/checks.ts";
import { familyCauses } from "../schema/rules.ts";
import { goJson } from "../wire/go_text.ts";
import type { Json, JsonObject, MutableJson } from "../../../engine/api/json.ts";
import { listOr, objectOr, objectsOf, textOf } from "../../../engine/api/members.ts";
import { memberObject, memberObjects } from "../schema/members.ts";

const FIRST_ADDRESS = 10;
const ADDRESSES = 0x10000;
/** The first half of the addresses: 10.96. */
const RANGE = 0x0a60n;
const FIRST_PORT = 30_000;
const PORTS = 2_768;

function has({ type = "ClusterIP" }: JsonObject, ...types: readonly string[]): boolean {
  return types.includes(type as string);
}

function hasPorts(spec: JsonObject): boolean {
  return has(spec, "NodePort", "LoadBalancer");
}

function hasHealthPort({ type, externalTrafficPolicy }: JsonObject): boolean {
  return type === "LoadBalancer" && externalTrafficPolicy === "Local";
}

/**
 * Gives Services of requests their addresses and ports: those of 10.96.0.0/16 and from 30000 to 32767, one after the
 * other. What a deleted Service had is free again after the last one.
 */
export class ServiceAddresses {
  #address = FIRST_ADDRESS;
  #port = 0;
  readonly #holders = new Map<unknown, string>();

  /**
   * Completes a new Service.
   *
   * @throws {StatusError} 422 for addresses and ports that cannot be had.
   */
  create(service: MutableJson, dryRun: boolean): void {
    const spec = memberObject(service, "spec");
    if (spec.clusterIP && spec.clusterIPs === undefined) spec.clusterIPs = [spec.clusterIP];
    this.#complete(service, spec, {}, dryRun);
  }

  /**
   * Keeps what a Service has, unless its type does not have it any more.
   *
   * @throws {StatusError} 422 for addresses and ports that cannot be had.
   */
  update(old: JsonObject, service: MutableJson, dryRun: boolean): void {
    const before = objectOr(old.spec);
    const spec = memberObject(service, "spec");
    if (has(before, "ExternalName") || has(spec, "ExternalName")) drop(before, spec, "clusterIP", "clusterIPs");
    else {
      spec.clusterIP ??= before.clusterIP;
      spec.clusterIPs ??= spec.clusterIP === before.clusterIP ? before.clusterIPs : [spec.clusterIP as Json];
    }
    if (has(spec, "ExternalName")) drop(before, spec, "ipFamilies", "ipFamilyPolicy");
    keepPorts(before, spec);
    if (!has(spec, "LoadBalancer")) drop(before, spec, "allocateLoadBalancerNodePorts", "loadBalancerClass");
    if (!hasPorts(spec) && !spec.externalIPs) drop(before, spec, "externalTrafficPolicy");
    if (!hasHealthPort(spec)) drop(before, spec, "healthCheckNodePort");
    else if (hasHealthPort(before)) spec.healthCheckNodePort ??= before.healthCheckNodePort;
    spec.ipFamilyPolicy ??= has(spec, "ExternalName") ? undefined : before.ipFamilyPolicy;
    this.#complete(service, spec, before, dryRun);
    for (const name in spec) if (spec[name] === undefined) delete spec[name];
  }

  #complete(service: MutableJson, spec: MutableJson, before: JsonObject, dryRun: boolean): void {
    const metadata = objectOr(service.metadata);
    const name = textOf(metadata.name);
    const check = (causes: Causes): void => {
      if (causes.length > 0) throw knownRefusal("invalid", { group: "", kind: "Service", name }, causes);
    };
    const holder = textOf(metadata.uid);
    if (has(spec, "ExternalName")) delete spec.internalTrafficPolicy;
    else {
      check(familyCauses(spec));
      setFamilies(spec);
      if (spec.clusterIP !== "None") check(this.#setAddress(spec, before, holder, dryRun));
    }
    const balances = spec.allocateLoadBalancerNodePorts !== false;
    const byPort = new Map<Json | undefined, number>();
    memberObjects(spec.ports).forEach((port, index) => {
      if (!hasPorts(spec) || (!port.nodePort && has(spec, "LoadBalancer") && !balances)) return;
      const known = byPort.get(port.port);
      const given = Number(port.nodePort ?? 0);
      if (given !== 0 && !dryRun) check(this.#takePort(given, `spec.ports[${index}].nodePort`, before, holder));
      const found = given || known || this.#freePort(holder, dryRun);
      byPort.set(port.port, found);
      port.nodePort = found;
    });
    if (hasHealthPort(spec) && !spec.healthCheckNodePort) spec.healthCheckNodePort = this.#freePort(holder, dryRun);
  }

  #setAddress(spec: MutableJson, before: JsonObject, holder: string, dryRun: boolean): Causes {
    const causes: Causes = [];
    if (!spec.clusterIP) {
      let address: string;
      do {
        address = `10.96.${this.#address >> 8}.${this.#address & 255}`;
        this.#address = (this.#address + 1) % ADDRESSES || FIRST_ADDRESS;
      } while (this.#holders.has(address));
      if (dryRun) this.#address--;
      else this.#holders.set(address, holder);
      spec.clusterIP = address;
      spec.clusterIPs = [address];
      return causes;
    }
    const address = textOf(spec.clusterIP);
    if (address === before.clusterIP) return causes;
    const other = this.#holders.get(address);
    const why = (readAddress(address)?.value ?? 0n) >> 16n !== RANGE
      ? `the provided IP (${address}) is not in the valid range. The range of valid IPs is 10.96.0.0/16`
      : other !== undefined && other !== holder
      ? "provided IP is already allocated"
      : undefined;
    if (why !== undefined) {
      refuseValue(causes, "spec.clusterIPs", spec.clusterIPs, `failed to allocate IP ${address}: ${why}`);
    } else if (!dryRun) this.#holders.set(address, holder);
    return causes;
  }

  #takePort(port: number, at: string, before: JsonObject, holder: string): Causes {
    if (objectsOf(before.ports).some(({ nodePort }) => nodePort === port)) return [];
    const other = this.#holders.get(port);
    const why = port < FIRST_PORT || port >= FIRST_PORT + PORTS
      ? "provided port is not in the valid range. The range of valid ports is 30000-32767"
      : other !== undefined && other !== holder
      ? "provided port is already allocated"
      : undefined;
    if (why !== undefined) return [fieldCause.invalid(at, goJson(port), why)];
    this.#holders.set(port, holder);
    return [];
  }

  #freePort(holder: string, dryRun: boolean): number {
    let port: number;
    do {
      port = FIRST_PORT + this.#port;
      this.#port = (this.#port + 1) % PORTS;
    } while (this.#holders.has(port));
    if (dryRun) this.#port = port - FIRST_PORT;
    else this.#holders.set(port, holder);
    return port;
  }

  /** Frees what a Service holds. */
  release(service: JsonObject): void {
    const { clusterIPs, ports, healthCheckNodePort } = objectOr(service.spec);
    const holder = objectOr(service.metadata).uid;
    const keys = [...listOr(clusterIPs), ...objectsOf(ports).map(({ nodePort }) => nodePort), healthCheckNodePort];
    for (const key of keys) if (this.#holders.get(key) === holder) this.#holders.delete(key);
  }
}

/** Removes members that a Service still has from another type. */
function drop(before: JsonObject, spec: MutableJson, ...names: readonly string[]): void {
  for (const name of names) {
    if (JSON.stringify(before[name]) === JSON.stringify(spec[name])) delete spec[name];
  }
}

/** Keeps ports of nodes by the names of ports, or removes them if the type has none. */
function keepPorts(before: JsonObject, spec: MutableJson): void {
  const [old, ports] = [objectsOf(before.ports), memberObjects(spec.ports)];
  const portsOf = (list: readonly JsonObject[]): readonly (Json | undefined)[] => list.map(({ nodePort }) => nodePort);
  if (hasPorts(before) && !hasPorts(spec)) {
    if (JSON.stringify(portsOf(old)) === JSON.stringify(portsOf(ports))) {
      for (const port of ports) delete port.nodePort;
    }
  } else if (hasPorts(before)) {
    const used = new Set(portsOf(ports));
    const byName = new Map(old.map(({ name, nodePort }) => [name ?? "", nodePort]));
    for (const port of ports) {
      const kept = byName.get(port.name ?? "");
      if (!port.nodePort && kept && !used.has(kept)) port.nodePort = kept;
    }
  }
}

/** Fills in the address families: only IPv4, unless the Service is headless and has no selector. */
function setFamilies(spec: MutableJson): void {
  const isFree = spec.clusterIP === "None" && Object.keys(objectOr(spec.selector)).length === 0;
  spec.ipFamilyPolicy ??= isFree ? "RequireDualStack" : "SingleStack";
  spec.ipFamilies ??= isFree && spec.ipFamilyPolicy !== "SingleStack" ? ["IPv4", "IPv6"] : ["IPv4"];
}
