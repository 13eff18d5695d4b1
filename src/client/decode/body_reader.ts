/**
 * Decodes the bodies of lists and watches while they arrive, however the chunks are split.
 *
 * {@linkcode BodyReader} is the entry point: it reads a body and passes each chunk to a `ListReader` or a `WatchReader`, in
 * one turn and without a promise per event. Objects become entries that are parsed when they are first read. This folder
 * does not send requests, and does not look at headers.
 *
 * @module
 */
import type { StreamSource } from "../../async/cancellable.ts";
import { ChunkReader } from "./chunk_reader.ts";

/** Decodes a body chunk by chunk. */
export interface BodyDecoder<P> {
  /** The part in one chunk. The chunk's bytes are valid during the call. */
  push(chunk: Uint8Array): P;
  /** The part behind the last chunk, or `undefined` if there is none. */
  end(): P | undefined;
  /** The error that follows the latest part; then no further chunk is pushed. */
  readonly failure?: { readonly error: unknown };
}

/** Reads a body and decodes it: one part to a chunk, and perhaps one at the end. */
export class BodyReader<P> implements StreamSource<P, ReadableStreamReadResult<Uint8Array>> {
  readonly #chunks: ChunkReader;
  readonly #decoder: BodyDecoder<P>;
  /** True once the decoder's last part has been asked for. */
  #ended = false;

  /** Does not read yet. */
  constructor(body: ReadableStream<Uint8Array>, decoder: BodyDecoder<P>) {
    this.#chunks = new ChunkReader(body);
    this.#decoder = decoder;
  }

  /** Reads a chunk, or rejects with the error that follows the latest part. */
  read(): Promise<ReadableStreamReadResult<Uint8Array>> {
    const { failure } = this.#decoder;
    return failure === undefined ? this.#chunks.read() : Promise.reject(failure.error);
  }

  /** Decodes a chunk. */
  decode(result: ReadableStreamReadResult<Uint8Array>): IteratorResult<P, void> {
    const chunk = this.#chunks.accept(result);
    if (chunk !== undefined) return { done: false, value: this.#decoder.push(chunk) };
    const last = this.#ended ? undefined : this.#decoder.end();
    this.#ended = true;
    return last === undefined ? { done: true, value: undefined } : { done: false, value: last };
  }

  /** Cancels the body; an error of that is dropped in favor of `error`. */
  fail(error: unknown): unknown {
    this.#chunks.cancel().then(undefined, () => undefined);
    return error;
  }

  /** Cancels the body. */
  cancel(): Promise<void> {
    return this.#chunks.cancel();
  }
}
