// The example for a cluster: its manifests and the commands of its Dockerfile, on a real server, without containers.
import type { Client, KubernetesObject } from "@kube/informer";
import { Lease } from "@kube/informer/kinds/coordination/v1";
import { Pod } from "@kube/informer/kinds/core/v1";
import { Event } from "@kube/informer/kinds/events/v1";
import { assert, assertEquals } from "@std/assert";
import { loadAll } from "js-yaml";
import { withDeadline } from "../support/cluster/with_deadline.ts";
import { podDraft } from "../support/cluster/writers.ts";
import { parseOpenMetrics } from "../support/texts/parse_open_metrics.ts";
import { clusterTests, report, seconds } from "./_cluster.ts";
import { Image } from "./_image.ts";
import { create } from "./_manifests.ts";
import { tokenOf } from "./_rights.ts";

const cluster = clusterTests();
const NAME = "pod-labels";
const MANIFESTS = new URL("../../examples/in_cluster/manifests.yaml", import.meta.url);

async function manifests(client: Client): Promise<KubernetesObject[]> {
  const objects = loadAll(await Deno.readTextFile(MANIFESTS)) as KubernetesObject[];
  await create(client, objects.find(({ kind }) => kind === "Namespace")!, false); // the others are refused without it
  return objects;
}

cluster.withPlane(
  "the manifests of examples/in_cluster are accepted with strict validation of fields",
  async ({ client }) => {
    const objects = await manifests(client);
    assertEquals(objects.map(({ kind }) => kind), ["Namespace", "ServiceAccount", "Role", "RoleBinding", "Deployment"]);
    for (const object of objects) await create(client, object, true);
    const misspelt = { ...objects[4], spec: { ...(objects[4] as { spec?: object }).spec, replica: 2 } };
    let refused = "";
    await create(client, misspelt as KubernetesObject, true).catch((error) => refused = String(error));
    assert(refused.includes(`unknown field "spec.replica"`), refused);
  },
);

const needsRoot = Deno.build.os !== "linux" || Deno.uid() !== 0;
if (needsRoot) console.error("NOT RUN: the commands of the Dockerfile of examples/in_cluster: they need root on Linux");

if (!needsRoot) {
  cluster.withPlane(
    "the commands of the Dockerfile of examples/in_cluster run as other users, with the rights of the Role alone",
    async ({ client, plane }) => {
      for (const object of await manifests(client)) {
        if (object.kind !== "Deployment") await create(client, object, false);
      }
      const token = await tokenOf(client, NAME, NAME);
      const createPod = async (name: string): Promise<void> => {
        const draft = podDraft(name);
        await client.resource(Pod, { namespace: NAME }).create(
          { ...draft, spec: { ...draft.spec!, nodeName: "worker-1" } } as never,
        );
      };
      await createPod("web-0");

      let startedAt = performance.now();
      await using image = await Image.build("examples/in_cluster/Dockerfile");
      report(`the commands of RUN ended after ${seconds(startedAt)}`);
      startedAt = performance.now();
      const server = new URL(plane.url);
      const program = image.start({
        KUBERNETES_SERVICE_HOST: server.hostname,
        KUBERNETES_SERVICE_PORT: server.port,
        POD_NAME: "pod-labels-0",
      }, {
        "secrets/kubernetes.io/serviceaccount/token": token,
        "secrets/kubernetes.io/serviceaccount/namespace": NAME,
        "secrets/kubernetes.io/serviceaccount/ca.crt": await Deno.readTextFile(`${plane.folder}/ca.crt`),
      });
      try {
        await Promise.race([
          program.out.line(/^labelled pod-labels\/web-0 with worker-1$/),
          program.code.then((code) => Promise.reject(new Error(`it ended with ${code}: ${program.err.text}`))),
        ]);
        report(`the first pod was labelled after ${seconds(startedAt)}`);
        const pod = await client.resource(Pod, { namespace: NAME }).get("web-0");
        assertEquals(pod.metadata.labels?.["example.com/node"], "worker-1");
        for (const path of ["healthz", "readyz"]) {
          const response = await fetch(`http://127.0.0.1:8080/${path}`);
          assertEquals([response.status, await response.text()], [200, "ok\n"]);
        }
        await createPod("web-1");
        await program.out.line(/^labelled pod-labels\/web-1 with worker-1$/);
        const families = parseOpenMetrics(await (await fetch("http://127.0.0.1:8080/metrics")).text());
        assert(families.some(({ name, samples }) => name === "informer_objects" && samples[0].value === 2));
        const samples = families.flatMap(({ samples }) => samples);
        const value = (metric: string): number | undefined => samples.find(({ name }) => name === metric)?.value;
        const counts = ["list", "commit", "delivery"].map((what) => value(`informer_${what}_seconds_count`));
        assertEquals(counts, [1, 1, 1]);
        report(`from creation to the handler in ${value("informer_delivery_seconds_sum")} s, by creationTimestamp`);
        const [, user] = /^Uid:\t(\d+)/m.exec(await Deno.readTextFile(`/proc/${program.pid}/status`))!;
        assertEquals(Number(user), 65532);
        assertEquals(
          (await client.resource(Lease, { namespace: NAME }).get(NAME)).spec?.holderIdentity,
          "pod-labels-0",
        );
      } finally {
        program.kill("SIGTERM");
      }
      const code = await withDeadline("the end of the program", () => program.code);
      assertEquals([code, program.err.text], [0, ""]);
      assertEquals(program.out.lines.filter((line) => !line.startsWith("labelled")), [
        ...["syncing", "standby", "running", "stopping", "stopped"],
      ]);
      assertEquals((await client.resource(Lease, { namespace: NAME }).get(NAME)).spec?.holderIdentity, "");
      const { items } = await client.resource(Event, { namespace: NAME }).list();
      assertEquals(items.map(({ reason }) => reason), ["Labelled", "Labelled"]);
    },
  );
}
