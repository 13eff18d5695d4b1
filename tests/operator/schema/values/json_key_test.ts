import { assertEquals } from "@std/assert";
import { equalJson } from "../../../../src/engine/api/json.ts";
import { jsonKey } from "../../../../src/operator/schema/values/json_key.ts";

Deno.test("jsonKey() is the same text for values that equalJson() finds equal, and no others", () => {
  const values: readonly unknown[] = [
    undefined,
    null,
    "null",
    "",
    true,
    0,
    -0,
    1,
    JSON.parse("1.0"),
    "1",
    [],
    {},
    [[]],
    [1],
    ["1"],
    [1, 2],
    [2, 1],
    [[1], 2],
    [1, [2]],
    { a: 1, b: 2 },
    { b: 2, a: 1 },
    { a: 1, b: undefined },
    { a: 1 },
    { a: { b: 1 } },
    { a: {}, b: 1 },
    { 0: 1 },
    ["a", "[]"],
    { a: '","' },
    JSON.parse('{"__proto__":1}'),
  ];
  for (const a of values) {
    for (const b of values) assertEquals([a, b, jsonKey(a) === jsonKey(b)], [a, b, equalJson(a, b)]);
  }
});

Deno.test("jsonKey() takes values of any depth", () => {
  const deep = (end: number): unknown => {
    let value: unknown = end;
    for (let depth = 0; depth < 50_000; depth++) value = [value];
    return value;
  };
  assertEquals(jsonKey(deep(1)) === jsonKey(deep(1)), true);
  assertEquals(jsonKey(deep(1)) === jsonKey(deep(2)), false);
});
