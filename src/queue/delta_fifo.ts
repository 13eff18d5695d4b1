import type { Delta, Deltas, KnownObjects } from "./delta.ts";
import { Pending } from "./pending.ts";

/** How a queue files and compares its values. */
export interface DeltaFIFOOptions<V> {
  /** The key of a value. */
  readonly keyOf: (value: V) => string;
  /** What is known to those who pop: usually the store they fill. */
  readonly knownObjects: KnownObjects<V>;
  /** Whether two values are the same version of the same thing: a replacement then keeps the known one and tells nothing. @default {never} */
  readonly same?: (known: V, value: V) => boolean;
  /** Applied once to each value as it comes in, except to one that a replacement keeps. When it throws, nothing is queued. */
  readonly transform?: (value: V) => V;
  /** Whether a replacement's deltas are `Replaced`; else they are `Sync`, as in client-go's first queues. @default {true} */
  readonly emitReplaced?: boolean;
  /** Called by {@linkcode DeltaFIFO.flush}: the place to drain the queue. */
  readonly onFlush?: (resourceVersion: string) => void;
}

/**
 * Orders changes per key, and turns a relist into deletions and replacements. No Kubernetes in it.
 *
 * - A key waits once, in the order of its first change; what happens to it meanwhile is kept, oldest first. Two deletions
 *   in a row become one.
 * - A replacement is staged value by value and taken in one step: first the deletions of what is known or queued and is not
 *   part of it, then its values in their order.
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
  readonly #items = new Pending<V>();
  #populated = false;
  #initialLeft = 0;
  #closed = false;

  /** An empty queue, that has not synced. */
  constructor(options: DeltaFIFOOptions<V>) {
    this.#options = options;
  }

  /** How many keys wait. */
  get size(): number {
    return this.#items.size;
  }

  /** Whether the first replacement has been processed; at once, if something else came first or the replacement was empty. */
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

  /** Queues a `Deleted`; of a key that is neither queued nor known, nothing. */
  delete(value: V): void {
    this.#open("delete from");
    const { keyOf, knownObjects, transform } = this.#options;
    const taken = transform === undefined ? value : transform(value);
    const key = keyOf(taken);
    this.#populated = true;
    const deltas = this.#items.get(key);
    if (deltas === undefined && knownObjects.getByKey(key) === undefined) return;
    this.#delete(key, deltas, taken, false);
  }

  /** Begins to replace everything; nothing changes before it is committed. */
  replacing(): StagedDeltas<V> {
    this.#open("replace");
    return new StagedDeltas<V>(this.#options, (staged) => this.#replace(staged));
  }

  /** Replaces everything in one step. */
  replace(values: readonly V[], resourceVersion: string): void {
    const replacement = this.replacing();
    replacement.add(values);
    replacement.commit(resourceVersion);
  }

  /** Queues a `Sync` for each known key that does not wait already. */
  resync(): void {
    this.#open("resync");
    const { knownObjects } = this.#options;
    for (const key of knownObjects.keys()) {
      if (this.#items.has(key)) continue;
      const value = knownObjects.getByKey(key);
      if (value !== undefined) this.#items.add(key, { type: "Sync", value });
    }
  }

  /** Everything up to `resourceVersion` has been queued: calls `onFlush`. */
  flush(resourceVersion: string): void {
    this.#options.onFlush?.(resourceVersion);
  }

  /**
   * Hands the oldest key's deltas to `process`, in this turn; `false` when nothing waits.
   *
   * What `process` throws is thrown; the deltas are gone then, and count as processed.
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

  /** Takes nothing more; what waits can still be popped. */
  close(): void {
    this.#closed = true;
  }

  /** Closes. */
  [Symbol.dispose](): void {
    this.close();
  }

  #upsert(type: "Added" | "Updated", value: V): void {
    this.#open("add to");
    const { keyOf, transform } = this.#options;
    const taken = transform === undefined ? value : transform(value);
    const key = keyOf(taken);
    this.#populated = true;
    this.#append(key, { type, value: taken });
  }

  #append(key: string, delta: Delta<V>): void {
    const deltas = this.#items.get(key);
    if (deltas === undefined) this.#items.add(key, delta);
    else deltas.push(delta);
  }

  #delete(key: string, deltas: Delta<V>[] | undefined, value: V, finalStateUnknown: boolean): void {
    if (deltas === undefined) return this.#items.add(key, { type: "Deleted", value, finalStateUnknown });
    const last = deltas[deltas.length - 1];
    if (last.type !== "Deleted") {
      deltas.push({ type: "Deleted", value, finalStateUnknown });
    } else if (last.finalStateUnknown && !finalStateUnknown) {
      // Of two deletions the one that saw the last state is worth more.
      deltas[deltas.length - 1] = { type: "Deleted", value, finalStateUnknown };
    }
  }

  #replace(staged: ReadonlyMap<string, V>): void {
    this.#open("replace");
    const { knownObjects, same, emitReplaced = true } = this.#options;
    // Mostly nothing waits: then nothing is looked for in the queue, which is half of the work on a large list.
    const queued = this.#items.size > 0;
    for (const [key, deltas] of this.#items) {
      if (!staged.has(key)) this.#delete(key, deltas, deltas.at(-1)!.value, true);
    }
    for (const key of knownObjects.keys()) {
      if (staged.has(key) || (queued && this.#items.has(key))) continue;
      const value = knownObjects.getByKey(key);
      if (value !== undefined) this.#delete(key, undefined, value, true);
    }
    const type = emitReplaced ? "Replaced" : "Sync";
    for (const [key, value] of staged) {
      const last = queued ? this.#items.get(key)?.at(-1) : undefined;
      const known = last === undefined ? knownObjects.getByKey(key) : last.type === "Deleted" ? undefined : last.value;
      if (known !== undefined && same?.(known, value)) continue;
      if (last === undefined) this.#items.add(key, { type, value });
      else this.#append(key, { type, value });
    }
    if (!this.#populated) {
      this.#populated = true;
      this.#initialLeft = this.#items.size;
    }
  }

  #open(action: string): void {
    if (this.#closed) throw new Error(`Cannot ${action} the queue: it is closed`);
  }
}

/** A new whole for a {@linkcode DeltaFIFO}, staged as it arrives, taken in one step. */
export class StagedDeltas<V> {
  readonly #options: DeltaFIFOOptions<V>;
  readonly #take: (staged: ReadonlyMap<string, V>) => void;
  readonly #staged = new Map<string, V>();
  #over = false;

  /** Made by {@linkcode DeltaFIFO.replacing}. */
  constructor(options: DeltaFIFOOptions<V>, take: (staged: ReadonlyMap<string, V>) => void) {
    this.#options = options;
    this.#take = take;
  }

  /** Stages values: of two with the same key the later counts; one that is the same as the known one is swapped for it. */
  add(values: readonly V[]): void {
    this.#check("add to");
    const { keyOf, knownObjects, same, transform } = this.#options;
    for (const value of values) {
      if (same !== undefined) {
        const key = keyOf(value);
        const known = knownObjects.getByKey(key);
        if (known !== undefined && same(known, value)) {
          this.#staged.set(key, known);
          continue;
        }
      }
      const taken = transform === undefined ? value : transform(value);
      this.#staged.set(keyOf(taken), taken);
    }
  }

  /** Takes a staged value back. */
  delete(value: V): void {
    this.#check("delete from");
    const { keyOf, transform } = this.#options;
    this.#staged.delete(keyOf(transform === undefined ? value : transform(value)));
  }

  /** Queues the deletions and the values, in one step. The version is told by {@linkcode DeltaFIFO.flush}. */
  commit(_resourceVersion: string): void {
    this.#check("commit");
    this.#over = true;
    this.#take(this.#staged);
  }

  /** Forgets what was staged. */
  abandon(): void {
    this.#over = true;
    this.#staged.clear();
  }

  #check(action: string): void {
    if (this.#over) throw new Error(`Cannot ${action} the replacement: it is over`);
  }
}
