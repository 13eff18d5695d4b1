import type { Abortable } from "../../api/options.ts";
import { monotonicMs } from "../../async/time/monotonic_ms.ts";
import { sleep } from "../../async/time/sleep.ts";

/** The time of one elector. Tests of several electors in one process give each a clock of its own. */
export interface ElectionClock {
  /** Returns the time in milliseconds. It never runs backwards; only differences are meaningful. */
  now(): number;
  /** Resolves after `ms` milliseconds; rejects with the reason of the signal as soon as that aborts. */
  sleep(ms: number, options?: Abortable): Promise<void>;
}

/** The monotonic clock of the runtime. */
export const monotonicElectionClock: ElectionClock = { now: monotonicMs, sleep };
