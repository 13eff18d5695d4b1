import { Index, type Indexers, type IndexFunction, Slot } from "./index.ts";

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
  #slots = new Map<string, Slot<V>>();
  readonly #indexes: Index<V>[] = [];
  readonly #names = new Map<string, Index<V>>();
  #allByKey = true;
  /** The key last looked up, or stored. */
  #lastKey: string | undefined;
  /** Its slot, if it has one. */
  #last: Slot<V> | undefined;

  /** An empty store. */
  constructor(options: IndexerOptions<V, Name>) {
    const { keyOf, indexers, byKey = [] } = options;
    this.#keyOf = keyOf;
    if (indexers !== undefined) this.#addIndexers(indexers, byKey);
  }

  /** How many values there are. */
  get size(): number {
    return this.#slots.size;
  }

  /** The stored value with the key of `value`. */
  get(value: V): V | undefined {
    return this.#slots.get(this.#keyOf(value))?.value;
  }

  /** The value of a key. */
  getByKey(key: string): V | undefined {
    return this.#slots.get(key)?.value;
  }

  /** As {@linkcode getByKey}, for who is about to change what is there: it will not be looked up again for that. */
  lookUp(key: string): V | undefined {
    const slot = this.#slotOf(key);
    this.#remember(key, slot);
    return slot?.value;
  }

  /** All keys. */
  keys(): IterableIterator<string> {
    return this.#slots.keys();
  }

  /** All values, in no particular order. The array is yours. */
  list(): V[] {
    return valuesOf(this.#slots);
  }

  /** The values filed under `value`, without looking at others. @throws {RangeError} when there is no such index. */
  byIndex(name: Name, value: string): V[] {
    return valuesOf(this.#index(name).bucket(value));
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
    const found = new Map<string, Slot<V>>();
    for (const under of index.valuesOf(value)) {
      for (const [key, slot] of index.bucket(under)) found.set(key, slot);
    }
    return valuesOf(found);
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
      if (this.#names.has(name)) throw new Error(`Cannot add index "${name}": there is one of that name already`);
    }
    const added = functions.map(([name, valuesOf]) => new Index<V>(valuesOf, byKey.includes(name)));
    const values = [...this.#slots.values()].map((slot) => added.map((index) => index.valuesFor(slot.value)));
    let row = 0;
    for (const slot of this.#slots.values()) {
      const filed = values[row++];
      slot.filed = [...slot.filed, ...filed];
      filed.forEach((under, i) => added[i].file(slot, under));
    }
    functions.forEach(([name], i) => this.#names.set(name, added[i]));
    this.#indexes.push(...added);
    this.#allByKey = this.#indexes.every((index) => index.byKey);
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
    const slot = this.#slotOf(key);
    if (slot !== undefined && this.#allByKey && !slot.staged) {
      slot.value = value;
      return;
    }
    const filed = this.#valuesOf(value, slot?.filed);
    if (slot === undefined || slot.staged) {
      if (slot !== undefined) this.#unfile(slot);
      const added = new Slot(key, value, filed);
      this.#slots.set(key, added);
      this.#remember(key, added);
      for (let i = 0; i < filed.length; i++) this.#indexes[i].file(added, filed[i]);
      return;
    }
    slot.value = value;
    for (let i = 0; i < filed.length; i++) this.#indexes[i].refile(slot, slot.filed[i], filed[i]);
    slot.filed = filed;
  }

  /** Removes the value with the key of `value`, if there is one. */
  delete(value: V): void {
    this.deleteByKey(this.#keyOf(value));
  }

  /** Removes the value of a key, if there is one. */
  deleteByKey(key: string): void {
    const slot = this.#slotOf(key);
    if (slot === undefined) return;
    this.#remember(undefined, undefined);
    this.#slots.delete(key);
    this.#unfile(slot);
  }

  /** Begins to replace everything; nothing changes before it is committed. Index values are computed as values are staged. */
  replacing(): StagedSlots<V> {
    return new StagedSlots<V>(
      (value) => {
        const key = this.#keyOf(value);
        const slot = this.#slots.get(key);
        if (slot === undefined || slot.value !== value) return new Slot(key, value, this.#valuesOf(value, slot?.filed));
        slot.staged = true;
        return slot;
      },
      this.#keyOf,
      (staged) => this.#replace(staged),
    );
  }

  /** Replaces everything in one step. Of two values with the same key the later counts. */
  replace(values: readonly V[], resourceVersion: string): void {
    const replacement = this.replacing();
    replacement.add(values);
    replacement.commit(resourceVersion);
  }

  /** All values, in no particular order. */
  *[Symbol.iterator](): IterableIterator<V> {
    for (const slot of this.#slots.values()) yield slot.value;
  }

  /** Who changes a key has mostly just looked it up: that answer is still at hand, also that there is nothing. */
  #slotOf(key: string): Slot<V> | undefined {
    return this.#lastKey === key ? this.#last : this.#slots.get(key);
  }

  #remember(key: string | undefined, slot: Slot<V> | undefined): void {
    this.#lastKey = key;
    this.#last = slot;
  }

  #valuesOf(value: V, before?: readonly (readonly string[])[]): (readonly string[])[] {
    const indexes = this.#indexes;
    const filed = new Array<readonly string[]>(indexes.length);
    for (let i = 0; i < indexes.length; i++) filed[i] = indexes[i].valuesFor(value, before?.[i]);
    return filed;
  }

  #unfile(slot: Slot<V>): void {
    for (let i = 0; i < slot.filed.length; i++) this.#indexes[i].unfile(slot.key, slot.filed[i]);
  }

  #replace(staged: Map<string, Slot<V>>): void {
    // An index added while the values were staged has not seen them. It may throw: so first of all.
    for (const slot of staged.values()) {
      if (slot.filed.length < this.#indexes.length) slot.filed = this.#valuesOf(slot.value);
    }
    for (const [key, slot] of this.#slots) if (staged.get(key) !== slot) this.#unfile(slot);
    for (const [key, slot] of staged) {
      if (this.#slots.get(key) === slot) continue;
      for (let i = 0; i < slot.filed.length; i++) this.#indexes[i].file(slot, slot.filed[i]);
    }
    this.#slots = staged;
    this.#remember(undefined, undefined);
  }

  #index(name: string): Index<V> {
    const index = this.#names.get(name);
    if (index !== undefined) return index;
    const names = [...this.#names.keys()].map((name) => `"${name}"`).join(", ");
    throw new RangeError(
      `Cannot look up index "${name}": there is none of that name; there are ${names || "no indexes"}`,
    );
  }
}

/** A new whole for an {@linkcode Indexer}, staged as it arrives, taken in one step. */
export class StagedSlots<V> {
  readonly #slotOf: (value: V) => Slot<V>;
  readonly #keyOf: (value: V) => string;
  readonly #take: (staged: Map<string, Slot<V>>) => void;
  #staged: Map<string, Slot<V>> | undefined = new Map();

  /** Made by {@linkcode Indexer.replacing}. */
  constructor(
    slotOf: (value: V) => Slot<V>,
    keyOf: (value: V) => string,
    take: (staged: Map<string, Slot<V>>) => void,
  ) {
    this.#slotOf = slotOf;
    this.#keyOf = keyOf;
    this.#take = take;
  }

  /** Stages values; of two with the same key the later counts. */
  add(values: readonly V[]): void {
    const staged = this.#open("add to");
    for (const value of values) {
      const slot = this.#slotOf(value);
      staged.set(slot.key, slot);
    }
  }

  /** Takes a staged value back. */
  delete(value: V): void {
    this.#open("delete from").delete(this.#keyOf(value));
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

  #open(action: string): Map<string, Slot<V>> {
    if (this.#staged === undefined) throw new Error(`Cannot ${action} the replacement: it is over`);
    return this.#staged;
  }
}

/** The values, by way of the slots: spreading them is several times faster than stepping through. */
function valuesOf<V>(slots: ReadonlyMap<string, Slot<V>>): V[] {
  const values: unknown[] = [...slots.values()];
  for (let i = 0; i < values.length; i++) values[i] = (values[i] as Slot<V>).value;
  return values as V[];
}
