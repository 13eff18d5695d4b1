import { NO_ROW, Table } from "./table.ts";

/** Options for `Indexer.replacing()`. */
export interface StoreReplacementOptions<V> {
  /** Applied once to each value that is staged or taken back. @default {none} */
  readonly transform?: (value: V) => V;
  /** Called by a commit when the store has the staged values, in the same turn. @default {none} */
  readonly onCommit?: () => void;
}

/**
 * A replacement of everything in an `Indexer`: a table of its own, indexes and all, that a commit swaps in. So a commit costs
 * the same however many values are staged. Until then the staged table takes as much memory as a store.
 */
export class StoreReplacement<V> {
  readonly #keyOf: (value: V) => string;
  readonly #known: () => Table<V>;
  readonly #swap: (staged: Table<V>) => void;
  readonly #options: StoreReplacementOptions<V>;
  /** `#staged` is `undefined` if and only if the replacement was committed or abandoned. */
  #staged: Table<V> | undefined;

  /** Made by `Indexer.replacing()`. `known` returns the store's table, `swap` makes a staged one the store's. */
  constructor(
    keyOf: (value: V) => string,
    known: () => Table<V>,
    swap: (staged: Table<V>) => void,
    options: StoreReplacementOptions<V>,
  ) {
    this.#keyOf = keyOf;
    this.#known = known;
    this.#swap = swap;
    this.#options = options;
    this.#staged = new Table(known().indexes);
  }

  /** Stages values. Of two with the same key the later counts, in the place of the first. */
  add(values: readonly V[]): void {
    const staged = this.#open("add to");
    const known = this.#known();
    const { transform } = this.#options;
    for (const value of values) {
      const taken = transform === undefined ? value : transform(value);
      staged.stage(this.#keyOf(taken), taken, known);
    }
  }

  /** Removes a staged value. */
  delete(value: V): void {
    const staged = this.#open("delete from");
    const { transform } = this.#options;
    const key = this.#keyOf(transform === undefined ? value : transform(value));
    const row = staged.rowOf(key);
    if (row !== NO_ROW) staged.delete(key, row);
  }

  /** Makes the staged values the only ones of the store, in one step. The store does not use the version. */
  commit(_resourceVersion: string): void {
    const staged = this.#open("commit");
    this.#staged = undefined;
    this.#swap(staged);
    this.#options.onCommit?.();
  }

  /** Drops what was staged; the store stays as it is. */
  abandon(): void {
    this.#staged = undefined;
  }

  #open(action: string): Table<V> {
    if (this.#staged === undefined) throw new Error(`Cannot ${action} the replacement: it is over`);
    return this.#staged;
  }
}
