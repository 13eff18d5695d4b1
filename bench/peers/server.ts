/**
 * The server that all clients of a comparison talk to, a process of its own:
 * `deno run -A server.ts PODS EVENTS CHANGED`.
 *
 * It prints its address, and ends when its standard input does. It speaks HTTP/1.1 by hand, so that one event is
 * exactly one chunk and one write, and costs the server next to nothing: clients are what is measured.
 *
 * - A list without a limit, or at version "0", is one answer, as from the API server's watch cache; else it has pages.
 * - A list of metadata only has that.
 * - The first watch sends the events half a second after it began, then ends with an ERROR event, 410. Later ones are
 *   silent.
 * - `POST /reset` begins anew.
 * - Leases have an empty list and a slow watch: an event every few milliseconds, which says when it was written.
 */
import { eventVersion, type Job, listVersion, objectVersion } from "./job.ts";
import { PodBytes } from "./pod_bytes.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const PART_BYTES = 65_536;
/** The number of events of the watch of leases, and the time between two. */
const PINGS = 1_000;
const PING_MS = 3;

const [pods, events, changed] = Deno.args.map(Number);
const streamingLists = Deno.args[3] === "on";
const job: Job = { pods, events, changed };
const objects = Array.from({ length: pods }, (_, index) => new PodBytes(index));
let sent = false;

async function writeAll(connection: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
}

function chunk(bytes: Uint8Array): Uint8Array {
  const size = encoder.encode(`${bytes.length.toString(16)}\r\n`);
  const whole = new Uint8Array(size.length + bytes.length + 2);
  whole.set(size);
  whole.set(bytes, size.length);
  whole.set([13, 10], size.length + bytes.length);
  return whole;
}

const CHUNKED = encoder.encode(
  "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n",
);
const CLOSE = encoder.encode("}");
const END = encoder.encode("0\r\n\r\n");

function answer(status: string, body: unknown): Uint8Array {
  const text = JSON.stringify(body);
  return encoder.encode(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`,
  );
}

function failure(code: number, reason: string, message: string): Record<string, unknown> {
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason, code };
}

async function list(connection: Deno.Conn, query: URLSearchParams, metadataOnly: boolean): Promise<void> {
  const unpaged = query.get("resourceVersion") === "0" && !query.has("continue");
  const limit = unpaged ? pods : Number(query.get("limit") ?? pods) || pods;
  const start = Number(query.get("continue") ?? 0);
  const end = Math.min(start + limit, pods);
  const metadata = {
    resourceVersion: String(listVersion(job, sent)),
    ...(end < pods ? { continue: String(end), remainingItemCount: pods - end } : {}),
  };
  await writeAll(connection, CHUNKED);
  const part = new Uint8Array(PART_BYTES);
  let length = 0;
  const put = async (bytes: Uint8Array): Promise<void> => {
    if (length + bytes.length > part.length) {
      await writeAll(connection, chunk(part.subarray(0, length)));
      length = 0;
    }
    part.set(bytes, length);
    length += bytes.length;
  };
  const kind = metadataOnly
    ? `"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1"`
    : `"kind":"PodList","apiVersion":"v1"`;
  await put(encoder.encode(`{${kind},"metadata":${JSON.stringify(metadata)},"items":[{`));
  const between = encoder.encode(",{");
  for (let index = start; index < end; index++) {
    if (index > start) await put(between);
    objects[index].version = objectVersion(job, index, sent);
    await put(metadataOnly ? objects[index].metadata : objects[index].item);
    if (metadataOnly) await put(CLOSE);
  }
  await put(encoder.encode("]}\n"));
  await writeAll(connection, chunk(part.subarray(0, length)));
  await writeAll(connection, END);
}

/** Sends the objects that are there, as the first part of a streaming list. */
async function initialEvents(connection: Deno.Conn): Promise<void> {
  const head = encoder.encode(`{"type":"ADDED","object":`);
  const tail = encoder.encode("}\n");
  for (let index = 0; index < pods; index++) {
    objects[index].version = objectVersion(job, index, sent);
    const { object } = objects[index];
    const line = new Uint8Array(head.length + object.length + tail.length);
    line.set(head);
    line.set(object, head.length);
    line.set(tail, head.length + object.length);
    await writeAll(connection, chunk(line));
  }
  const metadata = {
    resourceVersion: String(listVersion(job, sent)),
    annotations: { "k8s.io/initial-events-end": "true" },
  };
  await writeAll(connection, line("BOOKMARK", { kind: "Pod", apiVersion: "v1", metadata }));
}

function line(type: string, object: unknown): Uint8Array {
  return chunk(encoder.encode(`${JSON.stringify({ type, object })}\n`));
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function watch(connection: Deno.Conn, query: URLSearchParams): Promise<void> {
  await writeAll(connection, CHUNKED);
  if (query.get("sendInitialEvents") === "true") await initialEvents(connection);
  if (sent) {
    // Nothing more to say: read until the client goes away.
    await connection.read(new Uint8Array(1));
    return;
  }
  await pause(500);
  for (let event = 0; event < events; event++) {
    const object = objects[event % pods];
    object.version = eventVersion(job, event);
    // Throws if the client has gone, such as one of the run before: then the next watch is the first.
    await writeAll(connection, object.event);
    sent = true;
  }
  await writeAll(connection, line("ERROR", failure(410, "Expired", "too old resource version")));
  await writeAll(connection, END);
}

async function pings(connection: Deno.Conn): Promise<void> {
  await writeAll(connection, CHUNKED);
  const spec = { holderIdentity: "node", leaseDurationSeconds: 40, padding: "x".repeat(600) };
  await pause(200);
  for (let ping = 1; ping <= PINGS; ping++) {
    await pause(PING_MS);
    const metadata = {
      name: `node-${ping % 50}`,
      namespace: "kube-node-lease",
      uid: `0-${ping % 50}`,
      resourceVersion: String(ping + 1),
      annotations: { written: String(Temporal.Now.instant().epochNanoseconds) },
    };
    const object = { kind: "Lease", apiVersion: "coordination.k8s.io/v1", metadata, spec };
    await writeAll(connection, line("MODIFIED", object));
  }
  await connection.read(new Uint8Array(1));
}

async function respond(connection: Deno.Conn, method: string, target: string, head: string): Promise<void> {
  const { pathname, searchParams: query } = new URL(target, "http://server");
  if (method === "POST" && pathname === "/reset") {
    sent = false;
    await writeAll(connection, answer("200 OK", {}));
  } else if (query.has("sendInitialEvents") && !streamingLists) {
    const message = "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled";
    await writeAll(connection, answer("422 Unprocessable Entity", failure(422, "Invalid", message)));
  } else if (pathname.endsWith("/leases")) {
    const empty = { kind: "LeaseList", apiVersion: "coordination.k8s.io/v1", metadata: { resourceVersion: "1" } };
    if (query.has("watch")) await pings(connection);
    else await writeAll(connection, answer("200 OK", { ...empty, items: [] }));
  } else if (pathname !== "/api/v1/pods") {
    await writeAll(connection, answer("404 Not Found", failure(404, "NotFound", `there is no "${pathname}"`)));
  } else if (!["1", "true"].includes(query.get("watch") ?? "")) {
    await list(connection, query, head.includes("PartialObjectMetadata"));
  } else {
    await watch(connection, query);
  }
}

/** Requests one after the other; bodies of requests are not expected, and not read. */
async function serve(connection: Deno.Conn): Promise<void> {
  const buffer = new Uint8Array(PART_BYTES);
  let text = "";
  try {
    for (;;) {
      const end = text.indexOf("\r\n\r\n");
      if (end === -1) {
        const length = await connection.read(buffer);
        if (length === null) return;
        text += decoder.decode(buffer.subarray(0, length));
        continue;
      }
      const [method, target] = text.split(" ", 2);
      const head = text.slice(0, end);
      text = text.slice(end + 4);
      await respond(connection, method, target, head);
    }
  } catch (error) {
    if (!isGone(error)) throw error; // the client has gone: nothing to report, and nobody to report it to
  } finally {
    connection.close();
  }
}

function isGone(error: unknown): boolean {
  return error instanceof Deno.errors.BrokenPipe || error instanceof Deno.errors.ConnectionReset;
}

const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
console.log(`http://127.0.0.1:${(listener.addr as Deno.NetAddr).port}`);
const accepting = (async () => {
  for await (const connection of listener) {
    connection.setNoDelay(true);
    void serve(connection);
  }
})();
for await (const _ of Deno.stdin.readable); // until the program that started this ends
listener.close();
await accepting;
Deno.exit(0); // connections that still wait are of no interest
