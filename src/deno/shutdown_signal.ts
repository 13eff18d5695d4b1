/** Exit codes of a process that a signal has ended, as shells report them: 128 and the signal's number. */
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143, SIGBREAK: 149 } as const;

/** The parts of the runtime that {@linkcode shutdownSignal} uses; tests replace them. */
export interface SignalHost {
  /** The operating system. */
  readonly os: string;
  /** Calls `handler` at each signal. */
  readonly addSignalListener: (signal: Deno.Signal, handler: () => void) => void;
  /** Undoes {@linkcode SignalHost.addSignalListener}. */
  readonly removeSignalListener: (signal: Deno.Signal, handler: () => void) => void;
  /** Ends the process. */
  readonly exit: (code: number) => void;
}

const DENO: SignalHost = {
  os: Deno.build.os,
  addSignalListener: Deno.addSignalListener,
  removeSignalListener: Deno.removeSignalListener,
  exit: Deno.exit,
};

/**
 * Returns a signal that aborts when the process is asked to end: by Ctrl-C (SIGINT) or by SIGTERM, which Kubernetes sends to a
 * pod that it stops. A second one ends the process at once, with exit code 130 or 143. Windows has SIGINT and SIGBREAK only.
 *
 * It needs no permission, and does not keep the process alive. Disposing it removes its listeners, so that signals end the
 * process again as usual.
 *
 * @example
 * ```ts ignore
 * import { SharedInformerFactory } from "@kube/informer";
 * import { connect, shutdownSignal } from "@kube/informer/deno";
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
  return shutdownSignalOf(DENO);
}

/** As {@linkcode shutdownSignal}, with the signals of `host`. */
export function shutdownSignalOf(host: SignalHost): AbortSignal & Disposable {
  const controller = new AbortController();
  // Deno knows SIGTERM on Windows by name, and throws when it is listened to.
  const names = host.os === "windows" ? ["SIGINT", "SIGBREAK"] as const : ["SIGINT", "SIGTERM"] as const;
  const listeners = names.map((name) => {
    const listener = (): void => {
      if (controller.signal.aborted) return host.exit(EXIT_CODES[name]);
      controller.abort(new DOMException(`The process received ${name}`, "AbortError"));
    };
    host.addSignalListener(name, listener);
    return { name, listener };
  });
  return Object.assign(controller.signal, {
    [Symbol.dispose]: (): void => {
      for (const { name, listener } of listeners.splice(0)) host.removeSignalListener(name, listener);
    },
  });
}
