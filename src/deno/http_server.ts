import { callObserver } from "../async/report_uncaught.ts";
import { sleep } from "../async/time/sleep.ts";
import { ConsoleReporter } from "../errors/console_reporter.ts";
import { InformerError } from "../errors/informer_error.ts";

/** The time from a failure to the next attempt to listen, in milliseconds. */
const AGAIN_MS = 1_000;

/** The time that requests have to be answered once the server is disposed, in milliseconds. */
const GRACE_MS = 2_000;

/** Options of an {@linkcode HttpServer}. */
export interface HttpServerOptions {
  /** The port; 0 is a free one. @default {8080} */
  readonly port?: number;
  /** The address to listen on; `"0.0.0.0"` is all interfaces. @default {"127.0.0.1"} */
  readonly hostname?: string;
  /** Called with the port when it is first open. */
  readonly onListen?: (port: number) => void;
  /** Called with the reason of each failure, before the server listens again. @default {written to the console} */
  readonly onError?: (error: unknown) => unknown;
}

/**
 * A server of Deno that listens again after a failure: `Deno.serve` ends for ever, and the process with it, at the first connection
 * that it cannot accept, such as one for which there is no open file any more.
 *
 * When it fails, it closes its connections, since these may be what has used up the open files, and listens again 1 s later, each
 * second until it succeeds.
 *
 * Needs `--allow-net=<hostname>:<port>`.
 *
 * @example
 * ```ts ignore
 * import { HttpServer } from "@kube/informer/deno";
 *
 * await using server = new HttpServer(() => new Response("ok"), { port: 8080, onListen: console.log });
 * ```
 */
export class HttpServer implements AsyncDisposable {
  /** The port. */
  readonly port: number;
  readonly #handler: Deno.ServeHandler<Deno.NetAddr>;
  readonly #options: HttpServerOptions;
  readonly #reporter = new ConsoleReporter();
  /** Aborts with the disposal. */
  readonly #stop = new AbortController();
  /** Aborts with the connections of the present server. */
  #connections = new AbortController();
  #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #running: Promise<void>;

  /**
   * Listens at once.
   *
   * @throws {Deno.errors.AddrInUse} when the port is in use.
   * @throws {Deno.errors.NotCapable} without permission.
   */
  constructor(handler: Deno.ServeHandler<Deno.NetAddr>, options: HttpServerOptions = {}) {
    this.#handler = handler;
    this.#options = options;
    this.#server = this.#listen(options.port ?? 8080);
    this.port = this.#server.addr.port;
    this.#running = this.#run();
    options.onListen?.(this.port);
  }

  /** Accepts no more connections, and resolves when the requests that are being answered have been, or were cut after 2 s. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    const grace = setTimeout(() => this.#connections.abort(), GRACE_MS);
    await this.#server.shutdown().catch(() => {}); // it has failed, which was reported
    clearTimeout(grace);
    await this.#running;
  }

  #listen(port: number): Deno.HttpServer<Deno.NetAddr> {
    const { hostname = "127.0.0.1" } = this.#options;
    this.#connections = new AbortController();
    const { signal } = this.#connections;
    return Deno.serve({ port, hostname, signal, onListen: () => {} }, this.#handler);
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        await this.#server.finished;
      } catch (cause) {
        this.#connections.abort();
        this.#report(cause);
        await this.#again();
      }
    }
  }

  /** Listens again, or is stopped before. */
  async #again(): Promise<void> {
    const { signal } = this.#stop;
    for (;;) {
      await sleep(AGAIN_MS, { signal }).catch(() => {}); // it was aborted, which the next line finds
      if (signal.aborted) return;
      try {
        this.#server = this.#listen(this.port);
        return;
      } catch (cause) {
        this.#report(cause);
      }
    }
  }

  #report(cause: unknown): void {
    const { onError = (error) => this.#reporter.report("server", error) } = this.#options;
    const error = new InformerError(`Cannot accept connections on port ${this.port}; listening again in 1 s`, {
      cause,
    });
    callObserver(() => onError(error));
  }
}
