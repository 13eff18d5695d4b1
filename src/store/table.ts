import { Index, type IndexDefinition } from "./index.ts";

/** The key has no value, and so no row. */
export const NO_ROW = -1;

/** How many free rows are not worth giving up. */
const FEW_ROWS = 1024;

/**
 * Values by key, each in a row: one place that the look-up by key and all indexes point to by number, so that an update
 * changes that place alone. A row that has become free is used again.
 */
export class Table<V> {
  readonly #rows = new Map<string, number>();
  #values: V[] = [];
  #free: number[] = [];
  readonly #indexes: Index<V>[] = [];
  #allByKey = true;
  /** How many of the indexes have seen all values; those behind them have seen what was staged since. */
  #complete = 0;

  /** An empty one with these indexes. */
  constructor(definitions: readonly IndexDefinition<V>[]) {
    this.addIndexes(definitions);
  }

  /** How many values there are. */
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

  /** The values of rows by key. Spreading a Map and following that up is several times faster than stepping through it. */
  list(rows: ReadonlyMap<string, number> = this.#rows): V[] {
    const list: unknown[] = [...rows.values()];
    for (let i = 0; i < list.length; i++) list[i] = this.#values[list[i] as number];
    return list as V[];
  }

  /** All values; what changes meanwhile is seen. */
  *[Symbol.iterator](): IterableIterator<V> {
    for (const row of this.#rows.values()) yield this.#values[row];
  }

  /**
   * Stores a value, and returns its row; which row the key has is known already. What an index function throws is thrown,
   * and nothing has changed then.
   */
  set(key: string, row: number, value: V): number {
    if (row !== NO_ROW && this.#allByKey) {
      this.#values[row] = value;
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
   * Stores a value of a whole that is to replace `known`, in which it may be already: what it is filed under there is not
   * computed again. What an index function throws is thrown, and nothing has changed then.
   */
  stage(key: string, value: V, known: Table<V>): void {
    if (this.#indexes.length < known.#indexes.length) this.#catchUp(known);
    const there = known.rowOf(key);
    const filed = new Array<readonly string[]>(this.#indexes.length);
    for (let i = 0; i < filed.length; i++) filed[i] = known.#valuesFor(i, there, value);
    this.#put(key, this.rowOf(key), value, filed);
  }

  /** Removes a key; which row it has is known already. */
  delete(key: string, row: number): void {
    this.#rows.delete(key);
    // mutant: index-keeps-deleted-key
    for (const index of this.#indexes) index.unfile(key, row);
    this.#values[row] = undefined as V;
    this.#free.push(row);
    if (this.#free.length > FEW_ROWS && this.#free.length > this.#rows.size) this.#shrink();
  }

  /** Adds indexes, and files what is there. What an index function throws is thrown, and nothing has changed then. */
  addIndexes(definitions: readonly IndexDefinition<V>[]): void {
    const added = definitions.map((definition) => new Index(definition, this.#values.length));
    this.#file(added, (index, _, row) => index.valuesFor(this.#values[row]));
    this.#add(added);
    this.#complete = this.#indexes.length;
  }

  /** Files what was staged before `known` had its latest indexes. Throws what their functions throw. */
  complete(known: Table<V>): void {
    this.#catchUp(known);
    const first = this.#complete;
    this.#file(this.#indexes.slice(first), (index, key, row, i) => {
      if (index.isFiled(row)) return index.filed(row);
      return known.#valuesFor(first + i, known.rowOf(key), this.#values[row]);
    });
    this.#complete = this.#indexes.length;
  }

  #catchUp(known: Table<V>): void {
    const later = known.#indexes.slice(this.#indexes.length);
    this.#add(later.map((definition) => new Index(definition, this.#values.length)));
  }

  #add(indexes: readonly Index<V>[]): void {
    this.#indexes.push(...indexes);
    this.#allByKey = this.#indexes.every((index) => index.byKey);
  }

  /** Files all rows in some indexes; everything is computed before anything is filed. */
  #file(
    indexes: readonly Index<V>[],
    valuesFor: (index: Index<V>, key: string, row: number, number: number) => readonly string[],
  ): void {
    if (indexes.length === 0) return;
    const rows = [...this.#rows];
    const filed = rows.map(([key, row]) => indexes.map((index, i) => valuesFor(index, key, row, i)));
    rows.forEach(([key, row], n) => indexes.forEach((index, i) => index.file(key, row, filed[n][i])));
  }

  /** What an index of this number is to file a value under whose key has this row here. */
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
    for (let i = 0; i < filed.length; i++) this.#indexes[i].file(key, row, filed[i]);
    return row;
  }

  /** Gives up the free rows: what a table has been is not what it weighs for ever. */
  #shrink(): void {
    const from = [...this.#rows.values()];
    let row = 0;
    for (const key of this.#rows.keys()) this.#rows.set(key, row++);
    this.#values = from.map((row) => this.#values[row]);
    this.#free = [];
    for (const index of this.#indexes) index.renumber(this.#rows, from);
  }
}
