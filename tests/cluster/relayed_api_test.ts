// A relay as an API server, of a real cluster: informers and kubectl read through it, while servers and relays end.
import {
  Client,
  type KubernetesObject,
  onlyFields,
  onlyMetadata,
  type Resource,
  SharedIndexInformer,
  SharedInformerFactory,
} from "@kube/informer";
import { FetchServer } from "@kube/informer/connect";
import { ConfigMap, Pod } from "@kube/informer/kinds/core/v1";
import { InformerRelay } from "@kube/informer/relay";
import { assert, assertEquals } from "@std/assert";
import { compareResourceVersions } from "../../src/engine/api/status.ts";
import { assertEqualToServer } from "../support/cluster/compare.ts";
import { runSynced, untilStatus } from "../support/cluster/with_deadline.ts";
import { forEach, mapDraft, names, settle, writeAtRandom } from "../support/cluster/writers.ts";
import { ASSETS, clusterTests, report, seconds } from "./_cluster.ts";

// Open watches end when the server shuts down, as behind a load balancer; otherwise they would stay open for a minute.
const cluster = clusterTests({ flags: ["--shutdown-watch-termination-grace-period=2s"] });

/** A relay on a port, which can be ended and started again. */
class ServedRelay implements AsyncDisposable {
  readonly #client: Client;
  readonly #errors: unknown[] = [];
  #port = 0;
  #informers!: SharedInformerFactory;
  #relay!: InformerRelay;
  #http!: FetchServer;

  private constructor(client: Client) {
    this.#client = client;
  }

  static async start(client: Client): Promise<ServedRelay> {
    const served = new ServedRelay(client);
    await served.start();
    return served;
  }

  get address(): string {
    return `http://127.0.0.1:${this.#port}/kubernetes`;
  }

  /** The number of watches of the server that its informers have begun. */
  get watches(): number {
    return this.#informers.status().reduce((sum, { status }) => sum + status.watches, 0);
  }

  async start(): Promise<void> {
    this.#informers = new SharedInformerFactory(this.#client, { onError: (error) => this.#errors.push(error) });
    this.#relay = new InformerRelay(this.#informers, { collections: { maps: ConfigMap, pods: Pod } });
    this.#http = await FetchServer.listen(this.#relay.fetch, { port: this.#port });
    this.#port = this.#http.port;
  }

  async stop(): Promise<void> {
    await this.#relay[Symbol.asyncDispose]();
    await this.#http[Symbol.asyncDispose]();
    await this.#informers[Symbol.asyncDispose]();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

/** Starts kubectl, which reads from an address. */
function kubectl(address: string, ...args: string[]): Deno.Command {
  const command = ["--server", address, "--cache-dir", "/dev/null", ...args];
  return new Deno.Command(`${ASSETS}/kubectl`, {
    args: command,
    env: { KUBECONFIG: "/dev/null" },
    stdout: "piped",
    stderr: "piped",
  });
}

async function outputOf(command: Deno.Command): Promise<string> {
  const { code, stdout, stderr } = await command.output();
  assertEquals([code, new TextDecoder().decode(stderr)], [0, ""]);
  return new TextDecoder().decode(stdout);
}

/** Yields JSON values that are written one behind the other, indented, as kubectl does. */
async function* valuesOf(output: ReadableStream<Uint8Array>): AsyncGenerator<KubernetesObject> {
  let text = "";
  for await (const part of output.pipeThrough(new TextDecoderStream())) {
    text += part;
    for (let end = text.indexOf("\n}\n"); end >= 0; end = text.indexOf("\n}\n")) {
      yield JSON.parse(text.slice(0, end + 2));
      text = text.slice(end + 3);
    }
  }
}

cluster.withPlane("kubectl reads through a relay what it reads from the server, and watches", async (setting) => {
  const { client, namespace, kubeconfig } = setting;
  await forEach(names("map", 20), (name) => client.resource(ConfigMap, { namespace }).create(mapDraft(name)));
  await using relay = await ServedRelay.start(client);
  const get = ["get", "configmaps", "-n", namespace, "-o", "json"];
  const direct = new Deno.Command(`${ASSETS}/kubectl`, { args: ["--kubeconfig", kubeconfig, ...get] });
  const [relayed, expected] = [await outputOf(kubectl(relay.address, ...get)), await outputOf(direct)];
  assertEquals(JSON.parse(relayed), JSON.parse(expected));
  assertEquals(
    (await outputOf(kubectl(relay.address, "get", "configmaps/map-0001", "-n", namespace, "-o", "name"))).trim(),
    "configmap/map-0001",
  );
  const paged = ["get", "configmaps", "-n", namespace, "-o", "name", "--chunk-size", "3"];
  assertEquals((await outputOf(kubectl(relay.address, ...paged))).trim().split("\n").length, 20);

  const child = kubectl(relay.address, ...get, "--watch").spawn();
  try {
    const seen = new Set<string>();
    for await (const { metadata } of valuesOf(child.stdout)) {
      seen.add(metadata.name);
      if (seen.size === 20) await client.resource(ConfigMap, { namespace }).create(mapDraft("late"));
      if (metadata.name === "late") break;
    }
  } finally {
    child.kill("SIGKILL");
    await child.stderr.cancel();
    await child.status;
  }
  const { code } = await kubectl(relay.address, "delete", "configmap/late", "-n", namespace).output();
  assertEquals(code, 1);
});

cluster.withPlane("caches behind a relay equal the server, after relays and servers were killed", async (setting) => {
  const { client, namespace, plane } = setting;
  await using relay = await ServedRelay.start(client);
  using reader = new Client({ server: relay.address });
  const readers: SharedIndexInformer<KubernetesObject>[] = [];
  const problems: string[] = [];
  const read = (resource: Resource<KubernetesObject>, streamingList: "on" | "off"): void => {
    const source = reader.resource(resource, { namespace });
    const informer = new SharedIndexInformer(source, { onError: () => {}, reflector: { streamingList, pageSize: 7 } });
    const versions = new Map<string, string>();
    const check = ({ key, resourceVersion }: { key: string; resourceVersion: string }): void => {
      const before = versions.get(key) ?? "0";
      if (compareResourceVersions(resourceVersion, before) < 0) problems.push(`${key}: ${resourceVersion} < ${before}`);
      versions.set(key, resourceVersion);
    };
    informer.addEventHandler({ onAdd: check, onUpdate: check, onDelete: check });
    readers.push(informer);
  };
  for (const streamingList of ["on", "off"] as const) {
    read(ConfigMap, streamingList);
    read(onlyMetadata(ConfigMap), streamingList);
    read(onlyFields(ConfigMap, ["data.text"]) as Resource<KubernetesObject>, streamingList);
  }
  const write = (seed: number): Promise<unknown> =>
    Promise.all(
      [1, 2, 3].map((it) =>
        writeAtRandom(client, ConfigMap, namespace, { seed: seed * 10 + it, writes: 100, objects: 30 })
      ),
    );
  const check = async (title: string): Promise<void> => {
    const startedAt = performance.now();
    await settle(readers as unknown as SharedIndexInformer<ConfigMap>[], client, ConfigMap, namespace);
    const took = seconds(startedAt);
    for (const [i, informer] of readers.entries()) {
      const resource = [ConfigMap, onlyMetadata(ConfigMap), onlyFields(ConfigMap, ["data.text"])][i % 3];
      await assertEqualToServer(informer, client, resource as Resource<KubernetesObject>, { namespace });
    }
    report(
      `${title}: ${readers.length} caches behind the relay equal after ${took}; ${relay.watches} watches below it`,
    );
  };
  try {
    await Promise.all(readers.map((informer) => runSynced(informer)));
    await write(1);
    await check("calm");
    assertEquals(relay.watches, 1);

    const writing = write(2);
    await relay.stop();
    await writing;
    await relay.start();
    await check("relay restarted");

    await plane.kill9("apiserver");
    for (const informer of readers) assert(informer.hasSynced);
    await plane.ensureRunning();
    await write(3);
    await check("API server killed");
    for (const informer of readers) await untilStatus(informer, "a live informer", ({ state }) => state === "live");
    assertEquals(problems, []);
  } finally {
    for (const informer of readers) await informer[Symbol.asyncDispose]();
  }
});
