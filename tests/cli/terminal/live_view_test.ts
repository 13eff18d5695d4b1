import { assert, assertEquals } from "@std/assert";
import fc from "npm:fast-check@^4.10.2";
import type { KubernetesObject } from "../../../src/engine/api/object.ts";
import { asTable, type TableRow } from "../../../src/engine/api/resource.ts";
import { Histogram } from "../../../src/engine/async/histogram.ts";
import { FramePainter, LiveTable, LiveView, ScrollPosition } from "../../../src/cli/terminal/live_view.ts";
import { Terminal } from "../../../src/cli/terminal/terminal.ts";
import type { InformerStatus } from "../../../src/engine/informer/status.ts";
import { ConfigMap, Pod } from "../../../src/engine/kinds/core/v1.ts";
import { FakeTime } from "../../support/times/fake_time.ts";
import { Captured } from "../../support/processes/session.ts";
import { ShownScreen } from "../_shown_screen.ts";

function status(part: Partial<InformerStatus>): InformerStatus {
  return {
    state: "live",
    since: new Date(),
    resourceVersion: "1",
    objects: 0,
    events: 0,
    lists: 0,
    completedLists: 0,
    watches: 0,
    recentRelists: 0,
    recentResumes: 0,
    listMs: new Histogram().durations,
    commitMs: new Histogram().durations,
    errors: 0,
    quarantined: 0,
    outdated: 0,
    differences: 0,
    handlers: [],
    ...part,
  };
}

Deno.test("LiveView shows the status of an informer", async () => {
  using time = new FakeTime();
  const err = new Captured(true);
  const screen = { stdout: new Captured(), stderr: err, columns: () => 120, capable: true };
  const terminal = new Terminal(() => {}, screen);
  let now = status({ state: "listing", listing: { objects: 500, remaining: 9_500 } });
  const view = new LiveView([{ resource: Pod, informer: { status: () => now } }], terminal);
  const shown = (): string => {
    err.text = "";
    time.tick(250);
    return err.text.replace("\r\x1b[2K", "");
  };
  assertEquals(shown(), "pods: listing, 500 of 10000 listed · 0 events/s");
  now = status({ state: "listing", listing: { objects: 700 } });
  assertEquals(shown(), "pods: listing, 700 listed · 0 events/s");
  now = status({ objects: 10_000, lastBookmarkAt: new Date(Date.now() - 12_000), handlers: [{ pending: 7 } as never] });
  assertEquals(shown(), "pods: live, 10000 objects, 7 behind, bookmark 12s ago · 0 events/s");
  now = status({ state: "unreachable", objects: 10_000, since: new Date(Date.now() - 59_750) });
  assertEquals(shown(), "pods: unreachable for 60s, 10000 objects · 0 events/s");
  err.text = "";
  view[Symbol.dispose]();
  assertEquals(err.text, "\r\x1b[2K");
  err.text = "";
  await time.tickAsync(1_000);
  assertEquals([err.text, time.timers], ["", 0]);
  await terminal.flush();
});

const size = { columns: 10, rows: 3 };

Deno.test("FramePainter writes changed rows only", () => {
  const painter = new FramePainter();
  const screen = new ShownScreen();
  screen.write(painter.paint(["a", "b", "c"], size));
  assertEquals([screen.rows, screen.written], [["a", "b", "c"], [1, 2, 3]]);
  assertEquals(painter.paint(["a", "b", "c"], size), "");
  assertEquals(painter.paint(["a", "B", "c"], size), "\x1b[2;1HB\x1b[K");
  assertEquals(painter.paint(["a", "0123456789 too long", "c", "too far"], size), "\x1b[2;1H012345678…");
});

Deno.test("FramePainter draws all rows anew after a change of the size", () => {
  const painter = new FramePainter();
  painter.paint(["a", "b", "c"], size);
  assertEquals(
    painter.paint(["a", "b", "c"], { columns: 10, rows: 2 }),
    "\x1b[H\x1b[2J\x1b[1;1Ha\x1b[K\x1b[2;1Hb\x1b[K",
  );
});

Deno.test("FramePainter shows each frame, whatever was shown before", () => {
  const frames = fc.array(fc.record({
    lines: fc.array(fc.stringMatching(/^[a-c]{0,6}$/), { maxLength: 6 }),
    size: fc.constantFrom(size, { columns: 4, rows: 5 }),
  }));
  fc.assert(fc.property(frames, (frames) => {
    const painter = new FramePainter();
    const screen = new ShownScreen();
    for (const { lines, size } of frames) {
      screen.write(painter.paint(lines, size));
      const expected = lines.slice(0, size.rows).map((line) =>
        line.length > size.columns ? `${line.slice(0, size.columns - 1)}…` : line
      );
      const shown = Array.from({ length: size.rows }, (_, row) => screen.rows[row] ?? "");
      assertEquals(shown, Array.from(shown, (_, row) => expected[row] ?? ""));
    }
  }));
});

Deno.test("ScrollPosition moves by rows, by pages and to both ends, and stays within the table", () => {
  const scroll = new ScrollPosition();
  const after = (key: string, count = 100): number => {
    scroll.press(key);
    return scroll.within(count, 10);
  };
  assertEquals(scroll.within(100, 10), 0);
  assertEquals([after("j"), after("\x1b[B"), after("k")], [1, 2, 1]);
  assertEquals([after(" "), after("\x1b[6~"), after("b")], [10, 19, 10]);
  assertEquals([after("G"), after("j"), after("g"), after("k")], [90, 90, 0, 0]);
  assertEquals(after("G"), 90);
  assertEquals([after("x", 50), after("x", 5)], [40, 0]);
});

const pods = asTable(Pod);
const maps = asTable(ConfigMap);
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
  assertEquals(table.length, 3);
});

Deno.test("LiveTable shows the part that is asked for, below the heads", () => {
  const table = new LiveTable([pods], style);
  for (let i = 0; i < 1_000; i++) table.set(pods, `shop/${1_000 + i}`, row(`${1_000 + i}`));
  assertEquals(table.lines(500, 3, 0), ["NAME   STATUS", "1500   Running", "1501   Running"]);
  assertEquals(table.lines(999, 5, 0), ["NAME   STATUS", "1999   Running"]);
});

/** A row as the server has it for pods. */
function podRow(name: string, status: string): TableRow {
  const { columns: [first], metadata, ...rest } = row(name);
  const columns = ["Name", "Ready", "Status", "Restarts", "Age"].map((name) => ({ ...first, name, format: "" }));
  const created = { ...metadata, creationTimestamp: new Date(-300_000).toISOString() };
  return { ...rest, metadata: created, columns, cells: [name, "1/1", status, "0", "5m"] };
}

Deno.test("LiveTable shortens the widest columns to the width of the screen, and keeps the others", () => {
  const table = new LiveTable([pods], style);
  const long = "billing-api-with-a-long-name-that-goes-on-and-on-7d9c5b8f6d-xk2lp";
  table.set(pods, "shop/a", podRow("a", "Running"));
  table.set(pods, "shop/b", podRow(long, "CrashLoopBackOff"));
  const lines = (columns: number): string[] => table.lines(0, 9, 0, columns);
  assertEquals(lines(200).at(-1), `${long}   1/1     CrashLoopBackOff   0          5m`);
  assertEquals(lines(80), [
    "NAME                                   READY   STATUS             RESTARTS   AGE",
    "a                                      1/1     Running            0          5m",
    "billing-api-with-a-long-name-that-g…   1/1     CrashLoopBackOff   0          5m",
  ]);
  assertEquals(lines(50), [
    "NAME          READY   STATUS        RESTARTS   AGE",
    "a             1/1     Running       0          5m",
    "billing-ap…   1/1     CrashLoopB…   0          5m",
  ]);
  for (let columns = 17; columns < 90; columns++) {
    assert(table.lines(0, 9, 0, columns).every((line) => line.length <= columns), String(columns));
  }
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
