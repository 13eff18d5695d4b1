import { requiredField } from "../../protocol/refusal.ts";
import { isObject, objectOr, textOf } from "../wire/json.ts";
import {
  atLeast,
  type Check,
  checkOneOf,
  checkShare,
  fields,
  formed,
  letterLabel,
  noneBelowZero,
  objectsOf,
  oneOf,
  pathSegment,
  refuseValue,
  type Rule,
  subdomain,
  textsOf,
} from "./checks.ts";

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

function policyRules(isNamespaced: boolean): Rule {
  return ({ rules }, _, causes) => {
    objectsOf(rules).forEach((rule, index) => {
      const has = (name: string): boolean => textsOf(rule[name]).length > 0;
      const at = `rules[${index}].nonResourceURLs`;
      if (has("nonResourceURLs")) {
        const urls = rule.nonResourceURLs;
        if (isNamespaced) refuseValue(causes, at, urls, "namespaced rules cannot apply to non-resource URLs");
        if (has("apiGroups") || has("resources") || has("resourceNames")) {
          refuseValue(causes, at, urls, "rules cannot apply to both regular resources and non-resource URLs");
        }
        return;
      }
      for (const [name, what] of Object.entries({ apiGroups: "api group", resources: "resource" })) {
        if (has(name)) continue;
        causes.push(requiredField(`rules[${index}].${name}`, `resource rules must supply at least one ${what}`));
      }
    });
  };
}

const RBAC = "rbac.authorization.k8s.io";

const account = fields({ name: formed(subdomain), apiGroup: oneOf("") });
const person = fields({ apiGroup: oneOf(RBAC) });
const KINDS = ["ServiceAccount", "User", "Group"];

function subject(isNamespaced: boolean): Check {
  return (value, at, causes) => {
    const subject = objectOr(value);
    checkOneOf(subject.kind ?? "", `${at}.kind`, KINDS, causes);
    if (subject.kind === "User" || subject.kind === "Group") person(subject, at, causes);
    if (subject.kind !== "ServiceAccount") return;
    account(subject, at, causes);
    if (!isNamespaced && textOf(subject.namespace) === "") causes.push(requiredField(`${at}.namespace`));
  };
}

const roleRef = fields({ apiGroup: oneOf(RBAC), name: formed(pathSegment) });

function binding(isNamespaced: boolean): Rule {
  const subjects = fields({ "subjects[]": subject(isNamespaced) });
  const kinds = isNamespaced ? ["Role", "ClusterRole"] : ["ClusterRole"];
  return (object, at, causes) => {
    const role = objectOr(object.roleRef);
    roleRef(role, "roleRef", causes);
    checkOneOf(role.kind ?? "", "roleRef.kind", kinds, causes);
    subjects(object, at, causes);
  };
}

const budget: Rule = ({ minAvailable, maxUnavailable, selector }, at, causes) => {
  if (minAvailable !== undefined && maxUnavailable !== undefined) {
    const shown = { MinAvailable: minAvailable, Selector: selector ?? null, MaxUnavailable: maxUnavailable };
    refuseValue(causes, at, shown, "minAvailable and maxUnavailable cannot be both set");
  }
  checkShare(minAvailable, `${at}.minAvailable`, causes);
  checkShare(maxUnavailable, `${at}.maxUnavailable`, causes);
};

/** The rules of the types of policy, rights, leases and definitions. */
export const POLICY_RULES: Readonly<Record<string, Rule>> = {
  "apiextensions/v1.CustomResourceDefinition": definition,
  "apiextensions/v1.CustomResourceDefinitionSpec": fields({
    group: formed(subdomain),
    scope: oneOf("Cluster", "Namespaced"),
    "names.plural": formed(letterLabel),
    "names.singular": formed(letterLabel),
    "versions[].name": formed(letterLabel),
  }),
  "coordination/v1.LeaseSpec": fields({ leaseDurationSeconds: atLeast(1), leaseTransitions: atLeast(0) }),
  "policy/v1.PodDisruptionBudgetSpec": budget,
  "policy/v1.PodDisruptionBudgetStatus": noneBelowZero,
  "rbac/v1.ClusterRole": policyRules(false),
  "rbac/v1.ClusterRoleBinding": binding(false),
  "rbac/v1.Role": policyRules(true),
  "rbac/v1.RoleBinding": binding(true),
};
