// Waits for objects to be ready, by the command line and the library, against a real server.
import { defineResource, type KubernetesObject, type Resource, SharedInformerFactory } from "@kube/informer";
import { Deployment } from "@kube/informer/kinds/apps/v1";
import { ConfigMap, Pod } from "@kube/informer/kinds/core/v1";
import { NotReadyError, readiness, untilReady } from "@kube/informer/readiness";
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { define, Definition, definitionName } from "../support/cluster/definitions.ts";
import { informer } from "../support/processes/program.ts";
import { clusterTests } from "./_cluster.ts";

const cluster = clusterTests();

const SELECTOR = { matchLabels: { app: "web" } };

/** A template with fields of which the server fills in parts, in pods as in templates. */
const TEMPLATE = {
  metadata: { labels: SELECTOR.matchLabels, annotations: { "example.com/build": "7" } },
  spec: {
    initContainers: [{ name: "migrate", image: "registry.example/migrate:1" }],
    containers: [{
      ...{
        name: "app",
        image: "registry.example/app:1",
        args: ["--port", "80"],
        resources: { requests: { cpu: "0.5" } },
      },
      env: [
        { name: "MODE", value: "fast" },
        { name: "NODE", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } },
      ],
      ports: [{ containerPort: 80 }],
      readinessProbe: { httpGet: { path: "/", port: 80 } },
      volumeMounts: [{ name: "config", mountPath: "/config" }],
    }],
    volumes: [{ name: "config", configMap: { name: "web" } }],
  },
} as const;

const IS = { status: "True", reason: "NewReplicaSetAvailable", message: "done" } as const;
const CONDITIONS = [{ type: "Available", ...IS }, { type: "Progressing", ...IS }];

cluster.withPlane("a Deployment is waited for, and ends the wait when a pod of its template fails", async (setting) => {
  const { client, namespace, plane } = setting;
  const at = ["-n", namespace, "--kubeconfig", plane.kubeconfig];
  const deployments = client.resource(Deployment, { namespace });
  const pods = client.resource(Pod, { namespace });
  await using informers = new SharedInformerFactory(client, { namespace });
  const cached = { deployments: informers.forResource(Deployment), pods: informers.forResource(Pod) };
  informers.start();
  await informers.waitForCacheSync();
  await deployments.create({
    metadata: { name: "web" },
    spec: { replicas: 1, selector: SELECTOR, template: TEMPLATE },
  });
  const key = `${namespace}/web`;
  const created = await cached.deployments.until(() => true, { key });
  assertEquals(readiness(created).reason, "LessReplicas");

  await using wait = informer("wait", "deploy/web", ...at);
  await wait.err.line(/LessReplicas: 0 of 1 replicas exist/);
  const waiting = untilReady(cached.deployments, key);
  const counts = { replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 };
  const patch = (status: Record<string, unknown>): Promise<Deployment> =>
    deployments.patch("web", { type: "merge", body: { status } as never }, { subresource: "status" });
  const { metadata: { resourceVersion } } = await patch({ observedGeneration: 1, ...counts, conditions: CONDITIONS });
  assertEquals((await waiting).metadata.resourceVersion, resourceVersion);
  assertEquals((await wait.ended()).lines, ["deployment.apps/web: ready, Ready: 1 replicas are available"]);

  const rolled = await deployments.patch("web", {
    type: "strategic",
    body: { spec: { template: { spec: { containers: [{ name: "app", image: "registry.example/app:2" }] } } } },
  });
  await using unseen = informer("wait", "deploy/web", ...at);
  await unseen.err.line(/LatestGenerationNotObserved: its controller has seen generation 1, but not yet 2/);
  await patch({ observedGeneration: 2, updatedReplicas: 0 });
  await unseen.err.line(/LessUpdated/);
  await using hasty = informer("wait", "deploy/web", "--fail-fast", ...at);
  await hasty.err.line(/LessUpdated/);
  const failing = assertRejects(
    () => untilReady(cached.deployments, key, { failFast: true, pods: cached.pods }),
    NotReadyError,
  );
  const state = { waiting: { reason: "ImagePullBackOff", message: "no such image" } };
  const containerStatuses = [{ name: "app", ready: false, restartCount: 0, image: "", imageID: "", state }];
  for (
    const [name, { metadata, spec }] of Object.entries({
      "web-1": created.spec.template,
      "web-2": rolled.spec.template,
    })
  ) {
    await pods.create(
      { metadata: { name, labels: metadata!.labels, annotations: metadata!.annotations }, spec } as never,
    );
    await pods.patch(name, { type: "merge", body: { status: { containerStatuses } } as never }, {
      subresource: "status",
    });
  }
  const rejected = await failing;
  const message = "pod web-2: container app: no such image"; // web-1 is of the template before
  assertEquals(rejected.readiness, { state: "failed", reason: "ImagePullBackOff", message });
  const { code, errors } = await hasty.ended();
  assertEquals(code, 1);
  assertStringIncludes(errors, `error: deployment.apps/web has failed: ImagePullBackOff: ${message}`);
  unseen.kill("SIGTERM");
  assertEquals((await unseen.ended()).code, 1);
});

cluster.anywhere(
  "a definition is waited for until it is served, and an object until a field has a value or it is gone",
  async (setting) => {
    const { client, namespace, kubeconfig } = setting;
    const at = ["-n", namespace, "--kubeconfig", kubeconfig];
    const plural = `things${crypto.randomUUID().slice(0, 8)}`;
    const Thing: Resource<KubernetesObject> = defineResource({
      group: "wait.example.com",
      version: "v1",
      plural,
      kind: "Thing",
    });
    const name = definitionName(Thing);
    try {
      await using served = informer("wait", `crd/${name}`, ...at);
      await served.err.line(/: absent \(/);
      await define(client, Thing);
      assertEquals(await served.ended(), {
        ...{
          code: 0,
          lines: [`customresourcedefinition.apiextensions.k8s.io/${name}: ready, Established: it is served`],
        },
        errors: (await served.ended()).errors,
      });
      await using established = informer("wait", "crd", name, "--for", "condition=established", ...at);
      assertEquals((await established.ended()).code, 0);
      await using deleted = informer("wait", `crd/${name}`, "--for", "deleted", ...at);
      await deleted.err.line(/is there/);
      await client.resource(Definition).delete(name);
      assertEquals((await deleted.ended()).code, 0);
    } finally {
      const left = await client.resource(Definition).list({ fieldSelector: `metadata.name=${name}` });
      for (const { metadata } of left.items) await client.resource(Definition).delete(metadata.name);
    }
    const maps = client.resource(ConfigMap, { namespace });
    await using valued = informer("wait", "cm", "--all", "-l", "tier=web", "--for", `data["a.b"]=2`, ...at);
    await valued.err.line(/no configmaps found/);
    await maps.create({ metadata: { name: "c", labels: { tier: "web" } }, data: { "a.b": "1" } });
    await valued.err.line(/data\["a.b"\] is 1/);
    await maps.patch("c", { type: "merge", body: { data: { "a.b": "2" } } });
    assertEquals((await valued.ended()).lines, [`configmap/c: data["a.b"] is 2`]);
  },
);
