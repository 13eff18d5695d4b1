import { assert, assertEquals, assertMatch } from "@std/assert";
import type { KubernetesObject } from "../../../../src/engine/api/object.ts";
import { sleep } from "../../../../src/engine/async/time.ts";
import type { ReconcilerOptions } from "../../../../src/operator/controllers/reconcile/options.ts";
import { OwnCalls } from "../../../../src/operator/controllers/reconcile/own_calls.ts";
import { controllerOf, withController } from "../../../../src/operator/controllers/reconcile/owners.ts";
import type { ObjectChange } from "../../../../src/operator/controllers/reconcile/predicates.ts";
import { Deployment } from "../../../../src/engine/kinds/apps/v1.ts";
import { ConfigMap, Pod, Secret } from "../../../../src/engine/kinds/core/v1.ts";
import { pod } from "../../../../src/testing/fake/objects.ts";
import { requeueAfter } from "../../../../src/engine/workqueue/work_item.ts";
import { FakeTime } from "../../../support/times/fake_time.ts";
import { Session } from "./_session.ts";

const IN = { namespace: "default" };
const TEMPLATE = {
  selector: { matchLabels: { app: "web" } },
  template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "main", image: "web:1" }] } },
};

Deno.test("a reconcile that writes something new at each call is reported, and called with growing waits", async () => {
  await using session = new Session();
  session.create("a");
  session.create("calm");
  const calls: Record<string, number> = { "default/a": 0, "default/calm": 0 };
  let isMended = false;
  const maps = session.reconciler(async ({ key, client }) => {
    const n = ++calls[key];
    if (key !== "default/a" || isMended) return;
    await client.resource(ConfigMap, { namespace: "default" }).patch("a", {
      type: "merge",
      body: { data: { n: `${n}` } },
    });
  });
  await session.start(maps, 1_000);
  const first = calls["default/a"];
  assert(first > 250 && first < 275, `${first} calls in the first second`);
  assertMatch(session.errors[0], /^default\/a: Reconciling "default\/a" over and over: /);
  await session.pass(100_000);
  const second = calls["default/a"];
  assert(second - first < 10, `${second - first} calls in the next 100 s`);
  assertEquals([calls["default/calm"], session.errors.length], [1, 1]);
  assertEquals(maps.status().ownCalls, second - 1);
  // A change by somebody else is not delayed.
  session.server.annotate(ConfigMap, "default/a", { by: "somebody" });
  await session.pass(1);
  assertEquals(calls["default/a"], second + 1);
  // The retry finds that the loop has ended, and all is as before.
  isMended = true;
  await session.pass(1_000_000);
  const last = calls["default/a"];
  assert(last <= second + 3, `${last - second} calls after the end`);
  await session.pass(1_000_000);
  session.server.annotate(ConfigMap, "default/a", { by: "another" });
  await session.pass(1);
  assertEquals(calls["default/a"], last + 1);
});

Deno.test("a reconcile whose writes are undone each time is reported, and called with growing waits", async () => {
  await using session = new Session((server) => ({
    fetch: async (request) => {
      if (request.method !== "PATCH") return await server.fetch(request);
      using _late = server.stallWatches(Pod);
      const response = await server.fetch(request);
      server.patch(Pod, "default/x", { metadata: { labels: { of: null } } });
      return response;
    },
  }));
  session.create("a");
  session.server.create(Pod, pod({ name: "x" }));
  let calls = 0;
  const maps = session.reconciler(async ({ client }) => {
    calls++;
    const body = { metadata: { labels: { of: "a" } } };
    await client.resource(Pod, { namespace: "default" }).patch("x", { type: "merge", body });
  }).watches(Pod, () => [], {});
  await session.start(maps, 100_000);
  assert(calls > 250 && calls < 275, `${calls} calls`);
  assertMatch(session.errors[0], /over and over: /);
});

Deno.test("a reconcile that writes after each change of others, or comes back by itself, is called as often as they ask", async () => {
  await using session = new Session();
  const { server } = session;
  session.create("a", "b");
  const calls: Record<string, number> = { "default/a": 0, "default/b": 0 };
  const maps = session.reconciler(async ({ key, object, client }) => {
    calls[key]++;
    if (key === "default/b") return requeueAfter(5);
    const seen = object?.metadata.annotations?.n ?? "";
    if (object?.data?.seen === seen) return;
    await client.resource(ConfigMap, { namespace: "default" }).patch("a", { type: "merge", body: { data: { seen } } });
  });
  await session.start(maps, 100);
  for (let n = 1; n <= 200; n++) {
    server.annotate(ConfigMap, "default/a", { n: `${n}` });
    await session.pass(5);
    assertEquals(server.get(ConfigMap, "default/a")?.data, { seen: `${n}` });
  }
  assertEquals(session.errors, []);
  assert(calls["default/b"] > 190, `${calls["default/b"]} calls`);
});

/**
 * Runs a reconciler whose reconcile writes an owned Secret of each of `count` config maps again and again, for 60 s at
 * most; returns what it has reported 5 s after the first report.
 */
async function hotFleet(count: number, options: ReconcilerOptions<ConfigMap> = {}): Promise<string[]> {
  await using session = new Session((server) => ({
    fetch: async (request) => {
      await sleep(request.method === "PATCH" ? 40 : 1);
      return await server.fetch(request);
    },
  }));
  session.create(...Array.from({ length: count }, (_, n) => `m${n}`));
  let calls = 0;
  let isOver = false;
  const maps = session.reconciler(async ({ object, client }) => {
    if (isOver) return;
    const metadata = { name: object!.metadata.name };
    const draft = withController({ metadata, stringData: { at: `${++calls}` } }, object!);
    await client.resource(Secret, IN).apply(draft, { fieldManager: "x", force: true });
  }, options).owns(Secret);
  await session.start(maps);
  for (let at = 0; at < 60 && session.errors.length === 0; at++) await session.pass(1_000);
  await session.pass(5_000);
  isOver = true;
  await session.pass(2_000);
  return session.errors;
}

Deno.test("a loop is reported once within a minute, whatever its rate, for one key and for many", async () => {
  for (const count of [1, 3]) {
    const errors = await hotFleet(count);
    assertEquals([count, errors.length], [count, 1]);
    assertMatch(errors[0], /: Reconciling .* over and over: /);
  }
  const errors = await hotFleet(100, { concurrency: 8 });
  assertEquals(errors.length, 1);
  assertMatch(errors[0], /: Reconciling keys of "configmaps" over and over: /);
});

Deno.test("a loop of more keys than are remembered is seen, and a fleet that comes to rest after some steps is not", () => {
  using time = new FakeTime();
  const keys = 5_000;
  for (const steps of [8, 60]) {
    const own = new OwnCalls();
    const loops = new Set<string | undefined>();
    for (let step = 0; step < 60; step++) {
      for (let at = 0; at < keys; at++) {
        if (at % 100 === 0) time.tick(1_000); // each key comes up once in 50 s
        const [key, resourceVersion] = [`shop/${at}`, `${step * keys + at + 1}`];
        loops.add(own.begin(key, [{ type: "event" }]));
        if (step >= steps) continue;
        own.wrote(key, { resource: Secret, key, namespace: "shop", uid: "u", resourceVersion });
        own.caused(key, { type: "added", resourceVersion } as ObjectChange<KubernetesObject>);
      }
    }
    assertEquals([steps, ...loops], steps === 8 ? [8, undefined] : [60, undefined, "reconciler"]);
  }
});

Deno.test("calls that come back by themselves are no loop, nor are rounds of work that others cause", () => {
  using _time = new FakeTime();
  const own = new OwnCalls();
  let version = 0;
  /** A call for `triggers` that writes `object`, and is caused by that. Returns the loop that it shows. */
  const call = (key: string, triggers: readonly string[], object: string): string | undefined => {
    const loop = own.begin(key, triggers.map((type) => ({ type })));
    const resourceVersion = `${++version}`;
    own.wrote(key, { resource: Secret, key: object, namespace: "shop", uid: "u", resourceVersion });
    own.caused(key, { type: "added", resourceVersion } as ObjectChange<KubernetesObject>);
    return loop;
  };
  for (const [triggers, isLoop] of [[["event", "requeue"], false], [["event"], true]] as const) {
    const loops = Array.from({ length: 400 }, () => call(`shop/${triggers}`, triggers, "shop/heart"));
    assertEquals(loops.some((it) => it !== undefined), isLoop, `${triggers}`);
  }
  for (let round = 0; round < 3; round++) {
    for (let n = 0; n < 300; n++) assertEquals(call("shop/b", ["event"], `shop/${n}`), undefined);
    own.caused("shop/b", undefined);
  }
});

Deno.test("a reconcile that creates objects without end is reported after a thousand", async () => {
  await using session = new Session();
  session.create("a");
  let calls = 0;
  const maps = session.reconciler(async ({ object, client }) => {
    calls++;
    const draft = withController({ metadata: { generateName: "x-" } }, object!);
    await client.resource(Secret, IN).create(draft);
  }).owns(Secret);
  await session.start(maps, 100_000);
  assert(calls > 1_000 && calls < 1_025, `${calls} calls`);
  assertEquals(session.errors.length, 1);
  assertMatch(session.errors[0], /: Reconciling "default\/a" over and over: /);
});

Deno.test("200 children, one by one, are no loop", async () => {
  await using session = new Session();
  session.create("a", "b", "c");
  const maps = session.reconciler(async ({ object, client, cache }) => {
    const own = cache(Secret).list().filter((it) => controllerOf(it)?.uid === object!.metadata.uid).length;
    if (own === 200) return;
    const { name } = object!.metadata;
    await client.resource(Secret, IN).create(withController({ metadata: { name: `${name}-${own}` } }, object!));
    const body = { metadata: { annotations: { made: `${own + 1}` } } };
    await client.resource(ConfigMap, IN).patch(name, { type: "merge", body });
  }).owns(Secret);
  await session.start(maps, 10_000);
  assertEquals([session.server.keys(Secret).length, session.errors], [600, []]);
});

Deno.test("a Deployment that is scaled to 200 by one per call is no loop", async () => {
  await using session = new Session();
  session.create("a");
  session.server.create(Deployment, { metadata: { name: "web" }, spec: { replicas: 0, ...TEMPLATE } });
  const maps = session.reconciler(async ({ client, cache }) => {
    const { replicas = 0 } = cache(Deployment).get("default/web")!.spec;
    if (replicas === 200) return;
    const body = { spec: { replicas: replicas + 1 } };
    await client.resource(Deployment, IN).patch("web", { type: "merge", body });
  }).watches(Deployment, () => ["default/a"]);
  await session.start(maps, 10_000);
  assertEquals(session.server.get(Deployment, "default/web")?.spec.replicas, 200);
  assertEquals(session.errors, []);
});

Deno.test("a condition that is renewed each 30 s is no loop, by a requeue or by its own event", async () => {
  for (const options of [{ ownWrites: "ignore" }, { ownWrites: "trigger" }, { debounceMs: 30_000 }] as const) {
    await using session = new Session();
    session.create("a");
    let renewedMs = -Infinity;
    let written = 0;
    const maps = session.reconciler(async ({ client }) => {
      if (session.time.now - renewedMs >= 30_000) {
        renewedMs = session.time.now;
        const body = { data: { at: `${++written}` } };
        await client.resource(ConfigMap, IN).patch("a", { type: "merge", body });
      }
      return "ownWrites" in options ? requeueAfter(30_000) : undefined;
    }, options);
    await session.start(maps);
    for (let n = 0; n < 1_100; n++) await session.pass(30_001);
    assert(written > 1_050, `${JSON.stringify(options)}: ${written}`);
    assertEquals(session.errors, []);
  }
});
