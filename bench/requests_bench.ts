/**
 * The cost of a request of the client over the least that sends it: the same patch by `fetch` and `.json()`. First on a
 * transport that answers at once, in memory, which shows the time of the client alone; then over HTTP on loopback, by
 * the transport that `connect()` uses, where the server is in this process and costs the same in all rows.
 */
import { Client } from "../src/engine/client/client.ts";
import { httpTransport } from "../src/host/connect/transport.ts";
import { ConfigMap } from "../src/engine/kinds/core/v1.ts";

const answer = new TextEncoder().encode(JSON.stringify({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "settings", namespace: "shop", uid: crypto.randomUUID(), resourceVersion: "5" },
  data: { text: "x".repeat(1000) },
}));
const headers = { "content-type": "application/json", "content-length": String(answer.length) };
const body = { data: { text: "y" } };
const path = "/api/v1/namespaces/shop/configmaps/settings?pretty=false";

let server: Deno.HttpServer<Deno.NetAddr> | undefined;
for (
  const { name, transport, address } of [
    {
      name: "in memory",
      transport: { fetch: () => Promise.resolve(new Response(answer, { headers })) },
      address: () => "http://fake",
    },
    {
      name: "HTTP on loopback",
      transport: httpTransport(),
      address: () => {
        server ??= Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
          await request.text();
          return new Response(answer, { headers });
        });
        return `http://127.0.0.1:${server.addr.port}`;
      },
    },
  ]
) {
  const group = `requests / ${name}`;
  const types = { "content-type": "application/merge-patch+json", accept: "application/json" };
  const send = (request: Request): Promise<Response> =>
    name === "in memory" ? transport.fetch(request) : fetch(request);

  Deno.bench({
    name: "bare fetch and json()",
    group,
    baseline: true,
    fn: async () => {
      const init = { method: "PATCH", headers: types, body: JSON.stringify(body) };
      await (await send(new Request(`${address()}${path}`, init))).json();
    },
  });

  let client: Client | undefined;
  Deno.bench({
    name: "patch",
    group,
    fn: async () => {
      client ??= new Client({ server: address(), transport });
      await client.resource(ConfigMap, { namespace: "shop" }).patch("settings", { type: "merge", body });
    },
  });

  const { signal } = new AbortController();
  Deno.bench({
    name: "patch with a signal",
    group,
    fn: async () => {
      client ??= new Client({ server: address(), transport });
      await client.resource(ConfigMap, { namespace: "shop" }).patch("settings", { type: "merge", body }, { signal });
    },
  });
}
