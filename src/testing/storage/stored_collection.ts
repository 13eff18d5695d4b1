import type { Definition } from "./definition.ts";
import type { StoredObject } from "./stored_object.ts";

/** A part of a collection at a revision. */
export interface CollectionSlice {
  /** One namespace, or `""` for all. */
  readonly namespace: string;
  /** Revision of the state. */
  readonly revision: number;
  /** First key to include. */
  readonly from?: string;
}

/**
 * The objects of one resource, with the previous states that the history still covers. Any revision in that range can
 * be listed.
 *
 * Cost: a lookup by key is a map lookup; a list walks its namespace; the first list after new names sorts the keys.
 */
export class StoredCollection {
  #definition: Definition;
  readonly #newest = new Map<string, StoredObject>();
  #keys: string[] = [];
  #unsorted = false;
  #forgotten = 0;
  #size = 0;

  /** Starts empty. */
  constructor(definition: Definition) {
    this.#definition = definition;
  }

  /** Definition of the resource. */
  get definition(): Definition {
    return this.#definition;
  }

  /** Replaces the definition of a custom resource; stored objects are not rewritten. */
  redefine(definition: Definition): void {
    this.#definition = definition;
  }

  /** Current number of objects. */
  get size(): number {
    return this.#size;
  }

  /** Returns the current state of an object. */
  get(key: string): StoredObject | undefined {
    const stored = this.#newest.get(key);
    return stored === undefined || stored.deleted ? undefined : stored;
  }

  /** Returns the newest state of a key, which may be a tombstone. */
  newest(key: string): StoredObject | undefined {
    return this.#newest.get(key);
  }

  /** Adds a new state; its `previous` must be the newest state of its key. */
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

  /** Drops the states before this one. */
  forgetBefore(stored: StoredObject): void {
    stored.previous = undefined;
    if (!stored.deleted || this.#newest.get(stored.key) !== stored) return;
    this.#newest.delete(stored.key);
    this.#forgotten++;
  }

  /** Yields the objects of a slice, sorted by key; iterate within one turn. */
  *slice({ namespace, revision, from }: CollectionSlice): Generator<StoredObject> {
    const keys = this.#sortedKeys();
    const first = namespace === "" ? "" : `${namespace}/`;
    // "0" follows "/", so this is after all keys of the namespace.
    const end = namespace === "" ? undefined : `${namespace}0`;
    for (let at = search(keys, from !== undefined && from > first ? from : first); at < keys.length; at++) {
      if (end !== undefined && keys[at] >= end) return;
      let stored = this.#newest.get(keys[at]);
      while (stored !== undefined && stored.revision > revision) stored = stored.previous;
      if (stored !== undefined && !stored.deleted) yield stored;
    }
  }

  /** Counts the objects of a slice. */
  count({ namespace, revision, from }: CollectionSlice): number {
    let count = 0;
    for (const _ of this.slice({ namespace, revision, ...(from === undefined ? {} : { from }) })) count++;
    return count;
  }

  #sortedKeys(): readonly string[] {
    if (this.#forgotten > 0) {
      this.#keys = this.#keys.filter((key) => this.#newest.has(key));
      this.#forgotten = 0;
      // A name that was dropped and recreated is in the array twice.
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

/** The order of etcd's keys: names are ASCII, so characters sort like bytes. */
function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Returns the first index whose key is not less than `key`. */
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
