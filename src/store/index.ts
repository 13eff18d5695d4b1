/** Under which values a thing is filed; none is fine. */
export type IndexFunction<V> = (value: V) => readonly string[];

/** Index functions by the name of their index. */
export type Indexers<V, Name extends string = string> = Readonly<Record<Name, IndexFunction<V>>>;

/** What an index is to be. */
export interface IndexDefinition<V> {
  /** Computes the values. */
  readonly valuesOf: IndexFunction<V>;
  /** Whether the values depend on the key alone, so that they are computed once per key, and are never changed. */
  readonly byKey: boolean;
}

const NO_ROWS: ReadonlyMap<string, number> = new Map<string, number>();
const NO_VALUES: readonly string[] = [];
/** What a row is filed under that nobody has filed yet. */
const NOT_FILED: readonly string[] = [];

/** One index: buckets of rows by value. A row is where a table keeps a value; an update of the value leaves it as it is. */
export class Index<V> implements IndexDefinition<V> {
  /** See {@linkcode IndexDefinition}. */
  readonly valuesOf: IndexFunction<V>;
  /** See {@linkcode IndexDefinition}. */
  readonly byKey: boolean;
  /** By row, what it is filed under: remembered, because what it holds could be changed in place. */
  #filed: (readonly string[])[];
  readonly #buckets = new Map<string, Map<string, number>>();

  /** One that files none of the `rows` there are. */
  constructor({ valuesOf, byKey }: IndexDefinition<V>, rows: number) {
    this.valuesOf = valuesOf;
    this.byKey = byKey;
    this.#filed = Array.from({ length: rows }, () => NOT_FILED);
  }

  /** The rows filed under `value`, by key. */
  bucket(value: string): ReadonlyMap<string, number> {
    return this.#buckets.get(value) ?? NO_ROWS;
  }

  /** Whether a row has been filed, if only under nothing. */
  isFiled(row: number): boolean {
    return this.#filed[row] !== NOT_FILED;
  }

  /** What a row is filed under. */
  filed(row: number): readonly string[] {
    return this.#filed[row];
  }

  /**
   * What `value` is to be filed under: `before`, if that is the same; else a copy, because the index function may hand out
   * a part of the value, which could be changed in place.
   */
  valuesFor(value: V, before: readonly string[] = NOT_FILED): readonly string[] {
    if (this.byKey) return before === NOT_FILED ? this.valuesOf(value) : before;
    const values = this.valuesOf(value);
    if (values.length === 0) return NO_VALUES;
    return sameValues(values, before) ? before : values.slice();
  }

  /** All values that something is filed under. */
  values(): string[] {
    return [...this.#buckets.keys()];
  }

  /** Files a row under `after`, touching only the buckets whose value comes or goes. It may be the next new one. */
  file(key: string, row: number, after: readonly string[]): void {
    if (row === this.#filed.length) this.#filed.push(NOT_FILED);
    const before = this.#filed[row];
    if (before === after) return;
    this.#filed[row] = after;
    if (before.length === 0) return this.#put(key, row, after);
    if (sameValues(before, after)) return;
    // mutant: index-keeps-old-value
    this.#take(key, before.filter((value) => !after.includes(value)));
    this.#put(key, row, after.filter((value) => !before.includes(value)));
  }

  /** Takes a row out of its buckets; empty ones go. */
  unfile(key: string, row: number): void {
    this.#take(key, this.#filed[row]);
    this.#filed[row] = NOT_FILED;
  }

  /** Rows have moved: `rows` says where each key is now, `from` where the new rows were before. */
  renumber(rows: ReadonlyMap<string, number>, from: readonly number[]): void {
    const filed = this.#filed;
    this.#filed = from.map((row) => filed[row]);
    for (const bucket of this.#buckets.values()) {
      for (const key of bucket.keys()) bucket.set(key, rows.get(key)!);
    }
  }

  #put(key: string, row: number, values: readonly string[]): void {
    for (const value of values) {
      const bucket = this.#buckets.get(value);
      if (bucket === undefined) this.#buckets.set(value, new Map([[key, row]]));
      else bucket.set(key, row);
    }
  }

  #take(key: string, values: readonly string[]): void {
    for (const value of values) {
      const bucket = this.#buckets.get(value);
      if (bucket !== undefined && bucket.delete(key) && bucket.size === 0) this.#buckets.delete(value);
    }
  }
}

function sameValues(a: readonly string[], b: readonly string[]): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
