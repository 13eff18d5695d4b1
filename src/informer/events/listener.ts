import { messageOf } from "../../api/errors.ts";
import type { KubernetesObject } from "../../api/object.ts";
import type { Abortable } from "../../api/options.ts";
import { CoarseClock } from "../../async/time/coarse_clock.ts";
import { DerivedController } from "../../async/derived_controller.ts";
import { Latch } from "../../async/latch.ts";
import { LongTimer } from "../../async/time/long_timer.ts";
import { Sleeper } from "../../async/sleeper.ts";
import type { Pacer } from "../../async/pacer.ts";
import { type Backlog, backlogOf, type BacklogStart } from "./backlog.ts";
import type { LoggedEvent } from "./event.ts";
import type { EventLog } from "./event_log.ts";
import { EventFilter } from "./event_filter.ts";
import type { HandlerOptions, HandlerRegistration, ResourceEventHandler } from "./handler.ts";

/** What a listener needs of the informer around it. */
export interface ListenerContext {
  /** Told of what the handler or its filter threw, and of the end of a registration that fell too far behind. */
  readonly report: (error: unknown) => void;
  /** Called once when the listener is told to end. */
  readonly ended: () => void;
  /** How long a disposal waits for the call in progress, in milliseconds. */
  readonly graceMs: number;
}

/** One handler, told of events in order, each awaited before the next. */
export class Listener<T extends KubernetesObject> implements HandlerRegistration {
  readonly name: string;
  readonly #handler: ResourceEventHandler<T>;
  readonly #context: ListenerContext;
  /** Not the whole start, which has a snapshot of the cache. */
  readonly #log: EventLog<T>;
  /** Shared with all handlers and streams of the informer. */
  readonly #pacer: Pacer;
  readonly #slowMs: number;
  readonly #filter: EventFilter<T> | undefined;
  readonly #backlog: Backlog<T>;
  readonly #job: DerivedController;
  readonly #stop: () => void;
  readonly #synced = new Latch();
  readonly #finished: Promise<void>;
  #ended = false;
  readonly #sleeper = new Sleeper();
  readonly #clock = new CoarseClock();
  #callStartedAt: number | undefined;
  #inSynchronousCall = false;
  #errors = 0;

  constructor(
    handler: ResourceEventHandler<T>,
    options: HandlerOptions<T>,
    name: string,
    context: ListenerContext,
    start: BacklogStart<T>,
  ) {
    this.name = name;
    this.#handler = handler;
    this.#context = context;
    this.#log = start.log;
    this.#pacer = start.pacer;
    this.#slowMs = options.slowMs ?? 1_000;
    this.#filter = options.filter &&
      new EventFilter(options.filter, start.quarantine, (error) => this.#fail({ type: "filter" }, error));
    this.#backlog = backlogOf(options.backlog ?? "keep", start, (error) => this.#overrun(error));
    this.#job = new DerivedController(options.signal);
    this.#stop = (): void => this.remove();
    this.#job.signal.addEventListener("abort", this.#stop, { once: true });
    this.#finished = this.#run();
    if (this.#job.signal.aborted) this.remove();
  }

  get hasSynced(): boolean {
    return this.#synced.isOpen;
  }

  get pending(): number {
    return this.#backlog.pending;
  }

  /** What the handler and its filter have thrown so far. */
  get errors(): number {
    return this.#errors;
  }

  /** Whether a call has been going on for too long. */
  get slow(): boolean {
    return this.#callStartedAt !== undefined && this.#clock.now() - this.#callStartedAt > this.#slowMs;
  }

  /** Whether the code that asks runs inside a call of the handler, before that call's first `await`. */
  get isCalling(): boolean {
    return this.#inSynchronousCall;
  }

  /** Resolves when the last call has returned, after {@linkcode remove}. */
  get finished(): Promise<void> {
    return this.#finished;
  }

  /** See {@linkcode Backlog.resync}. */
  resync(entries: Parameters<Backlog<T>["resync"]>[0]): void {
    if (this.#synced.isOpen) this.#backlog.resync(entries);
  }

  waitForSync(options: Abortable = {}): Promise<void> {
    return this.#synced.wait(options);
  }

  remove(): void {
    this.#end(new Error(`Cannot wait for handler "${this.name}" to sync: it was removed, or its informer stopped`));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.remove();
    // From inside its own call it can not wait for itself.
    if (this.#inSynchronousCall) return;
    const { graceMs } = this.#context;
    let fail!: (error: Error) => void;
    const late = new Promise<never>((_resolve, reject) => fail = reject);
    using timer = new LongTimer(() => {
      fail(new Error(`Cannot finish handler "${this.name}": its call has not returned within ${graceMs} ms`));
    });
    timer.arm(graceMs);
    await Promise.race([this.#finished, late]);
  }

  #end(reason: Error): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#job.signal.removeEventListener("abort", this.#stop);
    this.#job.abort(new DOMException(`Handler "${this.name}" was removed, or its informer stopped`, "AbortError"));
    this.#backlog.close();
    this.#synced.fail(reason);
    this.#context.ended();
    this.#sleeper.wake();
  }

  #overrun(cause: Error): void {
    const error = new Error(`Cannot keep up with handler "${this.name}": it is ${cause.message}`);
    this.#errors++;
    this.#end(error);
    this.#context.report(error);
  }

  async #run(): Promise<void> {
    const pacer = this.#pacer;
    const log = this.#log;
    const options = { signal: this.#job.signal };
    let mayGoOn = false;
    await Promise.resolve(); // who adds a handler is not called back from within
    // mutant: removed-handler-called
    while (!this.#ended) {
      if (!mayGoOn && pacer.step()) {
        await this.#sleeper.wait((wake) => pacer.onTurn(wake));
        mayGoOn = true;
        continue;
      }
      mayGoOn = false;
      const next = this.#backlog.next();
      if (next === undefined) {
        await this.#sleeper.wait((wake) => log.onceAppended(wake));
        continue;
      }
      const event = this.#filter === undefined ? next : this.#filter.apply(next);
      if (event === undefined) continue;
      const { turns } = pacer;
      try {
        this.#inSynchronousCall = true;
        const result = this.#tell(event, options);
        this.#inSynchronousCall = false;
        if (isThenable(result)) {
          this.#callStartedAt = this.#clock.now(); // nobody could have asked how long it takes before now
          // A promise that is settled already gives nobody else a turn: the pacer goes on counting.
          await result;
        }
      } catch (error) {
        // mutant: handler-error-ends-listener
        this.#fail(event, error);
      } finally {
        this.#inSynchronousCall = false;
        this.#callStartedAt = undefined;
        // While it waited for its own call it kept nobody from their turn: it need not queue behind those who did.
        mayGoOn = pacer.turns !== turns;
      }
    }
  }

  #tell(event: LoggedEvent<T>, options: Required<Abortable>): void | Promise<void> {
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
        return event satisfies never;
    }
  }

  #fail(during: { readonly type: string; readonly key?: string }, cause: unknown): void {
    this.#errors++;
    const what = during.key === undefined ? `"${during.type}"` : `"${during.type}" of "${during.key}"`;
    this.#context.report(new Error(`Handler "${this.name}" failed on ${what}: ${messageOf(cause)}`, { cause }));
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}
