import type { ListPart } from "../../src/api/change.ts";
import type { Entry } from "../../src/api/entry.ts";
import type { KnownEntries } from "../../src/api/options.ts";
import type { Status } from "../../src/api/status.ts";
import type { Pod } from "../../src/kinds/core/v1.ts";
import type { EndOfFrame } from "./frames.ts";

/** What a watch says, once: about an object, or why it ends. */
export type WatchFrame =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly entry: Entry<Pod> }
  | { readonly type: "BOOKMARK"; readonly entry: Entry<Pod> }
  | { readonly type: "ERROR"; readonly status: Status };

/** Pods in an encoding that is not JSON. */
export interface Format {
  /** What is asked for, in lists and watches. */
  readonly accept: string;
  /** Where the frames of a watch end. */
  readonly endOfFrame: EndOfFrame;
  /** Reads one frame of a watch. @throws {RangeError} when it is none. */
  readFrame(bytes: Uint8Array, start: number, end: number, known: KnownEntries["known"]): WatchFrame;
  /** Reads a list, part by part. @throws {RangeError} when it is none. */
  readList(body: ReadableStream<Uint8Array>, known: KnownEntries["known"]): AsyncIterable<ListPart<Pod>>;
}

/** The type of an event by the first character of its name: no two have the same. */
export function eventType(first: number): WatchFrame["type"] {
  switch (first) {
    case 65:
      return "ADDED";
    case 77:
      return "MODIFIED";
    case 68:
      return "DELETED";
    case 66:
      return "BOOKMARK";
    case 69:
      return "ERROR";
    default:
      throw new RangeError(`Cannot read an event: its type begins with byte ${first}`);
  }
}
