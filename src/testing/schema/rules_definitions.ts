import { type Causes, forbiddenField, requiredField } from "../http/refusal.ts";
import { equalJson, isObject, type Json, type JsonObject, objectOr, textOf } from "../wire/json.ts";
import {
  checkForm,
  checkOneOf,
  type Form,
  letterLabel,
  objectsOf,
  refuseValue,
  requireForm,
  type Rule,
  subdomain,
} from "./checks.ts";

const anyCase: Form = (text) =>
  letterLabel(text.toLowerCase()).map((why) => `may have mixed case, but should otherwise match: ${why}`);

const names: Rule = ({ plural, singular, kind, listKind, shortNames, categories }, at, causes) => {
  requireForm(plural, `${at}.plural`, letterLabel, causes);
  requireForm(singular, `${at}.singular`, letterLabel, causes);
  requireForm(kind, `${at}.kind`, anyCase, causes);
  requireForm(listKind, `${at}.listKind`, anyCase, causes);
  for (const [name, list] of Object.entries({ shortNames, categories })) {
    (Array.isArray(list) ? list as readonly Json[] : []).forEach((text, index) => {
      checkForm(text, `${at}.${name}[${index}]`, letterLabel, causes);
    });
  }
  if (textOf(kind) !== "" && kind === listKind) {
    refuseValue(causes, `${at}.listKind`, listKind, "kind and listKind may not be the same");
  }
};

const definition: Rule = ({ metadata, spec }, _, causes) => {
  const { name } = objectOr(metadata);
  const { group, names } = objectOr(spec);
  if (textOf(name) !== `${textOf(objectOr(names).plural)}.${textOf(group)}`) {
    refuseValue(causes, "metadata.name", name, 'must be spec.names.plural+"."+spec.group');
  }
};

const definitionSpec: Rule = ({ group, scope, versions }, at, causes) => {
  const all = objectsOf(versions);
  if (textOf(group) === "") causes.push(requiredField(`${at}.group`));
  else {
    checkForm(group, `${at}.group`, subdomain, causes);
    if (!textOf(group).includes(".")) {
      refuseValue(causes, `${at}.group`, group, "should be a domain with at least one dot");
    }
  }
  if (textOf(scope) === "") causes.push(requiredField(`${at}.scope`));
  else checkOneOf(scope, `${at}.scope`, ["Cluster", "Namespaced"], causes);
  all.forEach(({ name, schema }, index) => {
    const place = `${at}.versions[${index}]`;
    requireForm(name, `${place}.name`, letterLabel, causes);
    if (!isObject(objectOr(schema).openAPIV3Schema)) {
      causes.push(requiredField(`${place}.schema.openAPIV3Schema`));
    }
  });
  if (new Set(all.map(({ name }) => name)).size < all.length) {
    refuseValue(causes, `${at}.versions`, versions, "must contain unique version names");
  }
  if (all.filter(({ storage }) => storage === true).length !== 1) {
    refuseValue(causes, `${at}.versions`, versions, "must have exactly one version marked as storage version");
    refuseValue(causes, "status.storedVersions", null, "must have at least one stored version");
  }
  const schemas = all.map(({ schema }) => objectOr(objectOr(schema).openAPIV3Schema));
  // The server keeps what all versions share in one place, and names that.
  const shared = schemas.every((schema) => equalJson(schema, schemas[0]));
  schemas.forEach((schema, index) => {
    if (Object.keys(schema).length === 0 || (shared && index > 0)) return;
    const place = shared ? "validation" : `versions[${index}].schema`;
    structural(schema, `${at}.${place}.openAPIV3Schema`, true, causes);
  });
};

const TYPES = ["array", "boolean", "integer", "number", "object", "string"];

function structural(schema: JsonObject, at: string, isRoot: boolean, causes: Causes): void {
  const { type, items, properties, additionalProperties } = schema;
  const free = schema["x-kubernetes-int-or-string"] === true || schema["x-kubernetes-preserve-unknown-fields"] === true;
  const name = textOf(type);
  if (isRoot && name !== "" && name !== "object") refuseValue(causes, `${at}.type`, type, "must be object at the root");
  else if (name === "" && (isRoot || !free)) {
    const where = isRoot ? "at the root" : "for specified object fields";
    causes.push(requiredField(`${at}.type`, `must not be empty ${where}`));
  } else if (name !== "") checkOneOf(type, `${at}.type`, TYPES, causes);
  if (name === "array" && !isObject(items)) causes.push(requiredField(`${at}.items`, "must be specified"));
  if (schema["x-kubernetes-list-type"] === "map" && !Array.isArray(schema["x-kubernetes-list-map-keys"])) {
    const why = "must not be empty if x-kubernetes-list-type is map";
    causes.push(requiredField(`${at}.x-kubernetes-list-map-keys`, why));
  }
  if (isObject(properties) && additionalProperties !== undefined && Object.keys(properties).length > 0) {
    const why = "additionalProperties and properties are mutual exclusive";
    causes.push(forbiddenField(`${at}.additionalProperties`, why));
  }
  for (const [key, member] of Object.entries(objectOr(properties))) {
    if (isRoot && key === "metadata") continue;
    structural(objectOr(member), `${at}.properties[${key}]`, false, causes);
  }
  if (isObject(items)) structural(items, `${at}.items`, false, causes);
  if (isObject(additionalProperties)) structural(additionalProperties, `${at}.additionalProperties`, false, causes);
}

const COLUMN_TYPES = ["boolean", "date", "integer", "number", "string"];

/** The rules of the types of apiextensions.k8s.io/v1. */
export const DEFINITION_RULES: Readonly<Record<string, Rule>> = {
  "apiextensions/v1.CustomResourceColumnDefinition": ({ type }, at, causes) => {
    if (!COLUMN_TYPES.includes(textOf(type)) && textOf(type) !== "") {
      refuseValue(causes, `${at}.type`, type, `must be one of ${COLUMN_TYPES.join(",")}`);
    }
  },
  "apiextensions/v1.CustomResourceDefinition": definition,
  "apiextensions/v1.CustomResourceDefinitionNames": (object, at, causes) => {
    if (at === "spec.names") names(object, at, causes);
  },
  "apiextensions/v1.CustomResourceDefinitionSpec": definitionSpec,
};
