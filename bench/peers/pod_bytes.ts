import { podItem } from "../_data.ts";

const encoder = new TextEncoder();
const HEAD = `"kind":"Pod","apiVersion":"v1",`;

/** One pod in the bytes that a server writes, with a version that can be changed in place. */
export class PodBytes {
  /** The chunk of an HTTP/1.1 body that says that the pod was modified. */
  readonly event: Uint8Array;
  /** The pod as an item of a list, a view into the same bytes: without kind, apiVersion and its first brace. */
  readonly item: Uint8Array;
  /**
   * The beginning of the item up to the end of its metadata: what is asked for as metadata only, without its last
   * brace.
   */
  readonly metadata: Uint8Array;
  /** The pod as an object of its own, a view into the same bytes. */
  readonly object: Uint8Array;
  readonly #version: number;

  /** Pod number `index`; no two have the same name. */
  constructor(index: number) {
    const pod = podItem(index);
    const metadata = pod.metadata as Record<string, unknown>;
    metadata.name = `${metadata.name}-${index.toString(36)}`;
    const json = JSON.stringify(pod);
    const before = `{"type":"MODIFIED","object":`;
    const line = encoder.encode(`${before}{${HEAD}${json.slice(1)}}\n`);
    const size = encoder.encode(`${line.length.toString(16)}\r\n`);
    this.event = new Uint8Array(size.length + line.length + 2);
    this.event.set(size);
    this.event.set(line, size.length);
    this.event.set([13, 10], size.length + line.length);
    const start = size.length + before.length;
    const end = this.event.length - 4; // the event's own brace, the newline, CRLF
    this.object = this.event.subarray(start, end);
    this.item = this.event.subarray(start + 1 + HEAD.length, end);
    this.metadata = this.item.subarray(0, encoder.encode(json.slice(1, json.indexOf(`,"spec":{`))).length);
    const marker = `"resourceVersion":"`;
    this.#version = size.length + line.length - encoder.encode(json.slice(json.indexOf(marker))).length - 2 +
      marker.length;
  }

  /** Sets the version, which must have seven digits. */
  set version(version: number) {
    for (let at = this.#version + 6; at >= this.#version; at--) {
      this.event[at] = 48 + version % 10;
      version = Math.floor(version / 10);
    }
  }
}
