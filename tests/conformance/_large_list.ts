/**
 * Reads a list of so many bytes, and prints how many objects it had and what was in use at most, in megabytes, on the
 * heap and outside it.
 */
import { Client, defineResource, type Transport } from "../../mod.ts";

const OBJECT_BYTES = 64_000;
const OBJECTS = Math.ceil(Number(Deno.args[0]) / OBJECT_BYTES);

const encoder = new TextEncoder();
const filler = "x".repeat(OBJECT_BYTES - 200);

/** One object to a chunk, made when it is asked for. */
function body(): ReadableStream<Uint8Array<ArrayBuffer>> {
  let next = -1;
  return new ReadableStream({
    type: "bytes",
    pull: (controller) => {
      if (next === -1) {
        controller.enqueue(
          encoder.encode('{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"9"},'),
        );
        controller.enqueue(encoder.encode('"items":['));
      } else if (next < OBJECTS) {
        const metadata = `{"name":"map-${next}","namespace":"default","uid":"uid-${next}","resourceVersion":"${
          next + 1
        }"}`;
        const separator = next === 0 ? "" : ",";
        controller.enqueue(encoder.encode(`${separator}{"metadata":${metadata},"data":{"text":"${filler}"}}`));
      } else {
        controller.enqueue(encoder.encode("]}"));
        controller.close();
      }
      next++;
    },
  });
}

const transport: Transport = {
  fetch: () => Promise.resolve(new Response(body(), { headers: { "content-type": "application/json" } })),
};
using client = new Client({ server: "http://large", transport });
const maps = client.resource(defineResource({ version: "v1", plural: "configmaps", kind: "ConfigMap" }));
let objects = 0;
let heapMb = 0;
let outsideMb = 0;
for await (const { entries } of maps.listEntries()) {
  objects += entries.length;
  const { heapUsed, external } = Deno.memoryUsage();
  heapMb = Math.max(heapMb, heapUsed / 1e6);
  outsideMb = Math.max(outsideMb, external / 1e6);
}
console.log(JSON.stringify({ objects, heapMb, outsideMb }));
