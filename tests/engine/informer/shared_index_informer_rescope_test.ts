import { assert, assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { isForbidden } from "../../../src/engine/api/status.ts";
import type { StoredSnapshot } from "../../../src/engine/api/stores.ts";
import { internals } from "../../../src/engine/errors/internals.ts";
import { Checkpoint, MemoryCheckpoints } from "../../../src/engine/informer/events/checkpoint.ts";
import { SharedIndexInformer } from "../../../src/engine/informer/shared_index_informer.ts";
import { SnapshotError } from "../../../src/engine/informer/snapshot.ts";
import { WaitError } from "../../../src/engine/informer/status.ts";
import { ConfigMap } from "../../../src/engine/kinds/core/v1.ts";
import type { FakeApiServerOptions } from "../../../src/testing/mod.ts";
import { FactoryFixture } from "./_factory_fixture.ts";

/** Config maps `a/web`, `a/db`, … `c/db`, labelled by their names. */
class Fixture extends FactoryFixture {
  #asked = 0;

  constructor(options: ConstructorParameters<typeof FactoryFixture>[0] = {}, server: FakeApiServerOptions = {}) {
    super({ reflector: { reconnectMs: 0, backoff: { jitter: 0 } }, ...options }, { bookmarkMs: 60_000, ...server });
    for (const namespace of ["a", "b", "c"]) for (const name of ["web", "db"]) this.create(namespace, name);
  }

  create(namespace: string, name: string): void {
    this.server.create(ConfigMap, { metadata: { namespace, name, labels: { app: name } } });
  }

  /** An informer, and what its handler receives. */
  informer(
    options: Parameters<Fixture["informers"]["forResource"]>[1] = {},
  ): [SharedIndexInformer<ConfigMap>, string[]] {
    const maps = this.informers.forResource(ConfigMap, options as object);
    return [maps, eventsOf(maps)];
  }

  /** The lists and watches since the last call: `"list a"`, `"watch  app=web"`; sorted. */
  get requested(): string[] {
    const { requests } = this.server;
    return requests.slice(this.#asked, this.#asked = requests.length).map(({ query, namespace }) => {
      const isList = query.has("sendInitialEvents") || !query.has("watch");
      const selector = query.get("labelSelector") ?? query.get("fieldSelector");
      return `${isList ? "list" : "watch"} ${namespace || "all"}${selector === null ? "" : ` ${selector}`}`;
    }).sort();
  }
}

function eventsOf(maps: SharedIndexInformer<ConfigMap>): string[] {
  const seen: string[] = [];
  maps.addEventHandler({
    onAdd: ({ key, initial }) => void seen.push(`${initial ? "=" : "+"}${key}`),
    onUpdate: ({ key }) => void seen.push(`~${key}`),
    onDelete: ({ key, reason, finalStateUnknown }) =>
      void seen.push(`-${key} ${reason ?? "deleted"}${finalStateUnknown ? " unknown" : ""}`),
    onSynced: () => void seen.push("synced"),
  });
  return seen;
}

/** The keys of a cache, sorted. */
function keys(maps: SharedIndexInformer<ConfigMap>): string {
  return [...maps.indexer.keys()].sort().join(" ");
}

Deno.test("rescope() to more namespaces lists only those, and exchanges them in one step", async () => {
  await using fixture = new Fixture();
  const [maps, seen] = fixture.informer({ namespaces: ["a", "b"] });
  await fixture.start();
  seen.length = 0;
  void fixture.requested;
  const rescoped = maps.rescope({ namespaces: ["b", "c"] });
  assertEquals(keys(maps), "a/db a/web b/db b/web");
  await fixture.tick();
  await rescoped;
  assertEquals(fixture.requested, ["list c"]);
  assertEquals(seen.splice(0).sort(), ["+c/db", "+c/web", "-a/db scope", "-a/web scope"]);
  assertEquals(maps.selections.map(({ namespace }) => namespace), ["b", "c"]);
  assertEquals(maps.status().namespaces?.map(({ namespace, state, objects }) => [namespace, state, objects]), [
    ["b", "live", 2],
    ["c", "live", 2],
  ]);
  for (const namespace of ["a", "b", "c"]) fixture.create(namespace, "late");
  await fixture.tick();
  assertEquals(seen.splice(0), ["+b/late", "+c/late"]);
  await maps.waitForCacheSync({ namespace: "c" });
  await assertRejects(() => maps.waitForCacheSync({ namespace: "a" }), RangeError, 'follows "b", "c"');
  await maps.rescope({ namespaces: ["c"] });
  assertEquals([keys(maps), fixture.requested, fixture.server.watches], ["c/db c/late c/web", [], 1]);
  assertEquals(fixture.errors, []);
});

Deno.test("rescope() from all namespaces to some resumes their watches without a list, and lists once back to all", async () => {
  await using fixture = new Fixture();
  const [maps, seen] = fixture.informer();
  await fixture.start();
  seen.length = 0;
  void fixture.requested;
  const version = maps.lastSyncResourceVersion;
  const rescoped = maps.rescope({ namespaces: ["a", "c"] });
  assertEquals([keys(maps), maps.lastSyncResourceVersion], ["a/db a/web c/db c/web", version], "in the same turn");
  assertEquals(maps.status().state, "stale");
  await rescoped;
  fixture.server.delete(ConfigMap, "a/db");
  await fixture.tick();
  assertEquals(fixture.requested, ["watch a", "watch c"]);
  assertEquals([seen.splice(0).sort(), maps.status().state], [
    ["-a/db deleted", "-b/db scope", "-b/web scope"],
    "live",
  ]);
  fixture.server.annotate(ConfigMap, "b/web", { n: "1" });
  const back = maps.rescope({ namespaces: null });
  await fixture.tick();
  await back;
  assertEquals([fixture.requested, fixture.server.watches], [["list all"], 1]);
  assertEquals([seen.splice(0).sort(), maps.status().namespaces], [["+b/db", "+b/web"], undefined]);
  maps.pause();
  const one = maps.rescope({ namespaces: ["b"] });
  await fixture.tick();
  assertEquals([fixture.requested, keys(maps), maps.status().state], [[], "b/db b/web", "paused"]);
  maps.resume();
  await fixture.tick();
  const several = maps.rescope({ namespaces: ["b", "c"] });
  await Promise.all([one, fixture.tick()]);
  await several;
  assertEquals(fixture.requested, ["list c", "watch b", "watch b"]);
  assertEquals(keys(maps), "b/db b/web c/db c/web");
  assertEquals(seen.splice(0).sort(), ["+c/db", "+c/web", "-a/web scope", "-c/db scope", "-c/web scope"]);
});

Deno.test("rescope() to another selector shows the old scope until the new list is there", async () => {
  await using fixture = new Fixture({ namespace: "a" });
  const [maps, seen] = fixture.informer({ labelSelector: "app=web" });
  await fixture.start();
  seen.length = 0;
  void fixture.requested;
  const late = Promise.withResolvers<void>();
  fixture.respond = async (request) => {
    if (request.url.includes("app+in") || request.url.includes("app%20in")) await late.promise;
    return await fixture.server.fetch(request);
  };
  const rescoped = maps.rescope({ labelSelector: "app in (db,web)" });
  await fixture.tick(100);
  fixture.server.annotate(ConfigMap, "a/web", { n: "1" });
  await fixture.tick();
  assertEquals([keys(maps), seen.splice(0)], ["a/web", ["~a/web"]]);
  assertEquals(maps.status().rescope?.map(({ namespace, state }) => [namespace, state]), [["a", "listing"]]);
  late.resolve();
  await fixture.tick();
  await rescoped;
  assertEquals([keys(maps), seen.splice(0)], ["a/db a/web", ["+a/db"]]);
  assertEquals([maps.status().rescope, maps.selections], [undefined, [
    { namespace: "a", labelSelector: "app in (db,web)", fieldSelector: undefined },
  ]]);
  const others = maps.rescope({ labelSelector: null, fieldSelector: "metadata.name=db" });
  await fixture.tick();
  await others;
  assertEquals([keys(maps), seen.splice(0)], ["a/db", ["-a/web scope unknown"]]);
  fixture.server.loseNext();
  fixture.server.delete(ConfigMap, "a/db");
  fixture.server.forceRelist();
  await fixture.tick(30_000);
  assertEquals(seen.splice(0), ["-a/db deleted unknown"]);
  fixture.create("a", "db");
  await fixture.tick();
  seen.length = 0;
  const all = maps.rescope({ fieldSelector: null });
  await fixture.tick();
  await all;
  assertEquals([keys(maps), seen.splice(0), maps.status().state], ["a/db a/web", ["+a/web"], "live"]);
});

Deno.test("rescope() does not go back: a list that is older than the cache waits for its watch, or is repeated", async () => {
  for (const isQuiet of [false, true]) {
    await using fixture = new Fixture({ namespace: "a", reflector: { streamingList: "off" } });
    const [maps, seen] = fixture.informer({ labelSelector: "app=web" });
    await fixture.start();
    seen.length = 0;
    const labelSelector = isQuiet ? "app=db" : "app!=none";
    fixture.respond = async (request) => {
      const response = await fixture.server.fetch(request);
      const { searchParams } = new URL(request.url);
      if (!searchParams.has("watch") && searchParams.get("labelSelector") === labelSelector) {
        fixture.respond = (request) => fixture.server.fetch(request);
        fixture.server.delete(ConfigMap, "a/web"); // the list has it, and its watch sends it unless that is quiet
        await fixture.tick();
      }
      return response;
    };
    const rescoped = maps.rescope({ labelSelector });
    rescoped.catch(() => {}); // awaited below
    await fixture.tick(1_000);
    assertEquals([seen[0], keys(maps)], ["-a/web deleted", isQuiet ? "" : "a/db"]);
    await fixture.tick(2_000); // earlier than a bookmark
    await rescoped;
    assertEquals([keys(maps), seen], ["a/db", ["-a/web deleted", "+a/db"]]);
  }
});

Deno.test("rescope() that is refused keeps the old scope, says so, and goes on when it is allowed", async () => {
  const refused = new Set(["b"]);
  await using fixture = new Fixture({ namespaces: ["a", "c"], maxBytes: 1e9 }, {
    authorize: ({ namespace }) => !refused.has(namespace),
  });
  const [maps, seen] = fixture.informer();
  await fixture.start();
  seen.length = 0;
  const stop = new AbortController();
  const { countedBytes } = fixture.informers;
  const labelled = new AbortController();
  const change = { namespaces: ["a", "b"], labelSelector: "app" };
  const both = assertRejects(() => maps.rescope(change, labelled), WaitError, "the new scope of");
  await fixture.tick();
  labelled.abort();
  await both;
  assertEquals(fixture.informers.countedBytes, countedBytes, "what was staged is dropped");
  const rescoped = assertRejects(() => maps.rescope({ namespaces: ["a", "b"] }, stop), WaitError, "the new scope of");
  await fixture.tick(10_000);
  const { state, rescope: [listing] = [] } = maps.status();
  assertEquals([state, listing.namespace, listing.state, isForbidden(listing.cause)], ["live", "b", "forbidden", true]);
  fixture.create("c", "late");
  await fixture.tick();
  assertEquals(seen.splice(0), ["+c/late"]);
  stop.abort(new Error("enough"));
  await rescoped;
  refused.clear();
  await fixture.tick(60_000);
  assertEquals([maps.selections.map(({ namespace }) => namespace), maps.status().rescope], [["a", "c"], undefined]);
  assertEquals([fixture.server.watches, seen.splice(0)], [2, []], "it is undone");
  refused.add("b");
  const again = maps.rescope({ namespaces: ["a", "b"] });
  await fixture.tick(10_000);
  refused.clear();
  await fixture.tick(30_000);
  await again;
  assertEquals(seen.splice(0).sort(), ["+b/db", "+b/web", "-c/db scope", "-c/late scope", "-c/web scope"]);
});

Deno.test("rescope() is replaced by a later call, ended by a stop, and waits while the informer is paused", async () => {
  await using fixture = new Fixture({ namespace: "a" });
  const [maps, seen] = fixture.informer();
  await fixture.start();
  seen.length = 0;
  maps.pause();
  const first = assertRejects(() => maps.rescope({ namespaces: ["a", "b"] }), Error, "a later call of rescope()");
  const second = maps.rescope({ labelSelector: "app=web" });
  void fixture.requested;
  await fixture.tick(60_000);
  assertEquals([fixture.requested, maps.status().rescope?.length], [[], 1]);
  maps.resume();
  await Promise.all([first, fixture.tick()]);
  await second;
  assertEquals([keys(maps), seen], ["a/web", ["-a/db scope unknown"]]);
  const third = maps.rescope({ namespaces: ["b"] });
  await fixture.tick();
  await third;
  fixture.server.failNext(500, 100);
  const stopped = assertRejects(() => maps.rescope({ namespaces: ["c"] }), WaitError, "it has stopped");
  await fixture.tick();
  const disposed = maps[Symbol.asyncDispose]();
  await Promise.all([stopped, disposed, fixture.tick()]);
  await assertRejects(() => maps.rescope({ namespaces: ["b"] }), Error, "it has stopped already");
});

Deno.test("rescope() before run() changes the selection at once", async () => {
  await using fixture = new Fixture({ namespaces: ["a", "b"] });
  const [maps, seen] = fixture.informer();
  const synced = maps.waitForCacheSync();
  await maps.rescope({ namespaces: ["b", "c"], labelSelector: "app=web" });
  fixture.informers.start();
  await Promise.all([synced, fixture.tick()]);
  assertEquals([seen.splice(0), fixture.requested], [["=b/web", "=c/web", "synced"], [
    "list b app=web",
    "list c app=web",
  ]]);
});

Deno.test("rescope() before the first sync delivers initial objects, of the new scope only", async () => {
  await using other = new Fixture({ reflector: { streamingList: "off" } });
  const [unsynced, events] = other.informer();
  other.server.failNext(500, 1);
  await other.start();
  const rescoped = unsynced.rescope({ namespaces: ["c"], labelSelector: "app=db" });
  await Promise.all([unsynced.waitForCacheSync(), other.tick()]);
  await rescoped;
  assertEquals([keys(unsynced), events], ["c/db", ["=c/db", "synced"]]);
});

Deno.test("rescope() takes nothing from a watch or list that it ends, at whatever moment", async () => {
  await using fixture = new Fixture();
  const [maps, seen] = fixture.informer();
  await fixture.start();
  for (let turns = 0; turns < 80; turns++) {
    const back = maps.rescope({ namespaces: null });
    await fixture.tick();
    await back;
    seen.length = 0;
    fixture.create("b", `n${turns}`);
    for (let i = 0; i < turns; i++) await Promise.resolve();
    const isKnown = maps.indexer.getByKey(`b/n${turns}`) !== undefined;
    await maps.rescope({ namespaces: ["a"] });
    await fixture.tick();
    const expected = isKnown ? [`+b/n${turns}`, `-b/n${turns} scope`] : [];
    assertEquals(
      [keys(maps), seen.filter((it) => it.includes(`n${turns}`))],
      ["a/db a/web", expected],
      `${turns} turns`,
    );
  }
});

Deno.test("rescope() that is replaced changes nothing, at whatever moment", async () => {
  await using fixture = new Fixture({ namespace: "a" });
  const [maps] = fixture.informer({ labelSelector: "app=db" });
  await fixture.start();
  for (let turns = 0; turns < 150; turns++) {
    const seen: string[] = [];
    const first = maps.rescope({ labelSelector: "app=web" }).then(() => seen.push("web"), () => {});
    for (let i = 0; i < turns; i++) await Promise.resolve();
    const isDone = maps.selections[0].labelSelector === "app=web";
    const second = maps.rescope({ labelSelector: "app=db" });
    await Promise.all([first, fixture.tick()]);
    await second;
    assertEquals([keys(maps), seen, maps.selections[0].labelSelector], ["a/db", isDone ? ["web"] : [], "app=db"]);
  }
});

Deno.test("rescope() before the first sync takes nothing from the list that it ends, at whatever moment", async () => {
  for (let turns = 0; turns < 120; turns++) {
    await using fixture = new Fixture({ reflector: { streamingList: turns % 2 === 0 ? "auto" : "off" } });
    const [maps, seen] = fixture.informer();
    const [old, next] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    fixture.respond = async (request) => {
      const response = await fixture.server.fetch(request);
      await (request.url.includes("labelSelector") ? next : old).promise;
      return response;
    };
    await fixture.start();
    const rescoped = maps.rescope({ namespaces: ["c"], labelSelector: "app=db" });
    await fixture.tick();
    const releases = turns % 4 < 2 ? [next, old] : [old, next];
    releases[0].resolve();
    for (let i = 0; i < turns; i++) await Promise.resolve();
    releases[1].resolve();
    await fixture.tick();
    await rescoped;
    const left = new Set(seen.filter((it) => it.startsWith("-")).map((it) => it.split(" ")[0].slice(1)));
    const come = seen.filter((it) => /^[+=]/.test(it) && !left.has(it.slice(1)));
    assertEquals([keys(maps), come], ["c/db", seen.filter((it) => it.includes("c/db"))], `${turns} turns`);
  }
});

Deno.test("rescope() refuses by name what cannot change", async () => {
  await using fixture = new Fixture({ namespace: "a" });
  const refused = async (options: object, message: string): Promise<void> => {
    const maps = fixture.informers.forResource(ConfigMap, options);
    await assertRejects(() => maps.rescope({ labelSelector: "a=b" }), TypeError, message);
  };
  await refused({ shard: "0/2" }, '"shard"');
  await refused({ namespaces: "readable" }, "namespaces that are not named");
  await refused({ pollMs: 1_000, labelSelector: "x=y" }, '"pollMs"');
  await refused({ optional: true, labelSelector: "x=z" }, '"optional"');
  const { listEntries, watchChanges } = fixture.client.resource(ConfigMap);
  await using custom = new SharedIndexInformer<ConfigMap>({ listEntries, watchChanges });
  await assertRejects(() => custom.rescope({}), TypeError, "Create it from client.resource()");

  const [maps] = fixture.informer();
  const rescope = (change: object, options?: object): Promise<void> => maps.rescope(change, options);
  await assertRejects(() => rescope({ namespace: "a" }), TypeError, '"namespace"');
  await assertRejects(() => rescope({}, { timeout: 1 }), TypeError, '"timeout"');
  await assertRejects(() => rescope({ namespaces: [] }), TypeError, "Name at least one");
  await assertRejects(() => rescope({ namespaces: ["a/b"] }), TypeError, "a/b");
  await assertRejects(() => rescope({ labelSelector: "!!" }), SyntaxError);
  await assertRejects(() => rescope({}, { signal: AbortSignal.abort(new Error("no")) }), WaitError);
  const handler = maps.addEventHandler({}, {
    name: "ledger",
    checkpoint: await Checkpoint.open(new MemoryCheckpoints(), { name: "ledger" }),
  });
  await assertRejects(() => rescope({ namespaces: ["b"] }), TypeError, '"ledger"');
  handler.remove();
  await fixture.start();
  maps.measureDelivery();
  await Promise.all([rescope({ namespaces: ["b"] }), fixture.tick()]);
  assertEquals([keys(maps), maps.status().deliveryMs], ["b/db b/web", undefined]);
});

Deno.test("a factory lets the only caller rescope an informer, and shares it by the new scope", async () => {
  await using fixture = new Fixture();
  const { informers } = fixture;
  const [maps] = fixture.informer({ namespace: "a" });
  const rescope = (): Promise<void> => maps.rescope({ namespaces: ["b"] });
  informers.forResource(ConfigMap, { namespace: "a" });
  await assertRejects(rescope, Error, "other callers of the factory share it");
  await fixture.start();

  const held = informers.acquire(ConfigMap, { namespace: "c" });
  const second = informers.acquire(ConfigMap, { namespace: "c" });
  using _follower = { [Symbol.dispose]: informers[internals].follow(held.informer, {}).release };
  await assertRejects(() => held.informer.rescope({ namespaces: ["b"] }), Error, "other callers");
  second[Symbol.dispose]();
  const other = informers.forResource(ConfigMap, { namespace: "b" });
  await assertRejects(() => held.informer.rescope({ namespaces: ["b"] }), Error, "has another informer of");
  await assertRejects(() => held.informer.rescope({ namespaces: ["a"] }), Error, 'another informer of "configmaps/v1?');
  const rescoped = held.informer.rescope({ namespaces: ["b", "c"] });
  for (const namespaces of [["c"], ["c", "b"]]) {
    assertThrows(() => informers.acquire(ConfigMap, { namespaces }), Error, "its rescope() has not ended");
  }
  await Promise.all([rescoped, fixture.tick()]);
  const again = informers.acquire(ConfigMap, { namespace: "c" });
  const same = informers.acquire(ConfigMap, { namespaces: ["c", "b"] });
  assert(again.informer !== held.informer && same.informer === held.informer && other !== same.informer);
  assertEquals(
    informers.status().map(({ selection }) => selection.namespaces?.join()),
    ["a", "b", "b,c", "c"],
  );
  same[Symbol.dispose]();
  const stop = AbortSignal.timeout(1);
  const undone = assertRejects(() => held.informer.rescope({ labelSelector: "x" }, { signal: stop }), WaitError);
  maps.pause();
  held.informer.pause();
  await Promise.all([undone, fixture.tick(10)]);
  held.informer.resume();
  assert(informers.acquire(ConfigMap, { namespaces: ["b", "c"] }).informer === held.informer, "it is undone");
});

Deno.test("the waits of callers go on in the new scope", async () => {
  await using fixture = new Fixture();
  const [maps] = fixture.informer({ namespaces: ["a", "b"] });
  await fixture.start();
  const version = maps.waitForVersion(String(Number(fixture.server.resourceVersion) + 1));
  const late = maps.until(({ metadata }) => metadata.name === "late");
  await Promise.all([maps.rescope({ namespaces: ["b", "c"] }), fixture.tick()]);
  const inC = maps.waitForVersion(String(Number(fixture.server.resourceVersion) + 2), { namespace: "c" });
  fixture.create("b", "early");
  fixture.create("c", "late");
  await Promise.all([fixture.tick(), inC, late]);
  fixture.create("b", "last");
  await Promise.all([fixture.tick(), version]);
});

Deno.test("a snapshot records the scope that rescope() has changed to", async () => {
  const kept = new Map<string, string>();
  const store = {
    get: () => Promise.resolve(undefined),
    set: async (name: string, { bytes }: StoredSnapshot) => {
      kept.set(name, await new Response(ReadableStream.from(bytes) as ReadableStream<Uint8Array<ArrayBuffer>>).text());
      return true;
    },
  };
  await using fixture = new Fixture({ snapshots: { store, intervalMs: 1_000 } });
  const [maps] = fixture.informer();
  await fixture.start();
  await fixture.tick(1_500);
  await Promise.all([maps.rescope({ namespaces: ["a"] }), fixture.tick()]);
  await fixture.tick(1_500);
  assertEquals([...kept.keys()], ["configmaps/v1", "configmaps/v1?namespaces=a"]);
  assertStringIncludes(kept.get("configmaps/v1?namespaces=a")!, '"selections":[{"namespace":"a",');
  const snapshot = await new Response(maps.snapshot({ cluster: "x" })).bytes();
  const chunks = async function* (): AsyncGenerator<Uint8Array> {
    yield snapshot;
  };
  await using same = new SharedIndexInformer(fixture.client.resource(ConfigMap, { namespace: "a" }));
  await assertRejects(
    async () => {
      const restored = same.restore(chunks(), { cluster: "x" });
      await same.rescope({ namespaces: ["b"] });
      await restored;
    },
    Error,
    "rescope() has changed it meanwhile",
  );
  await assertRejects(() => same.restore(chunks(), { cluster: "x" }), SnapshotError, "it was written with selections");
  await same.rescope({ namespaces: ["a"] });
  await same.restore(chunks(), { cluster: "x" });
  await assertRejects(() => same.rescope({ namespaces: ["b"] }), TypeError, "Call run() first");
});
