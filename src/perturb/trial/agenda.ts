/** The starts and ends of processes and faults that are still to come. */
export class Agenda {
  readonly #acts = new Map<ReturnType<typeof setTimeout>, () => void>();

  /** Calls `act` after `ms`, or when faults end. */
  after(ms: number, act: () => void): void {
    const once = (): void => {
      this.#acts.delete(timer);
      act();
    };
    const timer = setTimeout(once, ms);
    this.#acts.set(timer, once);
  }

  /** Does now what is still to come; what that adds is still to come afterwards. */
  hasten(): void {
    for (const [timer, act] of [...this.#acts]) {
      clearTimeout(timer);
      act();
    }
  }

  /** Forgets what is still to come. */
  clear(): void {
    for (const timer of this.#acts.keys()) clearTimeout(timer);
    this.#acts.clear();
  }
}
