import { assertEquals, assertRejects, assertStrictEquals, assertThrows } from "@std/assert";
import { onlyFields } from "../../../src/engine/api/fields.ts";
import { reduced } from "../../../src/engine/api/object.ts";
import { findResource } from "../../../src/engine/client/find_resource.ts";
import { SharedIndexInformer } from "../../../src/engine/informer/shared_index_informer.ts";
import { ConfigMap, Pod } from "../../../src/engine/kinds/core/v1.ts";
import { configMap, pod } from "../../../src/testing/mod.ts";
import { FactoryFixture } from "./_factory_fixture.ts";

/** The object without what marks it. */
function plain(object: unknown): unknown {
  return JSON.parse(JSON.stringify(object));
}

Deno.test("SharedInformerFactory gives informers of fields, whose handlers, listers, indexes and filters see these fields", async () => {
  await using fixture = new FactoryFixture();
  const { server, informers } = fixture;
  server.create(Pod, pod({ namespace: "shop", name: "web-0", node: "n1", labels: { app: "web" } }));
  server.create(Pod, pod({ namespace: "shop", name: "db-0", node: "n2", labels: { app: "db" } }));
  const pods = informers.forResource(Pod, {
    fields: ["spec.nodeName", "metadata.labels", "spec.containers.name"],
    indexers: { node: (pod) => [pod.spec.nodeName ?? ""] },
  });
  const seen: unknown[] = [];
  pods.addEventHandler({ onAdd: ({ key, object }) => seen.push([key, object.spec.nodeName]) }, {
    filter: (pod) => pod.metadata.labels?.app === "web",
  });
  await fixture.start();
  assertEquals(seen, [["shop/web-0", "n1"]]);
  assertEquals(pods.indexer.indexKeys("node", "n2"), ["shop/db-0"]);
  assertEquals(pods.lister.list("app=db").map(({ metadata }) => metadata.name), ["db-0"]);
  assertEquals(pods.lister.list({ fieldSelector: "spec.nodeName=n1" }).map(({ metadata }) => metadata.name), ["web-0"]);
  const object = pods.lister.get("shop/web-0");
  const { metadata: { uid, creationTimestamp, resourceVersion, generation } } = server.get(Pod, "shop/web-0")!;
  assertEquals(plain(object), {
    apiVersion: "v1",
    kind: "Pod",
    metadata: plain({
      ...{ name: "web-0", namespace: "shop", uid, creationTimestamp, resourceVersion, generation },
      labels: { app: "web" },
    }),
    spec: { nodeName: "n1", containers: [{ name: "app" }] },
  });
});

Deno.test("Lister refuses to select by labels and fields that an informer of fields does not keep", async () => {
  await using fixture = new FactoryFixture();
  const { informers } = fixture;
  const nodes = informers.forResource(Pod, { fields: ["spec.nodeName", 'metadata.labels["app"]'] });
  await fixture.start();
  assertEquals(nodes.lister.list("app=web"), []);
  assertThrows(() => nodes.lister.list("tier=web"), TypeError, 'Cannot select by "metadata.labels.tier"');
  assertThrows(
    () => nodes.lister.namespace("shop").list({ fieldSelector: "status.phase=Running" }),
    TypeError,
    'Cannot select by "status.phase": the informer does not keep this field. Add the path to its option fields',
  );
});

Deno.test("SharedInformerFactory shares an informer of the same fields in any order, and no other", async () => {
  await using fixture = new FactoryFixture();
  const { informers, errors } = fixture;
  const pods = informers.forResource(Pod, { fields: ["spec.nodeName", "status.phase"] });
  const same = informers.forResource(Pod, {
    fields: ["status.phase", "spec.nodeName", "status.phase", "metadata.uid"],
  });
  assertStrictEquals<unknown>(same, pods);
  using acquired = informers.acquire(Pod, { fields: ["status.phase", "spec.nodeName"], deliverUnchanged: false });
  assertEquals(informers.status().length, 1);
  assertThrows(
    () => informers.acquire(Pod, { fields: ["status.phase", "spec.nodeName"], deliverUnchanged: true }),
    Error,
    'the option "deliverUnchanged" has another value than the first caller gave',
  );
  assertEquals(errors, []);
  informers.forResource(Pod);
  assertEquals(errors, [
    "pods: Two informers cache the same pods: one has fields of objects in all namespaces, the other objects in all namespaces. " +
    "Use the larger one for both, or ignore this error",
  ]);
  assertEquals(informers.status().length, 2);
  await fixture.start();
  assertEquals(acquired.informer.lister.list(), []);
});

Deno.test("SharedIndexInformer of fields caches an update of other fields without an event, and reaches its version", async () => {
  await using fixture = new FactoryFixture();
  const { server, client, informers } = fixture;
  server.create(ConfigMap, configMap({ namespace: "shop", name: "a", data: { kept: "1", other: "1" } }));
  const maps = informers.forResource(ConfigMap, { fields: ["data.kept"] });
  const all = new SharedIndexInformer(client.resource(onlyFields(ConfigMap, ["data.kept"])), {
    deliverUnchanged: true,
  });
  await using _all = all;
  const seen: string[] = [];
  const noting = (name: string, informer: Pick<typeof maps, "addEventHandler">): void => {
    informer.addEventHandler({
      onUpdate: ({ object, previous }) => seen.push(`${name}: ${previous.data?.kept}→${object.data?.kept}`),
    });
  };
  noting("skip", maps);
  noting("deliver", all);
  void all.run();
  await fixture.start();
  const write = async (data: Record<string, string>): Promise<string> => {
    const { metadata } = await client.resource(ConfigMap).patch("a", { type: "merge", body: { data } });
    await fixture.tick();
    return metadata.resourceVersion;
  };
  const version = await write({ other: "2" });
  assertEquals(seen, ["deliver: 1→1"]);
  await maps.waitForVersion(version);
  assertEquals(maps.lister.get("shop/a")?.metadata.resourceVersion, version);
  seen.length = 0;
  await write({ kept: "2" });
  assertEquals(seen.sort(), ["deliver: 1→2", "skip: 1→2"]);
  seen.length = 0;
  // Noticed by a relist.
  server.loseNext();
  const later = await write({ other: "3" });
  server.forceRelist();
  await fixture.tick(10_000);
  assertEquals(seen, ["deliver: 2→2"]);
  assertEquals(maps.status().recentRelists, 1);
  assertEquals(maps.lister.get("shop/a")?.metadata.resourceVersion, later);
});

Deno.test("SharedIndexInformer refuses deliverUnchanged without fields, and names what to do", async () => {
  await using fixture = new FactoryFixture();
  assertThrows(
    () => new SharedIndexInformer(fixture.client.resource(Pod), { deliverUnchanged: false }),
    TypeError,
    'an informer of "pods": the option "deliverUnchanged" is only for informers with selected fields. Set the option fields, or leave it out',
  );
});

Deno.test("SharedIndexInformer transforms what fields keep, compares results, and keeps their mark", async () => {
  await using fixture = new FactoryFixture();
  const { server, client, informers } = fixture;
  server.create(ConfigMap, configMap({ namespace: "shop", name: "a", data: { kept: "1", more: "1" } }));
  const given: unknown[] = [];
  const maps = informers.forResource(ConfigMap, {
    fields: ["data"],
    transform: ({ apiVersion, kind, metadata, data }) => {
      given.push(plain(data));
      return { apiVersion, kind, metadata, data: { kept: data?.kept ?? "" } };
    },
  });
  const seen: unknown[] = [];
  maps.addEventHandler({ onUpdate: ({ object }) => seen.push(plain(object.data)) });
  await fixture.start();
  const patch = async (data: Record<string, string>): Promise<void> => {
    await client.resource(ConfigMap).patch("a", { type: "merge", body: { data } });
    await fixture.tick();
  };
  await patch({ more: "2" });
  await patch({ kept: "2" });
  assertEquals(given, [{ kept: "1", more: "1" }, { kept: "1", more: "2" }, { kept: "2", more: "2" }]);
  assertEquals(seen, [{ kept: "2" }]);
  const cached = maps.lister.get("shop/a")!;
  assertEquals(cached[reduced], "the fields data");
  await assertRejects(
    () => client.resource(ConfigMap).update(cached as never),
    TypeError,
    "reduced to the fields data",
  );
});

Deno.test("SharedIndexInformer of fields compares what a transform returns with cycles", async () => {
  await using fixture = new FactoryFixture();
  const { server, informers } = fixture;
  server.create(Pod, pod({ namespace: "shop", name: "a" }));
  const pods = informers.forResource(Pod, {
    fields: ["spec.containers.image"],
    transform: (pod) => {
      for (const container of pod.spec.containers) Object.assign(container, { pod });
      return pod;
    },
  });
  const seen: unknown[] = [];
  pods.addEventHandler({ onUpdate: ({ object }) => seen.push(object.spec.containers[0].image) });
  await fixture.start();
  server.patch(Pod, "shop/a", { metadata: { annotations: { note: "1" } } });
  await fixture.tick();
  assertEquals(seen, []);
  server.patch(Pod, "shop/a", { spec: { containers: [{ name: "app", image: "b" }] } });
  await fixture.tick();
  assertEquals(seen, ["b"]);
});

Deno.test("SharedInformerFactory reports once the paths that lead nowhere, of a kind found by discovery, once it has synced", async () => {
  await using fixture = new FactoryFixture();
  const { server, client, informers, errors } = fixture;
  for (const name of ["a", "b"]) server.create(ConfigMap, configMap({ namespace: "shop", name, data: { x: "1" } }));
  const found = findResource(await client.discover(), "configmaps")!;
  informers.forResource(found, { fields: ["data.x", "data.y", "spec.z", "metadata.labels"] });
  informers.forResource(found, { fields: ["data.x"] });
  informers.forResource(ConfigMap, { fields: ["data.y"] });
  errors.length = 0;
  await fixture.start();
  assertEquals(errors, [
    'configmaps: No cached object of "configmaps" has "data.y" or "metadata.labels" or "spec.z". Look for a mistake in ' +
    "the option fields, or ignore this error",
  ]);
});

Deno.test("SharedInformerFactory keeps the fields of objects of several namespaces, and skips updates in each", async () => {
  await using fixture = new FactoryFixture();
  const { server, informers } = fixture;
  for (const namespace of ["a", "b", "c"]) {
    server.create(ConfigMap, configMap({ namespace, name: "map", data: { kept: "1", other: "1" } }));
  }
  const maps = informers.forResource(ConfigMap, { namespaces: ["a", "b"], fields: ["data.kept"] });
  const seen: string[] = [];
  maps.addEventHandler({ onUpdate: ({ key }) => seen.push(key) });
  await fixture.start();
  const write = async (namespace: string, data: Record<string, string>): Promise<void> => {
    server.update(ConfigMap, { ...server.get(ConfigMap, `${namespace}/map`)!, data });
    await fixture.tick();
  };
  await write("a", { kept: "1", other: "2" });
  await write("b", { kept: "2", other: "1" });
  assertEquals(seen, ["b/map"]);
  assertEquals(maps.lister.list().map(({ data }) => data?.kept), ["1", "2"]);
});
