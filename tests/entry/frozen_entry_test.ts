import { assert, assertEquals, assertFalse, assertStrictEquals, assertThrows } from "@std/assert";
import { sameVersion } from "../../src/api/entry.ts";
import { DecodeError } from "../../src/api/errors.ts";
import { entryOf } from "../../src/entry/entry_of.ts";
import { frozenEntry } from "../../src/entry/frozen_entry.ts";
import { brokenEntry } from "../../src/entry/json_entry.ts";
import { IDENTITY, METADATA, parses, TEXT, type Thing, unread } from "./_unread.ts";

Deno.test("frozenEntry freezes values deeply when they are read, and parses nothing before", () => {
  const entry = unread();
  const frozen = frozenEntry(entry);
  assertStrictEquals(frozenEntry(frozen), frozen);
  const count = parses(() => {
    assertEquals(
      [frozen.key, frozen.namespace, frozen.name, frozen.uid, frozen.resourceVersion, frozen.error],
      ["shop/cart-0", "shop", "cart-0", "u-1", "7", undefined],
    );
    assert(sameVersion(frozen, unread()));
  });
  assertEquals(count, 0);
  const labels = frozenEntry(unread(TEXT, METADATA, `{"app":"cart"}`)).labels as Record<string, string>;
  assertThrows(() => labels.app = "x", TypeError);
  assertEquals(labels, { app: "cart" });
  const { metadata } = frozen;
  assertThrows(() => (metadata.labels as Record<string, string>).app = "x", TypeError);
  assertThrows(() => frozen.object.spec.containers[0].name = "x", TypeError);
  assertThrows(() => frozen.object.spec.containers.push({ name: "x" }), TypeError);
  assertThrows(() => (frozen.metadata.labels as Record<string, string>).app = "x", TypeError);
  assertStrictEquals(frozen.object, entry.object);
  assertEquals(frozen.object, JSON.parse(TEXT));
});

Deno.test("frozenEntry of an object that cannot be frozen is broken from its first read on", () => {
  for (const read of ["object", "metadata"] as const) {
    const annotations = { bytes: new Uint8Array(1) } as unknown as Readonly<Record<string, string>>;
    const identity = { name: "cart-0", namespace: "shop", uid: "u-1", resourceVersion: "7" };
    const frozen = frozenEntry(entryOf({ metadata: { ...identity, creationTimestamp: "", annotations } }));
    assertEquals(frozen.error, undefined);
    const error = assertThrows(
      () => frozen[read],
      DecodeError,
      'Cannot freeze "shop/cart-0"',
    );
    assert(error.cause instanceof TypeError);
    for (const again of ["object", "metadata", "labels"] as const) {
      assertStrictEquals(assertThrows(() => frozen[again]), error);
    }
    assertStrictEquals(frozen.error, error);
    assertEquals([frozen.key, frozen.name, frozen.uid, frozen.resourceVersion], ["shop/cart-0", "cart-0", "u-1", "7"]);
  }
});

Deno.test("frozenEntry freezes objects that are nested more deeply than the call stack allows", () => {
  let nested: unknown = {};
  for (let depth = 0; depth < 100_000; depth++) nested = { nested };
  const metadata = {
    name: "a",
    uid: "u-1",
    resourceVersion: "7",
    creationTimestamp: "",
    annotations: nested as Readonly<Record<string, string>>,
  };
  let object: unknown = frozenEntry(entryOf({ metadata })).object;
  let depth = 0;
  for (; typeof object === "object" && object !== null; depth++) {
    assert(Object.isFrozen(object));
    object = Object.values(object).at(-1);
  }
  assert(depth > 100_000);
});

Deno.test("frozenEntry of a broken entry is broken", () => {
  const error = new DecodeError("Cannot read it");
  const frozen = frozenEntry(brokenEntry<Thing>(IDENTITY, error));
  assertStrictEquals(frozen.error, error);
  assertStrictEquals(assertThrows(() => frozen.object), error);
  assertFalse(sameVersion(frozen, frozen));
});
