import { assertEquals, assertRejects } from "@std/assert";
import { Client } from "../../src/client/client.ts";
import { ConfigMap } from "../../src/kinds/core/v1.ts";
import { observeTransport } from "../../src/otel/observe_transport.ts";
import { FakeApiServer } from "../../src/testing/fake_api_server.ts";
import { Recorder } from "./_recorder.ts";

Deno.test("observeTransport records requests by method and status as the semantic conventions say, and disposes what it wraps", async () => {
  using recorder = new Recorder();
  const server = new FakeApiServer();
  let disposed = 0;
  const transport = { fetch: server.fetch.bind(server), [Symbol.dispose]: () => void disposed++ };
  {
    using client = new Client({
      server: "https://cluster:6443",
      transport: observeTransport(transport),
      retries: 0,
    });
    const maps = client.resource(ConfigMap, { namespace: "shop" });
    await maps.list();
    await assertRejects(() => maps.get("none"));
    server.breakNext();
    await assertRejects(() => maps.list());
  }
  const shared = {
    "http.request.method": "GET",
    "server.address": "cluster",
    "server.port": 6443,
    "url.scheme": "https",
  };
  assertEquals(await recorder.metric("http.client.request.duration"), {
    unit: "s",
    values: [
      [{ ...shared, "http.response.status_code": 200 }, 1],
      [{ ...shared, "http.response.status_code": 404, "error.type": "404" }, 1],
      [{ ...shared, "error.type": "BrokenConnection" }, 1],
    ],
  });
  assertEquals(disposed, 1);
});
