// A key without a namespace is the commonest slip of who comes from a client with `get(name, namespace)`.
import { Client, SharedIndexInformer } from "@kube/informer";
import { Node, Pod } from "@kube/informer/kinds/core/v1";
import { untilReady } from "@kube/informer/readiness";
import { FakeApiServer, pod } from "@kube/informer/testing";
import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { Reconciler } from "../../../src/operator/controllers/reconcile/mod.ts";
import { FakeTime } from "../../support/times/fake_time.ts";

const MESSAGE = `Cannot use the key "web-0": keys of pods are "namespace/name", e.g. "default/web-0"`;

Deno.test("A key without a namespace is a TypeError where the kind is namespaced, and only there", async () => {
  using time = new FakeTime();
  using server = new FakeApiServer();
  server.create(Pod, pod({ name: "web-0", namespace: "shop" }));
  server.create(Node, { metadata: { name: "node-0" } });
  using client = new Client({ server: "http://fake", transport: server });
  await using pods = new SharedIndexInformer(client.resource(Pod));
  await using nodes = new SharedIndexInformer(client.resource(Node));
  void pods.run();
  void nodes.run();
  await time.tickAsync(0);
  assertEquals(pods.lister.get("shop/web-0")?.metadata.name, "web-0");
  assertEquals(pods.lister.get("shop/web-1"), undefined);
  assertEquals(nodes.lister.get("node-0")?.metadata.name, "node-0");
  assertEquals(nodes.lister.get("node-1"), undefined);
  assertThrows(() => pods.lister.get("web-0"), TypeError, MESSAGE);
  assertThrows(() => pods.lister.namespace("").get("web-0"), TypeError, MESSAGE);
  await assertRejects(() => untilReady(pods, "web-0"), TypeError, MESSAGE);
  await assertRejects(() => pods.until(() => true, { key: "web-0" }), TypeError, MESSAGE);
  await assertRejects(() => pods.untilDeleted("web-0"), TypeError, MESSAGE);
  await nodes.untilDeleted("node-1");
});

Deno.test("A map function that returns a key without a namespace is reported, and so is enqueue()", async () => {
  using time = new FakeTime();
  using server = new FakeApiServer();
  server.create(Node, { metadata: { name: "node-0" } });
  using client = new Client({ server: "http://fake", transport: server });
  const errors: unknown[] = [];
  const onError = (error: unknown): void => void errors.push(error);
  await using reconciler = new Reconciler(client, Pod, () => {}, { onError });
  reconciler.watches(Node, () => ["web-0"]);
  assertThrows(() => reconciler.enqueue("web-0"), TypeError, MESSAGE);
  const stop = new AbortController();
  const running = reconciler.run({ signal: stop.signal });
  await time.tickAsync(0);
  assertEquals(errors.map(String), [`TypeError: ${MESSAGE}`]);
  stop.abort();
  await running;
});
