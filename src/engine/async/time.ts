/**
 * Clock, timers, back-off, and texts of times.
 *
 * {@linkcode backoffMs}, {@linkcode sleep} and {@linkcode LongTimer} are the entry points. All waits use the monotonic
 * clock. Even the smallest entry points load this file, so rates and the fast clock have their own. It does not decide
 * what to retry.
 *
 * @module
 */
import { DerivedController, Latch, withResolvers } from "./signals.ts";

/** How long to wait between attempts. */
export interface BackoffOptions {
  /** The first wait before jitter, in milliseconds. @default {800} */
  readonly initialMs?: number;
  /** The longest wait including jitter, in milliseconds. @default {30_000} */
  readonly maxMs?: number;
  /** How many times longer each wait is than the last. @default {2} */
  readonly factor?: number;
  /** The largest random extension, as a share of the wait. With 1, a wait can double. @default {1} */
  readonly jitter?: number;
}

/**
 * Returns how long to wait after a failure, in milliseconds. `failures` is the number of failures before it, from 0.
 *
 * Waits grow by `factor` up to `maxMs`. The random share stays at `maxMs` too, so that clients do not all retry at the
 * same moment.
 *
 * The defaults are client-go's (`tools/cache/reflector.go`), whose longest wait is 60 s with jitter.
 */
export function backoffMs(failures: number, options: BackoffOptions): number {
  const { initialMs = 800, maxMs = 30_000, factor = 2, jitter = 1 } = options;
  const baseMs = Math.min(initialMs * Math.min(factor ** failures, Number.MAX_VALUE), maxMs / (1 + jitter));
  return baseMs * (1 + Math.random() * jitter);
}

/** The number of attempts with the first wait while a server does not respond. Most outages are over by then. */
const PROMPT_ATTEMPTS = 8;

const UNREACHABLE_INITIAL_MS = 500;

const UNREACHABLE_MAX_MS = 5_000;

/**
 * Returns a wait like {@linkcode backoffMs}, but for a server that does not respond. An attempt costs such a server
 * nothing, and a longer wait means a stale cache.
 *
 * The first eight waits are therefore 0.5 to 1 s unless `initialMs` is given, and no wait is longer than 5 s.
 */
export function unreachableBackoffMs(failures: number, options: BackoffOptions): number {
  const { initialMs = UNREACHABLE_INITIAL_MS, maxMs = Infinity } = options;
  const waits = { ...options, initialMs, maxMs: Math.min(maxMs, UNREACHABLE_MAX_MS) };
  return backoffMs(Math.max(0, failures - PROMPT_ATTEMPTS + 1), waits);
}

/**
 * Returns the monotonic clock's time in milliseconds, which every wait uses. Only differences are meaningful.
 *
 * It never runs backwards, and changes to the system time do not move it, so a wait has the intended length.
 */
export function monotonicMs(): number {
  return performance.now();
}

/** The longest delay that `setTimeout` takes, in milliseconds. A longer delay would fire at once. */
const MAX_TIMER_MS: number = 2 ** 31 - 1;

/**
 * A timer that accepts a delay of any length. It fires once each time you arm it. Dispose it to disarm it.
 *
 * It uses the monotonic clock, and arms at most one runtime timer.
 *
 * ```ts ignore
 * using timer = new LongTimer(() => controller.abort(new Error("no answer")));
 * timer.arm(timeoutMs);
 * ```
 */
export class LongTimer implements Disposable {
  readonly #fire: () => void;
  /** The runtime's timer. `undefined` if and only if this timer is not armed. */
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Creates an unarmed timer that calls `fire` when it is due. */
  constructor(fire: () => void) {
    this.#fire = (): void => {
      this.#timer = undefined;
      fire();
    };
  }

  /** `true` if the timer will fire. */
  get isArmed(): boolean {
    return this.#timer !== undefined;
  }

  /**
   * Fires after `ms` milliseconds, and forgets any earlier set time. `Infinity` means never. A negative `ms` counts as
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

  /** Disarms the timer. You can arm it again. */
  [Symbol.dispose](): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

/**
 * Returns a controller that aborts with the first aborted parent, or after `ms` milliseconds with a `TimeoutError` that
 * has `message`.
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

/** Waits for `work`, at most `ms` milliseconds. Returns `true` if it has ended by then. `Infinity` means no limit. */
export async function endsWithin(ms: number, work: Promise<unknown>): Promise<boolean> {
  const late = withResolvers<false>();
  using timer = new LongTimer(() => late.resolve(false));
  timer.arm(ms);
  return await Promise.race([work.then(() => true), late.promise]);
}

/**
 * Waits `ms` milliseconds on the monotonic clock. `Infinity` means forever. Rejects with the signal's reason as soon as
 * it aborts.
 */
export async function sleep(ms: number, options: { readonly signal?: AbortSignal } = {}): Promise<void> {
  const over = new Latch();
  using timer = new LongTimer(() => over.open());
  timer.arm(Math.min(ms, Number.MAX_VALUE)); // a timer for Infinity too, which keeps the process alive
  await over.wait(options);
}

/**
 * Calls a function once, at a time that you can still change until then. Dispose it to prevent the call.
 *
 * It uses the monotonic clock. Moving the time later needs no new timer: the timer reads the clock when it fires.
 */
export class TimeLimit implements Disposable {
  readonly #timer: LongTimer;
  /** The time at which the limit expires. `Infinity` means never. */
  #dueMs: number;
  /** The time at which the timer fires, never later than `#dueMs`. `Infinity` if and only if it is not armed. */
  #firesAtMs = Infinity;
  /** The time since which the limit is paused. `undefined` if and only if it is not paused. */
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

  /** The remaining time in milliseconds, negative when it is over. */
  get leftMs(): number {
    return this.#dueMs - monotonicMs();
  }

  /** Changes the limit: it expires `ms` milliseconds from now. */
  set(ms: number): void {
    this.#dueMs = monotonicMs() + ms;
    if (this.#dueMs < this.#firesAtMs) this.#arm();
  }

  /** Stops the limit from expiring until {@linkcode resume}. */
  pause(): void {
    this.#pausedAtMs ??= monotonicMs();
    this[Symbol.dispose]();
  }

  /**
   * Ends a pause. The paused time counts, but at least `lastMs` remain, or the time that remained before the pause if
   * it was less.
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

/** In seconds, as literals, so that bundles without {@linkcode humanDuration} leave them out. */
const MINUTE = 60;

const HOUR = 3_600;

const DAY = 86_400;

const YEAR = 31_536_000;

/** The latest text from {@linkcode rfc3339}, because most times are in the same second. */
let latest = { second: NaN, text: "" };

/** Formats a time like `metav1.Time`: RFC 3339 without fractions of seconds. */
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
