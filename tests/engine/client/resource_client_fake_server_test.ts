import { assert, assertEquals, assertRejects } from "@std/assert";
import type { ListerWatcher } from "../../../src/engine/api/lister_watcher.ts";
import {
  isAlreadyExists,
  isConflict,
  isNotFound,
  StatusError,
  UnreachableError,
} from "../../../src/engine/api/status.ts";
import { copyOf } from "../../../src/engine/api/written.ts";
import { Client } from "../../../src/engine/client/client.ts";
import { ConfigMap, Pod } from "../../../src/engine/kinds/core/v1.ts";
import { FakeApiServer, pod } from "../../../src/testing/mod.ts";
import { FakeTime } from "../../support/times/fake_time.ts";

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
