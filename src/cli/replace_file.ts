/** A name for what is written before it takes the place of `path`: in the same folder, so that it can be renamed. */
export function temporaryPath(path: string): string {
  return `${path}.${crypto.randomUUID().slice(0, 8)}.tmp`;
}

/**
 * Replaces a file in one step: `write` makes a new file of the name it is given, which is then renamed to `path`.
 *
 * @throws {Error} `failure` with what went wrong as its cause; what was at `path` stays.
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
      // It was never begun, or the folder refuses this for the same reason.
      if (!(second instanceof Deno.errors.NotFound)) throw new AggregateError([error, second], failure);
    }
    throw error;
  }
}
