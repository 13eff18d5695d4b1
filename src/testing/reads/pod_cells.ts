import { at, isObject, type JsonObject, objectOr, textOf } from "../wire/json.ts";
import { age, condition, isDeleted, isTrue, NONE, number, objects, text } from "./cell_values.ts";

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
