import { Client, SharedIndexInformer } from "@kube/informer";
import { ConfigMap, Pod } from "@kube/informer/kinds/core/v1";
import { FakeApiServer } from "@kube/informer/testing";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { FakeTime } from "../../support/times/fake_time.ts";

const KINDS = [
  { group: "", version: "v1", plural: "pods", kind: "Pod", scope: "Namespaced" },
  { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap", scope: "Namespaced" },
  { group: "example.com", version: "v1", plural: "crontabs", kind: "CronTab", scope: "Namespaced" },
];
const HEADER = JSON.stringify({ recording: 1, startedAt: "2026-11-23T12:00:00.000Z", kinds: KINDS, redacted: [] });

/** A line with the object `name` at a version. */
function line(at: number, kind: number, type: string, name: string, resourceVersion: number): string {
  const metadata = { namespace: "shop", name, uid: `uid-${name}`, resourceVersion: `${resourceVersion}` };
  return JSON.stringify({ at, kind, type, object: { metadata } });
}

/** A line of a version. */
function mark(at: number, kind: number, type: string, resourceVersion?: number): string {
  return JSON.stringify({ at, kind, type, resourceVersion: resourceVersion && `${resourceVersion}` });
}

/** The lines of a list of nothing. */
function empty(at: number, kind: number, resourceVersion: number): string[] {
  return [mark(at, kind, "LIST"), mark(at, kind, "LISTED", resourceVersion)];
}

/** The bytes of lines, in chunks that split them anywhere. */
function bytesOf(lines: readonly string[], end = "\n"): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode([HEADER, ...lines].join("\n") + end);
  return ReadableStream.from(
    Array.from({ length: Math.ceil(bytes.length / 7) }, (_, i) => bytes.slice(i * 7, i * 7 + 7)),
  );
}

/** Plays lines, and returns the changes of all kinds that watches deliver, with the time of each. */
async function played(lines: readonly string[], speed: number, end?: string): Promise<string[]> {
  using time = new FakeTime();
  using server = await FakeApiServer.from(bytesOf(lines, end), { bookmarkMs: 1e9, watchTimeoutMs: 1e9 });
  const seen: string[] = [];
  const ends: Promise<void>[] = [];
  const version = server.resourceVersion;
  const began = performance.now();
  for (const { group, plural } of KINDS) {
    const path = group === "" ? "/api/v1" : `/apis/${group}/v1`;
    const address = `${server.url}${path}/${plural}?watch=true&resourceVersion=${version}`;
    const { body } = await server.fetch(new Request(address));
    ends.push((async () => {
      for await (const text of body!.pipeThrough(new TextDecoderStream())) {
        for (const event of text.split("\n").filter((part) => part !== "")) {
          if (!event.endsWith("}")) {
            seen.push(`${performance.now() - began} ${plural} cut`);
            continue;
          }
          const { type, object: { metadata, code } } = JSON.parse(event);
          const { name, resourceVersion } = metadata ?? {};
          seen.push(`${performance.now() - began} ${type} ${code ?? `${plural}/${name} ${resourceVersion}`}`);
        }
      }
    })());
  }
  const replay = server.replay({ speed });
  await time.tickAsync(1e6);
  await replay;
  server.endWatches();
  await Promise.all(ends);
  return seen;
}

Deno.test("FakeApiServer.from() begins at the first lists, with the recorded versions", async () => {
  using server = await FakeApiServer.from(bytesOf([
    mark(1, 0, "LIST"),
    line(1, 0, "ITEM", "a", 100),
    mark(2, 0, "LISTED", 500),
    mark(2, 1, "LIST"),
    line(3, 0, "MODIFIED", "a", 505),
    line(4, 1, "ITEM", "settings", 509),
    mark(5, 1, "LISTED", 510),
    line(6, 0, "ADDED", "b", 511),
  ]));
  assertEquals(server.resourceVersion, "510");
  assertEquals(server.list(Pod).map(({ metadata }) => [metadata.uid, metadata.resourceVersion]), [["uid-a", "505"]]);
  assertEquals(server.get(ConfigMap, "shop/settings")?.metadata.resourceVersion, "509");
  assertEquals(await server.replay({ speed: Infinity }), { writes: 1, cut: undefined });
  assertEquals(server.resourceVersion, "511");
  assertEquals(server.keys(Pod), ["shop/a", "shop/b"]);
  assertEquals(await server.replay(), { writes: 0, cut: undefined });
});

Deno.test("replay() delivers the changes of all kinds in the order of versions, with the gaps between them", async () => {
  const lines = [
    ...empty(1, 0, 500),
    ...empty(1, 1, 500),
    ...empty(1, 2, 500),
    line(1_000, 0, "ADDED", "a", 510),
    line(3_000, 2, "ADDED", "nightly", 520),
    line(3_500, 1, "ADDED", "late", 505), // the server had it before version 510
    line(9_000, 0, "DELETED", "a", 530),
  ];
  assertEquals(await played(lines, 1), [
    "1000 ADDED configmaps/late 505",
    "1000 ADDED pods/a 510",
    "3000 ADDED crontabs/nightly 520",
    "9000 DELETED pods/a 530",
  ]);
  assertEquals((await played(lines, 10)).map((event) => event.split(" ")[0]), ["100", "100", "300", "900"]);
});

Deno.test("replay() ends a watch that failed, and plays what a relist found", async () => {
  const expired = { code: 410, reason: "Expired", message: "too old resource version" };
  const lines = [
    mark(1, 0, "LIST"),
    ...["gone", "kept", "old"].map((name, i) => line(1, 0, "ITEM", name, 10 + i)),
    mark(1, 0, "LISTED", 500),
    ...empty(1, 1, 500),
    JSON.stringify({ at: 1_000, kind: 0, type: "ENDED", error: expired }),
    mark(2_000, 0, "LIST"),
    line(2_000, 0, "ITEM", "kept", 11),
    line(2_000, 0, "ITEM", "old", 601),
    line(2_000, 0, "ITEM", "new", 602),
    mark(2_000, 0, "LISTED", 700),
    JSON.stringify({ at: 3_000, kind: 1, type: "ENDED", error: { message: "connection reset" } }),
  ];
  assertEquals(await played(lines, 1), ["1000 ERROR 410", "3000 configmaps cut"]);
  using server = await FakeApiServer.from(bytesOf(lines));
  await server.replay({ speed: Infinity });
  const found = server.list(Pod).map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`);
  assertEquals([server.resourceVersion, ...found], ["700", "kept 11", "new 602", "old 601"]);
});

Deno.test("a list that has no end, or that was interrupted, changes nothing", async () => {
  using server = await FakeApiServer.from(bytesOf([
    mark(1, 0, "LIST"),
    line(1, 0, "ITEM", "a", 100),
    line(1, 0, "DELETED", "a", 120), // of a streaming list
    line(1, 0, "ITEM", "b", 110),
    mark(1, 0, "LISTED", 500),
    mark(2, 0, "LIST"),
    line(2, 0, "ITEM", "c", 510),
  ]));
  await server.replay({ speed: Infinity });
  assertEquals(server.keys(Pod), ["shop/b"]);
});

Deno.test("a recording is played up to a line without an end, and up to a list of an earlier version", async () => {
  const lines = [...empty(1, 0, 500), line(2, 0, "ADDED", "a", 501), line(3, 0, "ADDED", "b", 502)];
  const cut = bytesOf([...lines.slice(0, -1), lines.at(-1)!.slice(0, -9)], "");
  using server = await FakeApiServer.from(cut);
  assertEquals(await server.replay({ speed: Infinity }), { writes: 1, cut: "line 5 has no end" });
  assertEquals(server.keys(Pod), ["shop/a"]);

  using restored = await FakeApiServer.from(bytesOf([...lines, ...empty(9, 0, 100), line(10, 0, "ADDED", "c", 101)]));
  const end = await restored.replay({ speed: Infinity });
  assertEquals(end, { writes: 2, cut: "line 7 lists an earlier version than lines before it" });
});

Deno.test("writes of a test come between those of the recording, which then have later versions", async () => {
  using server = await FakeApiServer.from(bytesOf([...empty(1, 0, 500), line(2, 0, "ADDED", "a", 501)]));
  server.create(ConfigMap, { metadata: { namespace: "shop", name: "own" } });
  await server.replay({ speed: Infinity });
  assertEquals(server.get(Pod, "shop/a")?.metadata.resourceVersion, "502");
});

Deno.test("replay() ends with its signal, and continues where it ended", async () => {
  using time = new FakeTime();
  using server = await FakeApiServer.from(
    bytesOf([...empty(1, 0, 500), line(1_000, 0, "ADDED", "a", 501), line(5_000, 0, "ADDED", "b", 502)]),
  );
  const stop = new AbortController();
  const replay = server.replay({ signal: stop.signal });
  await assertRejects(() => server.replay(), TypeError, "already being played");
  await time.tickAsync(2_000);
  stop.abort(new Error("enough"));
  await assertRejects(() => replay, Error, "enough");
  assertEquals(server.keys(Pod), ["shop/a"]);
  const rest = server.replay();
  await time.tickAsync(3_999);
  assertEquals(server.keys(Pod), ["shop/a"]);
  await time.tickAsync(1);
  assertEquals((await rest).writes, 1);
  assertEquals(server.keys(Pod), ["shop/a", "shop/b"]);
});

Deno.test("a disposed server ends its replay", async () => {
  const server = await FakeApiServer.from(bytesOf([...empty(1, 0, 500), line(1e9, 0, "ADDED", "a", 501)]));
  const replay = server.replay();
  server[Symbol.dispose]();
  assertEquals((await replay).writes, 0);
});

Deno.test("a file that is no recording, a damaged line and a wrong speed are refused by name", async () => {
  const cases: [string, string][] = [
    ["", 'its first line must be the header of a recording of version 1, but it is ""'],
    ['{"recording":2,"kinds":[]}\n', 'but it is "{\\"recording\\":2'],
    [`${HEADER}\nnonsense\n`, "Cannot read the recording: line 2: "],
    [`${HEADER}\n${mark(1, 9, "LIST")}\n`, 'line 2: "kind" must be a position in the header, but it is 9'],
    [`${HEADER}\n${mark(1, 0, "LISTED", 5)}\n`, "line 2: a list ends that did not begin"],
    [`${HEADER}\n${mark(1, 0, "BOOKMARK")}\n`, "line 2: a resourceVersion must be a number"],
    [`${HEADER}\n{"at":1,"kind":0,"type":"WRONG"}\n`, 'line 2: the "type" "WRONG" is unknown'],
  ];
  for (const [text, message] of cases) {
    await assertRejects(() => FakeApiServer.from(new Blob([text]).stream()), SyntaxError, message);
  }
  using server = await FakeApiServer.from(bytesOf([]));
  await assertRejects(() => server.replay({ speed: 0 }), RangeError, "speed must be above 0, but it is 0");
  using plain = new FakeApiServer();
  await assertRejects(() => plain.replay(), TypeError, "this server has no recording");
});

Deno.test("an informer follows a replay", async () => {
  const expired = { code: 410, reason: "Expired", message: "too old" };
  using server = await FakeApiServer.from(bytesOf([
    ...empty(1, 0, 500),
    line(2, 0, "ADDED", "a", 501),
    JSON.stringify({ at: 3, kind: 0, type: "ENDED", error: expired }),
    mark(4, 0, "LIST"),
    line(4, 0, "ITEM", "b", 700),
    mark(4, 0, "LISTED", 701),
    line(5, 0, "MODIFIED", "b", 702),
  ]));
  using client = new Client({ server: server.url, transport: server });
  await using pods = new SharedIndexInformer(client.resource(Pod), { reflector: { backoff: { initialMs: 1 } } });
  pods.run();
  await pods.waitForCacheSync();
  await server.replay();
  await pods.waitForVersion("702");
  assertEquals(pods.lister.list().map(({ metadata }) => metadata.resourceVersion), ["702"]);
});

/** The lines of a Deployment-like history of two config maps: specs and statuses in turns. */
function history(): string[] {
  const at = (i: number, name: string, spec: number, status: number): string => {
    const metadata = { namespace: "shop", name, uid: `uid-${name}`, resourceVersion: `${11 + i}` };
    return JSON.stringify({
      at: 10 * i,
      kind: 2,
      type: "MODIFIED",
      object: { metadata, spec, status: { seen: status } },
    });
  };
  const list = [mark(1, 2, "LIST"), mark(1, 2, "LISTED", 10)];
  const changes = Array.from({ length: 20 }, (_, i) => at(i, i % 2 ? "a" : "b", Math.floor(i / 6), i));
  return [...list, ...changes];
}

/** Plays the history with late status writes, and returns the objects that a watch delivers, by name. */
async function playedLate(seed: number): Promise<{ readonly order: string[]; readonly versions: number[] }> {
  using server = await FakeApiServer.from(bytesOf(history()), { bookmarkMs: 1e9, watchTimeoutMs: 1e9 });
  const address = `${server.url}/apis/example.com/v1/crontabs?watch=true&resourceVersion=${server.resourceVersion}`;
  const { body } = await server.fetch(new Request(address));
  await server.replay({ speed: Infinity, lateStatus: { seed, maxDelayMs: 30 } });
  server.endWatches();
  const events = (await new Response(body).text()).trim().split("\n").map((line) => JSON.parse(line).object);
  return {
    order: events.map(({ metadata, spec, status }) => `${metadata.name} ${spec} ${status.seen}`),
    versions: events.map(({ metadata }) => Number(metadata.resourceVersion)),
  };
}

Deno.test("replay() delays and repeats status writes by seed, and keeps the order of each object", async () => {
  const recorded = Array.from({ length: 20 }, (_, i) => `${i % 2 ? "a" : "b"} ${Math.floor(i / 6)} ${i}`);
  let [moved, repeated] = [0, 0];
  for (let seed = 0; seed < 10; seed++) {
    const { order, versions } = await playedLate(seed);
    assertEquals(await playedLate(seed), { order, versions });
    assertEquals(versions, [...new Set(versions)].sort((a, b) => a - b));
    const once = order.filter((it, i) => order.indexOf(it) === i);
    for (const name of ["a", "b"]) {
      const ofName = (all: readonly string[]): string[] => all.filter((it) => it.startsWith(name));
      assertEquals(ofName(once), ofName(recorded));
    }
    for (let i = 0; i < order.length; i++) if (order.indexOf(order[i]) < i) repeated++;
    if (JSON.stringify(once) !== JSON.stringify(recorded)) moved++;
  }
  assert(moved >= 8, `${moved} of 10 seeds moved a write`);
  assert(repeated >= 10, `${repeated} repeated writes`);
});

Deno.test("replay() refuses options of late status writes that it cannot use", async () => {
  using server = await FakeApiServer.from(bytesOf(history()));
  await assertRejects(() => server.replay({ lateStatus: { seed: 1, maxDelayMs: -1 } }), RangeError, "maxDelayMs");
  const misspelt = { seed: 1, maxDelay: 1 };
  await assertRejects(() => server.replay({ lateStatus: misspelt }), TypeError, 'no option "maxDelay"');
});
