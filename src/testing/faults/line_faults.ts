/**
 * Fault of one event of a watch.
 *
 * - `"line"`: half of the line arrives, then the watch ends.
 * - `"character"`: the line arrives in two chunks, split inside a character; applies to the next event with a
 *   multi-byte character.
 * - `"duplicate"`: the event arrives twice.
 * - `"reorder"`: the event arrives after the next event of another object, in one chunk with it.
 * - `"lose"`: the event does not arrive.
 * - `"corrupt"`: the line is not JSON from the start.
 * - `"corruptObject"`: the line begins correctly and lacks its end.
 *
 * In protobuf a line is a frame; one that is corrupt has a wrong length, or a wrong end.
 */
export type LineFault = "line" | "character" | "duplicate" | "reorder" | "lose" | "corrupt" | "corruptObject";

/** A line that is held back until an event of another object. */
interface HeldLine {
  readonly key: string;
  readonly bytes: Uint8Array;
}

/** Destination of the lines. */
export interface LineSink {
  /** Queues pieces. */
  push(...pieces: readonly Uint8Array[]): void;
  /** Queues pieces that arrive in one chunk, whatever the chunk size. */
  pushChunk(...pieces: readonly Uint8Array[]): void;
  /** Starts a new chunk that many bytes after what is queued. */
  cutAfter(bytes: number): void;
}

/** The faults armed for the next events of one watch: each applies to one event, in the order of arming. */
export class LineFaults {
  readonly #armed = new Set<LineFault>();
  #held: HeldLine | undefined;

  /** True if the next event passes unchanged. */
  get idle(): boolean {
    return this.#armed.size === 0 && this.#held === undefined;
  }

  /** Arms a fault for the next event. Arming it twice has no further effect. */
  arm(fault: LineFault): void {
    this.#armed.add(fault);
  }

  /** Sends a line, with the next fault applied; returns true if the watch must end. */
  send(sink: LineSink, key: string, bytes: Uint8Array): boolean {
    const held = this.#held;
    if (held !== undefined && held.key !== key) {
      this.#held = undefined;
      sink.pushChunk(bytes, held.bytes);
      return false;
    }
    if (held !== undefined) {
      // Another event of the same object: keep both in order and hold back the newer one.
      sink.push(held.bytes);
      this.#held = { key, bytes };
      return false;
    }
    switch (this.#take(bytes)) {
      case undefined:
        sink.push(bytes);
        return false;
      case "lose":
        return false;
      case "line":
        sink.push(bytes.subarray(0, bytes.length >>> 1));
        return true;
      case "character":
        sink.cutAfter(insideCharacter(bytes));
        sink.push(bytes);
        return false;
      case "duplicate":
        sink.push(bytes, bytes);
        return false;
      case "reorder":
        this.#held = { key, bytes };
        return false;
      case "corrupt":
        sink.push(NOT_JSON, bytes);
        return false;
      case "corruptObject":
        if (bytes[0] === OPEN_BRACE) sink.push(bytes.subarray(0, -CLOSING.length), LINE_FEED);
        else sink.push(bytes.subarray(0, -CLOSING.length), NOT_PROTOBUF);
        return false;
    }
  }

  /** Sends the line that is held back, before something that must follow it. */
  flush(sink: LineSink): void {
    if (this.#held !== undefined) sink.push(this.#held.bytes);
    this.#held = undefined;
  }

  #take(bytes: Uint8Array): LineFault | undefined {
    for (const fault of this.#armed) {
      if (fault === "character" && insideCharacter(bytes) === 0) continue;
      this.#armed.delete(fault);
      return fault;
    }
  }
}

const encoder = new TextEncoder();
const NOT_JSON = encoder.encode("}");
const LINE_FEED = encoder.encode("\n");
const OPEN_BRACE = 123;
/** In place of the end of a frame of protobuf, of the same length. */
const NOT_PROTOBUF = new Uint8Array([0xff, 0xff, 0xff]);
/** The end of each line: the closing braces of object and event, and the line feed. */
const CLOSING = "}}\n";

/** Returns the offset after the first byte of the first multi-byte character; 0 if there is none. */
function insideCharacter(bytes: Uint8Array): number {
  return bytes.findIndex((byte) => byte >= 0xc0) + 1;
}
