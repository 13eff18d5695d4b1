/**
 * Finds what kube-apiserver refuses in a new CustomResourceDefinition, with its texts.
 *
 * {@linkcode definitionCauses} is the entry point. Schemas are checked by `structural.ts`. Updates may change less,
 * which is not checked here, and neither are rules in CEL.
 *
 * @module
 */
import { hasRules, type RuleCompiler } from "./rules/load.ts";
import { type Causes, fieldCause } from "../../engine/protocol/refusal.ts";
import { clientConfigCauses } from "./values/client_config.ts";
import { FORMS } from "./values/forms.ts";
import { equalJson, isObject, type JsonObject } from "../../engine/api/json.ts";
import { memberAt, objectOr, objectsOf, textOf, textsOf } from "../../engine/api/members.ts";
import { FieldFaults, isMember, structuralCauses } from "./structural.ts";
import { isSet, OPEN } from "./values/keywords.ts";

/** The parts of a version, and their places in `spec` if all versions have the same. */
const PARTS = {
  schema: "validation",
  subresources: "subresources",
  additionalPrinterColumns: "additionalPrinterColumns",
  selectableFields: "selectableFields",
} as const;

/**
 * Returns why kube-apiserver refuses a new CustomResourceDefinition: names, versions, schemas, columns, subresources,
 * selectable fields and conversion. Empty if it takes it. With a compiler of rules, rules in CEL are checked, too.
 */
export function definitionCauses(crd: JsonObject, rules?: RuleCompiler): Causes {
  const causes: Causes = [];
  const spec = objectOr(crd.spec);
  const versions = objectsOf(spec.versions);
  const faults = new FieldFaults(spec, "spec", causes);
  nameCauses(crd, spec, causes);
  for (const [index, version] of versions.entries()) {
    const place = `versions[${index}]`;
    for (const why of FORMS.letterLabel(textOf(version.name))) {
      faults.refuse(true, `${place}.name`, why);
      faults.refuse(index === 0 && isSet(version.name), "version", why);
    }
    faults.require(!isObject(memberAt(version, "schema", "openAPIV3Schema")), `${place}.schema.openAPIV3Schema`);
    warningCauses(version, new FieldFaults(version, `spec.${place}`, causes));
  }
  const hasStatus = versions.some(({ subresources }) => isObject(objectOr(subresources).status));
  for (const [name, shared] of Object.entries(PARTS)) {
    const isShared = versions.every((version) => equalJson(version[name], versions[0][name]));
    for (const [index, version] of (isShared ? versions.slice(0, 1) : versions).entries()) {
      const place = isShared ? `spec.${shared}` : `spec.versions[${index}].${name}`;
      const statusOf = isObject(objectOr(version.subresources).status);
      const found = causes.length;
      CHECKS[name as keyof typeof PARTS](version, place, causes, isShared ? hasStatus : statusOf);
      if (name !== "schema" || rules === undefined || causes.length > found) continue;
      const { openAPIV3Schema } = objectOr(version.schema);
      if (!isObject(openAPIV3Schema) || !hasRules(openAPIV3Schema)) continue;
      causes.push(...rules.compile(openAPIV3Schema, `${place}.openAPIV3Schema`).causes);
    }
  }
  const isTwice = new Set(versions.map(({ name }) => name)).size < versions.length;
  faults.refuse(isTwice, "versions", "must contain unique version names");
  const preserved = `cannot set to true, set ${OPEN} to true in spec.versions[*].schema instead`;
  const stored = versions.filter(({ storage }) => storage === true).length;
  faults.refuse(stored !== 1, "versions", "must have exactly one version marked as storage version");
  faults.refuse(spec.preserveUnknownFields === true, "preserveUnknownFields", preserved);
  const status = new FieldFaults({}, "status", causes);
  status.refuse(stored !== 1, "storedVersions", "must have at least one stored version");
  conversionCauses(objectOr(spec.conversion), causes);
  return causes;
}

const APPROVAL = "api-approved.kubernetes.io";

/** Checks the group, the scope and the names. */
function nameCauses({ metadata }: JsonObject, spec: JsonObject, causes: Causes): void {
  const faults = new FieldFaults(spec, "spec", causes);
  const group = textOf(spec.group);
  const kind = textOf(memberAt(spec, "names", "kind"));
  const defaults = { singular: kind.toLowerCase(), listKind: kind === "" ? "" : `${kind}List`, plural: "", kind: "" };
  const given = objectOr(spec.names);
  const isGivenName = ([name]: readonly [string, unknown]): boolean => isSet(given[name]);
  const names: JsonObject = { ...defaults, ...Object.fromEntries(Object.entries(given).filter(isGivenName)) };
  faults.require(group === "", "group");
  for (const why of group === "" ? [] : FORMS.subdomain(group)) faults.refuse(true, "group", why);
  const isLabel = FORMS.subdomain(group).length === 0 && !group.includes(".");
  faults.refuse(isLabel, "group", "should be a domain with at least one dot");
  faults.require(!isSet(spec.scope), "scope");
  if (isSet(spec.scope)) faults.oneOf("scope", ["Cluster", "Namespaced"]);
  const own = new FieldFaults(names, "spec.names", causes);
  for (const [name, value] of Object.entries(names)) {
    own.require(name in defaults && value === "", name);
    const isKind = name.endsWith("ind");
    const texts = typeof value === "string" ? [value].filter(isSet) : textsOf(value);
    for (const [index, text] of texts.entries()) {
      const why = FORMS.letterLabel(isKind ? text.toLowerCase() : text).join(",");
      const place = typeof value === "string" ? name : `${name}[${index}]`;
      own.refuse(why !== "", place, isKind ? `may have mixed case, but should otherwise match: ${why}` : why);
    }
  }
  own.refuse(kind !== "" && names.listKind === kind, "listKind", "kind and listKind may not be the same");
  const whole = new FieldFaults(objectOr(metadata), "metadata", causes);
  const name = textOf(objectOr(metadata).name);
  for (const why of name === "" ? [] : FORMS.subdomain(name)) whole.refuse(true, "name", why);
  whole.refuse(name !== `${textOf(names.plural)}.${group}`, "name", 'must be spec.names.plural+"."+spec.group');
  const approval = textOf(memberAt(metadata, "annotations", APPROVAL));
  const isProtected = /(^|\.)(k8s|kubernetes)\.io$/.test(group);
  const see = "see https://github.com/kubernetes/enhancements/pull/1111";
  const missing = `protected groups must have approval annotation ${JSON.stringify(APPROVAL)}, ${see}`;
  whole.require(isProtected && approval === "", `annotations[${APPROVAL}]`, missing);
  const isApproved = approval === "" || approval.startsWith("unapproved") || /^[a-z]+:\/\/[^/]/i.test(approval);
  whole.refuse(isProtected && !isApproved, `annotations[${APPROVAL}]`, missing);
}

/** Checks the warning of a deprecated version. */
function warningCauses({ deprecated, deprecationWarning: text }: JsonObject, faults: FieldFaults): void {
  if (typeof text !== "string") return;
  const refuse = (holds: boolean, why: string): void => faults.refuse(holds, "deprecationWarning", why);
  refuse(deprecated !== true, "can only be set for deprecated versions");
  if (deprecated !== true) return;
  refuse(new TextEncoder().encode(text).length > 256, "must be <= 256 characters long");
  refuse(text === "", "must not be an empty string");
  refuse(/[^\P{Z} ]|\p{C}/u.test(text), "must only contain printable UTF-8 characters");
}

/** Keywords that the root may have if a subresource for the status is checked separately. */
const AT_ROOT: readonly string[] =
  ("description type format title maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern maxItems " +
    "minItems uniqueItems multipleOf required items properties externalDocs example " +
    "x-kubernetes-preserve-unknown-fields x-kubernetes-validations").split(" ");

const COLUMN_TYPES = ["boolean", "date", "integer", "number", "string"];
const COLUMN_FORMATS = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];
const SELECTABLE: readonly unknown[] = ["string", "boolean", "integer"];
const SCALAR =
  "must point to a field of type string, boolean or integer. Enum string fields and strings with formats " +
  "are allowed.";

/** Checks a part of a version. */
type Check = (version: JsonObject, place: string, causes: Causes, hasStatus: boolean) => void;

/** The checks of the parts, by name. */
const CHECKS: Readonly<Record<keyof typeof PARTS, Check>> = {
  schema: ({ schema: given }, place, causes, hasStatus) => {
    const schema = objectOr(given).openAPIV3Schema;
    if (!isObject(schema)) return;
    const faults = new FieldFaults(objectOr(given), place, causes);
    const allowed = "is allowed as the type at the root of the schema if the status subresource is enabled";
    const isTyped = isSet(schema.type) && schema.type !== "object";
    faults.refuse(hasStatus && isTyped, "openAPIV3Schema.type", `only "object" ${allowed}`);
    const other = Object.keys(schema).find((name) => !AT_ROOT.includes(name) && isMember(schema, name));
    const only = "fields are allowed at the root of the schema if the status subresource is enabled";
    const isOther = hasStatus && !isTyped && other !== undefined;
    faults.refuse(isOther, "openAPIV3Schema", `only [${AT_ROOT.map(goName).join(" ")}] ${only}`);
    causes.push(...structuralCauses(schema, `${place}.openAPIV3Schema`));
  },
  subresources: ({ subresources }, place, causes) => {
    const scale = objectOr(subresources).scale;
    if (!isObject(scale)) return;
    const faults = new FieldFaults(scale, `${place}.scale`, causes);
    faults.require(!isSet(scale.specReplicasPath), "specReplicasPath");
    faults.require(!isSet(scale.statusReplicasPath), "statusReplicasPath");
    pathFault(faults, "specReplicasPath", textOf(scale.specReplicasPath), [".spec"]);
    pathFault(faults, "statusReplicasPath", textOf(scale.statusReplicasPath), [".status"]);
    pathFault(faults, "labelSelectorPath", textOf(scale.labelSelectorPath), [".spec", ".status"]);
  },
  additionalPrinterColumns: ({ additionalPrinterColumns }, place, causes) => {
    for (const [index, column] of objectsOf(additionalPrinterColumns).entries()) {
      const faults = new FieldFaults({ ...column, JSONPath: column.jsonPath }, `${place}[${index}]`, causes);
      const types = `must be one of ${COLUMN_TYPES.join(",")}`;
      faults.require(!isSet(column.name), "name");
      faults.require(!isSet(column.type), "type", types);
      faults.refuse(isSet(column.type) && !COLUMN_TYPES.includes(textOf(column.type)), "type", types);
      const isKnown = !isSet(column.format) || COLUMN_FORMATS.includes(textOf(column.format));
      faults.refuse(!isKnown, "format", `must be one of ${COLUMN_FORMATS.join(",")}`);
      faults.require(!isSet(column.jsonPath), "JSONPath");
      pathFault(faults, "JSONPath", textOf(column.jsonPath), [""]);
    }
  },
  selectableFields: ({ selectableFields, schema }, place, causes) => {
    const seen = new Set<string>();
    for (const [index, field] of objectsOf(selectableFields).entries()) {
      const faults = new FieldFaults(field, `${place}[${index}]`, causes);
      const path = textOf(field.jsonPath);
      faults.require(path === "", "jsonPath");
      if (path === "") continue;
      const found = path.split(".").slice(1).reduce<unknown>(memberSchema, memberAt(schema, "openAPIV3Schema"));
      const isPath = /^(\.[^.[\]]+)+$/.test(path) && isObject(found);
      faults.refuse(!isPath, "jsonPath", "is an invalid path: does not refer to a valid field");
      if (!isPath) continue;
      faults.refuse(path.startsWith(".metadata."), "jsonPath", "must not point to fields in metadata");
      faults.refuse(!SELECTABLE.includes(found.type), "jsonPath", SCALAR);
      if (seen.has(path)) causes.push(fieldCause.duplicate(`${place}[${index}].jsonPath`, path));
      seen.add(path);
    }
    const message = `Too many: ${seen.size}: must have at most 8 items`;
    if (seen.size > 8) causes.push({ reason: "FieldValueTooMany", message, field: place });
  },
};

/** The name that Go has for a keyword. */
function goName(keyword: string): string {
  return keyword.replace("kubernetes-", "").replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** The schema of a member; undefined if there is none. */
function memberSchema(schema: unknown, name: string): unknown {
  return isSet(memberAt(schema, "properties"))
    ? memberAt(schema, "properties", name)
    : memberAt(schema, "additionalProperties");
}

/** Reports a path of a scale or column that is not simple, or points to another part of the object. */
function pathFault(faults: FieldFaults, name: string, path: string, roots: readonly string[]): void {
  if (path === "") return;
  faults.refuse(!path.startsWith("."), name, "must be a simple json path starting with .");
  const isWithin = !path.startsWith(".") || roots.some((root) => path.startsWith(`${root}.`));
  const under = `${roots.length > 1 ? "either " : ""}${roots.join(" or ")}`;
  faults.refuse(!isWithin, name, `should be a json path under ${under}`);
}

/** Checks how versions are converted. */
function conversionCauses({ strategy = "None", webhook }: JsonObject, causes: Causes): void {
  const { conversionReviewVersions: reviews, clientConfig: config } = objectOr(webhook);
  const versions = textsOf(reviews);
  const shown = { strategy, webhookClientConfig: config, conversionReviewVersions: reviews };
  const faults = new FieldFaults(shown, "spec.conversion", causes);
  faults.require(strategy === "", "strategy");
  if (strategy !== "") faults.oneOf("strategy", ["None", "Webhook"]);
  if (strategy !== "Webhook") {
    const only = "should not be set when strategy is not set to Webhook";
    faults.forbid(isObject(config), "webhookClientConfig", only);
    return faults.forbid(versions.length > 0, "conversionReviewVersions", only);
  }
  const client = "webhookClientConfig";
  if (!isObject(config)) faults.require(true, client, "required when strategy is set to Webhook");
  else clientConfigCauses(config, `spec.conversion.${client}`, causes);
  const place = "conversionReviewVersions";
  faults.require(versions.length === 0, place);
  for (const [index, version] of versions.entries()) {
    faults.refuse(versions.indexOf(version) < index, `${place}[${index}]`, "duplicate version");
    for (const why of FORMS.letterLabel(version)) faults.refuse(true, `${place}[${index}]`, why);
  }
  const isKnown = versions.includes("v1") || versions.includes("v1beta1");
  faults.refuse(versions.length > 0 && !isKnown, place, "must include at least one of v1, v1beta1");
}
