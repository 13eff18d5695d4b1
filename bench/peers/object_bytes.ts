import type { Item } from "../_data.ts";

const encoder = new TextEncoder();
/** Makes one character of each byte, so that places in the text are places in the bytes. */
const oneByte = new TextDecoder("latin1");
const DIGITS = encoder.encode("0123456789abcdefghijklmnopqrstuvwxyz");

/** Room before an object for the longest beginning of its event: the chunk's size, CRLF, and the type. */
const HEADROOM = 48;

/** After an object: the event's own brace, the newline, CRLF. */
const TAIL = encoder.encode("}\n\r\n");

/** The type of an event. */
export type EventType = "ADDED" | "MODIFIED" | "DELETED";

/** Writes the last digits of a number, so many that they end at `end`. */
export function writeDigits(bytes: Uint8Array, end: number, count: number, number: number, base = 10): void {
  for (let at = end - 1; at >= end - count; at--) {
    bytes[at] = DIGITS[number % base];
    number = Math.floor(number / base);
  }
}

/** One object in the bytes that a server writes, whose values can be changed in place. */
export class ObjectBytes {
  /** The object by itself. */
  readonly object: Uint8Array;
  /** The object as an item of a list, a view into the same bytes: without kind, apiVersion and its first brace. */
  readonly item: Uint8Array;
  /**
   * The beginning of the item up to the end of its metadata: what is asked for as metadata only, without its last
   * brace.
   */
  readonly metadata: Uint8Array;
  readonly #buffer: Uint8Array;
  readonly #version: number;
  #type?: EventType;
  #event: Uint8Array;

  /** Encodes an item of a list, whose version has seven digits. */
  constructor(kind: string, apiVersion: string, item: Item) {
    const json = JSON.stringify(item);
    const head = `"kind":"${kind}","apiVersion":"${apiVersion}",`;
    const object = encoder.encode(`{${head}${json.slice(1)}`);
    const end = HEADROOM + object.length;
    this.#event = this.#buffer = new Uint8Array(end + TAIL.length);
    this.#buffer.set(object, HEADROOM);
    this.#buffer.set(TAIL, end);
    this.object = this.#buffer.subarray(HEADROOM, end);
    this.item = this.object.subarray(1 + head.length);
    this.metadata = this.item.subarray(0, encoder.encode(json.slice(1, json.indexOf(`,"spec":{`))).length);
    this.#version = this.after(`"resourceVersion":"`) + 7;
  }

  /** The chunk of an HTTP/1.1 body with an event of this type. It is valid until the next call with another type. */
  event(type: EventType): Uint8Array {
    if (this.#type === type) return this.#event;
    const before = `{"type":"${type}","object":`;
    const size = before.length + this.object.length + 2; // the event's own brace, the newline
    const head = encoder.encode(`${size.toString(16)}\r\n${before}`);
    const start = HEADROOM - head.length;
    this.#buffer.set(head, start);
    this.#type = type;
    return this.#event = this.#buffer.subarray(start);
  }

  /** Sets the version, which must have seven digits. */
  set version(version: number) {
    writeDigits(this.object, this.#version, 7, version);
  }

  /** The end of an ASCII text in the object, the first time. @throws {Error} if the object does not have it. */
  after(text: string): number {
    const [place] = this.places(text);
    if (place === undefined) throw new Error(`Cannot find ${text} in an object`);
    return place + text.length;
  }

  /** The beginnings of an ASCII text in the object. */
  places(text: string): number[] {
    const object = oneByte.decode(this.object);
    const places: number[] = [];
    for (let at = object.indexOf(text); at !== -1; at = object.indexOf(text, at + 1)) places.push(at);
    return places;
  }
}
