/**
 * Events, handlers and their options.
 *
 * {@linkcode InformerEvent} and {@linkcode ResourceEventHandler} are the entry points; {@linkcode HandlerOptions} has
 * the limit of a backlog. Events are delivered by `processor.ts`.
 *
 * @module
 */
import type { CacheEntry } from "../../api/entry.ts";
import type { KubernetesObject, ObjectKey, ObjectMeta } from "../../api/object.ts";
import { type Abortable, defined } from "../../api/options.ts";
import type { FieldValue } from "../../api/selector.ts";
import type { DecodeError } from "../../api/status.ts";
import { ofEntries, valuesAt } from "../../entry/path.ts";
import type { Quarantine } from "../cache/entry_transform.ts";
import type { Checkpoint } from "./checkpoint.ts";

/**
 * The fields that all events about an object have. `labels`, `metadata`, `object` and `previous` are parsed when they
 * are first read: `({ key }) => queue.add(key)` parses nothing, while naming `object` or `previous` in a parameter list
 * reads it.
 *
 * All fields are getters, so spreading an event loses them.
 */
export interface ObjectEvent<T> extends CacheEntry<T> {
  /** The name of the cluster, for an informer of one of several; see `CacheOptions.cluster`. */
  readonly cluster?: string;
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
  readonly before: CacheEntry<T>;
  /** `true` for a resync of this handler: the object did not change. */
  readonly resync: boolean;
}

/** An object that was deleted. */
export interface DeletedEvent<T> extends ObjectEvent<T> {
  /** Always `"deleted"`. */
  readonly type: "deleted";
  /**
   * `true` if the informer missed the deletion (a tombstone): `object` is the last state it saw, which may be stale.
   */
  readonly finalStateUnknown: boolean;
  /**
   * `"moved"` if the object was not deleted on the server, and is no longer followed: it is in a range of hashes that
   * this process gave up (`SharedIndexInformerOptions.shard`), in a namespace that no longer has the labels or the
   * rights that the informer asks for (`namespaces: { labels }` or `"readable"`), or in a cluster that was removed from
   * its `ClusterSet`. Handlers that delete what belongs to the object must not do so then.
   * @default {the object was deleted}
   */
  readonly reason?: "moved";
}

/** The end of the initial objects. */
export interface SyncedEvent {
  /** Always `"synced"`. */
  readonly type: "synced";
  /** The number of cached objects at that time. */
  readonly objects: number;
  /** The version of the cache at that time. */
  readonly resourceVersion: string;
  /** The name of the cluster, for an informer of one of several. */
  readonly cluster?: string;
}

/** An event of an informer. */
export type InformerEvent<T> = AddedEvent<T> | UpdatedEvent<T> | DeletedEvent<T> | SyncedEvent;

const INSPECT = Symbol.for("nodejs.util.inspect.custom");

abstract class EntryEvent<T extends KubernetesObject> implements ObjectEvent<T> {
  readonly entry: CacheEntry<T>;
  readonly quarantine: Quarantine<T>;

  constructor(entry: CacheEntry<T>, quarantine: Quarantine<T>) {
    this.entry = entry;
    this.quarantine = quarantine;
  }

  get cluster(): string | undefined {
    return this.quarantine.cluster;
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
    return this.quarantine.read(this.entry, (it) => it.metadata);
  }

  get labels(): Readonly<Record<string, string>> | undefined {
    return this.quarantine.read(this.entry, (it) => it.labels);
  }

  get object(): T {
    return this.quarantine.objectOf(this.entry);
  }

  /** As `valuesAt()` of the entry. */
  valuesAt(keys: readonly string[]): readonly FieldValue[] {
    return this.quarantine.read(this.entry, (it) => valuesAt(it, keys));
  }

  abstract readonly type: string;

  abstract toJSON(): unknown;

  /** The members that `toJSON()` has of all events: type, cluster, key and version. */
  protected get identity(): Readonly<Record<string, unknown>> {
    const { type, cluster, key, resourceVersion } = this;
    return { type, ...defined({ cluster }), key, resourceVersion };
  }

  [INSPECT](): unknown {
    return this.toJSON();
  }
}

/** See {@linkcode AddedEvent}. */
export class Added<T extends KubernetesObject> extends EntryEvent<T> implements AddedEvent<T> {
  readonly initial: boolean;

  constructor(entry: CacheEntry<T>, quarantine: Quarantine<T>, initial: boolean) {
    super(entry, quarantine);
    this.initial = initial;
  }

  get type(): "added" {
    return "added";
  }

  toJSON(): unknown {
    return { ...this.identity, initial: this.initial };
  }
}

/** See {@linkcode UpdatedEvent}. */
export class Updated<T extends KubernetesObject> extends EntryEvent<T> implements UpdatedEvent<T> {
  readonly before: CacheEntry<T>;
  readonly resync: boolean;

  constructor(entry: CacheEntry<T>, quarantine: Quarantine<T>, before: CacheEntry<T>, resync: boolean) {
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
    return { ...this.identity, resync: this.resync };
  }
}

/** See {@linkcode DeletedEvent}. */
export class Deleted<T extends KubernetesObject> extends EntryEvent<T> implements DeletedEvent<T> {
  readonly finalStateUnknown: boolean;
  declare readonly reason?: "moved";
  /** The entry that was cached; `entry` may be a later state. */
  readonly before: CacheEntry<T>;

  constructor(
    entry: CacheEntry<T>,
    quarantine: Quarantine<T>,
    finalStateUnknown: boolean,
    reason?: "moved",
    before: CacheEntry<T> = entry,
  ) {
    super(entry, quarantine);
    this.finalStateUnknown = finalStateUnknown;
    this.before = before;
    if (reason !== undefined) this.reason = reason;
  }

  get type(): "deleted" {
    return "deleted";
  }

  toJSON(): unknown {
    return { ...this.identity, finalStateUnknown: this.finalStateUnknown, ...defined({ reason: this.reason }) };
  }
}

/** Returns the entry of an event, which has the text of its object. */
export function entryOfEvent<T extends KubernetesObject>(event: ObjectEvent<T>): CacheEntry<T> {
  return event instanceof EntryEvent ? event.entry : event;
}

/** The entries of lists, and of objects that were read one by one. */
const listed = new WeakSet<object>();

/** Records that an entry did not come by a watch: there may have been changes before it that have no event. */
export function noteListed(entry: object): void {
  listed.add(entry);
}

/** Returns `true` for an event that shows one change, as a watch has sent it. */
export function isWatched(event: InformerEvent<unknown>): boolean {
  return event instanceof EntryEvent && !listed.has(event.entry) && !(event.type === "added" && event.initial) &&
    !(event.type === "updated" && event.resync);
}

/** An event as the log holds it. */
export type LoggedEvent<T extends KubernetesObject> = Added<T> | Updated<T> | Deleted<T> | SyncedEvent;

/**
 * Callbacks for changes. They are called one at a time, in order; a returned promise is awaited before the next call,
 * and any other returned value is ignored. The signal aborts when the handler is removed and when the informer stops.
 *
 * - The cache shows a change before its callback is called; it may show later changes too.
 * - Handlers do not wait for each other. An error that a callback throws is reported, and the next event follows.
 * - Within a watch, events come in the order in which the server sent them, across objects.
 */
export interface ResourceEventHandler<T> {
  /** Called for an object that is new to the handler. */
  onAdd?(event: AddedEvent<T>, options: Required<Abortable>): unknown;
  /** Called for an object that has changed, and for a resync. */
  onUpdate?(event: UpdatedEvent<T>, options: Required<Abortable>): unknown;
  /** Called for an object that was deleted. */
  onDelete?(event: DeletedEvent<T>, options: Required<Abortable>): unknown;
  /** Called once, behind all initial objects. */
  onSynced?(event: SyncedEvent, options: Required<Abortable>): unknown;
}

/** The policy for a handler that falls behind; see {@linkcode HandlerOptions.backlog}. */
export type BacklogPolicy = "keep" | "latestPerKey" | { readonly max: number };

/** Options of a handler or event stream. The signal removes the handler, or ends the stream. */
export interface HandlerOptions<T> extends Abortable {
  /** The handler's name in status and errors. @default {"handler 1", counted per informer} */
  readonly name?: string;
  /**
   * The resync period in milliseconds: all objects are delivered again as updates with `resync`; 0 or `Infinity` is
   * never.
   *
   * @default {the informer's}
   */
  readonly resyncMs?: number;
  /**
   * Restricts the handler to objects for which it holds: one that begins to pass is added, one that no longer passes is
   * deleted. It reads, and so parses, every object; one of {@linkcode field} reads a field without parsing. An object
   * for which it throws does not pass, and the error is reported.
   */
  readonly filter?: (object: T) => boolean;
  /**
   * The policy for a handler that falls behind. `"keep"` keeps every event. `"latestPerKey"` folds the pending events
   * of an object into the fewest that lead to its state. `{ max }` ends the registration with an error when more events
   * are pending, not counting the initial ones, and the handler does not catch up in its turns.
   *
   * @default {"keep"}
   */
  readonly backlog?: BacklogPolicy;
  /**
   * Begins where an earlier handler or stream with this checkpoint has ended, in this process or one before; see
   * {@linkcode Checkpoint}. Deliveries wait until the informer has synced.
   *
   * @default {it begins with the cached objects}
   */
  readonly checkpoint?: Checkpoint;
  /**
   * The duration, in milliseconds, after which the status calls a running call slow; `Infinity` is never.
   *
   * @default {1_000}
   */
  readonly slowMs?: number;
}

/**
 * The registration of a handler at an informer. Disposing it removes the handler and waits for the running call; from
 * inside the handler it does not wait for that call. After an `await` the informer cannot see where it is called from,
 * and the disposal rejects after `graceMs`: call {@linkcode HandlerRegistration.remove} there.
 */
export interface HandlerRegistration extends AsyncDisposable {
  /** The handler's name in status and errors. */
  readonly name: string;
  /** `true` once the handler has been called for all initial objects, and these calls have returned. */
  readonly hasSynced: boolean;
  /** The number of events that the handler has not been called for. */
  readonly pending: number;
  /**
   * Resolves once {@linkcode hasSynced}.
   *
   * @throws {WaitError} when the signal aborts, the handler is removed, or the informer stops first.
   * @throws {Error} when the handler was removed because its backlog exceeded `{ max }`.
   */
  waitForSync(options?: Abortable): Promise<void>;
  /**
   * Gives up the event of an object about which the calls of a handler with a checkpoint fail: it counts as delivered,
   * and the next event follows. Returns `false` if the handler does not wait for that object; `status().handlers` names
   * it.
   */
  skip(key: ObjectKey): boolean;
  /** Removes the handler. A running call continues, with its signal aborted. May be called from inside the handler. */
  remove(): void;
}

/**
 * Rewrites events for a reader that asked for some objects only: an object that begins to pass is added, one that no
 * longer passes is deleted (client-go: `FilteringResourceEventHandler`).
 */
export class EventFilter<T extends KubernetesObject> {
  readonly #passes: (entry: CacheEntry<T>) => boolean;
  readonly #quarantine: Quarantine<T>;
  readonly #report: (error: unknown) => void;
  /**
   * Keys of the objects that the reader knows. Asking `passes` again about an earlier state could give another answer.
   */
  readonly #known = new Set<string>();

  /** An object for which `passes` throws does not pass, and the error goes to `report`. */
  constructor(passes: (object: T) => boolean, quarantine: Quarantine<T>, report: (error: unknown) => void) {
    this.#passes = ofEntries(passes);
    this.#quarantine = quarantine;
    this.#report = report;
  }

  /** The event for the reader, if there is one. */
  apply(event: LoggedEvent<T>): LoggedEvent<T> | undefined {
    if (event.type === "synced") return event;
    const { key } = event;
    if (event.type === "deleted") return this.#known.delete(key) ? event : undefined;
    if (this.#holds(event)) {
      if (this.#known.has(key)) return event;
      this.#known.add(key);
      return event.type === "added" ? event : new Added(event.entry, this.#quarantine, false);
    }
    if (!this.#known.delete(key)) return undefined;
    return new Deleted(event instanceof Updated ? event.before : event.entry, this.#quarantine, false);
  }

  #holds(event: LoggedEvent<T> & { readonly type: "added" | "updated" }): boolean {
    try {
      return this.#passes(event);
    } catch (error) {
      if (error !== event.error) this.#report(error); // the quarantine reports an object that cannot be read
      return false;
    }
  }
}
