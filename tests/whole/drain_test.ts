// Drains compared with kubectl drain, on two nodes with the same pods, and evictions under budgets.
import { SharedIndexInformer, StatusError } from "@kube/informer";
import { Deployment } from "@kube/informer/kinds/apps/v1";
import { Pod } from "@kube/informer/kinds/core/v1";
import { untilReady } from "@kube/informer/readiness";
import { drain, evict } from "@kube/informer/workloads";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { withDeadline } from "../support/cluster/with_deadline.ts";
import { createAll, report, until, type Whole, wholeCluster } from "./_whole.ts";

const situation = wholeCluster(5);

/** The time for both drains: longer than the grace of any pod, and than some waits for a budget. */
const DRAIN_S = 12;

const CONTAINERS = { containers: [{ name: "app", image: "nginx:1" }] };

/** What is on a node, with names that end with its number. */
function contents(number: number): object[] {
  const node = `node-${number}`;
  const pod = (name: string, spec: object = {}, metadata: object = {}): object => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: `${name}${number}`, ...metadata },
    spec: { nodeName: node, ...CONTAINERS, ...spec },
  });
  const budget = (name: string): object => ({
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name: `${name}${number}` },
    spec: { minAvailable: 1, selector: { matchLabels: { app: `${name}${number}` } } },
  });
  const here = { key: "kubernetes.io/hostname", operator: "In", values: [node] };
  const preference = { weight: 100, preference: { matchExpressions: [here] } };
  return [
    pod("bare"),
    pod("empty", { volumes: [{ name: "v", emptyDir: {} }] }),
    pod("mirror", {}, { annotations: { "kubernetes.io/config.mirror": "abc", "kubernetes.io/config.source": "file" } }),
    pod("grace", { terminationGracePeriodSeconds: 4 }, { labels: { "whole-grace": "1" } }),
    pod("done", { restartPolicy: "Never", containers: [{ name: "app", image: "fail:1" }] }),
    pod("solo", {}, { labels: { app: `solo${number}` } }),
    budget("solo"), // which never allows an eviction
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: `pin${number}` },
      spec: {
        replicas: 2,
        selector: { matchLabels: { app: `pin${number}` } },
        template: {
          metadata: { labels: { app: `pin${number}` } },
          spec: {
            ...CONTAINERS,
            affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [preference] } },
          },
        },
      },
    },
    budget("pin"),
  ];
}

const AGENT = {
  apiVersion: "apps/v1",
  kind: "DaemonSet",
  metadata: { name: "agent" },
  spec: {
    selector: { matchLabels: { app: "agent" } },
    template: { metadata: { labels: { app: "agent" } }, spec: CONTAINERS },
  },
};

/** The beginnings of names, which are the same on each node, sorted: `"pin"` for `"pin2-6b8f-x"`. */
function kinds(names: Iterable<string>): string[] {
  return Array.from(names, (name) => /^(?:[\w-]+\/)?([a-z]+)/.exec(name)![1]).sort();
}

/** The pods of a node by uid. */
async function podsOn({ client }: Whole, namespace: string, node: string): Promise<Map<string, Pod>> {
  const { items } = await client.resource(Pod, { namespace }).list({ fieldSelector: `spec.nodeName=${node}` });
  return new Map(items.map((pod) => [pod.metadata.uid, pod]));
}

/** The names of pods in a message, with their namespace. */
function named(message: string, namespace: string): string[] {
  return [...new Set(message.match(new RegExp(`\\b${namespace}/[\\w-]+`, "g")))];
}

situation("drain: the pods of a node are refused, evicted and left as by kubectl", async (whole) => {
  const { client, kubectl, tried } = whole;
  const namespace = await whole.newNamespace("dr");
  const [theirs, ours] = ["node-1", "node-2"];
  await createAll(whole, namespace, [...contents(1), ...contents(2), AGENT]);
  await kubectl("rollout", "status", "ds/agent", "-n", namespace, "--timeout=60s");
  const pods = await until("the same pods on both nodes", async () => {
    const found = await Promise.all([theirs, ours].map((node) => podsOn(whole, namespace, node)));
    const [a, b] = found.map((pods) => kinds([...pods.values()].map(({ metadata }) => metadata.name)));
    const isRest = found.every((pods) =>
      [...pods.values()].every(({ metadata, status }) =>
        status?.phase === (metadata.name.startsWith("done") ? "Failed" : "Running")
      )
    );
    return isRest && a.length === 9 && a.join() === b.join() && found;
  });
  for (const node of [theirs, ours]) await kubectl("cordon", node); // so that no evicted pod comes here

  const refused = await tried("drain", theirs);
  const error = await assertRejects(() => drain(client, ours), Error);
  assertEquals(refused.code, 1);
  const wanted = ["agent", "bare", "empty", "grace", "solo"];
  assertEquals([kinds(named(refused.err, namespace)), kinds(named(error.message, namespace))], [wanted, wanted]);
  for (const [i, node] of [theirs, ours].entries()) {
    assertEquals([...(await podsOn(whole, namespace, node)).keys()].sort(), [...pods[i].keys()].sort(), node);
  }

  const steps = new Map<string, string[]>();
  const [forced, failure] = await Promise.all([
    tried("drain", theirs, "--force", "--ignore-daemonsets", "--delete-emptydir-data", `--timeout=${DRAIN_S}s`),
    assertRejects(
      () =>
        drain(client, ours, {
          force: true,
          ignoreDaemonSets: true,
          deleteEmptyDirData: true,
          signal: AbortSignal.timeout(DRAIN_S * 1_000),
          onProgress: ({ pod, state }) => steps.set(pod, [...(steps.get(pod) ?? []), state]),
        }),
      AggregateError,
    ),
  ]);
  assertEquals(forced.code, 1, forced.err);
  // kubectl names a pod again whenever it tries again.
  const evicted = kinds(new Set(forced.out.match(/(?<=^evicting pod )\S+/gm)));
  assertEquals(evicted, ["bare", "done", "empty", "grace", "pin", "pin", "solo"]);
  assertEquals(kinds(steps.keys()), evicted);
  const left = await Promise.all([theirs, ours].map((node) => podsOn(whole, namespace, node)));
  for (const [i, found] of left.entries()) {
    assertEquals(kinds([...found.values()].map(({ metadata }) => metadata.name)), ["agent", "mirror", "solo"]);
    assertEquals([...found.keys()].every((uid) => pods[i].has(uid)), true);
  }
  assertStringIncludes(failure.message, "disruption budget solo2");
  assertEquals(named(failure.message, namespace), [`${namespace}/solo2`]);
  for (const [pod, states] of steps) assertEquals(states.at(-1), pod.includes("solo") ? "blocked" : "gone", pod);
});

situation("evict: a budget is never exceeded, and all evictions are accepted in the end", async (whole) => {
  const { client } = whole;
  const namespace = await whole.newNamespace("ev");
  const budget = (name: string, spec: object): object => ({
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name },
    spec: { selector: { matchLabels: { app: "web" } }, ...spec },
  });
  await createAll(whole, namespace, [{
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web" },
    spec: {
      replicas: 3,
      selector: { matchLabels: { app: "web" } },
      template: {
        metadata: { labels: { app: "web" }, annotations: { "whole/ready-delay": "1s" } },
        spec: CONTAINERS,
      },
    },
  }, budget("two", { minAvailable: 2 })]);
  await using deployments = new SharedIndexInformer(client.resource(Deployment, { namespace }));
  let least = Infinity;
  void deployments.run();
  await deployments.waitForCacheSync();
  const ready = (): Promise<Deployment> =>
    withDeadline("the Deployment", (signal) => untilReady(deployments, `${namespace}/web`, { signal }));
  await ready();
  deployments.addEventHandler({
    onUpdate: ({ object: { status } }) => least = Math.min(least, status?.availableReplicas ?? 0),
  });

  const pods = client.resource(Pod, { namespace });
  const { items: before } = await pods.list();
  await until(
    "the budget to know its pods",
    () => evict(pods, before[0].metadata.name, { dryRun: true }).catch(() => false),
  );
  let blocked = 0;
  const accepted = await withDeadline("all evictions", (signal) =>
    Promise.all(
      before.map(({ metadata: { name, uid } }) =>
        evict(pods, name, {
          uid,
          signal,
          onBlocked: (error) => {
            blocked++;
            assertEquals(error.status.code, 429);
          },
        })
      ),
    ));
  assertEquals(accepted, [true, true, true]);
  assert(blocked > 0);
  report(`${blocked} evictions were blocked, at least ${least} pods were available`);
  const former = new Set(before.map(({ metadata: { uid } }) => uid));
  const after = await until("the end of the evicted pods", async () => {
    const { items } = await pods.list();
    return items.length === 3 && items.every(({ metadata: { uid } }) => !former.has(uid)) && items;
  });
  await ready();
  assertEquals(least, 2);

  // Two budgets for one pod are the server's refusal, which no wait helps.
  await createAll(whole, namespace, [budget("other", { minAvailable: 1 })]);
  const refusal = await until("the other budget", async () => {
    return await evict(pods, after[0].metadata.name, { dryRun: true }).then(() => false, (error) => error);
  });
  assert(refusal instanceof StatusError);
  assertEquals(refusal.status.code, 500);
  assertStringIncludes(refusal.message, "more than one PodDisruptionBudget");
});
