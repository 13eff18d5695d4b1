// Metadata alone, from a real server.
import {
  defineResource,
  type Draft,
  isExpired,
  type KubernetesObject,
  metadataOf,
  type Resource,
  type ResourceClient,
  SharedIndexInformer,
} from "@kube/informer";
import { ConfigMap, Namespace } from "@kube/informer/kinds/core/v1";
import { Deployment } from "@kube/informer/kinds/apps/v1";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { clusterTests } from "./_cluster.ts";
import { needsOf } from "./_versions.ts";
import { define, onceServed, undefine } from "../support/cluster/definitions.ts";
import { runSynced, withDeadline } from "../support/cluster/with_deadline.ts";
import { forEach, mapDraft, names } from "../support/cluster/writers.ts";

const cluster = clusterTests();

const Crontab = defineResource<KubernetesObject>({
  group: "metadata.example.com",
  version: "v1",
  plural: "crontabs",
  kind: "CronTab",
});

/** Metadata whose text needs care in one encoding or the other. */
const ODD: readonly Draft<KubernetesObject>["metadata"][] = [
  { name: "plain" },
  { name: "empty", labels: {}, annotations: {} },
  { name: "labels", labels: { "a.b/c-d_e": "", app: "x".repeat(63), "1": "2" } },
  {
    name: "texts",
    annotations: {
      quotes: `"\\/\b\f\n\r\t\u0000\u001f\u007f`,
      html: "</script>&\u2028\u2029",
      other: "ça va, 世界 🦕 \ud7ff\ue000\uffff",
      long: "x".repeat(70_000),
      "constructor": "{}",
      json: `{"a":[1,2,{"b":null}]}`,
    },
  },
  { name: "prefix", generateName: "prefix-", finalizers: ["example.com/a", "example.com/b"] },
  {
    name: "owned",
    ownerReferences: [
      { apiVersion: "v1", kind: "ConfigMap", name: "plain", uid: "u-1" },
      {
        apiVersion: "apps/v1",
        kind: "Deployment",
        name: "web",
        uid: "u-2",
        controller: true,
        blockOwnerDeletion: false,
      },
    ],
  },
];

/** The entries of a list, with the texts of their objects. */
async function entriesOf(
  objects: ResourceClient<KubernetesObject>,
  managedFields: "drop" | "keep",
): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  for await (const { entries } of objects.listEntries({ managedFields })) {
    for (const entry of entries) {
      assertEquals(entry.labels, entry.object.metadata.labels);
      assertEquals(entry.uid, entry.object.metadata.uid);
      texts.set(entry.key, JSON.stringify(entry.object));
    }
  }
  return texts;
}

/** The texts of a JSON list's items, in the same form. */
function textsOf(items: readonly KubernetesObject[], managedFields: "drop" | "keep"): Map<string, string> {
  return new Map(items.map((item) => {
    const { managedFields: _, ...metadata } = item.metadata;
    const { name, namespace } = item.metadata;
    const key = namespace === undefined ? name : `${namespace}/${name}`;
    return [key, JSON.stringify(managedFields === "keep" ? item : { ...item, metadata })];
  }));
}

cluster.anywhere(
  "metadata of entries is that of objects that are read at once, text by text, of built-in and custom kinds",
  async ({ client, namespace }) => {
    await define(client, Crontab);
    try {
      const kinds: Resource<KubernetesObject>[] = [ConfigMap as Resource<KubernetesObject>, Crontab];
      for (const kind of kinds) {
        const objects = client.resource(kind, { namespace });
        await onceServed(() => objects.list());
        for (const metadata of ODD) await objects.create({ metadata } as Draft<KubernetesObject>);
        await objects.delete("prefix", { gracePeriodSeconds: 0 }); // stays, with a deletionTimestamp
        await objects.patch("plain", { type: "merge", body: { metadata: { annotations: { changed: "1" } } } });
        const metadata = client.resource(metadataOf(kind), { namespace });
        const { items } = await metadata.list();
        assertEquals(items.length >= ODD.length, true);
        assert(items.some((item) => item.metadata.deletionTimestamp !== undefined));
        for (const managedFields of ["keep", "drop"] as const) {
          assertEquals(await entriesOf(metadata, managedFields), textsOf(items, managedFields));
        }
      }
      for (const kind of [Deployment, Namespace] as Resource<KubernetesObject>[]) {
        const metadata = client.resource(metadataOf(kind));
        const { items } = await metadata.list();
        assertEquals(await entriesOf(metadata, "keep"), textsOf(items, "keep"));
      }
    } finally {
      await undefine(client, Crontab);
    }
  },
);

for (const streamingList of ["on", "off"] as const) {
  cluster.anywhere(
    `an informer keeps metadata, with streaming list ${streamingList}`,
    async ({ client, namespace }) => {
      const maps = client.resource(ConfigMap, { namespace });
      const metadata = client.resource(metadataOf(ConfigMap), { namespace });
      for (const metadata of ODD) await maps.create({ metadata } as Draft<ConfigMap>);
      await using informer = new SharedIndexInformer(metadata, { reflector: { streamingList } });
      const deleted: string[] = [];
      informer.addEventHandler({ onDelete: ({ object }) => deleted.push(JSON.stringify(object.metadata.labels)) });
      await runSynced(informer);
      await forEach(names("map", 50), (name) => maps.create(mapDraft(name, { name })));
      await maps.patch("map-0003", { type: "merge", body: { metadata: { annotations: { changed: "ö\n" } } } });
      await maps.delete("map-0004");
      await maps.create(mapDraft("zz-last"));
      await withDeadline(
        "the last write",
        (signal) => informer.until(({ metadata }) => metadata.name === "zz-last", { signal }),
      );
      const { items } = await metadata.list();
      const cached = new Map(informer.lister.list().map((object) => [object.metadata.name, JSON.stringify(object)]));
      const expected = [...textsOf(items, "drop")].map(([key, text]) =>
        [key.slice(namespace.length + 1), text] as const
      );
      assertEquals(cached, new Map(expected));
      assertEquals(deleted, ['{"name":"map-0004"}']);
      assertEquals(informer.status().errors, 0);
    },
    ...needsOf(streamingList),
  );
}

cluster.anywhere(
  "a watch of metadata resumes, and a page of it has a token",
  async ({ client, namespace }) => {
    const maps = client.resource(ConfigMap, { namespace });
    const metadata = client.resource(metadataOf(ConfigMap), { namespace });
    const first = await maps.create(mapDraft("first"));
    await maps.create(mapDraft("second"));
    const received: string[] = [];
    const { resourceVersion } = first.metadata;
    for await (const changes of metadata.watchChanges({ resourceVersion, timeoutSeconds: 5 })) {
      for (const change of changes) {
        if (change.type === "BOOKMARK" || change.entry.name.startsWith("kube-")) continue;
        received.push(`${change.type} ${change.entry.name}`);
      }
      if (received.length > 0) break;
    }
    assertEquals(received, ["ADDED second"]);

    const page = await metadata.list({ limit: 1 });
    assert(page.continue !== undefined);
    const bad = await assertRejects(async () => {
      for await (const _ of metadata.listEntries({ continue: "nonsense" }));
    });
    assertEquals(isExpired(bad), false);
    assertStringIncludes(String(bad), "continue key is not valid");
  },
);

cluster.anywhere(
  "a watch of metadata has the errors of a watch of objects",
  async ({ client, namespace }) => {
    const maps = client.resource(ConfigMap, { namespace });
    const metadata = client.resource(metadataOf(ConfigMap), { namespace });
    const options = { allowBookmarks: true, sendInitialEvents: true, resourceVersion: "999999999" };
    for (const objects of [metadata, maps as ResourceClient<KubernetesObject>]) {
      const error = await assertRejects(async () => {
        for await (const _ of objects.watchChanges(options));
      });
      assertStringIncludes(String(error), "504 Timeout: Timeout: Too large resource version: 999999999");
    }
  },
  "streaming lists by default",
);
