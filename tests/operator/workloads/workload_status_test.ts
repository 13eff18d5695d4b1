import { Client, type DerivedCollection, type OwnerReference, SharedInformerFactory } from "@kube/informer";
import { DaemonSet, Deployment, ReplicaSet, StatefulSet } from "@kube/informer/kinds/apps/v1";
import { Job } from "@kube/informer/kinds/batch/v1";
import { Pod } from "@kube/informer/kinds/core/v1";
import { ownerReferenceTo } from "@kube/informer/reconcile";
import { deployment, FakeApiServer, pod } from "@kube/informer/testing";
import { type WorkloadKind, type WorkloadStatus, workloadStatus } from "@kube/informer/workloads";
import { assertEquals } from "@std/assert";

const SELECTOR = { matchLabels: { app: "web" } };
const TEMPLATE = {
  metadata: { labels: SELECTOR.matchLabels },
  spec: { containers: [{ name: "app", image: "web:2" }] },
};

/** A namespace with workloads that have one replica each, which is not there yet. */
class Shop implements AsyncDisposable {
  readonly server = new FakeApiServer();
  readonly errors: unknown[] = [];
  readonly informers: SharedInformerFactory;
  readonly #client = new Client({ server: "http://fake", transport: this.server });
  workloads!: DerivedCollection<WorkloadStatus>;

  constructor() {
    this.informers = new SharedInformerFactory(this.#client, { onError: (error) => this.errors.push(error) });
  }

  async start(kinds?: readonly WorkloadKind[]): Promise<void> {
    const onError = (error: unknown): void => void this.errors.push(error);
    this.workloads = workloadStatus(this.informers, { onError, ...(kinds === undefined ? {} : { kinds }) });
    this.informers.start();
    await this.workloads.waitForCacheSync();
  }

  deployment(name = "web"): Deployment {
    const { metadata, status } = deployment({ name, namespace: "shop", labels: { team: "a" } });
    const spec = { replicas: 1, selector: SELECTOR, template: TEMPLATE };
    const waiting = { ...status, replicas: 1, updatedReplicas: 1, readyReplicas: 0, availableReplicas: 0 };
    return this.server.create(Deployment, { metadata, spec, status: waiting });
  }

  replicaSet(name: string, owner?: Deployment): ReplicaSet {
    const ownerReferences = owner === undefined ? [] : [ownerReferenceTo(owner, { controller: true })];
    return this.server.create(ReplicaSet, {
      metadata: { name, namespace: "shop", generation: 1, ownerReferences },
      spec: { replicas: 1, selector: SELECTOR, template: TEMPLATE },
      status: { observedGeneration: 1, replicas: 1, fullyLabeledReplicas: 1, readyReplicas: 0, availableReplicas: 0 },
    });
  }

  /** A pod whose container waits for a reason, or is ready. */
  pod(name: string, owner: { readonly metadata: { readonly uid: string } }, reason?: string, controller = true): Pod {
    const { uid } = owner.metadata;
    const reference: OwnerReference = { apiVersion: "apps/v1", kind: "X", name: "x", uid, controller };
    const made = pod({ name, namespace: "shop", labels: SELECTOR.matchLabels, ownerReferences: [reference] });
    const created = this.server.create(Pod, { ...made, spec: TEMPLATE.spec, status: READY });
    if (reason !== undefined) this.server.patch(Pod, `shop/${name}`, { status: waiting(reason) });
    return created;
  }

  /** Resolves with the status of a workload, once `holds`. */
  until(key: string, holds: (status: WorkloadStatus) => boolean = () => true): Promise<WorkloadStatus> {
    return this.workloads.until(holds, { key });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.workloads?.[Symbol.asyncDispose]();
    await this.informers.shutdown();
    this.#client[Symbol.dispose]();
    assertEquals(this.errors, []);
  }
}

const READY = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] } as const;

function waiting(reason: string, restartCount = 0): object {
  const state = { waiting: { reason, message: "it waits" } };
  const app = { name: "app", image: "web:2", imageID: "", ready: false, restartCount, state };
  return { phase: "Pending", containerStatuses: [app], conditions: [] };
}

Deno.test("workloadStatus shows a Deployment with the reasons of its ReplicaSets' pods, and follows them", async () => {
  await using shop = new Shop();
  const web = shop.deployment();
  shop.pod("web-1-b", shop.replicaSet("web-1", web), "ImagePullBackOff");
  shop.pod("web-1-a", shop.server.get(ReplicaSet, "shop/web-1")!);
  shop.pod("backup-0", shop.server.get(ReplicaSet, "shop/web-1")!, "ImagePullBackOff", false); // no controller
  shop.pod("other-0", { metadata: { uid: "another" } }, "ImagePullBackOff"); // equal labels, another owner
  await shop.start();
  assertEquals(shop.workloads.lister.list().map(({ metadata }) => metadata.name), ["Deployment:web"]);
  assertEquals({ ...shop.workloads.lister.get("shop/Deployment:web") }, {
    metadata: { name: "Deployment:web", namespace: "shop", labels: { team: "a" } },
    kind: "Deployment",
    namespace: "shop",
    name: "web",
    state: "failed",
    ready: false,
    reason: "ImagePullBackOff: pod web-1-b: container app: it waits",
    pods: [{ name: "web-1-b", reason: "ImagePullBackOff: container app: it waits" }],
  });

  shop.server.patch(Pod, "shop/web-1-b", { status: waiting("CrashLoopBackOff", 5) });
  const { pods } = await shop.until("shop/Deployment:web", ({ pods }) => pods[0]?.reason.startsWith("Crash"));
  assertEquals(pods, [{ name: "web-1-b", reason: "CrashLoopBackOff: container app: it waits, 5 restarts" }]);

  shop.pod("web-1-0", shop.server.get(ReplicaSet, "shop/web-1")!, "ContainerCreating");
  const two = await shop.until("shop/Deployment:web", ({ pods }) => pods.length === 2);
  assertEquals(two.pods.map(({ name }) => name), ["web-1-0", "web-1-b"]);
  shop.server.delete(Pod, "shop/web-1-0");

  shop.server.patch(Pod, "shop/web-1-b", { status: { ...READY, containerStatuses: null } });
  const progressing = await shop.until(
    "shop/Deployment:web",
    ({ state, pods }) => state === "progressing" && pods.length === 0,
  );
  assertEquals([progressing.reason, progressing.pods], ["LessAvailable: 0 of 1 updated replicas are available", []]);

  const is = { status: "True", reason: "NewReplicaSetAvailable" };
  const conditions = [{ type: "Available", ...is }, { type: "Progressing", ...is }];
  shop.server.patch(Deployment, "shop/web", { status: { readyReplicas: 1, availableReplicas: 1, conditions } });
  const { state } = await shop.until("shop/Deployment:web", ({ ready }) => ready);
  assertEquals(state, "ready");

  shop.server.delete(Deployment, "shop/web");
  await shop.workloads.untilDeleted("shop/Deployment:web");
});

Deno.test("workloadStatus has an item for each kind, and for ReplicaSets without a controller", async () => {
  await using shop = new Shop();
  const { server } = shop;
  const metadata = { name: "web", namespace: "shop", generation: 1 };
  const spec = { selector: SELECTOR, template: TEMPLATE };
  shop.replicaSet("web-1", shop.deployment());
  shop.pod("bare-0", shop.replicaSet("bare"), "CreateContainerError");
  const job = server.create(Job, {
    metadata,
    spec: { selector: SELECTOR, template: TEMPLATE },
    status: { startTime: "2026-01-01T00:00:00Z", active: 1 },
  });
  shop.pod("job-0", job, "ErrImageNeverPull");
  const set = server.create(StatefulSet, {
    metadata,
    spec: { ...spec, serviceName: "web", replicas: 2 },
    status: { observedGeneration: 1, replicas: 1, readyReplicas: 0 },
  });
  shop.pod("web-1", set, "ContainerCreating");
  shop.pod("web-0", set);
  const initContainerStatuses = [{ name: "init", image: "web:2", imageID: "", ready: false, restartCount: 2 }];
  server.patch(Pod, "shop/web-0", { status: { phase: "Pending", conditions: null, initContainerStatuses } });
  const daemons = server.create(DaemonSet, {
    metadata,
    spec,
    status: {
      observedGeneration: 1,
      desiredNumberScheduled: 1,
      currentNumberScheduled: 1,
      numberMisscheduled: 0,
      numberReady: 0,
    },
  });
  const scheduled = { type: "PodScheduled", status: "False", reason: "Unschedulable", message: "0/3 nodes" };
  shop.pod("daemon-0", daemons);
  server.patch(Pod, "shop/daemon-0", { status: { phase: "Pending", conditions: [scheduled] } });
  await shop.start();
  const rows = shop.workloads.lister.list().map(({ metadata, state, reason, pods }) => {
    return `${metadata.name} ${state} ${reason.split(":")[0]}; ${pods.map((it) => `${it.name} ${it.reason}`)}`;
  });
  assertEquals(rows.sort(), [
    "DaemonSet:web failed Unschedulable; daemon-0 Unschedulable: 0/3 nodes",
    "Deployment:web progressing LessAvailable; ",
    "Job:web failed ErrImageNeverPull; job-0 ErrImageNeverPull: container app: it waits",
    "ReplicaSet:bare failed CreateContainerError; bare-0 CreateContainerError: container app: it waits",
    "StatefulSet:web progressing LessReplicas; web-0 PodPending: its containers have not started, 2 restarts,web-1 ContainerCreating: container app: it waits",
  ]);
});

Deno.test("workloadStatus watches the kinds that it is asked for, and ReplicaSets and pods, once per factory", async () => {
  await using shop = new Shop();
  shop.replicaSet("web-1", shop.deployment());
  shop.deployment("cart");
  await using second = workloadStatus(shop.informers, { kinds: ["Deployment"] });
  await shop.start(["Deployment", "StatefulSet"]);
  await second.waitForCacheSync();
  assertEquals(shop.workloads.lister.list().length, 2);
  assertEquals(second.lister.namespace("shop").list().map(({ name }) => name).sort(), ["cart", "web"]);
  const listed = shop.server.requests.map(({ resource }) => resource);
  assertEquals([...new Set(listed)].sort(), ["deployments", "pods", "replicasets", "statefulsets"]);
  assertEquals(shop.server.watches, 4);
});
