import { assertEquals } from "@std/assert";
import type { Resource } from "../../../../src/engine/api/resource.ts";
import { Deployment } from "../../../../src/engine/kinds/apps/v1.ts";
import { Pod } from "../../../../src/engine/kinds/core/v1.ts";
import { readAddress } from "../../../../src/operator/schema/values/network.ts";
import { formFaults } from "../../../../src/testing/fake/schema/checks.ts";
import { schedule, timeZone } from "../../../../src/testing/fake/schema/rules_workloads.ts";
import { FakeApiServer } from "../../../../src/testing/mod.ts";
import { ask } from "../../../support/servers/fake_server.ts";
import { REFUSED } from "./_refused.ts";

// deno-lint-ignore no-explicit-any -- each test knows the members that it reads
type Body = any;

/** Kinds that are served for these tests. */
const MORE: readonly Resource[] = [
  ["autoscaling", "v1", "horizontalpodautoscalers", "HorizontalPodAutoscaler", "Namespaced"],
  ["autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler", "Namespaced"],
  ["networking.k8s.io", "v1", "ingressclasses", "IngressClass", "Cluster"],
].map(([group, version, plural, kind, scope]) => ({ group, version, plural, kind, scope }) as Resource);

/** The path of a resource of the core group, or the path itself. */
function pathOf(resource: string): string {
  if (resource.startsWith("/")) return resource;
  return `/api/v1/${CLUSTER.includes(resource) ? "" : "namespaces/default/"}${resource}`;
}

async function send(server: FakeApiServer, method: string, path: string, body?: unknown): Promise<[number, Body]> {
  const headers = method === "PATCH" ? { "content-type": "application/merge-patch+json" } : undefined;
  const { status, json } = await ask(server, pathOf(path), { method, headers, body });
  return [status, json];
}

function causesOf(body: Body): readonly string[] {
  const causes: readonly { field: string; reason: string }[] = body.details?.causes ?? [];
  return causes.map(({ field, reason }) => `${field} ${reason.replace("FieldValue", "")}`).sort();
}

const CLUSTER = ["nodes", "namespaces", "persistentvolumes"];

Deno.test("objects are refused for the reasons and fields of the server", async () => {
  const server = new FakeApiServer({ resources: MORE });
  for (const [resource, members, causes] of REFUSED) {
    const object = { metadata: { name: "x" }, ...members };
    const [code, body] = await send(server, "POST", `${pathOf(resource)}?dryRun=All`, object);
    // Faults of the pods of a template are those of pods.
    const found = causesOf(body).filter((cause) =>
      !resource.startsWith("/") || !cause.endsWith(".containers Required")
    );
    assertEquals([code, found], [422, causes], `${resource} ${JSON.stringify(members).slice(0, 500)}`);
  }
});

const POD = { containers: [{ name: "a", image: "b" }] };
const PODS = { selector: { matchLabels: { a: "b" } }, template: { metadata: { labels: { a: "b" } }, spec: POD } };
const JOB = { template: { spec: { ...POD, restartPolicy: "Never" } } };
const RBAC = "/apis/rbac.authorization.k8s.io/v1/namespaces/default";
const APPS = "/apis/apps/v1/namespaces/default";
const JOBS = "/apis/batch/v1/namespaces/default/jobs";

Deno.test("labels and annotations of the template of pods are named without its metadata", async () => {
  const server = new FakeApiServer();
  const metadata = { labels: { a: "b", "c d": "e" }, annotations: { "f g": "h" } };
  const spec = { ...PODS, template: { ...PODS.template, metadata } };
  const [code, body] = await send(server, "POST", `${APPS}/deployments`, { metadata: { name: "x" }, spec });
  assertEquals([code, causesOf(body)], [422, ["spec.template.annotations Invalid", "spec.template.labels Invalid"]]);
});

Deno.test("defaults follow from other members", async () => {
  const server = new FakeApiServer({ resources: MORE });
  const create = async (path: string, object: object): Promise<Body> =>
    (await send(server, "POST", path, { metadata: { name: "x" }, ...object }))[1];
  const deployment = await create(`${APPS}/deployments`, { spec: PODS });
  assertEquals(deployment.spec.strategy.rollingUpdate, { maxUnavailable: "25%", maxSurge: "25%" });
  assertEquals([deployment.status, deployment.metadata.generation], [{}, 1]);
  const recreated = { spec: { ...PODS, strategy: { type: "Recreate" } } };
  assertEquals((await create(`${APPS}/deployments`, { metadata: { name: "y" }, ...recreated })).spec.strategy, {
    type: "Recreate",
  });
  assertEquals((await create(`${APPS}/replicasets`, { spec: PODS })).status, { replicas: 0 });
  const job = await create(JOBS, { spec: JOB });
  const { uid } = job.metadata;
  assertEquals(job.spec.selector, { matchLabels: { "batch.kubernetes.io/controller-uid": uid } });
  assertEquals(job.metadata.labels, job.spec.template.metadata.labels);
  assertEquals(job.metadata.labels["job-name"], "x");
  assertEquals(
    [job.spec.parallelism, job.spec.completions, job.spec.backoffLimit, job.spec.completionMode],
    [1, 1, 6, "NonIndexed"],
  );
  const policy = await create("/apis/networking.k8s.io/v1/namespaces/default/networkpolicies", {
    spec: { egress: [{}] },
  });
  assertEquals(policy.spec.policyTypes, ["Ingress", "Egress"]);
  const binding = await create(`${RBAC}/rolebindings`, {
    roleRef: { kind: "Role", name: "a" },
    subjects: [{ kind: "User", name: "u" }, { kind: "ServiceAccount", name: "s" }],
  });
  assertEquals(binding.subjects.map(({ apiGroup }: Body) => apiGroup), ["rbac.authorization.k8s.io", undefined]);
  const scaler = await create("/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers", {
    spec: {
      maxReplicas: 3,
      scaleTargetRef: { kind: "D", name: "a", apiVersion: "apps/v1" },
      behavior: { scaleUp: { policies: [{ type: "Pods", value: 1, periodSeconds: 3 }] } },
    },
  });
  assertEquals(scaler.spec.behavior, {
    scaleUp: { selectPolicy: "Max", policies: [{ type: "Pods", value: 1, periodSeconds: 3 }] },
    scaleDown: { selectPolicy: "Max", policies: [{ type: "Percent", value: 100, periodSeconds: 15 }] },
  });
});

Deno.test("the generation rises with what a kind counts as desired", async () => {
  const server = new FakeApiServer();
  await send(server, "POST", `${APPS}/deployments`, { metadata: { name: "x" }, spec: PODS });
  const generations: number[] = [];
  for (const metadata of [{ labels: { a: "b" } }, { annotations: { a: "b" } }]) {
    const [, body] = await send(server, "PATCH", `${APPS}/deployments/x`, { metadata });
    generations.push(body.metadata.generation);
  }
  const [, status] = await send(server, "PATCH", `${APPS}/deployments/x/status`, {
    metadata: { annotations: { c: "d" }, labels: { c: "d" } },
    spec: { replicas: 9 },
    status: { observedGeneration: 2 },
  });
  generations.push(status.metadata.generation);
  assertEquals(generations, [1, 2, 2]);
  assertEquals(
    [status.metadata.annotations, status.metadata.labels, status.spec.replicas],
    [{ a: "b", c: "d" }, { a: "b" }, 1],
  );
});

Deno.test("an update creates objects of some kinds", async () => {
  const server = new FakeApiServer();
  const leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
  const [code, body] = await send(server, "PUT", `${leases}/x`, { metadata: { name: "x" } });
  assertEquals([code, body.metadata.name, body.metadata.namespace], [201, "x", "default"]);
  assertEquals((await send(server, "PUT", "configmaps/x", { metadata: { name: "x" } }))[0], 404);
  const [unnamed, { message }] = await send(server, "PUT", `${leases}/x`, { metadata: {} });
  assertEquals([unnamed, message], [
    400,
    "the name of the object (x based on URL) was undeterminable: name must be provided",
  ]);
});

const MAP = "configmaps/x";

Deno.test("a patch whose result is not of its type is invalid itself", async () => {
  const server = new FakeApiServer();
  await send(server, "POST", MAP.slice(0, -2), { metadata: { name: "x" } });
  const [code, body] = await send(server, "PATCH", MAP, { data: { a: 1 } });
  assertEquals([code, body.details.kind, causesOf(body)], [422, undefined, ["patch Invalid"]]);
  const why = body.message.slice(body.message.lastIndexOf(": json:") + 2);
  assertEquals(why, "json: cannot unmarshal number into Go struct field ConfigMap.data of type string");
  const [strict, { details }] = await send(server, "PATCH", `${MAP}?fieldValidation=Strict`, { odd: 1 });
  assertEquals([strict, causesOf({ details })], [422, ["patch Invalid"]]);
});

const OPTIONS:
  readonly (readonly [method: string, path: string, body: object, kind: string, causes: readonly string[]])[] = [
    ["DELETE", MAP, { propagationPolicy: "Nonsense" }, "DeleteOptions", ["propagationPolicy NotSupported"]],
    ["DELETE", MAP, { propagationPolicy: "Orphan", orphanDependents: true }, "DeleteOptions", [
      "propagationPolicy Invalid",
    ]],
    ["DELETE", MAP, { dryRun: ["X"] }, "DeleteOptions", ["dryRun NotSupported"]],
    ["PATCH", `${MAP}?fieldManager=${"a".repeat(129)}`, {}, "PatchOptions", ["fieldManager TooLong"]],
    ["PATCH", `${MAP}?force=true`, {}, "PatchOptions", ["force Forbidden"]],
    ["PUT", `${MAP}?dryRun=X&fieldValidation=X`, { metadata: { name: "x" } }, "UpdateOptions", [
      "dryRun NotSupported",
      "fieldValidation NotSupported",
    ]],
  ];

Deno.test("options of requests are checked", async () => {
  const server = new FakeApiServer();
  await send(server, "POST", "configmaps", { metadata: { name: "x" } });
  for (const [method, path, sent, kind, causes] of OPTIONS) {
    const [code, body] = await send(server, method, path, sent);
    assertEquals([code, body.details?.kind, causesOf(body)], [422, kind, causes], path);
  }
  // Options of the body stand for those of the query.
  assertEquals((await send(server, "DELETE", `${MAP}?dryRun=All`, {}))[0], 200);
  assertEquals((await send(server, "GET", MAP))[0], 404);
});

Deno.test("schedules and time zones are read as the server does", () => {
  for (const good of ["@every 5m", "@hourly", "0 9-17/2 * jan,MAR mon-fri", "*/5 1,2 ? 12 0"]) {
    assertEquals(schedule(good), [], good);
  }
  const wrong = ["TZ=UTC * * * * *", "61 * * * *", "*/0 * * * *", "5-1 * * * *", "1/2/3 * * * *", "* * * JANX *"];
  for (const bad of wrong) assertEquals(schedule(bad).length, 1, bad);
  assertEquals(schedule("@hourl"), ["expected exactly 5 fields, found 1: [@hourl]"]);
  assertEquals(["Europe/Berlin", "Nope/Zone"].map(timeZone), [[], ["unknown time zone Nope/Zone"]]);
  assertEquals(timeZone("local").length, 1);
});

Deno.test("addresses and their ranges are read", () => {
  assertEquals(
    ["10.0.0.256", "fe80::1::", "::ffff:10.0.0.1", "1:2:3:4:5:6:7:8"].map((text) => readAddress(text)?.bits),
    [
      undefined,
      undefined,
      128,
      128,
    ],
  );
  assertEquals(formFaults("10.0.0.1/8", "addressRange"), ["must not have bits set beyond the prefix length"]);
});

const LIMITED = {
  spec: { containers: [{ name: "app", image: "app:1", resources: { limits: { cpu: "1", memory: "1Gi" } } }] },
};

Deno.test("a pod is completed as by the server and its admission plugins", async () => {
  const server = new FakeApiServer();
  const [code, { metadata, spec, status }] = await send(server, "POST", "pods", {
    metadata: { name: "a" },
    ...LIMITED,
    status: { phase: "Running" },
  });
  assertEquals([code, metadata.generation, status], [201, 1, { phase: "Pending", qosClass: "Guaranteed" }]);
  const [{ imagePullPolicy, resources }] = spec.containers;
  assertEquals([imagePullPolicy, resources.requests], ["IfNotPresent", { cpu: "1", memory: "1Gi" }]);
  assertEquals([spec.priority, spec.preemptionPolicy, spec.enableServiceLinks], [0, "PreemptLowerPriority", true]);
  assertEquals(spec.tolerations.map(({ key }: Body) => key), [
    "node.kubernetes.io/not-ready",
    "node.kubernetes.io/unreachable",
  ]);
});

Deno.test("an update of a pod's status keeps its quality of service", async () => {
  const server = new FakeApiServer();
  const [, pod] = await send(server, "POST", "pods", { metadata: { name: "a" }, ...LIMITED });
  const [, { status }] = await send(server, "PUT", "pods/a/status", { ...pod, status: { phase: "Running" } });
  assertEquals(status, { phase: "Running", qosClass: "Guaranteed" });
});

const QUALITIES: readonly (readonly [resources: object, quality: string])[] = [
  [{}, "BestEffort"],
  [{ requests: { cpu: "1" } }, "Burstable"],
  [{ limits: { cpu: "1" } }, "Burstable"],
  [{ limits: { cpu: "1", memory: "1" }, requests: { cpu: "0.5" } }, "Burstable"],
  [{ limits: { cpu: "1", memory: "1" }, requests: { cpu: "1000m" } }, "Guaranteed"],
];

Deno.test("the quality of service of a pod follows from the resources of its containers", async () => {
  const server = new FakeApiServer();
  for (const [resources, quality] of QUALITIES) {
    const body = { metadata: { name: "a" }, spec: { containers: [{ name: "app", image: "a", resources }] } };
    const [, { status }] = await send(server, "POST", "pods?dryRun=All", body);
    assertEquals(status.qosClass, quality, JSON.stringify(resources));
  }
});

Deno.test("texts of a Secret become its data", async () => {
  const server = new FakeApiServer();
  const body = { metadata: { name: "a" }, data: { a: "", c: "eA==" }, stringData: { a: "x", b: "ä" } };
  const [, { data, stringData }] = await send(server, "POST", "secrets", body);
  assertEquals([data, stringData], [{ a: "eA==", b: "w6Q=", c: "eA==" }, undefined]);
});

Deno.test("claims, volumes and nodes get what admission plugins add", async () => {
  const server = new FakeApiServer();
  const resources = { requests: { storage: "1Gi" } };
  const [, claim] = await send(server, "POST", "persistentvolumeclaims", {
    metadata: { name: "a" },
    spec: { accessModes: ["ReadWriteOnce"], resources },
  });
  assertEquals([claim.metadata.finalizers, claim.status], [["kubernetes.io/pvc-protection"], { phase: "Pending" }]);
  const [, volume] = await send(server, "POST", "persistentvolumes", {
    metadata: { name: "a" },
    spec: { accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" }, hostPath: { path: "/a" } },
  });
  assertEquals([volume.metadata.finalizers, volume.status.phase], [["kubernetes.io/pv-protection"], "Pending"]);
  const [, node] = await send(server, "POST", "nodes", {
    metadata: { name: "a" },
    spec: { podCIDR: "10.0.0.0/24" },
    status: { capacity: { cpu: "2" } },
  });
  assertEquals(node.spec, {
    podCIDR: "10.0.0.0/24",
    taints: [{ key: "node.kubernetes.io/not-ready", effect: "NoSchedule" }],
  });
  assertEquals(node.status.allocatable, { cpu: "2" });
});

Deno.test("a Service gets a cluster IP of its own, keeps it, and loses it as an external name", async () => {
  const server = new FakeApiServer();
  const ports = [{ port: 80 }];
  const create = async (name: string, spec: object): Promise<Body> =>
    (await send(server, "POST", "services", { metadata: { name }, spec }))[1].spec;
  const a = await create("a", { ports });
  assertEquals([a.clusterIPs, a.ports[0].targetPort], [[a.clusterIP], 80]);
  assertEquals((await create("b", { ports })).clusterIP === a.clusterIP, false);
  assertEquals((await create("c", { clusterIP: "None" })).clusterIPs, ["None"]);
  const put = { metadata: { name: "a" }, spec: { ports, selector: { app: "a" } } };
  const [, replaced] = await send(server, "PUT", "services/a", put);
  assertEquals([replaced.spec.clusterIP, replaced.spec.clusterIPs], [a.clusterIP, a.clusterIPs]);
  const [code, external] = await send(server, "PATCH", "services/a", {
    spec: { type: "ExternalName", externalName: "example.com" },
  });
  assertEquals([code, external.spec.clusterIP, external.spec.clusterIPs], [200, undefined, undefined]);
  assertEquals((await create("d", { type: "ExternalName", externalName: "example.com" })).clusterIP, undefined);
});

const CLAIM = { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "2Gi" } } } };
const VOLUME = { spec: { accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" }, hostPath: { path: "/a" } } };

Deno.test("an address of a balancer has its mode", async () => {
  const server = new FakeApiServer();
  const status = { status: { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } } };
  const spec = { type: "LoadBalancer", ports: [{ port: 80 }] };
  await send(server, "POST", "services", { metadata: { name: "b" }, spec });
  const [, balanced] = await send(server, "PATCH", "services/b/status", status);
  assertEquals(balanced.status.loadBalancer.ingress, [{ ip: "192.0.2.1", ipMode: "VIP" }]);
});

Deno.test("a ServiceAccount names its secrets alone", async () => {
  const server = new FakeApiServer();
  const body = { metadata: { name: "a" }, secrets: [{ name: "s", namespace: "x", uid: "u" }] };
  assertEquals((await send(server, "POST", "serviceaccounts", body))[1].secrets, [{ name: "s" }]);
});

Deno.test("a deletion on trial of a held object returns the object", async () => {
  const server = new FakeApiServer();
  await send(server, "POST", "persistentvolumeclaims", { metadata: { name: "a" }, ...CLAIM });
  const [, trial] = await send(server, "DELETE", "persistentvolumeclaims/a?dryRun=All");
  assertEquals([trial.kind, typeof trial.metadata.deletionTimestamp], ["PersistentVolumeClaim", "string"]);
  const [, kept] = await send(server, "GET", "persistentvolumeclaims/a");
  assertEquals(kept.metadata.deletionTimestamp, undefined);
});

/** Objects, changes of them, and why the server refuses these. */
const FIXED: readonly (readonly [resource: string, object: object, change: object, causes: readonly string[]])[] = [
  ["pods", LIMITED, { spec: { nodeName: "n" } }, ["spec Forbidden"]],
  ["pods", LIMITED, { spec: { nodeSelector: { a: "b" } } }, ["spec Forbidden"]],
  ["pods", LIMITED, { spec: { tolerations: [] } }, []],
  ["pods", LIMITED, { spec: { initContainers: [{ name: "i", image: "i" }] } }, ["spec.initContainers Forbidden"]],
  ["pods", LIMITED, { spec: { activeDeadlineSeconds: 5 } }, []],
  [
    "pods",
    { spec: { ...LIMITED.spec, activeDeadlineSeconds: 5 } },
    { spec: { activeDeadlineSeconds: 6 } },
    ["spec.activeDeadlineSeconds Invalid"],
  ],
  ["services", { spec: { ports: [{ port: 1 }] } }, { spec: { clusterIP: "10.96.7.7", clusterIPs: null } }, [
    "spec.clusterIPs[0] Invalid",
  ]],
  ["secrets", { type: "a/b" }, { type: "c/d" }, ["type Invalid"]],
  ["secrets", { immutable: true }, { data: { a: "" } }, ["data Forbidden"]],
  ["configmaps", { immutable: true, data: { a: "" } }, { immutable: null, data: { a: "b" } }, [
    "data Forbidden",
    "immutable Forbidden",
  ]],
  ["persistentvolumeclaims", CLAIM, { spec: { accessModes: ["ReadWriteMany"] } }, ["spec Forbidden"]],
  ["persistentvolumeclaims", CLAIM, { spec: { storageClassName: "a" } }, []],
  ["persistentvolumes", VOLUME, { spec: { capacity: { storage: "2Gi" } } }, []],
  [`${APPS}/deployments`, { spec: PODS }, {
    spec: { selector: { matchLabels: { c: "d" } }, template: { metadata: { labels: { c: "d" } } } },
  }, ["spec.selector Invalid"]],
  [`${APPS}/statefulsets`, { spec: { ...PODS, serviceName: "s" } }, {
    spec: { serviceName: "q", podManagementPolicy: "Parallel", revisionHistoryLimit: 3 },
  }, ["spec.podManagementPolicy Invalid", "spec.serviceName Invalid"]],
  [JOBS, { spec: JOB }, {
    spec: {
      completions: 3,
      parallelism: 4,
      completionMode: "Indexed",
      template: { spec: { nodeSelector: { a: "b" } } },
    },
  }, ["spec.completionMode Invalid", "spec.completions Invalid", "spec.template Invalid"]],
  [`${RBAC}/rolebindings`, { roleRef: { kind: "Role", name: "a" } }, { roleRef: { name: "b" } }, ["roleRef Invalid"]],
  ["/apis/storage.k8s.io/v1/storageclasses", { provisioner: "a/b" }, { provisioner: "a/c", mountOptions: ["x"] }, [
    "provisioner Invalid",
  ]],
  [`${APPS}/controllerrevisions`, { data: { a: "b" }, revision: 1 }, { data: { a: "c" }, revision: 2 }, [
    "data Invalid",
  ]],
  ["configmaps", {}, {
    metadata: { uid: "z", deletionTimestamp: "2020-01-01T00:00:00Z", deletionGracePeriodSeconds: 3 },
  }, ["metadata.deletionGracePeriodSeconds Invalid", "metadata.deletionTimestamp Invalid", "metadata.uid Invalid"]],
];

Deno.test("updates cannot change what the server fixes", async () => {
  for (const [resource, object, change, causes] of FIXED) {
    const server = new FakeApiServer({ resources: MORE });
    const [created, made] = await send(server, "POST", pathOf(resource), { metadata: { name: "a" }, ...object });
    assertEquals(created, 201, JSON.stringify(made));
    const [code, body] = await send(server, "PATCH", `${pathOf(resource)}/a`, change);
    assertEquals([code, causesOf(body)], [causes.length === 0 ? 200 : 422, causes.toSorted()], JSON.stringify(change));
  }
});

Deno.test("what was wrong in an object that the test made may stay wrong", async () => {
  const server = new FakeApiServer();
  for (
    const [resource, path, spec, more, cause] of [
      [Pod, "pods/x", { containers: [] }, { restartPolicy: "Bad" }, "spec.restartPolicy NotSupported"],
      [Deployment, `${APPS}/deployments/x`, { replicas: -1 }, { minReadySeconds: -1 }, "spec.minReadySeconds Invalid"],
    ] as const
  ) {
    server.create(resource as Resource, { metadata: { name: "x" }, spec } as never);
    assertEquals((await send(server, "PATCH", path, { metadata: { labels: { a: "b" } } }))[0], 200);
    const [code, body] = await send(server, "PATCH", path, { spec: more });
    assertEquals([code, causesOf(body).includes(cause)], [422, true], path);
  }
});
