import { asTable, field, onlyFields, onlyMetadata, type Resource } from "@kube/informer";
import { ConfigMap, Pod, Secret } from "@kube/informer/kinds/core/v1";
import { configMap, pod } from "@kube/informer/testing";
import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import type { CacheEntry } from "../../../../src/engine/api/entry.ts";
import type { KubernetesObject } from "../../../../src/engine/api/object.ts";
import { unreadEntry } from "../../../../src/engine/entry/entry.ts";
import { internals } from "../../../../src/engine/errors/internals.ts";
import { Compaction } from "../../../../src/engine/informer/cache/compaction.ts";
import type { SharedIndexInformerOptions } from "../../../../src/engine/informer/options.ts";
import { SharedIndexInformer } from "../../../../src/engine/informer/shared_index_informer.ts";
import { Indexer } from "../../../../src/engine/store/indexer.ts";
import { FactoryFixture } from "../_factory_fixture.ts";
import { printedBy } from "../../../support/processes/program.ts";
import { define, Widget } from "../../../support/sources/widgets.ts";

/** A time behind which everything that was to do in idle turns is done. */
const IDLE_MS = 1_000;

/** The beginning of values that the server of {@linkcode Pair} sends as integers. */
const BIG = "900719925474099";

type Any = SharedIndexInformer<KubernetesObject, string>;
type Options = SharedIndexInformerOptions<KubernetesObject, string>;

/** Informers of the same objects: the first is compact, the second is not. */
class Pair extends FactoryFixture {
  readonly #all: Any[] = [];

  /** Makes two informers of a resource. */
  pair(resource: Resource<KubernetesObject>, options: Options = {}): [Any, Any] {
    this.respond = async (request) => {
      const answer = await this.server.fetch(request);
      if (!request.url.includes("widgets") || answer.body === null) return answer;
      const integers = new TransformStream<string, string>({
        transform: (text, controller) => controller.enqueue(text.replaceAll(new RegExp(`"(${BIG}\\d+)"`, "g"), "$1")),
      });
      const text = answer.body.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>);
      return new Response(text.pipeThrough(integers).pipeThrough(new TextEncoderStream()), answer);
    };
    const [on, off] = [undefined, false].map((compact) => {
      const informer: Any = new SharedIndexInformer(this.client.resource(resource), { ...options, compact });
      this.#all.push(informer);
      return informer;
    });
    return [on, off];
  }

  /** Runs all that were made, lets them sync and be idle. */
  async run(): Promise<void> {
    for (const informer of this.#all) void informer.run();
    await this.tick(IDLE_MS);
  }

  /** Creates pods of two workloads, with labels and annotations that are not ASCII in part. */
  createPods(from: number, to: number): void {
    for (let i = from; i < to; i++) {
      const labels = { app: i % 2 === 0 ? "web" : "db", tier: `tier-${i % 3}` };
      const annotations = { owner: i % 5 === 0 ? `Größe-${i} 中文 🙂` : `owner-${i}`, note: "n".repeat(200) };
      this.server.create(
        Pod,
        pod({ name: `${labels.app}-${i}`, namespace: "shop", node: `n${i % 4}`, labels, annotations }),
      );
    }
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#all.map((informer) => informer[Symbol.asyncDispose]()), this.tick()]);
    await super[Symbol.asyncDispose]();
  }
}

/** The compact objects of an informer. */
function compacted(informer: Pick<Any, "memory">): number {
  return informer.memory().compact.objects;
}

async function snapshotOf(informer: Any): Promise<Uint8Array<ArrayBuffer>[]> {
  return await Array.fromAsync(informer.snapshot());
}

/** The text of a snapshot, without what tells when it was written. */
async function snapshotText(informer: Any): Promise<string> {
  return await new Blob(await snapshotOf(informer)).text();
}

const PODS = Pod as unknown as Resource<KubernetesObject>;
const WIDGETS = Widget as unknown as Resource<KubernetesObject>;

function sorted<T extends KubernetesObject>(objects: readonly T[]): T[] {
  return objects.toSorted((a, b) => a.metadata.name < b.metadata.name ? -1 : 1);
}

Deno.test("Objects that resemble each other are compact after the first idle time, and one that is read is not any more", async () => {
  await using fixture = new Pair();
  fixture.createPods(0, 40);
  const [on, off] = fixture.pair(PODS);
  void on.run();
  void off.run();
  await fixture.tick();
  assertEquals([on.indexer.size, compacted(on)], [40, 0], "at once nothing is compact");
  await fixture.tick(IDLE_MS);
  assertEquals([compacted(on), compacted(off)], [40, 0]);
  const { unreadBytes, compact, parsed } = on.memory();
  assertEquals([unreadBytes, parsed], [off.memory().unreadBytes, 0], "the size of the text is that of the whole text");
  assert(compact.savedBytes > 0.3 * unreadBytes, `${compact.savedBytes} of ${unreadBytes} bytes are saved`);
  void on.lister.get("shop/web-0");
  assertEquals([compacted(on), on.memory().parsed], [39, 1]);
});

Deno.test("Compact objects are read as objects that are not compact, in each way", async () => {
  const reads: ((informer: Any) => unknown)[] = [
    (it) => it.lister.get("shop/web-20"),
    (it) => sorted(it.lister.list()),
    (it) => sorted(it.lister.list({ labelSelector: "app=web,tier!=tier-0" })),
    (it) => sorted(it.lister.list({ fieldSelector: "spec.nodeName=n1" })),
    (it) => it.indexer.indexKeys("app", "db"),
    (it) => it.indexer.indexKeys("node", "n3"),
    (it) => it.indexer.indexKeys("owner", "Größe-5 中文 🙂"),
    (it) => sorted(it.indexer.byIndex("node", "n2")),
    (it) => it.entries.list().map(({ key, labels, metadata, uid }) => [key, labels, metadata, uid]),
    (it) => it.until((object) => object.metadata.annotations?.owner === "owner-7"),
    (it) => it.until(field("metadata.annotations.owner").equals("owner-9") as (object: KubernetesObject) => boolean),
    async (it) => {
      using view = it.view({ where: ({ metadata }) => metadata.labels?.app === "db", sortBy: "-metadata.name" });
      for await (const { rows } of view.changes()) return rows?.map(({ object }) => object);
    },
    snapshotText,
  ];
  for (const read of reads) {
    await using fixture = new Pair();
    fixture.createPods(0, 40);
    const indexers = { node: field("spec.nodeName"), owner: field("metadata.annotations.owner") };
    const [on, off] = fixture.pair(PODS, { indexers } as unknown as Options);
    await fixture.run();
    assertEquals(compacted(on), 40);
    for (const informer of [on, off]) informer.withIndexers({ app: ({ metadata }) => [metadata.labels!.app] });
    const [actual, expected] = [read(on), read(off)];
    await fixture.tick(10);
    assertEquals(await actual, await expected, String(read));
    assert(JSON.stringify(await expected).length > 10, `${read} reads nothing`);
  }
});

Deno.test("A snapshot of compact objects does not parse them, and what is restored of it is equal, and becomes compact", async () => {
  await using fixture = new Pair();
  fixture.createPods(0, 40);
  const [on, off] = fixture.pair(PODS);
  await fixture.run();
  const [bytes, other] = await Promise.all([snapshotOf(on), snapshotOf(off)]);
  assertEquals(bytes, other);
  assertEquals([compacted(on), on.memory().parsed], [40, 0]);
  const [later] = fixture.pair(PODS);
  await later.restore(ReadableStream.from(bytes));
  await fixture.tick(IDLE_MS);
  assertEquals(compacted(later), 40, "texts that are part of a larger buffer are compact, too");
  void later.run();
  await fixture.tick(IDLE_MS);
  assertEquals(sorted(later.lister.list()), sorted(off.lister.list()));
});

Deno.test("Projections, metadata, rows of tables and custom kinds with large integers are compact, and read as otherwise", async () => {
  const forms: readonly [Resource<KubernetesObject>, Options?][] = [
    [onlyFields(Pod, ["metadata.labels", "metadata.annotations", "spec.nodeName"]) as never],
    [onlyMetadata(Pod) as never],
    [asTable(Pod) as never],
    [PODS, { freeze: false }],
    [PODS, { managedFields: "keep" }],
    [WIDGETS],
  ];
  for (const [i, [resource, options]] of forms.entries()) {
    await using fixture = new Pair();
    fixture.createPods(0, 40);
    define(fixture.server, Widget);
    for (let j = 0; j < 40; j++) {
      const metadata = { name: `w-${j}`, namespace: "shop", annotations: { note: "n".repeat(200) } };
      fixture.server.create(Widget, { metadata, spec: { size: `${BIG}${10 + j}`, next: j } } as never);
    }
    const [on, off] = fixture.pair(resource, options);
    await fixture.run();
    const parsed = i === 2 ? 1 : 0; // a row that comes with the columns
    assertEquals([on.indexer.size, compacted(on), compacted(off)], [40, 40 - parsed, 0], `form ${i}`);
    assertEquals(await snapshotText(on), await snapshotText(off), `form ${i}`);
    assertEquals(sorted(on.lister.list()), sorted(off.lister.list()), `form ${i}`);
    if (resource === WIDGETS) assert((await snapshotText(on)).includes(`"size":${BIG}11}`), "the literal is kept");
    assertEquals(await snapshotText(on), await snapshotText(off), `form ${i}, read`);
  }
});

Deno.test("A changed object becomes compact again in the next idle time", async () => {
  await using fixture = new Pair();
  fixture.createPods(0, 12);
  const [on, off] = fixture.pair(PODS);
  await fixture.run();
  assertEquals(compacted(on), 12);
  fixture.server.patch(Pod, "shop/web-0", { status: { phase: "Failed" } });
  fixture.server.delete(Pod, "shop/web-2");
  await fixture.tick(100);
  assertEquals(compacted(on), 10);
  await fixture.tick(IDLE_MS);
  assertEquals(compacted(on), 11);
  assertEquals(sorted(on.lister.list()), sorted(off.lister.list()));
});

Deno.test("A relist in which nothing changed keeps the compact entries, and writes out none", async () => {
  await using fixture = new Pair();
  fixture.createPods(0, 20);
  const [on] = fixture.pair(PODS);
  await fixture.run();
  const before = new Map(on.entries.list().map((entry) => [entry.key, entry]));
  fixture.server.forceRelist();
  await fixture.tick(10_000);
  assert(fixture.asked.filter((it) => it === "list").length >= 2, "it has listed again");
  assertEquals([compacted(on), on.memory().parsed], [20, 0]);
  for (const entry of on.entries.list()) assertStrictEquals(entry, before.get(entry.key));
});

/** The entry of an object with a long text; `of` is the family that it is part of. */
function longEntry(i: number, bytes: number, of = "web"): CacheEntry<KubernetesObject> {
  const metadata = `{"name":"${of}-${i}","namespace":"shop","uid":"u-${i}","resourceVersion":"${i + 1}"}`;
  const start = `{"metadata":`;
  const text = `${start}${metadata},"data":{"n":"${i}","text":"${of[0].repeat(bytes)}"}}`;
  const identity = { key: `shop/${of}-${i}`, namespace: "shop", uid: `u-${i}`, resourceVersion: String(i + 1) };
  return unreadEntry(identity, text, start.length, start.length + metadata.length);
}

/** A compaction of a store, and what is staged there. */
class Staged implements Disposable {
  readonly store = new Indexer<CacheEntry<KubernetesObject>, string>({ keyOf: ({ key }) => key });
  readonly compaction = new Compaction<KubernetesObject>(this.store, undefined);

  staging(): ReturnType<Compaction<KubernetesObject>["staging"]> {
    return this.compaction.staging(this.store.replacing());
  }

  [Symbol.dispose](): void {
    this.compaction[Symbol.dispose]();
  }
}

function isCompact({ savedBytes = 0 }: CacheEntry<KubernetesObject>): boolean {
  return savedBytes > 0;
}

Deno.test("The objects of a list of more than 64 MiB become compact as they arrive, and the others afterwards", () => {
  using staged = new Staged();
  const list = staged.staging();
  const all = Array.from({ length: 1_500 }, (_, i) => longEntry(i, 60_000));
  const longs = Math.ceil(67_108_864 / 60_150);
  list.add(all.slice(0, longs - 20));
  assertEquals(all.filter(isCompact).length, 0);
  list.add(all.slice(longs - 20, 1_300));
  const some = all.slice(0, 1_300).filter(isCompact).length;
  assert(some > 150 && some < 250, `${some} objects are compact`); // those after the limit
  list.add(all.slice(1_300));
  list.commit("1");
  assertEquals(all.filter(isCompact).length, some + 200);
  staged.compaction.now();
  assertEquals([staged.store.size, all.filter(isCompact).length], [1_500, 1_500]);
});

Deno.test("When memory is short, objects of a short list become compact as they arrive", () => {
  for (const isShort of [false, true]) {
    using staged = new Staged();
    staged.compaction.isShort = () => isShort;
    const list = staged.staging();
    const all = Array.from({ length: 10 }, (_, i) => longEntry(i, 500));
    list.add(all);
    assertEquals(all.filter(isCompact).length, isShort ? 9 : 0); // the first one waits for the second
    list.commit("1");
    staged.compaction.now();
    assertEquals(all.filter(isCompact).length, 10);
  }
});

Deno.test("A list that is abandoned leaves no template, and one that is under way keeps those that no stored object needs", () => {
  using staged = new Staged();
  staged.compaction.isShort = () => true;
  const { templates } = staged.compaction;
  const list = staged.staging();
  list.add(Array.from({ length: 10 }, (_, i) => longEntry(i, 500)));
  assertEquals(templates.size, 1);
  staged.compaction.now();
  assertEquals(templates.size, 1, "the list goes on");
  list.abandon();
  staged.compaction.now();
  assertEquals([templates.size, templates.bytes], [0, 0]);
});

Deno.test("An object of an abandoned list is no example for those that are stored", () => {
  using staged = new Staged();
  staged.compaction.isShort = () => true;
  const list = staged.staging();
  list.add([longEntry(0, 500)]);
  list.abandon();
  const stored = longEntry(1, 500);
  staged.store.set(stored.key, stored);
  staged.compaction.changed(stored.key);
  staged.compaction.now();
  assertEquals([isCompact(stored), staged.compaction.templates.size], [false, 0]);
});

Deno.test("A list makes only its own objects compact, and what is stored meanwhile none of the list", () => {
  using staged = new Staged();
  const [stored, first, second, later] = [0, 1, 2, 3].map((i) => longEntry(i, 500));
  staged.store.set(stored.key, stored);
  staged.compaction.isShort = () => true;
  const list = staged.staging();
  list.add([stored, first, second]);
  assertEquals([stored, first, second].map(isCompact), [false, false, true]);
  staged.store.set(later.key, later);
  staged.compaction.changed(later.key);
  staged.compaction.now();
  assertEquals([first, later].map(isCompact), [false, true]);
  list.commit("1");
  list.abandon(); // a list ends once
  staged.compaction.now();
  assertEquals([...staged.store.list()].map(isCompact), [true, true, true]);
  for (const entry of [...staged.store.list(), later]) {
    staged.store.delete(entry);
    staged.compaction.left(entry);
  }
  staged.compaction.now();
  assertEquals(staged.compaction.templates.size, 0);
});

Deno.test("All objects become compact if more have changed than are noted one by one", () => {
  using staged = new Staged();
  const all = Array.from({ length: 10_050 }, (_, i) => longEntry(i, 300));
  for (const entry of all) {
    staged.store.set(entry.key, entry);
    staged.compaction.changed(entry.key);
  }
  staged.compaction.now();
  assertEquals(all.filter(isCompact).length, 10_050);
});

Deno.test("Templates go with the last object that needs them", async () => {
  await using fixture = new Pair();
  fixture.createPods(0, 20);
  const [on] = fixture.pair(PODS);
  await fixture.run();
  const { templates } = on[internals].sync.cache.compaction!;
  assert(templates.size > 0);
  for (let i = 0; i < 20; i++) fixture.server.delete(Pod, `shop/${i % 2 === 0 ? "web" : "db"}-${i}`);
  await fixture.tick(IDLE_MS);
  assertEquals([on.indexer.size, templates.size, templates.bytes], [0, 0, 0]);
});

Deno.test("An idle turn takes some 2 ms, and the next one goes on behind it", async () => {
  await using fixture = new Pair();
  fixture.createPods(0, 40);
  const [on] = fixture.pair(PODS);
  void on.run();
  await fixture.tick(150);
  const now = performance.now;
  let ms = 0;
  performance.now = () => now() + (ms += 1); // each look at the clock takes a millisecond
  try {
    await fixture.tick(70);
    const some = compacted(on);
    assert(some > 0 && some < 40, `${some} objects are compact`);
    await fixture.tick(IDLE_MS);
    assertEquals(compacted(on), 40);
  } finally {
    performance.now = now;
  }
});

Deno.test("Nothing is compact with compact: false, with a transform, and of Secrets", async () => {
  await using fixture = new FactoryFixture({ compact: false });
  const informers: Any[] = [];
  for (let i = 0; i < 20; i++) {
    fixture.server.create(
      ConfigMap,
      configMap({ name: `map-${i}`, namespace: "shop", data: { text: "x".repeat(300) } }),
    );
    fixture.server.create(Secret, {
      metadata: { name: `secret-${i}`, namespace: "shop" },
      data: { text: btoa("x".repeat(300)) },
    });
  }
  informers.push(fixture.informers.forResource(ConfigMap) as unknown as Any);
  informers.push(fixture.informers.forResource(Secret, { compact: true }) as unknown as Any);
  const made = (resource: Resource<KubernetesObject>, options: Options): Any => {
    const informer: Any = new SharedIndexInformer(fixture.client.resource(resource), options);
    informers.push(informer);
    void informer.run();
    return informer;
  };
  made(ConfigMap as never, { compact: false });
  made(ConfigMap as never, { transform: (object) => object });
  made(Secret as never, {});
  made(onlyMetadata(Secret) as never, {});
  const own = fixture.informers.forResource(ConfigMap, { labelSelector: "!none", compact: true });
  await fixture.start();
  await fixture.tick(IDLE_MS);
  assertEquals(informers.map((it) => [it.indexer.size, compacted(it)]), informers.map(() => [20, 0]));
  assertEquals(compacted(own), 20, "an informer has its own setting");
  await Promise.all([...informers.slice(2).map((it) => it[Symbol.asyncDispose]()), fixture.tick()]);
});

Deno.test("An informer that is disposed before, between and behind its idle turns leaves no timer", async () => {
  for (const ms of [0, 100, 202, 205, IDLE_MS]) {
    await using fixture = new FactoryFixture();
    for (let i = 0; i < 20; i++) {
      fixture.server.create(
        ConfigMap,
        configMap({ name: `map-${i}`, namespace: "shop", data: { text: "x".repeat(300) } }),
      );
    }
    const maps = fixture.informers.forResource(ConfigMap);
    await fixture.start();
    await fixture.tick(ms);
    await Promise.all([fixture.informers.shutdown(), fixture.tick()]);
    assertEquals(fixture.time.timers, 0, `after ${ms} ms`);
    assertEquals(maps.lister.list().length, 20);
  }
});

Deno.test("The values of deleted and changed objects are not on the heap any more, as values or in templates", async () => {
  const program = new URL("_deleted_values.ts", import.meta.url);
  const flags = ["-A", "--v8-flags=--expose-gc,--heap-snapshot-string-limit=1000000"];
  assertEquals(await printedBy(program, [], flags), {
    before: [
      "the own value of a deleted object",
      "the constant of a family that is deleted",
      "the constant of a family that is changed",
      "the value of a deleted object that resembles none",
      "the value of a changed object that resembles none",
      "the own value of an object that stays",
    ],
    behind: ["the own value of an object that stays", "the constant of a family that is new"],
    objects: 60,
  });
});
