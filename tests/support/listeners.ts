/** A controller whose signal says how many `abort` listeners hang on it. */
export class CountedController extends AbortController {
  readonly #listeners = new Set<unknown>();

  constructor() {
    super();
    const { signal } = this;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>): void => {
      this.#listeners.add(args[1]);
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>): void => {
      this.#listeners.delete(args[1]);
      remove(...args);
    };
  }

  /** The number of listeners that were added and not removed; removal by `once` does not count. */
  get listeners(): number {
    return this.#listeners.size;
  }
}
