import { assertEquals } from "@std/assert";
import { FakeApiServer } from "../../../src/testing/mod.ts";
import { type Answer, ask, ConfigMap, MAPS, patch, Widget } from "../../support/fake_server.ts";

const SERVICES = "/api/v1/namespaces/answers/services";

function put(server: FakeApiServer, path: string, body: unknown): Promise<Answer> {
  return ask(server, path, { method: "PUT", body });
}

function post(server: FakeApiServer, path: string, body: unknown): Promise<Answer> {
  return ask(server, path, { method: "POST", body });
}

function withMap(metadata: object = {}): FakeApiServer {
  const server = new FakeApiServer();
  server.create(ConfigMap, { metadata: { namespace: "answers", name: "a", ...metadata } });
  return server;
}

Deno.test("FakeApiServer checks a new object before it looks whether there is one of its name", async () => {
  const server = withMap();
  const wrong = await post(server, MAPS, { metadata: { name: "a", labels: { a: "-" } } });
  assertEquals([wrong.status, wrong.json.details.causes[0].field], [422, "metadata.labels"]);
  assertEquals((await post(server, MAPS, { metadata: { name: "a" } })).json.reason, "AlreadyExists");
  assertEquals((await post(server, `${MAPS}?dryRun=All`, { metadata: { name: "a" } })).status, 409);
});

Deno.test("A Service that is refused leaves its address and its ports to others", async () => {
  const server = new FakeApiServer();
  const service = (name: string, clusterIP: string, ports: object[]): Promise<Answer> =>
    post(server, SERVICES, { metadata: { name }, spec: { type: "NodePort", clusterIP, ports } });
  assertEquals((await service("a", "10.96.0.9", [{ port: 80 }])).status, 201);
  assertEquals((await service("a", "10.96.0.10", [{ port: 80, nodePort: 30100 }])).status, 409);
  assertEquals((await service("b", "10.96.0.10", [{ port: 80, nodePort: 1 }])).status, 422);
  assertEquals((await service("b", "10.96.0.10", [{ port: 80, nodePort: 30100 }])).status, 201);
});

Deno.test("FakeApiServer reads the body of an update before it looks for the object", async () => {
  const server = new FakeApiServer();
  assertEquals((await put(server, `${MAPS}/a`, { metadata: { name: "b" } })).status, 400);
  assertEquals((await put(server, `${MAPS}/a`, { kind: "Potato", metadata: { name: "a" } })).status, 400);
  assertEquals((await put(server, `${MAPS}/a`, { metadata: { name: "a" } })).status, 404);
});

Deno.test("A patch may take kind and apiVersion away from an object of a built-in kind, but not change them", async () => {
  const server = withMap();
  for (const body of [{ kind: "" }, { kind: null }]) {
    assertEquals((await patch(server, `${MAPS}/a`, "merge-patch", body)).status, 200);
  }
  for (const body of [{ kind: "Potato" }, { apiVersion: "v9" }, { kind: 5 }, { metadata: { labels: { a: 5 } } }]) {
    const { status, json } = await patch(server, `${MAPS}/a`, "merge-patch", body);
    assertEquals([status, json.details.causes[0].field], [422, "patch"]);
  }
  assertEquals((await patch(server, `${MAPS}/a`, "strategic-merge-patch", { kind: "Potato" })).status, 200);
  const nameless = await patch(server, `${MAPS}/a`, "merge-patch", { metadata: { name: null } });
  assertEquals(
    [nameless.status, nameless.json.message],
    [400, "the name of the object (a based on URL) was undeterminable: name must be provided"],
  );
});

Deno.test("A custom object says in its causes that a patch has changed its kind", async () => {
  const server = new FakeApiServer({ resources: [Widget] });
  const path = "/apis/example.com/v1/namespaces/default/widgets/w";
  server.create(Widget, { metadata: { name: "w" } });
  const { status, json } = await patch(server, path, "merge-patch", { kind: "Potato" });
  const cause = { reason: "FieldValueInvalid", message: 'Invalid value: "Potato": must be Widget', field: "kind" };
  assertEquals([status, json.details.causes], [422, [cause]]);
  const missing = await ask(server, `${path}/nonsense`);
  assertEquals([missing.status, missing.json.message], [404, 'widgets.example.com "w" not found']);
});

Deno.test("FakeApiServer reads null as Go does: a label is empty, a body has no members", async () => {
  const server = new FakeApiServer();
  const { status, json } = await post(server, MAPS, { metadata: { name: "a", labels: { a: null } } });
  assertEquals([status, json.metadata.labels], [201, { a: "" }]);
  const empty = await post(server, MAPS, "null");
  assertEquals([empty.status, empty.json.details.causes[0].field], [422, "metadata.name"]);
  assertEquals((await ask(server, `${MAPS}/a`, { method: "DELETE", body: "null" })).status, 200);
});

Deno.test("FakeApiServer refuses options of a deletion that are of another type or kind", async () => {
  const server = withMap();
  const bodies = [
    { gracePeriodSeconds: "x" },
    { preconditions: 5 },
    { orphanDependents: "x" },
    { propagationPolicy: 5 },
    { dryRun: "All" },
    { kind: "Potato" },
  ];
  for (const body of bodies) {
    assertEquals((await ask(server, `${MAPS}/a`, { method: "DELETE", body })).status, 400, JSON.stringify(body));
  }
});

Deno.test("An update that removes the last finalizer is answered with the object that it asks for", async () => {
  const server = withMap({ finalizers: ["a.b/c"] });
  await ask(server, `${MAPS}/a`, { method: "DELETE" });
  const { json } = await patch(server, `${MAPS}/a`, "merge-patch", { metadata: { finalizers: [] }, data: { k: "v" } });
  assertEquals([json.metadata.finalizers, json.data], [undefined, { k: "v" }]);
  assertEquals(server.keys(ConfigMap), []);
});

Deno.test("An update of a job that leaves out what was generated says that selector and template differ", async () => {
  const server = new FakeApiServer();
  const jobs = "/apis/batch/v1/namespaces/answers/jobs";
  const template = { spec: { restartPolicy: "Never", containers: [{ name: "a", image: "a" }] } };
  const job = { metadata: { name: "a" }, spec: { template } };
  assertEquals((await post(server, jobs, job)).status, 201);
  const { json } = await put(server, `${jobs}/a`, job);
  assertEquals(
    json.details.causes.map(({ field }: { field: string }) => field),
    ["spec.selector", "spec.template.metadata.labels", "spec.selector", "spec.template"],
  );
});

Deno.test("A Service that becomes an external name loses its internal traffic policy", async () => {
  const server = new FakeApiServer();
  await post(server, SERVICES, { metadata: { name: "a" }, spec: { ports: [{ port: 80 }] } });
  const spec = { type: "ExternalName", externalName: "example.com" };
  const { status, json } = await patch(server, `${SERVICES}/a`, "merge-patch", { spec });
  assertEquals([status, json.spec.internalTrafficPolicy], [200, undefined]);
});
