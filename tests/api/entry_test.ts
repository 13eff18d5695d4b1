import {
  assert,
  assertEquals,
  assertFalse,
  assertNotStrictEquals,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import {
  brokenEntry,
  type Entry,
  entryOf,
  frozenEntry,
  type Identity,
  sameVersion,
  unreadEntry,
} from "../../src/api/entry.ts";
import { DecodeError } from "../../src/api/errors.ts";
import type { KubernetesObject } from "../../src/api/object.ts";

const IDENTITY: Identity = { key: "shop/cart-0", namespace: "shop", uid: "u-1", resourceVersion: "7" };
const METADATA = `{"name":"cart-0","namespace":"shop","uid":"u-1","resourceVersion":"7","labels":{"app":"cart"}}`;
const TEXT = `{"kind":"Pod","metadata":${METADATA},"spec":{"containers":[{"name":"app"}]}}`;

interface Thing extends KubernetesObject {
  readonly spec: { readonly containers: { name: string }[] };
}

/** An entry of `text`, told where `metadata` is in it, and where `labels` are in that, `""` when there are none. */
function unread(text: string | Uint8Array = TEXT, metadata = METADATA, labels?: string): Entry<Thing> {
  const whole = typeof text === "string" ? text : new TextDecoder().decode(text);
  const length = (part: string): number =>
    typeof text === "string" ? part.length : new TextEncoder().encode(part).length;
  const start = length(whole.slice(0, whole.indexOf(metadata)));
  const end = start + length(metadata);
  if (labels === undefined) return unreadEntry<Thing>(IDENTITY, text, start, end);
  const labelsStart = start + length(metadata.slice(0, metadata.indexOf(labels)));
  return unreadEntry<Thing>(IDENTITY, text, start, end, labelsStart, labelsStart + length(labels));
}

/** How often JSON.parse is called while `act` runs. */
function parses(act: () => void, texts: string[] = []): number {
  const original = JSON.parse;
  let count = 0;
  JSON.parse = (text: string): unknown => {
    count++;
    texts.push(text);
    return original(text);
  };
  try {
    act();
  } finally {
    JSON.parse = original;
  }
  return count;
}

Deno.test("unreadEntry says who the object is without parsing it", () => {
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

Deno.test("unreadEntry parses metadata alone and once, and the object's own once that is there", () => {
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

Deno.test("unreadEntry overlooks members that stand behind the object in its envelope", () => {
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
  assert(sameVersion(entry, unread()), "nobody knows yet");
  const error = assertThrows(() => entry.object, DecodeError);
  assertEquals(error.key, "shop/cart-0");
  assert(error.message.startsWith(`Cannot parse "shop/cart-0" at version 7: `), error.message);
  assert(error.cause instanceof SyntaxError);
  assertStrictEquals(entry.error, error);
  assertEquals(parses(() => assertStrictEquals(assertThrows(() => entry.object), error)), 0);
  assertFalse(sameVersion(entry, unread()));
  assertFalse(sameVersion(unread(), entry));
  assertFalse(sameVersion(entry, entry));
});

Deno.test("unreadEntry whose metadata can not be parsed is broken as a whole", () => {
  const text = TEXT.replace(`"labels":{`, `"labels":[`);
  const entry = unread(text, METADATA.replace(`"labels":{`, `"labels":[`));
  const error = assertThrows(() => entry.metadata, DecodeError);
  assertStrictEquals(assertThrows(() => entry.metadata), error);
  assertStrictEquals(assertThrows(() => entry.object), error);
  assertStrictEquals(entry.error, error);
});

Deno.test("unreadEntry parses labels alone and once, and has the metadata's or the object's once that is there", () => {
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

Deno.test("unreadEntry that is told of no labels parses nothing for them, and the metadata where it is not told", () => {
  const metadata = METADATA.replace(`,"labels":{"app":"cart"}`, "");
  const none = unread(TEXT.replace(METADATA, metadata), metadata, "");
  assertEquals(parses(() => assertEquals(none.labels, undefined)), 0);
  const texts: string[] = [];
  const untold = unread();
  assertEquals(parses(() => assertEquals([untold.labels, untold.labels], Array(2).fill({ app: "cart" })), texts), 1);
  assertEquals(texts, [METADATA]);
});

Deno.test("unreadEntry whose labels can not be parsed is broken as a whole", () => {
  const labels = `{"app":"cart",}`;
  const metadata = METADATA.replace(`{"app":"cart"}`, labels);
  const entry = unread(TEXT.replace(METADATA, metadata), metadata, labels);
  const error = assertThrows(() => entry.labels, DecodeError);
  assert(error.message.startsWith(`Cannot parse "shop/cart-0" at version 7: `), error.message);
  for (const read of [() => entry.labels, () => entry.metadata, () => entry.object]) {
    assertStrictEquals(assertThrows(read), error);
  }
  assertStrictEquals(entry.error, error);
});

Deno.test("Entry labels of an object that is there are its own, and undefined where they are missing or null", () => {
  const object = JSON.parse(TEXT) as Thing;
  assertStrictEquals(entryOf(object).labels, object.metadata.labels);
  for (const labels of ["", `,"labels":null`]) {
    const text = TEXT.replace(`,"labels":{"app":"cart"}`, labels);
    const metadata = METADATA.replace(`,"labels":{"app":"cart"}`, labels);
    assertEquals([entryOf(JSON.parse(text) as Thing).labels, unread(text, metadata).labels], [undefined, undefined]);
  }
});

Deno.test("entryOf files an object under its key", () => {
  const object = JSON.parse(TEXT) as Thing;
  const entry = entryOf(object);
  assertEquals(
    [entry.key, entry.namespace, entry.name, entry.uid, entry.resourceVersion, entry.error],
    ["shop/cart-0", "shop", "cart-0", "u-1", "7", undefined],
  );
  assertStrictEquals(entry.object, object);
  assertStrictEquals(entry.metadata, object.metadata);
  const node = entryOf({ metadata: { name: "node-1", uid: "", resourceVersion: "" } });
  assertEquals([node.key, node.namespace, node.name], ["node-1", "", "node-1"]);
});

Deno.test("entryOf makes a broken entry of an object without a name", () => {
  const nameless = { kind: "Pod", metadata: { namespace: "shop" } } as unknown as KubernetesObject;
  const entry = entryOf(nameless);
  assertEquals(entry.key, "");
  assertEquals(entry.error?.message, `Cannot file Pod in namespace "shop": it has no metadata.name`);
  assertStrictEquals(assertThrows(() => entry.object), entry.error);
  assertStrictEquals(assertThrows(() => entry.metadata), entry.error);
  for (const value of [{}, { metadata: {} }, { metadata: { name: "" } }, null, undefined]) {
    assertEquals(entryOf(value as unknown as KubernetesObject).key, "");
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

Deno.test("sameVersion compares uid and resourceVersion, parses nothing, and takes no version for unknown", () => {
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

Deno.test("frozenEntry freezes what is read, deeply, and reads nothing before", () => {
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
    const object = { metadata: { name: "cart-0", namespace: "shop", uid: "u-1", resourceVersion: "7", annotations } };
    const frozen = frozenEntry(entryOf(object));
    assertEquals(frozen.error, undefined);
    const error = assertThrows(
      () => frozen[read],
      DecodeError,
      'Cannot freeze "shop/cart-0": Cannot freeze array buffer',
    );
    for (const again of ["object", "metadata", "labels"] as const) {
      assertStrictEquals(assertThrows(() => frozen[again]), error);
    }
    assertStrictEquals(frozen.error, error);
    assertEquals([frozen.key, frozen.name, frozen.uid, frozen.resourceVersion], ["shop/cart-0", "cart-0", "u-1", "7"]);
  }
});

Deno.test("frozenEntry freezes objects that are nested deeper than the stack is", () => {
  let nested: unknown = {};
  for (let depth = 0; depth < 100_000; depth++) nested = { nested };
  const metadata = {
    name: "a",
    uid: "u-1",
    resourceVersion: "7",
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
