/**
 * Writes: defaults, validation, admission, field ownership and garbage collection.
 *
 * {@linkcode Writer} creates, updates, applies and deletes objects, and commits the result to the store.
 * `collectGarbage` deletes dependents on request. This folder does not parse requests, and does not deliver events to
 * watches.
 *
 * @module
 */
import type { KubernetesObject } from "../../../api/object.ts";
import { StatusError } from "../../../api/status.ts";
import {
  alreadyExists,
  badRequest,
  type Causes,
  invalid,
  invalidField,
  notFound,
  refusal,
} from "../../../client/protocol/refusal.ts";
import { applyConfiguration, type FieldManager, managedFieldsAfterUpdate } from "../apply/managed_fields.ts";
import { mergePatch } from "../apply/patches.ts";
import { checkMetadata, checkMetadataUpdate, checkName } from "../schema/checks.ts";
import { PREPARED } from "../schema/computed.ts";
import { decodeCustom, decodeTyped, emptyOf, type FieldValidation } from "../schema/decode.ts";
import { validateCreate, validatePart, validateUpdate } from "../schema/updates.ts";
import { validateCustom, validateTyped } from "../schema/validate.ts";
import type { Definition } from "../storage/definition.ts";
import { parseStored, type Store, type StoredCollection, type StoredObject, toStoredObject } from "../storage/store.ts";
import {
  cloneJson,
  equalJson,
  goJson,
  isList,
  isObject,
  type Json,
  type JsonObject,
  memberObject,
  type MutableJson,
  objectOr,
  textOf,
} from "../wire/json.ts";
import type { Admission } from "./admission.ts";
import {
  checkCustomType,
  checkNewApplied,
  checkNoUid,
  checkObjectIdentity,
  checkObjectType,
  checkPreconditions,
  checkUid,
  checkUrlName,
  checkVersion,
  type NamespaceLifecycle,
  namespaceOf,
  type Preconditions,
} from "./identity.ts";
import type { ServiceAddresses } from "./service_addresses.ts";
import {
  desiredStateDiffers,
  fieldOwnersDiffer,
  gracePeriod,
  objectContent,
  ORPHANING,
  PARTS,
  setKindDefaults,
  STATUS_ALONE,
  strategyOf,
  type Surroundings,
  TERMINATING,
  withPropagation,
} from "./strategies.ts";

/** Returns the object with the status of a new one, as its kind has it. */
function withoutStatus({ status: _, ...object }: MutableJson, { schema, custom }: Definition): MutableJson {
  const field = custom ? undefined : schema?.fields.get("status");
  return field === undefined || field.pointer || field.omitEmpty || field.schema.type !== "struct"
    ? object
    : { ...object, status: emptyOf(field.schema) };
}

/** Fills in what nobody owns in new objects. */
function prepareKind(definition: Definition, object: MutableJson): void {
  if (!definition.custom && definition.plural === "namespaces") object.spec ??= { finalizers: ["kubernetes"] };
}

/** Settings of a write. */
export interface WriteMode {
  /** Name of the field manager. */
  readonly manager: string;
  /** The user of a request. */
  readonly user?: string;
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
  /** The treatment of unknown fields. @default {"Warn"} */
  readonly fieldValidation?: FieldValidation;
  /** The text of an object of a built-in kind, which shows what its parser drops. */
  readonly body?: string;
  /** The members that a patch, or a custom object, has twice: those of any type. @default {[]} */
  readonly repeated?: readonly string[];
  /** Receives the warnings of the answer. */
  readonly warnings?: string[];
}

/** Dependencies of the writer. */
interface WriterOptions {
  /** Returns the time, in milliseconds since 1970. */
  readonly now: () => number;
  /** Returns a new uid. */
  readonly uid: () => string;
  /** Returns a suffix of five characters for a generated name. */
  readonly suffix: () => string;
  /** If true, writes record managedFields. */
  readonly managedFields: boolean;
  /** Which writes follow the schemas of kinds: those of requests, those of the test itself. */
  readonly schemas: { readonly requests: boolean; readonly fixtures: boolean };
  /** Hooks for writes that arrive as requests. */
  readonly admission: Admission;
  /** The addresses of Services that arrive as requests. */
  readonly addresses: ServiceAddresses;
  /** The rules for namespaces; without them, these need not exist and are deleted at once. */
  readonly namespaces: NamespaceLifecycle | undefined;
}

/** The first line of the refusal of an apply, which is YAML to the server. */
const STRICT_YAML = "error strict decoding patch: error converting YAML to JSON: yaml: unmarshal errors:";

/** Settings of a deletion. */
export interface DeleteMode extends Pick<WriteMode, "dryRun" | "direct"> {
  /** If true, the object is removed at once, whatever holds it. */
  readonly force?: boolean;
  /** Grace period in seconds. */
  readonly gracePeriodSeconds?: number;
  /** Propagation policy for dependents. */
  readonly propagationPolicy?: string;
  /** Preconditions. */
  readonly preconditions?: Preconditions;
}

/** Result of an update or patch. */
interface Written {
  /** The committed state, or the existing one if nothing changed. */
  readonly stored: StoredObject;
  /** The object in this state, parsed; it may share parts with the argument of the change. */
  readonly object: JsonObject;
}

/** Result of an apply. */
interface Applied {
  /** The committed state, or the existing one if nothing changed. */
  readonly stored: StoredObject;
  /** True if the object is new. */
  readonly created: boolean;
}

/** Result of a deletion. */
interface Deletion {
  /** The remaining object, or the tombstone. */
  readonly stored: StoredObject;
  /** True if the object is gone. */
  readonly gone: boolean;
}

/** Creates, updates and deletes objects with the defaults and validation of kube-apiserver. */
export class Writer {
  readonly #store: Store;
  readonly #options: WriterOptions;
  /** The second of the latest timestamp, and its text. */
  #second = NaN;
  #text = "";

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
  create(collection: StoredCollection, namespace: string, given: JsonObject, mode: WriteMode): StoredObject {
    const body = this.#read(collection, given, mode);
    if (!mode.direct) checkCustomType(collection.definition, given);
    return this.#create(collection, namespace, body, mode);
  }

  /** @throws {StatusError} 400 for a body that is no object of the kind. */
  #read(collection: StoredCollection, given: JsonObject, mode: WriteMode): JsonObject {
    const { definition } = collection;
    checkObjectType(collection, given, this.#isTyped(mode) && definition.schema !== undefined);
    return this.#decode(definition, given, mode);
  }

  #create(collection: StoredCollection, namespace: string, body: JsonObject, mode: WriteMode): StoredObject {
    const { definition } = collection;
    const given = objectOr(body.metadata);
    const metadata: MutableJson = { ...given };
    if (definition.scope === "Cluster") delete metadata.namespace;
    else metadata.namespace = namespaceOf(namespace, given, mode);
    if (!mode.direct) {
      if (definition.scope !== "Cluster") this.#options.namespaces?.checkOpen(definition, metadata);
      if (given.resourceVersion !== undefined && given.resourceVersion !== "" && !mode.dryRun) {
        throw refusal(500, "resourceVersion should not be set on objects to be created", { reason: "" });
      }
      for (const field of ["creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"]) {
        delete metadata[field];
      }
    }
    delete metadata.selfLink;
    metadata.name = this.#freeName(collection, metadata);
    if (mode.direct) this.#refuse(definition, metadata, checkName(definition, metadata, []));
    metadata.uid = this.#options.uid();
    metadata.creationTimestamp ??= this.#timestamp();
    if (definition.generation !== false) {
      metadata.generation = mode.direct && metadata.generation ? metadata.generation : 1;
    }
    let object: MutableJson = { ...body, metadata };
    const type = definition.schema?.name ?? "";
    const { keepsStatus = false, create } = this.#isBuiltIn(definition, mode) ? strategyOf(type) : {};
    if (!mode.direct && !keepsStatus && definition.subresources.includes("status")) {
      object = withoutStatus(object, definition);
    }
    if (create === undefined) setKindDefaults(definition, object, this.#timestamp());
    // What the registry and admission add belongs to nobody.
    this.#record(collection, undefined, object, mode);
    if (create === undefined) prepareKind(definition, object);
    try {
      create?.(object, this.#around(mode));
      if (!mode.direct) PREPARED[type]?.(object, undefined);
      return this.#putNew(collection, this.#admit(collection, "CREATE", undefined, object, mode), mode);
    } catch (error) {
      this.#options.addresses.release(object);
      throw error;
    }
  }

  #putNew(collection: StoredCollection, object: MutableJson, mode: WriteMode): StoredObject {
    const { definition } = collection;
    const metadata = objectOr(object.metadata);
    this.#validate(definition, undefined, object, mode, mode.direct ? [] : checkName(definition, metadata, []));
    const name = textOf(metadata.name);
    const key = typeof metadata.namespace === "string" ? `${metadata.namespace}/${name}` : name;
    if (collection.get(key) !== undefined) throw alreadyExists(definition, name);
    if (mode.dryRun) return toStoredObject(definition, object, 0);
    return this.#store.put(collection, object);
  }

  /**
   * Replaces an object, or its status.
   *
   * @throws {StatusError} 400, 404, 409 or 422, like kube-apiserver.
   */
  update(collection: StoredCollection, key: string, given: JsonObject, mode: WriteMode): Applied {
    const { definition } = collection;
    const path = key.slice(key.indexOf("/") + 1);
    const body = this.#read(collection, given, mode);
    const { name, uid } = objectOr(body.metadata);
    if (name !== undefined || !mode.direct) checkUrlName(path, body);
    const isUpsert = definition.createdByUpdate && mode.subresource === "" && !mode.direct;
    if (isUpsert && collection.get(key) === undefined) {
      checkNoUid(definition, path, uid);
      const { resourceVersion: _, ...metadata } = objectOr(body.metadata);
      const namespace = key.includes("/") ? key.slice(0, key.indexOf("/")) : "";
      return { stored: this.#create(collection, namespace, { ...body, metadata }, mode), created: true };
    }
    const stored = this.#existing(collection, key);
    checkUid(definition, stored, uid);
    if (!mode.direct) checkCustomType(definition, given);
    checkObjectIdentity(collection, stored, body, mode);
    return { stored: this.#commit(collection, stored, parseStored(stored), body, mode).stored, created: false };
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
    return this.#replace(collection, before, old, change(old), mode, true);
  }

  /**
   * Applies a configuration server-side: merges it into the object, or creates it.
   *
   * @throws {StatusError} 400, 409 or 422, like kube-apiserver.
   */
  apply(collection: StoredCollection, namespace: string, name: string, config: JsonObject, mode: WriteMode): Applied {
    const { definition } = collection;
    const asApply = { ...mode, operation: "Apply" } as const;
    const key = namespace === "" ? name : `${namespace}/${name}`;
    const before = collection.get(key);
    if (before === undefined && mode.subresource !== "") throw notFound(definition, name);
    const old = before === undefined ? undefined : parseStored(before);
    const { force = false } = mode;
    const next = applyConfiguration(old, config, definition, { manager: this.#manager(asApply), force });
    if (before === undefined || old === undefined) {
      checkNewApplied(definition, name, next);
      return { stored: this.create(collection, namespace, next, asApply), created: true };
    }
    return { stored: this.#replace(collection, before, old, next, asApply).stored, created: false };
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
    given: JsonObject,
    mode: WriteMode,
    isPatched = false,
  ): Written {
    const body = isPatched && !mode.direct
      ? this.#readPatched(collection, old, given, mode)
      : this.#read(collection, given, mode);
    checkObjectIdentity(collection, before, body, mode);
    return this.#commit(collection, before, old, body, mode);
  }

  /** @throws {StatusError} 422 instead of 400: the fault is the patch's. */
  #readPatched(collection: StoredCollection, old: JsonObject, given: JsonObject, mode: WriteMode): JsonObject {
    const { definition } = collection;
    checkCustomType(definition, given);
    try {
      return this.#read(collection, given, mode);
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      const why = error.message.replace(/^\S+ in version "[^"]*" cannot be handled as an? \S+: /, "");
      const causes = [invalidField("patch", goJson(goJson(sortChanged(given, old))), why)];
      throw invalid({ group: "", kind: "", name: "" }, causes);
    }
  }

  #commit(
    collection: StoredCollection,
    before: StoredObject,
    old: JsonObject,
    body: JsonObject,
    mode: WriteMode,
  ): Written {
    const { definition } = collection;
    const oldMetadata = objectOr(old.metadata);
    const given = objectOr(body.metadata);
    if (!mode.direct) checkVersion(definition, before, given.resourceVersion);
    const owned = { ...body, metadata: { ...given } };
    this.#record(collection, old, owned, mode);
    const next = this.#next(collection, old, owned, mode);
    const type = definition.schema?.name ?? "";
    if (this.#isBuiltIn(definition, mode)) {
      const { update, status } = strategyOf(type);
      if (mode.subresource === "status") status?.(old, next, this.#around(mode));
      else if (mode.subresource !== "finalize") update?.(old, next, this.#around(mode));
    }
    if (!mode.direct) PREPARED[type]?.(next, old);
    const object = this.#admit(collection, "UPDATE", old, next, mode);
    this.#validate(definition, old, object, mode, mode.direct ? [] : checkMetadataUpdate(oldMetadata, given, []));
    const metadata = memberObject(object, "metadata");
    if (equalJson(objectContent(old), objectContent(object)) && !fieldOwnersDiffer(old, object)) {
      return { stored: before, object: old };
    }
    const isDesired = mode.subresource !== "status" && mode.subresource !== "binding" &&
      desiredStateDiffers(definition, old, object) &&
      desiredStateDiffers(definition, this.#complete(definition, old, mode), object);
    if (isDesired && metadata.generation === oldMetadata.generation) {
      metadata.generation = Number(oldMetadata.generation ?? 0) + 1;
    }
    if (mode.dryRun) return { stored: toStoredObject(definition, object, before.revision), object };
    const finalizers = metadata.finalizers as readonly unknown[] | undefined;
    const grace = Number(metadata.deletionGracePeriodSeconds ?? 0);
    const isHeld = finalizers?.length || grace !== 0 || this.#options.namespaces?.isHeld(definition, object);
    if (oldMetadata.deletionTimestamp !== undefined && !isHeld) {
      // The last finalizer was removed: delete the object; its tombstone shows the previous state, and the answer the
      // one that was asked for.
      const removed = this.#store.remove(collection, before);
      if (mode.direct) return { stored: removed, object: old };
      return { stored: toStoredObject(definition, object, before.revision), object };
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
    checkPreconditions(definition, before, mode.preconditions ?? {});
    if (mode.force) return { stored: this.#store.remove(collection, before), gone: true };
    const object = parseStored(before);
    const metadata = memberObject(object, "metadata");
    const isSpace = this.#options.namespaces?.isHeld(definition, object) === true;
    if (isSpace && metadata.deletionTimestamp !== undefined) return { stored: before, gone: false };
    if (!mode.direct) this.#judgeDeletion(collection, before, mode);
    const type = definition.schema?.name ?? "";
    const policy = mode.propagationPolicy ?? (!mode.direct && ORPHANING.includes(type) ? "Orphan" : undefined);
    const finalizers = withPropagation(metadata.finalizers, policy);
    const graceSeconds = definition.graceful ? gracePeriod(object, mode.gracePeriodSeconds) : 0;
    const isMarkedFirst = mode.direct ? graceSeconds > 0 : definition.graceful;
    if (!isMarkedFirst && finalizers.length === 0 && !isSpace) {
      return { stored: mode.dryRun ? before : this.#store.remove(collection, before), gone: true };
    }
    if (metadata.deletionTimestamp === undefined) {
      metadata.deletionTimestamp = this.#timestamp(graceSeconds);
      if (isSpace || definition.plural === "namespaces") {
        object.status = { ...objectOr(object.status), phase: "Terminating" };
      }
      if (!TERMINATING.includes(type)) metadata.deletionGracePeriodSeconds = graceSeconds;
      if (!TERMINATING.includes(type) && typeof metadata.generation === "number") metadata.generation++;
    } else if (graceSeconds < Number(metadata.deletionGracePeriodSeconds ?? 0)) {
      metadata.deletionTimestamp = this.#timestamp(graceSeconds);
      metadata.deletionGracePeriodSeconds = graceSeconds;
    }
    metadata.finalizers = finalizers;
    const isHeld = finalizers.length > 0 || graceSeconds > 0 || isSpace;
    if (mode.dryRun) {
      return { stored: toStoredObject(definition, object, before.revision), gone: !isHeld };
    }
    const marked = equalJson(objectContent(parseStored(before)), objectContent(object))
      ? before
      : this.#store.put(collection, object);
    if (isHeld) return { stored: marked, gone: false };
    return { stored: this.#store.remove(collection, marked), gone: true };
  }

  /**
   * Returns an object as the server's type of its kind has it.
   *
   * @throws {StatusError} 400 for values of other types, and for unknown fields that are not allowed.
   */
  #decode(definition: Definition, given: JsonObject, mode: WriteMode): JsonObject {
    const { schema, custom, kind, version } = definition;
    if (!this.#isTyped(mode)) return given;
    const { fieldValidation = "Warn", warnings, body, repeated = [] } = mode;
    const decoded = schema === undefined
      ? { object: given, faults: [] }
      : custom
      ? decodeCustom(schema, given, definition)
      : decodeTyped(schema, given, definition, body);
    const faults = fieldValidation === "Ignore" ? [] : [...repeated, ...decoded.faults];
    if (fieldValidation === "Strict" && faults.length > 0) {
      if (mode.operation === "Apply") throw badRequest([STRICT_YAML, ...faults].join("\n  "));
      const text = `strict decoding error: ${faults.join(", ")}`;
      throw badRequest(`${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: ${text}`);
    }
    warnings?.push(...faults);
    return decoded.object;
  }

  /**
   * Checks an object, after `causes` that were found already. What was wrong before an update may stay: an object that
   * a test created itself need not be valid.
   *
   * @throws {StatusError} 422 if it is not valid, or changes what cannot be changed.
   */
  #validate(
    definition: Definition,
    old: JsonObject | undefined,
    object: JsonObject,
    mode: WriteMode,
    causes: Causes,
  ): void {
    const { schema, custom } = definition;
    const metadata = objectOr(object.metadata);
    if (this.#isTyped(mode) && schema !== undefined) {
      const check = (object: JsonObject): Causes => {
        const found = custom ? validateCustom(schema, object, definition.scale) : validateTyped(schema, object);
        checkMetadata(definition, objectOr(object.metadata), found);
        return found;
      };
      // A subresource changes what an update of the object cannot.
      const isFree = custom || !["", "status"].includes(mode.subresource);
      const update = (old: JsonObject): Causes =>
        isFree ? validatePart(mode.subresource, old, object) : validateUpdate(schema, old, object);
      const found = check(object);
      if (old === undefined && !custom) found.push(...validateCreate(schema, object));
      const changes = old === undefined ? [] : update(old);
      if (old === undefined || found.length + changes.length === 0) causes.push(...found);
      else {
        // What a test created lacks defaults.
        const complete = mode.subresource === "status" ? old : this.#complete(definition, old, mode);
        const before = check(complete);
        const isNew = ({ field, reason }: Causes[number]): boolean =>
          !before.some((one) => one.field === field && one.reason === reason);
        causes.push(...found.filter(isNew), ...update(complete));
      }
    }
    this.#refuse(definition, metadata, causes);
  }

  /** @throws {StatusError} 422 if there are causes. */
  #refuse({ group, kind }: Definition, { name }: JsonObject, causes: Causes): void {
    if (causes.length > 0) throw invalid({ group, kind, name: textOf(name) }, causes);
  }

  /** An existing object with the defaults that one of the test itself lacks. */
  #complete(definition: Definition, old: JsonObject, mode: WriteMode): JsonObject {
    if (!this.#isBuiltIn(definition, mode)) return old;
    const { object } = decodeTyped(definition.schema!, old, definition);
    strategyOf(definition.schema!.name).update?.(old, object, this.#around({ ...mode, dryRun: true }));
    return object;
  }

  /** True for objects of built-in kinds that follow their schemas. */
  #isBuiltIn({ custom, schema }: Definition, mode: WriteMode): boolean {
    return !custom && schema !== undefined && this.#isTyped(mode);
  }

  #around({ dryRun, user = "" }: WriteMode): Surroundings {
    return { time: this.#timestamp(), dryRun, user, addresses: this.#options.addresses };
  }

  #isTyped({ direct }: WriteMode): boolean {
    return direct ? this.#options.schemas.fixtures : this.#options.schemas.requests;
  }

  #existing(collection: StoredCollection, key: string): StoredObject {
    const stored = collection.get(key);
    if (stored === undefined) throw notFound(collection.definition, key.slice(key.indexOf("/") + 1));
    return stored;
  }

  #freeName(collection: StoredCollection, metadata: JsonObject): string {
    const { name, generateName, namespace } = metadata;
    if (typeof name === "string" && name !== "") {
      return name;
    }
    if (typeof generateName !== "string" || generateName === "") return "";
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
    const { managedFields } = given;
    const part = PARTS[mode.subresource];
    if (part !== undefined) {
      const { annotations, finalizers, labels } = given;
      const isFixed = definition.custom || mode.subresource !== "status" || STATUS_ALONE.has(definition.plural);
      const own: MutableJson = isFixed ? {} : { annotations, finalizers, labels };
      if (definition.schema?.name === "apps/v1.Deployment") own.labels = oldMetadata.labels;
      return { ...old, ...part(old, body), metadata: { ...oldMetadata, ...own, managedFields } };
    }
    const metadata: MutableJson = { ...given };
    for (const field of FIXED_METADATA) delete metadata[field];
    const object: MutableJson = { ...body, metadata: { ...metadata, ...kept } };
    if (!mode.direct && definition.subresources.includes("status")) {
      if (old.status === undefined) delete object.status;
      else object.status = old.status;
    }
    return object;
  }

  /** Records the owners of fields in `object` after a write; an apply has done so. */
  #record(
    { definition }: StoredCollection,
    before: JsonObject | undefined,
    object: MutableJson,
    mode: WriteMode,
  ): void {
    const metadata = memberObject(object, "metadata");
    if (mode.operation === "Apply") return;
    if (mode.subresource === "binding") return; // the scheduler owns nothing of a pod
    // New objects of the test itself keep the managedFields that they have.
    if (before === undefined && mode.direct && isList(metadata.managedFields)) return;
    const managedFields = this.#options.managedFields
      ? managedFieldsAfterUpdate(before, object, definition, this.#manager(mode))
      : objectOr(before?.metadata).managedFields;
    if (managedFields === undefined) delete metadata.managedFields;
    else metadata.managedFields = managedFields;
  }

  #manager({ manager: name, operation = "Update", subresource, direct }: WriteMode): FieldManager {
    return { name, operation, subresource, time: this.#timestamp(), unrestricted: direct };
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
    const { admission, namespaces } = this.#options;
    namespaces?.checkDeletable(definition, stored.name);
    if (admission.ignores(definition)) return;
    const old = parseStored(stored) as unknown as KubernetesObject;
    admission.validate(definition, { operation: "DELETE", object: undefined, old, subresource: "", dryRun });
  }

  #timestamp(plusSeconds = 0): string {
    const second = Math.floor(this.#options.now() / 1_000) + plusSeconds;
    if (second !== this.#second) {
      this.#second = second;
      this.#text = `${new Date(second * 1_000).toISOString().slice(0, 19)}Z`;
    }
    return this.#text;
  }
}

/** Sorts the members of the objects that a patch looked into, as the server quotes them. */
function sortChanged(given: Json, old: Json | undefined): Json {
  if (!isObject(given) || !isObject(old) || given === old) return given;
  return Object.fromEntries(Object.keys(given).sort().map((key) => [key, sortChanged(given[key]!, old[key])]));
}

/** Fields set by deletions and the generation counter; only a direct write may set them. */
const MARKS = ["generation", "deletionTimestamp", "deletionGracePeriodSeconds"];
/** Fields that an update cannot change. */
const FIXED_METADATA = ["name", "namespace", "uid", "resourceVersion", "creationTimestamp", ...MARKS];
