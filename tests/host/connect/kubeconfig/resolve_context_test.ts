import { assert, assertEquals, assertFalse, assertStringIncludes, assertThrows } from "@std/assert";
import {
  KubeconfigError,
  mergeKubeconfigs,
  parseKubeconfig,
} from "../../../../src/host/connect/kubeconfig/parse_kubeconfig.ts";
import {
  type Material,
  resolveContext,
  type ResolvedContext,
  type ResolvedUser,
  type ResolveOptions,
} from "../../../../src/host/connect/kubeconfig/resolve_context.ts";
import { tokenProblem } from "../../../../src/host/connect/kubeconfig/secrets.ts";
import { kubeconfig, type Parts, pem, pemData } from "../../../support/servers/kubeconfig.ts";

function resolved(user: Record<string, unknown>, server = "https://farm.example"): ResolvedUser {
  const context = resolveContext(kubeconfig({ user, cluster: { server } }));
  assert(context.user !== undefined);
  return context.user;
}

function refused(user: Record<string, unknown>, server?: string): KubeconfigError {
  const error = assertThrows(() => resolved(user, server), KubeconfigError);
  assertEquals([error.file, error.entry], ["/etc/kube/config", `user "ada"`]);
  return error;
}

/** Returns where a certificate or key is. */
function formOf(material: Material | undefined): "inline" | "file" | undefined {
  return material && ("pem" in material ? "inline" : "file");
}

Deno.test("resolveUser applies impersonation", () => {
  const { impersonation } = resolved({
    as: "grace",
    "as-uid": "42",
    "as-groups": ["dev", "ops, all"],
    "as-user-extra": { reason: ["audit", "test"], empty: [] },
  });
  assertEquals(
    impersonation,
    { user: "grace", uid: "42", groups: ["dev", "ops, all"], extra: { reason: ["audit", "test"], empty: [] } },
  );
});

Deno.test("resolveUser refuses fields that contradict each other or are incomplete", () => {
  const cases: readonly [user: Record<string, unknown>, field: string, includes: string][] = [
    [{ token: "t", username: "u", password: "p" }, "username", "asks for basic authentication"],
    [{ password: "p" }, "password", `remove it, and use a "token"`],
    [{ token: "two words" }, "token", "holds blanks, line ends or characters beyond ASCII"],
    [{ token: "ümlaut" }, "token", "beyond ASCII"],
    [{ token: ["t"] }, "token", "must be text, in quotes if need be, but it is a list"],
    [{ token: true }, "token", "it is a boolean"],
    [{ "client-certificate": "a.crt" }, "client-certificate", `has no key`],
    [{ "client-key-data": pemData("PRIVATE KEY") }, "client-key-data", "has no certificate"],
    [
      { "client-certificate": "a.crt", "client-certificate-data": pemData("CERTIFICATE"), "client-key": "a" },
      "client-certificate-data",
      `is set together with "client-certificate"`,
    ],
    [
      { "client-certificate": "a.crt", "client-key-data": pemData("PRIVATE KEY"), "client-key": "a" },
      "client-key-data",
      `is set together with "client-key"`,
    ],
    [
      { "client-certificate": "a.crt", "client-key-data": pemData("CERTIFICATE") },
      "client-key-data",
      `it has no PEM private key`,
    ],
    [
      { "client-certificate": "a.crt", "client-key-data": pemData("ENCRYPTED PRIVATE KEY") },
      "client-key-data",
      `openssl pkey`,
    ],
    [
      { "client-certificate-data": pemData("PRIVATE KEY"), "client-key": "a" },
      "client-certificate-data",
      `it has no PEM certificate ("-----BEGIN CERTIFICATE-----"): it has only "PRIVATE KEY"`,
    ],
    [{ "as-uid": "1" }, "as-uid", `needs a user to act as: add "as"`],
    [{ "as-groups": ["dev"] }, "as-groups", `needs a user to act as`],
    [{ "as-user-extra": { a: ["b"] } }, "as-user-extra", `needs a user to act as`],
    [{ as: "a\nb" }, "as", "contains line ends"],
    [{ as: "a", "as-groups": ["x", "y "] }, "as-groups", "begins or ends with a blank"],
    [{ as: "a", "as-groups": "dev" }, "as-groups", "must be a list of texts, but it is text"],
    [{ as: "a", "as-groups": [["dev"]] }, "as-groups", "must be a list of texts, but it is a list"],
    [{ as: "a", "as-user-extra": ["dev"] }, "as-user-extra", "must be a mapping of lists, but it is a list"],
    [{ as: "a", "as-user-extra": { k: "dev" } }, "as-user-extra", "must be a list of texts, but it is text"],
    [{ as: "a", "as-user-extra": { "": ["dev"] } }, "as-user-extra", "has a key that cannot be sent"],
  ];
  for (const [user, field, includes] of cases) {
    const error = refused(user);
    assertEquals(error.field, field, error.message);
    assertStringIncludes(error.message, includes);
  }
});

Deno.test("resolveUser refuses auth-provider and names its replacement", () => {
  for (
    const [provider, includes] of [
      [{ name: "gcp", config: { "access-token": "hunter2" } }, "gke-gcloud-auth-plugin"],
      [{ name: "azure" }, "kubelogin convert-kubeconfig"],
      [{ name: "oidc", config: { "id-token": "hunter2", "refresh-token": "hunter2" } }, "kubectl-oidc_login"],
      [{ name: "openstack" }, "client-keystone-auth"],
      [{ name: "__proto__" }, "use a credential plugin"],
      ["gcp", "use a credential plugin"],
    ] as const
  ) {
    const error = refused({ "auth-provider": provider });
    assertEquals(error.field, "auth-provider");
    assertStringIncludes(error.message, includes);
    assertStringIncludes(error.message, `pass a token as "token" or "tokenFile"`);
    assertFalse(Deno.inspect(error).includes("hunter2"));
  }
});

Deno.test("resolveUser refuses unknown fields and names the nearest known one", () => {
  for (const [field, known] of [["token-file", "tokenFile"], ["user-name", "username"], ["impersonate", ""]]) {
    const error = refused({ [field]: "x" });
    assertEquals(error.field, field);
    assertStringIncludes(
      error.message,
      known === "" ? `is not known: a user has` : `is not known (did you mean "${known}"?)`,
    );
  }
});

Deno.test("resolveUser allows credentials over TLS, and over plain HTTP to this machine only", () => {
  const users = [{ token: "hunter2" }, { tokenFile: "t" }, {
    exec: { apiVersion: "client.authentication.k8s.io/v1beta1", command: "aws" },
  }];
  for (const user of users) {
    const error = refused(user, "http://farm.example:8080");
    assertEquals(error.field, Object.keys(user)[0]);
    assertStringIncludes(error.message, `is not sent to "http://farm.example:8080", where others could read it`);
    assertFalse(error.message.includes("hunter2"));
    for (const host of ["localhost", "127.0.0.1", "127.8.9.1", "[::1]", "LOCALHOST"]) {
      assertEquals(resolved(user, `http://${host}:8080`).name, "ada");
    }
    for (
      const host of ["127.0.0.1.example", "localhost.example", "[::2]", "10.127.0.1", "api.localhost", "localhost."]
    ) {
      assertEquals(refused(user, `http://${host}:8080`).field, Object.keys(user)[0]);
    }
  }
});

Deno.test("resolveUser refuses credentials over plain HTTP through a proxy", () => {
  const cluster = { server: "http://127.0.0.1:8001", "proxy-url": "http://bob:hunter2@proxy.example:3128" };
  for (const user of [{ token: "t" }, { tokenFile: "t" }]) {
    const error = assertThrows(() => resolveContext(kubeconfig({ user, cluster })), KubeconfigError);
    assertEquals(error.field, Object.keys(user)[0]);
    assertStringIncludes(
      error.message,
      `is not sent to "http://127.0.0.1:8001" through proxy "http://proxy.example:3128", which could read it`,
    );
    assertFalse(Deno.inspect(error).includes("hunter2"));
    resolveContext(kubeconfig({ user, cluster: { ...cluster, server: "https://127.0.0.1:8001" } }));
  }
  resolveContext(kubeconfig({ user: {}, cluster }));
});

Deno.test("resolveUser refuses a client certificate without TLS, even on this machine", () => {
  const error = refused({ "client-certificate": "a.crt", "client-key": "a.key" }, "http://localhost:8080");
  assertEquals(error.field, "client-certificate");
  assertStringIncludes(error.message, "has no TLS");
});

Deno.test("resolveUser allows impersonation over plain HTTP, as it is not secret", () => {
  assertEquals(resolved({ as: "grace" }, "http://farm.example").impersonation?.user, "grace");
});

Deno.test("tokenProblem accepts the characters of bearer tokens", () => {
  assertEquals(tokenProblem("eyJhbGciOi.J9_-~+/=="), undefined);
  for (const token of ["", " a", "a\n", "a\tb", "✓"]) assert(tokenProblem(token) !== undefined, JSON.stringify(token));
});

const FILE = "/etc/kube/config";

function refusedResolveContext(parts: Parts, options?: ResolveOptions): KubeconfigError {
  return assertThrows(() => resolveContext(kubeconfig(parts), options), KubeconfigError);
}

Deno.test("resolveContext joins context, cluster and user", () => {
  const resolved = resolveContext(kubeconfig({ context: { namespace: "shop" }, user: { token: "t" } }));
  assertEquals(resolved.name, "home");
  assertEquals(resolved.namespace, "shop");
  assertEquals(resolved.cluster.name, "farm");
  assertEquals(resolved.cluster.server.href, "https://farm.example:6443/");
  assertEquals(resolved.user?.token?.reveal(), "t");
});

Deno.test("resolveContext accepts a missing user, namespace or current context where it is not needed", () => {
  const config = kubeconfig({ currentContext: "", context: { user: "" } });
  const resolved = resolveContext(config, { context: "home" });
  assertFalse("user" in resolved);
  assertFalse("namespace" in resolved);
});

Deno.test("resolveContext reads only the entries that the context refers to", () => {
  const text = `
current-context: good
clusters: [{name: good, cluster: {server: "https://good"}}, {name: bad, cluster: {serverr: x}}]
users: [{name: good}, {name: bad, user: {exec: {command: aws}}}]
contexts: [{name: good, context: {cluster: good, user: good}}, {name: bad, context: {cluster: good, user: bad}}]`;
  const config = parseKubeconfig(text, FILE);
  assertEquals(resolveContext(config).cluster.server.hostname, "good");
  assertThrows(() => resolveContext(config, { context: "bad" }), KubeconfigError, `field "exec.apiVersion"`);
});

Deno.test("resolveContext names contexts, clusters and users that do not exist, and the nearest that do", () => {
  const named = refusedResolveContext({}, { context: "hone" });
  assertStringIncludes(
    named.message,
    `it was asked for context "hone", which does not exist (did you mean "home"?): the contexts are "home"`,
  );
  const current = refusedResolveContext({ currentContext: "hime" });
  assertEquals([current.file, current.field], [FILE, "current-context"]);
  assertStringIncludes(
    current.message,
    `field "current-context" names "hime", which does not exist (did you mean "home"?)`,
  );
  const cluster = refusedResolveContext({ context: { cluster: "fram" } });
  assertEquals([cluster.entry, cluster.field], [`context "home"`, "cluster"]);
  assertStringIncludes(
    cluster.message,
    `names "fram", which does not exist (did you mean "farm"?): the clusters are "farm"`,
  );
  const user = refusedResolveContext({ context: { user: "zoe" } });
  assertEquals([user.entry, user.field], [`context "home"`, "user"]);
  assertStringIncludes(user.message, `names "zoe", which does not exist: the users are "ada"`);
});

Deno.test("resolveContext lists the contexts when none is current", () => {
  const error = refusedResolveContext({ currentContext: "" });
  assertEquals([error.file, error.field], [FILE, "current-context"]);
  assertStringIncludes(
    error.message,
    `field "current-context" is missing: set it, or pass "context"; the contexts are "home"`,
  );
  const many = parseKubeconfig(`contexts: [${Array.from({ length: 12 }, (_, i) => `{name: c${i}}`)}]`, FILE);
  assertThrows(() => resolveContext(many), KubeconfigError, `"c9" and 2 more`);
});

Deno.test("resolveContext refuses an empty kubeconfig and one without contexts", () => {
  const empty = assertThrows(() => resolveContext(parseKubeconfig("", FILE)), KubeconfigError);
  assertEquals(empty.message, `Cannot use kubeconfig "${FILE}": it has no clusters, contexts or users`);
  const config = mergeKubeconfigs([parseKubeconfig("users: [{name: a}]", "/a"), parseKubeconfig("", "/b")]);
  const error = assertThrows(() => resolveContext(config), KubeconfigError);
  assertEquals(error.file, undefined);
  assertStringIncludes(error.message, `there are no contexts in it (in "/a", "/b")`);
});

Deno.test("resolveContext checks the server's address", () => {
  const cases: readonly [server: unknown, includes: string][] = [
    [undefined, "is missing: write the address"],
    ["", "is missing"],
    ["farm.example:6443", `must be a full URL: write "https://"`],
    ["https://", "must be a URL such as"],
    ["ftp://farm.example", `must begin with "https://" or "http://", but it begins with "ftp://"`],
    ["https://farm.example/?a=1", `must end with the path, but it contains "?"`],
    ["https://farm.example/#a", `must end with the path, but it contains "#"`],
    [["https://farm.example"], "must be text, in quotes if need be, but it is a list"],
    [true, "it is a boolean"],
  ];
  for (const [server, includes] of cases) {
    const error = refusedResolveContext({ cluster: { server: server ?? null } });
    assertEquals([error.file, error.entry, error.field], [FILE, `cluster "farm"`, "server"]);
    assertStringIncludes(error.message, includes);
  }
  const login = refusedResolveContext({ cluster: { server: "https://ada:hunter2@farm.example" } });
  assertStringIncludes(login.message, "must not hold a user name or password");
  assertFalse(login.message.includes("hunter2"));
});

Deno.test("resolveContext keeps the path of the server's address", () => {
  const { cluster } = resolveContext(kubeconfig({ cluster: { server: "https://rancher.example/k8s/clusters/c-1" } }));
  assertEquals(cluster.server.pathname, "/k8s/clusters/c-1");
});

Deno.test("resolveContext refuses an invalid CA, and a CA that is given twice", () => {
  const cases: readonly [cluster: Record<string, unknown>, includes: string][] = [
    [{ "certificate-authority-data": "%%%" }, "is not base64"],
    [{ "certificate-authority-data": btoa("hello") }, "it has no PEM certificate"],
    [
      { "certificate-authority-data": btoa(pem("CERTIFICATE").replace("MAU", "MAY")) },
      "certificate 1 of 1 is cut short",
    ],
    [
      { "certificate-authority-data": pemData("CERTIFICATE"), "certificate-authority": "ca.crt" },
      `is set together with "certificate-authority", and they may differ: remove one of them`,
    ],
    [
      { "certificate-authority-data": pemData("CERTIFICATE"), server: "http://farm.example" },
      `does not apply to "http://farm.example", which has no TLS`,
    ],
  ];
  for (const [cluster, includes] of cases) {
    const error = refusedResolveContext({ cluster });
    assertEquals([error.entry, error.field], [`cluster "farm"`, "certificate-authority-data"]);
    assertStringIncludes(error.message, includes);
  }
});

Deno.test("resolveContext refuses each cluster field that cannot be used and says what to do", () => {
  const cases: readonly [field: string, value: unknown, includes: string][] = [
    ["tls-server-name", "kubernetes:6443", `must be a host name or an IP address, without a port`],
    ["tls-server-name", "a/b", `must be a host name or an IP address`],
    ["tls-server-name", "u@b", `must be a host name or an IP address`],
    ["proxy-url", "socks4://proxy.example:1080", `must begin with "http://", "https://" or "socks5://"`],
    ["proxy-url", "proxy.example:1080", `must be a URL such as "http://proxy.example:3128"`],
    ["proxy-url", "http://proxy.example/path", `must end with the host and port`],
    ["proxy-url", "http://ada:hunter2%@proxy.example", `write "%25" for it`],
    ["certificate-authority-date", "x", `(did you mean "certificate-authority-data"?)`],
    ["insecure-skip-tls-verify", "yes", "must be true or false, but it is text"],
    ["disable-compression", "true", "must be true or false, but it is text"],
    ["proxy-url", { url: "x" }, "must be text, in quotes if need be, but it is a mapping"],
  ];
  for (const [field, value, includes] of cases) {
    const error = refusedResolveContext({ cluster: { [field]: value } });
    assertEquals([error.file, error.entry, error.field], [FILE, `cluster "farm"`, field]);
    assertStringIncludes(error.message, includes);
    assertFalse(Deno.inspect(error).includes("hunter2"));
  }
});

Deno.test("resolveContext refuses cluster fields that exclude each other", () => {
  const insecure = refusedResolveContext({
    cluster: { "insecure-skip-tls-verify": true, "certificate-authority": "ca.crt" },
  });
  assertEquals(insecure.field, "insecure-skip-tls-verify");
  const plain = refusedResolveContext({ cluster: { "tls-server-name": "kubernetes", server: "http://farm.example" } });
  assertStringIncludes(plain.message, "has no TLS");
});

Deno.test("resolveContext treats empty and false fields as absent", () => {
  const resolved = resolveContext(kubeconfig({
    cluster: {
      "insecure-skip-tls-verify": false,
      "tls-server-name": "",
      "proxy-url": "",
      "disable-compression": false,
      "certificate-authority": "",
      "certificate-authority-data": null,
      extensions: [{ name: "minikube.sigs.k8s.io" }],
    },
    context: { namespace: "", extensions: [{ name: "context_info" }] },
    user: {
      exec: null,
      "auth-provider": null,
      token: "",
      tokenFile: "",
      username: "",
      password: "",
      as: "",
      "as-groups": [],
      "as-user-extra": {},
      "client-key": "",
      extensions: [],
    },
  }));
  assertEquals(Object.keys(resolved.cluster), ["name", "server", "insecureSkipTlsVerify", "disableCompression"]);
  assertEquals(resolved.cluster.disableCompression, false);
  assertEquals(resolved.user, { name: "ada" });
  assertFalse("namespace" in resolved);
});

Deno.test("resolveContext refuses unknown fields of a context", () => {
  const error = refusedResolveContext({ context: { namespce: "shop" } });
  assertEquals([error.entry, error.field], [`context "home"`, "namespce"]);
  assertStringIncludes(error.message, `is not known (did you mean "namespace"?): a context has "cluster", "user"`);
  assertStringIncludes(
    refusedResolveContext({ context: { cluster: "" } }).message,
    `field "cluster" is missing: name one of the clusters "farm"`,
  );
});

Deno.test("resolveContext with another server drops the cluster fields that belong to the old address", () => {
  const config = kubeconfig({ cluster: { "tls-server-name": "kubernetes", "certificate-authority": "ca.crt" } });
  const secure = resolveContext(config, { server: "https://other.example" });
  assertEquals(secure.cluster.server.host, "other.example");
  assertEquals(formOf(secure.cluster.certificateAuthority), "file");
  const plain = resolveContext(config, { server: "http://localhost:8001" });
  assertFalse("certificateAuthority" in plain.cluster);
  assertThrows(() => resolveContext(config, { server: "other" }), TypeError, "Cannot use server");
});

Deno.test("resolveContext returns values that hide credentials when they are printed", () => {
  const resolved = resolveContext(kubeconfig({
    user: {
      token: "hunter2",
      "client-certificate-data": pemData("CERTIFICATE"),
      "client-key-data": pemData("PRIVATE KEY"),
    },
  }));
  for (const printed of [Deno.inspect(resolved, { depth: 9 }), JSON.stringify(resolved)]) {
    assertFalse(printed.includes("hunter2"), printed);
    assertFalse(printed.includes("BEGIN"), printed);
    assertStringIncludes(printed, "[redacted]");
  }
});

/** Reads the value of a field from the resolved context; `undefined` if the field is refused by its name. */
type Applied = ((context: ResolvedContext) => unknown) | undefined;

const V1BETA1 = "client.authentication.k8s.io/v1beta1";
const KEY = { "client-key": "a.key" };
const CERT = { "client-certificate": "a.crt" };
const exec = (more: Record<string, unknown>): Record<string, unknown> => ({
  exec: { apiVersion: V1BETA1, command: "aws", ...more },
});

/** Every field that kubeconfigs have (clientcmd/api/v1 types.go), with a value that says something. */
const FIELDS: readonly [
  kind: "cluster" | "user" | "context",
  fields: Record<string, unknown>,
  expected: unknown,
  applied: Applied,
][] = [
  ["cluster", { server: "https://a.example:1/base" }, "https://a.example:1/base", (c) => c.cluster.server.href],
  ["cluster", { server: "https://[::1]:6443" }, "[::1]", (c) => c.cluster.server.hostname],
  ["cluster", { "certificate-authority": "ca.crt" }, "file", (c) => formOf(c.cluster.certificateAuthority)],
  [
    "cluster",
    { "certificate-authority-data": pemData("CERTIFICATE") },
    "inline",
    (c) => formOf(c.cluster.certificateAuthority),
  ],
  ["cluster", { "insecure-skip-tls-verify": true }, true, (c) => c.cluster.insecureSkipTlsVerify],
  ["cluster", { "tls-server-name": "kubernetes" }, "kubernetes", (c) => c.cluster.tlsServerName],
  ["cluster", { "proxy-url": "socks5://p.example" }, "socks5://p.example", (c) => c.cluster.proxy?.url.href],
  ["cluster", { "disable-compression": true }, true, (c) => c.cluster.disableCompression],
  [
    "cluster",
    { extensions: [{ name: "client.authentication.k8s.io/exec", extension: { a: "b" } }] },
    { a: "b" },
    (c) => c.cluster.execConfig,
  ],
  ["context", { cluster: "farm" }, "farm", (c) => c.cluster.name],
  ["context", { user: "ada" }, "ada", (c) => c.user?.name],
  ["context", { namespace: "shop" }, "shop", (c) => c.namespace],
  ["context", { extensions: [{ name: "minikube" }] }, "home", (c) => c.name],
  ["user", { ...CERT, ...KEY }, "file", (c) => formOf(c.user?.clientCertificate?.certificate)],
  [
    "user",
    { "client-certificate-data": pemData("CERTIFICATE"), ...KEY },
    "inline",
    (c) => formOf(c.user?.clientCertificate?.certificate),
  ],
  ["user", { ...KEY, ...CERT }, "file", (c) => formOf(c.user?.clientCertificate?.key)],
  [
    "user",
    { "client-key-data": pemData("RSA PRIVATE KEY"), ...CERT },
    pem("RSA PRIVATE KEY"),
    (c) =>
      c.user?.clientCertificate && "pem" in c.user.clientCertificate.key && c.user.clientCertificate.key.pem.reveal(),
  ],
  ["user", { token: "abc" }, "abc", (c) => c.user?.token?.reveal()],
  ["user", { tokenFile: "t" }, "t", (c) => c.user?.tokenFile?.path],
  ["user", { as: "grace" }, "grace", (c) => c.user?.impersonation?.user],
  ["user", { "as-uid": "1", as: "grace" }, "1", (c) => c.user?.impersonation?.uid],
  ["user", { "as-groups": ["g"], as: "grace" }, ["g"], (c) => c.user?.impersonation?.groups],
  ["user", { "as-user-extra": { k: ["v"] }, as: "grace" }, { k: ["v"] }, (c) => c.user?.impersonation?.extra],
  ["user", { extensions: [{ name: "x" }] }, "ada", (c) => c.user?.name],
  ["user", { "auth-provider": { name: "gcp" } }, "auth-provider", undefined],
  ["user", exec({ command: "gke" }), "gke", (c) => c.user?.exec?.command],
  ["user", exec({ apiVersion: V1BETA1 }), V1BETA1, (c) => c.user?.exec?.apiVersion],
  ["user", exec({ args: ["a"] }), ["a"], (c) => c.user?.exec?.args],
  ["user", exec({ env: [{ name: "A", value: "b" }] }), [["A", "b"]], (c) => c.user?.exec?.env],
  ["user", exec({ installHint: "get it" }), "get it", (c) => c.user?.exec?.installHint],
  ["user", exec({ provideClusterInfo: true }), true, (c) => c.user?.exec?.provideClusterInfo],
  ["user", exec({ interactiveMode: "Never" }), "Never", (c) => c.user?.exec?.interactiveMode],
];

for (const [kind, fields, expected, applied] of FIELDS) {
  const [name, value] = Object.entries(fields)[0];
  const field = name === "exec"
    ? `exec.${Object.entries(value as Record<string, unknown>).at(-1)![0]}`
    : `${name} ${JSON.stringify(value).slice(0, 24)}`;
  Deno.test(`resolveContext ${applied === undefined ? "refuses" : "applies"} ${kind} ${field} [F34]`, () => {
    const config = kubeconfig({ [kind]: fields });
    if (applied !== undefined) return assertEquals(applied(resolveContext(config)), expected);
    const error = assertThrows(() => resolveContext(config), KubeconfigError);
    assertEquals(error.field, expected);
    assert(error.message.includes(`field "${expected}"`));
  });
}
