import { assertEquals } from "@std/assert";
import { type AccessRule, mergeRules, rolesYaml } from "../../../src/engine/api/roles.ts";

const rule = (verbs: string[], group: string, resource: string, names?: string[]): AccessRule => ({
  verbs,
  groups: [group],
  resources: [resource],
  ...(names === undefined ? {} : { names }),
});

Deno.test("mergeRules joins verbs of one resource, and resources of one group with the same verbs", () => {
  assertEquals<unknown>(
    mergeRules([
      rule(["watch"], "", "pods"),
      rule(["list"], "apps", "deployments"),
      rule(["list"], "", "pods"),
      rule(["watch", "list"], "", "nodes"),
      rule(["watch"], "apps", "deployments"),
      rule(["patch"], "", "pods/status"),
    ]),
    [
      { groups: [""], resources: ["nodes", "pods"], verbs: ["list", "watch"], names: undefined },
      { groups: ["apps"], resources: ["deployments"], verbs: ["list", "watch"], names: undefined },
      { groups: [""], resources: ["pods/status"], verbs: ["patch"], names: undefined },
    ],
  );
});

Deno.test("mergeRules keeps rules about named objects apart", () => {
  const rules = [
    rule(["get"], "", "secrets", ["a"]),
    rule(["get"], "", "secrets", ["b"]),
    rule(["get"], "", "secrets"),
  ];
  assertEquals(mergeRules(rules).map(({ names }) => names), [["a"], ["b"], undefined]);
});

Deno.test("rolesYaml writes a ClusterRole for rules without a namespace, and a Role for those of one", () => {
  const secrets = rule(["get"], "", "secrets", ["a"]);
  assertEquals(rolesYaml([{ ...secrets, namespace: "" }], { name: "x", names: true }).split("\n"), [
    "apiVersion: rbac.authorization.k8s.io/v1",
    "kind: ClusterRole",
    "metadata:",
    `  name: "x"`,
    "rules:",
    `- apiGroups: [""]`,
    `  resources: ["secrets"]`,
    `  resourceNames: ["a"]`,
    `  verbs: ["get"]`,
    "",
  ]);
  const placed = rolesYaml([{ ...secrets, namespace: "shop" }], { name: "x" });
  assertEquals(placed.split("\n").slice(1, 5), ["kind: Role", "metadata:", `  name: "x"`, `  namespace: "shop"`]);
});

Deno.test("rolesYaml grants list beside watch, and restricts rules to names only if asked to", () => {
  const rules = [
    { ...rule(["watch"], "", "pods", ["a"]), namespace: "shop" },
    { ...rule(["patch"], "", "pods", ["a"]), namespace: "shop" },
    { ...rule(["get"], "", "configmaps"), namespace: "shop" },
  ];
  const lines = (options: { readonly names?: boolean }): string[] =>
    rolesYaml(rules, { name: "x", ...options }).split("\n").filter((line) => /verbs|resource/.test(line));
  assertEquals(
    lines({}),
    [`  resources: ["pods"]`, `  verbs: ["list", "patch", "watch"]`, `  resources: ["configmaps"]`, `  verbs: ["get"]`],
  );
  assertEquals(
    lines({ names: true }).slice(0, 3),
    [`  resources: ["pods"]`, `  resourceNames: ["a"]`, `  verbs: ["list", "patch", "watch"]`],
  );
});
