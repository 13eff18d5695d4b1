import { createSecureServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { assert, assertEquals, assertInstanceOf, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { UnreachableError } from "../../../src/engine/api/status.ts";
import { Client } from "../../../src/engine/client/client.ts";
import type { TlsMaterial } from "../../../src/host/connect/runtime/connections.ts";
import { HttpTransport, httpTransport } from "../../../src/host/connect/transport.ts";
import { makeCertificates } from "../../support/servers/certificates.ts";
import { FakeTime } from "../../support/times/fake_time.ts";
import { collectHeap } from "../../support/times/heap.ts";
import { REASONS } from "./_runtime.ts";
import { type Seen, serve, values } from "../../support/servers/tls_server.ts";

/** A server that answers on command, and whose bodies stay open until then. */
class SlowServer implements AsyncDisposable {
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #asked: (() => void)[] = [];
  readonly #answer = Promise.withResolvers<void>();
  #begun = 0;

  constructor(begins: boolean) {
    this.#server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async () => {
      this.#begun++;
      for (const notify of this.#asked.splice(0)) notify();
      if (!begins) await this.#answer.promise;
      return new Response(
        new ReadableStream({
          start: async (controller) => {
            controller.enqueue(new TextEncoder().encode("begun "));
            await this.#answer.promise;
            controller.enqueue(new TextEncoder().encode("done"));
            controller.close();
          },
        }),
      );
    });
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  /** Resolves when a request has come. */
  async asked(): Promise<void> {
    if (this.#begun > 0) return;
    await new Promise<void>((resolve) => this.#asked.push(resolve));
  }

  answer(): void {
    this.#answer.resolve();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.answer();
    await this.#server.shutdown();
  }
}

Deno.test("httpTransport gives up after 65 s without a response", async () => {
  await using server = new SlowServer(false);
  using time = new FakeTime();
  using client = new Client({ server: server.url, transport: httpTransport() });
  const refused = assertRejects(() => client.fetch("/api"), UnreachableError);
  await server.asked();
  await time.tickAsync(64_999);
  assertEquals(time.timers, 1);
  await time.tickAsync(1);
  assertEquals((await refused).message, `Cannot reach "${server.url}" to GET "/api": no response within 65 s`);
  assertEquals(time.timers, 0);
});

Deno.test("httpTransport.probe uses a connection of its own, and accepts any response", async () => {
  const ports = new Set<number>();
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    (request, { remoteAddr }) => {
      ports.add(remoteAddr.port);
      return new Response("no", { status: new URL(request.url).pathname === "/version" ? 503 : 401 });
    },
  );
  const url = `http://127.0.0.1:${server.addr.port}`;
  using transport = httpTransport({ headers: [["authorization", "Bearer secret"]] });
  for (let i = 0; i < 2; i++) await (await transport.fetch(new Request(url))).body?.cancel();
  assertEquals(ports.size, 1);
  for (const path of ["/version", "/k8s/clusters/a/version"]) {
    await transport.probe!(new AbortController().signal, `${url}${path}`);
  }
  assertEquals(ports.size, 3);
});

Deno.test("httpTransport.probe rejects if nothing is answered before its signal aborts", async () => {
  await using server = new SlowServer(false);
  using transport = httpTransport();
  const stop = new AbortController();
  const probing = assertRejects(() => transport.probe!(stop.signal, `${server.url}/version`), Error, "no response");
  await server.asked();
  stop.abort(new Error("no response"));
  await probing;
});

Deno.test("httpTransport sets no time limit on a response's body [F03]", async () => {
  await using server = new SlowServer(true);
  using time = new FakeTime();
  using transport = httpTransport({ answerTimeoutMs: 1_000 });
  const response = await transport.fetch(new Request(server.url));
  await time.tickAsync(1_000_000);
  assertEquals(time.timers, 0);
  server.answer();
  assertEquals(await response.text(), "begun done");
});

Deno.test("httpTransport has no deadline for logs and proxied requests, nor when the deadline is turned off", async () => {
  for (
    const [path, answerTimeoutMs, timers] of [
      ["/api/v1/namespaces/a/pods/b/log?follow=true", 1_000, 0],
      ["/api/v1/namespaces/a/services/b/proxy/x", 1_000, 0],
      ["/api/v1/pods?watch=true", 1_000, 1],
      ["/api/v1/namespaces/a/configmaps/log.txt", 1_000, 1],
      ["/api/v1/pods", 0, 0],
      ["/api/v1/pods", Infinity, 0],
    ] as const
  ) {
    await using server = new SlowServer(false);
    using time = new FakeTime();
    using transport = httpTransport({ answerTimeoutMs });
    const pending = transport.fetch(new Request(`${server.url}${path}`));
    await server.asked();
    assertEquals(time.timers, timers, path);
    server.answer();
    assertEquals(await (await pending).text(), "begun done");
  }
});

Deno.test("httpTransport can wait for a response longer than the runtime's timers allow", async () => {
  await using server = new SlowServer(false);
  using time = new FakeTime();
  const answerTimeoutMs = 2 ** 31;
  using transport = httpTransport({ answerTimeoutMs });
  const refused = assertRejects(() => transport.fetch(new Request(server.url)), TypeError, "no response within");
  await server.asked();
  await time.tickAsync(answerTimeoutMs - 1);
  assertEquals(time.timers, 1);
  await time.tickAsync(1);
  await refused;
  assertEquals(time.timers, 0);
});

Deno.test("httpTransport rejects with the reason of a request that is aborted while it waits", async () => {
  await using server = new SlowServer(false);
  using transport = httpTransport();
  const controller = new AbortController();
  const pending = transport.fetch(new Request(server.url, { signal: controller.signal }));
  await server.asked();
  controller.abort(new Error("enough"));
  await assertRejects(() => pending, Error, "enough");
  const error = assertThrows(() => httpTransport({ answerTimeoutMs: -1 }), RangeError);
  assertStringIncludes(
    error.message,
    "answerTimeoutMs must be at least 0 milliseconds, or Infinity for never, but it is -1",
  );
});

async function get(
  transport: { fetch(request: Request): Promise<Response> },
  url: string,
  init?: RequestInit,
): Promise<Seen> {
  return await (await transport.fetch(new Request(url, init))).json();
}

/** The messages of a failed `fetch`, down to the last cause. */
async function failure(promise: Promise<unknown>): Promise<string> {
  const error = await assertRejects(() => promise, Error);
  let text = "";
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) text += `${cause.message}\n`;
  return text;
}

Deno.test("httpTransport trusts the authorities that it is given, and no others that are not public", async () => {
  await using certificates = await makeCertificates();
  await using server = await serve({ certificates });
  using transport = httpTransport({ caCerts: [certificates.text("other-ca.crt"), certificates.text("ca.crt")] });
  assertEquals((await get(transport, `${server.url}/a`)).path, "/a");
  using wrong = httpTransport({ caCerts: [certificates.text("other-ca.crt")] });
  assertStringIncludes(await failure(get(wrong, server.url)), REASONS.untrusted);
  using none = httpTransport();
  assertStringIncludes(await failure(get(none, server.url)), REASONS.untrusted);
});

Deno.test("httpTransport presents its client certificate", async () => {
  await using certificates = await makeCertificates();
  await using server = await serve({ certificates, requestCert: true });
  const caCerts = [certificates.text("ca.crt")];
  using transport = httpTransport({
    caCerts,
    cert: certificates.text("client.crt"),
    key: certificates.text("client.key"),
  });
  assertEquals((await get(transport, server.url)).clientName, "client");
  using without = httpTransport({ caCerts });
  await assertRejects(() => get(without, server.url), TypeError);
  using otherClient = httpTransport({
    caCerts,
    cert: certificates.text("other-client.crt"),
    key: certificates.text("other-client.key"),
  });
  await assertRejects(() => get(otherClient, server.url), TypeError);
});

Deno.test("httpTransport reuses one connection [C137] [F33]", async () => {
  await using certificates = await makeCertificates();
  await using server = await serve({ certificates });
  using transport = httpTransport({ caCerts: [certificates.text("ca.crt")] });
  for (let i = 0; i < 5; i++) await get(transport, server.url);
  assertEquals(server.connections, 1);
});

Deno.test("httpTransport offers HTTP/2 only when that is enabled", async () => {
  await using certificates = await makeCertificates();
  using listener = Deno.listenTls({
    ...{ hostname: "127.0.0.1", port: 0, alpnProtocols: ["h2", "http/1.1"] },
    ...{ cert: certificates.text("server.crt"), key: certificates.text("server.key") },
  });
  for (const [http2, chosen] of [[true, "h2"], [false, "http/1.1"], [undefined, "http/1.1"]] as const) {
    using transport = httpTransport({ caCerts: [certificates.text("ca.crt")], http2 });
    const refused = assertRejects(() => get(transport, `https://127.0.0.1:${listener.addr.port}`), TypeError);
    const connection = await listener.accept();
    const { alpnProtocol } = await connection.handshake();
    connection.close();
    assertEquals(alpnProtocol, chosen);
    await refused;
  }
});

Deno.test("httpTransport never runs out of streams over HTTP/2: 250 watches, 150 logs and reads beside them", async () => {
  await using certificates = await makeCertificates();
  const key = certificates.text("server.key");
  const server = createSecureServer({
    cert: certificates.text("server.crt"),
    key,
    settings: { maxConcurrentStreams: 100 },
  });
  const open = new Map<string, number>();
  let sessions = 0;
  server.on("session", () => sessions++);
  server.on("stream", (stream, headers) => {
    const path = String(headers[":path"]);
    stream.on("error", () => {}); // the client aborts it
    stream.respond({ ":status": 200 });
    const kind = path.includes("watch=") ? "watch" : path.includes("/log") ? "log" : undefined;
    if (kind === undefined) return stream.end("{}");
    open.set(kind, (open.get(kind) ?? 0) + 1);
    stream.write("\n");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const stop = new AbortController();
  const responses: Response[] = [];
  {
    using transport = httpTransport({ caCerts: [certificates.text("ca.crt")], http2: true });
    const ask = async (path: string): Promise<void> => {
      responses.push(await transport.fetch(new Request(`https://127.0.0.1:${port}${path}`, { signal: stop.signal })));
    };
    for (let i = 0; i < 250; i++) await ask(`/api/v1/pods?watch=1&n=${i}`);
    for (let i = 0; i < 150; i++) await ask(`/api/v1/namespaces/a/pods/p-${i}/log?follow=true`);
    await ask("/api/v1/pods");
    assertEquals([open.get("watch"), open.get("log")], [250, 150]);
    assertEquals(sessions, 3 + 2 + 1);
    assertEquals(await responses.at(-1)!.json(), {});
    stop.abort();
    for (const { body, bodyUsed } of responses) if (!bodyUsed) await body?.cancel().catch(() => {});
  }
  await new Promise<void>((resolve) => server.close(() => resolve()));
});

Deno.test("httpTransport sends its extra headers one by one, unless the request has a header of that name", async () => {
  await using server = await serve();
  using transport = httpTransport({
    headers: [["impersonate-user", "J\u00c3\u00bcrgen"], ["Impersonate-Group", "dev"], [
      "Impersonate-Group",
      "ops, all",
    ]],
  });
  const seen = await get(transport, server.url);
  assertEquals(values(seen, "impersonate-group"), ["dev", "ops, all"]);
  assertEquals(
    new TextDecoder().decode(Uint8Array.from(values(seen, "impersonate-user")[0], (c) => c.charCodeAt(0))),
    "Jürgen",
  );
  const own = await get(transport, server.url, { headers: { "impersonate-group": "own" } });
  assertEquals(values(own, "impersonate-group"), ["own"]);
  assertEquals(values(own, "impersonate-user").length, 1);
});

Deno.test("httpTransport sends its extra headers once when a request is sent again", async () => {
  await using server = await serve();
  using transport = httpTransport({ headers: [["impersonate-group", "dev"], ["impersonate-group", "ops"]] });
  const request = new Request(server.url);
  await (await transport.fetch(request)).body?.cancel();
  assertEquals(values(await (await transport.fetch(request)).json(), "impersonate-group"), ["dev", "ops"]);
});

Deno.test("httpTransport validates certificates and keys before it passes them to Deno", async () => {
  await using certificates = await makeCertificates();
  const cert = certificates.text("client.crt");
  const key = certificates.text("client.key");
  const cases: readonly [material: TlsMaterial, includes: string][] = [
    [{ caCerts: ["junk"] }, "Cannot use CA certificate: it has no PEM certificate"],
    [{ caCerts: [cert, cert.slice(0, -60)] }, "Cannot use CA certificate: it has no PEM certificate"],
    [
      { cert: key, key },
      `Cannot use client certificate: it has no PEM certificate ("-----BEGIN CERTIFICATE-----"): it has only "PRIVATE KEY"`,
    ],
    [{ cert, key: cert }, "Cannot use client key: it has no PEM private key"],
    [{ cert }, "Cannot use client certificate: key is missing"],
    [{ key }, "Cannot use client key: cert is missing"],
    [{ cert, key: certificates.text("other-client.key") }, "Cannot set up TLS with the certificates given: "],
  ];
  for (const [material, includes] of cases) {
    const error = assertThrows(() => httpTransport(material), TypeError);
    assertStringIncludes(error.message, includes);
  }
});

Deno.test("httpTransport aborts with the request's signal, and releases the body", async () => {
  let cancelled = 0;
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, () => {
    return new Response(
      new ReadableStream({
        start: (controller) => controller.enqueue(new TextEncoder().encode("begun")),
        cancel: () => void cancelled++,
      }),
    );
  });
  {
    using transport = httpTransport();
    const controller = new AbortController();
    const response = await transport.fetch(
      new Request(`http://127.0.0.1:${server.addr.port}`, { signal: controller.signal }),
    );
    const reader = response.body!.getReader();
    assertEquals(new TextDecoder().decode((await reader.read()).value), "begun");
    controller.abort(new Error("enough"));
    await assertRejects(() => reader.read(), Error, "enough");
  }
  await server.shutdown();
  assertEquals(cancelled, 1);
});

Deno.test("httpTransport ends a body when its signal aborts, also after garbage was collected", async () => {
  const begun = new TextEncoder().encode("begun");
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, () => {
    return new Response(new ReadableStream({ start: (controller) => controller.enqueue(begun) }));
  });
  {
    using client = new Client({ server: `http://127.0.0.1:${server.addr.port}`, transport: httpTransport() });
    const controller = new AbortController();
    const response = await client.fetch("/", { signal: controller.signal });
    const reader = response.body!.getReader();
    await reader.read();
    for (let i = 0; i < 5; i++) await collectHeap();
    controller.abort(new Error("enough"));
    await assertRejects(() => reader.read(), Error, "enough");
  }
  await server.shutdown();
});

Deno.test("httpTransport refuses requests after its disposal, and may be disposed twice", async () => {
  await using server = await serve();
  const transport = httpTransport();
  await get(transport, server.url);
  transport[Symbol.dispose]();
  transport[Symbol.dispose]();
  await assertRejects(() => get(transport, server.url), TypeError, "the connection was disposed");
});

Deno.test("httpTransport that is disposed lets an open watch continue until its signal aborts", async () => {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, () => {
    return new Response(new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(10)) }));
  });
  const controller = new AbortController();
  const transport = httpTransport();
  const response = await transport.fetch(
    new Request(`http://127.0.0.1:${server.addr.port}`, { signal: controller.signal }),
  );
  transport[Symbol.dispose]();
  const reader = response.body!.getReader();
  assertEquals((await reader.read()).done, false);
  controller.abort();
  await assertRejects(async () => {
    while (!(await reader.read()).done) continue;
  });
  await server.shutdown();
});

Deno.test({
  name: "httpTransport names the Deno flag when the program may not connect to the host",
  permissions: { net: ["127.0.0.1:1"] },
  fn: async () => {
    using transport = httpTransport();
    for (
      const [url, flag] of [
        ["https://10.1.2.3:6443/api", "--allow-net=10.1.2.3:6443"],
        ["https://farm.example/api", "--allow-net=farm.example:443"],
        ["http://[::1]:8080/", "--allow-net=[::1]:8080"],
      ]
    ) {
      const error = await assertRejects(() => transport.fetch(new Request(url)), Deno.errors.NotCapable);
      assertStringIncludes(error.message, `missing permission: run this program with ${flag}`);
      assertInstanceOf(error.cause, Deno.errors.NotCapable);
    }
  },
});

/** Files that a test writes, as a transport reads them. */
class Files {
  material: TlsMaterial | Error = {};
  reads = 0;
  readonly warnings: string[] = [];

  transport(): HttpTransport {
    return new HttpTransport(this.material as TlsMaterial, {
      read: () => {
        this.reads++;
        return this.material instanceof Error ? Promise.reject(this.material) : Promise.resolve(this.material);
      },
      warn: (warning) => this.warnings.push(warning),
    });
  }
}

Deno.test("HttpTransport reads its CA file again after 5 minutes, and not before, whatever the time of day is set to [C139]", async () => {
  await using certificates = await makeCertificates();
  await using server = await serve({ certificates });
  await using moved = await serve({ certificates, other: true });
  for (const jumpMs of [0, -3_600_000, 3_600_000]) {
    using time = new FakeTime();
    const files = new Files();
    files.material = { caCerts: [certificates.text("ca.crt")] };
    using transport = files.transport();
    await get(transport, server.url);
    time.setClock(time.now + jumpMs);
    time.tick(5 * 60_000 - 1);
    await get(transport, server.url);
    assertEquals(files.reads, 0);
    files.material = { caCerts: [certificates.text("ca.crt"), certificates.text("other-ca.crt")] };
    time.tick(1);
    await get(transport, moved.url);
    await get(transport, server.url);
    assertEquals(files.reads, 1);
  }
});

Deno.test("HttpTransport reads its CA file again after a failed request", async () => {
  await using certificates = await makeCertificates();
  await using server = await serve({ certificates, other: true });
  const files = new Files();
  files.material = { caCerts: [certificates.text("ca.crt")] };
  using transport = files.transport();
  await assertRejects(() => get(transport, server.url), TypeError);
  files.material = { caCerts: [certificates.text("other-ca.crt")] };
  assertEquals((await get(transport, server.url)).path, "/");
  assertEquals(files.reads, 1);
});

Deno.test("HttpTransport keeps its certificates when the files are missing, invalid or unchanged", async () => {
  await using certificates = await makeCertificates();
  await using server = await serve({ certificates });
  using time = new FakeTime();
  const files = new Files();
  files.material = { caCerts: [certificates.text("ca.crt")] };
  using transport = files.transport();
  await get(transport, server.url);
  for (const material of [new Error("Cannot read it"), { caCerts: [""] }, { caCerts: [certificates.text("ca.crt")] }]) {
    files.material = material;
    time.tick(5 * 60_000);
    await get(transport, server.url);
  }
  assertEquals(files.reads, 3);
  assertEquals(files.warnings.length, 2);
  assertEquals(files.warnings[0], "Cannot read it. The previous certificates stay in use");
  assertStringIncludes(files.warnings[1], "it is empty. The previous certificates stay in use");
  // The connection was never replaced.
  assertEquals(server.connections, 1);
});

Deno.test("HttpTransport presents a new client certificate on new connections, and keeps open bodies open [C140]", async () => {
  await using certificates = await makeCertificates();
  await using server = await serve({ certificates, requestCert: true });
  using time = new FakeTime();
  const files = new Files();
  const caCerts = [certificates.text("ca.crt")];
  files.material = { caCerts, cert: certificates.text("client.crt"), key: certificates.text("client.key") };
  using transport = files.transport();
  const open = await transport.fetch(new Request(server.url));
  // Another certificate of the same authority: the server's own serves.
  files.material = { caCerts, cert: certificates.text("second.crt"), key: certificates.text("second.key") };
  time.tick(5 * 60_000);
  assertEquals((await get(transport, server.url)).clientName, "second");
  assertEquals((await open.json() as Seen).clientName, "client");
});

Deno.test("HttpTransport reads its files once for simultaneous requests", async () => {
  await using server = await serve();
  using time = new FakeTime();
  const files = new Files();
  using transport = files.transport();
  time.tick(5 * 60_000);
  await Promise.all(Array.from({ length: 8 }, () => get(transport, server.url)));
  assertEquals(files.reads, 1);
  assert(server.connections > 0);
});
