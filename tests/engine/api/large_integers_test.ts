import { assert, assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import {
  deepJson,
  exactJson,
  holdsLiterals,
  isNestedDeeper,
  keepLiterals,
  literalOf,
  markAs,
  mayRound,
  refuseRounded,
  sameLiterals,
  withLiterals,
} from "../../../src/engine/api/large_integers.ts";
import { copyOf } from "../../../src/engine/api/written.ts";
import { Random } from "../../../src/testing/fake/random.ts";
import { randomSchema, randomValue } from "../../support/schema/random_schemas.ts";

// deno-lint-ignore no-explicit-any
function parsed(text: string): any {
  const value = JSON.parse(text);
  keepLiterals(value, text);
  return value;
}

Deno.test("what was parsed is written again with the literals of its integers", () => {
  for (
    const text of [
      `{"a":9007199254740993}`,
      `{"a":-9007199254740993,"b":9007199254740993,"c":9007199254740992}`,
      `{"a":[9007199254740993,{"b":[[9223372036854775807]]},1,-9223372036854775808]}`,
      `[9007199254740993]`,
      `{"a":{"b":"9007199254740993","c":9007199254740993},"d":1}`,
      String.raw`{"a\"{[,":{"\\":"\\\"","b":9007199254740993},"[":"]}","c":[{},[],9007199254740995]}`,
      `{"__proto__":{"a":9007199254740993},"constructor":9007199254740993}`,
      `{"a":123456789012345678901234567890,"b":${"9".repeat(400)}}`,
    ]
  ) {
    const value = parsed(text);
    assert(holdsLiterals(value), text);
    assertEquals(exactJson(value), text);
    assertEquals(exactJson(copyOf(value)), text);
    assertEquals(
      exactJson({ ...value }),
      Array.isArray(value) ? `{"0":${value[0] === 9007199254740992 ? "9007199254740993" : ""}}` : text,
    );
  }
  const spaced = parsed(` {\n "a" : [ 9007199254740993 , { } ] , "b" : { "c" : 9007199254740993 } }\n`);
  assertEquals(exactJson(spaced), `{"a":[9007199254740993,{}],"b":{"c":9007199254740993}}`);
  // As the object of a watch event, behind which other members may come.
  const first = JSON.parse(`{"a":1}`);
  keepLiterals(first, `{"a":1},"b":9007199254740993}`);
  assertEquals(holdsLiterals(first), false);
});

Deno.test("only integers that JavaScript writes in another way are kept", () => {
  for (
    const text of [
      `{"a":9007199254740992,"b":10000000000000000,"c":9007199254740991}`,
      `{"a":"9007199254740993","b":"x 9007199254740993"}`,
      `{"a":0.1234567890123456789,"b":1e400,"c":12345678901234567e3,"d":9007199254740993.5}`,
      `{"a":1}`,
    ]
  ) assertEquals(holdsLiterals(parsed(text)), false, text);
  const twice = parsed(`{"a":{"b":9007199254740993},"a":{"c":9007199254740993},"a":5,"d":9007199254740993,"d":1}`);
  assertEquals(exactJson(twice), `{"a":5,"d":1}`);
});

Deno.test("a run of sixteen digits is found wherever it begins", () => {
  for (let before = 0; before < 40; before++) {
    for (const [digits, after] of [[15, 0], [15, 9], [16, 0], [16, 7], [17, 3], [40, 1]]) {
      const text = `${" ".repeat(before)}${"7".repeat(digits)}${",".repeat(after)}`;
      assertEquals(mayRound(text), digits >= 16, text);
    }
  }
  assertEquals([mayRound(""), mayRound(`${"123456789012345,".repeat(100)}`)], [false, false]);
});

Deno.test("random values with large integers are written as they came, whatever their layout", () => {
  for (let seed = 1; seed <= 60; seed++) {
    const random = new Random(seed);
    const plain = JSON.stringify(Array.from({ length: 3 }, () => randomValue(random, randomSchema(random))) ?? null);
    const text = plain.replaceAll(
      /([:,[])(-?\d+)(?=[,\]}])/g,
      (whole, lead, digits) =>
        random.below(3) === 0
          ? `${lead}${digits.startsWith("-") ? "-" : ""}${9007199254740993n + BigInt(random.below(1_000))}`
          : whole,
    );
    const value = JSON.parse(text);
    keepLiterals(value, text);
    // Fractions are written as JavaScript does, so they are compared after a parse.
    const literals = (it: string): unknown => it.match(/(?<=[:,[])-?\d{16,}(?=[,\]}])/g);
    assertEquals(literals(exactJson(value)), literals(text), `seed ${seed}`);
    assertEquals(JSON.parse(exactJson(value)), JSON.parse(text), `seed ${seed}`);
  }
});

Deno.test("a changed integer is written as it is now, and a mark goes with parts and copies", () => {
  const value = parsed(`{"spec":{"id":9007199254740993,"list":[{"id":9007199254740995},{"id":1}]},"other":{}}`);
  const copy = copyOf(value);
  copy.spec.id = 5;
  copy.spec.list.reverse();
  assertEquals(exactJson(copy), `{"spec":{"id":5,"list":[{"id":1},{"id":9007199254740995}]},"other":{}}`);
  assertEquals(exactJson(value.spec.list[0]), `{"id":9007199254740995}`);
  assertEquals(exactJson(markAs(value, { spec: { id: value.spec.id } })), `{"spec":{"id":9007199254740993}}`);
  assertEquals(literalOf(value.spec, "id", value.spec.id), "9007199254740993");
  assertEquals(literalOf(value.spec, "id", 1), undefined);
  assertStrictEquals(markAs(value, value), value);
  assertEquals(exactJson(structuredClone(value)).includes("9007199254740993"), false);
});

Deno.test("a body with a rounded integer is refused by its path, unless it was changed", () => {
  const refused = (body: unknown): string =>
    assertThrows(() => refuseRounded('update "a"', body, JSON.stringify(body)), TypeError).message;
  const value = parsed(`{"spec":{"a.b":[{"id":9007199254740993}],"ids":[1,9007199254740995]}}`);
  assertEquals(
    refused({ spec: { "a.b": value.spec["a.b"] } }),
    `Cannot update "a": spec["a.b"][0].id would become 9007199254740992, as JavaScript rounds 9007199254740993. Send a ` +
      `merge patch or an apply without this field, or set it to JSON.rawJSON("9007199254740993")`,
  );
  assertEquals(refused(value.spec.ids).slice(0, 41), `Cannot update "a": [1] would become 90071`);
  value.spec.ids.shift();
  assertEquals(refused(value.spec.ids).slice(0, 41), `Cannot update "a": [0] would become 90071`);
  value.spec["a.b"][0].id = 7;
  value.spec.ids[0] = 9007199254740992;
  const text = JSON.stringify(value);
  refuseRounded('update "a"', value, text);
  refuseRounded('update "a"', { id: 2 ** 60 }, `{"id":1152921504606847000}`);
});

Deno.test("two equal values with other literals differ", () => {
  const [a, b] = [`{"a":[9007199254740993]}`, `{"a":[9007199254740992]}`].map(parsed);
  assertEquals(a.a[0], b.a[0]);
  assertEquals([sameLiterals(a, b), sameLiterals(b, a)], [false, false]);
  assertEquals([sameLiterals(a, parsed(`{"a":[9007199254740993]}`)), sameLiterals(b, { ...b })], [true, true]);
});

Deno.test("what is made of a value gets its literals: by reference, by path, or by the only one of this value", () => {
  const lost: string[] = [];
  // deno-lint-ignore no-explicit-any
  const made = (source: string, make: (source: any) => unknown): string => {
    lost.length = 0;
    return exactJson(
      withLiterals(parsed(source), make(parsed(source)), (path) => lost.push(path)),
    );
  };
  const source =
    `{"id":9007199254740993,"low":9007199254740992,"other":9007199254740995,"list":[{"id":9007199254740999}]}`;
  assertEquals(made(source, (it) => ({ list: it.list })), `{"list":[{"id":9007199254740999}]}`);
  assertEquals(
    made(source, ({ id, low }) => ({ id, low })),
    `{"id":9007199254740993,"low":9007199254740992}`,
  );
  assertEquals(
    made(source, (it) => ({ a: { b: [it.other, 5] }, c: -it.other })).slice(0, 34),
    `{"a":{"b":[9007199254740995,5]},"c`,
  );
  assertEquals(lost, ["c"]);
  // Two literals have this value, and neither is at this path: nobody can know which one it is.
  assertEquals(made(source, (it) => ({ x: it.id })), `{"x":9007199254740992}`);
  assertEquals(lost, ["x"]);
  const [given, other] = [{ a: 2 ** 53 }, { b: 2 ** 60 }];
  assertStrictEquals(withLiterals(given, other), other);
});

Deno.test("deep values are read and written without recursion, in a time that grows with their size", () => {
  const deep = (levels: number): string => `${`{"a":[`.repeat(levels)}9007199254740993${"]}".repeat(levels)}`;
  const text = deep(20_000);
  const value = parsed(text);
  assert(exactJson(value) === text);
  assert(exactJson(withLiterals(value, { b: value })) === `{"b":${text}}`);
  assertThrows(() => refuseRounded("update", value, text), TypeError, "Cannot update: a[0].a[0]");
  const many = `[${"9007199254740993,".repeat(20_000)}1]`;
  assert(exactJson(parsed(many)) === many);
  assert(deepJson(parsed(many)) === many);
});

Deno.test("the nesting of a text is counted without its strings", () => {
  const deeper = (text: string, most: number): boolean => isNestedDeeper(text, most);
  assertEquals([deeper("[[]]", 1), deeper("[[]]", 2), deeper("[[],[],{}]", 2), deeper("1", 0)], [
    true,
    false,
    false,
    false,
  ]);
  const strings = String.raw`{"[[[":"\\\"[[[{","a\\":["[","]"]}`;
  assertEquals([deeper(strings, 1), deeper(strings, 2)], [true, false]);
  assertEquals([deeper("]]]][", 0), deeper(`"[[[`, 0), deeper("[".repeat(1_000_000), 10_000)], [false, false, true]);
});
