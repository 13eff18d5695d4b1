import type { StoredCollection } from "./stored_collection.ts";
import type { StoredObject } from "./stored_object.ts";

/** A write, as delivered to watches. */
export interface StoreEvent {
  /** Type of the event. */
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  /** Collection of the object. */
  readonly collection: StoredCollection;
  /** The new state; for a deletion the tombstone. */
  readonly stored: StoredObject;
  /** The previous state; undefined for a new object. */
  readonly before: StoredObject | undefined;
}

/**
 * The latest writes to all collections, in order. Watches resume from it, and it limits which revisions can be listed.
 *
 * The oldest write is dropped when there are more than `capacity`, and by {@linkcode compact}.
 */
export class WatchHistory {
  #capacity: number;
  #events: StoreEvent[] = [];
  #first = 0;
  #compacted: number;

  /** Starts empty, after `revision`. */
  constructor(capacity: number, revision: number) {
    this.#capacity = capacity;
    this.#compacted = revision;
  }

  /** The oldest revision that can be listed or watched from. */
  get compacted(): number {
    return this.#compacted;
  }

  /** Adds the newest write. */
  append(event: StoreEvent): void {
    this.#events.push(event);
    if (this.#events.length - this.#first > this.#capacity) this.#forget(this.#first + 1);
  }

  /** Limits the history to that many writes. */
  resize(capacity: number): void {
    this.#capacity = capacity;
    this.#forget(Math.max(this.#first, this.#events.length - capacity));
  }

  /** Drops all writes; `revision` is the current one. */
  compact(revision: number): void {
    this.#forget(this.#events.length);
    this.#compacted = revision;
  }

  /** Yields the writes after a revision, oldest first. */
  *after(revision: number): Generator<StoreEvent> {
    let low = this.#first;
    let high = this.#events.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#events[middle].stored.revision <= revision) low = middle + 1;
      else high = middle;
    }
    for (let at = low; at < this.#events.length; at++) yield this.#events[at];
  }

  #forget(until: number): void {
    for (; this.#first < until; this.#first++) {
      const { collection, stored } = this.#events[this.#first];
      collection.forgetBefore(stored);
      this.#compacted = stored.revision;
      // Release the event now: the array itself is trimmed only occasionally.
      this.#events[this.#first] = GONE;
    }
    if (this.#first > 1_024 && this.#first * 2 > this.#events.length || this.#first === this.#events.length) {
      this.#events = this.#events.slice(this.#first);
      this.#first = 0;
    }
  }
}

/** Marks a dropped event; it is never yielded. */
const GONE = Object.freeze({}) as StoreEvent;
