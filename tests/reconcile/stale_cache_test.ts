import { assert, assertEquals } from "@std/assert";
import type { Transport } from "../../src/api/lister_watcher.ts";
import { SharedInformerFactory } from "../../src/informer/shared_informer_factory.ts";
import { ConfigMap, Namespace, Pod, Secret } from "../../src/kinds/core/v1.ts";
import type { InformerSelection } from "../../src/reconcile/options.ts";
import { pod } from "../../src/testing/objects.ts";
import { generationChanged, labelsChanged } from "../../src/reconcile/predicate.ts";
import type { FakeApiServer } from "../../src/testing/fake_api_server.ts";
import { requeueAfter, retry } from "../../src/workqueue/run.ts";
import { Session } from "./_session.ts";

Deno.test("a reconcile never sees a cache without its own writes, whatever the delay of watches [F16]", {
  timeout: 600_000,
}, async () => {
  const random = randomOf(14);
  await using session = new Session((server) =>
    delayed(server, () => random() < 0.8 ? random() * 50 : random() * 1000)
  );
  const names = Array.from({ length: 100 }, (_, index) => `map-${index}`);
  session.create(...names);
  /**
   * The writes of each key: the version of its map, and the pods (names by uid) that it has created and
   * not deleted.
   */
  const written = new Map(
    names.map((name) => [`default/${name}`, { version: "", uid: "", pods: new Map<string, string>() }]),
  );
  let rounds = 0;
  let held = 0;
  const maps = session.reconciler(async (key, { object, client }) => {
    held = Math.max(held, maps.status().waitingForCaches);
    const mine = written.get(key)!;
    if (++rounds > 3_000) return;
    // The cache has exactly what was written.
    if (mine.version !== "") assertEquals(object?.metadata.resourceVersion, mine.version);
    const cached = pods.entries.byIndex("of", key).map(({ uid }) => uid);
    assertEquals(cached.sort(), [...mine.pods.keys()].sort());

    const choice = random();
    const podClient = client.resource(Pod, { namespace: "default" });
    if (choice < 0.3 || mine.pods.size === 0) {
      const draft = { ...pod({ name: "x" }), metadata: { generateName: "x-", labels: { of: key.slice(8) } } };
      const { metadata } = await podClient.create(draft);
      mine.pods.set(metadata.uid, metadata.name);
    } else if (choice < 0.6) {
      const [[uid, name]] = mine.pods;
      await podClient.delete(name, { gracePeriodSeconds: 0 });
      mine.pods.delete(uid);
    } else if (choice < 0.95) {
      const patch = { type: "merge", body: { data: { round: String(rounds) } } } as const;
      const { metadata } = await client.resource(ConfigMap, { namespace: "default" }).patch(key.slice(8), patch);
      mine.version = metadata.resourceVersion;
    } else {
      // Created and deleted in one round: the cache must not show it later.
      const draft = {
        ...pod({ name: "y" }),
        metadata: { name: `y-${key.slice(8)}`, labels: { of: key.slice(8) } },
      };
      await podClient.create(draft);
      await podClient.delete(draft.metadata.name, { gracePeriodSeconds: 0 });
    }
    return random() < 0.5 ? requeueAfter(0) : retry();
  }, { concurrency: 20, rateLimiter: { when: () => 0, forget: () => {}, retries: () => 0 } });
  const pods = maps.informers.forResource(Pod, {
    indexers: { of: ({ metadata }) => [`default/${metadata.labels?.of}`] },
  });
  maps.watches(Pod, () => []);
  await session.start(maps);
  while (rounds < 3_000) await session.time.tickAsync(500);
  await session.pass(1000);
  assertEquals([session.errors.slice(0, 3), maps.status().stale], [[], 0]);
  assert(held > 5, `at most ${held} keys waited for caches`); // or the test shows nothing
});

Deno.test("a key whose writes no cache sees in time is reconciled all the same, and that is reported", async () => {
  await using session = new Session();
  session.create("a");
  const seen: unknown[] = [];
  const maps = session.reconciler(async (_key, { causes, client, object }) => {
    seen.push(causes.map(({ type }) => type), object?.data?.round);
    if (seen.length > 2) return;
    session.server.stallWatches(ConfigMap);
    await client.resource(ConfigMap, { namespace: "default" }).patch("a", {
      type: "merge",
      body: { data: { round: "1" } },
    });
    return requeueAfter(10);
  }, { staleMs: 5000 });
  await session.start(maps, 10);
  maps.enqueue("default/a");
  await session.pass(4990);
  assertEquals([seen, maps.status().waitingForCaches, maps.status().stale], [[["event"], undefined], 1, 0]);
  await session.pass(10);
  assertEquals(seen.slice(2), [["requeue", "external", "stale"], undefined]);
  assertEquals([maps.status().waitingForCaches, maps.status().stale], [0, 1]);
  assertEquals(session.errors.length, 1);
  assert(
    /^default\/a: Reconciling "default\/a" on a stale cache: .* have not seen configmaps "default\/a" at version \d+ within 5000 ms$/
      .test(session.errors[0]),
    session.errors[0],
  );
});

Deno.test("a key waits for the deletion of an object until it is gone or another one has its name", async () => {
  await using session = new Session();
  const { server } = session;
  session.create("a");
  server.create(Pod, pod({ name: "x" }));
  const seen: (string | undefined)[] = [];
  let stall: Disposable | undefined;
  const maps = session.reconciler(async (_key, { client }) => {
    seen.push(pods.lister.get("default/x")?.metadata.uid);
    if (seen.length > 1) return;
    stall = server.stallWatches(Pod);
    await client.resource(Pod, { namespace: "default" }).delete("x", { gracePeriodSeconds: 0 });
    return requeueAfter(1);
  }).watches(Pod, () => []);
  const pods = maps.informers.forResource(Pod);
  await session.start(maps, 100);
  server.create(Pod, pod({ name: "x" }));
  await session.pass(100);
  assertEquals([seen.length, maps.status().waitingForCaches], [1, 1]);
  stall![Symbol.dispose]();
  await session.pass(100);
  assertEquals(seen[1], server.get(Pod, "default/x")!.metadata.uid);
  assertEquals(maps.status().stale, 0);
});

const spec = { containers: [{ name: "main", image: "web" }] };

for (
  const [what, selections] of Object.entries<readonly InformerSelection<Pod>[]>({
    "a namespace": [{ namespace: "shop" }],
    "a label selector": [{ labelSelector: "app=web" }],
    "a field selector": [{ fieldSelector: "spec.nodeName=worker-1" }],
    "the name of another object": [{ namespace: "default", fieldSelector: "metadata.name=settings" }],
    "another part than that of a second informer": [{ labelSelector: "part=a" }, { labelSelector: "part=b" }],
  })
) {
  Deno.test(`a key does not wait for a write that an informer of ${what} will not show, and is done with it`, async () => {
    await using session = new Session();
    const { server } = session;
    session.create("a");
    server.create(Pod, pod({ name: "settings", namespace: "shop", labels: { app: "web" } }));
    let calls = 0;
    const maps = session.reconciler(async (_key, { client }) => {
      calls++;
      await client.resource(Pod, { namespace: "default" }).apply(
        { metadata: { name: "own", labels: { part: "a" } }, spec },
        { fieldManager: "test", force: true },
      );
    });
    for (const informer of selections) maps.watches(Pod, () => ["default/a"], { informer });
    await session.start(maps, 100);
    const settled = calls;
    server.annotate(ConfigMap, "default/a", { n: "1" });
    await session.pass(100);
    assertEquals([calls > settled, maps.status().waitingForCaches], [true, 0]);
    // Something brings every cache past the version of the write.
    await session.pass(60_000);
    server.bookmark(Pod);
    await session.pass(60_000);
    assertEquals([calls <= settled + 2, maps.status().causes.superseded, session.errors], [true, undefined, []]);
  });
}

Deno.test("a key does not wait until a Namespace that it has deleted is gone, but until it is terminating", async () => {
  await using session = new Session((server) => ({
    // The answer of a real server: the Namespace is kept by its spec, not by its metadata.
    fetch: async (request) => {
      const response = await server.fetch(request);
      if (request.method !== "DELETE") return response;
      const { metadata: { finalizers: _, ...metadata }, ...rest } = await response.json();
      return Response.json({ ...rest, metadata, spec: { finalizers: ["kubernetes"] } });
    },
  }));
  session.create("a");
  session.server.create(Namespace, { metadata: { name: "team", finalizers: ["acme.dev/content"] } });
  let calls = 0;
  const maps = session.reconciler(async (_key, { client }) => {
    if (++calls === 1) await client.resource(Namespace).delete("team");
  }).watches(Namespace, () => []);
  await session.start(maps, 100);
  session.server.annotate(ConfigMap, "default/a", { n: "1" });
  await session.pass(100);
  assertEquals([calls, maps.status().waitingForCaches, session.errors], [2, 0, []]);
});

Deno.test("a key does not wait until objects of a deleted collection are gone that finalizers keep", async () => {
  await using session = new Session();
  session.create("a");
  for (const name of ["x", "y"]) session.server.create(Pod, pod({ name, finalizers: ["acme.dev/drain"] }));
  const seen: number[] = [];
  let stall: Disposable | undefined;
  const maps = session.reconciler(async (_key, { client }) => {
    seen.push(pods.lister.list().filter(({ metadata }) => metadata.deletionTimestamp === undefined).length);
    if (seen.length > 1) return;
    stall = session.server.stallWatches(Pod);
    await client.resource(Pod, { namespace: "default" }).deleteCollection();
    return requeueAfter(1);
  }).watches(Pod, () => []);
  const pods = maps.informers.forResource(Pod);
  await session.start(maps, 100);
  assertEquals([seen, maps.status().waitingForCaches], [[2], 1]);
  stall![Symbol.dispose]();
  await session.pass(100);
  assertEquals([seen, maps.status().stale], [[2, 0], 0]);
});

Deno.test("a key waits for the namespace of its write alone, in an informer of several", async () => {
  using session = new Session();
  const { server, client } = session;
  for (const namespace of ["a", "b"]) server.create(ConfigMap, { metadata: { name: "app", namespace } });
  await using informers = new SharedInformerFactory(client, { namespaces: ["a", "b"] });
  let calls = 0;
  let late: Disposable | undefined;
  const maps = session.reconciler(async (key, { client }) => {
    if (key !== "a/app" || ++calls > 1) return;
    late = server.stallWatches(Secret);
    const secrets = client.resource(Secret, { namespace: "a" });
    await secrets.create({ metadata: { name: "lock" } });
    await secrets.delete("lock");
    return requeueAfter(1);
  }, { informers }).watches(Secret, () => []);
  const running = maps.run();
  await session.pass(100);
  assertEquals([calls, maps.status().waitingForCaches], [1, 1]);
  late![Symbol.dispose]();
  await session.pass(100);
  assertEquals([calls, maps.status().stale, session.errors], [2, 0, []]);
  await maps[Symbol.asyncDispose]();
  await running;
});

Deno.test("a key waits for objects that it has deleted as a collection", async () => {
  await using session = new Session();
  session.create("a");
  for (const name of ["x", "y"]) session.server.create(Pod, pod({ name }));
  const seen: number[] = [];
  let stall: Disposable | undefined;
  const maps = session.reconciler(async (_key, { client }) => {
    seen.push(pods.indexer.size);
    if (seen.length > 1) return;
    stall = session.server.stallWatches(Pod);
    await client.resource(Pod, { namespace: "default" }).deleteCollection({ gracePeriodSeconds: 0 });
    return requeueAfter(1);
  }).watches(Pod, () => []);
  const pods = maps.informers.forResource(Pod);
  await session.start(maps, 100);
  assertEquals([seen, maps.status().waitingForCaches], [[2], 1]);
  stall![Symbol.dispose]();
  await session.pass(100);
  assertEquals(seen, [2, 0]);
});

for (
  const [name, undo] of [
    ["undone", (server: FakeApiServer) => server.patch(Pod, "default/x", { metadata: { labels: { of: null } } })],
    ["undone by a deletion", (server: FakeApiServer) => server.delete(Pod, "default/x")],
  ] as const
) {
  Deno.test(`a key is reconciled again when its write was ${name} before any cache saw it`, async () => {
    await using session = new Session();
    const { server } = session;
    session.create("a");
    if (name === "undone") server.create(Pod, pod({ name: "x" }));
    const seen: (string | undefined)[] = [];
    const maps = session.reconciler(async (_key, { causes, client }) => {
      seen.push(causes[0].type);
      const pods = client.resource(Pod, { namespace: "default" });
      if (seen.length > 1) return;
      using _stall = server.stallWatches(Pod);
      if (name === "undone") await pods.patch("x", { type: "merge", body: { metadata: { labels: { of: "a" } } } });
      else await pods.create({ ...pod({ name: "x" }), metadata: { name: "x" } });
      undo(server);
      server.dropWatches(Pod);
      server.compact();
    }).watches(Pod, () => ["default/a"], { when: [({ type }) => type === "deleted", labelsChanged] });
    await session.start(maps, 0);
    assertEquals(seen.length, 1);
    await session.pass(3_000);
    assertEquals([seen.slice(1), session.errors], [["superseded"], []]);
  });
}

Deno.test("a write that its caches show as it was made leads to no further reconcile", async () => {
  await using session = new Session();
  session.create("a");
  session.server.create(Pod, pod({ name: "x" }));
  let calls = 0;
  const maps = session.reconciler(async (_key, { client }) => {
    calls++;
    const body = { metadata: { labels: { of: "a" } } };
    await client.resource(Pod, { namespace: "default" }).patch("x", { type: "merge", body });
  }).watches(Pod, () => ["default/a"], { when: generationChanged });
  await session.start(maps, 60_000);
  const before = calls;
  session.server.annotate(Pod, "default/x", { by: "somebody" });
  await session.pass(60_000);
  assertEquals([before, calls], [1, 1]);
});

/** A server each of whose watches delivers chunks after delays, in order. */
function delayed(server: Transport, delayMs: () => number): Transport {
  return {
    fetch: async (request) => {
      const response = await server.fetch(request);
      if (!new URL(request.url).searchParams.has("watch") || response.body === null) return response;
      const reader = response.body.getReader();
      let dueMs = 0;
      let isOver = false;
      const body = new ReadableStream<Uint8Array>({
        start: (controller): void => {
          const read = async (): Promise<void> => {
            for (;;) {
              const { done, value } = await reader.read();
              if (done) return;
              // In steps, so that fake time makes fewer of them.
              dueMs = Math.max(dueMs, Math.ceil((performance.now() + delayMs()) / 25) * 25);
              setTimeout(() => isOver || controller.enqueue(value), dueMs - performance.now());
            }
          };
          read().catch((error) => isOver || controller.error(error));
        },
        cancel: (reason) => {
          isOver = true;
          return reader.cancel(reason);
        },
      });
      return new Response(body, response);
    },
  };
}

/** Random numbers from 0 to 1 by a seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
