import { DecodeError } from "../../api/errors.ts";

/** The wire type of a number of variable length. */
export const VARINT = 0;
/** The wire type of strings, bytes and messages. */
export const BYTES = 2;

const FIXED_64 = 1;
const FIXED_32 = 5;
const LONGEST_VARINT = 10;
const LARGEST_TAG = 0xffff_ffff;

/**
 * Reads the fields of protobuf messages in place, one at a time. A field that is not as expected, or that ends behind its
 * message, is a `DecodeError`. Groups, which Kubernetes has never written, are refused.
 */
export class FieldReader {
  /** The number of the latest field. */
  field = 0;
  /** Its wire type. */
  wire = 0;
  /** Start of its content; of a field that is cut off, -1 if its length is not known. */
  start = 0;
  /** End of its content. */
  end = 0;
  /** The value of a {@linkcode VARINT}, exact up to 2^53. */
  value = 0;

  /** Reads the field at `at`, of a message that ends at `limit`; returns its end. @throws {DecodeError} */
  next(bytes: Uint8Array, at: number, limit: number): number {
    const end = this.tryNext(bytes, at, limit);
    if (end === -1) throw new DecodeError(`a field at byte ${at} ends behind its message, which ends at ${limit}`);
    return end;
  }

  /** As {@linkcode next}, but returns -1 for a field that does not end before `limit`. @throws {DecodeError} */
  tryNext(bytes: Uint8Array, at: number, limit: number): number {
    this.start = -1;
    const from = at;
    at = this.#varint(bytes, at, limit);
    if (at === -1) return -1;
    const tag = this.value;
    if (tag < 8 || tag > LARGEST_TAG) {
      throw new DecodeError(`found the tag ${tag} at byte ${from}, which is no field's`);
    }
    this.field = tag >>> 3;
    this.wire = tag & 7;
    switch (this.wire) {
      case BYTES:
        at = this.#varint(bytes, at, limit);
        if (at === -1) return -1;
        this.start = at;
        this.end = at + this.value;
        break;
      case VARINT:
        this.end = this.#varint(bytes, at, limit);
        if (this.end === -1) return -1;
        this.start = at;
        break;
      case FIXED_64:
      case FIXED_32:
        this.start = at;
        this.end = at + (this.wire === FIXED_64 ? 8 : 4);
        break;
      default:
        throw new DecodeError(`found the wire type ${this.wire} at byte ${from}, expected 0, 1, 2 or 5`);
    }
    return this.end > limit ? -1 : this.end;
  }

  /** Requires the latest field to have a wire type. @throws {DecodeError} */
  expect(wire: number): void {
    if (this.wire === wire) return;
    throw new DecodeError(`found the wire type ${this.wire} of field ${this.field}, expected ${wire}`);
  }

  /** The latest field, a {@linkcode VARINT}, as a signed number of 64 bits in decimal digits. */
  decimal(bytes: Uint8Array): string {
    if (this.value <= Number.MAX_SAFE_INTEGER) return String(this.value);
    let value = 0n;
    for (let at = this.end - 1; at >= this.start; at--) value = value << 7n | BigInt(bytes[at] & 127);
    return String(BigInt.asIntN(64, value));
  }

  /** Reads a number into `value`; returns its end, or -1 if it is cut off. */
  #varint(bytes: Uint8Array, at: number, limit: number): number {
    if (at < limit && bytes[at] < 128) {
      this.value = bytes[at];
      return at + 1;
    }
    let value = 0;
    let scale = 1;
    for (const stop = at + LONGEST_VARINT; at < stop; scale *= 128) {
      if (at >= limit) return -1;
      const byte = bytes[at++];
      value += (byte & 127) * scale;
      if (byte < 128) {
        this.value = value;
        return at;
      }
    }
    throw new DecodeError(`found a number of more than ${LONGEST_VARINT} bytes that ends behind byte ${at}`);
  }
}
