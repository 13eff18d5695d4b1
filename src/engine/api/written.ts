/**
 * Types for writes: drafts, server-side applies and merge patches.
 *
 * {@linkcode ObjectDraft}, {@linkcode Apply} and {@linkcode MergePatch} are computed from the type of the object that
 * you read. The other types are their parts. The only function, {@linkcode copyOf}, copies an object for an update.
 * This file does not check values: the API server does.
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
import { markAs } from "./large_integers.ts";
import type { quantity } from "./quantity.ts";

/** The literals in an enum that is open for reading (`OpenEnum`). `never` for other types. */
export type EnumLiterals<T> = T extends string ? (string extends T ? never : T) : never;

/** JSON values that have no parts. */
export type Scalar = string | number | boolean | null | undefined;

/** A scalar type `T` for writes: without the `string` in an open enum, whose literals are `Enums`. */
export type WrittenScalar<T, Enums> = T extends string ? (string extends T ? ([Enums] extends [never] ? T : never) : T)
  : T;

/** A complete value for writes, with closed enums. Leave `Enums` out: it is computed from `T`. */
export type WrittenValue<T, Enums = EnumLiterals<T>> = unknown extends T ? T
  : T extends Scalar ? WrittenScalar<T, Enums>
  : T extends readonly (infer Item)[] ? readonly WrittenValue<Item>[]
  : { readonly [Name in keyof T]: WrittenValue<T[Name]> };

/** A scalar type `T` for requests: like {@linkcode WrittenScalar}, but a quantity may also be a number. */
export type SentScalar<T, Enums> = WrittenScalar<T, Enums> | (typeof quantity extends keyof T ? number : never);

/**
 * A complete value for requests, with closed enums. A quantity may be a number. Leave `Enums` out: it is computed from
 * `T`.
 */
export type SentValue<T, Enums = EnumLiterals<T>> = unknown extends T ? T
  : T extends Scalar ? SentScalar<T, Enums>
  : T extends readonly (infer Item)[] ? readonly SentValue<Item>[]
  : { readonly [Name in keyof T]: SentValue<T[Name]> };

/**
 * A value that you can change: `T` without `readonly` at any depth, and with closed enums. Leave `Enums` out: it is
 * computed from `T`.
 *
 * `update` takes a `Mutable<Pod>`, and you can read it as a `Pod`.
 */
export type Mutable<T, Enums = EnumLiterals<T>> = unknown extends T ? T
  : T extends Scalar ? WrittenScalar<T, Enums>
  : T extends readonly (infer Item)[] ? Mutable<Item>[]
  : { -readonly [Name in keyof T]: Mutable<T[Name]> };

/**
 * Returns a deep copy that you can change, for example for an `update`. Never change a cached object itself: it belongs
 * to the cache. In custom kinds, the copy keeps the exact digits of integers that JavaScript rounds.
 *
 * @throws {TypeError} if a part is {@linkcode reduced}, because it cannot be written. `structuredClone` copies such an
 * object.
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
  return markAs(value, structuredClone(value)) as Mutable<T>;
}

/**
 * An object to create: `T` without its status and the metadata that the server sets.
 *
 * Fields that the API requires are required, and enums allow only the values that the server knows. The metadata needs
 * a `name` or `generateName`, but is optional for objects that are not stored, such as reviews. There is no draft for
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

/** `true` for an `EphemeralObject`, but not for objects that may have any member, including `$ephemeral`. */
export type IsEphemeral<T> = string extends keyof T ? false : "$ephemeral" extends keyof T ? true : false;

/** Metadata that a writer sets. */
export interface DraftMeta {
  /** The name. */
  readonly name?: string;
  /** The start of a name, which the server completes if there is no name. */
  readonly generateName?: string;
  /** The namespace. @default {the collection's namespace} */
  readonly namespace?: string;
  /** Names and values that label selectors match. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Names and values that selectors do not match. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** Identifiers of components that must act before the server removes the object. */
  readonly finalizers?: readonly string[];
  /** The objects that own this object. */
  readonly ownerReferences?: readonly OwnerReference[];
}

/** Metadata with a name, or the start of a name. */
export type NamedDraftMeta = DraftMeta & ({ readonly name: string } | { readonly generateName: string });

/**
 * The fields that a field manager owns from now on, for server-side apply.
 *
 * Only the name is required, plus the identifying fields in each item of a merged list (`ListMap`). Other lists are
 * replaced, so their items must be complete.
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
  /** The object's name, and metadata that the manager owns. */
  readonly metadata: ApplyMeta;
};

/** The fields in {@linkcode Apply} without metadata. */
export type ApplyFields<T extends KubernetesObject> = {
  readonly [Name in keyof T as Name extends "metadata" | "$ephemeral" | typeof reduced ? never : Name]?: AppliedValue<
    T[Name]
  >;
};

/** Metadata that a manager owns, and the object's name. */
export interface ApplyMeta extends Omit<DraftMeta, "generateName"> {
  /** The name. */
  readonly name: string;
  /** If the object exists with another uid, the server responds with 409. */
  readonly uid?: string;
  /** If the object exists with another version, the server responds with 409. */
  readonly resourceVersion?: string;
}

/** A part of an applied object. Leave `Enums` out: it is computed from `T`. */
export type AppliedValue<T, Enums = EnumLiterals<T>> = unknown extends T ? T
  : T extends Scalar ? SentScalar<T, Enums>
  : T extends { readonly $keys?: infer Keys } & readonly (infer Item)[]
    ? ("$keys" extends keyof T ? readonly AppliedItem<Item, Extract<Keys, keyof Item>>[]
      : readonly SentValue<Item>[])
  : T extends readonly (infer Item)[] ? readonly SentValue<Item>[]
  : { readonly [Name in keyof T]?: AppliedValue<T[Name]> };

/** An item in a list that the server merges by `Keys`. */
export type AppliedItem<Item, Keys extends keyof Item> =
  & { readonly [Name in Keys]: SentValue<Item[Name]> }
  & { readonly [Name in Exclude<keyof Item, Keys>]?: AppliedValue<Item[Name]> };

/**
 * The part that a merge patch (RFC 7386) changes: values replace, `null` deletes, and a list replaces the whole list.
 * Leave `Enums` out: it is computed from `T`.
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
