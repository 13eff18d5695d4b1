/**
 * Calls one handler with an informer's events, one at a time.
 *
 * {@linkcode Listener} is the entry point. It reads through a cursor that its processor opens, repeats failing calls if
 * the handler has a checkpoint, and ends with the handler's signal. It does not know other handlers.
 *
 * @module
 */
import type { Abortable } from "../../api/call_options.ts";
import type { CacheEntry } from "../../api/entry.ts";
import type { KubernetesObject, ObjectKey } from "../../api/object.ts";
import { CoarseClock } from "../../async/coarse_clock.ts";
import { type Durations, Histogram } from "../../async/histogram.ts";
import { DerivedController, Latch } from "../../async/signals.ts";
import { backoffMs, endsWithin, LongTimer, sleep } from "../../async/time.ts";
import { InformerError } from "../../errors/informer_error.ts";
import { checkNames } from "../../errors/option_names.ts";
import type { Checkpoint } from "./checkpoint.ts";
import type { Added, HandlerOptions, HandlerRegistration, LoggedEvent, ResourceEventHandler } from "./event.ts";
import type { EventReader, EventSource } from "./event_reader.ts";

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
export class DeliveryTimes {
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
  readonly #processor: EventSource<T>;
  /** True if an addition that is not initial shows a new object: not with a filter, or a checkpoint. */
  readonly #showsCreations: boolean;
  readonly #slowMs: number;
  readonly #blockedMs: number;
  readonly #checkpoint: Checkpoint | undefined;
  /** Closed if and only if the listener has ended. */
  readonly #cursor: EventReader<T>;
  readonly #job: DerivedController;
  /** Aborts at the end of a run of the informer, too. */
  #calls: DerivedController;
  /** Set while it is suspended: `idle` opens once no call runs, and `over` with the end of that. */
  #rest: { readonly idle: Latch; readonly over: Latch } | undefined;
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
  /** See {@linkcode HandlerStatus}. */
  blocked: number | undefined;
  /** Set while the calls of a handler with a checkpoint are repeated. */
  #failing: (FailingCalls & { readonly skip: AbortController }) | undefined;

  constructor(
    handler: ResourceEventHandler<T>,
    options: HandlerOptions<T>,
    name: string,
    processor: EventSource<T>,
  ) {
    this.name = name;
    this.#showsCreations = options.filter === undefined && options.checkpoint === undefined;
    this.#handler = handler;
    this.#processor = processor;
    this.#slowMs = options.slowMs ?? 1_000;
    this.#blockedMs = options.blockedMs ?? 50;
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
    this.#calls = new DerivedController(this.#job.signal);
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

  /** Delivers these entries as a resync, once the handler has synced; see `Cursor.resync()`. */
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
    if (!this.isCalling) await this.#returned(this.finished);
  }

  /**
   * Aborts the signal of a running call, and calls nothing more until {@linkcode resume}. What is pending stays. One
   * with a checkpoint ends, since it begins there again. Rejects as the disposal.
   */
  async suspend(): Promise<void> {
    if (this.#checkpoint !== undefined) return await this[Symbol.asyncDispose]();
    const rest = this.#rest = { idle: new Latch(), over: new Latch() };
    this.#calls.abort(new DOMException(`The informer of handler "${this.name}" stopped`, "AbortError"));
    this.#synced.notify(new HandlerRemovedError(`The informer of handler "${this.name}" stopped`));
    if (this.#callStartedAt !== undefined) await this.#returned(Promise.race([rest.idle.wait(), this.finished]));
  }

  /** Continues after {@linkcode suspend}. */
  resume(): void {
    if (this.#rest === undefined) return;
    this.#calls = new DerivedController(this.#job.signal);
    this.#rest.over.open();
    this.#rest = undefined;
  }

  /** Awaits the end of a running call for up to `graceMs`. */
  async #returned(returned: Promise<void>): Promise<void> {
    const { graceMs, report } = this.#processor.options;
    using notice = new LongTimer(() => {
      const why =
        `its call has not returned ${NOTICE_MS} ms after the stop. The informer waits for up to ${graceMs} ms`;
      report(new Error(`Waiting for handler "${this.name}": ${why}`));
    });
    if (graceMs > NOTICE_MS) notice.arm(NOTICE_MS);
    if (await endsWithin(graceMs, returned)) return;
    throw new Error(`Cannot finish handler "${this.name}": its call has not returned within ${graceMs} ms`);
  }

  #end(reason: Error): void {
    if (this.#cursor.isClosed) return;
    this.#cursor.close();
    this.#job.abort(new DOMException(`Handler "${this.name}" was removed, or its informer stopped`, "AbortError"));
    this.#synced.fail(reason);
    this.#rest?.over.open();
    this.#processor.ended(this);
  }

  #endWith(error: Error): void {
    this.#end(error);
    this.#processor.options.report(error);
  }

  async #run(): Promise<void> {
    const cursor = this.#cursor;
    let options = { signal: this.#calls.signal };
    await Promise.resolve(); // a handler is not called before the method that adds it has returned
    for (;;) {
      const event = this.#rest === undefined ? cursor.poll() : undefined;
      if (event === undefined) {
        if (this.#isDraining && cursor.pending === 0) this.remove();
        if (cursor.isClosed) return await cursor.settled();
        this.#rest?.idle.open();
        await (this.#rest?.over.wait() ?? cursor.wait());
        options = { signal: this.#calls.signal };
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
    const began = this.#clock.now();
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
      const blockedMs = this.#clock.now() - began;
      if (blockedMs > this.#blockedMs) this.#noteBlocked(event.type, blockedMs);
    }
  }

  #noteBlocked(type: string, blockedMs: number): void {
    this.blocked = (this.blocked ?? 0) + 1;
    if (this.blocked > 1) return;
    const what = `Handler "${this.name}" kept the event loop for ${blockedMs} ms on "${type}"`;
    const advice = "Nothing else ran meanwhile. Await between parts of the work, or do it in a Worker";
    this.#processor.options.report(new InformerError(`${what}. ${advice}`));
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
