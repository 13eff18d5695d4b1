/**
 * Decodes the bodies of lists and watches while they arrive, however the chunks are split.
 *
 * {@linkcode BodyReader} is the entry point: it reads a body and passes each chunk to a `ListReader` or a
 * `WatchReader`, in one turn and without a promise per event. Objects become entries that are parsed when they are
 * first read. It sends no requests, and does not look at headers.
 *
 * @module
 */

import { decoder } from "../../api/object.ts";
import { DecodeError } from "../../api/status.ts";
import { inputArrived } from "../../async/idle_turns.ts";
import type { StreamSource } from "../../async/iterate.ts";

const BUFFER_BYTES = 65_536;

/**
 * Reads a body chunk by chunk, one read at a time.
 *
 * A byte stream is read into one recycled buffer, which halves the cost of small events: the default reader allocates
 * 64 KiB for each read. Other streams are read by the default reader. The first read locks the body.
 */
class ChunkReader {
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
   * The result of the body's reader, to be given to {@linkcode accept}. This is the reader's own promise: a watch reads
   * a chunk for nearly every event, so each further promise would be one per event.
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
    inputArrived();
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

/**
 * Yields a body's chunks. Each is valid until you read the next one. If you leave the loop early, the body is
 * cancelled.
 */
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

/** Decodes a body chunk by chunk. */
export interface BodyDecoder<P> {
  /** Returns the part in one chunk. The chunk's bytes are valid during the call. */
  push(chunk: Uint8Array): P;
  /** Returns the part after the last chunk, or `undefined` if there is none. */
  end(): P | undefined;
  /** The error that follows the latest part. After it, no further chunk is pushed. */
  readonly failure?: { readonly error: unknown };
}

/** Reads a body and decodes it: one part for each chunk, and perhaps one at the end. */
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

  /** Cancels the body. If that fails too, `error` wins. */
  fail(error: unknown): unknown {
    this.#chunks.cancel().then(undefined, () => undefined);
    return error;
  }

  /** Cancels the body. */
  cancel(): Promise<void> {
    return this.#chunks.cancel();
  }
}

const SMALLEST_BYTES = 16_384;

/** A buffer larger than this is freed when it is cleared. */
const LARGEST_KEPT_BYTES = 1_048_576;

/** Joins bytes that arrive in parts. The first part allocates one buffer, which grows by doubling. */
export class ByteBuffer {
  /** Its first `#length` bytes are the content. */
  #bytes = new Uint8Array(0);
  #length = 0;

  /** The length of the content, in bytes. */
  get length(): number {
    return this.#length;
  }

  /** The buffer. The content is its first {@linkcode length} bytes, until the next change. */
  get bytes(): Uint8Array {
    return this.#bytes;
  }

  /** Appends `bytes[start, end)`. */
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

  /** Removes the content behind `length`. */
  truncate(length: number): void {
    this.#length = length;
  }

  /** Removes the content. */
  clear(): void {
    this.#length = 0;
    if (this.#bytes.length > LARGEST_KEPT_BYTES) this.#bytes = new Uint8Array(0);
  }
}

/**
 * Returns `bytes[start, end)` as text if all bytes are ASCII, so that each byte is one character. Otherwise returns
 * `undefined`.
 */
export function asciiOf(bytes: Uint8Array, start: number, end: number): string | undefined {
  const text = decoder.decode(start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end));
  // Every other character is decoded from two bytes or more, except the replacement for a broken byte.
  return text.length === end - start && !text.includes("\ufffd") ? text : undefined;
}

/** The default limit for a line or a list item, in bytes: 64 MiB, four times client-go's limit. */
export const MAX_OBJECT_BYTES = 67_108_864;

const NEWLINE = 10;
const SPACE = 32;
/** The most regions in a row that are cut as bytes, without a check for ASCII. */
const MOST_AS_BYTES = 63;
/** Larger regions are searched as bytes, because the size of a decoded text must not depend on the chunk size. */
export const LARGEST_TEXT = 1_048_576;

/**
 * Receives the line in `bytes[start, end)`, which are valid during the call. If the bytes around it are all ASCII,
 * `text` is their text, with the line at the same positions. A slice of `text` keeps all of it in memory.
 */
type LineTarget = (bytes: Uint8Array, start: number, end: number, text: string | undefined) => void;

/**
 * Cuts a stream of bytes into lines. Byte 10 never occurs inside a UTF-8 sequence, and JSON escapes it in strings. So
 * the cut is exact, however the chunks are split. A line without a line break at its end is incomplete, and is emitted
 * only by {@linkcode end}.
 *
 * It searches ASCII as text. To decode a region once and search the text is faster than to search byte by byte.
 */
export class LineSplitter {
  /** True while a line is emitted whose end was left out because it is too long. */
  isTruncated = false;
  /** The incomplete line at the end of the chunks so far. */
  readonly #carry = new ByteBuffer();
  readonly #maxBytes: number;
  readonly #isRaw: boolean;
  /** The number of following regions that are cut as bytes. */
  #asBytes = 0;
  /** The value of `#asBytes` after the latest region that was not ASCII. 0 after an ASCII region. */
  #backOff = 0;

  /**
   * Accepts lines of at most `maxBytes` bytes. With `isRaw`, it emits lines unchanged, also empty ones, and leaves out
   * the end of a longer line. Such lines have no text.
   */
  constructor(maxBytes: number = MAX_OBJECT_BYTES, isRaw = false) {
    this.#maxBytes = maxBytes;
    this.#isRaw = isRaw;
  }

  /** The length of the incomplete line, in bytes. */
  get pending(): number {
    return this.#carry.length;
  }

  /**
   * Calls `line` for each line that ends in this chunk. Unless lines are raw, white space around a line, such as CRLF,
   * is trimmed, and empty lines are skipped.
   *
   * @throws {DecodeError} if a line is longer than allowed, unless lines are raw.
   */
  push(chunk: Uint8Array, line: LineTarget): void {
    let start = 0;
    const { length: carried } = this.#carry;
    if (carried > 0) {
      const end = chunk.indexOf(NEWLINE);
      const stop = end === -1 ? chunk.length : end;
      this.#carry.append(chunk, 0, this.#kept(carried + stop) - carried);
      if (end === -1) return;
      this.end(line);
      start = end + 1;
    }
    const stop = chunk.lastIndexOf(NEWLINE) + 1;
    if (stop > start) {
      this.#region(start === 0 && stop === chunk.length ? chunk : chunk.subarray(start, stop), line);
      start = stop;
    }
    if (start < chunk.length) this.#carry.append(chunk, start, start + this.#kept(chunk.length - start));
  }

  /** Emits the incomplete line, if there is one. */
  end(line: LineTarget): void {
    const { bytes, length } = this.#carry;
    if (length === 0) return;
    try {
      this.#emit(bytes, 0, length, line, this.#textOf(bytes, 0, length));
    } finally {
      this.#carry.clear();
    }
  }

  /** Cuts complete lines: in text if they are ASCII, else in bytes. */
  #region(bytes: Uint8Array, line: LineTarget): void {
    const text = this.#textOf(bytes, 0, bytes.length);
    for (let start = 0, end; start < bytes.length; start = end + 1) {
      end = text === undefined ? bytes.indexOf(NEWLINE, start) : text.indexOf("\n", start);
      this.#emit(bytes, start, start + this.#kept(end - start), line, text);
    }
  }

  /**
   * The region as text, if it is ASCII. The check costs as much as decoding: after each failure it is done half as
   * often.
   */
  #textOf(bytes: Uint8Array, start: number, end: number): string | undefined {
    if (end - start > LARGEST_TEXT || this.#isRaw) return undefined;
    if (this.#asBytes > 0) {
      this.#asBytes--;
      return undefined;
    }
    const text = asciiOf(bytes, start, end);
    this.#asBytes = this.#backOff = text === undefined ? Math.min(2 * this.#backOff + 1, MOST_AS_BYTES) : 0;
    return text;
  }

  /** Returns how many bytes are emitted of a line with `length` bytes. */
  #kept(length: number): number {
    if (length <= this.#maxBytes) return length;
    this.isTruncated = true;
    if (this.#isRaw) return this.#maxBytes;
    throw new DecodeError(
      `Cannot read the watch: a line is longer than ${this.#maxBytes} bytes. Raise maxObjectBytes if your objects are that large`,
    );
  }

  #emit(bytes: Uint8Array, start: number, end: number, line: LineTarget, text: string | undefined): void {
    if (this.#isRaw) {
      line(bytes, start, end, text);
      this.isTruncated = false;
      return;
    }
    while (start < end && bytes[end - 1] <= SPACE) end--;
    while (start < end && bytes[start] <= SPACE) start++;
    if (start < end) line(bytes, start, end, text);
  }
}
