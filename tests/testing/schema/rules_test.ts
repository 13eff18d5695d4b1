import { assertEquals } from "@std/assert";
import type { Resource } from "../../../src/api/resource.ts";
import { FakeApiServer } from "../../../src/testing/mod.ts";
import { rangeFaults, readAddress, schedule, timeZone } from "../../../src/testing/schema/checks.ts";
import { REFUSED } from "./_refused.ts";

// deno-lint-ignore no-explicit-any -- each test knows the members that it reads
type Body = any;

/** Kinds that are served for these tests. */
const MORE: readonly Resource[] = [
  ["autoscaling", "v1", "horizontalpodautoscalers", "HorizontalPodAutoscaler", "Namespaced"],
  ["autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler", "Namespaced"],
  ["networking.k8s.io", "v1", "ingressclasses", "IngressClass", "Cluster"],
  ["scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", "Cluster"],
].map(([group, version, plural, kind, scope]) => ({ group, version, plural, kind, scope }) as Resource);

async function send(server: FakeApiServer, method: string, path: string, body?: unknown): Promise<[number, Body]> {
  const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  const request = new Request(`http://fake${path}`, {
    method,
    headers: { "content-type": type },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const response = await server.fetch(request);
  return [response.status, await response.json()];
}

function causesOf(body: Body): string[] {
  const causes: { reason: string; field: string }[] = body.details?.causes ?? [];
  return causes.map(({ reason, field }) => `${reason.replace("FieldValue", "")} ${field}`).sort();
}

/** Faults of pods themselves are another table's. */
function withoutContainers(causes: readonly string[]): readonly string[] {
  return causes.filter((cause) => !cause.endsWith(".containers"));
}

Deno.test("creations are refused with the reasons and fields of the server", async () => {
  const server = new FakeApiServer({ resources: MORE });
  for (const [path, object, causes] of REFUSED) {
    const [code, body] = await send(server, "POST", `${path}?dryRun=All`, object);
    assertEquals([code, withoutContainers(causesOf(body))], [422, causes], `${path} ${JSON.stringify(object)}`);
  }
});

const POD = { containers: [{ name: "a", image: "b" }] };
const PODS = { selector: { matchLabels: { a: "b" } }, template: { metadata: { labels: { a: "b" } }, spec: POD } };
const JOB = { template: { spec: { ...POD, restartPolicy: "Never" } } };
const RBAC = "/apis/rbac.authorization.k8s.io/v1/namespaces/default";
const APPS = "/apis/apps/v1/namespaces/default";
const JOBS = "/apis/batch/v1/namespaces/default/jobs";

const FIXED: readonly (readonly [path: string, object: object, patch: object, causes: readonly string[]])[] = [
  [`${APPS}/deployments`, { spec: PODS }, {
    spec: { selector: { matchLabels: { c: "d" } }, template: { metadata: { labels: { c: "d" } } } },
  }, ["Invalid spec.selector"]],
  [`${APPS}/statefulsets`, { spec: { ...PODS, serviceName: "s" } }, {
    spec: { serviceName: "q", podManagementPolicy: "Parallel", revisionHistoryLimit: 3 },
  }, ["Invalid spec.podManagementPolicy", "Invalid spec.serviceName"]],
  [JOBS, { spec: JOB }, {
    spec: {
      completions: 3,
      parallelism: 4,
      completionMode: "Indexed",
      template: { spec: { nodeSelector: { a: "b" } } },
    },
  }, ["Invalid spec.completionMode", "Invalid spec.completions", "Invalid spec.template"]],
  [`${RBAC}/rolebindings`, { roleRef: { kind: "Role", name: "a" } }, { roleRef: { name: "b" } }, ["Invalid roleRef"]],
  ["/apis/storage.k8s.io/v1/storageclasses", { provisioner: "a/b" }, { provisioner: "a/c", mountOptions: ["x"] }, [
    "Invalid provisioner",
  ]],
  ["/apis/scheduling.k8s.io/v1/priorityclasses", { value: 3 }, { value: 4, preemptionPolicy: "Never" }, [
    "Forbidden value",
    "Invalid preemptionPolicy",
  ]],
  [`${APPS}/controllerrevisions`, { data: { a: "b" }, revision: 1 }, { data: { a: "c" }, revision: 2 }, [
    "Invalid data",
  ]],
  ["/api/v1/namespaces/default/configmaps", {}, {
    metadata: { uid: "z", deletionTimestamp: "2020-01-01T00:00:00Z", deletionGracePeriodSeconds: 3 },
  }, ["Invalid metadata.deletionGracePeriodSeconds", "Invalid metadata.deletionTimestamp", "Invalid metadata.uid"]],
];

Deno.test("labels and annotations of the template of pods are named without its metadata", async () => {
  const server = new FakeApiServer();
  const metadata = { labels: { a: "b", "c d": "e" }, annotations: { "f g": "h" } };
  const spec = { ...PODS, template: { ...PODS.template, metadata } };
  const [code, body] = await send(server, "POST", `${APPS}/deployments`, { metadata: { name: "x" }, spec });
  assertEquals([code, causesOf(body)], [422, ["Invalid spec.template.annotations", "Invalid spec.template.labels"]]);
});

Deno.test("updates cannot change what is immutable", async () => {
  const server = new FakeApiServer({ resources: MORE });
  for (const [path, object, patch, causes] of FIXED) {
    const [created, made] = await send(server, "POST", path, { metadata: { name: "x" }, ...object });
    assertEquals(created, 201, JSON.stringify(made));
    const [code, body] = await send(server, "PATCH", `${path}/x`, patch);
    assertEquals([code, causesOf(body)], [422, causes], path);
  }
});

Deno.test("an object that a test created itself may keep its faults", async () => {
  const server = new FakeApiServer();
  const plural = { group: "apps", version: "v1", plural: "deployments", kind: "Deployment", scope: "Namespaced" };
  server.create(plural as never, { metadata: { name: "x" }, spec: { replicas: -1 } } as never);
  const [kept] = await send(server, "PATCH", `${APPS}/deployments/x`, { metadata: { labels: { a: "b" } } });
  assertEquals(kept, 200);
  const [code, body] = await send(server, "PATCH", `${APPS}/deployments/x`, { spec: { minReadySeconds: -1 } });
  assertEquals([code, causesOf(body)], [422, ["Invalid spec.minReadySeconds"]]);
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
  const set = await create(`${APPS}/daemonsets`, { spec: PODS });
  assertEquals(set.metadata.annotations, { "deprecated.daemonset.template.generation": "1" });
  const template = { spec: { template: { metadata: { annotations: { x: "y" } } } } };
  const [, changed] = await send(server, "PATCH", `${APPS}/daemonsets/x`, template);
  assertEquals(changed.metadata.annotations, { "deprecated.daemonset.template.generation": "2" });
  const job = await create(JOBS, { spec: JOB });
  const { uid } = job.metadata;
  assertEquals(job.spec.selector, { matchLabels: { "batch.kubernetes.io/controller-uid": uid } });
  assertEquals(job.metadata.labels, job.spec.template.metadata.labels);
  assertEquals(job.metadata.labels["job-name"], "x");
  assertEquals([job.spec.parallelism, job.spec.completions, job.spec.backoffLimit, job.spec.completionMode], [
    1,
    1,
    6,
    "NonIndexed",
  ]);
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
    scaleUp: {
      stabilizationWindowSeconds: 0,
      selectPolicy: "Max",
      policies: [{ type: "Pods", value: 1, periodSeconds: 3 }],
    },
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
  assertEquals([status.metadata.annotations, status.metadata.labels, status.spec.replicas], [
    { a: "b", c: "d" },
    { a: "b" },
    1,
  ]);
});

Deno.test("an update creates objects of some kinds", async () => {
  const server = new FakeApiServer();
  const leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
  const [code, body] = await send(server, "PUT", `${leases}/x`, { metadata: { name: "x" } });
  assertEquals([code, body.metadata.name, body.metadata.namespace], [201, "x", "default"]);
  assertEquals(
    (await send(server, "PUT", "/api/v1/namespaces/default/configmaps/x", { metadata: { name: "x" } }))[0],
    404,
  );
  const [unnamed, { message }] = await send(server, "PUT", `${leases}/x`, { metadata: {} });
  assertEquals([unnamed, message], [
    400,
    "the name of the object (x based on URL) was undeterminable: name must be provided",
  ]);
});

const MAP = "/api/v1/namespaces/default/configmaps/x";

Deno.test("a patch whose result is not of its type is invalid itself", async () => {
  const server = new FakeApiServer();
  await send(server, "POST", MAP.slice(0, -2), { metadata: { name: "x" } });
  const [code, body] = await send(server, "PATCH", MAP, { data: { a: 1 } });
  assertEquals([code, body.details.kind, causesOf(body)], [422, undefined, ["Invalid patch"]]);
  const why = body.message.slice(body.message.lastIndexOf(": json:") + 2);
  assertEquals(why, "json: cannot unmarshal number into Go struct field ConfigMap.data of type string");
  const [strict, { details }] = await send(server, "PATCH", `${MAP}?fieldValidation=Strict`, { odd: 1 });
  assertEquals([strict, causesOf({ details })], [422, ["Invalid patch"]]);
});

const OPTIONS:
  readonly (readonly [method: string, path: string, body: object, kind: string, causes: readonly string[]])[] = [
    ["DELETE", MAP, { propagationPolicy: "Nonsense" }, "DeleteOptions", ["NotSupported propagationPolicy"]],
    ["DELETE", MAP, { propagationPolicy: "Orphan", orphanDependents: true }, "DeleteOptions", [
      "Invalid propagationPolicy",
    ]],
    ["DELETE", MAP, { dryRun: ["X"] }, "DeleteOptions", ["NotSupported dryRun"]],
    ["PATCH", `${MAP}?fieldManager=${"a".repeat(129)}`, {}, "PatchOptions", ["TooLong fieldManager"]],
    ["PATCH", `${MAP}?force=true`, {}, "PatchOptions", ["Forbidden force"]],
    ["PUT", `${MAP}?dryRun=X&fieldValidation=X`, { metadata: { name: "x" } }, "UpdateOptions", [
      "NotSupported dryRun",
      "NotSupported fieldValidation",
    ]],
  ];

Deno.test("options of requests are checked", async () => {
  const server = new FakeApiServer();
  await send(server, "POST", "/api/v1/namespaces/default/configmaps", { metadata: { name: "x" } });
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
  assertEquals(rangeFaults("10.0.0.1/8"), ["must not have bits set beyond the prefix length"]);
});
