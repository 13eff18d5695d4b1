import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { Client } from "../../../src/client/client.ts";
import { isExpired, StatusError } from "../../../src/api/status.ts";
import { defineResource } from "../../../src/api/resource.ts";
import { FakeApiServer } from "../../../src/testing/mod.ts";
import { ask, brief, Lines, OPEN_SCHEMA, Widget } from "../../support/fake_server.ts";

const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const schema = OPEN_SCHEMA;
const WIDGETS = "/apis/example.com/v1/namespaces/answers/widgets";

function definition(overrides: Record<string, unknown> = {}): unknown {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "widgets.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "widgets", kind: "Widget", shortNames: ["wd"] },
      versions: [{ name: "v1", served: true, storage: true, schema, selectableFields: [{ jsonPath: ".spec.size" }] }],
      ...overrides,
    },
  };
}

Deno.test("FakeApiServer serves the resource that a CustomResourceDefinition defines", async () => {
  const server = new FakeApiServer();
  assertEquals((await ask(server, WIDGETS)).status, 404);
  const created = await ask(server, CRDS, { method: "POST", body: definition() });
  assertEquals(created.status, 201);
  assertEquals(
    created.json.status.conditions.map((condition: Record<string, unknown>) => [condition.type, condition.status]),
    [["NamesAccepted", "True"], ["Established", "True"]],
  );
  assertEquals(created.json.status.acceptedNames.listKind, "WidgetList");
  for (const size of [1, 2]) {
    const { status } = await ask(server, WIDGETS, {
      method: "POST",
      body: { metadata: { name: `w-${size}` }, spec: { size } },
    });
    assertEquals(status, 201);
  }
  const selected = await ask(server, `${WIDGETS}?fieldSelector=spec.size%3D2`);
  assertEquals(selected.json.items.map((item: typeof Widget & { metadata: { name: string } }) => item.metadata.name), [
    "w-2",
  ]);
  assertEquals((await ask(server, `${WIDGETS}?fieldSelector=spec.colour%3D2`)).status, 400);
  const [resource] = (await ask(server, "/apis/example.com/v1")).json.resources;
  assertEquals([resource.name, resource.shortNames], ["widgets", ["wd"]]);
  // Without the subresource there is no path for it, and the status is a member like others.
  assertEquals((await ask(server, `${WIDGETS}/w-1/status`)).status, 404);
  const withStatus = await ask(server, WIDGETS, {
    method: "POST",
    body: { metadata: { name: "w-3" }, status: { ok: true } },
  });
  assertEquals(withStatus.json.status, { ok: true });
});

Deno.test("FakeApiServer deletes the objects of a deleted definition, ends its watches and answers 404", async () => {
  const server = new FakeApiServer();
  await ask(server, CRDS, { method: "POST", body: definition() });
  for (const name of ["a", "b"]) server.create(Widget, { metadata: { namespace: "answers", name }, spec: { size: 1 } });
  const query = "watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan";
  await using watch = await Lines.open(server, `${WIDGETS}?${query}`);
  await using definitions = await Lines.open(server, `${CRDS}?watch=1&resourceVersion=4`);
  const first = await watch.take(3);
  assertEquals(first.map(brief), ["ADDED a@3", "ADDED b@4", "BOOKMARK @4"]);
  assertEquals(
    JSON.stringify(first[2]),
    '{"type":"BOOKMARK","object":{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"annotations":' +
      '{"k8s.io/initial-events-end":"true"},"resourceVersion":"4"}}}',
  );
  assertEquals(Object.keys(first[0].object), ["apiVersion", "kind", "metadata", "spec"]);
  assertEquals((await ask(server, `${CRDS}/widgets.example.com`, { method: "DELETE" })).status, 200);
  assertEquals((await watch.all()).map(brief), ["DELETED a@5", "DELETED b@6"]);
  assertEquals(brief(await definitions.next()), "DELETED widgets.example.com@7");
  assertEquals(server.watches, 1);
  for (const path of [WIDGETS, `${WIDGETS}?watch=1`, "/apis/example.com/v1"]) {
    const { status, text } = await ask(server, path);
    assertEquals([status, text], [404, "404 page not found\n"]);
  }
  // Defined again, it begins empty, and a watch resumes at the version of the definition.
  await ask(server, CRDS, { method: "POST", body: definition() });
  assertEquals((await ask(server, WIDGETS)).json.items, []);
  await using anew = await Lines.open(server, `${WIDGETS}?watch=1&resourceVersion=8`);
  server.create(Widget, { metadata: { namespace: "answers", name: "a" } });
  assertEquals(brief(await anew.next()), "ADDED a@9");
});

Deno.test("FakeApiServer follows a definition that changes its versions", async () => {
  const server = new FakeApiServer();
  const { metadata } = (await ask(server, CRDS, { method: "POST", body: definition() })).json;
  server.create(Widget, { metadata: { namespace: "answers", name: "a" } });
  const blind = definition({ versions: [{ name: "v2", served: true, storage: true }] });
  assertEquals((await ask(server, `${CRDS}/widgets.example.com`, { method: "PUT", body: blind })).status, 422);

  const body = {
    ...definition({ versions: [{ name: "v2", served: true, storage: true, schema }] }) as object,
    metadata,
  };
  assertEquals((await ask(server, `${CRDS}/widgets.example.com`, { method: "PUT", body })).status, 200);
  assertEquals((await ask(server, WIDGETS)).status, 404);
  assertEquals((await ask(server, WIDGETS.replace("v1", "v2"))).json.apiVersion, "example.com/v2");
});

Deno.test("FakeApiServer serves resources that a test defines, with members in the order of their group", async () => {
  const server = new FakeApiServer();
  const Gate = defineResource({
    group: "gateway.networking.k8s.io",
    version: "v1",
    plural: "gateways",
    kind: "Gateway",
  });
  const Class = defineResource({
    group: "node.k8s.io",
    version: "v1",
    plural: "runtimeclasses",
    kind: "RuntimeClass",
    scope: "Cluster",
  });
  server.create(Gate, { metadata: { name: "g" } });
  server.create(Class, { metadata: { name: "c" } });
  const custom = await ask(server, "/apis/gateway.networking.k8s.io/v1/gateways");
  assertEquals(Object.keys(custom.json), ["apiVersion", "items", "kind", "metadata"]);
  const builtIn = await ask(server, "/apis/node.k8s.io/v1/runtimeclasses");
  assertEquals(Object.keys(builtIn.json), ["kind", "apiVersion", "metadata", "items"]);
  assertEquals(builtIn.json.items[0].metadata.namespace, undefined);
  assertThrows(() => server.delete(Widget, "w"), StatusError, 'Cannot delete widgets.example.com "w"');
  assertEquals((await ask(server, WIDGETS)).status, 404);
  server.undefine(Gate);
  assertEquals(server.list(Gate), []);
  assertEquals((await ask(server, "/apis/gateway.networking.k8s.io/v1/gateways")).status, 404);
});

Deno.test("FakeApiServer sorts the members of custom resources around metadata, in any alphabet", async () => {
  const server = new FakeApiServer();
  server.create(
    Widget,
    { metadata: { name: "w", labels: { a: "ä" } }, data: "日本", zone: { b: 1, a: [{ z: 1, y: 2 }] } } as never,
  );
  const { text } = await ask(server, "/apis/example.com/v1/namespaces/default/widgets/w");
  assertEquals(
    text.replace(/"metadata":\{.*\},"zone"/, '"metadata":…,"zone"'),
    '{"apiVersion":"example.com/v1","data":"日本","kind":"Widget","metadata":…,"zone":{"a":[{"y":2,"z":1}],"b":1}}\n',
  );
  const accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
  const partial = await ask(server, "/apis/example.com/v1/namespaces/default/widgets/w", { headers: { accept } });
  assertEquals([partial.json.metadata.labels, partial.json.metadata.name], [{ a: "ä" }, "w"]);
});

Deno.test("FakeApiServer expires the versions from before the definition of a kind", async () => {
  using server = new FakeApiServer();
  using client = new Client({ server: "http://fake", transport: server });
  const { metadata: { resourceVersion } } = server.create(Widget, { metadata: { name: "w" } } as never);
  server.undefine(Widget);
  server.create(Widget, { metadata: { name: "x" } } as never);
  const watchFrom = async (resourceVersion: string): Promise<string> => {
    for await (const { type } of client.resource(Widget).watch({ resourceVersion, timeoutSeconds: 1 })) return type;
    return "nothing";
  };
  assert(isExpired(await assertRejects(() => watchFrom(resourceVersion))));
  assertEquals(await watchFrom(String(Number(server.resourceVersion) - 1)), "ADDED");
});
