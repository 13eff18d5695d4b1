/**
 * One index of a store: rows by index value.
 *
 * {@linkcode Index} is the entry point. It remembers how each row is filed, and touches only the buckets that gain or
 * lose a row. The rows' values and keys are in `table.ts`.
 *
 * @module
 */

/** Returns the index values under which a value is filed. You may return an empty array. */
export type IndexFunction<V> = (value: V) => readonly string[];

/** The definition of an {@linkcode Index}. */
export interface IndexDefinition<V> {
  /** Computes the index values. */
  readonly valuesOf: IndexFunction<V>;
  /** The index values depend only on the key: they are computed once per key, and never change. */
  readonly byKey: boolean;
}

/** About the bytes of a row under its one index value, of one under each of several, and of an index value. */
const [ROW_BYTES, SHARED_ROW_BYTES, BUCKET_BYTES] = [20, 65, 300];

/** The index values of a row that has none. */
export const NO_VALUES: readonly string[] = [];
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
  /** Only the index value: the array of all rows that have no other value, so that each needs none of its own. */
  readonly alone: readonly string[];
}

const NO_BUCKET: Bucket = { number: 0, rows: [], others: undefined, alone: NO_VALUES };

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

  /** About the bytes that the index holds, without its functions. */
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
