/**
 * HTTP connections of Node and Bun, with certificates and proxies; on Deno, those to servers with another name.
 *
 * {@linkcode NodeConnections} is the entry point: `fetch` over `node:https`, because Node's `fetch` takes no
 * certificates, and Deno's `fetch` takes no server name. It speaks HTTP/1.1 and follows no redirects. `transport.ts`
 * decides when certificates are read again.
 *
 * @module
 */
import type { ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import type { Agent, AgentOptions } from "node:https";
import type { Socket } from "node:net";
import type { Readable } from "node:stream";
import type { ConnectionOptions } from "node:tls";
import { linesOf, utf8AsLatin1 } from "../../../engine/api/impersonation.ts";
import { messageOf } from "../../../engine/errors/errors.ts";
import {
  isLoopback,
  parseProxy,
  type ProxyAddress,
  proxyName,
  proxyPort,
  withoutBrackets,
} from "../kubeconfig/resolve_context.ts";
import { type Connections, type ConnectionsOptions, environmentProxy } from "./connections.ts";
import { netDenial, netFlag, permittedEnv } from "./permissions.ts";
import { builtin, isDeno } from "./runtime.ts";

/** Idle timeout of a connection, in milliseconds: shorter than that of load balancers and API servers. */
const IDLE_MS = 30_000;

const CERTIFICATE = /-----BEGIN [A-Z0-9 ]*CERTIFICATE-----[^-]*-----END [A-Z0-9 ]*CERTIFICATE-----/g;

/** Statuses of responses without a body. */
const EMPTY: readonly number[] = [204, 205, 304];

/** The longest time until a proxy answers, in milliseconds. */
const TUNNEL_MS = 30_000;

/** The number of bytes that a response holds for a reader that is slower than the server. */
const HELD_BYTES = 65_536;

/** Connections of Node. None is opened before the first request. */
export class NodeConnections implements Connections {
  readonly #agents: { readonly "http:": Agent; readonly "https:": Agent };
  readonly #proxy: ProxyAddress | undefined;

  /** @throws {TypeError} when TLS refuses the certificates or the key, or the proxy is none that Node can use. */
  constructor({ caCerts, cert, key, proxy, serverName, insecure }: ConnectionsOptions) {
    if (proxy !== undefined) refuseSocks(proxy);
    const { checkServerIdentity, createSecureContext } = builtin("tls");
    // Deno asks for a permission to read its own authorities, unless their place is null.
    const ca = caCerts ? [...caCerts] : isDeno() ? null! : undefined;
    const material = { ca, cert, key };
    const { X509Certificate } = builtin("crypto");
    try {
      createSecureContext(material);
      // TLS ignores what it cannot read of them.
      for (const block of caCerts?.join("\n").match(CERTIFICATE) ?? []) new X509Certificate(block);
    } catch (cause) {
      throw new TypeError(`Cannot set up TLS with the certificates given: ${messageOf(cause)}`);
    }
    this.#proxy = proxy;
    const common: AgentOptions = { keepAlive: true, timeout: IDLE_MS };
    const name = serverName === undefined ? undefined : withoutBrackets(serverName);
    const secure = new (builtin("https").Agent)({
      ...common,
      ...material,
      rejectUnauthorized: !insecure,
      ...(name !== undefined && {
        servername: builtin("net").isIP(name) === 0 ? name : "", // TLS has no names that are addresses
        checkServerIdentity: (_host, certificate) => checkServerIdentity(name, certificate),
      }),
    });
    this.#agents = { "http:": new (builtin("http").Agent)(common) as Agent, "https:": secure };
    tunnelled(secure, (host) => this.#proxyFor(new URL(`https://${host}`)), { ca: material.ca });
  }

  /** Sends a request. One that was sent on a connection that has just closed is sent again, if it only reads. */
  async fetch(request: Request, signal: AbortSignal): Promise<Response> {
    const body = request.body === null ? undefined : new Uint8Array(await request.arrayBuffer());
    for (;;) {
      const exchange = new Exchange(this.#requestFor(request, body), signal, body);
      try {
        return await exchange.response;
      } catch (error) {
        signal.throwIfAborted();
        if (exchange.wasClosed && (request.method === "GET" || request.method === "HEAD")) continue;
        const { name, code } = error as { readonly name?: string; readonly code?: string };
        // Deno reports a name that it may not look up as EPERM.
        if (isDeno() && (name === "NotCapable" || code === "EPERM")) {
          const url = new URL(request.url);
          throw netDenial(netFlag(this.#proxyFor(url)?.url ?? url), error);
        }
        const reason = messageOf(error) || code;
        throw new TypeError(`error sending request: ${reason}`, { cause: error });
      }
    }
  }

  close(): void {
    for (const agent of Object.values(this.#agents)) {
      agent.maxFreeSockets = 0;
      for (const sockets of Object.values(agent.freeSockets)) for (const socket of [...sockets ?? []]) socket.destroy();
    }
  }

  #proxyFor(url: URL): ProxyAddress | undefined {
    return this.#proxy ?? namedProxy(url);
  }

  #requestFor(request: Request, body: Uint8Array | undefined): ClientRequest {
    const url = new URL(request.url);
    const secure = url.protocol === "https:";
    const options: RequestOptions = {
      agent: this.#agents[secure ? "https:" : "http:"],
      method: request.method,
      headers: headersOf(request, body),
      host: withoutBrackets(url.hostname),
      port: url.port || undefined,
      path: `${url.pathname}${url.search}`,
    };
    if (secure) return builtin("https").request(options);
    const proxy = this.#proxyFor(url);
    if (proxy === undefined) return builtin("http").request(options);
    // A request without TLS goes to the proxy as it is.
    const toProxy = {
      ...options,
      agent: this.#agents[proxy.url.protocol as "http:"],
      host: withoutBrackets(proxy.url.hostname),
      port: proxyPort(proxy.url),
      path: url.href,
      headers: { ...options.headers, host: url.host, ...loginOf(proxy) },
    };
    return builtin(proxy.url.protocol === "https:" ? "https" : "http").request(toProxy);
  }
}

/** One request, and its response. */
class Exchange {
  /** Resolves when the response begins. */
  readonly response: Promise<Response>;
  readonly #request: ClientRequest;
  readonly #signal: AbortSignal;
  readonly #settled = Promise.withResolvers<Response>();
  #incoming: IncomingMessage | undefined;
  #controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>> | undefined;
  /** `true` if the connection had been used before, and was closed before there was a response. */
  #wasClosed = false;

  constructor(request: ClientRequest, signal: AbortSignal, body: Uint8Array | undefined) {
    this.#request = request;
    this.#signal = signal;
    this.response = this.#settled.promise;
    request.on("error", (error: NodeJS.ErrnoException) => {
      this.#wasClosed = request.reusedSocket && (error.code === "ECONNRESET" || error.code === "EPIPE");
      this.#end(error);
    });
    request.on("response", (incoming) => this.#begin(incoming));
    signal.addEventListener("abort", this.#abort);
    if (signal.aborted) this.#abort();
    else request.end(body);
  }

  get wasClosed(): boolean {
    return this.#wasClosed;
  }

  readonly #abort = (): void => this.#end(this.#signal.reason);

  /** Ends both sides by an error, of which only the first counts. */
  #end(error: unknown): void {
    this.#release();
    this.#settled.reject(error);
    this.#controller?.error(error);
    this.#controller = undefined;
    this.#incoming?.destroy();
    this.#request.destroy();
  }

  #release(): void {
    this.#signal.removeEventListener("abort", this.#abort);
  }

  #begin(incoming: IncomingMessage): void {
    this.#incoming = incoming;
    const headers = new Headers();
    for (let at = 0; at < incoming.rawHeaders.length; at += 2) {
      headers.append(incoming.rawHeaders[at], incoming.rawHeaders[at + 1]);
    }
    const { statusCode: status = 0, statusMessage: statusText } = incoming;
    const hasBody = this.#request.method !== "HEAD" && !EMPTY.includes(status);
    let body: ReadableStream<Uint8Array<ArrayBuffer>> | null = null;
    if (!hasBody) {
      incoming.on("end", () => this.#release()).resume();
    } else if (headers.get("content-encoding")?.toLowerCase() === "gzip") {
      headers.delete("content-encoding");
      headers.delete("content-length");
      const unzipped = builtin("zlib").createGunzip();
      incoming.on("error", (error) => unzipped.destroy(error)).pipe(unzipped);
      body = this.#bodyOf(unzipped);
    } else {
      body = this.#bodyOf(incoming);
    }
    this.#settled.resolve(new Response(body, { status, statusText, headers }));
  }

  /** Returns what a stream of Node reads. It pauses while its reader is slower. */
  #bodyOf(source: Readable): ReadableStream<Uint8Array<ArrayBuffer>> {
    const fail = (cause: unknown): void =>
      this.#end(new TypeError(`error reading a body from connection: ${messageOf(cause)}`, { cause }));
    return new ReadableStream<Uint8Array<ArrayBuffer>>({
      start: (controller): void => {
        this.#controller = controller;
        source.on("data", (bytes: Uint8Array<ArrayBuffer>) => {
          this.#controller?.enqueue(bytes);
          if ((this.#controller?.desiredSize ?? 0) <= 0) source.pause();
        });
        source.on("end", () => {
          this.#release();
          this.#controller?.close();
          this.#controller = undefined;
        });
        source.on("error", fail);
        source.on("close", () => this.#controller && fail(new Error("the connection was closed")));
        source.pause();
      },
      pull: () => void source.resume(),
      cancel: (reason) => {
        this.#controller = undefined;
        // A response that has arrived leaves its connection to the next request.
        if (!this.#incoming?.complete) return this.#end(reason);
        this.#release();
        return new Promise((resolve) => source.on("close", resolve).resume());
      },
    }, { highWaterMark: HELD_BYTES, size: ({ byteLength }) => byteLength });
  }
}

/** Returns the headers of a request. Lines of one name that a transport or an impersonation has added stay apart. */
function headersOf(request: Request, body: Uint8Array | undefined): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = Object.fromEntries(request.headers);
  if (body !== undefined) headers["content-length"] = String(body.length);
  const lines = Map.groupBy(linesOf(request), ([name]) => name.toLowerCase());
  for (const [name, values] of lines) headers[name] = values.map(([, value]) => value);
  return headers;
}

/** Has an agent open its connections through a proxy, where there is one for the host. */
function tunnelled(agent: Agent, proxyFor: (host: string) => ProxyAddress | undefined, tls: ConnectionOptions): void {
  const direct = agent.createConnection.bind(agent);
  const open = (options: ConnectionOptions, done: (error: Error | null, socket: Socket) => void): unknown => {
    const { host = "localhost", port = 443 } = options;
    const at = `${host.includes(":") ? `[${host}]` : host}:${port}`;
    const proxy = proxyFor(at);
    if (proxy === undefined) return direct(options, done as Parameters<Agent["createConnection"]>[1]);
    openTunnel(proxy, at, tls).then(
      (socket) => done(null, builtin("tls").connect({ ...options, socket })),
      (error) => done(error, undefined as never),
    );
  };
  agent.createConnection = open as Agent["createConnection"];
}

/** Asks a proxy for a connection to `at`. */
function openTunnel(proxy: ProxyAddress, at: string, tls: ConnectionOptions): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const request = builtin(proxy.url.protocol === "https:" ? "https" : "http").request({
    method: "CONNECT",
    host: withoutBrackets(proxy.url.hostname),
    port: proxyPort(proxy.url),
    path: at,
    headers: { host: at, ...loginOf(proxy) },
    agent: false,
    timeout: TUNNEL_MS,
    ...tls,
  });
  request.on("timeout", () => request.destroy(new Error(`no response from the proxy within ${TUNNEL_MS / 1_000} s`)));
  const refuse = ({ statusCode }: IncomingMessage): void => {
    request.destroy();
    reject(
      new TypeError(statusCode === 407 ? "proxy authentication required" : `the proxy responded with ${statusCode}`),
    );
  };
  request.on("connect", (answer, socket) => {
    (socket as Socket).setTimeout(0);
    if (answer.statusCode === 200) return resolve(socket as Socket);
    socket.destroy();
    refuse(answer);
  });
  request.on("response", refuse);
  request.on("error", reject);
  request.end();
  return promise;
}

function loginOf({ login }: ProxyAddress): Record<string, string> {
  if (login === undefined) return {};
  const basic = btoa(utf8AsLatin1(`${login.username}:${login.password.reveal()}`));
  return { "proxy-authorization": `Basic ${basic}` };
}

/**
 * Returns the proxy that the environment names for an address: none for this machine, and for hosts of `NO_PROXY`.
 *
 * @throws {TypeError} when the variable has no address of a proxy.
 */
function namedProxy(url: URL): ProxyAddress | undefined {
  const name = environmentProxy(url);
  const excluded = permittedEnv("NO_PROXY") ?? permittedEnv("no_proxy") ?? "";
  if (name === undefined || isLoopback(url.hostname) || isExcluded(url, excluded)) return undefined;
  const proxy = parseProxy(permittedEnv(name)!);
  if (typeof proxy === "string") throw new TypeError(`Cannot use ${name}: it ${proxy}`);
  refuseSocks(proxy);
  return proxy;
}

/** @throws {TypeError} when the proxy speaks SOCKS. */
function refuseSocks(proxy: ProxyAddress): void {
  if (!proxy.url.protocol.startsWith("socks")) return;
  throw new TypeError(
    `Cannot use proxy "${proxyName(proxy)}": ${isDeno() ? "tls-server-name" : "Node"} does not support SOCKS. ` +
      `Use a proxy with http or https`,
  );
}

/**
 * Returns `true` if a list such as `"example.com, .local, 10.0.0.1:6443, 10.0.0.0/8, *"` has the host of an address.
 */
function isExcluded({ hostname, host }: URL, list: string): boolean {
  return list.split(",").map((entry) => entry.trim().toLowerCase()).some((entry) => {
    if (entry === "*") return true;
    if (entry.includes("/")) return isInNetwork(withoutBrackets(hostname), entry);
    const domain = entry.replace(/^\*?\./, "");
    return domain !== "" && (hostname === domain || host === domain || hostname.endsWith(`.${domain}`));
  });
}

/** Returns `true` if an address is in a network such as `"10.0.0.0/8"`. */
function isInNetwork(address: string, network: string): boolean {
  const { BlockList, isIP } = builtin("net");
  const [base, prefix] = network.split("/");
  const family = isIP(base);
  if (family === 0 || isIP(address) !== family || !/^\d{1,3}$/.test(prefix)) return false;
  if (Number(prefix) > (family === 4 ? 32 : 128)) return false;
  const type = family === 4 ? "ipv4" : "ipv6";
  const networks = new BlockList();
  networks.addSubnet(base, Number(prefix), type);
  return networks.check(address, type);
}
