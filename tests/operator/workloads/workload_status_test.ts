import { Client, type DerivedCollection, type OwnerReference, SharedInformerFactory } from "@kube/informer";
import { DaemonSet, Deployment, ReplicaSet, StatefulSet } from "@kube/informer/kinds/apps/v1";
import { Job } from "@kube/informer/kinds/batch/v1";
import { Pod } from "@kube/informer/kinds/core/v1";
import { readiness } from "@kube/informer/readiness";
import { ownerReferenceTo } from "@kube/informer/reconcile";
import { deployment, FakeApiServer, pod } from "@kube/informer/testing";

import { type WorkloadKind, type WorkloadStatus, workloadStatus } from "@kube/informer/workloads";
import { assertEquals } from "@std/assert";
import { Random } from "../../../src/testing/fake/random.ts";
import { FakeTime } from "../../support/times/fake_time.ts";

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
    const reference: OwnerReference = {
      apiVersion: "apps/v1",
      kind: "X",
      name: name.replace(/-[^-]*$/, ""),
      uid,
      controller,
    };
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

/** What a computation from scratch says about each workload: all owned pods, each judged and compared. */
function fromScratch(server: FakeApiServer): unknown[] {
  const byName = (a: Pod, b: Pod): number => a.metadata.name < b.metadata.name ? -1 : 1;
  const ownedBy = <T extends ReplicaSet | Pod>(all: readonly T[], uid: string): T[] =>
    all.filter(({ metadata }) => metadata.ownerReferences?.some((it) => it.controller && it.uid === uid));
  const sets = server.list(ReplicaSet);
  const judged = [...server.list(Deployment), ...sets.filter(({ metadata }) => !metadata.ownerReferences?.length)];
  return judged.map((workload) => {
    const { name, uid } = workload.metadata;
    const owners = workload.kind === "Deployment" ? ownedBy(sets, uid) : [workload];
    const pods = owners.flatMap(({ metadata }) => ownedBy(server.list(Pod), metadata.uid)).sort(byName);
    const failing = { lister: { namespace: () => ({ list: () => pods }) } };
    const { state, reason, message } = readiness(workload as Deployment, { pods: failing });
    const waiting = pods.map((pod) => ({ name: pod.metadata.name, found: readiness(pod) }));
    return {
      name: `${workload.kind}:${name}`,
      state,
      reason: message === reason ? reason : `${reason}: ${message}`,
      pods: waiting.filter(({ found }) => found.state !== "ready").map(({ name, found }) => ({
        name,
        reason: found.message === found.reason ? found.reason : `${found.reason}: ${found.message}`,
      })),
    };
  }).sort((a, b) => a.name < b.name ? -1 : 1);
}

const IMAGES = ["web:1", "web:2"];
const POD_STATES: readonly object[] = [
  READY,
  waiting("ContainerCreating"),
  waiting("ImagePullBackOff"),
  { phase: "Failed", containerStatuses: null, conditions: null },
  {
    phase: "Pending",
    containerStatuses: null,
    conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable" }],
  },
];

/** Changes a random object. */
function changeAny(shop: Shop, random: Random): void {
  const { server } = shop;
  const template = { spec: { containers: [{ name: "app", image: random.pick(IMAGES) }] } };
  const sets = server.list(ReplicaSet);
  const pods = server.keys(Pod);
  const step = random.below(12);
  if (step === 0 && server.list(Deployment).length < 3) return void shop.deployment(`web-${random.below(1_000)}`);
  if (step === 1 && sets.length < 6) {
    const owner = random.pick([undefined, ...server.list(Deployment)]);
    return void shop.replicaSet(
      `${owner?.metadata.name ?? "bare"}-${random.below(100)}`.slice(0, 4 + random.below(9)) + sets.length,
      owner,
    );
  }
  if (step === 2 || step === 3) {
    const key = random.pick(["", ...server.keys(Deployment)]);
    if (key !== "") server.patch(Deployment, key, { spec: { template } });
  } else if (step === 4 && sets.length > 0 && random.below(4) === 0) {
    server.delete(ReplicaSet, `shop/${random.pick(sets).metadata.name}`);
  } else if (step === 5 && pods.length > 0) server.delete(Pod, random.pick(pods));
  else if (step < 9 && sets.length > 0) {
    const owner = random.pick(sets);
    const name = `${owner.metadata.name}-${random.pick(["a1", "a2", "b"])}${random.below(30)}`;
    if (server.get(Pod, `shop/${name}`) === undefined) shop.pod(name, owner);
    server.patch(Pod, `shop/${name}`, { spec: { containers: template.spec.containers } });
  } else if (pods.length > 0) server.patch(Pod, random.pick(pods), { status: random.pick(POD_STATES) });
}

Deno.test("workloadStatus equals a computation from scratch after random changes", async () => {
  for (let seed = 0; seed < 10; seed++) {
    using time = new FakeTime();
    const random = new Random(seed);
    await using shop = new Shop();
    const started = shop.start(["Deployment", "ReplicaSet"]);
    await time.tickAsync(100);
    await started;
    for (let i = 0; i < 60; i++) {
      for (let changes = random.below(4); changes >= 0; changes--) changeAny(shop, random);
      // An unschedulable pod fails by its age, which the workload shows with its next change.
      await time.tickAsync(random.below(5) === 0 ? 16_000 : 100);
      for (const key of shop.server.keys(Deployment)) {
        const { generation } = shop.server.get(Deployment, key)!.metadata;
        const observedGeneration = random.below(4) === 0 ? 1 : generation;
        const metadata = { annotations: { step: `${i}` } };
        shop.server.patch(Deployment, key, { metadata, status: { observedGeneration } });
      }
      for (const { metadata } of shop.server.list(ReplicaSet)) {
        shop.server.patch(ReplicaSet, `shop/${metadata.name}`, { metadata: { annotations: { step: `${i}` } } });
      }
      await time.tickAsync(100);
      const found = shop.workloads.lister.list().map(({ metadata, state, reason, pods }) => {
        return { name: metadata.name, state, reason, pods: [...pods] };
      });
      assertEquals(found.sort((a, b) => a.name < b.name ? -1 : 1), fromScratch(shop.server), `seed ${seed}, step ${i}`);
    }
  }
});
