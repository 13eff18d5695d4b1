import { assertEquals, assertThrows } from "@std/assert";
import { Reflector } from "../../src/reflector/reflector.ts";
import { entry, modified, part, type Thing } from "../support/fixtures.ts";
import { FakeTime } from "../support/fake_time.ts";
import { NotingStore, PAGES } from "../support/followed_source.ts";
import { END, ScriptedSource } from "../support/scripted_source.ts";

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
