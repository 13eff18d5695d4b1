import { assert, assertEquals, assertFalse } from "@std/assert";
import { type Entry, type Identity, sameVersion } from "../../src/api/entry.ts";
import { unreadEntry } from "../../src/entry/json_entry.ts";
import { IDENTITY, parses, TEXT, type Thing, unread } from "../entry/_unread.ts";

Deno.test("sameVersion compares uid and resourceVersion, parses nothing, and is false without a version", () => {
  const with_ = (identity: Partial<Identity>): Entry<Thing> =>
    unreadEntry<Thing>({ ...IDENTITY, ...identity }, TEXT, 0, 0);
  const count = parses(() => {
    assert(sameVersion(unread(), unread()));
    assertFalse(sameVersion(unread(), with_({ uid: "u-2" })));
    assertFalse(sameVersion(unread(), with_({ resourceVersion: "8" })));
    assertFalse(sameVersion(with_({ resourceVersion: "" }), with_({ resourceVersion: "" })));
  });
  assertEquals(count, 0);
});
