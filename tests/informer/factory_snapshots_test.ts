import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import type { SnapshotStore, StoredSnapshot } from "../../src/api/snapshot_store.ts";
import { Client } from "../../src/client/client.ts";
import { MemorySnapshots } from "../../src/informer/snapshot/memory_snapshots.ts";
import { SharedInformerFactory } from "../../src/informer/shared_informer_factory.ts";
import type { FactorySnapshots } from "../../src/informer/snapshot/snapshot_options.ts";
import { errorLine } from "../../src/errors/error_line.ts";
import { Pod, Secret } from "../../src/kinds/core/v1.ts";
import { FakeApiServer, pod } from "../../src/testing/mod.ts";
import { FakeTime } from "../support/fake_time.ts";

/** A store that notes its calls. */
class NotedStore implements SnapshotStore {
  readonly calls: string[] = [];
  readonly #kept = new MemorySnapshots();

  get(name: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    this.calls.push(`get ${name}`);
    return this.#kept.get(name);
  }

  async set(name: string, snapshot: StoredSnapshot): Promise<boolean> {
    const isKept = await this.#kept.set(name, snapshot);
    this.calls.push(`set ${name} ${isKept ? "kept" : "left"}${snapshot.replacesNewer ? " by force" : ""}`);
    return isKept;
  }

  take(): string[] {
    return this.calls.splice(0);
  }
}

/** A server with two pods, and factories on it, one after the other. */
class World implements Disposable {
  readonly time = new FakeTime();
  readonly server = new FakeApiServer();
  readonly client = new Client({ server: "http://fake", transport: this.server });
  readonly store = new NotedStore();
  readonly errors: string[] = [];

  constructor() {
    this.server.create(Pod, pod({ name: "a" }));
    this.server.create(Pod, pod({ name: "b" }));
  }

  factory(snapshots: Partial<FactorySnapshots> = {}): SharedInformerFactory {
    return new SharedInformerFactory(this.client, {
      reflector: { backoff: { jitter: 0 }, reconnectMs: 0 },
      onError: (error) => this.errors.push(errorLine(error)),
      snapshots: { store: this.store, ...snapshots },
    });
  }

  /** The lists and watches since the last call. */
  get asked(): string[] {
    return this.server.requests.slice(this.#asked, this.#asked = this.server.requests.length).map(({ url }) => {
      const { pathname, searchParams } = new URL(url, "http://fake");
      if (/\/pods\/./.test(pathname)) {
        return `get ${pathname.split("/").at(-1)} at ${searchParams.get("resourceVersion")}`;
      }
      if (searchParams.has("sendInitialEvents") || !searchParams.has("watch")) return "list";
      return `watch from ${searchParams.get("resourceVersion")}`;
    });
  }
  #asked = 0;

  [Symbol.dispose](): void {
    this.client[Symbol.dispose]();
    this.server[Symbol.dispose]();
    this.time[Symbol.dispose]();
  }
}

Deno.test("SharedInformerFactory writes a snapshot when it is shut down, and the next one begins with it, without a list", async () => {
  using world = new World();
  {
    await using informers = world.factory();
    informers.forResource(Pod);
    informers.start();
    await world.time.tickAsync(0);
  }
  assertEquals(world.store.take(), ["get pods/v1", "set pods/v1 kept"]);
  assertEquals(world.asked, ["list"]);
  await using informers = world.factory();
  const seen: string[] = [];
  const pods = informers.forResource(Pod);
  pods.addEventHandler({
    onAdd: ({ key, initial }) => void seen.push(initial ? `${key} (initial)` : key),
    onSynced: () => void seen.push("synced"),
  });
  informers.start();
  await informers.waitForCacheSync();
  assertEquals([pods.status().state, pods.indexer.size], ["stale", 2]);
  await world.time.tickAsync(0);
  assertEquals([pods.status().state, world.asked], ["live", ["get a at 3", "watch from 3"]]);
  assertEquals(seen, ["default/a (initial)", "default/b (initial)", "synced"]);
  world.server.create(Pod, pod({ name: "c" }));
  await world.time.tickAsync(0);
  assertEquals(seen.slice(3), ["default/c"]);
  assertEquals(world.errors, []);
});

Deno.test("SharedInformerFactory writes snapshots from time to time while something changes, and nothing otherwise", async () => {
  using world = new World();
  {
    await using informers = world.factory({ everyMs: 60_000 });
    informers.forResource(Pod);
    informers.start();
    await world.time.tickAsync(60_000);
    assertEquals(world.store.take(), ["get pods/v1", "set pods/v1 kept"]);
    await world.time.tickAsync(120_000);
    assertEquals(world.store.take(), []);
    world.server.create(Pod, pod({ name: "c" }));
    await world.time.tickAsync(59_000);
    assertEquals(world.store.take(), []);
    await world.time.tickAsync(1_000);
    assertEquals(world.store.take(), ["set pods/v1 kept"]);
  }
  assertEquals([world.store.take(), world.time.timers], [[], 0]); // nothing has changed since
});

Deno.test("SharedInformerFactory writes a snapshot again after 4 minutes in which bookmarks alone came, and at the end", async () => {
  using world = new World();
  {
    await using informers = world.factory({ everyMs: 60_000 });
    informers.forResource(Pod);
    informers.start();
    await world.time.tickAsync(60_000);
    world.store.take();
    world.server.create(Secret, { apiVersion: "v1", kind: "Secret", metadata: { name: "x", namespace: "default" } });
    world.server.bookmark();
    await world.time.tickAsync(179_000);
    assertEquals(world.store.take(), []);
    await world.time.tickAsync(61_000);
    assertEquals(world.store.take(), ["set pods/v1 kept"]);
    world.server.create(Secret, { apiVersion: "v1", kind: "Secret", metadata: { name: "y", namespace: "default" } });
    world.server.bookmark();
    await world.time.tickAsync(0);
  }
  assertEquals(world.store.take(), ["set pods/v1 kept"]);
});

Deno.test("SharedInformerFactory leaves a newer snapshot of another process, and replaces one that it cannot use", async () => {
  using world = new World();
  const set = (bytes: string, version: string): Promise<boolean> =>
    world.store.set("pods/v1", {
      bytes: ReadableStream.from([new TextEncoder().encode(bytes)]),
      version,
      replacesNewer: false,
    });
  const run = async (whileRunning?: () => Promise<unknown>): Promise<void> => {
    await using informers = world.factory();
    informers.forResource(Pod);
    informers.start();
    await world.time.tickAsync(0);
    await whileRunning?.();
  };
  await run();
  world.store.take();
  world.server.create(Pod, pod({ name: "c" }));
  await run(() => set("newer", "900"));
  assertEquals(world.store.take(), ["get pods/v1", "set pods/v1 kept", "set pods/v1 left"]);
  await run(async () => {
    await world.time.tickAsync(60_000);
    world.server.create(Pod, pod({ name: "d" }));
    await world.time.tickAsync(0);
  });
  assertEquals(world.store.take(), ["get pods/v1", "set pods/v1 kept by force", "set pods/v1 kept"]);
  assertEquals(world.errors.length, 1);
  assertMatch(world.errors[0], /^Cannot restore "pods\/v1", which is listed instead: .*it does not begin with/);
  world.asked;
  await run();
  assertEquals(world.asked, ["get a at 5", "watch from 5"]);
  assertEquals(world.store.take(), ["get pods/v1"]); // nothing has changed since the snapshot
});

Deno.test("SharedInformerFactory lists where the server has no object of the snapshot, and replaces the snapshot", async () => {
  using world = new World();
  const run = async (): Promise<void> => {
    await using informers = world.factory();
    informers.forResource(Pod);
    informers.start();
    await world.time.tickAsync(5_000);
  };
  await run();
  world.store.take();
  world.server.delete(Pod, "default/a");
  await run(); // one of the two is enough
  assertEquals([world.asked.slice(-3), world.errors], [["get a at 3", "get b at 3", "watch from 3"], []]);
  world.store.take();
  world.server.delete(Pod, "default/b");
  world.server.create(Pod, pod({ name: "b" })); // another object of that name
  await run();
  assertEquals(world.asked, ["get b at 4", "list"]);
  assertMatch(world.errors[0], /listed instead: the server has not these objects; was the cluster made anew/);
  assertEquals(world.store.take(), ["get pods/v1", "set pods/v1 kept by force"]);
});

Deno.test("SharedInformerFactory that may not get an object of the snapshot trusts it", async () => {
  using world = new World();
  const run = async (): Promise<void> => {
    await using informers = world.factory();
    informers.forResource(Pod);
    informers.start();
    await world.time.tickAsync(0);
  };
  await run();
  world.asked;
  world.server.failNext(403);
  await run();
  assertEquals([world.asked, world.errors], [["get a at 3", "watch from 3"], []]);
});

Deno.test("SharedInformerFactory lists where its store fails or does not answer, and reports the reason", async () => {
  for (
    const [get, reason] of [
      [() => Promise.reject(new Error("the disk is gone")), /listed instead: the disk is gone$/],
      [() => new Promise<undefined>(() => {}), /has not come within 10 s$/],
    ] as const
  ) {
    using world = new World();
    const store: SnapshotStore = { get, set: () => Promise.reject(new Error("the disk is full")) };
    {
      await using informers = world.factory({ store });
      const pods = informers.acquire(Pod);
      await world.time.tickAsync(10_000);
      assertEquals([pods.status().state, world.asked], ["live", ["list"]]);
      assertMatch(world.errors[0], reason);
    }
    assertMatch(world.errors[1], /^Cannot keep a snapshot of "pods\/v1": the disk is full$/);
  }
});

Deno.test("SharedInformerFactory writes one snapshot at a time, and what has changed meanwhile at its end", async () => {
  using world = new World();
  const written: string[] = [];
  const slow = Promise.withResolvers<boolean>();
  const store: SnapshotStore = {
    get: () => Promise.resolve(undefined),
    set: (_name, { version }) => written.push(version) === 1 ? slow.promise : Promise.resolve(true),
  };
  const informers = world.factory({ store, everyMs: 60_000 });
  informers.forResource(Pod);
  informers.start();
  await world.time.tickAsync(180_000);
  world.server.create(Pod, pod({ name: "c" }));
  await world.time.tickAsync(0);
  const shutdown = informers.shutdown();
  await world.time.tickAsync(0);
  assertEquals(written, ["3"]);
  slow.resolve(true);
  await shutdown;
  assertEquals([written, world.time.timers], [["3", "4"], 0]);
});

Deno.test("SharedInformerFactory writes no snapshot of a cache that has not synced", async () => {
  using world = new World();
  world.server.failNext(500, Infinity);
  {
    await using informers = world.factory();
    informers.forResource(Pod);
    informers.start();
    await world.time.tickAsync(60_000);
  }
  assertEquals(world.store.take(), ["get pods/v1"]);
  assertEquals(world.errors.filter((line) => !line.startsWith("Cannot list")), []);
});

Deno.test("SharedInformerFactory that is shut down while its store does not answer ends", async () => {
  using world = new World();
  const store: SnapshotStore = { get: () => new Promise(() => {}), set: () => Promise.resolve(true) };
  const informers = world.factory({ store });
  informers.forResource(Pod);
  const running = informers.run();
  await informers.shutdown();
  await running;
  assertEquals([world.time.timers, world.asked, world.errors], [0, [], []]);
});

Deno.test("SharedInformerFactory keeps no data of Secrets unless asked to, and names snapshots by what they are of", async () => {
  using world = new World();
  {
    await using informers = world.factory();
    using _secrets = informers.acquire(Secret, { keep: "data" });
    using _pods = informers.acquire(Pod, { namespaces: ["shop", "cart"], labelSelector: "app=web" });
    await world.time.tickAsync(0);
  }
  const name = "pods/v1?namespaces=cart%2Cshop&labelSelector=app%3Dweb";
  assertEquals(world.store.take(), [`get ${name}`, `set ${name} kept`]);
  {
    await using informers = world.factory({ secrets: true });
    using _secrets = informers.acquire(Secret, { keep: "data" });
    using _without = informers.acquire(Secret);
    await world.time.tickAsync(0);
  }
  assertEquals(world.store.take(), [
    ...["get secrets/v1?keep=data", "get secrets/v1"],
    ...["set secrets/v1?keep=data kept", "set secrets/v1 kept"],
  ]);
  assertThrows(() => world.factory({ everyMs: 0 }), RangeError, "everyMs");
});

Deno.test("MemorySnapshots refuses a snapshot that is too large, with a hint, and keeps the one before", async () => {
  const store = new MemorySnapshots({ maxBytes: 4 });
  const set = (text: string): Promise<boolean> =>
    store.set("pods/v1", {
      bytes: ReadableStream.from([new TextEncoder().encode(text)]),
      version: "1",
      replacesNewer: false,
    });
  await set("1234");
  const error = await set("12345").catch(String);
  assertEquals(
    error,
    'RangeError: Cannot write the snapshot "pods/v1": it has more than 4 bytes; cache fewer fields (option "fields"), or ' +
      "metadata alone (metadataOf), or raise maxBytes",
  );
  assertEquals(await new Response(ReadableStream.from(await store.get("pods/v1") ?? [])).text(), "1234");
});
