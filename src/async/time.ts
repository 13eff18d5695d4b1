/**
 * The clock, timers, back-off, and limits of rates.
 *
 * {@linkcode backoffMs}, {@linkcode sleep}, {@linkcode LongTimer} and {@linkcode LeakyBucket} are the entry points. All
 * of them use the monotonic clock. This file does not decide what is retried.
 *
 * @module
 */
import { delay } from "@std/async/delay";
import { DerivedController, withResolvers } from "./signals.ts";

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

/**
 * Returns the wait, in milliseconds, after a failure that follows `failures` (from 0) others. Waits grow by `factor` up
 * to `maxMs`. The random share is kept at `maxMs` too, so that clients do not retry all at once.
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
 * nothing, and a longer wait means a stale cache: the first eight waits are 0.5 to 1 s unless `initialMs` is given, and
 * no wait is longer than 5 s.
 */
export function unreachableBackoffMs(failures: number, options: BackoffOptions): number {
  const { initialMs = UNREACHABLE_INITIAL_MS, maxMs = Infinity } = options;
  const waits = { ...options, initialMs, maxMs: Math.min(maxMs, UNREACHABLE_MAX_MS) };
  return backoffMs(Math.max(0, failures - PROMPT_ATTEMPTS + 1), waits);
}

/**
 * Returns the time of the monotonic clock, in milliseconds; every wait uses it. Only differences are meaningful. It
 * never runs backwards, and changes of the time of day do not move it, so that a wait has the intended length.
 */
export function monotonicMs(): number {
  return performance.now();
}

/** A step of the time of day up to this is accepted without reading the monotonic clock. */
const UNCHECKED_MS = 20;

/** The number of equal readings in a row after which the clock looks whether they are a burst. */
const SUSPECTED = 16;

/** The number of equal readings in a row, the last 16 of them without an `await` between them, that make a burst. */
const BURST = 32;

/** Of this many readings in a burst, one reads the time. */
const READ_EVERY = 8;

/**
 * A clock that never runs backwards, for measurements on hot paths. Only differences of readings of one instance are
 * meaningful. A change of the time of day moves it by at most 20 ms.
 *
 * It reads the time of day, which costs half of the monotonic clock, and reads the monotonic clock too when the time of
 * day has moved backwards or by more than 20 ms. Waits use {@linkcode monotonicMs}.
 *
 * In a burst, which is 16 equal readings or more without an `await` between them, it reads the time once in 8 readings:
 * the others may be as old as the one before. The burst ends with the next `await`, and when the time has moved.
 */
export class CoarseClock {
  /** The time of day of the last reading. */
  #dayMs: number = Date.now();
  /** The last reading; it never decreases. A whole number: V8 allocates one for each field that holds another. */
  #nowMs: number = Math.floor(monotonicMs());
  /** The number of readings since the time last moved, or since the burst last ended. */
  #equal = 0;

  /** Returns the time, in milliseconds. */
  now(): number {
    if (this.#equal >= BURST && ++this.#equal % READ_EVERY !== 0) return this.#nowMs;
    return this.#read();
  }

  #read(): number {
    const dayMs = Date.now();
    const stepMs = dayMs - this.#dayMs;
    if (stepMs === 0) {
      // Only at the 16th, so that most readings that are apart queue no microtask.
      if (++this.#equal === SUSPECTED) queueMicrotask(this.#endBurst);
      return this.#nowMs;
    }
    this.#dayMs = dayMs;
    this.#equal = 0;
    if (stepMs > 0 && stepMs <= UNCHECKED_MS) this.#nowMs += stepMs;
    else this.#nowMs = Math.max(this.#nowMs, Math.floor(monotonicMs()));
    return this.#nowMs;
  }

  readonly #endBurst = (): void => {
    this.#equal = 0;
  };
}

/**
 * Limits a rate: `burst` pass at once, and one more every `intervalMs`.
 *
 * In any period of `t` milliseconds at most `burst + t / intervalMs` pass.
 */
export class LeakyBucket {
  readonly #burst: number;
  readonly #intervalMs: number;
  /** The level of the bucket at `#atMs`, at least 0; above `#burst` if there are bookings that have not passed yet. */
  #level = 0;
  /** The time of the last call. */
  #atMs: number = monotonicMs();

  /** Begins with an empty bucket. Time is that of the monotonic clock. */
  constructor(burst: number, intervalMs: number) {
    this.#burst = burst;
    this.#intervalMs = intervalMs;
  }

  /** Lets one pass and returns 0; or lets none pass, and returns the wait before another try, in milliseconds. */
  take(): number {
    const over = this.#next() - this.#burst;
    // Without the tolerance, a rounding error would cause a wait.
    if (over > 1e-6) return Math.ceil(over * this.#intervalMs);
    this.#level++;
    return 0;
  }

  /** Lets one pass after all that passed before, and returns its wait, in milliseconds. */
  book(): number {
    this.#level = this.#next();
    return Math.max(0, this.#level - this.#burst) * this.#intervalMs;
  }

  /** The level with one more. */
  #next(): number {
    const nowMs = monotonicMs();
    this.#level = Math.max(0, this.#level - (nowMs - this.#atMs) / this.#intervalMs);
    this.#atMs = nowMs;
    return this.#level + 1;
  }
}

/** The longest delay that `setTimeout` takes, in milliseconds; a longer one would fire at once. */
const MAX_TIMER_MS: number = 2 ** 31 - 1;

/**
 * A timer that fires once for each time it is armed, after a delay of any length. Disposing it disarms it.
 *
 * It runs on the monotonic clock, and keeps at most one timer of the runtime armed.
 *
 * ```ts ignore
 * using timer = new LongTimer(() => controller.abort(new Error("no answer")));
 * timer.arm(timeoutMs);
 * ```
 */
export class LongTimer implements Disposable {
  readonly #fire: () => void;
  /** The timer of the runtime; `undefined` if and only if this timer is not armed. */
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Calls `fire` when the timer is due. It is not armed yet. */
  constructor(fire: () => void) {
    this.#fire = (): void => {
      this.#timer = undefined;
      fire();
    };
  }

  /** True if the timer will fire. */
  get isArmed(): boolean {
    return this.#timer !== undefined;
  }

  /**
   * Fires after `ms` milliseconds, and no longer at an earlier set time. `Infinity` is never; a negative `ms` counts as
   * 0.
   */
  arm(ms: number): void {
    this[Symbol.dispose]();
    if (ms <= MAX_TIMER_MS) {
      this.#timer = setTimeout(this.#fire, Math.max(0, Math.ceil(ms)));
    } else if (ms !== Infinity) {
      const dueMs = monotonicMs() + ms;
      this.#timer = setTimeout(() => this.arm(dueMs - monotonicMs()), MAX_TIMER_MS);
    }
  }

  /** Disarms the timer; it can be armed again. */
  [Symbol.dispose](): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

/**
 * Returns a controller that aborts with the first of `parents`, or after `ms` milliseconds with a `TimeoutError` of
 * `message`.
 */
export function timedController(
  ms: number,
  message: string,
  ...parents: (AbortSignal | undefined)[]
): DerivedController {
  const controller = new DerivedController(...parents);
  const timer = new LongTimer(() => controller.abort(new DOMException(message, "TimeoutError")));
  if (!controller.signal.aborted) timer.arm(ms);
  controller.signal.addEventListener("abort", () => timer[Symbol.dispose](), { once: true });
  return controller;
}

/** Awaits `work`, for `ms` milliseconds at most; `Infinity` is no limit. Returns `true` if it has ended by then. */
export async function endsWithin(ms: number, work: Promise<unknown>): Promise<boolean> {
  const late = withResolvers<false>();
  using timer = new LongTimer(() => late.resolve(false));
  timer.arm(ms);
  return await Promise.race([work.then(() => true), late.promise]);
}

/**
 * Counts the events of the last `windowMs` milliseconds. It keeps one number for each, so the events should be rare.
 */
export class RecentCount {
  readonly #windowMs: number;
  /** The monotonic times of the events, the oldest first. Times before the window are removed by the next call. */
  readonly #times: number[] = [];

  /** Counts over the last `windowMs` milliseconds. */
  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /** Counts an event that happens now. */
  add(): void {
    this.#forget();
    this.#times.push(monotonicMs());
  }

  /** The number of events in the window. */
  get count(): number {
    this.#forget();
    return this.#times.length;
  }

  #forget(): void {
    const sinceMs = monotonicMs() - this.#windowMs;
    const kept = this.#times.findIndex((time) => time > sinceMs);
    this.#times.splice(0, kept === -1 ? this.#times.length : kept);
  }
}

/**
 * Resolves after `ms` milliseconds of the monotonic clock; `Infinity` is never. Rejects with the reason of the signal
 * as soon as it aborts.
 */
export async function sleep(ms: number, options: { readonly signal?: AbortSignal } = {}): Promise<void> {
  const dueMs = monotonicMs() + ms;
  let leftMs = ms;
  // `delay` supports longer times too, but measures them by the time of day.
  for (; leftMs > MAX_TIMER_MS; leftMs = dueMs - monotonicMs()) await delay(MAX_TIMER_MS, options);
  await delay(leftMs, options);
}

/**
 * Calls a function once, at a time that can be changed until then. Disposing it prevents the call.
 *
 * It uses the monotonic clock. A later time needs no new timer: the timer reads the clock when it fires.
 */
export class TimeLimit implements Disposable {
  readonly #timer: LongTimer;
  /** The time at which the limit expires; `Infinity` is never. */
  #dueMs: number;
  /** The time at which the timer fires, never later than `#dueMs`; `Infinity` if and only if it is not armed. */
  #firesAtMs = Infinity;
  /** The time since which the limit is paused; `undefined` if and only if it is not. */
  #pausedAtMs: number | undefined;

  /** Calls `expire` after `ms` milliseconds. */
  constructor(expire: () => void, ms: number) {
    this.#timer = new LongTimer(() => {
      this.#firesAtMs = Infinity;
      if (this.leftMs <= 0) expire();
      else this.#arm();
    });
    this.#dueMs = monotonicMs() + ms;
    this.#arm();
  }

  /** The time that is left, in milliseconds; negative when it is over. */
  get leftMs(): number {
    return this.#dueMs - monotonicMs();
  }

  /** Changes the limit: it expires `ms` milliseconds from now. */
  set(ms: number): void {
    this.#dueMs = monotonicMs() + ms;
    if (this.#dueMs < this.#firesAtMs) this.#arm();
  }

  /** Does not expire until {@linkcode resume}. */
  pause(): void {
    this.#pausedAtMs ??= monotonicMs();
    this[Symbol.dispose]();
  }

  /**
   * Ends a pause. The time of the pause counts, but `lastMs` are left after it, or what was left before it if that is
   * less.
   */
  resume(lastMs: number): void {
    if (this.#pausedAtMs === undefined) return;
    const nowMs = monotonicMs();
    const pausedMs = nowMs - this.#pausedAtMs;
    this.#pausedAtMs = undefined;
    this.#dueMs = Math.max(this.#dueMs, Math.min(this.#dueMs + pausedMs, nowMs + lastMs));
    this.#arm();
  }

  /** Ends the limit. */
  [Symbol.dispose](): void {
    this.#timer[Symbol.dispose]();
    this.#firesAtMs = Infinity;
  }

  #arm(): void {
    this.#firesAtMs = this.#dueMs;
    this.#timer.arm(this.leftMs);
  }
}

/** In seconds, as literals: bundles without {@linkcode humanDuration} leave them out. */
const MINUTE = 60;
const HOUR = 3_600;
const DAY = 86_400;
const YEAR = 31_536_000;

/** The latest text of {@linkcode rfc3339}: most times are of the same second. */
let latest = { second: NaN, text: "" };

/** Formats a time of day as `metav1.Time` has it: RFC 3339 without fractions of seconds. */
export function rfc3339(ms: number): string {
  const second = Math.floor(ms / 1_000);
  if (second !== latest.second) latest = { second, text: `${new Date(second * 1_000).toISOString().slice(0, 19)}Z` };
  return latest.text;
}

/** Formats a duration like the server's tables: the longer, the less exact (apimachinery `HumanDuration`). */
export function humanDuration(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 2 * MINUTE) return `${seconds}s`;
  if (seconds < 10 * MINUTE) return twoUnits(seconds, MINUTE, "m", 1, "s");
  if (seconds < 3 * HOUR) return `${Math.floor(seconds / MINUTE)}m`;
  if (seconds < 8 * HOUR) return twoUnits(seconds, HOUR, "h", MINUTE, "m");
  if (seconds < 2 * DAY) return `${Math.floor(seconds / HOUR)}h`;
  if (seconds < 8 * DAY) return twoUnits(seconds, DAY, "d", HOUR, "h");
  if (seconds < 2 * YEAR) return `${Math.floor(seconds / DAY)}d`;
  if (seconds < 8 * YEAR) return twoUnits(seconds, YEAR, "y", DAY, "d");
  return `${Math.floor(seconds / YEAR)}y`;
}

function twoUnits(seconds: number, large: number, largeName: string, small: number, smallName: string): string {
  const rest = Math.floor((seconds % large) / small);
  return `${Math.floor(seconds / large)}${largeName}${rest === 0 ? "" : `${rest}${smallName}`}`;
}
