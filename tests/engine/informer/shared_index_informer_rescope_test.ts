import { assert, assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { isForbidden } from "../../../src/engine/api/status.ts";
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
  informer(options: Parameters<Fixture["informers"]["forResource"]>[1] = {}): [SharedIndexInformer<ConfigMap>, string[]] {
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
  await maps.rescope({ namespaces: ["a", "c"] }); // in the same turn
  assertEquals([keys(maps), maps.lastSyncResourceVersion], ["a/db a/web c/db c/web", version]);
  assertEquals(maps.status().state, "stale");
  fixture.server.delete(ConfigMap, "a/db");
  await fixture.tick();
  assertEquals(fixture.requested, ["watch a", "watch c"]);
  assertEquals([seen.splice(0), maps.status().state], [["-b/web scope", "-b/db scope", "-a/db deleted"].sort(), "live"].map(
    (it) => it,
  ));
});
