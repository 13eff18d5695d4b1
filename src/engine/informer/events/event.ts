/**
 * Events, handlers and their options.
 *
 * {@linkcode InformerEvent} and {@linkcode ResourceEventHandler} are the entry points; {@linkcode HandlerOptions} has
 * the limit of a backlog. Events are delivered by `processor.ts`.
 *
 * @module
 */
import type { Abortable } from "../../api/call_options.ts";
import type { CacheEntry } from "../../api/entry.ts";
import { defined } from "../../api/json.ts";
import type { KubernetesObject, ObjectKey, ObjectMeta } from "../../api/object.ts";
import type { FieldValue } from "../../api/selector.ts";
import type { DecodeError } from "../../api/status.ts";
import { entryWithin } from "../../entry/entry_around.ts";
import { ofEntries, valuesAt } from "../../entry/path.ts";
import type { Quarantine } from "../cache/entry_transform.ts";
import type { Checkpoint } from "./checkpoint.ts";

/**
 * The fields that all object events have. `labels`, `metadata`, `object` and `previous` are parsed on first read:
 * `({ key }) => queue.add(key)` parses nothing. If you name `object` or `previous` in a parameter list, you read it.
 *
 * All fields are getters, so spreading an event loses them.
 */
export interface ObjectEvent<T> extends CacheEntry<T> {
  /** The cluster's name, if your program follows several. See `CacheOptions.cluster`. */
  readonly cluster?: string;
  /** Returns the event's type, key and version, without the object. Never parses. */
  toJSON(): unknown;
}

/** An object that is new to the handler. */
export interface AddedEvent<T> extends ObjectEvent<T> {
  /** Always `"added"`. */
  readonly type: "added";
  /** `true` if the object existed when the informer, or this handler, started. */
  readonly initial: boolean;
}

/** An object that has changed. */
export interface UpdatedEvent<T> extends ObjectEvent<T> {
  /** Always `"updated"`. */
  readonly type: "updated";
  /** The state before, as the informer last saw it. Parsed on first read. Throws `DecodeError` if it cannot be read. */
  readonly previous: T;
  /** The state before, unparsed. To read metadata or labels from it costs less than to read `previous`. */
  readonly before: CacheEntry<T>;
  /** `true` for a resync that you asked for: the object did not change. */
  readonly resync: boolean;
}

/** An object that was deleted, or that the informer stopped following (see `reason`). */
export interface DeletedEvent<T> extends ObjectEvent<T> {
  /** Always `"deleted"`. */
  readonly type: "deleted";
  /**
   * `true` if the informer missed the deletion (a tombstone): `object` is the last state it saw, which may be stale.
   */
  readonly finalStateUnknown: boolean;
  /**
   * Set if the object still exists on the server, but the informer stopped following it. Do not clean up in that case.
   * `"invalid"` if it does not fit its kind's schema any more (`CacheOptions.validate`): it is added again when it
   * does. `"moved"` in these cases:
   *
   * - Its shard range went to another process (`SharedIndexInformerOptions.shard`).
   * - Its namespace left the selection (`namespaces: { labels }` or `"readable"`).
   * - Its cluster was removed from the `ClusterSet`.
   *
   * `"scope"` if `SharedIndexInformer.rescope()` took it out of the selection. With new selectors,
   * `finalStateUnknown` is `true`, because an object that was deleted during the change has this reason too.
   */
  readonly reason?: "moved" | "invalid" | "scope";
}

/** The end of the initial objects. */
export interface SyncedEvent {
  /** Always `"synced"`. */
  readonly type: "synced";
  /** The number of cached objects at that moment. */
  readonly objects: number;
  /** The cache's version at that moment. */
  readonly resourceVersion: string;
  /** The cluster's name, if your program follows several. */
  readonly cluster?: string;
}

/** An event from an informer. */
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
  declare readonly reason?: DeletedEvent<T>["reason"];
  /** The entry that was cached; `entry` may be a later state. */
  readonly before: CacheEntry<T>;

  constructor(
    entry: CacheEntry<T>,
    quarantine: Quarantine<T>,
    finalStateUnknown: boolean,
    reason?: DeletedEvent<T>["reason"],
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

/** Returns the entry of an event's object itself, which has its text. */
export function entryOfEvent<T extends KubernetesObject>(event: ObjectEvent<T>): CacheEntry<T> {
  return entryWithin(event instanceof EntryEvent ? event.entry : event) as CacheEntry<T>;
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
 * Callbacks for changes. They are called one at a time and in order. If a callback returns a promise, the next event
 * waits for it. Any other return value is ignored. The signal aborts when the handler is removed or the informer stops.
 *
 * - When a callback runs, the cache shows this change, and perhaps later ones.
 * - Handlers do not wait for each other.
 * - An error does not stop the handler: it is reported, and the next event follows.
 * - Within a watch, events arrive in the server's order, across objects.
 */
export interface ResourceEventHandler<T> {
  /** Called for an object that is new to the handler. */
  onAdd?(event: AddedEvent<T>, options: Required<Abortable>): unknown;
  /** Called for a changed object, and for a resync. */
  onUpdate?(event: UpdatedEvent<T>, options: Required<Abortable>): unknown;
  /** Called for a deleted object. */
  onDelete?(event: DeletedEvent<T>, options: Required<Abortable>): unknown;
  /** Called once, after all initial objects. */
  onSynced?(event: SyncedEvent, options: Required<Abortable>): unknown;
}

/** The choice for events that wait for a slow handler, see {@linkcode HandlerOptions.backlog}. */
export type BacklogPolicy = "keep" | "latestPerKey" | { readonly max: number };

/** Options for a handler or event stream. The signal removes the handler, or ends the stream. */
export interface HandlerOptions<T> extends Abortable {
  /** The handler's name in status and errors. By default `"handler 1"` and so on, counted per informer. */
  readonly name?: string;
  /**
   * The resync period in milliseconds: all objects are delivered again, as updates with `resync: true`. 0 and
   * `Infinity` mean never. The default is the informer's `resyncMs`.
   */
  readonly resyncMs?: number;
  /**
   * Delivers only objects that the filter accepts. An object that starts to match arrives as added, and an object that
   * no longer matches arrives as deleted. A function reads, and so parses, every object. {@linkcode field} reads one
   * field without parsing. If the filter throws, the object does not match, and the error is reported.
   */
  readonly filter?: (object: T) => boolean;
  /**
   * The choice for events that wait because the handler is slow:
   *
   * - `"keep"` keeps every event.
   * - `"latestPerKey"` keeps the fewest events that lead to each object's newest state.
   * - `{ max }` ends the handler with an error when more events wait, and it does not catch up in its turns. The
   *   initial events do not count.
   *
   * @default {"keep"}
   */
  readonly backlog?: BacklogPolicy;
  /**
   * Continues where an earlier handler or stream with this {@linkcode Checkpoint} stopped, in this process or an
   * earlier one. Deliveries wait until the informer has synced. Without a checkpoint, the handler gets all cached
   * objects first.
   */
  readonly checkpoint?: Checkpoint;
  /**
   * After how many milliseconds the status calls a running call slow. `Infinity` means never.
   *
   * @default {1_000}
   */
  readonly slowMs?: number;
  /**
   * How many milliseconds a call may keep the event loop before it returns or awaits. The first call that takes longer
   * is reported to `onError`, and the status counts all of them. `Infinity` means never.
   *
   * @default {50}
   */
  readonly blockedMs?: number;
}

/**
 * A registered handler. Disposing it removes the handler and waits for the running call. If you dispose it inside the
 * handler, it does not wait for that call. After an `await` the informer cannot detect the handler, and the disposal
 * rejects after `graceMs`: call {@linkcode HandlerRegistration.remove} there instead.
 */
export interface HandlerRegistration extends AsyncDisposable {
  /** The handler's name in status and errors. */
  readonly name: string;
  /** `true` once the handler's calls for all initial objects have returned. */
  readonly hasSynced: boolean;
  /** The number of events that wait for the handler. */
  readonly pending: number;
  /**
   * Resolves when {@linkcode hasSynced} is `true`.
   *
   * @throws {WaitError} if the signal aborts, the handler is removed, or the informer stops first.
   * @throws {Error} if the handler was removed because its backlog exceeded `{ max }`.
   */
  waitForSync(options?: Abortable): Promise<void>;
  /**
   * Gives up an event on which a handler with a checkpoint keeps failing: it counts as delivered, and the next event
   * follows. `status().handlers` names the object. Returns `false` if the handler does not wait for this object.
   */
  skip(key: ObjectKey): boolean;
  /** Removes the handler. A running call continues, with its signal aborted. You may call this inside the handler. */
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
