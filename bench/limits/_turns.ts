import { quantile } from "../statistics.ts";

/**
 * Measures for how long a program keeps the event loop at a stretch: from what wakes it, {@linkcode began}, to the last
 * {@linkcode touched} before the next turn of the event loop. Garbage collections and a busy machine count.
 */
export class Turns {
  #spansMs: number[] = [];
  #startMs = NaN;
  #lastMs = NaN;

  /** The program works from now on, unless it does already. */
  began(): void {
    if (!Number.isNaN(this.#startMs)) return;
    this.#startMs = this.#lastMs = performance.now();
    setImmediate(() => {
      this.#spansMs.push(this.#lastMs - this.#startMs);
      this.#startMs = NaN;
    });
  }

  /** The program has worked up to now. */
  touched(): void {
    if (!Number.isNaN(this.#startMs)) this.#lastMs = performance.now();
  }

  /**
   * Watches everything that is read from bodies: a chunk wakes the reader, asking for the next one or sending a request
   * touches. Requests go through the returned `fetch`.
   */
  watchBodies(): { fetch(request: Request): Promise<Response> } {
    // deno-lint-ignore no-this-alias -- `this` is the reader in what is put in place of its method
    const turns = this;
    const { read } = ReadableStreamBYOBReader.prototype;
    ReadableStreamBYOBReader.prototype.read = function (
      this: ReadableStreamBYOBReader,
      ...args: Parameters<typeof read>
    ): ReturnType<typeof read> {
      turns.touched();
      return read.apply(this, args).then((result) => {
        turns.began();
        return result;
      });
    } as typeof read;
    return {
      fetch: (request) => {
        turns.touched();
        return fetch(request);
      },
    };
  }

  /** Forgets what was measured so far: what is measured then, as numbers to print under names that begin so. */
  take(name: string): Record<string, number> {
    const spans = this.#spansMs;
    this.#spansMs = [];
    return {
      [`${name}Turns`]: spans.length,
      [`${name}TurnP999Ms`]: quantile(spans, 0.999),
      [`${name}TurnMaxMs`]: quantile(spans, 1),
    };
  }
}
