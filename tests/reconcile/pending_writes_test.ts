import { assertEquals } from "@std/assert";
import type { ObjectWrite } from "../../src/client/object_write.ts";
import { ConfigMap } from "../../src/kinds/core/v1.ts";
import { type Cache, PendingWrites } from "../../src/reconcile/pending_writes.ts";
import { nextTurn } from "../../src/async/next_turn.ts";

/** A cache whose state is set by hand, and whose waits end by hand. */
class ScriptedCache {
  readonly objects = new Map<string, { readonly uid: string; readonly resourceVersion: string }>();
  readonly entries = { getByKey: (key: string): unknown => this.objects.get(key) };
  readonly waits: { readonly name: string; readonly end: () => void }[] = [];
  lastSyncResourceVersion = "10";
  constructor(readonly selections: readonly { readonly labelSelector?: string }[] = [{}]) {}
  atLeast = (version: string, options: { signal: AbortSignal }): Promise<void> => this.#wait(version, options);
  until = (_: unknown, options: { signal: AbortSignal }): Promise<void> => this.#wait("until", options);
  untilDeleted = (key: string, options: { signal: AbortSignal }): Promise<void> => this.#wait(`gone ${key}`, options);

  /** Ends the waits that have begun, after the cache has changed. */
  async show(change: () => void): Promise<void> {
    change();
    for (const { end } of this.waits.splice(0)) end();
    await nextTurn();
  }

  #wait(name: string, { signal }: { signal: AbortSignal }): Promise<void> {
    return new Promise((resolve, reject) => {
      this.waits.push({ name, end: resolve });
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
  }
}

/** The writes of the key "owner", with one cache. */
function following(cache = new ScriptedCache()): {
  readonly cache: ScriptedCache;
  readonly writes: PendingWrites;
  readonly superseded: string[];
  readonly write: (version: string, options?: Partial<ObjectWrite>) => void;
} {
  const superseded: string[] = [];
  const writes = new PendingWrites((key, { object }) => superseded.push(`${key} ${object}`));
  writes.addCache(ConfigMap, cache as unknown as Cache);
  const write = (resourceVersion: string, options: Partial<ObjectWrite> = {}): void =>
    writes.record("owner", {
      resource: ConfigMap,
      key: "shop/a",
      namespace: "shop",
      uid: "u",
      resourceVersion,
      ...options,
    });
  return { cache, writes, superseded, write };
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

Deno.test("PendingWrites follows nothing after its end", async () => {
  const { cache, writes, superseded, write } = following();
  write("11");
  writes[Symbol.dispose]();
  await cache.show(() => cache.lastSyncResourceVersion = "12");
  assertEquals(superseded, []);
});

Deno.test("PendingWrites waits for a write by which a cached object leaves the selection of the cache", () => {
  const { cache, writes, write } = following(new ScriptedCache([{ labelSelector: "app=web" }]));
  write("11", { labels: { app: "db" } });
  assertEquals(writes.hasSeen("owner"), true);
  cache.objects.set("shop/a", { uid: "u", resourceVersion: "9" });
  write("11", { labels: { app: "db" } });
  assertEquals(writes.hasSeen("owner"), false);
  writes[Symbol.dispose]();
});

Deno.test("PendingWrites waits for the deletion of an object whose creation its cache shows meanwhile", () => {
  const { cache, writes, write } = following(new ScriptedCache([{ labelSelector: "app=web" }]));
  write("11", { labels: { app: "web" } });
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
