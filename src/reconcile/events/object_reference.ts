import type { KubernetesObject } from "../../api/object.ts";
import type { ObjectReference } from "../../kinds/core/v1_shared.ts";

/** Returns a reference to `object`. @throws {TypeError} when it lacks apiVersion, kind or name. */
export function objectReferenceTo(object: KubernetesObject): ObjectReference & { readonly name: string } {
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
