import { assertEquals, assertInstanceOf, assertRejects, assertStringIncludes } from "@std/assert";
import { ConnectError } from "../../src/deno/connect_error.ts";
import type { Host } from "../../src/deno/host/host.ts";
import { findConnection, findInClusterConnection } from "../../src/deno/find_connection.ts";
import { FakeTime } from "../support/fake_time.ts";
import { type Certificates, makeCertificates } from "../support/certificates.ts";
import { ask, hostWith, notCapable, writeKubeconfig } from "../support/host.ts";
import { serve, values } from "../support/tls_server.ts";

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

Deno.test("inCluster names what is missing", async () => {
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
      `are not an address, found "10.0.0.1" and "many"`,
    ],
    [{}, hostWith({}, { env: notCapable }), "--allow-env=KUBERNETES_SERVICE_HOST,KUBERNETES_SERVICE_PORT"],
    [{ "ca.crt": ca }, pod.host(url), "automountServiceAccountToken"],
    [{ "ca.crt": ca, token: " " }, pod.host(url), `token": what it holds is empty`],
    [{ token: "t" }, pod.host(url), `ca.crt": there is no such file`],
    [{ token: "t", "ca.crt": "junk" }, pod.host(url), "it holds no PEM certificate"],
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
