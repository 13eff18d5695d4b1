/**
 * Integers beyond ±(2^53 − 1) in JSON: JavaScript rounds them, so their literals are kept next to the values.
 *
 * {@linkcode keepLiterals} marks what was parsed, {@linkcode exactJson} writes it again with its literals, and
 * {@linkcode refuseRounded} refuses to send it without them. `structuredClone` drops the marks. Fractions are not kept.
 *
 * @module
 */
import { ArgumentError } from "../errors/checks.ts";
import { quoted } from "../errors/errors.ts";
import { formatFieldPath, isPlain } from "./selector.ts";

/**
 * Marks an object or array in which a text has such integers, at any depth. The value has the literals of its own
 * members, by name and by rounded value. A spread copy keeps the mark.
 */
const literals: unique symbol = /* @__PURE__ */ Symbol.for("@kube/informer/literals");

type Holder = Record<string, unknown> & { [literals]?: Map<string | number, string> };

/** An object or array, and those around it. */
interface Container {
  readonly holder: Holder;
  readonly around: Container | undefined;
  /** Its name in `around`. */
  readonly name?: string;
  /** The value at the same path of another object. */
  readonly beside?: unknown;
}

const QUOTE = 34;
const BACKSLASH = 92;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;
/** The bit in which a brace differs from the bracket of the same side. */
const BRACE_BIT = 32;
/** A path costs as much as its value is deep. */
const MAX_REPORTS = 10;
/** The digits of 2^53. */
const DIGITS = 16;
const TOKEN = /["{}[\],]|-?\d[\d.eE+-]*/g;

/** Returns true if a JSON text has so many digits in a row that they may be an integer which is rounded. */
export function mayRound(text: string): boolean {
  for (let at = DIGITS - 1; at < text.length; at += DIGITS) {
    if (!isDigit(text.charCodeAt(at))) continue;
    let [start, end] = [at, at + 1];
    while (isDigit(text.charCodeAt(start - 1))) start--;
    while (isDigit(text.charCodeAt(end))) end++;
    if (end - start >= DIGITS) return true;
  }
  return false;
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/** Returns true if objects and arrays of a JSON text are nested more than `most` deep. */
export function isNestedDeeper(text: string, most: number): boolean {
  if (text.length <= 2 * most) return false; // its brackets would not close
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = behindString(text, at) - 1;
    else if ((code | BRACE_BIT) === OPEN_BRACE) { if (++depth > most) return true; }
    else if ((code | BRACE_BIT) === CLOSE_BRACE) depth--;
  }
  return false;
}

/** Returns the position after the string that begins at `start`. */
function behindString(text: string, start: number): number {
  for (let end = start + 1; (end = text.indexOf('"', end)) !== -1; end++) {
    let before = end;
    while (text.charCodeAt(before - 1) === BACKSLASH) before--;
    if ((end - before) % 2 === 0) return end + 1;
  }
  return text.length;
}

/** Marks a value that was parsed from the beginning of `text`, if integers in it were rounded. */
export function keepLiterals(value: unknown, text: string): void {
  if (!mayRound(text)) return;
  /** What is open, with the name of the current member. */
  const open: (Container & { member: string; index: number; wantsName: boolean })[] = [];
  TOKEN.lastIndex = 0;
  for (let token; (token = TOKEN.exec(text)) !== null;) {
    const inner = open.at(-1);
    const [word] = token;
    if (word === "{" || word === "[") {
      const found = inner === undefined ? value : inner.holder[inner.member];
      const holder = (isPlain(found) ? found : {}) as Holder; // of members with one name, the last one counts
      open.push({ holder, around: inner, member: "0", index: 0, wantsName: word === "{" });
    } else if (inner === undefined) return;
    else if (word === "}" || word === "]") {
      open.pop();
      if (open.length === 0) return;
    } else if (word === '"') {
      TOKEN.lastIndex = behindString(text, token.index);
      if (inner.wantsName) inner.member = JSON.parse(text.slice(token.index, TOKEN.lastIndex));
      inner.wantsName = false;
    } else if (word === ",") {
      if (Array.isArray(inner.holder)) inner.member = `${++inner.index}`;
      else inner.wantsName = true;
    } else if (word.length >= DIGITS && /^-?\d+$/.test(word) && `${Number(word)}` !== word) {
      keep(inner, inner.member, word);
    }
  }
}

/** Keeps the literal of a member. */
function keep(within: Container, name: string, literal: string): void {
  for (let at: Container | undefined = within; at !== undefined && !(literals in at.holder); at = at.around) {
    at.holder[literals] = new Map();
  }
  within.holder[literals]!.set(name, literal).set(Number(literal), literal);
}

/** Returns true if an object or array has integers that were rounded, at any depth. */
export function holdsLiterals(value: unknown): value is Holder {
  return typeof value === "object" && value !== null && (value as Holder)[literals] !== undefined;
}

/** Returns the literal of a member of `holder`, unless it was changed. */
export function literalOf(holder: unknown, name: string, value: unknown): string | undefined {
  const literal = typeof value === "number" && holdsLiterals(holder) ? holder[literals]!.get(name) : undefined;
  return literal !== undefined && Number(literal) === value ? literal : undefined;
}

/** Returns a replacer for `JSON.stringify`: what `write` returns is written instead of an integer that was rounded. */
export function literalReplacer(
  write: (literal: string) => unknown,
): (this: unknown, name: string, value: unknown) => unknown {
  return function (this: unknown, name: string, value: unknown): unknown {
    const literal = literalOf(this, name, value);
    return literal === undefined ? value : write(literal);
  };
}

/** Marks a copy, or a selection of fields, like the original. Returns it. */
export function markAs<T>(original: unknown, copy: T): T {
  const left: [unknown, unknown][] = holdsLiterals(original) ? [[original, copy]] : [];
  for (let next; (next = left.pop()) !== undefined;) {
    const [from, to] = next;
    if (!holdsLiterals(from) || !isPlain(to) || from === to) continue;
    (to as Holder)[literals] = from[literals];
    for (const name in from) left.push([from[name], (to as Holder)[name]]);
  }
  return copy;
}

/** Marks an object around parts that may be marked. Returns it. */
export function markAround<T extends object>(holder: T, ...parts: readonly unknown[]): T {
  return parts.some(holdsLiterals) ? { ...holder, [literals]: new Map() } : holder;
}

/** Returns what `JSON.stringify` returns, with the literals of a marked value. */
export function exactJson(value: unknown): string {
  return holdsLiterals(value) ? deepJson(value) : JSON.stringify(value);
}

/** A text that stands between values; at the end of a value, that is `closed`. */
class Between {
  readonly text: string;
  readonly closed: object | undefined;

  constructor(text: string, closed?: object) {
    this.text = text;
    this.closed = closed;
  }
}

/** Does what `JSON.stringify` does, with the literals of marked values, and without recursion. */
export function deepJson(value: unknown): string {
  const parts: string[] = [];
  const open = new Set<object>();
  const left: unknown[] = [value];
  while (left.length > 0) {
    const next = left.pop();
    if (next instanceof Between) {
      parts.push(next.text);
      if (next.closed !== undefined) open.delete(next.closed);
    } else if (!isPlain(next)) parts.push(JSON.stringify(next) ?? "null");
    else {
      if (open.has(next)) throw new TypeError("it has a cycle");
      open.add(next);
      const isList = Array.isArray(next);
      const members = Object.entries(next).filter(([, member]) => isList || JSON_TYPES.has(typeof member));
      parts.push(isList ? "[" : "{");
      left.push(new Between(isList ? "]" : "}", next));
      for (let i = members.length - 1; i >= 0; i--) {
        const [name, member] = members[i];
        const literal = literalOf(next, name, member);
        left.push(literal === undefined ? member : new Between(literal));
        left.push(new Between(`${i === 0 ? "" : ","}${isList ? "" : `${JSON.stringify(name)}:`}`));
      }
    }
  }
  return parts.join("");
}

/** The types of members that JSON has; a bigint is refused. */
const JSON_TYPES: ReadonlySet<string> = new Set(["object", "string", "number", "boolean", "bigint"]);
/** Yields the numbers that may be rounded integers: their names, values, and places. Has no recursion. */
function* largeIntegers(root: unknown, beside?: unknown): Generator<[name: string, value: number, within: Container]> {
  const left: Container[] = isPlain(root) ? [{ holder: root as Holder, around: undefined, beside }] : [];
  for (const within of left) { // which grows
    for (const name in within.holder) {
      const value = within.holder[name];
      if (typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER) yield [name, value, within];
      if (!isPlain(value)) continue;
      left.push({
        holder: value as Holder,
        around: within,
        name,
        beside: (within.beside as Holder | undefined)?.[name],
      });
    }
  }
}

/** Returns true if two equal values have the same integers before they were rounded. */
export function sameLiterals(a: unknown, b: unknown): boolean {
  if (!holdsLiterals(a) && !holdsLiterals(b)) return true;
  return [...largeIntegers(a, b)].every(([name, value, { holder, beside }]) =>
    literalOf(holder, name, value) === literalOf(beside, name, value)
  );
}

/** Returns the path of a member: `"spec.list[0].id"`. */
function pathOf(member: string, within: Container): string {
  let path = "";
  let name: string | undefined = member;
  for (let at: Container | undefined = within; at !== undefined && name !== undefined; { name, around: at } = at) {
    const step = Array.isArray(at.holder) ? `[${name}]` : formatFieldPath([name]);
    path = path === "" || path.startsWith("[") ? step + path : `${step}.${path}`;
  }
  return path;
}

/**
 * Refuses to send a body with integers that were rounded when they were read; `text` is its JSON.
 *
 * @throws {TypeError} The message begins with `Cannot` and the action, and names the path and the remedy.
 */
export function refuseRounded(action: string, body: unknown, text: string): void {
  if (!mayRound(text)) return;
  for (const [name, value, within] of largeIntegers(body)) {
    const literal = within.holder[literals]?.get(value);
    if (literal === undefined) continue;
    const path = quoted(pathOf(name, within));
    throw new ArgumentError(
      `Cannot ${action}: ${path} would become ${value}, as JavaScript rounds ${literal}. Send a merge patch or an apply ` +
        `without this field, or set it to JSON.rawJSON("${literal}")`,
    );
  }
}

/**
 * Returns a copy of what was made of `source`, marked with the literals of `source`: a number that equals a rounded
 * integer gets the literal at its own path, or else the only literal with this value. `lost` gets the paths of other
 * ones, at most 10. Without integers that were rounded, it returns `made`.
 */
export function withLiterals<T>(source: unknown, made: T, lost?: (path: string) => void): T {
  let reports = MAX_REPORTS;
  if (!holdsLiterals(source)) return made;
  /** By value; `undefined` if several literals have it. */
  const known = new Map<number, string | undefined>();
  for (const [name, value, { holder }] of largeIntegers(source)) {
    const literal = literalOf(holder, name, value) ?? `${value}`;
    known.set(value, known.has(value) && known.get(value) !== literal ? undefined : literal);
  }
  const text = deepJson(made);
  const copy = JSON.parse(text);
  keepLiterals(copy, text);
  for (const [name, value, within] of largeIntegers(copy, source)) {
    const { holder, beside } = within;
    const same = (beside as Holder | undefined)?.[name] === value
      ? literalOf(beside, name, value) ?? `${value}`
      : undefined;
    const found = literalOf(holder, name, value) ?? same ?? known.get(value);
    if (found === undefined && reports-- > 0) lost?.(pathOf(name, within));
    else if (found !== undefined && found !== `${value}`) keep(within, name, found);
  }
  return copy;
}
