import { isSecret } from "../../api/is_secret.ts";
import type { KubernetesObject } from "../../api/object.ts";
import type { Resource } from "../../api/resource.ts";

const REDACTED = "[redacted]";

/** The annotation in which kubectl keeps the last applied state, including the data of a Secret. */
const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/** Returns the object with the data of a Secret replaced by `[redacted]`; the keys stay. */
export function redactObject<T extends KubernetesObject>(object: T, resource: Resource, showSecrets: boolean): T {
  if (showSecrets || !isSecret(resource)) return object;
  const shown = { ...object } as Record<string, unknown>;
  for (const field of ["data", "stringData"]) {
    const values = shown[field];
    if (typeof values !== "object" || values === null) continue;
    shown[field] = Object.fromEntries(Object.keys(values).map((key) => [key, REDACTED]));
  }
  if (object.metadata.annotations?.[LAST_APPLIED] !== undefined) {
    shown.metadata = { ...object.metadata, annotations: { ...object.metadata.annotations, [LAST_APPLIED]: REDACTED } };
  }
  return shown as unknown as T;
}
