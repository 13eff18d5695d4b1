/**
 * Expressions that must type-check, and others that must not. `deno check` does most of the work: it fails when a type
 * differs from the stated one, or when a line that is marked as wrong is right.
 */
import type { IndexedCollection } from "@kube/informer/types";
import { assert, assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import {
  type AddedEvent,
  asTable,
  type CacheEntry,
  Client,
  compareResourceVersions,
  Controller,
  copyOf,
  defineResource,
  type DeletedEvent,
  DeltaFIFO,
  derive,
  type DynamicObject,
  entryOf,
  field,
  type HandlerOptions,
  Indexer,
  type InformerEvent,
  keyOf,
  type KubernetesObject,
  type ListerWatcher,
  type ObjectDraft,
  onlyFields,
  onlyMetadata,
  type ReadableCollection,
  type ReadonlyIndexer,
  type ReconcileResult,
  type Reduced,
  Reflector,
  type ReflectorPhase,
  type ReflectorStore,
  requeueAfter,
  type Resource,
  type ResourceClient,
  retry,
  SharedIndexInformer,
  SharedInformerFactory,
  type Transport,
  type UpdatedEvent,
  type WatchEvent,
  WorkQueue,
} from "../mod.ts";
import type { connect } from "../src/host/connect/mod.ts";
import { ClusterSet } from "../src/operator/controllers/clusters/mod.ts";
import { Deployment } from "../src/engine/kinds/apps/v1.ts";
import { Lease } from "../src/engine/kinds/coordination/v1.ts";
import { ConfigMap, Node, type PersistentVolumeClaimSpec, Pod, Secret } from "../src/engine/kinds/core/v1.ts";
import { subscribe } from "../src/relay/client/mod.ts";
import { InformerRelay } from "../src/relay/server/mod.ts";
import { FakeApiServer, pod } from "../src/testing/mod.ts";
import type { Cached, KnownObjects, Requirement } from "../src/types.ts";

interface CronTab extends KubernetesObject {
  readonly spec: { readonly cronSpec: string; readonly replicas: number };
}
const CronTab: Resource<CronTab> = defineResource<CronTab>({
  group: "stable.example.com",
  version: "v1",
  plural: "crontabs",
  kind: "CronTab",
});

/** Type-checks only when both types are the same. */
function same<A, B>(..._same: Equal<A, B> extends true ? [] : [different: never]): void {}

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false;

function fakeClient(): Client {
  return new Client({ server: "http://fake", transport: new FakeApiServer() });
}

Deno.test("Resource is a value and a type of one name, built in or custom [F23]", () => {
  const pod: Pod = {
    metadata: { name: "a", namespace: "b", uid: "u", resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z" },
    spec: { containers: [] },
  };
  const tab: CronTab = { metadata: pod.metadata, spec: { cronSpec: "* * * * *", replicas: 1 } };
  assertEquals(
    [Pod, Deployment, Node, Lease, CronTab].map(({ kind, scope }) => `${kind} ${scope}`),
    ["Pod Namespaced", "Deployment Namespaced", "Node Cluster", "Lease Namespaced", "CronTab Namespaced"],
  );
  same<typeof Pod, Resource<Pod>>();
  same<typeof CronTab, Resource<CronTab>>();
  const any: Resource = Pod;
  // @ts-expect-error a Pod is not a CronTab
  const wrong: Resource<CronTab> = Pod;
  // @ts-expect-error nor are its objects
  const wrongObject: CronTab = pod;
  // @ts-expect-error a resource has a kind
  assertThrows(() => defineResource<CronTab>({ version: "v1", plural: "crontabs" }), TypeError);
  // @ts-expect-error there are two scopes
  defineResource({ version: "v1", plural: "crontabs", kind: "CronTab", scope: "Everywhere" });
  // @ts-expect-error objects are read-only
  tab.spec.replicas = 2;
  const metadata = onlyMetadata(CronTab);
  same<typeof metadata, Resource<KubernetesObject & Pick<CronTab, "metadata"> & Reduced>>();
  // @ts-expect-error metadata only: there is no spec to read
  const wrongRepresentation: Resource<CronTab> = metadata;
  assertEquals(
    [any.kind, wrong.kind, wrongObject, wrongRepresentation.representation],
    ["Pod", "Pod", pod, "metadata"],
  );
});

Deno.test("types: a misspelt path is refused at its place, in a list of fields too, and a list of fields decides the type", () => {
  const check = (informers: SharedInformerFactory, options: { readonly fields: readonly string[] }): void => {
    const right = informers.forResource(Pod, {
      fields: ["spec.nodeName"],
      indexers: { node: (pod) => [pod.kind ?? ""] },
    });
    void right.lister.get("a")?.spec.nodeName;
    // @ts-expect-error it is not kept
    void right.lister.get("a")?.spec.containers;
    informers.forResource(Pod, {
      fields: [
        "status.phase",
        // @ts-expect-error there is no nodename
        "spec.nodename",
      ],
    });
    informers.acquire(Pod, {
      // @ts-expect-error what should hold first has no members
      fields: ["spec.nodeName.first"],
    });
    informers.forResource(Pod, {
      namespace: "shop",
      // @ts-expect-error no option
      labelSelectr: "app=web",
    });
    const either = Math.random() < 0.5 ? ["spec.nodeName"] as const : ["status.phase"] as const;
    const oneOf = informers.forResource(Pod, { fields: either }).lister.get("a");
    void (oneOf?.spec?.nodeName satisfies string | undefined);
    // @ts-expect-error one of the two alone is kept
    void oneOf?.spec.nodeName;
    void informers.forResource(Pod, { fields: [...either] }).lister.get("a")?.status?.phase;
    void informers.acquire(Pod, { fields: either }).informer.lister.get("a")?.status?.phase;
    void informers.acquire(Pod, { fields: [...either] }).informer.lister.get("a")?.spec?.nodeName;
    const unknown = informers.forResource(Pod, options);
    void (unknown.lister.get("a")?.spec?.nodeName satisfies string | undefined);
  };
  assertEquals(check.length, 2);
});

Deno.test("Indexer knows the names of its indexes", () => {
  const plain = new Indexer<Pod>({ keyOf });
  same<typeof plain, Indexer<Pod, never>>();
  // @ts-expect-error no index at all
  assertThrows(() => plain.byIndex("node", "worker-1"), RangeError);
  const byNode = plain.withIndexers({ node: (pod) => [pod.spec?.nodeName ?? ""] });
  same<typeof byNode, Indexer<Pod, "node">>();
  const byBoth = byNode.withIndexers({ phase: (pod) => [pod.status?.phase ?? ""] });
  same<typeof byBoth, Indexer<Pod, "node" | "phase">>();
  same<ReturnType<typeof byBoth.byIndex>, Pod[]>();
  assertEquals([byBoth.byIndex("node", ""), byBoth.indexKeys("phase", ""), byBoth.indexValues("node")], [[], [], []]);
  // @ts-expect-error an index nobody defined
  assertThrows(() => byBoth.byIndex("zone", "eu-1"), RangeError);
  // @ts-expect-error an index function says under what, not whether
  new Indexer<Pod, "ready">({ keyOf, indexers: { ready: (pod) => pod.status?.phase === "Running" } });
  // @ts-expect-error the index that was named is missing
  new Indexer<Pod, "node">({ keyOf, indexers: {} });
  const inferred = new Indexer({ keyOf: (word: string) => word, indexers: { length: (word) => [`${word.length}`] } });
  same<typeof inferred, Indexer<string, "length">>();
  const readers: ReadonlyIndexer<Pod, "node"> = byBoth;
  // @ts-expect-error readers do not write
  readers.add;
});

Deno.test("SharedIndexInformer infers the names of its indexes, and has the one by namespace", async () => {
  using client = fakeClient();
  await using informers = new SharedInformerFactory(client);
  const pods = informers.forResource(Pod, {
    indexers: { node: (pod) => pod.spec?.nodeName ? [pod.spec.nodeName] : [] },
  });
  same<typeof pods, SharedIndexInformer<Pod, "node">>();
  const more = pods.withIndexers({ phase: (pod) => [pod.status?.phase ?? ""] });
  same<typeof more, SharedIndexInformer<Pod, "node" | "phase">>();
  same<typeof more.indexer, ReadonlyIndexer<Pod, "node" | "phase" | "namespace">>();
  same<typeof more.entries, ReadonlyIndexer<CacheEntry<Pod>, "node" | "phase" | "namespace">>();
  assertEquals([
    more.indexer.byIndex("node", "worker-1"),
    more.indexer.indexKeys("phase", "Running"),
    more.entries.byIndex("namespace", "shop"),
  ], [[], [], []]);
  // @ts-expect-error an index nobody defined
  assertThrows(() => pods.indexer.byIndex("nod", "worker-1"), RangeError);
  // @ts-expect-error readers do not write
  pods.indexer.add;
  // @ts-expect-error a field that pods do not have
  informers.forResource(Node, { indexers: { wrong: (node) => [node.nodeName] } });
  const tabs = informers.forResource(CronTab);
  same<typeof tabs, SharedIndexInformer<CronTab, never>>();
  same<ReturnType<typeof tabs.lister.list>, CronTab[]>();
  const tab = tabs.lister.namespace("shop").get("nightly");
  same<typeof tab, CronTab | undefined>();
  assertEquals(tab, undefined);
});

Deno.test("IndexedCollection is a type for any informer, whatever its indexes", async () => {
  using client = fakeClient();
  await using pods = new SharedIndexInformer<Pod, "node">(client.resource(Pod), {
    indexers: { node: (pod) => [pod.spec?.nodeName ?? ""] },
  });
  await using tabs = new SharedIndexInformer(client.resource(CronTab));
  same<typeof tabs, SharedIndexInformer<CronTab, never>>();
  const views: readonly IndexedCollection<KubernetesObject>[] = [pods, tabs];
  const view: IndexedCollection<Pod> = pods;
  assertEquals([...views, view].map((view) => view.status().state), ["idle", "idle", "idle"]);
  // @ts-expect-error pods are not crontabs
  const wrong: IndexedCollection<CronTab> = pods;
  assertEquals(wrong.hasSynced, false);
});

Deno.test("ReadableCollection is a type for informers, derived collections, joined informers and subscriptions", async () => {
  const server = new FakeApiServer();
  for (const name of ["web-0", "web-1"]) server.create(Pod, pod({ name, namespace: "shop" }));
  using client = new Client({ server: "http://fake", transport: server });
  await using informers = new SharedInformerFactory(client);
  await using relay = new InformerRelay(informers, { collections: { pods: Pod } });
  await using clusters = new ClusterSet();
  clusters.add("berlin", new Client({ server: "http://fake", transport: server }));
  const pods = informers.forResource(Pod);
  await using derived = derive(pods, ({ metadata: { name } }) => ({ metadata: { name } }));
  const joined = clusters.forResource(Pod);
  using copy = subscribe<Pod>("http://localhost", "pods", {
    fetch: (input, init) => relay.fetch(new Request(input, init), { remoteAddr: { hostname: "127.0.0.1" } }),
  });
  type Named = { readonly metadata: { readonly name: string } };
  const ofPods: readonly ReadableCollection<Pod>[] = [pods, copy];
  const all: readonly ReadableCollection<Named, unknown, unknown>[] = [...ofPods, derived, joined];
  const named = ({ metadata }: Named): boolean => metadata.name === "web-1";
  const waits = Promise.all(all.map(async (collection) => {
    await collection.waitForCacheSync();
    await collection.until(named);
    const types: string[] = [];
    for await (const { type } of collection.events()) {
      types.push(type);
      if (type === "synced") break;
    }
    return [collection.hasSynced, collection.lister.list().length, types];
  }));
  informers.start();
  clusters.start();
  assertEquals(await waits, all.map(() => [true, 2, ["added", "added", "synced"]]));
  // @ts-expect-error a subscription has no indexes, which derive() reads
  assertThrows(() => derive(copy, () => undefined), TypeError, "Cannot derive a collection");
});

Deno.test("InformerEvent is a closed union, and each case has its own fields", () => {
  function describe(event: InformerEvent<CronTab>): string {
    switch (event.type) {
      case "added":
        same<typeof event, AddedEvent<CronTab>>();
        // @ts-expect-error nothing was before
        event.previous;
        return `${event.key} ${event.object.spec.cronSpec} ${event.initial}`;
      case "updated":
        same<typeof event, UpdatedEvent<CronTab>>();
        return `${event.previous.spec.replicas} → ${event.object.spec.replicas} ${event.resync}`;
      case "deleted":
        same<typeof event, DeletedEvent<CronTab>>();
        return `${event.metadata.name} ${event.finalStateUnknown}`;
      case "synced":
        // @ts-expect-error it is about no object
        event.object;
        return `${event.objects} at ${event.resourceVersion}`;
      default:
        return event satisfies never;
    }
  }
  function open(event: InformerEvent<CronTab>): string {
    switch (event.type) {
      case "added":
      case "updated":
      case "synced":
        return event.type;
      default:
        // @ts-expect-error deletions were forgotten
        return event satisfies never;
    }
  }
  assertEquals(describe({ type: "synced", objects: 2, resourceVersion: "7" }), "2 at 7");
  assertEquals(open({ type: "synced", objects: 0, resourceVersion: "7" }), "synced");
});

Deno.test("WatchEvent, ReflectorPhase and Requirement are closed unions [F22]", () => {
  function version(event: WatchEvent<Pod>): string {
    switch (event.type) {
      case "ADDED":
      case "MODIFIED":
      case "DELETED":
        return event.object.metadata.resourceVersion;
      case "BOOKMARK":
        return event.resourceVersion;
      default:
        return event satisfies never;
    }
  }
  function sign(operator: Requirement["operator"]): string {
    switch (operator) {
      case "In":
      case "NotIn":
      case "GreaterThan":
      case "LessThan":
        return "values";
      case "Exists":
      case "DoesNotExist":
        return "none";
      default:
        return operator satisfies never;
    }
  }
  const stopped = (phase: ReflectorPhase): boolean => phase.name === "stopped";
  assertEquals(version({ type: "BOOKMARK", resourceVersion: "7", initialEventsEnd: false }), "7");
  assertEquals([sign("In"), sign("Exists"), stopped({ name: "stopped" })], ["values", "none", true]);
  // @ts-expect-error a phase that does not exist
  stopped({ name: "sleeping" });
});

Deno.test("ResourceClient, DeltaFIFO and Indexer are assignable to a Reflector's parameters", () => {
  using client = fakeClient();
  const collection: ResourceClient<Pod> = client.resource(Pod, { namespace: "shop" });
  const source: ListerWatcher<Pod> = collection;
  // @ts-expect-error a source of pods is none of crontabs
  const wrongSource: ListerWatcher<CronTab> = collection;
  const store = new Indexer<CacheEntry<Pod>>({ keyOf: (entry) => entry.key });
  const known: KnownObjects<CacheEntry<Pod>> = store;
  const queue = new DeltaFIFO<CacheEntry<Pod>>({ keyOf: (entry) => entry.key, knownObjects: known });
  const stores: readonly ReflectorStore<CacheEntry<Pod>>[] = [store, queue];
  for (const store of stores) store.flush?.("1");
  // @ts-expect-error a store of pods takes no crontabs
  const wrongStore: ReflectorStore<CacheEntry<CronTab>> = store;
  const reflectors = stores.map((store) => new Reflector(source, store));
  assertEquals(reflectors.map(({ phase }) => phase.name), ["stopped", "stopped"]);
  // @ts-expect-error a reflector writes entries, not objects
  new Reflector(source, new Indexer<Pod>({ keyOf }));
  const controller = new Controller({ source, queue, process: ({ key, deltas }) => `${key} ${deltas.length}` });
  assertStrictEquals<unknown>(wrongSource, source);
  assertStrictEquals<unknown>(wrongStore, store);
  assertEquals(controller.hasSynced, false);
});

Deno.test("DeltaFIFO and Indexer work for other values than Kubernetes objects", () => {
  const plain = new Indexer<Pod, "node">({ keyOf, indexers: { node: (pod) => [pod.spec?.nodeName ?? ""] } });
  const queue: ReflectorStore<Pod> = new DeltaFIFO<Pod>({ keyOf, knownObjects: plain });
  const store: ReflectorStore<Pod> = plain;
  queue.resync?.();
  assertEquals(store.flush, undefined);
  const words = new DeltaFIFO({ keyOf: (word: string) => word, knownObjects: new Map().set("a", 1) as never });
  same<typeof words, DeltaFIFO<string>>();
  words.pop(({ deltas: [first] }) => {
    same<typeof first.value, string>();
    // @ts-expect-error only a deletion says whether it was seen
    first.finalStateUnknown;
    if (first.type === "Deleted") same<typeof first.finalStateUnknown, boolean>();
  });
});

Deno.test("FakeApiServer is a Transport, and a client of it is a client", async () => {
  const server = new FakeApiServer();
  const transport: Transport = server;
  using client = new Client({ server: "http://fake", transport });
  const tabs = client.resource(Pod).namespace("shop");
  same<Awaited<ReturnType<typeof tabs.get>>, Pod>();
  const created = await tabs.create({
    metadata: { name: "a" },
    spec: { containers: [{ name: "web", image: "web:1" }] },
  });
  same<typeof created, Pod>();
  assert(compareResourceVersions(created.metadata.resourceVersion, "0") > 0);
  same<Awaited<ReturnType<typeof connect>>, Client>();
});

Deno.test("Entry has the type of its object", () => {
  const entry = entryOf<CronTab>({
    metadata: {
      name: "nightly",
      namespace: "shop",
      uid: "u",
      resourceVersion: "1",
      creationTimestamp: "2026-01-01T00:00:00Z",
    },
    spec: { cronSpec: "0 0 * * *", replicas: 1 },
  });
  same<typeof entry, CacheEntry<CronTab>>();
  same<typeof entry.object, CronTab>();
  // @ts-expect-error entries are read-only
  void ((): string => entry.key = "");
  assertEquals(entry.object.spec.cronSpec, "0 0 * * *");
});

Deno.test("HandlerOptions are type-checked", () => {
  const options: HandlerOptions<CronTab>[] = [
    { filter: (tab) => tab.spec.replicas > 0, backlog: "latestPerKey", resyncMs: 30_000 },
    { backlog: { max: 100 } },
    // @ts-expect-error a policy that does not exist
    { backlog: "drop" },
    // @ts-expect-error a crontab has no phase
    { filter: (tab) => tab.status.phase === "Running" },
  ];
  assertEquals(options.length, 4);
});

/** A controller as users write them: type-checked, and not run. */
export async function controller(options: { readonly client: Client; readonly signal: AbortSignal }): Promise<void> {
  const { client, signal } = options;
  await using informers = new SharedInformerFactory(client, { namespace: "shop" });
  const pods = informers.forResource(Pod);
  const tabs = informers.forResource(CronTab);
  await using queue = new WorkQueue();
  pods.addEventHandler({
    onAdd: ({ key }) => queue.add(key),
    onUpdate: ({ key, previous, object }) => previous.spec === object.spec ? undefined : queue.add(key),
    onDelete: ({ key, finalStateUnknown }) => finalStateUnknown ? undefined : queue.add(key),
    // @ts-expect-error a handler that does not exist
    onChange: () => {},
  });
  informers.start({ signal });
  await informers.waitForCacheSync({ signal });
  for await (using item of queue) {
    const tab = tabs.lister.get(item.key);
    if (tab !== undefined) {
      await client.resource(CronTab).update({ ...copyOf(tab), spec: { ...tab.spec, replicas: 0 } });
    }
    // @ts-expect-error a pod is not a crontab
    await client.resource(CronTab).update(copyOf(pods.lister.get(item.key)!));
    queue.forget(item.key);
  }
}

/** The same by pulling: type-checked, and not run. */
export async function follow(informer: SharedIndexInformer<Pod>, signal: AbortSignal): Promise<string> {
  for await (const event of informer.events({ signal })) {
    if (event.type === "updated") return `${event.previous.status?.phase} → ${event.object.status?.phase}`;
  }
  await informer.waitForVersion("7", { signal });
  const running = await informer.until((pod) => pod.status?.phase === "Running", { signal });
  return running.metadata.name;
}

Deno.test("a worker of a WorkQueue returns nothing, or a result made by retry() or requeueAfter()", () => {
  const queue = new WorkQueue();
  const keys: string[] = [];
  const workers = [
    queue.run((): void => {}),
    queue.run(async () => {}),
    queue.run((_key, { retries }) => retries < 3 ? retry() : undefined),
    queue.run(async (_key, { retries }) => {
      if (await Promise.resolve(retries < 3)) return requeueAfter(1_000);
    }),
    // @ts-expect-error a number is no result
    queue.run((key) => keys.push(key)),
    // @ts-expect-error nor is a boolean
    queue.run(() => Promise.resolve(true)),
    // @ts-expect-error nor is an object of the same shape
    queue.run(() => ({ afterMs: 5 })),
    // @ts-expect-error nor is null
    queue.run(() => null),
    // @ts-expect-error nor is the function that makes one
    queue.run(() => retry),
  ];
  queue.shutDown();
  same<ReturnType<typeof retry>, ReconcileResult>();
  return Promise.all(workers).then(() => {});
});

/** The type of a resource's objects. */
type ObjectOf<R> = R extends Resource<infer T> ? T : never;

Deno.test("onlyFields checks paths through arrays and maps, and its objects have these fields", () => {
  const resource = onlyFields(Pod, [
    ...["spec.nodeName", "spec.containers.image", "status.phase"] as const,
    'metadata.annotations["example.com/owner"]',
  ]);
  type Picked = ObjectOf<typeof resource>;
  same<Picked["spec"]["nodeName"], string | undefined>();
  same<Picked["spec"]["containers"][number]["image"], string | undefined>();
  same<NonNullable<Picked["metadata"]["annotations"]>["example.com/owner"], string | undefined>();
  same<Picked["metadata"]["uid"], string>();
  same<Picked["kind"], "Pod" | undefined>();
  const object: KubernetesObject | undefined = undefined as Picked | undefined;
  assertEquals(object, undefined);
  // @ts-expect-error a field that was not named
  const hostname = (pod: Picked) => pod.spec.hostname;
  // @ts-expect-error a label is no field of this informer
  const labels = (pod: Picked) => pod.metadata.labels;
  // @ts-expect-error a misspelled field
  onlyFields(Pod, ["spec.nodename"]);
  // @ts-expect-error a path through a string
  onlyFields(Pod, ["spec.nodeName.first"]);
  // @ts-expect-error a misspelled field of an item
  onlyFields(Pod, ["spec.nodeName", "spec.containers.images"]);
  assertEquals([typeof hostname, typeof labels], ["function", "function"]);
});

Deno.test("onlyFields accepts recursive types, dynamic objects, and paths that are known at run time alone", () => {
  interface Tree extends KubernetesObject {
    readonly spec: Branch;
  }
  interface Branch {
    readonly name: string;
    readonly branches?: readonly Branch[];
  }
  const Tree = defineResource<Tree>({ group: "acme.dev", version: "v1", plural: "trees", kind: "Tree" });
  const trees = onlyFields(Tree, ["spec.branches.branches.name"]);
  same<
    NonNullable<NonNullable<ObjectOf<typeof trees>["spec"]["branches"]>[number]["branches"]>[number]["name"],
    string
  >();
  const dynamic = onlyFields(Tree as Resource<KubernetesObject> as Resource<DynamicObject>, ["spec.name"]);
  same<ObjectOf<typeof dynamic>["spec"], unknown>();
  const paths: string[] = ["spec.name"];
  const late = onlyFields(Tree, paths);
  const either = onlyFields(Pod, [Math.random() < 0.5 ? "spec.nodeName" : "status.phase"]);
  type Either = typeof either extends Resource<infer T> ? T : never;
  const readEither = (pod: Either): unknown => pod.spec?.nodeName ?? pod.status?.phase;
  // @ts-expect-error one of the two alone is kept
  const readOne = (pod: Either): unknown => pod.spec.nodeName;
  const unread = { metadata: { name: "a" } } as Either;
  assertEquals(readEither(unread), undefined);
  assertThrows(() => readOne(unread), TypeError);
  same<NonNullable<ObjectOf<typeof late>["spec"]>["name"], string | undefined>();
  same<ObjectOf<typeof late>["metadata"]["name"], string>();
});

Deno.test("reduced objects do not type-check as what update, create, apply, copyOf and drafts take", () => {
  const resources = [onlyFields(ConfigMap, ["data"]), onlyMetadata(ConfigMap), asTable(ConfigMap)] as const;
  type Fields = ObjectOf<typeof resources[0]>;
  type Metadata = ObjectOf<typeof resources[1]>;
  type Row = ObjectOf<typeof resources[2]>;
  const never = (maps: ResourceClient<ConfigMap>, fields: Fields, metadata: Metadata, row: Row): void => {
    // @ts-expect-error it lacks fields
    void maps.update(fields);
    // @ts-expect-error so does a copy by spreading
    void maps.update({ ...fields, data: {} });
    // @ts-expect-error it lacks fields
    void maps.update(metadata);
    // @ts-expect-error it has a cell in place of fields
    void maps.update(row);
    // @ts-expect-error it lacks fields
    void maps.create(fields);
    // @ts-expect-error it lacks fields
    void maps.create({ ...metadata, data: {} });
    // @ts-expect-error it has a cell in place of fields
    void maps.create(row);
    // @ts-expect-error the fields that it lacks would be removed
    void maps.apply(fields, { fieldManager: "test" });
    // @ts-expect-error a copy is for a write
    copyOf(fields);
    // @ts-expect-error there is no draft of reduced objects
    const draft: ObjectDraft<Fields> = { metadata: { name: "a" } };
    void draft;
    void maps.patch("a", { type: "merge", body: { data: fields.data } });
  };
  const generic = async <T extends KubernetesObject>(client: ResourceClient<T>, object: T, draft: ObjectDraft<T>) => {
    await client.create(draft);
    await client.update(copyOf(object));
  };
  assertEquals([typeof never, typeof generic], ["function", "function"]);
});

Deno.test("field compiles only where it leads to a field of the objects, or where the text is not known to the compiler", () => {
  const informers = new SharedInformerFactory(fakeClient());
  const pods = informers.forResource(Pod, {
    indexers: {
      node: field("spec.nodeName"),
      image: field("spec.containers.image"),
      own: (pod) => [pod.metadata.name],
    },
  });
  same<typeof pods, SharedIndexInformer<Pod, "node" | "image" | "own">>();
  const text: string = "spec.anything";
  pods.withIndexers({ owner: field('metadata.annotations["example.com/owner"]'), any: field(text) });
  pods.addEventHandler({}, { filter: field("status.phase").equals("Running") });
  // @ts-expect-error there is no such field
  pods.addEventHandler({}, { filter: field("status.phas").equals("Running") });
  // @ts-expect-error there is no such field
  pods.withIndexers({ wrong: field("spec.containers.nam") });
  // @ts-expect-error a pod has no such phase
  pods.addEventHandler({}, { filter: field("status.phase").equals("Runing") });
  // @ts-expect-error a pod has no such phase
  pods.addEventHandler({}, { filter: field("status.phase").in("Running", "Succeded") });
  // @ts-expect-error a container has no such policy
  pods.addEventHandler({}, { filter: field("spec.containers.imagePullPolicy").notEquals("Allways") });
  const newer: string = "Paused";
  pods.addEventHandler({}, { filter: field("status.phase").in(newer, "Failed") });
  pods.addEventHandler({}, { filter: field("spec.containers.imagePullPolicy").notEquals("Always") });
  pods.addEventHandler({}, { filter: field("spec.priority").equals("3") });
  pods.addEventHandler({}, { filter: field("spec.hostNetwork").equals(true) });
  pods.addEventHandler({}, { filter: field("spec.nodeName").in("worker-1", "worker-2") });
  const claims: { readonly metadata: object; readonly spec: PersistentVolumeClaimSpec }[] = [];
  assertEquals(claims.some(field("spec.accessModes").equals("ReadWriteMany")), false);
  // @ts-expect-error a claim has no such mode
  assertEquals(claims.some(field("spec.accessModes").equals("ReadWriteAll")), false);
  // @ts-expect-error a string has no fields
  assertEquals(field("metadata.name.first")(podOf("a")), []);
  assertEquals(field("metadata.name")(podOf("a")), ["a"]);
  assertEquals([podOf("a")].filter(field("metadata.name").notEquals("a")), []);
});

function podOf(name: string): Pod {
  return {
    metadata: { name, namespace: "b", uid: "u", resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z" },
    spec: { containers: [] },
  };
}

Deno.test("informers of Secrets have objects without data, which cannot be written, unless an option asks for the data", () => {
  const never = (informers: SharedInformerFactory, secrets: ResourceClient<Secret>, key: string): void => {
    const lean = informers.forResource(Secret, {
      indexers: { type: field("type"), own: ({ metadata }) => [metadata.name] },
    });
    const secret = lean.lister.get(key)!;
    same<typeof secret.type, string | undefined>();
    same<typeof secret.metadata.uid, string>();
    // @ts-expect-error it has no data
    void secret.data;
    // @ts-expect-error it has no data
    lean.withIndexers({ wrong: field("data.password") });
    // @ts-expect-error the data that it lacks would be removed
    void secrets.update(secret);
    // @ts-expect-error a copy is for a write
    copyOf(secret);
    // @ts-expect-error as of an informer that is acquired
    void informers.acquire(Secret).informer.lister.get(key)?.data;
    const whole = informers.forResource(Secret, { secretData: "keep", indexers: { password: field("data.password") } });
    same<typeof whole, SharedIndexInformer<Secret, "password">>();
    void informers.acquire(Secret, { secretData: "keep" }).informer.lister.get(key)?.data;
    void secrets.update(copyOf(whole.lister.get(key)!));
    // Another kind, and one that is not known to the compiler, are not concerned.
    const pods = informers.forResource<Pod>(Pod, { labelSelector: "app=web" });
    same<typeof pods, SharedIndexInformer<Pod>>();
    const any: Resource<KubernetesObject> = Secret;
    const objects = informers.forResource(any);
    same<typeof objects, SharedIndexInformer<KubernetesObject>>();
  };
  assertEquals(typeof never, "function");
});

Deno.test("types: a generic function has the objects of an informer as Cached<T>, and as T with the data of Secrets", () => {
  const generic = <T extends KubernetesObject>(informers: SharedInformerFactory, resource: Resource<T>): void => {
    const lean: SharedIndexInformer<Cached<T>> = informers.forResource(resource);
    lean.addEventHandler({ onAdd: ({ object }) => object.metadata.uid });
    const views: IndexedCollection<KubernetesObject> = lean;
    const whole: SharedIndexInformer<T> = informers.forResource(resource, { secretData: "keep" });
    // @ts-expect-error it may be a Secret, which has no data then
    const wrong: SharedIndexInformer<T> = informers.forResource(resource);
    void [views, whole, wrong];
  };
  assertEquals(generic.length, 2);
});

Deno.test("types: what is read of a namespaced kind has its namespace, of a cluster-scoped kind none, and drafts may", () => {
  const read = (informers: SharedInformerFactory, key: string): void => {
    same<Pod["metadata"]["namespace"], string>();
    same<Node["metadata"]["namespace"], undefined>();
    same<KubernetesObject["metadata"]["namespace"], string | undefined>();
    const namespaces: (string | undefined)[] = [
      informers.forResource(Pod).lister.get(key)?.metadata.namespace.toUpperCase(),
      informers.forResource(Pod, { fields: ["spec.nodeName"] }).lister.get(key)?.metadata.namespace.toUpperCase(),
      informers.forResource(Secret).lister.get(key)?.metadata.namespace.toUpperCase(),
      informers.forResource(onlyMetadata(Pod)).lister.get(key)?.metadata.namespace.toUpperCase(),
    ];
    // @ts-expect-error a pod is in a namespace
    const pod: Pod = { ...podOf("a"), metadata: { name: "a", uid: "u", resourceVersion: "1", creationTimestamp: "" } };
    // @ts-expect-error a node is in none
    const node: Node = { metadata: pod.metadata, spec: {} };
    const drafts: ObjectDraft<Pod>[] = [
      { metadata: { name: "a" }, spec: { containers: [] } },
      { metadata: { name: "a", namespace: "b" }, spec: { containers: [] } },
    ];
    void [namespaces, node, drafts];
  };
  assertEquals(read.length, 2);
});
