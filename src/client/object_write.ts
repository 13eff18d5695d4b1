import { keyOf, type ObjectKey } from "../api/key.ts";
import type { ObjectMeta } from "../api/object.ts";
import type { Resource } from "../api/resource.ts";

/** A write that the server has accepted: an object has a new version, or was deleted. */
export interface ObjectWrite {
  /** The kind of the object. */
  readonly resource: Resource;
  /** The key of the object. */
  readonly key: ObjectKey;
  /** The namespace of the object; `""` when cluster-scoped. */
  readonly namespace: string;
  /** The uid of the object; `""` when the answer to a deletion does not have it. */
  readonly uid: string;
  /** The version of the object since the write; `""` for a deletion. */
  readonly resourceVersion: string;
  /** The labels of the object, where it has some. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** Calls `onWrite` for an answer to a create, update or patch that is an object: of some subresources it is none. */
export function reportWrite(onWrite: (write: ObjectWrite) => void, resource: Resource, answer: unknown): void {
  const { metadata } = answer as { readonly metadata?: ObjectMeta };
  if (!metadata?.name || !metadata.uid || !metadata.resourceVersion) return;
  const { namespace = "", uid, resourceVersion, labels } = metadata;
  onWrite({ resource, key: keyOf({ metadata }), namespace, uid, resourceVersion, ...(labels ? { labels } : {}) });
}

/**
 * Calls `onWrite` for an answer to a deletion. An object that finalizers or a grace period keep is a new version; every
 * other answer is about an object that is gone.
 */
export function reportDeletion(
  onWrite: (write: ObjectWrite) => void,
  resource: Resource,
  place: { readonly namespace: string; readonly name: string },
  answer: unknown,
): void {
  const { metadata, details } = answer as { readonly metadata?: ObjectMeta; readonly details?: { uid?: string } };
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = metadata ?? {};
  if (deletionTimestamp && (deletionGracePeriodSeconds || finalizers?.length)) {
    return reportWrite(onWrite, resource, answer);
  }
  const uid = metadata?.uid ?? details?.uid ?? "";
  onWrite({ resource, key: keyOf({ metadata: place }), namespace: place.namespace, uid, resourceVersion: "" });
}
