/**
 * Reads regular expressions of RE2, the language of patterns in schemas and rules.
 *
 * {@linkcode re2} is the entry point. `pattern.ts` runs what is read here: JavaScript's own expressions have another
 * syntax, and their time is not linear in the text.
 *
 * @module
 */
import { type Expression, Pattern, syntaxFault } from "./pattern.ts";

/** The characters of the classes that RE2 names between brackets, as part of a class of JavaScript. */
const CLASSES: ReadonlyMap<string, string> = new Map(
  ("alnum 0-9A-Za-z|alpha A-Za-z|ascii \\x00-\\x7f|blank \\t\\x20|cntrl \\x00-\\x1f\\x7f|digit 0-9|graph !-~|lower a-z|" +
    "print \\x20-~|punct !-\\/:-@\\[-`\\{-~|space \\t-\\r\\x20|upper A-Z|word 0-9A-Za-z_|xdigit 0-9A-Fa-f")
    .split("|").map((row) => row.split(" ") as [string, string]),
);

/** The classes of one letter, which in RE2 have ASCII characters only. Their complements have capital letters. */
const LETTERS: Readonly<Record<string, string>> = { d: "0-9", s: "\\t\\n\\f\\r\\x20", w: "0-9A-Za-z_" };

const CONTROLS: Readonly<Record<string, number>> = { a: 7, f: 12, n: 10, r: 13, t: 9, v: 11 };

/** What `^` and `$` mean without the flag `m`. */
const ONE_LINE: Readonly<Record<string, string>> = { "^": "\\A", $: "\\z" };

/** Names of four letters that JavaScript has for scripts and Go has not: `Grek` for `Greek`. */
const SHORT_SCRIPT = /^(?!Ahom|Cham|Kawi|Lisu|Miao|Newa|Thai|Toto)....$/;

/** The largest count of a repetition, of nested ones multiplied, and how deep groups may be nested, as in Go. */
const MOST = 1_000;

/** Patterns that have been read; schemas and rules repeat theirs. */
const READ = new Map<string, Pattern>();
/** Numbers that all patterns hold together; then all are forgotten. */
const MOST_HELD = 3_000_000;

/**
 * Returns what matches the texts that an expression of RE2 matches. Its time is linear in the text.
 *
 * @see https://github.com/google/re2/wiki/Syntax
 * @throws {SyntaxError} with Go's words if Go refuses the expression, or if it has more than 100,000 instructions.
 */
export function re2(source: string): Pattern {
  const known = READ.get(source);
  if (known !== undefined) return known;
  const pattern = new Pattern(new Reader(source).read(), source);
  if (READ.size >= MOST || Pattern.held > MOST_HELD) {
    READ.clear();
    Pattern.held = 0;
  }
  READ.set(source, pattern);
  return pattern;
}

/** Reads one expression, from its first character to its last. */
class Reader {
  readonly #source: string;
  /** The place at which the last name of a class between brackets ends. */
  readonly #lastName: number;
  #at = 0;
  /** The flags that are set, of `i`, `m`, `s` and `U`. */
  #flags: ReadonlySet<string> = new Set();
  #depth = 0;

  constructor(source: string) {
    this.#source = source;
    this.#lastName = source.lastIndexOf(":]");
  }

  read(): Expression {
    const expression = this.#alternatives();
    if (this.#at < this.#source.length) throw syntaxFault("unexpected )", this.#source);
    return expression;
  }

  /** Reads alternatives until a group or the text ends. Flags that are set between them hold until then. */
  #alternatives(): Expression {
    if (++this.#depth > MOST) throw syntaxFault("expression nests too deeply", this.#source);
    const flags = this.#flags;
    const alternatives: Expression[][] = [[]];
    let repeatedAt: number | undefined;
    while (this.#at < this.#source.length && this.#source[this.#at] !== ")") {
      const at = this.#at;
      const isRepeat = this.#repeat(alternatives.at(-1)!, repeatedAt);
      if (!isRepeat && this.#skip("|")) alternatives.push([]);
      else if (!isRepeat) this.#part(alternatives.at(-1)!);
      repeatedAt = isRepeat ? at : undefined;
    }
    this.#flags = flags;
    this.#depth--;
    return { any: alternatives };
  }

  /** Reads one part of a sequence. */
  #part(sequence: Expression[]): void {
    const [, quoted] = this.#match(/\\Q([^]*?)(?:\\E|$)/y) ?? [];
    if (quoted !== undefined) {
      for (const character of quoted) sequence.push(this.#set(`[${escapeOf(character.codePointAt(0)!)}]`));
    } else if (this.#skip("(")) this.#group(sequence);
    else if (this.#source[this.#at] === "[") sequence.push(this.#set(this.#brackets()));
    else if (this.#skip(".")) sequence.push(this.#set(this.#flags.has("s") ? "[^]" : "[^\\n]"));
    else {
      const [sign] = this.#match(/\\[AzbB]|[$^]/y) ?? [];
      if (sign === undefined) sequence.push(this.#set(this.#class() ?? `[${escapeOf(this.#character())}]`));
      else sequence.push({ assert: this.#flags.has("m") ? sign : ONE_LINE[sign] ?? sign });
    }
  }

  /** Reads a repetition of the part before. Returns `false` if none is next. */
  #repeat(sequence: Expression[], repeatedAt: number | undefined): boolean {
    const at = this.#at;
    const match = this.#match(/([*+?])|\{(0|[1-9]\d*)(,(0|[1-9]\d*)?)?\}/y);
    if (match === undefined) return false;
    const [, sign, least, comma, most = Infinity] = match;
    const from = least === undefined ? sign === "+" ? 1 : 0 : Number(least);
    const to = sign === "?" ? 1 : sign !== undefined ? Infinity : comma === undefined ? from : Number(most);
    if (from > to || Math.max(from, most === Infinity ? 0 : to) > MOST) throw this.#fault("invalid repeat count", at);
    const isLazy = this.#skip("?") !== this.#flags.has("U");
    if (repeatedAt !== undefined) throw this.#fault("invalid nested repetition operator", repeatedAt);
    const repeat = sequence.pop();
    if (repeat === undefined) throw this.#fault("missing argument to repetition operator", at);
    const repeated = { repeat, from, to, isLazy };
    if (least !== undefined && copies(repeated) > MOST) throw this.#fault("invalid repeat count", at);
    sequence.push(repeated);
    return true;
  }

  /** Reads a group behind its parenthesis, or flags. */
  #group(sequence: Expression[]): void {
    const at = this.#at - 1;
    const flags = this.#flags;
    const [name, named] = this.#match(/\?P?<([^>]*)>/y) ?? [];
    if (named !== undefined && !/^\w+$/.test(named)) throw syntaxFault("invalid named capture", `(${name}`);
    if (name === undefined && this.#source[this.#at] === "?") {
      if (this.#match(/\?P?<[^]/y)) throw syntaxFault("invalid named capture", this.#source.slice(at));
      const [head, on, off = "", end] = this.#match(/\?([imsU]*)(?:-([imsU]+))?([:)])/y) ?? [];
      if (head === undefined) {
        this.#match(/\?[imsU]*(?:-[imsU]*)?[^]?/yu);
        throw this.#fault("invalid or unsupported Perl syntax", at);
      }
      this.#flags = new Set([...flags, ...on].filter((flag) => !off.includes(flag)));
      if (end === ")") return; // these hold until the group around ends
    }
    sequence.push(this.#alternatives());
    this.#flags = flags;
    if (!this.#skip(")")) throw syntaxFault("missing closing )", this.#source);
  }

  /** Reads `[…]`. Returns a class of JavaScript. */
  #brackets(): string {
    const begin = this.#at++;
    let characters = this.#skip("^") ? "^" : "";
    for (let isFirst = true; isFirst || this.#source[this.#at] !== "]"; isFirst = false) {
      const at = this.#at;
      if (at === this.#source.length) throw this.#fault("missing closing ]", begin);
      const known = this.#name() ?? this.#class();
      if (known !== undefined) characters += known;
      else {
        const from = this.#character();
        const to = this.#match(/-(?=[^\]])/y) === undefined ? from : this.#character();
        if (from > to) throw this.#fault("invalid character class range", at);
        characters += `${escapeOf(from)}-${escapeOf(to)}`;
      }
    }
    this.#at++;
    return `[${characters}]`;
  }

  /** Reads `[:alpha:]` between brackets. */
  #name(): string | undefined {
    const [text, not, name] = this.#at < this.#lastName ? this.#match(/\[:(\^?)([^]*?):\]/y) ?? [] : [];
    if (text === undefined) return undefined;
    if (!CLASSES.has(name)) throw syntaxFault("invalid character class range", text);
    return `[${not}${CLASSES.get(name)}]`;
  }

  /** Reads `\d`, `\pL` and others. Returns a class of JavaScript; `undefined` if something else is next. */
  #class(): string | undefined {
    const [, letter] = this.#match(/\\([dswDSW])/y) ?? [];
    if (letter !== undefined) return `[${letter in LETTERS ? "" : "^"}${LETTERS[letter.toLowerCase()]}]`;
    const [text, sign, braced, short] = this.#match(/\\([pP])(?:\{([^}]*)\}|\{[^]*|([^]?))/yu) ?? [];
    if (text === undefined) return undefined;
    const name = braced ?? short ?? "";
    const property = propertyOf(name.replace(/^\^/, ""));
    if (property === undefined) throw syntaxFault("invalid character class range", text);
    return `\\${(sign === "p") === name.startsWith("^") ? "P" : "p"}{${property}}`;
  }

  /** Reads one character, which may be escaped. */
  #character(): number {
    const [code, octal, hex] = this.#match(/\\(?:(0[0-7]{0,2}|[1-7][0-7]{1,2})|x([\da-fA-F]{2}|\{[\da-fA-F]+\}))/y) ??
      [];
    const character = octal === undefined ? parseInt(`${hex?.replace("{", "")}`, 16) : parseInt(octal, 8);
    if (character > 0x10ffff) throw syntaxFault("invalid escape sequence", code!.slice(0, -1));
    if (code !== undefined) return character;
    const [text, escaped] = this.#match(/\\(x\{[\da-fA-F]*[^]?|x[^]?[^]?|[^]?)/uy) ?? [];
    if (text === undefined) return this.#match(/[^]/uy)![0].codePointAt(0)!;
    if (escaped === "") throw syntaxFault("trailing backslash at end of expression", "");
    const control = CONTROLS[escaped];
    if (control === undefined && /[^\W_]|\P{ASCII}/u.test(escaped)) throw syntaxFault("invalid escape sequence", text);
    return control ?? escaped.charCodeAt(0);
  }

  #set(characters: string): Expression {
    return { set: new RegExp(characters, this.#flags.has("i") ? "iv" : "v") };
  }

  #skip(text: string): boolean {
    const isNext = this.#source.startsWith(text, this.#at);
    if (isNext) this.#at += text.length;
    return isNext;
  }

  /** Reads what a sticky expression matches here. */
  #match(expression: RegExp): RegExpExecArray | undefined {
    expression.lastIndex = this.#at;
    const match = expression.exec(this.#source) ?? undefined;
    this.#at += match?.[0].length ?? 0;
    return match;
  }

  /** Returns an error with what has been read since a place. */
  #fault(what: string, at: number): SyntaxError {
    return syntaxFault(what, this.#source.slice(at, this.#at));
  }
}

/** Returns JavaScript's property for a name of Go, of a category or a script. */
function propertyOf(name: string): string | undefined {
  const forms = [`gc=${name}`, ...(SHORT_SCRIPT.test(name) ? [] : [`sc=${name}`])];
  return (/^(?:Any|ASCII|Assigned)$/.test(name) ? [name] : forms).find((form) => {
    try {
      return /^\w+$/.test(name) && new RegExp(`\\p{${form}}`, "v");
    } catch {
      return false;
    }
  });
}

function escapeOf(character: number): string {
  return `\\u{${character.toString(16)}}`;
}

/** The product of nested counts. */
function copies(expression: Expression): number {
  if ("repeat" in expression) {
    const { from, to, repeat } = expression;
    return to === 0 ? 1 : Math.max(1, to === Infinity ? from : to) * copies(repeat);
  }
  return ("any" in expression ? expression.any.flat() : []).reduce((most, part) => Math.max(most, copies(part)), 1);
}
