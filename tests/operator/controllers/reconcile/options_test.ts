import { assertEquals } from "@std/assert";
import { onlyFields } from "../../../../src/engine/api/fields.ts";
import { Client } from "../../../../src/engine/client/client.ts";
import { Reconciler } from "../../../../src/operator/controllers/reconcile/reconciler.ts";
import { ConfigMap } from "../../../../src/engine/kinds/core/v1.ts";
import { configMap, FakeApiServer } from "../../../../src/testing/mod.ts";
import { FakeTime } from "../../../support/times/fake_time.ts";

Deno.test("Reconciler of fields reconciles changes of them alone, and sees its own writes of other fields", async () => {
  using time = new FakeTime();
  using server = new FakeApiServer();
  using client = new Client({ server: "http://fake", transport: server, namespace: "shop" });
  server.create(ConfigMap, configMap({ namespace: "shop", name: "a", data: { wanted: "1" } }));
  const calls: string[] = [];
  const reconciler = new Reconciler(client, onlyFields(ConfigMap, ["data.wanted"]), async ({ key, object, client }) => {
    const wanted = object?.data?.wanted ?? "";
    calls.push(`${key} ${wanted}`);
    await client.resource(ConfigMap).patch("a", { type: "merge", body: { data: { written: wanted } } });
  });
  const stop = new AbortController();
  const running = reconciler.run({ signal: stop.signal });
  await time.tickAsync(100);
  assertEquals(calls, ["shop/a 1"]);
  server.update(ConfigMap, { ...server.get(ConfigMap, "shop/a")!, data: { wanted: "2", written: "1" } });
  await time.tickAsync(100);
  assertEquals(calls, ["shop/a 1", "shop/a 2"]);
  assertEquals(server.get(ConfigMap, "shop/a")?.data, { wanted: "2", written: "2" });
  assertEquals(reconciler.status().stale, 0);
  stop.abort();
  await time.tickAsync(0);
  await running;
});
