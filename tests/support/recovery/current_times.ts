import { abortable } from "@std/async";

/** A cache is current while the newest marker it holds is at most this old. */
export const CURRENT_MS = 1_000;

/** The times during which a cache was current. All times are in milliseconds since 1970. */
export class CurrentTimes {
  /** Disjoint, in order. */
  readonly #spans: { readonly from: number; until: number }[] = [];
  /** Resolves when the next marker arrives. */
  #arrival = Promise.withResolvers<void>();
  #newest = -Infinity;
  #seenAt = -Infinity;

  /** Notes that the cache holds the marker written at `writtenAt` since `seenAt`. */
  note(writtenAt: number, seenAt: number): void {
    this.#arrival.resolve();
    this.#arrival = Promise.withResolvers();
    this.#seenAt = seenAt;
    if (writtenAt <= this.#newest) return;
    this.#newest = writtenAt;
    const until = writtenAt + CURRENT_MS;
    const last = this.#spans.at(-1);
    if (last !== undefined && seenAt <= last.until) last.until = until;
    else if (seenAt < until) this.#spans.push({ from: seenAt, until });
  }

  /** The share of the time between two instants in which the cache was current, 0 to 1. */
  share(from: number, to: number): number {
    const current = this.#spans.map((span) => Math.max(0, Math.min(to, span.until) - Math.max(from, span.from)));
    return current.reduce((sum, ms) => sum + ms, 0) / (to - from);
  }

  /** The longest time without a gap, between two instants, in which the cache was not current, in milliseconds. */
  longestStaleMs(from: number, to: number): number {
    const starts = [from, ...this.#spans.map((span) => span.until)];
    const ends = [...this.#spans.map((span) => span.from), to];
    return Math.max(0, ...starts.map((start, i) => Math.min(to, ends[i]) - Math.max(from, start)));
  }

  /**
   * The first instant, not before `after`, from which on the cache is current for `steadyMs` without a gap. Waits for
   * it; rejects with the signal's reason.
   */
  async steadyFrom(after: number, steadyMs: number, signal: AbortSignal): Promise<number> {
    for (;;) {
      for (const span of this.#spans) {
        const from = Math.max(span.from, after);
        if (Math.min(span.until, this.#seenAt) - from >= steadyMs) return from;
      }
      await abortable(this.#arrival.promise, signal);
    }
  }
}
