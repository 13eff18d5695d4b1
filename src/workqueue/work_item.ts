import { type Cause, type Causes, listOfCauses } from "./cause.ts";

/**
 * A key taken from a `WorkQueue`. Disposing the item marks the key as done.
 *
 * An item belongs to one taking of its key: disposing it twice, or late, does not affect a later taking of the same
 * key.
 */
export interface WorkItem<K> extends Disposable {
  /** The key to process. */
  readonly key: K;
  /** The number of rate-limited additions of the key since it was last forgotten. */
  readonly retries: number;
  /** The causes of the additions that this taking answers, at most 8; empty when none was given. */
  readonly causes: readonly Cause[];
}

/** The queue that an item belongs to. */
export interface ItemOwner<K> {
  /** See {@linkcode WorkItem.retries}. */
  retries(key: K): number;
  /** Called when the item is disposed. */
  finish(item: Item<K>): void;
}

/** One pass of a key through the queue, from its addition until it is done. Never reused for a second pass. */
export class Item<K> implements WorkItem<K> {
  /** See {@linkcode WorkItem.key}. */
  readonly key: K;
  /** The progress of the key. */
  phase: "waiting" | "processing" | "done" = "waiting";
  /** The time at which the phase began, in milliseconds. */
  sinceMs: number;
  /** True when the key has low priority. */
  isLow: boolean;
  /** See {@linkcode WorkItem.causes}. */
  held: Causes;
  /** The next pass of the key, which was added again while it is processed; undefined when it was not. */
  again: Item<K> | undefined = undefined;
  /** True when the key was added rate-limited while it was processed: its failures are then kept. */
  isRateLimited = false;
  /** The item before it in its list. */
  previous: Item<K> | undefined = undefined;
  /** The item behind it in its list. */
  next: Item<K> | undefined = undefined;
  readonly #owner: ItemOwner<K>;

  /** @param addedMs The time at which the key was added. */
  constructor(key: K, owner: ItemOwner<K>, addedMs: number, isLow: boolean, causes: Causes) {
    this.key = key;
    this.#owner = owner;
    this.sinceMs = addedMs;
    this.isLow = isLow;
    this.held = causes;
  }

  /** See {@linkcode WorkItem.retries}. */
  get retries(): number {
    return this.#owner.retries(this.key);
  }

  /** See {@linkcode WorkItem.causes}. */
  get causes(): readonly Cause[] {
    return listOfCauses(this.held);
  }

  /** Marks the key as done. */
  [Symbol.dispose](): void {
    this.#owner.finish(this);
  }
}
