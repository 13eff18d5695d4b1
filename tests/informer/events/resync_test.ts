import { assert, assertEquals } from "@std/assert";
import { ResyncTimer } from "../../../src/informer/events/processor.ts";
import { added, deleted, entry, modified, unparsable } from "../../support/fixtures.ts";
import { FakeTime } from "../../support/fake_time.ts";
import { gate, holding, line, Notes, Run } from "../../support/informer.ts";

// client-go rounds periods up to those of a common check, of 1 s at least; here each handler has its own.
Deno.test("SharedIndexInformer resyncs each handler at its own period, and a handler without a period never [C086] [F18]", async () => {
  for (const delayMs of [0, 1_000]) {
    await using run = new Run(holding(entry("a", 1), entry("b", 1)));
    const handlers = [0, 2_000, 3_000].map((resyncMs) => {
      const notes = run.listen({ resyncMs });
      return notes;
    });
    await run.tick(delayMs); // periods begin when the informer runs
    await run.start();
    const taken = (): number[] => handlers.map((notes) => notes.take().length);
    assertEquals(taken(), [3, 3, 3]);
    await run.tick(1_999);
    assertEquals(taken(), [0, 0, 0]);
    await run.tick(1);
    assertEquals(handlers[1].lines, ["~ default/a@1→1 (resync)", "~ default/b@1→1 (resync)"]);
    assertEquals(taken(), [0, 2, 0]);
    await run.tick(1_000);
    assertEquals(taken(), [0, 0, 2]);
    await run.tick(3_000);
    assertEquals(taken(), [0, 4, 2]);
  }
});

Deno.test("SharedIndexInformer's resync period applies to handlers without one of their own [C087]", async () => {
  await using run = new Run(holding(entry("a", 1)), { resyncMs: 60_000 });
  const handlers = [undefined, 0, 55_000, 5_000].map((resyncMs) => {
    const notes = run.listen({ resyncMs });
    return notes;
  });
  await run.start();
  const late = run.listen({ resyncMs: 1_000 });
  await run.tick();
  for (const notes of [...handlers, late]) notes.take();
  await run.tick(60_000);
  assertEquals([...handlers, late].map((notes) => notes.lines.length), [1, 0, 1, 12, 60]);
});

Deno.test("a resync period may be longer than the runtime's timers allow, and Infinity means never", async () => {
  using time = new FakeTime();
  const days30 = 30 * 86_400_000;
  for (
    const [periodMs, passedMs, expected] of [[2 ** 31, 2 ** 33, 4], [days30, 100 * days30, 100], [Infinity, days30, 0]]
  ) {
    let ticks = 0;
    const timer = new ResyncTimer(periodMs, () => ticks++);
    timer.begin();
    timer.begin();
    await time.tickAsync(Math.min(periodMs, passedMs) - 1);
    assertEquals(ticks, 0);
    await time.tickAsync(passedMs - Math.min(periodMs, passedMs) + 1);
    assertEquals(ticks, expected);
    timer.end();
    timer.begin();
    assertEquals(time.timers, 0);
  }
});

Deno.test("SharedIndexInformer skips a resync while the one before is still pending [F18]", async () => {
  for (const backlog of ["keep", "latestPerKey"] as const) {
    await using run = new Run(holding(entry("a", 1), entry("b", 1)));
    const notes = run.listen({ resyncMs: 1_000, backlog });
    await run.start();
    notes.take();
    const hold = gate();
    notes.gate = hold.promise;
    await run.tick(5_000);
    assertEquals([notes.lines, run.informer.status().handlers[0].pending], [["~ default/a@1→1 (resync)"], 1], backlog);
    hold.resolve();
    await run.tick();
    assertEquals(notes.take(), ["~ default/a@1→1 (resync)", "~ default/b@1→1 (resync)"], backlog);
    await run.tick(1_000);
    assertEquals(notes.take().length, 2, backlog);
  }
});

Deno.test("SharedIndexInformer resyncs a handler that always has pending events, once the resync before is delivered", async () => {
  await using run = new Run(holding(entry("a", 1), entry("b", 1)));
  const notes = run.listen({ resyncMs: 1_000, backlog: "latestPerKey" });
  await run.start();
  notes.take();
  let version = 10;
  let call = gate();
  notes.gate = call.promise;
  await run.send(added("x", ++version)); // delivered, and its call does not return
  for (let step = 0; step < 100; step++) {
    // Something always waits when a call returns.
    if (run.informer.status().handlers[0].pending === 0) await run.send(modified("x", ++version));
    await run.tick(100);
    const last = call;
    call = gate();
    notes.gate = call.promise;
    last.resolve();
    await run.tick();
  }
  const resyncs = notes.lines.filter((line) => line === "~ default/a@1→1 (resync)").length;
  call.resolve();
  assert(resyncs >= 8, `${resyncs} resyncs were delivered in 10 s, of one a second`);
});

Deno.test("SharedIndexInformer delivers a resync in order with the changes, and leaves out objects that change meanwhile in a latestPerKey backlog", async () => {
  await using run = new Run(holding(entry("a", 1), entry("b", 1)));
  const kept = new Notes();
  const folded = new Notes();
  const hold = gate();
  run.informer.addEventHandler(kept, { resyncMs: 1_000 });
  run.informer.addEventHandler(folded, { resyncMs: 1_000, backlog: "latestPerKey" });
  await run.start();
  kept.take();
  folded.take();
  kept.gate = folded.gate = hold.promise;
  await run.send(added("c", 11));
  await run.tick(1_000);
  await run.send(modified("a", 12), deleted("b", 13));
  hold.resolve();
  await run.tick();
  assertEquals(kept.take(), [
    "+ default/c@11",
    "~ default/a@1→1 (resync)",
    "~ default/b@1→1 (resync)",
    "~ default/c@11→11 (resync)",
    "~ default/a@1→12",
    "- default/b@13",
  ]);
  assertEquals(folded.take(), ["+ default/c@11", "~ default/a@1→12", "- default/b@13", "~ default/c@11→11 (resync)"]);
});

Deno.test("SharedIndexInformer resyncs nothing before it has synced", async () => {
  await using run = new Run();
  const notes = run.listen({ resyncMs: 1_000 });
  await run.start();
  await run.tick(10_000);
  assertEquals(notes.lines, []);
});

Deno.test("SharedIndexInformer also resyncs event streams and filtered handlers", async () => {
  await using run = await new Run(holding(entry("a", 1), entry("b", 1, { size: 2 }))).start();
  const notes = run.listen({ resyncMs: 1_000, filter: ({ spec }) => spec.size === 2 });
  const events = run.informer.events({ resyncMs: 1_000 });
  const delivered: string[] = [];
  const reading = (async (): Promise<void> => {
    for await (const event of events) delivered.push(line(event));
  })();
  await run.tick(1_000);
  assertEquals(notes.lines, ["+ default/b@1 (initial)", "= 2 at 10", "~ default/b@1→1 (resync)"]);
  assertEquals(delivered.slice(3), ["~ default/a@1→1 (resync)", "~ default/b@1→1 (resync)"]);
  await run.informer[Symbol.asyncDispose]();
  await reading;
});

Deno.test("SharedIndexInformer delivers nothing when its reflector resyncs the queue, not even for unreadable objects", async () => {
  await using run = new Run(holding(entry("a", 1), unparsable("b", 2)), { reflector: { resyncMs: 1_000 } });
  const updated: string[] = [];
  run.informer.addEventHandler({ onUpdate: ({ key }) => void updated.push(key) });
  await run.start();
  assertEquals(run.informer.indexer.list().length, 1); // now it is known that b is broken
  await run.tick(3_000);
  assertEquals(updated, []);
});
