import type { Entry } from "../../api/entry.ts";
import type { DecodeError } from "../../api/errors.ts";
import type { FieldValue } from "../../api/field_values.ts";
import type { ObjectKey } from "../../api/key.ts";
import type { KubernetesObject, ObjectMeta } from "../../api/object.ts";
import type { Quarantine } from "../cache/quarantine.ts";

/**
 * The fields that all events about an object have. `labels`, `metadata`, `object` and `previous` are parsed when they are first
 * read: `({ key }) => queue.add(key)` parses nothing, while naming `object` or `previous` in a parameter list reads it.
 *
 * All fields are getters, so spreading an event loses them.
 */
export interface ObjectEvent<T> extends Entry<T> {
  /** The type, key and version of the event, without the object; never parses. */
  toJSON(): unknown;
}

/** An object that is new to the handler. */
export interface AddedEvent<T> extends ObjectEvent<T> {
  /** Always `"added"`. */
  readonly type: "added";
  /** `true` if the object was there when the informer, or this handler, began. */
  readonly initial: boolean;
}

/** An object that has changed. */
export interface UpdatedEvent<T> extends ObjectEvent<T> {
  /** Always `"updated"`. */
  readonly type: "updated";
  /** The last state that the informer had seen before. Parsed on first read. Throws `DecodeError`. */
  readonly previous: T;
  /** The same state, unparsed: its metadata or labels cost less than the object. */
  readonly before: Entry<T>;
  /** `true` for a resync of this handler: the object did not change. */
  readonly resync: boolean;
}

/** An object that was deleted. */
export interface DeletedEvent<T> extends ObjectEvent<T> {
  /** Always `"deleted"`. */
  readonly type: "deleted";
  /** `true` if the informer missed the deletion (a tombstone): `object` is the last state it saw, which may be stale. */
  readonly finalStateUnknown: boolean;
}

/** The end of the initial objects. */
export interface SyncedEvent {
  /** Always `"synced"`. */
  readonly type: "synced";
  /** The number of cached objects at that time. */
  readonly objects: number;
  /** The version of the cache at that time. */
  readonly resourceVersion: string;
}

/** An event of an informer. */
export type InformerEvent<T> = AddedEvent<T> | UpdatedEvent<T> | DeletedEvent<T> | SyncedEvent;

const INSPECT = Symbol.for("nodejs.util.inspect.custom");

abstract class EntryEvent<T extends KubernetesObject> implements ObjectEvent<T> {
  readonly entry: Entry<T>;
  readonly quarantine: Quarantine<T>;

  constructor(entry: Entry<T>, quarantine: Quarantine<T>) {
    this.entry = entry;
    this.quarantine = quarantine;
  }

  get key(): ObjectKey {
    return this.entry.key;
  }

  get namespace(): string {
    return this.entry.namespace;
  }

  get name(): string {
    return this.entry.name;
  }

  get uid(): string {
    return this.entry.uid;
  }

  get resourceVersion(): string {
    return this.entry.resourceVersion;
  }

  get error(): DecodeError | undefined {
    return this.entry.error;
  }

  get metadata(): ObjectMeta {
    return this.quarantine.metadataOf(this.entry);
  }

  get labels(): Readonly<Record<string, string>> | undefined {
    return this.quarantine.labelsOf(this.entry);
  }

  get object(): T {
    return this.quarantine.objectOf(this.entry);
  }

  /** As `valuesAt()` of the entry. */
  valuesAt(keys: readonly string[]): readonly FieldValue[] {
    return this.quarantine.valuesOf(this.entry, keys);
  }

  abstract toJSON(): unknown;

  [INSPECT](): unknown {
    return this.toJSON();
  }
}

/** See {@linkcode AddedEvent}. */
export class Added<T extends KubernetesObject> extends EntryEvent<T> implements AddedEvent<T> {
  readonly initial: boolean;

  constructor(entry: Entry<T>, quarantine: Quarantine<T>, initial: boolean) {
    super(entry, quarantine);
    this.initial = initial;
  }

  get type(): "added" {
    return "added";
  }

  toJSON(): unknown {
    return { type: "added", key: this.key, resourceVersion: this.resourceVersion, initial: this.initial };
  }
}

/** See {@linkcode UpdatedEvent}. */
export class Updated<T extends KubernetesObject> extends EntryEvent<T> implements UpdatedEvent<T> {
  readonly before: Entry<T>;
  readonly resync: boolean;

  constructor(entry: Entry<T>, quarantine: Quarantine<T>, before: Entry<T>, resync: boolean) {
    super(entry, quarantine);
    this.before = before;
    this.resync = resync;
  }

  get type(): "updated" {
    return "updated";
  }

  get previous(): T {
    return this.quarantine.objectOf(this.before);
  }

  toJSON(): unknown {
    return { type: "updated", key: this.key, resourceVersion: this.resourceVersion, resync: this.resync };
  }
}

/** See {@linkcode DeletedEvent}. */
export class Deleted<T extends KubernetesObject> extends EntryEvent<T> implements DeletedEvent<T> {
  readonly finalStateUnknown: boolean;

  constructor(entry: Entry<T>, quarantine: Quarantine<T>, finalStateUnknown: boolean) {
    super(entry, quarantine);
    this.finalStateUnknown = finalStateUnknown;
  }

  get type(): "deleted" {
    return "deleted";
  }

  toJSON(): unknown {
    return {
      type: "deleted",
      key: this.key,
      resourceVersion: this.resourceVersion,
      finalStateUnknown: this.finalStateUnknown,
    };
  }
}

/** An event as the log holds it. */
export type LoggedEvent<T extends KubernetesObject> = Added<T> | Updated<T> | Deleted<T> | SyncedEvent;
