const SMALLEST_BYTES = 16_384;

/** A buffer larger than this is freed when it is cleared. */
const LARGEST_KEPT_BYTES = 1_048_576;

/** Joins bytes that arrive in parts, in one buffer that is allocated by the first part and grows by doubling. */
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

  /** Removes the first `count` bytes of the content. */
  removeFirst(count: number): void {
    if (count === this.#length) return this.clear();
    this.#bytes.copyWithin(0, count, this.#length);
    this.#length -= count;
  }

  /** Removes the content. */
  clear(): void {
    this.#length = 0;
    if (this.#bytes.length > LARGEST_KEPT_BYTES) this.#bytes = new Uint8Array(0);
  }
}
