const METHODS = ["debug", "log", "info", "warn", "error"] as const;

/** Passes what is written to the console to `take`, instead of printing it, until it is disposed. */
export class CapturedConsole implements Disposable {
  readonly #real = METHODS.map((name) => globalThis.console[name]);

  /** Replaces the methods of the console. */
  constructor(take: (text: string) => void) {
    for (const name of METHODS) globalThis.console[name] = (...values: unknown[]) => take(values.map(String).join(" "));
  }

  /** Restores the methods of the console. */
  [Symbol.dispose](): void {
    for (const [at, name] of METHODS.entries()) globalThis.console[name] = this.#real[at];
  }
}
