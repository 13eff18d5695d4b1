// Rows of tables from a real server, and the fake server's beside them.
import { copyOf } from "../../src/api/object.ts";
import {
  apiVersionOf,
  Client,
  defineResource,
  type Draft,
  type KubernetesObject,
  type Resource,
  resourceName,
  SharedIndexInformer,
  tableOf,
  type TableRow,
} from "@kube/informer";
import { Deployment } from "@kube/informer/kinds/apps/v1";
import { ConfigMap, Namespace, Node, Pod } from "@kube/informer/kinds/core/v1";
import { FakeApiServer } from "@kube/informer/testing";
import { assert, assertEquals, equal } from "@std/assert";
import { clusterTests, type Setting } from "./_cluster.ts";
import { differencesOf, minorOfServer } from "./_versions.ts";
import { Definition, onceServed } from "../support/cluster/definitions.ts";
import { runSynced, withDeadline } from "../support/cluster/with_deadline.ts";
import { forEach, mapDraft, names } from "../support/cluster/writers.ts";

const cluster = clusterTests();

type Written = KubernetesObject & { readonly status?: unknown };

const core = (plural: string, kind: string): Resource<Written> =>
  defineResource<Written>({ version: "v1", plural, kind });
const of = (group: string, plural: string, kind: string): Resource<Written> =>
  defineResource<Written>({ group, version: "v1", plural, kind });
const Role = defineResource<Written>({
  group: "rbac.authorization.k8s.io",
  version: "v1",
  plural: "roles",
  kind: "Role",
});
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
  [Role, { metadata: { name: "reader" }, rules: [] }],
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
  [of("networking.k8s.io", "networkpolicies", "NetworkPolicy"), {
    metadata: { name: "web" },
    spec: { podSelector: { matchLabels: { b: "2", a: "1" } } },
  }],
  [of("policy", "poddisruptionbudgets", "PodDisruptionBudget"), {
    metadata: { name: "web" },
    spec: { minAvailable: "50%", selector: { matchLabels: { app: "web" } } },
  }],
  [of("rbac.authorization.k8s.io", "rolebindings", "RoleBinding"), {
    metadata: { name: "readers" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "reader" },
    subjects: [
      { kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "ann" },
      { kind: "ServiceAccount", namespace: "shop", name: "robot" },
    ],
  }],
  [core("persistentvolumeclaims", "PersistentVolumeClaim"), {
    metadata: { name: "disk" },
    spec: {
      storageClassName: "fast",
      accessModes: ["ReadWriteOnce"],
      resources: { requests: { storage: "1Gi" } },
    },
  }],
  [core("replicationcontrollers", "ReplicationController"), {
    metadata: { name: "old" },
    spec: { replicas: 2, selector: { app: "web" }, template },
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
      let object = await objects.create({ ...draft, ...placed } as Draft<Written>);
      made.push([resource, object.metadata.name]);
      const { status } = draft as Written;
      if (status !== undefined) object = await objects.update({ ...copyOf(object), status }, { subresource: "status" });
      fake.create(resource, object);
    }
    const others = new Map<string, unknown>();
    for (const resource of kinds.values()) {
      const mine = ({ metadata: { name } }: TableRow): boolean =>
        made.some(([of, made]) => resourceName(of) === resourceName(resource) && made === name);
      const real = (await client.resource(tableOf(resource), { namespace }).list()).items.filter(mine);
      const { items } = await copies.resource(tableOf(resource)).list();
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
    const definition = {
      metadata: { name: "crontabs.tables.example.com" },
      spec: {
        group: Crontab.group,
        scope: "Namespaced",
        names: { plural: "crontabs", kind: "CronTab" },
        versions: [{
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
          additionalPrinterColumns: [
            { name: "Spec", type: "string", jsonPath: ".spec.cron" },
            { name: "Replicas", type: "integer", jsonPath: ".spec.replicas", description: "How many." },
            { name: "Missing", type: "string", jsonPath: ".spec.nothing" },
            { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp", priority: 1 },
          ],
        }],
      },
    };
    const draft = { metadata: { name: "daily", namespace }, spec: { cron: "@daily", replicas: 2 } };
    const fake = new FakeApiServer();
    using copies = new Client({ server: "http://fake", transport: fake, namespace });
    const tables: unknown[] = [];
    for (const to of [client, copies]) {
      await to.resource(Definition).create(definition as unknown as Draft<Definition>);
      const rows = to.resource(tableOf(Crontab), { namespace });
      await onceServed(() => to.resource(Crontab, { namespace }).create(draft as Draft<Written>));
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
      const rows = client.resource(tableOf(ConfigMap), { namespace });
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
    const pages = await Array.fromAsync(client.resource(tableOf(ConfigMap), { namespace }).pages({ limit: 2 }));
    assertEquals(pages.map(({ items }) => items.length), [2, 2, 1]);
    assertEquals(new Set(pages.map(({ resourceVersion }) => resourceVersion)).size, 1);
    const namespaces = await client.resource(tableOf(Namespace)).list();
    assert(namespaces.items.some(({ cells: [name, status] }) => name === "default" && status === "Active"));
  },
);
