/**
 * A relay: serves the caches of informers to clients without credentials of the cluster.
 *
 * {@linkcode InformerRelay} is the entry point. It routes requests to collections, views and the Kubernetes API, and
 * owns what they share. It opens no port.
 *
 * @module
 */
import { resourceName } from "../../api/resource.ts";
import { InformerError } from "../../errors/informer_error.ts";
import { checkNames } from "../../errors/option_names.ts";
import { answerProbe, informerMetrics, PROBE_PATHS } from "../../informer/metrics.ts";
import type { SharedInformerFactory } from "../../informer/shared_informer_factory.ts";
import { planCollections, ServedCollection } from "./collections.ts";
import {
  answerPreflight,
  askAccess,
  type OpenRequest,
  OpenRequests,
  planWithoutData,
  refuse,
  RequestGuard,
  type RequestPlan,
} from "./http.ts";
import { KubernetesApi } from "./kubernetes_api.ts";
import { type ConnectionInfo, type RelayOptions, type RelaySettings, relaySettings } from "./options.ts";
import { planViews, ViewHub } from "./views.ts";

/** Options of {@linkcode informerProbes}. */
export interface InformerProbesOptions {
  /**
   * The age from which a cache that is not live makes `/readyz` fail, in milliseconds; `Infinity` is never.
   *
   * @default {60_000}
   */
  readonly maxStaleMs?: number;
}

/**
 * Returns a function that answers `/healthz`, `/readyz` and `/metrics` for the informers of a factory, for a port of
 * their own.
 *
 * - `/healthz`: 200.
 * - `/readyz`: 200 while all informers have synced, and have been live within `maxStaleMs`. Those that are not started
 *   or paused, as nobody reads them, do not count.
 * - `/metrics`: their status in the OpenMetrics format.
 *
 * A failed probe is 503 with the reasons as text; other paths are 404, other methods than GET and HEAD 405.
 */
export function informerProbes(
  informers: SharedInformerFactory,
  options: InformerProbesOptions = {},
): (request: Request) => Response {
  checkNames("create probes", options, "maxStaleMs");
  return probesOf(informers, options);
}

/** The metrics that show how many objects there are. */
const COUNTS: readonly string[] = ["informer_objects", "informer_memory_bytes"];

/** Returns {@linkcode informerProbes}, whose metrics do not have the numbers of objects with `hidesCounts`. */
function probesOf(
  informers: SharedInformerFactory,
  { maxStaleMs = 60_000, hidesCounts = false }: InformerProbesOptions & { readonly hidesCounts?: boolean },
): (request: Request) => Response {
  return (request) =>
    answerProbe(request, {
      illness: () => undefined,
      unreadiness: () => unreadiness(informers, maxStaleMs),
      metrics: () => {
        const families = informerMetrics(informers.status());
        return hidesCounts ? families.filter(({ name }) => !COUNTS.includes(name)) : families;
      },
    });
}

function unreadiness(informers: SharedInformerFactory, maxStaleMs: number): string | undefined {
  const behind = informers.status().flatMap(
    ({ resource, status: { state, resourceVersion, notLiveSince } }) => {
      if (state === "idle" || state === "paused" || state === "live") return [];
      const staleMs = notLiveSince === undefined ? 0 : Date.now() - notLiveSince.getTime();
      if (resourceVersion !== "" && staleMs <= maxStaleMs && state !== "stopped") return [];
      const why = resourceVersion === ""
        ? "it has not synced"
        : `it has not been live for ${Math.round(staleMs / 1_000)} s`;
      return [`${resourceName(resource)}: ${state}, ${why}`];
    },
  );
  return behind.length === 0 ? undefined : behind.join("\n");
}

/** The status of a {@linkcode InformerRelay}. */
export interface RelayStatus {
  /** The number of requests that are being answered, open streams included. */
  readonly connections: number;
  /**
   * The number of event streams of each collection that has any, had some within `lingerMs`, or is followed for
   * replicas; those of views are not among them.
   */
  readonly streams: Readonly<Record<string, number>>;
  /** The number of bytes that are kept and held for clients, of `maxBytes`. */
  readonly bytes: number;
}

/**
 * Serves the caches of informers to any number of clients, as JSON and as server-sent events, from one upstream watch.
 *
 * | path | answer |
 * | --- | --- |
 * | `/api` | the collections: {@linkcode CollectionList} |
 * | `/api/<name>` | a list with an entity tag: {@linkcode RelayList} |
 * | `/events/<name>` | a snapshot and then changes, which a client resumes by `Last-Event-ID`: {@linkcode RelayEvents} |
 * | `/views`, `/views/<id>` | windows of ordered objects, and their changes: {@linkcode ViewEvents} |
 * | `/kubernetes/api/v1/…`, `/kubernetes/apis/…` | the Kubernetes API: discovery, gets, lists and watches of complete objects |
 * | `/healthz`, `/readyz`, `/metrics` | those of {@linkcode informerProbes} |
 *
 * - The informers are acquired while there are requests, so the upstream watch follows demand; those of a relay that
 *   names a `cluster` are held from the beginning.
 * - Each change is written as text once for each selection, and its bytes are shared by all clients. A client that does
 *   not read is disconnected, and what is kept for all clients together has a bound, `maxBytes`.
 * - Where `redact` may hide objects, their number is not served: neither in events nor in `/metrics`. Clients to which
 *   `authorize` grants some objects are served as if there were no others.
 * - Errors are JSON: `{"error": "…"}`. 400 is a parameter or host that cannot be read, 401 and 403 a request that may
 *   not be answered, 404 an unknown path, collection or stream of views, 408 a body that is late, 413, 414 and 431 a
 *   body, an address or a header that is too long, 421 a host that `hosts` lacks, 500 an error of `authorize`, 501 a
 *   method that is too long, 502 an API server that refuses the relay, and 503, with `Retry-After`, a cache that has
 *   not synced, too many requests, lists or views, or a relay that was disposed. Those below `/kubernetes` are a
 *   Status, as a server's.
 *
 * @example
 * ```ts
 * import { Client, SharedInformerFactory } from "@kube/informer";
 * import { InformerRelay } from "@kube/informer/relay";
 * import { Pod } from "@kube/informer/kinds/core/v1";
 * import { FakeApiServer, pod } from "@kube/informer/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const server = new FakeApiServer();
 * server.create(Pod, pod({ name: "cart-0", namespace: "shop" }));
 * using client = new Client({ server: "http://fake", transport: server });
 * await using informers = new SharedInformerFactory(client);
 * await using relay = new InformerRelay(informers, { collections: { pods: Pod } }); // Deno.serve(relay.fetch)
 * const request = new Request("http://localhost/api/pods?namespace=shop&fields=metadata.name");
 * const response = await relay.fetch(request, { remoteAddr: { hostname: "127.0.0.1" } });
 * const { state, items } = await response.json();
 * assertEquals([state, items[0].metadata.name], ["live", "cart-0"]);
 * ```
 */
export class InformerRelay implements AsyncDisposable {
  readonly #settings: RelaySettings;
  readonly #guard: RequestGuard;
  readonly #requests: OpenRequests;
  readonly #collections: ReadonlyMap<string, ServedCollection>;
  readonly #views: ViewHub;
  readonly #kubernetes: KubernetesApi;
  readonly #probes: (request: Request) => Response;
  #isOver = false;

  /**
   * Makes a relay, which asks the API server for nothing before its first request, unless it names a `cluster`. The
   * caller disposes the factory.
   *
   * @throws {TypeError} when there is no collection, the name of one cannot be part of an address, or an origin is
   *   none.
   * @throws {RangeError} when a number is out of range.
   */
  constructor(informers: SharedInformerFactory, options: RelayOptions) {
    if (typeof informers?.acquire !== "function") {
      throw new TypeError(
        "Cannot create a relay: the first argument is not a SharedInformerFactory. Pass the factory instead of one of " +
          "its informers, and name the kinds in { collections: { pods: Pod } }",
      );
    }
    const settings = relaySettings(options);
    const { redact, maxStaleMs } = settings;
    this.#settings = settings;
    this.#guard = new RequestGuard(settings);
    this.#requests = new OpenRequests(settings);
    this.#probes = probesOf(informers, { maxStaleMs, hidesCounts: redact !== undefined });
    const names = Object.keys(settings.collections);
    this.#collections = new Map(names.map((name) => [name, new ServedCollection(informers, name, settings)]));
    this.#views = new ViewHub(this.#collections, settings);
    this.#kubernetes = new KubernetesApi(this.#collections.values(), settings);
    if (settings.isReplica) { for (const collection of this.#collections.values()) collection.follow(); }
  }

  /**
   * Answers a request, for `Deno.serve(relay.fetch)` or any other server. It never rejects.
   *
   * @param info The connection, which `Deno.serve` passes; without `authorize` a request without it is refused.
   */
  readonly fetch = async (request: Request, info?: ConnectionInfo): Promise<Response> => {
    const response = await this.#answer(request, info);
    for (const [name, value] of Object.entries(this.#guard.corsHeaders(request))) response.headers.set(name, value);
    return response;
  };

  /** Returns the present status. */
  status(): RelayStatus {
    const streams = [...this.#collections.values()].flatMap((collection) => {
      const watches = this.#kubernetes.streamsOf(collection);
      const { name, streams = watches } = collection;
      return streams === undefined ? [] : [[name, (collection.streams ?? 0) + (watches ?? 0)]];
    });
    return {
      connections: this.#requests.size,
      streams: Object.fromEntries(streams),
      bytes: this.#settings.budget.bytes,
    };
  }

  /** Ends all streams, with the reason `closed`, cuts lists that are being read, and gives the informers back. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    for (const collection of this.#collections.values()) collection[Symbol.dispose]();
    this.#views[Symbol.dispose]();
    this.#kubernetes[Symbol.dispose]();
    return Promise.resolve();
  }

  async #answer(request: Request, info: ConnectionInfo | undefined): Promise<Response> {
    const refusal = this.#guard.check(request, info);
    if (refusal !== undefined) return refuse(request, refusal);
    using open = this.#requests.admit();
    if (open === undefined) {
      return refuse(request, {
        status: 503,
        reason: `the relay is already serving ${this.#requests.limit} requests, which is its limit`,
      });
    }
    try {
      return await this.#route(request, open, info);
    } catch (cause) {
      this.#settings.onError(new InformerError("Cannot respond to a request", { cause }));
      return refuse(request, { status: 500, reason: "the relay failed; its log has the reason" });
    }
  }

  /** Answers a request by what its path names, once it was authorized. */
  async #route(request: Request, open: OpenRequest, connection: ConnectionInfo | undefined): Promise<Response> {
    // Browsers send no credentials with a preflight, which reads nothing.
    if (request.method === "OPTIONS") return answerPreflight();
    const isProbe = PROBE_PATHS.includes(new URL(request.url).pathname);
    const { requested, answer } = isProbe
      ? planWithoutData(({ rights }) => this.#probe(request, rights !== undefined))
      : await this.#plan(request, open);
    const access = await askAccess({ request, requested, connection }, this.#settings);
    if (access instanceof Response) return access;
    if (!isProbe && this.#isOver) return refuse(request, { status: 503, reason: "the relay was stopped" });
    return await answer(access);
  }

  /** Answers a probe; metrics count all objects. */
  #probe(request: Request, isLimited: boolean): Response {
    if (!isLimited || new URL(request.url).pathname !== "/metrics") return this.#probes(request);
    return refuse(request, { status: 403, reason: "only users who may see all objects may read metrics" });
  }

  async #plan(request: Request, open: OpenRequest): Promise<RequestPlan> {
    return this.#kubernetes.plan(request, open) ?? await planViews(request, this.#views, open) ??
      planCollections(request, this.#collections, open) ??
      planWithoutData(() =>
        refuse(request, { status: 404, reason: "the relay serves /api/<name>, /events/<name> and /views" })
      );
  }
}
