/**
 * Random numbers by seed.
 *
 * {@linkcode Random} is the entry point; {@linkcode seedGlobals} replaces the random functions of the runtime in a
 * test.
 *
 * @module
 */

/** A seeded pseudo-random generator. The same seed gives the same numbers, so that you can reproduce a failure. */
export class Random {
  #state: number;

  /** Starts from `seed`. Only 32 bits are used. */
  constructor(seed: number) {
    // Mix the seed, so that neighbouring seeds give unrelated numbers.
    this.#state = Math.imul((seed >>> 0) ^ 0x9e3779b9, 0x85ebca6b) >>> 0 || 1;
    for (let warm = 0; warm < 4; warm++) this.next();
  }

  /** Returns a number from 0 (inclusive) to 1 (exclusive). */
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

  /** Returns an integer from 0 (inclusive) to `limit` (exclusive). */
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  /** Returns one value at random. */
  pick<T>(values: readonly T[]): T {
    return values[this.below(values.length)];
  }

  /** Returns `length` random characters from `alphabet`. */
  text(length: number, alphabet: string): string {
    let text = "";
    for (let count = 0; count < length; count++) text += alphabet[this.below(alphabet.length)];
    return text;
  }

  /** Returns `length` hexadecimal digits. */
  hex(length: number): string {
    return this.text(length, "0123456789abcdef");
  }

  /** Returns a version 4 UUID. */
  uid(): string {
    const variant = this.text(1, "89ab");
    return `${this.hex(8)}-${this.hex(4)}-4${this.hex(3)}-${variant}${this.hex(3)}-${this.hex(12)}`;
  }

  /** Returns a suffix for `generateName`: without vowels and ambiguous characters, like on the server. */
  suffix(length = 5): string {
    return this.text(length, "bcdfghjklmnpqrstvwxz2456789");
  }
}

/**
 * Replaces `Math.random`, `crypto.randomUUID` and `crypto.getRandomValues` by numbers from a seed. With a function, it
 * replaces only `Math.random`. Dispose the result to restore them.
 */
export function seedGlobals(source: number | (() => number)): Disposable {
  const real = { random: Math.random, uid: crypto.randomUUID, values: crypto.getRandomValues };
  if (typeof source === "function") Math.random = source;
  else {
    const random = new Random(source);
    Math.random = (): number => random.next();
    crypto.randomUUID = () => random.uid() as ReturnType<typeof crypto.randomUUID>;
    crypto.getRandomValues = <T extends ArrayBufferView | null>(array: T): T => {
      if (array === null) return array;
      const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
      for (let at = 0; at < bytes.length; at++) bytes[at] = random.below(256);
      return array;
    };
  }
  return {
    [Symbol.dispose]: (): void => {
      Math.random = real.random;
      crypto.randomUUID = real.uid;
      crypto.getRandomValues = real.values;
    },
  };
}
