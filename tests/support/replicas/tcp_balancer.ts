import { delay } from "@std/async";

/** The time between two looks at whether a server is ready, in milliseconds. */
const LOOK_MS = 200;

/** A proxy on loopback that passes each connection on to another one of the servers that are ready. */
export class TcpBalancer implements AsyncDisposable {
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #ports: readonly number[];
  readonly #ready = new Set<number>();
  readonly #open = new Set<Deno.Conn>();
  readonly #stop = new AbortController();
  readonly #running: Promise<unknown>;
  #next = 0;

  /** Passes on to these ports. */
  constructor(ports: readonly number[]) {
    this.#ports = ports;
    this.#running = Promise.all([this.#serve(), ...ports.map((port) => this.#look(port))]);
  }

  /** The address of the proxy. */
  get address(): string {
    return `http://127.0.0.1:${this.#listener.addr.port}`;
  }

  /** Resolves once a server is ready, or is none. */
  async until(port: number, isReady: boolean): Promise<void> {
    while (this.#ready.has(port) !== isReady) await delay(LOOK_MS / 4, { signal: this.#stop.signal });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error("the proxy was disposed"));
    this.#listener.close();
    for (const connection of this.#open) this.#close(connection);
    await this.#running;
  }

  async #look(port: number): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const isReady = await fetch(`http://127.0.0.1:${port}/readyz`, { signal }).then(
        async (response) => (await response.text(), response.ok),
        () => false,
      );
      if (isReady) this.#ready.add(port);
      else this.#ready.delete(port);
      await delay(LOOK_MS, { signal }).catch(() => {});
    }
  }

  async #serve(): Promise<void> {
    const tunnels = new Set<Promise<void>>();
    for (;;) {
      let inner: Deno.Conn;
      try {
        inner = await this.#listener.accept();
      } catch (error) {
        if (!this.#stop.signal.aborted) throw error;
        break;
      }
      const tunnel = this.#tunnel(inner).finally(() => tunnels.delete(tunnel));
      tunnels.add(tunnel);
    }
    await Promise.all(tunnels);
  }

  async #tunnel(inner: Deno.Conn): Promise<void> {
    this.#open.add(inner);
    const ready = this.#ports.filter((port) => this.#ready.has(port));
    try {
      if (ready.length === 0) return;
      const outer = await Deno.connect({ hostname: "127.0.0.1", port: ready[this.#next++ % ready.length] });
      this.#open.add(outer);
      const close = (): void => {
        this.#close(inner);
        this.#close(outer);
      };
      // Either end ends both, as a proxy does whose server was killed.
      const ignore = (): void => {}; // connections break: that is what is tested
      await Promise.all([
        inner.readable.pipeTo(outer.writable).then(ignore, ignore).finally(close),
        outer.readable.pipeTo(inner.writable).then(ignore, ignore).finally(close),
      ]);
    } catch (error) {
      if (!(error instanceof Deno.errors.ConnectionRefused)) throw error; // it has just been killed
    } finally {
      this.#close(inner);
    }
  }

  #close(connection: Deno.Conn): void {
    if (!this.#open.delete(connection)) return;
    try {
      connection.close();
    } catch (error) {
      if (!(error instanceof Deno.errors.BadResource)) throw error; // its streams have closed it
    }
  }
}
