import type { Entry } from "../../api/entry.ts";
import type { KubernetesObject } from "../../api/object.ts";
import { nextTurn, type Pacer } from "../../async/pacer.ts";
import { Added, type LoggedEvent, type SyncedEvent, Updated } from "./event.ts";
import type { EventLog, LogFollower, LogPlace } from "./event_log.ts";
import type { Quarantine } from "../cache/quarantine.ts";

/** What happens when a handler falls behind: see `HandlerOptions.backlog`. */
export type BacklogPolicy = "keep" | "latestPerKey" | { readonly max: number };

/** What one reader has still to be told. */
export interface Backlog<T extends KubernetesObject> {
  /** How many events. */
  readonly pending: number;
  /** The next event, which thereby counts as told. */
  next(): LoggedEvent<T> | undefined;
  /** Adds a resync of these entries; false when the last one is still under way. */
  resync(entries: readonly Entry<T>[]): boolean;
  /** Forgets everything. */
  close(): void;
}

/** What a reader starts from. */
export interface BacklogStart<T extends KubernetesObject> {
  /** What the cache holds in this turn. */
  readonly entries: readonly Entry<T>[];
  /** Told behind the entries, if the informer has synced; else the log will tell. */
  readonly synced: SyncedEvent | undefined;
  /** The log, read from its present end. */
  readonly log: EventLog<T>;
  /** For the events that are made here. */
  readonly quarantine: Quarantine<T>;
  /** Gives the reader its turns. */
  readonly pacer: Pacer;
}

/** Makes the backlog that `policy` asks for; `overrun` is called when a `{ max }` is passed and the reader had a turn since. */
export function backlogOf<T extends KubernetesObject>(
  policy: BacklogPolicy,
  start: BacklogStart<T>,
  overrun: (error: Error) => void,
): Backlog<T> {
  if (policy === "latestPerKey") return new FoldedBacklog(start);
  return new LogBacklog(start, policy === "keep" ? undefined : policy.max, overrun);
}

/** Entries to make events from; dropped as soon as the last event is made, because it may be a whole cache. */
interface Replay<T extends KubernetesObject> {
  readonly entries: readonly Entry<T>[];
  next: number;
}

/** A replay of the cache as updates. */
interface Resync<T extends KubernetesObject> extends Replay<T> {
  /** The place in the log that it is delivered at. */
  readonly at: LogPlace<T>;
}

/** A place in the log, with what the cache held at its beginning, or at a resync, put in. */
class LogBacklog<T extends KubernetesObject> implements Backlog<T>, LogFollower<T> {
  readonly #log: EventLog<T>;
  readonly #quarantine: Quarantine<T>;
  readonly #max: number | undefined;
  readonly #overrun: (error: Error) => void;
  readonly #pacer: Pacer;
  readonly #unfollow: (() => void) | undefined;
  #synced: SyncedEvent | undefined;
  /** None once it is closed: a place keeps all later ones alive. */
  #place: LogPlace<T> | undefined;
  #snapshot: Replay<T> | undefined;
  #resync: Resync<T> | undefined;
  /** Events behind, without those that were there at first. Counted where there is a limit, as the next two are. */
  #behind = 0;
  /** How many of them have been logged since the check began, or began anew. */
  #fresh = 0;
  #isChecking = false;

  constructor(start: BacklogStart<T>, max: number | undefined, overrun: (error: Error) => void) {
    this.#log = start.log;
    this.#quarantine = start.quarantine;
    this.#place = start.log.end;
    this.#synced = start.synced;
    this.#snapshot = { entries: start.entries, next: 0 };
    this.#max = max;
    this.#overrun = overrun;
    this.#pacer = start.pacer;
    this.#unfollow = max === undefined ? undefined : start.log.follow(this);
  }

  get pending(): number {
    if (this.#place === undefined) return 0;
    const replays = remaining(this.#snapshot) + remaining(this.#resync);
    return replays + (this.#synced === undefined ? 0 : 1) + this.#log.end.count - this.#place.count;
  }

  logged(event: LoggedEvent<T>): void {
    if (event.type === "synced" || (event.type === "added" && event.initial)) return;
    this.#fresh++;
    if (++this.#behind > this.#max! && !this.#isChecking) void this.#check();
  }

  /**
   * Ends the reader when it handles nothing in its turn, or when more has come by the time it has handled what there was. A
   * burst alone ends no reader that keeps up, however long others take.
   */
  async #check(): Promise<void> {
    const max = this.#max!;
    this.#isChecking = true;
    await nextTurn(); // by now a reader that was idle has caught up, or has given way
    let due = this.#behind;
    let left = due;
    this.#fresh = 0;
    while (this.#behind > max) {
      await this.#pacer.turn(); // behind the reader, if that has given way
      await nextTurn(); // the reader goes on until it waits for something or gives way again
      const before = left;
      left = this.#behind - this.#fresh;
      if (this.#behind > max && (left === before || (left <= 0 && this.#behind > due))) {
        this.#overrun(new Error(`more than ${max} events behind`));
      } else if (left <= 0) {
        due = left = this.#behind;
        this.#fresh = 0;
      }
    }
    this.#isChecking = false;
  }

  loggedInitial(): void {
    // What is there from the beginning puts nobody behind.
  }

  next(): LoggedEvent<T> | undefined {
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
    if (this.#resync !== undefined && this.#resync.at === this.#place) {
      const { entries } = this.#resync;
      const entry = entries[this.#resync.next++];
      if (this.#resync.next >= entries.length) this.#resync = undefined;
      if (entry !== undefined) return new Updated(entry, this.#quarantine, entry, true);
    }
    const place = this.#place?.next;
    if (place === undefined) return undefined;
    if (place.initial !== undefined) {
      this.#place = place.next;
      this.#snapshot = { entries: place.initial, next: 0 };
      return this.next();
    }
    this.#place = place;
    const event = place.event!;
    if (this.#behind > 0 && event.type !== "synced" && !(event.type === "added" && event.initial)) this.#behind--;
    return event;
  }

  resync(entries: readonly Entry<T>[]): boolean {
    if (this.#resync !== undefined || this.#snapshot !== undefined) return false;
    this.#resync = { entries, next: 0, at: this.#log.end };
    this.#log.wake();
    return true;
  }

  close(): void {
    this.#unfollow?.();
    this.#place = undefined;
    this.#snapshot = undefined;
    this.#resync = undefined;
    this.#synced = undefined;
    this.#behind = 0;
  }
}

function remaining<T extends KubernetesObject>(replay: Replay<T> | undefined): number {
  return replay === undefined ? 0 : replay.entries.length - replay.next;
}

/** One pending story per key: at most a deletion and an addition behind it, or one of the three. */
class FoldedBacklog<T extends KubernetesObject> implements Backlog<T>, LogFollower<T> {
  readonly #log: EventLog<T>;
  readonly #quarantine: Quarantine<T>;
  readonly #unfollow: () => void;
  readonly #stories = new Map<string | SyncedEvent, LoggedEvent<T>[]>();
  #cursor: MapIterator<[string | SyncedEvent, LoggedEvent<T>[]]> | undefined;
  #rest: LoggedEvent<T> | undefined;
  /** How many stories are of the last resync: until they are told or overtaken, there is no other. */
  #resyncs = 0;

  constructor(start: BacklogStart<T>) {
    this.#log = start.log;
    this.#quarantine = start.quarantine;
    for (const entry of start.entries) this.#stories.set(entry.key, [new Added(entry, this.#quarantine, true)]);
    if (start.synced !== undefined) this.#stories.set(start.synced, [start.synced]);
    this.#unfollow = start.log.follow(this);
  }

  get pending(): number {
    return this.#stories.size + (this.#rest === undefined ? 0 : 1);
  }

  logged(event: LoggedEvent<T>): void {
    if (event.type === "synced") {
      this.#stories.set(event, [event]);
      return;
    }
    const story = this.#stories.get(event.key);
    if (story === undefined) {
      this.#stories.set(event.key, [event]);
      return;
    }
    const last = story.pop()!;
    this.#forgetResync(last);
    const folded = fold(last, event, this.#quarantine);
    story.push(...folded);
    if (story.length === 0) this.#stories.delete(event.key);
  }

  loggedInitial(entries: readonly Entry<T>[]): void {
    for (const entry of entries) this.logged(new Added(entry, this.#quarantine, true));
  }

  next(): LoggedEvent<T> | undefined {
    if (this.#rest !== undefined) {
      const rest = this.#rest;
      this.#rest = undefined;
      return rest;
    }
    if (this.#stories.size === 0) {
      this.#cursor = undefined;
      return undefined;
    }
    this.#cursor ??= this.#stories.entries();
    const { value, done } = this.#cursor.next();
    if (done) {
      this.#cursor = undefined;
      return this.next();
    }
    const [key, story] = value;
    this.#stories.delete(key);
    this.#rest = story[1];
    this.#forgetResync(story[0]);
    return story[0];
  }

  resync(entries: readonly Entry<T>[]): boolean {
    if (this.#resyncs > 0) return false;
    for (const entry of entries) {
      if (this.#stories.has(entry.key)) continue;
      this.#stories.set(entry.key, [new Updated(entry, this.#quarantine, entry, true)]);
      this.#resyncs++;
    }
    this.#log.wake();
    return true;
  }

  close(): void {
    this.#unfollow();
    this.#stories.clear();
    this.#rest = undefined;
  }

  #forgetResync(event: LoggedEvent<T>): void {
    if (event.type === "updated" && event.resync) this.#resyncs--;
  }
}

/** What is left to tell of two events of one key, the second right behind the first. */
function fold<T extends KubernetesObject>(
  first: LoggedEvent<T>,
  second: LoggedEvent<T>,
  quarantine: Quarantine<T>,
): LoggedEvent<T>[] {
  if (first.type === "synced" || second.type === "synced") return [first, second];
  if (first.type === "deleted") return second.type === "deleted" ? [first] : [first, second];
  if (second.type === "added") return [first, second];
  if (first.type === "added") {
    return second.type === "updated" ? [new Added(second.entry, quarantine, first.initial)] : [];
  }
  // mutant: folded-deletion-lost
  if (second.type === "deleted") return [second];
  return [new Updated((second as Updated<T>).entry, quarantine, (first as Updated<T>).before, false)];
}
