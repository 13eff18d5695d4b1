import { assert, assertEquals, assertFalse, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { UnreachableError } from "../../../../src/engine/api/status.ts";
import { Client } from "../../../../src/engine/client/client.ts";
import { findConnection } from "../../../../src/host/connect/connect.ts";
import { clientOptionsOf } from "../../../../src/host/connect/connect_options.ts";
import { TlsNameProxy } from "../../../../src/host/connect/runtime/tls_name_proxy.ts";
import { httpTransport } from "../../../../src/host/connect/transport.ts";
import { type Certificates, makeCertificates } from "../../../support/servers/certificates.ts";
import { FakeTime } from "../../../support/times/fake_time.ts";
import { ask, hostWith, writeKubeconfig } from "../../../support/processes/host.ts";
import { REASONS } from "../_runtime.ts";
import { serve, type TestServer, values } from "../../../support/servers/tls_server.ts";

/** A connection to `server`, whose certificate is to have the name `name`. */
async function connectAs(
  certificates: Certificates,
  server: TestServer,
  name: string,
  user: Record<string, unknown> = {},
): ReturnType<typeof findConnection> {
  const kubeconfig = await writeKubeconfig(certificates.path("config"), {
    server: server.url,
    "certificate-authority": "ca.crt",
    "tls-server-name": name,
  }, user);
  return await findConnection({ kubeconfig }, hostWith());
}

async function assertUnreachable(
  connection: Awaited<ReturnType<typeof findConnection>>,
  reason: string,
): Promise<void> {
  using client = new Client(clientOptionsOf(connection));
  await assertRejects(() => client.fetch("/version"), UnreachableError, reason);
}

Deno.test("connect verifies the certificate against tls-server-name, and keeps Host and client certificate", async () => {
  await using certificates = await makeCertificates();
  await using server = await serve({ certificates, requestCert: true, named: true });
  const user = { "client-certificate": "client.crt", "client-key": "client.key", as: "grace", "as-groups": ["a", "b"] };
  const connection = await connectAs(certificates, server, "kubernetes.test", user);
  using _transport = connection.transport;
  const seen = await ask(connection);
  assertEquals([seen.path, seen.clientName], ["/version", "client"]);
  assertEquals(values(seen, "host"), [new URL(server.url).host]);
  assertEquals(values(seen, "impersonate-group"), ["a", "b"]);
  await ask(connection);
  assertEquals(server.connections, 1);
  const { host, port } = new URL(server.url);
  assertEquals(connection.origin.permissions.at(-1), `--allow-net=${host},kubernetes.test:${port},127.0.0.1`);
  assertEquals(connection.origin.tlsServerName, "kubernetes.test");
});

Deno.test("connect refuses a certificate that is not for tls-server-name", async () => {
  await using certificates = await makeCertificates();
  await using server = await serve({ certificates, named: true });
  for (const [name, includes] of [["other.test", REASONS.otherName], ["127.0.0.1", REASONS.otherName]]) {
    await assertUnreachable(await connectAs(certificates, server, name), includes);
  }
  await using untrusted = await serve({ certificates, other: true });
  await assertUnreachable(await connectAs(certificates, untrusted, "127.0.0.1"), REASONS.untrusted);
});

Deno.test("httpTransport accepts an IP address as tlsServerName of a server addressed by name", async () => {
  await using certificates = await makeCertificates();
  await using server = await serve({ certificates });
  const { port } = new URL(server.url);
  using transport = httpTransport({ caCerts: [certificates.text("ca.crt")], tlsServerName: "127.0.0.1" });
  const response = await transport.fetch(new Request(`https://localhost:${port}/a`));
  assertEquals(values(await response.json(), "host"), [`localhost:${port}`]);
});

Deno.test("httpTransport with tlsServerName sends bodies, and connects to one server only", async () => {
  await using certificates = await makeCertificates();
  await using server = await serve({ certificates, named: true });
  using transport = httpTransport({ caCerts: [certificates.text("ca.crt")], tlsServerName: "kubernetes.test" });
  const body = "x".repeat(300_000);
  const response = await transport.fetch(new Request(server.url, { method: "POST", body }));
  assertEquals(values(await response.json(), "content-length"), ["300000"]);
  await assertRejects(() => transport.fetch(new Request("https://127.0.0.1:1/")), TypeError, "serves only one server");
  assertThrows(() => httpTransport({ tlsServerName: "a:1" }), TypeError, "Cannot use tlsServerName: it must be a host");
  assertThrows(
    () => httpTransport({ tlsServerName: "a", proxyUrl: "http://p" }),
    TypeError,
    "it cannot be combined with proxyUrl",
  );
});

Deno.test("connect explains why a server with tls-server-name cannot be reached", async () => {
  await using certificates = await makeCertificates();
  const server = await serve({ certificates });
  await server[Symbol.asyncDispose]();
  await assertUnreachable(await connectAs(certificates, server, "kubernetes.test"), REASONS.refused);
});

Deno.test("connect uses a CA file that changes, also with tls-server-name", async () => {
  await using certificates = await makeCertificates();
  await using server = await serve({ certificates, named: true });
  await Deno.writeTextFile(certificates.path("bundle.crt"), certificates.text("other-ca.crt"));
  const kubeconfig = await writeKubeconfig(certificates.path("config"), {
    server: server.url,
    "certificate-authority": "bundle.crt",
    "tls-server-name": "kubernetes.test",
  });
  using time = new FakeTime();
  const connection = await findConnection({ kubeconfig }, hostWith());
  using _transport = connection.transport;
  await assertRejects(() => ask(connection), TypeError);
  await Deno.writeTextFile(certificates.path("bundle.crt"), certificates.text("ca.crt"));
  assertEquals((await ask(connection)).path, "/version");
  time.tick(5 * 60_000);
  assertEquals((await ask(connection)).path, "/version");
});

Deno.test("TlsNameProxy closes connections that send no CONNECT in time, and the oldest of too many", async () => {
  await using server = await serve();
  using time = new FakeTime();
  using proxy = new TlsNameProxy(new URL(server.url));
  const { url, login } = proxy.address;
  const connect = (): Promise<Deno.TcpConn> => Deno.connect({ hostname: "127.0.0.1", port: Number(url.port) });
  const connections: Deno.TcpConn[] = [];
  using _connections = { [Symbol.dispose]: () => connections.forEach((connection) => connection.close()) };
  const turns = async (holds: () => boolean): Promise<void> => {
    for (let turn = 0; turn < 100_000 && !holds(); turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  const isClosed = async (connection: Deno.TcpConn): Promise<boolean> => {
    let closed: boolean | undefined;
    connection.read(new Uint8Array(1)).then(
      (length) => closed = length === null,
      (error) => closed = error instanceof Deno.errors.ConnectionReset,
    );
    await turns(() => closed !== undefined);
    return closed ?? false;
  };
  for (let count = 1; count <= 64; count++) {
    connections.push(await connect());
    await turns(() => proxy.waiting === count);
  }
  connections.push(await connect());
  assert(await isClosed(connections[0]), "the oldest makes room");
  assertEquals(proxy.waiting, 64);
  time.tick(4_999);
  assertEquals(proxy.waiting, 64);
  // Some of it does not give more time.
  await connections[1].write(new TextEncoder().encode("CONNECT"));
  time.tick(1);
  assertEquals(proxy.waiting, 0);
  for (const connection of connections.slice(1)) assert(await isClosed(connection), "no time is left");
  assertEquals(proxy.problem, undefined);
  const password = `Proxy-Authorization: Basic ${btoa(`informer:${login?.password.reveal()}`)}\r\n`;
  const tunnel = await connect();
  connections.push(tunnel);
  await tunnel.write(new TextEncoder().encode(`CONNECT a:1 HTTP/1.1\r\n${password}\r\n`));
  await tunnel.read(new Uint8Array(100));
  time.tick(10_000);
  await tunnel.write(new TextEncoder().encode("GET /x HTTP/1.1\r\nconnection: close\r\nhost: a\r\n\r\n"));
  assertFalse(await isClosed(tunnel), "a tunnel lasts");
});

Deno.test("TlsNameProxy refuses clients without its password, and requests that are not for a tunnel", async () => {
  await using server = await serve();
  using proxy = new TlsNameProxy(new URL(server.url));
  const { url, login } = proxy.address;
  const say = async (text: string): Promise<string> => {
    using connection = await Deno.connect({ hostname: "127.0.0.1", port: Number(url.port) });
    await connection.write(new TextEncoder().encode(text));
    return await new Response(connection.readable).text();
  };
  const password = `Proxy-Authorization: Basic ${btoa(`informer:${login?.password.reveal()}`)}\r\n`;
  for (
    const text of [
      "CONNECT a:1 HTTP/1.1\r\n\r\n",
      `CONNECT a:1 HTTP/1.1\r\nProxy-Authorization: Basic ${btoa("informer:x")}\r\n\r\n`,
      `GET / HTTP/1.1\r\n${password}\r\n`,
    ]
  ) {
    assertEquals(await say(text), "HTTP/1.1 403 Forbidden\r\n\r\n");
  }
  assertEquals(await say("x".repeat(9_000)).catch((error) => error.name === "ConnectionReset" ? "" : error), "");
  assertEquals(proxy.carried, 0);
  const answer = await say(
    `CONNECT a:1 HTTP/1.1\r\n${password}\r\nGET /x HTTP/1.1\r\nconnection: close\r\nhost: a\r\n\r\n`,
  );
  assertStringIncludes(answer, "HTTP/1.1 200 OK");
  assertStringIncludes(answer, `"path":"/x"`);
  assertEquals(proxy.carried, 1);
});
