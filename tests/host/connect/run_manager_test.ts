import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { Client } from "../../../src/engine/client/client.ts";
import {
  FetchServer,
  runManager,
  type RunnableManager,
  shutdownSignalOf,
  type SignalHost,
} from "../../../src/host/connect/run_manager.ts";
import { failureKind } from "../../../src/host/connect/runtime/runtime.ts";
import { httpTransport } from "../../../src/host/connect/transport.ts";
import { errorLine } from "../../../src/engine/errors/errors.ts";
import { SharedIndexInformer } from "../../../src/engine/informer/shared_index_informer.ts";
import { Pod } from "../../../src/engine/kinds/core/v1.ts";
import { FakeApiServer, pod } from "../../../src/testing/mod.ts";
import { makeCertificates } from "../../support/servers/certificates.ts";
import { FakeTime } from "../../support/times/fake_time.ts";

Deno.test("a FetchServer answers until it is disposed, and throws where its port is in use", async () => {
  const ports: number[] = [];
  const server = await FetchServer.listen(({ url }) => new Response(new URL(url).pathname), {
    port: 0,
    onListen: (it) => ports.push(it),
  });
  assertEquals(ports, [server.port]);
  const again = await assertRejects(() => FetchServer.listen(() => new Response(), { port: server.port }), Error);
  assertEquals(
    again.message,
    `Cannot listen on port ${server.port}: it is in use. Choose another port, or 0 for any free port`,
  );
  assertEquals(failureKind(again.cause), "in use");
  assertEquals(await (await fetch(`http://127.0.0.1:${server.port}/path`)).text(), "/path");
  await server[Symbol.asyncDispose]();
  await using other = await FetchServer.listen(() => new Response(), { port: server.port });
  assertEquals(other.port, server.port);
});

Deno.test("a FetchServer answers by 500 where its handler fails, and reports the error", async () => {
  const errors: unknown[] = [];
  const handler = (request: Request): Response => {
    if (request.url.endsWith("/good")) return new Response("ok");
    throw new Error("no such thing");
  };
  await using server = await FetchServer.listen(handler, { port: 0, onError: (error) => errors.push(error) });
  const ask = async (path: string): Promise<unknown[]> => {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`);
    return [response.status, await response.text()];
  };
  assertEquals(await ask("/bad?token=secret"), [500, "Internal Server Error"]);
  assertEquals(await ask("/good"), [200, "ok"]);
  assertEquals(errors.map((error) => [(error as Error).message, ((error as Error).cause as Error).message]), [
    ["Cannot answer GET /bad", "no such thing"],
  ]);
});

Deno.test("a FetchServer that is disposed does not wait for a request that never ends", async () => {
  const server = await FetchServer.listen(() => new Response(), { port: 0 });
  using connection = await Deno.connect({ hostname: "127.0.0.1", port: server.port });
  await connection.write(new TextEncoder().encode("GET / HTTP/1.1\r\nhost: localhost\r\n"));
  await (await fetch(`http://127.0.0.1:${server.port}/`)).body?.cancel();
  await server[Symbol.asyncDispose]();
  assertEquals(await connection.read(new Uint8Array(1)).catch(() => null), null);
});

Deno.test("a FetchServer that is disposed ends requests that take longer than graceMs, and streams do not hold it up", async () => {
  const never = new Promise<Response>(() => {});
  const asked = Promise.withResolvers<void>();
  const server = await FetchServer.listen(({ url }) => {
    if (url.endsWith("/never")) return asked.resolve(), never;
    return new Response(new ReadableStream({ start: (stream) => stream.enqueue(new Uint8Array(1)) }));
  }, { port: 0, graceMs: 50 });
  const stop = new AbortController();
  const stream = await fetch(`http://127.0.0.1:${server.port}/stream`, { signal: stop.signal });
  const answer = fetch(`http://127.0.0.1:${server.port}/never`).then(async (response) => {
    await response.body?.cancel();
    return response.status;
  }, () => "closed");
  await asked.promise;
  await server[Symbol.asyncDispose]();
  const found = await answer;
  assert(found === 503 || found === "closed", `${found}`);
  await stream.body?.cancel().catch(() => {}); // it may be broken
  stop.abort();
});

Deno.test("a FetchServer that fails closes its connections, and listens on its port each second until it succeeds", async () => {
  using time = new FakeTime();
  const began = time.now;
  const { serve } = Deno;
  const tries: { atMs: number; port: number; signal: AbortSignal }[] = [];
  const servers: PromiseWithResolvers<void>[] = [];
  Deno.serve = (({ port, signal }: { port: number; signal: AbortSignal }) => {
    tries.push({ atMs: time.now - began, port, signal });
    if (tries.length === 2) throw new Deno.errors.AddrInUse("in use");
    const finished = Promise.withResolvers<void>();
    servers.push(finished);
    return { addr: { port: 4_711 }, finished: finished.promise, shutdown: () => Promise.resolve(finished.resolve()) };
  }) as unknown as typeof serve;
  using _restore = { [Symbol.dispose]: () => void (Deno.serve = serve) };
  const causes: unknown[] = [];
  const server = await FetchServer.listen(() => new Response(), {
    port: 0,
    onError: (error) => causes.push(((error as Error).cause as Error).message),
  });
  servers[0].reject(new Error("too many open files"));
  await time.tickAsync(999);
  assertEquals([tries.length, tries[0].signal.aborted], [1, true]);
  await time.tickAsync(2_000);
  assertEquals(causes, ["too many open files", "in use"]);
  assertEquals(tries.map(({ atMs, port }) => [atMs, port]), [[0, 0], [1_000, 4_711], [2_000, 4_711]]);
  assertEquals(tries[2].signal.aborted, false);
  servers[1].reject(new Error("broken"));
  await time.tickAsync(0);
  await server[Symbol.asyncDispose](); // while it waits to listen again
  assertEquals([tries.length, time.timers], [3, 0]);
});

Deno.test(
  "runManager goes on and answers probes again after idle connections have used up the open files",
  { ignore: Deno.build.os === "windows" },
  async () => {
    const program = new URL("./_http_server_program.ts", import.meta.url).pathname;
    const child = new Deno.Command("bash", {
      args: ["-c", 'ulimit -n 64; exec "$0" run -A --no-check "$1"', Deno.execPath(), program],
      stdin: "piped",
      stdout: "piped",
    }).spawn();
    const output = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    /** The next line; `""` at the end. */
    const line = async (): Promise<string> => {
      for (;;) {
        const end = rest.indexOf("\n") + 1;
        const { value, done } = end > 0 ? { value: rest.slice(0, end), done: true } : await output.read();
        if (!done) rest += value;
        else if (end === 0) return "";
        else {
          rest = rest.slice(end);
          return value!.trim();
        }
      }
    };
    const port = Number(await line());
    const held: Deno.Conn[] = [];
    const failed = line();
    for (let i = 0; i < 64; i++) held.push(await Deno.connect({ hostname: "127.0.0.1", port }).catch(() => held[0]));
    const value = await failed;
    assertStringIncludes(value, `Cannot accept connections on port ${port}, so the server listens again in 1 s`);
    assertStringIncludes(value, "Too many open files");
    let text: string | undefined;
    while (text === undefined) {
      text = await fetch(`http://127.0.0.1:${port}/healthz`).then((it) => it.text(), () => undefined);
    }
    assertEquals(text, "ok");
    for (const connection of new Set(held)) connection.close();
    await child.stdin.close();
    let last: string | undefined;
    for (let next = await line(); next !== ""; next = await line()) last = next;
    assertEquals([last, (await child.status).code], ["stopped", 0]);
  },
);

const until = (signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal?.addEventListener("abort", () => resolve(), { once: true }));

/** A manager that runs until its signal aborts, and answers each request with its path. */
const manager: RunnableManager = {
  run: ({ signal }) => until(signal),
  fetch: (request) => new Response(new URL(request.url).pathname),
};

Deno.test("runManager serves probes while the manager runs, and closes the port when it has stopped", async () => {
  const stop = new AbortController();
  const port = Promise.withResolvers<number>();
  const running = runManager(manager, { port: 0, hostname: "127.0.0.1", signal: stop.signal, onListen: port.resolve });
  const url = `http://127.0.0.1:${await port.promise}/healthz`;
  assertEquals(await (await fetch(url)).text(), "/healthz");
  stop.abort();
  await running;
  await assertRejects(() => fetch(url), TypeError);
});

Deno.test("runManager closes the port and rejects when the manager fails", async () => {
  const failing = { ...manager, run: () => Promise.reject(new Error("lost")) };
  await assertRejects(() => runManager(failing, { port: 0, hostname: "127.0.0.1" }), Error, "lost");
});

Deno.test("runManager names missing rights in one line, reports a failed review, and waits for neither", async () => {
  const right = { verb: "list", resource: Pod, namespace: "shop" };
  const run = async (missingRights: RunnableManager["missingRights"]): Promise<string[]> => {
    const errors: string[] = [];
    const options = { port: 0, hostname: "127.0.0.1", onError: (error: unknown) => errors.push(errorLine(error)) };
    const runs = { ...manager, run: () => new Promise<void>((resolve) => setImmediate(resolve)), missingRights };
    await runManager(runs, options);
    return errors;
  };
  assertEquals(await run(() => Promise.resolve([right, { ...right, verb: "watch" }])), [
    `Cannot do all of the manager's work: it lacks the rights to list, watch pods in "shop". Grant them`,
  ]);
  assertEquals(await run(() => Promise.resolve([])), []);
  assertEquals(await run(() => Promise.reject(new Error("refused"))), ["Cannot review the rights: refused"]);
  let reason: unknown;
  const silent = ({ signal }: { readonly signal?: AbortSignal }): Promise<never> =>
    new Promise((_, reject) => signal!.addEventListener("abort", () => reject(reason = signal!.reason)));
  assertEquals(await run(silent), []);
  assertEquals((reason as Error).name, "AbortError");
});

Deno.test("runManager does not run the manager when the port is in use", async () => {
  await using other = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, () => new Response());
  let ran = false;
  const recorded = { ...manager, run: (): Promise<void> => Promise.resolve(void (ran = true)) };
  const { port } = other.addr;
  const error = await assertRejects(() => runManager(recorded, { port, hostname: "127.0.0.1" }), Error);
  assertEquals(failureKind(error.cause), "in use");
  assertEquals(ran, false);
});

Deno.test(
  "runManager stops the manager when the process receives SIGTERM",
  { ignore: Deno.build.os === "windows" },
  async () => {
    // A process of its own: a signal to this one would stop the managers of other tests.
    const program = new URL("./_sigterm_program.ts", import.meta.url).pathname;
    await using process = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-check", program],
      stdout: "piped",
    }).spawn();
    let printed = "";
    for await (const text of process.stdout.pipeThrough(new TextDecoderStream())) {
      if (printed === "") process.kill("SIGTERM"); // it listens
      printed += text;
    }
    assertEquals([printed, (await process.status).code], ["listening\nstopped\n", 0]);
  },
);

Deno.test("runManager answers by IPv4 and IPv6 unless it is given an address", async () => {
  const stop = new AbortController();
  const listening = Promise.withResolvers<number>();
  const running = runManager(manager, { port: 0, signal: stop.signal, onListen: listening.resolve });
  const port = await listening.promise;
  const hosts = hasIPv6() ? ["127.0.0.1", "[::1]"] : ["127.0.0.1"];
  for (const host of hosts) assertEquals(await (await fetch(`http://${host}:${port}/readyz`)).text(), "/readyz");
  stop.abort();
  await running;
});

function hasIPv6(): boolean {
  try {
    Deno.listen({ hostname: "::1", port: 0 }).close();
    return true;
  } catch {
    return false;
  }
}

/** Signals that a test sends by hand. */
class Signals implements SignalHost {
  readonly listeners = new Map<string, Set<() => void>>();
  readonly exits: number[] = [];
  readonly platform: string;

  constructor(platform: string) {
    this.platform = platform;
  }

  readonly on = (name: string, handler: () => void): void => {
    this.listeners.set(name, (this.listeners.get(name) ?? new Set()).add(handler));
  };
  readonly off = (name: string, handler: () => void): void => {
    this.listeners.get(name)?.delete(handler);
  };
  readonly exit = (code: number): void => void this.exits.push(code);

  send(name: string): void {
    for (const handler of [...this.listeners.get(name) ?? []]) handler();
  }
}

Deno.test("shutdownSignal aborts at the first SIGINT or SIGTERM, and the second ends the process", () => {
  for (const [second, code] of [["SIGINT", 130], ["SIGTERM", 143]] as const) {
    const signals = new Signals("linux");
    using signal = shutdownSignalOf(signals);
    assertEquals(signal.aborted, false);
    signals.send("SIGTERM");
    assertEquals(
      [signal.aborted, (signal.reason as Error).message, (signal.reason as Error).name, signals.exits],
      [true, "The process received SIGTERM", "AbortError", []],
    );
    signals.send(second);
    assertEquals(signals.exits, [code]);
  }
});

Deno.test("shutdownSignal removes its listeners when it is disposed", () => {
  const signals = new Signals("linux");
  {
    using _signal = shutdownSignalOf(signals);
    assertEquals([...signals.listeners.values()].map(({ size }) => size), [1, 1]);
  }
  assertEquals([...signals.listeners.values()].map(({ size }) => size), [0, 0]);
});

Deno.test("shutdownSignal listens on Windows only to signals that Windows has", () => {
  const signals = new Signals("win32");
  using signal = shutdownSignalOf(signals);
  assertEquals([...signals.listeners.keys()], ["SIGINT", "SIGBREAK"]);
  signals.send("SIGBREAK");
  assertEquals(signal.aborted, true);
});

const WATCHES = 20;
const ROUNDS = 10;

for (const http2 of [false, true]) {
  const name = `httpTransport carries ${WATCHES} watches and ${WATCHES * ROUNDS} lists at once over HTTP/${
    http2 ? 2 : 1
  }`;
  Deno.test(name, async () => {
    await using certificates = await makeCertificates();
    const fake = new FakeApiServer();
    const versions = new Set<string>();
    const server = Deno.serve({
      ...{ hostname: "127.0.0.1", port: 0, onListen: () => {} },
      ...{ cert: certificates.text("server.crt"), key: certificates.text("server.key") },
    }, (request, info) => {
      // Only HTTP/1.1 names the host by a header of its own.
      versions.add(request.headers.has("host") ? "1" : "2");
      return fake.fetch(request, info);
    });
    {
      const transport = httpTransport({ caCerts: [certificates.text("ca.crt")], http2 });
      using client = new Client({ server: `https://127.0.0.1:${server.addr.port}`, transport });
      const namespaces = Array.from({ length: WATCHES }, (_, index) => `n-${index}`);
      const informers = namespaces.map((namespace) => new SharedIndexInformer(client.resource(Pod, { namespace })));
      await using stack = new AsyncDisposableStack();
      for (const informer of informers) {
        stack.use(informer);
        informer.run();
      }
      await Promise.all(informers.map((informer) => informer.waitForCacheSync()));
      for (let round = 0; round < ROUNDS; round++) {
        for (const namespace of namespaces) fake.create(Pod, pod({ name: `p-${round}`, namespace }));
        const counts = await Promise.all(
          namespaces.map(async (namespace) => (await client.resource(Pod, { namespace }).list()).items.length),
        );
        assertEquals(new Set(counts), new Set([round + 1]));
      }
      await Promise.all(
        informers.map((informer) => informer.until(({ metadata }) => metadata.name === `p-${ROUNDS - 1}`)),
      );
      assertEquals(new Set(informers.map((informer) => informer.lister.list().length)), new Set([ROUNDS]));
      assertEquals(new Set(informers.map((informer) => informer.status().errors)), new Set([0]));
      assertEquals([...versions], [http2 ? "2" : "1"]);
    }
    await server.shutdown();
    fake[Symbol.dispose]();
  });
}
