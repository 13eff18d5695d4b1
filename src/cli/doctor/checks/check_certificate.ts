import type { FoundConnection } from "../../../deno/found_connection.ts";
import { environmentProxy } from "../../../deno/transport/environment_proxy.ts";
import type { ServerAccess } from "./server_access.ts";
import { type Peer, type PeerCertificate, readPeer } from "./peer.ts";
import { type Checkup, type Finding, seconds } from "../checkup/checkup.ts";
import { expiryOf, span } from "../checkup/expiry.ts";
import { reasonFor } from "../checkup/reason_for.ts";
import { EXIT_CODE } from "../../errors/exit_code.ts";
import { isLocalPlainHttp, portOf } from "./check_address.ts";

/** Checks the TLS handshake, and the trust and expiry of the server's certificate. */
export async function checkCertificate(checkup: Checkup, access: ServerAccess): Promise<boolean> {
  const { connection } = access;
  const { server, origin } = connection;
  if (server.protocol !== "https:") {
    checkup.note(
      "certificate",
      isLocalPlainHttp(connection) ? { status: "skip", what: "plain HTTP, which does not leave this machine" } : {
        status: "warn",
        what: "plain HTTP: others can read and change all requests",
        remedy: `use an "https://" address`,
      },
    );
    return true;
  }
  const options = {
    code: EXIT_CODE.connection,
    late:
      "the server accepts connections and does not answer: check whether the port is the API server's, and whether the server hangs",
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
      if (origin.proxy !== undefined || !/certificate/i.test(reasonFor(error).what)) return unreachable(error, server);
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
  const advice = proxy === undefined ? remedy : `check the proxy that ${proxy} names, or name the address in NO_PROXY`;
  return { status: "fail", what, remedy: advice, code };
}

/** Reads the server's certificates over a second connection; returns the reason if they cannot be read. */
async function peerOf(
  { server, origin }: FoundConnection,
  limitMs: number,
  signal: AbortSignal,
): Promise<Peer | string> {
  if (origin.proxy !== undefined) return "not seen by way of a proxy";
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new Error(`not shown within ${seconds(limitMs)}`)), limitMs);
  const stop = (): void => controller.abort(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  try {
    const target = {
      hostname: server.hostname,
      port: portOf(server),
      ...(origin.tlsServerName !== undefined && { serverName: origin.tlsServerName }),
    };
    return await readPeer(target, controller.signal);
  } catch (error) {
    signal.throwIfAborted();
    return error instanceof Error ? error.message : String(error);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  }
}

function trusted({ origin }: FoundConnection, peer: Peer | string): Finding {
  const flag = origin.insecure ? "not checked" : "trusted";
  if (typeof peer === "string") return { status: "ok", what: `${flag}; the certificates themselves: ${peer}` };
  const [own] = peer.chain;
  if (own === undefined) return { status: "ok", what: flag };
  // The chain expires with the first of its certificates.
  const first = peer.chain.reduce((a, b) => b.untilMs < a.untilMs ? b : a);
  const { status, words } = expiryOf(first, Date.now(), false);
  const whose = first === own ? "" : `${JSON.stringify(first.subject)} `;
  return {
    status,
    what: `${chainWords(peer.chain)}, ${flag}, ${whose}${words}`,
    remedy: "renew the server's certificate",
  };
}

function untrusted(failure: unknown, peer: Peer | string): Finding {
  const { what, remedy, code } = reasonFor(failure);
  if (typeof peer === "string" || peer.chain.length === 0) {
    return { status: "fail", what, ...(remedy !== undefined && { remedy }), code };
  }
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
  return `set this machine's clock: it is ${apart} ${now < dateMs ? "behind" : "ahead of"} the server's`;
}

function chainWords(chain: readonly PeerCertificate[]): string {
  const [own] = chain;
  const signers = chain.map(({ issuer }) => JSON.stringify(issuer));
  const unique = signers.filter((name, i) => signers.indexOf(name) === i);
  return `${JSON.stringify(own.subject)}, signed by ${unique.join(", by ")}`;
}
