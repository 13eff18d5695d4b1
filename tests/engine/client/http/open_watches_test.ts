import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import type { ListerWatcher, Transport } from "../../../../src/engine/api/lister_watcher.ts";
import { defineResource, type Resource } from "../../../../src/engine/api/resource.ts";
import { UnreachableError } from "../../../../src/engine/api/status.ts";
import { Client } from "../../../../src/engine/client/client.ts";
import { SharedIndexInformer } from "../../../../src/engine/informer/shared_index_informer.ts";
import { ConfigMap, Node, Pod } from "../../../../src/engine/kinds/core/v1.ts";
import { FakeApiServer, pod } from "../../../../src/testing/mod.ts";
import { FakeTime } from "../../../support/times/fake_time.ts";

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** A server, a client of it, informers with default options, and the requests that follow. */
class Fixture implements AsyncDisposable {
  readonly time = new FakeTime();
  readonly server: FakeApiServer;
  readonly client: Client;
  readonly errors: unknown[] = [];
  readonly #informers: AsyncDisposable[] = [];
  readonly #options: { readonly reflector?: { readonly watchTimeoutMs: number } };
  #asked = 0;
  #written = 0;

  /**
   * Bookmarks come every `bookmarkMs`, if the version has moved since the last one. The watches of informers last
   * `watchTimeoutMs`, or as long as by default.
   */
  constructor(
    { bookmarkMs = MINUTE_MS, watchTimeoutMs, transport = (server) => server }: {
      readonly bookmarkMs?: number;
      readonly watchTimeoutMs?: number;
      readonly transport?: (server: FakeApiServer) => Transport;
    } = {},
  ) {
    this.server = new FakeApiServer({ bookmarkMs });
    this.client = new Client({ server: "http://fake", transport: transport(this.server) });
    this.server.create(Pod, pod({ name: "a" }));
    this.#options = watchTimeoutMs === undefined ? {} : { reflector: { watchTimeoutMs } };
  }

  /** Runs an informer. */
  run(kind: Resource = Pod): SharedIndexInformer<Pod> {
    const informer = new SharedIndexInformer<Pod>(this.client.resource(kind as typeof Pod), {
      onError: (error) => this.errors.push(error),
      ...this.#options,
    });
    this.#informers.push(informer);
    void informer.run();
    return informer;
  }

  /** Runs an informer until it is live. */
  async informer(kind: Resource = Pod): Promise<SharedIndexInformer<Pod>> {
    const informer = this.run(kind);
    await this.time.tickAsync(0);
    assertEquals(informer.status().state, "live");
    this.requests;
    return informer;
  }

  /** Passes some seconds, and writes a pod every `everyS` of them. Ends early when `until` returns `true`. */
  async seconds(count: number, everyS = Infinity, until: () => boolean = () => false): Promise<number> {
    for (let second = 1; second <= count; second++) {
      await this.time.tickAsync(1_000);
      if (second % everyS === 0) this.server.annotate(Pod, "default/a", { n: String(this.#written++) });
      if (until()) return second;
    }
    return count;
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

/** The counts of an informer's status. */
function countsOf(informer: SharedIndexInformer<Pod>): number[] {
  const { probes, failedProbes, suspicions, renewals } = informer.status().connections!;
  return [probes, failedProbes, suspicions, renewals];
}

const names = (informer: SharedIndexInformer<Pod>): string[] =>
  informer.lister.list().map(({ metadata: { name } }) => name);

Deno.test("a client replaces all watches within 2 s when the clock shows a suspension: informers and follow() go on, live and silently [F01]", async () => {
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
  await time.tickAsync(2_001);
  const at = nodes.lastSyncResourceVersion;
  assertEquals(
    fixture.requests.sort(),
    [`watch configmaps from ${at}`, `watch nodes from ${at}`, `watch pods from ${at}`, `watch pods from ${at}`],
  );
  assertEquals([pods, nodes, maps].map((informer) => informer.status().state), ["live", "live", "live"]);
  assertEquals([names(pods), countsOf(pods), countsOf(nodes)], [["a", "b"], [0, 0, 0, 1], [0, 0, 0, 1]]);
  assertEquals([followed, interrupted, fixture.errors], [["ADDED"], [], []]);
  const { lastWatchEnd, silentSince: since, watches } = pods.status();
  assertEquals([lastWatchEnd, watches], [undefined, 1]); // the reflector has noticed nothing
  assert(since!.getTime() - silentSince.getTime() > HOUR_MS);
  assertEquals(server.watches, 4); // the dead ones are closed
  stop.abort();
  await following;
});

Deno.test("a client spreads renewals; a watch that nothing can replace within 5 s ends, and its informer is stale until the next one is open [F01]", async () => {
  await using fixture = new Fixture();
  const { time, server } = fixture;
  const informers: SharedIndexInformer<Pod>[] = [];
  for (let i = 0; i < 30; i++) informers.push(await fixture.informer());
  const states = (): Set<string> => new Set(informers.map((informer) => informer.status().state));
  {
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
    assertEquals(states(), new Set(["live"]));
    await time.tickAsync(55_000);
  }
  using _dead = server.stallWatches();
  server.latency(10_000);
  time.setClock(time.now + HOUR_MS);
  await time.tickAsync(4_900);
  assertEquals(states(), new Set(["live"]));
  await time.tickAsync(7_200);
  assertEquals([states(), informers[0].status().silentSince], [new Set(["stale"]), undefined]);
  assertMatch(
    informers[0].status().lastWatchEnd!.reason,
    /^Cannot continue to watch "pods": the time of day has gained 3600 s, as after a suspension, so the connection may be/,
  );
  await time.tickAsync(12_000);
  assertEquals([states(), fixture.errors], [new Set(["live"]), []]);
});

Deno.test("a client renews watches for the clock at most once a minute, and never for one that was set back", async () => {
  await using fixture = new Fixture({ watchTimeoutMs: HOUR_MS });
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

Deno.test("a client does not renew a streaming list, which would begin from scratch, but the watch that follows it", async () => {
  await using fixture = new Fixture({ watchTimeoutMs: HOUR_MS });
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

for (
  const [what, quietMs] of [
    ["just after its opening", 1_000],
    ["after probes", 31_000],
    ["after a suspicion", 77_000],
    ["later", 320_000],
  ] as const
) {
  Deno.test(`a client notices within 45 s that the path to the server is dead, ${what}: informers are stale, and live again when it is back [F01]`, async () => {
    await using fixture = new Fixture();
    const { server, time } = fixture;
    const informers = [await fixture.informer(), await fixture.informer(Node), await fixture.informer(ConfigMap)];
    const states = (): string[] => informers.map((informer) => informer.status().state);
    await time.tickAsync(quietMs);
    assertEquals(new Set(states()), new Set(["live"]));
    const dead = server.stallWatches();
    server.latency(HOUR_MS);
    server.create(Pod, pod({ name: "b" }));
    await fixture.seconds(45, Infinity, () => !states().includes("live"));
    assert(!states().includes("live"), `${states()} after 45 s`);
    const [probes, failed] = countsOf(informers[0]);
    assert(probes > 0 && failed === 1, `${probes} probes, of which ${failed} failed`);
    if (quietMs < 75_000) { // no watch has come to its time
      assertMatch(
        informers[0].status().lastWatchEnd!.reason,
        /^Cannot continue to watch "pods": the server has sent nothing for \d+ s, and no response, so the connection may be dead$/,
      );
    }
    server.latency(0);
    dead[Symbol.dispose]();
    server.restart(); // breaks the requests that wait
    await fixture.seconds(100, Infinity, () => states().every((state) => state === "live"));
    assertEquals([names(informers[0]), new Set(states())], [["a", "b"], new Set(["live"])]);
  });
}

Deno.test("a client probes a server after 20 s in which nothing came, every 30 s, and not while anything comes", async () => {
  await using fixture = new Fixture();
  const pods = await fixture.informer();
  await fixture.informer(Node);
  await fixture.seconds(19);
  assertEquals(countsOf(pods)[0], 0);
  await fixture.seconds(1);
  assertEquals(countsOf(pods)[0], 1);
  await fixture.seconds(30);
  assertEquals(countsOf(pods)[0], 2);
  await fixture.seconds(600, 5);
  assertEquals(countsOf(pods), [2, 0, 0, 0]);
});

Deno.test("a client that sends other requests does not probe", async () => {
  await using fixture = new Fixture({ bookmarkMs: 2 ** 31 - 1 });
  const pods = await fixture.informer();
  for (let i = 0; i < 6; i++) {
    await fixture.seconds(10);
    await fixture.client.resource(Node).list();
  }
  assertEquals(countsOf(pods)[0], 0);
});

Deno.test("a probe with a response ends the series of those that fail", async () => {
  let probes = 0;
  const transport = (server: FakeApiServer): Transport => ({
    fetch: server.fetch,
    probe: () => ++probes % 3 === 0 ? Promise.resolve() : Promise.reject(new Error("busy")),
  });
  await using fixture = new Fixture({ transport, watchTimeoutMs: Infinity });
  await fixture.informer();
  await fixture.seconds(600);
  assert(probes > 15, `${probes} probes`);
});

Deno.test("probes that fail although the server accepts watches end for 10 minutes, and end no watch", async () => {
  let probes = 0;
  const transport = (server: FakeApiServer): Transport => ({
    fetch: server.fetch,
    probe: () => Promise.reject(new Error(`a firewall, ${++probes}`)),
  });
  await using fixture = new Fixture({ transport, bookmarkMs: 2 ** 31 - 1 });
  const pods = await fixture.informer();
  const states = new Set<string>();
  await fixture.seconds(600, Infinity, () => void states.add(pods.status().state) as never);
  assertEquals(states, new Set(["live"]));
  assertEquals([probes, countsOf(pods)[1]], [4, 4]);
  await fixture.seconds(200);
  assertEquals(probes, 5);
});

for (const diesAtS of [10, 70, 130, 190]) {
  for (const [which, others] of [["the only connection", []], ["one of three", [Node, ConfigMap]]] as const) {
    Deno.test(`a client notices within 90 s that ${which} of its watches is dead, ${diesAtS} s after the opening, with a bookmark a minute [F01] [F03]`, async () => {
      for (let run = 0; run < 4; run++) {
        await using fixture = new Fixture();
        const { server } = fixture;
        const pods = await fixture.informer();
        for (const kind of others) await fixture.informer(kind);
        await fixture.seconds(diesAtS, 5);
        fixture.requests;
        using _dead = server.stallWatches(Pod);
        server.create(Pod, pod({ name: "b" }));
        const deafS = await fixture.seconds(200, 5, () => names(pods).includes("b"));
        assert(deafS <= 90, `deaf for ${deafS} s`);
      }
    });
  }
}

Deno.test("a client notices within 90 s that one of two watches is dead, whenever the other one has its bookmarks [F01]", async () => {
  for (const openedAtS of [1, 10, 20, 25, 29, 31, 45, 59]) {
    await using fixture = new Fixture();
    const pods = await fixture.informer();
    await fixture.seconds(openedAtS, 5);
    await fixture.informer(Node);
    await fixture.seconds(60 - openedAtS, 5);
    using _dead = fixture.server.stallWatches(Pod);
    fixture.server.create(Pod, pod({ name: "b" }));
    const deafS = await fixture.seconds(200, 5, () => names(pods).includes("b"));
    assert(deafS <= 90, `deaf for ${deafS} s, with bookmarks from second ${openedAtS} on`);
  }
});

Deno.test("a client renews all watches that missed a bookmark when the first renewal shows that it was dead [F01]", async () => {
  await using fixture = new Fixture({ watchTimeoutMs: HOUR_MS });
  const { server } = fixture;
  const kinds = [Node, ConfigMap, Pod]; // the one that is written is suspected first, wherever it stands
  const informers = [];
  for (const kind of kinds) informers.push(await fixture.informer(kind));
  await fixture.seconds(70, 5);
  fixture.requests;
  using _dead = server.stallWatches(); // new connections work
  await fixture.seconds(90, 5);
  const requests = fixture.requests.map((request) => request.replace(/ from .*/, ""));
  assertEquals(requests.sort(), ["list pods", "watch configmaps", "watch nodes", "watch pods"]);
  assertEquals(informers.map((informer) => countsOf(informer)[3]), [1, 1, 1]);
});

for (
  const [heard, history] of Object.entries({
    "last": async ({ server, time }: Fixture) => {
      for (let n = 0; n < 3; n++) {
        server.annotate(Node, "n", { n: String(n) });
        await time.tickAsync(100);
      }
      await time.tickAsync(6_000); // another look
      server.annotate(Pod, "default/a", { n: "1" });
    },
    "alone, before the first look": ({ server }: Fixture) => server.annotate(Pod, "default/a", { n: "1" }),
    "most, before the first look": async ({ server, time }: Fixture) => {
      for (let n = 0; n < 2; n++) {
        server.annotate(Pod, "default/a", { n: String(n) });
        await time.tickAsync(100);
      }
      server.annotate(Node, "n", { n: "1" });
    },
  })
) {
  Deno.test(`a client renews the watch first that was heard ${heard}, of several that died at once [F01]`, async () => {
    for (const place of [0, 1, 2]) {
      await using fixture = new Fixture({ watchTimeoutMs: HOUR_MS });
      const { server, time } = fixture;
      server.create(Node, { metadata: { name: "n" } });
      const kinds: Resource[] = [Node, ConfigMap];
      kinds.splice(place, 0, Pod);
      const informers: SharedIndexInformer<Pod>[] = [];
      for (const kind of kinds) {
        informers.push(await fixture.informer(kind));
        await time.tickAsync(1_000);
      }
      await history(fixture);
      await time.tickAsync(1_000);
      using _dead = server.stallWatches(); // new connections work
      server.create(Pod, pod({ name: "b" }));
      const deafS = await fixture.seconds(200, 5, () => names(informers[place]).includes("b"));
      assert(deafS <= 90, `deaf for ${deafS} s`);
    }
  });
}

for (
  const [what, write] of [["nothing is written", false], [
    "only other kinds are written, and no bookmark comes",
    true,
  ]] as const
) {
  Deno.test(`a client with 60 quiet kinds sends at most three requests a minute while ${what} [F03]`, async () => {
    await using fixture = new Fixture({ bookmarkMs: 2 ** 31 - 1, watchTimeoutMs: Infinity });
    const { server } = fixture;
    const informers: SharedIndexInformer<Pod>[] = [];
    for (let i = 0; i < 60; i++) {
      const kind = defineResource({ group: "test.dev", version: "v1", plural: `toys${i}`, kind: `Toy${i}` });
      server.define(kind);
      informers.push(await fixture.informer(kind as Resource));
    }
    const sent: number[] = [];
    let probes = 0;
    for (let second = 0; second < 1_800; second++) {
      await fixture.seconds(1);
      if (write && second % 60 === 30) server.jump();
      const [total] = countsOf(informers[0]);
      sent.push(fixture.requests.filter((it) => it.startsWith("watch")).length + total - probes);
      probes = total;
    }
    let most = 0;
    for (let at = 60; at < sent.length; at++) {
      most = Math.max(most, sent.slice(at - 60, at).reduce((sum, count) => sum + count));
    }
    const times = sent.flatMap((count, second) => count > 0 ? [`${second}: ${count}`] : []);
    assert(most <= 3, `${most} requests in a minute: ${times.slice(0, 40).join(", ")}`);
    const suspicions = informers.reduce((sum, informer) => sum + countsOf(informer)[2], 0);
    const renewals = informers.reduce((sum, informer) => sum + countsOf(informer)[3], 0);
    assert(suspicions > 20 && suspicions <= 30, `${suspicions} suspicions`);
    assert(write ? renewals > 20 : renewals === 0, `${renewals} renewals`);
    assertEquals(new Set(informers.map((informer) => informer.status().state)), new Set(["live"]));
  });
}

Deno.test("a suspicion in vain is not repeated for 10 minutes, unless something comes", async () => {
  await using fixture = new Fixture({ bookmarkMs: 2 ** 31 - 1, watchTimeoutMs: Infinity });
  const { server } = fixture;
  const pods = await fixture.informer();
  const suspicions = (): number => countsOf(pods)[2];
  server.jump();
  await fixture.seconds(90);
  assertEquals([suspicions(), fixture.requests], [1, ["list pods", `watch pods from 2`]]);
  await fixture.seconds(500);
  assertEquals(suspicions(), 1);
  await fixture.seconds(100);
  assertEquals(suspicions(), 2);
  server.bookmark();
  await fixture.seconds(90);
  assertEquals(suspicions(), 3);
});

Deno.test("a client knows a longer time between two bookmarks of the server beyond one watch", async () => {
  await using fixture = new Fixture({ bookmarkMs: 2 ** 31 - 1, watchTimeoutMs: Infinity });
  const { server } = fixture;
  const pods = await fixture.informer();
  const bookmark = async (): Promise<void> => {
    await fixture.seconds(300);
    server.jump();
    server.bookmark();
  };
  for (let i = 0; i < 3; i++) await bookmark();
  const before = 2; // one for each time that was not known yet
  assertEquals(countsOf(pods)[2], before);
  server.endWatches();
  for (let i = 0; i < 6; i++) await bookmark();
  assertEquals(countsOf(pods)[2], before);
});

Deno.test("a wrong suspicion delays and repeats no event: the old connection is read until the new one is accepted", async () => {
  for (const [latencyMs, writtenAfterMs] of [[3_000, 1_000], [3_000, 2_999], [3_000, 3_000], [3_000, 3_001], [0, 1]]) {
    await using fixture = new Fixture({ bookmarkMs: 2 ** 31 - 1 });
    const { server, time } = fixture;
    const seen: string[] = [];
    const pods = await fixture.informer();
    pods.addEventHandler({ onAdd: ({ metadata }) => void seen.push(metadata.name) });
    await fixture.seconds(60);
    server.jump();
    let isSuspected = false;
    const { events } = pods.status();
    server.beforeNext(
      () => {
        server.latency(latencyMs); // of the watch that follows
        isSuspected = true;
      },
      1,
      (request) => request.verb === "list",
    );
    for (let ms = 0; !isSuspected && ms < 60_000; ms += 100) await time.tickAsync(100);
    assert(isSuspected);
    await time.tickAsync(writtenAfterMs);
    server.create(Pod, pod({ name: "b" }));
    await time.tickAsync(1);
    assertEquals(seen, ["a", "b"], `${writtenAfterMs} ms after the request`);
    server.latency(0);
    await time.tickAsync(5_000);
    server.create(Pod, pod({ name: "c" }));
    await time.tickAsync(1);
    assertEquals([seen, pods.status().state, pods.status().lastWatchEnd], [["a", "b", "c"], "live", undefined]);
    assertEquals(pods.status().events - events, 2); // no watch repeats what the other one has sent
    assertEquals(server.watches, 1);
  }
});

Deno.test("a watch whose replacement is refused ends, and its informer does what the refusal asks for", async () => {
  await using fixture = new Fixture({ bookmarkMs: 2 ** 31 - 1 });
  const { server } = fixture;
  const pods = await fixture.informer();
  await fixture.seconds(60);
  server.compact();
  server.jump();
  server.failNext(410, 2, (request) => request.verb === "watch");
  using _dead = server.stallWatches();
  await fixture.seconds(40);
  assertEquals(countsOf(pods)[3], 1);
  assertEquals([pods.status().state, pods.status().completedLists], ["live", 2]);
});

Deno.test("a watch whose reader is slow, or that did not ask for bookmarks, is not suspected", async () => {
  await using fixture = new Fixture({ bookmarkMs: 2 ** 31 - 1 });
  const { server, client, time } = fixture;
  const stop = new AbortController();
  const pods = client.resource(Pod);
  const suspicions = (): number => (pods as ListerWatcher<Pod>).connections!.suspicions;
  const watch = async (options: { readonly allowBookmarks?: boolean }, busyMs: number): Promise<void> => {
    for await (const _ of pods.watch({ resourceVersion: "1", signal: stop.signal, ...options })) {
      await new Promise((resolve) => setTimeout(resolve, busyMs));
    }
  };
  const watches = [watch({ allowBookmarks: true }, 300_000), watch({}, 0)];
  await time.tickAsync(0);
  server.create(Pod, pod({ name: "b" }));
  await time.tickAsync(290_000);
  assertEquals([suspicions(), fixture.requests.length], [0, 2]);
  stop.abort();
  await time.tickAsync(300_000);
  await Promise.all(watches);
});

Deno.test("a watch that would begin with a list ends with an UnreachableError when the clock shows a suspension", async () => {
  await using fixture = new Fixture();
  const { time, client } = fixture;
  const watching = assertRejects(async () => {
    for await (const _ of client.resource(Node).watch()) { /* there is no event */ }
  }, UnreachableError);
  await time.tickAsync(0);
  time.setClock(time.now + HOUR_MS);
  await time.tickAsync(7_000);
  assertMatch((await watching).message, /^Cannot continue to watch "nodes": the time of day has gained 3600 s/);
});

Deno.test("a watch that its reader leaves while it is replaced leaves nothing open", async () => {
  for (let turns = 0; turns < 40; turns++) {
    const stop = new AbortController();
    let watches = 0;
    const transport = (server: FakeApiServer): Transport => ({
      fetch: async (request) => {
        const response = await server.fetch(request);
        if (request.url.includes("watch=") && ++watches === 2) void later(turns, () => stop.abort());
        return response;
      },
    });
    await using fixture = new Fixture({ transport });
    const { time, client, server } = fixture;
    const read = (async (): Promise<void> => {
      const options = { resourceVersion: "1", allowBookmarks: true, signal: stop.signal };
      for await (const _ of client.resource(Pod).watch(options)) { /* until it is aborted */ }
    })();
    await time.tickAsync(1_000);
    time.setClock(time.now + HOUR_MS);
    await time.tickAsync(7_000);
    await read;
    await time.tickAsync(0);
    assertEquals([watches, server.watches, time.timers], [2, 0, 0], `${turns} turns`);
  }
});

/** Calls `call` after some microtasks. */
async function later(turns: number, call: () => void): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await undefined;
  call();
}

Deno.test("a watch that cannot be replaced ends with an UnreachableError when the path is dead", async () => {
  await using fixture = new Fixture();
  const { server, client, time } = fixture;
  const watching = assertRejects(async () => {
    for await (const _ of client.resource(Node).watch()) { /* there is no event */ }
  }, UnreachableError);
  await time.tickAsync(0);
  using _dead = server.stallWatches();
  server.latency(HOUR_MS);
  await time.tickAsync(45_000);
  assertMatch((await watching).message, /^Cannot continue to watch "nodes": the server has sent nothing for \d+ s/);
});
