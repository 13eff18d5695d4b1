/**
 * Several clusters in one process.
 *
 * {@linkcode ClusterSet} has a client for each cluster. Its `forResource()` joins one informer for each, whose events,
 * objects, rows and status name their cluster, and its `run()` runs a controller for each. Clusters are added and
 * removed at run time: by hand, from contexts (`connectContexts` of `./connect`), or from Secrets that hold kubeconfigs
 * ({@linkcode followClusterSecrets}).
 *
 * @module
 */
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
