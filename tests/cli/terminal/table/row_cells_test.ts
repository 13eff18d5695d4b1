import { assertEquals } from "@std/assert";
import type { KubernetesObject, ObjectMeta } from "../../../../src/api/object.ts";
import { metadataOf, tableOf } from "../../../../src/api/resource.ts";
import type { TableRow } from "../../../../src/api/table_row.ts";
import { objectIn, rowCells, rowHeads } from "../../../../src/cli/terminal/table/row_cells.ts";
import { Node, Pod } from "../../../../src/kinds/core/v1.ts";

const NOW = Date.parse("2026-06-01T12:00:00Z");
const metadata = { name: "web-0", namespace: "shop", creationTimestamp: "2026-06-01T11:55:00Z" };
const object = { metadata } as KubernetesObject;

function row(cells: readonly unknown[], ...columns: readonly [name: string, priority: number][]): TableRow {
  return {
    metadata: object.metadata,
    columns: columns.map(([name, priority]) => ({
      name,
      priority,
      type: "string",
      format: name === "Name" ? "name" : "",
      description: "",
    })),
    cells,
    object,
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
  assertEquals(rowHeads(metadataOf(Pod), object, style), ["NAMESPACE", "NAME", "AGE"]);
  const { creationTimestamp: _, ...ageless } = object.metadata;
  assertEquals(rowCells(metadataOf(Pod), { metadata: ageless as ObjectMeta }, style), [
    "shop",
    "web-0",
    "<unknown>",
  ]);
});

Deno.test("objectIn returns the object of a row, and any other object as it is", () => {
  assertEquals([objectIn(pods, web), objectIn(Pod, object)], [object, object]);
});
