import { abortable } from "@std/async/abortable";
import { isAbortOf } from "../../async/is_abort_of.ts";
import { Client } from "../../client/client.ts";
import type { ControllerFunction } from "../plan/options.ts";

/** Answers the requests of a process. */
export type Answer = (process: ControllerProcess, request: Request) => Promise<Response>;

/** One process of a controller: started once, then stopped or crashed. */
export class ControllerProcess {
  /** The name of the process: `"a-1"`. */
  readonly identity: string;
  readonly #client: Client;
  readonly #stop = new AbortController();
  #state: "running" | "stopping" | "crashed" | "ended" = "running";
  #ended: Promise<void> = Promise.resolve();
  /** Set while the network is cut off. */
  #cutOff: PromiseWithResolvers<void> | undefined;

  /** The part of the exchanges about Leases that is lost; undefined if none is. */
  lostRenewals: "requests" | "answers" | undefined;

  /** Creates a process, which runs nothing yet. */
  constructor(identity: string, answer: Answer) {
    this.identity = identity;
    this.#client = new Client({
      server: "http://fake",
      // As over a network, a process that aborts a request waits for nothing.
      transport: { fetch: (request) => abortable(answer(this, request), request.signal) },
      userAgent: identity,
    });
  }

  /** True until the process has ended or crashed. */
  get isRunning(): boolean {
    return this.#state === "running" || this.#state === "stopping";
  }

  /** True when the process has crashed: its requests are never answered. */
  get hasCrashed(): boolean {
    return this.#state === "crashed";
  }

  /** The reason with which its signal aborts. */
  get reason(): unknown {
    return this.#stop.signal.reason;
  }

  /** Starts the controller. Calls `onExit` when it ends without having been stopped, with its error if it failed. */
  start<World>(controller: ControllerFunction<World>, world: World, onExit: (error: unknown) => void): void {
    const { signal } = this.#stop;
    const exit = (error: unknown): void => {
      if (this.#state === "crashed") return;
      const expected = this.#state === "stopping" && (error === undefined || isAbortOf(signal, error));
      this.#state = "ended";
      if (!expected) onExit(error ?? new Error("the controller returned before its signal had aborted"));
    };
    const run = async (): Promise<void> => {
      await controller({ client: this.#client, signal, identity: this.identity, world });
    };
    this.#ended = run().then(
      () => exit(undefined),
      (error) => exit(error ?? new Error("the controller failed without an error")),
    );
  }

  /** Stops the process by its signal. */
  stop(): void {
    if (this.#state !== "running") return;
    this.#state = "stopping";
    this.#abort("stopped");
  }

  /**
   * Ends the process at once: none of its requests arrives any more, and none is answered. With `later`, its signal aborts
   * only when the answer that it has just received was handled.
   */
  crash(later = false): void {
    if (!this.isRunning) return;
    this.#state = "crashed";
    if (later) setTimeout(() => this.#abort("crashed"), 0);
    else this.#abort("crashed");
  }

  /** Cuts the network off until the returned value is disposed. */
  cutOff(): Disposable {
    const cutOff = this.#cutOff ??= Promise.withResolvers<void>();
    return {
      [Symbol.dispose]: (): void => {
        if (this.#cutOff === cutOff) this.#cutOff = undefined;
        cutOff.resolve();
      },
    };
  }

  /** Resolves when the network is there. */
  async connected(): Promise<void> {
    while (this.#cutOff !== undefined) await this.#cutOff.promise;
  }

  /** Resolves when the controller has returned; never rejects. Call it after {@linkcode dispose} for a crashed process. */
  ended(): Promise<void> {
    return this.#ended;
  }

  /** Aborts what is left of the requests of the process. */
  dispose(): void {
    this.#client[Symbol.dispose]();
  }

  #abort(how: "stopped" | "crashed"): void {
    this.#stop.abort(
      new DOMException(
        `The process ${this.identity} ${how === "crashed" ? "has crashed" : "was stopped"}`,
        "AbortError",
      ),
    );
  }
}

/** Waits for the abort of a request that is never answered, and rejects with its reason. */
export function neverAnswered(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
