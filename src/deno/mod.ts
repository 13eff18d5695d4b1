/**
 * Everything that needs Deno itself: kubeconfig and service account files, TLS with a cluster's own CA, client certificates,
 * credential plugins, proxies.
 *
 * ```ts ignore
 * import { connect } from "@kube/informer/deno";
 * import { Pod } from "@kube/informer/kinds/core/v1";
 *
 * using client = await connect();
 * const { items } = await client.resource(Pod).namespace("default").list();
 * console.log(items.map((pod) => pod.metadata.name));
 * ```
 *
 * @module
 */

export { connect, inCluster } from "./connect.ts";
export { CredentialPluginError } from "./credentials/credential_plugin_error.ts";
export { requiredPermissions } from "./required_permissions.ts";
export type { ConnectOptions, InClusterOptions } from "./connect_options.ts";
export { type ConnectAttempt, ConnectError } from "./connect_error.ts";
export { denoTransport, type DenoTransportOptions, type TlsMaterial } from "./transport/deno_transport.ts";
export { KubeconfigError, type KubeconfigPlace } from "../kubeconfig/model/kubeconfig_error.ts";
