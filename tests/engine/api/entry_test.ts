import { assert, assertEquals, assertFalse } from "@std/assert";
import { type CacheEntry, type Identity, sameVersion } from "../../../src/engine/api/entry.ts";
import { unreadEntry } from "../../../src/engine/entry/entry.ts";
import { IDENTITY, parses, TEXT, type Thing, unread } from "../_unread.ts";

Deno.test("sameVersion compares uid and resourceVersion, parses nothing, and is false without a version", () => {
  const with_ = (identity: Partial<Identity>): CacheEntry<Thing> =>
    unreadEntry<Thing>({ ...IDENTITY, ...identity }, TEXT, 0, 0);
  const count = parses(() => {
    assert(sameVersion(unread(), unread()));
    assertFalse(sameVersion(unread(), with_({ uid: "u-2" })));
    assertFalse(sameVersion(unread(), with_({ resourceVersion: "8" })));
    assertFalse(sameVersion(with_({ resourceVersion: "" }), with_({ resourceVersion: "" })));
  });
  assertEquals(count, 0);
});
