import { assertEquals } from "@std/assert";
import { FakeApiServer } from "../../../../src/testing/mod.ts";
import { type Answer, ask, ConfigMap, MAPS, patch, Widget } from "../../../support/servers/fake_server.ts";

const PATH = `${MAPS}/settings`;
const DEPLOYMENT = "/apis/apps/v1/namespaces/answers/deployments/web";
const NODE = "/api/v1/nodes/n";
const SERVICE = "/api/v1/namespaces/answers/services/dns";
const WIDGET = "/apis/example.com/v1/namespaces/answers/widgets/w";

type Body = Readonly<Record<string, unknown>>;

const TYPES: Readonly<Record<string, Body>> = {
  [PATH]: { apiVersion: "v1", kind: "ConfigMap" },
  [NODE]: { apiVersion: "v1", kind: "Node" },
  [SERVICE]: { apiVersion: "v1", kind: "Service" },
  [WIDGET]: { apiVersion: "example.com/v1", kind: "Widget" },
};

/** Applies fields of an object whose kind and name follow from its path. */
function apply(server: FakeApiServer, manager: string, body: Body, path = PATH, force = false): Promise<Answer> {
  const [object] = path.split("/status");
  const type = TYPES[object] ?? { apiVersion: "apps/v1", kind: "Deployment" };
  const metadata = { name: object.slice(object.lastIndexOf("/") + 1), ...body.metadata as Body };
  const query = `fieldManager=${manager}${force ? "&force=true" : ""}`;
  return patch(server, `${path}?${query}`, "apply", { ...type, ...body, metadata });
}

const labels = { app: "web" };

/** The fields of a Deployment with these containers, which has all that it requires. */
function template(...containers: unknown[]): Body {
  return { spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } } };
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
  await apply(server, "one", template({ name: "web", image: "web:1" }), DEPLOYMENT);
  const added = await apply(server, "two", template({ name: "log", image: "log:1" }), DEPLOYMENT);
  const names = ({ json }: Answer): string[] =>
    json.spec.template.spec.containers.map(({ name }: { name: string }) => name);
  assertEquals(names(added), ["web", "log"]);
  const conflict = await apply(server, "two", template({ name: "web", image: "web:2" }), DEPLOYMENT);
  assertEquals(conflict.json.details.causes[0].field, '.spec.template.spec.containers[name="web"].image');
  assertEquals(names(await apply(server, "two", template({ name: "web" }), DEPLOYMENT)), ["web"]);
});

Deno.test("server-side apply respects the owners that updates and subresources have recorded", async () => {
  const server = new FakeApiServer();
  const one = template({ name: "web", image: "web:1" });
  const replicas = { spec: { ...one.spec as Body, replicas: 1 } };
  await apply(server, "one", replicas, DEPLOYMENT);
  const scale = await patch(server, `${DEPLOYMENT}/scale?fieldManager=kubectl`, "merge-patch", {
    spec: { replicas: 3 },
  });
  assertEquals([scale.json.kind, scale.json.spec.replicas], ["Scale", 3]);
  const conflict = await apply(server, "one", replicas, DEPLOYMENT);
  assertEquals(
    conflict.json.message,
    'Apply failed with 1 conflict: conflict with "kubectl" with subresource "scale" using apps/v1: .spec.replicas',
  );
  const status = await apply(server, "kubelet", { status: { replicas: 3 } }, `${DEPLOYMENT}/status`);
  assertEquals([status.status, status.json.status.replicas, status.json.spec.replicas], [200, 3, 3]);
});

Deno.test("server-side apply takes lists of a custom kind without a schema as one field, and objects as maps", async () => {
  const server = new FakeApiServer({ resources: [Widget] });
  const created = await apply(server, "one", { spec: { ports: [{ port: 1 }] } }, WIDGET);
  const owned = { "f:spec": { ".": {}, "f:ports": {} } };
  assertEquals([created.status, owners(created)], [201, { "one Apply": owned }]);
  const replaced = await apply(server, "one", { spec: { ports: [{ port: 2 }] } }, WIDGET);
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

Deno.test("server-side apply lets two owners have finalizers of their own", async () => {
  const server = new FakeApiServer();
  await apply(server, "one", { metadata: { finalizers: ["x.y/one"] } });
  const both = await apply(server, "two", { metadata: { finalizers: ["x.y/two"] } });
  assertEquals(both.json.metadata.finalizers, ["x.y/one", "x.y/two"]);
  assertEquals(owners(both), {
    "one Apply": { "f:metadata": { "f:finalizers": { 'v:"x.y/one"': {} } } },
    "two Apply": { "f:metadata": { "f:finalizers": { 'v:"x.y/two"': {} } } },
  });
  assertEquals((await apply(server, "one", {})).json.metadata.finalizers, ["x.y/two"]);
});

Deno.test("server-side apply tells ports apart by number and protocol, TCP where a configuration has none", async () => {
  const server = new FakeApiServer();
  const ports = (tcp: string): Body => ({
    spec: { ports: [{ name: "u", port: 53, protocol: "UDP" }, { name: tcp, port: 53 }] },
  });
  await apply(server, "one", ports("t"), SERVICE);
  const renamed = await apply(server, "one", ports("tcp"), SERVICE);
  const names = renamed.json.spec.ports.map(({ name }: { name: string }) => name);
  assertEquals([renamed.status, names], [200, ["u", "tcp"]]);
  const fields = owners(renamed)["one Apply"] as { "f:spec": { "f:ports": Body } };
  assertEquals(Object.keys(fields["f:spec"]["f:ports"]), [
    'k:{"port":53,"protocol":"TCP"}',
    'k:{"port":53,"protocol":"UDP"}',
  ]);
});

Deno.test("server-side apply takes selectors and taints as one field", async () => {
  const server = new FakeApiServer();
  const port = { ports: [{ port: 53 }] };
  await apply(server, "one", { spec: { ...port, selector: { app: "a", tier: "b" } } }, SERVICE);
  const conflict = await apply(server, "two", { spec: { selector: { app: "c" } } }, SERVICE);
  assertEquals(conflict.json.details.causes[0].field, ".spec.selector");
  const forced = await apply(server, "two", { spec: { selector: { app: "c" } } }, SERVICE, true);
  assertEquals(forced.json.spec.selector, { app: "c" });
  await apply(server, "one", { spec: { taints: [{ key: "a", effect: "NoSchedule" }] } }, NODE);
  const taints = await apply(server, "two", { spec: { taints: [{ key: "b", effect: "NoSchedule" }] } }, NODE);
  assertEquals(taints.json.details.causes[0].field, ".spec.taints");
});

Deno.test("server-side apply refuses configurations of another type, with managedFields, or that the schema does not have", async () => {
  const server = new FakeApiServer();
  const cases: [body: Body, status: number, message: string][] = [
    [{ kind: "Secret" }, 400, "invalid object type: /v1, Kind=Secret"],
    [{ metadata: { managedFields: [] } }, 400, "metadata.managedFields must be nil"],
    [
      { metadata: { name: "" } },
      400,
      "the name of the object (settings based on URL) was undeterminable: name must be provided",
    ],
    [
      { data: { a: 1 }, foo: {} },
      500,
      "failed to create typed patch object (/settings; /v1, Kind=ConfigMap): errors:\n" +
      "  .data.a: expected string, got &value.valueUnstructured{Value:1}\n  .foo: field not declared in schema",
    ],
  ];
  for (const [body, status, message] of cases) {
    const answer = await apply(server, "one", body);
    assertEquals([answer.status, answer.json.message], [status, message]);
  }
});

Deno.test("server-side apply without a change keeps version and time, and records a new owner without one", async () => {
  const server = new FakeApiServer();
  const first = await apply(server, "one", { data: { a: "1" } });
  const again = await apply(server, "one", { data: { a: "1" } });
  assertEquals(again.json.metadata, first.json.metadata);
  const shared = await apply(server, "two", { data: { a: "1" } });
  const times = shared.json.metadata.managedFields.map(({ manager, time }: Body) => [manager, time !== undefined]);
  assertEquals(times, [["two", false], ["one", true]]);
});

Deno.test("server-side apply leaves a map to its other owner when it removes the last member", async () => {
  const server = new FakeApiServer();
  const body = { metadata: { name: "settings", annotations: { c: "x" } } };
  await ask(server, `${MAPS}?fieldManager=edit`, { method: "POST", body });
  await apply(server, "one", { metadata: { annotations: { c: "y" } } }, PATH, true);
  const removed = await apply(server, "one", { data: { a: "1" } });
  assertEquals(owners(removed), {
    "one Apply": { "f:data": { "f:a": {} } },
    "edit Update": { "f:metadata": { "f:annotations": {} } },
  });
});

Deno.test("an object without managedFields has the owner before-first-apply after its first apply", async () => {
  const server = new FakeApiServer();
  await ask(server, `${MAPS}?fieldManager=edit`, {
    method: "POST",
    body: { metadata: { name: "settings" }, data: { a: "1" } },
  });
  const cleared = await patch(server, PATH, "merge-patch", { metadata: { managedFields: [{}] } });
  assertEquals(cleared.json.metadata.managedFields, undefined);
  const changed = await patch(server, PATH, "merge-patch", { data: { b: "1" } });
  assertEquals(changed.json.metadata.managedFields, undefined);
  assertEquals(owners(await apply(server, "one", { data: { c: "1" } })), {
    "one Apply": { "f:data": { "f:c": {} } },
    "before-first-apply Update": { "f:data": { ".": {}, "f:a": {}, "f:b": {} } },
  });
});

Deno.test("the status is owned by those who write it", async () => {
  const server = new FakeApiServer();
  const path = DEPLOYMENT;
  await apply(server, "one", template({ name: "web", image: "web:1" }), path);
  const status = await patch(server, `${path}/status?fieldManager=kubelet`, "merge-patch", {
    metadata: { labels: { x: "y" } },
    spec: { replicas: 7 },
    status: { replicas: 3 },
  });
  assertEquals(owners(status)["kubelet Update"], { "f:status": { "f:replicas": {} } });
});

Deno.test("kubectl takes over what its own client-side apply has set", async () => {
  const server = new FakeApiServer();
  const name = "kubectl.kubernetes.io/last-applied-configuration";
  const config = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "settings" }, data: { a: "1" } };
  const annotations = { [name]: JSON.stringify(config) };
  await ask(server, `${MAPS}?fieldManager=kubectl-client-side-apply`, {
    method: "POST",
    body: { ...config, metadata: { name: "settings", annotations } },
  });
  assertEquals((await apply(server, "other", { data: { a: "2" } })).status, 409);
  const taken = await apply(server, "kubectl", { data: { a: "2" } });
  const left = JSON.parse(taken.json.metadata.annotations[name]);
  assertEquals([taken.status, taken.json.data, left.data], [200, { a: "2" }, { a: "2" }]);
});
