import { UsageError } from "./usage_error.ts";
import { StatusError, UnreachableError } from "../../api/errors.ts";

/** Formats an error in one line, with the messages of its causes unless the error already includes them. */
export function errorLine(error: unknown): string {
  if (!(error instanceof Error)) return oneLine(String(error));
  let line = oneLine(error.message || error.name);
  for (let inner: unknown = error; inner instanceof Error; inner = inner.cause) {
    const reason = oneLine(inner.message);
    if (reason !== "" && !line.includes(reason)) line += `: ${reason}`;
    if (isComplete(inner)) break;
  }
  return line;
}

/** Returns `true` if the message of an error includes its cause in other words. */
function isComplete(error: Error): boolean {
  return error instanceof UnreachableError || error instanceof StatusError || error instanceof UsageError ||
    error.message.startsWith("Cannot connect: ");
}

export function oneLine(text: string): string {
  return text.trim().split(/\s*\n\s*/).join(" ");
}
