import { assert, assertEquals, assertFalse, assertThrows } from "@std/assert";
import { FieldSelector } from "../../src/api/field_selector.ts";

const pod = { metadata: { name: "a,b" }, spec: { nodeName: "n1", hostNetwork: true }, status: { phase: null } };

Deno.test("FieldSelector matches equality and inequality of any field, and takes a missing one for empty", () => {
  const holds = [
    "",
    "spec.nodeName=n1",
    "spec.nodeName==n1,metadata.name!=x",
    "metadata.name=a\\,b",
    "spec.hostNetwork=true",
  ];
  const forms = [
    "metadata.name!=a,",
    ",spec.nodeName=n1",
    "spec.nodeName!=a\\=b",
    "spec.nodeName!=\\\\",
    "spec.nodeName!=d e",
  ];
  const missing = ["status.phase=", "status.none.deep=", "spec=", "spec.nodeName!=n2", "spec.toString="];
  for (const text of [...holds, ...forms, ...missing]) assert(FieldSelector.parse(text).matches(pod), text);
  for (
    const text of ["spec.nodeName=n2", "spec.nodeName!=n1", "spec.nodeName=n1,metadata.name=x", "status.phase=null"]
  ) {
    assertFalse(FieldSelector.parse(text).matches(pod), text);
  }
  assertEquals(String(FieldSelector.parse("a=b")), "a=b");
  assertEquals([FieldSelector.parse("").isEmpty, FieldSelector.parse("a=").isEmpty], [true, false]);
});

Deno.test("FieldSelector passes through arrays, of whose values one is equal or none, and reads keys in brackets", () => {
  const object = { spec: { containers: [{ image: "a" }, { image: "b" }] }, metadata: { labels: { "x.y/z": "1" } } };
  const holds = [
    "spec.containers.image=b",
    "spec.containers.image!=c",
    'metadata.labels["x.y/z"]=1',
    "spec.containers=",
  ];
  for (const text of holds) assert(FieldSelector.parse(text).matches(object), text);
  const fails = [
    "spec.containers.image=c",
    "spec.containers.image!=a",
    "spec.containers.image=",
    "metadata.labels.x.y/z=1",
  ];
  for (const text of fails) assertFalse(FieldSelector.parse(text).matches(object), text);
  assertThrows(() => FieldSelector.parse('metadata["a=1'), SyntaxError, "Cannot read the field path");
});

Deno.test("FieldSelector names the character that it cannot parse", () => {
  const cases: [string, string][] = [
    ["spec.nodeName", 'found "spec.nodeName" at character 1'],
    ["a=b,c", 'found "c" at character 5'],
    ["=x", 'found "=" at character 1'],
    ["a=b=c", 'found "=" at character 4'],
    ["a=\\x", 'found "\\" at character 3, expected "\\\\" in a value'],
    ["a=b\\", 'found "\\" at character 4'],
    ["a===b", 'found "=" at character 4, expected "\\=" in a value'],
    ["a=b,!=d", 'found "!=" at character 5, expected the name of a field before it'],
  ];
  for (const [text, message] of cases) assertThrows(() => FieldSelector.parse(text), SyntaxError, message);
});
