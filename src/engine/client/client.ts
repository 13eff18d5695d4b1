/**
 * A client for one API server: it turns calls into HTTP requests, and response bodies into objects, entries and
 * changes.
 *
 * The entry point is {@linkcode Client}. `requests.ts` builds requests, and `http/` sends them and reads bodies that
 * can be cancelled. `decode/` cuts objects out of bytes, and `collection.ts` combines all this into the calls of a
 * `ResourceClient`. The client keeps no cache, and opens a watch only when you call for one. It resumes only the
 * watches from `follow()`: for informers, the reflector retries lists and watches.
 *
 * @module
 */
import { type Abortable, checkSelectors, namespacesOf, type Selection } from "../api/call_options.ts";
import { type Impersonation, impersonationProblem } from "../api/impersonation.ts";
import type { Transport } from "../api/lister_watcher.ts";
import type { KubernetesObject } from "../api/object.ts";
import { type ApiResource, type Resource, resourceName } from "../api/resource.ts";
import { monotonicMs } from "../async/time.ts";
import { ArgumentError, checkCounts, checkDurations } from "../errors/checks.ts";
import { ConsoleReporter } from "../errors/errors.ts";
import { checkNames, namesOf } from "../errors/option_names.ts";
import { type AccessRight, missingRights } from "./access_reviews.ts";
import { type AccessLog, accessLogOf } from "./access_used.ts";
import { Collection } from "./collection.ts";
import { type DiscoverOptions, discoverResources } from "./discovery.ts";
import { findResource } from "./find_resource.ts";
import { Connection, type Credentials, type RequestReport } from "./http/connection.ts";
import type { ResourceClient, ResourceClientOptions, ResourceClients } from "./resource_client.ts";
import { VERSION } from "./version.ts";

/** The names of all client options. */
const CLIENT_OPTIONS =
  "server namespace transport credentials userAgent compress retries maxObjectBytes validate onWarning onRequest";

/** The names of the options of `Client.resource`, which reconciles call often. */
const SELECTION_OPTIONS = namesOf<Selection>()("namespace namespaces labelSelector fieldSelector");
const COLLECTION_OPTIONS = namesOf<ResourceClientOptions>()("onWrite onUnanswered cached beforeSent signal");

/** Creates the connection of a client from {@linkcode Client.as}, by the client's options. */
const CONNECT = new WeakMap<ClientOptions, (access: AccessLog) => Connection>();

/** Options for {@linkcode Client}. */
export interface ClientOptions {
  /**
   * The API server's address, e.g. `"https://10.0.0.1:6443"`. Each request's path is appended to the address's path
   * (`"https://rancher.example/k8s/clusters/c-1"`). The address must not have a user, a query or a fragment.
   */
  readonly server: string | URL;
  /**
   * The namespace for objects that you create or address by name, if neither the collection nor the object has one.
   * With `""`, such a call for a namespaced kind throws a `TypeError`. @default {""}
   */
  readonly namespace?: string;
  /** Sends the requests. When you dispose the client, it disposes the transport. @default {globalThis.fetch} */
  readonly transport?: Transport;
  /** Adds credentials to each request. Without credentials, the server sees `system:anonymous`. @default {none} */
  readonly credentials?: Credentials;
  /** The `User-Agent` header. Browsers send their own instead. @default {"kube-informer/<version>"} */
  readonly userAgent?: string;
  /**
   * Whether to request gzip compression, except for watches. It makes lists faster over slow networks, and slower over
   * fast networks.
   *
   * @default {true}
   */
  readonly compress?: boolean;
  /**
   * How often the client repeats a request that the server delays with `Retry-After`. Reads are also repeated, at most
   * 5 times, if the connection was reset before the response, or if the status is 500, 502, 503 or 504. 0 turns off
   * both. @default {10}
   */
  readonly retries?: number;
  /**
   * The largest size for one object, in bytes without compression. A larger object leads to a `DecodeError`. The limit
   * applies to each object in lists and watches. It also applies to each other response that the client parses,
   * including discovery. @default {67_108_864}
   */
  readonly maxObjectBytes?: number;
  /**
   * If `true`, checks objects of kinds from `defineKind` before it sends a create or an update, with their rules in
   * CEL. A wrong object rejects with the 422 that the server would send. Patches and applies are not checked, because
   * they are no complete objects. Wrong parts that the server accepts unchanged in an update are refused.
   *
   * @default {false}
   */
  readonly validate?: boolean;
  /**
   * Called with the text of each `Warning` header from the server. If it throws, the request rejects with that error.
   * By default, warnings are ignored.
   */
  readonly onWarning?: (warning: string) => void;
  /**
   * Called at each step of each request, for example to log it with `logRequests()`. By default nothing is reported,
   * and there is no cost.
   */
  readonly onRequest?: (report: RequestReport) => void;
}

/**
 * Sends requests to one API server: reads, writes and watches objects of every kind. Create it with an address, or let
 * `connect()` create it from a kubeconfig or a pod's service account. It has no cache, so use a `SharedInformerFactory`
 * for frequent reads.
 *
 * Dispose the client to end all its requests and watches, and its transport.
 *
 * **Dead connections.** A dead connection delivers neither bytes nor an error. The client therefore replaces a watch
 * whose connection may be dead: it opens another watch at the same version, and switches when the server accepts it. If
 * that fails, the watch ends. Informers and `follow()` then resume it, and `watch()` rejects with an
 * `UnreachableError`. The client replaces:
 *
 * - All watches, after the computer was suspended: the time of day has gained more than 20 s on the monotonic clock.
 *   The client checks this every 5 s while a watch is open. If somebody sets the clock back, nothing happens.
 * - All watches, if the server has sent nothing for about 20 s, and a probe over a new connection gets no response
 *   within 7 s. This needs `Transport.probe`, which transports from `connect()` have.
 * - A watch that requested bookmarks and missed one, if the server has newer changes. Other watches or a list of one
 *   object show this.
 *
 * These checks cost at most three requests a minute while the server sends nothing, and none otherwise.
 *
 * @example
 * ```ts
 * import { Client } from "@kube/informer";
 * import { ConfigMap } from "@kube/informer/kinds/core/v1";
 * import { FakeApiServer } from "@kube/informer/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const transport = new FakeApiServer(); // for a real server: only its address
 * using client = new Client({ server: "http://fake", transport });
 * const maps = client.resource(ConfigMap, { namespace: "shop" });
 * await maps.create({ metadata: { name: "settings" }, data: { colour: "red" } });
 * const { items, resourceVersion } = await maps.list();
 * assertEquals(items.map((map) => map.data?.colour), ["red"]);
 * await maps.delete("settings");
 * for await (const event of maps.follow({ resourceVersion })) {
 *   assertEquals(event.type, "DELETED");
 *   break;
 * }
 * ```
 */
export class Client implements ResourceClients, Disposable {
  /** The namespace for objects that you create or address by name, or `""` for none. */
  readonly namespace: string;
  readonly #server: URL;
  readonly #validate: boolean;
  readonly #connection: Connection;
  /** Receives discovery errors if there is no `onError`. */
  readonly #reporter = new ConsoleReporter();
  /** The last complete result of {@linkcode discover}, with its monotonic time. `undefined` before the first one. */
  #discovered: { readonly at: number; readonly resources: readonly ApiResource[] } | undefined;
  /** How often {@linkcode forgetDiscovery} was called. A response to an earlier request is not cached. */
  #forgotten = 0;

  /**
   * Creates a client, and sends nothing yet.
   *
   * @throws {TypeError} if the server is not an http or https address, or has a user, a query or a fragment.
   * @throws {RangeError} if `retries` or `maxObjectBytes` is not a whole number from 0.
   */
  constructor(options: ClientOptions) {
    checkNames("create a client", options, CLIENT_OPTIONS);
    const { namespace = "", validate = false, compress = true, retries = 10 } = options;
    const { transport = { fetch: (request) => fetch(request) }, userAgent = `kube-informer/${VERSION}` } = options;
    checkCounts("create a client", { retries, maxObjectBytes: options.maxObjectBytes });
    this.namespace = namespace;
    this.#validate = validate;
    const server = this.#server = serverOf(options.server);
    const access = accessLogOf(this);
    this.#connection = CONNECT.get(options)?.(access) ??
      new Connection({ ...options, server, transport, userAgent, compress, retries, access });
  }

  /** A copy of the server's address, with the path to which request paths are appended. */
  get server(): URL {
    return new URL(this.#server);
  }

  /**
   * Returns the client for one kind, or for the part that `selection` selects. It sends nothing yet.
   *
   * `resource` is a constant such as `Pod`, or a result from {@linkcode find} or {@linkcode discover}. For a discovered
   * kind, you can pass the object type as `T`. Otherwise its objects are {@linkcode DynamicObject}s.
   *
   * @throws {TypeError} if `selection` has several `namespaces`, because a request covers one namespace or all. Use a
   * `SharedInformerFactory`, or one collection for each namespace.
   * @throws {SyntaxError} if a selector does not parse.
   */
  resource<T extends KubernetesObject>(
    resource: Resource<T> | ApiResource,
    selection: Selection = {},
    options: ResourceClientOptions = {},
  ): ResourceClient<T> {
    const action = `create a client of "${resource.plural}"`;
    checkNames(action, selection, SELECTION_OPTIONS);
    checkNames(action, options, COLLECTION_OPTIONS);
    checkSelectors(selection);
    return new Collection<T>(this.#connection, resource as Resource<T>, oneNamespace(resource, selection), {
      ...options,
      namespace: this.namespace,
      validate: this.#validate,
    });
  }

  /**
   * Finds the resource for a name such as `"po"` or `"deployments.apps"`, by the rules in {@linkcode findResource}. If
   * the cached discovery (up to a minute old) does not have the name, the client asks the server again, because
   * somebody may have installed the CRD since (client-go `DeferredDiscoveryRESTMapper`).
   *
   * A name in the cached discovery costs nothing. Otherwise it costs two requests, and more before Kubernetes 1.27.
   *
   * @throws {Error} if the server has no such resource. The message suggests similar names.
   */
  async find(name: string, options: Abortable = {}): Promise<ApiResource> {
    try {
      return findResource(await this.discover(options), name);
    } catch (error) {
      options.signal?.throwIfAborted();
      if (this.#discovered === undefined) throw error;
      return findResource(await this.discover({ ...options, maxAgeMs: 0 }), name);
    }
  }

  /**
   * Sends a request to any path on the server with the client's credentials, like the global `fetch`. Use it for paths
   * without a method of their own, such as `/version` or a pod's log.
   *
   * - The path begins with a slash, may have a query, and stays below the server's path. `init` is the same as for
   *   `fetch`, and `init.signal` also aborts the body.
   * - The response has a 2xx status, and its `url` is empty. Read its body to the end, or cancel it.
   * - A request is repeated as the option `retries` says, unless its body is a stream. A redirect is an error unless
   *   you set `init.redirect`.
   *
   * @throws {StatusError} if the status is not 2xx.
   * @throws {UnreachableError} if the server cannot be reached, or the connection is lost while you read the body.
   * @throws {TypeError} if the path leads to another server, or out of the server's path.
   */
  async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const { signal, ...rest } = init;
    const action = `${(init.method ?? "GET").toUpperCase()} "${path.split("?", 1)[0]}"`;
    const exchange = await this.#connection.open({ action, path, init: rest, patient: true }, signal ?? undefined);
    return exchange.detach();
  }

  /**
   * Returns the kinds that the server has, with their names, verbs and versions. To get one kind by its name, use
   * {@linkcode find}.
   *
   * - The core group comes first, then the other groups in server order. Each group begins with its preferred version.
   * - If a group cannot be read, because an aggregated API's server is down, `onError` receives the error. The others
   *   are still returned.
   * - A complete result is cached for a minute, or as long as `maxAgeMs` allows.
   * - It costs two requests. Before Kubernetes 1.27 it costs one more for each group version.
   *
   * @throws {InformerError} the first request's error, with the reason `"discovery"`, if nothing could be read.
   */
  async discover(options: DiscoverOptions = {}): Promise<ApiResource[]> {
    checkNames("discover resources", options, "signal maxAgeMs onError");
    const { signal, maxAgeMs = 60_000 } = options;
    const { onError = (error, groupVersion) => this.#reporter.report(`discovery of "${groupVersion}"`, error) } =
      options;
    checkDurations("discover resources", { maxAgeMs });
    signal?.throwIfAborted();
    const known = this.#discovered;
    if (known !== undefined && monotonicMs() - known.at < maxAgeMs) return [...known.resources];
    let complete = true;
    const forgotten = this.#forgotten;
    const resources = await discoverResources(
      async (path, accept) => {
        const spec = { action: `discover "${path}"`, path, init: { headers: { accept } }, patient: true };
        return (await this.#connection.json(spec, signal)).value;
      },
      {
        signal,
        onError: (error, groupVersion) => {
          complete = false;
          onError(error, groupVersion);
        },
      },
    );
    if (complete && forgotten === this.#forgotten) this.#discovered = { at: monotonicMs(), resources };
    return [...resources];
  }

  /**
   * Returns a client that sends its requests as another user, with only that user's rights. Use it in a server that
   * should answer each caller with the caller's own rights. This client's credentials need the verb `impersonate`:
   * without it, the server responds with 403. See the page
   * [Permissions](../../../docs/operations/permissions.md#act-as-another-user).
   *
   * - It shares this client's transport, credentials and options. It costs nothing until you use it, so you can create
   *   one for each incoming request.
   * - If you dispose it, only its own requests end. They also end if you dispose the original client.
   * - It replaces the user whom a kubeconfig or an option impersonates, including groups, uid and extra values.
   * - It does its own discovery, because the result depends on the user's rights.
   * - {@linkcode accessUsed} returns this user's rights for it. For the original client, it includes the rights to
   *   impersonate.
   *
   * Several groups, or several values for one extra key, need a transport that sends a header line for each. The
   * transport from `connect()` does. `fetch` in browsers and Node joins them into one line.
   *
   * @throws {TypeError} if a member is empty, or cannot be sent in a header.
   *
   * @example
   * ```ts
   * import { Client } from "@kube/informer";
   * import { ConfigMap } from "@kube/informer/kinds/core/v1";
   * import { FakeApiServer } from "@kube/informer/testing";
   *
   * using client = new Client({ server: "http://fake", transport: new FakeApiServer() });
   * const ada = client.as({ user: "ada", groups: ["analysts"] });
   * await ada.resource(ConfigMap, { namespace: "shop" }).list();
   * ```
   */
  as(user: Impersonation): Client {
    const [member, problem] = impersonationProblem(user) ?? [];
    if (member !== undefined) throw new ArgumentError(`Cannot act as another user: "${member}" ${problem}`);
    const options = { server: this.#server, namespace: this.namespace, validate: this.#validate };
    CONNECT.set(options, (access) => this.#connection.as(user, access));
    return new Client(options);
  }

  /**
   * Returns `true` if the client's user may send a request. Use it to hide what a user may not do, or to explain a 403
   * before it happens. {@linkcode missingRights} asks for several rights.
   *
   * It costs one SelfSubjectAccessReview, which every user may create. Answers are kept for a minute, so a right that
   * is granted or revoked meanwhile takes effect that much later. The same question is asked once, at most ten at one
   * time. If your signal aborts, other callers still get the answer.
   *
   * @throws {TypeError} if a member of the right does not exist.
   * @throws the same errors as `ResourceClient.create()`, if the server does not answer the review.
   *
   * @example
   * ```ts
   * import { Client } from "@kube/informer";
   * import { Pod } from "@kube/informer/kinds/core/v1";
   * import { FakeApiServer } from "@kube/informer/testing";
   * import { assert } from "@std/assert";
   *
   * const server = new FakeApiServer({ authorize: ({ verb }) => verb !== "delete" });
   * using client = new Client({ server: server.url, transport: server });
   * assert(await client.can({ verb: "list", resource: Pod }));
   * assert(!await client.can({ verb: "delete", resource: Pod, namespace: "shop" }));
   * ```
   */
  async can(right: AccessRight, options: Abortable = {}): Promise<boolean> {
    return (await this.missingRights([right], options)).length === 0;
  }

  /**
   * Returns which of the rights the client's user lacks, each once and in order. It remembers answers like
   * {@linkcode can}.
   *
   * Several rights in one namespace cost one SelfSubjectRulesReview. If the server cannot name all rules, each right
   * that they do not grant costs a SelfSubjectAccessReview, as do rights in all namespaces.
   *
   * @throws the same errors as {@linkcode can}.
   */
  async missingRights(rights: readonly AccessRight[], options: Abortable = {}): Promise<AccessRight[]> {
    checkNames("review rights", options, "signal");
    return await missingRights(this, rights, options);
  }

  /**
   * Drops the cached discovery, so that the next {@linkcode discover} asks the server. Call it after you install or
   * delete CRDs.
   */
  forgetDiscovery(): void {
    this.#forgotten++;
    this.#discovered = undefined;
  }

  /**
   * Ends all open requests and watches, which reject, and disposes the transport. A client from {@linkcode as} leaves
   * the shared transport open. A second call does nothing.
   */
  [Symbol.dispose](): void {
    this.#connection[Symbol.dispose]();
  }
}

/** Returns the selection with only `namespace`. @throws {TypeError} if it has several namespaces. */
function oneNamespace(resource: Resource, selection: Selection): Selection {
  if (selection.namespaces === undefined) return selection;
  const { namespaces: _several, ...rest } = selection;
  const namespaces = namespacesOf(selection)!;
  if (namespaces.length === 1) return { ...rest, namespace: namespaces[0] };
  throw new ArgumentError(
    `Cannot request "${resourceName(resource)}" in namespaces ${JSON.stringify(namespaces)}: one request cannot ` +
      `cover several namespaces. Use a collection for each namespace, or a SharedInformerFactory`,
  );
}

/** Parses the address. Its errors do not show text that could be a password. */
function serverOf(server: string | URL): URL {
  const text = String(server);
  const shown = text.includes("@") ? "[redacted]" : text;
  if (!URL.canParse(text)) {
    throw new ArgumentError(`Cannot use "${shown}" as server: it is not a URL. Write "https://host:port"`);
  }
  const url = new URL(text);
  if (url.username !== "" || url.password !== "") {
    throw new ArgumentError(
      `Cannot use "${url.protocol}//[redacted]@${url.host}" as server: it contains credentials. Pass them in the option "credentials"`,
    );
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new ArgumentError(`Cannot use "${shown}" as server: it begins with neither "http://" nor "https://"`);
  }
  if (url.search !== "" || url.hash !== "") {
    throw new ArgumentError(
      `Cannot use "${url.origin}${url.pathname}" as server: it must not have a query or a fragment`,
    );
  }
  return url;
}
