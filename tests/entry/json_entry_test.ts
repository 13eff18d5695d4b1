import {
  assert,
  assertEquals,
  assertFalse,
  assertNotStrictEquals,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import { sameVersion } from "../../src/api/entry.ts";
import { DecodeError } from "../../src/api/errors.ts";
import type { KubernetesObject } from "../../src/api/object.ts";
import { entryOf } from "../../src/entry/entry_of.ts";
import { brokenEntry } from "../../src/entry/json_entry.ts";
import { IDENTITY, METADATA, parses, TEXT, type Thing, unread } from "./_unread.ts";

Deno.test("unreadEntry has the object's identity without parsing it", () => {
  const entry = unread();
  const count = parses(() => {
    assertEquals(
      [entry.key, entry.namespace, entry.name, entry.uid, entry.resourceVersion, entry.error],
      ["shop/cart-0", "shop", "cart-0", "u-1", "7", undefined],
    );
  });
  assertEquals(count, 0);
});

Deno.test("unreadEntry parses the object once, and remembers it", () => {
  const entry = unread();
  assertEquals(parses(() => assertStrictEquals(entry.object, entry.object)), 1);
  assertEquals(entry.object, JSON.parse(TEXT));
  assertEquals(parses(() => assertStrictEquals(entry.metadata, entry.object.metadata)), 0);
});

Deno.test("unreadEntry parses metadata alone and once, and returns the object's own metadata once the object is parsed", () => {
  const entry = unread();
  assertEquals(parses(() => assertStrictEquals(entry.metadata, entry.metadata)), 1);
  assertEquals(entry.metadata, JSON.parse(METADATA));
  const alone = entry.metadata;
  assertEquals(parses(() => void entry.object), 1);
  assertNotStrictEquals(entry.metadata, alone);
  assertStrictEquals(entry.metadata, entry.object.metadata);
  assertEquals(alone, entry.metadata);
});

Deno.test("unreadEntry reads UTF-8 bytes, with positions in bytes", () => {
  const metadata = METADATA.replace('cart"}', '日本🦕"}');
  const text = `{"note":"ä日","metadata":${metadata},"spec":{"containers":[]}}`;
  const entry = unread(new TextEncoder().encode(text), metadata);
  assertEquals(entry.metadata.labels, { app: "日本🦕" });
  assertEquals(entry.object, JSON.parse(text));
});

Deno.test("unreadEntry ignores members after the object in its event", () => {
  for (const behind of [`,"extra":1`, `,"a":{"metadata":{"name":"wrong"}},"b":[]`]) {
    for (const text of [TEXT + behind, new TextEncoder().encode(TEXT + behind)]) {
      const entry = unread(text);
      assertEquals(entry.metadata.name, "cart-0");
      assertEquals(entry.object, JSON.parse(TEXT));
      assertEquals(entry.error, undefined);
    }
  }
});

Deno.test("unreadEntry of broken text throws the same DecodeError to every reader, and is broken from then on", () => {
  const entry = unread(TEXT.replace(`"spec":{`, `"spec":{{`));
  assertEquals(entry.metadata.name, "cart-0");
  assert(sameVersion(entry, unread()), "no read has failed yet");
  const error = assertThrows(() => entry.object, DecodeError);
  assertEquals(error.key, "shop/cart-0");
  assertEquals(error.message, `Cannot parse "shop/cart-0" at version 7`);
  assert(error.cause instanceof SyntaxError);
  assertStrictEquals(entry.error, error);
  assertEquals(parses(() => assertStrictEquals(assertThrows(() => entry.object), error)), 0);
  assertFalse(sameVersion(entry, unread()));
  assertFalse(sameVersion(unread(), entry));
  assertFalse(sameVersion(entry, entry));
});

Deno.test("unreadEntry whose metadata cannot be parsed is broken: every read throws", () => {
  const text = TEXT.replace(`"labels":{`, `"labels":[`);
  const entry = unread(text, METADATA.replace(`"labels":{`, `"labels":[`));
  const error = assertThrows(() => entry.metadata, DecodeError);
  assertStrictEquals(assertThrows(() => entry.metadata), error);
  assertStrictEquals(assertThrows(() => entry.object), error);
  assertStrictEquals(entry.error, error);
});

Deno.test("unreadEntry parses labels alone and once, and returns those of the metadata or object once that is parsed", () => {
  const entry = unread(TEXT, METADATA, `{"app":"cart"}`);
  const texts: string[] = [];
  const count = parses(() => assertStrictEquals(entry.labels, entry.labels), texts);
  assertEquals([count, texts], [1, [`{"app":"cart"}`]]);
  assertEquals(entry.labels, { app: "cart" });
  const alone = entry.labels;
  assertEquals(parses(() => void entry.metadata), 1);
  assertEquals(entry.metadata, JSON.parse(METADATA));
  assertEquals(parses(() => assertStrictEquals(entry.labels, entry.metadata.labels)), 0);
  assertEquals(parses(() => void entry.object), 1);
  assertEquals(parses(() => assertStrictEquals(entry.labels, entry.object.metadata.labels)), 0);
  assertEquals(alone, entry.labels);
  const object = unread(TEXT, METADATA, `{"app":"cart"}`);
  assertEquals(parses(() => assertStrictEquals(object.object.metadata.labels, object.labels)), 1);
});

Deno.test("unreadEntry reads labels from UTF-8 bytes, with positions in bytes", () => {
  const metadata = METADATA.replace('"cart"}', '"日本🦕"}').replace('"name"', '"note":"ä","name"');
  const text = `{"note":"ä日","metadata":${metadata},"spec":{"containers":[]}}`;
  const entry = unread(new TextEncoder().encode(text), metadata, `{"app":"日本🦕"}`);
  assertEquals(parses(() => assertEquals(entry.labels, { app: "日本🦕" })), 1);
  assertEquals(entry.object, JSON.parse(text));
});

Deno.test("unreadEntry parses nothing when there are no labels, and the metadata when the labels' position is unknown", () => {
  const metadata = METADATA.replace(`,"labels":{"app":"cart"}`, "");
  const none = unread(TEXT.replace(METADATA, metadata), metadata, "");
  assertEquals(parses(() => assertEquals(none.labels, undefined)), 0);
  const texts: string[] = [];
  const unplaced = unread();
  assertEquals(
    parses(() => assertEquals([unplaced.labels, unplaced.labels], Array(2).fill({ app: "cart" })), texts),
    1,
  );
  assertEquals(texts, [METADATA]);
});

Deno.test("unreadEntry whose labels cannot be parsed is broken: every read throws", () => {
  const labels = `{"app":"cart",}`;
  const metadata = METADATA.replace(`{"app":"cart"}`, labels);
  const entry = unread(TEXT.replace(METADATA, metadata), metadata, labels);
  const error = assertThrows(() => entry.labels, DecodeError);
  assertEquals(error.message, `Cannot parse "shop/cart-0" at version 7`);
  for (const read of [() => entry.labels, () => entry.metadata, () => entry.object]) {
    assertStrictEquals(assertThrows(read), error);
  }
  assertStrictEquals(entry.error, error);
});

Deno.test("Entry labels of a parsed object are its own, and undefined where they are missing or null", () => {
  const object = JSON.parse(TEXT) as Thing;
  assertStrictEquals(entryOf(object).labels, object.metadata.labels);
  for (const labels of ["", `,"labels":null`]) {
    const text = TEXT.replace(`,"labels":{"app":"cart"}`, labels);
    const metadata = METADATA.replace(`,"labels":{"app":"cart"}`, labels);
    assertEquals([entryOf(JSON.parse(text) as Thing).labels, unread(text, metadata).labels], [undefined, undefined]);
  }
});

Deno.test("brokenEntry keeps its identity and throws its error", () => {
  const error = new DecodeError("Cannot read it", { key: "shop/cart-0" });
  const entry = brokenEntry<KubernetesObject>(IDENTITY, error);
  assertEquals([entry.key, entry.name, entry.uid, entry.resourceVersion], ["shop/cart-0", "cart-0", "u-1", "7"]);
  assertStrictEquals(entry.error, error);
  assertStrictEquals(assertThrows(() => entry.object), error);
  assertStrictEquals(assertThrows(() => entry.metadata), error);
  assertStrictEquals(assertThrows(() => entry.labels), error);
});
