/**
 * Managers: informers, reconcilers, an elector and recorders of events, run by one call and stopped in order, with probes and
 * metrics.
 *
 * {@linkcode Manager} is the entry point. It makes none of its parts, and knows neither signals of the process nor sockets.
 *
 * @module
 */
import { isForbidden, isNotFound, isUnauthorized } from "../api/errors.ts";
import type { KubernetesObject } from "../api/object.ts";
import type { Abortable } from "../api/options.ts";
import { resourceName } from "../api/resource.ts";
import { DerivedController } from "../async/derived_controller.ts";
import { callObserver } from "../async/report_uncaught.ts";
import { errorLine } from "../errors/error_line.ts";
import { redactSecrets } from "../errors/redact_secrets.ts";
import type { SharedInformerFactory } from "../informer/shared_informer_factory.ts";
import type { LeaderElector } from "./election/leader_elector.ts";
import { UnfinishedWorkError } from "./election/leadership.ts";
import type { EventRecorder } from "./events/event_recorder.ts";
import { answerProbe } from "../metrics/answer_probe.ts";
import { managerMetrics } from "./manager_metrics.ts";
import type { ManagerPhase, ManagerStatus } from "./manager_status.ts";
import type { ReconcilerRunOptions } from "./options.ts";
import type { Reconciler } from "./reconciler.ts";

/** The parts of a manager. It runs them and disposes them; the client belongs to the caller. */
export interface ManagerOptions {
  /** The reconcilers. With an elector they run only while this process leads; their informers run before that, too. */
  readonly reconcilers?: readonly Pick<
    Reconciler<KubernetesObject>,
    "name" | "informers" | "run" | "status" | typeof Symbol.asyncDispose
  >[];
  /** Factories of further informers. Those of the reconcilers need not be named. @default {none} */
  readonly informers?: readonly SharedInformerFactory[];
  /** Elects one of the processes that run this program. @default {none: every process reconciles} */
  readonly elector?: LeaderElector;
  /** The recorders of events of the reconcilers. @default {none} */
  readonly recorders?: readonly EventRecorder[];
  /** Called with each phase when it begins. */
  readonly onPhase?: (phase: ManagerPhase) => void;
}

/**
 * Runs informers, reconcilers, an elector and recorders, and stops them in order.
 *
 * - **Start**: the informers of all parts start and sync; then the process waits for leadership, where there is an elector, with
 *   complete caches; then the reconcilers run.
 * - **Stop**, by the signal, a failure of a part, or lost leadership: reconcilers take no further key, reconciles in flight
 *   have the signal and `graceMs` of their reconciler, and their requests end at once when leadership is lost; then recorders write what waits, the lease is released, and the
 *   informers stop. It takes at most the longest `graceMs` (30 s), the longest `flushMs` of a recorder (5 s) and the
 *   `renewDeadlineMs` of the elector (10 s), one after the other, and then the `graceMs` of handlers of informers.
 * - **A reconcile that does not return in time** is reported by an {@linkcode UnfinishedWorkError}, and the lease is not released:
 *   it expires. The process should exit.
 *
 * @example
 * ```ts
 * import { Client } from "@kube/informer";
 * import { ConfigMap } from "@kube/informer/kinds/core/v1";
 * import { LeaderElector, Manager, Reconciler } from "@kube/informer/reconcile";
 * import { FakeApiServer } from "@kube/informer/testing";
 * import { assertEquals } from "@std/assert";
 *
 * using client = new Client({ server: "http://fake", transport: new FakeApiServer(), namespace: "shop" });
 * const stop = new AbortController(); // in Deno, runManager() of "@kube/informer/deno" adds signals and a port
 * const phases: string[] = [];
 * const manager = new Manager({
 *   reconcilers: [new Reconciler(client, ConfigMap, (key) => console.log(key))],
 *   elector: new LeaderElector(client, { name: "maps" }),
 *   onPhase: (phase) => {
 *     phases.push(phase);
 *     if (phase === "running") stop.abort();
 *   },
 * });
 * await manager.run({ signal: stop.signal });
 * assertEquals(phases, ["syncing", "standby", "running", "stopping", "stopped"]);
 * ```
 */
export class Manager implements AsyncDisposable {
  readonly #reconcilers: NonNullable<ManagerOptions["reconcilers"]>;
  /** The factories of the options and of the reconcilers, each once. */
  readonly #factories: readonly SharedInformerFactory[];
  readonly #elector: LeaderElector | undefined;
  readonly #recorders: readonly EventRecorder[];
  readonly #onPhase: ManagerOptions["onPhase"];
  readonly #job = new DerivedController();
  #phase: ManagerPhase = "created";
  /** Set by the first `run()`, and by a disposal before it; settles when everything has stopped. */
  #running: Promise<void> | undefined;

  /** Starts nothing yet. */
  constructor(options: ManagerOptions) {
    const { reconcilers = [], informers = [], elector, recorders = [], onPhase } = options;
    this.#reconcilers = [...reconcilers];
    this.#factories = [...new Set([...informers, ...reconcilers.map((it) => it.informers)])];
    this.#elector = elector;
    this.#recorders = [...recorders];
    this.#onPhase = onPhase;
  }

  /**
   * Runs the manager until the signal aborts, and resolves when everything has stopped. A manager runs once.
   *
   * @throws {Error} when it runs or has run already; when an informer does not sync because the server refuses it (401, 403,
   * 404), or ends by itself; when a reconciler fails.
   * @throws {LeadershipLostError} when another process may lead.
   * @throws {UnfinishedWorkError} when a reconcile has not returned.
   */
  run(options: Abortable = {}): Promise<void> {
    if (this.#running !== undefined) {
      return Promise.reject(new Error(`Cannot run the manager: it runs or has run already (${this.#phase})`));
    }
    return this.#running = this.#run(options.signal);
  }

  /** Returns the present phase, and the status of each part. */
  status(): ManagerStatus {
    return {
      phase: this.#phase,
      informers: this.#factories.flatMap((factory) => factory.status()),
      reconcilers: this.#reconcilers.map((it) => it.status()),
      ...(this.#elector === undefined ? {} : { elector: this.#elector.status() }),
      recorders: this.#recorders.map((it) => it.status()),
    };
  }

  /**
   * Answers a probe, for `Deno.serve(manager.fetch)` or any other server.
   *
   * - `/healthz`: 200 unless the work continues though leadership was lost: see `LeaderElector.check`. The process should be restarted.
   * - `/readyz`: 200 when the caches have synced, until the manager stops. A process that waits for leadership is ready, unless
   *   the server refuses it the Lease (401, 403, 404): it can never lead.
   * - `/metrics`: the status of all parts in the OpenMetrics format.
   *
   * A failed probe is 503 with the reason as text; other paths are 404, other methods than GET and HEAD 405.
   */
  readonly fetch = (request: Request): Response =>
    answerProbe(request, {
      illness: () => this.#illness(),
      unreadiness: () => this.#unreadiness(),
      metrics: () => managerMetrics(this.status()),
    });

  /** Stops the manager, and settles as `run()` does; at once when that has settled before. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#job.abort(new DOMException("The manager was disposed", "AbortError"));
    if (this.#phase === "stopped") return; // a failure was that of run()
    await (this.#running ??= this.#run(undefined));
  }

  async #run(outer: AbortSignal | undefined): Promise<void> {
    using job = new DerivedController(outer, this.#job.signal);
    using informers = new DerivedController();
    let failure: { readonly error: unknown } | undefined;
    const fail = (error: unknown): void => {
      failure ??= { error };
      if (!job.signal.aborted) job.abort(error);
    };
    let following: Promise<void>[] = [];
    try {
      if (!job.signal.aborted) {
        this.#enter("syncing");
        following = this.#factories.map((factory) => factory.run({ signal: informers.signal }).catch(fail));
        await this.#sync(job.signal);
        if (!job.signal.aborted) await this.#lead(job.signal);
      }
    } catch (error) {
      fail(error);
    }
    this.#enter("stopping");
    // Those that never ran are stopped, too; a failure of those that ran is known.
    await Promise.all([...this.#reconcilers, ...this.#recorders].map((it) => it[Symbol.asyncDispose]().catch(fail)));
    informers.abort(new DOMException("The manager has stopped", "AbortError"));
    await Promise.all(following);
    this.#enter("stopped");
    if (failure !== undefined) throw failure.error;
  }

  /** Resolves when all informers have synced, or the signal aborts. */
  async #sync(signal: AbortSignal): Promise<void> {
    try {
      await Promise.all(this.#factories.map((factory) => factory.waitForCacheSync({ signal })));
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /** Reconciles until the signal aborts, while this process leads. */
  async #lead(signal: AbortSignal): Promise<void> {
    if (this.#elector === undefined) return await this.#reconcile({ signal });
    this.#enter("standby");
    await this.#elector.run((leadership) => this.#reconcile(leadership), { signal });
  }

  /** Runs the reconcilers until the signal aborts or one of them fails, and then writes the events that wait. */
  async #reconcile({ signal, lost }: ReconcilerRunOptions): Promise<void> {
    this.#enter("running");
    using work = new DerivedController(signal);
    const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
    const stopping = (): void => {
      this.#enter("stopping");
      stop();
    };
    if (work.signal.aborted) stopping();
    else work.signal.addEventListener("abort", stopping, { once: true });
    let failure: { readonly error: unknown } | undefined;
    const ends = this.#reconcilers.map((reconciler) =>
      reconciler.run({ signal: work.signal, lost }).catch((error) => {
        const { queue, abandoned } = reconciler.status();
        const isUnfinished = queue.processing > 0 || abandoned.length > 0;
        if (isUnfinished) failure = { error: new UnfinishedWorkError(errorLine(error), { cause: error }) };
        else failure ??= { error };
        if (!work.signal.aborted) work.abort(error);
      })
    );
    await (ends.length === 0 ? stopped : Promise.all(ends));
    await Promise.all(this.#recorders.map((recorder) => recorder[Symbol.asyncDispose]()));
    if (failure !== undefined) throw failure.error;
  }

  #enter(phase: ManagerPhase): void {
    if (this.#phase === phase) return;
    this.#phase = phase;
    callObserver(() => this.#onPhase?.(phase));
  }

  /** The reason for which the process should be restarted, if there is one. */
  #illness(): string | undefined {
    try {
      this.#elector?.check();
    } catch (error) {
      return errorLine(error);
    }
  }

  /** The reason for which the process is not ready, if there is one. */
  #unreadiness(): string | undefined {
    if (this.#phase === "running") return undefined;
    if (this.#phase === "standby") {
      const error = this.#elector?.status().lastError;
      const isRefused = isUnauthorized(error) || isForbidden(error) || isNotFound(error);
      return isRefused ? `the manager cannot lead: ${redactSecrets(errorLine(error))}` : undefined;
    }
    const behind = this.#phase !== "syncing" ? [] : this.status().informers
      .filter(({ status }) => status.resourceVersion === "")
      .map(({ resource, status }) => `\n${resourceName(resource)}: ${status.state}`);
    return `the manager is ${this.#phase}${behind.join("")}`;
  }
}
