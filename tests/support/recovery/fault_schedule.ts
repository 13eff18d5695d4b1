import { delay } from "@std/async";
import { Random } from "../../../src/testing/fake/random.ts";
import type { FaultProxy } from "./fault_proxy.ts";

/** A fault on the way to the server. See {@linkcode FaultProxy} for what each does. */
export type FaultVerb = "cut" | "cutAll" | "hold" | "slow" | "refuse" | "turnAway";

/** One fault of a schedule. */
export interface Fault {
  readonly verb: FaultVerb;
  /** Milliseconds from the start of the schedule to the fault. */
  readonly atMs: number;
  /** The duration, in milliseconds; 0 for `cut` and `cutAll`. */
  readonly forMs: number;
}

/** Limits of a schedule. */
export interface FaultScheduleOptions {
  /** Milliseconds from the start to the end of the last fault. */
  readonly totalMs: number;
  /** The longest fault and the longest pause between two, in milliseconds. @default {6_000} */
  readonly longestMs?: number;
}

const OUTAGES: readonly FaultVerb[] = ["refuse", "turnAway"];
const LASTING: readonly FaultVerb[] = ["hold", "hold", "slow", "slow", ...OUTAGES];
const VERBS: readonly FaultVerb[] = ["cut", "cut", "cut", "cut", "cutAll", "cutAll", ...LASTING];

/** A short pause: the next fault arrives while the client still recovers from the one before. */
const SHORT_MS = 600;

/**
 * Random faults, one after the other. The last one is an outage, so every client has to connect again after it. The
 * same seed and limits give the same faults.
 */
export function faultSchedule(seed: number, options: FaultScheduleOptions): readonly Fault[] {
  const { totalMs, longestMs = 6_000 } = options;
  const random = new Random(seed);
  const upTo = (ms: number): number => 100 + random.below(ms - 100);
  const lastMs = upTo(longestMs);
  const last: Fault = { verb: random.pick(OUTAGES), atMs: totalMs - lastMs, forMs: lastMs };
  const faults: Fault[] = [];
  for (let atMs = upTo(longestMs);;) {
    const verb = random.pick(VERBS);
    const forMs = LASTING.includes(verb) ? upTo(longestMs) : 0;
    if (atMs + forMs > last.atMs) return [...faults, last];
    faults.push({ verb, atMs, forMs });
    atMs += forMs + upTo(random.below(2) === 0 ? SHORT_MS : longestMs);
  }
}

/**
 * Short schedules with many disconnects, by their seeds. An informer whose waits grow with every disconnect recovers
 * from them late: the last fault ends within a long wait.
 */
export const DISCONNECTS: ReadonlyMap<number, readonly Fault[]> = new Map(
  [20, 55].map((seed) => [seed, faultSchedule(seed, { totalMs: 18_000, longestMs: 1_500 })]),
);

/** When a schedule was played, in milliseconds since 1970. */
export interface PlayedFaults {
  readonly startedAt: number;
  /** When the last fault ended. */
  readonly endedAt: number;
}

/** Plays a schedule on several proxies at the same time. They are healed afterwards, and on an abort too. */
export async function playFaults(
  schedule: readonly Fault[],
  proxies: readonly FaultProxy[],
  signal: AbortSignal,
): Promise<PlayedFaults> {
  const startedAt = Date.now();
  const until = (ms: number): Promise<void> => delay(Math.max(0, startedAt + ms - Date.now()), { signal });
  try {
    for (const { verb, atMs, forMs } of schedule) {
      await until(atMs);
      await Promise.all(proxies.map((proxy) => proxy[verb]()));
      if (forMs === 0) continue;
      await until(atMs + forMs);
      for (const proxy of proxies) proxy.heal();
    }
    return { startedAt, endedAt: Date.now() };
  } finally {
    for (const proxy of proxies) proxy.heal();
  }
}
