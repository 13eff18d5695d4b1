import { isSecret, SECRET_ANNOTATIONS, SECRET_DATA } from "../../api/is_secret.ts";
import type { KubernetesObject } from "../../api/object.ts";
import type { Resource } from "../../api/resource.ts";

const REDACTED = "[redacted]";

/** Returns the object with the data of a Secret, and the copies in its annotations, replaced by `[redacted]`; the keys stay. */
export function redactObject<T extends KubernetesObject>(object: T, resource: Resource, showSecrets: boolean): T {
  if (showSecrets || !isSecret(resource)) return object;
  const shown = { ...object } as Record<string, unknown>;
  for (const field of SECRET_DATA) {
    const values = shown[field];
    if (typeof values !== "object" || values === null) continue;
    shown[field] = Object.fromEntries(Object.keys(values).map((key) => [key, REDACTED]));
  }
  const { annotations } = object.metadata;
  const copies = SECRET_ANNOTATIONS.filter((name) => annotations?.[name] !== undefined);
  if (copies.length > 0) {
    const redacted = Object.fromEntries(copies.map((name) => [name, REDACTED]));
    shown.metadata = { ...object.metadata, annotations: { ...annotations, ...redacted } };
  }
  return shown as unknown as T;
}
