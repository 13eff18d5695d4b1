/**
 * Writes: objects are created, updated, applied, annotated and deleted.
 *
 * {@linkcode Writer} is the entry point: it finds the object of a write, and commits the result to the store. What
 * happens to the object between these is in `steps.ts`. It neither parses requests nor delivers events to
 * watches.
 *
 * @module
 */
import { StatusError } from "../../../engine/api/status.ts";
import { rfc3339 } from "../../../engine/async/time.ts";
import { fieldCause, knownRefusal } from "../../../engine/protocol/refusal.ts";
import { applyConfiguration } from "../apply/managed_fields.ts";
import { mergePatch } from "../apply/patches.ts";
import {
  nameIn,
  parseStored,
  type Store,
  type StoredCollection,
  storedKey,
  type StoredObject,
  toStoredObject,
} from "../storage/store.ts";
import { goJson } from "../wire/go_text.ts";
import { equalJson, isObject, type Json, type JsonObject } from "../../../engine/api/json.ts";
import { listOr, objectOr, textOf } from "../../../engine/api/members.ts";
import {
  checkNewApplied,
  checkNoUid,
  checkPreconditions,
  checkUid,
  checkUrlName,
  type Preconditions,
} from "./identity.ts";
import {
  completed,
  type Draft,
  draftOf,
  managerOf,
  performSteps,
  type UpdateDraft,
  type WriteMode,
  type WriterOptions,
} from "./steps.ts";
import { desiredStateDiffers, gracePeriod, isSame, ORPHANING, TERMINATING, withPropagation } from "./strategies.ts";
import { memberObject } from "../schema/members.ts";

/** Settings of a deletion. */
export interface DeleteMode extends Pick<WriteMode, "dryRun" | "direct" | "review"> {
  /** If true, the object is removed at once, whatever holds it. */
  readonly force?: boolean;
  /** Grace period in seconds. */
  readonly gracePeriodSeconds?: number;
  /** Propagation policy for dependents. */
  readonly propagationPolicy?: string;
  /** Preconditions. */
  readonly preconditions?: Preconditions;
}

/** Reads the options of a deletion, of a body or a query. */
export function deleteModeOf(options: JsonObject): DeleteMode {
  const { uid, resourceVersion } = objectOr(options.preconditions);
  const grace = textOf(options.gracePeriodSeconds);
  const text = (value: unknown): string | undefined => typeof value === "string" ? value : undefined;
  return {
    dryRun: listOr(options.dryRun).includes("All"),
    direct: false,
    gracePeriodSeconds: grace === "" ? undefined : Math.max(0, Number(grace)),
    propagationPolicy: text(options.propagationPolicy),
    preconditions: { uid: text(uid), resourceVersion: text(resourceVersion) },
  };
}

/** Result of an update or patch. */
interface Written {
  /** The committed state, or the existing one if nothing changed. */
  readonly stored: StoredObject;
  /** The object in this state, parsed; it may share parts with the argument of the change. */
  readonly object: JsonObject;
}

/** Result of a write that creates its object if there is none. */
interface Applied {
  /** The committed state, or the existing one if nothing changed. */
  readonly stored: StoredObject;
  /** True if the object is new. */
  readonly created: boolean;
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
  create(collection: StoredCollection, namespace: string, object: JsonObject, mode: WriteMode): StoredObject {
    const draft = draftOf(this.#options, collection, object, mode, namespace);
    performSteps("read", draft);
    return this.#create(draft);
  }

  #create(draft: Draft): StoredObject {
    performSteps("create", draft);
    const { collection, definition, mode, object, forms } = draft;
    const metadata = objectOr(object.metadata);
    if (collection.get(storedKey(metadata)) !== undefined) {
      throw knownRefusal("alreadyExists", definition, textOf(metadata.name));
    }
    return mode.dryRun ? toStoredObject(definition, object, 0) : this.#store.put(collection, object, forms);
  }

  /**
   * Replaces an object, or its status.
   *
   * @throws {StatusError} 400, 404, 409 or 422, like kube-apiserver.
   */
  update(collection: StoredCollection, key: string, body: JsonObject, mode: WriteMode): Applied {
    const draft = draftOf(this.#options, collection, body, mode);
    performSteps("read", draft);
    const { definition, given, object } = draft;
    const name = nameIn(key);
    if (given.name !== undefined || !mode.direct) checkUrlName(name, given);
    const isUpsert = definition.createdByUpdate && mode.subresource === "" && !mode.direct;
    if (isUpsert && collection.get(key) === undefined) {
      checkNoUid(definition, name, given.uid);
      const { resourceVersion: _, ...rest } = given;
      const namespace = key.slice(0, Math.max(0, key.length - name.length - 1));
      return { stored: this.#create({ ...draft, namespace, object, given: rest }), created: true };
    }
    const before = collection.existing(key);
    checkUid(definition, before, given.uid);
    return { stored: this.#update(draft, before, parseStored(before)).stored, created: false };
  }

  /**
   * Replaces an object by the result of `change`, which must not modify its argument.
   *
   * @throws {StatusError} 404, 409 or 422, like kube-apiserver, and any error of `change`. A fault of the object is one
   * of the patch.
   */
  change(
    collection: StoredCollection,
    key: string,
    change: (object: JsonObject) => JsonObject,
    mode: WriteMode,
  ): Written {
    const before = collection.existing(key);
    const old = parseStored(before);
    const next = change(old);
    const draft = draftOf(this.#options, collection, next, mode);
    try {
      performSteps("read", draft);
    } catch (error) {
      if (!(error instanceof StatusError) || mode.direct) throw error;
      const why = error.message.replace(/^\S+ in version "[^"]*" cannot be handled as an? \S+: /, "");
      const causes = [fieldCause.invalid("patch", goJson(goJson(sortChanged(next, old))), why)];
      throw knownRefusal("invalid", { group: "", kind: "", name: "" }, causes);
    }
    return this.#update(draft, before, old);
  }

  /**
   * Applies a configuration server-side: merges it into the object, or creates it.
   *
   * @throws {StatusError} 400, 409 or 422, like kube-apiserver.
   */
  apply(collection: StoredCollection, namespace: string, name: string, config: JsonObject, given: WriteMode): Applied {
    const { definition } = collection;
    const mode = { ...given, operation: "Apply" } as const;
    const before = collection.get(storedKey({ namespace, name }));
    if (before === undefined && mode.subresource !== "") throw knownRefusal("notFound", definition, name);
    const old = before && parseStored(before);
    const manager = managerOf(mode, rfc3339(this.#options.now()));
    const next = applyConfiguration(old, config, definition, manager, mode.force === true);
    if (before === undefined || old === undefined) {
      checkNewApplied(definition, name, objectOr(next.metadata));
      return { stored: this.create(collection, namespace, next, mode), created: true };
    }
    const draft = draftOf(this.#options, collection, next, mode);
    performSteps("read", draft);
    return { stored: this.#update(draft, before, old).stored, created: false };
  }

  /**
   * Sets annotations, and removes those that are null; managedFields stay unchanged.
   *
   * @throws {StatusError} 404 if the object does not exist.
   */
  annotate(collection: StoredCollection, key: string, annotations: JsonObject): void {
    this.#store.rewrite(collection, collection.existing(key), (metadata) => {
      const merged = mergePatch(metadata.annotations, annotations);
      return equalJson(metadata.annotations ?? {}, merged) ? undefined : { ...metadata, annotations: merged };
    });
  }

  /** Commits the next state of an object, for every update and patch. An update without a change writes nothing. */
  #update(read: Draft, before: StoredObject, old: JsonObject): Written {
    const draft: UpdateDraft = { ...read, before, old };
    performSteps("update", draft);
    const { collection, definition, mode, object, forms } = draft;
    const oldMetadata = objectOr(old.metadata);
    const metadata = memberObject(object, "metadata");
    if (isSame(old, object)) return { stored: before, object: old };
    const isDesired = mode.subresource !== "status" && mode.subresource !== "binding" &&
      desiredStateDiffers(definition, old, object) && desiredStateDiffers(definition, completed(draft, old), object);
    if (isDesired && metadata.generation === oldMetadata.generation) {
      metadata.generation = Number(oldMetadata.generation ?? 0) + 1;
    }
    if (mode.dryRun) return { stored: toStoredObject(definition, object, before.revision), object };
    const isHeld = listOr(metadata.finalizers).length > 0 || Number(metadata.deletionGracePeriodSeconds ?? 0) !== 0 ||
      this.#options.namespaces?.isHeld(definition, object);
    if (oldMetadata.deletionTimestamp !== undefined && !isHeld) {
      // The last finalizer was removed: delete the object; its tombstone shows the previous state, and the response the
      // one that was asked for.
      const removed = this.#store.remove(collection, before);
      if (mode.direct) return { stored: removed, object: old };
      return { stored: toStoredObject(definition, object, before.revision), object };
    }
    const stored = this.#store.put(collection, object, forms);
    metadata.resourceVersion = String(stored.revision);
    return { stored, object };
  }

  /**
   * Deletes an object, or marks it for deletion while finalizers or a grace period hold it. Returns the object that
   * remains, or the tombstone.
   *
   * @throws {StatusError} 404 or 409, like kube-apiserver.
   */
  delete(
    collection: StoredCollection,
    key: string,
    mode: DeleteMode,
  ): { readonly stored: StoredObject; readonly gone: boolean } {
    const { dryRun, direct } = mode;
    const { namespaces } = this.#options;
    const before = collection.existing(key);
    const { definition } = collection;
    checkPreconditions(definition, before, mode.preconditions ?? {});
    if (mode.force) return { stored: this.#store.remove(collection, before), gone: true };
    const object = parseStored(before);
    const metadata = memberObject(object, "metadata");
    const isSpace = namespaces?.isHeld(definition, object) === true;
    if (isSpace && metadata.deletionTimestamp !== undefined) return { stored: before, gone: false };
    if (!direct) {
      namespaces?.checkDeletable(definition, before.name);
      this.#options.admission.deleting(definition, before, dryRun);
      mode.review?.remove(definition, before, dryRun);
    }
    const type = definition.schema?.name ?? "";
    const policy = mode.propagationPolicy ?? (!direct && ORPHANING.includes(type) ? "Orphan" : undefined);
    const finalizers = withPropagation(metadata.finalizers, policy);
    const graceSeconds = definition.graceful ? gracePeriod(object, mode.gracePeriodSeconds) : 0;
    const isHeld = finalizers.length > 0 || graceSeconds > 0 || isSpace;
    // Requests mark a pod first, also if nothing holds it.
    if (!isHeld && (direct || !definition.graceful)) {
      return { stored: dryRun ? before : this.#store.remove(collection, before), gone: true };
    }
    const isFirst = metadata.deletionTimestamp === undefined;
    if (isFirst || graceSeconds < Number(metadata.deletionGracePeriodSeconds ?? 0)) {
      metadata.deletionTimestamp = rfc3339(this.#options.now() + graceSeconds * 1_000);
      if (!TERMINATING.includes(type)) metadata.deletionGracePeriodSeconds = graceSeconds;
    }
    if (isFirst) {
      if (isSpace || definition.plural === "namespaces") {
        object.status = { ...objectOr(object.status), phase: "Terminating" };
      }
      if (!TERMINATING.includes(type) && typeof metadata.generation === "number") metadata.generation++;
    }
    metadata.finalizers = finalizers;
    if (dryRun) return { stored: toStoredObject(definition, object, before.revision), gone: !isHeld };
    const marked = isSame(parseStored(before), object) ? before : this.#store.put(collection, object);
    return { stored: isHeld ? marked : this.#store.remove(collection, marked), gone: !isHeld };
  }
}

/** Sorts the members of the objects that a patch looked into, as the server quotes them. */
function sortChanged(given: Json, old: Json | undefined): Json {
  if (!isObject(given) || !isObject(old) || given === old) return given;
  return Object.fromEntries(Object.keys(given).sort().map((key) => [key, sortChanged(given[key] ?? null, old[key])]));
}
