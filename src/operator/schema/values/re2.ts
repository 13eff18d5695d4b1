/**
 * Translates regular expressions of RE2, the language of patterns in schemas, to regular expressions of JavaScript.
 *
 * {@linkcode re2} is the entry point. It does not run them: `validate.ts` does.
 *
 * @module
 */

/** The characters of the classes that RE2 names between brackets, as part of a class of JavaScript. */
const CLASSES: ReadonlyMap<string, string> = new Map([
  ["alnum", "0-9A-Za-z"],
  ["alpha", "A-Za-z"],
  ["ascii", "\\x00-\\x7f"],
  ["blank", "\\t "],
  ["cntrl", "\\x00-\\x1f\\x7f"],
  ["digit", "0-9"],
  ["graph", "!-~"],
  ["lower", "a-z"],
  ["print", " -~"],
  ["punct", "!-\\/:-@\\[-`\\{-~"],
  ["space", "\\t-\\r "],
  ["upper", "A-Z"],
  ["word", "0-9A-Za-z_"],
  ["xdigit", "0-9A-Fa-f"],
]);

/** The characters of `\s`, which has more of them in JavaScript. */
const SPACES = "\\t\\n\\f\\r ";

/** The parts of an expression: parts without a name are characters. */
const PART = new RegExp(
  [
    /\\Q(?<quoted>[^]*?)(?:\\E|$)/,
    /\\x\{(?<hex>[0-9A-Fa-f]+)\}/,
    /\\(?<sign>[pP])(?:\{(?<not>\^?)(?<property>\w+)\}|(?<letter>[A-Z]))/,
    /\\(?<escaped>[^])/,
    /\[:(?<named>\^?\w+):\]/,
    /(?<bracket>\[\^?)/,
    /\(\?(?<flags>[ims]*(?:-[ims]+)?)\)/,
    /(?<open>\((?:\?(?:P?<\w+>|[ims]*(?:-[ims]+)?:))?)/,
    /(?<repeat>\{\d+(?:,\d*)?\})/,
    /(?<character>[^])/,
  ].map(({ source }) => source).join("|"),
  "gu",
);

/**
 * Returns the expression of JavaScript that matches what one of RE2 matches, the language of patterns in schemas.
 *
 * @see https://github.com/google/re2/wiki/Syntax
 * @throws {SyntaxError} when it is none, or has what is not expressed here: the flag `U`, `\C`, octal
 *   escapes, and negated named classes between brackets.
 */
export function re2(source: string): RegExp {
  try {
    return new RegExp(new Translation().of(source), "u");
  } catch (error) {
    throw new SyntaxError(
      `Cannot check values against the pattern ${JSON.stringify(source)}: ${(error as SyntaxError).message}`,
    );
  }
}

/** One translation, from the first part of an expression to the last. */
class Translation {
  /** The groups that flags have opened in each open group, the expression as a whole first. */
  readonly #flagged: string[][] = [[]];
  /** `true` between brackets. */
  #inClass = false;
  /** `true` if the part before begins a group, or the characters between brackets. */
  #isFirst = true;
  /** `true` if the part before is a class within brackets. */
  #isBehindClass = false;

  of(source: string): string {
    const text = source.replaceAll(PART, (...match) => this.#part(match.at(-1)));
    return this.#flagged.length === 1 ? text + this.#close() : text;
  }

  #part(part: Partial<Record<string, string>>): string {
    const isFirst = this.#isFirst;
    const isBehindClass = this.#isBehindClass;
    this.#isFirst = this.#isBehindClass = false;
    const { quoted, hex, sign, escaped, named, bracket, open, flags, repeat, character = "" } = part;
    if (quoted !== undefined) return Array.from(quoted, literal).join("");
    if (hex !== undefined) return `\\u{${hex}}`;
    if (sign !== undefined) return this.#property(sign, part);
    if (escaped !== undefined) return this.#escaped(escaped);
    if (this.#inClass) return this.#between(part, isFirst, isBehindClass);
    if (flags !== undefined) return this.#flags(flags);
    if (open !== undefined) {
      this.#flagged.unshift([]);
      this.#isFirst = true;
      return open.replace("(?P<", "(?<");
    }
    if (repeat !== undefined) {
      if (repeat.match(/\d+/g)!.some((count) => Number(count) > 1000)) throw new SyntaxError("Invalid repeat count");
      return repeat;
    }
    if (named !== undefined) return `[:${named}:]`;
    if (bracket !== undefined) {
      this.#inClass = this.#isFirst = true;
      return bracket;
    }
    switch (character) {
      case ")":
        if (this.#flagged.length === 1) throw new SyntaxError('Unmatched ")"');
        return `${this.#close()})`;
      case "|":
        return `${")".repeat(this.#flagged[0].length)}|${this.#flagged[0].join("")}`;
      case "?":
        if (isFirst) throw new SyntaxError('Invalid group: "(?"');
        return "?";
      case "{":
      case "}":
      case "]":
        return `\\${character}`;
      default:
        return character;
    }
  }

  /** Returns a part between brackets. */
  #between(part: Partial<Record<string, string>>, isFirst: boolean, isBehindClass: boolean): string {
    const { named, bracket, open, flags, repeat, character } = part;
    if (named !== undefined) return classOf(named);
    const text = bracket ?? open ?? repeat ?? character ?? `(?${flags})`;
    if (text === "]" && !isFirst) this.#inClass = false;
    else if (bracket !== undefined || text === "]" || (text === "-" && isBehindClass)) return `\\${text}`;
    return text;
  }

  #property(sign: string, { not, property, letter }: Partial<Record<string, string>>): string {
    this.#isBehindClass = this.#inClass;
    const name = letter ?? property!;
    const is = (sign === "p") === !not ? "p" : "P";
    return name === "Any" || name.length < 3 ? `\\${is}{${name}}` : `\\${is}{Script=${name}}`;
  }

  #escaped(character: string): string {
    switch (character) {
      case "A":
        return "(?<![^])";
      case "z":
        return "(?![^])";
      case "a":
        return "\\x07";
      case "s":
        return this.#class(SPACES);
      case "S":
        return this.#inClass ? this.#class("\\S") : `[^${SPACES}]`;
      case "d":
      case "D":
      case "w":
      case "W":
        return this.#class(`\\${character}`);
      default:
        if (/[1-9]/.test(character)) throw new SyntaxError(`Invalid escape: "\\${character}"`);
        return /[0-9A-Za-z]/.test(character) ? `\\${character}` : literal(character);
    }
  }

  /** Returns characters of a class, in brackets unless it stands between some. */
  #class(characters: string): string {
    this.#isBehindClass = this.#inClass;
    return this.#inClass ? characters : `[${characters}]`;
  }

  /** Returns what closes the groups of flags in the innermost group, which ends. */
  #close(): string {
    return ")".repeat(this.#flagged.shift()!.length);
  }

  /** Returns the beginning of a group with flags, which ends with the group around it, or at the next `|` of that. */
  #flags(flags: string): string {
    const text = `(?${flags}:`;
    this.#flagged[0].push(text);
    this.#isFirst = true;
    return text;
  }
}

/** Returns the characters of a class that RE2 names. @throws {SyntaxError} when that is none. */
function classOf(name: string): string {
  const characters = CLASSES.get(name);
  if (characters === undefined) throw new SyntaxError(`Invalid class: "[:${name}:]"`);
  return characters;
}

/** Returns an expression that matches only a character, also between brackets. */
function literal(character: string): string {
  return /[\^$\\.*+?()[\]{}|/-]/.test(character) ? `\\x${character.charCodeAt(0).toString(16)}` : character;
}
