/**
 * HTTP servers of Deno, and of Node and Bun.
 *
 * {@linkcode servePort} is the entry point: it has a handler of `fetch` answer the requests to a port, until that fails
 * or is shut down. `run_manager.ts` decides what follows a failure.
 *
 * @module
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Server as TlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { ReadableStream as NodeStream } from "node:stream/web";
import type { TlsMaterial } from "./connections.ts";
import { builtin, isDeno } from "./runtime.ts";

/**
 * Limits of HTTPS servers, in milliseconds. API servers keep a connection idle for 90 s, so a server that closed it
 * before could break a request that has just been sent.
 */
const LIMITS = { keepAliveTimeout: 120_000, headersTimeout: 10_000, requestTimeout: 60_000, handshakeTimeout: 10_000 };

/** The certificate of a server with its chain, and its key, as PEM texts. */
export type ServerKeys = Required<Pick<TlsMaterial, "cert" | "key">>;

/** The connection of a request. */
export interface RequestConnection {
  /** The address of the client. */
  readonly remoteAddr: { readonly transport: "tcp" | "udp"; readonly hostname: string; readonly port: number };
  /** Resolves when the response was sent; rejects when the connection ended before. */
  readonly completed: Promise<void>;
}

/** Answers a request. */
export type FetchHandler = (request: Request, connection: RequestConnection) => Response | Promise<Response>;

/** A port that is served. */
export interface PortServer {
  /** The port. */
  readonly port: number;
  /** Resolves when the server has shut down; rejects when it has failed. */
  readonly finished: Promise<void>;
  /** Accepts no more connections, and resolves when the requests that are being answered have been. */
  shutdown(): Promise<void>;
  /** Replaces the certificate for new connections; `undefined` if the server has none, or the runtime cannot. */
  readonly replaceKeys?: (keys: ServerKeys) => void;
}

/** The address to listen on. */
export interface ServeOptions {
  /** The port; 0 is a free one. */
  readonly port: number;
  /** The address of the interface. */
  readonly hostname: string;
  /** Serves HTTPS with this certificate, by `node:https` on Deno too. */
  readonly keys?: ServerKeys;
  /** Cuts all connections, and ends the server. */
  readonly signal: AbortSignal;
}

/**
 * Listens on a port, and resolves when it is open.
 *
 * @throws {Error} with the name `AddrInUse` or the code `EADDRINUSE` when the port is in use.
 * @throws {Error} named `NotCapable` when Deno may not listen there.
 */
export async function servePort(handler: FetchHandler, options: ServeOptions): Promise<PortServer> {
  if (!isDeno() || options.keys !== undefined) return await serveByNode(handler, options);
  const server = Deno.serve({ ...options, onListen: () => {} }, handler);
  return { port: server.addr.port, finished: server.finished, shutdown: () => server.shutdown() };
}

async function serveByNode(handler: FetchHandler, { port, hostname, signal, keys }: ServeOptions): Promise<PortServer> {
  const answers = new Set<Promise<void>>();
  const listener = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    if (!server.listening) outgoing.setHeader("connection", "close");
    const answering = answer(handler, incoming, outgoing, keys === undefined ? "http" : "https")
      .catch(() => void outgoing.destroy()) // a response that cannot be written: the handler's errors are caught before
      .finally(() => answers.delete(answering));
    answers.add(answering);
  };
  const server: Server & Partial<Pick<TlsServer, "setSecureContext">> = keys === undefined
    ? builtin("http").createServer(listener)
    : builtin("https").createServer({ ...LIMITS, ...keys }, listener);
  const { promise: finished, resolve, reject } = Promise.withResolvers<void>();
  finished.catch(() => {}); // a caller that waits for it receives the error
  server.on("close", resolve).on("error", reject);
  // The server does not close connections that have not finished their handshake.
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => void sockets.add(socket.on("close", () => sockets.delete(socket))));
  const cut = (): void => {
    server.close();
    server.closeAllConnections();
    for (const socket of sockets) socket.destroy();
  };
  signal.addEventListener("abort", cut);
  const listening = Promise.withResolvers<void>();
  server.listen(port, hostname, listening.resolve);
  await Promise.race([listening.promise, finished]);
  const shutdown = async (): Promise<void> => {
    server.close();
    await Promise.race([Promise.all(answers), finished]);
    cut(); // connections without a complete request
    await finished;
  };
  const replaceKeys = server.setSecureContext?.bind(server);
  return { port: (server.address() as AddressInfo).port, finished, shutdown, replaceKeys };
}

/** Has a handler answer a request of Node. */
async function answer(
  handler: FetchHandler,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  scheme: "http" | "https",
): Promise<void> {
  const gone = new AbortController();
  outgoing.on("close", () => gone.abort(new DOMException("The client has gone", "AbortError")));
  for (const side of [incoming, outgoing]) side.on("error", () => {}); // "close" follows
  const request = requestOf(incoming, gone.signal, scheme);
  if (request === undefined) return void outgoing.writeHead(400).end();
  const { remoteAddress: hostname = "", remotePort: port = 0 } = incoming.socket;
  const completed = new Promise<void>((resolve, reject) =>
    outgoing.on("close", () => outgoing.writableFinished ? resolve() : reject(gone.signal.reason))
  );
  completed.catch(() => {}); // a caller that waits for it receives the error
  const response = await handler(request, { remoteAddr: { transport: "tcp", hostname, port }, completed });
  outgoing.writeHead(response.status, response.statusText || undefined, [...response.headers].flat());
  outgoing.flushHeaders();
  if (response.body === null) {
    outgoing.end();
    return await completed.catch(() => {});
  }
  const reader = response.body.getReader();
  gone.signal.addEventListener("abort", () => void reader.cancel(gone.signal.reason).catch(() => {}));
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      if (!outgoing.write(part.value)) await drained(outgoing, gone.signal);
    }
    outgoing.end();
    await completed;
  } catch {
    outgoing.destroy(); // the body has broken off, which its client sees
  }
}

/** Resolves when the client has taken what was written, or has gone. */
function drained(outgoing: ServerResponse, gone: AbortSignal): Promise<void> {
  return new Promise((resolve) => gone.aborted ? resolve() : outgoing.once("drain", resolve).once("close", resolve));
}

/** Returns the request that has arrived; `undefined` if its host makes no address. */
function requestOf(incoming: IncomingMessage, signal: AbortSignal, scheme: string): Request | undefined {
  const { method = "GET", url: path = "/", rawHeaders } = incoming;
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2) headers.append(rawHeaders[at], rawHeaders[at + 1]);
  const url = URL.parse(path.startsWith("/") ? `${scheme}://${headers.get("host") ?? "localhost"}${path}` : path);
  if (url === null) return undefined;
  const hasBody = method !== "GET" && method !== "HEAD";
  const body = hasBody ? builtin("stream").Readable.toWeb(incoming) as NodeStream<Uint8Array> : undefined;
  const init = { method, headers, signal, body, duplex: "half" }; // Node requires it of a stream
  return new Request(url, init as unknown as RequestInit);
}
