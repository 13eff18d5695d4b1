import type { Definition } from "../storage/definition.ts";
import { at, isObject, type JsonObject, objectOr } from "../wire/json.ts";
import { humanDuration } from "./human_duration.ts";

/** What stands in one place of a table. */
export type Cell = string | number | boolean | null;

/** A column of the table that the server makes of a kind. */
export interface Column {
  /** Its title. */
  readonly name: string;
  /** `"string"`, `"integer"` … */
  readonly type: string;
  /** `"name"` for the name, else `""`. */
  readonly format: string;
  /** What it tells. */
  readonly description: string;
  /** 0: always shown; 1: only where there is room, `kubectl get -o wide`. */
  readonly priority: number;
  /** What an object has there; `now` is the server's clock, in milliseconds since 1970. */
  readonly cell: (object: JsonObject, now: number) => Cell;
}

/** The columns of a kind: its own where it has some, else name and age. */
export function columnsOf(definition: Definition): readonly Column[] {
  if (definition.columns.length > 0) {
    const own = definition.columns.map(({ name, type, jsonPath, description = "", priority = 0, format = "" }) => {
      const path = pathOf(jsonPath);
      const cell = (object: JsonObject, now: number): Cell => printed(at(object, ...path), type, now);
      return { name, type, format, description, priority, cell };
    });
    return [NAME, ...own];
  }
  const known = definition.custom ? undefined : KINDS[`${definition.group}/${definition.plural}`];
  return known === undefined ? [NAME, AGE] : [NAME, ...known];
}

/** The members that a simple JSONPath goes through: `.spec.size`, `.metadata.labels['a.b/c']`. */
function pathOf(jsonPath: string): string[] {
  return [...jsonPath.matchAll(/\['((?:[^'\\]|\\.)*)'\]|\[(\d+)\]|\.?([^.[\]\\]+(?:\\.[^.[\]\\]+)*)/g)].map((match) =>
    (match[1] ?? match[2] ?? match[3]).replace(/\\(.)/g, "$1")
  );
}

function printed(value: unknown, type: string, now: number): Cell {
  if (value === undefined || value === null) return null;
  if (type === "date") return typeof value === "string" ? age(value, now) : UNKNOWN;
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
  return JSON.stringify(value);
}

const UNKNOWN = "<unknown>";
const NONE = "<none>";

function age(time: unknown, now: number): string {
  const from = typeof time === "string" ? Date.parse(time) : NaN;
  return Number.isNaN(from) ? UNKNOWN : humanDuration(now - from);
}

function column(
  name: string,
  description: string,
  cell: Column["cell"],
  rest: Partial<Pick<Column, "type" | "format" | "priority">> = {},
): Column {
  return { name, type: "string", format: "", priority: 0, description, ...rest, cell };
}

const WIDE = { priority: 1 };
const INTEGER = { type: "integer" };

const NAME = column("Name", "Which object of its namespace it is.", (object) => text(object, "metadata", "name"), {
  format: "name",
});
const AGE = column(
  "Age",
  "How long ago it was created.",
  (object, now) => age(at(object, "metadata", "creationTimestamp"), now),
);

function text(object: JsonObject, ...path: readonly string[]): string {
  const value = at(object, ...path);
  return typeof value === "string" ? value : "";
}

function number(object: JsonObject, ...path: readonly string[]): number {
  const value = at(object, ...path);
  return typeof value === "number" ? value : 0;
}

function objects(object: JsonObject, ...path: readonly string[]): readonly JsonObject[] {
  const value = at(object, ...path);
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function size(object: JsonObject, ...fields: readonly string[]): number {
  return fields.reduce((sum, field) => sum + Object.keys(objectOr(object[field])).length, 0);
}

const CONTAINERS = column(
  "Containers",
  "The names of the containers of its pods.",
  (object) => objects(object, "spec", "template", "spec", "containers").map(({ name }) => String(name)).join(","),
  WIDE,
);
const IMAGES = column(
  "Images",
  "The images of the containers of its pods.",
  (object) => objects(object, "spec", "template", "spec", "containers").map(({ image }) => String(image)).join(","),
  WIDE,
);
const SELECTOR = column(
  "Selector",
  "Which pods are its own.",
  (object) => labels(at(object, "spec", "selector", "matchLabels")),
  WIDE,
);

function labels(value: unknown): string {
  const pairs = Object.entries(objectOr(value)).map(([key, value]) => `${key}=${value}`);
  return pairs.length === 0 ? NONE : pairs.sort().join(",");
}

function replicas(object: JsonObject): number {
  const value = at(object, "spec", "replicas");
  return typeof value === "number" ? value : 1;
}

/** The columns behind the name, by group and plural. */
const KINDS: Readonly<Record<string, readonly Column[]>> = {
  "/configmaps": [
    column("Data", "How many entries it has.", (object) => size(object, "data", "binaryData")),
    AGE,
  ],
  "/secrets": [
    column("Type", "What it is for.", (object) => text(object, "type")),
    column("Data", "How many entries it has.", (object) => size(object, "data")),
    AGE,
  ],
  "/namespaces": [column("Status", "Whether it is there to stay.", (object) => text(object, "status", "phase")), AGE],
  "/nodes": [
    column("Status", "Whether it takes pods.", nodeStatus),
    column("Roles", "What it is for.", nodeRoles),
    AGE,
    column("Version", "The version of its kubelet.", (object) => text(object, "status", "nodeInfo", "kubeletVersion")),
    column("Internal-IP", "Its address inside.", (object) => address(object, "InternalIP"), WIDE),
    column("External-IP", "Its address outside.", (object) => address(object, "ExternalIP"), WIDE),
    column("OS-Image", "Its system.", (object) => text(object, "status", "nodeInfo", "osImage") || UNKNOWN, WIDE),
    column(
      "Kernel-Version",
      "Its kernel.",
      (object) => text(object, "status", "nodeInfo", "kernelVersion") || UNKNOWN,
      WIDE,
    ),
    column(
      "Container-Runtime",
      "What runs its containers.",
      (object) => text(object, "status", "nodeInfo", "containerRuntimeVersion") || UNKNOWN,
      WIDE,
    ),
  ],
  "/pods": [
    column("Ready", "How many of its containers are ready.", podReady),
    column("Status", "How it is.", podStatus),
    column("Restarts", "How often its containers were started again.", (object) => String(restarts(object))),
    AGE,
    column("IP", "Its address.", (object) => text(object, "status", "podIP") || NONE, WIDE),
    column("Node", "Where it runs.", (object) => text(object, "spec", "nodeName") || NONE, WIDE),
    column(
      "Nominated Node",
      "Where it may run once others are gone.",
      (object) => text(object, "status", "nominatedNodeName") || NONE,
      WIDE,
    ),
    column("Readiness Gates", "How many further conditions hold.", readinessGates, WIDE),
  ],
  "/services": [
    column("Type", "How it is reached.", (object) => text(object, "spec", "type") || "ClusterIP"),
    column("Cluster-IP", "Its address inside.", (object) => text(object, "spec", "clusterIP") || NONE),
    column("External-IP", "Its address outside.", externalAddress),
    column("Port(s)", "Its ports.", servicePorts),
    AGE,
    column("Selector", "Which pods are behind it.", (object) => labels(at(object, "spec", "selector")), WIDE),
  ],
  "/serviceaccounts": [
    column("Secrets", "How many secrets it may use.", (object) => objects(object, "secrets").length, INTEGER),
    AGE,
  ],
  "apps/deployments": [
    column(
      "Ready",
      "How many of its pods are ready.",
      (object) => `${number(object, "status", "readyReplicas")}/${replicas(object)}`,
    ),
    column(
      "Up-to-date",
      "How many of its pods are as it wants them.",
      (object) => number(object, "status", "updatedReplicas"),
    ),
    column("Available", "How many of its pods serve.", (object) => number(object, "status", "availableReplicas")),
    AGE,
    CONTAINERS,
    IMAGES,
    SELECTOR,
  ],
  "apps/replicasets": [
    column("Desired", "How many pods it wants.", replicas, INTEGER),
    column("Current", "How many pods there are.", (object) => number(object, "status", "replicas"), INTEGER),
    column("Ready", "How many of them are ready.", (object) => number(object, "status", "readyReplicas"), INTEGER),
    AGE,
    CONTAINERS,
    IMAGES,
    SELECTOR,
  ],
  "apps/statefulsets": [
    column(
      "Ready",
      "How many of its pods are ready.",
      (object) => `${number(object, "status", "readyReplicas")}/${replicas(object)}`,
    ),
    AGE,
    CONTAINERS,
    IMAGES,
  ],
  "coordination.k8s.io/leases": [
    column("Holder", "Who has it.", (object) => text(object, "spec", "holderIdentity")),
    AGE,
  ],
};

function podReady(object: JsonObject): string {
  const all = objects(object, "spec", "containers").length;
  const ready = objects(object, "status", "containerStatuses").filter((status) => status.ready === true).length;
  return `${ready}/${all}`;
}

function podStatus(object: JsonObject): string {
  if (at(object, "metadata", "deletionTimestamp") !== undefined) return "Terminating";
  for (const status of objects(object, "status", "containerStatuses")) {
    const reason = text(status, "state", "waiting", "reason") || text(status, "state", "terminated", "reason");
    if (reason !== "") return reason;
  }
  return text(object, "status", "reason") || text(object, "status", "phase") || "Unknown";
}

function restarts(object: JsonObject): number {
  return objects(object, "status", "containerStatuses").reduce(
    (sum, status) => sum + number(status, "restartCount"),
    0,
  );
}

function readinessGates(object: JsonObject): string {
  const gates = objects(object, "spec", "readinessGates");
  if (gates.length === 0) return NONE;
  const holds = new Set(
    objects(object, "status", "conditions").filter(({ status }) => status === "True").map(({ type }) => type),
  );
  return `${gates.filter(({ conditionType }) => holds.has(conditionType)).length}/${gates.length}`;
}

function nodeStatus(object: JsonObject): string {
  const ready = objects(object, "status", "conditions").find(({ type }) => type === "Ready");
  const status = ready === undefined ? "Unknown" : ready.status === "True" ? "Ready" : "NotReady";
  return at(object, "spec", "unschedulable") === true ? `${status},SchedulingDisabled` : status;
}

function nodeRoles(object: JsonObject): string {
  const prefix = "node-role.kubernetes.io/";
  const roles = Object.keys(objectOr(at(object, "metadata", "labels"))).filter((label) => label.startsWith(prefix));
  return roles.length === 0 ? NONE : roles.map((label) => label.slice(prefix.length)).sort().join(",");
}

function address(object: JsonObject, type: string): string {
  const found = objects(object, "status", "addresses").find((entry) => entry.type === type);
  return typeof found?.address === "string" ? found.address : NONE;
}

function externalAddress(object: JsonObject): string {
  const given = at(object, "spec", "externalIPs");
  const balancers = objects(object, "status", "loadBalancer", "ingress").map(({ ip, hostname }) => ip ?? hostname);
  const all = [...balancers, ...(Array.isArray(given) ? given : [])];
  if (all.length > 0) return all.join(",");
  return text(object, "spec", "type") === "LoadBalancer" ? "<pending>" : NONE;
}

function servicePorts(object: JsonObject): string {
  const ports = objects(object, "spec", "ports").map(({ port, nodePort, protocol = "TCP" }) =>
    `${port}${nodePort ? `:${nodePort}` : ""}/${protocol}`
  );
  return ports.length === 0 ? NONE : ports.join(",");
}
