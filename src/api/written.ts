/**
 * The types of what a program writes: drafts, server-side applies and merge patches.
 *
 * {@linkcode ObjectDraft}, {@linkcode Apply} and {@linkcode MergePatch} are computed from the type of the object that
 * is read. The other types are their parts. The only function, {@linkcode copyOf}, copies an object for an update. This
 * file does not check values: the API server does.
 *
 * @module
 */
import {
  type Complete,
  type IsReduced,
  type KubernetesObject,
  type OwnerReference,
  type reduced,
  refuseReduced,
} from "./object.ts";
import type { quantity } from "./quantity.ts";

/** The literals of an enum that is open for reading (`OpenEnum`); `never` for other types. */
export type EnumLiterals<T> = T extends string ? (string extends T ? never : T) : never;

/** Values in JSON that have no parts. */
export type Scalar = string | number | boolean | null | undefined;

/** A scalar type `T` as it is written: without the `string` of an open enum, whose literals are `Enums`. */
export type WrittenScalar<T, Enums> = T extends string ? (string extends T ? ([Enums] extends [never] ? T : never) : T)
  : T;

/** A value of type `T` as it is written, complete and with enums closed. `Enums` is computed from `T`; leave it out. */
export type WrittenValue<T, Enums = EnumLiterals<T>> = unknown extends T ? T
  : T extends Scalar ? WrittenScalar<T, Enums>
  : T extends readonly (infer Item)[] ? readonly WrittenValue<Item>[]
  : { readonly [Name in keyof T]: WrittenValue<T[Name]> };

/** A scalar type `T` as it is sent: as it is written, and a quantity as a number too. */
export type SentScalar<T, Enums> = WrittenScalar<T, Enums> | (typeof quantity extends keyof T ? number : never);

/** A value of type `T` as it is sent to the server, complete. `Enums` is computed from `T`; leave it out. */
export type SentValue<T, Enums = EnumLiterals<T>> = unknown extends T ? T
  : T extends Scalar ? SentScalar<T, Enums>
  : T extends readonly (infer Item)[] ? readonly SentValue<Item>[]
  : { readonly [Name in keyof T]: SentValue<T[Name]> };

/**
 * A value that can be changed: `T` without `readonly`, at any depth, and with enums closed. `Enums` is computed from
 * `T`; leave it out.
 *
 * `Mutable<Pod>` is what `update` takes, and can be read as a `Pod`.
 */
export type Mutable<T, Enums = EnumLiterals<T>> = unknown extends T ? T
  : T extends Scalar ? WrittenScalar<T, Enums>
  : T extends readonly (infer Item)[] ? Mutable<Item>[]
  : { -readonly [Name in keyof T]: Mutable<T[Name]> };

/**
 * Returns a deep copy of an object or of a part of it, which can be changed: objects of a cache are its own.
 *
 * @throws {TypeError} when it has a part that is {@linkcode reduced}, which cannot be written; `structuredClone` copies
 *   it.
 *
 * @example
 * ```ts
 * import { copyOf } from "@kube/informer";
 * import { pod } from "@kube/informer/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const cart = copyOf(pod({ name: "cart-0" }));
 * cart.metadata.labels = { app: "cart" };
 * cart.spec.containers[0].image = "registry.example.com/cart:2";
 * assertEquals(cart.metadata.name, "cart-0");
 * ```
 */
export function copyOf<T>(value: T & (Complete | null | undefined)): Mutable<T> {
  refuseReduced("copy an object for a write", value);
  return structuredClone(value) as Mutable<T>;
}

/**
 * An object to be created: `T` without status and the metadata that the server sets.
 *
 * What the API requires is required, and enums have only the values that the server knows. The metadata has a name, or
 * the beginning of one; for an object that is not stored, such as a review, it may be absent. There is no draft of
 * {@linkcode Reduced} objects.
 *
 * @example
 * ```ts
 * import type { ObjectDraft } from "@kube/informer";
 * import type { Pod } from "@kube/informer/kinds/core/v1";
 *
 * const cart: ObjectDraft<Pod> = {
 *   metadata: { generateName: "cart-", labels: { app: "cart" } },
 *   spec: { containers: [{ name: "app", image: "registry.example.com/cart:1" }], restartPolicy: "Never" },
 * };
 * ```
 */
export type ObjectDraft<T extends KubernetesObject> =
  & {
    readonly [Name in keyof T as Name extends "metadata" | "status" | "$ephemeral" | typeof reduced ? never : Name]:
      SentValue<
        T[Name]
      >;
  }
  & (IsReduced<T> extends true ? { readonly [reduced]: never }
    : IsEphemeral<T> extends true ? { readonly metadata?: DraftMeta }
    : { readonly metadata: NamedDraftMeta })
  & Complete;

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

/**
 * The fields of an object that a manager owns from now on, for server-side apply.
 *
 * Everything is optional but the name, and in items of a list that the server merges (`ListMap`) the fields that
 * identify them. Other lists are replaced, so their items are complete.
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
export type Apply<T extends KubernetesObject> = ApplyFields<T> & Complete & {
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

/**
 * The part of a value that a merge patch (RFC 7386) changes: values replace, `null` deletes, lists are replaced by
 * complete ones. `Enums` is computed from `T`; leave it out.
 *
 * @example
 * ```ts
 * import type { MergePatch } from "@kube/informer";
 * import type { Deployment } from "@kube/informer/kinds/apps/v1";
 *
 * const patch: MergePatch<Deployment> = { metadata: { labels: { tier: null } }, spec: { replicas: 3 } };
 * ```
 */
export type MergePatch<T, Enums = EnumLiterals<T>> = unknown extends T ? T
  : T extends Scalar ? SentScalar<T, Enums>
  : T extends readonly (infer Item)[] ? readonly SentValue<Item>[]
  : { readonly [Name in keyof T]?: MergePatch<T[Name]> | null };
