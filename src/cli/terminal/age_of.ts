/** Formats the time since `time` as kubectl does: `"42s"`, `"5m"`, `"3h"`, `"12d"`. */
export function ageOf(time: string | undefined, now: number = Date.now()): string {
  const ms = time === undefined ? NaN : now - Date.parse(time);
  if (Number.isNaN(ms)) return "<unknown>";
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3_600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}
