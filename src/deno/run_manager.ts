import type { Abortable } from "../api/options.ts";
import { DerivedController } from "../async/derived_controller.ts";
import { HttpServer, type HttpServerOptions } from "./http_server.ts";
import { shutdownSignal } from "./shutdown_signal.ts";

/** A manager as {@linkcode runManager} runs it: `Manager` of `@kube/informer/reconcile` is one. */
export interface RunnableManager {
  /** Runs until the signal aborts, and settles when everything has stopped. */
  run(options: Abortable): Promise<void>;
  /** Answers probes. */
  fetch(request: Request): Response | Promise<Response>;
}

/** Options for {@linkcode runManager}. */
export interface RunManagerOptions extends Abortable, HttpServerOptions {
  /**
   * The address to listen on. The default is reached by the entire network, as kubelets need it.
   *
   * @default {"::", all addresses of IPv6 and IPv4; "0.0.0.0" where that cannot be listened on}
   */
  readonly hostname?: string;
}

/**
 * Runs a manager until SIGINT, SIGTERM or `signal`, and serves its probes and metrics meanwhile. It resolves when the manager has
 * stopped in order. A port that fails, as when the open files are used up, is opened again, as {@linkcode HttpServer} does, while the
 * manager runs on. A second signal ends the process at once, as in {@linkcode shutdownSignal}.
 *
 * Needs `--allow-net=<hostname>:<port>`, by default `--allow-net=[::]:8080` or, for IPv4 alone, `--allow-net=0.0.0.0:8080`.
 *
 * @throws {Deno.errors.AddrInUse} when the port is in use.
 * @throws the error of the manager.
 *
 * @example
 * ```ts ignore
 * import { connect, runManager } from "@kube/informer/deno";
 * import { Pod } from "@kube/informer/kinds/core/v1";
 * import { Manager, Reconciler } from "@kube/informer/reconcile";
 *
 * using client = await connect();
 * const pods = new Reconciler(client, Pod, (key) => console.log(key));
 * await runManager(new Manager({ reconcilers: [pods] }), { port: 8080 });
 * ```
 */
export async function runManager(manager: RunnableManager, options: RunManagerOptions = {}): Promise<void> {
  using shutdown = shutdownSignal();
  using stop = new DerivedController(shutdown, options.signal);
  const serve = (hostname: string): HttpServer =>
    new HttpServer((request) => manager.fetch(request), { ...options, hostname });
  await using _server = options.hostname === undefined ? listenOnAll(serve) : serve(options.hostname);
  await manager.run({ signal: stop.signal });
}

/** Listens on all addresses: of both families, or of IPv4 where the host or the permissions have no IPv6. */
function listenOnAll<S>(listen: (hostname: string) => S): S {
  try {
    return listen("::");
  } catch (error) {
    if (error instanceof Deno.errors.AddrInUse) throw error;
    return listen("0.0.0.0");
  }
}
