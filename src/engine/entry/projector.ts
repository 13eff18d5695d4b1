/**
 * Copies named fields of objects from their JSON bytes.
 *
 * {@linkcode Projector} is the entry point. It is exact or declines. Then the object is parsed, and `Reduction` picks
 * the fields. It marks no objects, and makes no entries.
 *
 * @module
 */
import { type FieldTree, MAX_ARRAYS } from "../api/fields.ts";
import { encoder } from "../api/object.ts";
import { endOfKey, endOfManagedFields, isKey, skipValue } from "./json_text.ts";

const COMMA = 44;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;
const LETTER_M = 109;
const LETTER_N = 110;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

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
  for (let i = 0; i < keys.length; i++) if (isKey(bytes, start, end, keys[i])) return i;
  return -1;
}

/** The node below a key, by its text. */
function memberOf(tree: FieldTree, node: Node, key: string): Node | undefined {
  return node.below[[...tree.members.keys()].indexOf(key)];
}
