import type { Item } from "./work_item.ts";

/** A list of items, linked through `previous` and `next` of the items: an item is in one list at most. */
export class ItemList<K> implements Iterable<Item<K>> {
  /** Undefined if and only if the list is empty. */
  #first: Item<K> | undefined;
  /** Undefined if and only if the list is empty. */
  #last: Item<K> | undefined;
  /** The number of items. */
  #length = 0;

  /** The number of items. */
  get length(): number {
    return this.#length;
  }

  /** The first item; undefined when the list is empty. */
  get first(): Item<K> | undefined {
    return this.#first;
  }

  /** Adds an item at the end, which must be in no list. */
  push(item: Item<K>): void {
    const last = this.#last;
    if (last === undefined) this.#first = item;
    else last.next = item;
    item.previous = last;
    this.#last = item;
    this.#length++;
  }

  /** Removes an item, which must be in this list. */
  remove(item: Item<K>): void {
    const { previous, next } = item;
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    item.previous = item.next = undefined;
    this.#length--;
  }

  /** The items, in order. */
  *[Symbol.iterator](): IterableIterator<Item<K>> {
    for (let item = this.#first; item !== undefined; item = item.next) yield item;
  }
}
