/**
 * HTTP clients of Deno, with certificates that may change, and proxies.
 *
 * {@linkcode createHttpClient} and {@linkcode TlsFiles} are the entry points. {@linkcode TlsNameProxy} is a proxy on
 * loopback for `tls-server-name`, so that certificates are still verified. Requests are sent by `transport.ts`.
 *
 * @module
 */
import { encoder } from "../../api/object.ts";
import { messageOf } from "../../errors/errors.ts";
import { type ProxyAddress, proxyHref, proxyName, proxyPort } from "../kubeconfig/resolve_context.ts";
import { certificateProblem, privateKeyProblem, Secret, validityOf, validityProblem } from "../kubeconfig/text.ts";
import { type ExplainFileProblem, FileProblem, type Host, readCheckedFile } from "./host.ts";

/** The environment variables in which Deno looks for a proxy for this server, in its order. */
function variablesFor(server: URL): readonly string[] {
  const scheme = server.protocol === "https:" ? "https_proxy" : "http_proxy";
  return ["ALL_PROXY", "all_proxy", scheme.toUpperCase(), scheme];
}

function mayRead(variable: string): boolean {
  return Deno.permissions.querySync({ name: "env", variable }).state === "granted";
}

/**
 * Returns the variable that names a proxy for this server, of those that the program may read. Never prompts for
 * permission.
 */
export function environmentProxy(server: URL): string | undefined {
  return variablesFor(server).find((variable) => mayRead(variable) && Deno.env.get(variable));
}

/** Returns `true` if the environment names a proxy for this server, or the program may not read the variables. */
function mayHaveEnvironmentProxy(server: URL): boolean {
  return variablesFor(server).some((variable) => !mayRead(variable) || Deno.env.get(variable));
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

/** Returns the problem with a certificate and key as a pair; `undefined` if TLS accepts them. */
export function pairProblem(cert: string, key: string): string | undefined {
  try {
    createHttpClient({ cert, key }, {}).close();
  } catch (error) {
    return messageOf(error);
  }
  return undefined;
}

/** A PEM text, inline or in a file that may change. */
export interface PemSource {
  /** `true` if another read may return another text. */
  readonly isFile: boolean;
  /** Returns the validated text. The error names its source. */
  read(): Promise<string>;
  /** Adds the source to a problem with the text. */
  readonly explain: ExplainFileProblem;
}

/** A PEM file, read and validated with each call of `read`. */
export function filePemSource(
  path: string,
  host: Host,
  problemOf: (pem: string) => string | undefined,
  explain: ExplainFileProblem,
): PemSource {
  const read = async (): Promise<string> => {
    try {
      return await readCheckedFile(path, host, problemOf);
    } catch (error) {
      throw error instanceof FileProblem ? explain(error) : error;
    }
  };
  return { isFile: true, read, explain };
}

/** The sources of the CA certificates, the client certificate and its key. */
export type PemSources = Partial<Record<"ca" | "cert" | "key", PemSource>>;

/** The certificates and the key of a connection, inline or in files that may change. */
export class TlsFiles {
  readonly #sources: PemSources;
  readonly #onWarning: ((warning: string) => void) | undefined;
  /** The last problem with the validity of the certificate, which is reported once. */
  #warned: string | undefined;

  /** Nothing is read yet. `onWarning` is called for a certificate that is expired or not yet valid. */
  constructor(sources: PemSources, onWarning?: (warning: string) => void) {
    this.#sources = sources;
    this.#onWarning = onWarning;
  }

  /** Returns those of other sources, with the same reports. */
  of(sources: PemSources): TlsFiles {
    return new TlsFiles(sources, this.#onWarning);
  }

  /** `true` if another read may return another material. */
  get mayChange(): boolean {
    const { ca, cert, key } = this.#sources;
    return [ca, cert, key].some((source) => source?.isFile);
  }

  /** Returns the material as it is now. @throws {Error} when a file cannot be read. */
  async read(): Promise<TlsMaterial> {
    const { ca, cert, key } = this.#sources;
    const material = {
      ...(ca && { caCerts: [await ca.read()] }),
      ...(cert && { cert: await cert.read() }),
      ...(key && { key: await key.read() }),
    };
    const validity = material.cert === undefined ? undefined : validityOf(material.cert);
    const problem = validity && validityProblem(validity, Date.now());
    if (problem !== undefined && problem !== this.#warned) {
      this.warn(cert!.explain(new FileProblem(`the certificate ${problem}`)).message);
    }
    this.#warned = problem;
    return material;
  }

  /**
   * Rejects material that only the TLS stack finds invalid, such as a key of another certificate, with an error that
   * names the source.
   */
  check({ caCerts, cert, key }: TlsMaterial): void {
    tryTls({ caCerts }, this.#sources.ca);
    tryTls({ cert, key }, this.#sources.cert);
  }

  /** Reports a problem after which the last material stays in use. */
  warn(warning: string): void {
    this.#onWarning?.(warning);
  }
}

function tryTls(material: TlsMaterial, source: PemSource | undefined): void {
  if (source === undefined) return;
  try {
    createHttpClient(material, {}).close();
  } catch (cause) {
    throw source.explain(new FileProblem(messageOf(cause), { cause }));
  }
}

/** Maximum length of a CONNECT request, in bytes. */
const MAX_HEAD_BYTES = 8_192;

/** Time limit for a connection's CONNECT request, in milliseconds: Deno sends it at once. */
const HEAD_MS = 5_000;

/** Maximum number of connections without a tunnel; beyond it the oldest is closed. */
const MAX_WAITING = 64;

/** The address that a {@linkcode TlsNameProxy} connects to. */
interface ProxyTarget {
  /** Host name or IP address; IPv6 in brackets, as in URLs. */
  readonly hostname: string;
  /** TCP port. */
  readonly port: number;
}

/**
 * A CONNECT proxy on loopback that connects to one fixed address, whatever host is requested. Deno verifies a server's
 * certificate for the host of the URL; through this one that host may differ from the address, and verification stays
 * enabled.
 *
 * Other users of this machine cannot use it, because it requires a random password, which only {@linkcode
 * TlsNameProxy.address} holds. They cannot exhaust it either: connections without a CONNECT request in time are closed,
 * and so is the oldest of too many. It does not keep the process alive. Needs permission to listen on 127.0.0.1 and to
 * reach the target.
 */
export class TlsNameProxy implements Disposable {
  readonly #target: ProxyTarget;
  readonly #listener: Deno.TcpListener;
  readonly #password = crypto.randomUUID();
  readonly #ending = new AbortController();
  /** All open connections, to clients and to the target; each is closed when it leaves the set. */
  readonly #connections = new Set<Deno.Conn>();
  /** Connections that have not sent a CONNECT request yet, oldest first. */
  readonly #waiting = new Set<Deno.Conn>();
  /** Number of accepted CONNECT requests; never decreases. */
  #carried = 0;
  /** The last error, of reaching the target or of a connection; cleared by the next connection to the target. */
  #problem: unknown;

  /** Listens on a free port. @throws {Deno.errors.NotCapable} when the program may not. */
  constructor(target: ProxyTarget) {
    this.#target = target;
    this.#listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    this.#listener.unref();
    this.#accept();
  }

  /** Address and password of this proxy. */
  get address(): ProxyAddress {
    const url = new URL(`http://127.0.0.1:${this.#listener.addr.port}`);
    return { url, login: { username: "informer", password: new Secret(this.#password) } };
  }

  /** Number of CONNECT requests so far. */
  get carried(): number {
    return this.#carried;
  }

  /** Number of connections that have not sent a CONNECT request yet. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** The error of the last attempt to reach the target; `undefined` if it succeeded. */
  get problem(): unknown {
    return this.#problem;
  }

  /** `true` once it is disposed or can no longer accept connections. */
  get isEnded(): boolean {
    return this.#ending.signal.aborted;
  }

  /** Closes all connections. Idempotent. */
  [Symbol.dispose](): void {
    if (this.#ending.signal.aborted) return;
    this.#ending.abort();
    this.#listener.close();
    for (const connection of this.#connections) this.#close(connection);
  }

  async #accept(): Promise<void> {
    for (;;) {
      let inner: Deno.TcpConn;
      try {
        inner = await this.#listener.accept();
      } catch (error) {
        // For example, no file descriptors are left. The transport creates another proxy.
        if (!this.#ending.signal.aborted) this.#problem = error;
        return this[Symbol.dispose]();
      }
      inner.unref();
      this.#carry(inner).catch((error) => this.#problem = error).finally(() => this.#close(inner));
    }
  }

  async #carry(inner: Deno.Conn): Promise<void> {
    this.#connections.add(inner);
    const head = await this.#headOf(inner);
    if (head === undefined) return;
    const expected = `proxy-authorization: basic ${btoa(`informer:${this.#password}`)}`;
    const lines = head.text.split("\r\n");
    const isAllowed = lines.some((line) => line.replace(/^[^:]*: *\w+/, (name) => name.toLowerCase()) === expected);
    if (!lines[0].startsWith("CONNECT ") || !isAllowed) return await answer(inner, "403 Forbidden");
    this.#carried++;
    let outer: Deno.TcpConn;
    try {
      const { hostname, port } = this.#target;
      outer = await Deno.connect({
        hostname: hostname.replace(/^\[(.*)\]$/, "$1"),
        port,
        signal: this.#ending.signal,
      });
    } catch (error) {
      this.#problem = error;
      return await answer(inner, "502 Bad Gateway");
    }
    this.#problem = undefined;
    outer.unref();
    this.#connections.add(outer);
    try {
      outer.setNoDelay(true);
      await answer(inner, "200 OK");
      if (head.rest.length > 0) await writeAll(outer, head.rest);
      await Promise.all([this.#pump(inner, outer), this.#pump(outer, inner)]);
    } finally {
      this.#close(outer);
    }
  }

  /** Reads the CONNECT request; returns `undefined` if none arrives in time, or the connection ends before. */
  async #headOf(connection: Deno.Conn): Promise<Awaited<ReturnType<typeof readHead>>> {
    const [oldest] = this.#waiting;
    if (this.#waiting.size === MAX_WAITING) this.#close(oldest);
    this.#waiting.add(connection);
    const timer = setTimeout(() => this.#close(connection), HEAD_MS);
    Deno.unrefTimer(timer);
    try {
      return await readHead(connection);
    } catch (error) {
      if (error instanceof Deno.errors.BadResource || isBroken(error)) return undefined;
      throw error;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(connection);
    }
  }

  /** Copies until `from` ends; if one connection breaks, both are closed. */
  async #pump(from: Deno.Conn, to: Deno.Conn): Promise<void> {
    const buffer = new Uint8Array(65_536);
    try {
      for (;;) {
        const length = await from.read(buffer);
        if (length === null) break;
        await writeAll(to, buffer.subarray(0, length));
      }
      await to.closeWrite();
    } catch (error) {
      this.#close(from);
      this.#close(to);
      // The sender of the request has seen the same broken connection.
      if (!(error instanceof Deno.errors.BadResource) && !isBroken(error)) throw error;
    }
  }

  #close(connection: Deno.Conn): void {
    this.#waiting.delete(connection);
    if (this.#connections.delete(connection)) connection.close();
  }
}

function isBroken(error: unknown): boolean {
  const { ConnectionReset, BrokenPipe, ConnectionAborted, Interrupted, NotConnected, TimedOut } = Deno.errors;
  return [ConnectionReset, BrokenPipe, ConnectionAborted, Interrupted, NotConnected, TimedOut].some((kind) =>
    error instanceof kind
  );
}

async function answer(connection: Deno.Conn, status: string): Promise<void> {
  await writeAll(connection, encoder.encode(`HTTP/1.1 ${status}\r\n\r\n`));
}

async function writeAll(connection: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
}

/**
 * Reads the head of a CONNECT request and the bytes after it; returns `undefined` if the head is incomplete or too
 * long.
 */
async function readHead(connection: Deno.Conn): Promise<{ text: string; rest: Uint8Array } | undefined> {
  const bytes = new Uint8Array(MAX_HEAD_BYTES);
  for (let length = 0; length < bytes.length;) {
    const read = await connection.read(bytes.subarray(length));
    if (read === null) return undefined;
    length += read;
    const text = Array.from(bytes.subarray(0, length), (byte) => String.fromCharCode(byte)).join("");
    const end = text.indexOf("\r\n\r\n");
    if (end >= 0) return { text: text.slice(0, end), rest: bytes.slice(end + 4, length) };
  }
  return undefined;
}
