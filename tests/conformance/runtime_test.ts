import { assert, assertEquals } from "@std/assert";
import { fileURLToPath } from "node:url";
import type { Transport } from "../../src/engine/api/lister_watcher.ts";
import { Client } from "../../src/engine/client/client.ts";
import { SharedIndexInformer } from "../../src/engine/informer/shared_index_informer.ts";
import { ConfigMap } from "../../src/engine/kinds/core/v1.ts";
import { FakeApiServer } from "../../src/testing/mod.ts";
import { FakeTime } from "../support/times/fake_time.ts";
import { deno, printedBy } from "../support/processes/program.ts";

Deno.test("the core follows a server with web standards alone, and without a permission [F40]", async () => {
  const program = fileURLToPath(new URL("./_bare.ts", import.meta.url));
  const { code, out, err } = await deno(["run", "--quiet", "--no-lock", "--no-prompt", program]);
  assertEquals([code, err, JSON.parse(out)], [0, "", { cached: 1_499, keys: 1_500 }]);
});

/** More than a gibibyte: twice what one string can hold. */
const BYTES = 1_100_000_000;

Deno.test("ResourceClient.listEntries reads a list of more than a gibibyte within a heap of 64 MB [F31]", {
  timeout: 600_000,
}, async () => {
  const program = new URL("./_large_list.ts", import.meta.url);
  const printed = await printedBy(program, [String(BYTES)], ["--v8-flags=--max-old-space-size=64"]);
  const { objects, heapMb, outsideMb } = printed as Record<string, number>;
  assertEquals(objects, Math.ceil(BYTES / 64_000));
  assert(heapMb + outsideMb < 100, `${heapMb} MB on the heap, ${outsideMb} MB outside it`);
});

Deno.test("SharedIndexInformer keeps no memory of 5,000 handlers and streams that were added and removed [F20]", {
  timeout: 600_000,
}, async () => {
  // Together they hold 200 MB; the heap has room for a third of that.
  const program = new URL("./_passing_handlers.ts", import.meta.url);
  const printed = await printedBy(program, ["5000"], ["--v8-flags=--max-old-space-size=64,--expose-gc"]);
  const { handlers, grownBytes } = printed as Record<string, number>;
  assertEquals(handlers, 0);
  assert(grownBytes < 500_000, `the heap grew by ${grownBytes} bytes`);
});

const CALLS = 500;

Deno.test("Client delays no request, however many run at once [F35]", async () => {
  using time = new FakeTime();
  let arrived = 0;
  const answers = Promise.withResolvers<void>();
  const transport: Transport = {
    fetch: async () => {
      arrived++;
      await answers.promise;
      return Response.json({
        kind: "ConfigMap",
        apiVersion: "v1",
        metadata: { name: "a", uid: "u", resourceVersion: "1" },
      });
    },
  };
  using client = new Client({ server: "http://busy", transport });
  const maps = client.resource(ConfigMap, { namespace: "default" });
  const calls = Array.from({ length: CALLS }, () => maps.get("a"));
  // Not a millisecond passes, and nobody is answered.
  await time.tickAsync(0);
  assertEquals([arrived, time.timers], [CALLS, 0]);
  answers.resolve();
  await Promise.all(calls);
});

/** Ways in which a server can turn watches away without saying why. */
const SERVERS: Readonly<Record<string, () => Response | Promise<Response>>> = {
  "ends watches as they begin": () => new Response("", { headers: { "content-type": "application/json" } }),
  "breaks connections": () => Promise.reject(new TypeError("connection reset by peer")),
  "answers 500": () => Response.json({ kind: "Status", status: "Failure", code: 500 }, { status: 500 }),
  "answers with a page of HTML": () => new Response("<html>", { headers: { "content-type": "text/html" } }),
};

for (const [what, answer] of Object.entries(SERVERS)) {
  Deno.test(`SharedIndexInformer seldom sends requests to a server that ${what}, and is live soon after the server recovers [F06]`, async () => {
    using time = new FakeTime();
    using server = new FakeApiServer();
    let bad = true;
    let requests = 0;
    const transport: Transport = {
      fetch: async (request) => {
        if (++requests > 1_000) throw new Error("Cannot continue: there are too many requests");
        return bad && request.url.includes("watch=") ? await answer() : await server.fetch(request);
      },
    };
    using client = new Client({ server: "http://fake", transport });
    await using informer = new SharedIndexInformer(client.resource(ConfigMap));
    void informer.run();
    await time.tickAsync(600_000);
    // Waits grow to 15 to 30 s: at most 36 rounds in ten minutes, of a watch and perhaps two lists. While the server
    // does not answer they grow to 2.5 to 5 s.
    assert(requests <= (what === "breaks connections" ? 240 : 110), `${requests} requests in ten minutes are too many`);
    assert(requests >= 10, `${requests} requests in ten minutes: it has given up`);
    bad = false;
    await time.tickAsync(60_000);
    assertEquals([informer.status().state, informer.hasSynced], ["live", true]);
    const stopped = informer[Symbol.asyncDispose]();
    await time.tickAsync(0);
    await stopped;
  });
}
