import {
  Checkpoint,
  derive,
  type DerivedCollection,
  type DerivedObject,
  deriveGroups,
  MemoryCheckpoints,
  WaitError,
} from "@kube/informer";
import type { DeriveContext, DeriveOptions, IndexedCollection } from "@kube/informer/types";
import { assert, assertEquals, assertRejects, assertStrictEquals, assertThrows } from "@std/assert";
import { internals } from "../../../src/engine/errors/internals.ts";
import { FakeTime } from "../../support/times/fake_time.ts";
import {
  added,
  deleted,
  entry,
  modified,
  part,
  refused,
  type Thing,
  unparsable,
} from "../../support/sources/fixtures.ts";
import { groupsOf, KINDS } from "../../support/histories/kinds.ts";
import { holding, Run } from "../../support/sources/informer.ts";
import { END, ScriptedSource } from "../../support/sources/scripted_source.ts";

const byTier = {
  indexers: {
    tier: ({ metadata }: DerivedObject) => metadata.labels?.tier === undefined ? [] : [metadata.labels.tier],
  },
};

/** Two informers in one fake time, which both have started unless `starts` says so. */
async function two(
  things: ScriptedSource,
  others: ScriptedSource,
  starts: "both" | "none" | "first" = "both",
): Promise<{ time: FakeTime; things: Run<"tier">; others: Run<"tier"> } & AsyncDisposable> {
  const time = new FakeTime();
  const runs = [things, others].map((source) => new Run<"tier">(source, byTier, time));
  const count = { both: 2, first: 1, none: 0 }[starts];
  for (const run of runs.slice(0, count)) await run.start();
  return {
    time,
    things: runs[0],
    others: runs[1],
    [Symbol.asyncDispose]: async () => {
      await Promise.all(runs.map((run) => run[Symbol.asyncDispose]()));
      time[Symbol.dispose]();
    },
  };
}

/** A derived collection with the calls of its function, its errors and its events. */
interface Watched<T extends DerivedObject> extends AsyncDisposable {
  readonly collection: DerivedCollection<T, "tier">;
  readonly calls: string[];
  readonly errors: string[];
  readonly events: string[];
  /** Returns the calls and events since the last call. */
  take(): { calls: string[]; events: string[] };
}

function watched<I extends DerivedObject, T extends DerivedObject & { readonly size: number }>(
  source: IndexedCollection<I, "tier">,
  compute: (item: I, context: DeriveContext) => T | readonly T[] | undefined,
  options: DeriveOptions<T, "tier"> = {},
): Watched<T> {
  const calls: string[] = [];
  const errors: string[] = [];
  const events: string[] = [];
  const collection = derive(source, (item, context) => {
    calls.push(item.metadata.name);
    return compute(item, context);
  }, { name: "sizes", ...byTier, onError: (error) => errors.push(messages(error)), ...options });
  collection.addEventHandler({
    onAdd: ({ key, object, initial }) => events.push(`+ ${key} ${object.size}${initial ? " (initial)" : ""}`),
    onUpdate: ({ key, object, previous }) => events.push(`~ ${key} ${previous.size} → ${object.size}`),
    onDelete: ({ key, object }) => events.push(`- ${key} ${object.size}`),
    onSynced: ({ objects, resourceVersion }) => events.push(`= ${objects} at "${resourceVersion}"`),
  });
  return {
    collection,
    calls,
    errors,
    events,
    take: () => ({ calls: calls.splice(0), events: events.splice(0) }),
    [Symbol.asyncDispose]: () => collection[Symbol.asyncDispose](),
  };
}

function messages(error: unknown): string {
  const { message, cause } = error as Error;
  return cause === undefined ? message : `${message}: ${(cause as Error).message}`;
}

/** The size of a thing, and that of the other of the same name. */
function joined(
  others: IndexedCollection<Thing, "tier">,
): (thing: Thing, context: DeriveContext) => DerivedObject & { readonly size: number } {
  return ({ metadata: { name, namespace = "" }, spec }: Thing, { read: fetch }: DeriveContext) => ({
    metadata: { name, namespace },
    size: spec.size + 10 * (fetch(others, { key: `${namespace}/${name}` })?.spec.size ?? 0),
  });
}

Deno.test("a derived collection is computed once when all that it fetches has synced, and then follows each of them", async () => {
  await using all = await two(
    holding(entry("a", 1), entry("b", 2, { size: 2 })),
    holding(entry("a", 3, { size: 3 })),
    "none",
  );
  const { things, others } = all;
  await using sizes = watched(things.informer, joined(others.informer));
  await all.time.tickAsync(0);
  assertEquals([sizes.collection.hasSynced, sizes.collection.status().state, sizes.take().calls], [false, "idle", []]);
  await things.start();
  assertEquals([sizes.collection.hasSynced, sizes.collection.status().state], [false, "listing"]);
  assertEquals(sizes.take(), { calls: ["a"], events: [] }, "one call shows what has not synced");
  await others.start();
  assertEquals([sizes.collection.hasSynced, sizes.collection.status().state], [true, "live"]);
  assertEquals(sizes.take().events, ["+ default/b 2 (initial)", "+ default/a 31 (initial)", '= 2 at ""']);
  await others.send(modified("a", 11, { size: 4 }), added("c", 12));
  assertEquals(sizes.take(), { calls: ["a"], events: ["~ default/a 31 → 41"] });
  await things.send(deleted("b", 13), added("c", 14, { size: 7 }));
  assertEquals(sizes.take(), { calls: ["c"], events: ["- default/b 2", "+ default/c 17"] });
  assertEquals(sizes.collection.lister.get("default/c")?.size, 17);
  assertEquals(sizes.collection.indexer.indexKeys("namespace", "default"), ["default/a", "default/c"]);
  assertEquals(sizes.collection.lister.namespace("default").list().length, 2);
});

Deno.test("an object that was not synced when an input came is waited for, and the output before stays", async () => {
  await using all = await two(holding(entry("a", 1)), holding(entry("a", 3, { size: 3 })), "first");
  let isJoined = false;
  const join = joined(all.others.informer);
  await using sizes = watched(
    all.things.informer,
    (thing, context) => isJoined ? join(thing, context) : { metadata: thing.metadata, size: thing.spec.size },
  );
  await all.time.tickAsync(0);
  assertEquals(sizes.take().events, ["+ default/a 1 (initial)", '= 1 at ""']);
  isJoined = true;
  await all.things.send(modified("a", 11, { size: 2 }));
  assertEquals([sizes.take(), sizes.collection.lister.get("default/a")?.size], [{ calls: ["a"], events: [] }, 1]);
  await all.others.start();
  assertEquals(sizes.take().events, ["~ default/a 1 → 32"]);
});

Deno.test("equal outputs lead to no event, and keep the object", async () => {
  await using run = await new Run<"tier">(holding(entry("a", 1, { size: 3 })), byTier).start();
  await using sizes = watched(run.informer, ({ metadata: { name }, spec }) => ({
    metadata: { name },
    size: spec.size % 2,
    list: [{ at: new Array<string>() }],
  }));
  await run.tick();
  sizes.take();
  const before = sizes.collection.lister.get("a");
  await run.send(modified("a", 11, { size: 5 }));
  assertEquals(sizes.take(), { calls: ["a"], events: [] });
  assertStrictEquals(sizes.collection.lister.get("a"), before);
});

Deno.test("a diamond is computed once for a change, behind what it reads, also where that is known later", async () => {
  await using all = await two(holding(entry("a", 1, { size: 1 })), holding(entry("a", 1)));
  const size = ({ metadata: { name, namespace = "" }, spec }: Thing, factor: number) => ({
    metadata: { name, namespace },
    size: factor * spec.size,
  });
  await using bottom = watched(all.things.informer, ({ metadata: { name, namespace = "" } }, { read: fetch }) => ({
    metadata: { name, namespace },
    size: [once, twice].reduce((sum, { collection }) => {
      return sum + (fetch(collection, { key: `${namespace}/${name}` })?.size ?? 0);
    }, 0),
  }));
  await using once = watched(all.things.informer, (thing) => size(thing, 1));
  await using deep = watched(once.collection, ({ metadata, size }) => ({ metadata, size }));
  await using twice = watched(deep.collection, ({ metadata, size }) => ({ metadata, size: 2 * size }));
  await all.time.tickAsync(0);
  assertEquals(bottom.take().events, ["+ default/a 3 (initial)", '= 1 at ""']);
  await all.things.send(modified("a", 11, { size: 5 }));
  assertEquals(bottom.take(), { calls: ["a"], events: ["~ default/a 3 → 15"] });
  await all.things.send(modified("a", 12, { size: 6 }), modified("a", 13, { size: 7 }));
  assertEquals(bottom.take(), { calls: ["a"], events: ["~ default/a 15 → 21"] });
});

Deno.test("a collection cannot fetch from one that is computed from it, or from itself", async () => {
  await using run = await new Run<"tier">(holding(entry("a", 1)), byTier).start();
  await using first = watched<Thing, DerivedObject & { size: number }>(
    run.informer,
    ({ metadata: { name }, spec: { size } }, { read: fetch }) => {
      if (size > 1) fetch(size > 2 ? first.collection : second.collection, { key: "a" });
      return { metadata: { name }, size };
    },
  );
  await using second = watched(first.collection, (item) => item, { name: "second" });
  await run.tick();
  await run.send(modified("a", 11, { size: 2 }));
  const cannot = 'Cannot compute derived collection "sizes" of "default/a": Cannot fetch from derived collection';
  const from = 'it is itself computed from derived collection "sizes"';
  assertEquals(first.errors, [`${cannot} "second": ${from}`]);
  await run.send(modified("a", 12, { size: 3 }));
  assertEquals(first.errors.slice(1), [`${cannot} "sizes": ${from}`]);
  await run.send(modified("a", 13, { size: 1 }));
  assertEquals([first.collection.status().failing, second.collection.lister.get("a")?.size], [0, 1]);
});

Deno.test("where the function throws, the last output stays, and the status names the input until a call returns", async () => {
  await using all = await two(holding(entry("a", 1), entry("b", 2)), holding(entry("a", 3)));
  await using sizes = watched(all.things.informer, (thing, context) => {
    const sum = joined(all.others.informer)(thing, context);
    if (sum.size > 50) throw new Error("too large");
    return sum;
  });
  await all.time.tickAsync(0);
  sizes.take();
  await all.others.send(modified("a", 11, { size: 7 }));
  const { failing, failures, errors } = sizes.collection.status();
  assertEquals([failing, errors, failures.map(({ input }) => input)], [1, 1, ["default/a"]]);
  assertEquals(sizes.errors, ['Cannot compute derived collection "sizes" of "default/a": too large']);
  assertEquals([sizes.take().events, sizes.collection.lister.get("default/a")?.size], [[], 11]);
  await all.others.send(modified("a", 12, { size: 2 }));
  assertEquals([sizes.collection.status().failing, sizes.take().events], [0, ["~ default/a 11 → 21"]]);
  await all.others.send(modified("a", 13, { size: 8 }));
  await all.things.send(deleted("a", 14));
  assertEquals([sizes.collection.status().failing, sizes.take().events], [0, ["- default/a 21"]]);
});

Deno.test("an input that cannot be read fails as one whose function throws", async () => {
  await using run = await new Run<"tier">(holding(entry("a", 1), unparsable("b", 2)), { onError: () => {} }).start();
  await using sizes = watched(
    run.informer,
    ({ metadata: { name }, spec }) => ({ metadata: { name }, size: spec.size }),
  );
  await run.tick();
  assertEquals([sizes.collection.hasSynced, [...sizes.collection.entries.keys()]], [true, ["a"]]);
  assertEquals(sizes.collection.status().failures.map(({ input }) => input), ["default/b"]);
});

Deno.test("of two inputs with one output key the first one counts, which is reported, until it has another", async () => {
  await using run = await new Run<"tier">(holding(entry("b", 1, { size: 2 })), byTier).start();
  await using sizes = watched(run.informer, ({ metadata: { name }, spec: { size } }) => ({
    metadata: { name: size < 5 ? "small" : name },
    size,
  }));
  await run.tick();
  sizes.take();
  await run.send(added("a", 11, { size: 1 }));
  assertEquals(sizes.take().events, ["~ small 2 → 1"]);
  assertEquals([sizes.collection.status().conflicting, sizes.collection.status().conflicts], [1, ["small"]]);
  assertEquals(sizes.errors, [
    'Cannot keep two objects "small" in derived collection "sizes": "default/a" and "default/b" both returned ' +
    'one, and the object of "default/a" is used. Give them different names',
  ]);
  await run.send(modified("b", 12, { size: 3 }));
  assertEquals(sizes.take().events, []);
  await run.send(modified("a", 13, { size: 6 }));
  assertEquals([sizes.take().events, sizes.collection.status().conflicts], [["~ small 1 → 3", "+ a 6"], []]);
  assertEquals(sizes.errors.length, 1);
});

Deno.test("a function that returns what cannot be kept fails, with what it has returned", async () => {
  await using run = await new Run<"tier">(holding(entry("a", 1)), byTier).start();
  const expected = "Return an object with a metadata.name, an array of them, or undefined";
  const twice = { metadata: { name: "x", namespace: "y" } };
  for (
    const [returned, message] of [
      [{ size: 1 }, `the function returned {"size":1}. ${expected}`],
      [Promise.resolve(), "the function returned a promise. Return the objects themselves, and read others with fetch"],
      ["a", `the function returned "a". ${expected}`],
      [[null], `the function returned null. ${expected}`],
      [globalThis, `the function returned a value that has no JSON. ${expected}`],
      [
        { metadata: { name: "a", namespace: 1 } },
        `the function returned {"metadata":{"name":"a","namespace":1}}. ${expected}`,
      ],
      [[twice, twice], 'two objects have the same name: "y/x", "y/x"'],
    ] as const
  ) {
    await using sizes = watched(run.informer, () => returned as never);
    await run.tick();
    assertEquals(sizes.errors, [`Cannot compute derived collection "sizes" of "default/a": ${message}`]);
  }
});

Deno.test("groups are the objects of an index value, while there are any", async () => {
  const at = (tier: string, size: number) => ({ labels: { tier }, size });
  await using run = await new Run<"tier">(
    holding(entry("a", 1, at("web", 1)), entry("b", 2, at("web", 2)), entry("c", 3, at("db", 4))),
    byTier,
  ).start();
  await using sums = deriveGroups(run.informer, "tier", ({ value, objects }) => ({
    metadata: { name: value },
    size: objects.reduce((sum, { spec }) => sum + spec.size, 0),
  }));
  const shown = (): string[] => sums.lister.list().map(({ metadata: { name }, size }) => `${name} ${size}`).sort();
  await run.tick();
  assertEquals(shown(), ["db 4", "web 3"]);
  await run.send(modified("c", 11, at("web", 4)));
  assertEquals(shown(), ["web 7"]);
  await run.send(modified("a", 12, at("db", 5)), deleted("b", 13, at("other", 2)));
  assertEquals(shown(), ["db 5", "web 4"]);
  const unknown = "zone" as "tier";
  assertThrows(() => deriveGroups(run.informer, unknown, () => undefined), RangeError, 'Cannot look up index "zone"');
});

Deno.test("a change leads to the calls alone that have read what it concerns", async () => {
  const at = (tier: string, size: number, namespace = "default") => ({ labels: { tier }, size, namespace });
  await using all = await two(
    holding(...["key", "index", "labels", "fields", "where", "all", "none"].map((name, i) => entry(name, i + 1))),
    holding(entry("a", 1, at("web", 1)), entry("b", 2, at("db", 2))),
  );
  const others = all.others.informer;
  await using sizes = watched(all.things.informer, ({ metadata: { name } }, { read: fetch }) => {
    const found = name === "key"
      ? [fetch(others, { key: "default/a" }), fetch(others, { key: undefined })]
      : name === "index"
      ? fetch(others, { index: "tier", value: "web" })
      : name === "labels"
      ? fetch(others, { labelSelector: "tier=web", namespace: "default" })
      : name === "fields"
      ? fetch(others, { fieldSelector: "spec.size=1" })
      : name === "where"
      ? fetch(others, { where: ({ spec }) => spec.size === 1 })
      : name === "all"
      ? fetch(others, {})
      : [];
    return { metadata: { name }, size: found.length };
  });
  await all.time.tickAsync(0);
  const calls = async (...changes: Parameters<Run["send"]>): Promise<string> => {
    sizes.take();
    await all.others.send(...changes);
    return sizes.take().calls.sort().join(" ");
  };
  assertEquals(await calls(modified("b", 11, at("db", 3))), "all where");
  assertEquals(await calls(modified("a", 12, at("web", 1))), "all fields index key labels where");
  assertEquals(await calls(modified("a", 13, at("db", 2))), "all fields index key labels where", "by the state before");
  assertEquals(await calls(added("c", 14, at("web", 5, "other"))), "all index where");
  assertEquals(await calls(deleted("a", 15, at("web", 1))), "all key where", "the state that was cached counts");
});

Deno.test("what a call has not read any more leads to no further call", async () => {
  await using all = await two(holding(entry("a", 1, { size: 1 })), holding(entry("x", 1), entry("y", 2)));
  await using sizes = watched(all.things.informer, ({ metadata: { name }, spec: { size } }, { read: fetch }) => ({
    metadata: { name },
    size: fetch(all.others.informer, { key: size === 1 ? "default/x" : "default/y" })!.spec.size,
  }));
  await all.time.tickAsync(0);
  await all.things.send(modified("a", 11, { size: 2 }));
  sizes.take();
  await all.others.send(modified("x", 12, { size: 5 }));
  assertEquals(sizes.take().calls, []);
  await all.others.send(modified("y", 13, { size: 5 }));
  assertEquals(sizes.take(), { calls: ["a"], events: ["~ a 1 → 5"] });
});

Deno.test("fetch throws for an unknown index, and once its call has returned", async () => {
  await using run = await new Run<"tier">(holding(entry("a", 1)), byTier).start();
  let late: DeriveContext["read"] | undefined;
  await using sizes = watched(run.informer, ({ metadata: { name } }, { read: fetch }) => {
    late = fetch;
    fetch(run.informer, { index: "zone" as "tier", value: "a" });
    return { metadata: { name }, size: 1 };
  });
  await run.tick();
  assert(sizes.errors[0].includes('Cannot look up index "zone"'), sizes.errors[0]);
  assertThrows(() => late!(run.informer, {}), Error, "the function that received fetch has already returned");
  assertThrows(() => derive({} as typeof run.informer, () => undefined), TypeError, "Cannot derive a collection");
});

Deno.test("a derived collection has views, events, until() and resyncs, and refuses what needs versions", async () => {
  await using run = await new Run<"tier">(holding(entry("a", 1, { size: 2 }), entry("b", 2)), byTier).start();
  await using sizes = watched(
    run.informer,
    ({ metadata: { name }, spec }) => ({ metadata: { name }, size: spec.size }),
  );
  const { collection } = sizes;
  using view = collection.view({ sortBy: "size" });
  const found = collection.until(({ size }) => size === 9);
  const gone = collection.untilDeleted("b");
  await run.tick();
  assertEquals(view.rows().map(({ key }) => key), ["b", "a"]);
  await run.send(modified("a", 11, { size: 9 }), deleted("b", 12));
  assertEquals([(await found).metadata.name, await gone, view.total], ["a", undefined, 1]);
  const events: string[] = [];
  for await (const event of collection.events()) {
    events.push(event.type);
    if (event.type === "synced") break;
  }
  assertEquals(events, ["added", "synced"]);
  let resyncs = 0;
  collection.addEventHandler({ onUpdate: ({ resync }) => void (resyncs += resync ? 1 : 0) }, { resyncMs: 1_000 });
  await run.tick(2_500);
  assertEquals(resyncs, 2);
  await using checkpoint = await Checkpoint.open(new MemoryCheckpoints(), { name: "p" });
  assertThrows(
    () => collection.addEventHandler({}, { checkpoint }),
    TypeError,
    "Cannot use a checkpoint with",
  );
  assertThrows(() => collection.events({ checkpoint }), TypeError, "Cannot use a checkpoint with");
});

Deno.test("a derived collection has the worst state of its sources, and stops with its input", async () => {
  await using all = await two(holding(entry("a", 1)), holding(entry("a", 3, { size: 3 })));
  await using sizes = watched(all.things.informer, joined(all.others.informer));
  const states: string[] = [];
  const reading = (async () => {
    for await (const { state } of sizes.collection.statusChanges()) states.push(state);
  })();
  await all.time.tickAsync(0);
  assertEquals(sizes.collection.status().state, "live");
  all.others.informer.pause();
  await all.time.tickAsync(0);
  assertEquals(sizes.collection.status().state, "paused");
  all.others.source.watch([]);
  all.others.informer.resume();
  await all.time.tickAsync(0);
  assertEquals(sizes.collection.status().state, "live");
  const stopped = all.things.informer[Symbol.asyncDispose]();
  await all.time.tickAsync(0);
  await stopped;
  await reading;
  assertEquals([states.at(0), states.at(-1), sizes.collection.lister.list().length], ["listing", "stopped", 1]);
  assertThrows(() => sizes.collection.addEventHandler({}), Error, "it has stopped already");
  await assertRejects(() => sizes.collection.until(() => false), Error, "it has stopped already");
});

Deno.test("a disposed collection follows nothing more, and its sources have no reader of it", async () => {
  await using all = await two(holding(entry("a", 1)), holding(entry("a", 3, { size: 3 })));
  const sizes = watched(all.things.informer, joined(all.others.informer));
  await all.time.tickAsync(0);
  assertEquals([all.things, all.others].map(({ informer }) => informer[internals].sync.processor.log.readers), [1, 1]);
  const waiting = sizes.collection.until(() => false).catch((error) => error);
  await all.time.tickAsync(0);
  await sizes.collection[Symbol.asyncDispose]();
  await sizes.collection[Symbol.asyncDispose]();
  assert(await waiting instanceof WaitError);
  sizes.take();
  await all.things.send(modified("a", 11, { size: 5 }));
  assertEquals(sizes.take(), { calls: [], events: [] });
  assertEquals([all.things, all.others].map(({ informer }) => informer[internals].sync.processor.log.readers), [0, 0]);
});

Deno.test("a wait for the sync rejects when a source is refused, and by its signal", async () => {
  using time = new FakeTime();
  await using run = new Run<"tier">(
    new ScriptedSource().list(refused(403)).list(part(1, [entry("a", 1)]), END).watch([]),
    byTier,
    time,
  );
  await using sizes = watched(run.informer, ({ metadata }) => ({ metadata, size: 1 }));
  const refusal = assertRejects(
    () => sizes.collection.waitForCacheSync(),
    WaitError,
    'Cannot wait for "objects" to sync',
  );
  const stop = new AbortController();
  const aborted = assertRejects(
    () => sizes.collection.waitForCacheSync({ signal: stop.signal, patient: true }),
    WaitError,
    "Cannot wait for",
  );
  const patient = sizes.collection.waitForCacheSync({ patient: true });
  await run.start();
  await refusal;
  stop.abort(new Error("enough"));
  await aborted;
  assertEquals(sizes.collection.status().state, "forbidden");
  await run.tick(2_000);
  await patient;
  assertEquals(sizes.collection.hasSynced, true);
});

for (const { from, to, play } of groupsOf(KINDS.derivations)) {
  const name =
    `derivations ${from} to ${to}: collections equal their functions over arrays, but for the inputs that fail, ` +
    "by their events, too";
  Deno.test(name, { timeout: 600_000 }, play);
}
