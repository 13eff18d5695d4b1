import type { KubernetesObject } from "../api/object.ts";
import { replaceFile } from "../deno/host/replace_file.ts";

/**
 * Writes objects as a JSON array, in the given order and atomically: to a temporary file, which then replaces the file.
 *
 * Its owner alone can read the file: objects such as pods may have passwords in their environment.
 *
 * @throws {Error} when it cannot be written; an existing file stays unchanged.
 */
export async function writeCacheFile(
  path: string,
  objects: Iterable<KubernetesObject>,
): Promise<void> {
  const encoder = new TextEncoder();
  await replaceFile(path, `Cannot write the cache to "${path}"`, async (beside) => {
    using file = await Deno.open(beside, { write: true, createNew: true, mode: 0o600 });
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
