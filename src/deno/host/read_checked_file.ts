import { dirname, isAbsolute, join } from "node:path";
import { type Host, readFlag } from "./host.ts";

/** Why a file is of no use; the message goes after its path, and says what to do. */
export class FileProblem extends Error {
  /** `"FileProblem"`. */
  override readonly name = "FileProblem";
}

/**
 * The content of a file.
 *
 * @param problemOf Says what is wrong with the content, if anything is.
 * @throws {FileProblem} when it cannot be read, or its content is wrong.
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

/** Makes a whole error of a problem: says whose file it is. Keeps the problem as cause. */
export type ExplainFileProblem = (problem: FileProblem) => Error;

/** Where a path leads that stands in a file: relative ones start from that file's folder. */
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
