/**
 * A set of clusters in one process.
 *
 * {@linkcode ClusterSet} is the entry point. It has a client and an informer factory for each cluster, joins the
 * informers for one kind to a `ClusterInformer`, and runs controllers for each cluster. Clusters come and go at run
 * time. `followClusterSecrets` adds and removes clusters from Secrets. It opens no files and no connections:
 * you pass the clients.
 *
 * @module
 */
import type { Abortable } from "../../../engine/api/call_options.ts";
import { defined } from "../../../engine/api/json.ts";
import type { KubernetesObject } from "../../../engine/api/object.ts";
import { type ApiResource, type Resource, resourceName } from "../../../engine/api/resource.ts";
import { DerivedController, isAbortOf, Latch } from "../../../engine/async/signals.ts";
import { backoffMs, type BackoffOptions, monotonicMs, sleep } from "../../../engine/async/time.ts";
import type { Client } from "../../../engine/client/client.ts";
import { errorObserver, messageOf } from "../../../engine/errors/errors.ts";
import { internals } from "../../../engine/errors/internals.ts";
import { checkBackoff, checkNames } from "../../../engine/errors/option_names.ts";
import { plainRows, readOptions } from "../../../engine/errors/option_table.ts";
import {
  type Cached,
  type CachedOptions,
  FACTORY_OPTIONS,
  type SharedInformerFactoryOptions,
} from "../../../engine/informer/options.ts";
import { type InformerOfFactory, SharedInformerFactory } from "../../../engine/informer/shared_informer_factory.ts";
import type { FactorySnapshots } from "../../../engine/informer/snapshot.ts";
import { ClusterInformer, type InCluster, settled } from "./cluster_informer.ts";

/** Options for a {@linkcode ClusterSet}: the defaults for its informers, and the options below. */
export interface ClusterSetOptions extends Omit<SharedInformerFactoryOptions, "onError" | "cluster"> {
  /**
   * The delays after failures: before `run()` calls your function again for a cluster, and before
   * `followClusterSecrets` tries a Secret again. By default from 0.8 to 30 s, the same as after failed lists.
   */
  readonly backoff?: BackoffOptions;
  /**
   * Receives each error that does not reject a wait, with the cluster's name. An informer's error comes with its
   * resource too. The return value is ignored. By default each new cause is written to the console in one line, and
   * again at most once a minute.
   */
  readonly onError?: (error: unknown, cluster: string, resource?: Resource) => unknown;
}

/** The status of one cluster. */
export interface ClusterStatus extends InCluster {
  /** The cluster's informers. */
  readonly informers: readonly InformerOfFactory[];
  /**
   * The error with which a function in `run()` failed, while it waits to be called again. If several wait, the first
   * one's error.
   */
  readonly failure?: unknown;
}

/**
 * Your function for one cluster, for {@linkcode ClusterSet.run}. The signal aborts when the cluster is removed or the
 * run is stopped. The set owns the client and disposes it.
 */
export type ClusterWork = (cluster: string, client: Client, signal: AbortSignal) => unknown;

/** One cluster of a set. */
class Cluster {
  readonly client: Client;
  readonly informers: SharedInformerFactory;
  /** Aborted when the cluster is removed or the set is disposed. */
  readonly job = new DerivedController();
  /** Has a promise if and only if that work has not returned. */
  readonly works = new Set<Promise<void>>();
  /** Has the error of each work that waits to be called again, by its run's signal. */
  readonly failures = new Map<AbortSignal, unknown>();

  constructor(client: Client, informers: SharedInformerFactory) {
    this.client = client;
    this.informers = informers;
  }

  /** The error of the work that has waited longest to be called again, if any waits. */
  get failure(): unknown {
    const [failure] = this.failures.values();
    return failure;
  }

  /** Ends work and informers, and then disposes the client. */
  async end(): Promise<void> {
    this.job.abort(new DOMException("The cluster was removed, or the set disposed", "AbortError"));
    try {
      await this.informers.shutdown();
    } finally {
      await Promise.all(this.works);
      this.client[Symbol.dispose]();
    }
  }
}

/**
 * A set of clusters that come and go at run time, each with a client. {@linkcode forResource} joins informers over all
 * clusters, and {@linkcode run} calls your function for each cluster.
 *
 * If a cluster is slow, gone or refuses requests, the other clusters are not affected. Its informers and work retry,
 * `status()` shows the failure, and its errors go to `onError` with its name.
 *
 * See the guide: [Clusters](../../../../docs/scale/clusters.md).
 *
 * @example
 * ```ts
 * import { Client } from "@kube/informer";
 * import { ClusterSet } from "@kube/informer/clusters";
 * import { Pod } from "@kube/informer/kinds/core/v1";
 * import { FakeApiServer, pod } from "@kube/informer/testing";
 * import { assertEquals } from "@std/assert";
 *
 * await using clusters = new ClusterSet();
 * for (const name of ["berlin", "paris"]) {
 *   const server = new FakeApiServer();
 *   server.create(Pod, pod({ name: "cart-0", namespace: "shop" }));
 *   clusters.add(name, new Client({ server: "http://fake", transport: server })); // in a program: await connect()
 * }
 * const pods = clusters.forResource(Pod);
 * pods.addEventHandler({
 *   onAdd: ({ cluster, key }) => console.log("added", cluster, key),
 *   onDelete: ({ cluster, key, reason }) => console.log(reason ?? "deleted", cluster, key),
 * });
 * clusters.start();
 * await pods.waitForCacheSync();
 * assertEquals(pods.lister.list().map(({ cluster }) => cluster), ["berlin", "paris"]);
 * await clusters.remove("paris"); // its objects leave, as moved
 * assertEquals(pods.lister.get("paris", "shop/cart-0"), undefined);
 * ```
 */
export class ClusterSet implements AsyncDisposable {
  /** @internal */
  readonly [internals] = {
    /** Reports an error of a cluster, which may not have been added. */
    report: (error: unknown, cluster: string, resource?: Resource): void => this.#report(error, cluster, resource),
    /** The waits between tries. */
    backoff: (): BackoffOptions => this.#options.backoff ?? {},
  };
  readonly #options: ClusterSetOptions;
  readonly #clusters = new Map<string, Cluster>();
  /** Has the name of each removed cluster until the cluster has ended. */
  readonly #leaving = new Map<string, Promise<void>>();
  readonly #informers = new Set<ClusterInformer<KubernetesObject, string>>();
  /** Has a function for each run: it begins the work for a cluster. */
  readonly #runs = new Set<(name: string, cluster: Cluster) => void>();
  /** Aborted when the set is disposed. */
  readonly #job = new AbortController();
  readonly #report: (error: unknown, cluster: string, resource?: Resource) => void;
  #isStarted = false;

  /**
   * Creates a set without clusters.
   *
   * @throws {RangeError} if `backoff` or a duration is out of range.
   */
  constructor(options: ClusterSetOptions = {}) {
    this.#options = readOptions("create a set of clusters", options, { ...FACTORY_OPTIONS, ...plainRows("backoff") });
    checkBackoff(options.backoff ?? {});
    this.#report = errorObserver(options.onError, (cluster: string, resource?: Resource) => {
      return resource === undefined ? `cluster "${cluster}"` : `"${resourceName(resource)}" in cluster "${cluster}"`;
    });
  }

  /** The clusters' names, in the order in which you added them. */
  get names(): readonly string[] {
    return [...this.#clusters.keys()];
  }

  /** Returns a cluster's client, or `undefined` if there is no such cluster. */
  client(name: string): Client | undefined {
    return this.#clusters.get(name)?.client;
  }

  /**
   * Adds a cluster: it joins all informers, and {@linkcode run} calls its functions for it. From then on the set owns
   * the client. It disposes the client when the cluster is removed or the set is disposed.
   *
   * @throws {TypeError} if the name is empty.
   * @throws {Error} if a cluster with this name exists or is being removed, or if the set was disposed.
   * @throws the same errors as `SharedInformerFactory.forResource()`. The cluster is not added then, and you still own
   * the client.
   */
  add(name: string, client: Client): void {
    const refused = (why: string): Error => new Error(`Cannot add cluster "${name}": ${why}`);
    if (name === "") throw new TypeError("Cannot add a cluster: its name is empty. Give each cluster a different name");
    if (this.#job.signal.aborted) throw refused("the set was disposed");
    if (this.#clusters.has(name)) throw refused("a cluster with this name exists. Remove it first");
    if (this.#leaving.has(name)) throw refused("a cluster with this name is being removed. Await remove()");
    const { onError: _onError, backoff: _backoff, snapshots, ...options } = this.#options;
    const cluster = new Cluster(
      client,
      new SharedInformerFactory(client, {
        ...options,
        ...(snapshots && { snapshots: ofCluster(snapshots, name) }),
        cluster: name,
        onError: (error, resource) => this.#report(error, name, resource),
      }),
    );
    try {
      for (const informer of this.#informers) informer[internals].joined(name, cluster.informers);
    } catch (error) {
      for (const informer of this.#informers) void informer[internals].left(name);
      void cluster.informers.shutdown();
      throw error;
    }
    this.#clusters.set(name, cluster);
    if (this.#isStarted) cluster.informers.start();
    for (const begin of this.#runs) begin(name, cluster);
  }

  /**
   * Removes a cluster. Resolves when its informers have stopped, and the functions in {@linkcode run} have returned for
   * it. Reads lack its objects immediately. Handlers receive its objects as deleted with the reason `"moved"`, within
   * `graceMs`. If there is no such cluster, it resolves immediately.
   *
   * Do not await this in a handler or function for the same cluster: it would wait for itself.
   *
   * @throws {Error} if handlers have not returned within `graceMs`. It names them.
   */
  remove(name: string): Promise<void> {
    const cluster = this.#clusters.get(name);
    if (cluster === undefined) return this.#leaving.get(name) ?? Promise.resolve();
    this.#clusters.delete(name);
    const left = this.#leave(name, cluster).finally(() => this.#leaving.delete(name));
    this.#leaving.set(name, left);
    return left;
  }

  /**
   * Returns one informer for a resource and selection in all clusters, including clusters that you add later. The
   * options are the same as for `SharedInformerFactory.forResource()`. Set `optional` if some clusters lack the kind.
   *
   * @throws {Error} if the set was disposed.
   * @throws the same errors as `SharedInformerFactory.forResource()`.
   *
   * @example
   * ```ts
   * import { ClusterSet } from "@kube/informer/clusters";
   * import { Pod } from "@kube/informer/kinds/core/v1";
   *
   * await using clusters = new ClusterSet();
   * const pods = clusters.forResource(Pod, { namespace: "shop" });
   * pods.addEventHandler({ onAdd: ({ cluster, key }) => console.log(cluster, key) });
   * ```
   */
  forResource<
    T extends KubernetesObject,
    Name extends string = never,
    const P extends readonly string[] = never,
    D extends "keep" | undefined = undefined,
  >(
    resource: Resource<T> | ApiResource,
    options: CachedOptions<T, Name, P, D> = {},
  ): ClusterInformer<Cached<T, P, D>, Name> {
    if (this.#job.signal.aborted) throw new Error("Cannot create an informer: the set was disposed");
    const informer = new ClusterInformer<Cached<T, P, D>, Name>(
      resourceName(resource),
      (informers) => informers.forResource<T, Name, P, D>(resource, options),
    );
    for (const [name, cluster] of this.#clusters) {
      informer[internals].joined(name, cluster.informers);
      if (this.#isStarted) cluster.informers.start();
    }
    this.#informers.add(informer as unknown as ClusterInformer<KubernetesObject, string>);
    return informer;
  }

  /**
   * Starts the informers, including informers for clusters and resources that you add later. They stop when their
   * cluster is removed or the set is disposed.
   *
   * @throws {Error} if the set was disposed.
   */
  start(): void {
    if (this.#job.signal.aborted) throw new Error("Cannot start informers: the set was disposed");
    this.#isStarted = true;
    for (const { informers } of this.#clusters.values()) informers.start();
  }

  /**
   * Waits until each cluster's informers have synced or failed, see `ClusterInformer.waitForCacheSync()`.
   *
   * @throws {Error} if they have not been started.
   * @throws {WaitError} if some have not synced. It names these informers and clusters.
   */
  async waitForCacheSync(options: Abortable & { readonly patient?: boolean } = {}): Promise<void> {
    checkNames("wait for a sync", options, "signal patient");
    await settled(this.#clusters, ({ informers }) => informers.waitForCacheSync(options));
  }

  /**
   * Calls `work` for each cluster, now and when you add one. Run a reconciler or a manager there with the cluster's
   * client: each cluster then has its own keys, queue and election. Resolves when the signal has aborted or the set is
   * disposed, and all calls have returned.
   *
   * If `work` throws, the error is reported, and `work` is called again after a delay (`backoff`). If it returns, it is
   * not called again.
   *
   * @throws {Error} if the set was disposed.
   *
   * @example
   * ```ts
   * import { Client } from "@kube/informer";
   * import { ClusterSet } from "@kube/informer/clusters";
   * import { ConfigMap } from "@kube/informer/kinds/core/v1";
   * import { Reconciler } from "@kube/informer/reconcile";
   * import { configMap, FakeApiServer } from "@kube/informer/testing";
   *
   * const server = new FakeApiServer();
   * server.create(ConfigMap, configMap({ name: "settings", namespace: "shop" }));
   * const stop = new AbortController(); // in a program: using signal = shutdownSignal() of "@kube/informer/connect"
   * await using clusters = new ClusterSet();
   * clusters.add("berlin", new Client({ server: "http://fake", transport: server }));
   * await clusters.run(async (cluster, client, signal) => {
   *   await using maps = new Reconciler(client, ConfigMap, ({ key }) => {
   *     console.log("reconciled", cluster, key);
   *     stop.abort();
   *   });
   *   await maps.run({ signal });
   * }, { signal: stop.signal });
   * ```
   */
  async run(work: ClusterWork, options: Abortable = {}): Promise<void> {
    checkNames("run for clusters", options, "signal");
    if (this.#job.signal.aborted) throw new Error("Cannot run for clusters: the set was disposed");
    using job = new DerivedController(options.signal, this.#job.signal);
    const works = new Set<Promise<void>>();
    const begin = (name: string, cluster: Cluster): void => {
      const ended = this.#repeat(name, cluster, work, job.signal).then(() => {
        works.delete(ended);
        cluster.works.delete(ended);
      });
      works.add(ended);
      cluster.works.add(ended);
    };
    const stopped = new Latch();
    job.signal.addEventListener("abort", () => stopped.open(), { once: true });
    if (job.signal.aborted) return;
    this.#runs.add(begin);
    for (const [name, cluster] of this.#clusters) begin(name, cluster);
    await stopped.wait();
    this.#runs.delete(begin);
    await Promise.all(works);
  }

  /** Returns each cluster's status. */
  status(): ClusterStatus[] {
    return Array.from(this.#clusters, ([name, cluster]) => ({
      cluster: name,
      informers: cluster.informers.status(),
      ...defined({ failure: cluster.failure }),
    }));
  }

  /**
   * Ends all handlers, iterators and views, stops informers and work, waits for them, and disposes the clients.
   *
   * @throws {Error} if handlers have not returned within `graceMs`. It names them. For several clusters it is an
   * `AggregateError`.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#job.abort(new DOMException("The clusters were disposed", "AbortError"));
    for (const informer of this.#informers) informer[internals].end();
    const ends = Array.from(this.#clusters.values(), (cluster) => cluster.end());
    this.#clusters.clear();
    const ended = await Promise.allSettled([...ends, ...this.#leaving.values()]);
    const errors = ended.flatMap((end) => end.status === "rejected" ? [end.reason] : []);
    if (errors.length > 1) throw new AggregateError(errors, errors.map(messageOf).join("; "));
    if (errors.length > 0) throw errors[0];
  }

  async #leave(name: string, cluster: Cluster): Promise<void> {
    cluster.job.abort(new DOMException(`Cluster "${name}" was removed`, "AbortError"));
    await Promise.all(Array.from(this.#informers, (informer) => informer[internals].left(name)));
    await cluster.end();
  }

  /** Calls `work` until it returns, or the run or the cluster ends. Never rejects. */
  async #repeat(name: string, cluster: Cluster, work: ClusterWork, run: AbortSignal): Promise<void> {
    using job = new DerivedController(run, cluster.job.signal);
    const { signal } = job;
    const { backoff = {} } = this.#options;
    for (let failures = 0; !signal.aborted; failures++) {
      const beganMs = monotonicMs();
      try {
        await work(name, cluster.client, signal);
        return;
      } catch (error) {
        if (isAbortOf(signal, error)) return;
        this.#report(error, name);
        if (signal.aborted) return;
        cluster.failures.set(run, error);
      }
      if (monotonicMs() - beganMs > (backoff.maxMs ?? 30_000)) failures = 0; // it had worked
      await sleep(backoffMs(failures, backoff), { signal }).catch(() => undefined); // aborted: the loop ends
      cluster.failures.delete(run);
    }
  }
}

/** Returns a cluster's snapshots, which are kept under its name. */
function ofCluster({ store, ...options }: FactorySnapshots, cluster: string): FactorySnapshots {
  const nameOf = (name: string): string => `${encodeURIComponent(cluster)}/${name}`;
  return {
    ...options,
    cluster,
    store: { get: (name) => store.get(nameOf(name)), set: (name, snapshot) => store.set(nameOf(name), snapshot) },
  };
}
