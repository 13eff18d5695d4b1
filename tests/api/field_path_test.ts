import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { formatFieldPath, parseFieldPath } from "../../src/api/field_path.ts";

Deno.test("parseFieldPath reads keys separated by dots and keys in brackets", () => {
  const cases: readonly [string, readonly string[]][] = [
    ["spec", ["spec"]],
    ["spec.containers.image", ["spec", "containers", "image"]],
    ['metadata.annotations["a.b/c"]', ["metadata", "annotations", "a.b/c"]],
    ['["a"].b["c"]["d"].e', ["a", "b", "c", "d", "e"]],
    ['spec["\\"\\u0041"]', ["spec", '"A']],
    ["data.tls_crt.x-y.$ref", ["data", "tls_crt", "x-y", "$ref"]],
  ];
  for (const [path, keys] of cases) assertEquals(parseFieldPath(path), keys, path);
});

Deno.test("parseFieldPath reads back every list of keys that is written in brackets", () => {
  fc.assert(fc.property(fc.array(fc.string(), { minLength: 1 }), (keys) => {
    assertEquals(parseFieldPath(keys.map((key) => `[${JSON.stringify(key)}]`).join("")), keys);
  }));
});

Deno.test("parseFieldPath names the character at which a text is no path", () => {
  const cases: readonly [string, string][] = [
    ["", "it ends there"],
    [".spec", 'found "." at character 1'],
    ["spec.", "it ends there"],
    ["spec..a", 'found "." at character 6'],
    ['spec.["a"]', 'found "[" at character 6'],
    ["spec[a]", 'found "[" at character 5'],
    ["spec a", 'found " " at character 5'],
    ['a["b"', 'found "[" at character 2'],
    ["spec.containers[*].image", 'found "[" at character 16'],
  ];
  for (const [path, found] of cases) assertThrows(() => parseFieldPath(path), SyntaxError, found, path);
});

Deno.test("formatFieldPath writes a path that parseFieldPath reads back", () => {
  assertEquals(formatFieldPath(["metadata", "annotations", "a.b/c"]), 'metadata.annotations["a.b/c"]');
  fc.assert(fc.property(fc.array(fc.string(), { minLength: 1 }), (keys) => {
    assertEquals(parseFieldPath(formatFieldPath(keys)), keys);
  }));
});
