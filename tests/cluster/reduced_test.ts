import {
  apiVersionOf,
  asTable,
  Client,
  defineResource,
  isExpired,
  type KubernetesObject,
  type ObjectDraft,
  onlyFields,
  onlyMetadata,
  type Resource,
  type ResourceClient,
  resourceName,
  SharedIndexInformer,
  type TableRow,
} from "@kube/informer";
import { Deployment } from "@kube/informer/kinds/apps/v1";
import { ConfigMap, Namespace, Node, Pod, Secret } from "@kube/informer/kinds/core/v1";
import { createOrUpdate, finalize, writeStatus } from "@kube/informer/reconcile";
import { FakeApiServer } from "@kube/informer/testing";
import { assert, assertEquals, assertRejects, assertStringIncludes, equal } from "@std/assert";
import { FieldTree } from "../../src/engine/api/fields.ts";
import { copyOf } from "../../src/engine/api/written.ts";
import { pickFields } from "../../src/engine/entry/reduction.ts";
import { define, Definition, onceServed, undefine } from "../support/cluster/definitions.ts";
import { runSynced, withDeadline } from "../support/cluster/with_deadline.ts";
import { forEach, mapDraft, names, podDraft } from "../support/cluster/writers.ts";
import { definitionOf } from "../support/sources/widgets.ts";
import { clusterTests, report, type Setting } from "./_cluster.ts";
import { differencesOf, minorOfServer, needsOf } from "./_versions.ts";

// Metadata alone, from a real server.

const cluster = clusterTests();

const Crontab = defineResource<KubernetesObject>({
  group: "metadata.example.com",
  version: "v1",
  plural: "crontabs",
  kind: "CronTab",
});

/** Metadata whose text needs care in one encoding or the other. */
const ODD: readonly ObjectDraft<KubernetesObject>["metadata"][] = [
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
        for (const metadata of ODD) await objects.create({ metadata } as ObjectDraft<KubernetesObject>);
        await objects.delete("prefix", { gracePeriodSeconds: 0 }); // stays, with a deletionTimestamp
        await objects.patch("plain", { type: "merge", body: { metadata: { annotations: { changed: "1" } } } });
        const metadata = client.resource(onlyMetadata(kind), { namespace });
        const { items } = await metadata.list();
        assertEquals(items.length >= ODD.length, true);
        assert(items.some((item) => item.metadata.deletionTimestamp !== undefined));
        for (const managedFields of ["keep", "drop"] as const) {
          assertEquals(await entriesOf(metadata, managedFields), textsOf(items, managedFields));
        }
      }
      for (const kind of [Deployment, Namespace] as Resource<KubernetesObject>[]) {
        const metadata = client.resource(onlyMetadata(kind));
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
      const metadata = client.resource(onlyMetadata(ConfigMap), { namespace });
      for (const metadata of ODD) await maps.create({ metadata } as ObjectDraft<ConfigMap>);
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
    const metadata = client.resource(onlyMetadata(ConfigMap), { namespace });
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
    const metadata = client.resource(onlyMetadata(ConfigMap), { namespace });
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

// Rows of tables from a real server, and the fake server's beside them.

type Written = KubernetesObject & { readonly status?: unknown };

const core = (plural: string, kind: string): Resource<Written> =>
  defineResource<Written>({ version: "v1", plural, kind });
const of = (group: string, plural: string, kind: string): Resource<Written> =>
  defineResource<Written>({ group, version: "v1", plural, kind });

const ReplicaSet = defineResource<Written>({ group: "apps", version: "v1", plural: "replicasets", kind: "ReplicaSet" });

const template = {
  metadata: { labels: { app: "web" } },
  spec: { containers: [{ name: "web", image: "web:1" }, { name: "log", image: "log:2" }] },
};
const running = { ready: true, restartCount: 2, state: { running: {} }, image: "web:1", imageID: "", name: "web" };
const crashing = {
  ...running,
  ready: false,
  name: "log",
  state: { waiting: { reason: "CrashLoopBackOff", message: "back-off" } },
};
const node = (name: string, more: object, status: object): [Resource<Written>, object] => [
  Node as Resource<KubernetesObject> as Resource<Written>,
  { metadata: { name, ...more }, status },
];

/** Objects whose cells differ, of the kinds that the fake server prints columns of. */
const OBJECTS: readonly (readonly [Resource<Written>, object])[] = [
  [Pod, {
    metadata: { name: "running" },
    spec: template.spec,
    status: { phase: "Running", containerStatuses: [running] },
  }],
  [Pod, {
    metadata: { name: "crashing" },
    spec: template.spec,
    status: { phase: "Running", podIP: "10.0.0.7", containerStatuses: [running, crashing] },
  }],
  [Pod, { metadata: { name: "pending" }, spec: template.spec }],
  [Pod, { metadata: { name: "evicted" }, spec: template.spec, status: { phase: "Failed", reason: "Evicted" } }],
  [Deployment, {
    metadata: { name: "web" },
    spec: { replicas: 3, selector: { matchLabels: { app: "web" } }, template },
    status: { replicas: 3, readyReplicas: 2, updatedReplicas: 3, availableReplicas: 2 },
  }],
  [ReplicaSet, {
    metadata: { name: "web" },
    spec: { replicas: 2, selector: { matchLabels: { app: "web" } }, template },
  }],
  [ConfigMap, { metadata: { name: "settings" }, data: { a: "1", b: "2" }, binaryData: { c: "AA==" } }],
  [core("secrets", "Secret"), { metadata: { name: "login" }, type: "Opaque", data: { a: "MQ==" } }],
  [core("services", "Service"), {
    metadata: { name: "web" },
    spec: { selector: { app: "web" }, ports: [{ port: 80, name: "http" }, { port: 53, protocol: "UDP", name: "dns" }] },
  }],
  [core("services", "Service"), { metadata: { name: "headless" }, spec: { clusterIP: "None", ports: [{ port: 80 }] } }],
  [core("serviceaccounts", "ServiceAccount"), { metadata: { name: "robot" } }],
  [core("events", "Event"), {
    metadata: { name: "started" },
    involvedObject: { kind: "Pod", name: "running", fieldPath: "spec.containers{web}" },
    type: "Normal",
    reason: "Started",
    message: " Started container \n",
    source: { component: "kubelet", host: "worker-1" },
    count: 3,
  }],
  [core("events", "Event"), {
    metadata: { name: "single" },
    involvedObject: { kind: "Pod" },
    type: "Warning",
    reason: "Odd",
    reportingComponent: "scheduler",
  }],
  [of("apps", "daemonsets", "DaemonSet"), {
    metadata: { name: "log" },
    spec: { selector: { matchLabels: { app: "web" } }, template },
  }],
  [of("batch", "jobs", "Job"), {
    metadata: { name: "once" },
    spec: { completions: 3, template: { spec: { ...template.spec, restartPolicy: "Never" } } },
  }],
  [of("batch", "cronjobs", "CronJob"), {
    metadata: { name: "daily" },
    spec: {
      schedule: "@daily",
      jobTemplate: { spec: { template: { spec: { ...template.spec, restartPolicy: "Never" } } } },
    },
  }],
  [of("networking.k8s.io", "ingresses", "Ingress"), {
    metadata: { name: "web" },
    spec: { rules: [{ host: "a.example" }, { host: "b.example" }], tls: [{ hosts: ["a.example"] }] },
  }],
  [of("policy", "poddisruptionbudgets", "PodDisruptionBudget"), {
    metadata: { name: "web" },
    spec: { minAvailable: "50%", selector: { matchLabels: { app: "web" } } },
  }],
  [core("persistentvolumeclaims", "PersistentVolumeClaim"), {
    metadata: { name: "disk" },
    spec: {
      storageClassName: "fast",
      accessModes: ["ReadWriteOnce"],
      resources: { requests: { storage: "1Gi" } },
    },
  }],
  node("ready", { labels: { "node-role.kubernetes.io/worker": "" } }, {
    conditions: [{ type: "Ready", status: "True" }],
    addresses: [{ type: "InternalIP", address: "10.0.0.1" }],
  }),
  node("lost", {}, { conditions: [{ type: "Ready", status: "Unknown" }] }),
  node("new", {}, {}),
];

/** Columns whose cells are times. */
const TIMES = ["Age", "Created At", "Last Seen", "First Seen"];

/** The columns and cells of rows, without times. */
function printed(rows: readonly TableRow[]): unknown {
  return rows.map(({ columns, cells, metadata }) => ({
    row: metadata.name,
    ...Object.fromEntries(columns.map(({ name, type, format, priority }, i) => [
      `${name} (${type} ${format} ${priority})`,
      TIMES.includes(name) ? typeof cells[i] : cells[i],
    ])),
  }));
}

cluster.anywhere("the fake server prints the columns and cells that a real server prints", async (setting: Setting) => {
  const { client, namespace } = setting;
  const fake = new FakeApiServer();
  using copies = new Client({ server: "http://fake", transport: fake });
  const kinds = new Map(OBJECTS.map(([resource]) => [resourceName(resource), resource]));
  const made: [Resource<Written>, string][] = [];
  try {
    for (const [resource, draft] of OBJECTS) {
      const objects = client.resource(resource, { namespace });
      const { involvedObject } = draft as { readonly involvedObject?: object };
      const placed = involvedObject === undefined ? {} : { involvedObject: { namespace, ...involvedObject } };
      let object = await objects.create({ ...draft, ...placed } as ObjectDraft<Written>);
      made.push([resource, object.metadata.name]);
      const { status } = draft as Written;
      if (status !== undefined) object = await objects.update({ ...copyOf(object), status }, { subresource: "status" });
      fake.create(resource, object);
    }
    const others = new Map<string, unknown>();
    for (const resource of kinds.values()) {
      const mine = ({ metadata: { name } }: TableRow): boolean =>
        made.some(([of, made]) => resourceName(of) === resourceName(resource) && made === name);
      const real = (await client.resource(asTable(resource), { namespace }).list()).items.filter(mine);
      const { items } = await copies.resource(asTable(resource)).list();
      assert(real.length > 0);
      const [ours, theirs] = [printed(items), printed(real)];
      if (!equal(ours, theirs)) others.set(`${apiVersionOf(resource)} ${resource.kind}`, { ours, theirs });
    }
    const declared = differencesOf(await minorOfServer(client), "cells");
    assertEquals([...others.keys()].sort(), declared, JSON.stringify([...others]));
  } finally {
    await forEach(
      made.filter(([{ scope }]) => scope === "Cluster"),
      ([resource, name]) => client.resource(resource).delete(name),
    );
  }
});

cluster.anywhere(
  "a custom resource has the columns that its definition names, on both servers",
  async ({ client, namespace }) => {
    const Crontab = defineResource<Written>({
      group: "tables.example.com",
      version: "v1",
      plural: "crontabs",
      kind: "CronTab",
    });
    const definition = definitionOf(Crontab, {
      additionalPrinterColumns: [
        { name: "Spec", type: "string", jsonPath: ".spec.cron" },
        { name: "Replicas", type: "integer", jsonPath: ".spec.replicas", description: "How many." },
        { name: "Missing", type: "string", jsonPath: ".spec.nothing" },
        { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp", priority: 1 },
      ],
    });
    const draft = { metadata: { name: "daily", namespace }, spec: { cron: "@daily", replicas: 2 } };
    const fake = new FakeApiServer();
    using copies = new Client({ server: "http://fake", transport: fake, namespace });
    const tables: unknown[] = [];
    for (const to of [client, copies]) {
      await to.resource(Definition).create(definition as unknown as ObjectDraft<Definition>);
      const rows = to.resource(asTable(Crontab), { namespace });
      await onceServed(() => to.resource(Crontab, { namespace }).create(draft as ObjectDraft<Written>));
      tables.push(printed((await rows.list()).items));
    }
    assertEquals(tables[1], tables[0]);
  },
);

for (const streamingList of ["auto", "on", "off"] as const) {
  cluster.anywhere(
    `an informer keeps the rows of a real server, with streaming list ${streamingList}`,
    async (setting) => {
      const { client, namespace } = setting;
      const maps = client.resource(ConfigMap, { namespace });
      const rows = client.resource(asTable(ConfigMap), { namespace });
      await using informer = new SharedIndexInformer(rows, { reflector: { streamingList } });
      await runSynced(informer);
      await forEach(names("map", 50), (name) => maps.create(mapDraft(name)));
      await maps.patch("map-0003", { type: "merge", body: { data: { x: "1", y: "2", z: "3" } } });
      await maps.delete("map-0004");
      await maps.create(mapDraft("zz-last"));
      await withDeadline(
        "the last write",
        (signal) => informer.until(({ metadata }) => metadata.name === "zz-last", { signal }),
      );
      const { items } = await rows.list();
      const byName = (a: TableRow, b: TableRow): number => a.metadata.name < b.metadata.name ? -1 : 1;
      assertEquals(printed(informer.lister.list().toSorted(byName)), printed(items.toSorted(byName)));
      assertEquals(items.length, 50);
      const { object } = (await rows.get("map-0003")) as TableRow<ConfigMap>;
      assertEquals(object.data?.z, "3");
      assertEquals(informer.status().errors, 0);
    },
    ...(streamingList === "on" ? ["rows in streaming lists" as const] : []),
  );
}

cluster.anywhere(
  "a page of rows has a version and a token, as a page of objects has",
  async ({ client, namespace }) => {
    const maps = client.resource(ConfigMap, { namespace });
    await forEach(names("map", 5), (name) => maps.create(mapDraft(name)));
    const pages = await Array.fromAsync(client.resource(asTable(ConfigMap), { namespace }).pages({ limit: 2 }));
    assertEquals(pages.map(({ items }) => items.length), [2, 2, 1]);
    assertEquals(new Set(pages.map(({ resourceVersion }) => resourceVersion)).size, 1);
    const namespaces = await client.resource(asTable(Namespace)).list();
    assert(namespaces.items.some(({ cells: [name, status] }) => name === "default" && status === "Active"));
  },
);

// Informers of named fields on a real server: their caches are exact, and no write of what they cache removes a field.

const FIELDS = ["spec.nodeName", "spec.containers.image", "spec.containers.env.name", "metadata.labels.mark", "status"];

/** As JSON has it: without marks. */
const plain = <T>(value: T): T => JSON.parse(JSON.stringify(value));

for (const [title, streamingList] of [["pages", "off"], ["a streaming list", "on"]] as const) {
  cluster.anywhere(
    `an informer of fields equals the picked objects of the server, by ${title} and by a watch`,
    async (setting) => {
      const { client, namespace } = setting;
      const pods = client.resource(Pod, { namespace });
      await forEach(names("pod", 60), (name) => pods.create(podDraft(name, { tier: "web" }, "node-1")));
      const source = client.resource(onlyFields<Pod, readonly string[]>(Pod, FIELDS), { namespace });
      await using informer = new SharedIndexInformer(source, { reflector: { streamingList, pageSize: 25 } });
      let updates = 0;
      informer.addEventHandler({ onUpdate: () => updates++ });
      await runSynced(informer);
      const compare = async (): Promise<void> => {
        const { items } = await pods.list();
        const expected = items.map((pod) => pickFields(plain(pod), FieldTree.of(FIELDS)));
        const byName = (a: unknown, b: unknown): number => (a as Pod).metadata.name < (b as Pod).metadata.name ? -1 : 1;
        assertEquals(informer.indexer.list().map(plain).sort(byName) as unknown[], expected.sort(byName));
      };
      await compare();
      // Half of these changes are of a kept field.
      await forEach(names("pod", 20), async (name) => {
        await pods.patch(name, { type: "merge", body: { metadata: { labels: { other: "1" } } } });
        await pods.patch(name, { type: "merge", body: { metadata: { labels: { mark: "1" } } } });
      });
      const last = await pods.patch("pod-0000", { type: "merge", body: { metadata: { labels: { other: "2" } } } });
      await informer.waitForVersion(last.metadata.resourceVersion, { signal: AbortSignal.timeout(30_000) });
      await compare();
      assertEquals(updates, 20, "an update of another label is no event");
    },
    ...needsOf(streamingList),
  );
}

/** The paths of all values, without the version and those that each write changes. */
function pathsOf(value: unknown, path = ""): string[] {
  if (typeof value !== "object" || value === null) return [path];
  return Object.entries(value).flatMap(([key, part]) => pathsOf(part, `${path}/${key}`))
    .filter((path) => !/^\/metadata\/(managedFields|resourceVersion|generation)/.test(path));
}

async function objectsOf<T extends KubernetesObject>(
  client: Client,
  resource: Resource<T>,
  namespace: string,
): Promise<T[]> {
  await using informer = new SharedIndexInformer(client.resource(resource, { namespace }), { onError: () => {} });
  await runSynced(informer);
  return informer.indexer.list().filter(({ metadata }) => metadata.name === "a");
}

cluster.anywhere(
  "no call with an object of a reduced cache removes a field that the cache left out",
  async (setting) => {
    const { client, namespace } = setting;
    const finalizers = ["example.com/one"];
    const meta = { name: "a", labels: { app: "a", mark: "1" }, annotations: { "example.com/owner": "me" }, finalizers };
    const template = { metadata: { labels: { app: "a" } }, spec: podDraft("a").spec };
    await client.resource(ConfigMap, { namespace }).create({ ...mapDraft("a"), metadata: meta });
    await client.resource(Secret, { namespace }).create({ metadata: meta, stringData: { password: "x" } });
    await client.resource(Pod, { namespace }).create({ ...podDraft("a"), metadata: meta });
    await client.resource(Deployment, { namespace }).create({
      metadata: meta,
      spec: { selector: { matchLabels: { app: "a" } }, template },
    });
    let refused = 0;
    let sent = 0;
    for (const kind of [ConfigMap, Secret, Pod, Deployment] as readonly Resource<KubernetesObject>[]) {
      const objects = client.resource(kind, { namespace });
      const paths: readonly string[] = [
        "metadata.labels.mark",
        "spec.containers.image",
        "spec.template.spec.containers.name",
      ];
      for (
        const form of [
          onlyFields(kind, paths),
          onlyFields(kind, []),
          onlyFields(kind, ["spec"] as readonly string[]),
          onlyMetadata(kind),
          asTable(kind),
        ]
      ) {
        const [object] = await objectsOf(client, form as Resource<KubernetesObject>, namespace);
        const whole = await objects.get("a");
        const typed = { ...object, kind: kind.kind, apiVersion: whole.apiVersion };
        const copies = [object, typed, { ...typed, metadata: { ...object.metadata, labels: {} } }];
        for (const copy of copies as never[]) {
          const writes: readonly (() => Promise<unknown>)[] = [
            () => objects.update(copy),
            () => objects.update(copy, { subresource: "status" }),
            () => objects.apply(copy, { fieldManager: "kube-informer", force: true }),
            () => objects.patch("a", { type: "apply", body: copy, fieldManager: "kube-informer", force: true }),
            () => objects.patch("a", { type: "json", body: [{ op: "replace", path: "", value: copy }] }),
            () => objects.create(copy),
            () => createOrUpdate(objects, { metadata: { name: "a" } }, () => {}, { current: copy }),
            () => finalize(objects, copy, { finalizer: "example.com/two", cleanup: () => {} }),
            () => writeStatus(objects, copy, {} as never),
          ];
          for (const write of writes) {
            await assertRejects(write, TypeError, "is reduced to");
            refused++;
          }
        }
        assertEquals((await objects.get("a")).metadata.resourceVersion, whole.metadata.resourceVersion);
        // A merge patch with all that is cached may be sent, unless it replaces a list by a reduced one: it removes
        // nothing.
        const { apiVersion: _apiVersion, kind: _kind, ...body } = plain(object) as unknown as Record<string, unknown>;
        const marked = { ...object, apiVersion: undefined, kind: undefined };
        if ("columns" in body) continue;
        await objects.patch("a", { type: "merge", body: marked as never }).then(() => sent++, (error) => {
          assert(error instanceof TypeError, String(error));
          refused++;
        });
        const left = pathsOf(await objects.get("a"));
        assertEquals(pathsOf(whole).filter((path) => !left.includes(path)), [], `${kind.kind}: fields were removed`);
      }
    }
    report(`${refused} writes refused, ${sent} merge patches sent`);
  },
);
