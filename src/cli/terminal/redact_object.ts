import type { KubernetesObject } from "../../api/object.ts";
import type { Resource } from "../../api/resource.ts";

const REDACTED = "[redacted]";

/** What kubectl keeps the last applied state in, a Secret's data too. */
const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/** The object as it may be shown: what a Secret holds is `[redacted]`, its keys are not. */
export function redactObject<T extends KubernetesObject>(object: T, resource: Resource, showSecrets: boolean): T {
  if (showSecrets || resource.kind !== "Secret" || resource.group !== "") return object;
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
