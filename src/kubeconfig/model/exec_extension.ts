import { isRecord } from "../text/is_record.ts";
/** Name of the cluster extension for credential plugins. */
export const EXEC_EXTENSION = "client.authentication.k8s.io/exec";

/** Returns the extension of a cluster for plugins; `undefined` if it has none. */
export function execExtension(extensions: unknown): unknown {
  if (!Array.isArray(extensions)) return undefined;
  const found = extensions.find((item) => isRecord(item) && item.name === EXEC_EXTENSION);
  return isRecord(found) ? found.extension : undefined;
}
