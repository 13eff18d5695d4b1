import { Client, MemorySnapshots, WaitError } from "@kube/informer";
import { ClusterSet } from "@kube/informer/clusters";
import { ConfigMap } from "@kube/informer/kinds/core/v1";
import { Reconciler } from "@kube/informer/reconcile";
import { configMap } from "@kube/informer/testing";
import { assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { sleep } from "../../../../src/engine/async/time.ts";
import { Clusters, listen } from "../../../support/servers/clusters.ts";

Deno.test("ClusterSet joins the informers of a kind: events, objects, indexes and status name their cluster", async () => {
  await using clusters = new Clusters();
  clusters.add("berlin", "paris");
  const maps = clusters.set.forResource(ConfigMap, { indexers: { n: ({ data }) => [data?.n ?? "none"] } });
  const { take, registration } = listen(maps);
  clusters.set.start();
  await clusters.during(maps.waitForCacheSync());
  await clusters.during(registration.waitForSync());
  assertEquals(take().sort(), ["+ berlin shop/a (initial)", "+ paris shop/a (initial)", "= berlin 1", "= paris 1"]);
  clusters.server("paris").patch(ConfigMap, "shop/a", { data: { n: "2" } });
  await clusters.pass();
  assertEquals(take(), ["~ paris shop/a 2"]);
  assertEquals(maps.clusters, ["berlin", "paris"]);
  assertEquals(maps.lister.list().map(({ cluster, object }) => [cluster, object.data?.n]), [
    ["berlin", undefined],
    ["paris", "2"],
  ]);
  assertEquals(maps.lister.namespace("shop").list("a=b"), []);
  assertEquals(maps.lister.namespace("shop").list().length, 2);
  assertEquals([maps.lister.get("paris", "shop/a")?.data?.n, maps.lister.get("rome", "shop/a")], ["2", undefined]);
  const { indexer } = maps;
  assertEquals([indexer.size, indexer.indexValues("n"), indexer.indexValues("namespace")], [2, ["none", "2"], [
    "shop",
  ]]);
  assertEquals(indexer.indexKeys("n", "2"), [{ cluster: "paris", key: "shop/a" }]);
  assertEquals(indexer.byIndex("n", "none").map(({ cluster }) => cluster), ["berlin"]);
  assertEquals(maps.status().map(({ cluster, state, objects }) => [cluster, state, objects]), [
    ["berlin", "live", 1],
    ["paris", "live", 1],
  ]);
  const version = clusters.server("berlin").resourceVersion;
  await clusters.during(maps.cluster("berlin")!.waitForVersion(version));
  assertEquals(clusters.set.status().map(({ cluster, informers }) => [cluster, informers[0].status.cluster]), [
    ["berlin", "berlin"],
    ["paris", "paris"],
  ]);
});

Deno.test("ClusterSet: a cluster that comes joins, and one that is removed leaves as moved, once handlers have its last events", async () => {
  await using clusters = new Clusters();
  clusters.add("berlin");
  const maps = clusters.set.forResource(ConfigMap);
  const { take } = listen(maps);
  clusters.set.start();
  await clusters.pass();
  take();
  clusters.add("paris");
  await clusters.pass();
  assertEquals(take(), ["+ paris shop/a (initial)", "= paris 1"]);
  clusters.server("paris").create(ConfigMap, configMap({ name: "b", namespace: "shop" }));
  await clusters.pass();
  const removed = clusters.set.remove("paris");
  assertEquals([maps.clusters, maps.lister.list().length], [["berlin"], 1]); // at once
  assertThrows(
    () => clusters.add("paris"),
    Error,
    `Cannot add cluster "paris": a cluster with this name is being removed`,
  );
  await clusters.during(removed);
  assertEquals(take(), ["+ paris shop/b", "- paris shop/a (moved)", "- paris shop/b (moved)"]);
  clusters.server("paris").delete(ConfigMap, "shop/b");
  clusters.add("paris"); // its objects are new again
  await clusters.pass();
  assertEquals(take(), ["+ paris shop/a (initial)", "= paris 1"]);
  assertEquals(clusters.errors, []);
});

Deno.test("ClusterSet.remove() waits for slow handlers up to graceMs, and other clusters go on meanwhile", async () => {
  await using clusters = new Clusters({ graceMs: 5_000 });
  clusters.add("berlin", "paris");
  const maps = clusters.set.forResource(ConfigMap);
  const seen: string[] = [];
  const gates = new Map<string, () => void>();
  maps.addEventHandler({
    onAdd: ({ cluster }) => cluster === "paris" ? new Promise<void>((open) => gates.set(cluster, open)) : undefined,
    onUpdate: ({ cluster }) => void seen.push(`~ ${cluster}`),
    onDelete: ({ cluster, reason }) => void seen.push(`- ${cluster} ${reason}`),
  });
  clusters.set.start();
  await clusters.pass();
  const removed = clusters.set.remove("paris");
  clusters.server("berlin").patch(ConfigMap, "shop/a", { data: { n: "1" } });
  await clusters.pass(1_000);
  assertEquals(seen, ["~ berlin"]);
  gates.get("paris")!();
  await clusters.during(removed);
  assertEquals(seen, ["~ berlin", "- paris moved"]);

  clusters.add("paris");
  await clusters.pass();
  const late = await assertRejects(() => clusters.during(clusters.set.remove("paris")), Error);
  assertStringIncludes(late.message, `Cannot finish handler "handler 1"`);
  gates.get("paris")!();
  assertEquals(clusters.set.names, ["berlin"]);
});

Deno.test("ClusterSet.remove() waits for work where a handler does not return, and disposes the client behind it", async () => {
  await using clusters = new Clusters({ graceMs: 1_000 });
  clusters.add("paris");
  const maps = clusters.set.forResource(ConfigMap);
  const call = Promise.withResolvers<void>();
  maps.addEventHandler({ onAdd: () => call.promise });
  clusters.set.start();
  const answered: string[] = [];
  const stop = new AbortController();
  const running = clusters.set.run(async (_cluster, client, signal) => {
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    await sleep(5_000);
    answered.push((await client.resource(ConfigMap, { namespace: "shop" }).get("a")).metadata.name);
  }, { signal: stop.signal });
  await clusters.pass();
  await assertRejects(() => clusters.during(clusters.set.remove("paris")), Error, `Cannot finish handler "handler 1"`);
  assertEquals(answered, ["a"]);
  call.resolve();
  stop.abort();
  await running;
});

for (const names of [["berlin"], ["berlin", "paris"]]) {
  Deno.test(`the disposal of a ClusterSet reports handlers of ${names.join(" and ")} that have not returned`, async () => {
    await using clusters = new Clusters({ graceMs: 1_000 });
    clusters.add(...names);
    const call = Promise.withResolvers<void>();
    clusters.set.forResource(ConfigMap).addEventHandler({ onAdd: () => call.promise });
    clusters.set.start();
    await clusters.pass();
    const ended = clusters.set[Symbol.asyncDispose]();
    const error = await assertRejects(() => clusters.during(ended), Error, `Cannot finish handler "handler 1"`);
    assertEquals(error instanceof AggregateError ? error.errors.length : 1, names.length);
    call.resolve();
  });
}

Deno.test("ClusterSet.remove() within a handler of that cluster does not wait for its call", async () => {
  await using clusters = new Clusters();
  clusters.add("berlin");
  const maps = clusters.set.forResource(ConfigMap);
  const seen: string[] = [];
  let removed: Promise<void> | undefined;
  maps.addEventHandler({
    onSynced: () => {
      removed = clusters.set.remove("berlin");
    },
    onDelete: ({ key, reason }) => void seen.push(`- ${key} ${reason}`),
  });
  clusters.set.start();
  await clusters.pass();
  await clusters.during(removed!);
  assertEquals(seen, ["- shop/a moved"]);
});

Deno.test("ClusterSet: clusters that are slow, gone or refuse affect no other one, and are named", async () => {
  await using clusters = new Clusters();
  clusters.server("slow").latency(60_000);
  clusters.server("refusing").failNext(403, Infinity);
  clusters.add("good", "slow", "refusing");
  const gone = { fetch: () => Promise.reject(new TypeError("connection refused")) };
  clusters.set.add("gone", new Client({ server: "http://gone", transport: gone, retries: 0 }));
  const maps = clusters.set.forResource(ConfigMap);
  const { take } = listen(maps);
  clusters.set.start();
  const waiting = maps.waitForCacheSync({ signal: AbortSignal.timeout(10_000) });
  const error = await assertRejects(() => clusters.during(waiting), WaitError);
  assertEquals(take(), ["+ good shop/a (initial)", "= good 1"]);
  for (const name of ["slow", "refusing", "gone"]) {
    assertStringIncludes(error.message, `"configmaps" in cluster "${name}"`);
  }
  assertEquals(error.message.includes(`"good"`), false);
  assertEquals(
    maps.status().map(({ cluster, state }) => [cluster, state]),
    [["good", "live"], ["slow", "listing"], ["refusing", "forbidden"], ["gone", "unreachable"]],
  );
  assertEquals(maps.hasSynced, false);
  assertEquals(clusters.errors.some((line) => line.startsWith("refusing configmaps: ")), true);
  assertEquals(clusters.errors.some((line) => line.startsWith("gone configmaps: ")), true);
  assertEquals(clusters.errors.some((line) => line.startsWith("good")), false);
  // A wait does not count a cluster that is removed meanwhile.
  const patient = maps.waitForCacheSync({ patient: true });
  for (const name of ["slow", "refusing", "gone"]) await clusters.during(clusters.set.remove(name));
  await clusters.during(patient);
  assertEquals(maps.hasSynced, true);
});

Deno.test("ClusterSet.run() calls a function for each cluster, ends it with the cluster, and repeats one that fails", async () => {
  await using clusters = new Clusters();
  clusters.add("berlin", "paris");
  const calls: string[] = [];
  const stop = new AbortController();
  let hasFailed = false;
  const running = clusters.set.run(async (cluster, client, signal) => {
    calls.push(`begin ${cluster}`);
    if (cluster === "berlin" && !hasFailed) {
      hasFailed = true;
      throw new Error("a bug");
    }
    await using maps = new Reconciler(client, ConfigMap, ({ key }) => void calls.push(`${cluster} ${key}`));
    await maps.run({ signal });
    calls.push(`end ${cluster}`);
  }, { signal: stop.signal });
  await clusters.pass();
  assertEquals(calls.splice(0), ["begin berlin", "begin paris", "paris shop/a"]);
  assertEquals(clusters.errors.splice(0), ["berlin -: a bug"]);
  assertEquals(clusters.set.status().map(({ failure }) => (failure as Error)?.message), ["a bug", undefined]);
  await clusters.pass(2_000);
  assertEquals(calls.splice(0), ["begin berlin", "berlin shop/a"]);
  assertEquals("failure" in clusters.set.status()[0], false);
  clusters.add("rome");
  await clusters.pass();
  assertEquals(calls.splice(0), ["begin rome", "rome shop/a"]);
  await clusters.during(clusters.set.remove("paris"));
  assertEquals(calls.splice(0), ["end paris"]);
  stop.abort();
  await clusters.during(running);
  assertEquals(calls.splice(0).sort(), ["end berlin", "end rome"]);
  assertEquals(clusters.errors, []);
});

Deno.test("the failure of one run of a cluster stays while another run of it fails and works again", async () => {
  await using clusters = new Clusters({ backoff: { initialMs: 1_000, maxMs: 16_000, jitter: 0 } });
  clusters.add("berlin");
  const failures = (): unknown[] => clusters.set.status().map(({ failure }) => (failure as Error)?.message);
  const stop = new AbortController();
  const run = (name: string, times: number): Promise<void> =>
    clusters.set.run(() => {
      if (times-- > 0) throw new Error(name);
    }, { signal: stop.signal });
  const runs = [run("one", 2), run("two", 1)];
  await clusters.pass();
  assertEquals(failures(), ["one"]);
  await clusters.pass(1_500);
  assertEquals(failures(), ["one"]);
  await clusters.pass(2_000);
  assertEquals(failures(), [undefined]);
  stop.abort();
  await Promise.all(runs);
});

Deno.test("ClusterSet.run() waits longer after each failure, and briefly again after one that had worked for a while", async () => {
  await using clusters = new Clusters({ backoff: { initialMs: 1_000, maxMs: 16_000, jitter: 0 } });
  clusters.add("berlin");
  const began: number[] = [];
  const stop = new AbortController();
  const running = clusters.set.run(async (_cluster, _client, signal) => {
    began.push(clusters.time.now);
    if (began.length === 4) await sleep(60_000, { signal });
    throw new Error("a bug");
  }, { signal: stop.signal });
  await clusters.pass(69_000);
  stop.abort();
  await clusters.during(running);
  assertEquals(began.slice(1).map((ms, i) => ms - began[i]), [1_000, 2_000, 4_000, 61_000]);
});

Deno.test("ClusterSet.run() does not repeat what has returned, and ends with the set", async () => {
  await using clusters = new Clusters();
  clusters.add("berlin");
  let calls = 0;
  const running = clusters.set.run(() => calls++);
  await clusters.pass(100_000);
  assertEquals(calls, 1);
  await clusters.during(clusters.set[Symbol.asyncDispose]());
  await running;
  await assertRejects(() => clusters.set.run(() => {}), Error, "the set was disposed");
});

Deno.test("ClusterSet refuses names that are taken or empty, and everything once it was disposed", async () => {
  await using clusters = new Clusters();
  clusters.add("berlin");
  using client = clusters.client("other");
  assertThrows(
    () => clusters.set.add("berlin", client),
    Error,
    `Cannot add cluster "berlin": a cluster with this name exists`,
  );
  assertThrows(() => clusters.set.add("", client), TypeError, "its name is empty");
  assertEquals(clusters.set.client("berlin")!.server.href, "http://berlin/");
  await clusters.set.remove("nobody");
  const maps = clusters.set.forResource(ConfigMap);
  await clusters.during(clusters.set[Symbol.asyncDispose]());
  assertThrows(() => clusters.set.add("rome", client), Error, "the set was disposed");
  assertThrows(() => clusters.set.forResource(ConfigMap), Error, "the set was disposed");
  assertThrows(() => clusters.set.start(), Error, "the set was disposed");
  assertThrows(() => maps.addEventHandler({}), Error, "the clusters were disposed");
  assertThrows(() => new ClusterSet({ backoff: { initialMs: -1 } }), RangeError, "initialMs");
  assertThrows(() => new ClusterSet({ graceMs: -1 }), RangeError, "Cannot create a set of clusters: graceMs");
});

Deno.test("ClusterSet does not add a cluster whose informers cannot be made", async () => {
  await using clusters = new Clusters({ labelSelector: "a in" });
  using client = clusters.client("berlin");
  assertThrows(() => clusters.set.add("berlin", client), SyntaxError);
  assertEquals(clusters.set.names, []);
});

Deno.test("ClusterSet keeps a snapshot for each cluster, also of one that was removed", async () => {
  const stored = new Map<string, number>();
  const store = new MemorySnapshots();
  const set = store.set.bind(store);
  store.set = async (name, snapshot) => {
    stored.set(name, (stored.get(name) ?? 0) + 1);
    return await set(name, snapshot);
  };
  await using clusters = new Clusters({ snapshots: { store } });
  clusters.add("berlin");
  clusters.set.forResource(ConfigMap);
  clusters.set.start();
  await clusters.pass();
  await clusters.during(clusters.set.remove("berlin"));
  assertEquals([...stored], [["berlin/configmaps/v1", 1]]);
  // It has the objects, though these have left.
  clusters.server("berlin").failNext(503, Infinity);
  clusters.add("berlin");
  const maps = clusters.set.forResource(ConfigMap);
  await clusters.pass();
  assertEquals(maps.lister.list().map(({ cluster, object }) => [cluster, object.metadata.name]), [["berlin", "a"]]);
});
