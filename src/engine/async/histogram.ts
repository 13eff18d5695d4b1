/**
 * Histograms for durations, used in metrics.
 *
 * {@linkcode Histogram} counts durations in buckets with fixed bounds, and {@linkcode sumOfDurations} adds histograms
 * up. This file does not read a clock.
 *
 * @module
 */

/** A summary of measured durations. */
export interface Durations {
  /** The number of durations. */
  readonly count: number;
  /** The sum, in milliseconds. */
  readonly sumMs: number;
  /** The longest duration, in milliseconds. */
  readonly maxMs: number;
  /**
   * The number of durations up to each of 15 lengths, in order from 1 ms to 5 minutes. Each count includes the shorter
   * durations.
   */
  readonly buckets: readonly { readonly upToMs: number; readonly count: number }[];
}

/** The upper bounds for the buckets in a {@linkcode Histogram}, in milliseconds. The last bucket has the rest. */
const BUCKETS_MS: readonly number[] = [
  ...[1, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000],
  Infinity,
];

/** Counts durations in fixed buckets, and keeps their sum and maximum. Adding a duration allocates nothing. */
export class Histogram {
  /** The number of durations in each bucket, without the buckets before it. */
  readonly #counts: number[] = BUCKETS_MS.map(() => 0);
  /** The sum of all added durations. */
  #sumMs = 0;
  /** The longest added duration, or 0 if there is none. */
  #maxMs = 0;

  /** Adds a duration. */
  add(ms: number): void {
    let bucket = 0;
    while (ms > BUCKETS_MS[bucket]) bucket++;
    this.#counts[bucket]++;
    this.#sumMs += ms;
    if (ms > this.#maxMs) this.#maxMs = ms;
  }

  /** A summary of the durations added so far. */
  get durations(): Durations {
    let count = 0;
    const buckets = BUCKETS_MS.map((upToMs, bucket) => ({ upToMs, count: count += this.#counts[bucket] }));
    return { count, sumMs: this.#sumMs, maxMs: this.#maxMs, buckets: buckets.slice(0, -1) };
  }
}

/** Adds up several summaries. There must be at least one. */
export function sumOfDurations(all: readonly Durations[]): Durations {
  return all.reduce((a, b) => ({
    count: a.count + b.count,
    sumMs: a.sumMs + b.sumMs,
    maxMs: Math.max(a.maxMs, b.maxMs),
    buckets: a.buckets.map(({ upToMs, count }, bucket) => ({ upToMs, count: count + b.buckets[bucket].count })),
  }));
}
