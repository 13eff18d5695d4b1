import { assertEquals } from "@std/assert";
import type { CacheEntry } from "../../../../src/engine/api/entry.ts";
import { nextTurn, Pacer } from "../../../../src/engine/async/turns.ts";
import { Quarantine } from "../../../../src/engine/informer/cache/entry_transform.ts";
import {
  BacklogLimit,
  type Cursor,
  type CursorOptions,
  type CursorStart,
  openCursor,
} from "../../../../src/engine/informer/events/cursors.ts";
import { Added, Deleted, Updated } from "../../../../src/engine/informer/events/event.ts";
import { EventLog, type LogFollower } from "../../../../src/engine/informer/events/event_log.ts";
import { entry, type Thing } from "../../../support/sources/fixtures.ts";
import { collectHeap } from "../../../support/times/heap.ts";
import { line } from "../../../support/sources/informer.ts";

const event = new Added(entry("a", 1), new Quarantine<Thing>(() => {}, () => true), false);

/** A pacer whose turns come when a test says so. */
class HeldPacer extends Pacer {
  #go: (() => void) | undefined;

  override turn(): Promise<void> {
    return new Promise((resolve) => this.#go = resolve);
  }

  /** Lets the turn come, and what follows it. */
  async pass(): Promise<void> {
    await settled();
    this.#go?.();
    this.#go = undefined;
    await settled();
  }
}

async function settled(): Promise<void> {
  for (let i = 0; i < 3; i++) await nextTurn();
}

/** A limit of 10 events, and the errors of overruns. */
function limited(): {
  pacer: HeldPacer;
  errors: string[];
  log: (count: number) => void;
  take: (count: number) => void;
} {
  const log = new EventLog<Thing>();
  log.readers = 1;
  const pacer = new HeldPacer();
  const errors: string[] = [];
  const limit: BacklogLimit<Thing> = new BacklogLimit<Thing>(10, log, pacer, ({ message }) => {
    errors.push(message);
    limit.end();
  });
  return {
    pacer,
    errors,
    log: (count) => {
      for (let i = 0; i < count; i++) log.append(event);
    },
    take: (count) => {
      for (let i = 0; i < count; i++) limit.taken(event);
    },
  };
}

Deno.test("BacklogLimit compares a backlog with the last one only when the reader has taken all of that", async () => {
  const { pacer, errors, log, take } = limited();
  log(20);
  await settled();
  take(20);
  log(15);
  await pacer.pass();
  // Of those 15, the reader takes 5 in its next turn, in which 12 more come: 22 in all, but 10 of the 15 are left.
  take(5);
  log(12);
  await pacer.pass();
  assertEquals(errors, []);
  take(10);
  log(4); // 16 behind, and all 15 are taken
  await pacer.pass();
  assertEquals(errors, ["its backlog exceeded the limit of 10 events"]);
});

Deno.test("BacklogLimit ends a reader that takes nothing, also after it has caught up once", async () => {
  const { pacer, errors, log, take } = limited();
  log(11);
  await settled();
  take(11);
  await pacer.pass();
  log(11);
  await settled();
  assertEquals(errors, []);
  await pacer.pass();
  assertEquals(errors, ["its backlog exceeded the limit of 10 events"]);
});

const quarantine = new Quarantine<Thing>(() => {}, () => true);

/** A log that counts its followers, and the callbacks that wait for an event. */
class CountedLog extends EventLog<Thing> {
  waiting = 0;
  followers = 0;

  override follow(follower: LogFollower<Thing>): () => void {
    this.followers++;
    const leave = super.follow(follower);
    return () => {
      this.followers--;
      leave();
    };
  }

  override followKey(key: string, follower: LogFollower<Thing>): () => void {
    this.followers++;
    const leave = super.followKey(key, follower);
    return () => {
      this.followers--;
      leave();
    };
  }

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
    assertEquals(log.waiting, 0);
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
  const { cursor, append, pacer } = opened({ filter: ({ metadata }) => (asked++, metadata.name === "x") }, first);
  append("x", 11);
  const lines: string[] = [];
  while (lines.length === 0) {
    lines.push(...polled(cursor));
    if (lines.length === 0) await cursor.wait();
  }
  assertEquals([lines, asked], [["+ default/x@11"], 11]);
  assertEquals(pacer.turns >= 3, true, `${pacer.turns} turns`);
  cursor.close();
});

Deno.test("Cursor that is closed follows the log no more, and keeps none of the entries that it has not read", async () => {
  const entries = (): CacheEntry<Thing>[] => [entry("a", 1), entry("b", 2), entry("c", 3)];
  for (const backlog of ["keep", "latestPerKey", { max: 3 }] as const) {
    for (const unread of ["the start", "a resync"]) {
      // What is unread is made in a function of its own, so that nothing else keeps it.
      const open = (): { cursor: Cursor<Thing>; log: CountedLog; unread: WeakRef<object>[] } => {
        const synced = { type: "synced", objects: 3, resourceVersion: "3" } as const;
        const start = unread === "the start" ? { entries: entries(), synced } : { entries: [], synced: undefined };
        const log = new CountedLog();
        const cursor = openCursor({ ...start, log, quarantine, pacer: new Pacer() }, {
          backlog,
          onFilterError: () => {},
          onOverrun: () => {},
        });
        const resync = entries();
        if (unread === "a resync") {
          assertEquals(polled(cursor), []);
          cursor.resync(resync);
        }
        cursor.poll();
        assertEquals(cursor.pending, unread === "the start" ? 3 : 2);
        return { cursor, log, unread: [start.entries, synced, resync, resync[2]].map((kept) => new WeakRef(kept)) };
      };
      const { cursor, log, unread: refs } = open();
      cursor.close();
      assertEquals([log.followers, cursor.pending], [0, 0]);
      const kept = (): number => refs.filter((ref) => ref.deref() !== undefined).length;
      for (let i = 0; i < 10 && kept() > 0; i++) await collectHeap();
      assertEquals(kept(), 0, `${JSON.stringify(backlog)}, ${unread}`);
      assertEquals(cursor.isClosed, true);
    }
  }
});

Deno.test("Cursor that was idle shares the time of the turn in which the log wakes it", async () => {
  const { cursor, pacer, append } = opened({}, [], 2);
  assertEquals(polled(cursor), []);
  const idle = cursor.wait();
  await pacer.turn();
  while (!pacer.step()); // another reader uses up this turn
  append("a", 11);
  await idle;
  assertEquals(polled(cursor), []);
  await cursor.wait();
  assertEquals(polled(cursor), ["+ default/a@11"]);
  cursor.close();
});

Deno.test("Cursor of one object is neither given nor woken by events of others, reads each of its own, and leaves the log", async () => {
  const { cursor, log, append } = opened({ key: "default/x" }, [entry("x", 1)], 64);
  assertEquals(polled(cursor), ["+ default/x@1 (initial)"]);
  const waiting = cursor.wait();
  append("a", 11);
  log.appendInitial([entry("b", 12)]);
  assertEquals([cursor.pending, log.waiting], [0, 0]);
  append("x", 13);
  append("x", 14);
  log.append({ type: "synced", objects: 1, resourceVersion: "14" });
  log.appendInitial([entry("b", 15), entry("x", 16)]);
  await waiting;
  const lines = ["+ default/x@13", "+ default/x@14", "= 1 at 14", "+ default/x@16 (initial)"];
  assertEquals([polled(cursor), cursor.pending], [lines, 0]);
  cursor.resync([entry("x", 16)]);
  cursor.resync([entry("x", 16)]);
  assertEquals(polled(cursor), ["~ default/x@16→16 (resync)"]);
  const last = cursor.wait();
  cursor.close();
  await last;
  append("x", 17);
  assertEquals([cursor.isClosed, log.followers, cursor.pending, polled(cursor)], [true, 0, 0, []]);
});

Deno.test("Cursor resync does not take a turn from a reader that does not wait", async () => {
  const { cursor, pacer, append } = opened({}, [], 2);
  const waited = cursor.wait();
  append("a", 11);
  append("b", 12);
  await waited;
  assertEquals(line(cursor.poll()!), "+ default/a@11");
  await pacer.turn(); // the reader works meanwhile
  while (!pacer.step());
  cursor.resync([entry("a", 11)]);
  assertEquals(line(cursor.poll()!), "+ default/b@12", "it has its own turn");
  cursor.close();
});

Deno.test('Cursor with backlog "latestPerKey" adds a resync of objects without unread events only', () => {
  const { cursor, log } = opened({ backlog: "latestPerKey" }, [], 64);
  const update = (name: string, from: number, to: number): void =>
    log.append(new Updated(entry(name, to), quarantine, entry(name, from), false));
  update("a", 1, 11);
  log.append(new Deleted(entry("b", 12), quarantine, false));
  cursor.resync([entry("a", 11), entry("c", 1)]);
  assertEquals(polled(cursor), ["~ default/a@1→11", "- default/b@12", "~ default/c@1→1 (resync)"]);
});

Deno.test('Cursor with backlog "latestPerKey" adds a resync again when the events of the last one were merged with updates', () => {
  const { cursor, log } = opened({ backlog: "latestPerKey" }, [], 64);
  cursor.resync([entry("a", 1)]);
  cursor.resync([entry("a", 1), entry("b", 1)]);
  assertEquals(cursor.pending, 1, "the last resync has not been read");
  log.append(new Updated(entry("a", 11), quarantine, entry("a", 1), false));
  cursor.resync([entry("b", 1)]);
  assertEquals(polled(cursor), ["~ default/a@1→11", "~ default/b@1→1 (resync)"]);
});

Deno.test('Cursor close with backlog "latestPerKey" drops an addition whose deletion was read', () => {
  const { cursor, log, append } = opened({ backlog: "latestPerKey" }, []);
  log.append(new Deleted(entry("a", 11), quarantine, false));
  append("a", 12);
  assertEquals([line(cursor.poll()!), cursor.pending], ["- default/a@11", 1]);
  cursor.close();
  assertEquals(cursor.pending, 0);
});
