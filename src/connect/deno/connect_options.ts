/**
 * The options of `connect()`, its error, and the connection that it has found.
 *
 * {@linkcode ConnectOptions} and {@linkcode ConnectError} are the entry points. This file reads no file.
 *
 * @module
 */
import type { Impersonation } from "../../api/impersonation.ts";
import type { Transport } from "../../api/lister_watcher.ts";
import type { Abortable } from "../../api/options.ts";
import type { Credentials, RequestReport } from "../../client/http/connection.ts";
import { InformerError } from "../../errors/informer_error.ts";

/** One place that was searched for a configuration, and the reason why it is not used. */
export interface ConnectAttempt {
  /** The place: `KUBECONFIG`, the path of a file, or `in-cluster`. */
  readonly source: string;
  /** The reason, with the permission flag to add if only a permission is missing. */
  readonly problem: string;
  /** The underlying error, if any. */
  readonly cause?: unknown;
}

/**
 * No usable configuration was found, or the file of an option cannot be used. The message has one line for each place
 * that was tried.
 */
export class ConnectError extends InformerError {
  /** `"ConnectError"`. */
  override readonly name = "ConnectError";
  /** The places, in the order they were tried. */
  readonly attempts: readonly ConnectAttempt[];
  /** `"missing-file"` if an option names a file that does not exist. */
  readonly reason?: "missing-file";

  /** Appends one line for each attempt to `message`; `cause` is the first cause of an attempt. */
  constructor(
    message: string,
    attempts: readonly ConnectAttempt[],
    options: ErrorOptions & Pick<ConnectError, "reason"> = {},
  ) {
    const cause = options.cause ?? attempts.find((attempt) => attempt.cause !== undefined)?.cause;
    super(
      [message, ...attempts.map(({ source, problem }) => `- ${source}: ${problem}`)].join("\n"),
      cause === undefined ? undefined : { cause },
    );
    this.attempts = attempts;
    if (options.reason !== undefined) this.reason = options.reason;
  }
}

/** Options for {@linkcode inCluster}, and common options of {@linkcode connect}. */
export interface InClusterOptions {
  /**
   * The default namespace of requests.
   * @default {the context's, or the pod's own, or "default"}
   */
  readonly namespace?: string;
  /** The user to act as, all members of it, instead of that of the kubeconfig. @default {that of the kubeconfig} */
  readonly as?: Impersonation;
  /** The `User-Agent` header. @default {the client's} */
  readonly userAgent?: string;
  /**
   * Called with each warning the server sends, and when a token or certificate file can no longer be read and the last
   * content stays in use. @default {warnings are dropped}
   */
  readonly onWarning?: (warning: string) => void;
  /** Called with each step of each request, as `logRequests()` writes them. @default {none} */
  readonly onRequest?: (report: RequestReport) => void;
  /** If `true`, uses HTTP/2 where the server offers it. @default {false} */
  readonly http2?: boolean;
  /**
   * Maximum time until the server begins its response, connecting included, in milliseconds; 0 or `Infinity` disables
   * the limit. API servers give up after 60 s themselves. Logs, `exec`, `attach`, `portforward` and `proxy` are exempt.
   * @default {65_000}
   */
  readonly answerTimeoutMs?: number;
  /**
   * Maximum run time of a credential plugin, in milliseconds; five times as long if it may prompt on the terminal;
   * `Infinity` disables the limit.
   * @default {60_000}
   */
  readonly pluginTimeoutMs?: number;
  /**
   * Returns a transport that sends requests by the one that connects, such as `observeTransport` of `./otel`. The
   * client disposes it, and it disposes the other one. @default {none}
   */
  readonly wrapTransport?: (transport: Transport) => Transport;
}

/** Options for {@linkcode connect}. */
export interface ConnectOptions extends InClusterOptions {
  /** Name of a kubeconfig context. Excludes the in-cluster configuration. @default {the current context} */
  readonly context?: string;
  /**
   * Path or `file:` URL of a kubeconfig, or several paths as in `KUBECONFIG`. Each must exist, and no other place is
   * searched.
   * @default {KUBECONFIG, or ~/.kube/config}
   */
  readonly kubeconfig?: string | URL;
  /**
   * Address of the API server. Alone, no kubeconfig is read; with `context` or `kubeconfig` it replaces the cluster's
   * address.
   */
  readonly server?: string | URL;
  /**
   * A bearer token, instead of the credentials of the kubeconfig or pod; or a function that returns one. The function
   * is called for the first request, 10 s before the token expires, where it is a JSON Web Token that says so (after
   * half of its life, if that is later), and when the server answers 401. Requests share a call. After a failure it is
   * called again 1 s later at the earliest, then 2 s, up to a minute.
   */
  readonly token?: string | ((options: Required<Abortable>) => string | Promise<string>);
  /**
   * Path or `file:` URL of a file with a bearer token, instead of all other credentials; read again when it changes.
   */
  readonly tokenFile?: string | URL;
  /**
   * Path or `file:` URL of a PEM file with the trusted CA certificates, instead of those of the kubeconfig or pod; read
   * again when it changes. Deno also trusts its public authorities, unless `DENO_TLS_CA_STORE` is empty.
   * @default {those of the configuration}
   */
  readonly caFile?: string | URL;
  /** The trusted CA certificates, as PEM text, instead of `caFile`: for programs without files. */
  readonly ca?: string;
}

/** Options for `connectContexts()`, which each connection has. */
export interface ConnectContextsOptions extends Omit<ConnectOptions, "context" | "server"> {
  /** The names of the contexts. @default {all of the kubeconfig} */
  readonly contexts?: readonly string[];
  /** Called with the reason for which a context cannot be used. @default {it is thrown} */
  readonly onRefused?: (error: unknown, context: string) => unknown;
}

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
  /** Sets `Authorization`, and may say when that expires, in milliseconds since 1970. */
  readonly credentials?: Credentials & { readonly expiresMs?: number | undefined };
  /** `true` if lists may be compressed. */
  readonly compress: boolean;
  /** As it was given. */
  readonly userAgent?: string;
  /** As it was given. */
  readonly onWarning?: (warning: string) => void;
  /** As it was given. */
  readonly onRequest?: (report: RequestReport) => void;
  /** Origin of these parts. */
  readonly origin: ConnectionOrigin;
}

const CREDENTIALS = "kubeconfig token tokenFile caFile ca";

/** The names of {@linkcode InClusterOptions}. */
export const IN_CLUSTER_OPTIONS =
  "namespace as userAgent onWarning onRequest http2 answerTimeoutMs pluginTimeoutMs wrapTransport";

/** The names of {@linkcode ConnectOptions}. */
export const CONNECT_OPTIONS = `${IN_CLUSTER_OPTIONS} ${CREDENTIALS} context server` as const;

/** The names of {@linkcode ConnectContextsOptions}. */
export const CONTEXTS_OPTIONS = `${IN_CLUSTER_OPTIONS} ${CREDENTIALS} contexts onRefused` as const;

/** Returns the options of a client on a connection that was found. */
export function clientOptionsOf({ origin: _origin, ...options }: FoundConnection): Omit<FoundConnection, "origin"> {
  return options;
}

/** A file of the pod's service account cannot be used. */
export class ServiceAccountError extends Error {
  override readonly name = "ServiceAccountError";
  readonly problem: string;

  constructor(problem: string, options: ErrorOptions) {
    super(`Cannot use the pod's service account: ${problem}`, options);
    this.problem = problem;
  }
}
