/**
 * A relay: serves the caches of informers to clients without credentials of the cluster.
 *
 * {@linkcode InformerRelay} is the entry point. It routes requests to collections, views and the Kubernetes API, and
 * owns what they share. It opens no port.
 *
 * @module
 */
import { resourceName } from "../../engine/api/resource.ts";
import { InformerError } from "../../engine/errors/informer_error.ts";
import { checkNames } from "../../engine/errors/option_names.ts";
import { answerProbe, informerMetrics, PROBE_PATHS } from "../../engine/informer/metrics.ts";
import type { SharedInformerFactory } from "../../engine/informer/shared_informer_factory.ts";
import { askAccess, planWithoutData, type RequestPlan } from "./access.ts";
import { answerPreflight, refuseRequest } from "./answers.ts";
import { planCollections, ServedCollection } from "./collections.ts";
import { RequestGuard } from "./guard.ts";
import { KubernetesApi } from "./kubernetes_api.ts";
import { type OpenRequest, OpenRequests } from "./open_requests.ts";
import { type ConnectionInfo, type RelayOptions, type RelaySettings, relaySettings } from "./options.ts";
import { planViews, ViewHub } from "./views.ts";

/** Options for {@linkcode informerProbes}. */
export interface InformerProbesOptions {
  /**
   * The longest time in milliseconds for which a cache may be out of date before `/readyz` fails. `Infinity` means
   * never.
   * @default {60_000}
   */
  readonly maxStaleMs?: number;
}

/**
 * Returns a function that serves `/healthz`, `/readyz` and `/metrics` for a factory's informers. Use it on a second
 * port, because the kubelet asks for probes under names that a relay's `hosts` does not list.
 *
 * - `/healthz` responds with 200.
 * - `/readyz` responds with 200 if every informer has synced and has been live within `maxStaleMs`. Informers that are
 *   not started, or paused because nobody reads them, do not count.
 * - `/metrics` responds with the informers' status in the OpenMetrics format.
 *
 * A failed probe responds with 503 and the reasons as text. Other paths respond with 404, and other methods than GET
 * and HEAD with 405.
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

/** The status of an {@linkcode InformerRelay}. */
export interface RelayStatus {
  /** How many requests are open, event streams included. */
  readonly connections: number;
  /**
   * How many event streams each collection has. A collection is listed if it has streams, had one within `lingerMs`, or
   * is followed because the relay has a `cluster` name. Streams of views are not counted.
   */
  readonly streams: Readonly<Record<string, number>>;
  /** How many bytes of `maxBytes` the relay uses for its clients. */
  readonly bytes: number;
}

/**
 * Serves informer caches to any number of clients, as JSON and as server-sent events, from one watch per collection.
 * See the guide: [Serve a cache to many clients](../../../docs/relay/serve.md).
 *
 * | path | response |
 * | --- | --- |
 * | `/api` | the collections: {@linkcode CollectionList} |
 * | `/api/<name>` | a list with an ETag: {@linkcode RelayList} |
 * | `/events/<name>` | a snapshot, then changes; a client resumes with `Last-Event-ID`: {@linkcode RelayEvents} |
 * | `/views`, `/views/<id>` | windows of sorted objects, and their changes: {@linkcode ViewEvents} |
 * | `/kubernetes/api/v1/…`, `/kubernetes/apis/…` | the Kubernetes API: discovery, gets, lists and watches of complete objects |
 * | `/healthz`, `/readyz`, `/metrics` | the same as {@linkcode informerProbes} |
 *
 * - **The watch follows demand.** The relay acquires an informer for the first request, and releases it after the last
 *   stream has ended. A relay with a `cluster` name holds its informers from the start.
 * - **Clients share the work.** The relay encodes each change once per selection, and sends the same bytes to all.
 * - **Memory has a limit.** The relay disconnects clients that do not read. All buffers together have one limit,
 *   `maxBytes`.
 * - **Counts cannot reveal hidden objects.** With `redact`, neither events nor `/metrics` count the objects of a
 *   collection. For a user with limited rights, the relay behaves as if no other objects existed.
 *
 * Errors are JSON, `{"error": "…"}`. Below `/kubernetes` they are a Kubernetes `Status`.
 *
 * | status | reason |
 * | --- | --- |
 * | 400 | a parameter or host is invalid |
 * | 401, 403 | `authorize` or the relay refuses the request |
 * | 404 | the path, collection or view stream is unknown |
 * | 408 | the body came too late |
 * | 413, 414, 431, 501 | the body, the address, a header or the method is too long |
 * | 421 | `hosts` does not list the host |
 * | 500 | `authorize` has failed |
 * | 502 | the API server refuses the relay |
 * | 503 with `Retry-After` | the cache has not synced, there are too many requests, lists or views, or the relay was disposed |
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
   * Creates a relay. It sends no request to the API server before its own first request, unless you set `cluster`. You
   * dispose the factory yourself, after the relay.
   *
   * @throws {TypeError} if `collections` is empty, a collection's name cannot be part of an address, or an origin is
   * invalid.
   * @throws {RangeError} if a number is out of range.
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
   * Handles a request. Pass this function to `Deno.serve`, `FetchServer.listen` or any other server. It never rejects.
   *
   * @param info The connection, which `Deno.serve` and `FetchServer` pass. Without `authorize`, the relay refuses
   * requests that come without it.
   */
  readonly fetch = async (request: Request, info?: ConnectionInfo): Promise<Response> => {
    const response = await this.#answer(request, info);
    for (const [name, value] of Object.entries(this.#guard.corsHeaders(request))) response.headers.set(name, value);
    return response;
  };

  /** Returns the current status. */
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

  /** Ends all streams with the reason `closed`, cuts lists that are being read, and releases the informers. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    for (const collection of this.#collections.values()) collection[Symbol.dispose]();
    this.#views[Symbol.dispose]();
    this.#kubernetes[Symbol.dispose]();
    return Promise.resolve();
  }

  async #answer(request: Request, info: ConnectionInfo | undefined): Promise<Response> {
    const refusal = this.#guard.check(request, info);
    if (refusal !== undefined) return refuseRequest(request, refusal);
    using open = this.#requests.admit();
    if (open === undefined) {
      return refuseRequest(request, {
        status: 503,
        reason: `the relay is already serving ${this.#requests.limit} requests, which is its limit`,
      });
    }
    try {
      return await this.#route(request, open, info);
    } catch (cause) {
      this.#settings.onError(new InformerError("Cannot respond to a request", { cause }));
      return refuseRequest(request, { status: 500, reason: "the relay failed; its log has the reason" });
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
    if (!isProbe && this.#isOver) return refuseRequest(request, { status: 503, reason: "the relay was stopped" });
    return await answer(access);
  }

  /** Answers a probe; metrics count all objects. */
  #probe(request: Request, isLimited: boolean): Response {
    if (!isLimited || new URL(request.url).pathname !== "/metrics") return this.#probes(request);
    return refuseRequest(request, { status: 403, reason: "only users who may see all objects may read metrics" });
  }

  async #plan(request: Request, open: OpenRequest): Promise<RequestPlan> {
    return this.#kubernetes.plan(request, open) ?? await planViews(request, this.#views, open) ??
      planCollections(request, this.#collections, open) ??
      planWithoutData(() =>
        refuseRequest(request, { status: 404, reason: "the relay serves /api/<name>, /events/<name> and /views" })
      );
  }
}
