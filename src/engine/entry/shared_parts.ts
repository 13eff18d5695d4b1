/**
 * Parses a version of an object without parsing again what it has in common with the version that was read before.
 *
 * {@linkcode SharedParts} is the entry point: it keeps the text and the object of the version of each key that was read
 * last. Objects that are kept here are frozen by {@linkcode deepFreeze}. This file compares no texts;
 * `text_difference.ts` does. It decides nothing about memory; `informer/cache/memory_budget.ts` does.
 *
 * @module
 */
import type { ObjectKey } from "../api/object.ts";
import { isPlain } from "../api/selector.ts";
import { CompactText, decoded, type HeldText } from "./compact_text.ts";
import { parseDifference, type Places } from "./text_difference.ts";
import type { TextTemplates } from "./text_templates.ts";

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
  object: object;
  /** The places at which it may differ from the next one; `undefined` if nothing is known about its text. */
  places: Places | undefined;
  /** The number of members in the object and in all objects within it. `undefined` if parts of it were shared. */
  members: number | undefined;
}

/** The versions of the objects of one cache that were read last, by key. */
export class SharedParts {
  readonly #read = new Map<ObjectKey, ReadVersion>();
  readonly #isCached: (key: ObjectKey) => boolean;
  /** The keys that were deleted last, the last one at the end. */
  readonly #deleted: ObjectKey[] = [];
  #textBytes = 0;
  /** The number of versions at which to look for deleted objects. */
  #lookAt = LATE;
  /** The places of the text that was parsed last, until it is kept. */
  #places: Places | undefined;
  #isShared = false;
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
   * Parses an object. It shares all parts with the version that was read last that have the same bytes there, at the
   * same place. Returns `undefined` if nothing is shared, and for a text that is not JSON.
   */
  parse(key: ObjectKey, uid: string, text: string): object | undefined {
    this.#places = undefined;
    this.#isShared = false;
    const last = this.#read.get(key);
    if (last === undefined || last.uid !== uid) return undefined;
    const parsed = parseDifference(text, decoded(last.text), last.object, last.places, last.members);
    this.#places = parsed?.places;
    this.#isShared = parsed !== undefined;
    return parsed?.object;
  }

  /**
   * Keeps the version that was parsed last. `string` is its text, and `object` is frozen. Returns `false` if it is not
   * kept.
   */
  keep(key: ObjectKey, uid: string, text: HeldText, string: string, object: object): boolean {
    const places = this.#places;
    this.#places = undefined;
    const count = this.#isShared ? undefined : members;
    if (!this.isOn) return false;
    const own = ownText(text, string);
    const last = this.#read.get(key);
    this.#textBytes += heldBytes(own);
    if (own instanceof CompactText) own.use();
    if (last !== undefined) this.#release(last.text);
    if (last === undefined) {
      this.#read.set(key, { uid, text: own, object, places, members: count });
      this.#forgetLate(key);
    } else {
      last.uid = uid;
      last.text = own;
      last.object = object;
      last.places = places;
      last.members = count;
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

/** Returns a text that keeps no larger buffer in memory: `string`, which it is decoded, if all of it is ASCII. */
export function ownText(text: HeldText, string: string): HeldText {
  if (!(text instanceof Uint8Array)) return text;
  if (string.length === text.length) return string; // it is ASCII
  return text.length === text.buffer.byteLength ? text : text.slice();
}

/** The number of members of objects that {@linkcode deepFreeze} has frozen last. */
let members = 0;

/** To this depth objects are frozen by recursion, which takes a third of the time. */
const SHALLOW = 64;

/**
 * Freezes a plain object or array and all parts of it that are; what is frozen already is not looked into. Others, such
 * as the dates and maps of a transform, stay as they are. If `isParsed`, all of it comes from JSON, and nothing is
 * frozen yet: to know this saves a third of the time.
 */
export function deepFreeze<V>(value: V, isParsed = false): V {
  members = 0;
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
  } else {
    for (const key in value) {
      members++;
      freezePart(depth, (value as Record<string, unknown>)[key], deeper, isParsed);
    }
  }
}

function freezePart(depth: number, part: unknown, deeper: object[], isParsed: boolean): void {
  if (typeof part !== "object" || part === null || !(isParsed || canFreeze(part))) return;
  if (depth > 0) freezeTo(depth - 1, part, deeper, isParsed);
  else deeper.push(part);
}

function canFreeze(value: unknown): value is object {
  return !Object.isFrozen(value) && isPlain(value);
}
