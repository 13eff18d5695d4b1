/**
 * Objects as they are read, and their keys.
 *
 * {@linkcode KubernetesObject} is the entry point. {@linkcode keyOf} names an object by namespace and name. A
 * projection that leaves fields out yields {@linkcode Reduced} objects. The types that a program writes are in
 * `written.ts`.
 *
 * @module
 */

/**
 * A list whose items are identified by the fields `K` (`x-kubernetes-list-type: map`).
 *
 * It is an array to its readers. Server-side apply merges such lists item by item, so `Apply` requires `K` in each
 * item.
 */
export interface ListMap<T, K extends keyof T> extends ReadonlyArray<T> {
  /** Carries the names `K`; never set. */
  readonly $keys?: K;
}

/** A point in time, RFC 3339 in whole seconds: `"2026-01-31T12:00:00Z"`. */
export type Time = string;

/** A point in time, RFC 3339 in microseconds: `"2026-01-31T12:00:00.000000Z"`. */
export type MicroTime = string;

/** Metadata of a stored object. */
export interface ObjectMeta {
  /** The name; unique among the objects of one kind in one namespace. */
  readonly name: string;
  /** The beginning of the name, which the server completes when it creates an object without a name. */
  readonly generateName?: string;
  /** The namespace; absent on cluster-scoped objects. */
  readonly namespace?: string;
  /** The unique identifier; an object that is created again under the same name has another one. */
  readonly uid: string;
  /** The version of the object, a string of digits that grows with each change. */
  readonly resourceVersion: string;
  /** A number that grows when the desired state changes. */
  readonly generation?: number;
  /** Names and values that label selectors match. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Names and values that selectors do not match. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** The time of creation. */
  readonly creationTimestamp: Time;
  /** The time at which the object may be removed, once its deletion was requested. */
  readonly deletionTimestamp?: Time;
  /** The time that a deletion may take, in seconds. */
  readonly deletionGracePeriodSeconds?: number;
  /** Identifiers of components that must act before the object is removed. */
  readonly finalizers?: readonly string[];
  /** The objects that own this one. */
  readonly ownerReferences?: ListMap<OwnerReference, "uid">;
  /** The fields that each field manager has set. Informers drop it by default. */
  readonly managedFields?: readonly ManagedFieldsEntry[];
  /** The path of the object. Servers since Kubernetes 1.20 leave it out. */
  readonly selfLink?: string;
}

/** A reference to an object that owns another one. */
export interface OwnerReference {
  /** Group and version of the owner. */
  readonly apiVersion: string;
  /** Kind of the owner. */
  readonly kind: string;
  /** Name of the owner, which is in the same namespace or cluster-scoped. */
  readonly name: string;
  /** The uid of the owner, which distinguishes it from a later object of the same name. */
  readonly uid: string;
  /** True when this owner is the managing controller; an object has at most one. */
  readonly controller?: boolean;
  /** True when a foreground deletion of the owner waits for this object to be removed. */
  readonly blockOwnerDeletion?: boolean;
}

/** The fields that one field manager has set. */
export interface ManagedFieldsEntry {
  /** The name of the manager. */
  readonly manager?: string;
  /** `"Apply"` for server-side apply, `"Update"` for all other writes. */
  readonly operation?: string;
  /** The version of the kind in which the fields are named. */
  readonly apiVersion?: string;
  /** The time of the manager's last change. */
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
  /** Group and version, `"apps/v1"`, or `"v1"` for the core group. */
  readonly apiVersion?: string;
  /** The kind, `"Pod"`. */
  readonly kind?: string;
  /** The identity, the version and the labels of the object. */
  readonly metadata: ObjectMeta;
}

/** An object of a kind whose objects are in namespaces. */
export interface NamespacedObject extends KubernetesObject {
  /** The identity, with the namespace. */
  readonly metadata: ObjectMeta & { readonly namespace: string };
}

/** An object of a cluster-scoped kind, which is in no namespace. */
export interface ClusterScopedObject extends KubernetesObject {
  /** The identity, without a namespace. */
  readonly metadata: ObjectMeta & { readonly namespace?: never };
}

/**
 * An object whose kind is known at run time alone. Its other members can be read, and are of type `unknown`: the reader
 * checks them.
 */
export interface DynamicObject extends KubernetesObject {
  /** Any other member. */
  readonly [member: string]: unknown;
}

/**
 * An object that the server answers and does not store, such as a review. Its metadata is that of the request: nothing
 * is promised of it, and none is needed to create the object.
 */
export interface EphemeralObject extends KubernetesObject {
  /** Distinguishes the type; never set. */
  readonly $ephemeral?: true;
}

/**
 * Marks an object that lacks fields which the server has of it: one of a cache of named fields or of metadata, or the
 * row of a table. A write of it could remove these fields, so writes refuse it.
 *
 * The value names the fields that it has. The property is enumerable, so that a copy by spreading has it too, and is
 * left out by `JSON.stringify`.
 */
export const reduced: unique symbol = /* @__PURE__ */ Symbol.for("@kube/informer/reduced");

/** An object that may have the mark {@linkcode reduced}: its type cannot be written. */
export interface Reduced {
  /** The fields that the object has, for messages. */
  readonly [reduced]?: string;
}

/**
 * An object without the mark {@linkcode reduced}: no type of reduced objects is assignable to it. `metadata` is named
 * because the compiler demands a member in common; an alias, so that it is assignable to types with an index signature.
 */
export type Complete = { readonly [reduced]?: never; readonly metadata?: unknown };

/**
 * Refuses a value that has a reduced object in it, at any depth; with `"in arrays"` only one that is part of an array.
 *
 * @throws {TypeError} that begins with `Cannot` and the action, and names the fields and what to do instead.
 */
export function refuseReduced(action: string, value: unknown, place: "anywhere" | "in arrays" = "anywhere"): void {
  const found = findReduced(value, place === "anywhere");
  if (found === undefined) return;
  throw new TypeError(
    `Cannot ${action}: it is reduced to ${found}, and the write would remove its other fields. Read the object with ` +
      `client.get(), or send only the changed fields in a merge patch or an apply`,
  );
}

function findReduced(value: unknown, counts: boolean): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const mark = (value as Reduced)[reduced];
  if (counts && mark !== undefined) return mark;
  for (const part of Object.values(value)) {
    const found = findReduced(part, counts || Array.isArray(value));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns `true` for an object with members, not for `null` or an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `true` for types of {@linkcode Reduced} objects. */
export type IsReduced<T> = typeof reduced extends keyof T ? true : false;

/** A number, or a text that names or describes one: `80` or `"http"`, `2` or `"25%"`. */
export type IntOrString = number | string;

/**
 * A text that is one of `T` today; a newer server may send others.
 *
 * Only reading is open: {@linkcode ObjectDraft}, `Mutable` and `Apply` have `T` alone in its place.
 */
// deno-lint-ignore ban-types -- `string` alone would absorb the literals.
export type OpenEnum<T extends string> = T | (string & {});

/** `"namespace/name"`, or `"name"` when cluster-scoped. */
export type ObjectKey = string;

/**
 * Returns the key of an object.
 *
 * A missing name counts as empty. Namespace and name are not checked for slashes, which the server never allows.
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
 * Splits a key into namespace and name; `namespace` is absent for a cluster-scoped object.
 *
 * @throws {SyntaxError} when the key has more than two parts.
 */
export function splitKey(key: ObjectKey): { readonly namespace?: string; readonly name: string } {
  const parts = key.split("/");
  if (parts.length === 1) return { name: parts[0] };
  if (parts.length === 2) return { namespace: parts[0], name: parts[1] };
  throw new SyntaxError(`Cannot split key "${key}": it has ${parts.length} parts, but a key is NAME or NAMESPACE/NAME`);
}

/** Encodes texts as UTF-8. */
export const encoder: TextEncoder = /* @__PURE__ */ new TextEncoder();

/**
 * Decodes UTF-8; broken bytes read as U+FFFD. It is not fatal, which would take two to three times as long; the option
 * `stream`, which has a state, needs a decoder of its own.
 */
export const decoder: TextDecoder = /* @__PURE__ */ new TextDecoder();

/** Returns the base64 of a text in UTF-8, as the data of Secrets has it. */
export function base64Of(text: string): string {
  return btoa(Array.from(encoder.encode(text), (byte) => String.fromCharCode(byte)).join(""));
}
