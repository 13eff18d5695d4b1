/**
 * The store: values by key and by index, in memory.
 *
 * Entry point: {@linkcode Indexer}. Its values live in one `Table`, which a `StoreReplacement` swaps for another when a
 * list is committed. It does not copy, freeze or compare values, sends no events, keeps nothing over a restart, and
 * knows nothing of Kubernetes: an informer's `CacheWriter` decides what is stored and delivers the events.
 *
 * @module
 */

import { NO_ROW, Table } from "./table.ts";
import type { Index, Indexers, IndexFunction } from "./index.ts";

/** Options for `Indexer.replacing()`. */
export interface StoreReplacementOptions<V> {
  /** Applied once to each value that is staged or taken back. @default {none} */
  readonly transform?: (value: V) => V;
  /** Called by a commit when the store has the staged values, in the same turn. @default {none} */
  readonly onCommit?: () => void;
}

/**
 * A replacement of everything in an `Indexer`: a table of its own, indexes and all, that a commit swaps in. So a commit
 * costs the same however many values are staged. Until then the staged table takes as much memory as a store.
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
    this.#staged = new Table(known().indexes, known().sizeOf);
  }

  /** The bytes of the staged values and their indexes, where the store counts them. */
  get bytes(): number {
    return this.#staged?.bytes ?? 0;
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

/** The read side of a store. Reads without an `await` between them are one snapshot. */
export interface ReadonlyIndexer<V, Name extends string = string> extends Iterable<V> {
  /** The number of values. */
  readonly size: number;
  /** All keys. */
  keys(): IterableIterator<string>;
  /** The value of a key. */
  getByKey(key: string): V | undefined;
  /**
   * All values, in no particular order. The array is a copy; the values are the store's own and must not be changed.
   */
  list(): V[];
  /** The values with the index value `value`, at a cost that depends on their number alone; see {@linkcode list}. */
  byIndex(name: Name, value: string): V[];
  /** The keys of the values with the index value `value`, sorted. */
  indexKeys(name: Name, value: string): string[];
  /** All index values that some stored value has. */
  indexValues(name: Name): string[];
}

/** Options for an {@linkcode Indexer}. */
export interface IndexerOptions<V, Name extends string = never> {
  /** Returns the key of a value. */
  readonly keyOf: (value: V) => string;
  /** Index functions by the name of their index. @default {none} */
  readonly indexers?: Indexers<V, Name>;
  /**
   * The indexes whose values depend on the key alone. Their functions are called once per key. The returned array is
   * kept without a copy, so many keys may share one.
   * @default {none}
   */
  readonly byKey?: readonly NoInfer<Name>[];
  /** Returns the bytes that a value holds; called once, as it is stored. @default {bytes are not counted} */
  readonly sizeOf?: (value: V) => number;
}

/**
 * Values by key, and by the values of any number of indexes.
 *
 * - A change of a value changes all indexes in the same step: no reader sees one without the other.
 * - An index function is called once per value, before anything changes. If it throws, the error is thrown and nothing
 *   changes.
 * - An update costs a look-up and, if index values differ, the buckets concerned. Listing by index costs what it lists.
 *
 * @example
 * ```ts
 * import { Indexer } from "@kube/informer";
 * import { assertEquals } from "@std/assert";
 *
 * const words = new Indexer<string, "length">({
 *   keyOf: (word) => word,
 *   indexers: { length: (word) => [String(word.length)] },
 * });
 * words.add("ant");
 * words.add("bee");
 * words.add("wasp");
 * assertEquals(words.byIndex("length", "3"), ["ant", "bee"]);
 * ```
 */
export class Indexer<V, Name extends string = never> implements ReadonlyIndexer<V, Name> {
  readonly #keyOf: (value: V) => string;
  /** `#table` has a key if and only if the store has a value of that key; a commit swaps it. */
  #table: Table<V>;
  /** `#numbers` has a name if and only if there is an index of that name: its number in `#table.indexes`. */
  readonly #numbers = new Map<string, number>();
  /** `#lastKey` is the key last looked up or stored; `undefined` since a deletion or commit. */
  #lastKey: string | undefined;
  /** `#lastRow` is the row that `#lastKey` has in `#table`, `NO_ROW` if none. */
  #lastRow = NO_ROW;
  /** `#revision` is the number of changes so far. */
  #revision = 0;

  /** An empty store. */
  constructor(options: IndexerOptions<V, Name>) {
    const { keyOf, indexers, byKey = [], sizeOf } = options;
    this.#keyOf = keyOf;
    this.#table = new Table<V>([], sizeOf);
    if (indexers !== undefined) this.#addIndexers(indexers, byKey);
  }

  /** The number of values. */
  get size(): number {
    return this.#table.size;
  }

  /**
   * The number of changes: a value stored, even the stored one again, a value removed, everything replaced. While it is
   * the same, every read returns the same.
   */
  get revision(): number {
    return this.#revision;
  }

  /** The bytes of the values, by `sizeOf`, and about those of the indexes; 0 without `sizeOf`. */
  get bytes(): number {
    return this.#table.bytes;
  }

  /** The stored value with the key of `value`. */
  get(value: V): V | undefined {
    return this.#table.get(this.#keyOf(value));
  }

  /** The value of a key. */
  getByKey(key: string): V | undefined {
    return this.#table.get(key);
  }

  /** As {@linkcode getByKey}, for callers that change the key next: that change does not look it up again. */
  lookUp(key: string): V | undefined {
    const row = this.#rowOf(key);
    this.#remember(key, row);
    return row === NO_ROW ? undefined : this.#table.at(row);
  }

  /**
   * As {@linkcode lookUp}, of the row behind the one looked up last, or of the first row; `undefined` if it has no
   * value. It guesses the next key for callers that meet keys in the order of the store.
   */
  lookUpNext(): V | undefined {
    const row = this.#lastRow + 1;
    const value = this.#table.at(row);
    if (value !== undefined) this.#remember(this.#keyOf(value), row);
    return value;
  }

  /** All keys. */
  keys(): IterableIterator<string> {
    return this.#table.keys();
  }

  /** All values, in no particular order. The array is a copy. */
  list(): V[] {
    return this.#table.list();
  }

  /**
   * The values with the index value `value`.
   *
   * @throws {RangeError} if there is no such index.
   */
  byIndex(name: Name, value: string): V[] {
    return this.#table.list(this.#index(name).bucket(value));
  }

  /**
   * The keys of the values with the index value `value`, sorted.
   *
   * @throws {RangeError} if there is no such index.
   */
  indexKeys(name: Name, value: string): string[] {
    return this.byIndex(name, value).map((stored) => this.#keyOf(stored)).sort();
  }

  /**
   * All index values that some stored value has.
   *
   * @throws {RangeError} if there is no such index.
   */
  indexValues(name: Name): string[] {
    return this.#index(name).values();
  }

  /**
   * The index values that a value has, stored or not.
   *
   * @throws {RangeError} if there is no such index.
   */
  indexValuesOf(name: Name, value: V): readonly string[] {
    return this.#index(name).valuesOf(value);
  }

  /**
   * The stored values that share an index value with `value`, each once.
   *
   * @throws {RangeError} if there is no such index.
   */
  index(name: Name, value: V): V[] {
    const index = this.#index(name);
    const found = new Set<number>();
    for (const under of index.valuesOf(value)) {
      for (const row of index.bucket(under)) found.add(row);
    }
    return this.#table.list(found);
  }

  /**
   * Adds indexes, fills them at once, and returns the same store.
   *
   * @throws {Error} if an index of one of these names exists; no index is added then.
   */
  withIndexers<More extends string>(indexers: Indexers<V, More>): Indexer<V, Name | More> {
    this.#addIndexers(indexers, []);
    return this as unknown as Indexer<V, Name | More>;
  }

  #addIndexers(indexers: Indexers<V, string>, byKey: readonly string[]): void {
    const functions = Object.entries(indexers) as [string, IndexFunction<V>][];
    for (const [name] of functions) {
      if (this.#numbers.has(name)) throw new Error(`Cannot add index "${name}": there is one of that name already`);
    }
    this.#table.addIndexes(functions.map(([name, valuesOf]) => ({ valuesOf, byKey: byKey.includes(name) })));
    for (const [name] of functions) this.#numbers.set(name, this.#numbers.size);
  }

  /** Stores a value, new or not. */
  add(value: V): void {
    this.set(this.#keyOf(value), value);
  }

  /** Stores a value, new or not. */
  update(value: V): void {
    this.set(this.#keyOf(value), value);
  }

  /** Stores a value under `key`, which must be the key of the value. */
  set(key: string, value: V): void {
    this.#remember(key, this.#table.set(key, this.#rowOf(key), value));
    this.#revision++;
  }

  /** Removes the stored value with the key of `value`. */
  delete(value: V): void {
    this.deleteByKey(this.#keyOf(value));
  }

  /** Removes the value of a key. */
  deleteByKey(key: string): void {
    const row = this.#rowOf(key);
    if (row === NO_ROW) return;
    this.#remember(undefined, NO_ROW);
    this.#table.delete(key, row);
    this.#revision++;
  }

  /**
   * Begins a replacement of everything. Nothing changes before it is committed. Index values are computed as values are
   * staged, so a commit costs the same however many there are.
   */
  replacing(options: StoreReplacementOptions<V> = {}): StoreReplacement<V> {
    const swap = (staged: Table<V>): void => {
      staged.complete(this.#table); // before any change: an index function may throw
      this.#table = staged;
      this.#remember(undefined, NO_ROW);
      this.#revision++;
    };
    return new StoreReplacement<V>(this.#keyOf, () => this.#table, swap, options);
  }

  /** Replaces everything in one step. Of two values with the same key the later counts. */
  replace(values: readonly V[], resourceVersion: string): void {
    const replacement = this.replacing();
    replacement.add(values);
    replacement.commit(resourceVersion);
  }

  /** All values, in no particular order. */
  [Symbol.iterator](): IterableIterator<V> {
    return this.#table[Symbol.iterator]();
  }

  /** The row of a key. A key is mostly changed right after its look-up, so the last answer is kept, `NO_ROW` too. */
  #rowOf(key: string): number {
    return this.#lastKey === key ? this.#lastRow : this.#table.rowOf(key);
  }

  #remember(key: string | undefined, row: number): void {
    this.#lastKey = key; // survives: last-row
    this.#lastRow = row;
  }

  #index(name: string): Index<V> {
    const number = this.#numbers.get(name);
    if (number !== undefined) return this.#table.indexes[number];
    const names = [...this.#numbers.keys()].map((name) => `"${name}"`).join(", ");
    throw new RangeError(
      `Cannot look up index "${name}": there is none of that name; there are ${names || "no indexes"}`,
    );
  }
}
