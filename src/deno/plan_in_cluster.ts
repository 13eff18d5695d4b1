import { certificateProblem } from "../kubeconfig/pem/certificate_problem.ts";
import type { ConnectAttempt } from "./connect_error.ts";
import type { ConnectOptions } from "./connect_options.ts";
import { type ExplainFileProblem, FileProblem, readCheckedFile } from "./host/read_checked_file.ts";
import { envFlag, type Host, readFlag } from "./host/host.ts";
import { givenCa, givenLogin } from "./check_options.ts";
import type { Login, Plan } from "./plan.ts";
import { filePemSource } from "./pem_source.ts";
import { TokenFile } from "./credentials/token_file.ts";

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
export async function planInCluster(options: ConnectOptions, host: Host): Promise<Plan | ConnectAttempt> {
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
  const { onWarning } = options;
  const path = `${folder}/token`;
  const explain = explainPodFile(folder, path, "; does the pod have automountServiceAccountToken: false?");
  const credentials = new TokenFile(path, host, { ...(onWarning && { onWarning }), explain });
  await credentials.ready();
  return { type: "tokenFile", credentials };
}

async function podCa(folder: string, host: Host): Promise<Plan["ca"]> {
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
