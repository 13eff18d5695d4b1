import { errorLine } from "../../errors/error_line.ts";

/**
 * Reports failures of one resource to people: each message once, and again only after a recovery.
 *
 * An unreachable server fails every few seconds with one or two different messages; each is printed once.
 */
export class FailureReporter {
  readonly #name: string;
  readonly #say: (line: string) => void;
  /** Lines printed since the last recovery; at most `MOST`. */
  readonly #said = new Set<string>();
  /** `true` from a failure that is retried until the recovery. */
  #ill = false;

  /** Messages begin with `name`. */
  constructor(name: string, say: (line: string) => void) {
    this.#name = name;
    this.#say = say;
  }

  /** Reports a failure; `trying` means that it is retried until it succeeds. */
  report(error: unknown, trying: boolean): void {
    this.#ill ||= trying;
    const line = `${this.#name}: ${errorLine(error)}${trying ? "; trying again" : ""}`;
    if (this.#said.has(line)) return;
    if (this.#said.size >= MOST) this.#said.clear();
    this.#said.add(line);
    this.#say(line);
  }

  /** Reports the recovery, if a failure was being retried. */
  recovered(): void {
    if (!this.#ill) return;
    this.#ill = false;
    this.#said.clear();
    this.#say(`${this.#name}: live again`);
  }
}

/** Maximum number of messages to remember: failures of single objects can be as many as the objects. */
const MOST = 1_000;
