import { nextTurn } from "../../async/turns.ts";
import { Namespace, Node, Pod, type Pod as PodObject } from "../../kinds/core/v1.ts";
import { churn, type ChurnOptions, type FakeApiServer, namespace, node, pods } from "../../testing/mod.ts";
import { HttpServer } from "../../deno/run_manager.ts";
import { errorLine } from "../../errors/errors.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { UsageError } from "../errors/explain_error.ts";

/** The first pods are in the namespace "default", in which commands look without -n and -A. */
const IN_DEFAULT = 20;

/** The number of pods that are created in one turn. */
const AT_A_TIME = 500;

/** The pods that {@linkcode fillFakeServer} creates. */
interface Filling {
  /** Number of pods. */
  readonly count: number;
  /** The same seed, the same objects. @default {1} */
  readonly seed?: number;
  /** Ends it early. */
  readonly signal?: AbortSignal;
  /** Called with the number of pods so far, between turns. */
  readonly onProgress?: (made: number) => void;
}

/** Creates pods on a fake server, and the namespaces and nodes that they are in; a few hundred in each turn. */
export async function fillFakeServer(server: FakeApiServer, filling: Filling): Promise<void> {
  const { count, seed = 1, signal, onProgress } = filling;
  const namespaces = new Set(["default", "kube-system"]);
  const nodes = new Set<string>();
  let made = 0;
  for (const pod of pods(count, seed)) {
    const { namespace: own = "default" } = pod.metadata;
    const where = made++ < IN_DEFAULT ? "default" : own;
    server.create(Pod, { ...pod, metadata: { ...pod.metadata, namespace: where } });
    namespaces.add(where);
    if (pod.spec.nodeName !== undefined) nodes.add(pod.spec.nodeName);
    if (made % AT_A_TIME !== 0 || made === count) continue;
    onProgress?.(made);
    await nextTurn();
    if (signal?.aborted) return;
  }
  for (const name of namespaces) {
    if (server.get(Namespace, name) === undefined) server.create(Namespace, namespace({ name }));
  }
  for (const name of nodes) server.create(Node, node({ name }));
}

/**
 * Serves `handler` on a port of loopback; 0 is any free one. Failures of the server, which listens again, are written
 * to `terminal`.
 *
 * @throws {UsageError} when the port is out of range, or this program may not listen. @throws {Error} when it is taken.
 */
export function listen(port: number, handler: Deno.ServeHandler<Deno.NetAddr>, terminal: Terminal): HttpServer {
  if (port > 65_535) throw new UsageError(`--port must be at most 65535, found ${port}`);
  try {
    return new HttpServer(handler, { port, onError: (error) => terminal.say(`error: ${errorLine(error)}`) });
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) {
      throw new UsageError(`this program may not listen; run Deno with --allow-net=127.0.0.1`, { cause: error });
    }
    const reason = error instanceof Deno.errors.AddrInUse ? "is taken" : "cannot be used";
    throw new Error(`port ${port} ${reason}; choose another, or 0 for any free one`, { cause: error });
  }
}

const TICK_MS = 10;

/** Changes pods of a fake server at a steady rate. */
export class SteadyChurn {
  readonly #step: () => void;
  readonly #perSecond: number;
  readonly #forMs: number;
  /** Set while the changes run. */
  #timer: ReturnType<typeof setInterval> | undefined;
  /** Time of {@linkcode SteadyChurn.start}, by the monotonic clock. */
  #startedAt = 0;
  /** Changes made so far; at most those due by the rate. */
  #done = 0;

  /** Changes `perSecond` pods, by default without an end. */
  constructor(
    server: FakeApiServer,
    perSecond: number,
    { forMs = Infinity, ...options }: Pick<ChurnOptions<PodObject>, "mix" | "seed"> & { readonly forMs?: number } = {},
  ) {
    this.#perSecond = perSecond;
    this.#forMs = forMs;
    this.#step = churn(server, { resource: Pod, ...options });
  }

  /** Number of changes so far. */
  get done(): number {
    return this.#done;
  }

  /** Starts the changes. The average rate is exact, even if timers are late. */
  start(): void {
    if (this.#perSecond <= 0) return;
    this.#startedAt = performance.now();
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
  }

  /** Stops the changes. */
  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #tick(): void {
    const elapsed = performance.now() - this.#startedAt;
    const due = Math.floor((Math.min(elapsed, this.#forMs) * this.#perSecond) / 1_000);
    while (this.#done < due) {
      this.#step();
      this.#done++;
    }
    if (elapsed >= this.#forMs) this.stop();
  }
}
