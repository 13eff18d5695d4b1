/**
 * What etcd has and kine lacks: answers over HTTP/1, on the port on which kine answers by gRPC. A program: its
 * arguments are the port, the socket of kine, and a socket for the answers. It ends with its parent, which is kine.
 *
 * It answers `/health`, and the requests of `BreakableControlPlane.compact()`. Connections by HTTP/2 are passed on.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { connect as connectHttp2 } from "node:http2";

/** The fields of messages that are sent, with their numbers in etcd's `rpc.proto`. */
const METHODS: Readonly<Record<string, readonly [rpc: string, fields: Readonly<Record<string, number>>]>> = {
  "/v3/kv/range": ["Range", { key: 1 }],
  "/v3/kv/put": ["Put", { key: 1, value: 2 }],
  "/v3/kv/compaction": ["Compact", { revision: 1, physical: 2 }],
};

/** The interval between looks at the parent. */
const LOOK_MS = 100;

const [port, kine, answers] = Deno.args;

function varint(value: bigint): number[] {
  const bytes: number[] = [];
  for (; value > 127n; value >>= 7n) bytes.push(Number(value & 127n) | 128);
  return [...bytes, Number(value)];
}

/** A message of protobuf: keys and values are base64, numbers are texts, as in etcd's JSON. */
function encoded(body: Readonly<Record<string, unknown>>, fields: Readonly<Record<string, number>>): Uint8Array {
  return new Uint8Array(
    Object.entries(fields).flatMap(([name, number]) => {
      const value = body[name];
      if (value === undefined) return [];
      if (name !== "key" && name !== "value") return [number << 3, ...varint(BigInt(value as string | boolean))];
      const bytes = [...Buffer.from(value as string, "base64")];
      return [number << 3 | 2, ...varint(BigInt(bytes.length)), ...bytes];
    }),
  );
}

/** The fields of a message by number: numbers, and bytes of what is nested. */
function decoded(bytes: Uint8Array): Map<number, bigint | Uint8Array> {
  const fields = new Map<number, bigint | Uint8Array>();
  let at = 0;
  const number = (): bigint => {
    let value = 0n;
    for (let shift = 0n;; shift += 7n) {
      const byte = bytes[at++];
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const tag = Number(number());
    const value = number(); // kine sends numbers and bytes only
    if ((tag & 7) === 0) fields.set(tag >> 3, value);
    else fields.set(tag >> 3, bytes.subarray(at, at += Number(value)));
  }
  return fields;
}

/** Calls a method of etcd's KV service, and returns the revision in the header of its answer. */
async function revisionBy(rpc: string, message: Uint8Array): Promise<string> {
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  try {
    return await new Promise((resolve, reject) => {
      session.on("error", reject);
      const stream = session.request({
        ":method": "POST",
        ":path": `/etcdserverpb.KV/${rpc}`,
        "content-type": "application/grpc",
        "te": "trailers",
      });
      const chunks: Buffer[] = [];
      let status: unknown = "?";
      let text: unknown = "";
      const read = (headers: Readonly<Record<string, unknown>>): void => {
        status = headers["grpc-status"] ?? status;
        text = headers["grpc-message"] ?? text;
      };
      stream.on("response", read);
      stream.on("trailers", read);
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("error", reject);
      stream.on("end", () => {
        const answer = Buffer.concat(chunks);
        if (answer.length < 5) return reject(new Error(`kine refuses ${rpc}: ${status} ${text}`));
        const header = decoded(answer.subarray(5)).get(1) as Uint8Array;
        resolve(String(decoded(header).get(3)));
      });
      const head = Buffer.alloc(5);
      head.writeUInt32BE(message.length, 1);
      stream.end(Buffer.concat([head, message]));
    });
  } finally {
    session.destroy();
  }
}

async function answer(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url);
  try {
    if (pathname === "/health") {
      await revisionBy("Range", encoded({ key: btoa("health") }, { key: 1 }));
      return Response.json({ health: "true" });
    }
    const [rpc, fields] = METHODS[pathname] ?? [];
    if (rpc === undefined || fields === undefined) return new Response(null, { status: 404 });
    return Response.json({ header: { revision: await revisionBy(rpc, encoded(await request.json(), fields)) } });
  } catch (error) {
    return new Response(String(error), { status: 503 });
  }
}

/** Passes a connection on: to kine if it begins as HTTP/2 does. */
async function pass(client: Deno.TcpConn): Promise<void> {
  try {
    const first = new Uint8Array(65_536);
    const count = await client.read(first);
    if (count === null) return client.close();
    const isHttp2 = new TextDecoder().decode(first.subarray(0, 3)) === "PRI";
    const server = await Deno.connect({ transport: "unix", path: isHttp2 ? kine : answers });
    for (let at = 0; at < count;) at += await server.write(first.subarray(at, count));
    await Promise.all([client.readable.pipeTo(server.writable), server.readable.pipeTo(client.writable)]);
  } catch {
    // One side is gone: so is the connection.
    try {
      client.close();
    } catch (error) {
      if (!(error instanceof Deno.errors.BadResource)) throw error;
    }
  }
}

/** Listens as soon as the front of the former kine has ended. */
async function listen(): Promise<Deno.TcpListener> {
  for (;;) {
    try {
      return Deno.listen({ hostname: "127.0.0.1", port: Number(port) });
    } catch (error) {
      if (!(error instanceof Deno.errors.AddrInUse)) throw error;
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }
}

if (import.meta.main) {
  const parent = Deno.ppid;
  setInterval(() => {
    if (Deno.ppid !== parent) Deno.exit(0);
  }, LOOK_MS);
  await Deno.remove(answers).catch(() => {});
  Deno.serve({ path: answers, onListen: () => {} }, answer);
  for await (const client of await listen()) void pass(client);
}
