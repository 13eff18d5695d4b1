import {
  assert,
  assertEquals,
  assertMatch,
  assertNotStrictEquals,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import { onlyFields } from "../../../src/engine/api/fields.ts";
import type { KubernetesObject } from "../../../src/engine/api/object.ts";
import { asTable, onlyMetadata, type Resource } from "../../../src/engine/api/resource.ts";
import { fixedShard, hashOf, hashRange, type ShardField, ShardFilter } from "../../../src/engine/api/shard.ts";
import { SharedIndexInformer } from "../../../src/engine/informer/shared_index_informer.ts";
import { ConfigMap, Node, Pod } from "../../../src/engine/kinds/core/v1.ts";
import { configMap, pod } from "../../../src/testing/mod.ts";
import { FactoryFixture } from "./_factory_fixture.ts";

const REPRESENTATIONS: Readonly<Record<string, Resource<KubernetesObject>>> = {
  complete: Pod as unknown as Resource<KubernetesObject>,
  fields: onlyFields(Pod, ["spec.nodeName"]) as unknown as Resource<KubernetesObject>,
  metadata: onlyMetadata(Pod),
  rows: asTable(Pod) as unknown as Resource<KubernetesObject>,
};
const COUNT = 3;

/** The owner references of a pod of a controller, behind one that is none. */
function ownedBy(uid: string): KubernetesObject["metadata"]["ownerReferences"] {
  const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "owner" };
  return [{ ...owner, uid: "another" }, { ...owner, uid, controller: true }];
}

/** The text that is hashed for a pod; `undefined` for one without a controller. */
function hashedOf(
  by: ShardField,
  { metadata: { uid, namespace, ownerReferences } }: KubernetesObject,
): string | undefined {
  const controller = ownerReferences?.find(({ controller }) => controller);
  return by === "uid" ? uid : by === "namespace" ? namespace : controller?.uid;
}

/** Creates pods in three namespaces, of which some have bytes beyond ASCII or escapes in their metadata. */
function createPods({ server }: FactoryFixture, from: number, to: number): void {
  for (let i = from; i < to; i++) {
    const annotations = i % 4 === 0 ? { note: `größe "${i}"` } : undefined;
    const { metadata, ...rest } = pod({ namespace: `shop-${i % 3}`, name: `pod-${i}`, node: "n1" });
    const ownerReferences = i % 5 === 0 ? undefined : ownedBy(`${i % 11}-owner`);
    server.create(Pod, { ...rest, metadata: { ...metadata, annotations, ownerReferences } });
  }
}

for (const [name, resource] of Object.entries(REPRESENTATIONS)) {
  for (const by of ["uid", "namespace", "controller"] as const) {
    Deno.test(`Informers of shards by ${by} have each object once, as ${name}, whether the server filters or ignores it`, async () => {
      for (const shards of [true, false]) {
        for (const streamingList of [true, false]) {
          await using fixture = new FactoryFixture({ reflector: { pageSize: 7 } }, { shards, streamingList });
          const { server, informers } = fixture;
          createPods(fixture, 0, 40);
          const all = Array.from({ length: COUNT }, (_, index) => {
            return informers.forResource(resource, { shard: fixedShard(`${index}/${COUNT}`, by) });
          });
          const check = (): void => {
            const cached = all.map(({ entries }) => entries.list().map(({ key }) => key).sort());
            const expected = all.map((_, index) => {
              const { start, end } = hashRange(index, COUNT);
              return server.list(Pod).filter((pod) => {
                const hash = hashOf(hashedOf(by, pod) ?? "");
                return hashedOf(by, pod) !== undefined && start <= hash && hash < end;
              }).map(({ metadata: { namespace, name } }) => `${namespace}/${name}`).sort();
            });
            assertEquals(cached, expected);
            for (const { entries } of all) {
              for (const entry of entries.list()) {
                const { metadata: { uid, resourceVersion } } = server.get(Pod, entry.key)!;
                assertEquals([entry.uid, entry.resourceVersion], [uid, resourceVersion]);
              }
            }
          };
          await fixture.start();
          check();
          createPods(fixture, 40, 60);
          for (let i = 0; i < 10; i++) {
            server.patch(Pod, `shop-${i % 3}/pod-${i}`, { metadata: { labels: { app: `${i}` } } });
          }
          for (let i = 10; i < 15; i++) server.delete(Pod, `shop-${i % 3}/pod-${i}`);
          // These change their controller, and those between have none before or after.
          for (let i = 15; i < 35; i++) {
            const ownerReferences = i % 4 === 0 ? null : ownedBy(`${i % 7}-owner`);
            server.patch(Pod, `shop-${i % 3}/pod-${i}`, { metadata: { ownerReferences } });
          }
          await fixture.tick();
          check();
          server.dropWatches();
          createPods(fixture, 60, 70);
          await fixture.tick(5_000);
          check();
          server.delete(Pod, "shop-0/pod-18");
          server.forceRelist();
          await fixture.tick(60_000);
          check();
          for (const informer of all) {
            const results = await Promise.all([informer.checkConsistency(), fixture.tick()]);
            assertEquals([results[0].differences, results[0].objects], [0, informer.entries.size]);
          }
          const lists = server.requests.filter(({ query }) => query.has("shardSelector") || query.has("continue"));
          if (by !== "controller") assertEquals(lists.length, server.requests.length);
          assertEquals(fixture.errors.filter((error) => !error.includes("broke")), []);
        }
      }
    });
  }
}

Deno.test("Lists of a client leave out the objects of other shards, parsed at once", async () => {
  await using fixture = new FactoryFixture();
  createPods(fixture, 0, 30);
  const shard = new ShardFilter("uid", fixedShard("1/4").ranges());
  const { items } = await fixture.client.resource(Pod).list({ shard });
  assertEquals(
    items.map(({ metadata }) => metadata.uid),
    fixture.server.list(Pod).map(({ metadata }) => metadata.uid)
      .filter((uid) => shard.has({ uid, namespace: "" })),
  );
  assert(items.length > 0 && items.length < 30);
  assertEquals(shard.dropped, 30 - items.length);
});

Deno.test("A list of a shard may have any number of pages in a row without an object of it", async () => {
  await using fixture = new FactoryFixture({ reflector: { pageSize: 1, streamingList: "off" } });
  createPods(fixture, 0, 150);
  const ranges = [{ start: 0n, end: 1n }];
  const pods = fixture.informers.forResource(Pod, { shard: { name: "none", by: "uid", ranges: () => ranges } });
  await fixture.start();
  assertEquals([pods.hasSynced, pods.indexer.size, fixture.errors], [true, 0, []]);
  const [result] = await Promise.all([pods.checkConsistency(), fixture.tick()]);
  assertEquals([result.differences, result.objects], [0, 0]);
});

Deno.test("A server with the gate ownWrites the selector in lists, refuses nonsense, and one without ignores it", async () => {
  const ask = async (shards: boolean, selector: string): Promise<[number, unknown]> => {
    await using fixture = new FactoryFixture({}, { shards });
    createPods(fixture, 0, 4);
    const path = `http://fake/api/v1/pods?shardSelector=${encodeURIComponent(selector)}`;
    const response = await fixture.server.fetch(new Request(path));
    const { metadata } = await response.json();
    return [response.status, metadata.shardInfo];
  };
  const { selector } = new ShardFilter("uid", fixedShard("0/2").ranges());
  assertEquals(await ask(true, selector!), [200, { selector }]);
  assertEquals((await ask(true, "shardRange(object.metadata.name, '0x0', '0x1')"))[0], 500);
  assertEquals(await ask(false, "nonsense"), [200, undefined]);
});

Deno.test("SharedInformerFactory shares the informer of a shard, and no other", async () => {
  await using fixture = new FactoryFixture();
  const { informers } = fixture;
  const first = informers.forResource(Pod, { shard: "0/4" });
  assertStrictEquals(informers.forResource(Pod, { shard: fixedShard("0/4") }), first);
  for (const shard of [undefined, "1/4", fixedShard("0/4", "namespace")]) {
    assertNotStrictEquals(informers.forResource(Pod, { shard }), first);
  }
  await fixture.start();
  assertEquals(fixture.errors.length, 1);
  assertMatch(fixture.errors[0], /one has objects in shard 0\/4 .*, the other objects in all namespaces/);
});

Deno.test("A shard by namespace is refused for a cluster-scoped kind, and a text that is no shard for any", async () => {
  await using fixture = new FactoryFixture();
  const { message } = assertThrows(
    () => fixture.informers.forResource(Node, { shard: fixedShard("0/4", "namespace") }),
    TypeError,
  );
  assertEquals(
    message,
    'Cannot take the shard "0/4" of "nodes" by namespace: the objects have no namespaces, so one shard would hold all of them. Take the shard ' +
      "by uid",
  );
  assertThrows(() => fixture.informers.forResource(Pod, { shard: "4/4" }), RangeError, "Cannot take the shard");
  assertThrows(
    () => new SharedIndexInformer(fixture.client.resource(Pod), { shard: "one" }),
    RangeError,
    "Cannot take the shard",
  );
});

Deno.test("A snapshot of a fixed shard is restored, and one of another shard or of all objects is not", async () => {
  await using fixture = new FactoryFixture();
  const { server, client } = fixture;
  for (let i = 0; i < 20; i++) server.create(ConfigMap, configMap({ namespace: "shop", name: `m-${i}` }));
  const make = (shard: string | undefined) => new SharedIndexInformer(client.resource(ConfigMap), { shard });
  const bytesOf = async (shard: string | undefined): Promise<Uint8Array<ArrayBuffer>> => {
    await using informer = make(shard);
    void informer.run();
    await fixture.tick();
    return await new Response(informer.snapshot()).bytes();
  };
  const bytes = await bytesOf("0/2");
  await using same = make("0/2");
  await same.restore(new Blob([bytes]).stream());
  assert(same.indexer.size > 0 && same.indexer.size < 20);
  for (const shard of ["1/2", undefined]) {
    await using other = make(shard);
    const error: unknown = await other.restore(new Blob([bytes]).stream()).catch((error) => error);
    assertMatch(String(error), /it was written with shard/);
  }
  await using part = make("0/2");
  const error: unknown = await part.restore(new Blob([await bytesOf(undefined)]).stream()).catch((error) => error);
  assertMatch(String(error), /it was written with shard/);
});
