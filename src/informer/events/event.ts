import type { Entry } from "../../api/entry.ts";
import type { DecodeError } from "../../api/errors.ts";
import type { ObjectKey } from "../../api/key.ts";
import type { KubernetesObject, ObjectMeta } from "../../api/object.ts";
import type { Quarantine } from "../cache/quarantine.ts";

/**
 * What every event about an object says. `labels`, `metadata`, `object` and `previous` are parsed only if somebody reads them:
 * `({ key }) => queue.add(key)` costs nothing, while naming `object` or `previous` in a parameter list reads it.
 *
 * All fields are getters: spreading an event loses them.
 */
export interface ObjectEvent<T> extends Entry<T> {
  /** What happened and to what, without the object: never parses. */
  toJSON(): unknown;
}

/** An object is there. */
export interface AddedEvent<T> extends ObjectEvent<T> {
  /** Always `"added"`. */
  readonly type: "added";
  /** Whether it was there when the informer, or this handler, began. */
  readonly initial: boolean;
}

/** An object has changed. */
export interface UpdatedEvent<T> extends ObjectEvent<T> {
  /** Always `"updated"`. */
  readonly type: "updated";
  /** The state before, as far as it was seen. Parsed on first read. Throws `DecodeError`. */
  readonly previous: T;
  /** The object did not change: this handler's resync. */
  readonly resync: boolean;
}

/** An object is gone. */
export interface DeletedEvent<T> extends ObjectEvent<T> {
  /** Always `"deleted"`. */
  readonly type: "deleted";
  /** The deletion was noticed afterwards: `object` is the last state seen, not the last there was. */
  readonly finalStateUnknown: boolean;
}

/** All that was there at first has been told. */
export interface SyncedEvent {
  /** Always `"synced"`. */
  readonly type: "synced";
  /** How many objects there were. */
  readonly objects: number;
  /** The version the cache had then. */
  readonly resourceVersion: string;
}

/** What an informer tells. */
export type InformerEvent<T> = AddedEvent<T> | UpdatedEvent<T> | DeletedEvent<T> | SyncedEvent;

/** The events about one object. */
export type Told<T> = AddedEvent<T> | UpdatedEvent<T> | DeletedEvent<T>;

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

/** The events as the log holds them. */
export type LoggedEvent<T extends KubernetesObject> = Added<T> | Updated<T> | Deleted<T> | SyncedEvent;
