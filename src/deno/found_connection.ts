import type { Transport } from "../api/transport.ts";
import type { Credentials } from "../client/http/credentials.ts";

/** The origin of a connection, for diagnostics. Holds no credentials. */
export interface ConnectionOrigin {
  /** The kind of configuration. */
  readonly source: "options" | "kubeconfig" | "in-cluster";
  /** The kubeconfig files that were read. */
  readonly files: readonly string[];
  /** The kubeconfig context. */
  readonly context?: string;
  /** The user entry in use. */
  readonly user?: string;
  /** The kind of credentials sent as `Authorization`. */
  readonly login: "none" | "token" | "tokenFile" | "basic" | "exec";
  /** `true` if the configuration itself has a client certificate; a credential plugin may return one later. */
  readonly clientCertificate: boolean;
  /** Expiry of that certificate, as first read. */
  readonly certificateExpires?: Date;
  /** The credential plugin: a name or path of a program. */
  readonly plugin?: string;
  /** The proxy that the configuration names, without user and password. */
  readonly proxy?: string;
  /** The name that the server's certificate must have, if it is not the host of the address. */
  readonly tlsServerName?: string;
  /** `true` if the configuration disables verification of the server's certificate, which needs a Deno flag. */
  readonly insecure?: boolean;
  /** The user to impersonate. */
  readonly actsAs?: string;
  /** The Deno flags that this connection needs, `--allow-net` last. */
  readonly permissions: readonly string[];
}

/**
 * The parts of a client, and their origin. The caller of {@linkcode findConnection} owns `transport` and must dispose
 * it, or pass it to a client, which does.
 */
export interface FoundConnection {
  /** Address of the API server. */
  readonly server: URL;
  /** The default namespace of requests. */
  readonly namespace: string;
  /** Sends requests, with the CA and client certificate of the configuration. */
  readonly transport: Transport & Disposable;
  /** Sets `Authorization`. */
  readonly credentials?: Credentials;
  /** `true` if lists may be compressed. */
  readonly compress: boolean;
  /** As it was given. */
  readonly userAgent?: string;
  /** As it was given. */
  readonly onWarning?: (warning: string) => void;
  /** Origin of these parts. */
  readonly origin: ConnectionOrigin;
}
