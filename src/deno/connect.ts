import {
  type ConnectAttempt,
  ConnectError,
  type ConnectOptions,
  type FoundConnection,
  type InClusterOptions,
} from "./connect_options.ts";
import {
  checkOptions,
  type ConnectionPlan,
  executePlan,
  givenCa,
  givenLogin,
  planFromKubeconfig,
  planInCluster,
} from "./plan.ts";
import { denoHost, type Host, RecordingHost } from "./host.ts";
import { Client } from "../client/client.ts";
import { InformerError } from "../errors/informer_error.ts";

/**
 * Finds the configuration as {@linkcode connect} documents it, reads its files and sets up the transport. No request is
 * sent.
 *
 * @throws {ConnectError} when there is no configuration.
 * @throws {KubeconfigError} when there is a kubeconfig and it cannot be used.
 * @throws {TypeError} when the options cannot be used.
 */
export async function findConnection(options: ConnectOptions = {}, machine: Host = denoHost): Promise<FoundConnection> {
  checkOptions(options);
  const host = new RecordingHost(machine);
  return await executePlan(await choosePlan(options, host), options, host);
}

/**
 * As {@linkcode findConnection}, from the pod's service account only.
 *
 * @throws {ConnectError} outside a pod, or in one without a service account.
 */
export async function findInClusterConnection(
  options: InClusterOptions = {},
  machine: Host = denoHost,
): Promise<FoundConnection> {
  const host = new RecordingHost(machine);
  const plan = await planInCluster(options, host);
  if (isAttempt(plan)) throw new ConnectError("Cannot connect from inside a cluster:", [plan]);
  return await executePlan(plan, options, host);
}

async function choosePlan(options: ConnectOptions, host: Host): Promise<ConnectionPlan> {
  const { server, context, kubeconfig } = options;
  if (server !== undefined && context === undefined && kubeconfig === undefined) return planFromOptions(options, host);
  const attempts: ConnectAttempt[] = [];
  const outside = await planFromKubeconfig(options, host);
  if (!isAttempt(outside)) return outside;
  attempts.push(outside);
  if (context !== undefined) {
    throw new ConnectError(`Cannot connect to context ${JSON.stringify(context)}: found no kubeconfig`, attempts);
  }
  const inside = await planInCluster(options, host);
  if (!isAttempt(inside)) return inside;
  attempts.push(inside);
  throw new ConnectError(
    `Cannot connect: found no configuration; pass "server" or "kubeconfig", or set KUBECONFIG`,
    attempts,
  );
}

function planFromOptions(options: ConnectOptions, host: Host): ConnectionPlan {
  const server = new URL(options.server!);
  const ca = givenCa(options, server, host);
  const login = givenLogin(options, { server }, host);
  return {
    server,
    ...(ca && { ca }),
    ...(login && { login }),
    origin: { source: "options", files: [] },
  };
}

function isAttempt(value: ConnectionPlan | ConnectAttempt): value is ConnectAttempt {
  return "problem" in value;
}

/**
 * Returns a client for the server that kubectl would use. The first of these that exists decides:
 *
 * 1. the option `server`, alone or as another address for what `kubeconfig` or `context` choose;
 * 2. the kubeconfig that the option `kubeconfig` names;
 * 3. the kubeconfigs that `KUBECONFIG` names, merged: the first file that defines an entry wins; files that do not
 *    exist are skipped;
 * 4. `~/.kube/config`;
 * 5. the service account of the pod that this program runs in, unless the option `context` is given.
 *
 * No request is sent and no plugin is run yet. Each field of a kubeconfig is applied, or rejected with an error that
 * names file, entry and field: `auth-provider`, `tls-server-name` together with `proxy-url`, and fields that contradict
 * each other. `token` and `tokenFile` replace the user entry of a kubeconfig, and so its `exec`.
 *
 * - Token files are read again every 50 s and when the server answers 401; CA, certificate and key files every 5
 *   minutes, after a request that failed, and after a 401 to a certificate. A plugin (`exec`) runs again 10 s before
 *   its credentials expire, and once when the server answers 401.
 * - The proxy is `proxy-url`, else the environment's `HTTPS_PROXY`, `HTTP_PROXY` and `ALL_PROXY`, which Deno reads
 *   itself, with or without permission. Unlike kubectl, `NO_PROXY` applies to both, and an `https://` address of this
 *   machine must be listed in it. Plain HTTP to this machine never uses the environment's proxy.
 * - `tls-server-name` is implemented by a proxy on loopback; the certificate is still verified.
 * - `insecure-skip-tls-verify` needs a Deno flag for the process, `--unsafely-ignore-certificate-errors=HOST`: without
 *   it, requests to a server whose certificate is not valid fail with an error that names the flag.
 * - Credentials go to `https://` servers, and over plain HTTP only to `localhost`, `127.0.0.0/8` and `[::1]`, without a
 *   `proxy-url`.
 * - If a permission is missing, the error names the flag.
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
  return clientOf(await findConnection(options).catch((error) => rethrow(error, connect)), options);
}

/**
 * Returns a client that uses the service account of the pod that this program runs in: the address from
 * `KUBERNETES_SERVICE_HOST` and `KUBERNETES_SERVICE_PORT`, and the token, CA and namespace files. No kubeconfig is
 * read, so these permissions are enough: `--allow-env=KUBERNETES_SERVICE_HOST,KUBERNETES_SERVICE_PORT`,
 * `--allow-read=/var/run/secrets/kubernetes.io/serviceaccount` and `--allow-net=HOST:PORT`.
 *
 * @throws {ConnectError} outside a pod, or in one without a service account; the error names the missing part.
 */
export async function inCluster(options: InClusterOptions = {}): Promise<Client> {
  return clientOf(await findInClusterConnection(options).catch((error) => rethrow(error, inCluster)), options);
}

/** Throws `error` again; the stack of one that the configuration has caused begins at the caller of `called`. */
function rethrow(error: unknown, called: (...args: never[]) => unknown): never {
  if (error instanceof InformerError) Error.captureStackTrace?.(error, called);
  throw error;
}

function clientOf(connection: FoundConnection, { wrapTransport }: InClusterOptions): Client {
  try {
    return new Client({ ...connection, transport: wrapTransport?.(connection.transport) ?? connection.transport });
  } catch (error) {
    connection.transport[Symbol.dispose]();
    throw error;
  }
}

/**
 * Returns the minimal Deno flags with which a program can {@linkcode connect} with these options and reach the server:
 * `--allow-env`, `--allow-read`, `--allow-run` and `--allow-net`, quoted for a shell if necessary.
 *
 * It reads the same files as `connect`, so it needs the first two flags itself. It sends no request and runs no plugin.
 * Files that do not exist are included, because a program without the permission to look for them prompts on a
 * terminal.
 *
 * @throws the errors of {@linkcode connect}; if a permission is missing, the error names the flag.
 *
 * @example
 * ```ts ignore
 * import { requiredPermissions } from "@kube/informer/deno";
 *
 * console.log(`deno run ${(await requiredPermissions()).join(" ")} main.ts`);
 * ```
 */
export async function requiredPermissions(options: ConnectOptions = {}): Promise<readonly string[]> {
  const { origin, transport } = await findConnection(options);
  transport[Symbol.dispose]();
  return origin.permissions;
}
