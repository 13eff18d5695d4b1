import { type AccessRule, roleYaml } from "../../api/access_rule.ts";
import type { Resource } from "../../api/resource.ts";
import type { Terminal } from "../terminal/terminal.ts";

const NAME = "informer";

/**
 * Prints the roles that informers on these resources need, as YAML: a Role in the namespace, and a ClusterRole for
 * cluster-scoped resources and where there is no namespace.
 */
export function printRoles(resources: readonly Resource[], namespace: string | undefined, terminal: Terminal): void {
  const inNamespace = ({ scope }: Resource): boolean => namespace !== undefined && scope === "Namespaced";
  const rules = (resources: readonly Resource[]): AccessRule[] =>
    resources.map(({ group, plural }) => ({ verbs: ["list", "watch"], groups: [group], resources: [plural] }));
  const cluster = resources.filter((resource) => !inNamespace(resource));
  const namespaced = resources.filter(inNamespace);
  const roles = [
    ...(cluster.length === 0 ? [] : [roleYaml(rules(cluster), { name: NAME })]),
    ...(namespaced.length === 0 ? [] : [roleYaml(rules(namespaced), { name: NAME, namespace })]),
  ];
  terminal.result(roles.join("---\n").trimEnd());
}
