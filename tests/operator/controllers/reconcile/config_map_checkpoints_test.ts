import { assert, assertEquals, assertRejects } from "@std/assert";
import { CheckpointError } from "../../../../src/engine/api/stores.ts";
import { Client } from "../../../../src/engine/client/client.ts";
import { ConfigMapCheckpoints } from "../../../../src/operator/controllers/reconcile/config_map_checkpoints.ts";
import { internals } from "../../../../src/engine/errors/internals.ts";
import { Checkpoint } from "../../../../src/engine/informer/events/checkpoint.ts";
import { SharedIndexInformer } from "../../../../src/engine/informer/shared_index_informer.ts";
import { ConfigMap } from "../../../../src/engine/kinds/core/v1.ts";
import { FakeApiServer } from "../../../../src/testing/mod.ts";
import { checkCheckpointStore } from "../../../support/sources/checkpoint_store.ts";
import { FakeTime } from "../../../support/times/fake_time.ts";

function storeOf(server: FakeApiServer): ConfigMapCheckpoints {
  const client = new Client({ server: "http://fake", transport: server });
  return new ConfigMapCheckpoints(client.resource(ConfigMap, { namespace: "shop" }));
}

Deno.test("ConfigMapCheckpoints keeps what was written, and lets one reader write", async () => {
  const server = new FakeApiServer();
  await checkCheckpointStore(storeOf(server), "mails");
  server.annotate(ConfigMap, "shop/mails", { "example.com/owner": "me" });
  const { stamp, record } = (await storeOf(server).get("mails"))!;
  await storeOf(server).set("mails", record, { stamp, keys: [] });
  assertEquals(server.get(ConfigMap, "shop/mails")!.metadata.annotations, { "example.com/owner": "me" });
  const verbs = new Set(server.requests.map(({ verb }) => verb));
  assertEquals([...verbs].sort(), ["create", "get", "update"], "the guide about permissions grants these");
});

Deno.test("ConfigMapCheckpoints continues when somebody else annotates its ConfigMap, and ends when that is deleted", async () => {
  const server = new FakeApiServer();
  const checkpoint = await Checkpoint.open(storeOf(server), { name: "mails", intervalMs: 0 });
  server.annotate(ConfigMap, "shop/mails", { "example.com/owner": "me" });
  checkpoint[internals].delivered("shop/a", ["u", "1"]);
  await checkpoint[internals].save();
  assertEquals(JSON.parse(server.get(ConfigMap, "shop/mails")!.data!.objects), [["shop/a", "u", "1"]]);
  server.delete(ConfigMap, "shop/mails");
  checkpoint[internals].delivered("shop/a", undefined);
  const lost: CheckpointError[] = [];
  const { signal } = new AbortController();
  checkpoint[internals].begin({ report: () => {}, onLost: (error) => lost.push(error), signal });
  await checkpoint[internals].save();
  assertEquals(lost.map(({ message }) => message), ['Cannot keep checkpoint "mails": somebody deleted its record']);
});

Deno.test("ConfigMapCheckpoints refuses a checkpoint that is too large, and a ConfigMap without one", async () => {
  const server = new FakeApiServer();
  const store = storeOf(server);
  const objects = new Map(Array.from({ length: 12_000 }, (_, i) => {
    return [`shop/object-with-a-long-name-${i}`, [crypto.randomUUID(), "1234567890"] as const];
  }));
  const error = await assertRejects(
    () => store.set("mails", { holder: "h", version: "1", objects }, { stamp: undefined, keys: [] }),
    CheckpointError,
    "12000 objects take",
  );
  assertEquals(error.reason, "tooLarge");
  assertEquals(server.get(ConfigMap, "shop/mails"), undefined, "nothing is sent");
  server.create(ConfigMap, { metadata: { namespace: "shop", name: "settings" }, data: { colour: "red" } });
  await assertRejects(() => Checkpoint.open(store, { name: "settings" }), Error, "Choose another name");
  server.create(ConfigMap, { metadata: { namespace: "shop", name: "cut" }, data: { holder: "h", objects: "[[" } });
  await assertRejects(
    () => Checkpoint.open(store, { name: "cut" }),
    Error,
    'Cannot read checkpoint "cut": the objects in',
  );
});

Deno.test("ConfigMapCheckpoints is written with additions, and every 10 s at most, and its writes are no events of its reader", async () => {
  using time = new FakeTime();
  const server = new FakeApiServer({ bookmarkMs: 10_000 });
  const client = new Client({ server: "http://fake", transport: server });
  const checkpoint = await Checkpoint.open(storeOf(server), { name: "mails" });
  const informer = new SharedIndexInformer<ConfigMap>(client.resource(ConfigMap));
  const keys: string[] = [];
  const call = ({ key }: { readonly key: string }): unknown => keys.push(key);
  informer.addEventHandler({ onAdd: call, onUpdate: call, onDelete: call }, { checkpoint });
  void informer.run();
  await time.tickAsync(30_000);
  const writes = (): number => server.requests.filter(({ verb }) => verb === "update").length;
  assertEquals([keys, writes()], [[], 1], "the version of the first list is written");
  for (let i = 0; i < 5; i++) {
    server.create(ConfigMap, { metadata: { namespace: "shop", name: `a-${i}` } });
    await time.tickAsync(1_000);
  }
  assertEquals(keys.length, 5);
  await time.tickAsync(600_000);
  assertEquals([keys.length, writes()], [5, 7]);
  assert(informer.entries.getByKey("shop/mails") !== undefined, "the cache has it");
  await informer[Symbol.asyncDispose]();
  assertEquals(time.timers, 0);
});
