/**
 * Errors as text for people, and their output where nobody asked for them.
 *
 * {@linkcode ConsoleReporter} is the only place of the library that writes to a console; `error_line.ts` makes one line of an
 * error and its causes, and `informer_error.ts` has the base of all errors. This folder knows no Kubernetes.
 *
 * @module
 */
import { monotonicMs } from "../async/time/monotonic_ms.ts";
import { causesOf, errorLine, messageOf } from "./error_line.ts";
import { redactSecrets } from "./redact_secrets.ts";

/** The shortest time between two lines about one cause. */
const PERIOD_MS = 60_000;

/** The largest number of lines within a period, over all causes. */
const MAX_LINES = 20;

/** The longest line, in characters. */
const MAX_LENGTH = 600;

/** The number of causes that are remembered. */
const MAX_CAUSES = 1_000;

interface Known {
  /** The monotonic time of its last line. */
  writtenMs: number;
  /** The number of errors since that line. */
  repeats: number;
}

/**
 * Writes errors to the console (standard error in Deno and Node) where no `onError` is given: each new cause once, in one
 * line without secrets, and a cause that remains at most once a minute, with the number of repeats. After 20 lines of a
 * minute, errors are only counted, and their number is written with the next line.
 *
 * It has no timer: a line is written when an error is reported, or never.
 */
export class ConsoleReporter {
  readonly #known = new Map<string, Known>();
  /** The beginning of the present period, and the lines written in it. */
  #period = { beganMs: -Infinity, lines: 0 };
  /** The number of errors that were left out since the last line, because of `MAX_LINES`. */
  #leftOut = 0;

  /**
   * Reports an error of `subject`, which begins the line: `informer of "pods"`. Errors that differ only by `key`, the object that
   * they are about, by its name, or by a version that they name, have one cause.
   */
  report(subject: string, error: unknown, key = ""): void {
    const nowMs = monotonicMs();
    const cause = causeKey(error, key);
    const known = this.#known.get(cause);
    if (known !== undefined && nowMs - known.writtenMs < PERIOD_MS) {
      known.repeats++;
      return;
    }
    if (nowMs - this.#period.beganMs >= PERIOD_MS) this.#period = { beganMs: nowMs, lines: 0 };
    if (this.#period.lines >= MAX_LINES) {
      this.#leftOut++;
      return;
    }
    this.#period.lines++;
    if (this.#known.size >= MAX_CAUSES) this.#known.clear();
    this.#known.set(cause, { writtenMs: nowMs, repeats: 0 });
    const notes = [
      ...(known?.repeats ? [`${known.repeats} more times since the last line`] : []),
      ...(this.#leftOut > 0 ? [`${this.#leftOut} errors of other causes were left out`] : []),
    ];
    this.#leftOut = 0;
    const line = redactSecrets(`${subject}: ${errorLine(error)}`);
    const shown = line.length > MAX_LENGTH ? `${line.slice(0, MAX_LENGTH)}…` : line;
    console.warn(notes.length === 0 ? shown : `${shown} (${notes.join("; ")})`);
  }
}

/** Returns a text that errors of one cause have in common, whatever request or object they are about. */
function causeKey(error: unknown, key: string): string {
  const root = causesOf(error).at(-1);
  const text = messageOf(root);
  // "Cannot list "pods": 403 …" and "Cannot watch "pods": 403 …" have one cause.
  const reason = /^Cannot [^]*?": ([^]+)$/.exec(text)?.[1] ?? text;
  const words = [key, key.slice(key.lastIndexOf("/") + 1)].filter((word) => word !== "");
  const common = words.reduce((rest, word) => rest.replaceAll(word, ""), reason.replaceAll(/\bversion "?\d+/g, ""));
  return `${root instanceof Error ? root.name : typeof root}: ${common}`;
}
