import type { Index, Indexers, IndexFunction } from "./index.ts";
import { NO_ROW, Table } from "./table.ts";

/** A cache as its readers see it. Reads without an `await` between them are one snapshot. */
export interface ReadonlyIndexer<V, Name extends string = string> extends Iterable<V> {
  /** How many values there are. */
  readonly size: number;
  /** All keys. */
  keys(): IterableIterator<string>;
  /** The value of a key. */
  getByKey(key: string): V | undefined;
  /** All values, in no particular order. The array is yours; the values are the cache's own and must not be changed. */
  list(): V[];
  /** The values filed under `value`, without looking at others; see {@linkcode list}. */
  byIndex(name: Name, value: string): V[];
  /** The keys filed under `value`, sorted. */
  indexKeys(name: Name, value: string): string[];
  /** All values that something is filed under. */
  indexValues(name: Name): string[];
}

/** How a store files its values. */
export interface IndexerOptions<V, Name extends string = never> {
  /** The key of a value. */
  readonly keyOf: (value: V) => string;
  /** Further ways to file them. */
  readonly indexers?: Indexers<V, Name>;
  /**
   * Those of the indexes whose values depend on the key alone. Their functions are called once per key, and what they
   * return is kept as it is, so that many keys may share it.
   * @default {none}
   */
  readonly byKey?: readonly NoInfer<Name>[];
}

/**
 * Values by key, filed under any number of indexes. No Kubernetes in it.
 *
 * - A change and its place in all indexes are one step: nobody sees one without the other.
 * - An index function is called once per value, before anything is changed; what it throws is thrown, and nothing has
 *   changed then.
 * - An update costs a look-up and, where index values differ, the buckets concerned; listing by index costs what it lists.
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
  #table = new Table<V>([]);
  /** The numbers of the indexes. */
  readonly #numbers = new Map<string, number>();
  /** The key last looked up, or stored. */
  #lastKey: string | undefined;
  /** Its row. */
  #lastRow = NO_ROW;
  #revision = 0;

  /** An empty store. */
  constructor(options: IndexerOptions<V, Name>) {
    const { keyOf, indexers, byKey = [] } = options;
    this.#keyOf = keyOf;
    if (indexers !== undefined) this.#addIndexers(indexers, byKey);
  }

  /** How many values there are. */
  get size(): number {
    return this.#table.size;
  }

  /**
   * Counts the changes: a value stored, be it over itself, a value removed, everything replaced. As long as it is the same,
   * every read answers the same.
   */
  get revision(): number {
    return this.#revision;
  }

  /** The stored value with the key of `value`. */
  get(value: V): V | undefined {
    return this.#table.get(this.#keyOf(value));
  }

  /** The value of a key. */
  getByKey(key: string): V | undefined {
    return this.#table.get(key);
  }

  /** As {@linkcode getByKey}, for who is about to change what is there: it will not be looked up again for that. */
  lookUp(key: string): V | undefined {
    const row = this.#rowOf(key);
    this.#remember(key, row);
    return row === NO_ROW ? undefined : this.#table.at(row);
  }

  /**
   * As {@linkcode lookUp}, of the key stored behind the one looked up last, or first of all; `undefined` where nothing is. A
   * guess at who comes next, for who is told keys in the order of the store.
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

  /** All values, in no particular order. The array is yours. */
  list(): V[] {
    return this.#table.list();
  }

  /** The values filed under `value`, without looking at others. @throws {RangeError} when there is no such index. */
  byIndex(name: Name, value: string): V[] {
    return this.#table.list(this.#index(name).bucket(value));
  }

  /** The keys filed under `value`, sorted. @throws {RangeError} when there is no such index. */
  indexKeys(name: Name, value: string): string[] {
    return [...this.#index(name).bucket(value).keys()].sort();
  }

  /** All values that something is filed under. @throws {RangeError} when there is no such index. */
  indexValues(name: Name): string[] {
    return this.#index(name).values();
  }

  /** The stored values that share a value of the index with `value`, each once. @throws {RangeError} when there is no such index. */
  index(name: Name, value: V): V[] {
    const index = this.#index(name);
    const found = new Map<string, number>();
    for (const under of index.valuesOf(value)) {
      for (const [key, row] of index.bucket(under)) found.set(key, row);
    }
    return this.#table.list(found);
  }

  /**
   * The same store, seen with more indexes, which are filled at once.
   *
   * @throws {Error} when there is an index of one of these names already; nothing is added then.
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

  /** Stores a value whose key is known already. */
  set(key: string, value: V): void {
    this.#remember(key, this.#table.set(key, this.#rowOf(key), value));
    this.#revision++;
  }

  /** Removes the value with the key of `value`, if there is one. */
  delete(value: V): void {
    this.deleteByKey(this.#keyOf(value));
  }

  /** Removes the value of a key, if there is one. */
  deleteByKey(key: string): void {
    const row = this.#rowOf(key);
    if (row === NO_ROW) return;
    this.#remember(undefined, NO_ROW);
    this.#table.delete(key, row);
    this.#revision++;
  }

  /**
   * Begins to replace everything; nothing changes before it is committed. Values are filed as they are staged, so that a
   * commit costs the same however many there are.
   */
  replacing(): StagedValues<V> {
    return new StagedValues<V>(this.#keyOf, () => this.#table, (staged) => {
      staged.complete(this.#table); // first of all: an index function may throw
      this.#table = staged;
      this.#remember(undefined, NO_ROW);
      this.#revision++;
    });
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

  /** Who changes a key has mostly just looked it up: that answer is still at hand, also that there is nothing. */
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
      `Cannot look up index "${name}": there is none of that name; there are ${names || "no indexes"}`,
    );
  }
}

/**
 * A new whole for an {@linkcode Indexer}, staged as it arrives, taken in one step.
 *
 * It weighs as much as a store of its own until it is over.
 */
export class StagedValues<V> implements Iterable<V> {
  readonly #keyOf: (value: V) => string;
  readonly #known: () => Table<V>;
  readonly #take: (staged: Table<V>) => void;
  #staged: Table<V> | undefined;

  /** Made by {@linkcode Indexer.replacing}. */
  constructor(keyOf: (value: V) => string, known: () => Table<V>, take: (staged: Table<V>) => void) {
    this.#keyOf = keyOf;
    this.#known = known;
    this.#take = take;
    this.#staged = new Table(known().indexes);
  }

  /** How many values are staged; none once it is over. */
  get size(): number {
    return this.#staged?.size ?? 0;
  }

  /** Stages values; of two with the same key the later counts, in the place of the first. */
  add(values: readonly V[]): void {
    this.#open("add to");
    for (const value of values) this.set(this.#keyOf(value), value);
  }

  /** Stages a value whose key is known already; see {@linkcode add}. */
  set(key: string, value: V): void {
    this.#open("add to").stage(key, value, this.#known());
  }

  /** Takes a staged value back. */
  delete(value: V): void {
    const staged = this.#open("delete from");
    const key = this.#keyOf(value);
    const row = staged.rowOf(key);
    if (row !== NO_ROW) staged.delete(key, row);
  }

  /** The staged values are the store's from now on, and no others. */
  commit(_resourceVersion: string): void {
    const staged = this.#open("commit");
    this.#staged = undefined;
    this.#take(staged);
  }

  /** Forgets what was staged. */
  abandon(): void {
    this.#staged = undefined;
  }

  /** The staged values, in the order in which their keys were staged; none once it is over. */
  [Symbol.iterator](): IterableIterator<V> {
    return (this.#staged?.list() ?? []).values();
  }

  #open(action: string): Table<V> {
    if (this.#staged === undefined) throw new Error(`Cannot ${action} the replacement: it is over`);
    return this.#staged;
  }
}
