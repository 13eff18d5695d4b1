import { IdentityRanges } from "../identity.ts";

const BYTE_STRING = 2;
const TEXT_STRING = 3;
const ARRAY = 4;
const MAP = 5;
const TAG = 6;

const encoder = new TextEncoder();
const TYPE = encoder.encode("type");
const OBJECT = encoder.encode("object");
const METADATA = encoder.encode("metadata");
const NAME = encoder.encode("name");
const NAMESPACE = encoder.encode("namespace");
const UID = encoder.encode("uid");
const RESOURCE_VERSION = encoder.encode("resourceVersion");
const MANAGED_FIELDS = encoder.encode("managedFields");
const ITEMS = encoder.encode("items");

/** Where things are in the CBOR of an event or an object, found by reading heads alone. Keys may stand in any order. */
export class CborWalker extends IdentityRanges {
  /** Where an event's type begins. */
  typeStart = 0;
  /** Where the object begins: of an event the one it is about. */
  objectStart = 0;
  /** Where it ends. */
  objectEnd = 0;
  /** Where the metadata begins: its head. */
  #metadataStart = 0;
  /** Where its first key begins. */
  #membersStart = 0;
  /** How many members it has. */
  #members = 0;
  /** Where managedFields begin, their key included. */
  #cutStart = 0;
  /** Where they end. */
  #cutEnd = 0;
  /** Where the last head ended. */
  #at = 0;
  /** The major type of the last head. */
  #major = 0;

  /** Walks an event. @throws {RangeError} when it is none. */
  walkEvent(bytes: Uint8Array, start: number): void {
    this.#at = start;
    for (let left = this.#mapSize(bytes); left > 0; left--) {
      const size = this.#keySize(bytes);
      const key = this.#at;
      this.#at += size;
      if (isKey(bytes, key, size, TYPE)) {
        const value = this.#keySize(bytes);
        this.typeStart = this.#at;
        this.#at += value;
      } else if (isKey(bytes, key, size, OBJECT)) this.walk(bytes, this.#at);
      else this.#at = endOfItem(bytes, this.#at, bytes.length);
    }
  }

  /** Walks an object to its end, which {@linkcode objectEnd} says then. @throws {RangeError} when it is none. */
  walk(bytes: Uint8Array, start: number): void {
    this.forget();
    this.#cutStart = this.#cutEnd = 0;
    this.#metadataStart = 0;
    this.#at = this.objectStart = start;
    for (let left = this.#mapSize(bytes); left > 0; left--) {
      const size = this.#keySize(bytes);
      const key = this.#at;
      this.#at += size;
      if (isKey(bytes, key, size, METADATA)) this.#walkMetadata(bytes);
      else this.#at = endOfItem(bytes, this.#at, bytes.length);
    }
    this.objectEnd = this.#at;
  }

  #walkMetadata(bytes: Uint8Array): void {
    this.#metadataStart = this.#at;
    this.#members = this.#mapSize(bytes);
    this.#membersStart = this.#at;
    for (let left = this.#members; left > 0; left--) {
      const start = this.#at;
      const size = this.#keySize(bytes);
      const key = this.#at;
      const value = key + size;
      this.#at = endOfItem(bytes, value, bytes.length);
      if (isKey(bytes, key, size, NAME)) {
        this.nameStart = stringStart(bytes, value);
        this.nameEnd = this.#at;
      } else if (isKey(bytes, key, size, NAMESPACE)) {
        this.namespaceStart = stringStart(bytes, value);
        this.namespaceEnd = this.#at;
      } else if (isKey(bytes, key, size, UID)) {
        this.uidStart = stringStart(bytes, value);
        this.uidEnd = this.#at;
      } else if (isKey(bytes, key, size, RESOURCE_VERSION)) {
        this.versionStart = stringStart(bytes, value);
        this.versionEnd = this.#at;
      } else if (isKey(bytes, key, size, MANAGED_FIELDS)) {
        this.#cutStart = start;
        this.#cutEnd = this.#at;
      }
    }
  }

  /** The object that was walked last, in bytes of its own, without managedFields. */
  strip(bytes: Uint8Array): Uint8Array {
    const { objectStart, objectEnd } = this;
    if (this.#cutEnd === 0) return bytes.slice(objectStart, objectEnd);
    const members = this.#members - 1;
    const headBytes = members < 24 ? 1 : 2;
    const before = this.#metadataStart - objectStart;
    const first = this.#cutStart - this.#membersStart;
    const own = new Uint8Array(before + headBytes + first + objectEnd - this.#cutEnd);
    own.set(bytes.subarray(objectStart, this.#metadataStart));
    own[before] = MAP << 5 | (headBytes === 1 ? members : 24);
    if (headBytes === 2) own[before + 1] = members;
    own.set(bytes.subarray(this.#membersStart, this.#cutStart), before + headBytes);
    own.set(bytes.subarray(this.#cutEnd, objectEnd), before + headBytes + first);
    return own;
  }

  /** Where the objects of a list begin, one behind the other, and how many they are; and the list's version. */
  walkList(bytes: Uint8Array): { readonly start: number; readonly count: number; readonly version: string } {
    let start = -1;
    let count = 0;
    let version = "";
    this.#at = 0;
    for (let left = this.#mapSize(bytes); left > 0; left--) {
      const size = this.#keySize(bytes);
      const key = this.#at;
      const value = this.#at += size;
      if (isKey(bytes, key, size, ITEMS)) {
        count = this.#head(bytes);
        if (this.#major !== ARRAY) throw new RangeError("Cannot read a list: its items are no array");
        start = this.#at;
      } else if (isKey(bytes, key, size, METADATA)) {
        this.#walkMetadata(bytes);
        version = new TextDecoder().decode(bytes.subarray(this.versionStart, this.versionEnd));
      }
      this.#at = endOfItem(bytes, value, bytes.length);
    }
    if (start === -1) throw new RangeError("Cannot read a list: it has no items");
    return { start, count, version };
  }

  #mapSize(bytes: Uint8Array): number {
    let size = this.#head(bytes);
    while (this.#major === TAG) size = this.#head(bytes); // what says that it is CBOR
    if (this.#major !== MAP) throw new RangeError("Cannot read CBOR: expected a map");
    return size;
  }

  #keySize(bytes: Uint8Array): number {
    const size = this.#head(bytes);
    if (this.#major !== BYTE_STRING && this.#major !== TEXT_STRING) {
      throw new RangeError("Cannot read CBOR: expected a string");
    }
    return size;
  }

  #head(bytes: Uint8Array): number {
    const first = bytes[this.#at++];
    if (first === undefined) throw new RangeError("Cannot read CBOR: it ends too early");
    this.#major = first >> 5;
    const size = first & 31;
    if (size < 24) return size;
    const value = argument(bytes, this.#at, size);
    this.#at += 1 << (size - 24);
    return value;
  }
}

/** The number behind a head, in 1, 2, 4 or 8 bytes. @throws {RangeError} for an item of indefinite length. */
export function argument(bytes: Uint8Array, at: number, size: number): number {
  switch (size) {
    case 24:
      return bytes[at];
    case 25:
      return bytes[at] << 8 | bytes[at + 1];
    case 26:
      return word(bytes, at);
    case 27:
      return word(bytes, at) * 4_294_967_296 + word(bytes, at + 4);
    default:
      throw new RangeError("Cannot read CBOR: found an item of indefinite length, which Kubernetes does not write");
  }
}

function word(bytes: Uint8Array, at: number): number {
  return (bytes[at] << 24 | bytes[at + 1] << 16 | bytes[at + 2] << 8 | bytes[at + 3]) >>> 0;
}

/** Where the item that begins at `at` ends; -1 when that is beyond `end`. */
export function endOfItem(bytes: Uint8Array, at: number, end: number): number {
  for (let left = 1; left > 0; left--) {
    if (at >= end) return -1;
    const first = bytes[at++];
    const size = first & 31;
    let value = size;
    if (size >= 24) {
      value = argument(bytes, at, size);
      at += 1 << (size - 24);
      if (at > end) return -1;
    }
    switch (first >> 5) {
      case BYTE_STRING:
      case TEXT_STRING:
        at += value;
        break;
      case ARRAY:
        left += value;
        break;
      case MAP:
        left += 2 * value;
        break;
      case TAG:
        left++;
        break;
    }
  }
  return at > end ? -1 : at;
}

/** Where the text of the string that begins at `at` begins. */
function stringStart(bytes: Uint8Array, at: number): number {
  const size = bytes[at] & 31;
  return size < 24 ? at + 1 : at + 1 + (1 << (size - 24));
}

function isKey(bytes: Uint8Array, start: number, size: number, key: Uint8Array): boolean {
  if (size !== key.length) return false;
  for (let i = 0; i < size; i++) if (bytes[start + i] !== key[i]) return false;
  return true;
}
