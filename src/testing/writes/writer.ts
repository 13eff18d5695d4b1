/**
 * Writes: defaults, validation, admission, field ownership and garbage collection.
 *
 * {@linkcode Writer} creates, updates, applies and deletes objects, and commits the result to the store. `collectGarbage`
 * deletes dependents on request. This folder does not parse requests, and does not deliver events to watches.
 *
 * @module
 */
import type { KubernetesObject } from "../../api/object.ts";
import { alreadyExists, conflict, invalid, noMethod, notFound, refusal, requiredField } from "../http/refusal.ts";
import { mergePatch } from "../patches/merge_patch.ts";
import type { Store } from "../storage/store.ts";
import type { StoredCollection } from "../storage/stored_collection.ts";
import { parseStored, type StoredObject, toStoredObject } from "../storage/stored_object.ts";
import { cloneJson, equalJson, type JsonObject, type MutableJson, objectOr } from "../wire/json.ts";
import type { Admission } from "./admission.ts";
import {
  checkFinalizers,
  checkObjectIdentity,
  checkObjectName,
  checkObjectType,
  namespaceMismatch,
} from "./check_object.ts";
import { appliedFields, managedFieldsAfter, managedFieldsEntry } from "./managed_fields.ts";
import { desiredStateDiffers, fieldOwnersDiffer, objectContent } from "./object_content.ts";
import { serverSideApply } from "./server_side_apply.ts";
import { setKindDefaults } from "./set_kind_defaults.ts";

/** Settings of a write. */
export interface WriteMode {
  /** Name of the field manager. */
  readonly manager: string;
  /** Operation of the field manager. @default {"Update"} */
  readonly operation?: "Update" | "Apply";
  /** `"status"`, `"scale"`, or `""` for the main resource. */
  readonly subresource: string;
  /** If true, an apply takes over fields of other managers. */
  readonly force?: boolean;
  /** If true, the result is returned and nothing is written. */
  readonly dryRun: boolean;
  /** True for a write by the test itself: it includes the status, and may set what the server fills in. */
  readonly direct: boolean;
}

/** Dependencies of the writer. */
export interface WriterOptions {
  /** Returns the time, in milliseconds since 1970. */
  readonly now: () => number;
  /** Returns a new uid. */
  readonly uid: () => string;
  /** Returns a suffix of five characters for a generated name. */
  readonly suffix: () => string;
  /** If true, writes record managedFields. */
  readonly managedFields: boolean;
  /** Hooks for writes that arrive as requests. */
  readonly admission: Admission;
}

/** Settings of a deletion. */
export interface DeleteMode extends Pick<WriteMode, "dryRun" | "direct"> {
  /** Grace period in seconds. */
  readonly gracePeriodSeconds?: number;
  /** Propagation policy for dependents. */
  readonly propagationPolicy?: string;
  /** Preconditions. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

/** Result of an update or patch. */
export interface Written {
  /** The committed state, or the existing one if nothing changed. */
  readonly stored: StoredObject;
  /** The object in this state, parsed; it may share parts with the argument of the change. */
  readonly object: JsonObject;
}

/** Result of an apply. */
export interface Applied {
  /** The committed state, or the existing one if nothing changed. */
  readonly stored: StoredObject;
  /** True if the object is new. */
  readonly created: boolean;
}

/** Result of a deletion. */
export interface Deletion {
  /** The remaining object, or the tombstone. */
  readonly stored: StoredObject;
  /** True if the object is gone. */
  readonly gone: boolean;
}

/** Creates, updates and deletes objects with the defaults and validation of kube-apiserver. */
export class Writer {
  readonly #store: Store;
  readonly #options: WriterOptions;

  /** Commits to `store`. */
  constructor(store: Store, options: WriterOptions) {
    this.#store = store;
    this.#options = options;
  }

  /**
   * Creates an object.
   *
   * @throws {StatusError} 400, 409 or 422, like kube-apiserver.
   */
  create(collection: StoredCollection, namespace: string, body: JsonObject, mode: WriteMode): StoredObject {
    const { definition } = collection;
    checkObjectType(collection, body);
    const given = objectOr(body.metadata);
    const metadata: MutableJson = { ...given };
    if (definition.scope === "Cluster") delete metadata.namespace;
    else metadata.namespace = this.#namespace(namespace, given, mode);
    if (!mode.direct) {
      if (given.resourceVersion !== undefined && given.resourceVersion !== "") {
        throw refusal(500, "resourceVersion should not be set on objects to be created", { reason: "" });
      }
      for (const field of ["creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"]) {
        delete metadata[field];
      }
    }
    delete metadata.selfLink;
    metadata.name = this.#freeName(collection, metadata);
    checkObjectName(collection, metadata.name);
    metadata.uid = this.#options.uid();
    metadata.creationTimestamp ??= this.#timestamp();
    if (definition.generation) metadata.generation = mode.direct && metadata.generation ? metadata.generation : 1;
    else if (!mode.direct) delete metadata.generation;
    let object: MutableJson = { ...body, metadata };
    if (!mode.direct && definition.subresources.includes("status")) delete object.status;
    setKindDefaults(definition, object, this.#timestamp());
    if (!mode.direct) delete metadata.managedFields;
    object = this.#admit(collection, "CREATE", undefined, object, mode);
    this.#manage(collection, undefined, object, mode);
    if (mode.dryRun) return toStoredObject(definition, object, 0);
    return this.#store.put(collection, object);
  }

  /**
   * Replaces an object, or its status.
   *
   * @throws {StatusError} 400, 404, 409 or 422, like kube-apiserver.
   */
  update(collection: StoredCollection, key: string, body: JsonObject, mode: WriteMode): StoredObject {
    const before = this.#existing(collection, key);
    return this.#replace(collection, before, parseStored(before), body, mode).stored;
  }

  /**
   * Replaces an object by the result of `change`, which must not modify its argument.
   *
   * @throws {StatusError} 404, 409 or 422, like kube-apiserver, and any error of `change`.
   */
  change(
    collection: StoredCollection,
    key: string,
    change: (object: JsonObject) => JsonObject,
    mode: WriteMode,
  ): Written {
    const before = this.#existing(collection, key);
    const old = parseStored(before);
    return this.#replace(collection, before, old, change(old), mode);
  }

  /**
   * Applies a configuration server-side: merges it into the object, or creates it.
   *
   * @throws {StatusError} 400, 409 or 422, like kube-apiserver.
   */
  apply(collection: StoredCollection, namespace: string, name: string, config: JsonObject, mode: WriteMode): Applied {
    const { definition } = collection;
    const operation = "Apply";
    const key = namespace === "" ? name : `${namespace}/${name}`;
    const before = collection.get(key);
    if (before === undefined && mode.subresource === "") {
      const named = { ...config, metadata: { ...objectOr(config.metadata), name } };
      return { stored: this.create(collection, namespace, named, { ...mode, operation }), created: true };
    }
    if (before === undefined) throw notFound(definition, name);
    const old = parseStored(before);
    const { manager, force = false, subresource } = mode;
    const next = serverSideApply(old, config, definition, {
      manager: { name: manager, operation, subresource, time: this.#timestamp() },
      force,
      withStatus: this.#reachesStatus(collection, mode),
    });
    return { stored: this.#replace(collection, before, old, next, { ...mode, operation }).stored, created: false };
  }

  /**
   * Sets annotations, and removes those that are null; managedFields stay unchanged.
   *
   * @throws {StatusError} 404 if the object does not exist.
   */
  annotate(collection: StoredCollection, key: string, annotations: JsonObject): void {
    this.#store.rewrite(collection, this.#existing(collection, key), (metadata) => {
      const merged = mergePatch(metadata.annotations, annotations);
      return equalJson(metadata.annotations ?? {}, merged) ? undefined : { ...metadata, annotations: merged };
    });
  }

  /** Commits the next state of an object, for every update and patch. An update without a change writes nothing. */
  #replace(
    collection: StoredCollection,
    before: StoredObject,
    old: JsonObject,
    body: JsonObject,
    mode: WriteMode,
  ): Written {
    const { definition } = collection;
    checkObjectIdentity(collection, before, body, mode);
    const oldMetadata = objectOr(old.metadata);
    const given = objectOr(body.metadata);
    if (given.resourceVersion && given.resourceVersion !== String(before.revision) && !mode.direct) {
      throw conflict(
        definition,
        before.name,
        "the object has been modified; please apply your changes to the latest version and try again",
      );
    }
    if (given.uid && given.uid !== before.uid) {
      const why = `Precondition failed: UID in precondition: ${given.uid}, UID in object meta: ${before.uid}`;
      throw conflict(definition, before.name, why);
    }
    if (!mode.direct) checkFinalizers(collection, before, oldMetadata, given);
    const object = this.#admit(collection, "UPDATE", old, this.#next(collection, old, body, mode), mode);
    const metadata = object.metadata as MutableJson;
    if (
      equalJson(objectContent(old), objectContent(object)) &&
      !(mode.operation === "Apply" && fieldOwnersDiffer(old, object))
    ) {
      return { stored: before, object: old };
    }
    if (definition.generation && desiredStateDiffers(old, object) && metadata.generation === oldMetadata.generation) {
      metadata.generation = Number(oldMetadata.generation ?? 0) + 1;
    }
    this.#manage(collection, old, object, mode);
    if (mode.dryRun) return { stored: toStoredObject(definition, object, before.revision), object };
    const finalizers = metadata.finalizers as readonly unknown[] | undefined;
    const grace = Number(metadata.deletionGracePeriodSeconds ?? 0);
    if (oldMetadata.deletionTimestamp !== undefined && !finalizers?.length && grace === 0) {
      // The last finalizer was removed: delete the object; its tombstone shows the previous state.
      return { stored: this.#store.remove(collection, before), object: old };
    }
    const stored = this.#store.put(collection, object);
    metadata.resourceVersion = String(stored.revision);
    return { stored, object };
  }

  /**
   * Deletes an object, or marks it for deletion while finalizers or a grace period hold it.
   *
   * @throws {StatusError} 404 or 409, like kube-apiserver.
   */
  delete(collection: StoredCollection, key: string, mode: DeleteMode): Deletion {
    const before = this.#existing(collection, key);
    const { definition } = collection;
    const { uid, resourceVersion } = mode.preconditions ?? {};
    if (uid !== undefined && uid !== before.uid) {
      const why = `the UID in the precondition (${uid}) does not match the UID in record (${before.uid}). ` +
        "The object might have been deleted and then recreated";
      throw conflict(definition, before.name, why);
    }
    if (resourceVersion !== undefined && resourceVersion !== String(before.revision)) {
      const why =
        `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in ` +
        `record (${before.revision}). The object might have been modified`;
      throw conflict(definition, before.name, why);
    }
    if (!mode.direct) this.#judgeDeletion(collection, before, mode);
    if (mode.dryRun) return { stored: before, gone: true };
    if (mode.direct) return { stored: this.#store.remove(collection, before), gone: true };
    const object = parseStored(before);
    const metadata = object.metadata as MutableJson;
    const finalizers = withPropagation(metadata.finalizers, mode.propagationPolicy);
    const graceSeconds = definition.graceful ? gracePeriod(object, mode.gracePeriodSeconds) : 0;
    if (!definition.graceful && finalizers.length === 0) {
      return { stored: this.#store.remove(collection, before), gone: true };
    }
    if (metadata.deletionTimestamp === undefined) {
      metadata.deletionTimestamp = this.#timestamp(graceSeconds);
      metadata.deletionGracePeriodSeconds = graceSeconds;
      if (typeof metadata.generation === "number") metadata.generation++;
    } else if (graceSeconds < Number(metadata.deletionGracePeriodSeconds ?? 0)) {
      metadata.deletionTimestamp = this.#timestamp(graceSeconds);
      metadata.deletionGracePeriodSeconds = graceSeconds;
    }
    metadata.finalizers = finalizers;
    const marked = equalJson(objectContent(parseStored(before)), objectContent(object))
      ? before
      : this.#store.put(collection, object);
    if (finalizers.length > 0 || graceSeconds > 0) return { stored: marked, gone: false };
    return { stored: this.#store.remove(collection, marked), gone: true };
  }

  #existing(collection: StoredCollection, key: string): StoredObject {
    const stored = collection.get(key);
    if (stored === undefined) throw notFound(collection.definition, key.slice(key.indexOf("/") + 1));
    return stored;
  }

  #namespace(namespace: string, given: JsonObject, mode: WriteMode): string {
    const named = typeof given.namespace === "string" ? given.namespace : "";
    if (namespace === "" && !mode.direct) throw noMethod();
    if (named !== "" && namespace !== "" && named !== namespace) throw namespaceMismatch();
    return namespace || named || "default";
  }

  #freeName(collection: StoredCollection, metadata: JsonObject): string {
    const { group, kind } = collection.definition;
    const { name, generateName, namespace } = metadata;
    if (typeof name === "string" && name !== "") {
      const key = typeof namespace === "string" ? `${namespace}/${name}` : name;
      if (collection.get(key) !== undefined) throw alreadyExists(collection.definition, name);
      return name;
    }
    if (typeof generateName !== "string" || generateName === "") {
      throw invalid({ group, kind, name: "" }, [requiredField("metadata.name", "name or generateName is required")]);
    }
    for (;;) {
      const generated = `${generateName.slice(0, 58)}${this.#options.suffix()}`;
      const key = typeof namespace === "string" ? `${namespace}/${generated}` : generated;
      if (collection.get(key) === undefined) return generated;
    }
  }

  /** The next state: the body, with immutable fields taken from the existing object. */
  #next(collection: StoredCollection, old: JsonObject, body: JsonObject, mode: WriteMode): MutableJson {
    const oldMetadata = objectOr(old.metadata);
    const given = objectOr(body.metadata);
    const { definition } = collection;
    const kept: MutableJson = {};
    for (const field of FIXED_METADATA) if (oldMetadata[field] !== undefined) kept[field] = oldMetadata[field];
    if (mode.direct) {
      for (const field of MARKS) if (given[field] !== undefined) kept[field] = given[field];
    }
    if (mode.subresource === "status") {
      const managed = mode.operation === "Apply" ? { managedFields: given.managedFields } : {};
      return { ...old, status: body.status, metadata: { ...oldMetadata, ...managed } };
    }
    const metadata: MutableJson = { ...given };
    for (const field of FIXED_METADATA) delete metadata[field];
    // An update without managedFields keeps the existing ones.
    if (given.managedFields === undefined) kept.managedFields = oldMetadata.managedFields;
    const object: MutableJson = { ...body, metadata: { ...metadata, ...kept } };
    if (!mode.direct && definition.subresources.includes("status")) {
      if (old.status === undefined) delete object.status;
      else object.status = old.status;
    }
    return object;
  }

  #manage(collection: StoredCollection, before: JsonObject | undefined, object: MutableJson, mode: WriteMode): void {
    const metadata = object.metadata as MutableJson;
    if (!this.#options.managedFields) return;
    // New objects with managedFields keep them.
    if (before === undefined && Array.isArray(metadata.managedFields)) return;
    const { definition } = collection;
    const { manager: name, operation = "Update", subresource } = mode;
    const manager = { name, operation, subresource, time: this.#timestamp() };
    const withStatus = this.#reachesStatus(collection, mode);
    if (operation === "Update") {
      metadata.managedFields = managedFieldsAfter(before, object, definition, manager, withStatus);
    } else if (before === undefined) {
      metadata.managedFields = [
        managedFieldsEntry(definition, manager, appliedFields(object, definition.custom, withStatus)),
      ];
    }
  }

  #reachesStatus({ definition }: StoredCollection, { direct, subresource }: WriteMode): boolean {
    return direct || subresource === "status" || !definition.subresources.includes("status");
  }

  /** Runs admission on a write. Admission cannot change name, namespace and uid. */
  #admit(
    { definition }: StoredCollection,
    operation: "CREATE" | "UPDATE",
    old: JsonObject | undefined,
    next: MutableJson,
    { subresource, dryRun, direct }: WriteMode,
  ): MutableJson {
    const { admission } = this.#options;
    if (direct || admission.ignores(definition)) return next;
    const { apiVersion, kind } = definition;
    const typed = { apiVersion, kind, ...next };
    const copy = (object: JsonObject | undefined): KubernetesObject | undefined =>
      object === undefined ? undefined : cloneJson(object) as unknown as KubernetesObject;
    const request = { operation, old: copy(old), subresource, dryRun };
    const mutated = admission.mutate(definition, { ...request, object: copy(typed) });
    const { name, namespace, uid } = objectOr(next.metadata);
    const object = { ...mutated, metadata: { ...objectOr(mutated.metadata), name, namespace, uid } };
    admission.validate(definition, { ...request, object: copy(object) });
    return object;
  }

  #judgeDeletion({ definition }: StoredCollection, stored: StoredObject, { dryRun }: DeleteMode): void {
    const { admission } = this.#options;
    if (admission.ignores(definition)) return;
    const old = parseStored(stored) as unknown as KubernetesObject;
    admission.validate(definition, { operation: "DELETE", object: undefined, old, subresource: "", dryRun });
  }

  #timestamp(plusSeconds = 0): string {
    return new Date(this.#options.now() + plusSeconds * 1_000).toISOString().replace(/\.\d+Z$/, "Z");
  }
}

/** Fields set by deletions and the generation counter; only a direct write may set them. */
const MARKS = ["generation", "deletionTimestamp", "deletionGracePeriodSeconds"];
/** Fields that an update cannot change. */
const FIXED_METADATA = ["name", "generateName", "namespace", "uid", "resourceVersion", "creationTimestamp", ...MARKS];

/** Grace period in seconds: 0 for pods that were never scheduled or are finished. */
function gracePeriod(object: JsonObject, asked: number | undefined): number {
  const spec = objectOr(object.spec);
  const { phase } = objectOr(object.status);
  if (!spec.nodeName || phase === "Succeeded" || phase === "Failed") return 0;
  return asked ?? Number(spec.terminationGracePeriodSeconds ?? 30);
}

function withPropagation(finalizers: unknown, policy: string | undefined): string[] {
  const kept = (Array.isArray(finalizers) ? finalizers as string[] : []).filter((finalizer) =>
    policy === undefined || (finalizer !== "foregroundDeletion" && finalizer !== "orphan")
  );
  if (policy === "Foreground") kept.push("foregroundDeletion");
  if (policy === "Orphan") kept.push("orphan");
  return kept;
}
