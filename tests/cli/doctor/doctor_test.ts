import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { loadAll } from "js-yaml";
import { type Report, reportLines } from "../../../src/cli/doctor/doctor.ts";
import type { Namespace } from "../../../src/engine/kinds/core/v1.ts";
import { FakeApiServer } from "../../../src/testing/mod.ts";
import { makeCertificates } from "../../support/servers/certificates.ts";
import { ConfigMap } from "../../support/servers/fake_server.ts";
import { writeKubeconfig } from "../../support/processes/host.ts";
import { Scripts, V1 } from "../../support/servers/plugin.ts";
import { Program } from "../../support/processes/program.ts";
import { serveProxy } from "../../support/servers/proxy.ts";
import { Folder, serve } from "../../support/servers/serve.ts";
import { run, Session } from "../../support/processes/session.ts";
import {
  BlackHole,
  datedCertificate,
  examine,
  type Examined,
  fakeServed,
  freePort,
  serveVersion,
  webToken,
} from "./_doctor.ts";

/** Long enough for what answers, short enough to wait for what does not. */
const SHORT = { stepMs: 400, pluginMs: 400 };

const ALL = ["configuration", "address", "credentials", "certificate", "server", "clock", "login", "discovery"];
const PODS = ["list pods", "watch pods", "streaming list pods"];

Deno.test("informer doctor reports no problem where there is none", async () => {
  await using certificates = await makeCertificates();
  await using server = await fakeServed({ tokens: { "s3cret-token": "ada" } }, certificates);
  const kubeconfig = await writeKubeconfig(certificates.path("config"), {
    server: server.url,
    "certificate-authority": certificates.path("ca.crt"),
  }, { token: "s3cret-token" });
  const { code, report, text, ill } = await examine({ kubeconfig });
  assertEquals([code, report.ok, report.exitCode, ill], [0, true, 0, {}]);
  assertEquals(report.steps.map(({ name }) => name), [...ALL, ...PODS]);
  assertEquals(report.server, server.url);
  assertEquals(report.permissions, [
    `--allow-read=${kubeconfig},${certificates.path("ca.crt")}`,
    `--allow-net=${server.url.replace("https://", "")}`,
  ]);
  const said = new Map(report.steps.map(({ name, what }) => [name, what]));
  assertEquals(
    said.get("configuration"),
    `kubeconfig "${kubeconfig}", context "home", user "ada", namespace "default"`,
  );
  assertMatch(said.get("certificate")!, /^"server", signed by "ca", trusted, until \d{4}-\d\d-\d\d/);
  assertEquals(said.get("credentials"), "bearer token, which does not say how long it lasts");
  assertMatch(said.get("list pods")!, /^allowed in namespace "default"; 3 objects, \d+ ms$/);
  assertEquals(text.includes("s3cret"), false, "the token is not printed");
});

Deno.test("informer doctor names a certificate authority that is not trusted", async () => {
  await using certificates = await makeCertificates();
  await using server = await fakeServed({}, certificates);
  const kubeconfig = await writeKubeconfig(certificates.path("config"), {
    server: server.url,
    "certificate-authority": certificates.path("other-ca.crt"),
  });
  const { code, report, ill } = await examine({ kubeconfig });
  assertEquals([code, report.steps.length, Object.keys(ill)], [3, 4, ["credentials", "certificate"]]);
  assertMatch(
    ill.certificate,
    /^fail: the certificate is not signed by a CA that this configuration trusts: "server", signed by "ca"; put .*certificate-authority-data/,
  );
});

Deno.test("informer doctor distinguishes an expired certificate from a wrong clock", async () => {
  await using certificates = await makeCertificates();
  const { cert, key } = await datedCertificate(certificates.folder, "old", "20200101000000Z", "20210101000000Z");
  const configFor = (url: string): Promise<string> =>
    writeKubeconfig(certificates.path("config"), { server: url, "certificate-authority": certificates.path("ca.crt") });
  {
    await using server = await serveVersion(cert, key);
    const { code, ill } = await examine({ kubeconfig: await configFor(server.url) });
    assertEquals(code, 3);
    assertMatch(
      ill.certificate,
      /^fail: the server's certificate has expired: "old", signed by "ca", expired \d+ days ago, on 2021-01-01; renew the server's certificate/,
    );
  }
  {
    await using server = await serveVersion(cert, key, { date: "Mon, 01 Jun 2020 12:00:00 GMT" });
    const { code, ill } = await examine({ kubeconfig: await configFor(server.url) });
    assertEquals(code, 3);
    assertMatch(ill.certificate, /; correct this machine's clock: it is \d+ days ahead of the server's$/);
  }
});

Deno.test("informer doctor reports a certificate that is not valid yet, is for other names, or expires soon", async () => {
  await using certificates = await makeCertificates();
  const cluster = { "certificate-authority": certificates.path("ca.crt") };
  const saidOf = async (cert: string, key: string): Promise<string> => {
    await using server = await serveVersion(cert, key);
    const config = await writeKubeconfig(certificates.path("config"), { server: server.url, ...cluster });
    return (await examine({ kubeconfig: config })).ill.certificate;
  };
  const future = await datedCertificate(certificates.folder, "new", "20400101000000Z", "20410101000000Z");
  assertMatch(
    await saidOf(future.cert, future.key),
    /^fail: the server's certificate is not valid yet: .*, is valid only from 2040-01-01 on, in \d+ days; correct this machine's clock/,
  );
  assertMatch(
    await saidOf(certificates.text("named-server.crt"), certificates.text("named-server.key")),
    /^fail: certificate not valid for name "127\.0\.0\.1".*"kubernetes\.test".*; .*tls-server-name/,
  );
  const day = (days: number): string =>
    `${new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10).replaceAll("-", "")}000000Z`;
  const ending = await datedCertificate(certificates.folder, "ending", day(-300), day(4));
  assertMatch(
    await saidOf(ending.cert, ending.key),
    /^warn: "ending", signed by "ca", trusted, until .* \(\d days\); renew the server's certificate$/,
  );
});

Deno.test("informer doctor reports that a server requires a client certificate", async () => {
  await using certificates = await makeCertificates();
  const [cert, key] = [certificates.text("server.crt"), certificates.text("server.key")];
  await using server = await serveVersion(cert, key, { clientCa: certificates.text("ca.crt") });
  const kubeconfig = await writeKubeconfig(certificates.path("config"), {
    server: server.url,
    "certificate-authority": certificates.path("ca.crt"),
  });
  const { code, ill } = await examine({ kubeconfig });
  assertEquals(code, 3);
  assertMatch(ill.certificate, /^fail: the server refuses connections without a client certificate.*client-key-data/);
});

Deno.test("informer doctor reports an unknown host and a refused connection", async () => {
  const nowhere = await examine({ server: "https://no-such-host.invalid:6443" });
  assertEquals([nowhere.code, Object.keys(nowhere.ill)], [3, ["address"]]);
  assertMatch(nowhere.ill.address, /^fail: https:\/\/no-such-host\.invalid:6443: the host does not exist; check the/);
  const refused = await examine({ server: `https://127.0.0.1:${freePort()}` });
  assertEquals([refused.code, Object.keys(refused.ill)], [3, ["address"]]);
  assertMatch(refused.ill.address, /: the connection was refused; check the port/);
});

Deno.test("informer doctor ends within its time limit at a server that accepts connections and never answers", async () => {
  await using hole = new BlackHole();
  for (const [scheme, step] of [["https", "certificate"], ["http", "server"]]) {
    const { code, ill, report, ms } = await examine({ server: `${scheme}://${hole.host}` }, { limits: SHORT });
    assertEquals([code, report.steps.at(-1)?.name], [3, step]);
    assertMatch(ill[step], /^fail: no response within 0\.[45] s; /);
    assert(ms < 3_000, `it took ${ms} ms`);
  }
});

Deno.test("informer doctor ends within its time limit at a server that answers everything slowly", async () => {
  await using server = await fakeServed();
  server.fake.latency(150);
  const { code, report, ms } = await examine({ server: server.url }, { limits: { stepMs: 400, totalMs: 500 } });
  assertEquals(code, 1);
  const last = report.steps.at(-1)!;
  assertEquals(last.status === "fail" || last.status === "skip", true, last.what);
  assertMatch(last.what, /^no response within|^not checked, 0\.5 s are over/);
  assert(ms < 3_000, `it took ${ms} ms`);
});

Deno.test("informer doctor reports which protocol the server speaks", async () => {
  await using certificates = await makeCertificates();
  await using plain = await fakeServed();
  const http = await examine({ server: plain.url.replace("http:", "https:") });
  assertEquals(http.code, 3);
  assertMatch(http.ill.certificate, /^fail: the server does not speak TLS; write "http:\/\/" instead/);
  await using secure = await fakeServed({}, certificates);
  const https = await examine({ server: secure.url.replace("https:", "http:") });
  assertEquals(https.code, 3);
  assertMatch(https.ill.server, /^fail: the server does not speak plain HTTP; write "https:\/\/" instead/);
});

Deno.test("informer doctor reports that the server rejects the credentials", async () => {
  await using folder = new Folder();
  await using server = await fakeServed({ tokens: { good: "ada" } });
  const tokenFile = folder.write("token", "w0rthless-token");
  const { code, ill, text, report } = await examine({ server: server.url, tokenFile });
  assertEquals([code, report.steps.at(-1)?.name], [3, "login"]);
  assertEquals(
    ill.login,
    "fail: the server does not accept these credentials (401); log in again, or renew the credentials in the user entry, " +
      "and check that they are for this cluster",
  );
  assertEquals(text.includes("w0rthless"), false, "the token is not printed");
});

Deno.test("informer doctor reports when a token expires", async () => {
  await using folder = new Folder();
  const token = webToken(-7_200_000, -3_600_000);
  await using server = await fakeServed({ tokens: { [token]: "ada" } });
  const cluster = { server: server.url };
  const expired = await examine({ kubeconfig: await writeKubeconfig(folder.file("expired"), cluster, { token }) });
  assertEquals([expired.code, expired.report.steps.at(-1)?.name], [3, "clock"]);
  assertMatch(expired.ill.credentials, /^fail: bearer token expired 60 min ago, on .* UTC; log in again/);
  assertEquals(expired.text.includes(token.split(".")[1]), false, "the token is not printed");

  const ending = webToken(-3_600_000, 240_000);
  const warned = await examine({
    kubeconfig: await writeKubeconfig(folder.file("ending"), cluster, { token: ending }),
  });
  assertMatch(warned.ill.credentials, /^warn: bearer token until .* UTC \(3 min\); /);
  const tokenFile = folder.write("token", ending);
  const rotated = await examine({ server: server.url, tokenFile });
  assertEquals(rotated.ill.credentials, undefined, "a file is renewed by the program that wrote it");
});

Deno.test("informer doctor runs the credential plugin, and reports why it fails", async () => {
  await using scripts = await Scripts.make();
  await using server = await fakeServed({ tokens: { "from-a-plugin": "ada" } });
  const withPlugin = async (command: string): Promise<ReturnType<typeof examine>> => {
    const exec = { apiVersion: V1, command, interactiveMode: "Never" };
    const kubeconfig = await writeKubeconfig(`${scripts.folder}/config`, { server: server.url }, { exec });
    return await examine({ kubeconfig }, { limits: SHORT });
  };
  const works = await scripts.printer({ token: "from-a-plugin" });
  const good = await withPlugin(works);
  assertEquals([good.code, good.ill.credentials], [0, undefined], good.text);
  assertStringIncludes(good.report.permissions.join(" "), `--allow-run=${works}`);
  assertEquals(good.text.includes("from-a-plugin"), false, "the token is not printed");
  const fails = await withPlugin(await scripts.write("fails", "echo 'please log in' >&2; exit 7"));
  assertEquals(fails.code, 3);
  assertMatch(fails.ill.credentials, /^fail: .*exit code 7.*please log in.*; /);
  assertEquals(fails.report.steps.at(-1)?.name, "clock", "the server is looked at all the same");
  const hangs = await withPlugin(await scripts.write("hangs", "exec sleep 60"));
  assertEquals(hangs.code, 3);
  assertMatch(hangs.ill.credentials, /^fail: no response within 0\.4 s; run ".*hangs" by itself/);
});

Deno.test("informer doctor names the verb that is not allowed, and the role to ask for", async () => {
  await using server = await fakeServed({ authorize: ({ verb }) => verb !== "watch" });
  const one = await examine({ server: server.url });
  assertEquals([one.code, Object.keys(one.ill)], [3, ["certificate", "watch pods"]]);
  assertEquals(
    one.ill["watch pods"],
    `fail: not allowed in namespace "default"; ask for a Role in namespace "default" with the verbs "list" and "watch" on ` +
      `"pods" (--rbac prints it)`,
  );
  const all = await examine({ server: server.url, allNamespaces: true }, { resources: ["deploy,nodes"] });
  assertEquals(all.code, 3);
  assertMatch(
    all.ill["watch deployments.apps"],
    /in all namespaces; ask for a ClusterRole .* choose a namespace with -n$/,
  );
  assertMatch(all.ill["watch nodes"], /in the cluster; ask for a ClusterRole .* on "nodes" \(--rbac prints it\)$/);
});

Deno.test("informer doctor lists and watches where the server does not answer access reviews", async () => {
  const authorize = ({ verb, resource }: { readonly verb: string; readonly resource: string }): boolean =>
    resource !== "selfsubjectaccessreviews" && verb !== "list";
  await using server = await fakeServed({ authorize });
  const { code, ill } = await examine({ server: server.url });
  assertEquals([code, Object.keys(ill)], [3, ["certificate", "list pods"]]);
  assertMatch(ill["list pods"], /^fail: not allowed in namespace "default"/);
});

Deno.test("informer doctor reports how informers work without streaming lists", async () => {
  await using server = await fakeServed({ streamingList: false });
  const { code, report } = await examine({ server: server.url }, { limits: SHORT });
  const streaming = report.steps.find(({ name }) => name === "streaming list pods");
  assertEquals([code, streaming?.status], [0, "ok"]);
  assertMatch(streaming!.what, /^not offered .*, so informers list in pages instead$/);
});

Deno.test("informer doctor notices watches whose answers are buffered on the way", async () => {
  await using server = await fakeServed();
  using _held = server.fake.stallNext(10, ({ verb }) => verb === "watch");
  const { code, ill } = await examine({ server: server.url }, { limits: SHORT });
  assertEquals(code, 0);
  assertMatch(
    ill["streaming list pods"],
    /^warn: the bookmark at the end is missing, .*; look for a proxy or load balancer/,
  );
});

Deno.test("informer doctor measures the difference between the clocks", async () => {
  await using server = await fakeServed();
  for (const [skewMs, words] of [[120_000, "behind"], [-120_000, "ahead of"]] as const) {
    server.fake.clockSkew(skewMs);
    const { code, ill } = await examine({ server: server.url });
    assertEquals(code, 0);
    assertMatch(
      ill.clock,
      new RegExp(`^warn: 1(?:19|20)(?:\\.\\d)? s ${words} the server's.*; set this machine's clock`),
    );
  }
});

Deno.test("informer doctor distinguishes an API server from other servers", async () => {
  await using server = await fakeServed();
  const version = ({ path }: { readonly path: string }): boolean => path === "/version";
  server.fake.htmlNext(1, version);
  const page = await examine({ server: server.url });
  assertEquals(page.code, 3);
  assertMatch(
    page.ill.server,
    /^fail: the server that answers is not an API server: 200 with text\/html; charset=utf-8; check that/,
  );
  server.fake.failNext({ code: 503, text: "no backend" }, 1, version);
  const balancer = await examine({ server: server.url });
  assertEquals(balancer.code, 3);
  assertMatch(balancer.ill.server, /^fail: responds with 503: no backend; look in the log/);
});

Deno.test("informer doctor names a proxy that does not reach the server", async () => {
  await using certificates = await makeCertificates();
  await using server = await fakeServed({}, certificates);
  const saidBy = async (proxy: string): Promise<Awaited<ReturnType<typeof examine>>> => {
    const cluster = {
      server: server.url,
      "certificate-authority": certificates.path("ca.crt"),
      "proxy-url": `http://ada:hunter2pass@${proxy}`,
    };
    return await examine({ kubeconfig: await writeKubeconfig(certificates.path("config"), cluster) });
  };
  const nobody = `127.0.0.1:${freePort()}`;
  const away = await saidBy(nobody);
  assertEquals([away.code, away.report.steps.at(-1)?.name], [3, "address"]);
  assertMatch(away.ill.address, new RegExp(`through proxy "http://${nobody}": the connection was refused`));
  for (
    const [refuse, words] of [["407 Login", /the proxy asks for a login/], [
      "403 No",
      /does not forward the connection/,
    ]]
  ) {
    await using proxy = serveProxy({ kind: "connect", refuse: refuse as string });
    const refused = await saidBy(proxy.host);
    assertEquals([refused.code, refused.report.steps.at(-1)?.name], [3, "certificate"]);
    assertMatch(refused.ill.certificate, words as RegExp);
    assertEquals(refused.text.includes("hunter2"), false, "the proxy's password is not printed");
  }
  await using proxy = serveProxy({ kind: "connect" });
  const good = await saidBy(proxy.host);
  assertEquals(good.code, 0, good.text);
  assertStringIncludes(good.report.permissions.at(-1)!, proxy.host);
});

Deno.test("informer doctor reports whether plain HTTP leaves this machine", async () => {
  await using server = await fakeServed();
  await using proxy = serveProxy({ kind: "connect" });
  const env = { HTTP_PROXY: `http://${proxy.host}`, NO_PROXY: "" };
  await using direct = new Program("src/cli/main.ts", ["doctor", "--server", server.url, "-o", "json"], env);
  assertEquals([await direct.code, proxy.asked], [0, []], direct.out.text);
  const words = new Map(
    (JSON.parse(direct.out.text) as Examined["report"]).steps.map(({ name, what }) => [name, what]),
  );
  assertMatch(words.get("address")!, /^http:\/\/127\.0\.0\.1:\d+, connected in/);
  assertEquals(words.get("certificate"), "plain HTTP, which does not leave this machine");
  await using folder = new Folder();
  const proxied = await writeKubeconfig(folder.file("config"), {
    server: server.url,
    "proxy-url": `http://127.0.0.1:${new URL(server.url).port}`,
  });
  assertMatch((await examine({ kubeconfig: proxied })).ill.certificate, /^warn: plain HTTP: others can read/);
});

Deno.test("informer doctor asks for no flag about certificates, and warns of none, where HTTP is plain", async () => {
  await using server = await fakeServed();
  await using folder = new Folder();
  // As informer fake writes it: client-node refuses http without the field.
  const kubeconfig = await writeKubeconfig(folder.file("config"), {
    server: server.url,
    "insecure-skip-tls-verify": true,
  });
  const { code, ill, report } = await examine({ kubeconfig });
  assertEquals([code, Object.keys(ill)], [0, ["certificate"]]); // skipped
  assertEquals(report.permissions.filter((flag) => flag.includes("certificate")), []);
});

Deno.test("informer doctor reports errors of the kubeconfig", async () => {
  await using folder = new Folder();
  const folderItself = await examine({ kubeconfig: folder.file("") });
  assertEquals([folderItself.code, folderItself.report.steps.length, folderItself.report.permissions], [3, 1, []]);
  assertMatch(folderItself.ill.configuration, /it is a folder; correct it, or choose another one with --kubeconfig/);
  const broken = await examine({ kubeconfig: await writeKubeconfig(folder.file("broken"), { sever: "https://x" }) });
  assertEquals(broken.code, 3);
  assertMatch(broken.ill.configuration, /cluster "farm" of kubeconfig .*: field "sever" is not known .*; correct it/);
  const ca = { server: "https://127.0.0.1:1", "certificate-authority": folder.file("nosuch.crt") };
  const withoutCa = await examine({ kubeconfig: await writeKubeconfig(folder.file("ca"), ca) });
  assertMatch(
    withoutCa.ill.configuration,
    /field "certificate-authority" names ".*nosuch\.crt": there is no such file/,
  );
});

Deno.test("informer doctor names the Deno flag that a configuration needs", async () => {
  await using certificates = await makeCertificates();
  await using server = await fakeServed({}, certificates);
  const cluster = { server: server.url, "insecure-skip-tls-verify": true };
  const kubeconfig = await writeKubeconfig(certificates.path("config"), cluster);
  const { code, ill, report } = await examine({ kubeconfig });
  const flag = "--unsafely-ignore-certificate-errors=127.0.0.1";
  assertEquals([code, report.permissions.at(-1)], [3, flag]);
  assertMatch(ill.configuration, /^warn: .*insecure-skip-tls-verify lets anyone impersonate the server; put the/);
  assertMatch(ill.certificate, new RegExp(`^fail: .* "server", signed by "ca"; run Deno with ${flag}$`));
});

Deno.test("informer doctor exits with 2 for a resource that does not exist, and checks the others", async () => {
  const { code, ill, report } = await examine({ fake: true }, { resources: ["podz", "cm"] });
  assertEquals([code, Object.keys(ill)], [2, ["list podz"]]);
  assertMatch(ill["list podz"], /Did you mean "pods"\?; correct the name/);
  assertEquals(report.steps.some(({ name }) => name === "streaming list configmaps"), true);
});

/** A server with a resource that can only be listed, whose aggregated server can be down. */
function metricsServer(isDown: boolean): Pick<FakeApiServer, "fetch" | typeof Symbol.dispose> {
  const metrics = { group: "metrics.k8s.io", version: "v1beta1", plural: "pods", kind: "PodMetrics" } as const;
  const fake = new FakeApiServer({ resources: [{ ...metrics, scope: "Namespaced", verbs: ["get", "list"] }] });
  if (!isDown) return fake;
  const fetch: FakeApiServer["fetch"] = async (request, info) => {
    const response = await fake.fetch(request, info);
    if (new URL(request.url).pathname !== "/apis") return response;
    const list = await response.json();
    const { versions } = list.items.find((it: Namespace) => it.metadata.name === metrics.group);
    Object.assign(versions[0], { freshness: "Stale", resources: undefined });
    return Response.json(list, { headers: { "content-type": response.headers.get("content-type")! } });
  };
  return { fetch, [Symbol.dispose]: () => fake[Symbol.dispose]() };
}

Deno.test("informer doctor advises pollMs for a resource without a watch, and informers can run", async () => {
  await using served = await serve(metricsServer(false));
  const resources = ["pods.metrics.k8s.io", "cm"];
  const { code, ill, report } = await examine({ server: served.url }, { resources });
  assertEquals([code, Object.keys(ill).filter((name) => name.includes("metrics"))], [0, ["watch pods.metrics.k8s.io"]]);
  assertMatch(ill["watch pods.metrics.k8s.io"], /^warn: .* cannot be watched .*; create the informer with pollMs/);
  assertEquals(report.steps.find(({ name }) => name === "list pods.metrics.k8s.io")?.status, "ok");
  const rbac = await run("doctor", ...resources, "--rbac", "-A", "--server", served.url);
  assertEquals([rbac.code, rbac.out.filter((line) => line.includes("verbs:"))], [0, [
    '  verbs: ["list"]',
    '  verbs: ["list", "watch"]',
  ]]);
});

Deno.test("informer doctor says what to run next, with its own flags, only if nothing is wrong", async () => {
  const nextOf = async (...args: string[]): Promise<string | undefined> =>
    (await run("doctor", ...args, "--server", served.url)).out.find((line) => line.startsWith("next: "));
  using server = new FakeApiServer();
  await using served = await serve(server);
  const watch = `next: informer watch pods deploy --server ${served.url}`;
  assertEquals(await nextOf("pods", "deploy", "-A"), `${watch} -A`);
  const user = ["--as", "ada", "--as-group", "it's"];
  assertEquals(
    await nextOf("pods,deploy", "-n", "shop", ...user),
    `${watch} --as ada --namespace shop --as-group "it's"`,
  );
  assertEquals(await nextOf("pods", "podz"), undefined);
});

Deno.test("informer doctor names the server that is down, and not the name of its resource", async () => {
  await using served = await serve(metricsServer(true));
  const { code, ill } = await examine({ server: served.url }, { resources: ["pods.metrics.k8s.io", "podz"] });
  assertEquals(code, 1);
  assertMatch(
    ill["list pods.metrics.k8s.io"],
    /^fail: not known: the server of metrics\.k8s\.io\/v1beta1 does not answer; look at the APIService objects/,
  );
  assertMatch(ill["list podz"], /correct the name/);
});

Deno.test("informer doctor prints one line per check outside a terminal, and refuses flags that contradict each other", async () => {
  const { code, out, err } = await run("doctor", "--fake");
  assertEquals([code, err], [0, []]);
  assertMatch(out[0], /^ok {4}configuration +a fake API server in this process$/);
  assert(out.some((line) => /^ok {4}login +known as "system:admin", in groups "system:masters"/.test(line)));
  assertMatch(out.at(-2)!, /^all good: informers can run \(/);
  assertEquals(out.at(-1), "next: informer watch pods --fake");
  const json = await run("doctor", "--fake", "-o", "json", "pods");
  assertEquals([json.code, JSON.parse(json.out.join("\n")).ok], [0, true]);
  for (
    const [message, ...args] of [
      [/-A and -n contradict/, "-A", "-n", "shop"],
      [/--fake needs no other server/, "--fake", "--context", "x"],
      [/there is no such file\. Correct it, or choose another one with --kubeconfig/, "--kubeconfig", "/nonexistent"],
      [/name at least one resource/, ",", "--fake"],
      [/--server must begin with/, "--server", "htp://x"],
    ] as const
  ) {
    const refused = await run("doctor", ...args);
    assertEquals([refused.code, refused.out, refused.err.length], [2, [], 1]);
    assertMatch(refused.err[0], message);
  }
});

Deno.test("informer doctor --rbac prints the roles that informers need, as YAML", async () => {
  const { code, out, err } = await run("doctor", "pods,deploy", "cm", "nodes", "-n", "shop", "--rbac", "--fake");
  assertEquals([code, err], [0, []]);
  const [cluster, role] = loadAll(out.join("\n")) as Record<string, unknown>[];
  assertEquals([cluster.kind, cluster.metadata, cluster.rules], ["ClusterRole", { name: "informer" }, [
    { apiGroups: [""], resources: ["nodes"], verbs: ["list", "watch"] },
  ]]);
  assertEquals([role.kind, role.metadata, role.rules], ["Role", { name: "informer", namespace: "shop" }, [
    { apiGroups: [""], resources: ["configmaps", "pods"], verbs: ["list", "watch"] },
    { apiGroups: ["apps"], resources: ["deployments"], verbs: ["list", "watch"] },
  ]]);
  const all = await run("doctor", "-A", "--rbac", "--fake");
  assertEquals(all.out.filter((line) => /kind:|namespace:|resources:/.test(line)), [
    "kind: ClusterRole",
    `  resources: ["pods"]`,
  ]);
  const unknown = await run("doctor", "podz", "--rbac", "--fake");
  assertEquals([unknown.code, unknown.out], [2, []]);
  const contradiction = await run("doctor", "--rbac", "-o", "json", "--fake");
  assertEquals([contradiction.code, contradiction.err.length], [2, 1]);
});

Deno.test("informer doctor --memory prints the sizes of kinds, namespaces and the largest objects", async () => {
  await using server = await fakeServed();
  const text = "x".repeat(5_000);
  server.fake.create(ConfigMap, { metadata: { name: "large", namespace: "shop" }, data: { text } });
  server.fake.create(ConfigMap, { metadata: { name: "small", namespace: "shop" } });
  const flags = ["--server", server.url, "--memory"];
  const some = await run("doctor", "cm", "pods", "-n", "shop", ...flags);
  assertEquals([some.code, some.err], [0, []]);
  assertEquals(some.out[0].split(/ {2,}/), ["RESOURCE", "OBJECTS", "TEXT", "MEAN", "LARGEST"]);
  assertMatch(some.out[1], /^configmaps +2 +5\.\d kB +2\.\d kB +5\.\d kB shop\/large$/);
  assertMatch(some.out[2], /^all +2 +5\.\d kB$/);
  assertEquals(some.out.slice(3).map((line) => line.split(/ {2,}/)[0]), [
    ...["", "NAMESPACE", "shop", "", "LARGEST", "configmaps shop/large", "configmaps shop/small"],
  ]);
  const all = await run("doctor", "-A", "-o", "json", ...flags);
  const { resources } = JSON.parse(all.out.join("\n"));
  const found = new Map(resources.map((it: { resource: string; memory: unknown }) => [it.resource, it.memory]));
  assertEquals(resources[0].resource, "configmaps");
  assertEquals(
    [found.has("deployments.apps"), found.has("events"), found.has("events.events.k8s.io")],
    [true, true, false],
  );
  assertEquals(resources.find((it: { resource: string }) => it.resource === "configmaps").memory.objects, 2);
});

Deno.test("informer doctor --memory shows its progress, and reports kinds that cannot be listed", async () => {
  await using server = await fakeServed();
  server.fake.failNext(403, 1, ({ url }) => url.includes("/configmaps"));
  const session = new Session(["doctor", "cm,pods", "-A", "--memory", "--server", server.url], { terminal: true });
  assertEquals(await session.code, 1);
  assertMatch(session.err.text, /measuring pods: \d+ objects, [\d.]+ kB/);
  assertStringIncludes(session.err.text, "error: skipped configmaps: ");
  server.fake.failNext(403, 1, ({ url }) => url.includes("/configmaps"));
  assertEquals((await run("doctor", "cm", "--memory", "--server", server.url)).code, 3);
  assertEquals((await run("doctor", "cm", "--memory", "--rbac", "--fake")).code, 2);
});

Deno.test("informer doctor prints no report when it is interrupted", async () => {
  await using hole = new BlackHole();
  const session = new Session(["doctor", "--server", `http://${hole.host}`], { terminal: true });
  await session.err.until(() => session.err.text.includes("looking at server"));
  session.interrupt();
  assertEquals([await session.code, session.out.text], [0, ""]);
});

const REPORT: Report = {
  server: "https://farm.example:6443",
  exitCode: 3,
  steps: [
    { name: "address", status: "ok", what: "https://farm.example:6443 is 10.0.0.1, connected in 3 ms", ms: 3 },
    { name: "clock", status: "warn", what: "120 s behind the server's", remedy: "set this machine's clock", ms: 0 },
    { name: "bookmarks pods", status: "skip", what: "none in 3 s", ms: 3_000 },
    {
      name: "watch pods",
      status: "fail",
      what: `not allowed in namespace "shop"`,
      remedy: `ask for a Role in namespace "shop" with the verbs "list" and "watch" on "pods"`,
      ms: 5,
    },
  ],
  permissions: [`--allow-read="/home/ada/my config"`, "--allow-net=farm.example:6443"],
  ms: 3_210,
};

Deno.test("reportLines prints one line per check for logs", () => {
  assertEquals(reportLines(REPORT, { pretty: false, colours: false, columns: 40 }), [
    "ok    address         https://farm.example:6443 is 10.0.0.1, connected in 3 ms",
    "warn  clock           120 s behind the server's; to do: set this machine's clock",
    "skip  bookmarks pods  none in 3 s",
    `fail  watch pods      not allowed in namespace "shop"; to do: ask for a Role in namespace "shop" with the verbs ` +
    `"list" and "watch" on "pods"`,
    `ok    permissions     --allow-read="/home/ada/my config" --allow-net=farm.example:6443`,
    "1 of 4 checks failed, 1 warning (3.2 s)",
  ]);
});

Deno.test("reportLines wraps and aligns text for terminals, and does not split flags", () => {
  assertEquals(reportLines(REPORT, { pretty: true, colours: false, columns: 64 }), [
    "informer doctor  https://farm.example:6443",
    "",
    "  ✓ address         https://farm.example:6443 is 10.0.0.1,",
    "                    connected in 3 ms",
    "  ! clock           120 s behind the server's",
    "                    → set this machine's clock",
    "  - bookmarks pods  none in 3 s",
    `  ✗ watch pods      not allowed in namespace "shop"`,
    `                    → ask for a Role in namespace "shop" with`,
    `                      the verbs "list" and "watch" on "pods"`,
    `  ✓ permissions     --allow-read="/home/ada/my config"`,
    "                    --allow-net=farm.example:6443",
    "",
    "  1 of 4 checks failed, 1 warning (3.2 s)",
  ]);
});

Deno.test("reportLines adds nothing but colours", () => {
  const style = { pretty: true, columns: 80 };
  const coloured = reportLines(REPORT, { ...style, colours: true });
  // deno-lint-ignore no-control-regex -- the colours themselves
  const bare = coloured.map((line) => line.replaceAll(/\x1b\[\d+m/g, ""));
  assertEquals(bare, reportLines(REPORT, { ...style, colours: false }));
  assertEquals(coloured.find((line) => line.includes("watch pods"))?.includes("\x1b[31m✗\x1b[0m"), true);
});

Deno.test("reportLines ends with a verdict: informers can run, or cannot", () => {
  const verdict = (steps: Report["steps"]): string | undefined =>
    reportLines({ ...REPORT, steps }, { pretty: false, colours: false, columns: 80 }).at(-1);
  const [ok, warn] = REPORT.steps;
  assertEquals(verdict([ok]), "all good: informers can run (3.2 s)");
  const next = { ...REPORT, steps: [ok], next: "informer watch pods" };
  for (const columns of [80, 100]) {
    const lines = reportLines(next, { pretty: true, colours: false, columns });
    assertEquals(lines.slice(-2), ["  all good: informers can run (3.2 s)", "  next: informer watch pods"]);
    assert(lines.every((line) => line.length <= columns));
  }
  assertEquals(verdict([ok, warn, warn]), "informers can run, with 2 warnings (3.2 s)");
});
