// A server that keeps no watch cache: pages are real from the first list on, and what etcd forgets is gone at once.
import { isExpired, SharedIndexInformer } from "@kube/informer";
import { ConfigMap, Pod } from "@kube/informer/kinds/core/v1";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { assertEqualToServer } from "../support/cluster/compare.ts";
import { EventChecker } from "../support/cluster/event_checker.ts";
import { Phases } from "../support/cluster/phases.ts";
import { Requests } from "../support/cluster/requests.ts";
import { runSynced, untilStatus, withDeadline } from "../support/cluster/with_deadline.ts";
import { forEach, mapDraft, names, podDraft, settle } from "../support/cluster/writers.ts";
import { clusterTests, report, seconds } from "./_cluster.ts";
import { needsOf } from "./_versions.ts";

const cluster = clusterTests({ watchCache: false });

const PODS = 2_000;

for (const [title, streamingList] of [["pages", "off"], ["a streaming list", "on"]] as const) {
  cluster.withPlane(
    `SharedIndexInformer caches 2,000 pods by ${title} from a server without a watch cache`,
    async (setting) => {
      const { client, namespace } = setting;
      const pods = client.resource(Pod, { namespace });
      await forEach(names("pod", PODS), (name) => pods.create(podDraft(name)));
      const requests = new Requests(pods);
      await using informer = new SharedIndexInformer(requests, { reflector: { streamingList } });
      const checker = new EventChecker(informer);
      const startedAt = performance.now();
      await runSynced(informer);
      const synced = seconds(startedAt);
      assertEquals(informer.indexer.size, PODS);
      await forEach(names("pod", 100), (name) => pods.delete(name, { gracePeriodSeconds: 0 }));
      const lagMs = await settle([informer], client, Pod, namespace);
      await assertEqualToServer(informer, client, Pod, { namespace });
      assertEquals(await checker.end(), []);
      assertEquals([requests.lists, requests.pages, requests.watches], streamingList === "on" ? [0, 0, 1] : [1, 4, 1]);
      report(
        `by ${title}: synced in ${synced}, ${requests.pages} pages, ${requests.watches} watches, ${checker.summary}, ` +
          `last write seen after ${lagMs.toFixed(0)} ms`,
      );
    },
    ...needsOf(streamingList),
  );
}

cluster.withPlane(
  "SharedIndexInformer starts a list again when its continue token has expired",
  async (setting) => {
    const { client, namespace, plane } = setting;
    const collection = client.resource(ConfigMap, { namespace });
    await forEach(names("map", 300), (name) => collection.create(mapDraft(name)));
    const requests = new Requests(collection);
    let compactions = 0;
    requests.beforeNextPage = async () => {
      if (compactions++ > 0) return;
      // What the first page showed is no longer there, and what it did not show is.
      await collection.delete("map-0000");
      await collection.create(mapDraft("map-0000-a"));
      await plane.compact();
    };
    const phases = new Phases();
    await using informer = new SharedIndexInformer(requests, {
      reflector: { streamingList: "off", pageSize: 100, onPhase: phases.onPhase },
    });
    const checker = new EventChecker(informer);
    const startedAt = performance.now();
    await runSynced(informer);
    const synced = seconds(startedAt);
    await settle([informer], client, ConfigMap, namespace);
    await assertEqualToServer(informer, client, ConfigMap, { namespace });
    assertEquals(await checker.end(), []);
    assertEquals(informer.lister.namespace(namespace).get("map-0000"), undefined);
    assertEquals([requests.lists, phases.completeLists, phases.failures], [2, 1, 0]);
    report(
      `compacted between pages: synced in ${synced} with ${requests.pages} list requests, ${phases.failures} waits`,
    );
  },
);

cluster.withPlane(
  "ResourceClient.pages ends with an error for which isExpired holds when its token has expired",
  async (setting) => {
    const { client, namespace, plane } = setting;
    const collection = client.resource(ConfigMap, { namespace });
    await forEach(names("map", 10), (name) => collection.create(mapDraft(name)));
    const first = await collection.list({ limit: 5 });
    await plane.compact();
    const error = await assertRejects(() => collection.list({ limit: 5, continue: first.continue! }));
    assert(isExpired(error), `found ${error}`);
    report(`an expired token: ${error.message.slice(0, 150)} …`);
  },
);

cluster.withPlane(
  "SharedIndexInformer lists once more when the version it watches from was compacted",
  async ({ client, namespace, plane }) => {
    const collection = client.resource(ConfigMap, { namespace });
    await forEach(names("map", 20), (name) => collection.create(mapDraft(name)));
    const phases = new Phases();
    const requests = new Requests(collection);
    let missed = false;
    // Between one watch and the next: 10 deleted, 5 changed, 1 deleted and created again, 3 created, and all forgotten.
    requests.beforeNextWatch = async () => {
      if (missed) return;
      missed = true;
      await forEach(names("map", 11), (name) => collection.delete(name));
      await collection.create(mapDraft("map-0010"));
      await forEach(
        names("map", 16).slice(11),
        (name) => collection.patch(name, { type: "merge", body: { data: { text: "changed" } } }),
      );
      await forEach(names("new", 3), (name) => collection.create(mapDraft(name)));
      await plane.compact();
    };
    await using informer = new SharedIndexInformer(requests, {
      reflector: { streamingList: "off", watchTimeoutMs: 1_000, onPhase: phases.onPhase },
    });
    const checker = new EventChecker(informer);
    await runSynced(informer);
    await untilStatus(informer, "a second list", ({ lists, state }) => lists === 2 && state === "live");
    await settle([informer], client, ConfigMap, namespace);
    await assertEqualToServer(informer, client, ConfigMap, { namespace });
    assertEquals(await checker.end(), []);
    assertEquals([phases.completeLists, phases.failures, checker.unknownFinalStates], [2, 0, 11]);
    report(`compacted between watches: ${requests.lists} lists, ${requests.watches} watches; ${checker.summary}`);
  },
);

cluster.withPlane(
  "SharedIndexInformer resumes without a list when a server without a watch cache is killed",
  async (setting) => {
    const { client, namespace, plane } = setting;
    const collection = client.resource(ConfigMap, { namespace });
    await collection.create(mapDraft("before"));
    const phases = new Phases();
    await using informer = new SharedIndexInformer(collection, { reflector: { onPhase: phases.onPhase } });
    const checker = new EventChecker(informer);
    await runSynced(informer);
    const startedAt = performance.now();
    await plane.kill9("apiserver");
    await untilStatus(informer, "a state that shows the crash", ({ state }) => state === "unreachable");
    await plane.ensureRunning();
    const ready = seconds(startedAt);
    await forEach(names("after", 20), (name) => collection.create(mapDraft(name)));
    await settle([informer], client, ConfigMap, namespace);
    const took = seconds(startedAt);
    await assertEqualToServer(informer, client, ConfigMap, { namespace });
    assertEquals(await checker.end(), []);
    assertEquals(phases.completeLists, 1);
    report(`killed: server back after ${ready}, cache after ${took}, ${phases.failures} waits, no second list`);
  },
);

cluster.withPlane(
  "ResourceClient.follow yields every change once while a server without a watch cache is killed",
  async (setting) => {
    const { client, namespace, plane } = setting;
    const collection = client.resource(ConfigMap, { namespace });
    const { resourceVersion } = await collection.list();
    const expected = [...names("before", 5), ...names("after", 5)];
    const received: string[] = [];
    const interruptions: unknown[] = [];
    const following = withDeadline("all changes", async (signal) => {
      const options = { resourceVersion, signal, onInterrupted: (error: unknown) => interruptions.push(error) };
      for await (const event of collection.follow(options)) {
        if (event.type !== "BOOKMARK") received.push(`${event.type} ${event.object.metadata.name}`);
        if (received.length === expected.length) return;
      }
    });
    for (const name of expected.slice(0, 5)) await collection.create(mapDraft(name));
    const startedAt = performance.now();
    await plane.kill9("apiserver");
    await plane.ensureRunning();
    for (const name of expected.slice(5)) await collection.create(mapDraft(name));
    await following;
    assertEquals(received, expected.map((name) => `ADDED ${name}`));
    assert(interruptions.length > 0);
    report(`followed over a kill in ${seconds(startedAt)}, ${interruptions.length} interruptions`);
  },
);
