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

/** Counts the listeners of all signals that have not aborted, until it is disposed. */
export class AllListeners implements Disposable {
  readonly #listeners = new Map<AbortSignal, Set<unknown>>();
  readonly #add = AbortSignal.prototype.addEventListener;
  readonly #remove = AbortSignal.prototype.removeEventListener;

  constructor() {
    const [add, remove, all] = [this.#add, this.#remove, this.#listeners];
    AbortSignal.prototype.addEventListener = function (this: AbortSignal, ...args: unknown[]): void {
      all.set(this, (all.get(this) ?? new Set()).add(args[1]));
      add.apply(this, args as never);
    } as typeof add;
    AbortSignal.prototype.removeEventListener = function (this: AbortSignal, ...args: unknown[]): void {
      all.get(this)?.delete(args[1]);
      remove.apply(this, args as never);
    } as typeof remove;
  }

  /** The number of listeners that were added since, and not removed. */
  get count(): number {
    return [...this.#listeners].reduce((sum, [{ aborted }, listeners]) => aborted ? sum : sum + listeners.size, 0);
  }

  [Symbol.dispose](): void {
    AbortSignal.prototype.addEventListener = this.#add;
    AbortSignal.prototype.removeEventListener = this.#remove;
  }
}
