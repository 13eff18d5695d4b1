import { assertEquals } from "@std/assert";
import { Client } from "../../../../src/engine/client/client.ts";
import type { SharedInformerFactoryOptions } from "../../../../src/engine/informer/options.ts";
import { SharedInformerFactory } from "../../../../src/engine/informer/shared_informer_factory.ts";
import { ConfigMap, Namespace } from "../../../../src/engine/kinds/core/v1.ts";
import { Random, seedGlobals } from "../../../../src/testing/fake/random.ts";
import { FakeApiServer, history, namespace, perform } from "../../../../src/testing/mod.ts";
import { EventChecker } from "../../../support/cluster/event_checker.ts";
import { FakeTime } from "../../../support/times/fake_time.ts";

const NAMES = ["a", "b", "c", "d"];

/** The objects of a server, and which of its namespaces an informer follows. */
class Scope {
  readonly server: FakeApiServer;
  /** The rights, by the names of namespaces; `"*"` is all at once. */
  readonly rights: Set<string>;

  constructor(by: "readable" | "labels", seed: number) {
    const rights = this.rights = new Set(by === "labels" ? ["*"] : ["a", "b"]);
    this.server = new FakeApiServer({
      ...{ seed, history: 20, chunkBytes: 300, bookmarkMs: 10_000 },
      authorize: ({ resource, namespace }) =>
        resource !== "configmaps" || rights.has("*") || (namespace !== "" && rights.has(namespace)),
    });
    for (const name of NAMES.slice(0, 3)) this.server.create(Namespace, namespace({ name, labels: labelsOf(name) }));
  }

  /** The namespaces whose objects the server shows. Where all may be read, there may be some that were never made. */
  followed(by: "readable" | "labels"): readonly string[] {
    if (by === "readable" && this.rights.has("*")) return NAMES;
    return this.server.list(Namespace).filter(({ metadata: { name, labels } }) => {
      return by === "labels" ? labels?.team === "x" : this.rights.has(name);
    }).map(({ metadata }) => metadata.name);
  }

  /** Changes one namespace, or one right. */
  change(by: "readable" | "labels", random: Random): void {
    const { server, rights } = this;
    const name = random.pick(NAMES.slice(1)); // "a" stays
    if (server.get(Namespace, name) === undefined) {
      server.create(Namespace, namespace({ name, labels: labelsOf(name) }));
    } else if (by === "labels") {
      const team = server.get(Namespace, name)!.metadata.labels?.team === "x" ? "y" : "x";
      server.patch(Namespace, name, { metadata: { labels: { team } } });
    } else {
      const right = random.next() < 0.3 ? "*" : name;
      if (!rights.delete(right)) rights.add(right);
    }
  }
}

function labelsOf(name: string): { team: string } {
  return { team: name === "a" || name === "b" ? "x" : "y" };
}

const OPTIONS: Readonly<Record<"readable" | "labels", SharedInformerFactoryOptions["namespaces"]>> = {
  readable: "readable",
  labels: { labels: "team=x" },
};

/** Plays the history of a seed, and changes namespaces or rights meanwhile. Returns the number of events. */
async function play(by: "readable" | "labels", seed: number, isCalm: boolean): Promise<number> {
  using time = new FakeTime();
  const random = new Random(seed);
  const scope = new Scope(by, seed);
  using server = scope.server;
  using client = new Client({ server: "http://fake", transport: server, namespace: "a" });
  const informers = new SharedInformerFactory(client, {
    ...{ namespaces: OPTIONS[by], compact: seed % 2 === 0, reflector: { pageSize: 2 }, onError: () => {} },
  });
  const maps = informers.forResource(ConfigMap);
  const checker = new EventChecker(maps);
  const moved: string[] = [];
  maps.addEventHandler({ onDelete: ({ key, reason }) => void (reason === "moved" && moved.push(key)) });
  informers.start();
  const lasting: Disposable[] = [];
  const steps = history(seed, { namespaces: NAMES, names: 3, steps: 30, faults: isCalm ? "none" : "all" });
  for (const [i, step] of steps.entries()) {
    const ends = perform(server, ConfigMap, step);
    if (ends !== undefined) lasting.push(ends);
    if (random.next() < 0.4) scope.change(by, random);
    await time.tickAsync([0, 30, 5_000, 90_000][(seed + i) % 4]);
  }
  for (const ends of lasting) ends[Symbol.dispose]();
  server.latency(0);
  const expected = (): string[] =>
    scope.followed(by).flatMap((namespace) => server.list(ConfigMap, { namespace }))
      .map(({ metadata }) => `${metadata.namespace}/${metadata.name}@${metadata.resourceVersion}`).sort();
  const cached = (): string[] =>
    [...maps.entries].map(({ key, resourceVersion }) => `${key}@${resourceVersion}`).sort();
  const isSame = (): boolean => cached().join() === expected().join() && maps.status().state === "live";
  for (let tries = 0; tries < 60 && !isSame(); tries++) {
    server.bookmark();
    await time.tickAsync(30_000);
  }
  const what = `seed ${seed}, by ${by}${isCalm ? ", calm" : ""}`;
  assertEquals([maps.status().state, cached()], ["live", expected()], what);
  assertEquals(await checker.end(), [], what);
  if (isCalm) assertEquals(moved.filter((key) => key.startsWith("a/")), [], `${what}: what stays was removed`);
  const shutdown = informers.shutdown();
  await time.tickAsync(1_000);
  await shutdown;
  assertEquals([server.watches, time.timers], [0, 0], what);
  const { added, updated, deleted } = checker.counts;
  return added + updated + deleted;
}

for (const by of ["readable", "labels"] as const) {
  for (const isCalm of [true, false]) {
    const where = isCalm ? "a calm server" : "a server with faults";
    Deno.test(`the cache equals what ${where} shows of namespaces that come and go, by ${by}`, async () => {
      let delivered = 0;
      for (let seed = 1; seed <= 15; seed++) {
        using _random = seedGlobals(seed);
        delivered += await play(by, seed, isCalm);
      }
      assertEquals(delivered > 150, true, `only ${delivered} events were delivered`);
    });
  }
}
