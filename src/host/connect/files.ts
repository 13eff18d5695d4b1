/**
 * Files: reading with reasons and permission flags, and replacing in one step.
 *
 * {@linkcode readCheckedFile} and {@linkcode replaceFile} are the entry points. What a file means is not known here.
 *
 * @module
 */
import { messageOf } from "../../engine/errors/errors.ts";
import type { Host } from "./host.ts";
import { readFlag } from "./runtime/permissions.ts";
import { builtin, failureKind } from "./runtime/runtime.ts";

/** A file cannot be used. The message follows the path in a sentence, and says what to do. */
export class FileProblem extends Error {
  /** `"FileProblem"`. */
  override readonly name = "FileProblem";

  /** `"missing-file"` if there is no such file. */
  get reason(): "missing-file" | undefined {
    return failureKind(this.cause) === "missing" ? "missing-file" : undefined;
  }
}

/**
 * Reads and validates a file.
 *
 * @param problemOf Returns the problem with the content; `undefined` if it is valid.
 * @param explain Returns the error to throw for a problem.
 * @throws {FileProblem} when it cannot be read, or its content is invalid, unless `explain` returns another error.
 */
export async function readCheckedFile(
  path: string,
  host: Pick<Host, "readTextFile">,
  problemOf: (text: string) => string | undefined = () => undefined,
  explain: ExplainFileProblem = (problem) => problem,
): Promise<string> {
  let text: string;
  try {
    text = await host.readTextFile(path);
  } catch (cause) {
    throw explain(new FileProblem(readProblem(cause, path), { cause }));
  }
  const problem = problemOf(text);
  if (problem !== undefined) throw explain(new FileProblem(problem));
  return text;
}

/** Converts a problem to an error that says which setting named the file. The problem is its cause. */
export type ExplainFileProblem = (problem: FileProblem) => Error;

/** Resolves a path that is written in `file`: relative paths start from that file's folder. */
export function pathBeside(file: string, path: string): string {
  if (path.startsWith("/")) return path; // most are, and need no module of Node
  const { dirname, isAbsolute, join } = builtin("path");
  return isAbsolute(path) ? path : join(dirname(file), path);
}

/** Returns the reason why a file cannot be read, with the permission flag that is missing. */
export function readProblem(error: unknown, path: string): string {
  const reason = failureKind(error);
  if (reason === "missing") return "there is no such file";
  if (reason === "no permission flag") return `this program may not read it, run it with ${readFlag(path)}`;
  if (reason === "refused") return "the user who runs this program may not read it";
  return reason === "folder" ? "it is a folder" : messageOf(error);
}

/** The age from which a temporary file is one of a process that was killed, in milliseconds. */
const LEFT_MS = 600_000;

/** Returns the path of a temporary file, in the folder of `path`, so that it can be renamed to it. */
function temporaryPath(path: string): string {
  return `${path}.${crypto.randomUUID().slice(0, 8)}.tmp`;
}

/** Returns the Deno flags with which {@linkcode replaceFile} can replace a file: its folder is read and written. */
export function folderPermissions(path: string): string {
  const folder = builtin("path").dirname(path);
  return `--allow-read=${folder} --allow-write=${folder}`;
}

/**
 * Replaces a file atomically: `write` creates a file at the temporary path, which is then renamed to `path`. Temporary
 * files of the same `path` that are older than 10 minutes, as a process leaves them that is killed meanwhile, are
 * removed.
 *
 * @throws {Error} with the message `failure` and the underlying error as its cause; the file at `path` stays unchanged.
 */
export async function replaceFile(
  path: string,
  failure: string,
  write: (beside: string) => Promise<void>,
): Promise<void> {
  const beside = temporaryPath(path);
  try {
    await removeLeft(path);
    await write(beside);
    await builtin("fs/promises").rename(beside, path);
  } catch (cause) {
    try {
      await builtin("fs/promises").unlink(beside);
    } catch (second) {
      // It was never created, or the folder cannot be written.
      if (!["missing", "no permission flag"].includes(failureKind(second) ?? "")) {
        throw new AggregateError([cause, second], failure, { cause });
      }
    }
    throw new Error(failure, { cause });
  }
}

/** Removes the temporary files that earlier processes have left of a file, where that is permitted. */
async function removeLeft(path: string): Promise<void> {
  const { basename, dirname, join } = builtin("path");
  const [folder, name] = [dirname(path), basename(path)];
  try {
    const { readdir, stat, unlink } = builtin("fs/promises");
    for (const other of await readdir(folder)) {
      if (!other.startsWith(`${name}.`) || !/^[0-9a-f]{8}\.tmp$/.test(other.slice(name.length + 1))) continue;
      const { mtimeMs } = await stat(join(folder, other));
      if (Date.now() - mtimeMs > LEFT_MS) await unlink(join(folder, other));
    }
  } catch (error) {
    // Another process has removed it, or may; a folder that is missing is found by the write.
    if (!["missing", "no permission flag", "refused"].includes(failureKind(error) ?? "")) throw error;
  }
}
