import type { FieldPlace } from "../kubeconfig/model/entry_fields.ts";
import { kubeconfigError } from "../kubeconfig/model/kubeconfig_error.ts";
import { impersonationHeaders } from "../kubeconfig/entry/impersonation.ts";
import type { Kubeconfig } from "../kubeconfig/model/kubeconfig.ts";
import type { Material } from "../kubeconfig/entry/material.ts";
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
import { type ExplainFileProblem, pathBeside } from "./host/read_checked_file.ts";
import type { Host } from "./host/host.ts";
import { givenCa, givenLogin } from "./check_options.ts";
import { loadKubeconfig } from "./load_kubeconfig.ts";
import { PLUGIN_TIMEOUT_MS, pluginCommand, runPlugin } from "./credentials/run_plugin.ts";
import { ExecLogin } from "./credentials/exec_login.ts";
import type { Login, Plan } from "./plan.ts";
import { pairProblem } from "./transport/create_http_client.ts";
import { filePemSource, type PemSource } from "./pem_source.ts";
import { TokenFile } from "./credentials/token_file.ts";

/**
 * Returns a plan from the kubeconfig of the options, of `KUBECONFIG` or of the home folder, or the reason why there is
 * none.
 *
 * @throws {KubeconfigError} when there is a kubeconfig and it cannot be used.
 */
export async function planFromKubeconfig(options: ConnectOptions, host: Host): Promise<Plan | ConnectAttempt> {
  const config = await loadKubeconfig(options, host);
  return "problem" in config ? config : planFromContext(config, options, host);
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
    insecure: cluster.insecureSkipTlsVerify && options.caFile === undefined && options.ca === undefined,
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
