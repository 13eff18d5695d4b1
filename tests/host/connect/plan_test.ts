import { assertEquals, assertFalse, assertInstanceOf, assertRejects, assertStringIncludes } from "@std/assert";
import { findConnection, findInClusterConnection } from "../../../src/host/connect/connect.ts";
import { ConnectError, type ConnectOptions } from "../../../src/host/connect/connect_options.ts";
import type { Host } from "../../../src/host/connect/host.ts";
import { KubeconfigError } from "../../../src/host/connect/kubeconfig/parse_kubeconfig.ts";
import { type Certificates, makeCertificates } from "../../support/servers/certificates.ts";
import { FakeTime } from "../../support/times/fake_time.ts";
import { ask, hostWith, notCapable, writeKubeconfig } from "../../support/processes/host.ts";
import { REASONS } from "./_runtime.ts";
import { serve, values } from "../../support/servers/tls_server.ts";

/** A folder for kubeconfigs, removed on disposal. */
async function makeFolder(): Promise<{ readonly path: string } & AsyncDisposable> {
  const path = await Deno.makeTempDir({ prefix: "informer-kubeconfig-" });
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}

/** Writes a kubeconfig beside the certificates, and connects by it. */
async function connectBy(
  certificates: Certificates,
  cluster: Record<string, unknown>,
  user: Record<string, unknown> = {},
  options: ConnectOptions = {},
  host: Host = hostWith(),
): ReturnType<typeof findConnection> {
  const kubeconfig = await writeKubeconfig(certificates.path("config"), cluster, user);
  return await findConnection({ kubeconfig, ...options }, host);
}

Deno.test("connect trusts a CA file beside the kubeconfig, a CA file elsewhere, and an inline CA", async () => {
  await using certificates = await makeCertificates();
  await using server = await serve({ certificates });
  for (
    const cluster of [
      { "certificate-authority": "ca.crt" },
      { "certificate-authority": `../${certificates.folder.split("/").at(-1)}/ca.crt` },
      { "certificate-authority": certificates.path("ca.crt") },
      { "certificate-authority-data": btoa(certificates.text("ca.crt")) },
    ]
  ) {
    const connection = await connectBy(certificates, { server: server.url, ...cluster });
    using _transport = connection.transport;
    assertEquals((await ask(connection)).path, "/version");
    assertEquals(connection.origin.login, "none");
  }
});

Deno.test("connect does not trust a server of another authority [F34]", async () => {
  await using certificates = await makeCertificates();
  await using server = await serve({ certificates });
  for (const cluster of [{ "certificate-authority": "other-ca.crt" }, {}]) {
    const connection = await connectBy(certificates, { server: server.url, ...cluster });
    using _transport = connection.transport;
    const error = await assertRejects(() => ask(connection), TypeError);
    assertStringIncludes(Deno.inspect(error), REASONS.untrusted);
  }
});

Deno.test("connect presents a client certificate from files, from data, and from one of each", async () => {
  await using certificates = await makeCertificates();
  await using server = await serve({ certificates, requestCert: true });
  const cluster = { server: server.url, "certificate-authority": "ca.crt" };
  for (
    const user of [
      { "client-certificate": "client.crt", "client-key": "client.key" },
      {
        "client-certificate-data": btoa(certificates.text("client.crt")),
        "client-key-data": btoa(certificates.text("client.key")),
      },
      { "client-certificate": "client.crt", "client-key-data": btoa(certificates.text("client.key")) },
    ]
  ) {
    const connection = await connectBy(certificates, cluster, user);
    using _transport = connection.transport;
    assertEquals((await ask(connection)).clientName, "client");
    assertEquals(connection.origin.clientCertificate, true);
  }
});

Deno.test("connect sends token and impersonation [C147]", async () => {
  await using certificates = await makeCertificates();
  await using server = await serve({ certificates });
  const cluster = { server: server.url, "certificate-authority": "ca.crt" };
  const cases: readonly [user: Record<string, unknown>, header: string, sent: string[], login: string][] = [
    [{ token: "abc" }, "authorization", ["Bearer abc"], "token"],
    [{ as: "grace", "as-groups": ["dev", "a, b"] }, "impersonate-group", ["dev", "a, b"], "none"],
    [
      { token: "t", as: "grace", "as-user-extra": { "x/y": ["1", "2"] } },
      "impersonate-extra-x%2fy",
      ["1", "2"],
      "token",
    ],
  ];
  for (const [user, header, sent, login] of cases) {
    const connection = await connectBy(certificates, cluster, user);
    using _transport = connection.transport;
    assertEquals(values(await ask(connection), header), sent);
    assertEquals([connection.origin.login, connection.origin.actsAs], [login, user.as]);
  }
});

Deno.test("connect uses the token while the tokenFile beside it cannot be read", async () => {
  await using certificates = await makeCertificates();
  await using server = await serve({ certificates });
  const warnings: string[] = [];
  const connection = await connectBy(
    certificates,
    { server: server.url, "certificate-authority": "ca.crt" },
    { token: "static", tokenFile: "token" },
    { onWarning: (warning) => warnings.push(warning) },
  );
  using _transport = connection.transport;
  assertEquals(values(await ask(connection), "authorization"), ["Bearer static"]);
  assertEquals(warnings.length, 1);
  await Deno.writeTextFile(certificates.path("token"), "file");
  assertEquals(values(await ask(connection), "authorization"), ["Bearer file"]);
});

Deno.test("connect names file, entry and field of a file that it cannot use", async () => {
  await using certificates = await makeCertificates();
  await Deno.writeTextFile(certificates.path("junk"), "junk");
  await Deno.writeTextFile(certificates.path("empty"), "");
  const good = { server: "https://127.0.0.1:1" };
  const noCertificate = "-----BEGIN CERTIFICATE-----\nMAUCAgICAg==\n-----END CERTIFICATE-----\n"; // valid PEM
  const cert = { "client-certificate": "client.crt" };
  const cases: readonly [
    cluster: Record<string, unknown>,
    user: Record<string, unknown>,
    field: string,
    includes: string,
  ][] = [
    [{ ...good, "certificate-authority": "no.crt" }, {}, "certificate-authority", `no.crt": there is no such file`],
    [{ ...good, "certificate-authority": "." }, {}, "certificate-authority", "it is a folder"],
    [{ ...good, "certificate-authority": "junk" }, {}, "certificate-authority", "it has no PEM certificate"],
    [{ ...good, "certificate-authority": "empty" }, {}, "certificate-authority", "it is empty"],
    [{ ...good, "certificate-authority-data": btoa(noCertificate) }, {}, "certificate-authority-data", ""],
    [{ ...good, "certificate-authority": "ca.key" }, {}, "certificate-authority", `only "PRIVATE KEY"`],
    [good, { ...cert, "client-key": "no.key" }, "client-key", `no.key": there is no such file`],
    [good, { ...cert, "client-key": "client.crt" }, "client-key", "it has no PEM private key"],
    [good, { ...cert, "client-key": "other-client.key" }, "client-certificate", "Cannot set up TLS"],
    [
      good,
      { "client-certificate-data": btoa(certificates.text("client.crt")), "client-key": "ca.key" },
      "client-certificate-data",
      "cannot be used: Cannot set up TLS",
    ],
    [good, { tokenFile: "no" }, "tokenFile", `no": there is no such file`],
    [good, { tokenFile: "empty" }, "tokenFile", "its content is empty"],
  ];
  for (const [cluster, user, field, includes] of cases) {
    const error = await assertRejects(() => connectBy(certificates, cluster, user), KubeconfigError);
    assertEquals([error.file, error.field], [certificates.path("config"), field], error.message);
    assertEquals(error.entry, cluster === good ? `user "ada"` : `cluster "farm"`);
    assertStringIncludes(error.message, includes);
  }
});

Deno.test("connect requires every kubeconfig that the option names [C141]", async () => {
  await using folder = await makeFolder();
  const path = await writeKubeconfig(`${folder.path}/config`, { server: "https://farm.example" });
  const missing = `${folder.path}/missing`;
  for (const kubeconfig of [missing, `${path}:${missing}`]) {
    const error = await assertRejects(() => findConnection({ kubeconfig }, hostWith()), KubeconfigError);
    assertEquals(error.message, `Cannot use kubeconfig "${missing}": there is no such file`);
    assertEquals(error.file, missing);
  }
  const isFolder = await assertRejects(() => findConnection({ kubeconfig: folder.path }, hostWith()), KubeconfigError);
  assertStringIncludes(isFolder.message, "it is a folder");
  await Deno.writeTextFile(`${folder.path}/empty`, "# nothing\n");
  const empty = await assertRejects(
    () => findConnection({ kubeconfig: `${folder.path}/empty` }, hostWith()),
    KubeconfigError,
  );
  assertStringIncludes(empty.message, "it has no clusters, contexts or users");
});

Deno.test("connect skips files of KUBECONFIG that are missing or empty, and reads each once", async () => {
  await using folder = await makeFolder();
  const path = await writeKubeconfig(`${folder.path}/config`, { server: "https://farm.example" });
  await Deno.writeTextFile(`${folder.path}/empty`, "");
  const reads: string[] = [];
  const host = hostWith({ KUBECONFIG: `:${folder.path}/missing:${folder.path}/empty::${path}:${path}:` }, {
    readTextFile: (file) => {
      reads.push(file);
      return Deno.readTextFile(file);
    },
  });
  const connection = await findConnection({}, host);
  using _transport = connection.transport;
  assertEquals(connection.server.host, "farm.example");
  assertEquals(reads, [`${folder.path}/missing`, `${folder.path}/empty`, path]);
  assertEquals(connection.origin.files, [`${folder.path}/empty`, path]);
});

Deno.test("connect does not skip a file of KUBECONFIG that is broken or may not be read", async () => {
  await using folder = await makeFolder();
  const good = await writeKubeconfig(`${folder.path}/config`, { server: "https://farm.example" });
  await Deno.writeTextFile(`${folder.path}/broken`, "users: [");
  const broken = await assertRejects(
    () => findConnection({}, hostWith({ KUBECONFIG: `${good}:${folder.path}/broken` })),
    KubeconfigError,
  );
  assertEquals(broken.file, `${folder.path}/broken`);
  const denied = hostWith({ KUBECONFIG: good }, { readTextFile: () => Promise.resolve().then(notCapable) });
  const error = await assertRejects(() => findConnection({}, denied), KubeconfigError);
  assertStringIncludes(error.message, `this program may not read it, run it with --allow-read=${good}`);
});

Deno.test("connect merges files, and resolves each file's paths from its own folder [C142]", async () => {
  await using certificates = await makeCertificates();
  await using server = await serve({ certificates });
  await using folder = await makeFolder();
  await Deno.writeTextFile(
    `${folder.path}/contexts`,
    JSON.stringify({
      "current-context": "a",
      contexts: [{ name: "a", context: { cluster: "c", user: "u", namespace: "shop" } }],
    }),
  );
  await Deno.mkdir(`${folder.path}/users`);
  await Deno.writeTextFile(`${folder.path}/users/token`, "from-users");
  await Deno.writeTextFile(
    `${folder.path}/users/config`,
    JSON.stringify({ "current-context": "b", users: [{ name: "u", user: { tokenFile: "token" } }] }),
  );
  await Deno.writeTextFile(
    certificates.path("config"),
    JSON.stringify({
      clusters: [{ name: "c", cluster: { server: server.url, "certificate-authority": "ca.crt" } }],
      users: [{ name: "u", user: { token: "from-the-last-file" } }],
    }),
  );
  const KUBECONFIG = [`${folder.path}/contexts`, `${folder.path}/users/config`, certificates.path("config")].join(":");
  const connection = await findConnection({}, hostWith({ KUBECONFIG }));
  using _transport = connection.transport;
  assertEquals(values(await ask(connection), "authorization"), ["Bearer from-users"]);
  assertEquals(connection.namespace, "shop");
  assertEquals(connection.origin.context, "a");
  assertEquals(connection.origin.user, "u");
});

Deno.test("connect finds ~/.kube/config, and a relative kubeconfig's files", async () => {
  await using folder = await makeFolder();
  await Deno.mkdir(`${folder.path}/.kube`);
  await writeKubeconfig(`${folder.path}/.kube/config`, { server: "https://home.example" });
  const connection = await findConnection({}, hostWith({ HOME: folder.path, KUBECONFIG: "" }));
  using _transport = connection.transport;
  assertEquals(connection.server.host, "home.example");
  const reads: string[] = [];
  const host = hostWith({}, {
    readTextFile: (path) => {
      reads.push(path);
      return path === "config" ? Deno.readTextFile(`${folder.path}/.kube/config`) : Promise.resolve("token");
    },
  });
  await writeKubeconfig(`${folder.path}/.kube/config`, { server: "https://home.example" }, {
    tokenFile: "secret/token",
  });
  using _relative = (await findConnection({ kubeconfig: "config" }, host)).transport;
  assertEquals(reads, ["config", "secret/token"]);
});

Deno.test("connect on Windows separates by semicolons and looks in USERPROFILE", async () => {
  const reads: string[] = [];
  const windows = (env: Record<string, string>) =>
    hostWith(env, {
      windows: true,
      readTextFile: (path) => {
        reads.push(path);
        return Promise.reject(new Deno.errors.NotFound());
      },
    });
  await assertRejects(() => findConnection({}, windows({ KUBECONFIG: "C:\\a;D:\\b" })), ConnectError);
  await assertRejects(() => findConnection({}, windows({ USERPROFILE: "C:\\Users\\ada" })), ConnectError);
  assertEquals(reads, ["C:\\a", "D:\\b", "C:\\Users\\ada\\.kube\\config"]);
});

Deno.test("connect accepts a file: URL, which may have a colon", async () => {
  await using folder = await makeFolder();
  const path = await writeKubeconfig(`${folder.path}/a b:c`, { server: "https://farm.example" });
  const url = new URL(`file://${folder.path}/a%20b:c`);
  const connection = await findConnection({ kubeconfig: url }, hostWith());
  using _transport = connection.transport;
  assertEquals(connection.origin.files, [path]);
  await assertRejects(
    () => findConnection({ kubeconfig: new URL("https://farm.example/config") }, hostWith()),
    TypeError,
    `"kubeconfig" must be a path or a "file:" URL, but its protocol is "https:"`,
  );
});

Deno.test("connect uses the context and the namespace of its options", async () => {
  await using folder = await makeFolder();
  const kubeconfig = `${folder.path}/config`;
  await Deno.writeTextFile(
    kubeconfig,
    JSON.stringify({
      "current-context": "a",
      clusters: ["a", "b"].map((name) => ({ name, cluster: { server: `https://${name}.example` } })),
      contexts: ["a", "b"].map((name) => ({ name, context: { cluster: name, namespace: name } })),
    }),
  );
  for (
    const [options, server, namespace] of [
      [{}, "a.example", "a"],
      [{ context: "b" }, "b.example", "b"],
      [{ context: "b", namespace: "shop" }, "b.example", "shop"],
    ] as const
  ) {
    const connection = await findConnection({ kubeconfig, ...options }, hostWith());
    using _transport = connection.transport;
    assertEquals([connection.server.host, connection.namespace], [server, namespace]);
  }
  const error = await assertRejects(() => findConnection({ kubeconfig, context: "c" }, hostWith()), KubeconfigError);
  assertStringIncludes(error.message, `the contexts are "a", "b"`);
});

Deno.test("connect replaces the kubeconfig's user, exec included, by the login in its options", async () => {
  await using certificates = await makeCertificates();
  await using server = await serve({ certificates });
  await Deno.writeTextFile(certificates.path("token"), "from-file");
  const cluster = { server: server.url, "certificate-authority": "ca.crt" };
  const user = { exec: { command: "aws" }, as: "grace", "client-certificate": "no.crt", "client-key": "no.key" };
  for (
    const [options, sent] of [
      [{ token: "own" }, "Bearer own"],
      [{ tokenFile: certificates.path("token") }, "Bearer from-file"],
      [{ tokenFile: new URL(`file://${certificates.path("token")}`) }, "Bearer from-file"],
    ] as const
  ) {
    const connection = await connectBy(certificates, cluster, user, options);
    using _transport = connection.transport;
    const seen = await ask(connection);
    assertEquals(values(seen, "authorization"), [sent]);
    assertEquals(values(seen, "impersonate-user"), []);
    assertFalse("user" in connection.origin);
  }
});

Deno.test("connect with a server or CA in its options replaces those of the cluster [C144]", async () => {
  await using certificates = await makeCertificates();
  await using server = await serve({ certificates });
  const cluster = {
    server: "https://other.example",
    "certificate-authority": "no.crt",
    "tls-server-name": "kubernetes",
  };
  const caFile = certificates.path("ca.crt");
  const connection = await connectBy(certificates, cluster, { token: "abc" }, { server: server.url, caFile });
  using _transport = connection.transport;
  assertEquals(values(await ask(connection), "authorization"), ["Bearer abc"]);
  assertEquals(connection.origin.source, "kubeconfig");
});

Deno.test("connect with a CA in its options overrides insecure-skip-tls-verify", async () => {
  await using certificates = await makeCertificates();
  const cluster = { server: "https://farm.example", "insecure-skip-tls-verify": true };
  for (const [options, insecure] of [[{}, true], [{ caFile: certificates.path("ca.crt") }, undefined]] as const) {
    const connection = await connectBy(certificates, cluster, {}, options);
    using _transport = connection.transport;
    assertEquals(connection.origin.insecure, insecure);
  }
});

Deno.test("connect passes disable-compression to the client", async () => {
  await using certificates = await makeCertificates();
  for (const disabled of [true, false]) {
    const connection = await connectBy(certificates, {
      server: "https://farm.example",
      "disable-compression": disabled,
    });
    using _transport = connection.transport;
    assertEquals(connection.compress, !disabled);
  }
});

Deno.test("connect returns the permissions that a connection needs", async () => {
  await using certificates = await makeCertificates();
  await Deno.writeTextFile(certificates.path("token"), "t");
  const path = await writeKubeconfig(
    certificates.path("config"),
    { server: "https://farm.example", "certificate-authority": "ca.crt" },
    { tokenFile: "token" },
  );
  const connection = await findConnection({}, hostWith({ KUBECONFIG: path }));
  using _transport = connection.transport;
  assertEquals(connection.origin.permissions, [
    "--allow-env=KUBECONFIG",
    `--allow-read=${path},${certificates.path("token")},${certificates.path("ca.crt")}`,
    "--allow-net=farm.example:443",
  ]);
});

/** A pod's folder, laid out as the kubelet does: links to a folder that is replaced as a whole. */
class Pod {
  readonly folder: string;
  #version = 0;

  constructor(folder: string) {
    this.folder = folder;
  }

  static async make(certificates: Certificates): Promise<Pod> {
    const pod = new Pod(certificates.path("serviceaccount"));
    await Deno.mkdir(pod.folder);
    for (const name of ["token", "ca.crt", "namespace"]) await Deno.symlink(`..data/${name}`, `${pod.folder}/${name}`);
    await pod.write({ token: "first", "ca.crt": certificates.text("ca.crt"), namespace: "shop\n" });
    return pod;
  }

  /** Swaps in a folder with these files and no others. */
  async write(files: Readonly<Record<string, string>>): Promise<void> {
    const name = `..${++this.#version}`;
    await Deno.mkdir(`${this.folder}/${name}`);
    for (const [file, text] of Object.entries(files)) await Deno.writeTextFile(`${this.folder}/${name}/${file}`, text);
    await Deno.symlink(name, `${this.folder}/..next`);
    await Deno.rename(`${this.folder}/..next`, `${this.folder}/..data`);
  }

  host(url: string, env: Readonly<Record<string, string>> = {}, overrides: Partial<Host> = {}): Host {
    const { hostname, port } = new URL(url);
    const own = { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port || "443" };
    return hostWith({ ...own, ...env }, { serviceAccountFolder: this.folder, ...overrides });
  }
}

Deno.test("connect uses the service account of its pod if there is no kubeconfig [C146]", async () => {
  await using certificates = await makeCertificates();
  await using server = await serve({ certificates });
  const pod = await Pod.make(certificates);
  for (const resolve of [findConnection, findInClusterConnection]) {
    const connection = await resolve({}, pod.host(server.url, { HOME: "/nonexistent" }));
    using _transport = connection.transport;
    assertEquals(values(await ask(connection), "authorization"), ["Bearer first"]);
    assertEquals(connection.namespace, "shop");
    assertEquals([connection.origin.source, connection.origin.login], ["in-cluster", "tokenFile"]);
    assertEquals(
      connection.origin.permissions.at(-2),
      `--allow-read=${resolve === findConnection ? "/nonexistent/.kube/config," : ""}${pod.folder}`,
    );
  }
});

Deno.test("connect follows the rotation of token and CA in a pod", async () => {
  await using certificates = await makeCertificates();
  let expected = "Bearer first";
  await using server = await serve({ certificates, authorization: () => expected });
  await using moved = await serve({ certificates, other: true, authorization: () => expected });
  const pod = await Pod.make(certificates);
  using time = new FakeTime();
  const connection = await findInClusterConnection({}, pod.host(server.url));
  using _transport = connection.transport;
  await ask(connection);
  await pod.write({ token: "second", "ca.crt": certificates.text("ca.crt"), namespace: "shop" });
  time.tick(49_999);
  await ask(connection);
  time.tick(1);
  expected = "Bearer second";
  await ask(connection);
  await pod.write({ token: "third", "ca.crt": certificates.text("other-ca.crt"), namespace: "shop" });
  expected = "Bearer third";
  await assertRejects(() => ask(connection), Error, "401");
  await ask(connection, "/version", { refresh: true });
  time.tick(5 * 60_000);
  const there = { ...connection, server: new URL(moved.url) };
  assertEquals((await ask(there)).path, "/version");
});

Deno.test("connect prefers a kubeconfig that is not empty to the pod's service account", async () => {
  await using certificates = await makeCertificates();
  const pod = await Pod.make(certificates);
  const KUBECONFIG = await writeKubeconfig(certificates.path("config"), { server: "https://farm.example" });
  const connection = await findConnection({}, pod.host("https://10.0.0.1:443", { KUBECONFIG }));
  using _transport = connection.transport;
  assertEquals(connection.server.host, "farm.example");
  // The pod's namespace is of its own cluster.
  assertEquals(connection.namespace, "default");
  await Deno.writeTextFile(certificates.path("empty"), "apiVersion: v1\nkind: Config\n");
  const inside = await findConnection(
    {},
    pod.host("https://10.0.0.1:443", { KUBECONFIG: certificates.path("empty") }),
  );
  using _inside = inside.transport;
  assertEquals(inside.origin.source, "in-cluster");
});

Deno.test("connect takes the namespace from its options, POD_NAMESPACE, the pod's file, or uses default", async () => {
  await using certificates = await makeCertificates();
  const pod = await Pod.make(certificates);
  const url = "https://10.0.0.1:6443";
  const deniedName: Partial<Host> = {
    env: (name) => name === "POD_NAMESPACE" ? notCapable() : pod.host(url).env(name),
  };
  const cases = [
    [{ namespace: "own" }, pod.host(url, { POD_NAMESPACE: "env" }), "own"],
    [{}, pod.host(url, { POD_NAMESPACE: "env" }), "env"],
    [{}, pod.host(url, { POD_NAMESPACE: "" }), "shop"],
    [{}, pod.host(url, {}, deniedName), "shop"],
  ] as const;
  for (const [options, host, namespace] of cases) {
    const connection = await findInClusterConnection(options, host);
    using _transport = connection.transport;
    assertEquals(connection.namespace, namespace);
  }
  await pod.write({ token: "t", "ca.crt": certificates.text("ca.crt") });
  const connection = await findInClusterConnection({}, pod.host(url));
  using _transport = connection.transport;
  assertEquals(connection.namespace, "default");
});

Deno.test("connect replaces the pod's token and CA by those in its options", async () => {
  await using certificates = await makeCertificates();
  await using server = await serve({ certificates, other: true });
  const pod = await Pod.make(certificates);
  await pod.write({ namespace: "shop" });
  const options = { token: "own", caFile: certificates.path("other-ca.crt") };
  const connection = await findConnection(options, pod.host(server.url));
  using _transport = connection.transport;
  assertEquals(values(await ask(connection), "authorization"), ["Bearer own"]);
});

Deno.test("connect writes an IPv6 address of the API server in brackets", async () => {
  await using certificates = await makeCertificates();
  const pod = await Pod.make(certificates);
  const env = { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "443" };
  const connection = await findInClusterConnection({}, pod.host("https://10.0.0.1", env));
  using _transport = connection.transport;
  assertEquals(connection.server.href, "https://[fd00::1]/");
  assertEquals(connection.origin.permissions.at(-1), "--allow-net=[fd00::1]:443");
});

Deno.test("connectInCluster names what is missing", async () => {
  await using certificates = await makeCertificates();
  const pod = await Pod.make(certificates);
  const url = "https://10.0.0.1:443";
  const ca = certificates.text("ca.crt");
  const cases: readonly [files: Record<string, string>, host: Host, includes: string][] = [
    [{}, hostWith(), "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set, so this is not a pod"],
    [{}, hostWith({ KUBERNETES_SERVICE_HOST: "a" }), "KUBERNETES_SERVICE_PORT is not set"],
    [
      {},
      pod.host(url, { KUBERNETES_SERVICE_PORT: "many" }),
      `are not an address`,
    ],
    [{}, hostWith({}, { env: notCapable }), "--allow-env=KUBERNETES_SERVICE_HOST,KUBERNETES_SERVICE_PORT"],
    [{ "ca.crt": ca }, pod.host(url), "automountServiceAccountToken"],
    [{ "ca.crt": ca, token: " " }, pod.host(url), `token": its content is empty`],
    [{ token: "t" }, pod.host(url), `ca.crt": there is no such file`],
    [{ token: "t", "ca.crt": "junk" }, pod.host(url), "it has no PEM certificate"],
    [
      { token: "t", "ca.crt": ca },
      pod.host(url, {}, { readTextFile: () => Promise.resolve().then(notCapable) }),
      `run it with --allow-read=${pod.folder}`,
    ],
  ];
  for (const [files, host, includes] of cases) {
    await pod.write(files);
    const error = await assertRejects(() => findInClusterConnection({}, host), ConnectError);
    assertStringIncludes(error.message, "Cannot connect from inside a cluster:\n- in-cluster: ");
    assertStringIncludes(error.message, includes);
    assertEquals(error.attempts.length, 1);
  }
});

Deno.test("connect explains a pod's token that was refused and cannot be read again", async () => {
  await using certificates = await makeCertificates();
  await using server = await serve({ certificates, authorization: () => "Bearer other" });
  const pod = await Pod.make(certificates);
  const connection = await findInClusterConnection({}, pod.host(server.url));
  using _transport = connection.transport;
  await pod.write({});
  const error = await assertRejects(() => ask(connection, "/version", { refresh: true }), Error);
  assertStringIncludes(error.message, "Cannot use the pod's service account: ");
  assertStringIncludes(error.message, "there is no such file");
  assertInstanceOf(error.cause, Error);
});
