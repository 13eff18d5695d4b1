import type { ObjectKey } from "../../api/key.ts";
import type { KubernetesObject } from "../../api/object.ts";
import { Sleeper } from "../../async/sleeper.ts";
import type { Pacer } from "../../async/pacer.ts";
import { type Backlog, backlogOf, type BacklogStart } from "./backlog.ts";
import type { InformerEvent } from "./event.ts";
import type { EventLog } from "./event_log.ts";
import { EventFilter } from "./event_filter.ts";
import type { HandlerOptions } from "./handler.ts";

/** What a stream needs of the informer around it. */
export interface StreamContext<T extends KubernetesObject> {
  /** Yields the events of this object alone, and those about the sync. */
  readonly key?: ObjectKey;
  /** By which it works, with all others who are told. */
  readonly pacer: Pacer;
  /** What the cache holds and the log's end, taken in this turn; throws when the informer has stopped. */
  readonly start: () => BacklogStart<T>;
  /** Told of what the filter threw. */
  readonly report: (error: unknown) => void;
  /** Called when the stream begins, and with what it returned when it ends. */
  readonly began: (stream: EventStream<T>) => () => void;
}

/** Events as an async iterator: begins at the first `next()` with what is cached, and goes on with what changes. */
export class EventStream<T extends KubernetesObject> implements AsyncIterableIterator<InformerEvent<T>> {
  readonly name: string;
  readonly #options: HandlerOptions<T>;
  readonly #context: StreamContext<T>;
  #backlog: Backlog<T> | undefined;
  /** Set when the stream begins. Not the whole start, which has a snapshot of the cache. */
  #log: EventLog<T> | undefined;
  #filter: EventFilter<T> | undefined;
  #leave: (() => void) | undefined;
  readonly #sleeper = new Sleeper();
  #failure: { readonly error: unknown } | undefined;
  #ended = false;
  #errors = 0;
  /** In which of the pacer's turns an event was last given out. */
  #lastTurn = 0;
  /** Calls of `next()` wait for each other: events are given out in the order they were asked for. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: HandlerOptions<T>, name: string, context: StreamContext<T>) {
    this.name = name;
    this.#options = options;
    this.#context = context;
  }

  /** How many events have not been taken yet. */
  get pending(): number {
    return this.#backlog?.pending ?? 0;
  }

  /** What the filter has thrown so far. */
  get errors(): number {
    return this.#errors;
  }

  /** See {@linkcode Backlog.resync}. */
  resync(entries: Parameters<Backlog<T>["resync"]>[0]): void {
    this.#backlog?.resync(entries);
  }

  next(): Promise<IteratorResult<InformerEvent<T>, undefined>> {
    const next = this.#last.then(() => this.#next());
    this.#last = next.then(undefined, () => undefined); // its caller gets the error; the next one begins anew
    return next;
  }

  return(): Promise<IteratorResult<InformerEvent<T>, undefined>> {
    this.end();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Ends it: with an error for who waits, or in good order. */
  end(failure?: { readonly error: unknown }): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#failure = failure;
    this.#options.signal?.removeEventListener("abort", this.#abort);
    this.#backlog?.close();
    this.#leave?.();
    this.#sleeper.wake();
  }

  readonly #abort = (): void => this.end({ error: this.#options.signal!.reason });

  async #next(): Promise<IteratorResult<InformerEvent<T>, undefined>> {
    const { pacer, key } = this.#context;
    // Neither a filter that drops everything nor a loop without an await of its own may keep others from their turn; a loop
    // that has waited for something kept nobody from theirs, and need not queue behind those who did.
    let mayGoOn = pacer.turns !== this.#lastTurn;
    for (;;) {
      if (!mayGoOn && pacer.step()) await this.#sleeper.wait((wake) => pacer.onTurn(wake));
      mayGoOn = false;
      if (this.#ended) {
        const failure = this.#failure;
        this.#failure = undefined;
        if (failure !== undefined) throw failure.error;
        return { done: true, value: undefined };
      }
      const backlog = this.#backlog ?? this.#begin();
      if (backlog === undefined) continue;
      const next = backlog.next();
      if (next === undefined) {
        await this.#sleeper.wait((wake) => this.#log!.onceAppended(wake));
        continue;
      }
      if (key !== undefined && next.type !== "synced" && next.key !== key) continue;
      const event = this.#filter === undefined ? next : this.#filter.apply(next);
      if (event === undefined) continue;
      this.#lastTurn = pacer.turns;
      return { done: false, value: event };
    }
  }

  #begin(): Backlog<T> | undefined {
    const { signal, filter, backlog = "keep" } = this.#options;
    if (signal?.aborted) {
      this.#abort();
      return undefined;
    }
    const start = this.#context.start();
    this.#log = start.log;
    signal?.addEventListener("abort", this.#abort, { once: true });
    this.#filter = filter && new EventFilter(filter, start.quarantine, (error) => {
      this.#errors++;
      this.#context.report(error);
    });
    this.#leave = this.#context.began(this);
    return this.#backlog = backlogOf(backlog, start, (cause) => {
      this.end({ error: new Error(`Cannot keep up with "${this.name}": it is ${cause.message}`) });
    });
  }
}
