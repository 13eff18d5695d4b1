import { assertEquals, assertThrows } from "@std/assert";
import { copyOf } from "../../../src/engine/api/written.ts";
import { part } from "./object_test.ts";

Deno.test("copyOf refuses a reduced object, and copies one without the mark", () => {
  assertThrows(
    () => copyOf(part as object),
    TypeError,
    "Cannot copy an object for a write: it is reduced to the fields a",
  );
  assertEquals(copyOf({ a: [1] }), { a: [1] });
});
