import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { StatusError } from "../../../src/api/status.ts";
import { FakeApiServer } from "../../../src/testing/mod.ts";
import { applyPatch, mergePatch } from "../../../src/testing/patches/patches.ts";
import { ask, ConfigMap, MAPS, patch, Pod, Widget } from "../../support/fake_server.ts";

Deno.test("mergePatch follows the examples of RFC 7386", () => {
  const cases: [target: string, patch: string, result: string][] = [
    ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
    ['{"a":"b"}', '{"a":null}', "{}"],
    ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
    ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
    ['["a","b"]', '["c","d"]', '["c","d"]'],
    ['{"a":"foo"}', "null", "null"],
    ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
    ["[1,2]", '{"a":"b","c":null}', '{"a":"b"}'],
    ["{}", '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
  ];
  for (const [target, patch, result] of cases) {
    assertEquals(JSON.stringify(mergePatch(JSON.parse(target), JSON.parse(patch))), result);
  }
});

Deno.test("applyPatch performs the operations of RFC 6902", () => {
  const object = { metadata: { labels: { "a/b": "1", "m~n": "2" } }, list: [1, 2, 3] };
  const before = JSON.stringify(object);
  const patched = applyPatch(object, [
    { op: "test", path: "/metadata/labels/a~1b", value: "1" },
    { op: "replace", path: "/metadata/labels/m~0n", value: "3" },
    { op: "add", path: "/list/1", value: 9 },
    { op: "add", path: "/list/-", value: 4 },
    { op: "remove", path: "/list/0" },
    { op: "copy", from: "/list/0", path: "/copied" },
    { op: "move", from: "/metadata/labels", path: "/moved" },
  ], "json");
  assertEquals(patched, { metadata: {}, list: [9, 2, 3, 4], copied: 9, moved: { "a/b": "1", "m~n": "3" } });
  assertEquals(JSON.stringify(object), before);
});

Deno.test("applyPatch refuses operations that do not apply", () => {
  const cases: [operation: unknown, message: RegExp][] = [
    [{ op: "test", path: "/a", value: 2 }, /testing value \/a failed/],
    [{ op: "remove", path: "/b" }, /doc is missing path: \/b/],
    [{ op: "replace", path: "/b", value: 1 }, /doc is missing path: \/b/],
    [{ op: "add", path: "/b/c", value: 1 }, /doc is missing path: \/b/],
    [{ op: "add", path: "/list/7", value: 1 }, /doc is missing path: \/list\/7/],
    [{ op: "add", path: "a", value: 1 }, /does not begin with a slash/],
    [{ op: "turn", path: "/a" }, /unexpected operation "turn"/],
    [{ op: "add" }, /has no path/],
  ];
  for (const [operation, message] of cases) {
    const error = assertThrows(() => applyPatch({ a: 1, list: [] }, [operation], "json"), StatusError);
    assertEquals(error.status.code, 422);
    assertMatch(error.status.details!.causes![0].message!, message);
  }
  for (const patch of [{}, [null], ["x"]]) {
    assertThrows(() => applyPatch({}, patch, "json"), StatusError, "must be a list of operations");
  }
  assertThrows(() => applyPatch({}, [], "merge"), StatusError, "must be a JSON object");
});

Deno.test("applyPatch takes an absent member of an object as null in a test, and no other path that leads nowhere", () => {
  const object = { metadata: { name: "x" }, list: [1] };
  const value = ["example.com/hold"];
  const added = applyPatch(object, [
    { op: "test", path: "/metadata/finalizers", value: null },
    { op: "test", path: "/data" },
    { op: "add", path: "/metadata/finalizers", value },
  ], "json");
  assertEquals(added, { metadata: { name: "x", finalizers: value }, list: [1] });
  const cases: [path: string, value: unknown, message: RegExp][] = [
    ["/metadata/name", null, /testing value \/metadata\/name failed/],
    ["/metadata/labels", "a", /testing value \/metadata\/labels failed/],
    ["/data/k", null, /doc is missing path: \/data/],
    ["/list/1", null, /doc is missing path: \/list\/1/],
    ["/metadata/name/first", null, /doc is missing path: \/metadata\/name\/first/],
  ];
  for (const [path, value, message] of cases) {
    const error = assertThrows(() => applyPatch(object, [{ op: "test", path, value }], "json"), StatusError);
    assertMatch(error.status.details!.causes![0].message!, message);
  }
});

Deno.test("applyPatch merges known lists by their keys in a strategic merge", () => {
  const object = {
    metadata: { finalizers: ["a"] },
    spec: {
      containers: [
        { name: "app", image: "app:1", env: [{ name: "A", value: "1" }], args: ["x", "y"] },
        { name: "proxy", image: "proxy:1" },
      ],
      tolerations: [{ key: "k" }],
    },
  };
  const patched = applyPatch(object, {
    metadata: { finalizers: ["b", "a"] },
    spec: {
      "$setElementOrder/containers": [{ name: "app" }],
      containers: [
        { name: "app", image: "app:2", env: [{ name: "B", value: "2" }, { name: "A", value: "3" }], args: ["z"] },
        { name: "proxy", $patch: "delete" },
        { name: "extra", image: "extra:1" },
      ],
      tolerations: [{ key: "other" }],
    },
  }, "strategic");
  assertEquals(patched, {
    metadata: { finalizers: ["a", "b"] },
    spec: {
      containers: [
        { name: "app", image: "app:2", env: [{ name: "A", value: "3" }, { name: "B", value: "2" }], args: ["z"] },
        { name: "extra", image: "extra:1" },
      ],
      tolerations: [{ key: "other" }],
    },
  });
  const removed = applyPatch(object, { metadata: { "$deleteFromPrimitiveList/finalizers": ["a"] } }, "strategic");
  assertEquals(removed.metadata, { finalizers: [] });
  const replaced = applyPatch(object, { spec: { containers: [{ $patch: "replace" }, { name: "one" }] } }, "strategic");
  assertEquals((replaced.spec as { containers: unknown }).containers, [{ name: "one" }]);
  assertEquals(applyPatch(object, { spec: { $patch: "replace", x: 1 } }, "strategic").spec, { x: 1 });
});

Deno.test("FakeApiServer patches over HTTP, and takes a version in a patch as a precondition", async () => {
  const server = new FakeApiServer();
  server.create(Pod, {
    metadata: { namespace: "answers", name: "p" },
    spec: { containers: [{ name: "a", image: "1" }, { name: "b", image: "1" }] },
  });
  const path = "/api/v1/namespaces/answers/pods/p";
  const strategic = await patch(server, path, "strategic-merge-patch", {
    spec: { containers: [{ name: "b", image: "2" }] },
  });
  assertEquals(strategic.json.spec.containers, [{ name: "a", image: "1" }, { name: "b", image: "2" }]);
  assertEquals(strategic.json.metadata.generation, 2);
  const json = await patch(server, path, "json-patch", [{ op: "add", path: "/metadata/labels", value: { a: "b" } }]);
  assertEquals([json.status, json.json.metadata.labels], [200, { a: "b" }]);
  const stale = await patch(server, path, "merge-patch", { metadata: { resourceVersion: "2", labels: { a: "c" } } });
  assertEquals([stale.status, stale.json.reason], [409, "Conflict"]);
  const current = await patch(server, path, "merge-patch", { metadata: { resourceVersion: "4", labels: { a: "c" } } });
  assertEquals([current.status, current.json.metadata.resourceVersion], [200, "5"]);
  assertEquals((await patch(server, path, "merge-patch", { metadata: { name: "q" } })).status, 400);
  assertEquals((await patch(server, `${path}x`, "merge-patch", {})).status, 404);
  assertEquals((await patch(server, path, "odd-patch", {})).status, 415);
  const status = await patch(server, path, "merge-patch", { status: { phase: "Failed" } });
  assertEquals([status.json.status.phase, server.resourceVersion], ["Pending", "5"]);
});

Deno.test("FakeApiServer does not merge custom resources strategically", async () => {
  const server = new FakeApiServer();
  server.create(Widget, { metadata: { namespace: "answers", name: "w" }, spec: { size: 1 } });
  const path = "/apis/example.com/v1/namespaces/answers/widgets/w";
  const { status, json } = await patch(server, path, "strategic-merge-patch", {});
  assertEquals([status, json.reason], [415, "UnsupportedMediaType"]);
  assertEquals((await patch(server, path, "merge-patch", { spec: { size: 2 } })).json.spec, { size: 2 });
});

Deno.test("FakeApiServer creates and merges applied objects, and requires a field manager", async () => {
  const server = new FakeApiServer();
  const path = `${MAPS}/map-0`;
  const nobody = await patch(server, path, "apply", { data: { a: "1" } });
  assertEquals([nobody.status, nobody.json.reason], [422, "Invalid"]);
  const created = await patch(server, `${path}?fieldManager=me`, "apply", {
    apiVersion: "v1",
    kind: "ConfigMap",
    data: { a: "1" },
  });
  assertEquals([created.status, created.json.metadata.name], [201, "map-0"]);
  const [entry] = created.json.metadata.managedFields;
  assertEquals([entry.manager, entry.operation, entry.fieldsV1], ["me", "Apply", { "f:data": { "f:a": {} } }]);
  const merged = await patch(server, `${path}?fieldManager=you`, "apply", { data: { b: "2" } });
  assertEquals([merged.status, merged.json.data], [200, { a: "1", b: "2" }]);
  assertEquals(server.list(ConfigMap).length, 1);
});

Deno.test("FakeApiServer keeps members called __proto__ as data", async () => {
  const server = new FakeApiServer();
  const created = await ask(server, MAPS, {
    method: "POST",
    body: '{"metadata":{"name":"p"},"data":{"__proto__":"x"}}',
  });
  assertEquals(created.status, 201);
  const patched = await patch(server, `${MAPS}/p`, "merge-patch", '{"data":{"__proto__":"y","z":"1"}}');
  assertMatch(patched.text, /"data":\{"__proto__":"y","z":"1"\}/);
});
