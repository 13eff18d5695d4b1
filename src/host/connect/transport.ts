/**
 * The transport of `connect()`: requests over connections whose certificates may change.
 *
 * {@linkcode httpTransport} is the entry point. It replaces its connections when certificates change, and adds no
 * credentials; the connection of the client does.
 *
 * @module
 */
import { appendLines, isImpersonation } from "../../engine/api/impersonation.ts";
import type { Transport } from "../../engine/api/lister_watcher.ts";
import { DerivedController } from "../../engine/async/signals.ts";
import { SharedLimit } from "../../engine/async/shared_limit.ts";
import { monotonicMs } from "../../engine/async/time.ts";
import { ArgumentError, checkDurations } from "../../engine/errors/checks.ts";
import { causesOf, messageOf, withoutAddress, withSentence } from "../../engine/errors/errors.ts";
import { checkNames } from "../../engine/errors/option_names.ts";
import type { ExecLogin } from "./exec_login.ts";
import type { KubeconfigLogin } from "./kubeconfig_login.ts";
import { parseProxy, type ProxyAddress, proxyName, serverNameProblem } from "./kubeconfig/resolve_context.ts";
import { type Connections, type ConnectionsOptions, isSameMaterial, type TlsMaterial } from "./runtime/connections.ts";
import { openConnections } from "./runtime/open_connections.ts";

/**
 * Long-running requests, whose response may begin late (apiserver `longRunningRequestCheck`: the verb `proxy`, and
 * these subresources).
 */
const LONG = /^[^?]*\/(?:(?:attach|exec|portforward|log)(?:\?|$)|proxy(?:[/?]|$))/;

/** Options for {@linkcode httpTransport}. */
export interface HttpTransportOptions extends TlsMaterial {
  /**
   * If `true`, uses HTTP/2 on Deno if the server offers it. Up to 90 watches share a connection, because servers allow
   * 100 requests on one. Logs use other connections than watches, and short requests use a third one. It is off because
   * reading a body over a reused HTTP/2 connection can hang (denoland/deno#21749).
   * @default {false}
   */
  readonly http2?: boolean;
  /**
   * Header lines to add to each request that has no header with that name. A name may occur several times. If a request
   * impersonates its own user, as after `Client.as()`, impersonation headers from here are left out.
   * @default {[]}
   */
  readonly headers?: readonly (readonly [name: string, value: string])[];
  /**
   * A proxy's URL: `http://`, `https://`, or on Deno `socks5://`, with user and password if needed. By default the
   * environment's `HTTPS_PROXY`, `HTTP_PROXY` or `ALL_PROXY`, but no proxy for plain HTTP to this machine. Deno
   * bypasses it for hosts in `NO_PROXY`.
   */
  readonly proxyUrl?: string;
  /**
   * The name that the server's certificate must have. By default the URL's host. On Deno, a transport with a name
   * uses HTTP/1.1 and no SOCKS.
   */
  readonly tlsServerName?: string;
  /**
   * How long to wait until the server begins its response, including the connection, in milliseconds. 0 or `Infinity`
   * means no limit. API servers give up after 60 s themselves. Logs, `exec`, `attach`, `portforward` and `proxy` have
   * no limit.
   * @default {65_000}
   */
  readonly answerTimeoutMs?: number;
}

/** The certificates of a transport, in files that may change. */
type MaterialSource = Pick<KubeconfigLogin, "read" | "warn"> & Partial<Pick<KubeconfigLogin, "isReplaced">>;

/**
 * Interval at which files are read again, in milliseconds (client-go `transport/ca_rotation.go`, `cert_rotation.go`).
 */
const RELOAD_MS = 5 * 60_000;

/**
 * Creates a transport for a `Client` with your own certificates, header lines or proxy. Use it if you do not want a
 * kubeconfig. It uses `Deno.createHttpClient` on Deno, and `node:https` on Node and Bun. Dispose it to close its
 * connections. A client disposes its transport itself.
 *
 * @throws {TypeError} if a certificate or key is not PEM, or is damaged, encrypted or without its counterpart, or if an
 * option is invalid.
 *
 * @example
 * ```ts ignore
 * import { readFile } from "node:fs/promises";
 * import { Client } from "@kube/informer";
 * import { httpTransport } from "@kube/informer/connect";
 *
 * const transport = httpTransport({ caCerts: [await readFile("ca.crt", "utf8")] });
 * using client = new Client({ server: "https://10.0.0.1:6443", transport });
 * ```
 */
export function httpTransport(options: HttpTransportOptions = {}): Transport & Disposable {
  checkNames("create a transport", options, "http2 headers proxyUrl tlsServerName answerTimeoutMs caCerts cert key");
  return new HttpTransport(options);
}

/** The response has not begun in time. */
class NoResponseError extends TypeError {}

/**
 * Sends requests through connections, which it replaces when the certificate files or the plugin's certificate have
 * changed. Files are read again by the first request 5 minutes after the last read, and by the request after one that
 * failed, or got a 401 with a client certificate. Open watches stay on the connections that they began with; their next
 * request uses the new ones.
 */
export class HttpTransport implements Transport, Disposable {
  readonly #headers: readonly (readonly [name: string, value: string])[];
  readonly #fixed: Pick<ConnectionsOptions, "http2" | "proxy" | "serverName" | "insecure">;
  readonly #answerTimeoutMs: number;
  /** Limits the time until responses begin. */
  readonly #limit: SharedLimit;
  /** The files of `#material`; `undefined` if it cannot change. */
  readonly #files: MaterialSource | undefined;
  readonly #plugin: Pick<ExecLogin, "certificate"> | undefined;
  /** The certificates and key last read from files; connections use them unless the plugin returned a certificate. */
  #material: TlsMaterial;
  /** The plugin's certificate that `#connections` were made with. */
  #certificate: ExecLogin["certificate"];
  /** The connections of new requests, closed when they are replaced. */
  #connections: Connections;
  /** `true` from a request that failed to the next read of the files. */
  #hasFailed = false;
  /** Start of the last read of the files, by the monotonic clock; `-Infinity` makes the next request read them. */
  #lookedAt = monotonicMs();
  /** The read of the files in progress, which concurrent requests share; `undefined` between reads. */
  #looking: Promise<void> | undefined;
  /** Once `true`, no request is sent and no connection is opened. */
  #isDisposed = false;

  /**
   * No connection is opened yet. `files` are those of the certificates in `options`, `plugin` may return another client
   * certificate, and `insecure` says that the configuration disables verification of the server's certificate.
   *
   * @throws {TypeError} when a certificate, key or option is invalid.
   */
  constructor(
    options: HttpTransportOptions,
    files?: MaterialSource,
    plugin?: Pick<ExecLogin, "certificate">,
    insecure = false,
  ) {
    const { http2, headers = [], caCerts, cert, key, proxyUrl, tlsServerName, answerTimeoutMs = 65_000 } = options;
    checkDurations("connect", { answerTimeoutMs });
    this.#headers = headers;
    this.#fixed = { http2, proxy: proxyOf(proxyUrl), serverName: serverNameOf(tlsServerName), insecure };
    this.#answerTimeoutMs = answerTimeoutMs;
    this.#limit = new SharedLimit(answerTimeoutMs);
    this.#files = files;
    this.#plugin = plugin;
    this.#material = { caCerts, cert, key };
    this.#connections = this.#open(this.#material);
  }

  /**
   * Sends a request. Appends header lines to the request itself: a copy would join lines of one name into one.
   *
   * @throws as {@linkcode Connections.fetch}.
   */
  async fetch(request: Request): Promise<Response> {
    if (this.#files !== undefined) await this.#look(this.#files);
    if (this.#isDisposed) {
      throw new ArgumentError(`Cannot send a request to "${new URL(request.url).host}": the connection was disposed`);
    }
    try {
      if (this.#plugin?.certificate !== this.#certificate) this.#replace(this.#material);
      if (this.#headers.length > 0) this.#appendHeaders(request);
      // Not disposed: after the response has begun, the request's own signal aborts its body.
      const deadline = new DerivedController(request.signal);
      const ms = this.#answerTimeoutMs;
      // After "https://" and the host; parsing the URL would cost more than the limit.
      const path = request.url.slice(request.url.indexOf("/", 8));
      using _ = ms > 0 && !LONG.test(path)
        ? this.#limit.begin(() => deadline.abort(new NoResponseError(`no response within ${ms / 1_000} s`)))
        : undefined;
      const response = await this.#connections.fetch(request, deadline.signal);
      // The client certificate may have been replaced: the next request reads it again.
      if (response.status === 401 && this.#material.cert !== undefined) this.#lookedAt = Number.NEGATIVE_INFINITY;
      return response;
    } catch (cause) {
      // The CA or the client certificate may just have been replaced.
      if (request.signal.aborted) throw cause;
      this.#hasFailed = true;
      this.#lookedAt = Number.NEGATIVE_INFINITY;
      throw this.#throughProxy(cause);
    }
  }

  #appendHeaders(request: Request): void {
    // Groups and uid of one user do not go with the name of another.
    const acts = request.headers.has("impersonate-user");
    const missing = this.#headers.filter(([name]) => !request.headers.has(name) && !(acts && isImpersonation(name)));
    if (missing.length > 0) appendLines(request, missing);
  }

  /** Adds the proxy to the reason of a failure. */
  #throughProxy(error: unknown): unknown {
    const { proxy } = this.#fixed;
    if (proxy === undefined || !(error instanceof TypeError)) return error;
    if (error instanceof NoResponseError) return error;
    const reason = withoutAddress(messageOf(causesOf(error).at(-1)));
    return new TypeError(`${reason} (through proxy "${proxyName(proxy)}")`);
  }

  /** Asks for `url` over a connection of its own, with the certificates and the proxy of requests. */
  async probe(signal: AbortSignal, url: string): Promise<void> {
    const fresh = this.#open(this.#material);
    try {
      const response = await fresh.fetch(new Request(url, { signal, redirect: "manual" }), signal);
      await response.body?.cancel();
    } finally {
      fresh.close();
    }
  }

  /**
   * Rejects new requests and closes idle connections. Bodies that are being read end with their signals. Idempotent.
   */
  [Symbol.dispose](): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    this.#connections.close();
  }

  #open(material: TlsMaterial): Connections {
    return openConnections({ ...this.#fixed, ...material, ...this.#plugin?.certificate });
  }

  /** Replaces the connections by ones with this material. @throws {TypeError} when it is invalid; then nothing is. */
  #replace(material: TlsMaterial): void {
    const certificate = this.#plugin?.certificate;
    const next = this.#open(material);
    this.#connections.close();
    this.#connections = next;
    this.#certificate = certificate;
    this.#material = material;
  }

  async #look(files: MaterialSource): Promise<void> {
    // What was replaced while it was read is read again.
    while (files.isReplaced || monotonicMs() - this.#lookedAt >= RELOAD_MS) {
      this.#looking ??= this.#reload(files).finally(() => this.#looking = undefined);
      await this.#looking;
    }
  }

  async #reload(files: MaterialSource): Promise<void> {
    this.#lookedAt = monotonicMs();
    const isStale = this.#hasFailed;
    this.#hasFailed = false;
    try {
      const material = await files.read(isStale);
      if (!this.#isDisposed && !isSameMaterial(material, this.#material)) this.#replace(material);
    } catch (error) {
      files.warn(withSentence(messageOf(error), "The previous certificates stay in use"));
    }
  }
}

function proxyOf(text: string | undefined): ProxyAddress | undefined {
  if (text === undefined) return undefined;
  const proxy = parseProxy(text);
  if (typeof proxy === "string") throw new ArgumentError(`Cannot use proxyUrl: it ${proxy}`);
  return proxy;
}

function serverNameOf(name: string | undefined): string | undefined {
  const problem = name === undefined ? undefined : serverNameProblem(name);
  if (problem !== undefined) throw new ArgumentError(`Cannot use tlsServerName: it ${problem}`);
  return name;
}
