import { assert, assertAlmostEquals, assertEquals, assertMatch, assertRejects, assertThrows } from "@std/assert";
import type { CacheEntry } from "../../../../src/engine/api/entry.ts";
import { onlyFields } from "../../../../src/engine/api/fields.ts";
import type { KubernetesObject } from "../../../../src/engine/api/object.ts";
import { asTable, onlyMetadata, type Resource } from "../../../../src/engine/api/resource.ts";
import { MemoryLimitError } from "../../../../src/engine/api/status.ts";
import { entryOf } from "../../../../src/engine/entry/entry.ts";
import { field } from "../../../../src/engine/entry/path.ts";
import { MemoryBudget, MemoryWarning } from "../../../../src/engine/informer/cache/memory_budget.ts";
import { heldBytes } from "../../../../src/engine/informer/cache/memory_report.ts";
import { ObjectCache } from "../../../../src/engine/informer/cache/object_cache.ts";
import { internals } from "../../../../src/engine/errors/internals.ts";
import { derive } from "../../../../src/engine/informer/derived_collection.ts";
import { informerMetrics } from "../../../../src/engine/informer/metrics.ts";
import type { SharedInformerFactoryOptions } from "../../../../src/engine/informer/options.ts";
import type { SharedIndexInformer } from "../../../../src/engine/informer/shared_index_informer.ts";
import { SharedInformerFactory } from "../../../../src/engine/informer/shared_informer_factory.ts";
import { MemorySnapshots } from "../../../../src/engine/informer/snapshot.ts";
import { WaitError } from "../../../../src/engine/informer/status.ts";
import { ConfigMap, Namespace, Node, Pod } from "../../../../src/engine/kinds/core/v1.ts";
import { Indexer } from "../../../../src/engine/store/indexer.ts";
import { Random } from "../../../../src/testing/fake/random.ts";
import { configMap, type FakeApiServerOptions, history, perform, pod } from "../../../../src/testing/mod.ts";
import { FactoryFixture } from "../_factory_fixture.ts";

/** A factory with a limit, whose errors are kept. */
class Limited extends FactoryFixture {
  readonly found: unknown[];

  constructor(options: SharedInformerFactoryOptions, server: FakeApiServerOptions = {}) {
    const found: unknown[] = [];
    const defaults = { reflector: { backoff: { jitter: 0 } }, compact: false };
    super({ ...defaults, onError: (error) => found.push(error), ...options }, server);
    this.found = found;
  }

  /** Creates config maps of some 1,000 bytes of text, and 1,350 as they are counted. */
  createMaps(from: number, to: number, namespace = "shop"): void {
    for (let i = from; i < to; i++) {
      this.server.create(ConfigMap, configMap({ name: `map-${i}`, namespace, data: { text: "x".repeat(740) } }));
    }
  }

  /** Creates pods of some 900 bytes as they are counted. */
  createPods(from: number, to: number): void {
    for (let i = from; i < to; i++) this.server.create(Pod, pod({ name: `pod-${i}`, namespace: "shop", node: "n1" }));
  }

  /** Returns the errors since the last call. */
  take(): unknown[] {
    return this.found.splice(0);
  }

  /** The versions of cached config maps, and those of the server, are the same. */
  get isEqual(): boolean {
    const versions = (maps: readonly KubernetesObject[]): string =>
      maps.map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`).sort().join();
    return versions(this.informers.forResource(ConfigMap).lister.list()) === versions(this.server.list(ConfigMap));
  }
}

/** The bytes that entries and indexes of a cache hold, by a walk over them. */
function walked<T extends KubernetesObject>(
  informer: SharedIndexInformer<T, string>,
  names: readonly string[],
): number {
  const entries = informer.entries as Indexer<CacheEntry<T>, string>;
  const indexers = Object.fromEntries(
    names.map((name) => [name, (entry: CacheEntry<T>): readonly string[] => entries.indexValuesOf(name, entry)]),
  );
  const store = new Indexer<CacheEntry<T>, string>({ keyOf: ({ key }) => key, indexers, sizeOf: heldBytes });
  store.replace(entries.list(), "1");
  const templates = informer[internals].sync.cache.compaction?.templates;
  return store.bytes + informer.memory().sharedBytes + (templates?.bytes ?? 0);
}

Deno.test("Without maxBytes nothing is counted", async () => {
  await using fixture = new FactoryFixture();
  fixture.server.create(ConfigMap, configMap({ name: "a" }));
  const maps = fixture.informers.forResource(ConfigMap);
  await fixture.start();
  assertEquals([fixture.informers.maxBytes, fixture.informers.countedBytes], [undefined, undefined]);
  assertEquals([maps.status().memory, (maps.entries as Indexer<unknown>).bytes], [undefined, 0]);
  const families = informerMetrics(fixture.informers.status());
  assertEquals(families.find(({ name }) => name === "informer_memory_bytes")?.samples, []);
  assertThrows(() => fixture.informers.maxBytes = 1_000, TypeError, "Create it with the option maxBytes");
});

Deno.test("maxBytes is a whole number above 0", async () => {
  await using fixture = new Limited({ maxBytes: Infinity });
  for (const maxBytes of [0, -1, 1.5, NaN, "512MB" as unknown as number]) {
    const make = (): unknown => new SharedInformerFactory(fixture.client, { maxBytes });
    assertThrows(make, RangeError, "maxBytes must be a whole number of at least 1");
  }
  assertThrows(() => fixture.informers.maxBytes = 0, RangeError, "maxBytes");
  fixture.informers.maxBytes = 5;
  assertEquals(fixture.informers.maxBytes, 5);
});

Deno.test("At 80 % of maxBytes the largest caches and their largest fields are reported, once until they hold less than 70 %", async () => {
  await using fixture = new Limited({ maxBytes: 40_000 });
  const { informers, server } = fixture;
  fixture.createPods(0, 3);
  const maps = informers.forResource(ConfigMap);
  informers.forResource(Pod);
  informers.forResource(Node);
  await fixture.start();
  assertEquals(fixture.take(), []);
  fixture.createMaps(0, 24);
  await fixture.tick();
  const [warning, ...others] = fixture.take();
  assert(warning instanceof MemoryWarning);
  assertEquals(others, []);
  assert(warning.bytes >= 32_000 && warning.bytes < 34_000, String(warning.bytes));
  assertEquals([warning.maxBytes, warning.largest.map(({ resource }) => resource)], [40_000, ["configmaps", "pods"]]);
  const [large] = warning.largest;
  assertEquals(large.fields.map(({ path }) => path), ["data"]);
  assertAlmostEquals(large.fields[0].share, 0.8, 0.1);
  assert(large.bytes > 24_000 && large.objects > 15, JSON.stringify(large));
  assertMatch(
    warning.message,
    /^The caches hold 3[23]\.\d kB, 8\d % of maxBytes: configmaps \d+\.\d kB \(data \d+ %\), pods \d\.\d kB \(.*\)\. Select only the/,
  );
  server.delete(ConfigMap, "shop/map-0");
  fixture.createMaps(30, 31);
  await fixture.tick();
  assertEquals([fixture.take(), maps.memory().parsed], [[], 0]); // the sample is not kept
  for (let i = 1; i < 10; i++) server.delete(ConfigMap, `shop/map-${i}`);
  await fixture.tick();
  assert(informers.countedBytes! < 28_000);
  fixture.createMaps(40, 49);
  await fixture.tick();
  assertEquals(fixture.take().map((error) => (error as Error).name), ["MemoryWarning"]);
});

Deno.test("Above 100 % the watch of the kind that grows ends, and it is listed again when others hold less than 70 %", async () => {
  await using fixture = new Limited({ maxBytes: 40_000 });
  const { informers, server } = fixture;
  fixture.createPods(0, 25);
  fixture.createMaps(0, 5);
  const maps = informers.forResource(ConfigMap);
  const pods = informers.forResource(Pod);
  await fixture.start();
  await fixture.tick();
  fixture.take();
  fixture.createMaps(5, 30);
  await fixture.tick();
  const errors = fixture.take().filter((error) => error instanceof MemoryLimitError);
  assertEquals(errors.map(({ resource, maxBytes }) => [resource, maxBytes]), [["configmaps", 40_000]]);
  assertMatch(
    errors[0].message,
    /^Cannot follow "configmaps": the caches of the factory hold more than maxBytes, 40\.0 kB\. The cache/,
  );
  const { state, cause, retryAt, memory } = maps.status();
  assertEquals([state, cause === errors[0], retryAt], ["stale", true, undefined]);
  assert(memory!.total > 40_000 && memory!.total < 42_000, "it ends behind the object that was too much");
  assertEquals(maps.lister.get("shop/map-4")?.data?.text.length, 740);
  const [before, requests] = [maps.indexer.size, server.requests.length];
  await fixture.tick(3_600_000);
  const isOfMaps = ({ path }: { readonly path: string }): boolean => path.endsWith("/configmaps");
  assertEquals([maps.indexer.size, server.requests.slice(requests).filter(isOfMaps).length], [before, 0]);
  assertEquals([pods.status().state, fixture.take()], ["live", []]);
  for (let i = 0; i < 20; i++) server.delete(Pod, `shop/pod-${i}`);
  for (let i = 10; i < 30; i++) server.delete(ConfigMap, `shop/map-${i}`);
  await fixture.tick();
  assert(informers.countedBytes! < 28_000, String(informers.countedBytes));
  assertEquals(maps.status().state, "stale"); // a wait comes first
  await fixture.tick(800);
  assertEquals([maps.status().state, fixture.isEqual, fixture.take()], ["live", true, []]);
});

Deno.test("A cache that is too large alone stays stale until maxBytes is raised", async () => {
  await using fixture = new Limited({ maxBytes: 20_000 });
  const maps = fixture.informers.forResource(ConfigMap);
  await fixture.start();
  fixture.createMaps(0, 20);
  await fixture.tick(3_600_000);
  assertEquals([maps.status().state, fixture.take().length], ["stale", 2]);
  fixture.informers.maxBytes = 25_000; // it holds more than 70 % of that
  await fixture.tick(60_000);
  assertEquals(maps.status().state, "stale");
  fixture.informers.maxBytes = 60_000;
  await fixture.tick(800);
  assertEquals([maps.status().state, fixture.isEqual], ["live", true]);
});

for (const streamingList of [true, false]) {
  const by = streamingList ? "a streaming list" : "pages";
  Deno.test(`A first list that does not fit ends in the middle, and gives its bytes back: ${by}`, async () => {
    await using fixture = new Limited(
      { maxBytes: 40_000, reflector: { pageSize: 10, backoff: { jitter: 0 } } },
      { streamingList, chunkBytes: 2_000 },
    );
    const { informers, server } = fixture;
    fixture.createMaps(0, 200);
    fixture.createPods(0, 2);
    const maps = informers.forResource(ConfigMap);
    informers.forResource(Pod);
    await fixture.start();
    const reason = await assertRejects(() => maps.waitForCacheSync(), WaitError);
    assert(reason.cause instanceof MemoryLimitError, String(reason.cause));
    assertMatch(reason.cause.message, /^Cannot list "configmaps"/);
    const { total } = reason.cause;
    assert(total > 40_000 && total < 44_000, `it ends behind the chunk that was too much: ${total}`);
    const lists = server.requests.filter(({ path }) => path.endsWith("/configmaps")).length;
    assert(lists < (streamingList ? 2 : 6), `${lists} requests`);
    assert(informers.countedBytes! > 0 && informers.countedBytes! < 5_000, "the pods alone are counted");
    assertEquals([maps.status().state, maps.indexer.size, maps.hasSynced], ["listing", 0, false]);
    const errors = fixture.take().map((error) => (error as Error).name);
    assertEquals(errors, ["MemoryWarning", "MemoryLimitError"]);
    await fixture.tick(290_000);
    assertEquals(server.requests.filter(({ path }) => path.endsWith("/configmaps")).length, lists);
    await fixture.tick(320_000); // it looks whether the collection is smaller by now
    assertEquals(fixture.take().map((error) => (error as Error).name), ["MemoryWarning", "MemoryLimitError"]);
    informers.maxBytes = 1_000_000;
    await fixture.tick(1_600);
    assertEquals([maps.status().state, fixture.isEqual], ["live", true]);
  });
}

Deno.test("A first list that did not fit begins again when other caches have made as much room as it had staged", async () => {
  await using fixture = new Limited({ maxBytes: 54_000 }, { chunkBytes: 2_000 });
  fixture.createPods(0, 30);
  const pods = fixture.informers.forResource(Pod);
  await fixture.start();
  fixture.createMaps(0, 25);
  const maps = fixture.informers.forResource(ConfigMap);
  await fixture.start();
  assertEquals([pods.status().state, maps.status().state], ["live", "listing"]);
  for (let i = 0; i < 25; i++) {
    fixture.server.delete(Pod, `shop/pod-${i}`);
    await fixture.tick(800);
  }
  assertEquals([maps.status().state, fixture.isEqual], ["live", true]);
  // The next list waits for no more than its room: what the first one had staged is cached by now.
  fixture.createMaps(25, 45);
  await fixture.tick();
  assertEquals(maps.status().state, "stale");
  fixture.informers.maxBytes = 80_000;
  await fixture.tick(800);
  assertEquals([maps.status().state, fixture.isEqual], ["live", true]);
});

Deno.test("A warning during a first list names the fields of what has arrived", async () => {
  await using fixture = new Limited({ maxBytes: 40_000 });
  fixture.createMaps(0, 26);
  fixture.informers.forResource(ConfigMap);
  await fixture.start();
  const [warning, ...others] = fixture.take();
  assert(warning instanceof MemoryWarning);
  const [{ objects, fields }] = warning.largest;
  assertEquals([objects, fields.map(({ path }) => path), others], [0, ["data"], []]);
});

Deno.test("A relist counts what has changed beside what is cached, and one that does not fit leaves the cache as it was", async () => {
  await using fixture = new Limited({ maxBytes: 36_000 }, { chunkBytes: 2_000 });
  const { informers, server } = fixture;
  fixture.createMaps(0, 15);
  const maps = informers.forResource(ConfigMap);
  await fixture.start();
  const relist = (changed: number): void => {
    using _stalled = server.stallWatches(ConfigMap);
    for (let i = 0; i < changed; i++) {
      server.annotate(ConfigMap, `shop/map-${i}`, { changed: String(server.resourceVersion) });
    }
    server.compact();
    server.dropWatches();
  };
  relist(2);
  await fixture.tick(5_000);
  assertEquals([maps.status().state, fixture.isEqual, maps.status().completedLists], ["live", true, 2]);
  const versions = maps.lister.list().map(({ metadata }) => metadata.resourceVersion);
  relist(15);
  await fixture.tick(5_000);
  const { state, cause, completedLists } = maps.status();
  assertEquals([state, (cause as Error).name, completedLists], ["stale", "MemoryLimitError", 2]);
  assertEquals(maps.lister.list().map(({ metadata }) => metadata.resourceVersion), versions);
  assertEquals(maps.status().memory!.bytes, walked(maps, ["namespace"]));
  informers.maxBytes = 80_000;
  await fixture.tick(5_000);
  assertEquals([maps.status().state, fixture.isEqual], ["live", true]);
});

Deno.test("A snapshot that does not fit is not restored, and leaves nothing counted", async () => {
  const store = new MemorySnapshots();
  for (const maxBytes of [1_000_000, 20_000]) {
    await using fixture = new Limited({ maxBytes, snapshots: { store } });
    fixture.createMaps(0, 40);
    fixture.informers.forResource(ConfigMap);
    await fixture.start();
    await fixture.tick(10);
    const names = fixture.take().map((error) => (error as Error).name);
    if (maxBytes > 20_000) assertEquals([fixture.isEqual, names], [true, []]);
    else assertEquals([fixture.informers.countedBytes, names.includes("MemoryLimitError")], [0, true]);
  }
});

Deno.test("Each namespace of an informer ends by itself", async () => {
  await using fixture = new Limited({ maxBytes: 30_000 });
  const { informers, server } = fixture;
  const maps = informers.forResource(ConfigMap, { namespaces: ["a", "b"] });
  await fixture.start();
  fixture.createMaps(0, 25, "a");
  await fixture.tick();
  const states = (): string[] => maps.status().namespaces!.map(({ namespace, state }) => `${namespace}: ${state}`);
  assertEquals([maps.status().state, states()], ["stale", ["a: stale", "b: live"]]);
  fixture.createMaps(0, 1, "b");
  await fixture.tick();
  assertEquals(states(), ["a: stale", "b: stale"]);
  for (let i = 0; i < 20; i++) server.delete(ConfigMap, `a/map-${i}`);
  informers.maxBytes = 60_000;
  await fixture.tick(1_600);
  assertEquals([states(), informers.countedBytes], [["a: live", "b: live"], walked(maps, ["namespace"])]);
});

Deno.test("Objects of namespaces by label that come are counted while they are listed", async () => {
  await using fixture = new Limited({ maxBytes: 30_000 }, { chunkBytes: 2_000 });
  const { informers, server } = fixture;
  for (const name of ["a", "b"]) {
    server.create(Namespace, { metadata: { name, labels: name === "a" ? { team: "x" } : {} } });
  }
  fixture.createMaps(0, 5, "a");
  fixture.createMaps(0, 40, "b");
  const maps = informers.forResource(ConfigMap, { namespaces: { labels: "team=x" } });
  await fixture.start();
  await fixture.tick(100);
  assertEquals([maps.status().state, maps.indexer.size], ["live", 5]);
  server.patch(Namespace, "b", { metadata: { labels: { team: "x" } } });
  await fixture.tick(1_000);
  assertEquals([maps.status().state, maps.indexer.size], ["stale", 5]);
  informers.maxBytes = 200_000;
  await fixture.tick(2_000);
  assertEquals([maps.status().state, maps.indexer.size], ["live", 45]);
  server.patch(Namespace, "b", { metadata: { labels: { team: null } } });
  await fixture.tick(100);
  const [{ status: namespaces }] = informers.status().filter(({ resource }) => resource.plural === "namespaces");
  const bytes = walked(maps, ["namespace"]);
  assertEquals([maps.indexer.size, informers.countedBytes], [5, bytes + namespaces.memory!.bytes]);
});

Deno.test("Staged objects that a commit does not store, and those of a list that is given up, are counted no more", () => {
  const entry = entryOf(configMap({ name: "a", data: { text: "x" } }) as KubernetesObject);
  const cache = new ObjectCache<KubernetesObject>(
    undefined,
    { parse: "lazy", freeze: false, compact: false },
    () => {},
    true,
  );
  const budget = new MemoryBudget(1_000_000, () => {});
  using counted = budget.count(ConfigMap, cache);
  for (const end of ["commit", "abandon"] as const) {
    const ends: string[] = [];
    const staged = counted.staging({
      add: () => {},
      delete: () => {},
      commit: (version) => void ends.push(`commit at ${version}`),
      abandon: () => void ends.push("abandon"),
    });
    staged.add([entry]);
    assertEquals([counted.bytes, budget.bytes], [heldBytes(entry), heldBytes(entry)]);
    assertEquals(counted.large.fields, []); // what has arrived is not kept
    staged[end]("5");
    assertEquals([counted.bytes, budget.bytes, ends], [0, 0, [end === "commit" ? "commit at 5" : "abandon"]]);
  }
});

/** Some 20,000 bytes of index values of an object. */
function manyValues({ metadata: { name } }: KubernetesObject): string[] {
  return Array.from({ length: 50 }, (_, i) => `${name}-${i}`);
}

Deno.test("Indexes of what a list has staged are written, and the next change that grows ends the watch", async () => {
  await using fixture = new Limited({ maxBytes: 90_000 });
  const { informers, server } = fixture;
  fixture.createMaps(0, 3);
  const maps = informers.forResource(ConfigMap, { indexers: { many: manyValues } });
  await fixture.start();
  {
    using _stalled = server.stallWatches(ConfigMap);
    fixture.createMaps(3, 6);
    server.compact();
    server.dropWatches();
  }
  await fixture.tick(5_000);
  assertEquals([maps.status().state, fixture.isEqual, maps.status().completedLists], ["live", true, 2]);
  assert(informers.countedBytes! > informers.maxBytes!);
  assertEquals(informers.countedBytes, walked(maps, ["namespace", "many"]));
  fixture.createMaps(6, 7);
  await fixture.tick();
  assertEquals([maps.status().state, maps.indexer.size], ["stale", 7]);
});

Deno.test("A range that came is listed again if its indexes did not fit", async () => {
  await using fixture = new Limited({ maxBytes: 90_000 });
  const { informers, server } = fixture;
  for (const name of ["a", "b"]) {
    server.create(Namespace, { metadata: { name, labels: name === "a" ? { team: "x" } : {} } });
  }
  fixture.createMaps(0, 3, "a");
  fixture.createMaps(3, 9, "b");
  const maps = informers.forResource(ConfigMap, { namespaces: { labels: "team=x" }, indexers: { many: manyValues } });
  await fixture.start();
  server.patch(Namespace, "b", { metadata: { labels: { team: "x" } } });
  await fixture.tick(1_000);
  const { state, objects } = maps.status();
  assert(state === "stale" && objects > 3 && objects < 9, `${state}, ${objects} objects`);
  informers.maxBytes = 1_000_000;
  await fixture.tick(2_000);
  assertEquals([maps.status().state, maps.indexer.size], ["live", 9]);
});

Deno.test("Beyond the limit caches that do not grow are followed, and an index that is added counts", async () => {
  await using fixture = new Limited({ maxBytes: 1_000_000 });
  const { informers, server } = fixture;
  fixture.createMaps(0, 20);
  const maps = informers.forResource(ConfigMap);
  await fixture.start();
  maps.withIndexers({ many: manyValues });
  assertEquals(informers.countedBytes, walked(maps, ["namespace", "many"]));
  informers.maxBytes = 20_000;
  server.delete(ConfigMap, "shop/map-0");
  server.patch(ConfigMap, "shop/map-15", { data: { text: "y".repeat(740) } });
  await fixture.tick();
  assertEquals([maps.status().state, fixture.isEqual], ["live", true]);
  server.patch(ConfigMap, "shop/map-15", { data: { text: "y".repeat(741) } });
  await fixture.tick();
  assertEquals(maps.status().state, "stale");
});

Deno.test("A transform's result is counted, and derived collections are not", async () => {
  await using fixture = new Limited({ maxBytes: 100_000 });
  fixture.createMaps(0, 10);
  const maps = fixture.informers.forResource(ConfigMap, {
    transform: ({ metadata: { name, namespace, uid, resourceVersion } }) => ({
      ...{ apiVersion: "v1", kind: "ConfigMap" } as const,
      metadata: { name, namespace, uid, resourceVersion } as ConfigMap["metadata"],
    }),
  });
  await using derived = derive(maps, ({ metadata: { name } }) => ({ metadata: { name }, text: "x".repeat(1_000) }));
  await fixture.start();
  await fixture.tick();
  assertEquals(derived.indexer.size, 10);
  const bytes = fixture.informers.countedBytes!;
  assert(bytes > 4_000 && bytes < 8_000, String(bytes));
  assertEquals(bytes, walked(maps, ["namespace"]));
});

Deno.test("A handler receives what made the cache too large, and status and metrics have the bytes", async () => {
  await using fixture = new Limited({ maxBytes: 20_000 });
  const maps = fixture.informers.forResource(ConfigMap);
  const keys: string[] = [];
  maps.addEventHandler({ onAdd: ({ key }) => void keys.push(key) });
  await fixture.start();
  fixture.createMaps(0, 30);
  await fixture.tick();
  assertEquals(keys.sort(), maps.lister.list().map(({ metadata }) => `shop/${metadata.name}`).sort());
  const { memory } = maps.status();
  assertEquals(memory, {
    bytes: walked(maps, ["namespace"]),
    total: fixture.informers.countedBytes!,
    maxBytes: 20_000,
  });
  const families = informerMetrics(fixture.informers.status());
  assertEquals(families.find(({ name }) => name === "informer_memory_bytes")?.samples, [
    { labels: { resource: "configmaps" }, value: memory!.bytes },
  ]);
});

/** Writes, and faults that need no timer of the server. */
const STEPS: ReadonlySet<string> = new Set([
  ...["write", "delete", "compact", "drop", "end", "refuse", "break", "failWatches"],
]);

type AnyInformer = SharedIndexInformer<KubernetesObject, string>;

/** Plays the history of a seed to informers of all forms; returns how often one ended because of the limit. */
async function play(seed: number): Promise<number> {
  const maxBytes = seed % 2 === 0 ? 1_000_000 : 45_000;
  await using fixture = new Limited({ maxBytes, idleTimeoutMs: 1_000, cacheTtlMs: 2_000, compact: seed % 3 > 0 }, {
    seed,
    history: 20,
    chunkBytes: 300,
  });
  const { server, informers } = fixture;
  const random = new Random(seed ^ 0x3e);
  const resources = [ConfigMap, onlyFields(ConfigMap, ["data.value"]), onlyMetadata(ConfigMap), asTable(ConfigMap)];
  const all: AnyInformer[] = (resources as unknown as Resource<KubernetesObject>[]).map((resource, i) =>
    informers.forResource(resource, { freeze: i % 2 === 1 }) as AnyInformer
  );
  const maps = ConfigMap as unknown as Resource<KubernetesObject>;
  all.push(informers.forResource(maps, { namespaces: ["a", "b"] }));
  all.push(informers.forResource(maps, { shard: "0/2", parse: "eager" }));
  all.push(informers.forResource(maps, { labelSelector: "tier", transform: (map) => ({ ...map, extra: [1, "two"] }) }));
  const indexed = informers.forResource(maps, {
    labelSelector: "tier!=x",
    indexers: { tier: field("metadata.labels.tier") },
  });
  all.push(indexed);
  const check = (): void => {
    const held = all.map((informer) => walked(informer, informer === indexed ? ["namespace", "tier"] : ["namespace"]));
    assertEquals(all.map((informer) => informer.status().memory!.bytes), held, `seed ${seed}`);
    assertEquals(informers.countedBytes, held.reduce((sum, bytes) => sum + bytes, 0), `seed ${seed}`);
  };
  await fixture.start();
  for (const step of history(seed, { names: 6, steps: 40 }).filter((step) => STEPS.has(step.do))) {
    perform(server, ConfigMap, step);
    await fixture.tick(random.pick([0, 0, 30, 900, 5_000]));
    if (all.some((informer) => informer.status().listing !== undefined)) continue; // what is staged is counted, too
    check();
    if (random.next() >= 0.2) continue;
    for (const informer of all) informer.lister.list(); // a parse changes only the count of compact objects
    check();
  }
  const ended = fixture.take().filter((error) => error instanceof MemoryLimitError).length;
  informers.maxBytes = 10_000_000;
  const isLive = (): boolean => all.every((informer) => informer.status().state === "live");
  for (let tries = 0; tries < 20 && !isLive(); tries++) await fixture.tick(30_000);
  await fixture.tick(30_000);
  assertEquals(all.map((informer) => informer.status().state), all.map(() => "live"), `seed ${seed}`);
  assertEquals(all[0].indexer.size, server.list(ConfigMap).length, `seed ${seed}`);
  check();
  const held = informers.acquire(maps, { labelSelector: "tier=none" });
  await fixture.tick(100);
  held[Symbol.dispose]();
  await fixture.tick(3_100);
  check(); // it was forgotten
  const [over] = await Promise.all([informers.shutdown(), fixture.tick()]);
  assertEquals([over, informers.countedBytes], [undefined, 0], `seed ${seed}`);
  assertEquals(all.map((informer) => informer.status().memory!.bytes), all.map(() => 0));
  return ended;
}

Deno.test("After random histories the bytes are those of a walk over all caches, and 0 behind the shutdown", async () => {
  let ended = 0;
  for (let seed = 1; seed <= 24; seed++) ended += await play(seed);
  assert(ended > 10, `${ended} ends by the limit are too few`);
});
