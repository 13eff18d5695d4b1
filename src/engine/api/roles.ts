/**
 * Access rules, and the RBAC roles that grant them, as YAML.
 *
 * {@linkcode rolesYaml} is the entry point. A client records which rules a program needs, see `accessUsed()`.
 *
 * @module
 */
import { checkNames } from "../errors/option_names.ts";

/** Requests that a client may send: every combination of the verbs, groups and resources (`PolicyRule`). */
export interface AccessRule {
  /** The verbs: `["list", "watch"]`. */
  readonly verbs: readonly string[];
  /** The API groups, `""` for the core group. */
  readonly groups: readonly string[];
  /** The plurals, `["pods"]`, or subresources, `["pods/status"]`. */
  readonly resources: readonly string[];
  /** The object names that the rule is limited to. @default {all} */
  readonly names?: readonly string[];
}

/** An {@linkcode AccessRule} for one namespace or all namespaces. */
export interface PlacedRule extends AccessRule {
  /** The namespace. `""` for all namespaces, and for cluster-scoped resources. */
  readonly namespace: string;
}

/**
 * Returns `true` if a rule of a role grants a request, like RBAC on the server
 * (`pkg/apis/rbac/v1/evaluation_helpers.go`).
 */
export function ruleGrants(
  rule: Partial<Record<"verbs" | "apiGroups" | "resources" | "resourceNames", readonly string[]>>,
  { verb, group, resource, name = "" }: Record<"verb" | "group" | "resource", string> & { readonly name?: string },
): boolean {
  const { resourceNames = [] } = rule;
  const has = (list: readonly string[] | undefined, ...any: readonly string[]): boolean =>
    any.some((it) => list?.includes(it));
  return has(rule.verbs, verb, "*") && has(rule.apiGroups, group, "*") &&
    has(rule.resources, resource, "*", resource.replace(/^.*\//, "*/")) &&
    (resourceNames.length === 0 || has(resourceNames, name));
}

/** Options for {@linkcode rolesYaml}. */
export interface RolesOptions {
  /** The name for all roles. */
  readonly name: string;
  /** If `true`, rules are limited to their object names. @default {false} */
  readonly names?: boolean;
}

/**
 * Merges rules into fewer rules that grant the same access. It first joins verbs for the same resources, then resources
 * in one group with the same verbs.
 *
 * Verbs and resources are sorted. Rules keep the order in which their groups first occur.
 */
export function mergeRules(rules: readonly AccessRule[]): AccessRule[] {
  const single = rules.flatMap(({ verbs, groups, resources, names }) =>
    groups.flatMap((group) => resources.map((resource) => ({ verbs, groups: [group], resources: [resource], names })))
  );
  const byResource = joined(single, ({ groups, resources, names }) => [groups, resources, names], "verbs");
  return joined(byResource, ({ verbs, groups, names }) => [groups, verbs, names], "resources");
}

/**
 * Writes RBAC roles that grant the rules, as YAML documents. Use it with `accessUsed()` to grant a program exactly what
 * it needs.
 *
 * The rules without a namespace become a `ClusterRole`, followed by one `Role` per namespace in alphabetical order. All
 * roles have the same name. Without rules, it returns `""`.
 *
 * - With `watch`, it also grants `list`. An informer needs it if the server cannot stream lists, or if a version has
 *   expired.
 * - It leaves out object names unless you set `names`, because names in a test rarely occur in a cluster.
 * - It always keeps the names of users to impersonate, because the right to impersonate anybody equals an
 *   administrator's rights.
 *
 * @example
 * ```ts
 * import { rolesYaml } from "@kube/informer";
 * import { assertEquals } from "@std/assert";
 *
 * const rules = [{ verbs: ["list", "watch"], groups: [""], resources: ["pods"], namespace: "shop" }];
 * assertEquals(
 *   rolesYaml(rules, { name: "informer" }),
 *   `apiVersion: rbac.authorization.k8s.io/v1
 * kind: Role
 * metadata:
 *   name: "informer"
 *   namespace: "shop"
 * rules:
 * - apiGroups: [""]
 *   resources: ["pods"]
 *   verbs: ["list", "watch"]
 * `,
 * );
 * ```
 */
export function rolesYaml(rules: readonly PlacedRule[], options: RolesOptions): string {
  checkNames("write roles", options, "name names");
  const { name, names = false } = options;
  const granted = rules.map(({ names: only, verbs, ...rule }): PlacedRule => ({
    ...rule,
    verbs: verbs.includes("watch") ? ["list", ...verbs] : verbs,
    ...((names || verbs.includes("impersonate")) && only !== undefined ? { names: only } : {}),
  }));
  const byNamespace = Map.groupBy(granted, ({ namespace }) => namespace);
  return [...byNamespace.keys()].sort()
    .map((namespace) => roleOf(byNamespace.get(namespace)!, name, namespace))
    .join("---\n");
}

function roleOf(rules: readonly AccessRule[], name: string, namespace: string): string {
  const list = (values: readonly string[]): string => `[${values.map((value) => JSON.stringify(value)).join(", ")}]`;
  return [
    "apiVersion: rbac.authorization.k8s.io/v1",
    `kind: ${namespace === "" ? "ClusterRole" : "Role"}`,
    "metadata:",
    `  name: ${JSON.stringify(name)}`,
    ...(namespace === "" ? [] : [`  namespace: ${JSON.stringify(namespace)}`]),
    "rules:",
    ...mergeRules(rules).flatMap(({ verbs, groups, resources, names }) => [
      `- apiGroups: ${list(groups)}`,
      `  resources: ${list(resources)}`,
      ...(names === undefined ? [] : [`  resourceNames: ${list(names)}`]),
      `  verbs: ${list(verbs)}`,
    ]),
    "",
  ].join("\n");
}

/** Joins one member in rules that are equal in `keyOf`. */
function joined(
  rules: readonly AccessRule[],
  keyOf: (rule: AccessRule) => unknown,
  member: "verbs" | "resources",
): AccessRule[] {
  const groups = Map.groupBy(rules, (rule) => JSON.stringify(keyOf(rule)));
  return Array.from(groups.values(), (same) => ({
    ...same[0],
    [member]: [...new Set(same.flatMap((rule) => rule[member]))].sort(),
  }));
}
