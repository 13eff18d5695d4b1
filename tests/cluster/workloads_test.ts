import { isConflict, isThrottled, type ObjectDraft, splitKey, StatusError } from "@kube/informer";
import { Deployment } from "@kube/informer/kinds/apps/v1";
import { Node, Pod, ServiceAccount } from "@kube/informer/kinds/core/v1";
import { PodDisruptionBudget } from "@kube/informer/kinds/policy/v1";
import { drain, evict, restart, scale, uncordon } from "@kube/informer/workloads";
import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { withDeadline } from "../support/cluster/with_deadline.ts";
import { podDraft } from "../support/cluster/writers.ts";
import { clusterTests, type Setting } from "./_cluster.ts";

// Operations on workloads, as a real server answers them. The tests are its controllers, scheduler and kubelets.

const cluster = clusterTests();

const READY = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] } as const;

/** Creates a pod that runs on a node, and returns its uid. */
async function run({ client, namespace }: Setting, draft: ObjectDraft<Pod>): Promise<string> {
  const pods = client.resource(Pod, { namespace });
  const { metadata } = await pods.create(draft);
  const patch = { type: "merge", body: { status: READY } } as const;
  await pods.patch(metadata.name, patch, { subresource: "status" });
  return metadata.uid;
}

/** Creates a budget for the pods of an app, whose status nobody has written. */
async function budget({ client, namespace }: Setting, app: string): Promise<void> {
  const spec = { minAvailable: 1, selector: { matchLabels: { app } } };
  await client.resource(PodDisruptionBudget, { namespace }).create({ metadata: { name: app }, spec });
}

/** Writes the status of a budget, as its controller does. */
async function allow({ client, namespace }: Setting, app: string, disruptionsAllowed: number): Promise<void> {
  const counts = { currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 };
  const status = { observedGeneration: 1, disruptionsAllowed, ...counts };
  const budgets = client.resource(PodDisruptionBudget, { namespace });
  await budgets.patch(app, { type: "merge", body: { status } }, { subresource: "status" });
}

cluster.anywhere("a Deployment is scaled and restarted, unless its version is old or it is paused", async (setting) => {
  const { client, namespace } = setting;
  const deployments = client.resource(Deployment, { namespace });
  const template = { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "web", image: "web:1" }] } };
  const { metadata } = await deployments.create({
    metadata: { name: "web" },
    spec: { selector: { matchLabels: template.metadata.labels }, template },
  });
  const { resourceVersion } = metadata;
  const scaled = await scale(deployments, "web", 3, { resourceVersion });
  assertEquals([scaled.kind, scaled.spec.replicas, scaled.status?.selector], ["Scale", 3, "app=web"]);
  assert(isConflict(await assertRejects(() => scale(deployments, "web", 4, { resourceVersion }))));
  assertEquals((await scale(deployments, "web", 0)).spec.replicas ?? 0, 0);
  assertEquals((await deployments.get("web", { subresource: "scale" })).spec.replicas ?? 0, 0);
  const restarted = await restart(deployments, "web");
  assertEquals(restarted.metadata.generation, 4);
  await deployments.patch("web", { type: "merge", body: { spec: { paused: true } } });
  await assertRejects(() => restart(deployments, "web"), Error, "its rollout is paused");
});

cluster.anywhere(
  "a service account gets a token with the asked audience and lifetime",
  async ({ client, namespace }) => {
    const accounts = client.resource(ServiceAccount, { namespace });
    await accounts.create({ metadata: { name: "web" } });
    const { spec, status } = await accounts.create(
      { metadata: { name: "web" }, spec: { audiences: ["shop"], expirationSeconds: 600 } },
      { subresource: "token" },
    );
    const claims = JSON.parse(atob(status.token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/")));
    assertEquals([claims.sub, claims.aud], [`system:serviceaccount:${namespace}:web`, ["shop"]]);
    assertEquals([spec.audiences, spec.expirationSeconds], [["shop"], 600]);
  },
);

cluster.anywhere("an eviction waits for its budget, and leaves another pod of the same name", async (setting) => {
  const { client, namespace } = setting;
  const pods = client.resource(Pod, { namespace });
  const uid = await run(setting, podDraft("a", { app: "web" }, `node-${namespace}`));
  assertEquals(await evict(pods, "a", { uid: crypto.randomUUID() }), false);
  assertEquals((await pods.get("a")).metadata.deletionTimestamp, undefined);

  await budget(setting, "web");
  const unprocessed = new AbortController();
  const delays: number[] = [];
  const onBlocked = (error: unknown, delayMs: number): void => {
    assert(isThrottled(error));
    delays.push(delayMs);
    unprocessed.abort();
  };
  await assertRejects(() => evict(pods, "a", { uid, signal: unprocessed.signal, onBlocked }));
  assertEquals(delays, [10_000]);

  await allow(setting, "web", 0);
  const refused = await assertRejects(() => evict(pods, "a", { dryRun: true }), StatusError);
  assert(isThrottled(refused));
  assertMatch(
    refused.message,
    /disruption budget\. The disruption budget web needs 1 healthy pods and has 1 currently$/,
  );
  const budgets = client.resource(PodDisruptionBudget, { namespace });
  const surplus = { status: { currentHealthy: 2 } };
  await budgets.patch("web", { type: "merge", body: surplus }, { subresource: "status" });
  await assertRejects(() => evict(pods, "a", { dryRun: true }), StatusError, "budget web does not allow evicting pods");
  const { spec } = await budgets.get("web");
  await budgets.create({ metadata: { name: "second" }, spec: spec as never });
  const two = await assertRejects(() => evict(pods, "a"), StatusError);
  const message = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
  assertEquals(two.status, { code: 500, reason: "InternalError", message });
  await budgets.delete("second");
  const blocked = Promise.withResolvers<void>();
  const accepted = await withDeadline("the eviction", async (signal) => {
    const eviction = evict(pods, "a", { uid, signal, onBlocked: () => blocked.resolve() });
    await blocked.promise;
    assertEquals((await pods.get("a")).metadata.deletionTimestamp, undefined);
    await allow(setting, "web", 1);
    return await eviction;
  });
  const { metadata } = await pods.get("a");
  assertEquals([accepted, metadata.deletionGracePeriodSeconds], [true, 30]);
  await pods.delete("a", { gracePeriodSeconds: 0 });
  assertEquals(await evict(pods, "a"), false);
});

cluster.anywhere("a node is cordoned and drained", async (setting) => {
  const { client, namespace } = setting;
  const node = `node-${namespace}`;
  const nodes = client.resource(Node);
  await nodes.create({ metadata: { name: node } });
  const other = await setting.newNamespace();
  const owned = (name: string, kind: string): ObjectDraft<Pod> => {
    const draft = podDraft(name, { app: name }, node);
    const owner = { apiVersion: "apps/v1", kind, name, uid: crypto.randomUUID(), controller: true };
    return { ...draft, metadata: { ...draft.metadata, ownerReferences: [owner] } };
  };
  await run(setting, owned("web", "ReplicaSet"));
  await run(setting, owned("agent", "DaemonSet"));
  await run({ ...setting, client, namespace: other }, owned("db", "StatefulSet"));
  const mirror = podDraft("static", {}, node);
  await run(setting, { ...mirror, metadata: { name: "static", annotations: { "kubernetes.io/config.mirror": "x" } } });
  await budget(setting, "web");
  await allow(setting, "web", 0);

  await assertRejects(() => drain(client, node), Error, `Set ignoreDaemonSets for ${namespace}/agent`);
  const few = { ignoreDaemonSets: true, signal: AbortSignal.timeout(1_000) };
  const late = await assertRejects(() => drain(client, node, few), AggregateError);
  assertStringIncludes(late.message, `${namespace}/web: Cannot create "pods/web/eviction"`);
  assertStringIncludes(late.message, "The disruption budget web needs 1 healthy pods and has 1 currently");
  assertStringIncludes(late.message, `${other}/db is evicted, but not gone`);
  assertEquals((late.cause as Error).name, "TimeoutError");
  assertEquals((await nodes.get(node)).spec?.unschedulable, true);
  const steps: string[] = [];
  const work: Promise<unknown>[] = [];
  await withDeadline("the node to be empty", (signal) =>
    drain(client, node, {
      ignoreDaemonSets: true,
      signal,
      onProgress: ({ pod, state }) => {
        const { namespace, name } = splitKey(pod);
        if (steps.at(-1) !== `${state} ${name}`) steps.push(`${state} ${name}`);
        if (state === "blocked") work.push(allow(setting, "web", 1));
        if (state === "evicted") work.push(client.resource(Pod, { namespace }).delete(name, { gracePeriodSeconds: 0 }));
      },
    }));
  await Promise.all(work);
  const of = (name: string): string[] =>
    steps.filter((step) => step.endsWith(` ${name}`)).map((it) => it.split(" ")[0]);
  assertEquals([of("web"), of("db")], [
    ["evicting", "blocked", "evicted", "gone"],
    ["evicting", "evicted", "gone"],
  ]);
  const { items } = await client.resource(Pod).list({ fieldSelector: `spec.nodeName=${node}` });
  assertEquals(items.map(({ metadata }) => metadata.name).sort(), ["agent", "static"]);
  assertEquals((await uncordon(nodes, node)).spec?.unschedulable, undefined);
});
