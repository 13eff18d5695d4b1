// The +k8s: tags of Kubernetes' Go types in the fake server, with the texts of a real one.
import { assertEquals } from "@std/assert";
import type { Resource } from "../../../../src/engine/api/resource.ts";
import { FakeApiServer } from "../../../../src/testing/mod.ts";
import { ask } from "../../../support/servers/fake_server.ts";
import { CLAIM, TAGGED } from "../../../support/schema/tagged.ts";

/** The kinds of the paths, which the fake does not serve by itself. */
const RESOURCES: readonly Resource[] = [
  ["autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler", "Namespaced"],
  ["discovery.k8s.io", "v1", "endpointslices", "EndpointSlice", "Namespaced"],
  ["node.k8s.io", "v1", "runtimeclasses", "RuntimeClass", "Cluster"],
  ["resource.k8s.io", "v1", "resourceclaims", "ResourceClaim", "Namespaced"],
  ["resource.k8s.io", "v1", "resourceslices", "ResourceSlice", "Cluster"],
  ["storage.k8s.io", "v1", "csidrivers", "CSIDriver", "Cluster"],
  ["storage.k8s.io", "v1", "storageclasses", "StorageClass", "Cluster"],
  ["storage.k8s.io", "v1", "volumeattachments", "VolumeAttachment", "Cluster"],
].map(([group, version, plural, kind, scope]) => ({ group, version, plural, kind, scope }) as Resource);

function causesOf(status: { details?: { causes?: readonly Record<string, string>[] } }): readonly string[] | undefined {
  return status.details?.causes?.map(({ field, reason, message }) => `${field} ${reason}: ${message}`);
}

Deno.test("values and changes are refused by the tags of Kubernetes' types, in the server's words and order", async () => {
  for (const { path, object, change, causes } of TAGGED) {
    const server = new FakeApiServer({ resources: RESOURCES });
    const created = await ask(server, path, { method: "POST", body: { metadata: { name: "a" }, ...object } });
    if (change !== undefined) assertEquals(created.status, 201, JSON.stringify(created.json));
    const { status, json } = change === undefined ? created : await ask(server, `${path}/a`, {
      method: "PATCH",
      headers: { "content-type": "application/merge-patch+json" },
      body: change,
    });
    assertEquals([status, causesOf(json)], [422, causes], `${path} ${JSON.stringify(change ?? object).slice(0, 300)}`);
  }
});

Deno.test("what tags say of a status is checked, though most of a status is not", async () => {
  const server = new FakeApiServer({ resources: RESOURCES });
  const { path, object, status: changed, causes } = CLAIM;
  await ask(server, path, { method: "POST", body: { metadata: { name: "a" }, ...object } });
  const { status, json } = await ask(server, `${path}/a/status`, {
    method: "PATCH",
    headers: { "content-type": "application/merge-patch+json" },
    body: { status: changed },
  });
  assertEquals([status, causesOf(json)], [422, causes]);
});
