/** A replacement of a store's contents: staged as a list arrives, and committed in one step. */
export interface Replacement<V> {
  /** Stages values; of two with the same key the later one counts. */
  add(values: readonly V[]): void;
  /** Removes a staged value, which was deleted while the list arrived. */
  delete(value: V): void;
  /** Makes the staged values the store's contents, at `resourceVersion`. */
  commit(resourceVersion: string): void;
  /** Discards the staged values; the store keeps its contents. */
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
