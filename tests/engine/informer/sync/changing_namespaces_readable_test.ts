import { assert, assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { isForbidden } from "../../../../src/engine/api/status.ts";
import { errorLine } from "../../../../src/engine/errors/errors.ts";
import { internals } from "../../../../src/engine/errors/internals.ts";
import { Checkpoint, MemoryCheckpoints } from "../../../../src/engine/informer/events/checkpoint.ts";
import type { SharedIndexInformer } from "../../../../src/engine/informer/shared_index_informer.ts";
import { WaitError } from "../../../../src/engine/informer/status.ts";
import { ConfigMap, Namespace, Node } from "../../../../src/engine/kinds/core/v1.ts";
import { namespace } from "../../../../src/testing/mod.ts";
import { FactoryFixture } from "../_factory_fixture.ts";

/** Longer than the time between two questions. */
const PERIOD_MS = 75_000;

/** A factory of readable namespaces, on a server whose config maps may be read in some; `"*"` is all at once. */
class Fixture extends FactoryFixture {
  readonly rights: Set<string>;

  constructor(rights: Set<string>, options: ConstructorParameters<typeof FactoryFixture>[0] = {}) {
    super({ namespaces: "readable", reflector: { streamingList: "off", reconnectMs: 0 }, ...options }, {
      authorize: ({ resource, namespace }) =>
        resource !== "configmaps" || rights.has("*") || (namespace !== "" && rights.has(namespace)),
    });
    this.rights = rights;
    for (const name of ["a", "b", "c"]) {
      this.server.create(Namespace, namespace({ name }));
      this.server.create(ConfigMap, { metadata: { namespace: name, name: "settings" } });
    }
  }

  /** The lists of config maps since the last call: `"all"`, or the namespace. */
  get lists(): string[] {
    const lists = this.server.requests.filter(({ verb, resource, query }) =>
      verb === "list" && resource === "configmaps" && query.get("limit") !== "1" // a look at the version is none
    )
      .map(({ namespace }) => namespace === "" ? "all" : namespace);
    return lists.slice(this.#listed, this.#listed = lists.length);
  }

  #listed = 0;
}

/** The events of an informer, as they come. */
function eventsOf(maps: SharedIndexInformer<ConfigMap>): string[] {
  const seen: string[] = [];
  maps.addEventHandler({
    onAdd: ({ key, initial }) => void seen.push(`${initial ? "=" : "+"}${key}`),
    onUpdate: ({ key }) => void seen.push(`~${key}`),
    onDelete: ({ key, reason }) => void seen.push(`-${key} ${reason}`),
    onSynced: () => void seen.push("synced"),
  });
  return seen;
}

Deno.test("readable namespaces come and go with rights, and nothing else is listed again", async () => {
  await using fixture = new Fixture(new Set(["a", "b"]));
  const { server, rights, informers } = fixture;
  const maps = informers.forResource(ConfigMap);
  const seen = eventsOf(maps);
  await fixture.start();
  await fixture.tick(1_000);
  assertEquals([seen.splice(0).sort(), fixture.lists.sort()], [["=a/settings", "=b/settings", "synced"], ["a", "b"]]);
  assertEquals(maps.status().namespaces?.map(({ namespace, state }) => [namespace, state]), [
    ["a", "live"],
    ["b", "live"],
  ]);

  rights.add("c").delete("a");
  await fixture.tick(PERIOD_MS);
  assertEquals([seen.splice(0), fixture.lists], [["-a/settings moved", "=c/settings"], ["c"]]);
  server.annotate(ConfigMap, "a/settings", { n: "1" });
  server.annotate(ConfigMap, "b/settings", { n: "1" });
  server.create(ConfigMap, { metadata: { namespace: "c", name: "late" } });
  await fixture.tick(1_000);
  assertEquals(seen.splice(0), ["~b/settings", "+c/late"]);
  rights.add("a");
  await fixture.tick(PERIOD_MS);
  assertEquals([seen.splice(0), fixture.lists], [["=a/settings"], ["a"]]);
  assertEquals([maps.hasSynced, maps.status().state, maps.lastSyncResourceVersion !== ""], [true, "live", true]);
  assertEquals(fixture.errors, []);
});

Deno.test("where all namespaces may be read, one watch of all follows them, and resumes in those that remain", async () => {
  await using fixture = new Fixture(new Set(["*"]));
  const { server, rights, informers } = fixture;
  const maps = informers.forResource(ConfigMap);
  const seen = eventsOf(maps);
  await fixture.start();
  await fixture.tick(1_000);
  assertEquals([seen.splice(0).length, fixture.lists, server.watches], [4, ["all"], 1]);
  assertEquals(maps.status().namespaces, undefined);

  rights.add("a").add("c").delete("*");
  await fixture.tick(10 * 60_000); // the server refuses the next watch
  assertEquals([seen.splice(0), fixture.lists, server.watches], [["-b/settings moved"], [], 2]);
  server.annotate(ConfigMap, "a/settings", { n: "1" });
  server.delete(ConfigMap, "c/settings");
  await fixture.tick(1_000);
  assertEquals(seen.splice(0), ["~a/settings", "-c/settings undefined"]);

  rights.add("*");
  server.create(ConfigMap, { metadata: { namespace: "b", name: "more" } });
  await fixture.tick(PERIOD_MS);
  assertEquals([seen.splice(0).sort(), fixture.lists, server.watches], [["=b/more", "=b/settings"], ["all"], 1]);
  await fixture.tick(10 * 60_000);
  assertEquals(server.requests.filter(({ resource }) => resource === "selfsubjectaccessreviews").at(-1)?.namespace, "");
  assertEquals(fixture.errors, []);
});

Deno.test("while no namespace may be read, the informer is refused; a right that is granted ends that", async () => {
  await using fixture = new Fixture(new Set());
  const maps = fixture.informers.forResource(ConfigMap);
  await fixture.start();
  const error = await assertRejects(() => maps.waitForCacheSync(), WaitError);
  assert(isForbidden(error.cause));
  await fixture.tick(5_000);
  assertEquals(maps.status().state, "forbidden");
  assertStringIncludes(fixture.errors.join(), "configmaps");
  const patient = maps.waitForCacheSync({ patient: true });
  const version = maps.waitForVersion(fixture.server.resourceVersion);
  fixture.rights.add("b");
  await fixture.tick(PERIOD_MS);
  await Promise.all([patient, version]); // begun with the refused watch of all
  assertEquals([[...maps.indexer.keys()], maps.status().state], [["b/settings"], "live"]);
  await assertRejects(() => maps.waitForCacheSync({ namespace: "a" }), RangeError, `follows "b"`);
});

Deno.test("a refused watch is explained by the rights, or reported", async () => {
  await using fixture = new Fixture(new Set(["a", "b"]), { reflector: { watchTimeoutMs: 5_000, reconnectMs: 0 } });
  const maps = fixture.informers.forResource(ConfigMap);
  const seen = eventsOf(maps);
  await fixture.start();
  await fixture.tick(1_000);
  fixture.rights.delete("a");
  await fixture.tick(12_000); // less than the period: the refusal is the cause
  assertEquals([seen.filter((line) => line.startsWith("-")), fixture.errors], [["-a/settings moved"], []]);

  // A server that refuses what it has granted.
  fixture.server.failNext(403, 3, ({ verb, namespace }) => verb === "watch" && namespace === "b");
  await fixture.tick(12_000);
  assert(fixture.errors.length > 0 && fixture.errors.every((line) => line.includes("configmaps")));
  await fixture.tick(60_000);
  assertEquals([maps.status().state, [...maps.indexer.keys()]], ["live", ["b/settings"]]);
});

Deno.test("rights that nobody answers are asked for again, and nothing is listed meanwhile", async () => {
  await using fixture = new Fixture(new Set(["a"]));
  const maps = fixture.informers.forResource(ConfigMap);
  fixture.server.failNext(500, 3, ({ resource }) => resource.startsWith("selfsubject"));
  await fixture.start();
  await fixture.tick(200);
  assertEquals([fixture.lists, maps.hasSynced, fixture.errors.length > 0], [[], false, true]);
  await fixture.tick(30_000);
  assertEquals([fixture.lists, maps.hasSynced], [["a"], true]);
  // What is known stays where a later question fails.
  fixture.server.failNext(503, 100, ({ resource }) => resource.startsWith("selfsubject"));
  await fixture.tick(3 * PERIOD_MS);
  assertEquals([[...maps.indexer.keys()], maps.status().state, fixture.lists], [["a/settings"], "live", []]);
});

Deno.test("a server that lets nobody ask for rights is asked for all namespaces", async () => {
  await using fixture = new Fixture(new Set(["*"]));
  fixture.server.failNext(403, 1, ({ resource }) => resource.startsWith("selfsubject"));
  const maps = fixture.informers.forResource(ConfigMap);
  await fixture.start();
  await fixture.tick(1_000);
  assertEquals([fixture.lists, maps.indexer.size], [["all"], 3]);
});

Deno.test("an informer that is paused asks for no rights, and asks when it is resumed", async () => {
  await using fixture = new Fixture(new Set(["a", "b"]));
  const maps = fixture.informers.forResource(ConfigMap);
  const seen = eventsOf(maps);
  maps.pause();
  await fixture.start();
  await fixture.tick(PERIOD_MS);
  assertEquals(fixture.server.requests.length, 0);
  maps.resume();
  await fixture.tick(1_000);
  assertEquals(seen.splice(0).length, 3);
  maps.pause();
  const before = fixture.server.requests.length;
  fixture.rights.delete("a");
  await fixture.tick(2 * PERIOD_MS);
  assertEquals([fixture.server.requests.length, maps.indexer.size], [before, 2]);
  maps.resume();
  await fixture.tick(1_000);
  assertEquals(seen, ["-a/settings moved"]);
});

Deno.test("informers of readable namespaces are shared, and refuse what cannot change", async () => {
  await using fixture = new Fixture(new Set(["a"]), { onError: () => {} }); // they overlap
  const { informers } = fixture;
  const maps = informers.forResource(ConfigMap);
  assert(informers.forResource(ConfigMap, { namespaces: "readable" }) === maps);
  const named = informers.forResource(ConfigMap, { namespaces: ["a"] });
  const nodes = informers.forResource(Node);
  assert(named !== maps);
  await fixture.start();
  await fixture.tick(1_000);
  assertEquals([[...maps.indexer.keys()], [...named.indexer.keys()], nodes.hasSynced], [
    ["a/settings"],
    ["a/settings"],
    true,
  ]);
  const readable = { namespaces: "readable" } as const;
  assertThrows(() => informers.forResource(ConfigMap, { ...readable, shard: "0/2" }), TypeError, "Remove one of them");
  assertThrows(
    () => informers.forResource(ConfigMap, { ...readable, namespace: "a" }),
    TypeError,
    "Remove one of them",
  );
  const wrong = { namespaces: "all" as "readable" };
  assertThrows(() => informers.forResource(ConfigMap, wrong), TypeError, `"all" is not an array of names`);
  assertThrows(() => maps.snapshot(), TypeError, "its readable namespaces change");
  const checkpoint = await Checkpoint.open(new MemoryCheckpoints(), { name: "p" });
  const error = assertThrows(() => maps.addEventHandler({}, { checkpoint }), TypeError);
  assertStringIncludes(errorLine(error), "name the namespaces");
});

Deno.test("where namespaces remain of a polled kind, their lists delete what is gone since that of all", async () => {
  await using fixture = new Fixture(new Set(["*"]));
  const { server, rights, informers } = fixture;
  const maps = informers.forResource(ConfigMap, { pollMs: 1_000 });
  const seen = eventsOf(maps);
  await fixture.start();
  await fixture.tick(500);
  seen.splice(0);
  rights.add("a").add("c").delete("*");
  server.delete(ConfigMap, "a/settings");
  await fixture.tick(5_000);
  assertEquals([seen.sort(), maps.status().state], [["-a/settings undefined", "-b/settings moved"], "live"]);
  assertEquals(maps.status().namespaces?.map(({ objects }) => objects), [0, 1]);
});

Deno.test("a namespace that goes takes its refusal along, and what waits for its first list", async () => {
  await using fixture = new Fixture(new Set(["a", "b"]));
  const { server, rights, informers } = fixture;
  const maps = informers.forResource(ConfigMap);
  const seen = eventsOf(maps);
  let stalled = server.stallNext(1, ({ verb, namespace }) => verb === "list" && namespace === "b");
  await fixture.start();
  assertEquals([maps.hasSynced, maps.status().state], [false, "listing"]);
  rights.delete("b");
  maps[internals].sync.retry();
  await fixture.tick();
  assertEquals([maps.hasSynced, maps.status().state, seen], [true, "live", ["=a/settings", "synced"]]);
  stalled[Symbol.dispose]();

  rights.add("b");
  maps[internals].sync.retry();
  await fixture.tick(5_000);
  rights.delete("b");
  stalled = server.stallNext(1, ({ resource }) => resource.startsWith("selfsubject"));
  server.dropWatches();
  await fixture.tick(1_000);
  assertEquals(maps.status().namespaces?.map(({ state }) => state), ["live", "forbidden"]);
  assertEquals(maps.status().state, "forbidden");
  stalled[Symbol.dispose]();
  await fixture.tick();
  assertEquals([maps.status().state, [...maps.indexer.keys()]], ["live", ["a/settings"]]);
});

Deno.test("retry() asks for the namespaces at once; the check of one that goes ends with it, and checks none that has gone", async () => {
  await using fixture = new Fixture(new Set(["a", "b", "c"]));
  const { server, rights, informers } = fixture;
  const maps = informers.forResource(ConfigMap);
  await fixture.start();
  await fixture.tick(1_000);
  const isCheck = (namespace: string) => (request: { readonly verb: string; readonly namespace: string }): boolean =>
    request.verb === "list" && request.namespace === namespace;

  // One that is checked later goes meanwhile.
  let stalled = server.stallNext(1, isCheck("a"));
  const { lists: _before } = fixture;
  const checked = maps.checkConsistency();
  await fixture.tick(1_000);
  rights.delete("b");
  maps[internals].sync.retry();
  await fixture.tick(1_000);
  assertEquals([...maps.indexer.keys()], ["a/settings", "c/settings"]);
  stalled[Symbol.dispose]();
  await fixture.tick();
  assertEquals([(await checked).objects, fixture.lists], [2, ["a", "c"]]);

  // The one that is being checked goes.
  stalled = server.stallNext(1, isCheck("c"));
  const refused = assertRejects(() => maps.checkConsistency(), Error, 'no longer follows "c"');
  await fixture.tick(1_000);
  rights.delete("c");
  maps[internals].sync.retry();
  await fixture.tick(1_000);
  await refused;
  stalled[Symbol.dispose]();
  assertEquals([[...maps.indexer.keys()], fixture.errors], [["a/settings"], []]);
});
