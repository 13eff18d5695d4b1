import { assertEquals, assertThrows } from "@std/assert";
import { ObjectSelection } from "../../../src/edge/objects/object_selection.ts";

const parse = (query: string): ObjectSelection => ObjectSelection.parse(new URLSearchParams(query));

Deno.test("the same objects and fields make the same selection, in whatever order they are given", () => {
  const { id } = parse("namespace=shop&fields=spec.nodeName,status.phase");
  assertEquals(parse("fields=status.phase&namespace=shop&fields=spec.nodeName&fields=spec.nodeName").id, id);
  assertEquals(parse("labelSelector=a=b").id, parse("labelSelector=a == b").id);
  assertEquals(parse("").id === id, false);
});

Deno.test("a path may have a comma in quotes", () => {
  const object = { metadata: { name: "a", annotations: { "x,y": "1", z: "2" } } };
  const json = parse(`fields=${encodeURIComponent('metadata.annotations["x,y"]')},spec`).json(object as never);
  assertEquals(JSON.parse(json).metadata, { name: "a", annotations: { "x,y": "1" } });
});

Deno.test("a list of paths that does not parse is refused", () => {
  for (const list of ["", ",", "a,", ",a", "a,,b", 'a["b', 'a["b]', "a b"]) {
    assertThrows(() => parse(`fields=${encodeURIComponent(list)}`), SyntaxError, "Cannot read the field path", list);
  }
});
