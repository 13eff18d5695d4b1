/**
 * HTTP clients of Deno, with certificates and proxies.
 *
 * {@linkcode createHttpClient} is the entry point. Requests are sent by `transport.ts`.
 *
 * @module
 */
import { messageOf } from "../../errors/errors.ts";
import { certificateProblem, privateKeyProblem } from "../kubeconfig/certificates.ts";
import { type ProxyAddress, proxyHref, proxyName, proxyPort } from "../kubeconfig/resolve_context.ts";
import { mayReadEnv, permittedEnv } from "./host.ts";

/** The environment variables in which Deno looks for a proxy for this server, in its order. */
function variablesFor(server: URL): readonly string[] {
  const scheme = server.protocol === "https:" ? "https_proxy" : "http_proxy";
  return ["ALL_PROXY", "all_proxy", scheme.toUpperCase(), scheme];
}

/**
 * Returns the variable that names a proxy for this server, of those that the program may read. Never prompts for
 * permission.
 */
export function environmentProxy(server: URL): string | undefined {
  return variablesFor(server).find(permittedEnv);
}

/** Returns `true` if the environment names a proxy for this server, or the program may not read the variables. */
function mayHaveEnvironmentProxy(server: URL): boolean {
  return variablesFor(server).some((variable) => !mayReadEnv(variable) || Deno.env.get(variable));
}

/** CA certificates, client certificate and key of a connection, as PEM texts. */
export interface TlsMaterial {
  /**
   * The CA certificates to trust, in addition to the public ones of Deno: `Deno.createHttpClient` can add certificates,
   * and cannot replace the public ones. Start the process with an empty `DENO_TLS_CA_STORE` to trust only these.
   */
  readonly caCerts?: readonly string[];
  /** The client certificate with its chain; needs `key`. */
  readonly cert?: string;
  /** The private key of `cert`, not encrypted. */
  readonly key?: string;
}

/** Returns `true` if both have the same certificates and key. */
export function isSameMaterial(a: TlsMaterial, b: TlsMaterial): boolean {
  return a.cert === b.cert && a.key === b.key && JSON.stringify(a.caCerts) === JSON.stringify(b.caCerts);
}

/** Idle timeout of a connection, in milliseconds: shorter than that of load balancers and API servers. */
const IDLE_MS = 30_000;

/**
 * Creates an HTTP client of Deno. No connection is opened yet.
 *
 * @throws {TypeError} when a certificate or key is invalid.
 * @throws {Deno.errors.NotCapable} when the program may not reach the proxy, naming the flag.
 */
export function createHttpClient(
  { caCerts, cert, key }: TlsMaterial,
  options: Pick<Deno.CreateHttpClientOptions, "http2" | "allowHost">,
  proxy?: ProxyAddress,
): Deno.HttpClient {
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
      ...options,
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

/** Returns the problem that TLS has with certificates and key, such as a key of another one; `undefined` for none. */
export function tlsProblem(material: TlsMaterial): string | undefined {
  try {
    createHttpClient(material, {}).close();
  } catch (error) {
    return messageOf(error);
  }
  return undefined;
}
