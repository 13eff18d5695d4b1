/**
 * Files that commands write and read, and the errors for files that cannot be used.
 *
 * {@linkcode checkOutputFile} is called before a command begins, so that a run does not fail at its end. {@linkcode
 * writeCacheFile} replaces a file in one step.
 *
 * @module
 */
import type { Stats } from "node:fs";
import { mkdtemp, open, readFile, rmdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { exactJson } from "../engine/api/large_integers.ts";
import type { KubernetesObject } from "../engine/api/object.ts";
import { folderPermissions, readProblem, replaceFile } from "../host/connect/files.ts";
import { failureKind } from "../host/connect/runtime/runtime.ts";
import { messageOf } from "../engine/errors/errors.ts";
import { UsageError } from "./shared/usage.ts";

/**
 * Checks that the file that a flag names can be written, by creating a temporary folder beside it.
 *
 * @param flag The flag, for messages: `"--cache"`.
 * @throws {UsageError}
 */
export async function checkOutputFile(flag: string, path: string): Promise<void> {
  if (path.startsWith("-")) {
    throw new UsageError(
      `${flag} needs a file, but "${path}" looks like a flag; write "./${path}" for a file with this name`,
    );
  }
  const folder = dirname(path);
  const there = await infoOf(folder, flag, path);
  if (there === undefined) throw new UsageError(`${flag}: folder "${folder}" does not exist; create it first`);
  if (!there.isDirectory()) {
    throw new UsageError(`${flag}: "${folder}" is not a folder; name a file in a folder that exists`);
  }
  const old = await infoOf(path, flag, path);
  if (old?.isDirectory()) throw new UsageError(`${flag}: "${path}" is a folder; name a file`);
  if (old !== undefined && !old.isFile()) {
    throw new UsageError(`${flag}: "${path}" is a device or a pipe, and this command would replace it; name a file`);
  }
  try {
    await rmdir(await mkdtemp(`${path}.`));
  } catch (error) {
    throw unwritable(flag, path, error);
  }
}

/**
 * Checks that a file can be written, and is absent, empty, or one that `isOwn` recognizes as written by the command.
 *
 * @throws {UsageError}
 */
export async function checkOrigin(flag: string, path: string, isOwn: (text: string) => boolean): Promise<void> {
  await checkOutputFile(flag, path);
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if (failureKind(error) === "missing") return;
    throw unwritable(flag, path, error);
  }
  if (text === "" || isOwn(text)) return;
  throw new UsageError(
    `${flag}: "${path}" exists and was not written by this command; name another file, or delete it`,
  );
}

async function infoOf(place: string, flag: string, path: string): Promise<Stats | undefined> {
  try {
    return await stat(place);
  } catch (error) {
    if (failureKind(error) === "missing") return undefined;
    throw unwritable(flag, path, error);
  }
}

/** Returns the error for a file that a flag names and that cannot be read; `what` is a file that can be named. */
export function unreadable(flag: string, path: string, what: string, cause: unknown): UsageError {
  const advice = failureKind(cause) === "no permission flag" ? "" : `; name ${what}`;
  return new UsageError(`${flag}: "${path}" cannot be read: ${readProblem(cause, path)}${advice}`, { cause });
}

/** Returns the error for a file that cannot be written, with the flags that are missing or the reason. */
export function unwritable(flag: string, path: string, cause: unknown): UsageError {
  if (failureKind(cause) === "no permission flag") {
    const flags = folderPermissions(path);
    const message = `this program may not write "${path}"; run Deno with ${flags} or install it again with them`;
    return new UsageError(`${flag}: ${message}`, { cause });
  }
  return new UsageError(`${flag}: "${path}" cannot be written: ${messageOf(cause)}; name another file`, { cause });
}

/**
 * Writes objects as a JSON array, in the given order and atomically: to a temporary file, which then replaces the file.
 *
 * Its owner alone can read the file: objects such as pods may have passwords in their environment.
 *
 * @throws {Error} when it cannot be written; an existing file stays unchanged.
 */
export async function writeCacheFile(path: string, objects: Iterable<KubernetesObject>): Promise<void> {
  await replaceFile(path, `Cannot write the cache to "${path}"`, async (beside) => {
    await using file = await open(beside, "wx", 0o600);
    let text = "[";
    let first = true;
    for (const object of objects) {
      text += `${first ? "\n" : ",\n"}${exactJson(object)}`;
      first = false;
      if (text.length < 1_048_576) continue;
      await file.appendFile(text);
      text = "";
    }
    await file.appendFile(`${text}${first ? "" : "\n"}]\n`);
  });
}
