import { assert, assertEquals, assertFalse, assertStringIncludes, assertThrows } from "@std/assert";
import { KubeconfigError } from "../../src/kubeconfig/model/kubeconfig_error.ts";
import { mergeKubeconfigs } from "../../src/kubeconfig/merge_kubeconfigs.ts";
import { parseKubeconfig } from "../../src/kubeconfig/parse_kubeconfig.ts";
import { resolveContext, type ResolveOptions } from "../../src/kubeconfig/resolve_context.ts";
import { kubeconfig, type Parts, pem, pemData } from "../support/kubeconfig.ts";

const FILE = "/etc/kube/config";

function refused(parts: Parts, options?: ResolveOptions): KubeconfigError {
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
  const named = refused({}, { context: "hone" });
  assertStringIncludes(
    named.message,
    `it was asked for context "hone", which does not exist (did you mean "home"?): the contexts are "home"`,
  );
  const current = refused({ currentContext: "hime" });
  assertEquals([current.file, current.field], [FILE, "current-context"]);
  assertStringIncludes(
    current.message,
    `field "current-context" names "hime", which does not exist (did you mean "home"?)`,
  );
  const cluster = refused({ context: { cluster: "fram" } });
  assertEquals([cluster.entry, cluster.field], [`context "home"`, "cluster"]);
  assertStringIncludes(
    cluster.message,
    `names "fram", which does not exist (did you mean "farm"?): the clusters are "farm"`,
  );
  const user = refused({ context: { user: "zoe" } });
  assertEquals([user.entry, user.field], [`context "home"`, "user"]);
  assertStringIncludes(user.message, `names "zoe", which does not exist: the users are "ada"`);
});

Deno.test("resolveContext lists the contexts when none is current", () => {
  const error = refused({ currentContext: "" });
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
    ["ftp://farm.example", `must begin with "https://" or "http://", found "ftp://"`],
    ["https://farm.example/?a=1", `must end with the path, found "?"`],
    ["https://farm.example/#a", `must end with the path, found "#"`],
    [["https://farm.example"], "must be text, in quotes if need be, found a list"],
    [true, "found a boolean"],
  ];
  for (const [server, includes] of cases) {
    const error = refused({ cluster: { server: server ?? null } });
    assertEquals([error.file, error.entry, error.field], [FILE, `cluster "farm"`, "server"]);
    assertStringIncludes(error.message, includes);
  }
  const login = refused({ cluster: { server: "https://ada:hunter2@farm.example" } });
  assertStringIncludes(login.message, "must not hold a user name or password");
  assertFalse(login.message.includes("hunter2"));
});

Deno.test("resolveContext keeps the path of the server's address", () => {
  const { cluster } = resolveContext(kubeconfig({ cluster: { server: "https://rancher.example/k8s/clusters/c-1" } }));
  assertEquals(cluster.server.pathname, "/k8s/clusters/c-1");
});

Deno.test("resolveContext returns a CA file as it is written, and the kubeconfig that names it", () => {
  const { cluster } = resolveContext(
    kubeconfig({ file: "/a/b/config", cluster: { "certificate-authority": "../ca.crt" } }),
  );
  const ca = cluster.certificateAuthority;
  assert(ca?.type === "file");
  assertEquals(ca.path, "../ca.crt");
  assertEquals(ca.place, { file: "/a/b/config", entry: `cluster "farm"`, field: "certificate-authority" });
});

Deno.test("resolveContext decodes an inline CA", () => {
  const { cluster } = resolveContext(kubeconfig({ cluster: { "certificate-authority-data": pemData("CERTIFICATE") } }));
  assert(cluster.certificateAuthority?.type === "inline");
  assertEquals(cluster.certificateAuthority.pem.reveal(), pem("CERTIFICATE"));
});

Deno.test("resolveContext refuses an invalid CA, and a CA that is given twice", () => {
  const cases: readonly [cluster: Record<string, unknown>, includes: string][] = [
    [{ "certificate-authority-data": "%%%" }, "is not base64"],
    [{ "certificate-authority-data": btoa("hello") }, "it holds no PEM certificate"],
    [
      { "certificate-authority-data": btoa(pem("CERTIFICATE").replace("MAU", "MAY")) },
      "certificate 1 of 1 in it is cut short",
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
    const error = refused({ cluster });
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
    ["insecure-skip-tls-verify", "yes", "must be true or false, found text"],
    ["disable-compression", "true", "must be true or false, found text"],
    ["proxy-url", { url: "x" }, "must be text, in quotes if need be, found a mapping"],
  ];
  for (const [field, value, includes] of cases) {
    const error = refused({ cluster: { [field]: value } });
    assertEquals([error.file, error.entry, error.field], [FILE, `cluster "farm"`, field]);
    assertStringIncludes(error.message, includes);
    assertFalse(Deno.inspect(error).includes("hunter2"));
  }
});

Deno.test("resolveContext refuses cluster fields that exclude each other", () => {
  const both = refused({ cluster: { "tls-server-name": "kubernetes", "proxy-url": "http://p.example" } });
  assertEquals(both.field, "tls-server-name");
  const insecure = refused({ cluster: { "insecure-skip-tls-verify": true, "certificate-authority": "ca.crt" } });
  assertEquals(insecure.field, "insecure-skip-tls-verify");
  const plain = refused({ cluster: { "tls-server-name": "kubernetes", server: "http://farm.example" } });
  assertStringIncludes(plain.message, "has no TLS");
});

Deno.test("resolveContext returns disable-compression", () => {
  assertEquals(
    resolveContext(kubeconfig({ cluster: { "disable-compression": true } })).cluster.disableCompression,
    true,
  );
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
  const error = refused({ context: { namespce: "shop" } });
  assertEquals([error.entry, error.field], [`context "home"`, "namespce"]);
  assertStringIncludes(error.message, `is not known (did you mean "namespace"?): a context has "cluster", "user"`);
  assertStringIncludes(
    refused({ context: { cluster: "" } }).message,
    `field "cluster" is missing: name one of the clusters "farm"`,
  );
});

Deno.test("resolveContext with another server drops the cluster fields that belong to the old address", () => {
  const config = kubeconfig({ cluster: { "tls-server-name": "kubernetes", "certificate-authority": "ca.crt" } });
  const secure = resolveContext(config, { server: "https://other.example" });
  assertEquals(secure.cluster.server.host, "other.example");
  assertEquals(secure.cluster.certificateAuthority?.type, "file");
  const plain = resolveContext(config, { server: "http://localhost:8001" });
  assertFalse("certificateAuthority" in plain.cluster);
  assertThrows(() => resolveContext(config, { server: "other" }), TypeError, "Cannot use server");
});

Deno.test("resolveContext does not read the user entry if it is not asked to", () => {
  const config = kubeconfig({ user: { exec: { command: "aws" } } });
  assertThrows(() => resolveContext(config), KubeconfigError);
  assertFalse("user" in resolveContext(config, { withoutUser: true }));
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
