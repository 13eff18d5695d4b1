// Jobs, autoscalers and quotas, whose states their controllers decide.
import { SharedIndexInformer } from "@kube/informer";
import { HorizontalPodAutoscaler } from "@kube/informer/kinds/autoscaling/v2";
import { Deployment } from "@kube/informer/kinds/apps/v1";
import { Job } from "@kube/informer/kinds/batch/v1";
import { ResourceQuota } from "@kube/informer/kinds/core/v1";
import { NotReadyError, readiness, untilReady } from "@kube/informer/readiness";
import { scale } from "@kube/informer/workloads";
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { withDeadline } from "../support/cluster/with_deadline.ts";
import { run } from "../support/processes/session.ts";
import { createAll, report, until, type Whole, wholeCluster } from "./_whole.ts";

const situation = wholeCluster(3);

function job(name: string, image: string, spec: object = {}, template: object = {}, labels: object = {}): object {
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name },
    spec: {
      template: {
        metadata: { labels },
        spec: { restartPolicy: "Never", containers: [{ name: "app", image }], ...template },
      },
      ...spec,
    },
  };
}

function deployment(replicas: number): object {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web" },
    spec: {
      replicas,
      selector: { matchLabels: { app: "web" } },
      template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "app", image: "nginx:1" }] } },
    },
  };
}

/** Runs `informer wait`, and returns its exit code, last line and time. */
async function waited({ kubeconfig }: Whole, ...args: string[]): Promise<readonly [number, string, number]> {
  const startedAt = performance.now();
  const { code, out, err } = await run("wait", ...args, "--timeout", "15s", "--kubeconfig", kubeconfig);
  return [code, [...err, ...out].at(-1)!, performance.now() - startedAt];
}

situation("jobs: complete, failed, suspended and over a deadline", async (whole) => {
  const { client, kubectl, tried } = whole;
  const namespace = await whole.newNamespace("jobs");
  await using jobs = new SharedIndexInformer(client.resource(Job, { namespace }));
  void jobs.run();
  await jobs.waitForCacheSync();
  await createAll(whole, namespace, [
    job("complete", "x:1", { completions: 3, parallelism: 2 }),
    job("failed", "fail:1", { backoffLimit: 0 }),
    job("suspended", "x:1", { suspend: true }),
    // Decided after two seconds, and failed when its pod has ended.
    job("deadline", "forever:1", { activeDeadlineSeconds: 2 }, { terminationGracePeriodSeconds: 8 }, {
      "whole-grace": "1",
    }),
  ]);
  const at = ["-n", namespace];

  // The deadline: the decision counts, for kubectl as the condition FailureTarget.
  const startedAt = performance.now();
  const [decidedMs, failedMs, ...ours] = await Promise.all([
    kubectl("wait", "job/deadline", ...at, "--for=condition=FailureTarget", "--timeout=30s").then(() =>
      performance.now() - startedAt
    ),
    kubectl("wait", "job/deadline", ...at, "--for=condition=Failed", "--timeout=60s").then(() =>
      performance.now() - startedAt
    ),
    waited(whole, "job/deadline", ...at, "--for", "condition=Complete", "--fail-fast"),
    // Before the decision, a Job that runs is ready; this waits for what it never becomes.
    waited(whole, "job/deadline", ...at, "--for", "status.succeeded=1", "--fail-fast"),
  ]);
  for (const [code, line, ms] of ours) {
    assertEquals(code, 1, line);
    assertMatch(line, /has failed: DeadlineExceeded/);
    assert(ms - decidedMs < 2_000 && ms < failedMs, `decided after ${decidedMs} ms, failed ${failedMs}, ours ${ms}`);
  }
  report(
    `decided after ${Math.round(decidedMs)} ms, failed after ${Math.round(failedMs)} ms, informer wait ends after ${
      ours.map(([, , ms]) => Math.round(ms))
    } ms`,
  );

  await kubectl("wait", "job/complete", ...at, "--for=condition=Complete", "--timeout=30s");
  await kubectl("wait", "job/failed", ...at, "--for=condition=Failed", "--timeout=30s");
  await kubectl("wait", "job/suspended", ...at, "--for=condition=Suspended", "--timeout=30s");
  const states = await until("the last events", () => {
    const found = ["complete", "deadline", "failed", "suspended"].map((name) => {
      const { state, reason } = readiness(jobs.lister.get(`${namespace}/${name}`));
      return `${name} ${state} ${reason}`;
    });
    return Promise.resolve(jobs.lister.get(`${namespace}/complete`)?.status?.succeeded === 3 && found);
  });
  assertEquals(states.map((it) => it.replace("SuccessCriteriaMet", "Complete")), [
    "complete ready Complete",
    "deadline failed DeadlineExceeded",
    "failed failed BackoffLimitExceeded",
    "suspended ready Suspended",
  ]);
  const error = await assertRejects(
    () => withDeadline("a failure", (signal) => untilReady(jobs, `${namespace}/failed`, { failFast: true, signal })),
    NotReadyError,
  );
  assertEquals(error.readiness?.reason, "BackoffLimitExceeded");

  // It goes on as for kubectl.
  assertEquals((await tried("wait", "job/suspended", ...at, "--for=condition=Complete", "--timeout=1s")).code, 1);
  await kubectl("patch", "job", "suspended", ...at, "--type=merge", "-p", '{"spec":{"suspend":false}}');
  const [code, line] = await waited(whole, "job/suspended", ...at, "--for", "condition=Complete", "--fail-fast");
  assertEquals(code, 0, line);
});

situation("quota: a Deployment is ready when the quota allows its pods", async (whole) => {
  const { client, kubectl } = whole;
  const namespace = await whole.newNamespace("quota");
  await createAll(whole, namespace, [{
    apiVersion: "v1",
    kind: "ResourceQuota",
    metadata: { name: "pods" },
    spec: { hard: { pods: "2" } },
  }]);
  await using quotas = new SharedIndexInformer(client.resource(ResourceQuota, { namespace }));
  await using deployments = new SharedIndexInformer(client.resource(Deployment, { namespace }));
  for (const informer of [quotas, deployments]) {
    void informer.run();
    await informer.waitForCacheSync();
  }
  const used = (count: string): Promise<ResourceQuota> =>
    withDeadline(`${count} used`, (signal) => quotas.until(({ status }) => status?.used?.pods === count, { signal }));
  await used("0");
  await createAll(whole, namespace, [deployment(4)]);
  await used("2");
  const refused = await withDeadline(
    "a refusal",
    (signal) => deployments.until((it) => readiness(it).reason === "FailedCreate", { signal }),
  );
  assertMatch(readiness(refused).message, /exceeded quota: pods/);
  assertEquals(readiness(refused).state, "progressing");

  await kubectl("patch", "quota", "pods", "-n", namespace, "--type=merge", "-p", '{"spec":{"hard":{"pods":"9"}}}');
  // The controller of ReplicaSets tries again after a while, or at the next change.
  await scale(client.resource(Deployment, { namespace }), "web", 5);
  await withDeadline("the Deployment", (signal) => untilReady(deployments, `${namespace}/web`, { signal }));
  await kubectl("rollout", "status", "deploy/web", "-n", namespace, "--timeout=5s");
  await used("5");
  const { status } = JSON.parse(await kubectl("get", "quota", "pods", "-n", namespace, "-o", "json"));
  assertEquals(status.used, quotas.lister.get(`${namespace}/pods`)?.status?.used);
});

situation("hpa: an autoscaler without metrics says so, and changes nothing", async (whole) => {
  const { client, kubectl } = whole;
  const namespace = await whole.newNamespace("hpa");
  await using autoscalers = new SharedIndexInformer(client.resource(HorizontalPodAutoscaler, { namespace }));
  void autoscalers.run();
  await autoscalers.waitForCacheSync();
  await createAll(whole, namespace, [deployment(2), {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { name: "web" },
    spec: {
      minReplicas: 1,
      maxReplicas: 5,
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
      metrics: [{
        type: "Resource",
        resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } },
      }],
    },
  }]);
  const found = await withDeadline(
    "a condition",
    (signal) =>
      autoscalers.until(({ status }) => status?.conditions?.some(({ type }) => type === "ScalingActive") ?? false, {
        signal,
      }),
  );
  const condition = found.status?.conditions?.find(({ type }) => type === "ScalingActive");
  assertEquals([condition?.status, condition?.reason], ["False", "FailedGetResourceMetric"]);
  const { state, reason } = readiness(found);
  assertEquals([state, reason], ["progressing", "FailedGetResourceMetric"]);
  const printed = await kubectl("get", "hpa", "web", "-n", namespace, "--no-headers");
  assertMatch(printed, /cpu: <unknown>\/50%/);
  const { spec } = await client.resource(Deployment, { namespace }).get("web");
  assertEquals(spec.replicas, 2);
});
