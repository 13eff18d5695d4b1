import { assertEquals, assertStrictEquals } from "@std/assert";
import type { KubernetesObject } from "../../../src/api/object.ts";
import { defineResource, metadataOf, type Resource } from "../../../src/api/resource.ts";
import { columnHeads, objectRow, qualifiedName } from "../../../src/cli/terminal/object_row.ts";
import { GrowingTable, tableLines } from "../../../src/cli/terminal/growing_table.ts";
import { redactObject } from "../../../src/cli/terminal/redact_object.ts";
import { Deployment } from "../../../src/kinds/apps/v1.ts";
import { ConfigMap, Namespace, Node, Pod } from "../../../src/kinds/core/v1.ts";

const Secret: Resource = defineResource({ group: "", version: "v1", plural: "secrets", kind: "Secret" });

function object(fields: Record<string, unknown>, name = "web-0"): KubernetesObject {
  return { metadata: { name, namespace: "shop", creationTimestamp: new Date().toISOString() }, ...fields } as never;
}

Deno.test("redactObject hides the values of Secrets and keeps their keys", () => {
  const secret = object({
    data: { password: "aHVudGVyMg==" },
    stringData: { token: "hunter2" },
    metadata: {
      name: "login",
      annotations: { "kubectl.kubernetes.io/last-applied-configuration": "hunter2", team: "shop" },
    },
  });
  const shown = redactObject(secret, Secret, false);
  assertEquals(JSON.stringify(shown).includes("hunter2") || JSON.stringify(shown).includes("aHVudGVy"), false);
  assertEquals(shown as unknown, {
    data: { password: "[redacted]" },
    stringData: { token: "[redacted]" },
    metadata: {
      name: "login",
      annotations: { "kubectl.kubernetes.io/last-applied-configuration": "[redacted]", team: "shop" },
    },
  });
  assertEquals(
    (secret as unknown as { data: unknown }).data,
    { password: "aHVudGVyMg==" },
    "the cache's own is untouched",
  );
});

Deno.test("redactObject does not change other objects, nor Secrets when asked not to", () => {
  const secret = object({ data: { a: "b" } });
  assertStrictEquals(redactObject(secret, Secret, true), secret);
  assertStrictEquals(redactObject(secret, ConfigMap, false), secret);
  const other: Resource = { ...Secret, group: "example.com" };
  assertStrictEquals(redactObject(secret, other, false), secret);
});

Deno.test("redactObject removes only the last applied state from a Secret's metadata", () => {
  const annotations = { "kubectl.kubernetes.io/last-applied-configuration": "hunter2" };
  const shown = redactObject(object({ metadata: { name: "login", annotations } }), metadataOf(Secret), false);
  assertEquals(JSON.stringify(shown).includes("hunter2"), false);
});

Deno.test("qualifiedName is a name that kubectl accepts", () => {
  assertEquals(qualifiedName(Pod, "web-0"), "pod/web-0");
  assertEquals(qualifiedName(Deployment, "web"), "deployment.apps/web");
});

Deno.test("objectRow shows the columns of each kind", () => {
  const cases: [Resource, KubernetesObject, string][] = [
    [Pod, object({ spec: { nodeName: "n1" }, status: { phase: "Running" } }), "Running on n1"],
    [Pod, object({}), ""],
    [Deployment, object({ spec: { replicas: 3 }, status: { readyReplicas: 2 } }), "2/3 ready"],
    [Deployment, object({ spec: {} }), "0/1 ready"],
    [metadataOf(Deployment), object({}), ""],
    [Secret, object({ type: "Opaque", data: { a: "", b: "" } }), "Opaque, 2 keys"],
    [ConfigMap, object({}), "0 keys"],
  ];
  for (const [resource, thing, details] of cases) {
    assertEquals(objectRow(resource, thing), ["shop", "web-0", details, "0s"], `${resource.plural}: ${details}`);
  }
  const ready = object({ spec: { unschedulable: true }, status: { conditions: [{ type: "Ready", status: "True" }] } });
  assertEquals(objectRow(Node, ready), ["web-0", "Ready, SchedulingDisabled", "0s"]);
  assertEquals(objectRow(Node, object({})), ["web-0", "NotReady", "0s"]);
  assertEquals(objectRow(Namespace, object({ status: { phase: "Active" } })), ["web-0", "Active", "0s"]);
  assertEquals(columnHeads(Node), ["NAME", "STATE", "AGE"]);
  assertEquals(columnHeads(Pod), ["NAMESPACE", "NAME", "STATE", "AGE"]);
});

Deno.test("objectRow removes terminal control characters", () => {
  assertEquals(objectRow(Pod, object({ status: { phase: "\x1b]0;pwned\x07" } }))[2], "\\u001b]0;pwned\\u0007");
});

Deno.test("tableLines makes columns as wide as their widest cell", () => {
  assertEquals(tableLines([["A", "NAME", "AGE"], ["long", "x", "1s"], ["b", "", ""]]), [
    "A      NAME   AGE",
    "long   x      1s",
    "b",
  ]);
  assertEquals(tableLines([]), []);
});

Deno.test("GrowingTable widens columns as it meets wider cells", () => {
  const table = new GrowingTable();
  assertEquals(table.line(["a", "b"]), "a   b");
  assertEquals(table.line(["long", "b"]), "long   b");
  assertEquals(table.line(["a", "b"]), "a      b");
});
