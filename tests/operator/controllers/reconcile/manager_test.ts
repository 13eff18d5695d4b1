import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import type { KubernetesObject } from "../../../../src/engine/api/object.ts";
import { rightsText } from "../../../../src/engine/client/access_reviews.ts";
import { sleep } from "../../../../src/engine/async/time.ts";
import { EventRecorder } from "../../../../src/operator/controllers/reconcile/event_recorder.ts";
import {
  LeaderElector,
  LeadershipLostError,
  UnfinishedWorkError,
} from "../../../../src/operator/controllers/reconcile/leader_elector.ts";
import { Manager, type ManagerOptions } from "../../../../src/operator/controllers/reconcile/manager.ts";
import { ShardGroup } from "../../../../src/operator/controllers/reconcile/shard_group.ts";
import { OPEN_METRICS_TYPE } from "../../../../src/engine/informer/metrics.ts";
import { SharedInformerFactory } from "../../../../src/engine/informer/shared_informer_factory.ts";
import { WaitError } from "../../../../src/engine/informer/status.ts";
import { Lease } from "../../../../src/engine/kinds/coordination/v1.ts";
import { ConfigMap, Namespace, Node, Pod } from "../../../../src/engine/kinds/core/v1.ts";
import { Warnings } from "../../../support/texts/console.ts";
import { parseOpenMetrics } from "../../../support/texts/parse_open_metrics.ts";
import { Widget } from "../../../support/sources/widgets.ts";
import { Session } from "./_session.ts";

/** A manager under fake time, whose phases and whose requests are recorded. */
class ManagedSession extends Session {
  readonly phases: string[] = [];
  readonly stopper = new AbortController();
  readonly elector = new LeaderElector(this.client, { name: "lead", namespace: "default", identity: "me" });

  manager(options: ManagerOptions): Manager {
    return new Manager({ onPhase: (phase) => this.phases.push(phase), ...options });
  }

  /** Runs a manager; the result has its error once it has ended. */
  run(manager: Manager): { readonly end: Promise<unknown> } {
    return { end: manager.run({ signal: this.stopper.signal }).then(() => undefined, (error) => error) };
  }

  get holder(): string | undefined {
    return this.server.get(Lease, "default/lead")?.spec?.holderIdentity;
  }
}

async function probe(manager: Manager, path: string, method = "GET"): Promise<[number, string]> {
  const response = manager.fetch(new Request(`http://pod${path}`, { method }));
  return [response.status, await response.text()];
}

Deno.test("Manager syncs informers, waits for leadership and reconciles, and stops all in the reverse order", async () => {
  using session = new ManagedSession();
  session.create("a");
  const order: string[] = [];
  let running: AbortSignal | undefined;
  const release = Promise.withResolvers<void>();
  const recorder = new EventRecorder(session.client, { controller: "maps" });
  const maps = session.reconciler(async ({ key, signal, object }) => {
    order.push(`reconcile ${key}`);
    running = signal;
    const details = { reason: "Done", action: "Do", note: "It is done." };
    recorder.record(object!, details);
    recorder.record(object!, details); // makes it a series, whose further counts wait for the stop
    await release.promise;
    recorder.record(object!, details);
    order.push(`returned ${key}`);
  });
  const manager = session.manager({ reconcilers: [maps], elector: session.elector, recorders: [recorder] });
  session.server.create(Lease, {
    metadata: { name: "lead", namespace: "default" },
    spec: { holderIdentity: "other", leaseDurationSeconds: 15 },
  } as never);

  const { end } = session.run(manager);
  await session.pass(1_000);
  assertEquals([session.phases, maps.informer.hasSynced], [["syncing", "standby"], true]);
  assertEquals(order, []);
  await session.pass(30_000);
  assertEquals([session.phases.at(-1), order, session.holder], ["running", ["reconcile default/a"], "me"]);

  session.create("b"); // waits for the worker, which has "a"
  await session.pass();
  session.stopper.abort();
  await session.pass();
  assertEquals([session.phases.at(-1), running?.aborted, session.holder], ["stopping", true, "me"]);
  assertEquals(maps.informer.status().state, "live");
  const requests = session.server.requests.length;
  release.resolve();
  await session.pass();
  assertEquals(await end, undefined);
  assertEquals(order, ["reconcile default/a", "returned default/a"]);
  const last = session.server.requests.slice(requests).map(({ method, path }) => `${method} ${path.split("?")[0]}`);
  assertMatch(last.at(-3)!, /^PATCH .*events\/a\..*$/);
  assertMatch(last.at(-1)!, /^PUT .*leases\/lead$/);
  assertEquals(session.phases, ["syncing", "standby", "running", "stopping", "stopped"]);
  assertEquals([session.holder, maps.informer.status().state], ["", "stopped"]);
  assertEquals(session.time.timers, 0);
});

Deno.test("Manager rejects when leadership is lost, after reconciles in flight have ended", async () => {
  using session = new ManagedSession();
  session.create("a");
  let ended = false;
  const maps = session.reconciler(async ({ signal }) => {
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    ended = true;
  });
  const { end } = session.run(session.manager({ reconcilers: [maps], elector: session.elector }));
  await session.pass(1_000);
  assertEquals(session.phases.at(-1), "running");
  session.server.patch(Lease, "default/lead", { spec: { holderIdentity: "thief" } });
  await session.pass(5_000);
  const error = await end;
  assert(error instanceof LeadershipLostError, String(error));
  assertEquals([ended, session.phases.at(-1), session.holder], [true, "stopped", "thief"]);
});

Deno.test("Manager lets no reconcile write after a pause that was longer than the lease, and rejects", async () => {
  using session = new ManagedSession();
  session.create("a");
  let pausedMs = 0;
  const clock = { now: () => performance.now() + pausedMs, sleep };
  const elector = new LeaderElector(session.client, { name: "lead", namespace: "default", identity: "me", clock });
  const gate = Promise.withResolvers<void>();
  const maps = session.reconciler(async ({ client }) => {
    await gate.promise;
    await client.resource(ConfigMap, { namespace: "default" }).patch("a", {
      type: "merge",
      body: { data: { n: "1" } },
    });
  });
  const { end } = session.run(session.manager({ reconcilers: [maps], elector }));
  await session.pass(1_000);
  pausedMs = 20_000;
  gate.resolve();
  await session.pass(1_000);
  assert(await end instanceof LeadershipLostError);
  assertEquals(session.server.get(ConfigMap, "default/a")?.data, undefined);
});

Deno.test("Manager ends the requests of reconciles when leadership is lost, also while it stops", async () => {
  for (const stops of [false, true]) {
    using session = new ManagedSession();
    session.create("a");
    session.server.stallNext(1, ({ verb }) => verb === "patch");
    let ended: unknown;
    const maps = session.reconciler(async ({ client }) => {
      const body = { data: { colour: "red" } };
      await client.resource(ConfigMap, { namespace: "default" }).patch("a", { type: "merge", body }).catch(
        (error) => ended = error,
      );
    });
    const { end } = session.run(session.manager({ reconcilers: [maps], elector: session.elector }));
    await session.pass(1_000);
    if (stops) session.stopper.abort();
    await session.pass(1_000);
    assertEquals(ended, undefined);
    session.server.patch(Lease, "default/lead", { spec: { holderIdentity: "thief" } });
    await session.pass(5_000);
    assert(ended instanceof LeadershipLostError, String(ended));
    assert(await end instanceof LeadershipLostError);
  }
});

Deno.test("Manager reports a reconcile that does not return, and leaves the lease to expire", async () => {
  using session = new ManagedSession();
  session.create("a");
  const never = Promise.withResolvers<void>();
  const maps = session.reconciler(() => never.promise, { graceMs: 3_000 });
  const { end } = session.run(session.manager({ reconcilers: [maps], elector: session.elector }));
  await session.pass(1_000);
  session.stopper.abort();
  await session.pass(4_000);
  const error = await end;
  assert(error instanceof UnfinishedWorkError, String(error));
  assertStringIncludes(error.message, `have not returned: "default/a"`);
  assertEquals(session.holder, "me");
  never.resolve();
});

Deno.test("Manager stops the other reconcilers when one fails, and rejects with its error", async () => {
  using session = new ManagedSession();
  const maps = session.reconciler(() => {});
  const failing = {
    name: "failing",
    informers: maps.informers,
    status: () => maps.status(),
    run: () => Promise.reject(new Error("cannot continue")),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  const { end } = session.run(session.manager({ reconcilers: [maps, failing] }));
  await session.pass();
  assertEquals(((await end) as Error).message, "cannot continue");
  assertEquals([maps.status().state, session.phases.at(-1)], ["stopped", "stopped"]);
});

Deno.test("Manager stops the reconcilers when an informer ends by itself, and rejects with its error", async () => {
  using session = new ManagedSession();
  const maps = session.reconciler(() => {});
  const failing = Promise.withResolvers<void>();
  const informers = {
    run: () => failing.promise,
    waitForCacheSync: () => Promise.resolve(),
    measureDelivery: () => {},
  } as unknown as SharedInformerFactory;
  const { end } = session.run(session.manager({ reconcilers: [maps], informers: [informers] }));
  await session.pass();
  assertEquals(session.phases.at(-1), "running");
  failing.reject(new Error("the handlers have not returned"));
  await session.pass();
  assertEquals(((await end) as Error).message, "the handlers have not returned");
  assertEquals([maps.status().state, session.phases.at(-1)], ["stopped", "stopped"]);
});

Deno.test("Manager rejects when the server refuses an informer, without an attempt to lead", async () => {
  using session = new ManagedSession();
  session.server.failNext(403, 9, ({ path }) => path.includes("configmaps"));
  const maps = session.reconciler(() => {});
  const { end } = session.run(session.manager({ reconcilers: [maps], elector: session.elector }));
  await session.pass(1_000);
  assertStringIncludes(String(await end), `Cannot wait for "configmaps" to sync: its state has been "forbidden"`);
  assertEquals([session.phases, session.holder], [["syncing", "stopping", "stopped"], undefined]);
  assertEquals(session.time.timers, 0);
});

Deno.test("Manager rejects when informers have not synced within syncTimeoutMs, and names them and their errors", async () => {
  using session = new ManagedSession();
  using _stalled = session.server.stallNext(Infinity, ({ path }) => path.includes("/pods"));
  session.server.failNext(500, Infinity, ({ path }) => path.includes("configmaps"));
  const informers = new SharedInformerFactory(session.client, { onError: () => {} });
  for (const resource of [Pod, Namespace]) informers.forResource<KubernetesObject>(resource);
  const quiet = new SharedInformerFactory(session.client, { onError: () => {} });
  const maps = session.reconciler(() => {}, { informers: quiet });
  const { end } = session.run(
    session.manager({ reconcilers: [maps], informers: [informers], elector: session.elector, syncTimeoutMs: 65_000 }),
  );
  await session.pass(64_000);
  assertEquals(session.phases, ["syncing"]);
  await session.pass(2_000);
  const error = await end;
  assert(error instanceof WaitError, String(error));
  assertMatch(
    error.message,
    /^Cannot wait for "pods" to sync: given up after 65\.0 s, its state has been "listing" for 65\.0 s: the limit is 65\.0 s \(syncTimeoutMs\); "configmaps" to sync: given up after 65\.0 s, its state has been "listing" for 65\.0 s: Cannot .*500/,
  );
  await quiet.shutdown();
  assertEquals([session.phases, session.holder], [["syncing", "stopping", "stopped"], undefined]);
  assertEquals(session.time.timers, 0);
  assertThrows(() => new Manager({ syncTimeoutMs: 0 }), RangeError, "syncTimeoutMs must be at least 1");
});

Deno.test("Manager and Reconciler wait 10 minutes for the first sync, and without end where it is Infinity", async () => {
  for (const syncTimeoutMs of [undefined, Infinity]) {
    using session = new ManagedSession();
    using _stalled = session.server.stallNext(Infinity, ({ path }) => path.includes("configmaps"));
    const options = { syncTimeoutMs, informers: new SharedInformerFactory(session.client, { onError: () => {} }) };
    const alone = session.reconciler(() => {}, options);
    const manager = session.manager({ reconcilers: [session.reconciler(() => {}, options)], syncTimeoutMs });
    const ends = [manager.run(), alone.run()].map((end) => end.then(() => "stopped", (error) => error.name));
    await session.pass(590_000);
    assertEquals([manager.status().phase, alone.status().state], ["syncing", "syncing"]);
    await session.pass(20_000);
    const isOver = syncTimeoutMs === undefined;
    assertEquals([manager.status().phase === "stopped", alone.status().state === "stopped"], [isOver, isOver]);
    await Promise.all([manager[Symbol.asyncDispose](), alone[Symbol.asyncDispose](), session.pass()]);
    assertEquals(await Promise.all(ends), isOver ? ["WaitError", "WaitError"] : ["stopped", "stopped"]);
    await options.informers.shutdown();
    assertEquals(session.time.timers, 0);
  }
});

Deno.test("Manager does not wait for an optional kind that the server lacks", async () => {
  using session = new ManagedSession();
  const maps = session.reconciler(() => {}).watches(Widget, () => [], { optional: true });
  const manager = session.manager({ reconcilers: [maps], syncTimeoutMs: 1_000 });
  const { end } = session.run(manager);
  await session.pass(60_000);
  assertEquals([manager.status().phase, maps.status().waitsFor], ["running", ["widgets.acme.dev"]]);
  await Promise.all([manager[Symbol.asyncDispose](), session.pass()]);
  assertEquals(await end, undefined);
});

Deno.test("Manager whose run() has failed is disposed without that error, so that await using throws it once", async () => {
  using session = new ManagedSession();
  session.server.failNext(403, 9, ({ path }) => path.includes("configmaps"));
  const refused = assertRejects(async () => {
    await using manager = session.manager({ reconcilers: [session.reconciler(() => {})] });
    await manager.run();
  }, WaitError);
  await session.pass(1_000);
  await refused;
});

Deno.test("Manager ends quietly when it is stopped in any phase, and leaves nothing behind", async () => {
  for (const phase of ["created", "syncing", "standby", "running"]) {
    using session = new ManagedSession();
    const informers = new SharedInformerFactory(session.client);
    informers.forResource(Pod);
    const manager = new Manager({
      reconcilers: [session.reconciler(() => {})],
      informers: [informers],
      elector: session.elector,
      onPhase: (now) => {
        if (now === phase) session.stopper.abort();
      },
    });
    if (phase === "created") session.stopper.abort();
    const { end } = session.run(manager);
    await session.pass(5_000);
    assertEquals(await end, undefined, phase);
    assertEquals([manager.status().phase, session.time.timers, session.holder || ""], ["stopped", 0, ""], phase);
  }
});

Deno.test("Manager without reconcilers runs its informers until it is disposed, and runs once", async () => {
  using session = new ManagedSession();
  const informers = new SharedInformerFactory(session.client);
  const pods = informers.forResource(Pod);
  let stoppedAs: string | undefined;
  const manager = session.manager({
    informers: [informers],
    onPhase: (phase) => {
      session.phases.push(phase);
      if (phase === "stopped") stoppedAs = pods.status().state;
    },
  });
  const { end } = session.run(manager);
  await session.pass(60_000);
  assertEquals([session.phases.at(-1), pods.status().state], ["running", "live"]);
  await assertRejects(() => manager.run(), Error, "it can run only once (its phase is running)");
  const disposed = manager[Symbol.asyncDispose]();
  await session.pass();
  await disposed;
  assertEquals([await end, stoppedAs, session.time.timers], [undefined, "stopped", 0]);
});

Deno.test("Manager disposed before it runs disposes its parts", async () => {
  using session = new ManagedSession();
  const maps = session.reconciler(() => {});
  await session.manager({ reconcilers: [maps] })[Symbol.asyncDispose]();
  assertEquals([maps.status().state, session.server.requests.length], ["stopped", 0]);
});

Deno.test("Manager answers /readyz from the sync to the stop, also while another process leads", async () => {
  using session = new ManagedSession();
  using _stalled = session.server.stallNext(1);
  const manager = session.manager({ reconcilers: [session.reconciler(() => {})], elector: session.elector });
  assertEquals(await probe(manager, "/readyz"), [503, "the manager is created\n"]);
  const { end } = session.run(manager);
  await session.pass();
  assertEquals(await probe(manager, "/readyz"), [503, "the manager is syncing\nconfigmaps: listing\n"]);
  await session.pass(90_000);
  assertEquals(await probe(manager, "/readyz"), [200, "ok\n"]);
  assertEquals(await probe(manager, "/readyz", "HEAD"), [200, ""]);
  assertEquals((await probe(manager, "/healthz"))[0], 200);
  assertEquals((await probe(manager, "/healthz", "POST"))[0], 405);
  assertEquals((await probe(manager, "/other"))[0], 404);
  session.stopper.abort();
  await session.pass();
  await end;
  assertEquals((await probe(manager, "/readyz"))[0], 503);
});

for (const code of [401, 403, 404]) {
  Deno.test(`Manager fails /readyz of a standby that the server refuses the Lease by ${code}, until it does not`, async () => {
    using session = new ManagedSession();
    using warnings = new Warnings();
    const manager = session.manager({ reconcilers: [session.reconciler(() => {})], elector: session.elector });
    // The Lease is not there: a 404 is that of its creation, in a namespace that is not there.
    let isGranted = false;
    session.server.failNext(code, Infinity, ({ resource, verb }) => {
      return !isGranted && resource === "leases" && (code !== 404 || verb === "create");
    });
    const { end } = session.run(manager);
    await session.pass(10_000);
    const [status, text] = await probe(manager, "/readyz");
    assertEquals([session.phases.at(-1), status], ["standby", 503]);
    assertMatch(
      text,
      new RegExp(`^the manager cannot lead: Cannot (get|create) "leases.*lead" in namespace "default": ${code}`),
    );
    const failed = parseOpenMetrics(await manager.fetch(new Request("http://pod/metrics")).text())
      .find(({ name }) => name === "leader_errors")?.samples;
    assertEquals(failed?.map(({ name }) => name), ["leader_errors_total"]);
    assert(failed![0].value >= 3);
    assertEquals(warnings.lines.length, 1);
    assertStringIncludes(warnings.lines[0], `elector of lease "default/lead": Cannot`);
    isGranted = true;
    await session.pass(5_000);
    assertEquals([session.phases.at(-1), await probe(manager, "/readyz")], ["running", [200, "ok\n"]]);
    session.stopper.abort();
    await session.pass(10_000);
    await end;
  });
}

Deno.test("Manager fails /healthz while the work continues though leadership was lost", async () => {
  using session = new ManagedSession();
  session.create("a");
  const never = Promise.withResolvers<void>();
  const maps = session.reconciler(() => never.promise, { graceMs: Infinity, timeoutMs: Infinity });
  const manager = session.manager({ reconcilers: [maps], elector: session.elector });
  const { end } = session.run(manager);
  await session.pass(1_000);
  session.server.patch(Lease, "default/lead", { spec: { holderIdentity: "thief" } });
  await session.pass(5_000);
  assertEquals((await probe(manager, "/healthz"))[0], 200);
  await session.pass(20_000);
  const [status, text] = await probe(manager, "/healthz");
  assertEquals(status, 503);
  assertStringIncludes(text, "Cannot confirm leadership");
  never.resolve();
  await session.pass();
  assert((await end) instanceof LeadershipLostError);
});

Deno.test("Manager answers /metrics with the status of all parts, which a strict parser of OpenMetrics accepts", async () => {
  using session = new ManagedSession();
  session.create("a", "b");
  const recorder = new EventRecorder(session.client, { controller: "maps" });
  const maps = session.reconciler(() => {}, { name: `ma"ps\\` });
  const others = session.reconciler(({ key }) => {
    if (key === "default/a") throw new Error("broken");
  }, { name: `ma"ps\\` });
  const manager = session.manager({ reconcilers: [maps, others], elector: session.elector, recorders: [recorder] });
  const { end } = session.run(manager);
  await session.pass(1);
  const response = manager.fetch(new Request("http://pod/metrics"));
  assertEquals(response.headers.get("content-type"), OPEN_METRICS_TYPE);
  const families = new Map(parseOpenMetrics(await response.text()).map((family) => [family.name, family]));
  const value = (family: string, labels: Record<string, string> = {}, name?: string): number | undefined =>
    families.get(family)?.samples.find((it) =>
      (name === undefined || it.name === name) &&
      Object.entries(labels).every(([label, text]) => it.labels[label] === text)
    )?.value;
  const second = { reconciler: `ma"ps\\`, instance_number: "2" };
  assertEquals(value("manager_phase", { phase: "running" }), 1);
  assertEquals(value("informer_objects", { resource: "configmaps" }), 2);
  assertEquals(value("informer_state", { resource: "configmaps", state: "live" }), 1);
  assertEquals(value("reconciler_reconciles", { reconciler: `ma"ps\\`, outcome: "succeeded" }), 2);
  assertEquals(value("reconciler_reconciles", { ...second, outcome: "failed" }), 1);
  assertEquals(value("workqueue_work_seconds", second, "workqueue_work_seconds_count"), 2);
  for (const family of ["workqueue_wait_seconds", "reconciler_reconcile_seconds"]) {
    assertEquals(families.get(family)?.type, "histogram");
    assertEquals(value(family, { ...second, le: "300.0" }, `${family}_bucket`), 2, family);
  }
  for (const family of ["informer_list_seconds", "informer_commit_seconds"]) {
    assertEquals(value(family, { resource: "configmaps" }, `${family}_count`), 1, family);
  }
  assertEquals(value("informer_delivery_seconds", { resource: "configmaps" }, "informer_delivery_seconds_count"), 0);
  assertEquals(value("leader_state", { state: "leading" }), 1);
  assertEquals(value("recorder_dropped_events"), 0);
  assertEquals([...families.values()].filter(({ help }) => !help), []);
  session.stopper.abort();
  await session.pass();
  assertEquals(await end, undefined);
});

Deno.test("Manager over shards reconciles what its group holds, names the ranges, and gives them away at its stop", async () => {
  using session = new ManagedSession();
  using _warnings = new Warnings();
  session.create("a", "b");
  const shards = new ShardGroup(session.client, { name: "maps", namespace: "default", identity: "me" });
  const calls: string[] = [];
  const gate = Promise.withResolvers<void>();
  const maps = session.reconciler(async ({ key, signal, object }) => {
    calls.push(key);
    if (object?.metadata.annotations?.slow === undefined) return;
    await gate.promise;
    if (!signal.aborted) throw new Error("it is not stopped");
  }, { shards });
  assertThrows(
    () => session.manager({ shards, elector: session.elector }),
    TypeError,
    "cannot be combined. Remove one of them",
  );
  const manager = session.manager({ reconcilers: [maps], shards });
  const { end } = session.run(manager);
  await session.pass(1_000);
  assertEquals([session.phases, calls.sort()], [["syncing", "running"], ["default/a", "default/b"]]);
  assertEquals(await probe(manager, "/readyz"), [200, "ok\nholds the ranges 0-63\n"]);
  assertEquals(manager.status().shards?.ranges.length, 64);

  // It loses all ranges, and runs on.
  session.server.failNext(403, Infinity, ({ resource }) => resource === "leases");
  await session.pass(16_000);
  assertEquals(session.phases.at(-1), "running");
  const [status, text] = await probe(manager, "/readyz");
  assertEquals(status, 503);
  assertStringIncludes(text, "the manager cannot hold ranges: Cannot");
  const families = parseOpenMetrics(await manager.fetch(new Request("http://pod/metrics")).text());
  const valueOf = (family: string): unknown =>
    families.find(({ name }) => name === family)?.samples.map((it) => it.value);
  assertEquals([valueOf("shards_held"), valueOf("shards_range"), valueOf("shards_members")], [[0], [], [1]]);
  session.server.disarm();
  await session.pass(10_000);
  assertEquals(await probe(manager, "/readyz"), [200, "ok\nholds the ranges 0-63\n"]);

  // Another process takes half of them, and all at the end, when the last call has returned.
  const other = new ShardGroup(session.client, { name: "maps", namespace: "default", identity: "other" });
  const stopOther = new AbortController();
  const ended = other.run({ signal: stopOther.signal });
  await session.pass(2_000);
  assertEquals(await probe(manager, "/readyz"), [200, "ok\nholds the ranges 0-31\n"]);
  const held = maps.informer.entries.list().map(({ key }) => key);
  assert(held.length > 0);
  session.server.annotate(ConfigMap, held[0], { slow: "yes" });
  await session.pass();
  session.stopper.abort();
  await session.pass(2_000);
  assertEquals([other.status().ranges.length, session.phases.at(-1)], [63, "stopping"]);
  gate.resolve();
  await session.pass(2_000);
  assertEquals([await end, other.status().ranges.length, session.phases.at(-1)], [undefined, 64, "stopped"]);
  stopOther.abort();
  await session.pass(2_000);
  await ended;
});

Deno.test("Manager over shards stops when a reconciler fails, and when its group cannot run", async () => {
  for (const cause of ["reconciler", "group"] as const) {
    using session = new ManagedSession();
    const shards = new ShardGroup(session.client, { name: "maps", namespace: "default", identity: "me" });
    const maps = session.reconciler(() => {}, { shards });
    const earlier = new AbortController();
    const ended = cause === "group" ? shards.run({ signal: earlier.signal }) : maps.run({ signal: earlier.signal });
    const manager = session.manager({ reconcilers: [maps], shards });
    const { end } = session.run(manager);
    await session.pass(1_000);
    earlier.abort(new DOMException("over", "AbortError"));
    await session.pass(2_000);
    assertStringIncludes(String(await end), cause === "group" ? "can run only once" : "is running already");
    await ended;
  }
});

/** A session whose user lacks some rights. */
class LimitedSession extends ManagedSession {
  readonly lacking = new Set<string>();
  reviews = 0;

  constructor() {
    super((server) => ({
      fetch: async (request) => {
        if (!request.url.includes("/authorization.k8s.io/")) return await server.fetch(request);
        this.reviews++;
        if (request.url.includes("rulesreviews")) {
          const status = { resourceRules: [], nonResourceRules: [], incomplete: true };
          return Response.json({ metadata: {}, status }, { status: 201 });
        }
        const { spec: { resourceAttributes: { verb, group, resource, namespace, name } } } = await request.json();
        const asked = [verb, group, resource, name, namespace].filter(Boolean).join(" ");
        return Response.json({ metadata: {}, status: { allowed: !this.lacking.has(asked) } }, { status: 201 });
      },
    }));
  }
}

Deno.test("Manager.missingRights() asks for what informers, the elector, the group and recorders need", async () => {
  using session = new LimitedSession();
  const { client, lacking } = session;
  const recorder = new EventRecorder(client, { controller: "maps" });
  const informers = new SharedInformerFactory(client, { namespace: "shop" });
  const factory = new SharedInformerFactory(client, { namespaces: "readable" });
  const reconciler = session.reconciler(() => {}, { informers });
  informers.forResource(Node);
  factory.forResource(Pod);
  factory.forResource(Node); // needed twice, and named once
  const manager = session.manager({
    reconcilers: [reconciler],
    informers: [factory],
    elector: session.elector,
    recorders: [recorder],
  });
  const missing = async (): Promise<string> => {
    await session.pass(60_000);
    return rightsText(await manager.missingRights());
  };
  assertEquals(await missing(), "");
  for (
    const asked of [
      "watch configmaps shop",
      "list nodes",
      "list namespaces",
      "get coordination.k8s.io leases lead default",
      "update coordination.k8s.io leases lead default",
      "create coordination.k8s.io leases default",
      "create events.k8s.io events shop",
      "patch events.k8s.io events default",
    ]
  ) lacking.add(asked);
  assertEquals(
    (await missing()).split("; ").toSorted(),
    [
      'create events.events.k8s.io in "shop"',
      'create leases.coordination.k8s.io in "default"',
      'get, update leases.coordination.k8s.io "lead" in "default"',
      "list namespaces",
      "list nodes",
      'patch events.events.k8s.io in "default"',
      'watch configmaps in "shop"',
    ],
  );
  // The namespaces of events are not known here.
  const follower = new SharedInformerFactory(client, { namespaces: "readable" });
  follower.forResource(Pod);
  const readable = new Manager({ informers: [follower], recorders: [recorder] });
  assertEquals(rightsText(await readable.missingRights()), "list namespaces");
  const group = new ShardGroup(client, { name: "maps", namespace: "default" });
  const verbs = ["create", "delete", "get", "list", "update", "watch"];
  for (const verb of verbs) lacking.add(`${verb} coordination.k8s.io leases default`);
  assertEquals(
    rightsText(await new Manager({ shards: group }).missingRights()),
    'get, list, watch, create, update, delete leases.coordination.k8s.io in "default"',
  );
  await Promise.all([manager[Symbol.asyncDispose](), session.pass()]);
});

Deno.test("Manager names missing rights in /readyz, asks again once a minute, and no more once they are granted", async () => {
  using session = new LimitedSession();
  const manager = session.manager({ reconcilers: [session.reconciler(() => {})] });
  session.lacking.add("watch configmaps");
  assertEquals((await probe(manager, "/readyz"))[1], "the manager is created\n");
  await manager.missingRights();
  assertEquals(
    (await probe(manager, "/readyz"))[1],
    "the manager is created\nlacks rights: watch configmaps in all namespaces\n",
  );
  const { end } = session.run(manager);
  await session.pass();
  const line = "ok\nlacks rights: watch configmaps in all namespaces\n";
  assertEquals(await probe(manager, "/readyz"), [200, line]);
  session.lacking.clear();
  const { reviews } = session;
  await session.pass(59_000);
  assertEquals([await probe(manager, "/readyz"), session.reviews], [[200, line], reviews]);
  await session.pass(1_000);
  await probe(manager, "/readyz");
  await session.pass();
  assertEquals([await probe(manager, "/readyz"), session.reviews], [[200, "ok\n"], 2 * reviews]);
  await session.pass(120_000);
  await probe(manager, "/readyz");
  await session.pass();
  assertEquals(session.reviews, 2 * reviews);
  session.stopper.abort();
  await session.pass();
  assertEquals(await end, undefined);
});
