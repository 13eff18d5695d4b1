/** Each function of the public API that takes options refuses those that do not exist. */
import { assert, assertEquals } from "@std/assert";
import * as core from "../../../mod.ts";
import * as deno from "../../../src/host/connect/mod.ts";
import * as clusters from "../../../src/operator/controllers/clusters/mod.ts";
import * as ready from "../../../src/operator/controllers/readiness/mod.ts";
import * as reconcile from "../../../src/operator/controllers/reconcile/mod.ts";
import { Deployment } from "../../../src/engine/kinds/apps/v1.ts";
import { ConfigMap, Node, Pod, Secret } from "../../../src/engine/kinds/core/v1.ts";
import * as logs from "../../../src/operator/logs/mod.ts";
import * as relay from "../../../src/relay/client/mod.ts";
import * as edge from "../../../src/relay/server/mod.ts";
import * as schema from "../../../src/operator/schema/mod.ts";
import { chaos, upgrade, upgradeOn } from "../../../src/testing/chaos/mod.ts";
import { makeCertificates, startControlPlane } from "../../../src/testing/control_plane/mod.ts";
import * as testing from "../../../src/testing/mod.ts";
import * as workloads from "../../../src/operator/workloads/mod.ts";
import * as hooks from "../../../src/operator/webhooks/mod.ts";
import { functionsWithOptions } from "../../../tools/api.ts";

/** Functions that do not check, and why. */
const UNCHECKED: Readonly<Record<string, string>> = {
  "It is called for each key or event, where a check would cost time":
    "WorkQueue.add, WorkQueue.addAfter, WorkQueue.addRateLimited, WorkQueue.get, Reconciler.enqueue",
  "Its argument is data, such as an object or a resource, and no options":
    "apiVersionOf, defineResource, keyOf, resourceName, new MemoryLimitError, ShardFilter.has, " +
    "roundTrips, FakeApiServer.serveWebhooks",
  "Users implement it, and receive the options":
    "ClusterEventHandler.onAdd, ClusterEventHandler.onDelete, ClusterEventHandler.onSynced, ClusterEventHandler.onUpdate, " +
    "Credentials.apply, ElectionClock.sleep, ResourceEventHandler.onAdd, ResourceEventHandler.onDelete, " +
    "ResourceEventHandler.onSynced, ResourceEventHandler.onUpdate, RunnableManager.missingRights, RunnableManager.run, ShardSource.ready, " +
    "SnapshotKv.list, SnapshotKvWrite.check, TestWebhooks.configurations",
  "A function that is checked makes it": "ControlPlane.start, new AdmissionError, new QueueReplacement, " +
    "new StoreReplacement",
  "It is a part of classes, whose methods are checked": "FollowedPods.events, IdentitySource.listEntries, " +
    "IndexedCollection.addEventHandler, IndexedCollection.events, IndexedCollection.statusChanges, " +
    "IndexedCollection.view, IndexedCollection.waitForCacheSync, ReadableCollection.events, " +
    "ReadableCollection.until, ReadableCollection.waitForCacheSync, ListerWatcher.listEntries, " +
    "ListerWatcher.watchChanges, ListerWatcher.selecting, OrderedView.changes, OrderedView.rows, ResourceClients.resource",
  "It needs programs of a control plane; it passes the options to `new Client`": "ControlPlane.client",
};

const KIND = { group: "example.com", version: "v1", kind: "A", plural: "as", spec: { type: "object" } } as const;

/** Calls that must be refused, by the name of the function. */
type Calls = Readonly<Record<string, () => unknown>>;

const typo = { misspelt: true } as object;
const key = "shop/cart-0";
const keyOf = ({ key }: core.CacheEntry<Pod>): string => key;

function callsOfClients(server: testing.FakeApiServer, client: core.Client): Calls {
  const maps = client.resource(ConfigMap, { namespace: "shop" });
  const map = core.copyOf(testing.configMap({ name: "settings", namespace: "shop" }));
  const draft = { metadata: { name: "settings" } };
  const pod = testing.pod({ name: "cart-0" });
  const first = (pages: AsyncIterable<unknown>): Promise<unknown> => pages[Symbol.asyncIterator]().next();
  return {
    "new Client": () => new core.Client({ server: "http://fake", transport: server, ...typo }),
    "Client.discover": () => client.discover({ ...typo }),
    "Client.can": () => client.can({ verb: "get", resource: Pod }, { ...typo }),
    "Client.can (first argument)": () => client.can({ verb: "get", resource: Pod, ...typo }),
    "Client.missingRights": () => client.missingRights([], { ...typo }),
    "Client.find": () => client.find("pods", { ...typo }),
    "Client.resource": () => client.resource(Pod, { ...typo }),
    "Client.resource (third argument)": () => client.resource(Pod, {}, { ...typo }),
    "ResourceClient.apply": () => maps.apply(draft, { fieldManager: "shop", ...typo }),
    "ResourceClient.applyIfChanged": () => maps.applyIfChanged(draft, { fieldManager: "shop", ...typo } as never),
    "ResourceClient.create": () => maps.create(draft, { ...typo }),
    "ResourceClient.delete": () => maps.delete("settings", { ...typo }),
    "ResourceClient.deleteCollection": () => maps.deleteCollection({ ...typo }),
    "ResourceClient.follow": () => first(maps.follow({ resourceVersion: "1", ...typo })),
    "ResourceClient.get": () => maps.get("settings", { ...typo }),
    "ResourceClient.getOrUndefined": () => maps.getOrUndefined("settings", { ...typo }),
    "ResourceClient.list": () => maps.list({ ...typo }),
    "ResourceClient.listEntries": () => first(maps.listEntries({ ...typo })),
    "ResourceClient.logs": () => first(client.resource(Pod, { namespace: "shop" }).logs("cart-0", { ...typo })),
    "ResourceClient.pages": () => first(maps.pages({ ...typo })),
    "ResourceClient.patch": () => maps.patch("settings", { type: "merge", body: {} }, { ...typo }),
    "ResourceClient.update": () => maps.update(map, { ...typo }),
    "ResourceClient.watch": () => first(maps.watch({ ...typo })),
    "ResourceClient.watchChanges": () => first(maps.watchChanges({ ...typo })),
    "createOrUpdate": () => reconcile.createOrUpdate(maps, draft, () => {}, { ...typo }),
    "finalize": () => reconcile.finalize(maps, map, { finalizer: "example.com/a", cleanup: () => {}, ...typo }),
    "Webhooks.configurations": () => new hooks.Webhooks().configurations({ url: "https://a.b" }, { ...typo }),
    "Webhooks.mutate": () => new hooks.Webhooks().mutate(Pod, () => {}, { ...typo }),
    "Webhooks.validate": () => new hooks.Webhooks().validate(Pod, () => {}, { ...typo }),
    "installWebhooks": () => hooks.installWebhooks(client, new hooks.Webhooks(), { url: "https://a.b" }, { ...typo }),
    "new Webhooks": () => new hooks.Webhooks({ ...typo }),
    "refuse": () => {
      throw hooks.refuse("no", { ...typo });
    },
    "installCrds": () => schema.installCrds(client, [], { ...typo }),
    "migrateStorage": () => schema.migrateStorage(client, ConfigMap, { ...typo }),
    "defineKind": () => schema.defineKind({ ...KIND, ...typo }),
    "DefinedKind.validate": () => schema.defineKind(KIND).validate({}, { ...typo }),
    "logRequests": () => core.logRequests(() => {}, { ...typo }),
    "ownerReferenceTo": () => reconcile.ownerReferenceTo(map, { ...typo }),
    "readableNamespaces": () => core.readableNamespaces(client, [Pod], { ...typo }),
    "retryOnConflict": () => reconcile.retryOnConflict(() => Promise.resolve(), { ...typo }),
    "rolesYaml": () => core.rolesYaml([], { name: "shop", ...typo }),
    "upgradeManagedFields": () =>
      reconcile.upgradeManagedFields(client.resource(ConfigMap), map, { from: "old", fieldManager: "shop", ...typo }),
    "withController": () => reconcile.withController(map, map, { ...typo }),
    "withOwner": () => reconcile.withOwner(map, map, { ...typo }),
    "writeStatus": () => reconcile.writeStatus(client.resource(Pod), pod, pod.status, { ...typo }),
  };
}

function callsOfInformers(client: core.Client, informers: core.SharedInformerFactory): Calls {
  const source = client.resource(Pod);
  const pods = informers.forResource(Pod);
  const tiers = informers.forResource(Secret, { full: { labelSelector: "app=web" } });
  const derived = core.derive(pods, () => []);
  const view = pods.view();
  const acquired = informers.acquire(ConfigMap, { namespace: "idle" });
  const store = new core.Indexer<core.CacheEntry<Pod>>({ keyOf });
  const queue = new core.DeltaFIFO<core.CacheEntry<Pod>>({ keyOf, knownObjects: store });
  const ofAll: Calls = Object.fromEntries(
    ([["SharedIndexInformer", pods], ["DerivedCollection", derived], ["AcquiredInformer", acquired]] as const).flatMap(
      ([name, it]) => [
        [`${name}.addEventHandler`, () => it.addEventHandler({}, { ...typo })],
        [`${name}.events`, () => it.events({ ...typo })],
        [`${name}.view`, () => it.view({ ...typo })],
      ],
    ),
  );
  const ofBoth: Calls = Object.fromEntries(
    ([["SharedIndexInformer", pods], ["DerivedCollection", derived]] as const).flatMap(([name, it]) => [
      [`${name}.statusChanges`, () => it.statusChanges({ ...typo })],
      [`${name}.until`, () => it.until(() => true, { ...typo })],
      [`${name}.untilDeleted`, () => it.untilDeleted(key, { ...typo })],
      [`${name}.waitForCacheSync`, () => it.waitForCacheSync({ ...typo })],
    ]),
  );
  return {
    ...ofAll,
    ...ofBoth,
    "CacheView.changes": () => view.changes({ ...typo }),
    "CacheView.rows": () => view.rows({ ...typo }),
    "ViewUpdates.moveTo": () => view.changes().moveTo({ ...typo }),
    "Controller.run": () => new core.Controller({ source, queue, process: () => {} }).run({ ...typo }),
    "HandlerRegistration.waitForSync": () => pods.addEventHandler({}).waitForSync({ ...typo }),
    "Indexer.replacing": () => store.replacing({ ...typo }),
    "Lister.list": () => pods.lister.list({ ...typo }),
    "NamespaceLister.list": () => pods.lister.namespace("shop").list({ ...typo }),
    "Checkpoint.open": () => core.Checkpoint.open(new core.MemoryCheckpoints(), { name: "a", ...typo }),
    "Reflector.run": () => new core.Reflector(source, queue, {}).run({ ...typo }),
    "SharedIndexInformer.addEventHandler (handler)": () => pods.addEventHandler({ onMisspelt: () => {} } as object),
    "SharedIndexInformer.waitForVersion": () => pods.waitForVersion("1", { ...typo }),
    "SharedIndexInformer.checkConsistency": () => pods.checkConsistency({ ...typo }),
    "SharedIndexInformer.restore": () => pods.restore(new ReadableStream(), { ...typo }),
    "SharedIndexInformer.rescope": () => pods.rescope({ ...typo }),
    "SharedIndexInformer.rescope (second argument)": () => pods.rescope({}, { ...typo }),
    "SharedIndexInformer.run": () => pods.run({ ...typo }),
    "SharedIndexInformer.snapshot": () => pods.snapshot({ ...typo }),
    "SharedInformerFactory.acquire": () => informers.acquire(Pod, { ...typo }),
    "SharedInformerFactory.forResource": () => informers.forResource(Pod, { ...typo }),
    "TieredInformer.read": () => tiers.read(key, { ...typo }),
    "objectMetrics": () => reconcile.objectMetrics(pods, { name: "pods", labels: {}, ...typo }),
    "perObject": () => reconcile.perObject(pods, () => {}, { ...typo }),
    "SharedInformerFactory.missingRights": () => informers.missingRights({ ...typo }),
    "SharedInformerFactory.run": () => informers.run({ ...typo }),
    "SharedInformerFactory.start": () => informers.start({ ...typo }),
    "SharedInformerFactory.waitForCacheSync": () => informers.waitForCacheSync({ ...typo }),
    "derive": () => core.derive(pods, () => [], { ...typo }),
    "defaultsFor": () => core.defaultsFor(Pod, { ...typo }),
    "deriveGroups": () => core.deriveGroups(pods, "namespace", () => undefined, { ...typo }),
    "new CacheView": () => new core.CacheView(pods, { ...typo }),
    "new Controller": () => new core.Controller({ source, queue, process: () => {}, ...typo }),
    "new DeltaFIFO": () => new core.DeltaFIFO({ keyOf, knownObjects: store, ...typo }),
    "new Indexer": () => new core.Indexer({ keyOf, ...typo }),
    "new MemorySnapshots": () => new core.MemorySnapshots({ ...typo }),
    "new Reflector": () => new core.Reflector(source, queue, { ...typo }),
    "new Reflector (backoff)": () => new core.Reflector(source, queue, { backoff: { ...typo } }),
    "new SharedIndexInformer": () => new core.SharedIndexInformer(source, { ...typo }),
    "new SharedIndexInformer (check)": () =>
      new core.SharedIndexInformer(source, { consistencyCheck: { intervalMs: 60_000, ...typo } }),
    "new SharedInformerFactory": () => new core.SharedInformerFactory(client, { ...typo }),
    "new SharedInformerFactory (snapshots)": () =>
      new core.SharedInformerFactory(client, { snapshots: { store: new core.MemorySnapshots(), ...typo } }),
    "followLogs": () => logs.followLogs(client, pods, { ...typo }),
    "onChange": () => core.onChange([pods], () => {}, { ...typo }),
    "readiness": () => ready.readiness(testing.pod({ name: "a" }), { ...typo }),
    "templateReferences": () => workloads.templateReferences({ containers: [] }, { ...typo }),
    "untilReady": () => ready.untilReady(pods, key, { ...typo }),
    "workloadStatus": () => workloads.workloadStatus(informers, { ...typo }),
  };
}

function callsOfQueues(client: core.Client, informers: core.SharedInformerFactory): Calls {
  const queue = new core.WorkQueue<string>();
  const pods = new reconcile.Reconciler(client, Pod, () => {}, { informers });
  return {
    "WorkQueue.idle": () => queue.idle({ ...typo }),
    "WorkQueue.run": () => queue.run(() => {}, { ...typo }),
    "WorkQueue.shutDownWithDrain": () => queue.shutDownWithDrain({ ...typo }),
    "exponentialBackoff": () => core.exponentialBackoff({ ...typo }),
    "fastSlow": () => core.fastSlow({ fastMs: 1, slowMs: 2, maxFast: 3, ...typo }),
    "new WorkQueue": () => new core.WorkQueue({ ...typo }),
    "tokenBucket": () => core.tokenBucket({ ...typo }),
    "Reconciler.idle": () => pods.idle({ ...typo }),
    "Reconciler.owns": () => pods.owns(ConfigMap, { ...typo }),
    "Reconciler.run": () => pods.run({ ...typo }),
    "Reconciler.watches": () => pods.watches(ConfigMap, () => [], { ...typo }),
    "LeaderElector.run": () =>
      new reconcile.LeaderElector(client, { namespace: "shop", name: "lease" }).run(() => {}, { ...typo }),
    "Manager.missingRights": () => new reconcile.Manager({}).missingRights({ ...typo }),
    "Manager.run": () => new reconcile.Manager({}).run({ ...typo }),
    "ShardGroup.run": () => new reconcile.ShardGroup(client, { namespace: "shop", name: "shards" }).run({ ...typo }),
    "new EventRecorder": () => new reconcile.EventRecorder(client, { controller: "example.com/shop", ...typo }),
    "new LeaderElector": () => new reconcile.LeaderElector(client, { namespace: "shop", name: "lease", ...typo }),
    "new Manager": () => new reconcile.Manager({ ...typo }),
    "new Reconciler": () => new reconcile.Reconciler(client, Pod, () => {}, { ...typo }),
    "new ShardGroup": () => new reconcile.ShardGroup(client, { namespace: "shop", name: "shards", ...typo }),
  };
}

function callsOfClusters(client: core.Client, set: clusters.ClusterSet): Calls {
  const empty = new clusters.ClusterSet();
  set.add("a", client);
  const pods = set.forResource(Pod);
  return {
    "ClusterInformer.addEventHandler": () => pods.addEventHandler({}, { ...typo }),
    "ClusterInformer.events": () => pods.events({ ...typo }).next(),
    "ClusterInformer.until": () => pods.until(() => true, { ...typo }),
    "ClusterInformer.view": () => pods.view({ ...typo }),
    "ClusterInformer.waitForCacheSync": () => empty.forResource(Pod).waitForCacheSync({ ...typo }),
    "ClusterLister.list": () => pods.lister.list({ ...typo }),
    "ClusterSet.forResource": () => set.forResource(Secret, { ...typo }),
    "ClusterSet.run": () => set.run(() => {}, { ...typo }),
    "ClusterSet.waitForCacheSync": () => empty.waitForCacheSync({ ...typo }),
    "followClusterSecrets": () => clusters.followClusterSecrets(set, client, { connect: () => client, ...typo }),
    "new ClusterSet": () => new clusters.ClusterSet({ ...typo }),
    "new ClusterSet (backoff)": () => new clusters.ClusterSet({ backoff: { ...typo } }),
  };
}

function callsOfRelays(informers: core.SharedInformerFactory, signal: AbortSignal): Calls {
  const options = { signal, fetch: () => Promise.reject(new Error("down")), onError: () => {} };
  const pods = relay.subscribe<Pod>("http://relay", "pods", options);
  const view = relay.subscribeViews("http://relay", options).view({ of: "pods" });
  return {
    "RemoteView.changes": () => view.changes({ ...typo }),
    "Subscription.events": () => pods.events({ ...typo }),
    "Subscription.until": () => pods.until(() => true, { ...typo }),
    "Subscription.waitForCacheSync": () => pods.waitForCacheSync({ ...typo }),
    "Subscription.lister.list": () => pods.lister.list({ ...typo }),
    "informerProbes": () => edge.informerProbes(informers, { ...typo }),
    "new InformerRelay": () => new edge.InformerRelay(informers, { collections: {}, ...typo } as never),
    "new Subscription": () => new relay.Subscription("http://relay", "pods", { ...typo }),
    "new ViewSubscription": () => new relay.ViewSubscription("http://relay", { ...typo }),
    "subscribe": () => relay.subscribe("http://relay", "pods", { ...typo }),
    "subscribeViews": () => relay.subscribeViews("http://relay", { ...typo }),
  };
}

function callsOfDeno(): Calls {
  const manager = new reconcile.Manager({});
  const kv = {} as deno.SnapshotKv;
  return {
    "KvSnapshots.open": () => deno.KvSnapshots.open({ ...typo }),
    "connect": () => deno.connect({ ...typo }),
    "connectContexts": () => deno.connectContexts({ ...typo }),
    "connectKubeconfig": () => deno.connectKubeconfig("", "a", { ...typo }),
    "httpTransport": () => deno.httpTransport({ ...typo }),
    "connectInCluster": () => deno.connectInCluster({ ...typo }),
    "new FileSnapshots": () => new deno.FileSnapshots("folder", { ...typo }),
    "FetchServer.listen": () => deno.FetchServer.listen(() => new Response(), { port: 0, ...typo }),
    "KvCheckpoints.open": () => deno.KvCheckpoints.open({ ...typo }),
    "new KvCheckpoints": () => new deno.KvCheckpoints(kv, { ...typo }),
    "new KvSnapshots": () => new deno.KvSnapshots(kv, { ...typo }),
    "requiredPermissions": () => deno.requiredPermissions({ ...typo }),
    "runManager": () => deno.runManager(manager, { ...typo }),
    "makeCertificates": () => makeCertificates({ ...typo }),
    "startControlPlane": () => startControlPlane({ ...typo }),
  };
}

function callsOfTesting(server: testing.FakeApiServer): Calls {
  const name = "a";
  const release = { crds: [], controller: async () => {} };
  return {
    "FakeApiServer.delete": () => server.delete(Pod, key, { ...typo }),
    "FakeApiServer.from": () => testing.FakeApiServer.from(new ReadableStream(), { ...typo }),
    "FakeApiServer.list": () => server.list(Pod, { ...typo }),
    "FakeApiServer.replay": () => server.replay({ ...typo }),
    "FakeApiServer.until": () => server.until(Pod, key, () => true, { ...typo }),
    "FakeApiServer.writeLog": () => server.writeLog(key, "a", { ...typo }),
    "FaultVerbs.restart": () => server.restart({ ...typo }),
    "churn": () => testing.churn(server, { resource: Pod, ...typo }),
    "configMap": () => testing.configMap({ name, ...typo }),
    "deployment": () => testing.deployment({ name, ...typo }),
    "history": () => testing.history(1, { ...typo }),
    "lease": () => testing.lease({ name, ...typo }),
    "namespace": () => testing.namespace({ name, ...typo }),
    "new FakeApiServer": () => new testing.FakeApiServer({ ...typo }),
    "node": () => testing.node({ name, ...typo }),
    "chaos": () => chaos({ controller: async () => {}, changes: {}, converges: () => true, ...typo }),
    "plan": () => testing.plan(() => ({}) as never, { allowOutside: true, ...typo }),
    "upgrade": () => upgrade({ from: release, to: release, changes: {}, ...typo }),
    "upgradeOn": () => upgradeOn(server, { from: release, to: release, changes: {}, ...typo }),
    "pod": () => testing.pod({ name, ...typo }),
  };
}

function callsOfWorkloads(client: core.Client): Calls {
  const [deployments, nodes] = [client.resource(Deployment, { namespace: "shop" }), client.resource(Node)];
  return {
    "cordon": () => workloads.cordon(nodes, "a", { ...typo }),
    "drain": () => workloads.drain(client, "a", { ...typo }),
    "evict": () => workloads.evict(client.resource(Pod, { namespace: "shop" }), "a", { ...typo }),
    "restart": () => workloads.restart(deployments, "a", { ...typo }),
    "scale": () => workloads.scale(deployments, "a", 1, { ...typo }),
    "uncordon": () => workloads.uncordon(nodes, "a", { ...typo }),
  };
}

/** Returns what a call threw, or rejected with before the next turn. */
async function thrownBy(call: () => unknown): Promise<unknown> {
  try {
    const turn = Promise.withResolvers<void>();
    setTimeout(turn.resolve);
    await Promise.race([call(), turn.promise]);
    return undefined;
  } catch (error) {
    return error;
  }
}

Deno.test("options: every function of the public API refuses names that do not exist, and begins nothing", async () => {
  const server = new testing.FakeApiServer();
  const stop = new AbortController();
  using client = new core.Client({ server: "http://fake", transport: server });
  await using informers = new core.SharedInformerFactory(client, { onError: () => {} });
  await using set = new clusters.ClusterSet();
  const calls: Calls = {
    ...callsOfClients(server, client),
    ...callsOfInformers(client, informers),
    ...callsOfQueues(client, informers),
    ...callsOfClusters(client, set),
    ...callsOfRelays(informers, stop.signal),
    ...callsOfDeno(),
    ...callsOfTesting(server),
    ...callsOfWorkloads(client),
  };
  const wrong: string[] = [];
  for (const [name, call] of Object.entries(calls)) {
    const error = await thrownBy(call);
    if (!(error instanceof TypeError && /no option "(?:misspelt|onMisspelt)"/.test(error.message))) {
      wrong.push(`${name}: ${error}`);
    }
  }
  assertEquals(wrong, [], "they took an option that does not exist");
  stop.abort();
  assert(server.requests.every(({ url }) => url.includes("/idle/")), "a request was sent");
  const all = await functionsWithOptions();
  const unchecked = Object.values(UNCHECKED).flatMap((names) => names.split(", "));
  const named = new Set([...Object.keys(calls), ...unchecked]);
  assertEquals(all.filter((name) => !named.has(name)), [], "add them to a table of this file");
  assertEquals(unchecked.filter((name) => !all.includes(name) || name in calls), [], "remove them from the table");
});
