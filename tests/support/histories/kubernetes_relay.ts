import {
  Client,
  type KubernetesObject,
  onlyFields,
  onlyMetadata,
  type Resource,
  SharedIndexInformer,
  SharedInformerFactory,
} from "@kube/informer";
import { ConfigMap } from "@kube/informer/kinds/core/v1";
import { InformerRelay } from "@kube/informer/relay";
import { FakeApiServer, history, perform } from "@kube/informer/testing";
import { assert, assertEquals } from "@std/assert";
import { compareResourceVersions } from "../../../src/engine/api/status.ts";
import { Random, seedGlobals } from "../../../src/testing/fake/random.ts";
import { FakeTime } from "../times/fake_time.ts";

const LOCAL = { remoteAddr: { hostname: "127.0.0.1" } };

/** The time that caches have to become equal, in steps of a second, once no more faults come. */
const MAX_SECONDS = 900;

/** A relay of config maps, which is replaced by another one when its process restarts. */
class RestartedRelay implements AsyncDisposable {
  readonly #client: Client;
  readonly #maxBytes: number;
  readonly #compact: boolean;
  #informers: SharedInformerFactory;
  #relay: InformerRelay;
  /** The bodies of open answers, by which connections break. */
  readonly #open = new Set<AbortController>();

  constructor(server: FakeApiServer, maxBytes: number, compact: boolean) {
    this.#compact = compact;
    this.#maxBytes = maxBytes;
    this.#client = new Client({ server: "http://fake", transport: server });
    [this.#informers, this.#relay] = this.#begin();
  }

  #begin(): [SharedInformerFactory, InformerRelay] {
    const informers = new SharedInformerFactory(this.#client, {
      compact: this.#compact,
      onError: () => {},
      idleTimeoutMs: 5_000,
    });
    const relay = new InformerRelay(informers, {
      collections: { maps: ConfigMap },
      maxBytes: this.#maxBytes,
      heartbeatMs: 7_000,
      onError: (error) => {
        throw error;
      },
    });
    return [informers, relay];
  }

  async fetch(request: Request): Promise<Response> {
    request.signal.throwIfAborted();
    const response = await this.#relay.fetch(new Request(request.url, request), LOCAL);
    if (response.body === null) return response;
    const connection = new AbortController();
    this.#open.add(connection);
    const broken = (): void => connection.abort(request.signal.reason);
    request.signal.addEventListener("abort", broken, { once: true });
    const { readable, writable } = new TransformStream();
    response.body.pipeTo(writable, { signal: connection.signal }).then(undefined, () => undefined).finally(() => {
      this.#open.delete(connection);
      request.signal.removeEventListener("abort", broken);
    });
    return new Response(readable, { status: response.status, headers: response.headers });
  }

  /** Breaks the connections of clients. */
  drop(): void {
    for (const connection of this.#open) connection.abort(new TypeError("the connection was broken"));
  }

  /** Ends the process without a word, and starts another one. */
  async restart(): Promise<void> {
    this.drop();
    await this.#stop();
    [this.#informers, this.#relay] = this.#begin();
  }

  async #stop(): Promise<void> {
    await this.#relay[Symbol.asyncDispose]();
    await this.#informers[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stop();
    this.#client[Symbol.dispose]();
  }
}

/** An informer that reads through the relay. */
interface Reader {
  readonly informer: SharedIndexInformer<KubernetesObject>;
  readonly tier: string | undefined;
  readonly namespace: string | undefined;
  readonly isComplete: boolean;
  /** The events that show an older version. */
  readonly problems: string[];
}

function readerOf(client: Client, random: Random, compact: boolean): Reader {
  const form = random.pick(["complete", "complete", "metadata", "fields"] as const);
  const resource: Resource<KubernetesObject> = form === "metadata"
    ? onlyMetadata(ConfigMap)
    : form === "fields"
    ? onlyFields(ConfigMap, ["data.value"]) as Resource<KubernetesObject>
    : ConfigMap;
  const tier = random.pick([undefined, undefined, "web"]);
  const namespace = random.pick([undefined, undefined, "a"]);
  const selection = { namespace, labelSelector: tier && `tier=${tier}` };
  const informer = new SharedIndexInformer(client.resource(resource, selection), {
    compact,
    onError: () => {},
    reflector: { streamingList: random.pick(["on", "off", "auto"]), pageSize: random.pick([2, 3, 500]) },
  });
  const problems: string[] = [];
  const versions = new Map<string, string>();
  const check = ({ key, resourceVersion }: { readonly key: string; readonly resourceVersion: string }): void => {
    const before = versions.get(key);
    if (before !== undefined && compareResourceVersions(resourceVersion, before) < 0) {
      problems.push(`${key} went back from ${before} to ${resourceVersion}`);
    }
    versions.set(key, resourceVersion);
  };
  informer.addEventHandler({ onAdd: check, onUpdate: check, onDelete: check });
  return { informer, tier, namespace, isComplete: form === "complete", problems };
}

/** The expected cache of a reader: the versions of objects, or the objects. */
function expected(server: FakeApiServer, { tier, namespace, isComplete }: Reader): Record<string, unknown> {
  const objects = server.list(ConfigMap).filter(({ metadata }) =>
    (namespace === undefined || metadata.namespace === namespace) &&
    (tier === undefined || metadata.labels?.tier === tier)
  );
  return byKey(objects, isComplete);
}

function byKey(objects: readonly KubernetesObject[], isComplete: boolean): Record<string, unknown> {
  const entries = objects.map((object): [string, unknown] => {
    const { namespace, name, resourceVersion, uid, managedFields: _, ...metadata } = object.metadata;
    const value = isComplete ? { ...object, metadata: { ...metadata, resourceVersion } } : `${uid} ${resourceVersion}`;
    return [`${namespace}/${name}`, value];
  });
  return Object.fromEntries(entries.sort(([a], [b]) => a < b ? -1 : 1));
}

/**
 * Plays a random history with a fake server below, a relay that restarts and whose connections break, and informers
 * above it. Throws when a cache does not become equal to the server, or an object's version goes back.
 *
 * @returns The number of requests to the relay.
 */
export async function playRelayed(seed: number): Promise<number> {
  using _random = seedGlobals(seed);
  using time = new FakeTime();
  const random = new Random(seed ^ 0x5eed);
  using server = new FakeApiServer({
    history: random.pick([20, 10_000]),
    chunkBytes: random.pick([7, 65_536]),
    bookmarkMs: 10_000,
    seed,
  });
  await using relay = new RestartedRelay(server, random.pick([4_000, 134_217_728]), seed % 2 === 0);
  let requests = 0;
  const transport = {
    fetch: (request: Request): Promise<Response> => {
      requests++;
      return relay.fetch(request);
    },
  };
  using client = new Client({ server: "http://localhost/kubernetes", transport });
  const readers = Array.from({ length: 3 }, (_, i) => readerOf(client, random, (seed + i) % 2 === 0));
  const lasting: Disposable[] = [];
  try {
    for (const { informer } of readers) informer.run().then(undefined, () => undefined);
    for (const step of history(seed, { faults: random.pick(["none", "harmless", "all"]) })) {
      const until = perform(server, ConfigMap, step);
      if (until !== undefined) lasting.push(until);
      const chance = random.next();
      if (chance < 0.03) await relay.restart();
      else if (chance < 0.1) relay.drop();
      await time.tickAsync(random.pick([0, 0, 1, 30, 1_000, 12_000]));
    }
    for (const each of lasting.splice(0)) each[Symbol.dispose]();
    perform(server, ConfigMap, { do: "latency", ms: 0 });
    await settle(server, readers, time);
    for (const { problems } of readers) assertEquals(problems, []);
  } finally {
    for (const each of lasting) each[Symbol.dispose]();
    for (const { informer } of readers) await informer[Symbol.asyncDispose]();
  }
  return requests;
}

/** Lets time pass until the caches are equal to the server. */
async function settle(server: FakeApiServer, readers: readonly Reader[], time: FakeTime): Promise<void> {
  for (let seconds = 0; seconds < MAX_SECONDS; seconds++) {
    if (readers.every((reader) => isEqual(server, reader))) return;
    await time.tickAsync(1_000);
  }
  for (const reader of readers) {
    const { informer, isComplete } = reader;
    assert(informer.hasSynced, `a reader has not synced: ${informer.status().cause}`);
    assertEquals(byKey(informer.lister.list(), isComplete), expected(server, reader));
  }
}

function isEqual(server: FakeApiServer, reader: Reader): boolean {
  const { informer, isComplete } = reader;
  if (!informer.hasSynced) return false;
  const wanted = expected(server, reader);
  return JSON.stringify(byKey(informer.lister.list(), isComplete)) === JSON.stringify(wanted);
}
