import { assertEquals, assertNotStrictEquals, assertStrictEquals } from "@std/assert";
import { entryOf } from "../../../../src/engine/entry/entry.ts";
import { namespaceIndex } from "../../../../src/engine/informer/cache/object_cache.ts";

/** The index function, and how often it has asked for the namespaces in use. */
function counted(
  inUse: readonly string[],
): { valuesOf: (namespace: string) => readonly string[]; asked: () => number } {
  let asked = 0;
  const index = namespaceIndex<unknown>(() => (asked++, inUse));
  return {
    valuesOf: (namespace) =>
      index(
        entryOf({
          metadata: { name: "x", namespace, uid: "u", resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z" },
        }),
      ),
    asked: () => asked,
  };
}

Deno.test("namespaceIndex files all objects of a namespace under one array", () => {
  const { valuesOf } = counted([]);
  assertEquals([valuesOf("shop"), valuesOf("bank")], [["shop"], ["bank"]]);
  assertStrictEquals(valuesOf("shop"), valuesOf("shop"));
});

Deno.test("namespaceIndex drops the arrays of unused namespaces, rarely", () => {
  const used = Array.from({ length: 100 }, (_, i) => `used-${i}`);
  const { valuesOf, asked } = counted(used);
  const unused = valuesOf("unused");
  const kept = used.map(valuesOf);
  assertEquals(asked(), 1, "at the 65th namespace");
  assertNotStrictEquals(valuesOf("unused"), unused);
  assertEquals(used.map(valuesOf).every((values, i) => values === kept[i]), true);
  for (let i = 0; i < 1_000; i++) valuesOf(`passing-${i}`);
  assertEquals(asked() < 15, true, `asked ${asked()} times`);
});
