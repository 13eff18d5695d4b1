import { keyOf, type ObjectKey } from "../api/key.ts";
import type { KubernetesObject } from "../api/object.ts";
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
  /**
   * The version before a `deleteCollection`, whose answer has no later one: the object is gone, or has a later version because
   * finalizers or a grace period keep it. Absent for all other writes.
   */
  readonly after?: string;
  /** The object as the server has answered, which may be reduced or that of a subresource; absent for a deletion. */
  readonly object?: KubernetesObject;
}

/** Calls `onWrite` for an answer to a create, update or patch that is an object: of some subresources it is none. */
export function reportWrite(onWrite: (write: ObjectWrite) => void, resource: Resource, answer: unknown): void {
  const object = answer as KubernetesObject & { readonly metadata?: KubernetesObject["metadata"] };
  const { name, namespace = "", uid, resourceVersion } = object.metadata ?? {};
  if (!name || !uid || !resourceVersion) return;
  onWrite({ resource, key: keyOf(object), namespace, uid, resourceVersion, object });
}

/** The members of answers to deletions that say what has become of the object. */
interface DeletionAnswer extends Partial<KubernetesObject> {
  readonly details?: { readonly uid?: string };
  /** Of a Namespace, which is kept until it is empty. */
  readonly spec?: { readonly finalizers?: readonly string[] };
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
  const { metadata, details, spec } = answer as DeletionAnswer;
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = metadata ?? {};
  const isKept = deletionGracePeriodSeconds || finalizers?.length || spec?.finalizers?.length;
  if (deletionTimestamp && isKept) return reportWrite(onWrite, resource, answer);
  const uid = metadata?.uid ?? details?.uid ?? "";
  onWrite({ resource, key: keyOf({ metadata: place }), namespace: place.namespace, uid, resourceVersion: "" });
}

/**
 * Calls `onWrite` for an item of the answer to a deletion of a collection, which is the object as it was before. One that was
 * being deleted already is passed over: it may have no later version.
 */
export function reportCollected(
  onWrite: (write: ObjectWrite) => void,
  resource: Resource,
  item: KubernetesObject,
): void {
  const { namespace = "", uid, resourceVersion: after, deletionTimestamp } = item.metadata;
  if (deletionTimestamp === undefined) {
    onWrite({ resource, key: keyOf(item), namespace, uid, resourceVersion: "", after });
  }
}
