const SPACE = 32;
const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const OPEN_BRACKET = 91;
const BACKSLASH = 92;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;
/** All that a bracket differs in from the brace of its side. */
const BRACE_BIT = 32;

const encoder = new TextEncoder();
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
 * Reads who an object is straight from its bytes, at a twentieth of the cost of parsing it.
 *
 * Exact where it speaks: for every text that `JSON.parse` accepts and whose keys are unique at the top and in `metadata`,
 * what it finds is what `JSON.parse` finds; or it declines, and the text is to be parsed whole. It declines at white
 * space, at escapes and non-ASCII bytes in what it reads, and at layouts it does not expect. Of a text that is not JSON it
 * may say anything.
 *
 * The fields are positions in the bytes that were walked, each pair a half-open range; `-1` where there is none.
 */
export class JsonWalker {
  /** Where the text of `metadata.name` begins, inside its quotes. */
  nameStart = -1;
  /** Where it ends. */
  nameEnd = -1;
  /** Where the text of `metadata.namespace` begins, inside its quotes. */
  namespaceStart = -1;
  /** Where it ends. */
  namespaceEnd = -1;
  /** Where the text of `metadata.uid` begins, inside its quotes. */
  uidStart = -1;
  /** Where it ends. */
  uidEnd = -1;
  /** Where the text of `metadata.resourceVersion` begins, inside its quotes. */
  versionStart = -1;
  /** Where it ends. */
  versionEnd = -1;
  /** Where the value of `metadata` begins. */
  metadataStart = -1;
  /** Where it ends. */
  metadataEnd = -1;
  /** Where the value of `metadata.labels`, an object, begins. */
  labelsStart = -1;
  /** Where it ends. */
  labelsEnd = -1;
  /** Where to begin to cut so that `managedFields` is gone: the member and one comma next to it. */
  cutStart = -1;
  /** Where to end. */
  cutEnd = -1;
  /** Where the value of `kind` begins, if that comes before `metadata`. */
  kindStart = -1;
  /** Where it ends. */
  kindEnd = -1;
  /** Whether `metadata` is the first key, as in the items of a built-in kind's list, which lack kind and apiVersion. */
  metadataFirst = false;
  /** Whether kind and apiVersion both come before `metadata`. */
  typed = false;

  /** The comma behind the member of metadata with which {@linkcode identify} has stopped. */
  #stoppedAt = -1;

  /**
   * Walks the object in `bytes[start, end)`; false when it declines. `text` is the bytes as text, of which each character
   * stands for a byte: it is faster to search.
   */
  walk(bytes: Uint8Array, start: number, end: number, text?: string): boolean {
    return this.#walk(bytes, start, end, text, false);
  }

  /**
   * As {@linkcode walk}, but stops as soon as name, namespace, uid and version have been found, which servers write first.
   * Where the metadata ends and what to cut is then told by {@linkcode finish}.
   */
  identify(bytes: Uint8Array, start: number, end: number, text?: string): boolean {
    return this.#walk(bytes, start, end, text, true);
  }

  /** Walks the rest of the object that was walked last, if there is a rest; false when it declines. */
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
   * Walks the members of metadata, from the brace or comma at `at` on, and returns where the metadata ends; -1 when it
   * declines, or stops because all that identifies the object has been found.
   */
  #walkMembers(bytes: Uint8Array, at: number, end: number, text: string | undefined, identify: boolean): number {
    for (at++;;) {
      const key = at + 1;
      const keyEnd = endOfKey(bytes, at, end);
      if (keyEnd === -1) return -1;
      const value = keyEnd + 2;
      // The length tells the six keys apart from nearly all others.
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
            // mutant: cut-eats-neighbour
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

/** Where the key that begins at `at` with a quote has its other one, a colon behind it; -1 for anything else. */
function endOfKey(bytes: Uint8Array, at: number, end: number): number {
  if (bytes[at] !== QUOTE) return -1;
  for (at++; at < end; at++) {
    const byte = bytes[at];
    if (byte === BACKSLASH) return -1; // might spell one of the keys we look for
    if (byte === QUOTE) return bytes[at + 1] === COLON && at + 1 < end ? at : -1;
  }
  return -1;
}

function isKey(bytes: Uint8Array, start: number, end: number, key: Uint8Array): boolean {
  if (end - start !== key.length) return false;
  for (let i = 0; i < key.length; i++) if (bytes[start + i] !== key[i]) return false;
  return true;
}

/** Behind the string that begins at `at`, if it is one, of ASCII and without escapes; else -1. */
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
 * Behind the array of managedFields that begins at `at`. Where no other array opens before the first `]`, and what follows
 * that proves it to be outside of strings, it is the end, found without looking at what lies between; else the array is
 * walked. The proof: in `],"x` or `]},"x` the quote can not close a string, for no letter may follow a string.
 */
function endOfManagedFields(bytes: Uint8Array, at: number, end: number, text: string | undefined): number {
  const close = text === undefined ? bytes.indexOf(CLOSE_BRACKET, at + 1) : text.indexOf("]", at + 1);
  if (close === -1 || close >= end) return -1;
  const next = bytes[close + 1] === CLOSE_BRACE ? close + 2 : close + 1;
  if (next + 2 < end && bytes[next] === COMMA && bytes[next + 1] === QUOTE && isLetter(bytes[next + 2])) {
    if (!opensAgain(bytes, at, close, text)) return close + 1;
  }
  return skipValue(bytes, at, end);
}

/** Whether there is another `[` between the one at `at` and `close`. */
function opensAgain(bytes: Uint8Array, at: number, close: number, text: string | undefined): boolean {
  // Backwards from its end, the array's own bracket comes first: nothing beyond it is looked at.
  if (text === undefined) return bytes.lastIndexOf(OPEN_BRACKET, close) !== at;
  const open = text.indexOf("[", at + 1); // may look beyond, and is still faster than backwards byte by byte
  return open !== -1 && open < close;
}

function isLetter(byte: number): boolean {
  return (byte >= 97 && byte <= 122) || (byte >= 65 && byte <= 90);
}

/** Behind the value that begins at `at`; -1 when white space does, or when it does not end. */
function skipValue(bytes: Uint8Array, at: number, end: number): number {
  const first = bytes[at];
  if (first === QUOTE) return skipString(bytes, at + 1, end);
  if (first === OPEN_BRACE || first === OPEN_BRACKET) {
    for (let depth = 0; at < end; at++) {
      const byte = bytes[at];
      if (byte === QUOTE) {
        at = skipString(bytes, at + 1, end);
        if (at === -1) return -1;
        at--;
      } else if ((byte | BRACE_BIT) === OPEN_BRACE) depth++;
      else if ((byte | BRACE_BIT) === CLOSE_BRACE && --depth === 0) return at + 1;
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

/** Behind the closing quote of the string whose inside begins at `at`; -1 when it does not end. */
function skipString(bytes: Uint8Array, at: number, end: number): number {
  for (; at < end; at++) {
    const byte = bytes[at];
    if (byte === BACKSLASH) at++;
    else if (byte === QUOTE) return at + 1;
  }
  return -1;
}
