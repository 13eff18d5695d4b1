import { connect, type PeerCertificate as NodeCertificate } from "node:tls";

/** The fields of a server's certificate. */
export interface PeerCertificate {
  /** Subject: the common name, or the first name that it is valid for. */
  readonly subject: string;
  /** Issuer. */
  readonly issuer: string;
  /** Names and addresses that it is valid for. */
  readonly names: readonly string[];
  /** Not before this, in milliseconds since 1970. */
  readonly fromMs: number;
  /** Not after this, in milliseconds since 1970. */
  readonly untilMs: number;
}

/** The certificates and clock of a server, not verified. */
export interface Peer {
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
export async function readPeer(
  target: { readonly hostname: string; readonly port: number; readonly serverName?: string },
  signal: AbortSignal,
): Promise<Peer> {
  signal.throwIfAborted();
  const host = target.hostname.replace(/^\[(.*)\]$/, "$1");
  const servername = target.serverName ?? host;
  const { promise, resolve, reject } = Promise.withResolvers<Peer>();
  const socket = connect({
    host,
    port: target.port,
    rejectUnauthorized: false,
    ALPNProtocols: ["http/1.1"],
    // An address is no server name (RFC 6066 3).
    ...(isAddress(servername) ? {} : { servername }),
  });
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  const stop = (): void => reject(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  let chain: readonly PeerCertificate[] = [];
  let head = "";
  socket.once("secureConnect", () => {
    chain = chainOf(socket.getPeerCertificate(true));
    socket.write(`HEAD /version HTTP/1.1\r\nHost: ${servername}\r\nConnection: close\r\n\r\n`);
  });
  socket.on("data", (bytes: Uint8Array) => {
    head += new TextDecoder().decode(bytes);
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
    return await promise;
  } finally {
    signal.removeEventListener("abort", stop);
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
      subject: nameOf(certificate.subject) ?? names[0] ?? "unknown",
      issuer: nameOf(certificate.issuer) ?? "unknown",
      names,
      fromMs: Date.parse(certificate.valid_from),
      untilMs: Date.parse(certificate.valid_to),
    });
    certificate = certificate.issuerCertificate;
  }
  return found;
}

/** Returns the common name, else the organization; the first if there are several. */
function nameOf(name: NodeCertificate["subject"] | undefined): string | undefined {
  return [name?.CN, name?.O, name?.OU].flat().find((part) => part !== undefined && part !== "");
}

function isAddress(host: string): boolean {
  return host.includes(":") || /^[\d.]+$/.test(host);
}
