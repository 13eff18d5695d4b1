import { assertEquals } from "@std/assert";
import { defineResource } from "../../src/api/resource.ts";
import { Client } from "../../src/client/client.ts";
import { WatchStream } from "../../src/reflector/requests.ts";
import { line, pod } from "../support/transport.ts";

const Pod = defineResource({ version: "v1", plural: "pods", kind: "Pod" });
const CHUNKS = 1_000;

/** A body with one event to a chunk, each ready when it is read. */
function eventBody(): ReadableStream<Uint8Array> {
  const chunk = new TextEncoder().encode(line("MODIFIED", pod("a", "1")));
  return new ReadableStream({
    type: "bytes",
    pull: (controller: ReadableByteStreamController): void => controller.enqueue(chunk.slice()),
  }, { highWaterMark: 0 });
}

/**
 * The promises that are created while `read` is called and awaited `CHUNKS` times. The runtime counts, `await`
 * included.
 */
async function promisesOf(read: () => Promise<void>): Promise<number> {
  await read(); // what is created once is not counted
  const before = promises;
  for (let n = 0; n < CHUNKS; n++) await read();
  return promises - before;
}

let promises = 0;

Deno.test("WatchStream passes a chunk from the body's reader to the reflector in two promises", async () => {
  type Core = { setPromiseHooks(init: () => void): void };
  // deno-lint-ignore no-explicit-any -- the only way to see promises of async functions too
  const { core } = (Deno as any)[(Deno as any).internal] as { core: Core };
  core.setPromiseHooks(() => promises++);

  const reader = eventBody().getReader({ mode: "byob" });
  let buffer = new Uint8Array(65_536);
  const byReader = await promisesOf(async () => {
    const { value } = await reader.read(buffer);
    buffer = new Uint8Array(value!.buffer);
  });
  await reader.cancel();

  const transport = {
    fetch: () => Promise.resolve(new Response(eventBody(), { headers: { "content-type": "application/json" } })),
  };
  using client = new Client({ server: "http://kube.test", transport });
  const { signal } = new AbortController();
  const stream = new WatchStream((signal) => client.resource(Pod).watchChanges({ signal }), {
    signal,
    timeoutMs: 60_000,
  });
  await stream.next();
  let changes = 0;
  const byStream = await promisesOf(async () => {
    changes += (await stream.next()).value!.length;
  });
  await stream.close();
  assertEquals(changes, CHUNKS + 1);
  // The stream's pacer yields now and then, which takes a few promises.
  assertEquals(Math.round((byStream - byReader) / CHUNKS), 2, `${byStream} against ${byReader}`);
});
