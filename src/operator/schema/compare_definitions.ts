/**
 * Compares two CustomResourceDefinitions, and names what breaks stored objects or clients.
 *
 * {@linkcode compareDefinitions} is the entry point. It compares each version with the version of the same name, and
 * reports what became narrower. It does not look at objects, and does not evaluate rules in CEL.
 *
 * @module
 */
import { isDeeper, isList, isObject, type JsonObject, MAX_SCHEMA_DEPTH } from "../../engine/api/json.ts";
import { jsonKey } from "./values/json_key.ts";
import { listOr, memberAt, objectOr, objectsOf, textOf, textsOf } from "../../engine/api/members.ts";
import { anything, checkedFormat } from "./values/formats.ts";
import { EMBEDDED, INT_OR_STRING, keywordsThat, LIST_TYPE, MAP_KEYS, MAP_TYPE, OPEN } from "./values/keywords.ts";

type Broken = DefinitionChange["breaks"];

type Consequence = readonly [breaks: Broken, text: string];

const DELETED: Consequence = ["stored objects", "With the definition, all its objects go. Keep it while it is used"];
const FIXED: Consequence = ["stored objects", "The server refuses it. Define another kind, and move the objects"];
const PRUNED: Consequence = ["stored objects", "The server drops stored values. Keep it, or move the values first"];
const NARROWED: Consequence = ["stored objects", "Other stored values become invalid. Correct them, or add a version"];
const REQUIRED: Consequence = ["stored objects", "Objects without it become invalid. Give it a default"];
const UNREAD: Consequence = ["stored objects", "Objects in other versions suffer. Call migrateStorage first"];
const POSSIBLE: Consequence = ["possibly stored objects", "It may refuse updates of stored objects. Check them first"];
const APPLIES: Consequence = ["clients", "Server-side applies merge it in another way. Keep it, or tell its owners"];
const DEFAULTED: Consequence = ["clients", "Objects without it change their meaning. Keep it, or write the old value"];
const CALLS: Consequence = ["clients", "Programs that use it fail. Keep it, or announce the change"];
const UNCONVERTED: Consequence = ["stored objects", "Objects lose them in this version. Convert them by a webhook"];
const WEBHOOK: Consequence = ["clients", "Requests fail while the webhook does not answer. Start it first"];
const STATUS: Consequence = ["clients", "Updates of objects ignore status. Let programs write the subresource"];

type ChangeName = DefinitionChange["change"];

/** A change that breaks something. */
export interface DefinitionChange {
  /** The name of the definition, `"websites.example.com"`. */
  readonly definition: string;
  /** What has changed: `"field removed"`, `"bound narrowed"`, `"scope changed"`, … */
  readonly change:
    | `${"group" | "plural" | "kind" | "scope" | "conversion" | "scale" | "type" | "pattern" | "format"} changed`
    | `${"combination" | "list type" | "list keys" | "map type" | "default"} changed`
    | `${"definition" | "name" | "version" | "stored version" | "subresource" | "column"} removed`
    | `${"selectable field" | "field" | "unknown fields" | "int-or-string"} removed`
    | `${"nullable" | "enum value" | "default"} removed`
    | `${"status" | "required" | "embedded resource" | "enum" | "pattern" | "combination" | "rule"} added`
    | "version not served"
    | "conversion missing"
    | "bound narrowed";
  /** What it breaks. Whether a new rule or another pattern refuses stored objects depends on their values. */
  readonly breaks: "stored objects" | "possibly stored objects" | "clients";
  /** The version that has changed, `"v1"`. Absent if the change concerns the definition. */
  readonly version?: string;
  /** The field of the objects (`"spec.ports[].name"`, `"spec.labels.*"`), or else the field of the definition. */
  readonly path: string;
  /** What has changed, what that breaks, and what to do, in sentences for people. */
  readonly message: string;
}

/** Adds a change. */
type Report = (change: ChangeName, consequence: Consequence, path: string, detail?: string) => void;

/**
 * Names the changes between two definitions that break stored objects or clients, in the order of the definition. What
 * becomes wider (a new optional field, another enum value, a looser bound) is not reported.
 *
 * - A new rule in `x-kubernetes-validations` or another pattern is reported as `"possibly stored objects"`: only your
 *   objects show whether it refuses them.
 * - Versions that objects may be stored in are `status.storedVersions` of `before`, or its storage version if it has no
 *   status.
 * - Without a conversion webhook, a field that only one of the versions has is reported as `"conversion missing"`.
 * - If a whole part is new, its bounds and required fields are not reported, because no stored object has the part.
 *
 * @param before The installed definition, or an earlier release (`apiextensions.k8s.io/v1`).
 * @param after The new definition. `undefined` means that it is removed.
 * @throws {TypeError} if one has no `spec.versions`, like definitions in `v1beta1`, or is nested more than 2,020 deep.
 *
 * @example
 * ```ts ignore
 * for (const { breaks, message } of compareDefinitions(installed, Website.crd)) console.log(breaks, message);
 * ```
 */
export function compareDefinitions(before: object, after: object | undefined): readonly DefinitionChange[] {
  const changes: DefinitionChange[] = [];
  const definition = textOf(objectOr((before as JsonObject).metadata).name);
  const reportOf = (version?: string): Report => (change, [breaks, text], path, detail = "") => {
    const place = [definition, version ?? "", path || "the object"].filter((part) => part !== "").join(" ");
    const message = `${place}: ${change}${detail && ` (${detail})`}. ${text}`;
    changes.push({ definition, change, breaks, ...(version === undefined ? {} : { version }), path, message });
  };
  const old = specOf(before);
  if (after === undefined) reportOf()("definition removed", DELETED, "spec");
  else compareSpecs(old, specOf(after), textsOf(objectOr((before as JsonObject).status).storedVersions), reportOf);
  return changes;
}

function specOf(definition: object): JsonObject {
  const { metadata, spec } = definition as JsonObject;
  const refuse = (why: string): Error =>
    new TypeError(`Cannot compare definitions: "${textOf(objectOr(metadata).name)}" ${why}`);
  if (!isList(objectOr(spec).versions)) {
    throw refuse("has no list spec.versions. Pass definitions in apiextensions.k8s.io/v1");
  }
  const most = MAX_SCHEMA_DEPTH + 20; // with what is around a schema
  if (isDeeper(spec, most)) throw refuse(`is nested more than ${most} deep. Flatten its schemas`);
  return objectOr(spec);
}

function compareSpecs(
  before: JsonObject,
  after: JsonObject,
  stored: readonly string[],
  reportOf: (version?: string) => Report,
): void {
  const report = reportOf();
  const text = (change: ChangeName, consequence: Consequence, path: string, old: unknown, now: unknown): void =>
    void (old === now || report(change, consequence, path, `${old} to ${now}`));
  text("group changed", FIXED, "spec.group", before.group, after.group);
  text("scope changed", FIXED, "spec.scope", before.scope, after.scope);
  const [names, newNames] = [namesOf(before), namesOf(after)];
  text("plural changed", FIXED, "spec.names.plural", names.plural, newNames.plural);
  text("kind changed", FIXED, "spec.names.kind", names.kind, newNames.kind);
  for (const name of ["singular", "listKind", "shortNames", "categories"]) {
    const [old, now] = [names[name], newNames[name]].map((given) => isList(given) ? given : [given ?? []].flat());
    lost(old, now, (given) => report("name removed", CALLS, `spec.names.${name}`, given));
  }
  const [strategy, newStrategy] = [before, after].map((spec) => objectOr(spec.conversion).strategy ?? "None");
  // With one version, nothing is converted.
  if ([before, after].every(({ versions }) => listOr(versions).length > 1)) {
    const consequence = newStrategy === "Webhook" ? WEBHOOK : UNREAD;
    text("conversion changed", consequence, "spec.conversion.strategy", strategy, newStrategy);
  }
  const storage = objectsOf(before.versions).filter((it) => it.storage === true).map(({ name }) => textOf(name));
  const storedNames = stored.length > 0 ? stored : storage;
  lost(unconverted(after, storedNames), unconverted(before, storedNames), (loss) => {
    const [to, detail] = JSON.parse(loss);
    reportOf(to)("conversion missing", UNCONVERTED, "schema", detail);
  });
  if (before.preserveUnknownFields === true && after.preserveUnknownFields !== true) {
    report("unknown fields removed", PRUNED, "spec.preserveUnknownFields");
  }
  for (const version of objectsOf(before.versions)) {
    const name = textOf(version.name);
    const now = objectsOf(after.versions).find((other) => other.name === name);
    if (now !== undefined) compareVersions(version, now, reportOf(name));
    else if (storedNames.includes(name)) report("stored version removed", UNREAD, `spec.versions[${name}]`);
    else if (version.served === true) report("version removed", CALLS, `spec.versions[${name}]`);
  }
}

/** Returns each version that lacks fields of another one, if nothing converts, and these fields. */
function unconverted({ conversion, versions }: JsonObject, stored: readonly string[]): string[][] {
  if (objectOr(conversion).strategy === "Webhook") return [];
  const used = objectsOf(versions).filter(({ served, storage }) => served === true || storage === true);
  const sources = objectsOf(versions).filter((it) => used.includes(it) || stored.includes(textOf(it.name)));
  const pairs = sources.flatMap((from) => used.map((to) => [to, from, droppedFields(from, to)] as const));
  return pairs.filter(([, , fields]) => fields !== "")
    .map(([to, from, fields]) => [textOf(to.name), `${textOf(from.name)} has ${fields}`]);
}

/** Names the first fields that objects lose between two versions if nothing converts them, as text. */
export function droppedFields(from: object, to: object): string {
  const fields: string[] = [];
  compareSchemas(schemaOf(from), schemaOf(to), "", (_, consequence, path) => {
    if (consequence === PRUNED) fields.push(path);
  });
  return (fields.length > 3 ? [...fields.slice(0, 3), "…"] : fields).join(", ");
}

function schemaOf(version: object): JsonObject {
  return objectOr(memberAt(version, "schema", "openAPIV3Schema"));
}

/** The names of a kind, including names that the server fills in. */
function namesOf({ names }: JsonObject): JsonObject {
  const kind = textOf(objectOr(names).kind);
  return { singular: kind.toLowerCase(), listKind: `${kind}List`, ...objectOr(names) };
}

/** Calls `found` with the JSON of each item of a list that the other list does not have. */
function lost(before: unknown, after: unknown, found: (text: string) => void): void {
  const kept = new Set(listOr(after).map(jsonKey));
  for (const item of listOr(before)) if (!kept.has(jsonKey(item))) found(JSON.stringify(item));
}

function compareVersions(before: JsonObject, after: JsonObject, report: Report): void {
  if (before.served === true && after.served !== true) report("version not served", CALLS, "served");
  const [parts, newParts] = [objectOr(before.subresources), objectOr(after.subresources)];
  for (const [name, part] of Object.entries(parts)) {
    if (newParts[name] === undefined) report("subresource removed", CALLS, `subresources.${name}`);
    else if (jsonKey(part) !== jsonKey(newParts[name])) report("scale changed", CALLS, `subresources.${name}`);
  }
  if (parts.status === undefined && newParts.status !== undefined) {
    report("status added", STATUS, "subresources.status");
  }
  const [[columns, fields], [newColumns, newFields]] = [before, after].map((version) => [
    objectsOf(version.additionalPrinterColumns).map(({ name }) => name),
    objectsOf(version.selectableFields).map(({ jsonPath }) => jsonPath),
  ]);
  lost(columns, newColumns, (name) => report("column removed", CALLS, "additionalPrinterColumns", name));
  lost(fields, newFields, (field) => report("selectable field removed", CALLS, "selectableFields", field));
  compareSchemas(schemaOf(before), schemaOf(after), "", report);
}

/** A schema of any value. */
const ANY: JsonObject = { [OPEN]: true };

/** Changes of types that accept all values of the old type. */
const WIDENINGS = ["integer to number", "integer to int-or-string", "string to int-or-string"];

function compareSchemas(before: JsonObject, after: JsonObject, path: string, report: Report): void {
  const [old, now] = [before, after].map((it) =>
    it[INT_OR_STRING] === true ? "int-or-string" : textOf(it.type) || "any"
  );
  const types = `${old} to ${now}`;
  if (old !== now && now !== "any" && !WIDENINGS.includes(types)) {
    return report(old === "int-or-string" ? `${old} removed` : "type changed", NARROWED, path, types);
  }
  compareValues(before, after, path, report);
  compareMerging(before, after, path, report);
  if (isObject(before.items) && isObject(after.items)) compareSchemas(before.items, after.items, `${path}[]`, report);
  const [fields, newFields] = [objectOr(before.properties), objectOr(after.properties)];
  const [rest, newRest] = [restOf(before), restOf(after)];
  const memberPath = (name: string): string => path === "" ? name : `${path}.${name}`;
  // What every object has, whatever its schema says.
  const given = path === "" || after[EMBEDDED] === true ? ["apiVersion", "kind", "metadata"] : [];
  for (const name of new Set([...Object.keys(fields), ...Object.keys(newFields)])) {
    const [field, newField] = [memberAt(fields, name) ?? rest, memberAt(newFields, name) ?? newRest];
    if (field === undefined || given.includes(name)) continue;
    if (newField === undefined) report("field removed", PRUNED, memberPath(name));
    else compareSchemas(objectOr(field), objectOr(newField), memberPath(name), report);
  }
  if (rest !== undefined && newRest !== undefined && newRest !== ANY) {
    compareSchemas(rest, newRest, memberPath("*"), report);
  } else if (rest !== undefined && newRest === undefined) {
    report(rest === ANY ? "unknown fields removed" : "field removed", PRUNED, memberPath("*"));
  }
  // Fields that no default fills in.
  const [needed, newNeeded] = [before, after].map(({ required, properties }) =>
    textsOf(required).filter((name) => memberAt(properties, name, "default") === undefined)
  );
  for (const name of newNeeded) {
    if (!needed.includes(name) && !given.includes(name)) report("required added", REQUIRED, memberPath(name));
  }
}

/** The schema of fields without an own schema; undefined if there can be none. */
function restOf({ type, additionalProperties: rest, [OPEN]: open }: JsonObject): JsonObject | undefined {
  if (isObject(rest)) return rest;
  return rest === true || (open === true && (type === "object" || type === undefined)) ? ANY : undefined;
}

const LIMITS = keywordsThat((keyword) => keyword.fate === "checked" && keyword.limit !== undefined);

/** Compares what schemas say of a value itself. */
function compareValues(before: JsonObject, after: JsonObject, path: string, report: Report): void {
  const narrowed = (change: ChangeName, detail?: string): void => report(change, NARROWED, path, detail);
  if (before.nullable === true && after.nullable !== true) narrowed("nullable removed");
  if (before[EMBEDDED] !== true && after[EMBEDDED] === true) narrowed("embedded resource added");
  if (isList(after.enum) && !isList(before.enum)) narrowed("enum added");
  else if (isList(after.enum)) lost(before.enum, after.enum, (value) => narrowed("enum value removed", value));
  for (const name of LIMITS) {
    if (isNarrower(before, after, name)) {
      narrowed("bound narrowed", `${name} ${before[name] ?? "none"} to ${after[name]}`);
    }
  }
  const [{ multipleOf: step }, { multipleOf, format, pattern }] = [before, after];
  if (typeof multipleOf === "number" && !(typeof step === "number" && step % multipleOf === 0)) {
    narrowed("bound narrowed", `multipleOf ${step ?? "none"} to ${multipleOf}`);
  }
  if (pattern !== undefined && before.pattern === undefined) narrowed("pattern added", textOf(pattern));
  else if (pattern !== undefined && pattern !== before.pattern) {
    report("pattern changed", POSSIBLE, path, `${before.pattern} to ${pattern}`);
  }
  // Servers of all versions count, whichever is installed.
  const fits = checkedFormat(after, Infinity)?.fits ?? anything;
  if (format !== before.format && fits !== anything) {
    narrowed("format changed", `${before.format ?? "none"} to ${format}`);
  }
  for (const name of ["allOf", "anyOf", "oneOf", "not"]) {
    const [old, now] = [before[name], after[name]];
    // The form in which an int-or-string says its types.
    if (now === undefined || jsonKey(old) === jsonKey(now) || (name === "anyOf" && after[INT_OR_STRING] === true)) {
      continue;
    }
    let isWider = name === "anyOf" || name === "allOf";
    lost(name === "allOf" ? now : old, name === "allOf" ? old : now, () => isWider = false);
    if (old === undefined) narrowed("combination added", name);
    else if (!isWider) report("combination changed", POSSIBLE, path, name);
  }
  const [rules, newRules] = [before, after].map((schema) =>
    objectsOf(schema["x-kubernetes-validations"]).map(({ rule, optionalOldSelf = false }) => [rule, optionalOldSelf])
  );
  lost(newRules, rules, (rule) => report("rule added", POSSIBLE, path, JSON.parse(rule)[0]));
  if (before.default === undefined || jsonKey(before.default) === jsonKey(after.default)) return;
  const change = after.default === undefined ? "default removed" : "default changed";
  report(change, DEFAULTED, path, `${JSON.stringify(before.default)} to ${JSON.stringify(after.default) ?? "none"}`);
}

/** Returns true if the bound `name` is narrower in `after`. */
function isNarrower(before: JsonObject, after: JsonObject, name: string): boolean {
  const sign = name.startsWith("max") ? 1 : -1;
  const none = name.startsWith("min") && name !== "minimum" ? 0 : Infinity;
  const exclusive = `exclusive${name[0].toUpperCase()}${name.slice(1)}`;
  const [limit, newLimit] = [before[name], after[name]].map((it) => typeof it === "number" ? sign * it : none);
  return newLimit < limit || (newLimit === limit && after[exclusive] === true && before[exclusive] !== true);
}

/** Compares the types of lists and maps, which say how an apply merges them. */
function compareMerging(before: JsonObject, after: JsonObject, path: string, report: Report): void {
  const [list, newList] = [before, after].map((schema) => textOf(schema[LIST_TYPE]) || "atomic");
  const [keys, newKeys] = [before, after].map((schema) => textsOf(schema[MAP_KEYS]).toSorted().join());
  const [map, newMap] = [before, after].map((schema) => textOf(schema[MAP_TYPE]) || "granular");
  if (list !== newList) {
    report("list type changed", newList === "atomic" ? APPLIES : NARROWED, path, `${list} to ${newList}`);
  } else if (keys !== newKeys) report("list keys changed", NARROWED, path, `${keys} to ${newKeys}`);
  if (map !== newMap) report("map type changed", APPLIES, path, `${map} to ${newMap}`);
}
