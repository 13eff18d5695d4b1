import { eTag, ifNoneMatch } from "@std/http/etag";
import { accepts } from "@std/http/negotiation";
import type { KubernetesObject } from "../api/object.ts";
import type { Selection } from "../api/options.ts";
import { type Resource, resourceName } from "../api/resource.ts";
import { isSecret } from "../api/is_secret.ts";
import type { TableRow } from "../api/table_row.ts";
import { DerivedController } from "../async/derived_controller.ts";
import { nextTurn } from "../async/next_turn.ts";
import { callObserver } from "../async/report_uncaught.ts";
import { LongTimer } from "../async/time/long_timer.ts";
import { checkDurations } from "../async/time/duration.ts";
import { ConsoleReporter } from "../errors/console_reporter.ts";
import { InformerError } from "../errors/informer_error.ts";
import type { AcquiredInformer } from "../informer/acquired_informer.ts";
import type { SharedIndexInformerOptions } from "../informer/options.ts";
import type { SharedInformerFactory } from "../informer/shared_informer_factory.ts";
import { PROBE_PATHS } from "../metrics/answer_probe.ts";
import { answerViews } from "./answer_views.ts";
import { Feed, readable, stateOf } from "./feed.ts";
import { informerProbes } from "./informer_probes.ts";
import { ObjectSelection } from "./object_selection.ts";
import { type ConnectionInfo, LOOPBACK_HOSTS, type Refusal, RequestGuard } from "./request_guard.ts";
import { type Show, ShownObject } from "./shown_object.ts";
import { objectTexts } from "./snapshot.ts";
import type { CollectionList } from "./view_events.ts";
import { ViewHub } from "./view_hub.ts";

/**
 * One collection that a relay serves: its resource, and the options of its informer. The data of Secrets is served if
 * `keep: "data"` asks for it.
 */
export interface RelayedCollection extends Selection, SharedIndexInformerOptions<KubernetesObject> {
  /** The kind, or the table of it: then views have its rows, and lists and event streams the objects in them. */
  readonly resource: Resource;
}

/** An answer of `authorize`: whether the request is answered, and until when a stream stays open; a response is sent as it is. */
export type Authorization = boolean | Response | { readonly expiresAt: Date };

/** Options of a {@linkcode InformerRelay}. */
export interface RelayOptions {
  /** The collections by the names that they have in addresses: `{ pods: Pod }` is `/api/pods` and `/events/pods`. */
  readonly collections: Readonly<Record<string, Resource | RelayedCollection>>;
  /**
   * Decides whether a request is answered. An open stream ends at `expiresAt`, and its client asks again. An error that it throws
   * is reported, and answered by 500.
   *
   * @default {clients on the same machine alone are answered, by servers that pass their address, as `Deno.serve` does}
   */
  readonly authorize?: (
    request: Request,
  ) => Authorization | Promise<Authorization>;
  /**
   * Returns what clients may see of an object, or `undefined` where that is nothing. It returns the same for the same object, and
   * changes nothing. Selectors and `fields` see its result alone. Secrets have no data, unless their collection keeps it. An object
   * for which it throws is left out, and the error is reported.
   *
   * @default {the object}
   */
  readonly redact?: (
    object: KubernetesObject,
    resource: Resource,
  ) => KubernetesObject | undefined;
  /**
   * The names under which this server is reached, without ports; `*.example.com` stands for all names that end so. Requests to other
   * names are refused, because a page of another site could make its name point here.
   *
   * @default {localhost, 127.0.0.1 and [::1]}
   */
  readonly hosts?: readonly string[];
  /** The origins of other sites whose pages may ask and read answers, such as `"https://dash.example.com"`. @default {none} */
  readonly origins?: readonly string[];
  /**
   * The name of the cluster. Relays that name the same cluster resume each other's streams, where their caches are at the same
   * version; give another name to a cluster that was made anew.
   *
   * @default {streams are resumed by the relay that they came from}
   */
  readonly cluster?: string;
  /** The largest number of requests that are answered at one time, open streams included; others are answered by 503. @default {2_000} */
  readonly maxConnections?: number;
  /** The largest number of bytes of changes that are kept of each collection. @default {8_388_608} */
  readonly ringBytes?: number;
  /** The time between two heartbeats of a stream, in milliseconds, 30 s at most. @default {15_000} */
  readonly heartbeatMs?: number;
  /** The time for which a client may leave unread what there is to read, in milliseconds. @default {30_000} */
  readonly stallMs?: number;
  /** The time for which a list waits for the first sync, in milliseconds. @default {10_000} */
  readonly syncMs?: number;
  /**
   * The time from the end of the last stream of a collection to the release of its informer, in milliseconds, so that clients that
   * reconnect can resume. The informer's own `idleMs` follows.
   *
   * @default {10_000}
   */
  readonly lingerMs?: number;
  /** The age from which a cache that is not live makes `/readyz` fail, in milliseconds. @default {60_000} */
  readonly maxStaleMs?: number;
  /** Called with errors of `authorize` and `redact`. @default {written to the console} */
  readonly onError?: (error: unknown) => unknown;
}

/** The status of a {@linkcode InformerRelay}. */
export interface RelayStatus {
  /** The number of requests that are being answered, open streams included. */
  readonly connections: number;
  /** The number of open streams of each collection that has any, or had some a short time ago. */
  readonly streams: Readonly<Record<string, number>>;
}

/** A collection, with the functions and the time that it needs. */
interface Served {
  readonly name: string;
  readonly collection: RelayedCollection;
  readonly show: Show;
  /** Returns what clients may see of an object of views: the row, where the collection is a table. */
  readonly showRow: Show;
  /** Set while there are streams, and `lingerMs` longer. */
  feed: Feed | undefined;
  readonly linger: LongTimer;
}

const ROUTE = /^\/(api|events)\/([^/]+)$/;

/** Headers of all answers. */
const HEADERS: Readonly<Record<string, string>> = {
  "cache-control": "no-cache",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
  "x-content-type-options": "nosniff",
};

const encoder = new TextEncoder();

/**
 * Serves the caches of informers to any number of clients, as JSON and as server-sent events, from one upstream watch.
 *
 * `GET /api/<name>` is a list with an entity tag, `GET /events/<name>` a snapshot and then changes, which a client resumes by
 * `Last-Event-ID`; both take `namespace`, `labelSelector`, `fieldSelector` and `fields`. Their format is that of
 * {@linkcode RelayEvents}. `/healthz`, `/readyz` and `/metrics` are those of {@linkcode informerProbes}.
 *
 * - The informers are acquired while there are requests, so the upstream watch follows demand.
 * - Each change is written as text once for each selection, and its bytes are shared by all clients. A client that does not read
 *   is disconnected; nothing is kept for it.
 * - Errors are JSON: `{"error": "…"}`.
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
  readonly #informers: SharedInformerFactory;
  readonly #options: RelayOptions;
  readonly #guard: RequestGuard;
  readonly #served: ReadonlyMap<string, Served>;
  readonly #views: ViewHub;
  readonly #probes: (request: Request) => Response;
  readonly #reporter = new ConsoleReporter();
  /** The name of the cluster, or of this relay alone. */
  readonly #cluster: string;
  /** Aborts with the disposal. */
  readonly #job = new AbortController();
  #connections = 0;

  /**
   * Makes a relay, which asks the API server for nothing before its first request. The caller disposes the factory.
   *
   * @throws {TypeError} when there is no collection, the name of one cannot be part of an address, or an origin is none.
   * @throws {RangeError} when a number is out of range.
   */
  constructor(informers: SharedInformerFactory, options: RelayOptions) {
    const {
      authorize,
      hosts = LOOPBACK_HOSTS,
      origins = [],
      heartbeatMs = 15_000,
      maxStaleMs,
    } = options;
    const { stallMs, syncMs, lingerMs, ringBytes = 0, maxConnections = 1 } = options;
    checkDurations("make a relay", { stallMs, syncMs, lingerMs, maxStaleMs });
    checkDurations("make a relay", { heartbeatMs }, { min: 1, finite: true });
    if (heartbeatMs > 30_000) {
      throw new RangeError(
        `Cannot make a relay: heartbeatMs must be at most 30000`,
      );
    }
    if (!(ringBytes >= 0)) {
      throw new RangeError(
        `Cannot make a relay: ringBytes must be at least 0, found ${ringBytes}`,
      );
    }
    if (!(maxConnections >= 1)) {
      throw new RangeError(
        `Cannot make a relay: maxConnections must be at least 1, found ${maxConnections}`,
      );
    }
    this.#informers = informers;
    this.#options = options;
    this.#guard = new RequestGuard({
      hosts: hosts.map((it) => it.toLowerCase()),
      origins,
      isLocal: authorize === undefined,
    });
    this.#probes = informerProbes(informers, { maxStaleMs });
    this.#cluster = options.cluster ?? crypto.randomUUID();
    const names = Object.keys(options.collections);
    if (names.length === 0) {
      throw new TypeError(
        "Cannot make a relay: found no collection, expected one at least",
      );
    }
    this.#served = new Map(
      names.map((name) => [name, this.#serve(name, options.collections[name])]),
    );
    this.#views = new ViewHub({
      collection: (name) => {
        const served = this.#served.get(name);
        const hides = options.redact !== undefined;
        return served && { acquire: () => this.#acquire(served), show: served.showRow, hides };
      },
      heartbeatMs,
      stallMs: stallMs ?? 30_000,
      lingerMs: lingerMs ?? 10_000,
    });
  }

  /**
   * Answers a request, for `Deno.serve(relay.fetch)` or any other server. It never rejects.
   *
   * @param info The connection, which `Deno.serve` passes; without `authorize` a request without it is refused.
   */
  readonly fetch = async (
    request: Request,
    info?: ConnectionInfo,
  ): Promise<Response> => {
    const refusal = this.#guard.check(request, info);
    if (refusal !== undefined) return this.#refuse(request, refusal);
    const { maxConnections = 2_000 } = this.#options;
    if (this.#connections >= maxConnections) {
      return this.#refuse(request, {
        status: 503,
        reason: `${maxConnections} requests are being answered already`,
      });
    }
    this.#connections++;
    let isOver = false;
    const leave = (): void => {
      if (isOver) return;
      isOver = true;
      this.#connections--;
    };
    let isStream = false;
    try {
      const response = await this.#answer(request, () => {
        isStream = true;
        return leave;
      });
      for (
        const [name, value] of Object.entries(this.#guard.corsHeaders(request))
      ) response.headers.set(name, value);
      return response;
    } catch (error) {
      isStream = false;
      this.#report(
        new InformerError("Cannot answer a request", { cause: error }),
      );
      return this.#refuse(request, {
        status: 500,
        reason: "the relay has failed; its log has the reason",
      });
    } finally {
      if (!isStream) leave();
    }
  };

  /** Returns the present status. */
  status(): RelayStatus {
    const open = [...this.#served.values()].flatMap(({ name, feed }) => feed === undefined ? [] : [[name, feed.size]]);
    return {
      connections: this.#connections,
      streams: Object.fromEntries(open),
    };
  }

  /** Ends all streams, with the reason `closed`, and gives the informers back. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#job.abort(new DOMException("The relay was disposed", "AbortError"));
    for (const served of this.#served.values()) this.#release(served);
    this.#views[Symbol.dispose]();
    return Promise.resolve();
  }

  #serve(name: string, given: Resource | RelayedCollection): Served {
    if (!/^[\w.-]+$/.test(name) || name === "." || name === "..") {
      throw new TypeError(
        `Cannot serve ${JSON.stringify(name)}: expected letters, digits, ".", "_" and "-"`,
      );
    }
    const collection = "resource" in given ? given : { resource: given };
    const { resource } = collection;
    const { redact } = this.#options;
    const showRow = readable(
      ({ object }) => {
        const shown = isSecret(resource) ? withoutGetters(object) : object;
        return redact === undefined ? shown : redact(shown, resource);
      },
      (cause) =>
        this.#report(
          new InformerError(
            `Cannot redact one of "${resourceName(resource)}"`,
            { cause },
          ),
        ),
    );
    const showObject: Show = (entry) => (showRow(entry) as TableRow | undefined)?.object;
    const served: Served = {
      name,
      collection,
      show: resource.representation === "table" ? showObject : showRow,
      showRow,
      feed: undefined,
      linger: new LongTimer(() => this.#release(served)),
    };
    return served;
  }

  async #answer(request: Request, keep: () => () => void): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const authorization = await this.#authorize(request);
    if (authorization instanceof Response) {
      return new Response(authorization.body, authorization);
    }
    if (request.method === "OPTIONS") return this.#preflight(request);
    if (PROBE_PATHS.includes(pathname)) return this.#probes(request);
    const viewed = this.#job.signal.aborted ? undefined : await answerViews(request, {
      hub: this.#views,
      expiresAt: authorization.expiresAt,
      headers: HEADERS,
      keep,
      refuse: (status, reason, headers) => this.#refuse(request, { status, reason }, headers),
    });
    if (viewed !== undefined) return viewed;
    if (pathname === "/api" && request.method === "GET") {
      return Response.json(this.#collections(), { headers: HEADERS });
    }
    const [, route, name] = ROUTE.exec(pathname) ?? [];
    const served = this.#served.get(name);
    if (route === undefined) {
      return this.#refuse(request, {
        status: 404,
        reason: "expected /api/<name>, /events/<name> or /views",
      });
    }
    if (served === undefined) {
      const names = [...this.#served.keys()].join(", ");
      return this.#refuse(request, {
        status: 404,
        reason: `found no collection of that name, expected one of ${names}`,
      });
    }
    if (request.method !== "GET" && request.method !== "HEAD") {
      return this.#refuse(request, { status: 405, reason: "use GET" }, {
        allow: "GET, HEAD",
      });
    }
    const type = route === "api" ? "application/json" : "text/event-stream";
    if (accepts(request, type) === undefined) {
      return this.#refuse(request, { status: 406, reason: `expected ${type}` });
    }
    let selection: ObjectSelection;
    try {
      selection = ObjectSelection.parse(
        searchParams,
        route === "api" ? [] : ["lastEventId"],
      );
    } catch (error) {
      return this.#refuse(request, {
        status: 400,
        reason: (error as Error).message,
      });
    }
    const scope = await digest(
      JSON.stringify([
        this.#cluster,
        name,
        served.collection.namespaces,
        selection.id,
      ]),
    );
    if (this.#job.signal.aborted) {
      return this.#refuse(request, {
        status: 503,
        reason: "the relay was stopped",
      });
    }
    if (route === "api") {
      return await this.#list(request, served, selection, scope);
    }
    if (request.method === "HEAD") {
      return new Response(null, {
        headers: { ...HEADERS, "content-type": type },
      });
    }
    return this.#stream(
      request,
      served,
      selection,
      scope,
      authorization.expiresAt,
      keep,
    );
  }

  /** Returns the collections, for pages that show any. */
  #collections(): CollectionList {
    return {
      collections: [...this.#served.values()].map(({ name, collection: { resource } }) => {
        const { kind, scope } = resource;
        return { name, kind, scope, isTable: resource.representation === "table" };
      }),
    };
  }

  async #authorize(
    request: Request,
  ): Promise<Response | { readonly expiresAt?: Date }> {
    const { authorize } = this.#options;
    // Browsers send no credentials with a preflight, which reads nothing.
    if (authorize === undefined || request.method === "OPTIONS") return {};
    const answer = await authorize(request);
    if (answer === true) return {};
    if (answer === false) {
      return this.#refuse(request, { status: 403, reason: "not allowed" });
    }
    if (answer instanceof Response) return answer;
    if (!(answer.expiresAt.getTime() > Date.now())) {
      return this.#refuse(request, {
        status: 401,
        reason: "the time for which this was allowed is over",
      });
    }
    return answer;
  }

  #preflight(request: Request): Response {
    return this.#refuse(request, { status: 204, reason: "" }, {
      "access-control-allow-methods": "GET, HEAD, POST",
      "access-control-allow-headers": "authorization, content-type, if-none-match, last-event-id",
      "access-control-max-age": "600",
    });
  }

  async #list(
    request: Request,
    served: Served,
    selection: ObjectSelection,
    scope: string,
  ): Promise<Response> {
    using informer = this.#acquire(served);
    const problem = await this.#sync(informer);
    if (problem !== undefined) return this.#refuse(request, problem);
    const status = informer.status();
    const { resourceVersion, namespaces = [] } = status;
    const head = { name: served.name, resourceVersion, ...stateOf(status) };
    const versions = namespaces.map((it) => it.resourceVersion);
    const etag = await eTag(JSON.stringify([scope, versions, head]), {
      weak: true,
    });
    const headers = { ...HEADERS, "content-type": "application/json", etag };
    if (!ifNoneMatch(request.headers.get("if-none-match"), etag)) {
      return new Response(null, { status: 304, headers });
    }
    if (request.method === "HEAD") return new Response(null, { headers });
    const objects = informer.entries.list().map((entry) => new ShownObject(entry, served.show));
    return new Response(listBody(head, objectTexts(objects, selection)), {
      headers,
    });
  }

  #stream(
    request: Request,
    served: Served,
    selection: ObjectSelection,
    scope: string,
    expiresAt: Date | undefined,
    keep: () => () => void,
  ): Response {
    const {
      ringBytes = 8 * 1024 * 1024,
      heartbeatMs = 15_000,
      stallMs = 30_000,
      lingerMs = 10_000,
    } = this.#options;
    served.linger[Symbol.dispose]();
    const feed = served.feed ??= new Feed(this.#acquire(served), {
      show: served.show,
      ringBytes,
      heartbeatMs,
      stallMs,
      onStop: () => this.#release(served),
    });
    const leave = keep();
    const expiry = new LongTimer(() => stream.end("expired"));
    const lastEventId = request.headers.get("last-event-id") ??
      new URL(request.url).searchParams.get("lastEventId");
    const stream = feed.open({
      selection,
      scope,
      lastEventId: lastEventId || undefined,
      onEnd: () => {
        leave();
        expiry[Symbol.dispose]();
        if (served.feed === feed && feed.size === 0) {
          served.linger.arm(lingerMs);
        }
      },
    });
    if (expiresAt !== undefined) expiry.arm(expiresAt.getTime() - Date.now());
    // Proxies are asked not to collect what comes slowly.
    const headers = {
      ...HEADERS,
      "content-type": "text/event-stream",
      "x-accel-buffering": "no",
    };
    return new Response(stream.body, { headers });
  }

  /** Waits until the informer has synced; returns the reason if it does not. */
  async #sync(informer: AcquiredInformer<KubernetesObject>): Promise<Refusal | undefined> {
    if (informer.hasSynced) return undefined;
    const { syncMs = 10_000 } = this.#options;
    // Not the signal of the request: Deno warns of its use, as it aborts after a successful answer too.
    using wait = new DerivedController(this.#job.signal);
    using timer = new LongTimer(() =>
      wait.abort(
        new DOMException("The first sync takes too long", "TimeoutError"),
      )
    );
    timer.arm(syncMs);
    try {
      await informer.waitForCacheSync({ signal: wait.signal });
      return undefined;
    } catch {
      const { state } = informer.status();
      if (
        state === "forbidden" || state === "unauthorized" ||
        state === "notFound"
      ) {
        return {
          status: 502,
          reason: `the API server refuses this relay (${state})`,
        };
      }
      return { status: 503, reason: `the cache has not synced (${state})` };
    }
  }

  #acquire({ collection }: Served): AcquiredInformer<KubernetesObject> {
    const { resource, ...options } = collection;
    return this.#informers.acquire(resource, options);
  }

  #release(served: Served): void {
    const { feed } = served;
    served.feed = undefined;
    served.linger[Symbol.dispose]();
    feed?.[Symbol.dispose]();
    served.linger[Symbol.dispose](); // armed by the last stream
  }

  #refuse(
    request: Request,
    { status, reason }: Refusal,
    more: Readonly<Record<string, string>> = {},
  ): Response {
    void request.body?.cancel().catch(() => {}); // the answer does not depend on the rest of the body
    const headers = {
      ...HEADERS,
      "cache-control": "no-store",
      ...(status === 503 ? { "retry-after": "2" } : {}),
      ...this.#guard.corsHeaders(request),
      ...more,
    };
    if (status === 204) return new Response(null, { status, headers });
    return Response.json({
      error: `Cannot answer ${request.method}: ${reason}`,
    }, { status, headers });
  }

  #report(error: unknown): void {
    const { onError = (error) => this.#reporter.report("relay", error) } = this.#options;
    callObserver(() => onError(error));
  }
}

/** Copies a Secret, or the row of one: members whose reading throws an error are absent from the copy. */
function withoutGetters(object: KubernetesObject): KubernetesObject {
  const { object: inner } = object as Partial<TableRow>;
  return (inner === undefined ? { ...object } : { ...object, object: { ...inner } }) as KubernetesObject;
}

/** Returns a list as a body, which is written as it is read. */
function listBody(
  head: object,
  texts: Generator<string[], void, undefined>,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let before = `${JSON.stringify(head).slice(0, -1)},"items":[`;
  let isFirst = true;
  return new ReadableStream({
    pull: async (controller): Promise<void> => {
      for (;;) {
        const { value = [], done } = texts.next();
        if (value.length > 0) {
          const text = before + value.join(",");
          before = ",";
          isFirst = false;
          controller.enqueue(encoder.encode(text));
          return;
        }
        if (done) {
          controller.enqueue(encoder.encode(isFirst ? `${before}]}` : "]}"));
          return controller.close();
        }
        await nextTurn();
      }
    },
    cancel: (): void => void texts.return(),
  }, { highWaterMark: 0 });
}

/** Returns 96 bits of the SHA-256 of a text, as base64url. */
async function digest(text: string): Promise<string> {
  const bytes = new Uint8Array(
    await crypto.subtle.digest("SHA-256", encoder.encode(text)),
  );
  return btoa(String.fromCharCode(...bytes.subarray(0, 12))).replaceAll(
    "+",
    "-",
  ).replaceAll("/", "_");
}
