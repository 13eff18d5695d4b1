/**
 * Errors as text: one line, the chain of causes, redaction, similar names, and the console.
 *
 * {@linkcode errorLine} and {@linkcode ConsoleReporter} are the entry points. Only this file writes to the console,
 * when a program has no `onError`. It adds no remedies, except for changes to frozen objects: messages contain them,
 * and `cli/shared` has remedies for commands.
 *
 * @module
 */
import { callObserver } from "../async/signals.ts";
import { monotonicMs } from "../async/time.ts";

/** Returns an error's message, or the text of any other thrown value. Never throws. */
export function messageOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? thrown.message : String(thrown);
  } catch {
    return "a value that has no text"; // for example an object without a prototype
  }
}

/** Cuts a text from somebody else to `most` characters, so that it fits in an error message. */
export function quoted(text: string, most = 100): string {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}

/** Returns an error's name, or the type of any other thrown value. */
export function errorName(thrown: unknown): string {
  return thrown instanceof Error ? thrown.name : typeof thrown;
}

/** The texts of V8, JavaScriptCore and SpiderMonkey for a call, a read or a name that is not there. */
const DEFECT = /is not (?:a function|a constructor|iterable|an object|defined)|^Cannot (?:read|set|destructure)/;

/**
 * Returns `true` for an error that only a defect of the program throws, or a runtime that lacks a function: a
 * `TypeError` of `fetch` says that the network failed.
 */
export function isDefect(error: unknown): boolean {
  // Words of the runtimes: they have no code.
  return error instanceof ReferenceError || (error instanceof TypeError && DEFECT.test(error.message));
}

/** The largest number of errors to follow in a chain of causes. */
const MAX_CAUSES = 8;

/**
 * Returns an error and its causes, the outermost first. An `AggregateError` without a cause is followed by its first
 * error.
 */
export function causesOf(error: unknown): readonly unknown[] {
  const found: unknown[] = [];
  for (let next = error; next !== undefined && found.length < MAX_CAUSES && !found.includes(next);) {
    found.push(next);
    if (!(next instanceof Error)) break;
    next = next.cause ?? (next instanceof AggregateError ? next.errors[0] : undefined);
  }
  return found;
}

/** Errors whose message already says what matters, so that {@linkcode errorLine} leaves out their causes. */
export const COMPLETE: WeakSet<object> = new WeakSet();

/**
 * Returns an error and its causes as one line: the messages, separated by colons. Use it to log an error with the
 * reason that is hidden in its `cause`.
 *
 * If a message ends with a second sentence, such as a remedy, the cause follows in parentheses. A message that an
 * earlier message includes is left out. Never throws.
 *
 * @example
 * ```ts
 * import { errorLine } from "@kube/informer";
 * import { assertEquals } from "@std/assert";
 *
 * const error = new Error("Cannot sync", { cause: new Error("no route to host") });
 * assertEquals(errorLine(error), "Cannot sync: no route to host");
 * ```
 */
export function errorLine(error: unknown): string {
  let line = "";
  for (const cause of causesOf(error)) {
    const text = oneLine(messageOf(cause)) || (cause instanceof Error ? cause.name : "");
    // The message before it names the flag that is missing.
    const isPermission = cause instanceof Error && cause.name === "NotCapable" && line.includes("--allow-");
    if (text === "" || isPermission || line.includes(text)) continue;
    // A colon cannot follow a second sentence, which is a remedy.
    line = line === "" ? text : /[.?] /.test(line) ? `${line} (${text})` : `${line.replace(/[.:;]$/, "")}: ${text}`;
    if (COMPLETE.has(cause as object)) break;
  }
  return line;
}

/** Appends a sentence to a text, and adds a period between them if it is missing. */
export function withSentence(text: string, sentence: string): string {
  return `${text}${/[.?]$/.test(text) ? "" : "."} ${sentence}`;
}

/** Puts a text on one line, with one blank between words. */
export function oneLine(text: string): string {
  return text.trim().split(/\s+/).join(" ");
}

/** Returns a runtime's reason for a failed `fetch`, without the address, which the caller names. */
export function withoutAddress(message: string): string {
  return message.replace(/^fetch failed: /, "")
    .replace(/error sending request(?: from \S+)? for (?:url )?\S+(?: \([^)]*\))?: /, "");
}

/** Replaces a secret. */
export const REDACTED = "[redacted]";

/**
 * Redacts known secrets in a text, the longest first, so that a secret that contains another secret is redacted
 * completely. Texts with fewer than four characters are not redacted, because that would damage words.
 */
export function withoutSecrets(text: string, secrets: Iterable<string>): string {
  const known = [...secrets].filter(({ length }) => length >= 4).sort((a, b) => b.length - a.length);
  return known.reduce((rest, secret) => rest.replaceAll(secret, REDACTED), text);
}

/** Words that precede a secret or end a secret's name. */
const SECRET_WORD = "secret|token|passw(?:or)?d|passphrase|credential|key";

/** Texts that are secret by their form. */
const PATTERNS: readonly RegExp[] = [
  /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z0-9 ]*-----|$)/g,
  // JSON Web Tokens, and the tokens of EKS.
  /\beyJ[\w-]{8,}(?:\.[\w-]*){0,4}/g,
  /\bk8s-aws-v\d\.[\w-]+/g,
  // The password of an address.
  /(?<=:\/\/[^\s/:@]*:)[^\s/@]+(?=@)/g,
  /(?<=\b(?:bearer|basic)\s+)[\w.~+/=-]{6,}/gi,
  after(`(?:${SECRET_WORD})["']? ?[:=] ?`),
  // The word after a flag, unless the sentence continues about the flag: "the --token flag must be given".
  after(
    `(?<![\\w-])--?[\\w-]{0,40}(?:${SECRET_WORD})[\\w-]{0,40}["']? `,
    `(?!(?:flags?|options?|arguments?|must|needs?|requires?|with|from|file|missing|cannot|should)\\b)`,
  ),
];

/** Matches the value after `lead`: a quoted text, or a word with at least four characters that `word` allows. */
function after(lead: string, word = ""): RegExp {
  return new RegExp(`(?<=${lead}")[^"]+|(?<=${lead}')[^']+|(?<=${lead})${word}[^\\s"',;]{4,}`, "gi");
}

/** A long word without blanks. It is most likely a key if {@linkcode looksRandom} returns `true`. */
const LONG = /[\w+=-]{32,}/g;

/** Returns `true` if a long word mixes upper case, lower case and digits, or has 32 letters and digits in a row. */
function looksRandom(word: string): boolean {
  if (!/\d/.test(word)) return false;
  return (/[a-z]/.test(word) && /[A-Z]/.test(word)) || /[a-z\d]{32}/i.test(word);
}

/**
 * Puts a text on one line, removes colours and other control characters, and redacts everything that looks like a
 * secret.
 */
export function redactSecrets(text: string): string {
  // Colours first, then other control characters and line ends, so that no pattern meets long runs of blanks.
  // deno-lint-ignore no-control-regex
  let line = text.replaceAll(/\x1b\[[0-9;]*[A-Za-z]/g, "").replaceAll(/[\x00-\x1f\x7f-\x9f\s]+/g, " ").trim();
  for (const pattern of PATTERNS) line = line.replaceAll(pattern, REDACTED);
  return line.replaceAll(LONG, (word) => looksRandom(word) ? REDACTED : word);
}

/** The shortest time between two lines about the same cause. */
const PERIOD_MS = 60_000;

/** The largest number of lines per period, over all causes. */
const MAX_CONSOLE_LINES = 20;

/** The longest line, in characters. */
const MAX_LENGTH = 600;

/** The number of causes that are remembered. */
const MAX_REPORTED_CAUSES = 1_000;

interface Known {
  /** The monotonic time of its last line. */
  writtenMs: number;
  /** The number of errors since that line. */
  repeats: number;
}

/**
 * Writes errors to the console (standard error in Deno and Node) if a program has no `onError`.
 *
 * Each new cause is written once, on one line without secrets. A cause that persists is written at most once a minute,
 * with the number of repeats. After 20 lines in a minute, errors are only counted, and the next line has their number.
 *
 * It has no timer: it writes only when an error is reported.
 */
export class ConsoleReporter {
  readonly #known = new Map<string, Known>();
  /** When the current period began, and the lines written since. */
  #period = { beganMs: -Infinity, lines: 0 };
  /** The number of errors left out since the last line, because of `MAX_CONSOLE_LINES`. */
  #leftOut = 0;

  /**
   * Reports an error about `subject`, which begins the line: `informer of "pods"`. Errors have the same cause if they
   * differ only by `key` (the object's key), by the object's name, or by a version.
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
    if (this.#period.lines >= MAX_CONSOLE_LINES) {
      this.#leftOut++;
      return;
    }
    this.#period.lines++;
    if (this.#known.size >= MAX_REPORTED_CAUSES) this.#known.clear();
    this.#known.set(cause, { writtenMs: nowMs, repeats: 0 });
    const notes = [
      ...(known?.repeats ? [`${known.repeats} more times since the last line`] : []),
      ...(this.#leftOut > 0 ? [`${this.#leftOut} errors of other causes were left out`] : []),
    ];
    this.#leftOut = 0;
    const shown = quoted(redactSecrets(`${subject}: ${errorLine(error)}`), MAX_LENGTH);
    console.warn(notes.length === 0 ? shown : `${shown} (${notes.join("; ")})`);
  }
}

/** What runtimes say of a change to a frozen object. */
const FROZEN = /not extensible|read.?only property|(?:Cannot|Unable to) delete property/;

/** Returns an error with the remedy, if a function of the program has changed an object of a cache. */
function withRemedy(error: unknown): unknown {
  // Words of the runtimes: they have no code.
  const isFrozen = causesOf(error).some((cause) => cause instanceof TypeError && FROZEN.test(cause.message));
  const text = "Cannot change an object of a cache: it is frozen. Change a copy of it, from copyOf()";
  return isFrozen ? new TypeError(text, { cause: error }) : error;
}

/**
 * Returns a function that passes an error and its subject to `onError`. Without `onError`, it writes the error to the
 * console, with the text from `subject`. `key` returns the object's key, see {@linkcode ConsoleReporter}.
 */
export function errorObserver<A extends readonly unknown[]>(
  onError: ((error: unknown, ...about: A) => unknown) | undefined,
  subject: (...about: A) => string,
  key: (...about: A) => string = () => "",
): (error: unknown, ...about: A) => void {
  const reporter = new ConsoleReporter();
  const write = (error: unknown, ...about: A): void => reporter.report(subject(...about), error, key(...about));
  return (error, ...about) => callObserver(() => (onError ?? write)(withRemedy(error), ...about));
}

/** Returns a text that all errors with one cause share, whatever request or object they are about. */
function causeKey(error: unknown, key: string): string {
  const root = causesOf(error).at(-1);
  const text = messageOf(root);
  // "Cannot list "pods": 403 …" and "Cannot watch "pods": 403 …" have one cause.
  const reason = text.replace(/^Cannot [^]*?": (?=[^])/, "");
  const words = [key, key.slice(key.lastIndexOf("/") + 1)].filter((word) => word !== "");
  const common = words.reduce((rest, word) => rest.replaceAll(word, ""), reason.replaceAll(/\bversion "?\d+/g, ""));
  return `${errorName(root)}: ${common}`;
}

/**
 * Counts the edits between two short texts: insertions, deletions, replacements and swaps of neighbours. The cost is
 * the product of the two lengths.
 */
export function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      next.push(Math.min(replaced, row[j] + 1, next[j - 1] + 1, isSwap ? before[j - 2] + 1 : Infinity));
    }
    [before, row] = [row, next];
  }
  return row[b.length];
}

/**
 * Returns the candidate with the fewest edits, if it needs at most `max`. The default for `max` is one, or a third of
 * the name's length if that is more.
 */
export function nearest(name: string, candidates: Iterable<string>, max?: number): string | undefined {
  if (name.length > 200) return undefined;
  const plain = simplify(name);
  let best: string | undefined;
  let bestDistance = (max ?? Math.max(1, Math.floor(plain.length / 3))) + 1;
  for (const candidate of candidates) {
    if (candidate.length > 200) continue;
    const distance = editDistance(plain, simplify(candidate));
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** Makes `token_file`, `token-file` and `tokenFile` equal. */
function simplify(name: string): string {
  return name.toLowerCase().replaceAll(/[-_. ]/g, "");
}
