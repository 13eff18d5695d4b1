import { assert, assertEquals } from "@std/assert";
import type { KubernetesObject } from "../../src/engine/api/object.ts";
import { defineResource, type Resource } from "../../src/engine/api/resource.ts";
import { isNotFound } from "../../src/engine/api/status.ts";
import { copyOf } from "../../src/engine/api/written.ts";
import { Client } from "../../src/engine/client/client.ts";
import { SharedIndexInformer } from "../../src/engine/informer/shared_index_informer.ts";
import { FakeApiServer } from "../../src/testing/mod.ts";
import { FakeTime } from "../support/times/fake_time.ts";
import { createWidget, define, undefine, Widget } from "../support/sources/widgets.ts";

Deno.test("SharedIndexInformer waits for a kind that is not defined yet, delivers the deletion of its objects, and waits again [F28]", async () => {
  using time = new FakeTime();
  using server = new FakeApiServer();
  using client = new Client({ server: "http://fake", transport: server });
  await using informer = new SharedIndexInformer(client.resource(Widget), {
    reflector: { backoff: { jitter: 0 }, pageSize: 10 },
  });
  const delivered: string[] = [];
  informer.addEventHandler({
    onAdd: ({ name }) => void delivered.push(`+ ${name}`),
    onDelete: ({ name }) => void delivered.push(`- ${name}`),
  });
  void informer.run();
  await time.tickAsync(10_000);
  assert(isNotFound(informer.status().cause));
  const asked = server.requests.length;

  // Twice: the kind comes with an object, and goes.
  for (const number of [1, 2]) {
    assertEquals([informer.status().state, informer.indexer.size], ["notFound", 0]);
    define(server, Widget);
    createWidget(server, `widget-${number}`);
    await time.tickAsync(60_000);
    assertEquals([informer.status().state, informer.indexer.size], ["live", 1]);
    undefine(server, Widget);
    await time.tickAsync(10_000);
  }
  assertEquals(delivered, ["+ widget-1", "- widget-1", "+ widget-2", "- widget-2"]);
  assertEquals([informer.status().state, informer.indexer.size], ["notFound", 0]);
  assert(server.requests.length - asked < 40, `${server.requests.length - asked} requests are too many`);

  const stopped = informer[Symbol.asyncDispose]();
  await time.tickAsync(0);
  await stopped;
  assertEquals([server.watches, time.timers], [0, 0]);
});

/** A kind as a program declares it, with fewer fields than the objects have. */
interface Schema extends KubernetesObject {
  readonly spec: { readonly title: string };
}
const Schema: Resource<Schema> = defineResource<Schema>({
  group: "acme.dev",
  version: "v1",
  plural: "schemas",
  kind: "Schema",
});

/** Names that code made from a specification knows nothing of, or gives other names to; and values it would convert. */
const UNKNOWN = {
  "x-kubernetes-preserve-unknown-fields": true,
  "x-kubernetes-list-map-keys": ["name", "port"],
  $ref: "#/definitions/a",
  _default: null,
  "with-dash": { "in/side": [1.5, 1e21, "", {}, []] },
  renewTime: "2026-01-02T03:04:05.000006Z",
  quantity: "1e3",
};

Deno.test("ResourceClient.update sends every member of a cached object, known or not [F25]", async () => {
  using server = new FakeApiServer({ resources: [Schema] });
  using client = new Client({ server: "http://fake", transport: server });
  const key = "default/a";
  const spec = { ...UNKNOWN, title: "before" };
  server.create(Schema, { metadata: { name: "a", namespace: "default" }, spec, extra: UNKNOWN } as never);

  // Once as an item of a list, once as a change of a watch.
  for (const title of ["once", "twice"]) {
    await using informer = new SharedIndexInformer(client.resource(Schema));
    void informer.run();
    await informer.waitForCacheSync();
    if (title === "twice") {
      server.annotate(Schema, key, { touched: "yes" });
      await informer.until(({ metadata }) => metadata.annotations?.touched === "yes");
    }
    const cached = informer.lister.get(key)!;
    await client.resource(Schema).update({ ...copyOf(cached), spec: { ...cached.spec, title } });
    const { spec, extra } = server.get(Schema, key) as Schema & { readonly extra: unknown };
    assertEquals<unknown>([spec, extra], [{ ...UNKNOWN, title }, UNKNOWN]);
  }
});
