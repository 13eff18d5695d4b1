/**
 * Scans JSON in bytes, and finds what is needed without parsing.
 *
 * {@linkcode JsonWalker} finds the identity of an object and the range of its managedFields. It is exact or declines,
 * and then the object is parsed. `projector.ts` copies fields, and `item_scanner.ts` finds the items of a list. Nothing
 * here makes entries; `ObjectReader` does.
 *
 * @module
 */
import { encoder } from "../api/object.ts";

// Each scanner has its own constants: with imported ones the scan of a list takes 1.5 times as long.
const SPACE = 32;
const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const OPEN_BRACKET = 91;
const BACKSLASH = 92;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;
/** The bit in which a brace differs from the bracket of the same side. */
const BRACE_BIT = 32;

const METADATA = encoder.encode("metadata");
const NAME = encoder.encode("name");
const NAMESPACE = encoder.encode("namespace");
const UID = encoder.encode("uid");
const RESOURCE_VERSION = encoder.encode("resourceVersion");
const MANAGED_FIELDS = encoder.encode("managedFields");
const LABELS = encoder.encode("labels");
const KIND = encoder.encode("kind");
const API_VERSION = encoder.encode("apiVersion");

/**
 * Finds an object's identity in its JSON bytes, at a twentieth of the cost of parsing it.
 *
 * A walk is exact or declines. Exact means that the result is the same as with `JSON.parse`. This holds for every text
 * that `JSON.parse` accepts and whose keys are unique at the top and in `metadata`. It declines at white space, at
 * escapes and non-ASCII bytes in the values that it reads, and at unusual layouts. Then the text must be parsed. For a
 * text that is not JSON, the result is undefined.
 *
 * The fields are positions in the bytes of the latest walk. Each pair is a half-open range, and `-1` means none.
 */
export class JsonWalker {
  /** Start of the text of `metadata.name`, inside its quotes. */
  nameStart = -1;
  /** End of it. */
  nameEnd = -1;
  /** Start of the text of `metadata.namespace`, inside its quotes. */
  namespaceStart = -1;
  /** End of it. */
  namespaceEnd = -1;
  /** Start of the text of `metadata.uid`, inside its quotes. */
  uidStart = -1;
  /** End of it. */
  uidEnd = -1;
  /** Start of the text of `metadata.resourceVersion`, inside its quotes. */
  versionStart = -1;
  /** End of it. */
  versionEnd = -1;
  /** Start of the value of `metadata`. */
  metadataStart = -1;
  /** End of it. */
  metadataEnd = -1;
  /** Start of the value of `metadata.labels`, an object. */
  labelsStart = -1;
  /** End of it. */
  labelsEnd = -1;
  /** Start of the bytes to cut to remove `managedFields`: the member and one comma next to it. */
  cutStart = -1;
  /** End of the bytes to cut. */
  cutEnd = -1;
  /** Start of the value of `kind`, if that comes before `metadata`. */
  kindStart = -1;
  /** End of it. */
  kindEnd = -1;
  /** True if `metadata` is the first key, as in list items of built-in kinds, which have no kind and apiVersion. */
  metadataFirst = false;
  /** True if kind and apiVersion both come before `metadata`. */
  typed = false;

  /** Position of the comma at which {@linkcode identify} has stopped; -1 if it has walked all of the metadata. */
  #stoppedAt = -1;

  /**
   * Walks the object in `bytes[start, end)`; false when it declines. `text` is the bytes as ASCII text, which is faster
   * to search.
   */
  walk(bytes: Uint8Array, start: number, end: number, text?: string): boolean {
    return this.#walk(bytes, start, end, text, false);
  }

  /**
   * As {@linkcode walk}, but stops once name, namespace, uid and version have been found, which servers write first.
   * {@linkcode finish} then finds the end of the metadata and the bytes to cut.
   */
  identify(bytes: Uint8Array, start: number, end: number, text?: string): boolean {
    return this.#walk(bytes, start, end, text, true);
  }

  /** Completes the latest walk, if {@linkcode identify} has stopped; false when it declines. */
  finish(bytes: Uint8Array, end: number, text?: string): boolean {
    if (this.#stoppedAt === -1) return true;
    this.metadataEnd = this.#walkMembers(bytes, this.#stoppedAt, end, text, false);
    return this.metadataEnd !== -1;
  }

  #walk(bytes: Uint8Array, start: number, end: number, text: string | undefined, identify: boolean): boolean {
    this.nameStart =
      this.namespaceStart =
      this.uidStart =
      this.versionStart =
      this.labelsStart =
      this.kindStart =
      this.cutStart =
      this.#stoppedAt =
        -1;
    this.typed = false;
    if (bytes[start] !== OPEN_BRACE) return false;
    let typeKeys = 0;
    for (let at = start + 1;;) {
      const keyEnd = endOfKey(bytes, at, end);
      if (keyEnd === -1) return false;
      const value = keyEnd + 2;
      if (isKey(bytes, at + 1, keyEnd, METADATA)) {
        if (bytes[value] !== OPEN_BRACE) return false;
        this.metadataFirst = at === start + 1;
        this.typed = typeKeys === 2;
        this.metadataStart = value;
        this.metadataEnd = bytes[value + 1] === CLOSE_BRACE
          ? value + 2
          : this.#walkMembers(bytes, value, end, text, identify);
        return this.metadataEnd !== -1 || this.#stoppedAt !== -1;
      }
      const behind = skipValue(bytes, value, end);
      if (behind === -1 || bytes[behind] !== COMMA) return false;
      if (isKey(bytes, at + 1, keyEnd, KIND)) {
        typeKeys++;
        this.kindStart = value;
        this.kindEnd = behind;
      } else if (isKey(bytes, at + 1, keyEnd, API_VERSION)) typeKeys++;
      at = behind + 1;
    }
  }

  /**
   * Walks the members of metadata, from the brace or comma at `at`. Returns the end of the metadata; -1 when it
   * declines, or stops because the object has been identified.
   */
  #walkMembers(bytes: Uint8Array, at: number, end: number, text: string | undefined, identify: boolean): number {
    for (at++;;) {
      const key = at + 1;
      const keyEnd = endOfKey(bytes, at, end);
      if (keyEnd === -1) return -1;
      const value = keyEnd + 2;
      // The length distinguishes the six keys from nearly all others.
      switch (keyEnd - key) {
        case 3:
          if (isKey(bytes, key, keyEnd, UID)) {
            if ((at = endOfPlainString(bytes, value, end)) === -1) return -1;
            this.uidStart = value + 1;
            this.uidEnd = at - 1;
          } else at = skipValue(bytes, value, end);
          break;
        case 4:
          if (isKey(bytes, key, keyEnd, NAME)) {
            if ((at = endOfPlainString(bytes, value, end)) === -1) return -1;
            this.nameStart = value + 1;
            this.nameEnd = at - 1;
          } else at = skipValue(bytes, value, end);
          break;
        case 6:
          at = skipValue(bytes, value, end);
          if (isKey(bytes, key, keyEnd, LABELS)) {
            if (this.labelsStart !== -1 || bytes[value] !== OPEN_BRACE) return -1;
            this.labelsStart = value;
            this.labelsEnd = at;
          }
          break;
        case 9:
          if (isKey(bytes, key, keyEnd, NAMESPACE)) {
            if ((at = endOfPlainString(bytes, value, end)) === -1) return -1;
            this.namespaceStart = value + 1;
            this.namespaceEnd = at - 1;
          } else at = skipValue(bytes, value, end);
          break;
        case 15:
          if (isKey(bytes, key, keyEnd, RESOURCE_VERSION)) {
            if ((at = endOfPlainString(bytes, value, end)) === -1) return -1;
            this.versionStart = value + 1;
            this.versionEnd = at - 1;
          } else at = skipValue(bytes, value, end);
          break;
        case 13:
          if (isKey(bytes, key, keyEnd, MANAGED_FIELDS)) {
            at = bytes[value] === OPEN_BRACKET
              ? endOfManagedFields(bytes, value, end, text)
              : skipValue(bytes, value, end);
            if (at === -1) return -1;
            const first = bytes[key - 2] === OPEN_BRACE;
            this.cutStart = first ? key - 1 : key - 2;
            this.cutEnd = first && bytes[at] === COMMA ? at + 1 : at;
          } else at = skipValue(bytes, value, end);
          break;
        default:
          at = skipValue(bytes, value, end);
      }
      if (at === -1 || at >= end) return -1;
      if (bytes[at] === CLOSE_BRACE) return at + 1;
      if (bytes[at] !== COMMA) return -1;
      if (
        identify && this.versionStart !== -1 && this.uidStart !== -1 && this.namespaceStart !== -1 &&
        this.nameStart !== -1
      ) {
        this.#stoppedAt = at;
        return -1;
      }
      at++;
    }
  }
}

/** Position of the closing quote of the key at `at`, if a colon follows it; else -1, as for a key with escapes. */
export function endOfKey(bytes: Uint8Array, at: number, end: number): number {
  if (bytes[at] !== QUOTE) return -1;
  for (at++; at < end; at++) {
    const byte = bytes[at];
    if (byte === BACKSLASH) return -1; // it may be one of the keys, escaped
    if (byte === QUOTE) return bytes[at + 1] === COLON && at + 1 < end ? at : -1;
  }
  return -1;
}

/** Returns `true` if a key has these bytes. */
export function isKey(bytes: Uint8Array, start: number, end: number, key: Uint8Array): boolean {
  if (end - start !== key.length) return false;
  for (let i = 0; i < key.length; i++) if (bytes[start + i] !== key[i]) return false;
  return true;
}

/** End of the string at `at`, if it is ASCII and without escapes; else -1. */
function endOfPlainString(bytes: Uint8Array, at: number, end: number): number {
  if (bytes[at] !== QUOTE) return -1;
  for (at++; at < end; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) return at + 1;
    if (byte === BACKSLASH || byte > 127) return -1;
  }
  return -1;
}

/**
 * Returns the end of the managedFields array at `at`. The first `]` is the end, if no other array opens before it and
 * the following bytes prove that it is not in a string. Then the bytes before it are not read. Otherwise the array is
 * walked. The proof: in `],"x` or `]},"x` the quote cannot close a string, because no letter may follow a string.
 */
export function endOfManagedFields(bytes: Uint8Array, at: number, end: number, text: string | undefined): number {
  const close = text === undefined ? bytes.indexOf(CLOSE_BRACKET, at + 1) : text.indexOf("]", at + 1);
  if (close === -1 || close >= end) return -1;
  const next = bytes[close + 1] === CLOSE_BRACE ? close + 2 : close + 1;
  if (next + 2 < end && bytes[next] === COMMA && bytes[next + 1] === QUOTE && isLetter(bytes[next + 2])) {
    if (!opensAgain(bytes, at, close, text)) return close + 1;
  }
  return skipValue(bytes, at, end);
}

/** True if there is another `[` between the one at `at` and `close`. */
function opensAgain(bytes: Uint8Array, at: number, close: number, text: string | undefined): boolean {
  // The search backwards stops at the array's own bracket at the latest.
  if (text === undefined) return bytes.lastIndexOf(OPEN_BRACKET, close) !== at;
  const open = text.indexOf("[", at + 1); // may search beyond `close`, and is still faster than backwards byte by byte
  return open !== -1 && open < close;
}

function isLetter(byte: number): boolean {
  return (byte >= 97 && byte <= 122) || (byte >= 65 && byte <= 90);
}

/** End of the value at `at`; -1 at white space, or if the value does not end. */
export function skipValue(bytes: Uint8Array, at: number, end: number): number {
  const first = bytes[at];
  if (first === QUOTE) return skipString(bytes, at + 1, end);
  if (first === OPEN_BRACE || first === OPEN_BRACKET) {
    for (let depth = 0; at < end;) {
      const byte = bytes[at++];
      if (byte === QUOTE) {
        // As skipString, which would take a fifth more here: most bytes of objects are in short strings.
        for (;;) {
          if (at >= end) return -1;
          const inside = bytes[at++];
          if (inside === QUOTE) break;
          if (inside === BACKSLASH) at++;
        }
      } else if ((byte | BRACE_BIT) === OPEN_BRACE) depth++;
      else if ((byte | BRACE_BIT) === CLOSE_BRACE && --depth === 0) return at;
    }
    return -1;
  }
  if (first <= SPACE) return -1;
  for (; at < end; at++) {
    const byte = bytes[at];
    if (byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET) return at;
  }
  return -1;
}

/** Position of the first byte from `at` on that is no white space. */
export function skipSpace(bytes: Uint8Array, at: number): number {
  while (bytes[at] <= SPACE) at++;
  return at;
}

/** Returns the position after the closing quote for the string text at `at`, or -1 if the string does not end. */
function skipString(bytes: Uint8Array, at: number, end: number): number {
  for (; at < end; at++) {
    const byte = bytes[at];
    if (byte === BACKSLASH) at++;
    else if (byte === QUOTE) return at + 1;
  }
  return -1;
}
