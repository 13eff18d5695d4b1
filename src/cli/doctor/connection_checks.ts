/**
 * The checks of `informer doctor` for address, certificate and server.
 *
 * {@linkcode ServerAccess} is the connection that they share. Each check records its findings in a `Checkup`. Checks of
 * configuration, credentials and rights are in `access_checks.ts`. `doctor.ts` decides the order.
 *
 * @module
 */

import { abortable } from "@std/async/abortable";
import { connect as connectPlain } from "node:net";
import { connect, type PeerCertificate as NodeCertificate } from "node:tls";
import { urlToHttpOptions } from "node:url";
import { objectOr } from "../../engine/api/members.ts";
import { decoder } from "../../engine/api/object.ts";
import { timedController } from "../../engine/async/time.ts";
import { Client } from "../../engine/client/client.ts";
import { RequestReporter } from "../../engine/client/http/connection.ts";
import type { findConnection } from "../../host/connect/connect.ts";
import { isLoopback, proxyPort } from "../../host/connect/kubeconfig/resolve_context.ts";
import { environmentProxy } from "../../host/connect/runtime/connections.ts";
import { failureKind } from "../../host/connect/runtime/runtime.ts";
import { messageOf } from "../../engine/errors/errors.ts";
import { EXIT_CODE } from "../shared/usage.ts";
import { type Checkup, expiryOf, type Finding, reasonFor, saidBy, seconds, span, type Validity } from "./checkup.ts";

/** A connection that the configuration describes, and its origin. */
type CheckedConnection = Awaited<ReturnType<typeof findConnection>>;

/**
 * Sends requests to the server with the connection and credentials of the configuration. Disposing it aborts running
 * requests.
 */
export class ServerAccess implements Disposable {
  /** The connection and its origin. */
  readonly connection: CheckedConnection;
  /** A client on this connection, without retries. */
  readonly client: Client;
  /** The header of the last login; `undefined` before it, and if the credentials set none. */
  #authorization: string | undefined;

  /** No request is sent yet. */
  constructor(connection: CheckedConnection) {
    this.connection = connection;
    const { origin: _origin, ...options } = connection;
    this.client = new Client({ ...options, retries: 0 });
  }

  /** Returns the `Authorization` header; runs the plugin if there is one. */
  async login(signal: AbortSignal): Promise<string | undefined> {
    const headers = new Headers();
    await this.connection.credentials?.apply(headers, { refresh: false, signal });
    this.#authorization = headers.get("authorization") ?? undefined;
    return this.#authorization;
  }

  /**
   * Sends one request, without retries; an error status is a response, too. Sends credentials only after {@linkcode
   * ServerAccess.login}.
   */
  async ask(path: string, init: RequestInit & { readonly signal: AbortSignal }): Promise<Response> {
    const { server, transport, onRequest } = this.connection;
    const headers = new Headers(init.headers);
    if (this.#authorization !== undefined) headers.set("authorization", this.#authorization);
    const url = `${server.origin}${server.pathname.replace(/\/+$/, "")}${path}`;
    const request = new Request(url, { redirect: "manual", ...init, headers });
    const reporter = onRequest && new RequestReporter(onRequest);
    reporter?.sent(request);
    const response = await transport.fetch(request);
    if (reporter === undefined) return response;
    const text = await reporter.answered(response).text();
    reporter.ended();
    return new Response(text, response);
  }

  /** Aborts running requests. */
  [Symbol.dispose](): void {
    this.client[Symbol.dispose]();
  }
}

/** The server under check. */
export interface CheckedServer {
  /** A client of the library. */
  readonly client: Client;
  /** Sends one request; an error status is a response, too. */
  ask(path: string, init: RequestInit & { readonly signal: AbortSignal }): Promise<Response>;
}

/** Checks that the server, or its proxy, accepts connections. */
export async function checkAddress(checkup: Checkup, { connection }: ServerAccess): Promise<boolean> {
  const { server, origin } = connection;
  const shown = server.href.replace(/\/$/, "");
  const options = {
    code: EXIT_CODE.connection,
    late: "check the address, and whether a firewall drops the packets or a VPN is missing",
    advice: "check the address, and whether the server is running",
  };
  const proxy = origin.proxy === undefined ? undefined : URL.parse(origin.proxy);
  const environment = proxy || isLocalPlainHttp(connection) ? undefined : environmentProxy(server);
  return await checkup.check("address", options, async (signal) => {
    if (environment !== undefined) {
      const by = `through the proxy in ${environment}, unless NO_PROXY excludes the server`;
      return { status: "ok", what: `${shown}, ${by}` };
    }
    const startedAt = performance.now();
    const target = proxy ?? server;
    const by = proxy ? `, through proxy ${JSON.stringify(origin.proxy)}` : "";
    try {
      const found = await dial(target, signal);
      const ms = Math.round(performance.now() - startedAt);
      const is = proxy || found === hostOf(target) ? "" : ` is ${found}`;
      return { status: "ok", what: `${shown}${is}${by}, connected in ${ms} ms` };
    } catch (error) {
      signal.throwIfAborted();
      if (failureKind(error) === "no permission flag") {
        // The last flag is `--allow-net`.
        const remedy = `run Deno with ${origin.permissions.at(-1)}`;
        return { status: "fail", what: `${shown}${by}: this program may not reach it`, remedy };
      }
      const { what, remedy = options.advice } = reasonFor(error);
      return { status: "fail", what: `${shown}${by}: ${what}`, remedy };
    }
  });
}

/** Returns the host of a URL without the brackets of an IPv6 address. */
export function hostOf(url: URL): string {
  return urlToHttpOptions(url).hostname!;
}

/** Opens and closes a connection; returns the IP address of the host. @throws the error of the network. */
async function dial(url: URL, signal: AbortSignal): Promise<string> {
  const host = hostOf(url);
  const socket = connectPlain({ host, port: Number(proxyPort(url)), signal });
  try {
    await new Promise((resolve, reject) => socket.on("connect", resolve).on("error", reject));
    return socket.remoteAddress ?? host;
  } finally {
    socket.destroy();
  }
}

/** Returns `true` if requests are plain HTTP to this machine, which bypass the environment's proxy. */
function isLocalPlainHttp({ server, origin }: CheckedConnection): boolean {
  return server.protocol === "http:" && isLoopback(server.hostname) && origin.proxy === undefined;
}

/** The fields of a server's certificate. */
interface PeerCertificate extends Required<Validity> {
  /** Subject: the common name, or the first name that it is valid for. */
  readonly subject: string;
  readonly issuer: string;
  /** Names and addresses that it is valid for. */
  readonly names: readonly string[];
}

/** The certificates and clock of a server, not verified. */
interface Peer {
  /** The certificates it sent, its own first. */
  readonly chain: readonly PeerCertificate[];
  /** Its `Date`, in milliseconds since 1970; absent if it sends none. */
  readonly dateMs?: number;
}

/** Maximum number of certificates to read from a chain. */
const MOST = 8;

/**
 * Reads the certificates of a server, trusted or not.
 *
 * `fetch` reports only that a certificate is not valid, so this opens its own connection, without verification. It
 * sends no credentials, only one public request, to read the `Date` of the response.
 */
async function readPeer(server: URL, serverName: string | undefined, signal: AbortSignal): Promise<Peer> {
  signal.throwIfAborted();
  const host = hostOf(server);
  const servername = serverName ?? host;
  const { promise, resolve, reject } = Promise.withResolvers<Peer>();
  const socket = connect({
    host,
    port: Number(proxyPort(server)),
    rejectUnauthorized: false,
    ALPNProtocols: ["http/1.1"],
    // An address is no server name (RFC 6066 3).
    ...(/:|^[\d.]+$/.test(servername) ? {} : { servername }),
  });
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  let chain: readonly PeerCertificate[] = [];
  let head = "";
  socket.once("secureConnect", () => {
    chain = chainOf(socket.getPeerCertificate(true));
    socket.write(`HEAD /version HTTP/1.1\r\nHost: ${servername}\r\nConnection: close\r\n\r\n`);
  });
  socket.on("data", (bytes: Uint8Array) => {
    head += decoder.decode(bytes);
    if (!head.includes("\r\n\r\n") && head.length < 65_536) return;
    const dateMs = Date.parse(/^date: *(.+)\r$/im.exec(head)?.[1] ?? "");
    resolve({ chain, ...(!Number.isNaN(dateMs) && { dateMs }) });
  });
  // A server that requires a client certificate closes the connection after it has sent its own.
  const ended = (error?: Error): void => {
    if (chain.length > 0) resolve({ chain });
    else reject(error ?? new TypeError("the connection was closed before a certificate came"));
  };
  socket.on("error", ended);
  socket.on("end", () => ended());
  try {
    return await abortable(promise, signal);
  } finally {
    socket.destroy();
    await closed;
  }
}

/** Returns the chain from the server's own certificate on, each certificate once. */
function chainOf(first: NodeCertificate): PeerCertificate[] {
  const found: PeerCertificate[] = [];
  const seen = new Set<unknown>();
  let certificate: (NodeCertificate & { readonly issuerCertificate?: NodeCertificate }) | undefined = first;
  while (certificate?.subject !== undefined && !seen.has(certificate) && found.length < MOST) {
    seen.add(certificate);
    const names = (certificate.subjectaltname ?? "").split(/, */).filter((name) => name !== "")
      .map((name) => name.replace(/^(?:DNS|IP Address):/, ""));
    found.push({
      subject: subjectName(certificate.subject) ?? names[0] ?? "unknown",
      issuer: subjectName(certificate.issuer) ?? "unknown",
      names,
      fromMs: Date.parse(certificate.valid_from),
      untilMs: Date.parse(certificate.valid_to),
    });
    certificate = certificate.issuerCertificate;
  }
  return found;
}

/** Returns the common name, else the organization; the first if there are several. */
function subjectName(name: NodeCertificate["subject"] | undefined): string | undefined {
  return [name?.CN, name?.O, name?.OU].flat().find((part) => part !== undefined && part !== "");
}

/** Checks the TLS handshake, and the trust and expiry of the server's certificate. */
export async function checkCertificate(checkup: Checkup, access: ServerAccess): Promise<boolean> {
  const { connection } = access;
  const { server, origin } = connection;
  if (server.protocol !== "https:") {
    const remedy = `use an "https://" address`;
    const finding: Finding = isLocalPlainHttp(connection)
      ? { status: "skip", what: "plain HTTP, which does not leave this machine" }
      : { status: "warn", what: "plain HTTP: others can read and change all requests", remedy };
    checkup.note("certificate", finding);
    return true;
  }
  const options = {
    code: EXIT_CODE.connection,
    late:
      "the server accepts connections but does not respond: check that the port belongs to the API server, and whether the server hangs",
    advice: "check the server's certificate",
  };
  const { stepMs } = checkup.limits;
  const limitMs = stepMs * 4 / 3;
  return await checkup.check("certificate", { ...options, limitMs }, async (signal) => {
    const startedAt = performance.now();
    let failure: unknown;
    try {
      const response = await access.ask("/version", { signal, method: "GET" });
      await response.body?.cancel();
    } catch (error) {
      signal.throwIfAborted();
      failure = error;
      // Words of the runtimes: errors of TLS have no code.
      if (origin.proxy !== undefined || !/certificate/i.test(saidBy(error))) return unreachable(error, server);
    }
    const leftMs = limitMs - (performance.now() - startedAt);
    const peer = await peerOf(connection, Math.min(stepMs / 3, leftMs / 2), signal);
    return failure === undefined ? trusted(connection, peer) : untrusted(failure, peer);
  });
}

/** The finding for a failed handshake; a proxy of the environment may be the reason. */
function unreachable(error: unknown, server: URL): Finding {
  const { what, remedy = "check the server's certificate", code } = reasonFor(error);
  const proxy = environmentProxy(server);
  const advice = proxy === undefined ? remedy : `check the proxy in ${proxy}, or put the address into NO_PROXY`;
  return { status: "fail", what, remedy: advice, code };
}

/**
 * Reads the server's certificates over a second connection, within `limit` milliseconds. Returns the reason if they
 * cannot be read.
 */
async function peerOf(
  { server, origin }: CheckedConnection,
  limit: number,
  signal: AbortSignal,
): Promise<Peer | string> {
  if (origin.proxy !== undefined) return "not visible through a proxy";
  using controller = timedController(limit, `not shown within ${seconds(limit)}`, signal);
  try {
    return await readPeer(server, origin.tlsServerName, controller.signal);
  } catch (error) {
    signal.throwIfAborted();
    return messageOf(error);
  }
}

function trusted({ origin }: CheckedConnection, peer: Peer | string): Finding {
  const flag = origin.insecure ? "not checked" : "trusted";
  if (typeof peer === "string") return { status: "ok", what: `${flag}; the certificates themselves: ${peer}` };
  const [own] = peer.chain;
  if (own === undefined) return { status: "ok", what: flag };
  // The chain expires with the first of its certificates.
  const first = peer.chain.reduce((a, b) => b.untilMs < a.untilMs ? b : a);
  const { status, words } = expiryOf(first, Date.now(), false);
  const whose = first === own ? "" : `${JSON.stringify(first.subject)} `;
  const what = `${chainWords(peer.chain)}, ${flag}, ${whose}${words}`;
  return { status, what, remedy: "renew the server's certificate" };
}

function untrusted(failure: unknown, peer: Peer | string): Finding {
  const { what, remedy, code } = reasonFor(failure);
  if (typeof peer === "string" || peer.chain.length === 0) return { status: "fail", what, remedy, code };
  const now = Date.now();
  const ill = peer.chain.find((certificate) => expiryOf(certificate, now, true).status === "fail");
  const words = ill === undefined ? "" : `, ${expiryOf(ill, now, true).words}`;
  return {
    status: "fail",
    what: `${what}: ${chainWords(peer.chain)}${words}`,
    remedy: clockAdvice(peer, ill, now) ?? remedy ?? "renew the server's certificate",
    code,
  };
}

/** Returns a remedy if the certificate is valid by the server's clock: this machine's clock may be wrong. */
function clockAdvice(peer: Peer, ill: PeerCertificate | undefined, now: number): string | undefined {
  const { dateMs } = peer;
  if (ill === undefined || dateMs === undefined || expiryOf(ill, dateMs, true).status === "fail") return undefined;
  const apart = span(Math.abs(dateMs - now));
  return `correct this machine's clock: it is ${apart} ${now < dateMs ? "behind" : "ahead of"} the server's`;
}

function chainWords(chain: readonly PeerCertificate[]): string {
  const [own] = chain;
  const signers = chain.map(({ issuer }) => JSON.stringify(issuer));
  const unique = signers.filter((name, i) => signers.indexOf(name) === i);
  return `${JSON.stringify(own.subject)}, signed by ${unique.join(", by ")}`;
}

/** Maximum difference between the clocks, in milliseconds. */
const SKEW_MS = 5_000;

export const SLOW_SERVER_ADVICE =
  "tell the people who run the server: it is overloaded, or something on the way delays its responses";

/** Checks that an API server answers, and its version and clock. */
export async function checkServer(checkup: Checkup, server: CheckedServer): Promise<boolean> {
  let clock: Finding = { status: "skip", what: "the server does not say what time it is" };
  const options = {
    code: EXIT_CODE.connection,
    late: SLOW_SERVER_ADVICE,
    advice: "check the address, and whether the server is running",
  };
  const well = await checkup.check("server", options, async (signal) => {
    const beganAt = performance.now();
    const response = await server.ask("/version", { signal, headers: { accept: "application/json" } });
    const took = performance.now() - beganAt;
    clock = clockFinding(response.headers.get("date"), Date.now() - took / 2) ?? clock;
    return serverFinding(response, await response.text(), took);
  });
  if (well) checkup.note("clock", clock);
  return well;
}

function serverFinding({ status, headers }: Response, text: string, took: number): Finding {
  const isApiServer = `check that the address belongs to an API server, and not to a proxy or a login page`;
  if (status === 401 || status === 403) {
    return { status: "ok", what: `responds, but shows its version only to some users (${status})` };
  }
  if (status >= 300 && status < 400) {
    const to = JSON.stringify(headers.get("location") ?? "somewhere");
    return { status: "fail", what: `redirects to ${to}, which informers do not follow`, remedy: isApiServer };
  }
  const said = text.replace(/\s+/g, " ").trim().slice(0, 120);
  if (said.includes("HTTP request to an HTTPS server")) {
    const remedy = `write "https://" instead of "http://"`;
    return { status: "fail", what: "the server does not speak plain HTTP", remedy };
  }
  if (status >= 500) {
    const remedy = "look in the log of the server, or of the load balancer in front of it";
    return { status: "fail", what: `responds with ${status}: ${said}`, remedy };
  }
  const { gitVersion } = parseJsonObject(text);
  if (status === 200 && typeof gitVersion === "string") {
    return { status: "ok", what: `Kubernetes ${gitVersion}, answered in ${Math.round(took)} ms` };
  }
  const type = headers.get("content-type") ?? "no content type";
  const what = `the server that answers is not an API server: ${status} with ${type}`;
  return { status: "fail", what, remedy: isApiServer };
}

/** Parses a JSON object; returns an empty one for other texts, such as a proxy's page. */
export function parseJsonObject(text: string): Readonly<Record<string, unknown>> {
  try {
    return objectOr(JSON.parse(text));
  } catch {
    return {};
  }
}

/** Compares the clocks, by a `Date` header that the server sent at `hereMs`. */
function clockFinding(date: string | null, hereMs: number): Finding | undefined {
  const dateMs = Date.parse(date ?? "");
  if (Number.isNaN(dateMs)) return undefined;
  // `Date` is truncated to seconds: half a second on average.
  const ahead = dateMs + 500 - hereMs;
  const apart = Math.max(0, Math.abs(ahead) - 500);
  if (apart < SKEW_MS) {
    return { status: "ok", what: `equals the server's clock within ${seconds(Math.max(1_000, apart))}` };
  }
  const late = `${seconds(apart)} ${ahead > 0 ? "behind" : "ahead of"} the server's`;
  const what = `${late}: certificates, tokens and leases expire at the wrong time`;
  return { status: "warn", what, remedy: "set this machine's clock, or the server's clock, with NTP" };
}
