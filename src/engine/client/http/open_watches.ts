/**
 * Finds watches whose connections are dead, although no byte shows this, and replaces them.
 *
 * {@linkcode OpenWatches} is the entry point. It has a client's open watches, and checks them every 5 s.
 * {@linkcode WatchHealth} is one watch. This file sends no request itself: `watch_source.ts` opens the watch that
 * replaces another one, and `Transport.probe` checks whether the server can be reached.
 *
 * @module
 */
import type { WatchChange } from "../../api/lister_watcher.ts";
import { WatchRenewal } from "../../api/watch_timeout.ts";
import { UnreachableError } from "../../api/status.ts";
import { LongTimer, monotonicMs, timedController } from "../../async/time.ts";

/** The time between two checks of the clocks and watches, in milliseconds. */
const LOOK_MS = 5_000;

/** If the time of day gains more than this on the monotonic clock, the computer was suspended, in milliseconds. */
const GAIN_MS = 20_000;

/** Several watches are renewed within this time, in milliseconds. */
const SPREAD_MS = 2_000;

/** The shortest time between two suspensions, and between two suspicions, in milliseconds. */
const PERIOD_MS = 60_000;

/** The server is probed if it has sent nothing for this time, in milliseconds. */
const QUIET_MS = 20_000;

/** The shortest time between two probes, in milliseconds. It limits them to three requests a minute. */
const PROBE_PERIOD_MS = 30_000;

/** A probe without a response fails after this time, in milliseconds. */
const PROBE_MS = 7_000;

/** After so many failed probes in a row that watches have refuted, probes pause. */
const MAX_REFUTED = 3;

/** How long probes pause, in milliseconds. */
const REFUTED_MS = 600_000;

/** The time between two bookmarks of kube-apiserver (`defaultBookmarkFrequency`), in milliseconds. */
const BOOKMARK_MS = 60_000;

/** A watch becomes suspect after this many bookmark intervals. */
const MISSED = 1.25;

/**
 * If another watch has received something this much later, perhaps only the suspect watch's connection is dead, in
 * milliseconds.
 */
const ALIVE_MS = 20_000;

/** How long a silent watch is excused after a suspicion in vain, in milliseconds. */
const EXCUSED_MS = 600_000;

/** If an event comes so soon after a silent watch was replaced, its connection was dead. */
const PROOF_MS = 2_000;

/** Remembers suspicions about one collection's watches, longer than each watch lives. */
export class WatchMemory {
  /** The number of watches that missed a bookmark and were checked. */
  suspicions = 0;
  /** The number of watches that were replaced, or ended, because the connection might be dead. */
  renewals = 0;
  /** The monotonic time of the last suspicion. `-Infinity` if there was none, or something has come since. */
  suspectedAtMs = -Infinity;
}

/** Replaces a watch's connection. */
export interface WatchConnection {
  /** `true` while the watch's reader waits for the server. */
  readonly isReading: boolean;
  /**
   * Opens another watch at the version that this watch has reached. When the server accepts it, it replaces this watch,
   * unless something has come meanwhile. Rejects if that fails.
   */
  replace(): Promise<void>;
  /** Resolves with the server's version, with a list of one object. */
  newestVersion(signal: AbortSignal): Promise<string | undefined>;
}

/** Options for {@linkcode WatchHealth}. */
interface WatchHealthOptions {
  /** The version at which the watch begins; `""` if it begins with the objects that exist. */
  readonly resourceVersion: string;
  /** `true` for a streaming list, until its first bookmark: a new request would list from scratch. */
  readonly isListing: boolean;
  /** `true` if bookmarks were asked for. */
  readonly hasBookmarks: boolean;
  /** `true` if it replaces a silent watch. */
  readonly isSuccessor?: boolean;
}

/** A client's watch: the clocks when it was opened, and its events since then. */
export class WatchHealth {
  /** The collection's memory. */
  readonly memory: WatchMemory;
  /** The monotonic time of the last sign of life, from the last check. */
  heardAtMs = 0;
  /** The shortest time between two bookmarks, in milliseconds. */
  bookmarkMs = Infinity;
  /** `true` if an event came immediately after this watch replaced a silent watch. */
  isProof = false;
  readonly #action: string;
  readonly #connection: WatchConnection;
  readonly #hasBookmarks: boolean;
  /** The monotonic time until which an event is a proof. */
  readonly #proofUntilMs: number;
  #isListing: boolean;
  /** The version up to which everything has come; `""` while that is not known. */
  #version: string;
  /** The last change, whose version is read when it is needed. */
  #last: WatchChange<unknown> | undefined;
  /** The lowest lead of the time of day over the monotonic clock since the watch is open. */
  #leadMs = Infinity;
  #chunks = 0;
  /** The number of chunks at the last look. */
  #seen = 0;
  #bookmarkAtMs = -Infinity;

  /** `action` follows "Cannot" in messages. The watch is not open yet. */
  constructor(action: string, memory: WatchMemory, connection: WatchConnection, options: WatchHealthOptions) {
    const { resourceVersion, isListing, hasBookmarks, isSuccessor } = options;
    this.#hasBookmarks = hasBookmarks;
    this.#action = action;
    this.memory = memory;
    this.#connection = connection;
    this.#version = resourceVersion === "0" ? "" : resourceVersion;
    this.#isListing = isListing;
    this.#proofUntilMs = isSuccessor ? monotonicMs() + PROOF_MS : -Infinity;
  }

  /** The number of chunks so far. */
  get chunks(): number {
    return this.#chunks;
  }

  /** The version up to which everything has come, or `""` if it is not known. */
  get version(): string {
    const { version, last } = { version: this.#version, last: this.#last };
    if (version === "" || last === undefined) return version;
    return last.type === "BOOKMARK" ? last.resourceVersion : last.entry.resourceVersion;
  }

  /** Records one chunk, in constant time. A bookmark counts if it is the chunk's last change. */
  heard(batch: readonly WatchChange<unknown>[]): void {
    this.#chunks++;
    this.memory.suspectedAtMs = -Infinity;
    if (batch.length === 0) return;
    if (this.#isListing) this.#endList(batch);
    const last = this.#last = batch[batch.length - 1];
    if (last.type !== "BOOKMARK") {
      if (this.#chunks === 1 && this.#proofUntilMs > 0) this.isProof = monotonicMs() < this.#proofUntilMs;
      return;
    }
    this.#version = last.resourceVersion; // from here on, what comes is in order
    if (last.initialEventsEnd) return; // it came with the list, and not with time
    const nowMs = monotonicMs();
    this.bookmarkMs = Math.min(this.bookmarkMs, nowMs - this.#bookmarkAtMs);
    this.#bookmarkAtMs = nowMs;
  }

  /**
   * Records the clocks. Returns how much the time of day has gained since the watch was opened, in milliseconds. Also
   * returns whether something has come since the last check, which was at `lookedAtMs`.
   */
  look(leadMs: number, lookedAtMs: number): { readonly gainMs: number; readonly isHeard: boolean } {
    const isHeard = this.#chunks !== this.#seen;
    this.#seen = this.#chunks;
    // Data that waits for a slow reader has not been seen: nothing is known about the connection.
    if (isHeard || this.#leadMs === Infinity || !this.#connection.isReading) this.heardAtMs = lookedAtMs;
    this.#leadMs = Math.min(this.#leadMs, leadMs);
    return { gainMs: this.#isListing ? 0 : leadMs - this.#leadMs, isHeard };
  }

  /**
   * Returns `true` if nothing came for so long that the server, with this bookmark interval, must have sent a bookmark.
   */
  isSilent(nowMs: number, bookmarkMs: number): boolean {
    return nowMs - this.heardAtMs > MISSED * bookmarkMs;
  }

  /** Returns `true` if the watch missed a bookmark, and no suspicion in vain excuses it. */
  isSuspect(nowMs: number, bookmarkMs: number): boolean {
    if (this.#isListing || !this.#hasBookmarks || !this.isSilent(nowMs, bookmarkMs)) return false;
    return nowMs - this.memory.suspectedAtMs >= EXCUSED_MS;
  }

  /** Resolves with `true` if the server has another version than this watch. Rejects if there is no response. */
  async isStale(signal: AbortSignal): Promise<boolean> {
    try {
      return await this.#connection.newestVersion(signal) !== this.version;
    } catch (error) {
      if (signal.aborted || error instanceof UnreachableError) throw error;
      return true; // not known, as the user may not list; to replace a watch does no harm
    }
  }

  /** Replaces the watch. Rejects if no other watch can replace it. */
  async replace(): Promise<void> {
    if (this.#isListing || this.version === "") throw new Error("A new watch would begin with a list");
    await this.#connection.replace();
  }

  /** Returns the error that ends the watch. */
  renewal(reason: string, cause: unknown): WatchRenewal {
    return new WatchRenewal(`Cannot continue to ${this.#action}: ${reason}, so the connection may be dead`, { cause });
  }

  /** Ends the list at its first bookmark, wherever the chunk has it. From there, versions are in order. */
  #endList(batch: readonly WatchChange<unknown>[]): void {
    const end = batch.find((change) => change.type === "BOOKMARK");
    if (end === undefined) return;
    this.#isListing = false;
    this.#version = end.resourceVersion;
  }
}

/** A renewal that was decided. */
interface Renewal {
  /** The monotonic time at which it begins; `Infinity` once it has begun. */
  dueMs: number;
  /** Why the connection may be dead. */
  readonly reason: string;
  /** `true` if the server gave no response to a probe. */
  readonly isProbed: boolean;
}

/**
 * A client's open watches. One timer checks them every 5 s, while there are watches. If connections may be dead, it
 * renews:
 *
 * - All watches, if the time of day has gained more than 20 s on the monotonic clock since they were opened: the
 *   computer was suspended. This happens at most once a minute. If somebody sets the clock back, nothing is renewed.
 * - All watches, if the server has sent nothing for about 20 s, and then does not respond to a probe within 7 s.
 * - A watch that has missed a bookmark, if another watch received something 20 s later, or the server has another
 *   version. It checks one such suspicion per minute. After a suspicion in vain, the watch is excused for 10 minutes
 *   unless something comes. If events come as soon as the watch is replaced, all watches that have missed a bookmark
 *   are renewed.
 *
 * To renew a watch, it opens another one at the same version, which replaces the watch when the server accepts it. So a
 * wrong suspicion delays no event. If that fails, the watch ends, and its reader resumes. Several renewals are spread
 * over 2 s. A streaming list in progress is never renewed, but a failed probe ends it.
 */
export class OpenWatches implements Disposable {
  /** How many requests checked whether the server responds: probes, and lists after a missed bookmark. */
  probes = 0;
  /** How many of these requests got no response. */
  failedProbes = 0;
  readonly #probe: ((signal: AbortSignal) => Promise<void>) | undefined;
  /** Maps each accepted watch that has not ended to the function that ends it. */
  readonly #watches = new Map<WatchHealth, (reason: Error) => void>();
  /** Has a watch if and only if it is being renewed, or will be. */
  readonly #renewals = new Map<WatchHealth, Renewal>();
  /** Armed if and only if there are watches. */
  readonly #timer = new LongTimer(() => this.#fire());
  /** Ends the requests of this class with the last watch; `undefined` without watches. */
  #life: AbortController | undefined;
  /** The monotonic time of the last look. */
  #lookedAtMs = 0;
  /** The monotonic time of the last suspension that was found. */
  #gainedAtMs = -Infinity;
  /** `true` if a response has come since the last look. */
  #isAnswered = false;
  /** The monotonic time at which something came from the server, or was asked. */
  #heardAtMs = 0;
  /** The monotonic time before which there is no probe. */
  #probeAtMs = 0;
  /** The number of failed probes in a row after which watches were opened. */
  #refuted = 0;
  /** `true` if a watch was opened after the last failed probe. */
  #isRefuted = false;
  /** `true` while the server is asked. */
  #isAsking = false;
  /** The time between two bookmarks of the server, in milliseconds, as far as it is known. */
  #bookmarkMs = Infinity;
  /** The monotonic time of the last suspicion that was looked at. */
  #suspectedAtMs = -Infinity;

  /** `probe` resolves if the server has sent any response over a new connection. */
  constructor(probe?: (signal: AbortSignal) => Promise<void>) {
    this.#probe = probe;
  }

  /** Adds a watch that the server has accepted. `end` ends it. */
  add(watch: WatchHealth, end: (reason: Error) => void): void {
    const nowMs = monotonicMs();
    watch.look(Date.now() - nowMs, nowMs);
    this.#watches.set(watch, end);
    if (this.#timer.isArmed) return;
    this.#life = new AbortController();
    this.#lookedAtMs = this.#heardAtMs = nowMs;
    this.#timer.arm(LOOK_MS);
  }

  /** Removes a watch that has ended. */
  delete(watch: WatchHealth): void {
    if (!this.#watches.delete(watch)) return;
    this.#bookmarkMs = Math.min(this.#bookmarkMs, watch.bookmarkMs);
    this.#renewals.delete(watch);
    if (this.#watches.size > 0) return;
    this.#timer[Symbol.dispose]();
    this.#life?.abort();
  }

  /** Records that the server has responded. */
  answered(): void {
    this.#isAnswered = true;
  }

  /** Removes all watches, and ends none. */
  [Symbol.dispose](): void {
    for (const watch of [...this.#watches.keys()]) this.delete(watch);
  }

  #fire(): void {
    const nowMs = monotonicMs();
    if (this.#lookedAtMs + LOOK_MS <= nowMs) this.#look(nowMs); // as in `#arm`, also when rounded
    for (const [watch, renewal] of this.#renewals) if (renewal.dueMs <= nowMs) void this.#renew(watch, renewal);
    this.#arm(nowMs);
  }

  #arm(nowMs: number): void {
    if (this.#watches.size === 0) return;
    const dueMs = Array.from(this.#renewals.values(), (renewal) => renewal.dueMs);
    this.#timer.arm(Math.min(this.#lookedAtMs + LOOK_MS, ...dueMs) - nowMs);
  }

  #look(nowMs: number): void {
    const leadMs = Date.now() - nowMs;
    // What has come did so after the last look, or after the process was stopped.
    const lookedAtMs = Math.max(this.#lookedAtMs, nowMs - LOOK_MS);
    this.#lookedAtMs = nowMs;
    const mayGain = nowMs - this.#gainedAtMs >= PERIOD_MS;
    let isProven = false;
    for (const watch of this.#watches.keys()) {
      const { gainMs, isHeard } = watch.look(leadMs, lookedAtMs);
      this.#isAnswered ||= isHeard;
      isProven ||= watch.isProof;
      watch.isProof = false;
      this.#bookmarkMs = Math.min(this.#bookmarkMs, watch.bookmarkMs);
      if (gainMs <= GAIN_MS || !mayGain) continue;
      this.#gainedAtMs = nowMs;
      this.#plan(watch, `the time of day has gained ${seconds(gainMs)}, as after a suspension`);
    }
    if (this.#isAnswered) this.#heardAtMs = Math.max(this.#heardAtMs, lookedAtMs);
    this.#isAnswered = false;
    void this.#checkBookmarks(nowMs, isProven);
    void this.#checkPath(nowMs);
  }

  /** Probes the server if it has sent nothing for some time. */
  async #checkPath(nowMs: number): Promise<void> {
    if (this.#probe === undefined || this.#isAsking || nowMs < this.#probeAtMs) return;
    if (nowMs - this.#heardAtMs < QUIET_MS) return;
    if (await this.#ask(this.#probe)) {
      this.#refuted = 0;
      return;
    }
    this.#refuted = this.#isRefuted ? this.#refuted + 1 : 0;
    this.#isRefuted = false;
    if (this.#refuted >= MAX_REFUTED) this.#probeAtMs = nowMs + REFUTED_MS;
  }

  /** Checks a watch that has missed a bookmark. */
  async #checkBookmarks(nowMs: number, isProven: boolean): Promise<void> {
    const bookmarkMs = this.#bookmarkMs === Infinity ? BOOKMARK_MS : Math.max(BOOKMARK_MS, this.#bookmarkMs);
    const watches = [...this.#watches.keys()];
    const suspects = watches.filter((watch) => watch.isSuspect(nowMs, bookmarkMs));
    if (suspects.length === 0 || this.#isAsking || (!isProven && nowMs - this.#suspectedAtMs < PERIOD_MS)) return;
    // The watch that was heard last, or most in one check, belongs to the collection that changes most.
    suspects.sort((a, b) => b.heardAtMs - a.heardAtMs || b.chunks - a.chunks);
    const healthy = watches.filter((watch) => watch.chunks > 0 && !watch.isSilent(nowMs, bookmarkMs));
    const isAlive = healthy.some((watch) => watch.heardAtMs > suspects[0].heardAtMs + ALIVE_MS);
    // A watch that was heard at about the same time may be dead, too: it is heard again soon, or suspect.
    if (!isProven && healthy.length > 0 && !isAlive) return;
    this.#suspectedAtMs = nowMs;
    for (const suspect of isProven ? suspects : suspects.slice(0, 1)) {
      suspect.memory.suspicions++;
      suspect.memory.suspectedAtMs = nowMs;
      const silentMs = nowMs - suspect.heardAtMs;
      let isDue = isProven || isAlive;
      if (!isDue) await this.#ask(async (signal) => void (isDue = await suspect.isStale(signal)));
      if (isDue) this.#plan(suspect, `nothing has come for ${seconds(silentMs)}, so a bookmark is missing`, 0);
    }
  }

  /** Sends a request to the server. Without a response, it renews all watches and resolves with `false`. */
  async #ask(send: (signal: AbortSignal) => Promise<void>): Promise<boolean> {
    const { signal } = this.#life!;
    using limit = timedController(PROBE_MS, "no response", signal);
    const askedAtMs = monotonicMs();
    this.#isAsking = true;
    this.probes++;
    try {
      await send(limit.signal);
      this.#heardAtMs = Math.max(this.#heardAtMs, askedAtMs);
      this.#probeAtMs = Math.max(this.#probeAtMs, askedAtMs + PROBE_PERIOD_MS);
      return true;
    } catch {
      if (signal.aborted) return false;
      this.failedProbes++;
      const reason = `the server has sent nothing for ${seconds(monotonicMs() - this.#heardAtMs)}, and no response`;
      this.#heardAtMs = monotonicMs();
      for (const watch of this.#watches.keys()) this.#plan(watch, reason, Math.random() * SPREAD_MS, true);
      return false;
    } finally {
      this.#isAsking = false;
    }
  }

  #plan(watch: WatchHealth, reason: string, delayMs = Math.random() * SPREAD_MS, isProbed = false): void {
    if (!this.#watches.has(watch) || this.#renewals.has(watch)) return;
    const nowMs = monotonicMs();
    this.#renewals.set(watch, { dueMs: nowMs + delayMs, reason, isProbed });
    this.#arm(nowMs);
  }

  async #renew(watch: WatchHealth, renewal: Renewal): Promise<void> {
    renewal.dueMs = Infinity;
    watch.memory.renewals++;
    try {
      await watch.replace();
      this.#renewals.delete(watch);
      this.#isRefuted ||= renewal.isProbed;
    } catch (cause) {
      const end = this.#watches.get(watch); // unset if it has ended
      this.delete(watch);
      end?.(watch.renewal(renewal.reason, cause));
    }
  }
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1_000)} s`;
}
