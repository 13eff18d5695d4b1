import { type JsonObject, objectOr } from "../wire/json.ts";

/** Kinds whose dependents stay, unless a request says otherwise. */
export const ORPHANING = ["batch/v1.Job", "core/v1.ReplicationController"];
/** Kinds that are marked for deletion without a grace period. */
export const TERMINATING = ["core/v1.Namespace", "apiextensions/v1.CustomResourceDefinition"];

/** Grace period in seconds: 0 for pods that were never scheduled or are finished. */
export function gracePeriod(object: JsonObject, asked: number | undefined): number {
  const spec = objectOr(object.spec);
  const { phase } = objectOr(object.status);
  if (!spec.nodeName || phase === "Succeeded" || phase === "Failed") return 0;
  return asked ?? Number(spec.terminationGracePeriodSeconds ?? 30);
}

/** Returns the finalizers that an object has during its deletion. */
export function withPropagation(finalizers: unknown, policy: string | undefined): string[] {
  const kept = (Array.isArray(finalizers) ? finalizers as string[] : []).filter((finalizer) =>
    policy === undefined || (finalizer !== "foregroundDeletion" && finalizer !== "orphan")
  );
  if (policy === "Foreground") kept.push("foregroundDeletion");
  if (policy === "Orphan") kept.push("orphan");
  return kept;
}
