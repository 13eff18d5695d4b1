import { assertEquals, assertRejects, assertStrictEquals, assertThrows } from "@std/assert";
import { Client } from "../../src/client/client.ts";
import { SharedInformerFactory } from "../../src/informer/shared_informer_factory.ts";
import { ConfigMap, Pod } from "../../src/kinds/core/v1.ts";
import { FakeApiServer, pod } from "../../src/testing/mod.ts";
import { FakeTime } from "../support/fake_time.ts";
import { gate } from "../support/informer.ts";

class Fixture implements AsyncDisposable {
  readonly time = new FakeTime();
  allowed = true;
  readonly server = new FakeApiServer({ authorize: () => this.allowed });
  readonly client = new Client({ server: "http://fake", transport: this.server });
  readonly errors: unknown[] = [];
  readonly informers = new SharedInformerFactory(this.client, {
    graceMs: 5,
    onError: (error) => this.errors.push(error),
  });
  readonly stop = new AbortController();
  ended: "no" | "resolved" | "rejected" = "no";

  run(): Promise<void> {
    const running = this.informers.run({ signal: this.stop.signal });
    running.then(() => this.ended = "resolved", () => this.ended = "rejected");
    return running;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await Promise.all([this.informers[Symbol.asyncDispose](), this.time.tickAsync(10)]);
      assertEquals([this.server.watches, this.time.timers], [0, 0], "a factory leaves something behind");
    } finally {
      this.client[Symbol.dispose]();
      this.server[Symbol.dispose]();
      this.time[Symbol.dispose]();
    }
  }
}

Deno.test("SharedInformerFactory run() starts the informers, also those asked for meanwhile, and resolves when its signal aborts", async () => {
  await using fixture = new Fixture();
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
  await using fixture = new Fixture();
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
  await using fixture = new Fixture();
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
  await using fixture = new Fixture();
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
  assertEquals([maps.status().state, fixture.errors.includes(bug)], ["stopped", false]);
});

Deno.test("SharedInformerFactory run() rejects when handlers do not return in time", async () => {
  await using fixture = new Fixture();
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
  await using fixture = new Fixture();
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
  await using fixture = new Fixture();
  fixture.stop.abort();
  fixture.informers.forResource(Pod);
  await fixture.run();
  assertEquals(fixture.server.requests.length, 0);
});

Deno.test("SharedInformerFactory run() without an informer resolves when its signal aborts, or has aborted already", async () => {
  for (const when of ["before", "after"]) {
    await using fixture = new Fixture();
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
  await using fixture = new Fixture();
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
  await using fixture = new Fixture();
  const { client, informers } = fixture;
  for (const selection of [{ labelSelector: "app in web" }, { fieldSelector: "spec.size" }]) {
    assertThrows(() => new SharedInformerFactory(client, selection), SyntaxError);
    for (let i = 0; i < 2; i++) assertThrows(() => informers.forResource(Pod, selection), SyntaxError);
  }
});
