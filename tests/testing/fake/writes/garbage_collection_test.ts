import { assertEquals } from "@std/assert";
import { ConfigMap, Namespace } from "../../../../src/engine/kinds/core/v1.ts";
import { FakeApiServer } from "../../../../src/testing/mod.ts";
import { type Answer, ask, MAPS, patch, Pod } from "../../../support/servers/fake_server.ts";

/** A config map that those of the other names own. */
function owned(
  server: FakeApiServer,
  name: string,
  owners: readonly string[],
  more: Record<string, unknown> = {},
): void {
  const ownerReferences = owners.map((owner) => {
    const { uid } = server.get(ConfigMap, `answers/${owner}`)!.metadata;
    return { apiVersion: "v1", kind: "ConfigMap", name: owner, uid, ...more };
  });
  server.create(ConfigMap, { metadata: { namespace: "answers", name, ownerReferences } });
}

function names(server: FakeApiServer): string[] {
  return server.keys(ConfigMap).map((key) => key.replace("answers/", ""));
}

Deno.test("collectGarbage deletes objects without a remaining owner, and their dependents", () => {
  const server = new FakeApiServer();
  for (const name of ["a", "b"]) owned(server, name, []);
  owned(server, "a1", ["a"]);
  owned(server, "a2", ["a1"]);
  owned(server, "both", ["a", "b"]);
  assertEquals(server.collectGarbage(), 0);
  server.delete(ConfigMap, "answers/a");
  assertEquals([server.collectGarbage(), names(server)], [2, ["b", "both"]]);
  server.delete(ConfigMap, "answers/b");
  assertEquals([server.collectGarbage(), names(server)], [1, []]);
});

Deno.test("collectGarbage identifies owners by uid", () => {
  const server = new FakeApiServer();
  owned(server, "a", []);
  owned(server, "a1", ["a"]);
  server.delete(ConfigMap, "answers/a");
  owned(server, "a", []);
  server.collectGarbage();
  assertEquals(names(server), ["a"]);
});

Deno.test("collectGarbage finishes foreground deletions once no dependent blocks them", async () => {
  const server = new FakeApiServer();
  owned(server, "a", []);
  owned(server, "a1", ["a"], { blockOwnerDeletion: true });
  const { uid } = server.get(ConfigMap, "answers/a")!.metadata;
  const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "a", uid, blockOwnerDeletion: true }];
  server.create(Pod, {
    metadata: { namespace: "answers", name: "held", finalizers: ["example.com/wait"], ownerReferences },
  });
  const body = { propagationPolicy: "Foreground" };
  const deleted = await ask(server, `${MAPS}/a`, { method: "DELETE", body });
  assertEquals(deleted.json.metadata.finalizers, ["foregroundDeletion"]);
  server.collectGarbage();
  assertEquals([names(server), server.keys(Pod)], [["a"], ["answers/held"]]);
  server.patch(Pod, "answers/held", { metadata: { finalizers: null } });
  assertEquals(server.keys(Pod), []);
  server.collectGarbage();
  assertEquals(names(server), []);
});

Deno.test("collectGarbage keeps orphans when the deletion requests that", async () => {
  const server = new FakeApiServer();
  owned(server, "a", []);
  owned(server, "a1", ["a"]);
  await ask(server, `${MAPS}/a`, { method: "DELETE", body: { propagationPolicy: "Orphan" } });
  assertEquals(names(server), ["a", "a1"]);
  server.collectGarbage();
  assertEquals(names(server), ["a1"]);
  assertEquals(server.get(ConfigMap, "answers/a1")?.metadata.ownerReferences, undefined);
  assertEquals(server.collectGarbage(), 0);
});

Deno.test("collectGarbage finds owners by namespace, and never deletes a cluster-scoped object of a namespaced owner", () => {
  const server = new FakeApiServer();
  const { uid } = server.create(ConfigMap, { metadata: { namespace: "answers", name: "a" } }).metadata;
  const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "a", uid }];
  server.create(Namespace, { metadata: { name: "cluster-scoped", ownerReferences } });
  server.create(ConfigMap, { metadata: { namespace: "other", name: "elsewhere", ownerReferences } });
  assertEquals([server.collectGarbage(), server.keys(ConfigMap)], [1, ["answers/a"]]);
  server.delete(ConfigMap, "answers/a");
  assertEquals([server.collectGarbage(), server.keys(Namespace)], [0, ["cluster-scoped"]]);
  const owner = server.create(Namespace, { metadata: { name: "owner" } });
  const byNamespace = [{ apiVersion: "v1", kind: "Namespace", name: "owner", uid: owner.metadata.uid }];
  server.create(Namespace, { metadata: { name: "owned", ownerReferences: byNamespace } });
  server.create(ConfigMap, { metadata: { namespace: "other", name: "owned", ownerReferences: byNamespace } });
  assertEquals(server.collectGarbage(), 0);
  server.delete(Namespace, "owner");
  assertEquals(server.collectGarbage(), 2);
});

const SPACES = "/api/v1/namespaces";
const SHOP_MAPS = `${SPACES}/shop/configmaps`;
const MAP = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } };

function post(server: FakeApiServer, path: string, metadata: object, more: object = {}): Promise<Answer> {
  return ask(server, path, { method: "POST", body: { metadata, ...more } });
}

function remove(server: FakeApiServer, name: string, body?: object): Promise<Answer> {
  return ask(server, `${SPACES}/${name}`, { method: "DELETE", body });
}

async function withShop(metadata: object = {}): Promise<FakeApiServer> {
  const server = new FakeApiServer({ namespaces: "real" });
  await post(server, SPACES, { name: "shop", ...metadata });
  return server;
}

Deno.test("Real namespaces must exist for what requests create in them, and for nothing else", async () => {
  const server = new FakeApiServer({ namespaces: "real" });
  const missing = await post(server, SHOP_MAPS, { name: "a" });
  assertEquals([missing.status, missing.json.message], [404, 'namespaces "shop" not found']);
  assertEquals(missing.json.details, { name: "shop", kind: "namespaces" });
  const applied = await patch(server, `${SHOP_MAPS}/a?fieldManager=m`, "apply", MAP);
  const evicted = await post(server, `${SPACES}/shop/pods/p/eviction`, { name: "p" });
  const bound = await post(server, `${SPACES}/shop/bindings`, { name: "p" }, { target: { name: "n" } });
  for (const { status, json } of [evicted, bound]) {
    assertEquals([status, json.message], [404, 'namespaces "shop" not found']);
  }
  assertEquals([applied.status, applied.json.message], [404, missing.json.message]);
  assertEquals((await ask(server, SHOP_MAPS)).status, 200);
  server.create(ConfigMap, { metadata: { namespace: "shop", name: "a" } });
  assertEquals((await ask(server, `${SHOP_MAPS}/a`, { method: "DELETE" })).status, 200);
  assertEquals((await post(server, SPACES, { name: "shop" })).status, 201);
  assertEquals((await post(server, SHOP_MAPS, { name: "a" })).status, 201);
});

Deno.test("Real namespaces are there from the start as in a new cluster, and those cannot be deleted", async () => {
  const server = new FakeApiServer({ namespaces: "real" });
  const names = ["default", "kube-node-lease", "kube-public", "kube-system"];
  assertEquals(server.list(Namespace).map(({ metadata }) => metadata.name), names);
  for (const name of names) {
    assertEquals(server.get(Namespace, name)?.status, { phase: "Active" });
    const { status, json } = await remove(server, name);
    assertEquals([status, json.message], [403, `namespaces "${name}" is forbidden: this namespace may not be deleted`]);
  }
  assertEquals(new FakeApiServer().keys(Namespace), []);
});

Deno.test("A deleted namespace is terminating, stays through more deletions, and takes no new objects", async () => {
  const server = await withShop();
  await post(server, SHOP_MAPS, { name: "a" });
  const tried = await remove(server, "shop", { dryRun: ["All"] });
  assertEquals([tried.json.status.phase, server.get(Namespace, "shop")?.status?.phase], ["Terminating", "Active"]);
  const first = await remove(server, "shop");
  assertEquals([first.status, first.json.status.phase], [200, "Terminating"]);
  assertEquals(typeof first.json.metadata.deletionTimestamp, "string");
  assertEquals(first.json.metadata.deletionGracePeriodSeconds, undefined);
  assertEquals(first.json.spec, { finalizers: ["kubernetes"] });
  assertEquals((await remove(server, "shop", { propagationPolicy: "Orphan" })).json, first.json);
  const refused = await post(server, SHOP_MAPS, { generateName: "b-" });
  assertEquals(
    [refused.status, refused.json.message],
    [
      403,
      'configmaps "b-" is forbidden: unable to create new content in namespace shop because it is being terminated',
    ],
  );
  const message = "namespace shop is being terminated";
  const causes = [{ reason: "NamespaceTerminating", message, field: "metadata.namespace" }];
  assertEquals(refused.json.details, { name: "b-", kind: "configmaps", causes });
  assertEquals((await patch(server, `${SHOP_MAPS}/a`, "merge-patch", { data: { a: "b" } })).status, 200);
});

Deno.test("A namespace ends with its last finalizer, be it of its metadata or of its spec", async () => {
  const server = await withShop({ finalizers: ["a.b/c"] });
  await remove(server, "shop");
  const finalize = (): Promise<Answer> =>
    ask(server, `${SPACES}/shop/finalize`, { method: "PUT", body: { metadata: { name: "shop" }, spec: {} } });
  const finalized = await finalize();
  assertEquals([finalized.status, finalized.json.spec, finalized.json.status.phase], [200, {}, "Terminating"]);
  assertEquals((await patch(server, `${SPACES}/shop`, "merge-patch", { metadata: { finalizers: [] } })).status, 200);
  assertEquals(server.get(Namespace, "shop"), undefined);

  await post(server, SPACES, { name: "shop", finalizers: ["a.b/c"] });
  await remove(server, "shop");
  await patch(server, `${SPACES}/shop`, "merge-patch", { metadata: { finalizers: [] } });
  assertEquals(server.get(Namespace, "shop")?.spec?.finalizers, ["kubernetes"]);
  assertEquals((await finalize()).status, 200);
  assertEquals(server.get(Namespace, "shop"), undefined);
});

Deno.test("finalizeNamespaces empties and ends the namespaces that are being deleted, but for objects with finalizers", async () => {
  const server = await withShop();
  await post(server, SPACES, { name: "other" });
  await post(server, SHOP_MAPS, { name: "a" });
  await post(server, SHOP_MAPS, { name: "held", finalizers: ["a.b/c"] });
  await post(server, `${SPACES}/other/configmaps`, { name: "a" });
  await post(server, `${SPACES}/shop/events`, { name: "e" }, { involvedObject: { namespace: "shop" } });
  assertEquals(server.finalizeNamespaces(), 0);
  await remove(server, "shop");
  assertEquals(server.finalizeNamespaces(), 3);
  assertEquals(server.keys(ConfigMap), ["other/a", "shop/held"]);
  assertEquals(server.finalizeNamespaces(), 0);
  server.patch(ConfigMap, "shop/held", { metadata: { finalizers: [] } });
  assertEquals(server.finalizeNamespaces(), 1);
  assertEquals(server.keys(Namespace).includes("shop"), false);
  assertEquals((await post(server, SPACES, { name: "shop" })).status, 201);
});
