/**
 * Runs regular expressions in time that is linear in the text, whatever the expression.
 *
 * {@linkcode Pattern} is the entry point: it follows all ways through an expression at the same time, and remembers
 * which ways follow which at a character. It reads no syntax: `re2.ts` does.
 *
 * @module
 */

/** An expression as it is read. */
export type Expression =
  | { readonly set: RegExp }
  | { readonly assert: string }
  | { readonly any: readonly (readonly Expression[])[] }
  | { readonly repeat: Expression; readonly from: number; readonly to: number; readonly isLazy: boolean };

/** One instruction: it reads a character, checks a place, goes on at two others, or ends (without any of these). */
interface Instruction {
  readonly set?: RegExp;
  readonly assert?: string;
  /** The next instruction, and another that is tried after it. */
  readonly next: number;
  readonly other?: number;
}

/** The instruction at which a pattern has matched. */
const END = 0;

/** No character: the text begins or ends. */
const NONE = -1;
const NEWLINE = 10;

/** Instructions of one pattern; more are refused. */
const MOST_INSTRUCTIONS = 100_000;
/** Numbers that the states of one pattern hold; then they are forgotten. */
const MOST_REMEMBERED = 300_000;

/** The state of a run between two characters. */
interface State {
  /** The instructions that are next, in the order in which Perl tries them. */
  readonly ways: readonly number[];
  /** The character before, or another character that assertions do not tell apart from it. */
  readonly before: number;
  /** The states after the characters, by the character plus one; `true` if the pattern matches. */
  readonly after: (State | true | undefined)[];
}

/** A match in a text, and where the search ended: at the end of the match or after it. */
export type PatternMatch = readonly [from: number, to: number, read: number];

/** An expression that runs. */
export class Pattern {
  /** Numbers that all patterns hold. */
  static held = 0;
  readonly #source: string;
  readonly #program: Instruction[] = [{ next: END }];
  readonly #begin: number;
  /** The step in which an instruction was reached last, and where that way began. */
  readonly #reached: Float64Array;
  readonly #begins: Float64Array;
  readonly #states = new Map<string, State>();
  #first: State;
  #step = 0;
  #remembered = 0;

  /** @throws {SyntaxError} when the expression has too many instructions. */
  constructor(expression: Expression, source: string) {
    this.#source = source;
    this.#begin = this.#compile(expression, END);
    this.#reached = new Float64Array(this.#program.length);
    this.#begins = new Float64Array(this.#program.length);
    Pattern.held += 8 * this.#program.length;
    this.#first = this.#state([this.#begin], NONE);
  }

  /** Returns true if a part of the text matches. */
  test(text: string): boolean {
    let state = this.#first;
    for (let at = 0; at < text.length; at++) {
      const character = text.codePointAt(at)!;
      if (character > 0xffff) at++;
      const next = state.after[character + 1] ?? this.#after(state, character);
      if (next === true) return true;
      state = next;
    }
    return (state.after[NONE + 1] ?? this.#after(state, NONE)) === true;
  }

  /**
   * Returns the first match that begins at a place or after it: of several matches there, what Perl prefers. The time
   * of one call is linear in the text.
   */
  find(text: string, from = 0): PatternMatch | undefined {
    let before = from === 0 ? NONE : text.codePointAt(from - 1)!;
    let found: PatternMatch | undefined;
    for (let at = from, ways: number[] = [], begins: number[] = [];; at++) {
      const character = text.codePointAt(at) ?? NONE;
      if (found === undefined) {
        ways.push(this.#begin);
        begins.push(at);
      }
      const reached = this.#reach(ways, before, character, begins);
      if (reached.at(-1) === END) found = [this.#begins[END], at, at];
      const read = this.#readers(reached, character);
      if (character === NONE || (found !== undefined && read.length === 0)) return found && [found[0], found[1], at];
      begins = read.map((way) => this.#begins[way]);
      ways = read.map((way) => this.#program[way].next);
      if (character > 0xffff) at++;
      before = character;
    }
  }

  /** Writes the instructions of an expression that goes on at `next`. Returns its first one. */
  #compile(expression: Expression, next: number): number {
    if ("set" in expression || "assert" in expression) return this.#write({ ...expression, next });
    if ("any" in expression) {
      const ways = expression.any.map((all) => all.reduceRight((next, part) => this.#compile(part, next), next));
      return ways.reduceRight((other, next) => this.#write({ next, other }));
    }
    const { repeat, from, to, isLazy } = expression;
    const choice = (again: number): Instruction => isLazy ? { next, other: again } : { next: again, other: next };
    let first = next;
    if (to === Infinity) {
      // As in Go, x* is (x+)?: a part that matches nothing ends its repetition.
      const end = this.#write({ next });
      const begin = this.#compile(repeat, end);
      this.#program[end] = choice(begin);
      first = from === 0 ? this.#write(choice(begin)) : begin;
    } else {
      for (let count = from; count < to; count++) first = this.#write(choice(this.#compile(repeat, first)));
    }
    for (let count = to === Infinity ? 1 : 0; count < from; count++) first = this.#compile(repeat, first);
    return first;
  }

  #write(instruction: Instruction): number {
    if (this.#program.length === MOST_INSTRUCTIONS) throw syntaxFault("expression too large", this.#source);
    return this.#program.push(instruction) - 1;
  }

  /** Returns the state after a character, and remembers it; `true` if the pattern matches before it. */
  #after(state: State, character: number): State | true {
    const reached = this.#reach(state.ways, state.before, character);
    const ways = new Set(this.#readers(reached, character).map((way) => this.#program[way].next));
    const next = reached.at(-1) === END || this.#state([...ways.add(this.#begin)], character);
    this.#hold(1);
    state.after[character + 1] = next;
    return next;
  }

  #state(ways: readonly number[], character: number): State {
    const before = isWord(character) ? 97 : Math.min(character, NEWLINE + 1);
    const key = `${before} ${ways.join()}`;
    const known = this.#states.get(key);
    if (known !== undefined) return known;
    this.#hold(2 * ways.length + 32);
    const state: State = { ways, before, after: [] };
    this.#states.set(key, state);
    return state;
  }

  /** Counts what is remembered, and forgets all of it when that is too much. */
  #hold(numbers: number): void {
    this.#remembered += numbers;
    Pattern.held += numbers;
    if (this.#remembered <= MOST_REMEMBERED) return;
    this.#first = { ...this.#first, after: [] };
    this.#states.clear();
    Pattern.held -= this.#remembered;
    this.#remembered = 0;
  }

  /** The ways that read a character. */
  #readers(ways: readonly number[], character: number): number[] {
    const text = character === NONE ? "" : String.fromCodePoint(character);
    return ways.filter((way) => this.#program[way].set?.test(text));
  }

  /**
   * Follows ways to the instructions that read a character, in the order in which Perl tries them, and notes where each
   * of them began. If the expression ends there, its end is the last one: what would be tried afterwards is left out.
   */
  #reach(ways: readonly number[], before: number, after: number, begins?: readonly number[]): number[] {
    const step = ++this.#step;
    const reached: number[] = [];
    const open: number[] = [];
    for (let index = 0; index < ways.length; index++) {
      open.push(ways[index]);
      for (let way = open.pop(); way !== undefined; way = open.pop()) {
        if (this.#reached[way] === step) continue;
        this.#reached[way] = step;
        if (begins !== undefined) this.#begins[way] = begins[index];
        const { set, assert, next, other } = this.#program[way];
        if (set !== undefined || way === END) reached.push(way);
        if (way === END) return reached;
        if (set !== undefined || (assert !== undefined && !HOLDS[assert](before, after))) continue;
        if (other !== undefined) open.push(other);
        open.push(next);
      }
    }
    return reached;
  }
}

function isWord(character: number): boolean {
  return character >= 0 && /\w/.test(String.fromCodePoint(character));
}

/** Conditions on the place between two characters, by the sign that has each with the flag `m`. */
const HOLDS: Readonly<Record<string, (before: number, after: number) => boolean>> = {
  "\\A": (before) => before === NONE,
  "\\z": (_, after) => after === NONE,
  "\\b": (before, after) => isWord(before) !== isWord(after),
  "\\B": (before, after) => isWord(before) === isWord(after),
  "^": (before) => before === NONE || before === NEWLINE,
  "$": (_, after) => after === NONE || after === NEWLINE,
};

/** Returns an error with the text that Go has. */
export function syntaxFault(what: string, part: string): SyntaxError {
  return new SyntaxError(`error parsing regexp: ${what}: \`${part}\``);
}
