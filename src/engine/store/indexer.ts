/**
 * The store: values by key and by index, in memory.
 *
 * Entry point: {@linkcode Indexer}. Its values live in one `Table`, which a `StoreReplacement` swaps for another when a
 * list is committed. It does not copy, freeze or compare values, sends no events, keeps nothing over a restart, and
 * knows nothing of Kubernetes: an informer's `CacheWriter` decides what is stored and delivers the events.
 *
 * @module
 */
import { internals } from "../errors/internals.ts";
import { checkNames } from "../errors/option_names.ts";
import { NO_ROW, Table } from "./table.ts";
import { type Index, type IndexFunction, NO_VALUES } from "./value_index.ts";

/** Index functions by the name of their index. */
export type Indexers<V, Name extends string = string> = Readonly<Record<Name, IndexFunction<V>>>;

/** Options for `Indexer.replacing()`. */
export interface StoreReplacementOptions<V> {
  /** Applied once to each value that is staged or taken back. By default, nothing. */
  readonly transform?: (value: V) => V;
  /** Called by the commit when the store has the staged values, in the same turn. By default, nothing. */
  readonly onCommit?: () => void;
}

/**
 * Replaces everything in an `Indexer`. You stage values in a separate table, and the commit swaps it in. So a commit
 * costs the same for any number of values. Until then the staged table takes as much memory as a store.
 */
export class StoreReplacement<V> {
  readonly #keyOf: (value: V) => string;
  readonly #known: () => Table<V>;
  readonly #swap: (staged: Table<V>) => void;
  readonly #options: StoreReplacementOptions<V>;
  /** `#staged` is `undefined` if and only if the replacement was committed or abandoned. */
  #staged: Table<V> | undefined;

  /** Created by `Indexer.replacing()`. `known` returns the store's table, and `swap` puts a staged one in its place. */
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
    this.#staged = new Table(known().indexes, known().sizeOf, known());
  }

  /** The bytes of the staged values and indexes, if the store counts them. */
  get bytes(): number {
    return this.#staged?.bytes ?? 0;
  }

  /** Stages values. If two have the same key, the later one counts, in the place of the first. */
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

  /** Replaces the store's values with the staged ones, in one step. The store does not use the version. */
  commit(_resourceVersion: string): void {
    const staged = this.#open("commit");
    this.#staged = undefined;
    this.#swap(staged);
    this.#options.onCommit?.();
  }

  /** Drops the staged values. The store stays as it is. */
  abandon(): void {
    this.#staged = undefined;
  }

  #open(action: string): Table<V> {
    if (this.#staged === undefined) throw new Error(`Cannot ${action} the replacement: it is over`);
    return this.#staged;
  }
}

/** A store's read methods. Between two `await`s all reads show one moment. */
export interface ReadonlyIndexer<V, Name extends string = string> extends Iterable<V> {
  /** The number of values. */
  readonly size: number;
  /** All keys. */
  keys(): IterableIterator<string>;
  /** Returns the value for a key. */
  getByKey(key: string): V | undefined;
  /**
   * Returns all values, in no particular order. The array is a copy. The values belong to the store: do not change
   * them.
   */
  list(): V[];
  /**
   * Returns the values with the index value `value`. It touches only the values that it returns. See {@linkcode list}.
   */
  byIndex(name: Name, value: string): V[];
  /** Returns the keys of these values, sorted. */
  indexKeys(name: Name, value: string): string[];
  /** Returns all index values that at least one stored value has. */
  indexValues(name: Name): string[];
}

/** Options for an {@linkcode Indexer}. */
export interface IndexerOptions<V, Name extends string = never> {
  /** Returns a value's key. */
  readonly keyOf: (value: V) => string;
  /** Index functions by index name. By default, none. */
  readonly indexers?: Indexers<V, Name>;
  /**
   * The indexes whose values depend only on the key. Their functions are called once per key. The store keeps the
   * returned array without a copy, so many keys may share one. By default, none.
   */
  readonly byKey?: readonly NoInfer<Name>[];
  /** Returns the bytes that a value holds. Called once, when the value is stored. By default, bytes are not counted. */
  readonly sizeOf?: (value: V) => number;
}

/**
 * A store in memory: values by key, and by any number of indexes.
 *
 * - When a value changes, all indexes change in the same step. No reader sees one without the other.
 * - An index function is called once per value, before anything changes. If it throws, nothing changes and you get its
 *   error.
 * - An update costs a look-up, plus the index entries that differ. `byIndex()` touches only the values that it returns.
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
  /** @internal */
  readonly [internals] = {
    /** Returns `true` if there is an index of this name. */
    has: (name: string): boolean => this.#numbers.has(name),
    /** Counts the stored value of a key again: it takes more or less memory than before. */
    resized: (key: string): void => this.#table.resized(key),
    /** The index values that the stored value of a key is filed under, without a call of the index function. */
    filed: (name: string, key: string): readonly string[] => {
      const row = this.#table.rowOf(key);
      return row === NO_ROW ? NO_VALUES : this.#index(name).filed(row);
    },
    /** The index values of `value`, which the last change has replaced or removed, as it was filed. */
    filedBefore: (name: string, value: V): readonly string[] => {
      const index = this.#index(name);
      return index.byKey ? index.valuesOf(value) : index.before; // a change does not file it again under its key
    },
  };

  /** Creates an empty store. */
  constructor(options: IndexerOptions<V, Name>) {
    checkNames("create a store", options, "keyOf indexers byKey sizeOf");
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
   * The number of changes so far: each stored or removed value, and each replacement. While it stays the same, every
   * read returns the same.
   */
  get revision(): number {
    return this.#revision;
  }

  /** The bytes of the values, according to `sizeOf`, and about the bytes of the indexes. 0 without `sizeOf`. */
  get bytes(): number {
    return this.#table.bytes;
  }

  /** Returns the stored value with the same key as `value`. */
  get(value: V): V | undefined {
    return this.#table.get(this.#keyOf(value));
  }

  /** Returns the value for a key. */
  getByKey(key: string): V | undefined {
    return this.#table.get(key);
  }

  /** Like {@linkcode getByKey}, for callers that change this key next. That change then needs no second look-up. */
  lookUp(key: string): V | undefined {
    const row = this.#rowOf(key);
    this.#remember(key, row);
    return row === NO_ROW ? undefined : this.#table.at(row);
  }

  /**
   * Like {@linkcode lookUp}, for the row after the last one looked up, or the first row. `undefined` if the row has no
   * value. It guesses the next key, for callers that meet keys in the store's order.
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

  /** Returns all values, in no particular order. The array is a copy. */
  list(): V[] {
    return this.#table.list();
  }

  /**
   * Returns the values with the index value `value`.
   *
   * @throws {RangeError} if there is no such index.
   */
  byIndex(name: Name, value: string): V[] {
    return this.#table.list(this.#index(name).bucket(value));
  }

  /**
   * Returns the keys of the values with the index value `value`, sorted.
   *
   * @throws {RangeError} if there is no such index.
   */
  indexKeys(name: Name, value: string): string[] {
    return this.byIndex(name, value).map((stored) => this.#keyOf(stored)).sort();
  }

  /**
   * Returns all index values that at least one stored value has.
   *
   * @throws {RangeError} if there is no such index.
   */
  indexValues(name: Name): string[] {
    return this.#index(name).values();
  }

  /**
   * Returns the index values for a value, stored or not.
   *
   * @throws {RangeError} if there is no such index.
   */
  indexValuesOf(name: Name, value: V): readonly string[] {
    return this.#index(name).valuesOf(value);
  }

  /**
   * Returns the stored values that share an index value with `value`, each once.
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
   * Adds indexes, fills them immediately, and returns the same store.
   *
   * @throws {Error} if an index name exists already. No index is added then.
   */
  withIndexers<More extends string>(indexers: Indexers<V, More>): Indexer<V, Name | More> {
    this.#addIndexers(indexers, []);
    return this as unknown as Indexer<V, Name | More>;
  }

  /**
   * Removes an index, and frees its memory. Later look-ups in it throw.
   *
   * @throws {RangeError} if there is no such index.
   */
  removeIndexer(name: Name): void {
    this.#index(name);
    const removed = this.#numbers.get(name)!;
    this.#numbers.delete(name);
    for (const [other, number] of this.#numbers) if (number > removed) this.#numbers.set(other, number - 1);
    this.#table.removeIndex(removed);
  }

  #addIndexers(indexers: Indexers<V, string>, byKey: readonly string[]): void {
    const functions = Object.entries(indexers) as [string, IndexFunction<V>][];
    for (const [name] of functions) {
      if (this.#numbers.has(name)) throw new Error(`Cannot add index "${name}": it exists already`);
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

  /** Removes the stored value with the same key as `value`. */
  delete(value: V): void {
    this.deleteByKey(this.#keyOf(value));
  }

  /** Removes the value for a key. */
  deleteByKey(key: string): void {
    const row = this.#rowOf(key);
    if (row === NO_ROW) return;
    this.#remember(undefined, NO_ROW);
    this.#table.delete(key, row);
    this.#revision++;
  }

  /**
   * Starts to replace everything. Nothing changes before the commit. Index values are computed while you stage values,
   * so a commit costs the same for any number of values.
   */
  replacing(options: StoreReplacementOptions<V> = {}): StoreReplacement<V> {
    checkNames("replace the values of a store", options, "transform onCommit");
    const swap = (staged: Table<V>): void => {
      staged.complete(this.#table); // before any change: an index function may throw
      this.#table = staged;
      this.#remember(undefined, NO_ROW);
      this.#revision++;
    };
    return new StoreReplacement<V>(this.#keyOf, () => this.#table, swap, options);
  }

  /** Replaces everything in one step. If two values have the same key, the later one counts. */
  replace(values: readonly V[], resourceVersion: string): void {
    const replacement = this.replacing();
    replacement.add(values);
    replacement.commit(resourceVersion);
  }

  /** Yields all values, in no particular order. */
  [Symbol.iterator](): IterableIterator<V> {
    return this.#table[Symbol.iterator]();
  }

  /** The row of a key. A key is mostly changed right after its look-up, so the last answer is kept, `NO_ROW` too. */
  #rowOf(key: string): number {
    return this.#lastKey === key ? this.#lastRow : this.#table.rowOf(key);
  }

  #remember(key: string | undefined, row: number): void {
    this.#lastKey = key;
    this.#lastRow = row;
  }

  #index(name: string): Index<V> {
    const number = this.#numbers.get(name);
    if (number !== undefined) return this.#table.indexes[number];
    const names = [...this.#numbers.keys()].map((name) => `"${name}"`).join(", ");
    throw new RangeError(
      `Cannot look up index "${name}": it does not exist. ${
        names === "" ? "There are no indexes" : `The indexes are ${names}`
      }`,
    );
  }
}
