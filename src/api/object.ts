/**
 * The vocabulary that all other folders share: objects, resources, keys, entries, changes, selectors, options and
 * errors.
 *
 * Entry points: {@linkcode KubernetesObject}, `Resource` (a kind and its place on the server), `Entry` (one version of
 * one object) and `ListerWatcher` (the requests of a reflector). This folder has types and small functions on them: it
 * sends no requests, caches nothing, and imports no other folder.
 *
 * @module
 */

/** Metadata of a stored object. */
export interface ObjectMeta {
  /** The name; unique among the objects of one kind in one namespace. */
  readonly name: string;
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
  /** The time of creation, RFC 3339. */
  readonly creationTimestamp?: string;
  /** The time at which deletion was requested, RFC 3339. */
  readonly deletionTimestamp?: string;
  /** The time that a deletion may take, in seconds. */
  readonly deletionGracePeriodSeconds?: number;
  /** Identifiers of components that must act before the object is removed. */
  readonly finalizers?: readonly string[];
  /** The objects that own this one. */
  readonly ownerReferences?: readonly OwnerReference[];
  /** The fields that each field manager has set. Informers drop it by default. */
  readonly managedFields?: readonly unknown[];
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

/** An object of any kind. */
export interface KubernetesObject {
  /** Group and version, `"apps/v1"`, or `"v1"` for the core group. */
  readonly apiVersion?: string;
  /** The kind, `"Pod"`. */
  readonly kind?: string;
  /** The identity, the version and the labels of the object. */
  readonly metadata: ObjectMeta;
}

/** An object to be created or updated: metadata that the server fills in may be absent. */
export type Draft<T extends KubernetesObject> =
  & Omit<T, "metadata" | "status">
  & { readonly metadata: Partial<ObjectMeta> & { readonly generateName?: string }; readonly status?: unknown };
