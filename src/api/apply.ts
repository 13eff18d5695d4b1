import type { DraftMeta } from "./draft.ts";
import type { KubernetesObject } from "./object.ts";
import type { reduced, Whole } from "./reduced.ts";
import type { EnumLiterals, Scalar, SentScalar, SentValue } from "./written.ts";

/**
 * The fields of an object that a manager owns from now on, for server-side apply.
 *
 * Everything is optional but the name, and in items of a list that the server merges (`ListMap`) the fields that identify
 * them. Other lists are replaced, so their items are complete.
 *
 * @example
 * ```ts
 * import type { Apply } from "@kube/informer";
 * import type { Deployment } from "@kube/informer/kinds/apps/v1";
 *
 * const image: Apply<Deployment> = {
 *   metadata: { name: "cart" },
 *   spec: { template: { spec: { containers: [{ name: "app", image: "registry.example.com/cart:2" }] } } },
 * };
 * ```
 */
export type Apply<T extends KubernetesObject> = ApplyFields<T> & Whole & {
  /** The name of the object, and metadata that the manager owns. */
  readonly metadata: ApplyMeta;
};

/** The fields of {@linkcode Apply} without metadata. */
export type ApplyFields<T extends KubernetesObject> = {
  readonly [Name in keyof T as Name extends "metadata" | "$ephemeral" | typeof reduced ? never : Name]?: AppliedValue<
    T[Name]
  >;
};

/** Metadata that a manager owns, and the name of the object. */
export interface ApplyMeta extends Omit<DraftMeta, "generateName"> {
  /** The name. */
  readonly name: string;
  /** If the object is there with another uid, the server answers 409. */
  readonly uid?: string;
  /** If the object is there with another version, the server answers 409. */
  readonly resourceVersion?: string;
}

/** A part of an object that is applied. `Enums` is computed from `T`; leave it out. */
export type AppliedValue<T, Enums = EnumLiterals<T>> = unknown extends T ? T
  : T extends Scalar ? SentScalar<T, Enums>
  : T extends { readonly $keys?: infer Keys } & readonly (infer Item)[]
    ? ("$keys" extends keyof T ? readonly AppliedItem<Item, Extract<Keys, keyof Item>>[]
      : readonly SentValue<Item>[])
  : T extends readonly (infer Item)[] ? readonly SentValue<Item>[]
  : { readonly [Name in keyof T]?: AppliedValue<T[Name]> };

/** An item of a list that the server merges by `Keys`. */
export type AppliedItem<Item, Keys extends keyof Item> =
  & { readonly [Name in Keys]: SentValue<Item[Name]> }
  & { readonly [Name in Exclude<keyof Item, Keys>]?: AppliedValue<Item[Name]> };
