/** Where the frame that begins at `at` ends, as far as that can be told from bytes up to `end`; else -1. */
export type EndOfFrame = (bytes: Uint8Array, at: number, end: number) => number;

/** What is done with one frame, which is valid until it returns. */
export type TakeFrame = (bytes: Uint8Array, start: number, end: number) => void;

/** Cuts the chunks of a body into frames; what is left of a chunk waits for the next one. */
export class FrameSplitter {
  readonly #endOf: EndOfFrame;
  #carry = new Uint8Array(0);
  #length = 0;

  /** Frames end where `endOf` says. */
  constructor(endOf: EndOfFrame) {
    this.#endOf = endOf;
  }

  /** How many bytes wait for the rest of their frame. */
  get waiting(): number {
    return this.#length;
  }

  /** Takes the frames that are complete with this chunk. */
  push(chunk: Uint8Array, take: TakeFrame): void {
    let bytes = chunk;
    let end = chunk.length;
    if (this.#length > 0) {
      this.#append(chunk);
      bytes = this.#carry;
      end = this.#length;
    }
    let at = 0;
    for (let next; at < end && (next = this.#endOf(bytes, at, end)) !== -1; at = next) take(bytes, at, next);
    if (bytes === this.#carry) {
      this.#carry.copyWithin(0, at, end);
      this.#length = end - at;
    } else this.#append(chunk.subarray(at));
  }

  #append(bytes: Uint8Array): void {
    const length = this.#length + bytes.length;
    if (length > this.#carry.length) {
      const larger = new Uint8Array(2 * length);
      larger.set(this.#carry.subarray(0, this.#length));
      this.#carry = larger;
    }
    this.#carry.set(bytes, this.#length);
    this.#length = length;
  }
}
