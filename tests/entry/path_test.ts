import { assert, assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import { DecodeError } from "../../src/api/errors.ts";
import type { Entry } from "../../src/api/entry.ts";
import { entryOf } from "../../src/entry/entry_of.ts";
import { frozenEntry } from "../../src/entry/frozen_entry.ts";
import { ofEntries, path } from "../../src/entry/path.ts";
import { valuesAt } from "../../src/entry/values_at.ts";
import { METADATA, parses, TEXT, type Thing, unread } from "./_unread.ts";

const name = path("spec.containers.name");

Deno.test("path reads an unread entry without parsing its object, and a parsed one without parsing anything", () => {
  const texts: string[] = [];
  for (const entry of [unread(), frozenEntry(unread()), unread(new TextEncoder().encode(TEXT))]) {
    parses(() => assertEquals(ofEntries(name)(entry), ["app"]), texts);
    void entry.object;
    assertEquals(parses(() => assertEquals(ofEntries(name)(entry), ["app"])), 0);
  }
  assertEquals(texts, ['"app"', '"app"', '"app"']);
});

Deno.test("path reads what is not ASCII, and keys in brackets", () => {
  const metadata = METADATA.replace("}", `},"annotations":{"example.com/owner":"日本","ä":"1"}`);
  const text = `{"note":"ä日","metadata":${metadata},"spec":{"containers":[]}}`;
  for (const entry of [unread(text, metadata), unread(new TextEncoder().encode(text), metadata)]) {
    assertEquals(valuesAt(entry, ["note"]), ["ä日"]);
    assertEquals(valuesAt(entry, ["metadata", "annotations", "ä"]), ["1"]);
    assertEquals(ofEntries<Thing, unknown>(path('metadata.annotations["example.com/owner"]'))(entry), ["日本"]);
  }
});

Deno.test("path parses an object whose layout it cannot read, and throws the error of one that cannot be parsed", () => {
  const spaced = unread(TEXT.replace('"spec":', '"spec": '));
  assertEquals(ofEntries(name)(spaced), ["app"]);
  assertEquals(parses(() => void spaced.object), 0);
  const unparsable = unread(TEXT.replace('"spec":{', '"spec":{{'));
  const error = assertThrows(() => ofEntries(name)(unparsable), DecodeError, 'Cannot parse "shop/cart-0" at version 7');
  assertStrictEquals(unparsable.error, error);
});

Deno.test("path is an index function and makes predicates, of objects as of entries", () => {
  const object = {
    metadata: { name: "a", uid: "u", resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z" },
    spec: {
      containers: [{ name: "app" }, { name: "proxy" }],
      replicas: 3,
      paused: false,
      empty: [],
      none: null,
      deep: {},
    },
  };
  const entry: Entry<typeof object> = entryOf(object);
  const predicates = [
    [path("spec.containers.name").equals("app"), true],
    [path("spec.containers.name").equals("none"), false],
    [path("spec.containers.name").notEquals("app"), false],
    [path("spec.containers.name").notEquals("none"), true],
    [path("spec.containers.name").in("none", "proxy"), true],
    [path("spec.containers.name").in(), false],
    [path("spec.replicas").equals(3), true],
    [path("spec.replicas").equals("3"), true],
    [path("spec.paused").in(false), true],
    [path("spec.paused").exists(), true],
    [path("spec.empty").exists(), false],
    [path("spec.none").exists(), false],
    [path("spec.none").notEquals("x"), true],
    [path("spec.deep").exists(), true],
    [path("spec.deep").equals("undefined"), false],
  ] as const;
  for (const [index, [predicate, expected]] of predicates.entries()) {
    assertEquals(
      [predicate(object), ofEntries<typeof object, boolean>(predicate)(entry)],
      [expected, expected],
      `${index}`,
    );
  }
  assertEquals(path("spec.replicas")(object), ["3"]);
  assertEquals(path("spec.deep")(object), []);
  assertEquals(path("spec.containers")(object), []);
  assertEquals(String(path("spec.containers.name")), "spec.containers.name");
  assert(ofEntries((thing: typeof object) => thing.spec.replicas === 3)(entry));
});

Deno.test("path refuses a text that is no path", () => {
  assertThrows(() => path("spec..name"), SyntaxError, "Cannot read the field path");
});
