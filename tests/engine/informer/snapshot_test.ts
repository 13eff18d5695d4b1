import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import type { CacheEntry } from "../../../src/engine/api/entry.ts";
import { onlyFields } from "../../../src/engine/api/fields.ts";
import type { WatchChange } from "../../../src/engine/api/lister_watcher.ts";
import { reduced } from "../../../src/engine/api/object.ts";
import { asTable, onlyMetadata, SECRET_ANNOTATIONS, type TableRow } from "../../../src/engine/api/resource.ts";
import { nextTurn } from "../../../src/engine/async/turns.ts";
import { Client } from "../../../src/engine/client/client.ts";
import type { JsonEntry } from "../../../src/engine/entry/entry.ts";
import { CacheScope, recordDifference } from "../../../src/engine/informer/cache/cache_scope.ts";
import type { SharedIndexInformerOptions } from "../../../src/engine/informer/options.ts";
import { SharedIndexInformer } from "../../../src/engine/informer/shared_index_informer.ts";
import { SnapshotError, type SnapshotHeader, snapshotStream } from "../../../src/engine/informer/snapshot.ts";
import { Pod, Secret } from "../../../src/engine/kinds/core/v1.ts";
import { FakeApiServer, pod } from "../../../src/testing/mod.ts";
import { FakeTime } from "../../support/times/fake_time.ts";
import {
  added,
  bookmark,
  deleted,
  entry,
  expired,
  modified,
  part,
  type Thing,
  thing,
  unparsable,
  unread,
} from "../../support/sources/fixtures.ts";
import { holding, Run } from "../../support/sources/informer.ts";
import { END, ScriptedSource } from "../../support/sources/scripted_source.ts";

type Options = SharedIndexInformerOptions<Thing>;

/** Reads the bytes of a snapshot. */
async function bytesOf(snapshot: AsyncIterable<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await new Response(ReadableStream.from(snapshot)).arrayBuffer());
}

/** Cuts bytes into chunks of a size. */
async function* cut(bytes: Uint8Array, size = bytes.length): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** The snapshot of an informer that has these objects, and has done `use`. */
async function snapshotOf(
  time: FakeTime,
  entries: readonly CacheEntry<Thing>[],
  options?: Options,
  use?: (run: Run) => void,
): Promise<Uint8Array> {
  await using run = await new Run(holding(...entries), options, time).start();
  use?.(run);
  return await bytesOf(run.informer.snapshot());
}

Deno.test("SharedIndexInformer that restores a snapshot has its objects at once, and resumes the watch at its version without a list", async () => {
  using time = new FakeTime();
  const bytes = await snapshotOf(time, [unread("a", 1, { labels: { app: "web" } }), entry("b", 2, { size: 7 })]);
  await time.tickAsync(60_000);
  const source = new ScriptedSource().watch([], [modified("a", 11), bookmark(20)]);
  await using run = new Run(source, {}, time);
  const { informer } = run;
  const notes = run.listen();
  await informer.restore(cut(bytes));
  assertEquals(run.cached, ["default/a@1", "default/b@2"]);
  assertEquals(informer.indexer.getByKey("default/b")!, thing("b", 2, { size: 7 }));
  assertEquals(informer.lister.list("app=web"), [thing("a", 1, { labels: { app: "web" } })]);
  const { state, staleForMs, resourceVersion } = informer.status();
  assertEquals([state, staleForMs, resourceVersion, informer.hasSynced], ["stale", 60_000, "10", true]);
  await time.tickAsync(0);
  assertEquals(notes.take(), ["+ default/a@1 (initial)", "+ default/b@2 (initial)", "= 2 at 10"]);
  await run.start();
  assertEquals(source.calls.map(({ type, options }) => `${type} ${options.resourceVersion}`), ["watch 10"]);
  assertEquals(source.calls[0].options.sendInitialEvents, undefined);
  assertEquals(notes.take(), ["~ default/a@1→11"]);
  assertEquals([informer.status().state, informer.lastSyncResourceVersion], ["live", "20"]);
});

Deno.test("SharedIndexInformer whose restored version has expired lists, and handlers receive tombstones and previous objects", async () => {
  using time = new FakeTime();
  const bytes = await snapshotOf(time, [unread("a", 1), unread("b", 2), unread("c", 3)]);
  const source = new ScriptedSource().watch(expired()).list(
    part(30, [unread("b", 2), unread("c", 25), unread("d", 26)]),
    END,
  ).watch([]);
  await using run = new Run(source, {}, time);
  const notes = run.listen();
  const previous: unknown[] = [];
  run.informer.addEventHandler({ onUpdate: (event) => void previous.push(event.previous) });
  await run.informer.restore(cut(bytes));
  await run.start();
  assertEquals(run.informer.status().state, "stale");
  await time.tickAsync(1_600);
  assertEquals(notes.take().slice(4), ["- default/a@1 (unknown)", "~ default/c@3→25", "+ default/d@26"]);
  assertEquals(previous, [thing("c", 3)]);
  assertEquals(source.lists.map(({ options }) => options.resourceVersion), ["10"]);
  assertEquals([run.informer.status().state, run.errors], ["live", []]);
});

Deno.test("SharedIndexInformer writes objects that were read, transformed, frozen or beyond ASCII as it has them", async () => {
  using time = new FakeTime();
  const objects = [
    unread("a", 1, { labels: { word: "größe", app: "web", dino: "🦕" } }),
    unread("b", 2),
    entry("c", 3),
  ];
  for (const options of [{}, { freeze: false }, { parse: "eager" }] as Options[]) {
    let cached: readonly Thing[] = [];
    const bytes = await snapshotOf(time, objects, options, ({ informer }) => {
      void informer.indexer.getByKey("default/b");
      queueMicrotask(() => cached = informer.indexer.list());
    });
    await using second = new Run(new ScriptedSource(), options, time);
    await second.informer.restore(cut(bytes, 7));
    assertEquals(second.informer.indexer.list(), cached);
    assertEquals(second.informer.lister.list("app=web").length, 1);
    assertEquals([...second.informer.entries].map(({ metadata }) => metadata.name), ["a", "b", "c"]);
    assertEquals(Object.isFrozen(second.informer.indexer.list()[0]), options.freeze ?? true);
  }
});

Deno.test("SharedIndexInformer refuses a snapshot of an object that has no JSON, by its key", async () => {
  using time = new FakeTime();
  const transform = (thing: Thing): Thing => thing.spec.size === 2 ? Object.assign(thing, { self: thing }) : thing;
  await using run = await new Run(holding(entry("a", 1), entry("b", 2, { size: 2 })), { transform }, time).start();
  await assertRejects(() => bytesOf(run.informer.snapshot()), TypeError, 'Cannot write "default/b" as JSON: ');
  await run.send(modified("b", 11, { size: 3 }));
  assert((await bytesOf(run.informer.snapshot())).length > 0);
});

Deno.test("SharedIndexInformer does not transform restored objects again, and deletes and relists them by the server's keys", async () => {
  using time = new FakeTime();
  let calls = 0;
  const transform = (object: Thing): Thing => {
    calls++;
    return { ...object, metadata: { ...object.metadata, name: `${object.metadata.name}-x` }, spec: { size: 9 } };
  };
  const bytes = await snapshotOf(time, [unread("a", 1), unread("b", 2)], { transform });
  calls = 0;
  const source = new ScriptedSource().watch([], [deleted("a", 11)], expired())
    .list(part(30, [unread("b", 2)]), END).watch([]);
  await using run = new Run(source, { transform }, time);
  await run.informer.restore(cut(bytes));
  assertEquals([calls, run.cached], [0, ["default/a-x@1", "default/b-x@2"]]);
  await run.start();
  assertEquals([calls, run.cached], [1, ["default/b-x@2"]]); // the deleted object is transformed, for its key
  const kept = run.informer.indexer.getByKey("default/b-x");
  await time.tickAsync(1_600);
  assertEquals(source.lists.length, 1);
  assert(run.informer.indexer.getByKey("default/b-x") !== undefined);
  assertEquals(kept?.spec, { size: 9 });
});

Deno.test("SharedIndexInformer keeps the server's keys of objects that a transform has renamed, over two snapshots", async () => {
  using time = new FakeTime();
  const transform = (object: Thing): Thing => {
    return { ...object, metadata: { ...object.metadata, name: `${object.metadata.name}-x` } };
  };
  let bytes = await snapshotOf(time, [unread("a", 1)], { transform });
  {
    await using run = new Run(new ScriptedSource(), { transform }, time);
    await run.informer.restore(cut(bytes));
    bytes = await bytesOf(run.informer.snapshot());
  }
  const broken: WatchChange<Thing> = { type: "MODIFIED", entry: unparsable("a", 11) };
  await using run = new Run(new ScriptedSource().watch([], [broken]), { transform }, time);
  await run.informer.restore(cut(bytes));
  await run.start();
  assertEquals([...run.informer.entries.keys()], ["default/a-x"]); // what cannot be read has the key of its last state
});

Deno.test("SharedIndexInformer gives restored objects texts of their own, so that they do not keep the bytes of the snapshot", async () => {
  using time = new FakeTime();
  const bytes = await snapshotOf(time, [unread("a", 1), unread("b", 2, { labels: { word: "größe" } })]);
  await using run = new Run(new ScriptedSource(), {}, time);
  await run.informer.restore(cut(bytes));
  const [a, b] = [...run.informer.entries].map((entry) => (entry as JsonEntry<Thing>).unread!.text);
  assertEquals(typeof a, "string");
  assert(b instanceof Uint8Array && b.length === b.buffer.byteLength);
});

Deno.test("SharedIndexInformer copies the texts of restored objects a mebibyte a turn, until it stops", async () => {
  using time = new FakeTime();
  const word = "x".repeat(200_000);
  const bytes = await snapshotOf(time, Array.from({ length: 12 }, (_, i) => unread(`a${i}`, i, { labels: { word } })));
  /** The number of objects with texts of their own. */
  const copied = ({ informer }: Run): number =>
    [...informer.entries].filter((entry) => typeof (entry as JsonEntry<Thing>).unread!.text === "string").length;
  for (const [stops, afterwards] of [[false, 12], [true, 6]] as const) {
    const run = new Run(new ScriptedSource(), {}, time);
    await run.informer.restore(cut(bytes));
    assertEquals(copied(run), 6);
    if (stops) await run[Symbol.asyncDispose]();
    for (let turn = 0; turn < 3; turn++) await nextTurn();
    assertEquals(copied(run), afterwards);
    if (!stops) await run[Symbol.asyncDispose]();
  }
});

Deno.test("SharedIndexInformer restores an object that could not be read as one that cannot be read, and a list repairs it", async () => {
  using time = new FakeTime();
  const bytes = await snapshotOf(time, [unread("a", 1), unparsable("b", 2)], {}, ({ informer }) => {
    assertEquals(informer.indexer.list().length, 1);
  });
  const source = new ScriptedSource().watch([], expired()).list(part(30, [unread("a", 1), unread("b", 2)]), END).watch(
    [],
  );
  await using run = new Run(source, {}, time);
  await run.informer.restore(cut(bytes));
  assertEquals([run.informer.status().objects, run.informer.status().quarantined], [2, 1]);
  assertEquals(run.complaints.map((line) => line.slice(0, 50)), ['DecodeError: Cannot parse "default/b" at version 2']);
  await run.start();
  await time.tickAsync(1_600);
  assertEquals([run.informer.indexer.list().length, run.informer.status().quarantined], [2, 0]);
});

Deno.test("SharedIndexInformer restores each of several namespaces at its own version", async () => {
  using time = new FakeTime();
  const make = (a: ScriptedSource, b: ScriptedSource): SharedIndexInformer<Thing> =>
    new SharedIndexInformer<Thing>(
      [{ namespace: "a", source: a }, { namespace: "b", source: b }],
      { onError: () => {}, reflector: { streamingList: "off" } },
    );
  const lists = [["a", 10], ["b", 20]].map(([namespace, version]) =>
    new ScriptedSource().list(part(version, [unread("x", 5, { namespace: String(namespace) })]), END).watch([])
  );
  let bytes: Uint8Array;
  {
    await using first = make(lists[0], lists[1]);
    void first.run();
    await time.tickAsync(0);
    bytes = await bytesOf(first.snapshot());
  }
  const [a, b] = [
    new ScriptedSource().watch([]),
    new ScriptedSource().watch([], [deleted("x", 21, { namespace: "b" })]),
  ];
  await using second = make(a, b);
  await second.restore(cut(bytes));
  assertEquals([second.hasSynced, second.lastSyncResourceVersion], [true, "10"]);
  assertEquals(second.status().namespaces?.map(({ state, objects }) => [state, objects]), [["stale", 1], ["stale", 1]]);
  assertEquals([...second.entries.keys()], ["a/x", "b/x"]);
  void second.run();
  await time.tickAsync(0);
  assertEquals([a, b].map(({ calls }) => `${calls[0].type} ${calls[0].options.resourceVersion}`), [
    "watch 10",
    "watch 20",
  ]);
  assertEquals([...second.entries.keys()], ["a/x"]);

  await using reversed = new SharedIndexInformer<Thing>(
    [["b", b] as const, ["a", a] as const].map(([namespace, source]) => ({ namespace, source })),
  );
  await reversed.restore(cut(bytes)); // the order of the namespaces does not matter
  assertEquals(
    reversed.status().namespaces?.map(({ namespace, resourceVersion }) => [namespace, resourceVersion]),
    [["b", "20"], ["a", "10"]],
  );
});

Deno.test("SharedIndexInformer lists where the snapshot that it was given is not one of the server, and reports it", async () => {
  const [old, anew] = [new FakeApiServer(), new FakeApiServer()];
  for (const name of ["a", "b", "c"]) old.create(Pod, pod({ name }));
  for (const name of ["x", "y", "z", "a"]) anew.create(Pod, pod({ name }));
  const errors: string[] = [];
  const informer = (server: FakeApiServer): SharedIndexInformer<Pod> => {
    const client = new Client({ server: "http://fake", transport: server });
    return new SharedIndexInformer(client.resource(Pod), { onError: (error) => errors.push((error as Error).message) });
  };
  let bytes: Uint8Array;
  {
    await using first = informer(old);
    void first.run();
    await first.waitForCacheSync();
    bytes = await bytesOf(first.snapshot());
  }
  for (const server of [old, anew]) {
    await using second = informer(server);
    await second.restore(cut(bytes));
    void second.run();
    for await (const { state } of second.statusChanges()) if (state === "live") break;
    const names = second.lister.list().map(({ metadata: { name } }) => name).sort();
    assertEquals(names, server === old ? ["a", "b", "c"] : ["a", "x", "y", "z"]);
    assertEquals(errors.length, server === old ? 0 : 1);
  }
  assertMatch(
    errors[0],
    /^Cannot use the snapshot of the informer of "pods", so it is listed instead: the server does not have this state, because it has none of /,
  );
});

Deno.test("SharedIndexInformer refuses a snapshot with a key that no server can have", async () => {
  using time = new FakeTime();
  for (const name of ["../../secrets/x", "..", ".", "a%2Fb", "a/b"]) {
    const bytes = await snapshotOf(time, [unread("a", 1), unread(name, 2)]);
    await using run = new Run(holding(), {}, time);
    await assertRejects(
      () => run.informer.restore(cut(bytes)),
      SnapshotError,
      `it has an impossible key: "default/${name}"`,
    );
    assertEquals(run.cached, []);
  }
  const bytes = await snapshotOf(time, [unread("system:node.1", 1, { namespace: "" })]);
  await using run = new Run(holding(), {}, time);
  await run.informer.restore(cut(bytes));
  assertEquals(run.cached, ["system:node.1@1"]);
});

Deno.test("SharedIndexInformer parses the objects of a snapshot in several turns, where all are read", async () => {
  const entries = Array.from(
    { length: 4_000 },
    (_, i) => unread(`thing-${i}`, i + 1, { labels: { text: "x".repeat(3_000) } }),
  );
  const source = new ScriptedSource().list(part(5_000, entries), END).watch([]);
  let bytes: Uint8Array;
  {
    await using first = new SharedIndexInformer<Thing>(source, { reflector: { streamingList: "off" } });
    void first.run();
    await first.waitForCacheSync();
    bytes = await bytesOf(first.snapshot());
  }
  await using second = new SharedIndexInformer<Thing>(new ScriptedSource(), { parse: "eager" });
  let turns = 0;
  let isOver = false;
  const counting = (async (): Promise<void> => {
    for (; !isOver; turns++) await nextTurn();
  })();
  await second.restore(cut(bytes));
  isOver = true;
  assert(turns >= 2, `${turns} turns`);
  assertEquals(second.indexer.size, 4_000);
  await counting;
});

Deno.test("SharedIndexInformer computes the index values of a snapshot in several turns, and fills its cache in one step", async () => {
  const entries = Array.from({ length: 400 }, (_, i) => unread(`thing-${i}`, i + 1));
  const make = (source: ScriptedSource, index: (thing: Thing) => string[]): SharedIndexInformer<Thing, "name"> =>
    new SharedIndexInformer(source, { indexers: { name: index }, reflector: { streamingList: "off" } });
  const listed = (): ScriptedSource => new ScriptedSource().list(part(500, entries), END).watch([]);
  let bytes: Uint8Array;
  {
    await using first = make(listed(), () => []);
    void first.run();
    await first.waitForCacheSync();
    bytes = await bytesOf(first.snapshot());
  }
  let turn = 0;
  let isOver = false;
  const counting = (async (): Promise<void> => {
    for (; !isOver; turn++) await nextTurn();
  })();
  const turns = new Set<number>();
  const sizes = new Set<number>();
  const slow = ({ metadata }: Thing): string[] => {
    turns.add(turn);
    sizes.add(second.indexer.size);
    for (const began = performance.now(); performance.now() - began < 0.1;);
    return [metadata.name];
  };
  await using second = make(new ScriptedSource(), slow);
  await second.restore(cut(bytes));
  assert(turns.size >= 3, `${turns.size} turns`);
  assertEquals([[...sizes], second.indexer.size], [[0], 400]);
  assertEquals(second.indexer.byIndex("name", "thing-7").length, 1);

  let running: Promise<void> | undefined;
  await using third = make(listed(), (thing) => {
    running ??= nextTurn().then(() => void third.run());
    return slow(thing);
  });
  await assertRejects(() => third.restore(cut(bytes)), Error, "it is running already");
  await running;
  await third.waitForCacheSync();
  assertEquals(third.indexer.size, 400);
  isOver = true;
  await counting;
});

Deno.test("SharedIndexInformer refuses a snapshot that is cut off anywhere, or of which any byte was changed, and then lists", async () => {
  using time = new FakeTime();
  const bytes = await snapshotOf(time, [unread("a", 1), unread("b", 2)]);
  await using run = new Run(holding(unread("c", 3)), {}, time);
  for (let length = 0; length < bytes.length; length++) {
    await assertRejects(() => run.informer.restore(cut(bytes.subarray(0, length))), SnapshotError, "Cannot restore");
  }
  for (let at = 0; at < bytes.length; at++) {
    const changed = bytes.slice();
    changed[at] ^= 1 << (at % 8);
    await assertRejects(() => run.informer.restore(cut(changed, 1 + at % 50)), SnapshotError, "Cannot restore");
  }
  await assertRejects(() => run.informer.restore(cut(new Uint8Array([...bytes, 32]))), SnapshotError, "damaged");
  assertEquals([run.informer.hasSynced, run.cached], [false, []]);
  await run.start();
  assertEquals([run.cached, run.source.lists.length], [["default/c@3"], 1]);
});

Deno.test("SharedIndexInformer refuses a snapshot with impossible lengths, and reserves no memory for them", async () => {
  await using run = new Run();
  const format = new TextEncoder().encode("kube-informer-snapshot 0001\n");
  for (const numbers of [[2 ** 32 - 1, 0, 0], [0, 2 ** 32 - 1, 0], [0, 0, 0], []]) {
    const bytes = new Uint8Array([...format, ...new Uint8Array(new Uint32Array(numbers).buffer)]);
    await assertRejects(() => run.informer.restore(cut(bytes)), SnapshotError, "a frame has no lengths");
  }
});

Deno.test("SharedIndexInformer closes a snapshot that it refuses before its end", async () => {
  using time = new FakeTime();
  const bytes = await snapshotOf(time, [unread("a", 1)]);
  let isClosed = false;
  async function* snapshot(): AsyncGenerator<Uint8Array> {
    try {
      yield* cut(bytes, 7);
    } finally {
      isClosed = true;
    }
  }
  await using run = new Run(undefined, {}, time);
  await assertRejects(
    () => run.informer.restore(snapshot(), { cluster: "blue" }),
    SnapshotError,
    "it was written with cluster",
  );
  assert(isClosed);
});

Deno.test("SharedIndexInformer names what a snapshot of something else is of", async () => {
  const server = new FakeApiServer();
  using client = new Client({ server: "http://fake", transport: server });
  await using pods = new SharedIndexInformer(client.resource(Pod, { namespace: "shop" }));
  void pods.run();
  await pods.waitForCacheSync();
  const bytes = await bytesOf(pods.snapshot({ cluster: "blue" }));
  const refused = async (
    resource: typeof Pod,
    selection: { namespace?: string; labelSelector?: string },
    options: SharedIndexInformerOptions<Pod> = {},
    cluster = "blue",
  ): Promise<string> => {
    await using informer = new SharedIndexInformer(client.resource(resource, selection), options);
    const error = await assertRejects(() => informer.restore(cut(bytes), { cluster }), SnapshotError);
    assertEquals(error.reason, "other");
    return error.message.slice(error.message.indexOf("it was written"));
  };
  const shop = { namespace: "shop" };
  assertEquals(
    [
      await refused(Secret as unknown as typeof Pod, shop),
      await refused(onlyMetadata(Pod) as typeof Pod, shop),
      await refused(Pod, { ...shop, labelSelector: "a=b" }),
      await refused(Pod, shop, { managedFields: "keep" }),
      await refused(Pod, shop, { transform: (pod) => pod }),
      await refused(Pod, shop, {}, "green"),
    ],
    [
      'it was written with resource "pods/v1", but the informer needs "secrets/v1"',
      'it was written with representation "object", but the informer needs "metadata"',
      'it was written with selections [{"namespace":"shop","labelSelector":"","fieldSelector":""}], but the informer needs ' +
      '[{"namespace":"shop","labelSelector":"a=b","fieldSelector":""}]',
      'it was written with managedFields "drop", but the informer needs "keep"',
      "it was written with transformed false, but the informer needs true",
      'it was written with cluster "blue", but the informer needs "green"',
    ],
  );
});

Deno.test("SharedIndexInformer restores rows with their cells and columns, and objects of named fields as reduced ones", async () => {
  const server = new FakeApiServer();
  for (const name of ["a", "b", "c"]) server.create(Pod, pod({ name, node: "n1" }));
  using client = new Client({ server: "http://fake", transport: server });
  for (const resource of [asTable(Pod), onlyFields(Pod, ["spec.nodeName"]), onlyMetadata(Pod)] as (typeof Pod)[]) {
    let bytes: Uint8Array;
    let cached: readonly Pod[];
    {
      await using first = new SharedIndexInformer(client.resource(resource));
      void first.run();
      await first.waitForCacheSync();
      void first.indexer.getByKey("default/b");
      bytes = await bytesOf(first.snapshot());
      cached = first.indexer.list();
    }
    await using second = new SharedIndexInformer(client.resource(resource));
    await second.restore(cut(bytes));
    assertEquals(second.indexer.list(), cached);
    // deno-lint-ignore no-explicit-any
    const marks = second.indexer.list().map((object: any) => object[reduced]);
    // deno-lint-ignore no-explicit-any
    assertEquals(marks, cached.map((object: any) => object[reduced]));
    assert(marks[0] !== undefined);
  }
});

Deno.test("SharedIndexInformer restores rows that a transform has returned as rows, which no write takes", async () => {
  const server = new FakeApiServer();
  server.create(Pod, pod({ name: "a", namespace: "shop" }));
  const metadata = { name: "a", namespace: "shop" };
  server.create(Secret, { apiVersion: "v1", kind: "Secret", metadata, data: { key: "c2VjcmV0" } });
  using client = new Client({ server: "http://fake", transport: server });
  for (const kind of [Pod, Secret] as (typeof Pod)[]) {
    const make = (): SharedIndexInformer<TableRow<Pod>> =>
      new SharedIndexInformer(client.resource(asTable(kind)), { transform: (row) => ({ ...row, cells: ["changed"] }) });
    await using first = make();
    void first.run();
    await first.waitForCacheSync();
    await using second = make();
    await second.restore(first.snapshot());
    const [before, after] = [first, second].map((informer) => informer.indexer.getByKey("shop/a")!);
    assertEquals([after, after[reduced as never]], [before, "a row of a table" as never]);
    assertEquals("data" in after, false);
    await assertRejects(
      () => client.resource(kind).update(after as never),
      TypeError,
      "it is reduced to a row of a table",
    );
  }
});

Deno.test("SharedIndexInformer writes no data of Secrets unless asked to, and restores Secrets without it as such", async () => {
  const server = new FakeApiServer();
  const metadata = { name: "a", namespace: "shop" };
  server.create(Secret, { apiVersion: "v1", kind: "Secret", metadata, data: { key: "c2VjcmV0" } });
  using client = new Client({ server: "http://fake", transport: server });
  await using secrets = new SharedIndexInformer(client.resource(Secret), { secretData: "keep" });
  await using without = new SharedIndexInformer(client.resource(Secret));
  assertThrows(() => secrets.snapshot(), Error, "it has not synced");
  for (const informer of [secrets, without]) {
    void informer.run();
    await informer.waitForCacheSync();
  }
  assertThrows(() => secrets.snapshot(), TypeError, 'Set secretData: "keep" to write it');
  assertStringIncludes(await new Response(secrets.snapshot({ secretData: "keep" })).text(), "c2VjcmV0");
  const bytes = await bytesOf(without.snapshot());
  await using restored = new SharedIndexInformer(client.resource(Secret));
  await restored.restore(cut(bytes));
  assertThrows(() => restored.indexer.getByKey("shop/a")!.data, TypeError, 'Cannot read "data" of a Secret');
  await using other = new SharedIndexInformer(client.resource(Secret), { secretData: "keep" });
  await assertRejects(() => other.restore(cut(bytes)), SnapshotError, "it was written with secretData");
  const record = new CacheScope(Secret, [{}]).record("");
  const older = { ...record, secretData: `${record.secretData}`.replace(` ${SECRET_ANNOTATIONS[0]}`, "") };
  assertMatch(recordDifference(older, record)!, /was written with secretData/, "of a version that kept an annotation");
});

Deno.test("SharedIndexInformer writes the moment of the call, whatever changes while the bytes are read", async () => {
  using time = new FakeTime();
  let snapshot: ReadableStream<Uint8Array>;
  {
    await using run = await new Run(holding(unread("a", 1), unread("b", 2)), {}, time).start();
    snapshot = run.informer.snapshot();
    await run.send(modified("a", 11), deleted("b", 12), added("c", 13));
  }
  await using second = new Run(undefined, {}, time);
  await second.informer.restore(snapshot);
  assertEquals([second.cached, second.informer.lastSyncResourceVersion], [["default/a@1", "default/b@2"], "10"]);
});

Deno.test("SharedIndexInformer restores only before it runs, and once", async () => {
  using time = new FakeTime();
  const bytes = await snapshotOf(time, [unread("a", 1)]);
  async function* late(arrived: Promise<void>): AsyncGenerator<Uint8Array> {
    await arrived;
    yield bytes;
  }
  {
    await using run = await new Run(holding(entry("a", 1)), {}, time).start();
    const opened: string[] = [];
    const snapshot = { [Symbol.asyncIterator]: () => (opened.push("opened"), cut(bytes)) };
    await assertRejects(() => run.informer.restore(snapshot), Error, "it is running already");
    assertEquals(opened, []);
  }
  {
    await using run = new Run(holding(entry("a", 1)), {}, time);
    const arrived = Promise.withResolvers<void>();
    const restored = assertRejects(() => run.informer.restore(late(arrived.promise)), Error, "it is running already");
    await run.start();
    arrived.resolve();
    await restored;
  }
  await using twice = new Run(undefined, {}, time);
  await twice.informer.restore(cut(bytes));
  await assertRejects(() => twice.informer.restore(cut(bytes)), Error, "it has objects already");
});

Deno.test("an informer that was restored, and never run, stops where its own handler disposes it", async () => {
  using time = new FakeTime();
  const first = await new Run(holding(entry("a", 1)), {}, time).start();
  const bytes = await bytesOf(first.informer.snapshot());
  await first[Symbol.asyncDispose]();
  const { informer } = new Run(undefined, {}, time);
  informer.addEventHandler({ onAdd: () => void informer[Symbol.asyncDispose]() });
  const waits = [informer.waitForVersion("99"), informer.until(() => false), informer.untilDeleted("default/a")];
  const settled = Promise.allSettled(waits);
  const states = (async () => {
    const seen: string[] = [];
    for await (const { state } of informer.statusChanges()) seen.push(state);
    return seen;
  })();
  await informer.restore(cut(bytes));
  await time.tickAsync(0);
  assertEquals(informer.status().state, "stopped");
  assertEquals((await settled).map(({ status }) => status), ["rejected", "rejected", "rejected"]);
  assertEquals((await states).at(-1), "stopped");
});

Deno.test("snapshotStream writes frames of at least 256 KiB, each of a multiple of four bytes, as a checksum needs them", async () => {
  const header = { scope: {}, versions: ["10"], at: 0 } as unknown as SnapshotHeader;
  const entries = Array.from(
    { length: 10 },
    (_, i) => unread(`a${i}`, i, { labels: { word: "x".repeat(100_001 + i) } }),
  );
  const chunks = await Array.fromAsync(snapshotStream(header, [{ entries, originalKey: () => undefined }]));
  const sizes = chunks.map(({ length }) => Math.floor(length / 100_000));
  assertEquals(sizes, [0, 3, 3, 3, 1, 0]); // the header, the objects, and their number
  assertEquals(chunks.map(({ length }) => length % 4), [0, 0, 0, 0, 0, 0]);
});
