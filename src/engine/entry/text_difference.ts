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
/** The most characters of the names of paths that are kept. */
const LONGEST_PATHS = 4_096;
/** The longest gap that is a character. */
const LONGEST_GAP = 0xffff;
/** So many lists of paths are shared by the objects that have them. */
const MOST_PATHS = 256;

// What a comparison may cost, and what its steps cost, in bytes that are scanned in the same time.
const CREDIT = 10_000;
const CREDIT_PER_BYTE = 4;
const CHANGE = 500;
const LEVEL = 50;
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
  } catch {
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
    if (length > this.#bytes.length) this.#bytes = new Uint8Array(2 * length);
    const { read, written } = encoder.encodeInto(text, this.#bytes);
    if (read !== length || written !== length) {
      for (let i = 0; i < length; i++) this.#bytes[i] = Math.min(text.charCodeAt(i), 128);
    }
    this.#text = text;
    return this.#bytes;
  }

  /** Forgets the text, and the bytes of a long one. */
  clear(): void {
    this.#text = "";
    if (this.#bytes.length > 1_048_576) this.#bytes = new Uint8Array(16_384);
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
  readonly old: Range;
  readonly now: Range;
  /** Its new value, if it has changed. */
  readonly value: unknown;
  readonly isChanged: boolean;
  /** `true` if neither value is an object or array. */
  readonly isLeaf: boolean;
}

/** Compares two ranges of the texts, which are objects or arrays, or the whole texts. */
class Comparison {
  readonly #texts: Texts;
  readonly #last: Members;
  readonly #old: Range;
  readonly #now: Range;
  readonly #places: Place[] = [];
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
    const isOfLeaves = this.#places.every(({ isLeaf }) => isLeaf);
    const freezes = isOfLeaves && (this.#last as Reduced)[reduced] === undefined;
    const object = withChanges(this.#last, this.#places, freezes) as object;
    return { object, places: isOfLeaves ? this.#nextPlaces(known) : undefined };
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
      if (before.slice(old, at) === text.slice(now, end)) {
        if (isLast) return;
        place = isEnd(text.charCodeAt(end)) ? this.#differing(at, end) : this.#compared(paths[next], at, end);
      } else {
        const equal = equalLength(before, old, at, text, now, this.#now[1]);
        place = this.#differing(old + equal, now + equal);
      }
      this.#places.push(place);
      [old, now] = [place.old[1], place.now[1]];
      while (at < old && next < paths.length) {
        at = next + 1 === paths.length ? this.#old[1] : endOfLeaf(before, at) + gaps.charCodeAt(next + 1);
        next++;
      }
    }
  }

  /** Compares the values at a path. */
  #compared(path: Path, old: number, now: number): Place {
    const { before, now: text } = this.#texts;
    const isLeaf = !isOpen(before.charCodeAt(old)) && !isOpen(text.charCodeAt(now));
    const oldEnd = isLeaf ? endOfLeaf(before, old) : this.#texts.endOf("before", old, this.#old[1]);
    const nowEnd = isLeaf ? endOfLeaf(text, now) : this.#texts.endOf("now", now, this.#now[1]);
    const isChanged = before.slice(old, oldEnd) !== text.slice(now, nowEnd);
    const value = isChanged ? isLeaf ? leafOf(text, now, nowEnd) : this.#texts.parse(now, nowEnd) : undefined;
    return { path, old: [old, oldEnd], now: [now, nowEnd], value, isChanged, isLeaf };
  }

  /** Finds and compares the value around the first characters that differ. */
  #differing(old: number, now: number): Place {
    if (old >= this.#old[1]) throw DECLINED; // the new text goes on behind its object
    const scanner = this.#scanner ??= new Scanner(oldBytes.of(this.#texts.before), this.#old);
    const isEnded = isEnd(this.#texts.now.charCodeAt(now));
    scanner.seek(old, !isEnded);
    this.#texts.pay(CHANGE + LEVEL * scanner.depth);
    const start = scanner.at;
    if (start < (this.#places.at(-1)?.old[1] ?? 0)) throw DECLINED; // a value is followed by what follows none
    if (scanner.isAtValue && !(isEnded && start === old)) {
      return this.#compared(scanner.path(this.#texts.before, scanner.depth), start, now - old + start);
    }
    return this.#merged(scanner.path(this.#texts.before, scanner.depth - 1), scanner.open);
  }

  /** Compares the parts of an object or array, of which some came, went or moved. */
  #merged(path: Path, start: number): Place {
    while (this.#places.length > 0 && this.#places.at(-1)!.old[0] > start) this.#places.pop();
    const last = this.#places.at(-1);
    const shift = last === undefined ? this.#now[0] - this.#old[0] : last.now[1] - last.old[1];
    const old: Range = [start, this.#texts.endOf("before", start, this.#old[1])];
    const now: Range = [start + shift, this.#texts.endOf("now", start + shift, this.#now[1])];
    let around = this.#last;
    for (const key of path) around = around[key] as Members;
    return { path, old, now, value: mergedValue(this.#texts, around, old, now), isChanged: true, isLeaf: false };
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
    const gaps = places.map(({ now }, i) => now[0] - (i === 0 ? 0 : places[i - 1].now[1]));
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
        for (; bytes[behind] !== QUOTE; behind++) if (bytes[behind] === BACKSLASH) behind++;
        behind++;
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
        // Assigning to the key would set the prototype.
        if (key.includes("\\") || key === "__proto__") throw DECLINED;
        path.push(key);
      }
    }
    return path;
  }
}

/** The number of equal characters of two ranges from their beginning on. */
function equalLength(before: string, old: number, oldEnd: number, text: string, now: number, nowEnd: number): number {
  const most = Math.min(oldEnd - old, nowEnd - now);
  let equal = 0;
  let step = 32;
  const isEqual = (): boolean =>
    equal + step <= most &&
    before.slice(old + equal, old + equal + step) === text.slice(now + equal, now + equal + step);
  while (isEqual()) {
    equal += step;
    step *= 2;
  }
  for (step /= 2; step >= 16; step /= 2) if (isEqual()) equal += step;
  while (equal < most && before.charCodeAt(old + equal) === text.charCodeAt(now + equal)) equal++;
  return equal;
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

/** The value of a string, number or word. */
function leafOf(text: string, start: number, end: number): unknown {
  return JSON.parse(text.slice(start, end));
}

/** An object with other values at some places. If it is marked as reduced, what is copied of it is not. */
function withChanges(last: Members, places: readonly Place[], freezes: boolean): unknown {
  /** The copies of the objects and arrays around the present place, from the outermost on. */
  const copies: Members[] = [];
  let around: Path = [];
  for (const { path, value, isChanged } of places) {
    if (!isChanged) continue;
    const inner = path.length - 1;
    if (inner === -1) return value;
    let depth = 0;
    if (copies.length === 0) copies.push(copyOf(last));
    else while (depth < inner && depth < copies.length - 1 && around[depth] === path[depth]) depth++;
    while (copies.length - 1 > depth) freezeIf(freezes, copies.pop()!);
    for (; depth < inner; depth++) {
      const copy = copyOf(copies[depth][path[depth]] as Members);
      copies[depth][path[depth]] = copy;
      copies.push(copy);
    }
    copies[inner][path[inner]] = value;
    around = path;
  }
  const [object = last] = copies;
  while (copies.length > 0) freezeIf(freezes, copies.pop()!);
  return object;
}

function freezeIf(freezes: boolean, value: object): void {
  if (freezes) Object.freeze(value);
}

function copyOf(value: Members): Members {
  if (Array.isArray(value)) return [...value] as unknown as Members;
  if ((value as Reduced)[reduced] === undefined) return { ...value };
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
}

/** Returns the parts of the object or array in a range; `undefined` if the layout is unusual, or they are small. */
function partsIn(bytes: Uint8Array, [start, end]: Range): Parts | undefined {
  const isObject = bytes[start] === OPEN_BRACE;
  const parts: Parts = { starts: [], values: [], ends: [] };
  let worth = 0;
  for (let at = start; at < end - 1;) {
    const part = at + 1;
    if (part === end - 1 && at === start) break;
    const keyEnd = isObject ? endOfKey(bytes, part, end) : part - 2;
    if (keyEnd === -1) return undefined;
    const value = keyEnd + 2;
    at = skipValue(bytes, value, end);
    if (at <= value || (bytes[at] === COMMA) !== (at < end - 1)) return undefined;
    if (isOpen(bytes[value])) worth += at - value;
    parts.starts.push(part);
    parts.values.push(value);
    parts.ends.push(at);
  }
  return worth >= WORTH * parts.starts.length && bytes[end - 1] === bytes[start] + 2 ? parts : undefined;
}

/** The value of a new range, with the parts of the value of the old range that it has, too. */
function mergedValue(texts: Texts, last: Members, old: Range, now: Range): unknown {
  texts.pay(2 * (old[1] - old[0] + now[1] - now[0]));
  const [from, to] = [partsIn(oldBytes.of(texts.before), old), partsIn(newBytes.of(texts.now), now)];
  const merge = Array.isArray(last) ? mergedArray : mergedObject;
  const merged = from && to && merge(texts, last as never, from, to);
  return merged ?? texts.parse(...now);
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
  return new Comparison(texts, last as Members, old, now).value();
}
