/**
 * Kubernetes objects as you read them, and their keys.
 *
 * {@linkcode KubernetesObject} is the entry point, and {@linkcode keyOf} returns an object's namespace and name as one
 * string. A projection that leaves fields out yields {@linkcode Reduced} objects. The types for writes are in
 * `written.ts`.
 *
 * @module
 */
import { ArgumentError } from "../errors/checks.ts";

/**
 * A list whose items are identified by the fields `K` (`x-kubernetes-list-type: map`).
 *
 * Read it like an array. Server-side apply merges such lists item by item, so `Apply` requires `K` in each item.
 */
export interface ListMap<T, K extends keyof T> extends ReadonlyArray<T> {
  /** Carries the names `K` in the type. Never set. */
  readonly $keys?: K;
}

/** A point in time, RFC 3339 in whole seconds: `"2026-01-31T12:00:00Z"`. */
export type Time = string;

/** A point in time, RFC 3339 in microseconds: `"2026-01-31T12:00:00.000000Z"`. */
export type MicroTime = string;

/** Metadata of a stored object. */
export interface ObjectMeta {
  /** The name. It is unique within the kind and namespace. */
  readonly name: string;
  /** The start of a name, which the server completes when it creates an object without a name. */
  readonly generateName?: string;
  /** The namespace. Absent on cluster-scoped objects. */
  readonly namespace?: string;
  /** The unique identifier. A deleted and re-created object has another uid under the same name. */
  readonly uid: string;
  /** The object's version: a string of digits that grows with each change. */
  readonly resourceVersion: string;
  /** A number that grows when the desired state changes. */
  readonly generation?: number;
  /** Names and values that label selectors match. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Names and values that selectors do not match. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** The creation time. */
  readonly creationTimestamp: Time;
  /** The time after which the object may be removed. Set when somebody has requested its deletion. */
  readonly deletionTimestamp?: Time;
  /** How long the deletion may take, in seconds. */
  readonly deletionGracePeriodSeconds?: number;
  /** Identifiers of components that must act before the server removes the object. */
  readonly finalizers?: readonly string[];
  /** The objects that own this object. */
  readonly ownerReferences?: ListMap<OwnerReference, "uid">;
  /** The fields that each field manager has set. Informers drop them by default. */
  readonly managedFields?: readonly ManagedFieldsEntry[];
  /** The object's path. Servers since Kubernetes 1.20 leave it out. */
  readonly selfLink?: string;
}

/** A reference from an object to its owner. */
export interface OwnerReference {
  /** The owner's group and version. */
  readonly apiVersion: string;
  /** The owner's kind. */
  readonly kind: string;
  /** The owner's name. The owner is in the same namespace or cluster-scoped. */
  readonly name: string;
  /** The owner's uid, which distinguishes it from a later object with the same name. */
  readonly uid: string;
  /** `true` if this owner is the managing controller. An object has at most one. */
  readonly controller?: boolean;
  /** `true` if a foreground deletion of the owner waits until this object is removed. */
  readonly blockOwnerDeletion?: boolean;
}

/** The fields that one field manager has set. */
export interface ManagedFieldsEntry {
  /** The manager's name. */
  readonly manager?: string;
  /** `"Apply"` for server-side apply, `"Update"` for all other writes. */
  readonly operation?: string;
  /** The API version in which the fields are named. */
  readonly apiVersion?: string;
  /** The time at which the manager last made a change. */
  readonly time?: Time;
  /** The form of `fieldsV1`: `"FieldsV1"`. */
  readonly fieldsType?: string;
  /** The fields, as a tree of their names. */
  readonly fieldsV1?: Readonly<Record<string, unknown>>;
  /** The subresource through which the fields were written. */
  readonly subresource?: string;
}

/** An object of any kind. */
export interface KubernetesObject {
  /** Group and version: `"apps/v1"`, or `"v1"` for the core group. */
  readonly apiVersion?: string;
  /** The kind, `"Pod"`. */
  readonly kind?: string;
  /** The object's name, uid, version, labels and other metadata. */
  readonly metadata: ObjectMeta;
}

/** An object whose kind is namespaced. */
export interface NamespacedObject extends KubernetesObject {
  /** The metadata, with the namespace. */
  readonly metadata: ObjectMeta & { readonly namespace: string };
}

/** An object whose kind is cluster-scoped. It has no namespace. */
export interface ClusterScopedObject extends KubernetesObject {
  /** The metadata, without a namespace. */
  readonly metadata: ObjectMeta & { readonly namespace?: never };
}

/**
 * An object whose kind is known only at run time. You can read its other members, which have the type `unknown`, so
 * check them before use.
 */
export interface DynamicObject extends KubernetesObject {
  /** Any other member. */
  readonly [member: string]: unknown;
}

/**
 * An object that the server returns but does not store, such as a review.
 *
 * Its metadata is the request's metadata. You need no metadata to create the object, and cannot rely on any in the
 * response.
 */
export interface EphemeralObject extends KubernetesObject {
  /** Distinguishes the type. Never set. */
  readonly $ephemeral?: true;
}

/**
 * Marks an object that lacks some fields which the server has. Such objects come from caches with selected fields, from
 * caches with only metadata, and from table rows. A write could remove the missing fields, so writes refuse marked
 * objects.
 *
 * The value lists the fields that the object has. The property is enumerable, so a spread copy keeps the mark.
 * `JSON.stringify` leaves it out.
 */
export const reduced: unique symbol = /* @__PURE__ */ Symbol.for("@kube/informer/reduced");

/** An object that may have the mark {@linkcode reduced}. Functions that write do not accept this type. */
export interface Reduced {
  /** The fields that the object has, for error messages. */
  readonly [reduced]?: string;
}

/**
 * An object without the mark {@linkcode reduced}. No type of reduced objects is assignable to it.
 *
 * It names `metadata` because the compiler demands a member in common. It is a type alias, so that it is assignable to
 * types with an index signature.
 */
export type Complete = { readonly [reduced]?: never; readonly metadata?: unknown };

/**
 * Throws if a value contains a reduced object at any depth. With `"in arrays"`, only objects inside arrays count.
 *
 * @throws {TypeError} The message begins with `Cannot` and the action, and names the fields and the remedy.
 */
export function refuseReduced(action: string, value: unknown, place: "anywhere" | "in arrays" = "anywhere"): void {
  const found = findReduced(value, place === "anywhere");
  if (found === undefined) return;
  throw new ArgumentError(
    `Cannot ${action}: it is reduced to ${found}, and the write would remove its other fields. Read the object with ` +
      `client.get(), or send only the changed fields in a merge patch or an apply`,
  );
}

function findReduced(value: unknown, counts: boolean): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const mark = (value as Reduced)[reduced];
  if (counts && mark !== undefined) return mark;
  const isCounted = counts || Array.isArray(value);
  // Not by `Object.values`: an array for each part would cost more than the rest.
  for (const name in value) {
    const found = findReduced((value as Record<string, unknown>)[name], isCounted);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** `true` for types of {@linkcode Reduced} objects. */
export type IsReduced<T> = typeof reduced extends keyof T ? true : false;

/** A number, or a text that names or describes a number: `80` or `"http"`, `2` or `"25%"`. */
export type IntOrString = number | string;

/**
 * A text from the set `T`. A newer server may send other texts, so handle them when you read.
 *
 * When you write, only `T` is allowed: {@linkcode ObjectDraft}, `Mutable` and `Apply` replace this type with `T`.
 */
// deno-lint-ignore ban-types -- plain `string` would absorb the literals.
export type OpenEnum<T extends string> = T | (string & {});

/** An object's key: `"namespace/name"`, or `"name"` if it is cluster-scoped. */
export type ObjectKey = string;

/**
 * Returns an object's key: `"namespace/name"`, or `"name"` if it is cluster-scoped. Use it to look the object up in a
 * lister or to enqueue it.
 *
 * A missing name counts as empty. Slashes in the namespace or name are not checked, because the server never allows
 * them.
 *
 * @example
 * ```ts
 * import { keyOf } from "@kube/informer";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(keyOf({ metadata: { namespace: "shop", name: "cart-0" } }), "shop/cart-0");
 * assertEquals(keyOf({ metadata: { name: "node-1" } }), "node-1");
 * ```
 */
export function keyOf(
  object: { readonly metadata: { readonly namespace?: string; readonly name?: string } },
): ObjectKey {
  const { namespace, name = "" } = object.metadata;
  return namespace ? `${namespace}/${name}` : name;
}

/**
 * Splits a key into namespace and name. A cluster-scoped object's key gives no `namespace`.
 *
 * @throws {SyntaxError} if the key has more than two parts.
 */
export function splitKey(key: ObjectKey): { readonly namespace?: string; readonly name: string } {
  const parts = key.split("/");
  if (parts.length === 1) return { name: parts[0] };
  if (parts.length === 2) return { namespace: parts[0], name: parts[1] };
  throw new SyntaxError(`Cannot split key "${key}": it has ${parts.length} parts, but a key is NAME or NAMESPACE/NAME`);
}

/** Encodes text as UTF-8. */
export const encoder: TextEncoder = /* @__PURE__ */ new TextEncoder();

/**
 * Decodes UTF-8. Broken bytes become U+FFFD: a fatal decoder would take two to three times as long. Do not use it with
 * the option `stream`, which needs a decoder for each stream.
 */
export const decoder: TextDecoder = /* @__PURE__ */ new TextDecoder();

/** Encodes bytes, or a text's UTF-8 bytes, as base64, like the data in Secrets. */
export function base64Of(data: string | Uint8Array): string {
  const bytes = typeof data === "string" ? encoder.encode(data) : data;
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}
