import { assertEquals, assertFalse, assertRejects, assertStrictEquals } from "@std/assert";
import { ExecLogin } from "../../../src/deno/credentials/exec_login.ts";
import { ExecCredential } from "../../../src/kubeconfig/exec/exec_credential.ts";
import { Secret } from "../../../src/kubeconfig/text/secret.ts";
import { findConnection } from "../../../src/deno/find_connection.ts";
import { FakeTime } from "../../support/fake_time.ts";
import { makeCertificates } from "../../support/certificates.ts";
import { ask, hostWith, writeKubeconfig } from "../../support/host.ts";
import { authorization, loginBy, pluginOf, Scripts, V1 } from "../../support/plugin.ts";
import { serve, values } from "../../support/tls_server.ts";

/** A login whose plugin is a function that gives `token-1`, `token-2` and so on. */
class Counted {
  runs = 0;
  expiresMs: number | undefined;
  failure: Error | undefined;
  readonly login = new ExecLogin({
    run: () => {
      this.runs++;
      if (this.failure !== undefined) return Promise.reject(this.failure);
      const { expiresMs } = this;
      const token = new Secret(`token-${this.runs}`);
      return Promise.resolve(new ExecCredential({ token, ...(expiresMs !== undefined && { expiresMs }) }));
    },
  });
}

Deno.test("ExecLogin reuses the plugin's credentials until shortly before they expire [C149]", async () => {
  using time = new FakeTime();
  const plugin = new Counted();
  plugin.expiresMs = Date.now() + 60_000;
  assertEquals(await authorization(plugin.login), "Bearer token-1");
  time.tick(49_999);
  assertEquals(await authorization(plugin.login), "Bearer token-1");
  plugin.expiresMs = undefined;
  time.tick(1);
  assertEquals(await authorization(plugin.login), "Bearer token-2");
  time.tick(10 * 365 * 86_400_000);
  assertEquals(await authorization(plugin.login), "Bearer token-2");
});

Deno.test("ExecLogin reuses credentials that live for seconds, or have expired by this clock, for some seconds", async () => {
  using time = new FakeTime();
  const plugin = new Counted();
  for (const [lifeMs, usedMs] of [[16_000, 8_000], [-60_000, 5_000], [1_000, 5_000]]) {
    plugin.expiresMs = Date.now() + lifeMs;
    plugin.runs = 0;
    await authorization(plugin.login);
    time.tick(usedMs - 1);
    await authorization(plugin.login);
    assertEquals(plugin.runs, 1);
    time.tick(1);
  }
});

Deno.test("ExecLogin runs the plugin once for simultaneous requests", async () => {
  await using scripts = await Scripts.make();
  await scripts.printer({ token: "abc" });
  const login = loginBy(pluginOf(scripts.folder, { command: "./plugin" }));
  const all = await Promise.all(Array.from({ length: 10 }, () => authorization(login)));
  assertEquals(new Set(all), new Set(["Bearer abc"]));
  await Promise.all(Array.from({ length: 10 }, () => authorization(login, { refresh: true })));
  assertEquals(await scripts.runs(), 2);
});

Deno.test("ExecLogin does not run the plugin for a request with its own Authorization", async () => {
  const plugin = new Counted();
  assertEquals(await authorization(plugin.login, { headers: { authorization: "Bearer own" } }), "Bearer own");
  assertEquals(plugin.runs, 0);
});

Deno.test("ExecLogin runs the plugin again when the server refuses its credentials, then waits longer and longer", async () => {
  using time = new FakeTime();
  const plugin = new Counted();
  await authorization(plugin.login);
  const runsAt: number[] = [];
  const start = Date.now();
  for (let second = 0; second < 260; second++) {
    const before = plugin.runs;
    await authorization(plugin.login, { refresh: true });
    if (plugin.runs > before) runsAt.push((Date.now() - start) / 1_000);
    time.tick(1_000);
  }
  assertEquals(runsAt, [0, 10, 30, 70, 130, 190, 250]);
  time.tick(1_000_000);
  await authorization(plugin.login, { refresh: true });
  time.tick(10_000);
  await authorization(plugin.login, { refresh: true });
  // All was well for long enough, so that the pauses are short again.
  assertEquals(plugin.runs, 1 + runsAt.length + 2);
});

Deno.test("ExecLogin rejects with the error of a failed plugin for a while, then runs it again", async () => {
  using time = new FakeTime();
  const plugin = new Counted();
  plugin.failure = new Error("no login");
  for (const [tickMs, runs] of [[0, 1], [999, 1], [1, 2], [1_999, 2], [1, 3]]) {
    time.tick(tickMs);
    assertStrictEquals(await authorization(plugin.login).catch((error) => error), plugin.failure);
    assertEquals(plugin.runs, runs);
  }
  plugin.failure = undefined;
  time.tick(4_000);
  assertEquals(await authorization(plugin.login), "Bearer token-4");
});

Deno.test("ExecLogin keeps its waits when the time of day is set, back or forward", async () => {
  for (const jumpMs of [-3_600_000, 3_600_000]) {
    using time = new FakeTime();
    const plugin = new Counted();
    plugin.failure = new Error("no login");
    await authorization(plugin.login).catch((error) => error);
    time.setClock(time.now + jumpMs);
    time.tick(999);
    await authorization(plugin.login).catch((error) => error);
    assertEquals(plugin.runs, 1);
    time.tick(1);
    plugin.failure = undefined;
    plugin.expiresMs = Date.now() - 60_000;
    await authorization(plugin.login);
    assertEquals(plugin.runs, 2);
    time.setClock(time.now + jumpMs);
    time.tick(4_999); // used for 5 s although it has expired
    await authorization(plugin.login);
    assertEquals(plugin.runs, 2);
    plugin.expiresMs = undefined;
    await authorization(plugin.login, { refresh: true });
    time.setClock(time.now + jumpMs);
    time.tick(9_999);
    await authorization(plugin.login, { refresh: true });
    assertEquals(plugin.runs, 3);
    time.tick(1);
    await authorization(plugin.login, { refresh: true });
    assertEquals(plugin.runs, 4);
  }
});

Deno.test("ExecLogin runs the plugin again when the time of day has reached its credentials' expiry", async () => {
  using time = new FakeTime();
  const plugin = new Counted();
  plugin.expiresMs = Date.now() + 3_600_000;
  await authorization(plugin.login);
  time.tick(5_000);
  assertEquals(await authorization(plugin.login), "Bearer token-1");
  time.setClock(plugin.expiresMs);
  assertEquals(await authorization(plugin.login), "Bearer token-2");
});

Deno.test("ExecLogin ends its plugin when all waiting requests have been aborted, and not before", async () => {
  const signals: AbortSignal[] = [];
  const login = new ExecLogin({
    run: (signal) => {
      signals.push(signal);
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    },
  });
  const [first, second] = [new AbortController(), new AbortController()];
  const waits = [first, second].map(({ signal }) => authorization(login, { signal }).catch((error) => error.message));
  first.abort(new Error("first"));
  assertEquals(await waits[0], "first");
  assertFalse(signals[0].aborted);
  second.abort(new Error("second"));
  assertEquals(await waits[1], "second");
  assertEquals([signals.length, signals[0].aborted], [1, true]);
});

Deno.test("connect runs the plugin at the first request, and again when the server answers 401", async () => {
  await using certificates = await makeCertificates();
  await using scripts = await Scripts.make();
  let expected = "Bearer first";
  await using server = await serve({ certificates, authorization: () => expected });
  await scripts.printer({ token: "first" });
  const kubeconfig = await writeKubeconfig(
    `${scripts.folder}/config`,
    { server: server.url, "certificate-authority": certificates.path("ca.crt") },
    { exec: { apiVersion: V1, command: "./plugin", interactiveMode: "Never" } },
  );
  for (const pluginTimeoutMs of [-1, NaN]) {
    await assertRejects(
      () => findConnection({ kubeconfig, pluginTimeoutMs }, hostWith()),
      RangeError,
      "pluginTimeoutMs",
    );
  }
  const connection = await findConnection({ kubeconfig }, hostWith());
  using _transport = connection.transport;
  assertEquals([connection.origin.login, connection.origin.plugin], ["exec", `${scripts.folder}/plugin`]);
  assertEquals(connection.origin.permissions.at(-2), `--allow-run=${scripts.folder}/plugin`);
  assertEquals(await scripts.runs(), 0);
  assertEquals(values(await ask(connection), "authorization"), ["Bearer first"]);
  await scripts.credential({ token: "second" });
  expected = "Bearer second";
  await assertRejects(() => ask(connection), Error, "401");
  await ask(connection, "/version", { refresh: true });
  assertEquals(await scripts.runs(), 2);
});

Deno.test("connect presents the plugin's client certificate, and a newer one on new connections", async () => {
  await using certificates = await makeCertificates();
  await using scripts = await Scripts.make();
  await using server = await serve({ certificates, requestCert: true });
  const pair = (name: string) => ({
    clientCertificateData: certificates.text(`${name}.crt`),
    clientKeyData: certificates.text(`${name}.key`),
  });
  await scripts.printer(pair("client"));
  const kubeconfig = await writeKubeconfig(
    `${scripts.folder}/config`,
    { server: server.url, "certificate-authority": certificates.path("ca.crt") },
    { exec: { apiVersion: V1, command: "./plugin", interactiveMode: "Never" } },
  );
  const connection = await findConnection({ kubeconfig }, hostWith());
  using _transport = connection.transport;
  assertEquals((await ask(connection)).clientName, "client");
  assertEquals((await ask(connection)).clientName, "client");
  assertEquals(server.connections, 1);
  await scripts.credential({ ...pair("second"), token: "abc" });
  const seen = await ask(connection, "/version", { refresh: true });
  assertEquals([seen.clientName, ...values(seen, "authorization")], ["second", "Bearer abc"]);
  assertEquals([await scripts.runs(), server.connections], [2, 2]);
});
