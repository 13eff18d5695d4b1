/**
 * The queue between a reflector and a store.
 *
 * Entry point: {@linkcode DeltaFIFO}. It collects the changes of each key until a consumer pops them, and turns a list into
 * deletions and replacements of what the consumer knows. It does not store values beyond their pop, does not call the
 * consumer by itself, and knows nothing of Kubernetes: a `Controller` drains it.
 *
 * @module
 */
import type { Delta, DeltaFIFOOptions, Deltas } from "./delta.ts";
import { PendingKeys } from "./pending_keys.ts";
import { QueueReplacement } from "./replacement.ts";

/**
 * Orders changes per key, and turns a list into deletions and replacements.
 *
 * - A key is queued once, in the order of its first change. Later changes of a queued key are appended, oldest first. Two
 *   deletions in a row become one.
 * - A replacement is staged value by value and committed in one step: first the deletions of what is known or queued and is
 *   not part of it, then its values in their order.
 * - It has synced once the first replacement has been popped *and processed* to the last key.
 *
 * (client-go `tools/cache/delta_fifo.go`, with the later RealFIFO's order of a replacement and its counting after
 * processing.)
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
  /** `#initialLeft` is the number of keys, among those queued when the first replacement was committed, still to process. */
  #initialLeft = 0;
  /** `#closed` is true if and only if {@linkcode close} was called: every write throws. */
  #closed = false;

  /** An empty queue that has not synced. */
  constructor(options: DeltaFIFOOptions<V>) {
    this.#options = options;
  }

  /** The number of queued keys. */
  get size(): number {
    return this.#items.size;
  }

  /** The first replacement has been processed. `true` at once if another change came first, or the replacement was empty. */
  get hasSynced(): boolean {
    return this.#populated && this.#initialLeft === 0;
  }

  /** Queues an `Added`. */
  add(value: V): void {
    this.#upsert("Added", value);
  }

  /** Queues an `Updated`. */
  update(value: V): void {
    this.#upsert("Updated", value);
  }

  /** Queues a `Deleted`, unless the key is neither queued nor known. */
  delete(value: V): void {
    this.#open("delete from");
    const { keyOf, knownObjects, transform } = this.#options;
    const taken = transform === undefined ? value : transform(value);
    const key = keyOf(taken);
    this.#populated = true;
    if (!this.#items.has(key) && knownObjects.getByKey(key) === undefined) return;
    this.#items.append(key, { type: "Deleted", value: taken, finalStateUnknown: false });
  }

  /** Queues a `Deleted` of a known value whose final state is unknown. It is not transformed. */
  lose(value: V): void {
    this.#open("delete from");
    this.#populated = true;
    this.#items.append(this.#options.keyOf(value), { type: "Deleted", value, finalStateUnknown: true });
  }

  /** Begins a replacement of everything. Nothing changes before it is committed. */
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

  /** Queues a `Sync` for each known key that is not queued already. */
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
   * Passes the oldest key's deltas to `process`, in this turn. Returns `false` if the queue is empty.
   *
   * An error that `process` throws is thrown. The deltas are gone then, and count as processed.
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

  /**
   * Queues a change, then pops everything: the same as a write and one {@linkcode pop} after the other. A change that
   * nothing waits before is passed on without being queued, which is the path of every event of a watch.
   *
   * @throws whatever `process` throws; changes behind it stay queued.
   */
  pass(type: "Added" | "Updated" | "Deleted", value: V, process: (deltas: Deltas<V>) => void): void {
    if (this.#items.size > 0) {
      if (type === "Deleted") this.delete(value);
      else this.#upsert(type, value);
      while (this.pop(process));
      return;
    }
    this.#open(type === "Deleted" ? "delete from" : "add to");
    const { keyOf, knownObjects, transform } = this.#options;
    const taken = transform === undefined ? value : transform(value);
    const key = keyOf(taken);
    this.#populated = true;
    // mutant: version-before-batch
    if (type !== "Deleted") return process({ key, deltas: [{ type, value: taken }], initial: !this.hasSynced });
    if (knownObjects.getByKey(key) === undefined) return;
    const delta = { type, value: taken, finalStateUnknown: false };
    process({ key, deltas: [delta], initial: !this.hasSynced });
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
