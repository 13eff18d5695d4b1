import { assertEquals, assertThrows } from "@std/assert";
import { copyOf } from "../../src/api/mutable.ts";
import { reduced, refuseReduced } from "../../src/api/reduced.ts";

const part = { a: 1, [reduced]: "the fields a" };
const refused =
  "Cannot write: it is reduced to the fields a, and the write would remove its other fields; read it by client.get(), " +
  "or send a merge patch or an apply of the changed fields alone";

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

Deno.test("copyOf refuses a reduced object, and copies one without the mark", () => {
  assertThrows(
    () => copyOf(part as object),
    TypeError,
    "Cannot copy an object for a write: it is reduced to the fields a",
  );
  assertEquals(copyOf({ a: [1] }), { a: [1] });
});
