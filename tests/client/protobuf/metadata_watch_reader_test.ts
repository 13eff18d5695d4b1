import { assertEquals, assertInstanceOf } from "@std/assert";
import fc from "fast-check";
import { DecodeError, StatusError } from "../../../src/api/errors.ts";
import { joinBytes } from "../../../src/testing/wire/byte_body.ts";
import { changePortrait, cutAt, inChunksOf, watchReading } from "../decode/_bodies.ts";
import { eventBytes, failure, field, partial, PodMetadata, randomMetadata, watched } from "./_messages.ts";

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

const MISTAKES: readonly (readonly [name: string, bytes: Uint8Array, message: string])[] = [
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

for (const [name, bytes, message] of MISTAKES) {
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
