import { StringCache } from "../strings.ts";
import { argument } from "./walker.ts";

/** The tag that says of what follows that it is CBOR. */
const SELF_DESCRIBED = 55_799;

/** Decodes CBOR as Kubernetes writes it, where strings are byte strings, into the values that `JSON.parse` gives. */
export class CborDecoder {
  readonly #strings = new StringCache();
  #bytes: Uint8Array = new Uint8Array(0);
  #at = 0;

  /** The value. @throws {RangeError} when it is not CBOR, or more than JSON can say. */
  decode(bytes: Uint8Array): unknown {
    this.#bytes = bytes;
    this.#at = 0;
    const value = this.#value();
    if (this.#at !== bytes.length) throw new RangeError("Cannot decode CBOR: it is no single item");
    return value;
  }

  #value(): unknown {
    const bytes = this.#bytes;
    const first = bytes[this.#at++];
    const size = first & 31;
    const value = size < 24 ? size : this.#argument(size);
    switch (first >> 5) {
      case 0:
        return value;
      case 1:
        // Beyond what a number can count, both steps would round.
        return value < Number.MAX_SAFE_INTEGER ? -1 - value : Number(-1n - this.#view().getBigUint64(this.#at - 8));
      case 2:
      case 3: {
        const start = this.#at;
        this.#at += value;
        return this.#strings.read(bytes, start, this.#at);
      }
      case 4: {
        const array: unknown[] = new Array(value);
        for (let i = 0; i < value; i++) array[i] = this.#value();
        return array;
      }
      case 5: {
        const object: Record<string, unknown> = {};
        for (let i = 0; i < value; i++) {
          const key = this.#key();
          if (key === "__proto__") define(object, key, this.#value());
          else object[key] = this.#value();
        }
        return object;
      }
      case 6:
        if (value !== SELF_DESCRIBED) throw new RangeError(`Cannot decode CBOR: found tag ${value}`);
        return this.#value();
      default:
        return this.#simple(size);
    }
  }

  #simple(size: number): unknown {
    switch (size) {
      case 20:
        return false;
      case 21:
        return true;
      case 22:
        return null;
      case 25:
        return this.#view().getFloat16(this.#at - 2);
      case 26:
        return this.#view().getFloat32(this.#at - 4);
      case 27:
        return this.#view().getFloat64(this.#at - 8);
      default:
        throw new RangeError(`Cannot decode CBOR: found simple value ${size}`);
    }
  }

  #view(): DataView {
    return new DataView(this.#bytes.buffer, this.#bytes.byteOffset);
  }

  #argument(size: number): number {
    const value = argument(this.#bytes, this.#at, size);
    this.#at += 1 << (size - 24);
    return value;
  }

  #key(): string {
    const first = this.#bytes[this.#at++];
    let size = first & 31;
    if (size >= 24) size = this.#argument(size);
    if (first >> 5 !== 2 && first >> 5 !== 3) throw new RangeError("Cannot decode CBOR: found a key that is no string");
    const start = this.#at;
    this.#at += size;
    return this.#strings.read(this.#bytes, start, this.#at);
  }
}

function define(object: object, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}
