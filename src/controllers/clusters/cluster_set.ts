/**
 * Several clusters in one process.
 *
 * {@linkcode ClusterSet} is the entry point: it has a client and a factory of informers for each cluster, joins the
 * informers of one kind to a `ClusterInformer`, and runs controllers for each cluster. Clusters come and go at run
 * time; `followClusterSecrets` adds and removes those of Secrets. This folder opens no files and no connections: it is
 * given clients.
 *
 * @module
 */
import type { KubernetesObject } from "../../api/object.ts";
import { type Abortable, defined } from "../../api/options.ts";
import { type ApiResource, type Resource, resourceName } from "../../api/resource.ts";
import { DerivedController, isAbortOf, Latch } from "../../async/signals.ts";
import { backoffMs, type BackoffOptions, monotonicMs, sleep } from "../../async/time.ts";
import type { Client } from "../../client/client.ts";
import { errorObserver, messageOf } from "../../errors/errors.ts";
import { internals } from "../../errors/internals.ts";
import { checkBackoff, checkNames } from "../../errors/option_names.ts";
import {
  type Cached,
  type CachedOptions,
  FACTORY_OPTIONS,
  type SharedInformerFactoryOptions,
} from "../../informer/options.ts";
import { type InformerOfFactory, SharedInformerFactory } from "../../informer/shared_informer_factory.ts";
import type { FactorySnapshots } from "../../informer/snapshot.ts";
import { ClusterInformer, type InCluster, settled } from "./cluster_informer.ts";

/** Options of a {@linkcode ClusterSet}: the defaults of its informers. */
export interface ClusterSetOptions extends Omit<SharedInformerFactoryOptions, "onError" | "cluster"> {
  /**
   * The waits before the function of `run()` is called again for a cluster for which it has failed, and before
   * `followClusterSecrets` tries a Secret again that could not be used.
   *
   * @default {as after failed lists: from 0.8 to 30 s}
   */
  readonly backoff?: BackoffOptions;
  /**
   * Called with each error that does not reject a wait, with the name of the cluster, and with the resource where it is
   * one of an informer. Its return value is ignored.
   *
   * @default {each new cause is written to the console, in one line, and again at most once a minute}
   */
  readonly onError?: (error: unknown, cluster: string, resource?: Resource) => unknown;
}

/** The status of one cluster. */
export interface ClusterStatus extends InCluster {
  /** The informers of the cluster. */
  readonly informers: readonly InformerOfFactory[];
  /** The error of a function of `run()`, while it waits to be called again; of several, that of the first. */
  readonly failure?: unknown;
}

/**
 * Runs for one cluster, until the signal aborts: the cluster was removed, or the run was stopped. The client is the
 * set's, which disposes it.
 */
export type ClusterWork = (cluster: string, client: Client, signal: AbortSignal) => unknown;

/** One cluster of a set. */
class Cluster {
  readonly client: Client;
  readonly informers: SharedInformerFactory;
  /** Aborted when the cluster is removed, or the set disposed. */
  readonly job = new DerivedController();
  /** Has a promise if and only if that work has not returned. */
  readonly works = new Set<Promise<void>>();
  /** Has the error of each work that waits to be called again, by the signal of its run. */
  readonly failures = new Map<AbortSignal, unknown>();

  constructor(client: Client, informers: SharedInformerFactory) {
    this.client = client;
    this.informers = informers;
  }

  /** The error of the work that has waited longest to be called again, if one does. */
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
 * Clusters that come and go at run time, each with a client, joined informers over all of them
 * ({@linkcode forResource}), and work that runs for each ({@linkcode run}).
 *
 * A cluster that is slow, gone or refuses affects no other one: its informers and its work retry, `status()` says so,
 * and its errors go to `onError` with its name.
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
  /** Has a name until the cluster that was removed has ended. */
  readonly #leaving = new Map<string, Promise<void>>();
  readonly #informers = new Set<ClusterInformer<KubernetesObject, string>>();
  /** Has a function for each run: it begins the work for a cluster. */
  readonly #runs = new Set<(name: string, cluster: Cluster) => void>();
  /** Aborted when the set is disposed. */
  readonly #job = new AbortController();
  readonly #report: (error: unknown, cluster: string, resource?: Resource) => void;
  #isStarted = false;

  /**
   * Makes a set without clusters.
   *
   * @throws {RangeError} when `backoff` is out of range.
   */
  constructor(options: ClusterSetOptions = {}) {
    checkNames("create a set of clusters", options, `${FACTORY_OPTIONS} backoff`);
    checkBackoff(options.backoff ?? {});
    this.#options = options;
    this.#report = errorObserver(options.onError, (cluster: string, resource?: Resource) => {
      return resource === undefined ? `cluster "${cluster}"` : `"${resourceName(resource)}" in cluster "${cluster}"`;
    });
  }

  /** The names of the clusters, in the order in which they were added. */
  get names(): readonly string[] {
    return [...this.#clusters.keys()];
  }

  /** Returns the client of a cluster; `undefined` if there is no such cluster. */
  client(name: string): Client | undefined {
    return this.#clusters.get(name)?.client;
  }

  /**
   * Adds a cluster: it joins all informers, and the functions of {@linkcode run} are called for it. The set owns the
   * client from then on, and disposes it when the cluster is removed, and with the set.
   *
   * @throws {TypeError} when the name is empty.
   * @throws {Error} when there is a cluster of that name, or one is being removed; when the set was disposed.
   * @throws as `SharedInformerFactory.forResource()`; then the cluster is not added, and the client is the caller's.
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
   * Removes a cluster, and resolves when its informers have stopped, and the functions of {@linkcode run} have returned
   * for it. Reads lack its objects at once; handlers receive them as deleted, with the reason `"moved"`, within
   * `graceMs`. A name that is not there resolves at once.
   *
   * A handler or function of that cluster does not await this: it would wait for itself.
   *
   * @throws {Error} that names the handlers whose calls have not returned within `graceMs`.
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
   * Returns the informers of a resource and selection in all clusters, present and to come, read as one. Options are
   * those of `SharedInformerFactory.forResource()`. Where some clusters do not have the kind, give `optional`.
   *
   * @throws {Error} when the set was disposed; as `SharedInformerFactory.forResource()`.
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
   * Starts the informers, also those of clusters and resources to come. They stop when their cluster is removed, and
   * with the set.
   *
   * @throws {Error} when the set was disposed.
   */
  start(): void {
    if (this.#job.signal.aborted) throw new Error("Cannot start informers: the set was disposed");
    this.#isStarted = true;
    for (const { informers } of this.#clusters.values()) informers.start();
  }

  /**
   * Waits until the informers of each cluster have synced, or have failed to; see `ClusterInformer.waitForCacheSync()`.
   *
   * @throws {Error} when they have not been started.
   * @throws {WaitError} that names the informers and clusters which have not synced.
   */
  async waitForCacheSync(options: Abortable & { readonly patient?: boolean } = {}): Promise<void> {
    checkNames("wait for a sync", options, "signal patient");
    await settled(this.#clusters, ({ informers }) => informers.waitForCacheSync(options));
  }

  /**
   * Calls `work` for each cluster, at once and when one is added: with a reconciler or manager on that client, keys,
   * queues and elections are those of the cluster. Resolves when the signal has aborted, or the set was disposed, and
   * all calls have returned.
   *
   * A call that throws is reported, and repeated after a wait that grows as `backoff` says; one that returns is not
   * repeated.
   *
   * @throws {Error} when the set was disposed.
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

  /** Returns the status of each cluster. */
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
   * @throws {Error} that names the handlers whose calls have not returned within `graceMs`; an `AggregateError` of
   *   those of several clusters.
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

/** Returns the snapshots of a cluster, which are kept under its name. */
function ofCluster({ store, ...options }: FactorySnapshots, cluster: string): FactorySnapshots {
  const nameOf = (name: string): string => `${encodeURIComponent(cluster)}/${name}`;
  return {
    ...options,
    cluster,
    store: { get: (name) => store.get(nameOf(name)), set: (name, snapshot) => store.set(nameOf(name), snapshot) },
  };
}
