import { assertEquals, assertStrictEquals } from "@std/assert";
import { load } from "js-yaml";
import type { KubernetesObject, ObjectMeta } from "../../../src/api/object.ts";
import { defineResource, metadataOf, type Resource, tableOf, type TableRow } from "../../../src/api/resource.ts";
import {
  ageOf,
  GrowingTable,
  objectIn,
  qualifiedName,
  redactObject,
  rowCells,
  rowHeads,
  tableLines,
  yamlText,
} from "../../../src/cli/terminal/table.ts";
import { Deployment } from "../../../src/kinds/apps/v1.ts";
import { ConfigMap, Node, Pod } from "../../../src/kinds/core/v1.ts";
import fc from "fast-check";

const Secret: Resource = defineResource({ group: "", version: "v1", plural: "secrets", kind: "Secret" });

function object(fields: Record<string, unknown>): KubernetesObject {
  return { metadata: { name: "web-0", namespace: "shop" }, ...fields } as never;
}

Deno.test("redactObject hides what Secrets hold and keeps their keys", () => {
  const secret = object({
    data: { password: "aHVudGVyMg==" },
    stringData: { token: "hunter2" },
    metadata: {
      name: "login",
      annotations: { "kubectl.kubernetes.io/last-applied-configuration": "hunter2", team: "shop" },
    },
  });
  const shown = redactObject(secret, Secret, false);
  assertEquals(JSON.stringify(shown).includes("hunter2") || JSON.stringify(shown).includes("aHVudGVy"), false);
  assertEquals(shown as unknown, {
    data: { password: "[redacted]" },
    stringData: { token: "[redacted]" },
    metadata: {
      name: "login",
      annotations: { "kubectl.kubernetes.io/last-applied-configuration": "[redacted]", team: "shop" },
    },
  });
  assertEquals(
    (secret as unknown as { data: unknown }).data,
    { password: "aHVudGVyMg==" },
    "the cache's own is untouched",
  );
});

Deno.test("redactObject leaves alone what is no Secret, and Secrets when asked to", () => {
  const secret = object({ data: { a: "b" } });
  assertStrictEquals(redactObject(secret, Secret, true), secret);
  assertStrictEquals(redactObject(secret, ConfigMap, false), secret);
  const other: Resource = { ...Secret, group: "example.com" };
  assertStrictEquals(redactObject(secret, other, false), secret);
});

Deno.test("redactObject hides the last applied state in a Secret's metadata alone", () => {
  const annotations = { "kubectl.kubernetes.io/last-applied-configuration": "hunter2" };
  const shown = redactObject(object({ metadata: { name: "login", annotations } }), metadataOf(Secret), false);
  assertEquals(JSON.stringify(shown).includes("hunter2"), false);
});

Deno.test("tableLines makes columns as wide as their widest cell", () => {
  assertEquals(tableLines([["A", "NAME", "AGE"], ["long", "x", "1s"], ["b", "", ""]]), [
    "A      NAME   AGE",
    "long   x      1s",
    "b",
  ]);
  assertEquals(tableLines([]), []);
});

Deno.test("GrowingTable widens columns as it meets wider cells", () => {
  const table = new GrowingTable();
  assertEquals(table.line(["a", "b"]), "a   b");
  assertEquals(table.line(["long", "b"]), "long   b");
  assertEquals(table.line(["a", "b"]), "a      b");
});

Deno.test("qualifiedName returns a name that kubectl accepts", () => {
  assertEquals(qualifiedName(Pod, "web-0"), "pod/web-0");
  assertEquals(qualifiedName(Deployment, "web"), "deployment.apps/web");
});

const NOW = Date.parse("2026-06-01T12:00:00Z");
const metadata = { name: "web-0", namespace: "shop", creationTimestamp: "2026-06-01T11:55:00Z" };
const objectRowCells = { metadata } as KubernetesObject;

function row(cells: readonly unknown[], ...columns: readonly [name: string, priority: number][]): TableRow {
  return {
    metadata: objectRowCells.metadata,
    columns: columns.map(([name, priority]) => ({
      name,
      priority,
      type: "string",
      format: name === "Name" ? "name" : "",
      description: "",
    })),
    cells,
    object: objectRowCells,
  };
}

const pods = tableOf(Pod);
const web = row(["web-0", "1/1", null, 3, "5s"], ["Name", 0], ["Ready", 0], ["Gates", 1], ["Restarts", 0], ["Age", 0]);

Deno.test("rowCells are the server's cells, those of the wide output only when it is asked for", () => {
  assertEquals(rowHeads(pods, web, { wide: false, namespaces: false }), ["NAME", "READY", "RESTARTS", "AGE"]);
  assertEquals(rowCells(pods, web, { wide: false, namespaces: false }), ["web-0", "1/1", "3", "5s"]);
  assertEquals(rowHeads(pods, web, { wide: true, namespaces: true })[0], "NAMESPACE");
  assertEquals(rowCells(pods, web, { wide: true, namespaces: true }), ["shop", "web-0", "1/1", "", "3", "5s"]);
});

Deno.test("rowCells name the kind where several are printed, and no namespace of a cluster-scoped object", () => {
  const style = { wide: false, namespaces: true, kinds: true };
  assertEquals(rowCells(pods, web, style).slice(0, 2), ["shop", "pod/web-0"]);
  assertEquals(rowCells(tableOf(Node), web, style)[0], "node/web-0");
  assertEquals(rowHeads(tableOf(Node), web, style)[0], "NAME");
});

Deno.test("rowCells count an age anew when the time is given", () => {
  assertEquals(rowCells(pods, web, { wide: false, namespaces: false, now: NOW }).at(-1), "5m");
});

Deno.test("rowCells show the first line of a cell, and let no object control the terminal", () => {
  const odd = row(["a\nb", "\x1b]0;pwned\x07", { a: 1 }], ["Name", 0], ["Ready", 0], ["Map", 0]);
  assertEquals(rowCells(pods, odd, { wide: false, namespaces: false }), ["a...", "\\u001b]0;pwned\\u0007", `{"a":1}`]);
});

Deno.test("rowCells of metadata are name and age", () => {
  const style = { wide: false, namespaces: true };
  assertEquals(rowHeads(metadataOf(Pod), objectRowCells, style), ["NAMESPACE", "NAME", "AGE"]);
  const { creationTimestamp: _, ...ageless } = objectRowCells.metadata;
  assertEquals(rowCells(metadataOf(Pod), { metadata: ageless as ObjectMeta }, style), [
    "shop",
    "web-0",
    "<unknown>",
  ]);
});

Deno.test("objectIn returns the object of a row, and any other object as it is", () => {
  assertEquals([objectIn(pods, web), objectIn(Pod, objectRowCells)], [objectRowCells, objectRowCells]);
});

Deno.test("ageOf rounds down as kubectl does", () => {
  const now = Date.UTC(2026, 0, 10);
  const cases: [number, string][] = [
    [0, "0s"],
    [-5, "0s"],
    [119, "119s"],
    [120, "2m"],
    [125, "2m5s"],
    [7_200, "120m"],
    [28_800, "8h"],
    [172_799, "47h"],
    [172_800, "2d"],
  ];
  for (const [seconds, age] of cases) {
    assertEquals(ageOf(new Date(now - seconds * 1_000).toISOString(), now), age, String(seconds));
  }
  assertEquals(ageOf(undefined, now), "<unknown>");
  assertEquals(ageOf("yesterday", now), "<unknown>");
});

Deno.test("yamlText sorts keys, does not indent lists, and quotes what YAML would read as another type", () => {
  const value = { b: [{ z: 1, y: "1e3" }, "yes"], a: "0123", empty: [], text: "one\ntwo\n", control: "\x1b[31m" };
  assertEquals(yamlText(value).split("\n"), [
    `a: "0123"`,
    "b:",
    `- "y": "1e3"`,
    "  z: 1",
    `- "yes"`,
    `control: "\\e[31m"`,
    "empty: []",
    "text: |",
    "  one",
    "  two",
  ]);
});

Deno.test("yamlText of any JSON is read back as the same value", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 3 }), (value) => {
      const sent: unknown = JSON.parse(JSON.stringify(value)); // without -0, which JSON does not have
      assertEquals(load(yamlText(sent)), sent);
    }),
    { numRuns: 200 },
  );
});
