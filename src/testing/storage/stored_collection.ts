import type { Definition } from "./definition.ts";
import type { StoredObject } from "./stored_object.ts";

/** Which part of a collection, at which revision. */
export interface CollectionSlice {
  /** One namespace; all of them when `""`. */
  readonly namespace: string;
  /** As things were after this revision. */
  readonly revision: number;
  /** Only keys from this one on, itself included. */
  readonly from?: string;
}

/**
 * The objects of one resource, with the states before as far as history reaches: the objects of any revision in between
 * can be listed.
 *
 * Costs: a read by key is a map look-up; a list walks its namespace; the first list after new names sorts them in.
 */
export class StoredCollection {
  #definition: Definition;
  readonly #newest = new Map<string, StoredObject>();
  #keys: string[] = [];
  #unsorted = false;
  #forgotten = 0;
  #size = 0;

  /** Nothing yet. */
  constructor(definition: Definition) {
    this.#definition = definition;
  }

  /** What it is a collection of. */
  get definition(): Definition {
    return this.#definition;
  }

  /** Learns more about a custom resource; texts that are written stay as they are. */
  redefine(definition: Definition): void {
    this.#definition = definition;
  }

  /** How many objects there are now. */
  get size(): number {
    return this.#size;
  }

  /** The object of that key as it is now. */
  get(key: string): StoredObject | undefined {
    const stored = this.#newest.get(key);
    return stored === undefined || stored.deleted ? undefined : stored;
  }

  /** The newest state of that key, which may be its end. */
  newest(key: string): StoredObject | undefined {
    return this.#newest.get(key);
  }

  /** Files a new state; its `previous` must be the newest one of its key. */
  put(stored: StoredObject): void {
    const before = this.#newest.get(stored.key);
    if (before === undefined) {
      const last = this.#keys.at(-1);
      if (last !== undefined && last > stored.key) this.#unsorted = true;
      this.#keys.push(stored.key);
    }
    this.#newest.set(stored.key, stored);
    this.#size += Number(!stored.deleted) - Number(before !== undefined && !before.deleted);
  }

  /** Gives up the states before this one: history now begins with it. */
  forgetBefore(stored: StoredObject): void {
    stored.previous = undefined;
    if (!stored.deleted || this.#newest.get(stored.key) !== stored) return;
    this.#newest.delete(stored.key);
    this.#forgotten++;
  }

  /** The objects of a slice in the order of their keys; read it in the same turn. */
  *slice({ namespace, revision, from }: CollectionSlice): Generator<StoredObject> {
    const keys = this.#sortedKeys();
    const first = namespace === "" ? "" : `${namespace}/`;
    // "0" follows "/", so this is behind all keys of the namespace.
    const end = namespace === "" ? undefined : `${namespace}0`;
    for (let at = search(keys, from !== undefined && from > first ? from : first); at < keys.length; at++) {
      if (end !== undefined && keys[at] >= end) return;
      let stored = this.#newest.get(keys[at]);
      while (stored !== undefined && stored.revision > revision) stored = stored.previous;
      if (stored !== undefined && !stored.deleted) yield stored;
    }
  }

  /** How many objects a slice has, without making it. */
  count({ namespace, revision, from }: CollectionSlice): number {
    let count = 0;
    for (const _ of this.slice({ namespace, revision, ...(from === undefined ? {} : { from }) })) count++;
    return count;
  }

  #sortedKeys(): readonly string[] {
    if (this.#forgotten > 0) {
      this.#keys = this.#keys.filter((key) => this.#newest.has(key));
      this.#forgotten = 0;
      // A name that was forgotten and came back is there twice.
      if (this.#keys.length !== this.#newest.size) this.#keys = [...this.#newest.keys()];
      this.#unsorted = true;
    }
    if (this.#unsorted) {
      this.#keys.sort(byText);
      this.#unsorted = false;
    }
    return this.#keys;
  }
}

/** The order of etcd's keys: names are ASCII, so characters order as bytes do. */
function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The first place whose key is not before `key`. */
function search(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (keys[middle] < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
