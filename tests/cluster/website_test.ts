// The project that `informer init` writes, on a real server: its definition, its role, and its program.
import { installCrds } from "@kube/informer/schema";
import {
  type Client,
  defineResource,
  type KubernetesObject,
  type ObjectDraft,
  type Resource,
  SharedIndexInformer,
} from "@kube/informer";
import type { CustomResourceDefinition } from "@kube/informer/kinds/apiextensions/v1";
import { Deployment } from "@kube/informer/kinds/apps/v1";
import { Lease } from "@kube/informer/kinds/coordination/v1";
import { Event } from "@kube/informer/kinds/events/v1";
import { untilReady } from "@kube/informer/readiness";
import { assertEquals, assertRejects } from "@std/assert";
import { loadAll } from "js-yaml";
import { withDeadline } from "../support/cluster/with_deadline.ts";
import { writeKubeconfig } from "../support/processes/host.ts";
import { Program } from "../support/processes/program.ts";
import { Folder } from "../support/servers/serve.ts";
import { run } from "../support/processes/session.ts";
import { clusterTests, report, seconds } from "./_cluster.ts";
import { create } from "./_manifests.ts";
import { tokenOf } from "./_rights.ts";

const cluster = clusterTests();
const NAME = "cron-runner";

interface CronTab extends KubernetesObject {
  readonly spec: { readonly image?: string; readonly replicas?: number };
  readonly status?: { readonly readyReplicas?: number; readonly conditions?: readonly unknown[] };
}
const CronTab: Resource<CronTab> = defineResource<CronTab>({
  group: "acme.dev",
  version: "v1",
  plural: "crontabs",
  kind: "CronTab",
});

/** Does what the controller of Deployments does: all pods are ready. */
async function rollOut(client: Client, { metadata, spec: { replicas } }: Deployment): Promise<void> {
  const counts = { replicas, updatedReplicas: replicas, readyReplicas: replicas, availableReplicas: replicas };
  const conditions = [
    { type: "Available", status: "True", reason: "MinimumReplicasAvailable" },
    { type: "Progressing", status: "True", reason: "NewReplicaSetAvailable" },
  ];
  const body = { status: { observedGeneration: metadata.generation, ...counts, conditions } };
  const deployments = client.resource(Deployment, { namespace: metadata.namespace });
  await deployments.patch(metadata.name, { type: "merge", body: body as never }, { subresource: "status" });
}

cluster.withPlane(
  "a project of informer init reconciles an object to ready, with the rights of its role alone",
  async ({ client, namespace, plane }) => {
    await using project = new Folder();
    const init = await run("init", NAME, "--kind", "CronTab", "--group", "acme.dev", "--dir", project.path);
    assertEquals(init.code, 0, init.err.join("\n"));
    const [definition, ...manifests] = ["definition.yaml", "manifests.yaml"].flatMap((name) =>
      loadAll(Deno.readTextFileSync(project.file(name))) as KubernetesObject[]
    );
    await create(client, definition, true); // strictly
    await withDeadline(
      "the definition",
      (signal) => installCrds(client, [definition as ObjectDraft<CustomResourceDefinition>], { signal }),
    );
    for (const object of manifests) await create(client, object, false); // nothing here runs the Deployment

    const kubeconfig = await writeKubeconfig(
      project.file("kubeconfig"),
      { server: plane.url, "certificate-authority": `${plane.folder}/ca.crt` },
      { token: await tokenOf(client, NAME, NAME) },
      { namespace: NAME },
    );
    const startedAt = performance.now();
    await using program = new Program(project.file("main.ts"), ["0"], { KUBECONFIG: kubeconfig });
    await program.until("leadership", (line) => line === "running");
    const tabs = client.resource(CronTab, { namespace });
    const make = (spec: CronTab["spec"]): Promise<CronTab> =>
      tabs.create({ metadata: { name: "nightly" }, spec }, { fieldValidation: "Strict" });
    await assertRejects(() => make({ image: "" }), Error, "spec.image");
    await assertRejects(() => make({ image: "nginx", replicas: -1 }), Error, "spec.replicas");
    await make({ image: "nginx" });

    await using deployments = new SharedIndexInformer(client.resource(Deployment, { namespace }));
    deployments.run();
    await using objects = new SharedIndexInformer(tabs);
    objects.run();
    const key = `${namespace}/nightly`;
    const deployed = (holds: (made: Deployment) => boolean): Promise<Deployment> =>
      withDeadline("the Deployment", (signal) => deployments.until(holds, { signal }));
    const ready = (): Promise<CronTab> =>
      withDeadline("the condition Ready", (signal) => untilReady(objects, key, { signal }));
    const made = await deployed(({ spec }) => spec.replicas === 1); // the default of the definition
    assertEquals(made.metadata.ownerReferences?.map(({ kind, name }) => [kind, name]), [["CronTab", "nightly"]]);
    await withDeadline("the condition", (signal) => objects.until(({ status }) => status !== undefined, { signal }));
    await rollOut(client, made);
    assertEquals((await ready()).status?.readyReplicas, 1);
    report(`ready ${seconds(startedAt)} after the start of the program`);

    await tabs.patch("nightly", { type: "merge", body: { spec: { replicas: 3 } } });
    await rollOut(client, await deployed(({ spec }) => spec.replicas === 3));
    await withDeadline(
      "the status",
      (signal) => objects.until(({ status }) => status?.readyReplicas === 3, { signal }),
    );
    const scale = { spec: { replicas: 9 } };
    const { metadata } = await client.resource(Deployment, { namespace }).patch("nightly", {
      type: "merge",
      body: scale,
    });
    await deployed(({ metadata: { generation }, spec }) => generation! > metadata.generation! && spec.replicas === 3);

    assertEquals((await client.resource(Lease, { namespace: NAME }).get(NAME)).spec?.holderIdentity === "", false);
    program.kill("SIGTERM");
    const { code, errors } = await program.ended();
    // The list of a kind that was defined a moment before may be refused, and is sent again.
    assertEquals([code, errors.replace(/^informer of .*429 TooManyRequests: storage is .*\n/m, "")], [0, ""]);
    assertEquals((await client.resource(Lease, { namespace: NAME }).get(NAME)).spec?.holderIdentity, "");
    const { items } = await client.resource(Event, { namespace }).list();
    assertEquals([...new Set(items.map(({ reason }) => reason))], ["Ready"]);
  },
);
