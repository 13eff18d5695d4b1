import { PassingMap } from "../../../../src/engine/async/passing_map.ts";
import { RecentCount } from "../../../../src/engine/async/rates.ts";
import { assert, assertEquals, assertMatch, assertRejects, assertThrows } from "@std/assert";
import { abortable } from "@std/async/abortable";
import type { Transport } from "../../../../src/engine/api/lister_watcher.ts";
import { isNamespaceTerminating } from "../../../../src/engine/api/status.ts";
import type { ResourceClient } from "../../../../src/engine/client/resource_client.ts";
import { LeadershipLostError } from "../../../../src/operator/controllers/reconcile/leader_elector.ts";
import { type ReconcileFunction, TerminalError } from "../../../../src/operator/controllers/reconcile/options.ts";
import { withController } from "../../../../src/operator/controllers/reconcile/owners.ts";
import { generationChanged, labelsChanged } from "../../../../src/operator/controllers/reconcile/predicates.ts";
import { Reconciler } from "../../../../src/operator/controllers/reconcile/reconciler.ts";
import { SharedInformerFactory } from "../../../../src/engine/informer/shared_informer_factory.ts";
import { WaitError } from "../../../../src/engine/informer/status.ts";
import { Deployment } from "../../../../src/engine/kinds/apps/v1.ts";
import { Job } from "../../../../src/engine/kinds/batch/v1.ts";
import { ConfigMap, Namespace, Node, Pod, Secret } from "../../../../src/engine/kinds/core/v1.ts";
import type { FakeApiServer } from "../../../../src/testing/fake/fake_api_server.ts";
import { configMap, pod } from "../../../../src/testing/fake/objects.ts";
import type { Trigger } from "../../../../src/engine/workqueue/triggers.ts";
import { requeueAfter, retry } from "../../../../src/engine/workqueue/work_item.ts";
import { Uncaught } from "../../../support/sources/informer.ts";
import { Session } from "./_session.ts";

Deno.test("a reconciler calls its function for each object, and again for each that changes or is deleted", async () => {
  await using session = new Session();
  const seen: string[] = [];
  session.create("a", "b");
  const maps = session.reconciler(({ key, object }) =>
    void seen.push(`${key} ${object?.data?.colour ?? typeof object}`)
  );
  await session.start(maps);
  assertEquals(seen.splice(0), ["default/a object", "default/b object"]);

  session.server.patch(ConfigMap, "default/b", { data: { colour: "red" } });
  await session.pass();
  session.server.delete(ConfigMap, "default/a");
  await session.pass();
  assertEquals(seen, ["default/b red", "default/a undefined"]);
});

Deno.test("a reconciler starts when all its informers have synced", async () => {
  await using session = new Session();
  session.create("a");
  let calls = 0;
  const maps = session.reconciler(() => void calls++).watches(Pod, () => []);
  const release = session.server.stallNext(1, ({ path }) => path.includes("/pods"));
  await session.start(maps, 100);
  assertEquals([calls, maps.status().state, maps.status().queue.waiting], [0, "syncing", 1]);
  release[Symbol.dispose]();
  session.server.dropWatches();
  await session.pass(70_000);
  assertEquals([calls, maps.status().state], [1, "running"]);
});

Deno.test("a reconciler that is refused rejects with the reason", async () => {
  using session = new Session();
  session.server.failNext(403, Infinity);
  const maps = session.reconciler(() => {});
  const refused = assertRejects(() => maps.run(), WaitError, `its state has been "forbidden"`);
  await session.pass(1000);
  await refused;
  assertEquals(maps.status().state, "stopped");
  assertEquals(session.time.timers, 0);
});

Deno.test("a reconciler that is stopped while it syncs resolves", async () => {
  using session = new Session();
  session.server.stallNext(Infinity);
  const stop = new AbortController();
  const maps = session.reconciler(() => {});
  const running = maps.run({ signal: stop.signal });
  await session.pass(100);
  stop.abort();
  await session.pass();
  await running;
  assertEquals(session.time.timers, 0);
});

Deno.test("a reconciler over 10,000 objects reconciles every key once, and is idle without a timer of its own", async () => {
  await using session = new Session();
  session.create(...Array.from({ length: 10_000 }, (_, index) => `map-${index}`));
  const seen = new Map<string, number>();
  const maps = session.reconciler(({ key }) => void seen.set(key, (seen.get(key) ?? 0) + 1), { concurrency: 8 });
  await session.start(maps);
  while (maps.status().state !== "running" || maps.status().queue.waiting > 0) await session.pass();
  assertEquals([seen.size, Math.max(...seen.values()), maps.status().recent.length], [10_000, 1, 16]);

  const timers = session.time.timers;
  await using other = new SharedInformerFactory(session.client);
  const informer = other.forResource(Pod);
  other.start();
  await session.pass();
  assert(informer.hasSynced);
  assertEquals(session.time.timers - timers, timers - 1); // those of a watch; the client has one for all watches
  await other.shutdown();
});

Deno.test("a reconciler reconciles the controller of an object that it owns, and no other owner", async () => {
  await using session = new Session();
  const { server } = session;
  session.create("a", "b");
  const uidOf = (name: string): string => server.get(ConfigMap, `default/${name}`)!.metadata.uid;
  const owner = (name: string, more: object = {}): object => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    name,
    uid: uidOf(name),
    controller: true,
    ...more,
  });
  const seen: Trigger[][] = [];
  const keys: string[] = [];
  const maps = session.reconciler(({ key, triggers }) => {
    keys.push(key);
    seen.push([...triggers]);
  }).owns(Pod);
  await session.start(maps);
  keys.length = seen.length = 0;

  const own = (...ownerReferences: object[]): { metadata: object } => ({ metadata: { ownerReferences } });
  server.create(Pod, { ...pod({ name: "web" }), metadata: { name: "web", ...own(owner("a")).metadata } });
  await session.pass();
  assertEquals(keys.splice(0), ["default/a"]);
  assertEquals(seen.splice(0), [[{ type: "event", source: "pods", event: "added", object: "default/web" }]]);

  // It moves to another owner: both are reconciled.
  server.patch(Pod, "default/web", own(owner("b")));
  await session.pass();
  assertEquals(keys.splice(0).sort(), ["default/a", "default/b"]);

  // Not its controller, another kind, a kind of that name in another group, and one that nobody knows.
  server.patch(Pod, "default/web", own(owner("b", { controller: false })));
  await session.pass();
  keys.length = 0;
  for (const more of [{ kind: "Secret" }, { apiVersion: "acme.dev/v1" }, { apiVersion: "a.b/v9", kind: "Nothing" }]) {
    server.patch(Pod, "default/web", own(owner("b", more)));
    await session.pass();
  }
  assertEquals(keys, []);
  assertEquals(session.errors, []);
});

Deno.test("a reconciler of a cluster-scoped kind finds owners by their names alone", async () => {
  await using session = new Session();
  session.server.create(Namespace, { metadata: { name: "shop" } });
  const keys: string[] = [];
  const namespaces = new Reconciler(session.client, Namespace, ({ key }) => void keys.push(key)).owns(ConfigMap);
  await session.start(namespaces);
  const reference = { apiVersion: "v1", kind: "Namespace", name: "shop", uid: "u", controller: true };
  session.server.create(ConfigMap, { metadata: { name: "a", namespace: "shop", ownerReferences: [reference] } });
  await session.pass();
  assertEquals(keys, ["shop", "shop"]);
});

Deno.test("a map function that throws or returns no keys is reported, and the other events are mapped", async () => {
  await using session = new Session();
  const keys: string[] = [];
  const maps = session.reconciler(({ key }) => void keys.push(key)).watches(Pod, ({ name }) => {
    if (name === "bad") throw new Error("cannot map");
    if (name === "worse") return [undefined as unknown as string];
    if (name === "worst") return 7 as unknown as string[];
    return ["default/a", "default/a"];
  });
  await session.start(maps);
  for (const name of ["bad", "worse", "worst", "good"]) session.server.create(Pod, pod({ name }));
  await session.pass();
  assertEquals(keys, ["default/a"]);
  assertEquals(session.errors.length, 3);
  assertEquals(session.errors[0], "default/bad: cannot map");
  assert(session.errors[1].startsWith("default/worse: A map function must return keys"), session.errors[1]);
  assertEquals(maps.status().eventErrors, 3);
});

Deno.test("predicates restrict the events of the kind that they belong to, and name the paths that changed", async () => {
  await using session = new Session();
  const { server } = session;
  server.create(Deployment, {
    metadata: { name: "web" },
    spec: { replicas: 1, selector: {}, template: { spec: { containers: [] } } },
  });
  const seen: Trigger[][] = [];
  const deployments = new Reconciler(
    session.client,
    Deployment,
    ({ triggers }) => void seen.push([...triggers]),
    {
      when: [generationChanged, labelsChanged],
    },
  );
  await session.start(deployments);
  const event = { type: "event", source: "deployments.apps" };
  assertEquals(seen.splice(0), [[{ ...event, event: "added" }]]);
  server.patch(Deployment, "default/web", { status: { replicas: 1 } });
  await session.pass();
  assertEquals(seen.splice(0), []);
  server.patch(Deployment, "default/web", { spec: { replicas: 2 }, metadata: { labels: { tier: "web" } } });
  await session.pass();
  assertEquals(seen, [[{ ...event, event: "updated", paths: ["metadata.generation", "metadata.labels"] }]]);
});

Deno.test("debounceMs joins the events of a burst, and delays no key for longer than it says", async () => {
  await using session = new Session();
  session.create("a");
  const at: number[] = [];
  const maps = session.reconciler(() => void at.push(session.time.now), { debounceMs: 100 });
  await session.start(maps, 1000);
  at.length = 0;
  const begin = session.time.now;
  for (let i = 0; i < 30; i++) {
    session.server.patch(ConfigMap, "default/a", { data: { i: String(i) } });
    await session.pass(20);
  }
  await session.pass(200);
  const waits = at.map((ms) => ms - begin);
  assertEquals(waits.length, 6);
  assertEquals(waits.every((ms) => ms % 100 <= 20), true, String(waits));
});

Deno.test("maxCallsPerMinute lets a key have its first calls at once, and joins later triggers until a minute is over", async () => {
  await using session = new Session();
  session.create("a", "b");
  const calls: string[] = [];
  const beganMs = session.time.now;
  const maps = session.reconciler(({ key, object, triggers }) => {
    const at = (session.time.now - beganMs) / 1_000;
    calls.push(`${at} ${key} ${object?.data?.i ?? ""} ${triggers.map(({ type }) => type)}`);
    if (object?.data?.i === "fail") throw new Error("it fails");
  }, { maxCallsPerMinute: 3 });
  await session.start(maps, 1_000);
  for (let i = 0; i < 20; i++) { // until 21 s
    session.server.patch(ConfigMap, "default/a", { data: { i: String(i) } });
    if (i === 9) maps.enqueue("default/a");
    await session.pass(1_000);
  }
  assertEquals(calls.splice(0), [
    "0 default/a  event",
    "0 default/b  event",
    "1 default/a 0 event",
    "2 default/a 1 event",
  ]);
  session.server.patch(ConfigMap, "default/b", { data: { i: "0" } }); // other keys are free
  await session.pass();
  assertEquals(calls.splice(0), ["21 default/b 0 event"]);
  await session.pass(39_500); // 60.5 s: the first call is a minute ago
  assertEquals(calls.splice(0), ["60 default/a 19 event,external"]);
  // Failures count, and lose nothing.
  session.server.patch(ConfigMap, "default/a", { data: { i: "fail" } });
  await session.pass(1_000);
  session.server.patch(ConfigMap, "default/a", { data: { i: "end" } });
  await session.pass(60_000);
  assertEquals(calls.splice(0).filter((call) => call.includes("end")), ["62 default/a end retry,event"]);
});

Deno.test("maxCallsPerMinute remembers no key whose calls are a minute ago", async () => {
  await using session = new Session();
  session.create("a", "b");
  const forgotten = new Set<unknown>();
  const { delete: remove } = PassingMap.prototype;
  PassingMap.prototype.delete = function (key): boolean {
    const isKnown = this.get(key) instanceof RecentCount;
    if (isKnown && (this.get(key) as RecentCount).count === 0) forgotten.add(key);
    return remove.call(this, key);
  };
  try {
    const maps = session.reconciler(() => {}, { maxCallsPerMinute: 5 });
    await session.start(maps, 60_001);
    session.server.patch(ConfigMap, "default/b", { data: { i: "1" } });
    await session.pass();
    assertEquals([...forgotten], ["default/a", "default/b"]); // b begins again
  } finally {
    PassingMap.prototype.delete = remove;
  }
});

Deno.test("a reconciler works on as many keys at a time as it may, and never twice on one", async () => {
  using session = new Session();
  session.create("a", "b", "c", "d");
  const active: string[] = [];
  const ends = new Map<string, () => void>();
  const maps = session.reconciler(({ key }) => {
    assert(!active.includes(key));
    active.push(key);
    return new Promise<void>((resolve) =>
      ends.set(key, () => {
        active.splice(active.indexOf(key), 1);
        resolve();
      })
    );
  }, { concurrency: 3 });
  const running = maps.run();
  await session.pass();
  assertEquals(active, ["default/a", "default/b", "default/c"]);
  assertEquals(maps.status().queue.running.map(({ key }) => key), active);
  session.server.patch(ConfigMap, "default/a", { data: { colour: "red" } });
  await session.pass();
  ends.get("default/a")!();
  await session.pass();
  assertEquals(active, ["default/b", "default/c", "default/a"]); // a change comes before an initial object
  ends.get("default/b")!();
  await session.pass();
  assertEquals(active, ["default/c", "default/a", "default/d"]);
  for (const end of ends.values()) end();
  await session.stop(maps);
  await running;
});

Deno.test("a reconcile that throws, or rejects without an error, is reported and called again with growing waits [F14]", async () => {
  await using session = new Session();
  session.create("a");
  const at: number[] = [];
  const retries: Trigger[][] = [];
  const maps = session.reconciler(({ triggers }) => {
    at.push(session.time.now);
    retries.push([...triggers]);
    if (at.length === 1) throw new Error("no");
    return at.length < 5 ? Promise.reject(undefined) : undefined;
  });
  await session.start(maps, 5 + 10 + 20 + 40);
  assertEquals(at.map((ms) => ms - at[0]), [0, 5, 15, 35, 75]);
  assertEquals(retries.slice(1), [1, 2, 3, 4].map((count) => [{ type: "retry", count }]));
  assertEquals(session.errors[0], "default/a: no");
  assertEquals(session.errors[1], `default/a: The reconcile of "default/a" failed without an error`);
  const { outcomes, recent, triggers } = maps.status();
  assertEquals([outcomes.failed, outcomes.succeeded], [4, 1]);
  assertEquals(recent.map(({ outcome }) => outcome), ["failed", "failed", "failed", "failed", "succeeded"]);
  assertEquals(triggers, { event: 1, retry: 4 });
});

Deno.test("a reconcile that always fails is called every 1000 s in the end, and disturbs no other key", async () => {
  await using session = new Session();
  session.create("bad", "good");
  const calls: Record<string, number> = {};
  const maps = session.reconciler(({ key }) => {
    calls[key] = (calls[key] ?? 0) + 1;
    if (key === "default/bad") throw new Error("never");
  });
  await session.start(maps);
  // 5 ms, doubled 18 times, is the first wait above 1000 s.
  await session.time.tickAsync(5 * (2 ** 18 - 1));
  const before = calls["default/bad"];
  await session.time.tickAsync(3_000_000);
  assertEquals([calls["default/bad"] - before, calls["default/good"]], [3, 1]);
  assertEquals(before, 19);
});

Deno.test("a reconcile that throws a terminal error is reported, and called again after the next event", async () => {
  await using session = new Session();
  session.create("a");
  let calls = 0;
  const maps = session.reconciler(() => {
    calls++;
    throw new TerminalError("spec.size must not be negative");
  });
  await session.start(maps, 10_000);
  assertEquals([calls, maps.status().outcomes.terminal, maps.status().queue.errors], [1, 1, 0]);
  session.server.patch(ConfigMap, "default/a", { data: { size: "1" } });
  await session.pass();
  assertEquals(calls, 2);
  assertEquals(session.errors[1], "default/a: spec.size must not be negative");
});

Deno.test("results of a reconcile bring its key back in time, and other values count as failures", async () => {
  await using session = new Session();
  session.create("a");
  const at: number[] = [];
  const results = [retry(), requeueAfter(30), 7 as unknown as undefined, undefined];
  const maps = session.reconciler(() => results[at.push(session.time.now) - 1]);
  await session.start(maps, 100);
  assertEquals(at.map((ms) => ms - at[0]), [0, 5, 35, 40]);
  const { retried, requeued, failed, succeeded } = maps.status().outcomes;
  assertEquals([retried, requeued, failed, succeeded], [1, 1, 1, 1]);
  assert(session.errors[0].includes("found a value of type number"));
});

Deno.test("a reconcile whose time is over gives its worker back, and keeps its key until it returns", async () => {
  await using session = new Session();
  session.create("a", "b");
  const calls: string[] = [];
  const ends: (() => void)[] = [];
  const reasons: unknown[] = [];
  const maps = session.reconciler(({ key, signal }) => {
    calls.push(key);
    if (key === "default/b" || ends.length > 0) return;
    signal.addEventListener("abort", () => reasons.push(signal.reason.name));
    return new Promise<void>((resolve) => ends.push(resolve));
  }, { timeoutMs: 1000 });
  await session.start(maps, 999);
  assertEquals(calls, ["default/a"]);
  await session.pass(1);
  assertEquals([calls, reasons], [["default/a", "default/b"], ["TimeoutError"]]);
  assertEquals([maps.status().outcomes.timedOut, maps.status().abandoned], [1, ["default/a"]]);
  assertEquals(session.errors, [`default/a: The reconcile of "default/a" has not returned within 1000 ms`]);
  session.server.patch(ConfigMap, "default/a", { data: { colour: "red" } });
  await session.pass(60_000);
  assertEquals(calls, ["default/a", "default/b"]);
  ends[0]();
  await session.pass();
  assertEquals(calls, ["default/a", "default/b", "default/a"]);
  assertEquals(maps.status().abandoned, []);
  assertEquals(maps.status().recent.at(-1)?.triggers.map(({ type }) => type).sort(), ["event", "retry"]);
});

Deno.test("calls that begin at different times each have their own time limit", async () => {
  using session = new Session();
  const maps = session.reconciler(() => new Promise<void>(() => {}), { timeoutMs: 1000, concurrency: 9, graceMs: 0 });
  const running = maps.run();
  for (const name of ["a", "b", "c"]) {
    session.create(name);
    await session.pass(400);
  }
  assertEquals(maps.status().abandoned, ["default/a"]);
  await session.pass(400);
  assertEquals(maps.status().abandoned, ["default/a", "default/b"]);
  await session.pass(400);
  assertEquals(maps.status().abandoned, ["default/a", "default/b", "default/c"]);
  const stopped = Promise.allSettled([running, maps[Symbol.asyncDispose]()]);
  await session.pass();
  assertEquals((await stopped).map(({ status }) => status), ["rejected", "rejected"]);
});

Deno.test("stopping aborts the signals of running reconciles, waits for them, and takes no further key", async () => {
  using session = new Session();
  session.create("a", "b");
  const log: string[] = [];
  const stop = new AbortController();
  const maps = session.reconciler(async ({ key, signal, client }) => {
    log.push(`begin ${key}`);
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    await client.resource(ConfigMap, { namespace: "default" }).patch("a", {
      type: "merge",
      body: { data: { colour: "red" } },
    });
    log.push(`end ${key}`);
  });
  const running = maps.run({ signal: stop.signal });
  await session.pass();
  stop.abort();
  assertEquals(maps.status().state, "stopping");
  await session.pass();
  await running;
  assertEquals(log, ["begin default/a", "end default/a"]);
  assertEquals(session.server.get(ConfigMap, "default/a")?.data, { colour: "red" });
  assertEquals([maps.status().queue.waiting, maps.status().outcomes.succeeded], [2, 1]); // its own write, and "b"
  assertEquals(session.time.timers, 0);
});

Deno.test("a reconcile that rejects with the reason of the stop has not failed", async () => {
  await using session = new Session();
  session.create("a");
  const maps = session.reconciler(({ signal }) =>
    new Promise<void>((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)))
  );
  await session.start(maps);
  await session.stop(maps);
  assertEquals([maps.status().outcomes.stopped, maps.status().outcomes.failed], [1, 0]);
  assertEquals(session.errors, []);
});

Deno.test("a reconcile whose wait for a cache ends by the stop has not failed, nor has one whose time is over", async () => {
  await using session = new Session();
  session.create("a");
  const maps = session.reconciler(async ({ signal }) => {
    await maps.informer.until(() => false, { signal });
  }, { timeoutMs: 1_000 });
  await session.start(maps, 1_500);
  assertEquals(session.errors, ['default/a: The reconcile of "default/a" has not returned within 1000 ms']);
  maps.enqueue("default/a");
  await session.pass();
  await session.stop(maps);
  const { stopped, failed, timedOut } = maps.status().outcomes;
  assertEquals([stopped, failed, timedOut, maps.status().queue.errors, session.errors.length], [1, 0, 1, 1, 1]);
});

Deno.test("a reconciler whose run() has failed is disposed without that error, so that await using throws it once", async () => {
  using session = new Session();
  session.server.failNext(403, Infinity);
  const refused = assertRejects(async () => {
    await using maps = session.reconciler(() => {});
    await maps.run();
  }, WaitError);
  await session.pass(1000);
  await refused;
});

Deno.test("stopping gives up on reconciles that do not return in time, and names them", async () => {
  using session = new Session();
  session.create("a");
  const maps = session.reconciler(() => new Promise<void>(() => {}), { graceMs: 5000 });
  const running = maps.run();
  await session.pass();
  const failed = assertRejects(
    () => maps[Symbol.asyncDispose](),
    Error,
    `after 5000 ms these reconciles have not returned: "default/a"`,
  );
  const rejected = assertRejects(() => running, Error, "have not returned");
  await session.pass(999);
  assertEquals(session.errors, []);
  await session.pass(1);
  assertEquals(session.errors, [
    'default/a: Waiting for the reconcile of "default/a": it has not returned 1000 ms after the stop. The reconciler waits for up to 5000 ms',
  ]);
  await session.pass(3999);
  assertEquals(maps.status().state, "stopping");
  await session.pass(1);
  await Promise.all([failed, rejected]);
  assertEquals(session.time.timers, 0);
});

Deno.test("keys can be enqueued from outside, before and while a reconciler runs, and are dropped afterwards", async () => {
  await using session = new Session();
  const seen: unknown[] = [];
  const maps = session.reconciler(({ key, object, triggers }) => void seen.push([key, object, triggers]));
  maps.enqueue("default/x", { source: "webhook" });
  await session.start(maps);
  maps.enqueue("default/y");
  await session.pass();
  assertEquals(seen, [
    ["default/x", undefined, [{ type: "external", source: "webhook" }]],
    ["default/y", undefined, [{ type: "external" }]],
  ]);
  await session.stop(maps);
  maps.enqueue("default/z");
  assertEquals([seen.length, maps.status().queue.dropped], [2, 1]);
});

Deno.test("initial objects and resyncs have low priority, and changes come before them", async () => {
  using session = new Session();
  session.create("a", "b", "c");
  const keys: string[] = [];
  let next: (() => void) | undefined;
  const maps = session.reconciler(({ key }) => {
    keys.push(key);
    return new Promise<void>((resolve) => next = resolve);
  }, { informer: { resyncMs: 60_000 } });
  const running = maps.run();
  await session.pass();
  session.server.patch(ConfigMap, "default/c", { data: { colour: "red" } });
  await session.pass();
  for (let i = 0; i < 3; i++) {
    next!();
    await session.pass();
  }
  assertEquals(keys.splice(0), ["default/a", "default/c", "default/b"]);
  await session.pass(60_000);
  assertEquals(maps.status().queue.lowPriority, 2);
  assertEquals(maps.status().queue.running[0].triggers, [{ type: "resync", source: "configmaps" }]);
  const stopping = session.stop(maps);
  next!();
  await stopping;
  await running;
});

Deno.test("reconcilers share the informers of a factory, which continue when one of them stops", async () => {
  using session = new Session();
  session.create("a");
  const informers = new SharedInformerFactory(session.client);
  const first = session.reconciler(() => {}, { informers, name: "first" });
  let calls = 0;
  const second = session.reconciler(() => void calls++, { informers, name: "second" });
  const running = [first.run(), second.run()];
  await session.pass();
  assertEquals(session.server.requests.filter(({ verb }) => verb === "watch").length, 1);
  await first[Symbol.asyncDispose]();
  session.create("b");
  await session.pass();
  assertEquals(calls, 2);
  await second[Symbol.asyncDispose]();
  await informers.shutdown();
  await Promise.all(running);
  assertEquals(session.time.timers, 0);
});

Deno.test("a reconciler on a synced cache starts when it has the keys of all objects", async () => {
  using session = new Session();
  session.create(...Array.from({ length: 500 }, (_, index) => `map-${index}`));
  const informers = new SharedInformerFactory(session.client);
  informers.forResource(ConfigMap);
  informers.start();
  await session.pass();
  // A predicate that takes time: the keys come in several turns.
  const slow = (): boolean => session.time.tick(1) === undefined;
  let known: number | undefined;
  const maps = session.reconciler(() => {
    const { waiting, processing } = maps.status().queue;
    known ??= waiting + processing;
  }, { informers, when: slow });
  const running = maps.run();
  while (maps.status().state !== "running" || maps.status().queue.waiting > 0) await session.pass();
  assertEquals(known, 500);
  await maps[Symbol.asyncDispose]();
  await informers.shutdown();
  await running;
});

Deno.test("a call that fails after its time is reported, but not after the end of the reconciler", async () => {
  using session = new Session();
  session.create("a");
  const ends: ((error: Error) => void)[] = [];
  const maps = session.reconciler(() => new Promise((_, reject) => ends.push(reject)), {
    timeoutMs: 1_000,
    graceMs: 1_000,
  });
  const rejected = assertRejects(() => maps.run(), Error, "Cannot stop the reconciler");
  await session.pass(1_100);
  ends[0](new Error("late"));
  await session.pass(1_100);
  assertEquals([ends.length, session.errors.length, session.errors[1]], [2, 3, "default/a: late"]);
  const disposed = assertRejects(() => maps[Symbol.asyncDispose](), Error, "Cannot stop the reconciler");
  await session.pass(1_000);
  await Promise.all([rejected, disposed]);
  ends[1](new Error("too late"));
  await session.pass();
  assertEquals(session.errors.length, 3);
});

Deno.test("a reconciler that has stopped neither listens to a shared factory nor follows its writes", async () => {
  using session = new Session();
  const { server } = session;
  session.create("a");
  const informers = new SharedInformerFactory(session.client);
  using stalls = new DisposableStack();
  const maps = session.reconciler(async ({ client }) => {
    stalls.use(server.stallWatches(ConfigMap));
    await client.resource(ConfigMap, { namespace: "default" }).patch("a", {
      type: "merge",
      body: { data: { x: "1" } },
    });
    server.patch(ConfigMap, "default/a", { data: { x: "2" } });
  }, { informers });
  const running = maps.run();
  await session.pass();
  maps.enqueue("default/a");
  await session.pass();
  assertEquals([maps.status().outcomes.succeeded, maps.status().waitingForCaches], [1, 1]);
  await maps[Symbol.asyncDispose]();
  stalls.dispose();
  await session.pass();
  const { queue, stale } = maps.status();
  assertEquals([maps.lister.get("default/a")?.data?.x, queue.dropped, stale, session.errors], ["2", 0, 0, []]);
  await informers.shutdown();
  await running;
});

Deno.test("a reconciler runs once, and takes further kinds until its end", async () => {
  using session = new Session();
  const maps = session.reconciler(() => {});
  const running = maps.run();
  await assertRejects(() => maps.run(), Error, "is running already");
  maps.owns(Pod);
  await session.pass();
  await session.stop(maps);
  assertThrows(() => maps.owns(Pod), Error, `Cannot add "pods"`);
  await running;
  await assertRejects(() => maps.run(), Error, "already");

  const idle = session.reconciler(() => {});
  await idle[Symbol.asyncDispose]();
  await assertRejects(() => idle.run(), Error, "has stopped already");
});

Deno.test("a reconciler refuses options that are out of range, and names them", () => {
  using session = new Session();
  for (
    const [options, message] of [
      [{ concurrency: 0 }, "concurrency must be a whole number"],
      [{ debounceMs: -1 }, "debounceMs must be at least 0"],
      [{ debounceMs: Infinity }, "debounceMs must be at least 0"],
      [{ maxCallsPerMinute: 0 }, "maxCallsPerMinute must be a whole number of at least 1"],
      [{ timeoutMs: 0 }, "timeoutMs must be at least 1"],
      [{ graceMs: NaN }, "graceMs must be at least 0"],
      [{ readYourWritesTimeoutMs: -1 }, "readYourWritesTimeoutMs must be at least 0"],
    ] as const
  ) {
    assertThrows(() => session.reconciler(() => {}, options), RangeError, message);
  }
});

Deno.test("watches() and owns() take informers of the factory: two selections of one kind, which cache() reads", async () => {
  await using session = new Session();
  const { server } = session;
  for (const namespace of ["platform", "shop"]) server.create(Namespace, { metadata: { name: namespace } });
  server.create(ConfigMap, configMap({ name: "source", namespace: "platform" }));
  const seen: string[] = [];
  let isBoth = false;
  const namespaces: Reconciler<Namespace> = new Reconciler(session.client, Namespace, ({ key, cache }) => {
    const [source] = cache(sources).list();
    const copies = isBoth && cache(copied).namespace(key).list().map(({ metadata }) => metadata.name);
    seen.push(`${key}: ${source?.metadata.labels?.v} ${copies}`);
  });
  const { informers, informer } = namespaces;
  const sources = informers.forResource(ConfigMap, { fieldSelector: "metadata.name=source" });
  const copied = informers.forResource(ConfigMap, { labelSelector: "copy=yes" });
  namespaces.watches(sources, () => informer.indexer.keys());
  await session.start(namespaces, 100);
  assertEquals(seen.splice(0).sort(), ["platform: undefined false", "shop: undefined false"]);
  namespaces.watches(copied, ({ namespace }) => [namespace]); // while it runs
  isBoth = true;
  server.create(ConfigMap, configMap({ name: "copy", namespace: "shop", labels: { copy: "yes" } }));
  await session.pass();
  assertEquals(seen.splice(0), ["shop: undefined copy"]);
  server.patch(ConfigMap, "platform/source", { metadata: { labels: { v: "2" } } });
  await session.pass();
  assertEquals(seen.splice(0).sort(), ["platform: 2 ", "shop: 2 copy"]);
  assertThrows(() => namespaces.cache(ConfigMap), Error, "with several informers");

  // owns() takes one, too; what the informer was made with stays, and another factory's is refused.
  const jobs = informers.forResource(Job, { labelSelector: "a=b" });
  namespaces.owns(jobs);
  const owner = server.get(Namespace, "shop")!;
  const template = { spec: { containers: [], restartPolicy: "Never" } } as const;
  const job = { metadata: { name: "j", namespace: "shop", labels: { a: "b" } }, spec: { template } };
  server.create(Job, withController(job, owner));
  await session.pass();
  assertEquals(seen.splice(0), ["shop: 2 copy"]);
  const refused = "the informer already has its options";
  assertThrows(() => namespaces.owns(jobs, { informer: { pollMs: 1_000 } }), TypeError, refused);
  assertThrows(() => namespaces.watches(jobs, () => [], { optional: true }), TypeError, refused);
  await using others = new SharedInformerFactory(session.client);
  const other = others.forResource(ConfigMap);
  assertThrows(() => namespaces.watches(other, () => []), TypeError, "Cannot watch an informer");
  assertThrows(() => namespaces.owns(other), TypeError, "Cannot watch an informer");
  // The caches are its callers' too, and stay without the reconciler.
  namespaces.unwatch(ConfigMap);
  server.patch(ConfigMap, "platform/source", { metadata: { labels: { v: "3" } } });
  await session.pass();
  assertEquals([seen, sources.lister.list()[0].metadata.labels?.v], [[], "3"]);
});

Deno.test("a reconcile that rejects with a conflict is called again in silence, and reported when that does not help", async () => {
  await using session = new Session();
  session.create("a", "b");
  const calls: Record<string, number> = {};
  const maps = session.reconciler(async ({ key, client, object }) => {
    const n = calls[key] = (calls[key] ?? 0) + 1;
    // The cache of "a" is behind for three calls, and that of "b" forever.
    const resourceVersion = key === "default/a" && n > 3 ? object!.metadata.resourceVersion : "1";
    const body = { metadata: { resourceVersion }, data: { by: "me" } };
    await client.resource(ConfigMap, { namespace: "default" }).patch(key.slice(8), { type: "merge", body });
  });
  await session.start(maps, 1_000);
  assertEquals([calls["default/a"], calls["default/b"], session.errors], [5, 8, []]);
  assertEquals([maps.status().outcomes.retried, maps.status().outcomes.failed], [11, 0]);
  await session.pass(1_000);
  assertEquals([calls["default/b"], session.errors.length, maps.status().outcomes.failed], [9, 1, 1]);
  assertMatch(session.errors[0], /^default\/b: .* 409 Conflict: /);
});

Deno.test("an observer that throws does not end the reconciler", async () => {
  await using session = new Session();
  session.create("a");
  let calls = 0;
  const uncaught: unknown[] = [];
  const listener = (event: ErrorEvent): void => {
    event.preventDefault();
    uncaught.push(event.error.message);
  };
  globalThis.addEventListener("error", listener);
  const maps = session.reconciler(() => {
    if (calls++ === 0) throw new Error("no");
  }, {
    onError: () => {
      throw new Error("the observer fails");
    },
  });
  await session.start(maps, 10);
  globalThis.removeEventListener("error", listener);
  assertEquals([calls, uncaught], [2, ["the observer fails"]]);
});

Deno.test("an observer is called around each reconcile with its facts, and its errors at the end change nothing", async () => {
  await using session = new Session();
  using uncaught = new Uncaught();
  session.create("a", "b");
  const notes: string[] = [];
  const maps = session.reconciler(({ key }) => {
    notes.push(`reconcile ${key}`);
    if (key.endsWith("b")) throw new TerminalError("never");
  }, {
    name: "maps",
    observe: ({ reconciler, resource, key, retries, triggers }) => {
      notes.push(`${reconciler} ${resource.plural} ${key} ${retries} ${triggers.map(({ type }) => type)}`);
      return {
        call: (reconcile) => {
          notes.push("call");
          return reconcile();
        },
        ended: ({ key, outcome, error }) => {
          notes.push(`${key} ${outcome} ${error}`);
          throw new Error(`observer of ${key}`);
        },
      };
    },
  });
  await session.start(maps, 10);
  await session.stop(maps);
  assertEquals(notes, [
    "maps configmaps default/a 0 event",
    "call",
    "reconcile default/a",
    "default/a succeeded undefined",
    "maps configmaps default/b 0 event",
    "call",
    "reconcile default/b",
    "default/b terminal TerminalError: never",
  ]);
  assertEquals(uncaught.errors.map(String), ["Error: observer of default/a", "Error: observer of default/b"]);
  assertEquals(session.errors, ["default/b: never"]);
});

/** A network on which creates do not arrive. */
function withoutCreates(server: FakeApiServer): Transport {
  return {
    fetch: (request) =>
      request.method === "POST" ? abortable(new Promise(() => {}), request.signal) : server.fetch(request),
  };
}

/** A reconcile whose write is not answered, and which then tries another one. Its log has how they ended. */
function unanswered(log: string[]): ReconcileFunction<ConfigMap> {
  return async ({ client }) => {
    const maps = client.resource(ConfigMap, { namespace: "default" });
    for (const name of ["first", "second"]) {
      await maps.create({ metadata: { name } }).then(
        () => log.push(`${name} created`),
        (error) => log.push(`${name}: ${error.name}`),
      );
    }
  };
}

Deno.test("requests of a reconcile end when its time is over, and its key is free again", async () => {
  await using session = new Session(withoutCreates);
  session.create("a");
  const log: string[] = [];
  const maps = session.reconciler(unanswered(log), { timeoutMs: 1_000 });
  await session.start(maps, 999);
  assertEquals(log, []);
  await session.pass(1);
  assertEquals(log, ["first: TimeoutError", "second: TimeoutError"]);
  assertEquals(maps.status().abandoned, []);
  assertEquals(session.server.keys(ConfigMap), ["default/a"]);
});

Deno.test("requests of a reconcile continue after a stop, and end when the time for it is over", async () => {
  using session = new Session(withoutCreates);
  session.create("a");
  const log: string[] = [];
  const maps = session.reconciler(unanswered(log), { graceMs: 2_000 });
  const running = maps.run();
  await session.pass();
  const late = assertRejects(() => maps[Symbol.asyncDispose](), Error, "after 2000 ms");
  const rejected = assertRejects(() => running, Error, "after 2000 ms");
  await session.pass(1_999);
  assertEquals(log, []);
  await session.pass(1);
  await Promise.all([late, rejected]);
  assertEquals(log, ["first: Error", "second: Error"]);
});

Deno.test("requests of a reconcile end at once when leadership is lost, during a stop too", async () => {
  for (const stops of [false, true]) {
    using session = new Session(withoutCreates);
    session.create("a");
    const log: string[] = [];
    const [stop, lost] = [new AbortController(), new AbortController()];
    const maps = session.reconciler(unanswered(log));
    const running = maps.run({ signal: stop.signal, lost: lost.signal });
    await session.pass();
    if (stops) stop.abort();
    await session.pass();
    assertEquals(log, []);
    lost.abort(new LeadershipLostError("another leads"));
    await session.pass();
    await running;
    assertEquals(log, ["first: LeadershipLostError", "second: LeadershipLostError"]);
    assertEquals(session.server.keys(ConfigMap), ["default/a"]);
  }
});

Deno.test("a reconcile sends nothing when the clock says that leadership is over, before that is noticed", async () => {
  const sends: ((client: ResourceClient<ConfigMap>) => Promise<unknown>)[] = [
    (client) => client.patch("a", { type: "merge", body: { data: { by: "a" } } }),
    (client) => client.list(),
    (client) => client.get("a"),
  ];
  for (const send of sends) {
    using session = new Session();
    session.create("a");
    const gate = Promise.withResolvers<void>();
    const log: string[] = [];
    let isHeld = true;
    const maps = session.reconciler(async ({ client, signal }) => {
      const own = client.resource(ConfigMap, { namespace: "default" });
      await own.get("a");
      await gate.promise;
      await send(own).then(() => log.push("sent"), (error) => log.push(error === signal.reason ? "refused" : error));
      signal.throwIfAborted();
    });
    const running = maps.run({ isHeld: () => isHeld });
    await session.pass();
    const { length } = session.server.requests;
    isHeld = false;
    gate.resolve();
    await session.pass();
    assertEquals([log, session.errors, session.server.requests.slice(length)], [["refused"], [], []]);
    await running;
    assertEquals(maps.status().outcomes.stopped, 1);
  }
});

Deno.test("a reconciler refuses to own a cluster-scoped kind for one that has namespaces, but not the other way round", () => {
  using session = new Session();
  assertThrows(
    () => session.reconciler(() => {}).owns(Namespace),
    TypeError,
    'Cannot own "namespaces" in the reconciler of "configmaps": they are cluster-scoped',
  );
  new Reconciler(session.client, Namespace, () => {}).owns(ConfigMap).owns(Node);
});

Deno.test("a reconciler is idle when no key waits, runs, is held or is debounced, whatever comes back later", async () => {
  await using session = new Session();
  session.create("a", "b");
  const gates: PromiseWithResolvers<void>[] = [];
  let calls = 0;
  const maps = session.reconciler(async ({ key }) => {
    calls++;
    if (key === "default/b") return requeueAfter(60_000);
    const gate = Promise.withResolvers<void>();
    gates.push(gate);
    await gate.promise;
    if (gates.length === 1) throw new Error("comes back later, too");
  }, { concurrency: 2, debounceMs: 1_000 });
  let idle = 0;
  const wait = (): void => void maps.idle().then(() => idle++);
  wait();
  await session.pass(100);
  assertEquals(idle, 0); // it does not run
  await session.start(maps, 500);
  assertEquals([calls, idle], [0, 0]); // debounced
  await session.pass(1_000);
  assertEquals([calls, idle], [2, 0]); // one runs
  gates[0].resolve();
  await session.pass(0);
  assertEquals([calls, idle], [2, 1]);
  wait();
  await session.pass(0);
  assertEquals(idle, 2);
  await session.pass(100); // the retry runs
  assertEquals(gates.length, 2);
  wait();
  await session.pass(0);
  assertEquals(idle, 2);
  const stop = new AbortController();
  const stopped = assertRejects(() => maps.idle({ signal: stop.signal }), Error, "enough");
  stop.abort(new Error("enough"));
  await stopped;
  gates[1].resolve();
  await session.pass(0);
  assertEquals(idle, 3);
  await session.stop(maps);
  await maps.idle();
});

Deno.test("a reconciler is not idle while a key is held for caches, or its call has passed its time", async () => {
  await using session = new Session();
  session.create("a");
  const late = Promise.withResolvers<void>();
  let stall: Disposable | undefined;
  let calls = 0;
  const maps = session.reconciler(async ({ client }) => {
    if (++calls === 1) {
      stall = session.server.stallWatches(ConfigMap);
      await client.resource(ConfigMap, { namespace: "default" }).patch("a", {
        type: "merge",
        body: { data: { n: "1" } },
      });
      return requeueAfter(1);
    }
    await late.promise;
  }, { timeoutMs: 1_000 });
  await session.start(maps, 10);
  let idle = 0;
  void maps.idle().then(() => idle++);
  await session.pass(10);
  assertEquals([maps.status().waitingForCaches, idle], [1, 0]);
  stall![Symbol.dispose]();
  await session.pass(2_000);
  assertEquals([maps.status().abandoned.length, idle], [1, 0]);
  late.resolve();
  await session.pass(0);
  assertEquals(idle, 1);
});

/** A namespace with a ConfigMap, for which a reconciler applies a Secret. */
function applying(session: Session): { readonly reasons: unknown[]; readonly maps: Reconciler<ConfigMap> } {
  session.server.create(Namespace, { metadata: { name: "shop" }, spec: { finalizers: ["kubernetes"] } });
  session.server.create(ConfigMap, { metadata: { name: "web", namespace: "shop" } });
  const reasons: unknown[] = [];
  const maps = session.reconciler(async ({ key, object, client }) => {
    if (key !== "shop/web" || object === undefined) return;
    const draft = withController({ metadata: { name: "keys" }, stringData: { key: "1" } }, object);
    const secrets = client.resource(Secret, { namespace: "shop" });
    const found = await secrets.applyIfChanged(draft, { fieldManager: "shop", force: true }).catch((error) => {
      reasons.push(isNamespaceTerminating(error) ? "terminating" : error);
      throw error;
    });
    reasons.push(found.reason);
  }).owns(Secret, { informer: { managedFields: { manager: "shop" }, secretData: "keep" } });
  return { reasons, maps };
}

Deno.test("an owned object that is being deleted is left alone, and applied again once it is gone", async () => {
  await using session = new Session();
  const { server } = session;
  const { reasons, maps } = applying(session);
  await session.start(maps);
  await session.pass();
  assertEquals(reasons.splice(0), ["the object is not cached", undefined]);
  const { uid } = server.get(Secret, "shop/keys")!.metadata;
  server.patch(Secret, "shop/keys", { metadata: { finalizers: ["example.com/held"] } });
  server.delete(Secret, "shop/keys");
  server.patch(ConfigMap, "shop/web", { data: { key: "2" } });
  await session.pass();
  const patches = server.requests.filter(({ verb }) => verb === "patch").length;
  assertEquals(patches, 1);
  assertEquals(new Set(reasons.splice(0)), new Set([undefined]));
  server.patch(Secret, "shop/keys", { metadata: { finalizers: null } });
  await session.pass();
  assertEquals(reasons[0], "the object is not cached");
  assert(server.get(Secret, "shop/keys")!.metadata.uid !== uid);
});

Deno.test("a reconcile in a namespace that terminates is quiet, and comes back after 10 s", async () => {
  await using session = new Session((server) => server, { namespaces: "real" });
  const { server } = session;
  const { reasons, maps } = applying(session);
  server.patch(ConfigMap, "shop/web", { metadata: { finalizers: ["example.com/held"] } });
  const deleted = session.client.resource(Namespace).delete("shop");
  await session.pass();
  await deleted;
  await session.start(maps);
  await session.pass();
  assertEquals(reasons, ["terminating"]);
  await session.pass(9_000);
  assertEquals(reasons, ["terminating"]);
  await session.pass(1_500);
  assertEquals(reasons, ["terminating", "terminating"]);
  assertEquals(session.errors, []);
  assertEquals(maps.status().outcomes.requeued, 2);
});
