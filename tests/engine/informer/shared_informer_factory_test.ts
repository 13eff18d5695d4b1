import {
  assertEquals,
  assertMatch,
  assertNotStrictEquals,
  assertRejects,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import fc from "npm:fast-check@^4.10.2";
import { onlyMetadata } from "../../../src/engine/api/resource.ts";
import { Client } from "../../../src/engine/client/client.ts";
import { field } from "../../../src/engine/entry/path.ts";
import { errorLine } from "../../../src/engine/errors/errors.ts";
import { InformerError } from "../../../src/engine/errors/informer_error.ts";
import { Demand } from "../../../src/engine/informer/acquired_informer.ts";
import { SharedInformerFactory } from "../../../src/engine/informer/shared_informer_factory.ts";
import { WaitError } from "../../../src/engine/informer/status.ts";
import { Deployment } from "../../../src/engine/kinds/apps/v1.ts";
import { ConfigMap, Namespace, Pod } from "../../../src/engine/kinds/core/v1.ts";
import { configMap, FakeApiServer, pod } from "../../../src/testing/mod.ts";
import { FakeTime } from "../../support/times/fake_time.ts";
import { gate, Uncaught } from "../../support/sources/informer.ts";
import { FactoryFixture } from "./_factory_fixture.ts";

function demandOf(idleTimeoutMs: number, cacheTtlMs: number): { readonly demand: Demand; readonly calls: string[] } {
  const calls: string[] = [];
  const note = (call: string) => (): void => void calls.push(`${call} ${demand.state}`);
  const demand = new Demand({ pause: note("pause"), resume: note("resume") }, {
    idleTimeoutMs: idleTimeoutMs,
    cacheTtlMs: cacheTtlMs,
  }, note("forget"));
  return { demand, calls };
}

Deno.test("Demand pauses idleTimeoutMs after the last release, and forgets cacheTtlMs later", () => {
  using time = new FakeTime();
  const { demand, calls } = demandOf(100, 50);
  const first = demand.acquire();
  const second = demand.acquire();
  first();
  first(); // only the first call counts
  time.tick(1_000);
  assertEquals([demand.state, calls], ["held", []]);
  second();
  time.tick(99);
  assertEquals([demand.state, calls], ["idle", []]);
  time.tick(1);
  assertEquals([demand.state, calls.splice(0)], ["paused", ["pause paused"]]);
  time.tick(49);
  assertEquals(demand.state, "paused");
  time.tick(1);
  assertEquals([demand.state, calls, time.timers], ["over", ["forget over"], 0]);
});

Deno.test("Demand that is acquired again before it pauses calls nothing, and after that resumes", () => {
  using time = new FakeTime();
  const { demand, calls } = demandOf(100, 50);
  demand.acquire()();
  time.tick(99);
  const second = demand.acquire();
  time.tick(1_000);
  assertEquals([demand.state, calls, time.timers], ["held", [], 0]);
  second();
  time.tick(149);
  demand.acquire();
  time.tick(1_000);
  assertEquals([demand.state, calls, time.timers], ["held", ["pause paused", "resume held"], 0]);
});

Deno.test("Demand without a holder yet does not pause, and one whose times are Infinity never does", () => {
  using time = new FakeTime();
  const { demand, calls } = demandOf(Infinity, 50);
  assertEquals([demand.state, time.timers], ["idle", 0]);
  demand.acquire()();
  assertEquals(time.timers, 0);
  const kept = demandOf(10, Infinity);
  kept.demand.acquire()();
  time.tick(1_000_000);
  assertEquals([calls, kept.calls, time.timers], [[], ["pause paused"], 0]);
});

Deno.test("Demand that was ended calls nothing when it is acquired and released", () => {
  using time = new FakeTime();
  const { demand, calls } = demandOf(100, 50);
  const release = demand.acquire();
  demand.end();
  release();
  demand.acquire()();
  time.tick(1_000);
  assertEquals([demand.state, calls, time.timers], ["over", [], 0]);
});

Deno.test("Demand is paused if and only if it has had no holder for idleTimeoutMs, in any sequence", () => {
  const step = fc.oneof(fc.constant("acquire"), fc.constant("release"), fc.integer({ min: 0, max: 80 }));
  fc.assert(fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
    using time = new FakeTime();
    const { demand, calls } = demandOf(100, 50);
    const releases: (() => void)[] = [];
    let freeMs: number | undefined;
    for (const step of steps) {
      if (demand.state === "over") break;
      if (step === "acquire") {
        releases.push(demand.acquire());
        freeMs = undefined;
      } else if (step === "release") {
        const release = releases.pop();
        release?.();
        if (release !== undefined && releases.length === 0) freeMs = 0;
      } else {
        time.tick(step as number);
        if (freeMs !== undefined) freeMs += step as number;
      }
      const expected = releases.length > 0
        ? "held"
        : freeMs === undefined || freeMs < 100
        ? "idle"
        : freeMs < 150
        ? "paused"
        : "over";
      assertEquals(demand.state, expected);
      assertEquals(time.timers, demand.state === "paused" || (demand.state === "idle" && freeMs !== undefined) ? 1 : 0);
    }
    const paused = calls.filter((call) => call.startsWith("pause")).length;
    const resumed = calls.filter((call) => call.startsWith("resume")).length;
    assertEquals(paused - resumed, demand.state === "paused" || demand.state === "over" ? 1 : 0);
  }));
});

class RunFixture extends FactoryFixture {
  allowed = true;
  readonly stop = new AbortController();
  ended: "no" | "resolved" | "rejected" = "no";

  constructor() {
    super({ graceMs: 5 }, { authorize: () => this.allowed });
  }

  run(): Promise<void> {
    const running = this.informers.run({ signal: this.stop.signal });
    running.then(() => this.ended = "resolved", () => this.ended = "rejected");
    return running;
  }
}

Deno.test("SharedInformerFactory run() starts the informers, also those asked for meanwhile, and resolves when its signal aborts", async () => {
  await using fixture = new RunFixture();
  const { informers, server, time } = fixture;
  server.create(Pod, pod({ name: "a" }));
  const pods = informers.forResource(Pod);
  const running = fixture.run();
  await time.tickAsync(0);
  assertEquals([pods.indexer.size, server.watches, fixture.ended], [1, 1, "no"]);
  const maps = informers.forResource(ConfigMap);
  for (let i = 0; i < 3; i++) assertStrictEquals(informers.forResource(ConfigMap), maps);
  await time.tickAsync(0);
  await informers.waitForCacheSync();
  assertEquals([maps.hasSynced, server.watches, fixture.ended], [true, 2, "no"]);
  fixture.stop.abort();
  await running;
  assertEquals([pods.status().state, maps.status().state, server.watches], ["stopped", "stopped", 0]);
});

Deno.test("SharedInformerFactory run() after start() takes over the informers, and ends them", async () => {
  await using fixture = new RunFixture();
  const { informers, server, time } = fixture;
  const pods = informers.forResource(Pod);
  informers.start();
  await time.tickAsync(0);
  assertEquals([pods.hasSynced, server.watches], [true, 1]);
  const running = fixture.run();
  const maps = informers.forResource(ConfigMap);
  await time.tickAsync(0);
  // It begins no second watch of the one, and starts the other.
  assertEquals([maps.hasSynced, server.watches, fixture.ended], [true, 2, "no"]);
  fixture.stop.abort();
  await running;
  assertEquals([pods.status().state, maps.status().state, server.watches], ["stopped", "stopped", 0]);
});

Deno.test("SharedInformerFactory run() continues while the server refuses, and without any informer", async () => {
  await using fixture = new RunFixture();
  const { informers, time } = fixture;
  fixture.allowed = false;
  const running = fixture.run();
  await time.tickAsync(1_000);
  const pods = informers.forResource(Pod);
  await time.tickAsync(1_000);
  assertEquals([pods.status().state, fixture.ended, fixture.errors.length > 0], ["forbidden", "no", true]);
  fixture.allowed = true;
  await time.tickAsync(10_000);
  assertEquals([pods.status().state, fixture.ended], ["live", "no"]);
  fixture.stop.abort();
  await running;
});

Deno.test("SharedInformerFactory run() rejects when an informer ends with an error, and stops the others", async () => {
  await using fixture = new RunFixture();
  const { informers, time } = fixture;
  const bug = new Error("onPhase has a bug");
  informers.forResource(Pod, {
    reflector: {
      onPhase: ({ name }) => {
        if (name === "watching") throw bug;
      },
    },
  });
  const maps = informers.forResource(ConfigMap);
  const running = assertRejects(() => fixture.run());
  await time.tickAsync(10);
  assertStrictEquals(await running, bug);
  assertEquals([maps.status().state, fixture.errors], ["stopped", []]);
});

Deno.test("SharedInformerFactory run() rejects when handlers do not return in time", async () => {
  await using fixture = new RunFixture();
  const { informers, server, time } = fixture;
  server.create(Pod, pod({ name: "a" }));
  const never = gate();
  informers.forResource(Pod).addEventHandler({ onAdd: () => never.promise }, { name: "stuck" });
  const running = assertRejects(() => fixture.run(), Error, 'Cannot finish handler "stuck"');
  await time.tickAsync(0);
  fixture.stop.abort();
  await time.tickAsync(5);
  await running;
  never.resolve();
  await time.tickAsync(0);
  await informers.shutdown(); // the error is that of run()
});

Deno.test("SharedInformerFactory run() ends with shutdown(), and runs once at a time", async () => {
  await using fixture = new RunFixture();
  const { informers, time } = fixture;
  informers.forResource(Pod);
  const running = fixture.run();
  await assertRejects(() => informers.run(), Error, "the factory is already running");
  await time.tickAsync(0);
  await informers.shutdown();
  await running;
  await assertRejects(() => informers.run(), Error, "the factory was shut down");
});

Deno.test("SharedInformerFactory run() with a signal that has aborted already resolves", async () => {
  await using fixture = new RunFixture();
  fixture.stop.abort();
  fixture.informers.forResource(Pod);
  await fixture.run();
  assertEquals(fixture.server.requests.length, 0);
});

Deno.test("SharedInformerFactory run() without an informer resolves when its signal aborts, or has aborted already", async () => {
  for (const when of ["before", "after"]) {
    await using fixture = new RunFixture();
    if (when === "before") fixture.stop.abort();
    const running = fixture.run();
    await fixture.time.tickAsync(0);
    assertEquals(fixture.ended, when === "before" ? "resolved" : "no");
    fixture.stop.abort();
    await fixture.time.tickAsync(0);
    assertEquals(fixture.ended, "resolved");
    await running;
  }
});

Deno.test("SharedInformerFactory forResource() adds no listener for an informer that run() has started", async () => {
  await using fixture = new RunFixture();
  const { informers, time } = fixture;
  informers.forResource(Pod);
  const running = fixture.run();
  await time.tickAsync(0);
  const { addEventListener } = EventTarget.prototype;
  let added = 0;
  EventTarget.prototype.addEventListener = function (this: EventTarget, ...args: unknown[]): void {
    added++;
    return addEventListener.apply(this, args as never);
  };
  try {
    for (let i = 0; i < 10; i++) informers.forResource(Pod);
  } finally {
    EventTarget.prototype.addEventListener = addEventListener;
  }
  assertEquals(added, 0);
  fixture.stop.abort();
  await running;
});

Deno.test("SharedInformerFactory refuses selectors that do not parse, as its own and as those of an informer", async () => {
  await using fixture = new RunFixture();
  const { client, informers } = fixture;
  for (const selection of [{ labelSelector: "app in web" }, { fieldSelector: "spec.size" }]) {
    assertThrows(() => new SharedInformerFactory(client, selection), SyntaxError);
    for (let i = 0; i < 2; i++) assertThrows(() => informers.forResource(Pod, selection), SyntaxError);
  }
});

Deno.test("SharedInformerFactory's informers equal the server, for all namespaces, one, or a selection [C103] [F21]", async () => {
  await using fixture = new FactoryFixture();
  const { server, informers } = fixture;
  server.create(Pod, pod({ namespace: "shop", name: "web-0", labels: { app: "web" } }));
  server.create(Pod, pod({ namespace: "shop", name: "db-0", labels: { app: "db" } }));
  server.create(Pod, pod({ namespace: "other", name: "web-0", labels: { app: "web" } }));
  const all = informers.forResource(Pod);
  const shop = informers.forResource(Pod, { namespace: "shop" });
  const web = informers.forResource(Pod, { labelSelector: "app=web" });
  const metadata = informers.forResource(onlyMetadata(Pod));
  informers.start();
  const waiting = informers.waitForCacheSync();
  await fixture.tick();
  await waiting;
  const keys = (): string[][] => [all, shop, web, metadata].map((informer) => [...informer.indexer.keys()].sort());
  assertEquals(keys(), [
    ["other/web-0", "shop/db-0", "shop/web-0"],
    ["shop/db-0", "shop/web-0"],
    ["other/web-0", "shop/web-0"],
    ["other/web-0", "shop/db-0", "shop/web-0"],
  ]);
  assertEquals("spec" in metadata.indexer.getByKey("shop/web-0")!, false);
  assertEquals(metadata.lister.list("app=db").map(({ metadata }) => metadata.name), ["db-0"]);
  server.create(Pod, pod({ namespace: "shop", name: "web-1", labels: { app: "web" } }));
  server.patch(Pod, "shop/db-0", { metadata: { labels: { app: "web" } } });
  server.patch(Pod, "other/web-0", { metadata: { labels: { app: "db" } } });
  server.delete(Pod, "shop/web-0");
  await fixture.tick();
  assertEquals(keys(), [
    ["other/web-0", "shop/db-0", "shop/web-1"],
    ["shop/db-0", "shop/web-1"],
    ["shop/db-0", "shop/web-1"],
    ["other/web-0", "shop/db-0", "shop/web-1"],
  ]);
  assertEquals(shop.lister.list().every(({ metadata }) => metadata.managedFields === undefined), true);
  assertEquals(fixture.errors, [
    "pods: Two informers cache the same pods: one has objects in all namespaces, the other objects " +
    "in namespace shop. Use the larger one for both, or ignore this error",
  ]);
});

Deno.test("SharedInformerFactory's informers use streaming lists where the server supports them, else list requests", async () => {
  for (const streamingList of [true, false]) {
    using time = new FakeTime();
    using server = new FakeApiServer({ streamingList });
    using client = new Client({ server: "http://fake", transport: server });
    server.create(Pod, pod({ name: "a" }));
    const informers = new SharedInformerFactory(client);
    const pods = informers.forResource(Pod);
    informers.start();
    await time.tickAsync(0);
    const { lists, watches } = pods.status();
    assertEquals(
      [pods.hasSynced, pods.indexer.size, lists, watches],
      [true, 1, streamingList ? 0 : 1, streamingList ? 1 : 2],
    );
    await informers.shutdown();
  }
});

Deno.test("SharedInformerFactory makes one informer per resource and selection, for all callers [F30]", async () => {
  await using fixture = new FactoryFixture({ namespace: "shop" });
  const { informers } = fixture;
  const pods = informers.forResource(Pod);
  assertStrictEquals(informers.forResource(Pod), pods);
  assertStrictEquals(informers.forResource(Pod, { namespace: "shop" }), pods);
  assertStrictEquals(informers.forResource({ ...Pod }), pods);
  const others: unknown[] = [
    informers.forResource(Pod, { namespace: "other" }),
    informers.forResource(Pod, { namespace: "" }),
    informers.forResource(Pod, { labelSelector: "app=web" }),
    informers.forResource(Pod, { fieldSelector: "spec.nodeName=a" }),
    informers.forResource(onlyMetadata(Pod)),
    informers.forResource(ConfigMap),
  ];
  for (const other of others) assertNotStrictEquals(other, pods);
  assertEquals(new Set(others).size, 6);
  informers.start();
  await fixture.tick();
  assertEquals([fixture.asked.length, fixture.server.watches], [7, 7]);
});

Deno.test("SharedInformerFactory adds the indexers of later callers, and accepts the same function under the same name", async () => {
  await using fixture = new FactoryFixture();
  const { server, informers } = fixture;
  server.create(Pod, pod({ namespace: "shop", name: "a", node: "n1" }));
  const node = (pod: Pod): string[] => pod.spec.nodeName === undefined ? [] : [pod.spec.nodeName];
  const first = informers.forResource(Pod, { indexers: { node } });
  const second = informers.forResource(Pod, { indexers: { node, name: ({ metadata }) => [metadata.name] } });
  assertStrictEquals<unknown>(first, second);
  informers.start();
  await fixture.tick();
  const third = informers.forResource(Pod, { indexers: { initial: ({ metadata }) => [metadata.name[0]] } });
  assertEquals(first.indexer.indexKeys("node", "n1"), ["shop/a"]);
  assertEquals(second.indexer.indexKeys("name", "a"), ["shop/a"]);
  assertEquals(third.indexer.indexKeys("initial", "a"), ["shop/a"]);
  assertThrows(
    () => informers.forResource(Pod, { indexers: { node: () => [], more: () => [] } }),
    Error,
    'Cannot share the informer of "pods": the index "node" already has another function. Choose another name',
  );
  // @ts-expect-error nothing was added
  assertThrows(() => first.indexer.byIndex("more", ""), RangeError);
  informers.forResource(Pod, { indexers: { phase: field("status.phase") } });
  informers.forResource(Pod, { indexers: { phase: field("status.phase") } }); // the same path
  for (const phase of [field("status.reason"), field("status.phase").exists, () => []]) {
    assertThrows(
      () => informers.forResource(Pod, { indexers: { phase } as never }),
      Error,
      "already has another function",
    );
  }
});

Deno.test("SharedInformerFactory names the option in which a later call contradicts the first [F29]", async () => {
  const reflector = { backoff: { jitter: 0 } };
  await using fixture = new FactoryFixture({ resyncMs: 5_000, reflector });
  const { informers } = fixture;
  const transform = (pod: Pod): Pod => pod;
  const options = { transform, managedFields: "keep", parse: "eager", freeze: true, graceMs: 1 } as const;
  const pods = informers.forResource(Pod, options);
  // The same again, nothing, or what the factory says anyway, contradicts nobody.
  for (const same of [options, {}, { transform }, { resyncMs: 5_000 }, { reflector }]) {
    assertStrictEquals(informers.forResource(Pod, same), pods);
  }
  for (
    const [name, other] of Object.entries({
      transform: (pod: Pod) => pod,
      managedFields: "drop",
      parse: "lazy",
      freeze: false,
      graceMs: 2,
      resyncMs: 1_000,
      reflector: { pageSize: 10 },
      onError: () => {},
      consistencyCheck: { intervalMs: 70_000 },
    })
  ) {
    assertThrows(
      () => informers.forResource(Pod, { [name]: other }),
      Error,
      `Cannot share the informer of "pods": the option "${name}" has another value than the first caller gave. Pass the same value, or create another factory`,
    );
  }
});

Deno.test("SharedInformerFactory starts informers that have not been started, at each call of start [F08] [F27]", async () => {
  await using fixture = new FactoryFixture();
  const { informers } = fixture;
  const pods = informers.forResource(Pod);
  informers.start();
  informers.start();
  const maps = informers.forResource(ConfigMap);
  await fixture.tick();
  assertEquals([pods.hasSynced, maps.status().state], [true, "idle"]);
  informers.forResource(Deployment);
  await assertRejects(
    () => informers.waitForCacheSync(),
    Error,
    'Cannot wait for "configmaps", "deployments.apps": not started. Call start() after the last forResource()',
  );
  informers.start();
  const waiting = informers.waitForCacheSync();
  await fixture.tick();
  await waiting;
  assertEquals([maps.hasSynced, fixture.asked, fixture.errors], [true, ["list", "list", "list"], []]);
});

Deno.test("SharedInformerFactory's informers end with the signal they were started with", async () => {
  await using fixture = new FactoryFixture();
  const { informers } = fixture;
  const pods = informers.forResource(Pod);
  const stop = new AbortController();
  informers.start({ signal: stop.signal });
  const maps = informers.forResource(ConfigMap);
  informers.start();
  await fixture.tick();
  stop.abort();
  await fixture.tick();
  assertEquals([pods.status().state, maps.status().state, fixture.server.watches], ["stopped", "live", 1]);
});

Deno.test("SharedInformerFactory waits for all caches, and rejects with the first refusal unless it is patient [C102]", async () => {
  await using fixture = new FactoryFixture();
  const { informers, server } = fixture;
  await informers.waitForCacheSync(); // nothing to wait for
  // Both ways of listing are refused.
  server.failNext(403, 2, ({ path }) => path.endsWith("/configmaps"));
  informers.forResource(Pod);
  const maps = informers.forResource(ConfigMap);
  informers.forResource(Namespace);
  informers.start();
  const refused = assertRejects(() => informers.waitForCacheSync(), Error, "configmaps");
  const patient = informers.waitForCacheSync({ patient: true });
  const stop = new AbortController();
  await fixture.tick();
  await refused;
  const aborted = assertRejects(
    () => informers.waitForCacheSync({ patient: true, signal: stop.signal }),
    WaitError,
    'Cannot wait for "configmaps" to sync: given up after',
  );
  stop.abort(new Error("enough"));
  assertEquals(((await aborted).reason as Error).message, "enough");
  assertEquals([maps.status().state, fixture.errors.length], ["forbidden", 1]);
  assertEquals(fixture.errors[0].startsWith("configmaps: Cannot "), true);
  await fixture.time.tickAsync(800);
  await patient;
  assertEquals(maps.hasSynced, true);
});

Deno.test("SharedInformerFactory.run() rejects once its informers have not synced within syncTimeoutMs, and stops them first", async () => {
  await using fixture = new FactoryFixture();
  const { informers, server } = fixture;
  using _stalled = server.stallNext(Infinity, ({ path }) => path.endsWith("/pods"));
  server.failNext(403, Infinity, ({ path }) => path.endsWith("/configmaps"));
  const all = [informers.forResource(Pod), informers.forResource(ConfigMap), informers.forResource(Namespace)];
  const running = assertRejects(
    () => informers.run({ syncTimeoutMs: 5_000 }),
    WaitError,
    'Cannot wait for "pods" to sync: given up after 5.0 s',
  );
  await fixture.tick(4_999);
  assertEquals(all.map(({ hasSynced }) => hasSynced), [false, false, true]);
  await fixture.tick(1);
  const { message } = await running;
  assertMatch(message, /; "configmaps" to sync: given up .* "forbidden" for [0-9.]+ s: Cannot .*: 403/);
  assertEquals(all.map((it) => it.status().state), ["stopped", "stopped", "stopped"]);
  await assertRejects(() => informers.run({ syncTimeoutMs: -1 }), RangeError, "syncTimeoutMs");
});

Deno.test("SharedInformerFactory.run() with syncTimeoutMs continues after the sync, and ends quietly before it", async () => {
  for (const stopsAtMs of [0, 60_000]) {
    await using fixture = new FactoryFixture();
    const { informers } = fixture;
    using _stalled = stopsAtMs === 0 ? fixture.server.stallNext(Infinity) : undefined;
    informers.forResource(Pod);
    const stop = new AbortController();
    const running = informers.run({ signal: stop.signal, syncTimeoutMs: 5_000 });
    await fixture.tick(stopsAtMs);
    stop.abort(new DOMException("over", "TimeoutError"));
    await running;
  }
});

Deno.test("SharedInformerFactory.run() with syncTimeoutMs rejects with the error of an informer that ends by itself", async () => {
  await using fixture = new FactoryFixture();
  const { informers } = fixture;
  const onPhase = (): never => {
    throw new Error("thrown");
  };
  informers.forResource(Pod, { reflector: { onPhase } });
  const running = assertRejects(() => informers.run({ syncTimeoutMs: 5_000 }), Error, "thrown");
  await fixture.tick();
  assertEquals((await running).message, "thrown");
});

Deno.test("SharedInformerFactory.run() with syncTimeoutMs continues when a caller stops an informer before its sync", async () => {
  await using fixture = new FactoryFixture();
  const { informers, server } = fixture;
  using _stalled = server.stallNext(Infinity, ({ path }) => path.endsWith("/pods"));
  const [pods, maps] = [informers.forResource(Pod), informers.forResource(ConfigMap)];
  const stop = new AbortController();
  const running = informers.run({ signal: stop.signal, syncTimeoutMs: 5_000 });
  await fixture.tick(1_000);
  await pods[Symbol.asyncDispose]();
  await fixture.tick(10_000);
  assertEquals([pods.status().state, maps.status().state], ["stopped", "live"]);
  stop.abort();
  await running;
});

Deno.test("SharedInformerFactory that was shut down makes and starts no informer, and waits for none", async () => {
  await using fixture = new FactoryFixture();
  const { informers } = fixture;
  const pods = informers.forResource(Pod);
  informers.start();
  const waiting = assertRejects(() => informers.waitForCacheSync({ patient: true }), Error, "it has stopped");
  await Promise.all([informers.shutdown(), informers.shutdown()]);
  await waiting;
  assertEquals(pods.status().state, "stopped");
  assertThrows(() => informers.forResource(ConfigMap), Error, "Cannot create an informer: the factory was shut down");
  assertThrows(() => informers.start(), Error, "Cannot start informers: the factory was shut down");
});

Deno.test("shutting down a SharedInformerFactory inside a handler waits for all calls but that one", async () => {
  await using fixture = new FactoryFixture();
  const { informers } = fixture;
  const happened: string[] = [];
  const last = gate();
  informers.forResource(Pod).addEventHandler({
    onSynced: async () => {
      await informers.shutdown();
      happened.push("disposed inside");
      await last.promise;
      happened.push("returned");
    },
  });
  informers.start();
  await fixture.tick();
  // Asked from outside, it does wait.
  const outside = informers.shutdown().then(() => void happened.push("disposed outside"));
  await fixture.tick();
  assertEquals(happened, ["disposed inside"]);
  last.resolve();
  await outside;
  assertEquals(happened, ["disposed inside", "returned", "disposed outside"]);
});

Deno.test("SharedInformerFactory reports an error thrown by one onError as uncaught, and calls the other", async () => {
  const thrown = { own: new Error("the informer's is at fault"), factory: new Error("the factory's is at fault") };
  const calls: string[] = [];
  const fixture = new FactoryFixture({
    graceMs: 5,
    onError: (error) => {
      calls.push(`factory: ${errorLine(error)}`);
      throw thrown.factory;
    },
  });
  using uncaught = new Uncaught();
  const { informers, server } = fixture;
  server.create(Pod, pod({ name: "a" }));
  const pods = informers.forResource(Pod, {
    onError: (error) => {
      calls.push(`own: ${errorLine(error)}`);
      throw thrown.own;
    },
  });
  const hold = gate();
  const stop = new AbortController();
  pods.addEventHandler({
    onAdd: () => {
      throw new Error("bad");
    },
    onSynced: () => hold.promise,
  });
  informers.start({ signal: stop.signal });
  await fixture.tick();
  const failed = 'Handler "handler 1" failed on "added" of "default/a": bad';
  assertEquals(calls.splice(0), [`own: ${failed}`, `factory: ${failed}`]);
  assertEquals([uncaught.errors.splice(0), pods.status().state], [[thrown.own, thrown.factory], "live"]);
  // A stop that failed is reported to the factory's `onError` alone.
  stop.abort();
  await fixture.time.tickAsync(5);
  assertEquals(calls, ['factory: Cannot finish handler "handler 1": its call has not returned within 5 ms']);
  assertEquals(uncaught.errors, [thrown.factory]);
  hold.resolve();
  await fixture[Symbol.asyncDispose](); // onError has received the failure
});

Deno.test("SharedInformerFactory returns a stopped informer to a later caller", async () => {
  await using fixture = new FactoryFixture();
  const { informers } = fixture;
  const pods = informers.forResource(Pod);
  await pods[Symbol.asyncDispose]();
  assertStrictEquals(informers.forResource(Pod), pods);
});

Deno.test("SharedInformerFactory's shutdown waits graceMs for handlers, and names those of all informers that have not returned", async () => {
  const fixture = new FactoryFixture({ graceMs: 3_000 });
  const { informers, server } = fixture;
  server.create(Pod, pod({ name: "a" }));
  server.create(ConfigMap, configMap({ name: "a" }));
  const never = gate();
  let returned = false;
  const soon = gate();
  informers.forResource(Pod).addEventHandler({ onAdd: () => never.promise }, { name: "stuck" });
  informers.forResource(Namespace).addEventHandler({ onSynced: () => never.promise }, { name: "hanging" });
  informers.forResource(ConfigMap).addEventHandler({ onAdd: () => soon.promise.then(() => void (returned = true)) });
  informers.start();
  await fixture.tick();
  const rejected = assertRejects(() => informers.shutdown(), InformerError, "Cannot shut down all informers: ");
  await fixture.time.tickAsync(900);
  soon.resolve();
  await fixture.time.tickAsync(2_100);
  const failures = ["stuck", "hanging"].map((name) =>
    `Cannot finish handler "${name}": its call has not returned within 3000 ms`
  );
  assertEquals((await rejected).message, `Cannot shut down all informers: ${failures.join("; ")}`);
  assertEquals([returned, server.watches, fixture.time.timers], [true, 0, 0]);
  // It is reported to onError too, for programs that only abort a signal; and after a second what the stop waits for.
  assertEquals(fixture.errors.filter((error) => error.startsWith("pods: ")), [
    'pods: Waiting for handler "stuck": its call has not returned 1000 ms after the stop. The informer waits for up to 3000 ms',
    'pods: Cannot finish handler "stuck": its call has not returned within 3000 ms',
  ]);
  never.resolve();
  await fixture[Symbol.asyncDispose](); // shutdown() has rejected with the failure
});

Deno.test("SharedInformerFactory's informers have the factory's options, unless they set their own", async () => {
  await using fixture = new FactoryFixture({ freeze: true, managedFields: "keep" });
  const { informers, server } = fixture;
  server.create(Pod, pod({ name: "a" }));
  server.create(ConfigMap, configMap({ name: "a" }));
  const own: unknown[] = [];
  const pods = informers.forResource(Pod, { freeze: undefined });
  const maps = informers.forResource(ConfigMap, {
    freeze: false,
    managedFields: "drop",
    onError: (error) => own.push(error),
  });
  maps.addEventHandler({
    onAdd: () => {
      throw new Error("bad");
    },
  });
  informers.start();
  await fixture.tick();
  const [a, b] = [pods.lister.list()[0], maps.lister.list()[0]];
  assertEquals([Object.isFrozen(a), Object.isFrozen(b)], [true, false]);
  assertEquals([a.metadata.managedFields !== undefined, b.metadata.managedFields], [true, undefined]);
  // Errors are reported to both.
  assertEquals([own.length, fixture.errors], [1, [
    'configmaps: Handler "handler 1" failed on "added" of "default/a": bad',
  ]]);
});
