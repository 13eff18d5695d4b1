// A kind without a watch, of an API server of the test beside the real one, which passes requests on to it.
import { SharedInformerFactory } from "@kube/informer";
import { APIService } from "@kube/informer/kinds/apiregistration/v1";
import { Service } from "@kube/informer/kinds/core/v1";
import { assert, assertEquals } from "@std/assert";
import { clusterTests } from "./_cluster.ts";
import { makeCertificates } from "../support/certificates.ts";
import { MetricsServer, PodMetrics } from "../support/metrics_server.ts";
import { informer } from "../support/program.ts";

const cluster = clusterTests();

/** Serves measurements over TLS, as the API group metrics.k8s.io of the cluster. */
async function serveMetrics(metrics: MetricsServer): Promise<{ readonly port: number } & AsyncDisposable> {
  const certificates = await makeCertificates();
  const [cert, key] = [certificates.text("server.crt"), certificates.text("server.key")];
  const server = Deno.serve({ hostname: "localhost", port: 0, cert, key, onListen: () => {} }, metrics.fetch);
  return {
    port: server.addr.port,
    [Symbol.asyncDispose]: async () => {
      await server.shutdown();
      await certificates[Symbol.asyncDispose]();
    },
  };
}

cluster.withPlane(
  "an aggregated kind without a watch is followed by lists, and shown by the commands",
  async (setting) => {
    const { client, namespace, plane } = setting;
    const metrics = new MetricsServer();
    await using served = await serveMetrics(metrics);
    await client.resource(Service, { namespace }).create({
      metadata: { name: "metrics" },
      spec: { type: "ExternalName", externalName: "localhost" },
    });
    await client.resource(APIService).create({
      metadata: { name: "v1beta1.metrics.k8s.io" },
      spec: {
        ...{ group: "metrics.k8s.io", version: "v1beta1", groupPriorityMinimum: 100, versionPriority: 100 },
        ...{ service: { namespace, name: "metrics", port: served.port }, insecureSkipTLSVerify: true },
      },
    });
    try {
      await using informers = new SharedInformerFactory(client, { onError: () => {} });
      const services = informers.forResource(APIService);
      const usage = informers.forResource(PodMetrics, { pollMs: 1_000, reflector: { backoff: { maxMs: 500 } } });
      informers.start();
      await services.until(
        ({ status }) =>
          status?.conditions?.some(({ type, status }) => type === "Available" && status === "True") ?? false,
        { key: "v1beta1.metrics.k8s.io" },
      );
      const seen: string[] = [];
      usage.addEventHandler({
        onAdd: ({ key }) => void seen.push(`+${key}`),
        onUpdate: ({ key, object }) => void seen.push(`${key} ${object.containers[0].usage.cpu}`),
        onDelete: ({ key }) => void seen.push(`-${key}`),
      });
      await usage.waitForCacheSync({ patient: true });
      const first = usage.lastSyncResourceVersion;
      await usage.atLeast(String(Number(first) + 1)); // of another list, which has no event
      metrics.usage.set("a", "7m");
      metrics.usage.delete("b");
      await usage.untilDeleted("shop/b");
      assertEquals(seen, ["+shop/a", "+shop/b", "-shop/b", "shop/a 7m"]);

      const kubeconfig = ["--kubeconfig", plane.kubeconfig];
      await using watched = informer(
        "watch",
        "pods.metrics.k8s.io",
        "-A",
        "-o",
        "json",
        "--until-synced",
        ...kubeconfig,
      );
      const { code, lines, errors } = await watched.ended();
      assertEquals([code, lines.map((line) => JSON.parse(line).type)], [0, ["added", "synced"]], errors);
      assert(errors.includes(`"pods" cannot be watched, and is listed every 15 s`), errors);
      await using page = informer("serve", "pods.metrics.k8s.io", "-A", ...kubeconfig);
      const address = await page.until("the address", (line) => line.startsWith("http"));
      const { items } = await (await fetch(`${address}/api/pods`)).json();
      assertEquals(items.map(({ containers }: PodMetrics) => containers[0].usage.cpu), ["7m"]);
      page.kill("SIGTERM");
      assertEquals((await page.ended()).code, 0);
    } finally {
      await client.resource(APIService).delete("v1beta1.metrics.k8s.io");
    }
  },
);
