import { assert, assertEquals, assertFalse } from "@std/assert";
import fc from "npm:fast-check@^4.10.2";
import type { CacheEntry } from "../../../src/engine/api/entry.ts";
import { FieldTree } from "../../../src/engine/api/fields.ts";
import type { KubernetesObject } from "../../../src/engine/api/object.ts";
import { defineResource } from "../../../src/engine/api/resource.ts";
import { ListReader, WatchReader } from "../../../src/engine/client/decode/readers.ts";
import { Projector } from "../../../src/engine/entry/projector.ts";
import { pickFields, Reduction } from "../../../src/engine/entry/reduction.ts";
import { causesOf } from "../../../src/engine/errors/errors.ts";
import { Pod, utf8Of } from "../../support/sources/bodies.ts";
import { asRead, chunking, KEYS, memberText } from "../_texts.ts";

const decoder = new TextDecoder();

const path = fc.tuple(
  fc.constantFrom("metadata", "metadata", "spec", "status", ...KEYS),
  fc.array(fc.constantFrom(...KEYS), { maxLength: 3 }),
).map(([first, rest]) => [first, ...rest].map((key) => `[${JSON.stringify(key)}]`).join(""));
const paths = fc.array(path, { maxLength: 8 });

/** The value without marks. */
const textOf = (value: unknown): string => JSON.stringify(value ?? null);

/** The entry's parts beside those of the object that the text has, as informers read it. */
function check(entry: CacheEntry<KubernetesObject>, text: string, fields: readonly string[], typed: boolean): boolean {
  const type = typed ? { kind: "Pod", apiVersion: "v1" } : {};
  const object = asRead(JSON.parse(text), { drop: false, ...type }) as unknown as KubernetesObject;
  const expected = Reduction.of(Pod, { fields })!.of(object);
  if (entry.error !== undefined) return false;
  const { metadata } = expected;
  assertEquals(entry.name, metadata.name);
  assertEquals(entry.namespace, metadata.namespace ?? "");
  assertEquals(entry.uid, metadata.uid ?? "");
  assertEquals(entry.resourceVersion, metadata.resourceVersion ?? "");
  const { labels } = pickFields(object.metadata, FieldTree.of(fields).members.get("metadata")!) as { labels?: unknown };
  // Only an object can hold labels; what else a text has there is read with the object.
  if (typeof labels === "object" || labels === undefined) assertEquals(textOf(entry.labels), textOf(labels));
  assertEquals<unknown>(entry.metadata, metadata);
  assertEquals<unknown>(entry.object, expected);
  return true;
}

Deno.test("WatchReader with fields yields what picking the fields of the parsed objects yields, however chunks are cut", () => {
  let read = 0;
  fc.assert(
    fc.property(fc.array(memberText, { minLength: 1, maxLength: 3 }), paths, chunking, (texts, fields, cut) => {
      const lines = texts.map((text) =>
        JSON.stringify(JSON.parse(text)) === text ? text : text.replace(/[\r\n]/g, " ")
      );
      const reader = new WatchReader({ resource: Pod, managedFields: "keep", fields });
      const body = utf8Of(lines.map((line) => `{"type":"MODIFIED","object":${line}}\n`).join(""));
      const changes = cut(body).flatMap((chunk) => {
        const batch = reader.push(chunk);
        chunk.fill(0); // the buffer is used again
        return batch;
      });
      assertEquals(reader.failure, undefined);
      assertEquals(changes.length, lines.length);
      changes.forEach((change, index) => {
        assert(change.type !== "BOOKMARK");
        if (check(change.entry, lines[index], fields, false)) read++;
      });
    }),
    { numRuns: 200 },
  );
  assert(read > 100, `${read} objects could be read`);
});

Deno.test("ListReader with fields yields what picking the fields of the parsed items yields, however chunks are cut", () => {
  let read = 0;
  fc.assert(
    fc.property(fc.array(memberText, { minLength: 1, maxLength: 3 }), paths, chunking, (texts, fields, cut) => {
      const reader = new ListReader({ resource: Pod, managedFields: "keep", fields });
      const body = utf8Of(
        `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[${texts.join()}]}`,
      );
      const entries = [
        ...cut(body).flatMap((chunk) => {
          const { entries } = reader.push(chunk);
          chunk.fill(0); // the buffer is used again
          return entries;
        }),
        ...reader.end().entries,
      ];
      assertEquals(entries.length, texts.length);
      entries.forEach((entry, index) => check(entry, texts[index], fields, true) && read++);
    }),
    { numRuns: 200 },
  );
  assert(read > 100, `${read} objects could be read`);
});

Deno.test("Projector copies the fields of a compact object, and never declines one with plain keys", () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 4 }), paths, paths, fc.nat(3), (json, fields, omitted, before) => {
      const text = JSON.stringify({ spec: JSON.parse(json), metadata: { name: "a", labels: { a: json } } });
      const tree = FieldTree.of(fields).without(omitted);
      const projector = new Projector(tree);
      const bytes = utf8Of("x".repeat(before) + text + ",");
      const behind = projector.project(bytes, before, bytes.length);
      if (behind === -1) {
        assert(text.includes("\\"), "only escapes make it decline");
        return;
      }
      assertEquals(behind, bytes.length - 1);
      const copy = decoder.decode(projector.bytes.subarray(0, projector.length));
      assertEquals(JSON.parse(copy), pickFields(JSON.parse(text), tree));
      assert(projector.projectWhole(bytes, before, bytes.length - 1));
      assertEquals(JSON.parse(decoder.decode(projector.bytes.subarray(0, projector.length))), JSON.parse(copy));
    }),
    { numRuns: 400 },
  );
});

Deno.test("Projector finds no end in an object that is cut off anywhere", () => {
  const text =
    `{"metadata":{"name":"a","managedFields":[{"x":{}}]},"spec":{"a":[{"b":1},2,null,[]],"c":"\\"}"},"status":null}`;
  const projector = new Projector(FieldTree.of(["spec.a.b", "status.phase"]));
  const bytes = utf8Of(text);
  for (let end = 0; end < bytes.length; end++) assertEquals(projector.project(bytes, 0, end), -1, text.slice(0, end));
  assertEquals(projector.project(bytes, 0, bytes.length), bytes.length);
  assertEquals(
    decoder.decode(projector.bytes.subarray(0, projector.length)),
    `{"metadata":{"name":"a"},"spec":{"a":[{"b":1},null,null,[]]},"status":null}`,
  );
});

Deno.test("WatchReader with fields drops managedFields if asked to, unless a path names them", () => {
  const metadata = {
    name: "a",
    namespace: "b",
    uid: "u",
    resourceVersion: "5",
    managedFields: [{ manager: "x" }],
    labels: { a: "b" },
  };
  const read = (text: string, managedFields: "drop" | "keep", fields: readonly string[]): unknown => {
    const reader = new WatchReader({ resource: Pod, managedFields, fields });
    const [change] = reader.push(utf8Of(`{"type":"ADDED","object":${text}}\n`));
    assert(change.type !== "BOOKMARK");
    return JSON.parse(JSON.stringify(change.entry.object.metadata));
  };
  const { managedFields: _managedFields, labels: _labels, ...identity } = metadata;
  for (const indent of [0, 1]) { // with white space the projector declines
    const text = JSON.stringify({ kind: "Pod", apiVersion: "v1", metadata, spec: {} }, null, indent).replaceAll(
      "\n",
      "",
    );
    assertEquals(read(text, "keep", ["metadata"]), metadata);
    assertEquals(read(text, "drop", ["metadata"]), { ...identity, labels: metadata.labels });
    assertEquals(read(text, "drop", ["spec"]), identity);
    assertEquals(read(text, "drop", ["metadata.managedFields"]), {
      ...identity,
      managedFields: metadata.managedFields,
    });
    assertEquals(read(text, "drop", ["metadata", "metadata.managedFields"]), metadata);
    assertEquals(read(text, "drop", ["metadata.managedFields.manager", "metadata"]), metadata);
  }
});

Deno.test("an entry with fields has no labels where the server writes null for them", () => {
  const reader = new WatchReader({ resource: Pod, managedFields: "drop", fields: ["metadata.labels"] });
  const metadata = `{"name":"a","namespace":"b","uid":"u","resourceVersion":"5","labels":null}`;
  const object = `{"kind":"Pod","apiVersion":"v1","metadata":${metadata},"spec":{}}`;
  const [change] = reader.push(utf8Of(`{"type":"ADDED","object":${object}}\n`));
  assert(change.type !== "BOOKMARK");
  assert(change.entry.labels === undefined);
  assertEquals(change.entry.object.metadata.labels, null as never);
});

Deno.test("WatchReader with fields reads objects that are nested deeply on the way to a field", () => {
  const deep = "[".repeat(9_000) + "]".repeat(9_000);
  for (const space of ["", " "]) {
    const reader = new WatchReader({ resource: Pod, managedFields: "drop", fields: ["spec.a.b", "status"] });
    const text =
      `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"},"spec":${space}{"a":${deep}},"status":${deep}}`;
    const [change] = reader.push(utf8Of(`{"type":"ADDED","object":${text}}\n`));
    assert(change.type !== "BOOKMARK");
    assert(change.entry.object.metadata.name === "a");
  }
});

const Secret = defineResource({ version: "v1", plural: "secrets", kind: "Secret" });
const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";
const DATA = ["data", "stringData", `metadata.annotations["${LAST_APPLIED}"]`];

/**
 * Members of a Secret, and of its metadata, that hold a planted text; keys are written as servers do, or with escapes.
 */
const planted = fc.record({
  member: fc.constantFrom(
    "",
    `"data":{"a":"PLANTED"}`,
    `"stringData":"PLANTED"`,
    `"stringData":"PLANTED","data":{"a":"PLANTED"}`,
    `"d\\u0061ta":["PLANTED"]`,
  ),
  metadata: fc.constantFrom(
    "",
    `"annotations":{"${LAST_APPLIED}":"{\\"data\\":\\"PLANTED\\"}","b":"]}"}`,
    `"annotations":{"b":[],"${LAST_APPLIED.replace("/", "\\/")}":{"a":"PLANTED"}}`,
    `"annotations":[{"${LAST_APPLIED}":"PLANTED"},null,7]`,
  ),
  isLast: fc.boolean(),
}).map(({ member, metadata, isLast }) => (text: string): string => {
  const within = (text: string, brace: number, added: string): string => {
    if (added === "") return text;
    const isEmpty = /^\s*\}/.test(text.slice(brace + 1));
    return `${text.slice(0, brace + 1)}${added}${isEmpty ? "" : ","}${text.slice(brace + 1)}`;
  };
  const [position, other] = [...text.matchAll(/"metadata"\s*:\s*\{/g)]; // with two, the second may be the object's own
  const inner = other !== undefined ? text : within(text, position.index + position[0].length - 1, metadata);
  if (!isLast || member === "") return within(inner, 0, member);
  const end = inner.lastIndexOf("}");
  return `${inner.slice(0, end)},${member}${inner.slice(end)}`;
});

Deno.test("readers of Secrets without data yield everything else, whatever its layout, and keep no text of the data", () => {
  let unread = 0;
  fc.assert(
    fc.property(memberText, planted, fc.constantFrom<"drop" | "keep">("drop", "keep"), chunking, fc.boolean(), (
      original,
      plant,
      managedFields,
      cut,
      isList,
    ) => {
      const text = plant(original.replace(/[\r\n]/g, " "));
      const options = { resource: Secret, managedFields, secretData: "drop" } as const;
      const read = (): CacheEntry<KubernetesObject>[] => {
        if (isList) {
          const reader = new ListReader(options);
          const body = utf8Of(
            `{"kind":"SecretList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[${text}]}`,
          );
          return [...cut(body).flatMap((chunk) => reader.push(chunk).entries), ...reader.end().entries];
        }
        const reader = new WatchReader(options);
        const changes = cut(utf8Of(`{"type":"MODIFIED","object":${text}}\n`)).flatMap((chunk) => reader.push(chunk));
        return changes.flatMap((change) => change.type === "BOOKMARK" ? [] : [change.entry]);
      };
      const entries = read();
      assertEquals(entries.length, 1);
      const [entry] = entries;
      if (entry.error !== undefined) return;
      const { text: kept } = entry as { readonly text?: string | Uint8Array };
      if (kept !== undefined) {
        unread++;
        assert(!(typeof kept === "string" ? kept : decoder.decode(kept)).includes("PLANTED"));
      }
      const type = isList ? { kind: "Secret", apiVersion: "v1" } : {};
      const whole = asRead(JSON.parse(text), { drop: managedFields === "drop", ...type });
      const { labels } = whole.metadata as { labels?: unknown };
      if (typeof labels === "object" || labels === undefined) assertEquals<unknown>(entry.labels, labels ?? undefined);
      assertEquals(plain(entry.object), plain(pickFields(whole, FieldTree.leaf.without(DATA))));
      assert(!JSON.stringify(entry.object).includes("PLANTED"));
    }),
    { numRuns: 800 },
  );
  assert(unread > 60, `${unread} entries were unread`);
});

Deno.test("readers of Secrets without data read metadata that is nested deeply", () => {
  const depth = 50_000;
  const annotations = `${"[".repeat(depth)}{"${LAST_APPLIED}":"PLANTED"}${"]".repeat(depth)}`;
  const reader = new WatchReader({ resource: Secret, managedFields: "drop", secretData: "drop" });
  const object = `{"kind":"Secret","metadata":{"name":"a","annotations":${annotations}},"type":"Opaque"}`;
  const [change] = reader.push(utf8Of(`{"type":"ADDED","object":${object}}\n`));
  assert(change.type !== "BOOKMARK");
  assertEquals([change.entry.key, (change.entry.object as { type?: string }).type], ["a", "Opaque"]);
  let inner: unknown = change.entry.metadata.annotations;
  while (Array.isArray(inner)) inner = inner[0];
  assertEquals(inner, null);
});

/** The object without what marks it. */
function plain(object: unknown): unknown {
  return JSON.parse(JSON.stringify(object));
}

/** Bodies with Secrets: lists, and lines of a watch. */
const SECRETS = [
  `{"kind":"SecretList","metadata":{"resourceVersion":"9"},"items":[{"metadata":{"name":"a"},"data":{"a":"PLANTED"}}]}`,
  `{"kind":"SecretList","data":"PLANTED","metadata":{"resourceVersion":"9"},"items":[{"data":"PLANTED"}]}`,
  `{"data":{"a":"PLANTED"},"items":{"a":"PLANTED"}}`,
  `{"type":"ADDED","object":{"kind":"Secret","metadata":{"name":"a"},"data":{"a":"PLANTED"},"type":"PLANTED"}}\n`,
  `{"data":"PLANTED","object":{"data":{"a":"PLANTED"},"metadata":{"name":"a"}},"type":"ADDED"}\n`,
  `{"type":"ADDED","object":{"data":"PLANTED"}}\n`,
];

/** The errors of a list, or of the lines of a watch. */
function errorsOf(body: string, representation: "object" | "table"): unknown[] {
  const options = { resource: { ...Secret, representation }, managedFields: "drop", secretData: "drop" } as const;
  try {
    if (!body.endsWith("\n")) {
      const reader = new ListReader(options as never);
      return [...reader.push(utf8Of(body)).entries, ...reader.end().entries].map(({ error }) => error);
    }
    const reader = new WatchReader(options as never);
    const errors = reader.push(utf8Of(body)).map((it) => it.type === "BOOKMARK" ? undefined : it.entry.error);
    return [...errors, reader.failure?.error];
  } catch (error) {
    return [error];
  }
}

Deno.test("errors of damaged Secrets quote none of their data", () => {
  let quiet = 0;
  for (const body of SECRETS) {
    for (let at = 0; at < body.length; at++) {
      for (const damaged of [body.slice(at), `${body.slice(0, at)}x${body.slice(at)}`]) {
        for (const representation of ["object", "table"] as const) {
          const errors = errorsOf(damaged, representation).filter((it) => it !== undefined).flatMap(causesOf);
          for (const error of errors) assertFalse(/PLAN|LANT|ANTE|NTED/.test(String(error)), String(error));
          quiet += errors.length;
        }
      }
    }
  }
  assert(quiet > 1_000, `${quiet} errors`);
});
