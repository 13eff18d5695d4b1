import { assert, assertEquals, assertFalse } from "@std/assert";
import fc from "npm:fast-check@^4.10.2";
import type { CacheEntry } from "../../../src/engine/api/entry.ts";
import type { KubernetesObject } from "../../../src/engine/api/object.ts";
import { JsonWalker } from "../../../src/engine/entry/json_text.ts";
import { Pod, utf8Of } from "../../support/sources/bodies.ts";
import { ObjectReader } from "../_readers.ts";
import { asRead, memberText, objectText } from "../_texts.ts";

const decoder = new TextDecoder();
const FIELDS = ["name", "namespace", "uid", "resourceVersion"] as const;

/** The findings of a walker, as text; `undefined` when it declined. */
function walked(text: string, before = "", after = ""): Found | undefined {
  const bytes = utf8Of(before + text + after);
  const start = utf8Of(before).length;
  const end = start + utf8Of(text).length;
  const walker = new JsonWalker();
  if (!walker.walk(bytes, start, end)) return undefined;
  const part = (from: number, to: number): string => decoder.decode(bytes.subarray(from, to));
  const range = (from: number, to: number): string | undefined => from === -1 ? undefined : part(from, to);
  return {
    name: range(walker.nameStart, walker.nameEnd),
    namespace: range(walker.namespaceStart, walker.namespaceEnd),
    uid: range(walker.uidStart, walker.uidEnd),
    resourceVersion: range(walker.versionStart, walker.versionEnd),
    metadata: part(walker.metadataStart, walker.metadataEnd),
    rest: walker.cutStart === -1 ? undefined : part(start, walker.cutStart) + part(walker.cutEnd, end),
    metadataFirst: walker.metadataFirst,
    typed: walker.typed,
  };
}

interface Found {
  readonly name?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly metadata: string;
  /** The text without managedFields, where it had them. */
  readonly rest?: string;
  readonly metadataFirst: boolean;
  readonly typed: boolean;
}

/** Fails where the walker and JSON.parse see different objects; returns whether it declined. */
function agrees(text: string, before = "", after = ""): boolean {
  const found = walked(text, before, after);
  if (found === undefined) return false;
  const object = JSON.parse(text);
  const metadata = object.metadata;
  for (const field of FIELDS) {
    const expected = Object.hasOwn(metadata, field) ? metadata[field] : undefined;
    if (found[field] !== expected) {
      throw new Error(`found ${field} "${found[field]}", expected "${expected}" in ${text}`);
    }
  }
  assertEquals(JSON.stringify(JSON.parse(found.metadata)), JSON.stringify(metadata));
  assertEquals(found.rest !== undefined, Object.hasOwn(metadata, "managedFields"));
  if (found.rest !== undefined) {
    assertEquals(JSON.stringify(JSON.parse(found.rest)), JSON.stringify(asRead(object, { drop: true })));
  }
  const keys = Object.keys(object);
  const at = keys.indexOf("metadata");
  assertEquals(found.metadataFirst, at === 0);
  const before_ = keys.slice(0, at);
  assertEquals(found.typed, before_.includes("kind") && before_.includes("apiVersion"));
  return true;
}

Deno.test("JsonWalker agrees with JSON.parse or declines, and never declines plain JSON", () => {
  let accepted = 0;
  const surroundings = fc.constantFrom(
    ["", ""],
    [`{"items":[`, `,{"metadata":{"name":"other","managedFields":[]}}]}`],
    [`{"type":"ADDED","object":`, `}\n{"type":"ADDED"`],
    [`"metadata":{"name":"before"},`, `,"metadata":{"name":"after"}}`],
  );
  fc.assert(
    fc.property(objectText, surroundings, ({ text, plain }, [before, after]) => {
      const answered = agrees(text, before, after);
      if (answered) accepted++;
      else if (plain) throw new Error(`declined ${text}`);
    }),
    { numRuns: 2_000, seed: 20_260_701 },
  );
  assert(accepted > 700, `only ${accepted} of 2000 were walked`);
});

Deno.test("JsonWalker cuts out managedFields at any place in metadata", () => {
  const fields = `[{"manager":"a","fieldsV1":{"f:spec":{"k:{\\"name\\":\\"x\\"}":{}}}}]`;
  const cases: [string, string][] = [
    [`{"managedFields":${fields},"name":"a"}`, `{"name":"a"}`],
    [`{"name":"a","managedFields":${fields}}`, `{"name":"a"}`],
    [`{"name":"a","managedFields":${fields},"uid":"u"}`, `{"name":"a","uid":"u"}`],
    [`{"managedFields":${fields}}`, `{}`],
    [`{"managedFields":[],"name":"a"}`, `{"name":"a"}`],
    [`{"name":"a","managedFields":null}`, `{"name":"a"}`],
    [`{"name":"a","managedFields":{"a":[1,"]"]},"uid":"u"}`, `{"name":"a","uid":"u"}`],
    [`{"name":"a","managedFields":[{"m":["x"]},"]},\\"x"],"uid":"u"}`, `{"name":"a","uid":"u"}`],
    [`{"name":"a","managedFields":["]},","x"],"uid":"u"}`, `{"name":"a","uid":"u"}`],
    [`{"name":"a","managedFields":["],"],"uid":"u"}`, `{"name":"a","uid":"u"}`],
    [`{"name":"a","managedFields":[{"m":"]},\\"x"}],"uid":"u"}`, `{"name":"a","uid":"u"}`],
    [`{"name":"a","managedFields":["\\\\"],"uid":"u"}`, `{"name":"a","uid":"u"}`],
    [
      `{"name":"a","managedFields":["\\\\\\"]},\\"x"],"labels":{"managedFields":"[]"}}`,
      `{"name":"a","labels":{"managedFields":"[]"}}`,
    ],
  ];
  for (const [metadata, rest] of cases) {
    const texts = [
      [
        `{"kind":"Pod","apiVersion":"v1","metadata":${metadata},"spec":{"a":[1]}}`,
        `{"kind":"Pod","apiVersion":"v1","metadata":${rest},"spec":{"a":[1]}}`,
      ],
      [`{"metadata":${metadata}}`, `{"metadata":${rest}}`],
      [`{"spec":{"managedFields":[1]},"metadata":${metadata}}`, `{"spec":{"managedFields":[1]},"metadata":${rest}}`],
    ];
    for (const [text, expected] of texts) {
      assertEquals(walked(text)?.rest, expected);
      assert(agrees(text));
    }
  }
});

Deno.test("JsonWalker reads the object's own metadata, not a nested or later one", () => {
  const found = walked(
    `{"spec":{"template":{"metadata":{"name":"wrong"}}},"metadata":{"labels":{"name":"wrong"},"name":"right"},"status":{"metadata":{"name":"wrong"}}}`,
    `{"metadata":{"name":"wrong"},"x":`,
    `,"metadata":{"name":"wrong"}}`,
  );
  assertEquals(found?.name, "right");
  assertEquals(found?.metadataFirst, false);
  assertEquals(found?.uid, undefined);
});

Deno.test("JsonWalker declines JSON that it might misread", () => {
  const texts = [
    `{"spec": {"a":1,"metadata":{"name":"wrong"}},"metadata":{"name":"right"}}`,
    `{"spec": "a,","metadata":{"name":"right"}}`,
    `{ "metadata":{"name":"a"}}`,
    `{"metadata" :{"name":"a"}}`,
    `{"metadata": {"name":"a"}}`,
    `{"metadata":{"labels": {"a":"b","name":"wrong"},"name":"right"}}`,
    `{"metadata":{"name":"a" }}`,
    `{"met\\u0061data":{"name":"wrong"},"metadata":{"name":"a"}}`,
    `{"metadata":{"n\\u0061me":"a"}}`,
    `{"metadata":{"name":"\\u0061"}}`,
    `{"metadata":{"name":"ä"}}`,
    `{"metadata":{"name":7}}`,
    `{"metadata":{"uid":null}}`,
    `{"metadata":null}`,
    `{"metadata":[]}`,
    `{"metadata":"x"}`,
    `{"kind":"Pod"}`,
    `{}`,
    `[{"metadata":{"name":"a"}}]`,
    `"metadata"`,
    `null`,
    ``,
  ];
  for (const text of texts) assertFalse(walked(text) !== undefined, text);
});

Deno.test("JsonWalker never reads past the end of its input", () => {
  const text = `{"kind":"Pod","metadata":{"name":"web","managedFields":[{"a":{}}],"uid":"u"},"spec":{}}`;
  const complete = text.indexOf(`,"spec"`);
  for (let end = 0; end < complete; end++) {
    const bytes = utf8Of(text);
    assertFalse(new JsonWalker().walk(bytes, 0, end), text.slice(0, end));
  }
});

/** Reads a text in each of the ways that it may come: alone, or as a list's item, its managedFields kept or not. */
function* readings(
  text: string,
): Generator<{ readonly entry: () => CacheEntry<KubernetesObject>; readonly drop: boolean }> {
  const bytes = utf8Of(text);
  for (const drop of [true, false]) {
    for (const filled of [true, false]) {
      const reader = new ObjectReader<KubernetesObject>({ resource: Pod, managedFields: drop ? "drop" : "keep" });
      if (filled) reader.fillIn("Pod", "v1");
      yield { entry: () => reader.read(bytes, 0, bytes.length), drop };
    }
  }
}

/** That an entry's labels are those that JSON.parse finds, whatever is read before; how many entries had any. */
function checkLabels(text: string): number {
  let labelled = 0;
  for (const { entry, drop } of readings(text)) {
    const expected = (asRead(JSON.parse(text), { drop }).metadata as { labels?: unknown }).labels ?? undefined;
    const alone = entry();
    if (alone.error !== undefined) continue;
    assertEquals(alone.labels, expected);
    if (expected !== undefined) labelled++;
    assertEquals([alone.metadata.labels ?? undefined, alone.labels], [expected, expected]);
    assertEquals([alone.object.metadata.labels ?? undefined, alone.labels], [expected, expected]);
    const afterMetadata = entry();
    assertEquals([afterMetadata.metadata.labels ?? undefined, afterMetadata.labels], [expected, expected]);
    const afterObject = entry();
    assertEquals([afterObject.object.metadata.labels ?? undefined, afterObject.labels], [expected, expected]);
  }
  return labelled;
}

Deno.test("Entry labels equal those of JSON.parse in texts with look-alike members", () => {
  let labelled = 0;
  fc.assert(
    fc.property(memberText, (text) => void (labelled += checkLabels(text))),
    { numRuns: 700, seed: 20_261_121 },
  );
  assert(labelled > 70, `only ${labelled} had labels`);
});

const word = fc.constantFrom(
  "app",
  "web",
  "日本",
  "ä",
  "}",
  "{",
  '"',
  "\\",
  ',"labels":{',
  "a/b",
  "",
  "labels",
  '{"labels":{"x":"y"}}',
);
/** V8 15.0 decodes keys wrongly once it has seen a backslash in one. */
const key = fc.constantFrom("app", "a.b/c", "日本", "}", "{", "labels", "", ",", "__proto__");
const map = fc.array(fc.tuple(key, word), { maxLength: 4 }).map((pairs) =>
  `{${pairs.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(",")}}`
);
/** Members of metadata as their texts, so that keys may come twice or with escapes. */
const member = fc.oneof(
  { weight: 4, arbitrary: map.map((text) => `"labels":${text}`) },
  map.map((text) => `"l\\u0061bels":${text}`),
  map.map((text) => `"labels": ${text}`),
  fc.constantFrom("null", "1", '"a"', "[]", "{}", '[{"labels":{}}]', '{"a":{"b":"c"}}', '{"a":1}').map((value) =>
    `"labels":${value}`
  ),
  map.map((text) => `"annotations":${text}`),
  map.map((text) => `"annotations":{"labels":"x","last":${JSON.stringify(text)}}`),
  map.map((text) => `"managedFields":[{"fieldsV1":{"f:metadata":{"labels":${text}}}}]`),
  map.map((text) => `"ownerReferences":[{"labels":${text},"uid":"u-2"}]`),
  word.map((text) => `"generateName":${JSON.stringify(text)}`),
  fc.constantFrom('"uid":"u-1"', '"resourceVersion":"7"', '"namespace":"shop"', '"generation":1', '"label":{"a":"b"}'),
);

Deno.test("Entry labels equal those of JSON.parse with metadata in any order, repeated keys and escaped keys", () => {
  let labelled = 0;
  fc.assert(
    fc.property(fc.array(member, { maxLength: 6 }), fc.nat(6), fc.boolean(), (members, at, first) => {
      const metadata = `"metadata":{${members.toSpliced(at, 0, '"name":"cart-0"').join(",")}}`;
      const rest = `"kind":"Pod","apiVersion":"v1"`;
      const spec = `"spec":{"labels":{"of":"spec"},"metadata":{"labels":{"of":"template"}}}`;
      labelled += checkLabels(`{${(first ? [metadata, spec] : [rest, metadata, spec]).join(",")}}`);
    }),
    { numRuns: 700, seed: 20_261_122 },
  );
  assert(labelled > 700, `only ${labelled} had labels`);
});
