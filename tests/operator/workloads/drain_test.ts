import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStrictEquals,
  assertStringIncludes,
} from "@std/assert";
import { isNotFound, StatusError } from "../../../src/engine/api/status.ts";
import { errorLine } from "../../../src/engine/errors/errors.ts";
import { InformerError } from "../../../src/engine/errors/informer_error.ts";
import { Node, Pod } from "../../../src/engine/kinds/core/v1.ts";
import { cordon, drain, type DrainOptions, type DrainProgress, uncordon } from "../../../src/operator/workloads/mod.ts";
import { FakeTime } from "../../support/times/fake_time.ts";
import { CountedController } from "../../support/times/listeners.ts";
import { Shop } from "./_shop.ts";

/** A drain in the background. */
class Drained {
  readonly steps: string[] = [];
  /** Its end: `"done"`, or the error. */
  end: unknown;
  readonly controller: CountedController = new CountedController();
  readonly #ended: Promise<void>;

  constructor({ client }: Shop, options: DrainOptions = {}) {
    const onProgress = ({ pod, state }: DrainProgress): void => void this.steps.push(`${state} ${pod}`);
    this.#ended = drain(client, "n1", { signal: this.controller.signal, onProgress, ...options }).then(
      () => this.end = "done",
      (error) => this.end = error,
    ).then(() => {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.controller.abort();
    await this.#ended;
    assertEquals(this.controller.listeners, 0);
  }
}

Deno.test("cordon and uncordon say whether the scheduler may use a node", async () => {
  using shop = new Shop();
  const nodes = shop.client.resource(Node);
  assertEquals((await cordon(nodes, "n1")).spec?.unschedulable, true);
  assertEquals((await uncordon(nodes, "n1", { dryRun: true })).spec?.unschedulable, undefined);
  assertEquals(shop.server.get(Node, "n1")?.spec?.unschedulable, true);
  await uncordon(nodes, "n1");
  assertEquals(shop.server.get(Node, "n1")?.spec?.unschedulable, undefined);
});

Deno.test("drain says how many pods it removes from its first step on, and how many are gone", async () => {
  using time = new FakeTime();
  using shop = new Shop();
  for (let i = 0; i < 25; i++) shop.add(`shop/a${i}`, { controller: "ReplicaSet" }); // more than it asks for at a time
  shop.add("shop/other", { controller: "ReplicaSet", node: "n2" });
  const steps: string[] = [];
  const onProgress = ({ state, gone, total }: DrainProgress): void => void steps.push(`${state} ${gone}/${total}`);
  await using drained = new Drained(shop, { gracePeriodSeconds: 0, onProgress });
  await time.tickAsync(60_000);
  assertEquals([drained.end, steps[0], steps.at(-1)], ["done", "evicting 0/25", "gone 25/25"]);
  assertEquals(
    steps.filter((step) => step.startsWith("gone")),
    Array.from({ length: 25 }, (_, i) => `gone ${i + 1}/25`),
  );
});

Deno.test("drain cordons the node, evicts its pods in all namespaces, and waits until they are gone", async () => {
  using time = new FakeTime();
  using shop = new Shop();
  const { server } = shop;
  const uid = shop.add("shop/a", { controller: "ReplicaSet" });
  shop.add("bank/b", { controller: "StatefulSet" });
  shop.add("shop/other", { controller: "ReplicaSet", node: "n2" });
  await using drained = new Drained(shop, { gracePeriodSeconds: 5 });
  await time.tickAsync(60_000);
  assertEquals(server.get(Node, "n1")?.spec?.unschedulable, true);
  assertEquals(server.get(Pod, "shop/a")?.metadata.deletionGracePeriodSeconds, 5);
  assertEquals(drained.steps.toSorted(), ["evicted bank/b", "evicted shop/a", "evicting bank/b", "evicting shop/a"]);
  server.delete(Pod, "shop/a"); // as its kubelet does
  await time.tickAsync(0);
  assertEquals([drained.steps.at(-1), drained.end], ["gone shop/a", undefined]);
  server.delete(Pod, "bank/b");
  await time.tickAsync(0);
  assertEquals([drained.steps.at(-1), drained.end], ["gone bank/b", "done"]);
  assertEquals([server.keys(Pod), server.watches, shop.evictions], [["shop/other"], 0, 2]);
  const bodies = server.requests.filter(({ path }) => path.endsWith("/a/eviction")).map(({ body }) => body);
  assertEquals(bodies.map((body) => JSON.parse(body!).deleteOptions.preconditions), [{ uid }]);
});

Deno.test("drain names all pods in the way with their options, and evicts none", async () => {
  using shop = new Shop();
  shop.add("shop/free", { controller: "ReplicaSet" });
  shop.add("shop/agent", { controller: "DaemonSet", emptyDir: true });
  shop.add("shop/cache", { controller: "ReplicaSet", emptyDir: true });
  shop.add("shop/bare");
  shop.add("shop/both", { emptyDir: true });
  const error = await assertRejects(() => drain(shop.client, "n1"), InformerError);
  assertEquals(
    error.message,
    'Cannot drain node "n1": it has pods that must not be evicted without an option. Set ignoreDaemonSets for ' +
      "shop/agent; deleteEmptyDirData for shop/both, shop/cache; force for shop/bare, shop/both",
  );
  const some = await assertRejects(() => drain(shop.client, "n1", { ignoreDaemonSets: true, force: true }));
  assertStringIncludes((some as Error).message, "Set deleteEmptyDirData for shop/both, shop/cache");
  assertEquals([shop.evictions, shop.server.watches], [0, 0]);
  assertEquals(shop.server.get(Node, "n1")?.spec?.unschedulable, true);
});

Deno.test("drain leaves mirror pods and pods of DaemonSets, and evicts finished pods without options", async () => {
  using shop = new Shop();
  shop.add("shop/static", { controller: "Node", mirror: true });
  shop.add("shop/agent", { controller: "DaemonSet" });
  shop.add("shop/finished", { phase: "Succeeded", emptyDir: true });
  shop.add("shop/failed", { controller: "DaemonSet", phase: "Failed" });
  await drain(shop.client, "n1", { ignoreDaemonSets: true, gracePeriodSeconds: 0 });
  assertEquals(shop.server.keys(Pod), ["shop/agent", "shop/static"]);
  shop.add("shop/bare", { emptyDir: true });
  const all = { ignoreDaemonSets: true, force: true, deleteEmptyDirData: true };
  await drain(shop.client, "n1", { ...all, gracePeriodSeconds: 0 });
  assertEquals(shop.server.keys(Pod), ["shop/agent", "shop/static"]);
});

Deno.test("drain goes on if one pod fails, and names it in the end", async () => {
  using time = new FakeTime();
  using shop = new Shop();
  for (const name of ["a", "b", "c"]) shop.add(`shop/${name}`, { controller: "ReplicaSet" });
  shop.allow("c", 0);
  shop.server.failNext(403, 1, ({ path }) => path.endsWith("/a/eviction"));
  await using drained = new Drained(shop, { gracePeriodSeconds: 0 });
  await time.tickAsync(100);
  assertEquals(drained.steps.filter((step) => !step.startsWith("evicting")).toSorted(), [
    "blocked shop/c",
    "failed shop/a",
    "gone shop/b",
  ]);
  assertEquals([drained.end, shop.server.keys(Pod)], [undefined, ["shop/a", "shop/c"]]);
  shop.allow("c", 1);
  await time.tickAsync(5_000);
  assert(drained.end instanceof AggregateError);
  assertEquals([drained.end.errors.length, drained.end.errors[0] instanceof StatusError], [1, true]);
  assertStringIncludes(drained.end.message, 'Cannot drain node "n1": ');
  assertStringIncludes(drained.end.message, 'pods/a/eviction" in namespace "shop"');
  assertEquals([shop.server.keys(Pod), shop.server.watches], [["shop/a"], 0]);
});

Deno.test("drain does not hold up pods behind blocked ones, and asks for a bounded number at once", async () => {
  using time = new FakeTime();
  using shop = new Shop();
  const blocked = Array.from({ length: 30 }, (_, i) => `shop/blocked-${i}`);
  for (const key of blocked) shop.add(key, { controller: "ReplicaSet", app: "blocked" });
  shop.allow("blocked", 0);
  shop.add("shop/z", { controller: "ReplicaSet" });
  shop.server.latency(10);
  await using drained = new Drained(shop, { gracePeriodSeconds: 0 });
  while (drained.steps.length === 0) await time.tickAsync(1);
  assertEquals(drained.steps.length, 20); // none of which has an answer
  await time.tickAsync(500);
  assert(drained.steps.includes("gone shop/z"));
});

Deno.test("drain evicts more pods than it requests at once, before any is gone, until its signal aborts", async () => {
  using time = new FakeTime();
  using shop = new Shop();
  for (let i = 0; i < 45; i++) shop.add(`shop/web-${i}`, { controller: "ReplicaSet" });
  shop.server.latency(10);
  await using drained = new Drained(shop);
  const count = (state: string): number => drained.steps.filter((step) => step.startsWith(`${state} `)).length;
  while (count("evicted") < 20) await time.tickAsync(1);
  assertEquals([count("evicting"), count("gone")], [40, 0]);
  drained.controller.abort();
  await time.tickAsync(1_000);
  assertEquals([count("evicting"), count("evicted"), count("failed")], [40, 20, 0]);
});

Deno.test("drain ends with the reason of its signal while it lists pods", async () => {
  using time = new FakeTime();
  using shop = new Shop();
  using _stalled = shop.server.stallNext(1, ({ resource }) => resource === "pods");
  const drained = new Drained(shop);
  await time.tickAsync(1_000);
  const reason = new Error("enough");
  drained.controller.abort(reason);
  await time.tickAsync(0);
  assertStrictEquals(drained.end, reason);
});

Deno.test("drain is done when a blocked pod is gone, and leaves another pod of the same name", async () => {
  using time = new FakeTime();
  using shop = new Shop();
  shop.add("shop/a", { controller: "StatefulSet" });
  shop.allow("a", 0);
  await using drained = new Drained(shop);
  await time.tickAsync(100);
  shop.server.delete(Pod, "shop/a");
  const uid = shop.add("shop/a", { controller: "StatefulSet" });
  await time.tickAsync(0);
  assertEquals([drained.end, drained.steps], ["done", ["evicting shop/a", "blocked shop/a", "gone shop/a"]]);
  const left = shop.server.get(Pod, "shop/a")?.metadata;
  assertEquals([left?.uid, left?.deletionTimestamp], [uid, undefined]);
});

Deno.test("drain notices over a lost watch that a pod was replaced", async () => {
  using time = new FakeTime();
  using shop = new Shop();
  shop.add("shop/a", { controller: "StatefulSet" });
  await using drained = new Drained(shop);
  await time.tickAsync(100);
  assertEquals(drained.steps, ["evicting shop/a", "evicted shop/a"]);
  shop.server.dropWatches(Pod);
  shop.server.delete(Pod, "shop/a");
  shop.add("shop/a", { controller: "StatefulSet" });
  shop.server.compact();
  await time.tickAsync(60_000);
  assertEquals([drained.end, drained.steps.at(-1)], ["done", "gone shop/a"]);
});

Deno.test("drain that runs out of time names the pods that are left, with their last errors", async () => {
  using time = new FakeTime();
  using shop = new Shop();
  for (const name of ["a", "b", "c", "d"]) shop.add(`shop/${name}`, { controller: "ReplicaSet" });
  shop.allow("a", 0);
  shop.server.failNext(403, 1, ({ path }) => path.endsWith("/c/eviction"));
  await using drained = new Drained(shop, { signal: AbortSignal.timeout(10_000) });
  await time.tickAsync(100);
  shop.server.delete(Pod, "shop/d"); // as its kubelet does
  await time.tickAsync(10_000);
  assert(drained.end instanceof AggregateError);
  const { message, cause, errors } = drained.end;
  assertEquals(message.startsWith('Cannot drain node "n1": pods are left: shop/a: Cannot create '), true, message);
  for (
    const text of [/; shop\/b is evicted, but not gone/, /; shop\/c: Cannot .*403/, /disruption budget a needs 1 /]
  ) {
    assertMatch(message, text);
  }
  assert(!message.includes("shop/d"));
  assertEquals([errors.length, (cause as Error).name], [2, "TimeoutError"]);
  assertMatch(errorLine(drained.end), /\(The operation was aborted due to timeout\)$|\(Signal timed out/);

  for (let i = 0; i < 45; i++) shop.add(`bank/web-${i}`, { controller: "ReplicaSet" });
  using _stalled = shop.server.stallNext(Infinity, ({ path }) => path.endsWith("/eviction"));
  await using short = new Drained(shop, { signal: AbortSignal.timeout(1_000) });
  await time.tickAsync(1_000);
  assertMatch((short.end as Error).message, /: pods are left: (bank\/web-\d+ is not evicted; ){20}and 28 more$/);
});

Deno.test("drain ends in the middle with an error whose cause is the reason of its signal", async () => {
  using time = new FakeTime();
  using shop = new Shop();
  shop.add("shop/a", { controller: "ReplicaSet" });
  shop.add("shop/b", { controller: "ReplicaSet" });
  shop.allow("a", 0);
  const drained = new Drained(shop);
  await time.tickAsync(100);
  const reason = new Error("enough");
  drained.controller.abort(reason);
  await time.tickAsync(0);
  assertStrictEquals((drained.end as Error).cause, reason);
  assertEquals(drained.steps.filter((step) => step.startsWith("failed") || step.startsWith("gone")), []);
  assertEquals([drained.controller.listeners, time.timers, shop.server.watches], [0, 0, 0]);
  const late = new Drained(shop, { signal: AbortSignal.abort(reason) });
  await time.tickAsync(0);
  assertStrictEquals(late.end, reason);
  assertEquals(shop.evictions, 2);
});

Deno.test("drain rejects for a node that does not exist, and if it may not list pods", async () => {
  using shop = new Shop();
  assert(isNotFound(await assertRejects(() => drain(shop.client, "n9"))));
  shop.server.failNext(403, 2, ({ verb, resource }) => resource === "pods" && (verb === "list" || verb === "watch"));
  const error = await assertRejects(() => drain(shop.client, "n1"), Error);
  assertStringIncludes(error.message, "pods");
  assertEquals(shop.evictions, 0);
  const before = shop.server.requests.length;
  await assertRejects(() => drain(shop.client, "n1", { gracePeriodSeconds: -1 }), RangeError, "gracePeriodSeconds");
  assertEquals(shop.server.requests.length, before);
  const options = { dryRun: true };
  await assertRejects(() => drain(shop.client, "n1", options as never), TypeError, '"dryRun"');
});
