import { Pod } from "../../kinds/core/v1.ts";
import { churn, type FakeApiServer } from "../../testing/mod.ts";

/** Options for {@linkcode SteadyChurn}. */
export interface SteadyChurnOptions {
  /** Changes per second. */
  readonly perSecond: number;
  /** Only updates, or creations and deletions, too. @default {"update"} */
  readonly mix?: "update" | "all";
  /** Duration, in milliseconds. @default {unlimited} */
  readonly forMs?: number;
  /** Seed: the same seed gives the same changes. @default {1} */
  readonly seed?: number;
}

const TICK_MS = 10;

/** Changes pods of a fake server at a steady rate. */
export class SteadyChurn {
  readonly #step: () => void;
  readonly #options: SteadyChurnOptions;
  /** Set while the changes run. */
  #timer: ReturnType<typeof setInterval> | undefined;
  /** Time of {@linkcode SteadyChurn.start}, by the monotonic clock. */
  #startedAt = 0;
  /** Changes made so far; at most those due by the rate. */
  #done = 0;

  constructor(server: FakeApiServer, options: SteadyChurnOptions) {
    this.#options = options;
    this.#step = churn(server, { resource: Pod, mix: options.mix ?? "update", seed: options.seed ?? 1 });
  }

  /** Number of changes so far. */
  get done(): number {
    return this.#done;
  }

  /** Starts the changes. The average rate is exact, even if timers are late. */
  start(): void {
    if (this.#options.perSecond <= 0) return;
    this.#startedAt = performance.now();
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
  }

  /** Stops the changes. */
  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #tick(): void {
    const { perSecond, forMs = Infinity } = this.#options;
    const elapsed = performance.now() - this.#startedAt;
    const due = Math.floor((Math.min(elapsed, forMs) * perSecond) / 1_000);
    while (this.#done < due) {
      this.#step();
      this.#done++;
    }
    if (elapsed >= forMs) this.stop();
  }
}
