import { assert, assertEquals, assertThrows } from "@std/assert";
import { FieldSelector, LabelSelector, readFieldPath } from "../../../src/engine/api/selector.ts";

/** A text that counts the characters that are looked at one by one, and the characters of its slices. */
function counted(text: string): { readonly text: string; readonly steps: () => number } {
  let steps = 0;
  const proxy = new Proxy(Object(text), {
    get: (target, name): unknown => {
      if (typeof name === "string" && /^\d+$/.test(name)) steps++;
      const value = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return (...args: unknown[]): unknown => {
        const result = value.apply(target, args);
        if (name === "slice") steps += result.length;
        return result;
      };
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
  "commas": (length) => ",".repeat(length),
  "blanks": (length) => " ".repeat(length),
  "words with blanks": (length) => "a ".repeat(length / 2),
  "exclamation marks": (length) => "!".repeat(length),
  "equals signs": (length) => "=".repeat(length),
  "conditions": (length) => "a=b,".repeat(length / 4),
  "a condition with many values": (length) => `a in (${"b,".repeat(length / 2)})`,
  "a key with a long prefix": (length) => "a.".repeat(length / 2) + "/b",
  "escapes in a value": (length) => "a=" + "\\,".repeat(length / 2),
};

/** The scanners of texts that strangers send to a relay, and the most steps that each takes for a character. */
const READERS: Readonly<Record<string, readonly [read: (text: string) => unknown, most: number]>> = {
  "a field path": [(text) => readFieldPath(text), 4],
  "a label selector": [LabelSelector.parse, 4],
  "a field selector": [FieldSelector.parse, 4],
};

for (const [what, [read, most]] of Object.entries(READERS)) {
  Deno.test(`${what} is read in steps in proportion to its length`, async (t) => {
    for (const [name, shape] of Object.entries(SHAPES)) {
      await t.step(name, () => {
        const steps = [8_000, 16_000].map((length) => {
          const { text, steps } = counted(shape(length));
          try {
            read(text);
          } catch (error) {
            assert(error instanceof SyntaxError, String(error));
            assert(error.message.length < 400, error.message);
          }
          assert(steps() <= most * length + 100, `${steps()} steps for ${length} characters`);
          return steps();
        });
        assert(steps[1] <= 2.5 * steps[0] + 100, `${steps}`);
      });
    }
  });
}

Deno.test("a field path in a text ends at the first character that cannot be part of it", () => {
  assertEquals(readFieldPath('a.b["c,\\"]d"],e', 0), { keys: ["a", "b", 'c,"]d'], end: 13 });
  assertEquals(readFieldPath("a,b.c,d", 2), { keys: ["b", "c"], end: 5 });
  for (const text of ["", ",", ".a", "a..b", '["a', '["a"', "[a]", '["\\x"]', '["\n"]']) {
    assertThrows(() => readFieldPath(text), SyntaxError);
  }
});
