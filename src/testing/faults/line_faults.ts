/**
 * What can happen to one event of a watch.
 *
 * - `"line"`: half of it arrives, then the watch ends.
 * - `"character"`: it arrives in two chunks, cut inside a character; waits for an event that has one of several bytes.
 * - `"duplicate"`: it arrives twice.
 * - `"reorder"`: it arrives behind the next event of another object, in one chunk with it.
 * - `"lose"`: it does not arrive.
 * - `"corrupt"`: its line is no JSON from the start.
 * - `"corruptObject"`: its line begins as it should, and its end is missing.
 */
export type LineFault = "line" | "character" | "duplicate" | "reorder" | "lose" | "corrupt" | "corruptObject";

/** A line of a watch that is held back. */
interface HeldLine {
  readonly key: string;
  readonly bytes: Uint8Array;
}

/** Where lines go. */
export interface LineSink {
  /** Queues pieces. */
  push(...pieces: readonly Uint8Array[]): void;
  /** Queues pieces that arrive in one chunk, whatever the size of chunks is. */
  pushChunk(...pieces: readonly Uint8Array[]): void;
  /** Lets the next chunk begin so many bytes behind what is queued. */
  cutAfter(bytes: number): void;
}

/** The faults that wait for the next events of one watch: each is for one event, in the order in which they were armed. */
export class LineFaults {
  readonly #armed = new Set<LineFault>();
  #held: HeldLine | undefined;

  /** Whether events may go by untouched. */
  get idle(): boolean {
    return this.#armed.size === 0 && this.#held === undefined;
  }

  /** Waits for the next event. Armed twice before that, it happens once. */
  arm(fault: LineFault): void {
    this.#armed.add(fault);
  }

  /** Sends a line, or what has become of it; returns whether the watch ends by that. */
  send(sink: LineSink, key: string, bytes: Uint8Array): boolean {
    const held = this.#held;
    if (held !== undefined && held.key !== key) {
      this.#held = undefined;
      sink.pushChunk(bytes, held.bytes);
      return false;
    }
    if (held !== undefined) {
      // Another event of the same object: these two stay in order, and the newer one waits instead.
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
        sink.push(bytes.subarray(0, -CLOSING.length), LINE_FEED);
        return false;
    }
  }

  /** Sends what is held back: something else is about to be sent that must come behind it. */
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
/** The end of each line: the object's last brace, the event's, and the line feed. */
const CLOSING = "}}\n";

/** The place behind the first byte of the first character that has several; 0 when there is none. */
function insideCharacter(bytes: Uint8Array): number {
  return bytes.findIndex((byte) => byte >= 0xc0) + 1;
}
