import { LongTimer } from "./long_timer.ts";
import { monotonicMs } from "./monotonic_ms.ts";

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

  /** Ends a pause. The time of the pause counts, but `lastMs` are left after it, or what was left before it if that is less. */
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
