import { connect, type PeerCertificate as NodeCertificate } from "node:tls";

/** What a server's certificate says of itself. */
export interface PeerCertificate {
  /** Whose it is: the common name, or the first name it is valid for. */
  readonly subject: string;
  /** Who signed it. */
  readonly issuer: string;
  /** Which names and addresses it is valid for. */
  readonly names: readonly string[];
  /** Not before this, in milliseconds since 1970. */
  readonly fromMs: number;
  /** Not after this, in milliseconds since 1970. */
  readonly untilMs: number;
}

/** What a server shows to who asks without looking. */
export interface Peer {
  /** The certificates it sent, its own first. */
  readonly chain: readonly PeerCertificate[];
  /** What it takes for the time, in milliseconds since 1970; nothing when it does not say. */
  readonly dateMs?: number;
}

/** How many certificates of a chain are read. */
const MOST = 8;

/**
 * The certificates that a server shows, trusted or not.
 *
 * `fetch` says only whether a certificate is good; so this opens a connection of its own. Nothing is believed and nothing
 * that matters is sent: no credentials, one request for what everybody may know, for the sake of its `Date`.
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
  // One that wants a client certificate hangs up once it has shown its own.
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

/** The certificates from the server's own up to the last that was sent, each once. */
function chainOf(first: NodeCertificate): PeerCertificate[] {
  const found: PeerCertificate[] = [];
  const seen = new Set<unknown>();
  let certificate: (NodeCertificate & { readonly issuerCertificate?: NodeCertificate }) | undefined = first;
  while (certificate?.subject !== undefined && !seen.has(certificate) && found.length < MOST) {
    seen.add(certificate);
    const names = (certificate.subjectaltname ?? "").split(/, */).filter((name) => name !== "")
      .map((name) => name.replace(/^(?:DNS|IP Address):/, ""));
    found.push({
      subject: nameOf(certificate.subject) ?? names[0] ?? "nobody",
      issuer: nameOf(certificate.issuer) ?? "nobody",
      names,
      fromMs: Date.parse(certificate.valid_from),
      untilMs: Date.parse(certificate.valid_to),
    });
    certificate = certificate.issuerCertificate;
  }
  return found;
}

/** The common name, else the organisation; of several the first. */
function nameOf(name: NodeCertificate["subject"] | undefined): string | undefined {
  return [name?.CN, name?.O, name?.OU].flat().find((part) => part !== undefined && part !== "");
}

function isAddress(host: string): boolean {
  return host.includes(":") || /^[\d.]+$/.test(host);
}
