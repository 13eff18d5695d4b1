/**
 * The managedFields of objects after updates and server-side applies.
 *
 * {@linkcode applyConfiguration} and {@linkcode managedFieldsAfterUpdate} are the entry points. Values are compared and
 * merged by `typed.ts`; nothing is stored here.
 *
 * @module
 */
import { StatusError } from "../../../engine/api/status.ts";
import { refusal } from "../../../engine/protocol/refusal.ts";
import type { Struct } from "../../../operator/schema/values/object_schema.ts";
import { type Definition, schemaOfDefinition } from "../storage/definition.ts";
import { equalJson, isList, isObject, type Json, type JsonObject } from "../../../engine/api/json.ts";
import { listOr, objectOr, textOf } from "../../../engine/api/members.ts";
import { FieldSet, type PathElement, printPath } from "./field_set.ts";
import {
  mergeTyped,
  ownedBy,
  removeTyped,
  TypedComparison,
  typeErrors,
  withAtomicFields,
  withNamedFields,
} from "./typed.ts";
import { sortMembers } from "../schema/members.ts";

/** The versions of a kind whose objects are converted. */
export interface Versions {
  /** Returns a version, served or not; undefined if the definition does not have it. */
  of(apiVersion: string): ManagedKind | undefined;
  /** Returns an object, or a part of one, in another version. @throws {StatusError} 500 if that fails. */
  convert(object: JsonObject, apiVersion: string): JsonObject;
}

/** A manager that writes. */
export interface FieldManager {
  /** Its name. */
  readonly name: string;
  /** The operation of the write. */
  readonly operation: "Update" | "Apply";
  /** Subresource of the write; `""` for the main resource. */
  readonly subresource: string;
  /** Time of the write, RFC 3339. */
  readonly time: string;
  /** True for a write by the test itself, which sets the status with the rest. */
  readonly unrestricted: boolean;
  /** The versions in which others may manage fields. @default {all use the fields of the written version} */
  readonly versions?: Versions;
}

/** The parts of a definition that determine its fields. */
type ManagedKind = Pick<
  Definition,
  "apiVersion" | "apiVersions" | "custom" | "group" | "kind" | "plural" | "schema" | "subresources"
>;

/** An entry of managedFields. */
interface Entry {
  readonly manager: string;
  readonly operation: "Update" | "Apply";
  readonly apiVersion: string;
  readonly subresource: string;
  readonly time: Json | undefined;
  readonly fields: FieldSet;
}

/** The managers of an object by their identity; nobody owns an empty set. */
type Managers = Map<string, Entry>;

function identityOf({ manager, operation, apiVersion, subresource }: Omit<Entry, "time" | "fields">): string {
  return JSON.stringify([manager, operation, operation === "Apply" ? "" : apiVersion, subresource]);
}

/** Returns the managedFields of an object. */
export function managedFieldsOf(object: JsonObject): readonly JsonObject[] {
  const { managedFields } = objectOr(object.metadata);
  return listOr(managedFields).filter(isObject);
}

/** Reads managedFields; undefined if an entry is malformed. */
function parseManagers(entries: readonly JsonObject[]): Managers | undefined {
  const managers: Managers = new Map();
  const text = (value: Json | undefined): string => typeof value === "string" ? value : "";
  for (const { operation, apiVersion, fieldsType, fieldsV1, time, manager, subresource } of entries) {
    if (operation !== "Apply" && operation !== "Update") return undefined;
    if (!apiVersion || fieldsType !== "FieldsV1") return undefined;
    const identity: Omit<Entry, "time" | "fields"> = {
      manager: text(manager),
      operation,
      apiVersion: text(apiVersion),
      subresource: text(subresource),
    };
    try {
      const fields = FieldSet.from(objectOr(fieldsV1));
      managers.set(identityOf(identity), { ...identity, time, fields });
    } catch (error) {
      if (error instanceof SyntaxError) return undefined;
      throw error;
    }
  }
  return managers;
}

/** Returns managers as managedFields, in the order of Kubernetes; undefined if there is none. */
function managedFieldsFrom(managers: Managers): JsonObject[] | undefined {
  if (managers.size === 0) return undefined;
  const seconds = ({ time }: Entry): string => typeof time === "string" ? time : "";
  const keys = (entry: Entry): string[] => [
    entry.operation,
    seconds(entry),
    entry.manager,
    entry.apiVersion,
    entry.subresource,
  ];
  const sorted = [...managers.values()].map((entry) => [keys(entry), entry] as const).sort(([a], [b]) => {
    const at = a.findIndex((key, index) => key !== b[index]);
    return at < 0 ? 0 : a[at] < b[at] ? -1 : 1;
  });
  return sorted.map(([, entry]) => entryOf(entry, entry.fields.toJSON()));
}

/** Returns an entry of managedFields, in the order of its members. */
function entryOf(
  { manager, operation, apiVersion, time, subresource }: Omit<Entry, "fields">,
  fieldsV1: JsonObject,
): JsonObject {
  const entry = {
    manager,
    operation,
    apiVersion,
    ...(time === undefined ? {} : { time }),
    fieldsType: "FieldsV1",
    fieldsV1,
  };
  return subresource === "" ? entry : { ...entry, subresource };
}

const META = "f:metadata";

/** Fields that nobody owns. */
const UNOWNED = FieldSet.of(
  ["f:apiVersion"],
  ["f:kind"],
  [META],
  ..."name namespace creationTimestamp selfLink uid clusterName generation managedFields resourceVersion".split(" ")
    .map((name) => [META, `f:${name}`]),
);

const [STATUS, SPEC] = [["f:status"], ["f:spec"]];
const NO_FIELDS = FieldSet.of();

/** Metadata that a write to the status cannot change, where that is not all of it (`*Strategy.GetResetFields`). */
const KEPT_BY_STATUS: Readonly<Record<string, readonly (readonly PathElement[])[]>> = {
  deployments: [[META, "f:labels"]],
  pods: [[META, "f:deletionTimestamp"], [META, "f:ownerReferences"]],
};
const STATUS_SETS_METADATA: ReadonlySet<string> = new Set(["", "apps", "autoscaling", "batch", "policy"]);

/** Returns the fields that a write to a subresource cannot change. */
function fixedFields(
  { group, plural, custom, subresources }: ManagedKind,
  { subresource, unrestricted }: FieldManager,
): FieldSet {
  if (subresource === "status") {
    const free = !custom && (STATUS_SETS_METADATA.has(group) || plural === "ingresses");
    return FieldSet.of(SPEC, ...(free ? KEPT_BY_STATUS[plural] ?? [] : [[META]]));
  }
  if (unrestricted || subresource !== "" || !subresources.includes("status")) return NO_FIELDS;
  return plural === "certificatesigningrequests" ? FieldSet.of(STATUS, SPEC) : FieldSet.of(STATUS);
}

/**
 * Returns the managedFields after a write that is no apply, `undefined` for none: the writer gains what it changed,
 * others lose that, and all lose what is gone. `before` is undefined for a new object. Those that `after` brings are
 * the ones to start from if they are well formed; an empty list, or one with an empty entry, clears them.
 */
export function managedFieldsAfterUpdate(
  before: JsonObject | undefined,
  after: JsonObject,
  kind: ManagedKind,
  manager: FieldManager,
): JsonObject[] | undefined {
  const managers = startingManagers(before, after, manager.subresource);
  const isGone = ({ apiVersion }: Entry): boolean => versionOf(apiVersion, kind, manager) === undefined;
  // From Kubernetes 1.37 on; older servers drop all owners here.
  if ([...managers.values()].some(isGone)) return managedFieldsFrom(managers);
  // Nobody is recorded again before the next apply where the fields were cleared.
  if (managers.size > 0 || before === undefined) {
    recordUpdate(managers, before ?? emptyObject(kind), after, kind, manager);
  }
  return managedFieldsFrom(managers);
}

function startingManagers(before: JsonObject | undefined, after: JsonObject, subresource: string): Managers {
  const live = (): Managers => parseManagers(managedFieldsOf(before ?? {})) ?? new Map();
  const { managedFields } = objectOr(after.metadata);
  if (subresource !== "" || !isList(managedFields)) return live();
  const [first, ...rest] = managedFields;
  if (rest.length === 0 && (first === undefined || (isObject(first) && Object.keys(first).length === 0))) {
    return new Map();
  }
  const given = parseManagers(managedFieldsOf(after));
  return given === undefined || given.size === 0 ? live() : given;
}

function emptyObject({ apiVersion, kind }: ManagedKind): JsonObject {
  return { apiVersion, kind };
}

function recordUpdate(
  managers: Managers,
  before: JsonObject,
  after: JsonObject,
  kind: ManagedKind,
  manager: FieldManager,
): void {
  const { name, subresource, time } = manager;
  const differences = comparing(before, after, kind, manager);
  reconcile(managers, kind, manager);
  for (const [id, { fields, apiVersion }] of managers) {
    const { changed, removed } = differences(apiVersion);
    setFields(managers, id, fields.difference(fields.intersection(changed)).difference(removed));
  }
  const fields = differences(kind.apiVersion).changed.difference(UNOWNED);
  if (fields.empty) return;
  const identity = { manager: name, operation: "Update", apiVersion: kind.apiVersion, subresource } as const;
  const id = identityOf(identity);
  managers.set(id, { ...identity, time, fields: fields.union(managers.get(id)?.fields ?? NO_FIELDS) });
}

/** Compares two states of an object in a version. */
type Compare = (apiVersion: string) => Record<"changed" | "removed", FieldSet>;

/** Returns a function that compares two states of an object in a version, once. */
function comparing(before: JsonObject, after: JsonObject, kind: ManagedKind, manager: FieldManager): Compare {
  const made = new Map<ManagedKind, ReturnType<Compare>>();
  return (apiVersion) => {
    const own = versionOf(apiVersion, kind, manager)!;
    let differences = made.get(own);
    if (differences === undefined) {
      const [old, next] = [[before, "old"] as const, [after, "new"] as const].map(([object, what]) =>
        inVersion(object, own.apiVersion, manager, `failed to convert ${what} object`)
      );
      const comparison = new TypedComparison(old, next, schemaOfDefinition(own));
      comparison.exclude(fixedFields(own, manager));
      const { modified, added, removed } = comparison;
      made.set(own, differences = { changed: modified.union(added), removed });
    }
    return differences;
  };
}

/** Returns the version of an entry; undefined if it is gone. */
function versionOf(apiVersion: string, kind: ManagedKind, { versions }: FieldManager): ManagedKind | undefined {
  if (apiVersion === kind.apiVersion) return kind;
  if (versions !== undefined) return versions.of(apiVersion);
  return kind.apiVersions?.includes(apiVersion) === false ? undefined : kind;
}

/** Converts an object, if its kind is converted. @throws {StatusError} 500 that begins with `what`. */
function inVersion(object: JsonObject, apiVersion: string, { versions }: FieldManager, what: string): JsonObject {
  try {
    return versions?.convert(object, apiVersion) ?? object;
  } catch (error) {
    throw error instanceof StatusError ? refusal(500, `${what}: ${error.message}`, { reason: "" }) : error;
  }
}

/** Replaces what is below a field that the schema calls atomic now. @throws {StatusError} 500 if a version is gone. */
function reconcile(managers: Managers, kind: ManagedKind, manager: FieldManager): void {
  for (const [id, { fields, apiVersion }] of managers) {
    const own = versionOf(apiVersion, kind, manager);
    if (own === undefined) throw refusal(500, `request to convert CR to an invalid group/version: ${apiVersion}`);
    setFields(managers, id, withAtomicFields(fields, schemaOfDefinition(own)));
  }
}

function setFields(managers: Managers, id: string, fields: FieldSet): void {
  const entry = managers.get(id)!;
  if (fields.empty) managers.delete(id);
  else if (fields !== entry.fields) managers.set(id, { ...entry, fields });
}

/** A field of another manager that an apply would change. */
interface Conflict {
  readonly entry: Entry;
  readonly path: readonly PathElement[];
}

/** A refused apply, before it is an answer: managers of `kubectl apply` give way. */
class Conflicts extends Error {
  constructor(readonly conflicts: readonly Conflict[]) {
    super("the configuration conflicts with other managers");
  }
}

const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/**
 * Returns an object after a server-side apply, with its managedFields. The configuration is merged into it; fields
 * that the manager applied before, does not apply now, and nobody else owns, are removed. `live` is undefined for a
 * new object.
 *
 * @throws {StatusError} 400 for a configuration of another kind or with managedFields, 409 with a cause for each
 * conflicting field unless forced, 500 for fields that the schema does not have.
 */
export function applyConfiguration(
  live: JsonObject | undefined,
  config: JsonObject,
  kind: ManagedKind,
  manager: FieldManager,
  force: boolean,
): JsonObject {
  checkConfiguration(config, kind, schemaOfDefinition(kind));
  const object = live ?? emptyObject(kind);
  // Only kubectl's own configurations are upgraded from client-side apply.
  const annotation = manager.name === "kubectl" ? lastAppliedOf(object) : undefined;
  try {
    const applied = attemptApply(object, config, kind, manager, force);
    return annotation === undefined ? applied : withLastApplied(applied, config);
  } catch (error) {
    if (!(error instanceof Conflicts)) throw error;
    const allowed = annotation === undefined ? NO_FIELDS : unchangedSince(annotation, object, kind);
    const left = error.conflicts.filter(({ path }) => !allowed.has(path));
    if (left.length > 0) throw applyConflict(left);
    return withLastApplied(attemptApply(object, config, kind, manager, true), config);
  }
}

function checkConfiguration(config: JsonObject, { apiVersion, kind }: ManagedKind, schema: Struct): void {
  if (config.apiVersion !== apiVersion || config.kind !== kind) {
    throw refusal(400, `invalid object type: ${kindText(textOf(config.apiVersion), textOf(config.kind))}`);
  }
  if (isList(objectOr(config.metadata).managedFields)) throw refusal(400, "metadata.managedFields must be nil");
  const errors = typeErrors(config, schema);
  if (errors.length === 0) return;
  const { namespace, name } = objectOr(config.metadata);
  const subject = `${textOf(namespace)}/${textOf(name)}; ${kindText(apiVersion, kind)}`;
  const text = errors.length === 1 ? errors[0] : `errors:\n${errors.map((error) => `  ${error}`).join("\n")}`;
  throw refusal(500, `failed to create typed patch object (${subject}): ${text}`, { reason: "" });
}

/** A kind as Go prints it: `/v1, Kind=Pod`. */
function kindText(apiVersion: string, kind: string): string {
  return `${apiVersion.includes("/") ? apiVersion : `/${apiVersion}`}, Kind=${kind}`;
}

function attemptApply(
  live: JsonObject,
  config: JsonObject,
  kind: ManagedKind,
  manager: FieldManager,
  force: boolean,
): JsonObject {
  const { name, subresource, time } = manager;
  const schema = schemaOfDefinition(kind);
  const managers = parseManagers(managedFieldsOf(live));
  if (managers === undefined) {
    throw refusal(500, "failed to decode managed fields: the object has malformed managedFields", { reason: "" });
  }
  if (managers.size === 0) {
    recordUpdate(managers, emptyObject(kind), live, kind, { ...manager, name: "before-first-apply" });
  }
  reconcile(managers, kind, manager);
  const identity = { manager: name, operation: "Apply", apiVersion: kind.apiVersion, subresource } as const;
  const id = identityOf(identity);
  const last = managers.get(id);
  const fixed = fixedFields(kind, manager);
  const fields = ownedBy(config, schema).without(fixed);
  managers.set(id, { ...identity, time: last?.time, fields });
  const merged = objectOr(mergeTyped(live, config, schema));
  const next = last === undefined ? merged : prune(merged, last, managers, kind, manager);
  yieldFields(managers, id, comparing(live, next, kind, manager), force);
  const own = managers.get(id);
  if (own !== undefined) {
    managers.set(id, { ...own, time: equalJson(live, next) ? own.time : time });
    setFields(managers, id, own.fields.difference(UNOWNED));
  }
  return withManagedFields(next, managedFieldsFrom(managers));
}

/** Takes what an apply changes from the other managers. */
function yieldFields(managers: Managers, own: string, differences: Compare, force: boolean): void {
  const conflicts: Conflict[] = [];
  const kept = new Map<string, FieldSet>();
  for (const [id, entry] of managers) {
    if (id === own) continue;
    const { changed, removed } = differences(entry.apiVersion);
    const lost = entry.fields.intersection(changed);
    for (const path of lost.paths()) conflicts.push({ entry, path });
    kept.set(id, entry.fields.difference(lost).difference(removed));
  }
  if (conflicts.length > 0 && !force) throw new Conflicts(conflicts);
  for (const [id, fields] of kept) setFields(managers, id, fields);
  setFields(managers, own, managers.get(own)!.fields);
}

/**
 * Removes what a manager applied last time, does not apply now, and no other manager owns. Each version in which there
 * are owners says what they own: until then, the object is only a part of one.
 */
function prune(
  merged: JsonObject,
  last: Entry,
  managers: Managers,
  kind: ManagedKind,
  manager: FieldManager,
): JsonObject {
  const lastKind = versionOf(last.apiVersion, kind, manager)!;
  const convert = (object: JsonObject, to: ManagedKind, what: string): JsonObject =>
    inVersion(object, to.apiVersion, manager, `failed to prune fields${what}`);
  const namedIn = (of: ManagedKind, fields: FieldSet): FieldSet => withNamedFields(fields, schemaOfDefinition(of));
  const allIn = (of: ManagedKind, object: JsonObject): FieldSet => namedIn(of, ownedBy(object, schemaOfDefinition(of)));
  const without = (of: ManagedKind, object: JsonObject, fields: FieldSet): JsonObject =>
    objectOr(removeTyped(object, fields, schemaOfDefinition(of)));
  const whole = convert(merged, lastKind, ": failed to convert merged object to last applied version");
  const before = namedIn(lastKind, last.fields);
  const managed = new Map<ManagedKind, FieldSet>([[lastKind, NO_FIELDS]]);
  for (const { fields, apiVersion } of managers.values()) {
    const own = versionOf(apiVersion, kind, manager)!;
    managed.set(own, (managed.get(own) ?? NO_FIELDS).union(fields));
  }
  let [full, pruned] = [whole, without(lastKind, whole, before)];
  for (const [own, fields] of managed) {
    const at = `object at version ${own.apiVersion}`;
    full = convert(full, own, `: failed add back owned items: failed to convert merged ${at}`);
    pruned = convert(pruned, own, `: failed add back owned items: failed to convert pruned ${at}`);
    const kept = allIn(own, pruned).union(namedIn(own, fields));
    pruned = without(own, full, allIn(own, full).difference(kept));
  }
  // Elements and members that it did not apply stay.
  const dangling = ": failed add back dangling items: failed to convert pruned object to last applied version";
  const left = allIn(lastKind, convert(pruned, lastKind, dangling));
  const gone = allIn(lastKind, whole).difference(left).intersection(before);
  return convert(without(lastKind, whole, gone), kind, "");
}

/** Returns an object with other managedFields, without the member if there are none. */
export function withManagedFields(object: JsonObject, given: Json | undefined): JsonObject {
  const managedFields = listOr(given);
  const { managedFields: _, ...metadata } = objectOr(object.metadata);
  return { ...object, metadata: managedFields.length === 0 ? metadata : { ...metadata, managedFields } };
}

function lastAppliedOf(object: JsonObject): string | undefined {
  const value = objectOr(objectOr(object.metadata).annotations)[LAST_APPLIED];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Returns the fields that a client-side apply set, and nobody changed since. */
function unchangedSince(annotation: string, live: JsonObject, kind: ManagedKind): FieldSet {
  const schema = schemaOfDefinition(kind);
  let applied: JsonObject;
  try {
    applied = objectOr(JSON.parse(annotation));
  } catch (error) {
    if (error instanceof SyntaxError) return NO_FIELDS;
    throw error;
  }
  if (applied.apiVersion !== kind.apiVersion || typeErrors(applied, schema).length > 0) return NO_FIELDS;
  const { added, modified, removed } = new TypedComparison(applied, live, schema);
  return ownedBy(applied, schema).difference(modified).difference(added).difference(removed);
}

/** Returns an object whose annotation of client-side apply, if it has one, says what was applied. */
function withLastApplied(object: JsonObject, config: JsonObject): JsonObject {
  if (lastAppliedOf(object) === undefined) return object;
  const metadata = { ...objectOr(config.metadata) };
  const { [LAST_APPLIED]: _, ...annotations } = objectOr(metadata.annotations);
  if (Object.keys(annotations).length > 0) metadata.annotations = annotations;
  else delete metadata.annotations;
  const text = `${JSON.stringify(sortMembers({ ...config, metadata }))}\n`;
  const own = objectOr(object.metadata);
  return { ...object, metadata: { ...own, annotations: { ...objectOr(own.annotations), [LAST_APPLIED]: text } } };
}

function applyConflict(conflicts: readonly Conflict[]): Error {
  const named = conflicts.map(({ entry, path }) => ({ manager: managerName(entry), field: printPath(path) }));
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
function managerName({ manager, operation, apiVersion, subresource }: Entry): string {
  const name = JSON.stringify(manager) + (subresource ? ` with subresource ${JSON.stringify(subresource)}` : "");
  return operation === "Update" ? `${name} using ${apiVersion}` : name;
}
