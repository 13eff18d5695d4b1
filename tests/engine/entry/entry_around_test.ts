import { assert, assertEquals, assertFalse, assertStrictEquals, assertThrows } from "@std/assert";
import { sameVersion } from "../../../src/engine/api/entry.ts";
import type { KubernetesObject } from "../../../src/engine/api/object.ts";
import { DecodeError } from "../../../src/engine/api/status.ts";
import { brokenEntry, entryOf, type JsonEntry, unreadEntry } from "../../../src/engine/entry/entry.ts";
import { entryWithin } from "../../../src/engine/entry/entry_around.ts";
import { RowEntry } from "../../../src/engine/entry/row_entry.ts";
import { TextTemplates } from "../../../src/engine/entry/text_templates.ts";
import { holdCompactly } from "./_compact.ts";
import { asFrozen, IDENTITY, METADATA, parses, TEXT, type Thing, unread } from "../_unread.ts";

Deno.test("frozenEntry freezes values deeply when they are read, and parses nothing before", () => {
  const entry = unread();
  const frozen = asFrozen(entry);
  assertStrictEquals(asFrozen(frozen), frozen);
  const count = parses(() => {
    assertEquals(
      [frozen.key, frozen.namespace, frozen.name, frozen.uid, frozen.resourceVersion, frozen.error],
      ["shop/cart-0", "shop", "cart-0", "u-1", "7", undefined],
    );
    assert(sameVersion(frozen, unread()));
  });
  assertEquals(count, 0);
  const labels = asFrozen(unread(TEXT, METADATA, `{"app":"cart"}`)).labels as Record<string, string>;
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

Deno.test("frozenEntry freezes plain objects and arrays, and leaves others of a transform as they are", () => {
  const annotations = { bytes: new Uint8Array(1), at: new Date(0), map: new Map(), part: {} };
  const broken = {
    get part(): never {
      throw new TypeError("a getter of a program");
    },
  };
  const identity = { name: "cart-0", namespace: "shop", uid: "u-1", resourceVersion: "7", creationTimestamp: "" };
  const object = { metadata: { ...identity, annotations: annotations as never }, broken };
  const frozen = asFrozen(entryOf(object));
  assertStrictEquals(frozen.object, object);
  assertEquals(frozen.error, undefined);
  assertEquals([object, object.metadata, annotations, annotations.part].map(Object.isFrozen), Array(4).fill(true));
  assertEquals([annotations.bytes, annotations.at, annotations.map].map(Object.isFrozen), Array(3).fill(false));
  assertThrows(() => object.broken.part, TypeError, "a getter of a program");
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
  let object: unknown = asFrozen(entryOf({ metadata })).object;
  let depth = 0;
  for (; typeof object === "object" && object !== null; depth++) {
    assert(Object.isFrozen(object));
    object = Object.values(object).at(-1);
  }
  assert(depth > 100_000);
});

Deno.test("frozenEntry of a broken entry is broken", () => {
  const error = new DecodeError("Cannot read it");
  const frozen = asFrozen(brokenEntry<Thing>(IDENTITY, error));
  assertStrictEquals(frozen.error, error);
  assertStrictEquals(assertThrows(() => frozen.object), error);
  assertFalse(sameVersion(frozen, frozen));
});

Deno.test("entryWithin is the entry of the object, also of a frozen row, and the entry itself if it is around none", () => {
  const entry = unread();
  const row = new RowEntry(entry);
  assertEquals([entry, row, asFrozen(row)].map(entryWithin), [entry, entry, entry]);
  const read = entryOf(entry.object);
  assertStrictEquals(entryWithin(asFrozen(read)), read);
});

function compacted(): JsonEntry<KubernetesObject> {
  const templates = new TextTemplates();
  const [other, entry] = ["a", "b"].map((name) => {
    const text = `{"metadata":{"name":"${name}","note":"${"x".repeat(400)}"}}`;
    return unreadEntry<KubernetesObject>(IDENTITY, text, 12, text.length - 1);
  });
  assertEquals([other, entry].map((entry) => holdCompactly(entry, templates)), [false, true]);
  return entry;
}

Deno.test("An entry around a compact one saves as much", () => {
  const entry = compacted();
  assertEquals(new RowEntry(entry).savedBytes, entry.savedBytes);
  assert(entry.savedBytes > 0);
});

Deno.test("A frozen compact entry saves as much as the entry inside", () => {
  const entry = compacted();
  const saved = entry.savedBytes;
  assertEquals(asFrozen(entry).savedBytes, saved);
  const metadata = { name: "a", uid: "", resourceVersion: "", creationTimestamp: "" };
  assertEquals(asFrozen(entryOf({ metadata })).savedBytes ?? 0, 0);
});
