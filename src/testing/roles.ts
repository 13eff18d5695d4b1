/**
 * Tests that an RBAC manifest grants every permission that a program uses.
 *
 * Import this module in a test: {@linkcode assertAccess} fails if your `Role` or `ClusterRole` lacks a permission, and
 * prints the missing rules. It is separate from `./testing` because it needs a YAML parser, without which `./testing`
 * is imported faster.
 *
 * Read the guide: [Permissions](../../docs/operations/permissions.md).
 *
 * @example
 * ```ts
 * import { accessUsed, Client, SharedIndexInformer } from "@kube/informer";
 * import { Pod } from "@kube/informer/kinds/core/v1";
 * import { FakeApiServer } from "@kube/informer/testing";
 * import { assertAccess } from "@kube/informer/testing/roles";
 *
 * const manifest = `
 * apiVersion: rbac.authorization.k8s.io/v1
 * kind: ClusterRole
 * metadata: { name: pod-reader }
 * rules: [{ apiGroups: [""], resources: [pods], verbs: [list, watch] }]
 * `; // or: await Deno.readTextFile("deploy.yaml")
 *
 * using client = new Client({ server: "http://fake", transport: new FakeApiServer() });
 * await using pods = new SharedIndexInformer(client.resource(Pod));
 * pods.run();
 * await pods.waitForCacheSync();
 * assertAccess(accessUsed(client), manifest);
 * ```
 *
 * @module
 */
import { type PlacedRule, rolesYaml, ruleGrants } from "../engine/api/roles.ts";
import { readYaml } from "../host/connect/kubeconfig/yaml.ts";
import type { ClusterRole, PolicyRule, Role } from "../engine/kinds/rbac/v1.ts";

/** A rule in a role, and the namespace in which it applies: `"*"` for any namespace, `""` for the entire cluster. */
interface GrantedRule extends PolicyRule {
  readonly namespace: string;
}

/**
 * Fails if a program has used a permission that a manifest does not grant. Call it at the end of a test in which the
 * program did everything that it can do, and pass the result of `accessUsed(client)`.
 *
 * The manifest is YAML with one or more documents:
 *
 * - A `ClusterRole` counts for the entire cluster, and a `Role` for its namespace. A `Role` without a namespace counts
 *   for any one namespace.
 * - `*` matches like on the server.
 * - Bindings and other documents are ignored.
 *
 * @throws {Error} if a permission is missing. The message lists the missing rules as YAML.
 * @throws {TypeError} if the manifest has no role, or a role without a list of rules.
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

/** Splits a rule into rules with one verb, group, resource and name each. */
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

function grants(
  granted: GrantedRule,
  { verbs: [verb], groups: [group], resources: [resource], names: [name] = [], namespace }: PlacedRule,
): boolean {
  return ruleGrants(granted, { verb, group, resource, name }) &&
    (granted.namespace === "" || granted.namespace === namespace || (granted.namespace === "*" && namespace !== ""));
}

function rulesOf(manifest: string): GrantedRule[] {
  const documents = readYaml(manifest) as (Partial<Role | ClusterRole> | null | undefined)[];
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
