/** One thing that happened to a value. */
export type Delta<V> =
  | {
    /** New, changed, part of a new whole, or told again. */
    readonly type: "Added" | "Updated" | "Replaced" | "Sync";
    /** The state after it. */
    readonly value: V;
  }
  | {
    /** Gone. */
    readonly type: "Deleted";
    /** The last state known. */
    readonly value: V;
    /** Whether the deletion was only noticed afterwards, so that `value` may not be the last state there was. */
    readonly finalStateUnknown: boolean;
  };

/** All that happened to one key since it was last popped, oldest first. */
export interface Deltas<V> {
  /** The key. */
  readonly key: string;
  /** At least one. */
  readonly deltas: readonly [Delta<V>, ...Delta<V>[]];
  /** Whether the first whole has not been processed yet. */
  readonly initial: boolean;
}

/** The read side a queue consults to notice deletions. */
export interface KnownObjects<V> {
  /** All keys. */
  keys(): Iterable<string>;
  /** The value of a key. */
  getByKey(key: string): V | undefined;
}
