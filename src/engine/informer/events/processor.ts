/**
 * Delivers an informer's events to its handlers and event streams.
 *
 * {@linkcode Processor} is the entry point: it appends each event to one `EventLog`, and every `Listener` (push) and
 * `EventStream` (pull) reads that log through its own `Cursor`. The cursor of a late reader starts with a snapshot of
 * the cache, taken in the turn in which the reader is added. It does not write to the cache and does not know where
 * events come from.
 *
 * @module
 */
import type { CacheEntry } from "../../api/entry.ts";
import { defined } from "../../api/json.ts";
import type { KubernetesObject, ObjectKey } from "../../api/object.ts";
import { endsWithin, LongTimer } from "../../async/time.ts";
import { Pacer } from "../../async/turns.ts";
import { checkCounts, checkDurations } from "../../errors/checks.ts";
import { allEnded } from "../../errors/informer_error.ts";
import { checkNames, namesOf } from "../../errors/option_names.ts";
import { CheckpointReader } from "./checkpoint_reader.ts";
import { type Cursor, type CursorStart, openCursor } from "./cursors.ts";
import {
  Deleted,
  type HandlerOptions,
  type HandlerRegistration,
  type ResourceEventHandler,
  type SyncedEvent,
} from "./event.ts";
import { EventLog } from "./event_log.ts";
import type { EventReader, EventSource, ProcessorOptions, ReaderCallbacks } from "./event_reader.ts";
import { EventStream } from "./event_stream.ts";
import { DeliveryTimes, type FailingCalls, Listener } from "./listener.ts";

const HANDLERS = namesOf<ResourceEventHandler<KubernetesObject>>()("onAdd onUpdate onDelete onSynced");

/** The options that exist. */
const HANDLER_OPTIONS = "name resyncMs filter backlog checkpoint slowMs blockedMs signal";

/** The status of one handler or event stream. */
export interface HandlerStatus {
  /** The handler's name. */
  readonly name: string;
  /** The number of events that wait for the handler. */
  readonly pending: number;
  /** The number of errors that the handler and its filter have thrown. */
  readonly errors: number;
  /** `true` if a call has been running for longer than `slowMs`. */
  readonly slow: boolean;
  /** The number of calls that kept the event loop for longer than `blockedMs`, if there were any. */
  readonly blocked?: number;
  /** The checkpoint's version, if the handler has a checkpoint. */
  readonly checkpoint?: string;
  /** Failing calls that are repeated, if the handler has a checkpoint. */
  readonly failing?: FailingCalls;
}

/**
 * Distributes an informer's events to its handlers and event streams (client-go: `sharedProcessor`).
 */
export class Processor<T extends KubernetesObject> implements EventSource<T> {
  readonly options: ProcessorOptions<T>;
  /** The events, for all handlers and streams, which read them in later turns. */
  readonly log: EventLog<T> = new EventLog<T>();
  /** Set if and only if the delivery of new objects to handlers is to be measured. */
  deliveryTimes: DeliveryTimes | undefined;
  /** Shares event-loop time among all handlers and streams. */
  readonly #pacer = new Pacer();
  /** Has a listener if and only if it has not ended. A listener that ends leaves in a microtask. */
  readonly #listeners = new Set<Listener<T>>();
  /** Has a listener if and only if it has ended and its last call may be running. */
  readonly #leaving = new Set<Listener<T>>();
  /** The `synced` event; set if and only if the informer has synced. */
  #synced: SyncedEvent | undefined;
  /** Has a handler or stream, and its resync period, if and only if it has not ended; a stream has begun. */
  readonly #resyncs = new Map<Listener<T> | EventStream<T>, { readonly periodMs: number; readonly timer: LongTimer }>();
  /** The number of names given out to handlers and streams that have none. */
  #names = 0;
  /** `true` from `begin()` on. */
  #isRunning = false;
  /** `true` from `stop()` on, until it begins again: nothing is added. */
  #isStopped = false;

  constructor(options: ProcessorOptions<T>) {
    this.options = options;
  }

  /** The status of each handler, then of each event stream that has begun. */
  get status(): readonly HandlerStatus[] {
    return [
      ...[...this.#listeners].map(({ name, pending, errors, slow, blocked, checkpoint, failing }) => {
        return { name, pending, errors, slow, ...defined({ blocked, checkpoint, failing }) };
      }),
      ...this.#streams.map(({ name, pending, errors, checkpoint }) => {
        return { name, pending, errors, slow: false, ...defined({ checkpoint }) };
      }),
    ];
  }

  /** The handler whose call, before its first `await`, reads this property. */
  get caller(): Listener<T> | undefined {
    return this.#present.find(({ isCalling }) => isCalling);
  }

  /** Measures from now on how long it takes from the creation of objects to calls of handlers. */
  measureDelivery(): void {
    this.deliveryTimes ??= new DeliveryTimes();
  }

  /** The informer runs, perhaps again: resync periods begin, and suspended handlers continue. */
  begin(): void {
    this.#isRunning = true;
    this.#isStopped = false;
    for (const listener of this.#listeners) listener.resume();
    for (const { periodMs, timer } of this.#resyncs.values()) timer.arm(periodMs);
  }

  /** Delivers to all that the informer has synced, in later turns. */
  synced(): void {
    this.log.append(this.#synced = this.#syncedNow());
  }

  /** Delivers these entries, in later turns, as objects that were there initially. The caller gives the array away. */
  distributeInitial(entries: readonly CacheEntry<T>[]): void {
    this.log.appendInitial(entries);
  }

  /**
   * Delivers to all that the cached objects are no longer followed, as moved, and nothing after that. Resolves when the
   * handlers have received it, and are removed, after `graceMs` at the latest. It does not wait for the handler that
   * calls it.
   */
  async leave(): Promise<void> {
    const { cache: { store, quarantine }, graceMs } = this.options;
    const { caller } = this;
    const listeners = this.#present;
    for (const entry of store) this.log.append(new Deleted(entry, quarantine, false, "moved"));
    this.log.seal();
    const drained = listeners.map((listener) => listener === caller ? void listener.drain() : listener.drain());
    await endsWithin(graceMs, Promise.all(drained));
  }

  /**
   * Adds a handler.
   *
   * @throws {RangeError} when an option is out of range.
   * @throws {Error} when the informer has stopped.
   */
  add(handler: ResourceEventHandler<T>, options: HandlerOptions<T>): HandlerRegistration {
    checkNames("add a handler", options, HANDLER_OPTIONS);
    const calls = Object.entries(handler).filter(([name]) => name.startsWith("on"));
    if (Object.getPrototypeOf(handler)?.constructor === Object) {
      checkNames("add a handler", Object.fromEntries(calls), HANDLERS);
    }
    const listener = new Listener(handler, options, options.name ?? `handler ${++this.#names}`, this);
    this.#listeners.add(listener);
    if (!listener.isOver) this.begun(listener, options); // its signal may have aborted already
    return listener;
  }

  /**
   * Returns events as an iterator; with `key`, only the events of that object, which costs one look-up.
   *
   * @throws {RangeError} when an option is out of range.
   */
  stream(options: HandlerOptions<T>, key?: ObjectKey): EventStream<T> {
    checkNames("read events", options, HANDLER_OPTIONS);
    this.#checkOptions(options);
    return new EventStream<T>(options, options.name ?? `events ${++this.#names}`, this, key);
  }

  /**
   * Opens what a handler or stream reads from, at the cache as it is, or at its checkpoint. `onLost` receives the error
   * with which that ends.
   *
   * @throws as {@linkcode add}; `action` is part of the message.
   */
  open(action: string, options: HandlerOptions<T>, callbacks: ReaderCallbacks, key?: ObjectKey): EventReader<T> {
    if (this.#isStopped) throw new Error(`Cannot ${action} ${this.options.name}: it has stopped already`);
    this.#checkOptions(options);
    const { backlog, filter, checkpoint } = options;
    const open = (): Cursor<T> => openCursor(this.#start(key), { key, backlog, filter, ...callbacks });
    if (checkpoint === undefined) return open();
    const { cache: { quarantine }, present, resourceVersion, report } = this.options;
    return new CheckpointReader(checkpoint, { open, present, resourceVersion, quarantine, report, ...callbacks });
  }

  #start(key: ObjectKey | undefined): CursorStart<T> {
    const { cache } = this.options;
    return {
      entries: cache.entries(key),
      synced: this.#synced && this.#syncedNow(),
      log: this.log,
      quarantine: cache.quarantine,
      pacer: this.#pacer,
    };
  }

  /** Follows a reader that has begun: its resync period begins, too. */
  begun(reader: Listener<T> | EventStream<T>, { resyncMs }: HandlerOptions<T>, key?: ObjectKey): void {
    const periodMs = (resyncMs ?? this.options.resyncMs) || Infinity;
    const timer = new LongTimer(() => {
      timer.arm(periodMs);
      if (this.#synced !== undefined) reader.resync(this.options.cache.entries(key));
    });
    this.#resyncs.set(reader, { periodMs, timer });
    if (this.#isRunning) timer.arm(periodMs);
  }

  /** Forgets a reader that has ended. */
  ended(reader: Listener<T> | EventStream<T>): void {
    this.#resyncs.get(reader)?.timer[Symbol.dispose]();
    this.#resyncs.delete(reader);
    // After the constructor, which ends the listener when its signal has aborted already.
    if (reader instanceof Listener) queueMicrotask(() => this.#leave(reader));
  }

  /**
   * Ends all streams, removes all handlers, which aborts their signals, and waits for running calls, except a call of
   * `caller`. Unless it `isFinal`, it suspends the handlers instead, until it begins again.
   *
   * @throws {Error} that names the handlers whose call has not returned within `graceMs`.
   */
  async stop(caller?: Listener<T>, isFinal = true): Promise<void> {
    this.#isStopped = true;
    for (const { timer } of this.#resyncs.values()) timer[Symbol.dispose]();
    for (const stream of this.#streams) stream.end();
    caller?.remove();
    const listeners = this.#present.filter((listener) => listener !== caller);
    const ends = listeners.map((listener) => isFinal ? listener[Symbol.asyncDispose]() : listener.suspend());
    await allEnded(`stop all handlers of ${this.options.name}`, ends);
  }

  /** Removes all handlers, without waiting for their calls. */
  remove(): void {
    for (const listener of this.#listeners) listener.remove();
  }

  /** The streams that have begun and not ended. */
  get #streams(): EventStream<T>[] {
    return [...this.#resyncs.keys()].filter((reader) => reader instanceof EventStream);
  }

  /** All listeners whose call may be running. A listener that has just ended may be in both sets. */
  get #present(): Listener<T>[] {
    return [...new Set([...this.#listeners, ...this.#leaving])];
  }

  /** Returns a `synced` event of the present state, also for readers that are added after the initial sync. */
  #syncedNow(): SyncedEvent {
    const { cache: { store, quarantine: { cluster } }, resourceVersion } = this.options;
    return { type: "synced", ...defined({ cluster }), objects: store.size, resourceVersion: resourceVersion() };
  }

  #leave(listener: Listener<T>): void {
    if (!this.#listeners.delete(listener)) return;
    this.#leaving.add(listener);
    listener.finished.finally(() => this.#leaving.delete(listener));
  }

  #checkOptions(options: HandlerOptions<T>): void {
    const { resyncMs, slowMs, blockedMs, backlog = "keep" } = options;
    checkDurations("add a handler", { resyncMs, slowMs, blockedMs });
    if (typeof backlog === "object") checkCounts("add a handler", { "backlog.max": backlog.max }, { min: 1 });
  }
}
