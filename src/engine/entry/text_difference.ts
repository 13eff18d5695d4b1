/**
 * Parses a text whose object is known in another version, at the cost of what differs between the two texts.
 *
 * {@linkcode parseDifference} is the entry point. Equal stretches of the texts are compared as a whole. Where they
 * differ, the text before is scanned for the value that has changed, and only the objects and arrays around it are
 * copied. All other parts are those of the object before. This file keeps nothing; `shared_parts.ts` does.
 *
 * @module
 */
import { encoder, type Reduced, reduced } from "../api/object.ts";
import { endOfKey, skipValue } from "./json_text.ts";

const SPACE = 32;
const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const OPEN_BRACKET = 91;
const BACKSLASH = 92;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

type Members = Record<string | number, unknown>;

/** The keys and indices that lead to a value. */
type Path = readonly (string | number)[];

/** The values of a text that changed before: numbers, strings, booleans and nulls. No key occurs twice in the text. */
export interface Places {
  /** The length of the text before each value, from the end of the value before on, as characters. */
  readonly gaps: string;
  readonly paths: readonly Path[];
}

/** What {@linkcode parseDifference} has made of a text. */
export interface Parsed {
  /** If only values at places have changed, it is frozen. */
  readonly object: object;
  readonly places: Places | undefined;
}

/** The places of a text of which nothing else is known. */
const NO_PLACES: Places = { gaps: "", paths: [] };
/** Of more places, only those are kept that changed last. */
const MOST_PLACES = 24;
/** Longer keys are not names of fields. */
const LONGEST_KEY = 1_024;
/** The most characters of the names of paths that are kept. */
const LONGEST_PATHS = 4_096;
/** The longest gap that is a character. */
const LONGEST_GAP = 0xffff;
/** So many lists of paths are shared by the objects that have them. */
const MOST_PATHS = 256;

// What a comparison may cost, and what its steps cost, in bytes that are scanned in the same time.
const CREDIT = 5_000;
const CREDIT_PER_BYTE = 4;
const CHANGE = 500;
const LEVEL = 50;
/** So many characters are compared one by one: stretches of text take longer to begin with. */
const NEAR = 48;
/** The rest of a longer string is searched for its end, which takes longer to begin with. */
const LONG = 128;
/** Parts with fewer bytes in objects and arrays are parsed as quickly as they are compared. */
const WORTH = 16;

/** Thrown where all of the text is to be parsed: its layout is unusual, it is not JSON, or comparing it costs more. */
const DECLINED = new Error("The text is to be parsed as a whole");

/**
 * Returns the object of a text, which equals that of `JSON.parse`. `before` is a text whose object is known, frozen, and
 * `places` are those of that text; `undefined` if nothing is known about it. Returns `undefined` if all of the text has
 * to be parsed: its layout is unusual, a key occurs twice, it is not JSON, or too much has changed.
 */
export function parseDifference(
  text: string,
  before: string,
  object: object,
  places: Places | undefined,
): Parsed | undefined {
  if (text === before) return { object, places };
  try {
    const texts = new Texts(before, text);
    const comparison = new Comparison(texts, object as Members, [0, before.length], [0, text.length]);
    return comparison.root(places);
  } catch (error) {
    if (error !== DECLINED && !(error instanceof SyntaxError || error instanceof RangeError)) throw error;
    return undefined; // the caller parses all of the text, and reports what is wrong with it
  } finally {
    oldBytes.clear();
    newBytes.clear();
  }
}

/** A text with a byte for each character, which is read in half the time of a character. */
class Bytes {
  #bytes: Uint8Array<ArrayBuffer> = new Uint8Array(16_384);
  #text = "";

  /** Returns the bytes of a text, until the next call. Characters beyond ASCII have the same byte. */
  of(text: string): Uint8Array {
    if (text === this.#text) return this.#bytes;
    const { length } = text;
    if (length >= this.#bytes.length || (this.#bytes.length > 1_048_576 && length <= 65_536)) {
      this.#bytes = new Uint8Array(Math.max(16_384, length + 1));
    }
    const { read, written } = encoder.encodeInto(text, this.#bytes);
    if (read !== length || written !== length) {
      for (let i = 0; i < length; i++) this.#bytes[i] = Math.min(text.charCodeAt(i), 128);
    }
    this.#bytes[length] = 0; // a scan that goes on reads nothing of another text
    this.#text = text;
    return this.#bytes;
  }

  /** Forgets the text. */
  clear(): void {
    this.#text = "";
  }
}

const oldBytes = new Bytes();
const newBytes = new Bytes();

/** Both texts, and what their comparison may still cost. */
class Texts {
  readonly before: string;
  readonly now: string;
  #credit: number;

  constructor(before: string, now: string) {
    this.before = before;
    this.now = now;
    this.#credit = CREDIT + CREDIT_PER_BYTE * now.length;
  }

  /** Notes a cost. @throws when it is too much. */
  pay(cost: number): void {
    this.#credit -= cost;
    if (this.#credit < 0) throw DECLINED;
  }

  /** The end of the value at a position before `end`. @throws when there is none. */
  endOf(which: "before" | "now", at: number, end: number): number {
    const behind = skipValue(which === "before" ? oldBytes.of(this.before) : newBytes.of(this.now), at, end);
    if (behind <= at) throw DECLINED;
    return behind;
  }

  /** Parses a part of the text. */
  parse(start: number, end: number): unknown {
    return JSON.parse(this.now.slice(start, end));
  }
}

/** A range of a text. */
type Range = readonly [start: number, end: number];

/** A value that was compared. */
interface Place {
  readonly path: Path;
  /** Where it is in the text before, and in the new one. */
  readonly oldStart: number;
  readonly oldEnd: number;
  readonly start: number;
  readonly end: number;
  readonly isChanged: boolean;
  /** Its new value, if it has changed. */
  readonly value: unknown;
}

/** Compares two ranges of the texts, which are objects or arrays, or the whole texts. */
class Comparison {
  readonly #texts: Texts;
  readonly #last: Members;
  readonly #old: Range;
  readonly #now: Range;
  readonly #places: Place[] = [];
  /** `true` as long as no object or array came or went, or was parsed. */
  #isOfLeaves = true;
  #scanner: Scanner | undefined;

  constructor(texts: Texts, last: Members, old: Range, now: Range) {
    this.#texts = texts;
    this.#last = last;
    this.#old = old;
    this.#now = now;
  }

  /** The value of the new range. */
  value(): unknown {
    this.#walk(NO_PLACES);
    return withChanges(this.#last, this.#places, false);
  }

  /** The object of the whole texts. */
  root(known: Places | undefined): Parsed {
    this.#walk(known ?? NO_PLACES);
    if (known === undefined && this.#membersBefore() !== countMembers(this.#last)) throw DECLINED;
    const freezes = this.#isOfLeaves && (this.#last as Reduced)[reduced] === undefined;
    const object = withChanges(this.#last, this.#places, freezes) as object;
    return { object, places: this.#isOfLeaves ? this.#nextPlaces(known) : undefined };
  }

  #walk({ gaps, paths }: Places): void {
    const { before, now: text } = this.#texts;
    let [[old], [now]] = [this.#old, this.#now];
    /** The number of the next place, and its position. */
    let next = 0;
    let at = paths.length === 0 ? this.#old[1] : old + gaps.charCodeAt(0);
    for (;;) {
      const isLast = next === paths.length;
      const end = isLast ? this.#now[1] : now + at - old;
      let place: Place;
      if (end - now === at - old && before.slice(old, at) === text.slice(now, end)) {
        if (isLast) return;
        place = isEnd(text.charCodeAt(end)) ? this.#differing(at, end) : this.#compared(paths[next], at, end);
      } else {
        const equal = equalLength(before, old, at, text, now, this.#now[1]);
        place = this.#differing(old + equal, now + equal);
      }
      this.#places.push(place);
      [old, now] = [place.oldEnd, place.end];
      while (at < old && next < paths.length) {
        at = next + 1 === paths.length ? this.#old[1] : endOfLeaf(before, at) + gaps.charCodeAt(next + 1);
        next++;
      }
    }
  }

  /** Compares the values at a path. */
  #compared(path: Path, oldStart: number, start: number): Place {
    const { before, now: text } = this.#texts;
    const isLeaf = !isOpen(before.charCodeAt(oldStart)) && !isOpen(text.charCodeAt(start));
    this.#isOfLeaves &&= isLeaf;
    const oldEnd = isLeaf ? endOfLeaf(before, oldStart) : this.#texts.endOf("before", oldStart, this.#old[1]);
    const end = isLeaf ? endOfLeaf(text, start) : this.#texts.endOf("now", start, this.#now[1]);
    const isChanged = before.slice(oldStart, oldEnd) !== text.slice(start, end);
    return {
      path,
      oldStart,
      oldEnd,
      start,
      end,
      isChanged,
      value: isChanged ? this.#texts.parse(start, end) : undefined,
    };
  }

  /** Finds and compares the value around the first characters that differ. */
  #differing(old: number, now: number): Place {
    if (old >= this.#old[1]) throw DECLINED; // the new text goes on behind its object
    const scanner = this.#scanner ??= new Scanner(oldBytes.of(this.#texts.before), this.#old);
    const isEnded = isEnd(this.#texts.now.charCodeAt(now));
    scanner.seek(old, !isEnded);
    this.#texts.pay(CHANGE + LEVEL * scanner.depth);
    const start = scanner.at;
    if (start < (this.#places.at(-1)?.oldEnd ?? 0)) throw DECLINED; // a value is followed by what follows none
    if (scanner.isAtValue && !(isEnded && start === old)) {
      return this.#compared(scanner.path(this.#texts.before, scanner.depth), start, now - old + start);
    }
    return this.#merged(scanner.path(this.#texts.before, scanner.depth - 1), scanner.open);
  }

  /** Compares the parts of an object or array, of which some came, went or moved. */
  #merged(path: Path, oldStart: number): Place {
    this.#isOfLeaves = false;
    while (this.#places.length > 0 && this.#places.at(-1)!.oldStart > oldStart) this.#places.pop();
    const last = this.#places.at(-1);
    const start = oldStart + (last === undefined ? this.#now[0] - this.#old[0] : last.end - last.oldEnd);
    const from = partsIn(oldBytes.of(this.#texts.before), oldStart, this.#old[1]);
    const to = partsIn(newBytes.of(this.#texts.now), start, this.#now[1]);
    const oldEnd = from?.end ?? this.#texts.endOf("before", oldStart, this.#old[1]);
    const end = to?.end ?? this.#texts.endOf("now", start, this.#now[1]);
    this.#texts.pay(oldEnd - oldStart + end - start);
    let around: unknown = this.#last;
    for (const key of path) around = (around as Members | undefined)?.[key];
    if (!isLike(around, this.#texts.before.charCodeAt(oldStart))) throw DECLINED; // a key occurs twice
    const value = from?.isWorth && to?.isWorth
      ? Array.isArray(around) ? mergedArray(this.#texts, around, from, to) : mergedObject(this.#texts, around, from, to)
      : undefined;
    return { path, oldStart, oldEnd, start, end, isChanged: true, value: value ?? this.#texts.parse(start, end) };
  }

  /** The number of members of all objects of the text before. */
  #membersBefore(): number {
    const scanner = this.#scanner!;
    scanner.seek(this.#old[1], false);
    return scanner.depth === 0 ? scanner.members : -1;
  }

  /** The places for the comparison with the next version. */
  #nextPlaces(known: Places | undefined): Places {
    if (known !== undefined && this.#scanner === undefined) return known;
    let places = this.#places;
    if (places.length > MOST_PLACES) places = places.filter(({ isChanged }) => isChanged);
    if (places.length > MOST_PLACES) return NO_PLACES;
    const gaps = places.map(({ start }, i) => start - (i === 0 ? 0 : places[i - 1].end));
    const paths = sharedPaths(places.map(({ path }) => path));
    if (paths === undefined || gaps.some((gap) => gap > LONGEST_GAP)) return NO_PLACES;
    return { gaps: String.fromCharCode(...gaps), paths };
  }
}

/** Lists of paths, so that objects whose values change at the same places have one list. */
const lists = new Map<string, readonly Path[]>();

function sharedPaths(paths: readonly Path[]): readonly Path[] | undefined {
  const name = paths.map((path) => path.join("\0")).join("\n");
  if (name.length > LONGEST_PATHS) return undefined;
  let found = lists.get(name);
  if (found === undefined) {
    if (lists.size === MOST_PATHS) lists.clear();
    // A key that an object has keeps no text in memory, and is found sooner.
    found = paths.map((path) => path.map((key) => typeof key === "string" ? Object.keys({ [key]: 0 })[0] : key));
    lists.set(name, found);
  }
  return found;
}

/** The place of a scan in a text that is JSON. */
class Scanner {
  readonly #bytes: Uint8Array;
  readonly #end: number;
  /** By depth: where the object or array begins; its present index, or -1 for an object; its present key. */
  readonly #opens: number[] = [];
  readonly #indices: number[] = [];
  readonly #keys: number[] = [];
  /** The position of the present word. */
  at: number;
  /** The number of objects and arrays around it. */
  depth = 0;
  /** The number of keys before it. */
  members = 0;
  /** `true` if the present word is a value, or begins one. */
  isAtValue = false;

  constructor(bytes: Uint8Array, [start, end]: Range) {
    this.#bytes = bytes;
    this.#end = end;
    this.at = start;
  }

  /** The position of the object or array around the present word. */
  get open(): number {
    return this.#opens[this.depth - 1];
  }

  /**
   * Goes on to the word with a position; behind the end if there is none. A number that ends there is it if it
   * `continues` in the other text. @throws at white space.
   */
  seek(to: number, continues: boolean): void {
    const bytes = this.#bytes;
    const end = this.#end;
    let { at, depth, members } = this;
    while (at < end) {
      const first = bytes[at];
      let behind = at + 1;
      let isKey = false;
      if (first === QUOTE) {
        behind = closingQuote(bytes, behind) + 1;
        if (bytes[behind] === COLON) {
          isKey = true;
          behind++;
        }
      } else if (first <= SPACE) throw DECLINED;
      else if (!isOpen(first) && !isEnd(first)) {
        while (behind < end && !isEnd(bytes[behind])) behind++;
        if (continues && behind === to) behind++;
      }
      if (to < behind) {
        this.isAtValue = !isKey && !isEnd(first);
        break;
      }
      switch (first) {
        case QUOTE:
          if (isKey) {
            this.#keys[depth] = at;
            members++;
          }
          break;
        case OPEN_BRACE:
        case OPEN_BRACKET:
          this.#opens[depth] = at;
          this.#indices[++depth] = first === OPEN_BRACE ? -1 : 0;
          break;
        case CLOSE_BRACE:
        case CLOSE_BRACKET:
          depth--;
          break;
        case COMMA:
          if (this.#indices[depth] !== -1) this.#indices[depth]++;
      }
      at = behind;
    }
    this.at = at;
    this.depth = depth;
    this.members = members;
    if (depth === 0 && to < end) throw DECLINED;
  }

  /** The first keys and indices that lead to the present word. @throws at a key with escapes. */
  path(text: string, depth: number): Path {
    const path: (string | number)[] = [];
    for (let i = 1; i <= depth; i++) {
      if (this.#indices[i] !== -1) path.push(this.#indices[i]);
      else {
        const key = text.slice(this.#keys[i] + 1, text.indexOf('"', this.#keys[i] + 1));
        // Assigning to __proto__ would set the prototype.
        if (key.length > LONGEST_KEY || key.includes("\\") || key === "__proto__") throw DECLINED;
        path.push(key);
      }
    }
    return path;
  }
}

/** The position of the quote that ends a string, from a position in it on. */
function closingQuote(bytes: Uint8Array, at: number): number {
  for (const long = at + LONG; at < long; at++) {
    if (bytes[at] === QUOTE) return at;
    if (bytes[at] === BACKSLASH) at++;
  }
  for (;; at++) {
    const quote = bytes.indexOf(QUOTE, at);
    let escapes = quote;
    while (escapes > at && bytes[escapes - 1] === BACKSLASH) escapes--;
    if ((quote - escapes) % 2 === 0) return quote;
    at = quote;
  }
}

/** The number of equal characters of two ranges from their beginning on. */
function equalLength(before: string, old: number, oldEnd: number, text: string, now: number, nowEnd: number): number {
  const most = Math.min(oldEnd - old, nowEnd - now);
  const near = Math.min(most, NEAR);
  let equal = 0;
  while (equal < near && before.charCodeAt(old + equal) === text.charCodeAt(now + equal)) equal++;
  if (equal < near || near === most) return equal;
  let step = 4 * NEAR;
  const isEqual = (): boolean =>
    equal + step <= most &&
    before.slice(old + equal, old + equal + step) === text.slice(now + equal, now + equal + step);
  while (isEqual()) {
    equal += step;
    step *= 2;
  }
  for (step /= 2; step > NEAR; step /= 2) if (isEqual()) equal += step;
  return equal + equalLength(before, old + equal, oldEnd, text, now + equal, nowEnd);
}

function isOpen(code: number): boolean {
  return code === OPEN_BRACE || code === OPEN_BRACKET;
}

/** Returns `true` for what follows a value. */
function isEnd(code: number): boolean {
  return code === COMMA || code === CLOSE_BRACE || code === CLOSE_BRACKET;
}

/** The end of the string, number or word at a position. */
function endOfLeaf(text: string, at: number): number {
  const { length } = text;
  if (text.charCodeAt(at) !== QUOTE) {
    while (at < length && !isEnd(text.charCodeAt(at))) at++;
    return at;
  }
  for (at++; at < length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at + 1;
    if (code === BACKSLASH) at++;
  }
  return length;
}

/** An object with other values at some places. If it is marked as reduced, what is copied of it is not. */
function withChanges(last: Members, places: readonly Place[], freezes: boolean): unknown {
  /** The copies of the objects and arrays around the present place, from the outermost on. */
  const copies: Members[] = [];
  let previous: Path = [];
  for (const { path, value, isChanged } of places) {
    if (!isChanged) continue;
    const inner = path.length - 1;
    if (inner === -1) return value;
    let depth = 0;
    if (copies.length === 0) copies.push(copyOf(last, freezes));
    else while (depth < inner && depth < copies.length - 1 && previous[depth] === path[depth]) depth++;
    while (copies.length - 1 > depth) freezeIf(freezes, copies.pop()!);
    for (; depth < inner; depth++) {
      const copy = copyOf(copies[depth][path[depth]] as Members, freezes);
      copies[depth][path[depth]] = copy;
      copies.push(copy);
    }
    copies[inner][path[inner]] = value;
    previous = path;
  }
  const [object = last] = copies;
  while (copies.length > 0) freezeIf(freezes, copies.pop()!);
  return object;
}

function freezeIf(freezes: boolean, value: object): void {
  if (freezes) Object.freeze(value);
}

function copyOf(value: Members, isUnmarked: boolean): Members {
  if (typeof value !== "object" || value === null) throw DECLINED; // a key occurs twice
  if (Array.isArray(value)) return [...value] as unknown as Members;
  if (isUnmarked || (value as Reduced)[reduced] === undefined) return { ...value };
  return Object.fromEntries(Object.entries(value)); // without the mark
}

/** The number of members of all objects in a value. */
function countMembers(value: object): number {
  let count = 0;
  if (Array.isArray(value)) {
    for (const element of value) if (typeof element === "object" && element !== null) count += countMembers(element);
    return count;
  }
  for (const key in value) {
    const member = (value as Members)[key];
    count++;
    if (typeof member === "object" && member !== null) count += countMembers(member);
  }
  return count;
}

/** The parts of an object or array in a text. */
interface Parts {
  /** By number: the position of the element, or of the member's key. */
  readonly starts: number[];
  /** The position of its value. */
  readonly values: number[];
  /** The position behind it. */
  readonly ends: number[];
  /** The position behind the object or array. */
  readonly end: number;
  /** `false` if parsing all parts costs no more than comparing them. */
  readonly isWorth: boolean;
}

/** Returns the parts of the object or array at a position; `undefined` if the layout is unusual. */
function partsIn(bytes: Uint8Array, start: number, limit: number): Parts | undefined {
  const isObject = bytes[start] === OPEN_BRACE;
  const close = bytes[start] + 2;
  const [starts, values, ends]: number[][] = [[], [], []];
  let worth = 0;
  let at = start;
  while (bytes[at] !== close || at === start) {
    if (at === start && bytes[at + 1] === close) {
      at++;
      break;
    }
    if (at >= limit || (at !== start && bytes[at] !== COMMA)) return undefined;
    const part = at + 1;
    const keyEnd = isObject ? endOfKey(bytes, part, limit) : part - 2;
    if (keyEnd === -1) return undefined;
    const value = keyEnd + 2;
    at = skipValue(bytes, value, limit);
    if (at <= value) return undefined;
    if (isOpen(bytes[value])) worth += at - value;
    starts.push(part);
    values.push(value);
    ends.push(at);
  }
  return { starts, values, ends, end: at + 1, isWorth: worth >= WORTH * starts.length };
}

/** Returns `true` for an array, if its text begins with a bracket, and else for another object. */
function isLike(value: unknown, first: number): value is Members {
  return typeof value === "object" && value !== null && Array.isArray(value) === (first === OPEN_BRACKET);
}

function mergedObject(texts: Texts, last: Members, from: Parts, to: Parts): Members | undefined {
  const keyIn = (text: string, parts: Parts, i: number): string => text.slice(parts.starts[i], parts.values[i] - 1);
  const numbers = new Map(from.starts.map((_, i) => [keyIn(texts.before, from, i), i]));
  const object: Members = {};
  for (const [i, value] of to.values.entries()) {
    const text = keyIn(texts.now, to, i);
    const key = JSON.parse(text);
    if (key === "__proto__") return undefined;
    const number = numbers.get(text) ?? -1;
    object[key] = valueOf(texts, last[key], from, number, [value, to.ends[i]]);
  }
  return Object.keys(object).length === to.values.length ? object : undefined;
}

function mergedArray(texts: Texts, last: readonly unknown[], from: Parts, to: Parts): unknown[] {
  const textIn = (text: string, parts: Parts, i: number): string => text.slice(parts.starts[i], parts.ends[i]);
  /** The first member of an element names it, mostly. */
  const headOf = (element: string): string => element.slice(0, element.indexOf(",") + 1 || undefined);
  const numbers = new Map<string, number>();
  for (let i = from.starts.length - 1; i >= 0; i--) {
    const text = textIn(texts.before, from, i);
    numbers.set(headOf(text), i).set(text, i);
  }
  return to.starts.map((start, i) => {
    const text = textIn(texts.now, to, i);
    const number = numbers.get(text) ?? numbers.get(headOf(text)) ?? -1;
    return valueOf(texts, last[number], from, number, [start, to.ends[i]]);
  });
}

/** The value of a new range, which is compared with the old part of this number; -1 if there is none. */
function valueOf(texts: Texts, last: unknown, from: Parts, number: number, now: Range): unknown {
  if (number === -1) return texts.parse(...now);
  const old: Range = [from.values[number], from.ends[number]];
  if (texts.before.slice(...old) === texts.now.slice(...now)) return last;
  const first = texts.now.charCodeAt(now[0]);
  if (!isOpen(first) || texts.before.charCodeAt(old[0]) !== first) return texts.parse(...now);
  if (!isLike(last, first)) throw DECLINED; // a key occurs twice
  return new Comparison(texts, last, old, now).value();
}
