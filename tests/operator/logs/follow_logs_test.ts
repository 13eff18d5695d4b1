import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import type { Transport } from "../../../src/engine/api/lister_watcher.ts";
import { Client } from "../../../src/engine/client/client.ts";
import type { InformerEvent } from "../../../src/engine/informer/events/event.ts";
import { SharedIndexInformer } from "../../../src/engine/informer/shared_index_informer.ts";
import { internals } from "../../../src/engine/errors/internals.ts";
import { Pod } from "../../../src/engine/kinds/core/v1.ts";
import {
  type FollowedPods,
  followLogs,
  type FollowLogsOptions,
  type LogStreamEvent,
  type PodLogLine,
} from "../../../src/operator/logs/mod.ts";
import { Random, seedGlobals } from "../../../src/testing/fake/random.ts";
import { FakeApiServer, pod } from "../../../src/testing/mod.ts";
import { Warnings } from "../../support/texts/console.ts";
import { FakeTime } from "../../support/times/fake_time.ts";
import { CountedController } from "../../support/times/listeners.ts";
import { CuttingTransport, problemsOf, Writers } from "../../support/logs/play.ts";

const at = (seconds: number): string => `2026-01-01T00:00:${String(seconds).padStart(2, "0")}Z`;

/** A server with pods, and `followLogs()` in the background. */
class Shop implements AsyncDisposable {
  readonly server: FakeApiServer;
  readonly lines: PodLogLine[] = [];
  readonly streams: string[] = [];
  readonly pods: SharedIndexInformer<Pod>;
  readonly iterator: AsyncIterableIterator<PodLogLine>;
  readonly controller = new CountedController();
  ended = "no";
  #end: Promise<void> = Promise.resolve();
  readonly #client: Client;

  constructor(
    options: FollowLogsOptions = {},
    server: FakeApiServer = new FakeApiServer(),
    transport: Transport = server,
    between: () => Promise<void> = () => Promise.resolve(),
  ) {
    this.server = server;
    this.#client = new Client({ server: "http://fake", transport });
    this.pods = new SharedIndexInformer(this.#client.resource(Pod, { namespace: "shop" }));
    const { pods } = this;
    const source: FollowedPods = {
      async *events(options): AsyncGenerator<InformerEvent<Pod>> {
        for await (const event of pods.events(options)) {
          yield event;
          await between();
        }
      },
    };
    this.iterator = followLogs(this.#client, source, {
      onStream: (event) => this.streams.push(textOf(event)),
      backoff: { initialMs: 100, maxMs: 500 },
      signal: this.controller.signal,
      ...options,
    });
  }

  /** The pods and texts of the lines so far. */
  get texts(): string[] {
    return this.lines.map(({ pod, text, gap }) => `${pod.slice(5)} ${gap ? "!" : ""}${text}`);
  }

  /** The number of pods and streams that `followLogs()` keeps. */
  get kept(): unknown {
    return (this.iterator as unknown as { readonly [internals]: () => unknown })[internals]();
  }

  add(name: string, ...seconds: number[]): void {
    this.server.create(Pod, pod({ name, namespace: "shop", node: "n" }));
    for (const second of seconds) this.write(name, second);
  }

  write(name: string, second: number, text = String(second), container = "app"): void {
    this.server.writeLog(`shop/${name}`, text, { time: at(second), container });
  }

  /** Runs the informer, and takes all lines. */
  run(): void {
    this.pods.run();
    this.take();
  }

  /** Takes all lines, of an informer that runs or has stopped. */
  take(): void {
    this.#end = this.#take();
  }

  async #take(): Promise<void> {
    try {
      for await (const line of this.iterator) this.lines.push(line);
      this.ended = "end";
    } catch (error) {
      this.ended = String(error);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.controller.abort();
    await this.#end;
    await this.pods[Symbol.asyncDispose]();
    this.#client[Symbol.dispose]();
    assertEquals(this.controller.listeners, 0);
  }
}

function textOf({ type, pod, container, error, delayMs }: LogStreamEvent): string {
  const failure = error === undefined ? [] : [(error as Error).name];
  return [type, pod.slice(5), container, ...failure, ...(delayMs === undefined ? [] : ["again"])].join(" ");
}

Deno.test("followLogs merges the lines of pods by time, and holds each for at most its window", async () => {
  using time = new FakeTime();
  await using shop = new Shop();
  shop.add("a", 1, 4);
  shop.add("b", 2, 3);
  shop.run();
  await time.tickAsync(0);
  // The next line of "b" might come before the last line of "a".
  assertEquals(shop.texts, ["a 1", "b 2", "b 3"]);
  await time.tickAsync(999);
  assertEquals(shop.texts.length, 3);
  await time.tickAsync(1);
  assertEquals(shop.texts, ["a 1", "b 2", "b 3", "a 4"]);
  shop.write("a", 6);
  await time.tickAsync(500);
  assertEquals(shop.texts.length, 4);
  shop.write("b", 5);
  await time.tickAsync(499);
  assertEquals(shop.texts.slice(4), ["b 5"]); // nothing can come before it
  await time.tickAsync(1);
  assertEquals(shop.texts.slice(5), ["a 6"]);
  assertEquals(shop.lines.at(-1), {
    time: "2026-01-01T00:00:06.000000000Z",
    text: "6",
    container: "app",
    pod: "shop/a",
    uid: shop.server.get(Pod, "shop/a")!.metadata.uid,
  });
});

Deno.test("followLogs keeps the order of each container, even if its clock goes back", async () => {
  using time = new FakeTime();
  await using shop = new Shop();
  shop.add("a", 5, 1, 6);
  shop.add("b", 3);
  shop.run();
  await time.tickAsync(2_000);
  assertEquals(shop.texts, ["b 3", "a 5", "a 1", "a 6"]);
});

Deno.test("followLogs does not hold lines with a window of 0", async () => {
  using time = new FakeTime();
  await using shop = new Shop({ windowMs: 0 });
  shop.add("a", 2);
  shop.add("b");
  shop.run();
  await time.tickAsync(0);
  shop.write("b", 1);
  await time.tickAsync(0);
  assertEquals(shop.texts, ["a 2", "b 1"]);
});

Deno.test("followLogs follows containers that start later, and pods that come and go", async () => {
  using time = new FakeTime();
  await using shop = new Shop({ windowMs: 0, containers: (name) => name !== "side" });
  const containers = ["app", "side"].map((name) => ({ name, image: "i" }));
  const initContainers = [{ name: "init", image: "i" }];
  shop.server.create(Pod, pod({ name: "a", namespace: "shop", node: "n", spec: { containers, initContainers } }));
  const waiting = { name: "app", state: { waiting: { reason: "PodInitializing" } } };
  shop.server.patch(Pod, "shop/a", { status: { containerStatuses: [waiting] } });
  shop.run();
  await time.tickAsync(1_000);
  assertEquals(shop.streams, []);
  for (const container of ["init", "side", "app"]) shop.write("a", 1, container, container);
  await time.tickAsync(1_000);
  shop.add("b", 2);
  await time.tickAsync(1_000);
  shop.server.delete(Pod, "shop/b");
  await time.tickAsync(5_000);
  shop.add("b", 3); // another pod of that name
  await time.tickAsync(1_000);
  assertEquals(shop.texts, ["a init", "a app", "b 2", "b 3"]);
  assertEquals(shop.streams, ["began a init", "began a app", "began b app", "ended b app", "began b app"]);
});

Deno.test("followLogs begins with the last lines of what exists, and with the first lines of what comes later", async () => {
  using time = new FakeTime();
  await using shop = new Shop({ windowMs: 0, tailLines: 1 });
  shop.add("a", 1, 2);
  shop.run();
  await time.tickAsync(0);
  shop.add("b", 3, 4);
  await time.tickAsync(0);
  assertEquals(shop.texts, ["a 2", "b 3", "b 4"]);
});

Deno.test("followLogs counts sinceMs from its beginning, and since for all", async () => {
  using time = new FakeTime(Date.parse(at(10)));
  await using shop = new Shop({ windowMs: 0, sinceMs: 2_000 });
  await using other = new Shop({ windowMs: 0, since: at(9) }, shop.server);
  shop.add("a", 7, 8, 9);
  shop.run();
  other.run();
  await time.tickAsync(20_000);
  shop.add("b", 7, 9);
  await time.tickAsync(0);
  assertEquals([shop.texts, other.texts], [["a 8", "a 9", "b 9"], ["a 9", "b 9"]]);
});

Deno.test("followLogs goes on when one log cannot be read, and tells of it", async () => {
  using time = new FakeTime();
  const server = new FakeApiServer({ authorize: ({ name, subresource }) => name !== "a" || subresource !== "log" });
  await using shop = new Shop({ windowMs: 0 }, server);
  shop.add("a", 1);
  shop.add("b", 2);
  server.failNext(500, 10, ({ path }) => path.endsWith("b/log"));
  shop.run();
  await time.tickAsync(20_000);
  assertEquals(shop.texts, ["b 2"]);
  assertEquals(shop.streams.filter((text) => !text.startsWith("interrupted")), [
    "began a app",
    "began b app",
    "failed a app StatusError",
  ]);
  assert(shop.streams.includes("interrupted b app StatusError again"));
});

Deno.test("followLogs writes failures to the console, if nobody hears of them otherwise", async () => {
  using time = new FakeTime();
  using warnings = new Warnings();
  const server = new FakeApiServer({ authorize: ({ subresource }) => subresource !== "log" });
  await using shop = new Shop({ onStream: undefined }, server);
  shop.add("a", 1);
  shop.run();
  await time.tickAsync(0);
  assertEquals(warnings.lines.length, 1);
  assertMatch(
    warnings.lines[0],
    /^log of "shop\/a" \(app\): Cannot get "pods\/a\/log" in namespace "shop": 403 Forbidden: /,
  );
});

Deno.test("followLogs opens as many streams as allowed, and the next when one is over", async () => {
  using time = new FakeTime();
  await using shop = new Shop({ windowMs: 0, maxStreams: 2 });
  for (const name of ["a", "b", "c"]) shop.add(name, 1);
  shop.run();
  await time.tickAsync(1_000);
  assertEquals(shop.streams, ["began a app", "began b app", "waiting c app"]);
  shop.server.delete(Pod, "shop/a");
  await time.tickAsync(5_000);
  assertEquals(shop.streams.slice(3), ["ended a app", "began c app"]);
  assertEquals(shop.texts, ["a 1", "b 1", "c 1"]);
});

Deno.test("followLogs ends the streams of deleted pods that a kubelet does not end, after 10 s for their last lines", async () => {
  using time = new FakeTime();
  await using shop = new Shop({ windowMs: 0, maxStreams: 1 });
  shop.server.endDeletedLogs(false);
  shop.add("a", 1);
  shop.add("b", 2);
  shop.run();
  await time.tickAsync(1_000);
  const { timers } = time;
  shop.server.delete(Pod, "shop/a");
  await time.tickAsync(9_999);
  assertEquals(shop.streams, ["began a app", "waiting b app"]);
  await time.tickAsync(1);
  // Its last lines may be missing, as nobody has said that the log is over.
  assertEquals(shop.streams.slice(2), ["ended a app", "began b app"]);
  assertEquals(shop.texts, ["a 1", "a !", "b 2"]);
  assertEquals([shop.kept, time.timers], [{ pods: 1, streams: 1 }, timers]);
  shop.server.delete(Pod, "shop/b");
  await time.tickAsync(5_000);
  await shop.iterator.return!();
  await shop.pods[Symbol.asyncDispose]();
  assertEquals(time.timers, 0);
});

Deno.test("followLogs gives a deleted pod's lines to a slow reader, before it ends their stream", async () => {
  using time = new FakeTime();
  await using shop = new Shop({ windowMs: 0 }, new FakeApiServer({ chunkBytes: 10_000 }));
  shop.server.endDeletedLogs(false);
  shop.add("a");
  for (let line = 0; line < 100; line++) shop.write("a", 1, "x".repeat(5_000));
  shop.pods.run();
  const first = shop.iterator.next();
  await time.tickAsync(1_000);
  assertEquals((await first).value?.text.length, 5_000);
  shop.server.delete(Pod, "shop/a");
  await time.tickAsync(60_000);
  assertEquals(shop.streams, ["began a app"]);
  shop.take();
  await time.tickAsync(30_000);
  assertEquals(shop.lines.map(({ text, gap }) => gap ? "gap" : text.length), [...Array(99).fill(5_000), "gap"]);
  assertEquals(shop.streams, ["began a app", "ended a app"]);
});

Deno.test("followLogs leaves no timer when its reader leaves while a deleted pod has lines for it", async () => {
  using time = new FakeTime();
  await using shop = new Shop({ windowMs: 0 });
  shop.server.endDeletedLogs(false);
  shop.add("a");
  for (let line = 0; line < 100; line++) shop.write("a", 1, "x".repeat(5_000));
  shop.pods.run();
  const first = shop.iterator.next();
  await time.tickAsync(1_000);
  await first;
  shop.server.delete(Pod, "shop/a");
  await time.tickAsync(5_000);
  await shop.iterator.return!();
  await shop.pods[Symbol.asyncDispose]();
  assertEquals(time.timers, 0);
});

Deno.test("followLogs goes on with a pod that leaves the filter, until it is deleted", async () => {
  using time = new FakeTime();
  await using shop = new Shop({ windowMs: 0, filter: ({ metadata }) => metadata.labels?.app !== "other" });
  shop.server.endDeletedLogs(false);
  shop.add("a", 1);
  shop.run();
  await time.tickAsync(1_000);
  shop.server.patch(Pod, "shop/a", { metadata: { labels: { app: "other" } } });
  await time.tickAsync(15_000);
  shop.write("a", 2);
  await time.tickAsync(1_000);
  assertEquals([shop.texts, shop.streams], [["a 1", "a 2"], ["began a app"]]);
  shop.server.patch(Pod, "shop/a", { metadata: { labels: { app: "web" } } });
  const requests = (): number => shop.server.requests.filter(({ url }) => url.includes("/log")).length;
  const before = requests();
  await time.tickAsync(100_000);
  assertEquals(requests(), before);
  shop.write("a", 3);
  shop.server.patch(Pod, "shop/a", { metadata: { labels: { app: "other" } } });
  await time.tickAsync(12_000);
  shop.server.delete(Pod, "shop/a"); // nobody tells of it
  await time.tickAsync(60_000);
  assertEquals([shop.texts, shop.streams], [["a 1", "a 2", "a 3", "a !"], ["began a app", "ended a app"]]);
});

Deno.test("followLogs forgets pods that are gone", async () => {
  using time = new FakeTime();
  await using shop = new Shop({ windowMs: 0, maxStreams: 2 });
  shop.run();
  await time.tickAsync(0);
  for (let round = 0; round < 20; round++) {
    for (const name of ["gone", "over", "waits"]) shop.add(`${name}-${round}`, 1);
    shop.server.create(Pod, pod({ name: `unstarted-${round}`, namespace: "shop" }));
    await time.tickAsync(1_000);
    assertEquals(shop.kept, { pods: 4, streams: 3 });
    // The log of one ends before its pod is gone, of another one with it, and of the last one it never begins.
    new Writers(shop.server, new Random(1)).end(`shop/over-${round}`);
    await time.tickAsync(5_000);
    for (const name of ["gone", "over", "waits", "unstarted"]) shop.server.delete(Pod, `shop/${name}-${round}`);
    await time.tickAsync(5_000);
    assertEquals(shop.kept, { pods: 0, streams: 0 }, `round ${round}`);
  }
  assertEquals(shop.lines.length, 60);
});

Deno.test("followLogs takes names of containers, and refuses one that no pod has", async () => {
  using time = new FakeTime();
  const spec = {
    containers: ["app", "side"].map((name) => ({ name, image: "i" })),
    initContainers: [{ name: "init", image: "i" }],
  };
  const follow = async (containers: readonly string[], hasPods: boolean): Promise<string[]> => {
    await using shop = new Shop({ windowMs: 0, containers });
    if (hasPods) shop.server.create(Pod, pod({ name: "a", namespace: "shop", node: "n", spec }));
    shop.run();
    await time.tickAsync(0);
    if (!hasPods) shop.server.create(Pod, pod({ name: "a", namespace: "shop", node: "n", spec }));
    for (const container of ["init", "side", "app"]) shop.write("a", 1, container, container);
    await time.tickAsync(1_000);
    return [...shop.texts, shop.ended];
  };
  assertEquals(await follow(["init", "app"], true), ["a init", "a app", "no"]);
  const error = 'InformerError: Cannot follow logs: no pod has a container "ap". The pods have app, init, side';
  assertEquals(await follow(["init", "ap"], true), [error]);
  assertEquals(await follow(["ap"], false), ["no"]); // it may come
});

/** Counts the bytes of logs that were read. */
class CountingTransport implements Transport {
  bytes = 0;
  readonly #server: FakeApiServer;

  constructor(server: FakeApiServer) {
    this.#server = server;
  }

  async fetch(request: Request): Promise<Response> {
    const response = await this.#server.fetch(request);
    if (!request.url.includes("/log") || response.body === null) return response;
    const reader = response.body.getReader();
    const body = new ReadableStream<Uint8Array>({
      pull: async (controller): Promise<void> => {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        this.bytes += value.length;
        controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    }, { highWaterMark: 0 });
    return new Response(body, response);
  }
}

Deno.test("followLogs reads no further than its reader does, and one flood is not slowed down by silent pods", async () => {
  using time = new FakeTime();
  const server = new FakeApiServer({ chunkBytes: 10_000 });
  const transport = new CountingTransport(server);
  await using shop = new Shop({}, server, transport);
  for (const name of ["flood", "also", "silent"]) shop.add(name);
  for (let line = 0; line < 3_000; line++) {
    for (const name of ["flood", "also"]) shop.write(name, 1, "x".repeat(969)); // 1,000 bytes, with the time
  }
  shop.server.writeLog("shop/silent", "one", { time: at(2) });
  shop.pods.run();
  const taken: PodLogLine[] = [];
  const take = async (lines: number): Promise<void> => {
    for (; lines > 0; lines--) taken.push((await shop.iterator.next()).value!);
  };
  await Promise.all([take(100), time.tickAsync(0)]);
  await time.tickAsync(60_000); // nobody reads
  assert(transport.bytes < 350_000, `${transport.bytes} bytes for ${taken.length} lines`);
  // A window of a second for each 64 kB would take a minute and more.
  await Promise.all([take(5_901), time.tickAsync(1_000)]);
  assertEquals(Object.groupBy(taken, ({ pod }) => pod)["shop/flood"]?.length, 3_000);
});

Deno.test("followLogs without follow ends after the present lines, in exact order", async () => {
  const random = new Random(1);
  const server = new FakeApiServer({ chunkBytes: 500 });
  await using shop = new Shop({ follow: false, maxStreams: 10 }, server);
  const times: string[] = [];
  for (let name = 0; name < 10; name++) shop.add(`p${name}`);
  for (let line = 0; line < 3_000; line++) {
    const time = new Date(Date.UTC(2026, 0, 1) + line * 7).toISOString();
    times.push(time.replace("Z", "000000Z"));
    shop.server.writeLog(`shop/p${random.below(10)}`, String(line), { time });
  }
  shop.server.create(Pod, pod({ name: "none", namespace: "shop" }));
  shop.run();
  while (shop.ended === "no") await new Promise((resolve) => setTimeout(resolve, 1));
  assertEquals([shop.ended, shop.lines.map(({ time }) => time)], ["end", times]);
  await using empty = new Shop({ follow: false });
  empty.run();
  while (empty.ended === "no") await new Promise((resolve) => setTimeout(resolve, 1));
  assertEquals([empty.ended, empty.lines], ["end", []]);
});

Deno.test("followLogs without follow waits for all pods and streams, and for no later pod", async () => {
  using time = new FakeTime();
  const server = new FakeApiServer();
  // The pods come one by one.
  await using shop = new Shop({ follow: false }, server, server, () => new Promise((go) => setTimeout(go, 2_000)));
  for (const [name, second] of [["a", 2], ["b", 1]] as const) shop.add(name, second);
  shop.add("empty", 1);
  server.rotateLog("shop/empty");
  const stall = server.stallNext(1, ({ path }) => path.endsWith("b/log"));
  shop.run();
  await time.tickAsync(20_000);
  assertEquals([shop.texts, shop.ended], [[], "no"]);
  shop.add("c", 3);
  await time.tickAsync(20_000);
  stall[Symbol.dispose]();
  await time.tickAsync(0);
  assertEquals([shop.texts, shop.ended], [["b 1", "a 2"], "end"]);
  assertEquals(shop.streams.filter((text) => text.startsWith("began")).length, 3);
});

Deno.test("followLogs without follow does not report what was aborted as a failure", async () => {
  using time = new FakeTime();
  await using shop = new Shop({ follow: false });
  shop.add("a", 1);
  using _stall = shop.server.stallNext(1, ({ path }) => path.endsWith("a/log"));
  shop.run();
  await time.tickAsync(0);
  shop.controller.abort();
  await time.tickAsync(0);
  assertEquals([shop.streams, shop.ended], [["began a app"], "end"]);
});

Deno.test("followLogs follows pods that its filter selects, and none twice that comes back", async () => {
  using time = new FakeTime();
  await using shop = new Shop({ windowMs: 0, filter: ({ metadata }) => metadata.labels?.app !== "other" });
  shop.add("a", 1);
  shop.add("b", 2);
  const label = (app: string): void => shop.server.patch(Pod, "shop/b", { metadata: { labels: { app } } }) as never;
  label("other");
  shop.run();
  await time.tickAsync(0);
  assertEquals(shop.texts, ["a 1"]);
  for (const app of ["web", "other", "web"]) {
    label(app);
    await time.tickAsync(0);
  }
  shop.write("b", 3);
  await time.tickAsync(0);
  new Writers(shop.server, new Random(1)).end("shop/b");
  await time.tickAsync(5_000);
  label("web");
  shop.server.patch(Pod, "shop/b", { metadata: { labels: { more: "yes" } } });
  await time.tickAsync(5_000);
  assertEquals(shop.texts, ["a 1", "b 2", "b 3"]);
  assertEquals(shop.streams, ["began a app", "began b app", "ended b app"]);
});

Deno.test("followLogs yields no line twice if its informer still has a pod that was replaced", async () => {
  const server = new FakeApiServer();
  using client = new Client({ server: server.url, transport: server });
  server.create(Pod, pod({ name: "a", namespace: "shop", node: "n" }));
  server.writeLog("shop/a", "1");
  const object = server.get(Pod, "shop/a")!;
  const event = { type: "added", initial: true, key: "shop/a", name: "a", namespace: "shop", object } as const;
  const pods = {
    async *events(): AsyncGenerator<InformerEvent<Pod>> {
      for (const uid of ["old", object.metadata.uid]) yield { ...event, uid } as InformerEvent<Pod>;
      yield { type: "synced" } as InformerEvent<Pod>;
    },
  };
  const texts: string[] = [];
  for await (const { text } of followLogs(client, pods, { follow: false })) texts.push(text);
  assertEquals(texts, ["1"]);
});

Deno.test("followLogs ends with its informer, and when its reader leaves", async () => {
  using time = new FakeTime();
  {
    await using shop = new Shop();
    shop.add("a", 1);
    shop.run();
    await time.tickAsync(0);
    await shop.pods[Symbol.asyncDispose]();
    await time.tickAsync(0);
    assertEquals([shop.ended, shop.texts], ["end", ["a 1"]]);
  }
  {
    await using shop = new Shop({ maxStreams: 1 });
    shop.add("a", 1);
    shop.add("b", 1);
    shop.pods.run();
    const first = shop.iterator.next();
    await time.tickAsync(1_000);
    assertEquals([(await first).value?.text, (await shop.iterator.return!()).done], ["1", true]);
    await time.tickAsync(0);
    assertEquals(shop.streams, ["began a app", "waiting b app"]);
    assertEquals((await shop.iterator.next()).done, true);
  }
  {
    const server = new FakeApiServer();
    const transport = new CountingTransport(server);
    await using shop = new Shop({}, server, transport);
    shop.add("a", 1);
    shop.add("b");
    server.writeLog("shop/b", "none");
    server.rotateLog("shop/b");
    shop.run();
    await time.tickAsync(0); // it holds a line, and has armed its timer
    const { bytes } = transport;
    await shop.iterator.return!();
    await time.tickAsync(0);
    assertEquals([shop.ended, shop.pods.status().handlers.length], ["end", 0]);
    shop.write("a", 2);
    await time.tickAsync(0);
    assertEquals([transport.bytes, shop.lines], [bytes, []]);
    await shop.pods[Symbol.asyncDispose]();
    assertEquals(time.timers, 0);
  }
  {
    await using shop = new Shop();
    await shop.pods[Symbol.asyncDispose]();
    shop.take();
    await time.tickAsync(0);
    assertMatch(shop.ended, /^Error: Cannot/);
  }
});

Deno.test("followLogs refuses options that are wrong", () => {
  const client = new Client({ server: "http://fake", transport: new FakeApiServer() });
  const pods = new SharedIndexInformer(client.resource(Pod));
  const refused = (options: FollowLogsOptions, message: string): void => {
    assertThrows(() => followLogs(client, pods, options), Error, `Cannot follow logs: ${message}`);
  };
  refused({ windowMs: -1 }, "windowMs must be at least 0 milliseconds");
  refused({ maxStreams: 0 }, "maxStreams must be a whole number of at least 1");
  refused({ since: "noon" }, "since must be a time");
  refused({ container: "a" } as FollowLogsOptions, 'there is no option "container". Did you mean "containers"?');
});

Deno.test("followLogs yields each line of 50 pods once, or marks a gap, while pods come and go, for any seed", async () => {
  for (let seed = 1; seed <= 3; seed++) {
    using time = new FakeTime();
    using _random = seedGlobals(seed);
    const random = new Random(seed);
    const server = new FakeApiServer({ seed, chunkBytes: 200 });
    const transport = new CuttingTransport(server, random, 0.8);
    using _warnings = new Warnings(); // the informer tells of the server's restarts
    await using shop = new Shop({}, server, transport);
    const writers = new Writers(server, random);
    const keys = Array.from({ length: 50 }, (_, i) => writers.add(`p${i}`));
    shop.run();
    for (let steps = 0; steps < 3_000; steps++) {
      writers.step();
      if (random.below(20) === 0) await time.tickAsync(random.below(300));
      if (steps % 100 === 0) {
        const key = random.pick([...writers.written.keys()]);
        writers.end(key);
        writers.written.delete(key);
        keys.push(writers.add(`q${steps}`));
      }
    }
    transport.share = 0;
    const left = new Map(writers.written);
    for (const key of left.keys()) writers.end(key);
    await time.tickAsync(30_000);
    const problems = keys.flatMap((key) => {
      const own = shop.lines.filter(({ pod }) => pod === key);
      const written = left.get(key) ?? Number(own.findLast(({ text }) => text !== "")?.text ?? 0);
      return problemsOf(own, written, writers.before.get(key)).map((it) => `${key}: ${it}`);
    });
    assertEquals(problems, [], `seed ${seed}`);
    assert(transport.cuts > 100 && shop.lines.length > 3_000);
  }
});
