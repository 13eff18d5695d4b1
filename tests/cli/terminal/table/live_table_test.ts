import { assertEquals } from "@std/assert";
import type { KubernetesObject } from "../../../../src/api/object.ts";
import { tableOf } from "../../../../src/api/resource.ts";
import type { TableRow } from "../../../../src/api/table_row.ts";
import { LiveTable } from "../../../../src/cli/terminal/table/live_table.ts";
import { ConfigMap, Pod } from "../../../../src/kinds/core/v1.ts";

const pods = tableOf(Pod);
const maps = tableOf(ConfigMap);
const style = { wide: false, namespaces: false };

function row(name: string, status = "Running"): TableRow {
  const metadata = { name, namespace: "shop" } as KubernetesObject["metadata"];
  const column = (name: string): TableRow["columns"][number] => {
    return { name, type: "string", format: name === "Name" ? "name" : "", description: "", priority: 0 };
  };
  return { metadata, columns: [column("Name"), column("Status")], cells: [name, status], object: { metadata } };
}

Deno.test("LiveTable has its rows in order, as they come, change and go", () => {
  const table = new LiveTable([pods], style);
  assertEquals([table.length, table.lines(0, 10, 0)], [0, []]);
  for (const name of ["c", "a", "b"]) table.set(pods, `shop/${name}`, row(name));
  assertEquals(table.lines(0, 10, 0), ["NAME   STATUS", "a      Running", "b      Running", "c      Running"]);
  table.set(pods, "shop/b", row("b", "Failed"));
  table.delete(pods, "shop/a");
  assertEquals(table.lines(0, 10, 0), ["NAME   STATUS", "b      Failed", "c      Running"]);
  assertEquals([table.length, table.size], [3, 2]);
});

Deno.test("LiveTable shows the part that is asked for, below the heads", () => {
  const table = new LiveTable([pods], style);
  for (let i = 0; i < 1_000; i++) table.set(pods, `shop/${1_000 + i}`, row(`${1_000 + i}`));
  assertEquals(table.lines(500, 3, 0), ["NAME   STATUS", "1500   Running", "1501   Running"]);
  assertEquals(table.lines(999, 5, 0), ["NAME   STATUS", "1999   Running"]);
});

Deno.test("LiveTable has a part for each resource that has objects, with the kind in the names", () => {
  const table = new LiveTable([pods, maps], style);
  table.set(maps, "shop/a", row("a", "-"));
  assertEquals(table.lines(0, 9, 0), ["NAME          STATUS", "configmap/a   -"]);
  table.set(pods, "shop/b", row("b"));
  const all = ["NAME    STATUS", "pod/b   Running", "", "NAME          STATUS", "configmap/a   -"];
  assertEquals([table.lines(0, 9, 0), table.length], [all, 5]);
  for (let first = 0; first < 5; first++) {
    const heads = first === 1 ? [all[0]] : first === 4 ? [all[3]] : [all[first]];
    assertEquals(table.lines(first, 2, 0), [...heads, ...all.slice(first + 1, first + 2)], String(first));
  }
});
