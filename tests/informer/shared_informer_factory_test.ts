import { assertEquals, assertRejects, assertStrictEquals, assertThrows } from "@std/assert";
import { Demand, SharedInformerFactory } from "../../src/informer/shared_informer_factory.ts";
import { ConfigMap, Pod } from "../../src/kinds/core/v1.ts";
import { pod } from "../../src/testing/mod.ts";
import { FakeTime } from "../support/fake_time.ts";
import { FactoryFixture } from "./_factory_fixture.ts";
import { gate } from "../support/informer.ts";
import fc from "fast-check";

function demandOf(idleMs: number, forgetMs: number): { readonly demand: Demand; readonly calls: string[] } {
  const calls: string[] = [];
  const note = (call: string) => (): void => void calls.push(`${call} ${demand.state}`);
  const demand = new Demand({ pause: note("pause"), resume: note("resume") }, { idleMs, forgetMs }, note("forget"));
  return { demand, calls };
}

Deno.test("Demand pauses idleMs after the last release, and forgets forgetMs later", () => {
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

Deno.test("Demand is paused if and only if it has had no holder for idleMs, in any sequence", () => {
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
  await assertRejects(() => informers.run(), Error, "the factory is running already");
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
