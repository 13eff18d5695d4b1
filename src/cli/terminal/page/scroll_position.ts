/** Keys, as a terminal sends them: letters, and CSI sequences of ECMA-48 and xterm. */
const UP: readonly string[] = ["k", "\x1b[A", "\x1bOA"];
const DOWN: readonly string[] = ["j", "\x1b[B", "\x1bOB"];
const PAGE_UP: readonly string[] = ["b", "\x1b[5~"];
const PAGE_DOWN: readonly string[] = [" ", "f", "\x1b[6~"];
const FIRST: readonly string[] = ["g", "\x1b[H", "\x1b[1~", "\x1bOH"];
const LAST: readonly string[] = ["G", "\x1b[F", "\x1b[4~", "\x1bOF"];

/** The first row of a long table that a screen shows; keys move it, as in `less`. A page moves by one row less than fit. */
export class ScrollPosition {
  #first = 0;
  #height = 1;

  /** Returns the first row to show of `count`, where `height` fit. */
  within(count: number, height: number): number {
    this.#height = Math.max(1, height);
    this.#first = Math.max(0, Math.min(this.#first, count - this.#height));
    return this.#first;
  }

  /** Moves by a key; other keys do nothing. Returns `true` if it moved. */
  press(key: string): boolean {
    const before = this.#first;
    if (UP.includes(key)) this.#first--;
    else if (DOWN.includes(key)) this.#first++;
    else if (PAGE_UP.includes(key)) this.#first -= Math.max(1, this.#height - 1);
    else if (PAGE_DOWN.includes(key)) this.#first += Math.max(1, this.#height - 1);
    else if (FIRST.includes(key)) this.#first = 0;
    else if (LAST.includes(key)) this.#first = Number.MAX_SAFE_INTEGER;
    this.#first = Math.max(0, this.#first);
    return this.#first !== before;
  }
}
