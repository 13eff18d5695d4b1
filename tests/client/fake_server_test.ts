import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  isAlreadyExists,
  isConflict,
  isExpired,
  isNotFound,
  StatusError,
  UnreachableError,
} from "../../src/api/status.ts";
import { copyOf } from "../../src/api/object.ts";
import { metadataOf } from "../../src/api/resource.ts";
import { Client } from "../../src/client/client.ts";
import { findResource } from "../../src/client/client.ts";
import { Deployment } from "../../src/kinds/apps/v1.ts";
import { ConfigMap, Node, Pod } from "../../src/kinds/core/v1.ts";
import type { ListerWatcher } from "../../src/api/lister_watcher.ts";
import { configMap, FakeApiServer, pod } from "../../src/testing/mod.ts";
import { FakeTime } from "../support/fake_time.ts";
import { collect } from "../support/transport.ts";

function setUp(
  options: ConstructorParameters<typeof FakeApiServer>[0] = {},
): { server: FakeApiServer; client: Client } {
  const server = new FakeApiServer(options);
  return { server, client: new Client({ server: "http://fake", transport: server, namespace: "shop" }) };
}

Deno.test("ResourceClient is assignable to ListerWatcher", async () => {
  const { server, client } = setUp();
  server.create(Pod, pod({ name: "a", namespace: "shop" }));
  const source: ListerWatcher<Pod> = client.resource(Pod);
  const parts = await Array.fromAsync(source.listEntries());
  assertEquals(parts.flatMap((part) => part.entries.map((entry) => entry.key)), ["shop/a"]);
});

Deno.test("ResourceClient creates, reads, changes and deletes objects of the fake server", async () => {
  const { server, client } = setUp();
  const maps = client.resource(ConfigMap);
  const made = await maps.create({ metadata: { name: "settings" }, data: { a: "1" } });
  assertEquals([made.kind, made.metadata.namespace], ["ConfigMap", "shop"]);
  assert(isAlreadyExists(await assertRejects(() => maps.create({ metadata: { name: "settings" } }), StatusError)));
  assertEquals((await maps.create({ metadata: { name: "draft" } }, { dryRun: true })).metadata.name, "draft");
  assert(isNotFound(await assertRejects(() => maps.get("draft"), StatusError)));

  const changed = await maps.update({ ...copyOf(made), data: { a: "2" } });
  assert(isConflict(await assertRejects(() => maps.update({ ...copyOf(made), data: { a: "3" } }), StatusError)));
  const merged = await maps.patch("settings", { type: "merge", body: { data: { b: "1" } } });
  assertEquals(merged.data, { a: "2", b: "1" });
  const listed = await maps.patch("settings", { type: "json", body: [{ op: "remove", path: "/data/b" }] });
  assertEquals(listed.data, changed.data);
  await assertRejects(
    () => maps.delete("settings", { preconditions: { resourceVersion: made.metadata.resourceVersion } }),
    StatusError,
    "409 Conflict",
  );
  const status = await maps.delete("settings");
  assert("code" in status && status.code === 200);
  assertEquals(server.keys(ConfigMap), []);
});

Deno.test("ResourceClient.deleteCollection deletes the selected objects on the fake server", async () => {
  const { server, client } = setUp();
  for (const name of ["a", "b"]) {
    server.create(ConfigMap, configMap({ name, namespace: "shop", labels: { app: name } }));
  }
  await client.resource(ConfigMap, { namespace: "shop" }).deleteCollection({ labelSelector: "app=a" });
  assertEquals(server.keys(ConfigMap), ["shop/b"]);
});

Deno.test("ResourceClient.pages reads one version of a collection of the fake server that changes meanwhile", async () => {
  const { server, client } = setUp();
  for (let i = 0; i < 7; i++) server.create(Pod, pod({ name: `p-${i}`, namespace: "shop" }));
  const names: string[][] = [];
  const versions = new Set<string>();
  for await (const page of client.resource(Pod).pages({ limit: 3 })) {
    names.push(page.items.map((pod) => pod.metadata.name));
    versions.add(page.resourceVersion);
    if (names.length === 1) server.delete(Pod, "shop/p-6");
  }
  assertEquals(names, [["p-0", "p-1", "p-2"], ["p-3", "p-4", "p-5"], ["p-6"]]);
  assertEquals(versions.size, 1);
});

Deno.test("ResourceClient.pages begins anew, once, when the fake server forgets the version on the way", async () => {
  const { server, client } = setUp();
  for (let i = 0; i < 7; i++) server.create(Pod, pod({ name: `p-${i}`, namespace: "shop" }));
  const pages: [count: number, restarted: boolean][] = [];
  for await (const page of client.resource(Pod).pages({ limit: 2 })) {
    pages.push([page.items.length, page.restarted ?? false]);
    server.patch(Pod, "shop/p-0", { metadata: { labels: { seen: String(pages.length) } } });
    server.compact();
  }
  assertEquals(pages.at(-1), [7, true]);
  assertEquals(pages.filter(([, restarted]) => restarted).length, 1);
});

Deno.test("ResourceClient requests metadata only, and another namespace, of the fake server", async () => {
  const { server, client } = setUp();
  server.create(Pod, pod({ name: "a", namespace: "shop" }));
  server.create(Pod, pod({ name: "b", namespace: "bank" }));
  server.create(Node, { metadata: { name: "n1" } });
  const metadata = client.resource(metadataOf(Pod));
  const list = await metadata.list();
  assertEquals(list.items.map((item) => [item.kind, "spec" in item]), [
    ["PartialObjectMetadata", false],
    ["PartialObjectMetadata", false],
  ]);
  assertEquals((await metadata.namespace("bank").list()).items.map((item) => item.metadata.name), ["b"]);
  assertEquals((await metadata.get("a")).kind, "PartialObjectMetadata");
  const events = metadata.watch({ allowBookmarks: true, sendInitialEvents: true });
  const received: string[] = [];
  for await (const event of events) {
    if (event.type === "BOOKMARK") break;
    received.push(`${event.type} ${event.object.kind}`);
  }
  assertEquals(received, ["ADDED PartialObjectMetadata", "ADDED PartialObjectMetadata"]);
  assertEquals((await client.resource(Node, { namespace: "shop" }).list()).items.length, 1);
});

Deno.test("ResourceClient.follow misses and repeats no event while the fake server drops, truncates, ends and fails watches", async () => {
  using time = new FakeTime();
  const { server, client } = setUp();
  const { resourceVersion } = await client.resource(Pod).list();
  const controller = new AbortController();
  const errors: unknown[] = [];
  const received: string[] = [];
  const following = (async (): Promise<void> => {
    const events = client.resource(Pod).follow({
      resourceVersion,
      signal: controller.signal,
      onInterrupted: (error) => errors.push(error),
    });
    for await (const event of events) if (event.type !== "BOOKMARK") received.push(event.object.metadata.name);
  })();
  const faults = [
    () => server.dropWatches(),
    () => server.truncateWatches(),
    () => server.truncateWatches(Pod, "nextEvent"),
    () => server.endWatches(),
    () => server.failWatches({ code: 500 }),
    () => server.failNext(503, 2),
    () => server.breakNext(),
    () => server.stallWatches(),
  ];
  const expected: string[] = [];
  const create = (): void => {
    const name = `p-${expected.length}`;
    expected.push(name);
    server.create(Pod, pod({ name, namespace: "shop" }));
  };
  for (const fault of faults) {
    await time.tickAsync(10_000);
    create();
    fault();
    create();
    await time.tickAsync(10_000);
    server.endWatches();
    create();
  }
  await time.tickAsync(300_000);
  assertEquals(received, expected);
  assert(
    errors.some((error) => error instanceof UnreachableError) && errors.some((error) => error instanceof StatusError),
  );
  server.compact();
  server.endWatches();
  controller.abort(new Error("enough"));
  await following;
  await time.tickAsync(0);
  assertEquals([server.watches, time.timers], [0, 0]);
});

Deno.test("ResourceClient.follow throws when its version has expired on the fake server", async () => {
  const { server, client } = setUp();
  for (const name of ["a", "b"]) server.create(Pod, pod({ name, namespace: "shop" }));
  const { resourceVersion } = server.get(Pod, "shop/a")!.metadata;
  server.compact();
  const error = await assertRejects(() => collect(client.resource(Pod).follow({ resourceVersion })));
  assert(isExpired(error));
});

Deno.test("Client.discover and findResource find the resources of the fake server", async () => {
  const { server, client } = setUp();
  server.define({
    group: "acme.test",
    version: "v1",
    plural: "widgets",
    kind: "Widget",
    scope: "Cluster",
    shortNames: ["wd"],
  });
  const resources = await client.discover();
  assertEquals(findResource(resources, "deploy").group, Deployment.group);
  const widgets = findResource(resources, "wd");
  assertEquals([widgets.kind, widgets.scope, widgets.preferred], ["Widget", "Cluster", true]);
  await client.resource(widgets).create({ metadata: { name: "w" } });
  assertEquals((await client.resource(widgets).list()).items.map((item) => [item.kind, item.metadata.name]), [[
    "Widget",
    "w",
  ]]);
  assertEquals(findResource(resources, "po").plural, "pods");
});

Deno.test("Client's error names the call that the fake server forbids", async () => {
  const server = new FakeApiServer({ tokens: { secret: "alice" }, authorize: ({ verb }) => verb !== "delete" });
  let token = "old";
  const client = new Client({
    server: "http://fake",
    transport: server,
    namespace: "shop",
    credentials: {
      apply: (headers, { refresh }): void => {
        if (refresh) token = "secret";
        headers.set("authorization", `Bearer ${token}`);
      },
    },
  });
  assertEquals((await client.resource(Pod).list()).items, []);
  const error = await assertRejects(() => client.resource(Pod).delete("a"), StatusError);
  assertEquals([error.status.code, error.status.reason], [403, "Forbidden"]);
  assert(error.message.startsWith('Cannot delete "pods/a" in namespace "shop": 403 Forbidden: pods "a" is forbidden'));
});
