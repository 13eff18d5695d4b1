/**
 * Rules of access, and the roles that grant them, as YAML.
 *
 * {@linkcode rolesYaml} is the entry point. Which rules a program needs is noted by its
 * client, see `accessUsed()`.
 *
 * @module
 */
import { checkNames } from "../errors/option_names.ts";

/**
 * Requests that a client may send: each of the verbs, on each of the resources, in each of the groups (`PolicyRule`).
 */
export interface AccessRule {
  /** The verbs: `["list", "watch"]`. */
  readonly verbs: readonly string[];
  /** The API groups, `""` for the core group. */
  readonly groups: readonly string[];
  /** The plurals, `["pods"]`, or subresources, `["pods/status"]`. */
  readonly resources: readonly string[];
  /** The names of the objects that the rule is about. @default {all} */
  readonly names?: readonly string[];
}

/** An {@linkcode AccessRule} in a namespace. */
export interface PlacedRule extends AccessRule {
  /** The namespace; `""` for all namespaces, and for cluster-scoped resources. */
  readonly namespace: string;
}

/** Options for {@linkcode rolesYaml}. */
export interface RolesOptions {
  /** The name of the roles. */
  readonly name: string;
  /** True to restrict rules to the names that they have. @default {false} */
  readonly names?: boolean;
}

/**
 * Returns rules that allow the same, in fewer lines: verbs of the same resources are joined, then resources of one
 * group with the same verbs. Verbs and resources are sorted; rules keep the order in which their groups occur first.
 */
export function mergeRules(rules: readonly AccessRule[]): AccessRule[] {
  const single = rules.flatMap(({ verbs, groups, resources, names }) =>
    groups.flatMap((group) => resources.map((resource) => ({ verbs, groups: [group], resources: [resource], names })))
  );
  const byResource = joined(single, ({ groups, resources, names }) => [groups, resources, names], "verbs");
  return joined(byResource, ({ verbs, groups, names }) => [groups, verbs, names], "resources");
}

/**
 * Returns a role for each namespace of the rules as YAML documents: first a `ClusterRole` for the rules without a
 * namespace, then a `Role` for each namespace in alphabetical order. All have the same name. Without rules it returns
 * `""`.
 *
 * Beside `watch` it grants `list`, which an informer needs where the server cannot stream lists or a version has
 * expired. The names of objects are left out, since those that a test has used are rarely those of a cluster, unless
 * `names` is set; those of users to impersonate stay, since the right to be any user is that of an administrator.
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

/** Joins one member of the rules that are equal in `keyOf`. */
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
