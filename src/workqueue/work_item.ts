/**
 * A key taken from a {@linkcode WorkQueue}; disposing it means being done with it.
 *
 * An item stands for one taking: disposing it twice, or late, never touches the same key taken again by somebody else.
 */
export interface WorkItem<K> extends Disposable {
  /** What to work on. */
  readonly key: K;
  /** How often the key was added rate-limited since it was last forgotten. */
  readonly retries: number;
}

/** Whose item it is. */
export interface ItemOwner<K> {
  /** See `WorkItem.retries`. */
  retries(key: K): number;
  /** The item was disposed. */
  finish(item: Item<K>): void;
}

/** One stay of a key in the queue, from when it is added until it is done. Never used for a second stay. */
export class Item<K> implements WorkItem<K> {
  /** See {@linkcode WorkItem}. */
  readonly key: K;
  /** How far it is. */
  phase: "waiting" | "processing" | "done" = "waiting";
  /** When the phase began, in milliseconds. */
  sinceMs: number;
  /** When the key was added again while it was being processed, in milliseconds. */
  addedAgainMs: number | undefined = undefined;
  /** Whether the key was added rate-limited while it was being processed: then its failures are kept. */
  isRateLimited = false;
  readonly #owner: ItemOwner<K>;

  /** One that was added at `addedMs`. */
  constructor(key: K, owner: ItemOwner<K>, addedMs: number) {
    this.key = key;
    this.#owner = owner;
    this.sinceMs = addedMs;
  }

  /** See {@linkcode WorkItem}. */
  get retries(): number {
    return this.#owner.retries(this.key);
  }

  /** Done with it. */
  [Symbol.dispose](): void {
    this.#owner.finish(this);
  }
}
