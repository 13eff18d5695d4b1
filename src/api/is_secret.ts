import type { KubernetesObject } from "./object.ts";
import type { Resource } from "./resource.ts";
import type { Reduced } from "./reduced.ts";

/** A type of Secrets, as that of `@kube/informer/kinds/core/v1`. */
export interface SecretLike extends KubernetesObject {
  /** Group and version. */
  readonly apiVersion?: "v1";
  /** The kind. */
  readonly kind?: "Secret";
}

/** A Secret without its data. It cannot be written back: see {@linkcode Reduced}. */
export type WithoutData<T extends SecretLike> = Omit<T, "data" | "stringData"> & Pick<T, "metadata"> & Reduced;

/** Returns `true` for the resource of Secrets, in any representation. */
export function isSecret({ group, plural }: Resource): boolean {
  return group === "" && plural === "secrets";
}
