import { assertEquals, assertRejects } from "@std/assert";
import type { Change } from "../../../src/api/lister_watcher.ts";
import type { HandlerOptions, HandlerRegistration } from "../../../src/informer/events/event.ts";
import { added, deleted, entry, modified, type Thing } from "../../support/fixtures.ts";
import { gate, holding, line, Notes, Run } from "../../support/informer.ts";

/** Runs an informer on one object `x`, whose handler hangs in its first call until released. */
async function busy(
  options: HandlerOptions<Thing>,
  first = [entry("x", 1)],
): Promise<{ run: Run; notes: Notes; registration: HandlerRegistration; release: () => Promise<string[]> }> {
  const run = new Run(holding(...first));
  const notes = new Notes();
  const hold = gate();
  notes.gate = hold.promise;
  const registration = run.informer.addEventHandler(notes, options);
  await run.start();
  const release = async (): Promise<string[]> => {
    hold.resolve();
    await run.tick();
    return notes.take();
  };
  return { run, notes, registration, release };
}

Deno.test("a backlog keeps every event for a slow handler by default", async () => {
  const { run, notes, registration, release } = await busy({});
  await using _run = run;
  await run.send(added("a", 11), modified("a", 12), deleted("a", 13), added("a", 14));
  assertEquals([notes.take(), registration.pending], [["+ default/x@1 (initial)"], 5]);
  assertEquals(
    await release(),
    ["= 1 at 10", "+ default/a@11", "~ default/a@11→12", "- default/a@13", "+ default/a@14"],
  );
});

/** Changes of `a` while the handler is busy, and the events that it receives afterwards. */
const FOLDS: Readonly<Record<string, readonly [before: "there" | "not there", Change<Thing>[], string[]]>> = {
  "add": ["not there", [added("a", 11)], ["+ default/a@11"]],
  "add, update": ["not there", [added("a", 11), modified("a", 12)], ["+ default/a@12"]],
  "add, delete": ["not there", [added("a", 11), deleted("a", 12)], []],
  "add, update, delete": ["not there", [added("a", 11), modified("a", 12), deleted("a", 13)], []],
  "add, delete, add": ["not there", [added("a", 11), deleted("a", 12), added("a", 13)], ["+ default/a@13"]],
  "update": ["there", [modified("a", 11)], ["~ default/a@2→11"]],
  "update, update": ["there", [modified("a", 11), modified("a", 12)], ["~ default/a@2→12"]],
  "update, delete": ["there", [modified("a", 11), deleted("a", 12)], ["- default/a@12"]],
  "delete": ["there", [deleted("a", 11)], ["- default/a@11"]],
  "delete, add": ["there", [deleted("a", 11), added("a", 12)], ["- default/a@11", "+ default/a@12"]],
  "delete, add, update": ["there", [deleted("a", 11), added("a", 12), modified("a", 13)], [
    "- default/a@11",
    "+ default/a@13",
  ]],
  "delete, add, delete": ["there", [deleted("a", 11), added("a", 12), deleted("a", 13)], ["- default/a@11"]],
  "update, delete, add": ["there", [modified("a", 11), deleted("a", 12), added("a", 13)], [
    "- default/a@12",
    "+ default/a@13",
  ]],
  "another uid": ["there", [modified("a", 11, { uid: "other" })], ["- default/a@2 (unknown)", "+ default/a@11"]],
};

Deno.test("a latestPerKey backlog merges pending events into the fewest that lead to the current state [F12]", async () => {
  for (const [how, [before, changes, left]] of Object.entries(FOLDS)) {
    for (const batches of [[changes], changes.map((change) => [change])]) {
      const there = before === "there" ? [entry("a", 2), entry("x", 1)] : [entry("x", 1)];
      const { run, notes, release } = await busy({ backlog: "latestPerKey" }, there);
      await using _run = run;
      await release();
      const hold = gate();
      notes.gate = hold.promise;
      await run.send(modified("x", 9));
      assertEquals(notes.take(), ["~ default/x@1→9"], how);
      for (const batch of batches) await run.send(...batch);
      assertEquals(run.informer.status().handlers[0].pending, left.length === 0 ? 0 : 1, how);
      hold.resolve();
      await run.tick();
      assertEquals(notes.take(), left, how);
    }
  }
});

Deno.test("a latestPerKey backlog marks objects of the first list as initial, also when they have changed since", async () => {
  const { run, notes, registration, release } = await busy({ backlog: "latestPerKey" }, [
    entry("x", 1),
    entry("y", 1),
    entry("z", 1),
  ]);
  await using _run = run;
  await run.send(modified("y", 11), deleted("z", 12), added("n", 13));
  assertEquals([notes.take(), registration.hasSynced], [["+ default/x@1 (initial)"], false]);
  assertEquals(await release(), ["+ default/y@11 (initial)", "= 3 at 10", "+ default/n@13"]);
  assertEquals(registration.hasSynced, true);
});

Deno.test("a latestPerKey backlog does not merge events of a deleted object with those of its successor", async () => {
  const { run, notes, release } = await busy({ backlog: "latestPerKey" });
  await using _run = run;
  await release();
  let hold = gate();
  notes.gate = hold.promise;
  await run.send(modified("x", 11)); // delivered, and its call does not return
  await run.send(deleted("x", 12), added("x", 13));
  notes.gate = gate().promise;
  const second = gate();
  notes.gate = second.promise;
  hold.resolve();
  hold = second;
  await run.tick(); // the deletion is delivered, and its call does not return; the addition is next
  await run.send(modified("x", 14), deleted("x", 15));
  second.resolve();
  await run.tick();
  assertEquals(notes.lines, ["~ default/x@1→11", "- default/x@12", "+ default/x@13", "- default/x@15"]);
});

Deno.test("a bounded backlog removes a handler that falls further behind, and rejects waitForSync [F12]", async () => {
  // What was there at first does not count.
  const first = Array.from({ length: 10 }, (_, i) => entry(`x${i}`, 1));
  const { run, notes, registration, release } = await busy({ backlog: { max: 3 }, name: "slow" }, first);
  await using _run = run;
  const others = run.listen();
  const waiting = assertRejects(() => registration.waitForSync(), Error);
  await run.send(added("a", 11), modified("a", 12), deleted("a", 13));
  assertEquals([run.errors, registration.pending], [[], 13]);
  await run.send(added("a", 14));
  const message = 'Cannot keep up with handler "slow": it is more than 3 events behind';
  assertEquals([run.complaints, (await waiting).message], [[`Error: ${message}`], message]);
  assertEquals(run.informer.status().handlers.map(({ name }) => name), ["handler 1"]);
  notes.take();
  assertEquals([await release(), others.lines.length], [[], 15]);
});

Deno.test("a bounded backlog keeps a handler that stays within it, however many events there are", async () => {
  const { run, notes, release } = await busy({ backlog: { max: 3 } });
  await using _run = run;
  await release();
  for (let version = 11; version < 100; version += 3) {
    const hold = gate();
    notes.gate = hold.promise;
    await run.send(modified("x", version), modified("x", version + 1), modified("x", version + 2));
    hold.resolve();
    await run.tick();
  }
  assertEquals([notes.take().length, run.errors], [90, []]);
});

Deno.test("a stream of events that falls too far behind rejects, and ends", async () => {
  await using run = await new Run(holding(entry("x", 1))).start();
  const events = run.informer.events({ backlog: { max: 2 }, name: "reader" });
  await events.next();
  await run.send(modified("x", 11), modified("x", 12), modified("x", 13));
  await assertRejects(() => events.next(), Error, 'Cannot keep up with "reader": it is more than 2 events behind');
  assertEquals([await events.next(), run.informer.status().handlers], [{ done: true, value: undefined }, []]);
});

Deno.test("every backlog policy delivers the first list in order, and does not count it as falling behind", async () => {
  const first = ["c", "a", "b", "d"].map((name, index) => entry(name, index + 1));
  await using run = new Run(holding(...first));
  const policies = { keep: "keep", folded: "latestPerKey", bounded: { max: 1 } } as const;
  const hold = gate();
  const notes = Object.entries(policies).map(([name, backlog]) => {
    const notes = new Notes();
    notes.gate = hold.promise;
    run.informer.addEventHandler(notes, { name, backlog });
    return notes;
  });
  const stream = run.informer.events();
  const delivered = stream.next();
  await run.start();
  const initial = ["c@1", "a@2", "b@3", "d@4"].map((name) => `+ default/${name} (initial)`);
  for (const { lines } of notes) assertEquals(lines, initial.slice(0, 1));
  assertEquals(line((await delivered).value!), initial[0]);
  // Three and the end of the list; of the stream, too.
  assertEquals(run.informer.status().handlers.map(({ pending }) => pending), [4, 4, 4, 4]);
  await run.send(modified("b", 11));
  const late = run.listen();
  hold.resolve();
  await run.tick();
  const end = "= 4 at 10";
  assertEquals(notes.map((each) => each.take()), [
    [...initial, end, "~ default/b@3→11"],
    [...initial.with(2, "+ default/b@11 (initial)"), end],
    [...initial, end, "~ default/b@3→11"],
  ]);
  assertEquals(late.take(), [...initial.with(2, "+ default/b@11 (initial)"), "= 4 at 11"]);
  for (const expected of [...initial.slice(1), end, "~ default/b@3→11"]) {
    assertEquals(line((await stream.next()).value!), expected);
  }
});
