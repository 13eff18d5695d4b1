import { assertEquals } from "@std/assert";
import { defaultsFor } from "../../../src/engine/informer/kind_defaults.ts";
import { ConfigMap, Node, Pod } from "../../../src/engine/kinds/core/v1.ts";
import type { RequestedData } from "../../../src/relay/server/options.ts";
import { FakeTime, pod } from "../../../src/testing/mod.ts";
import { Events, Relayed } from "../../support/servers/relayed.ts";
import { answerOf, statusOf } from "./_sent.ts";

const REMOTE = { remoteAddr: { hostname: "203.0.113.7" } };

Deno.test("authorize decides about requests from everywhere", async () => {
  const headers = { "x-forwarded-for": "203.0.113.7" };
  assertEquals(await statusOf({ authorize: () => true }, { info: REMOTE, headers }), 200);
  assertEquals(await statusOf({ authorize: () => Promise.resolve(false) }, { info: REMOTE }), 403);
  assertEquals(await statusOf({ authorize: () => true }, { info: undefined }), 200);
});

Deno.test("a response of authorize is sent as it is", async () => {
  const authorize = (): Response => Response.redirect("https://login.example.com/");
  const response = await answerOf({ authorize }, {});
  assertEquals([response.status, response.headers.get("location")], [302, "https://login.example.com/"]);
});

Deno.test("an error of authorize is answered by 500 without its message, and reported", async () => {
  const errors: unknown[] = [];
  const authorize = (): never => {
    throw new Error("the password is hunter2");
  };
  const response = await answerOf({ authorize, onError: (error) => errors.push(error) }, {});
  assertEquals([response.status, (await response.text()).includes("hunter2")], [500, false]);
  assertEquals(errors.length, 1);
});

Deno.test("authorize is asked before anything is answered", async () => {
  const authorize = (): boolean => false;
  assertEquals(await statusOf({ authorize }, { url: "http://localhost/api/unknown" }), 403);
  assertEquals(await statusOf({ authorize }, { url: "http://localhost/metrics" }), 403);
});

Deno.test("an authorization that is over is refused", async () => {
  assertEquals(await statusOf({ authorize: () => ({ expiresAt: new Date(0) }) }, {}), 401);
  assertEquals(await statusOf({ authorize: () => ({ expiresAt: new Date(NaN) }) }, {}), 401);
});

Deno.test("an open stream ends when its authorization is over, and the client is asked again", async () => {
  using time = new FakeTime();
  const asked: string[] = [];
  await using relayed = new Relayed({
    heartbeatMs: 30_000,
    authorize: (request) => {
      asked.push(request.headers.get("authorization") ?? "");
      return { expiresAt: new Date(Date.now() + 60_000) };
    },
  });
  relayed.server.create(Pod, pod({ name: "cart-0" }));
  await using events = await relayed.events("/events/pods");
  await time.tickAsync(0);
  await events.through("synced");
  await time.tickAsync(59_999);
  assertEquals(relayed.relay.status().connections, 1);
  await time.tickAsync(1);
  const texts = await events.through("closed");
  assertEquals(texts.slice(-2), ["end expired", "closed"]);
  assertEquals([relayed.relay.status().connections, asked.length], [0, 1]);
  const again = await relayed.events("/events/pods", events.lastEventId);
  assertEquals([(await again.next()).text, asked.length], ["state live", 2]);
  await again[Symbol.asyncDispose]();
});

Deno.test("authorize sees the collections and namespaces of each way to ask for objects", async () => {
  const asked: Omit<RequestedData, "parts" | "follows">[] = [];
  await using relayed = new Relayed({
    collections: { pods: Pod, maps: { resource: ConfigMap, namespaces: ["shop", "mail"] }, nodes: Node },
    authorize: (_request, requested) => {
      const { collections, namespaces } = requested;
      asked.push({ collections, namespaces });
      assertEquals(new Set(requested.parts.map(({ collection }) => collection)), new Set(collections));
      return !requested.collections.includes("maps");
    },
  });
  const statusOf = async (path: string, body?: string): Promise<number> => {
    const method = body === undefined ? "GET" : "POST";
    const request = new Request(`http://localhost${path}`, { method, body });
    const response = await relayed.relay.fetch(request, REMOTE);
    await response.body?.cancel();
    return response.status;
  };
  const views = (requests: object): string => `/views?views=${encodeURIComponent(JSON.stringify(requests))}`;
  const shop = { collections: ["pods"], namespaces: ["shop"] };
  const all = { collections: ["pods"], namespaces: "all" } as const;
  const maps = { collections: ["maps"], namespaces: ["shop", "mail"] };
  const nothing = { collections: [], namespaces: [] };
  const mixed = { a: { of: "pods", namespace: "bank" }, b: { of: "maps" }, c: { of: "pods", namespace: "shop" } };
  for (
    const [path, requested, status] of [
      ["/api/pods?namespace=shop", shop, 200],
      ["/api/pods", all, 200],
      ["/api/maps", maps, 403],
      ["/events/pods?namespace=shop", shop, 200],
      ["/events/nodes", { collections: ["nodes"], namespaces: "all" }, 200],
      ["/events/maps", maps, 403],
      [views({ a: { of: "pods", namespace: "shop" } }), shop, 200],
      [views({ a: { of: "maps" } }), maps, 403],
      [views(mixed), { collections: ["pods", "maps"], namespaces: ["bank", "shop", "mail"] }, 403],
      [views({ a: { of: "pods" }, b: { of: "pods", namespace: "shop" } }), all, 200],
      ...["/views", "/api", "/healthz", "/metrics"].map((path) => [path, nothing, 200] as const),
      ["/api/unknown", nothing, 404],
      ["/api/maps?namespace=a&namespace=b", nothing, 400],
    ] as const
  ) {
    assertEquals([await statusOf(path), asked.pop()], [status, requested], path);
  }
  const response = await relayed.relay.fetch(new Request("http://localhost/views"), REMOTE);
  await using events = new Events(response);
  const { data: { id } } = await events.next();
  for (const [of, status] of [["pods", 204], ["maps", 403]] as const) {
    assertEquals(await statusOf(`/views/${id}`, JSON.stringify({ a: { of, namespace: "shop" } })), status);
    assertEquals(asked.pop(), { collections: [of], namespaces: ["shop"] });
  }
});

Deno.test("authorize sees the namespaces that a factory sets for a kind", async () => {
  const asked: unknown[] = [];
  await using relayed = new Relayed({
    collections: { pods: Pod, maps: ConfigMap },
    authorize: (_request, { namespaces }) => asked.push(namespaces) > 0,
  }, { namespace: "shop", defaults: [defaultsFor(Pod, { namespaces: ["bank", "mail"] })] });
  for (const name of ["pods", "maps"]) {
    const response = await relayed.relay.fetch(new Request(`http://localhost/api/${name}`), REMOTE);
    await response.body?.cancel();
  }
  assertEquals(asked, [["bank", "mail"], ["shop"]]);
});

Deno.test("a request that replaces views may set another end of their stream", async () => {
  using time = new FakeTime();
  await using relayed = new Relayed({
    heartbeatMs: 30_000,
    authorize: ({ method }) => ({ expiresAt: new Date(Date.now() + (method === "POST" ? 5_000 : 20_000)) }),
  });
  await using events = await relayed.events("/views");
  const { data: { id } } = await events.next();
  const post = new Request(`http://localhost/views/${id}`, { method: "POST", body: "{}" });
  assertEquals((await relayed.relay.fetch(post, REMOTE)).status, 204);
  await time.tickAsync(4_999);
  assertEquals(relayed.relay.status().connections, 1);
  await time.tickAsync(1);
  assertEquals((await events.through("end")).at(-1), "end expired");
});
