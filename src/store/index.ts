/** Returns the index values of a value: the names under which the index files it. An empty array is allowed. */
export type IndexFunction<V> = (value: V) => readonly string[];

/** Index functions by the name of their index. */
export type Indexers<V, Name extends string = string> = Readonly<Record<Name, IndexFunction<V>>>;

/** The definition of an {@linkcode Index}. */
export interface IndexDefinition<V> {
  /** Computes the index values. */
  readonly valuesOf: IndexFunction<V>;
  /** The index values depend on the key alone: they are computed once per key, and never change. */
  readonly byKey: boolean;
}

/** About the bytes of a row under an index value, and of an index value that has a row. */
const [ROW_BYTES, BUCKET_BYTES] = [40, 380];

const NO_ROWS: ReadonlySet<number> = new Set<number>();
const NO_VALUES: readonly string[] = [];
/** The index values of a row that has not been filed; compared by identity. */
const NOT_FILED: readonly string[] = [];

/** The rows under one index value. */
interface Bucket {
  /** Their numbers; not empty. */
  rows: Set<number>;
  /** The index value alone: the array of all rows that have no other value, so that each needs none of its own. */
  readonly alone: readonly string[];
}

/**
 * One index: buckets of rows by index value. A row is the place of a value in a table, and stays when the value
 * changes.
 */
export class Index<V> implements IndexDefinition<V> {
  /** See {@linkcode IndexDefinition}. */
  readonly valuesOf: IndexFunction<V>;
  /** See {@linkcode IndexDefinition}. */
  readonly byKey: boolean;
  /**
   * `#filed[row]` has the index values of a filed row, remembered because a value can change in place; else
   * `NOT_FILED`.
   */
  #filed: (readonly string[])[];
  /** `#buckets` has, under each index value in some `#filed[row]`, the number of that row. */
  readonly #buckets = new Map<string, Bucket>();
  /** `#filings` is the number of index values in all of `#filed`. */
  #filings = 0;

  /** An index of a table of `rows` rows, none of which is filed. */
  constructor({ valuesOf, byKey }: IndexDefinition<V>, rows: number) {
    this.valuesOf = valuesOf;
    this.byKey = byKey;
    this.#filed = Array.from({ length: rows }, () => NOT_FILED);
  }

  /** About the bytes that the index holds, beside its functions. */
  get bytes(): number {
    return this.#filings * ROW_BYTES + this.#buckets.size * BUCKET_BYTES;
  }

  /** The rows with an index value. */
  bucket(value: string): ReadonlySet<number> {
    return this.#buckets.get(value)?.rows ?? NO_ROWS;
  }

  /** The row has been filed, if only under no index value. */
  isFiled(row: number): boolean {
    return this.#filed[row] !== NOT_FILED;
  }

  /** The index values of a row. */
  filed(row: number): readonly string[] {
    return this.#filed[row];
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
    if (row === this.#filed.length) this.#filed.push(NOT_FILED);
    const before = this.#filed[row];
    if (before === after) return; // survives: unchanged-index
    this.#filed[row] = after;
    this.#filings += after.length - before.length;
    if (before.length === 0) this.#put(row, after);
    else {
      // mutant: index-keeps-old-value
      this.#take(row, without(before, after));
      this.#put(row, without(after, before));
    }
    if (after.length === 1) this.#filed[row] = this.#buckets.get(after[0])!.alone; // survives: shared-values
  }

  /** Removes a row from its buckets. */
  unfile(row: number): void {
    this.#filings -= this.#filed[row].length;
    this.#take(row, this.#filed[row]);
    this.#filed[row] = NOT_FILED;
  }

  /** Renumbers all rows: `from` has the old row of each new one. */
  renumber(from: readonly number[]): void {
    const filed = this.#filed;
    this.#filed = from.map((row) => filed[row]);
    const to = new Int32Array(filed.length);
    from.forEach((before, row) => to[before] = row);
    for (const bucket of this.#buckets.values()) bucket.rows = new Set(Array.from(bucket.rows, (row) => to[row]));
  }

  #put(row: number, values: readonly string[]): void {
    for (const value of values) {
      const bucket = this.#buckets.get(value);
      if (bucket !== undefined) bucket.rows.add(row);
      else this.#buckets.set(value, { rows: new Set([row]), alone: values.length === 1 ? values : [value] });
    }
  }

  #take(row: number, values: readonly string[]): void {
    for (const value of values) {
      const bucket = this.#buckets.get(value);
      if (bucket?.rows.delete(row) && bucket.rows.size === 0) this.#buckets.delete(value);
    }
  }
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
