import {
  assertEquals,
  assertInstanceOf,
  assertMatch,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { type DynamicObject, reduced } from "../../../../src/engine/api/object.ts";
import { Client } from "../../../../src/engine/client/client.ts";
import {
  NotReadyError,
  readiness,
  untilReady,
  type UntilReadyOptions,
} from "../../../../src/operator/controllers/readiness/mod.ts";
import { errorLine } from "../../../../src/engine/errors/errors.ts";
import type { SharedIndexInformer } from "../../../../src/engine/informer/shared_index_informer.ts";
import { SharedInformerFactory } from "../../../../src/engine/informer/shared_informer_factory.ts";
import { WaitError } from "../../../../src/engine/informer/status.ts";
import { Deployment } from "../../../../src/engine/kinds/apps/v1.ts";
import { Pod } from "../../../../src/engine/kinds/core/v1.ts";
import { deployment, FakeApiServer, pod } from "../../../../src/testing/mod.ts";
import { FakeTime } from "../../../support/times/fake_time.ts";
import { KSTATUS_CASES, VERSIONS } from "./_kstatus_cases.ts";
import { PUBLIC_KINDS } from "./_public_kinds.ts";

/** An object of a kind, made a long time ago, at generation 1. */
function objectOf(kind: string, parts: { readonly [member: string]: unknown } = {}): DynamicObject {
  const { metadata = {}, ...rest } = parts;
  return {
    apiVersion: VERSIONS[kind],
    kind,
    metadata: {
      ...{ name: "web", namespace: "shop", uid: "1", resourceVersion: "1", generation: 1 },
      creationTimestamp: "2020-01-01T00:00:00Z",
      ...metadata as object,
    },
    ...rest,
  };
}

/** State and reason. */
function judged(object: DynamicObject): readonly string[] {
  const { state, reason } = readiness(object);
  return [state, reason];
}

/** A pod with one container that waits. */
function waiting(reason: string, status: Record<string, unknown> = {}): DynamicObject {
  const containerStatuses = [{ name: "main", state: { waiting: { reason, message: `${reason} it is` } } }];
  return objectOf("Pod", { status: { phase: "Pending", containerStatuses, ...status } });
}

Deno.test("readiness judges the cases of kstatus as kstatus does, but for the differences that the guide lists", () => {
  for (const [name, kind, outcome, { generation = 1, ...parts } = {}, here] of KSTATUS_CASES) {
    const found = readiness(objectOf(kind, { metadata: { generation }, ...parts }));
    const [state, reason = found.reason] = (here ?? outcome).split(" ");
    assertEquals([found.state, found.reason], [state, reason], name);
    assertEquals([found.reason === "", found.message === ""], [false, false], name);
  }
  assertEquals(KSTATUS_CASES.length, 57);
});

Deno.test("readiness reads what the controllers of public kinds write", () => {
  for (const [name, cases] of Object.entries(PUBLIC_KINDS)) {
    const [kind, version, group = ""] = name.split("/").reverse();
    const apiVersion = group === "" ? version : `${group}/${version}`;
    cases.forEach(([outcome, , parts], at) => {
      const object = { ...objectOf(kind, { metadata: { generation: 2 }, ...parts }), apiVersion };
      assertEquals(judged(object).join(" "), outcome, `${name} ${at}`);
    });
    assertEquals(cases.at(-1)![0], "terminating Terminating", name);
  }
  assertEquals(Object.keys(PUBLIC_KINDS).length, 45);
});

Deno.test("a pod may be unschedulable for 15 s before it has failed", () => {
  using time = new FakeTime();
  const conditions = [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message: "0/3 nodes" }];
  const pod = objectOf("Pod", {
    metadata: { creationTimestamp: new Date(time.now).toISOString() },
    status: { phase: "Pending", conditions },
  });
  assertEquals(judged(pod), ["progressing", "Unschedulable"]);
  time.tick(14_999);
  assertEquals(judged(pod), ["progressing", "Unschedulable"]);
  time.tick(1);
  assertEquals(readiness(pod), { state: "failed", reason: "Unschedulable", message: "0/3 nodes" });
});

Deno.test("a container that needs help makes its pod fail, by its own reason", () => {
  for (
    const reason of [
      ...["CrashLoopBackOff", "CreateContainerConfigError", "CreateContainerError", "ErrImageNeverPull"],
      ...["ImageInspectError", "ImagePullBackOff", "InvalidImageName", "RunContainerError"],
    ]
  ) {
    const message = `container main: ${reason} it is`;
    assertEquals(readiness(waiting(reason)), { state: "failed", reason, message });
    assertEquals(readiness(waiting(reason, { phase: "Running" })), { state: "failed", reason, message });
  }
  for (const reason of ["ContainerCreating", "PodInitializing", "ErrImagePull"]) {
    assertEquals(readiness(waiting(reason)), {
      ...{ state: "progressing", reason, message: `container main: ${reason} it is` },
    });
  }
  const initContainerStatuses = [
    { name: "wait", state: { running: {} } },
    { name: "migrate", state: { waiting: { reason: "CrashLoopBackOff" } } },
  ];
  assertEquals(readiness(waiting("PodInitializing", { initContainerStatuses })), {
    ...{ state: "failed", reason: "CrashLoopBackOff", message: "container migrate: CrashLoopBackOff" },
  });
  const conditions = [{ type: "Ready", status: "True" }];
  assertEquals(judged(waiting("CrashLoopBackOff", { phase: "Running", conditions })), ["ready", "Ready"]);
});

Deno.test("a pod says why it has failed, is on no node or is not ready", () => {
  const ended = { name: "main", state: { terminated: { exitCode: 137, reason: "OOMKilled" } } };
  const pod = (status: Record<string, unknown>): DynamicObject => objectOf("Pod", { status });
  assertEquals(readiness(pod({ phase: "Failed", containerStatuses: [ended] })), {
    ...{ state: "failed", reason: "OOMKilled", message: "container main has ended with code 137" },
  });
  assertEquals(readiness(pod({ phase: "Failed", reason: "Evicted", message: "memory", containerStatuses: [ended] })), {
    ...{ state: "failed", reason: "Evicted", message: "memory" },
  });
  assertEquals(judged(pod({ phase: "Failed" })), ["failed", "Failed"]);
  const gated = [{ type: "PodScheduled", status: "False", reason: "SchedulingGated" }];
  assertEquals(judged(pod({ phase: "Pending", conditions: gated })), ["progressing", "SchedulingGated"]);
  assertEquals(judged(pod({ phase: "Pending" })), ["progressing", "PodPending"]);
  assertEquals(judged(pod({ phase: "Unknown" })), ["progressing", "PodNotObserved"]);
  const unready = [{ type: "Ready", status: "False", reason: "ContainersNotReady", message: "unready: [main]" }];
  assertEquals(readiness(pod({ phase: "Running", conditions: unready })), {
    ...{ state: "progressing", reason: "ContainersNotReady", message: "unready: [main]" },
  });
});

Deno.test("an object that is being deleted is terminating, whatever else it says; none is absent", () => {
  const deleted = { deletionTimestamp: "2026-01-01T00:00:00Z" };
  assertEquals(judged(objectOf("Service", { metadata: deleted })), ["terminating", "Terminating"]);
  const held = objectOf("Widget", { metadata: { ...deleted, finalizers: ["example.com/bill", "example.com/dns"] } });
  assertStringIncludes(readiness(held).message, "waits for example.com/bill, example.com/dns");
  assertEquals(readiness(undefined).state, "absent");
});

Deno.test("the conditions Reconciling and Stalled decide before all others, the first that is True", () => {
  const stalled = { type: "Stalled", status: "True", reason: "NoQuota", message: "ask for more" };
  const reconciling = { type: "Reconciling", status: "True" };
  const ready = { type: "Ready", status: "True" };
  const widget = (...conditions: unknown[]): DynamicObject => objectOf("Widget", { status: { conditions } });
  assertEquals(readiness(widget(ready, stalled)), { state: "failed", reason: "NoQuota", message: "ask for more" });
  assertEquals(judged(widget(ready, reconciling, stalled)), ["progressing", "Reconciling"]);
  assertEquals(judged(widget(ready, { ...stalled, status: "False" })), ["ready", "Ready"]);
  assertEquals(judged(objectOf("Pod", { status: { conditions: [stalled] } })), ["failed", "NoQuota"]);
});

Deno.test("a condition Ready counts if it is about the present generation, and a status of any form is read", () => {
  const widget = (status: unknown): DynamicObject => objectOf("Widget", { metadata: { generation: 3 }, status });
  const ready = (observedGeneration: number): unknown => ({
    conditions: [{ type: "Ready", status: "True", reason: "Done", message: "done", observedGeneration }],
  });
  assertEquals(judged(widget(ready(2))), ["progressing", "LatestGenerationNotObserved"]);
  assertEquals(readiness(widget(ready(3))), { state: "ready", reason: "Done", message: "done" });
  const unknown = { conditions: [{ type: "Ready", status: "Unknown" }] };
  assertEquals(judged(widget(unknown)), ["progressing", "NotReady"]);
  for (
    const status of ["fine", null, { conditions: "none" }, { conditions: { Ready: true }, observedGeneration: "x" }]
  ) {
    assertEquals(judged(widget(status)), ["ready", "Ready"], JSON.stringify(status));
  }
});

Deno.test("workloads say why their pods cannot be made, and that a deadline is exceeded", () => {
  const failure = { type: "ReplicaFailure", status: "True", reason: "FailedCreate", message: "exceeded quota" };
  const late = { type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded", message: "timed out" };
  for (const kind of ["Deployment", "ReplicaSet"]) {
    assertEquals(readiness(objectOf(kind, { status: { conditions: [failure] } })), {
      ...{ state: "progressing", reason: "FailedCreate", message: "exceeded quota" },
    }, kind);
  }
  assertEquals(readiness(objectOf("Deployment", { status: { conditions: [failure, late] } })), {
    ...{ state: "failed", reason: "ProgressDeadlineExceeded", message: "timed out" },
  });
  const refused = { type: "Progressing", status: "False", reason: "ReplicaSetCreateError", message: "webhook says no" };
  assertEquals(readiness(objectOf("Deployment", { status: { conditions: [refused] } })), {
    ...{ state: "progressing", reason: "ReplicaSetCreateError", message: "webhook says no" },
  });
  const replicas = { replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 1 };
  assertEquals(readiness(objectOf("Deployment", { spec: { replicas: 2 }, status: replicas })), {
    ...{ state: "progressing", reason: "LessAvailable", message: "1 of 2 updated replicas are available" },
  });
  const surplus = { ...replicas, replicas: 3 };
  assertEquals(judged(objectOf("Deployment", { spec: { replicas: 2 }, status: surplus })), [
    "progressing",
    "ExtraPods",
  ]);
});

Deno.test("a StatefulSet is judged by its partition, its revision and its strategy", () => {
  const set = (updateStrategy: unknown, status: Record<string, unknown>): DynamicObject =>
    objectOf("StatefulSet", {
      spec: { replicas: 3, updateStrategy },
      status: { replicas: 3, readyReplicas: 3, currentReplicas: 3, ...status },
    });
  const partition = { type: "RollingUpdate", rollingUpdate: { partition: 1 } };
  assertEquals(judged(set(partition, { updatedReplicas: 1 })), ["progressing", "PartitionRollout"]);
  assertEquals(judged(set(partition, { updatedReplicas: 2 })), ["ready", "Ready"]);
  const revisions = { currentRevision: "a", updateRevision: "b" };
  assertEquals(judged(set(undefined, revisions)), ["progressing", "RevisionMismatch"]);
  assertEquals(judged(set({ type: "OnDelete" }, revisions)), ["ready", "Ready"]);
  assertEquals(judged(set({ type: "OnDelete" }, { ...revisions, readyReplicas: 2 })), ["progressing", "LessReady"]);
  assertEquals(judged(set({ type: "OnDelete" }, { ...revisions, replicas: 4 })), ["progressing", "ExtraPods"]);
});

Deno.test("a DaemonSet that updates OnDelete need not have updated pods, but ready ones", () => {
  const set = (type: string, status: Record<string, unknown> = {}): DynamicObject =>
    objectOf("DaemonSet", {
      spec: { updateStrategy: { type } },
      status: {
        ...{ observedGeneration: 1, desiredNumberScheduled: 3, currentNumberScheduled: 3, numberAvailable: 3 },
        ...{ numberReady: 3, ...status },
      },
    });
  assertEquals(judged(set("RollingUpdate")), ["progressing", "LessUpdated"]);
  assertEquals(judged(set("OnDelete")), ["ready", "Ready"]);
  assertEquals(judged(set("OnDelete", { numberReady: 2 })), ["progressing", "LessReady"]);
  assertEquals(judged(set("OnDelete", { numberAvailable: 2 })), ["progressing", "LessAvailable"]);
});

Deno.test("a paused Deployment is ready if its rollout is done, and else says that it is paused", () => {
  const conditions = [
    { type: "Available", status: "True" },
    { type: "Progressing", status: "Unknown", reason: "DeploymentPaused" },
  ];
  const paused = (status: Record<string, unknown>, isPaused = true): DynamicObject =>
    objectOf("Deployment", {
      spec: { replicas: 3, paused: isPaused, progressDeadlineSeconds: 600 },
      status: { replicas: 3, updatedReplicas: 3, readyReplicas: 3, availableReplicas: 3, conditions, ...status },
    });
  assertEquals(judged(paused({})), ["ready", "Ready"]);
  assertEquals(readiness(paused({ updatedReplicas: 1 })), {
    ...{ state: "progressing", reason: "DeploymentPaused" },
    message: "its rollout is paused: 1 of 3 replicas are updated",
  });
  assertEquals(judged(paused({ replicas: 4 })), ["progressing", "DeploymentPaused"]);
  assertEquals(judged(paused({ availableReplicas: 2 })), ["progressing", "LessAvailable"]); // not for the pause
  assertEquals(judged(paused({}, false)), ["progressing", "ReplicaSetNotAvailable"]); // resumed just now
});

Deno.test("what announces an end decides before the end is there", () => {
  const counts = { startTime: "x", active: 1, failed: 1 };
  const at = (kind: string, apiVersion: string, status: object, spec: object = {}): DynamicObject => ({
    ...objectOf(kind, { status, spec }),
    apiVersion,
  });
  const condition = (type: string, status = "True"): object => ({
    type,
    status,
    reason: `${type}Why`,
    message: "said",
  });
  const job = (type: string, ...more: object[]): DynamicObject =>
    at("Job", "batch/v1", { ...counts, conditions: [...more, condition(type)] }, { suspend: more.length > 0 });
  const suspended = { type: "Suspended", status: "True" };
  assertEquals(readiness(job("FailureTarget")), { state: "failed", reason: "FailureTargetWhy", message: "said" });
  assertEquals(judged(job("FailureTarget", suspended)), ["failed", "FailureTargetWhy"]);
  assertEquals(judged(job("SuccessCriteriaMet")), ["ready", "SuccessCriteriaMet"]);
  assertEquals(judged(at("Job", "batch/v1", { ...counts, conditions: [condition("FailureTarget", "False")] })), [
    ...["ready", "JobRunning"],
  ]);
  const pod = (phase: string): DynamicObject =>
    at("Pod", "v1", { phase, conditions: [{ type: "Ready", status: "True" }, condition("DisruptionTarget")] });
  assertEquals(readiness(pod("Running")), { state: "terminating", reason: "DisruptionTargetWhy", message: "said" });
  assertEquals(judged(pod("Pending")), ["terminating", "DisruptionTargetWhy"]);
  assertEquals(judged(pod("Succeeded")), ["ready", "Completed"]);
  assertEquals(judged(pod("Failed")), ["failed", "Failed"]);
  for (
    const [kind, apiVersion] of [
      ["CertificateSigningRequest", "certificates.k8s.io/v1"],
      ["PodCertificateRequest", "certificates.k8s.io/v1beta1"],
      ["ResourcePoolStatusRequest", "resource.k8s.io/v1alpha3"],
      ["StorageVersionMigration", "storagemigration.k8s.io/v1"],
    ]
  ) {
    const request = (...conditions: object[]): DynamicObject => at(kind, apiVersion, { conditions });
    assertEquals(judged(request()), ["ready", "Ready"], kind);
    assertEquals(judged(request(condition("Approved"), condition("Failed"))), ["failed", "FailedWhy"], kind);
    assertEquals(judged(request(condition("Denied"))), ["failed", "DeniedWhy"], kind);
    assertEquals(judged(request(condition("Denied", "False"))), ["ready", "Ready"], kind);
  }
});

Deno.test("a Job whose success is decided does not fail by the pods that it no longer needs", async () => {
  await using shop = await Shop.open();
  shop.fail("web-1");
  await shop.pods.until(({ metadata }) => metadata.name === "web-1");
  const { spec } = shop.deployments.lister.get("shop/web")!;
  const job = (...conditions: object[]): DynamicObject => ({
    ...objectOf("Job", { spec, status: { startTime: "x", active: 1, conditions } }),
  });
  const { pods } = shop;
  assertEquals(readiness(job(), { pods }).state, "failed");
  assertEquals(readiness(job({ type: "SuccessCriteriaMet", status: "True" }), { pods }).state, "ready");
});

Deno.test("a Job, a claim and a definition say how far they are", () => {
  const job = (type: string, reason?: string): DynamicObject =>
    objectOf("Job", { status: { startTime: "x", succeeded: 2, conditions: [{ type, status: "True", reason }] } });
  assertEquals(judged(job("Failed", "BackoffLimitExceeded")), ["failed", "BackoffLimitExceeded"]);
  assertEquals(judged(job("Complete", "CompletionsReached")), ["ready", "Complete"]);
  assertEquals(readiness(job("Other")).message, "2 pods have succeeded, 0 are active, 0 have failed");
  const claim = (phase: string): DynamicObject => objectOf("PersistentVolumeClaim", { status: { phase } });
  assertEquals(readiness(claim("Pending")).message, "its phase is Pending");
  assertEquals(judged(claim("Lost")), ["failed", "Lost"]);
  const conditions = [{ type: "Established", status: "False", reason: "NotAccepted", message: "no" }];
  assertEquals(judged(objectOf("CustomResourceDefinition", { status: { conditions } })), ["failed", "NotAccepted"]);
});

Deno.test("a DaemonSet without a generation was not seen by the server", () => {
  const status = { observedGeneration: 1, desiredNumberScheduled: 0 };
  const set = objectOf("DaemonSet", { metadata: { generation: undefined }, status });
  assertEquals(judged(set), ["progressing", "NoGeneration"]);
  assertEquals(judged(objectOf("DaemonSet", { status })), ["ready", "Ready"]);
});

Deno.test("kinds are told apart by their group", () => {
  const conditions = [{ type: "Ready", status: "True" }];
  const foreign = { ...objectOf("Deployment", { status: { conditions } }), apiVersion: "example.com/v1" };
  assertEquals(judged(foreign), ["ready", "Ready"]);
  assertEquals(judged({ ...objectOf("Deployment"), apiVersion: undefined }), ["ready", "Ready"]);
});

Deno.test("readiness refuses a reduced object, whose conditions may be missing", () => {
  const metadata = { ...objectOf("Pod"), [reduced]: "metadata" };
  assertThrows(() => readiness(metadata as never), TypeError, "it is reduced to metadata. Cache complete objects");
});

const DONE = {
  ...{ observedGeneration: 1, replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2 },
  conditions: [
    { type: "Available", status: "True" },
    { type: "Progressing", status: "True", reason: "NewReplicaSetAvailable" },
  ],
};
const PULLS = { waiting: { reason: "ImagePullBackOff", message: "no such image" } };

/** The deployment shop/web of two replicas, whose controller has seen it, and informers that have synced. */
class Shop implements AsyncDisposable {
  readonly server = new FakeApiServer();
  readonly client = new Client({ server: "http://fake", transport: this.server });
  readonly informers = new SharedInformerFactory(this.client);
  readonly deployments: SharedIndexInformer<Deployment> = this.informers.forResource(Deployment);
  readonly pods: SharedIndexInformer<Pod> = this.informers.forResource(Pod);

  static async open(): Promise<Shop> {
    const shop = new Shop();
    const status = { observedGeneration: 1, replicas: 2, readyReplicas: 1 };
    shop.server.create(Deployment, deployment({ name: "web", namespace: "shop", replicas: 2, status }));
    shop.informers.start();
    await shop.informers.waitForCacheSync();
    return shop;
  }

  /** Creates a pod of the deployment that waits for its image. */
  fail(name: string, image?: string): void {
    const status = { phase: "Pending", containerStatuses: [{ name: "app", state: PULLS }] } as never;
    this.server.create(Pod, pod({ name, namespace: "shop", labels: { app: "web" }, image, status }));
  }

  wait(options: UntilReadyOptions = {}): Promise<Deployment> {
    return untilReady(this.deployments, "shop/web", options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.informers.shutdown();
    this.client[Symbol.dispose]();
    this.server[Symbol.dispose]();
  }
}

/** The number of waits that an informer still has. */
function waits({ deployments, pods }: Shop): number {
  return deployments.status().handlers.length + pods.status().handlers.length;
}

Deno.test("untilReady resolves with the object once it is ready, also if it does not exist yet or failed before", async () => {
  await using shop = await Shop.open();
  const ready = shop.wait();
  shop.server.patch(Deployment, "shop/web", {
    status: { conditions: [{ type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded" }] },
  });
  shop.server.delete(Deployment, "shop/web");
  await shop.deployments.untilDeleted("shop/web");
  shop.server.create(Deployment, deployment({ name: "web", namespace: "shop", replicas: 2 }));
  shop.server.patch(Deployment, "shop/web", { status: DONE });
  const { status } = await ready;
  assertEquals(status?.availableReplicas, 2);
  assertEquals((await shop.wait({ failFast: true })).metadata.name, "web");
  assertEquals(waits(shop), 0);
});

Deno.test("untilReady says the last state when its signal aborts, and why", async () => {
  await using shop = await Shop.open();
  const stop = new AbortController();
  const waiting = shop.wait({ signal: stop.signal });
  stop.abort(new DOMException("The build was stopped", "AbortError"));
  const error = await assertRejects(() => waiting, NotReadyError);
  assertEquals([error.key, error.readiness.state, error.readiness.reason], ["shop/web", "progressing", "LessUpdated"]);
  assertMatch(error.message, /^"shop\/web" is not ready after \d+s: progressing, LessUpdated: 0 of 2 replicas are /);
  assertMatch(errorLine(error), /given up after .*The build was stopped/);
  const nowhere = untilReady(shop.deployments, "shop/db", { signal: stop.signal });
  assertEquals((await assertRejects(() => nowhere, NotReadyError)).readiness.state, "absent");
});

Deno.test("errorLine of a wait for readiness that takes too long is the last state, unless the cache may be outdated", async () => {
  using time = new FakeTime();
  await using shop = await Shop.open();
  const wait = (): Promise<NotReadyError> =>
    assertRejects(() => shop.wait({ signal: AbortSignal.timeout(3_000) }), NotReadyError);
  const waiting = wait();
  await time.tickAsync(3_000);
  const late = await waiting;
  const line = `"shop/web" is not ready after 3s: progressing, LessUpdated: 0 of 2 replicas are updated`;
  assertEquals(errorLine(late), line);
  assertInstanceOf(late.cause, WaitError);
  assertEquals((late.cause.reason as Error).name, "TimeoutError");
  shop.server.failNext(500, 100);
  shop.server.endWatches();
  const unreachable = wait();
  await time.tickAsync(3_000);
  assertMatch(
    errorLine(await unreachable),
    /LessUpdated: .*: Cannot wait for .* its state has been "\w+" for .*: 500 /,
  );
});

Deno.test("with failFast untilReady ends when the object has failed", async () => {
  await using shop = await Shop.open();
  const waiting = shop.wait({ failFast: true });
  shop.server.patch(Deployment, "shop/web", {
    status: { conditions: [{ type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded" }] },
  });
  const error = await assertRejects(() => waiting, NotReadyError);
  assertEquals([error.readiness.state, error.readiness.reason], ["failed", "ProgressDeadlineExceeded"]);
  assertEquals(waits(shop), 0);
});

Deno.test("with failFast and pods untilReady ends when a pod of the present template fails", async () => {
  await using shop = await Shop.open();
  shop.fail("web-old", "registry.example.com/app:0"); // replaced by the rollout that is waited for
  await shop.pods.until(({ metadata }) => metadata.name === "web-old");
  const waiting = shop.wait({ failFast: true, pods: shop.pods });
  shop.server.create(Pod, pod({ name: "web-1", namespace: "bank", labels: { app: "web" } }));
  shop.fail("web-1");
  const error = await assertRejects(() => waiting, NotReadyError);
  assertEquals(error.readiness, {
    ...{ state: "failed", reason: "ImagePullBackOff", message: "pod web-1: container app: no such image" },
  });
  assertEquals(waits(shop), 0);
  const again = shop.wait({ failFast: true, pods: shop.pods }); // it is there already
  await assertRejects(() => again, NotReadyError, "ImagePullBackOff");
});

Deno.test("without failFast a failing pod ends no wait, and is the last state", async () => {
  await using shop = await Shop.open();
  shop.fail("web-1");
  await shop.pods.until(({ metadata }) => metadata.name === "web-1");
  const stop = new AbortController();
  const waiting = shop.wait({ pods: shop.pods, signal: stop.signal });
  const { metadata } = shop.server.patch(Deployment, "shop/web", { status: { updatedReplicas: 1 } });
  await shop.deployments.waitForVersion(metadata.resourceVersion); // judged again
  stop.abort();
  assertEquals((await assertRejects(() => waiting, NotReadyError)).readiness.reason, "ImagePullBackOff");
});

Deno.test("a workload whose deadline is over keeps its reason, and its message adds the pod's", async () => {
  await using shop = await Shop.open();
  const message = 'ReplicaSet "web-5" has timed out progressing.';
  const conditions = [{ type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded", message }] as never;
  const late = shop.server.patch(Deployment, "shop/web", { status: { conditions } });
  const { pods } = shop;
  const own = { state: "failed", reason: "ProgressDeadlineExceeded" };
  assertEquals(readiness(late, { pods }), { ...own, message } as never);
  shop.fail("web-1");
  await shop.pods.until(({ metadata }) => metadata.name === "web-1");
  assertEquals(readiness(late, { pods }), {
    ...own as { state: "failed"; reason: string },
    message: 'ReplicaSet "web-5" has timed out progressing (ImagePullBackOff: pod web-1: container app: no such image)',
  });
});

Deno.test("a pod counts as one of a workload's if it has what the template says, and has not ended", async () => {
  await using shop = await Shop.open();
  const spec = (changes: Record<string, unknown>, annotations: Record<string, string> | null = null): void => {
    const app = { name: "app", image: "web:1", args: ["--port", "80"], env: [{ name: "A", value: "1" }] };
    const template = { metadata: { labels: { app: "web" }, annotations }, spec: { containers: [app], ...changes } };
    shop.server.patch(Deployment, "shop/web", { spec: { template } } as never);
  };
  const state = async (): Promise<string> => {
    const { resourceVersion } = shop.server.get(Deployment, "shop/web")!.metadata;
    await shop.deployments.waitForVersion(resourceVersion);
    const found = shop.deployments.lister.get("shop/web")!;
    const observed = { ...found, status: { ...found.status, observedGeneration: found.metadata.generation } };
    return readiness(observed, { pods: shop.pods }).state;
  };
  const added = { name: "proxy", image: "proxy:1" };
  const app = {
    ...{ name: "app", image: "web:1", args: ["--port", "80"], imagePullPolicy: "Always" },
    env: [{ name: "INJECTED", value: "1" }, { name: "A", value: "1" }],
  };
  const status = { phase: "Pending", containerStatuses: [{ name: "app", state: PULLS }] } as never;
  const volumes = [{ name: "config", configMap: { name: "web-1" } }, { name: "token", emptyDir: {} }];
  const containers = [added, app] as never;
  shop.server.create(
    Pod,
    pod({ name: "web-1", namespace: "shop", labels: { app: "web", hash: "1" }, spec: { containers, volumes }, status }),
  );
  await shop.pods.until(({ metadata }) => metadata.name === "web-1");
  spec({ volumes: [{ name: "config", configMap: { name: "web-1" } }] });
  assertEquals(await state(), "failed");
  spec({ volumes: [{ name: "config", configMap: { name: "web-2" } }] });
  assertEquals(await state(), "progressing");
  spec({ volumes: null, containers: [{ ...app, args: ["--port", "81"] }] });
  assertEquals(await state(), "progressing");
  spec({ volumes: null, initContainers: [{ name: "migrate", image: "migrate:1" }] });
  assertEquals(await state(), "progressing");
  spec({ volumes: null, initContainers: null }, { "example.com/build": "7" });
  assertEquals(await state(), "progressing");
  spec({});
  assertEquals(await state(), "failed");
  shop.server.patch(Pod, "shop/web-1", { status: { phase: "Failed" } });
  await shop.pods.until(({ status }) => status?.phase === "Failed", { key: "shop/web-1" });
  assertEquals(await state(), "progressing"); // its controller replaces it
});

Deno.test("pods are not looked at before the controller has seen the newest template", async () => {
  await using shop = await Shop.open();
  shop.fail("web-1");
  await shop.pods.until(({ metadata }) => metadata.name === "web-1");
  const seen = shop.deployments.lister.get("shop/web")!;
  assertEquals(readiness(seen, { pods: shop.pods }).state, "failed");
  const changed = { ...seen, metadata: { ...seen.metadata, generation: 2 } };
  assertEquals(readiness(changed, { pods: shop.pods }).reason, "LatestGenerationNotObserved");
  const other = { ...seen, metadata: { ...seen.metadata, namespace: "bank" } };
  assertEquals(readiness(other, { pods: shop.pods }).state, "progressing");
  const spec = { ...seen.spec, selector: undefined } as never;
  assertEquals(readiness({ ...seen, spec }, { pods: shop.pods }).state, "progressing");
  const mapped = { ...seen, spec: { ...seen.spec, selector: { app: "web" } } } as never;
  assertEquals(readiness(mapped, { pods: shop.pods }).state, "progressing");
});

Deno.test("an unschedulable pod ends a wait with failFast after 15 s, though nothing changes", async () => {
  using time = new FakeTime();
  await using shop = await Shop.open();
  const conditions = [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message: "0/3 nodes" }];
  const creationTimestamp = new Date(time.now).toISOString();
  const built = pod({ name: "web-1", namespace: "shop", status: { phase: "Pending", conditions } as never });
  shop.server.create(Pod, { ...built, metadata: { ...built.metadata, creationTimestamp } });
  let ended: unknown;
  const waiting = untilReady(shop.pods, "shop/web-1", { failFast: true }).catch((error) => ended = error);
  await time.tickAsync(14_000);
  assertEquals(ended, undefined);
  await time.tickAsync(2_000);
  await waiting;
  assertEquals((ended as NotReadyError).readiness.reason, "Unschedulable");
});

Deno.test("an unschedulable pod of a workload ends its wait likewise", async () => {
  using time = new FakeTime();
  await using shop = await Shop.open();
  const conditions = [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message: "0/3 nodes" }];
  const creationTimestamp = new Date(time.now).toISOString();
  const status = { phase: "Pending", conditions } as never;
  const built = pod({ name: "web-1", namespace: "shop", labels: { app: "web" }, status });
  shop.server.create(Pod, { ...built, metadata: { ...built.metadata, creationTimestamp } });
  const rejected = assertRejects(() => shop.wait({ failFast: true, pods: shop.pods }), NotReadyError, "0/3 nodes");
  await time.tickAsync(16_000);
  await rejected;
});

Deno.test("untilReady rejects as until() does before the cache has synced, and when the informer stops", async () => {
  await using shop = await Shop.open();
  using client = new Client({ server: "http://fake", transport: { fetch: () => new Promise<never>(() => {}) } });
  await using silent = new SharedInformerFactory(client);
  const signal = AbortSignal.abort(new DOMException("No more", "AbortError"));
  await assertRejects(
    () => untilReady(silent.forResource(Pod), "shop/web-1", { signal }),
    WaitError,
    "No more".slice(9),
  );
  const waiting = shop.wait();
  await shop.informers.shutdown();
  await assertRejects(() => waiting, WaitError, "has stopped");
});
