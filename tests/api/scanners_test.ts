import { assert, assertEquals, assertThrows } from "@std/assert";
import { readFieldPath } from "../../src/api/selector.ts";

/** A text that counts the characters that are looked at one by one. */
function counted(text: string): { readonly text: string; readonly steps: () => number } {
  let steps = 0;
  const proxy = new Proxy(Object(text), {
    get: (target, name): unknown => {
      if (typeof name === "string" && /^\d+$/.test(name)) steps++;
      const value = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  return { text: proxy as string, steps: () => steps };
}

const SHAPES: Readonly<Record<string, (length: number) => string>> = {
  "one key": (length) => "a".repeat(length),
  "many keys": (length) => "a.".repeat(length / 2) + "a",
  "a quote without an end": (length) => '["' + "a".repeat(length),
  "quotes without ends": (length) => '["'.repeat(length / 2),
  "escapes": (length) => '["' + "\\\\".repeat(length / 2) + '"]',
  "many quoted keys": (length) => '["a/b"]'.repeat(length / 7),
  "brackets": (length) => "[".repeat(length),
  "dots": (length) => ".".repeat(length),
};

for (const [name, shape] of Object.entries(SHAPES)) {
  Deno.test(`a field path is read in steps in proportion to its length: ${name}`, () => {
    const steps = [64_000, 128_000].map((length) => {
      const { text, steps } = counted(shape(length));
      try {
        readFieldPath(text);
      } catch (error) {
        assert(error instanceof SyntaxError, String(error));
        assert(error.message.length < 300, error.message);
      }
      assert(steps() <= 3 * length + 100, `${steps()} steps for ${length} characters`);
      return steps();
    });
    assert(steps[1] <= 2.5 * steps[0] + 100, `${steps}`);
  });
}

Deno.test("a field path in a text ends at the first character that cannot be part of it", () => {
  assertEquals(readFieldPath('a.b["c,\\"]d"],e', 0), { keys: ["a", "b", 'c,"]d'], end: 13 });
  assertEquals(readFieldPath("a,b.c,d", 2), { keys: ["b", "c"], end: 5 });
  for (const text of ["", ",", ".a", "a..b", '["a', '["a"', "[a]", '["\\x"]', '["\n"]']) {
    assertThrows(() => readFieldPath(text), SyntaxError);
  }
});
