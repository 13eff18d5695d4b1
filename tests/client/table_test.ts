import { assertEquals, assertRejects } from "@std/assert";
import type { KubernetesObject } from "../../src/api/object.ts";
import type { Transport } from "../../src/api/lister_watcher.ts";
import { defineResource, metadataOf, type Resource, tableOf } from "../../src/api/resource.ts";
import { Client } from "../../src/client/client.ts";
import { SharedIndexInformer } from "../../src/informer/shared_index_informer.ts";
import { ConfigMap } from "../../src/kinds/core/v1.ts";
import { configMap, FakeApiServer } from "../../src/testing/mod.ts";

const Crontab: Resource<KubernetesObject> = defineResource<KubernetesObject>({
  group: "stable.example.com",
  version: "v1",
  plural: "crontabs",
  kind: "CronTab",
});

function setUp(): { server: FakeApiServer; client: Client } {
  const server = new FakeApiServer();
  for (const name of ["a", "b", "c"]) server.create(ConfigMap, configMap({ name, namespace: "shop", data: { name } }));
  return { server, client: new Client({ server: "http://fake", transport: server, namespace: "shop" }) };
}

Deno.test("ResourceClient gets, lists, pages and watches rows with the cells of the server", async () => {
  const { server, client } = setUp();
  const rows = client.resource(tableOf(ConfigMap));
  const one = await rows.get("b");
  assertEquals([one.kind, one.metadata.name, one.cells.slice(0, 2), one.object.data], ["ConfigMap", "b", ["b", 1], {
    name: "b",
  }]);
  const { items, resourceVersion } = await rows.list();
  assertEquals(items.map(({ cells }) => cells.slice(0, 2)), [["a", 1], ["b", 1], ["c", 1]]);
  const pages = await Array.fromAsync(rows.pages({ limit: 2 }));
  assertEquals(pages.map(({ items }) => items.map(({ metadata }) => metadata.name)), [["a", "b"], ["c"]]);
  assertEquals(pages[1].items[0].columns.map(({ name }) => name), ["Name", "Data", "Age"]);
  const watch = rows.watch({ resourceVersion });
  const seen = watch.next();
  server.patch(ConfigMap, "shop/b", { data: { more: "1" } });
  const { value } = await seen;
  assertEquals([value?.type, value?.type === "MODIFIED" && value.object.cells.slice(0, 2)], ["MODIFIED", ["b", 2]]);
  await watch.return?.();
});

Deno.test("a row has the columns that a custom resource's definition names", async () => {
  const server = new FakeApiServer({
    resources: [{ ...Crontab, columns: [{ name: "Spec", type: "string", jsonPath: ".spec.cron", priority: 1 }] }],
  });
  server.create(
    Crontab,
    { metadata: { name: "daily", namespace: "shop" }, spec: { cron: "@daily" } } as unknown as KubernetesObject,
  );
  using client = new Client({ server: "http://fake", transport: server, namespace: "shop" });
  const { items: [row] } = await client.resource(tableOf(Crontab)).list();
  assertEquals([row.cells, row.columns.map(({ name, priority }) => [name, priority])], [
    ["daily", "@daily"],
    [["Name", 0], ["Spec", 1]],
  ]);
});

for (const streamingList of ["on", "off"] as const) {
  Deno.test(`an informer keeps rows up to date, with streaming list ${streamingList}`, async () => {
    const { server, client } = setUp();
    await using informer = new SharedIndexInformer(client.resource(tableOf(ConfigMap), { namespace: "shop" }), {
      reflector: { streamingList },
      indexers: { data: (row) => [String(row.cells[1])] },
    });
    informer.run();
    await informer.waitForCacheSync();
    server.patch(ConfigMap, "shop/b", { data: { more: "1" } });
    server.delete(ConfigMap, "shop/c");
    server.create(ConfigMap, configMap({ name: "d", namespace: "shop", labels: { app: "d" } }));
    await informer.atLeast(server.resourceVersion);
    const cells = informer.lister.list().map((row) => row.cells.slice(0, 2)).sort();
    assertEquals(cells, [["a", 1], ["b", 2], ["d", 0]]);
    assertEquals(informer.lister.list("app=d").map(({ object }) => object.metadata.name), ["d"]);
    assertEquals(informer.indexer.byIndex("data", "2").map(({ metadata }) => metadata.name), ["b"]);
    server.compact();
    server.dropWatches();
    server.delete(ConfigMap, "shop/a");
    await informer.untilDeleted("shop/a");
    const d = informer.lister.namespace("shop").get("d");
    assertEquals(d?.columns.map(({ name }) => name), ["Name", "Data", "Age"]);
    client[Symbol.dispose]();
  });
}

/** Kubernetes 1.32: a streaming list has objects, where these are accepted, and no rows. */
class WithoutStreamedRows implements Transport {
  constructor(readonly server: FakeApiServer) {}

  fetch(request: Request): Promise<Response> {
    const accepted = request.headers.get("accept")!.split(",");
    if (!new URL(request.url).searchParams.has("sendInitialEvents")) return this.server.fetch(request);
    if (accepted.includes("application/json")) {
      return this.server.fetch(new Request(request, { headers: { accept: "application/json" } }));
    }
    const message = "only the following media types are accepted: application/json, application/yaml";
    const status = { kind: "Status", apiVersion: "v1", status: "Failure", reason: "NotAcceptable", code: 406, message };
    return Promise.resolve(Response.json(status, { status: 406 }));
  }
}

Deno.test("an informer of rows lists in pages where a streaming list has no rows", async () => {
  const { server } = setUp();
  using client = new Client({ server: "http://fake", transport: new WithoutStreamedRows(server), namespace: "shop" });
  const phases: string[] = [];
  await using informer = new SharedIndexInformer(client.resource(tableOf(ConfigMap), { namespace: "shop" }), {
    reflector: {
      onPhase: (phase) => phases.push(phase.name === "listing" ? phase.by : phase.name),
      backoff: { initialMs: 1, jitter: 0 },
    },
  });
  informer.run();
  await informer.waitForCacheSync();
  server.patch(ConfigMap, "shop/b", { data: { more: "1" } });
  await informer.atLeast(server.resourceVersion);
  assertEquals(informer.lister.list().map(({ cells }) => cells.slice(0, 2)).sort(), [["a", 1], ["b", 2], ["c", 1]]);
  assertEquals([informer.status().errors, phases.slice(0, 3)], [0, ["stream", "pages", "watching"]]);
  const loseHistory = (): void => {
    server.delete(ConfigMap, "shop/a");
    server.compact();
  };
  server.beforeNext(loseHistory, 1, ({ verb }) => verb === "watch");
  server.endWatches();
  await informer.untilDeleted("shop/a");
  assertEquals(phases.filter((name) => name === "stream" || name === "pages"), ["stream", "pages", "pages"]);
});

Deno.test("an informer of rows can freeze, transform and parse them at once", async () => {
  const { client } = setUp();
  await using informer = new SharedIndexInformer(client.resource(tableOf(ConfigMap), { namespace: "shop" }), {
    freeze: true,
    parse: "eager",
    transform: (row) => ({ ...row, cells: [...row.cells, "more"] }),
  });
  informer.run();
  await informer.waitForCacheSync();
  const row = informer.lister.namespace("shop").get("a");
  assertEquals([row?.cells.at(-1), Object.isFrozen(row?.object.data)], ["more", true]);
  client[Symbol.dispose]();
});

Deno.test("tableOf changes the representation and nothing else, and rows cannot be written", async () => {
  assertEquals<Resource>(tableOf(ConfigMap), { ...ConfigMap, representation: "table" });
  assertEquals(tableOf(metadataOf(ConfigMap)).representation, "table");
  const { server, client } = setUp();
  const rows = client.resource(tableOf(ConfigMap));
  const row = await rows.get("a");
  const asked = server.requests.length;
  const refused = 'Cannot VERB "configmaps": the resource is a table; use the resource itself';
  const writes = {
    create: () => rows.create(row as never),
    update: () => rows.update(row as never),
    patch: () => rows.patch("a", { type: "merge", body: {} }),
    delete: () => rows.delete("a"),
  };
  for (const [verb, write] of Object.entries(writes)) {
    await assertRejects(write, TypeError, refused.replace("VERB", verb));
  }
  await assertRejects(() => rows.deleteCollection(), TypeError, refused.replace("VERB", "delete"));
  assertEquals(server.requests.length, asked);
});
