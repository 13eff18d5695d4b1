import { type Client, SharedIndexInformer } from "@kube/informer";
import { connect } from "@kube/informer/connect";
import { ConfigMap, Pod, Secret, Service, ServiceAccount } from "@kube/informer/kinds/core/v1";
import { assert, assertEquals } from "@std/assert";
import { delay } from "@std/async";
import { runSynced, untilStatus, withDeadline } from "../support/cluster/with_deadline.ts";
import { mapDraft } from "../support/cluster/writers.ts";
import { FaultProxy } from "../support/recovery/fault_proxy.ts";
import { clusterTests, type PlaneSetting, report, seconds } from "./_cluster.ts";

// A proxy between client and server swallows bytes: connections stay open, and nothing comes on them. Everything has
// default options, so that what is found here is found in use. The cases run side by side, as each takes its time.

const cluster = clusterTests();

/** The time within which a watch of one dead connection is replaced, in milliseconds. */
const CONNECTION_MS = 90_000;

/** Informers of five kinds behind a proxy of their own, while somebody writes a config map every 2 s. */
class Behind implements AsyncDisposable {
  readonly maps: SharedIndexInformer<ConfigMap>;
  readonly all: readonly SharedIndexInformer<Pod>[];
  readonly proxy: FaultProxy;
  readonly #client: Client;
  readonly #direct: Client;
  readonly #namespace: string;
  readonly #stop = new AbortController();
  #writing: Promise<void> | undefined;

  private constructor(proxy: FaultProxy, client: Client, { client: direct, namespace }: PlaneSetting) {
    this.proxy = proxy;
    this.#client = client;
    this.#direct = direct;
    this.#namespace = namespace;
    const onError = (): void => {}; // failures are what the tests are about
    this.maps = new SharedIndexInformer(client.resource(ConfigMap, { namespace }), { onError });
    const others = [Pod, Service, ServiceAccount, Secret].map((kind) =>
      new SharedIndexInformer(client.resource(kind as typeof Pod), { onError })
    );
    this.all = [this.maps as unknown as SharedIndexInformer<Pod>, ...others];
  }

  static async open(setting: PlaneSetting): Promise<Behind> {
    const proxy = new FaultProxy(setting.plane.url);
    const client = await connect({ kubeconfig: setting.kubeconfig, server: proxy.url });
    const behind = new Behind(proxy, client, setting);
    await Promise.all(behind.all.map((informer) => runSynced(informer)));
    behind.#writing = behind.#write();
    return behind;
  }

  /** Creates a config map, and resolves with the time until the informer has it, in milliseconds. */
  async deafness(name: string): Promise<number> {
    const beganMs = performance.now();
    const { maps } = this;
    await this.#direct.resource(ConfigMap, { namespace: this.#namespace }).create(mapDraft(name));
    await withDeadline(
      `"${name}"`,
      (signal) => maps.until(() => true, { key: `${this.#namespace}/${name}`, signal }),
      CONNECTION_MS + 20_000,
    );
    return performance.now() - beganMs;
  }

  /** Creates a config map, and resolves when the informer has it: the last bytes were those of its watch. */
  async heard(name: string): Promise<void> {
    await this.deafness(name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#writing;
    await Promise.all(this.all.map((informer) => informer[Symbol.asyncDispose]()));
    this.#client[Symbol.dispose]();
    await this.proxy[Symbol.asyncDispose]();
  }

  async #write(): Promise<void> {
    const maps = this.#direct.resource(ConfigMap, { namespace: this.#namespace });
    const { signal } = this.#stop;
    await maps.create(mapDraft("written"));
    for (let n = 0; !signal.aborted; n++) {
      await maps.patch("written", { type: "merge", body: { data: { n: String(n) } } });
      await delay(2_000, { signal }).catch(() => {});
    }
  }
}

cluster.withPlane(
  "after a suspension, dead connections are replaced within seconds, and informers stay live [F01]",
  async (setting) => {
    await using behind = await Behind.open(setting);
    const { maps, all, proxy } = behind;
    await behind.heard("first");
    proxy.silence("all");
    const now = Date.now;
    const beganMs = performance.now();
    Date.now = () => now() + 3_600_000;
    try {
      const deafMs = await behind.deafness("b");
      assert(deafMs < 12_000, `deaf for ${deafMs} ms`);
      report(`after a suspension: informed after ${seconds(beganMs)}`);
      assertEquals(all.map((informer) => informer.status().state), all.map(() => "live"));
      assertEquals(maps.status().connections!.renewals, 1);
    } finally {
      Date.now = now;
    }
  },
);

const CASES: Readonly<Record<string, (setting: PlaneSetting) => Promise<string>>> = {
  "the path to the server is dead": async (setting) => {
    await using behind = await Behind.open(setting);
    const { all, proxy } = behind;
    await behind.heard("first");
    proxy.hold();
    const beganMs = performance.now();
    await Promise.all(
      all.map((informer) => untilStatus(informer, "a stale informer", ({ state }) => state === "stale")),
    );
    const staleMs = performance.now() - beganMs;
    assert(staleMs <= 45_000, `live for ${staleMs} ms`);
    proxy.heal();
    await behind.deafness("b");
    return `stale after ${Math.round(staleMs / 1_000)} s, back after ${seconds(beganMs)}`;
  },
  "one connection of five is dead": async (setting) => {
    await using behind = await Behind.open(setting);
    const { maps, proxy } = behind;
    await behind.heard("first");
    proxy.silence("last");
    const deafMs = await behind.deafness("b");
    assert(deafMs <= CONNECTION_MS, `deaf for ${deafMs} ms`);
    assert(deafMs > 30_000, `the proxy has silenced another connection: informed after ${deafMs} ms`);
    assertEquals(maps.status().connections!.renewals, 1);
    return `informed after ${Math.round(deafMs / 1_000)} s`;
  },
  "all connections are dead, and new ones work": async (setting) => {
    await using behind = await Behind.open(setting);
    const { maps, all, proxy } = behind;
    await behind.heard("first");
    proxy.silence("all");
    const deafMs = await behind.deafness("b");
    assert(deafMs <= CONNECTION_MS, `deaf for ${deafMs} ms`);
    assert(maps.status().connections!.renewals >= 1);
    const states = all.map((informer) => informer.status().state);
    return `informed after ${Math.round(deafMs / 1_000)} s; ${states.join(", ")}`;
  },
  "a streaming list is cut off from the server": async (setting) => {
    const proxy = new FaultProxy(setting.plane.url);
    await using _proxy = proxy;
    const { namespace } = setting;
    const written = setting.client.resource(ConfigMap, { namespace });
    for (let n = 0; n < 12; n++) {
      await written.create({ metadata: { name: `large-${n}` }, data: { text: "x".repeat(900_000) } });
    }
    using client = await connect({ kubeconfig: setting.kubeconfig, server: proxy.url });
    await using maps = new SharedIndexInformer(client.resource(ConfigMap, { namespace }), { onError: () => {} });
    proxy.silenceAfter(3_000_000);
    void maps.run();
    const beganMs = performance.now();
    await withDeadline("the first sync", (signal) => maps.waitForCacheSync({ signal }));
    assert(performance.now() - beganMs <= 45_000, `synced after ${seconds(beganMs)}`);
    assertEquals(maps.lister.list().filter(({ metadata }) => metadata.name.startsWith("large")).length, 12);
    assertEquals(maps.status().watches - maps.status().completedLists, 1); // one list was given up
    return `synced after ${seconds(beganMs)}`;
  },
};

cluster.withPlane(
  "with default options, a dead path is noticed within 45 s, and a dead connection within 90 s [F01] [F03]",
  async (setting) => {
    const found = await Promise.allSettled(
      Object.entries(CASES).map(async ([name, run]) => {
        const namespace = await setting.newNamespace();
        const own = {
          ...setting,
          client: setting.client,
          plane: setting.plane,
          kubeconfig: setting.kubeconfig,
          namespace,
        };
        report(`${name}: ${await run(own as PlaneSetting)}`);
      }),
    );
    const failures = found.flatMap((it) => it.status === "rejected" ? [it.reason] : []);
    if (failures.length > 0) throw new AggregateError(failures, failures.map(String).join("; "));
  },
);
