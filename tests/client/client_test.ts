import { assert, assertEquals, assertRejects, assertStrictEquals, assertThrows } from "@std/assert";
import { StatusError } from "../../src/api/errors.ts";
import { defineResource } from "../../src/api/resource.ts";
import { Client } from "../../src/client/client.ts";
import { VERSION } from "../../src/client/version.ts";
import config from "../../deno.json" with { type: "json" };
import { json, LiveBody, pod, podList, refusal, ScriptedTransport, text, watchOf } from "../support/transport.ts";

const Pod = defineResource({ version: "v1", plural: "pods", kind: "Pod" });

Deno.test("Client refuses a server address that is not a URL of a server", () => {
  const cases: [string, string][] = [
    ["", "it is not a URL"],
    ["localhost", "it is not a URL"],
    ["localhost:8080", 'it begins with neither "http://" nor "https://"'],
    ["file:///tmp/x", "it begins with neither"],
    ["https://kube.test/?a=b", "a query or fragment"],
    ["https://kube.test/#x", "a query or fragment"],
  ];
  for (const [server, message] of cases) assertThrows(() => new Client({ server }), TypeError, message);
  assertThrows(() => new Client({ server: "https://kube.test", retries: -1 }), RangeError, "retries");
  assertThrows(() => new Client({ server: "https://kube.test", maxObjectBytes: 0.5 }), RangeError, "maxObjectBytes");
});

Deno.test("Client refuses credentials in the address, and does not show them in the error", () => {
  const servers = [
    "https://admin:hunter2@kube.test:6443/x",
    "https://hunter2@kube.test",
    "ftp://admin:hunter2@x",
    "hunter2@x",
  ];
  for (const server of servers) {
    const error = assertThrows(() => new Client({ server }), TypeError);
    assert(error.message.includes("[redacted]"), error.message);
    assertEquals(Deno.inspect(error).includes("hunter2"), false);
  }
});

Deno.test("Client.server is a copy of the address", () => {
  const client = new Client({ server: new URL("https://kube.test:6443/k8s/c-1"), transport: new ScriptedTransport() });
  client.server.hostname = "evil.test";
  assertEquals(client.server.href, "https://kube.test:6443/k8s/c-1");
  assertEquals(client.namespace, "");
});

Deno.test("Client sends a User-Agent, and asks for gzip by name", async () => {
  const sent = new ScriptedTransport(json(podList([])), json(podList([])), watchOf(), json({}));
  await new Client({ server: "https://kube.test", transport: sent }).resource(Pod).list();
  assertEquals(VERSION, config.version);
  assertEquals(sent.last.headers.get("user-agent"), `kube-informer/${VERSION}`);
  assertEquals(sent.last.headers.get("accept-encoding"), "gzip");
  const other = new Client({ server: "https://kube.test", transport: sent, userAgent: "tests/1", compress: false });
  await other.resource(Pod).list();
  assertEquals(sent.last.headers.get("user-agent"), "tests/1");
  assertEquals(sent.last.headers.get("accept-encoding"), "identity");
  await other.resource(Pod).watch().next();
  assertEquals(sent.last.headers.get("accept-encoding"), "identity");
  await (await other.fetch("/x", { headers: { "user-agent": "mine", "accept-encoding": "gzip" } })).text();
  assertEquals([sent.last.headers.get("user-agent"), sent.last.headers.get("accept-encoding")], ["mine", "gzip"]);
});

Deno.test("Client.fetch returns the server's response, with credentials, below the path of the server's address", async () => {
  const sent = new ScriptedTransport(
    text(200, "v1", { "x-kind": "version" }),
    new Response(null, { status: 204 }),
    json({}, 201),
  );
  const client = new Client({
    server: "https://kube.test/k8s",
    transport: sent,
    credentials: { apply: (headers): void => headers.set("authorization", "Bearer x") },
  });
  const response = await client.fetch("/version?timeout=32s");
  assertEquals(sent.last.url.href, "https://kube.test/k8s/version?timeout=32s");
  assertEquals(sent.last.headers.get("authorization"), "Bearer x");
  assertEquals([response.status, response.headers.get("x-kind"), await response.text()], [200, "version", "v1"]);
  assertEquals((await client.fetch("/empty")).body, null);
  const body = new URLSearchParams({ a: "b" });
  await (await client.fetch("/apis/x", { method: "POST", body, headers: { "content-type": "text/x" } })).text();
  assertEquals([sent.last.method, sent.last.body, sent.last.headers.get("content-type")], ["POST", "a=b", "text/x"]);
});

Deno.test("Client.fetch throws for a response that is not 2xx", async () => {
  const sent = new ScriptedTransport(refusal(403, "Forbidden", "no"), new Response(null, { status: 304 }));
  const client = new Client({ server: "https://kube.test", transport: sent });
  const error = await assertRejects(() => client.fetch("/metrics?secret=1", { method: "post" }), StatusError);
  assertEquals(error.message, 'Cannot POST "/metrics": 403 Forbidden: no');
  await assertRejects(() => client.fetch("/x"), StatusError, "304");
});

Deno.test("Client.fetch refuses paths that lead to another server or out of its path", async () => {
  const sent = new ScriptedTransport();
  const client = new Client({ server: "https://kube.test/k8s/c-1", transport: sent });
  for (const path of ["", "version", "https://evil.test/", "@evil.test/", ".evil.test/", "/../c-2/x", "/..", ":1/x"]) {
    await assertRejects(() => client.fetch(path), TypeError, "stay below the server's address");
  }
  assertEquals(sent.requests.length, 0);
});

Deno.test("Client.fetch streams the body, which ends with the signal, a cancel, or disposal", async () => {
  for (const way of ["abort", "cancel", "dispose"]) {
    const live = new LiveBody();
    const client = new Client({ server: "https://kube.test", transport: new ScriptedTransport(live.answer) });
    const controller = new AbortController();
    const response = await client.fetch("/logs", { signal: controller.signal });
    const reader = response.body!.getReader();
    live.push("one");
    assertEquals(new TextDecoder().decode((await reader.read()).value), "one");
    if (way === "cancel") {
      await reader.cancel();
      assertEquals(live.ended, "cancelled");
      continue;
    }
    const rest = reader.read().then(() => undefined, (error) => error);
    if (way === "abort") {
      controller.abort(way);
      assertStrictEquals(await rest, way);
    } else {
      client[Symbol.dispose]();
      assertEquals((await rest).message, "The client is disposed");
    }
    assertEquals(live.ended, "aborted");
  }
});

Deno.test("Client.resource uses the client's default namespace only to address single objects", async () => {
  const sent = new ScriptedTransport(json(podList([])), json(pod("a", "1")));
  const client = new Client({ server: "https://kube.test", transport: sent, namespace: "home" });
  await client.resource(Pod).list();
  assertEquals(sent.last.path, "/api/v1/pods");
  await client.resource(Pod).get("a");
  assertEquals(sent.last.path, "/api/v1/namespaces/home/pods/a");
});
