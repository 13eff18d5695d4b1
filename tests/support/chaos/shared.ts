import { defineResource, type KubernetesObject, requeueAfter, type Resource } from "@kube/informer";
import { ConfigMap } from "@kube/informer/kinds/core/v1";
import { Manager, Reconciler, ShardGroup, withController } from "@kube/informer/reconcile";
import type { FakeApiServer } from "@kube/informer/testing";
import type { ChaosOptions, ProcessContext } from "@kube/informer/testing/chaos";
import type { ListOptions } from "../../../src/engine/api/call_options.ts";
import { sleep } from "../../../src/engine/async/time.ts";
import { Collection } from "../../../src/engine/client/collection.ts";
import { ShardedKeys } from "../../../src/operator/controllers/reconcile/sharded_keys.ts";
import { clockOf } from "./elected.ts";
import { planted } from "./sites.ts";
import { deletes, patches, writes } from "./users.ts";

interface Pool extends KubernetesObject {
  readonly spec: { readonly size: number };
}
const Pool: Resource<Pool> = defineResource<Pool>({
  group: "example.com",
  version: "v1",
  plural: "pools",
  kind: "Pool",
});

const POOLS = ["a", "b", "c", "d", "e"];
const draft = (): { readonly spec: Pool["spec"] } => ({ spec: { size: 2 } });

/** The calls of the processes that share the pools, and what they know of each other's writes. */
export class Shares {
  /** The process that has begun the latest call for a pool, by its uid. */
  readonly latest: Map<string, string> = new Map();
  /** The uids of the pools that each process has been called for. */
  readonly known: Map<string, Set<string>> = new Map();
  /** The processes whose calls for a pool have not returned, by its uid. */
  readonly running: Map<string, Set<string>> = new Map();
  /** The config maps that were created for a pool, and whose creation was answered, by its uid. */
  readonly created: Map<string, Set<string>> = new Map();
  /** The promises that were broken, by processes that knew it. */
  readonly problems: string[] = [];
  #checked = 0;

  /** A call for a pool begins; the result ends it. */
  begin(identity: string, uid: string): Disposable {
    this.latest.set(uid, identity);
    const running = entry(this.running, uid).add(identity);
    entry(this.known, identity).add(uid);
    return { [Symbol.dispose]: () => void running.delete(identity) };
  }

  /** A process has crashed: its calls do nothing any more. */
  crashed(identity: string): void {
    for (const running of this.running.values()) running.delete(identity);
  }

  /** Returns a description of a creation by a process after another one has begun a call for the same pool. */
  foreignWrite({ requests }: FakeApiServer): string | undefined {
    for (; this.#checked < requests.length; this.#checked++) {
      const { verb, resource, headers, body } = requests[this.#checked];
      if (verb !== "create" || resource !== "configmaps" || body === undefined) continue; // or it was refused
      const { metadata } = JSON.parse(body) as KubernetesObject;
      const { uid, name } = metadata.ownerReferences![0];
      const [identity, latest] = [headers.get("user-agent"), this.latest.get(uid)];
      if (identity !== latest) return `${identity} creates a config map of "${name}", and ${latest} was called since`;
    }
  }
}

function entry(map: Map<string, Set<string>>, key: string): Set<string> {
  const known = map.get(key) ?? new Set<string>();
  map.set(key, known);
  return known;
}

/** Brings each pool to its size, by config maps of random names; the processes divide the pools by uid. */
async function run({ client, signal, identity, world }: ProcessContext<Shares>): Promise<void> {
  signal.addEventListener("abort", () => {
    if (String(signal.reason).includes("crashed")) world.crashed(identity);
  }, { once: true });
  const shards = new ShardGroup(client, { name: "pools", namespace: "default", identity, clock: clockOf(identity) });
  const pools = new Reconciler(client, Pool, async ({ key, object: pool, client, cache, signal: call }) => {
    if (pool === undefined) return cleanUp(key);
    const { uid, name } = pool.metadata;
    using _call = world.begin(identity, uid);
    const maps = client.resource(ConfigMap, { namespace: "default" });
    const isOwn = ({ metadata }: KubernetesObject): boolean => metadata.ownerReferences?.[0]?.uid === uid;
    const own = cache(ConfigMap).list().filter(isOwn).map(({ metadata }) => metadata);
    for (const { name, uid } of own.slice(pool.spec.size)) await maps.delete(name, { preconditions: { uid } });
    if (own.length >= pool.spec.size) return requeueAfter(20_000);
    const lacks = [...entry(world.created, uid)].find((it) =>
      !it.includes(`-${identity}-`) && !own.some(({ name }) => name === it) && exists(it)
    );
    if (lacks !== undefined) world.problems.push(`${identity} does not know "${lacks}" of "${name}"`);
    for (let size = own.length; size < pool.spec.size && !call.aborted; size++) {
      const metadata = { name: `${name}-${identity}-${crypto.randomUUID().slice(0, 8)}` };
      await maps.create(withController({ metadata }, pool));
      entry(world.created, uid).add(metadata.name);
      await sleep(200);
    }
    return requeueAfter(20_000);
  }, { shards, concurrency: 3, when: [] });
  const exists = (name: string): boolean => latest?.get(ConfigMap, name) !== undefined;
  const cleanUp = (key: string): void => {
    const uid = latest?.get(Pool, key)?.metadata.uid;
    if (uid === undefined || !world.known.get(identity)?.has(uid)) return;
    world.problems.push(`${identity} cleans up "${key}", which is there`);
  };
  pools.owns(ConfigMap);
  await new Manager({ reconcilers: [pools], shards }).run({ signal });
}

/** The server of the present seed. */
let latest: FakeApiServer | undefined;

/** A controller whose processes divide its objects, for `chaos()`. */
export const shared: ChaosOptions<Shares> = {
  controller: run,
  elects: true,
  world: () => new Shares(),
  resources: [Pool],
  setup: (server) => {
    latest = server;
    for (const name of POOLS) server.create(Pool, { metadata: { name }, ...draft() });
  },
  changes: {
    ...writes(Pool, draft, POOLS),
    scale: patches(Pool, (random) => ({ spec: { size: random.below(5) } }), POOLS),
    "scale again": patches(Pool, (random) => ({ spec: { size: 1 + random.below(4) } }), POOLS),
    "delete a config map": deletes(ConfigMap),
  },
  invariants: {
    "one process reconciles a pool at a time": (_server, { running }) => {
      const several = [...running].find(([, identities]) => identities.size > 1);
      return several === undefined || `${[...several[1]].join(" and ")} reconcile ${several[0]}`;
    },
    "the process that was called last for a pool writes for it": (server, world) => world.foreignWrite(server),
    "a process knows what others have written": (_server, { problems }) => problems[0],
  },
  converges: (server) => {
    const maps = server.list(ConfigMap);
    for (const { metadata: { name, uid }, spec } of server.list(Pool)) {
      const own = maps.filter(({ metadata }) => metadata.ownerReferences?.[0]?.uid === uid);
      if (own.length !== spec.size) return `Pool "${name}" has ${own.length} config maps, not ${spec.size}`;
    }
  },
};

type Bug = { readonly found: number; readonly plant: () => Disposable };

const ALL = [{ start: 0n, end: 1n << 64n }];

/** Bugs of the library itself, each with the first seed that finds it, and how it is planted. */
export const SHARD_BUGS: Readonly<Record<string, Bug>> = {
  "gives a range away before its calls have returned": {
    found: 174,
    plant: () => planted((replace) => replace(ShardGroup, "onRelease", () => ({ [Symbol.dispose]: () => {} }))),
  },
  "begins in ranges before it holds them": {
    found: 51,
    plant: () =>
      planted((replace) => {
        const ranges = ShardGroup.prototype.ranges;
        replace(ShardGroup, "ranges", function (this: ShardGroup): ReturnType<typeof ranges> {
          return this.status().state === "joining" ? ALL : ranges.call(this);
        });
      }),
  },
  "begins in a range that was listed before it was taken": {
    found: 5,
    plant: () =>
      planted((replace) => {
        const { listEntries } = Collection.prototype;
        const versions = new WeakMap<object, string>();
        type Lists = Collection<KubernetesObject>;
        replace(Collection<KubernetesObject>, "listEntries", function (
          this: Lists,
          options: ListOptions = {},
        ): ReturnType<Lists["listEntries"]> {
          if (options.shard === undefined) return listEntries.call(this, options);
          const resourceVersion = versions.get(this);
          if (resourceVersion === undefined) versions.set(this, latest!.resourceVersion);
          const old = resourceVersion && { resourceVersion, resourceVersionMatch: "Exact" as const };
          return listEntries.call(this, { ...options, ...old });
        });
      }),
  },
  "cleans up after an object that has moved": {
    found: 4,
    plant: () => planted((replace) => replace(ShardedKeys, "admits", () => true)),
  },
};
