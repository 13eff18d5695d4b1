import { assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { Client } from "../../../src/client/client.ts";
import { UnreachableError } from "../../../src/api/errors.ts";
import { denoTransport } from "../../../src/deno/transport/deno_transport.ts";
import { FakeTime } from "../../support/fake_time.ts";

/** A server that answers on command, and whose bodies stay open until then. */
class SlowServer implements AsyncDisposable {
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #asked: (() => void)[] = [];
  readonly #answer = Promise.withResolvers<void>();
  #begun = 0;

  constructor(begins: boolean) {
    this.#server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async () => {
      this.#begun++;
      for (const notify of this.#asked.splice(0)) notify();
      if (!begins) await this.#answer.promise;
      return new Response(
        new ReadableStream({
          start: async (controller) => {
            controller.enqueue(new TextEncoder().encode("begun "));
            await this.#answer.promise;
            controller.enqueue(new TextEncoder().encode("done"));
            controller.close();
          },
        }),
      );
    });
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  /** Resolves when a request has come. */
  async asked(): Promise<void> {
    if (this.#begun > 0) return;
    await new Promise<void>((resolve) => this.#asked.push(resolve));
  }

  answer(): void {
    this.#answer.resolve();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.answer();
    await this.#server.shutdown();
  }
}

Deno.test("denoTransport gives up after 65 s without a response", async () => {
  await using server = new SlowServer(false);
  using time = new FakeTime();
  using client = new Client({ server: server.url, transport: denoTransport() });
  const refused = assertRejects(() => client.fetch("/api"), UnreachableError);
  await server.asked();
  await time.tickAsync(64_999);
  assertEquals(time.timers, 1);
  await time.tickAsync(1);
  assertEquals((await refused).message, `Cannot reach "${server.url}" to GET "/api": no answer within 65 s`);
  assertEquals(time.timers, 0);
});

Deno.test("denoTransport sets no time limit on a response's body [F03]", async () => {
  await using server = new SlowServer(true);
  using time = new FakeTime();
  using transport = denoTransport({ answerTimeoutMs: 1_000 });
  const response = await transport.fetch(new Request(server.url));
  await time.tickAsync(1_000_000);
  assertEquals(time.timers, 0);
  server.answer();
  assertEquals(await response.text(), "begun done");
});

Deno.test("denoTransport has no deadline for logs and proxied requests, nor when the deadline is turned off", async () => {
  for (
    const [path, answerTimeoutMs, timers] of [
      ["/api/v1/namespaces/a/pods/b/log?follow=true", 1_000, 0],
      ["/api/v1/namespaces/a/services/b/proxy/x", 1_000, 0],
      ["/api/v1/pods?watch=true", 1_000, 1],
      ["/api/v1/namespaces/a/configmaps/log.txt", 1_000, 1],
      ["/api/v1/pods", 0, 0],
      ["/api/v1/pods", Infinity, 0],
    ] as const
  ) {
    await using server = new SlowServer(false);
    using time = new FakeTime();
    using transport = denoTransport({ answerTimeoutMs });
    const pending = transport.fetch(new Request(`${server.url}${path}`));
    await server.asked();
    assertEquals(time.timers, timers, path);
    server.answer();
    assertEquals(await (await pending).text(), "begun done");
  }
});

Deno.test("denoTransport can wait for a response longer than the runtime's timers allow", async () => {
  await using server = new SlowServer(false);
  using time = new FakeTime();
  const answerTimeoutMs = 2 ** 31;
  using transport = denoTransport({ answerTimeoutMs });
  const refused = assertRejects(() => transport.fetch(new Request(server.url)), TypeError, "no answer within");
  await server.asked();
  await time.tickAsync(answerTimeoutMs - 1);
  assertEquals(time.timers, 1);
  await time.tickAsync(1);
  await refused;
  assertEquals(time.timers, 0);
});

Deno.test("denoTransport rejects with the reason of a request that is aborted while it waits", async () => {
  await using server = new SlowServer(false);
  using transport = denoTransport();
  const controller = new AbortController();
  const pending = transport.fetch(new Request(server.url, { signal: controller.signal }));
  await server.asked();
  controller.abort(new Error("enough"));
  await assertRejects(() => pending, Error, "enough");
  const error = assertThrows(() => denoTransport({ answerTimeoutMs: -1 }), RangeError);
  assertStringIncludes(
    error.message,
    "answerTimeoutMs must be at least 0 milliseconds, or Infinity for never, found -1",
  );
});
