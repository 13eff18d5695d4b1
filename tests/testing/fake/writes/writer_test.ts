import { Namespace, ReplicationController } from "@kube/informer/kinds/core/v1";
import { assertEquals, assertMatch, assertNotEquals, assertThrows } from "@std/assert";
import { defineResource } from "../../../../src/engine/api/resource.ts";
import { isAlreadyExists, isNotFound, StatusError } from "../../../../src/engine/api/status.ts";
import { type AdmissionRequest, FakeApiServer } from "../../../../src/testing/mod.ts";
import {
  type Answer,
  ask,
  brief,
  ConfigMap,
  CONTAINERS,
  Lines,
  MAPS,
  patch,
  Pod,
  Widget,
  WORKLOAD,
} from "../../../support/servers/fake_server.ts";
import { statusObject } from "../../../support/servers/transport.ts";

function post(server: FakeApiServer, body: unknown): Promise<Answer> {
  return ask(server, MAPS, { method: "POST", body });
}

Deno.test("admit hooks change a written object, one after the other, but not its identity", async () => {
  const server = new FakeApiServer();
  const add = (label: string) => ({ object }: AdmissionRequest<ConfigMap>) =>
    object &&
    {
      ...object,
      metadata: { ...object.metadata, name: "other", labels: { ...object.metadata.labels, [label]: "yes" } },
    };
  server.admit(ConfigMap, { mutate: add("one") });
  const two = server.admit(ConfigMap, { mutate: add("two") });
  server.admit(Pod, {
    mutate: () => {
      throw new Error("not about pods");
    },
  });
  const created = await post(server, { metadata: { name: "a" } });
  assertEquals([created.json.metadata.name, created.json.metadata.labels], ["a", { one: "yes", two: "yes" }]);
  two[Symbol.dispose]();
  const { json } = await patch(server, `${MAPS}/a`, "merge-patch", { metadata: { labels: { one: null, two: null } } });
  assertEquals(json.metadata.labels, { one: "yes" });
});

Deno.test("admit lets hooks refuse creations, updates and deletions", async () => {
  const server = new FakeApiServer();
  const seen: string[] = [];
  server.admit(ConfigMap, {
    name: "quota",
    validate: ({ operation, object, old, subresource, dryRun }) => {
      seen.push(`${operation} ${old?.metadata.name} ${object?.metadata.name} ${subresource} ${dryRun}`);
      if (operation === "DELETE") return { code: 403, reason: "Forbidden", message: "it is needed" };
      return object?.data?.big === undefined ? undefined : "it is too big";
    },
  });
  const big = await post(server, { metadata: { name: "a" }, data: { big: "x" } });
  assertEquals(big.status, 400);
  assertEquals(big.json.message, 'admission webhook "quota" denied the request: it is too big');
  assertEquals((await post(server, { metadata: { name: "a" } })).status, 201);
  assertEquals((await patch(server, `${MAPS}/a?dryRun=All`, "merge-patch", { data: { big: "x" } })).status, 400);
  const deleted = await ask(server, `${MAPS}/a`, { method: "DELETE" });
  assertEquals([deleted.status, deleted.json.reason], [403, "Forbidden"]);
  assertEquals(deleted.json.message, 'admission webhook "quota" denied the request: it is needed');
  assertEquals(
    seen,
    ["CREATE undefined a  false", "CREATE undefined a  false", "UPDATE a a  true", "DELETE a undefined  false"],
  );
});

Deno.test("admit hooks are skipped for writes by the test itself", () => {
  const server = new FakeApiServer();
  server.admit(ConfigMap, { validate: () => "never" });
  server.create(ConfigMap, { metadata: { name: "a" } });
  server.patch(ConfigMap, "a", { data: { x: "1" } });
  server.delete(ConfigMap, "a");
  assertEquals(server.keys(ConfigMap), []);
});

const PODS = "/api/v1/namespaces/answers/pods";
const Lease = defineResource({ group: "coordination.k8s.io", version: "v1", plural: "leases", kind: "Lease" });

const postWriter = (server: FakeApiServer, path: string, body: unknown) => ask(server, path, { method: "POST", body });
const put = (server: FakeApiServer, path: string, body: unknown) => ask(server, path, { method: "PUT", body });
const remove = (server: FakeApiServer, path: string, body?: unknown) => ask(server, path, { method: "DELETE", body });

function oneMap(): FakeApiServer {
  const server = new FakeApiServer();
  server.create(ConfigMap, { metadata: { namespace: "answers", name: "map-0" }, data: { k: "0" } });
  return server;
}

Deno.test("FakeApiServer fills in the server's members of a new object", async () => {
  let now = Date.UTC(2026, 10, 21, 13, 8, 14, 900);
  const server = new FakeApiServer({ now: () => now });
  const { status, text, json } = await postWriter(server, `${PODS}?fieldManager=record`, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "pod-0", finalizers: [], uid: "mine", creationTimestamp: "2001-01-01T00:00:00Z" },
    spec: { nodeName: "node-0", containers: [{ name: "web", image: "web:1" }] },
    status: { phase: "Running" },
  });
  assertEquals(status, 201);
  const { metadata } = json;
  assertMatch(metadata.uid, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  const head =
    `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"pod-0","namespace":"answers","uid":"${metadata.uid}",` +
    `"resourceVersion":"2","generation":1,"creationTimestamp":"2026-11-21T13:08:14Z","managedFields":[{"manager":` +
    `"record","operation":"Update","apiVersion":"v1","time":"2026-11-21T13:08:14Z","fieldsType":"FieldsV1","fieldsV1":` +
    `{"f:spec":{"f:containers":{"k:{\\"name\\":\\"web\\"}":{".":{},"f:image":{},`;
  assertEquals(text.slice(0, head.length), head);
  const tail = `,"status":{"phase":"Pending","qosClass":"BestEffort"}}\n`;
  assertEquals(text.slice(-tail.length), tail);
  const { nodeName, containers: [{ name, image }] } = json.spec;
  assertEquals([nodeName, name, image], ["node-0", "web", "web:1"]);
  // What admission plugins add belongs to nobody.
  const owned = metadata.managedFields[0].fieldsV1["f:spec"];
  assertEquals([owned["f:nodeName"], owned["f:tolerations"], owned["f:priority"]], [{}, undefined, undefined]);
  now += 1_000;
  const running = await patch(server, `${PODS}/pod-0/status?fieldManager=kubelet`, "merge-patch", {
    status: { phase: "Running" },
  });
  const entries: Record<string, unknown>[] = running.json.metadata.managedFields;
  const managers = entries.map((entry) => [entry.manager, entry.subresource, entry.time]);
  assertEquals(managers, [
    ["record", undefined, "2026-11-21T13:08:14Z"],
    ["kubelet", "status", "2026-11-21T13:08:15Z"],
  ]);
  assertEquals(running.json.metadata.generation, 1);
});

Deno.test("FakeApiServer leaves out managedFields by option", () => {
  const server = new FakeApiServer({ managedFields: false });
  server.create(ConfigMap, { metadata: { name: "x" } });
  assertEquals(server.patch(ConfigMap, "x", { data: { a: "1" } }).metadata.managedFields, undefined);
});

Deno.test("FakeApiServer generates the same names and uids for the same seed", async () => {
  const make = async (seed: number): Promise<string[]> => {
    const server = new FakeApiServer({ seed });
    const { json } = await postWriter(server, MAPS, { metadata: { generateName: "map-" } });
    return [json.metadata.name, json.metadata.uid];
  };
  const [name, uid] = await make(3);
  assertMatch(name, /^map-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  assertEquals(await make(3), [name, uid]);
  assertNotEquals(await make(4), [name, uid]);
});

Deno.test("FakeApiServer refuses to create an existing or invalid object", async () => {
  const server = oneMap();
  const exists = await postWriter(server, MAPS, { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "map-0" } });
  assertEquals(exists.status, 409);
  assertEquals(
    exists.json,
    statusObject(409, "AlreadyExists", 'configmaps "map-0" already exists', {
      details: { name: "map-0", kind: "configmaps" },
    }),
  );
  const why = `Invalid value: "Not A Name": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric ` +
    `characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for ` +
    `validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`;
  const badName = await postWriter(server, MAPS, { metadata: { name: "Not A Name" } });
  assertEquals(badName.status, 422);
  assertEquals(badName.json.message, `ConfigMap "Not A Name" is invalid: metadata.name: ${why}`);
  assertEquals(badName.json.details, {
    name: "Not A Name",
    kind: "ConfigMap",
    causes: [{ reason: "FieldValueInvalid", message: why, field: "metadata.name" }],
  });
  const cases: [path: string, body: unknown, status: number, message: RegExp][] = [
    [MAPS, { metadata: {} }, 422, /metadata\.name: Required value: name or generateName is required/],
    [MAPS, { kind: "Pod", metadata: { name: "x" } }, 400, /^Pod in version "v1" cannot be handled as a ConfigMap/],
    [MAPS, { metadata: { name: "x", namespace: "other" } }, 400, /does not match the namespace sent on the request/],
    [MAPS, { metadata: { name: "x", resourceVersion: "1" } }, 500, /resourceVersion should not be set on objects/],
    [
      MAPS,
      { metadata: { name: "x", labels: { a: 1 } } },
      400,
      /cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string/,
    ],
    [MAPS, "nonsense", 400, /^the object provided is unrecognized/],
    [MAPS, [], 400, /must be a JSON object/],
    ["/api/v1/configmaps", { metadata: { name: "x" } }, 405, /does not allow this method on the requested resource/],
    [`${MAPS}/map-0`, { metadata: { name: "x" } }, 405, /./],
  ];
  for (const [path, body, status, message] of cases) {
    const answer = await postWriter(server, path, body);
    assertEquals(answer.status, status, answer.text);
    assertMatch(answer.json.message, message);
  }
  const yaml = await ask(server, MAPS, {
    method: "POST",
    headers: { "content-type": "application/yaml" },
    body: "a: b",
  });
  assertEquals([yaml.status, yaml.json.reason], [415, "UnsupportedMediaType"]);
  assertEquals(server.resourceVersion, "2");
});

/** A kind whose data may be any JSON. */
const TYPE = '"apiVersion":"apps/v1","kind":"ControllerRevision"';
const REVISIONS = "/apis/apps/v1/namespaces/answers/controllerrevisions";

Deno.test("FakeApiServer answers 400 to an object that is nested too deeply, and accepts a thousand levels", async () => {
  const server = new FakeApiServer();
  const writes: [method: string, path: string, type: string, body: (value: string) => string][] = [
    ["POST", REVISIONS, "json", (value) => `{"metadata":{"name":"a"},"data":${value},"revision":1}`],
    ["PUT", `${REVISIONS}/a`, "json", (value) => `{"metadata":{"name":"a"},"data":${value}}`],
    ["PATCH", `${REVISIONS}/a`, "merge-patch+json", (value) => `{"data":${value}}`],
    ["PATCH", `${REVISIONS}/a`, "strategic-merge-patch+json", (value) => `{"data":${value}}`],
    ["PATCH", `${REVISIONS}/a`, "json-patch+json", (value) => `[{"op":"add","path":"/data","value":${value}}]`],
    ["PATCH", `${REVISIONS}/a?fieldManager=m&force=true`, "apply-patch+yaml", (value) => `{${TYPE},"data":${value}}`],
    ["DELETE", `${REVISIONS}/a`, "json", (value) => `{"preconditions":${value}}`],
  ];
  for (const [method, url, type, body] of writes) {
    const headers = { "content-type": `application/${type}` };
    const write = (levels: number): ReturnType<typeof ask> =>
      ask(server, url, { method, headers, body: body(`{"a":`.repeat(levels) + "1" + "}".repeat(levels)) });
    const refused = await write(20_000);
    assertEquals(refused.status, 400, `${method} ${type}`);
    assertMatch(refused.json.message, /exceeded max depth/);
    // Go has no fields by which it could merge any JSON strategically.
    const accepted = method === "POST" ? 201 : type.startsWith("strategic") ? 500 : 200;
    assertEquals((await write(998)).status, accepted, `${method} ${type}`);
  }
});

Deno.test("FakeApiServer replaces objects, increments generations and keeps members that an update cannot change", async () => {
  const server = new FakeApiServer();
  const path = "/apis/apps/v1/namespaces/answers/deployments";
  const { json: first } = await postWriter(server, path, {
    metadata: { name: "web" },
    spec: { replicas: 1, ...WORKLOAD },
    status: { replicas: 9 },
  });
  assertEquals([first.metadata.generation, first.status], [1, {}]);
  const { json: second } = await put(server, `${path}/web`, {
    ...first,
    metadata: { ...first.metadata, creationTimestamp: "2001-01-01T00:00:00Z", generation: 7, labels: { a: "b" } },
    spec: { ...first.spec, replicas: 2 },
    status: { replicas: 2 },
  });
  assertEquals(second.metadata.generation, 2);
  assertEquals(second.metadata.creationTimestamp, first.metadata.creationTimestamp);
  assertEquals(second.metadata.labels, { a: "b" });
  assertEquals(second.status, {});
  const { json: third } = await put(server, `${path}/web/status`, {
    ...second,
    spec: { ...second.spec, replicas: 5 },
    status: { replicas: 2 },
  });
  assertEquals([third.spec, third.status, third.metadata.generation], [second.spec, { replicas: 2 }, 2]);
  const { json: part } = await ask(server, `${path}/web/status`);
  assertEquals(part, third);
});

Deno.test("FakeApiServer refuses updates with an old version, another uid, or of a missing object", async () => {
  const server = oneMap();
  const old = await put(server, `${MAPS}/map-0`, { metadata: { name: "map-0", resourceVersion: "1" } });
  assertEquals(old.status, 409);
  assertEquals(
    old.json,
    statusObject(
      409,
      "Conflict",
      'Operation cannot be fulfilled on configmaps "map-0": the object has been modified; please apply your changes to the ' +
        "latest version and try again",
      { details: { name: "map-0", kind: "configmaps" } },
    ),
  );
  assertEquals((await put(server, `${MAPS}/map-0`, { metadata: { name: "map-1" } })).status, 400);
  assertEquals((await put(server, `${MAPS}/map-0`, { metadata: { name: "map-0", uid: "another" } })).status, 409);
  const missing = await put(server, `${MAPS}/nope`, { metadata: { name: "nope" } });
  assertEquals([missing.status, missing.json.details], [404, { name: "nope", kind: "configmaps" }]);
  // Without a version the last writer wins, except for leases and custom resources.
  assertEquals((await put(server, `${MAPS}/map-0`, { metadata: { name: "map-0" } })).status, 200);
  server.create(Lease, { metadata: { namespace: "answers", name: "l" } });
  const lease = await put(server, "/apis/coordination.k8s.io/v1/namespaces/answers/leases/l", {
    metadata: { name: "l" },
  });
  assertEquals(lease.status, 422);
  assertEquals(
    lease.json.message,
    'leases.coordination.k8s.io "l" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
  );
  server.create(Widget, { metadata: { namespace: "answers", name: "w" } });
  const widget = await put(server, "/apis/example.com/v1/namespaces/answers/widgets/w", { metadata: { name: "w" } });
  assertEquals(widget.status, 422);
});

Deno.test("FakeApiServer writes nothing when an update changes nothing", async () => {
  const server = oneMap();
  const { json } = await ask(server, `${MAPS}/map-0`);
  const again = await put(server, `${MAPS}/map-0`, json);
  assertEquals(again.json, json);
  assertEquals((await patch(server, `${MAPS}/map-0`, "merge-patch", { data: { k: "0" } })).json, json);
  assertEquals(server.patch(ConfigMap, "answers/map-0", {}), json);
  assertEquals(server.update(ConfigMap, json), json);
  assertEquals(server.resourceVersion, "2");
});

Deno.test("FakeApiServer stores nothing on a dry run", async () => {
  const server = oneMap();
  const created = await postWriter(server, `${MAPS}?dryRun=All`, { metadata: { name: "x" } });
  assertEquals([created.status, created.json.metadata.resourceVersion], [201, undefined]);
  const updated = await put(server, `${MAPS}/map-0?dryRun=All`, { metadata: { name: "map-0" }, data: { k: "1" } });
  assertEquals([updated.json.data, updated.json.metadata.resourceVersion], [{ k: "1" }, "2"]);
  assertEquals((await remove(server, `${MAPS}/map-0?dryRun=All`)).status, 200);
  assertEquals((await postWriter(server, `${MAPS}?dryRun=Some`, { metadata: { name: "x" } })).status, 422);
  assertEquals([server.resourceVersion, server.keys(ConfigMap)], ["2", ["answers/map-0"]]);
});

Deno.test("FakeApiServer deletes with a Status if the preconditions hold", async () => {
  const server = oneMap();
  const { uid } = server.get(ConfigMap, "answers/map-0")!.metadata;
  const wrongUid = await remove(server, `${MAPS}/map-0`, { preconditions: { uid: "another" } });
  assertEquals(wrongUid.status, 409);
  assertMatch(wrongUid.json.message, /the UID in the precondition \(another\) does not match the UID in record/);
  const wrongVersion = await remove(server, `${MAPS}/map-0`, { preconditions: { resourceVersion: "1" } });
  assertEquals([wrongVersion.status, wrongVersion.json.reason], [409, "Conflict"]);
  const gone = await remove(server, `${MAPS}/map-0`, { preconditions: { uid, resourceVersion: "2" } });
  assertEquals(
    gone.text,
    `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","details":{"name":"map-0","kind":"configmaps",` +
      `"uid":"${uid}"}}\n`,
  );
  const again = await remove(server, `${MAPS}/map-0`);
  assertEquals([again.status, again.json.message], [404, 'configmaps "map-0" not found']);
});

Deno.test("FakeApiServer gives a pod on a node its grace period, and removes it at a second, immediate deletion", async () => {
  let now = Date.UTC(2026, 10, 21, 13, 8, 14);
  const server = new FakeApiServer({ now: () => now });
  await using watch = await Lines.open(server, `${PODS}?watch=1&resourceVersion=1`);
  await postWriter(server, PODS, { metadata: { name: "pod-0" }, spec: { nodeName: "node-0", containers: CONTAINERS } });
  const graceful = await remove(server, `${PODS}/pod-0`, { gracePeriodSeconds: 5 });
  assertEquals([graceful.status, graceful.json.kind], [200, "Pod"]);
  const marks = ({ generation, deletionTimestamp, deletionGracePeriodSeconds }: Record<string, unknown>) => [
    generation,
    deletionTimestamp,
    deletionGracePeriodSeconds,
  ];
  assertEquals(marks(graceful.json.metadata), [2, "2026-11-21T13:08:19Z", 5]);
  now += 1_000;
  const atOnce = await remove(server, `${PODS}/pod-0`, { gracePeriodSeconds: 0 });
  assertEquals(marks(atOnce.json.metadata), [2, "2026-11-21T13:08:15Z", 0]);
  assertEquals(atOnce.json.metadata.resourceVersion, "5");
  const events = await watch.take(4);
  assertEquals(events.map(brief), ["ADDED pod-0@2", "MODIFIED pod-0@3", "MODIFIED pod-0@4", "DELETED pod-0@5"]);
  assertEquals((await ask(server, `${PODS}/pod-0`)).status, 404);
});

Deno.test("FakeApiServer deletes a pod that was never scheduled in two steps", async () => {
  const server = new FakeApiServer();
  await postWriter(server, PODS, { metadata: { name: "pod-0" }, spec: { containers: CONTAINERS } });
  await using watch = await Lines.open(server, `${PODS}?watch=1&resourceVersion=2`);
  await remove(server, `${PODS}/pod-0`);
  assertEquals((await watch.take(2)).map(brief), ["MODIFIED pod-0@3", "DELETED pod-0@4"]);
});

Deno.test("FakeApiServer.delete keeps an object with finalizers until these are gone, unless it is forced", () => {
  const server = new FakeApiServer();
  for (const name of ["a", "b", "c"]) server.create(ConfigMap, { metadata: { name, finalizers: ["example.com/a"] } });
  server.delete(ConfigMap, "a", { force: true });
  server.delete(ConfigMap, "b");
  const marked = server.get(ConfigMap, "b");
  assertEquals(typeof marked?.metadata.deletionTimestamp, "string");
  server.delete(ConfigMap, "b"); // again: nothing changes
  assertEquals(server.get(ConfigMap, "b"), marked);
  server.patch(ConfigMap, "b", { metadata: { finalizers: null } });
  assertEquals(server.keys(ConfigMap), ["default/c"]);
  assertEquals(server.resources().map(({ plural }) => plural), ["configmaps"]);
  server.delete(ConfigMap, "c");
  server.delete(ConfigMap, "c", { force: true });
  assertEquals(server.resources(), []);
});

Deno.test("FakeApiServer.delete passes over admission, and removes what has no finalizers in one step", async () => {
  const server = new FakeApiServer({ namespaces: "real" });
  server.admit(Pod, { validate: () => "no" });
  server.create(Pod, { metadata: { namespace: "answers", name: "a" }, spec: { nodeName: "n" } } as never);
  await using watch = await Lines.open(server, `${PODS}?watch=1&resourceVersion=${server.resourceVersion}`);
  server.delete(Pod, "answers/a", { gracePeriodSeconds: 30 });
  assertEquals(server.get(Pod, "answers/a")?.metadata.deletionGracePeriodSeconds, 30);
  server.delete(Pod, "answers/a");
  assertEquals((await watch.take(2)).map(({ type }) => type), ["MODIFIED", "DELETED"]);
  server.create(ReplicationController, { metadata: { name: "a" }, spec: {} } as never);
  server.delete(ReplicationController, "a");
  assertEquals(server.keys(ReplicationController), []);
  server.create(Namespace, { metadata: { name: "shop" }, spec: { finalizers: ["kubernetes"] } });
  server.delete(Namespace, "shop");
  assertEquals(server.get(Namespace, "shop")?.status?.phase, "Terminating");
  server.finalizeNamespaces();
  assertEquals(server.get(Namespace, "shop"), undefined);
});

Deno.test("FakeApiServer keeps an object with finalizers until the last one is removed", async () => {
  const server = new FakeApiServer();
  await postWriter(server, MAPS, { metadata: { name: "map-0", finalizers: ["example.com/a", "example.com/b"] } });
  await using watch = await Lines.open(server, `${MAPS}?watch=1&resourceVersion=2`);
  const marked = await remove(server, `${MAPS}/map-0`);
  assertEquals([marked.status, marked.json.kind], [200, "ConfigMap"]);
  assertNotEquals(marked.json.metadata.deletionTimestamp, undefined);
  // Asked again, nothing is left to do.
  assertEquals((await remove(server, `${MAPS}/map-0`)).json.metadata.resourceVersion, "3");
  await patch(server, `${MAPS}/map-0`, "merge-patch", { metadata: { finalizers: ["example.com/b"] } });
  await patch(server, `${MAPS}/map-0`, "json-patch", [{ op: "remove", path: "/metadata/finalizers" }]);
  const events = await watch.take(3);
  assertEquals(events.map(brief), ["MODIFIED map-0@3", "MODIFIED map-0@4", "DELETED map-0@5"]);
  assertEquals(events[2].object.metadata.finalizers, ["example.com/b"]);
  assertEquals(server.keys(ConfigMap), []);
});

Deno.test("FakeApiServer refuses new finalizers of an object that is being deleted, and takes away old ones", async () => {
  const server = new FakeApiServer();
  server.create(ConfigMap, { metadata: { namespace: "answers", name: "x", finalizers: ["a.b/c", "d.e/f"] } });
  await remove(server, `${MAPS}/x`);
  const path = `${MAPS}/x`;
  const finalizers = ["x.y/z", "a.b/c", "q.y/z"];
  const { json: current } = await ask(server, path);
  const answers = [
    await patch(server, path, "merge-patch", { metadata: { finalizers } }),
    await put(server, path, { ...current, metadata: { ...current.metadata, finalizers } }),
  ];
  for (const { status, json } of answers) {
    const why = "Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers " +
      '[]string{"q.y/z", "x.y/z"}';
    assertEquals(
      [status, json.reason, json.message],
      [422, "Invalid", `ConfigMap "x" is invalid: metadata.finalizers: ${why}`],
    );
    const causes = [{ reason: "FieldValueForbidden", message: why, field: "metadata.finalizers" }];
    assertEquals(json.details, { name: "x", kind: "ConfigMap", causes });
  }
  const fewer = await patch(server, path, "merge-patch", { metadata: { finalizers: ["a.b/c"] } });
  assertEquals([fewer.status, fewer.json.metadata.finalizers], [200, ["a.b/c"]]);
});

Deno.test("FakeApiServer keeps an object during its foreground deletion", async () => {
  const server = oneMap();
  const { json } = await remove(server, `${MAPS}/map-0?propagationPolicy=Foreground`);
  assertEquals(json.metadata.finalizers, ["foregroundDeletion"]);
});

Deno.test("FakeApiServer deletes the selected objects of a collection", async () => {
  const server = new FakeApiServer();
  for (const [name, app] of [["a", "web"], ["b", "db"], ["c", "web"]]) {
    server.create(ConfigMap, { metadata: { namespace: "answers", name, labels: { app } } });
  }
  server.create(ConfigMap, { metadata: { namespace: "other", name: "d", labels: { app: "web" } } });
  const { status, json } = await remove(server, `${MAPS}?labelSelector=app%3Dweb`);
  assertEquals([status, json.kind, json.items.length], [200, "ConfigMapList", 2]);
  assertEquals(server.keys(ConfigMap), ["answers/b", "other/d"]);
});

Deno.test("FakeApiServer's own methods write without version checks, status subresources or time", () => {
  const server = new FakeApiServer();
  const pod = server.create(Pod, {
    metadata: { name: "a", creationTimestamp: "2020-01-01T00:00:00Z" },
    spec: { nodeName: "n" },
    status: { phase: "Running" },
  });
  assertEquals([pod.kind, pod.apiVersion, pod.metadata.namespace], ["Pod", "v1", "default"]);
  assertEquals([pod.status?.phase, pod.metadata.creationTimestamp], ["Running", "2020-01-01T00:00:00Z"]);
  const stale = { ...pod, metadata: { ...pod.metadata, resourceVersion: "1" }, status: { phase: "Failed" } };
  const updated = server.update(Pod, stale);
  assertEquals(
    [updated.status?.phase, updated.metadata.resourceVersion, updated.metadata.generation],
    ["Failed", "3", 1],
  );
  const patched = server.patch(Pod, "a", { metadata: { labels: { x: "y" } }, spec: { nodeName: null }, status: null });
  assertEquals([patched.metadata.generation, patched.status, patched.metadata.resourceVersion], [2, undefined, "4"]);
  assertEquals(server.get(Pod, "default/a"), patched);
  server.patch(Pod, "a", { metadata: { finalizers: ["example.com/held"] } });
  server.delete(Pod, "a", { force: true });
  assertEquals(server.get(Pod, "a"), undefined);
  const next = server.create(Pod, { metadata: { name: "a", uid: pod.metadata.uid } });
  assertNotEquals(next.metadata.uid, pod.metadata.uid);
});

Deno.test("FakeApiServer's annotate changes annotations only", async () => {
  const server = new FakeApiServer();
  const before = server.create(Widget, {
    metadata: { name: "w", labels: { a: "ä" }, annotations: { old: "1" } },
    data: "日本",
    spec: { size: 1 },
  } as never);
  await using watch = await Lines.open(server, "/apis/example.com/v1/widgets?watch=1&resourceVersion=2");
  server.annotate(Widget, "w", { old: null, note: "ü" });
  server.annotate(Widget, "w", { note: "ü" });
  const { metadata, ...rest } = server.get(Widget, "w")!;
  const { metadata: _, ...restBefore } = before;
  assertEquals(rest, restBefore);
  assertEquals([metadata.annotations, metadata.labels, metadata.resourceVersion], [{ note: "ü" }, { a: "ä" }, "3"]);
  assertEquals(metadata.generation, 1);
  assertEquals((await watch.next()).object, { ...rest, metadata });
  assertThrows(() => server.annotate(Widget, "v", {}), StatusError, 'Cannot annotate widgets.example.com "v"');
});

Deno.test("FakeApiServer returns copies of its objects", () => {
  const server = new FakeApiServer();
  const labels = { app: "web" };
  const draft = { metadata: { name: "a", labels }, data: { k: "0" } };
  const created = server.create(ConfigMap, draft);
  labels.app = "changed";
  for (
    const object of [
      created,
      server.get(ConfigMap, "a")!,
      server.list(ConfigMap)[0],
      server.patch(ConfigMap, "a", { data: { k: "1" } }),
    ]
  ) {
    (object.metadata.labels as Record<string, string>).app = "spoiled";
    (object.data as Record<string, string>).k = "spoiled";
  }
  assertEquals(server.list(ConfigMap, { labelSelector: "app=web" }).map((map) => map.data), [{ k: "1" }]);
  assertEquals(server.list(ConfigMap, { namespace: "elsewhere" }), []);
});

Deno.test("FakeApiServer's errors explain why a write failed", () => {
  const server = oneMap();
  const exists = assertThrows(() => server.create(ConfigMap, { metadata: { namespace: "answers", name: "map-0" } }));
  assertEquals(isAlreadyExists(exists), true);
  assertEquals(
    (exists as Error).message,
    'Cannot create configmaps "answers/map-0": configmaps "map-0" already exists',
  );
  const missing = assertThrows(() => server.delete(Pod, "shop/cart"));
  assertEquals(isNotFound(missing), true);
  assertEquals((missing as Error).message, 'Cannot delete pods "shop/cart": pods "cart" not found');
  assertEquals(isNotFound(assertThrows(() => server.patch(Pod, "cart", {}))), true);
});

/** Creates an object by a request. */
async function postOfKind(server: FakeApiServer, path: string, body: object): Promise<Answer> {
  const answer = await ask(server, path, { method: "POST", body });
  assertEquals(answer.status, 201, JSON.stringify(answer.json));
  return answer;
}

Deno.test("an update that removes the last finalizer is answered with its own object", async () => {
  using server = new FakeApiServer();
  await postOfKind(server, MAPS, { metadata: { name: "a", finalizers: ["example.com/f"] } });
  const marked = await remove(server, `${MAPS}/a`);
  const body = { metadata: { finalizers: null }, data: { k: "v" } };
  const { status, json } = await patch(server, `${MAPS}/a`, "merge-patch", body);
  assertEquals([status, json.metadata.finalizers, json.data], [200, undefined, { k: "v" }]);
  assertEquals(json.metadata.resourceVersion, marked.json.metadata.resourceVersion);
  assertEquals((await ask(server, `${MAPS}/a`)).status, 404);
});

Deno.test("a refused patch quotes its object with sorted members where it looked", async () => {
  using server = new FakeApiServer();
  await postOfKind(server, MAPS, { metadata: { name: "a", labels: { z: "1", b: "2" } }, data: { y: "1", k: "2" } });
  const path = `${MAPS}/a?fieldValidation=Strict`;
  const { status, json } = await patch(server, path, "merge-patch", { data: { a: "0" }, nope: 1 });
  assertEquals(status, 422);
  const quoted = /Invalid value: ("(?:[^"\\]|\\.)*")/.exec(json.message)![1];
  const members = JSON.parse(JSON.parse(quoted));
  assertEquals(Object.keys(members), ["apiVersion", "data", "kind", "metadata", "nope"]);
  assertEquals([Object.keys(members.data), Object.keys(members.metadata)[0]], [["a", "k", "y"], "name"]);
});

Deno.test("some kinds keep their metadata in updates of the status, as on a server", async () => {
  using server = new FakeApiServer();
  const attachments = "/apis/storage.k8s.io/v1/volumeattachments";
  const source = { persistentVolumeName: "p" };
  await postOfKind(server, attachments, { metadata: { name: "a" }, spec: { attacher: "a.io", nodeName: "n", source } });
  const changed = { metadata: { labels: { a: "b" } }, status: { attached: true } };
  const { json } = await patch(server, `${attachments}/a/status`, "merge-patch", changed);
  assertEquals([json.status.attached, json.metadata.labels], [true, undefined]);
});

Deno.test("the dependents of a ReplicationController stay by default", async () => {
  using server = new FakeApiServer();
  const controllers = "/api/v1/namespaces/answers/replicationcontrollers";
  const template = { metadata: { labels: { a: "b" } }, spec: { containers: CONTAINERS } };
  await postOfKind(server, controllers, { metadata: { name: "a" }, spec: { selector: { a: "b" }, template } });
  assertEquals((await remove(server, `${controllers}/a`)).json.metadata.finalizers, ["orphan"]);
});

Deno.test("a namespace and a definition are marked for deletion without a grace period", async () => {
  using server = new FakeApiServer();
  await postOfKind(server, "/api/v1/namespaces", { metadata: { name: "held", finalizers: ["example.com/f"] } });
  const { metadata, status } = (await remove(server, "/api/v1/namespaces/held")).json;
  assertEquals([typeof metadata.deletionTimestamp, metadata.deletionGracePeriodSeconds], ["string", undefined]);
  assertEquals(status.phase, "Terminating");
});

Deno.test("requests get the defaults of volumes", async () => {
  using server = new FakeApiServer();
  const volume = await postOfKind(server, "/api/v1/persistentvolumes", {
    metadata: { name: "a" },
    spec: { accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" }, hostPath: { path: "/x" } },
  });
  assertEquals(volume.json.spec.volumeMode, "Filesystem");
});

const UNSELECTABLE: readonly (readonly [path: string, field: string, message: string])[] = [
  ["apps/v1/replicasets", "status.replicas", `"status.replicas" is not a known field selector: only "metadata.name"`],
  ["batch/v1/jobs", "spec.x", 'field label "spec.x" not supported for Job'],
  [
    "resource.k8s.io/v1/resourceslices",
    "spec.x",
    "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: spec.x",
  ],
];

for (const [path, field, message] of UNSELECTABLE) {
  Deno.test(`the field ${field} cannot be selected in ${path}`, async () => {
    using server = new FakeApiServer();
    const { status, json } = await ask(server, `/apis/${path}?fieldSelector=${field}%3D1`);
    assertEquals([status, json.message.startsWith(message)], [400, true], json.message);
  });
}

Deno.test("the namespace of a cluster-scoped object is dropped, as a real server does", async () => {
  const server = new FakeApiServer();
  const path = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
  const body = {
    kind: "ClusterRole",
    apiVersion: "rbac.authorization.k8s.io/v1",
    metadata: { name: "a", namespace: "b" },
  };
  const headers = { "content-type": "application/merge-patch+json" };
  const merge = { method: "PATCH", headers, body: { metadata: { namespace: "b" } } };
  const answers = [
    await ask(server, path, { method: "POST", body }),
    await ask(server, `${path}/a`, { method: "PUT", body }),
    await ask(server, `${path}/a`, merge),
  ];
  assertEquals(answers.map(({ status, json }) => [status, json.metadata.namespace]), [
    ...[[201, undefined], [200, undefined], [200, undefined]],
  ]);
});
