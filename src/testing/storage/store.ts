import type { JsonObject } from "../wire/json.ts";
import { type Definition, resourceId } from "./definition.ts";
import { StoredCollection } from "./stored_collection.ts";
import { rewriteMetadata, type StoredObject, tombstone, toStoredObject } from "./stored_object.ts";
import { type StoreEvent, WatchHistory } from "./watch_history.ts";

/** Where a resource is told by. */
export type ResourceName = { readonly group: string; readonly version: string; readonly plural: string };

/** What is told of what happens in a store, in the same turn. */
export interface StoreListener {
  /** An object is about to be deleted. */
  removing(collection: StoredCollection, stored: StoredObject): void;
  /** A write. */
  event(event: StoreEvent): void;
  /** A resource is no longer served; its objects' deletions have been told. */
  undefined(collection: StoredCollection): void;
}

/** All collections, under one counter of revisions, as in etcd. */
export class Store {
  readonly #collections = new Map<string, StoredCollection>();
  readonly #listener: StoreListener;
  readonly #log: WatchHistory;
  #revision = 1;

  /** An empty store that remembers the last `history` writes. */
  constructor(history: number, listener: StoreListener) {
    this.#listener = listener;
    this.#log = new WatchHistory(history, this.#revision);
  }

  /** The revision of the newest write. */
  get revision(): number {
    return this.#revision;
  }

  /** The oldest revision that can still be listed, or watched from. */
  get compacted(): number {
    return this.#log.compacted;
  }

  /** All collections, in the order they were defined. */
  collections(): Iterable<StoredCollection> {
    return this.#collections.values();
  }

  /** The collection of a resource. */
  collection(resource: ResourceName): StoredCollection | undefined {
    return this.#collections.get(resourceId(resource));
  }

  /** Begins to serve a resource; where it is served already, the objects stay. */
  define(definition: Definition): StoredCollection {
    const id = resourceId(definition);
    let collection = this.#collections.get(id);
    if (collection === undefined) this.#collections.set(id, collection = new StoredCollection(definition));
    else if (definition.custom) collection.redefine(definition);
    return collection;
  }

  /** Deletes all objects of a resource, tells of each, and serves it no longer. */
  undefine(resource: ResourceName): void {
    const collection = this.collection(resource);
    if (collection === undefined) return;
    for (const stored of [...collection.slice({ namespace: "", revision: this.#revision })]) {
      this.remove(collection, stored);
    }
    this.#collections.delete(resourceId(resource));
    this.#listener.undefined(collection);
  }

  /** Writes a new state of an object under the next revision. */
  put(collection: StoredCollection, object: JsonObject): StoredObject {
    const { namespace, name } = object.metadata as JsonObject;
    const previous = collection.newest(
      typeof namespace === "string" && namespace !== "" ? `${namespace}/${name}` : String(name),
    );
    const before = previous?.deleted ? undefined : previous;
    const stored = toStoredObject(collection.definition, object, this.#revision + 1, previous);
    this.#commit({ type: before === undefined ? "ADDED" : "MODIFIED", collection, stored, before });
    return stored;
  }

  /** Changes an object's metadata, but for its managedFields, under the next revision; see {@linkcode rewriteMetadata}. */
  rewrite(
    collection: StoredCollection,
    before: StoredObject,
    change: (metadata: JsonObject) => JsonObject | undefined,
  ): void {
    const stored = rewriteMetadata(collection.definition, before, this.#revision + 1, change);
    if (stored !== undefined) this.#commit({ type: "MODIFIED", collection, stored, before });
  }

  /** Deletes an object under the next revision. */
  remove(collection: StoredCollection, before: StoredObject): StoredObject {
    this.#listener.removing(collection, before);
    const stored = tombstone(collection.definition, before, this.#revision + 1);
    this.#commit({ type: "DELETED", collection, stored, before });
    return stored;
  }

  /** The writes after a revision, oldest first. */
  after(revision: number): Generator<StoreEvent> {
    return this.#log.after(revision);
  }

  /** Forgets all writes so far: no list or watch goes back to before now. */
  compact(): void {
    this.#log.compact(this.#revision);
  }

  /** Remembers at most so many writes from now on. */
  remember(writes: number): void {
    this.#log.resize(writes);
  }

  /** Goes to a later revision without a write: something was written that is not served here. */
  jump(revision: number): void {
    this.#revision = revision;
  }

  #commit(event: StoreEvent): void {
    this.#revision = event.stored.revision;
    event.collection.put(event.stored);
    this.#log.append(event);
    this.#listener.event(event);
  }
}
