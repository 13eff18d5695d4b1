import { assert, assertEquals, assertRejects } from "@std/assert";
import { exactJson } from "../../../src/engine/api/large_integers.ts";
import { asTable } from "../../../src/engine/api/resource.ts";
import { copyOf } from "../../../src/engine/api/written.ts";
import { Client } from "../../../src/engine/client/client.ts";
import type { ResourceClient } from "../../../src/engine/client/resource_client.ts";
import { createOrUpdate, finalize, writeStatus } from "../../../src/operator/controllers/reconcile/mod.ts";
import type { KindOf } from "../../../src/operator/schema/mod.ts";
import { FakeApiServer } from "../../../src/testing/mod.ts";
import { Big, NARROW, WIDE, wide } from "../../support/sources/wide.ts";

const [ID, LOW, , MAX] = WIDE;

/** A client of a server with one object that has large integers. */
function setUp(): {
  readonly server: FakeApiServer;
  readonly transport: ReturnType<typeof wide>;
  readonly client: Client;
  readonly bigs: ResourceClient<KindOf<typeof Big>>;
} {
  const server = new FakeApiServer();
  const [id, low, seen, max] = NARROW;
  server.define(Big.crd as never);
  server.create(Big, {
    metadata: { name: "a", namespace: "shop" },
    spec: { id, note: "x", list: [{ id: low, note: "l" }, { id }], ids: [max] },
    status: { seen },
  } as never);
  const transport = wide(server);
  const client = new Client({ server: "http://fake", transport, namespace: "shop" });
  return { server, transport, client, bigs: client.resource(Big) };
}

/** The large integers that the server has, in the order of the text. */
function stored(server: FakeApiServer): unknown[] {
  const { spec, status } = server.get(Big, "shop/a")!;
  return [spec.id, spec.list![0].id, spec.list![1].id, spec.ids![0], status?.seen];
}
const UNTOUCHED = [NARROW[0], NARROW[1], NARROW[0], NARROW[3], NARROW[2]];
const TEXT = `{"id":${ID},"ids":[${MAX}],"list":[{"id":${LOW},"note":"l"},{"id":${ID}}],"note":"x"}`;

Deno.test("get, list, watch and the response to a write keep the literals of large integers", async () => {
  const { client, bigs } = setUp();
  using _ = client;
  const got = await bigs.get("a");
  assertEquals(exactJson(got.spec), TEXT);
  assertEquals(exactJson((await bigs.list()).items[0].spec), TEXT);
  for await (const { items } of bigs.pages()) assertEquals(exactJson(items[0].spec), TEXT);
  const patched = await bigs.patch("a", { type: "merge", body: { spec: { note: "y" } } });
  assertEquals(exactJson(patched.spec), TEXT.replace(`"x"`, `"y"`));
  for await (const event of bigs.watch({ resourceVersion: "0", signal: AbortSignal.timeout(5_000) })) {
    assert(event.type !== "BOOKMARK");
    assertEquals(exactJson(event.object.spec), TEXT.replace(`"x"`, `"y"`));
    break;
  }
  const rows = client.resource(asTable(Big));
  assertEquals(exactJson((await rows.get("a")).object.spec), TEXT.replace(`"x"`, `"y"`));
  assertEquals(exactJson((await rows.list()).items[0]).includes(`"ids":[${MAX}]`), true);
});

Deno.test("a write that would round an integer is refused by its path, and nothing is sent", async () => {
  const { client, bigs, server, transport } = setUp();
  using _ = client;
  const got = await bigs.get("a");
  const copy = copyOf(got);
  copy.spec.note = "y";
  const refused = async (write: Promise<unknown>, path: string, action: string): Promise<void> => {
    const { message } = await assertRejects(() => write, TypeError);
    assertEquals(message.slice(0, message.indexOf(" would become")), `Cannot ${action}: ${path}`);
  };
  const action = (verb: string): string => `${verb} "bigs.example.com/a" in namespace "shop"`;
  await refused(bigs.update(copy), "spec.id", action("update"));
  await refused(
    bigs.update({ ...copy, spec: { ...copy.spec, id: 1, list: [] }, status: {} }),
    "spec.ids[0]",
    action("update"),
  );
  const status = `update "bigs.example.com/a/status" in namespace "shop"`;
  await refused(bigs.update(copy, { subresource: "status" }), "status.seen", status);
  await refused(
    bigs.create({ metadata: { name: "b" }, spec: copy.spec } as never),
    "spec.id",
    action("create").replace("/a", "/b"),
  );
  await refused(
    bigs.patch("a", { type: "merge", body: { spec: { list: [copy.spec.list![1], {}] } } as never }),
    "spec.list[0].id",
    action("patch"),
  );
  await refused(
    bigs.patch("a", { type: "json", body: [{ op: "add", path: "/spec/list/-", value: copy.spec.list![1] }] }),
    "[0].value.id",
    action("patch"),
  );
  await refused(
    bigs.apply({ metadata: { name: "a" }, spec: copy.spec } as never, { fieldManager: "m" }),
    "spec.id",
    action("patch"),
  );
  assertEquals([transport.bodies, stored(server)], [[], UNTOUCHED]);

  const { message } = await assertRejects(() => bigs.update(copy), TypeError);
  assertEquals(
    message.slice(message.indexOf(" would become")),
    ` would become 9007199254740992, as JavaScript rounds ${ID}. Send a merge patch or an apply without this field, or ` +
      `set it to JSON.rawJSON("${ID}")`,
  );
});

Deno.test("a write goes on if its integers are exact, were changed, or are given as text", async () => {
  const { client, bigs, server, transport } = setUp();
  using _ = client;
  const copy = copyOf(await bigs.get("a"));
  // deno-lint-ignore no-explicit-any
  const { rawJSON } = JSON as any;
  copy.spec = {
    id: rawJSON(ID),
    note: "y",
    ids: [rawJSON(MAX)],
    list: copy.spec.list!.map(({ note }) => ({ note, id: 7 })),
  } as never;
  copy.status = {};
  await bigs.update(copy, { subresource: "status" }); // which does not write the spec
  assertEquals([transport.bodies.length, stored(server).at(-1)], [1, undefined]);
  await bigs.update({ ...copy, metadata: { ...copy.metadata, resourceVersion: server.resourceVersion } });
  const { spec } = server.get(Big, "shop/a")!;
  assertEquals(spec, { id: NARROW[0], note: "y", ids: [NARROW[3]], list: [{ id: 7, note: "l" }, { id: 7 }] } as never);
  assert(transport.bodies[1].includes(`"id":${ID},"note":"y","ids":[${MAX}]`), transport.bodies[1]);
});

Deno.test("writes that send differences keep large integers: merge patches, finalizers, status, createOrUpdate", async () => {
  const { client, bigs, server } = setUp();
  using _ = client;
  await bigs.patch("a", { type: "merge", body: { spec: { note: "m" } } });
  await createOrUpdate(bigs, { metadata: { name: "a" }, spec: {} }, (copy) => void (copy.spec.note = "c"));
  const guarded = await finalize(bigs, await bigs.get("a"), { finalizer: "a.b/c", cleanup: () => {} });
  const object = await writeStatus(bigs, guarded!, { ...guarded!.status, note: "s" });
  assertEquals(object.status?.note, "s");
  assertEquals(stored(server), UNTOUCHED);
  // The merge patch would replace the whole list.
  await assertRejects(
    () =>
      createOrUpdate(bigs, { metadata: { name: "a" }, spec: {} }, (copy) => void copy.spec.list!.push({ note: "n" })),
    TypeError,
    "spec.list[1].id would become 9007199254740992",
  );
  assertEquals(stored(server), UNTOUCHED);
});

Deno.test("built-in kinds are not looked at", async () => {
  const { ConfigMap } = await import("../../../src/engine/kinds/core/v1.ts");
  const answer =
    `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"shop","uid":"u","resourceVersion":"1"},"n":${ID}}`;
  const fetch = (): Promise<Response> =>
    Promise.resolve(new Response(answer, { headers: { "content-type": "application/json" } }));
  using client = new Client({ server: "http://fake", transport: { fetch }, namespace: "shop" });
  const got = await client.resource(ConfigMap).get("a");
  assertEquals(Object.getOwnPropertySymbols(got), []);
  await client.resource(ConfigMap).update(copyOf(got));
});
