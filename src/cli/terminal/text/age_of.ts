import { humanDuration } from "../../../testing/reads/human_duration.ts";

/** Formats the time since `time` as kubectl does: `"42s"`, `"5m10s"`, `"3h"`, `"12d"`. */
export function ageOf(time: string | undefined, now: number = Date.now()): string {
  const ms = time === undefined ? NaN : now - Date.parse(time);
  return Number.isNaN(ms) ? "<unknown>" : humanDuration(Math.max(0, ms));
}
