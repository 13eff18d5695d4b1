import type { Client, KubernetesObject } from "@kube/informer";
import { ConfigMap } from "@kube/informer/kinds/core/v1";
import { subscribe, type Subscription } from "@kube/informer/relay/client";
import { delay } from "@std/async";
import { backoffMs } from "../../../src/engine/async/time.ts";
import { withDeadline } from "../cluster/with_deadline.ts";
import { writeAtRandom } from "../cluster/writers.ts";
import { Program } from "../processes/program.ts";
import { CheckedCopy, type Reconnections, totalOf } from "./checked_copy.ts";
import { TcpBalancer } from "./tcp_balancer.ts";

/** The number of relays. */
const RELAYS = 3;

/** The number of names that objects have. */
const OBJECTS = 50;

/** A real server, and how relays of it are killed. */
export interface KilledReplicasOptions {
  readonly kubeconfig: string;
  readonly client: Client;
  /** A namespace that nobody else writes to. */
  readonly namespace: string;
  /** The number of plain clients, to which a tenth more subscriptions come. */
  readonly clients: number;
  /** The time from one relay that is killed to the next, in seconds; it is started again after half of that. */
  readonly seconds: number;
  /** The time between two writes, in milliseconds. */
  readonly writeMs: number;
  /** The number of times that each relay is killed. @default {1} */
  readonly rounds?: number;
}

/** The result of a run. */
export interface KilledReplicas {
  readonly reconnections: Reconnections;
  /** The number of writes. */
  readonly writes: number;
  /** The versions of objects that went back or came twice, and the copies that differ from the server in the end. */
  readonly problems: readonly string[];
}

/** Runs three relays behind a proxy, each a process, and kills them one after the other under clients and writes. */
export async function killReplicas(options: KilledReplicasOptions): Promise<KilledReplicas> {
  const { kubeconfig, client, namespace, clients, seconds, writeMs, rounds = 1 } = options;
  const start = (port: number): Program =>
    new Program("tests/support/replicas/relay_process.ts", [kubeconfig, namespace, String(port)], {}, [
      ...["-A", "--no-check"],
    ]);
  const relays = Array.from({ length: RELAYS }, () => start(0));
  const ports = await Promise.all(relays.map(async (relay) => Number(await relay.until("its port", () => true))));
  await using balancer = new TcpBalancer(ports);
  const stop = new AbortController();
  const copies: CheckedCopy[] = [];
  const subscriptions: Subscription<ConfigMap>[] = [];
  try {
    await Promise.all(ports.map((port) => withDeadline("a ready relay", () => balancer.until(port, true))));
    for (let i = 0; i < clients; i++) {
      copies.push(
        new CheckedCopy(`${balancer.address}/events/maps`, {
          fetch,
          // As subscribe() does after its first failure.
          retryMs: () => backoffMs(0, { initialMs: 500, maxMs: 15_000 }) * (0.5 + Math.random() / 2),
        }),
      );
    }
    for (let i = 0; i < clients / 10; i++) {
      subscriptions.push(subscribe<ConfigMap>(balancer.address, "maps", { onError: () => {} }));
    }
    await until("first snapshots", () => copies.every(({ isSynced }) => isSynced));
    await until("first syncs", () => subscriptions.every(({ hasSynced }) => hasSynced));
    const writing = writeOn(client, namespace, writeMs, stop.signal);
    for (let kill = 0; kill < RELAYS * rounds; kill++) {
      const index = kill % RELAYS;
      await delay(seconds * 500);
      relays[index].kill("SIGKILL");
      await relays[index].code;
      await balancer.until(ports[index], false);
      await delay(seconds * 500);
      relays[index] = start(ports[index]);
      await withDeadline("a ready relay", () => balancer.until(ports[index], true));
    }
    await delay(seconds * 500);
    stop.abort();
    const writes = await writing;
    const expected = versionsOf((await client.resource(ConfigMap, { namespace }).list()).items);
    const differing = (): number =>
      [...copies.map(({ objects }) => [...objects.values()]), ...subscriptions.map(({ lister }) => lister.list())]
        .filter((objects) => versionsOf(objects) !== expected).length;
    await until("equal copies", () => differing() === 0).catch(() => {}); // which is a problem
    const problems = copies.flatMap((copy) => copy.problems);
    if (differing() > 0) problems.push(`${differing()} copies differ from the server`);
    return { reconnections: totalOf(copies), writes, problems };
  } finally {
    stop.abort();
    for (const subscription of subscriptions) subscription[Symbol.dispose]();
    await Promise.all(copies.map((copy) => copy[Symbol.asyncDispose]()));
    for (const relay of relays) await relay[Symbol.asyncDispose]();
  }
}

function until(what: string, holds: () => boolean): Promise<void> {
  return withDeadline(what, async (signal) => {
    while (!holds()) await delay(50, { signal });
  });
}

/** Writes until the signal aborts, and returns the number of writes. */
async function writeOn(client: Client, namespace: string, writeMs: number, signal: AbortSignal): Promise<number> {
  for (let seed = 1;; seed++) {
    await writeAtRandom(client, ConfigMap, namespace, { seed, writes: 1, objects: OBJECTS });
    await delay(writeMs, { signal }).catch(() => {});
    if (signal.aborted) return seed;
  }
}

/** The keys and versions of objects, as a text. */
function versionsOf(objects: Iterable<KubernetesObject>): string {
  return Array.from(objects, ({ metadata: { name, resourceVersion } }) => `${name} ${resourceVersion}`).sort().join();
}
