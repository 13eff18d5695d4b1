import { assert, assertEquals, assertFalse, assertRejects, assertStringIncludes } from "@std/assert";
import { StatusError, UnreachableError } from "../../../../src/engine/api/status.ts";
import { Client, type ClientOptions } from "../../../../src/engine/client/client.ts";
import { logRequests, type RequestReport } from "../../../../src/engine/client/http/connection.ts";
import { SharedInformerFactory } from "../../../../src/engine/informer/shared_informer_factory.ts";
import { ConfigMap, Secret } from "../../../../src/engine/kinds/core/v1.ts";
import { FakeApiServer } from "../../../../src/testing/mod.ts";
import { FakeTime } from "../../../support/times/fake_time.ts";
import {
  type Answer,
  collect,
  json,
  LiveBody,
  refusal,
  ScriptedTransport,
  text,
  watchOf,
} from "../../../support/servers/transport.ts";

/** A client by a script, and the lines of its requests. */
function logged(verbosity: 1 | 2, options: Partial<ClientOptions>, ...answers: Answer[]): [Client, string[]] {
  const lines: string[] = [];
  const onRequest = logRequests((line) => lines.push(line), { verbosity });
  const transport = new ScriptedTransport(...answers);
  return [new Client({ server: "https://kube.test", namespace: "shop", transport, onRequest, ...options }), lines];
}

Deno.test("logRequests writes a line for each request: method, URL, status, time and bytes", async () => {
  using time = new FakeTime();
  const slow = async (): Promise<Response> => {
    await new Promise((resolve) => setTimeout(resolve, 30));
    return json({ items: [], metadata: { resourceVersion: "1" } });
  };
  const [client, lines] = logged(1, {}, slow, refusal(404, "NotFound", "no such map"), new Response(null));
  const listing = client.resource(ConfigMap, { namespace: "shop" }).list({ limit: 5 });
  await time.tickAsync(30);
  await listing;
  await assertRejects(() => client.resource(ConfigMap, { namespace: "shop" }).delete("a"), StatusError);
  await (await client.fetch("/version")).text();
  assertEquals(lines, [
    "GET https://kube.test/api/v1/namespaces/shop/configmaps?pretty=false&limit=5 200 in 30 ms, 47 bytes",
    "DELETE https://kube.test/api/v1/namespaces/shop/configmaps/a?pretty=false 404 in 0 ms, 123 bytes",
    "GET https://kube.test/version 200 in 0 ms, 0 bytes",
  ]);
});

Deno.test("logRequests says why a request is sent again", async () => {
  using time = new FakeTime();
  const [client, lines] = logged(
    1,
    { credentials: { apply: () => {} } },
    new TypeError("error sending request: connection reset"),
    text(503, "later"),
    text(429, "later", { "retry-after": "2" }),
    text(401, "who?"),
    text(403, "no"),
  );
  const failed = assertRejects(() => client.fetch("/version"), StatusError);
  await time.tickAsync(5_000);
  await failed;
  const url = "GET https://kube.test/version";
  assertEquals(
    lines.map((line) => line.replace(/again in \d{3} ms/, "again in a moment")),
    [
      `${url} no answer in 0 ms, 0 bytes, Cannot reach "https://kube.test" to GET "/version": error sending request: ` +
      "connection reset, reset connection, again in a moment",
      `${url} 503 in 0 ms, 5 bytes, temporary failure, again in a moment`,
      `${url} 429 in 0 ms, 5 bytes, Retry-After, again in 2000 ms`,
      `${url} 401 in 0 ms, 4 bytes, credentials are refreshed`,
      `${url} 403 in 0 ms, 2 bytes`,
    ],
  );
});

Deno.test("logRequests has the failure of a request that gets no answer", async () => {
  const [client, lines] = logged(1, {}, new TypeError("no route to host"));
  await assertRejects(() => client.fetch("/version"), UnreachableError);
  assertEquals(lines.map((line) => line.replace(/\d+ ms/, "0 ms")), [
    'GET https://kube.test/version no answer in 0 ms, 0 bytes, Cannot reach "https://kube.test" to GET "/version": ' +
    "no route to host",
  ]);
});

Deno.test("logRequests writes a line when a watch begins, and one when it ends, is left or breaks off", async () => {
  const [aborted, live, left] = [new LiveBody(), new LiveBody(), new LiveBody()];
  const [client, lines] = logged(1, {}, watchOf(), aborted.answer, live.answer, left.answer);
  const maps = client.resource(ConfigMap, { namespace: "shop" });
  const shown = (): string[] => lines.splice(0).map((line) => line.replace(/^GET \S+ /, "").replace(/\d+ ms/, "0 ms"));
  await collect(maps.watch());
  assertEquals(shown(), ["200 after 0 ms, watching", "200 in 0 ms, 0 bytes"]);
  const controller = new AbortController();
  const written = async (count: number): Promise<void> => {
    while (lines.length < count) await new Promise((resolve) => setImmediate(resolve));
  };
  const watching = collect(maps.watch({ signal: controller.signal }));
  await written(1);
  controller.abort(new Error("enough"));
  await watching;
  await written(2);
  assertEquals(shown(), ["200 after 0 ms, watching", "200 in 0 ms, 0 bytes"]);
  const broken = assertRejects(() => collect(maps.watch()), UnreachableError);
  await written(1);
  live.push(" ");
  live.fail(new TypeError("connection reset"));
  await broken;
  assertEquals(shown(), ["200 after 0 ms, watching", "200 in 0 ms, 1 bytes, connection reset"]);
  const response = await client.fetch("/version");
  await response.body?.cancel();
  assertEquals(shown(), ["200 in 0 ms, 0 bytes"]);
  assertEquals(left.ended, "cancelled");
});

Deno.test("logRequests with verbosity 2 writes what is sent and answered with headers, without credentials", async () => {
  const [client, lines] = logged(
    2,
    { credentials: { apply: (headers) => headers.set("authorization", "Bearer hunter2") }, userAgent: "test" },
    new Response("{}", {
      headers: { "content-type": "application/json", "set-cookie": "id=hunter2", "x-request-id": "7" },
    }),
  );
  const path = "/api/v1/namespaces/shop/services/web/proxy/?access_token=hunter2&password=hunter2";
  await (await client.as({ user: "ada" }).fetch(path, { headers: { "x-api-key": "hunter2" } })).text();
  const url = "https://kube.test/api/v1/namespaces/shop/services/web/proxy/?access_token=[redacted]";
  assertEquals(lines.map((line) => line.replace(/\d+ ms/, "0 ms")), [
    `GET ${url} sent; accept-encoding: gzip; authorization: [redacted]; impersonate-user: ada; ` +
    "user-agent: test; x-api-key: [redacted]",
    `GET ${url} 200 after 0 ms; content-type: application/json; set-cookie: [redacted]; x-request-id: 7`,
    `GET ${url} 200 in 0 ms, 2 bytes`,
  ]);
});

Deno.test("logRequests writes nothing of an object, whatever is wrong with an answer", async () => {
  const planted = "hunter2";
  const invalid = refusal(422, "Invalid", `Secret "a" is invalid: data[x]: Invalid value: "${planted}"`);
  const [client, lines] = logged(
    2,
    {},
    invalid,
    text(200, `{"data":"${planted}`, { "content-type": "application/json" }),
  );
  const secrets = client.resource(Secret, { namespace: "shop" });
  await assertRejects(() => secrets.create({ metadata: { name: "a" }, stringData: { x: planted } }), StatusError);
  const error = await assertRejects(() => client.resource(ConfigMap, { namespace: "shop" }).get("a"), Error);
  assertStringIncludes(error.message, planted);
  assertStringIncludes(lines.at(-1)!, "DecodeError");
  for (const line of lines) assertFalse(line.includes(planted), line);
});

Deno.test("onRequest has each step of each request, and its errors change nothing else", async () => {
  const reports: RequestReport[] = [];
  const uncaught: unknown[] = [];
  const onError = (event: ErrorEvent): void => {
    event.preventDefault();
    uncaught.push(event.error);
  };
  addEventListener("error", onError);
  try {
    const server = new FakeApiServer();
    using client = new Client({
      server: "http://fake",
      transport: server,
      onRequest: (report) => {
        reports.push(report);
        if (reports.length === 1) throw new Error("Cannot log");
      },
    });
    await client.resource(ConfigMap, { namespace: "shop" }).create({ metadata: { name: "a" } });
  } finally {
    removeEventListener("error", onError);
  }
  assertEquals(
    reports.map(({ step, method, status }) => [step, method, status]),
    [["sent", "POST", undefined], ["answered", "POST", 201], ["ended", "POST", 201]],
  );
  assert(reports[2].bytes > 100 && reports[2].ms >= 0);
  assertEquals(uncaught.map(String), ["Error: Cannot log"]);
});

Deno.test("informers whose requests are logged get each event, and release what they read", async () => {
  const server = new FakeApiServer();
  for (let i = 0; i < 50; i++) server.create(ConfigMap, { metadata: { name: `m-${i}`, namespace: "shop" } });
  const lines: string[] = [];
  using client = new Client({
    server: "http://fake",
    transport: server,
    onRequest: logRequests((line) => lines.push(line)),
  });
  {
    await using informers = new SharedInformerFactory(client);
    const maps = informers.forResource(ConfigMap, { reflector: { backoff: { initialMs: 1, maxMs: 1 } } });
    informers.start();
    await informers.waitForCacheSync();
    server.dropWatches();
    server.create(ConfigMap, { metadata: { name: "late", namespace: "shop" } });
    await maps.until(({ metadata }) => metadata.name === "late");
    assertEquals(maps.lister.list().length, 51);
  }
  assertEquals(lines.filter((line) => line.includes("watching")).length, 2);
  // Each watch that began has ended.
  assertEquals(lines.filter((line) => / 200 in \d+ ms, \d+ bytes/.test(line) && line.includes("watch=true")).length, 2);
});

Deno.test("a client without onRequest passes the answers of its transport on", async () => {
  const answer = json({});
  const { body } = answer;
  using client = new Client({ server: "https://kube.test", transport: { fetch: () => Promise.resolve(answer) } });
  await client.discover({ onError: () => {} }).catch((error) => assert(!(error instanceof UnreachableError)));
  assert(body?.locked === false);
});
