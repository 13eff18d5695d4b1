import type { DeltaFIFOOptions } from "./delta.ts";
import type { PendingKeys } from "./pending_keys.ts";

/**
 * A replacement of everything in a `DeltaFIFO`: the staged values, committed as the deltas by which they differ from what is
 * known and queued. Values are compared as they are staged, so a commit costs as much as it changes.
 */
export class QueueReplacement<V> {
  readonly #options: DeltaFIFOOptions<V>;
  readonly #commit: (enqueue: (pending: PendingKeys<V>) => void) => void;
  /** `#values` has a key if and only if the key was staged and not taken back since; in the order in which keys came. */
  readonly #values = new Map<string, V>();
  /** `#changed` has those of `#values` that differed from the known value when they were staged; nothing without `same`. */
  readonly #changed = new Map<string, V>();
  /** `knownObjects.revision` when the staging began. */
  readonly #revision: number | undefined;
  /** `#repeated` is true if and only if a key was staged while staged already: `#changed` may lack the order of `#values`. */
  #repeated = false;
  /** `#over` is true if and only if the replacement was committed or abandoned. */
  #over = false;

  /** Made by `DeltaFIFO.replacing()`. `commit` receives the function that adds the deltas to the queue's pending keys. */
  constructor(options: DeltaFIFOOptions<V>, commit: (enqueue: (pending: PendingKeys<V>) => void) => void) {
    this.#options = options;
    this.#commit = commit;
    this.#revision = options.knownObjects.revision;
  }

  /** Stages values. Of two with the same key the later counts; a known value takes the place of one that is the same. */
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

  /** Queues the deletions and the staged values that differ, in one step. The queue does not use the version. */
  commit(_resourceVersion: string): void {
    this.#check("commit");
    this.#over = true;
    this.#commit((pending) => this.#enqueue(pending));
  }

  /** Drops what was staged; the queue stays as it is. */
  abandon(): void {
    this.#over = true;
    this.#values.clear();
    this.#changed.clear();
  }

  #add(value: V): void {
    const { keyOf, knownObjects, same, transform } = this.#options;
    if (same !== undefined) {
      const key = keyOf(value);
      const known = knownObjects.getByKey(key);
      if (known !== undefined && same(known, value)) return this.#stage(key, known);
    }
    const taken = transform === undefined ? value : transform(value);
    const key = keyOf(taken);
    this.#stage(key, taken);
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
      // mutant: relist-skips-deletions, relist-deletes-without-flag
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
    // mutant: relist-misses-gone
    return this.#values.size - added === knownObjects.size;
  }

  #check(action: string): void {
    if (this.#over) throw new Error(`Cannot ${action} the replacement: it is over`);
  }
}
