// Everything that takes `onError` or `onInterrupted` under the same two promises: without it each new cause is written
// to the console once, and with it never.
import { assert, assertEquals } from "@std/assert";
import type { CacheEntry } from "../../../src/engine/api/entry.ts";
import { keyOf } from "../../../src/engine/api/object.ts";
import { Client } from "../../../src/engine/client/client.ts";
import { FetchServer } from "../../../src/host/connect/run_manager.ts";
import { ClusterSet } from "../../../src/operator/controllers/clusters/cluster_set.ts";
import { EventRecorder } from "../../../src/operator/controllers/reconcile/event_recorder.ts";
import { LeaderElector } from "../../../src/operator/controllers/reconcile/leader_elector.ts";
import {
  type ReconcileFunction,
  type ReconcilerOptions,
  TerminalError,
} from "../../../src/operator/controllers/reconcile/options.ts";
import { Reconciler } from "../../../src/operator/controllers/reconcile/reconciler.ts";
import { ShardGroup } from "../../../src/operator/controllers/reconcile/shard_group.ts";
import { derive } from "../../../src/engine/informer/derived_collection.ts";
import { SharedIndexInformer } from "../../../src/engine/informer/shared_index_informer.ts";
import { SharedInformerFactory } from "../../../src/engine/informer/shared_informer_factory.ts";
import { onChange } from "../../../src/engine/informer/on_change.ts";
import { perObject } from "../../../src/engine/informer/per_object.ts";
import { Job } from "../../../src/engine/kinds/batch/v1.ts";
import { ConfigMap, Pod } from "../../../src/engine/kinds/core/v1.ts";
import { Reflector } from "../../../src/engine/reflector/reflector.ts";
import { subscribe, subscribeViews } from "../../../src/relay/client/mod.ts";
import { InformerRelay } from "../../../src/relay/server/informer_relay.ts";
import { Indexer } from "../../../src/engine/store/indexer.ts";
import { FakeApiServer } from "../../../src/testing/fake/fake_api_server.ts";
import { pod } from "../../../src/testing/mod.ts";
import { workloadStatus } from "../../../src/operator/workloads/workload_status.ts";
import { Webhooks } from "../../../src/operator/webhooks/webhooks.ts";
import { requeueAfter } from "../../../src/engine/workqueue/work_item.ts";
import { WorkQueue } from "../../../src/engine/workqueue/work_queue.ts";
import { Warnings } from "../../support/texts/console.ts";
import { FakeTime } from "../../support/times/fake_time.ts";

/** The server of a row, with two config maps of "shop", and a client of it. */
interface Place {
  readonly server: FakeApiServer;
  readonly client: Client;
  readonly onError: ((error: unknown) => void) | undefined;
  /** Lets time pass. */
  pass(ms: number): Promise<void>;
}

/** Brings up the same failure at least twice within a minute. */
type Row = (place: Place) => Promise<void>;

/** A row of a reconciler whose function, map function, predicate … fails. */
function reconciler(
  reconcile: ReconcileFunction<ConfigMap>,
  options: ReconcilerOptions<ConfigMap> = {},
  watch: (reconciler: Reconciler<ConfigMap>) => void = () => {},
): Row {
  return async ({ client, server, onError, pass }) => {
    await using maps = new Reconciler(client, ConfigMap, reconcile, { ...options, onError });
    watch(maps);
    const running = maps.run();
    await pass(100);
    for (const name of ["cart-0", "cart-1"]) server.annotate(ConfigMap, `shop/${name}`, { n: "1" });
    await pass(40_000);
    await maps[Symbol.asyncDispose]();
    await running;
  };
}

function fail(): never {
  throw new Error("a bug");
}

/** By the file that declares the `onError` or `onInterrupted`. */
const ROWS: Record<string, Record<string, Row>> = {
  "operator/controllers/reconcile/options.ts": {
    "a reconcile": reconciler(fail),
    "a terminal error": reconciler(() => {
      throw new TerminalError("a bug");
    }),
    "a map function": reconciler(() => {}, {}, (maps) => maps.watches(ConfigMap, fail)),
    "a predicate": reconciler(() => {}, { when: fail }),
    "a stale cache": async (place) => {
      let late: Disposable | undefined;
      await reconciler(async ({ key, client }) => {
        late ??= place.server.stallWatches(ConfigMap);
        const body = { metadata: { labels: { n: crypto.randomUUID() } } };
        await client.resource(ConfigMap, { namespace: "shop" }).patch(key.slice(5), { type: "merge", body });
        return requeueAfter(1_000);
      }, { readYourWritesTimeoutMs: 10 })(place);
    },
    "a loop": reconciler(async ({ client, object }) => {
      const data = { n: `${Math.random()}` };
      if (object === undefined) return;
      await client.resource(ConfigMap, { namespace: "shop" }).patch("cart-0", { type: "merge", body: { data } });
    }),
  },
  "operator/controllers/reconcile/leader_elector.ts": {
    "a refused Lease": async ({ client, server, onError, pass }) => {
      server.failNext(403, 100);
      const stop = new AbortController();
      const running = new LeaderElector(client, { name: "a", onError }).run(() => {}, { signal: stop.signal });
      await pass(10_000);
      stop.abort();
      await running;
    },
  },
  "operator/controllers/reconcile/event_recorder.ts": {
    "refused events": async ({ client, server, onError, pass }) => {
      server.failNext(403, 100);
      await using events = new EventRecorder(client, { controller: "test", onError });
      for (const reason of ["One", "Two"]) {
        events.record(server.get(ConfigMap, "shop/cart-0")!, { reason, action: "Try" });
      }
      await pass(1_000);
    },
  },
  "operator/controllers/reconcile/shard_group.ts": {
    "a Lease that cannot be read": async ({ client, server, onError, pass }) => {
      server.failNext(403, 100, ({ verb }) => verb === "get");
      const stop = new AbortController();
      const running = new ShardGroup(client, { name: "a", onError }).run({ signal: stop.signal });
      await pass(10_000);
      stop.abort();
      await running;
    },
    "Leases that cannot be listed": async ({ client, server, onError, pass }) => {
      server.failNext(403, 100, ({ verb }) => verb === "list" || verb === "watch");
      const stop = new AbortController();
      const running = new ShardGroup(client, { name: "a", onError }).run({ signal: stop.signal });
      await pass(10_000);
      stop.abort();
      await running;
    },
  },
  "engine/workqueue/work_queue.ts": {
    "a worker": async ({ onError, pass }) => {
      await using queue = new WorkQueue();
      void queue.run(fail, { onError });
      for (const key of ["shop/cart-0", "shop/cart-1"]) queue.add(key);
      await pass(1_000);
    },
  },
  "engine/reflector/reflector.ts": {
    "a resync": async ({ client, onError, pass }) => {
      const store = Object.assign(new Indexer<CacheEntry<ConfigMap>>({ keyOf }), { resync: fail });
      const stop = new AbortController();
      const running = new Reflector(client.resource(ConfigMap), store, { onError, resyncMs: 1_000 }).run({
        signal: stop.signal,
      });
      await pass(5_000);
      stop.abort();
      await running;
    },
  },
  "engine/informer/options.ts": {
    "a handler of an informer": async ({ client, onError, pass }) => {
      await using maps = new SharedIndexInformer(client.resource(ConfigMap), { onError });
      maps.addEventHandler({ onAdd: fail });
      void maps.run();
      await pass(1_000);
    },
    "a refused list": async ({ client, server, onError, pass }) => {
      server.failNext(403, 100);
      await using maps = new SharedIndexInformer(client.resource(ConfigMap), { onError });
      void maps.run();
      await pass(10_000);
    },
    "a handler of a factory": async ({ client, onError, pass }) => {
      await using informers = new SharedInformerFactory(client, { onError });
      informers.forResource(ConfigMap).addEventHandler({ onAdd: fail });
      informers.start();
      await pass(1_000);
    },
    "a check": async ({ client, server, onError, pass }) => {
      await using informers = new SharedInformerFactory(client, { onError, consistencyCheck: { intervalMs: 60_000 } });
      informers.forResource(ConfigMap);
      informers.start();
      await pass(100);
      server.failNext(403, 100, ({ verb }) => verb === "list" || verb === "watch");
      await pass(100_000);
    },
    "a snapshot": async ({ client, onError, pass }) => {
      const store = { get: () => Promise.resolve(undefined), set: fail };
      await using informers = new SharedInformerFactory(client, { onError, snapshots: { store, intervalMs: 10_000 } });
      informers.forResource(ConfigMap);
      informers.start();
      await pass(30_000);
      await informers.shutdown();
    },
  },
  "operator/controllers/clusters/cluster_set.ts": {
    "a refused list": async ({ client, server, onError, pass }) => {
      server.failNext(403, 100);
      await using clusters = new ClusterSet({ onError });
      clusters.add("berlin", client);
      clusters.forResource(ConfigMap);
      clusters.start();
      await pass(10_000);
    },
    "work that fails": async ({ client, onError, pass }) => {
      await using clusters = new ClusterSet({ onError });
      clusters.add("berlin", client);
      const stop = new AbortController();
      const running = clusters.run(fail, { signal: stop.signal });
      await pass(10_000);
      stop.abort();
      await running;
    },
  },
  "engine/informer/derived_collection.ts": {
    "a derived collection": async ({ client, onError, pass }) => {
      await using maps = new SharedIndexInformer(client.resource(ConfigMap));
      await using _derived = derive(maps, fail, { onError });
      void maps.run();
      await pass(1_000);
    },
  },
  "engine/client/resource_client.ts": {
    "a watch that resumes": async ({ client, server, onError, pass }) => {
      const { resourceVersion } = server;
      server.failNext(500, 100);
      const stop = new AbortController();
      const following = client.resource(ConfigMap).follow({
        resourceVersion,
        onInterrupted: onError,
        signal: stop.signal,
      });
      const ended = following.next();
      await pass(20_000);
      stop.abort();
      await ended;
    },
  },
  "engine/client/logs.ts": {
    "a log that is interrupted": async ({ client, server, onError, pass }) => {
      server.failNext(500, 100);
      const stop = new AbortController();
      const pods = client.resource(Pod, { namespace: "shop" });
      const ended = pods.logs("web-0", { follow: true, onInterrupted: onError, signal: stop.signal }).next();
      await pass(20_000);
      stop.abort();
      await ended;
    },
  },
  "engine/informer/per_object.ts": {
    "a job of an object": async ({ client, onError, pass }) => {
      await using maps = new SharedIndexInformer(client.resource(ConfigMap));
      await using _jobs = perObject(maps, fail, { onError, backoff: { initialMs: 60_000 } });
      void maps.run();
      await pass(5_000);
    },
  },
  "engine/informer/on_change.ts": {
    "a handler of changes": async ({ client, onError, pass }) => {
      await using maps = new SharedIndexInformer(client.resource(ConfigMap));
      using _calls = onChange([maps], fail, { onError });
      void maps.run();
      await pass(5_000);
    },
  },
  "operator/workloads/workload_status.ts": {
    "workloads whose state cannot be computed": async ({ client, server, onError, pass }) => {
      for (const name of ["web", "mail"]) {
        const { metadata: { uid } } = server.create(Job, { metadata: { name, namespace: "shop" } } as never);
        const owner = { apiVersion: "batch/v1", kind: "Job", name, uid, controller: true };
        const metadata = { name, namespace: "shop", ownerReferences: [owner] };
        server.create(Pod, { ...pod({ name }), metadata, status: { containerStatuses: [null] } } as never);
      }
      await using informers = new SharedInformerFactory(client);
      await using _workloads = workloadStatus(informers, { kinds: ["Job"], onError });
      informers.start();
      await pass(5_000);
    },
  },
  "engine/client/discovery.ts": {
    "a group": async ({ onError }) => {
      const items = [{ metadata: { name: "acme.dev" }, versions: [{ version: "v1", freshness: "Stale" }] }];
      const fetch = (request: Request): Promise<Response> => {
        const type = request.headers.get("accept")!.split(",")[0];
        const answer = { kind: "APIGroupDiscoveryList", items: request.url.endsWith("/apis") ? items : [] };
        return Promise.resolve(new Response(JSON.stringify(answer), { headers: { "content-type": type } }));
      };
      using client = new Client({ server: "http://scripted", transport: { fetch } });
      for (let i = 0; i < 2; i++) await client.discover({ onError, maxAgeMs: 0 });
    },
  },
  "host/connect/run_manager.ts": {
    "a connection that cannot be accepted": async ({ onError, pass }) => {
      const { serve } = Deno;
      const failed = { addr: { port: 8080 }, shutdown: () => Promise.resolve() };
      const failing = () => ({ ...failed, finished: Promise.reject(new Error("too many open files")) });
      Deno.serve = failing as unknown as typeof serve;
      try {
        await using _server = await FetchServer.listen(() => new Response(), { onError });
        await pass(5_000);
      } finally {
        Deno.serve = serve;
      }
    },
  },
  "operator/webhooks/webhooks.ts": {
    "a handler that throws": async ({ onError }) => {
      const webhooks = new Webhooks({ onError }).validate(ConfigMap, fail);
      const { url } = webhooks.configurations({ url: "https://hooks" }).validating!.webhooks![0].clientConfig;
      const metadata = { name: "cart-0", namespace: "shop" };
      const resource = { group: "", version: "v1", resource: "configmaps" };
      const kind = { group: "", version: "v1", kind: "ConfigMap" };
      const request = { uid: "1", operation: "CREATE", kind, resource, name: "cart-0", namespace: "shop" };
      const object = { apiVersion: "v1", kind: "ConfigMap", metadata };
      const review = { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" };
      const body = JSON.stringify({ ...review, request: { ...request, userInfo: {}, object, oldObject: null } });
      const headers = { "content-type": "application/json" };
      for (let i = 0; i < 2; i++) await webhooks.fetch(new Request(url!, { method: "POST", headers, body }));
    },
  },
  "relay/server/options.ts": {
    "a redaction": async ({ client, onError, pass }) => {
      await using informers = new SharedInformerFactory(client);
      await using relay = new InformerRelay(informers, { collections: { maps: ConfigMap }, redact: fail, onError });
      const connection = { remoteAddr: { hostname: "127.0.0.1" } };
      const response = await Promise.all([relay.fetch(new Request("http://localhost/api/maps"), connection), pass(10)]);
      await response[0].text();
    },
  },
  "relay/client/server_events.ts": {
    "a collection": async ({ onError, pass }) => {
      using _copy = subscribe("http://relay", "pods", { fetch: () => Promise.reject(new Error("cut")), onError });
      await pass(20_000);
    },
    "views": async ({ onError, pass }) => {
      using _views = subscribeViews("http://relay", { fetch: () => Promise.reject(new Error("cut")), onError });
      await pass(20_000);
    },
  },
};

for (const [file, rows] of Object.entries(ROWS)) {
  for (const [name, row] of Object.entries(rows)) {
    Deno.test(`without onError each new cause is written to the console once, with it never: ${file}, ${name}`, async () => {
      const written: string[][] = [];
      let heard = 0;
      for (const onError of [undefined, () => void heard++]) {
        using time = new FakeTime();
        using warnings = new Warnings();
        using server = new FakeApiServer();
        for (const name of ["cart-0", "cart-1"]) server.create(ConfigMap, { metadata: { name, namespace: "shop" } });
        using client = new Client({ server: "http://fake", transport: server, namespace: "shop", retries: 0 });
        const pass = async (ms: number): Promise<void> => {
          for (let i = 0; i < 8; i++) await time.tickAsync(0);
          await time.tickAsync(ms);
        };
        const done = row({ server, client, onError, pass });
        for (let isDone = false; !isDone;) {
          await Promise.race([done.finally(() => isDone = true), time.tickAsync(1)]);
        }
        written.push(warnings.take());
      }
      assertEquals([written[0].length, written[1]], [1, []], written[0].join("\n"));
      assert(heard > 0);
    });
  }
}

Deno.test("every declaration of onError and onInterrupted has its rows", async () => {
  const root = new URL("../../../src/", import.meta.url);
  const found: string[] = [];
  const walk = async (folder: string): Promise<void> => {
    for await (const { name, isDirectory } of Deno.readDir(new URL(folder, root))) {
      if (isDirectory) await walk(`${folder}${name}/`);
      else if (
        /^ {2}(readonly )?on(Error|Interrupted)\?:/m.test(await Deno.readTextFile(new URL(folder + name, root)))
      ) {
        found.push(folder + name);
      }
    }
  };
  await walk("");
  assertEquals(found.sort(), Object.keys(ROWS).sort());
});
