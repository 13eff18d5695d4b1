/**
 * A test of roles: a manifest grants the rights that a program uses.
 *
 * It is beside `./testing`, which is imported faster without a reader of YAML.
 *
 * @module
 */
import { loadAll } from "js-yaml";
import { type PlacedRule, rolesYaml } from "../api/roles.ts";
import type { ClusterRole, PolicyRule, Role } from "../kinds/rbac/v1.ts";

/** A rule of a role, and the namespace in which it grants; `"*"` for any namespace, `""` for the entire cluster. */
interface GrantedRule extends PolicyRule {
  readonly namespace: string;
}

/**
 * Fails when a program has used rights that a manifest does not grant: `used` is the result of `accessUsed(client)`,
 * after a test in which the program did all that it does.
 *
 * The manifest is YAML with any number of documents. A `ClusterRole` counts for the entire cluster, a `Role` for its
 * namespace, and a `Role` without a namespace for any one; bindings and other documents are passed over. `*` matches as
 * on the server.
 *
 * @throws {Error} that lists the missing rules as YAML.
 * @throws {TypeError} when the manifest has no role, or one without a list of rules.
 *
 * @example
 * ```ts
 * import { accessUsed, Client } from "@kube/informer";
 * import { Pod } from "@kube/informer/kinds/core/v1";
 * import { FakeApiServer } from "@kube/informer/testing";
 * import { assertAccess } from "@kube/informer/testing/roles";
 * import { assertThrows } from "@std/assert";
 *
 * const role = `
 * apiVersion: rbac.authorization.k8s.io/v1
 * kind: Role
 * metadata: { name: reader, namespace: shop }
 * rules: [{ apiGroups: [""], resources: [pods], verbs: [list] }]
 * `;
 * using client = new Client({ server: "http://fake", transport: new FakeApiServer() });
 * await client.resource(Pod, { namespace: "shop" }).list();
 * assertAccess(accessUsed(client), role);
 * await client.resource(Pod).list(); // of all namespaces
 * assertThrows(() => assertAccess(accessUsed(client), role), Error, "kind: ClusterRole");
 * ```
 */
export function assertAccess(used: readonly PlacedRule[], manifest: string): void {
  const granted = rulesOf(manifest);
  const missing = used.flatMap((rule) => single(rule)).filter((rule) => !granted.some((it) => grants(it, rule)));
  if (missing.length === 0) return;
  throw new Error(
    `The manifest does not grant all permissions that were used. Add these:\n` +
      rolesYaml(missing, { name: "missing", names: true }),
  );
}

/** Splits a rule into rules of one verb, group, resource and name each. */
function single({ verbs, groups, resources, names, namespace }: PlacedRule): PlacedRule[] {
  const each = names?.map((name) => [name]) ?? [undefined];
  return verbs.flatMap((verb) =>
    groups.flatMap((group) =>
      resources.flatMap((resource) =>
        each.map((names) => ({ verbs: [verb], groups: [group], resources: [resource], names, namespace }))
      )
    )
  );
}

/** As RBAC compares them on the server (`pkg/apis/rbac/v1/evaluation_helpers.go`). */
function grants(
  granted: GrantedRule,
  { verbs: [verb], groups: [group], resources: [resource], ...used }: PlacedRule,
): boolean {
  const { verbs, apiGroups = [], resources = [], resourceNames = [] } = granted;
  const [, subresource] = resource.split("/", 2);
  return [verb, "*"].some((it) => verbs.includes(it)) &&
    [group, "*"].some((it) => apiGroups.includes(it)) &&
    [resource, "*", ...(subresource === undefined ? [] : [`*/${subresource}`])].some((it) => resources.includes(it)) &&
    (resourceNames.length === 0 || (used.names !== undefined && resourceNames.includes(used.names[0]))) &&
    (granted.namespace === "" || granted.namespace === used.namespace ||
      (granted.namespace === "*" && used.namespace !== ""));
}

function rulesOf(manifest: string): GrantedRule[] {
  const documents = loadAll(manifest) as (Partial<Role | ClusterRole> | null | undefined)[];
  const roles = documents.filter((it) => it?.kind === "Role" || it?.kind === "ClusterRole") as Partial<
    Role | ClusterRole
  >[];
  if (roles.length === 0) {
    throw new TypeError("Cannot compare permissions: the manifest has no Role and no ClusterRole");
  }
  return roles.flatMap(({ kind, metadata, rules }) => {
    if (!Array.isArray(rules)) {
      throw new TypeError(`Cannot compare permissions: ${kind} ${JSON.stringify(metadata?.name)} has no list of rules`);
    }
    const namespace = kind === "ClusterRole" ? "" : metadata?.namespace ?? "*";
    return rules.map((rule: PolicyRule) => ({ ...rule, namespace }));
  });
}
