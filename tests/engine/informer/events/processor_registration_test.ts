import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import type { CacheEntry } from "../../../../src/engine/api/entry.ts";
import { InformerError } from "../../../../src/engine/errors/informer_error.ts";
import { ObjectCache } from "../../../../src/engine/informer/cache/object_cache.ts";
import type {
  HandlerRegistration,
  ResourceEventHandler,
  SyncedEvent,
} from "../../../../src/engine/informer/events/event.ts";
import { Processor } from "../../../../src/engine/informer/events/processor.ts";
import { CACHE_DEFAULTS, type SharedIndexInformerOptions } from "../../../../src/engine/informer/options.ts";
import { WaitError } from "../../../../src/engine/informer/status.ts";
import { FakeTime } from "../../../support/times/fake_time.ts";
import { added, deleted, entry, expired, modified, type Thing, unparsable } from "../../../support/sources/fixtures.ts";
import { gate, holding, line, Notes, Run } from "../../../support/sources/informer.ts";

Deno.test("HandlerRegistration is removed once, without others, and the same handler may be added twice [C092]", async () => {
  await using run = new Run(holding(entry("a", 1)));
  const notes = new Notes();
  const first = run.informer.addEventHandler(notes);
  const second = run.informer.addEventHandler(notes, { name: "second" });
  await run.start();
  assertEquals(notes.take().length, 4);
  const names = (): string[] => run.informer.status().handlers.map(({ name }) => name);
  assertEquals(names(), ["handler 1", "second"]);
  first.remove();
  first.remove();
  await run.tick();
  assertEquals(names(), ["second"]);
  await run.send(modified("a", 11));
  assertEquals(notes.take(), ["~ default/a@1→11"]);
  await second[Symbol.asyncDispose]();
  await second[Symbol.asyncDispose]();
  await run.send(modified("a", 12));
  assertEquals([notes.take(), names()], [[], []]);
});

Deno.test("SharedIndexInformer accepts handlers added and removed during many changes, and none after it has stopped [C093]", async () => {
  await using run = await new Run(holding()).start();
  const stays = run.listen();
  let version = 10;
  for (let round = 0; round < 100; round++) {
    const passing = Array.from({ length: 20 }, () => run.informer.addEventHandler(new Notes()));
    run.source.newest.send(Array.from({ length: 50 }, (_, i) => modified(`o${i % 10}`, ++version)));
    if (round % 2 === 0) await run.tick();
    for (const registration of passing) registration.remove();
  }
  await run.tick();
  assertEquals(run.informer.status().handlers.length, 1);
  assertEquals(stays.lines.length, 1 + 5_000);
  await run.informer[Symbol.asyncDispose]();
  assertThrows(() => run.informer.addEventHandler(new Notes()), Error, "it has stopped already");
});

Deno.test("SharedIndexInformer accepts no handler after it has stopped; removing one is allowed [C095]", async () => {
  await using run = await new Run(holding()).start();
  const registration = run.informer.addEventHandler({});
  await run.informer[Symbol.asyncDispose]();
  const message = 'Cannot add a handler to the informer of "objects": it has stopped already';
  assertThrows(() => run.informer.addEventHandler({}), Error, message);
  registration.remove();
  await registration[Symbol.asyncDispose]();
});

Deno.test("HandlerRegistration that is removed receives nothing more, not even pending events [C096]", async () => {
  await using run = new Run(holding(entry("a", 1), entry("b", 1)));
  const notes = new Notes();
  const hold = gate();
  notes.gate = hold.promise;
  const registration = run.informer.addEventHandler(notes);
  await run.start();
  registration.remove();
  assertEquals(registration.pending, 0);
  hold.resolve();
  await run.send(modified("a", 11));
  assertEquals([notes.lines, registration.hasSynced], [["+ default/a@1 (initial)"], false]);
  await assertRejects(
    () => registration.waitForSync(),
    WaitError,
    'handler "handler 1" of "objects" to sync: it was removed',
  );
});

Deno.test("HandlerRegistration waitForSync rejects with a WaitError when its signal aborts or the informer stops first", async () => {
  await using run = new Run(holding(entry("a", 1)));
  const hold = gate();
  const registration = run.informer.addEventHandler({ onAdd: () => hold.promise }, { name: "audit" });
  await run.start();
  const stop = new AbortController();
  const aborted = assertRejects(() => registration.waitForSync({ signal: stop.signal }), WaitError);
  const stopped = assertRejects(() => registration.waitForSync(), WaitError);
  await run.tick(2_000);
  const reason = new Error("too long");
  stop.abort(reason);
  const error = await aborted;
  assertEquals(
    error.message,
    'Cannot wait for handler "audit" of "objects" to sync: given up after 2.0 s, its state has been "live" for 2.0 s',
  );
  assertEquals([error.resource, error.state, error.stateMs, error.reason], ["objects", "live", 2_000, reason]);
  const disposed = run.informer[Symbol.asyncDispose]();
  await run.tick();
  hold.resolve();
  await disposed;
  assertEquals(
    (await stopped).message,
    'Cannot wait for handler "audit" of "objects" to sync: its informer has stopped',
  );
});

Deno.test("HandlerRegistration may be removed or disposed inside its own handler", async () => {
  for (const how of ["remove", "dispose", "dispose, awaited"]) {
    await using run = new Run(holding(entry("a", 1), entry("b", 1)));
    const delivered: string[] = [];
    const signals: boolean[] = [];
    const registration: HandlerRegistration = run.informer.addEventHandler({
      onAdd: ({ name }, { signal }) => {
        delivered.push(name);
        let disposed: Promise<void> | undefined;
        if (how === "remove") registration.remove();
        else disposed = registration[Symbol.asyncDispose]() as Promise<void>;
        signals.push(signal.aborted);
        if (how === "dispose, awaited") return disposed;
      },
    });
    await run.start();
    assertEquals([delivered, signals, run.errors], [["a"], [true], []], how);
    assertEquals(run.informer.status().handlers, [], how);
  }
});

Deno.test("HandlerRegistration disposal that a handler's own call awaits rejects after graceMs", async () => {
  await using run = new Run(holding(entry("a", 1)), { graceMs: 500 });
  const registration: HandlerRegistration = run.informer.addEventHandler({
    onAdd: async () => {
      await Promise.resolve();
      await registration[Symbol.asyncDispose]();
    },
  }, { name: "knot" });
  await run.start();
  await run.tick(500);
  assertEquals(run.complaints, [
    'InformerError: Handler "knot" failed on "added" of "default/a": Cannot finish handler "knot": its call has not returned within 500 ms',
  ]);
});

Deno.test("disposing a SharedIndexInformer inside a handler waits for all calls but that one, and run() for all", async () => {
  await using run = new Run(holding(entry("a", 1)));
  const { informer } = run;
  const happened: string[] = [];
  const note = (what: string) => (): void => void happened.push(what);
  const last = gate();
  const other = gate();
  informer.addEventHandler({ onAdd: () => other.promise });
  informer.addEventHandler({
    onAdd: async (_event, { signal }) => {
      await informer[Symbol.asyncDispose]();
      happened.push(`disposed, and ${signal.aborted ? "aborted" : "not aborted"}`);
      await last.promise;
    },
  });
  const running = informer.run().then(note("run"));
  await run.tick();
  assertEquals([happened, informer.status().state], [[], "stopped"]);
  const outside = informer[Symbol.asyncDispose]().then(note("disposed outside"));
  other.resolve();
  await run.tick();
  assertEquals(happened, ["disposed, and aborted"]);
  last.resolve();
  await Promise.all([running, outside]);
  assertEquals([happened.sort(), run.errors], [["disposed outside", "disposed, and aborted", "run"], []]);
});

Deno.test("disposing a SharedIndexInformer inside a handler resolves once it has stopped and has left its source", async () => {
  await using run = new Run(holding(entry("a", 1)));
  const { informer, source } = run;
  const seen: unknown[] = [];
  informer.addEventHandler({
    onAdd: async () => {
      await informer[Symbol.asyncDispose]();
      seen.push(informer.status().state, source.open);
    },
  });
  await run.start();
  assertEquals(seen, ["stopped", 0]);
});

Deno.test("HandlerRegistration.remove() does not wait for the running call, and disposal does [C099] [F20]", async () => {
  for (const when of ["added, never started", "added, then started", "started, then added"]) {
    await using run = new Run(holding(entry("a", 1)));
    if (when === "started, then added") await run.start();
    const hold = gate();
    let returned = false;
    const registration = run.informer.addEventHandler({
      onAdd: async () => {
        await hold.promise;
        returned = true;
      },
    });
    if (when === "added, then started") await run.start();
    await run.tick();
    registration.remove();
    assertEquals(returned, false, when);
    let disposed = false;
    const disposal = registration[Symbol.asyncDispose]().then(() => disposed = true);
    await run.tick();
    assertEquals(disposed, when === "added, never started", when);
    hold.resolve();
    await disposal;
    assertEquals(returned, when !== "added, never started", when);
  }
});

Deno.test("HandlerRegistration is removed when its signal aborts, and receives nothing if that was aborted before", async () => {
  await using run = new Run(holding(entry("a", 1)), { resyncMs: 1_000 });
  const stop = new AbortController();
  const notes = run.listen({ signal: stop.signal });
  const never = new Notes();
  const dead = run.informer.addEventHandler(never, { signal: AbortSignal.abort() });
  await run.start();
  assertEquals([notes.lines.length, never.lines], [2, []]);
  await assertRejects(() => dead.waitForSync(), Error, "it was removed");
  stop.abort();
  await run.send(modified("a", 11));
  await run.tick(5_000);
  assertEquals([notes.lines.length, never.lines, run.informer.status().handlers], [2, [], []]);
});

Deno.test("SharedIndexInformer that stops during handler calls aborts their signals and waits for them [C100]", async () => {
  await using run = new Run(holding(entry("a", 1), entry("b", 1)));
  let reason: unknown;
  const delivered: string[] = [];
  run.informer.addEventHandler({
    onAdd: ({ name }, { signal }) => {
      delivered.push(name);
      return new Promise<void>((resolve) =>
        signal.addEventListener("abort", () => {
          reason = signal.reason;
          resolve();
        })
      );
    },
  });
  const stop = new AbortController();
  const running = run.informer.run({ signal: stop.signal });
  await run.tick();
  stop.abort();
  await running;
  assertEquals([delivered, (reason as DOMException).name, run.time.timers], [["a"], "AbortError", 0]);
});

Deno.test("SharedIndexInformer names the handler that has not returned graceMs after the stop", async () => {
  using time = new FakeTime();
  const run = new Run(holding(entry("a", 1)), { graceMs: 2_000 }, time);
  const never = gate();
  const stop = new AbortController();
  run.informer.addEventHandler({ onAdd: () => never.promise }, { name: "stuck" });
  run.informer.addEventHandler(new Notes(), { name: "fine" });
  const running = run.informer.run({ signal: stop.signal });
  await time.tickAsync(0);
  stop.abort();
  let settled = false;
  const rejected = assertRejects(
    () => running.finally(() => settled = true),
    Error,
    'Cannot finish handler "stuck": its call has not returned within 2000 ms',
  );
  await time.tickAsync(1_999);
  assertEquals(settled, false);
  await time.tickAsync(1);
  await rejected;
  await run.informer[Symbol.asyncDispose](); // run() has rejected with the failure
  assertEquals([run.source.open, time.timers, run.informer.status().state], [0, 0, "stopped"]);
  never.resolve();
});

Deno.test("SharedIndexInformer may wait for a handler's call longer than the runtime's timers allow, or forever, by its graceMs", async () => {
  for (const [graceMs, waitMs] of [[2 ** 31, 2 ** 31 - 1], [Infinity, 2 ** 33]]) {
    using time = new FakeTime();
    const run = new Run(holding(entry("a", 1)), { graceMs }, time);
    const hold = gate();
    run.informer.addEventHandler({ onAdd: () => hold.promise });
    await run.start();
    let settled = false;
    const disposed = run.informer[Symbol.asyncDispose]().finally(() => settled = true);
    await time.tickAsync(waitMs);
    assertEquals([settled, time.timers], [false, graceMs === Infinity ? 0 : 1]);
    hold.resolve();
    await time.tickAsync(0);
    await disposed;
    assertEquals(time.timers, 0);
  }
});

Deno.test("SharedIndexInformer names all handlers that have not returned, including removed ones", async () => {
  using time = new FakeTime();
  const run = new Run(holding(entry("a", 1)), { graceMs: 5 }, time);
  const never = gate();
  const removed = run.informer.addEventHandler({ onAdd: () => never.promise }, { name: "removed" });
  run.informer.addEventHandler({ onAdd: () => never.promise }, { name: "stuck" });
  const stop = new AbortController();
  const rejected = assertRejects(() => run.informer.run({ signal: stop.signal }), InformerError);
  await time.tickAsync(0);
  removed.remove();
  await time.tickAsync(0);
  stop.abort();
  await time.tickAsync(5);
  const { message } = await rejected;
  assertEquals([message.includes('"removed"'), message.includes('"stuck"')], [true, true]);
  never.resolve();
  await time.tickAsync(0);
});

Deno.test("SharedIndexInformer delivers everything once to a handler that is added from onError", async () => {
  const bad = { size: 13 };
  /** Options that lead to an error: of an object that is quarantined, or of an index function that throws. */
  const reports: Readonly<Record<string, Pick<SharedIndexInformerOptions<Thing, "size">, "transform" | "indexers">>> = {
    transform: { transform: (object) => checked(object) },
    index: { indexers: { size: (object) => [String(checked(object).spec.size)] } },
  };
  for (const [what, options] of Object.entries(reports)) {
    for (const [when, expected] of Object.entries(ADDED_WHEN)) {
      const notes = new Keys();
      let reported = 0;
      await using run = new Run<"size">(holding(entry("a", 1, when === "first list" ? bad : {}), entry("b", 1)), {
        ...options,
        onError: () => void (reported++ === 0 && run.informer.addEventHandler(notes)),
      });
      run.informer.addEventHandler({});
      await run.start();
      if (when === "addition") await run.send(added("c", 11, bad), added("d", 12));
      if (when === "update") await run.send(modified("a", 11, bad), modified("b", 12));
      if (when === "successor") await run.send(modified("a", 11, { ...bad, uid: "other" }), modified("b", 12));
      if (when === "relist") await run.relist(expired(), 20, [entry("a", 11, bad), entry("b", 1), entry("e", 12)]);
      // An index function is called before the cache changes, so that the handler is added before the change.
      assertEquals([notes.lines, reported], [expected[what === "index" ? 1 : 0], 1], `${what}, ${when}`);
    }
  }
});

/** By what is reported, what a handler is delivered that is added then: after delivery, or before the change. */
const ADDED_WHEN: Readonly<Record<string, readonly [after: string[], before: string[]]>> = {
  "first list": [["+ a@1", "+ b@1", "= 2"], ["+ a@1", "+ b@1", "= 2"]],
  "addition": [["+ a@1", "+ b@1", "+ c@11", "= 3", "+ d@12"], ["+ a@1", "+ b@1", "= 2", "+ c@11", "+ d@12"]],
  "update": [["+ a@11", "+ b@1", "= 2", "~ b@12"], ["+ a@1", "+ b@1", "= 2", "~ a@11", "~ b@12"]],
  "successor": [["+ a@11", "+ b@1", "= 2", "~ b@12"], ["+ a@1", "+ b@1", "= 2", "- a@1", "+ a@11", "~ b@12"]],
  "relist": [["+ a@11", "+ b@1", "= 2", "+ e@12"], ["+ a@1", "+ b@1", "= 2", "~ a@11", "+ e@12"]],
};

function checked(object: Thing): Thing {
  if (object.spec.size === 13) throw new Error("not this one");
  return object;
}

/** As {@linkcode Notes}, without reading objects. */
class Keys implements Required<ResourceEventHandler<Thing>> {
  readonly lines: string[] = [];
  readonly onAdd = ({ name, resourceVersion }: CacheEntry<Thing>): void => this.#note(`+ ${name}@${resourceVersion}`);
  readonly onUpdate = ({ name, resourceVersion }: CacheEntry<Thing>): void =>
    this.#note(`~ ${name}@${resourceVersion}`);
  readonly onDelete = ({ name, resourceVersion }: CacheEntry<Thing>): void =>
    this.#note(`- ${name}@${resourceVersion}`);
  readonly onSynced = ({ objects }: SyncedEvent): void => this.#note(`= ${objects}`);

  #note(line: string): void {
    this.lines.push(line);
  }
}

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
    const cache = new ObjectCache<Thing>(undefined, CACHE_DEFAULTS, () => {});
    cache.store.add(entry("a", 1));
    const processor = new Processor<Thing>({
      name: "the informer",
      cache,
      resourceVersion: () => "1",
      present: () => Promise.resolve(),
      report: () => {},
      waitForSync: (_handler, _signal, call) => call(),
      resyncMs: 0,
      graceMs: 1_000,
    });
    let resyncs = 0;
    processor.add({ onUpdate: ({ resync }) => void (resync && resyncs++) }, { resyncMs: periodMs });
    processor.begin();
    processor.synced();
    await time.tickAsync(Math.min(periodMs, passedMs) - 1);
    assertEquals(resyncs, 0);
    await time.tickAsync(passedMs - Math.min(periodMs, passedMs) + 1);
    assertEquals(resyncs, expected);
    await processor.stop();
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
