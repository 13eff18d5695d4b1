import { assertEquals, assertThrows } from "@std/assert";
import fc from "npm:fast-check@^4.10.2";
import { keyOf, reduced, refuseReduced, splitKey } from "../../../src/engine/api/object.ts";

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
      `Cannot split key "a/b/c": it has 3 parts, but a key is NAME or NAMESPACE/NAME`,
    );
    assertThrows(() => splitKey("a/b/"), SyntaxError, "it has 3 parts");
  });
});

Deno.test("splitKey reverses keyOf for any namespace and name", () => {
  const part = fc.string({ minLength: 1 }).map((text) => text.replaceAll("/", "-"));
  fc.assert(fc.property(fc.option(part, { nil: undefined }), part, (namespace, name) => {
    const parts = namespace === undefined ? { name } : { namespace, name };
    assertEquals(splitKey(keyOf({ metadata: parts })), parts);
  }));
});

export const part = { a: 1, [reduced]: "the fields a" };
const refused =
  "Cannot write: it is reduced to the fields a, and the write would remove its other fields. Read the object with " +
  "client.get(), or send only the changed fields in a merge patch or an apply";

Deno.test("refuseReduced refuses an object that is reduced, or has a part that is, at any depth", () => {
  refuseReduced("write", { a: [{ b: null }], c: "d" });
  refuseReduced("write", undefined);
  for (const value of [part, { ...part }, { x: part }, { x: [{ y: part }] }, [part]]) {
    assertEquals(assertThrows(() => refuseReduced("write", value), TypeError).message, refused);
  }
});

Deno.test("refuseReduced allows reduced objects outside of arrays where a merge keeps their other fields", () => {
  refuseReduced("write", { ...part, x: { y: part } }, "in arrays");
  for (const value of [[part], { x: [{ y: part }] }]) {
    assertThrows(() => refuseReduced("write", value, "in arrays"), TypeError, refused);
  }
});
