import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { UnreachableError } from "../../../../src/engine/api/status.ts";
import { Client } from "../../../../src/engine/client/client.ts";
import { findConnection } from "../../../../src/host/connect/connect.ts";
import { clientOptionsOf } from "../../../../src/host/connect/connect_options.ts";
import { httpTransport } from "../../../../src/host/connect/transport.ts";
import { type Certificates, makeCertificates } from "../../../support/servers/certificates.ts";
import { serveProxy } from "../../../support/servers/proxy.ts";
import { FakeTime } from "../../../support/times/fake_time.ts";
import { ask, hostWith, writeKubeconfig } from "../../../support/processes/host.ts";
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
  assertEquals(connection.origin.permissions.at(-1), `--allow-net=${new URL(server.url).host}`);
  assertEquals(connection.origin.tlsServerName, "kubernetes.test");
});

Deno.test("connect refuses a certificate that is not for tls-server-name", async () => {
  await using certificates = await makeCertificates();
  await using server = await serve({ certificates, named: true });
  for (const name of ["other.test", "127.0.0.1"]) {
    await assertUnreachable(await connectAs(certificates, server, name), "does not match");
  }
  await using untrusted = await serve({ certificates, other: true });
  await assertUnreachable(await connectAs(certificates, untrusted, "127.0.0.1"), "unable to verify");
});

Deno.test("httpTransport accepts an IP address as tlsServerName of a server addressed by name", async () => {
  await using certificates = await makeCertificates();
  await using server = await serve({ certificates });
  const { port } = new URL(server.url);
  using transport = httpTransport({ caCerts: [certificates.text("ca.crt")], tlsServerName: "127.0.0.1" });
  const response = await transport.fetch(new Request(`https://localhost:${port}/a`));
  assertEquals(values(await response.json(), "host"), [`localhost:${port}`]);
});

Deno.test("httpTransport with tlsServerName sends bodies, also through a proxy", async () => {
  await using certificates = await makeCertificates();
  await using server = await serve({ certificates, named: true });
  await using proxy = serveProxy({ kind: "connect" });
  for (const proxyUrl of [undefined, `http://${proxy.host}`]) {
    const caCerts = [certificates.text("ca.crt")];
    using transport = httpTransport({ caCerts, tlsServerName: "kubernetes.test", proxyUrl });
    const body = "x".repeat(300_000);
    const response = await transport.fetch(new Request(server.url, { method: "POST", body }));
    assertEquals(values(await response.json(), "content-length"), ["300000"]);
  }
  assertEquals(proxy.asked, [`CONNECT ${new URL(server.url).host}`]);
  assertThrows(() => httpTransport({ tlsServerName: "a:1" }), TypeError, "Cannot use tlsServerName: it must be a host");
  assertThrows(() => httpTransport({ tlsServerName: "a", proxyUrl: "socks5://p:1" }), TypeError, "not support SOCKS");
});

Deno.test("connect explains why a server with tls-server-name cannot be reached", async () => {
  await using certificates = await makeCertificates();
  const server = await serve({ certificates });
  await server[Symbol.asyncDispose]();
  await assertUnreachable(await connectAs(certificates, server, "kubernetes.test"), "ECONNREFUSED");
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
