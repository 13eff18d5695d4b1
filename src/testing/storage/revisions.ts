import type { Store } from "./store.ts";

interface Waiting {
  readonly revision: number;
  readonly resolve: (reached: boolean) => void;
  readonly timer: ReturnType<typeof setTimeout>;
}

/** Waits until the store has come to a revision; false when it does not in time. */
export type WaitForRevision = (revision: number) => Promise<boolean>;

/** Those who wait for a revision that is still to come. */
export class Revisions {
  readonly #store: Store;
  readonly #delayMs: number;
  readonly #waiting = new Set<Waiting>();

  /** They wait for at most `delayMs` milliseconds. */
  constructor(store: Store, delayMs: number) {
    this.#store = store;
    this.#delayMs = delayMs;
  }

  /** Resolves true when the store has come to `revision`, false when it has not in time. */
  until(revision: number): Promise<boolean> {
    if (this.#store.revision >= revision) return Promise.resolve(true);
    if (this.#delayMs <= 0) return Promise.resolve(false);
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#answer(waiting, false), this.#delayMs);
      const waiting: Waiting = { revision, resolve, timer };
      this.#waiting.add(waiting);
    });
  }

  /** Looks who need not wait any longer: called after each write. */
  reached(): void {
    for (const waiting of this.#waiting) if (waiting.revision <= this.#store.revision) this.#answer(waiting, true);
  }

  /** Sends all away. */
  giveUp(): void {
    for (const waiting of this.#waiting) this.#answer(waiting, false);
  }

  #answer(waiting: Waiting, reached: boolean): void {
    clearTimeout(waiting.timer);
    this.#waiting.delete(waiting);
    waiting.resolve(reached);
  }
}
