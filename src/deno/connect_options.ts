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
