import { assert, assertEquals, assertThrows } from "@std/assert";
import { entryOf } from "../../../src/engine/entry/entry.ts";
import { entryBytes, entryText, jsonOf } from "../../../src/engine/entry/entry_json.ts";

Deno.test("jsonOf writes what JSON.stringify writes, at any depth", () => {
  const values: unknown[] = [
    ...[1, "a", null, true, [undefined, () => {}, Symbol("a"), 1], { a: undefined, b: [], c: {}, d: () => {} }],
    ...[{ "": new Date(0), '\n"': "\u2028" }, { list: [[1], [{}]], at: Object.create(null), toString: 1 }],
  ];
  for (const value of values) {
    let [deep, text] = [value, JSON.stringify(value)];
    assertEquals(jsonOf(deep, "a"), text);
    for (let level = 0; level < 9_900; level++) [deep, text] = [{ a: deep }, `{"a":${text}}`];
    assert(jsonOf([deep, deep], "a") === `[${text},${text}]`);
  }
});

Deno.test("an object that JSON does not have is refused by its key where it has to become JSON", () => {
  const made = (at: unknown) => entryOf({ metadata: { name: "a", namespace: "b" }, at } as never);
  const cyclic: Record<string, unknown> = { more: [] };
  cyclic.more = [{ parent: cyclic }];
  let deep: Record<string, unknown> = {};
  const innermost = deep;
  for (let level = 0; level < 10_000; level++) deep = { a: deep };
  innermost.a = deep;
  const getter = {
    get a(): never {
      throw new Error("a getter");
    },
  };
  for (const at of [cyclic, deep, { of: 1n }, getter]) {
    for (const write of [entryText, entryBytes]) {
      assertThrows(() => write(made(at)), TypeError, 'Cannot write "b/a" as JSON: ');
    }
  }
  assertThrows(
    () => entryText(made(deep)),
    TypeError,
    "it has a cycle. Leave out of the object what JSON does not have",
  );
});
