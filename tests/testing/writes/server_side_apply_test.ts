import { assertEquals } from "@std/assert";
import { FakeApiServer } from "../../../src/testing/mod.ts";
import { type Answer, ask, ConfigMap, MAPS, patch, Widget } from "../../support/fake_server.ts";

const PATH = `${MAPS}/settings`;
const DEPLOYMENT = "/apis/apps/v1/namespaces/answers/deployments/web";

function apply(server: FakeApiServer, manager: string, body: unknown, path = PATH, force = false): Promise<Answer> {
  return patch(server, `${path}?fieldManager=${manager}${force ? "&force=true" : ""}`, "apply", body);
}

interface Entry {
  readonly manager: string;
  readonly operation: string;
  readonly fieldsV1: unknown;
}

function owners({ json }: Answer): Record<string, unknown> {
  return Object.fromEntries(
    json.metadata.managedFields.map(({ manager, operation, fieldsV1 }: Entry) => [`${manager} ${operation}`, fieldsV1]),
  );
}

Deno.test("server-side apply refuses to change a field that another manager owns, with a cause for each field", async () => {
  const server = new FakeApiServer();
  await apply(server, "one", { data: { a: "1", b: "1" } });
  const conflict = await apply(server, "two", { data: { a: "2", c: "2" } });
  assertEquals([conflict.status, conflict.json.reason], [409, "Conflict"]);
  assertEquals(conflict.json.message, 'Apply failed with 1 conflict: conflict with "one": .data.a');
  assertEquals(conflict.json.details.causes, [
    { reason: "FieldManagerConflict", message: 'conflict with "one"', field: ".data.a" },
  ]);
  assertEquals(server.get(ConfigMap, "answers/settings")?.data, { a: "1", b: "1" });
  const both = await apply(server, "two", { data: { a: "2", b: "2" } });
  assertEquals(both.json.message, 'Apply failed with 2 conflicts: conflicts with "one":\n- .data.a\n- .data.b');
});

Deno.test("server-side apply with force takes over fields, and shares equal ones", async () => {
  const server = new FakeApiServer();
  await apply(server, "one", { data: { a: "1", b: "1" } });
  const shared = await apply(server, "two", { data: { b: "1" } });
  assertEquals(owners(shared), {
    "one Apply": { "f:data": { "f:a": {}, "f:b": {} } },
    "two Apply": { "f:data": { "f:b": {} } },
  });
  const forced = await apply(server, "two", { data: { a: "2", b: "1" } }, PATH, true);
  assertEquals([forced.status, forced.json.data], [200, { a: "2", b: "1" }]);
  assertEquals(owners(forced), {
    "one Apply": { "f:data": { "f:b": {} } },
    "two Apply": { "f:data": { "f:a": {}, "f:b": {} } },
  });
});

Deno.test("server-side apply removes fields that its manager no longer applies, unless another one owns them too", async () => {
  const server = new FakeApiServer();
  await apply(server, "one", { metadata: { labels: { x: "1" } }, data: { a: "1", b: "1", c: "1" } });
  await apply(server, "two", { data: { b: "1" } });
  const less = await apply(server, "one", { data: { c: "1" } });
  assertEquals([less.json.data, less.json.metadata.labels], [{ b: "1", c: "1" }, undefined]);
  const version = less.json.metadata.resourceVersion;
  assertEquals((await apply(server, "one", { data: { c: "1" } })).json.metadata.resourceVersion, version);
});

Deno.test("server-side apply distinguishes list elements by their keys", async () => {
  const server = new FakeApiServer();
  const template = (...containers: unknown[]): unknown => ({ spec: { template: { spec: { containers } } } });
  await apply(server, "one", template({ name: "web", image: "web:1" }), DEPLOYMENT);
  const added = await apply(server, "two", template({ name: "log", image: "log:1" }), DEPLOYMENT);
  const names = ({ json }: Answer): string[] =>
    json.spec.template.spec.containers.map(({ name }: { name: string }) => name);
  assertEquals(names(added), ["web", "log"]);
  const conflict = await apply(server, "two", template({ name: "web", image: "web:2" }), DEPLOYMENT);
  assertEquals(conflict.json.details.causes[0].field, '.spec.template.spec.containers[name="web"].image');
  assertEquals(names(await apply(server, "two", { spec: {} }, DEPLOYMENT)), ["web"]);
});

Deno.test("server-side apply respects the owners that updates and subresources have recorded", async () => {
  const server = new FakeApiServer();
  await apply(server, "one", { spec: { replicas: 1 } }, DEPLOYMENT);
  const scale = await patch(server, `${DEPLOYMENT}/scale?fieldManager=kubectl`, "merge-patch", {
    spec: { replicas: 3 },
  });
  assertEquals([scale.json.kind, scale.json.spec.replicas], ["Scale", 3]);
  const conflict = await apply(server, "one", { spec: { replicas: 1 } }, DEPLOYMENT);
  assertEquals(
    conflict.json.message,
    'Apply failed with 1 conflict: conflict with "kubectl" with subresource "scale" using apps/v1: .spec.replicas',
  );
  const status = await apply(server, "kubelet", { status: { replicas: 3 } }, `${DEPLOYMENT}/status`);
  assertEquals([status.status, status.json.status.replicas, status.json.spec.replicas], [200, 3, 3]);
});

Deno.test("server-side apply treats a custom resource's lists as atomic", async () => {
  const server = new FakeApiServer({ resources: [Widget] });
  const path = "/apis/example.com/v1/namespaces/answers/widgets/w";
  const created = await apply(server, "one", { spec: { ports: [{ port: 1 }] } }, path);
  assertEquals([created.status, owners(created)], [201, { "one Apply": { "f:spec": { "f:ports": {} } } }]);
  const replaced = await apply(server, "one", { spec: { ports: [{ port: 2 }] } }, path);
  assertEquals(replaced.json.spec.ports, [{ port: 2 }]);
});

Deno.test("an update becomes the owner of the fields that it changes", async () => {
  const server = new FakeApiServer();
  await apply(server, "one", { data: { a: "1", b: "1" } });
  const updated = await patch(server, `${PATH}?fieldManager=edit`, "merge-patch", { data: { a: "2" } });
  assertEquals(owners(updated), {
    "one Apply": { "f:data": { "f:b": {} } },
    "edit Update": { "f:data": { "f:a": {} } },
  });
  const removed = await patch(server, `${PATH}?fieldManager=edit`, "merge-patch", { data: { b: null } });
  assertEquals(Object.keys(owners(removed)), ["edit Update"]);
  assertEquals((await ask(server, PATH)).json.data, { a: "2" });
});
