/** The number of seconds that a plot shows. */
const SECONDS = 60;

/** Events per second, of the last minute. */
export class Rate {
  readonly #samples: number[] = [];
  /** The last count; `undefined` before the first one. */
  #last: number | undefined;

  /** Takes the number of events so far, once a second. A lower one than before begins anew. */
  sample(events: number | undefined): void {
    const last = this.#last;
    this.#last = events;
    this.#samples.push(events === undefined || last === undefined ? 0 : Math.max(0, events - last));
    if (this.#samples.length > SECONDS) this.#samples.shift();
  }

  /** The number of events of the last second. */
  get perSecond(): number {
    return this.#samples.at(-1) ?? 0;
  }

  /** Returns the samples as the path of a line, the newest at the right; the highest reaches the top. */
  path(width: number, height: number): string {
    const top = Math.max(1, ...this.#samples);
    const first = SECONDS - this.#samples.length;
    return this.#samples.map((value, i) => {
      const x = ((first + i) / (SECONDS - 1)) * width;
      return `${i === 0 ? "M" : "L"}${x.toFixed(1)} ${(height - 1 - (value / top) * (height - 2)).toFixed(1)}`;
    }).join("");
  }
}
