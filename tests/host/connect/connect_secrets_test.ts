import { assert, assertEquals, assertInstanceOf } from "@std/assert";
import { inspect } from "node:util";
import type { KubernetesObject } from "../../../src/engine/api/object.ts";
import { defineResource } from "../../../src/engine/api/resource.ts";
import { StatusError, UnreachableError } from "../../../src/engine/api/status.ts";
import { Client } from "../../../src/engine/client/client.ts";
import { logRequests, type RequestReport } from "../../../src/engine/client/http/connection.ts";
import { findConnection } from "../../../src/host/connect/connect.ts";
import { clientOptionsOf } from "../../../src/host/connect/connect_options.ts";
import type { ConnectOptions } from "../../../src/host/connect/connect_options.ts";
import { CredentialPluginError } from "../../../src/host/connect/run_plugin.ts";
import {
  KubeconfigError,
  mergeKubeconfigs,
  parseKubeconfig,
} from "../../../src/host/connect/kubeconfig/parse_kubeconfig.ts";
import { resolveContext } from "../../../src/host/connect/kubeconfig/resolve_context.ts";
import { httpTransport } from "../../../src/host/connect/mod.ts";
import { SharedInformerFactory } from "../../../src/engine/informer/shared_informer_factory.ts";
import { type Certificates, makeCertificates } from "../../support/servers/certificates.ts";
import { hostWith, writeKubeconfig } from "../../support/processes/host.ts";
import { Scripts, V1 } from "../../support/servers/plugin.ts";
import { ON_DENO } from "./_runtime.ts";
import { serveApi } from "./_tls_api_server.ts";

interface SecretObject extends KubernetesObject {
  readonly data?: Readonly<Record<string, string>>;
}

const SECRETS = defineResource<SecretObject>({ group: "", version: "v1", plural: "secrets", kind: "Secret" });

/** Stands in every secret that the test plants, but for keys, which are what openssl makes. */
const PLANTED = "hunter2";

/** Every way in which a value gets onto a screen or into a file. */
function* printed(value: unknown): Generator<string> {
  yield Deno.inspect(value, {
    depth: 20,
    showHidden: true,
    getters: true,
    iterableLimit: 1_000,
    strAbbreviateSize: 1e6,
  });
  yield inspect(value, { depth: 20, showHidden: true, getters: true });
  yield JSON.stringify(value, circular()) ?? "";
  yield String(value);
  yield `${Object.values(Object(value)).map((part) => Deno.inspect(part, { depth: 20 })).join(" ")}`;
  for (let cause: unknown = value; cause instanceof Error; cause = cause.cause) yield `${cause.message} ${cause.stack}`;
}

function circular(): (name: string, value: unknown) => unknown {
  const seen = new Set<unknown>();
  return (_name, value) => {
    if (typeof value !== "object" || value === null) return value;
    if (seen.has(value)) return undefined;
    seen.add(value);
    return value;
  };
}

/** Collects what is printed until its disposal, and fails when that, or a value that it checks, has a secret. */
class SecretSearch implements Disposable {
  readonly #secrets: string[];
  readonly #lines: string[] = [];
  readonly #real = new Map<"log" | "info" | "warn" | "error" | "debug", typeof console.log>();
  #seen = 0;

  constructor(certificates: Certificates) {
    const keyOf = (name: string): string => certificates.text(`${name}.key`).split("\n")[1];
    this.#secrets = [PLANTED, btoa(`ada:${PLANTED}`), btoa(PLANTED), keyOf("client"), keyOf("second")];
    for (const name of ["log", "info", "warn", "error", "debug"] as const) {
      this.#real.set(name, console[name]);
      console[name] = (...values: unknown[]): void => void this.#lines.push(values.map((v) => Deno.inspect(v)).join());
    }
  }

  check(what: string, ...values: unknown[]): void {
    for (const value of values) {
      for (const text of printed(value)) this.#checkText(what, text);
      console.log(value);
    }
  }

  #checkText(what: string, text: string): void {
    this.#seen++;
    for (const secret of this.#secrets) {
      assert(!text.includes(secret), `${what} has a secret: ${text.slice(0, 2_000)}`);
    }
  }

  [Symbol.dispose](): void {
    for (const [name, real] of this.#real) console[name] = real;
    for (const line of this.#lines) this.#checkText("console", line);
    assert(this.#seen > 0);
  }
}

/** Connects, follows Secrets, is refused, and shows all there is on the way. */
async function goThrough(
  search: SecretSearch,
  what: string,
  options: ConnectOptions,
  server: Awaited<ReturnType<typeof serveApi>>,
  revoke: (isRevoked: boolean) => void,
): Promise<void> {
  revoke(false);
  const before = server.fake.requests.length;
  const warnings: string[] = [];
  const onWarning = (warning: string): void => void warnings.push(warning);
  const lines: string[] = [];
  const reports: RequestReport[] = [];
  const log = logRequests((line) => lines.push(line), { verbosity: 2 });
  const onRequest = (report: RequestReport): void => {
    reports.push(report);
    log(report);
  };
  const connection = await findConnection({ onWarning, onRequest, ...options }, hostWith());
  const { transport, credentials, origin } = connection;
  using client = new Client(clientOptionsOf(connection));
  const errors: unknown[] = [];
  await using informers = new SharedInformerFactory(client, { onError: (error) => void errors.push(error) });
  const secrets = informers.forResource(SECRETS, {
    secretData: "keep",
    reflector: { backoff: { initialMs: 1, maxMs: 2 } },
  });
  const events: unknown[] = [];
  const registration = secrets.addEventHandler({ onAdd: (event) => void events.push(event) });
  informers.start();
  await informers.waitForCacheSync();
  await registration.waitForSync();
  search.check(what, connection, transport, credentials, origin, client, informers, secrets, secrets.status());
  search.check(`${what} events`, ...events, registration);
  // The fake keeps the bodies of the writes below.
  search.check(`${what} requests`, server.fake.requests.slice(before));
  assertEquals([events.length, atob(String(secrets.lister.list()[0].data?.password))], [1, PLANTED]);
  // A write, and a path with a token, of a user that the client acts as.
  const draft = { metadata: { name: "other" }, data: { password: btoa(PLANTED) }, stringData: { password: PLANTED } };
  const acting = client.as({ user: "grace" });
  search.check(`${what} acting`, acting);
  await acting.resource(SECRETS, { namespace: "default" }).create(draft);
  await client.resource(SECRETS, { namespace: "default" }).delete("other");
  await client.fetch(`/api/v1/namespaces?access_token=${PLANTED}&limit=1`).then((response) => response.text());
  revoke(true);
  const refused = await client.fetch("/api").catch((error) => error);
  assertInstanceOf(refused, StatusError);
  search.check(`${what} refused`, refused);
  server.fake.endWatches();
  for await (const status of secrets.statusChanges()) {
    search.check(`${what} status`, status, status.cause);
    if (status.state === "unauthorized") break;
  }
  search.check(`${what} all`, ...errors, ...warnings);
  assert(lines.some((line) => /^POST .* 201 in \d+ ms/.test(line)), lines.join("\n"));
  assert(lines.some((line) => line.includes("access_token=[redacted]")), lines.join("\n"));
  search.check(`${what} log`, lines, reports);
}

Deno.test("connect and SharedIndexInformer never show a secret of any kind, whatever is printed [F38]", async () => {
  await using certificates = await makeCertificates();
  await using scripts = await Scripts.make();
  using search = new SecretSearch(certificates);
  let isRevoked = false;
  await using server = await serveApi(certificates, ({ token, name }) => !isRevoked && token + name !== "");
  server.fake.create(SECRETS, { metadata: { name: "login" }, data: { password: btoa(PLANTED) } });
  const revoke = (value: boolean): void => void (isRevoked = value);
  await Deno.writeTextFile(certificates.path("token"), `${PLANTED}-file`);
  await scripts.printer({
    token: `${PLANTED}-exec`,
    clientCertificateData: certificates.text("second.crt"),
    clientKeyData: certificates.text("second.key"),
  });
  const exec = {
    ...{ apiVersion: V1, command: `${scripts.folder}/plugin`, interactiveMode: "Never", args: ["--token", PLANTED] },
    env: [{ name: "SESSION", value: PLANTED }],
  };
  const users: Readonly<Record<string, Record<string, unknown>>> = {
    token: { token: `${PLANTED}-token` },
    tokenFile: { tokenFile: "token", token: `${PLANTED}-fallback` },
    exec: { exec },
    "client-key-data": {
      "client-certificate-data": btoa(certificates.text("client.crt")),
      "client-key-data": btoa(certificates.text("client.key")),
    },
    "client-key": { "client-certificate": "client.crt", "client-key": "client.key", as: "grace" },
  };
  const cluster = { server: server.url, "certificate-authority": "ca.crt" };
  for (const [what, user] of Object.entries(users)) {
    const kubeconfig = await writeKubeconfig(certificates.path("config"), cluster, user);
    await goThrough(search, what, { kubeconfig }, server, revoke);
    const config = mergeKubeconfigs([parseKubeconfig(await Deno.readTextFile(kubeconfig), kubeconfig)]);
    search.check(`${what} kubeconfig`, config, [...config.users.values()], resolveContext(config));
  }
  const caFile = certificates.path("ca.crt");
  await goThrough(search, "option token", { server: server.url, token: `${PLANTED}-own`, caFile }, server, revoke);
});

Deno.test("connect never shows a secret when it fails", async () => {
  await using certificates = await makeCertificates();
  await using scripts = await Scripts.make();
  using search = new SecretSearch(certificates);
  const cluster = { server: "https://127.0.0.1:1" };
  const key = certificates.text("client.key");
  const cases: readonly [cluster: Record<string, unknown>, user: Record<string, unknown>][] = [
    [cluster, { token: `${PLANTED} ${PLANTED}` }],
    [cluster, { token: PLANTED, username: "ada", password: PLANTED }],
    [cluster, { password: PLANTED }],
    [cluster, { tokn: PLANTED }],
    [cluster, { "client-certificate": "second.crt", "client-key-data": btoa(key) }],
    [cluster, { "client-key-data": btoa(key) }],
    [cluster, { "client-certificate-data": btoa(key), "client-key-data": btoa(key) }],
    [cluster, { "auth-provider": { name: "oidc", config: { "refresh-token": PLANTED } } }],
    [cluster, { exec: { command: "x", env: [{ name: "A", value: PLANTED }], args: [PLANTED] } }],
    [{ ...cluster, "proxy-url": `http://ada:${PLANTED}@127.0.0.1/x` }, {}],
    [{ ...cluster, "proxy-url": `ftp://ada:${PLANTED}@127.0.0.1` }, {}],
    [{ server: `https://ada:${PLANTED}@127.0.0.1` }, {}],
    [{ server: "http://farm.example" }, { token: PLANTED }],
  ];
  for (const [cluster, user] of cases) {
    const kubeconfig = await writeKubeconfig(certificates.path("config"), cluster, user);
    const error = await findConnection({ kubeconfig }, hostWith()).catch((error) => error);
    assertInstanceOf(error, KubeconfigError, JSON.stringify(user));
    search.check("error", error);
  }
  await Deno.writeTextFile(certificates.path("token"), `${PLANTED}\n${PLANTED}`);
  const kubeconfig = await writeKubeconfig(certificates.path("config"), cluster, { tokenFile: "token" });
  search.check("token file", await findConnection({ kubeconfig }, hostWith()).catch((error) => error));
  for (const scheme of ["http", ...ON_DENO ? ["socks5"] : []]) {
    const proxy = `${scheme}://ada:${PLANTED}@127.0.0.1:1`;
    using client = new Client({ server: "https://farm.example", transport: httpTransport({ proxyUrl: proxy }) });
    const error = await client.fetch("/api").catch((error) => error);
    assertInstanceOf(error, UnreachableError);
    search.check("proxy", error, client);
  }
  for (
    const body of [
      `echo "failed with token=${PLANTED} and $SECRET" >&2; exit 1`,
      `echo 'token: ${PLANTED}'`,
      `echo '{"kind":"ExecCredential","status":{"token":"${PLANTED}"}}'`,
    ]
  ) {
    await scripts.write("plugin", body);
    const env = [{ name: "SECRET", value: PLANTED }];
    const exec = { apiVersion: V1, command: `${scripts.folder}/plugin`, interactiveMode: "Never", env };
    const kubeconfig = await writeKubeconfig(certificates.path("config"), cluster, { exec });
    using client = new Client(clientOptionsOf(await findConnection({ kubeconfig }, hostWith())));
    const error = await client.fetch("/api").catch((error) => error);
    assertInstanceOf(error, CredentialPluginError);
    search.check("plugin", error);
  }
});
