import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { Deployment } from "../../../src/engine/kinds/apps/v1.ts";
import { Lease } from "../../../src/engine/kinds/coordination/v1.ts";
import { ConfigMap, Namespace, Node, Pod } from "../../../src/engine/kinds/core/v1.ts";
import { churn, configMap, deployment, FakeApiServer, lease, namespace, node, pod } from "../../../src/testing/mod.ts";
import { bigPod, pods } from "../../support/sources/big_pods.ts";

Deno.test("pod fills in the members that a server's object has", () => {
  const built: Pod = pod({ name: "web-0", namespace: "shop", node: "worker-1", labels: { app: "web" } });
  assertEquals([built.metadata.namespace, built.metadata.labels, built.metadata.resourceVersion], ["shop", {
    app: "web",
  }, "1"]);
  assertEquals([built.spec.nodeName, built.status?.phase, built.spec.containers.length], ["worker-1", "Running", 1]);
  assertEquals(built.status?.conditions, [{ type: "Ready", status: "True" }]);
  assertEquals(pod({ name: "web-0", namespace: "shop" }).metadata.uid, built.metadata.uid);
  assertNotEquals(pod({ name: "web-1", namespace: "shop" }).metadata.uid, built.metadata.uid);
  const waiting = pod({ name: "web-0" });
  assertEquals(
    [waiting.metadata.namespace, waiting.status.phase, waiting.spec.nodeName],
    ["default", "Pending", undefined],
  );
  assertEquals(
    pod({ name: "x", uid: "u", resourceVersion: "7", ready: false, node: "n" }).status.conditions?.[0].status,
    "False",
  );
});

Deno.test("builders make objects that a server accepts", () => {
  const server = new FakeApiServer();
  server.create(Pod, pod({ name: "a", phase: "Failed", finalizers: ["example.com/x"] }));
  server.create(Node, node({ name: "worker-1", ready: false, unschedulable: true }));
  server.create(Namespace, namespace({ name: "shop", phase: "Terminating" }));
  server.create(ConfigMap, configMap({ name: "m", data: { k: "v" }, annotations: { note: "x" } }));
  server.create(Deployment, deployment({ name: "web", replicas: 3, readyReplicas: 1, image: "web:2" }));
  server.create(Lease, lease({ name: "l", holder: "me", durationSeconds: 15 }));
  assertEquals(server.get(Pod, "a")?.status?.phase, "Failed");
  assertEquals(server.get(Node, "worker-1")?.spec?.unschedulable, true);
  assertEquals(server.get(Namespace, "shop")?.status?.phase, "Terminating");
  assertEquals(server.get(ConfigMap, "m")?.data, { k: "v" });
  const web = server.get(Deployment, "web")!;
  assertEquals([web.spec.replicas, web.status?.readyReplicas, web.spec.selector.matchLabels], [3, 1, { app: "web" }]);
  assertEquals(server.get(Lease, "l")?.spec?.holderIdentity, "me");
});

Deno.test("pods are large, different, and equal for the same seed", () => {
  const server = new FakeApiServer();
  const names = new Set<string>();
  const uids = new Set<string>();
  for (const built of pods(500, 3)) {
    const size = JSON.stringify(built).length;
    assert(size > 5_000 && size < 10_000, `size is ${size}`);
    names.add(built.metadata.name);
    uids.add(built.metadata.uid);
    server.create(Pod, built);
  }
  assertEquals([names.size, uids.size, server.keys(Pod).length], [500, 500, 500]);
  assertEquals(bigPod(42, 3), [...pods(43, 3)][42]);
  assertNotEquals(bigPod(42, 4).metadata.uid, bigPod(42, 3).metadata.uid);
  // Its managedFields are taken as they are.
  const stored = server.list(Pod)[0];
  assertEquals(stored.metadata.managedFields?.length, 2);
  // Pods of one application have one owner.
  assertEquals(bigPod(0).metadata.ownerReferences, bigPod(3).metadata.ownerReferences);
});

Deno.test("churn only updates by default", () => {
  const server = new FakeApiServer();
  for (const built of pods(10)) server.create(Pod, built);
  const keys = server.keys(Pod);
  const step = churn(server, { resource: Pod });
  for (let count = 0; count < 50; count++) {
    const { type, key } = step();
    assertEquals(type, "update");
    assert(keys.includes(key));
  }
  // Each step is a write.
  assertEquals(server.resourceVersion, String(1 + 10 + 50));
  assertEquals(server.keys(Pod), keys);
});

Deno.test("churn creates and deletes equally often, in the same order for the same seed", () => {
  const history = (seed: number): string[] => {
    const server = new FakeApiServer();
    for (let index = 0; index < 20; index++) server.create(ConfigMap, configMap({ name: `m-${index}` }));
    const step = churn(server, { resource: ConfigMap, mix: "all", seed });
    const steps = Array.from({ length: 400 }, step);
    const size = server.keys(ConfigMap).length;
    assert(size >= 10 && size <= 21, `size is ${size}`);
    assertEquals(new Set(steps.map((step) => step.type)), new Set(["create", "update", "delete"]));
    return steps.map(({ type, key }) => `${type} ${key}`);
  };
  assertEquals(history(5), history(5));
  assertNotEquals(history(5), history(6));
});

Deno.test("churn creates when there is no pod, and tolerates deletions by others", () => {
  const server = new FakeApiServer();
  const step = churn(server, { resource: ConfigMap, make: (index) => configMap({ name: `own-${index}` }) });
  assertEquals(step(), { type: "create", key: "default/own-0" });
  assertEquals(step(), { type: "update", key: "default/own-0" });
  server.delete(ConfigMap, "own-0");
  assertEquals(step(), { type: "create", key: "default/own-1" });
  assertEquals(server.keys(ConfigMap), ["default/own-1"]);
});
