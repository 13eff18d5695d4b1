import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { ReadAhead } from "../../src/async/read_ahead.ts";
import { refused, type Thing } from "../support/fixtures.ts";
import type { ListPart } from "../../src/api/lister_watcher.ts";
import { END, ScriptedSource } from "../support/scripted_source.ts";

/** A reader of the next list of `source`. */
function readerOf(source: ScriptedSource, signal?: AbortSignal): ReadAhead<ListPart<Thing>> {
  return new ReadAhead((signal) => source.listEntries({ signal }), signal);
}

Deno.test("ReadAhead requests the first item before the first next(), and each later one only at its next()", async () => {
  const source = new ScriptedSource().list({ entries: [], continue: "t" }, { entries: [] }, END);
  const reader = readerOf(source);
  assertEquals(source.calls[0]?.asked ?? false, false);
  reader.request();
  assertEquals(source.calls[0].asked, true);
  assertEquals((await reader.next())?.continue, "t");
  assertEquals((await reader.next())?.continue, undefined);
  assertEquals(await reader.next(), undefined);
  await reader.close();
  assertEquals(source.open, 0);
});

Deno.test("ReadAhead keeps the error of its first item until next(), and drops it when it is closed before", async () => {
  for (const isRead of [true, false]) {
    const source = new ScriptedSource().list(refused(500));
    const reader = readerOf(source);
    reader.request();
    if (isRead) await assertRejects(() => reader.next(), Error, "500");
    await reader.close();
    assertEquals(source.open, 0);
  }
});

Deno.test("ReadAhead close does not wait for a source that never answers", async () => {
  const source = new ScriptedSource().list();
  const reader = readerOf(source);
  reader.request();
  source.calls[0].ignoresAbort = true;
  await reader.close();
  assertEquals(source.calls[0].over, "returned");
});

Deno.test("ReadAhead leaves no listener on its signal when the source cannot be opened", () => {
  let listeners = 0;
  const { signal } = new AbortController();
  signal.addEventListener = (): void => void listeners++;
  signal.removeEventListener = (): void => void listeners--;
  const open = (): never => {
    throw new TypeError("no such source");
  };
  assertThrows(() => new ReadAhead(open, signal), TypeError, "no such source");
  assertEquals(listeners, 0);
});
