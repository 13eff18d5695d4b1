/**
 * The options of `connect()`, its error, and the connection that it has found.
 *
 * {@linkcode ConnectOptions} and {@linkcode ConnectError} are the entry points. This file reads no file.
 *
 * @module
 */
import type { Impersonation } from "../../engine/api/impersonation.ts";
import type { Transport } from "../../engine/api/lister_watcher.ts";
import type { Abortable } from "../../engine/api/call_options.ts";
import type { Credentials, RequestReport } from "../../engine/client/http/connection.ts";
import { InformerError } from "../../engine/errors/informer_error.ts";

/** A place that `connect()` searched for a configuration, and why it does not use it. */
export interface ConnectAttempt {
  /** The place: `KUBECONFIG`, a file's path, or `in-cluster`. */
  readonly source: string;
  /** The reason. If only a permission is missing, it names the flag. */
  readonly problem: string;
  /** The underlying error, if any. */
  readonly cause?: unknown;
}

/**
 * Thrown if there is no usable configuration, or if an option names a file that cannot be used. The message has a line
 * for each place that was tried.
 */
export class ConnectError extends InformerError {
  /** `"ConnectError"`. */
  override readonly name = "ConnectError";
  /** The places, in the order in which they were tried. */
  readonly attempts: readonly ConnectAttempt[];
  /** `"missing-file"` if an option names a file that does not exist. */
  readonly reason?: "missing-file";

  /** Appends a line for each attempt to `message`. `cause` is the first attempt's cause. */
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

/** Options for {@linkcode connectInCluster}, and common options of {@linkcode connect}. */
export interface InClusterOptions {
  /** The default namespace for requests. By default the context's, else the pod's own, else `"default"`. */
  readonly namespace?: string;
  /**
   * The user to impersonate. It replaces the kubeconfig's impersonation completely, including groups and extra values.
   */
  readonly as?: Impersonation;
  /** The `User-Agent` header. By default the client's. */
  readonly userAgent?: string;
  /**
   * Called with each warning that the server sends. Also called if a token or certificate file can no longer be read,
   * and its last content stays in use. By default, warnings are dropped.
   */
  readonly onWarning?: (warning: string) => void;
  /** Called with each step of each request. Pass the result of `logRequests()` to get a log. */
  readonly onRequest?: (report: RequestReport) => void;
  /** If `true`, uses HTTP/2 if the server offers it. @default {false} */
  readonly http2?: boolean;
  /**
   * How long to wait until the server begins its response, including the connection, in milliseconds. 0 or `Infinity`
   * means no limit. API servers give up after 60 s themselves. Logs, `exec`, `attach`, `portforward` and `proxy` have
   * no limit.
   * @default {65_000}
   */
  readonly answerTimeoutMs?: number;
  /**
   * How long a credential plugin may run, in milliseconds, and five times as long if it may prompt on the terminal.
   * `Infinity` means no limit.
   * @default {60_000}
   */
  readonly pluginTimeoutMs?: number;
  /**
   * Returns a transport around the client's own, such as `observeTransport` from `./otel`. The client disposes your
   * transport, and your transport must dispose the other one.
   */
  readonly wrapTransport?: (transport: Transport) => Transport;
}

/** Options for {@linkcode connect}. */
export interface ConnectOptions extends InClusterOptions {
  /**
   * The name of a kubeconfig context. By default the current context. If you set it, the pod's service account is not
   * used.
   */
  readonly context?: string;
  /**
   * The path or `file:` URL of a kubeconfig, or several paths as in `KUBECONFIG`. Each file must exist, and no other
   * place is searched. By default `KUBECONFIG`, else `~/.kube/config`.
   */
  readonly kubeconfig?: string | URL;
  /**
   * The API server's address. Without `context` and `kubeconfig`, no kubeconfig is read. With one of them, it replaces
   * the address in the kubeconfig.
   */
  readonly server?: string | URL;
  /**
   * A bearer token, or a function that returns one. It replaces the credentials in the kubeconfig or pod.
   *
   * The client calls the function for the first request, after a 401, and 10 s before the token expires, if the token
   * is a JSON Web Token with an expiry. For short-lived tokens, it waits for half of their life. Concurrent requests
   * share a call. After a failure it waits 1 s before the next call, then 2 s, up to a minute.
   */
  readonly token?: string | ((options: Required<Abortable>) => string | Promise<string>);
  /**
   * The path or `file:` URL of a file with a bearer token. It replaces all other credentials, and is read again when it
   * changes.
   */
  readonly tokenFile?: string | URL;
  /**
   * The path or `file:` URL of a PEM file with the CA certificates to trust, instead of those in the kubeconfig or pod.
   * It is read again when it changes. Deno also trusts its public authorities, unless `DENO_TLS_CA_STORE` is empty.
   */
  readonly caFile?: string | URL;
  /** The CA certificates to trust, as PEM text. Use it instead of `caFile` in programs without files. */
  readonly ca?: string;
}

/** Options for {@linkcode connectContexts}. They apply to each connection. */
export interface ConnectContextsOptions extends Omit<ConnectOptions, "context" | "server"> {
  /** The context names. By default all contexts in the kubeconfig. */
  readonly contexts?: readonly string[];
  /** Called with the reason why a context cannot be used. Without it, `connectContexts()` throws. */
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
  readonly login: "none" | "token" | "tokenFile" | "exec";
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
