import { assertEquals, assertStrictEquals } from "@std/assert";
import type { KubernetesObject } from "../../../src/api/object.ts";
import { defineResource, metadataOf, type Resource } from "../../../src/api/resource.ts";
import { redactObject } from "../../../src/cli/terminal/redact_object.ts";
import { ConfigMap } from "../../../src/kinds/core/v1.ts";

const Secret: Resource = defineResource({ group: "", version: "v1", plural: "secrets", kind: "Secret" });

function object(fields: Record<string, unknown>): KubernetesObject {
  return { metadata: { name: "web-0", namespace: "shop" }, ...fields } as never;
}

Deno.test("redactObject hides what Secrets hold and keeps their keys", () => {
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

Deno.test("redactObject leaves alone what is no Secret, and Secrets when asked to", () => {
  const secret = object({ data: { a: "b" } });
  assertStrictEquals(redactObject(secret, Secret, true), secret);
  assertStrictEquals(redactObject(secret, ConfigMap, false), secret);
  const other: Resource = { ...Secret, group: "example.com" };
  assertStrictEquals(redactObject(secret, other, false), secret);
});

Deno.test("redactObject hides the last applied state in a Secret's metadata alone", () => {
  const annotations = { "kubectl.kubernetes.io/last-applied-configuration": "hunter2" };
  const shown = redactObject(object({ metadata: { name: "login", annotations } }), metadataOf(Secret), false);
  assertEquals(JSON.stringify(shown).includes("hunter2"), false);
});
