// Webhooks that runManager serves over HTTPS. tests/cluster/webhooks_test.ts has a real API server call them.
import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import https from "node:https";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { versions } from "node:process";
import tls from "node:tls";
import {
  FetchServer,
  runManager,
  type RunManagerOptions,
  type RunnableManager,
  type ServedWebhooks,
} from "../../../src/host/connect/run_manager.ts";
import { isDeno } from "../../../src/host/connect/runtime/runtime.ts";
import { type CertificateFiles, ServedCertificate } from "../../../src/host/connect/served_certificate.ts";
import { makeCertificates } from "../../../src/testing/control_plane/mod.ts";

/** A manager whose phase a test sets. */
class TestManager implements RunnableManager {
  phase = "running";
  signal: AbortSignal | undefined;

  async run({ signal }: { readonly signal: AbortSignal }): Promise<void> {
    this.signal = signal;
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  }
  fetch(request: Request): Response {
    if (request.url.endsWith("/metrics")) return new Response("# TYPE a gauge\na 1\n# EOF\n");
    return new Response(`${this.phase}\n`, { status: this.phase === "running" ? 200 : 503 });
  }
  status(): { readonly phase: string } {
    return { phase: this.phase };
  }
}

/** A manager with webhooks that runs. */
interface Running {
  readonly probes: string;
  readonly port: number;
  readonly running: Promise<void>;
  readonly stop: AbortController;
}

async function start(
  manager: TestManager,
  webhooks: Pick<ServedWebhooks, "handler" | "certificate"> & Partial<ServedWebhooks>,
  options: RunManagerOptions = {},
): Promise<Running> {
  const stop = new AbortController();
  const [probes, port] = [Promise.withResolvers<number>(), Promise.withResolvers<number>()];
  const local = { port: 0, hostname: "127.0.0.1" };
  const running = runManager(manager, {
    ...{ ...local, signal: stop.signal, onListen: probes.resolve, ...options },
    webhooks: { ...local, onListen: port.resolve, ...webhooks },
  });
  running.catch((error) => [probes, port].map((it) => it.reject(error)));
  return { probes: `http://127.0.0.1:${await probes.promise}`, port: await port.promise, running, stop };
}

/** An answer, and the certificate of its server. Resumed sessions would have none. */
interface Answer {
  readonly status: number;
  readonly text: string;
  readonly serial: string;
  readonly reused: boolean;
}

function ask(port: number, agent: https.Agent, { path = "/", body = "" } = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = https.request({ host: "127.0.0.1", port, path, agent, method: "POST" }, (response) => {
      const { serialNumber } = (response.socket as tls.TLSSocket).getPeerCertificate();
      let text = "";
      response.setEncoding("utf8").on("data", (part) => text += part).on("error", reject).on(
        "end",
        () => resolve({ status: response.statusCode!, text, serial: serialNumber, reused: request.reusedSocket }),
      );
    });
    request.on("error", reject).end(body);
  });
}

/** A folder like a mounted Secret: `tls.crt` and `tls.key` lead to files in `..data`, a link that is switched. */
class MountedSecret implements AsyncDisposable {
  readonly folder: string;
  readonly certificate: NonNullable<ServedWebhooks["certificate"]>;
  #version = 0;

  private constructor(folder: string) {
    this.folder = folder;
    this.certificate = { certFile: join(folder, "tls.crt"), keyFile: join(folder, "tls.key"), reloadMs: 10 };
  }
  static async create(files: Readonly<Record<string, string>>): Promise<MountedSecret> {
    const secret = new MountedSecret(await mkdtemp(join(tmpdir(), "informer-secret-")));
    await secret.replace(files);
    for (const name of Object.keys(files)) await symlink(join("..data", name), join(secret.folder, name));
    return secret;
  }
  async replace(files: Readonly<Record<string, string>>): Promise<void> {
    const name = `..v${this.#version++}`;
    await mkdir(join(this.folder, name));
    for (const [file, text] of Object.entries(files)) await writeFile(join(this.folder, name, file), text);
    await symlink(name, join(this.folder, "..next"));
    await rename(join(this.folder, "..next"), join(this.folder, "..data"));
  }
  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true });
  }
}

const ROTATIONS = 20;
const CLIENTS = 8;

Deno.test(`a certificate that is replaced ${ROTATIONS} times under load fails no request`, async () => {
  const made = await Promise.all(Array.from({ length: ROTATIONS + 1 }, () => makeCertificates()));
  const files = made.map(({ cert, key }) => ({ "tls.crt": cert, "tls.key": key }));
  await using secret = await MountedSecret.create(files[0]);
  const errors: unknown[] = [];
  const handler = { fetch: async (request: Request) => new Response(await request.text()) };
  const { port, running, stop } = await start(new TestManager(), { handler, certificate: secret.certificate }, {
    onError: (error) => errors.push(error),
  });
  const ca = made.map((it) => it.ca);
  const kept = new https.Agent({ ca, keepAlive: true });
  const fresh = new https.Agent({ ca, maxCachedSessions: 0 });
  let over = false;
  const answers: Answer[] = [];
  const failures: unknown[] = [];
  const body = "x".repeat(10_000);
  const load = Array.from({ length: CLIENTS }, async (_, client) => {
    for (let at = 0; !over; at++) {
      try {
        const answer = await ask(port, client % 2 === 0 ? kept : fresh, { body: `${client} ${at} ${body}` });
        assertEquals(answer.text, `${client} ${at} ${body}`);
        answers.push(answer);
      } catch (error) {
        failures.push(error);
      }
    }
  });
  const serials = new Set<string>();
  for (const version of files) {
    if (version !== files[0]) await secret.replace(version);
    // Until the new certificate is served: each has a serial number of its own.
    while (serials.size <= files.indexOf(version)) serials.add((await ask(port, fresh)).serial);
  }
  over = true;
  await Promise.all(load);
  kept.destroy();
  stop.abort();
  await running;
  assertEquals([failures, errors], [[], []]);
  assertEquals(serials.size, ROTATIONS + 1);
  assert(answers.filter(({ reused }) => reused).length > ROTATIONS, "connections are kept");
});

Deno.test("files that cannot be used leave the last certificate, and are reported once", async () => {
  const [one, two, three] = await Promise.all([makeCertificates(), makeCertificates(), makeCertificates()]);
  await using secret = await MountedSecret.create({ "tls.crt": one.cert, "tls.key": one.key });
  const errors: Error[] = [];
  const reported = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const handler = { fetch: () => new Response("ok") };
  const { port, running, stop } = await start(new TestManager(), { handler, certificate: secret.certificate }, {
    onError: (error) => {
      errors.push(error as Error);
      reported[errors.length - 1].resolve();
    },
  });
  const agent = new https.Agent({ maxCachedSessions: 0, ca: [one.ca, two.ca, three.ca] });
  const { serial } = await ask(port, agent);
  await secret.replace({ "tls.crt": two.cert, "tls.key": one.key }); // the key of another certificate
  await reported[0].promise;
  assertEquals((await ask(port, agent)).serial, serial);
  await secret.replace({ "tls.crt": two.cert, "tls.key": "broken" });
  await reported[1].promise;
  assertEquals((await ask(port, agent)).serial, serial);
  await secret.replace({ "tls.crt": three.cert, "tls.key": three.key });
  while ((await ask(port, agent)).serial === serial);
  stop.abort();
  await running;
  assertEquals(
    errors.map(({ message }) => message),
    Array(2).fill(
      "Cannot replace the certificate, so the server keeps the last one",
    ),
  );
  assertMatch((errors[0].cause as Error).message, /^Cannot serve HTTPS: "certFile" names ".*tls.crt": /);
  assertMatch(
    (errors[1].cause as Error).message,
    /^Cannot serve HTTPS: "keyFile" names ".*tls.key": it has no PEM private key/,
  );
  assertEquals(errors.some((error) => String(error.cause).includes("MIG")), false);
});

Deno.test("webhooks do not start with a certificate that cannot be used, or a port in use", async () => {
  const { cert, key } = await makeCertificates();
  const other = await makeCertificates();
  const handler = { fetch: () => new Response() };
  const failure = async (webhooks: Omit<ServedWebhooks, "handler">, error = "") => {
    const manager = new TestManager();
    const raised = await assertRejects(() => start(manager, { handler, ...webhooks }), Error, error);
    assertEquals(manager.signal, undefined); // it did not run
    return raised;
  };
  const files = { certFile: "/none/tls.crt", keyFile: "/none/tls.key" };
  await failure({ certificate: files }, '"certFile" names "/none/tls.crt": there is no such file');
  await failure({ certificate: { cert: key, key } }, "it has no PEM certificate");
  await failure({ certificate: { cert, key: other.key } }, 'Cannot serve HTTPS: "cert": Cannot set up TLS');
  await failure({ certificate: { cert } as never }, '"certificate" needs either key or keyFile');
  await failure({ certificate: { cert, certFile: "a", key } as never }, "needs either cert or certFile");
  await using taken = await FetchServer.listen(() => new Response(), { port: 0 });
  await failure({ certificate: { cert, key }, port: taken.port }, `Cannot listen on port ${taken.port}: it is in use`);
});

Deno.test("at the end the webhooks become unready, running reviews finish, then the manager stops", async () => {
  const { ca, cert, key } = await makeCertificates();
  const [arrived, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const handler = {
    fetch: async () => {
      arrived.resolve();
      await release.promise;
      return new Response("done");
    },
  };
  const manager = new TestManager();
  const { probes, port, running, stop } = await start(manager, { handler, certificate: { cert, key } });
  const agent = new https.Agent({ ca, keepAlive: true });
  assertEquals(await (await fetch(`${probes}/readyz`)).text(), "running\n");
  const review = ask(port, agent);
  await arrived.promise;
  stop.abort();
  const unready = await fetch(`${probes}/readyz`);
  assertEquals([unready.status, await unready.text()], [503, "the webhooks do not accept connections\n"]);
  await assertRejects(() => ask(port, new https.Agent({ ca, maxCachedSessions: 0 })), Error, "ECONNREFUSED");
  assertEquals(manager.signal?.aborted, false);
  release.resolve();
  assertEquals((await review).text, "done");
  await running;
  assertEquals(manager.signal?.aborted, true);
  agent.destroy();
});

Deno.test("a review that begins during the end, on a connection that was open, finishes too", async () => {
  const { ca, cert, key } = await makeCertificates();
  const begun: Record<string, PromiseWithResolvers<void>> = {};
  const release: Record<string, PromiseWithResolvers<void>> = {};
  for (const path of ["/first", "/second"]) {
    [begun[path], release[path]] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  }
  const handler = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    begun[pathname]?.resolve();
    await release[pathname]?.promise;
    return new Response(`done ${pathname}`);
  };
  const server = await FetchServer.listen(handler, { port: 0, certificate: { cert, key }, graceMs: 10_000 });
  const connect = (): tls.TLSSocket => tls.connect({ port: server.port, host: "127.0.0.1", ca });
  const textOf = (socket: tls.TLSSocket): Promise<string> =>
    new Promise((resolve, reject) => {
      let text = "";
      socket.on("data", (part) => text += part).on("error", reject).on("close", () => resolve(text));
    });
  const [one, two] = [connect(), connect()];
  await Promise.all([one, two].map((socket) => new Promise((resolve) => socket.once("secureConnect", resolve))));
  const texts = [textOf(one), textOf(two)];
  two.write("POST /second HTTP/1.1\r\nhost: a\r\n");
  for (let round = 0; round < 2; round++) { // until the server has read the half of a request
    one.write("GET /ping HTTP/1.1\r\nhost: a\r\n\r\n");
    await new Promise((resolve) => one.once("data", resolve));
  }
  one.write("POST /first HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n");
  await begun["/first"].promise;
  const ended = server[Symbol.asyncDispose]();
  two.write("content-length: 0\r\n\r\n");
  await begun["/second"].promise;
  release["/first"].resolve();
  assertStringIncludes(await texts[0], "done /first");
  release["/second"].resolve();
  assertStringIncludes(await texts[1], "done /second");
  await ended;
});

Deno.test("a review that does not end holds the end for graceMs", async () => {
  const { ca, cert, key } = await makeCertificates();
  const arrived = Promise.withResolvers<AbortSignal>();
  const handler = {
    fetch: (request: Request): Promise<Response> => {
      arrived.resolve(request.signal);
      return new Promise((resolve) => request.signal.addEventListener("abort", () => resolve(new Response())));
    },
  };
  const certificate = { cert, key };
  const { port, running, stop } = await start(new TestManager(), { handler, certificate, graceMs: 50 });
  const review = assertRejects(() => ask(port, new https.Agent({ ca, maxCachedSessions: 0 })));
  const signal = await arrived.promise;
  stop.abort();
  await running;
  await review;
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
});

Deno.test("with webhooks, /readyz does not wait for caches, and /metrics has theirs", async () => {
  const { cert, key } = await makeCertificates();
  const manager = new TestManager();
  const handler = {
    fetch: () => new Response(),
    metricsText: () => "# TYPE reviews counter\nreviews_total 3\n# EOF\n",
  };
  const { probes, running, stop } = await start(manager, { handler, certificate: { cert, key } });
  const get = async (path: string, method = "GET"): Promise<[number, string]> => {
    const response = await fetch(`${probes}${path}`, { method });
    return [response.status, await response.text()];
  };
  manager.phase = "syncing";
  assertEquals(await get("/readyz"), [200, "ok\nthe caches are syncing\n"]);
  assertEquals(await get("/healthz"), [503, "syncing\n"]);
  manager.phase = "stopping";
  assertEquals(await get("/readyz"), [503, "stopping\n"]);
  assertEquals(await get("/metrics"), [
    200,
    "# TYPE a gauge\na 1\n# TYPE reviews counter\nreviews_total 3\n# EOF\n",
  ]);
  assertEquals(await get("/metrics", "HEAD"), [200, ""]);
  stop.abort();
  await running;
});

Deno.test("slow and broken clients do not disturb the reviews of others", async () => {
  const { ca, cert, key } = await makeCertificates();
  const errors: unknown[] = [];
  const gone = Promise.withResolvers<AbortSignal>();
  const slow = Promise.withResolvers<void>();
  const handler = {
    fetch: async (request: Request): Promise<Response> => {
      const { pathname } = new URL(request.url);
      if (pathname === "/gone") {
        gone.resolve(request.signal);
        await new Promise((resolve) => request.signal.addEventListener("abort", resolve, { once: true }));
      }
      if (pathname === "/slow") slow.resolve();
      return new Response(`${request.url.slice(0, 6)} ${(await request.text()).length}`);
    },
  };
  const { port, running, stop } = await start(new TestManager(), { handler, certificate: { cert, key } }, {
    onError: (error) => errors.push(error),
  });
  const agent = new https.Agent({ ca, keepAlive: true });
  const connect = (): Promise<tls.TLSSocket> =>
    new Promise((resolve, reject) => {
      const socket = tls.connect({ port, host: "127.0.0.1", ca }, () => resolve(socket)).on("error", reject);
    });
  const closed = (socket: net.Socket): Promise<string> =>
    new Promise((resolve) => {
      let text = "";
      socket.on("data", (part) => text += part).on("error", () => {}).on("close", () => resolve(text));
    });

  // No handshake, half a handshake, and plain HTTP.
  const silent = net.connect(port, "127.0.0.1");
  const cut = net.connect(port, "127.0.0.1", () => cut.end(new Uint8Array([22, 3, 1, 2, 0, 1])));
  const plain = net.connect(port, "127.0.0.1", () => plain.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n"));
  await Promise.all([closed(cut), closed(plain)]);
  // Half a request, half a body, and headers without an end.
  const half = await connect();
  half.write("POST / HTTP/1.1\r\nhost: a\r\n");
  const body = await connect();
  body.write("POST /slow HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: 10\r\n\r\nhalf");
  await slow.promise;
  const wide = await connect();
  wide.write(`POST / HTTP/1.1\r\nhost: a\r\nx: ${"y".repeat(100_000)}\r\n\r\n`);
  assertMatch(await closed(wide), /^HTTP\/1\.1 431 |^$/);
  // A client that goes away while its review runs.
  const leaver = await connect();
  leaver.write("POST /gone HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n");
  const signal = await gone.promise;
  leaver.destroy();
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  for (const length of [0, 10, 3_000_000]) {
    assertEquals((await ask(port, agent, { body: "x".repeat(length) })).text, `https: ${length}`);
  }
  const answer = closed(body);
  body.write("second");
  assertStringIncludes(await answer, "https: 10");
  stop.abort();
  await running; // though two clients have not finished their requests
  for (const socket of [silent, half]) socket.destroy();
  agent.destroy();
  assertEquals(errors, []);
});

Deno.test("a runtime that cannot replace a certificate is named at the start", async () => {
  const { cert, key } = await makeCertificates();
  await using secret = await MountedSecret.create({ "tls.crt": cert, "tls.key": key });
  const errors: Error[] = [];
  const certificate = secret.certificate as CertificateFiles;
  using served = await ServedCertificate.read(certificate, (error) => errors.push(error as Error));
  served.follow(undefined);
  const [name, version] = isDeno()
    ? ["Deno", Deno.version.deno]
    : ["bun", "node"].map((it) => [it === "bun" ? "Bun" : "Node", versions[it]]).find(([, it]) => it !== undefined)!;
  assertEquals(errors.map(({ message }) => message), [
    `Cannot replace the certificate while the server runs: ${name} ${version} has no setSecureContext. ` +
    "Update it, or restart the program before the certificate expires",
  ]);
  using inline = await ServedCertificate.read({ cert, key }, (error) => errors.push(error as Error));
  inline.follow(undefined); // which never changes
  assertEquals(errors.length, 1);
});
