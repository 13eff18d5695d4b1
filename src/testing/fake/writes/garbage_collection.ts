/**
 * The controllers that the fake server plays: garbage collection, and the end of namespaces.
 *
 * {@linkcode collectGarbage} and {@linkcode finalizeNamespaces} are the entry points. Workloads have no controllers
 * here.
 *
 * @module
 */
import { parseStored, type Store, type StoredCollection, type StoredObject } from "../storage/store.ts";
import { isList, isObject, type Json, type JsonObject, type MutableJson } from "../../../engine/api/json.ts";
import { listOr, objectOr, textOf } from "../../../engine/api/members.ts";
import { NAMESPACES } from "./identity.ts";
import type { Writer } from "./writer.ts";

/** An object, with its owner references. */
interface Candidate {
  readonly collection: StoredCollection;
  readonly stored: StoredObject;
  readonly object: MutableJson;
  readonly owners: readonly JsonObject[];
}

/** Writes of the controllers. */
type ControllerWrites = Pick<Writer, "delete" | "update">;

/** A write of a controller, which may set what the server fills in. */
const DIRECT = { manager: "fake", subresource: "", dryRun: false, direct: true };
const DELETION = { dryRun: false, direct: false };

/**
 * Runs the garbage collector until it has nothing left to do:
 *
 * - an object whose owners are all gone is deleted; an owner in another namespace counts as gone;
 * - a cluster-scoped object with an owner of a kind that has namespaces is never deleted: the owner cannot be found;
 * - the dependents of an object in foreground deletion are deleted, and the object once no dependent blocks it;
 * - the dependents of an object in orphan deletion lose their reference to it.
 *
 * Returns the number of changes.
 */
export function collectGarbage(store: Store, writer: ControllerWrites): number {
  let changes = 0;
  for (let round = -1; round !== changes;) {
    round = changes;
    const all = candidates(store);
    const namespaces = new Map(all.map(({ stored }) => [stored.uid, stored.namespace]));
    const ending = new Map(all.filter(isForeground).map((owner) => [owner.stored.uid, owner]));
    for (const { collection, stored, owners } of all) {
      if (owners.length === 0 || collection.get(stored.key) !== stored) continue;
      if (stored.namespace === "" && owners.some((owner) => isNamespaced(store, owner))) continue;
      const orphaned = owners.every(({ uid }) => {
        const namespace = namespaces.get(textOf(uid));
        return (namespace !== "" && namespace !== stored.namespace) || ending.has(textOf(uid));
      });
      if (!orphaned || objectOr(parseStored(stored).metadata).deletionTimestamp !== undefined) continue;
      writer.delete(collection, stored.key, DELETION);
      changes++;
    }
    for (const owner of all) changes += release(owner, all, writer);
  }
  return changes;
}

/** Removes the garbage collector's finalizers from an object when their work is done. */
function release(owner: Candidate, all: readonly Candidate[], writer: ControllerWrites): number {
  const { collection, object } = owner;
  const current = collection.get(owner.stored.key);
  if (current?.uid !== owner.stored.uid || objectOr(object.metadata).deletionTimestamp === undefined) return 0;
  const finalizers = finalizersOf(object);
  const rewrite = (collection: StoredCollection, { key }: StoredObject, object: JsonObject): void =>
    void writer.update(collection, key, object, DIRECT);
  const dependents = all.filter((other) =>
    other.collection.get(other.stored.key)?.uid === other.stored.uid &&
    other.owners.some(({ uid }) => uid === owner.stored.uid)
  );
  if (finalizers.includes("orphan")) {
    for (const dependent of dependents) {
      const kept = dependent.owners.filter(({ uid }) => uid !== owner.stored.uid);
      rewrite(dependent.collection, dependent.stored, withMetadata(dependent.object, { ownerReferences: kept }));
    }
    rewrite(collection, current, withoutFinalizer(object, "orphan"));
    return 1 + dependents.length;
  }
  const blocked = dependents.some(({ owners }) =>
    owners.some(({ uid, blockOwnerDeletion }) => uid === owner.stored.uid && blockOwnerDeletion === true)
  );
  if (!finalizers.includes(FOREGROUND) || blocked) return 0;
  rewrite(collection, current, withoutFinalizer(object, FOREGROUND));
  return 1;
}

const FOREGROUND = "foregroundDeletion";

function isForeground({ object }: Candidate): boolean {
  return objectOr(object.metadata).deletionTimestamp !== undefined && finalizersOf(object).includes(FOREGROUND);
}

function candidates(store: Store): Candidate[] {
  const found: Candidate[] = [];
  for (const collection of store.collections()) {
    for (const stored of collection.slice({ namespace: "", revision: store.revision })) {
      const object = parseStored(stored);
      const { ownerReferences } = objectOr(object.metadata);
      const owners = listOr(ownerReferences).filter(isObject);
      found.push({ collection, stored, object, owners });
    }
  }
  return found;
}

/** Returns true when the kind of a reference has namespaces, whether its object exists or not. */
function isNamespaced(store: Store, { apiVersion, kind }: JsonObject): boolean {
  for (const { definition } of store.collections()) {
    if (definition.kind === kind && definition.apiVersion === apiVersion) return definition.scope === "Namespaced";
  }
  return false;
}

function finalizersOf(object: JsonObject): readonly Json[] {
  const { finalizers } = objectOr(object.metadata);
  return listOr(finalizers);
}

function withoutFinalizer(object: JsonObject, name: string): JsonObject {
  return withMetadata(object, { finalizers: finalizersOf(object).filter((finalizer) => finalizer !== name) });
}

function withMetadata(object: JsonObject, change: JsonObject): JsonObject {
  return { ...object, metadata: { ...objectOr(object.metadata), ...change } };
}

/**
 * Plays the namespace controller: deletes what is in the namespaces that are being deleted, and removes the finalizer
 * `kubernetes` of those that are empty. Returns the number of changes.
 */
export function finalizeNamespaces(store: Store, writer: ControllerWrites): number {
  let changes = 0;
  const spaces = store.collection(NAMESPACES)!;
  for (const stored of [...spaces.slice({ namespace: "", revision: store.revision })]) {
    const object = parseStored(stored);
    if (objectOr(object.metadata).deletionTimestamp === undefined) continue;
    changes += empty(store, stored.name, writer);
    const { finalizers } = objectOr(object.spec);
    if (!isList(finalizers) || !finalizers.includes("kubernetes") || !isEmpty(store, stored.name)) continue;
    const kept = finalizers.filter((finalizer) => finalizer !== "kubernetes");
    const finalized = { ...object, spec: { finalizers: kept } };
    writer.update(spaces, stored.key, finalized, { ...DIRECT, subresource: "finalize" });
    changes++;
  }
  return changes;
}

/** Deletes the objects in a namespace; returns the number of changes. */
function empty(store: Store, namespace: string, writer: ControllerWrites): number {
  const { revision } = store;
  let changes = 0;
  for (const collection of store.collections()) {
    if (collection.definition.scope === "Cluster") continue;
    for (const { key } of [...collection.slice({ namespace, revision })]) {
      const before = collection.get(key);
      // An event is gone with its other form.
      if (before === undefined) continue;
      writer.delete(collection, key, DELETION);
      changes += Number(collection.get(key) !== before);
    }
  }
  return changes;
}

function isEmpty(store: Store, namespace: string): boolean {
  const selection = { namespace, revision: store.revision };
  return [...store.collections()].every((collection) =>
    collection.definition.scope === "Cluster" || collection.count(selection) === 0
  );
}
