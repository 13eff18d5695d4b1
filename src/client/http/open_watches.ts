import type { Change } from "../../api/lister_watcher.ts";
import { WatchRenewal } from "../../api/options.ts";
import { LongTimer, monotonicMs } from "../../async/time.ts";

/** The time between two looks at the clocks and the watches, in milliseconds. */
const LOOK_MS = 5_000;

/** A time of day that has gained more than this on the monotonic clock shows a suspension, in milliseconds. */
const GAIN_MS = 20_000;

/** The renewals after a suspension are spread over this time, in milliseconds. */
const SPREAD_MS = 2_000;

/** The shortest time between the renewals after two suspensions, in milliseconds. */
const GAIN_PERIOD_MS = 60_000;

/** The number of bookmarks after which a watch has a rhythm. */
const RHYTHM_BOOKMARKS = 3;

/** The number of bookmarks that a silent watch has missed. */
const MISSED_BOOKMARKS = 2;

/**
 * The shortest time between two renewals of the silent watches of one collection, unless an event comes, in
 * milliseconds.
 */
const SILENCE_PERIOD_MS = 600_000;

/** The silence of the watches of one collection, beyond the life of each. */
export class Silence {
  /**
   * The monotonic time at which a silent watch was last renewed; `-Infinity` if none was, or an event has come since.
   */
  renewedAtMs = -Infinity;
}

/** A watch of a client: how its clocks stood when it was opened, and what has come since. */
export class WatchHealth {
  readonly #action: string;
  readonly #silence: Silence;
  /** `true` until the first bookmark of a streaming list: a new request would list anew. */
  #isListing: boolean;
  /** The lowest lead of the time of day over the monotonic clock since the watch is open. */
  #leadMs = Infinity;
  /** The monotonic time of the last sign of life, as the last look knows it. */
  #heardAtMs = 0;
  /** `true` if bytes have come since the last look. */
  #isHeard = false;
  #bookmarks = 0;
  #bookmarkAtMs = 0;
  /** The longest time between two bookmarks. */
  #rhythmMs = 0;

  /** `action` follows "Cannot" in messages. The watch is not open yet. */
  constructor(action: string, silence: Silence, options: { readonly isListing: boolean }) {
    this.#action = action;
    this.#silence = silence;
    this.#isListing = options.isListing;
  }

  /** Notes what came in one chunk, in constant time: a bookmark counts if it is the last change of its chunk. */
  heard(batch: readonly Change<unknown>[]): void {
    this.#isHeard = true;
    if (batch.length === 0) return;
    const last = batch[batch.length - 1];
    if (last.type !== "BOOKMARK" || batch.length > 1) this.#silence.renewedAtMs = -Infinity;
    if (last.type !== "BOOKMARK") return;
    this.#isListing = false;
    if (last.initialEventsEnd) return; // it came with the list, and not with time
    const nowMs = monotonicMs();
    if (this.#bookmarks++ > 0) this.#rhythmMs = Math.max(this.#rhythmMs, nowMs - this.#bookmarkAtMs);
    this.#bookmarkAtMs = nowMs;
  }

  /**
   * Notes how the clocks stand. Returns how much the time of day has gained since the watch was opened, in
   * milliseconds.
   */
  look(nowMs: number, leadMs: number): number {
    if (this.#isHeard || this.#leadMs === Infinity) this.#heardAtMs = nowMs;
    this.#isHeard = false;
    this.#leadMs = Math.min(this.#leadMs, leadMs);
    return this.#isListing ? 0 : leadMs - this.#leadMs;
  }

  /** Returns why the watch is to be renewed because it is silent, after {@linkcode look}; `undefined` if it is not. */
  silenceAt(nowMs: number): WatchRenewal | undefined {
    const silentMs = nowMs - this.#heardAtMs;
    if (this.#bookmarks < RHYTHM_BOOKMARKS || silentMs <= MISSED_BOOKMARKS * this.#rhythmMs + LOOK_MS) return undefined;
    if (nowMs - this.#silence.renewedAtMs < SILENCE_PERIOD_MS) return undefined;
    this.#silence.renewedAtMs = nowMs;
    return this.renewal(
      `nothing has come for ${seconds(silentMs)}, and bookmarks came every ${seconds(this.#rhythmMs)}`,
    );
  }

  /** Returns the error that ends the watch. */
  renewal(reason: string): WatchRenewal {
    return new WatchRenewal(`Cannot go on to ${this.#action}: ${reason}, so the connection may be dead`);
  }
}

/** The end of a watch that was decided. */
interface Renewal {
  readonly dueMs: number;
  readonly error: WatchRenewal;
}

/**
 * The open watches of a client. It ends those whose connections may be dead, which no byte would show: their readers
 * resume.
 *
 * - All of them, when the time of day has gained more than 20 s on the monotonic clock since they were opened: the
 *   computer was suspended. That happens at most once a minute, and is spread over 2 s. A time of day that was set back
 *   ends none.
 * - One that has had three bookmarks, and then missed two: for twice its rhythm nothing came. That happens to the
 *   watches of one collection at most once in 10 minutes, unless an event comes: a server may send no bookmarks while
 *   nothing is written.
 * - Never one that is a streaming list still.
 *
 * It looks every 5 s, by one timer, which is armed while there are watches.
 */
export class OpenWatches implements Disposable {
  /** Has a watch if and only if the server has accepted it and it has not ended; with the function that ends it. */
  readonly #watches = new Map<WatchHealth, (reason: Error) => void>();
  /** Has a watch if and only if it is to be renewed. */
  readonly #renewals = new Map<WatchHealth, Renewal>();
  /** Armed if and only if there are watches. */
  readonly #timer = new LongTimer(() => this.#fire());
  /** The monotonic time of the next look. */
  #lookAtMs = 0;
  /** The monotonic time of the last suspension that was found. */
  #gainedAtMs = -Infinity;

  /** Adds a watch that the server has accepted; `end` ends it. */
  add(watch: WatchHealth, end: (reason: Error) => void): void {
    const nowMs = monotonicMs();
    watch.look(nowMs, Date.now() - nowMs);
    this.#watches.set(watch, end);
    if (this.#timer.isArmed) return;
    this.#lookAtMs = nowMs + LOOK_MS;
    this.#timer.arm(LOOK_MS);
  }

  /** Removes a watch that has ended. */
  delete(watch: WatchHealth): void {
    this.#watches.delete(watch);
    this.#renewals.delete(watch);
    if (this.#watches.size === 0) this.#timer[Symbol.dispose]();
  }

  /** Removes all watches, and ends none. */
  [Symbol.dispose](): void {
    for (const watch of this.#watches.keys()) this.delete(watch);
  }

  #fire(): void {
    const nowMs = monotonicMs();
    if (nowMs >= this.#lookAtMs) this.#look(nowMs);
    let nextMs = this.#lookAtMs;
    for (const [watch, { dueMs, error }] of this.#renewals) {
      if (dueMs > nowMs) {
        nextMs = Math.min(nextMs, dueMs);
        continue;
      }
      const end = this.#watches.get(watch)!;
      this.delete(watch);
      end(error);
    }
    if (this.#watches.size > 0) this.#timer.arm(nextMs - nowMs);
  }

  #look(nowMs: number): void {
    this.#lookAtMs = nowMs + LOOK_MS;
    const leadMs = Date.now() - nowMs;
    const mayRenewAll = nowMs - this.#gainedAtMs >= GAIN_PERIOD_MS;
    for (const watch of this.#watches.keys()) {
      const gainMs = watch.look(nowMs, leadMs);
      if (this.#renewals.has(watch)) continue;
      if (gainMs > GAIN_MS && mayRenewAll) {
        this.#gainedAtMs = nowMs;
        const error = watch.renewal(`the time of day has gained ${seconds(gainMs)}, as after a suspension`);
        this.#renewals.set(watch, { dueMs: nowMs + Math.random() * SPREAD_MS, error });
        continue;
      }
      const error = watch.silenceAt(nowMs);
      if (error !== undefined) this.#renewals.set(watch, { dueMs: nowMs, error });
    }
  }
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1_000)} s`;
}
