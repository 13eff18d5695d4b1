/**
 * Connects to a cluster the way kubectl does, on Deno, Node and Bun, and runs controllers in a process.
 *
 * Import this module in every program that runs outside a browser. {@linkcode connect} finds a kubeconfig or the pod's
 * service account, and returns a client with certificates, credential plugins and proxies set up. It only reads files.
 * The client sends requests and runs plugins when you use it. {@linkcode runManager}, {@linkcode FetchServer} and
 * {@linkcode shutdownSignal} serve ports and handle signals. {@linkcode FileCheckpoints} and {@linkcode FileSnapshots}
 * store state in files, {@linkcode KvCheckpoints} and {@linkcode KvSnapshots} in Deno KV.
 *
 * Read the guide: [Connect](../../../docs/operations/connect.md).
 *
 * ```ts ignore
 * import { connect } from "@kube/informer/connect";
 * import { Pod } from "@kube/informer/kinds/core/v1";
 *
 * using client = await connect();
 * const { items } = await client.resource(Pod).namespace("default").list();
 * console.log(items.map((pod) => pod.metadata.name));
 * ```
 *
 * @module
 */
export { connect, connectContexts, connectInCluster, connectKubeconfig, requiredPermissions } from "./connect.ts";
export { CredentialPluginError } from "./run_plugin.ts";
export {
  FetchServer,
  type FetchServerOptions,
  runManager,
  type RunManagerOptions,
  type RunnableManager,
  type ServedWebhooks,
  shutdownSignal,
} from "./run_manager.ts";
export type { CertificateFiles } from "./served_certificate.ts";
export { KvCheckpoints } from "./kv_checkpoints.ts";
export { KvSnapshots, type KvSnapshotsOptions } from "./kv_snapshots.ts";
export type { SnapshotKv, SnapshotKvKey, SnapshotKvWrite } from "./kv_store.ts";
export { FileCheckpoints, FileSnapshots } from "./file_stores.ts";
export {
  type ConnectAttempt,
  type ConnectContextsOptions,
  ConnectError,
  type ConnectOptions,
  type InClusterOptions,
} from "./connect_options.ts";
export { httpTransport, type HttpTransportOptions } from "./transport.ts";
export type { TlsMaterial } from "./runtime/connections.ts";
export { KubeconfigError, type KubeconfigPlace } from "./kubeconfig/parse_kubeconfig.ts";
