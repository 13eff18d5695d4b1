import {
  applyViewUpdate,
  Checkpoint,
  field,
  type HashRange,
  MemoryCheckpoints,
  type ViewRow,
  WaitError,
} from "@kube/informer";
import { ConfigMap } from "@kube/informer/kinds/core/v1";
import { configMap } from "@kube/informer/testing";
import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { Clusters, listen } from "../../../support/servers/clusters.ts";

Deno.test("ClusterInformer.events() yields the events of all clusters, and a cluster does not wait for another", async () => {
  await using clusters = new Clusters();
  clusters.add("berlin", "paris");
  const maps = clusters.set.forResource(ConfigMap);
  clusters.set.start();
  await clusters.pass();
  const seen: string[] = [];
  const events = maps.events();
  const next = async (): Promise<void> => {
    const { value, done } = await clusters.during(events.next());
    seen.push(done ? "end" : `${value.type} ${value.cluster}${value.type === "synced" ? "" : ` ${value.key}`}`);
  };
  for (let i = 0; i < 4; i++) await next();
  assertEquals(seen.splice(0), ["added berlin shop/a", "added paris shop/a", "synced berlin", "synced paris"]);
  const removed = clusters.set.remove("paris");
  clusters.server("berlin").delete(ConfigMap, "shop/a");
  await next();
  await next();
  assertEquals(seen.splice(0).sort(), ["deleted berlin shop/a", "deleted paris shop/a"]);
  await clusters.during(removed);
  const last = next();
  await clusters.during(clusters.set[Symbol.asyncDispose]());
  await last;
  assertEquals(seen, ["end"]);
});

Deno.test("ClusterInformer.events() ends at return(), with its signal, and frees a cluster that waits to be read", async () => {
  await using clusters = new Clusters();
  clusters.add("berlin");
  const maps = clusters.set.forResource(ConfigMap);
  clusters.set.start();
  await clusters.pass();
  const stop = new AbortController();
  for (
    const [events, end] of [
      [maps.events(), (it: AsyncIterator<unknown>) => it.return!()],
      [maps.events({ signal: stop.signal }), () => stop.abort()],
    ] as const
  ) {
    await clusters.during(events.next());
    await clusters.pass(); // the next event is offered
    end(events);
    await clusters.pass();
    assertEquals([(await events.next()).done, maps.status()[0].handlers], [true, []]);
  }
});

Deno.test("ClusterInformer.until() resolves with the first object for which the predicate holds, and its cluster", async () => {
  await using clusters = new Clusters();
  clusters.add("berlin");
  const maps = clusters.set.forResource(ConfigMap);
  clusters.set.start();
  const { cluster, object } = await clusters.during(maps.until(({ metadata }) => metadata.name === "a"));
  assertEquals([cluster, object.metadata.namespace], ["berlin", "shop"]);
  const written = maps.until(field("data.n").equals("2"), { key: "shop/b" });
  clusters.add("paris"); // which joins while it waits
  const server = clusters.server("paris");
  server.create(ConfigMap, configMap({ name: "c", namespace: "shop", data: { n: "2" } }));
  server.create(ConfigMap, configMap({ name: "b", namespace: "shop", data: { n: "1" } }));
  await clusters.pass();
  server.patch(ConfigMap, "shop/b", { data: { n: "2" } });
  const found = await clusters.during(written);
  assertEquals([found.cluster, found.object.metadata.name, found.object.data?.n], ["paris", "b", "2"]);
  assertEquals(maps.status().map(({ handlers }) => handlers), [[], []]);
});

Deno.test("ClusterInformer.until() rejects with an error that names the kind and the worst state, also after the end", async () => {
  await using clusters = new Clusters();
  const maps = clusters.set.forResource(ConfigMap);
  const messageOf = async (options: { readonly signal: AbortSignal; readonly key?: string }): Promise<string> => {
    const error = await assertRejects(() => clusters.during(maps.until(() => false, options)), WaitError);
    return error.message;
  };
  const what = 'of "configmaps" in several clusters';
  assertEquals(
    await messageOf({ signal: AbortSignal.timeout(2_000) }),
    `Cannot wait for an object ${what}: given up after 2.0 s, its state has been "idle" for 0.0 s`,
  );
  clusters.add("berlin", "paris");
  clusters.server("paris").failNext(403, Infinity);
  clusters.set.start();
  await clusters.pass();
  assertEquals(
    await messageOf({ signal: AbortSignal.timeout(3_000), key: "shop/b" }),
    `Cannot wait for "shop/b" ${what}: given up after 3.0 s, its state has been "forbidden" for 3.0 s`,
  );
  const failing = maps.until(() => {
    throw new TypeError("of the predicate");
  });
  await assertRejects(() => clusters.during(failing), TypeError, "of the predicate");
  const waiting = maps.until(() => false);
  waiting.catch(() => {});
  await clusters.pass();
  await clusters.during(clusters.set[Symbol.asyncDispose]());
  for (const ended of [waiting, maps.until(() => true)]) {
    await assertRejects(() => ended, WaitError, `Cannot wait for the informer ${what}: it has stopped`);
  }
});

Deno.test("ClusterInformer.view() has the rows of all clusters, with keys of their own, and begins with the first that has synced", async () => {
  await using clusters = new Clusters();
  clusters.add("berlin", "paris");
  clusters.server("paris").failNext(403, 3);
  const maps = clusters.set.forResource(ConfigMap);
  using view = maps.view({ sortBy: "metadata.name" });
  const updates = view.changes();
  let rows: ViewRow<ConfigMap>[] = [];
  const read = async (): Promise<string[]> => {
    const { value } = await clusters.during(updates.next());
    rows = applyViewUpdate(rows, value!);
    return rows.map(({ cluster, key }) => `${cluster} ${key}`);
  };
  clusters.set.start();
  assertEquals(await read(), ["berlin berlin/shop/a"]);
  clusters.server("paris").create(ConfigMap, configMap({ name: "b", namespace: "shop" }));
  await clusters.pass(20_000);
  const all = ["berlin berlin/shop/a", "paris paris/shop/a", "paris paris/shop/b"];
  assertEquals(await read(), all);
  assertEquals([view.total, view.rows({ offset: 1 }).map(({ key }) => key)], [3, ["paris/shop/a", "paris/shop/b"]]);
  const removed = clusters.set.remove("berlin");
  assertEquals(await read(), all.slice(1));
  await clusters.during(removed);
  clusters.server("paris").delete(ConfigMap, "shop/b");
  assertEquals(await read(), ["paris paris/shop/a"]);
  const last = updates.next();
  await clusters.during(clusters.set[Symbol.asyncDispose]());
  assertEquals((await last).done, true);
});

Deno.test("ClusterInformer.view() without a cluster begins with the first, and ends with its signal and the set", async () => {
  await using clusters = new Clusters();
  const maps = clusters.set.forResource(ConfigMap);
  const stop = new AbortController();
  const [one, other, third] = [maps.view({ signal: stop.signal }), maps.view(), maps.view({ signal: stop.signal })];
  const updates = [one, other].map((view) => view.changes());
  const [first, second] = updates.map((it) => it.next());
  stop.abort();
  assertEquals([(await first).done, (await third.changes().next()).done], [true, true]);
  using late = maps.view({ signal: stop.signal });
  assertEquals((await late.changes().next()).done, true);
  clusters.set.start();
  clusters.add("berlin");
  assertEquals((await clusters.during(second)).value?.total, 1);
  const last = updates[1].next();
  await clusters.during(clusters.set[Symbol.asyncDispose]());
  assertEquals((await last).done, true);
});

Deno.test("ClusterInformer.addEventHandler(): a registration counts all clusters, and is removed from all, also from those to come", async () => {
  await using clusters = new Clusters();
  clusters.add("berlin");
  const maps = clusters.set.forResource(ConfigMap);
  const stop = new AbortController();
  const one = listen(maps);
  const other = listen(maps, { signal: stop.signal, name: "other" });
  assertEquals(
    [one.registration.name, other.registration.name, one.registration.hasSynced],
    ["handler 1", "other", false],
  );
  clusters.set.start();
  await clusters.pass();
  assertEquals([one.registration.hasSynced, one.registration.pending], [true, 0]);
  clusters.add("paris");
  assertEquals(one.registration.hasSynced, false);
  const synced = one.registration.waitForSync();
  await clusters.during(synced);
  one.take();
  other.take();
  one.registration.remove();
  stop.abort();
  clusters.add("rome");
  clusters.server("paris").delete(ConfigMap, "shop/a");
  await clusters.pass();
  assertEquals([one.take(), other.take()], [[], []]);
  assertEquals([one.registration.hasSynced, one.registration.pending], [true, 0]);
  assertEquals(maps.status().map(({ handlers }) => handlers.length), [0, 0, 0]);
  await one.registration[Symbol.asyncDispose]();
});

Deno.test("ClusterInformer: a wait for the sync of a handler does not fail with a cluster that is removed", async () => {
  await using clusters = new Clusters();
  clusters.add("berlin", "paris");
  clusters.server("paris").failNext(403, Infinity);
  const maps = clusters.set.forResource(ConfigMap);
  const { registration } = listen(maps);
  clusters.set.start();
  const synced = registration.waitForSync();
  await clusters.pass();
  await clusters.during(clusters.set.remove("paris"));
  await clusters.during(synced);
  clusters.server("rome").failNext(403, Infinity);
  clusters.add("rome");
  const waiting = registration.waitForSync();
  registration.remove();
  await assertRejects(() => waiting, Error, "was removed");
});

Deno.test("ClusterInformer delivers nothing of a cluster behind the deletions with which it leaves", async () => {
  await using clusters = new Clusters();
  clusters.add("berlin");
  const full = [{ start: 0n, end: 1n << 64n }];
  let ranges: readonly HashRange[] = full;
  const changed = new Set<() => void>();
  const onChange = (listener: () => void): Disposable => {
    changed.add(listener);
    return { [Symbol.dispose]: () => void changed.delete(listener) };
  };
  const maps = clusters.set.forResource(ConfigMap, { shard: { name: "s", by: "uid", ranges: () => ranges, onChange } });
  const { take } = listen(maps);
  let open = (): void => {};
  maps.addEventHandler({ onDelete: () => new Promise<void>((resolve) => open = resolve) });
  clusters.set.start();
  await clusters.pass();
  take();
  const removed = clusters.set.remove("berlin");
  await clusters.pass();
  ranges = [];
  for (const listener of changed) listener(); // the shard gives up the same object
  open();
  await clusters.during(removed);
  assertEquals(take(), ["- berlin shop/a (moved)"]);
});

Deno.test("ClusterInformer refuses a checkpoint, which is of one cluster, and one of a cluster's handler does not move when it leaves", async () => {
  await using clusters = new Clusters();
  clusters.add("berlin");
  const maps = clusters.set.forResource(ConfigMap);
  const store = new MemoryCheckpoints();
  const checkpoint = (): Promise<Checkpoint> => Checkpoint.open(store, { name: "reader" });
  const taken = await checkpoint();
  assertThrows(() => maps.addEventHandler({}, { checkpoint: taken }), TypeError, "a checkpoint belongs to one cluster");
  const seen: string[] = [];
  const handler = {
    onAdd: ({ key }: { readonly key: string }) => void seen.push(`+ ${key}`),
    onDelete: ({ key }: { readonly key: string }) => void seen.push(`- ${key}`),
  };
  maps.cluster("berlin")!.addEventHandler(handler, { checkpoint: await clusters.during(checkpoint()) });
  clusters.set.start();
  await clusters.pass(1_000);
  assertEquals(seen.splice(0), ["+ shop/a"]);
  await clusters.during(clusters.set.remove("berlin"));
  clusters.add("berlin");
  maps.cluster("berlin")!.addEventHandler(handler, { checkpoint: await clusters.during(checkpoint()) });
  await clusters.pass(1_000);
  assertEquals(seen, []);
});
