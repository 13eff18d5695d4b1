import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "npm:fast-check@^4.10.2";
import { Readers } from "../../../src/engine/async/iterate.ts";
import { parseSortKey, type ViewOptions, ViewReader } from "../../../src/engine/informer/cache_view.ts";
import { FakeTime } from "../../support/times/fake_time.ts";
import { added, deleted, entry, expired, modified, type Thing, unparsable } from "../../support/sources/fixtures.ts";
import { holding, Run } from "../../support/sources/informer.ts";
import { CountedController } from "../../support/times/listeners.ts";
import { Screen } from "./_model.ts";

const bySize: ViewOptions<Thing> = { sortBy: "spec.size" };

/** Four things of the sizes 10, 20, 30 and 40. */
function four(): ReturnType<typeof holding> {
  return holding(...["a", "b", "c", "d"].map((name, i) => entry(name, i + 1, { size: (i + 1) * 10 })));
}

Deno.test("a view is equal to sorting everything, in every window, after every change, by its updates alone", async () => {
  const change = fc.record({ name: fc.constantFrom(..."abcdefghij"), size: fc.nat(5), deletes: fc.boolean() });
  const windows = fc.array(fc.record({ offset: fc.nat(6), limit: fc.oneof(fc.nat(6), fc.constant(Infinity)) }), {
    minLength: 1,
    maxLength: 4,
  });
  const batches = fc.array(fc.array(change, { maxLength: 8 }), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(batches, windows, fc.boolean(), fc.boolean(), async (batches, windows, eager, keyed) => {
      await using run = await new Run(holding()).start();
      using view = run.informer.view({
        where: ({ spec }) => spec.size < 5,
        sortBy: keyed ? [{ by: ({ spec }) => spec.size, descending: true }, "-metadata.name"] : [],
      });
      const screens = windows.map((window) => new Screen(view.changes(window), eager));
      await run.tick();
      if (!eager) { for (const screen of screens) await screen.read(); // and the next time behind all changes
       }
      let version = 10;
      const cache = new Map<string, { readonly size: number; readonly version: number }>();
      for (const batch of batches) {
        await run.send(...batch.map(({ name, size, deletes }) => {
          const known = cache.has(name);
          version++;
          if (known && deletes) cache.delete(name);
          else cache.set(name, { size, version });
          return known && deletes ? deleted(name, version) : (known ? modified : added)(name, version, { size });
        }));
        const expected = [...cache].filter(([, { size }]) => size < 5).sort(([a, one], [b, other]) => {
          return keyed ? other.size - one.size || (a < b ? 1 : -1) : a < b ? -1 : 1;
        }).map(([name, { version }]) => `default/${name}@${version}`);
        for (const [i, screen] of screens.entries()) {
          const { offset, limit } = windows[i];
          const shown = expected.slice(offset, offset + limit);
          assertEquals(
            view.rows(windows[i]).map(({ key, object }) => `${key}@${object.metadata.resourceVersion}`),
            shown,
          );
          if (!eager) continue;
          assertEquals(screen.rows, shown);
          assertEquals(screen.total, expected.length);
        }
      }
      if (!eager) {
        for (const [i, screen] of screens.entries()) {
          if (version > 10) await Promise.race([screen.read(), run.tick()]);
          assertEquals(
            screen.rows,
            view.rows(windows[i]).map(({ key, object }) => `${key}@${object.metadata.resourceVersion}`),
          );
        }
      }
      for (const screen of screens) await screen.end();
    }),
    { numRuns: 150 },
  );
});

Deno.test("a change inside of a window is one change, and a row that moves past the window makes another one enter or leave", async () => {
  await using run = await new Run(four()).start();
  using view = run.informer.view({ ...bySize, offset: 1, limit: 2 });
  const screen = new Screen(view.changes());
  await run.tick();
  assertEquals([screen.take(), screen.rows], [["= 2 of 4"], ["default/b@2", "default/c@3"]]);
  const steps: [string, ReturnType<typeof added>, string[]][] = [
    ["changed", modified("b", 11, { size: 21 }), ["~0 default/b"]],
    ["moved", modified("b", 12, { size: 35 }), ["0>1 default/b"]],
    ["changed ahead", modified("a", 13, { size: 11 }), []],
    ["changed behind", modified("d", 14, { size: 41 }), []],
    ["from inside to ahead", modified("b", 15, { size: 1 }), ["-1 default/b", "+0 default/a"]],
    ["from ahead to behind", modified("b", 16, { size: 99 }), ["-0 default/a", "+1 default/d"]],
    ["from behind to inside", modified("b", 17, { size: 31 }), ["-1 default/d", "+1 default/b"]],
    ["added ahead", added("e", 18, { size: 0 }), ["-1 default/b", "+0 default/a"]],
    ["added behind", added("f", 19, { size: 50 }), []],
    ["deleted ahead", deleted("e", 20), ["-0 default/a", "+1 default/b"]],
    ["deleted inside", deleted("c", 21), ["-0 default/c", "+1 default/d"]],
    ["deleted inside, and the window has room", deleted("b", 22), ["-0 default/b", "+1 default/f"]],
    ["deleted inside, and nothing is left to enter", deleted("d", 23), ["-0 default/d"]],
    ["deleted ahead, and nothing is left to enter", deleted("a", 24), ["-0 default/f"]],
    ["added ahead of an empty window", added("g", 25, { size: 1 }), ["+0 default/f"]],
  ];
  for (const [what, change, lines] of steps) {
    await run.send(change);
    assertEquals(screen.take(), lines, what);
  }
  await screen.end();
});

Deno.test("an update of a row elsewhere is none of a window, and a new number of rows is one", async () => {
  await using run = await new Run(four()).start();
  using view = run.informer.view({ ...bySize, limit: 1 });
  const screen = new Screen(view.changes());
  await run.tick();
  await run.send(modified("d", 11, { size: 41 }));
  assertEquals(screen.seen.length, 1);
  await run.send(added("e", 12, { size: 50 }));
  assertEquals([screen.seen.length, screen.seen[1].changes, screen.total, view.total], [2, [], 5, 5]);
  await screen.end();
});

Deno.test("a reader of a view that has not synced waits for all objects", async () => {
  await using run = new Run(four());
  using view = run.informer.view(bySize);
  const screen = new Screen(view.changes());
  await run.tick();
  assertEquals([view.hasSynced, screen.seen], [false, []]);
  await run.start();
  assertEquals([view.hasSynced, screen.take()], [true, ["= 4 of 4"]]);
  await screen.end();
});

Deno.test("a relist changes a view by the differences alone", async () => {
  await using run = await new Run(four()).start();
  using view = run.informer.view({ ...bySize, limit: 3 });
  const screen = new Screen(view.changes());
  await run.tick();
  screen.take();
  await run.relist(expired(), 30, [
    entry("a", 1, { size: 10 }),
    entry("c", 21, { size: 5 }),
    entry("d", 4, { size: 40 }),
  ]);
  assertEquals(screen.take().sort(), ["+2 default/d", "-1 default/b", "1>0 default/c"].sort());
  assertEquals(screen.rows, ["default/c@21", "default/a@1", "default/d@4"]);
  await screen.end();
});

Deno.test("a reader that is behind by more changes than its window has rows gets the rows", async () => {
  await using run = await new Run(four()).start();
  using view = run.informer.view({ ...bySize, limit: 2 });
  const screen = new Screen(view.changes(), false);
  await screen.read();
  for (let i = 0; i < 16; i++) await run.send(modified("a", 11 + i, { size: 10 + i % 2 }));
  await screen.read();
  assertEquals([screen.seen[1].rows, screen.seen[1].changes.length], [undefined, 16]);
  for (let i = 0; i < 17; i++) await run.send(modified("a", 30 + i, { size: 10 + i % 2 }));
  await screen.read();
  assertEquals([screen.seen[2].rows?.length, screen.seen[2].changes.length], [2, 0]);
  assertEquals(screen.rows, ["default/a@46", "default/b@2"]);
  await screen.end();
});

Deno.test("a window that is moved has all of its rows in the next update, and then its changes", async () => {
  await using run = await new Run(four()).start();
  using view = run.informer.view({ ...bySize, limit: 2 });
  const screen = new Screen(view.changes());
  await run.tick();
  screen.updates.moveTo({ offset: 2 });
  await run.send(modified("a", 11, { size: 100 }));
  assertEquals([screen.rows, screen.seen.at(-1)!.offset], [["default/d@4", "default/a@11"], 2]);
  assertThrows(
    () => screen.updates.moveTo({ limit: 1.5 }),
    RangeError,
    "Cannot show a part of a view: limit must be a whole number of at least 0, or Infinity for no limit, but it is 1.5",
  );
  assertThrows(
    () => view.changes({ offset: -1 }),
    RangeError,
    "offset must be a whole number of at least 0, but it is -1",
  );
  assertThrows(() => run.informer.view({ offset: NaN }), RangeError, "it is NaN");
  await screen.end();
});

Deno.test("rows without a value come last in both directions, and values of different types have an order", async () => {
  const values = [
    undefined,
    "10",
    9,
    new Date(1),
    null,
    10,
    "a",
    new Date(0),
    true,
    3n,
    NaN,
    new Date(NaN),
    false,
    "0",
  ];
  await using run = await new Run(holding(...values.map((_, i) => entry(`t${10 + i}`, i + 1)))).start();
  const valueOf = ({ metadata }: Thing): (typeof values)[number] => values[Number(metadata.name.slice(1)) - 10];
  using view = run.informer.view({ sortBy: valueOf });
  await run.tick();
  assertEquals(
    view.rows().map(({ object }) => valueOf(object)),
    [3n, 9, 10, new Date(0), new Date(1), false, true, "0", "10", "a", undefined, null, NaN, new Date(NaN)],
  );
  using down = run.informer.view({ sortBy: ["-spec.missing.more", "-spec.size", "-metadata.name"] });
  await run.tick();
  assertEquals(down.rows({ limit: 2 }).map(({ key }) => key), ["default/t23", "default/t22"]);
});

Deno.test("a path as sort key is that of fields: of several values the first one counts", () => {
  const object = { cells: ["a", 3], spec: { containers: [{ image: "b" }, { image: "a" }], deep: {} } };
  const keys = ["cells.1", "spec.containers.image", "spec.containers.0.image", "spec.deep.none", "spec.containers"];
  const kept = (key: string): unknown => parseSortKey<typeof object>(key).by(object);
  assertEquals(keys.slice(0, 4).map(kept), [3, "b", undefined, undefined]);
  assertEquals(kept("spec.containers"), { image: "b" }); // which has no order, as undefined
});

Deno.test("a sort function that returns arrays and objects now and then leaves no row behind", async () => {
  const things = Array.from({ length: 30 }, (_, i) => entry(`n${i}`, i + 1, { size: i }));
  await using run = await new Run(holding(...things)).start();
  const odd: unknown[] = [[1], { a: 1 }, undefined, null, [], "x", 3, [3], {}];
  let calls = 0;
  using view = run.informer.view({ sortBy: () => odd[calls++ * 7 % odd.length] as number });
  await run.tick();
  for (let round = 0; round < 3; round++) {
    await run.send(...things.map(({ name }, i) => modified(name, 100 + 100 * round + i, { size: round })));
    assertEquals([view.total, new Set(view.rows().map(({ key }) => key)).size], [30, 30]);
  }
  await run.send(...things.map(({ name }, i) => deleted(name, 1_000 + i)));
  assertEquals(view.rows(), []);
});

Deno.test("an object for which a function of a view throws is left out until it does not, and is reported", async () => {
  await using run = await new Run(four()).start();
  const fail = ({ spec }: Thing): number => {
    if (spec.size === 20) throw new Error("no value");
    return spec.size;
  };
  using view = run.informer.view({ sortBy: fail, name: "sizes" });
  await run.tick();
  assertEquals([view.total, run.complaints], [3, [
    'InformerError: Handler "sizes" failed on "added" of "default/b": no value',
  ]]);
  await run.send(modified("a", 11, { size: 20 }), modified("b", 12, { size: 21 }));
  assertEquals(view.rows().map(({ key }) => key), ["default/b", "default/c", "default/d"]);
});

Deno.test("an object that cannot be read is left out of a view that reads, and is reported once", async () => {
  await using run = await new Run(holding(entry("a", 1), unparsable("b", 2))).start();
  using sorted = run.informer.view(bySize);
  using plain = run.informer.view();
  await run.tick();
  assertEquals([sorted.total, plain.total, run.errors.length], [1, 2, 1]);
  assertThrows(() => plain.rows()[1].object, Error, "default/b");
  assertEquals(run.errors.length, 1);
});

Deno.test("a view without keys and predicate parses nothing but the rows that are read", async () => {
  await using run = await new Run(holding(unparsable("a", 1), unparsable("b", 2))).start();
  using view = run.informer.view();
  const screen = new Screen(view.changes());
  await run.tick();
  assertEquals([screen.take(), run.errors], [["= 2 of 2"], []]);
  await screen.end();
});

Deno.test("a view ends with its disposal, its signal and its informer, and its readers end with it", async () => {
  using time = new FakeTime();
  const run = await new Run(four(), {}, time).start();
  const stop = new AbortController();
  const views = [run.informer.view(), run.informer.view({ signal: stop.signal }), run.informer.view()];
  await time.tickAsync(0);
  const ends = views.map(async (view) => {
    const updates = view.changes();
    await updates.next();
    return await updates.next();
  });
  await time.tickAsync(0);
  assertEquals(run.informer.status().handlers.map(({ name }) => name), ["view", "view", "view"]);
  views[0][Symbol.dispose]();
  stop.abort();
  await time.tickAsync(0);
  assertEquals(run.informer.status().handlers.length, 1);
  await run[Symbol.asyncDispose]();
  assertEquals(await Promise.all(ends), Array(3).fill({ done: true, value: undefined }));
  assertEquals(await views[2].changes().next(), { done: true, value: undefined });
  assertThrows(() => run.informer.view(), Error, "it has stopped already");
});

Deno.test("a view of an informer that stops before it has synced ends", async () => {
  using time = new FakeTime();
  const run = new Run(four(), {}, time);
  const next = run.informer.view().changes().next();
  await run[Symbol.asyncDispose]();
  assertEquals(await next, { done: true, value: undefined });
});

Deno.test("a reader ends without an error when its signal aborts, and leaves nothing behind", async () => {
  await using run = await new Run(four()).start();
  using view = run.informer.view();
  await run.tick();
  const stop = new CountedController();
  const updates = view.changes({ signal: stop.signal });
  await updates.next();
  const waiting = updates.next();
  await run.tick();
  stop.abort(new Error("enough"));
  assertEquals(await waiting, { done: true, value: undefined });
  assertEquals(await updates.next(), { done: true, value: undefined });
  for await (const { total } of view.changes()) {
    assert(total === 4);
    break;
  }
  const late = view.changes({ signal: stop.signal });
  assertEquals(await late.next(), { done: true, value: undefined });
  assertEquals(stop.listeners, 0);
});

Deno.test("calls of next() that wait at once receive one update each, in their order", async () => {
  await using run = await new Run(four()).start();
  using view = run.informer.view(bySize);
  await run.tick();
  const updates = view.changes();
  await updates.next();
  const waiting = [updates.next(), updates.next()];
  await run.send(modified("a", 11, { size: 11 }));
  await run.send(modified("b", 12, { size: 21 }));
  const keys = (await Promise.all(waiting)).map((result) => {
    return result.done ? [] : result.value.changes.map((change) => "row" in change ? change.row.key : change.key);
  });
  assertEquals(keys, [["default/a"], ["default/b"]]);
});

Deno.test("a view of an empty cache has an empty window when it has synced", async () => {
  await using run = new Run(holding());
  using view = run.informer.view();
  const screen = new Screen(view.changes());
  await run.tick();
  assertEquals(screen.take(), []);
  await run.start();
  assertEquals(screen.take(), ["= 0 of 0"]);
  await screen.end();
});

Deno.test("a resync changes no view", async () => {
  await using run = await new Run(four(), { resyncMs: 1_000 }).start();
  using view = run.informer.view();
  const screen = new Screen(view.changes());
  await run.tick(2_500);
  assertEquals(screen.take(), ["= 4 of 4"]);
  await screen.end();
});

Deno.test("a reader leaves its view when it ends", async () => {
  const readers = new Readers<ViewReader<Thing>>();
  const view = { hasSynced: true, rows: () => [], total: 0 };
  const reader = new ViewReader<Thing>({ offset: 0, limit: 1 }, view, readers, undefined);
  assertEquals([...readers].length, 0);
  await reader.next();
  assertEquals([...readers], [reader]);
  await reader.return();
  await reader.return();
  assertEquals([...readers].length, 0);
});
