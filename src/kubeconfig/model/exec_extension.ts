import { isRecord } from "../text/is_record.ts";
/** The name of the extension of a cluster that credential plugins are given. */
export const EXEC_EXTENSION = "client.authentication.k8s.io/exec";

/** The extension of a cluster that is meant for plugins; nothing when it has none. */
export function execExtension(extensions: unknown): unknown {
  if (!Array.isArray(extensions)) return undefined;
  const found = extensions.find((item) => isRecord(item) && item.name === EXEC_EXTENSION);
  return isRecord(found) ? found.extension : undefined;
}
