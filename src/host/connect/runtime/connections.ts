/**
 * The contract between a transport and the runtime: connections with fixed certificates and one proxy.
 *
 * {@linkcode Connections} is the entry point, which `deno_connections.ts` and `node_connections.ts` implement. This
 * file opens none.
 *
 * @module
 */
import type { ProxyAddress } from "../kubeconfig/resolve_context.ts";
import { permittedEnv } from "./permissions.ts";

/** The certificates and the key for a connection, as PEM texts. */
export interface TlsMaterial {
  /**
   * The CA certificates to trust. Without it, the runtime's public ones. Node and Bun trust only your certificates.
   * Deno trusts its public ones too, unless you start the process with an empty `DENO_TLS_CA_STORE`.
   */
  readonly caCerts?: readonly string[];
  /** The client certificate with its chain. It needs `key`. */
  readonly cert?: string;
  /** The unencrypted private key for `cert`. */
  readonly key?: string;
}

/** The parts of connections that never change. */
export interface ConnectionsOptions extends TlsMaterial {
  /** Uses HTTP/2 where the server offers it; only Deno does. */
  readonly http2?: boolean;
  /** The proxy. @default {the one that the environment names} */
  readonly proxy?: ProxyAddress;
  /** The name that the server's certificate must have. @default {the host of the URL} */
  readonly serverName?: string;
  /** Accepts any certificate of the server. Deno needs a flag for it, which the error names. */
  readonly insecure?: boolean;
}

/** Connections to servers, with the same certificates, key and proxy. */
export interface Connections {
  /**
   * Sends a request, and resolves with its response. Redirects are not followed.
   *
   * @throws {TypeError} when there is no response: with the reason, and what to do where that is known.
   * @throws {Error} named `NotCapable` when Deno may not reach the host: with the flag.
   * @throws the signal's reason.
   */
  fetch(request: Request, signal: AbortSignal): Promise<Response>;
  /** Closes idle connections. Bodies that are being read end with their signals. */
  close(): void;
}

/** Returns `true` if both have the same certificates and key. */
export function isSameMaterial(a: TlsMaterial, b: TlsMaterial): boolean {
  return a.cert === b.cert && a.key === b.key && JSON.stringify(a.caCerts) === JSON.stringify(b.caCerts);
}

/** Returns the environment variables in which a runtime looks for a proxy for this server, in its order. */
export function proxyVariables(server: URL): readonly string[] {
  const scheme = server.protocol === "https:" ? "https_proxy" : "http_proxy";
  return ["ALL_PROXY", "all_proxy", scheme.toUpperCase(), scheme];
}

/** Returns the variable that names a proxy for this server, of those that the program may read. It never prompts. */
export function environmentProxy(server: URL): string | undefined {
  return proxyVariables(server).find(permittedEnv);
}
