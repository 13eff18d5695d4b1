/**
 * Parses a version of an object without parsing again what the version that was read before has in the same bytes.
 *
 * {@linkcode SharedParts} is the entry point: it keeps the text and the object of the version of each key that was read
 * last. The members of an object, and of its `metadata`, `spec` and `status`, are compared, and the elements of arrays
 * that have changed. Objects that are kept here are frozen by {@linkcode deepFreeze}. This file decides nothing about
 * memory; `informer/cache/memory_budget.ts` does.
 *
 * @module
 */
import { encoder, type ObjectKey, type Reduced, reduced } from "../api/object.ts";
import { isPlain } from "../api/selector.ts";
import { CompactText, decoded, type HeldText } from "./compact_text.ts";
import { endOfKey, skipValue } from "./json_text.ts";
import type { TextTemplates } from "./text_templates.ts";

const SPACE = 32;
const COMMA = 44;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

/** About the bytes that a kept version needs in addition to its text. */
const KEPT_BYTES = 300;

/** So many versions of deleted objects are kept for handlers that are about to read them. */
const DELETED = 64;
/** With fewer versions than this, nobody looks for deleted objects that were read late. */
const LATE = 128;

/** The version of a key that was read last. */
interface ReadVersion {
  uid: string;
  text: HeldText;
  /** The object, which is frozen. */
  object: Members;
  /** See {@linkcode Outline.code}. `undefined` until it is needed, `""` if it cannot be used. */
  outline: string | undefined;
}

type Members = Record<string, unknown>;

/** The versions of the objects of one cache that were read last, by key. */
export class SharedParts {
  readonly #read = new Map<ObjectKey, ReadVersion>();
  readonly #isCached: (key: ObjectKey) => boolean;
  /** The keys that were deleted last, the last one at the end. */
  readonly #deleted: ObjectKey[] = [];
  #textBytes = 0;
  /** The number of versions at which to look for deleted objects. */
  #lookAt = LATE;
  /** The outline of the text that was parsed last, until it is kept. */
  #outline: string | undefined;
  /** Called after a version was kept, in a cache whose bytes are counted. */
  onKept: (() => void) | undefined;
  /** `false` while memory is short: then nothing is kept, and nothing is shared. */
  isOn = true;

  /** `isCached` says which keys the cache has: versions of others are dropped now and then. */
  constructor(isCached: (key: ObjectKey) => boolean) {
    this.#isCached = isCached;
  }

  /** About the bytes that are kept. */
  get bytes(): number {
    return this.#textBytes + this.#read.size * KEPT_BYTES;
  }

  /**
   * Parses an object. If a member has the same bytes as in the version that was read last, it is the
   * value of that version. Returns `undefined` if nothing is shared, and for a text that is not JSON.
   */
  parse(key: ObjectKey, uid: string, text: string): unknown {
    this.#outline = undefined;
    const last = this.#read.get(key);
    if (last === undefined || last.uid !== uid) return undefined;
    const before = decoded(last.text);
    last.outline ??= comparison.outlineOf(before, last.object);
    if (last.outline === "") return undefined;
    const object = comparison.parse(text, before, last.outline, last.object);
    if (object !== undefined) this.#outline = comparison.outline;
    else if (comparison.wasCostly) this.#outline = ""; // the next version will probably be, too: it is not compared
    return object;
  }

  /** Keeps the version that was parsed last. `string` is its text, and `object` is frozen. */
  keep(key: ObjectKey, uid: string, text: HeldText, string: string, object: unknown): boolean {
    const outline = this.#outline;
    this.#outline = undefined;
    if (!this.isOn) return false;
    const own = ownText(text, string);
    const last = this.#read.get(key);
    this.#textBytes += heldBytes(own);
    if (own instanceof CompactText) own.use();
    if (last !== undefined) this.#release(last.text);
    if (last === undefined) {
      this.#read.set(key, { uid, text: own, object: object as Members, outline });
      this.#forgetLate(key);
    } else {
      last.uid = uid;
      last.text = own;
      last.object = object as Members;
      last.outline = outline;
    }
    this.onKept?.();
    return true;
  }

  /** Holds the text of a version compactly, if it resembles others. */
  compact(key: ObjectKey, templates: TextTemplates): void {
    const last = this.#read.get(key);
    if (last === undefined || last.text instanceof CompactText) return;
    const compact = templates.compact(key, last.text);
    if (compact === undefined) return;
    compact.use();
    this.#textBytes += heldBytes(compact) - heldBytes(last.text);
    last.text = compact;
  }

  #release(text: HeldText): void {
    this.#textBytes -= heldBytes(text);
    if (text instanceof CompactText) text.release();
  }

  /** Forgets the version of a key that was deleted, once some more have been. */
  deleted(key: ObjectKey): void {
    if (this.#read.size === 0) return;
    this.#deleted.push(key);
    if (this.#deleted.length <= DELETED) return;
    const first = this.#deleted.shift()!;
    if (!this.#isCached(first)) this.#forget(first);
  }

  #forget(key: ObjectKey): void {
    const last = this.#read.get(key);
    if (last === undefined) return;
    this.#release(last.text);
    this.#read.delete(key);
  }

  /** Forgets all versions. */
  clear(): void {
    for (const { text } of this.#read.values()) this.#release(text);
    this.#read.clear();
    this.#deleted.length = 0;
    this.#lookAt = LATE;
  }

  /** Forgets versions of deleted objects that were read late, at times. */
  #forgetLate(kept: ObjectKey): void {
    if (this.#read.size < this.#lookAt) return;
    for (const key of this.#read.keys()) if (key !== kept && !this.#isCached(key)) this.#forget(key);
    this.#lookAt = 1.25 * this.#read.size + LATE;
  }
}

function heldBytes(text: HeldText): number {
  return text instanceof CompactText ? text.values.length : text.length;
}

/** A text that keeps no larger buffer in memory. */
function ownText(text: HeldText, string: string): HeldText {
  if (!(text instanceof Uint8Array)) return text;
  if (string.length === text.length) return string; // it is ASCII
  return text.length === text.buffer.byteLength ? text : text.slice();
}

/**
 * The places of members in a text: of an object, and behind each of `metadata`, `spec` and `status` that is an object,
 * of its members.
 */
class Outline {
  /** By number of the member: the position of its key's first quote. */
  readonly start: number[] = [];
  /** The position of its value. */
  readonly value: number[] = [];
  /** The position behind its value. */
  readonly end: number[] = [];
  /** The number of the next member of the same object. */
  readonly next: number[] = [];
  /** The number of members. */
  size = 0;

  /** Adds a member whose end is not known yet. Returns its number. */
  add(start: number, value: number): number {
    const member = this.size++;
    this.start[member] = start;
    this.value[member] = value;
    return member;
  }

  /** Sets the end of a member. All members that were added since are members of it. */
  close(member: number, end: number): number {
    this.end[member] = end;
    this.next[member] = this.size;
    return end;
  }

  /** Adds a member of another outline with its own members, in a text where it begins at `start`. */
  copy(from: Outline, member: number, start: number): void {
    const shift = start - from.start[member];
    for (let i = member; i < from.next[member]; i++) {
      const copy = this.add(from.start[i] + shift, from.value[i] + shift);
      this.end[copy] = from.end[i] + shift;
      this.next[copy] = copy + from.next[i] - i;
    }
  }

  /** Returns `true` if another outline has the same members. */
  equals(other: Outline): boolean {
    if (this.size !== other.size) return false;
    for (let i = 0; i < this.size; i++) {
      if (this.value[i] !== other.value[i] || this.end[i] !== other.end[i] || this.next[i] !== other.next[i]) {
        return false;
      }
    }
    return true;
  }

  /** The outline as a string of little size: lengths of keys and values, and numbers of the members of members. */
  get code(): string {
    const codes = CODES;
    codes.length = 0;
    for (let i = 0; i < this.size; i++) {
      putCode(codes, this.value[i] - this.start[i]);
      putCode(codes, this.end[i] - this.value[i]);
      putCode(codes, this.next[i] - i - 1);
    }
    return String.fromCharCode(...codes);
  }

  /** Reads what {@linkcode code} has returned. */
  set code(code: string) {
    this.size = 0;
    let at = 0;
    const read = (): number => {
      const first = code.charCodeAt(at++);
      return first < LONG ? first : (first - LONG) * LONG + code.charCodeAt(at++);
    };
    let start = 1;
    let inner = 0;
    while (at < code.length) {
      const value = start + read();
      const member = this.add(start, value);
      const end = this.end[member] = value + read();
      const members = read();
      this.next[member] = member + 1 + members;
      if (members > 0) {
        inner = this.next[member];
        start = value + 1;
      } else {
        start = end + 1;
        // The last member of a member is followed by a brace, too.
        if (this.size === inner) start++;
      }
    }
  }
}

/** The most members of an outline. */
const MOST = 1_000;
/** Keys of members are names of fields. Reading longer ones takes longer than JSON.parse does. */
const LONGEST_KEY = 128;

// The costs of a comparison. 1 is the time to look at a key, in which JSON.parse reads about two bytes.
const EQUAL_ELEMENT = 4;
const CHANGED_PART = 12;
/** So much a comparison may cost in addition to what it earns by the bytes of values. */
const CREDIT = 100;
/** JSON.parse reads strings quickly, so a longer value earns no more than this many bytes. */
const MOST_EARNING = 24;
/** Numbers from here on have two characters. */
const LONG = 0x8000;
const CODES: number[] = [];

function putCode(codes: number[], number: number): void {
  if (number < LONG) codes.push(number);
  else codes.push(LONG + Math.floor(number / LONG), number % LONG);
}

/**
 * Returns `true` if an object has as many members as its outline, so that no key occurs twice in the text; and its
 * `metadata`, `spec` and `status` as well.
 */
function hasMembers(object: Members, outline: Outline, text: string): boolean {
  let members = 0;
  for (let i = 0; i < outline.size; i = outline.next[i], members++) {
    const count = outline.next[i] - i - 1;
    if (count > 0 && numberOf(object[keyAt(text, outline, i)] as Members) !== count) return false;
  }
  return numberOf(object) === members;
}

function numberOf(object: Members): number {
  let count = 0;
  for (const _ in object) count++;
  return count;
}

function keyAt(text: string, outline: Outline, member: number): string {
  return text.slice(outline.start[member] + 1, outline.value[member] - 2);
}

/** A text with a byte for each character, which is read in a third of the time of a character. */
class Bytes {
  #bytes: Uint8Array<ArrayBuffer> = new Uint8Array(1_024);
  #text = "";

  /** Returns the bytes of a text, until the next call. Characters beyond ASCII have the same byte. */
  of(text: string): Uint8Array {
    if (text === this.#text) return this.#bytes;
    this.#text = text;
    const { length } = text;
    if (length > this.#bytes.length || (this.#bytes.length > 1_048_576 && length <= 65_536)) {
      this.#bytes = new Uint8Array(Math.max(1_024, 2 * length));
    }
    const { read, written } = encoder.encodeInto(text, this.#bytes);
    if (read !== length || written !== length) {
      for (let i = 0; i < length; i++) this.#bytes[i] = Math.min(text.charCodeAt(i), 128);
    }
    return this.#bytes;
  }

  /** Forgets the text. */
  clear(): void {
    this.#text = "";
  }
}

/** Returns `true` if the members of the member at `start` are compared, too. */
function isDivided(text: string, start: number, value: number): boolean {
  switch (value - start) {
    case 7:
      return text.startsWith("spec", start + 1);
    case 9:
      return text.startsWith("status", start + 1);
    case 11:
      return text.startsWith("metadata", start + 1);
  }
  return false;
}

/** What becomes of a member: the old value, a value that is parsed, an object of members, an array of elements. */
const [EQUAL, PARSED, MEMBERS, ELEMENTS] = [0, 1, 2, 3];

/**
 * Compares a text with the text before, and parses only the values that have changed, all at once. The rest is taken
 * from the object before. The result equals `JSON.parse` of the whole text, because each key occurs once: both outlines
 * are compared with the objects.
 */
class Comparison {
  #text = "";
  #before = "";
  readonly #bytes = new Bytes();
  /** The bytes of an array in the text before. */
  readonly #oldBytes = new Bytes();
  readonly #old = new Outline();
  /** The code of `#old`. */
  #code = "";
  readonly #now = new Outline();
  /** By number of a member in `#now`: the number of the old member with its key; -1 if there is none. */
  readonly #source: number[] = [];
  /** By number of a member in `#now`: {@linkcode EQUAL}, {@linkcode PARSED} and so on. */
  readonly #fate: number[] = [];
  /** For each array of elements: their number, then `1` for an equal element, `0` for a parsed element. */
  readonly #elements: number[] = [];
  /** What the comparison of members, and of elements, may still cost. Below 0, all of the text, or array, is parsed. */
  #memberCredit = 0;
  #elementCredit = 0;
  /** The values to parse, as the text of an array without its last bracket. */
  #parsed = "";
  #isAnyEqual = false;
  /** The values that were parsed, and the places of the next value and of the next number in `#elements`. */
  #values: readonly unknown[] = [];
  #nextValue = 0;
  #nextElement = 0;

  /** The outline of the text that was parsed last, as its code: often the one before, as lengths stay the same. */
  get outline(): string {
    return this.#now.equals(this.#old) ? this.#code : this.#now.code;
  }

  /** `true` if the comparison was given up because parsing all of the text costs less. */
  get wasCostly(): boolean {
    return this.#memberCredit < 0;
  }

  /** Returns the outline of an object's text, as its code; `""` if it has no use. */
  outlineOf(text: string, object: Members): string {
    this.#begin(text, "", "");
    return this.#walk(0, 0, 0, -1) === text.length && hasMembers(object, this.#now, text) ? this.#now.code : "";
  }

  /** Returns the object of a text; `undefined` if nothing is equal, or the layout is unusual. */
  parse(text: string, before: string, outline: string, last: Members): Members | undefined {
    this.#begin(text, before, outline);
    try {
      if (this.#walk(0, 0, this.#old.size, -1) !== text.length || !this.#isAnyEqual) return undefined;
      this.#values = JSON.parse(this.#parsed === "" ? "[]" : this.#parsed + "]");
      return this.#build(0, this.#now.size, 0, this.#old.size, last);
    } catch {
      return undefined; // the caller parses all of the text, and reports what is wrong with it
    } finally {
      this.#text = this.#before = this.#parsed = "";
      this.#values = [];
    }
  }

  #begin(text: string, before: string, outline: string): void {
    this.#text = text;
    this.#before = before;
    this.#old.code = this.#code = outline;
    this.#memberCredit = before === "" ? Infinity : CREDIT + this.#old.size;
    this.#elementCredit = CREDIT;
    this.#now.size =
      this.#elements.length =
      this.#nextValue =
      this.#nextElement =
        0;
    this.#parsed = "";
    this.#isAnyEqual = false;
    this.#bytes.clear();
  }

  /**
   * Makes the object of the members from number `from` up to `to`, whose old members are those from `oldFrom` up to
   * `oldTo`, in the object `last`. Returns `undefined` if a key occurs twice.
   */
  #build(from: number, to: number, oldFrom: number, oldTo: number, last: Members): Members | undefined {
    const [next, oldNext] = [this.#now.next, this.#old.next];
    let old = oldFrom;
    let same = from;
    while (same < to && this.#source[same] === old) {
      same = next[same];
      old = oldNext[old];
    }
    // A copy takes a fifth of the time. It must not have the mark of a reduced object, whose parts are marked with it.
    const isCopy = same === to && old === oldTo && (last as Reduced)[reduced] === undefined;
    const object: Members = isCopy ? { ...last } : {};
    let count = 0;
    for (let i = from; i < to; i = next[i], count++) {
      if (isCopy && this.#fate[i] === EQUAL) continue;
      const key = keyAt(this.#text, this.#now, i);
      if (!isCopy && key === "__proto__") return undefined; // assigning to it would set the prototype
      switch (this.#fate[i]) {
        case EQUAL:
          object[key] = last[key];
          break;
        case PARSED:
          object[key] = this.#values[this.#nextValue++];
          break;
        case MEMBERS: {
          const source = this.#source[i];
          const hadMembers = source !== -1 && oldNext[source] > source + 1;
          const members = hadMembers
            ? this.#build(i + 1, next[i], source + 1, oldNext[source], last[key] as Members)
            : this.#build(i + 1, next[i], 0, 0, {});
          if (members === undefined) return undefined;
          object[key] = members;
          break;
        }
        case ELEMENTS:
          object[key] = this.#array(last[key] as readonly unknown[]);
      }
    }
    return isCopy || Object.keys(object).length === count ? object : undefined;
  }

  #array(last: readonly unknown[]): readonly unknown[] {
    const array: unknown[] = [];
    for (let count = this.#elements[this.#nextElement++]; count > 0; count--) {
      array.push(this.#elements[this.#nextElement++] === 1 ? last[array.length] : this.#values[this.#nextValue++]);
    }
    return array;
  }

  /**
   * Compares the members of the object at `at` with the old members from number `from` up to `to`. `around` is the
   * number of this object as a member; -1 for the outermost. Returns its end; -1 if the layout is unusual.
   */
  #walk(at: number, from: number, to: number, around: number): number {
    const text = this.#text;
    if (text.charCodeAt(at) !== OPEN_BRACE) return -1;
    if (text.charCodeAt(at + 1) === CLOSE_BRACE) return at + 2;
    for (let start = at + 1, old = from;;) {
      let end = old < to ? this.#same(start, old) : -1;
      if (end === -1) {
        const bytes = this.#bytes.of(text);
        const keyEnd = endOfKey(bytes, start, Math.min(text.length, start + LONGEST_KEY));
        if (keyEnd === -1) return -1;
        const value = keyEnd + 2;
        let found = this.#find(start, value, old, to);
        if (found === -1) found = this.#find(start, value, from, old);
        if (found === -1) {
          for (let i = start; i < keyEnd; i++) if (bytes[i] < SPACE) return -1; // JSON does not have it
        } else {
          if (found !== old) end = this.#same(start, found);
          old = found;
        }
        if (end === -1) end = this.#changed(start, value, found, around);
        if (end === -1) return -1;
        this.#memberCredit += Math.min(end - value, MOST_EARNING) / 2 - CHANGED_PART;
        if (this.#memberCredit < 0) return -1;
        if (found !== -1) old = this.#old.next[old];
      } else old = this.#old.next[old];
      const next = text.charCodeAt(end);
      if (next === CLOSE_BRACE) return end + 1;
      if (next !== COMMA || this.#now.size > MOST) return -1;
      start = end + 1;
    }
  }

  /** Returns the end of the member at `start` if it has the bytes of an old member, else -1. */
  #same(start: number, old: number): number {
    const oldStart = this.#old.start[old];
    const oldEnd = this.#old.end[old];
    const text = this.#text;
    const end = start + oldEnd - oldStart;
    const next = text.charCodeAt(end);
    if (next !== COMMA && next !== CLOSE_BRACE) return -1;
    if (text.slice(start, end) !== this.#before.slice(oldStart, oldEnd)) return -1;
    const member = this.#now.size;
    this.#now.copy(this.#old, old, start);
    this.#source[member] = old;
    this.#fate[member] = EQUAL;
    this.#isAnyEqual = true;
    return end;
  }

  /** Returns the number of the old member with the key at `start`, from number `from` on; -1 if there is none. */
  #find(start: number, value: number, from: number, to: number): number {
    const { start: starts, value: values, next } = this.#old;
    const key = this.#text.slice(start, value);
    for (let old = from; old < to && this.#memberCredit > 0; old = next[old]) {
      this.#memberCredit--;
      const oldStart = starts[old];
      if (values[old] - oldStart === value - start && this.#before.slice(oldStart, values[old]) === key) return old;
    }
    return -1;
  }

  /** Returns the end of a member that has other bytes than the old one, or no old one; -1 if the layout is unusual. */
  #changed(start: number, value: number, old: number, around: number): number {
    const text = this.#text;
    const member = this.#now.add(start, value);
    this.#source[member] = old;
    const first = text.charCodeAt(value);
    let end: number;
    if (around === -1 && first === OPEN_BRACE && isDivided(text, start, value)) {
      this.#fate[member] = MEMBERS;
      end = old === -1 ? this.#walk(value, 0, 0, member) : this.#walk(value, old + 1, this.#old.next[old], member);
    } else {
      const parsed = this.#parsed;
      const elements = this.#elements.length;
      const wasArray = old !== -1 && this.#before.charCodeAt(this.#old.value[old]) === OPEN_BRACKET;
      this.#fate[member] = ELEMENTS;
      end = first === OPEN_BRACKET && wasArray
        ? this.#walkElements(value, this.#before.slice(this.#old.value[old], this.#old.end[old]))
        : -1;
      if (end === -1) {
        this.#fate[member] = PARSED;
        this.#parsed = parsed;
        this.#elements.length = elements;
        end = this.#parse(value, skipValue(this.#bytes.of(text), value, text.length));
      }
    }
    return end === -1 ? -1 : this.#now.close(member, end);
  }

  /** The value at `at` is to be parsed. Returns its end; -1 if there is no value. */
  #parse(at: number, end: number): number {
    if (end <= at) return -1;
    this.#parsed += (this.#parsed === "" ? "[" : ",") + this.#text.slice(at, end);
    return end;
  }

  /**
   * Compares the elements of the array at `at` with the elements at the same places of an old array. Returns its end;
   * -1 if the layout is unusual, or parsing the array costs less.
   */
  #walkElements(at: number, before: string): number {
    const text = this.#text;
    const bytes = this.#bytes.of(text);
    const head = this.#elements.push(0) - 1;
    let old = 1; // the position of the next old element; the end of the old array if there is none
    if (bytes[at + 1] === CLOSE_BRACKET) return at + 2;
    for (let start = at + 1;;) {
      const end = skipValue(bytes, start, text.length);
      let oldEnd = old + end - start;
      const isEqual = before.slice(old, oldEnd) === text.slice(start, end) && isElementEnd(before.charCodeAt(oldEnd));
      if (isEqual) this.#isAnyEqual = true;
      else {
        if (this.#parse(start, end) === -1) return -1;
        if (old < before.length) oldEnd = skipValue(this.#oldBytes.of(before), old, before.length);
        if (old < before.length && !isElementEnd(before.charCodeAt(oldEnd))) return -1;
      }
      this.#elementCredit += Math.min(end - start, MOST_EARNING) / 2 - (isEqual ? EQUAL_ELEMENT : CHANGED_PART);
      if (this.#elementCredit < 0) return -1;
      this.#elements.push(isEqual ? 1 : 0);
      this.#elements[head]++;
      old = Math.min(oldEnd + 1, before.length);
      if (bytes[end] === CLOSE_BRACKET) return end + 1;
      if (bytes[end] !== COMMA) return -1;
      start = end + 1;
    }
  }
}

function isElementEnd(code: number): boolean {
  return code === COMMA || code === CLOSE_BRACKET;
}

const comparison = new Comparison();

/** To this depth objects are frozen by recursion, which takes a third of the time. */
const SHALLOW = 64;

/**
 * Freezes a plain object or array and all parts of it that are; what is frozen already is not looked into. Others, such
 * as the dates and maps of a transform, stay as they are. If `isParsed`, all of it comes from JSON, and nothing is
 * frozen yet: to know this saves a third of the time.
 */
export function deepFreeze<V>(value: V, isParsed = false): V {
  if (!canFreeze(value)) return value;
  try {
    const deeper: object[] = [value];
    for (let next = deeper.pop(); next !== undefined; next = deeper.pop()) freezeTo(SHALLOW, next, deeper, isParsed);
  } catch {
    // A getter throws: the rest stays as it is, and its readers meet the error.
  }
  return value;
}

/** Freezes a value to a depth. Deeper parts are added to `deeper`. */
function freezeTo(depth: number, value: object, deeper: object[], isParsed: boolean): void {
  Object.freeze(value);
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) freezePart(depth, value[i], deeper, isParsed);
  } else for (const key in value) freezePart(depth, (value as Record<string, unknown>)[key], deeper, isParsed);
}

function freezePart(depth: number, part: unknown, deeper: object[], isParsed: boolean): void {
  if (typeof part !== "object" || part === null || !(isParsed || canFreeze(part))) return;
  if (depth > 0) freezeTo(depth - 1, part, deeper, isParsed);
  else deeper.push(part);
}

function canFreeze(value: unknown): value is object {
  return !Object.isFrozen(value) && isPlain(value);
}
