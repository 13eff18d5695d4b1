import { assert, assertEquals, assertThrows } from "@std/assert";
import { onlyFields } from "../../../../src/engine/api/fields.ts";
import type { KubernetesObject } from "../../../../src/engine/api/object.ts";
import type { Abortable, Selection } from "../../../../src/engine/api/call_options.ts";
import { asTable, onlyMetadata } from "../../../../src/engine/api/resource.ts";
import { copyOf } from "../../../../src/engine/api/written.ts";
import { nextTurn } from "../../../../src/engine/async/turns.ts";
import type { ObjectWrite } from "../../../../src/engine/client/resource_client.ts";
import type { ReconcileContext } from "../../../../src/operator/controllers/reconcile/options.ts";
import { type Cache, PendingWrites } from "../../../../src/operator/controllers/reconcile/pending_writes.ts";
import type { Reconciler } from "../../../../src/operator/controllers/reconcile/reconciler.ts";
import { internals } from "../../../../src/engine/errors/internals.ts";
import { CacheOverlay } from "../../../../src/engine/informer/cache/cache_overlay.ts";
import { CacheScope } from "../../../../src/engine/informer/cache/cache_scope.ts";
import { ObjectCache } from "../../../../src/engine/informer/cache/object_cache.ts";
import { SharedInformerFactory } from "../../../../src/engine/informer/shared_informer_factory.ts";
import { Deployment } from "../../../../src/engine/kinds/apps/v1.ts";
import { ConfigMap, Namespace, Pod, Secret } from "../../../../src/engine/kinds/core/v1.ts";
import { pod } from "../../../../src/testing/fake/objects.ts";
import { FakeTime } from "../../../support/times/fake_time.ts";
import { Session } from "./_session.ts";

/** A cache whose state is set by hand, and whose waits end by hand. */
class ScriptedCache {
  readonly objects = new Map<string, { readonly uid: string; readonly resourceVersion: string }>();
  readonly entries = { getByKey: (key: string): unknown => this.objects.get(key) };
  readonly waits: { readonly name: string; readonly end: () => void }[] = [];
  lastSyncResourceVersion = "10";
  readonly overlaid: CacheOverlay<KubernetesObject> = new CacheOverlay<KubernetesObject>(
    new ObjectCache<KubernetesObject>(ConfigMap, { freeze: false, compact: false, parse: "lazy" }, () => {}),
    new CacheScope(ConfigMap, [{}]),
  );
  readonly [internals] = {
    sync: { overlay: (): CacheOverlay<KubernetesObject> => this.overlaid, isInShard: (): boolean => true },
    checks: { untilChecked: (signal: AbortSignal): Promise<void> => this.#wait("list", { signal }) },
  };
  readonly selections: readonly Selection[];

  constructor(selections: readonly Selection[] = [{}]) {
    this.selections = selections;
  }
  waitForVersion = (version: string, options: Abortable): Promise<void> => this.#wait(version, options);
  until = (_: unknown, options: { signal: AbortSignal }): Promise<void> => this.#wait("until", options);
  untilDeleted = (key: string, options: { signal: AbortSignal }): Promise<void> => this.#wait(`gone ${key}`, options);

  /** Ends the waits of these names that have begun, or all, after the cache has changed. */
  async show(change: () => void, names?: readonly string[]): Promise<void> {
    change();
    for (const { name, end } of this.waits) {
      if (names?.includes(name) ?? true) end();
    }
    await nextTurn();
  }

  #wait(name: string, { signal }: Abortable): Promise<void> {
    return new Promise((resolve, reject) => {
      this.waits.push({ name, end: resolve });
      signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
  }
}

/** The metadata that objects of writes need not differ in. */
const ANY = { name: "a", namespace: "shop", uid: "u", resourceVersion: "11", creationTimestamp: "" };

/** The writes of the key "owner", with one cache. */
function following(cache = new ScriptedCache()): {
  readonly cache: ScriptedCache;
  readonly writes: PendingWrites;
  readonly superseded: string[];
  readonly write: (version: string, options?: Partial<ObjectWrite>) => void;
} {
  const superseded: string[] = [];
  const writes = new PendingWrites((key, { object }) => superseded.push(`${key} ${object}`), 30_000);
  writes.addCache(ConfigMap, cache as unknown as Cache);
  const write = (resourceVersion: string, options: Partial<ObjectWrite> = {}): void =>
    writes.record("owner", {
      resource: ConfigMap,
      key: "shop/a",
      namespace: "shop",
      uid: "u",
      resourceVersion,
      ...(resourceVersion === "" ? {} : { object: { metadata: ANY } }),
      ...options,
    });
  return { cache, writes, superseded, write };
}

/** The answer to a write, with the version of the object that readers of a cache see. */
function answer(resourceVersion: string, uid = "u", labels = {}): Partial<ObjectWrite> {
  return { uid, object: { apiVersion: "v1", kind: "ConfigMap", metadata: { ...ANY, uid, resourceVersion, labels } } };
}

/** The version that readers of a cache see: `"cached"` where no answer is over it, `"gone"` where one hides it. */
function read({ overlaid }: ScriptedCache): string {
  if (overlaid.coverOf("shop/a") === undefined) return "cached";
  return overlaid.getByKey("shop/a")?.resourceVersion ?? "gone";
}

Deno.test("PendingWrites forgets writes that its caches show, whether the key comes up again or not", async () => {
  const { cache, writes, superseded, write } = following();
  write("11");
  assertEquals([writes.size, writes.hasSeen("owner")], [1, false]);
  await cache.show(() => cache.objects.set("shop/a", { uid: "u", resourceVersion: "11" }));
  assertEquals([writes.size, superseded], [0, []]);
  write("12");
  cache.objects.set("shop/a", { uid: "u", resourceVersion: "12" });
  assertEquals([writes.hasSeen("owner"), writes.size], [true, 0]);
  writes[Symbol.dispose]();
});

Deno.test("PendingWrites follows later writes, too, after all earlier ones were seen", async () => {
  const { cache, writes, superseded, write } = following();
  for (const version of ["11", "13"]) {
    write(version);
    await cache.show(() => cache.lastSyncResourceVersion = String(Number(version) + 1)); // somebody has deleted it
    assertEquals(writes.hasSeen("owner"), true);
  }
  assertEquals(superseded, ["owner shop/a", "owner shop/a"]);
  writes[Symbol.dispose]();
});

Deno.test("PendingWrites makes a later list for writes that were not answered after one has begun", async () => {
  using time = new FakeTime();
  const { cache, writes } = following();
  const lists = (): number => cache.waits.filter(({ name }) => name === "list").length;
  writes.unanswered("a", Secret); // of a kind without a cache
  assertEquals([writes.hasSeen("a"), writes.size], [true, 0]);
  for (const key of ["a", "b"]) writes.unanswered(key, ConfigMap);
  await time.tickAsync(0);
  assertEquals([lists(), writes.hasSeen("a")], [1, false]);
  for (const key of ["b", "c"]) writes.unanswered(key, ConfigMap);
  await time.tickAsync(5_000);
  assertEquals(lists(), 1);
  await cache.show(() => {}, ["list"]);
  assertEquals(["a", "b", "c"].map((key) => writes.hasSeen(key)), [true, false, false]);
  await time.tickAsync(999);
  assertEquals(lists(), 1);
  await time.tickAsync(1);
  assertEquals(lists(), 2);
  await cache.show(() => {}, ["list"]);
  assertEquals(writes.size, 0); // whether the keys come up again or not
  writes.unanswered("a", ConfigMap);
  writes[Symbol.dispose]();
  await time.tickAsync(1_000);
  assertEquals([lists(), time.timers], [2, 0]);
});

Deno.test("PendingWrites follows nothing after its end", async () => {
  const { cache, writes, superseded, write } = following();
  write("11");
  writes[Symbol.dispose]();
  await cache.show(() => cache.lastSyncResourceVersion = "12");
  assertEquals(superseded, []);
});

Deno.test("PendingWrites waits for a write by which a cached object leaves the selection of the cache", () => {
  const { cache, writes, write } = following(new ScriptedCache([{ labelSelector: "app=web" }]));
  write("11", { object: { metadata: { ...ANY, labels: { app: "db" } } } });
  assertEquals(writes.hasSeen("owner"), true);
  cache.objects.set("shop/a", { uid: "u", resourceVersion: "9" });
  write("11", { object: { metadata: { ...ANY, labels: { app: "db" } } } });
  assertEquals(writes.hasSeen("owner"), false);
  writes[Symbol.dispose]();
});

Deno.test("PendingWrites waits for the deletion of an object whose creation its cache shows meanwhile", () => {
  const { cache, writes, write } = following(new ScriptedCache([{ labelSelector: "app=web" }]));
  write("11", { object: { metadata: { ...ANY, labels: { app: "web" } } } });
  write("");
  cache.objects.set("shop/a", { uid: "u", resourceVersion: "11" });
  cache.lastSyncResourceVersion = "11";
  assertEquals(writes.hasSeen("owner"), false);
  cache.objects.clear();
  assertEquals(writes.hasSeen("owner"), true);
  writes[Symbol.dispose]();
});

Deno.test("PendingWrites waits for the very state that was written where versions have no order", async () => {
  const { cache, writes, write } = following();
  cache.objects.set("shop/a", { uid: "u", resourceVersion: "x1" });
  write("x2");
  assertEquals([writes.hasSeen("owner"), cache.waits.map(({ name }) => name)], [false, ["until"]]);
  await cache.show(() => cache.objects.set("shop/a", { uid: "u", resourceVersion: "x2" }));
  assertEquals([writes.hasSeen("owner"), writes.size], [true, 0]);
  write("x3");
  cache.objects.set("shop/a", { uid: "u", resourceVersion: "x3" });
  assertEquals(writes.hasSeen("owner"), true);
  writes[Symbol.dispose]();
});

Deno.test("PendingWrites concerns the caches that have the object or select it: by namespace, labels and fields", async () => {
  const object = { kind: "ConfigMap", metadata: { ...ANY, labels: { app: "web" } }, spec: { node: "n1", on: true } };
  const rows: readonly [Selection, boolean][] = [
    [{}, true],
    [{ namespace: "shop" }, true],
    [{ namespace: "other" }, false],
    [{ labelSelector: "app=db" }, false],
    [{ fieldSelector: "metadata.name=a" }, true],
    [{ fieldSelector: "metadata.name=b" }, false],
    [{ fieldSelector: "spec.node=n1,spec.on!=false" }, true],
    [{ fieldSelector: "spec.node=" }, false],
    [{ fieldSelector: "spec.phase=" }, true], // a missing field is an empty string, false or 0 to a server
    [{ fieldSelector: "spec.phase!=" }, false],
    [{ fieldSelector: "spec.off=false,status.done=0" }, true],
    [{ fieldSelector: "spec.phase=Running" }, false],
    [{ namespace: "shop", labelSelector: "app=web", fieldSelector: "spec.node!=n1" }, false],
  ];
  for (const [selection, isConcerned] of rows) {
    const { cache, writes, superseded, write } = following(new ScriptedCache([selection]));
    write("11", { object });
    assertEquals([selection, !writes.hasSeen("owner")], [selection, isConcerned]);
    await cache.show(() => cache.lastSyncResourceVersion = "11");
    write("11", { object }); // again, as an apply that changes nothing, of which that cache may be past the version
    assertEquals([selection, superseded.length > 0], [selection, isConcerned]);
    // One that has the object sees it leave.
    cache.objects.set("shop/a", { uid: "u", resourceVersion: "9" });
    write("12", { object });
    assertEquals([selection, writes.hasSeen("owner")], [selection, false]);
    await cache.show(() => cache.objects.delete("shop/a"));
    writes[Symbol.dispose]();
  }
  const { writes, write } = following(new ScriptedCache([{ fieldSelector: "spec.replicas=" }]));
  write("11", { object: { kind: "Scale", metadata: ANY } }); // of a subresource: its fields are not those of the object
  assertEquals(writes.size, 0);
});

Deno.test("PendingWrites waits for the caches alone that a write concerned when it was made", async () => {
  const [a, b] = ["part=a", "part=b"].map((labelSelector) => new ScriptedCache([{ labelSelector }]));
  const { writes, superseded, write } = following(a);
  writes.addCache(ConfigMap, b as unknown as Cache);
  write("11", { object: { metadata: { ...ANY, labels: { part: "a" } } } });
  assertEquals(writes.hasSeen("owner"), false);
  assertEquals([a.waits.length, b.waits.length], [1, 0]);
  b.objects.set("shop/a", { uid: "u", resourceVersion: "1" }); // later, and of no concern
  await a.show(() => a.objects.set("shop/a", { uid: "u", resourceVersion: "11" }));
  assertEquals([writes.hasSeen("owner"), superseded], [true, []]);
  // To the other part: the one cache loses it, the other one receives it.
  b.objects.clear();
  write("12", { object: { metadata: { ...ANY, labels: { part: "b" } } } });
  await a.show(() => {
    a.objects.clear();
    a.lastSyncResourceVersion = "12";
  });
  assertEquals(writes.hasSeen("owner"), false);
  await b.show(() => b.objects.set("shop/a", { uid: "u", resourceVersion: "12" }));
  assertEquals([writes.hasSeen("owner"), superseded], [true, []]);
  writes[Symbol.dispose]();
});

Deno.test("PendingWrites follows writes beside each other, and none that was written over or dropped", async () => {
  const { cache, writes, superseded, write } = following();
  cache.objects.set("shop/gone", { uid: "g", resourceVersion: "9" });
  write("", { key: "shop/gone", uid: "g" }); // its cache shows it for long
  write("11");
  write("12");
  assertEquals(cache.waits.map(({ name }) => name), ["gone shop/gone", "11", "12"]);
  await cache.show(() => cache.lastSyncResourceVersion = "12", ["11", "12"]); // somebody has undone it before
  assertEquals(superseded, ["owner shop/a"]);
  write("13");
  assertEquals(writes.drop("owner"), `configmaps "shop/gone" deleted, configmaps "shop/a" at version 13`);
  await cache.show(() => cache.lastSyncResourceVersion = "13");
  assertEquals([superseded.length, writes.size], [1, 0]);
  writes[Symbol.dispose]();
});

Deno.test("PendingWrites has seen the deletion of a collection when the object has a later version, or is gone", async () => {
  for (const end of ["kept", "gone"]) {
    const { cache, writes, superseded, write } = following();
    cache.objects.set("shop/a", { uid: "u", resourceVersion: "9" });
    write("", { after: "9" });
    assertEquals(writes.hasSeen("owner"), false);
    await cache.show(() => {
      if (end === "kept") cache.objects.set("shop/a", { uid: "u", resourceVersion: "12" });
      else cache.objects.clear();
    });
    assertEquals([writes.hasSeen("owner"), superseded], [true, []]);
  }
});

Deno.test("an answer is read until the cache has its version, a later one, or is past it", () => {
  const { cache, writes, write } = following();
  const rows: readonly [string, () => void, string][] = [
    ["an older state", () => cache.objects.set("shop/a", { uid: "u", resourceVersion: "9" }), "11"],
    ["no object, at an older version", () => cache.objects.clear(), "11"],
    ["an older object of the name", () => cache.objects.set("shop/a", { uid: "before", resourceVersion: "9" }), "11"],
    ["the state", () => cache.objects.set("shop/a", { uid: "u", resourceVersion: "11" }), "cached"],
    ["a later state", () => cache.objects.set("shop/a", { uid: "u", resourceVersion: "12" }), "cached"],
    ["a later object", () => cache.objects.set("shop/a", { uid: "after", resourceVersion: "12" }), "cached"],
    ["a version without order", () => cache.objects.set("shop/a", { uid: "u", resourceVersion: "x" }), "cached"],
    ["a deletion since", () => cache.lastSyncResourceVersion = "12", "cached"],
  ];
  for (const [name, change, expected] of rows) {
    cache.lastSyncResourceVersion = "10";
    cache.objects.clear();
    write("11", answer("11"));
    change();
    assertEquals([name, read(cache)], [name, expected]);
    writes.drop("owner");
    assertEquals(cache.overlaid.size, 0);
  }
  cache.objects.clear();
  write("x1", answer("x1")); // cannot be compared
  assertEquals(read(cache), "cached");
  writes[Symbol.dispose]();
});

Deno.test("of two answers the later is read, whatever their order, and nothing follows a deletion", () => {
  const owned = (key: string, version: string, uid = "u"): [string, string, Partial<ObjectWrite>] => [
    key,
    version,
    version === "" ? { uid } : answer(version, uid),
  ];
  const rows: readonly [string, readonly [string, string, Partial<ObjectWrite>][], string][] = [
    ["later by another", [owned("a", "11"), owned("b", "12")], "12"],
    ["earlier by another", [owned("a", "12"), owned("b", "11")], "12"],
    ["a deletion", [owned("a", "11"), owned("a", "")], "gone"],
    ["an answer behind the deletion", [owned("a", ""), owned("b", "11")], "gone"],
    ["a successor", [owned("a", ""), owned("b", "12", "v")], "12"],
    ["the deletion of the one before", [owned("a", "12", "v"), owned("b", "", "u")], "12"],
    ["the deletion of an unknown uid", [owned("a", "11"), owned("b", "", "")], "gone"],
  ];
  for (const [name, answers, expected] of rows) {
    const { cache, writes } = following();
    cache.objects.set("shop/a", { uid: "u", resourceVersion: "9" });
    for (const [key, resourceVersion, options] of answers) {
      const write = { resource: ConfigMap, key: "shop/a", namespace: "shop", uid: "u", resourceVersion };
      writes.record(key, { ...write, ...options });
    }
    assertEquals([name, read(cache)], [name, expected]);
    writes.drop("a");
    writes.drop("b");
    assertEquals([name, read(cache), cache.overlaid.size], [name, "cached", 0]);
    writes[Symbol.dispose]();
  }
});

Deno.test("an answer is read no longer when its write was seen, its wait has failed, or its time is over", async () => {
  using time = new FakeTime();
  const { cache, writes, write } = following();
  write("11", answer("11"));
  await cache.show(() => cache.objects.set("shop/a", { uid: "u", resourceVersion: "11" }));
  assertEquals(cache.overlaid.size, 0);
  write("11", answer("11")); // its event came before its answer
  assertEquals(cache.overlaid.size, 0);
  write("12", answer("12"));
  await cache.show(() => {}); // as after a list of an older state
  assertEquals(cache.overlaid.size, 0);
  write("13", answer("13"));
  assertEquals(read(cache), "13");
  // An answer that is another object leaves the one before it.
  write("14", { object: { apiVersion: "v1", kind: "Scale", metadata: ANY } });
  assertEquals(read(cache), "13");
  await time.tickAsync(30_000);
  assertEquals(read(cache), "cached");
  write("15", answer("15"));
  write("1", { ...answer("1"), key: "shop/b" });
  await time.tickAsync(30_000);
  write("16", { ...answer("16"), key: "shop/c" });
  assertEquals(cache.overlaid.size, 1); // those whose time is over are gone
  writes[Symbol.dispose]();
});

Deno.test("a cache that was removed has no answers any longer, and the others keep theirs", async () => {
  const { cache, writes, write } = following();
  const other = new ScriptedCache();
  writes.addCache(ConfigMap, other as unknown as Cache);
  write("11", answer("11"));
  assertEquals([read(cache), read(other)], ["11", "11"]);
  writes.removeCache(ConfigMap, cache as unknown as Cache);
  assertThrows(() => writes.listerOf(cache as unknown as Cache));
  assertEquals(read(other), "11");
  await other.show(() => other.objects.set("shop/a", { uid: "u", resourceVersion: "11" }));
  assertEquals([other.overlaid.size, writes.size], [0, 0]);
  writes[Symbol.dispose]();
});

Deno.test("an object of another kind or version is not read in place of the cached one, nor one that is renamed", () => {
  const metadata = { ...ANY, resourceVersion: "11", managedFields: [] };
  const kept = new CacheScope(ConfigMap, [{}], { managedFields: "keep" });
  const rows = new CacheScope(asTable(ConfigMap), [{}]);
  const names = new CacheScope(onlyMetadata(ConfigMap), [{}]);
  const map = { apiVersion: "v1", kind: "ConfigMap", metadata };
  assertEquals([kept.forms(map), kept.formed(map)], [true, map]);
  const scale = { ...map, kind: "Scale" };
  assertEquals([kept.forms({ ...map, apiVersion: "v2" }), kept.forms(scale), names.forms(scale), rows.forms(map)], [
    false,
    false,
    false,
    false,
  ]);
  const partial = { apiVersion: "meta.k8s.io/v1", kind: "PartialObjectMetadata", metadata };
  assertEquals([kept.forms(partial), names.forms(partial), names.formed(partial).metadata.name], [false, true, "a"]);

  const transform = (object: KubernetesObject): KubernetesObject => ({
    ...object,
    metadata: { ...object.metadata, name: "b" },
  });
  const cache = new ObjectCache<KubernetesObject>(ConfigMap, {
    transform,
    freeze: false,
    compact: false,
    parse: "lazy",
  }, () => {});
  const overlay = new CacheOverlay<KubernetesObject>(cache, kept);
  overlay.cover("shop/a", { dueMs: Infinity, isOver: () => false }, map);
  assertEquals([overlay.getByKey("shop/a"), overlay.list(), overlay.size], [undefined, [], 0]);
});

const IN = { namespace: "default" };
const CONTAINERS = { containers: [{ name: "main", image: "web:1" }] };

/** Runs `act` in a reconcile of the config map "a", while no event of a watch arrives. */
async function reconciled(
  session: Session,
  setUp: (maps: Reconciler<ConfigMap>) => void,
  act: (context: ReconcileContext<ConfigMap>, maps: Reconciler<ConfigMap>) => Promise<void>,
): Promise<Reconciler<ConfigMap>> {
  session.create("a");
  let isFirst = true;
  const maps = session.reconciler(async (context) => {
    if (!isFirst) return;
    isFirst = false;
    using _stalled = session.server.stallWatches();
    await act(context, maps);
  });
  setUp(maps);
  await session.start(maps, 1_000);
  assertEquals([isFirst, session.errors], [false, []]);
  return maps;
}

Deno.test("a reconcile reads its own writes at once, and handlers and other readers do not", async () => {
  await using session = new Session();
  const { server } = session;
  for (const name of ["x", "y", "z"]) server.create(Pod, pod({ name, labels: { app: "a" } }));
  server.create(Pod, pod({ name: "kept", finalizers: ["example.com/kept"] }));
  const delivered: string[] = [];
  const indexers = { app: ({ metadata }: Pod) => [metadata.labels?.app ?? ""] };
  const maps = await reconciled(session, (maps) => {
    maps.watches(Pod, () => []);
    maps.informers.forResource(Pod, { indexers }).addEventHandler({
      onUpdate: ({ key }) => delivered.push(key),
      onDelete: ({ key }) => delivered.push(key),
    });
  }, async (context, maps) => {
    const pods = context.client.resource(Pod, IN);
    const cache = context.cache(Pod);
    await pods.create({ metadata: { name: "new", labels: { app: "b" } }, spec: CONTAINERS });
    await pods.patch("x", { type: "merge", body: { metadata: { labels: { app: "b" } } } });
    await pods.delete("y", { gracePeriodSeconds: 0 });
    await pods.delete("kept", { gracePeriodSeconds: 0 });
    await context.client.resource(ConfigMap, IN).patch("a", { type: "merge", body: { data: { n: "1" } } });

    const names = (objects: readonly Pod[]): string[] => objects.map(({ metadata }) => metadata.name).sort();
    assertEquals(cache.get("default/new")?.metadata.labels, { app: "b" });
    assertEquals([cache.get("default/y"), cache.namespace("default").get("y")], [undefined, undefined]);
    assert(cache.get("default/kept")?.metadata.deletionTimestamp !== undefined);
    assertEquals(names(cache.list()), ["kept", "new", "x", "z"]);
    assertEquals(names(cache.list("app=a")), ["z"]);
    assertEquals(names(cache.list({ fieldSelector: "metadata.name!=new" })), ["kept", "x", "z"]);
    assertEquals(names(cache.namespace("default").list("app=b")), ["new", "x"]);
    assertEquals(cache.namespace("other").list(), []);
    assertEquals([names(cache.byIndex("app", "a")), names(cache.byIndex("app", "b"))], [["z"], ["new", "x"]]);
    assertEquals(context.object?.data, { n: "1" });
    assertEquals([maps.lister.get("default/a")?.data, maps.cache(Pod) === cache], [{ n: "1" }, true]);
    // managedFields are left out, as of cached objects.
    assertEquals(cache.get("default/x")?.metadata.managedFields, undefined);

    const shared = maps.informers.forResource(Pod);
    assertEquals(names(shared.lister.list()), ["kept", "x", "y", "z"]);
    assertEquals([maps.informer.lister.get("default/a")?.data, delivered], [undefined, []]);
    assertEquals(shared.entries.size, 4);
  });
  assertEquals([...new Set(delivered)].sort(), ["default/kept", "default/x", "default/y"]);
  assertEquals(maps.cache(Pod).list().length, 4);
});

Deno.test("own writes are read as each cache has its objects: reduced, selected and transformed", async () => {
  await using session = new Session();
  const { server } = session;
  server.create(Pod, pod({ name: "x", labels: { app: "a" }, node: "n1" }));
  server.create(Secret, { metadata: { name: "s" }, data: { password: "c2VjcmV0" } });
  server.create(Namespace, { metadata: { name: "default", labels: { n: "0" } } });
  const Nodes = onlyFields(Pod, ["spec.nodeName"]);
  const transform = (namespace: Namespace): Namespace => {
    Object.assign(namespace.metadata, { labels: { ...namespace.metadata.labels, transformed: "yes" } });
    return namespace;
  };
  await reconciled(session, (maps) => {
    maps.watches(Pod, () => [], { informer: { labelSelector: "app=a" } });
    maps.watches(onlyMetadata(Pod), () => []).watches(Nodes, () => []).watches(Secret, () => []);
    maps.watches(Namespace, () => [], { informer: { transform, freeze: true } });
    maps.watches(Deployment, () => [], { informer: { namespaces: ["default", "other"] } });
  }, async ({ client, cache }, maps) => {
    const answer = await client.resource(Pod, IN).patch("x", {
      type: "merge",
      body: { metadata: { labels: { b: "1" } } },
    });
    assertEquals(answer.spec.nodeName, "n1");
    assertEquals(maps.cache(Pod).list().length, 1);
    const [metadata, node] = [maps.cache(onlyMetadata(Pod)).get("default/x"), maps.cache(Nodes).get("default/x")];
    assertEquals([metadata?.kind, metadata?.metadata.labels], ["PartialObjectMetadata", { app: "a", b: "1" }]);
    assertEquals([(metadata as Partial<Pod>).spec, metadata?.metadata.managedFields], [undefined, undefined]);
    assertEquals([node?.spec.nodeName, "labels" in node!.metadata, "containers" in node!.spec], ["n1", false, false]);
    assertThrows(() => maps.cache(Nodes).list("app=a"), TypeError, "does not keep this field");
    assertEquals(node?.metadata.resourceVersion, answer.metadata.resourceVersion);

    // It leaves the selection of one cache.
    await client.resource(Pod, IN).patch("x", { type: "merge", body: { metadata: { labels: { app: null } } } });
    assertEquals([maps.cache(Pod).get("default/x"), maps.cache(Nodes).list().length], [undefined, 1]);

    await client.resource(Secret, IN).patch("s", { type: "merge", body: { metadata: { labels: { b: "1" } } } });
    const secret = maps.cache(Secret).get("default/s")!;
    assertEquals(secret.metadata.labels, { b: "1" });
    assertThrows(() => secret.data, TypeError, "informers do not keep it");

    const written = await client.resource(Namespace).patch("default", {
      type: "merge",
      body: { metadata: { labels: { n: "1" } } },
    });
    const namespace = cache(Namespace).get("default")!;
    assertEquals([namespace.metadata.labels?.n, namespace.metadata.labels?.transformed], ["1", "yes"]);
    assertEquals([Object.isFrozen(namespace), Object.isFrozen(written)], [true, false]);
    assertEquals(written.metadata.labels?.transformed, undefined);

    const draft = {
      spec: { selector: { matchLabels: { a: "b" } }, template: { metadata: { labels: { a: "b" } }, spec: CONTAINERS } },
    };
    for (const namespace of ["default", "other", "third"]) {
      await client.resource(Deployment, { namespace }).create({ metadata: { name: "d" }, ...draft } as never);
    }
    assertEquals(cache(Deployment).list().map(({ metadata }) => metadata.namespace).sort(), ["default", "other"]);
    // The answer is another object.
    await client.resource(Deployment, IN).patch("d", { type: "merge", body: { spec: { replicas: 3 } } } as never, {
      subresource: "scale",
    });
    assertEquals(cache(Deployment).get("default/d")?.kind, "Deployment");
  });
});

Deno.test("a caller that changes the response to its write does not change what a reconciler reads", async () => {
  const change = (labels: object | undefined): object => Object.assign(labels!, { n: "changed" });
  for (const freeze of [false, true]) {
    await using session = new Session();
    await reconciled(session, (maps) => {
      maps.watches(Pod, () => [], { informer: { freeze } });
    }, async ({ client, cache }, maps) => {
      const pods = client.resource(Pod, IN);
      const read = (): string | undefined => cache(Pod).get("default/x")?.metadata.labels?.n;
      const draft = { metadata: { name: "x", labels: { n: "1" } }, spec: CONTAINERS };
      change((await pods.create(draft)).metadata.labels); // before the first read
      assertEquals(read(), "1");
      const object = copyOf(await pods.get("x"));
      object.metadata.labels = { n: "2" };
      const updated = await pods.update(object);
      assertEquals([read(), cache(Pod).get("default/x") === cache(Pod).list()[0]], ["2", true]);
      change(updated.metadata.labels); // after it
      assertEquals(read(), "2");

      const fields = { metadata: { name: "a" }, data: { n: "3" } };
      change((await client.resource(ConfigMap, IN).apply(fields, { fieldManager: "m" })).data);
      assertEquals(maps.lister.get("default/a")?.data, { n: "3" });
    });
  }
});

Deno.test("an own write brings back nothing that the cache has passed [C111]", async () => {
  await using session = new Session();
  const { server } = session;
  for (const name of ["changed", "deleted", "again", "own", "late"]) server.create(Pod, pod({ name }));
  session.create("a");
  const read = (name: string): unknown => maps.cache(Pod).get(`default/${name}`)?.metadata.labels?.by;
  const mine = (): string[] => maps.cache(Pod).byIndex("by", "me").map(({ metadata }) => metadata.name);
  const by = ({ metadata }: Pod): string[] => [metadata.labels?.by ?? ""];
  let isFirst = true;
  const maps = session.reconciler(async ({ client }) => {
    if (!isFirst) return;
    isFirst = false;
    const pods = client.resource(Pod, IN);
    const toMe = { type: "merge", body: { metadata: { labels: { by: "me" } } } } as const;
    const stalled = server.stallWatches(Pod);
    for (const name of ["changed", "deleted", "again", "own"]) await pods.patch(name, toMe);
    assertEquals(["changed", "deleted", "again", "own"].map(read), ["me", "me", "me", "me"]);
    assertEquals(mine().sort(), ["again", "changed", "deleted", "own"]);
    server.patch(Pod, "default/changed", { metadata: { labels: { by: "other" } } });
    server.delete(Pod, "default/deleted");
    server.delete(Pod, "default/again");
    server.create(Pod, pod({ name: "again", labels: { by: "successor" }, uid: "second" }));
    // Another object of the same name, by the same reconcile.
    await pods.delete("own", { gracePeriodSeconds: 0 });
    assertEquals(read("own"), undefined);
    await pods.create({ metadata: { name: "own", labels: { by: "recreated" } }, spec: CONTAINERS });
    assertEquals(read("own"), "recreated");
    stalled[Symbol.dispose]();
    // The cache sees a deletion by another before the write that it follows is answered.
    server.afterNext(
      async () => {
        server.delete(Pod, "default/late");
        await maps.informers.forResource(Pod).untilDeleted("default/late");
      },
      1,
      ({ verb }) => verb === "patch",
    );
    await pods.patch("late", toMe);
    assertEquals(read("late"), undefined);
    assertEquals(["changed", "deleted", "again"].map(read), ["other", undefined, "successor"]);
  }).watches(Pod, () => [], { informer: { indexers: { by } } });
  await session.start(maps, 1_000);
  assertEquals(["changed", "deleted", "again", "own"].map(read), ["other", undefined, "successor", "recreated"]);
  assertEquals([read("late"), mine()], [undefined, []]);
  assertEquals(session.errors, []);
});

Deno.test("a cache of a reconciler is found by its kind, or by its informer where there are several", async () => {
  await using session = new Session();
  const maps = session.reconciler(() => {});
  maps.watches(Pod, () => []).watches(Pod, () => []).watches(Secret, () => [], { informer: { labelSelector: "a=b" } });
  maps.watches(Secret, () => [], { informer: { labelSelector: "a=c" } });
  assertEquals(maps.cache(Pod), maps.cache(maps.informers.forResource(Pod)));
  assertEquals<unknown>(maps.cache(ConfigMap), maps.lister);
  assertThrows(
    () => maps.cache(onlyMetadata(Pod)),
    Error,
    'Cannot read "pods" in the reconciler of "configmaps": it does',
  );
  assertThrows(() => maps.cache(Secret), Error, "follows this kind with several informers");
  const [b, c] = ["a=b", "a=c"].map((labelSelector) => maps.informers.forResource(Secret, { labelSelector }));
  assert(maps.cache(b as never) !== maps.cache(c as never));
  await using other = new SharedInformerFactory(session.client);
  assertThrows(() => maps.cache(other.forResource(Pod)), Error, "Cannot read the cache of an informer");
  await session.start(maps);
});

Deno.test("applyIfChanged of a reconcile is reported once for each kind of which no cache has managedFields", async () => {
  const apply = async ({ client }: Pick<ReconcileContext<ConfigMap>, "client">): Promise<void> => {
    const options = { fieldManager: "me", force: true };
    for (const n of ["1", "2"]) {
      const settings = { metadata: { name: "x" }, data: { n } };
      await client.resource(ConfigMap, IN).applyIfChanged(settings, options);
      await client.resource(Secret, IN).applyIfChanged({ metadata: { name: "x" }, stringData: { n } }, options);
    }
  };
  for (const managedFields of [undefined, { manager: "me" }, "keep"] as const) {
    await using session = new Session();
    session.create("a");
    session.server.create(ConfigMap, { metadata: { name: "x" } });
    const maps = session.reconciler((context) => context.key === "default/a" ? apply(context) : undefined, {
      informer: managedFields && { managedFields },
    });
    await session.start(maps, 1_000);
    session.server.annotate(ConfigMap, "default/a", { by: "somebody" });
    await session.pass(1_000);
    const kinds = managedFields === undefined ? ["configmaps", "secrets"] : ["secrets"];
    assertEquals(session.errors.map((it) => it.slice(0, it.indexOf(":", 10))), [
      ...kinds.map((kind) => `default/a: Cannot compare "${kind}" in "configmaps" before applyIfChanged() sends it`),
    ]);
  }
});

Deno.test("applyIfChanged of a reconcile compares with what the reconcile has written", async () => {
  await using session = new Session();
  const reasons: (string | undefined)[] = [];
  await reconciled(
    session,
    (maps) => void maps.watches(Deployment, () => [], { informer: { managedFields: { manager: "me" } } }),
    async ({ client }) => {
      const deployments = client.resource(Deployment, IN);
      const apply = async (replicas: number): Promise<void> => {
        const labels = { app: "web" };
        const template = { metadata: { labels }, spec: CONTAINERS };
        const { reason } = await deployments.applyIfChanged({
          metadata: { name: "web" },
          spec: { replicas, selector: { matchLabels: labels }, template },
        }, { fieldManager: "me", force: true });
        reasons.push(reason);
      };
      for (const replicas of [1, 1, 2, 2, 1]) await apply(replicas);
      // An answer that no cache may show is not compared with.
      await deployments.patch("web", { type: "merge", body: { spec: { replicas: 3 } } }, { subresource: "scale" });
      await apply(1);
      await deployments.delete("web");
      await apply(1);
    },
  );
  const differs = "spec.replicas differs";
  const none = "the object is not cached";
  assertEquals(reasons, [none, undefined, differs, undefined, differs, none, none]);
});
