import { listKey } from "../patches/list_key.ts";
import {
  equalJson,
  isObject,
  type Json,
  type JsonObject,
  type MutableJson,
  objectOr,
  setMember,
} from "../wire/json.ts";
import { type FieldSet, sortKeys, unionFields, withoutFields } from "./field_set.ts";

/** The identity of a managedFields entry, and its time. */
export interface FieldManager {
  /** Name of the manager. */
  readonly name: string;
  /** Operation of the manager. */
  readonly operation: "Update" | "Apply";
  /** Subresource of the write; `""` for the main resource. */
  readonly subresource: string;
  /** Time of the write, RFC 3339. */
  readonly time: string;
}

/** The properties of a kind that determine its fields. */
export interface ManagedKind {
  /** API version: `"apps/v1"`. */
  readonly apiVersion: string;
  /** True for a custom resource: each list is one field, and every object is a map. */
  readonly custom: boolean;
}

/** Metadata set by the server, which has no manager. */
const SYSTEM_METADATA = new Set([
  "name",
  "namespace",
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "managedFields",
]);

const NOT_FIELDS: ReadonlySet<string> = new Set(["kind", "apiVersion", "metadata"]);
const NOT_DESIRED: ReadonlySet<string> = new Set([...NOT_FIELDS, "status"]);

/** Returns the managedFields of an object. */
export function managedFieldsOf(object: JsonObject): readonly JsonObject[] {
  const { managedFields } = objectOr(object.metadata);
  return Array.isArray(managedFields) ? (managedFields as readonly Json[]).filter(isObject) : [];
}

/** Returns true if an entry belongs to a manager. */
export function isManagedBy(entry: JsonObject, { name, operation, subresource }: Omit<FieldManager, "time">): boolean {
  return entry.manager === name && entry.operation === operation && (entry.subresource ?? "") === subresource;
}

/** Builds the entry of a manager. */
export function managedFieldsEntry({ apiVersion }: ManagedKind, manager: FieldManager, fieldsV1: FieldSet): JsonObject {
  return {
    manager: manager.name,
    operation: manager.operation,
    apiVersion,
    time: manager.time,
    fieldsType: "FieldsV1",
    fieldsV1,
    ...(manager.subresource === "" ? {} : { subresource: manager.subresource }),
  };
}

/**
 * Returns the managedFields after an update. The writer gains the fields that it set or changed, other managers lose
 * them, and all lose removed fields. `withStatus` is true if the write can change the status.
 */
export function managedFieldsAfter(
  before: JsonObject | undefined,
  after: JsonObject,
  kind: ManagedKind,
  manager: FieldManager,
  withStatus: boolean,
): JsonObject[] {
  const changed = changedFields(before ?? {}, after, kind.custom, withStatus);
  const gone = before === undefined ? {} : withoutFields(
    changedFields({}, before, kind.custom, withStatus),
    changedFields({}, after, kind.custom, withStatus),
  );
  const taken = unionFields(changed, gone);
  const entries: JsonObject[] = [];
  let known = false;
  for (const entry of managedFieldsOf(after)) {
    const fields = objectOr(entry.fieldsV1);
    if (isManagedBy(entry, manager)) {
      known = true;
      entries.push(managedFieldsEntry(kind, manager, unionFields(withoutFields(fields, gone), changed)));
      continue;
    }
    const left = without(fields, taken);
    if (Object.keys(left).length > 0) entries.push(left === fields ? entry : { ...entry, fieldsV1: left });
  }
  if (!known) entries.push(managedFieldsEntry(kind, manager, changed));
  return entries;
}

/** The fields left to another manager; marks of maps and elements are kept. */
function without(fields: FieldSet, taken: FieldSet): FieldSet {
  return withoutFields(fields, withoutMarks(taken, true));
}

/** Returns the fields of an applied configuration. */
export function appliedFields(config: JsonObject, custom: boolean, withStatus: boolean): FieldSet {
  return withoutMarks(changedFields({}, config, custom, withStatus), false);
}

/** The set without the marks `.`: those of objects only, or of list elements as well. */
function withoutMarks(fields: FieldSet, ofElements: boolean, isElement = false): FieldSet {
  const left: MutableJson = {};
  for (const key in fields) {
    if (key === "." && (ofElements || !isElement)) continue;
    const inner = objectOr(fields[key]);
    const kept = withoutMarks(inner, ofElements, key.startsWith("k:"));
    // An entry with nothing but a mark is not a field.
    if (Object.keys(inner).length > 0 && Object.keys(kept).length === 0 && ofElements) continue;
    setMember(left, key, kept);
  }
  return left;
}

function changedFields(before: JsonObject, after: JsonObject, custom: boolean, withStatus: boolean): FieldSet {
  const fields: MutableJson = {};
  const metadata = fieldsOf(objectOr(before.metadata), objectOr(after.metadata), false, SYSTEM_METADATA);
  const rest = fieldsOf(before, after, custom, withStatus ? NOT_FIELDS : NOT_DESIRED);
  if (Object.keys(metadata).length > 0) fields["f:metadata"] = metadata;
  for (const key in rest) fields[key] = rest[key];
  return sortKeys(fields);
}

/** The fields of `after` that differ from `before`, as FieldsV1. */
function fieldsOf(before: JsonObject, after: JsonObject, custom: boolean, except?: ReadonlySet<string>): FieldSet {
  const fields: MutableJson = {};
  for (const key in after) {
    const value = after[key];
    if (value === undefined || except?.has(key) || isEmptyList(value) || equalJson(before[key], value)) continue;
    fields[`f:${key}`] = fieldOf(key, before[key], value, custom);
  }
  return sortKeys(fields);
}

function isEmptyList(value: Json): boolean {
  return Array.isArray(value) && value.length === 0;
}

function fieldOf(name: string, before: Json | undefined, value: Json, custom: boolean): FieldSet {
  if (isObject(value)) {
    const fields = fieldsOf(objectOr(before), value, custom);
    // Maps have a mark of their own, structs have none; without a schema every object is a map.
    return before === undefined && (custom || MAPS.has(name)) ? { ".": {}, ...fields } : fields;
  }
  if (!Array.isArray(value)) return {};
  const list = value as readonly Json[];
  const key = listKey(name, list);
  if (key === undefined || custom) return {};
  const fields: MutableJson = before === undefined ? { ".": {} } : {};
  for (const element of list as readonly JsonObject[]) {
    const old = (Array.isArray(before) ? before as readonly Json[] : []).find((other) =>
      isObject(other) && other[key] === element[key]
    );
    if (equalJson(old, element)) continue;
    const inner = fieldsOf(objectOr(old), element, custom);
    const label = `k:${JSON.stringify({ [key]: element[key] })}`;
    setMember(fields, label, old === undefined ? { ".": {}, ...inner } : inner);
  }
  return fields;
}

const MAPS: ReadonlySet<string> = new Set([
  "annotations",
  "binaryData",
  "data",
  "labels",
  "limits",
  "matchLabels",
  "requests",
]);
