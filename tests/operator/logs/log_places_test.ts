import { assert, assertEquals, assertMatch, assertRejects, assertThrows } from "@std/assert";
import { CheckpointError, type CheckpointStore } from "../../../src/engine/api/stores.ts";
import type { Transport } from "../../../src/engine/api/lister_watcher.ts";
import { Client } from "../../../src/engine/client/client.ts";
import { Checkpoint, MemoryCheckpoints } from "../../../src/engine/informer/events/checkpoint.ts";
import { SharedIndexInformer } from "../../../src/engine/informer/shared_index_informer.ts";
import { Pod } from "../../../src/engine/kinds/core/v1.ts";
import {
  followLogs,
  type FollowLogsOptions,
  type LogStreamEvent,
  type PodLogLine,
} from "../../../src/operator/logs/mod.ts";
import { FakeApiServer, pod } from "../../../src/testing/mod.ts";
import { Warnings } from "../../support/texts/console.ts";
import { FakeTime } from "../../support/times/fake_time.ts";
import { groupsOf, KINDS } from "../../support/histories/kinds.ts";
import { Writers } from "../../support/logs/play.ts";
import { Random } from "../../../src/testing/fake/random.ts";

/** Pods with logs, and runs of a program that takes their lines with a checkpoint. */
class Shop {
  readonly server = new FakeApiServer();
  readonly store: CheckpointStore = new MemoryCheckpoints();
  /** The logs that were requested. */
  readonly asked: string[] = [];
  readonly uids = new Map<string, string>();
  readonly #transport: Transport = {
    fetch: (request) => {
      const { pathname, searchParams } = new URL(request.url);
      if (pathname.endsWith("/log")) {
        this.asked.push(`${pathname.split("/")[6]}${searchParams.has("previous") ? "?" : ""}`);
      }
      return this.server.fetch(request);
    },
  };

  add(name: string): void {
    const { metadata } = this.server.create(
      Pod,
      pod({ name, namespace: "shop", node: "n", spec: { restartPolicy: "Always" } }),
    );
    this.uids.set(metadata.uid, name);
  }

  write(name: string, ...texts: (string | number)[]): void {
    for (const text of texts) this.server.writeLog(`shop/${name}`, String(text));
  }

  /** The places in the store, by pod. */
  async places(): Promise<Record<string, string>> {
    const { record } = (await this.store.get("lines"))!;
    return Object.fromEntries(
      Array.from(record.objects, ([key, [, end]]) => [key.split("/")[1], end === "" ? "taken" : end]),
    );
  }

  /**
   * Takes lines for 5 s, or until there are `count`. Then the program asks for no other one, and ends, or is killed:
   * then nothing more is written.
   */
  async run(
    time: FakeTime,
    { count = Infinity, intervalMs, killed = false, aborts = false, ...options }: FollowLogsOptions & {
      readonly count?: number;
      readonly intervalMs?: number;
      readonly killed?: boolean;
      readonly aborts?: boolean;
    } = {},
  ): Promise<string[]> {
    const controller = new AbortController();
    let isAlive = true;
    const store: CheckpointStore = {
      get: (name) => this.store.get(name),
      set: (...args) => isAlive ? this.store.set(...args) : Promise.resolve("nowhere"),
    };
    const lines: PodLogLine[] = [];
    const run = async (): Promise<void> => {
      await using checkpoint = await Checkpoint.open(store, {
        name: "lines",
        ...(intervalMs === undefined ? {} : { intervalMs }),
      });
      using client = new Client({ server: "http://fake", transport: this.#transport });
      await using pods = new SharedIndexInformer(client.resource(Pod, { namespace: "shop" }));
      pods.run();
      const { signal } = controller;
      for await (
        const line of followLogs(client, pods, { checkpoint, windowMs: 100, signal, onStream: () => {}, ...options })
      ) {
        lines.push(line);
        if (lines.length < count) continue;
        if (aborts) {
          controller.abort();
          continue;
        }
        isAlive = !killed;
        return;
      }
    };
    const ended = run();
    await time.tickAsync(5_000);
    isAlive = !killed;
    controller.abort();
    await time.tickAsync(1_000);
    await ended;
    return lines.map(({ uid, text, gap }) => `${this.uids.get(uid)} ${gap ? "!" : ""}${text}`);
  }
}

Deno.test("followLogs with a checkpoint continues after the last line that was taken", async () => {
  using time = new FakeTime();
  const shop = new Shop();
  for (const name of ["a", "b"]) shop.add(name);
  shop.write("a", 1, 2);
  await time.tickAsync(10);
  shop.write("b", 3);
  assertEquals(await shop.run(time), ["a 1", "a 2", "b 3"]);
  assertEquals(await shop.run(time), []);
  shop.write("a", 4);
  await time.tickAsync(10);
  shop.write("a", 5, 6);
  // One of two lines with the same time was taken.
  assertEquals(await shop.run(time, { count: 2 }), ["a 4", "a 5"]);
  assertEquals(await shop.run(time, { count: 1 }), ["a 5"]);
  assertEquals(await shop.run(time, { killed: true }), ["a 5", "a 6"]);
  assertEquals(await shop.run(time), []);
  // Two processes of a container are out of order.
  for (const [text, micros] of [["7", 500], ["8", 0]] as const) {
    const time = new Date().toISOString().replace("Z", `${String(micros).padStart(3, "0")}Z`);
    shop.server.writeLog("shop/a", text, { time });
  }
  assertEquals(await shop.run(time), ["a 7", "a 8"]);
  shop.write("a", 9);
  // It asks for another line after the abort, so that the last one was taken.
  assertEquals(await shop.run(time, { count: 1, aborts: true }), ["a 9"]);
  assertEquals(await shop.run(time), []);
});

Deno.test("followLogs with a checkpoint repeats what it had not written when it was killed", async () => {
  using time = new FakeTime();
  const shop = new Shop();
  shop.add("a");
  for (const text of [1, 2, 3]) {
    shop.write("a", text);
    await time.tickAsync(10);
  }
  assertEquals(await shop.run(time, { count: 3, killed: true, intervalMs: 1_000 }), ["a 1", "a 2", "a 3"]);
  assertEquals(await shop.run(time, { count: 3, killed: true }), ["a 1", "a 2", "a 3"]);
  assertEquals(await shop.run(time, { killed: true, intervalMs: 1_000 }), ["a 3"]);
  assertEquals(await shop.run(time), []);
  shop.write("a", 4);
  assertEquals(await shop.run(time, { intervalMs: 60_000 }), ["a 4"]); // its end is a write
  assertEquals(await shop.run(time), []);
});

Deno.test("followLogs with a checkpoint reads the log before a restart, and from containers that came meanwhile all", async () => {
  using time = new FakeTime();
  const shop = new Shop();
  shop.add("a");
  shop.write("a", 1);
  assertEquals(await shop.run(time), ["a 1"]);
  shop.write("a", 2);
  shop.server.restartContainer("shop/a");
  await time.tickAsync(1_000);
  shop.write("a", 3);
  shop.add("b");
  shop.write("b", 4);
  shop.server.restartContainer("shop/b");
  await time.tickAsync(1_000);
  shop.write("b", 5);
  await time.tickAsync(60_000);
  // They are old, but their first lines are not later than 10 s after their starts.
  assertEquals(await shop.run(time, { tailLines: 0, sinceMs: 1 }), ["a 2", "a 3", "b 4", "b 5"]);
  assertEquals(shop.asked.toSorted(), ["a", "a", "a?", "a?", "b", "b?", "b?"]);
});

Deno.test("followLogs with a checkpoint marks a gap wherever lines may be missing", async () => {
  using time = new FakeTime();
  const later = async (): Promise<void> => await time.tickAsync(12_000);
  const cases: Readonly<Record<string, [meanwhile: (shop: Shop) => unknown, expected: string[]]>> = {
    "nothing happens": [(shop) => shop.write("a", 3), ["a 3"]],
    "two restarts": [async (shop) => {
      shop.write("a", 3);
      shop.server.restartContainer("shop/a");
      await later();
      shop.write("a", 4);
      shop.server.restartContainer("shop/a");
      await later();
      shop.write("a", 5);
    }, ["a !4", "a !5"]],
    "a rotation": [(shop) => {
      shop.server.rotateLog("shop/a");
      shop.write("a", 3, 4);
    }, ["a !3", "a 4"]],
    "a rotation between lines of the stored second": [async (shop) => {
      shop.server.rotateLog("shop/a");
      await time.tickAsync(1);
      shop.write("a", 3);
    }, ["a !3"]],
    "a rotation, and a line that is older than the last one": [(shop) => {
      shop.server.rotateLog("shop/a");
      shop.server.writeLog("shop/a", "3", { time: new Date(Date.now() - 6_001).toISOString() });
      shop.write("a", 4);
    }, ["a !3", "a 4"]],
    "a rotation before a restart": [async (shop) => {
      shop.server.rotateLog("shop/a");
      shop.write("a", 3);
      await later();
      shop.server.restartContainer("shop/a");
      shop.write("a", 4);
    }, ["a !3", "a 4"]],
    "a restart, and then time for a rotation": [async (shop) => {
      shop.server.restartContainer("shop/a");
      await later();
      shop.write("a", 3);
    }, ["a !3"]],
    "a new pod, and time for a rotation": [async (shop) => {
      shop.add("b");
      shop.server.writeLog("shop/b", "3");
      await later();
      shop.server.rotateLog("shop/b");
      shop.write("b", 4);
    }, ["b !4"]],
    "the pod is gone": [(shop) => shop.server.delete(Pod, "shop/a"), ["a !"]],
    "another pod has its name": [(shop) => {
      shop.server.delete(Pod, "shop/a");
      shop.add("a");
      shop.write("a", 3);
    }, ["a !", "a 3"]],
    "it is over, and gone": [async (shop) => {
      new Writers(shop.server, new Random(1)).end("shop/a");
      assertEquals(await shop.run(time), []);
      assertEquals(await shop.places(), { a: "over" });
      shop.asked.length = 0;
      assertEquals([await shop.run(time), shop.asked], [[], []]);
      shop.server.delete(Pod, "shop/a");
    }, []],
  };
  for (const [name, [meanwhile, expected]] of Object.entries(cases)) {
    const shop = new Shop();
    shop.add("a");
    shop.write("a", 1);
    await time.tickAsync(1);
    shop.write("a", 2);
    assertEquals(await shop.run(time), ["a 1", "a 2"], name);
    await meanwhile(shop);
    assertEquals(await shop.run(time), expected, name);
    // The places are kept as long as the pods.
    const present = shop.server.list(Pod).map(({ metadata }) => metadata.name);
    assertEquals(Object.keys(await shop.places()), present, name);
    assertEquals(await shop.run(time), [], name);
  }
});

Deno.test("followLogs with a checkpoint tells of a pod that is deleted before its log is read", async () => {
  using time = new FakeTime();
  const shop = new Shop();
  shop.add("a");
  shop.write("a", 1);
  assertEquals(await shop.run(time), ["a 1"]);
  shop.write("a", 2);
  // The informer still has it when its log is requested.
  shop.server.beforeNext(() => void shop.server.delete(Pod, "shop/a"), 1, ({ verb }) => verb === "get");
  assertEquals(await shop.run(time), ["a !"]);
  assertEquals(await shop.places(), {});
  shop.add("b");
  shop.write("b", 3);
  shop.server.beforeNext(() => void shop.server.delete(Pod, "shop/b"), 1, ({ verb }) => verb === "get");
  assertEquals(await shop.run(time, { follow: false }), ["b !"]);
});

Deno.test("followLogs with a checkpoint begins as its options say only once", async () => {
  using time = new FakeTime();
  const shop = new Shop();
  for (const name of ["a", "b"]) shop.add(name);
  shop.write("a", 1);
  await time.tickAsync(1);
  shop.write("a", 2);
  shop.write("b", 3);
  assertEquals(await shop.run(time, { tailLines: 1, containers: (_, { metadata }) => metadata.name === "a" }), ["a 2"]);
  shop.write("a", 4);
  assertEquals(await shop.run(time, { tailLines: 0 }), ["b 3", "a 4"]);
});

Deno.test("followLogs with a checkpoint and without follow takes the lines since the last call", async () => {
  using time = new FakeTime();
  const shop = new Shop();
  shop.add("a");
  shop.write("a", 1);
  assertEquals(await shop.run(time, { follow: false }), ["a 1"]);
  shop.write("a", 2);
  shop.server.restartContainer("shop/a");
  shop.write("a", 3);
  assertEquals(await shop.run(time, { follow: false }), ["a 2", "a 3"]);
  assertEquals(await shop.places(), { a: "taken" });
  await time.tickAsync(20_000);
  shop.server.rotateLog("shop/a");
  assertEquals(await shop.run(time, { follow: false }), ["a !"]);
  shop.write("a", 4);
  assertEquals(await shop.run(time, { follow: false }), ["a !4"]);
  shop.server.rotateLog("shop/a");
  shop.server.writeLog("shop/a", "5", { time: new Date(Date.now() - 6_001).toISOString() });
  assertEquals(await shop.run(time, { follow: false }), ["a !5"]);
});

Deno.test("followLogs writes each place before the next line, and again after a failure", async () => {
  using time = new FakeTime();
  using warnings = new Warnings();
  const shop = new Shop();
  shop.add("a");
  shop.write("a", 1, 2);
  let failures = 0;
  const { store } = shop;
  Object.assign(shop, {
    store: {
      get: (name) => store.get(name),
      set: (...args) =>
        args[1].objects.size > 0 && failures++ < 1 ? Promise.reject(new Error("full")) : store.set(...args),
    } satisfies CheckpointStore,
  });
  const lines = shop.run(time);
  assertEquals(await lines, ["a 1", "a 2"]);
  assertMatch(warnings.lines.join(), /Cannot write checkpoint "lines": full/);
  assertEquals(await shop.run(time), []);
});

Deno.test("followLogs ends when another reader opens its checkpoint, and refuses one of a handler", async () => {
  using time = new FakeTime();
  const shop = new Shop();
  shop.add("a");
  shop.write("a", 1, 2);
  const client = new Client({ server: "http://fake", transport: shop.server });
  await using pods = new SharedIndexInformer(client.resource(Pod, { namespace: "shop" }));
  pods.run();
  const checkpoint = await Checkpoint.open(shop.store, { name: "lines" });
  const lines = followLogs(client, pods, { checkpoint, windowMs: 0 });
  const first = lines.next();
  await time.tickAsync(0);
  assertEquals((await first).value?.text, "1");
  const held = await assertRejects(() => followLogs(client, pods, { checkpoint }).next(), CheckpointError);
  assertEquals(held.reason, "held");
  await using _other = await Checkpoint.open(shop.store, { name: "lines" });
  const lost = assertRejects(() => lines.next(), CheckpointError);
  await time.tickAsync(100);
  assertEquals((await lost).reason, "lost");
  assertEquals((await lines.next()).done, true);

  await using handled = await Checkpoint.open(shop.store, { name: "handled" });
  const handler = pods.addEventHandler({ onAdd: () => {} }, { checkpoint: handled });
  await time.tickAsync(1_000);
  handler.remove();
  await time.tickAsync(1_000);
  await assertRejects(
    () => followLogs(client, pods, { checkpoint: handled }).next(),
    Error,
    'Cannot follow logs from checkpoint "handled": a handler has used it. Choose another name',
  );
  assertThrows(
    () => followLogs(client, pods, { checkpoint: handled, previous: true, follow: false }),
    TypeError,
    "Remove previous",
  );
});

Deno.test("followLogs opens no more streams than allowed while it tells of pods that are gone", async () => {
  using time = new FakeTime();
  const shop = new Shop();
  for (const name of ["a", "b", "c"]) {
    shop.add(name);
    shop.write(name, 1);
  }
  assertEquals((await shop.run(time)).length, 3);
  for (const name of ["b", "c"]) shop.server.delete(Pod, `shop/${name}`);
  shop.add("d");
  shop.write("d", 2);
  const began: string[] = [];
  const onStream = ({ type, pod }: LogStreamEvent): void => void (type === "began" && began.push(pod));
  assertEquals(await shop.run(time, { maxStreams: 1, onStream }), ["b !", "c !"]);
  assertEquals(began, ["shop/a"]);
});

Deno.test("followLogs gives its checkpoint back when it ends", async () => {
  const shop = new Shop();
  shop.add("a");
  shop.write("a", 1);
  await using checkpoint = await Checkpoint.open(shop.store, { name: "lines" });
  using client = new Client({ server: "http://fake", transport: shop.server });
  await using pods = new SharedIndexInformer(client.resource(Pod, { namespace: "shop" }));
  pods.run();
  for (const expected of ["1", "1"]) {
    for await (const { text } of followLogs(client, pods, { checkpoint, windowMs: 0 })) {
      assertEquals(text, expected);
      break;
    }
  }
});

for (const { from, to, play } of groupsOf(KINDS.places)) {
  Deno.test(`followLogs with a checkpoint loses no line in silence, for the seeds ${from} to ${to}`, play);
}

Deno.test("a place in a checkpoint takes about 200 bytes", async () => {
  using time = new FakeTime();
  const shop = new Shop();
  shop.add("a");
  shop.write("a", 1);
  await shop.run(time);
  const { record } = (await shop.store.get("lines"))!;
  const { length } = JSON.stringify([...record.objects]);
  assert(length > 150 && length < 250, `${length}`);
});
