const BUFFER_BYTES = 65_536;

/**
 * Reads a body chunk by chunk, one read at a time.
 *
 * A byte stream is read into one recycled buffer, which halves the cost of small events: the default reader allocates
 * 64 KiB for each read. Other streams are read by the default reader. The first read locks the body.
 */
export class ChunkReader {
  readonly #body: ReadableStream<Uint8Array>;
  /** Set by the first read, if the body is a byte stream. */
  #byob: ReadableStreamBYOBReader | undefined;
  /** Set by the first read. */
  #reader: ReadableStreamBYOBReader | ReadableStreamDefaultReader<Uint8Array> | undefined;
  /** The recycled buffer, between two reads of a byte stream. */
  #buffer: Uint8Array<ArrayBuffer> | undefined;
  /** True once the body has ended, failed or been cancelled; then it is not locked. */
  #ended = false;

  /** Does not read yet. */
  constructor(body: ReadableStream<Uint8Array>) {
    this.#body = body;
  }

  /** The next chunk, or `undefined` at the end. A chunk is valid until the next read. */
  async next(): Promise<Uint8Array | undefined> {
    try {
      return this.accept(await this.read());
    } catch (error) {
      this.#end();
      throw error;
    }
  }

  /**
   * The result of the body's reader, to be given to {@linkcode accept}. This is the reader's own promise: a watch reads a
   * chunk for nearly every event, so each further promise would be one per event.
   */
  read(): Promise<ReadableStreamReadResult<Uint8Array>> {
    if (this.#ended) return Promise.resolve({ done: true, value: undefined });
    if (this.#reader === undefined) {
      try {
        this.#byob = byobReader(this.#body);
        this.#reader = this.#byob ?? this.#body.getReader();
      } catch (error) {
        this.#ended = true;
        return Promise.reject(error);
      }
    }
    return this.#byob === undefined
      ? (this.#reader as ReadableStreamDefaultReader<Uint8Array>).read()
      : this.#byob.read(this.#buffer ?? new Uint8Array(BUFFER_BYTES));
  }

  /** The chunk in a result of {@linkcode read}, or `undefined` at the end. It is valid until the next read. */
  accept({ done, value }: ReadableStreamReadResult<Uint8Array>): Uint8Array | undefined {
    if (done) {
      this.#end();
      return undefined;
    }
    if (this.#byob !== undefined) this.#buffer = new Uint8Array(value.buffer as ArrayBuffer);
    return value;
  }

  /** Cancels the rest of the body. A pending read ends at once. */
  async cancel(): Promise<void> {
    if (this.#ended) return;
    if (this.#reader === undefined) {
      this.#ended = true;
      return await this.#body.cancel();
    }
    const cancelled = this.#reader.cancel();
    this.#end();
    await cancelled;
  }

  #end(): void {
    if (!this.#ended) this.#reader?.releaseLock();
    this.#ended = true;
  }
}

/** The chunks of a body, each valid until the next one is read. Leaving early cancels the body. */
export async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const chunks = new ChunkReader(body);
  try {
    for (let chunk; (chunk = await chunks.next()) !== undefined;) yield chunk;
  } finally {
    await chunks.cancel();
  }
}

function byobReader(body: ReadableStream<Uint8Array>): ReadableStreamBYOBReader | undefined {
  try {
    return body.getReader({ mode: "byob" });
  } catch (error) {
    if (error instanceof TypeError) return undefined; // not a byte stream, or the runtime has none
    throw error;
  }
}
