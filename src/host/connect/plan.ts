/**
 * Finds a configuration: options, kubeconfigs, or the service account of a pod.
 *
 * {@linkcode choosePlan} is the entry point. It reads files and environment, and returns a plan, or the reason why
 * there is none. `connect.ts` makes a client of a plan.
 *
 * @module
 */
import type { Impersonation } from "../../engine/api/impersonation.ts";
import { ArgumentError, checkDurations } from "../../engine/errors/checks.ts";
import { type ConnectAttempt, ConnectError, type ConnectionOrigin, type ConnectOptions } from "./connect_options.ts";
import { ExecLogin, tokenLogin } from "./exec_login.ts";
import { type ExplainFileProblem, FileProblem, pathBeside, readCheckedFile } from "./files.ts";
import type { Host } from "./host.ts";
import { certificateProblem, type PemCheck, privateKeyProblem } from "./kubeconfig/certificates.ts";
import type { ExecCluster, ExecPlugin } from "./kubeconfig/exec_plugin.ts";
import {
  type FieldPlace,
  isEmptyKubeconfig,
  type Kubeconfig,
  type KubeconfigError,
  kubeconfigError,
  mergeKubeconfigs,
  parseKubeconfig,
} from "./kubeconfig/parse_kubeconfig.ts";
import {
  credentialsProblem,
  type Material,
  type ProxyAddress,
  proxyHref,
  resolveContext,
  type ResolvedCluster,
  type ResolvedUser,
} from "./kubeconfig/resolve_context.ts";
import { FixedLogin, Secret } from "./kubeconfig/secrets.ts";
import { PLUGIN_TIMEOUT_MS, pluginCommand, runPlugin } from "./run_plugin.ts";
import { envFlag, readFlag } from "./runtime/permissions.ts";
import { builtin, failureKind } from "./runtime/runtime.ts";
import { filePemSource, type PemSource, type PemSources } from "./tls_files.ts";
import { TokenFile } from "./token_file.ts";

/** The credentials sent as `Authorization`. */
type Login =
  | { readonly type: "token"; readonly credentials: FixedLogin | ExecLogin }
  | { readonly type: "tokenFile"; readonly credentials: TokenFile }
  | { readonly type: "exec"; readonly credentials: ExecLogin; readonly command: string };

/** A configuration whose certificate files are not read yet. */
export interface ConnectionPlan extends PemSources {
  /** Address of the API server. */
  readonly server: URL;
  /** The namespace the configuration names. */
  readonly namespace?: string;
  /** The credentials sent as `Authorization`. */
  readonly login?: Login;
  /** `false` if lists must not be compressed. @default {true} */
  readonly compress?: boolean;
  /** The user to impersonate, unless an option names another one. */
  readonly impersonation?: Impersonation;
  /** The name that the server's certificate must have. */
  readonly tlsServerName?: string;
  /** The proxy, if any. */
  readonly proxy?: ProxyAddress;
  /** `true` if the configuration disables verification of the server's certificate. */
  readonly insecure?: boolean;
  /** The entries of a kubeconfig that it is made of, as JSON. */
  readonly entries?: Secret;
  /** Reads the kubeconfig again. @throws {KubeconfigError} when it cannot be used any more, or leads elsewhere. */
  readonly again?: () => Promise<ConnectionPlan>;
  /** Origin of the configuration. */
  readonly origin: Pick<ConnectionOrigin, "source" | "files" | "context" | "user">;
}

/** Converts a `file:` URL to a path. @throws {TypeError} for a URL of another kind. */
function pathOfOption(name: string, value: string | URL): string {
  if (typeof value === "string") return value;
  if (value.protocol === "file:") return builtin("url").fileURLToPath(value);
  throw new ArgumentError(
    `Cannot connect: "${name}" must be a path or a "file:" URL, but its protocol is "${value.protocol}"`,
  );
}

/**
 * Returns the credentials given as options, for `server` and its proxy; `undefined` if there are none.
 *
 * @throws {TypeError} when they would be sent in clear text.
 */
function givenLogin(
  options: ConnectOptions,
  { server, proxy }: Pick<ConnectionPlan, "server" | "proxy">,
  host: Host,
): Login | undefined {
  const { token, tokenFile } = options;
  const login = token !== undefined ? "token" : tokenFile !== undefined ? "tokenFile" : undefined;
  if (login === undefined) return undefined;
  const problem = credentialsProblem(server, proxy);
  if (problem !== undefined) {
    throw new ArgumentError(`Cannot connect: "${login}" ${problem}. Use an "https://" server`);
  }
  if (typeof token === "function") return { type: "token", credentials: tokenLogin(token) };
  if (token !== undefined) return { type: "token", credentials: FixedLogin.bearer(token) };
  const path = pathOfOption("tokenFile", tokenFile!);
  const explain = explainOption("tokenFile", path);
  return { type: "tokenFile", credentials: new TokenFile(path, host, explain, options) };
}

/**
 * Returns the certificates of `caFile` or `ca`; `undefined` if neither is given.
 *
 * @throws {TypeError} when the server has no TLS, or `ca` has no certificates.
 */
function givenCa(options: ConnectOptions, server: URL, host: Host): PemSource | undefined {
  const { ca } = options;
  if (options.caFile === undefined && ca === undefined) return undefined;
  if (server.protocol !== "https:") {
    const name = ca === undefined ? "caFile" : "ca";
    throw new ArgumentError(
      `Cannot connect: "${name}" does not apply to "${server.origin}", which has no TLS. Leave it out`,
    );
  }
  if (ca !== undefined) {
    const explain: ExplainFileProblem = (cause) =>
      new ArgumentError(`Cannot connect: "ca" cannot be used: ${cause.message}`);
    const problem = certificateProblem(ca);
    if (problem !== undefined) throw explain(new FileProblem(problem));
    return { isFile: false, read: () => Promise.resolve(ca), explain };
  }
  const path = pathOfOption("caFile", options.caFile!);
  return filePemSource(path, host, certificateProblem, explainOption("caFile", path));
}

function explainOption(name: string, path: string): ExplainFileProblem {
  const place = `Cannot connect: "${name}" names ${JSON.stringify(path)}`;
  return (cause) => new ConnectError(`${place}: ${cause.message}`, [], { cause, reason: cause.reason });
}

/** The kubeconfig files to read. */
interface Choice {
  readonly paths: readonly string[];
  /** Name of this place in a {@linkcode ConnectAttempt}. */
  readonly source: string;
  /** If `true`, a missing file is an error; otherwise it is skipped. */
  readonly mustExist: boolean;
  /** If `true`, a missing read permission is an error; otherwise the next place is tried. */
  readonly mustBeAllowed: boolean;
}

/**
 * Returns the kubeconfig of the options, of `KUBECONFIG` or of the home folder, or the reason why there is none.
 *
 * Files that an option names must exist. Files that an option or `KUBECONFIG` names must be readable; the file in the
 * home folder need not be.
 *
 * @throws {KubeconfigError} when a file cannot be read or parsed.
 */
export async function loadKubeconfig(
  options: Pick<ConnectOptions, "kubeconfig" | "context">,
  host: Host,
): Promise<Kubeconfig | ConnectAttempt> {
  const choice = choose(options, host);
  if ("problem" in choice) return choice;
  const configs: Kubeconfig[] = [];
  for (const path of choice.paths) {
    try {
      const text = await readCheckedFile(path, host);
      configs.push(parseKubeconfig(text, path));
    } catch (error) {
      if (!(error instanceof FileProblem)) throw error;
      if (failureKind(error.cause) === "missing" && !choice.mustExist) continue;
      if (failureKind(error.cause) === "no permission flag" && !choice.mustBeAllowed) {
        return { source: choice.source, problem: error.message, cause: error };
      }
      throw kubeconfigError({ file: path }, error.message, { cause: error, reason: error.reason });
    }
  }
  if (configs.length === 0) {
    const one = choice.paths.length === 1;
    return { source: choice.source, problem: one ? "there is no such file" : "none of these files exists" };
  }
  const config = mergeKubeconfigs(configs);
  if (isEmptyKubeconfig(config) && !choice.mustExist && options.context === undefined) {
    return { source: choice.source, problem: "it has no clusters, contexts or users" };
  }
  return config;
}

function choose(options: Pick<ConnectOptions, "kubeconfig">, host: Host): Choice | ConnectAttempt {
  const { kubeconfig } = options;
  if (kubeconfig !== undefined) {
    const value = pathOfOption("kubeconfig", kubeconfig);
    const paths = typeof kubeconfig === "string" ? splitList(value, host) : [value];
    if (paths.length === 0) {
      throw new ArgumentError(`Cannot connect: "kubeconfig" names no file, because it is ${JSON.stringify(value)}`);
    }
    return { paths, source: "kubeconfig", mustExist: true, mustBeAllowed: true };
  }
  let paths: readonly string[];
  let home: string | undefined;
  const homeName = host.windows ? "USERPROFILE" : "HOME";
  try {
    paths = splitList(host.env("KUBECONFIG") ?? "", host);
    if (paths.length === 0) home = host.env(homeName);
  } catch (cause) {
    // KUBECONFIG may name another cluster than the file in the home folder, so that file is not tried.
    if (failureKind(cause) !== "no permission flag") throw cause;
    const flag = envFlag("KUBECONFIG", homeName);
    return { source: "KUBECONFIG", problem: `this program may not read it, run it with ${flag}`, cause };
  }
  if (paths.length > 0) {
    const source = `KUBECONFIG ${paths.map((path) => JSON.stringify(path)).join(", ")}`;
    return { paths, source, mustExist: false, mustBeAllowed: true };
  }
  if (!home) return { source: "KUBECONFIG", problem: `it is not set, and neither is ${homeName}` };
  const path = host.windows ? `${home}\\.kube\\config` : `${home}/.kube/config`;
  return { paths: [path], source: JSON.stringify(path), mustExist: false, mustBeAllowed: false };
}

/** Splits a list of paths and removes duplicates (clientcmd `NewDefaultClientConfigLoadingRules`). */
function splitList(list: string, host: Host): string[] {
  const paths = list.split(host.windows ? ";" : ":").filter((path) => path !== "");
  return [...new Set(paths)];
}

/**
 * Returns a plan from the kubeconfig of the options, of `KUBECONFIG` or of the home folder, or the reason why there is
 * none.
 *
 * @throws {KubeconfigError} when there is a kubeconfig and it cannot be used.
 */
async function planFromKubeconfig(options: ConnectOptions, host: Host): Promise<ConnectionPlan | ConnectAttempt> {
  const config = await loadKubeconfig(options, host);
  if ("problem" in config) return config;
  const plan = planFromContext(config, options, host);
  return { ...plan, again: () => planAgain(plan, options, host) };
}

/**
 * Returns the plan of the same context as the kubeconfig is now. Its credentials are for its server, so they go to no
 * other one; and requests that began as one user do not continue as another.
 *
 * @throws {KubeconfigError} when it cannot be used any more, has another server, or impersonates another user.
 */
async function planAgain(plan: ConnectionPlan, options: ConnectOptions, host: Host): Promise<ConnectionPlan> {
  const { files: [file], context } = plan.origin;
  const config = await loadKubeconfig(options, host);
  if ("problem" in config) throw kubeconfigError({ file }, config.problem, { cause: config.cause });
  const next = planFromContext(config, { ...options, context }, host);
  const refuse = (change: string): KubeconfigError =>
    kubeconfigError({ file, entry: `context ${JSON.stringify(context)}` }, `${change}. Connect again to use it`);
  if (next.server.href !== plan.server.href) {
    throw refuse(`it now names server "${next.server.href}", but the connection is to "${plan.server.href}"`);
  }
  if (options.as === undefined && JSON.stringify(next.impersonation) !== JSON.stringify(plan.impersonation)) {
    throw refuse("it now impersonates another user");
  }
  return next;
}

export function planFromContext(config: Kubeconfig, options: ConnectOptions, host: Host): ConnectionPlan {
  const { context, token, tokenFile } = options;
  const address = options.server === undefined ? undefined : String(options.server);
  const withoutUser = token !== undefined || tokenFile !== undefined;
  const resolved = resolveContext(config, { context, server: address, withoutUser });
  const { cluster, user } = resolved;
  const ca = givenCa(options, cluster.server, host) ??
    pemSource(cluster.certificateAuthority, certificateProblem, host);
  const cert = pemSource(user?.clientCertificate?.certificate, certificateProblem, host);
  const key = pemSource(user?.clientCertificate?.key, privateKeyProblem, host);
  const login = givenLogin(options, cluster, host) ??
    pluginLogin(user?.exec, cluster, ca, options, host) ?? loginOf(user, options, host);
  const { server, tlsServerName, proxy } = cluster;
  return {
    server,
    namespace: resolved.namespace,
    ca,
    cert,
    key,
    login,
    compress: !cluster.disableCompression,
    tlsServerName,
    proxy,
    // A CA given as an option enables verification again (clientcmd overrides); plain HTTP has no certificate.
    insecure: server.protocol === "https:" && cluster.insecureSkipTlsVerify && options.caFile === undefined &&
      options.ca === undefined,
    impersonation: user?.impersonation,
    entries: new Secret(JSON.stringify([
      config.clusters.get(cluster.name)?.fields(),
      user && config.users.get(user.name)?.fields(),
    ])),
    origin: { source: "kubeconfig", files: config.files, context: resolved.name, user: user?.name },
  };
}

function pemSource(material: Material | undefined, problemOf: PemCheck, host: Host): PemSource | undefined {
  if (material === undefined) return undefined;
  if ("pem" in material) {
    const { pem, place } = material;
    const explain: ExplainFileProblem = (cause) =>
      kubeconfigError(place, `cannot be used: ${cause.message}`, { cause });
    return { isFile: false, read: () => Promise.resolve(pem.reveal()), explain };
  }
  const path = pathBeside(material.place.file, material.path);
  return filePemSource(path, host, problemOf, explainPlace(material.place, path));
}

function explainPlace(place: FieldPlace, path: string): ExplainFileProblem {
  return (cause) => kubeconfigError(place, `names ${JSON.stringify(path)}: ${cause.message}`, { cause });
}

function pluginLogin(
  plugin: ExecPlugin | undefined,
  cluster: ResolvedCluster,
  ca: PemSource | undefined,
  options: ConnectOptions,
  host: Host,
): Login | undefined {
  if (plugin === undefined) return undefined;
  const { pluginTimeoutMs: timeoutMs = PLUGIN_TIMEOUT_MS } = options;
  checkDurations("connect", { pluginTimeoutMs: timeoutMs });
  const tellCluster = async (): Promise<ExecCluster> => ({
    server: cluster.server.href.replace(/\/$/, ""),
    tlsServerName: cluster.tlsServerName,
    insecureSkipTlsVerify: cluster.insecureSkipTlsVerify,
    certificateAuthority: await ca?.read(),
    proxyUrl: cluster.proxy && proxyHref(cluster.proxy),
    disableCompression: cluster.disableCompression,
    config: cluster.execConfig,
  });
  const credentials = new ExecLogin((signal) => runPlugin(plugin, host, tellCluster, timeoutMs, signal));
  return { type: "exec", credentials, command: pluginCommand(plugin, host) };
}

function loginOf(user: ResolvedUser | undefined, options: ConnectOptions, host: Host): Login | undefined {
  if (user?.tokenFile !== undefined) {
    const { place } = user.tokenFile;
    const path = pathBeside(place.file, user.tokenFile.path);
    const credentials = new TokenFile(path, host, explainPlace(place, path), options, user.token);
    return { type: "tokenFile", credentials };
  }
  return user?.token && { type: "token", credentials: FixedLogin.bearer(user.token.reveal()) };
}

/** A file of the pod's service account cannot be used. */
class ServiceAccountError extends Error {
  override readonly name = "ServiceAccountError";
  readonly problem: string;

  constructor(problem: string, options: ErrorOptions) {
    super(`Cannot use the pod's service account: ${problem}`, options);
    this.problem = problem;
  }
}

const HOST = "KUBERNETES_SERVICE_HOST";
const PORT = "KUBERNETES_SERVICE_PORT";

/**
 * Returns a plan from the service account that the kubelet mounts into a pod, or the reason why there is none. The
 * address is in two environment variables; token, CA and namespace are in files (client-go `rest.InClusterConfig`).
 *
 * The namespace is `POD_NAMESPACE`, else the content of the namespace file. Unlike client-go, a missing CA is an error:
 * Deno would reject the server's certificate later, without the reason.
 */
export async function planInCluster(options: ConnectOptions, host: Host): Promise<ConnectionPlan | ConnectAttempt> {
  const server = readServer(host);
  if (!(server instanceof URL)) return server;
  const folder = host.serviceAccountFolder;
  try {
    const login = givenLogin(options, { server }, host) ?? await podLogin(folder, options, host);
    const ca = givenCa(options, server, host) ?? await podCa(folder, host);
    const namespace = options.namespace ?? await podNamespace(folder, host);
    return { server, namespace, ca, login, origin: { source: "in-cluster", files: [] } };
  } catch (error) {
    if (!(error instanceof ServiceAccountError)) throw error;
    return { source: "in-cluster", problem: error.problem, cause: error };
  }
}

function readServer(host: Host): URL | ConnectAttempt {
  let name: string | undefined;
  let port: string | undefined;
  try {
    name = host.env(HOST);
    port = host.env(PORT);
  } catch (cause) {
    if (failureKind(cause) !== "no permission flag") throw cause;
    const problem = `this program may not read where the API server is, run it with ${envFlag(HOST, PORT)}`;
    return { source: "in-cluster", problem, cause };
  }
  if (!name || !port) {
    const missing = [...(name ? [] : [HOST]), ...(port ? [] : [PORT])];
    const problem = `${missing.join(" and ")} ${missing.length === 1 ? "is" : "are"} not set, so this is not a pod`;
    return { source: "in-cluster", problem };
  }
  const server = URL.parse(`https://${name.includes(":") ? `[${name}]` : name}:${port}`);
  if (server !== null && server.pathname === "/" && server.username === "") return server;
  return {
    source: "in-cluster",
    problem: `${HOST} (${JSON.stringify(name)}) and ${PORT} (${JSON.stringify(port)}) are not an address`,
  };
}

async function podLogin(folder: string, options: ConnectOptions, host: Host): Promise<Login> {
  const path = `${folder}/token`;
  const explain = explainPodFile(folder, path, ". Check whether the pod has automountServiceAccountToken: false");
  const credentials = new TokenFile(path, host, explain, options);
  await credentials.ready();
  return { type: "tokenFile", credentials };
}

async function podCa(folder: string, host: Host): Promise<ConnectionPlan["ca"]> {
  const path = `${folder}/ca.crt`;
  const source = filePemSource(path, host, certificateProblem, explainPodFile(folder, path));
  await source.read();
  return source;
}

async function podNamespace(folder: string, host: Host): Promise<string | undefined> {
  const path = `${folder}/namespace`;
  try {
    const name = host.env("POD_NAMESPACE");
    if (name) return name;
  } catch (error) {
    // Without the permission, the namespace file is used.
    if (failureKind(error) !== "no permission flag") throw error;
  }
  try {
    return (await readCheckedFile(path, host)).trim() || undefined;
  } catch (error) {
    if (!(error instanceof FileProblem)) throw error;
    if (failureKind(error.cause) === "missing") return undefined;
    throw explainPodFile(folder, path)(error);
  }
}

/** The flag names the folder, because its files are links to other files in it, which change. */
function explainPodFile(folder: string, path: string, hint = ""): ExplainFileProblem {
  return (cause) => {
    const problem = failureKind(cause.cause) === "no permission flag"
      ? `this program may not read it, run it with ${readFlag(folder)}`
      : `${cause.message}${failureKind(cause.cause) === "missing" ? hint : ""}`;
    return new ServiceAccountError(`${JSON.stringify(path)}: ${problem}`, { cause });
  };
}

export async function choosePlan(options: ConnectOptions, host: Host): Promise<ConnectionPlan> {
  const { server, context, kubeconfig } = options;
  if (server !== undefined && context === undefined && kubeconfig === undefined) return planFromOptions(options, host);
  const attempts: ConnectAttempt[] = [];
  const outside = await planFromKubeconfig(options, host);
  if (!isAttempt(outside)) return outside;
  attempts.push(outside);
  if (context !== undefined) {
    throw new ConnectError(`Cannot connect to context ${JSON.stringify(context)}: no kubeconfig was found`, attempts);
  }
  const inside = await planInCluster(options, host);
  if (!isAttempt(inside)) return inside;
  attempts.push(inside);
  throw new ConnectError(
    `Cannot connect: no configuration was found. Pass "server" or "kubeconfig", or set KUBECONFIG`,
    attempts,
  );
}

function planFromOptions(options: ConnectOptions, host: Host): ConnectionPlan {
  const server = new URL(options.server!);
  const ca = givenCa(options, server, host);
  const login = givenLogin(options, { server }, host);
  return { server, ca, login, origin: { source: "options", files: [] } };
}

export function isAttempt(value: ConnectionPlan | ConnectAttempt): value is ConnectAttempt {
  return "problem" in value;
}
