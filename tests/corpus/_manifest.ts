import type { Draft, KubernetesObject, Resource } from "../../mod.ts";

/** A draft and the kind that it is of. */
export interface Manifest {
  /** The kind. */
  readonly resource: Resource;
  /** The object to create. One of a namespaced kind belongs to the namespace `shop`, and does not name it. */
  readonly draft: Draft<KubernetesObject>;
}

/** Returns a manifest, whose draft the compiler checks as a `Draft` of its kind. */
export function manifest<T extends KubernetesObject>(resource: Resource<T>, draft: NoInfer<Draft<T>>): Manifest {
  return { resource, draft: draft as Draft<KubernetesObject> };
}
