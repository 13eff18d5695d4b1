import type { OptionDefinition } from "./definition.ts";
import { FlagError } from "./flag_error.ts";
import { flagOf, type ValueDefinition } from "./flag_text.ts";
import { suggestion } from "./suggestion.ts";
import type { ArgumentValue } from "./type.ts";
import { WordLine } from "./word_line.ts";

/** How words are understood. */
export interface Grammar {
  /** The options there are. */
  readonly options: readonly OptionDefinition[];
  /** The arguments there are. */
  readonly args: readonly ValueDefinition[];
  /** Turns text into a value, or throws. */
  readonly convert: (value: ArgumentValue) => unknown;
}

/** The answer of `#value` for an empty text: the option counts as not given. */
const NOT_GIVEN = Symbol("not given");

/** Reads a command line. */
export class FlagParser {
  /** The words not yet understood. */
  rest: string[];
  /** What followed `--`. */
  readonly literal: string[] = [];
  /** The values of the options by key. */
  readonly flags: Record<string, unknown> = {};
  /** The values of the arguments. */
  readonly args: unknown[] = [];
  /** The options that were given, also with an empty value. */
  readonly mentioned: Set<OptionDefinition> = new Set();
  /** `--help` or `--version`, which excludes all others, if it was given. */
  standard: OptionDefinition | undefined;

  /** A parser of these words. */
  constructor(words: readonly string[]) {
    this.rest = [...words];
  }

  /** Reads all words. */
  read(grammar: Grammar): void {
    const { options, args } = grammar;
    const line = new WordLine(this.rest);
    const places = [...args];
    this.rest = [];
    while (line.first !== undefined) {
      const word = line.first;
      const looksLikeFlag = word.length > 1 && word.startsWith("-");
      if (word === "--") {
        line.take();
        this.literal.push(...line.takeAll());
      } else if (!looksLikeFlag && args.length === 0) this.rest.push(line.take()!);
      else {
        const parts = line.unbundle();
        const [name, inline] = nameAndValue(line.first);
        const option = looksLikeFlag ? findOption(options, name) : undefined;
        if (option !== undefined) {
          line.take();
          this.#option(option, name, inline, line, grammar);
        } else {
          line.bundle(word, parts);
          this.#argument(line.take()!, name, places, looksLikeFlag, grammar);
        }
      }
    }
    if (this.standard !== undefined && Object.keys(this.flags).length > 1) {
      throw new FlagError(`Option "${flagOf(this.standard.name)}" cannot be combined with other options.`);
    }
  }

  #argument(word: string, name: string, places: ValueDefinition[], looksLikeFlag: boolean, grammar: Grammar): void {
    const place = places[0];
    if (place === undefined) {
      if (!looksLikeFlag) throw new FlagError(`Too many arguments: ${word}`);
      const flags = grammar.options.flatMap((option) => [option.name, ...option.aliases]).map(flagOf);
      throw new FlagError(`Unknown option "${flagOf(name)}".${suggestion("option", flagOf(name), flags)}`);
    }
    if (!place.variadic) places.shift();
    if (place.optional && word === "") {
      if (!place.variadic) this.args.push(undefined);
    } else this.args.push(convert(grammar, "Argument", place.name, place, word));
  }

  #option(
    option: OptionDefinition,
    name: string,
    inline: string | undefined,
    line: WordLine,
    grammar: Grammar,
  ): void {
    const { property } = option;
    const earlier = this.flags[property];
    if (earlier !== undefined && !option.collect) {
      const flag = flagOf(name).replace(/^--no-/, "--");
      throw new FlagError(`Option "${flag}" can only occur once, but was found several times.`);
    }
    if (option.values.length === 0 && inline !== undefined) {
      throw new FlagError(`Option "${flagOf(option.name)}" doesn't take a value, but got "${inline}".`);
    }
    this.mentioned.add(option);
    let value: unknown = !name.startsWith("--no-");
    if (value && option.values.length > 0) value = this.#value(option, inline ?? line.take(), grammar);
    if (value === NOT_GIVEN) return;
    this.flags[property] = option.collect ? [...(earlier as unknown[] | undefined) ?? [], value] : value;
    if (option.standard !== undefined) this.standard = option;
  }

  #value(option: OptionDefinition, word: string | undefined, grammar: Grammar): unknown {
    if (word === undefined) throw new FlagError(`Missing value for option "${flagOf(option.name)}".`);
    return word === "" ? NOT_GIVEN : convert(grammar, "Option", `--${option.name}`, option.values[0], word);
  }
}

/** The option of that name, written with dashes or without. */
export function findOption(options: readonly OptionDefinition[], name: string): OptionDefinition | undefined {
  const bare = name.replace(/^-+/, "");
  return options.find((option) => option.name === bare || option.aliases.includes(bare));
}

function nameAndValue(word: string): [name: string, value: string | undefined] {
  const at = word.indexOf("=");
  return at < 0 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)];
}

function convert({ convert }: Grammar, label: string, name: string, place: ValueDefinition, text: string): unknown {
  return convert({ label, name, type: place.type, value: text });
}
