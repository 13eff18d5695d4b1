import { defineResource, type KubernetesObject, type Resource } from "@kube/informer";

/** The use of resources by a pod. */
export interface PodMetrics extends KubernetesObject {
  readonly timestamp: string;
  readonly window: string;
  readonly containers: readonly { readonly name: string; readonly usage: Readonly<Record<string, string>> }[];
}

/** The measurements of a metrics server, which can be listed alone. */
export const PodMetrics: Resource<PodMetrics> = defineResource<PodMetrics>({
  group: "metrics.k8s.io",
  version: "v1beta1",
  plural: "pods",
  kind: "PodMetrics",
});

const GROUP_VERSION = "metrics.k8s.io/v1beta1";

/** An API server of measurements: each list has new times, and neither uid nor version. */
export class MetricsServer {
  /** The CPU by the names of pods of the namespace "shop". */
  readonly usage = new Map([["a", "1m"], ["b", "2m"]]);
  /** The status of the next answers. */
  status = 200;
  /** The number of lists. */
  lists = 0;

  readonly fetch = (request: Request): Promise<Response> => Promise.resolve(this.#answer(new URL(request.url)));

  #answer({ pathname, searchParams }: URL): Response {
    if (pathname === `/apis/${GROUP_VERSION}`) {
      const [verbs, name] = [["get", "list"], "pods"];
      const resources = [{ name, singularName: "", namespaced: true, kind: "PodMetrics", verbs }];
      return Response.json({ kind: "APIResourceList", apiVersion: "v1", groupVersion: GROUP_VERSION, resources });
    }
    if (!pathname.endsWith("/pods") || searchParams.has("watch")) return new Response("no such path", { status: 404 });
    this.lists++;
    if (this.status !== 200) return Response.json({ kind: "Status", message: "ill" }, this);
    const now = new Date().toISOString();
    const items = Array.from(this.usage, ([name, cpu]) => ({
      metadata: { name, namespace: "shop", creationTimestamp: now, labels: { app: name } },
      timestamp: now,
      window: `${10 + this.lists}s`,
      containers: [{ name: "main", usage: { cpu } }],
    }));
    return Response.json({ kind: "PodMetricsList", apiVersion: GROUP_VERSION, metadata: {}, items });
  }
}
