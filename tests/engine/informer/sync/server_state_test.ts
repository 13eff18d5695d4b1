import { assertEquals, assertMatch } from "@std/assert";
import type { CacheEntry } from "../../../../src/engine/api/entry.ts";
import type { IdentitySource } from "../../../../src/engine/api/lister_watcher.ts";
import type { KubernetesObject } from "../../../../src/engine/api/object.ts";
import type { ListOptions } from "../../../../src/engine/api/call_options.ts";
import { snapshotMismatch } from "../../../../src/engine/informer/sync/server_state.ts";
import { FakeTime } from "../../../support/times/fake_time.ts";
import { entry, refused, type Thing, TOO_LARGE } from "../../../support/sources/fixtures.ts";

/** Answers each question with what `answer` returns for a name: an entry, nothing, or an error. */
class Server implements IdentitySource {
  readonly server = this;
  readonly asked: ListOptions[] = [];
  readonly #answer: (name: string) => CacheEntry<Thing> | Error | undefined;

  constructor(answer: (name: string) => CacheEntry<Thing> | Error | undefined = () => undefined) {
    this.#answer = answer;
  }

  get names(): string[] {
    return this.asked.map(({ fieldSelector }) => fieldSelector!.slice("metadata.name=".length));
  }

  async *listEntries(options: ListOptions): AsyncGenerator<{ entries: CacheEntry<KubernetesObject>[] }, void> {
    this.asked.push(options);
    yield { entries: [] };
    const found = this.#answer(options.fieldSelector!.slice("metadata.name=".length));
    if (found instanceof Error) throw found;
    yield { entries: found === undefined ? [] : [found as CacheEntry<KubernetesObject>] };
  }
}

const ENTRIES: CacheEntry<Thing>[] =
  ([["a", 9], ["b", 3], ["c", 12], ["d", 5], ["e", 4], ["f", 6], ["g", 7], ["h", 8]] as const)
    .map(([name, version]) => entry(name, version));

function mismatch(
  server: IdentitySource,
  entries = ENTRIES,
  signal = new AbortController().signal,
): Promise<string | undefined> {
  return snapshotMismatch({ entries, version: "20", originalKey: ({ key }) => key }, server, signal);
}

Deno.test("snapshotMismatch asks for the three newest objects and the two oldest, until the server has one", async () => {
  const empty = new Server();
  assertMatch(
    (await mismatch(empty))!,
    /^it has none of "default\/c", "default\/a", "default\/h", "default\/b", "default\/e"\. Check whether they were deleted/,
  );
  assertEquals(empty.names, ["c", "a", "h", "b", "e"]);
  const { namespace, resourceVersion, resourceVersionMatch } = empty.asked[0];
  assertEquals([namespace, resourceVersion, resourceVersionMatch], ["default", "20", "NotOlderThan"]);
  const full = new Server((name) => ENTRIES.find(({ key }) => key === `default/${name}`));
  assertEquals([await mismatch(full), full.names], [undefined, ["c"]]);
  const [oldest] = [entry("b", 3)];
  assertEquals(await mismatch(new Server((name) => name === "b" ? oldest : undefined)), undefined);
  assertEquals(await mismatch(empty, []), undefined);
});

Deno.test("snapshotMismatch takes a newer object of the same name for a successor, and one that was there before for a proof", async () => {
  const other = (name: string, version: number): CacheEntry<Thing> => entry(name, version, { uid: `another-${name}` });
  const successors = new Server((name) => name === "b" ? entry("b", 3) : other(name, 21));
  assertEquals([await mismatch(successors), successors.names.length], [undefined, 4]);
  assertMatch((await mismatch(new Server((name) => other(name, 21))))!, /^it has none of/);
  for (const version of [20, 2]) {
    const server = new Server((name) => other(name, version));
    assertMatch(
      (await mismatch(server))!,
      /^its "default\/c" is another object\. Check whether the cluster was created again/,
    );
    assertEquals(server.names, ["c"]);
  }
});

Deno.test("snapshotMismatch takes no answer for none, but for that of a server which has not reached the version", async () => {
  for (const status of [401, 403, 404, 429, 500, 503]) {
    const server = new Server(() => refused(status));
    assertEquals([await mismatch(server), server.names], [undefined, ["c"]]);
  }
  assertMatch(
    (await mismatch(new Server(() => TOO_LARGE["a cause with a reason"]())))!,
    /^it has not reached version 20\. Check whether the cluster was created again/,
  );
});

Deno.test("snapshotMismatch takes a 400 for the answer of a server that cannot read the version", async () => {
  const server = new Server(() => refused(400, { message: "invalid resource version" }));
  const answer = snapshotMismatch(
    { entries: ENTRIES, version: "1?watch=1", originalKey: ({ key }) => key },
    server,
    new AbortController().signal,
  );
  assertEquals(
    await answer,
    'it cannot read version "1?watch=1": invalid resource version. Check whether somebody changed the snapshot',
  );
  assertEquals(server.names, ["c"]);
});

Deno.test("snapshotMismatch waits no longer than 5 s, and no longer than its signal", async () => {
  using time = new FakeTime();
  const silent: IdentitySource = { server: {}, listEntries: () => ReadableStream.from(new Silence()) };
  const results: (string | undefined)[] = [];
  void mismatch(silent).then((result) => results.push(result));
  await time.tickAsync(4_999);
  assertEquals(results.length, 0);
  await time.tickAsync(1);
  assertEquals(results, [undefined]);
  const stop = new AbortController();
  void mismatch(silent, ENTRIES, stop.signal).then((result) => results.push(result));
  await time.tickAsync(1);
  stop.abort();
  await time.tickAsync(0);
  assertEquals([results.length, time.timers], [2, 0]);
});

/** Items that never come. */
class Silence implements AsyncIterable<never> {
  [Symbol.asyncIterator](): AsyncIterator<never> {
    return { next: () => new Promise<never>(() => {}) };
  }
}
