import { assertEquals } from "@std/assert";
import { FakeApiServer } from "../../../src/testing/mod.ts";
import { Namespace } from "../../../src/kinds/core/v1.ts";
import { ask, ConfigMap, MAPS, Pod } from "../../support/fake_server.ts";

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

Deno.test("collectHeap deletes objects without a remaining owner, and their dependents", () => {
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

Deno.test("collectHeap identifies owners by uid", () => {
  const server = new FakeApiServer();
  owned(server, "a", []);
  owned(server, "a1", ["a"]);
  server.delete(ConfigMap, "answers/a");
  owned(server, "a", []);
  server.collectGarbage();
  assertEquals(names(server), ["a"]);
});

Deno.test("collectHeap finishes foreground deletions once no dependent blocks them", async () => {
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

Deno.test("collectHeap keeps orphans when the deletion requests that", async () => {
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

Deno.test("collectHeap finds owners by namespace, and never deletes a cluster-scoped object of a namespaced owner", () => {
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
