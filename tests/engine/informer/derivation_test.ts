import { derive, type DerivedCollection, type DerivedObject, deriveGroups } from "@kube/informer";
import type { ReadObjects } from "@kube/informer/types";
import { assert, assertEquals, assertInstanceOf } from "@std/assert";
import { nextTurn } from "../../../src/engine/async/turns.ts";
import { DerivationError } from "../../../src/engine/informer/derivation.ts";
import { WorkTime } from "../../support/times/fake_time.ts";
import { added, deleted, entry, modified, type Thing } from "../../support/sources/fixtures.ts";
import { holding, Run, Uncaught } from "../../support/sources/informer.ts";

/** An object of any form, under the name and namespace of a thing. */
function named({ metadata: { name, namespace } }: DerivedObject, more: object = {}): DerivedObject {
  return { metadata: { name, namespace, ...more } } as DerivedObject;
}

const labels = { tier: "web" };

/** The inputs of errors, in their order. */
function inputsOf(errors: readonly unknown[]): string[] {
  return errors.map((error) => {
    assertInstanceOf(error, DerivationError);
    return error.input;
  });
}

/** Results of a function that cannot be cached, or not be compared with the one before. */
const NONSENSE: Readonly<Record<string, (thing: Thing) => unknown>> = {
  "a promise that rejects": () => Promise.reject(new Error("nobody's")),
  "an array of promises that reject": () => [1, 2].map(() => Promise.reject(new Error("nobody's"))),
  "a number": () => 7,
  "an array of mixed things": (thing) => [named(thing), 7, "text", null, [named(thing)]],
  "labels that are a number": (thing) => named(thing, { labels: 7 }),
  "a getter of metadata that throws": () => ({
    get metadata() {
      throw new Error("a getter");
    },
  }),
  "getters of members that throw": ({ metadata: { name: namespace } }) => {
    return ["x", "y"].map((name) => ({
      metadata: { name, namespace, labels },
      get at(): never {
        throw new Error("a getter");
      },
    }));
  },
  "proxies whose traps throw": ({ metadata: { name: namespace } }) => {
    const getPrototypeOf = (): never => {
      throw new Error("a trap");
    };
    return ["x", "y"].map((name) => ({ metadata: { name, namespace, labels }, at: new Proxy({}, { getPrototypeOf }) }));
  },
  "a value without JSON and text": () => Object.assign(Object.create(null), { at: 1n }),
};

for (const [what, nonsense] of Object.entries(NONSENSE)) {
  Deno.test(`a function that returns ${what} fails for this input alone, and for no other collection`, async () => {
    using uncaught = new Uncaught();
    await using run = await new Run(holding(entry("a", 1), entry("b", 2))).start();
    const errors: unknown[] = [];
    await using first = derive<Thing, DerivedObject>(run.informer, (thing) => {
      if (thing.spec.size === 1) {
        return [{ metadata: { name: "x" }, at: 1 }, { metadata: { name: "y" }, at: {} }].map((it) => ({
          ...it,
          metadata: { ...it.metadata, namespace: thing.metadata.name, labels },
        }));
      }
      return nonsense(thing) as DerivedObject;
    }, { onError: (error) => errors.push(error) });
    // Each change is tested against its selectors, in the turn of the first one.
    await using second = derive(first, (item, { read: fetch }) => ({
      metadata: item.metadata,
      found: fetch(first, { labelSelector: "tier=web" }).length + fetch(first, { fieldSelector: "at.none=1" }).length,
    }));
    await using other = derive(run.informer, ({ metadata, spec }) => ({ metadata, size: spec.size }));
    await run.tick();
    assertEquals([first.entries.size, second.entries.size, other.entries.size], [4, 4, 2]);
    await run.send(modified("a", 11, { size: 2 }), modified("b", 12, { size: 1 }));
    await run.send(modified("a", 13, { size: 3 }), added("c", 14));
    assertEquals(new Set(inputsOf(errors)), new Set(["default/a"]));
    assertEquals(first.status().failures.map(({ input }) => input), ["default/a"]);
    assertEquals([...first.entries.keys()].sort(), ["a/x", "a/y", "b/x", "b/y", "c/x", "c/y"], "what was there stays");
    assertEquals(second.lister.get("c/x")?.found, 6);
    assertEquals(other.lister.get("default/a")?.size, 3);
    await run.send(modified("a", 15, { size: 1 }));
    assertEquals([first.status().failing, other.lister.get("default/a")?.size], [0, 1]);
    assertEquals([uncaught.errors, run.errors], [[], []]);
  });
}

Deno.test("null labels are none, as in Go, to selectors of other collections, too", async () => {
  await using run = await new Run(holding(entry("a", 1))).start();
  await using first = derive(run.informer, (thing) => named(thing, { labels: thing.spec.size === 1 ? labels : null }));
  await using second = derive(first, ({ metadata }, { read: fetch }) => ({
    metadata: { name: metadata.name },
    with: fetch(first, { labelSelector: "tier=web" }).length,
    without: fetch(first, { labelSelector: "!tier" }).length,
  }));
  await run.tick();
  await run.send(modified("a", 11, { size: 2 }));
  assertEquals(second.lister.list(), [{ metadata: { name: "a" }, with: 0, without: 1 }]);
  assertEquals(first.entries.getByKey("default/a")?.labels, undefined);
});

Deno.test("an object that takes the place of one that it cannot be compared with is an update", async () => {
  await using run = await new Run(holding(entry("b", 1))).start();
  const events: string[] = [];
  await using first = derive(run.informer, ({ metadata: { name } }) => ({
    metadata: { name: "same" },
    of: name,
    get at(): never {
      throw new Error("a getter");
    },
  }), { onError: () => {} });
  first.addEventHandler({ onUpdate: ({ object, previous }) => events.push(`${previous.of} → ${object.of}`) });
  await run.tick();
  await run.send(added("a", 11));
  assertEquals([events, first.lister.get("same")?.of], [["b → a"], "a"]);
});

Deno.test("an object whose getter throws, which was nothing to compare with, is replaced by one that can be read", async () => {
  await using run = await new Run(holding(entry("a", 1))).start();
  const errors: unknown[] = [];
  await using first = derive(run.informer, ({ metadata: { name }, spec: { size } }) => ({
    metadata: { name },
    get at(): number {
      if (size < 3) throw new Error("a getter");
      return size;
    },
  }), { onError: (error) => errors.push(error) });
  await run.tick();
  assertEquals([first.status().failing, first.entries.size], [0, 1]);
  await run.send(modified("a", 11, { size: 2 }));
  assertEquals([first.status().failing, inputsOf(errors)], [1, ["default/a"]]);
  await run.send(modified("a", 12, { size: 3 }));
  assertEquals([first.status().failing, first.lister.get("a")?.at, errors.length], [0, 3, 1]);
});

Deno.test("an error outside of all inputs stops neither the collection nor others", async () => {
  const indexers = { none: (): string[] => [Symbol("no text") as never] };
  await using run = await new Run(holding(entry("a", 1)), { indexers }).start();
  const errors: unknown[] = [];
  await using groups = deriveGroups(run.informer, "none", (): DerivedObject => {
    throw new Error("without a key, as that is no text");
  }, { onError: (error) => errors.push(error) });
  await using other = derive(run.informer, ({ metadata, spec }) => ({ metadata, size: spec.size }));
  await run.tick();
  await run.send(modified("a", 11, { size: 2 }));
  assertEquals([groups.hasSynced, errors.length, other.lister.get("default/a")?.size], [true, 2, 2]);
});

Deno.test("a collection waits for one that another one has begun to read, which it reads", async () => {
  await using run = await new Run(holding(entry("a", 1))).start();
  const calls: string[] = [];
  await using top: DerivedCollection<DerivedObject> = derive(run.informer, ({ metadata }, { read: fetch }) => {
    const found = fetch(middle, { key: "default/a" });
    calls.push(String(found?.size));
    return { metadata };
  });
  // It has no event when the size changes, so that what is derived from it is computed only for what it fetches.
  await using names = derive(run.informer, ({ metadata: { name, namespace, labels } }) => ({
    metadata: { name, namespace, labels },
  }));
  await using middle: DerivedCollection<DerivedObject & { size: number }> = derive(
    names,
    ({ metadata }, { read: fetch }) => ({
      metadata,
      size: metadata.labels === undefined ? 0 : fetch(bottom, { key: "default/a" })?.size ?? 0,
    }),
  );
  await using bottom = derive(run.informer, ({ metadata, spec: { size } }) => ({ metadata, size: 10 * size }));
  await run.tick();
  await run.send(modified("a", 11, { size: 2, labels }));
  calls.length = 0;
  await run.send(modified("a", 12, { size: 3, labels }));
  assertEquals([calls, top.entries.size], [["30"], 1]);
});

Deno.test("objects with cycles are compared as any others", async () => {
  await using run = await new Run(holding(entry("a", 1))).start();
  const events: string[] = [];
  await using first = derive(run.informer, (thing) => {
    const object = { ...named(thing), size: thing.spec.size, parts: [{ of: {} }] };
    object.parts[0].of = object;
    return object;
  });
  first.addEventHandler({ onUpdate: ({ object, previous }) => events.push(`${previous.size} → ${object.size}`) });
  await run.tick();
  await run.send(modified("a", 11, { labels }));
  await run.send(modified("a", 12, { size: 2 }));
  assertEquals(events, ["1 → 2"]);
});

Deno.test("a getter of a transformed object that throws is an error of the calls that meet it, and stops no informer", async () => {
  const transform = (thing: Thing): Thing => ({
    ...thing,
    get status() {
      if (thing.spec.size > 1) throw new Error("a getter");
      return {};
    },
  });
  await using run = await new Run(holding(entry("a", 1)), { transform }).start();
  const errors: unknown[] = [];
  await using found = derive(run.informer, ({ metadata: { name }, spec }, { read: fetch }) => ({
    metadata: { name },
    size: spec.size,
    found: fetch(run.informer, { fieldSelector: "status.x=1" }).length,
  }), { onError: (error) => errors.push(error) });
  await using other = derive(run.informer, ({ metadata, spec }) => ({ metadata, size: spec.size }));
  await run.tick();
  await run.send(modified("a", 11, { size: 2 }));
  assertEquals([run.informer.status().state, run.cached], ["live", ["default/a@11"]]);
  assertEquals([inputsOf(errors), other.lister.get("default/a")?.size], [["default/a"], 2]);
  await run.send(modified("a", 12, { size: 1 }));
  assertEquals(found.lister.get("a")?.size, 1);
});

Deno.test("an error of an index function, or of the report of errors, of one collection reaches no other", async () => {
  using uncaught = new Uncaught();
  await using run = await new Run(holding(entry("a", 1))).start();
  await using first = derive(run.informer, (thing) => {
    if (thing.spec.size > 1) throw Object.create(null);
    return named(thing);
  }, {
    onError: () => {
      throw new Error("a report");
    },
    indexers: {
      none: () => {
        throw new Error("an index");
      },
    },
  });
  await using other = derive(run.informer, ({ metadata, spec }) => ({ metadata, size: spec.size }));
  await run.tick();
  await run.send(modified("a", 11, { size: 2 }));
  assertEquals([first.status().failing, other.lister.get("default/a")?.size], [1, 2]);
  assertEquals(uncaught.errors.map((error) => (error as Error).message), ["a report", "a report"]);
});

/** Twenty pods, of which each change of a node concerns all, and the collection that is derived from them. */
async function busy(time: WorkTime): Promise<
  & { readonly pods: Run; readonly nodes: Run; readonly quiet: Run; readonly busy: DerivedCollection<DerivedObject> }
  & AsyncDisposable
> {
  const pods = new Run(holding(...Array.from({ length: 20 }, (_, i) => entry(`p${i}`, 1))), {}, time);
  const nodes = new Run(holding(entry("n", 1)), {}, time);
  const quiet = new Run(holding(entry("q", 1)), {}, time);
  for (const run of [pods, nodes, quiet]) await run.start();
  const collection = derive(pods.informer, (thing, { read: fetch }) => {
    time.work(10);
    return named(thing, { labels: { size: String(fetch(nodes.informer, { where: () => true })[0].spec.size) } });
  }, { name: "busy" });
  await ticks(nodes, collection);
  return {
    pods,
    nodes,
    quiet,
    busy: collection,
    [Symbol.asyncDispose]: async () => {
      await collection[Symbol.asyncDispose]();
      await Promise.all([nodes, pods, quiet].map((run) => run[Symbol.asyncDispose]()));
    },
  };
}

/** Lets turns pass until a collection has nothing to compute. */
async function ticks(run: Run, ...collections: readonly DerivedCollection<DerivedObject>[]): Promise<void> {
  for (let turns = 0; !collections.every((it) => it.hasSynced && it.status().due === 0); turns++) {
    assert(turns < 1_000, "it does not catch up");
    await run.tick();
  }
}

/** Sends a change of the node in each turn: all pods have to be computed again before they have been. */
class Load {
  readonly #all: { readonly nodes: Run };
  #version = 100;

  constructor(all: { readonly nodes: Run }) {
    this.#all = all;
  }

  async step(): Promise<void> {
    this.#version++;
    this.#all.nodes.source.newest.send([modified("n", this.#version, { size: this.#version })]);
    await nextTurn();
  }
}

Deno.test("a collection that has always something to compute delays others by a few turns, whatever they read", async () => {
  using time = new WorkTime();
  await using all = await busy(time);
  const { quiet } = all;
  await using one = derive(quiet.informer, ({ metadata, spec }) => ({ metadata, size: spec.size }));
  await using two = derive(one, ({ metadata, size }) => ({ metadata, size }));
  await ticks(quiet, one, two);
  const load = new Load(all);
  for (let i = 0; i < 10; i++) await load.step();
  assert(all.busy.status().due > 0);
  quiet.source.newest.send([modified("q", 11, { size: 2 })]);
  let steps = 0;
  for (; two.lister.get("default/q")?.size !== 2; steps++) await load.step();
  assert(steps < 10, `${steps} turns`);
  assert(all.busy.status().due > 0, "it was busy all the time");
  await ticks(quiet, all.busy);
});

Deno.test("busy collections take turns, each for some milliseconds", async () => {
  using time = new WorkTime();
  const things = Array.from({ length: 40 }, (_, i) => entry(`p${i}`, 1));
  await using run = await new Run(holding(...things), {}, time).start();
  const calls: string[] = [];
  const made = (name: string): DerivedCollection<DerivedObject> =>
    derive(run.informer, (thing) => {
      calls.push(name);
      time.work(1);
      return named(thing);
    }, { name });
  await using a = made("a");
  await using b = made("b");
  await ticks(run, a, b);
  const runs = calls.join("").match(/a+|b+/g)!.map((it) => it.length);
  assert(runs.length >= 8 && Math.max(...runs) <= 16, `${runs}`);
});

Deno.test("a collection that reads a busy one waits for it a second, and then has turns, too", async () => {
  using time = new WorkTime();
  await using all = await busy(time);
  let calls = 0;
  await using reader = derive(all.busy, ({ metadata }) => {
    calls++;
    return { metadata };
  });
  await ticks(all.nodes, all.busy, reader);
  const load = new Load(all);
  calls = 0;
  for (let i = 0; i < 20; i++) await load.step();
  assertEquals([calls, all.busy.status().due > 0, reader.status().due > 0], [0, true, true]);
  for (let i = 0; i < 30; i++) await load.step();
  assert(calls > 0);
  assert(all.busy.status().due > 0, "it was busy all the time");
  await ticks(all.nodes, all.busy, reader);
  assertEquals(reader.lister.get("default/p1"), all.busy.lister.get("default/p1"));
});

Deno.test("the status says how many inputs are due, and for how long a collection, or one that it reads, is behind", async () => {
  using time = new WorkTime();
  await using all = await busy(time);
  await using reader = derive(all.busy, ({ metadata }) => ({ metadata }));
  const state = (): unknown[] =>
    [all.busy, reader].map((it) => [it.status().due > 0, Math.round(it.status().behindMs)]);
  await ticks(all.nodes, all.busy, reader);
  assertEquals(state(), [[false, 0], [false, 0]]);
  const load = new Load(all);
  for (let i = 0; i < 8; i++) await load.step();
  const { due, behindMs } = all.busy.status();
  assert(due > 0 && due < 20 && behindMs >= 200, `${due} due, ${behindMs} ms`);
  assertEquals(Math.round(reader.status().behindMs), Math.round(behindMs));
  time.work(5_000);
  assertEquals(Math.round(reader.status().behindMs), Math.round(behindMs) + 5_000);
  await ticks(all.nodes, all.busy, reader);
  assertEquals(state(), [[false, 0], [false, 0]]);
});

Deno.test("an index function is called once for each object, however many collections read by its index", async () => {
  const calls: string[] = [];
  const indexers = {
    size: ({ metadata: { name }, spec: { size } }: Thing): string[] => {
      calls.push(name);
      if (size > 5) throw new Error("too large");
      return [String(size)];
    },
  };
  await using run = await new Run(holding(entry("a", 1), entry("b", 2, { size: 2 })), { indexers }).start();
  const sized = (): DerivedCollection<DerivedObject & { size: number }> =>
    derive(run.informer, ({ metadata: { name } }, { read: fetch }) => ({
      metadata: { name },
      size: fetch(run.informer, { index: "size", value: "2" }).length,
    }));
  await using one = sized();
  await using two = sized();
  await using groups = deriveGroups(run.informer, "size", ({ value, objects }) => ({
    metadata: { name: value },
    names: objects.map(({ metadata: { name } }) => name).sort().join(),
  }));
  await run.tick();
  const shown = (): unknown => [
    one.lister.get("a")?.size,
    two.lister.get("a")?.size,
    groups.lister.list().map(({ metadata: { name }, names }) => `${name}: ${names}`).sort(),
  ];
  assertEquals(shown(), [1, 1, ["1: a", "2: b"]]);
  calls.length = 0;
  await run.send(modified("a", 11, { size: 2 }));
  assertEquals(shown(), [2, 2, ["2: a,b"]]);
  await run.send(modified("a", 12, { size: 6 }));
  assertEquals([shown(), run.errors.length], [[1, 1, ["2: b"]], 1]);
  await run.send(modified("a", 13, { size: 1 }), deleted("b", 14), added("c", 15, { size: 2 }));
  assertEquals(shown(), [1, 1, ["1: a", "2: c"]]);
  await run.send(modified("c", 16, { size: 3, uid: "another" }));
  assertEquals(shown(), [0, 0, ["1: a", "3: c"]], "another object of the same name");
  assertEquals([calls.join(""), run.errors.length], ["aaacc", 1]);
});

/** Counts the entries of all maps whose keys begin with a text. */
class Kept implements Disposable {
  readonly #set = Map.prototype.set;
  readonly #delete = Map.prototype.delete;
  readonly kept: string[] = [];

  constructor(beginning: string) {
    const { kept } = this;
    const [set, remove] = [this.#set, this.#delete];
    Map.prototype.set = function (key: unknown, value: unknown): never {
      if (!this.has(key) && String(key).startsWith(beginning)) kept.push(String(key));
      return set.call(this, key, value) as never;
    };
    Map.prototype.delete = function (key: unknown): boolean {
      const had = remove.call(this, key);
      if (had && String(key).startsWith(beginning)) kept.splice(kept.indexOf(String(key)), 1);
      return had;
    };
  }

  [Symbol.dispose](): void {
    Map.prototype.set = this.#set;
    Map.prototype.delete = this.#delete;
  }
}

Deno.test("nothing is kept of reads that no call makes any more, by key, index value, selector or namespace", async () => {
  await using run = await new Run(holding(), { indexers: { none: () => [] } }).start();
  const reads = (name: string, fetch: ReadObjects): unknown => [
    fetch(run.informer, { key: `gone-key-${name}` }),
    fetch(run.informer, { index: "none", value: `gone-value-${name}` }),
    fetch(run.informer, { labelSelector: `gone-label-${name}=1` }),
    fetch(run.informer, { namespace: `gone-namespace-${name}`, fieldSelector: "spec.size=1" }),
  ];
  await using found = derive(run.informer, ({ metadata: { name } }, { read: fetch }) => {
    reads(name, fetch);
    return { metadata: { name } };
  });
  using maps = new Kept("gone-");
  for (const [i, name] of ["a", "b", "a", "c"].entries()) {
    await run.send(added(name, 11 + 2 * i));
    assertEquals([found.entries.size, maps.kept.length], [1, 4], maps.kept.join());
    await run.send(deleted(name, 12 + 2 * i));
    assertEquals([found.entries.size, maps.kept], [0, []]);
  }
});
