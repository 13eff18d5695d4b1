import {
  equalJson,
  isObject,
  type Json,
  type JsonObject,
  type MutableJson,
  objectOr,
  setMember,
} from "../wire/json.ts";
import { listKey, mergeApplied } from "../patches/patches.ts";
import { refusal } from "../http/refusal.ts";

/**
 * A set of fields in the FieldsV1 format: `f:name` for a member, `k:{"name":"x"}` for a list element, and `.` for the
 * enclosing map or element itself. An entry without content is a field.
 */
type FieldSet = JsonObject;

/** Returns the union of two sets. */
function unionFields(a: FieldSet, b: FieldSet): FieldSet {
  const union: MutableJson = { ...a };
  for (const key in b) {
    const other = union[key];
    setMember(union, key, isObject(other) ? unionFields(other, below(b, key)) : b[key]);
  }
  return sortKeys(union);
}

/** Returns the fields in `a` that are not in `b`. */
function withoutFields(a: FieldSet, b: FieldSet): FieldSet {
  const left: MutableJson = {};
  for (const key in a) {
    if (b[key] === undefined) setMember(left, key, a[key]);
    else if (!isField(below(a, key))) {
      const inner = withoutFields(below(a, key), below(b, key));
      if (!isField(inner)) setMember(left, key, inner);
    }
  }
  return left;
}

/** Yields the fields of a set, each as a path of keys. */
function* fieldPaths(fields: FieldSet, path: readonly string[] = []): Generator<readonly string[]> {
  for (const key in fields) {
    const inner = below(fields, key);
    if (isField(inner)) yield [...path, key];
    else yield* fieldPaths(inner, [...path, key]);
  }
}

/** Returns true if a set has the field at a path, or a field below it. */
function hasField(fields: FieldSet, path: readonly string[]): boolean {
  let here: Json | undefined = fields;
  for (const key of path) {
    if (!isObject(here) || here[key] === undefined) return false;
    here = here[key];
  }
  return true;
}

/** Formats a path: `.spec.containers[name="web"].image`. */
function printPath(path: readonly string[]): string {
  return path.map((key) => {
    if (key.startsWith("f:")) return `.${key.slice(2)}`;
    if (!key.startsWith("k:")) return "";
    const pairs = Object.entries(elementKey(key)).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
    return `[${pairs.join(",")}]`;
  }).join("");
}

/** Returns the value of a field that a set names; undefined if there is none. */
function fieldValue(object: Json | undefined, path: readonly string[]): Json | undefined {
  let here: Json | undefined = object;
  for (const key of path) {
    if (key === ".") return here;
    here = step(here, key);
    if (here === undefined) return undefined;
  }
  return here;
}

function step(value: Json | undefined, key: string): Json | undefined {
  if (key.startsWith("f:")) return isObject(value) ? value[key.slice(2)] : undefined;
  return Array.isArray(value) ? (value as readonly Json[])[placeOf(value, key)] : undefined;
}

/** Returns an object without the fields of a set; objects and lists that become empty are removed as well. */
function removeFields(object: Json, fields: FieldSet): Json | undefined {
  if (Array.isArray(object)) {
    let list: Json[] = [...object as readonly Json[]];
    for (const key in fields) {
      const place = key.startsWith("k:") ? placeOf(list, key) : -1;
      if (place < 0) continue;
      const inner = below(fields, key);
      const gone = isField(inner) || inner["."] !== undefined;
      const left = gone ? undefined : removeFields(list[place], inner);
      list = left === undefined ? list.toSpliced(place, 1) : list.with(place, left);
    }
    return list.length === 0 ? undefined : list;
  }
  if (!isObject(object)) return object;
  const copy: MutableJson = { ...object };
  let removed = false;
  for (const key in fields) {
    const name = key.slice(2);
    if (!key.startsWith("f:") || copy[name] === undefined) continue;
    const inner = below(fields, key);
    const left = isField(inner) ? undefined : removeFields(copy[name], inner);
    removed ||= left === undefined;
    if (left === undefined) delete copy[name];
    else setMember(copy, name, left);
  }
  return removed && Object.keys(copy).length === 0 ? undefined : copy;
}

/** Returns the members that `k:{"name":"x"}` names; none for what an odd client has written there. */
function elementKey(key: string): JsonObject {
  try {
    return objectOr(JSON.parse(key.slice(2)));
  } catch {
    return {};
  }
}

function placeOf(list: readonly Json[], key: string): number {
  const wanted = elementKey(key);
  return list.findIndex((element) =>
    isObject(element) && Object.keys(wanted).every((name) => equalJson(element[name], wanted[name]))
  );
}

function below(fields: FieldSet, key: string): FieldSet {
  const value = fields[key];
  return isObject(value) ? value : {};
}

function isField(fields: FieldSet): boolean {
  for (const _ in fields) return false;
  return true;
}

/** Returns the same members, sorted by key. */
function sortKeys(fields: FieldSet): FieldSet {
  const sorted: MutableJson = {};
  for (const key of Object.keys(fields).sort()) setMember(sorted, key, fields[key]);
  return sorted;
}

/** The identity of a managedFields entry, and its time. */
interface FieldManager {
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
interface ManagedKind {
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
function isManagedBy(entry: JsonObject, { name, operation, subresource }: Omit<FieldManager, "time">): boolean {
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

/** Settings of an apply. */
interface ApplyMode {
  /** The applying manager. */
  readonly manager: FieldManager;
  /** If true, fields of other managers are taken over. */
  readonly force: boolean;
  /** True if the configuration may include the status. */
  readonly withStatus: boolean;
}

/** A field of another manager with a different value. */
interface Conflict {
  readonly entry: JsonObject;
  readonly path: readonly string[];
}

/**
 * Returns an object after a server-side apply, with its managedFields. The configuration is merged into it. Fields
 * that the manager applied before, does not apply now, and no other manager owns, are removed.
 *
 * @throws {StatusError} 409 with a cause for each conflicting field, unless forced.
 */
export function serverSideApply(
  object: JsonObject,
  config: JsonObject,
  kind: ManagedKind,
  mode: ApplyMode,
): MutableJson {
  const { manager, force, withStatus } = mode;
  const wanted = appliedFields(config, kind.custom, withStatus);
  const entries = managedFieldsOf(object);
  const others = entries.filter((entry) => !isManagedBy(entry, manager));
  const conflicts = conflictsOf(object, config, wanted, others);
  if (conflicts.length > 0 && !force) throw applyConflict(conflicts);
  const before = objectOr(entries.find((entry) => isManagedBy(entry, manager))?.fieldsV1);
  const owned = others.reduce<FieldSet>((all, entry) => unionFields(all, objectOr(entry.fieldsV1)), wanted);
  const merged = mergeApplied(objectOr(removeFields(object, withoutFields(before, owned))), config, kind.custom);
  const lost = conflicts.reduce<FieldSet>((all, { path }) => unionFields(all, fieldsAt(path)), {});
  const kept = others.map((entry) => ({ ...entry, fieldsV1: withoutFields(objectOr(entry.fieldsV1), lost) }));
  const managedFields = [
    ...kept.filter(({ fieldsV1 }) => Object.keys(fieldsV1).length > 0),
    managedFieldsEntry(kind, manager, wanted),
  ];
  return { ...merged, metadata: { ...objectOr(merged.metadata), managedFields } };
}

function conflictsOf(
  object: JsonObject,
  config: JsonObject,
  wanted: FieldSet,
  others: readonly JsonObject[],
): Conflict[] {
  const conflicts: Conflict[] = [];
  for (const path of fieldPaths(wanted)) {
    if (path.at(-1) === "." || agrees(fieldValue(object, path), fieldValue(config, path))) continue;
    for (const entry of others) {
      if (hasField(objectOr(entry.fieldsV1), path)) conflicts.push({ entry, path });
    }
  }
  return conflicts;
}

/** Returns true if a value need not change: an empty applied object requires nothing of the existing one. */
function agrees(value: Json | undefined, wanted: Json | undefined): boolean {
  return equalJson(value, wanted) || (isObject(value) && isObject(wanted) && Object.keys(wanted).length === 0);
}

/** The set of one field. */
function fieldsAt(path: readonly string[]): FieldSet {
  return path.reduceRight<FieldSet>((fields, key) => ({ [key]: fields }), {});
}

function applyConflict(conflicts: readonly Conflict[]): Error {
  const named = conflicts.map(({ entry, path }) => ({ manager: nameOf(entry), field: printPath(path) }));
  const causes = named.map(({ manager, field }) => ({
    reason: "FieldManagerConflict",
    message: `conflict with ${manager}`,
    field,
  }));
  const managers = [...new Set(named.map(({ manager }) => manager))].sort();
  const listed = managers.flatMap((manager) => [
    `conflicts with ${manager}:`,
    ...named.filter((conflict) => conflict.manager === manager).map(({ field }) => `- ${field}`),
  ]);
  const text = named.length === 1
    ? `1 conflict: conflict with ${named[0].manager}: ${named[0].field}`
    : `${named.length} conflicts: ${listed.join("\n")}`;
  return refusal(409, `Apply failed with ${text}`, { details: { causes } });
}

/** A manager in the format of conflicts (apimachinery `managedfields/internal/conflict.go`). */
function nameOf({ manager, operation, apiVersion, subresource }: JsonObject): string {
  const name = JSON.stringify(manager) + (subresource ? ` with subresource ${JSON.stringify(subresource)}` : "");
  return operation === "Update" ? `${name} using ${apiVersion}` : name;
}
