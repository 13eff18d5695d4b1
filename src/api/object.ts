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

import type { ListMap } from "./list_map.ts";
import type { Time } from "./time.ts";

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

/** An object whose kind is known at run time alone. Its other members can be read, and are of type `unknown`: the reader checks them. */
export interface DynamicObject extends KubernetesObject {
  /** Any other member. */
  readonly [member: string]: unknown;
}

/**
 * An object that the server answers and does not store, such as a review. Its metadata is that of the request: nothing is
 * promised of it, and none is needed to create the object.
 */
export interface EphemeralObject extends KubernetesObject {
  /** Distinguishes the type; never set. */
  readonly $ephemeral?: true;
}
