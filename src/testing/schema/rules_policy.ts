import { type Causes, forbiddenField, requiredField, unsupportedField } from "../http/refusal.ts";
import { type JsonObject, objectOr, textOf } from "../wire/json.ts";
import {
  atLeastZero,
  checkForm,
  checkOneOf,
  checkShare,
  labelKey,
  numberOf,
  objectsOf,
  pathSegment,
  refuseValue,
  type Rule,
  subdomain,
} from "./checks.ts";

const RBAC = "rbac.authorization.k8s.io";

function policyRules(isNamespaced: boolean): Rule {
  return ({ rules }, _, causes) => {
    objectsOf(rules).forEach((rule, index) => {
      const has = (name: string): boolean => Array.isArray(rule[name]) && rule[name].length > 0;
      const place = `rules[${index}]`;
      if (has("nonResourceURLs")) {
        const urls = rule.nonResourceURLs;
        const at = `${place}.nonResourceURLs`;
        if (isNamespaced) refuseValue(causes, at, urls, "namespaced rules cannot apply to non-resource URLs");
        if (has("apiGroups") || has("resources") || has("resourceNames")) {
          refuseValue(causes, at, urls, "rules cannot apply to both regular resources and non-resource URLs");
        }
        return;
      }
      if (!has("apiGroups")) {
        causes.push(requiredField(`${place}.apiGroups`, "resource rules must supply at least one api group"));
      }
      if (!has("resources")) {
        causes.push(requiredField(`${place}.resources`, "resource rules must supply at least one resource"));
      }
    });
  };
}

const aggregation: Rule = ({ clusterRoleSelectors }, at, causes) => {
  if (objectsOf(clusterRoleSelectors).length > 0) return;
  const why = "at least one clusterRoleSelector required if aggregationRule is non-nil";
  causes.push(requiredField(`${at}.clusterRoleSelectors`, why));
};

function binding(isNamespaced: boolean): Rule {
  return ({ roleRef, subjects }, _, causes) => {
    const { apiGroup, kind = "", name } = objectOr(roleRef);
    checkOneOf(apiGroup ?? "", "roleRef.apiGroup", [RBAC], causes);
    checkOneOf(kind, "roleRef.kind", isNamespaced ? ["Role", "ClusterRole"] : ["ClusterRole"], causes);
    checkForm(name, "roleRef.name", pathSegment, causes);
    objectsOf(subjects).forEach((one, index) => subject(one, `subjects[${index}]`, isNamespaced, causes));
  };
}

function subject(
  { kind, name, apiGroup = "", namespace }: JsonObject,
  at: string,
  isNamespaced: boolean,
  causes: Causes,
): void {
  if (kind === "ServiceAccount") {
    if (textOf(name) !== "") checkForm(name, `${at}.name`, subdomain, causes);
    checkOneOf(apiGroup, `${at}.apiGroup`, [""], causes);
    if (!isNamespaced && textOf(namespace) === "") causes.push(requiredField(`${at}.namespace`));
  } else if (kind === "User" || kind === "Group") checkOneOf(apiGroup, `${at}.apiGroup`, [RBAC], causes);
  else causes.push(unsupportedField(`${at}.kind`, kind ?? "", ["ServiceAccount", "User", "Group"]));
}

const budget: Rule = (spec, at, causes) => {
  const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy } = spec;
  if (minAvailable !== undefined && maxUnavailable !== undefined) {
    const shown = {
      MinAvailable: minAvailable,
      Selector: selector ?? null,
      MaxUnavailable: maxUnavailable,
      UnhealthyPodEvictionPolicy: unhealthyPodEvictionPolicy ?? null,
    };
    refuseValue(causes, at, shown, "minAvailable and maxUnavailable cannot be both set");
  }
  checkShare(minAvailable, `${at}.minAvailable`, causes);
  checkShare(maxUnavailable, `${at}.maxUnavailable`, causes);
};

const lease: Rule = ({ leaseDurationSeconds: seconds, leaseTransitions: transitions }, at, causes) => {
  if (typeof seconds === "number" && seconds <= 0) {
    refuseValue(causes, `${at}.leaseDurationSeconds`, seconds, "must be greater than 0");
  }
  if (numberOf(transitions) < 0) {
    refuseValue(causes, `${at}.leaseTransitions`, transitions, "must be greater than or equal to 0");
  }
};

const SYSTEM = ["system-node-critical", "system-cluster-critical"];

const priority: Rule = ({ metadata, value }, _, causes) => {
  const name = textOf(objectOr(metadata).name);
  if (name.startsWith("system-")) {
    if (SYSTEM.includes(name)) return;
    const why = "priority class names with 'system-' prefix are reserved for system use only. error: " +
      `${name} is not a known system priority class`;
    causes.push(forbiddenField("metadata.name", why));
  } else if (numberOf(value) > 1_000_000_000) {
    causes.push(forbiddenField("value", "maximum allowed value of a user defined priority is 1000000000"));
  }
};

const storageClass: Rule = ({ provisioner, parameters, reclaimPolicy }, _, causes) => {
  const name = textOf(provisioner);
  if (name !== "") checkForm(name.toLowerCase(), "provisioner", labelKey, causes);
  for (const key of Object.keys(objectOr(parameters))) {
    if (key === "") refuseValue(causes, "parameters", "", "field can not be empty.");
  }
  checkOneOf(reclaimPolicy, "reclaimPolicy", ["Delete", "Retain"], causes);
};

/** The rules of the types of policy, rights, leases, priorities and storage classes. */
export const POLICY_RULES: Readonly<Record<string, Rule>> = {
  "coordination/v1.LeaseSpec": lease,
  "policy/v1.PodDisruptionBudgetSpec": budget,
  "policy/v1.PodDisruptionBudgetStatus": atLeastZero(
    "disruptionsAllowed",
    "currentHealthy",
    "desiredHealthy",
    "expectedPods",
  ),
  "rbac/v1.AggregationRule": aggregation,
  "rbac/v1.ClusterRole": policyRules(false),
  "rbac/v1.ClusterRoleBinding": binding(false),
  "rbac/v1.Role": policyRules(true),
  "rbac/v1.RoleBinding": binding(true),
  "scheduling/v1.PriorityClass": priority,
  "storage/v1.StorageClass": storageClass,
};
