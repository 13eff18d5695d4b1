import https from "node:https";
import type { AddressInfo } from "node:net";
import type { TLSSocket } from "node:tls";
import { FakeApiServer, type FakeApiServerOptions } from "../../../src/testing/mod.ts";
import type { Certificates } from "../../support/servers/certificates.ts";

/** The identity of a client: its token, and the common name of its certificate, `""` without one. */
export interface Caller {
  readonly token: string;
  readonly name: string;
}

/** A fake API server over TLS, which knows people by token or certificate. */
export interface TlsApiServer extends AsyncDisposable {
  readonly url: string;
  readonly fake: FakeApiServer;
  /** The clients of all requests, in order. */
  readonly callers: readonly Caller[];
}

/** Serves until it is disposed. Clients for which `knows` returns `false` get 401. */
export async function serveApi(
  certificates: Certificates,
  knows: (caller: Caller) => boolean,
  options: FakeApiServerOptions = {},
): Promise<TlsApiServer> {
  const fake = new FakeApiServer(options);
  const callers: Caller[] = [];
  const answering = new Set<Promise<void>>();
  const server = https.createServer({
    cert: certificates.text("server.crt"),
    key: certificates.text("server.key"),
    ca: certificates.text("ca.crt"),
    requestCert: true,
    rejectUnauthorized: false,
  }, (incoming, outgoing) => {
    const answer = async (): Promise<void> => {
      const caller = {
        token: incoming.headers.authorization?.replace(/^Bearer /, "") ?? "",
        name: String((incoming.socket as TLSSocket).getPeerCertificate().subject?.CN ?? ""),
      };
      callers.push(caller);
      if (!knows(caller)) {
        const status = { apiVersion: "v1", kind: "Status", status: "Failure", code: 401, reason: "Unauthorized" };
        outgoing.writeHead(401, { "content-type": "application/json" });
        return void outgoing.end(JSON.stringify({ ...status, message: "Unauthorized" }));
      }
      const gone = new AbortController();
      outgoing.on("close", () => gone.abort());
      const headers = new Headers();
      for (const [name, value] of Object.entries(incoming.headers)) headers.set(name, String(value));
      try {
        const url = new URL(incoming.url!, "https://fake");
        const { method } = incoming;
        const chunks = method === "GET" ? undefined : await Array.fromAsync<Uint8Array<ArrayBuffer>>(incoming);
        const body = chunks && new Blob(chunks);
        const response = await fake.fetch(new Request(url, { method, headers, body, signal: gone.signal }));
        outgoing.writeHead(response.status, Object.fromEntries(response.headers));
        outgoing.flushHeaders();
        for await (const chunk of response.body ?? []) outgoing.write(chunk);
        outgoing.end();
      } catch (error) {
        if (!gone.signal.aborted) outgoing.destroy(error as Error);
      }
    };
    const done = answer().finally(() => answering.delete(done));
    answering.add(done);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fake,
    callers,
    async [Symbol.asyncDispose](): Promise<void> {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
      fake[Symbol.dispose]();
      await Promise.all(answering);
    },
  };
}
