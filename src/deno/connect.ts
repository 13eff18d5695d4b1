import { Client } from "../client/client.ts";
import type { FoundConnection } from "./found_connection.ts";
import type { ConnectOptions, InClusterOptions } from "./connect_options.ts";
import { findConnection, findInClusterConnection } from "./find_connection.ts";

/**
 * Connects as kubectl would. The first of these that there is decides:
 *
 * 1. the option `server`, alone or as another address for what `kubeconfig` or `context` choose;
 * 2. the kubeconfig that the option `kubeconfig` names;
 * 3. the kubeconfigs that `KUBECONFIG` names, merged: what is in several files is taken from the first; files that do not
 *    exist are passed over;
 * 4. `~/.kube/config`;
 * 5. the service account of the pod that this program runs in, unless the option `context` is given.
 *
 * Nothing is sent or run yet. What a kubeconfig says is applied, or ends in an error that names file, entry and field:
 * `auth-provider`, `tls-server-name` beside `proxy-url`, and whatever contradicts itself. `token` and `tokenFile` take the
 * place of a kubeconfig's user, and so of an `exec`.
 *
 * - Token files are read again every 50 s and when the server answers 401; CA, certificate and key files every 5 minutes,
 *   after a request that failed, and after a 401 to a certificate. A plugin (`exec`) runs again 10 s before its credentials
 *   expire, and once when the server answers 401.
 * - A proxy is the one of `proxy-url`, else that of the environment's `HTTPS_PROXY`, `HTTP_PROXY` and `ALL_PROXY`, which Deno
 *   reads itself, with or without permission. Unlike with kubectl, `NO_PROXY` counts for both, and an `https://` address of
 *   this machine has to be named in it. Plain HTTP to this machine takes no proxy of the environment.
 * - `tls-server-name` takes a relay on loopback, through which the check stays whole.
 * - `insecure-skip-tls-verify` is no option in Deno but a flag of the whole program: requests fail with an error that names the
 *   flag, `--unsafely-ignore-certificate-errors=HOST`, unless the certificate is good or the flag is given.
 * - Credentials go to `https://` servers, and over plain HTTP only to `localhost`, `127.0.0.0/8` and `[::1]`, without a
 *   `proxy-url`.
 * - Where a permission is missing, the error names the flag.
 *
 * @throws {ConnectError} when there is no configuration, with a line for each place that was tried.
 * @throws {KubeconfigError} when there is a kubeconfig and it cannot be used.
 * @throws {TypeError} when options contradict each other.
 *
 * @example
 * ```ts ignore
 * import { SharedInformerFactory } from "@kube/informer";
 * import { connect } from "@kube/informer/deno";
 * import { Pod } from "@kube/informer/kinds/core/v1";
 *
 * using client = await connect({ context: "staging" });
 * await using informers = new SharedInformerFactory(client);
 * const pods = informers.forResource(Pod);
 * informers.start();
 * await informers.waitForCacheSync();
 * console.log(pods.lister.list("app=web").length);
 * ```
 */
export async function connect(options: ConnectOptions = {}): Promise<Client> {
  return clientOf(await findConnection(options));
}

/**
 * Connects as the pod that this program runs in: by `KUBERNETES_SERVICE_HOST` and `KUBERNETES_SERVICE_PORT`, and the
 * service account's token, CA and namespace. No kubeconfig is looked for, so these permissions are enough:
 * `--allow-env=KUBERNETES_SERVICE_HOST,KUBERNETES_SERVICE_PORT`,
 * `--allow-read=/var/run/secrets/kubernetes.io/serviceaccount` and `--allow-net=HOST:PORT`.
 *
 * @throws {ConnectError} when this is no pod, or one without a service account; it names what is missing.
 */
export async function inCluster(options: InClusterOptions = {}): Promise<Client> {
  return clientOf(await findInClusterConnection(options));
}

function clientOf(connection: FoundConnection): Client {
  try {
    return new Client(connection);
  } catch (error) {
    connection.transport[Symbol.dispose]();
    throw error;
  }
}
