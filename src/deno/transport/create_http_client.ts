import type { TlsMaterial } from "./tls_material.ts";

import { certificateProblem, privateKeyProblem } from "../../kubeconfig/pem/certificate_problem.ts";
import { mayHaveEnvironmentProxy } from "./environment_proxy.ts";
import { type ProxyAddress, proxyHref, proxyName, proxyPort } from "../../kubeconfig/entry/proxy_address.ts";

/** Options for {@linkcode createHttpClient}, apart from certificates. */
export interface HttpClientOptions {
  /** If `true`, uses HTTP/2 where the server offers it. */
  readonly http2: boolean;
  /** The proxy, if any. */
  readonly proxy?: ProxyAddress;
  /** If `true`, requests may have a `Host` header other than the host of their URL. */
  readonly allowHost?: boolean;
}

/** Idle timeout of a connection, in milliseconds: shorter than that of load balancers and API servers. */
const IDLE_MS = 30_000;

/**
 * Creates an HTTP client of Deno. No connection is opened yet.
 *
 * @throws {TypeError} when a certificate or key is invalid.
 * @throws {Deno.errors.NotCapable} when the program may not reach the proxy, naming the flag.
 */
export function createHttpClient(material: TlsMaterial, options: HttpClientOptions): Deno.HttpClient {
  const { caCerts, cert, key } = material;
  const { http2, proxy, allowHost = false } = options;
  for (const ca of caCerts ?? []) refuse("CA certificate", certificateProblem(ca));
  if (cert !== undefined) refuse("client certificate", certificateProblem(cert));
  if (key !== undefined) refuse("client key", privateKeyProblem(key));
  if ((cert === undefined) !== (key === undefined)) {
    const [has, lacks] = cert === undefined ? ["key", "cert"] : ["certificate", "key"];
    throw new TypeError(`Cannot use client ${has}: ${lacks} is missing`);
  }
  try {
    return Deno.createHttpClient({
      ...(caCerts === undefined ? {} : { caCerts: [...caCerts] }),
      ...(cert === undefined || key === undefined ? {} : { cert, key }),
      ...(proxy && { proxy: denoProxy(proxy) }),
      ...(allowHost && { allowHost }),
      http2,
      poolIdleTimeout: IDLE_MS,
    });
  } catch (cause) {
    if (cause instanceof Deno.errors.NotCapable && proxy !== undefined) {
      throw new Deno.errors.NotCapable(
        `Cannot use proxy "${proxyName(proxy)}" without permission: run this program with ` +
          `--allow-net=${proxy.url.hostname}:${proxyPort(proxy.url)}`,
        { cause },
      );
    }
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new TypeError(`Cannot set up TLS with the certificates given: ${message}`);
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
export function createDirectHttpClient(server: URL): Deno.HttpClient {
  const { hostname, port } = server;
  return Deno.createHttpClient({
    ...(mayHaveEnvironmentProxy(server) && { proxy: { transport: "tcp", hostname, port: Number(port || "80") } }),
    poolIdleTimeout: IDLE_MS,
  });
}

function denoProxy(proxy: ProxyAddress): Deno.Proxy {
  const { url, login } = proxy;
  if (url.protocol === "socks5:") return { transport: "socks5", url: proxyHref(proxy) };
  const basicAuth = login && { username: login.username, password: login.password.reveal() };
  return { transport: url.protocol === "https:" ? "https" : "http", url: url.href, ...(basicAuth && { basicAuth }) };
}

function refuse(what: string, problem: string | undefined): void {
  if (problem !== undefined) throw new TypeError(`Cannot use ${what}: ${problem}`);
}

/** Returns the problem with a certificate and key as a pair; `undefined` if TLS accepts them. */
export function pairProblem(cert: string, key: string): string | undefined {
  try {
    createHttpClient({ cert, key }, { http2: false }).close();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return undefined;
}
