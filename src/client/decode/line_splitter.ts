import { DecodeError } from "../../api/errors.ts";
import { ByteBuffer } from "./byte_buffer.ts";
import { asciiOf } from "./utf8.ts";

/** The default limit of a line or a list item, in bytes: 64 MiB, four times the limit of client-go. */
export const MAX_OBJECT_BYTES = 67_108_864;

const NEWLINE = 10;
const SPACE = 32;
/** The most regions in a row that are cut as bytes, without a check for ASCII. */
const MOST_AS_BYTES = 63;
/** Larger regions are searched as bytes: the size of a decoded text must not depend on the size of chunks. */
export const LARGEST_TEXT = 1_048_576;

/**
 * Receives the line in `bytes[start, end)`, which are valid during the call. If the bytes around it are all ASCII, `text` is
 * their text, with the line at the same positions. A slice of `text` keeps all of it in memory.
 */
export type LineTarget = (bytes: Uint8Array, start: number, end: number, text: string | undefined) => void;

/**
 * Cuts a stream of bytes into lines. Byte 10 never occurs inside a UTF-8 sequence, and JSON escapes it in strings, so the
 * cut is exact however the chunks are split. A line without a line break at its end is incomplete, and not emitted.
 *
 * ASCII is searched as text: decoding a region once and searching the text is faster than searching the bytes one by one.
 */
export class LineSplitter {
  /** The incomplete line at the end of the chunks so far. */
  readonly #carry = new ByteBuffer();
  readonly #maxBytes: number;
  /** The number of following regions that are cut as bytes. */
  #asBytes = 0;
  /** The value of `#asBytes` after the latest region that was not ASCII; 0 after one that was. */
  #backOff = 0;

  /** Accepts lines of at most `maxBytes` bytes. */
  constructor(maxBytes: number = MAX_OBJECT_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** The length of the incomplete line, in bytes. */
  get pending(): number {
    return this.#carry.length;
  }

  /**
   * Calls `line` for each line that ends in this chunk. White space around a line is trimmed, such as that of CRLF, and
   * empty lines are skipped.
   *
   * @throws {DecodeError} when a line is longer than allowed.
   */
  push(chunk: Uint8Array, line: LineTarget): void {
    let start = 0;
    if (this.#carry.length > 0) {
      const end = chunk.indexOf(NEWLINE);
      const stop = end === -1 ? chunk.length : end;
      this.#check(this.#carry.length + stop);
      // mutant: chunk-border-breaks-character
      this.#carry.append(chunk, 0, stop);
      if (end === -1) return;
      const { bytes, length } = this.#carry;
      try {
        emit(bytes, 0, length, line, this.#textOf(bytes, 0, length));
      } finally {
        this.#carry.clear();
      }
      start = end + 1;
    }
    const stop = chunk.lastIndexOf(NEWLINE) + 1;
    if (stop > start) {
      this.#region(start === 0 && stop === chunk.length ? chunk : chunk.subarray(start, stop), line);
      start = stop;
    }
    // mutant: truncated-line-parsed
    if (start === chunk.length) return;
    this.#check(chunk.length - start);
    this.#carry.append(chunk, start, chunk.length);
  }

  /** Cuts complete lines: in text if they are ASCII, else in bytes. */
  #region(bytes: Uint8Array, line: LineTarget): void {
    const text = this.#textOf(bytes, 0, bytes.length);
    for (let start = 0, end; start < bytes.length; start = end + 1) {
      end = text === undefined ? bytes.indexOf(NEWLINE, start) : text.indexOf("\n", start);
      this.#check(end - start);
      emit(bytes, start, end, line, text);
    }
  }

  /** The region as text, if it is ASCII. The check costs as much as decoding: after each failure it is done half as often. */
  #textOf(bytes: Uint8Array, start: number, end: number): string | undefined {
    if (end - start > LARGEST_TEXT) return undefined;
    if (this.#asBytes > 0) {
      this.#asBytes--;
      return undefined;
    }
    const text = asciiOf(bytes, start, end);
    this.#asBytes = this.#backOff = text === undefined ? Math.min(2 * this.#backOff + 1, MOST_AS_BYTES) : 0;
    return text;
  }

  #check(length: number): void {
    if (length <= this.#maxBytes) return;
    throw new DecodeError(
      `Cannot read the watch: a line is longer than ${this.#maxBytes} bytes; raise maxObjectBytes if objects are that large`,
    );
  }
}

function emit(bytes: Uint8Array, start: number, end: number, line: LineTarget, text: string | undefined): void {
  while (start < end && bytes[end - 1] <= SPACE) end--;
  while (start < end && bytes[start] <= SPACE) start++;
  if (start < end) line(bytes, start, end, text);
}
