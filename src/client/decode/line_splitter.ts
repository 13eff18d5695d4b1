import { DecodeError } from "../../api/errors.ts";
import { ByteBuffer } from "./byte_buffer.ts";
import { asciiOf } from "./utf8.ts";

/** What one line or one list item may measure unless told otherwise: 64 MiB, four times what client-go takes. */
export const MAX_OBJECT_BYTES = 67_108_864;

const NEWLINE = 10;
const SPACE = 32;
/** At most so many regions in a row are cut as bytes without asking whether they are ASCII. */
const MOST_AS_BYTES = 63;
/** Larger regions are cut as bytes: what is decoded as one must not be as large as a body chooses to make its chunks. */
const LARGEST_TEXT = 1_048_576;

/**
 * Is told of the line in `bytes[start, end)`. Where all around it is ASCII, `text` has it too, at the same places: a slice
 * of it keeps all of it alive. The bytes are valid during the call.
 */
export type LineTarget = (bytes: Uint8Array, start: number, end: number, text: string | undefined) => void;

/**
 * Cuts a stream of bytes into lines. Byte 10 never lies inside a UTF-8 sequence, and JSON escapes it in strings, so the
 * cut is exact wherever the chunks were split. Only a terminated line is a line.
 *
 * Line breaks are looked for in text, where that is ASCII: to decode a region once and to search the text costs less than
 * to search the bytes alone, a byte at a time.
 */
export class LineSplitter {
  readonly #carry = new ByteBuffer();
  readonly #maxBytes: number;
  /** How many regions more are cut as bytes. */
  #asBytes = 0;
  /** How many were to be, after the last one that was not ASCII; none since one was. */
  #backOff = 0;

  /** Lines of at most `maxBytes` bytes. */
  constructor(maxBytes: number = MAX_OBJECT_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** How many bytes of an unfinished line are held. */
  get pending(): number {
    return this.#carry.length;
  }

  /**
   * Calls `line` for each line that ends in this chunk, with white space at its ends (CRLF) trimmed and empty lines left
   * out.
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

  /** Cuts whole lines, in text where they are ASCII; else in bytes, so that other characters cost only their own line. */
  #region(bytes: Uint8Array, line: LineTarget): void {
    const text = this.#textOf(bytes, 0, bytes.length);
    for (let start = 0, end; start < bytes.length; start = end + 1) {
      end = text === undefined ? bytes.indexOf(NEWLINE, start) : text.indexOf("\n", start);
      this.#check(end - start);
      emit(bytes, start, end, line, text);
    }
  }

  /** The region as text, if it is ASCII. To ask costs as much as to read: after each time in vain half as often. */
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
