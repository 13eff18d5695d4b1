import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Transport } from "../../../../src/engine/api/lister_watcher.ts";
import type { KubernetesObject } from "../../../../src/engine/api/object.ts";
import { sleep } from "../../../../src/engine/async/time.ts";
import { writeStatus } from "../../../../src/operator/controllers/reconcile/objects.ts";
import type {
  InformerSelection,
  ReconcileContext,
  ReconcilerOptions,
} from "../../../../src/operator/controllers/reconcile/options.ts";
import { OwnCalls } from "../../../../src/operator/controllers/reconcile/own_calls.ts";
import { controllerOf, withController } from "../../../../src/operator/controllers/reconcile/owners.ts";
import { generationChanged, labelsChanged } from "../../../../src/operator/controllers/reconcile/predicates.ts";
import { Reconciler } from "../../../../src/operator/controllers/reconcile/reconciler.ts";
import { isWatched } from "../../../../src/engine/informer/events/event.ts";
import { SharedIndexInformer } from "../../../../src/engine/informer/shared_index_informer.ts";
import { SharedInformerFactory } from "../../../../src/engine/informer/shared_informer_factory.ts";
import { ConfigMap, Namespace, Pod, Secret } from "../../../../src/engine/kinds/core/v1.ts";
import type { FakeApiServer } from "../../../../src/testing/fake/fake_api_server.ts";
import { pod } from "../../../../src/testing/fake/objects.ts";
import { requeueAfter, retry } from "../../../../src/engine/workqueue/work_item.ts";
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
  const maps = session.reconciler(async ({ key, object, client }) => {
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
  const maps = session.reconciler(async ({ triggers, client, object }) => {
    seen.push(triggers.map(({ type }) => type), object?.data?.round);
    if (seen.length > 2) return;
    session.server.stallWatches(ConfigMap);
    await client.resource(ConfigMap, { namespace: "default" }).patch("a", {
      type: "merge",
      body: { data: { round: "1" } },
    });
    return requeueAfter(10);
  }, { readYourWritesTimeoutMs: 5000 });
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

/** Ways in which the answer of a creation that has taken effect is lost. */
const LOSSES: Record<string, (signal: AbortSignal) => Response | Promise<Response>> = {
  reset: () => Promise.reject(new TypeError("connection reset")),
  late: (signal) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
  ...Object.fromEntries([500, 503, 504].map((status) => [`${status}`, () => new Response("", { status })])),
};

/** Runs a reconciler that makes a pod for each map that its cache shows none of; the first answers are `lost`. */
async function lost(
  names: readonly string[],
  loss: (signal: AbortSignal) => Response | Promise<Response>,
  act: (session: Session, maps: Reconciler<ConfigMap>, late: Disposable) => Promise<void>,
): Promise<void> {
  let losses = names.length;
  await using session = new Session((server) => ({
    fetch: async (request) => {
      const response = await server.fetch(request);
      if (request.method !== "POST" || losses-- <= 0) return response;
      await response.body?.cancel();
      return await loss(request.signal);
    },
  }));
  const maps = session.reconciler(async ({ object, client, cache }) => {
    if (cache(Pod).list().some((it) => controllerOf(it)?.uid === object!.metadata.uid)) return;
    const { spec } = pod({ name: "x" });
    const draft = withController({ metadata: { generateName: "job-" }, spec }, object!);
    await client.resource(Pod, { namespace: "default" }).create(draft);
  }, { concurrency: 10, timeoutMs: 500, readYourWritesTimeoutMs: 5_000 }).owns(Pod);
  await session.start(maps);
  using late = session.server.stallWatches(Pod);
  session.create(...names);
  await act(session, maps, late);
}

/** The number of lists of pods so far. */
function listsOf({ server }: Session): number {
  return server.requests.filter(({ verb, path }) => verb === "list" && path.startsWith("/api/v1/pods")).length;
}

for (const [name, loss] of Object.entries(LOSSES)) {
  Deno.test(`a creation whose answer is lost (${name}) is not made again while its event is late`, async () => {
    await lost(["a"], loss, async (session, maps, late) => {
      await session.pass(2_000);
      assertEquals([session.server.keys(Pod).length, maps.status().waitingForCaches], [1, 1]);
      late[Symbol.dispose]();
      await session.pass(10_000);
      assertEquals([session.server.keys(Pod).length, maps.status().stale], [1, 0]);
    });
  });
}

Deno.test("keys whose writes were not answered wait for one list, and are called when the caches have caught up", async () => {
  const names = Array.from({ length: 10 }, (_, n) => `m${n}`);
  await lost(names, LOSSES.reset, async (session, maps, late) => {
    const before = listsOf(session);
    await session.pass(2_000);
    assertEquals([listsOf(session) - before, maps.status().waitingForCaches], [1, 10]);
    late[Symbol.dispose]();
    await session.pass(10);
    assertEquals([session.server.keys(Pod).length, maps.status().waitingForCaches, maps.status().stale], [10, 0, 0]);
    await session.pass(10_000);
    assertEquals([listsOf(session) - before, session.errors.length], [1, 10]);
  });
});

Deno.test("a key whose write was not answered waits no longer than readYourWritesTimeoutMs, and not after a refusal", async () => {
  await lost(["a"], LOSSES.reset, async (session, maps) => {
    await session.pass(5_100);
    assertEquals([session.server.keys(Pod).length, maps.status().stale], [2, 1]);
    assertMatch(session.errors[1], /have not seen pods after a write without a response within 5000 ms$/);
  });
  await lost(["a"], () => new Response("", { status: 429 }), async (session) => {
    const before = listsOf(session);
    await session.pass(10);
    assertEquals([session.server.keys(Pod).length, listsOf(session)], [2, before]);
  });
});

Deno.test("a key waits for no list after a read or a dry run that was not answered", async () => {
  await using session = new Session();
  session.create("a");
  const maps = session.reconciler(async ({ client }) => {
    const pods = client.resource(Pod, { namespace: "default" });
    session.server.failNext(500, 10, ({ verb }) => verb === "get");
    const { spec } = pod({ name: "x" });
    await pods.get("x").catch(() => {});
    session.server.failNext(500, 1, ({ verb }) => verb === "create");
    await pods.create({ metadata: { name: "x" }, spec }, { dryRun: true }).catch(() => {});
  }).watches(Pod, () => []);
  await session.start(maps, 60_000);
  assertEquals([listsOf(session), session.errors, maps.status().outcomes.succeeded], [0, [], 1]);
});

Deno.test("a key waits for the deletion of an object until it is gone or another one has its name", async () => {
  await using session = new Session();
  const { server } = session;
  session.create("a");
  server.create(Pod, pod({ name: "x" }));
  const seen: (string | undefined)[] = [];
  let stall: Disposable | undefined;
  const maps = session.reconciler(async ({ client }) => {
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
    const maps = session.reconciler(async ({ client }) => {
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
    assertEquals([calls <= settled + 2, maps.status().triggers.superseded, session.errors], [true, undefined, []]);
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
  const maps = session.reconciler(async ({ client }) => {
    if (++calls === 1) await client.resource(Namespace).delete("team");
  }).watches(Namespace, () => []);
  await session.start(maps, 100);
  session.server.annotate(ConfigMap, "default/a", { n: "1" });
  await session.pass(100);
  assertEquals([calls, maps.status().waitingForCaches, session.errors], [2, 0, []]);
});

Deno.test("a key waits for the namespace of its write alone, in an informer of several", async () => {
  using session = new Session();
  const { server, client } = session;
  for (const namespace of ["a", "b"]) server.create(ConfigMap, { metadata: { name: "app", namespace } });
  await using informers = new SharedInformerFactory(client, { namespaces: ["a", "b"] });
  let calls = 0;
  let late: Disposable | undefined;
  const maps = session.reconciler(async ({ key, client }) => {
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

for (
  const [name, finalizers, options] of [
    ["waits for objects that it has deleted as a collection", undefined, { gracePeriodSeconds: 0 }],
    ["does not wait until objects of a deleted collection are gone that finalizers keep", ["acme.dev/drain"], {}],
  ] as const
) {
  Deno.test(`a key ${name}`, async () => {
    await using session = new Session();
    session.create("a");
    for (const name of ["x", "y"]) session.server.create(Pod, pod({ name, finalizers }));
    const seen: number[] = [];
    let stall: Disposable | undefined;
    const maps = session.reconciler(async ({ client }) => {
      seen.push(pods.lister.list().filter(({ metadata }) => metadata.deletionTimestamp === undefined).length);
      if (seen.length > 1) return;
      stall = session.server.stallWatches(Pod);
      await client.resource(Pod, { namespace: "default" }).deleteCollection(options);
      return requeueAfter(1);
    }).watches(Pod, () => []);
    const pods = maps.informers.forResource(Pod);
    await session.start(maps, 100);
    assertEquals([seen, maps.status().waitingForCaches], [[2], 1]);
    stall![Symbol.dispose]();
    await session.pass(100);
    assertEquals([seen, maps.status().stale, pods.indexer.size], [[2, 0], 0, finalizers === undefined ? 0 : 2]);
  });
}

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
    const maps = session.reconciler(async ({ triggers, client }) => {
      seen.push(triggers[0].type);
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
  const maps = session.reconciler(async ({ client }) => {
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

const IN = { namespace: "default" };
const FAILED = { type: "merge", body: { status: { phase: "Failed" } } } as const;

/** A reconciler of pods, and the triggers of its calls: `"updated"` of an event, else the type. */
function pods(
  { client }: Pick<Session, "client">,
  reconcile: (context: ReconcileContext<Pod>) => unknown,
  options: ReconcilerOptions<Pod> = {},
): { readonly pods: Reconciler<Pod>; readonly calls: string[] } {
  const calls: string[] = [];
  const reconciler = new Reconciler(client, Pod, async (context) => {
    calls.push(context.triggers.map(({ event, type }) => event ?? type).join("+"));
    await reconcile(context);
  }, options);
  return { pods: reconciler, calls };
}

/** The ways to write the status of the pod "x". */
const WRITES: Record<string, (context: ReconcileContext<Pod>) => Promise<unknown>> = {
  "writeStatus()": async ({ client, object }) =>
    await writeStatus(client.resource(Pod, IN), object!, { ...object!.status, phase: "Failed" }),
  "a merge patch": async ({ client }) => await client.resource(Pod, IN).patch("x", FAILED, { subresource: "status" }),
  "an update": async ({ client, object }) =>
    await client.resource(Pod, IN).update({ ...structuredClone(object!), status: { phase: "Failed" } } as never, {
      subresource: "status",
    }),
  "an apply": async ({ client }) =>
    await client.resource(Pod, IN).apply(
      { metadata: { name: "x" }, status: { phase: "Failed" } } as never,
      { fieldManager: "pods", force: true, subresource: "status" },
    ),
};

for (const [name, write] of Object.entries(WRITES)) {
  for (const when of ["after", "before", "300 ms after"]) {
    Deno.test(`a reconcile that writes its status by ${name} runs once, if the event comes ${when} the answer`, async () => {
      await using session = new Session((server) => ({
        fetch: async (request) => {
          const isWrite = request.method !== "GET";
          if (when === "300 ms after" && isWrite) {
            const late = server.stallWatches(Pod);
            setTimeout(() => late[Symbol.dispose](), 300);
          }
          const response = await server.fetch(request);
          if (when === "before" && isWrite) await sleep(100);
          return response;
        },
      }));
      session.server.create(Pod, pod({ name: "x" }));
      const { pods: reconciler, calls } = pods(session, write);
      await session.start(reconciler, 1_000);
      assertEquals(calls, ["added"]);
      assertEquals(session.server.get(Pod, "x")?.status?.phase, "Failed");
      // What somebody else does is a cause, and so is a later status that another one writes.
      session.server.annotate(Pod, "default/x", { by: "somebody" });
      await session.pass(1_000);
      session.server.patch(Pod, "default/x", { status: { phase: "Running" } });
      await session.pass(1_000);
      assertEquals(calls, ["added", "updated", "updated"]);
    });
  }
}

Deno.test("events of own status are triggers where that is asked for", async () => {
  await using session = new Session();
  session.server.create(Pod, pod({ name: "x" }));
  const { pods: reconciler, calls } = pods(session, WRITES["a merge patch"], { ownWrites: "trigger" });
  await session.start(reconciler, 1_000);
  assertEquals(calls, ["added", "updated"]);
});

Deno.test("events of writes beside the status are triggers, and none where that is asked for", async () => {
  for (const ownWrites of [undefined, "ignore"] as const) {
    await using session = new Session();
    session.server.create(Pod, pod({ name: "x" }));
    let isFirst = true;
    const { pods: reconciler, calls } = pods(session, async ({ client, object }) => {
      if (!isFirst) return;
      isFirst = false;
      const maps = client.resource(ConfigMap, IN);
      await maps.create({ metadata: { name: "x" }, data: { n: "1" } });
      await maps.apply({ metadata: { name: "y" }, data: { n: "1" } }, { fieldManager: "pods" });
      await maps.apply({ metadata: { name: "y" }, data: { n: "2" } }, { fieldManager: "pods" });
      await maps.patch("x", { type: "strategic", body: { data: { n: "2" }, metadata: { labels: { a: "b" } } } });
      const own = structuredClone(object!);
      Object.assign(own.metadata, { labels: { a: "b" } });
      await client.resource(Pod, IN).update(own as never);
    }, { ownWrites });
    reconciler.watches(ConfigMap, ({ key }) => [key, "default/x"], { ownWrites });
    await session.start(reconciler, 1_000);
    // The key of the other map has written nothing: it is reconciled, and so is "x" without the option.
    const others = calls.filter((it) => it === "added" || it === "added+updated").length;
    if (ownWrites === undefined) assert(calls.length > others, `${calls}`);
    else assertEquals(calls, ["added", "added+updated"]);
  }
});

Deno.test("a change by somebody else is a trigger though an own write was answered with its version", async () => {
  const foreign = { metadata: { annotations: { by: "somebody" } } };
  for (const change of [foreign, { status: { phase: "Failed", message: "evicted" } }]) {
    for (const type of ["merge", "apply"] as const) {
      await using session = new Session();
      const { server } = session;
      server.create(Pod, pod({ name: "x", phase: "Failed" }));
      const seen: unknown[] = [];
      const { pods: reconciler } = pods(session, async (context) => {
        const { object } = context;
        seen.push([object?.metadata.annotations?.by, object?.status?.message]);
        await WRITES[type === "merge" ? "a merge patch" : "an apply"](context);
        if (seen.length === 1) {
          server.patch(Pod, "default/x", change);
          // It changes nothing, and is answered with the version of the other change.
          const { metadata } = await context.client.resource(Pod, IN).patch("x", FAILED, { subresource: "status" });
          assertEquals(metadata.resourceVersion, server.get(Pod, "x")?.metadata.resourceVersion);
        }
      });
      await session.start(reconciler, 1_000);
      assertEquals(seen.at(-1), change === foreign ? ["somebody", undefined] : [undefined, "evicted"]);
    }
  }
});

Deno.test("a list that shows an own version may hide a change by somebody else, and is a trigger", async () => {
  await using session = new Session();
  const { server } = session;
  server.create(Pod, pod({ name: "x" }));
  const seen: unknown[] = [];
  const { pods: reconciler, calls } = pods(session, async (context) => {
    seen.push(context.object?.metadata.labels?.by);
    if (seen.length > 1) return;
    server.dropWatches();
    server.breakNext(1, ({ url }) => url.includes("watch="));
    server.patch(Pod, "default/x", { metadata: { labels: { by: "somebody" } } });
    server.patch(Pod, "default/x", { metadata: { labels: { by: null } } });
    await WRITES["a merge patch"](context);
    server.compact();
  });
  await session.start(reconciler, 100);
  await session.pass(60_000);
  assertEquals([calls, seen], [["added", "updated"], [undefined, undefined]]);
});

Deno.test("events of other writers during a call are triggers when it ends, at the time that debouncing gives", async () => {
  await using session = new Session();
  const { server } = session;
  server.create(Pod, pod({ name: "x" }));
  const starts: number[] = [];
  const { pods: reconciler, calls } = pods(session, async ({ client }) => {
    starts.push(Date.now());
    if (starts.length > 1) return;
    client.resource(Pod, IN);
    await sleep(20);
    for (let n = 0; n < 20; n++) server.annotate(Pod, "default/x", { n: `${n}` });
    await sleep(50);
    // So many are kept beside the call no longer: its key comes up again in any case.
    assertEquals(reconciler.status().queue.delayed, 1);
    await sleep(50);
  }, { debounceMs: 110 });
  await session.start(reconciler, 1_000);
  assertEquals(calls, ["added", "updated"]);
  assertEquals(starts[1] - starts[0], 130);
});

Deno.test("a call that is given up, or that has failed, loses no event that came during it", async () => {
  for (const fails of [true, false]) {
    await using session = new Session();
    const { server } = session;
    server.create(Pod, pod({ name: "x" }));
    let isFirst = true;
    const errors: unknown[] = [];
    const { pods: reconciler, calls } = pods(session, async ({ client, signal }) => {
      if (!isFirst) return;
      isFirst = false;
      client.resource(Pod, IN);
      await sleep(10);
      server.annotate(Pod, "default/x", { by: "somebody" });
      await sleep(10);
      if (fails) throw new Error("it fails");
      await sleep(60_000, { signal });
    }, { timeoutMs: 5_000, onError: (error) => errors.push(error) });
    await session.start(reconciler, 10_000);
    assertEquals(errors.length, 1);
    assertEquals(calls.join(" ").includes("updated"), true, `${calls}`);
  }
});

/** Plays a random history: an own status writer among others, with watches that lag, and lists. */
async function play(seed: number): Promise<{ readonly calls: number; readonly ownWrites: number }> {
  let state = seed;
  const random = (): number => (state = (state * 16807) % 2147483647) / 2147483647;
  await using session = new Session((server) => ({
    fetch: async (request) => {
      if (request.method !== "GET") await sleep(random() * 20);
      const response = await server.fetch(request);
      if (request.method !== "GET") await sleep(random() * 20);
      return response;
    },
  }));
  const { server } = session;
  server.create(Pod, pod({ name: "x" }));
  let writes = 0;
  /** The fields of others, as the last call has read them. */
  let read: unknown;
  const { pods: reconciler, calls } = pods(session, async ({ client, object }) => {
    read = foreignOf(object);
    const phase = random() < 0.5 ? "Failed" : "Succeeded";
    writes++;
    const body = { status: { phase } } as const;
    await client.resource(Pod, IN).patch("x", { type: "merge", body }, { subresource: "status" });
  });
  await session.start(reconciler, 1_000);
  for (let n = 0; n < 40; n++) {
    const choice = random();
    const reason = random() < 0.5 ? "A" : "B";
    if (choice < 0.3) server.patch(Pod, "default/x", { status: { reason } });
    else if (choice < 0.6) server.patch(Pod, "default/x", { metadata: { labels: { n: reason } } });
    else if (choice < 0.7) server.compact();
    else if (choice < 0.8) server.dropWatches();
    else if (choice < 0.85) server.forceRelist();
    await session.pass(random() < 0.7 ? random() * 30 : random() * 3_000);
  }
  await session.pass(100_000);
  assertEquals(read, foreignOf(server.get(Pod, "x")), `seed ${seed}`);
  assertEquals(reconciler.status().stale, 0);
  return { calls: calls.length, ownWrites: writes };
}

function foreignOf(object: KubernetesObject | undefined): unknown {
  const { metadata, status } = object as Pod;
  return [metadata.labels, status?.reason];
}

Deno.test("the last call has read every change by others, whatever the order of events, answers and lists", async () => {
  for (let seed = 1; seed <= 30; seed++) await play(seed);
});

Deno.test("the event of an own write is known by uid and version, once", async () => {
  await using session = new Session();
  session.server.create(Pod, pod({ name: "x" }));
  await using informer = new SharedIndexInformer(session.client.resource(Pod));
  const own = new OwnCalls(() => true);
  const ownWrites: boolean[] = [];
  informer.addEventHandler({
    onUpdate: (event) => {
      const { uid, resourceVersion, before } = event;
      const body = { metadata: { resourceVersion: before.resourceVersion } };
      const write = { resource: Pod, key: "default/x", namespace: "default", uid, resourceVersion };
      own.wrote("x", { ...write, uid: "another", sent: { type: "update", subresource: "", body } });
      ownWrites.push(own.isOwnWrite("x", event, true));
      own.wrote("x", { ...write, sent: { type: "update", subresource: "", body } });
      ownWrites.push(own.isOwnWrite("y", event, true), own.isOwnWrite("x", event, false));
      ownWrites.push(own.isOwnWrite("x", event, true), own.isOwnWrite("x", event, true));
    },
  });
  informer.run();
  await session.pass();
  session.server.annotate(Pod, "default/x", { by: "somebody" });
  await session.pass();
  assertEquals(ownWrites, [false, false, false, true, false]);
});

Deno.test("a list and a repair have no events of a watch", async () => {
  await using session = new Session();
  const { server, client } = session;
  for (const name of ["x", "y"]) server.create(Pod, pod({ name }));
  await using informer = new SharedIndexInformer(client.resource(Pod), { onError: () => {} });
  const watched: string[] = [];
  informer.addEventHandler({
    onAdd: (event) => watched.push(`${event.name} ${isWatched(event)}`),
    onUpdate: (event) => watched.push(`${event.name} ${isWatched(event)}`),
  });
  informer.run();
  await session.pass();
  server.annotate(Pod, "default/x", { n: "1" });
  await session.pass();
  server.loseNext(Pod);
  server.annotate(Pod, "default/x", { n: "2" });
  server.annotate(Pod, "default/y", { n: "1" });
  await session.pass();
  const check = informer.checkConsistency();
  await session.pass(100_000);
  await check;
  server.forceRelist();
  server.annotate(Pod, "default/x", { n: "3" });
  await session.pass(100_000);
  assertEquals(watched, ["x false", "y false", "x true", "y true", "x false", "x false"]);
});
