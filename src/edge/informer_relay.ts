import { type Resource, resourceName } from "../api/resource.ts";
import type { SharedInformerFactory } from "../informer/shared_informer_factory.ts";
import { answerProbe, informerMetrics, PROBE_PATHS } from "../metrics/metrics.ts";
import type { KubernetesObject } from "../api/object.ts";
import { checkDurations } from "../async/time.ts";
import { planCollections, type RelayedCollection, ServedCollection } from "./collections.ts";
import {
  answerPreflight,
  askAuthorization,
  type AuthorizeRequest,
  type ConnectionInfo,
  LOOPBACK_HOSTS,
  type OpenRequest,
  OpenRequests,
  planWithoutData,
  refuse,
  RequestGuard,
  type RequestPlan,
} from "./http.ts";
import { callObserver } from "../async/signals.ts";
import { ConsoleReporter } from "../errors/errors.ts";
import { InformerError } from "../errors/informer_error.ts";
import { ByteBudget } from "./byte_budget.ts";
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
  return probesOf(informers, options);
}

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
        return hidesCounts ? families.filter(({ name }) => name !== "informer_objects") : families;
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

/** The longest time between two heartbeats, in milliseconds: clients give up a stream that is silent for 70 s. */
const MAX_HEARTBEAT_MS = 30_000;

/** Options of an `InformerRelay`. */
export interface RelayOptions {
  /** The collections by the names that they have in addresses: `{ pods: Pod }` is `/api/pods` and `/events/pods`. */
  readonly collections: Readonly<Record<string, Resource | RelayedCollection>>;
  /**
   * Decides whether a request is answered, from its headers and the collections and namespaces that it asks for; its
   * body has been read. An open stream ends at `expiresAt`, and its client asks again; a request that replaces the
   * views of a stream may set another time. All clients that ask for an object see the same of it. An error that it
   * throws is reported, and answered by 500.
   *
   * `({ headers }, { namespaces }) => namespaces !== "all" && namespaces.every((name) => isAllowed(headers, name))`
   * lets clients see their namespaces.
   *
   * @default {clients on the same machine alone are answered, by servers that pass their address, as `Deno.serve` does}
   */
  readonly authorize?: AuthorizeRequest;
  /**
   * Returns what clients may see of an object, or `undefined` where that is nothing. It returns the same for the same
   * object, and changes nothing. Selectors and `fields` see its result alone. Secrets have no data, unless their
   * collection keeps it. An object for which it throws is left out, and the error is reported.
   *
   * @default {the object}
   */
  readonly redact?: (object: KubernetesObject, resource: Resource) => KubernetesObject | undefined;
  /**
   * The names under which this server is reached, without ports; `*.example.com` stands for all names that end so.
   * Requests to other names are refused, because a page of another site could make its name point here.
   *
   * @default {localhost, 127.0.0.1 and [::1]}
   */
  readonly hosts?: readonly string[];
  /**
   * The origins of other sites whose pages may ask and read answers, such as `"https://dash.example.com"`.
   *
   * @default {none}
   */
  readonly origins?: readonly string[];
  /**
   * The name of the cluster. Relays that name the same cluster resume each other's streams, where their caches are at
   * the same version; give another name to a cluster that was made anew.
   *
   * @default {streams are resumed by the relay that they came from}
   */
  readonly cluster?: string;
  /**
   * The largest number of requests that are answered at one time, with answers that are not read to their end; others
   * are answered by
   * 503. Each of `Deno.serve` takes some 65 kB of memory, up to one part of its answer that is not read (64 kB, or one
   *   object), and an
   * open file. Connections without a request are bounded by the open files of the process alone.
   *
   * @default {2_000}
   */
  readonly maxConnections?: number;
  /**
   * The number of bytes that the relay keeps for its clients, beside one copy of its collections: a quarter for
   * changes, by which clients resume, and parts of snapshots that are being read; three quarters for the rows of views,
   * and the versions of objects that unread lists hold. Where they are used up, the oldest changes are forgotten, the
   * oldest unread list is cut, views without readers are closed, and then views are refused by 503.
   *
   * @default {134_217_728}
   */
  readonly maxBytes?: number;
  /** The time between two heartbeats of a stream, in milliseconds, 30 s at most. @default {15_000} */
  readonly heartbeatMs?: number;
  /**
   * The time for which a client may leave unread what there is to read of a stream or a list, in milliseconds;
   * `Infinity` is for ever.
   *
   * @default {30_000}
   */
  readonly stallMs?: number;
  /** The time for which a list waits for the first sync, in milliseconds; `Infinity` is for ever. @default {10_000} */
  readonly syncMs?: number;
  /**
   * The time from the end of the last stream of a collection to the release of its informer, in milliseconds, so that
   * clients that reconnect can resume; `Infinity` keeps it. The informer's own `idleMs` follows.
   *
   * @default {10_000}
   */
  readonly lingerMs?: number;
  /**
   * The age from which a cache that is not live makes `/readyz` fail, in milliseconds; `Infinity` is never.
   *
   * @default {60_000}
   */
  readonly maxStaleMs?: number;
  /**
   * Called with errors of `authorize` and `redact`, and with the reason of each answer by 500.
   *
   * @default {written to the console}
   */
  readonly onError?: (error: unknown) => unknown;
}

/** The options of a relay with their defaults. */
type RelaySettings =
  & RelayOptions
  & Required<Omit<RelayOptions, "authorize" | "redact" | "maxStaleMs" | "onError">>;

/**
 * Returns the options with their defaults.
 *
 * @throws {TypeError} when there is no collection.
 * @throws {RangeError} when a number is out of range.
 */
function relaySettings(options: RelayOptions): RelaySettings {
  const { hosts = LOOPBACK_HOSTS, origins = [], cluster = crypto.randomUUID() } = options;
  const { maxConnections = 2_000, maxBytes = 134_217_728, heartbeatMs = 15_000 } = options;
  const { stallMs = 30_000, syncMs = 10_000, lingerMs = 10_000, maxStaleMs } = options;
  if (Object.keys(options.collections).length === 0) {
    throw new TypeError("Cannot make a relay: found no collection, expected one at least");
  }
  checkDurations("make a relay", { stallMs, syncMs, lingerMs, maxStaleMs });
  checkDurations("make a relay", { heartbeatMs }, { min: 1, finite: true });
  if (heartbeatMs > MAX_HEARTBEAT_MS) {
    throw new RangeError(
      `Cannot make a relay: heartbeatMs must be at most ${MAX_HEARTBEAT_MS} milliseconds, found ${heartbeatMs}`,
    );
  }
  checkLeast({ maxBytes }, 0);
  checkLeast({ maxConnections }, 1);
  const times = { heartbeatMs, stallMs, syncMs, lingerMs };
  return { ...options, hosts, origins, cluster, maxConnections, maxBytes, ...times };
}

/** Checks options that are counts. @throws {RangeError} when one is less. */
function checkLeast(counts: Readonly<Record<string, number>>, least: number): void {
  for (const [name, value] of Object.entries(counts)) {
    if (!(value >= least)) {
      throw new RangeError(`Cannot make a relay: ${name} must be at least ${least}, found ${value}`);
    }
  }
}

/** The status of a {@linkcode InformerRelay}. */
export interface RelayStatus {
  /** The number of requests that are being answered, open streams included. */
  readonly connections: number;
  /**
   * The number of event streams of each collection that has any, or had some within `lingerMs`; those of views are not
   * among them.
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
 * | `/healthz`, `/readyz`, `/metrics` | those of {@linkcode informerProbes} |
 *
 * - The informers are acquired while there are requests, so the upstream watch follows demand.
 * - Each change is written as text once for each selection, and its bytes are shared by all clients. A client that does
 *   not read is disconnected, and what is kept for all clients together has a bound, `maxBytes`.
 * - Where `redact` may hide objects, their number is not served: neither in events nor in `/metrics`.
 * - Errors are JSON: `{"error": "…"}`. 400 is a parameter or host that cannot be read, 401 and 403 a request that may
 *   not be answered, 404 an unknown path, collection or stream of views, 408 a body that is late, 413 and 414 a body or
 *   query that is too long, 421 a host that `hosts` lacks, 500 an error of `authorize`, 502 an API server that refuses
 *   the relay, and 503, with `Retry-After`, a cache that has not synced, too many requests, lists or views, or a relay
 *   that was disposed.
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
   * @throws {TypeError} when there is no collection, the name of one cannot be part of an address, or an origin is
   *   none.
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
