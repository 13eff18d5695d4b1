import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import type { KubernetesObject } from "../../src/api/object.ts";
import { entryOf } from "../../src/entry/entry_of.ts";
import { TEXT, type Thing } from "./_unread.ts";

Deno.test("entryOf takes the entry's identity from the object's metadata", () => {
  const object = JSON.parse(TEXT) as Thing;
  const entry = entryOf(object);
  assertEquals(
    [entry.key, entry.namespace, entry.name, entry.uid, entry.resourceVersion, entry.error],
    ["shop/cart-0", "shop", "cart-0", "u-1", "7", undefined],
  );
  assertStrictEquals(entry.object, object);
  assertStrictEquals(entry.metadata, object.metadata);
  const node = entryOf({ metadata: { name: "node-1", uid: "", resourceVersion: "", creationTimestamp: "" } });
  assertEquals([node.key, node.namespace, node.name], ["node-1", "", "node-1"]);
});

Deno.test("entryOf makes a broken entry of an object without a name", () => {
  const nameless = { kind: "Pod", metadata: { namespace: "shop" } } as unknown as KubernetesObject;
  const entry = entryOf(nameless);
  assertEquals(entry.key, "");
  assertEquals(entry.error?.message, `Cannot file Pod in namespace "shop": it has no metadata.name`);
  assertStrictEquals(assertThrows(() => entry.object), entry.error);
  assertStrictEquals(assertThrows(() => entry.metadata), entry.error);
  for (const value of [{}, { metadata: {} }, { metadata: { name: "" } }, null, undefined]) {
    assertEquals(entryOf(value as unknown as KubernetesObject).key, "");
  }
});
