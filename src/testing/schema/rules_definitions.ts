import { requiredField } from "../http/refusal.ts";
import { isObject, objectOr, textOf } from "../wire/json.ts";
import { fields, formed, letterLabel, objectsOf, oneOf, refuseValue, type Rule, subdomain } from "./checks.ts";

const definition: Rule = ({ metadata, spec }, _, causes) => {
  const { name } = objectOr(metadata);
  const { group, names, versions } = objectOr(spec);
  if (textOf(name) !== `${textOf(objectOr(names).plural)}.${textOf(group)}`) {
    refuseValue(causes, "metadata.name", name, 'must be spec.names.plural+"."+spec.group');
  }
  const all = objectsOf(versions);
  all.forEach(({ schema }, index) => {
    if (isObject(objectOr(schema).openAPIV3Schema)) return;
    causes.push(requiredField(`spec.versions[${index}].schema.openAPIV3Schema`));
  });
  if (all.filter(({ storage }) => storage === true).length !== 1) {
    refuseValue(causes, "spec.versions", versions, "must have exactly one version marked as storage version");
    refuseValue(causes, "status.storedVersions", null, "must have at least one stored version");
  }
};

/** The rules of the types of apiextensions.k8s.io/v1. */
export const DEFINITION_RULES: Readonly<Record<string, Rule>> = {
  "apiextensions/v1.CustomResourceDefinition": definition,
  "apiextensions/v1.CustomResourceDefinitionSpec": fields({
    group: formed(subdomain),
    scope: oneOf("Cluster", "Namespaced"),
    "names.plural": formed(letterLabel),
    "names.singular": formed(letterLabel),
    "versions[].name": formed(letterLabel),
  }),
};
