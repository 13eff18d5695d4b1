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

/** The credentials sent as `Authorization`. */
export type Login =
  | { readonly type: "token"; readonly credentials: BearerToken | ExecLogin }
  | { readonly type: "tokenFile"; readonly credentials: TokenFile }
  | { readonly type: "basic"; readonly credentials: BasicLogin }
  | { readonly type: "exec"; readonly credentials: ExecLogin; readonly command: string };

/** A configuration whose certificate files are not read yet. */
export interface Plan {
  /** Address of the API server. */
  readonly server: URL;
  /** The namespace the configuration names. */
  readonly namespace?: string;
  /** The CA certificates. */
  readonly ca?: PemSource;
  /** The client certificate. */
  readonly cert?: PemSource;
  /** The key of `cert`. */
  readonly key?: PemSource;
  /** The credentials sent as `Authorization`. */
  readonly login?: Login;
  /** `false` if lists must not be compressed. @default {true} */
  readonly compress?: boolean;
  /** Additional header lines. */
  readonly headers?: readonly (readonly [name: string, value: string])[];
  /** The name that the server's certificate must have. */
  readonly tlsServerName?: string;
  /** The proxy, if any. */
  readonly proxy?: ProxyAddress;
  /** `true` if the configuration disables verification of the server's certificate. */
  readonly insecure?: boolean;
  /** Origin of the configuration. */
  readonly origin: Pick<ConnectionOrigin, "source" | "files" | "context" | "user" | "actsAs">;
}

/**
 * Reads the files of the plan and sets up the transport. A credential plugin runs later, with the first request.
 *
 * @throws {Error} when a file cannot be read, or TLS rejects its content.
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

/** Additional hosts for `--allow-net`: the proxy, or the relay and the server name. */
function alsoReached({ server, proxy, tlsServerName }: Plan): string[] {
  if (proxy !== undefined) return [`${proxy.url.hostname}:${proxyPort(proxy.url)}`];
  if (tlsServerName === undefined) return [];
  const name = tlsServerName.includes(":") ? `[${tlsServerName.replace(/^\[(.*)\]$/, "$1")}]` : tlsServerName;
  return [`${name}:${server.port || "443"}`, "127.0.0.1"];
}

/**
 * Rejects material that only the TLS stack finds invalid, such as a key of another certificate, with an error that
 * names the source.
 */
function tryTls(material: TlsMaterial, source: PemSource | undefined): void {
  if (source === undefined) return;
  try {
    createHttpClient(material, { http2: false }).close();
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw source.explain(new FileProblem(message, { cause }));
  }
}
