import { assertEquals } from "@std/assert";
import { Pacer } from "../../../src/async/pacer.ts";
import { Quarantine } from "../../../src/informer/cache/quarantine.ts";
import type { Cursor, CursorStart } from "../../../src/informer/events/cursor.ts";
import { Added } from "../../../src/informer/events/event.ts";
import { EventLog } from "../../../src/informer/events/event_log.ts";
import { type CursorOptions, openCursor } from "../../../src/informer/events/open_cursor.ts";
import { entry, type Thing } from "../../support/fixtures.ts";
import { line } from "../../support/informer.ts";

const quarantine = new Quarantine<Thing>(() => {}, () => true);

/** A log that counts the callbacks that wait for an event. */
class CountedLog extends EventLog<Thing> {
  waiting = 0;

  override onceAppended(wake: () => void): () => void {
    this.waiting++;
    const leave = super.onceAppended(() => {
      this.waiting--;
      wake();
    });
    return () => {
      this.waiting--;
      leave();
    };
  }
}

/** A cursor, the parts that it shares with others, and an `append` to its log. */
function opened(
  options: Partial<CursorOptions<Thing>> = {},
  entries = [entry("a", 1)],
  stepsPerTurn = 3,
): { cursor: Cursor<Thing>; log: CountedLog; pacer: Pacer; append: (name: string, version: number) => void } {
  const log = new CountedLog();
  const pacer = new Pacer(0, stepsPerTurn);
  const start: CursorStart<Thing> = { entries, synced: undefined, log, quarantine, pacer };
  const fail = (error: unknown): void => {
    throw error;
  };
  const cursor = openCursor(start, { onFilterError: fail, onOverrun: fail, ...options });
  return {
    cursor,
    log,
    pacer,
    append: (name, version) => log.append(new Added(entry(name, version), quarantine, false)),
  };
}

/** The events that can be polled in this turn. */
function polled(cursor: Cursor<Thing>): string[] {
  const lines: string[] = [];
  for (let event = cursor.poll(); event !== undefined; event = cursor.poll()) lines.push(line(event));
  return lines;
}

for (const backlog of ["keep", "latestPerKey"] as const) {
  Deno.test(`Cursor with backlog "${backlog}" reads its initial entries, then the log, and waits at the log's end`, async () => {
    const { cursor, log, append } = opened({ backlog }, [entry("a", 1)], 64);
    append("b", 11);
    assertEquals([polled(cursor), cursor.pending], [["+ default/a@1 (initial)", "+ default/b@11"], 0]);
    let over = false;
    const waiting = cursor.wait().then(() => over = true);
    await Promise.resolve();
    assertEquals([over, log.waiting], [false, 1]);
    append("c", 12);
    await waiting;
    assertEquals([polled(cursor), log.waiting], [["+ default/c@12"], 0]);
    cursor.close();
  });

  Deno.test(`Cursor close with backlog "${backlog}" drops unread events, and ends a wait for the log`, async () => {
    const { cursor, log, append } = opened({ backlog });
    polled(cursor);
    const waiting = cursor.wait();
    assertEquals(log.waiting, 1);
    cursor.close();
    await waiting;
    append("b", 11);
    cursor.resync([entry("a", 1)]);
    assertEquals([log.waiting, cursor.isClosed, cursor.pending, polled(cursor)], [0, true, 0, []]);
    await cursor.wait();
    cursor.close();
  });

  Deno.test(`Cursor resync with backlog "${backlog}" ends a wait for the log, but not one for a turn`, async () => {
    const first = ["a", "b", "c", "d"].map((name) => entry(name, 1));
    const { cursor, pacer } = opened({ backlog }, first);
    assertEquals(polled(cursor).length, 2, "the time of this turn is used up");
    let turns = -1;
    const waiting = cursor.wait().then(() => turns = pacer.turns);
    cursor.resync([entry("z", 1)]);
    for (let i = 0; i < 10; i++) await Promise.resolve();
    assertEquals(turns, -1);
    await waiting;
    assertEquals(turns, 1);
    while (cursor.pending > 0) {
      polled(cursor);
      if (cursor.pending > 0) await cursor.wait();
    }
    assertEquals(polled(cursor), []);
    const idle = cursor.wait();
    cursor.resync([entry("a", 1)]);
    await idle;
    assertEquals(cursor.pending, 1);
    cursor.close();
  });
}

Deno.test("Cursor close ends a wait for a turn, and leaves the pacer's queue", async () => {
  const { cursor, pacer } = opened({}, ["a", "b", "c"].map((name) => entry(name, 1)));
  assertEquals(polled(cursor).length, 2, "the time of this turn is used up");
  const waiting = cursor.wait();
  let others = 0;
  pacer.onTurn(() => others++);
  cursor.close();
  await waiting;
  assertEquals([pacer.turns, others], [0, 0], "it did not wait for the turn");
  await pacer.turn();
  assertEquals(others, 1);
});

Deno.test("Cursor also yields the turn while its filter drops all events", async () => {
  const first = Array.from({ length: 10 }, (_, i) => entry(`object-${i}`, 1));
  let asked = 0;
  const { cursor, append, pacer } = opened({ key: "default/x", filter: () => (asked++, true) }, first);
  append("x", 11);
  const lines: string[] = [];
  while (lines.length === 0) {
    lines.push(...polled(cursor));
    if (lines.length === 0) await cursor.wait();
  }
  assertEquals([lines, asked], [["+ default/x@11"], 1]);
  assertEquals(pacer.turns >= 3, true, `${pacer.turns} turns`);
  cursor.close();
});
