import {
  assert,
  assertEquals,
  assertRejects,
  assertStrictEquals,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import type { Selection } from "../../../src/engine/api/call_options.ts";
import { onlyMetadata, type Resource } from "../../../src/engine/api/resource.ts";
import { Client } from "../../../src/engine/client/client.ts";
import { errorLine } from "../../../src/engine/errors/errors.ts";
import type { AcquiredInformer } from "../../../src/engine/informer/acquired_informer.ts";
import type { ResourceEventHandler } from "../../../src/engine/informer/events/event.ts";
import type { SharedInformerFactoryOptions } from "../../../src/engine/informer/options.ts";
import { SharedInformerFactory } from "../../../src/engine/informer/shared_informer_factory.ts";
import { ConfigMap, Node, Pod } from "../../../src/engine/kinds/core/v1.ts";
import { Random } from "../../../src/testing/fake/random.ts";
import { FakeApiServer, history, perform, pod } from "../../../src/testing/mod.ts";
import { EventChecker } from "../../support/cluster/event_checker.ts";
import { FakeTime } from "../../support/times/fake_time.ts";
import { collectHeap } from "../../support/times/heap.ts";
import { gate } from "../../support/sources/informer.ts";
import { AllListeners, CountedController } from "../../support/times/listeners.ts";
import { FactoryFixture } from "./_factory_fixture.ts";

class AcquireFixture extends FactoryFixture {
  constructor(options: SharedInformerFactoryOptions = {}) {
    super({
      reflector: { backoff: { jitter: 0 }, reconnectMs: 0 },
      idleTimeoutMs: 10_000,
      cacheTtlMs: 60_000,
      ...options,
    });
    this.server.create(Pod, pod({ name: "a" }));
    this.server.create(Pod, pod({ name: "b" }));
  }
}

interface Scope {
  readonly resource: Resource;
  readonly options?: Selection;
}

const keys = (pods: AcquiredInformer<Pod>): string[] => [...pods.informer.indexer.keys()].sort();

/** A handler that writes down what it receives. */
function noting(lines: string[]): ResourceEventHandler<Pod> {
  return {
    onAdd: ({ key }) => void lines.push(`+ ${key}`),
    onUpdate: ({ key }) => void lines.push(`~ ${key}`),
    onDelete: ({ key, finalStateUnknown }) => void lines.push(`- ${key}${finalStateUnknown ? " (unknown)" : ""}`),
  };
}

Deno.test("acquire runs an informer while it has holders, and idleTimeoutMs longer; cacheTtlMs later its cache is dropped", async () => {
  await using fixture = new AcquireFixture();
  const { informers, server } = fixture;
  const first = informers.acquire(Pod);
  const second = informers.acquire(Pod);
  const synced = first.informer.waitForCacheSync();
  await fixture.tick();
  await synced;
  assertEquals(
    [keys(first), keys(second), fixture.asked, server.watches],
    [["default/a", "default/b"], ["default/a", "default/b"], ["list"], 1],
  );
  assertStrictEquals(first.informer.lister, second.informer.lister);
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  await fixture.tick(60_000);
  assertEquals([second.informer.status().state, server.watches], ["live", 1]);
  second[Symbol.dispose]();
  await fixture.tick(9_999);
  assertEquals(server.watches, 1);
  await fixture.tick(1);
  assertEquals(server.watches, 0);
  await fixture.tick(60_000);
  assertEquals(fixture.time.timers, 0);
  fixture.asked;
  using third = informers.acquire(Pod);
  assertEquals([third.informer.hasSynced, keys(third)], [false, []]);
  await fixture.tick();
  assertEquals([third.informer.status().state, fixture.asked], ["live", ["list"]]);
});

Deno.test("acquire before cacheTtlMs are over reads the cache at once, stale with its age, and resumes the watch without a list", async () => {
  await using fixture = new AcquireFixture();
  const { informers, server } = fixture;
  {
    using pods = informers.acquire(Pod);
    await fixture.tick();
    assertEquals(pods.informer.status().state, "live");
  }
  await fixture.tick(10_000);
  const version = server.resourceVersion;
  server.create(Pod, pod({ name: "c" }));
  server.delete(Pod, "default/a");
  await fixture.tick(20_000);
  fixture.asked;
  const lines: string[] = [];
  using pods = informers.acquire(Pod);
  pods.addEventHandler(noting(lines));
  await pods.informer.waitForCacheSync(); // at once
  const { staleForMs, state } = pods.informer.status();
  assertEquals(
    [keys(pods), pods.informer.hasSynced, staleForMs, state],
    [["default/a", "default/b"], true, 20_000, "stale"],
  );
  await fixture.tick();
  assertEquals([fixture.asked, pods.informer.status().state], [[`watch from ${version}`], "live"]);
  assertEquals([keys(pods), lines], [
    ["default/b", "default/c"],
    ["+ default/a", "+ default/b", "+ default/c", "- default/a"],
  ]);
});

Deno.test("AcquiredInformer takes its handlers, streams, views and signal along when it is disposed, and no others", async () => {
  await using fixture = new AcquireFixture();
  const { informers, server } = fixture;
  using other = informers.acquire(Pod);
  const [lines, others]: [string[], string[]] = [[], []];
  other.addEventHandler(noting(others));
  const pods = informers.acquire(Pod);
  const outer = new CountedController();
  const registration = pods.addEventHandler(noting(lines), { signal: outer.signal, name: "mine" });
  const aborts: unknown[] = [];
  const hold = gate();
  pods.addEventHandler({
    onSynced: (_event, { signal }) => {
      signal.addEventListener("abort", () => aborts.push(signal.reason));
      return hold.promise;
    },
  });
  const read: string[] = [];
  const streaming = (async () => {
    for await (const event of pods.events()) read.push(event.type);
  })();
  const updates = pods.view().changes();
  const { signal } = pods;
  const wait = assertRejects(() => pods.informer.until(() => false, { signal }));
  await fixture.tick();
  assertEquals([lines.splice(0), others.splice(0)], [["+ default/a", "+ default/b"], ["+ default/a", "+ default/b"]]);
  assertEquals((await updates.next()).value?.total, 2);
  pods[Symbol.dispose]();
  assertStringIncludes(errorLine(await wait), 'informer of "pods": this holder was disposed');
  await streaming;
  assertEquals(await updates.next(), { done: true, value: undefined });
  assertEquals([outer.listeners, aborts.length, read], [0, 1, ["added", "added", "synced"]]);
  server.create(Pod, pod({ name: "c" }));
  await fixture.tick();
  assertEquals([lines, others], [[], ["+ default/c"]]);
  assertEquals(other.informer.status().handlers.map(({ name }) => name), ["handler 1"]);
  registration.remove();
  hold.resolve();
  const message = 'Cannot use the informer of "pods": this holder was disposed';
  for (
    const use of [
      () => pods.informer,
      () => pods.events(),
      () => pods.view(),
      () => pods.addEventHandler({}),
    ]
  ) assertThrows(use, DOMException, message);
});

Deno.test("AcquiredInformer leaves no listener on a signal, or on its own, when what was begun with it has ended", async () => {
  await using fixture = new AcquireFixture();
  using all = new AllListeners();
  using pods = fixture.informers.acquire(Pod);
  const stop = new CountedController();
  await fixture.tick();
  const before = all.count;
  for (let round = 0; round < 3; round++) {
    const { signal } = stop;
    const registration = pods.addEventHandler({}, { signal });
    const own = new AbortController();
    pods.addEventHandler({}, { signal: own.signal });
    own.abort();
    const view = pods.view({ signal });
    const iterators = [pods.events({ signal }), view.changes({ signal })];
    for (const iterator of iterators) {
      await iterator.next();
      await iterator.return!();
    }
    pods.events({ signal }); // does not begin
    registration.remove();
    view[Symbol.dispose]();
    await fixture.tick();
    assertEquals([stop.listeners, all.count - before, pods.informer.status().handlers], [0, 0, []], `round ${round}`);
  }
});

Deno.test("acquire in the turn in which the watch ends resumes it, and before or after that turn as well", async () => {
  for (const order of ["before", "after"]) {
    await using fixture = new AcquireFixture();
    const { informers, server, time } = fixture;
    informers.acquire(Pod)[Symbol.dispose]();
    await fixture.tick(9_999);
    let again: AcquiredInformer<Pod> | undefined;
    const acquire = (): void => void (again = informers.acquire(Pod));
    // A timer that is due at the same time, and fires behind the informer's; or acquire just before that.
    if (order === "after") setTimeout(acquire, 1);
    else acquire();
    time.tick(1);
    assert(again !== undefined);
    assertEquals(keys(again), ["default/a", "default/b"]);
    await fixture.tick(60_000);
    assertEquals(
      [again.informer.status().state, server.watches, fixture.asked.filter((it) => it === "list")],
      ["live", 1, ["list"]],
    );
    again[Symbol.dispose]();
  }
});

Deno.test("forResource holds an informer for as long as the factory, before and after it is acquired", async () => {
  await using fixture = new AcquireFixture();
  const { informers, server } = fixture;
  const pods = informers.forResource(Pod);
  informers.acquire(Pod)[Symbol.dispose](); // starts it
  await fixture.tick(600_000);
  assertEquals([pods.status().state, server.watches], ["live", 1]);
  informers.acquire(ConfigMap)[Symbol.dispose]();
  await fixture.tick(20_000);
  assertEquals(server.watches, 1);
  const maps = informers.forResource(ConfigMap);
  informers.start();
  await fixture.tick(600_000);
  assertEquals([maps.status().state, server.watches, fixture.errors], ["live", 2, []]);
});

Deno.test("waitForCacheSync of the factory does not wait for informers without a holder", async () => {
  await using fixture = new AcquireFixture();
  const { informers, server } = fixture;
  using _stall = server.stallNext(1, ({ url }) => url.includes("configmaps"));
  informers.acquire(ConfigMap)[Symbol.dispose]();
  using _pods = informers.acquire(Pod);
  const waiting = informers.waitForCacheSync();
  await fixture.tick();
  await waiting;
});

Deno.test("acquire refuses other options than those of the first holder, and leaves nothing", async () => {
  await using fixture = new AcquireFixture();
  const { informers } = fixture;
  const byNode = (pod: Pod): string[] => [pod.spec.nodeName ?? ""];
  {
    using _first = informers.acquire(Pod, { parse: "eager", indexers: { byNode } });
    using second = informers.acquire(Pod, { indexers: { byNode } });
    assertEquals(second.informer.indexer.byIndex("byNode", ""), []);
    assertThrows(
      () => informers.acquire(Pod, { parse: "lazy" }),
      Error,
      'Cannot share the informer of "pods": the option "parse" has another value than the first caller gave. Pass the same value, or create another factory',
    );
    assertThrows(() => informers.acquire(Pod, { indexers: { byNode: () => [] } }), Error, 'index "byNode"');
    assertThrows(() => informers.acquire(Node, { indexers: { namespace: () => [] } }), Error, "namespace");
  }
  await fixture.tick(70_000);
  assertEquals([fixture.time.timers, fixture.server.watches], [0, 0]);
  // After the cache was dropped, a first holder has its way.
  using _other = informers.acquire(Pod, { parse: "lazy" });
});

Deno.test("SharedInformerFactory that was shut down refuses acquire; disposing a holder later does nothing", async () => {
  await using fixture = new AcquireFixture();
  const { informers } = fixture;
  const pods = informers.acquire(Pod);
  informers.acquire(ConfigMap)[Symbol.dispose]();
  await fixture.tick();
  await informers.shutdown();
  assertEquals(
    [pods.informer.status().state, keys(pods), fixture.time.timers],
    ["stopped", ["default/a", "default/b"], 0],
  );
  assertThrows(() => informers.acquire(Pod), Error, "Cannot create an informer: the factory was shut down");
  pods[Symbol.dispose]();
  await fixture.tick(100_000);
  assertEquals(fixture.time.timers, 0);
});

Deno.test("acquire replaces an informer that has stopped or failed; its holders, disposed later, do not touch the new one", async () => {
  const onPhase = (): never => {
    throw new Error("this phase fails");
  };
  for (const [reflector, errors] of [[undefined, []], [{ onPhase }, ["pods: this phase fails"]]] as const) {
    await using fixture = new AcquireFixture();
    const { informers, server } = fixture;
    const stop = new AbortController();
    informers.forResource(Pod, { reflector });
    informers.start({ signal: stop.signal });
    const before = informers.acquire(Pod);
    await fixture.tick();
    stop.abort();
    await fixture.tick();
    assertEquals([before.informer.status().state, server.watches, fixture.errors], ["stopped", 0, [...errors]]);
    using again = informers.acquire(Pod);
    await fixture.tick();
    assertEquals([again.informer.status().state, keys(again), server.watches], ["live", ["default/a", "default/b"], 1]);
    before[Symbol.dispose]();
    await fixture.tick(600_000);
    using more = informers.acquire(Pod);
    assertStrictEquals(more.informer.lister, again.informer.lister);
    assertEquals(again.informer.status().state, "live");
  }
});

Deno.test("run() of the factory ends its informers also where acquire has started them, and leaves others to their holders", async () => {
  await using fixture = new AcquireFixture();
  const { informers, server } = fixture;
  using pods = informers.acquire(Pod);
  using maps = informers.acquire(ConfigMap);
  using nodes = informers.acquire(Node);
  informers.forResource(Pod);
  const stop = new AbortController();
  const running = informers.run({ signal: stop.signal });
  informers.forResource(ConfigMap);
  informers.forResource(ConfigMap);
  await fixture.tick();
  assertEquals(server.watches, 3);
  stop.abort();
  await running;
  assertEquals([pods, maps, nodes].map((it) => it.informer.status().state), ["stopped", "stopped", "live"]);
  // A run whose signal has aborted already ends them too.
  informers.forResource(Node);
  await informers.run({ signal: stop.signal });
  await fixture.tick();
  assertEquals(nodes.informer.status().state, "stopped");
});

Deno.test("A handler of a disposed holder whose call does not return is reported once the informer is dropped", async () => {
  await using fixture = new AcquireFixture({ graceMs: 1_000 });
  const pods = fixture.informers.acquire(Pod);
  const never = gate();
  pods.addEventHandler({ onSynced: () => never.promise }, { name: "stuck" });
  await fixture.tick();
  pods[Symbol.dispose]();
  fixture.informers.acquire(Pod)[Symbol.dispose]();
  await fixture.tick(72_000);
  assertEquals(fixture.errors, ['pods: Cannot finish handler "stuck": its call has not returned within 1000 ms']);
});

Deno.test("1,000 rounds of acquire and dispose leave no timer, watch, listener or memory", async () => {
  await using fixture = new AcquireFixture({ idleTimeoutMs: 1_000, cacheTtlMs: 2_000 });
  const { informers, server, time } = fixture;
  const outer = new CountedController();
  const caches: WeakRef<object>[] = [];
  const round = async (number: number): Promise<void> => {
    using pods = informers.acquire(Pod);
    if (caches.length === 0 || caches.at(-1)!.deref() !== pods.informer.lister) {
      caches.push(new WeakRef(pods.informer.lister));
    }
    pods.addEventHandler({ onAdd: () => {} }, { signal: outer.signal });
    const read = pods.events({ signal: outer.signal });
    await Promise.all([
      pods.informer.waitForCacheSync({ signal: outer.signal }),
      read.next(),
      fixture.tick(number % 3),
    ]);
  };
  for (let number = 0; number < 1_000; number++) {
    await round(number);
    // At once, while idle, while paused, and after it was dropped.
    await fixture.tick([0, 500, 2_000, 4_000][number % 4]);
  }
  await fixture.tick(4_000);
  assertEquals([server.watches, time.timers, outer.listeners, fixture.errors], [0, 0, 0, []]);
  assertEquals(caches.length, 250);
  await collectHeap();
  const alive = caches.filter((cache) => cache.deref() !== undefined).length;
  // Collections are not exact: a leak keeps one of each round.
  assert(alive < 10, `${alive} of ${caches.length} caches are kept`);
  assertEquals(fixture.asked.filter((request) => request === "list").length, 250);
});

Deno.test("SharedInformerFactory reports the first overlapping caches of a kind, once, and no separate ones", async () => {
  const overlaps: readonly (readonly Scope[])[] = [
    [{ resource: Pod }, { resource: onlyMetadata(Pod) }],
    [{ resource: Pod }, { resource: Pod, options: { namespace: "shop" } }],
    [{ resource: Pod, options: { namespaces: ["a", "b"] } }, { resource: Pod, options: { namespace: "b" } }],
    [{ resource: Pod, options: { labelSelector: "app=web" } }, { resource: Pod }],
    [{ resource: Pod }, { resource: { ...Pod, version: "v2" } }],
    [{ resource: Node }, { resource: Node, options: { fieldSelector: "metadata.name=a" } }],
  ];
  for (const [first, second] of overlaps) {
    await using fixture = new AcquireFixture();
    const { informers } = fixture;
    using _first = informers.acquire(first.resource, first.options);
    assertEquals(fixture.errors, []);
    for (let round = 0; round < 3; round++) {
      informers.acquire(second.resource, second.options)[Symbol.dispose]();
      informers.forResource(second.resource, second.options);
    }
    informers.forResource(first.resource, { fieldSelector: "metadata.name=b" });
    assertEquals(fixture.errors.length, 1, fixture.errors.join());
    assert(fixture.errors[0].includes(": Two informers cache the same "), fixture.errors[0]);
  }
  const separate: readonly (readonly Scope[])[] = [
    [{ resource: Pod, options: { namespace: "a" } }, { resource: onlyMetadata(Pod), options: { namespace: "b" } }],
    [{ resource: Pod, options: { labelSelector: "app=web" } }, { resource: Pod, options: { labelSelector: "app=db" } }],
    [{ resource: Pod }, { resource: ConfigMap }],
    [{ resource: Pod }, { resource: { ...Pod, group: "acme.dev" } }],
    [{ resource: Pod }, { resource: Pod }],
  ];
  for (const scopes of separate) {
    await using fixture = new AcquireFixture();
    for (const { resource, options } of scopes) fixture.informers.forResource(resource, options);
    assertEquals(fixture.errors, []);
  }
});

Deno.test("SharedInformerFactory says which caches overlap, and does not report again what was dropped", async () => {
  await using fixture = new AcquireFixture();
  const { informers } = fixture;
  informers.acquire(Pod, { namespace: "shop" })[Symbol.dispose]();
  await fixture.tick(100_000);
  using _all = informers.acquire(Pod);
  assertEquals(fixture.errors, []);
  using _some = informers.acquire(onlyMetadata(Pod), { namespaces: ["b", "a"], labelSelector: "app=web" });
  assertEquals(fixture.errors, [
    "pods: Two informers cache the same pods: one has objects in all namespaces, the other metadata in " +
    'namespace b, a with labels "app=web". Use the larger one for both, or ignore this error',
  ]);
});

Deno.test("SharedInformerFactory refuses each option that is no duration", () => {
  using client = new Client({ server: "http://fake", transport: new FakeApiServer() });
  for (const options of [{ idleTimeoutMs: -1 }, { cacheTtlMs: NaN }, { graceMs: -1 }, { resyncMs: -1 }]) {
    assertThrows(() => new SharedInformerFactory(client, options), RangeError, "Cannot create a factory: ");
  }
});

const IDLE_MS = 8_000;
const FORGET_MS = 40_000;

/** Writes, and faults that need no timer of the server. */
const STEPS: ReadonlySet<string> = new Set([
  "write",
  "delete",
  "compact",
  "drop",
  "end",
  "refuse",
  "break",
  "failWatches",
]);

/** A holder, whose events are checked. */
class Holder implements Disposable {
  readonly maps: AcquiredInformer<ConfigMap>;
  readonly checker: EventChecker<ConfigMap>;
  /** The objects that it had received when it was disposed, and has to have at the end. */
  last: string | undefined;

  constructor(informers: SharedInformerFactory) {
    this.maps = informers.acquire(ConfigMap);
    this.checker = new EventChecker(this.maps.informer, this.maps);
  }

  [Symbol.dispose](): void {
    this.maps[Symbol.dispose]();
    this.last ??= this.checker.summary;
  }
}

/** Plays the history of a seed under holders that come and go. Returns the number of pauses and of caches. */
async function play(seed: number): Promise<{ readonly pauses: number; readonly caches: number }> {
  using time = new FakeTime();
  using server = new FakeApiServer({ seed, history: 20, chunkBytes: 300, bookmarkMs: 10_000 });
  using client = new Client({ server: "http://fake", transport: server });
  const informers = new SharedInformerFactory(client, {
    idleTimeoutMs: IDLE_MS,
    cacheTtlMs: FORGET_MS,
    compact: seed % 2 === 0,
    onError: () => {},
  });
  const random = new Random(seed ^ 0xac9);
  const holders: Holder[] = [];
  const all: Holder[] = [];
  const what = `seed ${seed}`;
  let [pauses, caches, freeMs] = [0, 0, Infinity];
  const wait = async (ms: number): Promise<void> => {
    await time.tickAsync(ms);
    if (holders.length > 0) return;
    if (freeMs < IDLE_MS && freeMs + ms >= IDLE_MS) pauses++;
    freeMs += ms;
    if (freeMs >= IDLE_MS) assertEquals(server.watches, 0, `${what}: the informer has no holder, so it does not watch`);
    if (freeMs >= IDLE_MS + FORGET_MS) assertEquals(time.timers, 0, `${what}: nothing is left of the informer`);
  };
  const acquire = (): void => {
    const isKept = holders.length > 0 || freeMs < IDLE_MS + FORGET_MS;
    if (!isKept) caches++;
    holders.push(new Holder(informers));
    all.push(holders.at(-1)!);
    if (!isKept) assertEquals(holders[0].maps.informer.indexer.size, 0, `${what}: a new cache is empty`);
  };
  const dispose = (): void => {
    const [holder] = holders.splice(random.below(holders.length), 1);
    holder?.[Symbol.dispose]();
    holder?.[Symbol.dispose]();
    if (holder !== undefined && holders.length === 0) freeMs = 0;
  };
  const steps = history(seed, { names: 3, steps: 60 }).filter((step) => STEPS.has(step.do));
  for (const step of steps) {
    perform(server, ConfigMap, step);
    const chance = random.next();
    if (chance < 0.4) acquire();
    if (chance > 0.3) dispose();
    await wait(random.pick([0, 0, 30, 900, 5_000, IDLE_MS - 1, IDLE_MS, 30_000, 70_000]));
  }
  acquire();
  const { maps } = holders[0];
  await time.tickAsync(0);
  const caughtUp = (): boolean =>
    maps.informer.status().state === "live" && maps.informer.lastSyncResourceVersion === server.resourceVersion;
  for (let tries = 0; tries < 20 && !caughtUp(); tries++) {
    server.bookmark();
    await time.tickAsync(30_000);
  }
  const expected = server.list(ConfigMap)
    .map(({ metadata }) => `${metadata.namespace}/${metadata.name}@${metadata.resourceVersion}`).sort();
  const cached = [...maps.informer.entries].map(({ key, resourceVersion }) => `${key}@${resourceVersion}`).sort();
  assertEquals([maps.informer.status().state, cached], ["live", expected], what);
  for (const { checker } of holders) assertEquals(await checker.end(), [], `${what}: every holder has every event`);
  for (const holder of holders.splice(0)) holder[Symbol.dispose]();
  await time.tickAsync(IDLE_MS + FORGET_MS);
  assertEquals([server.watches, time.timers], [0, 0], what);
  for (const { checker, last } of all) assertEquals([checker.problems, checker.summary], [[], last], what);
  await informers.shutdown();
  return { pauses, caches };
}

Deno.test("Holders that come and go at random, under faults, read a cache that equals the server, without a gap", async () => {
  let [pauses, caches] = [0, 0];
  for (let seed = 1; seed <= 40; seed++) {
    const counts = await play(seed);
    pauses += counts.pauses;
    caches += counts.caches;
  }
  assert(pauses > 50 && caches > 50, `${pauses} pauses and ${caches} caches are too few`);
});
