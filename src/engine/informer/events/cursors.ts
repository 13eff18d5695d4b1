/**
 * The places of readers in an informer's log of events.
 *
 * {@linkcode openCursor} is the entry point: it opens the {@linkcode Cursor} that a backlog policy asks for. Nothing is
 * copied per reader, and a slow reader keeps only its own backlog alive. {@linkcode BacklogLimit} ends a reader that is
 * too slow. The log is in `event_log.ts`, and handlers are called by `listener.ts`.
 *
 * @module
 */
import type { CacheEntry } from "../../api/entry.ts";
import type { KubernetesObject, ObjectKey } from "../../api/object.ts";
import { nextTurn, type Pacer } from "../../async/turns.ts";
import type { Quarantine } from "../cache/entry_transform.ts";
import { Added, type BacklogPolicy, EventFilter, type LoggedEvent, type SyncedEvent, Updated } from "./event.ts";
import type { EventLog, LogFollower, LogPosition } from "./event_log.ts";
import type { EventReader, ReaderCallbacks } from "./event_reader.ts";

/** The beginning of a cursor, taken in one turn: the cache's contents and the log's end belong together. */
export interface CursorStart<T extends KubernetesObject> {
  /** The cached entries, which are read first, and dropped as soon as they were read: they may be all of a cache. */
  readonly entries: readonly CacheEntry<T>[];
  /**
   * The `synced` event, which is read after the entries; `undefined` before the sync, whose event the log will have.
   */
  readonly synced: SyncedEvent | undefined;
  /** The log, which is read from its present end on. */
  readonly log: EventLog<T>;
  /** The quarantine, for the events that the cursor makes. */
  readonly quarantine: Quarantine<T>;
  /** The pacer, which shares event-loop time among all cursors of the informer. */
  readonly pacer: Pacer;
}

/** A restriction of a cursor to some objects. */
interface CursorSelection<T> extends Pick<ReaderCallbacks, "onFilterError"> {
  /** Reads only the events of objects for which it holds; see {@linkcode EventFilter}. */
  readonly filter?: (object: T) => boolean;
}

/**
 * Reads an informer's events for one handler or stream, in order: the entries it starts from, then the log, with
 * resyncs in between. Subclasses decide what is left to read of a long backlog.
 *
 * A reader calls {@linkcode Cursor.poll} until that returns nothing, then awaits {@linkcode Cursor.wait}, until
 * {@linkcode Cursor.isClosed}. The cursor makes it yield to the event loop, together with all others of the pacer.
 */
export abstract class Cursor<T extends KubernetesObject> implements EventReader<T> {
  readonly #log: EventLog<T>;
  readonly #pacer: Pacer;
  readonly #filter: EventFilter<T> | undefined;
  /** `true` from `close()` on. */
  isClosed = false;
  /** `true` if and only if the last `poll()` returned nothing because the time of this turn is used up. */
  #yields = false;
  /** The pacer's turn in which `poll()` was last called, or a wait for the log has ended since. */
  #turn: number;
  /** Set if and only if a `wait()` has not resolved; ends it. */
  #endWait: (() => void) | undefined;

  constructor(start: CursorStart<T>, { filter, onFilterError }: CursorSelection<T>) {
    this.#log = start.log;
    this.#log.readers++;
    this.#pacer = start.pacer;
    this.#turn = start.pacer.turns;
    this.#filter = filter && new EventFilter(filter, start.quarantine, onFilterError);
  }

  /** The number of events that have not been read, before `filter` is applied. */
  abstract get pending(): number;

  /** The next event, if there is one and the reader need not yield. */
  poll(): LoggedEvent<T> | undefined {
    const { turns } = this.#pacer;
    // A reader that has waited took no time from others, so it need not queue after readers that did.
    let mayContinue = turns !== this.#turn;
    this.#turn = turns;
    while (!this.isClosed) {
      // Each event counts, even if the filter leaves it out.
      this.#yields = !mayContinue && this.#pacer.step();
      if (this.#yields) return undefined;
      mayContinue = false;
      const read = this.take();
      if (read === undefined) return undefined;
      const event = this.#filter === undefined ? read : this.#filter.apply(read);
      if (event !== undefined) return event;
    }
  }

  /**
   * Waits until `poll()` may return an event, after it has returned none: for the reader's turn, or for the log.
   * Resolves when the cursor is closed, too. There is one wait at a time.
   */
  wait(): Promise<void> {
    if (this.isClosed) return Promise.resolve();
    // Not an async function: what the reader does next must come before the pacer lets another one continue.
    return new Promise((resolve) => {
      const isQueued = this.#yields;
      const end = (): void => {
        this.#endWait = undefined;
        // A reader that was idle has no turn of its own: it asks the pacer.
        if (!isQueued) this.#turn = this.#pacer.turns;
        resolve();
      };
      const leave = isQueued ? this.#pacer.onTurn(end) : this.onceLogged(end);
      const stop = (): void => {
        leave();
        end();
      };
      this.#endWait = stop;
    });
  }

  /** Adds these entries as updates with `resync`, unless an earlier resync has not been read to its end. */
  resync(entries: readonly CacheEntry<T>[]): void {
    if (this.isClosed) return;
    this.add(entries);
    if (!this.#yields) this.#endWait?.();
  }

  /** Drops everything that has not been read, and ends a wait. */
  close(): void {
    if (!this.isClosed) this.#log.readers--;
    this.isClosed = true;
    this.clear();
    this.#endWait?.();
  }

  failed(): void {}

  settled(): undefined {}

  /** Calls `wake`, once, when there is something to read, unless the returned function is called before. */
  protected onceLogged(wake: () => void): () => void {
    return this.#log.onceAppended(wake);
  }

  /** The next event in order, which thereby counts as read. */
  protected abstract take(): LoggedEvent<T> | undefined;

  /** Adds a resync. */
  protected abstract add(resync: readonly CacheEntry<T>[]): void;

  /** Drops everything that has not been read, and leaves the log. */
  protected abstract clear(): void;
}

/** Reads the events of one object, and `synced`. Events of other objects neither reach nor wake it. */
class KeyCursor<T extends KubernetesObject> extends Cursor<T> implements LogFollower<T> {
  readonly #quarantine: Quarantine<T>;
  readonly #unfollow: () => void;
  /** The events that have not been read, in order. */
  readonly #unread: LoggedEvent<T>[];
  /** Set if and only if the reader waits for an event. */
  #wake: (() => void) | undefined;

  constructor(start: CursorStart<T>, selection: CursorSelection<T>, key: ObjectKey) {
    super(start, selection);
    const { entries, synced, log, quarantine } = start;
    this.#quarantine = quarantine;
    this.#unread = entries.map((entry) => new Added(entry, quarantine, true));
    if (synced !== undefined) this.#unread.push(synced);
    this.#unfollow = log.followKey(key, this);
  }

  get pending(): number {
    return this.#unread.length;
  }

  logged(event: LoggedEvent<T>): void {
    this.#unread.push(event);
    this.#wake?.();
  }

  loggedInitial(entries: readonly CacheEntry<T>[]): void {
    for (const entry of entries) this.logged(new Added(entry, this.#quarantine, true));
  }

  protected override onceLogged(wake: () => void): () => void {
    const leave = (): void => void (this.#wake = undefined);
    const wakeOnce = (): void => {
      leave();
      wake();
    };
    this.#wake = wakeOnce;
    return leave;
  }

  protected take(): LoggedEvent<T> | undefined {
    return this.#unread.shift();
  }

  protected add(entries: readonly CacheEntry<T>[]): void {
    if (this.#unread.some((event) => event.type === "updated" && event.resync)) return;
    this.#unread.push(...entries.map((entry) => new Updated(entry, this.#quarantine, entry, true)));
  }

  protected clear(): void {
    this.#unfollow();
    this.#unread.length = 0;
  }
}

/**
 * Ends a reader that is more than `max` events behind and does not catch up in its turns. Initial events and `synced`
 * do not count. A burst ends no reader that keeps up, however long others take.
 */
export class BacklogLimit<T extends KubernetesObject> implements LogFollower<T> {
  readonly #max: number;
  readonly #pacer: Pacer;
  readonly #onOverrun: (error: Error) => void;
  readonly #unfollow: () => void;
  /** The number of events that count, were logged, and have not been taken; 0 when the reader has ended. */
  #behind = 0;
  /** The part of `#behind` that was logged since the check began, or was last restarted. */
  #fresh = 0;
  /** `true` if and only if `#check()` runs. */
  #isChecking = false;

  /** Calls `onOverrun` with an error that has the limit. The callee must end the reader. */
  constructor(max: number, log: EventLog<T>, pacer: Pacer, onOverrun: (error: Error) => void) {
    this.#max = max;
    this.#pacer = pacer;
    this.#onOverrun = onOverrun;
    this.#unfollow = log.follow(this);
  }

  logged(event: LoggedEvent<T>): void {
    if (!counts(event)) return;
    this.#fresh++;
    if (++this.#behind > this.#max && !this.#isChecking) void this.#check();
  }

  loggedInitial(): void {
    // Initial events do not count.
  }

  /** The reader has taken an event from the log. */
  taken(event: LoggedEvent<T>): void {
    if (this.#behind > 0 && counts(event)) this.#behind--;
  }

  /** The reader has ended. */
  end(): void {
    this.#unfollow();
    this.#behind = 0;
  }

  /**
   * Ends the reader when it takes nothing in its turn, or when more has come by the time it has taken what there was.
   */
  async #check(): Promise<void> {
    const max = this.#max;
    this.#isChecking = true;
    await nextTurn(); // by now a reader that was idle has caught up, or has given way
    let due = this.#behind;
    let left = due;
    this.#fresh = 0;
    while (this.#behind > max) {
      await this.#pacer.turn(); // after the reader, if it has given way
      await nextTurn(); // the reader continues until it waits for something or yields again
      const before = left;
      left = this.#behind - this.#fresh;
      if (this.#behind > max && (left === before || (left <= 0 && this.#behind > due))) {
        this.#onOverrun(new Error(`its backlog exceeded the limit of ${max} events`));
      } else if (left <= 0) {
        due = left = this.#behind;
        this.#fresh = 0;
      }
    }
    this.#isChecking = false;
  }
}

function counts<T extends KubernetesObject>(event: LoggedEvent<T>): boolean {
  return event.type !== "synced" && !(event.type === "added" && event.initial);
}

/** Entries that events are made from, one by one; dropped with the last one, because they may be all of a cache. */
interface Replay<T extends KubernetesObject> {
  readonly entries: readonly CacheEntry<T>[];
  next: number;
}

/** A replay of the cache as updates. */
interface Resync<T extends KubernetesObject> extends Replay<T> {
  /** The position in the log at which it is read. */
  readonly at: LogPosition<T>;
}

/** Reads every event of the log. */
class LogCursor<T extends KubernetesObject> extends Cursor<T> {
  readonly #log: EventLog<T>;
  readonly #quarantine: Quarantine<T>;
  readonly #limit: BacklogLimit<T> | undefined;
  /** The position after the last event that was read; unset if and only if the cursor is closed. */
  #position: LogPosition<T> | undefined;
  /** Set while initial entries, of the start or of the log, are left to read; they come before everything else. */
  #snapshot: Replay<T> | undefined;
  /** Set until it is read, if the informer had synced when the cursor was opened. */
  #synced: SyncedEvent | undefined;
  /** Set while entries of a resync are left to read. */
  #resync: Resync<T> | undefined;

  constructor(start: CursorStart<T>, selection: CursorSelection<T>, limit?: BacklogLimit<T>) {
    super(start, selection);
    this.#log = start.log;
    this.#quarantine = start.quarantine;
    this.#position = start.log.end;
    this.#snapshot = { entries: start.entries, next: 0 };
    this.#synced = start.synced;
    this.#limit = limit;
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

  protected add(entries: readonly CacheEntry<T>[]): void {
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

/** Unread events of one key: one, or a deletion and the addition after it. */
type Unread<T extends KubernetesObject> = LoggedEvent<T>[];

/** Folds the unread events of each key into the fewest that lead to the same state. */
class LatestPerKeyCursor<T extends KubernetesObject> extends Cursor<T> implements LogFollower<T> {
  readonly #quarantine: Quarantine<T>;
  readonly #unfollow: () => void;
  /** Has a key if and only if events of it are unread, apart from `#second`; a `synced` event is its own key. */
  readonly #unread = new Map<string | SyncedEvent, Unread<T>>();
  /**
   * Walks `#unread`; set from the first event to `close()`. It never comes to its end, so that it passes keys added
   * later; a new walk would pass all deleted places again.
   */
  #walk: MapIterator<[string | SyncedEvent, Unread<T>]> | undefined;
  /** Set between the two events of a key: the addition that follows the deletion just read. */
  #second: LoggedEvent<T> | undefined;
  /** The number of resync events in `#unread`. */
  #resyncs = 0;

  constructor(start: CursorStart<T>, selection: CursorSelection<T>) {
    super(start, selection);
    this.#quarantine = start.quarantine;
    for (const entry of start.entries) this.#unread.set(entry.key, [new Added(entry, this.#quarantine, true)]);
    if (start.synced !== undefined) this.#unread.set(start.synced, [start.synced]);
    this.#unfollow = start.log.follow(this);
  }

  get pending(): number {
    return this.#unread.size + (this.#second === undefined ? 0 : 1);
  }

  logged(event: LoggedEvent<T>): void {
    if (event.type === "synced") {
      this.#unread.set(event, [event]);
      return;
    }
    const events = this.#unread.get(event.key);
    if (events === undefined) {
      this.#unread.set(event.key, [event]);
      return;
    }
    const last = events.pop()!;
    this.#uncountResync(last);
    events.push(...fold(last, event, this.#quarantine));
    if (events.length === 0) this.#unread.delete(event.key);
  }

  loggedInitial(entries: readonly CacheEntry<T>[]): void {
    for (const entry of entries) this.logged(new Added(entry, this.#quarantine, true));
  }

  protected take(): LoggedEvent<T> | undefined {
    if (this.#second !== undefined) {
      const second = this.#second;
      this.#second = undefined;
      return second;
    }
    if (this.#unread.size === 0) return undefined;
    this.#walk ??= this.#unread.entries();
    const [key, [first, second]] = this.#walk.next().value!;
    this.#unread.delete(key);
    this.#second = second;
    this.#uncountResync(first);
    return first;
  }

  protected add(entries: readonly CacheEntry<T>[]): void {
    if (this.#resyncs > 0) return;
    for (const entry of entries) {
      if (this.#unread.has(entry.key)) continue;
      this.#unread.set(entry.key, [new Updated(entry, this.#quarantine, entry, true)]);
      this.#resyncs++;
    }
  }

  protected clear(): void {
    this.#unfollow();
    this.#unread.clear();
    this.#walk = undefined; // it keeps the keys and events that the Map had
    this.#second = undefined;
  }

  #uncountResync(event: LoggedEvent<T>): void {
    if (event.type === "updated" && event.resync) this.#resyncs--;
  }
}

/** The fewest events that lead to the same state as two events of one key, the second right after the first. */
function fold<T extends KubernetesObject>(
  first: LoggedEvent<T>,
  second: LoggedEvent<T>,
  quarantine: Quarantine<T>,
): LoggedEvent<T>[] {
  if (second.type === "added") return [first, second]; // behind a deletion
  if (first.type === "added") {
    return second.type === "updated" ? [new Added(second.entry, quarantine, first.initial)] : [];
  }
  if (second.type === "deleted") return [second];
  return [new Updated((second as Updated<T>).entry, quarantine, (first as Updated<T>).before, false)];
}

/** The options of a cursor. */
export interface CursorOptions<T> extends CursorSelection<T>, Pick<ReaderCallbacks, "onOverrun"> {
  /** Reads only the events of this object, and `synced`, whatever `backlog` is. */
  readonly key?: ObjectKey;
  /** @default {"keep"} */
  readonly backlog?: BacklogPolicy;
}

/** Opens the cursor that the backlog policy asks for. */
export function openCursor<T extends KubernetesObject>(start: CursorStart<T>, options: CursorOptions<T>): Cursor<T> {
  const { key, backlog = "keep", onOverrun } = options;
  if (key !== undefined) return new KeyCursor(start, options, key);
  if (backlog === "latestPerKey") return new LatestPerKeyCursor(start, options);
  if (backlog === "keep") return new LogCursor(start, options);
  return new LogCursor(start, options, new BacklogLimit(backlog.max, start.log, start.pacer, onOverrun));
}
