import { checkDurations } from "./duration.ts";

/** Waits between attempts. */
export interface BackoffOptions {
  /** The first wait before jitter, in milliseconds. @default {800} */
  readonly initialMs?: number;
  /** The longest wait, jitter included, in milliseconds. @default {30_000} */
  readonly maxMs?: number;
  /** The ratio of a wait to the one before. @default {2} */
  readonly factor?: number;
  /** Each wait is prolonged by a random share of itself, up to this. @default {1} */
  readonly jitter?: number;
}

/** Checks the options. @throws {RangeError} when an option is negative, not a number, or the factor is below 1. */
export function checkBackoff(options: BackoffOptions): void {
  const { initialMs, maxMs, factor = 2, jitter = 1 } = options;
  checkDurations("back off", { initialMs, maxMs }, { finite: true });
  if (!(factor >= 1)) throw new RangeError(`Cannot back off: factor must be at least 1, found ${factor}`);
  if (!(jitter >= 0)) throw new RangeError(`Cannot back off: jitter must be at least 0, found ${jitter}`);
}

/**
 * Returns the wait, in milliseconds, after a failure that follows `failures` (from 0) others. Waits grow by `factor` up to
 * `maxMs`. The random share is kept at `maxMs` too, so that clients do not retry all at once.
 *
 * The defaults are client-go's (`tools/cache/reflector.go`), whose longest wait is 60 s with jitter.
 */
export function backoffMs(failures: number, options: BackoffOptions): number {
  const { initialMs = 800, maxMs = 30_000, factor = 2, jitter = 1 } = options;
  const baseMs = Math.min(initialMs * Math.min(factor ** failures, Number.MAX_VALUE), maxMs / (1 + jitter));
  return baseMs * (1 + Math.random() * jitter);
}

/** The number of attempts at the first wait while a server does not answer: most outages are over by then. */
const PROMPT_ATTEMPTS = 8;

const UNREACHABLE_INITIAL_MS = 500;
const UNREACHABLE_MAX_MS = 5_000;

/**
 * Returns the wait as {@linkcode backoffMs} does, but for a server that does not answer. An attempt costs such a server
 * nothing, and a longer wait means a stale cache: the first eight waits are 0.5 to 1 s unless `initialMs` is given, and no
 * wait is longer than 5 s.
 */
export function unreachableBackoffMs(failures: number, options: BackoffOptions): number {
  const { initialMs = UNREACHABLE_INITIAL_MS, maxMs = Infinity } = options;
  const waits = { ...options, initialMs, maxMs: Math.min(maxMs, UNREACHABLE_MAX_MS) };
  return backoffMs(Math.max(0, failures - PROMPT_ATTEMPTS + 1), waits);
}
