import { assert, assertEquals, assertRejects, assertStrictEquals, assertThrows } from "@std/assert";
import type { CacheEntry } from "../../../src/engine/api/entry.ts";
import { DecodeError } from "../../../src/engine/api/status.ts";
import { field } from "../../../src/engine/entry/path.ts";
import type { InformerEvent, SyncedEvent } from "../../../src/engine/informer/events/event.ts";
import { SharedIndexInformer } from "../../../src/engine/informer/shared_index_informer.ts";
import type { Indexer, Indexers } from "../../../src/engine/store/indexer.ts";
import { Pod } from "../../../src/engine/kinds/core/v1.ts";
import { pod } from "../../../src/testing/mod.ts";
import { FactoryFixture } from "./_factory_fixture.ts";
import { FakeTime } from "../../support/times/fake_time.ts";
import {
  added,
  bookmark,
  deleted,
  endBookmark,
  entry,
  expired,
  modified,
  nameless,
  part,
  refused,
  seen,
  type Thing,
  unparsable,
  unread,
} from "../../support/sources/fixtures.ts";
import { holding, Notes, Run } from "../../support/sources/informer.ts";
import { END, ScriptedSource } from "../../support/sources/scripted_source.ts";

Deno.test("SharedIndexInformer delivers the changes of a relist, deletions first, after the cache has all of them [C073] [F07]", async () => {
  for (const streaming of [false, true]) {
    const before = [entry("pod-1", 1), entry("pod-2", 2), entry("pod-3", 3), entry("pod-5", 5)];
    const after = [entry("pod-1", 11), entry("pod-2", 12), entry("pod-4", 14), entry("pod-5", 5)];
    const source = streaming
      ? new ScriptedSource().watch([...before.map((entry) => ({ type: "ADDED" as const, entry })), endBookmark(10)])
      : holding(...before);
    await using run = new Run(source, streaming ? { reflector: { streamingList: "auto" } } : {});
    const notes = run.listen();
    const shown: string[][] = [];
    const look = (): void => void shown.push(run.cached);
    run.informer.addEventHandler({
      onUpdate: look,
      onDelete: look,
      onAdd: ({ initial }) => initial ? undefined : look(),
    });
    await run.start();
    notes.take();
    if (streaming) {
      source.watch([...after.map((entry) => ({ type: "ADDED" as const, entry })), endBookmark(20)]);
      source.newest.send(expired());
      await run.tick(800);
    } else await run.relist(expired(), 20, after);
    assertEquals(
      notes.take(),
      ["- default/pod-3@3 (unknown)", "~ default/pod-1@1→11", "~ default/pod-2@2→12", "+ default/pod-4@14"],
    );
    assertEquals(shown, Array(4).fill(seen(after)));
  }
});

Deno.test("SharedIndexInformer delivers the deletion of every object when a relist is empty [C074]", async () => {
  await using run = new Run(holding(entry("a", 1), entry("b", 2)));
  const notes = run.listen();
  await run.start();
  notes.take();
  await run.relist(expired(), 20, []);
  assertEquals(notes.take(), ["- default/a@1 (unknown)", "- default/b@2 (unknown)"]);
  assertEquals([run.cached, run.informer.lastSyncResourceVersion], [[], "20"]);
});

Deno.test("SharedIndexInformer stores its first list in one step, and a relist in one step per changed object", async () => {
  await using run = new Run(holding(entry("a", 1), entry("b", 2), entry("c", 3)));
  const store = run.informer.entries as Indexer<CacheEntry<Thing>>;
  await run.start();
  assertEquals([run.cached.length, store.revision], [3, 1]);
  await run.relist(expired(), 20, [entry("a", 1), entry("b", 12)]);
  assertEquals([run.cached, store.revision], [["default/a@1", "default/b@12"], 3]);
});

Deno.test("SharedIndexInformer marks only objects of the first list as initial [C075]", async () => {
  await using run = new Run(holding(entry("a", 1)));
  const notes = run.listen();
  await run.start();
  // A modification and an addition are missed, since the watch breaks.
  await run.relist(expired(), 20, [entry("a", 11), entry("b", 12)]);
  assertEquals(notes.lines, ["+ default/a@1 (initial)", "= 1 at 10", "~ default/a@1→11", "+ default/b@12"]);
});

Deno.test("SharedIndexInformer's version is that of the last change, bookmark or list, also when a transform removes an object's version [C076]", async () => {
  for (const transform of [undefined, strip]) {
    await using run = new Run(holding(entry("a", 1)), { transform });
    assertEquals(run.informer.lastSyncResourceVersion, "");
    await run.start();
    const versions = [run.informer.lastSyncResourceVersion];
    for (const change of [modified("a", 11), bookmark(15), deleted("a", 20)]) {
      await run.send(change);
      versions.push(run.informer.lastSyncResourceVersion);
    }
    await run.relist(expired(), 30, []);
    versions.push(run.informer.lastSyncResourceVersion);
    assertEquals(versions, ["10", "11", "15", "20", "30"]);
  }
});

function strip(object: Thing): Thing {
  const { name, namespace } = object.metadata;
  return { metadata: { name, ...(namespace === undefined ? {} : { namespace }) }, spec: object.spec } as Thing;
}

Deno.test("SharedIndexInformer caches and delivers the result of a transform, not the server's object [C081] [F32]", async () => {
  await using run = new Run(holding(entry("a", 1, { size: 2 })), {
    transform: (object) => ({ ...object, spec: { size: object.spec.size * 10 } }),
  });
  const sizes: number[] = [];
  run.informer.addEventHandler({
    onAdd: ({ object }) => void sizes.push(object.spec.size),
    onUpdate: ({ object, previous }) => void sizes.push(previous.spec.size, object.spec.size),
    onDelete: ({ object }) => void sizes.push(object.spec.size),
  });
  await run.start();
  await run.send(modified("a", 11, { size: 3 }));
  assertEquals(run.informer.indexer.getByKey("default/a")?.spec.size, 30);
  await run.send(deleted("a", 12, { size: 4 }));
  assertEquals(sizes, [20, 20, 30, 40]);
});

// client-go's reflector may apply it twice to what a streaming list brings; here it is once.
Deno.test("SharedIndexInformer transforms each object once, in every way of listing [C026]", async () => {
  for (const streamingList of ["off", "on"] as const) {
    const source = streamingList === "off"
      ? holding(entry("a", 1), entry("b", 2))
      : new ScriptedSource().watch([added("a", 1), added("b", 2)], [endBookmark(10)]);
    let calls = 0;
    await using run = new Run(source, {
      transform: (object) => (calls++, { ...object, spec: { size: object.spec.size + 1 } }),
      reflector: { streamingList },
    });
    await run.start();
    assertEquals(calls, 2);
    await run.send(modified("a", 11));
    assertEquals([calls, run.informer.lister.list().map(({ spec }) => spec.size)], [3, [2, 2]]);
    // What a new list has in the version that is cached is not looked at.
    if (streamingList === "off") await run.relist(expired(), 20, [entry("a", 11), entry("b", 2)]);
    assertEquals(calls, 3);
  }
});

Deno.test("SharedIndexInformer fills an index that is added later, and keeps all indexes up to date [C085]", async () => {
  await using run = new Run(holding(entry("a", 1, { size: 1 }), entry("b", 1, { size: 2 })), {
    indexers: { size: ({ spec }) => [String(spec.size)] },
  });
  const early = run.informer.withIndexers({ parity: ({ spec }) => [spec.size % 2 === 0 ? "even" : "odd"] });
  assertStrictEquals(early as unknown, run.informer);
  await run.start();
  const late = early.withIndexers({ name: ({ metadata }) => [metadata.name], none: () => [] });
  assertEquals(late.indexer.indexKeys("size", "2"), ["default/b"]);
  assertEquals(late.indexer.indexKeys("parity", "odd"), ["default/a"]);
  assertEquals(late.indexer.byIndex("name", "a").map(({ spec }) => spec.size), [1]);
  assertEquals(late.indexer.indexValues("name").sort(), ["a", "b"]);
  await run.send(modified("a", 11, { size: 2 }), added("c", 12, { size: 3 }), deleted("b", 13));
  assertEquals(late.indexer.indexKeys("size", "2"), ["default/a"]);
  assertEquals(late.indexer.indexKeys("parity", "odd"), ["default/c"]);
  assertEquals(late.indexer.indexValues("name").sort(), ["a", "c"]);
  assertEquals(late.indexer.indexValues("none"), []);
  assertEquals(late.indexer.indexKeys("namespace", "default"), ["default/a", "default/c"]);
  assertThrows(() => late.withIndexers({ fresh: () => [], size: () => [] }), Error, 'Cannot add index "size"');
  // @ts-expect-error nothing was added
  assertThrows(() => late.indexer.byIndex("fresh", "x"), RangeError, 'index "fresh"');
  await run.informer[Symbol.asyncDispose]();
  assertThrows(() => late.withIndexers({ later: () => [] }), Error, "it has stopped already");
});

Deno.test("SharedIndexInformer removes indexes, and a factory adds one again that was removed", async () => {
  await using fixture = new FactoryFixture();
  fixture.server.create(Pod, pod({ name: "cart-0", namespace: "shop", node: "n1" }));
  const indexers = { node: field("spec.nodeName") };
  const pods = fixture.informers.forResource(Pod, { indexers });
  fixture.informers.start();
  await fixture.tick(100);
  assertEquals(pods.indexer.indexKeys("node", "n1"), ["shop/cart-0"]);
  pods.removeIndexer("node");
  assertThrows(() => pods.indexer.indexKeys("node", "n1"), RangeError, 'The indexes are "namespace"');
  assertThrows(() => pods.removeIndexer("node"), RangeError, '"node"');
  assertThrows(() => pods.removeIndexer("namespace" as never), TypeError, "Remove only indexes of yours");
  fixture.server.forceRelist();
  await fixture.tick(5_000);
  const again = fixture.informers.forResource(Pod, { indexers });
  assertEquals(again.indexer.indexKeys("node", "n1"), ["shop/cart-0"]);
});

Deno.test("SharedIndexInformer leaves an object out of an index whose function throws, and reports it", async () => {
  await using run = new Run(holding(entry("a", 1), entry("b", 1)), {
    indexers: {
      picky: ({ metadata }) => {
        if (metadata.name === "a") throw new Error("not this one");
        return ["x"];
      },
      // @ts-expect-error as JavaScript might
      sloppy: ({ metadata }) => metadata.name === "a" ? undefined : ["x"],
    },
  });
  const notes = run.listen();
  await run.start();
  assertEquals(run.informer.indexer.indexKeys("picky", "x"), ["default/b"]);
  assertEquals(run.informer.indexer.indexKeys("sloppy", "x"), ["default/b"]);
  assertEquals(run.cached, ["default/a@1", "default/b@1"]);
  assertEquals(run.complaints, [
    'InformerError: Cannot add "default/a" to index "picky": not this one',
    'InformerError: Cannot add "default/a" to index "sloppy": it returned undefined instead of an array of strings',
  ]);
  assertEquals([notes.lines.length, run.informer.hasSynced], [3, true]);
});

Deno.test("SharedIndexInformer fills a later index although some objects cannot be read, and then counts those", async () => {
  await using run = await new Run(holding(unparsable("a", 1), unread("b", 2))).start();
  assertEquals(run.informer.status().quarantined, 0);
  const { indexer } = run.informer.withIndexers({ size: ({ spec }) => [String(spec.size)] });
  assertEquals(indexer.indexKeys("size", "1"), ["default/b"]);
  assertEquals([run.informer.status().quarantined, run.errors.length], [1, 1]);
});

Deno.test("SharedIndexInformer delivers only the changes of a relist, and resyncs deliver the other objects to handlers with a resync period [C089]", async () => {
  await using run = new Run(holding(entry("pod1", 1), entry("pod2", 2)));
  const plain = new Notes();
  const resynced = new Notes();
  run.informer.addEventHandler(plain);
  run.informer.addEventHandler(resynced, { resyncMs: 1_000 });
  await run.start();
  plain.take();
  resynced.take();
  await run.relist(expired(), 20, [entry("pod1", 1), entry("pod2", 12), entry("pod3", 13)]);
  await run.tick(1_000);
  assertEquals(plain.lines, ["~ default/pod2@2→12", "+ default/pod3@13"]);
  assertEquals(
    resynced.lines,
    [...plain.lines, "~ default/pod1@1→1 (resync)", "~ default/pod2@12→12 (resync)", "~ default/pod3@13→13 (resync)"],
  );
});

Deno.test("SharedIndexInformer keys objects by the name that a transform sets [C091]", async () => {
  const upper = (object: Thing): Thing => {
    const { metadata } = object;
    return { ...object, metadata: { ...metadata, name: metadata.name.toUpperCase() } };
  };
  await using run = new Run(holding(entry("a", 1), entry("b", 2)), { transform: upper });
  const notes = run.listen();
  await run.start();
  assertEquals(notes.take(), ["+ default/A@1 (initial)", "+ default/B@2 (initial)", "= 2 at 10"]);
  await run.send(modified("a", 11), added("c", 12), deleted("b", 13));
  assertEquals(notes.take(), ["~ default/A@1→11", "+ default/C@12", "- default/B@13"]);
  assertEquals(run.informer.lister.namespace("default").get("A")?.metadata.name, "A");
  assertEquals([...run.informer.indexer.keys()].sort(), ["default/A", "default/C"]);
  // The same versions again are no news.
  await run.relist(expired(), 20, [entry("a", 11)]);
  assertEquals(notes.take(), ["- default/C@12 (unknown)"]);
});

Deno.test("SharedIndexInformer quarantines an object whose transform throws, until its next version", async () => {
  const cause = new Error("no such thing");
  await using run = new Run(holding(entry("a", 1), entry("b", 2)), {
    transform: (object) => {
      if (object.metadata.resourceVersion === "1") throw cause;
      if (object.metadata.resourceVersion === "12") return { ...object, metadata: { ...object.metadata, name: "" } };
      return object;
    },
  });
  await run.start();
  assertEquals([run.informer.status().quarantined, run.informer.status().objects], [1, 2]);
  const error = assertThrows(() => run.informer.indexer.getByKey("default/a"), DecodeError);
  assertEquals(
    [error.message, error.cause, error.key],
    ['Cannot transform "default/a"', cause, "default/a"],
  );
  assertEquals(run.informer.lister.list().map(({ metadata }) => metadata.name), ["b"]);
  await run.send(modified("a", 11), modified("b", 12));
  assertEquals([run.informer.status().quarantined, run.informer.lister.list().length], [1, 1]);
  assertThrows(() => run.informer.lister.get("default/b"), DecodeError, 'Cannot transform "default/b"');
  await run.send(deleted("b", 13));
  assertEquals([run.informer.status().quarantined, run.cached], [0, ["default/a@11"]]);
});

/** Faults of transforms, and the message of the error for each. */
const BAD_TRANSFORMS: Readonly<Record<string, readonly [transform: (object: Thing) => unknown, message: string]>> = {
  "throws an error of decoding": [() => {
    throw new DecodeError("its own");
  }, "its own"],
  "throws undefined": [() => {
    throw undefined;
  }, ""],
  "throws an object without a prototype": [() => {
    throw Object.create(null);
  }, "a value that has no text"],
  "returns nothing": [() => undefined, "the result has no metadata.name"],
  "returns a promise": [(object) => Promise.resolve(object), "the result has no metadata.name"],
  "returns a name that is a number": [
    (object) => ({ ...object, metadata: { ...object.metadata, name: 7 } }),
    "the result has no metadata.name",
  ],
  "returns a namespace that is a number": [
    (object) => ({ ...object, metadata: { ...object.metadata, namespace: 7 } }),
    "the metadata.namespace of the result is not a string",
  ],
};

Deno.test("SharedIndexInformer survives any error or result of a transform", async () => {
  for (const [what, [bad, message]] of Object.entries(BAD_TRANSFORMS)) {
    await using run = new Run(holding(entry("a", 1, { size: 9 }), entry("b", 2)), {
      transform: (object) => object.spec.size === 9 ? bad(object) as Thing : object,
    });
    await run.start();
    await run.send(modified("b", 11, { size: 9 }), added("c", 12));
    const complaints = ["a", "b"].map((name) =>
      `DecodeError: Cannot transform "default/${name}"${message && `: ${message}`}`
    );
    assertEquals([run.complaints, run.cached], [complaints, ["default/a@1", "default/b@11", "default/c@12"]], what);
    assertEquals([run.informer.status().quarantined, run.informer.status().state], [2, "live"], what);
  }
});

Deno.test("SharedIndexInformer caches, skips, counts and replaces objects that cannot be read [F15]", async () => {
  using time = new FakeTime();
  await using run = new Run(
    holding(unread("a", 1, { labels: { app: "x" } }), unparsable("b", 2), unread("c", 3)),
    {},
    time,
  );
  const { informer } = run;
  await run.start();
  // Nobody has read it yet, so nobody knows.
  assertEquals([informer.status().quarantined, informer.indexer.size], [0, 3]);
  const names = (objects: Iterable<Thing>): string[] => [...objects].map(({ metadata }) => metadata.name);
  assertEquals(names(informer.indexer.list()), ["a", "c"]);
  assertEquals(informer.status().quarantined, 1);
  assertEquals(names(informer.indexer), ["a", "c"]);
  assertEquals(names(informer.indexer.byIndex("namespace", "default")), ["a", "c"]);
  assertEquals(names(informer.lister.list()), ["a", "c"]);
  assertEquals(names(informer.lister.list("app=x")), ["a"]);
  assertEquals(names(informer.lister.namespace("default").list("app")), ["a"]);
  assertThrows(() => informer.indexer.getByKey("default/b"), DecodeError, 'Cannot parse "default/b" at version 2');
  assertThrows(() => informer.lister.get("default/b"), DecodeError);
  assertThrows(() => informer.lister.namespace("default").get("b"), DecodeError);
  // Reported and counted once, by whichever read it was found.
  assertEquals([run.errors.length, informer.status().quarantined, informer.status().errors], [1, 1, 1]);
  // The same version again: a broken entry is equal to nothing.
  await run.relist(expired(), 20, [unread("a", 1), unread("b", 2), unread("c", 3)]);
  assertEquals([informer.status().quarantined, names(informer.indexer.list())], [0, ["a", "b", "c"]]);
});

Deno.test("SharedIndexInformer counts only cached objects as quarantined, not those of past events", async () => {
  await using run = new Run(holding(unparsable("a", 1), unparsable("b", 2)));
  const { informer } = run;
  const readings: string[] = [];
  const read = (what: () => Thing): void => {
    try {
      readings.push(what().metadata.resourceVersion);
    } catch (error) {
      assert(error instanceof DecodeError);
      readings.push("broken");
    }
  };
  informer.addEventHandler({
    onUpdate: (event) => read(() => event.previous),
    onDelete: (event) => read(() => event.object),
  });
  await run.start();
  await run.send(modified("a", 11));
  await run.send({ type: "DELETED", entry: unparsable("b", 12) });
  assertEquals([readings, run.errors.length], [["broken", "broken"], 2]);
  assertEquals([informer.status().quarantined, run.cached], [0, ["default/a@11"]]);
});

Deno.test("SharedIndexInformer skips an object without a name, and reports it", async () => {
  await using run = new Run(holding(entry("a", 1), nameless(2)));
  const notes = run.listen();
  await run.start();
  assertEquals([notes.lines, run.cached], [["+ default/a@1 (initial)", "= 1 at 10"], ["default/a@1"]]);
  assertEquals([run.errors.length, run.informer.status().quarantined], [1, 0]);
});

Deno.test("SharedIndexInformer delivers an object of the same name and another uid as deleted, then added", async () => {
  await using run = new Run(holding(entry("watched", 1), entry("listed", 2), entry("both", 3)));
  const notes = run.listen();
  await run.start();
  notes.take();
  await run.send(modified("watched", 11, { uid: "other" }));
  assertEquals(notes.take(), ["- default/watched@1 (unknown)", "+ default/watched@11"]);
  await run.send(deleted("both", 12), added("both", 13, { uid: "other" }));
  assertEquals(notes.take(), ["- default/both@12", "+ default/both@13"]);
  // The end of one that was never seen: what was known is gone all the same.
  await run.send(deleted("both", 14, { uid: "third" }));
  assertEquals(notes.take(), ["- default/both@13 (unknown)"]);
  const listed = entry("listed", 15, { uid: "other" });
  await run.relist(expired(), 20, [entry("watched", 11, { uid: "other" }), listed]);
  assertEquals(notes.take(), ["- default/listed@2 (unknown)", "+ default/listed@15"]);
  assertEquals(run.informer.entries.getByKey("default/listed")?.uid, "other");
});

Deno.test("SharedIndexInformer does not apply an older version than the cached one, except from a list [F16]", async () => {
  await using run = new Run(holding(entry("a", 9)));
  const notes = run.listen();
  await run.start();
  notes.take();
  await run.send(modified("a", 8), added("a", 9), deleted("a", 5, { uid: "an earlier one" }));
  assertEquals([notes.take(), run.cached, run.informer.status().outdated], [[], ["default/a@9"], 2]);
  // The server was restored from a backup.
  run.source.list(expired());
  await run.relist(expired(), 7, [entry("a", 6)]);
  assertEquals([notes.take(), run.cached], [["~ default/a@9→6"], ["default/a@6"]]);
});

Deno.test("SharedIndexInformer keeps the same entry when a relist has the same version of it", async () => {
  await using run = new Run(holding(unread("a", 1), unread("b", 2)));
  await run.start();
  const before = run.informer.entries.getByKey("default/a");
  const object = run.informer.indexer.getByKey("default/a");
  await run.relist(expired(), 20, [unread("a", 1), unread("b", 3)]);
  assertStrictEquals(run.informer.entries.getByKey("default/a"), before);
  assertStrictEquals(run.informer.indexer.getByKey("default/a"), object);
  assertEquals(run.cached, ["default/a@1", "default/b@3"]);
});

Deno.test("SharedIndexInformer with freeze deeply freezes objects that are read [F17]", async () => {
  for (const freeze of [false, true]) {
    await using run = new Run(holding(unread("a", 1, { labels: { app: "x" } })), { freeze });
    await run.start();
    const object = run.informer.indexer.getByKey("default/a")!;
    const { metadata } = run.informer.entries.getByKey("default/a")!;
    const frozen = [object, object.spec, object.metadata, object.metadata.labels, metadata].map(Object.isFrozen);
    assertEquals(frozen, Array(5).fill(freeze));
    if (freeze) assertThrows(() => (object.spec as { size: number }).size = 2, TypeError);
    await run.relist(expired(), 20, [unread("a", 1)]);
    assertStrictEquals(run.informer.indexer.getByKey("default/a"), object);
  }
});

Deno.test("SharedIndexInformer with parse: eager quarantines an object whose reading fails otherwise than by its text", async () => {
  const odd = Object.defineProperty(entry("a", 1), "object", {
    get: () => {
      throw new TypeError("a custom source is at fault");
    },
  });
  await using run = await new Run(holding(odd, entry("b", 2)), { parse: "eager" }).start();
  const { indexer, lister } = run.informer;
  assertEquals(lister.list().map(({ metadata }) => metadata.name), ["b"]);
  const error = assertThrows(() => indexer.getByKey("default/a"), DecodeError, 'Cannot read "default/a"');
  assertEquals((error.cause as Error).message, "a custom source is at fault");
  assertEquals(run.informer.status().quarantined, 1);
});

Deno.test("SharedIndexInformer parses objects when they are first read, or with parse: eager as they arrive", async () => {
  for (
    const [options, quarantined] of [[{}, 0], [{ parse: "eager" }, 1], [{ indexers: { x: () => [] } }, 1]] as const
  ) {
    await using run = new Run<never>(holding(unparsable("a", 1), unread("b", 2)), options);
    await run.start();
    assertEquals([run.informer.status().quarantined, run.errors.length], [quarantined, quarantined]);
  }
});

Deno.test("SharedIndexInformer indexes, filters, waits and selects by paths without parsing an object [F15]", async () => {
  const indexers = { size: field("spec.size") };
  await using run = new Run(holding(unread("a", 1, { size: 1 }), unparsable("b", 2)), { indexers });
  const { informer } = run;
  const lines: string[] = [];
  const note = ({ type, key }: Exclude<InformerEvent<Thing>, SyncedEvent>): void => void lines.push(`${type} ${key}`);
  informer.addEventHandler({ onAdd: note, onUpdate: note, onDelete: note }, { filter: field("spec.size").in(2, 3) });
  const parsed: string[] = [];
  /** The versions of the objects that were parsed, but for the one that cannot be. */
  const versions = (): string[] =>
    parsed.flatMap((text) => text.includes("{{") ? [] : /"resourceVersion":"(.+?)"/.exec(text)?.[1] ?? []);
  const parse = JSON.parse;
  JSON.parse = (text: string): unknown => (parsed.push(text), parse(text));
  try {
    await run.start();
    const found = informer.until(field("spec.size").equals(3));
    await run.send({ type: "MODIFIED", entry: unread("a", 11, { size: 2 }) });
    await run.send({ type: "ADDED", entry: unread("c", 12, { size: 2 }) });
    assertEquals(informer.indexer.indexKeys("size", "2"), ["default/a", "default/c"]);
    assertEquals(versions(), []);
    await run.send({ type: "MODIFIED", entry: unread("a", 13, { size: 3 }) });
    assertEquals((await found).metadata.resourceVersion, "13");
    assertEquals(versions(), ["13"]);
    assertEquals(informer.lister.list({ fieldSelector: "spec.size=2" }).map(({ metadata }) => metadata.name), ["c"]);
    assertEquals(versions(), ["13", "12"]);
  } finally {
    JSON.parse = parse;
  }
  assertEquals(lines, ["added default/a", "added default/c", "updated default/a"]);
  // The one that cannot be read has no value, and is reported once.
  assertEquals([run.complaints.length, informer.status().quarantined], [1, 1]);
  assertEquals(informer.indexer.indexValues("size").sort(), ["2", "3"]);
});

Deno.test("SharedIndexInformer reports and counts an object that a filter by path cannot read", async () => {
  await using run = new Run(holding(unread("a", 1), unparsable("b", 2)));
  const notes = run.listen({ filter: field("spec.size").exists() });
  await run.start();
  assertEquals(notes.lines, ["+ default/a@1 (initial)", "= 2 at 10"]);
  assertEquals([run.complaints.length, run.informer.status().quarantined], [1, 1]);
});

Deno.test("SharedIndexInformer parses objects as they arrive once it has an index that reads them", async () => {
  for (const indexers of [{}, { size: ({ spec }) => [String(spec.size)] }] as Indexers<Thing, "size">[]) {
    await using run = await new Run(holding()).start();
    run.informer.withIndexers(indexers);
    const arriving = unparsable("a", 11); // has its error once it was parsed
    run.source.list(part(20, [arriving]));
    run.source.newest.send(expired());
    await run.tick(800);
    assertEquals([arriving.error !== undefined, run.cached], ["size" in indexers, []]);
  }
});

Deno.test("SharedIndexInformer drops managedFields by default [F32]", async () => {
  for (const managedFields of [undefined, "drop", "keep"] as const) {
    await using run = await new Run(holding(), { managedFields }).start();
    assertEquals(run.source.calls.map(({ options }) => options.managedFields), Array(2).fill(managedFields ?? "drop"));
  }
});

Deno.test("SharedIndexInformer recovers from a failed list or watch, and equals the server afterwards", async () => {
  await using run = new Run(holding(entry("a", 1)));
  await run.start();
  run.source.newest.send(refused(500));
  await run.tick();
  // Stale, and readable.
  assertEquals([run.cached, run.informer.status().state], [["default/a@1"], "stale"]);
  run.source.list(part(20, [entry("b", 12)]), END);
  await run.tick(800);
  assertEquals(run.cached, ["default/b@12"]);
});

Deno.test("SharedIndexInformer runs only once [F08]", async () => {
  await using run = await new Run(holding()).start();
  await assertRejects(() => run.informer.run(), Error, 'Cannot run the informer of "objects": it is running already');
  await run.informer[Symbol.asyncDispose]();
  await assertRejects(() => run.informer.run(), Error, "it has stopped already");
});

Deno.test("SharedIndexInformer that ends because onPhase throws rejects run() and pending waits with that error", async () => {
  using time = new FakeTime();
  const thrown = new Error("the phase is not to my liking");
  const run = new Run(new ScriptedSource(), {
    reflector: {
      onPhase: () => {
        throw thrown;
      },
    },
  }, time);
  const waiting = assertRejects(() => run.informer.waitForCacheSync(), Error, "it has stopped");
  const error = await assertRejects(() => run.informer.run(), Error);
  assertStrictEquals(error, thrown);
  assertStrictEquals((await waiting).cause, thrown);
  assertStrictEquals(run.informer.status().cause, thrown);
});

Deno.test("SharedIndexInformer whose run() has failed is disposed without that error, so that await using throws it once", async () => {
  const thrown = new Error("the phase is not to my liking");
  const onPhase = (): never => {
    throw thrown;
  };
  const error = await assertRejects(async () => {
    await using run = new Run(new ScriptedSource(), { reflector: { onPhase } });
    await run.informer.run();
  });
  assertStrictEquals(error, thrown);
});

Deno.test("SharedIndexInformer that ends while it waits has no time of a next request in its status", async () => {
  using time = new FakeTime();
  const thrown = new Error("the phase is not to my liking");
  const run = new Run(new ScriptedSource().list(refused(500)), {
    reflector: {
      onPhase: ({ name }) => {
        if (name === "waiting") throw thrown;
      },
    },
  }, time);
  await assertRejects(() => run.informer.run(), Error, thrown.message);
  assertEquals([run.informer.status().state, run.informer.status().retryAt], ["stopped", undefined]);
});

Deno.test("SharedIndexInformer refuses invalid options", () => {
  for (const options of [{ resyncMs: -1 }, { graceMs: NaN }, { reflector: { pageSize: 0 } }]) {
    assertThrows(() => new SharedIndexInformer(new ScriptedSource(), options), RangeError);
  }
  for (const intervalMs of [0, 59_999, NaN, "60000" as unknown as number]) {
    assertThrows(
      () => new SharedIndexInformer<Thing>(new ScriptedSource(), { consistencyCheck: { intervalMs: intervalMs } }),
      RangeError,
      "Cannot create an informer: consistencyCheck.intervalMs must be at least 60000 milliseconds, or Infinity for never",
    );
  }
});
