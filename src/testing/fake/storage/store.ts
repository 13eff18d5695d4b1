/**
 * Storage of objects: states by key and revision, like etcd behind kube-apiserver.
 *
 * {@linkcode Store} commits writes under one revision counter, keeps a collection for each defined resource, and a
 * history that watches resume from. `builtInResources` and `crdResources` are the resources. It neither
 * validates writes nor parses requests.
 *
 * @module
 */
import { lowerBound } from "../../../engine/api/lower_bound.ts";
import { decoder, encoder } from "../../../engine/api/object.ts";
import { knownRefusal } from "../../../engine/protocol/refusal.ts";
import { goJson } from "../wire/go_text.ts";
import { equalJson, isList, isObject, type Json, type JsonObject, type MutableJson } from "../../../engine/api/json.ts";
import { objectOr, textOf } from "../../../engine/api/members.ts";
import { type Definition, resourceId, type ResourceName } from "./definition.ts";
import { convertEvent, OTHER_FORMS } from "./forms.ts";
import { memberObject, sortMembers } from "../schema/members.ts";
/** One state of one object, serialized; each read parses it again. */
export interface StoredObject {
  /** Key: `"namespace/name"` or `"name"`. */
  readonly key: string;
  /** Namespace; `""` if cluster-scoped. */
  readonly namespace: string;
  /** Name of the object. */
  readonly name: string;
  /** The uid. */
  readonly uid: string;
  /** Revision of this state. */
  readonly revision: number;
  /** The object in the server's key order, with kind and apiVersion. */
  readonly bytes: Uint8Array;
  /** Offset of the value of `metadata`. */
  readonly metadataStart: number;
  /** End offset of the value of `metadata`. */
  readonly metadataEnd: number;
  /** Labels of the object. */
  readonly labels: Readonly<Record<string, string>> | undefined;
  /** Selectable fields, besides name and namespace. */
  readonly fields: Readonly<Record<string, string>> | undefined;
  /** True for a tombstone: the last state, under the deletion's revision. */
  readonly deleted: boolean;
  /** The previous state, while the history covers it. */
  previous: StoredObject | undefined;
  /** The PartialObjectMetadata, cached on first use. */
  partial: Uint8Array | undefined;
}

/** Returns the key of an object by its metadata: `"namespace/name"` or `"name"`. */
export function storedKey({ namespace, name }: { readonly namespace?: unknown; readonly name?: unknown }): string {
  return textOf(namespace) === "" ? textOf(name) : `${namespace}/${textOf(name)}`;
}

/** Returns the name in a key. */
export function nameIn(key: string): string {
  return key.slice(key.indexOf("/") + 1);
}

/**
 * Serializes an object. `revision` becomes its resourceVersion; 0 means that the object is not stored. The result
 * shares nothing with `object` but labels and fields.
 */
export function toStoredObject(
  definition: Definition,
  object: JsonObject,
  revision: number,
  previous?: StoredObject,
): StoredObject {
  const metadata = memberObject(object, "metadata");
  const written = goJson(orderMetadata(definition, metadata, revision > 0 ? String(revision) : undefined));
  const [head, tail] = around(definition, object);
  const bytes = encoder.encode(head + written + tail);
  // The text before metadata is ASCII, except for members of custom resources that sort before it.
  const ascii = bytes.length === head.length + written.length + tail.length;
  const metadataStart = ascii ? head.length : encoder.encode(head).length;
  const metadataEnd = metadataStart + (ascii ? written.length : encoder.encode(written).length);
  return {
    key: storedKey(metadata),
    namespace: textOf(metadata.namespace),
    name: textOf(metadata.name),
    uid: textOf(metadata.uid),
    revision,
    bytes,
    metadataStart,
    metadataEnd,
    labels: labelsOf(metadata),
    fields: definition.fieldsOf(object),
    deleted: false,
    previous,
    partial: undefined,
  };
}

/** Returns other metadata; undefined if nothing is to be written. */
type MetadataChange = (metadata: JsonObject) => JsonObject | undefined;

/**
 * Returns the state `before` under another revision, with the metadata that `change` returns; undefined if `change`
 * returns undefined.
 *
 * Only metadata is parsed and serialized. For built-in kinds that excludes managedFields, its largest part: `change`
 * does not see them, and they stay unchanged.
 */
function rewriteMetadata(
  definition: Definition,
  before: StoredObject,
  revision: number,
  change: MetadataChange,
): StoredObject | undefined {
  const text = decoder.decode(before.bytes.subarray(before.metadataStart, before.metadataEnd));
  // Serialized by this file, they come last, and no string in the JSON can contain this text: its quotes would be
  // escaped.
  const cut = definition.custom ? -1 : text.indexOf(MANAGED_FIELDS);
  const changed = change(JSON.parse(cut < 0 ? text : `${text.slice(0, cut)}}`));
  if (changed === undefined) return undefined;
  const json = goJson(orderMetadata(definition, changed, String(revision)));
  const written = encoder.encode(cut < 0 ? json : json.slice(0, -1) + text.slice(cut));
  const tail = before.bytes.subarray(before.metadataEnd);
  const metadataEnd = before.metadataStart + written.length;
  const bytes = new Uint8Array(metadataEnd + tail.length);
  bytes.set(before.bytes.subarray(0, before.metadataStart));
  bytes.set(written, before.metadataStart);
  bytes.set(tail, metadataEnd);
  return { ...before, revision, bytes, metadataEnd, labels: labelsOf(changed), previous: before, partial: undefined };
}

const MANAGED_FIELDS = ',"managedFields":[';

/** Returns the tombstone of an object: its last state, under the deletion's revision, as watches deliver it. */
function tombstone(definition: Definition, last: StoredObject, revision: number): StoredObject {
  return { ...rewriteMetadata(definition, last, revision, (metadata) => metadata)!, deleted: true };
}

/** Returns the same state under another revision, for a watch whose selection an object has left. */
export function restamped(definition: Definition, stored: StoredObject, revision: number): StoredObject {
  return { ...rewriteMetadata(definition, stored, revision, (metadata) => metadata)!, previous: undefined };
}

function labelsOf(metadata: JsonObject): Record<string, string> | undefined {
  return isObject(metadata.labels) ? { ...metadata.labels } as Record<string, string> : undefined;
}

/** Parses the object; the caller owns the result. */
export function parseStored(stored: StoredObject): MutableJson {
  return JSON.parse(decoder.decode(stored.bytes));
}

const PARTIAL_HEAD = `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":`;

/** Returns the object's PartialObjectMetadata. */
export function partialOf(definition: Definition, stored: StoredObject): Uint8Array {
  if (stored.partial === undefined) {
    const text = decoder.decode(stored.bytes.subarray(stored.metadataStart, stored.metadataEnd));
    // A custom resource's keys are sorted in the object, but not here, where the server fills a struct.
    const metadata = definition.custom ? goJson(inOrder(JSON.parse(text), METADATA_ORDER)) : text;
    stored.partial = encoder.encode(`${PARTIAL_HEAD}${metadata}}`);
  }
  return stored.partial;
}

/** Serializes everything but metadata, as the text before and after it. */
function around({ kind, apiVersion, custom }: Definition, object: JsonObject): readonly [head: string, tail: string] {
  const members: JsonObject = custom ? sortMembers({ ...object, kind, apiVersion }) : object;
  let head = custom ? "" : `"kind":${goJson(kind)},"apiVersion":${goJson(apiVersion)},`;
  let tail = "";
  for (const key in members) {
    const isWritten = key === "metadata" || (!custom && (key === "kind" || key === "apiVersion"));
    if (isWritten || members[key] === undefined) continue;
    const text = `${goJson(key)}:${goJson(members[key])}`;
    if (custom && key < "metadata") head += `${text},`;
    else tail += `,${text}`;
  }
  return [`{${head}"metadata":`, `${tail}}`];
}

/** The key order of Go's ObjectMeta, which built-in kinds use. */
const METADATA_ORDER =
  ("name generateName namespace selfLink uid resourceVersion generation creationTimestamp deletionTimestamp " +
    "deletionGracePeriodSeconds labels annotations ownerReferences finalizers managedFields").split(" ");

const MANAGED_FIELDS_ORDER = ["manager", "operation", "apiVersion", "time", "fieldsType", "fieldsV1", "subresource"];

function orderMetadata(definition: Definition, metadata: JsonObject, resourceVersion: string | undefined): JsonObject {
  if (definition.custom) return sortMembers({ ...metadata, resourceVersion });
  return inOrder({ ...metadata, resourceVersion }, METADATA_ORDER);
}

function inOrder(metadata: JsonObject, order: readonly string[]): JsonObject {
  const ordered: MutableJson = {};
  for (const key of order) if (!isEmpty(metadata[key])) ordered[key] = metadata[key];
  if (isList(ordered.managedFields)) {
    ordered.managedFields = (ordered.managedFields as JsonObject[]).map((entry) =>
      inOrder(entry, MANAGED_FIELDS_ORDER)
    );
  }
  for (const field of ["labels", "annotations"]) {
    if (ordered[field] !== undefined) ordered[field] = sortMembers(ordered[field]);
  }
  return ordered;
}

/** Go omits empty values. */
function isEmpty(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === "") return true;
  if (isList(value)) return value.length === 0;
  return isObject(value) && Object.keys(value).length === 0;
}

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
  /** Definition of the resource; that of a custom one may change, and its stored objects are not rewritten. */
  definition: Definition;
  readonly #newest = new Map<string, StoredObject>();
  #keys: string[] = [];
  #unsorted = false;
  #forgotten = 0;
  /** The revision at which it began to be served: it cannot be watched from an older one. */
  readonly since: number;

  /** Starts empty. */
  constructor(definition: Definition, since: number) {
    this.definition = definition;
    this.since = since;
  }

  /** Returns the current state of an object. */
  get(key: string): StoredObject | undefined {
    const stored = this.#newest.get(key);
    return stored === undefined || stored.deleted ? undefined : stored;
  }

  /** Returns the current state of an object. @throws {StatusError} 404 if there is none. */
  existing(key: string): StoredObject {
    const stored = this.get(key);
    if (stored === undefined) throw knownRefusal("notFound", this.definition, nameIn(key));
    return stored;
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
    const start = from !== undefined && from > first ? from : first;
    for (let at = lowerBound(keys.length, (at) => keys[at] < start); at < keys.length; at++) {
      if (end !== undefined && keys[at] >= end) return;
      let stored = this.#newest.get(keys[at]);
      while (stored !== undefined && stored.revision > revision) stored = stored.previous;
      if (stored !== undefined && !stored.deleted) yield stored;
    }
  }

  /** Counts the objects of a slice. */
  count(slice: CollectionSlice): number {
    return this.slice(slice).reduce((count) => count + 1, 0);
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
      this.#keys.sort(); // as etcd: names are ASCII, so characters sort like bytes
      this.#unsorted = false;
    }
    return this.#keys;
  }
}

/** A write, as delivered to watches. */
export interface StoreEvent {
  /** Type of the event. */
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  /** Collection of the object. */
  readonly collection: StoredCollection;
  /** The new state; for a deletion the tombstone. */
  readonly stored: StoredObject;
  /** The previous state; undefined for a new object. */
  readonly before: StoredObject | undefined;
}

/**
 * The latest writes to all collections, in order. Watches resume from it, and it limits which revisions can be listed.
 *
 * The oldest write is dropped when there are more than `capacity`, and by {@linkcode compact}.
 */
class WatchHistory {
  /** The oldest revision that can be listed or watched from. */
  compacted: number;
  #capacity: number;
  #events: StoreEvent[] = [];
  #first = 0;

  /** Starts empty, after `revision`. */
  constructor(capacity: number, revision: number) {
    this.#capacity = capacity;
    this.compacted = revision;
  }

  /** Adds the newest write. */
  append(event: StoreEvent): void {
    this.#events.push(event);
    if (this.#events.length - this.#first > this.#capacity) this.#forget(this.#first + 1);
  }

  /** Limits the history to that many writes. */
  resize(capacity: number): void {
    this.#capacity = capacity;
    this.#forget(Math.max(this.#first, this.#events.length - capacity));
  }

  /** Drops all writes; `revision` is the current one. */
  compact(revision: number): void {
    this.#forget(this.#events.length);
    this.compacted = revision;
  }

  /** Yields the writes after a revision, oldest first. */
  *after(revision: number): Generator<StoreEvent> {
    const isBefore = (at: number): boolean => this.#events[at].stored.revision <= revision;
    let at = lowerBound(this.#events.length, isBefore, this.#first);
    for (; at < this.#events.length; at++) yield this.#events[at];
  }

  #forget(until: number): void {
    for (; this.#first < until; this.#first++) {
      const { collection, stored } = this.#events[this.#first];
      collection.forgetBefore(stored);
      this.compacted = stored.revision;
      // Release the event now: the array itself is trimmed only occasionally.
      this.#events[this.#first] = GONE;
    }
    if (this.#first > 1_024 && this.#first * 2 > this.#events.length || this.#first === this.#events.length) {
      this.#events = this.#events.slice(this.#first);
      this.#first = 0;
    }
  }
}

/** Marks a dropped event; it is never yielded. */
const GONE = Object.freeze({}) as StoreEvent;

/** An object in each version of its kind, by API version. */
export type Forms = ReadonlyMap<string, JsonObject>;

/** Callbacks of a store, called in the same turn. */
interface StoreListener {
  /** An object is about to be deleted. */
  removing(collection: StoredCollection, stored: StoredObject): void;
  /** Returns the versions of a kind whose objects are converted; none for other kinds. */
  versions(definition: Definition): readonly StoredCollection[];
  /** A write without its other forms was committed. */
  unconverted(collection: StoredCollection, key: string): void;
  /** A write was committed. */
  event(event: StoreEvent): void;
  /** A resource is no longer served; the deletions of its objects were delivered. */
  undefined(collection: StoredCollection): void;
}

/** All collections, with one revision counter, as in etcd. */
export class Store {
  readonly #collections = new Map<string, StoredCollection>();
  readonly #listener: StoreListener;
  /** The latest writes. */
  readonly history: WatchHistory;
  #revision = 1;

  /** Creates an empty store with a watch history of `history` writes. */
  constructor(history: number, listener: StoreListener) {
    this.#listener = listener;
    this.history = new WatchHistory(history, this.#revision);
  }

  /** The current revision. */
  get revision(): number {
    return this.#revision;
  }

  /** Returns all collections, in order of definition. */
  collections(): Iterable<StoredCollection> {
    return this.#collections.values();
  }

  /** Returns the collections of all versions of a kind, in order of definition. */
  versionsOf({ group, plural }: Omit<ResourceName, "version">): StoredCollection[] {
    return [...this.collections()].filter(({ definition: it }) => it.group === group && it.plural === plural);
  }

  /** Returns the collection of a resource. */
  collection(resource: ResourceName): StoredCollection | undefined {
    return this.#collections.get(resourceId(resource));
  }

  /** Starts to serve a resource; if it is served already, its objects stay. */
  define(definition: Definition): StoredCollection {
    const id = resourceId(definition);
    let collection = this.#collections.get(id);
    if (collection === undefined) {
      this.#collections.set(id, collection = new StoredCollection(definition, this.#revision));
    } else if (definition.custom) collection.definition = definition;
    return collection;
  }

  /** Deletes all objects of a resource, delivers the deletions, and stops serving it. */
  undefine(resource: ResourceName): void {
    const collection = this.collection(resource);
    if (collection === undefined) return;
    this.#collections.delete(resourceId(resource)); // first: other versions of the kind keep its objects
    for (const stored of [...collection.slice({ namespace: "", revision: this.#revision })]) {
      this.remove(collection, stored);
    }
    this.#listener.undefined(collection);
  }

  /** Commits a new state of an object under the next revision, with its other forms. */
  put(collection: StoredCollection, object: JsonObject, forms?: Forms): StoredObject {
    return this.commitAt(collection, object, this.#revision + 1, false, forms);
  }

  /** Commits the forms of an object that exists in one version to the others, under the next revision. */
  spread(collection: StoredCollection, stored: StoredObject, forms: Forms): void {
    this.#revision++;
    this.#mirror({ type: "ADDED", collection, stored: { ...stored, revision: this.#revision }, before: stored }, forms);
  }

  /**
   * Commits a state of an object under a revision that is not below the current one; with `deleted`, its deletion,
   * whose last state it is.
   */
  commitAt(
    collection: StoredCollection,
    object: JsonObject,
    revision: number,
    deleted = false,
    forms?: Forms,
  ): StoredObject {
    const previous = collection.newest(storedKey(objectOr(object.metadata)));
    const before = previous?.deleted ? undefined : previous;
    if (deleted) this.#listener.removing(collection, before!);
    const next = toStoredObject(collection.definition, object, revision, previous);
    const stored = deleted ? { ...next, deleted } : next;
    const type = deleted ? "DELETED" : before === undefined ? "ADDED" : "MODIFIED";
    this.#commit({ type, collection, stored, before }, forms);
    return stored;
  }

  /** Commits new metadata of an object, except for managedFields; see {@linkcode rewriteMetadata}. */
  rewrite(collection: StoredCollection, before: StoredObject, change: MetadataChange): void {
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

  /** Compacts the history: lists and watches cannot start before the current revision. */
  compact(): void {
    this.history.compact(this.#revision);
  }

  /** Moves to a later revision without a write, as if a resource that is not served had changed. */
  jump(revision: number): void {
    this.#revision = revision;
  }

  /**
   * Returns to the state of an earlier revision, which the history must have; revision 1 is the empty store. Forgets
   * the history.
   */
  rollBack(revision: number): void {
    for (const [id, before] of this.#collections) {
      const collection = new StoredCollection(before.definition, Math.min(before.since, revision));
      for (const stored of before.slice({ namespace: "", revision })) {
        collection.put({ ...stored, previous: undefined });
      }
      this.#collections.set(id, collection);
    }
    this.#revision = revision;
    this.compact();
  }

  #commit(event: StoreEvent, forms?: Forms): void {
    this.#revision = event.stored.revision;
    const other = this.#collections.get(OTHER_FORMS[resourceId(event.collection.definition)] ?? "");
    this.#add(event);
    if (other !== undefined) this.#add(converted(event, other));
    if (event.collection.definition.custom) this.#mirror(event, forms);
  }

  /** Makes the same write to the other versions of a kind whose objects are converted, under the same revision. */
  #mirror({ type, collection, stored, before: last }: StoreEvent, forms: Forms | undefined): void {
    const versions = this.#listener.versions(collection.definition);
    for (const other of versions.includes(collection) ? versions : []) {
      const { definition } = other;
      if (other === collection) continue;
      const before = other.get(stored.key);
      if (type === "DELETED") {
        if (before === undefined) continue;
        this.#add({ type, collection: other, stored: tombstone(definition, before, stored.revision), before });
        continue;
      }
      const isMarked = last !== undefined && before !== undefined && differOnlyInMarks(last, stored);
      const form = forms?.get(definition.apiVersion) ?? (isMarked ? parseStored(before) : undefined);
      if (form === undefined) {
        this.#listener.unconverted(collection, stored.key);
        continue;
      }
      const { labels, annotations } = objectOr(form.metadata);
      const metadata = { ...objectOr(parseStored(stored).metadata), labels, annotations };
      const next = toStoredObject(definition, { ...form, metadata }, stored.revision, other.newest(stored.key));
      this.#add({ type: before === undefined ? "ADDED" : "MODIFIED", collection: other, stored: next, before });
    }
  }

  #add(event: StoreEvent): void {
    event.collection.put(event.stored);
    this.history.append(event);
    this.#listener.event(event);
  }
}

/** Returns true if two states of an object differ only in metadata that no conversion changes. */
function differOnlyInMarks(a: StoredObject, b: StoredObject): boolean {
  const [old, next] = [a, b].map((stored) => {
    const { metadata, ...object } = parseStored(stored);
    const { labels, annotations } = objectOr(metadata);
    return { ...object, labels, annotations };
  });
  return equalJson(old, next);
}

/** Returns the same write in the other of an event's two forms, under the same revision. */
function converted({ type, stored }: StoreEvent, collection: StoredCollection): StoreEvent {
  const { definition } = collection;
  const before = collection.get(stored.key);
  const previous = collection.newest(stored.key);
  const object = convertEvent(parseStored(stored), resourceId(definition));
  const next = toStoredObject(definition, object, stored.revision, previous);
  return { type, collection, stored: { ...next, deleted: stored.deleted }, before };
}
