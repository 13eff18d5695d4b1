import type { Delta, Deltas, Whole } from "./delta.ts";
import { PendingKeys } from "./pending_keys.ts";
import { type FilingOptions, type Staged, StagedDeltas } from "./replacement.ts";

/** How a queue files and compares its values, and what it does with them. */
export interface DeltaFIFOOptions<V> extends FilingOptions<V> {
  /** Whether a replacement's deltas are `Replaced`; else they are `Sync`, as in client-go's first queues. @default {true} */
  readonly emitReplaced?: boolean;
  /**
   * Begins a whole that is taken past the queue: used for a first replacement that nothing came before, while nothing is
   * known. It is processed when it is committed, and never popped.
   * @default {none}
   */
  readonly whole?: () => Whole<V>;
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
 * - It has synced once the first replacement has been popped *and processed* to the last key, or was taken as a whole.
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
  readonly #items = new PendingKeys<V>();
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
    const whole = this.#isNew ? this.#options.whole?.() : undefined;
    return new StagedDeltas<V>(this.#options, whole, (staged, version) => this.#replace(staged, version));
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
    // mutant: deltas-swapped, deltas-folded
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

  /** Whether nothing has come yet, and nothing is known. */
  get #isNew(): boolean {
    return !this.#populated && this.#items.size === 0 && this.#options.knownObjects.size === 0;
  }

  #replace(staged: Staged<V>, resourceVersion: string): void {
    this.#open("replace");
    if (staged.whole !== undefined && this.#isNew) {
      staged.whole.commit(resourceVersion);
      this.#populated = true;
      return;
    }
    const { knownObjects, same, emitReplaced = true } = this.#options;
    // Mostly nothing waits: then nothing is looked for in the queue, which is half of the work on a large list.
    const queued = this.#items.size > 0;
    const values = staged.values();
    staged.whole?.abandon();
    const changed = queued ? undefined : staged.changed;
    for (const [key, deltas] of this.#items) {
      if (!values.has(key)) this.#delete(key, deltas, deltas.at(-1)!.value, true);
    }
    if (changed === undefined || !this.#isCovered(values.size, changed)) {
      for (const key of knownObjects.keys()) {
        if (values.has(key) || (queued && this.#items.has(key))) continue;
        const value = knownObjects.getByKey(key);
        // mutant: relist-skips-deletions, relist-deletes-without-flag
        if (value !== undefined) this.#delete(key, undefined, value, true);
      }
    }
    const type = emitReplaced ? "Replaced" : "Sync";
    for (const [key, value] of changed ?? values) {
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

  /** Whether all that is known is among so many staged values: all but those of `changed` that are new. */
  #isCovered(staged: number, changed: ReadonlyMap<string, V>): boolean {
    const { knownObjects } = this.#options;
    let added = 0;
    for (const key of changed.keys()) if (knownObjects.getByKey(key) === undefined) added++;
    // mutant: relist-misses-gone
    return staged - added === knownObjects.size;
  }

  #open(action: string): void {
    if (this.#closed) throw new Error(`Cannot ${action} the queue: it is closed`);
  }
}
