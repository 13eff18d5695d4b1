import type { Exchange } from "./exchange.ts";
import { checkJson, checkPlain } from "./response.ts";
import type { AsyncSource } from "./stoppable.ts";

/** How an answer is read in parts. */
export interface BodyStreamOptions<P> {
  /** Asks. */
  readonly open: () => Promise<Exchange>;
  /** Yielded when the server has answered, if the body is JSON. */
  readonly first: P;
  /** Makes the parts of the body; leaving it early cancels the body. */
  readonly read: (body: ReadableStream<Uint8Array>) => AsyncSource<P>;
  /** Whether the body must be in no content encoding. */
  readonly plain: boolean;
}

/**
 * A request, and its answer in parts: asked by the first `next()`, and everything is freed at its end, also when it is left
 * early. Asked one at a time. Costs one promise to a part.
 *
 * `next()` rejects with what {@linkcode Exchange.explain} makes of a failure; with a `DecodeError` when the body is not JSON,
 * or is to be plain and yet in some content encoding.
 */
export class BodyStream<P> implements AsyncSource<P>, AsyncIterableIterator<P, void, undefined> {
  readonly #options: BodyStreamOptions<P>;
  #exchange: Exchange | undefined;
  /** The body, until it is first read. */
  #untouched: ReadableStream<Uint8Array> | undefined;
  #parts: AsyncSource<P> | undefined;
  #over = false;

  /** Asks nothing yet. */
  constructor(options: BodyStreamOptions<P>) {
    this.#options = options;
  }

  /** The next part. */
  next(): Promise<IteratorResult<P, void>> {
    if (this.#over) return Promise.resolve({ done: true, value: undefined });
    if (this.#exchange === undefined) return this.#begin();
    if (this.#parts === undefined) {
      this.#parts = this.#options.read(this.#untouched!);
      this.#untouched = undefined;
    }
    return this.#parts.next().then(this.#pass, this.#fail);
  }

  /** Cancels what has not been read. Not to be called while a part is waited for. */
  async return(): Promise<IteratorResult<P, void>> {
    const exchange = this.#exchange;
    if (!this.#over && exchange !== undefined) {
      this.#over = true;
      try {
        if (this.#parts !== undefined) await this.#parts.return();
        else if (!exchange.signal.aborted) await this.#untouched!.cancel();
      } catch (error) {
        throw exchange.explain(error);
      } finally {
        exchange[Symbol.dispose]();
      }
    }
    this.#over = true;
    return { done: true, value: undefined };
  }

  /** Itself. */
  [Symbol.asyncIterator](): this {
    return this;
  }

  async #begin(): Promise<IteratorResult<P, void>> {
    const { open, first, plain } = this.#options;
    try {
      const exchange = this.#exchange = await open();
      const { action, server, response } = exchange;
      if (plain) await checkPlain(action, response);
      await checkJson(action, server, response);
      this.#untouched = response.body ?? new Blob().stream();
    } catch (error) {
      return this.#fail(error);
    }
    return { done: false, value: first };
  }

  readonly #pass = (result: IteratorResult<P, void>): IteratorResult<P, void> => {
    if (result.done) this.#end();
    return result;
  };

  readonly #fail = (error: unknown): never => {
    const explained = this.#exchange === undefined ? error : this.#exchange.explain(error);
    this.#end();
    throw explained;
  };

  #end(): void {
    this.#over = true;
    this.#exchange?.[Symbol.dispose]();
  }
}
