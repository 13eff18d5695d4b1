import type { Entry, Identity } from "../../src/api/entry.ts";

const SLASH = 47;
const utf8 = new TextDecoder();

/** Where the strings are that say which object it is, each pair a half-open range; both 0 where there is none. */
export abstract class IdentityRanges {
  /** Where `metadata.name` begins. */
  nameStart = 0;
  /** Where it ends. */
  nameEnd = 0;
  /** Where `metadata.namespace` begins. */
  namespaceStart = 0;
  /** Where it ends. */
  namespaceEnd = 0;
  /** Where `metadata.uid` begins. */
  uidStart = 0;
  /** Where it ends. */
  uidEnd = 0;
  /** Where `metadata.resourceVersion` begins. */
  versionStart = 0;
  /** Where it ends. */
  versionEnd = 0;

  /** There is none of them. */
  protected forget(): void {
    this.nameStart =
      this.nameEnd =
      this.namespaceStart =
      this.namespaceEnd =
        0;
    this.uidStart =
      this.uidEnd =
      this.versionStart =
      this.versionEnd =
        0;
  }
}

/** Makes the strings that identify objects: short ones of their own, by two calls of the runtime. */
export class IdentityReader {
  readonly #head = new Uint8Array(2_048);
  #namespace = "";

  /** Who the object is. */
  read(bytes: Uint8Array, ranges: IdentityRanges): Identity {
    const { nameStart, nameEnd, namespaceStart, namespaceEnd, uidStart, uidEnd, versionStart, versionEnd } = ranges;
    if (!spells(this.#namespace, bytes, namespaceStart, namespaceEnd)) {
      this.#namespace = utf8.decode(bytes.subarray(namespaceStart, namespaceEnd));
    }
    let length = 0;
    if (namespaceStart < namespaceEnd) {
      length = this.#copy(bytes, namespaceStart, namespaceEnd, length);
      this.#head[length++] = SLASH;
    }
    length = this.#copy(bytes, nameStart, nameEnd, length);
    const key = utf8.decode(this.#head.subarray(0, length));
    const uid = this.#copy(bytes, uidStart, uidEnd, 0);
    const bothBytes = this.#copy(bytes, versionStart, versionEnd, uid);
    const both = utf8.decode(this.#head.subarray(0, bothBytes));
    const cut = both.length === bothBytes ? uid : utf8.decode(this.#head.subarray(0, uid)).length;
    return { key, namespace: this.#namespace, uid: both.slice(0, cut), resourceVersion: both.slice(cut) };
  }

  #copy(bytes: Uint8Array, start: number, end: number, at: number): number {
    const head = this.#head;
    if (at + end - start > head.length) throw new RangeError("Cannot read an object: its name is too long");
    while (start < end) head[at++] = bytes[start++];
    return at;
  }
}

/** Whether an entry is the same version of the same object. */
export function isSame(entry: Entry<unknown> | undefined, identity: Identity): entry is Entry<unknown> {
  return entry !== undefined && entry.resourceVersion === identity.resourceVersion && entry.uid === identity.uid;
}

/** Whether `text` is what `bytes[start, end)` spell, all ASCII. */
function spells(text: string, bytes: Uint8Array, start: number, end: number): boolean {
  if (text.length !== end - start) return false;
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) !== bytes[start + i]) return false;
  return true;
}
