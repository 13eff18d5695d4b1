import { assert, assertEquals, assertRejects } from "@std/assert";
import { isConflict, StatusError } from "../../src/api/status.ts";
import type { Mutable } from "../../src/api/object.ts";
import type { KubernetesObject } from "../../src/api/object.ts";
import { defineResource, type Resource } from "../../src/api/resource.ts";
import { json, pod, podList, refusal, scripted, statusObject } from "../support/transport.ts";

interface Pod extends KubernetesObject {
  readonly spec?: { readonly nodeName?: string };
}
const Pod: Resource<Pod> = defineResource<Pod>({ version: "v1", plural: "pods", kind: "Pod" });
const Deployment = defineResource({ group: "apps", version: "v1", plural: "deployments", kind: "Deployment" });
const Node = defineResource({ version: "v1", plural: "nodes", kind: "Node", scope: "Cluster" });

Deno.test("ResourceClient.create fills in kind, apiVersion and namespace", async () => {
  const { client, sent } = scripted(json(pod("web-0", "5"), 201), json({}, 201), json({}, 201), json({}, 201));
  const made = await client.resource(Pod, { namespace: "shop" }).create({ metadata: { name: "web-0" }, spec: {} });
  assertEquals(made.metadata.resourceVersion, "5");
  assertEquals([sent.last.method, sent.last.path], ["POST", "/api/v1/namespaces/shop/pods"]);
  assertEquals(sent.last.headers.get("content-type"), "application/json");
  assertEquals(JSON.parse(sent.last.body), {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web-0", namespace: "shop" },
    spec: {},
  });
  await client.resource(Deployment).create({ metadata: { generateName: "web-" } });
  assertEquals(sent.last.path, "/apis/apps/v1/namespaces/home/deployments");
  assertEquals(JSON.parse(sent.last.body), {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { generateName: "web-", namespace: "home" },
  });
  await client.resource(Pod).create({ metadata: { name: "web-0", namespace: "bank" } });
  assertEquals(sent.last.path, "/api/v1/namespaces/bank/pods");
  await client.resource(Node, { namespace: "shop" }).create({ metadata: { name: "n1" } });
  assertEquals([sent.last.path, JSON.parse(sent.last.body).metadata], ["/api/v1/nodes", { name: "n1" }]);
});

Deno.test("ResourceClient.create refuses a draft of another namespace than that of the collection", async () => {
  const { client, sent } = scripted();
  await assertRejects(
    () => client.resource(Pod, { namespace: "shop" }).create({ metadata: { name: "web-0", namespace: "bank" } }),
    TypeError,
    'the collection is of namespace "shop"',
  );
  assertEquals(sent.requests.length, 0);
});

Deno.test("ResourceClient.create creates a subresource of the object that the draft names", async () => {
  const { client, sent } = scripted(json({}, 201));
  const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "web-0" } };
  await client.resource(Pod, { namespace: "shop" }).create(eviction, { subresource: "eviction" });
  assertEquals(sent.last.path, "/api/v1/namespaces/shop/pods/web-0/eviction");
  assertEquals(JSON.parse(sent.last.body).kind, "Eviction");
  await assertRejects(
    () => client.resource(Pod).create({ metadata: {} } as never, { subresource: "eviction" }),
    TypeError,
    "no metadata.name",
  );
});

Deno.test("ResourceClient writes with dry run, field manager and field validation", async () => {
  const { client, sent } = scripted(json({}), json({}), json({}));
  const options = { dryRun: true, fieldManager: "tests", fieldValidation: "Strict" } as const;
  const query = { pretty: "false", dryRun: "All", fieldManager: "tests", fieldValidation: "Strict" };
  await client.resource(Pod).create({ metadata: { name: "a" } }, options);
  assertEquals(sent.last.query, query);
  await client.resource(Pod).update(pod("a", "1") as unknown as Mutable<Pod>, options);
  assertEquals(sent.last.query, query);
  await client.resource(Pod).patch("a", { type: "merge", body: {} }, options);
  assertEquals(sent.last.query, query);
});

Deno.test("ResourceClient.update sends the object to the path of its own name and namespace", async () => {
  const { client, sent } = scripted(json(pod("web-0", "6")), json({}));
  const object = pod("web-0", "5", "bank") as unknown as Mutable<Pod>;
  assertEquals((await client.resource(Pod).update(object)).metadata.resourceVersion, "6");
  assertEquals([sent.last.method, sent.last.path], ["PUT", "/api/v1/namespaces/bank/pods/web-0"]);
  assertEquals(JSON.parse(sent.last.body), object);
  await client.resource(Pod).update({ metadata: object.metadata }, { subresource: "status" });
  assertEquals(sent.last.path, "/api/v1/namespaces/bank/pods/web-0/status");
  assertEquals(JSON.parse(sent.last.body).kind, "Pod");
  const nameless = { metadata: { ...object.metadata, name: "" } };
  await assertRejects(() => client.resource(Pod).update(nameless), TypeError, "no metadata.name");
});

Deno.test("ResourceClient.update throws a conflict as a StatusError", async () => {
  const { client } = scripted(refusal(409, "Conflict", "the object has been modified"));
  const error = await assertRejects(
    () => client.resource(Pod).update(pod("a", "1") as unknown as Mutable<Pod>),
    StatusError,
  );
  assert(isConflict(error));
});

Deno.test("ResourceClient.patch sends each patch type with its content type [F26]", async () => {
  const { client, sent } = scripted(json({}), json({}), json({}), json({}), json({}));
  const pods = client.resource(Pod, { namespace: "shop" });
  const types: string[] = [];
  const bodies: unknown[] = [];
  for (
    const patch of [
      { type: "json", body: [{ op: "remove", path: "/spec" }] },
      { type: "merge", body: { spec: null } },
      { type: "strategic", body: { spec: {} } },
    ] as const
  ) {
    await pods.patch("web-0", patch);
    types.push(sent.last.headers.get("content-type") ?? "");
    bodies.push(JSON.parse(sent.last.body));
  }
  assertEquals(types, [
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
  ]);
  assertEquals(bodies, [[{ op: "remove", path: "/spec" }], { spec: null }, { spec: {} }]);
  assertEquals([sent.last.method, sent.last.path], ["PATCH", "/api/v1/namespaces/shop/pods/web-0"]);

  await pods.patch("web-0", { type: "apply", fieldManager: "tests", body: { spec: {} } });
  assertEquals(sent.last.headers.get("content-type"), "application/apply-patch+yaml");
  assertEquals(sent.last.query, { pretty: "false", fieldManager: "tests" });
  assertEquals(JSON.parse(sent.last.body), { apiVersion: "v1", kind: "Pod", spec: {} });
  await pods.patch("web-0", { type: "apply", fieldManager: "tests", force: true, body: {} }, { subresource: "status" });
  assertEquals(sent.last.query, { pretty: "false", fieldManager: "tests", force: "true" });
  assertEquals(sent.last.path, "/api/v1/namespaces/shop/pods/web-0/status");
  await assertRejects(
    () => pods.patch("web-0", { type: "apply", fieldManager: "", body: {} }),
    TypeError,
    "needs a fieldManager",
  );
});

Deno.test("ResourceClient.delete sends its options in the body, and returns the object or the Status", async () => {
  const success = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details: { name: "web-0" } };
  const { client, sent } = scripted(json(success), json(pod("web-0", "9")));
  const pods = client.resource(Pod, { namespace: "shop" });
  const status = await pods.delete("web-0", {
    dryRun: true,
    preconditions: { uid: "u" },
    propagationPolicy: "Foreground",
    gracePeriodSeconds: 0,
  });
  assert("code" in status);
  assertEquals([status.code, status.details?.name], [200, "web-0"]);
  assertEquals([sent.last.method, sent.last.path], ["DELETE", "/api/v1/namespaces/shop/pods/web-0"]);
  assertEquals(JSON.parse(sent.last.body), {
    apiVersion: "v1",
    kind: "DeleteOptions",
    preconditions: { uid: "u" },
    propagationPolicy: "Foreground",
    gracePeriodSeconds: 0,
    dryRun: ["All"],
  });
  const last = await pods.delete("web-0");
  assert("metadata" in last);
  assertEquals(last.metadata.resourceVersion, "9");
  assertEquals(JSON.parse(sent.last.body), { apiVersion: "v1", kind: "DeleteOptions" });
});

Deno.test("ResourceClient.deleteCollection sends its selection in the query, and cancels the response's body", async () => {
  const { client, sent } = scripted(json(podList(["a", "b"])), json({}));
  await client.resource(Pod, { namespace: "shop", labelSelector: "app=web" }).deleteCollection({
    dryRun: true,
    fieldSelector: "status.phase=Failed",
    propagationPolicy: "Orphan",
    gracePeriodSeconds: 1,
  });
  assertEquals([sent.last.method, sent.last.path], ["DELETE", "/api/v1/namespaces/shop/pods"]);
  assertEquals(sent.last.query, {
    pretty: "false",
    labelSelector: "app=web",
    fieldSelector: "status.phase=Failed",
    dryRun: "All",
    propagationPolicy: "Orphan",
    gracePeriodSeconds: "1",
  });
  await client.resource(Node).deleteCollection();
  assertEquals(sent.last.path, "/api/v1/nodes");
});

Deno.test("ResourceClient rejects with the failure of a Status that comes with code 200", async () => {
  const { client } = scripted(json(statusObject(500, "InternalError", "no"), 200));
  const error = await assertRejects(() => client.resource(Pod).get("web-0"), StatusError);
  assertEquals(error.status.code, 500);
  assertEquals(error.message, 'Cannot get "pods/web-0" in namespace "home": 500 InternalError: no');
});
