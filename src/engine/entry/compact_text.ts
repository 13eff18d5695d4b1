/**
 * Texts of objects that are held as what they share with others, and the values that differ.
 *
 * {@linkcode TextTemplate} is the entry point: a JSON text with holes in place of some values. A
 * {@linkcode CompactText} holds the values. It writes out, byte for byte, the text that it was made of. Which objects
 * share a template is decided by `text_templates.ts`.
 *
 * Texts are strings of bytes here: each character is one byte of UTF-8.
 *
 * @module
 */
import { decoder } from "../api/object.ts";
import { type FieldValue, fieldValues } from "../api/selector.ts";

const SPACE = 32;
const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const OPEN_BRACKET = 91;
const BACKSLASH = 92;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

/** Is before each value of an ASCII text. Such a byte is in no JSON. */
const ASCII = "\x00";
/** Is before each value of a text with other characters. */
const UTF8 = "\x01";
/** Stands for the value of the hole's twin. */
const TWIN = "\x02";

/** Stands for the value of a hole while a field path is looked up. No template with this text is asked for fields. */
const MARK = "\\u0001";

/** So many paths are looked up once for each template. */
const MOST_PATHS = 64;

/** Shorter values are not looked for in other holes. */
const SHORTEST_TWIN = 4;

/** About the bytes of a compact text in addition to its values. */
const COMPACT_BYTES = 48;
/** About the bytes of a template and of one of its parts, in addition to its text. */
const [TEMPLATE_BYTES, PART_BYTES] = [300, 60];

/** The text of an object, as it is held in memory. */
export type HeldText = string | Uint8Array | CompactText;

/** Returns the whole text: a string if all of it is ASCII. */
export function written(text: HeldText): string | Uint8Array {
  return text instanceof CompactText ? text.write() : text;
}

/** Returns the whole text as a string. */
export function decoded(text: HeldText): string {
  const whole = written(text);
  return typeof whole === "string" ? whole : decoder.decode(whole);
}

/** Returns UTF-8 bytes as a string, with a character for each. */
export function binaryText(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 4_096) text += String.fromCharCode(...bytes.subarray(at, at + 4_096));
  return text;
}

function bytesOf(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/** The text of an object, without what its template has. */
export class CompactText {
  readonly template: TextTemplate;
  /** The values of the holes, each behind a separator. */
  readonly values: string;
  /** The bytes of the whole text. */
  readonly length: number;
  /** `true` if and only if the template counts this text among its users. */
  #isUser = false;

  /** `values` are what the template has returned for a text of this length. */
  constructor(template: TextTemplate, values: string, length: number) {
    this.template = template;
    this.values = values;
    this.length = length;
  }

  /** The bytes by which it takes less than the text. */
  get savedBytes(): number {
    return this.length - this.values.length - COMPACT_BYTES;
  }

  /** The whole text as it was: a string if all of it is ASCII. */
  write(): string | Uint8Array {
    const text = this.#range(0, this.length);
    return this.#isAscii ? text : bytesOf(text);
  }

  /** A range of the text, decoded. */
  slice(start: number, end: number): string {
    const text = this.#range(start, end);
    return this.#isAscii ? text : decoder.decode(bytesOf(text));
  }

  /** As `readValues()` of the whole text, which is not written out. */
  valuesAt(keys: readonly string[]): readonly FieldValue[] | undefined {
    const found = this.template.valuesAt(keys);
    if (found === undefined || found.every((value) => typeof value !== "number")) {
      return found as readonly FieldValue[] | undefined;
    }
    const values = this.values.split(this.values[0]);
    const read: FieldValue[] = [];
    try {
      for (const value of found) {
        const own = typeof value === "number" ? this.#parsed(value, values) : value;
        if (own !== null) read.push(own);
      }
    } catch {
      return undefined; // it is not JSON: the caller reads all of the text, and reports what is wrong with it
    }
    return read;
  }

  /** Counts as a user of the template until {@linkcode release}, since it is in a cache. */
  use(): void {
    if (!this.#isUser) this.template.users++;
    this.#isUser = true;
  }

  /** Ends its use of the template, once the cache does not hold it any more. It can still be read. */
  release(): void {
    if (!this.#isUser) return;
    this.#isUser = false;
    if (--this.template.users === 0) this.template.onUnused();
  }

  get #isAscii(): boolean {
    return this.values.charCodeAt(0) !== 1;
  }

  /** One of the values of the holes, as text. @throws {SyntaxError} when it is no JSON. */
  #parsed(hole: number, values: readonly string[]): string | null {
    const value = values[hole] === TWIN ? values[this.template.twins[hole]] : values[hole];
    const json = this.template.isString(hole) ? `"${value}"` : value;
    const parsed: unknown = JSON.parse(this.#isAscii ? json : decoder.decode(bytesOf(json)));
    return parsed === null ? null : String(parsed);
  }

  /** A range of the text, as bytes. */
  #range(start: number, end: number): string {
    const { values, template: { parts, twins } } = this;
    const separator = values[0];
    const own: string[] = [""];
    let written = "";
    let place = 0; // of the next part or value in the text
    for (let i = 0, at = 0; place < end; i++) {
      if (i > 0) {
        const next = values.indexOf(separator, at + 1);
        const to = next === -1 ? values.length : next;
        const given = values.slice(at + 1, to);
        const value = own[i] = given === TWIN ? own[twins[i]] : given;
        // A range begins and ends at values of JSON, so a hole is in it or is not.
        if (place >= start && place + value.length <= end) written += value;
        place += value.length;
        at = to;
      }
      const part = parts[i];
      if (place + part.length > start) {
        written += place >= start && place + part.length <= end
          ? part
          : part.slice(Math.max(0, start - place), end - place);
      }
      place += part.length;
    }
    return written;
  }
}

/** A JSON text with holes in place of some of its strings, numbers and words. */
export class TextTemplate {
  /** The texts around the holes. A hole is between the quotes of a string, or it is a number or word. */
  readonly parts: readonly string[];
  /**
   * For each hole, the number of an earlier one with the same value in the text that this template was made of; 0 if
   * there is none. Values of other texts are held once, too, where they are the same.
   */
  readonly twins: readonly number[];
  /** The number of texts that need this template. */
  users = 0;
  /** Called when there is none any more. */
  onUnused: () => void = () => {};
  /** Called when a cached object has been parsed that was held compactly, in a cache whose bytes are counted. */
  onRead: ((key: string) => void) | undefined;
  readonly #fields = new Map<string, readonly (FieldValue | number)[] | undefined>();

  /** Use {@linkcode ofText} or {@linkcode extended}. `parts` are slices of one text, which has no values of holes. */
  constructor(parts: readonly string[], twins: readonly number[] = []) {
    this.parts = parts;
    this.twins = twins;
  }

  /** Returns a template without holes. */
  static ofText(text: string): TextTemplate {
    return new TextTemplate([text]);
  }

  /** About the bytes that it takes. */
  get bytes(): number {
    return this.parts.reduce((sum, part) => sum + part.length + PART_BYTES, TEMPLATE_BYTES);
  }

  /** `true` for a hole between quotes. */
  isString(hole: number): boolean {
    return this.parts[hole].charCodeAt(0) === QUOTE;
  }

  /**
   * Returns the values that a text has in the holes, for a {@linkcode CompactText}; `undefined` if it has other parts.
   */
  match(text: string, isAscii: boolean): string | undefined {
    const { parts, twins } = this;
    const values = [""];
    const found = [""];
    let at = parts[0].length;
    if (text.slice(0, at) !== parts[0]) return undefined;
    for (let hole = 1; hole < parts.length; hole++) {
      const part = parts[hole];
      const end = part.charCodeAt(0) === QUOTE ? endOfString(text, at) : endOfWord(text, at);
      const next = end + part.length;
      if (text.slice(end, next) !== part) return undefined;
      const value = text.slice(at, end);
      values.push(value);
      found.push(twins[hole] > 0 && value === values[twins[hole]] ? TWIN : value);
      at = next;
    }
    if (at !== text.length || parts.length === 1 || hasSeparator(text)) return undefined;
    return found.join(isAscii ? ASCII : UTF8);
  }

  /**
   * Returns a template with more holes, which fits `text` too; `undefined` if that has other members or elements.
   * `theirs` are the places of its values.
   */
  extended(text: string, { places: theirs }: Outline = outlineOf(text)): TextTemplate | undefined {
    const own = this.#filled((hole) => this.isString(hole) ? "" : "0");
    const { places: ours } = outlineOf(own);
    if (ours.length !== theirs.length || ours.length === 0 || hasSeparator(own) || hasSeparator(text)) return undefined;
    const parts: string[] = [];
    const twins = [0];
    const known = new Map<string, number>();
    let [hole, place] = [0, this.parts[0].length];
    let [from, before, theirBefore] = [0, 0, 0];
    for (let i = 0; i < ours.length; i += 2) {
      const [start, end] = [ours[i], ours[i + 1]];
      if (own.slice(before, start) !== text.slice(theirBefore, theirs[i])) return undefined;
      const isHole = start === place && hole < this.parts.length - 1;
      if (isHole) place = end + this.parts[++hole].length;
      if (isHole || own.slice(start, end) !== text.slice(theirs[i], theirs[i + 1])) {
        parts.push(own.slice(from, start));
        from = end;
        const value = text.slice(theirs[i], theirs[i + 1]);
        const twin = known.get(value) ?? 0;
        if (twin === 0) known.set(value, parts.length);
        twins.push(value.length >= SHORTEST_TWIN ? twin : 0);
      }
      [before, theirBefore] = [end, theirs[i + 1]];
    }
    if (own.slice(before) !== text.slice(theirBefore)) return undefined;
    parts.push(own.slice(from));
    // A slice keeps the text in memory that it is of: here the template's own, without the values of holes.
    return new TextTemplate(parts.join(ASCII).split(ASCII), twins);
  }

  /**
   * Returns what `fieldValues()` returns for objects with this template, with a number for the value of a hole;
   * `undefined` if that is not known.
   */
  valuesAt(keys: readonly string[]): readonly (FieldValue | number)[] | undefined {
    const path = JSON.stringify(keys);
    if (!this.#fields.has(path)) {
      if (this.#fields.size >= MOST_PATHS) this.#fields.clear();
      this.#fields.set(path, this.#lookUp(keys));
    }
    return this.#fields.get(path);
  }

  /** The text with these values in the holes. */
  #filled(valueOf: (hole: number) => string): string {
    return this.parts.reduce((text, part, hole) => text + (hole === 0 ? "" : valueOf(hole)) + part, "");
  }

  #lookUp(keys: readonly string[]): readonly (FieldValue | number)[] | undefined {
    const text = this.#filled((hole) => this.isString(hole) ? `${MARK}${hole}` : `"${MARK}${hole}"`);
    if (this.parts.some((part) => part.includes(MARK))) return undefined;
    try {
      return fieldValues(JSON.parse(decoder.decode(bytesOf(text))), keys)
        .map((value) => value?.startsWith("\x01") ? Number(value.slice(1)) : value);
    } catch {
      return undefined; // it is not JSON: the caller reads all of the text, and reports what is wrong with it
    }
  }
}

/** Returns the position of the quote that ends a string, from a position in it on. It may be the length of the text. */
function endOfString(text: string, at: number): number {
  for (let end = at;; end++) {
    end = text.indexOf('"', end);
    if (end === -1) return text.length;
    let before = end;
    while (before > at && text.charCodeAt(before - 1) === BACKSLASH) before--;
    if ((end - before) % 2 === 0) return end;
  }
}

/** Returns the position after the number or word at `at`. Without one it returns `at`. */
function endOfWord(text: string, at: number): number {
  let end = at;
  while (isInWord(text.charCodeAt(end))) end++;
  return end;
}

/** Returns `true` for a character in a number or word, and `false` for `NaN`, which is read after the end of a text. */
function isInWord(code: number): boolean {
  return code > SPACE && code !== QUOTE && code !== COMMA && code !== COLON && code !== OPEN_BRACKET &&
    code !== CLOSE_BRACKET && code !== OPEN_BRACE && code !== CLOSE_BRACE;
}

function hasSeparator(text: string): boolean {
  return text.includes(ASCII) || text.includes(UTF8) || text.includes(TWIN);
}

/** Where the values of a text are. */
export interface Outline {
  /** The starts and ends of strings, without their quotes, and of numbers and words. */
  readonly places: readonly number[];
  /** Equal for texts with the same members and elements, and for few others. */
  readonly shape: number;
}

/** Finds the values of a text that are neither objects nor arrays. */
export function outlineOf(text: string): Outline {
  const places: number[] = [];
  let shape = 0;
  for (let at = 0; at < text.length;) {
    const code = text.charCodeAt(at);
    shape = Math.imul(shape, 31) + code | 0;
    if (code === QUOTE) {
      const end = endOfString(text, at + 1);
      let next = end + 1;
      while (text.charCodeAt(next) <= SPACE) next++;
      if (text.charCodeAt(next) !== COLON) places.push(at + 1, end);
      else shape = Math.imul(shape, 31) + (end - at) * text.charCodeAt(end - 1) + text.charCodeAt(at + 1) | 0;
      at = end + 1;
    } else if (isInWord(code)) {
      const end = endOfWord(text, at);
      shape -= code; // numbers and words have one shape
      // In no JSON one touches a quote. As a hole it would reach into what is next to it in another text.
      if (text.charCodeAt(at - 1) !== QUOTE && text.charCodeAt(end) !== QUOTE) places.push(at, end);
      at = end;
    } else at++;
  }
  return { places, shape };
}
