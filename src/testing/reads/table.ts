import { humanDuration } from "../../async/time.ts";
import { convertEvent, type Definition } from "../storage/definition.ts";
import { at, goJson, isObject, type JsonObject, objectOr, textOf } from "../wire/json.ts";
import { badRequest } from "../http/refusal.ts";
import { parseStored, partialOf, type StoredObject } from "../storage/store.ts";

/** The value of a table cell. */
type Cell = string | number | boolean | null;

/** A column of a kind's table. */
interface Column {
  /** Title of the column. */
  readonly name: string;
  /** Type: `"string"`, `"integer"` … */
  readonly type: string;
  /** `"name"` for the name, else `""`. */
  readonly format: string;
  /** Description of the column. */
  readonly description: string;
  /** 0: always shown; 1: only in wide output, `kubectl get -o wide`. */
  readonly priority: number;
  /** Returns an object's cell; `now` is the server's clock, in milliseconds since 1970. */
  readonly cell: (object: JsonObject, now: number) => Cell;
}

/** Returns the columns of a kind: its own if defined; else mostly name and age. */
function columnsOf(definition: Definition): readonly Column[] {
  if (definition.columns.length > 0) {
    const own = definition.columns.map(({ name, type, jsonPath, description = "", priority = 0, format = "" }) => {
      const path = pathOf(jsonPath);
      const cell = (object: JsonObject, now: number): Cell => printed(at(object, ...path), type, now);
      return { name, type, format, description, priority, cell };
    });
    return [NAME, ...own];
  }
  const id = `${definition.group}/${definition.plural}`;
  if (definition.custom) return [NAME, AGE];
  if (id === "/events") return EVENT;
  if (id === "events.k8s.io/events") return NEWER_EVENT;
  return [NAME, ...KINDS[id] ?? (WITHOUT_PRINTER.includes(id) ? [CREATED_AT] : [AGE])];
}

/** Splits a simple JSONPath into keys: `.spec.size`, `.metadata.labels['a.b/c']`. */
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

const NAME = column("Name", "Name of the object.", (object) => text(object, "metadata", "name"), {
  format: "name",
});
const AGE = column(
  "Age",
  "Time since creation.",
  (object, now) => age(at(object, "metadata", "creationTimestamp"), now),
);

const CREATED_AT = column(
  "Created At",
  "Time of creation.",
  (object) => text(object, "metadata", "creationTimestamp"),
  { type: "date" },
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
  "Names of the containers.",
  (object) => objects(object, "spec", "template", "spec", "containers").map(({ name }) => textOf(name)).join(","),
  WIDE,
);
const IMAGES = column(
  "Images",
  "Images of the containers.",
  (object) => objects(object, "spec", "template", "spec", "containers").map(({ image }) => textOf(image)).join(","),
  WIDE,
);
const SELECTOR = column(
  "Selector",
  "Selector of the pods.",
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

/** Columns of events (kubernetes `pkg/printers/internalversion`, `printEvent`): the name is the last one. */
const EVENT: readonly Column[] = [
  column("Last Seen", "Time since the last occurrence.", lastSeen),
  column("Type", "Type of the event.", (object) => text(object, "type")),
  column("Reason", "Reason of the event.", (object) => text(object, "reason")),
  column("Object", "The object that the event is about.", (object) => {
    const kind = text(object, "involvedObject", "kind").toLowerCase();
    const name = text(object, "involvedObject", "name");
    return name === "" ? kind : `${kind}/${name}`;
  }),
  column("Subobject", "The part of that object.", (object) => text(object, "involvedObject", "fieldPath"), WIDE),
  column("Source", "The component that reported the event.", (object) => {
    const component = text(object, "source", "component") || text(object, "reportingComponent");
    const instance = text(object, "source", "host") || text(object, "reportingInstance");
    return instance === "" ? component : `${component}, ${instance}`;
  }, WIDE),
  column("Message", "A description for people.", (object) => text(object, "message").trim()),
  column("First Seen", "Time since the first occurrence.", firstSeen, WIDE),
  column("Count", "Number of occurrences.", (object) => {
    return at(object, "series") === undefined ? number(object, "count") || 1 : number(object, "series", "count");
  }, WIDE),
  { ...NAME, priority: 1 },
];

const NEWER_EVENT: readonly Column[] = EVENT.map((column) => ({
  ...column,
  cell: (object, now) => column.cell(convertEvent(object, "/v1/events"), now),
}));

function firstSeen(object: JsonObject, now: number): string {
  return age(at(object, "firstTimestamp") ?? at(object, "eventTime"), now);
}

function lastSeen(object: JsonObject, now: number): string {
  const last = at(object, "series") === undefined
    ? at(object, "lastTimestamp")
    : at(object, "series", "lastObservedTime");
  return last === undefined || last === null ? firstSeen(object, now) : age(last, now);
}

/** Built-in kinds that have no columns but those of every kind (apiserver `rest/table.go`). */
const WITHOUT_PRINTER: readonly string[] = [
  "/limitranges",
  "apiextensions.k8s.io/customresourcedefinitions",
  "rbac.authorization.k8s.io/clusterroles",
  "rbac.authorization.k8s.io/roles",
];

/** Columns after the name, by group and plural. */
const KINDS: Readonly<Record<string, readonly Column[]>> = {
  "/configmaps": [
    column("Data", "Number of entries.", (object) => size(object, "data", "binaryData")),
    AGE,
  ],
  "/secrets": [
    column("Type", "Type of the secret.", (object) => text(object, "type")),
    column("Data", "Number of entries.", (object) => size(object, "data")),
    AGE,
  ],
  "/namespaces": [column("Status", "Phase of the namespace.", (object) => text(object, "status", "phase")), AGE],
  "/nodes": [
    column("Status", "Condition of the node.", nodeStatus),
    column("Roles", "Roles of the node.", nodeRoles),
    AGE,
    column("Version", "Version of the kubelet.", (object) => text(object, "status", "nodeInfo", "kubeletVersion")),
    column("Internal-IP", "Internal IP address.", (object) => address(object, "InternalIP"), WIDE),
    column("External-IP", "External IP address.", (object) => address(object, "ExternalIP"), WIDE),
    column("OS-Image", "Operating system.", (object) => text(object, "status", "nodeInfo", "osImage") || UNKNOWN, WIDE),
    column(
      "Kernel-Version",
      "Kernel version.",
      (object) => text(object, "status", "nodeInfo", "kernelVersion") || UNKNOWN,
      WIDE,
    ),
    column(
      "Container-Runtime",
      "Container runtime and its version.",
      (object) => text(object, "status", "nodeInfo", "containerRuntimeVersion") || UNKNOWN,
      WIDE,
    ),
  ],
  "/pods": [
    column("Ready", "Ready containers.", podReady),
    column("Status", "Phase, or the reason of a container state.", podStatus),
    column("Restarts", "Number of container restarts.", (object) => String(restarts(object))),
    AGE,
    column("IP", "IP address of the pod.", (object) => text(object, "status", "podIP") || NONE, WIDE),
    column("Node", "Node of the pod.", (object) => text(object, "spec", "nodeName") || NONE, WIDE),
    column(
      "Nominated Node",
      "Node nominated by preemption.",
      (object) => text(object, "status", "nominatedNodeName") || NONE,
      WIDE,
    ),
    column("Readiness Gates", "Readiness gates that are true.", readinessGates, WIDE),
  ],
  "/services": [
    column("Type", "Type of the service.", (object) => text(object, "spec", "type") || "ClusterIP"),
    column("Cluster-IP", "Cluster IP address.", (object) => text(object, "spec", "clusterIP") || NONE),
    column("External-IP", "External IP address.", externalAddress),
    column("Port(s)", "Ports of the service.", servicePorts),
    AGE,
    column("Selector", "Selector of the pods.", (object) => labels(at(object, "spec", "selector")), WIDE),
  ],
  "apps/deployments": [
    column(
      "Ready",
      "Ready pods.",
      (object) => `${number(object, "status", "readyReplicas")}/${replicas(object)}`,
    ),
    column(
      "Up-to-date",
      "Updated pods.",
      (object) => number(object, "status", "updatedReplicas"),
    ),
    column("Available", "Available pods.", (object) => number(object, "status", "availableReplicas")),
    AGE,
    CONTAINERS,
    IMAGES,
    SELECTOR,
  ],
  "apps/replicasets": [
    column("Desired", "Desired pods.", replicas, INTEGER),
    column("Current", "Current pods.", (object) => number(object, "status", "replicas"), INTEGER),
    column("Ready", "Ready pods.", (object) => number(object, "status", "readyReplicas"), INTEGER),
    AGE,
    CONTAINERS,
    IMAGES,
    SELECTOR,
  ],
  "apps/statefulsets": [
    column(
      "Ready",
      "Ready pods.",
      (object) => `${number(object, "status", "readyReplicas")}/${replicas(object)}`,
    ),
    AGE,
    CONTAINERS,
    IMAGES,
  ],
  "coordination.k8s.io/leases": [
    column("Holder", "Holder of the lease.", (object) => text(object, "spec", "holderIdentity")),
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

/** The part of each object that a table row includes. */
type IncludeObject = "None" | "Metadata" | "Object";

/** Representation of objects in a response. */
export type ResponseView =
  | {
    /** Full objects. */
    readonly as: "object";
  }
  | {
    /** Metadata only. */
    readonly as: "partial";
  }
  | {
    /** Rows of a table, with cells computed by the server. */
    readonly as: "table";
    /** The part of the object that a row includes. */
    readonly include: IncludeObject;
    /** The server's clock, for ages. */
    readonly now: () => number;
  };

/** The representation as a table. */
type TableView = ResponseView & { readonly as: "table" };

/**
 * Parses the query parameter `includeObject`.
 *
 * @throws {StatusError} 400 if the value is unknown.
 */
export function includeObjectOf(parameters: URLSearchParams): IncludeObject {
  const include = parameters.get("includeObject") || "Metadata";
  if (include === "None" || include === "Metadata" || include === "Object") return include;
  throw badRequest(`unrecognized includeObject value: ${JSON.stringify(include)}`);
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Serializes a table up to its rows; `metadata` is that of the list. */
export function tableHead(definition: Definition, metadata: JsonObject, withColumns: boolean): string {
  const columns = columnsOf(definition).map(({ name, type, format, description, priority }) => ({
    name,
    type,
    format,
    description,
    priority,
  }));
  const head = {
    kind: "Table",
    apiVersion: "meta.k8s.io/v1",
    metadata,
    columnDefinitions: withColumns ? columns : null,
  };
  return `${goJson(head).slice(0, -1)},"rows":[`;
}

/** Serializes one row. */
export function tableRow(definition: Definition, stored: StoredObject, { include, now }: TableView): string {
  const object = parseStored(stored);
  const time = now();
  const cells = goJson(columnsOf(definition).map(({ cell }) => cell(object, time)));
  const carried = include === "None"
    ? "null"
    : decoder.decode(include === "Object" ? stored.bytes : partialOf(definition, stored));
  return `{"cells":${cells},"object":${carried}}`;
}

/** Serializes a table of one object. */
export function tableOfOne(
  definition: Definition,
  stored: StoredObject,
  view: TableView,
  withColumns: boolean,
): Uint8Array {
  const metadata = { resourceVersion: String(stored.revision) };
  return encoder.encode(`${tableHead(definition, metadata, withColumns)}${tableRow(definition, stored, view)}]}`);
}

/** Serializes the table of a bookmark: one row without cell values. */
export function bookmarkTable(definition: Definition, metadata: JsonObject, withColumns: boolean): string {
  const { resourceVersion } = metadata;
  const cells = columnsOf(definition).map(({ cell }) => cell({}, 0));
  const row = { cells, object: { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata } };
  return `${tableHead(definition, { resourceVersion }, withColumns)}${goJson(row)}]}`;
}
