import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import { onlyFields } from "../../../src/engine/api/fields.ts";
import type { KubernetesObject } from "../../../src/engine/api/object.ts";
import { onlyMetadata } from "../../../src/engine/api/resource.ts";
import { defaultsFor } from "../../../src/engine/informer/kind_defaults.ts";
import { SharedInformerFactory } from "../../../src/engine/informer/shared_informer_factory.ts";
import { ConfigMap, Namespace, Node, Pod, Secret } from "../../../src/engine/kinds/core/v1.ts";
import { configMap, namespace, node, pod } from "../../../src/testing/mod.ts";
import { Clusters } from "../../support/servers/clusters.ts";
import { FactoryFixture } from "./_factory_fixture.ts";

/** Removes the annotations of objects of any kind. */
function bare<T extends KubernetesObject>(object: T): T {
  const { annotations: _annotations, ...metadata } = object.metadata;
  return { ...object, metadata };
}

Deno.test("SharedInformerFactory: an informer's options come before its kind's defaults, and these before the factory's", async () => {
  await using fixture = new FactoryFixture({
    namespaces: ["shop"],
    labelSelector: "tier=factory",
    transform: bare,
    resyncMs: 1,
    defaults: [
      defaultsFor(Pod, {
        namespace: "data",
        labelSelector: "tier=kind",
        resyncMs: 0,
        transform: (pod) => ({ ...bare(pod), status: { phase: "Kind" } }),
      }),
      defaultsFor(ConfigMap, { labelSelector: "", resyncMs: 0 }),
    ],
  });
  const { server, informers } = fixture;
  for (const namespace of ["shop", "data", "bank"]) {
    for (const tier of ["factory", "kind", "own"]) {
      const metadata = { namespace, name: tier, labels: { tier }, annotations: { note: "x" } };
      server.create(Pod, pod(metadata));
      server.create(ConfigMap, configMap(metadata));
      server.create(Secret, { metadata });
    }
  }
  const pods = informers.forResource(Pod);
  const own = informers.forResource(Pod, { namespaces: ["bank"], labelSelector: "tier=own", transform: (it) => it });
  const maps = informers.forResource(ConfigMap);
  const secrets = informers.forResource(Secret, { resyncMs: 0 });
  await fixture.start();
  assertEquals([...pods.indexer.keys()], ["data/kind"]);
  assertEquals(pods.lister.list().map(({ metadata, status }) => [metadata.annotations, status?.phase]), [[
    undefined,
    "Kind",
  ]]);
  assertEquals([...own.indexer.keys()], ["bank/own"]);
  assertEquals(own.lister.list().map(({ metadata }) => metadata.annotations?.note), ["x"]);
  assertEquals([...maps.indexer.keys()], ["shop/factory", "shop/kind", "shop/own"]);
  assertEquals([...secrets.indexer.keys()], ["shop/factory"]);
  for (const { metadata } of [...maps.lister.list(), ...secrets.lister.list()]) {
    assertEquals(metadata.annotations, undefined);
  }
});

Deno.test("SharedInformerFactory: a later caller may leave out what the first set over the defaults, but not contradict it", async () => {
  await using fixture = new FactoryFixture({ defaults: [defaultsFor(Pod, { resyncMs: 60_000 })] });
  const { informers } = fixture;
  const pods = informers.forResource(Pod, { resyncMs: 5_000 });
  assertStrictEquals(informers.forResource(Pod), pods);
  assertThrows(
    () => informers.forResource(Pod, { resyncMs: 60_000 }),
    Error,
    'Cannot share the informer of "pods": the option "resyncMs" has another value than the first caller gave',
  );
});

Deno.test("SharedInformerFactory: defaults for a kind apply to each form of it, but its transform to its own form only", async () => {
  await using fixture = new FactoryFixture({
    defaults: [defaultsFor(Pod, { namespace: "data", transform: (pod) => pod, reflector: { pageSize: 7 } })],
  });
  const { informers } = fixture;
  const refused = (form: string): string =>
    `Cannot create an informer of "${form}": the transform in its defaults is for "pods/v1". Pass a transform to forResource()`;
  assertThrows(
    () => informers.forResource(onlyMetadata(Pod)),
    TypeError,
    refused("pods/v1?representation=metadata"),
  );
  assertThrows(
    () => informers.acquire(Pod, { fields: ["status.phase"] }),
    TypeError,
    refused("pods/v1?fields=status.phase"),
  );
  informers.forResource(onlyMetadata(Pod), { transform: (it) => it });
  assertEquals(informers.status().map(({ selection }) => selection.namespaces), [["data"]]);
});

Deno.test("SharedInformerFactory: a kind's transform is for Secrets without data, if its defaults are", async () => {
  await using fixture = new FactoryFixture({ defaults: [defaultsFor(Secret, { transform: (secret) => secret })] });
  assertThrows(
    () => fixture.informers.forResource(Secret, { secretData: "keep" }),
    TypeError,
    'Cannot create an informer of "secrets/v1?secretData=keep": the transform in its defaults',
  );
});

Deno.test("ClusterSet gives each cluster's informers its transform and defaults", async () => {
  await using clusters = new Clusters({ transform: bare, defaults: [defaultsFor(ConfigMap, { namespace: "shop" })] });
  clusters.server("berlin").create(
    ConfigMap,
    configMap({ namespace: "shop", name: "b", annotations: { note: "x" } }),
  );
  clusters.server("berlin").create(ConfigMap, configMap({ namespace: "data", name: "a" }));
  clusters.add("berlin");
  const maps = clusters.set.forResource(ConfigMap);
  clusters.set.start();
  await clusters.during(maps.waitForCacheSync());
  assertEquals(maps.lister.list().map(({ object }) => [object.metadata.name, object.metadata.annotations]), [
    ["a", undefined],
    ["b", undefined],
  ]);
});

Deno.test("SharedInformerFactory: the namespaces that it watches by label are not changed by defaults for namespaces", async () => {
  await using fixture = new FactoryFixture({
    namespaces: { labels: "team=a" },
    defaults: [defaultsFor(Namespace, { labelSelector: "team=b", transform: (it) => it })],
  });
  const { server, informers } = fixture;
  for (const [name, team] of [["shop", "a"], ["bank", "b"]]) {
    server.create(Namespace, namespace({ name, labels: { team } }));
    server.create(ConfigMap, configMap({ namespace: name, name: "settings" }));
  }
  const maps = informers.forResource(ConfigMap);
  await fixture.start();
  assertEquals([...maps.indexer.keys()], ["shop/settings"]);
});

Deno.test("SharedInformerFactory: its namespaces do not apply to cluster-scoped kinds, and defaultsFor refuses them there", async () => {
  await using fixture = new FactoryFixture({ namespace: "shop" });
  fixture.server.create(Node, node({ name: "n1" }));
  const nodes = fixture.informers.forResource(Node);
  await fixture.start();
  assertEquals([...nodes.indexer.keys()], ["n1"]);
  for (const place of [{ namespace: "shop" }, { namespaces: ["shop"] }]) {
    assertThrows(
      () => defaultsFor(Node, place),
      TypeError,
      'Cannot set defaults for "nodes": the kind is cluster-scoped, but has namespaces. Leave them out',
    );
  }
});

Deno.test("SharedInformerFactory refuses two defaults for one kind, and names both places", () => {
  const both = [defaultsFor(Pod, {}), defaultsFor(ConfigMap, {}), defaultsFor(onlyMetadata(Pod), {})];
  assertThrows(
    () => new SharedInformerFactory(undefined as never, { defaults: both }),
    TypeError,
    'Cannot create a factory: defaults[0] and defaults[2] are for "pods". Join them',
  );
});

Deno.test("Fields, and what belongs to one call, are no defaults: the compiler and the call refuse them", async () => {
  const fields = ["status.phase"] as const;
  assertThrows(
    // @ts-expect-error the factory could not give its objects their type
    () => new SharedInformerFactory(undefined as never, { fields }),
    TypeError,
    'Cannot create a factory: there is no option "fields". Remove it',
  );
  const refused = [
    // @ts-expect-error as above
    () => defaultsFor(Pod, { fields }),
    // @ts-expect-error its names would have no type
    () => defaultsFor(Pod, { indexers: {} }),
    // @ts-expect-error as above
    () => defaultsFor(Secret, { secretData: "keep" }),
    // @ts-expect-error as above
    () => defaultsFor(Pod, { shard: "0/2" }),
    // @ts-expect-error as above
    () => defaultsFor(Pod, { deliverUnchanged: true }),
    // @ts-expect-error as above
    () => defaultsFor(Pod, { cluster: "berlin" }),
    // @ts-expect-error the transform is for another kind
    () => defaultsFor(Pod, { transform: (node: Node) => node, fields }),
  ];
  for (const call of refused) assertThrows(call, TypeError, "Set it in forResource()");
  await using fixture = new FactoryFixture({
    defaults: [defaultsFor(onlyFields(Pod, fields), {
      transform: (pod) => {
        // @ts-expect-error the objects have only these fields
        assertEquals(pod.spec, undefined);
        return { ...pod, status: { ...pod.status, phase: "Kind" } };
      },
    })],
  });
  const { server, informers } = fixture;
  server.create(Pod, pod({ namespace: "shop", name: "a" }));
  const pods = informers.forResource(Pod, { fields });
  await fixture.start();
  assertEquals(pods.lister.get("shop/a")?.status?.phase, "Kind");
});
