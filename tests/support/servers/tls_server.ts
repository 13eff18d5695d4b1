import http from "node:http";
import https from "node:https";
import type { AddressInfo } from "node:net";
import type { TLSSocket } from "node:tls";
import type { Certificates } from "./certificates.ts";

/** A request that a test server received. */
export interface Seen {
  readonly path: string;
  /** Header lines as they came, names in lower case. */
  readonly lines: readonly (readonly [name: string, value: string])[];
  /** The common name of the client's certificate. */
  readonly clientName?: string;
  readonly httpVersion: string;
}

/** A server on loopback that answers every request with what it saw of it. */
export interface TestServer extends AsyncDisposable {
  readonly url: string;
  /** The number of connections that were opened. */
  readonly connections: number;
}

export interface TestServerOptions {
  /** Whose `server.crt` to use; plain HTTP without. */
  readonly certificates?: Certificates;
  /** Use `other-server.crt`. */
  readonly other?: boolean;
  /** Use `named-server.crt`. */
  readonly named?: boolean;
  /** Refuse clients without a certificate of `ca.crt`. */
  readonly requestCert?: boolean;
  /** Refuse requests whose `Authorization` is another. */
  readonly authorization?: () => string;
}

/** Serves until it is disposed. */
export async function serve(options: TestServerOptions = {}): Promise<TestServer> {
  const { certificates, other = false, named = false, requestCert = false, authorization } = options;
  const answer: http.RequestListener = (request, response) => {
    const lines: [string, string][] = [];
    for (let i = 0; i < request.rawHeaders.length; i += 2) {
      lines.push([request.rawHeaders[i].toLowerCase(), request.rawHeaders[i + 1]]);
    }
    const clientName = requestCert ? String((request.socket as TLSSocket).getPeerCertificate().subject?.CN) : undefined;
    // As in every server, the first line may have the whole URL.
    const seen: Seen = {
      path: request.url!.replace(/^http:\/\/[^/]+/, ""),
      lines,
      clientName,
      httpVersion: request.httpVersion,
    };
    const expected = authorization?.();
    response.statusCode = expected !== undefined && request.headers.authorization !== expected ? 401 : 200;
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(seen));
  };
  const name = other ? "other-server" : named ? "named-server" : "server";
  const server = certificates === undefined ? http.createServer(answer) : https.createServer({
    cert: certificates.text(`${name}.crt`),
    key: certificates.text(`${name}.key`),
    ...(requestCert && { ca: certificates.text("ca.crt"), requestCert, rejectUnauthorized: true }),
  }, answer);
  // Longer than any client keeps its own.
  server.keepAliveTimeout = 60_000;
  let connections = 0;
  server.on(certificates === undefined ? "connection" : "secureConnection", () => connections++);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${certificates === undefined ? "http" : "https"}://127.0.0.1:${port}`,
    get connections(): number {
      return connections;
    },
    async [Symbol.asyncDispose](): Promise<void> {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** The values of a header in what the server saw. */
export function values(seen: Seen, name: string): string[] {
  return seen.lines.filter(([line]) => line === name).map(([, value]) => value);
}
