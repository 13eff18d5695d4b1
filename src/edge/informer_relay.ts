import { callObserver } from "../async/report_uncaught.ts";
import { ConsoleReporter } from "../errors/console_reporter.ts";
import { InformerError } from "../errors/informer_error.ts";
import type { SharedInformerFactory } from "../informer/shared_informer_factory.ts";
import { PROBE_PATHS } from "../metrics/answer_probe.ts";
import { ByteBudget } from "./budget/byte_budget.ts";
import { planCollections } from "./collection/plan_collections.ts";
import { ServedCollection } from "./collection/served_collection.ts";
import { answerPreflight } from "./http/answer_preflight.ts";
import { askAuthorization, planWithoutData, type RequestPlan } from "./http/authorization.ts";
import { type OpenRequest, OpenRequests } from "./http/open_requests.ts";
import { refuse } from "./http/refuse.ts";
import { type ConnectionInfo, RequestGuard } from "./http/request_guard.ts";
import { probesOf } from "./informer_probes.ts";
import { type RelayOptions, type RelaySettings, relaySettings } from "./relay_options.ts";
import { planViews } from "./views/plan_views.ts";
import { ViewHub } from "./views/view_hub.ts";

/** The status of a {@linkcode InformerRelay}. */
export interface RelayStatus {
  /** The number of requests that are being answered, open streams included. */
  readonly connections: number;
  /** The number of event streams of each collection that has any, or had some within `lingerMs`; those of views are not among them. */
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
 * | `/healthz`, `/readyz`, `/metrics` | those of {@linkcode informerProbes} |
 *
 * - The informers are acquired while there are requests, so the upstream watch follows demand.
 * - Each change is written as text once for each selection, and its bytes are shared by all clients. A client that does not read
 *   is disconnected, and what is kept for all clients together has a bound, `maxBytes`.
 * - Where `redact` may hide objects, their number is not served: neither in events nor in `/metrics`.
 * - Errors are JSON: `{"error": "…"}`. 400 is a parameter or host that cannot be read, 401 and 403 a request that may not be
 *   answered, 404 an unknown path, collection or stream of views, 408 a body that is late, 413 and 414 a body or query that is too
 *   long, 421 a host that `hosts` lacks, 500 an error of `authorize`, 502 an API server that refuses the relay, and 503, with
 *   `Retry-After`, a cache that has not synced, too many requests, lists or views, or a relay that was disposed.
 *
 * @example
 * ```ts
 * import { Client, SharedInformerFactory } from "@kube/informer";
 * import { InformerRelay } from "@kube/informer/edge";
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
  readonly #budget: ByteBudget;
  readonly #collections: ReadonlyMap<string, ServedCollection>;
  readonly #views: ViewHub;
  readonly #probes: (request: Request) => Response;
  readonly #reporter = new ConsoleReporter();
  /** Aborts with the disposal. */
  readonly #job = new AbortController();

  /**
   * Makes a relay, which asks the API server for nothing before its first request. The caller disposes the factory.
   *
   * @throws {TypeError} when there is no collection, the name of one cannot be part of an address, or an origin is none.
   * @throws {RangeError} when a number is out of range.
   */
  constructor(informers: SharedInformerFactory, options: RelayOptions) {
    const settings = relaySettings(options);
    const onError = (error: unknown): void => this.#report(error);
    const { authorize, collections, hosts, origins } = settings;
    this.#settings = settings;
    this.#guard = new RequestGuard({ hosts, origins, isLocal: authorize === undefined });
    this.#requests = new OpenRequests(settings.maxConnections);
    const budget = this.#budget = new ByteBudget(settings.maxBytes);
    const { redact, maxStaleMs } = settings;
    this.#probes = probesOf(informers, { maxStaleMs, hidesCounts: redact !== undefined });
    this.#collections = new Map(
      Object.entries(collections).map(([name, given]) => {
        return [name, new ServedCollection(informers, name, given, { ...settings, budget, onError })];
      }),
    );
    this.#views = new ViewHub(this.#collections, { ...settings, budget });
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
    const streams = [...this.#collections.values()].flatMap(({ name, streams }) => {
      return streams === undefined ? [] : [[name, streams]];
    });
    return { connections: this.#requests.size, streams: Object.fromEntries(streams), bytes: this.#budget.bytes };
  }

  /** Ends all streams, with the reason `closed`, cuts lists that are being read, and gives the informers back. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#job.abort(new DOMException("The relay was disposed", "AbortError"));
    for (const collection of this.#collections.values()) {
      collection[Symbol.dispose]();
      collection.lists[Symbol.dispose]();
    }
    this.#views[Symbol.dispose]();
    return Promise.resolve();
  }

  async #answer(request: Request, info: ConnectionInfo | undefined): Promise<Response> {
    const refusal = this.#guard.check(request, info);
    if (refusal !== undefined) return refuse(request, refusal);
    using open = this.#requests.admit();
    if (open === undefined) {
      return refuse(request, { status: 503, reason: `${this.#requests.limit} requests are being answered already` });
    }
    try {
      return await this.#route(request, open);
    } catch (cause) {
      this.#report(new InformerError("Cannot answer a request", { cause }));
      return refuse(request, { status: 500, reason: "the relay has failed; its log has the reason" });
    }
  }

  /** Answers a request by what its path names, once it was authorized. */
  async #route(request: Request, open: OpenRequest): Promise<Response> {
    // Browsers send no credentials with a preflight, which reads nothing.
    if (request.method === "OPTIONS") return answerPreflight();
    const { authorize } = this.#settings;
    const isProbe = PROBE_PATHS.includes(new URL(request.url).pathname);
    const { requested, answer } = isProbe
      ? planWithoutData(() => this.#probes(request))
      : await this.#plan(request, open);
    const authorization = authorize === undefined ? {} : await askAuthorization(request, requested, authorize);
    if (authorization instanceof Response) return authorization;
    if (!isProbe && this.#job.signal.aborted) return refuse(request, { status: 503, reason: "the relay was stopped" });
    return await answer(authorization.expiresAt);
  }

  async #plan(request: Request, open: OpenRequest): Promise<RequestPlan> {
    const { signal } = this.#job;
    const { syncMs, stallMs } = this.#settings;
    return await planViews(request, { hub: this.#views, open }) ??
      planCollections(request, { collections: this.#collections, open, signal, syncMs, stallMs }) ??
      planWithoutData(() => refuse(request, { status: 404, reason: "expected /api/<name>, /events/<name> or /views" }));
  }

  #report(error: unknown): void {
    const { onError = (error) => this.#reporter.report("relay", error) } = this.#settings;
    callObserver(() => onError(error));
  }
}
