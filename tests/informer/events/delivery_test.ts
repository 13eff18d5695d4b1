import { assertEquals } from "@std/assert";
import { ConfigMap } from "../../../src/kinds/core/v1.ts";
import type { Durations } from "../../../src/async/time.ts";
import { FactoryFixture } from "../_factory_fixture.ts";

const map = (name: string, labels?: Record<string, string>): ConfigMap =>
  ({ metadata: { name, namespace: "shop", ...(labels === undefined ? {} : { labels }) } }) as ConfigMap;

/** The number, sum and maximum of durations. */
const figures = (durations: Durations | undefined): unknown =>
  durations === undefined ? undefined : [durations.count, durations.sumMs, durations.maxMs];

/** A factory whose clock is at a whole second, as versions of the server have no fractions of one. */
async function wholeSecond(): Promise<FactoryFixture> {
  const fixture = new FactoryFixture();
  await fixture.tick(1_000 - Date.now() % 1_000);
  return fixture;
}

Deno.test("measureDelivery measures additions after the first list, from creationTimestamp to the call of each handler", async () => {
  await using fixture = await wholeSecond();
  const { informers, server } = fixture;
  const maps = informers.forResource(ConfigMap);
  const release = Promise.withResolvers<void>();
  maps.addEventHandler({ onAdd: ({ key }) => key === "shop/b" ? release.promise : undefined });
  maps.addEventHandler({});
  server.create(ConfigMap, map("old"));
  await fixture.tick(1_000);
  assertEquals(maps.status().deliveryMs, undefined);
  informers.measureDelivery();
  await fixture.start();
  assertEquals([maps.indexer.size, figures(maps.status().deliveryMs)], [1, [0, 0, 0]]);

  server.create(ConfigMap, map("b"));
  await fixture.tick();
  assertEquals(figures(maps.status().deliveryMs), [2, 0, 0]);
  server.create(ConfigMap, map("c"));
  await fixture.tick(3_000);
  assertEquals(figures(maps.status().deliveryMs), [3, 0, 0]);
  release.resolve();
  await fixture.tick();
  assertEquals(figures(maps.status().deliveryMs), [4, 3_000, 3_000]);
  server.clockSkew(60_000);
  server.create(ConfigMap, map("d")); // after this process reads its clock
  await fixture.tick();
  assertEquals(figures(maps.status().deliveryMs), [6, 3_000, 3_000]);
  server.update(ConfigMap, { ...server.get(ConfigMap, "shop/c")!, data: { a: "b" } });
  maps.addEventHandler({}); // its initial objects are old
  await fixture.tick();
  assertEquals(figures(maps.status().deliveryMs), [6, 3_000, 3_000]);
});

Deno.test("measureDelivery measures no object that was there before, or begins to match, or lacks its time of creation", async () => {
  await using fixture = await wholeSecond();
  const { informers, server } = fixture;
  await fixture.tick(900);
  informers.measureDelivery(); // also for informers that are made later
  const all = informers.forResource(ConfigMap);
  const selected = informers.forResource(ConfigMap, { labelSelector: "app" });
  const named = informers.forResource(ConfigMap, { fields: ["metadata.labels"] });
  const bare = informers.forResource(ConfigMap, {
    namespaces: ["shop", "yard"],
    transform: ({ metadata: { creationTimestamp: _taken, ...metadata }, ...map }) =>
      ({ ...map, metadata }) as ConfigMap,
  });
  let matched = 0;
  all.addEventHandler({ onAdd: () => matched++ }, { filter: ({ metadata }) => metadata.labels?.app !== undefined });
  for (const informer of [selected, named, bare]) informer.addEventHandler({});
  await fixture.start();
  server.create(ConfigMap, map("a")); // 900 ms after its time of creation, in whole seconds
  await fixture.tick(5_000);
  server.patch(ConfigMap, "shop/a", { metadata: { labels: { app: "web" } } });
  await fixture.tick();
  assertEquals([matched, ...[selected, named, bare].map(({ indexer }) => indexer.size)], [1, 1, 1, 1]);
  assertEquals(
    [all, selected, named, bare].map((it) => figures(it.status().deliveryMs)),
    [[0, 0, 0], undefined, [1, 900, 900], [0, 0, 0]],
  );
  assertEquals([all, bare].map((it) => [it.status().listMs.count, it.status().commitMs.count]), [[1, 1], [2, 2]]);
});

Deno.test("measureDelivery measures what a relist brings, and reads no broken object", async () => {
  await using fixture = await wholeSecond();
  const { informers, server } = fixture;
  informers.measureDelivery();
  const maps = informers.forResource(ConfigMap, {
    transform: (map) => {
      if (map.metadata.name === "broken") throw new Error("broken");
      return map;
    },
  });
  const keys: string[] = [];
  maps.addEventHandler({ onAdd: ({ key }) => keys.push(key) });
  await fixture.start();
  server.failNext(500, Infinity);
  server.dropWatches();
  server.create(ConfigMap, map("a"));
  server.create(ConfigMap, map("broken"));
  server.compact();
  await fixture.tick(7_000);
  assertEquals(keys, []);
  server.disarm();
  await fixture.tick(10_000);
  assertEquals(keys.toSorted(), ["shop/a", "shop/broken"]);
  const { count = 0, maxMs = 0 } = maps.status().deliveryMs ?? {};
  assertEquals([count, maxMs >= 7_000], [1, true]);
  assertEquals(fixture.errors.filter((it) => it.includes("Handler")), []);
});
