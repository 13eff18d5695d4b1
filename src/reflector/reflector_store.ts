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

/** What a reflector writes into; an `Indexer` and a `DeltaFIFO` both fit. */
export interface ReflectorStore<V> {
  /** A value the server says is new. */
  add(value: V): void;
  /** A value the server says has changed. */
  update(value: V): void;
  /** The last state of a value that is gone. */
  delete(value: V): void;
  /** Begins to replace everything. */
  replacing(): Replacement<V>;
  /** Tells everything again that is there. */
  resync?(): void;
  /** Called once after each batch or bookmark, in the same turn: on return everything up to `resourceVersion` is in the store. */
  flush?(resourceVersion: string): void;
}
