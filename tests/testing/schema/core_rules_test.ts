import { assertEquals } from "@std/assert";
import { FakeApiServer } from "../../../src/testing/mod.ts";
import { REFUSED } from "./refused_core.ts";

// deno-lint-ignore no-explicit-any -- each test knows the members that it reads
type Body = any;

async function send(server: FakeApiServer, method: string, path: string, body?: unknown): Promise<[number, Body]> {
  const headers = { "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json" };
  const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
  const response = await server.fetch(new Request(`http://fake/api/v1/${path}`, init));
  return [response.status, await response.json()];
}

function causesOf(body: Body): readonly string[] {
  const causes: readonly { field: string; reason: string }[] = body.details?.causes ?? [];
  return causes.map(({ field, reason }) => `${field} ${reason.replace("FieldValue", "")}`).sort();
}

const CLUSTER = ["nodes", "namespaces", "persistentvolumes"];

function pathOf(resource: string): string {
  return CLUSTER.includes(resource) ? resource : `namespaces/default/${resource}`;
}

Deno.test("objects of the core group are refused for the reasons of the server", async () => {
  const server = new FakeApiServer();
  for (const [resource, members, causes] of REFUSED) {
    const [code, body] = await send(server, "POST", pathOf(resource), { metadata: { name: "a" }, ...members });
    assertEquals([code, causesOf(body)], [422, causes], JSON.stringify(members).slice(0, 500));
  }
});

const POD = {
  spec: { containers: [{ name: "app", image: "app:1", resources: { limits: { cpu: "1", memory: "1Gi" } } }] },
};

Deno.test("a pod is completed as by the server and its admission plugins", async () => {
  const server = new FakeApiServer();
  const [code, { metadata, spec, status }] = await send(server, "POST", pathOf("pods"), {
    metadata: { name: "a" },
    ...POD,
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
  const [, pod] = await send(server, "POST", pathOf("pods"), { metadata: { name: "a" }, ...POD });
  const [, { status }] = await send(server, "PUT", `${pathOf("pods")}/a/status`, {
    ...pod,
    status: { phase: "Running" },
  });
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
    const [, { status }] = await send(server, "POST", `${pathOf("pods")}?dryRun=All`, body);
    assertEquals(status.qosClass, quality, JSON.stringify(resources));
  }
});

Deno.test("texts of a Secret become its data", async () => {
  const server = new FakeApiServer();
  const body = { metadata: { name: "a" }, data: { a: "", c: "eA==" }, stringData: { a: "x", b: "ä" } };
  const [, { data, stringData }] = await send(server, "POST", pathOf("secrets"), body);
  assertEquals([data, stringData], [{ a: "eA==", b: "w6Q=", c: "eA==" }, undefined]);
});

Deno.test("claims, volumes and nodes get what admission plugins add", async () => {
  const server = new FakeApiServer();
  const resources = { requests: { storage: "1Gi" } };
  const [, claim] = await send(server, "POST", pathOf("persistentvolumeclaims"), {
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
    podCIDRs: ["10.0.0.0/24"],
    taints: [{ key: "node.kubernetes.io/not-ready", effect: "NoSchedule" }],
  });
  assertEquals(node.status.allocatable, { cpu: "2" });
});

Deno.test("Services get addresses and ports of their own, and lose them with their type", async () => {
  const server = new FakeApiServer();
  const create = (name: string, spec: object): Promise<[number, Body]> =>
    send(server, "POST", pathOf("services"), { metadata: { name }, spec });
  const [, a] = await create("a", { ports: [{ port: 80 }] });
  const [, b] = await create("b", {
    type: "NodePort",
    ports: [{ name: "x", port: 53 }, { name: "y", port: 53, protocol: "UDP" }],
  });
  assertEquals(a.spec.ipFamilies, ["IPv4"]);
  assertEquals(a.spec.clusterIPs, [a.spec.clusterIP]);
  assertEquals(a.spec.ports[0].targetPort, 80);
  assertEquals(new Set([a.spec.clusterIP, b.spec.clusterIP]).size, 2);
  const [first, second] = b.spec.ports.map(({ nodePort }: Body) => nodePort);
  assertEquals([first >= 30_000 && first < 32_768, second], [true, first]);
  const taken = await create("c", { clusterIP: a.spec.clusterIP, ports: [{ port: 80 }] });
  assertEquals([taken[0], causesOf(taken[1])], [422, ["spec.clusterIPs Invalid"]]);
  const [, external] = await send(server, "PATCH", `${pathOf("services")}/b`, {
    spec: { type: "ExternalName", externalName: "example.com" },
  });
  const { clusterIP, clusterIPs, ipFamilies, externalTrafficPolicy } = external.spec;
  assertEquals([clusterIP, clusterIPs, ipFamilies, externalTrafficPolicy], [
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
  assertEquals(external.spec.ports[0].nodePort, undefined);
  await send(server, "DELETE", `${pathOf("services")}/a`);
  assertEquals((await create("c", { clusterIP: a.spec.clusterIP, ports: [{ port: 80 }] }))[0], 201);
});

const CLAIM = { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "2Gi" } } } };
const VOLUME = { spec: { accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" }, hostPath: { path: "/a" } } };

/** Objects, changes of them, and why the server refuses these. */
const FIXED: readonly (readonly [resource: string, object: object, change: object, causes: readonly string[]])[] = [
  ["pods", POD, { spec: { nodeName: "n" } }, ["spec Forbidden"]],
  ["pods", POD, { spec: { nodeSelector: { a: "b" } } }, ["spec Forbidden"]],
  ["pods", POD, { spec: { tolerations: [] } }, []],
  ["pods", { spec: { ...POD.spec, tolerations: [{ key: "a", operator: "Exists" }] } }, { spec: { tolerations: [] } }, [
    "spec.tolerations Forbidden",
  ]],
  ["pods", POD, { spec: { initContainers: [{ name: "i", image: "i" }] } }, ["spec.initContainers Forbidden"]],
  ["pods", POD, { spec: { activeDeadlineSeconds: 5 } }, []],
  [
    "pods",
    { spec: { ...POD.spec, activeDeadlineSeconds: 5 } },
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
  ["nodes", { spec: { podCIDR: "10.0.0.0/24" } }, { spec: { podCIDR: "10.0.1.0/24", podCIDRs: ["10.0.1.0/24"] } }, [
    "spec.podCIDRs Forbidden",
  ]],
  ["nodes", { spec: { providerID: "a" } }, { spec: { providerID: "b" } }, ["spec.providerID Invalid"]],
];

Deno.test("updates cannot change what the server fixes", async () => {
  for (const [resource, object, change, causes] of FIXED) {
    const server = new FakeApiServer();
    await send(server, "POST", pathOf(resource), { metadata: { name: "a" }, ...object });
    const [code, body] = await send(server, "PATCH", `${pathOf(resource)}/a`, change);
    assertEquals([code, causesOf(body)], [causes.length === 0 ? 200 : 422, causes], JSON.stringify(change));
  }
});

Deno.test("addresses of balancers belong to Services that have one", async () => {
  const server = new FakeApiServer();
  const status = { status: { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } } };
  for (const [name, type] of [["a", "ClusterIP"], ["b", "LoadBalancer"]]) {
    await send(server, "POST", pathOf("services"), { metadata: { name }, spec: { type, ports: [{ port: 80 }] } });
  }
  const [code, body] = await send(server, "PATCH", `${pathOf("services")}/a/status`, status);
  assertEquals([code, causesOf(body)], [422, ["status.loadBalancer.ingress Forbidden"]]);
  const [, balanced] = await send(server, "PATCH", `${pathOf("services")}/b/status`, status);
  assertEquals(balanced.status.loadBalancer.ingress, [{ ip: "192.0.2.1", ipMode: "VIP" }]);
});

Deno.test("a ServiceAccount names its secrets alone", async () => {
  const server = new FakeApiServer();
  const body = { metadata: { name: "a" }, secrets: [{ name: "s", namespace: "x", uid: "u" }] };
  assertEquals((await send(server, "POST", pathOf("serviceaccounts"), body))[1].secrets, [{ name: "s" }]);
});

Deno.test("a deletion on trial of a held object returns the object", async () => {
  const server = new FakeApiServer();
  await send(server, "POST", pathOf("persistentvolumeclaims"), { metadata: { name: "a" }, ...CLAIM });
  const [, trial] = await send(server, "DELETE", `${pathOf("persistentvolumeclaims")}/a?dryRun=All`);
  assertEquals([trial.kind, typeof trial.metadata.deletionTimestamp], ["PersistentVolumeClaim", "string"]);
  const [, kept] = await send(server, "GET", `${pathOf("persistentvolumeclaims")}/a`);
  assertEquals(kept.metadata.deletionTimestamp, undefined);
});

Deno.test("what was wrong in an object that the test made may stay wrong", async () => {
  const server = new FakeApiServer();
  const resource = { group: "", version: "v1", plural: "pods", kind: "Pod", scope: "Namespaced" } as const;
  const fixture = { apiVersion: "v1", kind: "Pod", metadata: { name: "a" }, spec: { containers: [] } };
  server.create(resource as never, fixture as never);
  const [code] = await send(server, "PATCH", `${pathOf("pods")}/a`, { metadata: { labels: { a: "b" } } });
  assertEquals(code, 200);
  const [refused] = await send(server, "PATCH", `${pathOf("pods")}/a`, { spec: { restartPolicy: "Bad" } });
  assertEquals(refused, 422);
});
