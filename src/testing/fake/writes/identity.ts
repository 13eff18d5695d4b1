/**
 * Checks that a write is about the object that its address names: name, namespace, uid, version, preconditions.
 *
 * {@linkcode checkObjectIdentity} and {@linkcode checkPreconditions} are entry points. Fields of the object are
 * validated in `schema`.
 *
 * @module
 */
import type { StatusError } from "../../../engine/api/status.ts";
import { type Causes, fieldCause, knownRefusal, refusal } from "../../../engine/protocol/refusal.ts";
import type { Struct } from "../../../operator/schema/values/object_schema.ts";
import type { Definition } from "../storage/definition.ts";
import { parseStored, type Store, type StoredObject } from "../storage/store.ts";
import { isList, type Json, type JsonObject } from "../../../engine/api/json.ts";
import { objectOr, textOf } from "../../../engine/api/members.ts";

/** The members of a write that the checks look at. */
export interface CheckedWrite {
  readonly definition: Definition;
  /** The object as it was sent. */
  readonly object: JsonObject;
  /** The schema that it follows, if there is one. */
  readonly schema: Struct | undefined;
  /** Its metadata. */
  readonly given: JsonObject;
  readonly mode: { readonly direct: boolean };
}

/** The same of a write to an existing object. */
interface CheckedUpdate extends CheckedWrite {
  /** The existing state. */
  readonly before: StoredObject;
}

/** 400: the object's namespace differs from that of the request. */
function namespaceMismatch(): StatusError {
  return refusal(400, "the namespace of the provided object does not match the namespace sent on the request");
}

/**
 * Returns the namespace of a new object: that of the request, its own, or `"default"`.
 *
 * @throws {StatusError} 400 if the two differ, 405 for a request without a namespace.
 */
export function namespaceOf(namespace: string, metadata: JsonObject, { direct }: { readonly direct: boolean }): string {
  const named = textOf(metadata.namespace);
  if (namespace === "" && !direct) throw knownRefusal("noMethod");
  if (named !== "" && namespace !== "" && named !== namespace) throw namespaceMismatch();
  return namespace || named || "default";
}

/**
 * Checks that a body matches the addressed object, and has a resourceVersion where an update requires one.
 *
 * @throws {StatusError} 400 or 422 if not.
 */
export function checkObjectIdentity({ definition, before, given, mode: { direct } }: CheckedUpdate): void {
  const { group, plural, unconditionalUpdate } = definition;
  const { name, namespace, resourceVersion } = given;
  if (name !== undefined || !direct) checkUrlName(before.name, given);
  if (before.namespace !== "" && (namespace ?? "") !== "" && namespace !== before.namespace) throw namespaceMismatch();
  if (direct || unconditionalUpdate || (resourceVersion ?? "") !== "") return;
  const causes = [fieldCause.invalid("metadata.resourceVersion", "0", "must be specified for an update")];
  throw knownRefusal("invalid", { group, kind: plural, name: before.name }, causes);
}

/** @throws {StatusError} 400 if an object has no name, or another one than its path. */
export function checkUrlName(name: string, { name: found }: JsonObject): void {
  if ((found ?? "") === "") {
    throw refusal(400, `the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  }
  if (found !== name) {
    throw refusal(400, `the name of the object (${found}) does not match the name on the URL (${name})`);
  }
}

const STRINGS = ["name", "generateName", "namespace", "uid", "resourceVersion"];

/**
 * Checks kind and apiVersion, which may be absent, and that what identifies the object, labels and annotations are
 * strings, unless a schema says so.
 *
 * @throws {StatusError} 400 if they are invalid.
 */
export function checkObjectType({ definition, object: body, schema }: CheckedWrite): void {
  const isTyped = schema !== undefined;
  const metadata = isTyped ? {} : objectOr(body.metadata);
  const refuse = (why: string): never => {
    const version = JSON.stringify(definition.version);
    throw refusal(400, `${definition.kind} in version ${version} cannot be handled as a ${definition.kind}: ${why}`);
  };
  for (const field of STRINGS) {
    const value = metadata[field] ?? "";
    if (typeof value === "string") continue;
    const found = isList(value) ? "array" : typeof value === "boolean" ? "bool" : typeof value;
    refuse(`json: cannot unmarshal ${found} into Go struct field ObjectMeta.metadata.${field} of type string`);
  }
  for (const field of ["labels", "annotations"]) {
    for (const [key, value] of Object.entries(objectOr(metadata[field]))) {
      if (typeof value === "string") continue;
      refuse(`metadata.${field}[${JSON.stringify(key)}] must be a string, found ${JSON.stringify(value)}`);
    }
  }
  const kind = definition.custom ? body.kind ?? definition.kind : body.kind || definition.kind;
  const apiVersion = definition.custom
    ? body.apiVersion ?? definition.apiVersion
    : body.apiVersion || definition.apiVersion;
  if (kind === definition.kind && apiVersion === definition.apiVersion) return;
  // checkCustomType looks at texts.
  if (definition.custom && isTyped && isText(kind) && isText(apiVersion)) return;
  throw refusal(
    400,
    `${textOf(kind)} in version ${JSON.stringify(apiVersion)} cannot be handled as a ${definition.kind}: ` +
      `expected ${definition.kind} in version ${JSON.stringify(definition.apiVersion)}`,
  );
}

function isText(value: Json): value is string {
  return typeof value === "string" && value !== "";
}

/** @throws {StatusError} 422 if an object of a custom kind has another kind or version. */
export function checkCustomType({ definition, object: { kind, apiVersion, metadata } }: CheckedWrite): void {
  if (!definition.custom) return;
  const causes: Causes = [];
  for (const [field, value] of Object.entries({ kind, apiVersion })) {
    const wanted = definition[field as "kind" | "apiVersion"];
    if (value === undefined || !isText(value) || value === wanted) continue;
    causes.push(fieldCause.invalid(field, JSON.stringify(value), `must be ${wanted}`));
  }
  if (causes.length === 0) return;
  throw knownRefusal(
    "invalid",
    { group: definition.group, kind: textOf(kind), name: textOf(objectOr(metadata).name) },
    causes,
  );
}

/** The requirements of a deletion: it deletes no other object, and no other version of it. */
export interface Preconditions {
  /** Its uid. */
  readonly uid?: string;
  /** Its resourceVersion. */
  readonly resourceVersion?: string;
}

/** @throws {StatusError} 409 if the object is another one, or has changed. */
export function checkPreconditions(
  { group, kind }: Definition,
  before: StoredObject,
  { uid, resourceVersion }: Preconditions,
): void {
  const checks = [
    ["UID", uid, before.uid, "been deleted and then recreated"],
    ["ResourceVersion", resourceVersion, String(before.revision), "been modified"],
  ] as const;
  for (const [what, wanted, found, cause] of checks) {
    if (wanted === undefined || wanted === found) continue;
    const why = `the ${what} in the precondition (${wanted}) does not match the ${what} in record (${found}). ` +
      `The object might have ${cause}`;
    // The server names the kind here, in place of the resource.
    throw knownRefusal("conflict", { group, plural: kind }, before.name, why);
  }
}

/** @throws {StatusError} 409 if an update is of an object with another uid. */
export function checkUid(definition: Definition, before: StoredObject, uid: Json | undefined): void {
  if (textOf(uid) === "" || uid === before.uid) return;
  throw knownRefusal("conflict", definition, before.name, uidDiffers(uid, before.uid));
}

/** @throws {StatusError} 409 if an update that creates its object has a uid. */
export function checkNoUid(definition: Definition, name: string, uid: Json | undefined): void {
  if (textOf(uid) === "") return;
  const why = uidDiffers(uid, "");
  throw knownRefusal("conflict", definition, name, `StorageError: invalid object, Code: 4, AdditionalErrorMsg: ${why}`);
}

function uidDiffers(wanted: Json | undefined, found: string): string {
  return `Precondition failed: UID in precondition: ${wanted}, UID in object meta: ${found}`;
}

/** @throws {StatusError} 400 or 409 if an apply cannot create its object: by its name, or because it has a uid. */
export function checkNewApplied(definition: Definition, name: string, metadata: JsonObject): void {
  checkUrlName(name, metadata);
  const uid = textOf(metadata.uid);
  if (uid === "") return;
  const why = `the provided object specified uid ${uid}, and no existing object was found`;
  throw knownRefusal("conflict", definition, name, `uid mismatch: ${why}`);
}

/** @throws {StatusError} 409 if an object has changed since the version that an update is of, 500 if that is none. */
export function checkVersion({ definition, before, given: { resourceVersion: version } }: CheckedUpdate): void {
  if (!version || version === String(before.revision)) return;
  if (!/^\d+$/.test(textOf(version))) {
    throw refusal(500, `strconv.ParseUint: parsing ${JSON.stringify(version)}: invalid syntax`, { reason: "" });
  }
  const why = "the object has been modified; please apply your changes to the latest version and try again";
  throw knownRefusal("conflict", definition, before.name, why);
}

/** The resource of namespaces. */
export const NAMESPACES = { group: "", version: "v1", plural: "namespaces" };

/** The namespaces of a new cluster; none of them can be deleted. */
export const FIRST_NAMESPACES: readonly string[] = ["default", "kube-node-lease", "kube-public", "kube-system"];

/** Namespaces that have to exist, and end as they do on the server. */
export class NamespaceLifecycle {
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
  checkOpen({ group, plural }: Definition, { namespace, name, generateName }: JsonObject): void {
    const space = textOf(namespace);
    const stored = this.#store.collection(NAMESPACES)?.get(space);
    if (stored === undefined) throw knownRefusal("notFound", NAMESPACES, space);
    if (objectOr(parseStored(stored).status).phase !== "Terminating") return;
    const message = `namespace ${space} is being terminated`;
    const causes = [{ reason: "NamespaceTerminating", message, field: "metadata.namespace" }];
    const why = `unable to create new content in namespace ${space} because it is being terminated`;
    throw knownRefusal("forbidden", { group, plural }, textOf(name) || textOf(generateName) || "Unknown", why, causes);
  }

  /**
   * Checks that an object is none of the namespaces that stay.
   *
   * @throws {StatusError} 403 if it is one.
   */
  checkDeletable(definition: Definition, name: string): void {
    if (isNamespaces(definition) && FIRST_NAMESPACES.includes(name)) {
      throw knownRefusal("forbidden", NAMESPACES, name, "this namespace may not be deleted");
    }
  }

  /** True for a namespace that a deletion leaves: one that is not being deleted yet, or has finalizers in its spec. */
  isHeld(definition: Definition, { metadata, spec }: JsonObject): boolean {
    if (!isNamespaces(definition)) return false;
    const { finalizers } = objectOr(spec);
    return objectOr(metadata).deletionTimestamp === undefined || (isList(finalizers) && finalizers.length > 0);
  }
}

function isNamespaces({ group, plural }: Definition): boolean {
  return group === "" && plural === "namespaces";
}
