/** A fault of one request. */
export type RequestFault =
  | { readonly type: "crash"; readonly when: "before" | "during" | "after"; readonly downMs: number }
  | { readonly type: "change"; readonly make: () => void }
  | { readonly type: "conflict" }
  | { readonly type: "loseAnswer" }
  | { readonly type: "loseRequest" }
  | { readonly type: "refuse"; readonly code: number; readonly retryAfterSeconds?: number }
  | { readonly type: "delay"; readonly ms: number };

/** Faults that wait for requests. */
export class RequestFaults {
  readonly #armed: { readonly fault: RequestFault; readonly writes: boolean; skip: number }[] = [];

  /** Arms a fault for the first request after `skip` ones; of writes alone, if `writes`. */
  arm(
    fault: RequestFault,
    { writes = true, skip = 0 }: { readonly writes?: boolean; readonly skip?: number } = {},
  ): void {
    this.#armed.push({ fault, writes, skip });
  }

  /** Returns the faults of a request, at most one of each type, and removes them. */
  take(isWrite: boolean): RequestFault[] {
    const taken = new Map<string, RequestFault>();
    for (const armed of [...this.#armed]) {
      const { fault, writes } = armed;
      if ((writes && !isWrite) || taken.has(fault.type) || armed.skip-- > 0) continue;
      taken.set(fault.type, fault);
      this.#armed.splice(this.#armed.indexOf(armed), 1);
    }
    return [...taken.values()];
  }

  /** Removes all faults. */
  clear(): void {
    this.#armed.length = 0;
  }
}
