/**
 * Storage of objects: states by key and revision, like etcd behind kube-apiserver.
 *
 * {@linkcode Store} commits writes under one revision counter, keeps a collection for each defined resource, and a history
 * that watches resume from. `BUILT_IN` and `crdResources` define resources. This folder does not validate writes, and does
 * not parse requests.
 *
 * @module
 */
import type { JsonObject } from "../wire/json.ts";
import { type Definition, resourceId } from "./definition.ts";
import { convertEvent, otherEvents } from "./convert_event.ts";
import { StoredCollection } from "./stored_collection.ts";
import { parseStored, rewriteMetadata, type StoredObject, tombstone, toStoredObject } from "./stored_object.ts";
import { type StoreEvent, WatchHistory } from "./watch_history.ts";

/** The identity of a resource. */
export type ResourceName = { readonly group: string; readonly version: string; readonly plural: string };

/** Callbacks of a store, called in the same turn. */
export interface StoreListener {
  /** An object is about to be deleted. */
  removing(collection: StoredCollection, stored: StoredObject): void;
  /** A write was committed. */
  event(event: StoreEvent): void;
  /** A resource is no longer served; the deletions of its objects were delivered. */
  undefined(collection: StoredCollection): void;
}

/** All collections, with one revision counter, as in etcd. */
export class Store {
  readonly #collections = new Map<string, StoredCollection>();
  readonly #listener: StoreListener;
  readonly #log: WatchHistory;
  #revision = 1;

  /** Creates an empty store with a watch history of `history` writes. */
  constructor(history: number, listener: StoreListener) {
    this.#listener = listener;
    this.#log = new WatchHistory(history, this.#revision);
  }

  /** The current revision. */
  get revision(): number {
    return this.#revision;
  }

  /** The oldest revision that can be listed or watched from. */
  get compacted(): number {
    return this.#log.compacted;
  }

  /** Returns all collections, in order of definition. */
  collections(): Iterable<StoredCollection> {
    return this.#collections.values();
  }

  /** Returns the collection of a resource. */
  collection(resource: ResourceName): StoredCollection | undefined {
    return this.#collections.get(resourceId(resource));
  }

  /** Starts to serve a resource; if it is served already, its objects stay. */
  define(definition: Definition): StoredCollection {
    const id = resourceId(definition);
    let collection = this.#collections.get(id);
    if (collection === undefined) this.#collections.set(id, collection = new StoredCollection(definition));
    else if (definition.custom) collection.redefine(definition);
    return collection;
  }

  /** Deletes all objects of a resource, delivers the deletions, and stops serving it. */
  undefine(resource: ResourceName): void {
    const collection = this.collection(resource);
    if (collection === undefined) return;
    for (const stored of [...collection.slice({ namespace: "", revision: this.#revision })]) {
      this.remove(collection, stored);
    }
    this.#collections.delete(resourceId(resource));
    this.#listener.undefined(collection);
  }

  /** Commits a new state of an object under the next revision. */
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

  /** Commits new metadata of an object, except for managedFields; see {@linkcode rewriteMetadata}. */
  rewrite(
    collection: StoredCollection,
    before: StoredObject,
    change: (metadata: JsonObject) => JsonObject | undefined,
  ): void {
    const stored = rewriteMetadata(collection.definition, before, this.#revision + 1, change);
    if (stored !== undefined) this.#commit({ type: "MODIFIED", collection, stored, before });
  }

  /** Commits the deletion of an object under the next revision. */
  remove(collection: StoredCollection, before: StoredObject): StoredObject {
    this.#listener.removing(collection, before);
    const stored = tombstone(collection.definition, before, this.#revision + 1);
    this.#commit({ type: "DELETED", collection, stored, before });
    return stored;
  }

  /** Returns the writes after a revision, oldest first. */
  after(revision: number): Generator<StoreEvent> {
    return this.#log.after(revision);
  }

  /** Compacts the history: lists and watches cannot start before the current revision. */
  compact(): void {
    this.#log.compact(this.#revision);
  }

  /** Limits the history to that many writes. */
  remember(writes: number): void {
    this.#log.resize(writes);
  }

  /** Moves to a later revision without a write, as if a resource that is not served had changed. */
  jump(revision: number): void {
    this.#revision = revision;
  }

  /** Returns to the state of an earlier revision, which the history must have; revision 1 is the empty store. Forgets the history. */
  rollBack(revision: number): void {
    for (const [id, before] of this.#collections) {
      const collection = new StoredCollection(before.definition);
      for (const stored of before.slice({ namespace: "", revision })) {
        collection.put({ ...stored, previous: undefined });
      }
      this.#collections.set(id, collection);
    }
    this.#revision = revision;
    this.compact();
  }

  #commit(event: StoreEvent): void {
    this.#revision = event.stored.revision;
    const other = this.#collections.get(otherEvents(resourceId(event.collection.definition)) ?? "");
    this.#add(event);
    if (other !== undefined) this.#add(converted(event, other));
  }

  #add(event: StoreEvent): void {
    event.collection.put(event.stored);
    this.#log.append(event);
    this.#listener.event(event);
  }
}

/** Returns the same write of an event in the other of its two forms, under the same revision. */
function converted({ type, stored }: StoreEvent, collection: StoredCollection): StoreEvent {
  const { definition } = collection;
  const before = collection.get(stored.key);
  const previous = collection.newest(stored.key);
  const object = convertEvent(parseStored(stored), resourceId(definition));
  const next = toStoredObject(definition, object, stored.revision, previous);
  return { type, collection, stored: { ...next, deleted: stored.deleted }, before };
}
