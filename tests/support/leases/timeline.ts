import type { Abortable } from "../../../src/engine/api/call_options.ts";
import type { ElectionClock } from "../../../src/operator/controllers/reconcile/lease_lock.ts";

interface Moment {
  readonly atMs: number;
  readonly run: () => void | Promise<void>;
}

/** The time of a history: moments happen in their order, each after everything that the one before caused. */
export class Timeline {
  /** The time that all processes share, in milliseconds; each process has a clock of its own. */
  nowMs = 0;
  #moments: Moment[] = [];
  readonly #beforeEach: () => void;
  readonly #afterEach: () => void;

  /** Calls `beforeEach` before and `afterEach` after each moment. */
  constructor(beforeEach: () => void, afterEach: () => void) {
    this.#beforeEach = beforeEach;
    this.#afterEach = afterEach;
  }

  /** The number of moments that are still to come. */
  get pending(): number {
    return this.#moments.length;
  }

  /** Plans a moment; returns a function that cancels it. */
  after(ms: number, run: () => void | Promise<void>): () => void {
    const moment = { atMs: this.nowMs + Math.max(0, ms), run };
    // Behind those of the same time; near the end, where most new ones belong.
    let at = this.#moments.length;
    while (at > 0 && this.#moments[at - 1].atMs > moment.atMs) at--;
    this.#moments.splice(at, 0, moment);
    return () => {
      const index = this.#moments.indexOf(moment);
      if (index >= 0) this.#moments.splice(index, 1);
    };
  }

  /** Lets `ms` milliseconds pass. */
  async pass(ms: number): Promise<void> {
    const untilMs = this.nowMs + ms;
    await turn();
    while (this.#moments.length > 0 && this.#moments[0].atMs <= untilMs) {
      const { atMs, run } = this.#moments.shift()!;
      this.nowMs = atMs;
      this.#beforeEach();
      await run();
      await turn();
      this.#afterEach();
    }
    this.nowMs = untilMs;
  }
}

/** A process with a clock of its own, that may be paused and killed: nothing of it runs then. */
export class SimulatedProcess {
  readonly #timeline: Timeline;
  readonly #rate: number;
  readonly #offsetMs: number;
  #isPaused = false;
  #isDead = false;
  /** The callbacks that were due during a pause, in order. */
  #held: (() => void)[] = [];

  /** Its clock passes `rate` milliseconds for each of the timeline. */
  constructor(timeline: Timeline, rate: number, offsetMs: number) {
    this.#timeline = timeline;
    this.#rate = rate;
    this.#offsetMs = offsetMs;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  /** Its clock, which continues while it is paused. */
  readonly clock: ElectionClock = {
    now: () => this.#offsetMs + this.#timeline.nowMs * this.#rate,
    sleep: (ms, { signal }: Abortable = {}) => {
      if (signal?.aborted) return Promise.reject(signal.reason);
      return new Promise<void>((resolve, reject) => {
        const wake = (): void => {
          signal?.removeEventListener("abort", stop);
          resolve();
        };
        const cancel = this.#timeline.after(ms / this.#rate, () => this.run(wake));
        const stop = (): void => {
          cancel();
          reject(signal!.reason);
        };
        signal?.addEventListener("abort", stop, { once: true });
      });
    },
  };

  /** Runs something in this process: now, when it resumes, or never. */
  run(callback: () => void): void {
    if (this.#isDead) return;
    if (this.#isPaused) this.#held.push(callback);
    else callback();
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    for (const callback of this.#held.splice(0)) this.run(callback);
  }

  kill(): void {
    this.#isDead = true;
    this.#held = [];
  }
}

/** Lets all promises run. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
