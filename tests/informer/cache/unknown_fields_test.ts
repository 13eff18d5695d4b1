import { assertEquals } from "@std/assert";
import type { Entry } from "../../../src/api/entry.ts";
import { unreadEntry } from "../../../src/entry/json_entry.ts";
import { unknownFields } from "../../../src/informer/cache/unknown_fields.ts";

/** Unread entries of these objects, and the count of those that were parsed. */
function entries(...objects: object[]): Entry<unknown>[] {
  return objects.map((object, i) => {
    const identity = { key: `${i}`, namespace: "", uid: "", resourceVersion: "1" };
    return unreadEntry(identity, JSON.stringify({ metadata: {}, ...object }), 12, 14);
  });
}

Deno.test("unknownFields returns the paths that lead to a value in no entry, through arrays, and counts null as a value", async () => {
  const given = entries({ spec: { a: null } }, { spec: { b: [[{ c: 1 }]] } }, { status: "spec.d" });
  assertEquals(await unknownFields(given, ["spec.a", "spec.b.c", "spec.d", "status.x", "metadata.labels"]), [
    "spec.d",
    "status.x",
    "metadata.labels",
  ]);
  assertEquals(await unknownFields(entries(), ["spec.a"]), []);
});

Deno.test("unknownFields parses no entry whose text lacks the last key of a path", async () => {
  const given = entries(...Array.from({ length: 2_500 }, () => ({ spec: { a: 1 } })));
  assertEquals(await unknownFields(given, ["spec.z"]), ["spec.z"]);
  assertEquals(given.filter((entry) => (entry as { text?: unknown }).text === undefined), []);
});
