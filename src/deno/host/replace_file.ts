import { dirname } from "node:path";

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
 * Replaces a file atomically: `write` creates a file at the temporary path, which is then renamed to `path`.
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
