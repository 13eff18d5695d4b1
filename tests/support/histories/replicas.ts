import type { KubernetesObject } from "@kube/informer";
import { ConfigMap } from "@kube/informer/kinds/core/v1";
import { FakeApiServer, history, perform } from "@kube/informer/testing";
import { assert, assertEquals } from "@std/assert";
import { Random, seedGlobals } from "../../../src/testing/fake/random.ts";
import { FakeTime } from "../times/fake_time.ts";
import { CheckedCopy, type Reconnections, totalOf } from "../replicas/checked_copy.ts";
import { Balancer, FakeReplica } from "../replicas/fake_replicas.ts";

/** The time that copies have to become equal, in steps of a second, once no more faults come. */
const MAX_SECONDS = 900;

/** A copy of what a client asks for. */
interface Client {
  readonly copy: CheckedCopy;
  readonly selects: (object: KubernetesObject) => boolean;
}

function clientOf(balancer: Balancer, random: Random): Client {
  const tier = random.pick([undefined, undefined, "web"]);
  const namespace = random.pick([undefined, undefined, "a"]);
  const query = new URLSearchParams({ ...tier && { labelSelector: `tier=${tier}` }, ...namespace && { namespace } });
  const copy = new CheckedCopy(`http://localhost/events/maps?${query}`, {
    fetch: balancer.fetch,
    retryMs: () => random.pick([10, 300, 2_000]),
  });
  const selects = ({ metadata }: KubernetesObject): boolean =>
    (tier === undefined || metadata.labels?.tier === tier) &&
    (namespace === undefined || metadata.namespace === namespace);
  return { copy, selects };
}

/**
 * Plays a random history with a fake server below, three relays that restart, break their connections and fall behind,
 * and clients above them, which come to another relay with each connection. Throws when a copy does not become equal to
 * the server, or an object's version goes back or comes twice.
 *
 * @returns The reconnections of the clients.
 */
export async function playReplicas(seed: number): Promise<Reconnections> {
  using _random = seedGlobals(seed);
  using time = new FakeTime();
  const random = new Random(seed ^ 0x7e57);
  using server = new FakeApiServer({
    history: random.pick([20, 10_000]),
    chunkBytes: random.pick([7, 65_536]),
    bookmarkMs: 10_000,
    seed,
  });
  const namespaces = random.pick([undefined, undefined, ["a", "b"]]);
  const options = {
    maxBytes: random.pick([4_000, 134_217_728]),
    collections: { maps: { resource: ConfigMap, ...namespaces && { namespaces } } },
    onError: () => {}, // comparisons with a server that refuses them
  };
  const replicas = Array.from({ length: 3 }, () => new FakeReplica(server, options, seed % 2 === 0));
  const clients = Array.from({ length: 4 }, () => clientOf(new Balancer(replicas), random));
  const lasting: Disposable[] = [];
  try {
    // What a server loses, clients of other relays do not learn of.
    const steps = history(seed, { faults: random.pick(["none", "harmless", "all"]) }).filter((it) => it.do !== "lose");
    for (const step of steps) {
      const until = perform(server, ConfigMap, step);
      if (until !== undefined) lasting.push(until);
      await disturb(random, replicas, clients);
      await time.tickAsync(random.pick([0, 0, 1, 30, 1_000, 12_000]));
    }
    for (const each of lasting.splice(0)) each[Symbol.dispose]();
    perform(server, ConfigMap, { do: "latency", ms: 0 });
    for (const replica of replicas) {
      replica.release();
      if (!replica.isUp) replica.start();
    }
    await settle(server, clients, time);
    for (const { copy } of clients) assertEquals(copy.problems, []);
    return totalOf(clients.map(({ copy }) => copy));
  } finally {
    for (const each of lasting) each[Symbol.dispose]();
    const ended = Promise.all(clients.map(({ copy }) => copy[Symbol.asyncDispose]()));
    await time.tickAsync(0);
    await ended;
    for (const replica of replicas) await replica[Symbol.asyncDispose]();
  }
}

/** Disturbs a relay or a client, by chance. */
async function disturb(
  random: Random,
  replicas: readonly FakeReplica[],
  clients: readonly Client[],
): Promise<void> {
  const replica = random.pick(replicas);
  const chance = random.next();
  if (chance < 0.04) {
    if (replica.isUp) await replica.kill();
  } else if (chance < 0.12) {
    for (const each of replicas) if (!each.isUp) each.start();
  } else if (chance < 0.2) replica.hold();
  else if (chance < 0.32) {
    for (const each of replicas) each.release();
  } else if (chance < 0.4) replica.drop();
  else if (chance < 0.55) random.pick(clients).copy.drop();
}

/** The versions of the objects that a client asks for, by their keys. */
function versionsOf(objects: Iterable<KubernetesObject>): Record<string, string | undefined> {
  const entries = Array.from(objects, ({ metadata }): [string, string | undefined] => {
    return [`${metadata.namespace}/${metadata.name}`, metadata.resourceVersion];
  });
  return Object.fromEntries(entries.sort(([a], [b]) => a < b ? -1 : 1));
}

/** Lets time pass until the copies are equal to the server. */
async function settle(server: FakeApiServer, clients: readonly Client[], time: FakeTime): Promise<void> {
  const differing = (): Client | undefined =>
    clients.find(({ copy, selects }) =>
      !copy.isSynced || JSON.stringify(versionsOf(copy.objects.values())) !==
        JSON.stringify(versionsOf(server.list(ConfigMap).filter(selects)))
    );
  for (let seconds = 0; seconds < MAX_SECONDS && differing() !== undefined; seconds++) await time.tickAsync(1_000);
  const client = differing();
  if (client === undefined) return;
  assert(client.copy.isSynced, "a copy has not synced");
  assertEquals(versionsOf(client.copy.objects.values()), versionsOf(server.list(ConfigMap).filter(client.selects)));
}
