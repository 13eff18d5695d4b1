import { refusal } from "../http/refusal.ts";
import { mergeApplied } from "../patches/apply_patch.ts";
import { equalJson, isObject, type Json, type JsonObject, type MutableJson, objectOr } from "../wire/json.ts";
import {
  fieldPaths,
  type FieldSet,
  hasField,
  printPath,
  removeFields,
  unionFields,
  valueAt,
  withoutFields,
} from "./field_set.ts";
import {
  appliedFields,
  type FieldManager,
  isManagedBy,
  managedFieldsEntry,
  managedFieldsOf,
  type ManagedKind,
} from "./managed_fields.ts";

/** Settings of an apply. */
export interface ApplyMode {
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
    if (path.at(-1) === "." || agrees(valueAt(object, path), valueAt(config, path))) continue;
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
