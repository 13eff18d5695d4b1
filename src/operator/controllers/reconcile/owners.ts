/**
 * Owner references: the garbage collector deletes an object after its owners.
 *
 * {@linkcode withController} and {@linkcode withOwner} are the entry points. They return copies, and send no requests.
 *
 * @module
 */
import type { KubernetesObject, OwnerReference } from "../../../engine/api/object.ts";
import { checkNames } from "../../../engine/errors/option_names.ts";

/** The part of an object or draft that owner references need. */
export interface Ownable {
  /** The name, the namespace and the present owners. */
  readonly metadata: {
    readonly name?: string;
    readonly generateName?: string;
    readonly namespace?: string;
    readonly ownerReferences?: readonly OwnerReference[];
  };
}

/** Options for owner references. */
export interface OwnerOptions {
  /**
   * Whether a foreground deletion of the owner waits for this object. If the server uses the admission plugin
   * `OwnerReferencesPermissionEnforcement`, you need the right to update the owner's `finalizers`. By default `true`
   * for a controller and `false` for other owners.
   */
  readonly blockOwnerDeletion?: boolean;
}

/** Another object is the controller already. */
export class AlreadyControlledError extends Error {
  /** `"AlreadyControlledError"`. */
  override readonly name = "AlreadyControlledError";
  /** The reference to the present controller. */
  readonly controller: OwnerReference;

  /** Creates an error about an object that `controller` manages. */
  constructor(message: string, controller: OwnerReference) {
    super(message);
    this.controller = controller;
  }
}

/**
 * Returns an owner reference to `owner`. Use {@linkcode withController} or {@linkcode withOwner} unless you need only
 * the reference.
 *
 * @throws {TypeError} if the owner lacks apiVersion, kind, name or uid. The garbage collector would delete objects with
 * such a reference, or never find the owner.
 */
export function ownerReferenceTo(
  owner: KubernetesObject,
  options: OwnerOptions & { readonly controller?: boolean } = {},
): OwnerReference {
  checkNames("refer to an owner", options, "controller blockOwnerDeletion");
  const { controller = false, blockOwnerDeletion = controller } = options;
  const { apiVersion, kind, metadata: { name, uid } } = owner;
  for (const [field, value] of Object.entries({ apiVersion, kind, "metadata.name": name, "metadata.uid": uid })) {
    if (!value) {
      throw new TypeError(
        `Cannot refer to ${kind ?? "an object"} "${name}" as owner: ${field} is missing. Pass the object as the ` +
          `server returned it`,
      );
    }
  }
  return {
    apiVersion: apiVersion!,
    kind: kind!,
    name,
    uid,
    ...(controller ? { controller } : {}),
    ...(blockOwnerDeletion ? { blockOwnerDeletion } : {}),
  };
}

/** Returns the reference to an object's controller, or `undefined` if it has none. An object has at most one. */
export function controllerOf(object: Ownable): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find(({ controller }) => controller === true);
}

/**
 * Returns a copy of `object` with `owner` as its controller. The garbage collector deletes the object after its owner.
 * If your reconciler `owns()` the object's kind, a change to the object reconciles the owner.
 *
 * - The reference replaces an earlier one to the same owner. Other owners stay. The given object is not changed.
 * - A draft without a namespace gets the owner's. In any other, the garbage collector would delete the object.
 * - Owners are compared by uid. If an earlier owner with the same name controls the object, this throws, because the
 *   garbage collector is going to delete the object. Kubernetes' own controllers do the same, but controller-runtime
 *   adopts it.
 *
 * @throws {AlreadyControlledError} if another object is the controller.
 * @throws {TypeError} if the owner is in another namespace, or is incomplete, see {@linkcode ownerReferenceTo}.
 *
 * @example
 * ```ts
 * import { Client } from "@kube/informer";
 * import { ConfigMap } from "@kube/informer/kinds/core/v1";
 * import { controllerOf, withController } from "@kube/informer/reconcile";
 * import { FakeApiServer } from "@kube/informer/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const server = new FakeApiServer();
 * const owner = server.create(ConfigMap, { metadata: { name: "owner", namespace: "shop" } });
 * using client = new Client({ server: "http://fake", transport: server, namespace: "shop" });
 * const owned = await client.resource(ConfigMap).create(withController({ metadata: { name: "owned" } }, owner));
 * assertEquals(controllerOf(owned)?.name, "owner");
 * ```
 */
export function withController<const O extends Ownable>(
  object: O,
  owner: KubernetesObject,
  options: OwnerOptions = {},
): O {
  const reference = ownerReferenceTo(owner, { ...options, controller: true });
  const present = controllerOf(object);
  if (present !== undefined && present.uid !== reference.uid) {
    throw new AlreadyControlledError(
      `Cannot set ${reference.kind} "${reference.name}" (uid ${reference.uid}) as controller of "${nameOf(object)}": ` +
        `${present.kind} "${present.name}" (uid ${present.uid}) is its controller. Choose another name, or wait until ` +
        "it is deleted",
      present,
    );
  }
  return withReference(object, owner, reference);
}

/**
 * Returns a copy of `object` with `owner` added to its owners. The garbage collector deletes an object after all its
 * owners are gone. The given object is not changed.
 *
 * The reference replaces an earlier one to the same owner. If that owner was the controller, it no longer is. A draft
 * without a namespace gets the owner's.
 *
 * @throws {TypeError} if the owner is in another namespace, or is incomplete, see {@linkcode ownerReferenceTo}.
 */
export function withOwner<const O extends Ownable>(object: O, owner: KubernetesObject, options: OwnerOptions = {}): O {
  return withReference(object, owner, ownerReferenceTo(owner, options));
}

function withReference<O extends Ownable>(object: O, owner: KubernetesObject, reference: OwnerReference): O {
  const ownerNamespace = owner.metadata.namespace;
  const { ownerReferences = [] } = object.metadata;
  const namespace = object.metadata.namespace || ownerNamespace;
  if (ownerNamespace && ownerNamespace !== namespace) {
    throw new TypeError(
      `Cannot set ${reference.kind} "${reference.name}" in namespace "${ownerNamespace}" as owner of ` +
        `"${nameOf(object)}" in namespace "${namespace}": an owner must be in the same namespace, or cluster-scoped`,
    );
  }
  const at = ownerReferences.findIndex(({ uid }) => uid === reference.uid);
  const references = at < 0 ? [...ownerReferences, reference] : ownerReferences.with(at, reference);
  return {
    ...object,
    metadata: { ...object.metadata, ...(namespace ? { namespace } : {}), ownerReferences: references },
  };
}

function nameOf({ metadata: { name, generateName = "" } }: Ownable): string {
  return name ?? generateName;
}
