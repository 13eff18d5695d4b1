/**
 * Connects a client, on Deno, Node and Bun: kubeconfig and service account files, TLS with a cluster's own CA, client
 * certificates, credential plugins, proxies.
 *
 * {@linkcode connect} is the entry point. It finds a configuration, reads its files, and returns a client. It sends no
 * request and runs no plugin; the client does, with its first request. Informers and the client itself are in the core.
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
export { CredentialPluginError } from "./credentials.ts";
export {
  FetchServer,
  type FetchServerOptions,
  runManager,
  type RunManagerOptions,
  type RunnableManager,
  shutdownSignal,
} from "./run_manager.ts";
export {
  KvCheckpoints,
  KvSnapshots,
  type KvSnapshotsOptions,
  type SnapshotKv,
  type SnapshotKvKey,
  type SnapshotKvWrite,
} from "./kv_stores.ts";
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
