/**
 * Opens event streams: URL CLIENTS. When all of them are open it prints its own address, which answers, when each
 * stream has received a change, `{ lastMs }`: the time from that change to the last of them. It ends when its standard
 * input does.
 */
const [url, clients] = [Deno.args[0], Number(Deno.args[1])];
const { port } = new URL(url);

/** The streams that are opened at the same time. */
const AT_ONCE = 100;

const request = new TextEncoder().encode("GET /events/maps HTTP/1.1\r\nhost: localhost\r\n\r\n");
const decoder = new TextDecoder("latin1");
const all = Promise.withResolvers<number>();
let received = 0;
let lastMs = 0;

/** Reads a connection until `pattern` matches, and returns the match. */
async function read(connection: Deno.TcpConn, pattern: RegExp): Promise<RegExpExecArray> {
  const buffer = new Uint8Array(4_096);
  for (let text = "";;) {
    const count = await connection.read(buffer);
    if (count === null) throw new Error(`Cannot read a stream: it ended behind ${JSON.stringify(text.slice(-200))}`);
    text += decoder.decode(buffer.subarray(0, count));
    const match = pattern.exec(text);
    if (match !== null) return match;
  }
}

async function open(): Promise<Deno.TcpConn> {
  const connection = await Deno.connect({ hostname: "127.0.0.1", port: Number(port) });
  await connection.write(request);
  await read(connection, /^HTTP\/1.1 200 [^]*(event:synced|\n:\n\n)/); // of a relay, or of a bare server
  return connection;
}

/** Waits for the change, which has the time at which it was made. */
async function follow(connection: Deno.TcpConn): Promise<void> {
  const [, madeAt] = await read(connection, /"t":"([\d.]+)"/);
  lastMs = Math.max(lastMs, performance.timeOrigin + performance.now() - Number(madeAt));
  if (++received === clients) all.resolve(lastMs);
}

for (let opened = 0; opened < clients; opened += AT_ONCE) {
  const connections = await Promise.all(Array.from({ length: Math.min(AT_ONCE, clients - opened) }, open));
  for (const connection of connections) void follow(connection);
}
Deno.serve(
  { hostname: "127.0.0.1", port: 0, onListen: ({ port }) => console.log(`http://127.0.0.1:${port}`) },
  async () => Response.json({ lastMs: await all.promise }),
);
for await (const _ of Deno.stdin.readable); // until the process that has started this one ends
Deno.exit(0); // the streams are still open
