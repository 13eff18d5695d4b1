const BUFFER_BYTES = 65_536;
const SMALLEST_BYTES = 16_384;

/**
 * The chunks of a body as they arrive. A chunk is valid only until the next one is asked for: its buffer is used again.
 *
 * A byte stream is read into one recycled buffer, which halves the cost of small events (the default reader takes 64 KB of
 * fresh memory for each read); other streams by the default reader. Leaving early cancels the body.
 */
export async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const byob = byobReader(body);
  const reader = byob ?? body.getReader();
  let open = true;
  try {
    let buffer = new Uint8Array(byob === undefined ? 0 : BUFFER_BYTES);
    for (;;) {
      let result: ReadableStreamReadResult<Uint8Array>;
      try {
        result = byob === undefined
          ? await (reader as ReadableStreamDefaultReader<Uint8Array>).read()
          : await byob.read(buffer);
      } catch (error) {
        open = false; // nothing left to cancel
        throw error;
      }
      if (result.done) {
        open = false;
        return;
      }
      yield result.value;
      if (byob !== undefined) buffer = new Uint8Array(result.value.buffer as ArrayBuffer);
    }
  } finally {
    try {
      if (open) await reader.cancel();
    } finally {
      reader.releaseLock();
    }
  }
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
