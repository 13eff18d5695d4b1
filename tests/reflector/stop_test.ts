import { assert, assertEquals } from "@std/assert";
import { Reflector } from "../../src/reflector/reflector.ts";
import { added, part, type Thing } from "../support/fixtures.ts";
import { FakeTime } from "../support/fake_time.ts";
import { NotingStore, PAGES } from "../support/followed_source.ts";
import { observeMoments } from "../support/moments.ts";
import { END, ScriptedSource } from "../support/scripted_source.ts";
import { SCRIPTS } from "./_scripts.ts";

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
