// The promises of informers, tested on any server: the fake is right because the real one passes the same.
import {
  compareResourceVersions,
  copyOf,
  defineResource,
  isConflict,
  isForbidden,
  isNotFound,
  type KubernetesObject,
  onlyMetadata,
  type Resource,
} from "@kube/informer";
import { ConfigMap, Pod } from "@kube/informer/kinds/core/v1";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { EventChecker } from "../cluster/event_checker.ts";
import { untilStatus, withDeadline } from "../cluster/with_deadline.ts";
import { forEach, mapDraft, names, podDraft, settle, writeAtRandom } from "../cluster/writers.ts";
import { ObservedInformer } from "./observed_informer.ts";
import type { CrashableServer, ScenarioServer } from "./scenario_server.ts";

/** A promise that holds on every server. */
export interface Scenario<S extends ScenarioServer = ScenarioServer> {
  /** The symbol and the behaviour. */
  readonly name: string;
  /** True if an informer in it takes nothing but a streaming list. */
  readonly needsStreams?: boolean;
  /** Returns the measurements, as text; fails where the promise is broken. */
  run(server: S): Promise<string>;
}

/** A custom resource of these scenarios alone. */
interface Gadget extends KubernetesObject {
  readonly spec: { readonly size: number };
}
const Gadget: Resource<Gadget> = defineResource<Gadget>({
  group: "scenarios.example.com",
  version: "v1",
  plural: "gadgets",
  kind: "Gadget",
});

function lists(streamingList: "on" | "off"): Scenario {
  const way = streamingList === "on" ? "a streaming list" : "a list request";
  return {
    name: `SharedIndexInformer reads the initial objects by ${way}, and then every change`,
    needsStreams: streamingList === "on",
    async run(server): Promise<string> {
      const maps = server.client.resource(ConfigMap, { namespace: server.namespace });
      let newest = "";
      await forEach(names("map", 30), async (name) => {
        const { metadata } = await maps.create(mapDraft(name));
        if (newest === "" || compareResourceVersions(metadata.resourceVersion, newest) > 0) {
          newest = metadata.resourceVersion;
        }
      });
      // The first list is of the server's watch cache, which may be some milliseconds behind its last writes.
      await maps.list({ resourceVersion: newest, resourceVersionMatch: "NotOlderThan" });
      await using observed = await new ObservedInformer(server, ConfigMap, { reflector: { streamingList } }).synced();
      assertEquals(observed.informer.indexer.size, 30);
      await maps.patch("map-0001", { type: "merge", body: { data: { text: "one" } } });
      await maps.patch("map-0001", { type: "merge", body: { data: { text: "two" } } });
      await maps.delete("map-0002");
      await maps.create(mapDraft("new"));
      await maps.patch("new", { type: "merge", body: { data: { text: "né, 世界" } } });
      await maps.delete("new");
      await observed.check();
      assertEquals(
        ["map-0000", "map-0001", "map-0002", "new"].map((name) => observed.eventsOf(name)),
        ["+i", "+i ~ ~", "+i -", "+ ~ -"],
      );
      const { lists, pages, watches } = observed.requests;
      assertEquals([lists, pages, watches], streamingList === "on" ? [0, 0, 1] : [1, 1, 1]);
      assertEquals(observed.errors, []);
      return observed.summary;
    },
  };
}

/** Scenarios that do not crash the server. */
export const SCENARIOS: readonly Scenario[] = [
  lists("off"),
  lists("on"),
  {
    name: "SharedIndexInformer delivers objects that enter and leave its selection as added and deleted",
    async run(server): Promise<string> {
      const { client, namespace } = server;
      const maps = client.resource(ConfigMap, { namespace });
      const label = (name: string, tier: string | null): Promise<ConfigMap> =>
        maps.patch(name, { type: "merge", body: { metadata: { labels: { tier } } } });
      await maps.create(mapDraft("stays", { tier: "web" }));
      await maps.create(mapDraft("leaves", { tier: "web" }));
      await maps.create(mapDraft("comes", { tier: "db" }));
      await maps.create(mapDraft("never"));
      await using web = new ObservedInformer(server, ConfigMap, {
        selection: { namespace, labelSelector: "tier=web" },
      });
      await using one = new ObservedInformer(server, ConfigMap, {
        selection: { namespace, fieldSelector: "metadata.name=comes" },
      });
      await Promise.all([web.synced(), one.synced()]);
      await label("leaves", "db");
      await label("comes", "web");
      await label("stays", "web"); // nothing changes
      await maps.patch("stays", { type: "merge", body: { data: { text: "changed" } } });
      await label("leaves", "web");
      await label("leaves", null);
      await label("never", "cache");
      const last = await maps.patch("comes", { type: "merge", body: { data: { text: "changed" } } });
      await withDeadline(
        "the last write",
        (signal) => one.informer.waitForVersion(last.metadata.resourceVersion, { signal }),
      );
      await one.compare();
      await web.check({ tier: "web" });
      assertEquals(
        ["stays", "leaves", "comes", "never"].map((name) => web.eventsOf(name)),
        ["+i ~", "+i - + -", "+ ~", ""],
      );
      assertEquals(["comes", "leaves"].map((name) => one.eventsOf(name)), ["+i ~ ~", ""]);
      return `by label: ${web.summary}; by field: ${one.summary}`;
    },
  },
  {
    name: "SharedIndexInformer delivers each write once, by any verb, and none that changes nothing",
    async run(server): Promise<string> {
      const { client, namespace } = server;
      const pods = client.resource(Pod, { namespace });
      await using observed = await new ObservedInformer(server, Pod).synced();
      const created = await pods.create(podDraft("pod", { tier: "web" }));
      await pods.create(podDraft("dry"), { dryRun: true });
      const changed = copyOf(created);
      changed.metadata.labels = { tier: "db" };
      const replaced = await pods.update(changed);
      assert(isConflict(await assertRejects(() => pods.update(changed))));
      assertEquals((await pods.update(copyOf(replaced))).metadata.resourceVersion, replaced.metadata.resourceVersion);
      await pods.patch("pod", { type: "merge", body: { metadata: { annotations: { by: "merge" } } } });
      await pods.patch("pod", {
        type: "strategic",
        body: { spec: { containers: [{ name: "app", image: "registry.example/app:2" }] } },
      });
      await pods.patch("pod", {
        type: "json",
        body: [{ op: "replace", path: "/metadata/annotations/by", value: "json" }],
      });
      await pods.patch("pod", {
        type: "apply",
        fieldManager: "scenario",
        force: true,
        body: { metadata: { annotations: { by: "apply" } } },
      });
      await pods.patch("pod", { type: "merge", body: { status: { phase: "Running" } } }, { subresource: "status" });
      await observed.check();
      assertEquals(["pod", "dry"].map((name) => observed.eventsOf(name)), ["+ ~ ~ ~ ~ ~ ~", ""]);
      const cached = observed.informer.lister.namespace(namespace).get("pod");
      assertEquals(
        [cached?.metadata.labels, cached?.metadata.annotations, cached?.status?.phase, cached?.spec.containers.length],
        [{ tier: "db" }, { by: "apply" }, "Running", 1],
      );
      return observed.summary;
    },
  },
  {
    name: "SharedIndexInformer delivers a new object of the same name as another object",
    async run(server): Promise<string> {
      const maps = server.client.resource(ConfigMap, { namespace: server.namespace });
      await maps.create(mapDraft("twice"));
      await using observed = await new ObservedInformer(server, ConfigMap).synced();
      for (let round = 0; round < 3; round++) {
        await maps.delete("twice");
        await maps.create(mapDraft("twice", { round: String(round) }));
      }
      await observed.check();
      assertEquals(observed.eventsOf("twice"), "+i - + - + - +");
      return observed.summary;
    },
  },
  {
    name: "SharedIndexInformer delivers a deletion that waits for a finalizer as updated, then as deleted",
    async run(server): Promise<string> {
      const { client, namespace } = server;
      const maps = client.resource(ConfigMap, { namespace });
      const draft = mapDraft("held");
      await maps.create({ ...draft, metadata: { ...draft.metadata, finalizers: ["scenarios.example.com/hold"] } });
      await using observed = await new ObservedInformer(server, ConfigMap).synced();
      await maps.delete("held");
      await maps.delete("held"); // again: nothing changes
      const dying = await withDeadline(
        "the mark of its deletion",
        (signal) =>
          observed.informer.until(({ metadata }) => metadata.deletionTimestamp !== undefined, {
            key: `${namespace}/held`,
            signal,
          }),
      );
      assertEquals(dying.metadata.finalizers, ["scenarios.example.com/hold"]);
      await maps.patch("held", { type: "merge", body: { metadata: { finalizers: null } } });
      await observed.check();
      assertEquals(observed.eventsOf("held"), "+i ~ -");
      return observed.summary;
    },
  },
  {
    name: "SharedIndexInformer delivers the deletion of every object of a deleteCollection",
    async run(server): Promise<string> {
      const { client, namespace } = server;
      const maps = client.resource(ConfigMap, { namespace });
      await forEach(names("go", 40), (name) => maps.create(mapDraft(name, { batch: "yes" })));
      await forEach(names("stay", 10), (name) => maps.create(mapDraft(name)));
      await using observed = await new ObservedInformer(server, ConfigMap).synced();
      await maps.deleteCollection({ labelSelector: "batch=yes" });
      await observed.check();
      assertEquals([
        observed.informer.indexer.size,
        observed.checker.counts.deleted,
        observed.checker.unknownFinalStates,
      ], [11, 40, 0]);
      assertEquals(names("go", 40).filter((name) => observed.eventsOf(name) !== "+i -"), []);
      return observed.summary;
    },
  },
  {
    name: "SharedIndexInformer delivers the cached objects to a late handler, and nothing more to a removed one",
    async run(server): Promise<string> {
      const { client, namespace } = server;
      const maps = client.resource(ConfigMap, { namespace });
      await forEach(names("map", 20), (name) => maps.create(mapDraft(name)));
      await using observed = await new ObservedInformer(server, ConfigMap).synced();
      const lateEvents: string[] = [];
      const registration = observed.informer.addEventHandler({
        onAdd: ({ key, initial }) => void lateEvents.push(`${key} ${initial}`),
        onDelete: ({ key }) => void lateEvents.push(`${key} deleted`),
      });
      await withDeadline("the late handler's sync", (signal) => registration.waitForSync({ signal }));
      assertEquals(lateEvents.sort(), names("map", 20).map((name) => `${namespace}/${name} true`));
      await registration[Symbol.asyncDispose]();
      await maps.delete("map-0000");
      const late = new EventChecker(observed.informer);
      await observed.check();
      assertEquals([lateEvents.length, await late.end()], [20, []]);
      return `${lateEvents.length} delivered to the late handler; ${observed.summary}`;
    },
  },
  {
    name: "SharedIndexInformer of metadata alone caches the same metadata as one of full objects",
    needsStreams: true,
    async run(server): Promise<string> {
      const { client, namespace } = server;
      const pods = client.resource(Pod, { namespace });
      await forEach(names("pod", 20), (name) => pods.create(podDraft(name, { tier: "web" })));
      await using complete = new ObservedInformer(server, Pod);
      await using paged = new ObservedInformer(server, onlyMetadata(Pod), { reflector: { streamingList: "off" } });
      await using streamed = new ObservedInformer(server, onlyMetadata(Pod), { reflector: { streamingList: "on" } });
      await Promise.all([complete.synced(), paged.synced(), streamed.synced()]);
      await pods.patch("pod-0001", { type: "merge", body: { metadata: { labels: { tier: "db" } } } });
      await pods.delete("pod-0002", { gracePeriodSeconds: 0 });
      await complete.check();
      for (const observed of [paged, streamed]) {
        await observed.check();
        // A pod is marked before it goes, also when it goes at once.
        assertEquals(["pod-0001", "pod-0002"].map((name) => observed.eventsOf(name)), ["+i ~", "+i ~ -"]);
        assertEquals(observed.informer.lister.list("tier=db").map(({ metadata }) => metadata.name), ["pod-0001"]);
        for (const object of observed.informer.indexer.list()) {
          const { name, namespace } = object.metadata;
          assertEquals(Object.keys(object).sort(), ["apiVersion", "kind", "metadata"]);
          assertEquals([object.apiVersion, object.kind], ["meta.k8s.io/v1", "PartialObjectMetadata"]);
          if (name !== "zz-last") {
            assertEquals(object.metadata, complete.informer.lister.namespace(namespace!).get(name)?.metadata);
          }
        }
      }
      return `metadata by list: ${paged.summary}; by streaming list: ${streamed.summary}`;
    },
  },
  {
    name: "SharedIndexInformer keeps three caches equal to the server while three writers change it",
    async run(server): Promise<string> {
      const { client, namespace } = server;
      await using all = new ObservedInformer(server, ConfigMap);
      await using web = new ObservedInformer(server, ConfigMap, {
        selection: { namespace, labelSelector: "tier=web" },
      });
      await using pods = new ObservedInformer(server, Pod, { reflector: { streamingList: "off" } });
      const writers = [1, 2, 3].flatMap((seed) => [
        writeAtRandom(client, ConfigMap, namespace, { seed, writes: 120, objects: 25 }),
        writeAtRandom(client, Pod, namespace, { seed, writes: 120, objects: 25 }),
      ]);
      await Promise.all([all.synced(), web.synced(), pods.synced()]);
      const done = await Promise.all(writers);
      await settle([all.informer, web.informer], client, ConfigMap, namespace, { tier: "web" });
      await pods.check();
      await all.compare();
      await web.compare();
      for (const { errors } of [all, web, pods]) assertEquals(errors, []);
      const writes = done.reduce((sum, { created, patched, deleted }) => sum + created + patched + deleted, 0);
      return `${writes} writes; all: ${all.checker.summary}; selected: ${web.checker.summary}; pods: ${pods.checker.summary}`;
    },
  },
  {
    name: "SharedIndexInformer.waitForVersion waits until the cache has the caller's own write",
    async run(server): Promise<string> {
      const { client, namespace } = server;
      const maps = client.resource(ConfigMap, { namespace });
      await using observed = new ObservedInformer(server, ConfigMap);
      const cached = observed.informer.lister.namespace(namespace);
      for (let round = 0; round < 20; round++) {
        const written = round === 0
          ? await maps.create(mapDraft("own"))
          : await maps.patch("own", { type: "merge", body: { data: { text: String(round) } } });
        const { resourceVersion } = written.metadata;
        await withDeadline("the write", (signal) => observed.informer.waitForVersion(resourceVersion, { signal }));
        assertEquals(cached.get("own")?.data, written.data);
      }
      await maps.delete("own");
      await withDeadline("the deletion", (signal) => observed.informer.untilDeleted(`${namespace}/own`, { signal }));
      assertEquals(cached.get("own"), undefined);
      await observed.check();
      return observed.summary;
    },
  },
  {
    name: "SharedIndexInformer of all namespaces caches the objects of each",
    async run(server): Promise<string> {
      const { client } = server;
      const labels = { of: server.namespace };
      const places = [server.namespace, await server.newNamespace()];
      for (const namespace of places) {
        await forEach(
          names("map", 10),
          (name) => client.resource(ConfigMap, { namespace }).create(mapDraft(name, labels)),
        );
      }
      const selection = { labelSelector: `of=${server.namespace}` };
      await using observed = await new ObservedInformer(server, ConfigMap, { selection }).synced();
      await client.resource(ConfigMap, { namespace: places[1] }).deleteCollection();
      await observed.check(labels);
      const { lister, indexer } = observed.informer;
      assertEquals(places.map((namespace) => lister.namespace(namespace).list().length), [11, 0]);
      assertEquals(indexer.indexValues("namespace"), [server.namespace]);
      return observed.summary;
    },
  },
  {
    name: "SharedIndexInformer is forbidden until the right is granted",
    async run(server): Promise<string> {
      await server.client.resource(ConfigMap, { namespace: server.namespace }).create(mapDraft("there"));
      const { client, grantReading } = await server.limitedUser();
      await using observed = new ObservedInformer(server, ConfigMap, { client });
      const refusal = await assertRejects(() => observed.synced());
      assert(isForbidden((refusal as Error).cause), `found ${refusal}`);
      assertEquals([observed.informer.status().state, observed.informer.indexer.size], ["forbidden", 0]);
      await grantReading("configmaps");
      await observed.synced({ patient: true });
      await untilStatus(observed.informer, "a live watch", ({ state }) => state === "live");
      await observed.check();
      assertEquals(["there", "zz-last"].map((name) => observed.eventsOf(name)), ["+i", "+"]);
      return `refused: ${(refusal as Error).message}`;
    },
  },
  {
    name:
      "SharedIndexInformer waits for a custom resource definition, follows its objects, and drops them when it is deleted",
    async run(server): Promise<string> {
      const gadgets = server.client.resource(Gadget, { namespace: server.namespace });
      await using observed = new ObservedInformer(server, Gadget);
      const refusal = await assertRejects(() => observed.synced());
      assert(isNotFound((refusal as Error).cause), `found ${refusal}`);
      assertEquals(observed.informer.status().state, "notFound");
      await server.define(Gadget);
      let defined = true;
      try {
        await observed.synced({ patient: true });
        await untilStatus(observed.informer, "a live watch", ({ state }) => state === "live");
        for (let size = 0; size < 5; size++) await gadgets.create({ metadata: { name: `g-${size}` }, spec: { size } });
        await gadgets.delete("g-0");
        const { metadata } = await gadgets.patch("g-1", { type: "merge", body: { spec: { size: 10 } } });
        await withDeadline(
          "the last write",
          (signal) => observed.informer.waitForVersion(metadata.resourceVersion, { signal }),
        );
        await observed.compare();
        await server.undefine(Gadget);
        defined = false;
        await untilStatus(observed.informer, "its end", ({ state }) => state === "notFound");
        assertEquals([observed.informer.indexer.size, await observed.checker.end()], [0, []]);
        assertEquals(
          ["g-0", "g-1", "g-2"].map((name) => observed.eventsOf(name).replace("?", "")),
          ["+ -", "+ ~ -", "+ -"],
        );
        return observed.summary;
      } finally {
        if (defined) await server.undefine(Gadget);
      }
    },
  },
];

/** Scenarios that crash the server. */
export const CRASHES: readonly Scenario<CrashableServer>[] = [
  {
    name: "SharedIndexInformer recovers after a crash, with the writes before and after it",
    needsStreams: true,
    async run(server): Promise<string> {
      const maps = server.client.resource(ConfigMap, { namespace: server.namespace });
      await forEach(names("map", 20), (name) => maps.create(mapDraft(name)));
      await using listed = new ObservedInformer(server, ConfigMap, { reflector: { streamingList: "off" } });
      await using streamed = new ObservedInformer(server, ConfigMap, { reflector: { streamingList: "on" } });
      await Promise.all([listed.synced(), streamed.synced()]);
      await maps.patch("map-0001", { type: "merge", body: { data: { text: "before" } } });
      await maps.delete("map-0002");
      await server.crash();
      await maps.patch("map-0001", { type: "merge", body: { data: { text: "after" } } });
      await maps.delete("map-0003");
      await maps.create(mapDraft("after"));
      for (const observed of [listed, streamed]) {
        await observed.check();
        assert(observed.phases.completeLists <= 2, `it listed ${observed.phases.completeLists} times`);
        assertEquals(
          ["map-0000", "map-0002", "map-0003", "after"].map((name) => observed.eventsOf(name).replace("?", "")),
          ["+i", "+i -", "+i -", "+"],
        );
        assert(observed.errors.length > 0, "no error was reported");
      }
      return [listed, streamed].map(({ phases, summary }) => `${phases.completeLists} complete lists, ${summary}`)
        .join("; ");
    },
  },
  {
    name: "SharedIndexInformer lists once more after a crash without history, and delivers the changes it missed",
    async run(server): Promise<string> {
      const maps = server.client.resource(ConfigMap, { namespace: server.namespace });
      await forEach(names("map", 30), (name) => maps.create(mapDraft(name)));
      await using observed = new ObservedInformer(server, ConfigMap);
      const missed = Promise.withResolvers<void>();
      observed.requests.beforeNextWatch = () => missed.promise;
      try {
        await observed.synced();
        await server.crash({ history: "lost" });
        await forEach(names("map", 11), (name) => maps.delete(name));
        await maps.create(mapDraft("map-0010"));
        await forEach(
          names("map", 16).slice(11),
          (name) => maps.patch(name, { type: "merge", body: { data: { text: "changed" } } }),
        );
        await forEach(names("new", 3), (name) => maps.create(mapDraft(name)));
      } finally {
        missed.resolve();
      }
      await untilStatus(
        observed.informer,
        "a second list",
        ({ state }) => state === "live" && observed.phases.completeLists === 2,
      );
      await observed.check();
      assertEquals(
        ["map-0000", "map-0010", "map-0011", "map-0020", "new-0000"].map((name) => observed.eventsOf(name)),
        ["+i -?", "+i -? +", "+i ~", "+i", "+"],
      );
      assertEquals([observed.phases.completeLists, observed.checker.unknownFinalStates], [2, 11]);
      return `${observed.phases.completeLists} complete lists, ${observed.checker.unknownFinalStates} deletions with an unknown final state; ${observed.summary}`;
    },
  },
];
