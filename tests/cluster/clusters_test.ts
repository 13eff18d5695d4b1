// Several clusters on real servers: two control planes, one of which is killed.
import { ClusterSet, followClusterSecrets } from "@kube/informer/clusters";
import { connectKubeconfig } from "@kube/informer/connect";
import { ConfigMap, Secret } from "@kube/informer/kinds/core/v1";
import { Reconciler } from "@kube/informer/reconcile";
import { type ControlPlane, startControlPlane } from "@kube/informer/testing/control-plane";
import { assertEquals } from "@std/assert";
import { versionOf } from "../../src/testing/control_plane/server_programs.ts";
import { withDeadline } from "../support/cluster/with_deadline.ts";
import { Program } from "../support/processes/program.ts";
import { report, seconds, testOfAssets } from "./_cluster.ts";

/** Returns a kubeconfig with a context for each server. */
function contextsOf(planes: Readonly<Record<string, ControlPlane>>): string {
  const entries = Object.entries(planes);
  return JSON.stringify({
    clusters: entries.map(([name, { url, ca }]) => ({
      name,
      cluster: { server: url, "certificate-authority-data": btoa(ca) },
    })),
    users: entries.map(([name, { token }]) => ({ name, user: { token } })),
    contexts: entries.map(([name]) => ({ name, context: { cluster: name, user: name } })),
  });
}

testOfAssets(
  "a ClusterSet joins two servers by the kubeconfigs of Secrets, and goes on when one is gone",
  async (assets) => {
    const version = await versionOf(assets);
    const startedAt = performance.now();
    const [berlin, paris] = await Promise.all([0, 1].map(() => startControlPlane({ assets, version })));
    report(`two control planes ready after ${seconds(startedAt)}`);
    try {
      using client = berlin.client({ namespace: "default" });
      using other = paris.client({ namespace: "default" });
      for (const [name, plane] of [["berlin", berlin], ["paris", paris]] as const) {
        const kubeconfig = btoa(plane.kubeconfig);
        const labels = { "sigs.k8s.io/multicluster-runtime-kubeconfig": "true" };
        await client.resource(Secret).create({ metadata: { name, labels }, data: { kubeconfig } });
      }
      await using clusters = new ClusterSet({ onError: () => {} });
      const maps = clusters.forResource(ConfigMap, { namespace: "default", labelSelector: "it" });
      const seen: string[] = [];
      const { promise: _, resolve: ignore } = Promise.withResolvers<void>();
      let look = ignore;
      const until = (what: string, holds: () => boolean): Promise<void> =>
        withDeadline(what, async (signal) => {
          while (!holds()) {
            await new Promise<void>((resolve, reject) => {
              look = resolve;
              signal.addEventListener("abort", () => reject(signal.reason), { once: true });
            });
          }
        });
      const note = (line: string): void => {
        seen.push(line);
        look();
      };
      maps.addEventHandler({
        onAdd: ({ cluster, key }) => note(`+ ${cluster} ${key}`),
        onDelete: ({ cluster, key, reason }) => note(`- ${cluster} ${key} ${reason}`),
        onSynced: ({ cluster }) => note(`= ${cluster}`),
      });
      const stop = new AbortController();
      const following = followClusterSecrets(clusters, client, {
        connect: connectKubeconfig,
        namespace: "default",
        signal: stop.signal,
      });
      const running = clusters.run(async (cluster, client, signal) => {
        await using controller = new Reconciler(client, ConfigMap, ({ key }) => note(`reconciled ${cluster} ${key}`), {
          informer: { namespace: "default", labelSelector: "it" },
          onError: () => {},
        });
        await controller.run({ signal });
      }, { signal: stop.signal });
      clusters.start();
      await until("both clusters", () => seen.includes("= berlin") && seen.includes("= paris"));
      const map = (name: string): { metadata: { name: string; labels: { it: string } } } => ({
        metadata: { name, labels: { it: "1" } },
      });
      await client.resource(ConfigMap).create(map("a"));
      await other.resource(ConfigMap).create(map("a"));
      const both = ["berlin", "paris"].flatMap((name) => [`+ ${name} default/a`, `reconciled ${name} default/a`]);
      await until("both objects", () => both.every((line) => seen.includes(line)));
      assertEquals(maps.lister.list("it=1").map(({ cluster }) => cluster).sort(), ["berlin", "paris"]);

      const contexts = await Deno.makeTempFile();
      await Deno.writeTextFile(contexts, contextsOf({ berlin, paris }));
      const args = ["cm", "-l", "it", "-o", "name", "--kubeconfig", contexts, "--all-contexts"];
      await using get = new Program("src/cli/main.ts", ["get", ...args]);
      assertEquals([await get.code, get.out.lines], [0, ["berlin configmap/a", "paris configmap/a"]]);
      await using watch = new Program("src/cli/main.ts", ["watch", ...args, "--until-synced"]);
      assertEquals([await watch.code, watch.out.lines.sort()], [0, ["berlin configmap/a", "paris configmap/a"]]);
      await Deno.remove(contexts);

      await paris[Symbol.asyncDispose]();
      await client.resource(ConfigMap).create(map("b"));
      await until("the next object", () => seen.includes("reconciled berlin default/b"));
      assertEquals(maps.lister.get("paris", "default/a")?.metadata.name, "a"); // the last known state
      await client.resource(Secret).delete("paris");
      await until("the end of paris", () => seen.includes("- paris default/a moved"));
      assertEquals(clusters.names, ["berlin"]);
      stop.abort();
      await Promise.all([following, running]);
    } finally {
      await Promise.all([berlin, paris].map((plane) => plane[Symbol.asyncDispose]()));
    }
  },
);
