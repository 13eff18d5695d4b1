/**
 * Parses a text whose object is known in another version, at the cost of what differs between the two texts.
 *
 * {@linkcode parseDifference} is the entry point. Equal stretches of the texts are compared as a whole. If they
 * differ, the text before is scanned for the value that has changed, and only the objects and arrays around it are
 * copied. The object before has all other parts, too. This file keeps nothing; `shared_parts.ts` does.
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

/** The result of {@linkcode parseDifference}. */
export interface Parsed {
  /** If only values at places have changed, it is frozen. */
  readonly object: object;
  readonly places: Places | undefined;
}

/** The places of a text of which nothing else is known. */
const NO_PLACES: Places = { gaps: "", paths: [] };
/** If there are more places, only the values that changed last are kept. */
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
const CREDIT = 12_000;
const CREDIT_PER_BYTE = 4;
const CHANGE = 500;
const LEVEL = 50;
/** So many characters are compared one by one: stretches of text take longer to begin with. */
const NEAR = 32;
/** A string of at most this length is copied: JSON.parse takes longer to begin with. */
const SHORT = 64;
/** The rest of a longer string is searched for its end, which takes longer to begin with. */
const LONG = 128;
/** Parts with fewer bytes in objects and arrays are parsed as quickly as they are compared. */
const WORTH = 16;

/** Thrown where all of the text is to be parsed: its layout is unusual, it is not JSON, or comparing it costs more. */
const DECLINED = Symbol("declined");

/**
 * Parses a text as `JSON.parse` does, from another text and its object.
 *
 * @param before The text of another version.
 * @param object The object of `before`. It is frozen.
 * @param places The places in `before`; `undefined` if nothing is known about it.
 * @param members The number of members of `object` and all objects in it, if it is known.
 * @returns `undefined` if all of the text has to be parsed. This is so if its layout is unusual, if a key occurs twice,
 * if it is not JSON, or if too much has changed.
 */
export function parseDifference(
  text: string,
  before: string,
  object: object,
  places: Places | undefined,
  members?: number,
): Parsed | undefined {
  if (text === before) return { object, places };
  try {
    const texts = new Texts(before, text);
    const comparison = new Comparison(texts, object as Members, [0, before.length], [0, text.length]);
    return comparison.root(places, members);
  } catch (error) {
    if (error !== DECLINED && !(error instanceof SyntaxError || error instanceof RangeError)) throw error;
    return undefined; // the caller parses all of the text, and reports what is wrong with it
  }
}

/** The bytes of a text, which are read in half the time of a character. Characters beyond ASCII have the same byte. */
function bytesOf(text: string): Uint8Array {
  const bytes = encoder.encode(text);
  if (bytes.length === text.length) return bytes;
  const same = new Uint8Array(text.length);
  for (let i = 0; i < same.length; i++) same[i] = Math.min(text.charCodeAt(i), 128);
  return same;
}

/** Both texts, and what their comparison may still cost. */
class Texts {
  readonly before: string;
  readonly now: string;
  #oldBytes: Uint8Array | undefined;
  #bytes: Uint8Array | undefined;
  #credit: number;

  constructor(before: string, now: string) {
    this.before = before;
    this.now = now;
    this.#credit = CREDIT + CREDIT_PER_BYTE * now.length;
  }

  /** The bytes of the text before. */
  get oldBytes(): Uint8Array {
    return this.#oldBytes ??= bytesOf(this.before);
  }

  /** The bytes of the new text. */
  get bytes(): Uint8Array {
    return this.#bytes ??= bytesOf(this.now);
  }

  /** Notes a cost. @throws when it is too much. */
  pay(cost: number): void {
    this.#credit -= cost;
    if (!(this.#credit >= 0)) throw DECLINED; // NaN ends it, too
  }

  /** Parses a part of the text. */
  parse(start: number, end: number): unknown {
    const text = this.now;
    if (text.charCodeAt(start) === QUOTE && end - start <= SHORT && end - start > 2) {
      let at = start + 1;
      while (at < end - 1 && isPlain(text.charCodeAt(at))) at++;
      if (at === end - 1) return ownString(text.slice(start + 1, start + 2), text.slice(start + 2, at));
    }
    return JSON.parse(text.slice(start, end));
  }
}

/** Returns `true` for a character that stands for itself in a string of JSON. */
function isPlain(code: number): boolean {
  return code >= SPACE && code !== QUOTE && code !== BACKSLASH;
}

let asked = 0;

/** Returns a string of two parts that does not keep their text in memory: reading a character copies them. */
export function ownString(head: string, tail: string): string {
  const text = head + tail;
  asked += text.charCodeAt(0);
  return text;
}

/** The end of the value at a position before `limit`. @throws when there is none. */
function endOf(bytes: Uint8Array, at: number, limit: number): number {
  const end = skipValue(bytes, at, limit);
  if (end <= at) throw DECLINED;
  return end;
}

/** A range of a text. */
type Range = readonly [start: number, end: number];

/** A value that was compared. */
interface Place {
  readonly path: Path;
  /** Its ranges in the text before, and in the new one. */
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
  root(known: Places | undefined, members?: number): Parsed {
    this.#walk(known ?? NO_PLACES);
    if (known === undefined && this.#scanner!.countMembers() !== (members ?? countMembers(this.#last))) throw DECLINED;
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
      if (before.slice(old, at) === text.slice(now, end)) {
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
    const oldEnd = isLeaf ? endOfLeaf(before, oldStart) : endOf(this.#texts.oldBytes, oldStart, this.#old[1]);
    const end = isLeaf ? endOfLeaf(text, start) : endOf(this.#texts.bytes, start, this.#now[1]);
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
    const scanner = this.#scanner ??= new Scanner(this.#texts.before, this.#texts.oldBytes, this.#old);
    const isEnded = isEnd(this.#texts.now.charCodeAt(now));
    scanner.seek(old, !isEnded);
    this.#texts.pay(CHANGE + LEVEL * scanner.depth);
    const start = scanner.at;
    if (start < (this.#places.at(-1)?.oldEnd ?? 0)) throw DECLINED; // a value is followed by what follows none
    if (scanner.isAtValue && !(isEnded && start === old)) {
      return this.#compared(scanner.path(scanner.depth), start, now - old + start);
    }
    return this.#merged(scanner.path(scanner.depth - 1), scanner.open);
  }

  /** Compares the parts of an object or array, of which some came, went or moved. */
  #merged(path: Path, oldStart: number): Place {
    this.#isOfLeaves = false;
    while (this.#places.length > 0 && this.#places.at(-1)!.oldStart > oldStart) this.#places.pop();
    const last = this.#places.at(-1);
    const start = oldStart + (last === undefined ? this.#now[0] - this.#old[0] : last.end - last.oldEnd);
    let around: unknown = this.#last;
    for (const key of path) around = (around as Members | undefined)?.[key];
    const oldEnd = endOf(this.#texts.oldBytes, oldStart, this.#old[1]);
    const end = endOf(this.#texts.bytes, start, this.#now[1]);
    const value = mergedValue(this.#texts, around, [oldStart, oldEnd], [start, end]);
    return { path, oldStart, oldEnd, start, end, isChanged: true, value };
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
  readonly #text: string;
  readonly #bytes: Uint8Array;
  readonly #end: number;
  /** By depth: where the object or array begins; its present index, or -1 for an object; its present key. */
  readonly #opens: number[] = [];
  readonly #indices: number[] = [];
  readonly #keys: number[] = [];
  /** The number of keys before the present word. */
  #members = 0;
  /** The position of the present word. */
  at: number;
  /** The number of objects and arrays around it. */
  depth = 0;
  /** `true` if the present word is a value, or begins one. */
  isAtValue = false;

  constructor(text: string, bytes: Uint8Array, [start, end]: Range) {
    this.#text = text;
    this.#bytes = bytes;
    this.#end = end;
    this.at = start;
  }

  /** The position of the innermost object or array around the present word. */
  get open(): number {
    return this.#opens[this.depth - 1];
  }

  /**
   * Goes on to the word with a position; after the end, if there is none. A number that ends there is it if it
   * `continues` in the other text. @throws at white space.
   */
  seek(to: number, continues: boolean): void {
    const bytes = this.#bytes;
    const end = this.#end;
    let { at, depth } = this;
    while (at < end) {
      const first = bytes[at];
      let behind = at + 1;
      let isKey = false;
      if (first === QUOTE) {
        behind = closingQuote(this.#text, bytes, behind) + 1;
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
            this.#members++;
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
    if (depth < 1 && to < end) throw DECLINED; // a text may go on after its object
  }

  /** The number of members of all objects in the text. @throws when its object is not all of it. */
  countMembers(): number {
    this.seek(this.#end, false);
    if (this.depth !== 0) throw DECLINED;
    return this.#members;
  }

  /** The first keys and indices that lead to the present word. @throws at a key with escapes. */
  path(depth: number): Path {
    const text = this.#text;
    const path: (string | number)[] = [];
    for (let i = 1; i <= depth; i++) {
      if (this.#indices[i] !== -1) path.push(this.#indices[i]);
      else {
        const key = text.slice(this.#keys[i] + 1, text.indexOf('"', this.#keys[i] + 1));
        if (key.length > LONGEST_KEY || key.includes("\\")) throw DECLINED;
        path.push(key);
      }
    }
    return path;
  }
}

/** The position of the quote that ends a string, from a position in it on. */
function closingQuote(text: string, bytes: Uint8Array, at: number): number {
  for (const long = at + LONG; at < long; at++) {
    if (bytes[at] === QUOTE) return at;
    if (bytes[at] === BACKSLASH) at++;
  }
  for (;; at++) {
    const quote = text.indexOf('"', at);
    let escapes = quote;
    while (escapes > at && bytes[escapes - 1] === BACKSLASH) escapes--;
    if ((quote - escapes) % 2 === 0) return quote;
    at = quote;
  }
}

/** The number of equal characters of two ranges from their beginning on. */
function equalLength(before: string, old: number, oldEnd: number, text: string, now: number, nowEnd: number): number {
  const most = Math.min(oldEnd - old, nowEnd - now);
  let equal = 0;
  for (let step = NEAR; step >= NEAR;) {
    const isEqual = equal + step <= most &&
      before.slice(old + equal, old + equal + step) === text.slice(now + equal, now + equal + step);
    equal += isEqual ? step : 0;
    step = isEqual ? 2 * step : Math.floor(step / 4);
  }
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

/** An object with other values at some places. If it is marked as reduced, what is copied of it is not. */
function withChanges(last: Members, places: readonly Place[], freezes: boolean): unknown {
  /** The copies of the objects and arrays around the present place, from the outermost on. */
  const copies: Members[] = [];
  let previous: Path = [];
  const leave = (copy: object): unknown => freezes && Object.freeze(copy);
  for (const { path, value, isChanged } of places) {
    if (!isChanged) continue;
    const inner = path.length - 1;
    if (inner === -1) return value;
    let depth = 0;
    if (copies.length === 0) copies.push(copyOf(last, freezes));
    else while (depth < inner && depth < copies.length - 1 && previous[depth] === path[depth]) depth++;
    while (copies.length - 1 > depth) leave(copies.pop()!);
    for (; depth < inner; depth++) {
      const copy = copyOf(copies[depth][path[depth]] as Members, freezes);
      copies[depth][path[depth]] = copy;
      copies.push(copy);
    }
    copies[inner][path[inner]] = value;
    previous = path;
  }
  const [object = last] = copies;
  while (copies.length > 0) leave(copies.pop()!);
  return object;
}

function copyOf(value: Members, isUnmarked: boolean): Members {
  if (typeof value !== "object" || value === null) throw DECLINED; // a key occurs twice
  if (Array.isArray(value)) return [...value] as unknown as Members;
  if (isUnmarked || (value as Reduced)[reduced] === undefined) return { ...value };
  return Object.fromEntries(Object.entries(value)); // without the mark
}

/** The number of members of all objects in a value. */
function countMembers(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) { for (const element of value) count += countMembers(element); }
  else for (const key in value) count += 1 + countMembers((value as Members)[key]);
  return count;
}

/** A part of an object or array in a text. */
interface Part {
  /** The text of its key; `""` in an array. */
  readonly key: string;
  /** The range of its value. */
  readonly value: Range;
}

/** Returns the parts in a range. It returns `undefined` if the layout is unusual, or if parsing all costs no more. */
function partsIn(text: string, bytes: Uint8Array, [start, end]: Range): Part[] | undefined {
  const parts: Part[] = [];
  let worth = 0;
  for (let at = start; at < end - 1 && end - start > 2;) {
    const keyEnd = bytes[start] === OPEN_BRACE ? endOfKey(bytes, at + 1, end) : at - 1;
    if (keyEnd === -1) return undefined;
    const value = keyEnd + 2;
    const key = text.slice(at + 1, value - 1);
    at = skipValue(bytes, value, end);
    if (at <= value || (bytes[at] === COMMA) !== (at < end - 1)) return undefined;
    if (isOpen(bytes[value])) worth += at - value;
    parts.push({ key, value: [value, at] });
  }
  return worth >= WORTH * parts.length && bytes[end - 1] === bytes[start] + 2 ? parts : undefined;
}

/**
 * The value of a new range, with the parts that the value of the old range has, too. Elements of arrays are found by
 * their text, and by their first member, which mostly names them.
 */
function mergedValue(texts: Texts, last: unknown, old: Range, now: Range): unknown {
  const { before, now: text } = texts;
  texts.pay(2 * (old[1] - old[0] + now[1] - now[0]));
  if (typeof last !== "object" || last === null) throw DECLINED; // a key occurs twice
  const [from, to] = [partsIn(before, texts.oldBytes, old), partsIn(text, texts.bytes, now)];
  if (from === undefined || to === undefined) return texts.parse(...now);
  const isArray = Array.isArray(last);
  const numbers = new Map<string, number>();
  for (let i = from.length - 1; i >= 0; i--) {
    const element = before.slice(...from[i].value);
    if (isArray) numbers.set(firstMember(element), i).set(element, i);
    else numbers.set(from[i].key, i);
  }
  const merged = (isArray ? [] : {}) as Members;
  for (const [i, part] of to.entries()) {
    const key = isArray ? i : JSON.parse(part.key);
    if (key === "__proto__") return texts.parse(...now); // assigning to it would set the prototype
    const element = text.slice(...part.value);
    const number = isArray ? numbers.get(element) ?? numbers.get(firstMember(element)) : numbers.get(part.key);
    merged[key] = number === undefined
      ? texts.parse(...part.value)
      : partOf(texts, (last as Members)[isArray ? number : key], from[number].value, part.value);
  }
  return Object.keys(merged).length === to.length ? merged : texts.parse(...now);
}

/** The text of an element up to its first comma. */
function firstMember(element: string): string {
  return element.slice(0, element.indexOf(",") + 1 || undefined);
}

/** The value of a new range, which is compared with an old part. */
function partOf(texts: Texts, last: unknown, old: Range, now: Range): unknown {
  if (texts.before.slice(...old) === texts.now.slice(...now)) return last;
  const first = texts.now.charCodeAt(now[0]);
  if (!isOpen(first) || texts.before.charCodeAt(old[0]) !== first) return texts.parse(...now);
  return new Comparison(texts, last as Members, old, now).value();
}
