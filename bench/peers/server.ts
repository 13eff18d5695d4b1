/**
 * The server that all clients of a comparison talk to, a process of its own:
 * `deno run -A server.ts PODS EVENTS CHANGED on|off MIX`, where `on` has streaming lists. `mixes.ts` has the objects.
 *
 * It prints its address, and ends when its standard input does. It speaks HTTP/1.1 by hand, so that one event is
 * exactly one chunk and one write, and costs the server next to nothing: clients are what is measured.
 *
 * - A list without a limit, or at version "0", is one answer, as from the API server's watch cache; else it has pages.
 * - A list of metadata only has that.
 * - The first watch sends the events half a second after it began, then ends with an ERROR event, 410. With CHANGED 0
 *   it stays, and is silent as later ones are. If clients follow several collections, the first watches of all of them
 *   must have begun, and only the first collection's watch ends.
 * - `POST /reset` restores the state before the first watch.
 * - Leases that the mix does not have are an empty list and a slow watch: an event every few milliseconds, which says
 *   when it was written.
 */
import { type Job, listVersion, type Mix } from "./job.ts";
import { type CollectionType, mixOf } from "./mixes.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const PART_BYTES = 65_536;
/** The number of events of the watch of leases, and the time between two. */
const PINGS = 1_000;
const PING_MS = 3;

const [pods, events, changed] = Deno.args.map(Number);
const streamingLists = Deno.args[3] === "on";
const job: Job = { pods, events, changed, mix: Deno.args[4] as Mix | undefined };
const objects = mixOf(job);
objects.prepare();
let sent = false;
/** The first watches, until events are sent: by collection. */
let watches = new Map<number, Deno.Conn>();
let told = Promise.withResolvers<void>();

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

async function list(
  connection: Deno.Conn,
  collection: number,
  query: URLSearchParams,
  metadataOnly: boolean,
): Promise<void> {
  const { kind, apiVersion } = objects.collections[collection];
  const size = objects.size(collection, sent);
  const unpaged = query.get("resourceVersion") === "0" && !query.has("continue");
  const limit = unpaged ? size : Number(query.get("limit") ?? size) || size;
  const start = Number(query.get("continue") ?? 0);
  const end = Math.min(start + limit, size);
  const metadata = {
    resourceVersion: String(listVersion(job, sent)),
    ...(end < size ? { continue: String(end), remainingItemCount: size - end } : {}),
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
  const head = metadataOnly
    ? `"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1"`
    : `"kind":"${kind}List","apiVersion":"${apiVersion}"`;
  await put(encoder.encode(`{${head},"metadata":${JSON.stringify(metadata)},"items":[{`));
  const between = encoder.encode(",{");
  for (let index = start; index < end; index++) {
    if (index > start) await put(between);
    const { item, metadata } = objects.bytes(objects.listed(collection, index, sent));
    await put(metadataOnly ? metadata : item);
    if (metadataOnly) await put(CLOSE);
  }
  await put(encoder.encode("]}\n"));
  await writeAll(connection, chunk(part.subarray(0, length)));
  await writeAll(connection, END);
}

/** Sends the objects that are there, as the first part of a streaming list. */
async function initialEvents(connection: Deno.Conn, collection: number): Promise<void> {
  const { kind, apiVersion } = objects.collections[collection];
  for (let index = 0; index < objects.size(collection, sent); index++) {
    await writeAll(connection, objects.bytes(objects.listed(collection, index, sent)).event("ADDED"));
  }
  const metadata = {
    resourceVersion: String(listVersion(job, sent)),
    annotations: { "k8s.io/initial-events-end": "true" },
  };
  await writeAll(connection, line("BOOKMARK", { kind, apiVersion, metadata }));
}

function line(type: string, object: unknown): Uint8Array {
  return chunk(encoder.encode(`${JSON.stringify({ type, object })}\n`));
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function watch(connection: Deno.Conn, collection: number, query: URLSearchParams): Promise<void> {
  await writeAll(connection, CHUNKED);
  if (query.get("sendInitialEvents") === "true") await initialEvents(connection, collection);
  if (!sent) {
    watches.set(collection, connection);
    if (watches.size === objects.collections.length) await tell(watches, told.resolve);
    else await told.promise;
    if (collection === 0 && changed > 0) {
      await writeAll(connection, line("ERROR", failure(410, "Expired", "too old resource version")));
      await writeAll(connection, END);
      return;
    }
  }
  // Nothing more to say: read until the client goes away.
  await connection.read(new Uint8Array(1));
}

/** Sends all events, each to the watch of its collection. */
async function tell(watches: ReadonlyMap<number, Deno.Conn>, done: () => void): Promise<void> {
  await pause(500);
  for (let event = 0; event < events; event++) {
    const step = objects.step(event);
    // Throws if the client has gone, such as one of the run before: then the next watch is the first.
    await writeAll(watches.get(step.collection)!, objects.bytes(step).event(step.type));
    sent = true;
  }
  done();
}

/** Restores the state before the first watch. */
function reset(): void {
  sent = false;
  told.resolve(); // watches that still wait have lost their client
  watches = new Map();
  told = Promise.withResolvers();
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
  const collection = objects.collections.findIndex(({ path }: CollectionType) => path === pathname);
  if (method === "POST" && pathname === "/reset") {
    reset();
    await writeAll(connection, answer("200 OK", {}));
  } else if (query.has("sendInitialEvents") && !streamingLists) {
    const message = "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled";
    await writeAll(connection, answer("422 Unprocessable Entity", failure(422, "Invalid", message)));
  } else if (collection === -1 && pathname.endsWith("/leases")) {
    const empty = { kind: "LeaseList", apiVersion: "coordination.k8s.io/v1", metadata: { resourceVersion: "1" } };
    if (query.has("watch")) await pings(connection);
    else await writeAll(connection, answer("200 OK", { ...empty, items: [] }));
  } else if (collection === -1) {
    await writeAll(connection, answer("404 Not Found", failure(404, "NotFound", `there is no "${pathname}"`)));
  } else if (!["1", "true"].includes(query.get("watch") ?? "")) {
    await list(connection, collection, query, head.includes("PartialObjectMetadata"));
  } else {
    await watch(connection, collection, query);
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
