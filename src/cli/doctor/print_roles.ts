import { type PlacedRule, rolesYaml } from "../../api/access_rule.ts";
import type { Resource } from "../../api/resource.ts";
import type { Terminal } from "../terminal/terminal.ts";

/**
 * Prints the roles that informers on these resources need, as YAML: a Role in the namespace, and a ClusterRole for
 * cluster-scoped resources and where there is no namespace.
 */
export function printRoles(resources: readonly Resource[], namespace: string | undefined, terminal: Terminal): void {
  const rules = resources.map(({ group, plural, scope }): PlacedRule => ({
    verbs: ["list", "watch"],
    groups: [group],
    resources: [plural],
    namespace: scope === "Namespaced" ? namespace ?? "" : "",
  }));
  terminal.result(rolesYaml(rules, { name: "informer" }).trimEnd());
}
