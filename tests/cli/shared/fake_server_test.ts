import { assert, assertEquals } from "@std/assert";
import { fillFakeServer, SteadyChurn } from "../../../src/cli/shared/fake_server.ts";
import { Namespace, Node, Pod } from "../../../src/engine/kinds/core/v1.ts";
import { FakeApiServer } from "../../../src/testing/mod.ts";
import { pods } from "../../support/sources/big_pods.ts";
import { FakeTime } from "../../support/times/fake_time.ts";

Deno.test("fillFakeServer makes pods, also in the default namespace, and all of their namespaces and nodes", async () => {
  using server = new FakeApiServer();
  await fillFakeServer(server, { count: 100 });
  const pods = server.list(Pod);
  assertEquals(pods.length, 100);
  assertEquals(pods.filter(({ metadata }) => metadata.namespace === "default").length, 20);
  const namespaces = server.keys(Namespace);
  const nodes = server.keys(Node);
  for (const { metadata, spec } of pods) {
    assert(namespaces.includes(metadata.namespace ?? ""), metadata.namespace);
    assert(nodes.includes(spec.nodeName ?? ""), spec.nodeName);
  }
  assert(namespaces.includes("kube-system"));
});

/** Time for a churn, which reads the clock that never goes back. */
class Clock extends FakeTime {
  readonly #real = performance.now.bind(performance);

  constructor() {
    super();
    performance.now = () => Date.now();
  }

  override [Symbol.dispose](): void {
    performance.now = this.#real;
    super[Symbol.dispose]();
  }
}

function serverWith(count: number): FakeApiServer {
  const server = new FakeApiServer();
  for (const pod of pods(count)) server.create(Pod, pod);
  return server;
}

function counted(perSecond: number, ms: number, forMs?: number): { readonly done: number; readonly timers: number } {
  using time = new Clock();
  using server = serverWith(20);
  const churn = new SteadyChurn(server, perSecond, { forMs });
  const before = Number(server.resourceVersion);
  churn.start();
  time.tick(ms);
  const { timers } = time;
  churn.stop();
  assertEquals(time.timers, 0);
  return { done: Number(server.resourceVersion) - before, timers };
}

Deno.test("SteadyChurn makes as many changes as the rate says", () => {
  assertEquals(counted(500, 2_000), { done: 1_000, timers: 1 });
  assertEquals(counted(0.5, 4_000), { done: 2, timers: 1 });
});

Deno.test("SteadyChurn stops at the end of its time, with all changes due by then", () => {
  assertEquals(counted(300, 5_000, 1_005), { done: 301, timers: 0 });
});

Deno.test("SteadyChurn at rate 0 sets no timer", () => {
  assertEquals(counted(0, 1_000), { done: 0, timers: 0 });
});

Deno.test("SteadyChurn of updates alone leaves the same pods, and the same seed makes the same changes", () => {
  const results = [1, 2].map(() => {
    using time = new Clock();
    using server = serverWith(10);
    const before = server.keys(Pod);
    const churn = new SteadyChurn(server, 100, { mix: "update", seed: 7 });
    churn.start();
    time.tick(1_000);
    churn.stop();
    assertEquals(server.keys(Pod), before);
    return server.list(Pod).map(({ metadata, status }) => ({
      annotations: metadata.annotations,
      phase: status?.phase,
    }));
  });
  assertEquals(results[0], results[1]);
});

Deno.test("SteadyChurn of all kinds creates and deletes equally often", () => {
  using time = new Clock();
  using server = serverWith(50);
  const before = new Set(server.keys(Pod));
  const churn = new SteadyChurn(server, 100, { mix: "all" });
  churn.start();
  time.tick(5_000);
  churn.stop();
  const after = server.keys(Pod);
  assert(after.some((key) => !before.has(key)), "something was created");
  assert(Math.abs(after.length - 50) <= 5, `found ${after.length} pods`);
});
