/**
 * Runs a manager in a process: signals, and a port for probes and metrics.
 *
 * {@linkcode runManager} is the entry point. The manager stops its parts in order; this file only aborts it, waits, and
 * closes the server last.
 *
 * @module
 */
import type { Abortable } from "../../engine/api/call_options.ts";
import { callObserver, DerivedController } from "../../engine/async/signals.ts";
import { sleep } from "../../engine/async/time.ts";
import { type AccessRight, rightsText } from "../../engine/client/access_reviews.ts";
import { checkDurations } from "../../engine/errors/checks.ts";
import { ConsoleReporter } from "../../engine/errors/errors.ts";
import { InformerError } from "../../engine/errors/informer_error.ts";
import { checkNames } from "../../engine/errors/option_names.ts";
import type { TlsMaterial } from "./runtime/connections.ts";
import { endSignals, failureKind, nodeProcess } from "./runtime/runtime.ts";
import { type FetchHandler, isBrokenBody, type PortServer, servePort } from "./runtime/servers.ts";
import { type CertificateFiles, ServedCertificate } from "./served_certificate.ts";

/** The time from a failure to the next attempt to listen, in milliseconds. */
const AGAIN_MS = 1_000;

/** The default of `graceMs`, for webhooks the default timeout of a review, in milliseconds. */
const GRACE_MS = { requests: 2_000, reviews: 10_000 };

/** Options for {@linkcode FetchServer.listen}. */
export interface FetchServerOptions {
  /** The port. 0 takes a free port. @default {8080} */
  readonly port?: number;
  /** The address to listen on. `"0.0.0.0"` means all IPv4 addresses. @default {"127.0.0.1"} */
  readonly hostname?: string;
  /**
   * Serves HTTPS with this certificate: PEM texts, or files. New files are used for new connections, without a restart.
   * If the runtime cannot replace a certificate, such as Deno 2.3.1, `onError` is called at the start.
   * @default {plain HTTP}
   */
  readonly certificate?: CertificateFiles | Required<Pick<TlsMaterial, "cert" | "key">>;
  /** How long open requests may take to finish after the disposal, in milliseconds. @default {2_000} */
  readonly graceMs?: number;
  /** Called with the port when it first opens. */
  readonly onListen?: (port: number) => void;
  /**
   * Called with each error that the handler throws. The request then gets 500. A request whose body breaks off is no
   * failure of the handler: it gets 400. Also called with the reason each time before the server listens again. By
   * default, the server writes both to the console.
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
 * No request ends the process. If the handler leaves a body unread, the server reads at most 1 MiB or 5 s more of it
 * after the response, and then closes the connection. Only on Deno over plain HTTP, the runtime reads the rest, without
 * a limit, and keeps nothing of it.
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
  readonly #certificate: ServedCertificate | undefined;
  readonly #running: Promise<void>;
  #ended: Promise<void> | undefined;
  #isListening = true;

  private constructor(
    handler: FetchHandler,
    options: RequiredOptions,
    first: Listening,
    certificate: ServedCertificate | undefined,
  ) {
    this.#handler = handler;
    this.#options = options;
    this.#server = first.server;
    this.#certificate = certificate;
    certificate?.follow(first.server.replaceKeys && ((keys) => this.#server.replaceKeys?.(keys)));
    this.#connections = first.connections;
    this.port = first.server.port;
    this.#running = this.#run();
    options.onListen?.(this.port);
  }

  /**
   * Listens on a port, and resolves when it is open.
   *
   * @throws {InformerError} if the port is in use.
   * @throws {Error} with the name `NotCapable` if Deno may not listen there.
   */
  static async listen(handler: FetchHandler, options: FetchServerOptions = {}): Promise<FetchServer> {
    checkNames("serve HTTP", options, "port hostname certificate graceMs onListen onError");
    checkDurations("serve HTTP", { graceMs: options.graceMs ?? 0 });
    const reporter = new ConsoleReporter();
    const { onError = (error: unknown) => reporter.report("server", error) } = options;
    const guarded: FetchHandler = async (request, connection) => {
      try {
        return await handler(request, connection);
      } catch (cause) {
        if (isBrokenBody(cause)) return new Response("Bad Request", { status: 400 });
        const { pathname } = new URL(request.url);
        callObserver(() => onError(new InformerError(`Cannot answer ${request.method} ${pathname}`, { cause })));
        return new Response("Internal Server Error", { status: 500 });
      }
    };
    const certificate = options.certificate &&
      await ServedCertificate.read(options.certificate, (error) => callObserver(() => onError(error)));
    const { port = 8080 } = options;
    const first = await listen(guarded, options, port, certificate).catch((cause) => {
      if (failureKind(cause) !== "in use") throw cause;
      const remedy = "Choose another port, or 0 for any free port";
      throw new InformerError(`Cannot listen on port ${port}: it is in use. ${remedy}`, { cause });
    });
    return new FetchServer(guarded, { ...options, onError }, first, certificate);
  }

  /** `false` from a failure until the server listens again, and after the disposal has begun. */
  get isListening(): boolean {
    return this.#isListening;
  }

  /**
   * Accepts no more connections, and resolves when open requests end. Requests that still arrive on open
   * connections are answered too. After `graceMs`, it ends all connections. Deno over plain HTTP cannot: there, open
   * requests get 503 then, and a response that is being streamed ends with its stream or the process.
   */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#ended ??= this.#end();
  }

  async #end(): Promise<void> {
    this.#isListening = false;
    this.#stop.abort();
    this.#certificate?.[Symbol.dispose]();
    const grace = setTimeout(() => this.#connections.abort(), this.#options.graceMs ?? GRACE_MS.requests);
    await this.#server.shutdown().catch(() => {}); // it has failed, which was reported
    clearTimeout(grace);
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        await this.#server.finished;
      } catch (cause) {
        this.#isListening = false;
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
        const { server, connections } = await listen(this.#handler, this.#options, this.port, this.#certificate);
        this.#isListening = true;
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
      { cause },
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

async function listen(
  handler: FetchHandler,
  { hostname = "127.0.0.1" }: FetchServerOptions,
  port: number,
  certificate: ServedCertificate | undefined,
): Promise<Listening> {
  const connections = new AbortController();
  const options = { port, hostname, keys: certificate?.keys, signal: connections.signal };
  return { server: await servePort(handler, options), connections };
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
  /** Returns the rights that are missing. They are named at the start. */
  missingRights?(options: Abortable): Promise<readonly AccessRight[]>;
  /** Returns the current phase. With webhooks, `/readyz` does not wait for the phase after `"syncing"`. */
  status?(): { readonly phase: string };
}

/** Webhooks that {@linkcode runManager} serves. */
export interface ServedWebhooks extends Omit<FetchServerOptions, "onError"> {
  /** Answers the API server, such as `Webhooks` from `@kube/informer/webhooks`. */
  readonly handler: {
    /** Answers a review. */
    fetch(request: Request): Response | Promise<Response>;
    /** Returns metrics in the OpenMetrics format, for `/metrics`. */
    metricsText?(): string;
  };
  /** The certificate, for the name of the Service: `"NAME.NAMESPACE.svc"`. */
  readonly certificate: NonNullable<FetchServerOptions["certificate"]>;
  /** The port. 0 takes a free port. @default {9443} */
  readonly port?: number;
  /** The address to listen on. @default {"::", otherwise "0.0.0.0"} */
  readonly hostname?: string;
  /** How long running reviews may take to finish at the end, in milliseconds. @default {10_000} */
  readonly graceMs?: number;
}

/** Options for {@linkcode runManager}. */
export interface RunManagerOptions extends Abortable, Omit<FetchServerOptions, "certificate" | "graceMs"> {
  /**
   * Webhooks to serve over HTTPS on another port, in every replica and before the caches have synced.
   *
   * - `/readyz` returns 503 when their port does not listen. It does not wait for the caches: a list that needs the
   *   conversion by this process would otherwise wait for its own end.
   * - At the end, `/readyz` returns 503, their port closes, running reviews finish, and then the manager stops.
   * - Their metrics are part of `/metrics`.
   */
  readonly webhooks?: ServedWebhooks;
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
 * `--allow-net=0.0.0.0:8080`. See the guide: [Run a controller](../../../docs/controllers/run.md).
 *
 * At the start it asks the server which rights the manager lacks, and names them in one line to `onError`, or on the
 * console. The manager runs meanwhile, because rights may be granted later. `/readyz` names them too.
 *
 * With `webhooks` it also serves HTTPS, by default on port 9443. This needs `--allow-net=[::]:9443`, and `--allow-read`
 * for the certificate.
 *
 * @throws {InformerError} if the port is in use.
 * @throws {InformerError} if the certificate for the webhooks cannot be used.
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
  checkNames("run a manager", options, "hostname signal port onListen onError webhooks");
  using shutdown = shutdownSignal();
  const { signal, webhooks, ...rest } = options;
  using stop = new DerivedController(shutdown, signal);
  const opened: { reviews?: FetchServer } = {}; // probes are answered before
  const probe: FetchHandler = (request) =>
    webhooks === undefined ? manager.fetch(request) : probeBoth(request, manager, webhooks, opened.reviews);
  await using _server = await listenOnAll(probe, rest);
  void reportRights(manager, rest, stop.signal);
  if (webhooks === undefined) return await manager.run({ signal: stop.signal });
  const { handler, ...its } = webhooks;
  await using served = await listenOnAll(
    (request) => handler.fetch(request),
    { port: 9443, graceMs: GRACE_MS.reviews, onError: options.onError, ...its },
  );
  opened.reviews = served;
  const job = new AbortController();
  const end = (): void => void served[Symbol.asyncDispose]().then(() => job.abort(stop.signal.reason));
  if (stop.signal.aborted) end();
  else stop.signal.addEventListener("abort", end, { once: true });
  await manager.run({ signal: job.signal });
}

/** Reports the rights that the manager lacks. Nothing waits for it, because a server may answer no reviews. */
async function reportRights(manager: RunnableManager, rest: FetchServerOptions, signal: AbortSignal): Promise<void> {
  const { onError = (error: unknown) => new ConsoleReporter().report("manager", error) } = rest;
  try {
    const missing = await manager.missingRights?.({ signal }) ?? [];
    const what = `Cannot do all of the manager's work: it lacks the rights to ${rightsText(missing)}. Grant them`;
    if (missing.length > 0) callObserver(() => onError(new InformerError(what)));
  } catch (cause) {
    if (!signal.aborted) callObserver(() => onError(new InformerError("Cannot review the rights", { cause })));
  }
}

/** Answers a probe for a manager and webhooks. */
async function probeBoth(
  request: Request,
  manager: RunnableManager,
  { handler }: ServedWebhooks,
  reviews: FetchServer | undefined,
): Promise<Response> {
  const { pathname } = URL.parse(request.url) ?? {};
  const text = (status: number, line: string): Response =>
    new Response(`${line}\n`, { status, headers: { "content-type": "text/plain; charset=utf-8" } });
  if (pathname === "/readyz") {
    if (!reviews?.isListening) return text(503, "the webhooks do not accept connections");
    if (["created", "syncing"].includes(manager.status?.().phase ?? "")) return text(200, "ok\nthe caches are syncing");
  }
  const response = await manager.fetch(request);
  if (pathname !== "/metrics" || request.method !== "GET" || handler.metricsText === undefined) return response;
  return new Response((await response.text()).replace(/# EOF\n$/, "") + handler.metricsText(), response);
}

/** Listens on the address given, or on all: of both families, or of IPv4 if the host or the permissions lack IPv6. */
async function listenOnAll(handler: FetchHandler, options: FetchServerOptions): Promise<FetchServer> {
  const { hostname = "::" } = options;
  try {
    return await FetchServer.listen(handler, { ...options, hostname });
  } catch (error) {
    if (options.hostname !== undefined || error instanceof InformerError) throw error;
    return await FetchServer.listen(handler, { ...options, hostname: "0.0.0.0" });
  }
}
