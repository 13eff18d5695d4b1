import { DecodeError } from "../../api/errors.ts";
import { ByteBuffer } from "../decode/byte_buffer.ts";

/** The cutter of a body, and the receiver of its pieces. */
export interface PieceTarget {
  /** The end of the piece that begins at `at`; at most 0 if it is not in `bytes[at, end)`: then the negative of its length, if known. */
  endOf(bytes: Uint8Array, at: number, end: number): number;
  /** Receives the piece in `bytes[start, end)`, which are valid during the call. */
  take(bytes: Uint8Array, start: number, end: number): void;
}

/** Cuts a stream of bytes into pieces, however the chunks are split. */
export class PieceSplitter {
  readonly #target: PieceTarget;
  readonly #maxBytes: number;
  /** The beginning of a piece that continues in the next chunk. */
  readonly #carry = new ByteBuffer();

  /** Cuts pieces of at most `maxBytes` bytes. */
  constructor(target: PieceTarget, maxBytes: number) {
    this.#target = target;
    this.#maxBytes = maxBytes;
  }

  /** The length of the incomplete piece, in bytes. */
  get pending(): number {
    return this.#carry.length;
  }

  /** Passes on the pieces that end in this chunk. @throws {DecodeError} when a piece is longer than allowed. */
  push(chunk: Uint8Array): void {
    const carry = this.#carry;
    if (carry.length === 0) {
      const at = this.#cut(chunk, chunk.length);
      if (at < chunk.length) carry.append(chunk, at, chunk.length);
      return;
    }
    carry.append(chunk, 0, chunk.length);
    carry.removeFirst(this.#cut(carry.bytes, carry.length));
  }

  /** Passes on the pieces in the first `end` bytes; returns the start of the incomplete one. */
  #cut(bytes: Uint8Array, end: number): number {
    const target = this.#target;
    let at = 0;
    while (at < end) {
      const next = target.endOf(bytes, at, end);
      if (next <= 0) {
        this.#check(Math.max(-next, end - at));
        break;
      }
      this.#check(next - at);
      target.take(bytes, at, next);
      at = next;
    }
    return at;
  }

  #check(length: number): void {
    if (length <= this.#maxBytes) return;
    throw new DecodeError(
      `an object is longer than ${this.#maxBytes} bytes; raise maxObjectBytes if objects are that large`,
    );
  }
}
