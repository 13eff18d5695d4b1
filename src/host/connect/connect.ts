/**
 * Makes a client of the configuration that is found.
 *
 * {@linkcode connect} is the entry point. It sends no request. `plan.ts` finds the configuration; `transport.ts` and
 * `kubeconfig_login.ts` do what the connection needs later.
 *
 * @module
 */
import { impersonationHeaders, impersonationProblem } from "../../engine/api/impersonation.ts";
import { defined } from "../../engine/api/json.ts";
import { callObserver } from "../../engine/async/signals.ts";
import { Client } from "../../engine/client/client.ts";
import { ArgumentError } from "../../engine/errors/checks.ts";
import { InformerError } from "../../engine/errors/informer_error.ts";
import { checkNames } from "../../engine/errors/option_names.ts";
import {
  clientOptionsOf,
  CONNECT_OPTIONS,
  type ConnectContextsOptions,
  ConnectError,
  type ConnectionOrigin,
  type ConnectOptions,
  CONTEXTS_OPTIONS,
  type FoundConnection,
  IN_CLUSTER_OPTIONS,
  type InClusterOptions,
} from "./connect_options.ts";
import { type Host, type RecordingHost, recordingHost, thisHost } from "./host.ts";
import { validityOf } from "./kubeconfig/certificates.ts";
import { EntryFields, type KubeconfigEntry, parseKubeconfig } from "./kubeconfig/parse_kubeconfig.ts";
import { proxyHref, proxyName, proxyPort, resolveContext, serverProblem } from "./kubeconfig/resolve_context.ts";
import { KubeconfigLogin } from "./kubeconfig_login.ts";
import { choosePlan, type ConnectionPlan, isAttempt, loadKubeconfig, planFromContext, planInCluster } from "./plan.ts";
import type { TlsMaterial } from "./runtime/connections.ts";
import { netFlag, runFlag } from "./runtime/permissions.ts";
import { TlsFiles } from "./tls_files.ts";
import { TokenFile } from "./token_file.ts";
import { HttpTransport } from "./transport.ts";

/**
 * Reads the files of the plan and sets up the transport. A credential plugin runs later, with the first request.
 *
 * @throws {Error} when a file cannot be read, or TLS rejects its content.
 */
async function execute(plan: ConnectionPlan, options: InClusterOptions, host: RecordingHost): Promise<FoundConnection> {
  const { server, login, tlsServerName, proxy, insecure = false, again } = plan;
  const { namespace = plan.namespace ?? "default", userAgent, onWarning, http2 = false, answerTimeoutMs } = options;
  const { as = plan.impersonation } = options;
  const headers = as && impersonationHeaders(as);
  const files = new TlsFiles(plan, onWarning);
  if (login?.credentials instanceof TokenFile) await login.credentials.ready();
  const material = await files.read();
  const kubeconfig = again && new KubeconfigLogin(plan, files, again);
  let transport: HttpTransport;
  try {
    transport = new HttpTransport(
      { ...material, http2, headers, tlsServerName, answerTimeoutMs, proxyUrl: proxy && proxyHref(proxy) },
      kubeconfig ?? (files.mayChange ? files : undefined),
      kubeconfig,
      insecure,
    );
  } catch (error) {
    files.check(material); // names the file
    throw error;
  }
  return defined({
    server,
    namespace,
    transport,
    compress: plan.compress ?? true,
    credentials: kubeconfig ?? login?.credentials,
    userAgent,
    onWarning,
    onRequest: options.onRequest,
    origin: { ...originOf(plan, material, host), ...(as && { actsAs: as.user }) },
  });
}

function originOf(plan: ConnectionPlan, material: TlsMaterial, host: RecordingHost): ConnectionOrigin {
  const { login, proxy, tlsServerName, insecure } = plan;
  const plugin = login?.type === "exec" ? login.command : undefined;
  const run = plugin === undefined ? [] : [runFlag(plugin)];
  const alsoReached = proxy === undefined ? [] : [`${proxy.url.hostname}:${proxyPort(proxy.url)}`];
  const validity = material.cert === undefined ? undefined : validityOf(material.cert);
  return defined({
    ...plan.origin,
    login: login?.type ?? "none" as const,
    clientCertificate: plan.cert !== undefined,
    certificateExpires: validity && new Date(validity.untilMs),
    plugin,
    proxy: proxy && proxyName(proxy),
    tlsServerName,
    insecure: insecure || undefined,
    permissions: [...host.permissions, ...run, netFlag(plan.server, ...alsoReached)],
  });
}

/**
 * Validates the options before any file is read.
 *
 * @throws {TypeError} when options contradict each other or are invalid.
 */
function checkOptions(options: ConnectOptions): void {
  const [member, unsendable] = (options.as && impersonationProblem(options.as)) ?? [];
  if (member !== undefined) throw new ArgumentError(`Cannot connect: "as.${member}" ${unsendable}`);
  const { server } = options;
  for (const [one, other] of [["token", "tokenFile"], ["ca", "caFile"]] as const) {
    if (options[one] !== undefined && options[other] !== undefined) {
      throw new ArgumentError(`Cannot connect: "${one}" and "${other}" cannot be combined. Remove one of them`);
    }
  }
  for (const name of ["context", "kubeconfig", "server", "token", "tokenFile", "ca", "caFile"] as const) {
    if (options[name] === "") {
      throw new ArgumentError(`Cannot connect: "${name}" is empty. Leave it out, or give it a value`);
    }
  }
  if (server === undefined) return;
  const problem = serverProblem(String(server));
  if (problem !== undefined) throw new ArgumentError(`Cannot connect: "server" ${problem}`);
}

/**
 * Finds the configuration as {@linkcode connect} documents it, reads its files and sets up the transport. No request is
 * sent.
 *
 * @throws {ConnectError} when there is no configuration.
 * @throws {KubeconfigError} when there is a kubeconfig and it cannot be used.
 * @throws {TypeError} when the options cannot be used.
 */
export async function findConnection(options: ConnectOptions = {}, machine: Host = thisHost): Promise<FoundConnection> {
  checkNames("connect", options, CONNECT_OPTIONS);
  checkOptions(options);
  const host = recordingHost(machine);
  return await execute(await choosePlan(options, host), options, host);
}

/**
 * As {@linkcode findConnection}, from the pod's service account only.
 *
 * @throws {ConnectError} outside a pod, or in one without a service account.
 */
export async function findInClusterConnection(
  options: InClusterOptions = {},
  machine: Host = thisHost,
): Promise<FoundConnection> {
  checkOptions(options);
  const host = recordingHost(machine);
  const plan = await planInCluster(options, host);
  if (isAttempt(plan)) throw new ConnectError("Cannot connect from inside a cluster:", [plan]);
  return await execute(plan, options, host);
}

/**
 * Returns a client for the server that kubectl would use. It reads files, but sends no request and runs no plugin yet.
 * It uses the first configuration that exists:
 *
 * 1. the option `server`; with `kubeconfig` or `context`, it only replaces their address
 * 2. the option `kubeconfig`
 * 3. the files in `KUBECONFIG`, merged; the first file that defines an entry wins, and missing files are skipped
 * 4. `~/.kube/config`
 * 5. the service account of your program's pod, unless you set `context`
 *
 * See the guide: [Connect](../../../docs/operations/connect.md). It applies every kubeconfig field, or throws an error
 * that names the file, the entry and the field. It rejects `auth-provider`, and fields that contradict each other. The
 * options `token` and `tokenFile` replace the user in the kubeconfig, including `exec`.
 *
 * - **Files are read again.** Token files every 50 s and after a 401. CA, certificate and key files every 5 minutes,
 *   after a failed request, and after a 401 for a certificate.
 * - **Plugins run again.** An `exec` plugin runs 10 s before its credentials expire, and once after a 401.
 * - **A changed kubeconfig takes effect.** The client reads it again after a 401 and after a failed request. It uses
 *   new credentials and certificates for its original context immediately, and sends the refused request again, unless
 *   its body is a stream. Other changes need a new `connect()`.
 * - **The client never switches to another server or user.** If its context now has another server or impersonates
 *   another user, or the file is unusable, requests reject with a `KubeconfigError`.
 * - **Proxies come from the kubeconfig or the environment.** `proxy-url` comes first, then `ALL_PROXY`, then
 *   `HTTPS_PROXY` or `HTTP_PROXY`. Deno reads these variables itself, with or without permission. Unlike in kubectl,
 *   `NO_PROXY` applies to both, and must list `https://` addresses on this machine. Plain HTTP to this machine never
 *   uses the environment's proxy.
 * - **`insecure-skip-tls-verify` needs a Deno flag**, `--unsafely-ignore-certificate-errors=HOST`. Without it, requests
 *   to a server with an invalid certificate fail with an error that names the flag.
 * - **Credentials only go to `https://` servers**, or over plain HTTP to `localhost`, `127.0.0.0/8` and `[::1]` without
 *   a `proxy-url`.
 * - **Missing permissions are named.** The error contains the Deno flag.
 *
 * @throws {ConnectError} if there is no configuration. Its message has a line for each place that was tried.
 * @throws {KubeconfigError} if there is a kubeconfig, and it cannot be used.
 * @throws {TypeError} if options contradict each other.
 *
 * @example
 * ```ts ignore
 * import { SharedInformerFactory } from "@kube/informer";
 * import { connect } from "@kube/informer/connect";
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
 * Returns a client for the pod's service account, and reads no kubeconfig. Use it if your program only runs in pods,
 * and should have few permissions. The address comes from `KUBERNETES_SERVICE_HOST` and `KUBERNETES_SERVICE_PORT`. The
 * token, CA and namespace come from files. So Deno needs only
 * `--allow-env=KUBERNETES_SERVICE_HOST,KUBERNETES_SERVICE_PORT`,
 * `--allow-read=/var/run/secrets/kubernetes.io/serviceaccount` and `--allow-net=HOST:PORT`.
 *
 * @throws {ConnectError} outside a pod, or in a pod without a service account. The error names the missing part.
 */
export async function connectInCluster(options: InClusterOptions = {}): Promise<Client> {
  checkNames("connect", options, IN_CLUSTER_OPTIONS);
  return clientOf(await findInClusterConnection(options).catch((error) => rethrow(error, connectInCluster)), options);
}

/** Throws `error` again; the stack of one that the configuration has caused begins at the caller of `called`. */
function rethrow(error: unknown, called: (...args: never[]) => unknown): never {
  if (error instanceof InformerError) Error.captureStackTrace?.(error, called);
  throw error;
}

/**
 * Returns a client for a kubeconfig in a text, such as from a Secret. Use it if you do not trust the kubeconfig's
 * author with this machine: it throws if the kubeconfig names a program (`exec`) or a file (`tokenFile`,
 * `client-certificate`, `client-key`, `certificate-authority`). Certificates and keys in `-data` fields work, and all
 * other fields work as in {@linkcode connect}. The client reads nothing again.
 *
 * @param name A name for the kubeconfig in errors.
 * @throws {KubeconfigError} if the kubeconfig cannot be used.
 */
export async function connectKubeconfig(
  text: string,
  name: string,
  options: InClusterOptions & Pick<ConnectOptions, "context"> = {},
): Promise<Client> {
  checkNames("connect", options, `${IN_CLUSTER_OPTIONS} context`);
  checkOptions(options);
  const config = parseKubeconfig(text, name);
  const context = resolveContext(config, options);
  refuseOfThisMachine(config.clusters.get(context.cluster.name)!, ["certificate-authority"]);
  const named = ["exec", "tokenFile", "client-certificate", "client-key"];
  if (context.user !== undefined) refuseOfThisMachine(config.users.get(context.user.name)!, named);
  const host = recordingHost(thisHost);
  return clientOf(await execute(planFromContext(config, options, host), options, host), options);
}

function refuseOfThisMachine(entry: KubeconfigEntry, names: readonly string[]): void {
  const fields = new EntryFields(entry);
  const found = names.find((name) => fields.has(name));
  if (found === undefined) return;
  const what = found === "exec" ? "a program, which would run on this machine" : "a file of this machine";
  throw fields.error(found, `names ${what}: write a token, or certificates and keys as "-data"`);
}

/**
 * Returns a client for each context in the kubeconfig that {@linkcode connect} would read, by the context's name. It
 * sends no request. Use it to follow several clusters.
 *
 * Each client renews its credentials as in {@linkcode connect}. Contexts that you add to the file later are not
 * followed: call it again, with the new names in `contexts`. A context that cannot be used is left out and passed to
 * `onRefused`. See the guide: [Clusters](../../../docs/scale/clusters.md).
 *
 * @throws {ConnectError} if there is no kubeconfig.
 * @throws {KubeconfigError} if the kubeconfig cannot be read, or lacks a context in `contexts`. Without `onRefused`,
 * also for the first context that cannot be used.
 *
 * @example
 * ```ts ignore
 * import { ClusterSet } from "@kube/informer/clusters";
 * import { connectContexts } from "@kube/informer/connect";
 *
 * await using clusters = new ClusterSet();
 * for (const [name, client] of await connectContexts({ contexts: ["berlin", "paris"] })) clusters.add(name, client);
 * ```
 */
export async function connectContexts(options: ConnectContextsOptions = {}): Promise<Map<string, Client>> {
  checkNames("connect to contexts", options, CONTEXTS_OPTIONS);
  const { contexts, onRefused, ...rest } = options;
  const config = await loadKubeconfig(rest, thisHost);
  if ("problem" in config) throw new ConnectError("Cannot connect to contexts: no kubeconfig was found", [config]);
  const clients = new Map<string, Client>();
  try {
    for (const context of new Set(contexts ?? config.contexts.keys())) {
      try {
        clients.set(context, await connect({ ...rest, context }));
      } catch (error) {
        if (onRefused === undefined || !config.contexts.has(context)) throw error;
        callObserver(() => onRefused(error, context));
      }
    }
  } catch (error) {
    for (const client of clients.values()) client[Symbol.dispose]();
    rethrow(error, connectContexts);
  }
  return clients;
}

function clientOf(connection: FoundConnection, { wrapTransport }: InClusterOptions): Client {
  try {
    const { transport } = connection;
    return new Client({ ...clientOptionsOf(connection), transport: wrapTransport?.(transport) ?? transport });
  } catch (error) {
    connection.transport[Symbol.dispose]();
    throw error;
  }
}

/**
 * Returns the smallest set of Deno flags with which a program can {@linkcode connect} with these options and reach the
 * server: `--allow-env`, `--allow-read`, `--allow-run` and `--allow-net`, quoted for a shell if necessary.
 *
 * It reads the same files as `connect`, so it needs the first two flags itself. It sends no request and runs no plugin.
 * Files that do not exist are included, because Deno prompts on a terminal if a program may not look for them. See the
 * guide: [Permissions](../../../docs/operations/permissions.md).
 *
 * @throws the errors of {@linkcode connect}. If a permission is missing, the error names the flag.
 *
 * @example
 * ```ts ignore
 * import { requiredPermissions } from "@kube/informer/connect";
 *
 * console.log(`deno run ${(await requiredPermissions()).join(" ")} main.ts`);
 * ```
 */
export async function requiredPermissions(options: ConnectOptions = {}): Promise<readonly string[]> {
  const { origin, transport } = await findConnection(options);
  transport[Symbol.dispose]();
  return origin.permissions;
}
