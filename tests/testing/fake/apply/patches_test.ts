import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { StatusError } from "../../../../src/engine/api/status.ts";
import { applyPatch as applyTo, mergePatch } from "../../../../src/testing/fake/apply/patches.ts";
import { schemaOf } from "../../../../src/testing/fake/schema/schema.ts";
import type { Json, JsonObject } from "../../../../src/engine/api/json.ts";
import { FakeApiServer } from "../../../../src/testing/mod.ts";
import { ask, ConfigMap, MAPS, patch, Pod, Widget } from "../../../support/servers/fake_server.ts";

const POD = schemaOf("", "v1", "Pod")!;

/** Patches a pod. */
function applyPatch(object: JsonObject, patch: Json, type: "json" | "merge" | "strategic"): JsonObject {
  return applyTo(object, patch, type, POD);
}

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
  const operations: readonly Json[] = [
    { op: "test", path: "/a", value: 2 },
    { op: "remove", path: "/b" },
    { op: "remove", path: "" },
    { op: "add", path: "/b/c", value: 1 },
    { op: "add", path: "/list/7", value: 1 },
    { op: "add", path: "/list/-3", value: 1 },
    { op: "add", path: "a", value: 1 },
    { op: "move", from: "/b", path: "/c" },
    { op: "turn", path: "/a" },
    { op: "add" },
    null,
  ];
  for (const operation of operations) {
    const error = assertThrows(() => applyPatch({ a: 1, list: [1] }, [operation], "json"), StatusError);
    assertEquals([error.status.code, error.status.details], [422, {}]);
  }
  const cannot = "json: cannot unmarshal";
  assertThrows(() => applyPatch({}, {}, "json"), StatusError, `${cannot} object into Go value of type []handlers`);
  assertThrows(() => applyPatch({}, ["x"], "json"), StatusError, `${cannot} string into Go value of type handlers`);
  assertThrows(() => applyPatch({}, [], "merge"), StatusError, `${cannot} array into Go value of type map[string]`);
});

Deno.test("applyPatch replaces absent members, and counts indices from the end", () => {
  const patched = applyPatch({ list: [1, 2, 3] }, [
    { op: "replace", path: "/new", value: 1 },
    { op: "remove", path: "/list/-1" },
    { op: "add", path: "/list/-1", value: 4 },
  ], "json");
  assertEquals(patched, { list: [1, 2, 4], new: 1 });
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
  const cases: [path: string, value: Json][] = [
    ["/metadata/name", null],
    ["/metadata/labels", "a"],
    ["/data/k", null],
    ["/list/1", null],
    ["/metadata/name/first", null],
  ];
  for (const [path, value] of cases) {
    const error = assertThrows(() => applyPatch(object, [{ op: "test", path, value }], "json"), StatusError);
    assertEquals(error.status.code, 422);
  }
});

Deno.test("applyPatch merges lists by the keys of their schema in a strategic merge", () => {
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
      "$setElementOrder/containers": [{ name: "extra" }, { name: "app" }],
      containers: [
        { name: "extra", image: "extra:1" },
        { name: "app", image: "app:2", env: [{ name: "B", value: "2" }, { name: "A", value: "3" }], args: ["z"] },
        { name: "proxy", $patch: "delete" },
      ],
      tolerations: [{ key: "other" }],
    },
  }, "strategic");
  assertEquals(patched, {
    metadata: { finalizers: ["b", "a"] },
    spec: {
      containers: [
        { name: "extra", image: "extra:1" },
        { name: "app", image: "app:2", env: [{ name: "B", value: "2" }, { name: "A", value: "3" }], args: ["z"] },
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

Deno.test("applyPatch replaces lists without a merge key: taints of nodes, pull secrets of service accounts", () => {
  const node = { spec: { taints: [{ key: "a", effect: "NoSchedule" }, { key: "b", effect: "NoSchedule" }] } };
  const taints = { spec: { taints: [{ key: "b", effect: "NoExecute" }] } };
  assertEquals(applyTo(node, taints, "strategic", schemaOf("", "v1", "Node")!), taints);
  const secrets = { imagePullSecrets: [{ name: "b" }] };
  const account = schemaOf("", "v1", "ServiceAccount")!;
  assertEquals(applyTo({ imagePullSecrets: [{ name: "a" }] }, secrets, "strategic", account), secrets);
});

Deno.test("applyPatch puts new elements first, and keeps the order of $setElementOrder", () => {
  const pod = { spec: { volumes: [{ name: "a" }, { name: "b" }, { name: "c" }] } };
  const names = (spec: JsonObject): unknown =>
    (applyPatch(pod, { spec }, "strategic").spec as { volumes: { name: string }[] }).volumes.map(({ name }) => name);
  assertEquals(names({ volumes: [{ name: "d" }] }), ["d", "a", "b", "c"]);
  assertEquals(names({ "$setElementOrder/volumes": [{ name: "c" }, { name: "a" }] }), ["b", "c", "a"]);
});

Deno.test("applyPatch keeps the members that $retainKeys lists", () => {
  const deployment = schemaOf("apps", "v1", "Deployment")!;
  const object = { spec: { strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1 } } } };
  const retain = (strategy: JsonObject): JsonObject => applyTo(object, { spec: { strategy } }, "strategic", deployment);
  assertEquals(retain({ $retainKeys: ["type"], type: "Recreate" }), { spec: { strategy: { type: "Recreate" } } });
  assertThrows(() => retain({ $retainKeys: [], type: "Recreate" }), StatusError, "invalid patch format of retainKeys");
});

Deno.test("applyPatch refuses strategic merges that do not fit the schema as kube-apiserver does", () => {
  const pod = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "a" }] } };
  const cases: [patch: JsonObject, code: number, message: string][] = [
    [{ spec: { containers: [{ image: "x" }] } }, 500, "map: map[image:x] does not contain declared merge key: name"],
    [{ metadata: { $patch: "odd" } }, 500, "unknown patch type: odd in map: map[$patch:odd]"],
    [
      { spec: { containers: [{ name: "a", $patch: "merge" }] } },
      500,
      "merging lists cannot yet be specified in the patch",
    ],
    [{ spec: { containers: ["x"] } }, 500, "list element types are not identical: [[map[name:a]] [x]]"],
    [
      { spec: { "$setElementOrder/foo": [{ name: "a" }] } },
      500,
      'unable to find api field in struct PodSpec for the json field "foo"',
    ],
  ];
  for (const [patch, code, message] of cases) {
    const error = assertThrows(() => applyPatch(pod, patch, "strategic"), StatusError);
    assertEquals([error.status.code, error.message], [code, message]);
  }
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
  const images = strategic.json.spec.containers.map(({ name, image }: Record<string, string>) => [name, image]);
  assertEquals(images, [["a", "1"], ["b", "2"]]);
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
  assertEquals(
    json.message,
    "the body of the request was in an unknown format - accepted media types include: " +
      "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
  );
  assertEquals((await patch(server, path, "merge-patch", { spec: { size: 2 } })).json.spec, { size: 2 });
});

Deno.test("FakeApiServer creates and merges applied objects, and requires a field manager", async () => {
  const server = new FakeApiServer();
  const path = `${MAPS}/map-0`;
  const config = (data: JsonObject): JsonObject => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "map-0" },
    data,
  });
  const nobody = await patch(server, path, "apply", config({ a: "1" }));
  assertEquals([nobody.status, nobody.json.reason], [422, "Invalid"]);
  const created = await patch(server, `${path}?fieldManager=me`, "apply", config({ a: "1" }));
  assertEquals([created.status, created.json.metadata.name], [201, "map-0"]);
  const [entry] = created.json.metadata.managedFields;
  assertEquals([entry.manager, entry.operation, entry.fieldsV1], ["me", "Apply", { "f:data": { "f:a": {} } }]);
  const merged = await patch(server, `${path}?fieldManager=you`, "apply", config({ b: "2" }));
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
