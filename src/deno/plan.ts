import type { PemSource } from "./pem_source.ts";
import type { BearerToken } from "./credentials/bearer_token.ts";
import type { BasicLogin } from "./credentials/basic_login.ts";
import type { ConnectionOrigin, FoundConnection } from "./found_connection.ts";
import type { InClusterOptions } from "./connect_options.ts";
import { validityOf, validityProblem } from "../kubeconfig/pem/validity.ts";
import { type ProxyAddress, proxyName, proxyPort } from "../kubeconfig/entry/proxy_address.ts";
import { FileProblem } from "./host/read_checked_file.ts";
import { netFlag } from "./host/host.ts";
import type { RecordingHost } from "./host/recording_host.ts";
import type { ExecLogin } from "./credentials/exec_login.ts";
import { createHttpClient } from "./transport/create_http_client.ts";
import { TokenFile } from "./credentials/token_file.ts";
import { DenoTransport, type TlsMaterial } from "./transport/deno_transport.ts";

/** What is sent as `Authorization`. */
export type Login =
  | { readonly type: "token"; readonly credentials: BearerToken }
  | { readonly type: "tokenFile"; readonly credentials: TokenFile }
  | { readonly type: "basic"; readonly credentials: BasicLogin }
  | { readonly type: "exec"; readonly credentials: ExecLogin; readonly command: string };

/** A connection before its files are read. */
export interface Plan {
  /** Address of the API server. */
  readonly server: URL;
  /** The namespace the configuration names. */
  readonly namespace?: string;
  /** Who may sign the server's certificate. */
  readonly ca?: PemSource;
  /** A certificate to show to the server. */
  readonly cert?: PemSource;
  /** The key of `cert`. */
  readonly key?: PemSource;
  /** What is sent as `Authorization`. */
  readonly login?: Login;
  /** Whether lists may be compressed. @default {true} */
  readonly compress?: boolean;
  /** Other header lines. */
  readonly headers?: readonly (readonly [name: string, value: string])[];
  /** The name that the server's certificate must have. */
  readonly tlsServerName?: string;
  /** The proxy on the way. */
  readonly proxy?: ProxyAddress;
  /** Whether the server's certificate is not to be checked. */
  readonly insecure?: boolean;
  /** Where it comes from. */
  readonly origin: Pick<ConnectionOrigin, "source" | "files" | "context" | "user" | "actsAs">;
}

/**
 * Reads what the plan's files hold and sets up its transport. A credential plugin is not run before it is needed.
 *
 * @throws {Error} when a file cannot be read, or TLS does not take what is in it.
 */
export async function executePlan(
  plan: Plan,
  options: InClusterOptions,
  host: RecordingHost,
): Promise<FoundConnection> {
  const { server, ca, cert, key, login, headers, tlsServerName, proxy, insecure = false } = plan;
  const { namespace = plan.namespace ?? "default", userAgent, onWarning, http2 = false, answerTimeoutMs } = options;
  let warned: string | undefined;
  const load = async (): Promise<TlsMaterial> => {
    const material = {
      ...(ca && { caCerts: [await ca.read()] }),
      ...(cert && { cert: await cert.read() }),
      ...(key && { key: await key.read() }),
    };
    const validity = material.cert === undefined ? undefined : validityOf(material.cert);
    const problem = validity && validityProblem(validity, Date.now());
    if (problem !== undefined && problem !== warned) {
      onWarning?.(cert!.explain(new FileProblem(`the certificate ${problem}`)).message);
    }
    warned = problem;
    return material;
  };
  if (login?.credentials instanceof TokenFile) await login.credentials.ready();
  if (login?.type === "exec") host.willRun(login.command);
  const material = await load();
  tryTls({ caCerts: material.caCerts }, ca);
  tryTls({ cert: material.cert, key: material.key }, cert);
  const mayChange = [ca, cert, key].some((source) => source?.isFile);
  const transport = new DenoTransport(
    {
      ...material,
      http2,
      headers,
      ...(tlsServerName !== undefined && { tlsServerName }),
      ...(answerTimeoutMs !== undefined && { answerTimeoutMs }),
    },
    {
      insecure,
      ...(proxy && { proxy }),
      ...(mayChange && { reload: load }),
      ...(onWarning && { onWarning }),
      ...(login?.type === "exec" && { certificate: () => login.credentials.certificate }),
    },
  );
  const validity = material.cert === undefined ? undefined : validityOf(material.cert);
  return {
    server,
    namespace,
    transport,
    compress: plan.compress ?? true,
    ...(login && { credentials: login.credentials }),
    ...(userAgent !== undefined && { userAgent }),
    ...(onWarning && { onWarning }),
    origin: {
      ...plan.origin,
      login: login?.type ?? "none",
      clientCertificate: cert !== undefined,
      ...(validity && { certificateExpires: new Date(validity.untilMs) }),
      ...(login?.type === "exec" && { plugin: login.command }),
      ...(proxy && { proxy: proxyName(proxy) }),
      ...(tlsServerName !== undefined && { tlsServerName }),
      ...(insecure && { insecure }),
      permissions: [...host.permissions, netFlag(server, ...alsoReached(plan))],
    },
  };
}

/** What is reached beside the server: the proxy, or the relay and the name that its way goes by. */
function alsoReached({ server, proxy, tlsServerName }: Plan): string[] {
  if (proxy !== undefined) return [`${proxy.url.hostname}:${proxyPort(proxy.url)}`];
  if (tlsServerName === undefined) return [];
  const name = tlsServerName.includes(":") ? `[${tlsServerName.replace(/^\[(.*)\]$/, "$1")}]` : tlsServerName;
  return [`${name}:${server.port || "443"}`, "127.0.0.1"];
}

/** What only the TLS stack notices, a certificate and key that do not belong together for one, is told of its source. */
function tryTls(material: TlsMaterial, source: PemSource | undefined): void {
  if (source === undefined) return;
  try {
    createHttpClient(material, { http2: false }).close();
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw source.explain(new FileProblem(message, { cause }));
  }
}
