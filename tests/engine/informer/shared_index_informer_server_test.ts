import { assert, assertEquals, assertRejects } from "@std/assert";
import { DecodeError } from "../../../src/engine/api/status.ts";
import { Client } from "../../../src/engine/client/client.ts";
import type { SharedIndexInformerOptions } from "../../../src/engine/informer/options.ts";
import { SharedIndexInformer } from "../../../src/engine/informer/shared_index_informer.ts";
import { Pod } from "../../../src/engine/kinds/core/v1.ts";
import { Random } from "../../../src/testing/fake/random.ts";
import { FakeApiServer, type FakeApiServerOptions, pod, type RequestFilter } from "../../../src/testing/mod.ts";
import { EventChecker } from "../../support/cluster/event_checker.ts";
import { FakeTime } from "../../support/times/fake_time.ts";

/** An informer on a fake server, a handler that was there from the start, and later ones. */
class FollowedInformer implements AsyncDisposable {
  readonly time = new FakeTime();
  readonly server: FakeApiServer;
  readonly client: Client;
  readonly pods: SharedIndexInformer<Pod>;
  readonly followers: EventChecker<Pod>[] = [];

  constructor(server: FakeApiServerOptions = {}, options: SharedIndexInformerOptions<Pod> = {}) {
    this.server = new FakeApiServer(server);
    this.client = new Client({ server: "http://fake", transport: this.server });
    this.pods = new SharedIndexInformer(this.client.resource(Pod), {
      ...options,
      reflector: { backoff: { jitter: 0 }, reconnectMs: 0, pageSize: 3, ...options.reflector },
    });
    this.join();
  }

  /** One more handler. */
  join(): void {
    this.followers.push(new EventChecker(this.pods));
  }

  async start(): Promise<void> {
    void this.pods.run();
    await this.time.tickAsync(0);
  }

  /** Cache, handlers and server agree, and no object's events have a gap. */
  async agree(when: string): Promise<void> {
    const expected = this.server.list(Pod).map(({ metadata }) =>
      `${metadata.namespace}/${metadata.name}@${metadata.resourceVersion}`
    ).sort();
    const cached = [...this.pods.entries].map(({ key, resourceVersion }) => `${key}@${resourceVersion}`).sort();
    assertEquals(cached, expected, `${when}: the cache`);
    for (const follower of this.followers) assertEquals(await follower.end(), [], `${when}: a handler`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.pods[Symbol.asyncDispose]();
      await this.time.tickAsync(0);
      assertEquals([this.server.watches, this.time.timers], [0, 0], "an informer leaves something behind");
    } finally {
      this.client[Symbol.dispose]();
      this.server[Symbol.dispose]();
      this.time[Symbol.dispose]();
    }
  }
}

/** Writes something, anything. */
function write(server: FakeApiServer, random: Random): void {
  const name = `pod-${random.below(12)}`;
  const there = server.get(Pod, name) !== undefined;
  if (!there) server.create(Pod, pod({ name }));
  else if (random.below(3) === 0) server.delete(Pod, name);
  else server.patch(Pod, name, { metadata: { annotations: { touched: String(random.below(1_000)) } } });
}

const SERVERS: Readonly<Record<string, readonly [FakeApiServerOptions, SharedIndexInformerOptions<Pod>]>> = {
  "with streaming lists": [{}, {}],
  "with lists in pages": [{ streamingList: false, chunkBytes: 700 }, {}],
};

Deno.test("SharedIndexInformer equals the server after any writes, and so does every handler [C079]", async () => {
  for (const [what, [server, options]] of Object.entries(SERVERS)) {
    for (let seed = 1; seed <= 5; seed++) {
      await using fixture = new FollowedInformer(server, options);
      const random = new Random(seed);
      for (let i = 0; i < 10; i++) write(fixture.server, random);
      await fixture.start();
      for (let round = 0; round < 20; round++) {
        for (let i = random.below(20); i >= 0; i--) write(fixture.server, random);
        await fixture.time.tickAsync(0);
        if (round % 5 === 0) fixture.join();
        await fixture.time.tickAsync(0);
        await fixture.agree(`${what}, seed ${seed}, round ${round}`);
      }
    }
  }
});

for (const [what, [server, options]] of Object.entries(SERVERS)) {
  Deno.test(`SharedIndexInformer equals the server again after any fault, ${what} [F02]`, async () => {
    const faults: readonly ((server: FakeApiServer) => Disposable | void)[] = [
      (server) => server.dropWatches(),
      (server) => server.endWatches(),
      (server) => server.truncateWatches(),
      (server) => server.truncateWatches(undefined, "nextEvent"),
      (server) => server.failWatches({ code: 500 }),
      (server) => server.failWatches({ code: 410, reason: "Expired" }),
      (server) => {
        server.dropWatches();
        server.compact();
      },
      (server) => {
        server.dropWatches();
        server.failNext(500, 3);
      },
      (server) => {
        server.endWatches();
        server.failNext({ code: 429, details: { retryAfterSeconds: 7 } }, 2);
      },
      (server) => {
        server.dropWatches();
        server.breakNext(3);
      },
      (server) => server.stallWatches(),
    ];
    for (const [number, fault] of faults.entries()) {
      await using fixture = new FollowedInformer(server, options);
      const random = new Random(number + 1);
      for (let i = 0; i < 10; i++) write(fixture.server, random);
      await fixture.start();
      using stalled = fault(fixture.server) ?? undefined;
      for (let i = 0; i < 15; i++) write(fixture.server, random);
      await fixture.time.tickAsync(0);
      for (let i = 0; i < 15; i++) write(fixture.server, random);
      await fixture.time.tickAsync(stalled === undefined ? 60_000 : 300_000);
      await fixture.agree(`fault ${number}`);
      assertEquals(fixture.pods.status().state, "live", `fault ${number}`);
    }
  });
}

Deno.test("SharedIndexInformer misses no write in any turn of the event loop around its start", async () => {
  for (const [server, options] of Object.values(SERVERS)) {
    // Writes in every turn of the event loop in which the informer starts.
    for (let quietTurns = 0; quietTurns < 12; quietTurns++) {
      await using fixture = new FollowedInformer(server, options);
      fixture.server.create(Pod, pod({ name: "updated" }));
      fixture.server.create(Pod, pod({ name: "deleted" }));
      for (let i = 0; i < 5; i++) fixture.server.create(Pod, pod({ name: `more-${i}` }));
      void fixture.pods.run();
      for (let turn = 0; turn < quietTurns; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
      fixture.server.patch(Pod, "updated", { metadata: { labels: { a: "b" } } });
      fixture.server.delete(Pod, "deleted");
      fixture.server.create(Pod, pod({ name: "created" }));
      fixture.server.create(Pod, pod({ name: "passing" }));
      fixture.server.delete(Pod, "passing");
      await fixture.time.tickAsync(5_000);
      await fixture.agree(`written after ${quietTurns} turns`);
      assert(fixture.pods.entries.getByKey("default/created") !== undefined);
    }
  }
});

Deno.test("SharedIndexInformer misses no write before or after each request of its start [C080]", async () => {
  const moments: readonly RequestFilter[] = [
    ({ verb }) => verb === "list",
    ({ query }) => query.has("continue"),
    ({ verb }) => verb === "watch",
  ];
  const steps: readonly ((server: FakeApiServer) => void)[] = [
    (server) => server.patch(Pod, "updated", { metadata: { labels: { a: "b" } } }),
    (server) => server.delete(Pod, "deleted"),
    (server) => {
      server.delete(Pod, "replaced");
      server.create(Pod, pod({ name: "replaced" }));
    },
    (server) => server.create(Pod, pod({ name: "created" })),
    (server) => {
      server.create(Pod, pod({ name: "passing" }));
      server.delete(Pod, "passing");
    },
  ];
  for (const [name, [options, informerOptions]] of Object.entries(SERVERS)) {
    for (const [number, moment] of moments.entries()) {
      for (const when of ["beforeNext", "afterNext"] as const) {
        await using fixture = new FollowedInformer(options, informerOptions);
        const { server } = fixture;
        for (const name of ["updated", "deleted", "replaced"]) server.create(Pod, pod({ name }));
        for (let i = 0; i < 5; i++) server.create(Pod, pod({ name: `more-${i}` }));
        let written = false;
        server[when](
          () => {
            written = true;
            for (const step of steps) step(server);
          },
          1,
          moment,
        );
        await fixture.start();
        await fixture.time.tickAsync(5_000);
        await fixture.agree(`${name}, ${when} ${number}`);
        const asked = server.requests.some(moment);
        assertEquals(written, asked, `${name}, ${when} ${number}`);
        assertEquals(fixture.pods.entries.getByKey("default/created") !== undefined, asked);
      }
    }
  }
});

Deno.test("SharedIndexInformer sees its own writes: waitForVersion() the version that a write returned", async () => {
  await using fixture = new FollowedInformer();
  await fixture.start();
  const created = fixture.client.resource(Pod).create(
    { metadata: { name: "mine", namespace: "default" }, spec: { containers: [{ name: "a", image: "b" }] } } as never,
  );
  await fixture.time.tickAsync(0);
  const { metadata } = await created;
  await fixture.pods.waitForVersion(metadata.resourceVersion);
  assertEquals(fixture.pods.lister.get("default/mine")?.metadata.uid, metadata.uid);
});

Deno.test("SharedIndexInformer ends the list or watch of its server whenever it is stopped", async () => {
  for (const [server, options] of Object.values(SERVERS)) {
    for (let turns = 0; turns < 15; turns++) {
      await using fixture = new FollowedInformer(server, options);
      for (let i = 0; i < 10; i++) fixture.server.create(Pod, pod({ name: `pod-${i}` }));
      void fixture.pods.run();
      for (let turn = 0; turn < turns; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
    } // disposing it asserts
  }
});

/** Serves one list, and one watch that sends these lines and stays open. */
function serving(items: readonly unknown[], lines: readonly unknown[]): Client {
  const transport = {
    fetch: ({ url, signal }: Request): Promise<Response> => {
      const body = (json: unknown): Uint8Array => new TextEncoder().encode(`${JSON.stringify(json)}\n`);
      if (!url.includes("watch=")) {
        return Promise.resolve(
          Response.json({ kind: "PodList", apiVersion: "v1", metadata: { resourceVersion: "10" }, items }),
        );
      }
      const stream = new ReadableStream<Uint8Array>({
        start(controller): void {
          for (const line of lines) controller.enqueue(body(line));
          signal.addEventListener("abort", () => controller.error(signal.reason));
        },
      });
      return Promise.resolve(new Response(stream));
    },
  };
  return new Client({ server: "http://fake", transport });
}

Deno.test("SharedIndexInformer quarantines an object whose uid is not a string, and does not show its version before", async () => {
  using time = new FakeTime();
  const [a, b] = ["a", "b"].map((name) => ({ metadata: { name, namespace: "shop", uid: name, resourceVersion: "5" } }));
  const bad = { kind: "Pod", metadata: { ...a.metadata, uid: 7, resourceVersion: "11" } };
  using client = serving([a, b], [{ type: "MODIFIED", object: bad }]);
  const errors: string[] = [];
  await using pods = new SharedIndexInformer(client.resource(Pod), {
    reflector: { streamingList: "off" },
    onError: (error) => errors.push(String(error)),
  });
  pods.run();
  await time.tickAsync(0);
  assertEquals(pods.lister.list().map(({ metadata }) => metadata.name), ["b"]);
  assertEquals([pods.status().quarantined, pods.status().objects, pods.lastSyncResourceVersion], [1, 2, "11"]);
  assertEquals(errors, [
    'DecodeError: Cannot read an object of "pods": its metadata has 7 in the place of a string',
  ]);
});

Deno.test("SharedIndexInformer skips and reports a list item without metadata", async () => {
  using time = new FakeTime();
  const a = { metadata: { name: "a", namespace: "shop", uid: "a", resourceVersion: "5" } };
  using client = serving([a, { data: {} }], []);
  const errors: string[] = [];
  await using pods = new SharedIndexInformer(client.resource(Pod), {
    reflector: { streamingList: "off" },
    onError: (error) => errors.push(String(error)),
  });
  pods.run();
  await time.tickAsync(0);
  assertEquals([pods.hasSynced, [...pods.entries.keys()]], [true, ["shop/a"]]);
  assertEquals(errors, [
    'DecodeError: Cannot read an object of "pods": {"data":{}} is not an object with metadata',
  ]);
  // A plain list has no onError to report to.
  await assertRejects(() => client.resource(Pod).list(), DecodeError, "is not an object with metadata");
});
