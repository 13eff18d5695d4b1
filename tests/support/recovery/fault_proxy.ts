/**
 * A TCP proxy on loopback whose connections can be made to fail. It forwards raw bytes, so TLS passes through it.
 *
 * @module
 */
import { delay } from "@std/async";

/** Bytes that a slow connection forwards in one step, in each direction. */
const SLOW_BYTES = 25;

/** Milliseconds between two steps of a slow connection. */
const SLOW_STEP_MS = 100;

/** The speed at which a proxy forwards bytes. */
type Pace = "full" | "slow" | "held";

/** Forwards TCP connections to one address, with faults on demand. {@linkcode heal} ends every lasting fault. */
export class FaultProxy implements AsyncDisposable {
  /** The target's URL with the port of this proxy on 127.0.0.1, which never changes. */
  readonly url: string;
  readonly #target: Deno.ConnectOptions;
  readonly #port: number;
  readonly #tunnels = new Set<Tunnel>();
  readonly #forwarding = new Set<Promise<void>>();
  /** `undefined` while connections are refused. */
  #listener: Deno.TcpListener | undefined;
  /** Settles when the listener is closed. */
  #accepting: Promise<void>;
  #pace: Pace = "full";
  #turnsAway = false;
  /** The number of bytes after which a connection is silenced. */
  #allowance = Infinity;
  /** Resolves at the next change of the pace. */
  #paceChange = Promise.withResolvers<void>();
  #accepted = 0;

  /** Listens at once, on a free port of 127.0.0.1. `target` is a URL with a port. */
  constructor(target: string) {
    const { protocol, hostname, port } = new URL(target);
    this.#target = { hostname, port: Number(port) };
    this.#listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    this.#port = this.#listener.addr.port;
    this.url = `${protocol}//127.0.0.1:${this.#port}`;
    this.#accepting = this.#accept(this.#listener);
  }

  /** Connections accepted so far, those closed at once too. */
  get accepted(): number {
    return this.#accepted;
  }

  /** Closes the connection that forwarded bytes last; new ones are accepted. */
  cut(): void {
    const [first, ...others] = this.#tunnels;
    if (first !== undefined) others.reduce((a, b) => b.forwardedAt > a.forwardedAt ? b : a, first).close();
  }

  /** Closes every connection; new ones are accepted. */
  cutAll(): void {
    for (const tunnel of this.#tunnels) tunnel.close();
  }

  /**
   * Keeps the connections that are open, or the one that forwarded bytes last, but forwards nothing on them any more,
   * not even their end; new ones work. {@linkcode heal} does not end that.
   */
  silence(which: "all" | "last"): void {
    const [first, ...others] = this.#tunnels;
    const last = others.reduce((a, b) => b.forwardedAt > a.forwardedAt ? b : a, first);
    for (const tunnel of which === "all" ? this.#tunnels : [last]) tunnel.isSilent = true;
  }

  /** Silences the first connection that has forwarded this number of bytes, as {@linkcode silence} does. */
  silenceAfter(bytes: number): void {
    this.#allowance = bytes;
  }

  /** Keeps connections open and accepts new ones, but forwards nothing, not even the end of a connection. */
  hold(): void {
    this.#setPace("held");
  }

  /** Forwards 250 bytes a second on each connection. */
  slow(): void {
    this.#setPace("slow");
  }

  /** Closes the port and every connection. New connections are refused as soon as this resolves. */
  async refuse(): Promise<void> {
    this.#listener?.close();
    this.#listener = undefined;
    await this.#accepting;
    this.cutAll();
  }

  /** Closes every connection; new ones are accepted and closed at once. */
  turnAway(): void {
    this.cutAll();
    this.#turnsAway = true;
  }

  /** Ends all lasting faults. Bytes that were held arrive. */
  heal(): void {
    this.#turnsAway = false;
    this.#setPace("full");
    if (this.#listener !== undefined) return;
    this.#listener = Deno.listen({ hostname: "127.0.0.1", port: this.#port });
    this.#accepting = this.#accept(this.#listener);
  }

  /** Closes the port and every connection. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.refuse();
    await Promise.all(this.#forwarding);
  }

  #setPace(pace: Pace): void {
    this.#pace = pace;
    this.#paceChange.resolve();
    this.#paceChange = Promise.withResolvers();
  }

  async #accept(listener: Deno.TcpListener): Promise<void> {
    for await (const inner of listener) {
      this.#accepted++;
      if (this.#turnsAway) {
        inner.close();
        continue;
      }
      const forwarding = this.#forward(new Tunnel(inner)).finally(() => this.#forwarding.delete(forwarding));
      this.#forwarding.add(forwarding);
    }
  }

  async #forward(tunnel: Tunnel): Promise<void> {
    this.#tunnels.add(tunnel);
    try {
      await this.#released(tunnel);
      if (!tunnel.closed) await tunnel.connect(this.#target);
      const { inner, outer } = tunnel;
      if (outer !== undefined) await Promise.all([this.#pump(tunnel, inner, outer), this.#pump(tunnel, outer, inner)]);
    } finally {
      tunnel.close();
      this.#tunnels.delete(tunnel);
    }
  }

  /** Forwards one direction. When it ends, so does the other one. */
  async #pump(tunnel: Tunnel, from: Deno.Conn, to: Deno.Conn): Promise<void> {
    const buffer = new Uint8Array(16_384);
    try {
      for (;;) {
        const length = await from.read(buffer);
        await this.#released(tunnel);
        if (length === null || tunnel.closed) break;
        await this.#write(tunnel, to, buffer.subarray(0, length));
      }
    } catch (error) {
      if (!isBroken(error)) throw error;
      await this.#released(tunnel);
    } finally {
      tunnel.close();
    }
  }

  async #write(tunnel: Tunnel, to: Deno.Conn, bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length && !tunnel.closed;) {
      const slow = this.#pace === "slow";
      const written = await to.write(slow ? bytes.subarray(at, at + SLOW_BYTES) : bytes.subarray(at));
      at += written;
      tunnel.forwardedBytes += written;
      tunnel.forwardedAt = performance.now();
      if (tunnel.forwardedBytes >= this.#allowance) {
        tunnel.isSilent = true;
        this.#allowance = Infinity;
      }
      if (slow) await delay(SLOW_STEP_MS);
      await this.#released(tunnel);
    }
  }

  /** Waits while bytes are held, but not for a tunnel that is closed. */
  async #released(tunnel: Tunnel): Promise<void> {
    while ((this.#pace === "held" || tunnel.isSilent) && !tunnel.closed) {
      await Promise.race([this.#paceChange.promise, tunnel.end]);
    }
  }
}

/** A client's connection and the one to the target that belongs to it. */
class Tunnel {
  readonly inner: Deno.TcpConn;
  outer: Deno.TcpConn | undefined;
  closed = false;
  isSilent = false;
  /** When it forwarded bytes last, by `performance.now()`. */
  forwardedAt = performance.now();
  forwardedBytes = 0;
  readonly #end = Promise.withResolvers<void>();

  constructor(inner: Deno.TcpConn) {
    this.inner = inner;
    inner.setNoDelay(true);
  }

  /** Resolves when it is closed. */
  get end(): Promise<void> {
    return this.#end.promise;
  }

  /** Connects to the target; closes the tunnel where nothing listens there. */
  async connect(target: Deno.ConnectOptions): Promise<void> {
    let outer: Deno.TcpConn;
    try {
      outer = await Deno.connect(target);
    } catch (error) {
      if (!isBroken(error)) throw error;
      return this.close();
    }
    if (this.closed) return outer.close();
    outer.setNoDelay(true);
    this.outer = outer;
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.inner.close();
    this.outer?.close();
    this.#end.resolve();
  }
}

/** Returns `true` if an error means that a connection has ended, or was never made. */
function isBroken(error: unknown): boolean {
  const { BadResource, BrokenPipe, ConnectionRefused, ConnectionReset, Interrupted, NotConnected } = Deno.errors;
  return [BadResource, BrokenPipe, ConnectionRefused, ConnectionReset, Interrupted, NotConnected]
    .some((kind) => error instanceof kind);
}
