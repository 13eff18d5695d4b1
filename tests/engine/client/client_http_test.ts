import { assert, assertEquals, assertRejects } from "@std/assert";
import { brotliCompressSync } from "node:zlib";
import { defineResource } from "../../../src/engine/api/resource.ts";
import { DecodeError, isNotFound, StatusError, UnreachableError } from "../../../src/engine/api/status.ts";
import { Client } from "../../../src/engine/client/client.ts";
import { collect, json, line, pod, podList, text } from "../../support/servers/transport.ts";

const Pod = defineResource({ version: "v1", plural: "pods", kind: "Pod" });

/** A server on loopback, and a client of it; both end with the block. */
function serve(handler: (request: Request) => Response | Promise<Response>, options: { compress?: boolean } = {}): {
  readonly client: Client;
  [Symbol.asyncDispose](): Promise<void>;
} {
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: (): void => undefined }, handler);
  const client = new Client({ server: `http://127.0.0.1:${server.addr.port}`, namespace: "shop", ...options });
  return {
    client,
    async [Symbol.asyncDispose](): Promise<void> {
      client[Symbol.dispose]();
      await server.shutdown();
    },
  };
}

async function gzip(body: string): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([body]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

Deno.test("Client reads compressed lists over HTTP, and requests none when compression is off", async () => {
  const asked: (string | null)[] = [];
  const names = Array.from({ length: 1_000 }, (_, i) => `pod-${i}`);
  const zipped = await gzip(JSON.stringify(podList(names)));
  const handler = (request: Request): Response => {
    const encodings = request.headers.get("accept-encoding");
    asked.push(encodings);
    if (!encodings?.includes("gzip")) return json(podList(names));
    return new Response(zipped, { headers: { "content-type": "application/json", "content-encoding": "gzip" } });
  };
  await using compressed = serve(handler);
  assertEquals((await compressed.client.resource(Pod).list()).items.length, 1_000);
  await using plain = serve(handler, { compress: false });
  assertEquals((await plain.client.resource(Pod).list()).items.length, 1_000);
  assert(asked[0]?.includes("gzip"));
  assertEquals(asked[1], "identity");
});

Deno.test("Client refuses an answer over HTTP in an encoding that it has not asked for, and reads nothing of it", async () => {
  const list = new TextEncoder().encode(JSON.stringify(podList(["a"])));
  const headers = { "content-type": "application/json", "content-encoding": "br" };
  await using fixture = serve(() => new Response(new Uint8Array(brotliCompressSync(list)), { headers }));
  const pods = fixture.client.resource(Pod);
  const message = 'the response is encoded in "br", although the request accepts only "gzip"';
  await assertRejects(() => pods.list(), DecodeError, `Cannot list "pods": ${message}`);
  await assertRejects(() => pods.get("a"), DecodeError, message);
  await assertRejects(() => fixture.client.discover(), DecodeError, message);
  const answer = await fixture.client.fetch("/x", { headers: { "accept-encoding": "br" } }); // the caller's own wish
  assertEquals((await answer.json()).items.length, 1);
});

Deno.test("Client refuses a watch over HTTP whose events are compressed one by one, instead of losing all but the first", async () => {
  const members = await Promise.all(["1", "2", "3"].map((version) => gzip(line("ADDED", pod("a", version)))));
  const encodings: (string | null)[] = [];
  await using fixture = serve((request) => {
    encodings.push(request.headers.get("accept-encoding"));
    return new Response(new Blob(members).stream(), {
      headers: { "content-type": "application/json", "content-encoding": "gzip" },
    });
  });
  await assertRejects(() => collect(fixture.client.resource(Pod).watch()), DecodeError, 'encoded in "gzip"');
  assertEquals(encodings, ["identity"]);
});

Deno.test("Client closes the connection over HTTP when a watch is left or aborted", async () => {
  const cancelled: (() => void)[] = [];
  const ends = [1, 2].map(() => new Promise<void>((resolve) => cancelled.push(resolve)));
  let watches = 0;
  await using fixture = serve(() => {
    const number = watches++;
    const body = new ReadableStream<Uint8Array>({
      start: (controller): void => controller.enqueue(new TextEncoder().encode(line("ADDED", pod("a", "1")))),
      cancel: (): void => cancelled[number](),
    });
    return new Response(body, { headers: { "content-type": "application/json" } });
  });
  const pods = fixture.client.resource(Pod);
  for await (const event of pods.watch()) {
    assertEquals(event.type, "ADDED");
    break;
  }
  await ends[0];
  const controller = new AbortController();
  for await (const _ of pods.watch({ signal: controller.signal })) controller.abort(new Error("enough"));
  await ends[1];
});

Deno.test("Client does not run out of connections over HTTP after many refusals", async () => {
  let refused = 0;
  await using fixture = serve(() => ++refused > 50 ? json(pod("a", "1")) : text(404, "x".repeat(100_000)));
  const pods = fixture.client.resource(Pod);
  for (let i = 0; i < 50; i++) assert(isNotFound(await assertRejects(() => pods.get("a"), StatusError)));
  assertEquals((await pods.get("a")).metadata.name, "a");
});

Deno.test("Client's error has the network's message when no server listens", async () => {
  const listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const { port } = listener.addr as Deno.NetAddr;
  listener.close();
  const client = new Client({ server: `http://127.0.0.1:${port}` });
  const error = await assertRejects(() => client.resource(Pod).list(), UnreachableError);
  assert(error.message.startsWith(`Cannot reach "http://127.0.0.1:${port}" to list "pods": `), error.message);
  assert(/refused/i.test(error.message), error.message);
  assertEquals(error.cause, undefined);
});

Deno.test("Client distinguishes a connection that breaks in a body from a body that ends", async () => {
  const answers = ['8\r\n{"kind":\r\n', '8\r\n{"type":\r\n'];
  const listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const serving = (async (): Promise<void> => {
    for (const answer of answers) {
      using connection = await listener.accept();
      await connection.read(new Uint8Array(4_096));
      const head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";
      await connection.write(new TextEncoder().encode(head + answer));
    }
    listener.close();
  })();
  using client = new Client({ server: `http://127.0.0.1:${(listener.addr as Deno.NetAddr).port}`, namespace: "shop" });
  const pods = client.resource(Pod);
  const list = await assertRejects(() => pods.list(), UnreachableError);
  const watch = await assertRejects(() => collect(pods.watch()), UnreachableError);
  await serving;
  assert(list.message.includes('during the request to list "pods"'), list.message);
  assert(watch.message.includes('during the request to watch "pods"'), watch.message);
});
