/**
 * The transport of `connect()`: sends requests through an HTTP client of Deno.
 *
 * {@linkcode denoTransport} is the entry point. It replaces its HTTP client when certificates change, and adds no
 * credentials; the connection of the client does.
 *
 * @module
 */
import { copyImpersonation, isImpersonation } from "../../api/impersonation.ts";
import type { Transport } from "../../api/lister_watcher.ts";
import { checkDurations } from "../../async/checks.ts";
import { LongTimer, monotonicMs } from "../../async/time.ts";
import { causesOf, messageOf, withoutAddress } from "../../errors/errors.ts";
import { checkNames } from "../../errors/option_names.ts";
import {
  isLoopback,
  parseProxy,
  type ProxyAddress,
  proxyName,
  serverNameProblem,
} from "../kubeconfig/resolve_context.ts";
import type { ExecLogin, KubeconfigLogin } from "./credentials.ts";
import { netFlag } from "./host.ts";
import {
  createDirectHttpClient,
  createHttpClient,
  isSameMaterial,
  type TlsMaterial,
  TlsNameProxy,
} from "./http_client.ts";

/**
 * Long-running requests, whose response may begin late (apiserver `longRunningRequestCheck`: the verb `proxy`, and
 * these subresources).
 */
const LONG = /\/(?:attach|exec|portforward|log)$|\/proxy(?:\/|$)/;

/**
 * Aborts a request whose response does not begin in time. After that, only the request's own signal aborts it. Call
 * {@linkcode AnswerDeadline.stop} when the response has begun or failed.
 */
class AnswerDeadline {
  readonly #controller = new AbortController();
  /** Armed from construction until it fires or {@linkcode AnswerDeadline.stop}; `undefined` without a time limit. */
  #timer: LongTimer | undefined;

  /** Starts the timer, unless `ms` is 0 or `Infinity`, or the request is long-running. */
  constructor(request: Request, ms: number) {
    const { signal } = request;
    const stop = (): void => this.#controller.abort(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
    const { url } = request;
    // Behind "https://" and the host; parsing the URL would cost more than the timer.
    const path = url.slice(url.indexOf("/", 8)).split("?", 1)[0];
    if (ms === 0 || LONG.test(path)) return;
    this.#timer = new LongTimer(() => this.#controller.abort(new TypeError(`no answer within ${ms / 1_000} s`)));
    this.#timer.arm(ms);
  }

  /** Aborts with the request's signal, or when the time is over. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Stops the timer. */
  stop(): void {
    this.#timer?.[Symbol.dispose]();
  }
}

/** The proxies and TLS settings of a request, for error messages. */
interface RouteInfo {
  /** The name that the certificate is verified for. */
  readonly serverName?: string;
  /** The proxy of the configuration. */
  readonly proxy?: ProxyAddress;
  /** The proxy of that name, if any. */
  readonly nameProxy?: TlsNameProxy;
  /** `true` if the configuration disables verification of the certificate. */
  readonly insecure?: boolean;
}

/** Returns the error to throw for a failed request: the cause, and a remedy if one is known. */
function explainFailure(error: unknown, request: Request, way: RouteInfo): unknown {
  const url = new URL(request.url);
  if (error instanceof Deno.errors.NotCapable) return withoutPermission(error, url, way);
  if (!(error instanceof TypeError)) return error;
  const reason = deepest(error);
  if (way.insecure && /certificate/i.test(reason)) {
    const host = (way.serverName ?? url.hostname).replace(/^\[(.*)\]$/, "$1");
    return new TypeError(
      `${reason}; "insecure-skip-tls-verify" takes effect only when Deno is started with ` +
        `--unsafely-ignore-certificate-errors=${host}`,
    );
  }
  if (way.nameProxy !== undefined) {
    const { problem, carried } = way.nameProxy;
    if (problem instanceof Deno.errors.NotCapable) return withoutPermission(problem, url, way);
    if (carried === 0 && way.serverName !== undefined) {
      return new TypeError(
        `${reason}; "tls-server-name" needs a proxy on loopback, which NO_PROXY bypasses: remove "${way.serverName}" from it`,
      );
    }
    if (problem instanceof Error) return new TypeError(`${reason}: ${problem.message}`);
  }
  if (way.proxy === undefined || reason.startsWith("no answer")) return error;
  return new TypeError(`${reason} (through proxy "${proxyName(way.proxy)}")`);
}

/** Deno names the host that needs permission, which after a redirect is not the host of the request. */
function withoutPermission(cause: Error, url: URL, way: RouteInfo): Error {
  if (cause.message.startsWith("Cannot use proxy")) return cause;
  const missed = /access to "([^"]+)"/.exec(cause.message)?.[1];
  // The port of a name's proxy differs each time.
  const flag = missed === undefined
    ? netFlag(url)
    : `--allow-net=${way.serverName !== undefined && missed.startsWith("127.0.0.1:") ? "127.0.0.1" : missed}`;
  // The caller says which address it cannot reach.
  return new Deno.errors.NotCapable(`missing permission: run this program with ${flag}`, { cause });
}

/** Returns the message of the innermost cause, without the address, which the caller adds. */
function deepest(error: Error): string {
  return withoutAddress(messageOf(causesOf(error).at(-1)));
}

/** Options for {@linkcode denoTransport}. */
export interface DenoTransportOptions extends TlsMaterial {
  /**
   * If `true`, uses HTTP/2 where the server offers it: one connection for all watches instead of one each. Off by
   * default because reading a body over a reused HTTP/2 connection can hang (denoland/deno#21749). @default {false}
   */
  readonly http2?: boolean;
  /**
   * Header lines for each request that has no header of that name. A name may occur several times. Those of an
   * impersonation are left out of a request that is of a user of its own, as by `Client.as()`. @default {none}
   */
  readonly headers?: readonly (readonly [name: string, value: string])[];
  /**
   * URL of a proxy: `http://`, `https://` or `socks5://`, with user and password if needed. Deno bypasses it for hosts
   * in the environment's `NO_PROXY`.
   * @default {HTTPS_PROXY, HTTP_PROXY or ALL_PROXY of the environment; none for plain HTTP to this machine}
   */
  readonly proxyUrl?: string;
  /**
   * The name that the server's certificate must have, instead of the host of the URL. All requests must then go to one
   * server; they pass through a proxy on loopback. Excludes `proxyUrl`, and the environment's proxies are not used.
   * @default {the host of the URL}
   */
  readonly tlsServerName?: string;
  /**
   * Maximum time until the server begins its response, connecting included, in milliseconds; 0 or `Infinity` disables
   * the limit. API servers give up after 60 s themselves. Logs, `exec`, `attach`, `portforward` and `proxy` are exempt.
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
 * Creates a transport over `Deno.createHttpClient`, with certificates, keys, header lines and a proxy. Dispose it to
 * close its connections; a client disposes the transport that it was given.
 *
 * @throws {TypeError} when a certificate or key is not PEM, is damaged, encrypted or without the other, or an option is
 * invalid.
 *
 * @example
 * ```ts ignore
 * import { Client } from "@kube/informer";
 * import { denoTransport } from "@kube/informer/connect";
 *
 * const transport = denoTransport({ caCerts: [await Deno.readTextFile("ca.crt")] });
 * using client = new Client({ server: "https://10.0.0.1:6443", transport });
 * ```
 */
export function denoTransport(options: DenoTransportOptions = {}): Transport & Disposable {
  checkNames("make a transport", options, "http2 headers proxyUrl tlsServerName answerTimeoutMs caCerts cert key");
  return new DenoTransport(options);
}

/**
 * Sends requests through one HTTP client, which it replaces when the certificate files or the plugin's certificate have
 * changed. Files are read again by the first request 5 minutes after the last read, and by the request after one that
 * failed, or got a 401 with a client certificate. Open watches stay on the client that they began with; their next
 * request uses the new one.
 */
export class DenoTransport implements Transport, Disposable {
  readonly #http2: boolean;
  readonly #headers: readonly (readonly [name: string, value: string])[];
  readonly #proxy: ProxyAddress | undefined;
  readonly #serverName: string | undefined;
  readonly #answerTimeoutMs: number;
  /** The files of `#material`; `undefined` if it cannot change. */
  readonly #files: MaterialSource | undefined;
  readonly #plugin: Pick<ExecLogin, "certificate"> | undefined;
  readonly #insecure: boolean;
  /** The certificates and key last read from files; `#client` uses them unless the plugin returned a certificate. */
  #material: TlsMaterial;
  /**
   * The client of new requests, closed when it is replaced; `undefined` until the first request with a proxy.
   */
  #client: Deno.HttpClient | undefined;
  /** By host: clients for plain HTTP to this machine, which bypass the environment's proxy. */
  readonly #direct = new Map<string, Deno.HttpClient>();
  /**
   * The proxy of the server's name, and the host that it serves; `undefined` before the first request, or without
   * `tlsServerName`.
   */
  #nameProxy: { readonly server: string; readonly proxy: TlsNameProxy } | undefined;
  /** The plugin's certificate that `#client` was created with. */
  #certificate: ExecLogin["certificate"];
  /** `true` from a request that failed to the next read of the files. */
  #hasFailed = false;
  /** Start of the last read of the files, by the monotonic clock; `-Infinity` makes the next request read them. */
  #lookedAt = monotonicMs();
  /** The read of the files in progress, which concurrent requests share; `undefined` between reads. */
  #looking: Promise<void> | undefined;
  /** Once `true`, no request is sent and no client is created. */
  #isDisposed = false;

  /**
   * No connection is opened yet. `files` are those of the certificates in `options`, `plugin` may return another client
   * certificate, and `insecure` says that the configuration disables verification of the server's certificate.
   *
   * @throws {TypeError} when a certificate, key or option is invalid.
   */
  constructor(
    options: DenoTransportOptions,
    files?: MaterialSource,
    plugin?: Pick<ExecLogin, "certificate">,
    insecure = false,
  ) {
    const { http2 = false, headers = [], caCerts, cert, key, proxyUrl, tlsServerName, answerTimeoutMs = 65_000 } =
      options;
    checkDurations("connect", { answerTimeoutMs });
    this.#http2 = http2;
    this.#headers = headers;
    this.#proxy = proxyOf(proxyUrl);
    this.#serverName = serverNameOf(tlsServerName, proxyUrl);
    this.#answerTimeoutMs = answerTimeoutMs;
    this.#files = files;
    this.#plugin = plugin;
    this.#insecure = insecure;
    this.#material = { caCerts, cert, key };
    // With a proxy the client is created by the first request: it needs permission, and that of a name the address.
    const client = this.#newClient(this.#material, undefined);
    if (this.#serverName === undefined && this.#proxy === undefined) this.#client = client;
    else client.close();
  }

  /**
   * Sends a request. Appends header lines to the request itself: a copy would join lines of one name into one.
   *
   * @throws {Deno.errors.NotCapable} when the program may not reach the host, naming the flag; otherwise the errors of
   * `fetch`.
   */
  async fetch(request: Request): Promise<Response> {
    if (this.#files !== undefined) await this.#look(this.#files);
    if (this.#isDisposed) {
      throw new TypeError(`Cannot send a request to "${new URL(request.url).host}": the connection is disposed`);
    }
    let sent = request;
    try {
      const nameProxy = this.#serverName === undefined ? undefined : this.#nameProxyFor(request);
      if (nameProxy !== undefined) sent = renamed(request, this.#serverName!);
      const client = this.#directClient(request) ?? this.#currentClient(nameProxy);
      // Groups and uid of one user do not go with the name of another.
      const acts = sent.headers.has("impersonate-user");
      const missing = this.#headers.filter(([name]) => !sent.headers.has(name) && !(acts && isImpersonation(name)));
      for (const [name, value] of missing) sent.headers.append(name, value);
      const deadline = new AnswerDeadline(request, this.#answerTimeoutMs);
      try {
        const response = await fetch(sent, { client, signal: deadline.signal });
        if (nameProxy?.carried === 0) {
          await response.body?.cancel();
          throw new TypeError("the request bypassed the proxy on loopback");
        }
        // The client certificate may have been replaced: the next request reads it again.
        if (response.status === 401 && this.#material.cert !== undefined) this.#lookedAt = Number.NEGATIVE_INFINITY;
        return response;
      } finally {
        deadline.stop();
      }
    } catch (cause) {
      // The CA or the client certificate may just have been replaced.
      if (request.signal.aborted) throw cause;
      this.#hasFailed = true;
      this.#lookedAt = Number.NEGATIVE_INFINITY;
      throw explainFailure(cause, request, {
        serverName: this.#serverName,
        proxy: this.#proxy,
        nameProxy: this.#nameProxy?.proxy,
        insecure: this.#insecure,
      });
    }
  }

  /** Asks for `url` over a connection of its own, with the certificates and the proxy of requests. */
  async probe(signal: AbortSignal, url: string): Promise<void> {
    const request = new Request(url, { signal, redirect: "manual" });
    const nameProxy = this.#serverName === undefined ? undefined : this.#nameProxyFor(request);
    const client = this.#isDirect(new URL(url))
      ? createDirectHttpClient(new URL(url))
      : this.#newClient({ ...this.#material, ...this.#plugin?.certificate }, nameProxy?.address ?? this.#proxy);
    try {
      const response = await fetch(nameProxy === undefined ? request : renamed(request, this.#serverName!), { client });
      await response.body?.cancel();
    } finally {
      client.close();
    }
  }

  /**
   * Rejects new requests and closes idle connections. Bodies that are being read end with their signals, or at once if
   * they pass through a proxy on loopback. Idempotent.
   */
  [Symbol.dispose](): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    this.#client?.close();
    for (const client of this.#direct.values()) client.close();
    this.#nameProxy?.proxy[Symbol.dispose]();
  }

  #newClient(material: TlsMaterial, proxy: ProxyAddress | undefined): Deno.HttpClient {
    return createHttpClient(material, { http2: this.#http2, allowHost: this.#serverName !== undefined }, proxy);
  }

  /**
   * Returns the client for the current certificates; creates a new one if the plugin has returned another certificate.
   */
  #currentClient(nameProxy: TlsNameProxy | undefined): Deno.HttpClient {
    const certificate = this.#plugin?.certificate;
    if (this.#client !== undefined && certificate === this.#certificate) return this.#client;
    const client = this.#newClient({ ...this.#material, ...certificate }, nameProxy?.address ?? this.#proxy);
    this.#client?.close();
    this.#client = client;
    this.#certificate = certificate;
    return client;
  }

  /**
   * Returns a client that bypasses the environment's proxy, for plain HTTP to this machine: Deno would send such
   * requests, and the credentials in them, to the proxy in clear text. Returns `undefined` for all other requests.
   */
  #directClient(request: Request): Deno.HttpClient | undefined {
    if (this.#proxy !== undefined) return undefined; // without a look at the URL
    const url = new URL(request.url);
    if (!this.#isDirect(url)) return undefined;
    let client = this.#direct.get(url.host);
    if (client === undefined) this.#direct.set(url.host, client = createDirectHttpClient(url));
    return client;
  }

  #isDirect(url: URL): boolean {
    return this.#proxy === undefined && url.protocol === "http:" && isLoopback(url.hostname);
  }

  #nameProxyFor(request: Request): TlsNameProxy {
    const { hostname, port, host } = new URL(request.url);
    if (this.#nameProxy === undefined || this.#nameProxy.proxy.isEnded) {
      this.#client?.close();
      this.#client = undefined;
      const proxy = new TlsNameProxy({ hostname, port: Number(port || "443") });
      this.#nameProxy = { server: host, proxy };
    }
    if (this.#nameProxy.server === host) return this.#nameProxy.proxy;
    throw new TypeError(`a transport with tlsServerName serves only one server, "${this.#nameProxy.server}"`);
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
    let next: Deno.HttpClient;
    let material: TlsMaterial;
    try {
      material = await files.read(isStale);
      if (this.#isDisposed || isSameMaterial(material, this.#material)) return;
      next = this.#newClient({ ...material, ...this.#certificate }, this.#nameProxy?.proxy.address ?? this.#proxy);
    } catch (error) {
      files.warn(`${messageOf(error)}; the previous certificates stay in use`);
      return;
    }
    this.#client?.close();
    this.#client = next;
    this.#material = material;
    if (this.#serverName === undefined || this.#nameProxy !== undefined) return;
    // Without the proxy of a name, the first request creates both.
    next.close();
    this.#client = undefined;
  }
}

/** Returns the request with the host replaced by `serverName`; the `Host` header keeps the original host. */
function renamed(request: Request, serverName: string): Request {
  const url = new URL(request.url);
  const { host } = url;
  url.hostname = serverName.includes(":") && !serverName.startsWith("[") ? `[${serverName}]` : serverName;
  const copy = new Request(url, request);
  copyImpersonation(request, copy);
  if (!copy.headers.has("host")) copy.headers.set("host", host);
  return copy;
}

function proxyOf(text: string | undefined): ProxyAddress | undefined {
  if (text === undefined) return undefined;
  const proxy = parseProxy(text);
  if (typeof proxy === "string") throw new TypeError(`Cannot use proxyUrl: it ${proxy}`);
  return proxy;
}

function serverNameOf(name: string | undefined, proxyUrl: string | undefined): string | undefined {
  if (name === undefined) return undefined;
  const problem = serverNameProblem(name);
  if (problem !== undefined) throw new TypeError(`Cannot use tlsServerName: it ${problem}`);
  if (proxyUrl === undefined) return name;
  throw new TypeError(`Cannot use tlsServerName: it excludes proxyUrl, leave one of them out`);
}
