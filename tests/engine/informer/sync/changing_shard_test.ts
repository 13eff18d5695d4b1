import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { asTable, onlyMetadata } from "../../../../src/engine/api/resource.ts";
import {
  type HashRange,
  hashRange,
  type ShardField,
  ShardFilter,
  type ShardSource,
} from "../../../../src/engine/api/shard.ts";
import { nextTurn } from "../../../../src/engine/async/turns.ts";
import { internals } from "../../../../src/engine/errors/internals.ts";
import { Checkpoint, MemoryCheckpoints } from "../../../../src/engine/informer/events/checkpoint.ts";
import type { InformerEvent } from "../../../../src/engine/informer/events/event.ts";
import type { SharedIndexInformer } from "../../../../src/engine/informer/shared_index_informer.ts";
import { ChangingShard, writerOfLists } from "../../../../src/engine/informer/sync/changing_shard.ts";
import { Pod } from "../../../../src/engine/kinds/core/v1.ts";
import { Random } from "../../../../src/testing/fake/random.ts";
import { pod } from "../../../../src/testing/mod.ts";
import { entry, part, type Thing } from "../../../support/sources/fixtures.ts";
import { END, ScriptedSource } from "../../../support/sources/scripted_source.ts";
import { createWidget, define, undefine, Widget } from "../../../support/sources/widgets.ts";
import { FactoryFixture } from "../_factory_fixture.ts";

const COUNT = 8;
const isList = ({ query }: { readonly query: URLSearchParams }): boolean => !query.has("watch");
const range = (index: number): HashRange => hashRange(index, COUNT);

/** Ranges that a test takes and gives up. */
class Held implements ShardSource {
  readonly by: ShardField;
  readonly name: string;
  readonly held = new Set<number>();
  readonly listeners = new Set<() => void>();

  constructor(name: string, held: readonly number[] = [], by: ShardField = "uid") {
    this.name = name;
    this.by = by;
    this.held = new Set(held);
  }

  ranges(): readonly HashRange[] {
    return [...this.held].map(range);
  }

  onChange(listener: () => void): Disposable {
    this.listeners.add(listener);
    return { [Symbol.dispose]: () => void this.listeners.delete(listener) };
  }

  take(...indexes: number[]): void {
    for (const index of indexes) this.held.add(index);
    for (const listener of this.listeners) listener();
  }

  give(...indexes: number[]): void {
    for (const index of indexes) this.held.delete(index);
    for (const listener of this.listeners) listener();
  }
}

/** Follows the events of an informer, and fails where they contradict each other. */
class Followed {
  readonly objects = new Map<string, string>();
  readonly lines: string[] = [];

  constructor(informer: Pick<SharedIndexInformer<Pod>, "addEventHandler">) {
    const handle = (event: InformerEvent<Pod>): void => this.#handle(event);
    informer.addEventHandler({ onAdd: handle, onUpdate: handle, onDelete: handle });
  }

  #handle(event: InformerEvent<Pod>): void {
    if (event.type === "synced") return;
    const { key, type, resourceVersion } = event;
    assertEquals(this.objects.has(key), type !== "added", `${type} of ${key}`);
    if (type === "deleted") this.objects.delete(key);
    else this.objects.set(key, resourceVersion);
    this.lines.push(`${type === "deleted" ? event.reason ?? "deleted" : type} ${key}`);
  }
}

function keysIn(fixture: FactoryFixture, ranges: readonly HashRange[], by: ShardField = "uid"): string[] {
  const filter = new ShardFilter(by, ranges);
  return fixture.server.list(Pod).filter(({ metadata }) =>
    filter.has({ uid: metadata.uid, namespace: metadata.namespace!, metadata })
  )
    .map(({ metadata: { namespace, name } }) => `${namespace}/${name}`).sort();
}

function create({ server }: FactoryFixture, count: number, prefix = "p"): void {
  for (let i = 0; i < count; i++) server.create(Pod, pod({ namespace: `shop-${i % 5}`, name: `${prefix}-${i}` }));
}

for (const shards of [true, false]) {
  const gate = shards ? "filters" : "does not filter";
  Deno.test(`A range that comes is listed alone, of the newest state, and the watch goes on, where the server ${gate}`, async () => {
    await using fixture = new FactoryFixture({}, { shards });
    create(fixture, 40);
    const held = new Held("group", [0, 1]);
    const pods = fixture.informers.forResource(Pod, { shard: held });
    const followed = new Followed(pods);
    await fixture.start();
    assertEquals([...pods.indexer.keys()].sort(), keysIn(fixture, [range(0), range(1)]));
    assertEquals(fixture.asked, ["list"]);
    const version = pods.lastSyncResourceVersion;
    const asked = fixture.server.requests.length;
    followed.lines.length = 0;
    held.take(5);
    held.take(6);
    await fixture.tick(1_000);
    const [list, watch, ...more] = fixture.server.requests.slice(asked);
    assertEquals([fixture.asked, more.length], [["list", `watch from ${version}`], 0]);
    assertEquals([list.query.has("resourceVersion"), list.query.has("watch")], [false, false]);
    assertEquals(list.query.get("shardSelector"), new ShardFilter("uid", [range(5), range(6)]).selector);
    assertEquals(watch.query.get("shardSelector"), new ShardFilter("uid", held.ranges()).selector);
    const come = keysIn(fixture, [range(5), range(6)]);
    assert(come.length > 0);
    assertEquals(followed.lines.sort(), come.map((key) => `added ${key}`).sort());
    create(fixture, 40, "later");
    await fixture.tick();
    assertEquals([...pods.indexer.keys()].sort(), keysIn(fixture, held.ranges()));
    assertEquals([...followed.objects.keys()].sort(), keysIn(fixture, held.ranges()));
    assertEquals(fixture.errors, []);
  });

  Deno.test(`Objects of a range that goes leave as moved, and its changes are dropped, where the server ${gate}`, async () => {
    await using fixture = new FactoryFixture({}, { shards });
    create(fixture, 40);
    const held = new Held("group", [0, 1, 2, 3]);
    const pods = fixture.informers.forResource(Pod, { shard: held });
    const followed = new Followed(pods);
    await fixture.start();
    followed.lines.length = 0;
    const gone = keysIn(fixture, [range(1)]);
    assert(gone.length > 1);
    const { asked: _before } = fixture;
    held.give(1);
    assertEquals([...pods.indexer.keys()].sort(), keysIn(fixture, held.ranges()));
    fixture.server.patch(Pod, gone[0], { metadata: { labels: { app: "web" } } });
    fixture.server.delete(Pod, gone[1]);
    await fixture.tick(1_000);
    assertEquals(followed.lines.sort(), gone.map((key) => `moved ${key}`).sort());
    assertEquals(fixture.asked, []);
    const [kept] = keysIn(fixture, [range(2)]);
    followed.lines.length = 0;
    fixture.server.delete(Pod, kept);
    await fixture.tick();
    assertEquals(followed.lines, [`deleted ${kept}`]);
  });
}

Deno.test("Changes that the list of a range has shown have no events, also of objects that came and went before it", async () => {
  await using fixture = new FactoryFixture({ reflector: { streamingList: "off" } });
  const { server } = fixture;
  create(fixture, 20);
  const held = new Held("group", [0]);
  const pods = fixture.informers.forResource(Pod, { shard: held });
  const followed = new Followed(pods);
  await fixture.start();
  followed.lines.length = 0;
  // The watch has ended, and the list has not been answered.
  server.beforeNext(
    () => {
      create(fixture, 40, "short");
      for (let i = 0; i < 40; i++) server.delete(Pod, `shop-${i % 5}/short-${i}`);
      create(fixture, 40, "stays");
      create(fixture, 40, "again");
      for (let i = 0; i < 40; i++) server.delete(Pod, `shop-${i % 5}/again-${i}`);
      create(fixture, 40, "again");
    },
    1,
    isList,
  );
  held.take(1, 2, 3, 4, 5, 6, 7);
  await fixture.tick(1_000);
  assertEquals([...pods.indexer.keys()].sort(), keysIn(fixture, held.ranges()));
  const seen = followed.lines.filter((line) => line.includes("short"));
  // Of the range that was watched before, the objects that came and went are events of the watch.
  assertEquals(seen.length % 2, 0);
  assert(seen.length < 40, seen.join());
  const others = followed.lines.filter((line) => !line.includes("again"));
  assertEquals(new Set(others).size, others.length);
  assertEquals([pods.status().outdated, fixture.errors], [0, []]);
});

Deno.test("A list of a range that fails is tried again, and nothing else is listed", async () => {
  await using fixture = new FactoryFixture({ reflector: { streamingList: "off" } });
  create(fixture, 40);
  const held = new Held("group", [0]);
  const pods = fixture.informers.forResource(Pod, { shard: held });
  await fixture.start();
  fixture.server.failNext(500, 2, isList);
  const asked = fixture.server.requests.length;
  held.take(1);
  await fixture.tick(20_000);
  assertEquals([...pods.indexer.keys()].sort(), keysIn(fixture, held.ranges()));
  const lists = fixture.server.requests.slice(asked).filter(({ query }) => !query.has("watch"));
  assertEquals(
    lists.map(({ query }) => query.get("shardSelector")),
    Array(3).fill(new ShardFilter("uid", [range(1)]).selector),
  );
  assertEquals(fixture.errors.length, 2);
});

Deno.test("A range that goes while it or all is listed does not come, and one that returns is listed anew", async () => {
  for (const returns of [false, true]) {
    await using fixture = new FactoryFixture({ reflector: { streamingList: "off" } });
    create(fixture, 60);
    const held = new Held("group", [0, 1]);
    const pods = fixture.informers.forResource(Pod, { shard: held });
    const followed = new Followed(pods);
    const change = (): void => {
      held.give(1);
      if (returns) held.take(1);
    };
    fixture.server.afterNext(change, 1, isList);
    await fixture.start();
    await fixture.tick(1_000);
    assertEquals([...pods.indexer.keys()].sort(), keysIn(fixture, held.ranges()));
    held.give(1);
    await fixture.tick();
    fixture.server.afterNext(change, 1, isList);
    held.take(1, 2);
    await fixture.tick(1_000);
    assertEquals([...pods.indexer.keys()].sort(), keysIn(fixture, held.ranges()));
    assertEquals([...followed.objects.keys()].sort(), keysIn(fixture, held.ranges()));
    const selectors = fixture.server.requests.filter(({ query }) => !query.has("watch"))
      .map(({ query }) => query.get("shardSelector"));
    const again = new ShardFilter("uid", [range(1)]).selector!;
    assertEquals(selectors.filter((selector) => selector === again).length, returns ? 2 : 0);
  }
});

/** Begins a wait for the objects of ranges, and returns whether it is over. */
function waiting(informer: Pick<SharedIndexInformer<Pod>, typeof internals>, ...indexes: number[]): () => boolean {
  let isOver = false;
  void informer[internals].sync.holding(indexes.map(range), new AbortController().signal).then(() => isOver = true);
  return () => isOver;
}

Deno.test("A wait for the objects of ranges ends when a list of all, which has taken them as it began, is cached", async () => {
  await using fixture = new FactoryFixture({ reflector: { streamingList: "off" } });
  create(fixture, 80);
  const held = new Held("group", [0]);
  const pods = fixture.informers.forResource(Pod, { shard: held });
  const first = fixture.server.stallNext(1, isList);
  const isFirstOver = waiting(pods, 0);
  await fixture.start();
  assertEquals(isFirstOver(), false);
  first[Symbol.dispose]();
  await fixture.tick();
  assertEquals(isFirstOver(), true);

  const second = fixture.server.stallNext(1, isList);
  held.take(1);
  fixture.server.forceRelist();
  await fixture.tick(10_000);
  assertEquals(
    fixture.server.requests.at(-1)!.query.get("shardSelector"),
    new ShardFilter("uid", held.ranges()).selector,
  );
  const isOver = waiting(pods, 1);
  await fixture.tick(1_000);
  assertEquals([isOver(), [...pods.indexer.keys()].sort()], [false, keysIn(fixture, [range(0)])]);
  second[Symbol.dispose]();
  await fixture.tick();
  assertEquals([isOver(), [...pods.indexer.keys()].sort()], [true, keysIn(fixture, held.ranges())]);
});

Deno.test("A wait for the objects of ranges ends at once without the kind, and with the list of a kind that comes", async () => {
  await using fixture = new FactoryFixture({ reflector: { streamingList: "off" } });
  const { informers, server } = fixture;
  const widgets = informers.forResource(Widget, { optional: true, shard: new Held("group", [0, 1, 2, 3, 4, 5, 6, 7]) });
  const wait = (): () => boolean => waiting(widgets as unknown as SharedIndexInformer<Pod>, 0);
  await fixture.start();
  const isOver = wait();
  await fixture.tick();
  assertEquals([widgets.status().unserved, isOver()], [true, true]);

  const stalled = server.stallNext(1, ({ path, query }) => path.endsWith("/widgets") && !query.has("watch"));
  define(server, Widget);
  createWidget(server, "a");
  await fixture.tick(1_000);
  const isBegunOver = wait();
  await fixture.tick(1_000);
  assertEquals([isBegunOver(), widgets.indexer.size], [false, 0]);
  stalled[Symbol.dispose]();
  await fixture.tick();
  assertEquals([isBegunOver(), widgets.indexer.size], [true, 1]);

  undefine(server, Widget);
  await fixture.tick(40_000);
  const isEndOver = wait();
  await fixture.tick();
  assertEquals([widgets.indexer.size, isEndOver()], [0, true]);
});

Deno.test("A wait for the objects of a range ends when its own list is cached", async () => {
  await using fixture = new FactoryFixture({ reflector: { streamingList: "off" } });
  create(fixture, 40);
  const held = new Held("group", [0]);
  const pods = fixture.informers.forResource(Pod, { shard: held });
  await fixture.start();
  held.take(1);
  const isOver = waiting(pods, 1);
  await fixture.tick();
  assertEquals(isOver(), false);
  await fixture.tick(1_000);
  assertEquals([isOver(), [...pods.indexer.keys()].sort()], [true, keysIn(fixture, held.ranges())]);
});

Deno.test("A range that goes between two pages of a list of all takes along what was staged of it", async () => {
  await using fixture = new FactoryFixture({ reflector: { streamingList: "off", pageSize: 10 } });
  create(fixture, 80);
  const held = new Held("group", [0, 1]);
  const pods = fixture.informers.forResource(Pod, { shard: held });
  const stalled = fixture.server.stallNext(1, ({ query }) => query.has("continue"));
  await fixture.start();
  held.give(0);
  stalled[Symbol.dispose]();
  await fixture.tick(1_000);
  assertEquals([...pods.indexer.keys()].sort(), keysIn(fixture, [range(1)]));
});

Deno.test("A check ends when ranges change, as its list was of others", async () => {
  await using fixture = new FactoryFixture({ reflector: { streamingList: "off" } });
  create(fixture, 40);
  const held = new Held("group", [0]);
  const pods = fixture.informers.forResource(Pod, { shard: held });
  await fixture.start();
  using _stalled = fixture.server.stallNext(1, isList);
  const checked = pods.checkConsistency();
  await fixture.tick();
  held.take(1);
  const [{ repair }] = await Promise.all([checked, fixture.tick()]);
  assertEquals(repair, "listed");
});

Deno.test("An informer that ends follows its ranges no more, also while one that came is about to be listed", async () => {
  await using fixture = new FactoryFixture();
  const held = new Held("group", [0]);
  fixture.informers.forResource(Pod, { shard: held });
  await fixture.start();
  held.take(1);
  await fixture.informers.shutdown();
  assertEquals([held.listeners.size, fixture.time.timers], [0, 0]);
});

Deno.test("A wait for the objects of ranges ends with the informer", async () => {
  await using fixture = new FactoryFixture({ reflector: { streamingList: "off" } });
  const pods = fixture.informers.forResource(Pod, { shard: new Held("group", [0]) });
  using _stalled = fixture.server.stallNext(1, isList);
  await fixture.start();
  const isOver = waiting(pods, 0);
  await fixture.tick();
  assertEquals(isOver(), false);
  await fixture.informers.shutdown();
  await fixture.tick();
  assertEquals(isOver(), true);
});

Deno.test("A range that goes leaves each of several namespaces, whose numbers of objects follow", async () => {
  await using fixture = new FactoryFixture();
  create(fixture, 60);
  const held = new Held("group", [0, 1, 2, 3]);
  const names = ["shop-0", "shop-1"];
  const pods = fixture.informers.forResource(Pod, { shard: held, namespaces: names });
  await fixture.start();
  const expected = (): number[] =>
    names.map((name) => keysIn(fixture, held.ranges()).filter((key) => key.startsWith(`${name}/`)).length);
  const counted = (): number[] | undefined => pods.status().namespaces?.map(({ objects }) => objects);
  assertEquals(counted(), expected());
  for (const index of [0, 1]) {
    held.give(index);
    await fixture.tick(1_000);
    assertEquals([counted(), pods.indexer.size], [expected(), expected().reduce((a, b) => a + b)]);
  }
});

Deno.test("Every list of changing ranges is of the newest state, with those that are held when it begins", async () => {
  await using fixture = new FactoryFixture({ reflector: { streamingList: "off" } });
  create(fixture, 30);
  const held = new Held("group", [0]);
  fixture.informers.forResource(Pod, { shard: held });
  held.take(3);
  await fixture.start();
  fixture.server.forceRelist();
  await fixture.tick(60_000);
  const lists = fixture.server.requests.filter(({ query }) => !query.has("watch"));
  assertEquals(lists.length, 2);
  for (const { query } of lists) {
    assertEquals([query.has("resourceVersion"), query.get("shardSelector")], [
      false,
      new ShardFilter("uid", held.ranges()).selector,
    ]);
  }
});

Deno.test("An informer of changing ranges has no snapshots and no checkpoints, and its pause is kept", async () => {
  await using fixture = new FactoryFixture();
  create(fixture, 30);
  const held = new Held("group", [0]);
  const pods = fixture.informers.forResource(Pod, { shard: held });
  await fixture.start();
  assertThrows(() => pods.snapshot(), TypeError, 'the ranges of its shard "group" change');
  await assertRejects(() => pods.restore(new Blob([]).stream()), TypeError, "ranges of its shard");
  const checkpoint = await Checkpoint.open(new MemoryCheckpoints(), { name: "p" });
  assertThrows(() => pods.addEventHandler({}, { checkpoint }), TypeError, "ranges of its shard");
  pods.pause();
  const { asked: _before } = fixture;
  held.give(0);
  held.take(1);
  await fixture.tick(10_000);
  assertEquals([pods.indexer.size, fixture.asked], [0, []]);
  pods.resume();
  await fixture.tick(1_000);
  assertEquals([...pods.indexer.keys()].sort(), keysIn(fixture, [range(1)]));
});

/** The ranges of a controller whose cache is empty, as a test lists them. */
class Listed {
  readonly source = new ScriptedSource();
  readonly gate = { version: "10" };
  readonly held = new Held("group", [0, 1, 2, 3, 4, 5, 6, 7]);
  readonly repaired: string[] = [];
  readonly reasons: string[] = [];
  readonly shard: ChangingShard<Thing>;

  constructor(held: Partial<ShardSource> = {}) {
    this.shard = new ChangingShard<Thing>(Object.assign(this.held, held), new ShardFilter("uid", []), {
      ...{ source: this.source, gate: this.gate, pageSize: 500, check: undefined, known: { list: () => [] } },
      cached: () => undefined,
      serverKeyOf: ({ key }) => key,
      counted: (replacement) => replacement,
      repair: ({ key }) => void this.repaired.push(key),
      relist: ({ message }) => void this.reasons.push(message),
      ...{ moved: () => {}, renew: () => {}, report: () => {} },
    });
  }

  /** Lists all ranges: one object, `"a"`, at `version`. */
  async list(version: number): Promise<void> {
    this.source.list(part(version, [entry("a", 1)]), END);
    await this.shard.list(new AbortController().signal);
  }

  /** Returns true if a change of the object is dropped, as the list of its range has shown it. */
  drops(version: number): boolean {
    return this.shard.hasListed(entry("a", version));
  }
}

Deno.test("ChangingShard drops changes that the list of a range has, until the watch is at its version, or all is listed", async () => {
  for (const end of ["reached", "listing"] as const) {
    const listed = new Listed();
    await listed.list(15);
    assertEquals([listed.repaired, listed.shard.isDue, listed.reasons], [["default/a"], false, []]);
    listed.shard.reached("14");
    assertEquals([listed.drops(15), listed.drops(16)], [true, false]);
    if (end === "reached") listed.shard.reached("15");
    else listed.shard.listing(); // of a server whose history went back: its versions up to 15 come again
    assertEquals(listed.drops(15), false, end);
  }
});

Deno.test("ChangingShard asks for a list of all where that of a range is older than the cache", async () => {
  const listed = new Listed();
  await listed.list(9);
  assertEquals(listed.reasons, [
    "A new range needs a list: the server's history went back from version 10 to 9",
  ]);
  assertEquals([listed.repaired, listed.shard.isDue, listed.drops(9)], [[], true, false]);
});

Deno.test("ChangingShard is ready with its ranges, or when the signal aborts, and fails with them otherwise", async () => {
  const known = Promise.withResolvers<void>();
  let isReady = false;
  const waiting = new Listed({ ready: () => known.promise }).shard.ready({}).then(() => isReady = true);
  await nextTurn();
  assertEquals(isReady, false);
  known.resolve();
  await waiting;
  const failing = new Listed({ ready: () => Promise.reject(new Error("no ranges")) }).shard;
  await failing.ready({ signal: AbortSignal.abort() });
  await assertRejects(() => failing.ready({ signal: new AbortController().signal }), Error, "no ranges");
});

Deno.test("A writer of lists takes no changes", () => {
  const writer = writerOfLists<Thing>(() => {}, () => {});
  assertThrows(
    () => writer.apply([{ type: "ADDED", entry: entry("a", 1) }], true),
    Error,
    "Internal error: the writer of a range received a change",
  );
});

const SEEDS = Number(Deno.env.get("SHARD_SEEDS") ?? 30);

Deno.test("Ranges that move between processes: each object is cached once, by its holder, for random histories", async () => {
  const kinds = [Pod, onlyMetadata(Pod), asTable(Pod)] as unknown as readonly (typeof Pod)[];
  for (let seed = 1; seed <= SEEDS; seed++) {
    const random = new Random(seed);
    const by = random.pick(["uid", "namespace", "controller"] as const);
    await using fixture = new FactoryFixture({ reflector: { pageSize: 5 } }, {
      shards: random.below(2) === 0,
      streamingList: random.below(2) === 0,
    });
    const { server } = fixture;
    const own = (key: string): void => {
      const controller = { apiVersion: "v1", kind: "It", name: "it", uid: `${random.below(20)}-it`, controller: true };
      server.patch(Pod, key, { metadata: { ownerReferences: [controller] } });
    };
    create(fixture, 30);
    for (const key of server.keys(Pod)) own(key);
    const processes = [0, 1, 2].map((index) => {
      const held = new Held(`process-${index}`, [0, 1, 2, 3, 4, 5, 6, 7].filter((it) => it % 3 === index), by);
      const kind = random.pick(kinds);
      const informer = random.below(3) === 0
        ? fixture.informers.forResource(Pod, { shard: held, fields: ["spec.nodeName"] })
        : fixture.informers.forResource(kind, { shard: held });
      return { held, informer, followed: new Followed(informer as Pick<SharedIndexInformer<Pod>, "addEventHandler">) };
    });
    fixture.informers.start();
    for (let step = 0; step < 40; step++) {
      const keys = server.keys(Pod);
      switch (random.below(9)) {
        case 0:
        case 1: {
          const index = random.below(COUNT);
          for (const { held } of processes) if (held.held.has(index)) held.give(index);
          if (random.below(2) === 0) await fixture.tick(random.below(200));
          random.pick(processes).held.take(index);
          break;
        }
        case 2:
          {
            const { metadata } = server.create(
              Pod,
              pod({ namespace: `shop-${random.below(5)}`, name: `new-${step}` }),
            );
            own(`${metadata.namespace}/${metadata.name}`);
          }
          break;
        case 3:
          if (keys.length > 0) server.delete(Pod, random.pick(keys));
          break;
        case 4:
          if (keys.length === 0) break;
          if (random.below(2) === 0) own(random.pick(keys));
          else server.patch(Pod, random.pick(keys), { metadata: { labels: { step: `${step}` } } });
          break;
        case 5:
          server.dropWatches();
          break;
        case 6:
          if (random.below(3) === 0) server.forceRelist();
          break;
        case 7:
          server.failNext(random.pick([500, 429]), 1);
          break;
        default:
          await fixture.tick(random.below(3_000));
      }
    }
    server.disarm();
    await fixture.tick(120_000);
    for (const { held, informer, followed } of processes) {
      const expected = keysIn(fixture, held.ranges(), by);
      assertEquals([...informer.indexer.keys()].sort(), expected, `seed ${seed}`);
      assertEquals([...followed.objects.keys()].sort(), expected, `events, seed ${seed}`);
      for (const [key, version] of followed.objects) {
        if (informer.entries.getByKey(key)!.resourceVersion !== server.get(Pod, key)!.metadata.resourceVersion) {
          throw new Error(`seed ${seed}: ${key} is stale at ${version}`);
        }
      }
    }
    const total = processes.reduce((sum, { informer }) => sum + informer.indexer.size, 0);
    assertEquals(total, server.keys(Pod).length, `seed ${seed}`);
  }
});
