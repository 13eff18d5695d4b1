import { forbidden, notFound } from "../../protocol/refusal.ts";
import type { Definition } from "../storage/definition.ts";
import { parseStored, type Store } from "../storage/store.ts";
import { type JsonObject, objectOr, textOf } from "../wire/json.ts";

/** The resource of namespaces. */
export const NAMESPACES = { group: "", version: "v1", plural: "namespaces" };

/** The namespaces of a new cluster; none of them can be deleted. */
export const FIRST_NAMESPACES: readonly string[] = ["default", "kube-node-lease", "kube-public", "kube-system"];

/** The metadata that places an object. */
interface Placed {
  readonly namespace?: unknown;
  readonly name?: unknown;
  readonly generateName?: unknown;
}

/** Namespaces that have to exist, and end as they do on the server. */
export class RealNamespaces {
  readonly #store: Store;

  /** Reads the namespaces of `store`. */
  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * Checks that an object may be created in its namespace.
   *
   * @throws {StatusError} 404 if the namespace does not exist, 403 if it is being terminated.
   */
  checkOpen({ group, plural }: Definition, { namespace, name, generateName }: Placed): void {
    const space = textOf(namespace);
    const stored = this.#store.collection(NAMESPACES)?.get(space);
    if (stored === undefined) throw notFound(NAMESPACES, space);
    if (objectOr(parseStored(stored).status).phase !== "Terminating") return;
    const message = `namespace ${space} is being terminated`;
    const causes = [{ reason: "NamespaceTerminating", message, field: "metadata.namespace" }];
    const why = `unable to create new content in namespace ${space} because it is being terminated`;
    throw forbidden({ group, plural }, textOf(name) || textOf(generateName) || "Unknown", why, causes);
  }

  /**
   * Checks that an object is none of the namespaces that stay.
   *
   * @throws {StatusError} 403 if it is one.
   */
  checkMortal(definition: Definition, name: string): void {
    if (isNamespaces(definition) && FIRST_NAMESPACES.includes(name)) {
      throw forbidden(NAMESPACES, name, "this namespace may not be deleted");
    }
  }

  /** True for a namespace that a deletion leaves: one that is not being deleted yet, or has finalizers in its spec. */
  isHeld(definition: Definition, { metadata, spec }: JsonObject): boolean {
    if (!isNamespaces(definition)) return false;
    const { finalizers } = objectOr(spec);
    return objectOr(metadata).deletionTimestamp === undefined || (Array.isArray(finalizers) && finalizers.length > 0);
  }
}

function isNamespaces({ group, plural }: Definition): boolean {
  return group === "" && plural === "namespaces";
}
