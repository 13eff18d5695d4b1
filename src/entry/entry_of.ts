import type { Entry, Identity } from "../api/entry.ts";
import { DecodeError } from "../api/errors.ts";
import { keyOf } from "../api/key.ts";
import type { KubernetesObject, ObjectMeta } from "../api/object.ts";
import { brokenEntry, parsedEntry } from "./json_entry.ts";

/**
 * Creates an entry of an object.
 *
 * An object without a name makes a broken entry with the key `""`; an informer reports such entries and does not store
 * them.
 */
export function entryOf<T extends KubernetesObject>(object: T): Entry<T> {
  const metadata: Partial<ObjectMeta> | undefined = object?.metadata;
  const identity: Identity = {
    key: metadata?.name ? keyOf(object) : "",
    namespace: metadata?.namespace ?? "",
    uid: metadata?.uid ?? "",
    resourceVersion: metadata?.resourceVersion ?? "",
  };
  if (identity.key !== "") return parsedEntry(identity, object);
  return brokenEntry(identity, new DecodeError(`Cannot file ${describe(object)}: it has no metadata.name`));
}

function describe(object: unknown): string {
  const { kind, metadata } = (object ?? {}) as { kind?: unknown; metadata?: { namespace?: unknown } };
  const what = typeof kind === "string" ? kind : "an object";
  return typeof metadata?.namespace === "string" ? `${what} in namespace "${metadata.namespace}"` : what;
}
