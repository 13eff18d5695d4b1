import type { Term } from "../../../kubeconfig/text/term_of_token.ts";
import type { StepStatus } from "./checkup.ts";

/** The status of a validity period, and words that follow the name of its subject in a sentence. */
export interface Expiry {
  /** `fail` if expired, `warn` if soon to expire. */
  readonly status: StepStatus;
  /** `"until 2036-11-18 (3650 days)"`, `"expired 3 days ago, on 2026-11-18"`. */
  readonly words: string;
}

/** Remaining time, in milliseconds, that causes a warning; short-lived credentials have a shorter one. */
const SOON_MS = 7 * 86_400_000;

/** Tolerated difference between clocks, in milliseconds. */
const CLOCKS_MS = 60_000;

/**
 * Returns the status at `nowMs`. `renews` means that the subject is renewed automatically, so that there is no warning.
 */
export function expiryOf(term: Term, nowMs: number, renews: boolean): Expiry {
  const { fromMs = -Infinity, untilMs } = term;
  const left = untilMs - nowMs;
  if (left <= 0) return { status: "fail", words: `expired ${span(-left)} ago, on ${day(untilMs)}` };
  if (nowMs < fromMs - CLOCKS_MS) {
    return { status: "fail", words: `is valid only from ${day(fromMs)} on, in ${span(fromMs - nowMs)}` };
  }
  const words = `until ${day(untilMs)} (${span(left)})`;
  const soonMs = Math.min(SOON_MS, (untilMs - fromMs) / 3);
  return { status: !renews && left < soonMs ? "warn" : "ok", words };
}

/** Formats a duration in one unit: `"3650 days"`, `"5 h"`, `"42 s"`. */
export function span(ms: number): string {
  const hours = ms / 3_600_000;
  if (hours >= 48) return `${Math.floor(hours / 24)} days`;
  if (hours >= 2) return `${Math.floor(hours)} h`;
  if (ms >= 120_000) return `${Math.floor(ms / 60_000)} min`;
  return `${Math.floor(ms / 1_000)} s`;
}

/** Formats a date; within two days also the time. */
function day(ms: number): string {
  const near = Math.abs(ms - Date.now()) < 2 * 86_400_000;
  const text = new Date(ms).toISOString();
  return near ? `${text.slice(0, 10)} ${text.slice(11, 16)} UTC` : text.slice(0, 10);
}
