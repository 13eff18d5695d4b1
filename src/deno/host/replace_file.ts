import { basename, dirname, join } from "node:path";

/** The age from which a temporary file is one of a process that was killed, in milliseconds. */
const LEFT_MS = 600_000;

/** Returns the path of a temporary file, in the folder of `path`, so that it can be renamed to it. */
export function temporaryPath(path: string): string {
  return `${path}.${crypto.randomUUID().slice(0, 8)}.tmp`;
}

/** Returns the Deno flags with which {@linkcode replaceFile} can replace a file: its folder is read and written. */
export function folderPermissions(path: string): string {
  const folder = dirname(path);
  return `--allow-read=${folder} --allow-write=${folder}`;
}

/**
 * Replaces a file atomically: `write` creates a file at the temporary path, which is then renamed to `path`. Temporary files of
 * the same `path` that are older than 10 minutes, as a process leaves them that is killed meanwhile, are removed.
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
    await Deno.rename(beside, path);
  } catch (cause) {
    const error = new Error(failure, { cause });
    try {
      await Deno.remove(beside);
    } catch (second) {
      // It was never created, or the folder cannot be written.
      const isAbsent = second instanceof Deno.errors.NotFound || second instanceof Deno.errors.NotCapable;
      if (!isAbsent) throw new AggregateError([error, second], failure);
    }
    throw error;
  }
}

/** Removes the temporary files that earlier processes have left of a file, where that is permitted. */
async function removeLeft(path: string): Promise<void> {
  const [folder, name] = [dirname(path), basename(path)];
  try {
    for await (const { name: other } of Deno.readDir(folder)) {
      if (!other.startsWith(`${name}.`) || !/^[0-9a-f]{8}\.tmp$/.test(other.slice(name.length + 1))) continue;
      const { mtime } = await Deno.stat(join(folder, other));
      if (mtime !== null && Date.now() - mtime.getTime() > LEFT_MS) await Deno.remove(join(folder, other));
    }
  } catch (error) {
    // Another process has removed it, or may; a folder that is missing is found by the write.
    const { NotFound, NotCapable, PermissionDenied } = Deno.errors;
    if (!(error instanceof NotFound || error instanceof NotCapable || error instanceof PermissionDenied)) throw error;
  }
}
