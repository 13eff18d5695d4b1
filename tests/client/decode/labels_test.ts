import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { Entry } from "../../../src/api/options.ts";
import type { KubernetesObject } from "../../../src/api/object.ts";
import { ObjectReader } from "../../support/readers.ts";
import { Pod, utf8Of } from "../../support/bodies.ts";
import { asRead, memberText } from "../../support/texts.ts";

/** Reads a text in each of the ways that it may come: alone, or as a list's item, its managedFields kept or not. */
function* readings(text: string): Generator<{ readonly entry: () => Entry<KubernetesObject>; readonly drop: boolean }> {
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
function check(text: string): number {
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
    fc.property(memberText, (text) => void (labelled += check(text))),
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
      labelled += check(`{${(first ? [metadata, spec] : [rest, metadata, spec]).join(",")}}`);
    }),
    { numRuns: 700, seed: 20_261_122 },
  );
  assert(labelled > 700, `only ${labelled} had labels`);
});
