/**
 * Owner references: which object the garbage collector deletes after which.
 *
 * {@linkcode withController} and {@linkcode withOwner} are the entry points. They return copies, and send no requests.
 *
 * @module
 */
import type { KubernetesObject, OwnerReference } from "../../api/object.ts";
import { checkNames } from "../../errors/option_names.ts";

/** The part of an object or draft that owner references need. */
export interface Ownable {
  /** Name, namespace and the present owners. */
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
   * True when a foreground deletion of the owner waits for the object. It needs the right to update `finalizers` of the
   * owner, where the admission plugin `OwnerReferencesPermissionEnforcement` is on. @default
   * {true for a controller, else false}
   */
  readonly blockOwnerDeletion?: boolean;
}

/** An object has a controller already, which is another object than the given one. */
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
 * Returns a reference to `owner`.
 *
 * @throws {TypeError} when the owner lacks apiVersion, kind, name or uid: the garbage collector would delete objects
 * with such a reference, or never find it.
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
        `Cannot refer to ${
          kind ?? "an object"
        } "${name}" as owner: ${field} is missing. Pass the object as the server ` +
          `returned it`,
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

/** Returns the reference to the object's controller, of which there is at most one; `undefined` without one. */
export function controllerOf(object: Ownable): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find(({ controller }) => controller === true);
}

/**
 * Returns a copy of `object` with `owner` as its controller: the garbage collector deletes the object after the owner,
 * and a reconciler that `owns` its kind reconciles the owner when the object changes.
 *
 * - The reference replaces one to the same owner. Other owners stay. The given object is not changed.
 * - Owners are the same when their uids are: an object of an earlier owner of the same name is refused, because the
 *   garbage collector is going to delete it (Kubernetes' own controllers do the same; controller-runtime adopts it).
 *
 * @throws {AlreadyControlledError} when another object is the controller.
 * @throws {TypeError} when the owner is in another namespace, or is incomplete, as in {@linkcode ownerReferenceTo}.
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
 * Returns a copy of `object` with `owner` as one of its owners: the garbage collector deletes it when all its owners
 * are gone. The reference replaces one to the same owner, whose being the controller it would undo. The given object is
 * not changed.
 *
 * @throws {TypeError} as {@linkcode withController}.
 */
export function withOwner<const O extends Ownable>(object: O, owner: KubernetesObject, options: OwnerOptions = {}): O {
  return withReference(object, owner, ownerReferenceTo(owner, options));
}

function withReference<O extends Ownable>(object: O, owner: KubernetesObject, reference: OwnerReference): O {
  const { namespace, ownerReferences = [] } = object.metadata;
  const ownerNamespace = owner.metadata.namespace;
  if (ownerNamespace && namespace && ownerNamespace !== namespace) {
    throw new TypeError(
      `Cannot set ${reference.kind} "${reference.name}" in namespace "${ownerNamespace}" as owner of ` +
        `"${nameOf(object)}" in namespace "${namespace}": an owner must be in the same namespace, or cluster-scoped`,
    );
  }
  const at = ownerReferences.findIndex(({ uid }) => uid === reference.uid);
  const references = at < 0 ? [...ownerReferences, reference] : ownerReferences.with(at, reference);
  return { ...object, metadata: { ...object.metadata, ownerReferences: references } };
}

function nameOf({ metadata: { name, generateName = "" } }: Ownable): string {
  return name ?? generateName;
}
