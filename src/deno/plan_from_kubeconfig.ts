import type { FieldPlace } from "../kubeconfig/model/entry_fields.ts";
import { kubeconfigError } from "../kubeconfig/model/kubeconfig_error.ts";
import { impersonationHeaders } from "../kubeconfig/entry/impersonation.ts";
import { isEmptyKubeconfig, type Kubeconfig } from "../kubeconfig/model/kubeconfig.ts";
import type { Material } from "../kubeconfig/entry/material.ts";
import { mergeKubeconfigs } from "../kubeconfig/merge_kubeconfigs.ts";
import { parseKubeconfig } from "../kubeconfig/parse_kubeconfig.ts";
import { certificateProblem, privateKeyProblem } from "../kubeconfig/pem/certificate_problem.ts";
import { resolveContext } from "../kubeconfig/resolve_context.ts";
import type { ResolvedCluster } from "../kubeconfig/entry/resolve_cluster.ts";
import type { ExecPlugin } from "../kubeconfig/exec/exec_plugin.ts";
import type { ExecCluster } from "../kubeconfig/exec/exec_info.ts";
import { proxyHref } from "../kubeconfig/entry/proxy_address.ts";
import type { ResolvedUser } from "../kubeconfig/entry/resolve_user.ts";
import { checkDurations } from "../async/time/duration.ts";
import type { ConnectAttempt } from "./connect_error.ts";
import type { ConnectOptions } from "./connect_options.ts";
import { BearerToken } from "./credentials/bearer_token.ts";
import { BasicLogin } from "./credentials/basic_login.ts";
import { type ExplainFileProblem, FileProblem, pathBeside, readCheckedFile } from "./host/read_checked_file.ts";
import { envFlag, type Host } from "./host/host.ts";
import { givenCa, givenLogin, pathOfOption } from "./check_options.ts";
import { PLUGIN_TIMEOUT_MS, pluginCommand, runPlugin } from "./credentials/run_plugin.ts";
import { ExecLogin } from "./credentials/exec_login.ts";
import type { Login, Plan } from "./plan.ts";
import { pairProblem } from "./transport/create_http_client.ts";
import { filePemSource, type PemSource } from "./pem_source.ts";
import { TokenFile } from "./credentials/token_file.ts";

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
 * Returns a plan from the kubeconfig of the options, of `KUBECONFIG` or of the home folder, or the reason why there is
 * none.
 *
 * Files that an option names must exist. Files that an option or `KUBECONFIG` names must be readable; the file in the
 * home folder need not be.
 *
 * @throws {KubeconfigError} when there is a kubeconfig and it cannot be used.
 */
export async function planFromKubeconfig(options: ConnectOptions, host: Host): Promise<Plan | ConnectAttempt> {
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
      throw kubeconfigError({ file: path }, error.message, { cause: error });
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
  return planFromContext(config, options, host);
}

function choose(options: ConnectOptions, host: Host): Choice | ConnectAttempt {
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

function planFromContext(config: Kubeconfig, options: ConnectOptions, host: Host): Plan {
  const { context, server, token, tokenFile } = options;
  const resolved = resolveContext(config, {
    ...(context !== undefined && { context }),
    ...(server !== undefined && { server: String(server) }),
    withoutUser: token !== undefined || tokenFile !== undefined,
  });
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
    // A CA given as an option enables verification again (clientcmd overrides).
    insecure: cluster.insecureSkipTlsVerify && options.caFile === undefined,
    ...(impersonation && { headers: impersonationHeaders(impersonation) }),
    origin: {
      source: "kubeconfig",
      files: config.files,
      context: resolved.name,
      ...(user && { user: user.name }),
      ...(impersonation && { actsAs: impersonation.user }),
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
  const credentials = new ExecLogin({
    run: (signal) => runPlugin(plugin, host, { cluster: tellCluster, timeoutMs, pairProblem }, signal),
  });
  return { type: "exec", credentials, command: pluginCommand(plugin, host) };
}

function loginOf(user: ResolvedUser | undefined, options: ConnectOptions, host: Host): Login | undefined {
  if (user?.tokenFile !== undefined) {
    const { place } = user.tokenFile;
    const { onWarning } = options;
    const path = pathBeside(place.file, user.tokenFile.path);
    const credentials = new TokenFile(path, host, {
      ...(user.token && { fallback: user.token }),
      ...(onWarning && { onWarning }),
      explain: explainPlace(place, path),
    });
    return { type: "tokenFile", credentials };
  }
  if (user?.token !== undefined) return { type: "token", credentials: new BearerToken(user.token.reveal()) };
  if (user?.basic === undefined) return undefined;
  const { username, password } = user.basic;
  return { type: "basic", credentials: new BasicLogin(username, password.reveal()) };
}
