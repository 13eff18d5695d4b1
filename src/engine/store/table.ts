/**
 * The contents of a store: values by key, in rows, and the indexes over these rows.
 *
 * {@linkcode Table} is the entry point. A `StoreReplacement` stages a table of its own, and its commit swaps the two.
 * One index is in `value_index.ts`, and users read and write through `indexer.ts`.
 *
 * @module
 */
import { Index, type IndexDefinition } from "./value_index.ts";

/** The row of a key without a value. */
export const NO_ROW = -1;

/** Up to so many free rows are kept for later keys. */
const FEW_ROWS = 1024;

/**
 * Values by key, each in a row: one place whose number the look-up by key and all indexes hold, so an update that keeps
 * its index values changes only that place. Free rows are used again.
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
  /** The numbers of the indexes that were removed, in order: one array of all tables of a store. */
  readonly #removed: number[];
  /** The number of removals that this table has repeated. */
  #applied: number;
  /** Returns the bytes of a value; `undefined` if they are not counted. */
  readonly sizeOf: ((value: V) => number) | undefined;
  /** `#sizes[row]` has what `sizeOf` returned as the value was stored, or since then; 0 if the row is free. */
  #sizes: number[] = [];
  /** `#bytes` is the sum of `#sizes`. */
  #bytes = 0;

  /**
   * An empty table with these indexes. It counts the bytes of its values where `sizeOf` is given. With `known`, it is
   * to replace that table.
   */
  constructor(definitions: readonly IndexDefinition<V>[], sizeOf?: (value: V) => number, known?: Table<V>) {
    this.sizeOf = sizeOf;
    this.#removed = known === undefined ? [] : known.#removed;
    this.#applied = this.#removed.length;
    this.addIndexes(definitions);
  }

  /** The bytes of the values, as they were last counted, and of the indexes; 0 if they are not counted. */
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
    if (this.#indexes.length !== known.#indexes.length || this.#applied !== known.#applied) this.#catchUp(known);
    const there = known.rowOf(key);
    const filed = new Array<readonly string[]>(this.#indexes.length);
    for (let i = 0; i < filed.length; i++) filed[i] = known.#valuesFor(i, there, value);
    this.#put(key, this.rowOf(key), value, filed);
  }

  /** Counts the value of a key again. */
  resized(key: string): void {
    const row = this.rowOf(key);
    if (row !== NO_ROW && this.sizeOf !== undefined) this.#count(row, this.sizeOf(this.#values[row]));
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

  /** Removes the index of a number, here and in tables that are to replace this one. */
  removeIndex(number: number): void {
    this.#removed.push(number);
    this.#repeatRemovals();
  }

  #repeatRemovals(): void {
    while (this.#applied < this.#removed.length) {
      const number = this.#removed[this.#applied++];
      this.#indexes.splice(number, 1); // none, if the index came after the values of this table
      if (number < this.#complete) this.#complete--;
    }
    this.#allByKey = this.#indexes.every((index) => index.byKey);
  }

  #catchUp(known: Table<V>): void {
    this.#repeatRemovals();
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
