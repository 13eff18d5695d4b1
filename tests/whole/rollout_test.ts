// 12 kinds are watched while 300 pods are created and replaced. Then each cache is what kubectl prints.
import { type KubernetesObject, type Resource, SharedInformerFactory } from "@kube/informer";
import { Deployment, ReplicaSet } from "@kube/informer/kinds/apps/v1";
import { Lease } from "@kube/informer/kinds/coordination/v1";
import {
  ConfigMap,
  Endpoints,
  Event,
  Namespace,
  Node,
  Pod,
  Service,
  ServiceAccount,
} from "@kube/informer/kinds/core/v1";
import { EndpointSlice } from "@kube/informer/kinds/discovery/v1";
import { readiness, untilReady } from "@kube/informer/readiness";
import { assertEquals } from "@std/assert";
import { workloadStatus } from "@kube/informer/workloads";
import { EventChecker } from "../support/cluster/event_checker.ts";
import { withDeadline } from "../support/cluster/with_deadline.ts";
import { report, seconds, until, type Whole, wholeCluster } from "./_whole.ts";

const situation = wholeCluster(100);

const KINDS: Readonly<Record<string, Resource<KubernetesObject>>> = {
  "pods": Pod,
  "deployments.apps": Deployment,
  "replicasets.apps": ReplicaSet,
  "endpointslices.discovery.k8s.io": EndpointSlice,
  "leases.coordination.k8s.io": Lease,
  "events": Event,
  "namespaces": Namespace,
  "nodes": Node,
  "services": Service,
  "serviceaccounts": ServiceAccount,
  "configmaps": ConfigMap,
  "endpoints": Endpoints,
};

const NAMES = ["a", "b", "c"];
const REPLICAS = 100;

/** A copy without managedFields, which informers drop. */
function withoutManagers({ metadata, ...rest }: KubernetesObject): unknown {
  const { managedFields: _, ...others } = metadata as unknown as Readonly<Record<string, unknown>>;
  return { ...rest, metadata: others };
}

/** The objects of a kind as kubectl prints them, by uid. */
async function printed({ kubectl }: Whole, name: string): Promise<ReadonlyMap<string, KubernetesObject>> {
  const { items } = JSON.parse(await kubectl("get", name, "-A", "-o", "json")) as {
    readonly items: readonly KubernetesObject[];
  };
  return new Map(items.map((object) => [object.metadata.uid, object]));
}

function byUid(objects: readonly KubernetesObject[]): Map<string, KubernetesObject> {
  return new Map(objects.map((object) => [object.metadata.uid, object]));
}

function versionsOf(objects: ReadonlyMap<string, KubernetesObject>): string {
  return [...objects].map(([uid, { metadata }]) => `${uid} ${metadata.resourceVersion}`).sort().join("\n");
}

/**
 * Returns what is cached and what kubectl prints at the same versions: nodes and leases never rest, so it tries again
 * until the cache before the list, kubectl's list and the cache after it agree.
 */
async function atRest(
  whole: Whole,
  name: string,
  cached: () => readonly KubernetesObject[],
): Promise<readonly [ReadonlyMap<string, KubernetesObject>, ReadonlyMap<string, KubernetesObject>]> {
  return await until(`${name} at rest`, async () => {
    const found = await printed(whole, name);
    // An event may be on its way.
    const deadline = performance.now() + 500;
    for (;;) {
      const own = byUid(cached());
      if (versionsOf(own) === versionsOf(found)) return [own, found] as const;
      if (performance.now() > deadline) return undefined;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  });
}

situation("rollout: 300 pods under 12 informers, whose caches are what kubectl prints", async (whole) => {
  const { client, kubectl } = whole;
  const namespace = await whole.newNamespace("r300");
  await using informers = new SharedInformerFactory(client);
  const caches = Object.entries(KINDS).map(([name, kind]) => {
    const informer = informers.forResource(kind);
    return { name, informer, checker: new EventChecker(informer) };
  });
  const deployments = informers.forResource(Deployment);
  const pods = informers.forResource(Pod);
  await using workloads = workloadStatus(informers);
  informers.start();
  await informers.waitForCacheSync();
  await workloads.waitForCacheSync();

  const startedAt = performance.now();
  const rolledOut = async (step: string): Promise<void> => {
    await Promise.all(NAMES.map(async (name) => {
      const made = await withDeadline(
        `${step} of ${name}`,
        (signal) => untilReady(deployments, `${namespace}/${name}`, { pods, failFast: true, signal }),
        200_000,
      );
      assertEquals([made.status?.updatedReplicas, made.status?.availableReplicas], [REPLICAS, REPLICAS]);
    }));
    report(`${step}: ready after ${seconds(startedAt)}`);
  };
  for (const name of NAMES) {
    await kubectl("create", "deployment", name, "-n", namespace, "--image=nginx:1", `--replicas=${REPLICAS}`);
    await kubectl("expose", "deployment", name, "-n", namespace, "--port=80");
  }
  await rolledOut("creation");
  for (const name of NAMES) {
    await kubectl("set", "image", `deployment/${name}`, "nginx=nginx:2", "-n", namespace);
    const { metadata } = await client.resource(Deployment, { namespace }).get(name);
    await deployments.waitForVersion(metadata.resourceVersion);
  }
  await rolledOut("rollout");
  // kubectl is as satisfied as untilReady() was.
  for (const name of NAMES) await kubectl("rollout", "status", `deployment/${name}`, "-n", namespace, "--timeout=5s");

  let compared = 0;
  const wrong: string[] = [];
  for (const { name, informer, checker } of caches) {
    const [own, found] = await atRest(whole, name, () => informer.lister.list());
    for (const [uid, object] of found) {
      compared++;
      try {
        assertEquals(withoutManagers(own.get(uid)!), withoutManagers(object));
      } catch (error) {
        wrong.push(`${name}: ${error}`);
      }
    }
    wrong.push(...(await checker.end()).map((problem) => `${name}: ${problem}`));
  }
  const events = caches.map(({ checker: { counts } }) => counts.added + counts.updated + counts.deleted);
  report(`${events.reduce((sum, it) => sum + it)} events; ${compared} objects compared`);
  assertEquals(wrong, []);
  assertEquals(pods.indexer.size >= NAMES.length * REPLICAS, true);

  for (const name of NAMES) {
    const { state, pods: listed } = workloads.lister.get(`${namespace}/Deployment:${name}`)!;
    assertEquals([state, readiness(deployments.lister.get(`${namespace}/${name}`), { pods }).state], [
      "ready",
      "ready",
    ]);
    assertEquals(listed, []); // it lists the pods that are not ready
  }
});
