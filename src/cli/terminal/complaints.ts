import { errorLine } from "../errors/error_line.ts";

/**
 * What goes wrong with one resource, told to people: the same thing once, and again only after it was well in between.
 *
 * A server that is away fails every few seconds in one or two forms of words; who watches for days wants two lines of that.
 */
export class Complaints {
  readonly #name: string;
  readonly #say: (line: string) => void;
  readonly #said = new Set<string>();
  #ill = false;

  /** Complaints about what is called `name`. */
  constructor(name: string, say: (line: string) => void) {
    this.#name = name;
    this.#say = say;
  }

  /** Something failed; `trying` says that it will be tried again until it works. */
  complain(error: unknown, trying: boolean): void {
    this.#ill ||= trying;
    const line = `${this.#name}: ${errorLine(error)}${trying ? "; trying again" : ""}`;
    if (this.#said.has(line)) return;
    if (this.#said.size >= MOST) this.#said.clear();
    this.#said.add(line);
    this.#say(line);
  }

  /** All is well. Says so after something was tried again. */
  well(): void {
    if (!this.#ill) return;
    this.#ill = false;
    this.#said.clear();
    this.#say(`${this.#name}: live again`);
  }
}

/** How many complaints are remembered: those about single objects may be as many as there are objects. */
const MOST = 1_000;
