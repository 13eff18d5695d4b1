/**
 * HTTP connections of Deno, with certificates and proxies.
 *
 * {@linkcode DenoConnections} is the entry point: `fetch` over `Deno.createHttpClient`. `transport.ts` decides when
 * certificates are read again.
 *
 * @module
 */
import { causesOf, messageOf, withoutAddress } from "../../../engine/errors/errors.ts";
import {
  isLoopback,
  type ProxyAddress,
  proxyHref,
  proxyName,
  proxyPort,
  withoutBrackets,
} from "../kubeconfig/resolve_context.ts";
import { type Connections, type ConnectionsOptions, proxyVariables } from "./connections.ts";
import { mayReadEnv, netDenial, netFlag } from "./permissions.ts";

/** Idle timeout of a connection, in milliseconds: shorter than that of load balancers and API servers. */
const IDLE_MS = 30_000;

/** API servers allow 100 streams on an HTTP/2 connection; a request beyond waits until another one ends. */
const MOST_STREAMS = 90;

/** By what is read: paths of requests that last. Slow readers of logs would hold watches up on their connection. */
const LONG = { watch: /[?&]watch=(?:1|true)/, log: /\/(?:log|attach|exec|portforward|proxy)(?:[/?]|$)/ };

/** Connections of Deno, to servers with the names in their URLs. None is opened before the first request. */
export class DenoConnections implements Connections {
  readonly #options: ConnectionsOptions;
  /** `undefined` until the first request with a proxy. */
  #client: Deno.HttpClient | undefined;
  /** By host: clients for plain HTTP to this machine, which bypass the environment's proxy. */
  readonly #direct = new Map<string, Deno.HttpClient>();
  /**
   * With HTTP/2, the clients of requests that last, and how many of them each has sent. A client whose streams may run
   * out is replaced.
   */
  readonly #long = new Map<string, { readonly client: Deno.HttpClient; sent: number }>();

  /** @throws {TypeError} when TLS refuses the certificates or the key. */
  constructor(options: ConnectionsOptions) {
    this.#options = options;
    // With a proxy the client is created by the first request, as it needs permission.
    const client = createHttpClient(options, undefined);
    if (options.proxy === undefined) this.#client = client;
    else client.close();
  }

  async fetch(request: Request, signal: AbortSignal): Promise<Response> {
    try {
      const client = this.#longClientFor(request) ?? this.#clientFor(request);
      return await fetch(request, { client, signal });
    } catch (cause) {
      throw signal.aborted ? cause : this.#explain(cause, new URL(request.url));
    }
  }

  close(): void {
    this.#client?.close();
    for (const client of this.#direct.values()) client.close();
    for (const { client } of this.#long.values()) client.close();
  }

  /** Returns the client for a request that lasts, over HTTP/2. A closed client's responses go on. */
  #longClientFor({ url }: Request): Deno.HttpClient | undefined {
    if (!this.#options.http2 || url.startsWith("http:")) return undefined;
    const kind = LONG.log.test(url) ? "log" : LONG.watch.test(url) ? "watch" : undefined;
    if (kind === undefined) return undefined;
    let long = this.#long.get(kind);
    if (long === undefined || long.sent === MOST_STREAMS) {
      long?.client.close();
      this.#long.set(kind, long = { client: createHttpClient(this.#options, this.#options.proxy), sent: 0 });
    }
    long.sent++;
    return long.client;
  }

  /**
   * Returns the client for a request: one that bypasses the environment's proxy, for plain HTTP to this machine. Deno
   * would send such requests, and the credentials in them, to the proxy in clear text.
   */
  #clientFor(request: Request): Deno.HttpClient {
    const { proxy } = this.#options;
    if (proxy !== undefined) return this.#client ??= createHttpClient(this.#options, proxy);
    const url = request.url.startsWith("http:") ? new URL(request.url) : undefined;
    if (url === undefined || !isLoopback(url.hostname)) return this.#client!;
    let client = this.#direct.get(url.host);
    if (client === undefined) this.#direct.set(url.host, client = createDirectHttpClient(url));
    return client;
  }

  /** Returns the error to throw for a failed request: the cause, and a remedy if one is known. */
  #explain(error: unknown, url: URL): unknown {
    if (error instanceof Deno.errors.NotCapable) return this.#withoutPermission(error, url);
    if (!(error instanceof TypeError)) return error;
    // The innermost cause, without the address, which the caller adds.
    const reason = withoutAddress(messageOf(causesOf(error).at(-1)));
    if (!this.#options.insecure || !/certificate/i.test(reason)) return error;
    return new TypeError(
      `${reason}; "insecure-skip-tls-verify" takes effect only when Deno is started with ` +
        `--unsafely-ignore-certificate-errors=${withoutBrackets(url.hostname)}`,
    );
  }

  /** Deno names the host that needs permission, which after a redirect is not the host of the request. */
  #withoutPermission(cause: Error, url: URL): Error {
    if (PROXY_DENIALS.has(cause)) return cause;
    // Words of Deno: the error has no member for the host.
    const missed = /access to "([^"]+)"/.exec(cause.message)?.[1];
    const flag = missed === undefined ? netFlag(url) : `--allow-net=${missed}`;
    return netDenial(flag, cause);
  }
}

/** Errors about a missing permission for the proxy, which name the flag. */
const PROXY_DENIALS = new WeakSet<Error>();

/**
 * Creates an HTTP client of Deno. No connection is opened yet.
 *
 * @throws {TypeError} when a certificate or key is invalid.
 * @throws {Deno.errors.NotCapable} when the program may not reach the proxy, naming the flag.
 */
function createHttpClient(
  { caCerts, cert, key, http2 = false }: ConnectionsOptions,
  proxy: ProxyAddress | undefined,
): Deno.HttpClient {
  try {
    return Deno.createHttpClient({
      ...(caCerts === undefined ? {} : { caCerts: [...caCerts] }),
      ...(cert === undefined || key === undefined ? {} : { cert, key }),
      ...(proxy && { proxy: denoProxy(proxy) }),
      http2,
      poolIdleTimeout: IDLE_MS,
    });
  } catch (cause) {
    if (cause instanceof Deno.errors.NotCapable && proxy !== undefined) {
      const denial = new Deno.errors.NotCapable(
        `Cannot use proxy "${proxyName(proxy)}" without permission: run this program with ` +
          `--allow-net=${proxy.url.hostname}:${proxyPort(proxy.url)}`,
        { cause },
      );
      PROXY_DENIALS.add(denial);
      throw denial;
    }
    throw new TypeError(`Cannot set up TLS with the certificates given: ${messageOf(cause)}`);
  }
}

/**
 * Creates an HTTP client of Deno that connects to the host and port of `server` directly, even if the environment names
 * a proxy. Only for plain HTTP: Deno may not use TLS on its connections.
 *
 * If the environment may name a proxy, requests have an absolute URL in their first line, which servers must accept
 * (RFC 9112, 3.2.2).
 *
 * @throws {Deno.errors.NotCapable} when the program may not reach the server.
 */
function createDirectHttpClient(server: URL): Deno.HttpClient {
  const { hostname, port } = server;
  const mayHaveProxy = proxyVariables(server).some((variable) => !mayReadEnv(variable) || Deno.env.get(variable));
  return Deno.createHttpClient({
    ...(mayHaveProxy && { proxy: { transport: "tcp", hostname, port: Number(port || "80") } }),
    poolIdleTimeout: IDLE_MS,
  });
}

function denoProxy(proxy: ProxyAddress): Deno.Proxy {
  const { url, login } = proxy;
  if (url.protocol === "socks5:") return { transport: "socks5", url: proxyHref(proxy) };
  const basicAuth = login && { username: login.username, password: login.password.reveal() };
  return { transport: url.protocol === "https:" ? "https" : "http", url: url.href, ...(basicAuth && { basicAuth }) };
}
