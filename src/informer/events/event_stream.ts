import type { Entry } from "../../api/entry.ts";
import type { ObjectKey } from "../../api/key.ts";
import type { KubernetesObject } from "../../api/object.ts";
import type { Cursor, CursorStart } from "./cursor.ts";
import type { InformerEvent } from "./event.ts";
import type { HandlerOptions } from "./handler.ts";
import { openCursor } from "./open_cursor.ts";

/** A stream's connection to its processor. */
export interface StreamContext<T extends KubernetesObject> {
  /** Restricts the stream to the events of this object, and `synced`. */
  readonly key?: ObjectKey;
  /** Returns the start of a cursor; throws when the informer has stopped. */
  readonly start: () => CursorStart<T>;
  /** Called with each error of the filter. */
  readonly report: (error: unknown) => void;
  /** Called when the stream begins; the function that it returns is called when the stream ends. */
  readonly onBegin: (stream: EventStream<T>) => () => void;
}

/** Events as an async iterator. It begins at the first `next()`, with the cached objects. */
export class EventStream<T extends KubernetesObject> implements AsyncIterableIterator<InformerEvent<T>> {
  readonly name: string;
  readonly #options: HandlerOptions<T>;
  readonly #context: StreamContext<T>;
  /** Set if and only if the stream has begun; closed if and only if it has ended since. */
  #cursor: Cursor<T> | undefined;
  /** Set together with `#cursor`. */
  #leave: (() => void) | undefined;
  /** Set from a failure until `next()` has rejected with it. */
  #failure: { readonly error: unknown } | undefined;
  /** `true` from `end()` on, also of a stream that has not begun. */
  #isEnded = false;
  /** Only rises. */
  #errors = 0;
  /** Settles behind all calls of `next()`: each waits for the one before, so events come in the order of the calls. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: HandlerOptions<T>, name: string, context: StreamContext<T>) {
    this.name = name;
    this.#options = options;
    this.#context = context;
  }

  /** The number of events that have not been taken; 0 before the stream begins. */
  get pending(): number {
    return this.#cursor?.pending ?? 0;
  }

  /** The number of errors of the filter. */
  get errors(): number {
    return this.#errors;
  }

  /** Adds these entries as a resync; see {@linkcode Cursor.resync}. */
  resync(entries: readonly Entry<T>[]): void {
    this.#cursor?.resync(entries);
  }

  next(): Promise<IteratorResult<InformerEvent<T>, undefined>> {
    const next = this.#last.then(() => this.#next());
    this.#last = next.then(undefined, () => undefined); // the caller of this `next()` gets its error, the next one does not
    return next;
  }

  return(): Promise<IteratorResult<InformerEvent<T>, undefined>> {
    this.end();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Ends the stream. With a failure, one `next()`, which may be waiting, rejects with it. */
  end(failure?: { readonly error: unknown }): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#failure = failure;
    this.#options.signal?.removeEventListener("abort", this.#abort);
    this.#cursor?.close();
    this.#leave?.();
  }

  readonly #abort = (): void => this.end({ error: this.#options.signal!.reason });

  async #next(): Promise<IteratorResult<InformerEvent<T>, undefined>> {
    if (this.#cursor === undefined && !this.#isEnded) this.#begin();
    while (!this.#isEnded) {
      const event = this.#cursor!.poll();
      if (event !== undefined) return { done: false, value: event };
      await this.#cursor!.wait();
    }
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure.error;
    return { done: true, value: undefined };
  }

  #begin(): void {
    const { signal, filter, backlog } = this.#options;
    if (signal?.aborted) return this.#abort();
    this.#cursor = openCursor(this.#context.start(), {
      key: this.#context.key,
      backlog,
      filter,
      onFilterError: (error) => {
        this.#errors++;
        this.#context.report(error);
      },
      onOverrun: (cause) => {
        this.end({ error: new Error(`Cannot keep up with "${this.name}": it is ${cause.message}`) });
      },
    });
    signal?.addEventListener("abort", this.#abort, { once: true });
    this.#leave = this.#context.onBegin(this);
  }
}
