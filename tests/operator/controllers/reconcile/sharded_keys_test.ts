import { assert, assertEquals, assertThrows } from "@std/assert";
import { hashOf } from "../../../../src/engine/api/shard.ts";
import { sleep } from "../../../../src/engine/async/time.ts";
import { TerminalError } from "../../../../src/operator/controllers/reconcile/options.ts";
import { withController } from "../../../../src/operator/controllers/reconcile/owners.ts";
import { Reconciler } from "../../../../src/operator/controllers/reconcile/reconciler.ts";
import { ConfigMap, Namespace, Secret } from "../../../../src/engine/kinds/core/v1.ts";
import type { RecordedRequest } from "../../../../src/testing/fake/wire/exchange.ts";
import { requeueAfter } from "../../../../src/engine/workqueue/work_item.ts";
import { SharedWorks } from "./_processes.ts";

Deno.test("Reconciler over shards calls for each object in one process, and again where it moves", async () => {
  await using works = new SharedWorks();
  const keys = works.create(20);
  const a = works.process("a").start();
  await works.pass();
  assertEquals(a.take(), keys);

  const b = works.process("b").start();
  await works.pass(2_000);
  const moved = b.take();
  assert(moved.length > 2 && moved.length < 18, `${moved.length} have moved`);
  assertEquals(a.take(), []); // what moved was not deleted
  assertEquals(a.keys.length + moved.length, 20);

  for (const key of keys) works.server.annotate(ConfigMap, key, { changed: "yes" });
  await works.pass();
  assertEquals(b.take(), moved);
  assertEquals(a.take(), keys.filter((key) => !moved.includes(key)));

  await Promise.all([b.stop(), works.pass(2_000)]);
  assertEquals([a.take(), b.take()], [moved, []]);
});

Deno.test("Reconciler over shards calls for a deletion where the object was, until the call succeeds", async () => {
  await using works = new SharedWorks();
  const keys = works.create(8);
  let failures = 2;
  const reconcile = (): void => {
    if (failures-- > 0) throw new Error("not yet");
  };
  const [a, b] = [works.process("a", reconcile), works.process("b", reconcile)];
  failures = 0;
  a.start();
  b.start();
  await works.pass(5_000);
  const ofA = a.keys;
  assertEquals([...a.take(), ...b.take()].filter((key) => !keys.includes(key)), []);
  failures = 2;
  works.server.delete(ConfigMap, ofA[0]);
  await works.pass();
  assertEquals([a.take(), b.take()], [[`-${ofA[0]}`, `-${ofA[0]}`, `-${ofA[0]}`], []]);

  // Nobody is known to have a key without an object.
  for (const { reconciler } of [a, b]) reconciler.enqueue(ofA[0]);
  for (const { reconciler } of [a, b]) reconciler.enqueue(ofA[1]);
  await works.pass();
  assertEquals([a.take(), b.take()], [[ofA[1]], []]);
});

Deno.test("Reconciler over shards forgets a deleted object whose range moves before a call has succeeded", async () => {
  await using works = new SharedWorks();
  works.create(8);
  let fails = false;
  const a = works.process("a", () => {
    if (fails) throw new Error("not yet");
  }).start();
  await works.pass();
  a.take();
  fails = true;
  for (const key of [...works.server.keys(ConfigMap)]) works.server.delete(ConfigMap, key);
  await works.pass();
  assertEquals(new Set(a.take()).size, 8);
  const b = works.process("b").start();
  await works.pass(5_000);
  a.take();
  fails = false;
  await works.pass(1_200_000);
  const { length } = a.take();
  assert(length > 0 && length < 8, `${length} are called`);
  assertEquals(b.take(), []);
  await Promise.all([b.stop(), works.pass(5_000)]);
  for (let i = 0; i < 8; i++) a.reconciler.enqueue(`default/map-0${i}`);
  await works.pass();
  assertEquals(a.take(), []);
});

Deno.test("Reconciler over shards drops keys that come up for a later time where they have moved", async () => {
  await using works = new SharedWorks();
  const keys = works.create(12);
  const a = works.process("a", () => requeueAfter(60_000)).start();
  await works.pass();
  const b = works.process("b", () => requeueAfter(60_000)).start();
  await works.pass(5_000);
  a.take();
  const moved = b.take();
  await works.pass(60_000);
  assertEquals([b.take(), a.take()], [moved, keys.filter((key) => !moved.includes(key))]);
});

Deno.test("Reconciler over shards sends nothing after a pause that was longer than the lease", async () => {
  await using works = new SharedWorks();
  works.create(4);
  const gate = Promise.withResolvers<void>();
  const log: string[] = [];
  const a = works.process("a", async ({ key, client, signal }) => {
    if (signal.aborted || a.pausedMs > 0) return;
    await gate.promise;
    const write = client.resource(ConfigMap).patch(key.split("/")[1], { type: "merge", body: { data: { by: "a" } } });
    await write.then(() => log.push("sent"), (error) => log.push(error === signal.reason ? "refused" : `${error}`));
    signal.throwIfAborted();
  }, { concurrency: 4 }).start();
  await works.pass();
  a.pausedMs = 20_000;
  gate.resolve();
  await works.pass(0);
  assertEquals([log, a.errors], [Array.from({ length: 4 }, () => "refused"), []]);
  assertEquals(works.server.requests.filter(({ verb }) => verb === "patch"), []);
});

Deno.test("Reconciler over shards gives a range away when its calls have returned, whose signals abort", async () => {
  await using works = new SharedWorks();
  const keys = works.create(12);
  const gate = Promise.withResolvers<void>();
  const aborted: string[] = [];
  const a = works.process("a", async ({ key, signal, client, object }) => {
    if (object?.metadata.annotations?.slow === undefined) return;
    signal.addEventListener("abort", () => aborted.push(key), { once: true });
    await gate.promise;
    const name = key.split("/")[1];
    await client.resource(ConfigMap).patch(name, { type: "merge", body: { data: { by: "a" } } });
  }, { concurrency: 12 }).start();
  await works.pass();
  for (const key of keys) works.server.annotate(ConfigMap, key, { slow: "yes" });
  await works.pass(100);
  const b = works.process("b").start();
  await works.pass(10_000);
  assertEquals(b.take(), []);
  assert(aborted.length > 0 && aborted.length < 12);
  gate.resolve();
  await works.pass(2_000);
  assertEquals(b.take(), aborted.sort());
  assertEquals(works.server.list(ConfigMap).filter(({ data }) => data?.by === "a").length, 12);
  assertEquals(a.errors, []);
  assertEquals(a.reconciler.status().queue.errors, 0);
});

Deno.test("Reconciler over shards ends the requests of calls that have not returned after graceMs", async () => {
  await using works = new SharedWorks();
  works.create(6);
  const gate = Promise.withResolvers<void>();
  const failures: unknown[] = [];
  const a = works.process("a", async ({ key, client, object }) => {
    if (object?.metadata.annotations?.slow === undefined) return;
    await gate.promise;
    const body = { data: { by: "a" } };
    await client.resource(ConfigMap).patch(key.split("/")[1], { type: "merge", body }).catch((error) => {
      failures.push(error);
      throw error;
    });
  }, { concurrency: 6, graceMs: 3_000 }).start();
  await works.pass();
  for (const key of works.server.keys(ConfigMap)) works.server.annotate(ConfigMap, key, { slow: "yes" });
  await works.pass(100);
  const b = works.process("b").start();
  await works.pass(2_000);
  assertEquals(b.take(), []);
  await works.pass(3_000);
  const moved = b.take();
  assert(moved.length > 0);
  gate.resolve();
  await works.pass();
  assertEquals([failures.length, a.errors.length], [moved.length, moved.length]);
  assert(a.errors.every((error) => error.includes("has not returned 3000 ms after its range moved")), a.errors[0]);
});

Deno.test("Reconciler over shards ends the requests of calls whose ranges are lost, at once", async () => {
  await using works = new SharedWorks();
  works.create(3);
  const reasons: unknown[] = [];
  const a = works.process("a", async ({ client, signal }) => {
    const maps = client.resource(ConfigMap);
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    await maps.patch("map-00", { type: "merge", body: { data: {} } }).catch((error) => reasons.push(error));
  }, { concurrency: 3 }).start();
  await works.pass();
  assertEquals(a.calls.length, 3);
  a.isCutOff = true;
  await works.pass(9_000 - 1_000);
  assertEquals(reasons.length, 0);
  await works.pass(4_000);
  assertEquals(reasons.filter((reason) => String(reason).includes("Another process holds the range")).length, 3);
  assertEquals(a.reconciler.status().outcomes.succeeded, 3);
  a.isCutOff = false;
});

Deno.test("Reconciler over shards ends the requests of calls in ranges that are lost while they are given away", async () => {
  await using works = new SharedWorks();
  works.create(6);
  const reasons: unknown[] = [];
  const gate = Promise.withResolvers<void>();
  const a = works.process("a", async ({ client }) => {
    const maps = client.resource(ConfigMap);
    await gate.promise;
    await maps.patch("map-00", { type: "merge", body: { data: {} } }).catch((error) => reasons.push(error));
  }, { concurrency: 6, graceMs: 60_000 }).start();
  await works.pass();
  const b = works.process("b").start();
  await works.pass(2_000);
  assert(a.group.releasing().length > 0);
  a.isCutOff = true;
  await works.pass(16_000);
  assertEquals(a.group.releasing(), []);
  gate.resolve();
  await works.pass(0);
  assertEquals([reasons.length, reasons.every((it) => String(it).includes("Another process holds the range"))], [
    6,
    true,
  ]);
  a.isCutOff = false;
  await works.pass(10_000);
  assert(b.calls.length > 0);
});

/** A reconciler that owns Secrets, one for each config map. */
function ownsSecrets(works: SharedWorks, identity: string): ReturnType<SharedWorks["process"]> {
  const process = works.process(identity, async ({ key, object, client, cache }) => {
    if (object === undefined || cache(Secret).get(key) !== undefined) return;
    const { metadata: { name } } = object;
    await client.resource(Secret).create(withController({ metadata: { name } }, object));
  });
  process.reconciler.owns(Secret, { informer: { onError: () => {} } });
  return process;
}

Deno.test("Reconciler over shards by uid caches owned objects by the uid of their controller", async () => {
  await using works = new SharedWorks();
  const keys = works.create(16);
  const [a, b] = [ownsSecrets(works, "a").start(), ownsSecrets(works, "b").start()];
  await works.pass(3_000);
  assertEquals(works.server.keys(Secret).sort(), keys);
  const keysOf = ({ keys, reconciler }: typeof a): string[][] => [
    keys,
    reconciler.cache(Secret).list().map(({ metadata }) => `default/${metadata.name}`).sort(),
  ];
  for (const process of [a, b]) {
    const [maps, secrets] = keysOf(process);
    assert(maps.length > 2 && maps.length < 14);
    assertEquals(secrets, maps);
  }
  const c = ownsSecrets(works, "c").start();
  await works.pass(3_000);
  for (const process of [a, b, c]) {
    const [maps, secrets] = keysOf(process);
    assertEquals(secrets, maps);
  }
  assertEquals([a, b, c].flatMap(({ errors }) => errors), []);
  const writes = works.server.requests.filter(({ verb, resource }) => verb === "create" && resource === "secrets");
  assertEquals(writes.length, 16); // a process that takes a range knows what was created in it

  // One that leaves its controller is created anew where that is.
  for (const process of [a, b, c]) process.take();
  const [key] = a.keys;
  const [other] = b.keys;
  const { uid, name } = works.server.get(ConfigMap, other)!.metadata;
  const controller = { apiVersion: "v1", kind: "ConfigMap", name, uid, controller: true };
  works.server.patch(Secret, key, { metadata: { ownerReferences: [controller] } });
  await works.pass(0);
  assertEquals(a.reconciler.cache(Secret).get(key), undefined);
  assertEquals(b.reconciler.cache(Secret).get(key)?.metadata.ownerReferences?.[0].uid, uid);
  assertEquals([a.take()[0], b.take()], [key, [other]]);
});

Deno.test("Reconciler over shards begins when its caches have what the former holder wrote", async () => {
  await using works = new SharedWorks();
  works.create(8);
  const seen: Record<string, number> = {};
  const begin = (identity: string): ReturnType<SharedWorks["process"]> => {
    const process = works.process(identity, ({ cache }) => {
      seen[identity] ??= cache(Namespace).list().length;
    });
    process.reconciler.watches(Namespace, () => [], { informer: { onError: () => {} } });
    return process;
  };
  const a = begin("a").start();
  await works.pass();
  const b = begin("b");
  let stalled: Disposable | undefined;
  a.group.onRelease(async () => {
    // Otherwise the first list of b would have what a writes.
    for (let ms = 0; ms < 50 && b.reconciler.status().state !== "running"; ms++) await sleep(1);
    if (stalled !== undefined) return;
    assertEquals(b.reconciler.status().state, "running");
    stalled = works.server.stallWatches(Namespace); // which are not sharded
    works.server.create(Namespace, { metadata: { name: "made-by-a" } });
  });
  b.start();
  await works.pass(100);
  const { length } = works.server.list(Namespace);
  await works.pass(20_000);
  assertEquals(b.take(), []);
  assertEquals(b.reconciler.cache(Namespace).list().length, length - 1);
  const lists = works.server.requests.filter(({ verb, resource }) => verb === "list" && resource === "namespaces");
  assert(lists.length > 0 && lists.every(({ query }) => !query.has("resourceVersion"))); // of the newest state
  stalled![Symbol.dispose]();
  await works.pass(2_000);
  assert(b.take().length > 0);
  assertEquals(seen.b, length);
});

Deno.test("Reconciler over shards by namespace has the keys of its namespaces, also those without objects", async () => {
  await using works = new SharedWorks();
  const spaces = Array.from({ length: 12 }, (_, index) => `space-${index}`);
  for (const space of spaces) works.create(1, space);
  const begin = (identity: string): ReturnType<SharedWorks["process"]> => {
    const process = works.process(identity, () => {}, { by: "namespace" });
    process.reconciler.owns(Secret, { informer: { onError: () => {} } });
    return process.start();
  };
  const [a, b] = [begin("a"), begin("b")];
  await works.pass(5_000);
  const has = ({ group }: typeof a, space: string): boolean => {
    const hash = hashOf(space);
    return group.ranges().some(({ start, end }) => start <= hash && hash < end);
  };
  for (const process of [a, b]) {
    const own = spaces.filter((space) => has(process, space));
    assert(own.length > 0 && own.length < 12);
    assertEquals([...new Set(process.take())].sort(), own.map((space) => `${space}/map-00`).sort());
    for (const space of spaces) process.reconciler.enqueue(`${space}/none`);
    await works.pass();
    assertEquals(process.take(), own.map((space) => `-${space}/none`).sort());
  }
  for (const space of spaces) works.server.create(Secret, { metadata: { name: "it", namespace: space } });
  await works.pass();
  for (const process of [a, b]) {
    const found = process.reconciler.cache(Secret).list().map(({ metadata }) => metadata.namespace!);
    assertEquals(found.sort(), spaces.filter((space) => has(process, space)).sort());
  }
});

Deno.test("Reconciler over shards refuses kinds without namespaces by namespace", async () => {
  await using works = new SharedWorks();
  const { client, group } = works.process("a", () => {}, { by: "namespace" });
  assertThrows(
    () => new Reconciler(client, Namespace, () => {}, { shards: group }),
    TypeError,
    `Cannot take the shard "it" of "namespaces" by namespace`,
  );
});

Deno.test("Reconciler over shards takes an object that was created anew, and has moved, for no deleted one", async () => {
  await using works = new SharedWorks();
  const keys = works.create(12);
  const a = works.process("a", ({ object }) => {
    if (object === undefined) throw new Error("it is tried again");
  }).start();
  await works.pass();
  for (const key of keys) works.server.delete(ConfigMap, key);
  await works.pass();
  works.create(12);
  await works.pass();
  const b = works.process("b").start();
  await works.pass(5_000);
  assert(b.keys.length > 0);
  a.take();
  for (const key of keys) a.reconciler.enqueue(key);
  await works.pass();
  assertEquals(a.take(), a.keys);
});

Deno.test("Reconciler over shards ends its calls for a deleted object by a TerminalError", async () => {
  await using works = new SharedWorks();
  const [key] = works.create(1);
  const a = works.process("a", ({ object }) => {
    if (object === undefined) throw new TerminalError("it cannot be mended");
  }).start();
  await works.pass();
  works.server.delete(ConfigMap, key);
  await works.pass();
  a.reconciler.enqueue(key);
  await works.pass();
  assertEquals(a.take(), [`-${key}`, key]);
});

Deno.test("Reconciler over shards lists owned kinds again before it begins in ranges that it has lost and regained", async () => {
  await using works = new SharedWorks();
  const keys = works.create(6);
  const a = works.process("a");
  a.reconciler.owns(Secret, { informer: { onError: () => {} } });
  a.start();
  await works.pass();
  assertEquals(a.take(), keys);
  a.isCutOff = true;
  await works.pass(15_000);
  assertEquals([a.group.ranges(), a.keys], [[], []]);
  const isList = ({ verb, resource }: RecordedRequest): boolean => verb === "list" && resource === "secrets";
  const stalled = works.server.stallNext(100, isList);
  a.isCutOff = false;
  await works.pass(20_000);
  assertEquals([a.keys, a.take()], [keys, []]);
  assertEquals(a.group.status().ranges.length, 64);
  stalled[Symbol.dispose]();
  await works.pass();
  assertEquals(a.take(), keys);
});

Deno.test("Reconciler over shards waits for caches no longer to see the writes for an object that has moved", async () => {
  await using works = new SharedWorks();
  const keys = works.create(8);
  const a = works.process("a", async ({ key, object, client }) => {
    if (object?.metadata.annotations?.write === undefined || object.data !== undefined) return;
    await client.resource(ConfigMap).patch(key.split("/")[1], { type: "merge", body: { data: { by: "a" } } });
  }).start();
  await works.pass();
  for (const key of keys) works.server.annotate(ConfigMap, key, { write: "yes" });
  works.server.beforeNext(() => void works.server.stallWatches(ConfigMap), 1, ({ verb }) => verb === "patch");
  await works.pass(0);
  for (const key of keys) a.reconciler.enqueue(key);
  await works.pass(0);
  assertEquals(a.reconciler.status().waitingForCaches, 8);
  const b = works.process("b").start();
  await works.pass(60_000);
  assert(b.calls.length > 0);
  assertEquals(a.errors.filter((error) => b.keys.some((key) => error.startsWith(`${key}:`))), []);
});

Deno.test("Reconciler over shards ends the requests of a call whose last range is lost while its process leaves", async () => {
  await using works = new SharedWorks();
  const [key] = works.create(1);
  const gate = Promise.withResolvers<void>();
  let reason: unknown;
  const a = works.process("a", async ({ client }) => {
    const maps = client.resource(ConfigMap);
    await gate.promise;
    await maps.patch("map-00", { type: "merge", body: { data: {} } }).catch((error) => reason = error);
  }, { graceMs: 100_000 }).start();
  await works.pass();
  assertEquals(a.calls, [key]);
  const b = works.process("b").start();
  await works.pass(2_000);
  const ended = a.stop();
  await works.pass(2_000);
  assertEquals([a.group.ranges(), a.group.releasing().length, b.group.status().ranges.length], [[], 1, 63]);
  a.isCutOff = true;
  await works.pass(12_000);
  gate.resolve();
  await works.pass(20_000);
  assert(String(reason).includes("Another process holds the range"), String(reason));
  await ended;
});

Deno.test("Reconciler over shards does not begin in ranges that it has lost and regained by what it began to read before", async () => {
  await using works = new SharedWorks();
  const keys = works.create(6);
  const a = works.process("a");
  a.reconciler.watches(Namespace, () => [], { informer: { onError: () => {} } }); // which are not sharded
  // The first list of the informer is a watch.
  const isCheck = ({ verb, resource }: RecordedRequest): boolean => verb === "list" && resource === "namespaces";
  a.start();
  await works.pass();
  assertEquals(a.take(), keys);
  const checks = works.server.requests.filter(isCheck).length;
  const [before, later] = [works.server.stallNext(1, isCheck), works.server.stallNext(1, isCheck)];
  for (let times = 2; times > 0; times--) {
    a.isCutOff = true;
    await works.pass(12_000);
    assertEquals(a.group.ranges(), []);
    a.isCutOff = false;
    await works.pass(10_000);
    assertEquals(a.group.status().ranges.length, 64); // all at once
  }
  before[Symbol.dispose]();
  await works.pass();
  assertEquals([works.server.requests.filter(isCheck).length - checks, a.take()], [2, []]);
  later[Symbol.dispose]();
  await works.pass();
  assertEquals(a.take(), keys);
});

Deno.test("Reconciler over shards does not begin while a cache is being listed, which has ended the look at it", async () => {
  await using works = new SharedWorks();
  const keys = works.create(6);
  const a = works.process("a");
  a.reconciler.watches(Namespace, () => [], { informer: { onError: () => {} } }); // which are not sharded
  const isOfNamespaces = ({ resource }: RecordedRequest): boolean => resource === "namespaces";
  a.start();
  await works.pass();
  assertEquals(a.take(), keys);
  const check = works.server.stallNext(1, (request) => request.verb === "list" && isOfNamespaces(request));
  a.isCutOff = true;
  await works.pass(12_000);
  a.isCutOff = false;
  await works.pass(10_000);
  assertEquals(a.group.status().ranges.length, 64);
  const list = works.server.stallNext(Infinity, isOfNamespaces);
  works.server.forceRelist();
  await works.pass(10_000);
  assertEquals(a.take(), []);
  check[Symbol.dispose]();
  await works.pass(10_000);
  assertEquals(a.take(), []);
  list[Symbol.dispose]();
  await works.pass(5_000);
  assertEquals(a.take(), keys);
});
