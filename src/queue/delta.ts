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
  /** How many there are. */
  readonly size?: number;
  /**
   * Another number after every change. With it and `size`, a replacement that nothing has overtaken costs in its last step
   * what it changes, and not what there is.
   */
  readonly revision?: number;
}

/** All that is to be known, staged where it will be known, and taken in one step. */
export interface Whole<V> extends Iterable<V> {
  /** Stages a value; of two with the same key the later counts. */
  set(key: string, value: V): void;
  /** Takes a staged value back. */
  delete(value: V): void;
  /** From now on the staged values are known, in the order in which their keys came. */
  commit(resourceVersion: string): void;
  /** Forgets what was staged. */
  abandon(): void;
}
