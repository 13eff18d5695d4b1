// Integers that JavaScript rounds, on a server that stores int64: by writes, and by conversion.
import { copyOf } from "@kube/informer";
import { FetchServer } from "@kube/informer/connect";
import { createOrUpdate, writeStatus } from "@kube/informer/reconcile";
import { defineKind } from "@kube/informer/schema";
import { makeCertificates, startControlPlane } from "@kube/informer/testing/control-plane";
import { installWebhooks, Webhooks } from "@kube/informer/webhooks";
import { assertEquals, assertRejects } from "@std/assert";
import { delay } from "@std/async";
import { withDeadline } from "../support/cluster/with_deadline.ts";
import { testOfAssets } from "./_cluster.ts";

const number = { type: "integer", format: "int64" } as const;
const text = { type: "string" } as const;
const names = { group: "numbers.example.com", kind: "Number", plural: "numbers" } as const;
const Old = defineKind({
  ...names,
  version: "v1alpha1",
  spec: { type: "object", properties: { first: number, note: text } },
});
const New = defineKind({
  ...names,
  version: "v1",
  spec: {
    type: "object",
    properties: {
      id: number,
      note: text,
      list: { type: "array", items: { type: "object", properties: { id: number } } },
    },
  },
  status: { type: "object", properties: { seen: number, note: text } },
  olderVersions: [Old],
});

const [ID, MAX] = ["9007199254740993", "9223372036854775807"];

testOfAssets("a server keeps int64 exactly through patches, exact updates and conversions", async (assets) => {
  await using plane = await startControlPlane({ assets });
  using client = plane.client({ namespace: "default" });
  const errors: unknown[] = [];
  const webhooks = new Webhooks({ onError: (error) => errors.push(error) }).convert(New, Old, {
    toHub: ({ spec: { first, note } }) => ({ spec: { id: first, note } }),
    fromHub: ({ spec: { id, note } }) => ({ spec: { first: id, note } }),
  });
  const { ca: caBundle, ...certificate } = await makeCertificates({ hosts: ["127.0.0.1"] });
  await using port = await FetchServer.listen(webhooks.fetch, { port: 0, certificate });
  await installWebhooks(client, webhooks, { url: `https://127.0.0.1:${port.port}` }, { caBundle });
  const [numbers, old] = [client.resource(New), client.resource(Old)];
  const path = "/apis/numbers.example.com/v1/namespaces/default/numbers";
  const raw = async (name: string, version = "v1"): Promise<string> =>
    (await (await client.fetch(`${path.replace("v1", version)}/${name}`)).text()).trim().replace(/^.*"spec":/, "");
  // deno-lint-ignore no-explicit-any
  const { rawJSON } = JSON as any;

  await withDeadline("the conversion to be called", async (signal) => {
    while (
      await old.create({ metadata: { name: "try" }, spec: {} }, { dryRun: true, signal }).catch(() => {}) === undefined
    ) {
      await delay(100, { signal });
    }
  });
  const spec = { id: rawJSON(ID), note: "x", list: [{ id: rawJSON(MAX) }] };
  const created = await numbers.create({ metadata: { name: "a" }, spec });
  assertEquals(await raw("a"), `{"id":${ID},"list":[{"id":${MAX}}],"note":"x"}}`);
  const copy = copyOf(created);
  copy.spec.note = "y";
  await assertRejects(() => numbers.update(copy), TypeError, "spec.id would become 9007199254740992");
  copy.spec = { ...copy.spec, id: rawJSON(ID), list: [{ id: rawJSON(MAX) }] };
  await numbers.update(copy);
  await createOrUpdate(numbers, { metadata: { name: "a" }, spec: {} }, (it) => void (it.spec.note = "z"));
  await writeStatus(numbers, await numbers.get("a"), { seen: rawJSON(ID), note: "1" });
  const object = await numbers.get("a");
  await writeStatus(numbers, object, { ...object.status, note: "2" });
  assertEquals(
    await raw("a"),
    `{"id":${ID},"list":[{"id":${MAX}}],"note":"z"},"status":{"note":"2","seen":${ID}}}`,
  );

  await old.create({ metadata: { name: "b" }, spec: { first: rawJSON(ID), note: "old" } });
  assertEquals(await raw("b"), `{"id":${ID},"note":"old"}}`);
  assertEquals(await raw("b", "v1alpha1"), `{"first":${ID},"note":"old"}}`);
  await old.patch("b", { type: "merge", body: { spec: { note: "new" } } });
  assertEquals(await raw("b"), `{"id":${ID},"note":"new"}}`);
  assertEquals(errors, []);
});
