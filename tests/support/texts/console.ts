/** Collects what is written to the console as warnings, until it is disposed. */
export class Warnings implements Disposable {
  readonly lines: string[] = [];
  readonly #warn = console.warn;

  constructor() {
    console.warn = (...args: unknown[]): void => void this.lines.push(args.join(" "));
  }

  /** Returns the lines so far, and forgets them. */
  take(): string[] {
    return this.lines.splice(0);
  }

  [Symbol.dispose](): void {
    console.warn = this.#warn;
  }
}
