import { assertThrows } from "@std/assert";
import type { PlacedRule } from "../../src/engine/api/roles.ts";
import { assertAccess } from "../../src/testing/roles.ts";

const used = (verb: string, resource: string, namespace: string, names?: string[], group = ""): PlacedRule[] => [
  { verbs: [verb], groups: [group], resources: [resource], namespace, ...(names === undefined ? {} : { names }) },
];

const role = (kind: string, rule: string, metadata = "{ name: r, namespace: shop }"): string =>
  `kind: ServiceAccount\n---\nkind: ${kind}\nmetadata: ${metadata}\nrules: [${rule}]\n---\n`;

const PODS = `{ apiGroups: [""], resources: [pods], verbs: [list] }`;

Deno.test("assertAccess passes what a Role or ClusterRole grants, wildcards as on the server", () => {
  assertAccess(used("list", "pods", "shop"), role("Role", PODS));
  assertAccess(used("list", "pods", "bank"), role("ClusterRole", PODS));
  assertAccess(used("list", "pods", ""), role("ClusterRole", PODS));
  assertAccess(used("list", "pods", "any"), role("Role", PODS, "{ name: r }"));
  assertAccess(
    used("patch", "deployments/scale", "shop", ["a"], "apps"),
    role("Role", `{ apiGroups: ["*"], resources: ["*/scale"], verbs: ["*"] }`),
  );
  assertAccess(used("get", "x/y", "shop"), role("Role", `{ apiGroups: [""], resources: ["*"], verbs: [get] }`));
  const named = `{ apiGroups: [""], resources: [leases], resourceNames: [a, b], verbs: [get] }`;
  assertAccess(used("get", "leases", "shop", ["a", "b"]), role("Role", named));
  assertAccess(used("get", "pods", "shop", ["a"]), role("Role", PODS.replace("list", "get")));
});

Deno.test("assertAccess fails for another verb, resource, group, namespace or name, and lists the missing rules", () => {
  const named = `{ apiGroups: [""], resources: [leases], resourceNames: [a], verbs: [get] }`;
  for (
    const [rules, manifest, missing] of [
      [used("watch", "pods", "shop"), role("Role", PODS), `verbs: ["list", "watch"]`],
      [used("list", "pods/status", "shop"), role("Role", PODS), `resources: ["pods/status"]`],
      [used("list", "pods", "shop", undefined, "x"), role("Role", PODS), `apiGroups: ["x"]`],
      [used("list", "pods", "bank"), role("Role", PODS), `namespace: "bank"`],
      [used("list", "pods", ""), role("Role", PODS), `kind: ClusterRole`],
      [used("list", "pods", ""), role("Role", PODS, "{ name: r }"), `kind: ClusterRole`],
      [used("get", "leases", "shop", ["a", "b"]), role("Role", named), `resourceNames: ["b"]`],
      [used("get", "leases", "shop"), role("Role", named), `resources: ["leases"]`],
    ] as const
  ) assertThrows(() => assertAccess(rules, manifest), Error, missing);
});

Deno.test("assertAccess refuses a manifest without roles, and a role without rules", () => {
  assertThrows(() => assertAccess([], "kind: ConfigMap\n"), TypeError, "no Role and no ClusterRole");
  assertThrows(
    () => assertAccess([], "kind: Role\nmetadata: { name: r }\n"),
    TypeError,
    `Role "r" has no list of rules`,
  );
});
