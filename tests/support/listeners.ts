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

  /** How many listeners have been added and not been removed; what `once` removes does not count as removed. */
  get listeners(): number {
    return this.#listeners.size;
  }
}
