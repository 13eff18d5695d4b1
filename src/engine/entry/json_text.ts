/**
 * Scanners of JSON in bytes, which find what is needed without parsing.
 *
 * {@linkcode JsonWalker} finds the identity of an object and the range of its managedFields, {@linkcode Projector}
 * copies named fields, and {@linkcode ItemScanner} finds the items of a list. Each is exact or declines, and then the
 * object is parsed. Nothing here makes entries; `ObjectReader` does.
 *
 * @module
 */
import { type FieldTree, MAX_ARRAYS } from "../api/fields.ts";
import { encoder } from "../api/object.ts";

// All that scans bytes of JSON is in this file: with imported constants the scan of a list takes 1.5 times as long.
const SPACE = 32;
const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const OPEN_BRACKET = 91;
const BACKSLASH = 92;
const CLOSE_BRACKET = 93;
const LETTER_M = 109;
const LETTER_N = 110;
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

function isKey(bytes: Uint8Array, start: number, end: number, key: Uint8Array): boolean {
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
function endOfManagedFields(bytes: Uint8Array, at: number, end: number, text: string | undefined): number {
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

const ITEMS = encoder.encode(`"items"`);
/** The items of a table. */
const ROWS = encoder.encode(`"rows"`);

/** Receives the parts of a list. Bytes are valid during the call. */
interface ItemScannerTarget {
  /** Receives bytes outside of the items; `[` and `]` of their array are among them. */
  outline(bytes: Uint8Array, start: number, end: number): void;
  /** The array of items begins. The outline so far ends with its `[`. */
  itemsBegin(): void;
  /** An item begins. Returns the end of its metadata, or -1 if the scanner has to search the item from its start. */
  head(bytes: Uint8Array, start: number, end: number): number;
  /**
   * An item begins. Returns its end if the target has read all of it, or -1 if the scanner has to search for the end.
   */
  all(bytes: Uint8Array, start: number, end: number): number;
  /** Receives a part of an item that continues in the next chunk. */
  part(bytes: Uint8Array, start: number, end: number): void;
  /** Receives the last part of an item, or all of it. */
  item(bytes: Uint8Array, start: number, end: number): void;
}

/**
 * Finds the items of a list in its bytes, however they are split, in one pass that tracks strings and depth. The items
 * are the elements of the array under the top-level key `items`, or `rows` in a table; they must be objects.
 */
export class ItemScanner {
  readonly #target: ItemScannerTarget;
  /** `"items"`; where a table may come, `"rows"` once a key begins like it. */
  #key = ITEMS;
  readonly #mayBeTable: boolean;
  /** The position of the scanner: outside of the items, between two of them, or inside of one. */
  #place: "outline" | "between" | "item" = "outline";
  /** Between items: `none` before the first item, `may` after an item, `had` after a comma. */
  #comma: "none" | "may" | "had" = "none";
  /** The number of open brackets and braces: of the list outside of its items, else of the item. */
  #depth = 0;
  #inString = false;
  #escaped = false;
  #sawItems = false;
  /** The number of bytes of the key and its colon that come directly before this byte, at depth 1. */
  #matched = 0;

  /** Passes the parts of a list to `target`. With `mayBeTable`, it also accepts a table. */
  constructor(target: ItemScannerTarget, mayBeTable = false) {
    this.#target = target;
    this.#mayBeTable = mayBeTable;
  }

  /** True once the array of items has begun. */
  get sawItems(): boolean {
    return this.#sawItems;
  }

  /** True inside of the array of items. */
  get inItems(): boolean {
    return this.#place !== "outline";
  }

  /** Returns to the start of the latest item, which is scanned again. */
  reopen(): void {
    this.#place = "item";
    this.#depth = 0;
  }

  /** Scans one more chunk. */
  push(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length;) {
      if (this.#place === "item") at = this.#item(chunk, at);
      else if (this.#place === "between") at = this.#between(chunk, at);
      else at = this.#outline(chunk, at);
    }
  }

  #outline(chunk: Uint8Array, start: number): number {
    for (let at = start; at < chunk.length; at++) {
      const byte = chunk[at];
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false;
        else if (byte === BACKSLASH) this.#escaped = true;
        else if (byte === QUOTE) this.#inString = false;
        if (this.#matched === 1 && this.#mayBeTable) this.#key = byte === ROWS[1] ? ROWS : ITEMS;
        // A key with escapes is not recognized, and stays in the outline.
        this.#matched = this.#matched > 0 && this.#matched < this.#key.length && byte === this.#key[this.#matched]
          ? this.#matched + 1
          : 0;
        continue;
      }
      if (byte <= SPACE) continue;
      if (byte === OPEN_BRACKET && this.#depth === 1 && this.#matched === this.#key.length + 1 && !this.#sawItems) {
        this.#target.outline(chunk, start, at + 1);
        this.#sawItems = true;
        this.#place = "between";
        this.#target.itemsBegin();
        return at + 1;
      }
      if (byte === QUOTE) {
        this.#inString = true;
        this.#matched = this.#depth === 1 ? 1 : 0;
        continue;
      }
      this.#matched = byte === COLON && this.#matched === this.#key.length ? this.#matched + 1 : 0;
      if (byte === OPEN_BRACE || byte === OPEN_BRACKET) this.#depth++;
      else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) this.#depth--;
    }
    this.#target.outline(chunk, start, chunk.length);
    return chunk.length;
  }

  #between(chunk: Uint8Array, at: number): number {
    for (; at < chunk.length; at++) {
      const byte = chunk[at];
      if (byte <= SPACE) continue;
      if (byte === COMMA && this.#comma === "may") {
        this.#comma = "had";
      } else if (byte === OPEN_BRACE && this.#comma !== "may") {
        this.#place = "item";
        this.#depth = 0;
        return at;
      } else if (byte === CLOSE_BRACKET && this.#comma !== "had") {
        this.#place = "outline";
        this.#depth = 2;
        this.#matched = 0;
        return at;
      } else {
        const place = this.#comma === "may" ? "a comma or the end of the items" : "an item";
        throw new SyntaxError(`${quoted(byte)} is in the place of ${place}`);
      }
    }
    return at;
  }

  /** One loop over local variables: nearly all bytes of a list pass here. */
  #item(chunk: Uint8Array, start: number): number {
    const end = chunk.length;
    let depth = this.#depth;
    let inString = this.#inString;
    let at = this.#escaped ? start + 1 : start;
    if (depth === 0 && !inString) {
      const all = this.#target.all(chunk, start, end);
      if (all !== -1) {
        this.#place = "between";
        this.#comma = "may";
        this.#target.item(chunk, start, all);
        return all;
      }
      const behind = this.#target.head(chunk, start, end);
      if (behind !== -1) {
        at = behind;
        depth = 1;
      }
    }
    for (;;) {
      if (inString) {
        while (at < end) {
          const byte = chunk[at++];
          if (byte === QUOTE) {
            inString = false;
            break;
          }
          if (byte === BACKSLASH) at++;
        }
      }
      if (at >= end) break;
      const byte = chunk[at++];
      if (byte === QUOTE) {
        inString = true;
      } else if ((byte | BRACE_BIT) === OPEN_BRACE) {
        depth++;
      } else if ((byte | BRACE_BIT) === CLOSE_BRACE && --depth === 0) {
        this.#inString = this.#escaped = false;
        this.#place = "between";
        this.#comma = "may";
        this.#target.item(chunk, start, at);
        return at;
      }
    }
    this.#inString = inString;
    this.#escaped = at > end; // the chunk ends with a backslash
    this.#depth = depth;
    this.#target.part(chunk, start, end);
    return end;
  }
}

function quoted(byte: number): string {
  return byte > 127 ? "a character that is not ASCII" : JSON.stringify(String.fromCharCode(byte));
}

/** Shorter ranges are copied byte by byte, which costs less than a view of them. */
const SHORT = 48;

/** A node of the tree with its keys as bytes. */
interface Node {
  readonly keys: readonly Uint8Array[];
  /** The node below each key; `undefined` if its value is not copied. */
  readonly below: readonly (Node | undefined)[];
  /** The node of all other keys; `undefined` if their values are not copied. */
  readonly others: Node | undefined;
  /** True if the value is copied as it is. */
  readonly isLeaf: boolean;
}

/** The node of a value that is copied as it is. */
const LEAF: Node = { keys: [], below: [], others: undefined, isLeaf: true };

/**
 * Copies the kept fields of objects from their JSON bytes, and skips the rest, before anything is parsed.
 *
 * A projection is exact or declines. Exact means: parsing the copy gives what picking the fields of the parsed object
 * gives, for every text that `JSON.parse` accepts and whose keys are unique in each object on the way to a field. It
 * declines at white space, at escapes in keys, and at more than {@linkcode MAX_ARRAYS} arrays in each other on that
 * way; then the object has to be parsed. For a text that is not JSON the result is undefined.
 */
export class Projector {
  readonly #root: Node;
  readonly #metadata: Node | undefined;
  readonly #labels: Node | undefined;
  readonly #uid: Node | undefined;
  readonly #version: Node | undefined;
  /** The copy of the latest object, up to {@linkcode length}. */
  bytes: Uint8Array = new Uint8Array(4_096);
  /** The length of the copy. */
  length = 0;
  /** The start of the copied value of `metadata`, or -1 if there is none. */
  metadataStart = -1;
  /** The position after it. */
  metadataEnd = -1;
  /** The start of the copied value of `metadata.labels`, or -1 if it is not kept, not there, or no object. */
  labelsStart = -1;
  /** The position after it. */
  labelsEnd = -1;
  /** The position after the copied `metadata.uid`, which ends with a quote. -1 if it is not known. */
  uidEnd = -1;
  /** The same for `metadata.resourceVersion`. */
  versionEnd = -1;
  /** True if labels are not copied by their name; then their position is not known. */
  readonly keepsMetadata: boolean;
  /** The source of the latest projection. */
  #source: Uint8Array = this.bytes;
  /** The source as text, if all of it is ASCII. */
  #text: string | undefined;
  #end = 0;
  /** The number of arrays around the present value. */
  #arrays = 0;
  /** True if the rest of the object may stay unread once all its kept members have been copied. */
  #stopsEarly = false;
  /** True once it has stopped early: then the open objects of the copy are closed. */
  #hasStopped = false;

  /** Keeps the fields of `tree`. */
  constructor(tree: FieldTree) {
    this.#root = nodeOf(tree);
    this.#metadata = memberOf(tree, this.#root, "metadata");
    this.keepsMetadata = tree.below("metadata").keepsOthers;
    const metadata = tree.members.get("metadata");
    const nodeOfMember = (key: string): Node | undefined =>
      metadata && this.#metadata && memberOf(metadata, this.#metadata, key);
    this.#labels = nodeOfMember("labels");
    this.#uid = nodeOfMember("uid");
    this.#version = nodeOfMember("resourceVersion");
  }

  /**
   * Copies the kept fields of the object at `start`. Returns the position after the object, or -1 if it declines, or if
   * the object does not end before `end`. `text` is the source as ASCII text, which is faster to search.
   */
  project(source: Uint8Array, start: number, end: number, text?: string): number {
    return this.#project(source, start, end, text, false);
  }

  /**
   * Copies like {@linkcode project}, for an object that ends at `end`: the bytes after the last kept field are not
   * read. Returns false if it declines.
   */
  projectWhole(source: Uint8Array, start: number, end: number, text?: string): boolean {
    return this.#project(source, start, end, text, true) !== -1;
  }

  #project(source: Uint8Array, start: number, end: number, text: string | undefined, stopsEarly: boolean): number {
    this.#source = source;
    this.#text = text;
    this.#end = end;
    this.#stopsEarly = stopsEarly;
    this.#hasStopped = false;
    this.#arrays = 0;
    this.length = 0;
    this.metadataStart =
      this.metadataEnd =
      this.labelsStart =
      this.labelsEnd =
      this.uidEnd =
      this.versionEnd =
        -1;
    if (source[start] !== OPEN_BRACE) return -1;
    return this.#object(start, this.#root, stopsEarly);
  }

  /**
   * Copies the object at `at`. `isLastKept` means that no kept field follows it. Returns the position after it, or -1.
   */
  #object(at: number, node: Node, isLastKept: boolean): number {
    const source = this.#source;
    const end = this.#end;
    const { keys, below, others } = node;
    const isLast = isLastKept && others === undefined;
    let left = keys.length;
    this.#put(OPEN_BRACE);
    if (at + 1 < end && source[at + 1] === CLOSE_BRACE) {
      this.#put(CLOSE_BRACE);
      return at + 2;
    }
    let isFirst = true;
    for (at++;;) {
      const keyEnd = endOfKey(source, at, end);
      if (keyEnd === -1) return -1;
      const value = keyEnd + 2;
      const found = indexOf(keys, source, at + 1, keyEnd);
      const child = found === -1 ? others : below[found];
      if (found !== -1) left--;
      if (child === undefined) {
        at = keyEnd - at === 14 && source[value] === OPEN_BRACKET && source[at + 1] === LETTER_M
          ? endOfManagedFields(source, value, end, this.#text)
          : skipValue(source, value, end);
      } else {
        const before = this.length;
        if (!isFirst) this.#put(COMMA);
        this.#copy(at, value);
        const copied = this.length;
        at = this.#value(value, child, isLast && left === 0);
        if (at === -1) return -1;
        if (this.length === copied) this.length = before; // nothing is kept of it
        else {
          isFirst = false;
          this.#note(child, copied);
        }
        if (this.#hasStopped || (isLast && left === 0)) {
          this.#hasStopped = true;
          this.#put(CLOSE_BRACE);
          return at;
        }
      }
      if (at === -1 || at >= end) return -1;
      const next = source[at];
      if (next === CLOSE_BRACE) {
        this.#put(CLOSE_BRACE);
        return at + 1;
      }
      if (next !== COMMA) return -1;
      at++;
    }
  }

  /** Copies the kept parts of the value at `at`. Returns the position after the value, or -1. */
  #value(at: number, node: Node, isLast: boolean): number {
    const first = this.#source[at];
    if (!node.isLeaf) {
      if (first === OPEN_BRACE) return this.#object(at, node, isLast);
      if (first === OPEN_BRACKET) return this.#array(at, node);
    }
    const behind = skipValue(this.#source, at, this.#end);
    if (behind !== -1 && (node.isLeaf || first === LETTER_N || node.others !== undefined)) this.#copy(at, behind);
    return behind;
  }

  #array(at: number, node: Node): number {
    if (++this.#arrays > MAX_ARRAYS) return -1;
    const source = this.#source;
    this.#put(OPEN_BRACKET);
    if (at + 1 < this.#end && source[at + 1] === CLOSE_BRACKET) {
      this.#put(CLOSE_BRACKET);
      this.#arrays--;
      return at + 2;
    }
    for (at++;; at++) {
      const before = this.length;
      at = this.#value(at, node, false);
      if (at === -1 || at >= this.#end) return -1;
      if (this.length === before) { for (const byte of NULL) this.#put(byte); }
      this.#put(source[at]);
      if (source[at] === CLOSE_BRACKET) {
        this.#arrays--;
        return at + 1;
      }
      if (source[at] !== COMMA) return -1;
    }
  }

  /** Remembers the position of a copied member if it is the object's metadata, or its labels, uid or version. */
  #note(member: Node, start: number): void {
    if (member === this.#uid) this.uidEnd = this.length;
    else if (member === this.#version) this.versionEnd = this.length;
    else if (member === this.#metadata) {
      this.metadataStart = start;
      this.metadataEnd = this.length;
    } else if (member === this.#labels && this.bytes[start] === OPEN_BRACE) {
      this.labelsStart = start;
      this.labelsEnd = this.length;
    }
  }

  #put(byte: number): void {
    if (this.length === this.bytes.length) this.#grow(1);
    this.bytes[this.length++] = byte;
  }

  #copy(start: number, end: number): void {
    if (this.length + end - start > this.bytes.length) this.#grow(end - start);
    const { bytes } = this;
    const source = this.#source;
    let to = this.length;
    if (end - start > SHORT) bytes.set(source.subarray(start, end), to);
    else for (let from = start; from < end;) bytes[to++] = source[from++];
    this.length += end - start;
  }

  #grow(needed: number): void {
    const larger = new Uint8Array(2 * (this.length + needed));
    larger.set(this.bytes.subarray(0, this.length));
    this.bytes = larger;
  }
}

const NULL = encoder.encode("null");

function nodeOf(tree: FieldTree): Node {
  const members = [...tree.members];
  return {
    keys: members.map(([key]) => encoder.encode(key)),
    below: members.map(([, below]) => below.isNothing ? undefined : nodeOf(below)),
    others: tree.keepsOthers ? LEAF : undefined,
    isLeaf: tree.isLeaf,
  };
}

/** The index of the key that is `bytes[start, end)`; -1 if it is none of them. */
function indexOf(keys: readonly Uint8Array[], bytes: Uint8Array, start: number, end: number): number {
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i];
    if (key.length !== end - start) continue;
    let at = 0;
    while (at < key.length && key[at] === bytes[start + at]) at++;
    if (at === key.length) return i;
  }
  return -1;
}

/** The node below a key, by its text. */
function memberOf(tree: FieldTree, node: Node, key: string): Node | undefined {
  return node.below[[...tree.members.keys()].indexOf(key)];
}
