import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import type { CacheEntry } from "../../../../src/engine/api/entry.ts";
import { DecodeError } from "../../../../src/engine/api/status.ts";
import { brokenEntry, unreadEntry } from "../../../../src/engine/entry/entry.ts";
import { Quarantine, unknownFields } from "../../../../src/engine/informer/cache/entry_transform.ts";
import { type Thing, unparsable } from "../../../support/sources/fixtures.ts";

const READS: Readonly<Record<string, (quarantine: Quarantine<Thing>, entry: CacheEntry<Thing>) => unknown>> = {
  object: (quarantine, entry) => quarantine.objectOf(entry),
  metadata: (quarantine, entry) => quarantine.read(entry, (it) => it.metadata),
  labels: (quarantine, entry) => quarantine.read(entry, (it) => it.labels),
};

for (const [name, read] of Object.entries(READS)) {
  Deno.test(`Quarantine ${name} throws for a broken entry, reports it once, and counts it while it is cached`, () => {
    const error = new DecodeError("Cannot parse", { key: "shop/cart" });
    const broken = brokenEntry<Thing>({ key: "shop/cart", namespace: "shop", uid: "u", resourceVersion: "1" }, error);
    const reported: unknown[] = [];
    let isCached = false;
    const quarantine = new Quarantine<Thing>((error) => reported.push(error), () => isCached);
    assertStrictEquals(assertThrows(() => read(quarantine, broken)), error);
    assertEquals([reported, quarantine.size], [[error], 0]);
    isCached = true;
    assertThrows(() => read(quarantine, broken));
    assertEquals([reported, quarantine.size], [[error], 1]);
    quarantine.release("shop/cart");
    assertEquals(quarantine.size, 0);
  });
}

/** Unread entries of these objects, and the count of those that were parsed. */
function entries(...objects: object[]): CacheEntry<unknown>[] {
  return objects.map((object, i) => {
    const identity = { key: `${i}`, namespace: "", uid: "", resourceVersion: "1" };
    return unreadEntry(identity, JSON.stringify({ metadata: {}, ...object }), 12, 14);
  });
}

Deno.test("unknownFields returns the paths that lead to a value in no entry, through arrays, and counts null as a value", async () => {
  const given = entries({ spec: { a: null } }, { spec: { b: [[{ c: 1 }]] } }, { status: "spec.d" });
  assertEquals(
    await unknownFields(given, ["spec.a", "spec.b.c", "spec.d", "status.x", "metadata.labels"]),
    ["spec.d", "status.x", "metadata.labels"],
  );
  assertEquals(await unknownFields(entries(), ["spec.a"]), []);
});

Deno.test("unknownFields takes an object that cannot be read for one without the fields", async () => {
  const given = [unparsable("a", 1), ...entries({ spec: { a: 1 } })];
  assertEquals(await unknownFields(given, ["spec.a", "spec.b"]), ["spec.b"]);
});

Deno.test("unknownFields parses no entry whose text lacks the last key of a path", async () => {
  const given = entries(...Array.from({ length: 2_500 }, () => ({ spec: { a: 1 } })));
  assertEquals(await unknownFields(given, ["spec.z"]), ["spec.z"]);
  assertEquals(given.filter((entry) => (entry as { text?: unknown }).text === undefined), []);
});
