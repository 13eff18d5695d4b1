/** The words of a command line, read from the front. */
export class WordLine {
  #words: string[];

  /** A line of these words. */
  constructor(words: readonly string[]) {
    this.#words = [...words];
  }

  /** The next word, which stays; undefined at the end. */
  get first(): string | undefined {
    return this.#words[0];
  }

  /** How many words are left. */
  get length(): number {
    return this.#words.length;
  }

  /** Takes the next word; undefined at the end. */
  take(): string | undefined {
    return this.#words.shift();
  }

  /** Takes all words that are left. */
  takeAll(): string[] {
    return this.#words.splice(0);
  }

  /**
   * Takes apart what the next word bundles: `-abc` is `-a -b -c`, and with digits at the end `-n5` is `-n 5`.
   *
   * The value after an equals sign belongs to the last flag, so `-lapp=x` is `-l -a -p -p=x`.
   *
   * @returns how many words stand for one now.
   */
  unbundle(): number {
    const word = this.#words[0] ?? "";
    if (!/^-[^-][^.]/.test(word)) return 1;
    const [, letters, value] = /^-([^=]*)(=.*)?$/s.exec(word)!;
    const flags = Number.isNaN(Number(word.at(-1)))
      ? Array.from(letters, (letter) => `-${letter}`)
      : [`-${letters[0]}`, ...(letters.length > 1 ? [letters.slice(1)] : [])];
    flags[flags.length - 1] += value ?? "";
    this.#words.splice(0, 1, ...flags);
    return flags.length;
  }

  /** Puts back together what was taken apart. */
  bundle(word: string, parts: number): void {
    this.#words.splice(0, parts, word);
  }
}
