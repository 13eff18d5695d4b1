import { dirname, isAbsolute, join } from "node:path";
import { type Host, readFlag } from "./host.ts";

/** A file cannot be used. The message follows the path in a sentence, and says what to do. */
export class FileProblem extends Error {
  /** `"FileProblem"`. */
  override readonly name = "FileProblem";
}

/**
 * Reads and validates a file.
 *
 * @param problemOf Returns the problem with the content; `undefined` if it is valid.
 * @throws {FileProblem} when it cannot be read, or its content is invalid.
 */
export async function readCheckedFile(
  path: string,
  host: Pick<Host, "readTextFile">,
  problemOf: (text: string) => string | undefined = () => undefined,
): Promise<string> {
  let text: string;
  try {
    text = await host.readTextFile(path);
  } catch (cause) {
    throw new FileProblem(readProblem(cause, path), { cause });
  }
  const problem = problemOf(text);
  if (problem !== undefined) throw new FileProblem(problem);
  return text;
}

/** Converts a problem to an error that says which setting named the file. The problem is its cause. */
export type ExplainFileProblem = (problem: FileProblem) => Error;

/** Resolves a path that is written in `file`: relative paths start from that file's folder. */
export function pathBeside(file: string, path: string): string {
  return isAbsolute(path) ? path : join(dirname(file), path);
}

function readProblem(error: unknown, path: string): string {
  if (error instanceof Deno.errors.NotFound) return "there is no such file";
  if (error instanceof Deno.errors.NotCapable) return `this program may not read it, run it with ${readFlag(path)}`;
  if (error instanceof Deno.errors.PermissionDenied) return "the user who runs this program may not read it";
  if (error instanceof Deno.errors.IsADirectory) return "it is a folder";
  return error instanceof Error ? error.message : String(error);
}
