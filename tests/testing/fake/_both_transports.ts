import { FakeApiServer, type FakeApiServerOptions } from "../../../src/testing/mod.ts";
import { fiveMaps } from "../../support/servers/fake_server.ts";
import { onServeError } from "../../support/servers/serve.ts";

/** A way to a server: straight into it, or over a port. */
export interface Wire {
  readonly fetch: (request: Request) => Promise<Response>;
  /** `true` if requests pass a network. */
  readonly http: boolean;
  /** The port; 0 where there is none. */
  readonly port: number;
}

/** A test that is run twice, on a server with five config maps (versions 2 to 6): in this process, and over a port. */
export function onBoth(
  name: string,
  run: (server: FakeApiServer, wire: Wire) => Promise<void>,
  options: FakeApiServerOptions = {},
): void {
  Deno.test(`${name}, in this process`, async () => {
    using server = new FakeApiServer(options);
    fiveMaps(server);
    await run(server, { fetch: server.fetch, http: false, port: 0 });
  });
  Deno.test(`${name}, over a port`, async () => {
    using server = new FakeApiServer(options);
    fiveMaps(server);
    const listen = { hostname: "127.0.0.1", port: 0, onListen: () => {}, onError: onServeError };
    const http = Deno.serve(listen, server.fetch);
    const { port } = http.addr;
    try {
      await run(server, {
        fetch: (request) => fetch(new Request(request.url.replace("http://fake", `http://127.0.0.1:${port}`), request)),
        http: true,
        port,
      });
    } finally {
      server[Symbol.dispose]();
      await http.shutdown();
    }
  });
}
