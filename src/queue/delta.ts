/** One change of a value. */
export type Delta<V> =
  | {
    /** The value is new, has changed, is part of a replacement, or is delivered again by a resync. */
    readonly type: "Added" | "Updated" | "Replaced" | "Sync";
    /** The state after the change. */
    readonly value: V;
  }
  | {
    /** The value was deleted. */
    readonly type: "Deleted";
    /** The last known state. */
    readonly value: V;
    /** A replacement revealed the deletion, so `value` may not be the last state that existed. */
    readonly finalStateUnknown: boolean;
  };

/** All changes of one key since it was last popped, oldest first. */
export interface Deltas<V> {
  /** The key. */
  readonly key: string;
  /** At least one change. */
  readonly deltas: readonly [Delta<V>, ...Delta<V>[]];
  /** The first replacement has not been processed yet. */
  readonly initial: boolean;
}

/** The values that a queue takes for known, which it reads to find what a replacement deletes. */
export interface KnownObjects<V> {
  /** All keys. */
  keys(): Iterable<string>;
  /** The value of a key. */
  getByKey(key: string): V | undefined;
  /** The number of values. */
  readonly size?: number;
  /**
   * A number that is another one after every change. With it and `size`, the commit of a replacement costs as much as it
   * changes, unless a value changed while the replacement was staged; without them, as much as there are values.
   */
  readonly revision?: number;
}

/** Options for a {@linkcode DeltaFIFO}. */
export interface DeltaFIFOOptions<V> {
  /** Returns the key of a value. */
  readonly keyOf: (value: V) => string;
  /** The values that consumers of the queue know: usually the store that they fill. */
  readonly knownObjects: KnownObjects<V>;
  /**
   * Returns `true` if two values are the same version of the same thing. A replacement keeps the known one of the two, and
   * queues nothing for it.
   * @default {never}
   */
  readonly same?: (known: V, value: V) => boolean;
  /** Applied once to each incoming value that a replacement does not drop for a known one. If it throws, nothing is queued. */
  readonly transform?: (value: V) => V;
  /** A replacement queues `Replaced` deltas; if `false`, `Sync` deltas, as the first queues of client-go did. @default {true} */
  readonly emitReplaced?: boolean;
}
