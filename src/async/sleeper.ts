/** Somebody who waits for one thing at a time, and can be woken before it has happened, to look around. */
export class Sleeper {
  #wake: (() => void) | undefined;

  /** Resolves when the function given to `ask` is called, or on {@linkcode wake}; `ask` returns how to take that back. */
  wait(ask: (wake: () => void) => () => void): Promise<void> {
    return new Promise((resolve) => {
      const forget = ask(resolve);
      this.#wake = (): void => {
        forget(); // who leaves must not stay until something happens
        resolve();
      };
    });
  }

  /** Wakes it, if it waits. */
  wake(): void {
    this.#wake?.();
  }
}
