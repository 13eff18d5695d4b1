import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { UnreachableError } from "../../../src/api/status.ts";
import { Client } from "../../../src/client/client.ts";
import { SharedIndexInformer } from "../../../src/informer/shared_index_informer.ts";
import { ConfigMap, Node, Pod } from "../../../src/kinds/core/v1.ts";
import { FakeApiServer, pod } from "../../../src/testing/mod.ts";
import { FakeTime } from "../../support/fake_time.ts";

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/**
 * A server, a client of it, and the requests that follow. Watches last as long as the connection, unless a test says
 * more.
 */
class Fixture implements AsyncDisposable {
  readonly time = new FakeTime();
  readonly server: FakeApiServer;
  readonly client: Client;
  readonly errors: unknown[] = [];
  readonly #informers: AsyncDisposable[] = [];
  #asked = 0;

  /** Bookmarks come every `bookmarkMs`, if the version has moved since the watch began; never by default. */
  constructor({ bookmarkMs = 2 ** 31 - 1 } = {}) {
    this.server = new FakeApiServer({ bookmarkMs });
    this.client = new Client({ server: "http://fake", transport: this.server });
    this.server.create(Pod, pod({ name: "a" }));
  }

  /** Runs an informer. */
  run(kind: typeof Pod | typeof Node | typeof ConfigMap = Pod): SharedIndexInformer<Pod> {
    const informer = new SharedIndexInformer<Pod>(this.client.resource(kind as typeof Pod), {
      onError: (error) => this.errors.push(error),
      reflector: { watchTimeoutMs: Infinity },
    });
    this.#informers.push(informer);
    void informer.run();
    return informer;
  }

  /** Runs an informer until it is live. */
  async informer(kind: typeof Pod | typeof Node | typeof ConfigMap = Pod): Promise<SharedIndexInformer<Pod>> {
    const informer = this.run(kind);
    await this.time.tickAsync(0);
    assertEquals(informer.status().state, "live");
    this.requests;
    return informer;
  }

  /** The requests since the last call: `watch pods from 2`. */
  get requests(): string[] {
    return this.server.requests.slice(this.#asked, this.#asked = this.server.requests.length).map((request) => {
      const lists = request.verb !== "watch" || request.query.has("sendInitialEvents");
      return lists
        ? `list ${request.resource}`
        : `watch ${request.resource} from ${request.query.get("resourceVersion")}`;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#informers.map((informer) => informer[Symbol.asyncDispose]()));
    this.client[Symbol.dispose]();
    await this.time.tickAsync(0);
    const { timers } = this.time;
    this.server[Symbol.dispose]();
    this.time[Symbol.dispose]();
    assertEquals(timers, 0, "a timer is left");
  }
}

Deno.test("a client renews all watches within 2 s when the clock shows a suspension: informers and follow() resume, silently [F01]", async () => {
  await using fixture = new Fixture();
  const { time, server, client } = fixture;
  const pods = await fixture.informer();
  const nodes = await fixture.informer(Node);
  const maps = await fixture.informer(ConfigMap);
  const stop = new AbortController();
  const interrupted: unknown[] = [];
  const followed: string[] = [];
  const following = (async (): Promise<void> => {
    const onInterrupted = (error: unknown): void => void interrupted.push(error);
    const options = { resourceVersion: pods.lastSyncResourceVersion, onInterrupted, signal: stop.signal };
    for await (const event of client.resource(Pod).follow(options)) followed.push(event.type);
  })().catch((error) => error);
  await time.tickAsync(1_000);
  fixture.requests;
  using _dead = server.stallWatches();
  server.create(Pod, pod({ name: "b" }));
  const silentSince = pods.status().silentSince!;
  time.setClock(time.now + HOUR_MS);
  await time.tickAsync(3_999);
  assertEquals(fixture.requests, []);
  await time.tickAsync(2_001 + 1_000); // the last second for the shortest period of follow()
  const at = nodes.lastSyncResourceVersion;
  assertEquals(
    fixture.requests.sort(),
    [`watch configmaps from ${at}`, `watch nodes from ${at}`, `watch pods from ${at}`, `watch pods from ${at}`],
  );
  assertEquals([pods, nodes, maps].map((informer) => informer.status().state), ["live", "live", "live"]);
  assertEquals(pods.lister.list().map(({ metadata: { name } }) => name), ["a", "b"]);
  assertEquals([followed, interrupted, fixture.errors], [["ADDED"], [], []]);
  const { lastWatchEnd, silentSince: since } = pods.status();
  assertEquals(
    lastWatchEnd!.reason,
    `Cannot go on to watch "pods": the time of day has gained 3600 s, as after a suspension, so the connection may be dead`,
  );
  assert(since!.getTime() - silentSince.getTime() > HOUR_MS);
  stop.abort();
  await following;
});

Deno.test("a client spreads renewals, and an informer whose watch is renewed is stale until the next one is open [F01]", async () => {
  await using fixture = new Fixture();
  const { time, server } = fixture;
  const informers: SharedIndexInformer<Pod>[] = [];
  for (let i = 0; i < 30; i++) informers.push(await fixture.informer());
  using _dead = server.stallWatches();
  time.setClock(time.now + HOUR_MS);
  await time.tickAsync(5_000);
  const counts: number[] = [];
  for (let ms = 0; ms < 2_000; ms += 500) {
    await time.tickAsync(500);
    counts.push(fixture.requests.length);
  }
  assertEquals(counts.reduce((sum, count) => sum + count), 30);
  assert(Math.max(...counts) < 30, `all at once: ${counts}`);
  assertEquals(new Set(informers.map((informer) => informer.status().state)), new Set(["live"]));

  await time.tickAsync(MINUTE_MS);
  using _slow = server.stallNext(30);
  server.latency(10_000);
  time.setClock(time.now + HOUR_MS);
  await time.tickAsync(7_000);
  assertEquals(new Set(informers.map((informer) => informer.status().state)), new Set(["stale"]));
  assertEquals(informers[0].status().silentSince, undefined);
});

Deno.test("a client renews watches for the clock at most once a minute, and never for one that was set back", async () => {
  await using fixture = new Fixture();
  const { time } = fixture;
  await fixture.informer();
  time.setClock(time.now + 20_000); // not more than 20 s
  await time.tickAsync(10_000);
  time.setClock(time.now - 30 * 24 * HOUR_MS);
  await time.tickAsync(MINUTE_MS);
  assertEquals(fixture.requests, []);

  time.setClock(time.now + 20_001); // from where it was set to
  await time.tickAsync(7_000);
  assertEquals(fixture.requests.length, 1);
  await time.tickAsync(3_000);
  time.setClock(time.now + HOUR_MS);
  await time.tickAsync(45_000);
  assertEquals(fixture.requests, []);
  await time.tickAsync(20_000); // it is not forgotten
  assertEquals(fixture.requests.length, 1);
});

Deno.test("a client has one timer for its watches, and none without", async () => {
  await using fixture = new Fixture();
  const { time, client } = fixture;
  const timers = (): number => time.timers;
  assertEquals(timers(), 0);
  const stop = new AbortController();
  const watch = async (): Promise<void> => {
    for await (const _ of client.resource(Pod).watchChanges({ signal: stop.signal })) { /* until it is aborted */ }
  };
  const before = timers();
  const watches = [assertRejects(watch), assertRejects(watch), assertRejects(watch)];
  await time.tickAsync(0);
  // The fake server has a timer for the end of each watch.
  assertEquals(timers() - before, 3 + 1);
  stop.abort();
  await Promise.all(watches);
  await time.tickAsync(0);
  assertEquals(timers(), 0);
});

Deno.test("watch() rejects with an UnreachableError when the clock shows a suspension", async () => {
  await using fixture = new Fixture();
  const { time, client } = fixture;
  const watching = assertRejects(async () => {
    for await (const _ of client.resource(Node).watch()) { /* there is no event */ }
  }, UnreachableError);
  await time.tickAsync(0);
  time.setClock(time.now + HOUR_MS);
  await time.tickAsync(7_000);
  assertMatch((await watching).message, /^Cannot go on to watch "nodes": the time of day has gained 3600 s/);
});

Deno.test("a client does not renew a streaming list, which would begin anew, but the watch that follows it", async () => {
  await using fixture = new Fixture();
  const { time, server } = fixture;
  for (const name of ["b", "c", "d"]) server.create(Pod, pod({ name }));
  server.spreadNext(5_000);
  const informer = fixture.run();
  await time.tickAsync(1_000);
  time.setClock(time.now + HOUR_MS);
  await time.tickAsync(15_000);
  assertEquals([informer.hasSynced, fixture.requests], [false, ["list pods"]]);
  await time.tickAsync(20_000);
  assertEquals([informer.hasSynced, informer.status().state], [true, "live"]);
  assertEquals(fixture.requests, [`watch pods from ${informer.lastSyncResourceVersion}`]);
});

Deno.test("a client renews a watch that had three bookmarks and missed two, at most once in 10 minutes without an event [F01] [F03]", async () => {
  await using fixture = new Fixture({ bookmarkMs: MINUTE_MS });
  const { time, server } = fixture;
  const pods = await fixture.informer();
  await fixture.informer(Node);
  server.create(Pod, pod({ name: "b" })); // so that there are bookmarks
  await time.tickAsync(3 * MINUTE_MS);
  using _dead = server.stallWatches(Pod);
  server.create(Pod, pod({ name: "c" }));
  await time.tickAsync(2 * MINUTE_MS + 5_000);
  assertEquals(fixture.requests, []);
  await time.tickAsync(10_000);
  assertEquals(fixture.requests, ["watch pods from 3"]); // and no other
  assertEquals([pods.indexer.size, pods.status().state, fixture.errors], [3, "live", []]);
  assertMatch(
    pods.status().lastWatchEnd!.reason,
    /^Cannot go on to watch "pods": nothing has come for 13\d s, and bookmarks came every 60 s, so the connection may be dead$/,
  );

  // An event has come since: the next silence counts.
  await time.tickAsync(1_000);
  server.jump();
  await time.tickAsync(3 * MINUTE_MS);
  server.sendBookmarks(false);
  await time.tickAsync(2 * MINUTE_MS + 15_000);
  assertEquals(fixture.requests.length, 2); // pods and nodes
  // Bookmarks come again and fail again, and no event comes: not before 10 minutes are over.
  server.sendBookmarks(true);
  server.jump();
  await time.tickAsync(3 * MINUTE_MS + 10_000);
  server.sendBookmarks(false);
  await time.tickAsync(4 * MINUTE_MS);
  assertEquals(fixture.requests, []);
  await time.tickAsync(3 * MINUTE_MS);
  assertEquals(fixture.requests.length, 2);
});

Deno.test("a client leaves a quiet kind alone whose bookmarks follow etcd's progress notices, 10 minutes apart [F03]", async () => {
  await using fixture = new Fixture({ bookmarkMs: 10 * MINUTE_MS });
  const { time, server } = fixture;
  const pods = await fixture.informer();
  server.jump();
  // The server ends watches in good order now and then.
  const ends = new Set<string | undefined>();
  for (let notice = 0; notice < 36; notice++) {
    await time.tickAsync(10 * MINUTE_MS);
    ends.add(pods.status().lastWatchEnd?.reason.replace(/ after \d+ s$/, ""));
  }
  assertEquals(ends, new Set([undefined, "the server ended it"]));

  // Bookmarks come each minute while other kinds are written, and then with the notices alone.
  server.sendBookmarks(false);
  server.endWatches();
  for (let minute = 0; minute < 4; minute++) {
    await time.tickAsync(MINUTE_MS);
    server.bookmark(Pod);
  }
  let renewals = 0;
  for (let notice = 0; notice < 12; notice++) {
    fixture.requests;
    await time.tickAsync(10 * MINUTE_MS);
    const { reason } = pods.status().lastWatchEnd!;
    if (reason.startsWith("Cannot go on")) renewals += fixture.requests.length;
    server.bookmark(Pod);
  }
  assertEquals(renewals, 1);
  assertEquals(fixture.errors, []);
});
