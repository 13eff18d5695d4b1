import type { Abortable, Entry } from "../../api/options.ts";
import type { KubernetesObject } from "../../api/object.ts";
import { CoarseClock, LongTimer } from "../../async/time.ts";
import { DerivedController, Latch } from "../../async/signals.ts";
import { InformerError } from "../../errors/informer_error.ts";
import { type Cursor, type CursorStart, openCursor } from "./event_log.ts";
import type { HandlerOptions, HandlerRegistration, LoggedEvent, ResourceEventHandler } from "./event.ts";

/** The time of a stop after which it is reported what it waits for. */
const NOTICE_MS = 1_000;

/** A listener's connection to its processor. */
interface ListenerContext {
  /**
   * Called with each error of the handler or its filter, and when the registration ends because it fell too far behind.
   */
  readonly report: (error: unknown) => void;
  /** Awaits `call`, the wait for the sync of a handler; its end by the signal or a removal becomes a `WaitError`. */
  readonly waitForSync: (handler: string, signal: AbortSignal | undefined, call: () => Promise<void>) => Promise<void>;
  /** Called once, when the listener ends. */
  readonly onEnd: () => void;
  /** The time that a disposal waits for the running call, in milliseconds. */
  readonly graceMs: number;
}

/** Ends waits for the sync of a handler. */
export class HandlerRemovedError extends Error {}

/**
 * Calls one handler with the events of its cursor; each call is awaited before the next (client-go:
 * `processorListener`).
 */
export class Listener<T extends KubernetesObject> implements HandlerRegistration {
  readonly name: string;
  readonly #handler: ResourceEventHandler<T>;
  readonly #context: ListenerContext;
  readonly #slowMs: number;
  /** Closed if and only if the listener has ended. */
  readonly #cursor: Cursor<T>;
  readonly #job: DerivedController;
  readonly #synced = new Latch();
  readonly #finished: Promise<void>;
  readonly #clock = new CoarseClock();
  /** Set if and only if the promise of a call is awaited. */
  #callStartedAt: number | undefined;
  /** `true` if and only if the handler is on the stack, before its first `await`. */
  #isCalling = false;
  /** Only rises. */
  #errors = 0;

  constructor(
    handler: ResourceEventHandler<T>,
    options: HandlerOptions<T>,
    name: string,
    context: ListenerContext,
    start: CursorStart<T>,
  ) {
    this.name = name;
    this.#handler = handler;
    this.#context = context;
    this.#slowMs = options.slowMs ?? 1_000;
    this.#cursor = openCursor(start, {
      backlog: options.backlog,
      filter: options.filter,
      onFilterError: (error) => this.#fail({ type: "filter" }, error),
      onOverrun: (error) => this.#overrun(error),
    });
    this.#job = new DerivedController(options.signal);
    this.#job.signal.addEventListener("abort", () => this.remove(), { once: true });
    this.#finished = this.#run();
    if (this.#job.signal.aborted) this.remove();
  }

  get hasSynced(): boolean {
    return this.#synced.isOpen;
  }

  get pending(): number {
    return this.#cursor.pending;
  }

  /** The number of errors of the handler and its filter. */
  get errors(): number {
    return this.#errors;
  }

  /** `true` if a call has been running for longer than `slowMs`. */
  get slow(): boolean {
    return this.#callStartedAt !== undefined && this.#clock.now() - this.#callStartedAt > this.#slowMs;
  }

  /** `true` if the code that reads it runs inside a call of the handler, before that call's first `await`. */
  get isCalling(): boolean {
    return this.#isCalling;
  }

  /** Resolves when the last call has returned, after {@linkcode remove}. */
  get finished(): Promise<void> {
    return this.#finished;
  }

  /** Delivers these entries as a resync, once the handler has synced; see {@linkcode Cursor.resync}. */
  resync(entries: readonly Entry<T>[]): void {
    if (this.#synced.isOpen) this.#cursor.resync(entries);
  }

  waitForSync(options: Abortable = {}): Promise<void> {
    return this.#context.waitForSync(this.name, options.signal, () => this.#synced.wait(options));
  }

  /** Ends with `signal` too. */
  endWith(signal: AbortSignal): void {
    this.#job.follow(signal);
  }

  remove(): void {
    this.#end(new HandlerRemovedError(`Handler "${this.name}" was removed, or its informer stopped`));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.remove();
    // A call that disposes its own registration cannot be waited for.
    if (this.#isCalling) return;
    const { graceMs } = this.#context;
    let fail!: (error: Error) => void;
    const late = new Promise<never>((_resolve, reject) => fail = reject);
    using timer = new LongTimer(() => {
      fail(new Error(`Cannot finish handler "${this.name}": its call has not returned within ${graceMs} ms`));
    });
    timer.arm(graceMs);
    using notice = new LongTimer(() => {
      const why = `its call has not returned ${NOTICE_MS} ms after the stop; waits at most ${graceMs} ms`;
      this.#context.report(new Error(`Waiting for handler "${this.name}": ${why}`));
    });
    if (graceMs > NOTICE_MS) notice.arm(NOTICE_MS);
    await Promise.race([this.#finished, late]);
  }

  #end(reason: Error): void {
    if (this.#cursor.isClosed) return;
    // mutant: removed-handler-called
    this.#cursor.close();
    this.#job.abort(new DOMException(`Handler "${this.name}" was removed, or its informer stopped`, "AbortError"));
    this.#synced.fail(reason);
    this.#context.onEnd();
  }

  #overrun(cause: Error): void {
    const error = new Error(`Cannot keep up with handler "${this.name}": it is ${cause.message}`);
    this.#end(error);
    this.#context.report(error);
  }

  async #run(): Promise<void> {
    const cursor = this.#cursor;
    const options = { signal: this.#job.signal };
    await Promise.resolve(); // a handler is not called before the method that adds it has returned
    for (;;) {
      const event = cursor.poll();
      if (event === undefined) {
        if (cursor.isClosed) return;
        await cursor.wait();
        continue;
      }
      try {
        this.#isCalling = true;
        const result = this.#call(event, options);
        this.#isCalling = false;
        if (isThenable(result)) {
          this.#callStartedAt = this.#clock.now(); // `slow` cannot have been read before now
          await result;
        }
      } catch (error) {
        // mutant: handler-error-ends-listener
        this.#fail(event, error);
      } finally {
        this.#isCalling = false;
        this.#callStartedAt = undefined;
      }
    }
  }

  #call(event: LoggedEvent<T>, options: Required<Abortable>): unknown {
    switch (event.type) {
      case "added":
        return this.#handler.onAdd?.(event, options);
      case "updated":
        return this.#handler.onUpdate?.(event, options);
      case "deleted":
        return this.#handler.onDelete?.(event, options);
      case "synced":
        this.#synced.open();
        return this.#handler.onSynced?.(event, options);
      default:
        return event satisfies never; // survives: exhaustive
    }
  }

  #fail(during: { readonly type: string; readonly key?: string }, cause: unknown): void {
    this.#errors++;
    const what = during.key === undefined ? `"${during.type}"` : `"${during.type}" of "${during.key}"`;
    this.#context.report(new InformerError(`Handler "${this.name}" failed on ${what}`, { cause }));
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}
