/**
 * Watches several clusters in one process, and runs controllers for each.
 *
 * A {@linkcode ClusterSet} has a client for each cluster. Its `forResource()` joins one informer per cluster: events,
 * objects, rows and status name their cluster. Its `run()` calls your function for each cluster. You add and remove
 * clusters at run time: yourself, from kubeconfig contexts (`connectContexts` in `./connect`), or from Secrets with
 * kubeconfigs ({@linkcode followClusterSecrets}).
 *
 * @example
 * ```ts
 * import { Client } from "@kube/informer";
 * import { ClusterSet } from "@kube/informer/clusters";
 * import { Node } from "@kube/informer/kinds/core/v1";
 * import { FakeApiServer } from "@kube/informer/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const [berlin, paris] = [new FakeApiServer(), new FakeApiServer()];
 * berlin.create(Node, { metadata: { name: "worker-1" } });
 * paris.create(Node, { metadata: { name: "worker-1" } });
 * await using clusters = new ClusterSet();
 * clusters.add("berlin", new Client({ server: "http://fake", transport: berlin })); // in a program: await connect()
 * clusters.add("paris", new Client({ server: "http://fake", transport: paris }));
 *
 * const nodes = clusters.forResource(Node);
 * clusters.start();
 * await nodes.waitForCacheSync();
 * const found = nodes.lister.list().map(({ cluster, object }) => `${cluster}: ${object.metadata.name}`);
 * assertEquals(found, ["berlin: worker-1", "paris: worker-1"]);
 * ```
 *
 * @module
 */
export type { SharedInformerFactoryOptions } from "../../../engine/informer/options.ts";
export {
  type ClusterEventHandler,
  type ClusterIndexer,
  ClusterInformer,
  type ClusterKey,
  type ClusterLister,
  type ClusterObject,
  type InCluster,
} from "./cluster_informer.ts";
export { ClusterSet, type ClusterSetOptions, type ClusterStatus, type ClusterWork } from "./cluster_set.ts";
export { type ClusterSecretsOptions, followClusterSecrets } from "./cluster_secrets.ts";
