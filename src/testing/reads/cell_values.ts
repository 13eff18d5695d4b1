import { humanDuration } from "../../async/time.ts";
import { at, isObject, type JsonObject, objectOr, textOf } from "../wire/json.ts";

/** The value of a table cell. */
export type Cell = string | number | boolean | null;

/** Returns an object's cell; `now` is the server's clock, in milliseconds since 1970. */
export type ReadCell = (object: JsonObject, now: number) => Cell;

/** A fact that is not known. */
export const UNKNOWN = "<unknown>";
/** There is none. */
export const NONE = "<none>";
/** There is no such setting. */
export const UNSET = "<unset>";

/** The time since then, as Kubernetes prints it. */
export function age(time: unknown, now: number): string {
  const from = typeof time === "string" ? Date.parse(time) : NaN;
  return Number.isNaN(from) ? UNKNOWN : humanDuration(now - from);
}

/** The text at a path; empty where there is none. */
export function text(object: JsonObject, ...path: readonly string[]): string {
  const value = at(object, ...path);
  return typeof value === "string" ? value : "";
}

/** The number at a path; 0 where there is none. */
export function number(object: JsonObject, ...path: readonly string[]): number {
  const value = at(object, ...path);
  return typeof value === "number" ? value : 0;
}

/** The objects of the list at a path. */
export function objects(object: JsonObject, ...path: readonly string[]): readonly JsonObject[] {
  const value = at(object, ...path);
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** The texts of the list at a path. */
export function strings(object: JsonObject, ...path: readonly string[]): readonly string[] {
  const value = at(object, ...path);
  return Array.isArray(value) ? value.map(textOf) : [];
}

/** The text at a path, as JSON has it; the fallback where there is none. */
export function field(path: string, fallback: Cell = ""): ReadCell {
  const keys = path.split(".");
  return (object) => {
    const value = at(object, ...keys);
    return value === undefined || value === null || value === "" ? fallback : value as Cell;
  };
}

/** Like {@linkcode field}, as text. */
export function asText(path: string, fallback = ""): ReadCell {
  const cell = field(path, fallback);
  return (object, now) => textOf(cell(object, now));
}

/** The number of members of some fields. */
export function size(object: JsonObject, ...fields: readonly string[]): number {
  return fields.reduce((sum, field) => sum + Object.keys(objectOr(object[field])).length, 0);
}

/** The time since that at a path. */
export function since(path: string, fallback: string): ReadCell {
  const keys = path.split(".");
  return (object, now) => {
    const time = at(object, ...keys);
    return time === undefined || time === null ? fallback : age(time, now);
  };
}

/** The names of a list, at most `max`; then how many more. */
export function some(names: readonly string[], fallback: string, max = 3, all = names.length): string {
  if (names.length > max) return `${names.slice(0, max).join(",")} + ${all - max} more...`;
  return names.join(",") || fallback;
}

/** Labels, sorted. */
export function labels(value: unknown): string {
  const pairs = Object.entries(objectOr(value)).map(([key, value]) => `${key}=${value}`);
  return pairs.sort().join(",") || NONE;
}

/** A label selector, as Kubernetes prints it. */
export function selector(value: unknown): string {
  const { matchLabels, matchExpressions } = objectOr(value);
  const equal = Object.entries(objectOr(matchLabels)).map(([key, value]) => [key, `${key}=${value}`]);
  const expressions = (Array.isArray(matchExpressions) ? matchExpressions : []).map(objectOr).map((expression) => {
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
export function condition(object: JsonObject, type: string): JsonObject | undefined {
  return objects(object, "status", "conditions").find((it) => it.type === type);
}

/** Returns true if a condition is true. */
export function isTrue(object: JsonObject, type: string): boolean {
  return condition(object, type)?.status === "True";
}

/** Returns true if an object is being deleted. */
export function isDeleted(object: JsonObject): boolean {
  return at(object, "metadata", "deletionTimestamp") !== undefined;
}

/** Names or images of the containers in a template. */
export function containers(member: "name" | "image"): ReadCell {
  return (object) => {
    const template = at(object, "spec", "jobTemplate", "spec", "template") ?? at(object, "spec", "template") ??
      object.template;
    return objects(objectOr(template), "spec", "containers").map((it) => textOf(it[member])).join(",");
  };
}

/** The cells of a pod (kubernetes `pkg/printers/internalversion`, `printPod`). */
export function printPod(object: JsonObject, now: number): { ready: string; reason: string; restarts: string } {
  const phase = text(object, "status", "phase");
  const sidecars = new Set(
    objects(object, "spec", "initContainers").filter((it) => it.restartPolicy === "Always").map(({ name }) => name),
  );
  let reason = text(object, "status", "reason") || phase;
  if (condition(object, "PodScheduled")?.reason === "SchedulingGated") reason = "SchedulingGated";
  const inits = objects(object, "status", "initContainerStatuses");
  const stopped = inits.findIndex((status) =>
    at(status, "state", "terminated", "exitCode") !== 0 && !(sidecars.has(status.name ?? null) && status.started)
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
export function readinessGates(object: JsonObject): string {
  const gates = objects(object, "spec", "readinessGates");
  if (gates.length === 0) return NONE;
  return `${gates.filter(({ conditionType }) => isTrue(object, textOf(conditionType))).length}/${gates.length}`;
}
