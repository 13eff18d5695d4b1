// Informers with the option `validate`: what does not fit the schema of its kind is kept out.
import type { SharedIndexInformer } from "@kube/informer";
import { defineKind, type KindOf } from "@kube/informer/schema";
import { assertEquals, assertStrictEquals } from "@std/assert";
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
