// The project that `informer init` writes, on a cluster whose controllers roll out what it makes.
import { defineResource, type KubernetesObject, type Resource, SharedIndexInformer } from "@kube/informer";
import { Deployment } from "@kube/informer/kinds/apps/v1";
import { Lease } from "@kube/informer/kinds/coordination/v1";
import { Pod } from "@kube/informer/kinds/core/v1";
import type { Condition } from "@kube/informer/kinds/meta/v1";
import { readiness } from "@kube/informer/readiness";
import { findCondition } from "@kube/informer/reconcile";
import { assertEquals, assertStringIncludes } from "@std/assert";
import { withDeadline } from "../support/cluster/with_deadline.ts";
import { writeKubeconfig } from "../support/processes/host.ts";
import { Program } from "../support/processes/program.ts";
import { run } from "../support/processes/session.ts";
import { Folder } from "../support/servers/serve.ts";
import { orNone, report, seconds, until, wholeCluster } from "./_whole.ts";

const situation = wholeCluster(3);

const NAME = "site-runner";

interface Site extends KubernetesObject {
  readonly spec: { readonly image: string; readonly replicas?: number };
  readonly status?: { readonly readyReplicas?: number; readonly conditions?: readonly Condition[] };
}
const Site: Resource<Site> = defineResource<Site>({ group: "acme.dev", version: "v1", plural: "sites", kind: "Site" });

situation("operator: a project of informer init follows real rollouts, with two replicas", async (whole) => {
  const { client, cluster, kubectl, tried } = whole;
  await using project = new Folder();
  const init = await run("init", NAME, "--kind", "Site", "--group", "acme.dev", "--dir", project.path);
  assertEquals(init.code, 0, init.err.join("\n"));
  await kubectl("apply", "-f", project.file("definition.yaml"));
  await kubectl("wait", "crd/sites.acme.dev", "--for=condition=Established", "--timeout=30s");
  await kubectl("apply", "-f", project.file("manifests.yaml"));
  // Its pods run nothing here: the programs are processes of this test.
  await kubectl("scale", `deployment/${NAME}`, "-n", NAME, "--replicas=0");
  const token = (await kubectl("create", "token", NAME, "-n", NAME)).trim();
  const kubeconfig = await writeKubeconfig(
    project.file("kubeconfig"),
    { server: cluster.plane.url, "certificate-authority": `${cluster.plane.folder}/ca.crt` },
    { token },
    { namespace: NAME },
  );
  await using first = new Program(project.file("main.ts"), ["0"], { KUBECONFIG: kubeconfig });
  await first.until("leadership", (line) => line === "running");
  await using second = new Program(project.file("main.ts"), ["0"], { KUBECONFIG: kubeconfig });
  await second.until("its probes", (line) => line.startsWith("probes: "));

  const namespace = await whole.newNamespace("sites");
  const sites = client.resource(Site, { namespace });
  await using cache = new SharedIndexInformer(sites);
  void cache.run();
  await cache.waitForCacheSync();
  const startedAt = performance.now();
  const patch = async (spec: Partial<Site["spec"]>): Promise<void> => {
    await kubectl("patch", "site", "shop", "-n", namespace, "--type=merge", "-p", JSON.stringify({ spec }));
  };
  /** Waits for a status about the newest generation. */
  const status = (what: string, holds: (ready: Condition, site: Site) => boolean): Promise<Site> =>
    withDeadline(what, (signal) =>
      cache.until((site) => {
        const ready = findCondition(site.status?.conditions, "Ready");
        return ready?.observedGeneration === site.metadata.generation && holds(ready!, site);
      }, { signal }));
  const rolledOut = (replicas: number): Promise<Site> =>
    status(
      `${replicas} ready replicas`,
      ({ status }, site) => status === "True" && site.status?.readyReplicas === replicas,
    );

  const wrong = { apiVersion: "acme.dev/v1", kind: "Site", metadata: { name: "wrong" }, spec: { image: "" } };
  await Deno.writeTextFile(project.file("wrong.json"), JSON.stringify(wrong));
  assertStringIncludes((await tried("create", "-n", namespace, "-f", project.file("wrong.json"))).err, "spec.image");
  await sites.create({ metadata: { name: "shop" }, spec: { image: "nginx:1" } });
  assertEquals(readiness(await rolledOut(1)).state, "ready");
  await patch({ replicas: 3 });
  await rolledOut(3);
  report(`rolled out twice after ${seconds(startedAt)}`);

  await patch({ image: "bad:1" });
  const { status: broken } = await status("a rollout that is stuck", ({ status }) => status === "False");
  assertEquals(broken?.readyReplicas, 3); // the former pods stay
  first.kill("SIGKILL");
  await patch({ image: "nginx:2" });
  await second.until("leadership", (line) => line === "running"); // once the lease is over
  await rolledOut(3);
  const { items } = await client.resource(Pod, { namespace }).list();
  assertEquals(
    items.filter(({ metadata }) => !metadata.deletionTimestamp).map(({ spec }) => spec?.containers[0].image),
    [
      "nginx:2",
      "nginx:2",
      "nginx:2",
    ],
  );

  await kubectl("delete", "site", "shop", "-n", namespace, "--cascade=foreground", "--timeout=60s");
  assertEquals(await orNone(client.resource(Deployment, { namespace }).get("shop")), undefined);
  assertEquals((await client.resource(Pod, { namespace }).list()).items, []);
  second.kill("SIGTERM");
  assertEquals((await second.ended()).code, 0);
  await until(
    "a lease without a holder",
    async () => (await client.resource(Lease, { namespace: NAME }).get(NAME)).spec?.holderIdentity === "",
  );
});
