import { IdentityRanges } from "../identity.ts";

/** Where things are in the bytes of an object: found by reading tags and lengths alone. */
export class ProtobufWalker extends IdentityRanges {
  /** Where the field of the metadata begins: its tag. */
  #fieldStart = 0;
  /** Where the metadata begins, behind its length. */
  #metadataStart = 0;
  /** Where it ends. */
  #metadataEnd = 0;
  /** Where managedFields begin. */
  #cutStart = 0;
  /** Where they end. */
  #cutEnd = 0;
  /** Where the last number or length ended. */
  #at = 0;

  /** Walks the metadata of the object in `bytes[start, end)`. @throws {RangeError} when it is no object with metadata. */
  walk(bytes: Uint8Array, start: number, end: number): void {
    this.forget();
    this.#cutStart = this.#cutEnd = 0;
    this.#at = start;
    for (;;) {
      this.#fieldStart = this.#at;
      if (this.#at >= end) throw new RangeError("Cannot read an object: it has no metadata");
      const tag = this.#varint(bytes);
      const size = this.#varint(bytes);
      const stop = this.#at + size;
      if ((tag & 7) !== 2 || stop > end) throw new RangeError("Cannot read an object: it is no message of messages");
      if (tag >>> 3 === 1) return this.#walkMetadata(bytes, stop);
      this.#at = stop;
    }
  }

  #walkMetadata(bytes: Uint8Array, end: number): void {
    this.#metadataStart = this.#at;
    this.#metadataEnd = end;
    while (this.#at < end) {
      const start = this.#at;
      const tag = this.#varint(bytes);
      const size = this.#varint(bytes); // of a number, the number
      if ((tag & 7) === 0) continue;
      const at = this.#at;
      const stop = at + size;
      if ((tag & 7) !== 2 || stop > end) throw new RangeError("Cannot read metadata: a field goes beyond its end");
      switch (tag >>> 3) {
        case 1:
          this.nameStart = at;
          this.nameEnd = stop;
          break;
        case 3:
          this.namespaceStart = at;
          this.namespaceEnd = stop;
          break;
        case 5:
          this.uidStart = at;
          this.uidEnd = stop;
          break;
        case 6:
          this.versionStart = at;
          this.versionEnd = stop;
          break;
        case 17:
          if (this.#cutEnd === 0) this.#cutStart = start;
          else if (this.#cutEnd !== start) throw new RangeError("Cannot read metadata: managedFields stand apart");
          this.#cutEnd = stop;
          break;
      }
      this.#at = stop;
    }
  }

  /** The object that was walked last, in bytes of its own, without managedFields. */
  strip(bytes: Uint8Array, start: number, end: number): Uint8Array {
    const cut = this.#cutEnd - this.#cutStart;
    if (cut === 0) return bytes.slice(start, end);
    const size = this.#metadataEnd - this.#metadataStart - cut;
    let sizeBytes = 1;
    for (let rest = size >>> 7; rest > 0; rest >>>= 7) sizeBytes++;
    const before = this.#fieldStart - start;
    const own = new Uint8Array(before + 1 + sizeBytes + size + end - this.#metadataEnd);
    if (before > 0) own.set(bytes.subarray(start, this.#fieldStart));
    let at = before;
    own[at++] = bytes[this.#fieldStart];
    for (let rest = size, left = sizeBytes; left > 0; rest >>>= 7) own[at++] = --left > 0 ? rest & 127 | 128 : rest;
    own.set(bytes.subarray(this.#metadataStart, this.#cutStart), at);
    own.set(bytes.subarray(this.#cutEnd, end), at + this.#cutStart - this.#metadataStart);
    return own;
  }

  #varint(bytes: Uint8Array): number {
    let byte = bytes[this.#at++];
    if (byte < 128) return byte;
    let value = byte & 127;
    for (let shift = 7;; shift += 7) {
      byte = bytes[this.#at++];
      if (byte === undefined || shift > 63) throw new RangeError("Cannot read an object: a number does not end");
      if (shift < 32) value |= (byte & 127) << shift;
      if (byte < 128) return value >>> 0;
    }
  }
}
