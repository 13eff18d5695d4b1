import type { KubernetesObject } from "../../api/object.ts";

/** A reference to one version of an object (core/v1 `ObjectReference`). */
export interface ObjectReference {
  /** Group and version. */
  readonly apiVersion: string;
  /** The kind. */
  readonly kind: string;
  /** The namespace; absent on cluster-scoped objects. */
  readonly namespace?: string;
  /** The name. */
  readonly name: string;
  /** The uid. */
  readonly uid?: string;
  /** The version of the object. */
  readonly resourceVersion?: string;
}

/** Returns a reference to `object`. @throws {TypeError} when it lacks apiVersion, kind or name. */
export function objectReferenceTo(object: KubernetesObject): ObjectReference {
  const { apiVersion, kind, metadata } = object;
  const { name, namespace, uid, resourceVersion } = metadata;
  if (!apiVersion || !kind || !name) {
    const found = JSON.stringify({ apiVersion, kind, name });
    throw new TypeError(`Cannot refer to an object: it needs apiVersion, kind and name, found ${found}`);
  }
  return {
    apiVersion,
    kind,
    name,
    ...(namespace && { namespace }),
    ...(uid && { uid }),
    ...(resourceVersion && { resourceVersion }),
  };
}
