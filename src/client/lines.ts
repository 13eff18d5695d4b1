import { DecodeError } from "../api/errors.ts";
import { ByteBuffer } from "./bytes.ts";

/** What one line or one list item may measure unless told otherwise: 64 MiB, four times what client-go takes. */
export const MAX_OBJECT_BYTES = 67_108_864;

const NEWLINE = 10;
const SPACE = 32;

/**
 * Cuts a stream of bytes into lines. Byte 10 never lies inside a UTF-8 sequence, and JSON escapes it in strings, so the
 * cut is exact wherever the chunks were split. Only a terminated line is a line.
 */
export class LineSplitter {
  readonly #carry = new ByteBuffer();
  readonly #maxBytes: number;

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
   * out. The bytes are valid during the call.
   *
   * @throws {DecodeError} when a line is longer than allowed.
   */
  push(chunk: Uint8Array, line: (bytes: Uint8Array, start: number, end: number) => void): void {
    let start = 0;
    let end = chunk.indexOf(NEWLINE);
    if (this.#carry.length > 0) {
      const stop = end === -1 ? chunk.length : end;
      this.#check(this.#carry.length + stop);
      this.#carry.append(chunk, 0, stop);
      if (end === -1) return;
      const { bytes, length } = this.#carry;
      try {
        emit(bytes, 0, length, line);
      } finally {
        this.#carry.clear();
      }
      start = end + 1;
      end = chunk.indexOf(NEWLINE, start);
    }
    for (; end !== -1; start = end + 1, end = chunk.indexOf(NEWLINE, start)) {
      this.#check(end - start);
      emit(chunk, start, end, line);
    }
    if (start === chunk.length) return;
    this.#check(chunk.length - start);
    this.#carry.append(chunk, start, chunk.length);
  }

  #check(length: number): void {
    if (length <= this.#maxBytes) return;
    throw new DecodeError(
      `Cannot read the watch: a line is longer than ${this.#maxBytes} bytes; raise maxObjectBytes if objects are that large`,
    );
  }
}

function emit(
  bytes: Uint8Array,
  start: number,
  end: number,
  line: (bytes: Uint8Array, start: number, end: number) => void,
): void {
  while (start < end && bytes[end - 1] <= SPACE) end--;
  while (start < end && bytes[start] <= SPACE) start++;
  if (start < end) line(bytes, start, end);
}
