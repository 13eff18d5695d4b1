import { assert, assertEquals } from "@std/assert";
import { Comparison, newFields } from "../../../src/testing/apply/typed.ts";
import { schemaOfKind } from "../../../src/testing/schema/open_api.ts";
import { schemaOf, structNamed } from "../../../src/testing/schema/built_in.ts";
import type { Struct } from "../../../src/testing/schema/schema.ts";
import type { JsonObject } from "../../../src/testing/wire/json.ts";
import { readDrafts } from "../../support/twin/drafts.ts";

function assertSame(object: JsonObject, schema: Struct): void {
  const empty = { apiVersion: object.apiVersion, kind: object.kind };
  const { added, modified } = new Comparison(empty, object, schema);
  assertEquals(JSON.stringify(newFields(empty, object, schema) ?? {}), JSON.stringify(modified.union(added).toJSON()));
}

Deno.test("the fields of a new object are those by which it differs from an empty one", () => {
  let count = 0;
  for (const { apiVersion, kind, custom, object, change, status } of readDrafts().kinds) {
    if (custom) continue;
    const [version, group = ""] = apiVersion.split("/").reverse();
    const schema = schemaOf(group, version, kind);
    assert(schema !== undefined, kind);
    for (const members of [object, ...change, ...status ?? []]) {
      assertSame({ ...object, ...members, apiVersion, kind }, schema);
      count++;
    }
  }
  assert(count > 100, String(count));
});

Deno.test("a null of a custom kind, and absent lists of a built-in one, count as they do in a comparison", () => {
  const rules = {
    type: "object",
    properties: {
      spec: { type: "object", properties: { note: { type: "string", nullable: true }, size: { type: "integer" } } },
    },
  };
  const custom = schemaOfKind(rules, structNamed("meta/v1.ObjectMeta"));
  const metadata = { name: "a", finalizers: [] };
  assertSame({ apiVersion: "x/v1", kind: "X", metadata, spec: { note: null, size: 0 } }, custom);
  const role = schemaOf("rbac.authorization.k8s.io", "v1", "Role")!;
  assertSame({ apiVersion: "rbac.authorization.k8s.io/v1", kind: "Role", metadata, rules: null }, role);
  assertSame({ apiVersion: "rbac.authorization.k8s.io/v1", kind: "Role", metadata, rules: [] }, role);
});
