const BUFFER_BYTES = 65_536;
const SMALLEST_BYTES = 16_384;

/**
 * Reads a body chunk by chunk, one call at a time.
 *
 * A byte stream is read into one recycled buffer, which halves the cost of small events (the default reader takes 64 KB of
 * fresh memory for each read); other streams by the default reader. The body is locked by the first call.
 */
export class ChunkReader {
  readonly #body: ReadableStream<Uint8Array>;
  #byob: ReadableStreamBYOBReader | undefined;
  #reader: ReadableStreamBYOBReader | ReadableStreamDefaultReader<Uint8Array> | undefined;
  #buffer: Uint8Array<ArrayBuffer> | undefined;
  #over = false;

  /** Touches nothing yet. */
  constructor(body: ReadableStream<Uint8Array>) {
    this.#body = body;
  }

  /**
   * What `take` makes of the next chunk, or of `undefined` at the end. A chunk is valid until the next call: its buffer is
   * used again. Costs one promise more than the reader itself; no wrapper stands between, for a watch reads a chunk to an
   * event.
   */
  read<R>(take: (chunk: Uint8Array | undefined) => R): Promise<R> {
    if (this.#over) return Promise.resolve(take(undefined));
    if (this.#reader === undefined) {
      try {
        this.#byob = byobReader(this.#body);
        this.#reader = this.#byob ?? this.#body.getReader();
      } catch (error) {
        this.#over = true;
        return Promise.reject(error);
      }
    }
    const read: Promise<ReadableStreamReadResult<Uint8Array>> = this.#byob === undefined
      ? (this.#reader as ReadableStreamDefaultReader<Uint8Array>).read()
      : this.#byob.read(this.#buffer ?? new Uint8Array(BUFFER_BYTES));
    return read.then(({ done, value }) => {
      if (done) {
        this.#end();
        return take(undefined);
      }
      if (this.#byob !== undefined) this.#buffer = new Uint8Array(value.buffer as ArrayBuffer);
      return take(value);
    }, (error) => {
      this.#end(); // nothing left to cancel
      throw error;
    });
  }

  /** Lets the rest go. Not to be called while a chunk is waited for. */
  async cancel(): Promise<void> {
    if (this.#over) return;
    this.#over = true;
    if (this.#reader === undefined) return;
    try {
      await this.#reader.cancel();
    } finally {
      this.#reader.releaseLock();
    }
  }

  #end(): void {
    this.#over = true;
    this.#reader!.releaseLock();
  }
}

/** The chunks of a body as a {@linkcode ChunkReader} reads them. Leaving early cancels the body. */
export async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const chunks = new ChunkReader(body);
  try {
    for (let chunk; (chunk = await chunks.read(itself)) !== undefined;) yield chunk;
  } finally {
    await chunks.cancel();
  }
}

function itself<V>(value: V): V {
  return value;
}

function byobReader(body: ReadableStream<Uint8Array>): ReadableStreamBYOBReader | undefined {
  try {
    return body.getReader({ mode: "byob" });
  } catch (error) {
    if (error instanceof TypeError) return undefined; // not a byte stream, or a runtime without them
    throw error;
  }
}

/** Bytes that arrived in parts, joined in one buffer that is made when the first comes, and grows by doubling. */
export class ByteBuffer {
  #bytes = new Uint8Array(0);
  #length = 0;

  /** How many bytes there are. */
  get length(): number {
    return this.#length;
  }

  /** The buffer; only its first {@linkcode length} bytes count, and only until the next change. */
  get bytes(): Uint8Array {
    return this.#bytes;
  }

  /** Adds `bytes[start, end)`. */
  append(bytes: Uint8Array, start: number, end: number): void {
    const length = this.#length + end - start;
    if (length > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(this.#bytes.length * 2, length, SMALLEST_BYTES));
      larger.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = larger;
    }
    this.#bytes.set(start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end), this.#length);
    this.#length = length;
  }

  /** Forgets the bytes; a buffer that one large object has blown up is let go. */
  clear(): void {
    this.#length = 0;
    if (this.#bytes.length > 16 * BUFFER_BYTES) this.#bytes = new Uint8Array(0);
  }
}

/** One shared decoder: not fatal and not streaming, which are two to three times slower. Broken UTF-8 reads as U+FFFD. */
export const utf8: TextDecoder = new TextDecoder();

/** `bytes[start, end)` as text, if all of it is ASCII: then the text has one byte, and one place, a character. */
export function asciiOf(bytes: Uint8Array, start: number, end: number): string | undefined {
  const text = utf8.decode(start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end));
  // Every other character is read from two bytes or more, except one that stands for a broken byte.
  return text.length === end - start && !text.includes("\ufffd") ? text : undefined;
}
