/** A new whole, staged as it arrives, taken in one step. */
export interface Replacement<V> {
  /** Stages values; of two with the same key the later counts. */
  add(values: readonly V[]): void;
  /** Takes a staged value back: it was deleted while the whole arrived. */
  delete(value: V): void;
  /** The staged values are the store's from now on, and no others. */
  commit(resourceVersion: string): void;
  /** Forgets what was staged; the store stays as it is. */
  abandon(): void;
}

/** The store that a reflector writes into; `Indexer` and `DeltaFIFO` implement it. */
export interface ReflectorStore<V> {
  /** Adds a value that is new on the server. */
  add(value: V): void;
  /** Updates a value that has changed on the server. */
  update(value: V): void;
  /** Deletes a value; `value` is its last state. */
  delete(value: V): void;
  /** Begins to replace the contents. */
  replacing(): Replacement<V>;
  /** Resyncs: re-delivers every cached value. */
  resync?(): void;
  /** Called once after each batch or bookmark, in the same turn. When it returns, the store has everything up to `resourceVersion`. */
  flush?(resourceVersion: string): void;
}
