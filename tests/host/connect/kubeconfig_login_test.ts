import { assert, assertEquals, assertFalse, assertInstanceOf, assertRejects, assertStringIncludes } from "@std/assert";
import { StatusError, UnreachableError } from "../../../src/engine/api/status.ts";
import { Client } from "../../../src/engine/client/client.ts";
import { findConnection } from "../../../src/host/connect/connect.ts";
import { clientOptionsOf } from "../../../src/host/connect/connect_options.ts";
import type { ConnectOptions, FoundConnection } from "../../../src/host/connect/connect_options.ts";
import { CredentialPluginError } from "../../../src/host/connect/run_plugin.ts";
import { KubeconfigError } from "../../../src/host/connect/mod.ts";
import { SharedIndexInformer } from "../../../src/engine/informer/shared_index_informer.ts";
import type { InformerStatus } from "../../../src/engine/informer/status.ts";
import type { InformerState } from "../../../src/engine/informer/sync/state_keeper.ts";
import { type Pod, Pod as PodResource } from "../../../src/engine/kinds/core/v1.ts";
import { pod } from "../../../src/testing/mod.ts";
import { type Certificates, makeCertificates } from "../../support/servers/certificates.ts";
import { hostWith, writeKubeconfig } from "../../support/processes/host.ts";
import { Scripts, V1 } from "../../support/servers/plugin.ts";
import { REASONS } from "./_runtime.ts";
import { type Caller, serveApi, type TlsApiServer } from "./_tls_api_server.ts";
import { serve } from "../../support/servers/tls_server.ts";

/** A client by a kubeconfig that changes, and the server that it is for. */
class Rotation implements AsyncDisposable {
  readonly certificates: Certificates;
  readonly server: TlsApiServer;
  readonly file: string;
  readonly warnings: string[] = [];
  /** The number of reads of the kubeconfig. */
  reads = 0;
  /** The token or name of those that the server knows. */
  known = "";
  client!: Client;

  private constructor(certificates: Certificates, server: TlsApiServer) {
    this.certificates = certificates;
    this.server = server;
    this.file = certificates.path("config");
  }

  static async make(user: Record<string, unknown>, options: ConnectOptions = {}): Promise<Rotation> {
    const certificates = await makeCertificates();
    const server = await serveApi(certificates, ({ token, name }) => token === made.known || name === made.known);
    const made: Rotation = new Rotation(certificates, server);
    await made.write(user);
    made.client = new Client(clientOptionsOf(await made.find(options)));
    made.reads = 0;
    return made;
  }

  /** Connects by the kubeconfig. */
  async find(options: ConnectOptions = {}): Promise<FoundConnection> {
    const host = hostWith({}, {
      readTextFile: (path) => {
        if (path === this.file) this.reads++;
        return Deno.readTextFile(path);
      },
    });
    const onWarning = (warning: string): void => void this.warnings.push(warning);
    return await findConnection({ kubeconfig: this.file, onWarning, ...options }, host);
  }

  /** Replaces the kubeconfig. */
  async write(user: Record<string, unknown>, cluster: Record<string, unknown> = {}): Promise<void> {
    await writeKubeconfig(
      this.file,
      { server: this.server.url, "certificate-authority-data": btoa(this.certificates.text("ca.crt")), ...cluster },
      user,
    );
  }

  /** The client certificate of that name, as the fields of a user. */
  certificate(name: string): Record<string, unknown> {
    return {
      "client-certificate-data": btoa(this.certificates.text(`${name}.crt`)),
      "client-key-data": btoa(this.certificates.text(`${name}.key`)),
    };
  }

  /** Sends a request; resolves with its status. */
  async get(): Promise<number> {
    try {
      const response = await this.client.fetch("/version");
      await response.body?.cancel();
      return response.status;
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      return error.status.code ?? 0;
    }
  }

  /** The tokens, or names, of the requests since the last call. */
  callers(): string[] {
    return (this.server.callers as Caller[]).splice(0).map(({ token, name }) => token || name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.client[Symbol.dispose]();
    await this.server[Symbol.asyncDispose]();
    await this.certificates[Symbol.asyncDispose]();
  }
}

Deno.test("KubeconfigLogin sends a refused request again with the token that the kubeconfig has now, and once [F09]", async () => {
  await using rotation = await Rotation.make({ token: "first" });
  rotation.known = "first";
  assertEquals([await rotation.get(), rotation.reads, rotation.callers()], [200, 0, ["first"]]);
  rotation.known = "second";
  // As long as the kubeconfig is the same, nothing is sent again.
  assertEquals([await rotation.get(), rotation.reads, rotation.callers()], [401, 1, ["first"]]);
  await rotation.write({ token: "second" });
  assertEquals([await rotation.get(), rotation.reads, rotation.callers()], [200, 2, ["first", "second"]]);
  assertEquals([await rotation.get(), rotation.reads, rotation.callers()], [200, 2, ["second"]]);
  rotation.known = "fourth";
  await rotation.write({ token: "third" });
  assertEquals([await rotation.get(), rotation.callers()], [401, ["second", "third"]]);
});

Deno.test("KubeconfigLogin reads the kubeconfig once for many refused requests, also for those whose 401 comes later", async () => {
  await using rotation = await Rotation.make({ token: "first" });
  const { credentials, transport } = await rotation.find();
  using _transport = transport;
  assert(credentials !== undefined);
  // The credentials of ten requests are applied before the first of them is refused; the last five are refused later.
  const requests = Array.from({ length: 10 }, () => ({ headers: new Headers(), signal: new AbortController().signal }));
  for (const { headers, signal } of requests) await credentials.apply(headers, { refresh: false, signal });
  assertEquals(new Set(requests.map(({ headers }) => headers.get("authorization"))), new Set(["Bearer first"]));
  await rotation.write({ token: "second" });
  rotation.reads = 0;
  const refresh = async (some: typeof requests): Promise<unknown[]> =>
    await Promise.all(some.map(async ({ signal }) => {
      const headers = new Headers();
      return [await credentials.apply(headers, { refresh: true, signal }), headers.get("authorization")];
    }));
  assertEquals(await refresh(requests.slice(0, 5)), Array(5).fill([true, "Bearer second"]));
  assertEquals(await refresh(requests.slice(5)), Array(5).fill([true, "Bearer second"]));
  assertEquals(rotation.reads, 1);
  // Refused once more, they have nothing new.
  assertEquals(await refresh(requests), Array(10).fill([false, "Bearer second"]));
  assertEquals(rotation.reads, 2);
  assertFalse(Deno.inspect(credentials, { showHidden: true }).includes("second"));
});

Deno.test("KubeconfigLogin sends a body again, and leaves one that is a stream", async () => {
  await using rotation = await Rotation.make({ token: "first" });
  rotation.known = "second";
  await rotation.write({ token: "second" });
  const post = async (body: BodyInit): Promise<number | undefined> => {
    const init = { method: "POST", headers: { "content-type": "application/json" }, body };
    const error = await rotation.client.fetch("/api/v1/namespaces", init).catch((error) => error);
    return error instanceof StatusError ? error.status.code : error.status;
  };
  assertEquals([await post(new Blob(["{}"]).stream()), rotation.callers()], [401, ["first"]]);
  // The server knows the second caller, and has read the object that it refuses.
  assertEquals(await post(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"Shop"}}`), 422);
  assertEquals(rotation.callers(), ["first", "second"]);
});

Deno.test("KubeconfigLogin presents the client certificate that the kubeconfig has now, and follows a change of kind", async () => {
  await using rotation = await Rotation.make({});
  await rotation.write(rotation.certificate("client"));
  rotation.known = "client";
  assertEquals([await rotation.get(), rotation.callers()], [200, ["", "client"]]);
  rotation.known = "second";
  assertEquals([await rotation.get(), rotation.callers()], [401, ["client"]]);
  await rotation.write(rotation.certificate("second"));
  assertEquals([await rotation.get(), rotation.callers()], [200, ["client", "second"]]);
  rotation.known = "token";
  await rotation.write({ token: "token" });
  assertEquals([await rotation.get(), rotation.callers()], [200, ["second", "token"]]);
  assertEquals(rotation.warnings, []);
});

Deno.test("KubeconfigLogin trusts the authority that the kubeconfig has now, after a request that failed", async () => {
  await using certificates = await makeCertificates();
  await using server = await serve({ certificates, other: true });
  const write = (ca: string): Promise<string> =>
    writeKubeconfig(certificates.path("config"), {
      server: server.url,
      "certificate-authority-data": btoa(certificates.text(ca)),
    });
  const kubeconfig = await write("ca.crt");
  using client = new Client(clientOptionsOf(await findConnection({ kubeconfig }, hostWith())));
  await assertRejects(() => client.fetch("/version"), UnreachableError, REASONS.untrusted);
  await write("other-ca.crt");
  assertEquals((await (await client.fetch("/version")).json()).path, "/version");
});

Deno.test("KubeconfigLogin reads files of certificates again where the kubeconfig that names them is gone", async () => {
  await using certificates = await makeCertificates();
  await using server = await serve({ certificates, other: true });
  const kubeconfig = await writeKubeconfig(certificates.path("config"), {
    server: server.url,
    "certificate-authority": "ca.crt",
  });
  const warnings: string[] = [];
  const onWarning = (warning: string): void => void warnings.push(warning);
  using client = new Client(clientOptionsOf(await findConnection({ kubeconfig, onWarning }, hostWith())));
  await assertRejects(() => client.fetch("/version"), UnreachableError, REASONS.untrusted);
  await Deno.remove(kubeconfig);
  await Deno.writeTextFile(certificates.path("ca.crt"), certificates.text("other-ca.crt"));
  assertEquals((await (await client.fetch("/version")).json()).path, "/version");
  assertEquals(warnings, [
    `Cannot use kubeconfig ${JSON.stringify(kubeconfig)}: there is no such file. The previous credentials stay in use`,
  ]);
});

Deno.test("KubeconfigLogin names the kubeconfig that cannot be used any more, and uses it once it can", async () => {
  await using rotation = await Rotation.make({ token: "first" });
  rotation.known = "second";
  const fails = async (...parts: string[]): Promise<void> => {
    const error = await assertRejects(() => rotation.get(), KubeconfigError);
    for (const part of [JSON.stringify(rotation.file), ...parts]) assertStringIncludes(error.message, part);
    assertFalse(error.message.includes("second"));
  };
  await Deno.remove(rotation.file);
  await fails("there is no such file");
  await Deno.writeTextFile(rotation.file, "users: [{name: ada, user: {token: second");
  await fails("it is neither YAML nor JSON");
  await rotation.write({ token: "second", username: "ada" });
  await fails(`user "ada"`, "asks for basic authentication");
  await rotation.write({ token: "second" });
  assertEquals([await rotation.get(), rotation.warnings], [200, []]);
});

Deno.test("KubeconfigLogin sends nothing to another server, and does not become another user", async () => {
  await using rotation = await Rotation.make({ token: "first" });
  rotation.known = "second";
  await rotation.write({ token: "second" }, { server: "https://127.0.0.1:1" });
  const moved = await assertRejects(() => rotation.get(), KubeconfigError);
  assertEquals(
    moved.message,
    `Cannot use context "home" of kubeconfig ${
      JSON.stringify(rotation.file)
    }: it now names server "https://127.0.0.1:1/", ` +
      `but the connection is to "${rotation.server.url}/". Connect again to use it`,
  );
  await rotation.write({ token: "second", as: "grace" });
  const other = await assertRejects(() => rotation.get(), KubeconfigError);
  assertStringIncludes(other.message, "it now impersonates another user. Connect again");
  assertEquals(rotation.callers(), ["first", "first"]);
});

Deno.test("KubeconfigLogin stays with its context when another one becomes the current one", async () => {
  await using rotation = await Rotation.make({ token: "first" });
  rotation.known = "second";
  await rotation.write({ token: "second" });
  const config = JSON.parse(await Deno.readTextFile(rotation.file));
  config.users.push({ name: "eve", user: { token: "eve" } });
  config.contexts.push({ name: "away", context: { cluster: "farm", user: "eve" } });
  config["current-context"] = "away";
  await Deno.writeTextFile(rotation.file, JSON.stringify(config));
  assertEquals([await rotation.get(), rotation.callers()], [200, ["first", "second"]]);
  config.contexts.shift();
  await Deno.writeTextFile(rotation.file, JSON.stringify(config));
  rotation.known = "third";
  const error = await assertRejects(() => rotation.get(), KubeconfigError);
  assertStringIncludes(error.message, `it was asked for context "home", which does not exist`);
});

Deno.test("KubeconfigLogin runs a plugin again for a 401 while the kubeconfig is the same, and when it is gone", async () => {
  await using scripts = await Scripts.make();
  const command = await scripts.printer({ token: "first" });
  const exec = { apiVersion: V1, command, interactiveMode: "Never" };
  await using rotation = await Rotation.make({ exec });
  rotation.known = "first";
  assertEquals([await rotation.get(), await scripts.runs(), rotation.callers()], [200, 1, ["first"]]);
  rotation.known = "second";
  await scripts.credential({ token: "second" });
  await Deno.remove(rotation.file);
  assertEquals([await rotation.get(), await scripts.runs(), rotation.callers()], [200, 2, ["first", "second"]]);
  assertEquals(rotation.warnings.length, 1);
  assertStringIncludes(rotation.warnings[0], "there is no such file. The previous credentials stay in use");
  // Another plugin is run at once, though the first one has just been run.
  rotation.known = "third";
  const other = await scripts.write("other", `cat "${scripts.folder}/other.json"`);
  await Deno.writeTextFile(
    `${scripts.folder}/other.json`,
    JSON.stringify({ apiVersion: V1, kind: "ExecCredential", status: { token: "third" } }),
  );
  await rotation.write({ exec: { ...exec, command: other } });
  assertEquals([await rotation.get(), await scripts.runs(), rotation.callers()], [200, 2, ["second", "third"]]);
});

Deno.test("KubeconfigLogin leaves credentials of options alone, and sends a fixed token of them once", async () => {
  await using rotation = await Rotation.make({ token: "first" }, { token: "own" });
  rotation.known = "second";
  await rotation.write({ token: "second" });
  const error = await rotation.client.fetch("/version").catch((error) => error);
  assertInstanceOf(error, StatusError);
  assertEquals(rotation.callers(), ["own"]);
});

/** An informer on pods, and the events that it delivered. */
class Follower implements AsyncDisposable {
  readonly delivered: string[] = [];
  readonly client: Client;
  readonly informer: SharedIndexInformer<Pod>;

  private constructor(client: Client) {
    this.client = client;
    const reflector = { backoff: { initialMs: 1, maxMs: 5 }, streamingList: "off" as const };
    this.informer = new SharedIndexInformer(client.resource(PodResource), { reflector });
    this.informer.addEventHandler({ onAdd: ({ object }) => void this.delivered.push(object.metadata.name) });
  }

  static async start(kubeconfig: string): Promise<Follower> {
    const follower = new Follower(new Client(clientOptionsOf(await findConnection({ kubeconfig }, hostWith()))));
    follower.informer.run();
    return follower;
  }

  /** Waits for the state, however often it changes until then. */
  async state(...states: InformerState[]): Promise<InformerStatus> {
    if (states.includes(this.informer.status().state)) return this.informer.status();
    for await (const status of this.informer.statusChanges()) if (states.includes(status.state)) return status;
    throw new Error("the informer stopped");
  }

  /** Creates a pod on the server, and waits for it. */
  async follow(server: TlsApiServer, name: string): Promise<void> {
    server.fake.create(PodResource, pod({ name }));
    await this.informer.until((object) => object.metadata.name === name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.informer[Symbol.asyncDispose]();
    this.client[Symbol.dispose]();
  }
}

/** Ends the watches in good order, so that the next one begins with what is known now. */
async function endWatches(follower: Follower, server: TlsApiServer): Promise<void> {
  const { watches } = follower.informer.status();
  server.fake.endWatches();
  for await (const status of follower.informer.statusChanges()) if (status.watches > watches) return;
}

async function cluster(
  server: TlsApiServer,
  certificates: Certificates,
  user: Record<string, unknown>,
): Promise<string> {
  const cluster = { server: server.url, "certificate-authority": "ca.crt" };
  return await writeKubeconfig(certificates.path("config"), cluster, user);
}

Deno.test("SharedIndexInformer over TLS continues when its token and certificate are replaced, and misses nothing [F09]", async () => {
  await using certificates = await makeCertificates();
  let known = { token: "first", name: "client" };
  await using server = await serveApi(
    certificates,
    (caller) => caller.token === known.token && caller.name === known.name,
  );
  const write = (name: string, text: string): Promise<void> => Deno.writeTextFile(certificates.path(name), text);
  await write("token", "first");
  const kubeconfig = await cluster(server, certificates, {
    "tokenFile": "token",
    "client-certificate": "client.crt",
    "client-key": "client.key",
  });
  await using follower = await Follower.start(kubeconfig);
  await follower.informer.waitForCacheSync();
  await follower.follow(server, "a-0");
  // The new ones are written, and the old ones are refused from now on; the open watch continues.
  await write("token", "second");
  await write("client.crt", certificates.text("second.crt"));
  await write("client.key", certificates.text("second.key"));
  known = { token: "second", name: "second" };
  await follower.follow(server, "a-1");
  await endWatches(follower, server);
  for (const name of ["a-2", "a-3"]) server.fake.create(PodResource, pod({ name }));
  await follower.state("live");
  await follower.follow(server, "a-4");
  assertEquals(follower.delivered, ["a-0", "a-1", "a-2", "a-3", "a-4"]);
  assertEquals(server.callers.at(-1), known);
  assertEquals(follower.informer.lister.list().length, 5);
});

Deno.test("SharedIndexInformer continues when the token in its kubeconfig is replaced, without an error", async () => {
  await using certificates = await makeCertificates();
  let known = "first";
  await using server = await serveApi(certificates, ({ token }) => token === known);
  await using follower = await Follower.start(await cluster(server, certificates, { token: "first" }));
  await follower.informer.waitForCacheSync();
  await follower.follow(server, "a-0");
  await cluster(server, certificates, { token: "second" });
  known = "second";
  // The open watch continues, and the next one is refused once.
  await follower.follow(server, "a-1");
  const before = server.callers.length;
  await endWatches(follower, server);
  await follower.follow(server, "a-2");
  assertEquals(server.callers.slice(before).map(({ token }) => token), ["first", "second"]);
  assertEquals(follower.delivered, ["a-0", "a-1", "a-2"]);
  assertEquals(follower.informer.status().lists, 1);
});

Deno.test("SharedIndexInformer with a revoked token is unauthorized, reports why, and recovers", async () => {
  await using certificates = await makeCertificates();
  let known = "first";
  await using server = await serveApi(certificates, ({ token }) => token === known);
  await Deno.writeTextFile(certificates.path("token"), "first");
  await using follower = await Follower.start(await cluster(server, certificates, { tokenFile: "token" }));
  await follower.informer.waitForCacheSync();
  await follower.follow(server, "a-0");
  known = "second";
  server.fake.dropWatches();
  const { cause } = await follower.state("unauthorized");
  assertInstanceOf(cause, StatusError);
  assertEquals(cause.status.code, 401);
  assertEquals(follower.informer.lister.list().length, 1);
  server.fake.create(PodResource, pod({ name: "a-1" }));
  await Deno.writeTextFile(certificates.path("token"), "second");
  assertEquals((await follower.state("live")).cause, undefined);
  await follower.follow(server, "a-2");
  assertEquals(follower.delivered, ["a-0", "a-1", "a-2"]);
});

Deno.test("SharedIndexInformer continues with the plugin's new certificate and token when the server answers 401", async () => {
  await using certificates = await makeCertificates();
  await using scripts = await Scripts.make();
  let known = { token: "first", name: "client" };
  await using server = await serveApi(
    certificates,
    (caller) => caller.token === known.token && caller.name === known.name,
  );
  const status = (): Record<string, string> => ({
    token: known.token,
    clientCertificateData: certificates.text(`${known.name}.crt`),
    clientKeyData: certificates.text(`${known.name}.key`),
  });
  await scripts.printer(status());
  const exec = { apiVersion: V1, command: `${scripts.folder}/plugin`, interactiveMode: "Never" };
  await using follower = await Follower.start(await cluster(server, certificates, { exec }));
  await follower.informer.waitForCacheSync();
  await follower.follow(server, "a-0");
  known = { token: "second", name: "second" };
  await scripts.credential(status());
  await endWatches(follower, server);
  await follower.state("live");
  await follower.follow(server, "a-1");
  assertEquals(follower.delivered, ["a-0", "a-1"]);
  assertEquals([await scripts.runs(), server.callers.at(-1)], [2, known]);
  assertEquals(follower.informer.status().errors, 0);
});

Deno.test("SharedIndexInformer whose plugin fails reports the plugin's message, and does not run it endlessly", async () => {
  await using certificates = await makeCertificates();
  await using scripts = await Scripts.make();
  await using server = await serveApi(certificates, () => true);
  await scripts.write("plugin", `echo run >> "${scripts.folder}/runs"; echo "please log in" >&2; exit 1`);
  const exec = { apiVersion: V1, command: `${scripts.folder}/plugin`, interactiveMode: "Never" };
  await using follower = await Follower.start(await cluster(server, certificates, { exec }));
  let failures = 0;
  for await (const { errors, cause } of follower.informer.statusChanges()) {
    if (errors < 5) continue;
    assertInstanceOf(cause, CredentialPluginError);
    assertStringIncludes(cause.message, "it ended with exit code 1, saying: please log in");
    failures = errors;
    break;
  }
  // One a second at first, however often the informer tries.
  const runs = await scripts.runs();
  assert(runs < failures, `${runs} runs for ${failures} failures`);
  assertEquals(server.callers.length, 0);
});
