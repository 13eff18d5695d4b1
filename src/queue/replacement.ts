import type { KnownObjects, Whole } from "./delta.ts";

/** How values are filed and compared. */
export interface FilingOptions<V> {
  /** The key of a value. */
  readonly keyOf: (value: V) => string;
  /** What is known to those who pop: usually the store they fill. */
  readonly knownObjects: KnownObjects<V>;
  /** Whether two values are the same version of the same thing: a replacement then keeps the known one and tells nothing. @default {never} */
  readonly same?: (known: V, value: V) => boolean;
  /** Applied once to each value as it comes in, except to one that a replacement keeps. When it throws, nothing is queued. */
  readonly transform?: (value: V) => V;
}

/** What has been staged, as whoever takes it sees it. */
export interface Staged<V> {
  /** Where the values were staged, when nothing was known that they could replace. */
  readonly whole: Whole<V> | undefined;
  /** All values, in the order in which their keys came. */
  values(): ReadonlyMap<string, V>;
  /** Those that are not the same as what is known, in that order; `undefined` when that has to be found out anew. */
  readonly changed: ReadonlyMap<string, V> | undefined;
}

/** A new whole for a `DeltaFIFO`, compared with what is known as it arrives, taken in one step. */
export class StagedDeltas<V> {
  readonly #options: FilingOptions<V>;
  readonly #whole: Whole<V> | undefined;
  readonly #take: (staged: Staged<V>, resourceVersion: string) => void;
  readonly #values = new Map<string, V>();
  readonly #changed = new Map<string, V>();
  /** What the known objects were when the staging began. */
  readonly #revision: number | undefined;
  /** Whether a key has come again, so that what changed may not be in the order of all. */
  #repeated = false;
  #over = false;

  /** Made by `DeltaFIFO.replacing()`; values are staged in `whole`, if there is one. */
  constructor(
    options: FilingOptions<V>,
    whole: Whole<V> | undefined,
    take: (staged: Staged<V>, resourceVersion: string) => void,
  ) {
    this.#options = options;
    this.#whole = whole;
    this.#take = take;
    this.#revision = options.knownObjects.revision;
  }

  /** Stages values: of two with the same key the later counts; one that is the same as the known one is swapped for it. */
  add(values: readonly V[]): void {
    this.#check("add to");
    for (const value of values) this.#add(value);
  }

  /** Takes a staged value back. */
  delete(value: V): void {
    this.#check("delete from");
    const { keyOf, transform } = this.#options;
    const taken = transform === undefined ? value : transform(value);
    if (this.#whole !== undefined) return this.#whole.delete(taken);
    const key = keyOf(taken);
    this.#values.delete(key);
    this.#changed.delete(key);
  }

  /** Queues the deletions and the values, in one step; the version is told by `DeltaFIFO.flush()`. */
  commit(resourceVersion: string): void {
    this.#check("commit");
    this.#over = true;
    const staged = { whole: this.#whole, values: () => this.#all(), changed: this.#stillChanged() };
    this.#take(staged, resourceVersion);
  }

  /** Forgets what was staged. */
  abandon(): void {
    this.#over = true;
    this.#whole?.abandon();
    this.#values.clear();
    this.#changed.clear();
  }

  #all(): ReadonlyMap<string, V> {
    if (this.#whole === undefined) return this.#values;
    const { keyOf } = this.#options;
    return new Map(Array.from(this.#whole, (value) => [keyOf(value), value]));
  }

  /** What changed, as it was found when it was staged, if that is true still. */
  #stillChanged(): ReadonlyMap<string, V> | undefined {
    const { same, knownObjects: { size, revision } } = this.#options;
    const current = size !== undefined && revision !== undefined && revision === this.#revision;
    if (this.#whole !== undefined || this.#repeated || !current) return undefined;
    return same === undefined ? this.#values : this.#changed;
  }

  #add(value: V): void {
    const { keyOf, knownObjects, same, transform } = this.#options;
    if (this.#whole === undefined && same !== undefined) {
      const key = keyOf(value);
      const known = knownObjects.getByKey(key);
      if (known !== undefined && same(known, value)) return this.#stage(key, known);
    }
    const taken = transform === undefined ? value : transform(value);
    const key = keyOf(taken);
    if (this.#whole !== undefined) return this.#whole.set(key, taken);
    this.#stage(key, taken);
    if (same !== undefined) this.#changed.set(key, taken);
  }

  #stage(key: string, value: V): void {
    const before = this.#values.size;
    this.#values.set(key, value);
    if (this.#values.size === before) this.#repeated = true;
  }

  #check(action: string): void {
    if (this.#over) throw new Error(`Cannot ${action} the replacement: it is over`);
  }
}
