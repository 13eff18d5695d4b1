/**
 * Managers: one call runs informers, reconcilers, an elector and event recorders, and stops them in order. They answer
 * probes and serve metrics.
 *
 * {@linkcode Manager} is the entry point. It creates none of its parts, and knows neither process signals nor sockets.
 *
 * @module
 */

import type { Abortable } from "../../../engine/api/call_options.ts";
import { defined } from "../../../engine/api/json.ts";
import type { KubernetesObject } from "../../../engine/api/object.ts";
import { resourceName } from "../../../engine/api/resource.ts";
import { isForbidden, isNotFound, isUnauthorized } from "../../../engine/api/status.ts";
import { callObserver, DerivedController, withResolvers } from "../../../engine/async/signals.ts";
import { type AccessRight, distinctRights, rightsText } from "../../../engine/client/access_reviews.ts";
import { checkDurations } from "../../../engine/errors/checks.ts";
import { errorLine, redactSecrets } from "../../../engine/errors/errors.ts";
import { internals } from "../../../engine/errors/internals.ts";
import { checkNames } from "../../../engine/errors/option_names.ts";
import { NAMESPACE_METADATA } from "../../../engine/informer/metadata_watches.ts";
import { answerProbe } from "../../../engine/informer/metrics.ts";
import type { SharedInformerFactory } from "../../../engine/informer/shared_informer_factory.ts";
import { joined } from "../../../engine/informer/status.ts";
import type { EventRecorder } from "./event_recorder.ts";
import { type LeaderElector, UnfinishedWorkError } from "./leader_elector.ts";
import { managerMetrics, type ManagerPhase, type ManagerStatus } from "./manager_status.ts";
import type { ReconcilerRunOptions } from "./options.ts";
import type { Reconciler } from "./reconciler.ts";
import type { ShardGroup } from "./shard_group.ts";

/** A manager's parts. The manager runs and disposes them. Dispose the client yourself. */
export interface ManagerOptions {
  /**
   * The reconcilers. With an elector they run only while this process leads, but their informers run before that too.
   */
  readonly reconcilers?: readonly Pick<
    Reconciler<KubernetesObject>,
    "name" | "informers" | "run" | "status" | typeof Symbol.asyncDispose
  >[];
  /** Factories for further informers. You need not repeat the reconcilers' factories. @default {[]} */
  readonly informers?: readonly SharedInformerFactory[];
  /** Elects one of the processes that run this program. Without it, every process reconciles. */
  readonly elector?: LeaderElector;
  /**
   * Divides the keys among the processes that run this program. Use it instead of an elector, and pass the same group
   * to the reconcilers as `shards`.
   */
  readonly shards?: ShardGroup;
  /** The event recorders that your reconcilers use. @default {[]} */
  readonly recorders?: readonly EventRecorder[];
  /**
   * How long all informers may take to sync, in milliseconds. `Infinity` means no limit. The default gives a slow
   * server time, so that the process is not restarted again and again. @default {600_000}
   */
  readonly syncTimeoutMs?: number;
  /** Called with each phase when it begins. */
  readonly onPhase?: (phase: ManagerPhase) => void;
}

/**
 * Runs informers, reconcilers, an elector and event recorders, and stops them in order.
 *
 * - **Start.** All informers start and sync. With an elector, the process then waits for leadership, with complete
 *   caches. Then the reconcilers run.
 * - **Stop.** The signal, a failed part or lost leadership stops it. Reconcilers take no further key, and running
 *   reconciles get their `signal` and `graceMs`. If leadership is lost, their requests end immediately. Then recorders
 *   write their waiting events, the lease is released, and the informers stop. Informers that a reconciler created for
 *   itself stop with the reconciler.
 * - **How long a stop takes.** At most the longest `graceMs` (30 s), then the longest `flushMs` (5 s), then the
 *   elector's `renewDeadlineMs` (10 s), then the `graceMs` for informer handlers.
 * - **A reconcile that hangs.** If it does not return in time, `run()` rejects with an {@linkcode UnfinishedWorkError}.
 *   The lease is not released but expires. Exit the process.
 * - **With `shards`,** the reconcilers run as soon as the informers have synced, for the keys in the ranges that this
 *   process holds. If the process loses ranges, it joins again: this is no failure. At the stop it gives each range
 *   away as soon as the range's calls have returned.
 *
 * See the guide: [Run a controller](../../../../docs/controllers/run.md).
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
 * const stop = new AbortController(); // in Deno, runManager() of "@kube/informer/connect" adds signals and a port
 * const phases: string[] = [];
 * const manager = new Manager({
 *   reconcilers: [new Reconciler(client, ConfigMap, ({ key }) => console.log(key))],
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
  readonly #shards: ShardGroup | undefined;
  readonly #recorders: readonly EventRecorder[];
  readonly #onPhase: ManagerOptions["onPhase"];
  readonly #syncTimeoutMs: number;
  readonly #job = new DerivedController();
  #phase: ManagerPhase = "created";
  /** The rights that were missing at the last look. */
  #missing: readonly AccessRight[] = [];
  /** Set by the first `run()`, or by a disposal before it. Settles when everything has stopped. */
  #running: Promise<void> | undefined;
  /** The reconcilers, for a plan. @internal */
  readonly [internals]: () => NonNullable<ManagerOptions["reconcilers"]> = () => this.#reconcilers;

  /**
   * Creates a manager. It starts nothing yet.
   *
   * @throws {RangeError} if `syncTimeoutMs` is out of range.
   * @throws {TypeError} if there are both an elector and shards.
   */
  constructor(options: ManagerOptions) {
    checkNames("create a manager", options, "reconcilers informers elector shards recorders syncTimeoutMs onPhase");
    const { reconcilers = [], informers = [], elector, shards, recorders = [] } = options;
    const { onPhase, syncTimeoutMs = 600_000 } = options;
    if (elector !== undefined && shards !== undefined) {
      throw new TypeError('Cannot create a manager: "elector" and "shards" cannot be combined. Remove one of them');
    }
    checkDurations("create a manager", { syncTimeoutMs }, { min: 1 });
    this.#syncTimeoutMs = syncTimeoutMs;
    this.#reconcilers = [...reconcilers];
    this.#factories = [...new Set([...informers, ...reconcilers.map((it) => it.informers)])];
    this.#elector = elector;
    this.#shards = shards;
    this.#recorders = [...recorders];
    this.#onPhase = onPhase;
  }

  /**
   * Runs the manager until the signal aborts, and resolves when everything has stopped. A manager runs only once.
   *
   * @throws {Error} if it is running or has run, if an informer ends without being stopped, or if a reconciler fails.
   * @throws {WaitError} if an informer does not sync: the server refuses the list (401, 403, 404), or `syncTimeoutMs`
   * has passed. It names all informers that have not synced, and the reasons.
   * @throws {LeadershipLostError} if another process may lead.
   * @throws {UnfinishedWorkError} if a reconcile has not returned.
   */
  run(options: Abortable = {}): Promise<void> {
    checkNames("run the manager", options, "signal");
    if (this.#running !== undefined) {
      return Promise.reject(new Error(`Cannot run the manager: it can run only once (its phase is ${this.#phase})`));
    }
    return this.#running = this.#run(options.signal);
  }

  /**
   * Returns the rights that the parts need and the clients' users lacks, as far as they are known before a reconcile.
   * From then on `/readyz` names the missing rights, and follows grants within a minute.
   *
   * - **Informers** need `list` and `watch`, see `SharedInformerFactory.missingRights()`.
   * - **An elector** needs `get` and `update` on its Lease, and `create`. **A shard group** also needs `list`, `watch`
   *   and `delete` on Leases.
   * - **Event recorders** need `create` and `patch` on events, in the namespaces of the informers. With
   *   `namespaces: "readable"`, these are not known.
   *
   * The writes of your reconciles are not known: pass them to `Client.missingRights()`, or see `accessUsed()`.
   *
   * @throws the same errors as `Client.can()`.
   */
  async missingRights(options: Abortable = {}): Promise<AccessRight[]> {
    checkNames("review rights", options, "signal");
    const followed = this.#factories.flatMap((it) => it[internals].rights());
    const places = followed.filter(({ resource }) => resource !== NAMESPACE_METADATA)
      .map(({ resource, namespace = "" }) => resource.scope === "Cluster" ? "default" : namespace);
    const lists = await Promise.all([
      ...this.#factories.map((it) => it.missingRights(options)),
      ...this.#recorders.map((it) => it[internals](places, options)),
      ...[this.#elector, this.#shards].map((it) => it?.[internals](options) ?? []),
    ]);
    this.#missing = distinctRights(lists.flat());
    return [...this.#missing];
  }

  /** Returns the current phase and the status of each part. */
  status(): ManagerStatus {
    return defined({
      phase: this.#phase,
      informers: this.#factories.flatMap((factory) => factory.status()),
      reconcilers: this.#reconcilers.map((it) => it.status()),
      elector: this.#elector?.status(),
      shards: this.#shards?.status(),
      recorders: this.#recorders.map((it) => it.status()),
    });
  }

  /**
   * Answers a probe. Pass it to any server, such as `Deno.serve(manager.fetch)`.
   *
   * - `/healthz`: 200, unless work continues although leadership was lost, see `LeaderElector.check`. Restart the
   *   process then.
   * - `/readyz`: 200 from the sync until the manager stops, also while the process waits for leadership. It is 503 if
   *   the server refuses the Lease (401, 403, 404), because the process can never lead or hold ranges. The text names
   *   missing optional kinds (`waits for widgets.example.com`), held ranges (`holds the ranges 0-31, 40`), and the
   *   rights that {@linkcode missingRights} has found missing (`lacks rights: list, watch pods in "shop"`).
   * - `/metrics`: the status of all parts in the OpenMetrics format.
   *
   * A failed probe is 503 with the reason as text. Other paths are 404, and methods other than GET and HEAD are 405.
   */
  readonly fetch = (request: Request): Response =>
    answerProbe(request, {
      illness: () => this.#illness(),
      unreadiness: () => this.#unreadiness(),
      remarks: () => this.#remarks(),
      metrics: () => managerMetrics(this.status()),
    });

  /** Stops the manager, and settles like `run()`. If the manager has stopped before, it resolves immediately. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#job.abort(new DOMException("The manager was disposed", "AbortError"));
    if (this.#phase === "stopped") return; // run() has rejected already if it failed
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
        for (const factory of this.#factories) factory.measureDelivery();
        following = this.#factories.map((factory) => factory.run({ signal: informers.signal }).catch(fail));
        await this.#sync(job.signal);
        if (!job.signal.aborted) await this.#lead(job.signal);
      }
    } catch (error) {
      fail(error);
    }
    this.#enter("stopping");
    // Parts that never ran are stopped too. Failures of parts that ran are known already.
    await Promise.all([...this.#reconcilers, ...this.#recorders].map((it) => it[Symbol.asyncDispose]().catch(fail)));
    informers.abort(new DOMException("The manager has stopped", "AbortError"));
    await Promise.all(following);
    this.#enter("stopped");
    if (failure !== undefined) throw failure.error;
  }

  /** Resolves when all informers have synced, or the signal aborts. */
  async #sync(signal: AbortSignal): Promise<void> {
    try {
      await joined(
        (signal) => this.#factories.map((factory) => factory.waitForCacheSync({ signal })),
        signal,
        this.#syncTimeoutMs,
      );
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /** Reconciles until the signal aborts, while this process leads or has ranges. */
  async #lead(signal: AbortSignal): Promise<void> {
    if (this.#shards !== undefined) return await this.#share(this.#shards, signal);
    if (this.#elector === undefined) return await this.#reconcile({ signal });
    this.#enter("standby");
    await this.#elector.run((leadership) => this.#reconcile(leadership), { signal });
  }

  /** Reconciles the keys in the ranges that this process holds, until the signal aborts. */
  async #share(shards: ShardGroup, signal: AbortSignal): Promise<void> {
    using job = new DerivedController(signal);
    let failure: { readonly error: unknown } | undefined;
    const sharing = shards.run({ signal: job.signal }).catch((error) => {
      failure = { error };
      job.abort(error);
    });
    try {
      await this.#reconcile({ signal: job.signal });
    } finally {
      job.abort(new DOMException("The reconcilers have ended", "AbortError"));
      await sharing;
    }
    if (failure !== undefined) throw failure.error;
  }

  /** Runs the reconcilers until the signal aborts or one of them fails, and then writes the events that wait. */
  async #reconcile({ signal, lost, isHeld }: ReconcilerRunOptions): Promise<void> {
    this.#enter("running");
    using work = new DerivedController(signal);
    const { promise: stopped, resolve: stop } = withResolvers<void>();
    const stopping = (): void => {
      this.#enter("stopping");
      stop();
    };
    if (work.signal.aborted) stopping();
    else work.signal.addEventListener("abort", stopping, { once: true });
    let failure: { readonly error: unknown } | undefined;
    const ends = this.#reconcilers.map((reconciler) =>
      reconciler.run({ signal: work.signal, lost, isHeld }).catch((error) => {
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

  /** The optional kinds that the server does not have at present, and the ranges that this process holds. */
  #remarks(): string[] {
    const { informers, shards } = this.status();
    const unserved = informers.filter(({ status }) => status.unserved).map(({ resource }) => resourceName(resource));
    const kinds = [...new Set(unserved)].map((name) => `waits for ${name}`);
    return [...kinds, ...(shards === undefined ? [] : [heldRanges(shards.ranges)]), ...this.#lacking()];
  }

  /** The missing rights. While there are any, it asks again, but the answers are kept for a minute. */
  #lacking(): string[] {
    if (this.#missing.length === 0) return [];
    this.missingRights({ signal: this.#job.signal }).catch(() => {}); // the next probe asks again
    return [`lacks rights: ${rightsText(this.#missing)}`];
  }

  /** The reason for which the process is not ready, if there is one. */
  #unreadiness(): string | undefined {
    const isSharing = this.#shards?.status().state === "joining";
    if (this.#phase === "standby" || (this.#phase === "running" && isSharing)) {
      const error = (this.#elector ?? this.#shards)?.status().lastError;
      const isRefused = isUnauthorized(error) || isForbidden(error) || isNotFound(error);
      const what = isSharing ? "hold ranges" : "lead";
      return isRefused ? `the manager cannot ${what}: ${redactSecrets(errorLine(error))}` : undefined;
    }
    if (this.#phase === "running") return undefined;
    const behind = this.#phase !== "syncing" ? [] : this.status().informers
      .filter(({ status }) => status.resourceVersion === "" && !status.unserved)
      .map(({ resource, status }) => `\n${resourceName(resource)}: ${status.state}`);
    return [`the manager is ${this.#phase}${behind.join("")}`, ...this.#lacking()].join("\n");
  }
}

/** Returns the numbers of ranges as text: `"holds the ranges 0-31, 40"`. */
function heldRanges(ranges: readonly number[]): string {
  if (ranges.length === 0) return "holds no ranges";
  const first = ranges.filter((range, at) => ranges[at - 1] !== range - 1);
  const last = ranges.filter((range, at) => ranges[at + 1] !== range + 1);
  return `holds the ranges ${first.map((range, at) => range === last[at] ? range : `${range}-${last[at]}`).join(", ")}`;
}
