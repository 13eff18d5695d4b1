import type { Entry } from "../../api/entry.ts";
import type { KubernetesObject } from "../../api/object.ts";
import type { Quarantine } from "../cache/quarantine.ts";
import { Cursor, type CursorSelection, type CursorStart } from "./cursor.ts";
import { Added, type LoggedEvent, type SyncedEvent, Updated } from "./event.ts";
import type { LogFollower } from "./event_log.ts";

/** Unread events of one key: one, or a deletion and the addition behind it. */
type Unread<T extends KubernetesObject> = LoggedEvent<T>[];

/** Folds the unread events of each key into the fewest that lead to the same state. */
export class LatestPerKeyCursor<T extends KubernetesObject> extends Cursor<T> implements LogFollower<T> {
  readonly #quarantine: Quarantine<T>;
  readonly #unfollow: () => void;
  /** Has a key if and only if events of it are unread, apart from `#second`; a `synced` event is its own key. */
  readonly #unread = new Map<string | SyncedEvent, Unread<T>>();
  /**
   * Walks `#unread`; set from the first event to `close()`. It never comes to its end, so that it passes keys added later; a
   * new walk would pass all deleted places again.
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

  loggedInitial(entries: readonly Entry<T>[]): void {
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

  protected add(entries: readonly Entry<T>[]): void {
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

/** The fewest events that lead to the same state as two events of one key, the second right behind the first. */
function fold<T extends KubernetesObject>(
  first: LoggedEvent<T>,
  second: LoggedEvent<T>,
  quarantine: Quarantine<T>,
): LoggedEvent<T>[] {
  if (second.type === "added") return [first, second]; // behind a deletion
  if (first.type === "added") {
    return second.type === "updated" ? [new Added(second.entry, quarantine, first.initial)] : [];
  }
  // mutant: folded-deletion-lost
  if (second.type === "deleted") return [second];
  return [new Updated((second as Updated<T>).entry, quarantine, (first as Updated<T>).before, false)];
}
