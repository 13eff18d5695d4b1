import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { Reflector } from "../../src/reflector/reflector.ts";
import { pagesOfSource } from "../support/read_pages.ts";
import { entry, part, refused, type Thing } from "../support/fixtures.ts";
import { FakeTime } from "../support/fake_time.ts";
import { Follow, NotingStore, PAGES } from "../support/followed_source.ts";
import { END, ScriptedSource } from "../support/scripted_source.ts";

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
