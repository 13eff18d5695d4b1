import { Random } from "../../testing/objects/random.ts";

/** Makes `Math.random`, `crypto.randomUUID` and `crypto.getRandomValues` depend on a seed alone, until it is disposed. */
export class SeededGlobals implements Disposable {
  readonly #random = Math.random;
  readonly #uid = crypto.randomUUID;
  readonly #values = crypto.getRandomValues;

  /** Replaces the functions. */
  constructor(seed: number) {
    const random = new Random(seed);
    Math.random = (): number => random.next();
    crypto.randomUUID = () => random.uid() as ReturnType<typeof crypto.randomUUID>;
    crypto.getRandomValues = <T extends ArrayBufferView | null>(array: T): T => {
      if (array === null) return array;
      const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
      for (let at = 0; at < bytes.length; at++) bytes[at] = random.below(256);
      return array;
    };
  }

  /** Restores the functions. */
  [Symbol.dispose](): void {
    Math.random = this.#random;
    crypto.randomUUID = this.#uid;
    crypto.getRandomValues = this.#values;
  }
}
