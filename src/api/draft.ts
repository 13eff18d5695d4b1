import type { KubernetesObject, OwnerReference } from "./object.ts";
import type { IsReduced, reduced, Whole } from "./reduced.ts";
import type { SentValue } from "./written.ts";

/**
 * An object to be created: `T` without status and the metadata that the server sets.
 *
 * What the API requires is required, and enums have only the values that the server knows. The metadata has a name, or the
 * beginning of one; for an object that is not stored, such as a review, it may be absent. There is no draft of {@linkcode Reduced}
 * objects.
 *
 * @example
 * ```ts
 * import type { Draft } from "@kube/informer";
 * import type { Pod } from "@kube/informer/kinds/core/v1";
 *
 * const cart: Draft<Pod> = {
 *   metadata: { generateName: "cart-", labels: { app: "cart" } },
 *   spec: { containers: [{ name: "app", image: "registry.example.com/cart:1" }], restartPolicy: "Never" },
 * };
 * ```
 */
export type Draft<T extends KubernetesObject> =
  & {
    readonly [Name in keyof T as Name extends "metadata" | "status" | "$ephemeral" | typeof reduced ? never : Name]:
      SentValue<
        T[Name]
      >;
  }
  & (IsReduced<T> extends true ? { readonly [reduced]: never }
    : IsEphemeral<T> extends true ? { readonly metadata?: DraftMeta }
    : { readonly metadata: NamedDraftMeta })
  & Whole;

/** `true` for an `EphemeralObject`; not for objects that may have any member, `$ephemeral` too. */
export type IsEphemeral<T> = string extends keyof T ? false : "$ephemeral" extends keyof T ? true : false;

/** Metadata that a writer sets. */
export interface DraftMeta {
  /** The name. */
  readonly name?: string;
  /** The beginning of the name, which the server completes if there is no name. */
  readonly generateName?: string;
  /** The namespace. @default {that of the collection} */
  readonly namespace?: string;
  /** Names and values that label selectors match. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Names and values that selectors do not match. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** Identifiers of components that must act before the object is removed. */
  readonly finalizers?: readonly string[];
  /** The objects that own this one. */
  readonly ownerReferences?: readonly OwnerReference[];
}

/** Metadata with a name, or the beginning of one. */
export type NamedDraftMeta = DraftMeta & ({ readonly name: string } | { readonly generateName: string });
