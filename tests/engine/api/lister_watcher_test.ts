import { assertEquals, assertRejects, assertStrictEquals, assertThrows } from "@std/assert";
import { type ListPart, PageProgress } from "../../../src/engine/api/lister_watcher.ts";
import type { ListOptions } from "../../../src/engine/api/call_options.ts";
import { DecodeError, StatusError } from "../../../src/engine/api/status.ts";
import { entry, expired, part, refused, type Thing } from "../../support/sources/fixtures.ts";
import { pagesOfSource, type ReadPart } from "../_read_pages.ts";
import { END, ScriptedSource } from "../../support/sources/scripted_source.ts";

Deno.test("PageProgress fails on a token that is repeated, in a cycle of any length", () => {
  for (const before of [0, 1, 5]) {
    for (let length = 1; length <= 9; length++) {
      const progress = new PageProgress('list "pods"');
      let pages = 0;
      const error = assertThrows(() => {
        for (;; pages++) progress.follow(pages < before ? `before-${pages}` : `token-${(pages - before) % length}`);
      }, DecodeError);
      const token = /token-\d/.exec(error.message)?.[0];
      assertEquals(
        error.message,
        `Cannot list "pods": page ${pages + 1} has the continue token "${token}" of an earlier page, so the list ` +
          `has no end. Set the page size (limit, or pageSize of an informer) above the number of objects, so that they fit in ` +
          `one page`,
      );
      assertEquals(pages < 3 * (before + length), true, `found at page ${pages}, ${before} and ${length} tokens`);
    }
  }
});

Deno.test("PageProgress accepts any number of different tokens", () => {
  const progress = new PageProgress('list "pods"');
  for (let page = 0; page < 10_000; page++) progress.follow(`token-${page}`);
});

Deno.test("PageProgress shortens a long token in its error", () => {
  const progress = new PageProgress('list "pods"');
  const token = "t".repeat(1_000);
  progress.follow(token);
  assertThrows(() => progress.follow(token), DecodeError, `token "${"t".repeat(100)}…" of`);
});

Deno.test("PageProgress fails after 100 pages in a row without an object", () => {
  const progress = new PageProgress('list "pods"');
  for (const objects of [1, 2]) {
    for (let page = 0; page < 99; page++) progress.count(0);
    progress.count(objects);
  }
  for (let page = 0; page < 99; page++) progress.count(0);
  assertThrows(() => progress.count(0), DecodeError, 'Cannot list "pods": 100 pages in a row have no objects. Set the');
});

/** Pages `a`, `b`, `c`… of one object each, at version 9. */
function pages(count: number): ScriptedSource {
  const source = new ScriptedSource();
  for (let page = 0; page < count; page++) {
    const name = String.fromCharCode(97 + page);
    const rest = page === count - 1 ? {} : { continue: `after-${name}` };
    source.list(part(9, [entry(name, page + 1)], rest), END);
  }
  return source;
}

async function read(
  source: ScriptedSource,
  options: ListOptions = { limit: 1, resourceVersion: "5", resourceVersionMatch: "NotOlderThan" },
): Promise<{ keys: string[]; requests: number; parts: ReadPart<Thing>[] }> {
  let requests = 0;
  let keys: string[] = [];
  const parts: ReadPart<Thing>[] = [];
  for await (const part of pagesOfSource(source, options, () => requests++)) {
    parts.push(part);
    if (part.restarted) keys = [];
    keys.push(...part.entries.map(({ key }) => key));
  }
  return { keys, requests, parts };
}

Deno.test("readPages yields the objects of all pages in order, however many pages there are [C046]", async () => {
  const empty = await read(new ScriptedSource().list({ entries: [], resourceVersion: "9" }, END));
  assertEquals([empty.keys, empty.requests], [[], 1]);
  for (const count of [1, 2, 3]) {
    const source = pages(count);
    const { keys, requests } = await read(source);
    assertEquals(keys, ["default/a", "default/b", "default/c"].slice(0, count));
    assertEquals([requests, source.calls.length, source.open], [count, count, 0]);
  }
});

Deno.test("readPages names the version in the first request, and only the token in later ones [C047]", async () => {
  const source = pages(3);
  await read(source, { limit: 1, resourceVersion: "5", resourceVersionMatch: "NotOlderThan", labelSelector: "a=b" });
  assertEquals(
    source.requests,
    ["list 5 NotOlderThan limit=1", "list - limit=1 continue=after-a", "list - limit=1 continue=after-b"],
  );
  assertEquals(source.calls.map(({ options }) => options.labelSelector), ["a=b", "a=b", "a=b"]);
});

Deno.test("readPages starts the list again, in one page, when a token has expired, and reports it [C048]", async () => {
  const source = new ScriptedSource()
    .list(part(9, [entry("a", 1)], { continue: "t" }), END)
    .list(expired())
    .list({ entries: [entry("b", 2)] }, part(12, [entry("c", 3)]), END);
  const { keys, parts, requests } = await read(source);
  assertEquals(keys, ["default/b", "default/c"]);
  assertEquals(parts.map(({ restarted }) => restarted), [false, true, false]);
  assertEquals(source.requests, ["list 5 NotOlderThan limit=1", "list - limit=1 continue=t", "list 5 NotOlderThan"]);
  assertEquals([requests, source.open], [3, 0]);
});

Deno.test("readPages fails when the list that was started again expires too", async () => {
  const source = new ScriptedSource().list(part(9, [entry("a", 1)], { continue: "t" }), END);
  for (let attempt = 0; attempt < 5; attempt++) source.list(expired());
  const error = await assertRejects(() => read(source), StatusError);
  assertEquals([error.status.code, source.calls.length, source.open], [410, 3, 0]);
});

Deno.test("readPages starts again only once, even if the server pages a list without a limit and expires its token", async () => {
  const source = new ScriptedSource();
  for (let attempt = 0; attempt < 5; attempt++) {
    source.list(part(9, [entry("a", 1)], { continue: "t" }), END).list(expired());
  }
  await assertRejects(() => read(source), StatusError, "410");
  assertEquals(source.requests.slice(2), ["list 5 NotOlderThan", "list - limit=1 continue=t"]);
  assertEquals(source.open, 0);
});

Deno.test("readPages throws when the first page has expired, and for any other error of any page", async () => {
  const first = new ScriptedSource().list(expired());
  await assertRejects(() => read(first), StatusError, "410");
  assertEquals(first.calls.length, 1);
  const later = new ScriptedSource().list(part(9, [entry("a", 1)], { continue: "t" }), END).list(refused(500));
  await assertRejects(() => read(later), StatusError, "500");
  assertEquals([later.calls.length, later.open], [2, 0]);
});

Deno.test("readPages starts again after a page that expired in its middle, and cancels the page fetched ahead", async () => {
  const source = new ScriptedSource()
    .list(part(9, [entry("a", 1)], { continue: "t" }), END)
    .list({ entries: [entry("b", 2)], continue: "u" }, expired())
    .list() // fetched ahead, never answered
    .list(part(12, [entry("z", 3)]), END);
  const { keys } = await read(source);
  assertEquals(keys, ["default/z"]);
  assertEquals(source.requests.slice(2), ["list - limit=1 continue=u", "list 5 NotOlderThan"]);
  assertEquals([source.calls[2].over, source.open], ["returned", 0]);
});

Deno.test("readPages yields each object once, and cancels its requests when its loop is left [C049]", async () => {
  const source = pages(3);
  const seen: string[] = [];
  const parts = pagesOfSource(source, { limit: 1 });
  for await (const { entries } of parts) {
    seen.push(...entries.map(({ key }) => key));
    if (seen.length === 2) break;
  }
  assertEquals([seen, source.open], [["default/a", "default/b"], 0]);
  assertEquals(source.calls.map(({ over }) => over), ["ended", "returned"]);
  const stop = new AbortController();
  const reason = new Error("enough");
  const silent = new ScriptedSource().list();
  const waiting = read(silent, { limit: 1, signal: stop.signal });
  stop.abort(reason);
  assertStrictEquals(await assertRejects(() => waiting), reason);
  assertEquals(silent.open, 0);
});

Deno.test("readPages requests one page ahead as soon as its token is known, and no more [C050]", async () => {
  const source = new ScriptedSource()
    .list({ entries: [entry("a", 1)] }, part(9, [entry("b", 1)], { continue: "t" }), part(9, [entry("c", 1)]), END)
    .list(part(9, [entry("d", 1)], { continue: "u" }), END)
    .list(part(9, [entry("e", 1)]), END);
  const asked: number[] = [];
  const parts: AsyncGenerator<ListPart<Thing>> = pagesOfSource(source, { limit: 3 });
  for await (const _part of parts) asked.push(source.calls.filter((call) => call.asked).length);
  // The page after next is asked for only when the next is read.
  assertEquals(asked, [1, 1, 2, 2, 3]);
  assertEquals(source.open, 0);
});

Deno.test("readPages ends a list whose continue token is repeated", async () => {
  const source = new ScriptedSource();
  for (const name of ["a", "b", "c"]) source.list(part(9, [entry(name, 1)], { continue: "same" }), END);
  await assertRejects(() => read(source), DecodeError, 'Cannot take the list: page 2 has the continue token "same"');
  assertEquals([source.calls.length, source.open], [2, 0]);
});

Deno.test("readPages ends a list of which 100 pages in a row have no objects", async () => {
  const source = new ScriptedSource();
  for (let page = 0; page < 300; page++) {
    const entries = page === 50 ? [entry("a", 1)] : [];
    source.list({ entries: [] }, part(9, entries, { continue: `token-${page}` }), { entries: [] }, END);
  }
  await assertRejects(() => read(source), DecodeError, "Cannot take the list: 100 pages in a row have no objects");
  assertEquals([source.calls.length, source.open], [50 + 1 + 100 + 1, 0]); // one is under way
});

Deno.test("readPages accepts the same tokens again in a list that was started again", async () => {
  const source = new ScriptedSource()
    .list(part(9, [entry("a", 1)], { continue: "t" }), END)
    .list(expired())
    .list(part(12, [entry("b", 2)], { continue: "t" }), END)
    .list(part(12, [entry("c", 3)]), END);
  assertEquals((await read(source)).keys, ["default/b", "default/c"]);
});
