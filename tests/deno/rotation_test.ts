import { assert, assertEquals, assertInstanceOf, assertStringIncludes } from "@std/assert";
import { StatusError } from "../../src/api/status.ts";
import { Client } from "../../src/client/client.ts";
import { CredentialPluginError } from "../../src/deno/credentials.ts";
import { findConnection } from "../../src/deno/connect.ts";
import { SharedIndexInformer } from "../../src/informer/shared_index_informer.ts";
import type { InformerStatus } from "../../src/informer/status.ts";
import type { InformerState } from "../../src/informer/sync/state.ts";
import { type Pod, Pod as PodResource } from "../../src/kinds/core/v1.ts";
import { pod } from "../../src/testing/mod.ts";
import { serveApi, type TlsApiServer } from "../support/tls_api_server.ts";
import { type Certificates, makeCertificates } from "../support/certificates.ts";
import { hostWith, writeKubeconfig } from "../support/host.ts";
import { Scripts, V1 } from "../support/plugin.ts";

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
    const follower = new Follower(new Client(await findConnection({ kubeconfig }, hostWith())));
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
