import type { Transport } from "../api/transport.ts";
import type { Credentials } from "../client/http/credentials.ts";

/** What is common to all ways of connecting. */
export interface InClusterOptions {
  /**
   * The namespace of objects by name where nothing else names one.
   * @default {the context's, or the pod's own, or "default"}
   */
  readonly namespace?: string;
  /** The `User-Agent` header. @default {the client's} */
  readonly userAgent?: string;
  /**
   * Called with each warning the server sends, and when a token or certificate file can no longer be read while what was
   * read before stays in use. @default {nobody is told}
   */
  readonly onWarning?: (warning: string) => void;
  /** Whether HTTP/2 is used where the server offers it. @default {false} */
  readonly http2?: boolean;
  /**
   * How long a server may take to connect and begin its answer, in milliseconds; 0 or `Infinity` is for ever. API servers give up after
   * 60 s themselves. Logs, `exec`, `attach`, `portforward` and `proxy` are exempt. @default {65_000}
   */
  readonly answerTimeoutMs?: number;
  /**
   * How long a credential plugin may take, in milliseconds; five times as long where it may ask on the terminal; `Infinity` is
   * for ever.
   * @default {60_000}
   */
  readonly pluginTimeoutMs?: number;
}

/** How {@linkcode connect} finds a server. */
export interface ConnectOptions extends InClusterOptions {
  /** Name of a kubeconfig context. Rules out the in-cluster configuration. @default {the current context} */
  readonly context?: string;
  /**
   * Path or `file:` URL of a kubeconfig, or several paths as in `KUBECONFIG`. Each must exist, and nothing else is tried.
   * @default {KUBECONFIG, or ~/.kube/config}
   */
  readonly kubeconfig?: string | URL;
  /**
   * Address of the API server. Alone, it makes a kubeconfig needless; with `context` or `kubeconfig` it replaces the
   * cluster's address.
   */
  readonly server?: string | URL;
  /** A bearer token, in place of all credentials a kubeconfig or pod has. */
  readonly token?: string;
  /** Path or `file:` URL of a file with a bearer token, in place of all other credentials; read again as it changes. */
  readonly tokenFile?: string | URL;
  /**
   * Path or `file:` URL of a PEM file with certificates that may sign the server's, in place of what a kubeconfig or pod
   * says; read again as it changes. @default {the configuration's, and what Deno trusts}
   */
  readonly caFile?: string | URL;
}

/** Where a connection comes from, for people and tools. Holds no credentials. */
export interface ConnectionOrigin {
  /** Which kind of configuration it is. */
  readonly source: "options" | "kubeconfig" | "in-cluster";
  /** The kubeconfig files that were read. */
  readonly files: readonly string[];
  /** The kubeconfig context. */
  readonly context?: string;
  /** The user entry in use. */
  readonly user?: string;
  /** What is sent as `Authorization`. */
  readonly login: "none" | "token" | "tokenFile" | "basic" | "exec";
  /** Whether the configuration itself has a client certificate; a credential plugin may bring one. */
  readonly clientCertificate: boolean;
  /** When that certificate, as it was read at first, stops being valid. */
  readonly certificateExpires?: Date;
  /** The credential plugin: a name or path of a program. */
  readonly plugin?: string;
  /** The proxy that the configuration names, without user and password. */
  readonly proxy?: string;
  /** The name that the server's certificate must have, where it is not the address's. */
  readonly tlsServerName?: string;
  /** Whether the configuration asks for the server's certificate not to be checked, which takes a flag of Deno's. */
  readonly insecure?: boolean;
  /** Who the server is asked to take the caller for. */
  readonly actsAs?: string;
  /** The flags that allow what this connection reads and reaches, `--allow-net` last. */
  readonly permissions: readonly string[];
}

/** All a client needs, and where it comes from. Whoever resolves one disposes its transport, or gives it to a client. */
export interface FoundConnection {
  /** Address of the API server. */
  readonly server: URL;
  /** The namespace of objects by name where nothing else names one. */
  readonly namespace: string;
  /** Carries requests; trusts the right authorities and shows the right certificate. */
  readonly transport: Transport & Disposable;
  /** Sets `Authorization`. */
  readonly credentials?: Credentials;
  /** Whether lists may be compressed. */
  readonly compress: boolean;
  /** As it was given. */
  readonly userAgent?: string;
  /** As it was given. */
  readonly onWarning?: (warning: string) => void;
  /** Where all this comes from. */
  readonly origin: ConnectionOrigin;
}
