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

/** Returns the index values under which a value is filed. You may return an empty array. */
export type IndexFunction<V> = (value: V) => readonly string[];

/** Index functions by the name of their index. */
export type Indexers<V, Name extends string = string> = Readonly<Record<Name, IndexFunction<V>>>;

/** The definition of an {@linkcode Index}. */
interface IndexDefinition<V> {
  /** Computes the index values. */
  readonly valuesOf: IndexFunction<V>;
  /** The index values depend on the key alone: they are computed once per key, and never change. */
  readonly byKey: boolean;
}

/** About the bytes of a row under its one index value, of one under each of several, and of an index value. */
const [ROW_BYTES, SHARED_ROW_BYTES, BUCKET_BYTES] = [20, 65, 300];

const NO_VALUES: readonly string[] = [];
/** The index values of a row that has not been filed; compared by identity. */
const NOT_FILED: readonly string[] = [];
/** How a row is filed: not at all, under no index value, under several, or under one, whose bucket has a number. */
const [UNFILED, UNDER_NONE, UNDER_SEVERAL, FIRST_BUCKET] = [0, 1, 2, 3];

/** The rows under one index value; at least one. */
interface Bucket {
  /** Its number in the index. Another bucket may have it later. */
  readonly number: number;
  /** Rows that have no other value. An array takes half the memory of a set, and a fifth of the time. */
  rows: number[];
  /** Rows that have other values too; `undefined` if there has been none. */
  others: Set<number> | undefined;
  /** The index value alone: the array of all rows that have no other value, so that each needs none of its own. */
  readonly alone: readonly string[];
}

const NO_BUCKET: Bucket = { number: 0, rows: [], others: undefined, alone: NO_VALUES };

/**
 * One index: buckets of rows by index value. A row is the place of a value in a table, and stays when the value
 * changes.
 */
class Index<V> implements IndexDefinition<V> {
  /** See {@linkcode IndexDefinition}. */
  readonly valuesOf: IndexFunction<V>;
  /** See {@linkcode IndexDefinition}. */
  readonly byKey: boolean;
  /**
   * `#filed[2 * row]` says how a row is filed, remembered because a value can change in place. If that is under one
   * index value, `#filed[2 * row + 1]` is its place in the rows of the bucket. Numbers outside of the heap take less
   * memory than references, and the garbage collector does not read them.
   */
  #filed: Int32Array<ArrayBuffer>;
  /** `#several[row]` has the index values of a row that has several. */
  #several: (readonly string[] | undefined)[] = [];
  /** `#buckets` has, under each index value that some row is filed under, the number of that row. */
  readonly #buckets = new Map<string, Bucket>();
  /** `#numbered[bucket.number]` is a bucket, or `NO_BUCKET` for a number in `#unused`. */
  readonly #numbered: Bucket[] = [];
  readonly #unused: number[] = [];
  /** `#rowBytes` is the sum of {@linkcode bytesOf} for the index values of all rows. */
  #rowBytes = 0;
  /** The index values that the row had which was filed, or taken out, last. */
  before: readonly string[] = NO_VALUES;

  /** An index of a table of `rows` rows, none of which is filed. */
  constructor({ valuesOf, byKey }: IndexDefinition<V>, rows: number) {
    this.valuesOf = valuesOf;
    this.byKey = byKey;
    this.#filed = new Int32Array(2 * rows);
  }

  /** About the bytes that the index holds, beside its functions. */
  get bytes(): number {
    return this.#rowBytes + this.#buckets.size * BUCKET_BYTES;
  }

  /** The rows with an index value. */
  bucket(value: string): readonly number[] {
    const { rows, others } = this.#buckets.get(value) ?? NO_BUCKET;
    return others === undefined ? rows : [...rows, ...others];
  }

  /** The row has been filed, if only under no index value. */
  isFiled(row: number): boolean {
    return this.filed(row) !== NOT_FILED;
  }

  /** The index values of a row. */
  filed(row: number): readonly string[] {
    const how = this.#filed[2 * row] ?? UNFILED;
    if (how >= FIRST_BUCKET) return this.#numbered[how - FIRST_BUCKET].alone;
    return how === UNDER_SEVERAL ? this.#several[row]! : how === UNDER_NONE ? NO_VALUES : NOT_FILED;
  }

  /**
   * The index values to file `value` under: `before` if they are equal, else a copy, because the index function may
   * return a part of the value, which can change in place.
   */
  valuesFor(value: V, before: readonly string[] = NOT_FILED): readonly string[] {
    if (this.byKey) return before === NOT_FILED ? this.valuesOf(value) : before;
    const values = this.valuesOf(value);
    if (values.length === 0) return NO_VALUES;
    return sameValues(values, before) ? before : values.slice();
  }

  /** All index values that have a row. */
  values(): string[] {
    return [...this.#buckets.keys()];
  }

  /**
   * Files a row, which may be the table's next new one, under `after`. Touches only the buckets that gain or lose it.
   */
  file(row: number, after: readonly string[]): void {
    if (2 * row + 1 >= this.#filed.length) this.#grow(12 * row + 64);
    const before = this.before = this.filed(row);
    if (before === after) return;
    this.#rowBytes += bytesOf(after) - bytesOf(before);
    const both = before.length > 1 && after.length > 1;
    this.#take(row, both ? without(before, after) : before, before.length > 1);
    this.#put(row, both ? without(after, before) : after, after.length > 1);
    if (after.length > 1) {
      while (this.#several.length <= row) this.#several.push(undefined);
      this.#several[row] = after;
      this.#filed[2 * row] = UNDER_SEVERAL;
    } else if (after.length === 0) this.#filed[2 * row] = UNDER_NONE;
  }

  /** Removes a row from its buckets. */
  unfile(row: number): void {
    this.before = this.filed(row);
    this.#rowBytes -= bytesOf(this.before);
    this.#take(row, this.before, this.before.length > 1);
    this.#filed[2 * row] = UNFILED;
  }

  /** Renumbers all rows: `from` has the old row of each new one. */
  renumber(from: readonly number[]): void {
    const [filed, several] = [this.#filed, this.#several];
    this.#filed = Int32Array.from({ length: 2 * from.length }, (_, i) => filed[2 * from[i >> 1] + (i & 1)]);
    if (several.length > 0) this.#several = from.map((row) => several[row]);
    const to = new Int32Array(filed.length);
    from.forEach((before, row) => to[before] = row);
    for (const bucket of this.#buckets.values()) {
      bucket.rows = bucket.rows.map((row) => to[row]);
      bucket.others &&= new Set(Array.from(bucket.others, (row) => to[row]));
    }
  }

  #grow(bytes: number): void {
    this.#filed = new Int32Array(this.#filed.buffer.transfer(bytes)); // frees the old numbers at once
  }

  #put(row: number, values: readonly string[], isOneOfSeveral: boolean): void {
    for (const value of values) {
      const bucket = this.#buckets.get(value) ?? this.#add(isOneOfSeveral ? [value] : values);
      if (isOneOfSeveral) (bucket.others ??= new Set()).add(row);
      else {
        this.#filed[2 * row] = FIRST_BUCKET + bucket.number;
        this.#filed[2 * row + 1] = bucket.rows.length;
        // A first element that is pushed makes room for 16 more.
        if (bucket.rows.length === 0) bucket.rows = [row];
        else bucket.rows.push(row);
      }
    }
  }

  #take(row: number, values: readonly string[], isOneOfSeveral: boolean): void {
    for (const value of values) {
      const bucket = this.#buckets.get(value);
      if (bucket === undefined) continue; // a value that occurred twice
      if (isOneOfSeveral) bucket.others!.delete(row);
      else {
        const last = bucket.rows.pop()!;
        if (last !== row) {
          const place = this.#filed[2 * row + 1];
          bucket.rows[place] = last;
          this.#filed[2 * last + 1] = place;
        }
      }
      if (bucket.rows.length > 0 || bucket.others?.size) continue;
      this.#buckets.delete(value);
      this.#numbered[bucket.number] = NO_BUCKET;
      this.#unused.push(bucket.number);
    }
    if (isOneOfSeveral) this.#several[row] = undefined;
  }

  #add(alone: readonly string[]): Bucket {
    const number = this.#unused.pop() ?? this.#numbered.length;
    const bucket = { number, rows: [], others: undefined, alone };
    this.#numbered[number] = bucket;
    this.#buckets.set(alone[0], bucket);
    return bucket;
  }
}

/** About the bytes of a row under these index values. */
function bytesOf({ length }: readonly string[]): number {
  return length * (length > 1 ? SHARED_ROW_BYTES : ROW_BYTES);
}

function sameValues(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** From this number of values on, a set is faster to search. */
const MANY = 16;

function without(values: readonly string[], others: readonly string[]): readonly string[] {
  if (others.length < MANY) return values.filter((value) => !others.includes(value));
  const set = new Set(others);
  return values.filter((value) => !set.has(value));
}

/** The row of a key without a value. */
export const NO_ROW = -1;

/** Up to so many free rows are kept for later keys. */
const FEW_ROWS = 1024;

/**
 * Values by key, each in a row: one place whose number the look-up by key and all indexes hold, so an update that keeps
 * its index values changes that place alone. Free rows are used again.
 */
export class Table<V> {
  /** `#rows` has a key if and only if the table has a value of that key; no two keys have the same row. */
  readonly #rows = new Map<string, number>();
  /** `#values[row]` is the value of the key with that row; `undefined` if and only if the row is free. */
  #values: V[] = [];
  /** `#free` has each row of `#values` that no key has, once. */
  #free: number[] = [];
  /** `#indexes` have each row of `#rows` filed; those from number `#complete` on may lack some until `complete()`. */
  readonly #indexes: Index<V>[] = [];
  /** `#allByKey` is true if and only if every index is `byKey`. */
  #allByKey = true;
  /** `#complete` is the number of indexes that `addIndexes()` has added; staging adds the others. */
  #complete = 0;
  /** Returns the bytes of a value; `undefined` if they are not counted. */
  readonly sizeOf: ((value: V) => number) | undefined;
  /** `#sizes[row]` has what `sizeOf` returned as the value of the row was stored; 0 if the row is free. */
  #sizes: number[] = [];
  /** `#bytes` is the sum of `#sizes`. */
  #bytes = 0;

  /** An empty table with these indexes. It counts the bytes of its values where `sizeOf` is given. */
  constructor(definitions: readonly IndexDefinition<V>[], sizeOf?: (value: V) => number) {
    this.sizeOf = sizeOf;
    this.addIndexes(definitions);
  }

  /** The bytes of the values, as they were when they were stored, and of the indexes; 0 if they are not counted. */
  get bytes(): number {
    return this.sizeOf === undefined ? 0 : this.#indexes.reduce((sum, { bytes }) => sum + bytes, this.#bytes);
  }

  /** The number of values. */
  get size(): number {
    return this.#rows.size;
  }

  /** All indexes, by number. */
  get indexes(): readonly Index<V>[] {
    return this.#indexes;
  }

  /** The row of a key, or {@linkcode NO_ROW}. */
  rowOf(key: string): number {
    return this.#rows.get(key) ?? NO_ROW;
  }

  /** The value in a row. */
  at(row: number): V {
    return this.#values[row];
  }

  /** The value of a key. */
  get(key: string): V | undefined {
    const row = this.#rows.get(key);
    return row === undefined ? undefined : this.#values[row];
  }

  /** All keys. */
  keys(): IterableIterator<string> {
    return this.#rows.keys();
  }

  /** The values of rows. Spreading them and mapping the array is several times faster than iterating them. */
  list(rows: Iterable<number> = this.#rows.values()): V[] {
    const list: unknown[] = [...rows];
    for (let i = 0; i < list.length; i++) list[i] = this.#values[list[i] as number];
    return list as V[];
  }

  /** All values. An iterator sees changes made while it is used. */
  *[Symbol.iterator](): IterableIterator<V> {
    for (const row of this.#rows.values()) yield this.#values[row];
  }

  /**
   * Stores a value of a key whose present row is `row`, and returns its row. If an index function throws, nothing
   * changes.
   */
  set(key: string, row: number, value: V): number {
    if (row !== NO_ROW && this.#allByKey) {
      this.#values[row] = value;
      if (this.sizeOf !== undefined) this.#count(row, this.sizeOf(value));
      return row;
    }
    const filed = new Array<readonly string[]>(this.#indexes.length);
    for (let i = 0; i < filed.length; i++) {
      const index = this.#indexes[i];
      filed[i] = index.valuesFor(value, row === NO_ROW ? undefined : index.filed(row));
    }
    return this.#put(key, row, value, filed);
  }

  /**
   * Stores a value of a table that is to replace `known`. Index values of a value that is the same in `known` are not
   * computed again. If an index function throws, nothing changes.
   */
  stage(key: string, value: V, known: Table<V>): void {
    if (this.#indexes.length < known.#indexes.length) this.#catchUp(known);
    const there = known.rowOf(key);
    const filed = new Array<readonly string[]>(this.#indexes.length);
    for (let i = 0; i < filed.length; i++) filed[i] = known.#valuesFor(i, there, value);
    this.#put(key, this.rowOf(key), value, filed);
  }

  /** Removes a key whose row is `row`. */
  delete(key: string, row: number): void {
    this.#rows.delete(key);
    for (const index of this.#indexes) index.unfile(row);
    this.#values[row] = undefined as V;
    if (this.sizeOf !== undefined) this.#count(row, 0);
    this.#free.push(row);
    if (this.#free.length > FEW_ROWS && this.#free.length > this.#rows.size) this.#shrink();
  }

  /** Adds indexes and files all rows in them. If an index function throws, nothing changes. */
  addIndexes(definitions: readonly IndexDefinition<V>[]): void {
    const added = definitions.map((definition) => new Index(definition, this.#values.length));
    this.#file(added, (index, _, row) => index.valuesFor(this.#values[row]));
    this.#add(added);
    this.#complete = this.#indexes.length;
  }

  /** Files the values that were staged before `known` had its latest indexes. Throws what an index function throws. */
  complete(known: Table<V>): void {
    this.#catchUp(known);
    const first = this.#complete;
    this.#file(this.#indexes.slice(first), (index, key, row, i) => {
      if (index.isFiled(row)) return index.filed(row);
      return known.#valuesFor(first + i, known.rowOf(key), this.#values[row]);
    });
  }

  #catchUp(known: Table<V>): void {
    const later = known.#indexes.slice(this.#indexes.length);
    this.#add(later.map((definition) => new Index(definition, this.#values.length)));
  }

  #add(indexes: readonly Index<V>[]): void {
    this.#indexes.push(...indexes);
    this.#allByKey = this.#indexes.every((index) => index.byKey);
  }

  /** Files all rows in some indexes. All index values are computed before any row is filed. */
  #file(
    indexes: readonly Index<V>[],
    valuesFor: (index: Index<V>, key: string, row: number, number: number) => readonly string[],
  ): void {
    if (indexes.length === 0) return;
    const rows = [...this.#rows];
    const filed = rows.map(([key, row]) => indexes.map((index, i) => valuesFor(index, key, row, i)));
    rows.forEach(([, row], n) => indexes.forEach((index, i) => index.file(row, filed[n][i])));
  }

  /** The index values, in the index of a number, of a value whose key has this row here. */
  #valuesFor(number: number, row: number, value: V): readonly string[] {
    const index = this.#indexes[number];
    if (row === NO_ROW) return index.valuesFor(value);
    const filed = index.filed(row);
    return this.#values[row] === value ? filed : index.valuesFor(value, filed);
  }

  #put(key: string, row: number, value: V, filed: readonly (readonly string[])[]): number {
    if (row === NO_ROW) {
      row = this.#free.pop() ?? this.#values.length;
      this.#rows.set(key, row);
    }
    this.#values[row] = value;
    if (this.sizeOf !== undefined) this.#count(row, this.sizeOf(value));
    for (let i = 0; i < filed.length; i++) this.#indexes[i].file(row, filed[i]);
    return row;
  }

  #count(row: number, size: number): void {
    this.#bytes += size - (this.#sizes[row] ?? 0);
    this.#sizes[row] = size;
  }

  /** Removes the free rows, so that a table that was large once does not stay so. */
  #shrink(): void {
    const from = [...this.#rows.values()];
    let row = 0;
    for (const key of this.#rows.keys()) this.#rows.set(key, row++);
    this.#values = from.map((row) => this.#values[row]);
    if (this.sizeOf !== undefined) this.#sizes = from.map((row) => this.#sizes[row]);
    this.#free = [];
    for (const index of this.#indexes) index.renumber(from);
  }
}

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
    this.#staged = new Table(known().indexes, known().sizeOf);
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
