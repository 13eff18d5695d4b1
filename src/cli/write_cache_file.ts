import { dirname } from "node:path";
import type { KubernetesObject } from "../api/object.ts";
import { UsageError } from "./errors/usage_error.ts";
import { folderPermissions, replaceFile, temporaryPath } from "./replace_file.ts";

/** Checks that the file can be written, by creating a temporary file in the same folder. @throws {UsageError} */
export async function checkCacheFile(path: string): Promise<void> {
  if (path.startsWith("-")) {
    throw new UsageError(`--cache needs a file, found "${path}"; a file of that name is "./${path}"`);
  }
  const folder = dirname(path);
  const there = await infoOf(folder, path);
  if (there === undefined) throw new UsageError(`--cache: folder "${folder}" does not exist; make it first`);
  if (!there.isDirectory) {
    throw new UsageError(`--cache: "${folder}" is not a folder; name a file in a folder that exists`);
  }
  const old = await infoOf(path, path);
  if (old?.isDirectory) throw new UsageError(`--cache: "${path}" is a folder; name a file`);
  if (old !== undefined && !old.isFile) {
    throw new UsageError(`--cache: "${path}" is a device or a pipe, which would be replaced; name a file`);
  }
  const beside = temporaryPath(path);
  try {
    await Deno.writeFile(beside, new Uint8Array(), { createNew: true });
    await Deno.remove(beside);
  } catch (error) {
    throw unwritableCache(path, error);
  }
}

/**
 * Writes objects as a JSON array, in the given order and atomically: to a temporary file, which then replaces the file.
 *
 * `mode` are the permissions of the file.
 *
 * @throws {Error} when it cannot be written; an existing file stays unchanged.
 */
export async function writeCacheFile(
  path: string,
  objects: Iterable<KubernetesObject>,
  options: { readonly mode?: number } = {},
): Promise<void> {
  const encoder = new TextEncoder();
  await replaceFile(path, `Cannot write the cache to "${path}"`, async (beside) => {
    using file = await Deno.open(beside, { write: true, createNew: true, ...options });
    const writer = file.writable.getWriter();
    let text = "[";
    let first = true;
    for (const object of objects) {
      text += `${first ? "\n" : ",\n"}${JSON.stringify(object)}`;
      first = false;
      if (text.length < 1_048_576) continue;
      await writer.write(encoder.encode(text));
      text = "";
    }
    await writer.write(encoder.encode(`${text}${first ? "" : "\n"}]\n`));
    await writer.close();
  });
}

async function infoOf(place: string, path: string): Promise<Deno.FileInfo | undefined> {
  try {
    return await Deno.stat(place);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw unwritableCache(path, error);
  }
}

function unwritableCache(path: string, cause: unknown): UsageError {
  if (cause instanceof Deno.errors.NotCapable) {
    const flags = folderPermissions(path);
    return new UsageError(`--cache: this program may not write "${path}"; run Deno with ${flags}`, { cause });
  }
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new UsageError(`--cache: "${path}" cannot be written: ${reason}; name another file`, { cause });
}
