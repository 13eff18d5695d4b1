import {
  CacheDifferenceError,
  type Client,
  copyOf,
  derive,
  deriveGroups,
  field,
  isForbidden,
  type KubernetesObject,
  type ListerWatcher,
  MemoryLimitError,
  MemoryWarning,
  onlyMetadata,
  type Resource,
  SharedIndexInformer,
  type SharedIndexInformerOptions,
  SharedInformerFactory,
  WaitError,
  type WatchChange,
} from "@kube/informer";
import { ConfigMap, Namespace, Pod, Secret, ServiceAccount } from "@kube/informer/kinds/core/v1";
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { assertEqualToServer } from "../support/cluster/compare.ts";
import { KINE } from "../support/cluster/kine.ts";
import { EventChecker } from "../support/cluster/event_checker.ts";
import { Requests } from "../support/cluster/requests.ts";
import { runSynced, untilStatus, withDeadline } from "../support/cluster/with_deadline.ts";
import { forEach, mapDraft, names, podDraft, settle, writeAtRandom } from "../support/cluster/writers.ts";
import { clusterTests, type PlaneSetting, report, seconds, type Setting, STREAMS } from "./_cluster.ts";
import { needsOf } from "./_versions.ts";

// Caches of a real server that runs without faults, under many writes by several clients: they become equal to it.

const cluster = clusterTests();

const PODS = 2_000;

/** The objects of one deletion, which a server must answer within a minute: kine deletes some 50 a second. */
const MANY = KINE === undefined ? 5_000 : 1_000;

/** The namespace of 2,000 pods, made when it is first needed. */
let many: string | undefined;

async function manyPods(setting: Setting): Promise<string> {
  if (many !== undefined) return many;
  const namespace = await setting.newNamespace({ keep: true });
  const startedAt = performance.now();
  const pods = setting.client.resource(Pod, { namespace });
  await forEach(names("pod", PODS), (name) => pods.create(podDraft(name, { tier: "web" })));
  report(`${PODS} pods created in ${seconds(startedAt)}`);
  return many = namespace;
}

for (const [title, streamingList] of [["pages", "off"], ["a streaming list", "on"]] as const) {
  cluster.anywhere(`SharedIndexInformer caches 2,000 pods by ${title} and follows their changes`, async (setting) => {
    const { client } = setting;
    const namespace = await manyPods(setting);
    const requests = new Requests(client.resource(Pod, { namespace }));
    await using informer = new SharedIndexInformer(requests, { reflector: { streamingList } });
    const checker = new EventChecker(informer);
    const startedAt = performance.now();
    await runSynced(informer);
    const synced = seconds(startedAt);
    assert(informer.indexer.size >= PODS);
    await assertEqualToServer(informer, client, Pod, { namespace });

    await changeSome(client, namespace, streamingList);
    const lagMs = await settle([informer], client, Pod, namespace);
    await assertEqualToServer(informer, client, Pod, { namespace });
    assertEquals(await checker.end(), []);
    assertEquals(requests.lists, streamingList === "on" ? 0 : 1);
    assertEquals(requests.watches, 1);
    report(
      `by ${title}: synced in ${synced}, ${requests.pages} list requests, ${requests.watches} watches, ` +
        `${checker.summary}, last write seen after ${lagMs.toFixed(0)} ms`,
    );
  }, ...needsOf(streamingList));
}

/** 50 pods patched, 50 deleted, and as many created. */
async function changeSome(client: Client, namespace: string, mark: string): Promise<void> {
  const pods = client.resource(Pod, { namespace });
  await forEach(names("pod", 50), async (name) => {
    await pods.patch(name, { type: "merge", body: { metadata: { labels: { mark } } } });
  });
  await forEach(names("pod", 100).slice(50), (name) => pods.delete(name, { gracePeriodSeconds: 0 }));
  await forEach(names("pod", 100).slice(50), (name) => pods.create(podDraft(name, { mark })));
}

cluster.anywhere("ResourceClient.pages yields 2,000 pods of one version, 500 per page", async (setting) => {
  const { client } = setting;
  const namespace = await manyPods(setting);
  const startedAt = performance.now();
  const versions = new Set<string>();
  const sizes: number[] = [];
  for await (const { items, resourceVersion } of client.resource(Pod, { namespace }).pages()) {
    versions.add(resourceVersion);
    sizes.push(items.length);
  }
  assertEquals(versions.size, 1);
  assertEquals(sizes.slice(0, 4), [500, 500, 500, 500]);
  report(`pages of ${sizes.join(", ")} pods in ${seconds(startedAt)}`);
});

cluster.anywhere(
  "SharedInformerFactory keeps four caches equal to the server while three writers change it",
  async (setting) => {
    const { client, namespace } = setting;
    const errors: unknown[] = [];
    await using informers = new SharedInformerFactory(client, { namespace, onError: (error) => errors.push(error) });
    const web = { labelSelector: "tier=web" };
    const pods = informers.forResource(Pod);
    const webPods = informers.forResource(Pod, web);
    const maps = informers.forResource(ConfigMap);
    const podNames = informers.forResource(onlyMetadata(Pod));
    const checkers = [
      new EventChecker(pods),
      new EventChecker(webPods),
      new EventChecker(maps),
      new EventChecker(podNames),
    ];
    informers.start();
    const startedAt = performance.now();
    const writers = [1, 2, 3].flatMap((seed) => [
      writeAtRandom(client, Pod, namespace, { seed, writes: 400, objects: 60 }),
      writeAtRandom(client, ConfigMap, namespace, { seed, writes: 400, objects: 60 }),
    ]);
    await withDeadline("the first syncs", (signal) => informers.waitForCacheSync({ signal }));
    // A handler that is added during the writes receives no less.
    checkers.push(new EventChecker(pods));
    const done = await Promise.all(writers);
    const took = seconds(startedAt);

    await settle([pods, webPods], client, Pod, namespace, { tier: "web" });
    await settle([podNames], client, onlyMetadata(Pod), namespace, { tier: "web" });
    await settle([maps], client, ConfigMap, namespace);
    await assertEqualToServer(pods, client, Pod, { namespace });
    await assertEqualToServer(webPods, client, Pod, { namespace, ...web });
    await assertEqualToServer(maps, client, ConfigMap, { namespace });
    await assertEqualToServer(podNames, client, onlyMetadata(Pod), { namespace });
    for (const checker of checkers) assertEquals(await checker.end(), []);
    // The three caches of pods overlap, which is reported once.
    assertEquals(errors.map((error) => (error as Error).name), ["OverlappingCachesError"]);
    assert(checkers.every(({ counts }) => counts.updated > 0 && counts.deleted > 0));
    const sum = (what: "created" | "patched" | "deleted"): number => done.reduce((sum, one) => sum + one[what], 0);
    report(`${sum("created")} created, ${sum("patched")} changed, ${sum("deleted")} deleted in ${took}`);
    report(`pods: ${checkers[0].summary}; selected: ${checkers[1].summary}; metadata: ${checkers[3].summary}`);
  },
);

cluster.anywhere(
  `SharedIndexInformer delivers ${MANY} deletions of one deleteCollection`,
  async ({ client, namespace }) => {
    const collection = client.resource(ConfigMap, { namespace, labelSelector: "batch=yes" });
    const all = names("map", MANY);
    const createdAt = performance.now();
    await forEach(all, (name) => collection.create({ ...mapDraft(name, { batch: "yes" }), data: {} }));
    const created = seconds(createdAt);
    const requests = new Requests(collection);
    await using informer = new SharedIndexInformer(requests);
    const checker = new EventChecker(informer);
    await runSynced(informer);
    assertEquals(informer.indexer.size, all.length);

    const startedAt = performance.now();
    await collection.deleteCollection();
    const answered = seconds(startedAt);
    await settle([informer], client, ConfigMap, namespace, { batch: "yes" });
    const took = seconds(startedAt);
    assertEquals(informer.indexer.size, 1);
    assertEquals(await checker.end(), []);
    assertEquals([checker.counts.deleted, checker.unknownFinalStates], [all.length, 0]);
    // Where a streaming list is refused, one request of each kind follows.
    assertEquals([requests.lists, requests.watches], STREAMS ? [0, 1] : [1, 2]);
    report(
      `${MANY} created in ${created}; their deletion by one request answered after ${answered}, delivered within ${took}, ` +
        `${requests.lists} list requests, ${requests.watches} watches`,
    );
  },
);

cluster.withPlane("SharedInformerFactory's caches drop a deleted namespace and all objects in it", async (setting) => {
  const { client } = setting;
  const namespace = await setting.newNamespace();
  const namespaces = client.resource(Namespace);
  await forEach(names("a", 50), async (name) => {
    await client.resource(Pod, { namespace }).create(podDraft(name));
    await client.resource(ConfigMap, { namespace }).create(mapDraft(name));
  });
  await using informers = new SharedInformerFactory(client);
  const itself = informers.forResource(Namespace, { fieldSelector: `metadata.name=${namespace}` });
  const pods = informers.forResource(Pod, { namespace });
  const maps = informers.forResource(ConfigMap, { namespace });
  const checkers = [new EventChecker(itself), new EventChecker(pods), new EventChecker(maps)];
  informers.start();
  await withDeadline("the first syncs", (signal) => informers.waitForCacheSync({ signal }));
  assertEquals([itself, pods, maps].map(({ indexer }) => indexer.size), [1, 50, 50]);

  const startedAt = performance.now();
  await namespaces.delete(namespace);
  const ending = await withDeadline(
    "its mark",
    (signal) => itself.until(({ status }) => status?.phase === "Terminating", { signal }),
  );
  assert(ending.metadata.deletionTimestamp !== undefined);
  const error = await assertRejects(() => client.resource(ConfigMap, { namespace }).create(mapDraft("late")));
  assert(isForbidden(error) && error.message.includes("being terminated"), `found ${error}`);
  // From here on as the namespace controller does it, where there is one.
  const podsDeleted = client.resource(Pod, { namespace }).deleteCollection({ gracePeriodSeconds: 0 });
  const mapsDeleted = client.resource(ConfigMap, { namespace }).deleteCollection();
  await Promise.all([podsDeleted, mapsDeleted]);
  for (const name of names("a", 50)) {
    const key = `${namespace}/${name}`;
    await withDeadline(key, (signal) => Promise.all([pods, maps].map((it) => it.untilDeleted(key, { signal }))));
  }
  const emptied = seconds(startedAt);
  const finalizing = copyOf(await namespaces.get(namespace));
  await namespaces.update({ ...finalizing, spec: { finalizers: [] } }, { subresource: "finalize" });
  await withDeadline("its end", (signal) => itself.untilDeleted(namespace, { signal }));
  const gone = seconds(startedAt);

  assertEquals([itself, pods, maps].map(({ indexer }) => indexer.size), [0, 0, 0]);
  for (const checker of checkers) assertEquals(await checker.end(), []);
  assertEquals(checkers.map(({ counts, unknownFinalStates }) => [counts.added, counts.deleted, unknownFinalStates]), [
    [1, 1, 0],
    [50, 50, 0],
    [
      50,
      50,
      0,
    ],
  ]);
  // No informer lists again or has an error: there is no such namespace, and nothing in it.
  const statuses = [pods, maps].map((informer) => informer.status());
  assertEquals(statuses.map(({ state, errors }) => [state, errors]), [["live", 0], ["live", 0]]);
  report(
    `a namespace with 50 pods and 50 config maps empty ${emptied} after its deletion, gone after ${gone}; ` +
      `informer of the namespace: ${checkers[0].summary}; ${
        statuses.map(({ watches }) => watches).join(" and ")
      } watches inside it`,
  );
});

cluster.anywhere(
  "SharedIndexInformer.waitForVersion waits until the cache has a program's own writes",
  async ({ client, namespace }) => {
    const collection = client.resource(ConfigMap, { namespace });
    await using informer = new SharedIndexInformer(collection);
    informer.run();
    const waits: number[] = [];
    const written = async (version: string): Promise<void> => {
      const startedAt = performance.now();
      await withDeadline(`version ${version}`, (signal) => informer.waitForVersion(version, { signal }));
      waits.push(performance.now() - startedAt);
    };
    for (const name of names("own", 50)) {
      const created = await collection.create(mapDraft(name));
      await written(created.metadata.resourceVersion);
      assertEquals(
        informer.lister.namespace(namespace).get(name),
        await collection.get(name).then(withoutManagedFields),
      );
      const patched = await collection.patch(name, { type: "merge", body: { data: { text: "changed" } } });
      await written(patched.metadata.resourceVersion);
      assertEquals(informer.lister.namespace(namespace).get(name)?.data, { text: "changed" });
    }
    await collection.delete("own-0000");
    await withDeadline("the deletion", (signal) => informer.untilDeleted(`${namespace}/own-0000`, { signal }));
    assertEquals(informer.lister.namespace(namespace).get("own-0000"), undefined);
    const mean = waits.reduce((sum, ms) => sum + ms, 0) / waits.length;
    report(
      `${waits.length} writes read back after ${mean.toFixed(1)} ms on average, ${
        Math.max(...waits).toFixed(0)
      } at most`,
    );
  },
);

cluster.anywhere(
  "SharedInformerFactory with maxBytes ends what grows too much, and follows it again when there is room",
  async (setting) => {
    const { client, namespace } = setting;
    const other = await setting.newNamespace();
    const errors: unknown[] = [];
    const text = "0123456789abcdef".repeat(4_096); // 64 kB
    const create = (names: readonly string[], namespace: string): Promise<void> =>
      forEach(
        names,
        (name) => client.resource(ConfigMap, { namespace }).create({ metadata: { name }, data: { text } }),
      );
    await using informers = new SharedInformerFactory(client, {
      maxBytes: 2_000_000,
      onError: (error) => errors.push(error),
    });
    const maps = informers.forResource(ConfigMap, { namespace });
    const others = informers.forResource(ConfigMap, { namespace: other });
    const checker = new EventChecker(maps);
    const until = (isReached: () => boolean, what: string): Promise<void> =>
      withDeadline(what, async (signal) => {
        for await (const _ of maps.statusChanges({ signal })) if (isReached()) return;
        signal.throwIfAborted();
      });
    await create(names("other", 10), other);
    informers.start();
    await withDeadline("the first syncs", (signal) => informers.waitForCacheSync({ signal }));
    await create(names("map", 40), namespace);
    await until(() => maps.status().state === "stale", "the end of the watch");
    const cached = maps.lister.list();
    assert(cached.length > 10 && cached.length < 40 && cached.every(({ data }) => data?.text === text));
    const [warning, limit] = errors;
    assert(warning instanceof MemoryWarning && limit instanceof MemoryLimitError, String(errors));
    assertEquals([warning.largest[0].fields[0].path, limit.resource], ["data", "configmaps"]);
    assert(informers.countedBytes! > 2_000_000 && informers.countedBytes! < 2_100_000, String(informers.countedBytes));
    assertEquals(others.status().state, "live");
    const startedAt = performance.now();
    informers.maxBytes = 10_000_000;
    await until(() => maps.status().state === "live", "the next watch");
    await assertEqualToServer(maps, client, ConfigMap, { namespace });
    report(`listed again ${seconds(startedAt)} after maxBytes was raised; ${checker.summary}`);
    // A first list of 40 objects that does not fit.
    await using small = new SharedInformerFactory(client, {
      maxBytes: 500_000,
      onError: (error) => errors.push(error),
    });
    const first = small.forResource(ConfigMap, { namespace });
    small.start();
    const { cause } = await assertRejects(() => first.waitForCacheSync(), WaitError);
    assert(cause instanceof MemoryLimitError && cause.total < 2_000_000, String(cause));
    assertEquals([small.countedBytes, first.indexer.size], [0, 0]);
    await Promise.all([informers.shutdown(), small.shutdown()]);
    assertEquals([informers.countedBytes, small.countedBytes], [0, 0]);
  },
);

function withoutManagedFields(map: ConfigMap): ConfigMap {
  const { managedFields: _, ...metadata } = map.metadata;
  return { ...map, metadata };
}

// Informers of Secrets on a real server: they keep no data, and no write of what they cache removes any.

/** The texts and objects that an informer keeps. */
function keptBy({ entries }: Pick<SharedIndexInformer<Secret>, "entries">): string {
  return JSON.stringify(
    [...entries].map((entry) => [(entry as { readonly text?: unknown }).text ?? null, entry.object]),
  );
}

for (const [title, streamingList] of [["pages", "off"], ["a streaming list", "on"]] as const) {
  cluster.anywhere(
    `an informer of Secrets keeps no data, by ${title} and by a watch, and writes of them are refused`,
    async (setting) => {
      const { client, namespace } = setting;
      const secrets = client.resource(Secret, { namespace });
      // As `kubectl apply` writes it: a copy of the data is in an annotation.
      const annotations = {
        "kubectl.kubernetes.io/last-applied-configuration": JSON.stringify({ stringData: { password: "PLANTED" } }),
        "example.com/owner": "ä shop",
      };
      for (const name of ["a", "b"]) {
        await secrets.create({
          metadata: { name, annotations, labels: { app: "web" } },
          stringData: { password: "PLANTED" },
        });
      }
      const encoded = btoa("PLANTED");
      await using informers = new SharedInformerFactory(client, {
        namespace,
        reflector: { streamingList },
        onError: () => {},
      });
      const lean = informers.forResource(Secret, {
        indexers: { owner: field('metadata.annotations["example.com/owner"]') },
      });
      const metadata = informers.forResource(onlyMetadata(Secret));
      const whole = informers.forResource(Secret, { secretData: "keep" });
      const earlier: string[] = [];
      lean.addEventHandler({
        onAdd: ({ object }) => earlier.push(JSON.stringify(object)),
        onUpdate: ({ previous, object }) => earlier.push(JSON.stringify([previous, object])),
        onDelete: ({ object }) => earlier.push(JSON.stringify(object)),
      });
      informers.start();
      await withDeadline("the first sync", (signal) => informers.waitForCacheSync({ signal }));
      await secrets.patch("a", {
        type: "merge",
        body: { data: { more: encoded }, metadata: { labels: { app: "db" } } },
      });
      await secrets.create({ metadata: { name: "c", annotations }, data: { password: encoded } });
      await secrets.delete("b");
      const last = await secrets.create({ metadata: { name: "d", annotations }, data: { password: encoded } });
      for (const informer of [lean, metadata, whole]) {
        await informer.waitForVersion(last.metadata.resourceVersion, { signal: AbortSignal.timeout(30_000) });
      }
      assertEquals(lean.indexer.indexKeys("owner", "ä shop"), ["a", "c", "d"].map((name) => `${namespace}/${name}`));
      const kept = [keptBy(lean as never), keptBy(metadata as never), ...earlier];
      assertEquals(kept.filter((text) => text.includes("PLANTED") || text.includes(encoded)), []);
      assert(earlier.length >= 6, earlier.join("\n"));
      assertEquals(lean.lister.list("app=db").map(({ metadata, type }) => [metadata.name, type]), [["a", "Opaque"]]);
      assertEquals(whole.lister.get(`${namespace}/a`)?.data, { password: encoded, more: encoded });

      const cached = lean.lister.get(`${namespace}/a`) as Secret;
      assertThrows(() => cached.data, TypeError, 'secretData: "keep"');
      const labelled = { ...cached, metadata: { ...cached.metadata, labels: { app: "x" } } };
      await assertRejects(() => secrets.update(cached as never), TypeError, "it is reduced to");
      await assertRejects(() => secrets.update(labelled as never), TypeError, "it is reduced to");
      await assertRejects(
        () => secrets.apply(cached as never, { fieldManager: "test" }),
        TypeError,
        "it is reduced to",
      );
      assertEquals((await secrets.get("a")).data, { password: encoded, more: encoded });
    },
    ...needsOf(streamingList),
  );
}

// Consistency checks against a real server: events that were lost, and a server whose etcd was put back to an earlier
// copy.

/** An informer that has synced, and its errors. */
interface Started<T extends KubernetesObject> {
  readonly informer: SharedIndexInformer<T>;
  readonly errors: unknown[];
}

async function started<T extends KubernetesObject>(
  source: ListerWatcher<T>,
  options: SharedIndexInformerOptions<T> = {},
): Promise<Started<T>> {
  const errors: unknown[] = [];
  const informer = new SharedIndexInformer<T>(source, { onError: (error) => errors.push(error), ...options });
  await runSynced(informer);
  return { informer, errors };
}

/** The collection, with a watch that leaves out the objects of some names. */
function losing<T extends KubernetesObject>(source: ListerWatcher<T>, lost: ReadonlySet<string>): ListerWatcher<T> {
  return {
    identities: source.identities,
    listEntries: (options) => source.listEntries(options),
    async *watchChanges(options): AsyncGenerator<readonly WatchChange<T>[]> {
      for await (const batch of source.watchChanges(options)) {
        yield batch.filter((change) => change.type === "BOOKMARK" || !lost.has(change.entry.name));
      }
    },
  };
}

async function write(
  client: Client,
  resource: Resource<Pod> | Resource<ConfigMap>,
  namespace: string,
  all: readonly string[],
): Promise<void> {
  const collection = client.resource<Pod | ConfigMap>(resource, { namespace });
  await forEach(all, (name) => collection.create(resource.plural === "pods" ? podDraft(name) : mapDraft(name)));
}

cluster.anywhere(
  "check() finds lost additions, changes and deletions, of objects and of metadata, and repairs them",
  async ({ client, namespace }) => {
    await write(client, ConfigMap, namespace, names("map", 20));
    const lost = new Set(["map-0001", "map-0002", "later-0001"]);
    const maps = client.resource(ConfigMap, { namespace });
    const labels = { tier: "web" };
    for (const resource of [ConfigMap as Resource<KubernetesObject>, onlyMetadata(ConfigMap)]) {
      await maps.create(mapDraft("labelled", labels));
      const { informer, errors } = await started(losing(client.resource(resource, { namespace }), lost), {
        reflector: { streamingList: "off" }, // which would lose them from the start
      });
      await using _informer = informer;
      await maps.patch("map-0001", { type: "merge", body: { data: { changed: crypto.randomUUID() } } });
      await maps.delete("map-0002");
      await maps.create(mapDraft("later-0001"));
      await settle([informer as SharedIndexInformer<ConfigMap>], client, ConfigMap, namespace);
      assert(informer.indexer.getByKey(`${namespace}/map-0002`) !== undefined);
      const startedAt = performance.now();
      const { repair, keys, objects } = await withDeadline(
        "the check",
        (signal) => informer.checkConsistency({ signal }),
      );
      report(`3 of ${objects} objects found and repaired in ${seconds(startedAt)}`);
      assertEquals([repair, [...keys].sort()], [
        "objects",
        ["later-0001", "map-0001", "map-0002"].map((name) => `${namespace}/${name}`),
      ]);
      assertEquals(errors.map((error) => error instanceof CacheDifferenceError), [true]);
      await assertEqualToServer(informer, client, resource, { namespace });
      assertEquals((await informer.checkConsistency()).repair, "none");
      // As before, for the next kind of informer.
      await maps.create(mapDraft("map-0002"));
      await maps.delete("later-0001");
      await maps.delete("labelled");
    }
  },
);

/** Two informers on a server whose data are saved, with 30 objects each before that, and 20 others after it. */
async function beforeRestore({ client, namespace, plane }: PlaneSetting): Promise<{
  readonly maps: Started<ConfigMap>;
  readonly pods: Started<Pod>;
}> {
  await write(client, ConfigMap, namespace, names("kept", 30));
  await write(client, Pod, namespace, names("kept", 30));
  await plane.saveData();
  const maps = await started(client.resource(ConfigMap, { namespace }));
  const pods = await started(client.resource(Pod, { namespace }), { consistencyCheck: { intervalMs: 60_000 } });
  await write(client, ConfigMap, namespace, names("undone", 20));
  await write(client, Pod, namespace, names("undone", 20));
  await client.resource(ConfigMap, { namespace }).delete("kept-0003");
  await client.resource(Pod, { namespace }).patch("kept-0003", {
    type: "merge",
    body: { metadata: { labels: { a: "b" } } },
  });
  await settle([maps.informer], client, ConfigMap, namespace);
  await settle([pods.informer], client, Pod, namespace);
  return { maps, pods };
}

cluster.withPlane(
  "an informer notices that etcd was put back to an earlier copy, by checkConsistency() and by consistencyCheck: { intervalMs }, and is right again",
  async (setting) => {
    const { client, namespace, plane } = setting;
    const { maps, pods } = await beforeRestore(setting);
    await using _maps = maps.informer;
    await using _pods = pods.informer;
    const before = maps.informer.status().resourceVersion;
    await plane.restoreData();
    const startedAt = performance.now();
    await untilStatus(maps.informer, "a watch", ({ state }) => state === "live");
    await write(client, ConfigMap, namespace, names("new", 3));
    // Without a check, the watch from a version of the lost history is silent.
    assertEquals([maps.informer.indexer.size, maps.informer.lastSyncResourceVersion], [50, before]);
    const result = await withDeadline("the check", (signal) => maps.informer.checkConsistency({ signal }));
    report(`maps: ${result.differences} differences after ${seconds(startedAt)}: ${result.reason}`);
    assertEquals([result.repair, result.differences], ["list", 25]); // 20 undone, the last, the deleted, and 3 new ones
    assert(result.reason!.startsWith("the server's history went back from version"), result.reason);
    await settle([maps.informer], client, ConfigMap, namespace);
    await assertEqualToServer(maps.informer, client, ConfigMap, { namespace });
    await untilStatus(pods.informer, "a check of pods", ({ lastCheck }) => lastCheck?.repair === "list");
    report(`pods: noticed after ${seconds(startedAt)}`);
    await settle([pods.informer], client, Pod, namespace);
    await assertEqualToServer(pods.informer, client, Pod, { namespace });
    assert(pods.errors.some((error) => error instanceof CacheDifferenceError));
  },
);

// A collection that is derived from two kinds of a real server, beside what the server has in the end.

clusterTests().withPlane(
  "derived collections equal the objects of a real server after many writes",
  async ({ client, namespace }) => {
    const maps = client.resource(ConfigMap, { namespace });
    const accounts = client.resource(ServiceAccount, { namespace });
    await using informers = new SharedInformerFactory(client, { namespace });
    const cachedAccounts = informers.forResource(ServiceAccount, { indexers: { tier: field("metadata.labels.tier") } });
    const cachedMaps = informers.forResource(ConfigMap, { labelSelector: "test=derived" });
    await using joined = derive(cachedMaps, ({ metadata: { name }, data }, { read: fetch }) => ({
      metadata: { name, labels: { tier: data?.tier ?? "" } },
      owner: fetch(cachedAccounts, { key: `${namespace}/${data?.owner}` })?.metadata.labels?.tier ?? "none",
      same: fetch(cachedAccounts, { index: "tier", value: data?.tier ?? "" }).length,
    }), { indexers: { owner: ({ owner }) => [owner] } });
    await using owners = deriveGroups(joined, "owner", ({ value, objects }) => ({
      metadata: { name: value },
      names: objects.map(({ metadata }) => metadata.name).sort(),
    }));
    informers.start();
    await withDeadline("the sync", (signal) => owners.waitForCacheSync({ signal }));
    const labels = { test: "derived" };
    await Promise.all(["a", "b"].map((name, i) => accounts.create({ metadata: { name, labels: { tier: `t${i}` } } })));
    for (let i = 0; i < 6; i++) {
      await maps.create({
        metadata: { name: `m-${i}`, labels },
        data: { tier: `t${i % 3}`, owner: i % 2 ? "a" : "b" },
      });
    }
    await accounts.patch("a", { type: "merge", body: { metadata: { labels: { tier: "t2" } } } });
    await maps.delete("m-0");
    await accounts.delete("b");
    await withDeadline("the last state", async (signal) => {
      await owners.untilDeleted("t1", { signal });
      await owners.until(({ metadata: { name }, names }) => name === "t2" && names.length === 3, { signal });
      await owners.until(({ metadata: { name }, names }) => name === "none" && names.length === 2, { signal });
    });
    assertEquals(owners.lister.list().map(({ metadata: { name }, names }) => [name, ...names]).sort(), [
      ["none", "m-2", "m-4"],
      ["t2", "m-1", "m-3", "m-5"],
    ]);
    assertEquals(joined.lister.list("tier=t2").map(({ metadata: { name }, same }) => [name, same]).sort(), [
      ["m-2", 1],
      ["m-5", 1],
    ]);
  },
);
