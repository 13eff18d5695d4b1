import { assertEquals } from "@std/assert";
import { FakeApiServer } from "../../../src/testing/mod.ts";
import { type Answer, ask, CONTAINERS, MAPS, patch } from "../../support/fake_server.ts";

/** Creates an object by a request. */
async function post(server: FakeApiServer, path: string, body: object): Promise<Answer> {
  const answer = await ask(server, path, { method: "POST", body });
  assertEquals(answer.status, 201, JSON.stringify(answer.json));
  return answer;
}

function remove(server: FakeApiServer, path: string): Promise<Answer> {
  return ask(server, path, { method: "DELETE" });
}

Deno.test("an update that removes the last finalizer is answered with its own object", async () => {
  using server = new FakeApiServer();
  await post(server, MAPS, { metadata: { name: "a", finalizers: ["example.com/f"] } });
  const marked = await remove(server, `${MAPS}/a`);
  const { status, json } = await patch(server, `${MAPS}/a`, "merge-patch", { metadata: { finalizers: null } });
  assertEquals([status, json.metadata.finalizers], [200, undefined]);
  assertEquals(json.metadata.resourceVersion, marked.json.metadata.resourceVersion);
  assertEquals((await ask(server, `${MAPS}/a`)).status, 404);
});

Deno.test("a refused patch quotes its object with sorted members where it looked", async () => {
  using server = new FakeApiServer();
  await post(server, MAPS, { metadata: { name: "a", labels: { z: "1", b: "2" } }, data: { y: "1", k: "2" } });
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
  await post(server, attachments, { metadata: { name: "a" }, spec: { attacher: "a.io", nodeName: "n", source } });
  const changed = { metadata: { labels: { a: "b" } }, status: { attached: true } };
  const { json } = await patch(server, `${attachments}/a/status`, "merge-patch", changed);
  assertEquals([json.status.attached, json.metadata.labels], [true, undefined]);
});

Deno.test("the dependents of a ReplicationController stay by default", async () => {
  using server = new FakeApiServer();
  const controllers = "/api/v1/namespaces/answers/replicationcontrollers";
  const template = { metadata: { labels: { a: "b" } }, spec: { containers: CONTAINERS } };
  await post(server, controllers, { metadata: { name: "a" }, spec: { selector: { a: "b" }, template } });
  assertEquals((await remove(server, `${controllers}/a`)).json.metadata.finalizers, ["orphan"]);
});

Deno.test("a namespace and a definition are marked for deletion without a grace period", async () => {
  using server = new FakeApiServer();
  await post(server, "/api/v1/namespaces", { metadata: { name: "held", finalizers: ["example.com/f"] } });
  const { metadata, status } = (await remove(server, "/api/v1/namespaces/held")).json;
  assertEquals([typeof metadata.deletionTimestamp, metadata.deletionGracePeriodSeconds], ["string", undefined]);
  assertEquals(status.phase, "Terminating");
});

Deno.test("requests get the defaults and finalizers of volumes", async () => {
  using server = new FakeApiServer();
  const volume = await post(server, "/api/v1/persistentvolumes", {
    metadata: { name: "a" },
    spec: { accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" }, hostPath: { path: "/x" } },
  });
  assertEquals(volume.json.spec.volumeMode, "Filesystem");
  const attributes = { metadata: { name: "a" }, driverName: "d.io", parameters: { a: "b" } };
  const made = await post(server, "/apis/storage.k8s.io/v1/volumeattributesclasses", attributes);
  assertEquals(made.json.metadata.finalizers, ["kubernetes.io/vac-protection"]);
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
