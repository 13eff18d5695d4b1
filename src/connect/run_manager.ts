/**
 * Runs a manager in a process: signals, and a port for probes and metrics.
 *
 * {@linkcode runManager} is the entry point. The manager stops its parts in order; this file only aborts it, waits, and
 * closes the server last.
 *
 * @module
 */
import type { Abortable } from "../api/options.ts";
import { callObserver, DerivedController } from "../async/signals.ts";
import { sleep } from "../async/time.ts";
import { ConsoleReporter } from "../errors/errors.ts";
import { InformerError } from "../errors/informer_error.ts";
import { checkNames } from "../errors/option_names.ts";
import { endSignals, failureKind, nodeProcess } from "./runtime/runtime.ts";
import { type FetchHandler, type PortServer, servePort } from "./runtime/servers.ts";

/** The time from a failure to the next attempt to listen, in milliseconds. */
const AGAIN_MS = 1_000;

/** The time that requests have to be answered once the server is disposed, in milliseconds. */
const GRACE_MS = 2_000;

/** Options for {@linkcode FetchServer.listen}. */
export interface FetchServerOptions {
  /** The port. 0 takes a free port. @default {8080} */
  readonly port?: number;
  /** The address to listen on. `"0.0.0.0"` means all IPv4 addresses. @default {"127.0.0.1"} */
  readonly hostname?: string;
  /** Called with the port when it first opens. */
  readonly onListen?: (port: number) => void;
  /**
   * Called with each error that the handler throws. The request then gets 500. Also called with the reason each time
   * before the server listens again. By default, the server writes both to the console.
   */
  readonly onError?: (error: unknown) => unknown;
}

type RequiredOptions = FetchServerOptions & Required<Pick<FetchServerOptions, "onError">>;

/**
 * Serves a function from `Request` to `Response`, on Deno, Node and Bun, and listens again after a failure. With
 * `Deno.serve`, the first connection that cannot be accepted ends the server forever, and your process with it. This
 * happens if clients use up the process's open files.
 *
 * After a failure, it closes its connections, because they may have used up the open files. Then it tries to listen
 * again each second until it succeeds. On Deno it needs `--allow-net=<hostname>:<port>`.
 *
 * @example
 * ```ts ignore
 * import { FetchServer } from "@kube/informer/connect";
 *
 * await using server = await FetchServer.listen(() => new Response("ok"), { port: 8080, onListen: console.log });
 * ```
 */
export class FetchServer implements AsyncDisposable {
  /** The port. */
  readonly port: number;
  readonly #handler: FetchHandler;
  readonly #options: RequiredOptions;
  /** Aborts with the disposal. */
  readonly #stop = new AbortController();
  /** Aborts with the connections of the present server. */
  #connections: AbortController;
  #server: PortServer;
  readonly #running: Promise<void>;

  private constructor(handler: FetchHandler, options: RequiredOptions, first: Listening) {
    this.#handler = handler;
    this.#options = options;
    this.#server = first.server;
    this.#connections = first.connections;
    this.port = first.server.port;
    this.#running = this.#run();
    options.onListen?.(this.port);
  }

  /**
   * Listens on a port, and resolves when it is open.
   *
   * @throws {Error} with the name `AddrInUse` on Deno, or the code `EADDRINUSE`, if the port is in use.
   * @throws {Error} with the name `NotCapable` if Deno may not listen there.
   */
  static async listen(handler: FetchHandler, options: FetchServerOptions = {}): Promise<FetchServer> {
    checkNames("serve HTTP", options, "port hostname onListen onError");
    const reporter = new ConsoleReporter();
    const { onError = (error: unknown) => reporter.report("server", error) } = options;
    const guarded: FetchHandler = async (request, connection) => {
      try {
        return await handler(request, connection);
      } catch (cause) {
        const { pathname } = new URL(request.url);
        callObserver(() => onError(new InformerError(`Cannot answer ${request.method} ${pathname}`, { cause })));
        return new Response("Internal Server Error", { status: 500 });
      }
    };
    return new FetchServer(guarded, { ...options, onError }, await listen(guarded, options, options.port ?? 8080));
  }

  /** Accepts no more connections, and resolves when open requests have finished. After 2 s, it cuts the rest. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    const grace = setTimeout(() => this.#connections.abort(), GRACE_MS);
    await this.#server.shutdown().catch(() => {}); // it has failed, which was reported
    clearTimeout(grace);
    await this.#running;
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
        const { server, connections } = await listen(this.#handler, this.#options, this.port);
        this.#server = server;
        this.#connections = connections;
        return;
      } catch (cause) {
        this.#report(cause);
      }
    }
  }

  #report(cause: unknown): void {
    const { onError } = this.#options;
    const error = new InformerError(
      `Cannot accept connections on port ${this.port}, so the server listens again in 1 s`,
      {
        cause,
      },
    );
    callObserver(() => onError(error));
  }
}

/** A port that is open. */
interface Listening {
  readonly server: PortServer;
  /** Aborts its connections. */
  readonly connections: AbortController;
}

async function listen(handler: FetchHandler, options: FetchServerOptions, port: number): Promise<Listening> {
  const { hostname = "127.0.0.1" } = options;
  const connections = new AbortController();
  return { server: await servePort(handler, { port, hostname, signal: connections.signal }), connections };
}

/** Exit codes of a process that a signal has ended, as shells report them: 128 and the signal's number. */
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143, SIGBREAK: 149 } as const;

type ShutdownName = keyof typeof EXIT_CODES;

/** The parts of the runtime that {@linkcode shutdownSignal} uses; tests replace them. */
export interface SignalHost {
  /** The operating system, as Node names it. */
  readonly platform: string;
  /** Calls `handler` at each signal. */
  readonly on: (signal: ShutdownName, handler: () => void) => unknown;
  /** Undoes {@linkcode SignalHost.on}. */
  readonly off: (signal: ShutdownName, handler: () => void) => unknown;
  /** Ends the process. */
  readonly exit: (code: number) => void;
}

/**
 * Returns a signal that aborts when the process is asked to end: by Ctrl-C (SIGINT), or by SIGTERM, which Kubernetes
 * sends before it stops a pod. A second signal ends the process immediately, with exit code 130 or 143. On Windows, the
 * signals are SIGINT and SIGBREAK.
 *
 * It needs no permission, and does not keep the process alive. If you dispose it, signals end the process as usual
 * again.
 *
 * @example
 * ```ts ignore
 * import { SharedInformerFactory } from "@kube/informer";
 * import { connect, shutdownSignal } from "@kube/informer/connect";
 * import { Pod } from "@kube/informer/kinds/core/v1";
 *
 * using signal = shutdownSignal();
 * using client = await connect();
 * await using informers = new SharedInformerFactory(client);
 * informers.forResource(Pod).addEventHandler({ onAdd: ({ key }) => console.log("added", key) });
 * await informers.run({ signal });
 * ```
 */
export function shutdownSignal(): AbortSignal & Disposable {
  return shutdownSignalOf(nodeProcess());
}

/** As {@linkcode shutdownSignal}, with the signals of `host`. */
export function shutdownSignalOf(host: SignalHost): AbortSignal & Disposable {
  const controller = new AbortController();
  const listeners = endSignals(host.platform === "win32").map((name) => {
    const listener = (): void => {
      if (controller.signal.aborted) return host.exit(EXIT_CODES[name]);
      controller.abort(new DOMException(`The process received ${name}`, "AbortError"));
    };
    host.on(name, listener);
    return { name, listener };
  });
  return Object.assign(controller.signal, {
    [Symbol.dispose]: (): void => {
      for (const { name, listener } of listeners.splice(0)) host.off(name, listener);
    },
  });
}

/** A manager that {@linkcode runManager} can run, such as `Manager` from `@kube/informer/reconcile`. */
export interface RunnableManager {
  /** Runs until the signal aborts, and settles when everything has stopped. */
  run(options: Abortable): Promise<void>;
  /** Responds to probes and `/metrics`. */
  fetch(request: Request): Response | Promise<Response>;
}

/** Options for {@linkcode runManager}. */
export interface RunManagerOptions extends Abortable, FetchServerOptions {
  /**
   * The address to listen on. The default is every IPv6 and IPv4 address, because the kubelet connects from outside. If
   * it cannot listen there, it uses `"0.0.0.0"`.
   * @default {"::"}
   */
  readonly hostname?: string;
}

/**
 * Runs a manager until SIGINT, SIGTERM or `signal`, and serves its probes and metrics. It resolves when the manager has
 * stopped in order. A second signal ends the process immediately, as in {@linkcode shutdownSignal}. If the port fails,
 * the manager continues to run, and the port opens again, as in {@linkcode FetchServer}.
 *
 * On Deno it needs `--allow-net=<hostname>:<port>`, by default `--allow-net=[::]:8080`, or for IPv4
 * `--allow-net=0.0.0.0:8080`. See the guide: [Run a controller](../../docs/controllers/run.md).
 *
 * @throws {Error} with the name `AddrInUse` on Deno, or the code `EADDRINUSE`, if the port is in use.
 * @throws the manager's error.
 *
 * @example
 * ```ts ignore
 * import { connect, runManager } from "@kube/informer/connect";
 * import { Pod } from "@kube/informer/kinds/core/v1";
 * import { Manager, Reconciler } from "@kube/informer/reconcile";
 *
 * using client = await connect();
 * const pods = new Reconciler(client, Pod, ({ key }) => console.log(key));
 * await runManager(new Manager({ reconcilers: [pods] }), { port: 8080 });
 * ```
 */
export async function runManager(manager: RunnableManager, options: RunManagerOptions = {}): Promise<void> {
  checkNames("run a manager", options, "hostname signal port onListen onError");
  using shutdown = shutdownSignal();
  const { signal, ...rest } = options;
  using stop = new DerivedController(shutdown, signal);
  const listen = (hostname: string): Promise<FetchServer> =>
    FetchServer.listen((request) => manager.fetch(request), { ...rest, hostname });
  await using _server = await (options.hostname === undefined ? listenOnAll(listen) : listen(options.hostname));
  await manager.run({ signal: stop.signal });
}

/** Listens on all addresses: of both families, or of IPv4 where the host or the permissions have no IPv6. */
async function listenOnAll<S>(listen: (hostname: string) => Promise<S>): Promise<S> {
  try {
    return await listen("::");
  } catch (error) {
    if (failureKind(error) === "in use") throw error;
    return await listen("0.0.0.0");
  }
}
