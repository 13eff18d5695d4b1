import { assert, assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import type { ListerWatcher, ListPart, WatchChange } from "../../../src/engine/api/lister_watcher.ts";
import type { ListOptions, WatchOptions } from "../../../src/engine/api/call_options.ts";
import { UnreachableError } from "../../../src/engine/api/status.ts";
import { Reflector } from "../../../src/engine/reflector/reflector.ts";
import { FakeTime } from "../../support/times/fake_time.ts";
import {
  added,
  bookmark,
  entry,
  expired,
  modified,
  part,
  refused,
  type Thing,
} from "../../support/sources/fixtures.ts";
import { Follow, NotingStore, PAGES } from "../../support/sources/followed_source.ts";
import { observeMoments } from "./_moments.ts";
import { pagesOfSource } from "../_read_pages.ts";
import { END, ScriptedSource } from "../../support/sources/scripted_source.ts";
import { SCRIPTS } from "./_scripts.ts";

Deno.test("Reflector that stops calls return() of a list that never answers, and of the page fetched ahead", async () => {
  using time = new FakeTime();
  const source = new ScriptedSource().list(part(9, [entry("a", 1)], { continue: "t" })).list();
  const stop = new AbortController();
  const running = new Reflector<Thing>(source, new NotingStore(), PAGES).run({ signal: stop.signal });
  await time.tickAsync(0);
  for (const call of source.calls) call.ignoresAbort = true;
  stop.abort();
  await running;
  await time.tickAsync(0);
  assertEquals(source.calls.map(({ asked, over }) => [asked, over]), [[true, "returned"], [true, "returned"]]);
  assertEquals([source.open, time.timers], [0, 0]);
});

Deno.test("Reflector cancels a list that has been silent for too long, even if its source ignores that, and lists again", async () => {
  const source = new ScriptedSource().list().list(part(4, [entry("a", 1)]), END).watch([]);
  await using follow = new Follow(source, { ...PAGES, listIdleMs: 5_000 });
  await follow.tick();
  source.calls[0].ignoresAbort = true;
  await follow.tick(5_000);
  assertEquals([source.calls[0].over, follow.waits], ["returned", [800]]);
  await follow.tick(800);
  assertEquals(follow.stored, ["default/a@1"]);
});

Deno.test("readPages that fails cancels the page fetched ahead, and does not wait for it", async () => {
  const source = new ScriptedSource().list({ entries: [], continue: "t" }, refused(500)).list();
  const stop = new AbortController();
  const reading = (async (): Promise<void> => {
    for await (const _part of pagesOfSource(source, { limit: 1, signal: stop.signal })) {
      const ahead = source.calls[1];
      if (ahead !== undefined) ahead.ignoresAbort = true;
    }
  })();
  await assertRejects(() => reading, Error, "500");
  assertEquals([source.calls[1].over, source.open], ["returned", 0]);
});

Deno.test("Reflector refuses a list without a version, which gives no place to watch from", async () => {
  for (const list of [{ entries: [entry("a", 1)] }, part("", [entry("a", 1)])]) {
    const source = new ScriptedSource().list(list, END).list(part(4, [entry("b", 1)]), END).watch([]);
    await using follow = new Follow(source, PAGES);
    await follow.tick();
    assertEquals([follow.stored, follow.waits, source.open], [[], [800], 0]);
    assertStringIncludes(
      String(follow.errors[0] ?? (follow.phases.at(-1) as { error?: unknown }).error),
      "no resourceVersion",
    );
    await follow.tick(800);
    assertEquals(follow.stored, ["default/b@1"]);
  }
});

/**
 * Stops at the moment of that number: in that very moment, or once what it led to has happened. Returns the number of
 * moments.
 */
async function stopAt(name: string, stopAt: number, how: "within" | "after"): Promise<number> {
  const [options, script] = SCRIPTS[name];
  using time = new FakeTime();
  const source = script();
  const store = new NotingStore();
  const stop = new AbortController();
  let moments = 0;
  const moment = (): void => {
    if (moments++ !== stopAt) return;
    if (how === "within") stop.abort();
    else queueMicrotask(() => stop.abort());
  };
  observeMoments(source, store, moment);
  const reflector = new Reflector<Thing>(source, store, {
    backoff: { jitter: 0 },
    resyncMs: 300,
    ...options,
    onPhase: (phase) => phase.name !== "stopped" && moment(),
  });
  let running = true;
  const stopped = reflector.run({ signal: stop.signal }).then(() => {
    running = false;
  });
  await time.tickAsync(0);
  for (let second = 0; second < 20 && !stop.signal.aborted; second++) await time.tickAsync(1_000);
  const what = `${name}, stopped ${how} moment ${stopAt}`;
  if (stop.signal.aborted) {
    assert(!running, `${what}: still running`);
    assertEquals([source.open, time.timers, store.staging, reflector.phase.name], [0, 0, 0, "stopped"], what);
  } else stop.abort();
  await stopped;
  return moments;
}

for (const name of Object.keys(SCRIPTS)) {
  Deno.test(`Reflector that lists ${name} stops at any moment, at once, and leaves nothing behind [F08]`, async () => {
    const moments = await stopAt(name, Infinity, "within");
    assert(moments > 30, `the script has only ${moments} moments`);
    for (let moment = 0; moment < moments; moment++) {
      await stopAt(name, moment, "within");
      await stopAt(name, moment, "after");
    }
  });
}

Deno.test("Reflector that is stopped in a call of its store stops in that turn, and ends its watch [C001]", async () => {
  using time = new FakeTime();
  const source = new ScriptedSource().list(part(1, []), END).watch([added("a", 2)], [added("b", 3)]);
  const store = new NotingStore();
  const stop = new AbortController();
  store.refuses = (note) => {
    if (note === "add default/a@2") stop.abort();
    return undefined;
  };
  await new Reflector<Thing>(source, store, PAGES).run({ signal: stop.signal });
  assertEquals([source.watches.map(({ over }) => over), time.timers], [["returned"], 0]);
  // The batch in hand is finished: it is one step.
  assertEquals(store.flushed, ["1", "2"]);
});

Deno.test("Reflector that is stopped before it runs sends no request [C002]", async () => {
  using time = new FakeTime();
  for (const options of [PAGES, {}]) {
    const source = new ScriptedSource();
    await new Reflector<Thing>(source, new NotingStore(), options).run({ signal: AbortSignal.abort() });
    assertEquals([source.calls, time.timers], [[], 0]);
  }
});

Deno.test("Reflector that is stopped while a watch is idle resolves, after one watch [C003]", async () => {
  using time = new FakeTime();
  const source = new ScriptedSource().list(part(1, []), END).watch([]);
  const stop = new AbortController();
  const running = new Reflector<Thing>(source, new NotingStore(), PAGES).run({ signal: stop.signal });
  await time.tickAsync(60_000);
  stop.abort();
  await running;
  assertEquals([source.watches.length, source.open, time.timers], [1, 0, 0]);
});

Deno.test("Reflector that is stopped between two batches does not apply the second, and ends the stream once [C004]", async () => {
  using time = new FakeTime();
  const source = new ScriptedSource().list(part(1, []), END).watch([added("a", 2)]);
  const stop = new AbortController();
  const store = new NotingStore();
  const running = new Reflector<Thing>(source, store, PAGES).run({ signal: stop.signal });
  await time.tickAsync(0);
  let returns = 0;
  const watch = source.newest;
  const { return: end } = watch;
  watch.return = () => (returns++, end.call(watch));
  stop.abort();
  watch.send([added("b", 3)]);
  await running;
  assertEquals([store.flushed, returns, source.open], [["1", "2"], 1, 0]);
});

Deno.test("Reflector stops although its source never reacts", async () => {
  for (const options of [PAGES, {}]) {
    using time = new FakeTime();
    const source = new ScriptedSource();
    const stop = new AbortController();
    const running = new Reflector<Thing>(source, new NotingStore(), options).run({ signal: stop.signal });
    await time.tickAsync(0);
    source.calls[0].ignoresAbort = true;
    stop.abort();
    await running;
    assertEquals([source.calls.length, time.timers], [1, 0]);
  }
});

const CLIENTS = 1_000;
const WINDOW_MS = 100;
const MOST = 200;

/**
 * A server that all clients follow. It ends all watches at once, and is then up, down, or has forgotten all versions.
 */
class RestartingServer implements ListerWatcher<Thing> {
  state: "up" | "down" | "forgetful" = "up";
  /** When each request came, by its kind. */
  readonly requests = { list: [] as number[], watch: [] as number[] };
  #watches: PromiseWithResolvers<void>[] = [];

  async *listEntries(_options: ListOptions = {}): AsyncGenerator<ListPart<Thing>> {
    this.#note("list");
    yield part(10, []);
  }

  async *watchChanges({ signal }: WatchOptions = {}): AsyncGenerator<readonly WatchChange<Thing>[]> {
    this.#note("watch");
    if (this.state === "forgetful") throw expired();
    yield [];
    const ended = Promise.withResolvers<void>();
    this.#watches.push(ended);
    signal?.addEventListener("abort", () => ended.resolve(), { once: true });
    await ended.promise;
  }

  /** Ends all watches, in good order or by an error. */
  end(error?: Error): void {
    for (const list of Object.values(this.requests)) list.length = 0;
    for (const { resolve, reject } of this.#watches.splice(0)) error === undefined ? resolve() : reject(error);
  }

  #note(kind: "list" | "watch"): void {
    this.requests[kind].push(Date.now());
    if (this.state === "down") throw new UnreachableError("connection refused");
  }
}

/** Fails if more than `MOST` requests, whose times rise, are within any window. */
function assertSpread(times: readonly number[], what: string): void {
  let most = 0;
  for (let first = 0, last = 0; last < times.length; last++) {
    while (times[last] - times[first] >= WINDOW_MS) first++;
    most = Math.max(most, last - first + 1);
  }
  assert(most <= MOST, `${most} ${what} within ${WINDOW_MS} ms`);
}

async function restarted(play: (server: RestartingServer, time: FakeTime) => Promise<void>): Promise<void> {
  using time = new FakeTime();
  const server = new RestartingServer();
  const stop = new AbortController();
  const running = Array.from({ length: CLIENTS }, () => {
    return new Reflector<Thing>(server, new NotingStore(), PAGES).run({ signal: stop.signal });
  });
  await time.tickAsync(20_000);
  try {
    await play(server, time);
  } finally {
    stop.abort();
    await Promise.all(running);
  }
  assertEquals(time.timers, 0);
}

for (const [how, error] of [["in good order", undefined], ["with an error", new UnreachableError("reset")]] as const) {
  Deno.test(`1,000 reflectors whose server ends all watches ${how} resume within a second, spread over that second`, async () => {
    await restarted(async (server, time) => {
      server.end(error);
      await time.tickAsync(1_000);
      assertEquals([server.requests.watch.length, server.requests.list.length], [CLIENTS, 0]);
      assertSpread(server.requests.watch, "watches");
    });
  });
}

Deno.test("1,000 reflectors whose server is down for three seconds resume within two seconds after that, spread over them", async () => {
  await restarted(async (server, time) => {
    server.state = "down";
    server.end(new UnreachableError("reset"));
    await time.tickAsync(3_000);
    server.state = "up";
    server.requests.watch.length = 0;
    await time.tickAsync(2_000);
    assertEquals(server.requests.watch.length, CLIENTS);
    assertSpread(server.requests.watch, "watches");
  });
});

Deno.test("1,000 reflectors whose server has forgotten their version list within 0.8 to 2.6 s, spread over that time", async () => {
  await restarted(async (server, time) => {
    server.state = "forgetful";
    server.end(new UnreachableError("reset"));
    await time.tickAsync(799);
    assertEquals(server.requests.list.length, 0);
    await time.tickAsync(1_801);
    // Some list again by then: their next watches have expired, too.
    assert(server.requests.list.length >= CLIENTS);
    assertSpread(server.requests.list.slice(0, CLIENTS), "lists");
  });
});

/** Returns the requests of a source, with their versions. */
function requestsOf(source: ScriptedSource): string[] {
  return source.calls.map(({ type, options }) => `${type} ${options.resourceVersion}`);
}

/** Runs a reflector until `use` has returned. */
async function running(reflector: Reflector<Thing>, use: () => void | Promise<void>): Promise<void> {
  const stop = new AbortController();
  const run = reflector.run({ signal: stop.signal });
  await use();
  stop.abort();
  await run;
}

Deno.test("Reflector whose store was restored watches from that version without a list, and lists when it runs again", async () => {
  using time = new FakeTime();
  const source = new ScriptedSource().watch([], [modified("a", 11)]).list(part(20, [entry("a", 11)]), END).watch([]);
  const store = new NotingStore();
  const reflector = new Reflector(source, store, PAGES);
  reflector.restore([entry("a", 5)], "10");
  assertEquals([store.notes, reflector.lastSyncResourceVersion], [["replacing", "replace at 10", "flush 10"], "10"]);
  assertEquals(store.entries.getByKey("default/a")?.resourceVersion, "5");
  await running(reflector, async () => {
    assertThrows(() => reflector.restore([], "11"), Error, "Cannot restore the store: the reflector is running");
    await time.tickAsync(1_000);
  });
  assertEquals(requestsOf(source), ["watch 10"]);
  await running(reflector, () => time.tickAsync(1_000));
  assertEquals(requestsOf(source), ["watch 10", "list 11", "watch 20"]);
});

Deno.test("Reflector lists after a restore where listFirst asks for it", async () => {
  using time = new FakeTime();
  const source = new ScriptedSource().list(part(20, [entry("a", 11)]), END).watch([]);
  const reflector = new Reflector(source, new NotingStore(), PAGES);
  reflector.restore([entry("a", 5)], "10");
  reflector.listFirst();
  await running(reflector, () => time.tickAsync(1_000));
  assertEquals(requestsOf(source), ["list 10", "watch 20"]);
});

Deno.test("Reflector that is paused while it watches ends the watch, and resumes it where it was, without a list", async () => {
  const source = new ScriptedSource().list(part(10, [entry("a", 1)]), END)
    .watch([], [modified("a", 11)], [bookmark(20)])
    .watch([], [modified("a", 21)]);
  await using follow = new Follow(source, PAGES);
  const { reflector } = follow;
  await follow.tick(1_000);
  reflector.pause();
  await follow.tick(3_600_000);
  reflector.pause();
  assertEquals([source.open, follow.time.timers, reflector.phase.name], [0, 0, "paused"]);
  assertEquals([follow.stored, reflector.lastSyncResourceVersion], [["default/a@11"], "20"]);
  assertEquals(reflector.counters.lastWatchEnd?.reason, "it was paused");
  reflector.resume();
  reflector.resume();
  await follow.tick();
  assertEquals(
    source.calls.map(({ type, options }) => `${type} ${options.resourceVersion}`),
    ["list 0", "watch 10", "watch 20"],
  );
  assertEquals([follow.stored, follow.errors, reflector.counters.failures], [["default/a@21"], [], 0]);
});

Deno.test("Reflector whose version expires during a pause lists what is not older, and replaces the contents", async () => {
  const source = new ScriptedSource().list(part(10, [entry("a", 1), entry("b", 2)]), END).watch([])
    .watch(expired())
    .list(part(30, [entry("b", 25)]), END);
  await using follow = new Follow(source, PAGES);
  await follow.tick();
  follow.reflector.pause();
  await follow.tick(600_000);
  follow.reflector.resume();
  await follow.tick(800);
  assertEquals(source.lists.map(({ options }) => options.resourceVersion), ["0", "10"]);
  assertEquals(follow.stored, ["default/b@25"]);
});

Deno.test("Reflector that is paused and resumed in one turn resumes its watch, and one that is resumed and paused stays paused", async () => {
  const source = new ScriptedSource().list(part(10, []), END).watch([], [bookmark(12)]).watch([]);
  await using follow = new Follow(source, PAGES);
  const { reflector } = follow;
  await follow.tick();
  reflector.pause();
  reflector.resume();
  await follow.tick();
  assertEquals([reflector.phase.name, source.newest.options.resourceVersion, source.open], ["watching", "12", 1]);
  reflector.pause();
  await follow.tick();
  reflector.resume();
  reflector.pause();
  await follow.tick();
  assertEquals([reflector.phase.name, source.open, source.watches.length], ["paused", 0, 2]);
  // The request that would have begun in between is not sent.
  reflector.resume();
  await Promise.resolve();
  reflector.pause();
  await follow.tick(60_000);
  assertEquals([reflector.phase.name, source.open], ["paused", 0]);
});

Deno.test("Reflector that is paused before it runs, and run again while it is paused, sends no request until it is resumed", async () => {
  using time = new FakeTime();
  const source = new ScriptedSource().list(part(10, []), END).watch([]);
  const reflector = new Reflector<Thing>(source, new NotingStore(), PAGES);
  reflector.pause();
  for (let run = 0; run < 2; run++) {
    const stop = new AbortController();
    const running = reflector.run({ signal: stop.signal });
    await time.tickAsync(60_000);
    assertEquals([reflector.phase.name, source.calls.length, time.timers], ["paused", 0, 0]);
    stop.abort();
    await running;
  }
  const stop = new AbortController();
  const running = reflector.run({ signal: stop.signal });
  reflector.resume();
  await time.tickAsync(0);
  assertEquals([reflector.phase.name, reflector.lastSyncResourceVersion], ["watching", "10"]);
  stop.abort();
  await running;
});

Deno.test("Reflector continues the rest of a wait after a pause, so that pauses do not shorten a Retry-After", async () => {
  const source = new ScriptedSource().list(refused(503)).list(part(10, []), END).watch([]);
  await using follow = new Follow(source, PAGES);
  await follow.tick(500);
  follow.reflector.pause();
  await follow.tick(60_000);
  follow.reflector.resume();
  await follow.tick(299);
  assertEquals(source.lists.length, 1);
  await follow.tick(1);
  assertEquals(source.lists.length, 2);
});

Deno.test("Reflector that was asked for a relist before it was paused lists the newest state when it is resumed", async () => {
  const source = new ScriptedSource().list(part(10, []), END).watch([]).list(part(11, [entry("a", 11)]), END);
  await using follow = new Follow(source, PAGES);
  await follow.tick();
  follow.reflector.relist(new Error("something is missing"));
  follow.reflector.pause();
  await follow.tick();
  assertEquals(source.lists.length, 1);
  follow.reflector.resume();
  await follow.tick();
  assertEquals([source.lists[1].options.resourceVersion, follow.stored], [undefined, ["default/a@11"]]);
});

Deno.test("Reflector that is asked for a relist while it is paused lists the newest state when it is resumed, after the rest of a wait", async () => {
  const source = new ScriptedSource().list(part(10, []), END).watch([]).list(refused(503)).list(part(11, []), END)
    .watch([]);
  await using follow = new Follow(source, PAGES);
  await follow.tick();
  follow.reflector.pause();
  await follow.tick();
  follow.reflector.relist(new Error("something is missing"));
  follow.reflector.resume();
  await follow.tick(500);
  follow.reflector.pause();
  await follow.tick();
  follow.reflector.relist(new Error("something is still missing"));
  follow.reflector.resume();
  await follow.tick(299);
  assertEquals(source.lists.length, 2);
  await follow.tick(1);
  assertEquals(source.requests, ["list 0 limit=500", "watch 10", "list - limit=500", "list - limit=500", "watch 11"]);
});

Deno.test("Reflector that is asked for a relist while it is paused in a wait for a watch lists the newest state instead", async () => {
  const source = new ScriptedSource().list(part(10, []), END).watch([], refused(429)).list(part(11, []), END).watch([]);
  await using follow = new Follow(source, PAGES);
  await follow.tick(300);
  assertEquals(follow.reflector.phase.name, "waiting");
  follow.reflector.pause();
  await follow.tick();
  follow.reflector.relist(new Error("something is missing"));
  follow.reflector.resume();
  await follow.tick(499);
  assertEquals(source.requests, ["list 0 limit=500", "watch 10"]);
  await follow.tick(1);
  assertEquals(source.requests.slice(2), ["list - limit=500", "watch 11"]);
});

Deno.test("Reflector starts ten watches without a wait, then one a second, however often it is paused and resumed", async () => {
  const source = new ScriptedSource().list(part(10, []), END);
  await using follow = new Follow(source, PAGES);
  for (let tenth = 0; tenth < 300; tenth++) {
    await follow.tick(50);
    follow.reflector.pause();
    await follow.tick(50);
    follow.reflector.resume();
  }
  assert(source.watches.length <= 40, `${source.watches.length} watches in 30 s`);
  assert(source.watches.length >= 30, `${source.watches.length} watches in 30 s`);
});

/** Pauses at the moment of that number, and resumes later. Returns the number of moments. */
async function pauseAt(name: string, pauseAt: number): Promise<number> {
  const [options, script] = SCRIPTS[name];
  using time = new FakeTime();
  const source = script();
  const store = new NotingStore();
  let moments = 0;
  const moment = (): void => {
    if (moments++ === pauseAt) reflector.pause();
  };
  observeMoments(source, store, moment);
  const reflector = new Reflector<Thing>(source, store, {
    backoff: { initialMs: 800, jitter: 0 },
    ...options,
    onPhase: ({ name }) => name !== "stopped" && name !== "paused" && moment(),
  });
  const stop = new AbortController();
  const running = reflector.run({ signal: stop.signal });
  await time.tickAsync(20_000);
  if (moments > pauseAt) {
    const what = `${name}, paused at moment ${pauseAt}`;
    assertEquals(time.timers, 0, what);
    const { length } = source.calls;
    await time.tickAsync(600_000);
    assertEquals([source.open, time.timers, store.staging, reflector.phase.name], [0, 0, 0, "paused"], what);
    assertEquals(source.calls.length, length, what);
    const version = reflector.lastSyncResourceVersion;
    assertEquals(store.flushed.at(-1) ?? "", version, what);
    reflector.resume();
    await time.tickAsync(6_000);
    const next = source.calls[length];
    assert(next !== undefined, `${what}: nothing follows`);
    const asked = next.options.resourceVersion ?? "";
    assert(next.type === "list" || next.options.sendInitialEvents || asked === version, `${what}: watch at ${asked}`);
  }
  stop.abort();
  await running;
  assertEquals([source.open, time.timers, store.staging], [0, 0, 0]);
  return moments;
}

for (const name of Object.keys(SCRIPTS)) {
  Deno.test(`Reflector that lists ${name} pauses at any point, leaves nothing open, and resumes there`, async () => {
    const moments = await pauseAt(name, Infinity);
    assert(moments > 30, `the script has only ${moments} moments`);
    for (let moment = 0; moment < moments; moment++) await pauseAt(name, moment);
  });
}
