/**
 * A server of a fleet, a process of its own: `deno run -A _fleet_server.ts FLEET COUNT`.
 *
 * It prints its address, and ends when its standard input does. It makes the objects before it answers, and keeps their
 * bytes. Its watch is silent.
 */
import { type Fleet, fleetItem } from "../fleets.ts";
import { serveProcess } from "./_serve_process.ts";

const encoder = new TextEncoder();
const PART_BYTES = 131_072;

const fleet = Deno.args[0] as Fleet;
const count = Number(Deno.args[1]);
const [kind, apiVersion] = fleet === "random" ? ["Blob", "random.example.com/v1"] : ["Pod", "v1"];

/** The list in parts of a few objects each. */
const parts: Uint8Array<ArrayBuffer>[] = [];
let text = `{"kind":"${kind}List","apiVersion":"${apiVersion}","metadata":{"resourceVersion":"3000000"},"items":[`;
for (let index = 0; index < count; index++) {
  text += `${index === 0 ? "" : ","}${JSON.stringify(fleetItem(fleet, index))}`;
  if (text.length < PART_BYTES && index < count - 1) continue;
  parts.push(encoder.encode(index < count - 1 ? text : `${text}]}\n`));
  text = "";
}

function list(): ReadableStream<Uint8Array> {
  let next = 0;
  return new ReadableStream({
    pull(controller): void {
      controller.enqueue(parts[next++].slice()); // what is sent may be taken away
      if (next === parts.length) controller.close();
    },
  });
}

await serveProcess((request) => {
  const { searchParams } = new URL(request.url);
  if (searchParams.has("sendInitialEvents")) {
    const status = { kind: "Status", apiVersion: "v1", status: "Failure", reason: "Invalid", code: 422 };
    return Response.json(status, { status: 422 });
  }
  const body = searchParams.has("watch") ? new ReadableStream<Uint8Array>() : list();
  return new Response(body, { headers: { "content-type": "application/json" } });
});
