import { parseStored, type Store } from "../storage/store.ts";
import { objectOr } from "../wire/json.ts";
import { NAMESPACES } from "./namespaces.ts";
import type { Writer } from "./writer.ts";

/**
 * Plays the namespace controller: deletes what is in the namespaces that are being deleted, and removes the finalizer
 * `kubernetes` of those that are empty. Returns the number of changes.
 */
export function finalizeNamespaces(store: Store, writer: Pick<Writer, "delete" | "update">): number {
  let changes = 0;
  const spaces = store.collection(NAMESPACES)!;
  for (const stored of [...spaces.slice({ namespace: "", revision: store.revision })]) {
    const object = parseStored(stored);
    if (objectOr(object.metadata).deletionTimestamp === undefined) continue;
    changes += empty(store, stored.name, writer);
    const { finalizers } = objectOr(object.spec);
    if (!Array.isArray(finalizers) || !finalizers.includes("kubernetes") || !isEmpty(store, stored.name)) continue;
    const kept = finalizers.filter((finalizer) => finalizer !== "kubernetes");
    const finalize = { manager: "fake", subresource: "finalize", dryRun: false, direct: true };
    writer.update(spaces, stored.key, { ...object, spec: { finalizers: kept } }, finalize);
    changes++;
  }
  return changes;
}

/** Deletes the objects in a namespace; returns the number of changes. */
function empty(store: Store, namespace: string, writer: Pick<Writer, "delete">): number {
  const { revision } = store;
  let changes = 0;
  for (const collection of store.collections()) {
    if (collection.definition.scope === "Cluster") continue;
    for (const { key } of [...collection.slice({ namespace, revision })]) {
      const before = collection.get(key);
      // An event is gone with its other form.
      if (before === undefined) continue;
      writer.delete(collection, key, { dryRun: false, direct: false });
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
