import { assertEquals } from "@std/assert";
import type { KubernetesObject } from "../../../../src/engine/api/object.ts";
import { defineResource } from "../../../../src/engine/api/resource.ts";
import { Deployment } from "../../../../src/engine/kinds/apps/v1.ts";
import { Namespace, Node, Pod } from "../../../../src/engine/kinds/core/v1.ts";
import { builtInResources } from "../../../../src/testing/fake/storage/definition.ts";
import { deployment, FakeApiServer, type Fixture, namespace, node, pod } from "../../../../src/testing/mod.ts";
import { ask, ConfigMap, Lines, Widget } from "../../../support/servers/fake_server.ts";
import { definitionOf } from "../../../support/sources/widgets.ts";

const NOW = Date.UTC(2026, 5, 1, 12);
const TABLE = { accept: "application/json;as=Table;g=meta.k8s.io;v=v1,application/json" };

interface Table {
  readonly kind: string;
  readonly columnDefinitions: readonly { readonly name: string; readonly priority: number }[] | null;
  readonly rows: readonly { readonly cells: readonly unknown[]; readonly object: { readonly kind: string } | null }[];
}

async function table(server: FakeApiServer, path: string): Promise<Table> {
  return (await ask(server, path, { headers: TABLE })).json;
}

/** The columns that are always shown, by name. */
function shown({ columnDefinitions, rows }: Table): Record<string, unknown>[] {
  return rows.map(({ cells }) =>
    Object.fromEntries(cells.flatMap((cell, at) => {
      const { name, priority } = columnDefinitions![at];
      return priority === 0 ? [[name, cell]] : [];
    }))
  );
}

Deno.test("FakeApiServer makes tables of pods, deployments, nodes, namespaces and config maps", async () => {
  const server = new FakeApiServer({ now: () => NOW });
  const created = { creationTimestamp: "2026-06-01T11:30:00Z" };
  const running = pod({ name: "web-0", namespace: "shop" });
  server.create(Pod, { ...running, metadata: { ...running.metadata, ...created } });
  const pods = shown(await table(server, "/api/v1/namespaces/shop/pods"));
  assertEquals(pods.map(({ Ready: _, ...rest }) => rest), [
    { Name: "web-0", Status: running.status?.phase ?? "Pending", Restarts: "0", Age: "30m" },
  ]);
  const web = deployment({ name: "web" });
  server.create(Deployment, {
    ...web,
    spec: { ...web.spec, replicas: 3 },
    status: { readyReplicas: 2, updatedReplicas: 1 },
  });
  assertEquals(shown(await table(server, "/apis/apps/v1/deployments")), [
    {
      Name: "web",
      Ready: "2/3",
      "Up-to-date": 1,
      Available: 0,
      Age: shown(await table(server, "/apis/apps/v1/deployments"))[0].Age,
    },
  ]);
  const worker = node({ name: "n1", labels: { "node-role.kubernetes.io/worker": "" } });
  server.create(Node, {
    ...worker,
    spec: { unschedulable: true },
    status: { conditions: [{ type: "Ready", status: "True" }] },
  });
  const [{ Name, Status, Roles }] = shown(await table(server, "/api/v1/nodes"));
  assertEquals([Name, Status, Roles], ["n1", "Ready,SchedulingDisabled", "worker"]);
  server.create(Namespace, namespace({ name: "shop" }));
  assertEquals(shown(await table(server, "/api/v1/namespaces"))[0].Status, "Active");
  server.create(ConfigMap, { metadata: { name: "a" }, data: { x: "1", y: "2" } });
  assertEquals(shown(await table(server, "/api/v1/configmaps")), [{ Name: "a", Data: 2, Age: "0s" }]);
  assertEquals(shown(await table(server, "/apis/rbac.authorization.k8s.io/v1/roles")), []);
});

const named = { name: "a" };
const template = { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "c", image: "i:1" }] } };
const selector = { matchLabels: { app: "web" }, matchExpressions: [{ key: "a", operator: "In", values: ["y", "x"] }] };
const times = { startTime: "2026-01-02T03:00:00Z", completionTime: "2026-01-02T03:01:30Z" };
const condition = (type: string): object => ({ type, status: "True" });

/** Objects, and their cells after the name; they are made at the time of their age. */
const CELLS: readonly (readonly [path: string, object: object, cells: string])[] = [
  [
    "apps/v1/daemonsets",
    { spec: { template, selector }, status: { numberReady: 1 } },
    "0|0|1|0|0|<none>|0s|c|i:1|a in (x,y),app=web",
  ],
  [
    "batch/v1/jobs",
    { spec: { template, completions: 3 }, status: { succeeded: 1, ...times } },
    "Running|1/3|90s|0s|c|i:1|<none>",
  ],
  [
    "batch/v1/jobs",
    { spec: { template, parallelism: 2 }, status: { conditions: [condition("Failed")] } },
    "Failed|0/1 of 2||0s|c|i:1|<none>",
  ],
  ["batch/v1/cronjobs", {
    spec: { schedule: "@daily", suspend: false, jobTemplate: { spec: { template } } },
    status: { active: [{}] },
  }, "@daily|<none>|False|1|<none>|0s|c|i:1|<none>"],
  [
    "networking.k8s.io/v1/ingresses",
    { spec: { ingressClassName: "n", tls: [{}], rules: [{ host: "h" }] } },
    "n|h||80, 443|0s",
  ],
  ["v1/persistentvolumeclaims", {
    spec: { volumeName: "v", storageClassName: "s" },
    status: { phase: "Bound", capacity: { storage: "1Gi" }, accessModes: ["ReadWriteMany", "ReadWriteOnce"] },
  }, "Bound|v|1Gi|RWO,RWX|s|<unset>|0s|<unset>"],
  [
    "policy/v1/poddisruptionbudgets",
    { spec: { minAvailable: "50%" }, status: { disruptionsAllowed: 2 } },
    "50%|N/A|2|0s",
  ],
  ["autoscaling/v2/horizontalpodautoscalers", {
    spec: {
      scaleTargetRef: { kind: "Deployment", name: "d" },
      maxReplicas: 3,
      metrics: [{ type: "Resource", resource: { name: "cpu", target: { averageUtilization: 50 } } }],
    },
  }, "0s"],
  [
    "v1/services",
    { spec: { type: "LoadBalancer", ports: [{ port: 80, nodePort: 30080 }], clusterIPs: ["10.0.0.1"] } },
    "LoadBalancer|10.0.0.1|<pending>|80:30080/TCP|0s|<none>",
  ],
  [
    "discovery.k8s.io/v1/endpointslices",
    { addressType: "IPv4", ports: [{}], endpoints: [{ addresses: ["10.0.0.2"] }] },
    "0s",
  ],
  ["scheduling.k8s.io/v1/priorityclasses", { value: 7 }, "0s"],
  ["apiextensions.k8s.io/v1/customresourcedefinitions", {
    spec: {
      scope: "Cluster",
      group: "g.example",
      names: { kind: "A", shortNames: ["s"] },
      versions: [
        { name: "v2", served: true, storage: false },
        { name: "v1", served: true, storage: true },
        { name: "v0", served: false, storage: false },
      ],
    },
  }, "Cluster|v1(storage),v2|2026-01-02T03:04:05Z|g.example|A|s|true"],
  ["v1/pods", {
    spec: { containers: [{ name: "c" }], initContainers: [{ name: "i" }, { name: "j" }] },
    status: {
      phase: "Pending",
      initContainerStatuses: [{ name: "i", state: { terminated: { exitCode: 0 } } }, {
        name: "j",
        restartCount: 2,
        state: { waiting: { reason: "CrashLoopBackOff" } },
      }],
    },
  }, "0/1|Init:CrashLoopBackOff|2|0s|<none>|<none>|<none>|<none>"],
  ["v1/pods", {
    spec: { containers: [{ name: "c" }] },
    status: {
      phase: "Running",
      containerStatuses: [{
        name: "c",
        restartCount: 1,
        state: { terminated: { exitCode: 137, signal: 9 } },
        lastState: { terminated: { finishedAt: "2026-01-02T03:03:05Z" } },
      }],
    },
  }, "0/1|Signal:9|1 (60s ago)|0s|<none>|<none>|<none>|<none>"],
  ["v1/pods", {
    spec: { containers: [{ name: "c" }], initContainers: [{ name: "s", restartPolicy: "Always" }] },
    status: {
      phase: "Running",
      initContainerStatuses: [{ name: "s", started: true, ready: true, state: { running: {} } }],
      containerStatuses: [{ name: "c", ready: true, state: { running: {} } }],
    },
  }, "2/2|Running|0|0s|<none>|<none>|<none>|<none>"],
];

for (const [i, [path, object, cells]] of CELLS.entries()) {
  Deno.test(`FakeApiServer prints the columns of kubectl get: ${path} ${i}`, async () => {
    const server = new FakeApiServer({ now: () => Date.parse("2026-01-02T03:04:05Z") });
    const [, group = "", version, plural] = /^(?:(.*)\/)?(v\d)\/(.*)$/.exec(path)!;
    const known = builtInResources().find((kind) =>
      kind.group === group && kind.version === version && kind.plural === plural
    )!;
    server.create(defineResource(known), { metadata: named, ...object } as Fixture<KubernetesObject>);
    const { rows, columnDefinitions } = await table(server, `/${group === "" ? "api" : "apis"}/${path}`);
    assertEquals(rows[0].cells.map(String).join("|"), `a|${cells}`);
    assertEquals(rows[0].cells.length, columnDefinitions!.length);
  });
}

Deno.test("FakeApiServer prints the columns that a custom resource's definition names", async () => {
  const columns = [
    { name: "Size", type: "integer", jsonPath: ".spec.size" },
    { name: "Tier", type: "string", jsonPath: ".metadata.labels['example.com/tier']", priority: 1 },
    { name: "Born", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ];
  const server = new FakeApiServer({ now: () => NOW });
  const path = "/apis/example.com/v1/namespaces/default/widgets";
  await ask(server, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
    method: "POST",
    body: definitionOf(Widget, { additionalPrinterColumns: columns }),
  });
  const metadata = { name: "w", labels: { "example.com/tier": "web" } };
  await ask(server, path, { method: "POST", body: { metadata, spec: { size: 3 } } });
  const { columnDefinitions, rows } = await table(server, path);
  assertEquals(columnDefinitions!.map(({ name }) => name), ["Name", "Size", "Tier", "Born"]);
  assertEquals(rows[0].cells, ["w", 3, "web", "0s"]);
});

Deno.test("FakeApiServer includes in a row what includeObject selects", async () => {
  const server = new FakeApiServer();
  server.create(ConfigMap, { metadata: { name: "a" } });
  const carried = async (include: string): Promise<unknown> => {
    const { rows } = await table(server, `/api/v1/namespaces/default/configmaps/a?includeObject=${include}`);
    return rows[0].object?.kind ?? null;
  };
  assertEquals(
    [await carried(""), await carried("Object"), await carried("None")],
    ["PartialObjectMetadata", "ConfigMap", null],
  );
  const bad = await ask(server, "/api/v1/configmaps?includeObject=Some", { headers: TABLE });
  assertEquals([bad.status, bad.json.reason], [400, "BadRequest"]);
});

Deno.test("FakeApiServer sends watches as Tables, with the columns in the first one only", async () => {
  const server = new FakeApiServer();
  await using watch = await Lines.open(server, "/api/v1/configmaps?watch=1&resourceVersion=1", TABLE);
  server.create(ConfigMap, { metadata: { name: "a" }, data: { x: "1" } });
  server.delete(ConfigMap, "default/a");
  const [added, deleted] = await watch.take(2);
  assertEquals([added.type, added.object.kind, added.object.columnDefinitions.length], ["ADDED", "Table", 3]);
  assertEquals([deleted.type, deleted.object.columnDefinitions], ["DELETED", null]);
  assertEquals([deleted.object.rows[0].cells.slice(0, 2), deleted.object.metadata], [["a", 1], {
    resourceVersion: "3",
  }]);
});
