/**
 * Decodes the log of a container, each of whose lines begins with its time.
 *
 * {@linkcode LogReader} is the entry point. It bounds long lines, and does not decide which lines are new.
 *
 * @module
 */
import { decoder } from "../../api/object.ts";
import { preciseTime } from "../../api/precise_time.ts";
import { type BodyDecoder, LineSplitter } from "./body_reader.ts";

/** A line in the response to a request for a log. */
export interface ReceivedLine {
  /** Its time as `preciseTime` writes it, or `""` if it has none: then a kubelet did not write it. */
  readonly time: string;
  /** Its text, without the time and the line break. */
  readonly text: string;
  /** True if the end of the text was left out. */
  readonly isTruncated: boolean;
  /** True if no line break followed before the end of the response. */
  readonly isOpen: boolean;
}

/** The longest time with the space after it, in bytes: nanoseconds, and a zone with hours and minutes. */
const PREFIX_BYTES = 36;

const SPACE = 32;
const CARRIAGE_RETURN = 13;

/** Cuts a log into lines, and reads their times. */
export class LogReader implements BodyDecoder<readonly ReceivedLine[]> {
  readonly #lines: LineSplitter;

  /** Keeps about `maxLineBytes` bytes of each line. */
  constructor(maxLineBytes: number) {
    this.#lines = new LineSplitter(maxLineBytes + PREFIX_BYTES, true);
  }

  /** Returns the lines that end in this chunk. */
  push(chunk: Uint8Array): readonly ReceivedLine[] {
    const lines: ReceivedLine[] = [];
    this.#lines.push(chunk, (bytes, start, end) => lines.push(this.#read(bytes, start, end, false)));
    return lines;
  }

  /** Returns the line at the end that has no line break. */
  end(): readonly ReceivedLine[] | undefined {
    const lines: ReceivedLine[] = [];
    this.#lines.end((bytes, start, end) => lines.push(this.#read(bytes, start, end, true)));
    return lines.length === 0 ? undefined : lines;
  }

  #read(bytes: Uint8Array, start: number, end: number, isOpen: boolean): ReceivedLine {
    const { isTruncated } = this.#lines;
    const most = Math.min(end, start + PREFIX_BYTES);
    let space = start;
    while (space < most && bytes[space] !== SPACE) space++;
    // Decoded apart, so that a kept time keeps no text in memory.
    const time = preciseTime(decoder.decode(bytes.subarray(start, space)));
    if (!isTruncated && bytes[end - 1] === CARRIAGE_RETURN) end--;
    const text = bytes.subarray(time === undefined ? start : Math.min(space + 1, end), end);
    // A decoder of its own, as `stream` makes it leave out a character that was cut.
    const read = isTruncated ? new TextDecoder().decode(text, { stream: true }) : decoder.decode(text);
    return { time: time ?? "", text: read, isTruncated, isOpen };
  }
}
