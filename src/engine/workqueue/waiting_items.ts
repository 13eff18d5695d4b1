/**
 * The items that wait for workers, by their priority.
 *
 * {@linkcode WaitingItems} is the entry point: it decides which item is handed out next. {@linkcode ItemList} is also
 * the list of the items that workers process.
 *
 * @module
 */
import type { Item } from "./work_item.ts";

/** A list of items, linked through `previous` and `next` of the items: an item is in one list at most. */
export class ItemList<K> implements Iterable<Item<K>> {
  /** Undefined if and only if the list is empty. */
  first: Item<K> | undefined;
  /** Undefined if and only if the list is empty. */
  #last: Item<K> | undefined;
  /** The number of items. */
  length = 0;

  /** Adds an item at the end, which must be in no list. */
  push(item: Item<K>): void {
    const last = this.#last;
    if (last === undefined) this.first = item;
    else last.next = item;
    item.previous = last;
    this.#last = item;
    this.length++;
  }

  /** Removes an item, which must be in this list. */
  remove(item: Item<K>): void {
    const { previous, next } = item;
    if (previous === undefined) this.first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    item.previous = item.next = undefined;
    this.length--;
  }

  /** The items, in order. */
  *[Symbol.iterator](): IterableIterator<Item<K>> {
    for (let item = this.first; item !== undefined; item = item.next) yield item;
  }
}

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

  /** Counts an item that is handed out without having waited here. */
  passedBy({ isLow }: Item<K>): void {
    if (isLow) this.#passed = 0;
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
