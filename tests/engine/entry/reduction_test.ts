import { assertEquals } from "@std/assert";
import { FieldTree } from "../../../src/engine/api/fields.ts";
import { pickFields } from "../../../src/engine/entry/reduction.ts";

Deno.test("pickFields keeps identity and named fields, through arrays, and null", () => {
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "a", labels: { app: "web" }, annotations: { "a.b/c": "1", d: "2" }, generation: 3 },
    spec: { nodeName: "n1", containers: [{ name: "x", image: "i" }, { name: "y" }, 7, null] },
    status: null,
  };
  const fields = ['metadata.annotations["a.b/c"]', "spec.containers.image", "status.phase", "spec.nodeName.x"];
  assertEquals<unknown>(pickFields(pod, FieldTree.of(fields)), {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "a", annotations: { "a.b/c": "1" }, generation: 3 },
    spec: { containers: [{ image: "i" }, {}, null, null] },
    status: null,
  });
});

Deno.test("pickFields keeps all of a field whose path begins another path", () => {
  const tree = FieldTree.of(["spec.a.b", "spec", "spec.c", "spec"]);
  assertEquals<unknown>(pickFields({ spec: { a: { b: 1, d: 2 }, c: 3 } }, tree), { spec: { a: { b: 1, d: 2 }, c: 3 } });
});

Deno.test("pickFields treats __proto__ as any other key", () => {
  const object = JSON.parse(`{"spec":{"__proto__":{"a":1,"b":2}}}`);
  const picked = pickFields(object, FieldTree.of(["spec.__proto__.a"]));
  assertEquals(JSON.stringify(picked), `{"spec":{"__proto__":{"a":1}}}`);
});
