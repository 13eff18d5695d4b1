/** Numbers that look random and are the same for the same seed, so that what failed once fails again. */
export class Random {
  #state: number;

  /** Starts from `seed`, of which 32 bits count. */
  constructor(seed: number) {
    // Neighbouring seeds must not give neighbouring numbers.
    this.#state = Math.imul((seed >>> 0) ^ 0x9e3779b9, 0x85ebca6b) >>> 0 || 1;
    for (let warm = 0; warm < 4; warm++) this.next();
  }

  /** A number from 0 up to, not including, 1. */
  next(): number {
    // Marsaglia's xorshift32: one word of state is enough for tests.
    let state = this.#state;
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    this.#state = state >>> 0;
    return this.#state / 0x1_0000_0000;
  }

  /** An integer from 0 up to, not including, `limit`. */
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  /** One of the values. */
  pick<T>(values: readonly T[]): T {
    return values[this.below(values.length)];
  }

  /** So many characters of `alphabet`. */
  text(length: number, alphabet: string): string {
    let text = "";
    for (let count = 0; count < length; count++) text += alphabet[this.below(alphabet.length)];
    return text;
  }

  /** So many hexadecimal digits. */
  hex(length: number): string {
    return this.text(length, "0123456789abcdef");
  }

  /** A UUID of version 4, as the server gives to objects. */
  uid(): string {
    const variant = this.text(1, "89ab");
    return `${this.hex(8)}-${this.hex(4)}-4${this.hex(3)}-${variant}${this.hex(3)}-${this.hex(12)}`;
  }

  /** What the server appends to a `generateName`: no vowels, and nothing that looks like another character. */
  suffix(length = 5): string {
    return this.text(length, "bcdfghjklmnpqrstvwxz2456789");
  }
}
