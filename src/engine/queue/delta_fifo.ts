/**
 * The queue between a reflector and a store.
 *
 * Entry point: {@linkcode DeltaFIFO}. It collects the changes of each key until a consumer pops them, and turns a list
 * into deletions and replacements of what the consumer knows. It does not store values beyond their pop, does not call
 * the consumer by itself, and knows nothing of Kubernetes: a `Controller` drains it.
 *
 * @module
 */
import { checkNames } from "../errors/option_names.ts";

/** One change to a value. */
export type Delta<V> =
  | {
    /** The value is new, changed, part of a replacement, or delivered again by a resync. */
    readonly type: "Added" | "Updated" | "Replaced" | "Sync";
    /** The state after the change. */
    readonly value: V;
  }
  | {
    /** The value was deleted. */
    readonly type: "Deleted";
    /** The last known state. */
    readonly value: V;
    /** `true` if a replacement found the deletion (a tombstone). `value` may then not be the last state. */
    readonly finalStateUnknown: boolean;
  };

/** All changes for one key since it was last popped, oldest first. */
export interface Deltas<V> {
  /** The key. */
  readonly key: string;
  /** At least one change. */
  readonly deltas: readonly [Delta<V>, ...Delta<V>[]];
  /** `true` while the first replacement has not been processed. */
  readonly initial: boolean;
}

/** The values that your queue's consumer knows. A replacement reads them to find deletions. */
export interface KnownObjects<V> {
  /** All keys. */
  keys(): Iterable<string>;
  /** Returns the value for a key. */
  getByKey(key: string): V | undefined;
  /** The number of values. */
  readonly size?: number;
  /**
   * A number that differs after every change. With `revision` and `size`, committing a replacement costs as much as it
   * changes, unless a value changed while the replacement was staged. Without them, it costs as much as there are
   * values.
   */
  readonly revision?: number;
}

/** Options for a {@linkcode DeltaFIFO}. */
export interface DeltaFIFOOptions<V> {
  /** Returns a value's key. */
  readonly keyOf: (value: V) => string;
  /** The values that the queue's consumer knows, usually the store that it fills. */
  readonly knownObjects: KnownObjects<V>;
  /**
   * Returns `true` if two values are the same version of the same thing. A replacement then keeps the known value and
   * queues nothing. By default, never.
   */
  readonly same?: (known: V, value: V) => boolean;
  /**
   * Applied once to each incoming value, unless a replacement keeps the known value. If it throws, nothing is queued.
   */
  readonly transform?: (value: V) => V;
  /**
   * Returns the bytes that a value holds. Called when a replacement stages an unknown value. By default, bytes are not
   * counted.
   */
  readonly sizeOf?: (value: V) => number;
  /**
   * If `true`, a replacement queues `Replaced` deltas. If `false`, `Sync` deltas, like client-go's first queues.
   *
   * @default {true}
   */
  readonly emitReplaced?: boolean;
}

/** Up to so many keys are searched one by one, which is faster than a Map that they enter and leave. */
const FEW = 4;

/** Up to this many keys that have left stay in the arrays. */
const MANY = 1_024;

/** The keys of a queue and the deltas of each, in the order in which keys were added. */
class PendingKeys<V> {
  /** `#keys` has the pending keys from `#head` on, oldest first; before `#head`, keys that have left. */
  readonly #keys: string[] = [];
  /** `#deltas[i]` has the deltas of `#keys[i]`; `undefined` if and only if the key has left (i < `#head`). */
  readonly #deltas: (Delta<V>[] | undefined)[] = [];
  /** `#head` is the index of the oldest key; the arrays' length if nothing is pending, and both are 0 then. */
  #head = 0;
  /**
   * `#places` has `#base` + the last index of each pending key. It is defined from a look-up among more than
   * {@linkcode FEW} keys until nothing is pending.
   */
  #places: Map<string, number> | undefined;
  /**
   * `#base` is the number of keys that have been removed from the front of the arrays since the queue was last empty.
   */
  #base = 0;

  /** The number of pending keys. */
  get size(): number {
    return this.#keys.length - this.#head;
  }

  /** The deltas of a pending key, oldest first. */
  get(key: string): readonly Delta<V>[] | undefined {
    return this.#find(key);
  }

  /** The key is pending. */
  has(key: string): boolean {
    return this.#find(key) !== undefined;
  }

  /** Adds a key that is not pending. */
  add(key: string, delta: Delta<V>): void {
    this.#keys.push(key);
    this.#deltas.push([delta]);
    this.#places?.set(key, this.#base + this.#keys.length - 1);
  }

  /**
   * Appends a delta to those of its key, pending or not. Of two deletions in a row, one that saw the final state is
   * kept.
   */
  append(key: string, delta: Delta<V>): void {
    const deltas = this.#find(key);
    if (deltas === undefined) return this.add(key, delta);
    const last = deltas[deltas.length - 1];
    if (last.type !== "Deleted" || delta.type !== "Deleted") {
      deltas.push(delta);
    } else if (last.finalStateUnknown && !delta.finalStateUnknown) deltas[deltas.length - 1] = delta;
  }

  /** The oldest pending key. */
  get oldest(): string | undefined {
    return this.size === 0 ? undefined : this.#keys[this.#head];
  }

  /** Removes the oldest key and returns its deltas. Call it only while a key is pending. */
  shift(): Delta<V>[] {
    const deltas = this.#deltas[this.#head]!;
    this.#deltas[this.#head++] = undefined;
    // Its place in the Map is dropped with all others later: a Map that keys leave one by one is rebuilt again and
    // again.
    if (this.#head === this.#keys.length) this.#clear();
    else if (this.#head >= MANY && 2 * this.#head >= this.#keys.length) this.#compact();
    return deltas;
  }

  /** All pending keys and their deltas, oldest key first. */
  *[Symbol.iterator](): IterableIterator<[string, readonly Delta<V>[]]> {
    for (let i = this.#head; i < this.#keys.length; i++) yield [this.#keys[i], this.#deltas[i]!];
  }

  #find(key: string): Delta<V>[] | undefined {
    if (this.#places === undefined && this.size > FEW) this.#places = this.#allPlaces();
    if (this.#places !== undefined) {
      const place = this.#places.get(key);
      // The Map may still have the place of a key that has left: it lies before the oldest.
      return place === undefined ? undefined : this.#deltas[place - this.#base];
    }
    for (let i = this.#head; i < this.#keys.length; i++) if (this.#keys[i] === key) return this.#deltas[i];
  }

  #allPlaces(): Map<string, number> {
    const places = new Map<string, number>();
    for (let i = this.#head; i < this.#keys.length; i++) places.set(this.#keys[i], this.#base + i);
    return places;
  }

  #clear(): void {
    this.#keys.length = this.#deltas.length = 0;
    this.#head = this.#base = 0;
    this.#places = undefined;
  }

  /** Removes keys that have left from the arrays and the Map, so that a queue that never runs empty does not grow. */
  #compact(): void {
    if (this.#places !== undefined) {
      for (let i = 0; i < this.#head; i++) {
        // The Map has a later place if the key is pending again.
        if (this.#places.get(this.#keys[i]) === this.#base + i) this.#places.delete(this.#keys[i]);
      }
    }
    this.#keys.splice(0, this.#head);
    this.#deltas.splice(0, this.#head);
    this.#base += this.#head;
    this.#head = 0;
  }
}

/**
 * Replaces everything in a `DeltaFIFO`. You stage values, and the commit queues only the differences from the known and
 * queued values. Values are compared while you stage them, so a commit costs as much as it changes.
 */
export class QueueReplacement<V> {
  readonly #options: DeltaFIFOOptions<V>;
  readonly #commit: (enqueue: (pending: PendingKeys<V>) => void) => void;
  /**
   * `#values` has a key if and only if the key was staged and not taken back since; in the order in which keys came.
   */
  readonly #values = new Map<string, V>();
  /**
   * `#changed` has those of `#values` that differed from the known value when they were staged; nothing without `same`.
   */
  readonly #changed = new Map<string, V>();
  /** `knownObjects.revision` when the staging began. */
  readonly #revision: number | undefined;
  /**
   * `#repeated` is true if and only if a key was staged while staged already: `#changed` may lack the order of
   * `#values`.
   */
  #repeated = false;
  /** `#bytes` is the sum of `sizeOf`, of all values that were staged and not known. */
  #bytes = 0;
  /** `#over` is true if and only if the replacement was committed or abandoned. */
  #over = false;

  /**
   * Created by `DeltaFIFO.replacing()`. `commit` receives the function that adds the deltas to the queue's pending
   * keys.
   */
  constructor(options: DeltaFIFOOptions<V>, commit: (enqueue: (pending: PendingKeys<V>) => void) => void) {
    this.#options = options;
    this.#commit = commit;
    this.#revision = options.knownObjects.revision;
  }

  /** The bytes of the staged values that are not known, if they are counted. `delete()` does not lower it. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Stages values. If two have the same key, the later one counts. A known value replaces an equal
   * staged value.
   */
  add(values: readonly V[]): void {
    this.#check("add to");
    for (const value of values) this.#add(value);
  }

  /** Removes a staged value. */
  delete(value: V): void {
    this.#check("delete from");
    const { keyOf, transform } = this.#options;
    const key = keyOf(transform === undefined ? value : transform(value));
    this.#values.delete(key);
    this.#changed.delete(key);
  }

  /** Queues the deletions, then the staged values that differ, in one step. The queue does not use the version. */
  commit(_resourceVersion: string): void {
    this.#check("commit");
    this.#over = true;
    this.#commit((pending) => this.#enqueue(pending));
  }

  /** Drops the staged values. The queue stays as it is. */
  abandon(): void {
    this.#over = true;
    this.#values.clear();
    this.#changed.clear();
  }

  #add(value: V): void {
    const { keyOf, knownObjects, same, transform, sizeOf } = this.#options;
    if (same !== undefined) {
      const key = keyOf(value);
      const known = knownObjects.getByKey(key);
      if (known !== undefined && same(known, value)) return this.#stage(key, known);
    }
    const taken = transform === undefined ? value : transform(value);
    const key = keyOf(taken);
    this.#stage(key, taken);
    if (sizeOf !== undefined) this.#bytes += sizeOf(taken);
    if (same !== undefined) this.#changed.set(key, taken);
  }

  #stage(key: string, value: V): void {
    const before = this.#values.size;
    this.#values.set(key, value);
    if (this.#values.size === before) this.#repeated = true;
  }

  #enqueue(pending: PendingKeys<V>): void {
    const { knownObjects, same, emitReplaced = true } = this.#options;
    // Mostly nothing is pending. Then no key is looked up in the queue, which is half of the work on a large list.
    const queued = pending.size > 0;
    const changed = queued ? undefined : this.#stillChanged();
    this.#enqueueDeletions(pending, changed);
    const type = emitReplaced ? "Replaced" : "Sync";
    for (const [key, value] of changed ?? this.#values) {
      const last = queued ? pending.get(key)?.at(-1) : undefined;
      const known = last === undefined ? knownObjects.getByKey(key) : last.type === "Deleted" ? undefined : last.value;
      if (known !== undefined && same?.(known, value)) continue;
      if (last === undefined) pending.add(key, { type, value });
      else pending.append(key, { type, value });
    }
  }

  /** Adds the deletion of each value that is pending or known, and not staged. */
  #enqueueDeletions(pending: PendingKeys<V>, changed: ReadonlyMap<string, V> | undefined): void {
    const { knownObjects } = this.#options;
    for (const [key, deltas] of pending) {
      if (this.#values.has(key)) continue;
      pending.append(key, { type: "Deleted", value: deltas[deltas.length - 1].value, finalStateUnknown: true });
    }
    if (changed !== undefined && this.#coversKnown(changed)) return;
    const queued = pending.size > 0;
    for (const key of knownObjects.keys()) {
      if (this.#values.has(key) || (queued && pending.has(key))) continue;
      const value = knownObjects.getByKey(key);
      if (value !== undefined) pending.add(key, { type: "Deleted", value, finalStateUnknown: true });
    }
  }

  /** The staged values that differ from the known ones, if the comparisons made while staging still hold. */
  #stillChanged(): ReadonlyMap<string, V> | undefined {
    const { same, knownObjects: { size, revision } } = this.#options;
    const current = size !== undefined && revision !== undefined && revision === this.#revision;
    if (this.#repeated || !current) return undefined;
    return same === undefined ? this.#values : this.#changed;
  }

  /** Every known value is staged too: each staged value is known, or one of `changed` that is new. */
  #coversKnown(changed: ReadonlyMap<string, V>): boolean {
    const { knownObjects } = this.#options;
    let added = 0;
    for (const key of changed.keys()) if (knownObjects.getByKey(key) === undefined) added++;
    return this.#values.size - added === knownObjects.size;
  }

  #check(action: string): void {
    if (this.#over) throw new Error(`Cannot ${action} the replacement: it is over`);
  }
}

/**
 * Orders changes by key, and turns a list into deletions and replacements. Use it with a {@linkcode Controller}, if you
 * process changes with your own store.
 *
 * - A key is queued once, in the order of its first change. Later changes to a queued key are appended. Two deletions
 *   in a row become one.
 * - You stage a replacement value by value, and commit it in one step. Known or queued values that are missing from it
 *   come first, as deletions. Then its values follow in their order.
 * - It has synced when the first replacement has been popped *and processed*, to the last key.
 *
 * (client-go `tools/cache/delta_fifo.go`. As in its later RealFIFO, deletions come first, and keys count when they are
 * processed.)
 *
 * @example
 * ```ts
 * import { DeltaFIFO, Indexer } from "@kube/informer";
 * import { assertEquals } from "@std/assert";
 *
 * const keyOf = (word: string) => word[0];
 * const known = new Indexer<string>({ keyOf });
 * const queue = new DeltaFIFO<string>({ keyOf, knownObjects: known });
 * queue.add("ant");
 * queue.add("bee");
 * queue.update("ape");
 * const seen: string[] = [];
 * while (queue.pop(({ key, deltas }) => seen.push(`${key}:${deltas.map((delta) => delta.value)}`)));
 * assertEquals(seen, ["a:ant,ape", "b:bee"]);
 * ```
 */
export class DeltaFIFO<V> implements Disposable {
  readonly #options: DeltaFIFOOptions<V>;
  /** `#items` has a key if and only if the key has changes that have not been popped. */
  readonly #items = new PendingKeys<V>();
  /** `#populated` is true if and only if a value was added, updated or deleted, or a replacement committed. */
  #populated = false;
  /**
   * `#initialLeft` is the number of keys, among those queued when the first replacement was committed, still to
   * process.
   */
  #initialLeft = 0;
  /** `#closed` is true if and only if {@linkcode close} was called: every write throws. */
  #closed = false;

  /** Creates an empty queue that has not synced. */
  constructor(options: DeltaFIFOOptions<V>) {
    checkNames("create a queue", options, "keyOf knownObjects same transform sizeOf emitReplaced");
    this.#options = options;
  }

  /** The number of queued keys. */
  get size(): number {
    return this.#items.size;
  }

  /**
   * `true` once the first replacement has been processed. `true` immediately if another change came first, or the
   * replacement was empty.
   */
  get hasSynced(): boolean {
    return this.#populated && this.#initialLeft === 0;
  }

  /** Queues an `Added` delta. */
  add(value: V): void {
    this.#upsert("Added", value);
  }

  /** Queues an `Updated` delta. */
  update(value: V): void {
    this.#upsert("Updated", value);
  }

  /** Queues a `Deleted` delta, unless the key is neither queued nor known. */
  delete(value: V): void {
    this.#open("delete from");
    const { keyOf, knownObjects, transform } = this.#options;
    const taken = transform === undefined ? value : transform(value);
    const key = keyOf(taken);
    this.#populated = true;
    if (!this.#items.has(key) && knownObjects.getByKey(key) === undefined) return;
    this.#items.append(key, { type: "Deleted", value: taken, finalStateUnknown: false });
  }

  /** Queues a `Deleted` delta for a known value whose final state is unknown. The value is not transformed. */
  deleteUnknown(value: V): void {
    this.#open("delete from");
    this.#populated = true;
    this.#items.append(this.#options.keyOf(value), { type: "Deleted", value, finalStateUnknown: true });
  }

  /** Starts to replace everything. Nothing changes before the commit. */
  replacing(): QueueReplacement<V> {
    this.#open("replace");
    return new QueueReplacement<V>(this.#options, (enqueue) => this.#replace(enqueue));
  }

  /** Replaces everything in one step. */
  replace(values: readonly V[], resourceVersion: string): void {
    const replacement = this.replacing();
    replacement.add(values);
    replacement.commit(resourceVersion);
  }

  /** Queues a `Sync` delta for each known key that is not queued already. */
  resync(): void {
    this.#open("resync");
    const { knownObjects } = this.#options;
    for (const key of knownObjects.keys()) {
      if (this.#items.has(key)) continue;
      const value = knownObjects.getByKey(key);
      if (value !== undefined) this.#items.add(key, { type: "Sync", value });
    }
  }

  /**
   * Passes the oldest key's deltas to `process`, in this turn. Returns `false` if the queue is empty. If `process`
   * throws, you get its error. The deltas are gone then, and count as processed.
   */
  pop(process: (deltas: Deltas<V>) => void): boolean {
    const key = this.#items.oldest;
    if (key === undefined) return false;
    const deltas = this.#items.shift();
    const initial = !this.hasSynced;
    try {
      process({ key, deltas: deltas as [Delta<V>, ...Delta<V>[]], initial });
    } finally {
      if (this.#initialLeft > 0) this.#initialLeft--;
    }
    return true;
  }

  /** Refuses further writes. Queued keys can still be popped. */
  close(): void {
    this.#closed = true;
  }

  /** Calls {@linkcode close}. */
  [Symbol.dispose](): void {
    this.close();
  }

  #upsert(type: "Added" | "Updated", value: V): void {
    this.#open("add to");
    const { keyOf, transform } = this.#options;
    const taken = transform === undefined ? value : transform(value);
    const key = keyOf(taken);
    this.#populated = true;
    this.#items.append(key, { type, value: taken });
  }

  #replace(enqueue: (pending: PendingKeys<V>) => void): void {
    this.#open("replace");
    enqueue(this.#items);
    if (this.#populated) return;
    this.#populated = true;
    this.#initialLeft = this.#items.size;
  }

  #open(action: string): void {
    if (this.#closed) throw new Error(`Cannot ${action} the queue: it is closed`);
  }
}
