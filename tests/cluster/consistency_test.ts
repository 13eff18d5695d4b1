// Consistency checks against a real server: events that were lost, and a server whose etcd was put back to an earlier
// copy.
import {
  CacheDifferenceError,
  type Change,
  type Client,
  type KubernetesObject,
  type ListerWatcher,
  metadataOf,
  type Resource,
  SharedIndexInformer,
  type SharedIndexInformerOptions,
} from "@kube/informer";
import { ConfigMap, Pod } from "@kube/informer/kinds/core/v1";
import { assert, assertEquals } from "@std/assert";
import { clusterTests, type PlaneSetting, report, seconds } from "./_cluster.ts";
import { assertEqualToServer } from "../support/cluster/compare.ts";
import { runSynced, untilStatus, withDeadline } from "../support/cluster/with_deadline.ts";
import { forEach, mapDraft, names, podDraft, settle } from "../support/cluster/writers.ts";

const cluster = clusterTests();

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
    async *watchChanges(options): AsyncGenerator<readonly Change<T>[]> {
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
    for (const resource of [ConfigMap as Resource<KubernetesObject>, metadataOf(ConfigMap)]) {
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
      const { repair, keys, objects } = await withDeadline("the check", (signal) => informer.check({ signal }));
      report(`3 of ${objects} objects found and repaired in ${seconds(startedAt)}`);
      assertEquals([repair, [...keys].sort()], [
        "objects",
        ["later-0001", "map-0001", "map-0002"].map((name) => `${namespace}/${name}`),
      ]);
      assertEquals(errors.map((error) => error instanceof CacheDifferenceError), [true]);
      await assertEqualToServer(informer, client, resource, { namespace });
      assertEquals((await informer.check()).repair, "none");
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
  const pods = await started(client.resource(Pod, { namespace }), { check: { everyMs: 60_000 } });
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
  "an informer notices that etcd was put back to an earlier copy, by check() and by check: { everyMs }, and is right again",
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
    const result = await withDeadline("the check", (signal) => maps.informer.check({ signal }));
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
