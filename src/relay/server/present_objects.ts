/**
 * The present objects of a collection in the order of their keys, for readers of snapshots.
 *
 * {@linkcode PresentObjects} is the entry point. It does not know selections and rights.
 *
 * @module
 */
import type { ObjectKey } from "../../engine/api/object.ts";
import { RankTree } from "../../engine/store/rank_tree.ts";
import type { ShownObject } from "./objects.ts";

/** An object, and the count of changes with its last one. */
interface PresentObject {
  readonly key: ObjectKey;
  object: ShownObject;
  changedAt: number;
}

/**
 * The present objects of a collection in the order of their keys. Readers go through them at their own speed while they
 * change, so no old version of an object is kept for a reader. The order says nothing about objects that were deleted,
 * or that a reader may not see.
 */
export class PresentObjects {
  readonly #tree = new RankTree<{ readonly key: ObjectKey }>(({ key: a }, { key: b }) => a < b ? -1 : a > b ? 1 : 0);
  /** The number of changes so far. */
  #changes = 0;

  /** The number of objects. */
  get size(): number {
    return this.#tree.size;
  }

  /** The number of changes so far. */
  get changes(): number {
    return this.#changes;
  }

  /** Returns the objects from a key on, `count` at most. */
  from(key: ObjectKey, count: number): ShownObject[] {
    return this.#slice(key, count).map(({ object }) => object);
  }

  /** Returns `true` if the objects from a key on that end before `to` are the `count` that they were `changes` ago. */
  isSame(
    from: ObjectKey,
    { to, count, changes }: { readonly to: ObjectKey; readonly count: number; readonly changes: number },
  ): boolean {
    const found = this.#slice(from, count);
    if (found.length < count) return false; // one of the last objects is gone
    return found.at(-1)!.key < to && found.every(({ changedAt }) => changedAt <= changes);
  }

  /** Sets the object of a key, and returns the one before. */
  set(key: ObjectKey, object: ShownObject): ShownObject | undefined {
    const found = this.#find(key);
    const changedAt = ++this.#changes;
    const before = found?.object;
    if (found !== undefined) Object.assign(found, { object, changedAt });
    else {
      const added: PresentObject = { key, object, changedAt };
      this.#tree.add(added);
    }
    return before;
  }

  /** Removes the object of a key, and returns it. */
  delete(key: ObjectKey): ShownObject | undefined {
    const found = this.#find(key);
    if (found === undefined) return undefined;
    this.#changes++;
    this.#tree.delete(found);
    return found.object;
  }

  #slice(key: ObjectKey, count: number): PresentObject[] {
    const rank = this.#tree.rankOf({ key });
    return this.#tree.slice(rank, rank + count) as PresentObject[];
  }

  #find(key: ObjectKey): PresentObject | undefined {
    const found = this.#tree.at(this.#tree.rankOf({ key })) as PresentObject | undefined;
    return found?.key === key ? found : undefined;
  }
}
