import {
  assert,
  assertEquals,
  assertMatch,
  assertNotStrictEquals,
  assertRejects,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import { isForbidden } from "../../../src/engine/api/status.ts";
import type { SnapshotStore, StoredSnapshot } from "../../../src/engine/api/stores.ts";
import { errorLine } from "../../../src/engine/errors/errors.ts";
import type { CacheOptions, SharedInformerFactoryOptions } from "../../../src/engine/informer/options.ts";
import type { SharedIndexInformer } from "../../../src/engine/informer/shared_index_informer.ts";
import { SharedInformerFactory } from "../../../src/engine/informer/shared_informer_factory.ts";
import { type FactorySnapshots, MemorySnapshots } from "../../../src/engine/informer/snapshot.ts";
import { WaitError } from "../../../src/engine/informer/status.ts";
import { Namespace, Node, Pod, Secret } from "../../../src/engine/kinds/core/v1.ts";
import { type FakeApiServerOptions, node, pod } from "../../../src/testing/mod.ts";
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

/** A snapshot of this text. */
function stored(text: string, version = "1"): StoredSnapshot {
  return { bytes: ReadableStream.from([new TextEncoder().encode(text)]), version, replacesNewer: false };
}

/** The pods of a run, and how long they are left alone. */
interface RunOptions {
  readonly transform?: (pod: Pod) => Pod;
  readonly ms?: number;
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

  /** Runs a factory with pods, shuts it down after `act`, and returns what `act` does. */
  async run<Result = void>(
    act: (pods: SharedIndexInformer<Pod>) => Promise<Result> | Result = () => undefined as Result,
    { ms = 0, transform, ...snapshots }: Partial<FactorySnapshots> & RunOptions = {},
  ): Promise<Result> {
    await using informers = this.factory(snapshots);
    const pods = informers.forResource(Pod, transform && { transform });
    informers.start();
    await this.tick(ms);
    return await act(pods);
  }
}

Deno.test("SharedInformerFactory writes a snapshot when it is shut down, and the next one begins with it, without a list", async () => {
  await using fixture = new SnapshotsFixture();
  await fixture.run();
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
  await fixture.run(async () => {
    assertEquals(fixture.store.take(), ["get pods/v1", "set pods/v1 kept"]);
    await fixture.tick(120_000);
    assertEquals(fixture.store.take(), []);
    fixture.server.create(Pod, pod({ name: "c" }));
    await fixture.tick(59_000);
    assertEquals(fixture.store.take(), []);
    await fixture.tick(1_000);
    assertEquals(fixture.store.take(), ["set pods/v1 kept"]);
  }, { intervalMs: 60_000, ms: 60_000 });
  assertEquals([fixture.store.take(), fixture.time.timers], [[], 0]); // nothing has changed since
});

Deno.test("SharedInformerFactory writes a snapshot again after 4 minutes in which bookmarks alone came, and at the end", async () => {
  await using fixture = new SnapshotsFixture();
  await fixture.run(async () => {
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
  }, { intervalMs: 60_000, ms: 60_000 });
  assertEquals(fixture.store.take(), ["set pods/v1 kept"]);
});

Deno.test("SharedInformerFactory writes the snapshot of a cache that only a check has changed", async () => {
  await using fixture = new SnapshotsFixture();
  await fixture.run(async () => {
    fixture.server.loseNext(Pod);
    fixture.server.delete(Pod, "default/a");
    fixture.server.bookmark();
    await fixture.tick();
  });
  await fixture.run(async (pods) => {
    assertEquals(pods.indexer.size, 2);
    const checking = pods.checkConsistency();
    await fixture.tick();
    assertEquals((await checking).repair, "objects");
  });
  await fixture.run((pods) => Promise.resolve(assertEquals(pods.indexer.size, 1)));
  assertEquals(fixture.asked.filter((each) => each === "list").length, 2); // the first one, and that of the check
});

Deno.test("SharedInformerFactory leaves a newer snapshot of another process, and replaces one that it cannot use", async () => {
  await using fixture = new SnapshotsFixture();
  await fixture.run();
  fixture.store.take();
  fixture.server.create(Pod, pod({ name: "c" }));
  await fixture.run(() => fixture.store.set("pods/v1", stored("newer", "900")));
  assertEquals(fixture.store.take(), ["get pods/v1", "set pods/v1 kept", "set pods/v1 left"]);
  await fixture.run(async () => {
    await fixture.tick(60_000);
    fixture.server.create(Pod, pod({ name: "d" }));
    await fixture.tick();
  });
  assertEquals(fixture.store.take(), ["get pods/v1", "set pods/v1 kept by force", "set pods/v1 kept"]);
  assertEquals(fixture.errors.length, 1);
  assertMatch(fixture.errors[0], /^Cannot restore "pods\/v1", so it is listed instead: .*it does not begin with/);
  fixture.asked;
  await fixture.run();
  assertEquals(fixture.asked, ["ask for d at 5", "watch from 5"]);
  assertEquals(fixture.store.take(), ["get pods/v1"]); // nothing has changed since the snapshot
});

Deno.test("SharedInformerFactory lists where the server has no object of the snapshot, and replaces the snapshot", async () => {
  await using fixture = new SnapshotsFixture();
  const run = (): Promise<void> => fixture.run(undefined, { ms: 5_000 });
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
    /listed instead: the server does not have this state, because it has none of "default\/b"\. Check whether they were deleted,/,
  );
  assertEquals(fixture.store.take(), ["get pods/v1", "set pods/v1 kept anew"]);
});

Deno.test("SharedInformerFactory replaces the snapshot of a cluster that was made anew, and is at the same version", async () => {
  await using fixture = new SnapshotsFixture();
  const run = (): Promise<readonly string[]> =>
    fixture.run((pods) => pods.indexer.list().map(({ metadata }) => metadata.uid), { ms: 5_000 });
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
  await fixture.run();
  fixture.asked;
  for (const status of [403, 429, 503]) {
    fixture.server.failNext({ code: status, retryAfterSeconds: 10 });
    await fixture.run();
    assertEquals([fixture.asked, fixture.errors], [["ask for b at 3", "watch from 3"], []]);
  }
});

Deno.test("SharedInformerFactory resumes from the snapshot of a kind whose objects expire in their order, or are renamed", async () => {
  await using fixture = new SnapshotsFixture();
  for (let i = 0; i < 20; i++) fixture.server.create(Pod, pod({ name: `c${i}` }));
  const renamed = (pod: Pod): Pod => ({ ...pod, metadata: { ...pod.metadata, name: `renamed-${pod.metadata.name}` } });
  await fixture.run();
  for (const name of ["a", "b", "c0", "c1", "c2"]) fixture.server.delete(Pod, `default/${name}`);
  fixture.asked;
  await fixture.run();
  assertEquals([fixture.asked, fixture.errors], [["ask for c19 at 23", "watch from 23"], []]);

  fixture.server.delete(Pod, "default/c19");
  await fixture.run();
  fixture.store.take();
  const { asked } = fixture;
  assertEquals([asked[0], asked.at(-1), fixture.errors], ["ask for c19 at 28", "watch from 28", []]);

  await fixture.run(undefined, { transform: renamed }); // a snapshot of another form is refused
  fixture.errors.splice(0);
  fixture.asked;
  await fixture.run(undefined, { transform: renamed });
  assertEquals([fixture.asked, fixture.errors], [["ask for c18 at 29", "watch from 29"], []]);
});

Deno.test("SharedInformerFactory lists where its store fails or does not answer, and reports the reason", async () => {
  for (
    const [get, reason] of [
      [() => Promise.reject(new Error("the disk is gone")), /listed instead: the disk is gone$/],
      [() => new Promise<undefined>(() => {}), /was not read within 10 s$/],
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
  await using informers = fixture.factory({ intervalMs: 60_000 });
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
  const informers = fixture.factory({ store, intervalMs: 60_000 });
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
  await fixture.run(undefined, { ms: 60_000 });
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
    using _secrets = informers.acquire(Secret, { secretData: "keep" });
    using _pods = informers.acquire(Pod, { namespaces: ["shop", "cart"], labelSelector: "app=web" });
    await fixture.tick();
  }
  const name = "pods/v1?namespaces=cart%2Cshop&labelSelector=app%3Dweb";
  assertEquals(fixture.store.take(), [`get ${name}`, `set ${name} kept`]);
  {
    await using informers = fixture.factory({ secretData: "keep" });
    using _secrets = informers.acquire(Secret, { secretData: "keep" });
    using _without = informers.acquire(Secret);
    await fixture.tick();
  }
  assertEquals(fixture.store.take(), [
    ...["get secrets/v1?secretData=keep", "get secrets/v1"],
    ...["set secrets/v1?secretData=keep kept", "set secrets/v1 kept"],
  ]);
  assertThrows(() => fixture.factory({ intervalMs: 0 }), RangeError, "intervalMs");
});

Deno.test("MemorySnapshots refuses a snapshot that is too large, with a hint, and keeps the one before", async () => {
  const store = new MemorySnapshots({ maxBytes: 4 });
  await store.set("pods/v1", stored("1234"));
  const error = await store.set("pods/v1", stored("12345")).catch(String);
  assertEquals(
    error,
    'RangeError: Cannot write the snapshot "pods/v1": it has more than 4 bytes. Cache fewer fields (option "fields"), ' +
      "cache only metadata (onlyMetadata), or raise maxBytes",
  );
  assertEquals(await new Response(ReadableStream.from(await store.get("pods/v1") ?? [])).text(), "1234");
});

/** A fixture whose namespaces have a pod each. */
function fixtureOf(options: SharedInformerFactoryOptions = {}, server: FakeApiServerOptions = {}): FactoryFixture {
  const fixture = new FactoryFixture(options, server);
  for (const namespace of ["a", "b", "c"]) fixture.server.create(Pod, pod({ namespace, name: "x" }));
  return fixture;
}

Deno.test("SharedInformerFactory's informer of several namespaces equals the server in these, and requests no others", async () => {
  await using fixture = fixtureOf({ namespaces: ["b", "a", "b"] });
  const { informers, server } = fixture;
  const pods = informers.forResource(Pod);
  informers.start();
  const waiting = informers.waitForCacheSync();
  await fixture.tick();
  await waiting;
  assertEquals([...pods.indexer.keys()].sort(), ["a/x", "b/x"]);
  assertEquals(server.requests.map(({ path }) => path).sort(), [
    "/api/v1/namespaces/a/pods",
    "/api/v1/namespaces/b/pods",
  ]);
  assertEquals(pods.status().namespaces?.map(({ namespace, state }) => `${namespace} ${state}`), ["b live", "a live"]);
  const { metadata } = server.create(Pod, pod({ namespace: "a", name: "y" }));
  const written = pods.waitForVersion(metadata.resourceVersion, { namespace: "a" });
  server.delete(Pod, "b/x");
  server.create(Pod, pod({ namespace: "c", name: "y" }));
  await fixture.tick();
  await written;
  assertEquals([...pods.indexer.keys()].sort(), ["a/x", "a/y"]);
  assertEquals(pods.lister.namespace("a").list().length, 2);
});

Deno.test("SharedInformerFactory's informer that is forbidden one namespace has the others", async () => {
  let mayAll = false;
  await using fixture = fixtureOf({ namespaces: ["a", "b"] }, {
    authorize: ({ namespace }) => mayAll ? true : namespace === "a",
  });
  const { informers } = fixture;
  const pods = informers.forResource(Pod);
  informers.start();
  const waiting = assertRejects(() => informers.waitForCacheSync(), WaitError);
  await fixture.tick();
  const { message, cause } = await waiting;
  assertEquals(message, 'Cannot wait for "pods" in namespace "b" to sync: its state has been "forbidden" for 0.0 s');
  assert(isForbidden(cause));
  assertEquals([pods.hasSynced, [...pods.indexer.keys()], pods.status().state], [false, ["a/x"], "forbidden"]);
  assertEquals(pods.status().namespaces?.map(({ state }) => state), ["live", "forbidden"]);
  mayAll = true;
  await fixture.tick(10_000);
  assertEquals([pods.hasSynced, [...pods.indexer.keys()], pods.status().state], [true, ["a/x", "b/x"], "live"]);
});

Deno.test("SharedInformerFactory makes one informer per set of namespaces, in any order", async () => {
  await using fixture = fixtureOf({ namespaces: ["a", "b"] });
  const { informers } = fixture;
  const pods = informers.forResource(Pod);
  for (const namespaces of [["a", "b"], ["b", "a", "a"]]) {
    assertStrictEquals(informers.forResource(Pod, { namespaces }), pods);
  }
  const a = informers.forResource(Pod, { namespace: "a" });
  assertStrictEquals(informers.forResource(Pod, { namespaces: ["a"] }), a);
  const others = [
    a,
    informers.forResource(Pod, { namespaces: ["a", "c"] }),
    informers.forResource(Pod, { namespace: "" }),
  ];
  for (const other of others) assertNotStrictEquals(other, pods);
  assertEquals(new Set(others).size, 3);
  informers.start();
  await fixture.tick();
  assertEquals(fixture.server.watches, 2 + 1 + 2 + 1);
});

Deno.test("SharedInformerFactory requests a cluster-scoped resource once, whatever namespaces are selected", async () => {
  await using fixture = fixtureOf({ namespaces: ["a", "b"] });
  const { informers, server } = fixture;
  server.create(Node, node({ name: "worker-1" }));
  const nodes = informers.forResource(Node);
  assertStrictEquals(informers.forResource(Node, { namespace: "a" }), nodes);
  informers.forResource(Namespace, { namespaces: ["c", "d"] });
  informers.start();
  await fixture.tick();
  assertEquals([[...nodes.indexer.keys()], server.watches], [["worker-1"], 2]);
});

Deno.test("SharedInformerFactory refuses invalid namespaces before any request", async () => {
  await using fixture = fixtureOf({ namespace: "a" });
  const { informers, client } = fixture;
  for (const namespaces of [[], [""]]) {
    assertThrows(() => new SharedInformerFactory(client, { namespaces }), TypeError, "Cannot select namespaces");
    assertThrows(() => informers.forResource(Pod, { namespaces }), TypeError, "Cannot select namespaces");
    assertThrows(() => informers.forResource(Node, { namespaces }), TypeError, "Cannot select namespaces");
  }
  const both = { namespace: "a", namespaces: ["b"] };
  assertThrows(() => new SharedInformerFactory(client, both), TypeError, "cannot be combined. Remove one of them");
  assertThrows(() => informers.forResource(Pod, both), TypeError, "cannot be combined. Remove one of them");
  assertThrows(() => informers.acquire(Pod, both), TypeError, "cannot be combined. Remove one of them");
  for (const where of [{ namespace: "a/b" }, { namespaces: ["a", ".."] }]) {
    assertThrows(() => informers.forResource(Pod, where), TypeError, "as namespace");
  }
  // What is given instead of the factory's is no contradiction.
  informers.forResource(Pod, { namespaces: ["b", "c"] });
});

Deno.test("SharedInformerFactory treats an option that is set to its default like an absent one", async () => {
  const same: CacheOptions[] = [
    { managedFields: "drop", parse: "lazy", freeze: true, resyncMs: 0, graceMs: 10_000 },
    { reflector: { backoff: { jitter: 0 } } }, // equal, not the same
    { reflector: { backoff: { jitter: 0, maxMs: undefined } } },
  ];
  for (const first of [{}, ...same]) {
    await using fixture = fixtureOf();
    const { informers } = fixture;
    const pods = informers.forResource(Pod, first);
    for (const later of [{}, ...same]) assertStrictEquals(informers.forResource(Pod, later), pods);
    for (
      const [name, other] of Object.entries({
        managedFields: "keep",
        resyncMs: 1,
        reflector: { backoff: { jitter: 0 }, pageSize: 1 },
        transform: (pod: Pod) => pod,
      })
    ) assertThrows(() => informers.forResource(Pod, { [name]: other }), Error, `option "${name}"`);
  }
  // The factory's own default is not the library's.
  await using fixture = fixtureOf({ managedFields: "keep" });
  fixture.informers.forResource(Pod);
  fixture.informers.forResource(Pod, { managedFields: "keep" });
  assertThrows(() => fixture.informers.forResource(Pod, { managedFields: "drop" }), Error, 'option "managedFields"');
});

Deno.test("statusChanges() of many namespaces yields one status for all that change in a turn", async () => {
  await using fixture = new FactoryFixture({ reflector: { reconnectMs: 0 } });
  const namespaces = Array.from({ length: 30 }, (_, i) => `n${i}`);
  const pods = fixture.informers.forResource(Pod, { namespaces });
  await fixture.start();
  let statuses = 0;
  let state = "";
  const reading = (async () => {
    for await (const status of pods.statusChanges()) {
      statuses++;
      state = status.state;
    }
  })();
  await fixture.tick();
  statuses = 0;
  // The watches open one after the other in a turn, so that a reader could take a status for each.
  let opened = 0;
  fixture.server.beforeNext(async () => {
    for (let left = 50 * opened++; left > 0; left--) await Promise.resolve();
  }, namespaces.length);
  fixture.server.endWatches();
  await fixture.tick(1_000);
  assertEquals(state, "live");
  assert(statuses > 0 && statuses <= 4, `${statuses} statuses`);
  await Promise.all([fixture.informers.shutdown(), fixture.tick()]);
  await reading;
  assertEquals(state, "stopped");
});
