import type { Definition } from "../storage/definition.ts";
import { equalJson, isObject, type JsonObject, type MutableJson, objectOr } from "../wire/json.ts";
import { managedFieldsOf } from "../apply/managed_fields.ts";

/** Returns an object without versions and managedFields, for comparison. */
export function objectContent(object: JsonObject): JsonObject {
  const { managedFields: _, resourceVersion: __, ...metadata } = objectOr(object.metadata) as MutableJson;
  for (const field of ["labels", "annotations", "finalizers", "ownerReferences"]) {
    const value = metadata[field];
    if ((Array.isArray(value) || isObject(value)) && Object.keys(value).length === 0) delete metadata[field];
  }
  const { kind: ___, apiVersion: ____, ...rest } = object as MutableJson;
  return { ...rest, metadata };
}

/** Returns true if the managedFields differ in more than their times. */
export function fieldOwnersDiffer(before: JsonObject, after: JsonObject): boolean {
  const owners = (object: JsonObject): JsonObject[] => managedFieldsOf(object).map(({ time: _, ...entry }) => entry);
  return !equalJson(owners(before), owners(after));
}

/** Returns true if an update raises the generation: if more differs than metadata and status. */
export function desiredStateDiffers({ generation }: Definition, before: JsonObject, after: JsonObject): boolean {
  if (generation === false) return false;
  if (generation !== true) {
    const [a, b] = [before, after].map(({ metadata }) => objectOr(objectOr(metadata)[generation]));
    if (!equalJson(a, b)) return true;
  }
  const { metadata: _, status: __, kind: ___, apiVersion: ____, ...old } = before as MutableJson;
  const { metadata: _m, status: _s, kind: _k, apiVersion: _a, ...next } = after as MutableJson;
  return !equalJson(old, next);
}

/** The members of an object that a write of a subresource changes; a write of another one changes all. */
export const PARTS: Readonly<Record<string, (old: JsonObject, body: JsonObject) => JsonObject>> = {
  status: (_, { status }) => ({ status }),
  approval: ({ status }, body) => ({ status: { ...objectOr(status), conditions: objectOr(body.status).conditions } }),
  binding: (_, { spec, status }) => ({ spec, status }),
  ephemeralcontainers: ({ spec }, body) => ({
    spec: { ...objectOr(spec), ephemeralContainers: objectOr(body.spec).ephemeralContainers },
  }),
  finalize: ({ spec }, body) => ({ spec: { ...objectOr(spec), finalizers: objectOr(body.spec).finalizers } }),
  resize: ({ spec }, body) => ({
    spec: {
      ...objectOr(spec),
      ...resized("containers", objectOr(spec), objectOr(body.spec)),
      ...resized("initContainers", objectOr(spec), objectOr(body.spec)),
    },
  }),
};

function resized(member: string, old: JsonObject, next: JsonObject): JsonObject {
  const containers = old[member];
  if (!Array.isArray(containers)) return {};
  const wanted = Array.isArray(next[member]) ? next[member].map(objectOr) : [];
  return {
    [member]: containers.map(objectOr).map((container) => {
      const { resources = container.resources } = wanted.find(({ name }) => name === container.name) ?? {};
      return resources === undefined ? container : { ...container, resources };
    }),
  };
}

/** Built-in kinds whose status is written without their metadata. */
export const STATUS_ALONE: ReadonlySet<string> = new Set([
  "csinodes",
  "devicetaintrules",
  "flowschemas",
  "podcertificaterequests",
  "prioritylevelconfigurations",
  "resourceclaims",
  "servicecidrs",
  "validatingadmissionpolicies",
  "volumeattachments",
]);
