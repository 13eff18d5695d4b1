/**
 * Delivers an informer's events.
 *
 * {@linkcode Processor} is the entry point: it appends each event to one `EventLog`, and every `Listener` (push) and
 * `EventStream` (pull) reads that log through its own `Cursor`. The cursor of a late reader starts with a snapshot of
 * the cache, taken in the turn in which the reader is added. It does not write to the cache and does not know
 * the source of the events.
 *
 * @module
 */

import type { CacheEntry } from "../../api/entry.ts";
import type { KubernetesObject, ObjectKey } from "../../api/object.ts";
import { type Abortable, defined } from "../../api/options.ts";
import { type Durations, Histogram } from "../../async/histogram.ts";
import { PolledIterator } from "../../async/iterate.ts";
import { DerivedController, Latch, Pacer } from "../../async/signals.ts";
import { backoffMs, CoarseClock, endsWithin, LongTimer, sleep } from "../../async/time.ts";
import { checkCounts, checkDurations } from "../../errors/checks.ts";
import { allEnded, InformerError } from "../../errors/informer_error.ts";
import { checkNames, namesOf } from "../../errors/option_names.ts";
import type { ObjectCache } from "../cache/object_cache.ts";
import type { Checkpoint } from "./checkpoint.ts";
import { CheckpointReader } from "./checkpoint_reader.ts";
import {
  type Added,
  Deleted,
  type HandlerOptions,
  type HandlerRegistration,
  type InformerEvent,
  type LoggedEvent,
  type ResourceEventHandler,
  type SyncedEvent,
} from "./event.ts";
import {
  type Cursor,
  type CursorOptions,
  type CursorStart,
  EventLog,
  type EventReader,
  openCursor,
} from "./event_log.ts";

const HANDLERS = namesOf<ResourceEventHandler<KubernetesObject>>()("onAdd onUpdate onDelete onSynced");

/** The options that exist. */
const HANDLER_OPTIONS = "name resyncMs filter backlog checkpoint slowMs signal";

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
  /** The checkpoint's version, if the handler has a checkpoint. */
  readonly checkpoint?: string;
  /** Failing calls that are repeated, if the handler has a checkpoint. */
  readonly failing?: FailingCalls;
}

/** An event on which a handler with a checkpoint keeps failing. */
export interface FailingCalls {
  /** The object's key, and `""` for the `synced` event. */
  readonly key: ObjectKey;
  /** When the first call failed. */
  readonly since: Date;
  /** The number of failures so far. */
  readonly failures: number;
}

/** The time of a stop after which it is reported what it waits for. */
const NOTICE_MS = 1_000;

/**
 * Measures the time from the creation of objects on the server to calls of handlers. It reads one field of each object,
 * and parses none.
 */
class DeliveryTimes {
  readonly #times = new Histogram();
  /** Objects that were created before this second, in milliseconds since 1970, are not measured. */
  readonly #sinceMs = Date.now() - Date.now() % 1_000;

  /** A summary of the times. */
  get durations(): Durations {
    return this.#times.durations;
  }

  /** Measures the addition of an object to a handler, which is about to be called. */
  delivered<T extends KubernetesObject>(event: Added<T>): void {
    try {
      const createdMs = Date.parse(String(event.valuesAt(CREATED)[0]));
      if (createdMs >= this.#sinceMs) this.#times.add(Math.max(0, Date.now() - createdMs));
    } catch (error) {
      if (error !== event.error) throw error; // the quarantine reports an object that cannot be read
    }
  }
}

const CREATED = ["metadata", "creationTimestamp"];

/** Ends waits for the sync of a handler. */
export class HandlerRemovedError extends Error {}

/**
 * Calls one handler with the events of its cursor; each call is awaited before the next (client-go:
 * `processorListener`).
 */
export class Listener<T extends KubernetesObject> implements HandlerRegistration {
  readonly name: string;
  readonly #handler: ResourceEventHandler<T>;
  readonly #processor: Pick<Processor<T>, "options" | "open" | "ended" | "deliveryTimes">;
  /** True if an addition that is not initial is that of a new object: not with a filter, or a checkpoint. */
  readonly #showsCreations: boolean;
  readonly #slowMs: number;
  readonly #checkpoint: Checkpoint | undefined;
  /** Closed if and only if the listener has ended. */
  readonly #cursor: EventReader<T>;
  readonly #job: DerivedController;
  readonly #synced = new Latch();
  /** Resolves when the last call has returned, after {@linkcode remove}, and the checkpoint is written. */
  readonly finished: Promise<void>;
  readonly #clock = new CoarseClock();
  /** Set if and only if the promise of a call is awaited. */
  #callStartedAt: number | undefined;
  /** `true` if and only if the handler is on the stack, before its first `await`. */
  isCalling = false;
  /** `true` from `drain()` on. */
  #isDraining = false;
  /** The number of errors of the handler and its filter. */
  errors = 0;
  /** Set while the calls of a handler with a checkpoint are repeated. */
  #failing: (FailingCalls & { readonly skip: AbortController }) | undefined;

  constructor(
    handler: ResourceEventHandler<T>,
    options: HandlerOptions<T>,
    name: string,
    processor: Pick<Processor<T>, "options" | "open" | "ended" | "deliveryTimes">,
  ) {
    this.name = name;
    this.#showsCreations = options.filter === undefined && options.checkpoint === undefined;
    this.#handler = handler;
    this.#processor = processor;
    this.#slowMs = options.slowMs ?? 1_000;
    this.#checkpoint = options.checkpoint;
    this.#cursor = processor.open("add a handler to", options, {
      onFilterError: (error) => this.#fail({ type: "filter" }, error),
      onOverrun: ({ message }) => {
        this.#endWith(new Error(`Handler "${this.name}" was removed: ${message}`));
      },
      onLost: (error) => this.#endWith(error),
    });
    this.#job = new DerivedController(options.signal);
    this.#job.signal.addEventListener("abort", () => this.remove(), { once: true });
    this.finished = this.#run();
    if (this.#job.signal.aborted) this.remove();
  }

  /** `true` once the listener has ended. */
  get isOver(): boolean {
    return this.#cursor.isClosed;
  }

  get hasSynced(): boolean {
    return this.#synced.isOpen;
  }

  get pending(): number {
    return this.#cursor.pending;
  }

  /** `true` if a call has been running for longer than `slowMs`. */
  get slow(): boolean {
    return this.#callStartedAt !== undefined && this.#clock.now() - this.#callStartedAt > this.#slowMs;
  }

  /** The version of the checkpoint, if there is one. */
  get checkpoint(): string | undefined {
    return this.#checkpoint?.version;
  }

  /** The calls that fail, of a handler with a checkpoint. */
  get failing(): FailingCalls | undefined {
    if (this.#failing === undefined) return undefined;
    const { key, since, failures } = this.#failing;
    return { key, since, failures };
  }

  /** Delivers these entries as a resync, once the handler has synced; see {@linkcode Cursor.resync}. */
  resync(entries: readonly CacheEntry<T>[]): void {
    if (this.#synced.isOpen) this.#cursor.resync(entries);
  }

  waitForSync(options: Abortable = {}): Promise<void> {
    checkNames("wait for a handler", options, "signal");
    return this.#processor.options.waitForSync(this.name, options.signal, () => this.#synced.wait(options));
  }

  /** Ends with `signal` too. */
  endWith(signal: AbortSignal): void {
    this.#job.follow(signal);
  }

  /** Ends once it has delivered what is pending; what begins at a checkpoint ends at once. Resolves as `finished`. */
  drain(): Promise<void> {
    this.#isDraining = true;
    if (this.#checkpoint !== undefined || (this.pending === 0 && this.#callStartedAt === undefined)) this.remove();
    return this.finished;
  }

  remove(): void {
    this.#end(new HandlerRemovedError(`Handler "${this.name}" was removed, or its informer stopped`));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.remove();
    // A call that disposes its own registration cannot be waited for.
    if (this.isCalling) return;
    const { graceMs, report } = this.#processor.options;
    using notice = new LongTimer(() => {
      const why =
        `its call has not returned ${NOTICE_MS} ms after the stop. The informer waits for up to ${graceMs} ms`;
      report(new Error(`Waiting for handler "${this.name}": ${why}`));
    });
    if (graceMs > NOTICE_MS) notice.arm(NOTICE_MS);
    if (await endsWithin(graceMs, this.finished)) return;
    throw new Error(`Cannot finish handler "${this.name}": its call has not returned within ${graceMs} ms`);
  }

  #end(reason: Error): void {
    if (this.#cursor.isClosed) return;
    this.#cursor.close();
    this.#job.abort(new DOMException(`Handler "${this.name}" was removed, or its informer stopped`, "AbortError"));
    this.#synced.fail(reason);
    this.#processor.ended(this);
  }

  #endWith(error: Error): void {
    this.#end(error);
    this.#processor.options.report(error);
  }

  async #run(): Promise<void> {
    const cursor = this.#cursor;
    const options = { signal: this.#job.signal };
    await Promise.resolve(); // a handler is not called before the method that adds it has returned
    for (;;) {
      const event = cursor.poll();
      if (event === undefined) {
        if (this.#isDraining && cursor.pending === 0) this.remove();
        if (cursor.isClosed) return await cursor.settled();
        await cursor.wait();
        continue;
      }
      try {
        const result = this.#call(event, options);
        if (isThenable(result)) {
          this.#callStartedAt = this.#clock.now(); // `slow` cannot have been read before now
          await result;
        }
      } catch (error) {
        this.#fail(event, error);
        if (!await this.#retry(event, error)) cursor.failed();
      } finally {
        this.#callStartedAt = undefined;
      }
    }
  }

  /**
   * Calls a handler with a checkpoint again about an event, with growing waits, until that succeeds, the key is
   * skipped, or the handler has ended. Returns `false` if the event was not delivered: in the end, and about an object
   * that cannot be read, which no further call would change.
   */
  async #retry(event: LoggedEvent<T>, error: unknown): Promise<boolean> {
    const key = event.type === "synced" ? "" : event.key;
    if (this.#checkpoint === undefined || (event.type !== "synced" && error === event.error)) return false;
    const skip = new AbortController();
    const failing = this.#failing = { key, since: new Date(), failures: 1, skip };
    using wait = new DerivedController(this.#job.signal, skip.signal);
    try {
      for (;; failing.failures++) {
        await sleep(backoffMs(failing.failures - 1, {}), { signal: wait.signal }).catch(() => {}); // it was ended
        if (wait.signal.aborted) return skip.signal.aborted;
        try {
          const result = this.#call(event, { signal: this.#job.signal });
          this.#callStartedAt = this.#clock.now();
          await result;
          return true;
        } catch (error) {
          this.#fail(event, error);
        } finally {
          this.#callStartedAt = undefined;
        }
      }
    } finally {
      this.#failing = undefined;
    }
  }

  skip(key: ObjectKey): boolean {
    if (this.#failing?.key !== key) return false;
    this.#failing.skip.abort();
    return true;
  }

  #call(event: LoggedEvent<T>, options: Required<Abortable>): unknown {
    this.isCalling = true;
    try {
      switch (event.type) {
        case "added":
          if (!event.initial && this.#showsCreations) this.#processor.deliveryTimes?.delivered(event);
          return this.#handler.onAdd?.(event, options);
        case "updated":
          return this.#handler.onUpdate?.(event, options);
        case "deleted":
          return this.#handler.onDelete?.(event, options);
        case "synced":
          this.#synced.open();
          return this.#handler.onSynced?.(event, options);
        default:
          return event satisfies never;
      }
    } finally {
      this.isCalling = false;
    }
  }

  #fail(during: { readonly type: string; readonly key?: string }, cause: unknown): void {
    this.errors++;
    const what = during.key === undefined ? `"${during.type}"` : `"${during.type}" of "${during.key}"`;
    this.#processor.options.report(new InformerError(`Handler "${this.name}" failed on ${what}`, { cause }));
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}

/** Events as an async iterator, the cached objects first. */
class EventStream<T extends KubernetesObject> extends PolledIterator<InformerEvent<T>> {
  readonly name: string;
  readonly #options: HandlerOptions<T>;
  readonly #processor: Pick<Processor<T>, "options" | "open" | "begun" | "ended">;
  readonly #key: ObjectKey | undefined;
  /** Set if and only if the stream has begun; closed if and only if it has ended since. */
  #cursor: EventReader<T> | undefined;
  /** The number of errors of the filter. */
  errors = 0;

  /** With `key`, the events of that object alone, and `synced`. */
  constructor(
    options: HandlerOptions<T>,
    name: string,
    processor: Pick<Processor<T>, "options" | "open" | "begun" | "ended">,
    key?: ObjectKey,
  ) {
    super(options.signal);
    this.name = name;
    this.#options = options;
    this.#processor = processor;
    this.#key = key;
  }

  /** The number of events that have not been taken; 0 before the stream begins. */
  get pending(): number {
    return this.#cursor?.pending ?? 0;
  }

  /** The version of the checkpoint, if there is one. */
  get checkpoint(): string | undefined {
    return this.#options.checkpoint?.version;
  }

  /** Adds these entries as a resync; see {@linkcode Cursor.resync}. */
  resync(entries: readonly CacheEntry<T>[]): void {
    this.#cursor?.resync(entries);
  }

  protected override poll(): InformerEvent<T> | undefined {
    return this.#cursor!.poll();
  }

  protected override wait(): Promise<void> {
    return this.#cursor!.wait();
  }

  protected override begin(): void {
    const key = this.#key;
    this.#cursor = this.#processor.open("read events of", this.#options, {
      onFilterError: (error) => {
        this.errors++;
        this.#processor.options.report(error);
      },
      onOverrun: (cause) => {
        this.end({ error: new Error(`Event stream "${this.name}" was ended: ${cause.message}`) });
      },
      onLost: (error) => this.end({ error }),
    }, key);
    this.#processor.begun(this, this.#options, key);
  }

  protected override finish(): void {
    if (this.#cursor === undefined) return;
    this.#cursor.close();
    void this.#cursor.settled();
    this.#processor.ended(this);
  }
}

/** A processor's connection to its informer. */
interface ProcessorOptions<T extends KubernetesObject> {
  /** The informer's name in messages. */
  readonly name: string;
  /** The cached objects. */
  readonly cache: ObjectCache<T>;
  /** Returns the version up to which the cache has everything. */
  readonly resourceVersion: () => string;
  /** Resolves once the cache is not older than the call. */
  readonly present: (signal: AbortSignal) => Promise<void>;
  /** Called with each error of a handler or stream. */
  readonly report: (error: unknown) => void;
  /** Awaits `call`, the wait for the sync of a handler; its end by the signal or a removal becomes a `WaitError`. */
  readonly waitForSync: (handler: string, signal: AbortSignal | undefined, call: () => Promise<void>) => Promise<void>;
  /** The resync period of handlers that name none, in milliseconds. */
  readonly resyncMs: number;
  /** The time that `stop()` waits for running calls, in milliseconds. */
  readonly graceMs: number;
}

/**
 * Distributes an informer's events to its handlers and event streams (client-go: `sharedProcessor`).
 */
export class Processor<T extends KubernetesObject> {
  readonly options: ProcessorOptions<T>;
  /** The events, for all handlers and streams, which read them in later turns. */
  readonly log: EventLog<T> = new EventLog<T>();
  /** Set if and only if the delivery of new objects to handlers is to be measured. */
  deliveryTimes: DeliveryTimes | undefined;
  /** Shares event-loop time among all handlers and streams. */
  readonly #pacer = new Pacer();
  /** Has a listener if and only if it has not ended. One that ends leaves in a microtask. */
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
  /** `true` from `stop()` on: nothing is added any more. */
  #isStopped = false;

  constructor(options: ProcessorOptions<T>) {
    this.options = options;
  }

  /** The status of each handler, then of each event stream that has begun. */
  get status(): readonly HandlerStatus[] {
    return [
      ...[...this.#listeners].map(({ name, pending, errors, slow, checkpoint, failing }) => {
        return { name, pending, errors, slow, ...defined({ checkpoint, failing }) };
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

  /** The informer runs: resync periods begin. */
  begin(): void {
    this.#isRunning = true;
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
   * handlers have received it, and are removed, but for the one whose call this is called from; after `graceMs` at the
   * latest.
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
   * Returns events as an iterator; with `key`, those of that object alone, which costs one look-up.
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
  open(
    action: string,
    options: HandlerOptions<T>,
    callbacks: Pick<CursorOptions<T>, "onFilterError" | "onOverrun"> & { readonly onLost: (error: Error) => void },
    key?: ObjectKey,
  ): EventReader<T> {
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
    // Behind the constructor, which ends the listener when its signal has aborted already.
    if (reader instanceof Listener) queueMicrotask(() => this.#leave(reader));
  }

  /**
   * Ends all streams, removes all handlers, which aborts their signals, and waits for running calls, except a call of
   * `caller`.
   *
   * @throws {Error} that names the handlers whose call has not returned within `graceMs`.
   */
  async stop(caller?: Listener<T>): Promise<void> {
    this.#isStopped = true;
    for (const stream of this.#streams) stream.end();
    caller?.remove();
    const listeners = this.#present.filter((listener) => listener !== caller);
    const ends = listeners.map((listener) => listener[Symbol.asyncDispose]());
    await allEnded(`stop all handlers of ${this.options.name}`, ends);
  }

  /** The streams that have begun and not ended. */
  get #streams(): EventStream<T>[] {
    return [...this.#resyncs.keys()].filter((reader) => reader instanceof EventStream);
  }

  /** All listeners whose call may be running. One that has just ended may be in both sets. */
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
    const { resyncMs, slowMs, backlog = "keep" } = options;
    checkDurations("add a handler", { resyncMs, slowMs });
    if (typeof backlog === "object") checkCounts("add a handler", { "backlog.max": backlog.max }, { min: 1 });
  }
}
