import { ItemList } from "./item_list.ts";
import type { Item } from "./work_item.ts";

/** Of this many items that are taken while both priorities wait, one has low priority. */
const LOW_SHARE = 8;

/**
 * The items that wait: those of normal priority before those of low priority, each in the order of addition.
 *
 * Neither priority starves: while both wait, seven items of normal priority are taken, then one of low priority.
 */
export class WaitingItems<K> {
  readonly #normal = new ItemList<K>();
  readonly #low = new ItemList<K>();
  /** The number of items of normal priority taken since the last one of low priority, while both waited. */
  #passed = 0;

  /** The number of items. */
  get length(): number {
    return this.#normal.length + this.#low.length;
  }

  /** The number of items of low priority. */
  get lowPriority(): number {
    return this.#low.length;
  }

  /** Adds an item behind those of its priority. */
  push(item: Item<K>): void {
    if (item.isLow) this.#low.push(item);
    else this.#normal.push(item);
  }

  /** Makes the priority of a waiting item normal, and moves it behind those of normal priority. */
  raise(item: Item<K>): void {
    this.#low.remove(item);
    item.isLow = false;
    this.#normal.push(item);
  }

  /** Removes the next item and returns it; undefined when there is none. */
  shift(): Item<K> | undefined {
    const item = this.#normal.first;
    const low = this.#low.first;
    if (low === undefined) {
      if (item !== undefined) this.#normal.remove(item);
      return item;
    }
    if (item === undefined || ++this.#passed === LOW_SHARE) {
      this.#passed = 0;
      this.#low.remove(low);
      return low;
    }
    this.#normal.remove(item);
    return item;
  }
}
