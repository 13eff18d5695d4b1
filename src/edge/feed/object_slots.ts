import type { ObjectKey } from "../../api/key.ts";
import type { ShownObject } from "../objects/shown_object.ts";

/**
 * The present objects of a collection in numbered slots, so that readers go through them in steps of their own while they change, and
 * no old version of an object is kept for a reader.
 */
export class ObjectSlots {
  /** The objects; `undefined` in a slot that is free. */
  readonly slots: (ShownObject | undefined)[] = [];
  readonly #slotOf = new Map<ObjectKey, number>();
  readonly #free: number[] = [];
  /** The count of changes with the last one of each slot. */
  readonly #changedAt: number[] = [];
  /** The number of changes so far. */
  #changes = 0;

  /** The number of objects. */
  get size(): number {
    return this.#slotOf.size;
  }

  /** The number of changes so far. */
  get changes(): number {
    return this.#changes;
  }

  /** Returns `true` if no slot in this range has changed since so many changes. */
  isSame(from: number, to: number, changes: number): boolean {
    for (let slot = from; slot < to; slot++) if (this.#changedAt[slot] > changes) return false;
    return true;
  }

  /** Sets the object of a key, and returns the one before. */
  set(key: ObjectKey, object: ShownObject): ShownObject | undefined {
    const slot = this.#slotOf.get(key) ?? this.#free.pop() ?? this.slots.length;
    this.#slotOf.set(key, slot);
    return this.#put(slot, object);
  }

  /** Removes the object of a key, and returns it. */
  delete(key: ObjectKey): ShownObject | undefined {
    const slot = this.#slotOf.get(key);
    if (slot === undefined) return undefined;
    this.#slotOf.delete(key);
    this.#free.push(slot);
    return this.#put(slot, undefined);
  }

  #put(slot: number, object: ShownObject | undefined): ShownObject | undefined {
    const before = this.slots[slot];
    this.slots[slot] = object;
    this.#changedAt[slot] = ++this.#changes;
    return before;
  }
}
