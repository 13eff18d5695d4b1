// Informers with the option `validate`: what does not fit the schema of its kind is kept out.
import { Client, type SharedIndexInformer, SharedInformerFactory } from "@kube/informer";
import { defineKind, type KindOf } from "@kube/informer/schema";
import { FakeApiServer } from "@kube/informer/testing";
import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { paced } from "../../../../src/engine/informer/sync/valid_objects.ts";
import { FactoryFixture } from "../_factory_fixture.ts";

const Website = defineKind({
  group: "example.com",
  version: "v1",
  kind: "Website",
  plural: "websites",
  spec: { type: "object", required: ["image"], properties: { image: { type: "string", minLength: 1 } } },
});
type Website = KindOf<typeof Website>;

/** Factories that check, on a server whose CRD allows more than the schema here. */
class Fixture implements AsyncDisposable {
  readonly base = new FactoryFixture({ validate: true }, {
    resources: [{ group: "example.com", version: "v1", plural: "websites", kind: "Website", scope: "Namespaced" }],
  });
  readonly server = this.base.server;
  readonly websites: SharedIndexInformer<Website> = this.base.informers.forResource(Website);
  readonly events: string[] = [];

  constructor() {
    this.websites.addEventHandler({
      onAdd: ({ name, initial }) => void this.events.push(`+${name}${initial ? " initial" : ""}`),
      onUpdate: ({ name }) => void this.events.push(`~${name}`),
      onDelete: ({ name, reason }) => void this.events.push(`-${name} ${reason}`),
    });
  }

  create(name: string, image: string): void {
    this.server.create(Website, { metadata: { name, namespace: "shop" }, spec: { image } });
  }

  change(name: string, image: string): void {
    this.server.patch(Website, `shop/${name}`, { spec: { image } });
  }

  take(): string[] {
    return this.events.splice(0);
  }

  get invalid(): readonly (readonly [key: string, fields: readonly unknown[]])[] {
    return this.websites.status().invalid!.map(({ key, causes }) => [key, causes.map(({ field }) => field)]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.base[Symbol.asyncDispose]();
    assertEquals(this.base.errors, []);
  }
}

Deno.test("An informer with the option validate keeps out what does not fit, and says why", async () => {
  await using fixture = new Fixture();
  const { base, server, websites } = fixture;
  fixture.create("good", "x");
  fixture.create("bad", "");
  await base.start();
  assertEquals([fixture.take(), websites.indexer.size], [["+good initial"], 1]);
  assertEquals(fixture.invalid, [["shop/bad", ["spec.image"]]]);
  fixture.change("good", "");
  fixture.change("bad", "y");
  fixture.create("new", "");
  await base.tick();
  assertEquals(fixture.take(), ["-good invalid", "+bad"]);
  assertEquals(fixture.invalid, [["shop/good", ["spec.image"]], ["shop/new", ["spec.image"]]]);
  assertEquals([...websites.indexer.keys()], ["shop/bad"]);
  server.delete(Website, "shop/new");
  fixture.change("good", "z");
  await base.tick();
  assertEquals([fixture.take(), fixture.invalid], [["+good"], []]);
  // What is not kept out still shares its unchanged parts.
  const before = websites.lister.get("shop/good")!;
  server.annotate(Website, "shop/good", { a: "b" });
  await base.tick();
  assertStrictEquals(websites.lister.get("shop/good")!.spec, before.spec);
});

Deno.test("A relist and a consistency check keep out what does not fit, and forget what is gone", async () => {
  await using fixture = new Fixture();
  const { base, server, websites } = fixture;
  for (const name of ["a", "b", "c"]) fixture.create(name, name === "c" ? "" : "x");
  await base.start();
  fixture.take();
  server.endWatches();
  fixture.change("a", "");
  server.delete(Website, "shop/c");
  server.compact();
  await base.tick(10_000);
  assertEquals(fixture.take(), ["-a invalid"]);
  assertEquals(fixture.invalid, [["shop/a", ["spec.image"]]]);
  const [checked] = await Promise.all([websites.checkConsistency(), base.tick(10_000)]);
  assertEquals([checked.objects, checked.differences], [2, 0]);
});

Deno.test("A restored snapshot has no objects that do not fit any more", async () => {
  const snapshotOfAll = async (): Promise<Blob> => {
    await using old = new FactoryFixture();
    for (const [name, image] of [["a", "x"], ["b", ""]]) {
      old.server.create(Website, { metadata: { name, namespace: "shop" }, spec: { image } });
    }
    const all = old.informers.forResource(Website);
    await old.start();
    assertEquals(all.indexer.size, 2);
    return await new Response(all.snapshot()).blob();
  };
  const snapshot = await snapshotOfAll();
  await using fixture = new Fixture();
  await fixture.websites.restore(snapshot.stream());
  assertEquals([[...fixture.websites.indexer.keys()], fixture.invalid], [["shop/a"], [["shop/b", ["spec.image"]]]]);
});

/** Makes each check take a millisecond of `performance.now()`, and finds how many of them run in one turn. */
class CountedChecks implements Disposable {
  readonly #now = performance.now;
  /** The checks before this turn, and the most in an earlier turn. */
  #before = 0;
  #most = 0;
  /** The checks so far. */
  count = 0;

  constructor() {
    performance.now = (): number => this.count;
    this.#begin();
  }

  readonly check = (): [] => {
    this.count++;
    return [];
  };

  /** The most checks in one turn. */
  get most(): number {
    return Math.max(this.#most, this.count - this.#before);
  }

  #begin(): void {
    [this.#most, this.#before] = [this.most, this.count];
    if (performance.now !== this.#now) setImmediate(() => this.#begin());
  }

  [Symbol.dispose](): void {
    performance.now = this.#now;
  }
}

for (const streamingList of ["on", "off"] as const) {
  Deno.test(`A list of many objects that are checked leaves others their turns, streaming: ${streamingList}`, async () => {
    const server = new FakeApiServer({
      resources: [{ group: "example.com", version: "v1", plural: "websites", kind: "Website", scope: "Namespaced" }],
    });
    for (let at = 0; at < 2_000; at++) {
      server.create(Website, { metadata: { name: `w-${at}`, namespace: "shop" }, spec: { image: "x" } });
    }
    using client = new Client({ server: "http://fake", transport: server });
    await using informers = new SharedInformerFactory(client, { validate: true, reflector: { streamingList } });
    using checks = new CountedChecks();
    const websites = informers.forResource({ ...Website, loadValidator: () => Promise.resolve(checks.check) });
    informers.start();
    await informers.waitForCacheSync();
    assertEquals([websites.indexer.size, checks.count], [2_000, 2_000]);
    assert(checks.most <= 32, `${checks.most} checks of 1 ms in one turn`);
  });
}

Deno.test("A batch of more events of a watch than are checked in one turn is complete, and in order", async () => {
  const batches = [[1, 2], [], Array.from({ length: 40 }, (_, at) => at)];
  async function* source(): AsyncGenerator<readonly number[], void, undefined> {
    yield* batches;
  }
  const found: number[][] = [];
  for await (const part of paced(source(), ({ length }) => length, (batch, from, to) => batch.slice(from, to))) {
    found.push([...part]);
  }
  assertEquals(found.map(({ length }) => length), [2, 0, 16, 16, 8]);
  assertEquals(found.flat(), batches.flat());
});
