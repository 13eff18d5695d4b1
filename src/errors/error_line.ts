/** Returns the message of an error, or the text of any other thrown value. Never throws. */
export function messageOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? thrown.message : String(thrown);
  } catch {
    return "a value that has no text"; // for example an object without a prototype
  }
}

/** The number of errors of a chain of causes that are looked at. */
const MAX_CAUSES = 8;

/** Returns an error and its causes, the outermost first; of an `AggregateError`, its first error is its cause. */
export function causesOf(error: unknown): readonly unknown[] {
  const found: unknown[] = [];
  for (let next = error; next !== undefined && found.length < MAX_CAUSES && !found.includes(next);) {
    found.push(next);
    if (!(next instanceof Error)) break;
    next = next.cause ?? (next instanceof AggregateError ? next.errors[0] : undefined);
  }
  return found;
}

/**
 * Returns an error as one line: its message and those of its causes, separated by colons. A message that an earlier one
 * includes is left out. Never throws.
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
    line = line === "" ? text : `${line.replace(/[.:;]$/, "")}: ${text}`;
  }
  return line;
}

/** Puts a text on one line. */
export function oneLine(text: string): string {
  return text.trim().split(/\s*\n\s*/).join(" ");
}
