const utf8 = new TextDecoder();
const SLOTS = 16_384;
const LONGEST = 64;

/**
 * Reads strings out of bytes, and gives one string for those that were lately read: most strings of an object are in its
 * neighbours too. A call of the runtime costs more than to compare the bytes, and a string that is shared weighs nothing.
 *
 * A slot whose string is asked for again survives one other string that wants its place.
 */
export class StringCache {
  readonly #texts: string[] = new Array(SLOTS).fill("");
  readonly #bytes = new Uint8Array(SLOTS * LONGEST);
  readonly #sizes = new Uint8Array(SLOTS);
  readonly #hit = new Uint8Array(SLOTS);

  /** The text of `bytes[at, stop)`, which is UTF-8: a flat string of its own. */
  read(bytes: Uint8Array, at: number, stop: number): string {
    const size = stop - at;
    if (size === 0) return "";
    if (size > LONGEST) return utf8.decode(bytes.subarray(at, stop));
    const ends = bytes[at] * 31 + bytes[stop - 1];
    const middle = bytes[at + (size >> 1)] * 131 + bytes[at + (size >> 2)] * 7 + bytes[stop - 1 - (size >> 3)];
    const slot = Math.imul(ends * 257 + middle + size, 0x9e37_79b1) >>> 18;
    if (this.#sizes[slot] === size && this.#spells(bytes, at, stop, slot * LONGEST)) {
      this.#hit[slot] = 1;
      return this.#texts[slot];
    }
    const text = utf8.decode(bytes.subarray(at, stop));
    if (this.#hit[slot] === 1) this.#hit[slot] = 0;
    else {
      this.#texts[slot] = text;
      this.#sizes[slot] = size;
      for (let from = at, to = slot * LONGEST; from < stop;) this.#bytes[to++] = bytes[from++];
    }
    return text;
  }

  #spells(bytes: Uint8Array, at: number, stop: number, slot: number): boolean {
    const known = this.#bytes;
    while (at < stop) if (bytes[at++] !== known[slot++]) return false;
    return true;
  }
}
