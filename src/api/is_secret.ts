import type { KubernetesObject } from "./object.ts";
import type { Resource } from "./resource.ts";
import type { Reduced } from "./reduced.ts";

/** The members of a Secret that hold its data. */
export const SECRET_DATA: readonly string[] = ["data", "stringData"];

/**
 * The annotations in which tools keep the data of a Secret: copies of what was applied by kubectl, kapp, Rancher and the
 * operators of Banzai Cloud, and the token of a service account by OpenShift.
 */
export const SECRET_ANNOTATIONS: readonly string[] = [
  "kubectl.kubernetes.io/last-applied-configuration",
  "kapp.k14s.io/original",
  "kapp.k14s.io/original-diff",
  "kapp.k14s.io/original-diff-full",
  "kapp.k14s.io/original-diff-md5",
  "objectset.rio.cattle.io/applied",
  "banzaicloud.com/last-applied",
  "openshift.io/token-secret.value",
];

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
