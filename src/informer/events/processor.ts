import type { Entry } from "../../api/entry.ts";
import type { ObjectKey } from "../../api/key.ts";
import type { KubernetesObject } from "../../api/object.ts";
import { checkDurations } from "../../async/time/duration.ts";
import { Pacer } from "../../async/pacer.ts";
import type { BacklogStart } from "./backlog.ts";
import type { InformerEvent, LoggedEvent, SyncedEvent } from "./event.ts";
import { EventLog } from "./event_log.ts";
import { EventStream } from "./event_stream.ts";
import type { HandlerOptions, HandlerRegistration, ResourceEventHandler } from "./handler.ts";
import { Listener } from "./listener.ts";
import type { Quarantine } from "../cache/quarantine.ts";
import { ResyncTimer } from "./resync_timer.ts";

/** What is true of one handler right now. */
export interface HandlerStatus {
  /** What it is called. */
  readonly name: string;
  /** How many events it has still to be told. */
  readonly pending: number;
  /** What it and its filter have thrown so far. */
  readonly errors: number;
  /** Whether a call has been going on for longer than its `slowMs`. */
  readonly slow: boolean;
}

/** What a processor needs of the informer around it. */
export interface ProcessorOptions<T extends KubernetesObject> {
  /** What the informer is called in messages. */
  readonly name: string;
  /** What the cache holds in this turn: all of it, or the object of a key. */
  readonly entries: (key?: ObjectKey) => readonly Entry<T>[];
  /** How many objects the cache holds. */
  readonly size: () => number;
  /** The version up to which the cache has everything. */
  readonly resourceVersion: () => string;
  /** How readers read. */
  readonly quarantine: Quarantine<T>;
  /** Told of everything that went wrong with a handler. */
  readonly report: (error: unknown) => void;
  /** The period of handlers that name none. */
  readonly resyncMs: number;
  /** How long a shutdown waits for handlers. */
  readonly graceMs: number;
}

/** All who are told: handlers and event streams, each at its own place in one log. */
export class Processor<T extends KubernetesObject> {
  readonly #options: ProcessorOptions<T>;
  readonly #log = new EventLog<T>();
  /** One for all, however many: together they leave others their turns. */
  readonly #pacer = new Pacer();
  readonly #listeners = new Set<Listener<T>>();
  readonly #streams = new Set<EventStream<T>>();
  /** Removed, but their last call may still be going on. */
  readonly #leaving = new Set<Listener<T>>();
  #synced: SyncedEvent | undefined;
  readonly #timers = new Set<ResyncTimer>();
  #names = 0;
  #running = false;
  #stopped = false;

  constructor(options: ProcessorOptions<T>) {
    this.#options = options;
  }

  /** What is true of each of them right now. */
  get status(): readonly HandlerStatus[] {
    return [
      ...[...this.#listeners].map(({ name, pending, errors, slow }) => ({ name, pending, errors, slow })),
      ...[...this.#streams].map(({ name, pending, errors }) => ({ name, pending, errors, slow: false })),
    ];
  }

  /** Whether nobody would be told. */
  get idle(): boolean {
    return this.#listeners.size === 0 && this.#streams.size === 0;
  }

  /** The handler from inside whose call this is asked, if it has not waited for anything yet. */
  get caller(): Listener<T> | undefined {
    return this.#present.find(({ isCalling }) => isCalling);
  }

  /** The informer runs: resyncs are due from now on. */
  begin(): void {
    this.#running = true;
    for (const timer of this.#timers) timer.begin();
  }

  /** Tells everybody, in later turns. */
  tell(event: LoggedEvent<T>): void {
    if (event.type === "synced") this.#synced = event;
    if (!this.idle) this.#log.append(event);
  }

  /** Tells everybody, in later turns, that these are there, and were from the beginning; the array is not yours any more. */
  tellAll(entries: readonly Entry<T>[]): void {
    // mutant: synced-before-initial, first-list-not-delivered
    if (!this.idle && entries.length > 0) this.#log.appendInitial(entries);
  }

  /** @throws {RangeError} when an option is out of range. @throws {Error} when the informer has stopped. */
  add(handler: ResourceEventHandler<T>, options: HandlerOptions<T>): HandlerRegistration {
    this.#check("add a handler to", options);
    const name = options.name ?? `handler ${++this.#names}`;
    const { report, graceMs } = this.#options;
    const resync = this.#resync(options, () => listener.resync(this.#options.entries()));
    const listener: Listener<T> = new Listener(handler, options, name, {
      report,
      graceMs,
      ended: () => {
        this.#end(resync);
        // Ended within its own construction, when its signal had aborted before.
        queueMicrotask(() => this.#leave(listener));
      },
    }, this.#start());
    this.#listeners.add(listener);
    return listener;
  }

  /**
   * Events as an iterator; with `key`, those of that object alone, which costs a look-up.
   *
   * @throws {RangeError} when an option is out of range.
   */
  stream(options: HandlerOptions<T>, key?: ObjectKey): AsyncIterableIterator<InformerEvent<T>> {
    this.#checkOptions(options);
    return new EventStream<T>(options, options.name ?? `events ${++this.#names}`, {
      pacer: this.#pacer,
      key,
      start: () => {
        this.#check("read events of", options);
        return this.#start(key);
      },
      report: this.#options.report,
      began: (stream) => {
        this.#streams.add(stream);
        const resync = this.#resync(options, () => stream.resync(this.#options.entries(key)));
        return () => {
          this.#end(resync);
          this.#streams.delete(stream);
        };
      },
    });
  }

  /**
   * Ends all streams, removes all handlers, which aborts their signals, and waits for calls in progress, except for a call of
   * `caller`.
   *
   * @throws {Error} that names the handlers whose call has not returned in time.
   */
  async stop(caller?: Listener<T>): Promise<void> {
    this.#stopped = true;
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
      const messages = errors.map((error) => (error as Error).message).join("; ");
      throw new AggregateError(errors, `Cannot stop all handlers of ${this.#options.name}: ${messages}`);
    }
  }

  /** All handlers whose call may be going on. A handler that was just removed may be in both sets. */
  get #present(): Listener<T>[] {
    return [...new Set([...this.#listeners, ...this.#leaving])];
  }

  #start(key?: ObjectKey): BacklogStart<T> {
    const { entries, quarantine } = this.#options;
    return {
      // mutant: late-handler-misses-cache, late-handler-hears-twice
      entries: entries(key),
      synced: this.#synced && this.#syncedNow(),
      log: this.#log,
      quarantine,
      pacer: this.#pacer,
    };
  }

  /** What a late one is told when it has been told of what was there as it came. */
  #syncedNow(): SyncedEvent {
    const { size, resourceVersion } = this.#options;
    return { type: "synced", objects: size(), resourceVersion: resourceVersion() };
  }

  #resync(options: HandlerOptions<T>, tick: () => void): ResyncTimer {
    // mutant: resync-for-all
    const timer = new ResyncTimer(options.resyncMs ?? this.#options.resyncMs, () => {
      if (this.#synced !== undefined) tick();
    });
    this.#timers.add(timer);
    if (this.#running) timer.begin();
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
    if (this.#stopped) throw new Error(`Cannot ${action} ${this.#options.name}: it has stopped already`);
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
