import { assertEquals, assertMatch, assertStrictEquals } from "@std/assert";
import fc from "npm:fast-check@^4.10.2";
import type { Transport } from "../../../src/engine/api/lister_watcher.ts";
import { onlyMetadata } from "../../../src/engine/api/resource.ts";
import { Client } from "../../../src/engine/client/client.ts";
import type { InformerEvent } from "../../../src/engine/informer/events/event.ts";
import type { SharedIndexInformerOptions } from "../../../src/engine/informer/options.ts";
import { SharedIndexInformer } from "../../../src/engine/informer/shared_index_informer.ts";
import { OutdatedChanges } from "../../../src/engine/informer/sync/cache_writer.ts";
import { utf8Of } from "../../support/sources/bodies.ts";
import { FakeTime } from "../../support/times/fake_time.ts";
import { added, deleted, entry, expired, modified, part, seen, Thing, thing } from "../../support/sources/fixtures.ts";
import { gate, holding, line, Notes, Run } from "../../support/sources/informer.ts";
import { END } from "../../support/sources/scripted_source.ts";
import { chunking } from "../_texts.ts";
import { Wire } from "./_wire.ts";

Deno.test("SharedIndexInformer delivers the changes of one batch in the server's order, across objects", async () => {
  await using run = await new Run(holding()).start();
  const notes = run.listen();
  await run.tick();
  notes.take();
  await run.send(
    added("a", 11),
    added("b", 12),
    modified("a", 13),
    deleted("b", 14),
    modified("a", 15),
    added("b", 16),
  );
  assertEquals(
    notes.take(),
    ["+ default/a@11", "+ default/b@12", "~ default/a@11→13", "- default/b@14", "~ default/a@13→15", "+ default/b@16"],
  );
});

Deno.test("SharedIndexInformer delivers the same events to handlers and streams, however the bytes are split", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ name: fc.constantFrom("a", "b", "c"), gone: fc.boolean() }), { maxLength: 20 }),
      chunking,
      async (writes, cut) => {
        const { lines, expected } = served(writes);
        assertEquals(await deliveredFrom(cut(utf8Of(lines.join("")))), expected);
      },
    ),
    { numRuns: 60 },
  );
});

interface Write {
  readonly name: string;
  readonly gone: boolean;
}

/** The lines of a watch that a server sends for these writes, and the events that are to be delivered. */
function served(writes: readonly Write[]): { readonly lines: string[]; readonly expected: string[] } {
  const lines: string[] = [];
  const expected: string[] = [];
  const known = new Map<string, number>();
  [...writes, { name: "end", gone: false }].forEach(({ name, gone }, index) => {
    const [version, before] = [11 + index, known.get(name)];
    if (gone && before === undefined) return;
    const type = gone ? "DELETED" : before === undefined ? "ADDED" : "MODIFIED";
    lines.push(JSON.stringify({ type, object: thing(name, version) }) + "\n");
    if (gone) expected.push(`- default/${name}@${version}`);
    else {expected.push(
        before === undefined ? `+ default/${name}@${version}` : `~ default/${name}@${before}→${version}`,
      );}
    if (gone) known.delete(name);
    else known.set(name, version);
  });
  return { lines, expected };
}

/** The events that an informer delivers of a watch whose bytes arrive in these chunks, up to the object "end". */
async function deliveredFrom(chunks: readonly Uint8Array[]): Promise<string[]> {
  const headers = { "content-type": "application/json" };
  const transport: Transport = {
    fetch: (request) => {
      const list = { kind: "ThingList", apiVersion: "acme.dev/v1", metadata: { resourceVersion: "10" }, items: [] };
      const watch = new URL(request.url).searchParams.has("watch");
      return Promise.resolve(new Response(watch ? openBodyOf(chunks) : JSON.stringify(list), { headers }));
    },
  };
  using client = new Client({ server: "http://cut", transport });
  await using informer = new SharedIndexInformer(client.resource(Thing), { reflector: { streamingList: "off" } });
  const [handled, streamed]: string[][] = [[], []];
  const end = gate();
  const note = (event: InformerEvent<Thing>): void => {
    if (event.type !== "synced") handled.push(line(event));
    if (event.type === "added" && event.name === "end") end.resolve();
  };
  informer.addEventHandler({ onAdd: note, onUpdate: note, onDelete: note });
  const events = informer.events();
  const running = informer.run();
  for await (const event of events) {
    if (event.type !== "synced") streamed.push(line(event));
    if (event.type === "added" && event.name === "end") break;
  }
  await end.promise;
  assertEquals(handled, streamed);
  await informer[Symbol.asyncDispose]();
  await running;
  return streamed;
}

/** A body that arrives in these chunks, and stays open after them without further bytes. */
function openBodyOf(chunks: readonly Uint8Array[]): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    start(controller): void {
      for (const chunk of chunks) controller.enqueue(chunk.slice());
    },
  });
}

const MINUTE = 60_000;

/** A step of a watch that was opened at version 10, while a@9 is cached. */
type Step =
  | { readonly do: "drop"; readonly version: number; readonly deleted?: boolean }
  | { readonly do: "settle" | "resume" | "list" | "wait a minute" }
  | { readonly do: "list up to"; readonly version: number }
  | { readonly do: "flush"; readonly version: number };

/** The versions whose changes are the reasons for lists. */
async function relistsAfter(...steps: Step[]): Promise<string[]> {
  using time = new FakeTime();
  const relists: string[] = [];
  const relist = ({ message }: Error): void => void relists.push(/version (\d+)/.exec(message)![1]);
  using outdated = new OutdatedChanges({ relist }, () => {});
  const watch = (): void => outdated.entered({ name: "watching", resourceVersion: "10", open: false } as never);
  watch();
  for (const step of steps) {
    if (step.do === "drop") outdated.dropped(entry("a", step.version), entry("a", 900), step.deleted ?? false);
    else if (step.do === "settle") outdated.settled("default/a");
    else if (step.do === "flush") outdated.reached(String(step.version));
    else if (step.do === "wait a minute") await time.tickAsync(MINUTE);
    else {
      if (step.do !== "resume") {
        outdated.entered({ name: "listing", resourceVersion: "10" } as never);
        outdated.reached(step.do === "list up to" ? String(step.version) : "10");
      }
      if (step.do !== "list up to") watch();
    }
    await time.tickAsync(0);
  }
  return relists;
}

const flush = (version: number): Step => ({ do: "flush", version });

Deno.test("OutdatedChanges requests a relist for an outdated change above the version at which the watch was opened", async () => {
  assertEquals(await relistsAfter({ do: "drop", version: 11 }, flush(11)), ["11"]);
  assertEquals(await relistsAfter({ do: "drop", version: 11, deleted: true }, flush(11)), ["11"]);
  assertEquals(await relistsAfter({ do: "drop", version: 11 }, { do: "list" }), [], "a list comes first");
  assertEquals(await relistsAfter({ do: "drop", version: 11 }, { do: "list" }, flush(12)), [], "and settles it");
});

Deno.test("OutdatedChanges requests one relist until a list follows, because the reflector drops no request", async () => {
  const wait: Step = { do: "wait a minute" };
  assertEquals(await relistsAfter({ do: "drop", version: 11 }, flush(11), wait, wait), ["11"]);
  assertEquals(await relistsAfter({ do: "drop", version: 11 }, flush(11), { do: "list" }, wait), ["11"]);
  const again: Step[] = [{ do: "drop", version: 12 }, flush(12)];
  const first: Step[] = [{ do: "drop", version: 11 }, flush(11), { do: "list" }];
  assertEquals(await relistsAfter(...first, ...again, wait), ["11", "12"]);
  assertEquals(await relistsAfter(...first, ...again, { do: "list" }, wait), ["11"], "a list comes before the timer");
});

Deno.test("OutdatedChanges compares what follows a streaming list in the same batch with the version of that list", async () => {
  const list: Step = { do: "list up to", version: 20 };
  assertEquals(await relistsAfter(list, { do: "drop", version: 21 }, flush(21)), ["21"]);
  assertEquals(await relistsAfter(list, { do: "drop", version: 15 }, { do: "settle" }, flush(21)), []);
});

Deno.test("SharedIndexInformer that is stopped before a relist that is due leaves no timer", async () => {
  await using run = await new Run(holding(entry("a", 5))).start();
  run.source.list();
  await run.send(modified("a", 12), modified("a", 11));
  assertEquals(run.source.requests.at(-1), "list - limit=500", "the relist is not answered");
});

Deno.test("SharedIndexInformer that is stopped while a relist waits for its minute leaves no timer", async () => {
  await using run = await new Run(holding(entry("a", 5))).start();
  const { source, time } = run;
  const timers = time.timers;
  source.list(part(20, [entry("a", 5)]), END).watch([]);
  await run.send(modified("b", 12), modified("a", 4));
  assertEquals([source.lists.length, time.timers], [2, timers]);
  await run.send(modified("b", 22), modified("a", 3));
  assertEquals([source.lists.length, time.timers], [2, timers + 1]);
});

Deno.test("SharedIndexInformer that is resynced takes no dropped change for a replay", async () => {
  await using run = await new Run(holding(entry("a", 7)), { reflector: { resyncMs: 1_000 } }).start();
  run.source.list();
  await run.send(modified("a", 5)); // perhaps a replay, of which the cached state is still to come
  await run.tick(1_000);
  await run.send(modified("b", 11));
  assertEquals(run.source.lists.length, 2);
});

Deno.test("OutdatedChanges treats a change as a replay if its object arrives again before the watch continues", async () => {
  const drop: Step = { do: "drop", version: 8 };
  assertEquals(await relistsAfter(drop, flush(10), { do: "settle" }, flush(10), flush(11)), []);
  assertEquals(await relistsAfter(drop, flush(10), { do: "resume" }, { do: "settle" }, flush(11)), []);
  assertEquals(await relistsAfter(drop, flush(10)), [], "nothing has come behind it yet");
  assertEquals(await relistsAfter(drop, flush(10), flush(11)), ["8"]);
  assertEquals(await relistsAfter(drop, flush(10), { do: "list" }, flush(11)), [], "a list settles it");
  assertEquals(await relistsAfter({ ...drop, deleted: true }, flush(10), flush(11)), []);
});

Deno.test("SharedIndexInformer relists when a server does not order its versions, once a minute, and reports it once", async () => {
  using time = new FakeTime();
  const wire = new Wire(100, thing("a", 900));
  const errors: Error[] = [];
  await using informer = new SharedIndexInformer<Thing>(
    new Client({ server: "http://wire", transport: wire }).resource(Thing),
    { reflector: { streamingList: "off" }, onError: (error) => errors.push(error as Error) },
  );
  void informer.run();
  await time.tickAsync(0);
  const size = (): number | undefined => informer.lister.namespace("default").get("a")?.spec.size;
  const lists = (): number => wire.requests.filter((request) => request === "list").length;
  for (let change = 1; change <= 5; change++) {
    const version = 900 - change;
    const object = thing("a", version, { size: 1 + change });
    wire.list = { version: 100, objects: [object] };
    wire.send({ type: "MODIFIED", object });
    await time.tickAsync(10_000);
  }
  // One at once, and one for all that came in the minute after.
  assertEquals([lists(), size()], [2, 2]);
  await time.tickAsync(MINUTE);
  assertEquals([lists(), size(), informer.status().outdated], [3, 6, 5]);
  assertMatch(errors[0].message, /"default\/a": its version 899 is older than the cached version 900/);
  assertEquals(errors.length, 1);
  await time.tickAsync(10 * MINUTE);
  assertEquals(lists(), 3);
});

Deno.test("SharedIndexInformer does not relist when a resumed watch replays cached changes", async () => {
  using time = new FakeTime();
  const wire = new Wire(10, thing("a", 7), thing("b", 9, { uid: "second" }));
  await using informer = new SharedIndexInformer<Thing>(
    new Client({ server: "http://wire", transport: wire }).resource(Thing),
    { reflector: { streamingList: "off" } },
  );
  void informer.run();
  await time.tickAsync(0);
  wire.send({ type: "MODIFIED", object: thing("a", 5) }, { type: "MODIFIED", object: thing("b", 6) });
  wire.send({ type: "DELETED", object: thing("b", 8) }, { type: "ADDED", object: thing("b", 9, { uid: "second" }) });
  wire.send({ type: "MODIFIED", object: thing("a", 7) }, { type: "ADDED", object: thing("c", 11) });
  await time.tickAsync(2 * MINUTE);
  assertEquals(informer.status().outdated, 3);
  assertEquals(wire.requests.filter((request) => request === "list").length, 1);
});

interface Doubling {
  readonly informer: SharedIndexInformer<Thing>;
  readonly notes: Notes;
  /** The objects that were transformed, such as `"a@5"`. */
  readonly calls: string[];
  readonly errors: unknown[];
}

/** Follows `wire`, with a transform that doubles the size in place, and counts its calls. */
async function doubling(
  time: FakeTime,
  wire: Wire,
  options: SharedIndexInformerOptions<Thing> = {},
): Promise<Doubling> {
  const errors: unknown[] = [];
  const calls: string[] = [];
  const client = new Client({ server: "http://wire", transport: wire });
  const informer = new SharedIndexInformer<Thing>(client.resource(Thing), {
    reflector: { streamingList: "off" },
    onError: (error) => errors.push(error),
    transform: (object) => {
      calls.push(`${object.metadata.name}@${object.metadata.resourceVersion}`);
      const { spec } = object as { spec: { size: number } };
      spec.size *= 2;
      return object;
    },
    ...options,
  });
  const notes = new Notes();
  informer.addEventHandler(notes);
  void informer.run();
  await time.tickAsync(0);
  notes.take();
  return { informer, notes, calls, errors };
}

for (const freeze of [false, true]) {
  Deno.test(`SharedIndexInformer does not transform a cached object again when a watch replays it, freeze: ${freeze}`, async () => {
    using time = new FakeTime();
    const wire = new Wire(10, thing("a", 5));
    const { informer, notes, calls, errors } = await doubling(time, wire, { freeze });
    await using _ = informer;
    const cached = informer.lister.namespace("default").get("a");
    for (const type of ["ADDED", "MODIFIED"]) {
      wire.send({ type, object: thing("a", 5) });
      await time.tickAsync(0);
    }
    assertEquals([calls, notes.take(), errors], [["a@5"], [], []]);
    assertEquals(cached?.spec.size, 2);
    assertStrictEquals(informer.lister.namespace("default").get("a"), cached);
    wire.send({ type: "DELETED", object: thing("a", 5) });
    let size = 0;
    informer.addEventHandler({ onDelete: ({ object }) => void (size = object.spec.size) });
    await time.tickAsync(0);
    assertEquals([calls, notes.take(), errors, size], [["a@5"], ["- default/a@5"], [], 2]);
  });
}

Deno.test("SharedIndexInformer transforms each object once, also if a batch returns to a cached version", async () => {
  using time = new FakeTime();
  const wire = new Wire(10, thing("a", "blue"));
  const { informer, notes, calls } = await doubling(time, wire);
  await using _ = informer;
  // Versions that have no order: the last one sent counts.
  wire.send({ type: "MODIFIED", object: thing("a", "red") }, { type: "MODIFIED", object: thing("a", "blue") });
  await time.tickAsync(0);
  assertEquals([calls, notes.take()], [["a@blue", "a@red"], ["~ default/a@blue→red", "~ default/a@red→blue"]]);
  assertEquals(informer.lister.list().map(({ spec }) => spec.size), [2]);
});

/** Gives each thing another name; fails for those of size 0. */
function rename(thing: Thing): Thing {
  if (thing.spec.size === 0) throw new Error("too small");
  return { ...thing, metadata: { ...thing.metadata, name: `its-${thing.metadata.name}`, namespace: "moved" } };
}

Deno.test("SharedIndexInformer deletes a cached object under its transformed name, even if the transform fails for the deletion", async () => {
  for (const freeze of [false, true]) {
    await using run = new Run(holding(entry("a", 1), entry("b", 2)), { transform: rename, freeze });
    const notes = run.listen();
    await run.start();
    assertEquals(run.cached, ["moved/its-a@1", "moved/its-b@2"]);
    notes.take();
    await run.send(deleted("a", 11, { size: 0 }));
    assertEquals([run.cached, notes.take()], [["moved/its-b@2"], ["- moved/its-a@11"]]);
    // Another object of the old name is not taken for it.
    await run.send(added("a", 12, { size: 0, uid: "another" }));
    assertEquals(run.cached, ["default/a@12", "moved/its-b@2"]);
    await run.send(deleted("a", 13, { size: 0, uid: "another" }));
    assertEquals(run.cached, ["moved/its-b@2"]);
  }
});

Deno.test("SharedIndexInformer quarantines an object under its transformed name when the transform fails for a later version", async () => {
  await using run = new Run(holding(entry("a", 1)), { transform: rename });
  await run.start();
  await run.send(modified("a", 11, { size: 0 }));
  assertEquals([run.cached, run.informer.status().quarantined], [["moved/its-a@11"], 1]);
  assertEquals(run.complaints, ['DecodeError: Cannot transform "default/a": too small']);
  assertEquals(run.informer.entries.indexKeys("namespace", "moved"), ["moved/its-a"]);
  await run.send(modified("a", 12));
  assertEquals([run.cached, run.informer.status().quarantined], [["moved/its-a@12"], 0]);
  await run.relist(expired(), 20, [entry("a", 15, { size: 0 })]);
  assertEquals(run.cached, ["moved/its-a@15"]);
  await run.tick(10_000); // a watch that lasts so long makes the second expiry a first one again
  await run.relist(expired(), 30, []);
  assertEquals(run.cached, []);
});

Deno.test("SharedIndexInformer quarantines an object under its transformed name, whatever characters that has", async () => {
  await using run = new Run(holding(entry("a", 1)), {
    transform: (thing) => {
      if (thing.spec.size === 0) throw new Error("too small");
      return { ...thing, metadata: { ...thing.metadata, name: `team/${thing.metadata.name}` } };
    },
  });
  await run.start();
  await run.send(modified("a", 11, { size: 0 }), added("b", 12));
  assertEquals(run.cached, ["default/team/a@11", "default/team/b@12"]);
  assertEquals([run.informer.entries.indexKeys("namespace", "default").length, run.informer.status().state], [
    2,
    "live",
  ]);
  await run.send(deleted("a", 13, { size: 0 }));
  assertEquals(run.cached, ["default/team/b@12"]);
  assertEquals(run.complaints, ['DecodeError: Cannot transform "default/a": too small']);
});

Deno.test("SharedIndexInformer quarantines an object under its transformed name, also if it arrived by a watch", async () => {
  await using run = new Run(holding(), { transform: rename });
  await run.start();
  await run.send(added("a", 11), modified("a", 12, { size: 0 }));
  assertEquals([run.cached, run.informer.status().quarantined], [["moved/its-a@12"], 1]);
  await run.send(deleted("a", 13, { size: 0 }));
  assertEquals([run.cached, run.informer.status().quarantined], [[], 0]);
});

Deno.test("SharedIndexInformer applies changes in order, skips objects of another kind, and reports each kind once [C006]", async () => {
  using time = new FakeTime();
  const service = { ...thing("service", 900), kind: "Service", apiVersion: "v1" };
  const status = { metadata: {}, status: "Failure", kind: "Status", apiVersion: "v1" };
  const wire = new Wire(10, thing("a", 5), service);
  const errors: string[] = [];
  await using informer = new SharedIndexInformer<Thing>(
    new Client({ server: "http://wire", transport: wire }).resource(Thing),
    { reflector: { streamingList: "off" }, onError: (error) => errors.push((error as Error).message) },
  );
  const notes = new Notes();
  informer.addEventHandler(notes);
  void informer.run();
  await time.tickAsync(0);
  assertEquals(notes.take(), ["+ default/a@5 (initial)", "= 1 at 10"]);
  wire.send(
    { type: "ADDED", object: service },
    { type: "MODIFIED", object: { ...thing("a", 901), kind: "Service" } },
    { type: "ADDED", object: status },
    { type: "DELETED", object: { ...thing("a", 902), kind: "Service" } },
    { type: "MODIFIED", object: thing("a", 11) },
    { type: "ADDED", object: thing("b", 12) },
    { type: "DELETED", object: thing("a", 13) },
  );
  await time.tickAsync(0);
  // Another watch, from the version of the last thing.
  wire.end();
  await time.tickAsync(10_000);
  wire.send({ type: "ADDED", object: service }, { type: "ADDED", object: thing("c", 14) });
  await time.tickAsync(0);
  assertEquals(notes.take(), ["~ default/a@5→11", "+ default/b@12", "- default/a@13", "+ default/c@14"]);
  assertEquals(wire.requests, ["list", "watch 10", "watch 13"]);
  assertEquals(
    errors,
    ["Service", "Status"].map((kind) =>
      `Cannot use an object of "things.acme.dev": its kind is "${kind}" instead of "Thing". Objects of that kind are skipped`
    ),
  );
});

Deno.test("SharedIndexInformer of metadata alone accepts the kind that the server sends", async () => {
  using time = new FakeTime();
  const partial = { ...thing("a", 5), kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1" };
  const wire = new Wire(10, partial);
  await using informer = new SharedIndexInformer(
    new Client({ server: "http://wire", transport: wire }).resource(onlyMetadata(Thing)),
    { reflector: { streamingList: "off" } },
  );
  void informer.run();
  await time.tickAsync(0);
  wire.send({ type: "MODIFIED", object: { ...partial, metadata: { ...partial.metadata, resourceVersion: "11" } } });
  await time.tickAsync(0);
  assertEquals(seen(informer.entries), ["default/a@11"]);
});
