import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { errorLine } from "../../src/errors/errors.ts";
import { WaitError } from "../../src/informer/status.ts";
import { SharedInformerFactory } from "../../src/informer/shared_informer_factory.ts";
import type { SharedIndexInformer } from "../../src/informer/shared_index_informer.ts";
import { Client } from "../../src/client/client.ts";
import { Deployment } from "../../src/kinds/apps/v1.ts";
import { Pod } from "../../src/kinds/core/v1.ts";
import { NotReadyError, readiness, untilReady, type UntilReadyOptions } from "../../src/readiness/mod.ts";
import { deployment, FakeApiServer, pod } from "../../src/testing/mod.ts";
import { FakeTime } from "../support/fake_time.ts";

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
  assertEquals(error.message, `"shop/web" is not ready: progressing, LessUpdated: 0 of 2 replicas are updated`);
  assertMatch(errorLine(error), /given up after .*The build was stopped/);
  const nowhere = untilReady(shop.deployments, "shop/db", { signal: stop.signal });
  assertEquals((await assertRejects(() => nowhere, NotReadyError)).readiness.state, "absent");
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
  await shop.deployments.atLeast(metadata.resourceVersion); // judged again
  stop.abort();
  assertEquals((await assertRejects(() => waiting, NotReadyError)).readiness.reason, "ImagePullBackOff");
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
    await shop.deployments.atLeast(resourceVersion);
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
