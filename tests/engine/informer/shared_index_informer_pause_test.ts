import { assert, assertEquals, assertRejects } from "@std/assert";
import { SharedIndexInformer } from "../../../src/engine/informer/shared_index_informer.ts";
import { SharedInformerFactory } from "../../../src/engine/informer/shared_informer_factory.ts";
import { Pod } from "../../../src/engine/kinds/core/v1.ts";
import { pod } from "../../../src/testing/mod.ts";
import { Warnings } from "../../support/texts/console.ts";
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
import { PAGES } from "../../support/sources/followed_source.ts";
import { holding, Run } from "../../support/sources/informer.ts";
import { END, ScriptedSource } from "../../support/sources/scripted_source.ts";
import { FactoryFixture } from "./_factory_fixture.ts";

Deno.test("SharedIndexInformer that is paused keeps cache, indexes and handlers, and delivers what happened when it is resumed", async () => {
  await using run = new Run(holding(entry("a", 1), entry("b", 2)).watch([]));
  const { informer, source } = run;
  const notes = run.listen();
  await run.start();
  notes.take();
  informer.pause();
  await run.tick(90_000);
  const { state, since, notLiveSince, staleForMs, cause } = informer.status();
  assertEquals([state, staleForMs, cause, source.open, run.time.timers], ["paused", 90_000, undefined, 0, 0]);
  assertEquals([since, notLiveSince], [new Date(run.time.now - 90_000), new Date(run.time.now - 90_000)]);
  assertEquals([run.cached, informer.hasSynced], [["default/a@1", "default/b@2"], true]);
  await informer.waitForCacheSync(); // at once
  // A handler that is added meanwhile begins with the cache.
  const late = run.listen();
  await run.tick();
  assertEquals(late.take(), ["+ default/a@1 (initial)", "+ default/b@2 (initial)", "= 2 at 10"]);
  informer.resume();
  await run.tick();
  assertEquals([source.lists.length, source.newest.options.resourceVersion], [1, "10"]);
  await run.send(modified("a", 11));
  assertEquals([notes.take(), late.take()], [["~ default/a@1→11"], ["~ default/a@1→11"]]);
  assertEquals([informer.status().state, "staleForMs" in informer.status()], ["live", false]);
});

Deno.test("SharedIndexInformer that was paused is stale, with its age, until the watch is open", async () => {
  await using run = await new Run(holding(entry("a", 1)).watch()).start(); // the second watch does not answer yet
  const { informer, source } = run;
  informer.pause();
  await run.tick(1_000);
  assertEquals(informer.status().state, "paused");
  informer.resume();
  informer.pause();
  assertEquals(informer.status().state, "paused");
  informer.resume();
  assertEquals([informer.status().state, informer.status().staleForMs], ["stale", 1_000]);
  await run.tick(500);
  const { state, staleForMs } = informer.status();
  assertEquals([state, staleForMs, run.cached], ["stale", 1_500, ["default/a@1"]]);
  source.newest.send([]);
  await run.tick();
  assertEquals(informer.status().state, "live");
});

Deno.test("SharedIndexInformer whose version expires during a pause lists, and handlers receive the difference", async () => {
  await using run = new Run(holding(entry("a", 1), entry("b", 2), entry("c", 3)).watch(expired()));
  const { informer, source } = run;
  const notes = run.listen();
  await run.start();
  notes.take();
  informer.pause();
  await run.tick(600_000);
  source.list(part(30, [entry("b", 2), entry("c", 25), entry("d", 26)]), END).watch([]);
  informer.resume();
  await run.tick(800);
  assertEquals(notes.take(), ["- default/a@1 (unknown)", "~ default/c@3→25", "+ default/d@26"]);
  assertEquals([source.lists.length, informer.status().state, run.errors], [2, "live", []]);
});

Deno.test("SharedIndexInformer that is paused before its first list waits with it, and waits for sync continue", async () => {
  await using run = new Run(holding(entry("a", 1)));
  const { informer, source } = run;
  informer.pause();
  assertEquals(informer.status().state, "idle");
  await run.start();
  assertEquals([informer.status().state, source.calls.length], ["paused", 0]);
  let synced = false;
  const waiting = informer.waitForCacheSync().then(() => synced = true);
  const stop = new AbortController();
  const aborted = assertRejects(() => informer.waitForCacheSync({ signal: stop.signal }), Error, '"paused" for 0.0 s');
  stop.abort(new Error("enough"));
  await aborted;
  await run.tick(60_000);
  assertEquals([synced, "staleForMs" in informer.status()], [false, false]);
  informer.resume();
  await run.tick();
  await waiting;
  assertEquals([run.cached, informer.status().state], [["default/a@1"], "live"]);
});

Deno.test("SharedIndexInformer that is paused during its first list shows nothing of it, and lists when it is resumed", async () => {
  const source = new ScriptedSource().list(part(10, [entry("a", 1)], { continue: "t" }), END).list()
    .list(part(12, [entry("b", 11)]), END).watch([]);
  await using run = await new Run(source).start();
  const waiting = run.informer.waitForCacheSync();
  run.informer.pause();
  await run.tick(60_000);
  assertEquals([run.cached, source.open, run.informer.status().state], [[], 0, "paused"]);
  run.informer.resume();
  await run.tick();
  await waiting;
  assertEquals(run.cached, ["default/b@11"]);
});

Deno.test("SharedIndexInformer has no error while it is paused, and the refusal again when it is resumed", async () => {
  const source = new ScriptedSource().list(refused(403)).list(refused(403)).list(part(1, []), END).watch([]);
  await using run = await new Run(source).start();
  const { informer } = run;
  assertEquals([informer.status().state, run.errors.length], ["forbidden", 1]);
  informer.pause();
  await run.tick(60_000);
  const { state, cause, retryAt } = informer.status();
  assertEquals([state, cause, retryAt, run.errors.length, run.time.timers], ["paused", undefined, undefined, 1, 0]);
  const refusedAgain = assertRejects(() => informer.waitForCacheSync());
  informer.resume();
  await refusedAgain;
  await run.tick(1_000);
  assertEquals([informer.status().state, run.errors.length], ["forbidden", 3]);
  await run.tick(10_000);
  assertEquals(informer.status().state, "live");
});

Deno.test("SharedIndexInformer reaches a version that it waits for after a pause, and stops while it is paused", async () => {
  await using run = await new Run(holding().watch([])).start();
  const { informer } = run;
  informer.pause();
  const reached = informer.waitForVersion("12");
  const found = informer.until(({ metadata }) => metadata.name === "x");
  await run.tick(1_000);
  informer.resume();
  await run.tick();
  await run.send(added("x", 11), bookmark(12));
  await reached;
  assertEquals((await found).metadata.name, "x");
  informer.pause();
  await run.tick();
  const waiting = assertRejects(() => informer.waitForVersion("13"), Error, "it has stopped");
  await informer[Symbol.asyncDispose]();
  await waiting;
  informer.resume();
  informer.pause();
  await run.tick(1_000);
  assertEquals([informer.status().state, run.source.open], ["stopped", 0]);
});

Deno.test("SharedIndexInformer that is paused and resumed in one turn is stale until the watch is open", async () => {
  await using run = await new Run(holding().watch()).start(); // the second watch does not answer yet
  run.informer.pause();
  run.informer.resume();
  await run.tick();
  assertEquals([run.informer.status().state, run.source.watches.length], ["stale", 2]);
});

Deno.test("SharedIndexInformer that has stopped keeps state and cause when it is paused and resumed", async () => {
  using time = new FakeTime();
  const [a, b] = [holding(), new ScriptedSource().list(refused(403)).list()];
  const informer = new SharedIndexInformer<Thing>([{ namespace: "a", source: a }, { namespace: "b", source: b }], {
    reflector: PAGES,
    onError: () => {},
  });
  void informer.run();
  await time.tickAsync(0);
  await informer[Symbol.asyncDispose]();
  const { state, cause } = informer.status();
  assert(cause !== undefined);
  informer.pause();
  informer.resume();
  assertEquals([informer.status().state, informer.status().cause], [state, cause]);
});

Deno.test("SharedIndexInformer that waits for a relist keeps no timer while it is paused, and relists later", async () => {
  await using run = await new Run(holding(entry("a", 5))).start();
  const { source, informer } = run;
  // The first change out of order leads to a list at once, the second to one that waits.
  source.list(part(20, [entry("a", 5)]), END).watch([]);
  await run.send(modified("b", 12), modified("a", 4));
  await run.tick(100);
  assertEquals(source.lists.length, 2);
  await run.send(modified("b", 22), modified("a", 3));
  assertEquals([run.time.timers > 1, source.lists.length], [true, 2]);
  informer.pause();
  await run.tick();
  assertEquals(run.time.timers, 0);
  await run.tick(600_000);
  source.watch([]).list(part(30, []), END).watch([]);
  informer.resume();
  await run.tick();
  await run.send(bookmark(25));
  await run.tick(100);
  assertEquals([source.lists.length, run.cached], [3, []]);
});

Deno.test("SharedIndexInformer of several namespaces pauses and resumes each", async () => {
  using time = new FakeTime();
  const [a, b] = [holding(entry("a", 1)).watch([]), holding(entry("b", 2)).watch([])];
  await using informer = new SharedIndexInformer<Thing>(
    [{ namespace: "a", source: a }, { namespace: "b", source: b }],
    {
      reflector: PAGES,
    },
  );
  void informer.run();
  await time.tickAsync(0);
  informer.pause();
  await time.tickAsync(5_000);
  const states = (): unknown[] => [informer.status().state, ...informer.status().namespaces!.map(({ state }) => state)];
  assertEquals([states(), a.open, b.open], [["paused", "paused", "paused"], 0, 0]);
  informer.resume();
  await time.tickAsync(0);
  assertEquals([states(), a.lists.length, b.lists.length], [["live", "live", "live"], 1, 1]);
});

Deno.test("statusChanges() yields the pauses of an informer", async () => {
  await using run = await new Run(holding().watch([])).start();
  const states: string[] = [];
  const stop = new AbortController();
  const reading = (async () => {
    for await (const { state } of run.informer.statusChanges({ signal: stop.signal })) {
      if (states.at(-1) !== state) states.push(state);
    }
  })();
  await run.tick();
  run.informer.pause();
  await run.tick();
  run.informer.resume();
  await run.tick();
  stop.abort(new Error("enough"));
  await reading;
  assertEquals(states, ["live", "paused", "stale", "live"]);
});

class WarnedFixture extends FactoryFixture {
  allowed = true;
  readonly warnings = new Warnings();

  constructor() {
    super({}, { authorize: () => this.allowed });
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]();
    this.warnings[Symbol.dispose]();
  }
}

Deno.test("SharedIndexInformer without onError writes failures, broken handlers and index functions to the console", async () => {
  await using it = new WarnedFixture();
  const { server, client, time, warnings } = it;
  server.create(Pod, pod({ name: "a" }));
  server.create(Pod, pod({ name: "b" }));
  const pods = new SharedIndexInformer(client.resource(Pod), {
    indexers: {
      zone: () => {
        throw new Error("no zone");
      },
    },
  });
  pods.addEventHandler({
    onAdd: () => {
      throw new Error("boom");
    },
  }, { name: "h" });
  it.allowed = false;
  const stop = new AbortController();
  const running = pods.run({ signal: stop.signal });
  await time.tickAsync(20_000);
  const [refused, ...others] = warnings.take();
  assertEquals(refused.startsWith(`informer of "pods": Cannot list "pods": 403 Forbidden: `), true, refused);
  assertEquals(others, []);
  it.allowed = true;
  await time.tickAsync(60_000);
  assertEquals(warnings.take(), [
    `informer of "pods": Cannot add "default/a" to index "zone": no zone`,
    `informer of "pods": Handler "h" failed on "added" of "default/a": boom`,
  ]);
  stop.abort();
  await running;
});

Deno.test("SharedInformerFactory without onError writes one line for a cause that several informers share", async () => {
  await using it = new WarnedFixture();
  const { server, client, time, warnings } = it;
  await using informers = new SharedInformerFactory(client);
  for (const namespace of ["a", "b", "c"]) informers.forResource(Pod, { namespace });
  server.breakNext(1_000);
  informers.start();
  await time.tickAsync(5_000);
  assertEquals(warnings.take().length, 1);
  await informers.shutdown();
});

Deno.test("SharedIndexInformer and SharedInformerFactory with an onError of either write nothing", async () => {
  await using it = new WarnedFixture();
  const { client, time, warnings } = it;
  const errors: unknown[] = [];
  const onError = (error: unknown): number => errors.push(error);
  await using pods = new SharedIndexInformer(client.resource(Pod), { onError });
  await using own = new SharedInformerFactory(client);
  own.forResource(Pod, { onError });
  await using shared = new SharedInformerFactory(client, { onError });
  shared.forResource(Pod);
  it.allowed = false;
  own.start();
  shared.start();
  const running = pods.run();
  await time.tickAsync(1);
  assertEquals([errors.length >= 3, warnings.take()], [true, []]);
  await Promise.all([pods[Symbol.asyncDispose](), own.shutdown(), shared.shutdown(), running]);
});
