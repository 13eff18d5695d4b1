import { DecodeError } from "../../api/errors.ts";

const SMALLEST_BYTES = 16_384;
/** A buffer larger than this is freed at the next {@linkcode JsonWriter.reset}. */
const LARGEST_KEPT_BYTES = 1_048_576;
/** The most bytes of JSON for one byte of text: `\u001f`. */
const LONGEST_ESCAPE = 6;
/** Room for a literal or a number, so that those need no check of their own. */
const SPARE = 128;

const QUOTE = 34;
const BACKSLASH = 92;
const SPACE = 32;
const COLON = 58;
const ZERO = 48;
const SECONDS_OF_DAY = 86_400;
const DAY_CHARACTERS = "2026-01-01T".length;
const FIRST_SECOND = Date.parse("0000-01-01T00:00:00Z") / 1_000;
const LAST_SECOND = Date.parse("9999-12-31T23:59:59Z") / 1_000;
const HEX = new TextEncoder().encode("0123456789abcdef");

/** Writes JSON into one recycled buffer. */
export class JsonWriter {
  /** The buffer; its first {@linkcode length} bytes are the text. */
  bytes: Uint8Array = new Uint8Array(SMALLEST_BYTES);
  /** The length of the text, in bytes. */
  length = 0;
  /** The day of the latest time, in days since 1970. */
  #day = NaN;
  /** Its text, with the `T` behind it. */
  #dayText = "";

  /** Removes all but the first `length` bytes, which stay. */
  reset(length: number): void {
    this.length = length;
    if (this.bytes.length <= LARGEST_KEPT_BYTES) return;
    const smaller = new Uint8Array(SMALLEST_BYTES);
    smaller.set(this.bytes.subarray(0, length));
    this.bytes = smaller;
  }

  /** Writes bytes as they are: at most 128. */
  literal(source: Uint8Array): void {
    const { bytes } = this;
    let at = this.length;
    for (let i = 0; i < source.length; i++) bytes[at++] = source[i];
    this.length = at;
    if (at + SPARE > bytes.length) this.#grow(SPARE);
  }

  /** Writes one byte. */
  byte(value: number): void {
    this.bytes[this.length++] = value;
    if (this.length + SPARE > this.bytes.length) this.#grow(SPARE);
  }

  /** Writes ASCII: at most 128 characters. */
  ascii(text: string): void {
    for (let i = 0; i < text.length; i++) this.byte(text.charCodeAt(i));
  }

  /** Writes JSON that is in `source[start, end)`. */
  raw(source: Uint8Array, start: number, end: number): void {
    this.#grow(end - start + SPARE);
    this.bytes.set(source.subarray(start, end), this.length);
    this.length += end - start;
  }

  /** Writes the text in `source[start, end)` as a string of JSON. */
  string(source: Uint8Array, start: number, end: number): void {
    const room = LONGEST_ESCAPE * (end - start) + 2 + SPARE;
    if (this.length + room > this.bytes.length) this.#grow(room);
    const { bytes } = this;
    let at = this.length;
    bytes[at++] = QUOTE;
    while (start < end) {
      const byte = source[start++];
      if (byte >= SPACE && byte !== QUOTE && byte !== BACKSLASH) bytes[at++] = byte;
      else {
        bytes[at++] = BACKSLASH;
        if (byte >= SPACE) bytes[at++] = byte;
        else {
          bytes[at++] = 117; // u
          bytes[at++] = 48;
          bytes[at++] = 48;
          bytes[at++] = HEX[byte >> 4];
          bytes[at++] = HEX[byte & 15];
        }
      }
    }
    bytes[at++] = QUOTE;
    this.length = at;
  }

  /**
   * Writes a time, in seconds since 1970, as Go does.
   *
   * @throws {DecodeError} when it is before the year 0 or after 9999, which JSON has no form for.
   */
  time(seconds: number): void {
    const day = Math.floor(seconds / SECONDS_OF_DAY);
    if (day !== this.#day) {
      if (!(seconds >= FIRST_SECOND && seconds <= LAST_SECOND)) {
        throw new DecodeError(`found a time of ${seconds} s after 1970, which is not in the years 0 to 9999`);
      }
      this.#dayText = new Date(day * SECONDS_OF_DAY * 1_000).toISOString().slice(0, DAY_CHARACTERS);
      this.#day = day;
    }
    const rest = seconds - day * SECONDS_OF_DAY;
    this.byte(QUOTE);
    this.ascii(this.#dayText);
    this.#twoDigits(Math.floor(rest / 3_600));
    this.byte(COLON);
    this.#twoDigits(Math.floor(rest / 60) % 60);
    this.byte(COLON);
    this.#twoDigits(rest % 60);
    this.byte(90); // Z
    this.byte(QUOTE);
  }

  #twoDigits(value: number): void {
    this.byte(ZERO + Math.floor(value / 10));
    this.byte(ZERO + value % 10);
  }

  /** Makes room for that many bytes more. */
  #grow(room: number): void {
    const needed = this.length + room;
    if (needed <= this.bytes.length) return;
    const larger = new Uint8Array(2 * needed);
    larger.set(this.bytes.subarray(0, this.length));
    this.bytes = larger;
  }
}
