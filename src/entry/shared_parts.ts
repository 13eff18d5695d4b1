/**
 * Parses a version of an object without parsing again what the version that was read before has in the same bytes.
 *
 * {@linkcode SharedParts} is the entry point: it keeps the text and the object of the version of each key that was read
 * last. The members of an object, and of its `metadata`, `spec` and `status`, are compared. Objects that are kept here
 * are frozen by {@linkcode deepFreeze}. This file decides nothing about memory; `informer/cache/memory_budget.ts` does.
 *
 * @module
 */
import { decoder, encoder, type ObjectKey } from "../api/object.ts";
import { isPlain } from "../api/selector.ts";

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const OPEN_BRACKET = 91;
const BACKSLASH = 92;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;
/** The bit in which a brace differs from the bracket of the same side. */
const BRACE_BIT = 32;
const SPACE = 32;

/** About the bytes that a kept version needs in addition to its text. */
const KEPT_BYTES = 300;

/** So many versions of deleted objects are kept for handlers that are about to read them. */
const DELETED = 64;
/** With fewer versions than this, nobody looks for deleted objects that were read late. */
const LATE = 128;

/** The version of a key that was read last. */
interface ReadVersion {
  uid: string;
  text: string | Uint8Array;
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
    const before = typeof last.text === "string" ? last.text : decoder.decode(last.text);
    last.outline ??= outlineOf(before, last.object);
    if (last.outline === "") return undefined;
    const object = comparison.parse(text, before, last.outline, last.object);
    if (object !== undefined) this.#outline = comparison.outline;
    return object;
  }

  /** Keeps the version that was parsed last. `string` is its text, and `object` is frozen. */
  keep(key: ObjectKey, uid: string, text: string | Uint8Array, string: string, object: unknown): void {
    const outline = this.#outline;
    this.#outline = undefined;
    if (!this.isOn) return;
    const own = ownText(text, string);
    const last = this.#read.get(key);
    this.#textBytes += own.length - (last?.text.length ?? 0);
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
    this.#textBytes -= last.text.length;
    this.#read.delete(key);
  }

  /** Forgets all versions. */
  clear(): void {
    this.#read.clear();
    this.#deleted.length = this.#textBytes = 0;
    this.#lookAt = LATE;
  }

  /** Forgets versions of deleted objects that were read late, at times. */
  #forgetLate(kept: ObjectKey): void {
    if (this.#read.size < this.#lookAt) return;
    for (const key of this.#read.keys()) if (key !== kept && !this.#isCached(key)) this.#forget(key);
    this.#lookAt = 1.25 * this.#read.size + LATE;
  }
}

/** A text that keeps no larger buffer in memory. */
function ownText(text: string | Uint8Array, string: string): string | Uint8Array {
  if (typeof text === "string") return text;
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

/** The most members of an outline: looking for keys takes time. */
const MOST = 1_000;
/** Numbers from here on have two characters. */
const LONG = 0x8000;
const CODES: number[] = [];

function putCode(codes: number[], number: number): void {
  if (number < LONG) codes.push(number);
  else codes.push(LONG + Math.floor(number / LONG), number % LONG);
}

/** Returns the outline of an object's text, as its code; `""` if it has no use. */
function outlineOf(text: string, object: Members): string {
  const outline = new Outline();
  return scan(text, bytesOf(text), 0, true, outline) === text.length && hasMembers(object, outline, text)
    ? outline.code
    : "";
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

/** The bytes of the text that was scanned last. A byte is read in a third of the time of a character. */
let scanned: Uint8Array<ArrayBuffer> = new Uint8Array(16_384);

/** Returns a text with a byte for each character, until the next call. Characters beyond ASCII have the same byte. */
function bytesOf(text: string): Uint8Array {
  const { length } = text;
  if (length > scanned.length || (scanned.length > 1_048_576 && length <= 65_536)) {
    scanned = new Uint8Array(Math.max(16_384, 2 * length));
  }
  const { read, written } = encoder.encodeInto(text, scanned);
  if (read !== length || written !== length) {
    for (let i = 0; i < length; i++) scanned[i] = Math.min(text.charCodeAt(i), 128);
  }
  return scanned;
}

/** Adds the members of the object at `at` to an outline. Returns the object's end; -1 if the layout is unusual. */
function scan(text: string, bytes: Uint8Array, at: number, isTop: boolean, outline: Outline): number {
  if (bytes[at] !== OPEN_BRACE) return -1;
  if (bytes[at + 1] === CLOSE_BRACE) return at + 2;
  for (let start = at + 1;;) {
    const value = valueAt(bytes, start, text.length);
    const end = value === -1 ? -1 : scanMember(text, bytes, start, value, isTop, outline);
    if (end === -1) return -1;
    const next = bytes[end];
    if (next === CLOSE_BRACE) return end + 1;
    if (next !== COMMA || outline.size > MOST) return -1;
    start = end + 1;
  }
}

/** Adds the member at `start` to an outline. Returns its end; -1 if the layout is unusual. */
function scanMember(
  text: string,
  bytes: Uint8Array,
  start: number,
  value: number,
  isTop: boolean,
  outline: Outline,
): number {
  const member = outline.add(start, value);
  const end = isTop && bytes[value] === OPEN_BRACE && isDivided(text, start, value)
    ? scan(text, bytes, value, false, outline)
    : skipValue(bytes, value, text.length);
  return end === -1 ? -1 : outline.close(member, end);
}

/** Returns the position of the value of the member at `start`; -1 if there is no key without escapes. */
function valueAt(bytes: Uint8Array, start: number, length: number): number {
  if (bytes[start] !== QUOTE) return -1;
  for (let at = start + 1; at < length; at++) {
    const code = bytes[at];
    if (code === BACKSLASH) return -1;
    if (code === QUOTE) return bytes[at + 1] === COLON ? at + 2 : -1;
  }
  return -1;
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

/** Returns the end of the value at `at`; -1 at white space, or if the value does not end. */
function skipValue(bytes: Uint8Array, at: number, length: number): number {
  const first = bytes[at];
  if (first === QUOTE) return skipString(bytes, at + 1, length);
  if (first === OPEN_BRACE || first === OPEN_BRACKET) {
    for (let depth = 0; at < length; at++) {
      const code = bytes[at];
      if (code === QUOTE) {
        at = skipString(bytes, at + 1, length);
        if (at === -1) return -1;
        at--;
      } else if ((code | BRACE_BIT) === OPEN_BRACE) depth++;
      else if ((code | BRACE_BIT) === CLOSE_BRACE && --depth === 0) return at + 1;
    }
    return -1;
  }
  if (first <= SPACE) return -1;
  for (; at < length; at++) {
    const code = bytes[at];
    if (code === COMMA || (code | BRACE_BIT) === CLOSE_BRACE) return at;
  }
  return -1;
}

/** Returns the position after the closing quote for the string text at `at`; -1 if it does not end. */
function skipString(bytes: Uint8Array, at: number, length: number): number {
  for (; at < length; at++) {
    const code = bytes[at];
    if (code === BACKSLASH) at++;
    else if (code === QUOTE) return at + 1;
  }
  return -1;
}

/**
 * Compares a text with the text before, and parses it with `null` in the place of each equal member. The result equals
 * `JSON.parse` of the whole text, because each key occurs once: both outlines are compared with the objects.
 */
class Comparison {
  #text = "";
  /** Its bytes, once a member has to be scanned. */
  #bytes: Uint8Array | undefined;
  #before = "";
  readonly #old = new Outline();
  /** The code of `#old`. */
  #code = "";
  readonly #now = new Outline();
  /** The text so far, up to `#cut`, with `null` in the place of equal members. */
  #parsed = "";
  #cut = 0;
  /** The numbers of equal members in `#now`, and of the members that they are in; -1 for the object. */
  readonly #equal: number[] = [];
  readonly #around: number[] = [];

  /** The outline of the text that was parsed last, as its code: often the one before, as lengths stay the same. */
  get outline(): string {
    return this.#now.equals(this.#old) ? this.#code : this.#now.code;
  }

  /** Returns the object of a text; `undefined` if nothing is equal, or the layout is unusual. */
  parse(text: string, before: string, outline: string, last: Members): Members | undefined {
    this.#text = text;
    this.#before = before;
    this.#old.code = this.#code = outline;
    this.#now.size =
      this.#equal.length =
      this.#around.length =
      this.#cut =
        0;
    this.#parsed = "";
    this.#bytes = undefined;
    try {
      if (text.charCodeAt(0) !== OPEN_BRACE || this.#walk(0, 0, this.#old.size, -1) !== text.length) return undefined;
      if (this.#equal.length === 0) return undefined;
      const object = JSON.parse(this.#parsed + text.slice(this.#cut));
      this.#fill(object, last);
      return hasMembers(object, this.#now, text) ? object : undefined;
    } catch {
      return undefined; // the caller parses all of the text, and reports what is wrong with it
    } finally {
      this.#text = this.#before = this.#parsed = "";
    }
  }

  #fill(object: Members, last: Members): void {
    for (let i = 0; i < this.#equal.length; i++) {
      const key = keyAt(this.#text, this.#now, this.#equal[i]);
      const around = this.#around[i];
      if (around === -1) object[key] = last[key];
      else {
        const name = keyAt(this.#text, this.#now, around);
        (object[name] as Members)[key] = (last[name] as Members)[key];
      }
    }
  }

  /**
   * Compares the members of the object at `at` with the old members from number `from` up to `to`. `around` is the
   * number of this object as a member; -1 for the outermost. Returns its end; -1 if the layout is unusual.
   */
  #walk(at: number, from: number, to: number, around: number): number {
    const text = this.#text;
    if (text.charCodeAt(at + 1) === CLOSE_BRACE) return at + 2;
    for (let start = at + 1, old = from;;) {
      let end = old < to ? this.#same(start, old, around) : -1;
      if (end === -1) {
        this.#bytes ??= bytesOf(text);
        const value = valueAt(this.#bytes, start, text.length);
        if (value === -1) return -1;
        let found = this.#find(start, value, old, to);
        if (found === -1) found = this.#find(start, value, from, old);
        if (found !== -1) {
          if (found !== old) end = this.#same(start, found, around);
          old = found;
        }
        if (end === -1) end = this.#changed(start, value, found, around);
        if (end === -1) return -1;
        if (found !== -1) old = this.#old.next[old];
      } else old = this.#old.next[old];
      const next = text.charCodeAt(end);
      if (next === CLOSE_BRACE) return end + 1;
      if (next !== COMMA || this.#now.size > MOST) return -1;
      start = end + 1;
    }
  }

  /** Returns the end of the member at `start` if it has the bytes of an old member, else -1. */
  #same(start: number, old: number, around: number): number {
    const { start: starts, value: values, end: ends } = this.#old;
    const oldStart = starts[old];
    const oldEnd = ends[old];
    const text = this.#text;
    const end = start + oldEnd - oldStart;
    const next = text.charCodeAt(end);
    if (next !== COMMA && next !== CLOSE_BRACE) return -1;
    if (text.slice(start, end) !== this.#before.slice(oldStart, oldEnd)) return -1;
    const member = this.#now.size;
    this.#now.copy(this.#old, old, start);
    const value = start + values[old] - oldStart;
    if ((text.charCodeAt(value) | BRACE_BIT) !== OPEN_BRACE) return end; // strings and numbers are not worth it
    this.#parsed += text.slice(this.#cut, value) + "null";
    this.#cut = end;
    this.#equal.push(member);
    this.#around.push(around);
    return end;
  }

  /** Returns the number of the old member with the key at `start`, from number `from` on; -1 if there is none. */
  #find(start: number, value: number, from: number, to: number): number {
    const { start: starts, value: values, next } = this.#old;
    const key = this.#text.slice(start, value);
    for (let old = from; old < to; old = next[old]) {
      const oldStart = starts[old];
      if (values[old] - oldStart === value - start && this.#before.slice(oldStart, values[old]) === key) return old;
    }
    return -1;
  }

  /** Returns the end of a member that has other bytes than the old one, or no old one; -1 if the layout is unusual. */
  #changed(start: number, value: number, old: number, around: number): number {
    const now = this.#now;
    const isTop = around === -1;
    // An old member with members is divided.
    if (!isTop || old === -1 || this.#old.next[old] === old + 1 || this.#text.charCodeAt(value) !== OPEN_BRACE) {
      return scanMember(this.#text, this.#bytes!, start, value, isTop, now);
    }
    const member = now.add(start, value);
    const end = this.#walk(value, old + 1, this.#old.next[old], member);
    return end === -1 ? -1 : now.close(member, end);
  }
}

const comparison = new Comparison();

/** To this depth objects are frozen by recursion, which takes a third of the time. */
const SHALLOW = 64;

/**
 * Freezes a plain object or array and all parts of it that are; what is frozen already is not looked into. Others, such
 * as the dates and maps of a transform, stay as they are.
 */
export function deepFreeze<V>(value: V): V {
  if (!canFreeze(value)) return value;
  try {
    const deeper: object[] = [value];
    for (let next = deeper.pop(); next !== undefined; next = deeper.pop()) freezeTo(SHALLOW, next, deeper);
  } catch {
    // A getter throws: the rest stays as it is, and its readers meet the error.
  }
  return value;
}

/** Freezes a value to a depth. Deeper parts are added to `deeper`. */
function freezeTo(depth: number, value: object, deeper: object[]): void {
  Object.freeze(value);
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) freezePart(depth, value[i], deeper);
  } else for (const key in value) freezePart(depth, (value as Record<string, unknown>)[key], deeper);
}

function freezePart(depth: number, part: unknown, deeper: object[]): void {
  if (typeof part !== "object" || !canFreeze(part)) return;
  if (depth > 0) freezeTo(depth - 1, part, deeper);
  else deeper.push(part);
}

function canFreeze(value: unknown): value is object {
  return isPlain(value) && !Object.isFrozen(value);
}
