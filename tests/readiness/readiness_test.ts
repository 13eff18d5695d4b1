import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { reduced } from "../../src/api/object.ts";
import type { DynamicObject } from "../../src/api/object.ts";
import { readiness } from "../../src/readiness/mod.ts";
import { FakeTime } from "../support/fake_time.ts";
import { KSTATUS_CASES, VERSIONS } from "./_kstatus_cases.ts";

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
  for (const { name, kind, generation = 1, state, reason, here, ...parts } of KSTATUS_CASES) {
    const found = readiness(objectOf(kind, { metadata: { generation }, ...parts }));
    const wanted = { state: here?.state ?? state, reason: here?.reason ?? reason ?? found.reason };
    assertEquals({ state: found.state, reason: found.reason }, wanted, name);
    assertEquals([found.reason === "", found.message === ""], [false, false], name);
  }
  assertEquals(KSTATUS_CASES.length, 57);
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
  assertEquals(judged(set({ type: "OnDelete" }, { ...revisions, readyReplicas: 0 })), ["ready", "Ready"]);
});

Deno.test("a Job, a claim and a definition say how far they are", () => {
  const job = (type: string, reason?: string): DynamicObject =>
    objectOf("Job", { status: { startTime: "x", succeeded: 2, conditions: [{ type, status: "True", reason }] } });
  assertEquals(judged(job("Failed", "BackoffLimitExceeded")), ["failed", "BackoffLimitExceeded"]);
  assertEquals(judged(job("Complete", "CompletionsReached")), ["ready", "Complete"]);
  assertEquals(readiness(job("Other")).message, "2 pods have succeeded, 0 are active, 0 have failed");
  assertEquals(
    readiness(objectOf("PersistentVolumeClaim", { status: { phase: "Lost" } })).message,
    "its phase is Lost",
  );
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
  assertThrows(() => readiness(metadata as never), TypeError, "it is reduced to metadata; cache it completely");
});
