import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { isDeno } from "../../../src/host/connect/runtime/runtime.ts";
import { type Certificates, makeCertificates } from "../../support/servers/certificates.ts";
import { writeKubeconfig } from "../../support/processes/host.ts";
import { Scripts, V1 } from "../../support/servers/plugin.ts";
import { deno } from "../../support/processes/program.ts";
import { serveProxy } from "../../support/servers/proxy.ts";
import { Folder } from "../../support/servers/serve.ts";
import { serve } from "../../support/servers/tls_server.ts";

const PROXIES = ["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY", "https_proxy", "http_proxy", "all_proxy"];

/** Runs `_ask.ts` in a process of its own, with exactly these flags; answers with what it prints. */
async function ask(
  flags: readonly string[],
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const own = Object.fromEntries(Object.entries(Deno.env.toObject()).filter(([name]) => !PROXIES.includes(name)));
  const { out, err } = await deno(
    ["run", "--quiet", "--no-prompt", "--no-check", "--cached-only", ...flags, "tests/host/connect/_ask.ts", ...args],
    // Deno looks for a newer one after half a second, by the proxy too.
    { env: { ...own, DENO_NO_UPDATE_CHECK: "1", ...env }, clearEnv: true },
  );
  return out.trim() === "" ? err : out.trim();
}

/** Flags as a shell would hand them on. */
function unquoted(flags: readonly string[]): string[] {
  return flags.map((flag) => flag.replace(/="(.*)"$/, "=$1"));
}

/** Runs with the printed flags, and without each of them; then the error must name the flag. */
async function checkPermissions(
  kubeconfig: string,
  env: Readonly<Record<string, string>>,
  expected: readonly string[],
  named: (flag: string) => string = (flag) => flag,
): Promise<void> {
  const flags = (await ask(["--allow-env", "--allow-read"], [kubeconfig, "permissions"], env)).split("\n");
  assertEquals(flags.map((flag) => flag.split("=")[0]), expected);
  assertEquals(await ask(unquoted(flags), [kubeconfig], env), "ok /version");
  await Promise.all(flags.map(async (flag) => {
    const without = flags.filter((other) => other !== flag);
    assertStringIncludes(await ask(unquoted(without), [kubeconfig], env), named(flag));
  }));
}

/** A kubeconfig in a folder of its own, all inline but for what `user` says. */
async function inline(
  certificates: Certificates,
  cluster: Record<string, unknown>,
  user: Record<string, unknown> = {},
): Promise<string> {
  const ca = { "certificate-authority-data": btoa(certificates.text("ca.crt")) };
  return await writeKubeconfig(certificates.path("config"), { ...ca, ...cluster }, user);
}

Deno.test("requiredPermissions lists what a kubeconfig of KUBECONFIG needs, and no more", async () => {
  await using certificates = await makeCertificates();
  await using server = await serve({ certificates });
  await Deno.writeTextFile(certificates.path("token"), "abc");
  const KUBECONFIG = await inline(certificates, { server: server.url }, { tokenFile: "token" });
  await checkPermissions("", { KUBECONFIG }, ["--allow-env", "--allow-read", "--allow-net"], (flag) => {
    // Without the variables nobody knows which file it would have been, nor which of the files is missing first.
    if (flag.startsWith("--allow-env=")) return "--allow-env=KUBECONFIG,HOME";
    return flag.startsWith("--allow-read=") ? `--allow-read=${KUBECONFIG}` : flag;
  });
});

/** The certificates of this machine are those of a file only on Linux. */
const LINUX = { ignore: Deno.build.os !== "linux" };

Deno.test(
  "connect trusts public authorities besides the kubeconfig's, unless DENO_TLS_CA_STORE is empty",
  LINUX,
  async () => {
    await using certificates = await makeCertificates();
    const answers = async (other: boolean, store: string): Promise<string> => {
      await using server = await serve({ certificates, other });
      const kubeconfig = await inline(certificates, { server: server.url });
      // "other-ca" is a public authority: the only one of this machine.
      const env = { DENO_TLS_CA_STORE: store, SSL_CERT_FILE: certificates.path("other-ca.crt") };
      return await ask(["--allow-all"], [kubeconfig], env);
    };
    assertEquals(await answers(false, "system"), "ok /version");
    assertEquals(await answers(true, "system"), "ok /version");
    assertEquals(await answers(false, ""), "ok /version");
    assertStringIncludes(await answers(true, ""), "UnknownIssuer");
  },
);

Deno.test("requiredPermissions lists the plugin of a kubeconfig", async () => {
  await using certificates = await makeCertificates();
  await using scripts = await Scripts.make();
  await using server = await serve({ certificates, authorization: () => "Bearer abc" });
  await scripts.printer({ token: "abc" });
  for (const command of [`${scripts.folder}/plugin`, "plugin"]) {
    const exec = { apiVersion: V1, command, interactiveMode: "IfAvailable" };
    const kubeconfig = await inline(certificates, { server: server.url }, { exec });
    const PATH = `${scripts.folder}:${Deno.env.get("PATH")}`;
    await checkPermissions(kubeconfig, { PATH }, ["--allow-read", "--allow-run", "--allow-net"]);
  }
});

Deno.test("requiredPermissions lists the proxy, and with tls-server-name the server", async () => {
  await using certificates = await makeCertificates();
  await using server = await serve({ certificates, named: true });
  await using plain = await serve({ certificates });
  await using proxy = serveProxy({ kind: "connect" });
  const { port } = new URL(server.url);
  const host = `localhost:${port}`;
  const named = await inline(certificates, { server: `https://${host}`, "tls-server-name": "kubernetes.test" });
  const byAddress = await inline(certificates, { server: server.url, "tls-server-name": "kubernetes.test" });
  for (const kubeconfig of [named, byAddress]) {
    await checkPermissions(kubeconfig, {}, ["--allow-read", "--allow-net"]);
  }
  const proxied = await inline(certificates, { server: plain.url, "proxy-url": `http://${proxy.host}` });
  await checkPermissions(
    proxied,
    {},
    ["--allow-read", "--allow-net"],
    (flag) => flag.startsWith("--allow-net") ? `--allow-net=${proxy.host}` : flag,
  );
});

Deno.test("connect with insecure-skip-tls-verify verifies certificates, unless a Deno flag turns that off", async () => {
  await using certificates = await makeCertificates();
  await using server = await serve({ certificates });
  const kubeconfig = await writeKubeconfig(certificates.path("config"), {
    server: server.url,
    "insecure-skip-tls-verify": true,
  });
  const flags = [`--allow-read=${kubeconfig}`, `--allow-net=${new URL(server.url).host}`];
  const refused = await ask(flags, [kubeconfig]);
  assertStringIncludes(refused, "invalid peer certificate: UnknownIssuer");
  const flag = /start\w* with (\S+)/.exec(refused)?.[1];
  assertEquals(flag, "--unsafely-ignore-certificate-errors=127.0.0.1");
  assertStringIncludes(await ask([...flags, flag!], [kubeconfig]), "ok /version");
});

Deno.test("connect uses the proxy of the environment, unless NO_PROXY names the server", async () => {
  await using certificates = await makeCertificates();
  await using server = await serve({ certificates });
  await using proxy = serveProxy({ kind: "connect" });
  const kubeconfig = await inline(certificates, { server: server.url });
  const HTTPS_PROXY = `http://${proxy.host}`;
  const flags = [`--allow-read=${kubeconfig}`, `--allow-net=${new URL(server.url).host}`];
  assertEquals(await ask(flags, [kubeconfig], { HTTPS_PROXY }), "ok /version");
  assertEquals(proxy.asked, [`CONNECT ${new URL(server.url).host}`]);
  assertEquals(await ask(flags, [kubeconfig], { HTTPS_PROXY, NO_PROXY: "127.0.0.1" }), "ok /version");
  assertEquals(proxy.asked.length, 1);
});

Deno.test("connect with proxy-url obeys NO_PROXY on Deno, and not on Node", async () => {
  await using certificates = await makeCertificates();
  await using server = await serve({ certificates });
  await using proxy = serveProxy({ kind: "connect" });
  const kubeconfig = await inline(certificates, { server: server.url, "proxy-url": `http://${proxy.host}` });
  const printed = await ask(["--allow-read", "--allow-net"], [kubeconfig], { NO_PROXY: "127.0.0.1" });
  assertEquals([printed, proxy.asked.length], ["ok /version", isDeno() ? 0 : 1]);
});

Deno.test("connect uses no proxy of the environment for plain HTTP to this machine", async () => {
  await using server = await serve({ authorization: () => "Bearer abc" });
  const { port } = new URL(server.url);
  await using folder = new Folder();
  await using proxy = serveProxy({ kind: "connect" });
  const cases = [
    ["127.0.0.1", "HTTP_PROXY", "--deny-env"],
    ["LOCALHOST", "HTTP_PROXY", "--allow-env"],
    ["127.0.0.1", "http_proxy", "--allow-env"],
    ["LOCALHOST", "ALL_PROXY", "--deny-env"],
    ["127.0.0.1", "all_proxy", "--allow-env"],
  ];
  for (const [name, variable, env] of cases) {
    const host = `${name}:${port}`;
    const kubeconfig = await writeKubeconfig(folder.file("config"), { server: `http://${host}` }, { token: "abc" });
    const flags = [`--allow-read=${kubeconfig}`, `--allow-net=${host.toLowerCase()}`, env];
    const variables = { [variable]: `http://${proxy.host}` };
    const printed = await ask(flags, [kubeconfig], variables);
    assertEquals([printed, proxy.asked], ["ok /version", []], `${variable}, ${host}, ${env}`);
    if (env === "--allow-env") continue;
    const denied = await ask([flags[0], env], [kubeconfig], variables);
    assertStringIncludes(denied, `run this program with ${flags[1]}`);
  }
});

Deno.test("connect with tls-server-name lets a program end that does not dispose its client", async () => {
  await using certificates = await makeCertificates();
  await using server = await serve({ certificates, named: true });
  const kubeconfig = await inline(certificates, { server: server.url, "tls-server-name": "kubernetes.test" });
  const start = performance.now();
  assertEquals(await ask(["--allow-read", "--allow-net"], [kubeconfig, "leave"]), "ok /version");
  // Connections nobody uses are kept for 30 s, and servers keep theirs for longer.
  assert(performance.now() - start < 20_000);
});
