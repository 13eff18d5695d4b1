import {
  Client,
  defineResource,
  type KubernetesObject,
  SharedIndexInformer,
  SharedInformerFactory,
} from "@kube/informer";
import { InformerRelay } from "@kube/informer/relay";
import { FakeApiServer } from "@kube/informer/testing";
import { assert, assertEquals, assertThrows } from "@std/assert";
import { PolledSource } from "../../../../src/engine/informer/sync/polled_source.ts";
import { FakeTime } from "../../../support/times/fake_time.ts";
import { entry, part, type Thing, unparsable } from "../../../support/sources/fixtures.ts";
import { line, Run } from "../../../support/sources/informer.ts";
import { MetricsServer, PodMetrics } from "../../../support/servers/metrics_server.ts";
import { END, ScriptedSource } from "../../../support/sources/scripted_source.ts";

/** An informer of the metrics, and the events that its handler gets. */
function follow(server: MetricsServer): { informer: SharedIndexInformer<PodMetrics>; seen: string[]; client: Client } {
  const client = new Client({ server: "http://metrics", transport: server });
  const informer = new SharedIndexInformer(client.resource(PodMetrics), { pollMs: 15_000, onError: () => {} });
  const seen: string[] = [];
  const cpu = (object: PodMetrics): string => object.containers[0].usage.cpu;
  informer.addEventHandler({
    onAdd: ({ key, object, initial }) => void seen.push(`${initial ? "found" : "added"} ${key} ${cpu(object)}`),
    onUpdate: ({ key, object, previous }) => void seen.push(`updated ${key} ${cpu(previous)} ${cpu(object)}`),
    onDelete: ({ key, finalStateUnknown }) => void seen.push(`deleted ${key} ${finalStateUnknown}`),
  });
  return { informer, seen, client };
}

Deno.test("a polled informer delivers what differs between two lists, whatever their times", async () => {
  using time = new FakeTime();
  const server = new MetricsServer();
  const { informer, seen, client } = follow(server);
  informer.run();
  await time.tickAsync(100);
  assertEquals(seen.splice(0), ["found shop/a 1m", "found shop/b 2m"]);
  assertEquals([informer.status().state, informer.status().pollMs, server.lists], ["live", 15_000, 1]);
  const { timestamp } = informer.indexer.getByKey("shop/a")!;
  await time.tickAsync(60_000);
  assertEquals([seen, server.lists], [[], 5]);
  assertEquals(informer.indexer.getByKey("shop/a")!.timestamp, timestamp);
  server.usage.set("a", "7m");
  server.usage.delete("b");
  server.usage.set("c", "3m");
  const before = informer.lastSyncResourceVersion;
  await time.tickAsync(15_000);
  assertEquals(seen.splice(0), ["deleted shop/b false", "updated shop/a 1m 7m", "added shop/c 3m"]);
  assert(Number(informer.lastSyncResourceVersion) > Number(before));
  assertEquals(informer.lister.list("app=c").map(({ metadata }) => metadata.name), ["c"]);
  await informer[Symbol.asyncDispose]();
  client[Symbol.dispose]();
});

Deno.test("a polled informer goes on for longer than a watch may last, and after failures, without further events", async () => {
  using time = new FakeTime();
  const server = new MetricsServer();
  const { informer, seen, client } = follow(server);
  informer.run();
  await time.tickAsync(100);
  seen.splice(0);
  await time.tickAsync(900_000);
  assertEquals([seen, server.lists, informer.status().state], [[], 61, "live"]);
  server.status = 503;
  await time.tickAsync(15_000);
  assert(informer.status().state !== "live");
  server.usage.set("a", "9m");
  await time.tickAsync(30_000);
  assert(informer.status().state !== "live");
  server.status = 200;
  await time.tickAsync(60_000);
  assertEquals([seen.splice(0), informer.status().state], [["updated shop/a 1m 9m"], "live"]);
  server.status = 404; // refused: it lists again
  await time.tickAsync(60_000);
  server.status = 200;
  await time.tickAsync(60_000);
  assertEquals([seen, informer.status().state], [[], "live"]);
  await informer[Symbol.asyncDispose]();
  client[Symbol.dispose]();
});

Deno.test("a polled informer resumes after a pause by a list, and stops while it waits", async () => {
  using time = new FakeTime();
  const server = new MetricsServer();
  const { informer, seen, client } = follow(server);
  informer.run();
  await time.tickAsync(100);
  informer.pause();
  server.usage.set("a", "5m");
  await time.tickAsync(100_000);
  assertEquals(server.lists, 1);
  seen.splice(0);
  informer.resume();
  await time.tickAsync(1_000);
  assertEquals([seen, server.lists], [["updated shop/a 1m 5m"], 2]);
  await informer[Symbol.asyncDispose]();
  assertEquals(informer.status().state, "stopped");
  client[Symbol.dispose]();
});

Deno.test("objects with versions are compared by them, in pages, on a kind of the fake that has no watch", async () => {
  using time = new FakeTime();
  const Report = defineResource<KubernetesObject>({
    group: "example.com",
    version: "v1",
    plural: "reports",
    kind: "Report",
  });
  using server = new FakeApiServer({ resources: [{ ...Report, verbs: ["get", "list"] }] });
  for (const name of ["a", "b", "c"]) server.create(Report, { metadata: { name } });
  using client = new Client({ server: server.url, transport: server });
  await using informers = new SharedInformerFactory(client, { reflector: { pageSize: 2 } });
  const reports = informers.forResource(Report, { pollMs: 1_000 });
  assertThrows(() => informers.forResource(Report, { pollMs: 2_000 }), Error, 'the option "pollMs" has another value');
  const seen: string[] = [];
  reports.addEventHandler({
    onUpdate: ({ key, object }) => void seen.push(`${key} ${object.metadata.resourceVersion}`),
    onDelete: ({ key }) => void seen.push(`-${key}`),
  });
  informers.start();
  await time.tickAsync(10);
  assertEquals(reports.indexer.size, 3);
  server.annotate(Report, "default/c", { n: "1" });
  server.delete(Report, "default/a");
  await time.tickAsync(1_000);
  assertEquals(seen, ["-default/a", `default/c ${server.get(Report, "default/c")!.metadata.resourceVersion}`]);
  assertEquals(reports.lastSyncResourceVersion, server.resourceVersion);
  assertEquals(server.requests.filter(({ verb }) => verb === "watch").length, 0);
  await informers.shutdown();
});

Deno.test("a relay shows a polled kind, and its changes", async () => {
  using time = new FakeTime();
  const server = new MetricsServer();
  using client = new Client({ server: "http://metrics", transport: server });
  await using informers = new SharedInformerFactory(client);
  await using relay = new InformerRelay(informers, {
    collections: { usage: { resource: PodMetrics, pollMs: 1_000 } },
    authorize: () => true,
  });
  const { body } = await relay.fetch(new Request("http://localhost/events/usage"));
  let text = "";
  const reading = (async () => {
    for await (const part of body!.pipeThrough(new TextDecoderStream())) text += part;
  })();
  await time.tickAsync(500);
  assert(text.includes('"cpu":"1m"'), text);
  text = "";
  server.usage.set("b", "8m");
  await time.tickAsync(1_000);
  assert(text.includes('"cpu":"8m"') && !text.includes('"cpu":"1m"'), text);
  text = "";
  await time.tickAsync(5_000);
  assert(!text.includes("cpu"), text);
  await relay[Symbol.asyncDispose]();
  await informers.shutdown();
  await reading.catch(() => {});
});

Deno.test("a check of objects without a version finds those that were added or deleted since the last poll", async () => {
  using time = new FakeTime();
  const server = new MetricsServer();
  const { informer, seen, client } = follow(server);
  informer.run();
  await time.tickAsync(100);
  seen.length = 0;
  server.usage.set("a", "7m");
  const equal = await informer.checkConsistency();
  assertEquals([equal.objects, equal.differences, equal.repair], [2, 0, "none"]);
  assertEquals([seen, server.lists], [[], 2]);
  server.usage.delete("b");
  const { differences, keys, repair } = await informer.checkConsistency();
  assertEquals([differences, keys, repair], [1, ["shop/b"], "list"]);
  await time.tickAsync(100);
  assertEquals(seen, ["deleted shop/b true", "updated shop/a 1m 7m"]);
  await informer[Symbol.asyncDispose]();
  client[Symbol.dispose]();
});

Deno.test("pollMs is refused where it is too short, or beside a shard", () => {
  using client = new Client({ server: "http://metrics", transport: new MetricsServer() });
  const source = client.resource(PodMetrics);
  assertThrows(() => new SharedIndexInformer(source, { pollMs: 10 }), RangeError, "pollMs must be at least 1000");
  assertThrows(
    () => new SharedIndexInformer(source, { pollMs: 1_000, shard: "0/2" }),
    TypeError,
    "cannot be combined, because a shard needs a watch",
  );
});

Deno.test("a snapshot of a polled kind is replaced by a list", async () => {
  const server = new MetricsServer();
  using client = new Client({ server: "http://metrics", transport: server });
  const options = { pollMs: 1_000, onError: (): void => {} };
  await using first = new SharedIndexInformer(client.resource(PodMetrics), options);
  first.run();
  await first.waitForCacheSync();
  await using second = new SharedIndexInformer(client.resource(PodMetrics), options);
  await second.restore(first.snapshot());
  server.usage.delete("a");
  second.run();
  await second.untilDeleted("shop/a");
});

Deno.test("PolledSource gives a list without a version its time, behind its objects, and adds none to another one", async () => {
  using time = new FakeTime();
  const source = new ScriptedSource().list(part(10, [entry("a", 1)]), END).list({ entries: [entry("b", "")] }, END);
  const polled = new PolledSource<Thing>(source, 1_000);
  const parts = async (): Promise<unknown[]> =>
    (await Array.fromAsync(polled.listEntries())).map(({ entries, resourceVersion }) => [
      ...entries.map(({ key }) => key),
      resourceVersion,
    ]);
  assertEquals(await parts(), [["default/a", "10"]]);
  await time.tickAsync(500);
  assertEquals(await parts(), [["default/b", undefined], [String(time.now)]]);
});

Deno.test("PolledSource yields a change once, and nothing else than a bookmark behind an equal list", async () => {
  using time = new FakeTime();
  const source = new ScriptedSource();
  for (const objects of [[entry("a", 1), entry("b", 2)], [entry("a", 5)], [entry("a", 5)]]) {
    source.list(part(10, objects), END);
  }
  const polled = new PolledSource<Thing>(source, 1_000);
  await Array.fromAsync(polled.listEntries());
  const batches: string[][] = [];
  const watching = (async () => {
    for await (const changes of polled.watchChanges({ timeoutSeconds: 3 })) {
      batches.push(changes.map(({ type }) => type));
    }
  })();
  await time.tickAsync(2_500);
  assertEquals(batches, [[], ["DELETED", "MODIFIED", "BOOKMARK"], ["BOOKMARK"]]);
  source.list(part(10, []), END);
  await time.tickAsync(500);
  await watching;
});

/** A polled informer on a script, and the lines of its events. */
async function polledRun(source: ScriptedSource): Promise<Run & { readonly seen: string[] }> {
  const seen: string[] = [];
  const run = Object.assign(new Run(source, { pollMs: 1_000 }), { seen });
  const note = (event: Parameters<typeof line>[0]): void => void seen.push(line(event));
  run.informer.addEventHandler({ onAdd: note, onUpdate: note, onDelete: note });
  await run.start();
  seen.splice(0);
  return run;
}

Deno.test("a polled list in pages is compared when it is complete, also behind one that has failed between two pages", async () => {
  const first = { entries: [entry("a", "")], continue: "next" };
  const source = new ScriptedSource().list(first, END).list({ entries: [entry("b", "")] }, END);
  await using run = await polledRun(source);
  for (const end of [END, new TypeError("broken"), END] as const) {
    source.list({ entries: [entry("a", "")], continue: "next" }, END).list();
    await run.tick(4_000);
    const page = source.lists.at(-1)!;
    assertEquals(page.options.continue, "next");
    if (end === END) page.send({ entries: [entry("b", "")] });
    page.send(end);
    await run.tick();
    assertEquals([run.seen, run.informer.status().state === "live"], [[], end === END]);
  }
  assertEquals(run.errors.length, 1);
});

Deno.test("a polled informer that is paused while it takes a list delivers what has changed when it is resumed", async () => {
  for (let turns = 0; turns < 30; turns++) {
    await using run = await polledRun(new ScriptedSource().list(part(10, [entry("a", 1), entry("b", 2)]), END));
    const { source, informer } = run;
    await run.tick(1_000);
    source.lists[1].send(part(11, [entry("a", 1)]), END);
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    informer.pause();
    await run.tick();
    informer.resume();
    await run.tick();
    if (source.open > 0) source.lists.at(-1)!.send(part(11, [entry("a", 1)]), END);
    await run.tick();
    assertEquals([run.cached, run.seen], [["default/a@1"], ["- default/b@2"]], `paused after ${turns} turns`);
  }
});

Deno.test("an object without a version that cannot be parsed is left out of a polled cache, and equals itself", async () => {
  const list = () => ({ entries: [entry("a", ""), unparsable("b", "")] });
  await using run = await polledRun(new ScriptedSource().list(list(), END).list(list(), END));
  await run.tick(1_000);
  const { state, objects, quarantined, events } = run.informer.status();
  assertEquals([state, objects, quarantined, events], ["live", 2, 1, 0]);
  assertEquals(run.complaints.length, 1);
});
