/** Under which values a thing is filed; none is fine. */
export type IndexFunction<V> = (value: V) => readonly string[];

/** Index functions by the name of their index. */
export type Indexers<V, Name extends string = string> = Readonly<Record<Name, IndexFunction<V>>>;

/** Where a value is kept: shared by the store and all indexes, so that a change of value touches one place. */
export class Slot<V> {
  /** The key of the value. */
  readonly key: string;
  /** The value. */
  value: V;
  /** What it is filed under, by number of index; remembered, because the value could be changed in place. */
  filed: (readonly string[])[];
  /** Whether a replacement has staged it too: the next change of the key then needs a slot of its own. */
  staged = false;

  /** A slot that is filed nowhere yet. */
  constructor(key: string, value: V, filed: (readonly string[])[]) {
    this.key = key;
    this.value = value;
    this.filed = filed;
  }
}

const NO_SLOTS: ReadonlyMap<string, never> = new Map<string, never>();
const NO_VALUES: readonly string[] = [];

/** One index: buckets of slots by value. */
export class Index<V> {
  /** Computes the values. */
  readonly valuesOf: IndexFunction<V>;
  /** Whether the values depend on the key alone, so that they are computed once per key, and are never changed. */
  readonly byKey: boolean;
  readonly #buckets = new Map<string, Map<string, Slot<V>>>();

  /** An empty index. */
  constructor(valuesOf: IndexFunction<V>, byKey = false) {
    this.valuesOf = valuesOf;
    this.byKey = byKey;
  }

  /** The slots filed under `value`, by key. */
  bucket(value: string): ReadonlyMap<string, Slot<V>> {
    return this.#buckets.get(value) ?? NO_SLOTS;
  }

  /**
   * What `value` is to be filed under: `before`, if that is the same; else a copy, because the index function may hand out
   * a part of the value, which could be changed in place.
   */
  valuesFor(value: V, before: readonly string[] = NO_VALUES): readonly string[] {
    if (this.byKey) return before === NO_VALUES ? this.valuesOf(value) : before;
    const values = this.valuesOf(value);
    return sameValues(values, before) ? before : values.slice();
  }

  /** All values that something is filed under. */
  values(): string[] {
    return [...this.#buckets.keys()];
  }

  /** Files a slot under `values`. */
  file(slot: Slot<V>, values: readonly string[]): void {
    for (const value of values) {
      const bucket = this.#buckets.get(value);
      if (bucket === undefined) this.#buckets.set(value, new Map([[slot.key, slot]]));
      else bucket.set(slot.key, slot);
    }
  }

  /** Takes a key out of the buckets of `values`; empty ones go. */
  unfile(key: string, values: readonly string[]): void {
    for (const value of values) {
      const bucket = this.#buckets.get(value);
      if (bucket !== undefined && bucket.delete(key) && bucket.size === 0) this.#buckets.delete(value);
    }
  }

  /** Files a slot anew, touching only the buckets whose value comes or goes. */
  refile(slot: Slot<V>, before: readonly string[], after: readonly string[]): void {
    if (sameValues(before, after)) return;
    this.unfile(slot.key, before.filter((value) => !after.includes(value)));
    this.file(slot, after.filter((value) => !before.includes(value)));
  }
}

function sameValues(a: readonly string[], b: readonly string[]): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
