/**
 * The base of the errors of this package.
 *
 * {@linkcode InformerError} is the entry point. It leaves out a cause that its message repeats, and prints a chain of
 * causes in at most ten lines.
 *
 * @module
 */
import { causesOf, errorLine, messageOf, nameOf } from "./errors.ts";

/** The method that Deno and Node call to print an object. */
const INSPECT: unique symbol = Symbol.for("nodejs.util.inspect.custom");

/** The largest number of lines of a printed error. */
const MAX_LINES = 10;

/** The largest numbers of stack frames that are printed of the error itself and of its last cause. */
const OWN_FRAMES = 3;

/**
 * The base of the errors of this package. A message does not repeat that of its `cause`; `errorLine` joins them.
 *
 * `console.error(error)` prints at most ten lines in Deno and Node: the messages of the error and its causes, and the
 * stack frames nearest to the failure. `JSON.stringify` has its name, message and cause.
 */
export class InformerError extends Error {
  /** The name of the class. */
  override readonly name: string = "InformerError";

  /** Creates an error. A cause whose message `message` includes is left out, in favour of its own cause. */
  constructor(message?: string, options: ErrorOptions = {}) {
    super(message, unsaid(message, options.cause));
  }

  /** Name, message and cause, for `JSON.stringify`. */
  toJSON(): ErrorJson {
    return errorJson(this);
  }

  /** Printed by the consoles of Deno and Node. */
  [INSPECT](): string {
    return inspectError(this);
  }
}

/**
 * Awaits all jobs, and then throws what has failed: a single error itself, several as one error, "Cannot `action`: …".
 * An error that is `known` to the caller already does not count.
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
  /** The name of the error. */
  readonly name: string;
  /** The message. */
  readonly message: string;
  /** The cause, if there is one. */
  readonly cause?: ErrorJson;
}

/** Returns name, message and causes of a thrown value. */
function errorJson(error: unknown): ErrorJson {
  const chain = causesOf(error);
  return chain.reduceRight<ErrorJson | undefined>((cause, it) => {
    return { name: nameOf(it), message: messageOf(it), ...(cause === undefined ? {} : { cause }) };
  }, undefined) ?? { name: nameOf(error), message: messageOf(error) };
}

/**
 * Returns `value`, which `JSON.stringify` writes with all its errors as {@linkcode ErrorJson}, so that their messages
 * are not lost.
 */
export function withErrorJson<V extends object>(value: V): V {
  return Object.defineProperty(value, "toJSON", { value: () => plain(value), enumerable: false });
}

/** Returns options with the first of `cause` and its causes that `message` does not include. */
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

/** Returns the text of an error for a console, in at most ten lines. */
function inspectError(error: Error): string {
  const chain = causesOf(error);
  const shown = chain.slice(0, MAX_LINES - OWN_FRAMES);
  const last = shown.length - 1;
  const own = last === 0 ? MAX_LINES - 1 : Math.min(OWN_FRAMES, MAX_LINES - shown.length);
  const lines: string[] = [];
  for (const [index, it] of shown.entries()) {
    const head = `${nameOf(it)}: ${messageOf(it)}`;
    lines.push(index === 0 ? head : `Caused by: ${head}`);
    if (index === 0) lines.push(...framesOf(it, own));
    else if (index === last) lines.push(...framesOf(it, Math.max(0, MAX_LINES - lines.length)));
    // The frames of the error itself must leave room for the causes after it.
    if (index === 0) lines.length = Math.min(lines.length, MAX_LINES - last);
  }
  return lines.flatMap((line) => line.split("\n")).slice(0, MAX_LINES).join("\n");
}

/**
 * Returns the first stack frames of an error, without those of the runtime and, where there are others, of this
 * package.
 */
function framesOf(error: unknown, max: number): string[] {
  const stack = error instanceof Error ? error.stack ?? "" : "";
  // The folder of the package, as it begins in stack frames.
  const own = new URL("../", import.meta.url).href;
  const frames = stack.split("\n").filter((line) => /^\s+at /.test(line) && !/\b(?:ext|node):/.test(line));
  const others = frames.filter((line) => !line.includes(own) && /:\d+:\d+\)?$/.test(line));
  return (others.length > 0 ? others : frames).slice(0, max);
}
