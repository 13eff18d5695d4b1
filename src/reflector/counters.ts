import { RecentCount } from "../async/time/recent_count.ts";

/** The end of a watch. */
export interface WatchEnd {
  /** The time of day, in milliseconds since 1970. */
  readonly at: number;
  /** The reason, in a sentence. */
  readonly reason: string;
  /** The error that ended the watch; absent where the server ended it without one. */
  readonly error?: unknown;
}

/** Counts of the work of a reflector. */
export interface ReflectorCounters {
  /** Lists begun; a streaming list counts as a watch. */
  readonly lists: number;
  /** Lists that have replaced the contents of the store, streaming lists included; a restore counts as one. */
  readonly completedLists: number;
  /** Pages requested. */
  readonly pages: number;
  /** Watches begun. */
  readonly watches: number;
  /** Changes received from watches. */
  readonly events: number;
  /** Phases that failed. */
  readonly failures: number;
  /** Objects of the current list that have arrived; `undefined` while there is no list. */
  readonly listed: number | undefined;
  /** Objects of the current list that are still to arrive, where the server sends their number. */
  readonly remaining: number | undefined;
  /** The time of the last bytes from the server, in milliseconds since 1970; 0 before the first. */
  readonly lastByteAt: number;
  /** The time of the last bookmark, in milliseconds since 1970; 0 before the first. */
  readonly lastBookmarkAt: number;
  /** The end of the last watch; `undefined` before the first. */
  readonly lastWatchEnd: WatchEnd | undefined;
  /** Lists of the last minute, without the first one. */
  readonly recentRelists: number;
  /** Watches of the last minute that resumed an earlier one. */
  readonly recentResumes: number;
}

const RECENT_MS = 60_000;

/** The counts of a reflector while it works; the fields are those of {@linkcode ReflectorCounters}. */
export class LiveCounters {
  lists = 0;
  completedLists = 0;
  pages = 0;
  watches = 0;
  events = 0;
  failures = 0;
  listed: number | undefined;
  remaining: number | undefined;
  lastByteAt = 0;
  lastBookmarkAt = 0;
  lastWatchEnd: WatchEnd | undefined;
  readonly relists: RecentCount = new RecentCount(RECENT_MS);
  readonly resumes: RecentCount = new RecentCount(RECENT_MS);

  /** Returns a copy. */
  snapshot(): ReflectorCounters {
    const { relists, resumes, ...counts } = this;
    return { ...counts, recentRelists: relists.count, recentResumes: resumes.count };
  }

  /** Starts the progress of a list at zero, or ends it. */
  setListed(listed: 0 | undefined): void {
    this.listed = listed;
    this.remaining = undefined;
  }

  /** Records the end of a watch. */
  watchEnded(reason: string, error?: unknown): void {
    this.lastWatchEnd = { at: Date.now(), reason, ...(error === undefined ? {} : { error }) };
  }
}
