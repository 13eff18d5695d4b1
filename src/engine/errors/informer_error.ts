/**
 * The base class for this package's errors.
 *
 * {@linkcode InformerError} is the entry point. It leaves out a cause that its message repeats, and prints a chain of
 * causes in at most ten lines.
 *
 * @module
 */
import { causesOf, errorLine, errorName, messageOf } from "./errors.ts";

/** The method that Deno and Node call to print an object. */
const INSPECT: unique symbol = Symbol.for("nodejs.util.inspect.custom");

/** The largest number of lines for a printed error. */
const MAX_LINES = 10;

/**
 * The largest number of stack frames that are printed for the error itself. Its last cause gets the remaining lines.
 */
const OWN_FRAMES = 3;

/**
 * The base class for this package's errors. Catch it to tell them from other errors.
 *
 * A message does not repeat its `cause`, so log an error with `errorLine`, which joins both. `console.error(error)`
 * prints at most ten lines in Deno and Node: the messages of the error and its causes, and the stack frames nearest to
 * the failure. `JSON.stringify` writes name, message and cause.
 */
export class InformerError extends Error {
  /** The class name. */
  override readonly name: string = "InformerError";

  /** Creates an error. If `message` already includes the cause's message, the cause's own cause takes its place. */
  constructor(message?: string, options: ErrorOptions = {}) {
    super(message, unsaid(message, options.cause));
  }

  /** Returns name, message and cause, for `JSON.stringify`. */
  toJSON(): ErrorJson {
    return errorJson(this);
  }

  /** Returns the text that the consoles in Deno and Node print. */
  [INSPECT](): string {
    return inspectError(this);
  }
}

/**
 * Waits until all jobs have ended, and then throws if any has failed. A single error is thrown unchanged, and several
 * become one error: "Cannot `action`: …". An error that equals `known` does not count.
 */
export async function allEnded(action: string, jobs: Iterable<Promise<unknown>>, known?: unknown): Promise<void> {
  const ends = await Promise.allSettled(jobs);
  const errors = ends.flatMap((end) => end.status === "rejected" && end.reason !== known ? [end.reason] : []);
  if (errors.length === 0) return;
  if (errors.length === 1) throw errors[0];
  throw new InformerError(`Cannot ${action}: ${errors.map(errorLine).join("; ")}`, { cause: errors[0] });
}

/** An error as `JSON.stringify` writes it. */
export interface ErrorJson {
  /** The error's name. */
  readonly name: string;
  /** The message. */
  readonly message: string;
  /** The cause, if there is one. */
  readonly cause?: ErrorJson;
}

/** Returns a thrown value's name, message and causes. */
function errorJson(error: unknown): ErrorJson {
  const chain = causesOf(error);
  return chain.reduceRight<ErrorJson | undefined>((cause, it) => {
    return { name: errorName(it), message: messageOf(it), ...(cause === undefined ? {} : { cause }) };
  }, undefined) ?? { name: errorName(error), message: messageOf(error) };
}

/**
 * Makes `JSON.stringify` write all errors in `value` as {@linkcode ErrorJson}, so that their messages are not lost.
 * Returns `value`.
 */
export function withErrorJson<V extends object>(value: V): V {
  return Object.defineProperty(value, "toJSON", { value: () => plain(value), enumerable: false });
}

/** Returns options with the first error among `cause` and its causes that `message` does not include. */
function unsaid(message: string | undefined, cause: unknown): ErrorOptions | undefined {
  const found = causesOf(cause).find((it) => !(message ?? "").includes(messageOf(it)));
  return found === undefined ? undefined : { cause: found };
}

function plain(value: object): object {
  const entries = Object.entries(value).map(([name, member]) => {
    if (member instanceof Error) return [name, errorJson(member)];
    const nested = typeof member === "object" && member !== null && Object.getPrototypeOf(member) === Object.prototype;
    return [name, nested ? plain(member) : member];
  });
  return Object.fromEntries(entries);
}

/** Returns an error's text for a console, in at most ten lines. */
function inspectError(error: Error): string {
  const chain = causesOf(error);
  const shown = chain.slice(0, MAX_LINES - OWN_FRAMES);
  const last = shown.length - 1;
  const own = last === 0 ? MAX_LINES - 1 : Math.min(OWN_FRAMES, MAX_LINES - shown.length);
  const lines: string[] = [];
  for (const [index, it] of shown.entries()) {
    const head = `${errorName(it)}: ${messageOf(it)}`;
    lines.push(index === 0 ? head : `Caused by: ${head}`);
    if (index === 0) lines.push(...framesOf(it, own));
    else if (index === last) lines.push(...framesOf(it, Math.max(0, MAX_LINES - lines.length)));
    // The frames of the error itself must leave room for the causes after it.
    if (index === 0) lines.length = Math.min(lines.length, MAX_LINES - last);
  }
  return lines.flatMap((line) => line.split("\n")).slice(0, MAX_LINES).join("\n");
}

/**
 * Returns an error's first stack frames, without the runtime's frames and, if there are others, without this package's.
 */
function framesOf(error: unknown, max: number): string[] {
  const stack = error instanceof Error ? error.stack ?? "" : "";
  // The folder of the package, as it begins in stack frames.
  const own = new URL("../../", import.meta.url).href;
  const frames = stack.split("\n").filter((line) => /^\s+at /.test(line) && !/\b(?:ext|node):/.test(line));
  const others = frames.filter((line) => !line.includes(own) && /:\d+:\d+\)?$/.test(line));
  return (others.length > 0 ? others : frames).slice(0, max);
}
