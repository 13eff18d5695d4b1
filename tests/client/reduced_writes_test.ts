import { assert, assertEquals, assertRejects } from "@std/assert";
import type { KubernetesObject } from "../../src/api/object.ts";
import { fieldsOf } from "../../src/api/fields.ts";
import { reduced } from "../../src/api/object.ts";
import { metadataOf, type Resource, tableOf } from "../../src/api/resource.ts";
import { Client } from "../../src/client/client.ts";
import { ConfigMap } from "../../src/kinds/core/v1.ts";
import { createOrUpdate } from "../../src/reconcile/objects.ts";
import { finalize } from "../../src/reconcile/objects.ts";
import { writeStatus } from "../../src/reconcile/objects.ts";
import { configMap, FakeApiServer } from "../../src/testing/mod.ts";

const FORMS: readonly [string, Resource<KubernetesObject>][] = [
  ["the fields data.a, metadata.labels", fieldsOf(ConfigMap, ["data.a", "metadata.labels"])],
  ["its metadata", metadataOf(ConfigMap)],
  ["a row of a table", tableOf(ConfigMap)],
];

Deno.test("every way of reading a reduced resource marks its objects, and no write takes them or their copies", async () => {
  for (const [form, resource] of FORMS) {
    using server = new FakeApiServer();
    server.create(ConfigMap, configMap({ namespace: "shop", name: "a", data: { a: "1", b: "2" }, labels: { x: "y" } }));
    using client = new Client({ server: "http://fake", transport: server, namespace: "shop" });
    const maps = client.resource(ConfigMap);
    const reading = client.resource(resource);
    const { resourceVersion, items: [listed] } = await reading.list();
    const watched = (async () => {
      for await (const event of reading.watch({ resourceVersion })) if (event.type !== "BOOKMARK") return event.object;
    })();
    await maps.patch("a", { type: "merge", body: { data: { c: "3" } } });
    const [part] = await Array.fromAsync(reading.listEntries({})).then((parts) =>
      parts.flatMap(({ entries }) => entries)
    );
    const whole = await maps.get("a");
    const read = [listed, await reading.get("a"), await watched, part.object];
    const asked = server.requests.length;
    for (const object of read as (ConfigMap | undefined)[]) {
      assert(object !== undefined);
      assertEquals((object as { [reduced]?: string })[reduced], form);
      const { resourceVersion: _version, uid: _uid, ...metadata } = object.metadata;
      const copies: ConfigMap[] = [object, { ...object }, {
        ...object,
        kind: "ConfigMap",
        apiVersion: "v1",
        metadata: whole.metadata,
      }];
      if (form.includes("fields")) {
        copies.push({ ...whole, metadata: object.metadata }, { ...whole, data: object.data });
      }
      for (const copy of copies) {
        const draft = { ...copy, metadata: { ...metadata, name: "b" } };
        const writes: readonly [string, () => Promise<unknown>][] = [
          ["update", () => maps.update(copy as never)],
          ["update", () => maps.update({ ...copy } as never, { subresource: "status" })],
          ["apply", () => maps.apply(copy as never, { fieldManager: "test" })],
          ["patch", () => maps.patch("a", { type: "apply", body: copy as never, fieldManager: "test" })],
          ["patch", () => maps.patch("a", { type: "json", body: [{ op: "replace", path: "", value: copy }] as never })],
          ["patch", () => maps.patch("a", { type: "strategic", body: { things: [copy] } as never })],
          ["create", () => maps.create(draft as never)],
          [
            "createOrUpdate",
            () => createOrUpdate(maps, { metadata: { name: "a" } }, () => {}, { current: copy as never }),
          ],
          ["finalize", () => finalize(maps, copy as never, { finalizer: "a.dev/b", cleanup: () => {} })],
          ["writeStatus", () => writeStatus(maps as never, copy, { x: 1 } as never)],
        ];
        for (const [name, write] of writes) {
          await assertRejects(write, TypeError, `reduced to ${form}, and the write would remove`, `${name} of ${form}`);
        }
      }
    }
    assertEquals(server.requests.length, asked, "no write was sent");
    assertEquals(server.get(ConfigMap, "shop/a")?.data, { a: "1", b: "2", c: "3" });
  }
});

Deno.test("a collection of fields gets objects with these fields, sends patches, and refuses whole writes", async () => {
  using server = new FakeApiServer();
  server.create(ConfigMap, configMap({ namespace: "shop", name: "a", data: { a: "1", b: "2" } }));
  using client = new Client({ server: "http://fake", transport: server, namespace: "shop" });
  const maps = client.resource(fieldsOf(ConfigMap, ["data.a"]));
  assertEquals({ ...(await maps.get("a")).data }, { a: "1", [reduced]: "the fields data.a" });
  await maps.patch("a", { type: "merge", body: { data: { a: "3" } } });
  assertEquals(server.get(ConfigMap, "shop/a")?.data, { a: "3", b: "2" });
  const refused =
    'Cannot VERB "configmaps": the resource is named fields only; patch it, or use the resource with all fields';
  await assertRejects(() => maps.create({} as never), TypeError, refused.replace("VERB", "create"));
  await assertRejects(() => maps.update({} as never), TypeError, refused.replace("VERB", "update"));
});
