import { assertEquals, assertRejects } from "@std/assert";
import { Client } from "../../src/client/client.ts";
import { SharedInformerFactory } from "../../src/informer/shared_informer_factory.ts";
import { ConfigMap } from "../../src/kinds/core/v1.ts";
import { observeStatus } from "../../src/otel/observe_status.ts";
import { Manager } from "../../src/reconcile/manager.ts";
import { Reconciler } from "../../src/reconcile/reconciler.ts";
import { FakeApiServer } from "../../src/testing/fake_api_server.ts";
import { Recorder } from "./_recorder.ts";

Deno.test("observeStatus collects the status of a manager: units, attributes by the first word, sums and counts", async () => {
  using recorder = new Recorder();
  using client = new Client({ server: "http://fake", transport: new FakeApiServer() });
  const maps = new Reconciler(client, ConfigMap, () => {}, { name: "maps" });
  await using manager = new Manager({ reconcilers: [maps] });
  using _observed = observeStatus(manager);
  maps.enqueue("shop/a");
  assertEquals(await recorder.metric("manager.phase"), { unit: "", values: [[{ "manager.phase": "created" }, 1]] });
  assertEquals(await recorder.metric("informer.objects"), {
    unit: "",
    values: [[{ "informer.resource": "configmaps" }, 0]],
  });
  assertEquals(await recorder.metric("informer.state"), {
    unit: "",
    values: [[{ "informer.resource": "configmaps", "informer.state": "idle" }, 1]],
  });
  assertEquals((await recorder.metric("informer.stale")).unit, "s");
  assertEquals(await recorder.metric("workqueue.waiting_keys"), {
    unit: "",
    values: [[{ "reconciler.name": "maps" }, 1]],
  });
  assertEquals(await recorder.metric("workqueue.wait.time"), {
    unit: "s",
    values: [[{ "reconciler.name": "maps" }, 0]],
  });
  assertEquals(await recorder.metric("workqueue.wait.count"), {
    unit: "",
    values: [[{ "reconciler.name": "maps" }, 0]],
  });
  const { values } = await recorder.metric("reconciler.reconciles");
  assertEquals(values[0], [{ "reconciler.name": "maps", "reconciler.outcome": "succeeded" }, 0]);
});

Deno.test("observeStatus collects the status of the informers of a factory, made later ones too", async () => {
  using recorder = new Recorder();
  const server = new FakeApiServer();
  server.create(ConfigMap, { metadata: { name: "a", namespace: "shop" } });
  using client = new Client({ server: "http://fake", transport: server });
  await using informers = new SharedInformerFactory(client);
  using _observed = observeStatus(informers);
  informers.forResource(ConfigMap);
  informers.start();
  await informers.waitForCacheSync();
  assertEquals((await recorder.metric("informer.objects")).values, [[{ "informer.resource": "configmaps" }, 1]]);
  await assertRejects(() => recorder.metric("manager.phase"), Error, "no metric");
});

Deno.test("observeStatus asks for the status when metrics are collected, until it is disposed", async () => {
  using recorder = new Recorder();
  let asked = 0;
  const observed = observeStatus({ status: () => (asked++, []) });
  asked = 0;
  await assertRejects(() => recorder.metric("informer.objects"));
  assertEquals(asked, 1);
  observed[Symbol.dispose]();
  await assertRejects(() => recorder.metric("informer.objects"));
  assertEquals(asked, 1);
});
