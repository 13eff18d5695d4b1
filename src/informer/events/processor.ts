/**
 * Delivers an informer's events.
 *
 * {@linkcode Processor} is the entry point: it appends each event to one `EventLog`, and every `Listener` (push) and
 * `EventStream` (pull) reads that log through its own `Cursor`. The cursor of a late reader starts with a snapshot of
 * the cache, taken in the turn in which the reader is added. This folder does not write to the cache and does not know
 * the source of the events.
 *
 * @module
 */

import { checkDurations, LongTimer } from "../../async/time.ts";
import type { Entry } from "../../api/options.ts";
import type { KubernetesObject, ObjectKey } from "../../api/object.ts";
import { errorLine } from "../../errors/errors.ts";
import { InformerError } from "../../errors/informer_error.ts";
import { Pacer } from "../../async/turns.ts";
import { type CursorStart, EventLog } from "./event_log.ts";
import type { HandlerOptions, HandlerRegistration, LoggedEvent, ResourceEventHandler, SyncedEvent } from "./event.ts";
import { EventStream } from "./event_stream.ts";
import { Listener } from "./listener.ts";
import type { ObjectCache } from "../cache/lister.ts";

/** Calls a function at a fixed period, from `begin()` to `end()`. */
export class ResyncTimer {
  readonly #periodMs: number;
  readonly #timer: LongTimer;
  /** `true` from `end()` on. */
  #isOver = false;

  /** Makes a timer that does not run yet; with a period of 0 or `Infinity` it never calls `tick`. */
  constructor(periodMs: number, tick: () => void) {
    this.#periodMs = periodMs;
    this.#timer = new LongTimer(() => {
      this.begin();
      tick();
    });
  }

  /** Starts the timer, unless it runs or has ended. */
  begin(): void {
    if (this.#periodMs > 0 && !this.#isOver && !this.#timer.isArmed) this.#timer.arm(this.#periodMs);
  }

  /** Stops the timer permanently. */
  end(): void {
    this.#isOver = true;
    this.#timer[Symbol.dispose]();
  }
}

/** The status of one handler or event stream. */
export interface HandlerStatus {
  /** Its name. */
  readonly name: string;
  /** The number of events that have not been delivered to it. */
  readonly pending: number;
  /** The number of errors that it and its filter have thrown. */
  readonly errors: number;
  /** `true` if a call has been running for longer than `slowMs`. */
  readonly slow: boolean;
}

/** A processor's connection to its informer. */
interface ProcessorOptions<T extends KubernetesObject> {
  /** The informer's name in messages. */
  readonly name: string;
  /** The cached objects. */
  readonly cache: ObjectCache<T>;
  /** Returns the version up to which the cache has everything. */
  readonly resourceVersion: () => string;
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
  readonly #options: ProcessorOptions<T>;
  readonly #log = new EventLog<T>();
  /** Shares event-loop time among all handlers and streams. */
  readonly #pacer = new Pacer();
  /** Has a listener if and only if it has not ended. One that ends leaves in a microtask. */
  readonly #listeners = new Set<Listener<T>>();
  /** Has a stream if and only if it has begun and not ended. */
  readonly #streams = new Set<EventStream<T>>();
  /** Has a listener if and only if it has ended and its last call may be running. */
  readonly #leaving = new Set<Listener<T>>();
  /** The `synced` event; set if and only if the informer has synced. */
  #synced: SyncedEvent | undefined;
  /** Has a timer if and only if its handler or stream has not ended. */
  readonly #timers = new Set<ResyncTimer>();
  /** The number of names given out to handlers and streams that have none. */
  #names = 0;
  /** `true` from `begin()` on. */
  #isRunning = false;
  /** `true` from `stop()` on: nothing is added any more. */
  #isStopped = false;

  constructor(options: ProcessorOptions<T>) {
    this.#options = options;
  }

  /** The status of each handler, then of each event stream that has begun. */
  get status(): readonly HandlerStatus[] {
    return [
      ...[...this.#listeners].map(({ name, pending, errors, slow }) => ({ name, pending, errors, slow })),
      ...[...this.#streams].map(({ name, pending, errors }) => ({ name, pending, errors, slow: false })),
    ];
  }

  /** The handler whose call, before its first `await`, reads this property. */
  get caller(): Listener<T> | undefined {
    return this.#present.find(({ isCalling }) => isCalling);
  }

  /** The informer runs: resync periods begin. */
  begin(): void {
    this.#isRunning = true;
    for (const timer of this.#timers) timer.begin();
  }

  /** Delivers an event to all handlers and streams, in later turns. */
  distribute(event: LoggedEvent<T>): void {
    if (this.#listeners.size > 0 || this.#streams.size > 0) this.#log.append(event);
  }

  /** Delivers to all that the informer has synced, in later turns. */
  synced(): void {
    this.distribute(this.#synced = this.#syncedNow());
  }

  /** Delivers these entries, in later turns, as objects that were there initially. The caller gives the array away. */
  distributeInitial(entries: readonly Entry<T>[]): void {
    // mutant: synced-before-initial, first-list-not-delivered
    this.#log.appendInitial(entries);
  }

  /**
   * Adds a handler.
   *
   * @throws {RangeError} when an option is out of range.
   * @throws {Error} when the informer has stopped.
   */
  add(handler: ResourceEventHandler<T>, options: HandlerOptions<T>): HandlerRegistration {
    this.#check("add a handler to", options);
    const name = options.name ?? `handler ${++this.#names}`;
    const { report, waitForSync, graceMs } = this.#options;
    const resync = this.#resync(options, () => listener.resync(this.#options.cache.entries()));
    const listener: Listener<T> = new Listener(handler, options, name, {
      report,
      waitForSync,
      graceMs,
      onEnd: () => {
        this.#end(resync);
        // Behind the constructor, which ends the listener when its signal has aborted already.
        queueMicrotask(() => this.#leave(listener));
      },
    }, this.#start());
    this.#listeners.add(listener);
    return listener;
  }

  /**
   * Returns events as an iterator; with `key`, those of that object alone, which costs one look-up.
   *
   * @throws {RangeError} when an option is out of range.
   */
  stream(options: HandlerOptions<T>, key?: ObjectKey): EventStream<T> {
    this.#checkOptions(options);
    return new EventStream<T>(options, options.name ?? `events ${++this.#names}`, {
      key,
      start: () => {
        this.#check("read events of", options);
        return this.#start(key);
      },
      report: this.#options.report,
      onBegin: (stream) => {
        this.#streams.add(stream);
        const resync = this.#resync(options, () => stream.resync(this.#options.cache.entries(key)));
        return () => {
          this.#end(resync);
          this.#streams.delete(stream);
        };
      },
    });
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
    const errors: unknown[] = [];
    await Promise.all(listeners.map(async (listener) => {
      try {
        await listener[Symbol.asyncDispose]();
      } catch (error) {
        errors.push(error);
      }
    }));
    if (errors.length === 1) throw errors[0];
    if (errors.length > 1) {
      const messages = errors.map(errorLine).join("; ");
      throw new InformerError(`Cannot stop all handlers of ${this.#options.name}: ${messages}`, { cause: errors[0] });
    }
  }

  /** All listeners whose call may be running. One that has just ended may be in both sets. */
  get #present(): Listener<T>[] {
    return [...new Set([...this.#listeners, ...this.#leaving])];
  }

  #start(key?: ObjectKey): CursorStart<T> {
    const { cache } = this.#options;
    return {
      // mutant: late-handler-misses-cache, late-handler-receives-twice
      entries: cache.entries(key),
      synced: this.#synced && this.#syncedNow(),
      log: this.#log,
      quarantine: cache.quarantine,
      pacer: this.#pacer,
    };
  }

  /** Returns a `synced` event of the present state, also for readers that are added after the initial sync. */
  #syncedNow(): SyncedEvent {
    const { cache, resourceVersion } = this.#options;
    return { type: "synced", objects: cache.store.size, resourceVersion: resourceVersion() };
  }

  #resync(options: HandlerOptions<T>, tick: () => void): ResyncTimer {
    // mutant: resync-for-all
    const timer = new ResyncTimer(options.resyncMs ?? this.#options.resyncMs, () => {
      if (this.#synced !== undefined) tick();
    });
    this.#timers.add(timer);
    if (this.#isRunning) timer.begin();
    return timer;
  }

  #end(timer: ResyncTimer): void {
    timer.end();
    this.#timers.delete(timer);
  }

  #leave(listener: Listener<T>): void {
    if (!this.#listeners.delete(listener)) return;
    this.#leaving.add(listener);
    listener.finished.finally(() => this.#leaving.delete(listener));
  }

  #check(action: string, options: HandlerOptions<T>): void {
    if (this.#isStopped) throw new Error(`Cannot ${action} ${this.#options.name}: it has stopped already`);
    this.#checkOptions(options);
  }

  #checkOptions(options: HandlerOptions<T>): void {
    const { resyncMs, slowMs, backlog = "keep" } = options;
    checkDurations("add a handler", { resyncMs, slowMs });
    if (typeof backlog === "object" && !(Number.isInteger(backlog.max) && backlog.max > 0)) {
      throw new RangeError(`Cannot add a handler: backlog.max must be a positive integer, found ${backlog.max}`);
    }
  }
}
