import { assertEquals } from "@std/assert";
import { Client } from "../../src/client/client.ts";
import { SharedInformerFactory } from "../../src/informer/shared_informer_factory.ts";
import { ConfigMap } from "../../src/kinds/core/v1.ts";
import { FakeApiServer, history, perform } from "../../src/testing/mod.ts";
import { seedGlobals } from "../../src/testing/random.ts";
import { EventChecker } from "../support/cluster/event_checker.ts";
import { FakeTime } from "../support/fake_time.ts";

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
