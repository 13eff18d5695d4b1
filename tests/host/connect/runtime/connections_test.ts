import { assert, assertEquals, assertFalse, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { UnreachableError } from "../../../../src/engine/api/status.ts";
import { Client } from "../../../../src/engine/client/client.ts";
import { findConnection } from "../../../../src/host/connect/connect.ts";
import { clientOptionsOf } from "../../../../src/host/connect/connect_options.ts";
import { httpTransport } from "../../../../src/host/connect/transport.ts";
import { makeCertificates } from "../../../support/servers/certificates.ts";
import { ask, hostWith, writeKubeconfig } from "../../../support/processes/host.ts";
import { serveProxy } from "../../../support/servers/proxy.ts";
import { ON_DENO } from "../_runtime.ts";
import { serve } from "../../../support/servers/tls_server.ts";

Deno.test("connect uses the proxy of proxy-url: http, https and socks5, with and without a login", async () => {
  await using certificates = await makeCertificates();
  await using server = await serve({ certificates });
  await using http = serveProxy({ kind: "connect" });
  await using https = serveProxy({ kind: "connect", certificates });
  await using socks = serveProxy({ kind: "socks5" });
  const host = new URL(server.url).host;
  for (
    const [proxy, url, asked] of [
      [http, `http://${http.host}`, `CONNECT ${host}`],
      [http, `http://ada:p%40ss@${http.host}`, `CONNECT ${host} ada:p@ss`],
      [https, `https://${https.host}`, `CONNECT ${host}`],
      [socks, `socks5://${socks.host}`, `SOCKS ${host}`],
      [socks, `socks5://ada:p%40ss@${socks.host}`, `SOCKS ${host} ada:p@ss`],
    ] as const
  ) {
    if (proxy === socks && !ON_DENO) continue;
    const kubeconfig = await writeKubeconfig(certificates.path("config"), {
      server: server.url,
      "certificate-authority": "ca.crt",
      "proxy-url": url,
    });
    const connection = await findConnection({ kubeconfig }, hostWith());
    using _transport = connection.transport;
    assertEquals((await ask(connection)).path, "/version", url);
    assertEquals(proxy.asked.at(-1), asked);
    assertEquals(connection.origin.proxy, url.replace("ada:p%40ss@", ""));
    assertEquals(connection.origin.permissions.at(-1), `--allow-net=${host},${proxy.host}`);
    for (const text of [Deno.inspect(connection, { depth: 9, showHidden: true }), JSON.stringify(connection)]) {
      assertFalse(/p%40ss|p@ss/.test(text), text);
    }
  }
});

Deno.test("connect reports which proxy cannot be reached or refuses", async () => {
  await using certificates = await makeCertificates();
  await using refusing = serveProxy({ kind: "connect", refuse: "407 Proxy Authentication Required" });
  const closed = serveProxy({ kind: "connect" });
  await closed[Symbol.asyncDispose]();
  for (const [host, includes] of [[refusing.host, "proxy authentication required"], [closed.host, "refused"]]) {
    const kubeconfig = await writeKubeconfig(certificates.path("config"), {
      server: "https://farm.example",
      "proxy-url": `http://ada:hunter2@${host}`,
    });
    using client = new Client(clientOptionsOf(await findConnection({ kubeconfig }, hostWith())));
    const error = await assertRejects(() => client.fetch("/version"), UnreachableError);
    assertStringIncludes(error.message.toLowerCase(), includes);
    assert(error.message.endsWith(` (through proxy "http://${host}")`), error.message);
    assertFalse(Deno.inspect(error).includes("hunter2"));
  }
});

Deno.test("connect refuses to send a token of its options over plain HTTP through a proxy", async () => {
  await using certificates = await makeCertificates();
  const kubeconfig = await writeKubeconfig(certificates.path("config"), {
    server: "http://127.0.0.1:8001",
    "proxy-url": "http://proxy.example:3128",
  });
  for (const login of [{ token: "hunter2" }, { tokenFile: "f" }]) {
    const error = await assertRejects(() => findConnection({ kubeconfig, ...login }, hostWith()), TypeError);
    assertStringIncludes(error.message, `"http://127.0.0.1:8001" through proxy "http://proxy.example:3128"`);
  }
});

Deno.test("httpTransport refuses an unsupported proxy, without showing its password", () => {
  for (
    const [proxyUrl, includes] of [
      ["socks4://ada:hunter2@p", `must begin with "http://"`],
      ["p:1", "must be a URL"],
      ["http://ada:hunter2@p/x", "must end with the host and port"],
    ]
  ) {
    const error = assertThrows(() => httpTransport({ proxyUrl }), TypeError);
    assertStringIncludes(error.message, `Cannot use proxyUrl: it ${includes}`);
    assertFalse(Deno.inspect(error).includes("hunter2"));
  }
});

Deno.test("httpTransport refuses SOCKS on Node, by name", { ignore: ON_DENO }, () => {
  const error = assertThrows(() => httpTransport({ proxyUrl: "socks5://ada:hunter2@proxy.example:1080" }), TypeError);
  assertStringIncludes(error.message, `Cannot use proxy "socks5://proxy.example:1080": Node does not support SOCKS`);
});

Deno.test("httpTransport uses the proxy of the environment on Node, unless NO_PROXY names the server", {
  ignore: ON_DENO,
}, async () => {
  await using proxy = serveProxy({ kind: "connect", refuse: "403 Forbidden" });
  const before = { ...Deno.env.toObject() };
  Deno.env.set("HTTPS_PROXY", `http://${proxy.host}`);
  try {
    const get = async (url: string): Promise<unknown> => {
      using transport = httpTransport();
      return await transport.fetch(new Request(url)).catch((error) => error);
    };
    assertStringIncludes(String(await get("https://farm.invalid:6443/")), "the proxy responded with 403");
    assertEquals(proxy.asked, ["CONNECT farm.invalid:6443"]);
    for (const list of ["farm.invalid", ".invalid", "*.invalid", "a.example, FARM.invalid:6443", "*"]) {
      Deno.env.set("NO_PROXY", list);
      assertStringIncludes(String(await get("https://farm.invalid:6443/")), "ENOTFOUND", list);
    }
    for (const [address, asked] of [["203.0.113.9", 1], ["203.0.112.9", 2]] as const) {
      Deno.env.set("NO_PROXY", "nonsense/8, 203.0.113.0/99, 2001:db8::/32, 203.0.113.0/24");
      const transport = httpTransport({ answerTimeoutMs: 300 });
      await transport.fetch(new Request(`https://${address}:6443/`)).catch(() => {});
      transport[Symbol.dispose]();
      assertEquals(proxy.asked.length, asked, address);
    }
    Deno.env.set("NO_PROXY", "");
    Deno.env.set("HTTPS_PROXY", "socks5://ada:hunter2@proxy.example:1080");
    const refused = `Cannot use proxy "socks5://proxy.example:1080": Node does not support SOCKS`;
    assertStringIncludes(String(await get("https://farm.invalid:6443/")), refused);
    Deno.env.set("HTTPS_PROXY", `http://${proxy.host}`);
    Deno.env.set("NO_PROXY", "invalid.example, rm.invalid");
    await get("https://farm.invalid:6443/");
    await get("https://127.0.0.1:1/"); // this machine needs no proxy
    assertEquals(proxy.asked.length, 3);
  } finally {
    for (const name of ["HTTPS_PROXY", "NO_PROXY"]) {
      if (before[name] === undefined) Deno.env.delete(name);
      else Deno.env.set(name, before[name]);
    }
  }
});
