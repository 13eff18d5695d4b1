import type { StoredCollection } from "./stored_collection.ts";
import type { StoredObject } from "./stored_object.ts";

/** A write, as watches hear of it. */
export interface StoreEvent {
  /** What happened. */
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  /** Where. */
  readonly collection: StoredCollection;
  /** The object afterwards; for a deletion its last state under the deletion's revision. */
  readonly stored: StoredObject;
  /** The object before, unless it is new. */
  readonly before: StoredObject | undefined;
}

/**
 * The last writes to all collections, in their order: what watches catch up from, and how far back lists can look.
 *
 * The oldest write is given up when there are more than `capacity`, or when told to.
 */
export class WatchHistory {
  #capacity: number;
  #events: StoreEvent[] = [];
  #first = 0;
  #compacted: number;

  /** An empty history that begins after `revision`. */
  constructor(capacity: number, revision: number) {
    this.#capacity = capacity;
    this.#compacted = revision;
  }

  /** The oldest revision that can still be listed, or watched from. */
  get compacted(): number {
    return this.#compacted;
  }

  /** Adds the newest write. */
  append(event: StoreEvent): void {
    this.#events.push(event);
    if (this.#events.length - this.#first > this.#capacity) this.#forget(this.#first + 1);
  }

  /** Remembers at most so many writes from now on. */
  resize(capacity: number): void {
    this.#capacity = capacity;
    this.#forget(Math.max(this.#first, this.#events.length - capacity));
  }

  /** Gives up all there is; `revision` is the newest one. */
  compact(revision: number): void {
    this.#forget(this.#events.length);
    this.#compacted = revision;
  }

  /** The writes after a revision, oldest first. */
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
      // Let go of it now: the array itself is cut only now and then.
      this.#events[this.#first] = GONE;
    }
    if (this.#first > 1_024 && this.#first * 2 > this.#events.length || this.#first === this.#events.length) {
      this.#events = this.#events.slice(this.#first);
      this.#first = 0;
    }
  }
}

/** What stands in the place of an event that was given up; nobody sees it. */
const GONE = Object.freeze({}) as StoreEvent;
