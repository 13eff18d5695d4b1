/**
 * Finds a configuration and makes a client from it.
 *
 * {@linkcode connect} is the entry point. It reads files and environment, and sends no request. `kubeconfig` parses and
 * resolves; `transport.ts` and `credentials.ts` do what the connection needs later.
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import { type Impersonation, impersonationHeaders, impersonationProblem } from "../../api/impersonation.ts";
import { defined } from "../../api/options.ts";
import { checkDurations } from "../../async/checks.ts";
import { callObserver } from "../../async/signals.ts";
import { Client } from "../../client/client.ts";
import { InformerError } from "../../errors/informer_error.ts";
import { checkNames } from "../../errors/option_names.ts";
import type { ExecCluster, ExecPlugin } from "../kubeconfig/exec_plugin.ts";
import {
  EntryFields,
  type FieldPlace,
  isEmptyKubeconfig,
  type Kubeconfig,
  type KubeconfigEntry,
  type KubeconfigError,
  kubeconfigError,
  mergeKubeconfigs,
  parseKubeconfig,
} from "../kubeconfig/parse_kubeconfig.ts";
import {
  credentialsProblem,
  type Material,
  type ProxyAddress,
  proxyHref,
  proxyName,
  proxyPort,
  resolveContext,
  type ResolvedCluster,
  type ResolvedUser,
  serverProblem,
} from "../kubeconfig/resolve_context.ts";
import { certificateProblem, privateKeyProblem, Secret, validityOf } from "../kubeconfig/text.ts";
import {
  clientOptionsOf,
  CONNECT_OPTIONS,
  type ConnectAttempt,
  type ConnectContextsOptions,
  ConnectError,
  type ConnectionOrigin,
  type ConnectOptions,
  CONTEXTS_OPTIONS,
  type FoundConnection,
  IN_CLUSTER_OPTIONS,
  type InClusterOptions,
  ServiceAccountError,
} from "./connect_options.ts";
import {
  BasicLogin,
  BearerToken,
  ExecLogin,
  KubeconfigLogin,
  PLUGIN_TIMEOUT_MS,
  pluginCommand,
  runPlugin,
  TokenFile,
  tokenLogin,
} from "./credentials.ts";
import {
  denoHost,
  envFlag,
  type ExplainFileProblem,
  FileProblem,
  type Host,
  netFlag,
  pathBeside,
  readCheckedFile,
  readFlag,
  RecordingHost,
} from "./host.ts";
import { filePemSource, type PemSource, type PemSources, TlsFiles, type TlsMaterial } from "./http_client.ts";
import { DenoTransport } from "./transport.ts";

/** The credentials sent as `Authorization`. */
type Login =
  | { readonly type: "token"; readonly credentials: BearerToken | ExecLogin }
  | { readonly type: "tokenFile"; readonly credentials: TokenFile }
  | { readonly type: "basic"; readonly credentials: BasicLogin }
  | { readonly type: "exec"; readonly credentials: ExecLogin; readonly command: string };

/** A configuration whose certificate files are not read yet. */
interface ConnectionPlan extends PemSources {
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

/**
 * Reads the files of the plan and sets up the transport. A credential plugin runs later, with the first request.
 *
 * @throws {Error} when a file cannot be read, or TLS rejects its content.
 */
async function executePlan(
  plan: ConnectionPlan,
  options: InClusterOptions,
  host: RecordingHost,
): Promise<FoundConnection> {
  const { server, login, tlsServerName, proxy, insecure = false, again } = plan;
  const { namespace = plan.namespace ?? "default", userAgent, onWarning, http2 = false, answerTimeoutMs } = options;
  const { as = plan.impersonation } = options;
  const headers = as && impersonationHeaders(as);
  const files = new TlsFiles(plan, onWarning);
  if (login?.credentials instanceof TokenFile) await login.credentials.ready();
  if (login?.type === "exec") host.willRun(login.command);
  const material = await files.read();
  files.check(material);
  const kubeconfig = again && new KubeconfigLogin(plan, files, again);
  const transport = new DenoTransport(
    { ...material, http2, headers, tlsServerName, answerTimeoutMs, proxyUrl: proxy && proxyHref(proxy) },
    kubeconfig ?? (files.mayChange ? files : undefined),
    kubeconfig,
    insecure,
  );
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
  const validity = material.cert === undefined ? undefined : validityOf(material.cert);
  return defined({
    ...plan.origin,
    login: login?.type ?? "none" as const,
    clientCertificate: plan.cert !== undefined,
    certificateExpires: validity && new Date(validity.untilMs),
    plugin: login?.type === "exec" ? login.command : undefined,
    proxy: proxy && proxyName(proxy),
    tlsServerName,
    insecure: insecure || undefined,
    permissions: [...host.permissions, netFlag(plan.server, ...alsoReached(plan))],
  });
}

/** Additional hosts for `--allow-net`: the proxy, or that of the server name, and the name. */
function alsoReached({ server, proxy, tlsServerName }: ConnectionPlan): string[] {
  if (proxy !== undefined) return [`${proxy.url.hostname}:${proxyPort(proxy.url)}`];
  if (tlsServerName === undefined) return [];
  const name = tlsServerName.includes(":") ? `[${tlsServerName.replace(/^\[(.*)\]$/, "$1")}]` : tlsServerName;
  return [`${name}:${server.port || "443"}`, "127.0.0.1"];
}

/**
 * Validates the options before any file is read.
 *
 * @throws {TypeError} when options contradict each other or are invalid.
 */
function checkOptions(options: ConnectOptions): void {
  const [member, unsendable] = (options.as && impersonationProblem(options.as)) ?? [];
  if (member !== undefined) throw new TypeError(`Cannot connect: "as.${member}" ${unsendable}`);
  const { server } = options;
  for (const [one, other] of [["token", "tokenFile"], ["ca", "caFile"]] as const) {
    if (options[one] !== undefined && options[other] !== undefined) {
      throw new TypeError(`Cannot connect: "${one}" and "${other}" are both given, expected one of them`);
    }
  }
  for (const name of ["context", "kubeconfig", "server", "token", "tokenFile", "ca", "caFile"] as const) {
    if (options[name] === "") {
      throw new TypeError(`Cannot connect: "${name}" is empty, leave it out or give it a value`);
    }
  }
  if (server === undefined) return;
  const problem = serverProblem(String(server));
  if (problem !== undefined) throw new TypeError(`Cannot connect: "server" ${problem}`);
}

/** Converts a `file:` URL to a path. @throws {TypeError} for a URL of another kind. */
function pathOfOption(name: string, value: string | URL): string {
  if (typeof value === "string") return value;
  if (value.protocol === "file:") return fileURLToPath(value);
  throw new TypeError(`Cannot connect: "${name}" must be a path or a "file:" URL, found "${value.protocol}"`);
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
    throw new TypeError(`Cannot connect: "${login}" ${problem}; use an "https://" server`);
  }
  if (typeof token === "function") return { type: "token", credentials: tokenLogin(token) };
  if (token !== undefined) return { type: "token", credentials: new BearerToken(token) };
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
    throw new TypeError(
      `Cannot connect: "${name}" does not apply to "${server.origin}", which has no TLS; leave it out`,
    );
  }
  if (ca !== undefined) {
    const explain: ExplainFileProblem = (cause) =>
      new TypeError(`Cannot connect: "ca" cannot be used: ${cause.message}`);
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
      if (error.cause instanceof Deno.errors.NotFound && !choice.mustExist) continue;
      if (error.cause instanceof Deno.errors.NotCapable && !choice.mustBeAllowed) {
        return { source: choice.source, problem: error.message, cause: error };
      }
      throw kubeconfigError({ file: path }, error.message, { cause: error, reason: error.reason });
    }
  }
  if (configs.length === 0) {
    const one = choice.paths.length === 1;
    return { source: choice.source, problem: one ? "there is no such file" : "there is none of these files" };
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
      throw new TypeError(`Cannot connect: "kubeconfig" names no file, found ${JSON.stringify(value)}`);
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
    if (!(cause instanceof Deno.errors.NotCapable)) throw cause;
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
async function planFromKubeconfig(
  options: ConnectOptions,
  host: Host,
): Promise<ConnectionPlan | ConnectAttempt> {
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
    kubeconfigError({ file, entry: `context ${JSON.stringify(context)}` }, `${change}: connect again to follow that`);
  if (next.server.href !== plan.server.href) {
    throw refuse(`it leads to "${next.server.href}" now, and the connection is to "${plan.server.href}"`);
  }
  if (options.as === undefined && JSON.stringify(next.impersonation) !== JSON.stringify(plan.impersonation)) {
    throw refuse("it impersonates another user now");
  }
  return next;
}

function planFromContext(config: Kubeconfig, options: ConnectOptions, host: Host): ConnectionPlan {
  const { context, server, token, tokenFile } = options;
  const resolved = resolveContext(
    config,
    defined({
      context,
      server: server === undefined ? undefined : String(server),
      withoutUser: token !== undefined || tokenFile !== undefined,
    }),
  );
  const { cluster, user } = resolved;
  const ca = givenCa(options, cluster.server, host) ??
    pemSource(cluster.certificateAuthority, certificateProblem, host);
  const cert = pemSource(user?.clientCertificate?.certificate, certificateProblem, host);
  const key = pemSource(user?.clientCertificate?.key, privateKeyProblem, host);
  const login = givenLogin(options, cluster, host) ??
    pluginLogin(user?.exec, cluster, ca, options, host) ?? loginOf(user, options, host);
  const impersonation = user?.impersonation;
  return {
    server: cluster.server,
    ...(resolved.namespace !== undefined && { namespace: resolved.namespace }),
    ...(ca && { ca }),
    ...(cert && { cert }),
    ...(key && { key }),
    ...(login && { login }),
    compress: !cluster.disableCompression,
    ...(cluster.tlsServerName !== undefined && { tlsServerName: cluster.tlsServerName }),
    ...(cluster.proxy && { proxy: cluster.proxy }),
    // A CA given as an option enables verification again (clientcmd overrides); plain HTTP has no certificate.
    insecure: cluster.server.protocol === "https:" && cluster.insecureSkipTlsVerify && options.caFile === undefined &&
      options.ca === undefined,
    ...(impersonation && { impersonation }),
    entries: new Secret(JSON.stringify([
      config.clusters.get(cluster.name)?.fields(),
      user && config.users.get(user.name)?.fields(),
    ])),
    origin: {
      source: "kubeconfig",
      files: config.files,
      context: resolved.name,
      ...(user && { user: user.name }),
    },
  };
}

function pemSource(
  material: Material | undefined,
  problemOf: (pem: string) => string | undefined,
  host: Host,
): PemSource | undefined {
  if (material === undefined) return undefined;
  if (material.type === "inline") {
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
    ...(cluster.tlsServerName !== undefined && { tlsServerName: cluster.tlsServerName }),
    insecureSkipTlsVerify: cluster.insecureSkipTlsVerify,
    ...(ca && { certificateAuthority: await ca.read() }),
    ...(cluster.proxy && { proxyUrl: proxyHref(cluster.proxy) }),
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
  if (user?.token !== undefined) return { type: "token", credentials: new BearerToken(user.token.reveal()) };
  if (user?.basic === undefined) return undefined;
  const { username, password } = user.basic;
  return { type: "basic", credentials: new BasicLogin(username, password.reveal()) };
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
async function planInCluster(options: ConnectOptions, host: Host): Promise<ConnectionPlan | ConnectAttempt> {
  const server = readServer(host);
  if (!(server instanceof URL)) return server;
  const folder = host.serviceAccountFolder;
  try {
    const login = givenLogin(options, { server }, host) ?? await podLogin(folder, options, host);
    const ca = givenCa(options, server, host) ?? await podCa(folder, host);
    const namespace = options.namespace ?? await podNamespace(folder, host);
    return {
      server,
      ...(namespace !== undefined && { namespace }),
      ca,
      login,
      origin: { source: "in-cluster", files: [] },
    };
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
    if (!(cause instanceof Deno.errors.NotCapable)) throw cause;
    const problem = `this program may not read where the API server is, run it with ${envFlag(HOST, PORT)}`;
    return { source: "in-cluster", problem, cause };
  }
  const missing = [...(name ? [] : [HOST]), ...(port ? [] : [PORT])];
  if (missing.length > 0) {
    const problem = `${missing.join(" and ")} ${missing.length === 1 ? "is" : "are"} not set, so this is not a pod`;
    return { source: "in-cluster", problem };
  }
  const server = URL.parse(`https://${name!.includes(":") ? `[${name}]` : name}:${port}`);
  if (server !== null && server.pathname === "/" && server.username === "") return server;
  return {
    source: "in-cluster",
    problem: `${HOST} and ${PORT} are not an address, found ${JSON.stringify(name)} and ${JSON.stringify(port)}`,
  };
}

async function podLogin(folder: string, options: ConnectOptions, host: Host): Promise<Login> {
  const path = `${folder}/token`;
  const explain = explainPodFile(folder, path, "; does the pod have automountServiceAccountToken: false?");
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
    if (!(error instanceof Deno.errors.NotCapable)) throw error;
  }
  try {
    return (await readCheckedFile(path, host)).trim() || undefined;
  } catch (error) {
    if (!(error instanceof FileProblem)) throw error;
    if (error.cause instanceof Deno.errors.NotFound) return undefined;
    throw explainPodFile(folder, path)(error);
  }
}

/** The flag names the folder, because its files are links to other files in it, which change. */
function explainPodFile(folder: string, path: string, hint = ""): ExplainFileProblem {
  return (cause) => {
    const problem = cause.cause instanceof Deno.errors.NotCapable
      ? `this program may not read it, run it with ${readFlag(folder)}`
      : `${cause.message}${cause.cause instanceof Deno.errors.NotFound ? hint : ""}`;
    return new ServiceAccountError(`${JSON.stringify(path)}: ${problem}`, { cause });
  };
}

/**
 * Finds the configuration as {@linkcode connect} documents it, reads its files and sets up the transport. No request is
 * sent.
 *
 * @throws {ConnectError} when there is no configuration.
 * @throws {KubeconfigError} when there is a kubeconfig and it cannot be used.
 * @throws {TypeError} when the options cannot be used.
 */
export async function findConnection(options: ConnectOptions = {}, machine: Host = denoHost): Promise<FoundConnection> {
  checkNames("connect", options, CONNECT_OPTIONS);
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
  checkOptions(options);
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
 * - The kubeconfig is read again when the server answers 401 to what it has, and after a request that failed. New
 *   credentials and certificates of the same context are used at once, and the refused request is sent again, unless
 *   its body is a stream. If the context has another server then, or impersonates another user, the request rejects
 *   with a `KubeconfigError`, as it does if the file cannot be used any more; other changes take effect with the next
 *   `connect()`.
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
 * Returns a client that uses the service account of the pod that this program runs in: the address from
 * `KUBERNETES_SERVICE_HOST` and `KUBERNETES_SERVICE_PORT`, and the token, CA and namespace files. No kubeconfig is
 * read, so these permissions are enough: `--allow-env=KUBERNETES_SERVICE_HOST,KUBERNETES_SERVICE_PORT`,
 * `--allow-read=/var/run/secrets/kubernetes.io/serviceaccount` and `--allow-net=HOST:PORT`.
 *
 * @throws {ConnectError} outside a pod, or in one without a service account; the error names the missing part.
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
 * Returns a client of the kubeconfig in `text`, such as one that a Secret holds, whose author is not trusted with this
 * machine: a program (`exec`) or a file (`tokenFile`, `client-certificate`, `client-key`, `certificate-authority`) is
 * refused by name. Certificates and keys as `-data` are applied, as other fields are by {@linkcode connect}. Nothing is
 * read again.
 *
 * @param name What errors call it.
 * @throws {KubeconfigError} when it cannot be used.
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
  const host = new RecordingHost(denoHost);
  return clientOf(await executePlan(planFromContext(config, options, host), options, host), options);
}

function refuseOfThisMachine(entry: KubeconfigEntry, names: readonly string[]): void {
  const fields = new EntryFields(entry);
  const found = names.find((name) => fields.has(name));
  if (found === undefined) return;
  const what = found === "exec" ? "a program, which would run here" : "a file, which would be read here";
  throw fields.error(found, `names ${what}: write a token, or certificates and keys as "-data"`);
}

/**
 * Returns a client for each context of the kubeconfig that {@linkcode connect} would read, by its name. No request is
 * sent.
 *
 * The contexts are those at the time of the call. Credentials of each are read again as {@linkcode connect} does;
 * contexts that come or go later are not followed: call it again, with `contexts` that name those which are new.
 *
 * A context that cannot be used is passed to `onRefused`, and left out.
 *
 * @throws {ConnectError} when there is no kubeconfig.
 * @throws {KubeconfigError} when it cannot be read, or has no context of one of these names; without `onRefused`, that
 * of the first context which cannot be used.
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
  const config = await loadKubeconfig(rest, denoHost);
  if ("problem" in config) throw new ConnectError("Cannot connect to contexts: found no kubeconfig", [config]);
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
