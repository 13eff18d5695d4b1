import { assertEquals, assertInstanceOf, assertStrictEquals, assertThrows } from "@std/assert";
import { keyOf, type KubernetesObject, type ObjectMeta } from "../../../src/api/object.ts";
import { DecodeError, StatusError } from "../../../src/api/status.ts";
import { joinBytes } from "../../../src/testing/wire/byte_body.ts";
import type { JsonObject } from "../../../src/testing/wire/json.ts";
import { protobufMessage, writeProtobuf } from "../../../src/testing/wire/protobuf.ts";
import { changePortrait, cutAt, inChunksOf, watchReading } from "../decode/_bodies.ts";
import {
  eventBytes,
  failure,
  field,
  listBytes,
  listObjects,
  listParts,
  partial,
  PodMetadata,
  randomMetadata,
  watched,
} from "./_messages.ts";
import fc from "fast-check";

const ITEMS = [
  partial({ name: "a", namespace: "shop", uid: "u1", resourceVersion: "1", labels: { app: "web", tier: "" } }),
  partial({ name: "日本", namespace: "shop", uid: "u2", resourceVersion: "2" }),
  partial({ name: "c", uid: "u3", resourceVersion: "3" }),
];

/** Without managedFields, as informers keep metadata. */
function dropped(item: JsonObject): JsonObject {
  const { managedFields: _, ...metadata } = item.metadata as JsonObject;
  return { ...item, metadata };
}

Deno.test("MetadataListReader gives the objects, versions and tokens of a list, however its chunks are split", () => {
  const bytes = listBytes(ITEMS, { resourceVersion: "9", continue: "token", remainingItemCount: 0 });
  for (let size = 1; size < 40; size++) {
    const parts = listParts(inChunksOf(bytes, size));
    assertEquals(
      parts.flatMap(({ entries }) => entries.map(({ object }) => structuredClone(object))) as unknown,
      ITEMS,
    );
    const about = parts.filter(({ resourceVersion }) => resourceVersion !== undefined);
    for (const { entries: _, ...metadata } of about) {
      assertEquals(metadata, { resourceVersion: "9", continue: "token", remainingItemCount: 0 });
    }
    assertEquals(about.length, 2); // the part that knows it first, and the last one
  }
});

Deno.test("MetadataListReader gives an entry the identity and the labels of its object", () => {
  const [{ entries }] = listParts([listBytes(ITEMS)]);
  assertEquals(
    entries.map(({ key, namespace, name, uid, resourceVersion }) => [
      key,
      namespace,
      name,
      uid,
      resourceVersion,
    ]),
    [
      ["shop/a", "shop", "a", "u1", "1"],
      ["shop/日本", "shop", "日本", "u2", "2"],
      ["c", "", "c", "u3", "3"],
    ],
  );
  assertEquals(entries.map(({ labels }) => labels), [{ app: "web", tier: "" }, undefined, undefined]);
});

Deno.test("metadata in protobuf reads as the server's JSON does: values, absence and the order of keys", () => {
  fc.assert(
    fc.property(
      fc.array(randomMetadata, { maxLength: 4 }),
      fc.boolean(),
      fc.array(fc.nat(4_000), { maxLength: 6 }),
      (all, keep, cuts) => {
        const items = all.map(partial);
        const chunks = cutAt(listBytes(items), ...cuts.toSorted((a, b) => a - b));
        const parts = listParts(chunks, { managedFields: keep ? "keep" : "drop" });
        const entries = parts.flatMap(({ entries }) => entries);
        for (const [at, { key, namespace, uid, resourceVersion, labels }] of entries.entries()) {
          const metadata = all[at] as unknown as ObjectMeta;
          assertEquals(
            { key, namespace, uid, resourceVersion, labels },
            {
              key: keyOf({ metadata }),
              namespace: metadata.namespace ?? "",
              uid: metadata.uid ?? "",
              resourceVersion: metadata.resourceVersion ?? "",
              labels: metadata.labels,
            },
          );
        }
        const objects = entries.map(({ object }) => object);
        assertEquals(
          objects.map((it) => JSON.stringify(it)),
          items.map((it) => JSON.stringify(keep ? it : dropped(it))),
        );
      },
    ),
    { numRuns: 300 },
  );
});

Deno.test("an entry has the identity of its own object, with characters that JSON escapes, and without what is missing", () => {
  const odd = { name: 'a"', namespace: "\\n\n", uid: 'u"\\', resourceVersion: "1\n" };
  const bare = field(2, field(1, named()));
  const [{ entries }] = listParts([withItem(protobufMessage("PartialObjectMetadata", { metadata: odd }), bare)]);
  assertEquals(entries.map(({ key, uid, resourceVersion }) => [key, uid, resourceVersion]), [
    ['\\n\n/a"', 'u"\\', "1\n"],
    ["a", "", ""],
  ]);
});

Deno.test("metadata in protobuf has a generation beyond 2^53 as JSON.parse reads it, and negative numbers", () => {
  const ten = (...bytes: number[]): Uint8Array => new Uint8Array(bytes);
  const max = ten(7 << 3, 255, 255, 255, 255, 255, 255, 255, 255, 127); // 2^63 - 1
  const minus = ten(10 << 3, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1); // -1
  const name = field(1, new TextEncoder().encode("a"));
  const [object] = listObjects([withItem(field(1, name, max, minus))]);
  assertEquals(object.metadata.generation, JSON.parse("9223372036854775807"));
  assertEquals(object.metadata.deletionGracePeriodSeconds, -1);
});

Deno.test("MetadataListReader returns the known entry for an object of the same version", () => {
  const [{ entries: before }] = listParts([listBytes(ITEMS)]);
  const known = new Map(before.map((entry) => [entry.key, entry]));
  const changed = [ITEMS[0], partial({ ...ITEMS[1].metadata as JsonObject, resourceVersion: "4" }), {
    ...ITEMS[2],
    metadata: { ...ITEMS[2].metadata as JsonObject, uid: "u4" },
  }];
  const [{ entries }] = listParts([listBytes(changed)], { known: (key) => known.get(key) });
  assertStrictEquals(entries[0], before[0]);
  assertEquals(entries.map(({ uid, resourceVersion }) => [uid, resourceVersion]), [["u1", "1"], ["u2", "4"], [
    "u4",
    "3",
  ]]);
});

Deno.test("MetadataListReader makes a broken entry of an object without a name, and reads the others", () => {
  const [{ entries }] = listParts([listBytes([ITEMS[0], partial({ namespace: "shop" }), ITEMS[2]])]);
  assertEquals(entries.map(({ key, error }) => [key, error?.message]), [
    ["shop/a", undefined],
    ["", 'Cannot file metadata of "pods": it has no metadata.name'],
    ["c", undefined],
  ]);
});

Deno.test("MetadataListReader skips fields that it does not know", () => {
  const unknown = joinBytes(field(15, new Uint8Array([1, 2])), new Uint8Array([12 << 3 | 1, 1, 2, 3, 4, 5, 6, 7, 8]));
  const name = field(1, new TextEncoder().encode("a"));
  const item = joinBytes(unknown, field(1, unknown.subarray(0, 4), name, new Uint8Array([15 << 3 | 5, 1, 2, 3, 4])));
  assertEquals(structuredClone(listObjects([withItem(item)])), [partial({ name: "a" }) as unknown as KubernetesObject]);
});

Deno.test("MetadataListReader reads thousands of messages without a field, which JSON is longer than", () => {
  const owners = Array.from({ length: 10_000 }, () => field(13));
  const [object] = listObjects([withItem(field(1, named(), ...owners))]);
  assertEquals(object.metadata.ownerReferences as unknown, owners.map(() => ({})));
});

Deno.test("MetadataListReader throws the Status that a server sends in place of a list", () => {
  const error = assertThrows(() => listParts([writeProtobuf(failure(410, "Expired", { message: "too old" }))]));
  assertInstanceOf(error, StatusError);
  assertEquals(error.message, 'Cannot list "pods": 410 Expired: too old');
});

const LIST = listBytes(ITEMS);
const MISTAKES: readonly (readonly [name: string, bytes: Uint8Array, message: string])[] = [
  ["nothing", new Uint8Array(), "it is cut off"],
  ["a page of HTML", new TextEncoder().encode("<html>"), `it does not begin with "k8s", as protobuf does`],
  ["a list that is cut off", LIST.subarray(0, -40), "it is cut off"],
  ["an envelope that is cut off", LIST.subarray(0, -1), "it is cut off"],
  [
    "a list of another kind",
    writeProtobuf({ kind: "ConfigMap", apiVersion: "v1" }),
    'found an object of kind "ConfigMap"',
  ],
  ["a second list", joinBytes(LIST, LIST.subarray(4)), "found a second list"],
  ["an item with two metadata", withItem(joinBytes(field(1), field(1))), "found metadata twice"],
  ["an item that is no message", withItem(new Uint8Array([255])), "a field at byte"],
  ["a name that is a number", withItem(field(1, new Uint8Array([1 << 3, 1]))), "found the wire type 0 of field 1"],
  [
    "a label that is a number",
    withItem(field(1, named(), new Uint8Array([11 << 3, 1]))),
    "found the wire type 0 of field 11",
  ],
  ["a label behind other fields", withItem(field(1, named(), field(11), field(14), field(11))), "found field 11 again"],
  ["a name that occurs twice", withItem(field(1, named(), named())), "found field 1 again"],
  ["a group", withItem(field(1, named(), new Uint8Array([9 << 3 | 3]))), "found the wire type 3"],
  ["field 0", withItem(field(1, named(), new Uint8Array([2, 0]))), "found the tag 2"],
  [
    "a time of no year",
    withItem(field(1, named(), field(8, new Uint8Array([8, 255, 255, 255, 255, 255, 127])))),
    "found a time",
  ],
  [
    "a number of eleven bytes",
    withItem(field(1, named(), new Uint8Array([7 << 3, ...Array(11).fill(255)]))),
    "found a number of more than 10 bytes",
  ],
  [
    "a length beyond the list",
    joinBytes(LIST.subarray(0, 4), field(1, typeMeta()), new Uint8Array([18, 2, 18, 120])),
    "a field of the list ends behind the list",
  ],
];

function named(): Uint8Array {
  return field(1, new TextEncoder().encode("a"));
}

function typeMeta(): Uint8Array {
  const encoder = new TextEncoder();
  return joinBytes(field(1, encoder.encode("meta.k8s.io/v1")), field(2, encoder.encode("PartialObjectMetadataList")));
}

/** A list of one item, and more fields. */
function withItem(item: Uint8Array, ...more: readonly Uint8Array[]): Uint8Array {
  return joinBytes(new Uint8Array([0x6b, 0x38, 0x73, 0]), field(1, typeMeta()), field(2, field(2, item), ...more));
}

for (const [name, bytes, message] of MISTAKES) {
  Deno.test(`MetadataListReader refuses ${name}, whole and byte by byte`, () => {
    for (const chunks of [[bytes], inChunksOf(bytes, 1)]) {
      const error = assertThrows(() => listParts(chunks), DecodeError, message);
      assertEquals(error.message.startsWith('Cannot read the list of "pods": '), true);
    }
  });
}

Deno.test("MetadataListReader refuses an object that is longer than allowed before it has arrived", () => {
  const long = listBytes([partial({ name: "a", annotations: { a: "x".repeat(3_000) } })]);
  assertThrows(
    () => listParts([long.subarray(0, 200)], { maxObjectBytes: 1_000 }),
    DecodeError,
    "raise maxObjectBytes",
  );
  assertEquals(listObjects([long], { maxObjectBytes: 4_000 }).length, 1);
});

Deno.test("any change of a list's bytes leads to objects, or to a DecodeError or StatusError", () => {
  fc.assert(
    fc.property(
      fc.array(randomMetadata, { minLength: 1, maxLength: 3 }),
      fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { minLength: 1, maxLength: 4 }),
      fc.nat(),
      fc.boolean(),
      (all, changes, cut, keep) => {
        const bytes = listBytes(all.map(partial));
        for (const [at, value] of changes) bytes[at % bytes.length] = value;
        const chunks = cutAt(bytes, cut % bytes.length);
        try {
          for (const { entries } of listParts(chunks, { managedFields: keep ? "keep" : "drop" })) {
            for (const entry of entries) if (entry.error === undefined) void entry.object;
          }
        } catch (error) {
          if (!(error instanceof DecodeError) && !(error instanceof StatusError)) throw error;
        }
      },
    ),
    { numRuns: 1_000 },
  );
});

Deno.test("MetadataListReader reads names and namespaces in any order of the fields", () => {
  const text = (number: number, value: string): Uint8Array => field(number, new TextEncoder().encode(value));
  const fields = { 1: "web", 3: "shop", 5: "u", 6: "7" } as const;
  const generation = Uint8Array.of(7 * 8, 1);
  for (const order of [[1, 3, 5, 6, 7], [1, 5, 6, 7, 3], [5, 6, 7, 1, 3]] as const) {
    const metadata = joinBytes(...order.map((number) => number === 7 ? generation : text(number, fields[number])));
    const list = joinBytes(field(1, text(2, "9")), field(2, field(1, metadata)));
    const head = joinBytes(text(1, "meta.k8s.io/v1"), text(2, "PartialObjectMetadataList"));
    const body = joinBytes(Uint8Array.of(0x6b, 0x38, 0x73, 0), field(1, head), field(2, list));
    assertEquals(listObjects([body]).map(keyOf), ["shop/web"], String(order));
  }
});

const encoder = new TextEncoder();
const A = partial({ name: "a", namespace: "shop", uid: "u1", resourceVersion: "1", labels: { app: "web" } });
const B = partial({ name: "日本", namespace: "shop", uid: "u2", resourceVersion: "2", annotations: { a: 'ä🦕"\\' } });
const END = { "k8s.io/initial-events-end": "true" };
const EVENTS = [
  ["ADDED", A],
  ["BOOKMARK", partial({ resourceVersion: "3", annotations: END })],
  ["MODIFIED", B],
  ["DELETED", A],
  ["BOOKMARK", partial({ resourceVersion: "5" })],
] as const;
const BODY = joinBytes(...EVENTS.map(([type, object]) => eventBytes(type, object)));

Deno.test("MetadataWatchReader gives the changes that JSON gives, however the chunks are split", async () => {
  const lines = EVENTS.map(([type, object]) => `${JSON.stringify({ type, object })}\n`).join("");
  const { values } = await watchReading([encoder.encode(lines)], { resource: PodMetadata });
  const expected = values.map(changePortrait);
  for (let size = 1; size < 60; size++) {
    const { changes, error } = watched(inChunksOf(BODY, size));
    assertEquals(changes.map(changePortrait), expected);
    assertEquals(error, undefined);
  }
});

Deno.test("MetadataWatchReader gives an empty batch for a chunk in which no event ends, and drops the rest of a body", () => {
  assertEquals(watched([BODY.subarray(0, 20)]), { changes: [], error: undefined });
});

Deno.test("an ERROR event fails a watch of metadata with its Status, after the changes before it", () => {
  const details = {
    name: "a",
    group: "apps",
    kind: "pods",
    causes: [{ reason: "ResourceVersionTooLarge", message: "Too large" }],
    retryAfterSeconds: 2,
    uid: "u",
  };
  const status = failure(504, "Timeout", { message: "too new", details });
  const { changes, error } = watched([joinBytes(eventBytes("ADDED", A), eventBytes("ERROR", status), BODY)]);
  assertEquals(changes.length, 1);
  assertInstanceOf(error, StatusError);
  assertEquals(error.message, 'Cannot go on watching "pods": 504 Timeout: too new');
  const { code, reason, message, ...rest } = error.status;
  assertEquals([code, reason, message, rest], [504, "Timeout", "too new", { retryAfterSeconds: 2, details }]);
});

/** An envelope without a type. */
const BARE = joinBytes(new Uint8Array([0x6b, 0x38, 0x73, 0]), field(2));

const METADATA_WATCH_READER_MISTAKES: readonly (readonly [name: string, bytes: Uint8Array, message: string])[] = [
  ["an unknown type", eventBytes("CHANGED", A), 'found the type "CHANGED"'],
  ["an event without a type", framed(field(2, field(1))), 'found no "k8s"'],
  ["an event without an object", framed(field(1, encoder.encode("ADDED"))), "found an event without an object"],
  ["an object without a type", eventBytes("ADDED", A).map((byte, at) => at === 4 ? 26 : byte), "without a type"],
  [
    "an object without its bytes",
    framed(field(1, encoder.encode("ADDED")), field(2)),
    "found an event without an object",
  ],
  ["an object without the magic number", framed(field(2, field(1, encoder.encode("k9s")))), 'found no "k8s"'],
  ["an object of another kind", eventBytes("ADDED", { kind: "ConfigMap", apiVersion: "v1" }), 'of kind "ConfigMap"'],
  ["an object without a kind", framed(field(1, encoder.encode("ADDED")), field(2, field(1, BARE))), 'of kind ""'],
  ["a bookmark without a version", eventBytes("BOOKMARK", partial({})), "found a bookmark without a resourceVersion"],
  ["a frame whose length is wrong", joinBytes(new Uint8Array([0, 0, 0, 9]), BODY), "found the tag 0"],
  ["a line of JSON", encoder.encode('{"type":"ADDED","object":{}}\n'), "raise maxObjectBytes"],
];

/** A frame of a WatchEvent with these fields. */
function framed(...fields: readonly Uint8Array[]): Uint8Array {
  const event = joinBytes(...fields);
  return joinBytes(new Uint8Array([0, 0, 0, event.length]), event);
}

for (const [name, bytes, message] of METADATA_WATCH_READER_MISTAKES) {
  Deno.test(`MetadataWatchReader fails at ${name}, after the changes before it`, () => {
    const { changes, error } = watched([joinBytes(BODY, bytes)]);
    assertEquals(changes.length, EVENTS.length);
    assertInstanceOf(error, DecodeError);
    assertEquals(error.message.startsWith('Cannot read an event of "pods": '), true);
    assertEquals(error.message.includes(message), true, error.message);
  });
}

Deno.test("any change of a watch's bytes leads to changes, or to a DecodeError or StatusError", () => {
  fc.assert(
    fc.property(
      fc.array(randomMetadata, { minLength: 1, maxLength: 3 }),
      fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { minLength: 1, maxLength: 4 }),
      fc.nat(),
      (all, mistakes, cut) => {
        const bytes = joinBytes(...all.map((metadata) => eventBytes("MODIFIED", partial(metadata))));
        for (const [at, value] of mistakes) bytes[at % bytes.length] = value;
        const { changes, error } = watched(cutAt(bytes, cut % bytes.length));
        for (const change of changes) if (change.type !== "BOOKMARK" && !change.entry.error) void change.entry.object;
        assertEquals(error === undefined || error instanceof DecodeError || error instanceof StatusError, true);
      },
    ),
    { numRuns: 1_000 },
  );
});
