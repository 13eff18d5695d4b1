import type { Entry } from "../../api/entry.ts";
import type { KubernetesObject } from "../../api/object.ts";
import type { Quarantine } from "../cache/quarantine.ts";
import { BacklogLimit } from "./backlog_limit.ts";
import { Cursor, type CursorSelection, type CursorStart } from "./cursor.ts";
import { Added, type LoggedEvent, type SyncedEvent, Updated } from "./event.ts";
import type { EventLog, LogPosition } from "./event_log.ts";

/** Entries that events are made from, one by one; dropped with the last one, because they may be all of a cache. */
interface Replay<T extends KubernetesObject> {
  readonly entries: readonly Entry<T>[];
  next: number;
}

/** A replay of the cache as updates. */
interface Resync<T extends KubernetesObject> extends Replay<T> {
  /** The position in the log at which it is read. */
  readonly at: LogPosition<T>;
}

/** The limit of a backlog. */
interface Bound {
  /** The number of events that may wait. */
  readonly max: number;
  /** Called when more wait, see {@linkcode BacklogLimit}. */
  readonly onOverrun: (error: Error) => void;
}

/** Reads every event of the log. */
export class LogCursor<T extends KubernetesObject> extends Cursor<T> {
  readonly #log: EventLog<T>;
  readonly #quarantine: Quarantine<T>;
  readonly #limit: BacklogLimit<T> | undefined;
  /** Behind the last event that was read; unset if and only if the cursor is closed. */
  #position: LogPosition<T> | undefined;
  /** Set while initial entries, of the start or of the log, are left to read; they come before everything else. */
  #snapshot: Replay<T> | undefined;
  /** Set until it is read, if the informer had synced when the cursor was opened. */
  #synced: SyncedEvent | undefined;
  /** Set while entries of a resync are left to read. */
  #resync: Resync<T> | undefined;

  constructor(start: CursorStart<T>, selection: CursorSelection<T>, bound?: Bound) {
    super(start, selection);
    this.#log = start.log;
    this.#quarantine = start.quarantine;
    this.#position = start.log.end;
    this.#snapshot = { entries: start.entries, next: 0 };
    this.#synced = start.synced;
    this.#limit = bound && new BacklogLimit(bound.max, start.log, start.pacer, bound.onOverrun);
  }

  get pending(): number {
    if (this.#position === undefined) return 0;
    const replays = remaining(this.#snapshot) + remaining(this.#resync);
    return replays + (this.#synced === undefined ? 0 : 1) + this.#log.end.count - this.#position.count;
  }

  protected take(): LoggedEvent<T> | undefined {
    if (this.#snapshot !== undefined) {
      const { entries } = this.#snapshot;
      const entry = entries[this.#snapshot.next++];
      if (this.#snapshot.next >= entries.length) this.#snapshot = undefined;
      // mutant: initial-as-new
      if (entry !== undefined) return new Added(entry, this.#quarantine, true);
    }
    if (this.#synced !== undefined) {
      const synced = this.#synced;
      this.#synced = undefined;
      return synced;
    }
    if (this.#resync !== undefined && this.#resync.at === this.#position) {
      const { entries } = this.#resync;
      const entry = entries[this.#resync.next++];
      if (this.#resync.next >= entries.length) this.#resync = undefined;
      if (entry !== undefined) return new Updated(entry, this.#quarantine, entry, true);
    }
    const position = this.#position?.next;
    if (position === undefined) return undefined;
    if (position.initial !== undefined) {
      this.#position = position.next;
      this.#snapshot = { entries: position.initial, next: 0 };
      return this.take();
    }
    this.#position = position;
    const event = position.event!;
    this.#limit?.taken(event);
    return event;
  }

  protected add(entries: readonly Entry<T>[]): void {
    if (this.#resync !== undefined || this.#snapshot !== undefined) return;
    this.#resync = { entries, next: 0, at: this.#log.end };
  }

  protected clear(): void {
    this.#limit?.end();
    this.#position = undefined;
    this.#snapshot = undefined;
    this.#synced = undefined;
    this.#resync = undefined;
  }
}

function remaining<T extends KubernetesObject>(replay: Replay<T> | undefined): number {
  return replay === undefined ? 0 : replay.entries.length - replay.next;
}
