import { assertEquals, assertStringIncludes } from "@std/assert";
import { answerPage } from "../../../src/cli/serve.ts";
import { informerProbes } from "../../../src/relay/server/informer_relay.ts";
import { LOCAL, Relayed, threePods } from "../../support/servers/relayed.ts";
import { answerOf, statusOf } from "./_sent.ts";

Deno.test("where redact may hide objects, no number tells how many there are", async () => {
  await using relayed = new Relayed({ redact: (it) => it.metadata.namespace === "mail" ? it : undefined }, {
    server: threePods(),
  });
  await using events = await relayed.events("/events/pods");
  assertEquals((await events.through("synced")).slice(0, 1), ["snapshot undefined"]);
  await using views = await relayed.events('/views?views={"a":{"of":"pods"}}');
  let { text, data } = await views.next();
  while (!text.startsWith("collection")) ({ text, data } = await views.next());
  assertEquals([data.name, data.objects], ["pods", undefined]);
  const metrics = await (await relayed.get("/metrics")).text();
  assertEquals([metrics.includes("informer_state"), metrics.includes("informer_objects")], [true, false]);
});

Deno.test("what is longer than its bound is refused before authorize is asked, by errors that are short", async () => {
  let asked = 0;
  await using relayed = new Relayed({ authorize: () => ++asked > 0 }, { server: threePods() });
  const ask = async (status: number, path: string, init?: RequestInit): Promise<void> => {
    const response = await relayed.relay.fetch(new Request(`http://localhost${path}`, init));
    const text = await response.text();
    assertEquals([response.status, text.length < 600], [status, true], `${path.slice(0, 60)}: ${text}`);
  };
  const a = (length: number): string => "a".repeat(length);
  await ask(414, `/api/${a(1_025)}`);
  await ask(414, `/kubernetes/api/v1/namespaces/${a(1_025)}/pods`);
  await ask(414, `/api/pods?fields=${a(4_096)}`);
  await ask(501, "/api/pods", { method: a(21) });
  for (const name of ["accept", "if-none-match"]) await ask(431, "/api/pods", { headers: { [name]: a(1_025) } });
  await ask(421, "/api/pods", { headers: { host: a(1_025) } });
  await ask(403, "/api/pods", { headers: { origin: a(1_025) } });
  assertEquals(asked, 0);
  const wrong: string[] = [];
  for (const query of ["fields=", "labelSelector=", "fieldSelector=", ""]) {
    for (const text of ['["' + a(3_900), a(3_900), "a.".repeat(1_900), "=".repeat(3_900)]) {
      wrong.push(`/api/pods?${query}${encodeURIComponent(text).slice(0, 4_000)}`);
    }
  }
  for (const view of [{ of: a(2_000) }, { [a(2_000)]: 1 }, { search: [a(2_000)] }, { sortBy: [`${a(2_000)}.`] }]) {
    wrong.push(`/views?views=${encodeURIComponent(JSON.stringify({ v: { of: "pods", ...view } }))}`);
  }
  const token = btoa(JSON.stringify({ v: a(2_000), rv: 1, start: "" }));
  const queries = ["resourceVersion", "limit", "resourceVersionMatch", a(101)].map((name) => `${name}=${a(101)}`);
  for (
    const query of [...queries, `labelSelector=${a(2_000)}`, `fieldSelector=${a(2_000)}`, `limit=1&continue=${token}`]
  ) {
    wrong.push(`/kubernetes/api/v1/pods?${query}`);
  }
  for (const path of wrong) await ask(400, path);
  assertEquals(asked, wrong.length); // the reason is for authorized clients
  await ask(404, `/kubernetes/api/v1/namespaces/shop/pods/${a(254)}`);
  await ask(405, "/kubernetes/api/v1/pods", { method: a(20) });
  // Long, but within the bounds.
  await using events = await relayed.events("/events/pods", a(5_000));
  assertStringIncludes((await events.through("synced"))[0], "reset");
  const path = `metadata.annotations[${JSON.stringify(`${a(253)}/${a(63)}`)}]`;
  assertEquals((await relayed.get(`/api/pods?fields=${encodeURIComponent(path)}`)).status, 200);
});

Deno.test("without authorize, clients on the same machine alone are answered", async () => {
  for (const hostname of ["127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1"]) {
    assertEquals(await statusOf({}, { info: { remoteAddr: { hostname } } }), 200, hostname);
  }
  for (const hostname of ["10.0.0.1", "::2", "127.0.0.1.example.com", "::ffff:10.0.0.1", ""]) {
    assertEquals(await statusOf({}, { info: { remoteAddr: { hostname } } }), 403, hostname);
  }
});

Deno.test("without authorize, a request whose connection is not known is refused", async () => {
  assertEquals(await statusOf({}, { info: undefined }), 403);
  assertEquals(await statusOf({}, { info: { remoteAddr: {} } }), 403);
});

Deno.test("without authorize, a request that a proxy has passed on is refused", async () => {
  for (
    const name of [
      ...["Forwarded", "Via", "CDN-Loop", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP"],
      ...["X-Original-Forwarded-For", "X-Original-Host", "X-Envoy-External-Address", "CF-Connecting-IP"],
      ...["True-Client-IP", "X-Client-IP", "Fly-Client-IP", "Fastly-Client-IP", "X-Cluster-Client-IP"],
    ]
  ) {
    assertEquals(await statusOf({}, { headers: { [name]: "127.0.0.1" } }), 403, name);
  }
  assertEquals(await statusOf({}, { headers: { "x-requested-with": "page", "x-client": "page" } }), 200);
});

Deno.test("a request to a foreign host is refused", async () => {
  for (const host of ["evil.example.com", "localhost.evil.com", "127.0.0.1.nip.io", "10.0.0.1", "LOCALHOST.", ""]) {
    assertEquals(await statusOf({}, { headers: { host } }), 421, host);
  }
  for (const host of ["localhost", "LOCALHOST:8080", "127.0.0.1:80", "[::1]:8080"]) {
    assertEquals(await statusOf({}, { headers: { host } }), 200, host);
  }
  assertEquals(await statusOf({ authorize: () => true }, { url: "http://evil.example.com/api/pods" }), 421);
});

Deno.test("a request whose host makes no address is refused by 400, and fetch does not reject", async () => {
  const errors: unknown[] = [];
  await using relayed = new Relayed({ onError: (error) => errors.push(error) });
  for (const host of ["127.0.0.1:80:80", "127.0.0.1%00"]) {
    // As Deno.serve makes it; the constructor of Request would throw.
    const request = Object.defineProperty(new Request("http://localhost"), "url", { value: `http://${host}/api/pods` });
    const { status } = await relayed.relay.fetch(request, LOCAL);
    assertEquals([status, errors], [400, []], host);
    assertEquals([answerPage(request), informerProbes(relayed.informers)(request).status], [undefined, 404], host);
  }
});

Deno.test("a link of another site opens the page at /, and no data, and nothing in a frame", async () => {
  const headers = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };
  assertEquals(await statusOf({}, { url: "http://localhost/", headers }), 404); // let through; this relay has no page
  for (const path of ["api", "api/pods", "events/pods", "views", "metrics", "healthz"]) {
    assertEquals(await statusOf({}, { url: `http://localhost/${path}`, headers }), 403, path);
  }
  for (const dest of ["iframe", "object", "embed", "empty"]) {
    const framed = { ...headers, "sec-fetch-dest": dest };
    assertEquals(await statusOf({}, { url: "http://localhost/", headers: framed }), 403, dest);
  }
  assertEquals(await statusOf({}, { headers: { ...headers, "sec-fetch-site": "same-origin" } }), 200);
});

Deno.test('a relay is the default export of a module that "deno serve" runs', async () => {
  await using relayed = new Relayed();
  const module = { fetch: relayed.relay.fetch } satisfies Deno.ServeDefaultExport;
  const socket = { remoteAddr: { transport: "unix", path: "/run/relay" } } as const;
  assertEquals((await module.fetch(new Request("http://localhost/api"), socket)).status, 403);
});

Deno.test("the names of hosts can be given, also of all below a domain", async () => {
  const hosts = ["dash.example.com", "*.Example.org"];
  for (const host of ["dash.example.com", "dash.example.com:8443", "a.example.org", "b.a.example.org"]) {
    assertEquals(await statusOf({ hosts }, { headers: { host } }), 200, host);
  }
  for (const host of ["localhost", "example.com", "example.org", ".example.org", "a.example.org.evil.com"]) {
    assertEquals(await statusOf({ hosts }, { headers: { host } }), 421, host);
  }
});

Deno.test("a cross-origin request is refused unless its origin is named", async () => {
  const headers = { origin: "https://dash.example.com" };
  assertEquals(await statusOf({}, { headers }), 403);
  assertEquals(await statusOf({}, { headers: { origin: "null" } }), 403);
  assertEquals(await statusOf({}, { headers: { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" } }), 403);
  assertEquals(await statusOf({}, { headers: { "sec-fetch-site": "same-origin" } }), 200);
  assertEquals(await statusOf({}, { headers: { origin: "http://localhost" } }), 200);
  const response = await answerOf({ origins: ["https://dash.example.com"] }, { headers });
  assertEquals(response.status, 200);
  assertEquals(response.headers.get("access-control-allow-origin"), "https://dash.example.com");
  assertEquals(response.headers.get("vary"), "origin");
});

Deno.test("answers vary by origin where origins are named, and name no other", async () => {
  const headersOf = async (origins?: string[]): Promise<(string | null)[]> => {
    const { headers } = await answerOf({ origins }, { headers: { origin: "http://localhost" } });
    return [headers.get("vary"), headers.get("access-control-allow-origin")];
  };
  assertEquals(await headersOf(), [null, null]);
  assertEquals(await headersOf(["https://dash.example.com"]), ["origin", null]);
});

Deno.test("a preflight is answered without authorization, for named origins alone", async () => {
  const options = { origins: ["https://dash.example.com"], authorize: () => false };
  const preflight = await answerOf(options, { method: "OPTIONS", headers: { origin: "https://dash.example.com" } });
  assertEquals([preflight.status, preflight.headers.get("access-control-allow-methods")], [204, "GET, HEAD, POST"]);
  assertEquals(await statusOf(options, { method: "OPTIONS", headers: { origin: "https://other.example.com" } }), 403);
});

Deno.test("a query of more than 4,096 characters is refused", async () => {
  assertEquals(await statusOf({}, { url: `http://localhost/api/pods?namespace=${"a".repeat(4_096)}` }), 414);
});

Deno.test("a relay answers the addresses of Deno.serve on loopback, and no others", async () => {
  await using relayed = new Relayed();
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, relayed.relay.fetch);
  const { port } = server.addr;
  const response = await fetch(`http://127.0.0.1:${port}/api/pods`);
  assertEquals([response.status, (await response.json()).items], [200, []]);
  const refused = await fetch(`http://127.0.0.1:${port}/api/pods`, { headers: { "x-forwarded-for": "10.0.0.1" } });
  assertEquals([refused.status, Object.keys(await refused.json())], [403, ["error"]]);
});

Deno.test("a server of a relay refuses headers of a megabyte, and continues", async () => {
  await using relayed = new Relayed();
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, relayed.relay.fetch);
  using connection = await Deno.connect({ hostname: "127.0.0.1", port: server.addr.port });
  const head = `GET /api/pods HTTP/1.1\r\nhost: localhost\r\nx-large: ${"x".repeat(1_000_000)}\r\n\r\n`;
  await connection.write(new TextEncoder().encode(head)).catch(() => 0);
  const buffer = new Uint8Array(1_000);
  const count = await connection.read(buffer).catch(() => 0) ?? 0;
  assertEquals(new TextDecoder().decode(buffer.subarray(0, count)).includes(" 200 "), false);
  assertEquals((await (await fetch(`http://127.0.0.1:${server.addr.port}/api/pods`)).json()).items, []);
});
