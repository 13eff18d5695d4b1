/**
 * Tells which objects fit the schema of their kind, for informers that keep the others out.
 *
 * {@linkcode ValidObjects} is the entry point. What a part does with an object that does not fit is in `part_sync.ts`.
 *
 * @module
 */
import type { CacheEntry } from "../../api/entry.ts";
import type { ObjectKey } from "../../api/object.ts";
import type { Resource } from "../../api/resource.ts";
import { DecodeError, type StatusCause } from "../../api/status.ts";
import { Pacer } from "../../async/turns.ts";

/** An object that is kept out, and why. */
export interface InvalidObject {
  /** Its key. */
  readonly key: ObjectKey;
  /** What does not fit, at most ten causes. */
  readonly causes: readonly StatusCause[];
}

const MOST_CAUSES = 10;
/** The most objects that are checked before the clock is read. */
const SLICE = 16;

/**
 * Yields batches in parts of at most 16 items, which `part` makes of some items of a batch, and gives other work its
 * turns in between: whoever reads them checks their objects.
 */
export async function* paced<B>(
  batches: AsyncIterable<B>,
  itemsIn: (batch: B) => number,
  part: (batch: B, from: number, to: number) => B,
): AsyncGenerator<B, void, undefined> {
  const pacer = new Pacer(5, 1);
  for await (const batch of batches) {
    const count = itemsIn(batch);
    for (let from = 0; from === 0 || from < count; from += SLICE) {
      yield count <= SLICE ? batch : part(batch, from, from + SLICE);
      if (pacer.step()) await pacer.turn();
    }
  }
}

/** The objects of an informer that do not fit their kind, by key. */
export class ValidObjects {
  readonly #load: NonNullable<Resource["loadValidator"]>;
  #validate: ((object: object) => readonly StatusCause[]) | undefined;
  readonly #invalid = new Map<ObjectKey, readonly StatusCause[]>();

  private constructor(load: NonNullable<Resource["loadValidator"]>) {
    this.#load = load;
  }

  /** Returns `undefined` for a resource that nothing can check: without a schema, or reduced. */
  static of(resource: Resource | undefined): ValidObjects | undefined {
    const { loadValidator, representation = "object", fields } = resource ?? {};
    if (loadValidator === undefined || representation !== "object" || fields !== undefined) return undefined;
    return new ValidObjects(loadValidator);
  }

  /** Prepares for {@linkcode fits}. Rejects if a rule of the kind is wrong. */
  async load(): Promise<void> {
    this.#validate ??= await this.#load();
  }

  /** Returns `true` if an object fits, or cannot be read: others report that. */
  fits(entry: CacheEntry<unknown>): boolean {
    const causes = this.#causesOf(entry);
    if (causes.length === 0) this.#invalid.delete(entry.key);
    else this.#invalid.set(entry.key, causes.slice(0, MOST_CAUSES));
    return causes.length === 0;
  }

  #causesOf(entry: CacheEntry<unknown>): readonly StatusCause[] {
    try {
      return this.#validate!(entry.object as object);
    } catch (error) {
      if (error instanceof DecodeError) return [];
      throw error;
    }
  }

  /** Returns `true` if the object of a key is kept out. */
  keepsOut(key: ObjectKey): boolean {
    return this.#invalid.has(key);
  }

  /** Forgets an object that is gone. */
  forget(key: ObjectKey): void {
    this.#invalid.delete(key);
  }

  /** Forgets the objects that a list of a namespace, or of all, did not have. */
  listed(keys: ReadonlySet<ObjectKey>, namespace?: string): void {
    for (const key of this.#invalid.keys()) {
      if (!keys.has(key) && (namespace === undefined || key.startsWith(`${namespace}/`))) this.#invalid.delete(key);
    }
  }

  /** The objects that are kept out. */
  get objects(): readonly InvalidObject[] {
    return Array.from(this.#invalid, ([key, causes]) => ({ key, causes }));
  }
}
