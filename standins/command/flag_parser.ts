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
  /** Whether to stop at the first word that is not one of the options, or their value. @default {false} */
  readonly optionsOnly?: boolean;
}

/** What `#values` answers for an empty text: the option counts as not given. */
const NOT_GIVEN = Symbol("not given");

/** Reads a command line, in one go or first some options and later the rest. */
export class FlagParser {
  /** The words not yet understood. */
  rest: string[];
  /** What followed `--`. */
  readonly literal: string[] = [];
  /** The values of the options by key. */
  readonly flags: Record<string, unknown> = {};
  /** The values of the arguments. */
  readonly args: unknown[] = [];
  /** The options that were given, in their order. */
  readonly given: Set<OptionDefinition> = new Set();
  /** The same and those whose value was empty, which count as not given but still conflict with others. */
  readonly mentioned: Set<OptionDefinition> = new Set();
  /** The option that excludes all others, if it was given. */
  standalone: OptionDefinition | undefined;

  /** A parser of these words. */
  constructor(words: readonly string[]) {
    this.rest = [...words];
  }

  /** Reads on; what excludes all others excludes those of the same reading. */
  read(grammar: Grammar): void {
    const { options, args, optionsOnly } = grammar;
    const line = new WordLine(this.rest);
    const places = [...args];
    this.rest = [];
    const before = this.given.size;
    while (line.first !== undefined) {
      const word = line.first;
      const looksLikeFlag = word.length > 1 && word.startsWith("-");
      if (word === "--") {
        line.take();
        this.literal.push(...line.takeAll());
      } else if (!looksLikeFlag && optionsOnly) this.#stop(line);
      else if (!looksLikeFlag && args.length === 0) this.rest.push(line.take()!);
      else {
        const parts = line.unbundle();
        const [name, inline] = nameAndValue(line.first);
        const option = looksLikeFlag ? findOption(options, name) : undefined;
        if (option !== undefined) {
          line.take();
          this.#option(option, name, inline, line, grammar);
        } else if (optionsOnly) this.#stop(line);
        else {
          line.bundle(word, parts);
          this.#argument(line.take()!, name, places, looksLikeFlag, grammar);
        }
      }
    }
    if (this.standalone !== undefined && this.given.size - before > 1) {
      throw new FlagError(`Option "${flagOf(this.standalone.name)}" cannot be combined with other options.`);
    }
  }

  /** Leaves the words up to two dashes for later. */
  #stop(line: WordLine): void {
    const words = line.takeAll();
    const end = words.indexOf("--");
    this.rest.push(...(end < 0 ? words : words.slice(0, end)));
    if (end >= 0) this.literal.push(...words.slice(end + 1));
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
    const previous = this.flags[property];
    if (previous !== undefined && !option.collect) {
      const flag = flagOf(name).replace(/^--no-/, "--");
      throw new FlagError(`Option "${flag}" can only occur once, but was found several times.`);
    }
    if (option.values.length === 0 && inline !== undefined) {
      throw new FlagError(`Option "${flagOf(option.name)}" doesn't take a value, but got "${inline}".`);
    }
    this.mentioned.add(option);
    let value: unknown = !name.startsWith("--no-");
    if (value && option.values.length > 0) value = this.#values(option, inline, line, grammar);
    if (value === NOT_GIVEN) return;
    if (option.value !== undefined) value = option.value(value, previous);
    else if (option.collect) value = [...(Array.isArray(previous) ? previous : []), value];
    this.flags[property] = value;
    this.given.add(option);
    if (option.standalone) this.standalone = option;
  }

  #values(option: OptionDefinition, inline: string | undefined, line: WordLine, grammar: Grammar): unknown {
    const places = option.values;
    const several = places.length > 1 || places[0].variadic;
    const values: unknown[] = [];
    let at = 0;
    while (at < places.length) {
      const place = places[at];
      const word = inline ?? line.first;
      if (word === undefined || !takes(place, word, inline !== undefined, grammar)) break;
      if (inline === undefined) line.take();
      if (word === "" && (!option.required || place.optional)) {
        if (!several) return NOT_GIVEN;
        if (!place.variadic) values.push(undefined);
      } else values.push(convert(grammar, "Option", `--${option.name}`, place, word));
      if (!place.variadic) at++;
      if (inline !== undefined) break;
    }
    const open = places[at];
    if (open !== undefined && !open.optional && values[at] === undefined) {
      throw new FlagError(`Missing value for option "${flagOf(option.name)}".`);
    }
    if (values.length > 0) return several ? values : values[0];
    return places[0].type === "boolean" ? true : defaultOf(option) ?? true;
  }
}

/** The option of that name, written with dashes or without. */
export function findOption(options: readonly OptionDefinition[], name: string): OptionDefinition | undefined {
  const bare = name.replace(/^-+/, "");
  return options.find((option) => option.name === bare || option.aliases.includes(bare));
}

/** The default value of an option. */
export function defaultOf(option: OptionDefinition): unknown {
  return typeof option.default === "function" ? option.default() : option.default;
}

function nameAndValue(word: string): [name: string, value: string | undefined] {
  const at = word.indexOf("=");
  return at < 0 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)];
}

/** Whether a word is the value of an option, or belongs to what comes after it. */
function takes(place: ValueDefinition, word: string, inline: boolean, { options }: Grammar): boolean {
  if (!place.optional && !place.variadic) return true;
  if (findOption(options, word) !== undefined) return false;
  if (!place.optional || inline || !word.startsWith("-")) return true;
  return place.type === "number" && !Number.isNaN(Number(word));
}

function convert({ convert }: Grammar, label: string, name: string, place: ValueDefinition, text: string): unknown {
  const one = (value: string): unknown => convert({ label, name, type: place.type, value });
  return place.list ? text.split(",").map(one) : one(text);
}
