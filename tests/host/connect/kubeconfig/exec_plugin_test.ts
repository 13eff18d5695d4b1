import { assert, assertEquals, assertFalse, assertStringIncludes, assertThrows } from "@std/assert";
import { inspect } from "node:util";
import {
  type ExecCluster,
  execInfo,
  ExecOutputError,
  type ExecPlugin,
  parseExecCredential,
} from "../../../../src/host/connect/kubeconfig/exec_plugin.ts";
import { KubeconfigError, parseKubeconfig } from "../../../../src/host/connect/kubeconfig/parse_kubeconfig.ts";
import { resolveContext } from "../../../../src/host/connect/kubeconfig/resolve_context.ts";
import { kubeconfig, pem, pemData } from "../../../support/servers/kubeconfig.ts";

const V1 = "client.authentication.k8s.io/v1";
const V1BETA1 = "client.authentication.k8s.io/v1beta1";

function plugin(exec: Record<string, unknown> = {}): ExecPlugin {
  const { user } = resolveContext(
    kubeconfig({ user: { exec: { apiVersion: V1, interactiveMode: "Never", command: "aws", ...exec } } }),
  );
  assert(user?.exec !== undefined);
  return user.exec;
}

function output(status: Record<string, unknown>, apiVersion = V1): string {
  return JSON.stringify({ apiVersion, kind: "ExecCredential", status });
}

Deno.test("ExecPlugin has every field of exec", () => {
  const full = plugin({
    args: ["eks", "get-token"],
    env: [{ name: "AWS_PROFILE", value: "shop" }, { name: "EMPTY", value: null }],
    provideClusterInfo: true,
    interactiveMode: "Always",
    installHint: "get it\u001b[2J\nfrom example.com",
  });
  assertEquals([full.command, full.apiVersion, full.interactiveMode], ["aws", V1, "Always"]);
  assertEquals(full.args, ["eks", "get-token"]);
  assertEquals(full.env, [["AWS_PROFILE", "shop"], ["EMPTY", ""]]);
  assertEquals(full.provideClusterInfo, true);
  assertEquals(full.installHint, "get it[2J\nfrom example.com");
  assertEquals(full.place.field, "exec");
  const bare = plugin({ args: null, env: null, apiVersion: V1BETA1, interactiveMode: undefined });
  assertEquals([bare.args, bare.env, bare.interactiveMode], [[], [], "IfAvailable"]);
  assertFalse(bare.provideClusterInfo);
});

Deno.test("ExecPlugin refuses invalid fields by name [C145]", () => {
  const cases: readonly [exec: Record<string, unknown>, field: string, includes: string][] = [
    [{ command: "" }, "exec.command", "is missing"],
    [{ apiVersion: "" }, "exec.apiVersion", "is missing"],
    [{ apiVersion: "client.authentication.k8s.io/v1alpha1" }, "exec.apiVersion", "which Kubernetes has removed"],
    [{ apiVersion: "v1" }, "exec.apiVersion", `must be one of "${V1}", "${V1BETA1}", but it is "v1"`],
    [{ interactiveMode: "" }, "exec.interactiveMode", "is missing"],
    [{ interactiveMode: "Sometimes" }, "exec.interactiveMode", `must be one of "Never", "IfAvailable", "Always"`],
    [{ args: "x" }, "exec.args", "must be a list of texts"],
    [{ env: [{ value: "x" }] }, "exec.env", "has an item without a name"],
    [{ env: { A: "x" } }, "exec.env", `must be a list of "name" and "value"`],
    [{ env: [{ name: "A=hunter2" }] }, "exec.env", `has a name that begins with "A" and holds "=" or a zero byte`],
    [{ env: [{ name: "A", value: ["x"] }] }, "exec.env", `must have text as the value of "A", but it is a list`],
    [{ provideClusterInfo: "yes" }, "exec.provideClusterInfo", "must be true or false"],
    [{ arg: ["x"] }, "exec.arg", `is not known (did you mean "args"?): "exec" has`],
  ];
  for (const [exec, field, includes] of cases) {
    const error = assertThrows(() => plugin(exec), KubeconfigError);
    assertEquals([error.entry, error.field], [`user "ada"`, field], error.message);
    assertStringIncludes(error.message, includes);
    assertFalse(error.message.includes("hunter2"));
  }
});

Deno.test("ExecPlugin is refused beside other credentials, which would win over it", () => {
  const exec = { apiVersion: V1, interactiveMode: "Never", command: "aws" };
  const cert = { "client-certificate-data": pemData("CERTIFICATE"), "client-key-data": pemData("PRIVATE KEY") };
  for (const other of [{ token: "t" }, { tokenFile: "t" }, cert]) {
    const error = assertThrows(
      () => resolveContext(kubeconfig({ user: { exec, ...other } })),
      KubeconfigError,
      `is set together with "${Object.keys(other)[0]}"`,
    );
    assertEquals(error.field, "exec");
  }
});

Deno.test("ExecPlugin hides arguments and variables when it is printed", () => {
  const secret = plugin({ args: ["--token=hunter2"], env: [{ name: "TOKEN", value: "hunter2" }] });
  for (const text of [Deno.inspect({ secret }), inspect(secret), JSON.stringify({ secret }), `${secret}`]) {
    assertFalse(text.includes("hunter2"), text);
  }
});

Deno.test("execInfo refuses an extension that aliases have made too large, at once", () => {
  let config: unknown = ["a", "a"];
  for (let level = 0; level < 40; level++) config = [config, config];
  const cluster: ExecCluster = { server: "https://farm.example:6443", config };
  const curious = plugin({ provideClusterInfo: true });
  assertThrows(
    () => execInfo(curious, { interactive: false, cluster }),
    RangeError,
    "Cannot pass the cluster's extension to the credential plugin: it has more than 20000 values, including values of aliases. " +
      "Make it smaller",
  );
});

Deno.test("execInfo describes the whole cluster to plugins with provideClusterInfo, and to no others", () => {
  const cluster: ExecCluster = {
    server: "https://farm.example:6443",
    tlsServerName: "kubernetes",
    insecureSkipTlsVerify: true,
    certificateAuthority: pem("CERTIFICATE"),
    proxyUrl: "http://proxy.example:3128",
    disableCompression: true,
    config: { audience: "shop", level: 3 },
  };
  assertEquals(
    JSON.parse(execInfo(plugin(), { interactive: false, cluster })),
    { apiVersion: V1, kind: "ExecCredential", spec: { interactive: false } },
  );
  const curious = plugin({ provideClusterInfo: true, apiVersion: V1BETA1 });
  assertEquals(JSON.parse(execInfo(curious, { interactive: true, cluster })), {
    apiVersion: V1BETA1,
    kind: "ExecCredential",
    spec: {
      interactive: true,
      cluster: {
        server: "https://farm.example:6443",
        "tls-server-name": "kubernetes",
        "insecure-skip-tls-verify": true,
        "certificate-authority-data": pemData("CERTIFICATE"),
        "proxy-url": "http://proxy.example:3128",
        "disable-compression": true,
        config: { audience: "shop", level: 3 },
      },
    },
  });
});

Deno.test("resolveContext keeps the types of values in the extension for plugins, and in no other field", () => {
  const { cluster } = resolveContext(parseKubeconfig(
    `
current-context: c
contexts: [{name: c, context: {cluster: c}}]
clusters:
- name: c
  cluster:
    server: https://farm.example
    extensions:
    - {name: other, extension: 1}
    - name: client.authentication.k8s.io/exec
      extension: {level: 3, text: "3", deep: [1.5, true, null]}
users: [{name: u, user: {username: u, password: 0123}}]`,
    "/f",
  ));
  assertEquals(cluster.execConfig, { level: 3, text: "3", deep: [1.5, true, null] });
});

Deno.test("parseExecCredential reads a token, a certificate, both, and their expiry", () => {
  const token = parseExecCredential(output({ token: "abc", expirationTimestamp: "2026-01-31T12:00:00Z" }), V1);
  assertEquals([token.token?.reveal(), token.expiresMs], ["abc", Date.UTC(2026, 0, 31, 12)]);
  assertEquals(token.certificate, undefined);
  const both = parseExecCredential(
    output({ token: "abc", clientCertificateData: pem("CERTIFICATE"), clientKeyData: pem("EC PRIVATE KEY") }, V1BETA1),
    V1BETA1,
  );
  assertEquals(both.certificate?.cert, pem("CERTIFICATE"));
  assertEquals(both.certificate?.key.reveal(), pem("EC PRIVATE KEY"));
  assertEquals(both.expiresMs, undefined);
  for (const text of [Deno.inspect(both), JSON.stringify(both), `${both}`]) {
    assertEquals(text.replaceAll(`"`, ""), "[redacted]");
  }
});

Deno.test("parseExecCredential refuses other output, and never quotes it", () => {
  const cases: readonly [text: string, includes: string][] = [
    ["", "printed nothing"],
    ["hunter2", "not JSON"],
    [`{"token": "hunter2`, "not JSON"],
    ["[]", "it printed a list"],
    [`{"kind": "Token", "token": "hunter2"}`, `it printed "Token"`],
    [JSON.stringify({ kind: "ExecCredential", status: { token: "hunter2" } }), "but it printed none"],
    [
      output({ token: "hunter2" }, V1BETA1),
      `must print "apiVersion" "${V1}" as in the kubeconfig, but it printed "${V1BETA1}"`,
    ],
    [JSON.stringify({ apiVersion: V1, kind: "ExecCredential" }), `printed no "status"`],
    [output({}), "printed neither"],
    [output({ token: 1 }), `must print text as "token", but it printed a number`],
    [output({ token: "hunter2 hunter2" }), `a "token" that cannot be used: holds blanks`],
    [output({ clientCertificateData: pem("CERTIFICATE") }), `"clientCertificateData" without "clientKeyData"`],
    [output({ clientKeyData: pem("PRIVATE KEY") }), `"clientKeyData" without "clientCertificateData"`],
    [
      output({ clientCertificateData: "hunter2", clientKeyData: pem("PRIVATE KEY") }),
      `a "clientCertificateData" that cannot be used: it has no PEM`,
    ],
    [
      output({ clientCertificateData: pem("CERTIFICATE"), clientKeyData: pem("ENCRYPTED PRIVATE KEY") }),
      "is encrypted",
    ],
    [output({ token: "hunter2", expirationTimestamp: "tomorrow" }), "not an RFC 3339 time"],
    [
      output({ token: "hunter2", expirationTimestamp: 1 }),
      `must print text as "expirationTimestamp", but it printed a number`,
    ],
  ];
  for (const [text, includes] of cases) {
    const error = assertThrows(() => parseExecCredential(text, V1), ExecOutputError);
    assertStringIncludes(error.message, includes);
    assertFalse(Deno.inspect(error).includes("hunter2"), error.message);
  }
});
