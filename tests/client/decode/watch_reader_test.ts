import { assert, assertEquals, assertInstanceOf, assertRejects, assertStrictEquals } from "@std/assert";
import fc from "fast-check";
import { DecodeError, StatusError } from "../../../src/api/status.ts";
import {
  bodyOf,
  changePortrait,
  cutAt,
  inChunksOf,
  messageOf,
  Pod,
  readChanges,
  utf8Of,
  watchReading,
} from "../../support/bodies.ts";
import { asRead, chunking, memberText } from "../../support/texts.ts";

/** One event as the server writes it. */
function event(type: string, object: unknown): string {
  return JSON.stringify({ type, object }) + "\n";
}

function pod(name: string, resourceVersion: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    kind: "Pod",
    apiVersion: "v1",
    metadata: {
      name,
      namespace: "shop",
      uid: `uid-${name}`,
      resourceVersion,
      managedFields: [{ manager: "kubelet", fieldsV1: { "f:spec": { 'k:{"name":"app"}': {} } } }],
    },
    ...more,
  };
}

function bookmark(resourceVersion: string, annotations?: Record<string, string>): string {
  return event("BOOKMARK", { kind: "Pod", apiVersion: "v1", metadata: { resourceVersion, annotations } });
}

const RECORDED = event("ADDED", pod("a", "1", { spec: { note: `]},"x\\ "quoted" }{` } })) +
  event("ADDED", pod("日本", "2", { spec: { note: "ä🦕" } })) + "\r\n" +
  `{"type": "MODIFIED", "object": ${JSON.stringify(pod("b", "3"))}}\r\n` +
  bookmark("4", { "k8s.io/initial-events-end": "true" }) +
  event("DELETED", pod("a", "5", { spec: { note: "\u2028" } })) +
  `{"type":"DELETED","object":${JSON.stringify(pod("c", "6"))},"extra":[1]}\n`;

const TOLD = [
  ["ADDED", "shop/a", "1"],
  ["ADDED", "shop/日本", "2"],
  ["MODIFIED", "shop/b", "3"],
  ["BOOKMARK", "", "4"],
  ["DELETED", "shop/a", "5"],
  ["DELETED", "shop/c", "6"],
];

Deno.test("WatchReader decodes every change of a body, without managedFields", async () => {
  const { values, error } = await watchReading([utf8Of(RECORDED)]);
  assertEquals(error, undefined);
  assertEquals(
    values.map((change) =>
      change.type === "BOOKMARK"
        ? ["BOOKMARK", "", change.resourceVersion]
        : [change.type, change.entry.key, change.entry.resourceVersion]
    ),
    TOLD,
  );
  const first = values[0];
  assert(first.type === "ADDED");
  const { managedFields: _dropped, ...metadata } = pod("a", "1").metadata as { managedFields: unknown };
  assertEquals(first.entry.object as unknown, { ...pod("a", "1"), metadata, spec: { note: `]},"x\\ "quoted" }{` } });
  const kept = await watchReading([utf8Of(RECORDED)], { managedFields: "keep" });
  const same = kept.values[0];
  assert(same.type === "ADDED");
  assertEquals(same.entry.metadata.managedFields?.length, 1);
});

Deno.test("WatchReader reads the same changes wherever the body is split in two, by either kind of reader [C136]", async () => {
  const bytes = utf8Of(RECORDED);
  const expected = JSON.stringify((await watchReading([bytes])).values.map(changePortrait));
  for (const kind of ["bytes", "default"] as const) {
    for (let at = 0; at <= bytes.length; at++) {
      const { values, error } = await watchReading(cutAt(bytes, at), { kind });
      if (error !== undefined) throw error;
      if (JSON.stringify(values.map(changePortrait)) !== expected) throw new Error(`split at ${at}: other changes`);
    }
  }
});

Deno.test("WatchReader decodes the same as JSON.parse, for any objects in any chunks", async () => {
  const lines = fc.array(fc.tuple(fc.constantFrom("ADDED", "MODIFIED", "DELETED"), memberText, fc.nat(5)), {
    maxLength: 4,
  });
  await fc.assert(
    fc.asyncProperty(
      lines,
      chunking,
      fc.constantFrom("bytes", "default"),
      fc.boolean(),
      async (lines, chunks, kind, drop) => {
        const text = lines.map(([type, object, layout]) => {
          const flat = /\n/.test(object) ? JSON.stringify(JSON.parse(object)) : object; // a line has no line breaks
          if (layout === 0) return `{"object":${flat},"type":"${type}"}\n`;
          if (layout === 1) return `{"type":"${type}","object":${flat},"more":{"object":1}}\r\n`;
          return `{"type":"${type}","object":${flat}}\n`;
        }).join("");
        const { values, error } = await watchReading(chunks(utf8Of(text)), {
          kind: kind as "bytes" | "default",
          managedFields: drop ? "drop" : "keep",
        });
        if (error !== undefined) throw error;
        assertEquals(values.length, lines.length);
        values.forEach((change, index) => {
          const [type, object] = lines[index];
          assertEquals(change.type, type);
          if (change.type === "BOOKMARK" || change.entry.error !== undefined) return;
          assertEquals(JSON.stringify(change.entry.object), JSON.stringify(asRead(JSON.parse(object), { drop })));
        });
      },
    ),
    { numRuns: 400, seed: 20_260_703 },
  );
});

Deno.test("WatchReader does not parse a last line that the end of the body cut off", async () => {
  const bytes = utf8Of(event("ADDED", pod("a", "1")) + event("ADDED", pod("b", "2")).trimEnd());
  for (const kind of ["bytes", "default"] as const) {
    const { values, error } = await watchReading([bytes], { kind });
    assertEquals(error, undefined);
    assertEquals(values.map((change) => change.type === "BOOKMARK" ? "" : change.entry.key), ["shop/a"]);
  }
  assertEquals(await watchReading([]), { values: [] });
  assertEquals(await watchReading([utf8Of("\n\r\n  \n")]), { values: [] });
});

Deno.test("WatchReader yields one batch per chunk, even if it is empty", async () => {
  const text = event("ADDED", pod("a", "1")) + event("ADDED", pod("b", "2"));
  const { stream } = bodyOf(cutAt(utf8Of(text), 10, 20, text.length - 5));
  const sizes: number[] = [];
  for await (const batch of readChanges(stream, { resource: Pod, managedFields: "drop" })) sizes.push(batch.length);
  assertEquals(sizes, [0, 0, 1, 1]);
});

Deno.test('WatchReader recognizes the bookmark that ends the initial events only by the value "true" [C040]', async () => {
  const text = bookmark("1") + bookmark("2", {}) + bookmark("3", { "k8s.io/initial-events-end": "false" }) +
    bookmark("4", { "k8s.io/initial-events-end": "" }) + bookmark("5", { "k8s.io/initial-events-end": "True" }) +
    bookmark("6", { "k8s.io/initial-events-end": "true" });
  const { values } = await watchReading([utf8Of(text)]);
  assertEquals(
    values,
    ["1", "2", "3", "4", "5", "6"].map((resourceVersion) => ({
      type: "BOOKMARK",
      resourceVersion,
      initialEventsEnd: resourceVersion === "6",
    })),
  );
});

Deno.test("WatchReader refuses a bookmark without a version", async () => {
  for (
    const object of [
      {},
      { metadata: {} },
      { metadata: { resourceVersion: "" } },
      { metadata: { resourceVersion: 5 } },
      null,
    ]
  ) {
    const reading = await watchReading([utf8Of(event("BOOKMARK", object))]);
    assertInstanceOf(reading.error, DecodeError);
    assert(messageOf(reading).startsWith(`Cannot read a bookmark of "pods": found `), messageOf(reading));
  }
});

Deno.test("WatchReader yields the changes before an ERROR event, then throws its Status", async () => {
  const status = { kind: "Status", code: 410, reason: "Expired", message: "too old resource version: 1 (9)" };
  const text = event("ADDED", pod("a", "1")) + event("MODIFIED", pod("a", "2")) + event("ERROR", status) +
    event("ADDED", pod("never", "3"));
  for (const chunks of [[utf8Of(text)], inChunksOf(utf8Of(text), 1), inChunksOf(utf8Of(text), 50)]) {
    const { values, error } = await watchReading(chunks);
    assertEquals(values.map((change) => change.type === "BOOKMARK" ? "" : change.entry.resourceVersion), ["1", "2"]);
    assertInstanceOf(error, StatusError);
    assertEquals([error.status.code, error.status.reason], [410, "Expired"]);
    assertEquals(error.message, `Cannot go on watching "pods": 410 Expired: too old resource version: 1 (9)`);
  }
});

Deno.test("WatchReader refuses a line that is not a watch event, after yielding the changes before it", async () => {
  const cases = [
    [`<html><body>Please log in</body></html>`, "expected a line of JSON; is a proxy or a login page in between?"],
    [`{"type":"ADDED","object":{"metadata": {}`, `Cannot read an object of "pods": `],
    [`{"type":"ADDED","object":{"metadata": 1`, "expected a line of JSON"],
    [`not JSON`, `found "not JSON", expected a line of JSON`],
    [`{"type":"EXPLODED","object":{}}`, "expected a known type"],
    [`{"object":{}}`, "expected a known type"],
    [`null`, "expected a known type"],
    [`[]`, "expected a known type"],
    [`{"type":"ADDED","object":null}`, "found null, expected an object with metadata"],
    [`{"type":"ADDED","object":{"kind":"Pod"}}`, "expected an object with metadata"],
    [`{"type":"ADDED"}`, "found undefined, expected an object with metadata"],
    [`{"type":"ADDED","object":`, "expected a line of JSON"],
    [`{"type":"ADDED","object":}`, `Cannot read an object of "pods": `],
  ];
  for (const [line, message] of cases) {
    const reading = await watchReading([utf8Of(`${event("ADDED", pod("a", "1"))}${line}\n`)]);
    assertEquals(reading.values.length, 1, line);
    assertInstanceOf(reading.error, DecodeError);
    assert(messageOf(reading).startsWith("Cannot read an "), messageOf(reading));
    assert(messageOf(reading).includes(message), messageOf(reading));
    assert(messageOf(reading).length < 300);
  }
});

Deno.test("WatchReader makes a broken entry of an object without a name, and continues", async () => {
  const nameless = { kind: "Pod", metadata: { namespace: "shop" } };
  const text = event("ADDED", nameless) + event("ADDED", { ...pod("x", "1"), metadata: { name: 7 } }) +
    event("ADDED", pod("a", "2"));
  const { values, error } = await watchReading([utf8Of(text)]);
  assertEquals(error, undefined);
  assertEquals(values.map((change) => change.type === "BOOKMARK" ? "" : change.entry.key), ["", "", "shop/a"]);
  assert(values[0].type === "ADDED" && values[1].type === "ADDED");
  assertEquals(values[0].entry.error?.message, `Cannot file Pod in namespace "shop": it has no metadata.name`);
  assertInstanceOf(values[1].entry.error, DecodeError);
});

Deno.test("WatchReader makes a broken entry of a Table, and reads a Table of another group as an object", async () => {
  const text =
    event("ADDED", { kind: "Table", apiVersion: "meta.k8s.io/v1", metadata: { resourceVersion: "5" }, rows: [] }) +
    event("ADDED", { kind: "Table", apiVersion: "acme.dev/v1", metadata: { name: "oak", resourceVersion: "6" } });
  const { values, error } = await watchReading([utf8Of(text)]);
  assertEquals(error, undefined);
  assert(values[0].type === "ADDED" && values[1].type === "ADDED");
  assertEquals([values[0].entry.key, values[0].entry.error instanceof DecodeError], ["", true]);
  assertEquals([values[1].entry.key, values[1].entry.error], ["oak", undefined]);
});

Deno.test("WatchReader keeps an entry whose text is broken after its metadata, which throws when it is read", async () => {
  const line = `{"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"1"},"spec":{"x":}}}\n`;
  const { values, error } = await watchReading([utf8Of(line + event("ADDED", pod("b", "2")))]);
  assertEquals(error, undefined);
  assertEquals(values.length, 2);
  assert(values[0].type === "ADDED");
  const { entry } = values[0];
  assertEquals([entry.key, entry.error], ["a", undefined]);
  const thrown = await assertRejects(() => Promise.resolve().then(() => entry.object), DecodeError, `Cannot parse "a"`);
  assertStrictEquals(entry.error, thrown);
});

Deno.test("WatchReader refuses a line longer than maxObjectBytes, in one chunk or several", async () => {
  const small = event("ADDED", pod("a", "1"));
  const text = small + event("ADDED", pod("b", "2", { data: "x".repeat(1_000) }));
  for (const size of [1, 100, text.length]) {
    const reading = await watchReading(inChunksOf(utf8Of(text), size), { maxObjectBytes: small.length });
    assertEquals(reading.values.length, 1);
    assertInstanceOf(reading.error, DecodeError);
    assert(messageOf(reading).includes(`longer than ${small.length} bytes; raise maxObjectBytes`), messageOf(reading));
  }
});
