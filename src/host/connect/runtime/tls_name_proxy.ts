/**
 * A proxy on loopback for `tls-server-name`.
 *
 * {@linkcode TlsNameProxy} is the entry point. Deno verifies a certificate for the host of the URL only, so requests
 * name that host and this proxy leads them to the address. It does not look into what it carries.
 *
 * @module
 */
import { encoder } from "../../../engine/api/object.ts";
import { type ProxyAddress, proxyPort, withoutBrackets } from "../kubeconfig/resolve_context.ts";
import { Secret } from "../kubeconfig/secrets.ts";

/** Maximum length of a CONNECT request, in bytes. */
const MAX_HEAD_BYTES = 8_192;

/** Time limit for a connection's CONNECT request, in milliseconds: Deno sends it at once. */
const HEAD_MS = 5_000;

/** Maximum number of connections without a tunnel; beyond it the oldest is closed. */
const MAX_WAITING = 64;

/**
 * A CONNECT proxy on loopback that connects to one fixed address, whatever host is requested. Deno verifies a server's
 * certificate for the host of the URL; through this one that host may differ from the address, and verification stays
 * enabled.
 *
 * Other users of this machine cannot use it, because it requires a random password, which only {@linkcode
 * TlsNameProxy.address} holds. They cannot exhaust it either: connections without a CONNECT request in time are closed,
 * and so is the oldest of too many. It does not keep the process alive. Needs permission to listen on 127.0.0.1 and to
 * reach the target.
 */
export class TlsNameProxy implements Disposable {
  /** The server that it connects to. */
  readonly target: URL;
  readonly #listener: Deno.TcpListener;
  readonly #password = crypto.randomUUID();
  readonly #ending = new AbortController();
  /** All open connections, to clients and to the target; each is closed when it leaves the set. */
  readonly #connections = new Set<Deno.Conn>();
  /** Connections that have not sent a CONNECT request yet, oldest first. */
  readonly #waiting = new Set<Deno.Conn>();
  #isRetired = false;
  /** Number of accepted CONNECT requests; never decreases. */
  carried = 0;
  /** The last error, of reaching the target or of a connection; cleared by the next connection to the target. */
  problem: unknown;

  /** Listens on a free port. @throws {Deno.errors.NotCapable} when the program may not. */
  constructor(target: URL) {
    this.target = target;
    this.#listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    this.#listener.unref();
    this.#accept();
  }

  /** Address and password of this proxy. */
  get address(): ProxyAddress {
    const url = new URL(`http://127.0.0.1:${this.#listener.addr.port}`);
    return { url, login: { username: "informer", password: new Secret(this.#password) } };
  }

  /** Number of connections that have not sent a CONNECT request yet. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** `true` once it is disposed or can no longer accept connections. */
  get isEnded(): boolean {
    return this.#ending.signal.aborted;
  }

  /** Accepts no more connections; open ones stay until they end. */
  retire(): void {
    this.#isRetired = true;
    this.#listener.close();
  }

  /** Closes all connections. Idempotent. */
  [Symbol.dispose](): void {
    if (this.#ending.signal.aborted) return;
    this.#ending.abort();
    if (!this.#isRetired) this.#listener.close();
    for (const connection of this.#connections) this.#close(connection);
  }

  async #accept(): Promise<void> {
    for (;;) {
      let inner: Deno.TcpConn;
      try {
        inner = await this.#listener.accept();
      } catch (error) {
        if (this.#isRetired) return;
        // For example, no file descriptors are left. The transport creates another proxy.
        if (!this.#ending.signal.aborted) this.problem = error;
        return this[Symbol.dispose]();
      }
      inner.unref();
      this.#carry(inner).catch((error) => this.problem = error).finally(() => this.#close(inner));
    }
  }

  async #carry(inner: Deno.Conn): Promise<void> {
    this.#connections.add(inner);
    const head = await this.#headOf(inner);
    if (head === undefined) return;
    const expected = `proxy-authorization: basic ${btoa(`informer:${this.#password}`)}`;
    const lines = head.text.split("\r\n");
    const isAllowed = lines.some((line) => line.replace(/^[^:]*: *\w+/, (name) => name.toLowerCase()) === expected);
    if (!lines[0].startsWith("CONNECT ") || !isAllowed) return await answer(inner, "403 Forbidden");
    this.carried++;
    let outer: Deno.TcpConn;
    try {
      const port = Number(proxyPort(this.target));
      const hostname = withoutBrackets(this.target.hostname);
      outer = await Deno.connect({ hostname, port, signal: this.#ending.signal });
    } catch (error) {
      this.problem = error;
      return await answer(inner, "502 Bad Gateway");
    }
    this.problem = undefined;
    outer.unref();
    this.#connections.add(outer);
    try {
      outer.setNoDelay(true);
      await answer(inner, "200 OK");
      if (head.rest.length > 0) await writeAll(outer, head.rest);
      await Promise.all([this.#pump(inner, outer), this.#pump(outer, inner)]);
    } finally {
      this.#close(outer);
    }
  }

  /** Reads the CONNECT request; returns `undefined` if none arrives in time, or the connection ends before. */
  async #headOf(connection: Deno.Conn): Promise<Awaited<ReturnType<typeof readHead>>> {
    const [oldest] = this.#waiting;
    if (this.#waiting.size === MAX_WAITING) this.#close(oldest);
    this.#waiting.add(connection);
    const timer = setTimeout(() => this.#close(connection), HEAD_MS);
    Deno.unrefTimer(timer);
    try {
      return await readHead(connection);
    } catch (error) {
      if (error instanceof Deno.errors.BadResource || isBroken(error)) return undefined;
      throw error;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(connection);
    }
  }

  /** Copies until `from` ends; if one connection breaks, both are closed. */
  async #pump(from: Deno.Conn, to: Deno.Conn): Promise<void> {
    const buffer = new Uint8Array(65_536);
    try {
      for (;;) {
        const length = await from.read(buffer);
        if (length === null) break;
        await writeAll(to, buffer.subarray(0, length));
      }
      await to.closeWrite();
    } catch (error) {
      this.#close(from);
      this.#close(to);
      // The sender of the request has seen the same broken connection.
      if (!(error instanceof Deno.errors.BadResource) && !isBroken(error)) throw error;
    }
  }

  #close(connection: Deno.Conn): void {
    this.#waiting.delete(connection);
    if (this.#connections.delete(connection)) connection.close();
  }
}

function isBroken(error: unknown): boolean {
  const { ConnectionReset, BrokenPipe, ConnectionAborted, Interrupted, NotConnected, TimedOut } = Deno.errors;
  return [ConnectionReset, BrokenPipe, ConnectionAborted, Interrupted, NotConnected, TimedOut].some((kind) =>
    error instanceof kind
  );
}

async function answer(connection: Deno.Conn, status: string): Promise<void> {
  await writeAll(connection, encoder.encode(`HTTP/1.1 ${status}\r\n\r\n`));
}

async function writeAll(connection: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
}

/**
 * Reads the head of a CONNECT request and the bytes after it; returns `undefined` if the head is incomplete or too
 * long.
 */
async function readHead(connection: Deno.Conn): Promise<{ text: string; rest: Uint8Array } | undefined> {
  const bytes = new Uint8Array(MAX_HEAD_BYTES);
  for (let length = 0; length < bytes.length;) {
    const read = await connection.read(bytes.subarray(length));
    if (read === null) return undefined;
    length += read;
    const text = Array.from(bytes.subarray(0, length), (byte) => String.fromCharCode(byte)).join("");
    const end = text.indexOf("\r\n\r\n");
    if (end >= 0) return { text: text.slice(0, end), rest: bytes.slice(end + 4, length) };
  }
  return undefined;
}
