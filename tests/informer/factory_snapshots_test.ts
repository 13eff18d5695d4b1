import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import type { SnapshotStore, StoredSnapshot } from "../../src/api/lister_watcher.ts";
import { type FactorySnapshots, MemorySnapshots } from "../../src/informer/snapshot.ts";
import type { SharedIndexInformer } from "../../src/informer/shared_index_informer.ts";
import { SharedInformerFactory } from "../../src/informer/shared_informer_factory.ts";
import { errorLine } from "../../src/errors/errors.ts";
import { Pod, Secret } from "../../src/kinds/core/v1.ts";
import { pod } from "../../src/testing/mod.ts";
import { FactoryFixture } from "./_factory_fixture.ts";

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
    this.calls.push(
      `set ${name} ${isKept ? "kept" : "left"}${
        snapshot.replacesNewer ? " by force" : snapshot.replacesSame ? " anew" : ""
      }`,
    );
    return isKept;
  }

  take(): string[] {
    return this.calls.splice(0);
  }
}

/** A server with two pods, and factories on it, one after the other. */
class SnapshotsFixture extends FactoryFixture {
  readonly store = new NotedStore();

  constructor() {
    super();
    for (const name of ["a", "b"]) this.server.create(Pod, pod({ name }));
  }

  factory(snapshots: Partial<FactorySnapshots> = {}): SharedInformerFactory {
    return new SharedInformerFactory(this.client, {
      reflector: { backoff: { jitter: 0 }, reconnectMs: 0 },
      onError: (error) => this.errors.push(errorLine(error)),
      snapshots: { store: this.store, ...snapshots },
    });
  }
}

Deno.test("SharedInformerFactory writes a snapshot when it is shut down, and the next one begins with it, without a list", async () => {
  await using fixture = new SnapshotsFixture();
  {
    await using informers = fixture.factory();
    informers.forResource(Pod);
    informers.start();
    await fixture.tick();
  }
  assertEquals(fixture.store.take(), ["get pods/v1", "set pods/v1 kept"]);
  assertEquals(fixture.asked, ["list"]);
  await using informers = fixture.factory();
  const seen: string[] = [];
  const pods = informers.forResource(Pod);
  pods.addEventHandler({
    onAdd: ({ key, initial }) => void seen.push(initial ? `${key} (initial)` : key),
    onSynced: () => void seen.push("synced"),
  });
  informers.start();
  await informers.waitForCacheSync();
  assertEquals([pods.status().state, pods.indexer.size], ["stale", 2]);
  await fixture.tick();
  assertEquals([pods.status().state, fixture.asked], ["live", ["ask for b at 3", "watch from 3"]]);
  assertEquals(seen, ["default/a (initial)", "default/b (initial)", "synced"]);
  fixture.server.create(Pod, pod({ name: "c" }));
  await fixture.tick();
  assertEquals(seen.slice(3), ["default/c"]);
  assertEquals(fixture.errors, []);
});

Deno.test("SharedInformerFactory writes snapshots from time to time while something changes, and nothing otherwise", async () => {
  await using fixture = new SnapshotsFixture();
  {
    await using informers = fixture.factory({ everyMs: 60_000 });
    informers.forResource(Pod);
    informers.start();
    await fixture.tick(60_000);
    assertEquals(fixture.store.take(), ["get pods/v1", "set pods/v1 kept"]);
    await fixture.tick(120_000);
    assertEquals(fixture.store.take(), []);
    fixture.server.create(Pod, pod({ name: "c" }));
    await fixture.tick(59_000);
    assertEquals(fixture.store.take(), []);
    await fixture.tick(1_000);
    assertEquals(fixture.store.take(), ["set pods/v1 kept"]);
  }
  assertEquals([fixture.store.take(), fixture.time.timers], [[], 0]); // nothing has changed since
});

Deno.test("SharedInformerFactory writes a snapshot again after 4 minutes in which bookmarks alone came, and at the end", async () => {
  await using fixture = new SnapshotsFixture();
  {
    await using informers = fixture.factory({ everyMs: 60_000 });
    informers.forResource(Pod);
    informers.start();
    await fixture.tick(60_000);
    fixture.store.take();
    fixture.server.create(Secret, { apiVersion: "v1", kind: "Secret", metadata: { name: "x", namespace: "default" } });
    fixture.server.bookmark();
    await fixture.tick(179_000);
    assertEquals(fixture.store.take(), []);
    await fixture.tick(61_000);
    assertEquals(fixture.store.take(), ["set pods/v1 kept"]);
    fixture.server.create(Secret, { apiVersion: "v1", kind: "Secret", metadata: { name: "y", namespace: "default" } });
    fixture.server.bookmark();
    await fixture.tick();
  }
  assertEquals(fixture.store.take(), ["set pods/v1 kept"]);
});

Deno.test("SharedInformerFactory writes the snapshot of a cache that only a check has changed", async () => {
  await using fixture = new SnapshotsFixture();
  const run = async (use: (pods: SharedIndexInformer<Pod>) => Promise<void>): Promise<void> => {
    await using informers = fixture.factory();
    const pods = informers.forResource(Pod);
    informers.start();
    await fixture.tick();
    await use(pods);
  };
  await run(async () => {
    fixture.server.loseNext(Pod);
    fixture.server.delete(Pod, "default/a");
    fixture.server.bookmark();
    await fixture.tick();
  });
  await run(async (pods) => {
    assertEquals(pods.indexer.size, 2);
    const checking = pods.check();
    await fixture.tick();
    assertEquals((await checking).repair, "objects");
  });
  await run((pods) => Promise.resolve(assertEquals(pods.indexer.size, 1)));
  assertEquals(fixture.asked.filter((each) => each === "list").length, 2); // the first one, and that of the check
});

Deno.test("SharedInformerFactory leaves a newer snapshot of another process, and replaces one that it cannot use", async () => {
  await using fixture = new SnapshotsFixture();
  const set = (bytes: string, version: string): Promise<boolean> =>
    fixture.store.set("pods/v1", {
      bytes: ReadableStream.from([new TextEncoder().encode(bytes)]),
      version,
      replacesNewer: false,
    });
  const run = async (whileRunning?: () => Promise<unknown>): Promise<void> => {
    await using informers = fixture.factory();
    informers.forResource(Pod);
    informers.start();
    await fixture.tick();
    await whileRunning?.();
  };
  await run();
  fixture.store.take();
  fixture.server.create(Pod, pod({ name: "c" }));
  await run(() => set("newer", "900"));
  assertEquals(fixture.store.take(), ["get pods/v1", "set pods/v1 kept", "set pods/v1 left"]);
  await run(async () => {
    await fixture.tick(60_000);
    fixture.server.create(Pod, pod({ name: "d" }));
    await fixture.tick();
  });
  assertEquals(fixture.store.take(), ["get pods/v1", "set pods/v1 kept by force", "set pods/v1 kept"]);
  assertEquals(fixture.errors.length, 1);
  assertMatch(fixture.errors[0], /^Cannot restore "pods\/v1", which is listed instead: .*it does not begin with/);
  fixture.asked;
  await run();
  assertEquals(fixture.asked, ["ask for d at 5", "watch from 5"]);
  assertEquals(fixture.store.take(), ["get pods/v1"]); // nothing has changed since the snapshot
});

Deno.test("SharedInformerFactory lists where the server has no object of the snapshot, and replaces the snapshot", async () => {
  await using fixture = new SnapshotsFixture();
  const run = async (): Promise<void> => {
    await using informers = fixture.factory();
    informers.forResource(Pod);
    informers.start();
    await fixture.tick(5_000);
  };
  await run();
  fixture.store.take();
  fixture.server.delete(Pod, "default/a");
  await run(); // one of the two is enough
  assertEquals([fixture.asked.slice(-3), fixture.errors], [["list", "ask for b at 3", "watch from 3"], []]);
  fixture.store.take();
  fixture.server.delete(Pod, "default/b");
  fixture.server.create(Pod, pod({ name: "b" })); // another object of that name
  await run();
  assertEquals(fixture.asked, ["ask for b at 4", "list"]);
  assertMatch(
    fixture.errors[0],
    /listed instead, because the server does not have its state: it has none of "default\/b"; were they deleted,/,
  );
  assertEquals(fixture.store.take(), ["get pods/v1", "set pods/v1 kept anew"]);
});

Deno.test("SharedInformerFactory replaces the snapshot of a cluster that was made anew, and is at the same version", async () => {
  await using fixture = new SnapshotsFixture();
  const run = async (): Promise<readonly string[]> => {
    await using informers = fixture.factory();
    const pods = informers.forResource(Pod);
    informers.start();
    await fixture.tick(5_000);
    return pods.indexer.list().map(({ metadata }) => metadata.uid);
  };
  await run();
  fixture.server.restart({ backup: 1 });
  for (const name of ["a", "b"]) fixture.server.create(Pod, pod({ name }));
  const uids = await run();
  fixture.asked;
  assertEquals(await run(), uids);
  assertEquals([fixture.asked, fixture.errors.length], [["ask for b at 3", "watch from 3"], 1]);
});

Deno.test("SharedInformerFactory that gets no answer about the objects of the snapshot trusts it", async () => {
  await using fixture = new SnapshotsFixture();
  const run = async (): Promise<void> => {
    await using informers = fixture.factory();
    informers.forResource(Pod);
    informers.start();
    await fixture.tick();
  };
  await run();
  fixture.asked;
  for (const status of [403, 429, 503]) {
    fixture.server.failNext({ code: status, retryAfterSeconds: 10 });
    await run();
    assertEquals([fixture.asked, fixture.errors], [["ask for b at 3", "watch from 3"], []]);
  }
});

Deno.test("SharedInformerFactory resumes from the snapshot of a kind whose objects expire in their order, or are renamed", async () => {
  await using fixture = new SnapshotsFixture();
  for (let i = 0; i < 20; i++) fixture.server.create(Pod, pod({ name: `c${i}` }));
  const renamed = (pod: Pod): Pod => ({ ...pod, metadata: { ...pod.metadata, name: `renamed-${pod.metadata.name}` } });
  const run = async (transform?: (pod: Pod) => Pod): Promise<void> => {
    await using informers = fixture.factory();
    informers.forResource(Pod, transform && { transform });
    informers.start();
    await fixture.tick();
  };
  await run();
  for (const name of ["a", "b", "c0", "c1", "c2"]) fixture.server.delete(Pod, `default/${name}`);
  fixture.asked;
  await run();
  assertEquals([fixture.asked, fixture.errors], [["ask for c19 at 23", "watch from 23"], []]);

  fixture.server.delete(Pod, "default/c19");
  await run();
  fixture.store.take();
  const { asked } = fixture;
  assertEquals([asked[0], asked.at(-1), fixture.errors], ["ask for c19 at 28", "watch from 28", []]);

  await run(renamed); // a snapshot of another form is refused
  fixture.errors.splice(0);
  fixture.asked;
  await run(renamed);
  assertEquals([fixture.asked, fixture.errors], [["ask for c18 at 29", "watch from 29"], []]);
});

Deno.test("SharedInformerFactory lists where its store fails or does not answer, and reports the reason", async () => {
  for (
    const [get, reason] of [
      [() => Promise.reject(new Error("the disk is gone")), /listed instead: the disk is gone$/],
      [() => new Promise<undefined>(() => {}), /has not come within 10 s$/],
    ] as const
  ) {
    await using fixture = new SnapshotsFixture();
    const store: SnapshotStore = { get, set: () => Promise.reject(new Error("the disk is full")) };
    {
      await using informers = fixture.factory({ store });
      const pods = informers.acquire(Pod);
      await fixture.tick(10_000);
      assertEquals([pods.informer.status().state, fixture.asked], ["live", ["list"]]);
      assertMatch(fixture.errors[0], reason);
    }
    assertMatch(fixture.errors[1], /^Cannot keep a snapshot of "pods\/v1": the disk is full$/);
  }
});

Deno.test("SharedInformerFactory writes what a list has changed as soon as what a watch has", async () => {
  await using fixture = new SnapshotsFixture();
  await using informers = fixture.factory({ everyMs: 60_000 });
  informers.forResource(Pod);
  informers.start();
  await fixture.tick(60_000);
  fixture.store.take();
  using lost = fixture.server.stallWatches(Pod);
  fixture.server.delete(Pod, "default/a");
  fixture.server.forceRelist();
  lost[Symbol.dispose]();
  await fixture.tick(60_000);
  assertEquals(fixture.store.take(), ["set pods/v1 kept anew"]);
});

Deno.test("SharedInformerFactory writes one snapshot at a time, and what has changed meanwhile at its end", async () => {
  await using fixture = new SnapshotsFixture();
  const written: string[] = [];
  const slow = Promise.withResolvers<boolean>();
  const store: SnapshotStore = {
    get: () => Promise.resolve(undefined),
    set: (_name, { version }) => written.push(version) === 1 ? slow.promise : Promise.resolve(true),
  };
  const informers = fixture.factory({ store, everyMs: 60_000 });
  informers.forResource(Pod);
  informers.start();
  await fixture.tick(180_000);
  fixture.server.create(Pod, pod({ name: "c" }));
  await fixture.tick();
  const shutdown = informers.shutdown();
  await fixture.tick();
  assertEquals(written, ["3"]);
  slow.resolve(true);
  await shutdown;
  assertEquals([written, fixture.time.timers], [["3", "4"], 0]);
});

Deno.test("SharedInformerFactory writes no snapshot of a cache that has not synced", async () => {
  await using fixture = new SnapshotsFixture();
  fixture.server.failNext(500, Infinity);
  {
    await using informers = fixture.factory();
    informers.forResource(Pod);
    informers.start();
    await fixture.tick(60_000);
  }
  assertEquals(fixture.store.take(), ["get pods/v1"]);
  assertEquals(fixture.errors.filter((line) => !line.startsWith("Cannot list")), []);
});

Deno.test("SharedInformerFactory that is shut down while its store does not answer ends", async () => {
  await using fixture = new SnapshotsFixture();
  const store: SnapshotStore = { get: () => new Promise(() => {}), set: () => Promise.resolve(true) };
  const informers = fixture.factory({ store });
  informers.forResource(Pod);
  const running = informers.run();
  await informers.shutdown();
  await running;
  assertEquals([fixture.time.timers, fixture.asked, fixture.errors], [0, [], []]);
});

Deno.test("SharedInformerFactory whose store does not answer obeys the signal of run(), and ends within graceMs", async () => {
  await using fixture = new SnapshotsFixture();
  let isReadable = false;
  const never = new Promise<never>(() => {});
  const store: SnapshotStore = { get: () => isReadable ? Promise.resolve(undefined) : never, set: () => never };
  for (
    const [ends, errors] of [[0, []], [10_000, [
      'Cannot keep the last snapshot of "pods/v1": it was not written within 10 s',
    ]]] as const
  ) {
    const stop = new AbortController();
    await using informers = fixture.factory({ store });
    informers.forResource(Pod);
    let hasEnded = false;
    const running = informers.run({ signal: stop.signal }).then(() => hasEnded = true);
    await fixture.tick(1_000);
    stop.abort();
    await fixture.tick(Math.max(0, ends - 1));
    assertEquals(hasEnded, ends === 0);
    await fixture.tick(1);
    assertEquals([hasEnded, fixture.errors, fixture.time.timers], [true, [...errors], 0]);
    await running;
    isReadable = true;
  }
});

Deno.test("SharedInformerFactory that a handler shuts down writes its snapshots, and does not wait for that handler", async () => {
  await using fixture = new SnapshotsFixture();
  const informers = fixture.factory();
  const ended = Promise.withResolvers<void>();
  informers.forResource(Pod).addEventHandler({
    onSynced: async () => {
      await informers.shutdown();
      ended.resolve();
    },
  });
  informers.start();
  await fixture.tick();
  await ended.promise;
  await informers.shutdown();
  assertEquals(fixture.store.take(), ["get pods/v1", "set pods/v1 kept"]);
  assertEquals([fixture.errors, fixture.time.timers], [[], 0]);
});

Deno.test("SharedInformerFactory keeps no data of Secrets unless asked to, and names snapshots by what they are of", async () => {
  await using fixture = new SnapshotsFixture();
  {
    await using informers = fixture.factory();
    using _secrets = informers.acquire(Secret, { keep: "data" });
    using _pods = informers.acquire(Pod, { namespaces: ["shop", "cart"], labelSelector: "app=web" });
    await fixture.tick();
  }
  const name = "pods/v1?namespaces=cart%2Cshop&labelSelector=app%3Dweb";
  assertEquals(fixture.store.take(), [`get ${name}`, `set ${name} kept`]);
  {
    await using informers = fixture.factory({ secrets: true });
    using _secrets = informers.acquire(Secret, { keep: "data" });
    using _without = informers.acquire(Secret);
    await fixture.tick();
  }
  assertEquals(fixture.store.take(), [
    ...["get secrets/v1?keep=data", "get secrets/v1"],
    ...["set secrets/v1?keep=data kept", "set secrets/v1 kept"],
  ]);
  assertThrows(() => fixture.factory({ everyMs: 0 }), RangeError, "everyMs");
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
