/**
 * The contract between a transport and the runtime: connections with fixed certificates and one proxy.
 *
 * {@linkcode Connections} is what `deno` and `node` implement; {@linkcode openConnections} asks for the runtime when it
 * is called. `transport.ts` decides when connections are replaced.
 *
 * @module
 */
import type { ProxyAddress } from "./kubeconfig/resolve_context.ts";

/** CA certificates, client certificate and key of a connection, as PEM texts. */
export interface TlsMaterial {
  /**
   * The CA certificates to trust. Node and Bun trust only these. Deno adds them to its public ones: start the process
   * with an empty `DENO_TLS_CA_STORE` to trust only these. @default {the public ones of the runtime}
   */
  readonly caCerts?: readonly string[];
  /** The client certificate with its chain; needs `key`. */
  readonly cert?: string;
  /** The private key of `cert`, not encrypted. */
  readonly key?: string;
}

/** What connections have from their beginning to their end. */
export interface ConnectionsOptions extends TlsMaterial {
  /** Uses HTTP/2 where the server offers it, and the runtime can. */
  readonly http2?: boolean;
  /** The proxy. @default {those of the environment} */
  readonly proxy?: ProxyAddress;
  /** The name that the server's certificate must have. @default {the host of the URL} */
  readonly serverName?: string;
  /** Accepts any certificate of the server, if the runtime can. */
  readonly insecure?: boolean;
}

/** Connections to servers, with the same certificates, key and proxy. */
export interface Connections {
  /**
   * Sends a request, and resolves with its response. Redirects are not followed.
   *
   * @throws {TypeError} when there is no response: with the network's reason.
   * @throws the signal's reason.
   */
  fetch(request: Request, signal: AbortSignal): Promise<Response>;
  /** Closes idle connections. Bodies that are being read end with their signals. */
  close(): void;
}
