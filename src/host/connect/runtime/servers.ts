/**
 * HTTP servers of Deno, and of Node and Bun.
 *
 * {@linkcode servePort} is the entry point: it has a handler of `fetch` answer the requests to a port, until that fails
 * or is shut down. `run_manager.ts` decides what follows a failure.
 *
 * @module
 */
import { abortable } from "@std/async/abortable";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Server as HttpsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { Server as TlsServer } from "node:tls";
import { InformerError } from "../../../engine/errors/informer_error.ts";
import type { TlsMaterial } from "./connections.ts";
import { builtin, isDeno, nodeProcess } from "./runtime.ts";

/**
 * Limits of HTTPS servers, in milliseconds. API servers keep a connection idle for 90 s, so a server that closed it
 * before could break a request that has just been sent.
 */
const LIMITS = { keepAliveTimeout: 120_000, headersTimeout: 10_000, requestTimeout: 60_000, handshakeTimeout: 10_000 };

/**
 * How much more is read of a body after the response, so that its client sees the response: bytes, and milliseconds.
 * Then the client has `closeMs` to take it, before the connection is closed.
 */
const REST = { bytes: 1_024 * 1_024, ms: 5_000, closeMs: 1_000 };

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

class BrokenBodyError extends InformerError {
  override readonly name = "BrokenBodyError";
}

/** Returns `true` if a handler failed because the body of its request has broken off, by the errors of all runtimes. */
export function isBrokenBody(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof BrokenBodyError || isBrokenBody(error.cause)) return true;
  // Words of Deno.serve: it has no code.
  return error.name === "BadResource" && /^Cannot read (request )?body /.test(error.message);
}

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
  return serveByDeno(handler, options);
}

/** After a shutdown has begun, Deno cannot cut connections: an abort of its signal would end the process. */
function serveByDeno(handler: FetchHandler, { port, hostname, signal }: ServeOptions): PortServer {
  const running = new AbortController();
  const unanswered = (error: unknown): Response => {
    if (!signal.aborted) throw error;
    return new Response("Service Unavailable", { status: 503 });
  };
  const server = Deno.serve({ port, hostname, signal: running.signal, onListen: () => {} }, (request, connection) => {
    const answer = handler(request, connection);
    return answer instanceof Response ? answer : abortable(answer, signal).catch(unanswered);
  });
  let isEnding = false;
  const { promise: cut, resolve } = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => {
    if (!isEnding) return running.abort();
    setTimeout(resolve, REST.closeMs); // for the responses of what is cut off
    server.unref(); // a response that is being streamed keeps no process alive
  });
  const shutdown = async (): Promise<void> => {
    isEnding = true;
    await Promise.race([server.shutdown(), cut]);
  };
  return { port: server.addr.port, finished: Promise.race([server.finished, cut]), shutdown };
}

async function serveByNode(handler: FetchHandler, { port, hostname, signal, keys }: ServeOptions): Promise<PortServer> {
  const answers = new Set<Promise<void>>();
  const listener = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const handle: FetchHandler = async (request, connection) => {
      const response = await handler(request, connection);
      if (!server.listening) outgoing.setHeader("connection", "close");
      return response;
    };
    const answering = answer(handle, incoming, outgoing, keys === undefined ? "http" : "https")
      .catch(() => void outgoing.destroy()) // a response that cannot be written: the handler's errors are caught before
      .finally(() => answers.delete(answering));
    answers.add(answering);
  };
  const server = keys === undefined
    ? builtin("http").createServer(listener)
    : secureServer(keys, builtin("https").createServer({ ...LIMITS, ...keys }, listener), listener);
  const { promise: finished, resolve, reject } = Promise.withResolvers<void>();
  finished.catch(() => {}); // a caller that waits for it receives the error
  server.on("close", resolve).on("error", reject);
  // The server does not close connections that have not finished their handshake.
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => void sockets.add(socket.on("close", () => sockets.delete(socket))));
  const cut = (): void => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  signal.addEventListener("abort", cut);
  const listening = Promise.withResolvers<void>();
  server.listen(port, hostname, listening.resolve);
  await Promise.race([listening.promise, finished]);
  const answered = async (): Promise<void> => {
    while (answers.size > 0) await Promise.all(answers); // more arrive on open connections
  };
  const shutdown = async (): Promise<void> => {
    server.close();
    await Promise.race([answered(), finished]);
    cut(); // connections without a complete request
    await finished;
  };
  const replaceKeys = "setSecureContext" in server ? server.setSecureContext.bind(server) : undefined;
  return { port: (server.address() as AddressInfo).port, finished, shutdown, replaceKeys };
}

/**
 * Returns an HTTPS server whose certificate can be replaced. Bun's cannot, but its TLS server can, which hands its
 * connections to an HTTP server.
 */
function secureServer(keys: ServerKeys, server: HttpsServer, listener: RequestListener): HttpsServer | TlsServer {
  if (server.setSecureContext !== undefined || nodeProcess().versions.bun === undefined) return server;
  const http = builtin("http").createServer(LIMITS, listener);
  const { handshakeTimeout } = LIMITS;
  const options = { ...keys, handshakeTimeout, ALPNProtocols: ["http/1.1"] };
  return builtin("tls").createServer(options, (socket) => void http.emit("connection", socket));
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
  const parts = incoming.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Uint8Array>;
  const request = requestOf(incoming, parts, gone.signal, scheme);
  if (request === undefined) return end(incoming, parts, outgoing.writeHead(400));
  const { remoteAddress: hostname = "", remotePort: port = 0 } = incoming.socket;
  const completed = new Promise<void>((resolve, reject) =>
    outgoing.on("close", () => outgoing.writableFinished ? resolve() : reject(gone.signal.reason))
  );
  completed.catch(() => {}); // a caller that waits for it receives the error
  const response = await handler(request, { remoteAddr: { transport: "tcp", hostname, port }, completed });
  outgoing.writeHead(response.status, response.statusText || undefined, [...response.headers].flat());
  outgoing.flushHeaders();
  if (response.body === null) {
    end(incoming, parts, outgoing);
    return await completed.catch(() => {});
  }
  const reader = response.body.getReader();
  gone.signal.addEventListener("abort", () => void reader.cancel(gone.signal.reason).catch(() => {}));
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      if (!outgoing.write(part.value)) await drained(outgoing, gone.signal);
    }
    end(incoming, parts, outgoing);
    await completed;
  } catch {
    outgoing.destroy(); // the body has broken off, which its client sees
  }
}

/** Resolves when the client has taken what was written, or has gone. */
function drained(outgoing: ServerResponse, gone: AbortSignal): Promise<void> {
  return new Promise((resolve) => gone.aborted ? resolve() : outgoing.once("drain", resolve).once("close", resolve));
}

/** Ends a response. The rest of the request is read within bounds, then the connection closes. */
function end(incoming: IncomingMessage, parts: AsyncIterableIterator<Uint8Array>, outgoing: ServerResponse): void {
  if (!incoming.complete || incoming.readableLength > 0) void readRest(incoming.socket, parts);
  outgoing.end();
}

async function readRest(socket: Socket, parts: AsyncIterableIterator<Uint8Array>): Promise<void> {
  const close = (): void => void socket.destroy();
  let late = setTimeout(close, REST.ms);
  socket.once("close", () => clearTimeout(late));
  try {
    let bytes = 0;
    for await (const part of parts) {
      if ((bytes += part.length) <= REST.bytes) continue;
      clearTimeout(late);
      late = setTimeout(close, REST.closeMs);
      if (!isDeno() && nodeProcess().versions.bun === undefined) return;
      bytes = -Infinity; // Deno and Bun read from TLS sockets in any case, and keep what nobody takes: it is dropped
    }
    clearTimeout(late);
  } catch {
    close(); // the body has broken off
  }
}

/** Returns the request that has arrived; `undefined` if its host makes no address. */
function requestOf(
  incoming: IncomingMessage,
  parts: AsyncIterator<Uint8Array>,
  signal: AbortSignal,
  scheme: string,
): Request | undefined {
  const { method = "GET", url: path = "/", rawHeaders } = incoming;
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2) headers.append(rawHeaders[at], rawHeaders[at + 1]);
  const url = URL.parse(path.startsWith("/") ? `${scheme}://${headers.get("host") ?? "localhost"}${path}` : path);
  if (url === null) return undefined;
  const hasBody = headers.has("transfer-encoding") || Number(headers.get("content-length")) !== 0;
  const body = hasBody && method !== "GET" && method !== "HEAD" ? bodyOf(parts) : undefined;
  const init = { method, headers, signal, body, duplex: "half" }; // Node requires it of a stream
  return new Request(url, init as unknown as RequestInit);
}

/**
 * Returns a body that is read as it is asked for. The runtimes' own adapters throw where nobody catches it, when bytes
 * arrive after a cancellation.
 */
function bodyOf(parts: AsyncIterator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller): Promise<void> {
      const { done, value } = await parts.next().catch((cause) => {
        throw new BrokenBodyError("Cannot read the request's body: the client has ended it", { cause });
      });
      if (done) controller.close();
      else controller.enqueue(new Uint8Array(value.buffer, value.byteOffset, value.length));
    },
  }, { highWaterMark: 0 });
}
