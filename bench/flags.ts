/** Flags of a program, `--name value`, each with a default that says its kind. */
export class Flags {
  readonly #values = new Map<string, string>();

  /** Reads a command line. @throws {TypeError} for anything that is not one of `names` with a value. */
  constructor(args: readonly string[], names: readonly string[]) {
    for (let i = 0; i < args.length; i += 2) {
      const name = args[i].replace(/^--/, "");
      if (!args[i].startsWith("--") || !names.includes(name)) {
        throw new TypeError(`Cannot read "${args[i]}": expected one of ${names.map((name) => `--${name}`).join(", ")}`);
      }
      if (args[i + 1] === undefined) throw new TypeError(`Cannot read "--${name}": it has no value`);
      this.#values.set(name, args[i + 1]);
    }
  }

  /** A count. @throws {RangeError} when it is not a positive integer. */
  count(name: string, otherwise: number): number {
    const text = this.#values.get(name);
    if (text === undefined) return otherwise;
    const value = Number(text);
    if (!Number.isInteger(value) || value < 1) {
      throw new RangeError(`Cannot use --${name} "${text}": it must be a positive integer`);
    }
    return value;
  }

  /** A text. */
  text(name: string, otherwise: string): string {
    return this.#values.get(name) ?? otherwise;
  }

  /** Texts between commas; `undefined` when the flag is not there. */
  list(name: string): readonly string[] | undefined {
    return this.#values.get(name)?.split(",").map((part) => part.trim()).filter((part) => part !== "");
  }
}
