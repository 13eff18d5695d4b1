/** How long to wait between attempts. */
export interface BackoffOptions {
  /** The first wait, in milliseconds. @default {800} */
  readonly initialMs?: number;
  /** The longest wait before jitter, in milliseconds. @default {30_000} */
  readonly maxMs?: number;
  /** By what a wait is longer than the one before. @default {2} */
  readonly factor?: number;
  /** Each wait is longer by a random share of itself, up to this. @default {1} */
  readonly jitter?: number;
  /** After how long a time of health the waits start short again, in milliseconds. @default {120_000} */
  readonly resetMs?: number;
}

/**
 * Growing, jittered waits, that start short again after a time of health.
 *
 * The constants are client-go's (`tools/cache/reflector.go`); unlike there, the passing of time during an outage does not
 * shorten the waits: only health does.
 */
export class Backoff {
  readonly #initialMs: number;
  readonly #maxMs: number;
  readonly #factor: number;
  readonly #jitter: number;
  readonly #resetMs: number;
  #baseMs: number;
  #healthySince: number | undefined;

  /** @throws {RangeError} when an option is negative, not a number, or the factor is below 1. */
  constructor(options: BackoffOptions = {}) {
    const { initialMs = 800, maxMs = 30_000, factor = 2, jitter = 1, resetMs = 120_000 } = options;
    for (const [name, value] of Object.entries({ initialMs, maxMs, factor, jitter, resetMs })) {
      if (!(value >= (name === "factor" ? 1 : 0))) {
        throw new RangeError(`Cannot back off: ${name} must be at least ${name === "factor" ? 1 : 0}, found ${value}`);
      }
    }
    this.#initialMs = initialMs;
    this.#maxMs = maxMs;
    this.#factor = factor;
    this.#jitter = jitter;
    this.#resetMs = resetMs;
    this.#baseMs = initialMs;
  }

  /** How long to wait before the next attempt, in milliseconds. */
  next(): number {
    if (this.#healthySince !== undefined && Date.now() - this.#healthySince >= this.#resetMs) {
      // mutant: backoff-never-resets
      this.#baseMs = this.#initialMs;
    }
    this.#healthySince = undefined;
    const base = Math.min(this.#baseMs, this.#maxMs);
    this.#baseMs = Math.min(this.#baseMs * this.#factor, this.#maxMs);
    return base + Math.random() * this.#jitter * base;
  }

  /** Things work from now on; the next call of {@linkcode next} ends that. */
  healthy(): void {
    this.#healthySince ??= Date.now();
  }
}
