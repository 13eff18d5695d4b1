import { assert, assertEquals, assertRejects, assertStrictEquals, assertThrows } from "@std/assert";
import { defineResource } from "../../../src/engine/api/resource.ts";
import { StatusError } from "../../../src/engine/api/status.ts";
import { Client } from "../../../src/engine/client/client.ts";
import { VERSION } from "../../../src/engine/client/version.ts";
import { InformerError } from "../../../src/engine/errors/informer_error.ts";
import { installCrds } from "../../../src/operator/schema/install_crds.ts";
import { FakeApiServer } from "../../../src/testing/fake/fake_api_server.ts";
import { FakeTime } from "../../support/times/fake_time.ts";
import {
  json,
  LiveBody,
  pod,
  podList,
  refusal,
  ScriptedTransport,
  text,
  watchOf,
} from "../../support/servers/transport.ts";
import { definitionOf, Gadget, Widget } from "../../support/sources/widgets.ts";
import config from "../../../deno.json" with { type: "json" };

const ClientPod = defineResource({ version: "v1", plural: "pods", kind: "Pod" });

Deno.test("Client refuses a server address that is not a URL of a server", () => {
  const cases: [string, string][] = [
    ["", "it is not a URL"],
    ["localhost", "it is not a URL"],
    ["localhost:8080", 'it begins with neither "http://" nor "https://"'],
    ["file:///tmp/x", "it begins with neither"],
    ["https://kube.test/?a=b", "a query or a fragment"],
    ["https://kube.test/#x", "a query or a fragment"],
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
  await new Client({ server: "https://kube.test", transport: sent }).resource(ClientPod).list();
  assertEquals(VERSION, config.version);
  assertEquals(sent.last.headers.get("user-agent"), `kube-informer/${VERSION}`);
  assertEquals(sent.last.headers.get("accept-encoding"), "gzip");
  const other = new Client({ server: "https://kube.test", transport: sent, userAgent: "tests/1", compress: false });
  await other.resource(ClientPod).list();
  assertEquals(sent.last.headers.get("user-agent"), "tests/1");
  assertEquals(sent.last.headers.get("accept-encoding"), "identity");
  await other.resource(ClientPod).watch().next();
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
      assertEquals((await rest).message, "The client was disposed");
    }
    assertEquals(live.ended, "aborted");
  }
});

Deno.test("Client.resource uses the client's default namespace only to address single objects", async () => {
  const sent = new ScriptedTransport(json(podList([])), json(pod("a", "1")));
  const client = new Client({ server: "https://kube.test", transport: sent, namespace: "home" });
  await client.resource(ClientPod).list();
  assertEquals(sent.last.path, "/api/v1/pods");
  await client.resource(ClientPod).get("a");
  assertEquals(sent.last.path, "/api/v1/namespaces/home/pods/a");
});

const DEFINITION_PATH = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.acme.dev";

/** A fake server and its client, under fake time. */
class Installing implements Disposable {
  readonly time = new FakeTime();
  readonly server = new FakeApiServer();
  /** The conditions that the next looks after a write show, one set for each; then those of the server. */
  readonly conditions: object[][] = [];
  readonly client: Client = new Client({
    server: "http://fake",
    transport: { fetch: (request) => this.#respond(request) },
  });

  /** The number of requests of a path. */
  asked(path: string): number {
    return this.server.requests.filter((request) => request.path === path).length;
  }

  async #respond(request: Request): Promise<Response> {
    const isWritten = this.server.requests.some(({ verb }) => verb === "patch");
    const isLook = isWritten && request.method === "GET" && new URL(request.url).pathname === DEFINITION_PATH;
    const response = await this.server.fetch(request);
    const conditions = isLook ? this.conditions.shift() : undefined;
    return conditions === undefined ? response : Response.json({ ...await response.json(), status: { conditions } });
  }

  [Symbol.dispose](): void {
    assertEquals(this.time.timers, 0);
    this.client[Symbol.dispose]();
    this.time[Symbol.dispose]();
  }
}

const kindsOf = async ({ client }: Installing): Promise<string[]> =>
  (await client.discover()).filter(({ group }) => group === Widget.group).map(({ kind }) => kind);

Deno.test("installCrds waits until each kind is established and listed, and forgets what was discovered", async () => {
  using installing = new Installing();
  const { client, conditions, server, time } = installing;
  const before = kindsOf(installing);
  await time.tickAsync(0);
  assertEquals(await before, []);
  conditions.push([], [{ type: "Established", status: "False" }]);
  server.failNext(404, 1, ({ path }) => path === "/apis/acme.dev/v1");
  let isOver = false;
  const installed = installCrds(client, [definitionOf(Widget), definitionOf(Gadget)]).then(() => isOver = true);
  await time.tickAsync(50 + 100 + 199);
  assertEquals([isOver, installing.asked(DEFINITION_PATH), installing.asked("/apis/acme.dev/v1")], [false, 2 + 3, 1]);
  await time.tickAsync(1);
  await installed;
  const after = kindsOf(installing);
  await time.tickAsync(0);
  assertEquals((await after).sort(), ["Gadget", "Widget"]);

  const asked = server.requests.length;
  const again = installCrds(client, [definitionOf(Widget)]);
  await time.tickAsync(0);
  await again;
  assertEquals(server.requests.slice(asked).map(({ verb }) => verb), ["get", "patch", "get", "get"]);
});

Deno.test("installCrds rejects when names are taken, the server refuses, or its signal aborts", async () => {
  using installing = new Installing();
  const { client, conditions, server, time } = installing;
  conditions.push([{ type: "NamesAccepted", status: "False", message: '"widgets" is already in use' }]);
  const taken = assertRejects(
    () => installCrds(client, [definitionOf(Widget)]),
    InformerError,
    'Cannot serve "widgets.acme.dev": "widgets" is already in use',
  );
  await time.tickAsync(0);
  await taken;

  server.failNext(403, 1);
  const refused = assertRejects(() => installCrds(client, [definitionOf(Widget)]), Error, "403");
  await time.tickAsync(0);
  await refused;

  const stop = new AbortController();
  conditions.push(...Array.from({ length: 20 }, () => []));
  const stopped = assertRejects(() => installCrds(client, [definitionOf(Widget)], stop), Error, "enough");
  await time.tickAsync(5_000);
  assertEquals(conditions.length, 20 - 1 - 5 - 4); // before, after 0, 50, 150, 350, 750, 1550 ms, and then each second
  stop.abort(new Error("enough"));
  await time.tickAsync(0);
  await stopped;
});

Deno.test("a discovery that was under way when its result was forgotten is not kept", async () => {
  using installing = new Installing();
  const { client, server, time } = installing;
  const first = client.discover();
  client.forgetDiscovery();
  await time.tickAsync(0);
  await first;
  const asked = server.requests.length;
  const second = client.discover();
  await time.tickAsync(0);
  await second;
  assertEquals(server.requests.length - asked, asked);
});
