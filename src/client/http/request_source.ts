import type { StreamSource } from "../../async/iterate.ts";
import { monotonicMs } from "../../async/time.ts";
import { type BodyDecoder, BodyReader } from "../decode/body_reader.ts";
import type { Exchange } from "./connection.ts";
import { checkJsonResponse, checkPlainResponse } from "./response.ts";

/** Options for {@linkcode RequestSource}. */
export interface RequestSourceOptions<P> {
  /** Sends the request. */
  readonly open: () => Promise<Exchange>;
  /** The item that says that the server has answered. */
  readonly first: P;
  /** Creates the decoder of the body. */
  readonly decoder: () => BodyDecoder<P>;
  /** True if a body with a content encoding is refused. */
  readonly plain: boolean;
  /** Called with each part of the body, before it is yielded. */
  readonly onPart?: (part: P) => void;
  /** Called for each chunk of the body, with the time that decoding it took, in milliseconds. */
  readonly onDecoded?: (ms: number) => void;
}

/**
 * A source for a stream that sends a request and decodes its answer: first an item when the server has accepted the
 * request, then the parts of the body. Everything is freed at the end.
 *
 * Errors are those that {@linkcode Exchange.explain} makes of a failure, and a `DecodeError` for a body of another
 * content type, or with a refused content encoding.
 */
export class RequestSource<P> implements StreamSource<P, ReadableStreamReadResult<Uint8Array> | undefined> {
  readonly #options: RequestSourceOptions<P>;
  /** Set once the server has accepted the request. */
  #exchange: Exchange | undefined;
  /** Set once the answer's headers have been checked. */
  #body: BodyReader<P> | undefined;
  #isCancelled = false;

  /** Sends nothing yet. */
  constructor(options: RequestSourceOptions<P>) {
    this.#options = options;
  }

  /** Sends the request, and later reads a chunk of the body. */
  read(): Promise<ReadableStreamReadResult<Uint8Array> | undefined> {
    return this.#body === undefined ? this.#send() : this.#body.read();
  }

  /** Decodes a chunk; `undefined` is the answer's headers. */
  decode(result: ReadableStreamReadResult<Uint8Array> | undefined): IteratorResult<P, void> {
    if (result === undefined) return { done: false, value: this.#options.first };
    const { onDecoded, onPart } = this.#options;
    const beganMs = onDecoded === undefined ? 0 : monotonicMs();
    const part = this.#body!.decode(result);
    onDecoded?.(monotonicMs() - beganMs);
    if (part.done) this.#exchange!.finish();
    else onPart?.(part.value);
    return part;
  }

  /** Cancels the body, ends the request, and explains the error. */
  fail(error: unknown): unknown {
    const explained = this.#exchange === undefined ? error : this.#exchange.explain(error);
    this.#body?.fail(error);
    this.#exchange?.[Symbol.dispose]();
    return explained;
  }

  /** Cancels the body and ends the request. */
  async cancel(): Promise<void> {
    this.#isCancelled = true;
    try {
      await this.#body?.cancel();
    } catch (error) {
      throw this.#exchange!.explain(error);
    } finally {
      this.#exchange?.[Symbol.dispose]();
    }
  }

  async #send(): Promise<undefined> {
    const { open, plain, decoder } = this.#options;
    const { action, server, response } = this.#exchange = await open();
    if (plain) await checkPlainResponse(action, response);
    await checkJsonResponse(action, server, response);
    this.#body = new BodyReader(response.body ?? new Blob().stream(), decoder());
    // A transport that ignores its signal has answered nevertheless.
    if (this.#isCancelled) await this.cancel();
  }
}
