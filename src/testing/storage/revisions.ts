import type { Store } from "./store.ts";

interface Waiting {
  readonly revision: number;
  readonly resolve: (reached: boolean) => void;
  readonly timer: ReturnType<typeof setTimeout>;
}

/** Waits until the store reaches a revision; resolves to false on a timeout. */
export type WaitForRevision = (revision: number) => Promise<boolean>;

/** Requests that wait for a future revision. */
export class Revisions {
  readonly #store: Store;
  readonly #delayMs: number;
  readonly #waiting = new Set<Waiting>();

  /** Limits each wait to `delayMs` milliseconds. */
  constructor(store: Store, delayMs: number) {
    this.#store = store;
    this.#delayMs = delayMs;
  }

  /** Resolves to true when the store reaches `revision`, to false on a timeout. */
  until(revision: number): Promise<boolean> {
    if (this.#store.revision >= revision) return Promise.resolve(true);
    if (this.#delayMs <= 0) return Promise.resolve(false);
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#answer(waiting, false), this.#delayMs);
      const waiting: Waiting = { revision, resolve, timer };
      this.#waiting.add(waiting);
    });
  }

  /** Resolves the waits that are due; called after each write. */
  reached(): void {
    for (const waiting of this.#waiting) if (waiting.revision <= this.#store.revision) this.#answer(waiting, true);
  }

  /** Resolves all waits to false. */
  giveUp(): void {
    for (const waiting of this.#waiting) this.#answer(waiting, false);
  }

  #answer(waiting: Waiting, reached: boolean): void {
    clearTimeout(waiting.timer);
    this.#waiting.delete(waiting);
    waiting.resolve(reached);
  }
}
