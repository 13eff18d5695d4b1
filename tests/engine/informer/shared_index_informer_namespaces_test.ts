import { assert, assertEquals, assertRejects, assertStrictEquals, assertThrows } from "@std/assert";
import { StatusError, UnreachableError } from "../../../src/engine/api/status.ts";
import { Client } from "../../../src/engine/client/client.ts";
import type { SharedIndexInformerOptions } from "../../../src/engine/informer/options.ts";
import { SharedIndexInformer } from "../../../src/engine/informer/shared_index_informer.ts";
import { SharedInformerFactory } from "../../../src/engine/informer/shared_informer_factory.ts";
import { type InformerStatus, WaitError } from "../../../src/engine/informer/status.ts";
import { ConfigMap } from "../../../src/engine/kinds/core/v1.ts";
import { seedGlobals } from "../../../src/testing/fake/random.ts";
import { FakeApiServer, history, perform } from "../../../src/testing/mod.ts";
import { EventChecker } from "../../support/cluster/event_checker.ts";
import { FakeTime } from "../../support/times/fake_time.ts";
import {
  added,
  bookmark,
  deleted,
  entry,
  expired,
  modified,
  part,
  refused,
  seen,
  type Thing,
} from "../../support/sources/fixtures.ts";
import { PAGES } from "../../support/sources/followed_source.ts";
import { Notes } from "../../support/sources/informer.ts";
import { END, ScriptedSource } from "../../support/sources/scripted_source.ts";

const A = { namespace: "a" };
const B = { namespace: "b" };

/** An informer of namespaces `a` and `b`, each a server by script. Disposing it fails unless nothing is left behind. */
class Both implements AsyncDisposable {
  readonly time = new FakeTime();
  readonly a = new ScriptedSource();
  readonly b = new ScriptedSource();
  readonly errors: unknown[] = [];
  readonly informer: SharedIndexInformer<Thing>;
  readonly notes = new Notes();

  constructor(options: SharedIndexInformerOptions<Thing> = {}) {
    this.informer = new SharedIndexInformer<Thing>([{ ...A, source: this.a }, { ...B, source: this.b }], {
      onError: (error) => this.errors.push(error),
      ...options,
      reflector: { ...PAGES, backoff: { initialMs: 800, jitter: 0 }, reconnectMs: 0, ...options.reflector },
    });
    this.informer.addEventHandler(this.notes);
  }

  get cached(): string[] {
    return seen(this.informer.entries);
  }

  /** `"live 1 at 10"` for each namespace, and for all of it. */
  get states(): string[] {
    const { namespaces = [], ...all } = this.informer.status();
    return [...namespaces, all].map(({ state, objects, resourceVersion }) =>
      `${state} ${objects} at ${resourceVersion}`
    );
  }

  async tick(ms = 0): Promise<void> {
    await this.time.tickAsync(ms);
  }

  async start(): Promise<this> {
    void this.informer.run();
    await this.tick();
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    using time = this.time;
    const disposal = this.informer[Symbol.asyncDispose]();
    await time.tickAsync(0);
    await disposal;
    assertEquals([this.a.open, this.b.open, time.timers, this.informer.status().state], [0, 0, 0, "stopped"]);
  }
}

/** Both namespaces listed, `a/x` and `b/y` in them, at 10 and 20, and both watches open. */
async function live(options?: SharedIndexInformerOptions<Thing>): Promise<Both> {
  const both = new Both(options);
  both.a.list(part(10, [entry("x", 1, A)]), END).watch([]);
  both.b.list(part(20, [entry("y", 2, B)]), END).watch([]);
  await both.start();
  both.notes.take();
  return both;
}

Deno.test("SharedIndexInformer of several namespaces lists and watches each, and delivers all their events to each handler", async () => {
  await using both = new Both();
  both.a.list(part(10, [entry("x", 1, A)]), END).watch([]);
  both.b.list();
  const waiting = both.informer.waitForCacheSync();
  await both.start();
  assertEquals([both.informer.hasSynced, both.states], [false, ["live 1 at 10", "listing 0 at ", "listing 1 at "]]);
  assertEquals(both.notes.take(), ["+ a/x@1 (initial)"]);
  // What comes of one meanwhile is news; what the other had all the time is not.
  both.a.newest.send([added("new", 11, A)]);
  await both.tick();
  both.b.watch([]).lists[0].send(part(9, [entry("x", 2, B)]), END);
  await both.tick();
  await waiting;
  assertEquals(both.notes.take(), ["+ a/new@11", "+ b/x@2 (initial)", "= 3 at 9"]);
  assertEquals([both.informer.hasSynced, both.states], [true, ["live 2 at 11", "live 1 at 9", "live 3 at 9"]]);
  assertEquals(both.cached, ["a/new@11", "a/x@1", "b/x@2"]);
  assertEquals([both.a.requests, both.b.requests], [["list 0 limit=500", "watch 10"], ["list 0 limit=500", "watch 9"]]);
  assertEquals(both.informer.lister.namespace("b").list().map(({ metadata }) => metadata.name), ["x"]);
  const { lists, watches, events, objects } = both.informer.status();
  assertEquals([lists, watches, events, objects], [2, 2, 1, 3]);
});

Deno.test("SharedIndexInformer applies a relist of one namespace to that namespace alone", async () => {
  await using both = await live();
  both.a.newest.send([added("z", 11, A)]);
  await both.tick();
  both.notes.take();
  both.a.list(part(30, [entry("z", 11, A)]), END).watch([]);
  both.a.newest.send(expired());
  await both.tick(800);
  assertEquals(both.notes.take(), ["- a/x@1 (unknown)"]);
  assertEquals(both.cached, ["a/z@11", "b/y@2"]);
  both.b.list(part(40, []), END).watch([]);
  both.b.newest.send(expired());
  await both.tick(800);
  assertEquals([both.notes.take(), both.cached], [["- b/y@2 (unknown)"], ["a/z@11"]]);
  assertEquals(both.states, ["live 1 at 30", "live 0 at 40", "live 1 at 30"]);
  both.a.newest.send([deleted("z", 31, A)]);
  await both.tick();
  assertEquals([both.notes.take(), both.states], [["- a/z@31"], ["live 0 at 31", "live 0 at 40", "live 0 at 31"]]);
});

Deno.test("SharedIndexInformer keeps each namespace's objects apart even if a transform moves them into one", async () => {
  await using both = await live({
    transform: (thing) => ({
      ...thing,
      metadata: { ...thing.metadata, namespace: "", name: `${thing.metadata.namespace}.${thing.metadata.name}` },
    }),
  });
  assertEquals(both.cached, ["a.x@1", "b.y@2"]);
  both.a.list(part(30, []), END).watch([]);
  both.a.newest.send(expired());
  await both.tick(800);
  assertEquals([both.cached, both.notes.take()], [["b.y@2"], ["- a.x@1 (unknown)"]]);
  assertEquals(both.states, ["live 0 at 30", "live 1 at 20", "live 1 at 20"]);
});

Deno.test("SharedIndexInformer deletes no object of a namespace for another one's object that a transform gives its key", async () => {
  await using both = await live({
    transform: (thing) => ({ ...thing, metadata: { ...thing.metadata, namespace: "" } }),
  });
  both.b.newest.send([deleted("x", 21, { namespace: "b" })]); // which it has not listed
  await both.tick();
  assertEquals(both.cached, ["x@1", "y@2"]);
});

Deno.test("SharedIndexInformer that is forbidden one namespace watches the others, reports which, and recovers", async () => {
  await using both = new Both();
  const no = refused(403);
  both.a.list(part(10, [entry("x", 1, A)]), END).watch([]);
  both.b.list(no).list(no).list(part(20, [entry("y", 2, B)]), END).watch([]);
  const { informer } = both;
  const impatient = assertRejects(() => informer.waitForCacheSync(), WaitError);
  const patient = informer.waitForCacheSync({ patient: true });
  const a = informer.waitForCacheSync({ namespace: "a" });
  const b = assertRejects(() => informer.waitForCacheSync({ namespace: "b" }), WaitError);
  await both.start();
  assertStrictEquals((await impatient).cause, no);
  assertStrictEquals((await b).cause, no);
  await a;
  assertEquals(both.states, ["live 1 at 10", "forbidden 0 at ", "forbidden 1 at "]);
  const { cause, namespaces } = informer.status();
  assertEquals([cause === no, namespaces![0].cause, namespaces![1].cause === no], [true, undefined, true]);
  assertEquals([both.errors, informer.hasSynced], [[no], false]);
  // The rest works on.
  both.a.newest.send([modified("x", 11, A)]);
  await both.tick();
  assertEquals(both.notes.take(), ["+ a/x@1 (initial)", "~ a/x@1→11"]);
  await both.tick(800 + 1_600);
  await patient;
  assertEquals(both.notes.take(), ["+ b/y@2 (initial)", "= 2 at 11"]);
  assertEquals(both.states, ["live 1 at 11", "live 1 at 20", "live 2 at 11"]);
  assertEquals(informer.status().cause, undefined);
});

Deno.test("SharedIndexInformer of several namespaces has the state of the worst of them, and the time since when", async () => {
  await using both = await live();
  const begun = both.time.now;
  const said = (): string => `${both.informer.status().state} since ${both.informer.status().since.getTime() - begun}`;
  for (let attempt = 0; attempt < 5; attempt++) both.a.watch(new UnreachableError("nobody there"));
  both.b.list(refused(401)).list(part(30, []), END).watch([]);
  await both.tick(2_000);
  both.a.newest.send(new UnreachableError("nobody there"));
  await both.tick(100);
  assertEquals(said(), "unreachable since 2000");
  both.b.newest.send(refused(500));
  await both.tick(50);
  assertEquals(said(), "unreachable since 2000");
  await both.tick(800);
  assertEquals([said(), both.states[1]], ["unauthorized since 2900", "unauthorized 1 at 20"]);
  const { cause } = both.informer.status();
  assert(cause instanceof StatusError && cause.status.code === 401);
  await both.tick(1_600);
  assertEquals([said(), both.states[1]], ["unreachable since 4500", "live 0 at 30"]);
  both.a.watch([]);
  await both.tick(3_200);
  assertEquals(said().split(" ")[0], "live");
  assertEquals(both.informer.status().cause, undefined);
});

Deno.test("waitForCacheSync of several namespaces rejects with the first refusal, while the lists of others are pending", async () => {
  await using both = new Both();
  both.a.list(refused(403));
  both.b.list();
  await both.start();
  let refusal: unknown;
  both.informer.waitForCacheSync().catch((error) => refusal = error);
  await both.tick();
  assert(refusal instanceof Error && refusal.message.includes("forbidden"), String(refusal));
});

Deno.test("SharedIndexInformer of several namespaces has the time of the earliest next request", async () => {
  await using both = await live();
  const begun = both.time.now;
  const next = (): number | undefined => {
    const { retryAt } = both.informer.status();
    return retryAt && retryAt.getTime() - begun;
  };
  await both.tick(2_000);
  both.b.newest.send(refused(500));
  await both.tick(300);
  both.a.newest.send(refused(500));
  await both.tick();
  assertEquals(next(), 2_800);
  await both.tick(500);
  assertEquals(next(), 3_100);
  await both.tick(300);
  assertEquals(next(), undefined, "both list");
});

Deno.test("statusChanges() yields when one of several namespaces changes, even if the overall state does not", async () => {
  await using both = await live();
  const changes = both.informer.statusChanges();
  const first = (await changes.next()).value as InformerStatus;
  both.a.newest.send(new UnreachableError("gone"));
  await both.tick();
  await changes.next();
  both.b.newest.send(new UnreachableError("gone too"));
  await both.tick();
  const last = (await changes.next()).value as InformerStatus;
  assertEquals([first.state, last.state], ["live", "unreachable"]);
  assertEquals(last.namespaces?.map(({ cause }) => String(cause)), [
    "UnreachableError: gone",
    "UnreachableError: gone too",
  ]);
  await changes.return!();
});

Deno.test("waitForVersion() of several namespaces waits for the namespace that is named, or else for all", async () => {
  await using both = await live();
  const { informer } = both;
  const reached: string[] = [];
  const wait = (what: string, namespace?: string): Promise<unknown> =>
    informer.waitForVersion("25", { namespace }).then(
      () => reached.push(what),
      (error: Error) => reached.push(error.message),
    );
  const waits = [wait("a", "a"), wait("b", "b"), wait("all")];
  await informer.waitForVersion("20", { namespace: "b" });
  both.b.newest.send([bookmark(25)]);
  await both.tick();
  assertEquals([reached, informer.lastSyncResourceVersion], [["b"], "10"]);
  both.a.newest.send([modified("x", 26, A)]);
  await both.tick();
  await Promise.all(waits);
  assertEquals([reached.sort(), informer.lastSyncResourceVersion], [["a", "all", "b"], "25"]);
  await informer.waitForVersion("25");
  await assertRejects(() => informer.waitForVersion("x"), RangeError);
  const error = await assertRejects(() => informer.waitForVersion("25", { namespace: "c" }), RangeError);
  assertEquals(error.message, 'Cannot wait for namespace "c": the informer of "objects" follows "a", "b"');
  const stop = new AbortController();
  const aborted = assertRejects(() => informer.waitForVersion("99", { signal: stop.signal }), Error, "given up");
  stop.abort(new Error("enough"));
  await aborted;
  // A version that goes back fails the waits for its namespace and for all; not those for the other namespace.
  const other = assertRejects(() => informer.waitForVersion("99", B), Error, "it has stopped");
  both.a.list(part(5, []), END).watch([]);
  const back = [A, {}].map((where) =>
    assertRejects(() => informer.waitForVersion("30", where), Error, "the server went back from 26 to 5")
  );
  both.a.newest.send(expired());
  await both.tick(800);
  await Promise.all(back);
  const disposal = informer[Symbol.asyncDispose]();
  await both.tick();
  await Promise.all([other, disposal]);
});

Deno.test("waitForVersion() and waitForCacheSync() of an informer with one source accept any namespace", async () => {
  using time = new FakeTime();
  const source = new ScriptedSource().list(part(10, []), END).watch([]);
  await using one = new SharedIndexInformer<Thing>([{ namespace: "a", source }], { reflector: PAGES });
  void one.run();
  await time.tickAsync(0);
  await one.waitForCacheSync({ namespace: "elsewhere" });
  await one.waitForVersion("10", { namespace: "elsewhere" });
  assertEquals("namespaces" in one.status(), false);
});

Deno.test("SharedIndexInformer has no overall version if the versions of its namespaces cannot be ordered", async () => {
  await using both = new Both();
  both.a.list(part("abc", []), END).watch([]);
  both.b.list(part("20", []), END).watch([]);
  await both.start();
  assertEquals(both.states, ["live 0 at abc", "live 0 at 20", "live 0 at "]);
  assertEquals(both.notes.take(), ["= 0 at "]);
});

Deno.test("SharedIndexInformer of several namespaces stops all when one fails permanently, and rejects waits with the reason", async () => {
  const thrown = new Error("the phase is not to my liking");
  const both = new Both({
    reflector: {
      onPhase: (phase) => {
        if (phase.name === "waiting") throw thrown;
      },
    },
  });
  using time = both.time;
  both.a.list(part(10, []), END).watch([]);
  both.b.list(refused(500));
  const waiting = assertRejects(() => both.informer.waitForCacheSync(), Error, "it has stopped");
  const running = assertRejects(() => both.informer.run());
  await both.tick();
  assertStrictEquals(await running, thrown);
  assertStrictEquals((await waiting).cause, thrown);
  assertEquals([both.a.open, both.b.open, time.timers], [0, 0, 0]);
  assertEquals(both.states.map((state) => state.split(" ")[0]), ["stopped", "stopped", "stopped"]);
});

Deno.test("SharedIndexInformer of several namespaces that is stopped before its first sync rejects all waits", async () => {
  await using both = new Both();
  both.a.list(part(10, []), END).watch([]);
  await both.start();
  const waits = [{}, A, B].map((where) => both.informer.waitForCacheSync(where).then(() => "synced", String));
  const disposal = both.informer[Symbol.asyncDispose]();
  await both.tick();
  await disposal;
  const stopped = 'WaitError: Cannot wait for the informer of "objects": it has stopped';
  assertEquals(await Promise.all(waits), [stopped, "synced", stopped]);
});

Deno.test("SharedIndexInformer refuses an empty list of sources, and namespaces that are repeated or empty", () => {
  const source = new ScriptedSource();
  const wrong = [[], [{ ...A, source }, { ...A, source }], [{ namespace: "", source }], [{ ...A, source }, {
    namespace: "",
    source,
  }]];
  for (const sources of wrong) assertThrows(() => new SharedIndexInformer<Thing>(sources), TypeError);
  assertThrows(
    () => new SharedIndexInformer<Thing>([]),
    TypeError,
    "the list of sources is empty. Pass at least one source",
  );
  assertThrows(
    () => new SharedIndexInformer<Thing>(wrong[1]),
    TypeError,
    'Cannot create an informer: the sources are for the namespaces ["a","a"], but each needs a different, non-empty name',
  );
});

/** Plays the history of a seed on a server with three namespaces, of which two are followed. */
async function play(seed: number): Promise<number> {
  using time = new FakeTime();
  using server = new FakeApiServer({ seed, history: 20, chunkBytes: 300, bookmarkMs: 10_000 });
  using client = new Client({ server: "http://fake", transport: server });
  const informers = new SharedInformerFactory(client, { namespaces: ["a", "b"], reflector: { pageSize: 2 } });
  const maps = informers.forResource(ConfigMap);
  const checker = new EventChecker(maps);
  informers.start();
  const lasting: Disposable[] = [];
  for (const [i, step] of history(seed, { namespaces: ["a", "b", "c"], names: 3, steps: 30 }).entries()) {
    const ends = perform(server, ConfigMap, step);
    if (ends !== undefined) lasting.push(ends);
    await time.tickAsync([0, 30, 5_000, 70_000][(seed + i) % 4]);
  }
  for (const ends of lasting) ends[Symbol.dispose]();
  server.latency(0);
  const caughtUp = (): boolean =>
    maps.lastSyncResourceVersion === server.resourceVersion && maps.status().state === "live";
  for (let tries = 0; tries < 40 && !caughtUp(); tries++) {
    server.bookmark();
    await time.tickAsync(30_000);
  }
  const expected = ["a", "b"].flatMap((namespace) => server.list(ConfigMap, { namespace }))
    .map(({ metadata }) => `${metadata.namespace}/${metadata.name}@${metadata.resourceVersion}`).sort();
  const cached = [...maps.entries].map(({ key, resourceVersion }) => `${key}@${resourceVersion}`).sort();
  const { state, namespaces = [] } = maps.status();
  const what = `seed ${seed}`;
  assertEquals([state, maps.lastSyncResourceVersion, cached], ["live", server.resourceVersion, expected], what);
  assertEquals(await checker.end(), [], what);
  assertEquals(
    namespaces.map(({ namespace, objects }) => [namespace, objects]),
    ["a", "b"].map((namespace) => [namespace, expected.filter((key) => key.startsWith(namespace)).length]),
    what,
  );
  const shutdown = informers.shutdown();
  await time.tickAsync(1_000);
  await shutdown;
  assertEquals([server.watches, time.timers], [0, 0], what);
  const { added, updated, deleted } = checker.counts;
  return added + updated + deleted;
}

Deno.test("SharedIndexInformer of several namespaces equals the server after any history, and so does its handler", async () => {
  let delivered = 0;
  for (let seed = 1; seed <= 40; seed++) {
    using _random = seedGlobals(seed);
    delivered += await play(seed);
  }
  assertEquals(delivered > 400, true, `only ${delivered} events were delivered`);
});
