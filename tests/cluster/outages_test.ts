import { type Client, isExpired, SharedIndexInformer } from "@kube/informer";
import { connect } from "@kube/informer/connect";
import { ConfigMap, Pod } from "@kube/informer/kinds/core/v1";
import type { ReflectorOptions } from "@kube/informer/types";
import { assert, assertEquals } from "@std/assert";
import { delay } from "@std/async";
import { assertEqualToServer } from "../support/cluster/compare.ts";
import type { BreakableControlPlane } from "../support/cluster/control_plane.ts";
import { EventChecker } from "../support/cluster/event_checker.ts";
import { Phases } from "../support/cluster/phases.ts";
import { untilStatus, withDeadline } from "../support/cluster/with_deadline.ts";
import { forEach, mapDraft, names, podDraft, settle } from "../support/cluster/writers.ts";
import { FaultProxy } from "../support/recovery/fault_proxy.ts";
import { DISCONNECTS } from "../support/recovery/fault_schedule.ts";
import { MarkerWriter } from "../support/recovery/marker.ts";
import { assertRecovery, InformerFollower, PATIENCE_MS, recoveriesOf } from "../support/recovery/recovery.ts";
import { CRASHES, SCENARIOS } from "../support/scenarios/suite.ts";
import { clusterTests, type PlaneSetting, report, seconds, STREAMS } from "./_cluster.ts";
import { ClusterScenarioServer, CrashableClusterServer } from "./_cluster_scenario_server.ts";
import { needsOf } from "./_versions.ts";

// Crashes, restarts, silence, a compacted history: in the end each cache is equal to the server.

// Open watches end when the server shuts down, as behind a load balancer; otherwise they would stay open for a minute.
const cluster = clusterTests({ flags: ["--shutdown-watch-termination-grace-period=2s"] });

/** A silence that is too short to count as the end of the connection. */
const SILENCE_MS = 2_000;

/** Two informers that observe an outage, and the events that they delivered. */
class Observed implements AsyncDisposable {
  readonly pods: SharedIndexInformer<Pod>;
  readonly maps: SharedIndexInformer<ConfigMap>;
  readonly phases = { pods: new Phases(), maps: new Phases() };
  readonly errors: unknown[] = [];
  readonly #client: Client;
  readonly #namespace: string;
  readonly #checkers: { end(): Promise<readonly string[]> }[];

  constructor({ client, namespace }: Pick<PlaneSetting, "client" | "namespace">, options: ReflectorOptions = {}) {
    this.#client = client;
    this.#namespace = namespace;
    const onError = (error: unknown): number => this.errors.push(error);
    this.pods = new SharedIndexInformer(client.resource(Pod, { namespace }), {
      onError,
      reflector: { ...options, streamingList: "off", onPhase: this.phases.pods.onPhase },
    });
    this.maps = new SharedIndexInformer(client.resource(ConfigMap, { namespace }), {
      onError,
      reflector: { ...options, onPhase: this.phases.maps.onPhase },
    });
    this.#checkers = [new EventChecker(this.pods), new EventChecker(this.maps)];
  }

  async begin(): Promise<void> {
    await this.write("first", 20);
    this.run();
    await withDeadline(
      "the first syncs",
      (signal) => Promise.all([this.pods.waitForCacheSync({ signal }), this.maps.waitForCacheSync({ signal })]),
    );
  }

  run(): void {
    this.pods.run();
    this.maps.run();
  }

  /** Creates `count` pods and config maps. */
  async write(prefix: string, count: number): Promise<void> {
    const namespace = this.#namespace;
    await forEach(names(prefix, count), async (name) => {
      await this.#client.resource(Pod, { namespace }).create(podDraft(name));
      await this.#client.resource(ConfigMap, { namespace }).create(mapDraft(name));
    });
  }

  /** Deletes objects that `write` created. */
  async delete(prefix: string, count: number): Promise<void> {
    const namespace = this.#namespace;
    await forEach(names(prefix, count), async (name) => {
      await this.#client.resource(Pod, { namespace }).delete(name, { gracePeriodSeconds: 0 });
      await this.#client.resource(ConfigMap, { namespace }).delete(name);
    });
  }

  /** Waits until both caches have all writes. */
  async settle(): Promise<void> {
    await settle([this.pods], this.#client, Pod, this.#namespace);
    await settle([this.maps], this.#client, ConfigMap, this.#namespace);
  }

  /**
   * Fails unless both caches become equal to the server and their events have no gaps. Returns the time that this took.
   */
  async check(startedAt: number): Promise<string> {
    await this.settle();
    const took = seconds(startedAt);
    await assertEqualToServer(this.pods, this.#client, Pod, { namespace: this.#namespace });
    await assertEqualToServer(this.maps, this.#client, ConfigMap, { namespace: this.#namespace });
    for (const checker of this.#checkers) assertEquals(await checker.end(), []);
    return took;
  }

  /** Fails if either has listed more than once since its first list. */
  assertOneMoreList(): void {
    const { pods, maps } = this.phases;
    assert(pods.completeLists <= 2 && maps.completeLists <= 2, this.summary);
  }

  /** The numbers of lists, watches and failures, in one line. */
  get summary(): string {
    return ([["pods", this.pods], ["config maps", this.maps]] as const).map(([name, informer]) => {
      const { completeLists, failures } = name === "pods" ? this.phases.pods : this.phases.maps;
      return `${name}: ${completeLists} lists, ${informer.status().watches} watches, ${failures} waits`;
    }).join("; ");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.pods[Symbol.asyncDispose]();
    await this.maps[Symbol.asyncDispose]();
  }
}

/** An interruption between writes, after which both caches become equal to the server. */
interface Outage {
  readonly name: string;
  readonly http2?: true;
  /** Ends the server; resolves when it has ended, or the informers have noticed. */
  readonly end: (plane: BreakableControlPlane, observed: Observed) => Promise<unknown>;
  /** The prefix of ten pods and config maps that are deleted once the server is back. */
  readonly deleted?: "first" | "before";
}

async function kill(plane: BreakableControlPlane, { pods }: Observed): Promise<void> {
  await plane.kill9("apiserver");
  await untilStatus(pods, "a state that reports the crash", ({ state }) => state === "unreachable");
}

const OUTAGES: readonly Outage[] = [
  {
    name: "recovers when the API server is killed, with writes before and after",
    end: kill,
    deleted: "first",
  },
  {
    name: "recovers when etcd is killed, with writes before and after",
    end: (plane) => plane.kill9("etcd"),
    deleted: "before",
  },
  {
    name: "resumes when the API server shuts down in the middle of a watch",
    end: (plane) => plane.terminate("apiserver"),
  },
  {
    name: "recovers over HTTP/2 when the API server is killed",
    http2: true,
    end: kill,
    deleted: "first",
  },
];

for (const { name, http2, end, deleted } of OUTAGES) {
  cluster.withPlane(`SharedIndexInformer ${name}`, async (setting) => {
    const { namespace, plane } = setting;
    const client = http2 ? await setting.connect({ http2 }) : setting.client;
    await using observed = new Observed({ client, namespace });
    await observed.begin();
    await observed.write("before", 20);
    const startedAt = performance.now();
    await end(plane, observed);
    const ended = seconds(startedAt);
    await plane.ensureRunning();
    const ready = seconds(startedAt);
    if (deleted !== undefined) await observed.delete(deleted, 10);
    await observed.write("after", 20);
    const took = await observed.check(startedAt);
    observed.assertOneMoreList();
    report(`${name}: ended after ${ended}, back after ${ready}, caches after ${took}. ${observed.summary}`);
  });
}

cluster.withPlane("SharedIndexInformer detects a server that is silent beyond the idle limit", async (setting) => {
  const { client, namespace, plane } = setting;
  const limits = { watchTimeoutMs: 1_000, listIdleMs: 2_000 };
  await using observed = new Observed(setting, limits);
  await observed.begin();
  await observed.settle();
  const startedAt = performance.now();
  await plane.pause("apiserver");
  // They start when the server no longer answers, and report that before they have a cache.
  await using late = new Observed(setting, limits);
  late.run();
  for (const informer of [late.pods, late.maps]) {
    const { listing } = await untilStatus(informer, "a late informer", ({ state }) => state === "unreachable");
    assertEquals([informer.hasSynced, listing], [false, undefined]);
  }
  const noticedList = seconds(startedAt);
  const statuses = await Promise.all(
    [observed.pods, observed.maps].map((informer) =>
      untilStatus(informer, "a state that reports the silence", ({ state }) => state === "unreachable")
    ),
  );
  const noticed = seconds(startedAt);
  assertEquals(observed.pods.lister.namespace(namespace).list().length, 21); // cached objects stay readable
  await plane.resume("apiserver");
  const resumedAt = performance.now();
  await client.resource(Pod, { namespace }).create(podDraft("after"));
  const took = await observed.check(resumedAt);
  await late.check(resumedAt);
  report(`silent server noticed by watches after ${noticed} (${(statuses[0].cause as Error).message})`);
  report(`and by first lists after ${noticedList}; caches equal ${took} after it continued. ${observed.summary}`);
});

cluster.withPlane("SharedIndexInformer lists once when its history was compacted during a restart", async (setting) => {
  const { plane } = setting;
  await using observed = new Observed(setting);
  await observed.begin();
  await observed.write("before", 20);
  await observed.settle();
  const startedAt = performance.now();
  await plane.kill9("apiserver");
  // Moves etcd's revision too, so that the server begins its watch cache behind what the informers have seen.
  await plane.compact();
  await plane.ensureRunning();
  await observed.delete("first", 20);
  const took = await observed.check(startedAt);
  assertEquals([observed.phases.pods.completeLists, observed.phases.maps.completeLists], [2, 2], observed.summary);
  report(`compacted during a restart: caches after ${took}. ${observed.summary}`);
});

cluster.withPlane(
  "ResourceClient.follow resumes after a silence, and with a list after an expired error misses nothing over a restart",
  async (setting) => {
    const { client, namespace, plane } = setting;
    const collection = client.resource(ConfigMap, { namespace });
    const seen = new Set<string>();
    const last = "zz-last";
    let lists = 0;
    let interruptions = 0;
    // As a program without an informer does it: list, follow, and list again when the version has expired.
    const following = withDeadline("the last write", async (signal) => {
      while (!seen.has(last)) {
        const { items, resourceVersion } = await collection.list({ signal });
        lists++;
        for (const { metadata } of items) seen.add(metadata.name);
        try {
          for await (
            const event of collection.follow({
              resourceVersion,
              signal,
              onInterrupted: () => interruptions++,
            })
          ) {
            if (event.type !== "BOOKMARK") seen.add(event.object.metadata.name);
            if (seen.has(last)) break;
          }
        } catch (error) {
          if (!isExpired(error)) throw error;
        }
      }
    });
    await collection.create(mapDraft("a-first"));
    await plane.pause("apiserver");
    const paused = collection.create(mapDraft("b-paused"));
    await delay(SILENCE_MS);
    await plane.resume("apiserver");
    await paused;
    const startedAt = performance.now();
    await plane.kill9("apiserver");
    await plane.ensureRunning();
    await collection.create(mapDraft("c-after"));
    await collection.create(mapDraft(last));
    await following;
    assertEquals([...seen].sort(), ["a-first", "b-paused", "c-after", last]);
    report(`followed over a kill in ${seconds(startedAt)}: ${lists} lists, ${interruptions} interruptions`);
  },
);

cluster.withPlane(
  "SharedIndexInformer recovers from random network faults over TLS within seconds, without a relist",
  async ({ client, kubeconfig, plane }) => {
    await using _marker = new MarkerWriter(client);
    const recoveries = await Promise.all([...DISCONNECTS].map(async ([seed, schedule]) => {
      const proxy = new FaultProxy(plane.url);
      await using follower = new InformerFollower(proxy, await connect({ kubeconfig, server: proxy.url }));
      const [recovery] = await recoveriesOf(schedule, [follower], PATIENCE_MS);
      const percent = Math.round(recovery.share * 100);
      report(`seed ${seed}: current ${percent} % of the time, recovered in ${recovery.recoveryMs} ms`);
      return { seed, recovery };
    }));
    for (const { seed, recovery } of recoveries) assertRecovery(recovery, `seed ${seed}`, STREAMS ? 1 : 2);
  },
);

// The scenarios that tests/simulation/scenarios/fake_test.ts plays on the fake API server, on a real one: what holds
// there holds here.

for (const { name, needsStreams, run } of SCENARIOS) {
  cluster.anywhere(
    `${name}: the suite`,
    async (setting) => report(await run(new ClusterScenarioServer(setting))),
    ...needsOf(needsStreams ? "on" : "off"),
  );
}

for (const { name, needsStreams, run } of CRASHES) {
  cluster.withPlane(
    `${name}: the suite`,
    async (setting) => report(await run(new CrashableClusterServer(setting))),
    ...needsOf(needsStreams ? "on" : "off"),
  );
}
