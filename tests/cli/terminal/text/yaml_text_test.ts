import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { load } from "js-yaml";
import { yamlText } from "../../../../src/cli/terminal/text/yaml_text.ts";

Deno.test("yamlText sorts keys, does not indent lists, and quotes what YAML would read as another type", () => {
  const value = { b: [{ z: 1, y: "1e3" }, "yes"], a: "0123", empty: [], text: "one\ntwo\n", control: "\x1b[31m" };
  assertEquals(yamlText(value).split("\n"), [
    `a: "0123"`,
    "b:",
    `- "y": "1e3"`,
    "  z: 1",
    `- "yes"`,
    `control: "\\e[31m"`,
    "empty: []",
    "text: |",
    "  one",
    "  two",
  ]);
});

Deno.test("yamlText of any JSON is read back as the same value", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 3 }), (value) => {
      const sent: unknown = JSON.parse(JSON.stringify(value)); // without -0, which JSON does not have
      assertEquals(load(yamlText(sent)), sent);
    }),
    { numRuns: 200 },
  );
});
