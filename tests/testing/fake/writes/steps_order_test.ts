import { assertEquals } from "@std/assert";
import { defineResource } from "../../../../src/engine/api/resource.ts";
import { FakeApiServer } from "../../../../src/testing/mod.ts";
import { type Answer, ask, ConfigMap, MAPS, patch, Widget } from "../../../support/servers/fake_server.ts";
import { definitionOf } from "../../../support/sources/widgets.ts";

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

Deno.test("FakeApiServer reads the body of an update before it looks for the object", async () => {
  const server = new FakeApiServer();
  assertEquals((await put(server, `${MAPS}/a`, { metadata: { name: "b" } })).status, 400);
  assertEquals((await put(server, `${MAPS}/a`, { kind: "Potato", metadata: { name: "a" } })).status, 400);
  assertEquals((await put(server, `${MAPS}/a`, { metadata: { name: "a" } })).status, 404);
});

Deno.test("A write with a uid creates no object", async () => {
  const server = new FakeApiServer();
  const metadata = { name: "a", uid: "6b2c1d3e-0000-4000-8000-000000000001" };
  const config = { apiVersion: "v1", kind: "ConfigMap", metadata };
  assertEquals((await patch(server, `${MAPS}/a?fieldManager=m`, "apply", config)).status, 409);
  assertEquals((await put(server, `${SERVICES}/a`, { metadata, spec: { ports: [{ port: 80 }] } })).status, 409);
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

const POTATO = { apiVersion: "example.com/v1", kind: "Potato", metadata: { name: "w", resourceVersion: "2" } };

Deno.test("A custom object says in its causes that its kind is another", async () => {
  const server = new FakeApiServer({ resources: [Widget] });
  const path = "/apis/example.com/v1/namespaces/default/widgets/w";
  server.create(Widget, { metadata: { name: "w" } });
  const { status, json } = await patch(server, path, "merge-patch", { kind: "Potato" });
  const cause = { reason: "FieldValueInvalid", message: 'Invalid value: "Potato": must be Widget', field: "kind" };
  assertEquals([status, json.details.causes], [422, [cause]]);
  const all = path.slice(0, -2);
  for (const answer of [await post(server, all, { kind: "Potato" }), await put(server, path, POTATO)]) {
    assertEquals([answer.status, answer.json.details.causes], [422, [cause]]);
  }
  assertEquals((await put(server, `${all}/missing`, { ...POTATO, metadata: { name: "missing" } })).status, 404);
  assertEquals((await post(server, all, { kind: 5, metadata: { name: "v" } })).status, 400);
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

Deno.test("FakeApiServer keeps the generation of a new object of which it counts none, and takes a version in a dry run", async () => {
  const server = new FakeApiServer();
  const { json } = await post(server, MAPS, { metadata: { name: "a", generation: 7 } });
  assertEquals(json.metadata.generation, 7);
  const body = { metadata: { name: "b", resourceVersion: "1" } };
  assertEquals((await post(server, `${MAPS}?dryRun=All`, body)).status, 201);
  assertEquals((await post(server, MAPS, body)).status, 500);
});

Deno.test("A strategic merge replaces the selector of a disruption budget, whose policy is no empty text", async () => {
  const server = new FakeApiServer();
  const budgets = "/apis/policy/v1/namespaces/answers/poddisruptionbudgets";
  const selector = { matchLabels: { a: "b" }, matchExpressions: [{ key: "a", operator: "Exists" }] };
  await post(server, budgets, { metadata: { name: "a" }, spec: { selector } });
  const spec = { selector: { matchLabels: { c: "d" } } };
  const { json } = await patch(server, `${budgets}/a`, "strategic-merge-patch", { spec });
  assertEquals(json.spec.selector, spec.selector);
  const refused = await post(server, budgets, { metadata: { name: "b" }, spec: { unhealthyPodEvictionPolicy: "" } });
  assertEquals([refused.status, refused.json.details?.causes[0].field], [422, "spec.unhealthyPodEvictionPolicy"]);
});

Deno.test("An image that is none has no newest version, which would always be pulled", async () => {
  const server = new FakeApiServer();
  const digest = `@sha256:${"0".repeat(64)}`;
  const images = { a: "Always", "a:latest": "Always", "r.io:5000/a": "Always", "a:1": "IfNotPresent" };
  for (
    const [image, policy] of Object.entries({ ...images, [`a${digest}`]: "IfNotPresent", "A:latest": "IfNotPresent" })
  ) {
    const pod = { metadata: { generateName: "p-" }, spec: { containers: [{ name: "a", image }] } };
    const { json } = await post(server, "/api/v1/namespaces/answers/pods", pod);
    assertEquals(json.spec.containers[0].imagePullPolicy, policy, image);
  }
});

Deno.test("The labels of a job are those of its template only where it has none of its own", async () => {
  const server = new FakeApiServer();
  const jobs = "/apis/batch/v1/namespaces/answers/jobs";
  const labels = { app: "web" };
  const spec = {
    template: { metadata: { labels }, spec: { restartPolicy: "Never", containers: [{ name: "a", image: "a" }] } },
  };
  const own = await post(server, jobs, { metadata: { name: "own", labels }, spec });
  assertEquals(own.json.metadata.labels, labels);
  const none = await post(server, jobs, { metadata: { name: "none" }, spec });
  assertEquals(none.json.metadata.labels["batch.kubernetes.io/job-name"], "none");
});

Deno.test("A field of a custom kind with the format date-time takes nothing else", async () => {
  const server = new FakeApiServer();
  const schema = { type: "object", properties: { when: { type: "string", format: "date-time" } } };
  const Clock = defineResource({
    group: "example.com",
    version: "v1",
    plural: "clocks",
    kind: "Clock",
    scope: "Cluster",
  });
  const crd = definitionOf(Clock, { schema: { openAPIV3Schema: schema } });
  await post(server, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd);
  const clock = (when: string): Promise<Answer> =>
    post(server, "/apis/example.com/v1/clocks", { metadata: { generateName: "c-" }, when });
  assertEquals((await clock("2026-01-01T00:00:00Z")).status, 201);
  const { status, json } = await clock("yesterday");
  assertEquals([status, json.details.causes[0].reason], [422, "FieldValueTypeInvalid"]);
});

Deno.test("A dry run of a pod's deletion shows the pod as it would be deleted", async () => {
  const server = new FakeApiServer();
  const pods = "/api/v1/namespaces/answers/pods";
  await post(server, pods, { metadata: { name: "p" }, spec: { containers: [{ name: "a", image: "a" }] } });
  const { json } = await ask(server, `${pods}/p`, { method: "DELETE", body: { dryRun: ["All"] } });
  assertEquals([json.metadata.deletionGracePeriodSeconds, json.metadata.generation], [0, 2]);
  assertEquals((await ask(server, `${pods}/p`)).json.metadata.deletionTimestamp, undefined);
});
