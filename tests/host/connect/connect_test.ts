import { DecodeError, isUnauthorized, UnexpectedKindError } from "@kube/informer";
import { connectContexts, connectKubeconfig } from "@kube/informer/connect";
import { Pod } from "@kube/informer/kinds/core/v1";
import { assertEquals, assertFalse, assertInstanceOf, assertRejects, assertStringIncludes } from "@std/assert";
import { UnreachableError } from "../../../src/engine/api/status.ts";
import { Client } from "../../../src/engine/client/client.ts";
import { findConnection } from "../../../src/host/connect/connect.ts";
import { clientOptionsOf } from "../../../src/host/connect/connect_options.ts";
import { ConnectError } from "../../../src/host/connect/connect_options.ts";
import {
  connect,
  connectInCluster,
  type ConnectOptions,
  httpTransport,
  KubeconfigError,
} from "../../../src/host/connect/mod.ts";
import { makeCertificates } from "../../support/servers/certificates.ts";
import { hostWith, notCapable, writeKubeconfig } from "../../support/processes/host.ts";
import { kubeconfigText, pemData } from "../../support/servers/kubeconfig.ts";
import { type Seen, serve, values } from "../../support/servers/tls_server.ts";

async function get(client: Client, path = "/version"): Promise<Seen> {
  return await (await client.fetch(path)).json();
}

Deno.test("connect makes a client from a kubeconfig, which sends each impersonated group as its own header", async () => {
  await using certificates = await makeCertificates();
  await using server = await serve({ certificates, requestCert: true });
  const kubeconfig = await writeKubeconfig(
    certificates.path("config"),
    { server: `${server.url}/k8s/clusters/c-1`, "certificate-authority": "ca.crt" },
    {
      "client-certificate": "client.crt",
      "client-key": "client.key",
      token: "abc",
      as: "grace",
      "as-groups": ["dev", "ops, all"],
    },
    { namespace: "shop" },
  );
  using client = await connect({ kubeconfig, userAgent: "shopkeeper/1" });
  assertInstanceOf(client, Client);
  assertEquals(client.namespace, "shop");
  const seen = await get(client);
  assertEquals(seen.path, "/k8s/clusters/c-1/version");
  assertEquals(seen.clientName, "client");
  assertEquals(values(seen, "authorization"), ["Bearer abc"]);
  assertEquals(values(seen, "impersonate-user"), ["grace"]);
  assertEquals(values(seen, "impersonate-group"), ["dev", "ops, all"]);
  assertEquals(values(seen, "user-agent"), ["shopkeeper/1"]);
});

Deno.test("connect and Client.as send another user, and nothing of the one that the kubeconfig acts as", async () => {
  await using certificates = await makeCertificates();
  for (const named of [false, true]) {
    await using server = await serve({ certificates, named });
    const kubeconfig = await writeKubeconfig(
      certificates.path("config"),
      { server: server.url, "certificate-authority": "ca.crt", ...(named && { "tls-server-name": "kubernetes.test" }) },
      { token: "abc", as: "grace", "as-uid": "7", "as-groups": ["admins"], "as-user-extra": { scopes: ["all"] } },
    );
    const sent = async (client: Client): Promise<string[]> =>
      (await get(client)).lines.filter(([name]) => name.startsWith("impersonate-")).map((line) => line.join(": "))
        .sort();
    const ada = { user: "ada", groups: ["analysts", "ops, all"], extra: { "x/y": ["1", "2"] } };
    const lines = [
      "impersonate-extra-x%2fy: 1",
      "impersonate-extra-x%2fy: 2",
      "impersonate-group: analysts",
      "impersonate-group: ops, all",
      "impersonate-user: ada",
    ];
    using client = await connect({ kubeconfig });
    assertEquals(await sent(client.as(ada)), lines);
    assertEquals(await sent(client.as({ user: "eve" })), ["impersonate-user: eve"]);
    assertEquals((await sent(client)).length, 4);
    const connection = await findConnection({ kubeconfig, as: ada }, hostWith());
    assertEquals(connection.origin.actsAs, "ada");
    using acting = new Client(clientOptionsOf(connection));
    assertEquals(await sent(acting), lines);
    assertEquals(await sent(acting.as({ user: "eve" })), ["impersonate-user: eve"]);
  }
  await assertRejects(
    () => connect({ as: { user: "a\n" } }),
    TypeError,
    `Cannot connect: "as.user" contains line ends`,
  );
});

Deno.test("connect takes the authority as text and the token from a function, which is called again after a 401", async () => {
  await using certificates = await makeCertificates();
  let expected = "Bearer token-1";
  await using server = await serve({ certificates, authorization: () => expected });
  const ca = await Deno.readTextFile(certificates.path("ca.crt"));
  let calls = 0;
  using client = await connect({ server: server.url, ca, token: () => Promise.resolve(`token-${++calls}`) });
  assertEquals(calls, 0);
  await get(client);
  assertEquals(values(await get(client), "authorization"), ["Bearer token-1"]);
  expected = "Bearer token-2";
  assertEquals(values(await get(client), "authorization"), ["Bearer token-2"]);
  assertEquals(calls, 2);
});

Deno.test("connect refuses an authority that is no certificate, is given twice, or is of no use", async () => {
  const refused = async (options: ConnectOptions): Promise<string> =>
    (await assertRejects(() => connect(options), TypeError)).message;
  assertEquals(
    [
      await refused({ server: "https://x", ca: "ca.crt" }),
      await refused({ server: "http://127.0.0.1", ca: "x" }),
      await refused({ server: "https://x", ca: "x", caFile: "y" }),
      await refused({ server: "http://example.com", token: () => "x" }),
    ].map((message) => message.slice("Cannot connect: ".length, 58)),
    [
      '"ca" cannot be used: it has no PEM certifi',
      '"ca" does not apply to "http://127.0.0.1",',
      '"ca" and "caFile" cannot be combined. Remo',
      '"token" is not sent to "http://example.com"',
    ].map((text) => text.slice(0, 42)),
  );
});

Deno.test("connect sends requests by the transport that wraps its own, and disposes that alone", async () => {
  await using certificates = await makeCertificates();
  await using server = await serve({ certificates });
  const sent: string[] = [];
  let disposed = 0;
  {
    using client = await connect({
      server: server.url,
      caFile: certificates.path("ca.crt"),
      wrapTransport: (transport) => ({
        fetch: (request) => {
          sent.push(new URL(request.url).pathname);
          return transport.fetch(request);
        },
        [Symbol.dispose]: () => {
          disposed++;
          transport[Symbol.dispose]?.();
        },
      }),
    });
    await get(client);
  }
  assertEquals(sent, ["/version"]);
  assertEquals(disposed, 1);
});

Deno.test("connect with a server option needs no kubeconfig, variables or files", async () => {
  await using server = await serve();
  const host = hostWith({}, { env: notCapable, readTextFile: () => Promise.resolve().then(notCapable) });
  const connection = await findConnection({ server: server.url, token: "abc", namespace: "shop" }, host);
  using client = new Client(clientOptionsOf(connection));
  assertEquals(values(await get(client), "authorization"), ["Bearer abc"]);
  assertEquals(client.namespace, "shop");
  assertEquals(connection.origin, {
    source: "options",
    files: [],
    login: "token",
    clientCertificate: false,
    permissions: [`--allow-net=${new URL(server.url).host}`],
  });
});

Deno.test("connect refuses options that contradict each other or are invalid", async () => {
  const cases = [
    [{ server: "https://a", token: "t", tokenFile: "f" }, `"token" and "tokenFile" cannot be combined`],
    [{ server: "" }, `"server" is empty`],
    [{ kubeconfig: "" }, `"kubeconfig" is empty`],
    [{ context: "" }, `"context" is empty`],
    [{ token: "" }, `"token" is empty`],
    [{ kubeconfig: ":" }, `"kubeconfig" names no file, because it is ":"`],
    [{ server: "farm.example:6443" }, `"server" must be a full URL`],
    [{ server: new URL("ftp://farm.example") }, `"server" must begin with "https://" or "http://"`],
    [{ server: "https://u:hunter2@a" }, `"server" must not hold a user name or password`],
    [{ server: "https://a", token: "hunter2 hunter2" }, `Cannot use token: it holds blanks`],
    [{ server: "http://farm.example", token: "hunter2" }, `"token" is not sent to "http://farm.example"`],
    [{ server: "http://farm.example", tokenFile: "f" }, `"tokenFile" is not sent to "http://farm.example"`],
    [{ server: "http://a.localhost", token: "hunter2" }, `"token" is not sent to "http://a.localhost"`],
    [{ server: "http://localhost", caFile: "f" }, `"caFile" does not apply to "http://localhost"`],
    [{ server: "https://a", caFile: new URL("https://a/ca") }, `"caFile" must be a path or a "file:" URL`],
  ] as const;
  for (const [options, includes] of cases) {
    const error = await assertRejects(() => findConnection(options, hostWith()), TypeError);
    assertStringIncludes(error.message, includes);
    assertFalse(Deno.inspect(error).includes("hunter2"));
  }
});

Deno.test("connect names the option whose file does not exist", async () => {
  for (const name of ["tokenFile", "caFile"]) {
    const error = await assertRejects(
      () => findConnection({ server: "https://a", [name]: "/nonexistent/file" }, hostWith()),
      Error,
    );
    assertEquals(error.message, `Cannot connect: "${name}" names "/nonexistent/file": there is no such file`);
  }
});

Deno.test("connect lists every place that it tried, and what was missing there", async () => {
  const nothing = await assertRejects(() => findConnection({}, hostWith({ HOME: "/nonexistent" })), ConnectError);
  assertEquals(nothing.message.split("\n"), [
    `Cannot connect: no configuration was found. Pass "server" or "kubeconfig", or set KUBECONFIG`,
    `- "/nonexistent/.kube/config": there is no such file`,
    "- in-cluster: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set, so this is not a pod",
  ]);
  const named = await assertRejects(() => findConnection({}, hostWith({ KUBECONFIG: "/no/a:/no/b" })), ConnectError);
  assertEquals(named.attempts[0].source, `KUBECONFIG "/no/a", "/no/b"`);
  assertEquals(named.attempts[0].problem, "none of these files exists");
  const homeless = await assertRejects(() => findConnection({}, hostWith()), ConnectError);
  assertEquals(homeless.attempts[0].problem, "it is not set, and neither is HOME");
  const denied = await assertRejects(() => findConnection({}, hostWith({}, { env: notCapable })), ConnectError);
  assertEquals(denied.attempts.map((attempt) => attempt.problem), [
    "this program may not read it, run it with --allow-env=KUBECONFIG,HOME",
    "this program may not read where the API server is, run it with --allow-env=KUBERNETES_SERVICE_HOST,KUBERNETES_SERVICE_PORT",
  ]);
  assertInstanceOf(denied.cause, Deno.errors.NotCapable);
});

Deno.test("connect continues when it may not read the default kubeconfig in the home folder", async () => {
  const host = hostWith({ HOME: "/home/ada" }, { readTextFile: () => Promise.resolve().then(notCapable) });
  const error = await assertRejects(() => findConnection({}, host), ConnectError);
  assertEquals(error.attempts.length, 2);
  assertStringIncludes(error.attempts[0].problem, "run it with --allow-read=/home/ada/.kube/config");
});

Deno.test("connect with a context does not fall back to the pod", async () => {
  const host = hostWith({ HOME: "/nonexistent", KUBERNETES_SERVICE_HOST: "10.0.0.1", KUBERNETES_SERVICE_PORT: "443" });
  const error = await assertRejects(() => findConnection({ context: "home" }, host), ConnectError);
  assertStringIncludes(
    error.message,
    `Cannot connect to context "home": no kubeconfig was found\n- "/nonexistent/.kube/config"`,
  );
  assertEquals(error.attempts.length, 1);
});

Deno.test({
  name: "connect and inCluster name the Deno flags that are missing",
  permissions: "none",
  fn: async () => {
    const outside = await assertRejects(() => connect(), ConnectError);
    assertStringIncludes(
      outside.message,
      "- KUBECONFIG: this program may not read it, run it with --allow-env=KUBECONFIG,",
    );
    assertStringIncludes(outside.message, "--allow-env=KUBERNETES_SERVICE_HOST,KUBERNETES_SERVICE_PORT");
    const inside = await assertRejects(() => connectInCluster(), ConnectError);
    assertStringIncludes(inside.message, "--allow-env=KUBERNETES_SERVICE_HOST,KUBERNETES_SERVICE_PORT");
    const kubeconfig = await assertRejects(() => connect({ kubeconfig: "/a b/config" }), KubeconfigError);
    assertStringIncludes(kubeconfig.message, `run it with --allow-read="/a b/config"`);
    using client = await connect({ server: "https://10.0.0.1:6443" });
    const net = await assertRejects(() => client.fetch("/version"), UnreachableError);
    assertStringIncludes(net.message, "--allow-net=10.0.0.1:6443");
  },
});

Deno.test("connect reads KUBECONFIG of this process", async () => {
  await using certificates = await makeCertificates();
  await using server = await serve({ certificates });
  const path = await writeKubeconfig(certificates.path("config"), {
    server: server.url,
    "certificate-authority": "ca.crt",
  });
  const before = Deno.env.get("KUBECONFIG");
  Deno.env.set("KUBECONFIG", path);
  try {
    using client = await connect();
    assertEquals((await get(client)).path, "/version");
  } finally {
    if (before === undefined) Deno.env.delete("KUBECONFIG");
    else Deno.env.set("KUBECONFIG", before);
  }
});

Deno.test("httpTransport is disposed with its client", async () => {
  await using certificates = await makeCertificates();
  await using server = await serve({ certificates });
  const transport = httpTransport({ caCerts: [certificates.text("ca.crt")] });
  {
    using client = new Client({ server: server.url, transport });
    assertEquals((await get(client)).path, "/version");
  }
  await assertRejects(() => transport.fetch(new Request(server.url)), TypeError, "was disposed");
});

Deno.test("the stacks of errors of connect and connectInCluster begin at their caller", async () => {
  const path = await Deno.makeTempFile({ suffix: ".yaml" });
  await Deno.writeTextFile(path, "clusters: 1\n");
  const connecting = async (): Promise<unknown> => await connect({ kubeconfig: path });
  const inPod = async (): Promise<unknown> => await connectInCluster();
  for (const [call, name] of [[connecting, "connecting"], [inPod, "inPod"]] as const) {
    const { stack = "", message } = await assertRejects(call, Error);
    const [first] = stack.split("\n").filter((line) => line.startsWith("    at "));
    assertStringIncludes(first, `at async ${name} (`);
    assertStringIncludes(stack, message);
  }
  await Deno.remove(path);
});

const SERVER = "http://127.0.0.1:1";

Deno.test("connectKubeconfig refuses programs and files by name, and reads and runs nothing", async () => {
  const file = await Deno.makeTempFile();
  const exec = {
    apiVersion: "client.authentication.k8s.io/v1",
    interactiveMode: "Never",
    command: "sh",
    args: ["-c", `echo ran > ${file}`],
  };
  const data = { "client-key-data": pemData("PRIVATE KEY") };
  const cluster = { server: "https://farm.example" };
  for (
    const [parts, field] of [
      [{ user: { exec }, cluster }, "exec"],
      [{ user: { tokenFile: file }, cluster }, "tokenFile"],
      [{ user: { "client-certificate": file, ...data }, cluster }, "client-certificate"],
      [{ cluster: { ...cluster, "certificate-authority": file } }, "certificate-authority"],
    ] as const
  ) {
    const error = await assertRejects(
      () => connectKubeconfig(kubeconfigText(parts), "secret fleet/berlin"),
      KubeconfigError,
      `kubeconfig "secret fleet/berlin": field "${field}" names a ${field === "exec" ? "program" : "file"}`,
    );
    assertEquals(error.field, field);
  }
  assertEquals(await Deno.readTextFile(file), "");
  await Deno.remove(file);
});

Deno.test("connectKubeconfig applies certificates and a token that are in the text, and refuses what connect() refuses", async () => {
  await using certificates = await makeCertificates();
  await using server = await serve({ certificates, authorization: () => "Bearer abc" });
  const cluster = { server: server.url, "certificate-authority-data": btoa(certificates.text("ca.crt")) };
  const text = kubeconfigText({ cluster, user: { token: "abc" }, context: { namespace: "shop" } });
  using client = await connectKubeconfig(text, "berlin");
  assertEquals([client.namespace, client.server.href], ["shop", `${server.url}/`]);
  const answered = await assertRejects(() => client.resource(Pod).list());
  assertEquals(isUnauthorized(answered), false); // it trusts the server, which answers no list of pods
  assertEquals(answered instanceof DecodeError || answered instanceof UnexpectedKindError, true);
  await assertRejects(() => connectKubeconfig("", "berlin"), KubeconfigError, "it has no clusters");
  await assertRejects(() => connectKubeconfig(text, "berlin", { context: "away" }), KubeconfigError, `context "away"`);
});

Deno.test("connectContexts returns a client for each context, and leaves out one that cannot be used", async () => {
  const path = await Deno.makeTempFile();
  const contexts = ["berlin", "paris", "lost"];
  await Deno.writeTextFile(
    path,
    JSON.stringify({
      clusters: contexts.slice(0, 2).map((name) => ({ name, cluster: { server: `${SERVER}/${name}` } })),
      contexts: contexts.map((name) => ({ name, context: { cluster: name } })),
    }),
  );
  const refused: string[] = [];
  const open = async (contexts?: readonly string[]): Promise<unknown> => {
    const clients = await connectContexts({
      kubeconfig: path,
      contexts,
      onRefused: (_error, name) => refused.push(name),
    });
    const found = Array.from(clients, ([name, client]) => [name, client.server.pathname]);
    for (const client of clients.values()) client[Symbol.dispose]();
    return found;
  };
  assertEquals(await open(), [["berlin", "/berlin"], ["paris", "/paris"]]);
  assertEquals(refused.splice(0), ["lost"]);
  assertEquals(await open(["paris", "paris"]), [["paris", "/paris"]]);
  await assertRejects(() => open(["paris", "rome"]), KubeconfigError, `context "rome"`); // a mistake of the caller
  assertEquals(refused, []);
  await assertRejects(() => connectContexts({ kubeconfig: path }), KubeconfigError, `"lost"`);
  await Deno.remove(path);
  await assertRejects(() => connectContexts({ kubeconfig: path }), KubeconfigError, path);
});
