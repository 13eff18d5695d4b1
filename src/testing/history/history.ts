/**
 * Random histories: sequences of writes and faults, as plain data.
 *
 * {@linkcode history} generates one from a seed. This folder only describes steps; `perform` applies a step to a server.
 *
 * @module
 */
import { Random } from "../objects/random.ts";
import type { HistoryStep } from "./history_step.ts";
import type { ProtocolMoment } from "./protocol_moment.ts";
import type { WriteStep } from "./write_step.ts";

/** Options for {@linkcode history}. */
export interface HistoryOptions {
  /** Number of steps. @default {40} */
  readonly steps?: number;
  /**
   * `"none"`: writes only. `"harmless"`: also faults that a client survives without a relist. `"all"`: all faults.
   * @default {"all"}
   */
  readonly faults?: "none" | "harmless" | "all";
  /** Namespaces of the objects. @default {["a", "b"]} */
  readonly namespaces?: readonly string[];
  /** Number of object names per namespace. @default {5} */
  readonly names?: number;
}

const HARMLESS = [
  "drop",
  "end",
  "truncate",
  "truncateNext",
  "cutInCharacter",
  "duplicate",
  "reorder",
  "bookmark",
  "stall",
  "stallNext",
  "drip",
  "spread",
  "latency",
  "throttle",
  "restart",
  "jump",
  "streamingList",
  "bookmarks",
  "clockSkew",
] as const;
const HARMFUL = [
  "compact",
  "compactAt",
  "shortenHistory",
  "gone",
  "failWatches",
  "refuse",
  "break",
  "restartWithoutHistory",
  "lose",
  "corrupt",
  "html",
  "empty",
  "gzip",
] as const;
const MOMENTS: readonly ProtocolMoment[] = ["list", "page", "watch", "listed", "stream"];

/**
 * Generates a random history: writes to a few names, mixed with faults. The same seed gives the same history. A
 * history that loses an event ends with a forced relist, since nothing else repairs the cache.
 *
 * @example
 * ```ts
 * import { FakeApiServer, history, perform } from "@kube/informer/testing";
 * import { ConfigMap } from "@kube/informer/kinds/core/v1";
 *
 * const server = new FakeApiServer();
 * for (const step of history(7, { faults: "none" })) perform(server, ConfigMap, step);
 * ```
 */
export function history(seed: number, options: HistoryOptions = {}): HistoryStep[] {
  const { steps = 40, faults = "all", namespaces = ["a", "b"], names = 5 } = options;
  const random = new Random(seed);
  const found: HistoryStep[] = [];
  while (found.length < steps) {
    const fault = faults !== "none" && random.next() < 0.3;
    found.push(fault ? faultStep(random, faults) : writesStep(random, namespaces, names));
  }
  const lost = found.findLastIndex((step) => step.do === "lose");
  if (lost >= 0) {
    const place = lost + 1 + random.below(found.length - lost);
    // A fault armed after the last relist could still lose an event, so the relist follows all of them.
    found.splice(place, 0, { do: "forceRelist" });
  }
  return found;
}

/** A write now, or several at a moment of the protocol. */
function writesStep(random: Random, namespaces: readonly string[], names: number): HistoryStep {
  const write = (): WriteStep => writeStep(random, namespaces, names);
  if (random.next() >= 0.12) return write();
  return { do: "writeAt", moment: random.pick(MOMENTS), writes: Array.from({ length: 1 + random.below(3) }, write) };
}

function writeStep(random: Random, namespaces: readonly string[], names: number): WriteStep {
  const where = { namespace: random.pick(namespaces), name: `n${random.below(names)}` };
  if (random.next() < 0.2) return { do: "delete", ...where };
  return {
    do: "write",
    ...where,
    tier: random.pick(["web", "db"]),
    value: random.below(1_000),
    again: random.next() < 0.1,
  };
}

function faultStep(random: Random, faults: "harmless" | "all"): HistoryStep {
  const kind = faults === "all" && random.next() < 0.5 ? random.pick(HARMFUL) : random.pick(HARMLESS);
  switch (kind) {
    case "stall":
      return { do: "stall", ms: random.pick([5_000, 60_000, 400_000]) };
    case "latency":
      return { do: "latency", ms: random.pick([0, 0, 20, 900]) };
    case "throttle":
      return {
        do: "refuse",
        code: random.pick([429, 503]),
        times: 1 + random.below(3),
        verb: "watch",
        ...(random.next() < 0.5 ? { retryAfterSeconds: 1 + random.below(5) } : {}),
      };
    case "refuse":
      return {
        do: "refuse",
        code: random.pick([400, 401, 403, 404, 410, 422, 429, 500, 504]),
        times: 1 + random.below(3),
        verb: random.pick(["list", "watch"]),
      };
    case "break":
      return { do: "break", times: 1 + random.below(3) };
    case "stallNext":
    case "drip": {
      const verb = random.pick(["list", "watch"] as const);
      return { do: kind, times: 1 + random.below(2), verb, ms: random.pick([5_000, 60_000, 400_000]) };
    }
    case "html":
    case "empty":
    case "gzip":
      return { do: kind, times: 1 + random.below(2), verb: random.pick(["list", "watch"]) };
    case "compactAt":
      return { do: kind, moment: random.pick(MOMENTS) };
    case "spread":
      return { do: kind, times: 1 + random.below(2), everyMs: random.pick([1, 30, 700]) };
    case "shortenHistory":
      return { do: kind, writes: random.pick([1, 2, 5]) };
    case "restart":
      return { do: kind, history: "kept" };
    case "restartWithoutHistory":
      return { do: "restart", history: "lost" };
    case "jump":
      return { do: kind, by: random.pick([1, 90, 12_345]) };
    case "streamingList":
    case "bookmarks":
      return { do: kind, on: random.next() < 0.5 };
    case "clockSkew":
      return { do: kind, ms: random.pick([-3_600_000, 0, 250, 86_400_000]) };
    case "failWatches":
      return { do: "failWatches", code: random.pick([429, 500, 504]) };
    case "gone":
      return { do: "failWatches", code: 410 };
    default:
      return { do: kind };
  }
}
