import { assertEquals } from "@std/assert";
import * as fc from "fast-check";
import { mergeDiff } from "../../../src/reconcile/objects/merge_diff.ts";
import { mergePatch } from "../../../src/testing/patches/merge_patch.ts";
import type { Json } from "../../../src/testing/wire/json.ts";

/** JSON whose members are never null, as objects of the API server are. */
const json = fc.letrec<{ readonly value: unknown; readonly members: unknown }>((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, fc.integer(), fc.string(), fc.boolean(), fc.array(tie("value")), tie("members")),
  members: fc.dictionary(fc.constantFrom("a", "b", "c"), tie("value")),
}));

Deno.test("mergeDiff returns a merge patch that turns one object into the other", () => {
  fc.assert(fc.property(json.members, json.members, (before, after) => {
    const patch = mergeDiff(before, after);
    const result = patch === undefined ? before : mergePatch(before as Json, patch as Json);
    assertEquals(JSON.parse(JSON.stringify(result)), JSON.parse(JSON.stringify(after)));
  }));
});

Deno.test("mergeDiff returns undefined for equal objects, whatever the order of their members", () => {
  fc.assert(fc.property(json.members, (before) => {
    const reversed = Object.fromEntries(Object.entries(before as object).reverse());
    assertEquals(mergeDiff(before, structuredClone(reversed)), undefined);
  }));
  assertEquals(mergeDiff({ a: undefined, b: null }, {}), undefined);
});

Deno.test("mergeDiff names only what differs", () => {
  assertEquals(
    mergeDiff({ a: { b: 1, c: [1] }, d: 1, e: "x" }, { a: { b: 2, c: [1] }, e: "x", f: [] }),
    { a: { b: 2 }, d: null, f: [] },
  );
});
