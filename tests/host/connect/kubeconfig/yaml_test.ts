import { assertEquals, assertFalse, assertThrows } from "@std/assert";
import { yamlText } from "../../../../src/cli/terminal/yaml.ts";
import { readYaml } from "../../../../src/host/connect/kubeconfig/yaml.ts";
import { KUBECTL_YAML, manifestOf, sortedJson } from "../../../support/texts/kubectl_yaml.ts";

Deno.test("readYaml reads what kubectl reads", () => {
  for (const [text, json] of KUBECTL_YAML) {
    if (json === undefined) {
      assertThrows(() => readYaml(manifestOf(text)), SyntaxError, undefined, text);
      continue;
    }
    const [manifest] = readYaml(manifestOf(text)) as [{ readonly spec: { readonly v0: unknown } }];
    assertEquals(sortedJson(manifest.spec.v0), sortedJson(JSON.parse(json)), text);
  }
});

Deno.test("yamlText quotes each text that kubectl would take for another value", () => {
  const more = ["1_0e3", "0_9", "+0X1", "-0O7", "0B1_0", "1_000.5", "a_b", "X", "O"];
  const texts = [...KUBECTL_YAML.map(([text]) => text), ...more];
  const value = {
    texts,
    numbers: [0, -1, 1e21, 1e-7, 0.5, 2 ** 53],
    keys: Object.fromEntries(texts.map((it) => [it, it])),
  };
  assertEquals(readYaml(yamlText(value)), [value]);
  assertEquals(readYaml("0X1F"), [31]);
});

Deno.test("readYaml reads each document, and JSON", () => {
  assertEquals(readYaml('---\n# none\n---\na: 1\n...\n---\n{"b": [null]}\n'), [null, { a: 1 }, { b: [null] }]);
  assertEquals(readYaml(""), []);
  assertEquals(readYaml('{\n\t"a": 1e3\n}'), [{ a: 1000 }]);
});

Deno.test("readYaml refuses a key that a mapping has twice, aliases beyond their limit and deep values, and shows no text", () => {
  assertThrows(() => readYaml("a: 1\na: 2"), SyntaxError, "at line 2, column");
  assertEquals(readYaml("a: &x 1\nb: *x"), [{ a: 1, b: 1 }]);
  assertThrows(() => readYaml("a: &x 1\nb: *x", { maxAliases: 0 }), SyntaxError);
  assertThrows(() => readYaml("[".repeat(100_000)), SyntaxError);
  for (const text of ["a: *hunter2", "a: !hunter2 x", "a: 'hunter2"]) {
    const error = assertThrows(() => readYaml(text), SyntaxError);
    assertFalse(Deno.inspect(error).includes("hunter2"), error.message);
  }
});
