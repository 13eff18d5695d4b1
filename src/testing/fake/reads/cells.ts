/**
 * The cells of the tables that kube-apiserver prints, for built-in kinds.
 *
 * {@linkcode KINDS} and {@linkcode COMMON} have a function for each column. The table around the cells is made in
 * `table.ts`.
 *
 * @module
 */
import { humanDuration } from "../../../engine/async/time.ts";
import { convertEvent } from "../storage/forms.ts";
import { isList, isObject, type JsonObject } from "../../../engine/api/json.ts";
import { listOr, memberAt, objectOr, textOf } from "../../../engine/api/members.ts";

/** The value of a table cell. */
export type Cell = string | number | boolean | null;

/** Returns an object's cell; `now` is the server's clock, in milliseconds since 1970. */
export type ReadCell = (object: JsonObject, now: number) => Cell;

/** A fact that is not known. */
export const UNKNOWN = "<unknown>";
/** There is none. */
const NONE = "<none>";
/** There is no such setting. */
const UNSET = "<unset>";

/** The time since then, as Kubernetes prints it. */
export function age(time: unknown, now: number): string {
  const from = typeof time === "string" ? Date.parse(time) : NaN;
  return Number.isNaN(from) ? UNKNOWN : humanDuration(now - from);
}

/** The text at a path; empty where there is none. */
function text(object: JsonObject, ...path: readonly string[]): string {
  const value = memberAt(object, ...path);
  return typeof value === "string" ? value : "";
}

/** The number at a path; 0 where there is none. */
function number(object: JsonObject, ...path: readonly string[]): number {
  const value = memberAt(object, ...path);
  return typeof value === "number" ? value : 0;
}

/** The objects of the list at a path. */
function objects(object: JsonObject, ...path: readonly string[]): readonly JsonObject[] {
  const value = memberAt(object, ...path);
  return listOr(value).filter(isObject);
}

/** The texts of the list at a path. */
function strings(object: JsonObject, ...path: readonly string[]): readonly string[] {
  const value = memberAt(object, ...path);
  return isList(value) ? value.map(textOf) : [];
}

/** The text at a path, as JSON has it; the fallback where there is none. */
function field(path: string, fallback: Cell = ""): ReadCell {
  const keys = path.split(".");
  return (object) => {
    const value = memberAt(object, ...keys);
    return value === undefined || value === null || value === "" ? fallback : value as Cell;
  };
}

/** Like {@linkcode field}, as text. */
function asText(path: string, fallback = ""): ReadCell {
  const cell = field(path, fallback);
  return (object, now) => textOf(cell(object, now));
}

/** The number of members of some fields. */
function size(object: JsonObject, ...fields: readonly string[]): number {
  return fields.reduce((sum, field) => sum + Object.keys(objectOr(object[field])).length, 0);
}

/** The time since that at a path. */
function since(path: string, fallback: string): ReadCell {
  const keys = path.split(".");
  return (object, now) => {
    const time = memberAt(object, ...keys);
    return time === undefined || time === null ? fallback : age(time, now);
  };
}

/** Labels, sorted. */
function labels(value: unknown): string {
  const pairs = Object.entries(objectOr(value)).map(([key, value]) => `${key}=${value}`);
  return pairs.sort().join(",") || NONE;
}

/** A label selector, as Kubernetes prints it. */
function selector(value: unknown): string {
  const { matchLabels, matchExpressions } = objectOr(value);
  const equal = Object.entries(objectOr(matchLabels)).map(([key, value]) => [key, `${key}=${value}`]);
  const expressions = listOr(matchExpressions).map(objectOr).map((expression) => {
    const { operator } = expression;
    const key = textOf(expression.key);
    const values = strings(expression, "values").toSorted().join(",");
    const texts: Record<string, string> = { Exists: key, DoesNotExist: `!${key}`, NotIn: `${key} notin (${values})` };
    return [key, texts[textOf(operator)] ?? `${key} in (${values})`];
  });
  const sorted = [...equal, ...expressions].sort(([a], [b]) => a < b ? -1 : Number(a > b));
  return sorted.map(([, text]) => text).join(",");
}

/** The condition of a type in the status. */
function condition(object: JsonObject, type: string): JsonObject | undefined {
  return objects(object, "status", "conditions").find((it) => it.type === type);
}

/** Returns true if a condition is true. */
function isTrue(object: JsonObject, type: string): boolean {
  return condition(object, type)?.status === "True";
}

/** Returns true if an object is being deleted. */
function isDeleted(object: JsonObject): boolean {
  return memberAt(object, "metadata", "deletionTimestamp") !== undefined;
}

/** Names or images of the containers in a template. */
function containers(member: "name" | "image"): ReadCell {
  return (object) => {
    const template = memberAt(object, "spec", "jobTemplate", "spec", "template") ??
      memberAt(object, "spec", "template") ??
      object.template;
    return objects(objectOr(template), "spec", "containers").map((it) => textOf(it[member])).join(",");
  };
}

/** The cells of a pod (kubernetes `pkg/printers/internalversion`, `printPod`). */
function printPod(object: JsonObject, now: number): { ready: string; reason: string; restarts: string } {
  const phase = text(object, "status", "phase");
  const sidecars = new Set(
    objects(object, "spec", "initContainers").filter((it) => it.restartPolicy === "Always").map(({ name }) => name),
  );
  let reason = text(object, "status", "reason") || phase;
  if (condition(object, "PodScheduled")?.reason === "SchedulingGated") reason = "SchedulingGated";
  const inits = objects(object, "status", "initContainerStatuses");
  const stopped = inits.findIndex((status) =>
    memberAt(status, "state", "terminated", "exitCode") !== 0 && !(sidecars.has(status.name ?? null) && status.started)
  );
  const initialized = stopped < 0 || isTrue(object, "Initialized");
  if (stopped >= 0) {
    const { terminated, waiting } = objectOr(inits[stopped].state);
    const why = isObject(waiting) && waiting.reason !== "PodInitializing" ? text(waiting, "reason") : "";
    const total = objects(object, "spec", "initContainers").length;
    reason = `Init:${isObject(terminated) ? ended(terminated) : why || `${stopped}/${total}`}`;
  }
  const seen = stopped < 0 ? inits : inits.slice(0, stopped + 1);
  const main = initialized ? objects(object, "status", "containerStatuses") : [];
  const counted = initialized ? [...seen.filter(({ name }) => sidecars.has(name ?? null)), ...main] : seen;
  if (initialized) reason = containersReason(object, main, reason);
  if (isDeleted(object)) {
    if (text(object, "status", "reason") === "NodeLost") reason = "Unknown";
    else if (phase !== "Succeeded" && phase !== "Failed") reason = "Terminating";
  }
  const sidecarsReady = seen.filter((it) => sidecars.has(it.name ?? null) && it.started === true && it.ready === true);
  const running = main.filter(isRunning).length + sidecarsReady.length;
  const restarts = counted.reduce((sum, status) => sum + number(status, "restartCount"), 0);
  const last = counted.map((status) => text(status, "lastState", "terminated", "finishedAt")).sort().at(-1) ?? "";
  return {
    ready: `${running}/${objects(object, "spec", "containers").length + sidecars.size}`,
    reason,
    restarts: restarts > 0 && last !== "" ? `${restarts} (${age(last, now)} ago)` : String(restarts),
  };
}

function isRunning({ ready, state }: JsonObject): boolean {
  const { waiting, terminated, running } = objectOr(state);
  return ready === true && running !== undefined && terminated === undefined &&
    !(isObject(waiting) && waiting.reason);
}

function containersReason(object: JsonObject, statuses: readonly JsonObject[], before: string): string {
  let reason = before;
  let failure = "";
  for (const { state } of statuses.toReversed()) {
    const { waiting, terminated } = objectOr(state);
    if (isObject(waiting) && waiting.reason) reason = textOf(waiting.reason);
    else if (isObject(terminated)) {
      reason = ended(terminated);
      if (number(terminated, "exitCode") !== 0) failure = reason;
    }
  }
  if (reason !== "Completed") return reason;
  const running = statuses.some(isRunning);
  return running && isTrue(object, "Ready") ? "Running" : failure || (running ? "NotReady" : reason);
}

function ended(terminated: JsonObject): string {
  const signal = number(terminated, "signal");
  return text(terminated, "reason") || (signal ? `Signal:${signal}` : `ExitCode:${number(terminated, "exitCode")}`);
}

/** The number of a pod's readiness gates that are true, of all. */
function readinessGates(object: JsonObject): string {
  const gates = objects(object, "spec", "readinessGates");
  if (gates.length === 0) return NONE;
  return `${gates.filter(({ conditionType }) => isTrue(object, textOf(conditionType))).length}/${gates.length}`;
}

/** Cells of columns that have one meaning, by name. */
export const COMMON: Readonly<Record<string, ReadCell>> = {
  Name: field("metadata.name"),
  Age: since("metadata.creationTimestamp", UNKNOWN),
  "Created At": field("metadata.creationTimestamp", null),
  Containers: containers("name"),
  Images: containers("image"),
  Selector: (object) => selector(memberAt(object, "spec", "selector")) || NONE,
  StorageClass: (object) =>
    text(object, "metadata", "annotations", "volume.beta.kubernetes.io/storage-class") ||
    text(object, "spec", "storageClassName"),
  VolumeAttributesClass: asText("spec.volumeAttributesClassName", UNSET),
  VolumeMode: asText("spec.volumeMode", UNSET),
};

/** The cells of events (kubernetes `pkg/printers/internalversion`, `printEvent`). */
const EVENT: Readonly<Record<string, ReadCell>> = {
  "Last Seen": lastSeen,
  Object: (object) => {
    const kind = text(object, "involvedObject", "kind").toLowerCase();
    const name = text(object, "involvedObject", "name");
    return name === "" ? kind : `${kind}/${name}`;
  },
  Subobject: field("involvedObject.fieldPath"),
  Source: (object) => {
    const component = text(object, "source", "component") || text(object, "reportingComponent");
    const instance = text(object, "source", "host") || text(object, "reportingInstance");
    return instance === "" ? component : `${component}, ${instance}`;
  },
  Message: (object) => text(object, "message").trim(),
  "First Seen": firstSeen,
  Count: (object) =>
    memberAt(object, "series") === undefined ? number(object, "count") || 1 : number(object, "series", "count"),
};

function firstSeen(object: JsonObject, now: number): string {
  return age(memberAt(object, "firstTimestamp") ?? memberAt(object, "eventTime"), now);
}

function lastSeen(object: JsonObject, now: number): string {
  const last = memberAt(object, "series") === undefined
    ? memberAt(object, "lastTimestamp")
    : memberAt(object, "series", "lastObservedTime");
  return last === undefined || last === null ? firstSeen(object, now) : age(last, now);
}

const READY_OF_REPLICAS: ReadCell = (object) => `${number(object, "status", "readyReplicas")}/${replicas(object)}`;

function replicas(object: JsonObject): number {
  const value = memberAt(object, "spec", "replicas");
  return typeof value === "number" ? value : 1;
}

const REPLICAS: Readonly<Record<string, ReadCell>> = {
  Desired: replicas,
  Current: field("status.replicas", 0),
  Ready: field("status.readyReplicas", 0),
};

/**
 * Cells by group, plural name and column. Left out are those of {@linkcode COMMON}, and those of members that have the
 * name of their column.
 */
export const KINDS: Readonly<Record<string, Readonly<Record<string, ReadCell>>>> = {
  "/configmaps": { Data: (object) => size(object, "data", "binaryData") },
  "/events": EVENT,
  "/namespaces": { Status: field("status.phase") },
  "/nodes": {
    Status: nodeStatus,
    Roles: nodeRoles,
    Version: field("status.nodeInfo.kubeletVersion"),
    "Internal-IP": (object) => address(object, "InternalIP"),
    "External-IP": (object) => address(object, "ExternalIP"),
    "OS-Image": field("status.nodeInfo.osImage", UNKNOWN),
    "Kernel-Version": (object) => {
      const { kernelVersion, architecture } = objectOr(memberAt(object, "status", "nodeInfo"));
      return textOf(kernelVersion || UNKNOWN) + (architecture ? ` (${textOf(architecture)})` : "");
    },
    "Container-Runtime": field("status.nodeInfo.containerRuntimeVersion", UNKNOWN),
  },
  "/persistentvolumeclaims": {
    Status: (object) => isDeleted(object) ? "Terminating" : text(object, "status", "phase"),
    Volume: field("spec.volumeName"),
    Capacity: (object) => text(object, "spec", "volumeName") && (text(object, "status", "capacity", "storage") || "0"),
    "Access Modes": (object) => text(object, "spec", "volumeName") && accessModes(object),
  },
  "/pods": {
    Ready: (object) => printPod(object, 0).ready,
    Status: (object) => printPod(object, 0).reason,
    Restarts: (object, now) => printPod(object, now).restarts,
    IP: (object) => textOf(objects(object, "status", "podIPs")[0]?.ip ?? text(object, "status", "podIP")) || NONE,
    Node: field("spec.nodeName", NONE),
    "Nominated Node": field("status.nominatedNodeName", NONE),
    "Readiness Gates": readinessGates,
  },
  "/secrets": { Data: (object) => size(object, "data") },
  "/services": {
    Type: field("spec.type", "ClusterIP"),
    "Cluster-IP": (object) => strings(object, "spec", "clusterIPs")[0] || text(object, "spec", "clusterIP") || NONE,
    "External-IP": externalAddress,
    "Port(s)": servicePorts,
    Selector: (object) => labels(memberAt(object, "spec", "selector")),
  },
  "apiextensions.k8s.io/customresourcedefinitions": {
    Versions: (object) =>
      objects(object, "spec", "versions").filter(({ served }) => served === true)
        .map(({ name, storage }) => `${textOf(name)}${storage === true ? "(storage)" : ""}`).sort().join(","),
    Kind: field("spec.names.kind"),
    ShortNames: (object) => strings(object, "spec", "names", "shortNames").join(",") || NONE,
    Established: (object) => isTrue(object, "Established"),
  },
  "apps/daemonsets": {
    Desired: field("status.desiredNumberScheduled", 0),
    Current: field("status.currentNumberScheduled", 0),
    Ready: field("status.numberReady", 0),
    "Up-to-date": field("status.updatedNumberScheduled", 0),
    Available: field("status.numberAvailable", 0),
    "Node Selector": (object) => labels(memberAt(object, "spec", "template", "spec", "nodeSelector")),
  },
  "apps/deployments": {
    Ready: READY_OF_REPLICAS,
    "Up-to-date": field("status.updatedReplicas", 0),
    Available: field("status.availableReplicas", 0),
    Selector: (object) => selector(memberAt(object, "spec", "selector")),
  },
  "apps/replicasets": REPLICAS,
  "apps/statefulsets": { Ready: READY_OF_REPLICAS },
  "batch/cronjobs": {
    Timezone: field("spec.timeZone", NONE),
    Suspend: (object) => {
      const suspend = memberAt(object, "spec", "suspend");
      return suspend === undefined ? UNSET : suspend === true ? "True" : "False";
    },
    "Last Schedule": since("status.lastScheduleTime", NONE),
    Selector: (object) => selector(memberAt(object, "spec", "jobTemplate", "spec", "selector")) || NONE,
  },
  "batch/jobs": { Status: jobStatus, Completions: jobCompletions, Duration: jobDuration },
  "coordination.k8s.io/leases": { Holder: field("spec.holderIdentity") },
  "events.k8s.io/events": Object.fromEntries(
    Object.entries(EVENT).map(([name, cell]): [string, ReadCell] => [
      name,
      (object, now) => cell(convertEvent(object, "/v1/events"), now),
    ]),
  ),
  "networking.k8s.io/ingresses": {
    Class: field("spec.ingressClassName", NONE),
    Hosts: (object) => {
      const rules = objects(object, "spec", "rules");
      const hosts = rules.slice(0, 3).map(({ host }) => host).filter((host) => host).map(textOf);
      return (hosts.join(",") || "*") + (rules.length > 3 && hosts.length > 0 ? ` + ${rules.length - 3} more...` : "");
    },
    Address: balancers,
    Ports: (object) => objects(object, "spec", "tls").length > 0 ? "80, 443" : "80",
  },
  "policy/poddisruptionbudgets": {
    "Min Available": asText("spec.minAvailable", "N/A"),
    "Max Unavailable": asText("spec.maxUnavailable", "N/A"),
    "Allowed Disruptions": field("status.disruptionsAllowed", 0),
  },
};

function nodeStatus(object: JsonObject): string {
  const ready = condition(object, "Ready");
  const status = ready === undefined ? "Unknown" : ready.status === "True" ? "Ready" : "NotReady";
  return memberAt(object, "spec", "unschedulable") === true ? `${status},SchedulingDisabled` : status;
}

function nodeRoles(object: JsonObject): string {
  const prefix = "node-role.kubernetes.io/";
  const roles = Object.entries(objectOr(memberAt(object, "metadata", "labels"))).map(([label, value]) =>
    label === "kubernetes.io/role" ? textOf(value) : label.startsWith(prefix) ? label.slice(prefix.length) : ""
  );
  return [...new Set(roles.filter((role) => role !== ""))].sort().join(",") || NONE;
}

function address(object: JsonObject, type: string): string {
  const found = objects(object, "status", "addresses").find((entry) => entry.type === type);
  return typeof found?.address === "string" ? found.address : NONE;
}

function balancers(object: JsonObject): string {
  const all = objects(object, "status", "loadBalancer", "ingress").map(({ ip, hostname }) => textOf(ip || hostname));
  return [...new Set(all)].sort().join(",");
}

function externalAddress(object: JsonObject): string {
  const type = text(object, "spec", "type") || "ClusterIP";
  if (type === "ExternalName") return text(object, "spec", "externalName");
  const balanced = type === "LoadBalancer" ? balancers(object) : "";
  const all = [...(balanced === "" ? [] : [balanced]), ...strings(object, "spec", "externalIPs")];
  return all.join(",") || (type === "LoadBalancer" ? "<pending>" : NONE);
}

function servicePorts(object: JsonObject): string {
  return objects(object, "spec", "ports").map(({ port, nodePort, protocol = "TCP" }) =>
    `${port}${nodePort ? `:${nodePort}` : ""}/${protocol}`
  ).join(",") || NONE;
}

const MODES: Readonly<Record<string, string>> = {
  ReadWriteOnce: "RWO",
  ReadOnlyMany: "ROX",
  ReadWriteMany: "RWX",
  ReadWriteOncePod: "RWOP",
};

function accessModes(object: JsonObject): string {
  const modes = strings(object, "status", "accessModes");
  return Object.keys(MODES).filter((mode) => modes.includes(mode)).map((mode) => MODES[mode]).join(",");
}

/** The conditions of a job that its status names, the first that is true. */
const JOB_CONDITIONS = ["Suspended", "FailureTarget", "SuccessCriteriaMet"];

function jobStatus(object: JsonObject): string {
  if (isTrue(object, "Complete")) return "Complete";
  if (isTrue(object, "Failed")) return "Failed";
  if (isDeleted(object)) return "Terminating";
  return JOB_CONDITIONS.find((type) => isTrue(object, type)) ?? "Running";
}

function jobCompletions(object: JsonObject): string {
  const succeeded = number(object, "status", "succeeded");
  const { completions, parallelism } = objectOr(object.spec);
  if (typeof completions === "number") return `${succeeded}/${completions}`;
  return `${succeeded}/1${typeof parallelism === "number" && parallelism > 1 ? ` of ${parallelism}` : ""}`;
}

function jobDuration(object: JsonObject, now: number): string {
  const { startTime, completionTime } = objectOr(object.status);
  if (startTime === undefined) return "";
  return age(startTime, completionTime === undefined ? now : Date.parse(textOf(completionTime)));
}
