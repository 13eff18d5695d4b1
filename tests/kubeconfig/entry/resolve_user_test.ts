import { assert, assertEquals, assertFalse, assertStringIncludes, assertThrows } from "@std/assert";
import { KubeconfigError } from "../../../src/kubeconfig/model/kubeconfig_error.ts";
import { resolveContext } from "../../../src/kubeconfig/resolve_context.ts";
import type { ResolvedUser } from "../../../src/kubeconfig/entry/resolve_user.ts";
import { tokenProblem } from "../../../src/kubeconfig/text/token_problem.ts";
import { kubeconfig, pem, pemData } from "../../support/kubeconfig.ts";

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

Deno.test("resolveUser applies token, token file, basic login and client certificate", () => {
  assertEquals(resolved({ token: "abc" }).token?.reveal(), "abc");
  assertEquals(resolved({ tokenFile: "secrets/token" }).tokenFile?.path, "secrets/token");
  const { basic } = resolved({ username: "ada", password: "a:b c" });
  assertEquals([basic?.username, basic?.password.reveal()], ["ada", "a:b c"]);
  const inline = resolved({
    "client-certificate-data": pemData("CERTIFICATE"),
    "client-key-data": pemData("EC PRIVATE KEY"),
  }).clientCertificate;
  assert(inline?.certificate.type === "inline" && inline.key.type === "inline");
  assertEquals(inline.key.pem.reveal(), pem("EC PRIVATE KEY"));
  const files = resolved({ "client-certificate": "a.crt", "client-key": "a.key" }).clientCertificate;
  assert(files?.certificate.type === "file" && files.key.type === "file");
  assertEquals([files.certificate.path, files.key.path], ["a.crt", "a.key"]);
  const both = resolved({ token: "abc", tokenFile: "token" });
  assertEquals([both.token?.reveal(), both.tokenFile?.path], ["abc", "token"]);
});

Deno.test("resolveUser applies impersonation", () => {
  const { impersonation } = resolved({
    as: "grace",
    "as-uid": "42",
    "as-groups": ["dev", "ops, all"],
    "as-user-extra": { reason: ["audit", "test"], empty: [] },
  });
  assertEquals(impersonation, {
    user: "grace",
    uid: "42",
    groups: ["dev", "ops, all"],
    extra: [["reason", ["audit", "test"]], ["empty", []]],
  });
});

Deno.test("resolveUser refuses fields that contradict each other or are incomplete", () => {
  const cases: readonly [user: Record<string, unknown>, field: string, includes: string][] = [
    [
      { token: "t", username: "u", password: "p" },
      "token",
      `is set together with "username", and only one can be sent`,
    ],
    [{ tokenFile: "t", username: "u" }, "tokenFile", `is set together with "username"`],
    [{ password: "p" }, "password", `has no "username"`],
    [{ username: "a:b" }, "username", `holds ":"`],
    [{ username: "a\nb" }, "username", "holds control characters"],
    [{ username: "a", password: "p\u0000" }, "password", "holds control characters"],
    [{ token: "two words" }, "token", "holds blanks, line ends or characters beyond ASCII"],
    [{ token: "ümlaut" }, "token", "beyond ASCII"],
    [{ token: ["t"] }, "token", "must be text, in quotes if need be, found a list"],
    [{ token: true }, "token", "found a boolean"],
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
      `it holds no PEM private key`,
    ],
    [
      { "client-certificate": "a.crt", "client-key-data": pemData("ENCRYPTED PRIVATE KEY") },
      "client-key-data",
      `openssl pkey`,
    ],
    [
      { "client-certificate-data": pemData("PRIVATE KEY"), "client-key": "a" },
      "client-certificate-data",
      `it holds no PEM certificate ("-----BEGIN CERTIFICATE-----"), only "PRIVATE KEY"`,
    ],
    [{ "as-uid": "1" }, "as-uid", `needs a user to act as: add "as"`],
    [{ "as-groups": ["dev"] }, "as-groups", `needs a user to act as`],
    [{ "as-user-extra": { a: ["b"] } }, "as-user-extra", `needs a user to act as`],
    [{ as: "a\nb" }, "as", "holds line ends"],
    [{ as: "a", "as-groups": ["x", "y "] }, "as-groups", "blanks at its ends"],
    [{ as: "a", "as-groups": "dev" }, "as-groups", "must be a list of texts, found text"],
    [{ as: "a", "as-groups": [["dev"]] }, "as-groups", "must be a list of texts, found a list"],
    [{ as: "a", "as-user-extra": ["dev"] }, "as-user-extra", "must be a mapping of lists, found a list"],
    [{ as: "a", "as-user-extra": { k: "dev" } }, "as-user-extra", "must be a list of texts, found text"],
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
  const users = [{ token: "hunter2" }, { tokenFile: "t" }, { username: "u", password: "hunter2" }, {
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
  for (const user of [{ token: "t" }, { tokenFile: "t" }, { username: "u", password: "p" }]) {
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
