import { assert, assertEquals, assertThrows } from "@std/assert";
import { KubeconfigError } from "../../src/kubeconfig/parse_kubeconfig.ts";
import { resolveContext, type ResolvedContext } from "../../src/kubeconfig/resolve_context.ts";
import { kubeconfig, pem, pemData } from "../support/kubeconfig.ts";

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
  ["cluster", { "certificate-authority": "ca.crt" }, "file", (c) => c.cluster.certificateAuthority?.type],
  [
    "cluster",
    { "certificate-authority-data": pemData("CERTIFICATE") },
    "inline",
    (c) => c.cluster.certificateAuthority?.type,
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
  ["user", { ...CERT, ...KEY }, "file", (c) => c.user?.clientCertificate?.certificate.type],
  [
    "user",
    { "client-certificate-data": pemData("CERTIFICATE"), ...KEY },
    "inline",
    (c) => c.user?.clientCertificate?.certificate.type,
  ],
  ["user", { ...KEY, ...CERT }, "file", (c) => c.user?.clientCertificate?.key.type],
  [
    "user",
    { "client-key-data": pemData("RSA PRIVATE KEY"), ...CERT },
    pem("RSA PRIVATE KEY"),
    (c) => c.user?.clientCertificate?.key.type === "inline" && c.user.clientCertificate.key.pem.reveal(),
  ],
  ["user", { token: "abc" }, "abc", (c) => c.user?.token?.reveal()],
  ["user", { tokenFile: "t" }, "t", (c) => c.user?.tokenFile?.path],
  ["user", { username: "u" }, "u", (c) => c.user?.basic?.username],
  ["user", { password: "p", username: "u" }, "p", (c) => c.user?.basic?.password.reveal()],
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
