import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { keyOf, splitKey } from "../../src/api/key.ts";

Deno.test("keyOf and splitKey: namespaced, cluster-scoped, and an error on more slashes [C084]", async (t) => {
  const cases: readonly [string, { readonly namespace?: string; readonly name: string }][] = [
    ["shop/cart-0", { namespace: "shop", name: "cart-0" }],
    ["node-1", { name: "node-1" }],
  ];
  for (const [key, parts] of cases) {
    await t.step(`"${key}" both ways`, () => {
      assertEquals(keyOf({ metadata: parts }), key);
      assertEquals(splitKey(key), parts);
    });
  }
  await t.step("an object without a namespace, written as empty", () => {
    assertEquals(keyOf({ metadata: { namespace: "", name: "node-1" } }), "node-1");
  });
  await t.step("an object without a name", () => {
    assertEquals([keyOf({ metadata: {} }), keyOf({ metadata: { namespace: "shop" } })], ["", "shop/"]);
  });
  await t.step("empty parts of a key", () => {
    assertEquals(splitKey(""), { name: "" });
    assertEquals(splitKey("shop/"), { namespace: "shop", name: "" });
    assertEquals(splitKey("/cart-0"), { namespace: "", name: "cart-0" });
  });
  await t.step("three parts", () => {
    assertThrows(
      () => splitKey("a/b/c"),
      SyntaxError,
      `Cannot split key "a/b/c": found 3 parts, expected 1 or 2`,
    );
    assertThrows(() => splitKey("a/b/"), SyntaxError, "found 3 parts");
  });
});

Deno.test("splitKey reverses keyOf for any namespace and name", () => {
  const part = fc.string({ minLength: 1 }).map((text) => text.replaceAll("/", "-"));
  fc.assert(fc.property(fc.option(part, { nil: undefined }), part, (namespace, name) => {
    const parts = namespace === undefined ? { name } : { namespace, name };
    assertEquals(splitKey(keyOf({ metadata: parts })), parts);
  }));
});
