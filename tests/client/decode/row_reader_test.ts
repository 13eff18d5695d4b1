import { assertEquals, assertThrows } from "@std/assert";
import { DecodeError, StatusError } from "../../../src/api/status.ts";
import type { Entry } from "../../../src/api/options.ts";
import type { Change } from "../../../src/api/lister_watcher.ts";
import type { KubernetesObject } from "../../../src/api/object.ts";
import { tableOf } from "../../../src/api/resource.ts";
import type { TableRow } from "../../../src/api/resource.ts";
import { ListReader } from "../../../src/client/decode/list_reader.ts";
import type { ReadOptions } from "../../../src/client/decode/object_reader.ts";
import { WatchReader } from "../../../src/client/decode/watch_reader.ts";
import { ConfigMap, Pod } from "../../../src/kinds/core/v1.ts";

const encoder = new TextEncoder();
const OPTIONS: ReadOptions = { resource: tableOf(ConfigMap), expectedKind: "ConfigMap", managedFields: "drop" };
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
function listed(text: string, step: number, options: ReadOptions = OPTIONS): Entry<TableRow<ConfigMap>>[] {
  const bytes = encoder.encode(text);
  const reader = new ListReader<TableRow<ConfigMap>>(options);
  const entries: Entry<TableRow<ConfigMap>>[] = [];
  for (let at = 0; at < bytes.length; at += step) entries.push(...reader.push(bytes.slice(at, at + step)).entries);
  const last = reader.end();
  assertEquals(last.resourceVersion, "9");
  return [...entries, ...last.entries];
}

function watched(...lines: readonly string[]): { changes: Change<TableRow<ConfigMap>>[]; failure: unknown } {
  const reader = new WatchReader<TableRow<ConfigMap>>(OPTIONS);
  const changes = lines.flatMap((line) => [...reader.push(encoder.encode(`${line}\n`))]);
  return { changes, failure: reader.failure?.error };
}

function cellsOf(changes: readonly Change<TableRow<ConfigMap>>[]): unknown[] {
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
  assertThrows(() => reader.end(), DecodeError, "found a Table, expected a list");
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
    'Cannot read an event of "configmaps": found a table of 2 rows, expected one',
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
