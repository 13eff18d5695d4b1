import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertRejects,
  assertStrictEquals,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import fc from "npm:fast-check@^4.10.2";
import type { CacheEntry } from "../../../../src/engine/api/entry.ts";
import type { WatchChange } from "../../../../src/engine/api/lister_watcher.ts";
import type { KubernetesObject } from "../../../../src/engine/api/object.ts";
import { asTable, type TableRow } from "../../../../src/engine/api/resource.ts";
import { DecodeError, StatusError } from "../../../../src/engine/api/status.ts";
import type { ReadOptions } from "../../../../src/engine/client/decode/object_reader.ts";
import { ListReader, WatchReader } from "../../../../src/engine/client/decode/readers.ts";
import { ConfigMap, Pod } from "../../../../src/engine/kinds/core/v1.ts";
import {
  bodyOf,
  changePortrait,
  cutAt,
  inChunksOf,
  type ListReading,
  listReading,
  messageOf,
  portrait,
  readChanges,
  utf8Of,
  watchReading,
} from "../../../support/sources/bodies.ts";
import { asRead, chunking, memberText } from "../../_texts.ts";

const encoder = new TextEncoder();
const OPTIONS: ReadOptions = { resource: asTable(ConfigMap), expectedKind: "ConfigMap", managedFields: "drop" };
const COLUMNS = [
  { name: "Name", type: "string", format: "name", description: "", priority: 0 },
  { name: "Data", type: "string", format: "", description: `has "rows":[ and "items":[ in it`, priority: 0 },
];
const HEAD = `{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"9"},"columnDefinitions":`;

function row(name: string, cell: unknown = 1, version = "5"): string {
  const metadata = { name, namespace: "shop", uid: name, resourceVersion: version, labels: { app: name } };
  const managed = `"managedFields":[{"manager":"m"}]`;
  const object = JSON.stringify({ kind: "ConfigMap", apiVersion: "v1", metadata, data: { a: "ä" } });
  return `{"cells":${JSON.stringify([name, cell])},"object":${object.replace(`"labels"`, `${managed},"labels"`)}}`;
}

function table(rows: readonly string[], columns: unknown = COLUMNS): string {
  return `${HEAD}${JSON.stringify(columns)},"rows":[${rows.join(",")}]}`;
}

/** Decodes a list whose body is split after every `step` bytes. */
function listed(text: string, step: number, options: ReadOptions = OPTIONS): CacheEntry<TableRow<ConfigMap>>[] {
  const bytes = encoder.encode(text);
  const reader = new ListReader<TableRow<ConfigMap>>(options);
  const entries: CacheEntry<TableRow<ConfigMap>>[] = [];
  for (let at = 0; at < bytes.length; at += step) entries.push(...reader.push(bytes.slice(at, at + step)).entries);
  const last = reader.end();
  assertEquals(last.resourceVersion, "9");
  return [...entries, ...last.entries];
}

function watched(...lines: readonly string[]): { changes: WatchChange<TableRow<ConfigMap>>[]; failure: unknown } {
  const reader = new WatchReader<TableRow<ConfigMap>>(OPTIONS);
  const changes = lines.flatMap((line) => [...reader.push(encoder.encode(`${line}\n`))]);
  return { changes, failure: reader.failure?.error };
}

function cellsOf(changes: readonly WatchChange<TableRow<ConfigMap>>[]): unknown[] {
  return changes.map((change) => change.type === "BOOKMARK" ? change : change.entry.object.cells);
}

Deno.test("a list of rows has cells, columns and objects, however its bytes are split", () => {
  const text = table([row("a", `]"\\[`), row("b", [{ x: "]" }])]);
  for (const step of [1, 7, 64, text.length * 2]) {
    const [a, b] = listed(text, step);
    assertEquals([a.key, a.namespace, a.name, a.uid, a.resourceVersion], ["shop/a", "shop", "a", "a", "5"]);
    assertEquals([a.labels, a.metadata.name, "managedFields" in a.metadata], [{ app: "a" }, "a", false]);
    assertEquals([a.object.cells, b.object.cells], [["a", `]"\\[`], ["b", [{ x: "]" }]]]);
    assertEquals([a.object.columns, a.object.kind, a.object.metadata], [COLUMNS, "ConfigMap", a.metadata]);
    assertEquals([a.object.object.data, b.object.object.data], [{ a: "ä" }, { a: "ä" }]);
  }
});

Deno.test("a row with conditions, such as that of a finished pod, is read in the same way", () => {
  const finished = row("a").replace(`],"object"`, `],"conditions":[{"type":"Completed","status":"True"}],"object"`);
  const [a] = listed(table([finished]), 1_000);
  assertEquals([a.key, a.object.cells, a.object.object.data], ["shop/a", ["a", 1], { a: "ä" }]);
});

Deno.test("a table without rows is an empty list", () => {
  assertEquals(listed(table([]), 5), []);
  assertEquals(listed(table([]).replace("[]", "null"), 5), []);
});

Deno.test("a row of a known version is the known entry, whose cells stay", () => {
  const known = listed(table([row("a", 1)]), 1_000)[0];
  const options = { ...OPTIONS, known: (key: string) => key === known.key ? known : undefined };
  assertEquals(listed(table([row("a", 2)]), 1_000, options)[0], known);
  assertEquals(listed(table([row("a", 2, "6")]), 1_000, options)[0].object.cells, ["a", 2]);
});

Deno.test("a list of a server that knows no tables has rows with name and time of creation", () => {
  const metadata = {
    name: "a",
    namespace: "shop",
    uid: "a",
    resourceVersion: "5",
    creationTimestamp: "2026-01-02T03:04:05Z",
  };
  const list = { kind: "ConfigMapList", apiVersion: "v1", metadata: { resourceVersion: "9" }, items: [{ metadata }] };
  const [a] = listed(JSON.stringify(list), 3);
  assertEquals(a.object.columns.map(({ name, type }) => [name, type]), [["Name", "string"], ["Created At", "date"]]);
  assertEquals([a.object.cells, a.object.kind], [["a", "2026-01-02T03:04:05Z"], "ConfigMap"]);
});

Deno.test("a list of objects refuses a table, which was not asked for", () => {
  const reader = new ListReader<Pod>({ resource: Pod, managedFields: "drop" });
  reader.push(encoder.encode(table([row("a")])));
  assertThrows(() => reader.end(), DecodeError, "the server sent a Table instead of a list");
});

Deno.test("a watch of rows remembers the columns of its first event", () => {
  const { changes, failure } = watched(
    `{"type":"ADDED","object":${table([row("a")])}}`,
    `{"type":"MODIFIED","object":${table([row("a", 2, "6")], null)}}`,
    `{"type":"DELETED","object":${table([row("a", 2, "7")], null)}}`,
  );
  assertEquals(failure, undefined);
  assertEquals(cellsOf(changes), [["a", 1], ["a", 2], ["a", 2]]);
  for (const change of changes) {
    if (change.type === "BOOKMARK") throw new Error("no bookmark was sent");
    assertEquals([change.entry.object.columns, change.entry.object.object.data], [COLUMNS, { a: "ä" }]);
  }
  assertEquals(changes.map((change) => change.type), ["ADDED", "MODIFIED", "DELETED"]);
});

Deno.test("a watch of rows reads bookmarks, also the first one with the columns and the one that ends the initial events", () => {
  const bookmark = (columns: unknown, annotations: object): string => {
    const object: KubernetesObject = {
      kind: "ConfigMap",
      apiVersion: "v1",
      metadata: { resourceVersion: "12", ...annotations } as unknown as KubernetesObject["metadata"],
    };
    return `{"type":"BOOKMARK","object":${table([JSON.stringify({ cells: ["", 0], object })], columns)}}`;
  };
  const { changes, failure } = watched(
    bookmark(COLUMNS, { annotations: { "k8s.io/initial-events-end": "true" } }),
    `{"type":"ADDED","object":${table([row("a")], null)}}`,
    bookmark(null, {}),
  );
  assertEquals(failure, undefined);
  assertEquals(cellsOf(changes), [
    { type: "BOOKMARK", resourceVersion: "9", initialEventsEnd: true },
    ["a", 1],
    { type: "BOOKMARK", resourceVersion: "9", initialEventsEnd: false },
  ]);
  const [, added] = changes;
  assertEquals(added.type !== "BOOKMARK" && added.entry.object.columns, COLUMNS);
});

Deno.test("a watch of rows fails with the error that the server sends, and at a table of two rows", () => {
  const status = { kind: "Status", apiVersion: "v1", code: 410, reason: "Expired", message: "too old" };
  const first = `{"type":"ADDED","object":${table([row("a")])}}`;
  const { changes, failure } = watched(first, `{"type":"ERROR","object":${JSON.stringify(status)}}`);
  assertEquals([changes.length, failure instanceof StatusError && failure.status.code], [1, 410]);
  const two = watched(`{"type":"ADDED","object":${table([row("a"), row("b")])}}`).failure;
  assertEquals(
    two instanceof DecodeError && two.message,
    'Cannot read an event of "configmaps": its table has 2 rows instead of one',
  );
});

Deno.test("a watch of a server that knows no tables has rows with name and time of creation", () => {
  const metadata = { name: "a", namespace: "shop", uid: "a", resourceVersion: "5" };
  const { changes, failure } = watched(
    JSON.stringify({ type: "ADDED", object: { kind: "ConfigMap", apiVersion: "v1", metadata } }),
  );
  assertEquals([failure, cellsOf(changes)], [undefined, [["a", null]]]);
});

Deno.test("a row of another kind becomes a broken entry", () => {
  const other = row("a").replace(`"kind":"ConfigMap"`, `"kind":"Pod"`);
  const [entry] = listed(table([other]), 1_000);
  assertEquals([entry.key, entry.error?.name], ["", "DecodeError"]);
  const { changes } = watched(
    `{"type":"ADDED","object":${table([row("b")])}}`,
    `{"type":"ADDED","object":${table([other], null)}}`,
  );
  const [, change] = changes;
  assertEquals(change.type !== "BOOKMARK" && change.entry.error?.name, "DecodeError");
});

const FIELDS = `[{"manager":"kubelet","fieldsV1":{"f:spec":{"k:{\"name\":\"app\"}":{}}}}]`.replaceAll(
  `{"name":"app"}`,
  `{\\"name\\":\\"app\\"}`,
);

/** Items as the server writes them in a built-in kind's list: without kind and apiVersion. */
const ITEMS = [
  `{"metadata":{"name":"a","namespace":"shop","uid":"u-1","resourceVersion":"1","managedFields":${FIELDS}},"spec":{"items":[{"x":"]}"}],"note":"\\"items\\":[{}]},{\\\\"}}`,
  `{"metadata":{"name":"b","namespace":"shop","uid":"u-2","resourceVersion":"2","labels":{"items":"[{"}},"spec":{"note":"日本🦕"}}`,
  `{"metadata":{"name":"c","uid":"u-3","resourceVersion":"3","managedFields":[]}}`,
];

/** The same as a watch writes them. */
const WATCHED = ITEMS.map((item) => `{"kind":"Pod","apiVersion":"v1",${item.slice(1)}`);

const BUILT_IN =
  `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9","continue":"t1","remainingItemCount":7},"items":[${ITEMS.join()}]}\n`;

const CUSTOM = `{"apiVersion":"acme.dev/v1","items":[${
  ITEMS.map((item) => `{"apiVersion":"acme.dev/v1","kind":"Widget",${item.slice(1)}`).join()
}],"kind":"WidgetList","metadata":{"continue":"","resourceVersion":"9"}}\n`;

const INDENTED = JSON.stringify(JSON.parse(BUILT_IN), undefined, 2);

function textOf(reading: ListReading): string {
  if (reading.error !== undefined) throw reading.error;
  const { entries: _entries, ...last } = reading.parts[reading.parts.length - 1];
  return JSON.stringify([last, reading.values.map(portrait)]);
}

function keys(reading: ListReading): string[] {
  return reading.values.map((entry) => entry.key);
}

Deno.test("ListReader decodes items of a built-in kind to the same text as a watch does [F24]", async () => {
  const list = await listReading([utf8Of(BUILT_IN)]);
  const watch = await watchReading([utf8Of(WATCHED.map((item) => `{"type":"ADDED","object":${item}}\n`).join(""))]);
  assertEquals(keys(list), ["shop/a", "shop/b", "c"]);
  assertEquals(
    list.values.map(portrait),
    watch.values.map((change) => change.type === "BOOKMARK" ? undefined : portrait(change.entry)),
  );
  const first = list.values[0].object;
  assertEquals(Object.keys(first), ["kind", "apiVersion", "metadata", "spec"]);
  assertEquals([first.kind, first.apiVersion, "managedFields" in first.metadata], ["Pod", "v1", false]);
  const kept = await listReading([utf8Of(BUILT_IN)], { managedFields: "keep" });
  assertEquals(
    kept.values.map((entry) => JSON.stringify(entry.object)),
    WATCHED.map((item) => JSON.stringify(JSON.parse(item))),
  );
});

Deno.test("ListReader yields the version and the continue token as soon as they are read, and at the end", async () => {
  const at = (text: string, mark: string): number => text.indexOf(mark);
  const about = (reading: ListReading): unknown[] =>
    reading.parts.map(({ entries, ...rest }) => [entries.length, rest]);
  const known = { resourceVersion: "9", continue: "t1", remainingItemCount: 7 };
  const bytes = utf8Of(BUILT_IN);
  const afterItems = bytes.length - 5;
  assertEquals(
    about(await listReading(cutAt(bytes, at(BUILT_IN, `,"items"`), at(BUILT_IN, `"u-1"`), afterItems))),
    [[0, {}], [0, known], [2, {}], [1, {}], [0, known]],
  );
  assertEquals(
    about(await listReading(cutAt(utf8Of(CUSTOM), at(CUSTOM, `"u-1"`), utf8Of(CUSTOM).length - 50))),
    [[0, {}], [3, {}], [0, {}], [0, { resourceVersion: "9" }]],
  );
});

for (const [name, text] of [["built-in", BUILT_IN], ["custom resource", CUSTOM], ["indented", INDENTED]] as const) {
  Deno.test(`ListReader reads the same ${name} list wherever it is split in two, and byte by byte`, async () => {
    const bytes = utf8Of(text);
    const expected = textOf(await listReading([bytes]));
    for (let at = 0; at <= bytes.length; at++) {
      const kind = at % 2 === 0 ? "bytes" : "default";
      if (textOf(await listReading(cutAt(bytes, at), { kind })) !== expected) {
        throw new Error(`split at ${at}: another list`);
      }
    }
    for (const kind of ["bytes", "default"] as const) {
      for (const size of [1, 2, 3, 7, 64]) {
        assertEquals(textOf(await listReading(inChunksOf(bytes, size), { kind })), expected);
      }
    }
  });

  Deno.test(`ListReader refuses a ${name} list that is cut off anywhere, and never returns a shorter one`, async () => {
    const bytes = utf8Of(text.trimEnd());
    for (let end = 0; end < bytes.length; end++) {
      const reading = await listReading([bytes.slice(0, end)]);
      if (!(reading.error instanceof DecodeError)) throw new Error(`cut off at ${end}: found no error`);
      if (!reading.error.message.startsWith(`Cannot read the list of "pods": `)) throw reading.error;
    }
    assertEquals((await listReading([bytes])).error, undefined);
  });
}

Deno.test("ListReader finds the items member, and no look-alike", async () => {
  const item = `{"metadata":{"name":"a"}}`;
  const other = `{"metadata":{"name":"wrong"}}`;
  const texts = [
    `{"metadata":{"items":[${other}]},"items":[${item}]}`,
    `{"kind":"items","x":"items","items":[${item}]}`,
    `{"x":{"items":[${other}]},"y":["items",[${other}]],"items":[${item}]}`,
    `{"x":"\\"items\\":[${other.replaceAll(`"`, `\\"`)}]","items":[${item}]}`,
    `{"item":[${other}],"itemss":[${other}],"Items":[${other}],"items":[${item}]}`,
    `{"items\\"":[${other}],"items":[${item}]}`,
    `{"items"\n:\t[ ${item} ]\n}`,
    `\n{"items":[${item}\n],"more":{"items":[${other}]},"kind":"PodList"}`,
    `{"kind":"PodList","\\u0069tems":[${item}]}`,
    `{"kind":"PodList","\\u0069tems":[${item}],"metadata":{"resourceVersion":"1"}}`,
  ];
  for (const text of texts) {
    for (const size of [1, 5, text.length]) {
      const reading = await listReading(inChunksOf(utf8Of(text), size));
      assertEquals(reading.error, undefined, text);
      assertEquals(keys(reading), ["a"], text);
    }
  }
});

Deno.test("ListReader yields items as they arrive, whatever members come before them", async () => {
  for (
    const before of [
      `"x":"\\""`,
      `"x":"\\\\"`,
      `"x":"{["`,
      `"x":"}]"`,
      `"x":{"a":[{}]}`,
      `"x":"items"`,
      `"itemsitems":1`,
    ]
  ) {
    const text = `{${before},"items":[{"metadata":{"name":"a"}}]}`;
    for (const size of [1, text.length - 1]) {
      const reading = await listReading(inChunksOf(utf8Of(text), size));
      assertEquals(reading.error, undefined, text);
      assertEquals(reading.parts.slice(0, -2).flatMap((part) => part.entries.map((entry) => entry.key)), ["a"], text);
    }
  }
});

Deno.test("ListReader fills in kind and drops managedFields also for items that are parsed with the rest of the list", async () => {
  const text =
    `{"kind":"PodList","apiVersion":"v1","\\u0069tems":[${ITEMS.join()}],"metadata":{"resourceVersion":"9"}}`;
  const outline = await listReading([utf8Of(text)]);
  const usual = await listReading([utf8Of(BUILT_IN)]);
  assertEquals(outline.values.map(portrait), usual.values.map(portrait));
  assertEquals(outline.parts.at(-1)?.resourceVersion, "9");
});

Deno.test("ListReader keeps the managedFields of one manager, also of a name that Go escapes, or with white space around", async () => {
  const written = ["a&b", "a<b>", "kubelet", 'a"b', "größe"].map((manager) => {
    const text = JSON.stringify(manager).replace(/[&<>]/g, (it) => `\\u00${it.charCodeAt(0).toString(16)}`);
    return `{"manager":${text},"fieldsV1":{"f:manager":{},"k:{\\"manager\\":\\"kubelet\\"}":{}}}`;
  });
  const others = [`{"operation":"Update"}`, "null", `{"manager":null}`];
  for (const between of ["", " ", "\n\t"]) {
    const around = (elements: readonly string[]): string => elements.map((it) => `${between}${it}${between}`).join();
    const fields = `[${around([...others, ...written])}]`;
    const item =
      `{"metadata":{"name":"a","uid":"u","resourceVersion":"3","managedFields":${fields},"labels":{"a":"b"}}}`;
    const list = `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[${item}]}`;
    for (const text of written) {
      const { manager } = JSON.parse(text);
      const { values, error } = await listReading([utf8Of(list)], { managedFields: { manager } });
      assertEquals([values.map(({ labels }) => labels), error], [[{ a: "b" }], undefined]);
      assertEquals(values.map(({ metadata }) => metadata.managedFields), [[JSON.parse(text)]]);
    }
  }
});

Deno.test("ListReader reads a list without items as empty", async () => {
  for (const items of [`,"items":[]`, `,"items":[ \n ]`, `,"items":null`, ``]) {
    for (
      const text of [
        `{"kind":"PodList","metadata":{"resourceVersion":"4"}${items}}`,
        `{"kind":"PodList"${items},"metadata":{"resourceVersion":"4"}}`,
      ]
    ) {
      const reading = await listReading(inChunksOf(utf8Of(text), 10));
      assertEquals(textOf(reading), `[{"resourceVersion":"4"},[]]`, text);
    }
  }
});

Deno.test("ListReader yields the continue token also where the version is missing", async () => {
  for (const text of [`{"metadata":{"continue":"t"},"items":[]}`, `{"items":[],"metadata":{"continue":"t"}}`]) {
    assertEquals(textOf(await listReading([utf8Of(text)])), `[{"continue":"t"},[]]`);
  }
  assertEquals(textOf(await listReading([utf8Of(`{"kind":"PodList","items":[]}`)])), `[{},[]]`);
  assertEquals(textOf(await listReading([utf8Of(`{"kind":"PodList","metadata":null,"items":[]}`)])), `[{},[]]`);
});

Deno.test("ListReader adds no kind to items of a list without one", async () => {
  const text =
    `{"kind":"List","apiVersion":"v1","items":[{"metadata":{"name":"a"}},{"kind":"Pod","apiVersion":"v1","metadata":{"name":"b"}}]}`;
  const { values: entries } = await listReading([utf8Of(text)]);
  assertEquals(entries.map((entry) => entry.object.kind), [undefined, "Pod"]);
});

Deno.test("ListReader refuses a Table of meta.k8s.io, and reads a list of that kind in another group [C027]", async () => {
  const read = (text: string): Promise<ListReading> => listReading([utf8Of(text)]);
  const old = await read(`{"kind":"Table","apiVersion":"meta.k8s.io/v1beta1","columnDefinitions":[],"rows":[]}`);
  assert(messageOf(old).startsWith(`Cannot read the list of "pods": the server sent `), messageOf(old));
  const empty = await read(`{"kind":"Table","apiVersion":"meta.k8s.io/v1","items":[]}`);
  assertEquals(messageOf(empty), `Cannot read the list of "pods": the server sent a Table instead of a list`);
  const other = await read(
    `{"kind":"Table","apiVersion":"acme.dev/v1","items":[{"kind":"Table","metadata":{"name":"oak"}}]}`,
  );
  assertEquals(keys(other), ["oak"]);
});

Deno.test("ListReader refuses a body that is not a list, and names what it found", async () => {
  const cases = [
    [
      `<html><body>Please log in</body></html>`,
      `"<html><body>Please log in</body></html>" is not a list in JSON. Check whether a proxy or a login page answers instead of the API server`,
    ],
    [`<style>{"items":[{}]}</style>`, ``],
    [``, ``],
    [`null`, "the server sent null instead of a list"],
    [`[]`, "the server sent [] instead of a list"],
    [`"x"`, `the server sent "x" instead of a list`],
    [
      `{"kind":"Pod","metadata":{"name":"a"}}`,
      `the server sent {"kind":"Pod","metadata":{"name":"a"}} instead of a list`,
    ],
    [`{"kind":"PodList","items":{"a":1}}`, "instead of a list"],
    [`{"kind":"PodList","items":"x"}`, "instead of a list"],
    [`{"kind":"PodList","items":[1]}`, `"1" is in the place of an item`],
    [`{"kind":"PodList","items":[null]}`, `"n" is in the place of an item`],
    [`{"kind":"PodList","items":["x"]}`, `is in the place of an item`],
    [`{"kind":"PodList","items":[[{}]]}`, `"[" is in the place of an item`],
    [`{"kind":"PodList","items":[,{"metadata":{"name":"a"}}]}`, `"," is in the place of an item`],
    [`{"kind":"PodList","items":[{"metadata":{"name":"a"}},]}`, `"]" is in the place of an item`],
    [
      `{"kind":"PodList","items":[{"metadata":{"name":"a"}},,{"metadata":{"name":"b"}}]}`,
      `"," is in the place of an item`,
    ],
    [
      `{"kind":"PodList","items":[{"metadata":{"name":"a"}}{"metadata":{"name":"b"}}]}`,
      `"{" is in the place of a comma or the end of the items`,
    ],
    [`{"kind":"PodList","items":[{"metadata":{"name":"a"}},`, "it ends in the middle of its items"],
    [`{"kind":"PodList","items":[ä]}`, `a character that is not ASCII is in the place of an item`],
    [`{"kind":"PodList","items":[{"metadata":{"name":"a"}}]}}`, ``],
    [`{"kind":"PodList","items":[{"metadata":{"name":"a"}}]}{"kind":"PodList","items":[]}`, ``],
    [`{"kind":"PodList",,"items":[]}`, ``],
    [`{"kind":"PodList","\\u0069tems":[1]}`, "is not an object with metadata"],
    [`{"kind":"PodList","items":[{"metadata":[}]}`, ``],
  ];
  for (const [text, message] of cases) {
    for (const size of [1, 9, text.length]) {
      const reading = await listReading(inChunksOf(utf8Of(text), Math.max(size, 1)));
      assertInstanceOf(reading.error, DecodeError, text);
      assert(/^Cannot read (the list|an object) of "pods": /.test(messageOf(reading)), messageOf(reading));
      assert(messageOf(reading).includes(message), messageOf(reading));
      assert(messageOf(reading).length < 300, messageOf(reading));
    }
  }
});

Deno.test("ListReader makes broken entries of items without metadata or a name, and continues [F15]", async () => {
  const found = ["{}", `{"data":{}}`, `{"metadata":null}`, `{"metadata":7}`];
  const broken: [item: string, message: string][] = [
    ...found.map((item): [string, string] => [
      item,
      `Cannot read an object of "pods": ${item} is not an object with metadata`,
    ]),
    [`{"metadata":{"namespace":"shop"}}`, `Cannot store Pod in namespace "shop": it has no metadata.name`],
  ];
  const items = broken.map(([item]) => `${item},{"metadata":{"name":"a"}}`).join();
  for (const member of [`"items"`, `"\\u0069tems"`]) {
    const { values: entries, error } = await listReading([
      utf8Of(`{"kind":"PodList","apiVersion":"v1",${member}:[${items}]}`),
    ]);
    assertEquals(error, undefined);
    assertEquals(
      entries.map(({ key, error }) => error?.message ?? key),
      broken.flatMap(([, message]) => [message, "a"]),
    );
  }
});

Deno.test("ListReader limits an item's length in the same way for any chunks", async () => {
  const item = (size: number): string => `{"metadata":{"name":"a"},"d":"${"x".repeat(size - 32)}"}`;
  assertEquals(item(200).length, 200);
  const text = `{"kind":"PodList","items":[${item(150)},${item(200)}]}`;
  const ways = [1, 40, 64, 300, text.length].flatMap((size) => [{ size }, { size, fields: ["kind"] }]);
  for (const { size, ...fields } of ways) {
    const accepted = await listReading(inChunksOf(utf8Of(text), size), { ...fields, maxObjectBytes: 200 });
    assertEquals(accepted.values.length, 2);
    const refused = await listReading(inChunksOf(utf8Of(text), size), { ...fields, maxObjectBytes: 199 });
    assertInstanceOf(refused.error, DecodeError);
    assertEquals(
      messageOf(refused),
      `Cannot read the list of "pods": an object is longer than 199 bytes. Raise maxObjectBytes if your objects are that large`,
    );
  }
});

Deno.test("ListReader with fields reads the same wherever chunks are cut, also among items that it has to parse", async () => {
  const metadata = (number: number): string => `{"name":"pod-${number}","managedFields":[{"fieldsV1":{"f:a":{}}}]}`;
  const item = (number: number): string => `{"metadata":${metadata(number)},"spec":{"nodeName":"node-${number}"}}`;
  const items = Array.from({ length: 12 }, (_, number) => item(number));
  for (const spaced of [undefined, 0, 6, 11]) {
    const texts = items.map((text, number) => number === spaced ? text.replace("{", "{ ") : text);
    const text = `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[${texts.join()}]}`;
    for (let size = 100; size <= text.length; size++) {
      const chunks = inChunksOf(utf8Of(text), size);
      const { values, error } = await listReading(chunks, { fields: ["spec.nodeName"], managedFields: "drop" });
      assertEquals([error, values.length], [undefined, items.length], `chunks of ${size}`);
      for (const [number, { key, object }] of values.entries()) {
        assertEquals([key, (object as Pod).spec?.nodeName], [`pod-${number}`, `node-${number}`]);
        assertEquals(object.metadata.managedFields, undefined);
      }
    }
    for (const damaged of [text.slice(0, -40), `${text.slice(0, -2)}x]}`]) {
      const { error } = await listReading([utf8Of(damaged)], { fields: ["spec.nodeName"] });
      assertInstanceOf(error, DecodeError);
      assert(error.message.startsWith('Cannot read the list of "pods": '), error.message);
    }
  }
});

Deno.test("ListReader decodes the same as JSON.parse, for any objects in any chunks", async () => {
  const layouts = fc.constantFrom("built-in", "custom", "untyped", "spaced");
  await fc.assert(
    fc.asyncProperty(
      fc.array(memberText, { maxLength: 5 }),
      layouts,
      chunking,
      fc.constantFrom<"bytes" | "default">("bytes", "default"),
      fc.boolean(),
      async (items, layout, chunks, kind, drop) => {
        const text = {
          "built-in":
            `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[${items.join()}]}`,
          custom: `{"apiVersion":"v1","items":[${items.join()}],"kind":"PodList","metadata":{"resourceVersion":"9"}}`,
          untyped: `{"metadata":{"resourceVersion":"9","items":[]},"items":[${items.join()}]}`,
          spaced: `\n{ "items" :\t[ ${items.join(" ,\r\n")} ] , "metadata" : {"resourceVersion":"9"} }\n`,
        }[layout];
        const reading = await listReading(chunks(utf8Of(text)), { kind, managedFields: drop ? "drop" : "keep" });
        if (reading.error !== undefined) throw reading.error;
        assertEquals(reading.parts.at(-1)?.resourceVersion, "9");
        const typed = layout === "built-in" ? { kind: "Pod", apiVersion: "v1" } : {};
        const parsed = JSON.parse(text).items as Record<string, unknown>[];
        assertEquals(reading.values.length, parsed.length);
        reading.values.forEach((entry, index) => {
          if (entry.error !== undefined) {
            const { name, namespace, uid, resourceVersion } = parsed[index].metadata as Record<string, unknown>;
            const others = [namespace, uid, resourceVersion].filter((part) => typeof (part ?? "") !== "string");
            return assert(!name || typeof name !== "string" || others.length > 0);
          }
          const expected = asRead(parsed[index], { drop, ...typed });
          if (JSON.stringify(entry.object) === JSON.stringify(expected)) return;
          // Filled in although kind or apiVersion come behind metadata: the values agree, the order of keys does not.
          assertEquals([layout, Object.keys(parsed[index])[0]], ["built-in", "metadata"]);
          assertEquals(entry.object as unknown, expected);
        });
      },
    ),
    { numRuns: 400, seed: 20_260_704 },
  );
});

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

Deno.test("WatchReader skips bookmarks without a version, and reports the first one to an informer", async () => {
  for (
    const object of [
      {},
      { metadata: {} },
      { metadata: { resourceVersion: "" } },
      { metadata: { resourceVersion: 5 } },
      null,
    ]
  ) {
    const lines = [utf8Of(event("BOOKMARK", object)), utf8Of(event("BOOKMARK", object))];
    assertEquals((await watchReading(lines)).values, []);
    const reading = await watchReading(lines, { reported: { bookmark: false } });
    assertEquals(reading.values.length, 1);
    const [change] = reading.values;
    assert(change.type !== "BOOKMARK" && change.entry.key === "");
    assertStringIncludes(String(change.entry.error), `DecodeError: Cannot use the bookmarks of "pods": `);
  }
});

Deno.test("WatchReader yields the changes before an ERROR event, then throws its Status", async () => {
  const details = { causes: [{ message: "it was compacted" }] };
  const status = { kind: "Status", code: 410, reason: "Expired", message: "too old resource version: 1 (9)", details };
  const text = event("ADDED", pod("a", "1")) + event("MODIFIED", pod("a", "2")) + event("ERROR", status) +
    event("ADDED", pod("never", "3"));
  for (const chunks of [[utf8Of(text)], inChunksOf(utf8Of(text), 1), inChunksOf(utf8Of(text), 50)]) {
    const { values, error } = await watchReading(chunks);
    assertEquals(values.map((change) => change.type === "BOOKMARK" ? "" : change.entry.resourceVersion), ["1", "2"]);
    assertInstanceOf(error, StatusError);
    assertEquals([error.status.code, error.status.reason], [410, "Expired"]);
    const said = "too old resource version: 1 (9). it was compacted";
    assertEquals(error.message, `Cannot go on watching "pods": 410 Expired: ${said}`);
  }
});

Deno.test("WatchReader refuses a line that is not a watch event, after yielding the changes before it", async () => {
  const cases = [
    [
      `<html><body>Please log in</body></html>`,
      "is not a line of JSON. Check whether a proxy or a login page answers instead of the API server",
    ],
    [`{"type":"ADDED","object":{"metadata": {}`, `Cannot read an object of "pods": `],
    [`{"type":"ADDED","object":{"metadata": 1`, "is not a line of JSON"],
    [`not JSON`, `"not JSON" is not a line of JSON`],
    [`{"type":"EXPLODED","object":{}}`, "has an unknown type"],
    [`{"object":{}}`, "has an unknown type"],
    [`null`, "has an unknown type"],
    [`[]`, "has an unknown type"],
    [`{"type":"ADDED","object":null}`, "null is not an object with metadata"],
    [`{"type":"ADDED","object":{"kind":"Pod"}}`, "is not an object with metadata"],
    [`{"type":"ADDED"}`, "undefined is not an object with metadata"],
    [`{"type":"ADDED","object":`, "is not a line of JSON"],
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
  assertEquals(values[0].entry.error?.message, `Cannot store Pod in namespace "shop": it has no metadata.name`);
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
    assert(messageOf(reading).includes(`longer than ${small.length} bytes. Raise maxObjectBytes`), messageOf(reading));
  }
});
