import type { Certificates } from "./certificates.ts";

/** A proxy on loopback that leads every tunnel to one place. */
export interface TestProxy extends AsyncDisposable {
  /** `host:port`. */
  readonly host: string;
  /** The requests: `CONNECT host:port`, `SOCKS host:port` or `GET url`, and the login if there was one. */
  readonly asked: readonly string[];
}

export interface TestProxyOptions {
  readonly kind: "connect" | "socks5";
  /** Serve over TLS with `server.crt`. */
  readonly certificates?: Certificates;
  /** Answer with this status instead of a tunnel. */
  readonly refuse?: string;
}

/** Serves until it is disposed. Tunnels lead to where they are asked to lead. */
export function serveProxy(options: TestProxyOptions): TestProxy {
  const { kind, certificates, refuse } = options;
  const address = { hostname: "127.0.0.1", port: 0 };
  const listener = certificates === undefined ? Deno.listen(address) : Deno.listenTls({
    ...address,
    cert: certificates.text("server.crt"),
    key: certificates.text("server.key"),
  });
  const asked: string[] = [];
  const open = new Set<Deno.Conn>();
  const tunnel = async (inner: Deno.Conn): Promise<void> => {
    const target = kind === "connect" ? await readConnect(inner, asked) : await readSocks(inner, asked);
    if (refuse !== undefined) return await write(inner, `HTTP/1.1 ${refuse}\r\ncontent-length: 0\r\n\r\n`);
    const outer = await Deno.connect(target);
    open.add(outer);
    if (kind === "connect") await write(inner, "HTTP/1.1 200 OK\r\n\r\n");
    else await inner.write(Uint8Array.of(5, 0, 0, 1, 127, 0, 0, 1, 0, 0));
    await Promise.all([pump(inner, outer), pump(outer, inner)]);
  };
  const serving = (async () => {
    const tunnels: Promise<void>[] = [];
    for (;;) {
      let inner: Deno.Conn;
      try {
        inner = await listener.accept();
      } catch (error) {
        if (error instanceof Deno.errors.BadResource || error instanceof Deno.errors.Interrupted) break;
        throw error;
      }
      open.add(inner);
      tunnels.push(tunnel(inner).catch(ignoreBroken));
    }
    await Promise.all(tunnels);
  })();
  return {
    host: `127.0.0.1:${listener.addr.port}`,
    asked,
    async [Symbol.asyncDispose](): Promise<void> {
      listener.close();
      for (const connection of open) connection.close();
      await serving;
    },
  };
}

/** Connections break when a test is over. */
function ignoreBroken(error: unknown): void {
  const { BadResource, ConnectionReset, BrokenPipe, Interrupted, UnexpectedEof, InvalidData } = Deno.errors;
  const expected = [BadResource, ConnectionReset, BrokenPipe, Interrupted, UnexpectedEof, InvalidData];
  if (!expected.some((kind) => error instanceof kind)) throw error;
}

async function pump(from: Deno.Conn, to: Deno.Conn): Promise<void> {
  const buffer = new Uint8Array(16_384);
  for (;;) {
    const length = await from.read(buffer);
    if (length === null) break;
    await to.write(buffer.subarray(0, length));
  }
  await to.closeWrite();
}

async function write(connection: Deno.Conn, text: string): Promise<void> {
  await connection.write(new TextEncoder().encode(text));
}

async function read(connection: Deno.Conn): Promise<Uint8Array> {
  const buffer = new Uint8Array(4_096);
  const length = await connection.read(buffer);
  if (length === null) throw new Deno.errors.UnexpectedEof("nothing asked");
  return buffer.subarray(0, length);
}

async function readConnect(connection: Deno.Conn, asked: string[]): Promise<Deno.ConnectOptions> {
  let text = "";
  while (!text.includes("\r\n\r\n")) text += new TextDecoder().decode(await read(connection));
  const [method, target] = text.split(" ");
  const login = /^proxy-authorization: basic (.*)$/im.exec(text)?.[1].trim();
  asked.push(`${method} ${target}${login === undefined ? "" : ` ${atob(login)}`}`);
  if (method !== "CONNECT") {
    await write(connection, "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n");
    throw new Deno.errors.InvalidData("a request for no tunnel");
  }
  const [hostname, port] = target.split(":");
  return { hostname, port: Number(port) };
}

async function readSocks(connection: Deno.Conn, asked: string[]): Promise<Deno.ConnectOptions> {
  const greeting = await read(connection);
  let login = "";
  if (greeting.subarray(2).includes(2)) {
    await connection.write(Uint8Array.of(5, 2));
    const answer = await read(connection);
    const name = new TextDecoder().decode(answer.subarray(2, 2 + answer[1]));
    login = ` ${name}:${new TextDecoder().decode(answer.subarray(3 + answer[1]))}`;
    await connection.write(Uint8Array.of(1, 0));
  } else await connection.write(Uint8Array.of(5, 0));
  const request = await read(connection);
  const isName = request[3] === 3;
  const hostname = isName
    ? new TextDecoder().decode(request.subarray(5, 5 + request[4]))
    : request.slice(4, 8).join(".");
  const at = isName ? 5 + request[4] : 8;
  const port = request[at] * 256 + request[at + 1];
  asked.push(`SOCKS ${hostname}:${port}${login}`);
  return { hostname, port };
}
