import type { StatusError } from "../../api/errors.ts";
import type { StatusCause } from "../../api/status.ts";
import { badRequest, forbiddenField, invalid, invalidField } from "../http/refusal.ts";
import type { StoredCollection } from "../storage/stored_collection.ts";
import type { StoredObject } from "../storage/stored_object.ts";
import { type JsonObject, objectOr, textOf } from "../wire/json.ts";

/** 400: the object's namespace differs from that of the request. */
export function namespaceMismatch(): StatusError {
  return badRequest("the namespace of the provided object does not match the namespace sent on the request");
}

/**
 * Checks that a body matches the addressed object, and has a resourceVersion where an update requires one.
 *
 * @throws {StatusError} 400 or 422 if not.
 */
export function checkObjectIdentity(
  collection: StoredCollection,
  before: StoredObject,
  body: JsonObject,
  mode: { readonly direct: boolean },
): void {
  checkObjectType(collection, body);
  const { name, namespace, resourceVersion } = objectOr(body.metadata);
  if (name !== undefined && name !== before.name) {
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${before.name})`);
  }
  if (namespace !== undefined && namespace !== "" && namespace !== before.namespace) throw namespaceMismatch();
  if (mode.direct || collection.definition.unconditionalUpdate || (resourceVersion ?? "") !== "") return;
  const { group, plural } = collection.definition;
  const causes = [invalidField("metadata.resourceVersion", "0", "must be specified for an update")];
  throw invalid({ group, kind: plural, name: before.name }, causes);
}

const STRINGS = ["name", "generateName", "namespace", "uid", "resourceVersion"];

/**
 * Checks kind and apiVersion, which may be absent, and that what identifies the object, labels and annotations are strings.
 *
 * @throws {StatusError} 400 if they are invalid.
 */
export function checkObjectType({ definition }: StoredCollection, body: JsonObject): void {
  const metadata = objectOr(body.metadata);
  const refuse = (why: string): never => {
    const version = JSON.stringify(definition.version);
    throw badRequest(`${definition.kind} in version ${version} cannot be handled as a ${definition.kind}: ${why}`);
  };
  for (const field of STRINGS) {
    const value = metadata[field] ?? "";
    if (typeof value === "string") continue;
    const found = Array.isArray(value) ? "array" : typeof value === "boolean" ? "bool" : typeof value;
    refuse(`json: cannot unmarshal ${found} into Go struct field ObjectMeta.metadata.${field} of type string`);
  }
  for (const field of ["labels", "annotations"]) {
    for (const [key, value] of Object.entries(objectOr(metadata[field]))) {
      if (typeof value === "string") continue;
      refuse(`metadata.${field}[${JSON.stringify(key)}] must be a string, found ${JSON.stringify(value)}`);
    }
  }
  const { kind = definition.kind, apiVersion = definition.apiVersion } = body;
  if (kind === definition.kind && apiVersion === definition.apiVersion) return;
  throw badRequest(
    `${textOf(kind)} in version ${JSON.stringify(apiVersion)} cannot be handled as a ${definition.kind}: ` +
      `expected ${definition.kind} in version ${JSON.stringify(definition.apiVersion)}`,
  );
}

/**
 * Checks that an object which is being deleted gets no new finalizers.
 *
 * @throws {StatusError} 422 if it does.
 */
export function checkFinalizers(
  { definition: { group, kind } }: StoredCollection,
  { name }: StoredObject,
  old: JsonObject,
  given: JsonObject,
): void {
  if (old.deletionTimestamp === undefined || !Array.isArray(given.finalizers)) return;
  const before = Array.isArray(old.finalizers) ? old.finalizers : [];
  const added = given.finalizers.filter((finalizer) => !before.includes(finalizer)).sort();
  if (added.length === 0) return;
  const why = "no new finalizers can be added if the object is being deleted, found new finalizers " +
    `[]string{${added.map((finalizer) => JSON.stringify(finalizer)).join(", ")}}`;
  throw invalid({ group, kind, name }, [forbiddenField("metadata.finalizers", why)]);
}

const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const SUBDOMAIN_TEXT =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and " +
  "end with an alphanumeric character (e.g. 'example.com', regex used for validation is " +
  "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

/**
 * Checks the name of an object.
 *
 * @throws {StatusError} 422 if it is invalid.
 */
export function checkObjectName({ definition: { group, kind } }: StoredCollection, name: string): void {
  const causes: Required<StatusCause>[] = [];
  // RBAC names may be any path segment.
  const free = group === "rbac.authorization.k8s.io";
  if (free ? /[/%]/.test(name) || name === "." || name === ".." : !SUBDOMAIN.test(name)) {
    causes.push(invalidField("metadata.name", JSON.stringify(name), SUBDOMAIN_TEXT));
  } else if (name.length > 253) {
    causes.push(invalidField("metadata.name", JSON.stringify(name), "must be no more than 253 bytes"));
  }
  if (causes.length > 0) throw invalid({ group, kind, name }, causes);
}
